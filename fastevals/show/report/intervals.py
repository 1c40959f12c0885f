"""Intervals beside the numbers of a report, and the differences of its models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.options import UndefinedMetricWarning, check_integer, check_number
from fastevals.infer.bootstrap.bootstrap import bootstrap
from fastevals.infer.comparison import compare_rankings
from fastevals.infer.delong.delong import delong
from fastevals.measure.metric_specs import AskedMetric, metric
from fastevals.measure.registry import METRICS
from fastevals.results import MAX_RESAMPLES, Interval, SignificanceResult, check_confidence_level

# The metrics that tables show, and that have intervals.
RANKING_COLUMNS = ("roc_auc", "average_precision", "pr_auc", "equal_error_rate", "break_even_point", "ks_statistic")
PROBABILITY_COLUMNS = ("brier_score", "log_loss", "expected_calibration_error")  # where a model's scores are some
CELLS_COLUMNS = ("accuracy", "precision", "recall", "f1", "matthews")

RESAMPLES = 1999
MOST_BOOTSTRAPPED = 2_000_000  # rows of a block, unless a number of replicates is given

AUC = RANKING_COLUMNS[0]
BCA, DELONG = "BCa", "DeLong"


@dataclass(frozen=True, slots=True)
class Plan:
    """How intervals are to be made.

    Attributes
    ----------
    confidence : float
        Level of each interval, and of all differences of a metric at once.
    resamples : int
        Bootstrap replicates.
    most_bootstrapped : int or None
        Rows above which a block has DeLong's intervals of AUC instead; None where `resamples` was given.
    seed : int
        Of each block's replicates.
    """

    confidence: float
    resamples: int
    most_bootstrapped: int | None
    seed: int


class Rows(NamedTuple):
    """A block's rows: which are positive, each model's scores, and what is beside them."""

    positive: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.intp] | None

    def take(self, some: Any) -> Rows:
        """Return some of the rows."""
        beside = (None if each is None else each[some] for each in (self.weights, self.groups))
        return Rows(self.positive[some], {name: each[some] for name, each in self.scores.items()}, *beside)


class Difference(NamedTuple):
    """A metric of one model less that of another: simultaneous interval and adjusted p-value."""

    value: float
    interval: Interval
    pvalue: float


class Pair(NamedTuple):
    """The differences of two models, by metric."""

    model: str
    reference: str
    metrics: dict[str, Difference]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Those of a block.

    Attributes
    ----------
    method : "BCa", "DeLong" or None
        None where there are none.
    why_none : str
        Says why, where that isn't because nothing is defined.
    models : dict of str to dict of str to Interval
        By model and metric; NaN where undefined.
    differences : tuple of Pair
        Of all pairs of models.
    n_undefined : dict of str to int
        By metric, the replicates in which it is undefined for the model with most; without zeros.
    n_groups : int or None
        Groups of rows, where these are drawn.
    cautions : dict of str to dict of str to str
        By model and metric, why an interval may hold the true value too seldom (see `Estimate`); without the others.
    """

    method: str | None = None
    why_none: str = ""
    models: dict[str, dict[str, Interval]] = field(default_factory=dict)
    differences: tuple[Pair, ...] = ()
    n_undefined: dict[str, int] = field(default_factory=dict)
    n_groups: int | None = None
    cautions: dict[str, dict[str, str]] = field(default_factory=dict)


# What is asked for ------------------------------------------------------------------------------------------------


def as_plan(resamples: int | None, confidence: float, seed: int) -> Plan | None:
    """Return the options checked, or None where no intervals are wanted."""
    level = check_number("--confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    seed = check_integer("--seed", seed, low=0)
    if resamples is None:
        return Plan(level, RESAMPLES, MOST_BOOTSTRAPPED, seed)
    plan = Plan(level, check_integer("--resamples", resamples, low=0, high=MAX_RESAMPLES), None, seed)
    if not plan.resamples:
        return None
    _check_enough(plan)
    return plan


def _check_enough(plan: Plan) -> None:
    """Raise where simultaneous intervals would have no ends."""
    least = math.ceil(1 / check_confidence_level(plan.confidence)[1]) - 1
    if plan.resamples < least:
        raise ValueError(
            f"--resamples must be at least {least} for --confidence {plan.confidence:g} (or 0, for no intervals), "
            f"got {plan.resamples}"
        )


def cells_columns(best: str | None, costs: Mapping[str, float] | None) -> list[str]:
    """Return the columns right of the bar: the usual, the threshold's, and the cost where costs are given."""
    columns = list(CELLS_COLUMNS)
    if best is not None and best not in (*columns, "expected_cost"):
        columns.append(best)
    return columns if costs is None else [*columns, "expected_cost"]


def asked_metrics(
    best: str | None, threshold: float | None, costs: Mapping[str, float] | None
) -> dict[str, AskedMetric]:
    """Return the metrics of all columns; a threshold that was chosen on the rows is chosen anew in each replicate."""
    where = {"threshold": threshold} if best is None else {"best": best}
    asked = {name: metric(name) for name in (*RANKING_COLUMNS, *PROBABILITY_COLUMNS)}
    for name in cells_columns(best, costs):
        used = (costs or {}) if METRICS[name].options or "expected_cost" in where.values() else {}
        asked[name] = metric(name, **where, **used)
    return asked


# What is made -----------------------------------------------------------------------------------------------------


def intervals_of(plan: Plan, asked: Mapping[str, AskedMetric], rows: Rows, *, progress: bool) -> Intervals:
    """Return the intervals of the metrics asked, each of which some model has, and the models' differences."""
    n_groups = None if rows.groups is None else np.unique(rows.groups).size
    if n_groups == 1:
        return Intervals(why_none="all its rows are of one group", n_groups=1)
    if plan.most_bootstrapped is not None and rows.positive.size > plan.most_bootstrapped:
        if n_groups is not None:
            return Intervals(why_none=_no_delong(plan, "for rows in groups"), n_groups=n_groups)
        if rows.weights is not None and (rows.weights != np.trunc(rows.weights)).any():
            return Intervals(why_none=_no_delong(plan, "with weights that are not whole numbers"))
        return _by_delong(plan, rows)
    if not asked:
        return Intervals(n_groups=n_groups)
    _check_enough(plan)
    return _by_bootstrap(plan, asked, rows, n_groups, progress)


def _no_delong(plan: Plan, where: str) -> str:
    return (
        f"above {plan.most_bootstrapped:,} rows they are DeLong's, which don't hold {where}; "
        "--resamples N asks for a bootstrap"
    )


def _by_bootstrap(
    plan: Plan, asked: Mapping[str, AskedMetric], rows: Rows, n_groups: int | None, progress: bool
) -> Intervals:
    how: dict[str, Any] = {
        "n_resamples": plan.resamples, "confidence_level": plan.confidence, "method": BCA, "rng": plan.seed,
        "groups": rows.groups, "sample_weight": rows.weights, "progress": progress,
    }  # fmt: skip
    names = list(rows.scores)
    pairs: tuple[Pair, ...] = ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # notes say it
        if len(names) == 1:
            alone = bootstrap((rows.positive, rows.scores[names[0]]), asked, **how)
            found = {label: {names[0]: alone[label]} for label in asked}
        else:
            compared = compare_rankings(rows.positive, rows.scores, metrics=asked, **how)
            found = {label: compared[label].estimates for label in asked}
            differences = {label: compared[label].differences for label in asked}
            pairs = tuple(
                Pair(*pair, {label: _of_bootstrap(each[k]) for label, each in differences.items()})
                for k, pair in enumerate(combinations(names, 2))
            )
    models = {name: {label: each[name].confidence_interval for label, each in found.items()} for name in names}
    undefined = {
        label: max((one.n_undefined for one in each.values() if not math.isnan(one.value)), default=0)
        for label, each in found.items()
    }
    undefined = {label: count for label, count in undefined.items() if count}
    cautions = {
        name: {label: each[name].caution for label, each in found.items() if each[name].caution} for name in names
    }
    return Intervals(BCA, "", models, pairs, undefined, n_groups, cautions)


def _of_bootstrap(found: Any) -> Difference:
    return Difference(found.value, found.confidence_interval, found.pvalue)


def _by_delong(plan: Plan, rows: Rows) -> Intervals:
    """Return those of AUC alone; of differences by Bonferroni."""
    names = list(rows.scores)
    pairs = list(combinations(names, 2))
    level = plan.confidence if len(pairs) < 2 else 1 - check_confidence_level(plan.confidence)[1] / len(pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = delong(rows.positive, rows.scores, sample_weight=rows.weights)
        ends: Any = result.confidence_interval(plan.confidence, method="logit")
        tests = [
            result.contrast([(name == one) - (name == other) for name in names], confidence_level=level)
            for one, other in pairs
        ]
    models = {name: {AUC: Interval(*map(float, pair))} for name, *pair in zip(names, *ends, strict=True)}
    found = (Pair(*pair, {AUC: _of_delong(test, len(pairs))}) for pair, test in zip(pairs, tests, strict=True))
    return Intervals(DELONG, "", models, tuple(found))


def _of_delong(test: SignificanceResult, n_pairs: int) -> Difference:
    assert test.effect is not None
    assert test.confidence_interval is not None
    return Difference(test.effect, test.confidence_interval, min(n_pairs * test.pvalue, 1.0))  # NaN stays NaN
