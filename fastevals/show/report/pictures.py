"""What pictures of a report show: a set of panels by name, which `--out` draws with matplotlib, and the page as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import MOST_PAIRS, format_label, printable
from fastevals.counts import Cells, ThresholdCounts
from fastevals.document.picture import Look, Panel, Picture, ThinLines
from fastevals.measure.curves.cost import CostCurve, CostOverPrior, compute_probability_cost
from fastevals.measure.curves.decision import DecisionCurve, net_benefit
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.results import NOWHERE
from fastevals.show.output import BlockPictures
from fastevals.show.plots import style
from fastevals.show.plots.calibration import draw_calibration
from fastevals.show.plots.confusion import draw_confusion
from fastevals.show.plots.cost import draw_cost, draw_cost_over_prior
from fastevals.show.plots.decision import draw_decision
from fastevals.show.plots.forest import Row, draw_forest, forest_size
from fastevals.show.plots.gain import draw_gain, draw_lift
from fastevals.show.plots.histogram import draw_score_histogram
from fastevals.show.plots.precision_recall import draw_precision_recall
from fastevals.show.plots.roc import draw_det, draw_roc
from fastevals.show.report.data import ModelNumbers, ReportBlock, ReportData
from fastevals.show.report.intervals import is_greater_better, metric_title
from fastevals.show.report.kinds import REPORT_KINDS
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.prediction_pictures import ERRORS, prediction_panels

Floats = NDArray[np.float64]
Costs = dict[str, float]
Point = tuple[float, float]

MOST_VALUES = 40  # of --by: of more, the lowest and the highest


class _Kind(NamedTuple):
    """A kind of curve: what makes it of a model and costs, what draws it, and where a model is at its threshold."""

    curve: Callable[[ModelNumbers, Costs], Any]
    draw: Callable[..., None]
    size: tuple[float, float]
    place: Callable[[ModelNumbers, Costs], Point | None]
    needs: Literal["counts", "probabilities", "costs"] = "counts"
    as_line: bool = False  # whether that is an x alone


# At the chosen threshold ----------------------------------------------------------------------------------------------


def _at(x: str, y: str) -> Callable[[ModelNumbers, Costs], Point | None]:
    """Return what places a model by two of its metrics."""
    return lambda model, _: (model.metrics[x], model.metrics[y])


def _at_share(model: ModelNumbers, _: Costs, *, lift: bool = False) -> Point | None:
    """Return the share of rows that are predicted positive, and that of positives found, or how many times as many."""
    if model.cells is None:
        return None
    share, recall = (model.cells.tp + model.cells.fp) / sum(model.cells), model.metrics["recall"]
    if lift:
        return share, recall / share if share else math.nan
    return share, recall


def _at_costs(model: ModelNumbers, costs: Costs, *, over_prior: bool = False) -> Point | None:
    """Return PC(+), or the prior, at the costs, and the normalised cost there."""
    if model.cells is None:
        return None
    prior = costs.get("prior", (model.cells.tp + model.cells.fn) / sum(model.cells))
    at = float(compute_probability_cost(prior, costs.get("cost_fp", 1.0), costs.get("cost_fn", 1.0)))
    cost = at * model.metrics["false_negative_rate"] + (1 - at) * model.metrics["false_positive_rate"]
    return prior if over_prior else at, cost


def _at_probability(model: ModelNumbers, _: Costs) -> Point | None:
    if model.counts is None or not 0 <= model.threshold < 1:
        return None
    return model.threshold, float(net_benefit(model.counts, model.threshold))


def _of_counts(curve: Callable[[ThresholdCounts], Any]) -> Callable[[ModelNumbers, Costs], Any]:
    """Return what makes a curve of a model's counts."""

    def make(model: ModelNumbers, _: Costs) -> Any:
        assert model.counts is not None
        return curve(model.counts)

    return make


def _over_prior(model: ModelNumbers, costs: Costs) -> CostOverPrior:
    assert model.counts is not None
    return CostCurve(model.counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])


KINDS = {
    "roc": _Kind(
        _of_counts(RocCurve), draw_roc, style.SQUARE,
        _at("false_positive_rate", "recall"),
    ),
    "precision_recall": _Kind(
        _of_counts(PrecisionRecallCurve), draw_precision_recall, style.SQUARE,
        _at("recall", "precision"),
    ),
    "det": _Kind(
        _of_counts(DetCurve), draw_det, style.SQUARE,
        _at("false_positive_rate", "false_negative_rate"),
    ),
    "gain": _Kind(
        _of_counts(GainCurve), draw_gain, style.SQUARE, _at_share,
    ),
    "lift": _Kind(
        _of_counts(LiftCurve), draw_lift, style.WIDE,
        lambda model, costs: _at_share(model, costs, lift=True),
    ),
    "cost": _Kind(_of_counts(CostCurve), draw_cost, style.WIDE, _at_costs),
    "cost_over_prior": _Kind(
        _over_prior, draw_cost_over_prior, style.WIDE,
        lambda model, costs: _at_costs(model, costs, over_prior=True), "costs",
    ),
    "calibration": _Kind(
        lambda model, _: model.calibration, draw_calibration, style.TALL,
        lambda model, _: (model.threshold, math.nan) if math.isfinite(model.threshold) else None,
        "probabilities", as_line=True,
    ),
    "decision": _Kind(
        _of_counts(DecisionCurve.from_counts), draw_decision, style.WIDE, _at_probability,
        "probabilities",
    ),
}  # fmt: skip
NAMES = (*KINDS, "scores", "confusion", *ERRORS, "intervals", "differences", "groups")


def report_pictures(report: ReportData) -> BlockPictures:
    """Return what `--out` draws of a report, whose first `MOST_PICTURED` blocks have the counts of their models."""
    by, blocks = report.roles.by, report.blocks
    reason = "" if blocks else f"more values of {printable(str(by))} than have a block each"
    of_all = [] if report.over is None else [("groups", group_panels(report.over))]
    values = [block.value for block in blocks]
    return BlockPictures(NAMES, by, values, lambda k: block_panels(report, blocks[k]), reason, of_all)


# Panels ---------------------------------------------------------------------------------------------------------------


def block_panels(
    report: ReportData, block: ReportBlock, costs: Costs | None = None
) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block by name; those that need costs have these, where the report has none."""
    if report.roles.kind == "scores":
        yield from _score_panels(report, block, report.costs or costs)
    else:
        yield from prediction_panels(block)
    metrics = [name for name in REPORT_KINDS[report.roles.kind].forests if name in report.metrics]
    metrics = list(dict.fromkeys([*metrics, *([] if report.best is None else [report.best])]))
    yield from interval_panels(block, metrics)
    yield from difference_panels(block, metrics)


def _score_panels(report: ReportData, block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of scores, the chosen thresholds marked."""
    yield from _curve_panels(block, costs)
    counted = [(k, model, model.counts) for k, model in enumerate(block.models) if model.counts is not None]
    if counted and all(style.is_drawable(counts.thresholds[1:][[0, -1]]) for *_, counts in counted):
        yield "scores", [_score_panel(*each) for each in counted]
    measured = [(k, model, model.cells) for k, model in enumerate(block.models) if model.cells is not None]
    if measured:
        yield "confusion", [_confusion_panel(*each, report.pos_label) for each in measured]


def interval_panels(block: Any, metrics: Sequence[str]) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the intervals of metrics of a block of any report, if it has some."""
    if block.intervals is not None and block.intervals.models:
        yield "intervals", [_interval_panel(block, metric) for metric in metrics]


def difference_panels(block: Any, metrics: Sequence[str]) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the differences of the models of a block of any report, if it has some: of many those with the best."""
    pairs = [] if block.intervals is None else list(block.intervals.differences)
    best = block.best[metrics[0]]
    if len(pairs) > MOST_PAIRS and best:
        pairs = [pair for pair in pairs if best[0] in (pair.model, pair.reference)]
    if pairs:
        yield "differences", [_difference_panel(pairs, metric) for metric in metrics if metric in pairs[0].metrics]


def _curve_panels(block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, list[Panel]]]:
    models = [model for model in block.models if model.counts is not None]
    if not models:
        return
    metrics = {model.name: model.metrics for model in models}
    available = {
        "counts": True,
        "probabilities": all(model.calibration is not None for model in models),
        "costs": costs is not None,
    }
    for name, kind in KINDS.items():
        if available[kind.needs]:
            picture = Picture(metrics=metrics)
            kind.draw(picture, [(model.name, kind.curve(model, costs or {})) for model in models])
            _mark_thresholds(picture, kind, block.models, costs or {})
            yield name, [Panel(None, picture, style.figure_size(kind.size, len(models)))]


def _mark_thresholds(picture: Picture, kind: _Kind, models: Sequence[ModelNumbers], costs: Costs) -> None:
    """Mark where each model is at its threshold: by a point, or a line."""
    for k, model in enumerate(models):
        point, look = kind.place(model, costs), Look.of_place(k)
        if point is None:
            continue
        if kind.as_line:
            picture.add(ThinLines("threshold", [np.array([(point[0], 0.0), (point[0], 1.0)])], look, 1.2, 0.8))
        else:
            picture.add_ring(*point, look, filled=True)
    picture.add_entry("chosen threshold", marker="" if kind.as_line else "o")


def _score_panel(place: int, model: ModelNumbers, counts: ThresholdCounts) -> Panel:
    picture = Picture()
    draw_score_histogram(picture, counts, threshold=None if math.isnan(model.threshold) else model.threshold)
    return Panel(model.name, picture, style.WIDE, place=place)


def _confusion_panel(place: int, model: ModelNumbers, cells: Cells, pos_label: Any) -> Panel:
    picture = Picture()
    positive = format_label(pos_label)
    draw_confusion(picture, np.array([[cells.tn, cells.fp], [cells.fn, cells.tp]]), [f"not {positive}", positive])
    return Panel(f"{model.name} at {model.threshold_shown}", picture, (4.0, 4.4), place=place)


def _interval_panel(block: Any, metric: str) -> Panel:
    """Show the models' values of a metric, the best at the top."""
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
    rows: list[Row] = []
    for model, reference, metrics in pairs:
        rows.append((f"{model} - {reference}", metrics[metric].value, *metrics[metric].interval))
    picture = Picture()
    draw_forest(picture, rows, f"Difference of {metric_title(metric)}", 0.0)
    return Panel(None, picture, forest_size(len(rows)), is_wide=True)


def group_panels(over: OverValues) -> list[Panel]:
    """Return a panel a model with the metric of each --by value."""
    panels = []
    for place, (name, metrics) in enumerate(over.metrics.items()):
        metric = metrics[over.metric]
        intervals = metric.confidence_intervals
        ends = np.full((len(over.values), 2), np.nan) if intervals is None else intervals
        panels.append(_value_panel(place, name, over.metric, over.values, metric.values, ends, float(metric.mean)))
    return panels


def _value_panel(
    place: int, model: str, metric: str, values: Sequence[Any], numbers: Floats, ends: Floats, mean: float
) -> Panel:
    """Return a model's metric of each --by value, ascending; of many the lowest and the highest. NaN is left out."""
    order = [k for k in np.argsort(numbers, kind="stable").tolist() if math.isfinite(numbers[k])]
    if len(order) > MOST_VALUES:
        order = [*order[: MOST_VALUES // 2], *order[-MOST_VALUES // 2 :]]
    rows: list[Row] = [(format_label(values[k]), float(numbers[k]), *ends[k].tolist()) for k in order]
    picture = Picture()
    reference = None if math.isnan(mean) else mean
    draw_forest(picture, rows, f"{metric_title(metric)} of {printable(model)}", reference)
    return Panel(model, picture, forest_size(len(rows)), is_wide=True, place=place)
