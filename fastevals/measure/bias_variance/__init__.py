"""Bias and variance of models from their predictions."""

from fastevals.measure.bias_variance.calls import bias_variance
from fastevals.measure.bias_variance.result import (
    BiasVariance,
    Decomposition,
    DomingosDecomposition,
    JamesDecomposition,
)
from fastevals.measure.bias_variance.summary import BiasVarianceSummary

__all__ = [
    "BiasVariance",
    "BiasVarianceSummary",
    "Decomposition",
    "DomingosDecomposition",
    "JamesDecomposition",
    "bias_variance",
]
