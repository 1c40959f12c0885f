"""The error of a learner, or of fixed predictions, over splits of the data."""

from fastevals.split.estimates.calls import estimate_error
from fastevals.split.estimates.corrections import BootstrapErrors, error_632, error_632_plus
from fastevals.split.estimates.fixed import evaluate_splits
from fastevals.split.estimates.result import ErrorEstimate, ErrorEstimates

__all__ = [
    "BootstrapErrors",
    "ErrorEstimate",
    "ErrorEstimates",
    "error_632",
    "error_632_plus",
    "estimate_error",
    "evaluate_splits",
]
