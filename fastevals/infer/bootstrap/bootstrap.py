"""The bootstrap: how sure a metric is, by drawing the rows anew."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_flag, check_choice, check_integer, warn_degenerate, warn_left_out, warn_undefined
from fastevals._random import seed_key
from fastevals.document.frames import Columns, spread
from fastevals.infer.bootstrap.samples import Sample, Values
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import (
    MetricSpec,
    is_best_by_another,
    metric_bounds,
    optimized_bounds,
    parse_metrics,
)
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import settled, without_doubt
from fastevals.measure.registry import UNBOUNDED
from fastevals.results import (
    MAX_RESAMPLES,
    Alternative,
    Frozen,
    Interval,
    ResampledByMetric,
    V,
    check_confidence_level,
    format_estimates,
    number_or_array,
)

Floats = NDArray[np.float64]
BootstrapMethod = Literal["BCa", "percentile", "basic", "normal"]


class Limits(NamedTuple):
    """Within which bounds a metric is, and which its interval takes off the optimism of a choice in.

    Attributes
    ----------
    bounds : tuple of float
        Least and largest value.
    optimized : tuple of float, optional
        Those of what the metric is the best of, or of the metric at the threshold that another one is best at.
    is_by_another : bool
        Whether it is the latter.
    """

    bounds: tuple[float, float] = UNBOUNDED
    optimized: tuple[float, float] | None = None
    is_by_another: bool = False

    @classmethod
    def of(cls, spec: MetricSpec | Callable[..., Any]) -> Limits:
        """Return the bounds of the metric itself, without a choice."""
        bounds, by_another = metric_bounds(spec), is_best_by_another(spec)
        return cls(bounds, bounds if by_another else optimized_bounds(spec), by_another)


NO_LIMITS = Limits()
DEBIASED = "debiased percentile"  # what stands for BCa of metrics that are the best of many
FURTHER = f"further of BCa and {DEBIASED}"  # and of those at the threshold that another one is best at


def interval_method(method: str, limits: Limits) -> str:
    """Return what the method of an interval is called, of a metric within limits."""
    if method != "BCa" or limits.optimized is None:
        return method
    return FURTHER if limits.is_by_another else DEBIASED


def methods_in_place_of_bca(specs: MetricSpecs) -> dict[str, str]:
    """Return what "BCa" stands for, of metrics that have another interval."""
    found = {label: interval_method("BCa", Limits.of(spec)) for label, spec in specs.items()}
    return {label: method for label, method in found.items() if method != "BCa"}


NO_DOUBT: Doubt = (0.0, 0.0)
FEW_ROWS = 50  # rows of a class; with fewer, intervals of a best value cover too seldom
TIE = 2.0**-50  # values as near, in units of their size, are equal but for rounding
SUSPICIOUS_SHARE = 0.75  # share of replicates beyond a best value from which it may be the best by chance alone


def bootstrap(
    subject: Any,
    metrics: Any,
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    stratified: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> BootstrapResult:
    """Compute intervals of metrics by drawing as many rows as there are, with replacement, again and again.

    Scores are sorted once; a replicate is how often each row, or each cell of rows that no metric tells apart, was
    drawn (exactly multinomial), and one sweep over those counts. All metrics are of the same replicates.

    Parameters
    ----------
    subject : Ranking, RankingSummary, ThresholdCounts, ConfusionMatrix, or pair (y_true, y_score or y_pred)
        What is measured. The metrics say what a pair is: scores if one of them is of a ranking, of probabilities or at
        a threshold, numbers if they are of regression, else predicted labels. Each matrix of a stack is drawn from by
        itself. Intervals of a summary reach further on both sides by what it leaves in doubt.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        What to estimate; a mapping says what the results are called. A function takes `ThresholdCounts` and returns a
        number; or a `ConfusionMatrix`, of the data or a stack of replicates, and returns a number, or an array along
        the stack's first axis. For a pair a named metric beside it says which.
    n_resamples : int
        Number of replicates.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    method : {"BCa", "percentile", "basic", "normal"}
        BCa is bias-corrected and accelerated [1]_ (of metrics at their own best threshold see the notes); "normal" is
        about the value less its bias, as in R's boot.
    alternative : {"two-sided", "less", "greater"}
        Two ends; or only an upper ("less") or a lower end ("greater"), at the full level.
    stratified : bool
        Draw as many rows of each class as there are of it; not for metrics of regression.
    groups : array-like of shape (n_samples,), optional
        Rows of one group (a patient, a session, a query) are drawn together: as many groups as there are. With
        `stratified` each must be of one class.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative: each row is one independent observation. Rows are drawn with the same chance and
        keep their weight; rows of weight zero are left out first.
    frequency_weight : array-like of shape (n_samples,), optional
        How many copies of each row of a pair there are: whole numbers, the same as repeated rows. Not with
        `sample_weight`.
    pos_label : label, optional
        The positive class of a pair; 1 among 0/1, -1/1 and booleans. Of other labels it must be given for scores, and
        for metrics of predicted labels that need it.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed. The same seed gives the same bits, at any number of threads, and replicate i is the same whatever
        their number.
    keep_distribution : bool
        Return all replicates too.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    BootstrapResult
        A mapping from each metric to its `Estimate`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a metric is undefined in some replicates (they are counted in `n_undefined` and left out of the rest), if
        all its replicates are equal (its interval has no width: an AUC of 1), or if it has no interval.

    Notes
    -----
    BCa's acceleration is a sixth of the skewness of the jackknife's values, those without one row [3]_. Rows of scores
    without weights or groups have them in closed form, exactly: AUC (partial too), average precision, both areas under
    the P-R curve, break-even point, EER, Brier score and log loss, and metrics at a threshold that is fixed, under a
    constraint, or the best by F, Jaccard, accuracy, balanced accuracy, informedness or cost; so have all metrics of
    targets but the median, with weights and groups too. Otherwise (functions, weighted or grouped scores, labels, a
    threshold that is the best by another metric) one row of each cell is left out where there are at most 160 cells,
    or each of 160 random groups of rows where there are more (of each class if stratified) [4]_. Metrics that are the
    best of many, as below, have no acceleration.

    Some metrics are the best of many: KS, any at the threshold that is best by itself, the area under the least
    costs, the EER on the hull, and the expected calibration error, a sum of absolute differences. They lie beyond the
    true value, and replicates lie beyond them, but only 0.4 to 0.6 times as far, since the data's noise is in both. BCa
    corrects for too little: at 95 % its intervals of KS covered 85 to 93 %, and none that of scores that don't rank. So
    for these "BCa" stands for percentiles, in log odds, less the replicates' median deviation and the value's own: once
    that at one end, 2.4 times at the end that is nearer to the true value. They cover 93 to 97 % with 50 or more rows
    of each class (300 to 2,000 in all, AUC 0.6 to 0.99). With 15 positives they covered the true KS in 88 % of
    simulations, that of scores that don't rank in 80 %, and the calibration error of calibrated scores in 83 to 91 %:
    `Estimate.caution` says where that may be so.

    A metric at the threshold that another one is best at, as ``metric("recall", best="f1")``, is read where the
    same rows chose it. BCa's intervals of accuracy, precision, recall and MCC at the best F1 covered 86 to 92 %
    (400 rows). So each end is the further one of BCa's and of the interval of a best value: these cover 93 to 96 %,
    and 92 to 95 % with 20 positives. `Estimate.caution` says where a class has fewer than 50 rows.

    A summary, and a ranking of files or machines, has no rows to draw, so a few thousand cells are drawn instead. With
    more than 2,048 thresholds, metrics of the whole curve share some 2,400 cells; a metric at a threshold that each
    replicate chooses has cells close to that threshold, one at a fixed threshold has four, and metrics of probabilities
    have 64 an octave. Replicates are shifted by the difference between the value of all rows and that of the cells.
    Standard errors are within 2 % of those from all cells. An interval does not depend on which other metrics are asked
    for, and is the same for memory and files; but only metrics at the same threshold, or of the whole curve, share
    their replicates. Rows counted with `sample_weight` are drawn a Poisson number of times: a cell of weight W, whose
    squared weights add up to Q, as a Poisson number (mean W^2 / Q) of rows of weight Q / W.

    Draws of unweighted rows are multinomial, of probabilities exact to 2**-48. For AUCs alone `delong` gives intervals
    without draws, for proportions at a fixed threshold `proportion_interval`.

    A metric at a threshold fixed beforehand, and a confusion matrix, cost the same however many rows there are. A
    threshold chosen on the data is not fixed: use ``metric("f1", best="f1")`` or a constraint (see `metric`).

    Memory beyond the ranking is 1 to 4 bytes a row and thread (6 with metrics of probabilities; for regression 1 to 10,
    and 25 with its median), 8 bytes a row for each metric of probabilities and some 20 with them, some 60 for BCa of
    regression, and the replicates of each metric. Which metrics are estimated together can change what is drawn with a
    seed: rows are counted as finely as the finest of them needs. Beside the median, metrics of regression may differ in
    their last bits.

    References
    ----------
    .. [1] Efron, B. (1987), "Better Bootstrap Confidence Intervals", JASA 82, 171-185, doi:10.2307/2289144.
    .. [2] Davison, A. C. and Hinkley, D. V. (1997), *Bootstrap Methods and their Application*, Cambridge, chapter 5.
    .. [3] Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, equation 14.15.
    .. [4] Kott, P. S. (2001), "The Delete-a-Group Jackknife", Journal of Official Statistics 17, 521-526.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8, 0.5, 0.7]
    >>> metrics = ["roc_auc", fastevals.metric("recall", threshold=0.5)]
    >>> result = fastevals.bootstrap((y_true, y_score), metrics, stratified=True, rng=7)
    >>> result["roc_auc"].value, result["recall(threshold=0.5)"].value
    (0.875, 0.75)
    >>> low, high = result["roc_auc"].confidence_interval
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    specs = parse_metrics(metrics)
    design = SamplingDesign(groups, sample_weight, as_flag("stratified", stratified), pos_label, frequency_weight)
    counts, doubts, coarse = without_doubt("subject", subject, specs, takes_weights=True)
    sample = make_sample(counts, specs, design, coarse=coarse)
    estimates = make_estimates(sample, specs, settings, doubts, keep=keep_distribution, progress=progress)
    return BootstrapResult(
        estimates, settings.n_resamples, settings.confidence_level, settings.method, settings.alternative,
        labels=sample.labels, pos_label=sample.pos_label,
    )  # fmt: skip


class BootstrapResult(ResampledByMetric["Estimate"]):
    """Result of `bootstrap`: a mapping from each metric to its `Estimate`.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.bootstrap(fastevals.ConfusionMatrix([[40, 10], [5, 45]]), ["accuracy", "recall"], rng=0)
    >>> list(result), result["accuracy"].value
    (['accuracy', 'recall'], 0.85)
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(Frozen, Generic[V]):
    """A metric and how sure it is: floats, or arrays where the metric gives an array.

    Attributes
    ----------
    value : float or ndarray
        Of the data.
    confidence_interval : Interval
        `low` and `high`.
    standard_error : float or ndarray
        Standard deviation of the replicates.
    bias : float or ndarray
        Mean of the replicates less the value.
    n_undefined : int or ndarray
        Replicates in which the metric is undefined (one class, a zero denominator): they are left out.
    bootstrap_distribution : ndarray of shape (n_resamples, ...) or None
        All replicates, NaN where undefined; None unless asked for.
    caution : str
        Why the interval may hold the true value more seldom than its level says; empty where there is no such reason
        known. For metrics that are the best of many, such as KS (see `bootstrap`).
    method : str
        Of the interval: the one asked for; but where "BCa" was, "debiased percentile" of a metric that is the best of
        many, and "further of BCa and debiased percentile" of one that is read where another metric is best.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8])
    >>> fastevals.bootstrap(ranking, "roc_auc", stratified=True, rng=1)["roc_auc"].value
    0.8888888888888888
    """

    value: V
    confidence_interval: Interval[V]
    standard_error: V
    bias: V
    n_undefined: int | NDArray[np.intp]
    bootstrap_distribution: Floats | None = None
    caution: str = ""
    method: str = ""

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"Estimate({format_estimates(self.value, self.confidence_interval)})"
        low, high = self.confidence_interval
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        caution = f", caution={self.caution!r}" if self.caution else ""
        method = f", method={self.method!r}" if self.method in (DEBIASED, FURTHER) else ""
        return (
            f"Estimate({self.value:.4g}, [{low:.4g}, {high:.4g}], standard_error={self.standard_error:.3g}"
            f"{undefined}{method}{caution})"
        )

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        return spread(
            value=self.value, low=low, high=high, standard_error=self.standard_error, bias=self.bias,
            n_undefined=self.n_undefined,
        )  # fmt: skip


class BootstrapSettings(NamedTuple):
    """Checked settings of a bootstrap."""

    n_resamples: int
    confidence_level: float
    method: BootstrapMethod  # of the intervals, and so is the alternative
    alternative: Alternative
    key: np.uint64  # of the random stream

    @classmethod
    def checked(
        cls, n_resamples: Any, confidence_level: Any, method: Any, alternative: Any, rng: Any
    ) -> BootstrapSettings:
        """Check what a user passes."""
        check_choice("method", method, BootstrapMethod)
        check_choice("alternative", alternative, Alternative)
        return cls(
            check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES),
            check_confidence_level(confidence_level)[0],
            method,
            alternative,
            seed_key("rng", rng),
        )


def resample(
    sample: Sample, specs: MetricSpecs, settings: BootstrapSettings, *, progress: bool
) -> tuple[Values, Values, dict[int, Any]]:
    """Return each metric of the data and of the replicates, and BCa's accelerations where they are used, by number."""
    values = sample.estimates()
    replicates = sample.replicates(settings.n_resamples, settings.key, progress=progress)
    if settings.method != "BCa":
        return values, replicates, {}
    used = [
        k for k, spec in enumerate(specs.values()) if optimized_bounds(spec) is None and not np.isnan(values[k]).all()
    ]
    return values, replicates, sample.accelerations(settings.key, used)


def make_estimates(
    sample: Sample,
    specs: MetricSpecs,
    settings: BootstrapSettings,
    doubts: Mapping[str, Doubt] = MappingProxyType({}),
    *,
    keep: bool = False,
    progress: bool = False,
) -> dict[str, Estimate]:
    """Return the estimate of each metric, from replicates of a sample."""
    values, replicates, accelerations = resample(sample, specs, settings, progress=progress)
    return {
        label: make_estimate(
            label, spec, values[k], replicates[k], accelerations.get(k, 0.0), settings,
            keep=keep, class_sizes=sample.class_sizes, doubt=doubts.get(label, NO_DOUBT),
        )
        for k, (label, spec) in enumerate(specs.items())
    }  # fmt: skip


def make_estimate(
    label: str,
    spec: MetricSpec | Callable[..., Any],
    value: Any,
    replicates: Floats,
    acceleration: Any,
    settings: BootstrapSettings,
    *,
    keep: bool,
    class_sizes: tuple[int, int] | None,
    doubt: Doubt = NO_DOUBT,
    limits: Limits | None = None,
) -> Estimate:
    """Return the estimate of a metric from its replicates, of shape (n_resamples, ...); warn where it is degenerate.

    Intervals reach further by what is in doubt, within the metric's bounds. `limits` are these, and those of what it is
    the best of, where they are not the metric's own.
    """
    values = np.asarray(value, dtype=np.float64)
    columns = replicates.reshape(replicates.shape[0], -1)
    numbers = zip(columns.T, values.ravel(), np.broadcast_to(acceleration, values.shape).ravel(), strict=True)
    limits = limits or Limits.of(spec)
    results = [_estimate_number(column, float(number), float(a), settings, limits) for column, number, a in numbers]
    low, high, error, bias = (np.reshape(each, values.shape) for each in np.array(results).reshape(-1, 4).T)
    if any(doubt):
        low, high = np.clip((low - doubt[0], high + doubt[1]), *limits.bounds)
        values = settled(values, doubt)
    undefined = np.isnan(columns).sum(axis=0).reshape(values.shape)
    _warn(label, values, columns, low, undefined, settings.method)
    return Estimate(
        number_or_array(values),
        Interval(number_or_array(low), number_or_array(high)),
        number_or_array(error),
        number_or_array(bias),
        undefined if undefined.ndim else int(undefined),
        replicates if keep else None,
        _caution(columns, values, settings.method, class_sizes, limits) if not np.isnan(low).all() else "",
        interval_method(settings.method, limits),
    )


def _estimate_number(
    replicates: Floats, value: float, acceleration: float, settings: BootstrapSettings, limits: Limits
) -> Any:
    """Return the ends of the interval, the standard error and the bias of one number."""
    defined = replicates
    if not np.isfinite(replicates).all():
        defined = replicates[~np.isnan(replicates)]
        if not np.isfinite(defined).all():  # an infinite loss: nothing is known of its spread
            return (math.nan,) * 4
    interval = confidence_interval(
        settings.method,
        defined,
        value,
        confidence_level=settings.confidence_level,
        alternative=settings.alternative,
        acceleration=acceleration,
        limits=limits,
    )
    with np.errstate(over="ignore"):
        error = float(defined.std(ddof=1)) if defined.size > 1 else math.nan
    return *interval, error, float(defined.mean()) - value if defined.size else math.nan


def _warn(label: str, values: Floats, columns: Floats, low: Floats, undefined: NDArray[Any], method: str) -> None:
    """Warn of undefined replicates, and of intervals that have no width or don't exist."""
    n = columns.shape[0]
    if undefined.any():
        warn_left_out(label, int(undefined.max()), n)
    defined = ~np.isnan(values).ravel()
    if (defined & np.isinf(columns).any(axis=0)).any():
        warn_undefined(f"the interval of {label}", "the metric is infinite in some replicates")
        return
    with np.errstate(invalid="ignore"):
        width = np.nanmax(columns, axis=0, initial=-math.inf) - np.nanmin(columns, axis=0, initial=math.inf)
    if (defined & (width >= 0) & (width <= TIE * np.abs(values).ravel())).any():
        warn_degenerate(
            f"the interval of {label}", "all its replicates are equal, which says nothing of how sure it is"
        )
    elif (defined & np.isnan(low).ravel()).any():
        reason = f"{method} finds none in {n} replicates (all on one side of the value, or fewer than two)"
        warn_undefined(f"the interval of {label}", reason)


def _caution(columns: Floats, values: Floats, method: str, class_sizes: tuple[int, int] | None, limits: Limits) -> str:
    """Return why the interval of a value at a chosen threshold may cover too seldom."""
    if limits.optimized is None:
        return ""
    if method != "BCa" and limits.is_by_another:
        return f"the threshold was chosen on the same rows: {method!r} doesn't allow for what that adds to a value"
    if method != "BCa":
        return f"replicates lie beyond a best value as it lies beyond the true one: {method!r} takes that for width"
    reasons = []
    if class_sizes is not None and min(class_sizes) < FEW_ROWS:
        rows = f"{min(class_sizes)} row{'s' * (min(class_sizes) != 1)} of a class"
        reasons.append(f"{rows}: with fewer than {FEW_ROWS}, such intervals hold the true value too seldom")
    for column, value in () if limits.is_by_another else zip(columns.T, values.ravel(), strict=True):
        defined = column[~np.isnan(column)]
        below = _share_below(defined, float(value), TIE * abs(float(value))) if defined.size else 0.5
        share_beyond = max(below, 1 - below)
        if share_beyond >= SUSPICIOUS_SHARE:
            reasons.append(
                f"{share_beyond:.0%} of replicates lie on one side of the value, which may be an extreme one by chance"
            )
    return "; ".join(reasons)


# From replicates to intervals -----------------------------------------------------------------------------------------
# Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, chapters 13 and 14; Davison, A. C. and
# Hinkley, D. V. (1997), *Bootstrap Methods and their Application*, chapter 5. Quantiles are interpolated as SciPy does.


def confidence_interval(
    method: str,
    replicates: Floats,
    estimate: float,
    *,
    confidence_level: float,
    alternative: Alternative,
    acceleration: float = 0.0,
    limits: Limits = NO_LIMITS,
) -> Interval:
    """Return the interval of a metric from its replicates, none NaN; NaN where the method has none.

    That is without replicates and, for BCa, where all are on one side of the estimate. The interval stays within the
    bounds of `limits`, which are its open end too. For a metric that is the best of many, BCa is percentiles less the
    optimism of a best value; for one at the threshold that another is best at, it reaches as far as either. The normal
    interval is R's boot's: about the estimate less its bias.
    """
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    if not replicates.size or math.isnan(estimate):
        return Interval(math.nan, math.nan)
    least, most = limits.bounds
    size = abs(estimate) if math.inf in (abs(least), abs(most)) else 1.0
    found = []
    if method != "BCa" or limits.optimized is None or limits.is_by_another:
        found.append(METHODS[method](replicates, estimate, tail, acceleration, TIE * size))
    if method == "BCa" and limits.optimized is not None:
        found.append(_less_optimism(replicates, estimate, tail, limits.optimized))
    found = [ends for ends in found if not any(map(math.isnan, ends))]
    if not found:
        return Interval(math.nan, math.nan)
    low, high = min(low for low, _ in found), max(high for _, high in found)
    return Interval(
        least if alternative == "less" else min(max(low, least), most),
        most if alternative == "greater" else max(min(high, most), least),
    )


def _quantiles(replicates: Floats, *shares: float) -> tuple[float, ...]:
    if any(map(math.isnan, shares)):
        return (math.nan,) * len(shares)
    return tuple(np.quantile(replicates, shares).tolist())


def _percentile(replicates: Floats, estimate: float, tail: float, acceleration: float, tie: float) -> tuple[float, ...]:
    return _quantiles(replicates, tail, 1 - tail)


def _basic(replicates: Floats, estimate: float, tail: float, acceleration: float, tie: float) -> tuple[float, ...]:
    low, high = _quantiles(replicates, tail, 1 - tail)
    return 2 * estimate - high, 2 * estimate - low


def _normal(replicates: Floats, estimate: float, tail: float, acceleration: float, tie: float) -> tuple[float, ...]:
    from scipy.special import ndtri

    if replicates.size < 2:
        return math.nan, math.nan
    center, margin = 2 * estimate - float(replicates.mean()), -float(ndtri(tail) * replicates.std(ddof=1))
    return center - margin, center + margin


def _bca(replicates: Floats, estimate: float, tail: float, acceleration: float, tie: float) -> tuple[float, ...]:
    from scipy.special import ndtr, ndtri

    bias = float(ndtri(_share_below(replicates, estimate, tie)))
    if not math.isfinite(bias):
        return math.nan, math.nan
    ends = []
    for deviate in (float(ndtri(tail)), -float(ndtri(tail))):
        moved = bias + deviate
        ends.append(float(ndtr(bias + moved / (1 - acceleration * moved))))
    return _quantiles(replicates, *ends)


def _share_below(replicates: Floats, estimate: float, tie: float) -> float:
    """Return the share of replicates below the estimate; ties count half."""
    below, up_to = np.count_nonzero(replicates < estimate - tie), np.count_nonzero(replicates <= estimate + tie)
    return float(below + up_to) / (2 * replicates.size)


# The best of many lies beyond the true best, and the best of a replicate beyond that of the data, but by less:
# the data's noise is in both. With noise of size s the best lies beyond by s^p, p = 4/3 at a round peak (Kim, J. and
# Pollard, D. (1990), "Cube root asymptotics", Annals of Statistics 18, 191-219, doi:10.1214/aos/1176347498) and 1 where
# it is flat, and s^2 doubles in a replicate: the data's optimism is 1 / (2^(p/2) - 1) times that of replicates, 1.7 to
# 2.4. Taken off once from the upper end of a largest value and 2.4 times from the lower, since it is itself uncertain,
# it gave the best coverage in simulations.
OPTIMISM = 1.0, 1 + math.sqrt(2)


def _less_optimism(
    replicates: Floats, estimate: float, tail: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return percentiles less the optimism of the estimate and that of replicates, on the scale of log odds.

    Without a least, as differences have none, on their own scale.
    """
    least, most = bounds
    if not math.isfinite(least):

        def stretch(value: Any) -> Any:
            return value

        back = stretch

    elif math.isfinite(most):

        def stretch(value: Any) -> Any:
            return np.log(value - least) - np.log(most - value)

        def back(value: Any) -> Any:
            return least + (most - least) / (1 + np.exp(-value))

    else:

        def stretch(value: Any) -> Any:
            return np.log(value - least)

        def back(value: Any) -> Any:
            return least + np.exp(value)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, middle, high = stretch(np.clip(np.quantile(replicates, (tail, 0.5, 1 - tail)), least, most))
        at = stretch(np.float64(estimate))
        bias = 0.0 if middle == at else middle - at
        both = [(1 + times) * bias for times in OPTIMISM]
        return float(back(low - max(both))), float(back(high - min(both)))


METHODS: dict[str, Callable[[Floats, float, float, float, float], tuple[float, ...]]] = {
    "BCa": _bca,
    "percentile": _percentile,
    "basic": _basic,
    "normal": _normal,
}
