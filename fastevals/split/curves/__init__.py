"""Overfitting made visible: training and test error over a parameter, or over the number of training rows."""

from fastevals.split.curves.calls import learning_curve, validation_curve
from fastevals.split.curves.result import ErrorCurve

__all__ = ["ErrorCurve", "learning_curve", "validation_curve"]
