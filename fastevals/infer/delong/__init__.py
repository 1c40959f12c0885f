"""DeLong's covariance of AUCs: `delong.py` has the calls, results and tests, `placements.py` the integers below."""
