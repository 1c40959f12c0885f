"""The page and the pictures of a report of predicted classes or numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._naming import option
from fastevals._text import describe_block, format_label, printable, shorten_name, shorten_names
from fastevals.document.document import AnyCell, Cell, Count, Number, Row, Table
from fastevals.document.page.page import Block, Page, extremes, figures, values_title
from fastevals.document.picture import AxisScale, Outline, Panel, Picture
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.results import Interval
from fastevals.show.output import BlockPictures
from fastevals.show.plots import style
from fastevals.show.plots.confusion import MOST_CLASSES, draw_confusion
from fastevals.show.plots.models import label_of
from fastevals.show.predicted import EACH_CLASS
from fastevals.show.report.data import ErrorShape, ModelNumbers, OfClasses, ReportBlock, ReportData
from fastevals.show.report.intervals import metric_title
from fastevals.show.report.json import report_values
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.pictures import difference_panels, group_panels, interval_panels
from fastevals.show.report.predictions import (
    cautions,
    describe,
    describe_rows,
    flat_classes,
    wilson_note,
)
from fastevals.show.tables import difference_rows, metric_rows
from fastevals.show.verdict import INDEPENDENT, ComparedModels, best_sentence, level_sentence, next_sentence

# Metrics with pictures of intervals and differences, of those that a report has: no table leaves room for all.
FORESTS = ("accuracy", "f1", "F1 (macro)", "root_mean_squared_error", "mean_absolute_error", "r2")
NAMES = ("confusion", "errors", "within", "means", "intervals", "differences", "groups")


def prediction_page(report: ReportData) -> Page:
    """Return what the page of a report shows."""
    facts = {name: text for name, text in describe(report).items() if name != "*"}
    blocks = [_block(report, block, k) for k, block in enumerate(report.blocks)]
    after = None if report.over is None else _after(report, report.over)
    return Page("report", report.data, facts, report.roles.models, blocks, report_values(report), after=after)


def prediction_pictures(report: ReportData) -> BlockPictures:
    """Return what `--out` draws of a report."""
    by, blocks = report.roles.by, report.blocks
    reason = "" if blocks else f"more values of {printable(str(by))} than have a block each"
    of_all = [] if report.over is None else [("groups", group_panels(report.over))]
    values = [block.value for block in blocks]
    return BlockPictures(NAMES, by, values, lambda k: _panels(report, blocks[k]), reason, of_all)


def _block(report: ReportData, block: ReportBlock, k: int) -> Block:
    metrics = [name for name in report.metrics if not all(math.isnan(model.metrics[name]) for model in block.models)]
    titles = list(map(metric_title, metrics))
    tables = [Table("metrics", "Metrics", ["Model", *titles], metric_rows(block, metrics))]
    if report.roles.kind == "labels":
        tables.append(_class_table(block))
    if block.intervals is not None and block.intervals.differences:
        rows = difference_rows(block.intervals.differences, metrics)
        tables.append(Table("differences", "Differences of models", ["Models", *titles], rows))
    notes = cautions(report, block)
    if block.intervals is not None and report.roles.groups is None:
        notes = [INDEPENDENT.format(option("groups")), *notes]
    return Block(
        "" if report.roles.by is None else describe_block(report.roles.by, block.value),
        describe_rows(block),
        _verdict(report, block),
        notes,
        list(figures(_panels(report, block), f"b{k}")),
        tables,
    )


def _verdict(report: ReportData, block: ReportBlock) -> list[str]:
    models = ComparedModels({model.name: model.metrics for model in block.models}, block.intervals)
    ranked_by = next(
        (name for name in ("f1", "F1 (macro)", *FORESTS) if name in report.metrics and models.best(name)), None
    )
    if ranked_by is None:
        return ["Nothing that models are ranked by is defined here."]
    said = [best_sentence(models, ranked_by)]
    if len(models.best(ranked_by)) > 1:
        others = [name for name in report.metrics if name != ranked_by]
        said.append(next_sentence(models, ranked_by, others))
        said.append(level_sentence(block.intervals, None if report.plan is None else report.plan.confidence_level))
    return list(filter(None, said))


def _class_table(block: ReportBlock) -> Table:
    """Return a row a class, with the metrics of each model: nothing of one that neither the truth nor a model has."""
    models = [(model, model.classes) for model in block.models if model.classes is not None]
    several = len(models) > 1
    rows_of: dict[Any, float] = {}
    rank: dict[str, dict[Any, int]] = {}  # of a label, by model
    columns, places = ["Class", "rows"], [-1]
    for place, (model, classes) in enumerate(models):
        for name in EACH_CLASS:
            of_model = f" of {shorten_name(printable(model.name))}" if several else ""
            columns.append(f"{metric_title(name)}{of_model}")
            places.append(place if several else -1)
        labels, sizes = classes.matrix.labels.tolist(), classes.matrix.counts.sum(axis=1).tolist()
        rows_of |= dict(zip(labels, sizes, strict=True))
        rank[model.name] = {label: k for k, label in enumerate(labels)}
    rows = []
    for label in sorted(rows_of) if several else rows_of:
        cells: list[AnyCell] = [Count(rows_of[label])]
        for model, classes in models:
            k = rank[model.name].get(label)
            cells += [Cell("") if k is None else _class_cell(classes, name, k) for name in EACH_CLASS]
        rows.append(Row(format_label(label), cells))
    return Table("classes", "Classes", columns, rows, places)


def _class_cell(classes: OfClasses, name: str, k: int) -> Cell:
    ends: Any = classes.intervals.get(name)
    interval = None if ends is None else Interval(float(ends.low[k]), float(ends.high[k]))
    cell = Number(float(classes.metrics[name][k]), interval).on_page()
    if name not in flat_classes(classes).get(k, ()):
        return cell
    return cell._replace(notes=(*cell.notes, wilson_note(classes, name, k) or "no width"))


def _after(report: ReportData, over: OverValues) -> Block:
    """Return the values of the --by column, in a table and in pictures."""
    rows = []
    metrics = [each[over.metric] for each in over.metrics.values()]
    shown = extremes(metrics[0].values)
    for k in shown:
        value = over.values[k]
        cells: list[AnyCell] = [Count(int(metrics[0].n_samples[k]))]
        for metric in metrics:
            ends = metric.confidence_intervals
            cells.append(Number(float(metric.values[k]), None if ends is None else Interval(*ends[k].tolist())))
        rows.append(Row(format_label(value), cells))
    by, title = str(report.roles.by), metric_title(over.metric)
    columns = [by, "rows", *(f"{title} of {name}" for name in shorten_names(over.metrics))]
    places = [-1, *range(len(metrics))]
    table = Table("values", values_title(len(shown), len(over.values)), columns, rows, places)
    pictures = list(figures([("groups", group_panels(over))], "over"))
    return Block(f"Values of {printable(by)}", figures=pictures, tables=[table])


# Pictures -------------------------------------------------------------------------------------------------------------


def _panels(report: ReportData, block: ReportBlock) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block by name."""
    matrices = [(k, model.name, model.classes.matrix) for k, model in enumerate(block.models) if model.classes]
    if matrices and matrices[0][2].labels.size <= MOST_CLASSES:
        yield "confusion", [_confusion_panel(*each) for each in matrices]
    shaped = [(model, model.errors) for model in block.models if model.errors is not None]
    if shaped and all(style.is_drawable([*shape.edges, *shape.predicted, *shape.observed]) for _, shape in shaped):
        draw: dict[str, Callable[..., None]] = {"errors": _draw_errors, "within": _draw_within, "means": _draw_means}
        for name, each in draw.items():
            picture = Picture()
            each(picture, shaped)
            size = style.SQUARE if picture.equal else style.WIDE
            yield name, [Panel(None, picture, style.figure_size(size, len(shaped)))]
    metrics = [name for name in FORESTS if name in report.metrics]
    yield from interval_panels(block, metrics)
    yield from difference_panels(block, metrics)


def _confusion_panel(place: int, model: str, matrix: ConfusionMatrix) -> Panel:
    picture = Picture()
    draw_confusion(picture, matrix.counts, [format_label(label) for label in matrix.labels.tolist()])
    side = max(4.2, min(1.5 + 0.45 * matrix.labels.size, 12.0))
    return Panel(model, picture, (side, side), place=place)


def _draw_errors(picture: Picture, models: Sequence[tuple[ModelNumbers, ErrorShape]]) -> None:
    """Add a histogram of each model's errors."""
    for model, shape in models:
        look = picture.next_look()
        picture.add_curve([], [], label_of(model.name), look)
        picture.add(Outline(shape.edges, shape.shares, look, label_of(model.name)))
    edges = models[0][1].edges
    top = max(float(shape.shares.max()) for _, shape in models)
    picture.add_reference([0, 0], [0, 1.08 * top], "no error")
    picture.x = AxisScale("Error", edges[0], edges[-1])
    picture.y = AxisScale("Share of rows", 0.0, 1.08 * top)


def _draw_within(picture: Picture, models: Sequence[tuple[ModelNumbers, ErrorShape]]) -> None:
    """Add each model's share of rows with errors of at most a size: its regression error characteristic.

    Source: Bi and Bennett (2003), Regression Error Characteristic Curves, ICML, 43-50.
    """
    farthest = max(float(np.interp(0.98, shape.within, shape.sizes)) for _, shape in models) or 1.0
    for model, shape in models:
        x, y = np.append(0.0, shape.sizes), np.append(0.0, shape.within)
        picture.add_curve(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], label_of(model.name), picture.next_look())
    picture.x, picture.y = AxisScale("Size of the error", 0.0, farthest), AxisScale("Share of rows within", 0.0, 1.02)
    picture.legend = "lower right"


def _draw_means(picture: Picture, models: Sequence[tuple[ModelNumbers, ErrorShape]]) -> None:
    """Add the mean target over the mean prediction of each tenth of the rows."""
    every = np.concatenate([np.append(shape.predicted, shape.observed) for _, shape in models])
    low, high = float(every.min()), float(every.max())
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - room, high + room
    picture.add_reference([low, high], [low, high], "equal")
    for model, shape in models:
        picture.add_curve(shape.predicted, shape.observed, label_of(model.name), picture.next_look(), ringed=True)
    picture.x = AxisScale("Mean prediction of each tenth of the rows", low, high)
    picture.y = AxisScale("Mean target", low, high)
    picture.equal, picture.legend = True, "upper left"
