"""The pictures of a report: panels by name, which `--out` draws with matplotlib and pages as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import MOST_PAIRS, describe_by, format_label, printable, shorten_names
from fastevals.counts import Cells, ThresholdCounts
from fastevals.document.picture import Look, Panel, Picture, ThinLines
from fastevals.measure.curves.cost import compute_probability_cost
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.measure.registry import metric_title
from fastevals.results import NOWHERE
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import names_of
from fastevals.show.plots import style
from fastevals.show.plots.confusion import draw_confusion
from fastevals.show.plots.cost import draw_cost
from fastevals.show.plots.curves import drawing_of
from fastevals.show.plots.forest import Row, draw_forest, forest_size
from fastevals.show.plots.histogram import draw_score_histogram
from fastevals.show.plots.models import LONGEST_NAME
from fastevals.show.report.data import ModelNumbers, ReportBlock, ReportData
from fastevals.show.report.intervals import is_greater_better
from fastevals.show.report.kinds import REPORT_KINDS
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.prediction_pictures import prediction_panels
from fastevals.show.report.trend import trend_panels
from fastevals.show.verdict import listed

Floats = NDArray[np.float64]
Costs = dict[str, float]

MOST_VALUES = 40  # of --by: of more, only the lowest and the highest


# At the chosen threshold ----------------------------------------------------------------------------------------------


def numbers_at(model: ModelNumbers, costs: Costs) -> dict[str, float]:
    """Return the numbers at a model's threshold that a curve's axes may show."""
    numbers = {**model.metrics, "threshold": model.threshold}
    if model.cells is None:
        return numbers
    tp, fp, fn, _ = model.cells
    n = sum(model.cells)
    share, prior = (tp + fp) / n, costs.get("prior", (tp + fn) / n)
    numbers |= {"share": share, "lift": numbers["recall"] / share if share else math.nan, "prior": prior}
    at = float(compute_probability_cost(prior, costs.get("cost_fp", 1.0), costs.get("cost_fn", 1.0)))
    cost = at * numbers["false_negative_rate"] + (1 - at) * numbers["false_positive_rate"]
    numbers |= {"probability_cost": at, "normalized_cost": cost}
    if 0 <= model.threshold < 1:  # otherwise it is not a probability
        numbers["net_benefit"] = tp / n - fp / n * (model.threshold / (1 - model.threshold))
    return numbers


def report_pictures(report: ReportData) -> BlockPictures:
    """Return the pictures of a report for `--out`; only the first `MOST_PICTURED` blocks kept counts to draw."""
    blocks, several = report.blocks, len(report.overs) > 1
    many = [describe_by(over.by) for over in report.overs if not over.has_blocks]
    reason = f"more values of {listed(many)} than have a block each" if many else ""
    panels = [panel for over in report.overs for panel in group_panels(over, is_named=several)]
    of_all = [("groups", panels)] if panels else []
    by = None if not report.roles.by else " and ".join(map(describe_by, report.roles.segments.groupings))
    segments = [(block.by, block.value) for block in blocks]
    if report.trend is not None:
        of_all = [("trend", trend_panels(report.trend))]
    of_whole = () if report.whole is None else _drawn_panels(report, report.whole)
    return BlockPictures(
        names_of("report"), by, segments, lambda k: _drawn_panels(report, blocks[k]), reason, of_all, of_whole
    )


def _drawn_panels(report: ReportData, block: ReportBlock) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block for `--out`, which has pictures of all classes where pages have a list of them."""
    yield from block_panels(report, block)
    if report.roles.kind == "probabilities":
        from fastevals.show.report.class_page import all_classes_panels

        yield from all_classes_panels(report, block)


# Panels ---------------------------------------------------------------------------------------------------------------


def block_panels(
    report: ReportData, block: ReportBlock, costs: Costs | None = None
) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block by name; `costs` are used if the report has none."""
    if report.roles.kind == "scores":
        yield from _score_panels(report, block, report.costs or costs)
    else:
        yield from prediction_panels(block, report.plan)
    metrics = [name for name in REPORT_KINDS[report.roles.kind].forests if name in report.metrics]
    metrics = list(dict.fromkeys([*metrics, *([] if report.best is None else [report.best])]))
    yield from interval_panels(block, metrics)
    yield from difference_panels(block, metrics)


def _score_panels(report: ReportData, block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of scores, with the chosen thresholds marked."""
    yield from _curve_panels(block, costs)
    counted = [(k, model, model.counts) for k, model in enumerate(block.models) if model.counts is not None]
    if counted and block.costs is not None:
        picture = Picture()
        draw_cost(picture, [(name, each.cost_curve()) for name, each in block.costs.items()])
        yield "cost_by_amount", [Panel(None, picture, style.figure_size(style.WIDE, len(block.costs)))]
    if counted and all(style.is_drawable(counts.thresholds[1:][[0, -1]]) for *_, counts in counted):
        yield "scores", [_score_panel(*each) for each in counted]
    measured = [(k, model, model.cells) for k, model in enumerate(block.models) if model.cells is not None]
    if measured:
        yield "confusion", [_confusion_panel(*each, report.pos_label) for each in measured]


def interval_panels(block: Any, metrics: Sequence[str]) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block's intervals, if it has any."""
    if block.intervals is not None and block.intervals.models:
        yield "intervals", [_interval_panel(block, metric) for metric in metrics]


def difference_panels(block: Any, metrics: Sequence[str]) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block's differences, if it has any; of all pairs of many models, those with the best."""
    pairs = [] if block.intervals is None else list(block.intervals.differences)
    best, has_one_reference = block.best[metrics[0]], len({pair.reference for pair in pairs}) == 1
    if len(pairs) > MOST_PAIRS and best and not has_one_reference:
        pairs = [pair for pair in pairs if best[0] in (pair.model, pair.reference)]
    if pairs:
        yield "differences", [_difference_panel(pairs, metric) for metric in metrics if metric in pairs[0].metrics]


def _curve_panels(block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, list[Panel]]]:
    models = [model for model in block.models if model.counts is not None]
    if not models:
        return
    metrics = {model.name: model.metrics for model in models}
    for entry in (each for each in CURVES.values() if each.in_reports):
        available = {
            "counts": True,
            "probabilities": all(entry.name in model.curves for model in models),
            "costs": costs is not None,
        }
        if available[entry.needs]:
            picture = Picture(metrics=metrics)
            drawing_of(entry)(picture, [(model.name, curve_of(entry, model, costs or {})) for model in models])
            _mark_thresholds(picture, entry, block.models, costs or {})
            yield entry.name, [Panel(None, picture, style.figure_size(style.SIZES[entry.size], len(models)))]


def curve_of(entry: CurveEntry, model: ModelNumbers, costs: Costs) -> Any:
    """Make a model's curve from its counts; a curve that needs probabilities was made from all rows."""
    if entry.needs == "probabilities":
        return model.curves[entry.name]
    of_costs = {name: costs[name] for name in ("cost_fp", "cost_fn")} if entry.needs == "costs" else {}
    return entry.of_counts(model.counts, **of_costs)


def _mark_thresholds(picture: Picture, entry: CurveEntry, models: Sequence[ModelNumbers], costs: Costs) -> None:
    """Mark each model's threshold by a point or a line."""
    for k, model in enumerate(models):
        numbers, look = numbers_at(model, costs), Look.of_place(k)
        x, y = (numbers.get(axis.number, math.nan) for axis in (entry.x, entry.y))
        if entry.y.number:
            picture.add_ring(x, y, look, filled=True)
        elif math.isfinite(x):
            picture.add(ThinLines("threshold", [np.array([(x, 0.0), (x, 1.0)])], look, 1.2, 0.8))
    picture.add_entry("chosen threshold", marker="o" if entry.y.number else "")


def _score_panel(place: int, model: ModelNumbers, counts: ThresholdCounts) -> Panel:
    picture = Picture()
    draw_score_histogram(picture, counts, threshold=None if math.isnan(model.threshold) else model.threshold)
    return Panel(model.name, picture, style.WIDE, place=place)


def _confusion_panel(place: int, model: ModelNumbers, cells: Cells, pos_label: Any) -> Panel:
    picture = Picture()
    positive = format_label(pos_label)
    draw_confusion(picture, np.array([[cells.tn, cells.fp], [cells.fn, cells.tp]]), [f"not {positive}", positive])
    at = "no threshold" if model.threshold == math.inf else model.threshold_shown
    return Panel(f"{model.name} at {at}", picture, (4.0, 4.4), place=place)


def _interval_panel(block: Any, metric: str) -> Panel:
    """Return the models' values of a metric with their intervals, the best at the top."""
    sign = -1 if is_greater_better(metric) else 1
    found: list[tuple[Row, Look]] = []
    for k, model in enumerate(block.models):
        interval = block.intervals.models.get(model.name, {}).get(metric, NOWHERE)
        found.append(((model.name, model.metrics[metric], *interval), Look.of_place(k)))
    found.sort(key=lambda each: (math.isnan(each[0][1]), sign * each[0][1]))
    picture = Picture()
    draw_forest(picture, [row for row, _ in found], metric_title(metric), looks=[look for _, look in found])
    return Panel(None, picture, forest_size(len(found)), is_wide=True)


def _difference_panel(pairs: Sequence[Any], metric: str) -> Panel:
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.model, pair.reference)))
    short = dict(zip(names, shorten_names(names, LONGEST_NAME // 2 - 1), strict=True))
    rows: list[Row] = []
    for model, reference, metrics in pairs:
        rows.append((f"{short[model]} - {short[reference]}", metrics[metric].value, *metrics[metric].interval))
    full_names = [f"{printable(pair.model)} - {printable(pair.reference)}" for pair in pairs]
    picture = Picture()
    draw_forest(picture, rows, f"Difference in {metric_title(metric)}", 0.0, full_names=full_names)
    return Panel(None, picture, forest_size(len(rows)), is_wide=True)


def group_panels(over: OverValues, *, is_named: bool = False) -> list[Panel]:
    """Return one panel per model with the metric of each --by value; titles may name the --by column."""
    panels = []
    for place, (name, metrics) in enumerate(over.metrics.items()):
        metric = metrics[over.metric]
        intervals = metric.confidence_intervals
        ends = np.full((len(over.values), 2), np.nan) if intervals is None else intervals
        panel = _value_panel(place, name, over.metric, over.values, metric.values, ends, float(metric.mean))
        panels.append(panel._replace(title=f"{name} by {describe_by(over.by)}") if is_named else panel)
    return panels


def _value_panel(
    place: int, model: str, metric: str, values: Sequence[Any], numbers: Floats, ends: Floats, mean: float
) -> Panel:
    """Return a model's metric by --by value, ascending; of many values, only the extremes. NaN is left out."""
    order = [k for k in np.argsort(numbers, kind="stable").tolist() if math.isfinite(numbers[k])]
    if len(order) > MOST_VALUES:
        order = [*order[: MOST_VALUES // 2], *order[-MOST_VALUES // 2 :]]
    rows: list[Row] = [(format_label(values[k]), float(numbers[k]), *ends[k].tolist()) for k in order]
    picture = Picture()
    reference = None if math.isnan(mean) else mean
    draw_forest(picture, rows, f"{metric_title(metric)} of {printable(model)}", reference)
    return Panel(model, picture, forest_size(len(rows)), is_wide=True, place=place)
