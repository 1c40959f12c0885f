"""DeLong's covariance of AUCs.

`placements.py` has the integers, `result.py` and `normal.py` the tests, `calls.py` what users call.
"""

from fastevals.infer.delong.calls import delong, delong_test, delong_test_unpaired
from fastevals.infer.delong.result import DelongResult

__all__ = ["DelongResult", "delong", "delong_test", "delong_test_unpaired"]
