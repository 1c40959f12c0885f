"""Measure models' scores: each model in each block, with intervals, and each metric compared over values of --by."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progressed
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning
from fastevals.counting.labels import rows_by_code
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.few_cells import FewCells
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.infer.delong.placements import PlacementMoments, sum_placements
from fastevals.many.group_influences import Differences
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import OF_PAIRS, SCORE_METRICS
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.rows import RowReader
from fastevals.reading.segments import RowSegments, Whole
from fastevals.reading.sources import Reading
from fastevals.results import Interval
from fastevals.scale.certified import Certified
from fastevals.scale.scores import ScoresSummary
from fastevals.show.report.against import CellsSide, CountedSide, OtherSides, RowsSide, Side, check_blocks
from fastevals.show.report.calibrated import calibrate_losses, calibrate_rows
from fastevals.show.report.costs import (
    check_few_values,
    drawn_with_costs,
    measure_block,
    rule_of,
    with_cost,
)
from fastevals.show.report.data import ModelNumbers, ReportBlock, ThresholdRule
from fastevals.show.report.gains import gains_of_counts, gains_of_rows
from fastevals.show.report.intervals import (
    IntervalPlan,
    Intervals,
    ScoredRows,
    best_models,
    column_metrics,
    few_cells_of_rows,
    make_intervals,
    takes_cells,
    values_of,
)
from fastevals.show.report.kinds import AUC
from fastevals.show.report.over_differences import (
    COUNTED_APART,
    differences_of_rows,
    differences_of_sums,
    with_differences,
    with_differences_of_blocks,
)
from fastevals.show.report.over_values import (
    DividedRows,
    gather_over_blocks,
    have_blocks,
    measure_over_values,
    most_blocks,
    why_no_delong,
)
from fastevals.show.report.streams import (
    CertifiedBlock,
    ExactStream,
    StreamedBlock,
    streamed_intervals,
    summarize_rows,
    summary_intervals,
    with_whole,
)

COUNTED_ONLY = "DeLong's variance needs the rows, and only counts were kept"
MOST_POINTS = 2560  # thresholds of a model up to which pictures keep all
PICTURED_PROBABILITIES = [k / 1000 for k in range(1001)]  # with exact counts, for pictures


class Measure(NamedTuple):
    """Measurement of a report's blocks, with the plan of their intervals and metrics over the blocks."""

    roles: ColumnRoles
    rule: ThresholdRule
    plan: IntervalPlan | None
    n_pictured: int
    progress: bool
    has_gains: bool = False  # whether each model has a gain table
    other: OtherSides | None = None  # other rows, with which each block is compared
    is_trend: bool = False  # whether the values are those of a trend, which may be many

    def own_plan(self, n_values: Iterable[int]) -> IntervalPlan | None:
        """Return the plan for groupings with these numbers of values."""
        return self.plan.for_trend(sum(n_values)) if self.plan is not None and self.is_trend else self.plan

    def rows(self, rows: ScoredRows, groupings: Sequence[DividedRows]) -> dict[str, Any]:
        """Measure rows in memory, for each way to divide them."""
        metrics, plan = column_metrics(*self.rule), self.own_plan([len(grouped.values) for grouped in groupings])
        if rows.amounts is not None:
            metrics = drawn_with_costs(metrics, self.rule)
            for grouped in groupings:
                check_few_values(grouped.by, grouped.values)
        parts = _blocks_of_rows(groupings, rows, is_trend=self.is_trend)
        if plan is not None:
            plan = plan.for_blocks([part.n_samples for part in parts if part.is_measured], len(rows.scores))
        why_none = "" if plan is None or not groupings else why_no_delong(rows)
        of_both = self.plan_of_both([part.n_samples for part in parts if part.is_measured])
        if self.other is not None and groupings:
            check_blocks(groupings)
            self.other.check_paired(self.roles.segments.key(part.by, part.value) for part in parts)
        blocks: list[ReportBlock] = []
        for part in progressed(parts, "measuring"):
            of_part = rows if part.places is None else rows.take(part.places)
            if part.is_measured:
                block = self.block(part.value, of_part, metrics, plan, len(blocks), why_none is None)
                block = replace(block, by=part.by)
                if of_both is not None:
                    block = self.compared(block, RowsSide(of_part), metrics, of_both)
            else:
                block = replace(_of_one_class(part.value, of_part), by=part.by)
                if self.other is not None:
                    self.other.pair(self.roles.segments.key(part.by, part.value))
            blocks.append(block)
        overs = []
        for grouped in groupings:
            own = [block for block in blocks if block.by == grouped.by]
            if len(grouped.values) > 1:
                over = gather_over_blocks(own, plan, why_none) if own else measure_over_values(grouped, rows, plan)
                overs.append(with_differences(over, grouped, rows, plan))
        measured = tuple(block for block in blocks if block.best)
        whole = None
        if len(blocks) > 1:
            sizes = [block.n_samples for block in measured]
            of_all = None if plan is None else plan.for_whole(sizes, len(rows.scores))
            whole = self.block(None, rows, metrics, of_all, 0, False)
            if of_both is not None:
                whole = self.compared(whole, RowsSide(rows), metrics, self.plan_of_both([rows.n_samples]) or of_both)
        return {"blocks": measured, "plan": plan, "overs": tuple(overs), "whole": whole}

    def stream(self, reader: RowReader, reading: Reading) -> dict[str, Any]:
        """Measure files in scans."""
        metrics = column_metrics(*self.rule)
        if self.has_gains:
            raise ValueError(
                f"{option('gain_table')} needs the rows in memory or in one scan: give more {option('memory')}, or use "
                f"{option('approximate')}"
            )
        thresholds = [] if self.rule.threshold is None else [self.rule.threshold]
        if self.n_pictured:
            thresholds += PICTURED_PROBABILITIES
        stream, plan, of_all, streamed, values = self._streamed(reader, reading, thresholds)
        why_none = "" if plan is None else why_no_delong(reader)
        if self.other is not None:
            self.other.check_classes(reader.labels)
            self.other.check_paired(values.values())
        sizes = [block.totals.n_samples for block in streamed if block.totals.value is not Whole.ROWS]
        of_both = self.plan_of_both(sizes)
        places = [0 if block.totals.value is Whole.ROWS else k for k, block in enumerate(streamed)]
        models = [
            self.streamed_models(block, reader, k < self.n_pictured, why_none)
            for k, block in zip(places, streamed, strict=True)
        ]
        defined = [_defined(metrics, each) for each in models]
        joint = {} if plan is None else stream.joint_sums(zip(streamed, defined, strict=True))
        blocks: list[ReportBlock] = []
        differences: dict[Any, list[Differences] | None] = {}
        are_compared = plan is not None and len(reader.scores) > 1 and not reader.weighs_rows
        for k, block, measured, specs in zip(places, streamed, models, defined, strict=True):
            by, value = reader.segments.of_key(values[block.totals.value])
            its, both = plan, of_both
            if block.totals.value is Whole.ROWS:
                its, both = of_all, self.plan_of_both([block.totals.n_samples])
            if block.rows is not None:
                found = self.block(value, block.rows, metrics, its, k, why_none is None)
                found = replace(found, by=by)
                if both is not None:
                    found = self.compared(found, RowsSide(block.rows), metrics, both)
                blocks.append(found)
                differences[by, value] = differences_of_rows(block.rows) if by and are_compared else None
                continue
            intervals, sums = None, joint.get(block.totals.value)
            if its is not None:
                intervals = streamed_intervals(its, specs, block, measured, sums)
            found = replace(_report_block(value, _block_totals(block.ranking(0)), measured, intervals), by=by)
            if both is not None:
                found = self.compared(found, _cells_side(block, measured), metrics, both)
            blocks.append(found)
            rarer = min(block.totals.n_positives, block.totals.n_negatives)
            aucs = [model.metrics[AUC] for model in measured]
            differences[by, value] = None if sums is None else differences_of_sums(sums, aucs, rarer)
        fields = _with_overs(blocks, plan, why_none, reader.segments)
        overs = (
            with_differences_of_blocks(
                over, [differences[over.by, value] for value in over.values], plan, is_weighted=reader.weighs_rows
            )
            for over in fields["overs"]
        )
        return fields | {"overs": tuple(overs)}

    def _streamed(
        self, reader: RowReader, reading: Reading, thresholds: Sequence[float]
    ) -> tuple[ExactStream, IntervalPlan | None, IntervalPlan | None, list[StreamedBlock], dict[Any, Any]]:
        """Count files in scans; return the blocks in ascending order of their values, and the names of the values.

        If a column divides the rows, all rows are the last block, with a plan of its own, which follows the plan.
        """
        reader.segments = reader.segments._replace(has_whole=bool(reader.segments.columns))
        stream = ExactStream(
            reader, self.rule.best, self.rule.costs or {}, thresholds, reading.memory, self.progress,
            is_trend=self.is_trend,
        )  # fmt: skip
        sizes = [block.n_samples for block in stream.blocks if block.value is not Whole.ROWS]
        plan = self.own_plan([len(sizes)])
        plan = None if plan is None else plan.for_blocks(sizes, len(reader.scores))
        of_all = None if plan is None else plan.for_whole(sizes, len(reader.scores))
        streamed = stream.count(plan, of_all, column_metrics(*self.rule))
        values = reader.value_names(block.totals.value for block in streamed)
        order = {value: place for place, value in enumerate(values)}
        streamed.sort(key=lambda block: order[block.totals.value])
        return stream, plan, of_all, streamed, values

    def streamed_models(
        self, block: StreamedBlock, reader: RowReader, is_pictured: bool, why_none: str | None
    ) -> list[ModelNumbers]:
        """Measure each model of a block whose rows are not in memory."""
        models = []
        for k, curve in enumerate(block.curves):
            name, losses = reader.scores[k], None if reader.groups is not None else block.probabilities[k]
            calibrated = calibrate_losses(losses, name, self.plan, is_pictured=is_pictured)
            model = _measure_model(name, block.ranking(k), self.rule, is_pictured, block.known(k), calibrated)
            if reader.segments.columns and why_none is None:
                model = replace(model, auc_variance=_variance(curve.moments))
            models.append(model)
        return models

    def in_one_scan(self, reader: RowReader) -> dict[str, Any]:
        """Measure files in one scan."""
        return self.summary(self.summarized(reader))

    def summarized(self, reader: RowReader) -> ScoresSummary:
        """Count files in one scan."""
        reader.segments = reader.segments._replace(has_whole=False)  # the counts of the values add up
        return summarize_rows(reader, [] if self.rule.threshold is None else [self.rule.threshold], self.progress)

    def summary(self, summary: ScoresSummary) -> dict[str, Any]:
        """Measure a summary's counts."""
        blocks: list[ReportBlock] = []
        metrics, plan = column_metrics(*self.rule), self.own_plan([len(summary.blocks)])
        of_both = self.plan_of_both([block.n_samples for block in summary.blocks.values()])
        if self.other is not None:
            self.other.check_classes(summary.labels)
            self.other.check_paired(summary.blocks)
        for columns in summary.segments.groupings:
            n_values = sum(summary.segments.of_key(key)[0] == columns for key in summary.blocks)
            if not have_blocks(range(n_values), is_trend=self.is_trend):
                crossed, most = " x ".join(map(repr, columns)), most_blocks(is_trend=self.is_trend)
                raise ValueError(f"{option('by')} {crossed} has {n_values:,} values; at most {most:,} are measured")
        for key, counted in with_whole(summary).items():
            by, value = summary.segments.of_key(key)
            block = CertifiedBlock(counted)
            number = 0 if key is Whole.ROWS else len(blocks)
            models = []
            for name in summary.models:
                certified = block.certified(name)
                known = {metric: float(number) for metric, number in certified.items()} | block.losses(name)
                is_pictured, losses = number < self.n_pictured, counted.probabilities.get(name)
                calibrated = calibrate_losses(losses, name, plan, is_pictured=is_pictured)
                model = _measure_model(name, block.ranking(name), self.rule, is_pictured, known, calibrated)
                bounds = {
                    metric: Interval(number.low, number.high)
                    for metric, number in certified.items()
                    if isinstance(number, Certified)
                }
                bounds |= block.bounds_at(name, model.threshold, self.rule.costs or {})
                gains = gains_of_counts(counted.summaries[name], counted.n_samples, plan) if self.has_gains else None
                models.append(replace(model, bounds=bounds, gains=gains))
            defined = _defined(metrics, models)
            intervals = None if plan is None else summary_intervals(plan, defined, block, models)
            measured = _report_block(value, _block_totals(block.ranking(summary.models[0])), models, intervals)
            measured = replace(measured, by=by)
            both = self.plan_of_both([counted.n_samples]) if key is Whole.ROWS else of_both
            if both is not None:
                measured = self.compared(measured, CountedSide(block), metrics, both)
            blocks.append(measured)
        fields = _with_overs(blocks, None, COUNTED_ONLY, summary.segments)
        why_not = COUNTED_APART if plan is not None and len(summary.models) > 1 else ""
        return fields | {
            "plan": plan,
            "overs": tuple(replace(over, why_not_compared=why_not) for over in fields["overs"]),
        }

    # Other rows -------------------------------------------------------------------------------------------------------

    def plan_of_both(self, sizes: Sequence[int]) -> IntervalPlan | None:
        """Return the plan for comparisons with other rows, given the sizes of the data's blocks; None without them."""
        if self.plan is None or self.other is None:
            return None
        return self.plan.for_blocks([*sizes, *self.other.sizes], len(self.roles.models))

    def compared(
        self, block: ReportBlock, side: Side, metrics: dict[str, MetricSpec], plan: IntervalPlan
    ) -> ReportBlock:
        """Add the differences from the other rows with the block's value."""
        assert self.other is not None
        segments, defined = self.roles.segments, _defined(metrics, block.models)
        if block.by or not segments.columns:
            key = segments.key(block.by, block.value) if block.by else None
            pairs, other = self.other.compared(key, side, defined, self.roles.models, plan)
        else:
            pairs, other = self.other.compared_whole(side, defined, self.roles.models, plan)
        return replace(block, against=pairs, other=other)

    def sides_of_rows(self, rows: ScoredRows, groupings: Sequence[DividedRows]) -> dict[Any, Side]:
        """Return the rows of each block, and all rows if a column divides them, by key."""
        check_blocks(groupings)
        if not groupings:
            return {None: RowsSide(rows)}
        sides: dict[Any, Side] = {
            self.roles.segments.key(part.by, part.value): RowsSide(rows.take(part.places))
            for part in _blocks_of_rows(groupings, rows)
        }
        return {**sides, Whole.ROWS: RowsSide(rows)}

    def sides_of_stream(self, reader: RowReader, reading: Reading) -> dict[Any, Side]:
        """Count files in scans; return the cells, or the rows if they are few, of each block and all rows, by key."""
        thresholds = [] if self.rule.threshold is None else [self.rule.threshold]
        _, _, _, streamed, values = self._streamed(reader, reading, thresholds)
        return {
            values[block.totals.value]: RowsSide(block.rows)
            if block.rows is not None
            else _cells_side(block, self.streamed_models(block, reader, False, ""))
            for block in streamed
        }

    # A block ----------------------------------------------------------------------------------------------------------

    def block(
        self,
        value: Any,
        rows: ScoredRows,
        metrics: dict[str, MetricSpec],
        plan: IntervalPlan | None,
        number: int,
        wants_variance: bool,
    ) -> ReportBlock:
        """Measure each model on a block's rows, and make intervals of the metrics that at least one model has."""
        totals, models = None, []
        cells: dict[str, FewCells] = {}
        by_cells = takes_cells(plan, rows)
        costs = None if rows.amounts is None else measure_block(rows, self.rule, plan, progress=self.progress)
        for name in progressed(rows.scores, "measuring models"):
            ranking = rows.ranking_of(name)  # deleted before the next: each has up to 32 bytes per row
            totals = totals or _block_totals(ranking)
            rule = self.rule if costs is None else rule_of(costs, self.rule, name)
            is_pictured = number < self.n_pictured
            calibrated = calibrate_rows(ranking, rows, name, plan, is_pictured=is_pictured)
            model = _measure_model(name, ranking, rule, is_pictured, _won_pairs(ranking), calibrated)
            if costs is not None:
                model = with_cost(model, costs)
            if self.has_gains:
                model = replace(model, gains=gains_of_rows(ranking, rows, name, plan))
            if wants_variance:
                model = replace(model, auc_variance=_variance(_moments(ranking.counts)))
            models.append(model)
            if by_cells:
                cells[name] = few_cells_of_rows(ranking, rows, name, metrics)
            del ranking
        intervals = None
        if plan is not None:
            defined = _defined(metrics, models)
            intervals = make_intervals(plan, defined, rows, values_of(models), cells, progress=self.progress)
        assert totals is not None
        return replace(_report_block(value, totals, models, intervals), costs=costs)


def sides_of_summary(summary: ScoresSummary) -> dict[Any, Side]:
    """Return the counts of each block, and of all rows if a column divides them, by key."""
    return {key: CountedSide(CertifiedBlock(block)) for key, block in with_whole(summary, 1).items()}


def _cells_side(block: StreamedBlock, models: Sequence[ModelNumbers]) -> CellsSide:
    """Return a block whose rows are not in memory, as a side of a comparison."""
    return CellsSide((block.totals.n_samples, block.totals.n_positives), block.cells, values_of(models))


class _Part(NamedTuple):
    """Rows to measure: their value, number and places (None for all), and whether both classes are among them."""

    by: tuple[str, ...]
    value: Any
    n_samples: int
    places: NDArray[np.intp] | None
    is_measured: bool = True


def _blocks_of_rows(groupings: Sequence[DividedRows], rows: ScoredRows, *, is_trend: bool = False) -> list[_Part]:
    """Return each block's rows. Combinations of values with one class are not measured."""
    if not groupings:
        return [_Part((), None, rows.n_samples, None)]
    parts = []
    for by, values, codes in groupings:
        if not have_blocks(values, is_trend=is_trend):
            continue
        places = rows_by_code(codes, len(values))
        sizes = [part.size for part in places]
        if rows.are_copies and rows.weights is not None:
            sizes = np.bincount(codes, rows.weights, len(values)).astype(np.int64).tolist()
        n_positives = np.bincount(codes[rows.positive], minlength=len(values)).tolist()
        both = [len(by) == 1 or 0 < count < part.size for count, part in zip(n_positives, places, strict=True)]
        parts += [_Part(by, *each) for each in zip(values, sizes, places, both, strict=True)]
    return parts


def _of_one_class(value: Any, rows: ScoredRows) -> ReportBlock:
    """Return a block without metrics, which is listed only."""
    undefined = dict.fromkeys(SCORE_METRICS, math.nan)
    copies = np.ones(rows.positive.size) if rows.weights is None or not rows.are_copies else rows.weights
    n_positives = int(copies[rows.positive].sum())
    weight = None if rows.weights is None or rows.are_copies else float(rows.weights.sum())
    models = tuple(ModelNumbers(name, undefined) for name in rows.scores)
    return ReportBlock(value, rows.n_samples, weight, models, {}, None, n_positives, rows.n_samples - n_positives)


def _with_overs(
    blocks: list[ReportBlock], plan: IntervalPlan | None, why_none: str | None, segments: RowSegments
) -> dict[str, Any]:
    """Return the blocks of a report, the block of all rows, and the metrics over the values of each grouping."""
    whole = next((block for block in blocks if segments.columns and not block.by), None)
    blocks = [block for block in blocks if block is not whole]
    owns = [[block for block in blocks if block.by == by] for by in segments.groupings]
    overs = [gather_over_blocks(own, plan, why_none) for own in owns if len(own) > 1]
    measured = [block for block in blocks if len(block.by) < 2 or (block.n_positives and block.n_negatives)]
    whole = whole if len(blocks) > 1 else None
    return {"blocks": tuple(measured), "plan": plan, "overs": tuple(overs), "whole": whole}


# Numbers ----------------------------------------------------------------------------------------------------------


def _defined(metrics: dict[str, MetricSpec], models: Sequence[ModelNumbers]) -> dict[str, MetricSpec]:
    """Return the metrics that are defined for some model."""
    return {
        name: spec for name, spec in metrics.items() if not all(math.isnan(model.metrics[name]) for model in models)
    }


def _report_block(
    value: Any, totals: dict[str, Any], models: list[ModelNumbers], intervals: Intervals | None
) -> ReportBlock:
    best = {name: best_models(name, models) for name, entry in SCORE_METRICS.items() if entry.in_reports}
    return ReportBlock(value=value, models=tuple(models), best=best, intervals=intervals, **totals)


def _block_totals(ranking: BaseRanking) -> dict[str, Any]:
    """Return a block's numbers of rows, positives and negatives, its weight, and its share of positives."""
    counts = ranking.counts
    total = counts.n_pos + counts.n_neg
    weight = float(total) if counts.tps.dtype.kind == "f" else None
    return {
        "n_samples": ranking.n_samples,
        "n_positives": ranking.n_positives,
        "n_negatives": ranking.n_negatives,
        "total_weight": weight,
        "positive_share": counts.n_pos / total,
    }


def _won_pairs(ranking: Ranking) -> dict[str, float]:
    """Return the metrics that are known without a sweep of the counts."""
    exact = ranking._doubled_u_and_pairs()
    if exact is None:
        return {}
    doubled_u, pairs = exact
    return {name: won(doubled_u, 2 * pairs) / (2 * pairs) for name, won in OF_PAIRS.items()}


def _moments(counts: ThresholdCounts) -> PlacementMoments:
    whole = counts.tps.dtype.kind == "i"
    tps, fps = (each if whole else each.astype(np.int64) for each in (counts.tps, counts.fps))
    n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
    return PlacementMoments.from_placements(n_pos, n_neg, sum_placements(tps, fps, n_pos, n_neg))


def _variance(moments: PlacementMoments) -> float:
    return float(moments.covariance()[0, 0])


def _measure_model(
    name: str,
    ranking: BaseRanking,
    rule: ThresholdRule,
    is_pictured: bool,
    known: Mapping[str, float],
    calibrated: Calibration | None,
) -> ModelNumbers:
    """Compute every metric of the registry; metrics of a confusion matrix are at the rule's threshold.

    `known` holds metrics that are not computed again.
    """
    best, threshold, costs = rule.best, rule.threshold, rule.costs or {}
    if best is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            options: dict[str, Any] = {name: costs[name] for name in SCORE_METRICS[best].options if name in costs}
            threshold = ranking.best_threshold(best, **options).threshold
    assert threshold is not None
    counts = ranking.counts
    cells = None if math.isnan(threshold) else counts.cells(counts.rows_at_least(np.asarray(threshold)))
    metrics = {}
    vertices = hull(counts)
    for metric in (entry for entry in SCORE_METRICS.values() if entry.in_reports):
        if metric.name in known:
            metrics[metric.name] = known[metric.name]
        elif metric.of != "cells":
            metrics[metric.name] = metric(vertices if metric.on_hull else counts)
        elif cells is None:
            metrics[metric.name] = math.nan
        else:
            metrics[metric.name] = float(metric(cells, **costs))
    plain = None if cells is None else Cells(*(np.asarray(cell).item() for cell in cells))
    holds = operating_range = None
    if best == "expected_cost":
        over = CostCurve(counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])
        holds = over._where_best(threshold, costs.get("prior", counts.n_pos / (counts.n_pos + counts.n_neg)))
        operating_range = over.operating_range()
    return ModelNumbers(
        name, metrics, threshold=threshold, threshold_shown=format_threshold(threshold, counts), cells=plain,
        holds=holds, operating_range=operating_range, calibrated=calibrated,
        **(_pictured(counts, vertices, threshold, calibrated) if is_pictured else {}),
    )  # fmt: skip


def _pictured(
    counts: ThresholdCounts, vertices: ThresholdCounts, threshold: float, calibrated: Calibration | None
) -> dict[str, Any]:
    """Return the data for a model's pictures."""
    curves: dict[str, Any] = {}
    if counts._has_each_score and are_probabilities(counts):
        curves = {name: CURVES[name].of_counts(counts) for name in ("reliability", "decision")}
    if calibrated is not None:
        curves["calibration"] = calibrated.bins
    rows = np.arange(counts.thresholds.size)
    if rows.size > MOST_POINTS:
        from fastevals.show.report.points import candidates

        rows = candidates(counts, vertices, [threshold])
    below = np.append(counts.thresholds[1:], -math.inf)[rows]
    return {"counts": counts.take(rows), "below": below, "curves": curves}


def format_threshold(threshold: float, counts: ThresholdCounts) -> str:
    """Write a threshold with enough digits that the printed number predicts the same rows positive.

    A threshold is a score: rounded up, it would not predict its own row positive.
    """
    if math.isnan(threshold) or threshold == math.inf:
        return "-" if math.isnan(threshold) else "none"
    row = counts.rows_at_least(np.asarray(threshold))
    for digits in range(6, 18):
        text = f"{threshold:.{digits}g}"
        with contextlib.suppress(ValueError):  # between scores that are known
            if counts.rows_at_least(np.asarray(float(text))) == row:
                return text
    return str(threshold)
