"""Estimates from splits, with intervals that combine the variance between splits and the variance that splits hide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import _warn, warn_undefined
from fastevals._validation.tables import MeasuredSplits
from fastevals.document.frames import Columns, make_columns, or_nan
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.decision import critical_value, normal_margins
from fastevals.infer.significance.paired import scale_to_unit
from fastevals.infer.significance.t_tests import corrected_t_margin
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_specs import is_greater_better, metric_bounds
from fastevals.results import NOWHERE, ByMetric, Frozen, Interval, Null
from fastevals.split.designs import FixedByDesign
from fastevals.split.estimates.corrections import BootstrapErrors
from fastevals.split.estimates.split_metrics import SplitMetrics

Floats = NDArray[np.float64]

CORRECTED_T = "corrected-t"  # the usual method of intervals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorEstimates(ByMetric["ErrorEstimate"]):
    """Result of `estimate_error` and `evaluate_splits`: a mapping from each metric to its `ErrorEstimate`.

    Attributes
    ----------
    metrics : dict of str to ErrorEstimate
        The estimate of each metric, by name.
    n_train : ndarray of int of shape (n_repeats, n_folds)
        Number of distinct training rows of each split; for fixed predictions, the number of rows outside the test set.
    n_test : ndarray of int of shape (n_repeats, n_folds)
        Number of rows in each test set.
    matrices : ConfusionMatrix or None
        Confusion matrix of each split, of shape (n_repeats, n_folds, K, K), for metrics of predicted labels; None if
        matrices would take over 64 MB, or if a fit failed.
    splitter : object
        The splitter that made the splits.
    method : str or None
        Method of the estimates with a `BootstrapSplit`.
    confidence_level : float
        Confidence level of the intervals.
    interval : str
        Method of the intervals, as in `estimate_error`.
    errors : dict of (int, int) to str
        Errors of fits that failed, by numbers of repetition and fold.
    """

    n_train: NDArray[np.int64]
    n_test: NDArray[np.int64]
    matrices: ConfusionMatrix | None
    splitter: Any
    method: str | None
    confidence_level: float
    interval: str = CORRECTED_T
    errors: dict[tuple[int, int], str] = field(default_factory=dict, kw_only=True)

    def _settings(self) -> str:
        repeats, folds = self.n_test.shape
        method = f", method={self.method!r}" if self.method else ""
        interval = f", interval={self.interval!r}" if self.interval != CORRECTED_T else ""
        return f"{repeats} x {folds} splits, {self.confidence_level:g}{method}{interval}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorEstimate(Frozen):
    """Estimate of a metric from the test sets of all splits.

    Attributes
    ----------
    value : float
        Mean over the splits in which the metric is defined (macro); the corrected estimate if `method` is ``".632"`` or
        ``".632+"``, or if `interval` is ``"nested-cv"``.
    standard_deviation : float
        Standard deviation of the splits' values; NaN for a single split, or if a value is infinite.
    confidence_interval : Interval
        Interval for the value: Nadeau and Bengio's t interval, or another one of `estimate_error`. NaN if it needs the
        standard deviation, and this is NaN. Also NaN, with a warning, if all splits have the same value and the
        variance due to rows can't be computed from the counts. See `estimate_error`.
    per_split : ndarray of shape (n_repeats, n_folds)
        Value of each test set; NaN where undefined.
    micro : float
        Value of the pooled counts of all test sets; NaN for functions and the median absolute error.
    n_undefined : int
        Number of splits in which the metric is undefined or the fit failed.
    training : ErrorEstimate or None
        Estimate on the training rows, without an interval, if requested.
    bootstrap : BootstrapErrors or None
        Components of the .632 and .632+ estimates, if one of these was requested.
    """

    value: float
    standard_deviation: float
    confidence_interval: Interval
    per_split: Floats
    micro: float
    n_undefined: int
    training: ErrorEstimate | None = None
    bootstrap: BootstrapErrors | None = None
    _splits: MeasuredSplits | None = None  # read by tests that compare two learners

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        return (
            f"ErrorEstimate({self.value:.4g}, [{low:.4g}, {high:.4g}], "
            f"standard_deviation={self.standard_deviation:.3g}{undefined})"
        )

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        parts = dict.fromkeys(BootstrapErrors._fields, math.nan) if self.bootstrap is None else self.bootstrap._asdict()
        return make_columns(
            {
                "value": self.value,
                "standard_deviation": self.standard_deviation,
                "low": low,
                "high": high,
                "micro": self.micro,
                "n_undefined": self.n_undefined,
                "training": or_nan(self.training and self.training.value),
                **parts,
            }
        )


def make_estimates(
    values: Floats,
    micro: Floats,
    shape: tuple[int, int],
    specs: Mapping[str, Any],
    variance: SplitVariance,
    *,
    training: tuple[Floats, Floats] | None = None,
    missing: int = 0,
    splitter: Any = None,
    sizes_of_all: tuple[Any, Any] | None = None,
) -> dict[str, ErrorEstimate]:
    """Return the metrics' estimates from their values in each split; warn about splits where a metric is undefined.

    `values` has one value per metric and split, and `micro` one per metric; `training` has the same two arrays for the
    training rows. `missing` is the number of splits that were not measured: their values are NaN, without a warning.
    Then the estimates keep no sizes of splits unless `sizes_of_all` has them.
    """
    splits = None
    if not missing or sizes_of_all is not None:
        n_train, n_test = (np.reshape(each, shape) for each in sizes_of_all or (variance.n_train, variance.n_test))
        splits = MeasuredSplits(n_train, n_test, splitter)
    estimates = {}
    for m, name in enumerate(variance.metrics.names):
        estimate = _without_interval(name, values[m].reshape(shape), micro[m], missing)
        bounds, given = metric_bounds(specs[name]), variance.given.get(name)
        if given is not None and given.value is not None:
            estimate = replace(estimate, value=float(np.clip(given.value, *bounds)))
        if given is not None or not math.isnan(estimate.standard_deviation):
            interval = variance.interval(name, estimate.value, estimate.per_split, bounds)
            estimate = replace(estimate, confidence_interval=interval)
        if training is not None:
            seen = _without_interval(f"{name} of training rows", training[0][m].reshape(shape), training[1][m], missing)
            estimate = replace(estimate, training=seen)
        if splits is not None:
            known = None if callable(specs[name]) else str(specs[name])
            own = splits._replace(metric=known, greater_is_better=is_greater_better(specs[name]))
            estimate = replace(estimate, _splits=own)
        estimates[name] = estimate
    return estimates


def no_estimate(shape: tuple[int, int], *, training: bool = False) -> ErrorEstimate:
    """Return an estimate with all values NaN, for splits that could not be measured."""
    nan = math.nan
    estimate = ErrorEstimate(nan, nan, Interval(nan, nan), np.full(shape, nan), nan, math.prod(shape))
    return replace(estimate, training=estimate) if training else estimate


def _without_interval(label: str, per_split: Floats, micro: float, missing: int) -> ErrorEstimate:
    defined = per_split[~np.isnan(per_split)]
    undefined = per_split.size - defined.size
    if undefined > missing:
        _warn_left_out_splits(label, undefined - missing, per_split.size - missing)
    value, deviation = (float(defined.mean()) if defined.size else math.nan), math.nan
    if defined.size > 1 and np.isfinite(defined).all():
        (scaled_values,), exponent = scale_to_unit(defined)  # so that no square overflows
        value, deviation = (
            float(np.ldexp(each, exponent[0])) for each in (scaled_values.mean(), scaled_values.std(ddof=1))
        )
    return ErrorEstimate(value, deviation, Interval(math.nan, math.nan), per_split, float(micro), undefined)


class GivenError(NamedTuple):
    """A metric's standard error for a normal interval, and its value if the value is not the mean over splits."""

    standard_error: float  # NaN if unknown
    value: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SplitVariance:
    """The variance over test sets of metrics of one kind, and the metrics' intervals.

    The spread between test sets shows how uncertain a mean over them is, provided that test sets differ as new data
    would. But stratified test sets never differ in their class shares, and splits that always test the same rows show
    no variance due to rows. The missing variance is computed from the counts of all test sets, as the variance, over
    classes or over rows, of the contribution to the metric.
    """

    metrics: SplitMetrics
    pooled: Any  # counts of all test sets
    fixed: FixedByDesign
    n_train: Any  # training rows of each split
    n_test: Any
    alpha: float  # 1 minus the confidence level
    given: Mapping[str, GivenError] = field(default_factory=dict)  # metrics with another interval than Nadeau-Bengio's

    def interval(self, name: str, value: float, per_split: Floats, bounds: tuple[float, float]) -> Interval:
        """Return the interval of a metric's mean over splits, clipped to the metric's range.

        If the splits don't determine an interval, it is NaN, with a warning that gives the reason.
        """
        margin = self.margin(name, per_split)
        if margin > 0:
            return interval_about(value, margin, margin, bounds)
        number = int(np.count_nonzero(~np.isnan(per_split)))
        if margin == 0:
            outcomes = self.metrics.outcomes(name, self.pooled)
            if outcomes is not None:
                successes, failures = (each * self._tested for each in outcomes)
                ends = share_interval(successes, failures, "wilson", self.alpha, "two-sided")
                return Interval(*map(float, ends))
            because = f"{name} is the same in all {number} splits, so they don't show how it varies over other rows"
        elif name in self.given:
            because = "it is undefined or infinite on some test rows"
        else:
            because = (
                f"all {number} splits test the same rows, so they don't show how the metric varies over other rows"
            )
        warn_undefined(f"the interval of {name}", f"{because}; to resample rows, use bootstrap")
        return NOWHERE

    def margin(self, name: str, per_split: Floats) -> float:
        """Compute half the interval's width: 0 if nothing varies, NaN if the hidden variance is unknown.

        The variance is the sum of Nadeau and Bengio's variance and the variance that splits hide, with Welch's degrees
        of freedom. If a standard error is given, the interval is normal.
        """
        if name in self.given:
            error = self.given[name].standard_error
            return normal_margins(self.alpha, "two-sided")[0] * error if math.isfinite(error) else math.nan
        values = per_split[~np.isnan(per_split)]
        n_train, n_test = (float(np.sum(each)) for each in (self.n_train, self.n_test))
        # If test sets contain all rows, nothing is left to train on: use the variance of an ordinary mean.
        margin = corrected_t_margin(values, n_test / n_train if n_train else 0.0, self.alpha)
        missing = self._missing(name, same=margin == 0)
        if not missing > 0:
            return math.nan if math.isnan(missing) and self.fixed.kind == "rows" and margin else margin
        df, rows_df = values.size - 1, self.fixed.n_rows - 1
        error, more = margin / self._critical(df), math.sqrt(missing / rows_df)
        both = math.hypot(error, more)
        share = (error / both) ** 2
        return self._critical(1 / (share**2 / df + (1 - share) ** 2 / rows_df)) * both

    def _missing(self, name: str, same: bool) -> float:
        """Compute the variance per row that splits hide.

        If all splits have the same value (`same`), they hide all variance due to rows.
        """
        fixed = self.fixed.kind
        if (fixed is None and not same) or self.fixed.n_rows < 2:
            return 0.0
        if same and self.metrics.outcomes(name, self.pooled) is not None:
            return 0.0  # a share of rows has its own interval, Wilson's
        row_variance = self.metrics.row_variance(name, self.pooled) if same or fixed == "rows" else math.nan
        if fixed != "classes" or not math.isnan(row_variance):
            return row_variance
        return self.fixed.share * self.metrics.class_variance(name, self.pooled)

    def _critical(self, df: float) -> float:
        return critical_value(Null("t", (df,)), "two-sided", self.alpha)

    @property
    def _tested(self) -> float:
        """Number of distinct test rows, estimated from sizes, divided by the total size of all test sets."""
        times = float(np.sum(self.n_test))
        return min(times, self.fixed.n_rows) / times


def interval_about(value: float, below: float, above: float, bounds: tuple[float, float]) -> Interval:
    """Return the interval from `value - below` to `value + above`, clipped to the metric's range."""
    low, high = (float(np.clip(end, *bounds)) for end in (value - below, value + above))
    return Interval(low, high)


# Checks ---------------------------------------------------------------------------------------------------------------


def _warn_left_out_splits(metric: str, undefined: int, n: int) -> None:
    """Warn that a metric is undefined in some splits."""
    _warn(f"{metric} is undefined in {undefined} of {n} splits, which are left out (n_undefined)")
