"""Intervals beside the numbers of a report, and the differences of its models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import UndefinedMetricWarning, check_integer, check_number
from fastevals.counting.ordering import LIMIT
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
BUDGET = 12_000_000_000  # rows x models x replicates that a report draws unasked: 7 ns of CPU each, 84 s
TOO_MANY = 2**32  # rows, from which a bootstrap can't draw

AUC = RANKING_COLUMNS[0]
BCA, DELONG = "BCa", "DeLong"


class ScoredRows(NamedTuple):
    """Rows of the data, or of a block: arrays of shape (n_rows,)."""

    positive: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]  # by model
    weights: NDArray[np.float64] | None
    groups: NDArray[np.intp] | None
    ranking: Ranking | None = None  # given instead of rows: these are its distinct scores, weights how often they occur

    @property
    def n_samples(self) -> int:
        """Rows, also of a ranking that was given instead."""
        return self.positive.size if self.ranking is None else self.ranking.n_samples

    def most_of_a_class(self) -> float:
        """Return the rows of the larger class, by weight."""
        weights = np.ones(self.positive.size) if self.weights is None else self.weights
        return float(max(weights[self.positive].sum(), weights[~self.positive].sum()))

    def ranking_of(self, model: str) -> Ranking:
        """Return a model's ranking."""
        if self.ranking is not None:
            return self.ranking
        return Ranking(self.positive, self.scores[model], sample_weight=self.weights)

    def take(self, rows: Any) -> ScoredRows:
        """Return some of the rows, by index or mask."""
        weights, groups = (None if column is None else column[rows] for column in (self.weights, self.groups))
        scores = {name: column[rows] for name, column in self.scores.items()}
        return ScoredRows(self.positive[rows], scores, weights, groups)


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """How intervals are to be made."""

    confidence: float  # level of each interval, and of all differences of a metric at once
    resamples: int  # bootstrap replicates
    budget: int | None  # rows x models x replicates that are drawn in all blocks at most; None if `resamples` was given
    seed: int  # of each block's replicates
    most_drawn: int | None = None  # rows above which a block has DeLong's of AUC instead; None without a budget

    def for_blocks(self, sizes: Sequence[int], n_models: int) -> IntervalPlan:
        """Return the plan of blocks of so many rows: what of them the budget is enough for."""
        if self.budget is None:
            return self
        return replace(self, most_drawn=most_rows_drawn(sizes, self.budget // (n_models * self.resamples)))

    def draws(self, n_samples: int) -> bool:
        """Return whether a block of so many rows is bootstrapped."""
        return self.most_drawn is None or n_samples <= self.most_drawn


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of a block, and the differences of its models."""

    method: str | None = None  # "BCa", "DeLong", or None where there are none
    why_none: str = ""  # where that isn't because nothing is defined
    models: dict[str, dict[str, Interval]] = field(default_factory=dict)  # by model and metric; NaN where undefined
    differences: tuple[ModelPair, ...] = ()  # of all pairs of models
    # By metric, the replicates in which it is undefined for the model with most; without zeros.
    n_undefined: dict[str, int] = field(default_factory=dict)
    n_groups: int | None = None  # groups of rows, where these are drawn
    # By model and metric, why an interval may hold the true value too seldom (see `Estimate`); without the others.
    cautions: dict[str, dict[str, str]] = field(default_factory=dict)


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


# Columns and options -----------------------------------------------------------------------------------------------


def as_plan(resamples: int | None, confidence: float, seed: int) -> IntervalPlan | None:
    """Return the options checked, or None where no intervals are wanted."""
    level = check_number(option("confidence"), confidence, low=0, high=1, open_low=True, open_high=True)
    seed = check_integer(option("seed"), seed, low=0)
    if resamples is None:
        return IntervalPlan(level, RESAMPLES, BUDGET, seed)
    plan = IntervalPlan(level, check_integer(option("resamples"), resamples, low=0, high=MAX_RESAMPLES), None, seed)
    if not plan.resamples:
        return None
    _check_enough(plan)
    return plan


def most_rows_drawn(sizes: Sequence[int], rows: int) -> int:
    """Return up to how many rows blocks are drawn, where a budget is enough for so many rows in all.

    Each block has an equal share, and the smaller ones leave what they don't need to the others. So all are drawn where
    the budget is enough for all; where it isn't, blocks of the same size have intervals of the same method.
    """
    most, n_left = rows, len(sizes)
    for size in sorted(sizes):
        most = rows // n_left
        if size > most:
            break
        rows, n_left = rows - size, n_left - 1
    return most


def _check_enough(plan: IntervalPlan) -> None:
    """Raise where simultaneous intervals would have no ends."""
    least = math.ceil(1 / check_confidence_level(plan.confidence)[1]) - 1
    if plan.resamples < least:
        raise ValueError(
            f"{option('resamples')} must be at least {least} for {option('confidence')} {plan.confidence} "
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
    point = {"threshold": threshold} if best is None else {"best": best}
    metrics = {name: metric(name) for name in (*RANKING_COLUMNS, *PROBABILITY_COLUMNS)}
    for name in cells_columns(best, costs):
        options = (costs or {}) if "cost_fp" in SCORE_METRICS[name].options or best == "expected_cost" else {}
        metrics[name] = metric(name, **point, **options)
    return metrics


# Intervals ---------------------------------------------------------------------------------------------------------


def make_intervals(
    plan: IntervalPlan, metrics: Mapping[str, MetricSpec], rows: ScoredRows, *, progress: bool
) -> Intervals:
    """Return the intervals of metrics that some model has, and the models' differences."""
    n_groups = None if rows.groups is None else np.unique(rows.groups).size
    if n_groups == 1:
        return Intervals(why_none="all its rows are of one group", n_groups=1)
    if rows.ranking is not None and rows.ranking.counts.tps.dtype.kind == "f":
        return Intervals(why_none="a Ranking with weights has no rows to draw from: pass the columns")
    if not plan.draws(rows.n_samples):
        if n_groups is not None:
            return Intervals(why_none=_why_no_delong(plan, "for rows in groups"), n_groups=n_groups)
        if rows.weights is not None and (rows.weights != np.trunc(rows.weights)).any():
            return Intervals(why_none=_why_no_delong(plan, "with weights that are not whole numbers"))
        if rows.most_of_a_class() >= LIMIT:
            why = _why_no_delong(plan, f"for {LIMIT:,} rows of a class or more")
            return Intervals(why_none=why if rows.n_samples < TOO_MANY else why.partition(";")[0])
        return _delong_intervals(plan, rows)
    if not metrics:
        return Intervals(n_groups=n_groups)
    _check_enough(plan)
    return _bootstrap_intervals(plan, metrics, rows, n_groups, progress)


def _why_no_delong(plan: IntervalPlan, case: str) -> str:
    return (
        f"above {plan.most_drawn:,} rows they are DeLong's, which don't hold {case}; "
        f"{option('resamples', placeholder='N')} asks for a bootstrap"
    )


def _bootstrap_intervals(
    plan: IntervalPlan, metrics: Mapping[str, MetricSpec], rows: ScoredRows, n_groups: int | None, progress: bool
) -> Intervals:
    settings: dict[str, Any] = {
        "n_resamples": plan.resamples, "confidence_level": plan.confidence, "method": BCA, "rng": plan.seed,
        "groups": rows.groups, "sample_weight": rows.weights, "progress": progress,
    }  # fmt: skip
    names = list(rows.scores)
    pairs: tuple[ModelPair, ...] = ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # notes say it
        if len(names) == 1:
            subject: Any = (rows.positive, rows.scores[names[0]])
            if rows.ranking is not None:
                subject, settings["sample_weight"] = rows.ranking, None
            single = bootstrap(subject, metrics, **settings)
            estimates = {label: {names[0]: single[label]} for label in metrics}
        else:
            comparison = compare_rankings(rows.positive, rows.scores, metrics=metrics, **settings)
            estimates = {label: comparison[label].estimates for label in metrics}
            differences = {label: comparison[label].differences for label in metrics}
            pairs = tuple(
                ModelPair(*pair, {label: _bootstrap_difference(differences[label][k]) for label in metrics})
                for k, pair in enumerate(combinations(names, 2))
            )
    models = {
        name: {label: by_model[name].confidence_interval for label, by_model in estimates.items()} for name in names
    }
    undefined = {
        label: max((each.n_undefined for each in by_model.values() if not math.isnan(each.value)), default=0)
        for label, by_model in estimates.items()
    }
    undefined = {label: count for label, count in undefined.items() if count}
    cautions = {
        name: {label: by_model[name].caution for label, by_model in estimates.items() if by_model[name].caution}
        for name in names
    }
    return Intervals(BCA, "", models, pairs, undefined, n_groups, cautions)


def _bootstrap_difference(estimate: Any) -> ModelDifference:
    return ModelDifference(estimate.value, estimate.confidence_interval, estimate.pvalue)


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
            result.contrast([(name == model) - (name == reference) for name in names], confidence_level=level)
            for model, reference in pairs
        ]
    models = {name: {AUC: Interval(*map(float, pair))} for name, *pair in zip(names, *ends, strict=True)}
    differences = tuple(
        ModelPair(*pair, {AUC: _delong_difference(test, len(pairs))}) for pair, test in zip(pairs, tests, strict=True)
    )
    return Intervals(DELONG, "", models, differences)


def _delong_difference(test: SignificanceResult, n_pairs: int) -> ModelDifference:
    assert test.effect is not None
    assert test.confidence_interval is not None
    return ModelDifference(test.effect, test.confidence_interval, min(n_pairs * test.pvalue, 1.0))  # NaN stays NaN
