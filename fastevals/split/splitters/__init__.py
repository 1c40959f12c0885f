"""Splitters: which rows to train on and which to test on, as indices or as one code for each row and repetition."""

from fastevals.split.splitters.base import Pair, SplitPlan, Splitter
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.hold_out import HoldOut, Parts
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.splitters.leave_out import LeaveOneOut, LeavePOut

__all__ = [
    "BootstrapSplit",
    "HoldOut",
    "KFold",
    "LeaveOneOut",
    "LeavePOut",
    "Pair",
    "Parts",
    "SplitPlan",
    "Splitter",
]
