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
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import MAX_RESAMPLES, Interval, SignificanceResult, check_confidence_level
from fastevals.show.commands import option

# The metrics that tables show, and that have intervals.
RANKING_COLUMNS = ("roc_auc", "average_precision", "pr_auc", "equal_error_rate", "break_even_point", "ks_statistic")
PROBABILITY_COLUMNS = ("brier_score", "log_loss", "expected_calibration_error")  # where a model's scores are some
CELLS_COLUMNS = ("accuracy", "precision", "recall", "f1", "matthews")

RESAMPLES = 1999
MOST_BOOTSTRAPPED = 2_000_000  # rows of a block, unless a number of replicates is given

AUC = RANKING_COLUMNS[0]
BCA, DELONG = "BCa", "DeLong"


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """How intervals are to be made.

    Attributes
    ----------
    confidence : float
        Level of each interval, and of all differences of a metric at once.
    resamples : int
        Bootstrap replicates.
    most_bootstrapped : int or None
        ScoredRows above which a block has DeLong's intervals of AUC instead; None where `resamples` was given.
    seed : int
        Of each block's replicates.
    """

    confidence: float
    resamples: int
    most_bootstrapped: int | None
    seed: int


class ScoredRows(NamedTuple):
    """A block's rows: which are positive, each model's scores, and what is beside them."""

    positive: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.intp] | None
    counted: Ranking | None = None  # given instead of rows: these are its cells, weights their sizes

    @property
    def n_samples(self) -> int:
        """Rows, also of a ranking that was given instead."""
        return self.positive.size if self.counted is None else self.counted.n_samples

    def rankings(self) -> dict[str, Ranking]:
        """Return each model's ranking."""
        if self.counted is not None:
            return dict.fromkeys(self.scores, self.counted)
        return {name: Ranking(self.positive, each, sample_weight=self.weights) for name, each in self.scores.items()}

    def take(self, some: Any) -> ScoredRows:
        """Return some of the rows."""
        beside = (None if each is None else each[some] for each in (self.weights, self.groups))
        return ScoredRows(self.positive[some], {name: each[some] for name, each in self.scores.items()}, *beside)


class ModelDifference(NamedTuple):
    """A metric of one model less that of another: simultaneous interval and adjusted p-value."""

    value: float
    interval: Interval
    pvalue: float


class ModelPair(NamedTuple):
    """The differences of two models, by metric."""

    model: str
    reference: str
    metrics: dict[str, ModelDifference]


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
    differences : tuple of ModelPair
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
    differences: tuple[ModelPair, ...] = ()
    n_undefined: dict[str, int] = field(default_factory=dict)
    n_groups: int | None = None
    cautions: dict[str, dict[str, str]] = field(default_factory=dict)


# What is asked for ------------------------------------------------------------------------------------------------


def as_plan(resamples: int | None, confidence: float, seed: int) -> IntervalPlan | None:
    """Return the options checked, or None where no intervals are wanted."""
    level = check_number(option("confidence"), confidence, low=0, high=1, open_low=True, open_high=True)
    seed = check_integer(option("seed"), seed, low=0)
    if resamples is None:
        return IntervalPlan(level, RESAMPLES, MOST_BOOTSTRAPPED, seed)
    plan = IntervalPlan(level, check_integer(option("resamples"), resamples, low=0, high=MAX_RESAMPLES), None, seed)
    if not plan.resamples:
        return None
    _check_enough(plan)
    return plan


def _check_enough(plan: IntervalPlan) -> None:
    """Raise where simultaneous intervals would have no ends."""
    least = math.ceil(1 / check_confidence_level(plan.confidence)[1]) - 1
    if plan.resamples < least:
        raise ValueError(
            f"{option('resamples')} must be at least {least} for {option('confidence')} {plan.confidence:g} "
            f"(or 0, for no intervals), got {plan.resamples}"
        )


def cells_columns(best: str | None, costs: Mapping[str, float] | None) -> list[str]:
    """Return the columns right of the bar: the usual, the threshold's, and the cost where costs are given."""
    columns = list(CELLS_COLUMNS)
    if best is not None and best not in (*columns, "expected_cost"):
        columns.append(best)
    return columns if costs is None else [*columns, "expected_cost"]


def column_metrics(
    best: str | None, threshold: float | None, costs: Mapping[str, float] | None
) -> dict[str, MetricSpec]:
    """Return the metrics of all columns; a threshold that was chosen on the rows is chosen anew in each replicate."""
    where = {"threshold": threshold} if best is None else {"best": best}
    asked = {name: metric(name) for name in (*RANKING_COLUMNS, *PROBABILITY_COLUMNS)}
    for name in cells_columns(best, costs):
        used = (costs or {}) if SCORE_METRICS[name].options or "expected_cost" in where.values() else {}
        asked[name] = metric(name, **where, **used)
    return asked


# What is made -----------------------------------------------------------------------------------------------------


def make_intervals(
    plan: IntervalPlan, asked: Mapping[str, MetricSpec], rows: ScoredRows, *, progress: bool
) -> Intervals:
    """Return the intervals of the metrics asked, each of which some model has, and the models' differences."""
    n_groups = None if rows.groups is None else np.unique(rows.groups).size
    if n_groups == 1:
        return Intervals(why_none="all its rows are of one group", n_groups=1)
    if rows.counted is not None and rows.counted.counts.tps.dtype.kind == "f":
        return Intervals(why_none="a Ranking with weights has no rows to draw from: pass the columns")
    if plan.most_bootstrapped is not None and rows.n_samples > plan.most_bootstrapped:
        if n_groups is not None:
            return Intervals(why_none=_why_no_delong(plan, "for rows in groups"), n_groups=n_groups)
        if rows.weights is not None and (rows.weights != np.trunc(rows.weights)).any():
            return Intervals(why_none=_why_no_delong(plan, "with weights that are not whole numbers"))
        return _delong_intervals(plan, rows)
    if not asked:
        return Intervals(n_groups=n_groups)
    _check_enough(plan)
    return _bootstrap_intervals(plan, asked, rows, n_groups, progress)


def _why_no_delong(plan: IntervalPlan, where: str) -> str:
    return (
        f"above {plan.most_bootstrapped:,} rows they are DeLong's, which don't hold {where}; "
        f"{option('resamples')} N asks for a bootstrap"
    )


def _bootstrap_intervals(
    plan: IntervalPlan, asked: Mapping[str, MetricSpec], rows: ScoredRows, n_groups: int | None, progress: bool
) -> Intervals:
    how: dict[str, Any] = {
        "n_resamples": plan.resamples, "confidence_level": plan.confidence, "method": BCA, "rng": plan.seed,
        "groups": rows.groups, "sample_weight": rows.weights, "progress": progress,
    }  # fmt: skip
    names = list(rows.scores)
    pairs: tuple[ModelPair, ...] = ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # notes say it
        if len(names) == 1:
            subject: Any = (rows.positive, rows.scores[names[0]])
            if rows.counted is not None:
                subject, how["sample_weight"] = rows.counted, None
            alone = bootstrap(subject, asked, **how)
            found = {label: {names[0]: alone[label]} for label in asked}
        else:
            compared = compare_rankings(rows.positive, rows.scores, metrics=asked, **how)
            found = {label: compared[label].estimates for label in asked}
            differences = {label: compared[label].differences for label in asked}
            pairs = tuple(
                ModelPair(*pair, {label: _bootstrapped_difference(each[k]) for label, each in differences.items()})
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


def _bootstrapped_difference(found: Any) -> ModelDifference:
    return ModelDifference(found.value, found.confidence_interval, found.pvalue)


def _delong_intervals(plan: IntervalPlan, rows: ScoredRows) -> Intervals:
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
    found = (
        ModelPair(*pair, {AUC: _delong_difference(test, len(pairs))}) for pair, test in zip(pairs, tests, strict=True)
    )
    return Intervals(DELONG, "", models, tuple(found))


def _delong_difference(test: SignificanceResult, n_pairs: int) -> ModelDifference:
    assert test.effect is not None
    assert test.confidence_interval is not None
    return ModelDifference(test.effect, test.confidence_interval, min(n_pairs * test.pvalue, 1.0))  # NaN stays NaN
