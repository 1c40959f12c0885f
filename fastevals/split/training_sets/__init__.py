"""Bias and variance of a learner over training sets that are drawn, at one value of a parameter or at several."""

from fastevals.split.training_sets.calls import bias_variance_curve, bias_variance_over_training_sets
from fastevals.split.training_sets.result import BiasVarianceCurve

__all__ = ["BiasVarianceCurve", "bias_variance_curve", "bias_variance_over_training_sets"]
