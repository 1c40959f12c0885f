"""Measure models' predictions (classes, their probabilities, or numbers), with a bootstrap per block."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import progressed
from fastevals._options import UndefinedMetricWarning
from fastevals._validation.labels import Classes
from fastevals.counting.labels import rows_by_code
from fastevals.infer.bootstrap.bootstrap import (
    FEWEST_REPLICATES,
    BootstrapResult,
    BootstrapSettings,
    bootstrap,
    make_estimates,
)
from fastevals.infer.bootstrap.class_groups import take_minutes
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.infer.comparison import ModelComparison, compare_models, compare_predictions, compare_rankings
from fastevals.infer.means import accuracies, median_interval, root_mean_squares
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.paired import compared_pairs
from fastevals.many.group_values import GroupValues
from fastevals.many.groups import group_results
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import MEDIAN
from fastevals.measure.kinds import CLASSES, LABELS, TARGETS
from fastevals.measure.metric_specs import MetricSpec
from fastevals.reading.segments import RowSegments, Whole
from fastevals.results import Interval, check_confidence_level
from fastevals.show.predicted import EACH_CLASS, NUMBER_METRICS, class_metrics
from fastevals.show.report.against import OtherSides, PredictedSide, Side, check_blocks
from fastevals.show.report.data import ClassFacts, ErrorShape, ModelNumbers, OfClasses, ReportBlock
from fastevals.show.report.intervals import (
    BCA,
    GROUPS,
    IntervalPlan,
    Intervals,
    PredictedRows,
    best_models,
    read_intervals,
)
from fastevals.show.report.kinds import MAPE
from fastevals.show.report.measure_class_probabilities import (
    DRAWS_PER_CLASS,
    EACH_PROBABILITY,
    measure_probabilities,
    most_probable,
    probability_specs,
)
from fastevals.show.report.over_differences import with_differences_of_predictions
from fastevals.show.report.over_values import DividedRows, OverValues, have_blocks

Floats = NDArray[np.float64]

OF_EACH, OF_EACH_PROBABILITY = (  # by their names in a bootstrap
    {f"{name} of each class": spec for name, spec in specs.items()} for specs in (EACH_CLASS, EACH_PROBABILITY)
)
SHARES = {"precision": 0, "recall": 1}  # metrics of a class that are proportions: the axis to sum
MOST_ESTIMATED = 100  # classes, above which they have no intervals
NORMAL = "normal"
MOST_SORTED = 20_000  # rows, above which the median error has an interval of order statistics
NOT_MEASURED = {
    "labels": "Predicted classes have no ranking, threshold or calibration: these need scores.",
    "probabilities": "Thresholds and costs of single classes, each against the rest, are on pages.",
    "targets": "Predicted numbers have errors but no classes, so there are no costs or thresholds.",
}


class MeasurePredictions(NamedTuple):
    """How blocks are measured."""

    kind: str
    classes: Classes | None
    plan: IntervalPlan | None
    n_pictured: int
    progress: bool
    is_trend: bool = False  # whether the values are those of a trend, which may be many
    other: OtherSides | None = None  # other rows, with which each block is compared
    labels: NDArray[Any] | None = None  # the classes of probabilities, in the order of columns
    facts: ClassFacts | None = None  # about these classes

    def metrics(self, rows: PredictedRows) -> dict[str, MetricSpec]:
        """Return the metrics; relative errors only if no target is zero."""
        if self.labels is not None and self.facts is not None:
            return probability_specs(self.labels.size, are_ordered=self.facts.are_ordered)
        if self.classes is not None:
            return class_metrics(self.classes)
        return {name: spec for name, spec in NUMBER_METRICS.items() if name != MAPE or (rows.true != 0).all()}

    def rows(self, rows: PredictedRows, groupings: Sequence[DividedRows]) -> dict[str, Any]:
        """Measure each block, and metrics over the values of --by; return these fields of a report."""
        if self.is_trend and self.plan is not None:
            plan = self.plan.for_trend(sum(len(grouped.values) for grouped in groupings))
            self = self._replace(plan=plan)
        metrics = self.metrics(rows)
        if self.other is not None and groupings:
            check_blocks(groupings)
            segments = self.other.roles.segments
            self.other.check_paired(segments.key(by, value) for by, values, _ in groupings for value in values)
        parts: list[Any] = [] if groupings else [((), None, None)]
        for by, values, codes in groupings:
            places = rows_by_code(codes, len(values)) if have_blocks(values, is_trend=self.is_trend) else []
            parts += [(by, value, part) for value, part in zip(values, places, strict=False)]
        blocks = []
        for k, (by, value, part) in enumerate(progressed(parts, "measuring")):
            own = rows if part is None else rows.take(part)
            block = replace(
                self.block(value, own, metrics, is_pictured=k < self.n_pictured, is_whole=len(parts) == 1), by=by
            )
            blocks.append(self.compared(block, own, metrics, is_whole=not groupings))
        overs = tuple(self.over(grouped, rows) for grouped in groupings if len(grouped.values) > 1)
        is_pictured = self.n_pictured > 0
        whole = None
        if len(blocks) > 1:
            whole = self.block(None, rows, metrics, is_pictured=is_pictured, is_whole=True)
            whole = self.compared(whole, rows, metrics, is_whole=True)
        return {"blocks": tuple(blocks), "plan": self.plan, "overs": overs, "whole": whole}

    def side(self, rows: PredictedRows) -> PredictedSide:
        """Return rows as a side of a comparison with other rows."""
        pos_label = None if self.classes is None else self.classes.pos_label
        labels = None if self.labels is None else np.arange(self.labels.size)
        return PredictedSide(rows, self.kind == "labels" and pos_label is None, pos_label, MOST_SORTED, labels)

    def sides(self, rows: PredictedRows, groupings: Sequence[DividedRows], segments: RowSegments) -> dict[Any, Side]:
        """Return the rows of each block, and all rows if a column divides them, by key."""
        check_blocks(groupings)
        if not groupings:
            return {None: self.side(rows)}
        sides: dict[Any, Side] = {
            segments.key(by, value): self.side(rows.take(part))
            for by, values, codes in groupings
            for value, part in zip(values, rows_by_code(codes, len(values)), strict=True)
        }
        return {**sides, Whole.ROWS: self.side(rows)}

    def compared(
        self, block: ReportBlock, rows: PredictedRows, metrics: Mapping[str, MetricSpec], *, is_whole: bool
    ) -> ReportBlock:
        """Add the differences from the other rows with the block's value."""
        if self.other is None or self.plan is None:
            return block
        segments, defined = self.other.roles.segments, defined_metrics(metrics, block.models)
        key = segments.key(block.by, block.value) if block.by else None
        its = self.other.whole_side if is_whole else self.other.pair(key)
        sizes = [each for each in (rows, its.rows if isinstance(its, PredictedSide) else None) if each is not None]
        found = (self.n_resamples(each, by_row=each.groups is not None) for each in sizes)
        n_resamples = min(each or self.plan.n_resamples for each in found)
        plan, models = replace(self.plan, n_resamples=n_resamples), list(rows.predicted)
        if is_whole and segments.columns:
            pairs, other = self.other.compared_whole(self.side(rows), defined, models, plan)
        else:
            pairs, other = self.other.compared(key, self.side(rows), defined, models, plan)
        return replace(block, against=pairs, other=other)

    def block(
        self,
        value: Any,
        rows: PredictedRows,
        metrics: Mapping[str, MetricSpec],
        *,
        is_pictured: bool,
        is_whole: bool,
    ) -> ReportBlock:
        """Measure each model, and make intervals."""
        total = None if rows.weights is None else float(rows.weights.sum())
        n_groups = None if rows.groups is None else int(sorted_unique(rows.groups).size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
            if self.labels is not None:
                level = None if self.plan is None or n_groups == 1 else self.plan.confidence_level
                models = measure_probabilities(
                    rows, metrics, self.labels, level, is_pictured=is_pictured, is_whole=is_whole
                )
            elif self.classes is not None:
                models = self._measure_classes(rows, metrics)
            else:
                models = _measure_numbers(rows, metrics, is_pictured)
            intervals, models = self._intervals(rows, metrics, models, n_groups)
        best = {name: best_models(name, models) for name in metrics}
        drawn = self.n_resamples(rows) if intervals is not None and intervals.method in (BCA, GROUPS) else None
        return ReportBlock(value, rows.true.size, total, tuple(models), best, intervals, n_resamples=drawn)

    def _measure_classes(self, rows: PredictedRows, metrics: Mapping[str, MetricSpec]) -> list[ModelNumbers]:
        """Measure predicted classes by confusion matrices, each with the classes that its model or the truth has."""
        assert self.classes is not None
        labels = None if self.classes.pos_label is None else self.classes.labels
        matrices = {
            name: ConfusionMatrix.from_predictions(rows.true, each, labels=labels, sample_weight=rows.weights)
            for name, each in rows.predicted.items()
        }
        return [measure_matrix(name, matrix, metrics) for name, matrix in matrices.items()]

    def _intervals(
        self,
        rows: PredictedRows,
        metrics: Mapping[str, MetricSpec],
        models: list[ModelNumbers],
        n_groups: int | None,
    ) -> tuple[Intervals | None, list[ModelNumbers]]:
        """Return intervals of defined metrics, and the models with intervals of each class."""
        if self.plan is None:
            return None, models
        if n_groups == 1:
            return Intervals(why_none="all its rows are in one cluster", n_groups=1), models
        specs, each = defined_metrics(metrics, models), {}
        is_sorted = self.kind == "targets" and rows.true.size > MOST_SORTED
        if is_sorted:
            specs.pop(MEDIAN, None)
        labels = self.labels if self.classes is None else self.classes.labels
        if labels is not None and labels.size <= MOST_ESTIMATED:
            each = {
                label: spec
                for label, spec in (OF_EACH if self.labels is None else OF_EACH_PROBABILITY).items()
                if any(np.isfinite(model.classes.metrics[spec.name]).any() for model in models if model.classes)
            }
        if not specs:
            return Intervals(n_groups=n_groups), models
        result = self.resample(rows, specs | each)
        made = read_intervals(result, list(rows.predicted), specs, n_groups, self.method(rows))
        if is_sorted and rows.weights is None and rows.groups is None:
            for name, predicted in rows.predicted.items():
                made.models[name][MEDIAN] = median_interval(rows.true, predicted, self.plan.confidence_level)
        are_independent = rows.weights is None and rows.groups is None
        return made, [
            with_class_intervals(model, result, each, self.plan.confidence_level if are_independent else None)
            for model in models
        ]

    def n_resamples(self, rows: PredictedRows, *, by_row: bool = False) -> int | None:
        """Return the number of replicates that the budget allows, or that was asked for.

        With `by_row`, the rows are drawn, even if they are many.
        """
        plan = self.plan
        is_counted = self.kind == "labels" and rows.weights is None and rows.groups is None  # cost independent of rows
        if plan is None or plan.budget is None or is_counted or (self.draws_groups(rows) and not by_row):
            return None if plan is None else plan.n_resamples
        least = max(FEWEST_REPLICATES, math.ceil(1 / check_confidence_level(plan.confidence_level)[1]) - 1)
        drawn = rows.true.size * len(rows.predicted)
        drawn *= 1 if self.labels is None else DRAWS_PER_CLASS * self.labels.size
        return min(plan.n_resamples, max(least, plan.budget // drawn))

    def method(self, rows: PredictedRows) -> str:
        """Return the method of intervals."""
        return GROUPS if self.draws_groups(rows) else BCA

    def draws_groups(self, rows: PredictedRows) -> bool:
        """Return whether random groups of rows are drawn, because draws of rows would exceed the budget."""
        plan = self.plan
        if self.labels is None or plan is None or plan.budget is None:
            return False
        return take_minutes(rows.predicted, plan.n_resamples)

    def resample(self, rows: PredictedRows, specs: Mapping[str, MetricSpec]) -> BootstrapResult | ModelComparison:
        """Bootstrap all models in one call."""
        assert self.plan is not None
        if self.draws_groups(rows):
            return self._resample_groups(rows, specs, self.plan)
        settings: dict[str, Any] = {
            "n_resamples": self.n_resamples(rows), "confidence_level": self.plan.confidence_level,
            "rng": self.plan.seed, "groups": rows.groups, "sample_weight": rows.weights, "progress": self.progress,
        }  # fmt: skip
        if self.classes is not None and self.classes.pos_label is not None:
            settings["pos_label"] = self.classes.pos_label
        if self.labels is not None:
            settings["labels"] = np.arange(self.labels.size)
        if len(rows.predicted) > 1:
            settings["reference"] = self.plan.reference
            if self.labels is not None:
                return compare_rankings(rows.true, rows.predicted, metrics=specs, **settings)
            return compare_predictions(rows.true, rows.predicted, metrics=specs, **settings)
        (only,) = rows.predicted.values()
        return bootstrap((rows.true, only), specs, **settings)

    def _resample_groups(
        self, rows: PredictedRows, specs: Mapping[str, MetricSpec], plan: IntervalPlan
    ) -> BootstrapResult | ModelComparison:
        """Bootstrap all models by random groups of rows."""
        assert self.labels is not None
        settings = BootstrapSettings.checked(plan.n_resamples, plan.confidence_level, BCA, "two-sided", plan.seed)
        design = SamplingDesign(rows.groups, rows.weights, labels=np.arange(self.labels.size))
        named, models = CLASSES.specs(dict(specs)), list(rows.predicted)
        one_model = len(models) == 1
        sample = make_class_sample(rows.true, rows.predicted, named, design, one_model=one_model, coarse=True)
        if not one_model:
            pairs = compared_pairs(tuple(models), plan.reference)
            return compare_models(sample, named, models, pairs, settings, False, self.progress)
        estimates = make_estimates(sample, named, settings, progress=self.progress)
        return BootstrapResult(
            estimates, settings.n_resamples, settings.confidence_level, settings.method, settings.alternative,
            labels=sample.labels,
        )  # fmt: skip

    def over(self, grouped: DividedRows, rows: PredictedRows) -> OverValues:
        """Measure one metric for each value: accuracy, with Wilson's interval, or the root mean squared error."""
        if self.labels is not None:
            rows = most_probable(rows)
        by, values, codes = grouped
        is_of_classes = self.classes is not None or self.labels is not None
        n, n_samples = len(values), np.bincount(codes, minlength=len(values))
        has_intervals = self.plan is not None and rows.groups is None
        level = self.plan.confidence_level if self.plan is not None else 0.95
        measure = accuracies if is_of_classes else root_mean_squares
        name = "accuracy" if is_of_classes else "root_mean_squared_error"
        metrics = {}
        for model, predicted in rows.predicted.items():
            numbers, ends = measure(rows.true, predicted, codes, rows.weights, n, level)
            found = GroupValues(np.arange(n), [numbers], n_samples, n_samples.astype(np.float64))
            of_values = group_results([name], found, warns=False)[name]
            metrics[model] = {name: replace(of_values, confidence_intervals=ends if has_intervals else None)}
        measured = OverValues(by, values, metrics, have_blocks(values, is_trend=self.is_trend), "")
        return with_differences_of_predictions(measured, grouped, rows, self.plan)


def measure_matrix(name: str, matrix: ConfusionMatrix, metrics: Mapping[str, MetricSpec]) -> ModelNumbers:
    """Measure predicted classes from a matrix."""
    specs = [*metrics.values(), *EACH_CLASS.values()]
    found = LABELS.evaluate(matrix.counts[np.newaxis], matrix._classes, [LABELS.metric(spec) for spec in specs])
    values = dict(zip(metrics, (float(each[0]) for each in found), strict=False))
    classes = dict(zip(EACH_CLASS, (each[0] for each in found[len(metrics) :]), strict=True))
    return ModelNumbers(name, values, classes=OfClasses(matrix, classes))


def _measure_numbers(rows: PredictedRows, metrics: Mapping[str, MetricSpec], is_pictured: bool) -> list[ModelNumbers]:
    """Measure predicted numbers of all models in one sweep."""
    specs = [TARGETS.metric(spec) for spec in metrics.values()]
    targets, arrays = TARGETS.read(rows.true, rows.predicted)
    found = TARGETS.evaluate_rows(targets, list(arrays.values()), rows.weights, specs)
    shapes: list[ErrorShape | None] = [None] * len(arrays)
    if is_pictured:
        shapes = list(error_shapes(targets, list(arrays.values()), rows.weights))
    return [
        ModelNumbers(name, dict(zip(metrics, (float(each[k]) for each in found), strict=True)), errors=shape)
        for k, (name, shape) in enumerate(zip(arrays, shapes, strict=True))
    ]


def defined_metrics(metrics: Mapping[str, MetricSpec], models: Sequence[ModelNumbers]) -> dict[str, MetricSpec]:
    """Return the metrics that are defined for some model."""
    return {name: spec for name, spec in metrics.items() if any(math.isfinite(model.metrics[name]) for model in models)}


def with_class_intervals(
    model: ModelNumbers,
    result: BootstrapResult | ModelComparison,
    each: Mapping[str, MetricSpec],
    confidence_level: float | None,
) -> ModelNumbers:
    """Return a model with intervals of each of its classes, from a result for the classes of all models.

    If the rows are independent, pass a confidence level: proportions whose interval has no width then also
    get Wilson's interval.
    """
    if model.classes is None or result.labels is None:
        return model
    matrix = model.classes.matrix
    found: dict[str, Interval] = {}
    order = np.argsort(result.labels, kind="stable")  # the positive class of two is last
    labels = matrix.labels if model.classes.numbered is None else model.classes.numbered
    places = order[np.searchsorted(result.labels[order], labels)]
    for label, spec in each.items():
        estimate = result[label].estimates[model.name] if isinstance(result, ModelComparison) else result[label]
        ends: Any = estimate.confidence_interval  # of each class
        low, high = ends
        found[spec.name] = Interval(low[places], high[places])
    found = {
        name: {**model.classes.intervals, **found}[name]
        for name in model.classes.metrics
        if name in found or name in model.classes.intervals
    }
    wilson: dict[str, Interval] = {}
    if confidence_level is not None:
        right, alpha = np.diag(matrix.counts), check_confidence_level(confidence_level)[1]
        for name in SHARES.keys() & {name for name, each in found.items() if np.equal(*each).any()}:
            ends = share_interval(right, matrix.counts.sum(axis=SHARES[name]) - right, "wilson", alpha, "two-sided")
            ends[0][~np.equal(*found[name])] = math.nan
            wilson[name] = Interval(*ends)
    return replace(model, classes=replace(model.classes, intervals=found, wilson=wilson))


# Errors, for pictures -------------------------------------------------------------------------------------------------

N_BINS, N_SIZES, N_PARTS = 60, 256, 10
TAIL = 0.005  # share of errors on each side in the outermost bins


def error_shapes(targets: NDArray[Any], predictions: Sequence[NDArray[Any]], weights: Floats | None) -> Iterable[Any]:
    """Yield the distribution of each model's errors, in bins common to all models."""
    errors = [np.subtract(values, targets, dtype=np.float64) for values in predictions]
    quantiles = [np.quantile(each, [TAIL, 1 - TAIL]) for each in errors]
    low, high = min(each[0] for each in quantiles), max(each[1] for each in quantiles)
    if not low < high:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    edges = np.linspace(low, high, N_BINS + 1)
    for values, each in zip(predictions, errors, strict=True):
        shares = np.histogram(np.clip(each, low, high), edges, weights=weights)[0].astype(np.float64)
        order = np.argsort(np.abs(each), kind="stable")
        rows = np.ones(each.size) if weights is None else weights
        below = np.cumsum(rows[order]) / rows.sum()
        kept = sorted_unique(np.searchsorted(below, np.linspace(0, 1, N_SIZES)).clip(max=each.size - 1))
        by_value = np.argsort(values, kind="stable")
        parts = [part for part in np.array_split(by_value, N_PARTS) if part.size]
        means = [
            [float(np.average(column[part], weights=None if weights is None else weights[part])) for part in parts]
            for column in (values, targets)
        ]
        yield ErrorShape(edges, shares / shares.sum(), np.abs(each)[order][kept], below[kept], *map(np.array, means))
