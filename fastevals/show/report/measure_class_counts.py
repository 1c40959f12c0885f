"""Measure counted class probabilities: areas have bounds; means over rows and predicted classes have intervals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastevals._execution import progressed
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning
from fastevals.infer.bootstrap.bootstrap import bootstrap
from fastevals.many.class_curves import MACROS
from fastevals.many.group_values import GroupValues
from fastevals.many.groups import group_results
from fastevals.measure.class_specs import class_metric_of
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import METRICS
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.segments import Whole
from fastevals.results import Interval
from fastevals.scale.certified import Certified, CertifiedRanking, CertifiedValues
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.scores import CountedBlock
from fastevals.scale.summarized_classes import SummarizedClasses
from fastevals.show.report.against import ClassCountsSide, OtherSides
from fastevals.show.report.data import ModelNumbers, OfClasses, ReportBlock
from fastevals.show.report.each_class import listed_classes, measure_each_class
from fastevals.show.report.intervals import (
    CELLS,
    IntervalPlan,
    Intervals,
    best_models,
    cell_intervals,
    few_cells,
    read_intervals,
)
from fastevals.show.report.kinds import AVERAGE_CURVES, AVERAGES_DRAWN, RATIO_OF_CLASS
from fastevals.show.report.measure_class_probabilities import EACH_PROBABILITY, probability_specs
from fastevals.show.report.measure_predictions import (
    MOST_ESTIMATED,
    NOT_MEASURED,
    OF_EACH_PROBABILITY,
    defined_metrics,
    with_class_intervals,
)
from fastevals.show.report.over_differences import COUNTED_APART
from fastevals.show.report.over_values import OverValues, have_blocks, most_blocks
from fastevals.show.report.streams import with_whole

AREAS = {name: metric(name) for name in ("roc_auc", "average_precision")}  # of a class, which have intervals
NO_AVERAGES = (
    "Averages of AUC and AP over classes, M and calibration errors have no intervals: these need the rows, and a "
    "summary does not know which probabilities belong to one row."
)
NO_DIFFERENCES = f"Models have no differences: {COUNTED_APART}."


class MeasureClassCounts(NamedTuple):
    """How blocks of counts are measured."""

    roles: ColumnRoles
    plan: IntervalPlan | None
    n_pictured: int
    is_trend: bool = False
    other: OtherSides | None = None  # other rows, with which each block is compared
    n_rankings: int = 1  # of classes of all models and blocks

    def summary(self, summary: SummarizedClasses) -> dict[str, Any]:
        """Measure each block, and accuracy over the values of --by; return these fields of a report."""
        plan = self.plan.for_trend(len(summary.blocks)) if self.plan is not None and self.is_trend else self.plan
        self = self._replace(plan=plan)
        segments = summary.segments
        if self.other is not None:
            self.other.check_paired(summary.blocks)
        for columns in segments.groupings:
            n_values = sum(segments.of_key(key)[0] == columns for key in summary.blocks)
            if not have_blocks(range(n_values), is_trend=self.is_trend):
                crossed, most = " x ".join(map(repr, columns)), most_blocks(is_trend=self.is_trend)
                raise ValueError(f"{option('by')} {crossed} has {n_values:,} values; at most {most:,} are measured")
        specs = probability_specs(summary.classes.size, are_ordered=summary.are_ordered)
        found, whole, counts = with_whole(summary), None, dict[Any, list[CountedBlock]]()
        self = self._replace(n_rankings=len(found) * len(summary.models) * summary.classes.size)
        blocks: list[ReportBlock] = []
        for key, counted in progressed(found.items(), "measuring"):
            by, value = segments.of_key(key)
            is_whole = key is Whole.ROWS or len(found) == 1
            is_pictured = self.n_pictured > 0 if is_whole else len(blocks) < self.n_pictured
            block = replace(self.block(value, counted, specs, is_pictured=is_pictured, is_whole=is_whole), by=by)
            block = self.compared(block, counted, specs)
            if key is Whole.ROWS:
                whole = block
                continue
            blocks.append(block)
            counts.setdefault(by, []).append(counted)
        overs = tuple(
            self.over(by, [block.value for block in blocks if block.by == by], own)
            for by, own in counts.items()
            if by and len(own) > 1
        )
        return {"blocks": tuple(blocks), "plan": plan, "overs": overs, "whole": whole}

    def block(
        self, value: Any, counted: CountedBlock, specs: Mapping[str, MetricSpec], *, is_pictured: bool, is_whole: bool
    ) -> ReportBlock:
        """Measure each model, and make intervals."""
        summaries: dict[str, ClassScoresSummary] = counted.summaries
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
            models = [measure_counts(name, summary, specs) for name, summary in summaries.items()]
            intervals = None
            if self.plan is not None:
                intervals, models = intervals_of_counts(self.plan, specs, summaries, models, self.n_rankings)
            if is_pictured:
                models = _pictured(models, summaries, is_whole=is_whole)
        total = float(next(iter(summaries.values())).n_units) if counted.is_weighted else None
        best = {name: best_models(name, models) for name in specs}
        drawn = None if self.plan is None else self.plan.n_resamples
        return ReportBlock(value, counted.n_samples, total, tuple(models), best, intervals, n_resamples=drawn)

    def compared(self, block: ReportBlock, counted: CountedBlock, specs: Mapping[str, MetricSpec]) -> ReportBlock:
        """Add the differences from the other rows with the block's value."""
        if self.other is None or self.plan is None:
            return block
        segments, side = self.roles.segments, ClassCountsSide(counted)
        defined, models = defined_metrics(specs, block.models), list(counted.summaries)
        if block.by or not segments.columns:
            key = segments.key(block.by, block.value) if block.by else None
            pairs, other = self.other.compared(key, side, defined, models, self.plan)
        else:
            pairs, other = self.other.compared_whole(side, defined, models, self.plan)
        return replace(block, against=pairs, other=other)

    def over(self, by: tuple[str, ...], values: list[Any], blocks: Sequence[CountedBlock]) -> OverValues:
        """Measure the accuracy in each value, with Wilson's interval."""
        n, level = len(values), 0.95 if self.plan is None else self.plan.confidence_level
        n_samples = np.array([block.n_samples for block in blocks])
        metrics = {}
        for model in blocks[0].summaries:
            summaries = [block.summaries[model] for block in blocks]
            numbers = np.array([summary.metric("accuracy") for summary in summaries])
            found = GroupValues(np.arange(n), [numbers], n_samples, n_samples.astype(np.float64))
            ends = np.array([summary.confidence_interval("accuracy", level) for summary in summaries])
            of_values = group_results(["accuracy"], found, warns=False)["accuracy"]
            metrics[model] = {"accuracy": replace(of_values, confidence_intervals=None if self.plan is None else ends)}
        why_not = COUNTED_APART if self.plan is not None and len(metrics) > 1 else ""
        return OverValues(
            by, values, metrics, have_blocks(values, is_trend=self.is_trend), "", why_not_compared=why_not
        )


def not_measured_of_counts(summary: SummarizedClasses, plan: IntervalPlan | None) -> tuple[str, ...]:
    """Say what is not measured, and which metrics have no intervals or differences."""
    said = [NOT_MEASURED["probabilities"]]
    if plan is not None:
        said.append(NO_AVERAGES)
        if summary.first.is_weighted:
            said.append("AUC and AP of each class have no intervals, because the rows have weights.")
        if summary.classes.size > MOST_ESTIMATED:
            said.append(f"Classes have no intervals, because there are more than {MOST_ESTIMATED}.")
        if len(summary.models) > 1:
            said.append(NO_DIFFERENCES)
    if summary.first._has_no_pairs:
        said.append(f"M needs counts for each pair of classes, which a summary of {summary.classes.size} lacks.")
    return tuple(said)


# Numbers --------------------------------------------------------------------------------------------------------------


def known_metric(summary: ClassScoresSummary, spec: MetricSpec) -> Any:
    """Return a metric, with bounds unless it is exact; NaN if the summary does not know it."""
    try:
        return summary.metric(spec)
    except ValueError:  # such as M of hundreds of classes
        return math.nan


def measure_counts(name: str, summary: ClassScoresSummary, specs: Mapping[str, MetricSpec]) -> ModelNumbers:
    """Measure a model: averages over classes, and each class against the rest."""
    values: dict[str, float] = {}
    bounds: dict[str, Interval] = {}
    for title, spec in specs.items():
        found = known_metric(summary, spec)
        values[title] = float(found)
        if isinstance(found, Certified):
            bounds[title] = Interval(found.low, found.high)
    each: dict[str, Any] = {}
    each_bounds: dict[str, Interval] = {}
    for title, spec in EACH_PROBABILITY.items():
        found = summary.metric(spec)
        each[title] = np.asarray(found.value if isinstance(found, CertifiedValues) else found, dtype=np.float64)
        if isinstance(found, CertifiedValues):
            each_bounds[title] = Interval(found.low, found.high)  # type: ignore[arg-type]
        if title == "prevalence":
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = np.asarray(summary.metric(metric("mean_predicted", average=None))) / each[title]
            each[RATIO_OF_CLASS] = np.where(each[title] > 0, ratios, math.nan)
    return ModelNumbers(name, values, classes=OfClasses(summary.matrix(), each, bounds=each_bounds), bounds=bounds)


def intervals_of_counts(
    plan: IntervalPlan,
    specs: Mapping[str, MetricSpec],
    summaries: Mapping[str, ClassScoresSummary],
    models: Sequence[ModelNumbers],
    n_rankings: int,
) -> tuple[Intervals, list[ModelNumbers]]:
    """Return the intervals that counts give, and the models with intervals of their classes.

    Metrics of predicted classes are resampled from their matrix, means over rows have a normal interval or Wilson's,
    and AUC and AP of each class are resampled in cells and widened by their bounds.
    """
    defined = defined_metrics(specs, models)
    drawn = {name: spec for name, spec in defined.items() if class_metric_of(spec).of_labels is not None}
    means = {name: spec for name, spec in defined.items() if class_metric_of(spec).source == "rows"}
    each = {}
    if summaries and next(iter(summaries.values()))._require_rows().size <= MOST_ESTIMATED:
        each = {
            label: spec for label, spec in OF_EACH_PROBABILITY.items() if class_metric_of(spec).of_labels is not None
        }
    found, done = Intervals(CELLS), []
    for model in models:
        summary = summaries[model.name]
        settings: dict[str, Any] = {"confidence_level": plan.confidence_level, "rng": plan.seed}
        result = bootstrap(summary, drawn | each, n_resamples=plan.n_resamples, **settings)
        own = read_intervals(result, [model.name], drawn, None)
        intervals, errors = own.models[model.name], own.standard_errors[model.name]
        for name, spec in means.items():
            intervals[name] = summary.confidence_interval(spec, plan.confidence_level)
            errors[name] = summary.standard_error(spec)
        found.models[model.name] = {name: intervals[name] for name in specs if name in intervals}
        found.standard_errors[model.name] = errors
        found.cautions.update(own.cautions)
        for name, n in own.n_undefined.items():
            found.n_undefined[name] = max(n, found.n_undefined.get(name, 0))
        are_independent = not summary.is_weighted
        model = with_class_intervals(model, result, each, plan.confidence_level if are_independent else None)
        of_areas = plan.for_classes(n_rankings)
        done.append(_with_areas(model, summary, of_areas) if each and are_independent else model)
    return found, done


def _with_areas(model: ModelNumbers, summary: ClassScoresSummary, plan: IntervalPlan) -> ModelNumbers:
    """Add the intervals of the AUC and AP of each class; these need rows without weights."""
    classes = model.classes
    assert classes is not None
    values, cells = {}, {}
    for k, ranking in enumerate(rankings_at_cuts(summary)):
        if ranking.n_positives and ranking.n_negatives:
            values[str(k)] = {name: float(classes.metrics[name][k]) for name in AREAS}
            cells[str(k)] = few_cells(ranking.counts, AREAS, None)
    made = cell_intervals(plan, AREAS, values, cells, None).models
    intervals = dict(classes.intervals)
    for name in AREAS:
        ends = np.full((2, summary._require_rows().size), math.nan)
        for key, of_class in made.items():
            ends[:, int(key)] = of_class[name]
        doubt = classes.bounds.get(name)
        if doubt is not None:
            ends[0] -= classes.metrics[name] - np.asarray(doubt.low)
            ends[1] += np.asarray(doubt.high) - classes.metrics[name]
        low, high = np.clip(ends, *METRICS[name].bounds)
        intervals[name] = Interval(low, high)
    intervals = {name: intervals[name] for name in classes.metrics if name in intervals}
    return replace(model, classes=replace(classes, intervals=intervals))


# Pictures -------------------------------------------------------------------------------------------------------------


def at_cuts(ranking: Ranking | CertifiedRanking) -> Ranking:
    """Return a ranking, restricted to the thresholds at which counts are exact."""
    if isinstance(ranking, Ranking):
        return ranking
    return Ranking._from_checked_counts(ranking.at_cuts, None, (ranking.n_positives, ranking.n_negatives))


def rankings_at_cuts(summary: ClassScoresSummary) -> list[Ranking]:
    """Return the ranking of each class against the rest, at the thresholds at which counts are exact."""
    return [at_cuts(ranking) for ranking in summary.rankings().values()]


@dataclass(frozen=True)
class CountedRankings:
    """The rankings of classes against the rest."""

    rankings: Sequence[Ranking]


def _pictured(
    models: Sequence[ModelNumbers], summaries: Mapping[str, ClassScoresSummary], *, is_whole: bool
) -> list[ModelNumbers]:
    """Add the average curves of each model; for all rows also the numbers of each class."""
    aucs = np.array([model.classes.metrics["roc_auc"] for model in models if model.classes is not None])
    listed = listed_classes(aucs).tolist() if is_whole else []
    pictured = []
    for model, own in zip(models, aucs, strict=True):
        summary = summaries[model.name]
        rankings, curves = rankings_at_cuts(summary), dict[str, Any]()
        if not np.isnan(own).any():
            micro = at_cuts(summary.micro_ranking())
            for name in AVERAGE_CURVES:
                entry = CURVES[name]
                macro, one = entry.kind(MACROS[entry.macro](rankings)), getattr(micro, entry.method)()
                curves |= {
                    f"{average} {name}": each for average, each in zip(AVERAGES_DRAWN, (macro, one), strict=True)
                }
        calibrations: Sequence[Any] = list(summary.calibration_curve().values())
        each_class = measure_each_class(
            model.name, CountedRankings(rankings), listed, own, len(models), calibrations=calibrations
        )
        pictured.append(replace(model, curves=curves, each_class=each_class))
    return pictured
