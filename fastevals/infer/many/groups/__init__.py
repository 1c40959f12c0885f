"""Metrics of each group of rows, their intervals, and means over groups."""

from fastevals.infer.many.groups.auc import grouped_auc
from fastevals.infer.many.groups.bootstrap import bootstrap_mean
from fastevals.infer.many.groups.metrics import MetricsByGroup, grouped_metrics

__all__ = ["MetricsByGroup", "bootstrap_mean", "grouped_auc", "grouped_metrics"]
