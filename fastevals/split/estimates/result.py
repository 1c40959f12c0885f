"""What estimates from splits give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.results import ByMetric
from fastevals.infer.significance.differences import scaled
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_kinds import bounds_of
from fastevals.measure.results import Frozen, Interval
from fastevals.split.estimates.corrections import BootstrapErrors
from fastevals.split.estimates.intervals import SplitVariance

__all__ = ["ErrorEstimate", "ErrorEstimates", "estimates_of", "no_estimate"]

Floats = NDArray[np.float64]


class MeasuredSplits(NamedTuple):
    """The rows of training and of test sets, of shape (n_repeats, n_folds), what made the splits, and what is measured.

    The last two are None where they are not known; of what is measured, a function.
    """

    n_train: NDArray[np.int64]
    n_test: NDArray[np.int64]
    splitter: Any = None
    metric: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorEstimate(Frozen):
    """A metric over the test sets of all splits.

    Attributes
    ----------
    value : float
        Mean over the splits in which the metric is defined (macro); with ``method=".632"`` or ``".632+"`` the corrected
        estimate.
    standard_deviation : float
        Of the splits about their mean; NaN of a single one, or where one is infinite.
    confidence_interval : Interval
        For the value, by Nadeau and Bengio's t; NaN where the standard deviation is, and, with a warning, where all
        splits agree and no counts tell how rows vary. See `estimate_error`.
    per_split : ndarray of shape (n_repeats, n_folds)
        Each test set's, NaN where undefined.
    micro : float
        Of the counts of all test sets together; NaN for functions and the median absolute error.
    n_undefined : int
        Splits in which it is undefined.
    training : ErrorEstimate or None
        The same of the training rows, without an interval, where asked for.
    bootstrap : BootstrapErrors or None
        The parts of the .632 and the .632+ estimate, where one of them was asked for.
    """

    value: float
    standard_deviation: float
    confidence_interval: Interval
    per_split: Floats
    micro: float
    n_undefined: int
    training: ErrorEstimate | None = None
    bootstrap: BootstrapErrors | None = None
    _splits: MeasuredSplits | None = None  # which `ErrorEstimates` has once for all; tests of two learners read it

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        return (
            f"ErrorEstimate({self.value:.4g}, [{low:.4g}, {high:.4g}], "
            f"standard_deviation={self.standard_deviation:.3g}{undefined})"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorEstimates(ByMetric):
    """What `estimate_error` and `evaluate_splits` give: a mapping from each metric to its `ErrorEstimate`.

    Attributes
    ----------
    metrics : dict of str to ErrorEstimate
        What the mapping holds.
    n_train : ndarray of int of shape (n_repeats, n_folds)
        Different rows that each split was trained on; of fixed predictions, all rows that are not in the test set.
    n_test : ndarray of int of shape (n_repeats, n_folds)
        Rows of each test set.
    matrices : ConfusionMatrix or None
        Of metrics of predicted labels, the counts of each split, of shape (n_repeats, n_folds, K, K); None where they
        would take over 64 MB.
    splitter : object
        What made the splits.
    method : str or None
        Of the estimates of a bootstrap.
    confidence_level : float
        Of the intervals.
    """

    n_train: NDArray[np.int64]
    n_test: NDArray[np.int64]
    matrices: ConfusionMatrix | None
    splitter: Any
    method: str | None
    confidence_level: float

    def _how(self) -> str:
        repeats, folds = self.n_test.shape
        method = f", method={self.method!r}" if self.method else ""
        return f"{repeats} x {folds} splits, {self.confidence_level:g}{method}"


def estimates_of(
    values: Floats,
    micro: Floats,
    shape: tuple[int, int],
    asked: Mapping[str, Any],
    variance: SplitVariance,
    *,
    training: tuple[Floats, Floats] | None = None,
    missing: int = 0,
    splitter: Any = None,
) -> dict[str, ErrorEstimate]:
    """Make the estimates of a tally's metrics from their values in each split; warn of splits in which one has none.

    `values` are those of each metric in each split, `micro` one for each metric; `training` are both of the training
    rows. Of splits that were not measured, `missing` of them, values are NaN without a warning.
    """
    splits = None
    if not missing:
        n_train, n_test = (np.reshape(each, shape) for each in (variance.n_train, variance.n_test))
        splits = MeasuredSplits(n_train, n_test, splitter)
    found = {}
    for m, name in enumerate(variance.tally.names):
        own = _without_interval(name, values[m].reshape(shape), micro[m], missing)
        if not math.isnan(own.standard_deviation):
            interval = variance.interval(name, own.value, own.per_split, bounds_of(asked[name]))
            own = replace(own, confidence_interval=interval)
        if training is not None:
            seen = _without_interval(f"{name} of training rows", training[0][m].reshape(shape), training[1][m], missing)
            own = replace(own, training=seen)
        known = None if callable(asked[name]) else str(asked[name])
        found[name] = replace(own, _splits=None if splits is None else splits._replace(metric=known))
    return found


def no_estimate(shape: tuple[int, int], *, training: bool = False) -> ErrorEstimate:
    """Give what stands where there is no estimate: NaN in all splits."""
    nan = math.nan
    nothing = ErrorEstimate(nan, nan, Interval(nan, nan), np.full(shape, nan), nan, math.prod(shape))
    return replace(nothing, training=nothing) if training else nothing


def _without_interval(label: str, per_split: Floats, micro: float, missing: int) -> ErrorEstimate:
    defined = per_split[~np.isnan(per_split)]
    undefined = per_split.size - defined.size
    if undefined > missing:
        check.warn_left_out_splits(label, undefined - missing, per_split.size - missing)
    value, spread = (float(defined.mean()) if defined.size else math.nan), math.nan
    if defined.size > 1 and np.isfinite(defined).all():
        (own,), exponent = scaled(defined)  # so that no square overflows
        value, spread = (float(np.ldexp(each, exponent[0])) for each in (own.mean(), own.std(ddof=1)))
    return ErrorEstimate(value, spread, Interval(math.nan, math.nan), per_split, float(micro), undefined)
