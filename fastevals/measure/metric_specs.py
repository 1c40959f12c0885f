"""Metrics as users request them: a name with options such as a threshold, a constraint, a limit or a weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fastevals._options import (
    as_flag,
    check_choice,
    check_no_options,
    check_number,
    did_you_mean,
    keyword_parameters,
    listed,
    show,
)
from fastevals._validation.arrays import as_thresholds
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure import ranking_metrics, thresholds
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.registry import (
    METRICS,
    UNBOUNDED,
    Detail,
    Influence,
    ReplicateKernel,
    aliases_for,
    aliases_with_options,
    find_criterion,
)
from fastevals.results import full_name

METRIC_ALIASES = aliases_for(METRICS) | aliases_with_options()
AT_K = "_at_k"  # suffix of query metrics that would otherwise have the name of a metric of cells
PARTIAL_AUC_OPTIONS = {"max_fpr": 1.0, "min_tpr": 0.0, "standardize": True}  # options of roc_auc


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricSpec:
    """A metric's name with its options; `str()` gives its name in results.

    Attributes
    ----------
    name : str
        Name of the metric.
    options : dict
        Options given with the name.
    """

    name: str
    options: dict[str, Any]

    def __str__(self) -> str:
        if not self.options:
            return self.name
        k = self.options.get("k")
        if self.name in METRICS and METRICS[self.name].of == "queries" and len(self.options) == 1 and k is not None:
            return f"{self.name.removesuffix(AT_K)}@{show(k)}"
        return f"{self.name}({', '.join(f'{name}={show(value)}' for name, value in self.options.items())})"

    __repr__ = __str__


def metric(name: str, **options: Any) -> MetricSpec:
    """Name a metric and its options, for `bootstrap` and `compare_rankings`.

    Parameters
    ----------
    name : str
        Metrics of scores: "roc_auc", "rank_loss", "gini", "average_precision", "pr_auc", "pr_auc_linear",
        "break_even_point", "equal_error_rate", "equal_error_rate_on_hull", "cost_area", "ks_statistic", and
        "expected_cost" at a threshold. Of confidence in answers, the right ones positive: "risk_coverage_area",
        "excess_risk_coverage_area", "risk_at_coverage", "coverage_at_risk". Of probabilities: "brier_score",
        "log_loss", "expected_calibration_error", "root_mean_square_calibration_error",
        "maximum_calibration_error", "debiased_calibration_error", "smooth_calibration_error", "mean_predicted".
        Of predicted labels, or of scores at a threshold: "accuracy", "error_rate", "precision", "recall",
        "specificity", "false_positive_rate", "false_negative_rate", "negative_predictive_value",
        "positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio", "prevalence",
        "prediction_rate", "fowlkes_mallows", "f1", "f_score", "jaccard", "balanced_accuracy", "informedness",
        "markedness", "matthews", "cohen_kappa". Of labels only: "hamming_loss", "cost". Of scores of several
        classes, besides averages of the others: "hand_till", "multiclass_log_loss", "multiclass_brier_score",
        "ranked_probability_score", "top_k_accuracy", "top_label_calibration_error". Of rows that
        may have many labels: "coverage_error", "label_ranking_loss", "label_ranking_average_precision",
        "subset_accuracy", "multilabel_hamming_loss". Of predicted numbers:
        "mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error",
        "mean_absolute_percentage_error", "r2", "pinball_loss", "mean_error". Of predicted quantiles and
        intervals: "interval_score", "weighted_interval_score", "crps", "interval_coverage", "interval_width".
        Of ranked documents by query, for `query_metrics`: "ndcg", "dcg", "map", "mrr", "recall_at_k",
        "precision_at_k", "f1_at_k", "r_precision", "hit_rate". Usual other names, such as ``auc`` and ``mse``,
        are accepted; ``c_index`` is the AUC of binary labels.
    **options
        On scores, a metric of one threshold ("precision", "f1", ...) takes one of ``threshold=`` (fixed
        beforehand), ``best=`` (the threshold that is best by this or another such metric) and the constraints
        of `Ranking.threshold_for` (``recall=``, ``precision=``, ``fpr=``, ``tpr=``, ``n_predicted=``).
        Thresholds that are not fixed are chosen anew in each bootstrap replicate. "f_score" takes ``beta=``,
        "expected_cost" ``cost_fp=``, ``cost_fn=`` and ``prior=``, "roc_auc" ``max_fpr=``, ``min_tpr=`` and
        ``standardize=``, calibration errors in bins ``n_bins=`` and ``strategy=``, "risk_at_coverage"
        ``coverage=``, "coverage_at_risk" ``risk=``, "pinball_loss" ``quantile=``, a metric of an interval
        ``coverage=`` (its nominal coverage). A metric of a confusion matrix takes the arguments of its method,
        such as ``average="macro"``. With scores of several classes, a metric of scores takes ``average=``
        ("macro" by default, "weighted", "micro" or None, for a value per class; for an indicator matrix also
        "samples", the mean over rows), and ``threshold=`` may have one number per class; "roc_auc" ``multi_class=``
        ("ovr" by default, or "ovo", whose values are of the pairs of classes j < k), and "top_k_accuracy"
        ``k=``. A metric of ranked documents takes ``k=``: ``metric("ndcg", k=10)`` can also be written
        ``ndcg@10``.

    Returns
    -------
    MetricSpec
        The values of options are checked when the metric is used.

    Raises
    ------
    ValueError
        If there is no such metric, or if it has no such option.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.metric("precision", recall=0.9)
    precision(recall=0.9)
    """
    if not isinstance(name, str):
        raise ValueError(f"name must be a string, got {show(name)}")
    return _checked("name", _spelled("name", name, options))


def _spelled(argument: str, name: str, options: dict[str, Any]) -> MetricSpec:
    """Return the metric that a name stands for; "recall@10" is "recall_at_k" with k=10."""
    name, at, k = name.partition("@")
    best = full_name(options.get("best"))
    if isinstance(best, str) and best in METRICS and METRICS[best].of == "cells":
        options = {**options, "best": best}
    if not at:
        return MetricSpec(full_name(name), options)
    if not (k.isdecimal() and int(k) > 0):
        raise ValueError(f"{argument}: @ must be followed by a whole number above 0, got {name + at + k!r}")
    if "k" in options:
        raise ValueError(f"k must be given once, got k={show(options['k'])} and {name + at + k!r}")
    name = full_name(name)
    return MetricSpec(name + AT_K if name + AT_K in METRICS else name, {**options, "k": int(k)})


def _checked(argument: str, spec: MetricSpec) -> MetricSpec:
    """Raise unless there is such a metric, of any kind, and it has these options."""
    check_choice(argument, spec.name, METRICS, METRIC_ALIASES)
    if spec.options:
        also = {"beta": f"metric('f_score', beta={show(spec.options.get('beta'))})"}
        check_no_options(str(spec), spec.options, dict.fromkeys(legal_options(spec)), also)
    return spec


def legal_options(spec: MetricSpec) -> Iterator[str]:
    """Yield the options of a metric, whatever it is computed from; some occur twice."""
    name, entry = spec.name, METRICS[spec.name]
    if entry.of in ("ranking", "probabilities", "classes", "targets", "quantiles", "queries"):
        yield from entry.options
    if entry.of in ("ranking", "probabilities"):
        yield "average"
    if name == "roc_auc":
        yield from (*PARTIAL_AUC_OPTIONS, "multi_class")
    if entry.of == "cells":
        yield from (*THRESHOLD_OPTIONS, *entry.options)
        if any(name in spec.options for name in THRESHOLD_OPTIONS):
            yield "average"
        if "best" in spec.options:
            yield from METRICS[_checked_best(spec.options["best"])].options
    if entry.is_matrix_method:
        yield from keyword_parameters(getattr(ConfusionMatrix, name))
    elif entry.of == "matrix":
        yield from entry.options
    elif entry.of_labels:
        yield "average"


def _checked_best(name: Any) -> str:
    """Return the name of the metric whose best threshold is used."""
    return find_criterion("best", name, families=True).name


def parse_metrics(metrics: Any, *, of_queries: bool = False) -> dict[str, MetricSpec | Callable[..., Any]]:
    """Return metrics by their names in results, from names, `metric(...)`, or a mapping that may hold functions.

    Either all of them measure ranked documents by query, or none does.
    """
    if isinstance(metrics, (str, MetricSpec)) or callable(metrics):
        metrics = [metrics]
    named: list[tuple[Any, Any]]
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    else:
        try:
            named = [(None, each) for each in metrics]
        except TypeError:
            raise ValueError(f"metrics must be names of metrics, got {show(metrics)}") from None
    if not named:
        raise ValueError("metrics is empty: it must name at least one metric")
    specs: dict[str, MetricSpec | Callable[..., Any]] = {}
    rule = "hold names or metric(...)" if of_queries else "hold names, metric(...) or functions"
    for label, each in named:
        own_name, one = parse_metric("metrics", each, rule, of_queries=of_queries)
        name = own_name if label is None else str(label)
        if name in specs:
            raise ValueError(f"metrics must all differ, got {name!r} twice")
        specs[name] = one
    return specs


def parse_metric(
    argument: str, spec: Any, rule: str = "be a name, metric(...) or a function", *, of_queries: bool = False
) -> tuple[str, MetricSpec | Callable[..., Any]]:
    """Return a metric's name in results, and the parsed metric."""
    if isinstance(spec, str):
        spec = _spelled(argument, spec, {})
    if isinstance(spec, MetricSpec):
        _check_call(argument, _checked(argument, spec), of_queries)
        return str(spec), spec
    if not callable(spec) or of_queries:
        raise ValueError(f"{argument} must {rule}, got {show(spec)}")
    return getattr(spec, "__name__", str(spec)), spec


def _check_call(argument: str, spec: MetricSpec, of_queries: bool) -> None:
    """Raise if a metric of ranked documents is passed to a call for other metrics, or the reverse."""
    if (METRICS[spec.name].of == "queries") == of_queries:
        return
    if not of_queries:
        raise ValueError(
            f"{argument}: {spec} measures the ranked documents of queries: pass it to fastevals.query_metrics or "
            "fastevals.compare_query_metrics"
        )
    names = [name.replace(AT_K, "@10") for name, entry in METRICS.items() if entry.of == "queries"]
    raise ValueError(
        f"{argument} must measure ranked documents: one of {listed(names)}, or with an end such as @10; got {spec}"
        f"{did_you_mean(f'{spec.name}@10', names)}"
    )


def metric_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float]:
    """Return the lowest and highest values that a metric can have."""
    if not isinstance(spec, MetricSpec):
        return UNBOUNDED
    if not spec.options.get("standardize", True):
        return 0.0, spec.options.get("max_fpr") or 1.0
    return METRICS[spec.name].bounds


def optimized_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float] | None:
    """If a metric is the optimum of a quantity on the rows, return the quantity's bounds; otherwise return None.

    Accuracy at the threshold with the lowest error rate is also optimized: both metrics have the same best threshold.
    """
    if not isinstance(spec, MetricSpec):
        return None
    own, by = METRICS[spec.name], spec.options.get("best")
    if by is None:
        return own.optimized_bounds
    alike = own.best is not None and own.best is METRICS[by].best and not (own.family or METRICS[by].family)
    return metric_bounds(spec) if alike or by == spec.name else None


def is_best_by_another(spec: MetricSpec | Callable[..., Any]) -> bool:
    """Return whether a metric is read at the threshold that is best by another metric on the same rows."""
    return isinstance(spec, MetricSpec) and "best" in spec.options and optimized_bounds(spec) is None


def influence_of(spec: MetricSpec) -> Influence:
    """Return the influence of a row on a metric, given the threshold that the spec requests."""
    if "best" in spec.options:
        return Influence.BEST
    return Influence.PLACE if thresholds.CONSTRAINTS.keys() & spec.options else METRICS[spec.name].influence


def is_greater_better(spec: MetricSpec | Callable[..., Any]) -> bool | None:
    """Return a metric's direction, or None for a function, whose direction is unknown."""
    return METRICS[spec.name].greater_is_better if isinstance(spec, MetricSpec) else None


# Metrics of scores --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RankingMetric:
    """A metric of scores, ready to be computed from threshold counts and from bootstrap replicates.

    Attributes
    ----------
    of_counts : callable
        Computes the value from threshold counts.
    detail : Detail
        How finely replicates must distinguish rows.
    sweep : ReplicateKernel or None
        Computes a replicate's value or, with `of_cells`, its cells in one sweep; if None, `of_counts` is called.
    parameters : tuple of float
        Parameters of the sweep's kernel.
    of_cells : callable or None
        Computes the value from the cells at a threshold.
    threshold : number or None
        The threshold of the cells, if it is fixed beforehand.
    bounds : tuple of float
        Lowest and highest values.
    """

    of_counts: Callable[[ThresholdCounts], float]
    detail: Detail
    sweep: ReplicateKernel | None = None
    parameters: tuple[float, ...] = ()
    of_cells: Callable[[Cells], Any] | None = None
    threshold: Any = None
    bounds: tuple[float, float] = UNBOUNDED


def ranking_metric(
    spec: MetricSpec | Callable[..., Any], argument: str = "metrics", *, unit: float = 1.0
) -> RankingMetric:
    """Check the options of a metric of scores, and return the metric; `argument` names the caller's argument in errors.

    `unit` is how much a row weight of 1 adds to the counts from which the metric is computed.
    """
    return replace(_unbounded_metric(spec, argument, unit), bounds=metric_bounds(spec))


def _unbounded_metric(spec: MetricSpec | Callable[..., Any], argument: str, unit: float) -> RankingMetric:
    if not isinstance(spec, MetricSpec):
        return RankingMetric(_checked_number(spec), Detail.THRESHOLDS)
    if spec.name not in METRICS or not METRICS[spec.name].of_scores:
        check_choice(argument, spec.name, [name for name, entry in METRICS.items() if entry.of_scores], None)
    entry = METRICS[spec.name]
    if entry.of == "cells":
        return _at_a_threshold(spec, unit)
    if spec.name == "roc_auc" and spec.options:
        return _partial_auc(spec)
    check_no_options(str(spec), spec.options, entry.options)
    if entry.of == "ranking" and entry.options:
        return _of_whole_ranking(spec)
    if spec.options:
        return _in_bins(spec)
    detail = entry.replicate.detail if entry.replicate else entry.detail
    return RankingMetric(entry, detail, entry.replicate)


def _of_whole_ranking(spec: MetricSpec) -> RankingMetric:
    """Return a metric of rankings with its options, which are the parameters of its kernel."""
    entry = METRICS[spec.name]
    options = entry.own_options(spec.options)
    assert entry.replicate is not None
    whole = replace(entry, function=partial(entry.function, **options))
    return RankingMetric(whole, entry.replicate.detail, entry.replicate, tuple(options.values()))


def _in_bins(spec: MetricSpec) -> RankingMetric:
    """Return the calibration error with the given bins; bins of equal mass are cut anew in each replicate."""
    entry = METRICS[spec.name]
    options = entry.own_options(spec.options)
    entry = replace(entry, function=partial(entry.function, **options))
    if options["strategy"] != "uniform" or entry.replicate is None:
        return RankingMetric(entry, Detail.THRESHOLDS)
    return RankingMetric(entry, entry.replicate.detail, entry.replicate._replace(n_bins=options["n_bins"]))


def _partial_auc(spec: MetricSpec) -> RankingMetric:
    check_no_options(str(spec), spec.options, PARTIAL_AUC_OPTIONS)
    given = {**PARTIAL_AUC_OPTIONS, **spec.options}
    fpr = check_number("max_fpr", given["max_fpr"], low=0, high=1, open_low=True)
    tpr = check_number("min_tpr", given["min_tpr"], low=0, high=1, open_high=True)
    standardize = as_flag("standardize", given["standardize"])
    if fpr == 1 and tpr == 0:
        return ranking_metric(MetricSpec("roc_auc", {}))

    def of_counts(counts: ThresholdCounts) -> float:
        return ranking_metrics.partial_roc_auc(counts, fpr, tpr, standardize)

    return RankingMetric(of_counts, Detail.POLYLINE, ReplicateKernel("partial_roc_auc"), (fpr, tpr, standardize))


# Metrics of one threshold -----------------------------------------------------------------------------------------

THRESHOLD_OPTIONS = ("threshold", "best", *thresholds.CONSTRAINTS)


def _at_a_threshold(spec: MetricSpec, unit: float) -> RankingMetric:
    where = [name for name in THRESHOLD_OPTIONS if name in spec.options]
    if len(where) != 1:
        raise ValueError(
            f"{spec} of scores needs one threshold: one of {', '.join(f'{name}=' for name in THRESHOLD_OPTIONS)} in "
            f"metric({spec.name!r}, ...), got {len(where) or 'none'}"
        )
    (name,) = where
    limit = spec.options[name]
    best = spec.name
    if name == "best":
        best = _checked_best(limit)
    check_no_options(str(spec), spec.options, (*METRICS[spec.name].options, *METRICS[best].options, *THRESHOLD_OPTIONS))
    of_cells = cell_function(spec.name, spec.options)
    if name == "best":
        return _at_the_best(of_cells, best, spec.options)
    if name == "threshold":
        threshold = as_thresholds("threshold", limit, scalar=True)
        return RankingMetric(
            lambda counts: float(of_cells(counts.cells(counts.rows_at_least(threshold)))),
            Detail.CUTS, of_cells=of_cells, threshold=threshold,
        )  # fmt: skip
    limit = thresholds.checked_limit(name, limit)
    if name == "n_predicted":  # the other limits are shares
        limit *= unit
    sweep = thresholds.CONSTRAINTS[name].replicate
    return RankingMetric(
        lambda counts: _at_row(of_cells, counts, thresholds.row_within(counts, name, limit)),
        sweep.detail, sweep, (limit,), of_cells,
    )  # fmt: skip


def cell_function(name: str, options: Mapping[str, Any]) -> Callable[[Cells], Any]:
    """Return a metric of cells with its options."""
    entry, own = METRICS[name], METRICS[name].own_options(options)
    return lambda at: entry.function(Cells(*map(np.asarray, at)), **own)


def _at_the_best(of_cells: Callable[[Cells], Any], best: str, options: Mapping[str, Any]) -> RankingMetric:
    """Return a metric at the threshold that is best by another metric; undefined if that metric needs a missing class.

    Without positives F is 0 at all thresholds, so the highest score is best.
    """
    entry, own = METRICS[best], METRICS[best].own_options(options)

    def of_counts(counts: ThresholdCounts) -> float:
        return _at_row(of_cells, counts, thresholds.best_row_by(counts, entry, own))

    if entry.best is None:
        return RankingMetric(of_counts, Detail.THRESHOLDS)
    kernel, parameters = entry.best(**own)
    # Steps merge negatives, so without positives they lose the highest score. This matters unless one false positive
    # gives the same value as two. If single rows are drawn, the score is not lost.
    one, both = (of_cells(Cells(0, fp, 0, 2 - fp)) for fp in (1, 2))
    alike = entry.best is not METRICS["f1"].best or np.array_equal(one, both, equal_nan=True)
    sweep = ReplicateKernel(kernel, Detail.POLYLINE if alike else Detail.THRESHOLDS, Detail.POLYLINE)
    return RankingMetric(of_counts, sweep.detail, sweep, parameters, of_cells)


def _at_row(of_cells: Callable[[Cells], Any], counts: ThresholdCounts, row: int | None) -> float:
    return math.nan if row is None else float(of_cells(counts.cells(row)))


# Checks ---------------------------------------------------------------------------------------------------------------


def _checked_number(function: Callable[..., Any]) -> Callable[[Any], float]:
    """Wrap a user's metric so that it must return one real number."""

    def checked(counts: Any) -> float:
        given = function(counts)
        value = np.asarray(given)
        if value.dtype.kind not in "fiub" or value.ndim:
            raise ValueError(f"metrics: a function must return one real number, got {show(given)}")
        return float(value)

    return checked
