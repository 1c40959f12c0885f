"""Intervals of a report's metrics, and the differences of its models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, check_integer, check_number
from fastevals._random import seed_number
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.bootstrap import BootstrapResult, BootstrapSettings, Estimate, bootstrap, make_estimates
from fastevals.infer.bootstrap.class_groups import ROWS_ALWAYS_DRAWN
from fastevals.infer.bootstrap.few_cells import FewCells, FewCellSample
from fastevals.infer.comparison import ModelComparison, compare_rankings
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.probability_cells import probability_cells
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import METRICS, SCORE_METRICS, columns_of
from fastevals.measure.row_costs import RowAmounts
from fastevals.results import MAX_RESAMPLES, Interval, check_confidence_level
from fastevals.scale.paired import PARTS_PER_MEAN_WEIGHT, JointSums, differences
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.summary import Units

# The metrics in tables, which have intervals.
RANKING_COLUMNS = columns_of("scores", of="ranking")
PROBABILITY_COLUMNS = columns_of("scores", of="probabilities")  # for models whose scores are probabilities
CELLS_COLUMNS = columns_of("scores", of="cells")

RESAMPLES = 1999
# Rows x models x replicates that are drawn by default, at 7 ns of CPU each. Larger data resample cells, which takes a
# few seconds for any number of rows, and intervals keep their widths to about 3 % (`python -m benches.cell_widths`).
BUDGET = 1_000_000_000
BUDGET_WITHOUT_CELLS = 12_000_000_000  # of clusters, of costs that differ by row, and of predictions
REPLICATES_IN_TREND, FEWEST_IN_TREND = 75_000, 199  # bootstrap replicates of all values of a trend; of each
REPLICATES_OF_CLASSES = 40_000  # of all rankings of a class against the rest, in cells: 0.4 ms of CPU each

Values = Mapping[str, Mapping[str, float]]  # metrics by model, NaN where undefined

BCA, CELLS, GROUPS, DELONG = "BCa", "cells", "groups", "DeLong"


class ScoredRows(NamedTuple):
    """The rows of the data or of a block: arrays of shape (n_rows,)."""

    positive: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]  # by model
    weights: NDArray[Any] | None
    groups: NDArray[np.intp] | None
    ranking: Ranking | None = None  # instead of rows: distinct scores, weighted by their counts
    are_copies: bool = False  # whether weights are numbers of copies of rows
    amounts: RowAmounts | None = None  # costs that differ by row

    @property
    def n_samples(self) -> int:
        """Number of rows, including copies, or number of rows of the ranking given in place of rows."""
        if self.ranking is not None:
            return self.ranking.n_samples
        return int(self.weights.sum()) if self.are_copies and self.weights is not None else self.positive.size

    @property
    def weighs_rows(self) -> bool:
        """Whether rows have weights other than numbers of copies."""
        return self.weights is not None and not self.are_copies

    @property
    def weight_options(self) -> dict[str, Any]:
        """The weights, as the argument that takes them."""
        return {"frequency_weight" if self.are_copies else "sample_weight": self.weights}

    @property
    def shares(self) -> NDArray[np.float64]:
        """Weights as shares of the largest weight."""
        assert self.weights is not None
        return np.asarray(self.weights / float(self.weights.max()))

    def ranking_of(self, model: str) -> Ranking:
        """Return a model's ranking."""
        if self.ranking is not None:
            return self.ranking
        return Ranking(self.positive, self.scores[model], **self.weight_options)

    def take(self, rows: Any) -> ScoredRows:
        """Return the rows that an index or mask selects."""
        weights, groups = (None if column is None else column[rows] for column in (self.weights, self.groups))
        scores = {name: column[rows] for name, column in self.scores.items()}
        amounts = None if self.amounts is None else self.amounts.take(rows)
        return ScoredRows(self.positive[rows], scores, weights, groups, are_copies=self.are_copies, amounts=amounts)

    def repeated(self) -> ScoredRows:
        """Repeat each row once for each of its copies."""
        if not self.are_copies or self.weights is None or self.ranking is not None:
            return self
        rows = np.repeat(np.arange(self.positive.size), self.weights.astype(np.int64))
        return self.take(rows)._replace(weights=None, are_copies=False)


class PredictedRows(NamedTuple):
    """The rows of predictions, or of a block of them: arrays of shape (n_rows,)."""

    true: NDArray[Any]
    predicted: dict[str, NDArray[Any]]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.intp] | None

    def take(self, rows: Any) -> PredictedRows:
        """Return the rows that an index or mask selects."""
        weights, groups = (None if column is None else column[rows] for column in (self.weights, self.groups))
        return PredictedRows(
            self.true[rows], {name: each[rows] for name, each in self.predicted.items()}, weights, groups
        )


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """The settings of intervals."""

    confidence_level: float  # of each interval; for differences, joint level of all intervals in a metric
    n_resamples: int  # bootstrap replicates
    budget: int | None  # most rows x models x replicates drawn in all blocks; None if `n_resamples` was given
    seed: int  # of each block's replicates
    most_drawn: int | None = None  # rows above which a block's cells are resampled instead; None without a budget
    reference: str | None = None  # the model to compare the others with; None for all pairs
    n_reduced: int = 0  # values of a trend that have fewer replicates than the default, because they are many

    def for_trend(self, n_values: int) -> IntervalPlan:
        """Return the plan for the values of a trend: many of them have fewer replicates, unless a number was given."""
        least = max(FEWEST_IN_TREND, fewest_replicates(self.confidence_level))
        number = max(least, REPLICATES_IN_TREND // max(n_values, 1))
        if self.budget is None or number >= self.n_resamples:
            return self
        return replace(self, n_resamples=number, n_reduced=n_values)

    def for_classes(self, n_rankings: int) -> IntervalPlan:
        """Return the plan for rankings of classes in cells: many have fewer replicates, unless a number was given."""
        least = max(FEWEST_IN_TREND, fewest_replicates(self.confidence_level))
        number = max(least, REPLICATES_OF_CLASSES // max(n_rankings, 1))
        return self if self.budget is None else replace(self, n_resamples=min(self.n_resamples, number))

    def for_blocks(self, sizes: Sequence[int], n_models: int) -> IntervalPlan:
        """Return the plan for blocks of these sizes: larger blocks than the budget allows are not resampled by row."""
        if self.budget is None:
            return self
        most = most_rows_drawn(sizes, self.budget // (n_models * self.n_resamples))
        return replace(self, most_drawn=max(most, ROWS_ALWAYS_DRAWN))

    def for_whole(self, sizes: Iterable[int], n_models: int) -> IntervalPlan:
        """Return the plan for all rows as one more block, which has the draws that blocks of these sizes leave."""
        if self.budget is None:
            return self
        drawn = sum(size for size in sizes if self.draws(size))
        left = self.budget // (n_models * self.n_resamples) - drawn
        return replace(self, most_drawn=max(left, ROWS_ALWAYS_DRAWN))

    def draws(self, n_samples: int, *, fit: bool = True) -> bool:
        """Return whether a block's rows are resampled; if the rows don't `fit` in memory, only small blocks are."""
        if n_samples <= ROWS_ALWAYS_DRAWN:
            return True
        return fit and (self.most_drawn is None or n_samples <= self.most_drawn)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of a block, and the differences of its models."""

    method: str | None = None  # "BCa" of rows, "cells", "groups" of rows, or None without intervals
    why_none: str = ""  # why there are no intervals; "" if there are some, or if no metric is defined
    models: dict[str, dict[str, Interval]] = field(default_factory=dict)  # by model and metric; NaN where undefined
    differences: tuple[ModelPair, ...] = ()  # of all pairs of models, or of the others with the reference
    # By metric, the most replicates in which it is undefined for a model; without zeros.
    n_undefined: dict[str, int] = field(default_factory=dict)
    n_groups: int | None = None  # clusters of rows, if these are resampled
    # By model and metric, why an interval may cover the true value too rarely (see `Estimate`).
    cautions: dict[str, dict[str, str]] = field(default_factory=dict)
    standard_errors: dict[str, dict[str, float]] = field(default_factory=dict)  # by model and metric, if drawn


class ModelDifference(NamedTuple):
    """A metric of one model minus another's, with a simultaneous interval and an adjusted p-value."""

    value: float
    interval: Interval
    pvalue: float

    def negated(self) -> ModelDifference:
        """Return the difference with the models swapped."""
        return ModelDifference(-self.value, Interval(-self.interval.high, -self.interval.low), self.pvalue)


class ModelPair(NamedTuple):
    """The differences of a pair of models, by metric."""

    model: str
    reference: str
    metrics: dict[str, ModelDifference]


# Columns and options -----------------------------------------------------------------------------------------------


def as_plan(
    n_resamples: int | None, confidence_level: float, rng: Any, reference: str | None = None, *, has_cells: bool = False
) -> IntervalPlan | None:
    """Check the options and return them; None if no intervals are wanted.

    `reference` is one of the models, or None. `has_cells` says whether the data can be resampled in cells.
    """
    level = check_number(option("confidence_level"), confidence_level, low=0, high=1, open_low=True, open_high=True)
    seed = seed_number(option("rng"), rng)
    if n_resamples is None:
        budget = BUDGET if has_cells else BUDGET_WITHOUT_CELLS
        return IntervalPlan(level, RESAMPLES, budget, seed, reference=reference)
    number = check_integer(option("n_resamples"), n_resamples, low=0, high=MAX_RESAMPLES)
    plan = IntervalPlan(level, number, None, seed, reference=reference)
    if not plan.n_resamples:
        return None
    _check_enough(plan)
    return plan


def most_rows_drawn(sizes: Sequence[int], rows: int) -> int:
    """Return the size of the largest block whose rows are resampled, given a budget of rows in all blocks.

    Each block gets an equal share, and small blocks leave what they don't need to the others. So the rows of all blocks
    are resampled if the budget allows; otherwise blocks of the same size use the same method (rows or cells).
    """
    most, n_left = rows, len(sizes)
    for size in sorted(sizes):
        most = rows // n_left
        if size > most:
            break
        rows, n_left = rows - size, n_left - 1
    return most


def fewest_replicates(confidence_level: float) -> int:
    """Return the fewest replicates for simultaneous intervals."""
    return math.ceil(1 / check_confidence_level(confidence_level)[1]) - 1


def _check_enough(plan: IntervalPlan) -> None:
    """Raise if there are too few replicates for simultaneous intervals."""
    least = fewest_replicates(plan.confidence_level)
    if plan.n_resamples < least:
        raise ValueError(
            f"{option('n_resamples')} must be at least {least} for {option('confidence_level')} "
            f"{plan.confidence_level} (or 0, for no intervals), got {plan.n_resamples}"
        )


def cells_columns(best: str | None, costs: Mapping[str, float] | None) -> list[str]:
    """Return the columns to the right of the table's bar.

    They are the usual ones, the metric that chose the threshold, and the expected cost if costs are given.
    """
    columns = list(CELLS_COLUMNS)
    if best is not None and best not in (*columns, "expected_cost"):
        columns.append(best)
    return columns if costs is None else [*columns, "expected_cost"]


def column_metrics(
    best: str | None, threshold: float | None, costs: Mapping[str, float] | None
) -> dict[str, MetricSpec]:
    """Return the metrics of all columns; if a threshold was chosen on the rows, each replicate chooses its own."""
    point = {"threshold": threshold} if best is None else {"best": best}
    metrics = {name: metric(name) for name in (*RANKING_COLUMNS, *PROBABILITY_COLUMNS)}
    for name in cells_columns(best, costs):
        options = (costs or {}) if "cost_fp" in SCORE_METRICS[name].options or best == "expected_cost" else {}
        metrics[name] = metric(name, **point, **options)
    return metrics


# Intervals ---------------------------------------------------------------------------------------------------------


def make_intervals(
    plan: IntervalPlan,
    metrics: Mapping[str, MetricSpec],
    rows: ScoredRows,
    values: Values,
    cells: Mapping[str, FewCells],
    *,
    progress: bool,
) -> Intervals:
    """Return the intervals of metrics that some model has, and the models' differences."""
    n_groups = None if rows.groups is None else sorted_unique(rows.groups).size
    why = "all its rows are in one cluster" if n_groups == 1 else why_none(plan, rows)
    if why:
        return Intervals(why_none=why, n_groups=n_groups)
    if not metrics:
        return Intervals(n_groups=n_groups)
    _check_enough(plan)
    if plan.draws(rows.n_samples):
        return _bootstrap_intervals(plan, metrics, rows, n_groups, progress)
    joint = None
    if len(cells) > 1:
        joint = JointSums(cells, metrics)
        joint.add_all(rows.positive, rows.scores, rows.shares if rows.weighs_rows else rows.weights)
    return cell_intervals(plan, metrics, values, cells, joint, progress=progress)


def why_none(plan: IntervalPlan, rows: ScoredRows) -> str:
    """Say why rows have no intervals; "" if they have some."""
    if rows.ranking is not None and rows.ranking.is_weighted and rows.ranking._squares is None:
        return "a Ranking with weights has no rows to draw from: pass the columns"
    if plan.draws(rows.n_samples):
        return ""
    if rows.groups is not None:
        return (
            f"above {plan.most_drawn:,} rows, cells of rows are resampled, which cannot keep clusters whole; "
            f"{option('n_resamples', placeholder='N')} resamples clusters"
        )
    return ""


WHY_NO_SQUARES = "sums of squared weights, which intervals need, are not kept"
WHY_UNKNOWN_SQUARES = "sums of squared weights, which intervals need, are not known"


def why_no_squares() -> str:
    """Say why weighted counts of labels and targets have no intervals, and what to do."""
    return (
        f"it was counted with {option('sample_weight')}, and {WHY_NO_SQUARES}: pass rows that fit in memory or, for "
        f"copies of rows, {option('frequency_weight')}"
    )


def why_unknown_squares() -> str:
    """Say why weighted counts of scores have no intervals, and what to do."""
    return (
        f"it was counted with {option('sample_weight')}, and {WHY_UNKNOWN_SQUARES}: if the file was made before 0.5.0, "
        "count the rows again; if weights are 2**30 or more, divide them by a constant first"
    )


def takes_cells(plan: IntervalPlan | None, rows: ScoredRows) -> bool:
    """Return whether the intervals of these rows are computed from cells."""
    return plan is not None and not plan.draws(rows.n_samples) and not why_none(plan, rows)


def few_cells(counts: ThresholdCounts, metrics: Mapping[str, MetricSpec], squares: ThresholdCounts | None) -> FewCells:
    """Return the cells for a model's intervals, from counts, or from weights and their squares."""
    if squares is None:
        return FewCells.reduce(counts, metrics)
    return FewCells.reduce(counts.in_weight(), metrics, None, squares.in_weight())


def with_losses(cells: FewCells, losses: ProbabilitySummary | None) -> FewCells:
    """Return a model's cells; add cells of probabilities if these are known, with squares of weights if needed."""
    if losses is None or not losses.are_probabilities:
        return cells
    squares = losses.squares()
    if (squares is None) != (cells.squares is None):
        return cells
    return replace(cells, probabilities=losses.counts(), probability_squares=squares)


def few_cells_of_rows(ranking: Ranking, rows: ScoredRows, name: str, metrics: Mapping[str, MetricSpec]) -> FewCells:
    """Return the cells of a model whose rows are in memory; weights are divided by the largest weight."""
    counts = ranking.counts
    if ranking._squares is not None:
        return few_cells(counts, metrics, ranking._squares)
    if rows.weights is None or not rows.weighs_rows:
        return FewCells.reduce(counts, metrics, probability_cells(counts))
    scores, shares = rows.scores[name], rows.shares
    found = Ranking(rows.positive, scores, sample_weight=shares**2, pos_label=True).counts
    at = found.rows_at_least(counts.thresholds)
    squares = ThresholdCounts._unchecked(counts.thresholds, found.tps[at], found.fps[at])
    cells = FewCells.reduce(counts.in_weight(1 / float(rows.weights.max())), metrics, None, squares)
    if not are_probabilities(counts):
        return cells
    part = (squares.n_pos + squares.n_neg) / float(shares.sum()) / PARTS_PER_MEAN_WEIGHT
    losses = ProbabilitySummary()
    losses._count_rows(rows.positive.view(np.uint8), scores, Units(np.rint(shares / part).astype(np.int64)))
    of_losses = losses.squares()
    if of_losses is None:
        return cells
    return replace(
        cells, probabilities=losses.counts().in_weight(part), probability_squares=of_losses.in_weight(part * part)
    )


def _bootstrap_intervals(
    plan: IntervalPlan, metrics: Mapping[str, MetricSpec], rows: ScoredRows, n_groups: int | None, progress: bool
) -> Intervals:
    rows = rows.repeated()
    settings: dict[str, Any] = {
        "n_resamples": plan.n_resamples, "confidence_level": plan.confidence_level, "method": BCA, "rng": plan.seed,
        "groups": rows.groups, "sample_weight": rows.weights, "progress": progress,
    }  # fmt: skip
    names = list(rows.scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
        if len(names) > 1:
            found = compare_rankings(rows.positive, rows.scores, metrics=metrics, reference=plan.reference, **settings)
            return read_intervals(found, names, metrics, n_groups)
        subject: Any = (rows.positive, rows.scores[names[0]])
        if rows.ranking is not None:
            subject, settings["sample_weight"] = rows.ranking, None
        return read_intervals(bootstrap(subject, metrics, **settings), names, metrics, n_groups)


def is_greater_better(metric: str) -> bool | None:
    """Return whether higher values of a metric are better: true for means over classes, which are in no registry."""
    return METRICS[metric].greater_is_better if metric in METRICS else True


def best_models(metric: str, models: Sequence[Any]) -> tuple[str, ...]:
    """Return the models with the best value of a metric, in a block of any kind of report."""
    greater = is_greater_better(metric)
    defined = [model.metrics[metric] for model in models if not math.isnan(model.metrics[metric])]
    best = math.nan if greater is None else (max if greater else min)(defined, default=math.nan)
    return tuple(model.name for model in models if model.metrics[metric] == best)


def values_of(models: Iterable[Any]) -> Values:
    """Return the metrics of models by model name, in any kind of report."""
    return {model.name: model.metrics for model in models}


def read_intervals(
    result: BootstrapResult | ModelComparison,
    names: Sequence[str],
    metrics: Iterable[str],
    n_groups: int | None,
    method: str = BCA,
) -> Intervals:
    """Return the intervals of a bootstrap of one model, or of the comparison of several."""
    pairs: tuple[ModelPair, ...] = ()
    if isinstance(result, ModelComparison):
        estimates = {label: result[label].estimates for label in metrics}
        differences = {label: result[label].differences for label in metrics}
        pairs = tuple(
            ModelPair(
                each[0].model,
                each[0].reference,
                dict(zip(differences, map(_bootstrap_difference, each), strict=True)),
            )
            for each in zip(*differences.values(), strict=True)
        )
    else:
        estimates = {label: {names[0]: result[label]} for label in metrics}
    models = {
        name: {label: by_model[name].confidence_interval for label, by_model in estimates.items()} for name in names
    }
    undefined = {
        label: max((int(each.n_undefined) for each in by_model.values() if not math.isnan(each.value)), default=0)
        for label, by_model in estimates.items()
    }
    undefined = {label: count for label, count in undefined.items() if count}
    cautions = {
        name: {label: by_model[name].caution for label, by_model in estimates.items() if by_model[name].caution}
        for name in names
    }
    return Intervals(method, "", models, pairs, undefined, n_groups, cautions, _errors_of(names, estimates))


def _errors_of(
    models: Iterable[str], estimates: Mapping[str, Mapping[str, Estimate[Any]]]
) -> dict[str, dict[str, float]]:
    """Return standard errors by model and metric, given estimates by metric and model."""
    return {
        name: {label: float(by_model[name].standard_error) for label, by_model in estimates.items()} for name in models
    }


def _bootstrap_difference(estimate: Any) -> ModelDifference:
    return ModelDifference(estimate.value, estimate.confidence_interval, estimate.pvalue)


def cell_intervals(
    plan: IntervalPlan,
    metrics: Mapping[str, MetricSpec],
    values: Values,
    cells: Mapping[str, FewCells],
    joint: JointSums | None,
    *,
    progress: bool = False,
) -> Intervals:
    """Return intervals of each model's metrics from resampled cells, and differences from the models' joint counts."""
    settings = BootstrapSettings.checked(plan.n_resamples, plan.confidence_level, BCA, "two-sided", plan.seed)
    estimates: dict[str, dict[str, Estimate]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
        for name, of_model in cells.items():
            told = {
                label: spec
                for label, spec in metrics.items()
                if not math.isnan(values[name][label]) and of_model.tell(label, spec)
            }
            sample = FewCellSample(of_model, told, values[name])
            estimates[name] = make_estimates(sample, told, settings, progress=progress)
        compared = {} if joint is None else differences(joint, values, settings, plan.reference)
    models = {
        name: {
            label: each[label].confidence_interval if label in each else Interval(math.nan, math.nan)
            for label in metrics
        }
        for name, each in estimates.items()
    }
    names = tuple(models)
    pairs = tuple(
        ModelPair(names[i], names[j], {label: ModelDifference(*each[k]) for label, each in compared.items()})
        for k, (i, j) in enumerate(compared_pairs(names, plan.reference) if compared else ())
    )
    errors = {
        name: {label: float(estimate.standard_error) for label, estimate in each.items()}
        for name, each in estimates.items()
    }
    undefined, n_groups, cautions = _notes_on(estimates, metrics)
    return Intervals(CELLS, "", models, pairs, undefined, n_groups, cautions, errors)


def _notes_on(estimates: dict[str, dict[str, Estimate]], metrics: Iterable[str]) -> Any:
    """Return, by metric, the most undefined replicates of a model; None (there are no clusters); cautions by model."""
    undefined = {
        label: max((each[label].n_undefined for each in estimates.values() if label in each), default=0)
        for label in metrics
    }
    cautions = {
        name: {label: each.caution for label, each in by_metric.items() if each.caution}
        for name, by_metric in estimates.items()
    }
    return {label: n for label, n in undefined.items() if n}, None, cautions
