"""Calibration: do predicted probabilities match what happens? Ratio, recalibration, tests, bins, comparisons.

`forecasts.py` reads rows or counts as blocks of forecasts, and `estimates.py` estimates from these, with standard
errors. `calibration.py` has the call, and `calibrations.py` what it returns.
"""
