"""Metrics as users ask for them: a name, and what is beside it (a threshold, a constraint, a limit, a weight)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastevals import _validation as check
from fastevals.measure import ranking_metrics, thresholds
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.registry import METRICS, Detail, Metric, Replicate

__all__ = ["AskedMetric", "RankingMetric", "as_asked", "metric", "of_ranking"]

BEST = "best"
F_SCORE = "f_score"  # the entry "f1", with a beta
PARTIAL = {"max_fpr": 1.0, "min_tpr": 0.0, "standardize": True}  # of roc_auc


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AskedMetric:
    """A metric's name with its options; `str()` is what results call it.

    Attributes
    ----------
    name : str
        Of the metric.
    options : dict
        What was given beside it.
    """

    name: str
    options: dict[str, Any]

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}({', '.join(f'{name}={check.show(value)}' for name, value in self.options.items())})"

    __repr__ = __str__


def metric(name: str, **options: Any) -> AskedMetric:
    """Name a metric together with its options, for `bootstrap` and `compare_rankings`.

    Parameters
    ----------
    name : str
        As in the results, or the name of a method of `ConfusionMatrix`.
    **options
        Of scores, a metric of one threshold ("precision", "f1", ...) takes one of ``threshold=`` (a number, fixed
        beforehand), ``threshold="best"`` (of the threshold that is best by this metric) and the constraints of
        `Ranking.threshold_for` (``recall=``, ``precision=``, ``fpr=``, ``tpr=``, ``n_predicted=``); all but the fixed
        one are chosen anew in each bootstrap replicate. "f_score" takes ``beta=``, "expected_cost" ``cost_fp=``,
        ``cost_fn=`` and ``prior=``, "roc_auc" ``max_fpr=``, ``min_tpr=`` and ``standardize=``. Of a confusion matrix:
        the arguments of its method, such as ``average="macro"``. Of regression: ``quantile=`` for "pinball_loss".

    Returns
    -------
    AskedMetric
        Options are checked when it is used.

    Raises
    ------
    ValueError
        If `name` is not a string.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.metric("precision", recall=0.9)
    precision(recall=0.9)
    """
    if not isinstance(name, str):
        raise ValueError(f"name must be a string, got {check.show(name)}")
    return AskedMetric(name, options)


def as_asked(metrics: Any) -> dict[str, AskedMetric | Callable[..., Any]]:
    """Give the metrics asked for by what results call them: names, `metric(...)`, or a mapping with functions too."""
    if isinstance(metrics, (str, AskedMetric)) or callable(metrics):
        metrics = [metrics]
    if isinstance(metrics, Mapping):
        named = [(label, each) for label, each in metrics.items()]
    else:
        try:
            each_named = list(metrics)
        except TypeError:
            raise ValueError(f"metrics must be names of metrics, got {check.show(metrics)}") from None
        named = [(getattr(each, "__name__", None) if callable(each) else None, each) for each in each_named]
    if not named:
        raise ValueError("metrics is empty: it must name at least one metric")
    asked: dict[str, AskedMetric | Callable[..., Any]] = {}
    for label, each in named:
        if isinstance(each, str):
            each = AskedMetric(each, {})
        if not (isinstance(each, AskedMetric) or callable(each)):
            raise ValueError(f"metrics must hold names, metric(...) or functions, got {check.show(each)}")
        name = str(each) if label is None else label
        if name in asked:
            raise ValueError(f"metrics must all differ, got {name!r} twice")
        asked[name] = each
    return asked


@dataclass(frozen=True, slots=True, eq=False)
class RankingMetric:
    """A metric of scores, ready to be taken of threshold counts and of bootstrap replicates.

    Attributes
    ----------
    of_counts : callable
        Gives the value from threshold counts.
    detail : Detail
        How finely replicates must tell rows apart.
    sweep : Replicate or None
        How a replicate's value is swept; without it `of_counts` is called.
    parameters : tuple of float
        That the kernel of the sweep takes.
    threshold : float or None
        Where it is fixed beforehand: a replicate's value is then `of_cells` of the cells there.
    of_cells : callable or None
        See `threshold`.
    """

    of_counts: Callable[[ThresholdCounts], float]
    detail: Detail
    sweep: Replicate | None = None
    parameters: tuple[float, ...] = ()
    threshold: Any = None
    of_cells: Callable[[Cells], Any] | None = None


def of_ranking(asked: AskedMetric | Callable[..., Any]) -> RankingMetric:
    """Give the metric of scores that was asked for, with its options checked."""
    if not isinstance(asked, AskedMetric):
        return RankingMetric(check.checked_number(asked), Detail.THRESHOLDS)
    check.check_choice("metrics", asked.name, [*METRICS, F_SCORE])
    entry, options = METRICS["f1" if asked.name == F_SCORE else asked.name], dict(asked.options)
    if entry.of == "cells":
        return _at_a_threshold(asked, entry, options)
    if asked.name == "roc_auc" and options:
        return _partial_auc(asked, options)
    check.check_no_options(str(asked), options, ())
    return RankingMetric(entry, entry.replicate.detail if entry.replicate else entry.detail, entry.replicate)


def _partial_auc(asked: AskedMetric, options: dict[str, Any]) -> RankingMetric:
    check.check_no_options(str(asked), options, PARTIAL)
    given = {**PARTIAL, **options}
    fpr = check.check_number("max_fpr", given["max_fpr"], low=0, high=1, open_low=True)
    tpr = check.check_number("min_tpr", given["min_tpr"], low=0, high=1, open_high=True)
    standardize = bool(given["standardize"])
    if fpr == 1 and tpr == 0:
        entry = METRICS["roc_auc"]
        assert entry.replicate is not None
        return RankingMetric(entry, entry.replicate.detail, entry.replicate)
    sweep = Replicate("partial_roc_auc")
    return RankingMetric(
        lambda counts: ranking_metrics.partial_roc_auc(counts, fpr, tpr, standardize),
        sweep.detail, sweep, (fpr, tpr, standardize),
    )  # fmt: skip


# Constraint and metric under which a kernel sweeps the value, and the options it takes.
AT_A_CONSTRAINT = {
    ("recall", "precision"): "precision_at_recall",
    ("precision", "recall"): "recall_at_precision",
    ("fpr", "recall"): "recall_at_fpr",
    ("tpr", "false_positive_rate"): "false_positive_rate_at_tpr",
}


def _at_a_threshold(asked: AskedMetric, entry: Metric, options: dict[str, Any]) -> RankingMetric:
    own = ("beta",) if asked.name == F_SCORE else entry.options
    where = {name: options.pop(name) for name in ("threshold", *thresholds.CONSTRAINTS) if name in options}
    check.check_no_options(str(asked), options, (*own, "threshold", *thresholds.CONSTRAINTS))
    if len(where) != 1:
        raise ValueError(
            f"{asked} of scores needs one threshold: metric({asked.name!r}, threshold=0.5), threshold='best', or one "
            f"of {', '.join(f'{name}=' for name in thresholds.CONSTRAINTS)}; got {len(where) or 'none'}"
        )
    if "beta" in own:
        options["beta"] = check.check_number("beta", options.get("beta", 1.0), low=0, open_low=True, open_high=True)
    if "cost_fp" in own:
        costs = check.check_costs(options.get("cost_fp", 1.0), options.get("cost_fn", 1.0), options.get("prior"))
        options = dict(zip(thresholds.COSTS, costs, strict=True))

    def of_cells(at: Cells) -> Any:
        return entry.function(at, **options)

    ((name, limit),) = where.items()
    if name == "threshold" and not (isinstance(limit, str) and limit == BEST):
        limit = check.as_thresholds("threshold", limit, scalar=True)
        return RankingMetric(
            lambda counts: float(of_cells(_cells(counts, counts.rows_at_least(limit)))),
            Detail.CUTS, threshold=limit, of_cells=of_cells,
        )  # fmt: skip
    if name == "threshold":
        sign = 1 if entry.greater_is_better else -1

        def best(counts: ThresholdCounts) -> float:
            return thresholds.best_value(counts, of_cells, sign)

        swept = Replicate("largest_f") if entry.name == "f1" else None
        return RankingMetric(best, swept.detail if swept else Detail.THRESHOLDS, swept, (options.get("beta", 1.0),))
    limit = thresholds.checked_limit(name, limit)

    def constrained(counts: ThresholdCounts) -> float:
        row = thresholds.row_within(counts, name, limit)
        return math.nan if row is None else float(of_cells(_cells(counts, row)))

    kernel = AT_A_CONSTRAINT.get((name, entry.name))
    if kernel is None:
        return RankingMetric(constrained, Detail.THRESHOLDS)
    return RankingMetric(constrained, Detail.POLYLINE, Replicate(kernel), (limit,))


def _cells(counts: ThresholdCounts, row: Any) -> Cells:
    return Cells(*(np.asarray(cell) for cell in counts.cells(row)))
