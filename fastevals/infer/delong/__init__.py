"""DeLong's covariance of AUCs: functions and results in `delong.py`, integer sums in `placements.py`."""
