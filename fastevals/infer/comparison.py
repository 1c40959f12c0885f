"""Compare models on the same rows: differences in any metric, with simultaneous intervals and p-values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Generic

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import run
from fastevals._kernels.paired import draw_with_factor, factorize
from fastevals._options import as_flag, show, warn_degenerate, warn_too_few
from fastevals._text import WIDTH, format_column, format_pvalue, format_tables, printable, shorten_names, wrap_text
from fastevals._validation.arrays import are_matrices, as_matrices, as_predictions, check_only_of_classes
from fastevals._validation.labels import as_models_labels, as_true_labels, check_two_models
from fastevals.document.frames import Columns, spread, stack
from fastevals.infer.bootstrap.bootstrap import (
    BootstrapMethod,
    BootstrapSettings,
    Estimate,
    difference_caution,
    make_estimate,
    resample,
    sizes_of_classes,
)
from fastevals.infer.bootstrap.samples import Sample
from fastevals.infer.bootstrap.subjects import (
    SamplingDesign,
    make_class_sample,
    make_prediction_sample,
    make_quantile_sample,
    make_score_sample,
    make_target_sample,
)
from fastevals.infer.permutation.distribution import METRIC_ROUNDING
from fastevals.infer.significance.paired import compared_pairs, scale_to_unit
from fastevals.measure.kinds import CLASSES, QUANTILES, TARGETS, MetricSpecs, array_kind, check_one_kind, metric_kinds
from fastevals.measure.metric_specs import metric_bounds, parse_metrics
from fastevals.results import (
    EXTREMENESS,
    TIE_TOLERANCE,
    Alternative,
    Frozen,
    Interval,
    ResampledByMetric,
    V,
    format_estimates,
    number_or_array,
)

MOST_ROWS = 45  # rows printed for each metric
DRAWS_PER_TASK = 512  # normal draws that one task makes

Floats = NDArray[np.float64]


def compare_rankings(
    y_true: ArrayLike,
    scores: Any,
    *,
    metrics: Any = "roc_auc",
    reference: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    stratified: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> ModelComparison:
    """Compare models on the same rows by any metrics, with one paired bootstrap.

    Each replicate draws rows once for all models. Each difference, divided by its standard error, is compared with the
    largest deviation of any difference in each replicate (max-T), metric by metric. So intervals are simultaneous, and
    p-values are adjusted for the number of differences and their correlation.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or more if scores have one column per class: numbers, booleans or strings.
    scores : mapping of name to array-like, array-like of shape (n_models, n_samples), or frame
        Finite scores of two or more models: one entry, row or column per model. For several classes, a mapping of names
        to matrices of shape (n_samples, n_classes), or an array of shape (n_models, n_samples, n_classes).
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        Metrics of scores, as for `bootstrap`.
    reference : name or int, optional
        The model to compare the others with, by name, or by number if the models have no names. By default all pairs
        are compared.
    n_resamples : int
        Number of replicates.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    method : {"BCa", "percentile", "basic", "normal"}
        Interval method for each model's own estimate.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the differences are not 0, are negative, or are positive.
    stratified, groups, sample_weight, pos_label, labels, rng, keep_distribution, progress
        As for `bootstrap`.

    Returns
    -------
    ModelComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        In the cases listed for `bootstrap`; if there are too few replicates for the confidence level; and if a
        difference is the same in all replicates, so that its interval has no width and its p-value no meaning.

    Notes
    -----
    Two models that rank all rows alike have a difference of 0 and p = 1. The smallest possible p-value is 1 / (n + 1)
    for n defined replicates. For AUCs alone, `delong` compares models without a bootstrap.

    Besides the rankings, the bootstrap needs 8 bytes of memory per row and model, 8 more for each metric of
    probabilities, and up to 6 bytes per row and thread (or per row, thread and model, if a metric is of probabilities).

    References
    ----------
    .. [1] Westfall, P. H. and Young, S. S. (1993), *Resampling-Based Multiple Testing*, Wiley.
    .. [2] Romano, J. P. and Wolf, M. (2005), "Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing",
       JASA 100, 94-108, doi:10.1198/016214504000000539. (This function uses a single step.)

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 0, 0, 1, 1, 1]
    >>> scores = {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    >>> result = fastevals.compare_rankings(y_true, scores, stratified=True, n_resamples=999, rng=0)
    >>> result["roc_auc"].differences[0].value
    0.3888888888888889
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    specs = parse_metrics(metrics)
    flag = as_flag("stratified", stratified)
    design = SamplingDesign(groups, sample_weight, flag, pos_label, labels=labels)
    sample: Sample
    if are_matrices(scores):
        specs, (labelled, models) = CLASSES.specs(specs), as_matrices("scores", scores)
        check_two_models("scores", models)
        pairs = compared_pairs(models, reference)
        sample = make_class_sample(y_true, labelled, specs, design)
    else:
        check_only_of_classes(labels=labels)
        labelled, models = as_models("scores", scores)
        pairs = compared_pairs(models, reference)
        sample = make_score_sample(y_true, labelled, specs, design)
    return compare_models(sample, specs, list(models), pairs, settings, keep_distribution, progress)


def compare_predictions(
    y_true: ArrayLike,
    predictions: Any,
    *,
    metrics: Any = "accuracy",
    reference: Any = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    stratified: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> ModelComparison:
    """Compare models' predicted classes or numbers on the same rows by any metrics, with one paired bootstrap.

    The method is the same as in `compare_rankings`. Predictions are numbers if the metrics are regression metrics, and
    classes otherwise. If many rows have the same true class and the same predictions, they are drawn as one count, so a
    replicate costs the same for any number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: integers, booleans, strings, or floats without a fraction. For regression metrics, finite numbers.
    predictions : mapping of name to array-like, array-like of shape (n_models, n_samples), or frame
        Predicted labels, or finite numbers, of two or more models: one entry, row or column per model.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        Metrics of predicted labels, as for `bootstrap`, such as ``metric("f1", average="macro")``; ``average=None``
        gives one value per class. A function is called with a stack of confusion matrices of shape (n, n_models, K, K)
        or (n_models, K, K). It returns an array with the axes of the stack except the last two, optionally followed by
        further axes. For predicted numbers, only regression metrics are allowed, such as
        ``["root_mean_squared_error", "r2"]``.
    reference : name or int, optional
        The model to compare the others with, by name, or by number if the models have no names. By default all pairs
        are compared.
    n_resamples : int
        Number of replicates.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    method : {"BCa", "percentile", "basic", "normal"}
        Interval method for each model's own estimate.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the differences are not 0, are negative, or are positive.
    stratified, groups, sample_weight, pos_label, rng, keep_distribution, progress
        As for `bootstrap`; `stratified` and `pos_label` do not apply to regression metrics.

    Returns
    -------
    ModelComparison
        A mapping from each metric to its `MetricComparison`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        In the cases listed for `bootstrap`; if there are too few replicates for the confidence level; and if a
        difference is the same in all replicates, so that its interval has no width and its p-value no meaning.

    Notes
    -----
    With regression metrics, each model's estimates equal the estimates from `bootstrap` with the same seed, to the bit.
    A replicate sweeps over the rows once, and needs 1 byte per row and thread, plus 1 with clusters and 8 with weights.
    The median takes several times as long. It needs about 20 bytes per row and thread, plus 5 bytes per row, thread and
    model. BCa needs about 60 bytes per row, once for all models.

    References
    ----------
    See `compare_rankings`.

    Examples
    --------
    >>> import fastevals
    >>> y_true = ["a", "b", "c", "a", "b", "c"]
    >>> predictions = {"old": ["a", "b", "b", "a", "c", "a"], "new": ["a", "b", "c", "a", "b", "a"]}
    >>> result = fastevals.compare_predictions(y_true, predictions, reference="old", n_resamples=999, rng=0)
    >>> result["accuracy"].differences[0].value
    0.33333333333333337
    >>> y_true, predictions = [3, -0.5, 2, 7], {"old": [2, 0, 2, 8], "new": [2.5, 0, 2, 8]}
    >>> result = fastevals.compare_predictions(y_true, predictions, metrics="mean_absolute_error", rng=0)
    >>> result["mean_absolute_error"].differences[0].value
    0.125
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    specs = parse_metrics(metrics)
    kinds = metric_kinds(specs)
    check_one_kind("metrics", kinds, several=True)
    design = SamplingDesign(groups, sample_weight, as_flag("stratified", stratified), pos_label)
    sample: Sample
    numeric = array_kind(kinds)
    if numeric in (TARGETS, QUANTILES):
        numbers, models = as_models("predictions", predictions, numeric.as_array)
        pairs = compared_pairs(models, reference)
        make: Any = make_target_sample if numeric is TARGETS else make_quantile_sample
        sample = make(y_true, numbers, specs, design)
    else:
        true = as_true_labels("y_true", y_true)
        labelled, models = as_models_labels("predictions", true, predictions)
        pairs = compared_pairs(models, reference)
        sample = make_prediction_sample(true, labelled, specs, design)
    return compare_models(sample, specs, list(models), pairs, settings, keep_distribution, progress)


class ModelComparison(ResampledByMetric["MetricComparison"]):
    """Result of comparisons such as `compare_rankings`: a mapping from each metric to its `MetricComparison`.

    Examples
    --------
    >>> import fastevals
    >>> y_true, scores = [0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    >>> result = fastevals.compare_rankings(y_true, scores, stratified=True, n_resamples=99, rng=0)
    >>> [(each.model, each.reference) for each in result["roc_auc"].differences]
    [('a', 'b')]
    >>> print(result)
    Paired bootstrap, 99 replicates, pos_label=1. 95 % intervals: BCa for models; simultaneous, with
    adjusted p-values, for differences
      roc_auc  value     low   high      p
        a     0.7778  0.3333 1.0000
        b     0.3889  0.0000 0.8333
        a - b 0.3889 -0.1111 0.8889 0.1800
        ! there are only 6 rows, and with fewer than 50, intervals are too narrow and
          p-values too small: use more rows
    """

    __slots__ = ()

    def __str__(self) -> str:
        side = "" if self.alternative == "two-sided" else f" (one-sided: {self.alternative})"
        positive = "" if self.pos_label is None else f", pos_label={show(self.pos_label)}"
        level = f"{100 * self.confidence_level:.6g} %"
        title = (
            f"Paired bootstrap, {self.n_resamples} replicates{positive}. {level} intervals: {self.method} for models; "
            f"simultaneous, with adjusted p-values, for differences{side}"
        )
        tables = (line for name, comparison in self.metrics.items() for line in comparison._table(name))
        return "\n".join([*wrap_text(title, indent=""), *tables])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricComparison(Frozen):
    """Estimates and differences of all models in one metric.

    Attributes
    ----------
    estimates : dict of model to Estimate
        Estimate of each model, with an interval that is not simultaneous.
    differences : tuple of Difference
        Differences between all pairs of models or, given a reference, between every other model and the reference.
    n_undefined : int or ndarray
        Number of replicates in which a difference is undefined or infinite; they are dropped for all differences. If
        the metric is an array, this is an array too, with a count for each element.
    """

    estimates: dict[Any, Estimate]
    differences: tuple[Difference, ...]
    n_undefined: int | NDArray[np.intp]

    def __repr__(self) -> str:
        return f"MetricComparison({list(self.differences)!r})"

    def __str__(self) -> str:
        return "\n".join(self._table("model"))

    def _columns(self) -> Columns:
        """Return one row per model, with no reference, then one row per difference."""
        estimates = [({"model": model, "reference": None}, each._columns()) for model, each in self.estimates.items()]
        differences = [
            ({"model": each.model, "reference": each.reference}, each._numbers()) for each in self.differences
        ]
        undefined = spread(n_undefined=self.n_undefined)
        return stack([*estimates, *((pair, {**numbers, **undefined}) for pair, numbers in differences)])

    def _table(self, heading: str) -> list[str]:
        """Return the lines of a table: the value of each model, and the differences with their p-values."""
        short = dict(zip(self.estimates, shorten_names(self.estimates), strict=True))
        rows = [row for model, each in self.estimates.items() for row in _table_rows(short[model], each)]
        for each in self.differences:
            rows += _table_rows(f"{short[each.model]} - {short[each.reference]}", each, each.pvalue)
        header, *lines = format_tables([[[f"  {heading}", "value", "low", "high", "p"], *rows]])[0]
        more = [f"    ... {len(lines) - MOST_ROWS} more"] if len(lines) > MOST_ROWS else []
        left_out = int(np.max(self.n_undefined))
        undefined = [f"    undefined in {left_out} replicates, which are dropped"] if left_out else []
        cautions = dict.fromkeys(each.caution for each in self.differences if each.caution)
        told = [f"    {line}" for each in cautions for line in wrap_text(f"! {each}", "  ", WIDTH - 4)]
        return [header, *lines[:MOST_ROWS], *more, *undefined, *told]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference(Frozen, Generic[V]):
    """The metric of one model minus the metric of another: floats, or arrays if the metric is an array.

    Attributes
    ----------
    model, reference : str or int
        The two models: `value` is the metric of `model` minus the metric of `reference`.
    value : float or ndarray
        The difference.
    confidence_interval : Interval
        Interval of the difference, simultaneous over all differences in the metric. If the metric is an array, the
        level applies to each element (such as a class) separately.
    standard_error : float or ndarray
        Standard error of the difference.
    pvalue : float or ndarray
        p-value for the hypothesis of no difference, adjusted for the number of differences. It is below alpha only if
        the interval excludes 0.
    unadjusted_pvalue : float or ndarray
        The p-value as if this difference were the only one.
    caution : str
        Why the interval and the p-values may claim more certainty than the data allow: fewer than 50 rows (or clusters)
        or, unless the metric is a mean over rows, fewer than 50 rows of a class. Empty if there is no known reason.
    """

    model: Any
    reference: Any
    value: V
    confidence_interval: Interval[V]
    standard_error: V
    pvalue: V
    unadjusted_pvalue: V
    caution: str = ""

    def __repr__(self) -> str:
        pair = f"{printable(str(self.model))} - {printable(str(self.reference))}"
        if isinstance(self.value, np.ndarray):
            return f"Difference({pair}: {format_estimates(self.value, self.confidence_interval)})"
        interval = "[{:.4g}, {:.4g}]".format(*self.confidence_interval)
        return f"Difference({pair}: {self.value:.4g}, {interval}, p={self.pvalue:.3g})"

    def _columns(self) -> Columns:
        return stack([({"model": self.model, "reference": self.reference}, self._numbers())])

    def _numbers(self) -> Columns:
        low, high = self.confidence_interval
        return spread(
            value=self.value, low=low, high=high, standard_error=self.standard_error, pvalue=self.pvalue,
            unadjusted_pvalue=self.unadjusted_pvalue,
        )  # fmt: skip


def _table_rows(name: str, result: Estimate | Difference, pvalue: Any = None) -> Iterator[list[str]]:
    """Yield one row for each number of a result: its name, value, interval and p-value."""
    columns = np.broadcast_arrays(result.value, *result.confidence_interval, math.nan if pvalue is None else pvalue)
    for place in np.ndindex(columns[0].shape):
        *numbers, p = (float(column[place]) for column in columns)
        suffix = f" [{', '.join(map(str, place))}]" if place else ""
        yield [f"    {name}{suffix}", *format_column(numbers), "" if pvalue is None else format_pvalue(p)]


def compare_models(
    sample: Sample,
    specs: MetricSpecs,
    models: list[Any],
    pairs: NDArray[np.intp],
    settings: BootstrapSettings,
    keep: bool,
    progress: bool,
) -> ModelComparison:
    """Return the estimates of all models and their differences, from one bootstrap."""
    values, replicates, accelerations = resample(sample, specs, settings, progress=progress)
    by_chance = sample.errors_by_chance(settings.key)
    comparisons = {}
    for k, (label, spec) in enumerate(specs.items()):
        bounds = metric_bounds(spec)
        _check_model_values(label, values[k].shape, replicates[k].shape[1:], len(models))
        acceleration = np.broadcast_to(accelerations.get(k, 0.0), values[k].shape)
        estimates = {
            model: make_estimate(
                f"{label} of {model}", spec, values[k][i], replicates[k][:, i], acceleration[i], settings,
                keep=keep, class_sizes=sizes_of_classes(sample, spec),
                by_chance=by_chance[k][:, i] if k in by_chance else None,
            )
            for i, model in enumerate(models)
        }  # fmt: skip
        undefined, fields = _compare_pairs(
            values[k], replicates[k], pairs, settings, (bounds[0] - bounds[1], bounds[1] - bounds[0])
        )
        caution = difference_caution(sample, spec)
        differences = tuple(
            Difference(models[i], models[j], *(*row, caution)) for (i, j), row in zip(pairs, fields, strict=True)
        )
        constant = [each for each in differences if np.any((np.asarray(each.value) != 0) & (each.standard_error == 0))]
        if constant:
            name = f"the difference in {label}, {constant[0].model} - {constant[0].reference},"
            warn_degenerate(name, f"it is the same in all replicates ({len(constant)} of {len(differences)} pairs)")
        comparisons[label] = MetricComparison(estimates, differences, undefined)
    return ModelComparison(
        comparisons, settings.n_resamples, settings.confidence_level, settings.method, settings.alternative,
        labels=sample.labels, pos_label=sample.pos_label,
    )  # fmt: skip


def _compare_pairs(
    values: Floats,
    replicates: Floats,
    pairs: NDArray[np.intp],
    settings: BootstrapSettings,
    bounds: tuple[float, float],
) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return the number of undefined replicates, and for each pair the fields of `Difference` from `value` on.

    Values have shape (n_models, ...), replicates (n_resamples, n_models, ...). Elements along further axes, such as
    classes, are compared separately, so a class that is often undefined does not affect the others.
    """
    if values.ndim == 1:
        return compare_numbers(values, replicates, pairs, settings, bounds)
    shape = values.shape[1:]
    columns = values.reshape(len(values), -1).T, np.moveaxis(replicates.reshape(*replicates.shape[:2], -1), -1, 0)
    results = [compare_numbers(*column, pairs, settings, bounds) for column in zip(*columns, strict=True)]
    undefined = np.reshape([n for n, _ in results], shape)
    fields = []
    for each in zip(*(rows for _, rows in results), strict=True):
        value, intervals, *other_fields = zip(*each, strict=True)
        interval = Interval(*(number_or_array(np.reshape(end, shape)) for end in zip(*intervals, strict=True)))
        fields.append((np.reshape(value, shape), interval, *(np.reshape(field, shape) for field in other_fields)))
    return undefined, fields


def compare_numbers(
    values: Floats,
    replicates: Floats,
    pairs: NDArray[np.intp],
    settings: BootstrapSettings,
    bounds: tuple[float, float],
) -> tuple[int, list[tuple[Any, ...]]]:
    """Compare pairs of models by values of shape (n_models,) and replicates of shape (n_resamples, n_models).

    Differences, and their deviations in replicates, are divided by their standard errors. Intervals and adjusted
    p-values of all pairs come from the largest deviation in each replicate (max-T).
    """
    alternative, side = settings.alternative, EXTREMENESS[settings.alternative]
    compared = sorted_unique(pairs)
    values = np.where(np.isfinite(values), values, np.nan)
    defined = compared[~np.isnan(values[compared])]
    kept = np.isfinite(replicates[:, defined]).all(axis=1)
    replicates = replicates[kept]
    n = len(replicates)
    largest = np.full(n, -math.inf)
    measured = []
    for i, j in pairs:
        difference = values[i] - values[j]
        rounding = max(METRIC_ROUNDING * max(abs(values[i]), abs(values[j])), np.finfo(np.float64).tiny)
        with np.errstate(invalid="ignore"):  # models whose metric is infinite
            deviations = replicates[:, i] - replicates[:, j] - difference
        error = _standard_deviation(deviations)
        statistic = float(side(difference))
        if n and np.abs(deviations).max() <= rounding:  # equal models, or equal differences in all replicates
            deviations, error = np.zeros(n), 0.0
            is_zero = abs(difference) <= rounding
            difference, statistic = (0.0, 0.0) if is_zero else (difference, math.copysign(math.inf, statistic))
        else:
            deviations, statistic = side(deviations) / error, statistic / error
        if not math.isnan(statistic):
            np.maximum(largest, deviations, out=largest)
        measured.append((float(difference), error, statistic, share_as_extreme(deviations, statistic)))
    # The exact rank of the quantile among the sorted deviations: a level of 0.95 is 19/20, not the nearest float.
    place = math.ceil(Fraction(repr(settings.confidence_level)) * (n + 1)) - 1
    if place >= n:
        warn_too_few("n_resamples", n, settings.confidence_level)
    quantile = float(np.partition(largest, place)[place]) if place < n else math.inf
    fields = []
    for difference, error, statistic, pvalue in measured:
        margin = quantile * error if error else 0.0
        ends = [
            0.0 if abs(end) <= TIE_TOLERANCE * abs(difference) else end
            for end in (difference - margin, difference + margin)
        ]
        low = bounds[0] if alternative == "less" else max(ends[0], bounds[0])
        high = bounds[1] if alternative == "greater" else min(ends[1], bounds[1])
        interval = Interval(math.nan, math.nan) if math.isnan(statistic) else Interval(float(low), float(high))
        fields.append((difference, interval, error, share_as_extreme(largest, statistic), pvalue))
    return int(np.count_nonzero(~kept)), fields


def draw_normal(covariance: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Return normal draws of models' sums, (n_draws, n_models, ...); NaN for models whose covariance is unknown.

    The covariance has shape (n_models, ..., n_models, ...). Models with equal covariance have identical draws.
    """
    n_models = len(covariance)
    flat = covariance.reshape(math.isqrt(covariance.size), -1)
    known = np.isfinite(np.diagonal(flat)).reshape(n_models, -1).all(axis=1)
    part = np.repeat(known, len(flat) // n_models)
    draws = np.full((n_draws, len(flat)), np.nan)
    if part.any():
        n = int(np.count_nonzero(part))
        factor, order, drawn = np.zeros((n + 1, n)), np.empty(n, dtype=np.intp), np.zeros((n_draws, n))
        rank = factorize(np.ascontiguousarray(flat[np.ix_(part, part)]), factor, order)
        normal = rng.standard_normal((n_draws, rank))
        rows = [slice(start, start + DRAWS_PER_TASK) for start in range(0, n_draws, DRAWS_PER_TASK)]
        run(lambda task: draw_with_factor(normal[task], factor, order, drawn[task]), rows, compiles="draw_with_factor")
        draws[:, part] = drawn
    draws = draws.reshape(n_draws, *covariance.shape[: covariance.ndim // 2])
    for a, b in combinations(range(n_models), 2):
        if np.array_equal(covariance[a], covariance[b]):
            draws[:, b] = draws[:, a]
    return draws


def _standard_deviation(deviations: Floats) -> float:
    """Return the standard deviation, even of deviations whose squares would underflow."""
    if deviations.size < 2:
        return math.nan
    (scaled,), exponent = scale_to_unit(deviations)
    return math.ldexp(float(scaled.std(ddof=1)), int(exponent[0]))


def share_as_extreme(deviations: Floats, statistic: float) -> float:
    """Return the share of deviations that are at least as large as a statistic, which itself counts as a deviation."""
    if math.isnan(statistic):
        return math.nan
    reached = (
        np.count_nonzero(deviations >= statistic - TIE_TOLERANCE * abs(statistic)) if math.isfinite(statistic) else 0
    )
    if statistic == -math.inf:
        reached = deviations.size
    return (1 + reached) / (1 + deviations.size)


# Checks ---------------------------------------------------------------------------------------------------------------


def as_models(name: str, values: Any, read: Any = None) -> tuple[dict[str, NDArray[Any]], tuple[Any, ...]]:
    """Return the values of two or more models, keyed by their names in errors, and the names of the models."""
    labelled, names, _ = as_predictions(name, values, read)
    models = tuple(range(len(labelled))) if names is None else names
    check_two_models(name, models)
    return labelled, models


def _check_model_values(name: str, shape: tuple[int, ...], drawn: tuple[int, ...], n_models: int) -> None:
    """Raise unless a user's function returns equal shapes for data and replicates, with models on the first axis."""
    if shape[:1] != (n_models,) or shape != drawn:
        raise ValueError(
            f"metrics: {name} must return one number, or an array of one shape, for each of {n_models} models; got "
            f"shape {shape} for their matrices and {drawn} for those of a replicate"
        )
