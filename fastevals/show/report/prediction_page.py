"""The page and the pictures of a report of predicted classes or numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._naming import option
from fastevals._text import describe_block, format_label, printable, shorten_name, shorten_names
from fastevals.document.page.page import (
    Block,
    Cell,
    Page,
    Table,
    TableRow,
    count,
    extremes,
    figures,
    number,
    values_title,
)
from fastevals.document.picture import AxisScale, Outline, Panel, Picture
from fastevals.results import Interval
from fastevals.show.output import BlockPictures
from fastevals.show.plots import style
from fastevals.show.plots.confusion import MOST_CLASSES, draw_confusion
from fastevals.show.plots.models import label_of
from fastevals.show.predicted import EACH_CLASS
from fastevals.show.report.data import (
    CLASSES,
    ErrorShape,
    PredictedModel,
    PredictionBlock,
    PredictionReportData,
    ValueTable,
)
from fastevals.show.report.intervals import metric_title
from fastevals.show.report.pictures import difference_panels, interval_panels, value_panel
from fastevals.show.report.predictions import (
    cautions,
    describe,
    describe_rows,
    flat_classes,
    prediction_values,
    wilson_note,
)
from fastevals.show.tables import difference_rows, metric_rows
from fastevals.show.verdict import INDEPENDENT, ComparedModels, best_sentence, level_sentence, next_sentence

# Metrics with pictures of intervals and differences, of those that a report has: no table leaves room for all.
FORESTS = ("accuracy", "f1", "F1 (macro)", "root_mean_squared_error", "mean_absolute_error", "r2")
NAMES = ("confusion", "errors", "within", "means", "intervals", "differences", "groups")


def prediction_page(report: PredictionReportData) -> Page:
    """Return what the page of a report shows."""
    facts = {name: text for name, text in describe(report).items() if name != "*"}
    blocks = [_block(report, block, k) for k, block in enumerate(report.blocks)]
    after = None if report.over is None else _after(report, report.over)
    return Page("report", report.data, facts, report.roles.models, blocks, prediction_values(report), after=after)


def prediction_pictures(report: PredictionReportData) -> BlockPictures:
    """Return what `--out` draws of a report."""
    by, blocks = report.roles.by, report.blocks
    reason = "" if blocks else f"more values of {printable(str(by))} than have a block each"
    of_all = [] if report.over is None else [("groups", _group_panels(report.over))]
    values = [block.value for block in blocks]
    return BlockPictures(NAMES, by, values, lambda k: _panels(report, blocks[k]), reason, of_all)


def _block(report: PredictionReportData, block: PredictionBlock, k: int) -> Block:
    metrics = [name for name in report.metrics if not all(math.isnan(model.metrics[name]) for model in block.models)]
    titles = list(map(metric_title, metrics))
    tables = [Table("metrics", "Metrics", ["Model", *titles], metric_rows(block, metrics))]
    if report.kind == CLASSES:
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


def _verdict(report: PredictionReportData, block: PredictionBlock) -> list[str]:
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


def _class_table(block: PredictionBlock) -> Table:
    """Return a row a class, with the metrics of each model: nothing of one that neither the truth nor a model has."""
    matrices = [(model, model.matrix) for model in block.models if model.matrix is not None]
    several = len(matrices) > 1
    rows_of: dict[Any, float] = {}
    rank: dict[str, dict[Any, int]] = {}  # of a label, by model
    columns, places = ["Class", "rows"], [-1]
    for place, (model, matrix) in enumerate(matrices):
        for name in EACH_CLASS:
            of_model = f" of {shorten_name(printable(model.name))}" if several else ""
            columns.append(f"{metric_title(name)}{of_model}")
            places.append(place if several else -1)
        sizes = matrix.counts.sum(axis=1).tolist()
        rows_of |= dict(zip(matrix.labels.tolist(), sizes, strict=True))
        rank[model.name] = {label: k for k, label in enumerate(matrix.labels.tolist())}
    rows = []
    for label in sorted(rows_of) if several else rows_of:
        cells = [count(rows_of[label])]
        for model, _ in matrices:
            k = rank[model.name].get(label)
            cells += [Cell("") if k is None else _class_cell(model, name, k) for name in EACH_CLASS]
        rows.append(TableRow(format_label(label), cells))
    return Table("classes", "Classes", columns, rows, places)


def _class_cell(model: PredictedModel, name: str, k: int) -> Cell:
    ends: Any = model.class_intervals.get(name)
    cell = number(
        float(model.classes[name][k]), None if ends is None else Interval(float(ends.low[k]), float(ends.high[k]))
    )
    if name not in flat_classes(model).get(k, ()):
        return cell
    return cell._replace(notes=(*cell.notes, wilson_note(model, name, k) or "no width"))


def _after(report: PredictionReportData, over: ValueTable) -> Block:
    """Return the values of the --by column, in a table and in pictures."""
    rows = []
    shown = extremes(next(iter(over.of_models.values()))[0])
    for k in shown:
        value, cells = over.values[k], [count(int(over.n_samples[k]))]
        cells += [number(float(numbers[k]), Interval(*ends[k].tolist())) for numbers, ends in over.of_models.values()]
        rows.append(TableRow(format_label(value), cells))
    by, title = str(report.roles.by), metric_title(over.metric)
    columns = [by, "rows", *(f"{title} of {name}" for name in shorten_names(over.of_models))]
    places = [-1, *range(len(over.of_models))]
    table = Table("values", values_title(len(shown), len(over.values)), columns, rows, places)
    pictures = list(figures([("groups", _group_panels(over))], "over"))
    return Block(f"Values of {printable(by)}", figures=pictures, tables=[table])


# Pictures -------------------------------------------------------------------------------------------------------------


def _panels(report: PredictionReportData, block: PredictionBlock) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a block by name."""
    matrices = [(place, model) for place, model in enumerate(block.models) if model.matrix is not None]
    if matrices and matrices[0][1].matrix is not None and matrices[0][1].matrix.labels.size <= MOST_CLASSES:
        yield "confusion", [_confusion_panel(place, model) for place, model in matrices]
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


def _confusion_panel(place: int, model: PredictedModel) -> Panel:
    picture, matrix = Picture(), model.matrix
    assert matrix is not None
    draw_confusion(picture, matrix.counts, [format_label(label) for label in matrix.labels.tolist()])
    side = max(4.2, min(1.5 + 0.45 * matrix.labels.size, 12.0))
    return Panel(model.name, picture, (side, side), place=place)


def _draw_errors(picture: Picture, models: Sequence[tuple[PredictedModel, ErrorShape]]) -> None:
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


def _draw_within(picture: Picture, models: Sequence[tuple[PredictedModel, ErrorShape]]) -> None:
    """Add each model's share of rows with errors of at most a size: its regression error characteristic.

    Source: Bi and Bennett (2003), Regression Error Characteristic Curves, ICML, 43-50.
    """
    farthest = max(float(np.interp(0.98, shape.within, shape.sizes)) for _, shape in models) or 1.0
    for model, shape in models:
        x, y = np.append(0.0, shape.sizes), np.append(0.0, shape.within)
        picture.add_curve(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], label_of(model.name), picture.next_look())
    picture.x, picture.y = AxisScale("Size of the error", 0.0, farthest), AxisScale("Share of rows within", 0.0, 1.02)
    picture.legend = "lower right"


def _draw_means(picture: Picture, models: Sequence[tuple[PredictedModel, ErrorShape]]) -> None:
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


def _group_panels(over: ValueTable) -> list[Panel]:
    """Return a panel a model with the metric of each --by value."""
    panels = []
    for place, (name, (numbers, ends)) in enumerate(over.of_models.items()):
        known = np.isfinite(numbers)
        mean = float(np.average(numbers[known], weights=over.n_samples[known])) if known.any() else math.nan
        panels.append(value_panel(place, name, over.metric, over.values, numbers, ends, mean))
    return panels
