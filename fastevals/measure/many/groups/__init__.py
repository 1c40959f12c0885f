"""Rows by group, all groups at once: sorted scores, confusion matrices, results; `values.py` has metrics of scores.

Confusion matrices are counted here: what they have no use for stays out, and is not loaded with them.
"""

from fastevals.measure.many.groups.pairs import count_grouped_pairs
from fastevals.measure.many.groups.result import GroupedMetric, grouped_metric, mean_of, warn_of_groups
from fastevals.measure.many.groups.scores import GroupedScores, grouped_scores, spans

__all__ = [
    "GroupedMetric",
    "GroupedScores",
    "count_grouped_pairs",
    "grouped_metric",
    "grouped_scores",
    "mean_of",
    "spans",
    "warn_of_groups",
]
