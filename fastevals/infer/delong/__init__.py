"""DeLong's covariance of AUCs.

`placements.py` has the integers, `result.py` and `normal.py` the tests, `calls.py` what users call.
"""
