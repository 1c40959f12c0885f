"""Bootstrap: `samples/` draws rows and measures the draws, `intervals.py` makes intervals of those."""

from fastevals.infer.bootstrap.calls import bootstrap
from fastevals.infer.bootstrap.result import BootstrapResult, Estimate

__all__ = ["BootstrapResult", "Estimate", "bootstrap"]
