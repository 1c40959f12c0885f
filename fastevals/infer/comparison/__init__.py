"""Models on the same rows: differences of any metric, with simultaneous intervals and p-values."""

from fastevals.infer.comparison.calls import compare_predictions, compare_rankings
from fastevals.infer.comparison.result import Difference, MetricComparison, ModelComparison

__all__ = [
    "Difference",
    "MetricComparison",
    "ModelComparison",
    "compare_predictions",
    "compare_rankings",
]
