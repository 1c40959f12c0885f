"""Rows by group, all groups at once: sorted scores, results; `values.py` has metrics of scores."""

from fastevals.measure.many.groups.result import GroupedMetric, grouped_metric, mean_of, warn_of_groups
from fastevals.measure.many.groups.scores import GroupedScores, grouped_scores, spans

__all__ = [
    "GroupedMetric",
    "GroupedScores",
    "grouped_metric",
    "grouped_scores",
    "mean_of",
    "spans",
    "warn_of_groups",
]
