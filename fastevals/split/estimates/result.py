"""What estimates from splits give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.results import ByMetric, Null
from fastevals.infer.significance.differences import differences, t_interval
from fastevals.infer.significance.t_tests import mean_and_error
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.results import Frozen, Interval
from fastevals.split.estimates.corrections import BootstrapErrors

__all__ = ["ErrorEstimate", "ErrorEstimates", "estimate_of", "resampled_interval"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorEstimate(Frozen):
    """A metric over the test sets of all splits.

    Attributes
    ----------
    value : float
        Mean over the splits in which the metric is defined (macro); with ``method=".632"`` or ``".632+"`` the corrected
        estimate.
    standard_deviation : float
        Of the splits about their mean; NaN of a single one.
    confidence_interval : Interval
        For the value, by Nadeau and Bengio's t; NaN of a single split. See `estimate_error`.
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

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        return (
            f"ErrorEstimate({self.value:.4g}, [{low:.4g}, {high:.4g}], "
            f"standard_deviation={self.standard_deviation:.3g}{undefined})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, arrays as lists."""
        training = None if self.training is None else self.training.to_dict()
        return {**Frozen.to_dict(self), "training": training}


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

    def to_dict(self) -> dict[str, Any]:
        """Give results and settings, arrays as lists, and the splitter as text."""
        matrices = None if self.matrices is None else self.matrices.to_dict()
        return {**ByMetric.to_dict(self), "matrices": matrices, "splitter": repr(self.splitter)}


def estimate_of(
    label: str,
    per_split: Floats,
    micro: float,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    test_to_train: float | None = None,
    alpha: float = 0.05,
) -> ErrorEstimate:
    """Make the estimate of a metric from its values in each split; warn of those in which it has none.

    Without `test_to_train`, rows of a test set for one of a training set, there is no interval.
    """
    defined = per_split[~np.isnan(per_split)]
    undefined = per_split.size - defined.size
    if undefined:
        check.warn_left_out_splits(label, undefined, per_split.size)
    value, spread = (float(defined.mean()) if defined.size else math.nan), math.nan
    interval = Interval(math.nan, math.nan)
    if defined.size > 1 and np.isfinite(defined).all():
        spread = float(defined.std(ddof=1))
        if test_to_train is not None:
            interval = resampled_interval(defined, test_to_train, alpha, bounds)
    return ErrorEstimate(value, spread, interval, per_split, float(micro), int(undefined))


def resampled_interval(
    values: Floats,
    test_to_train: float,
    alpha: float,
    bounds: tuple[float, float],
    ratio: float = 1.0,
    about: Any = None,
) -> Interval:
    """Give Nadeau and Bengio's interval for the mean, clipped to what the metric can be.

    It may be moved to be `about` another value, its width times a ratio.
    """
    own = differences(values, np.zeros_like(values))
    mean, error = (float(np.ldexp(each, own.exponent)) for each in mean_and_error(own, 1 / values.size + test_to_train))
    centre = mean if about is None else about
    found = t_interval(centre, ratio * error, Null("t", (values.size - 1,)), "two-sided", alpha)
    low, high = (float(np.clip(end, *bounds)) for end in found)
    return Interval(low, high)
