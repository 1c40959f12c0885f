"""What a comparison of models gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fastevals.infer.bootstrap.result import Estimate
from fastevals.infer.results import ResampledByMetric
from fastevals.measure.results import Frozen, Interval

__all__ = ["Difference", "MetricComparison", "ModelComparison"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Frozen):
    """A metric of one model less that of another: floats, or arrays where the metric gives an array.

    Attributes
    ----------
    model, reference : str or int
        The two: `value` is the metric of `model` less that of `reference`.
    value : float or ndarray
        The difference.
    confidence_interval : Interval
        Simultaneous: all differences of the metric are within theirs at once, at the confidence level. Of an array,
        those of each place (a class) by themselves.
    standard_error : float or ndarray
        Of the difference.
    pvalue : float or ndarray
        Of no difference, adjusted for the number of models' differences: below alpha only where the interval leaves out
        0.
    unadjusted_pvalue : float or ndarray
        As if this difference were the only one.
    """

    model: Any
    reference: Any
    value: Any
    confidence_interval: Interval
    standard_error: Any
    pvalue: Any
    unadjusted_pvalue: Any

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"Difference({self.model} - {self.reference}: {self.value.shape} values)"
        interval = "[{:.4g}, {:.4g}]".format(*self.confidence_interval)
        return f"Difference({self.model} - {self.reference}: {self.value:.4g}, {interval}, p={self.pvalue:.3g})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricComparison(Frozen):
    """One metric of all models.

    Attributes
    ----------
    estimates : dict of model to Estimate
        Each model's own, with an interval that is not simultaneous.
    differences : tuple of Difference
        Of each pair, or of each model and the reference.
    n_undefined : int or ndarray
        Replicates in which a difference is undefined, or infinite: they are left out of all. Of a metric that gives an
        array, those of each place.
    """

    estimates: dict[Any, Estimate]
    differences: tuple[Difference, ...]
    n_undefined: Any

    def __repr__(self) -> str:
        return f"MetricComparison({list(self.differences)!r})"


class ModelComparison(ResampledByMetric):
    """What `compare_rankings` and `compare_predictions` give: a mapping from each metric to its `MetricComparison`.

    Examples
    --------
    >>> import fastevals
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    >>> result = fastevals.compare_rankings(y_true, scores, stratified=True, n_resamples=99, rng=0)
    >>> [(each.model, each.reference) for each in result["roc_auc"].differences]
    [('a', 'b')]
    """

    __slots__ = ()
