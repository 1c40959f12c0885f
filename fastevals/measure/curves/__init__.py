"""Curves over thresholds: points with their thresholds, and the geometry of each."""

from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import RocCurve

__all__ = ["PrecisionRecallCurve", "RocCurve"]
