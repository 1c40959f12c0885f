"""DeLong's covariance of AUCs: calls, results and tests are in `delong.py`, the integers below in `placements.py`."""
