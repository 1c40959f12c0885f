"""The pictures of a report of predictions: confusion matrices for classes, errors for numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._text import format_label
from fastevals.document.picture import AxisScale, Outline, Panel, Picture
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.registry import CURVES
from fastevals.show.plots import style
from fastevals.show.plots.confusion import MOST_CLASSES, MOST_PLAIN, confusion_size, draw_confusion
from fastevals.show.plots.models import label_of
from fastevals.show.plots.rates import draw_rates
from fastevals.show.report.data import ErrorShape, ModelNumbers, ReportBlock
from fastevals.show.report.kinds import MACRO_CURVES


def prediction_panels(block: ReportBlock) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of predictions by name: curves of classes and confusion matrices, or errors."""
    for name in MACRO_CURVES:
        curves = [(model.name, model.curves[name]) for model in block.models if name in model.curves]
        if len(curves) == len(block.models):
            picture = Picture()
            draw_rates(CURVES[name], picture, curves, marks=False)
            yield f"macro_{name}", [Panel(None, picture, style.figure_size(style.SQUARE, len(curves)))]
    matrices = [(k, model.name, model.classes.matrix) for k, model in enumerate(block.models) if model.classes]
    if matrices and matrices[0][2].labels.size <= MOST_CLASSES:
        first = matrices[0][2].labels
        are_alike = all(np.array_equal(matrix.labels, first) for _, _, matrix in matrices)
        pooled = sum(matrix.counts for _, _, matrix in matrices) if are_alike else None  # one order for all models
        yield "confusion", [_confusion_panel(*each, pooled) for each in matrices]
    shaped = [(model, model.errors) for model in block.models if model.errors is not None]
    if shaped and all(style.is_drawable([*shape.edges, *shape.predicted, *shape.observed]) for _, shape in shaped):
        for name, each in ERRORS.items():
            picture = Picture()
            each(picture, shaped)
            size = style.SQUARE if picture.equal else style.WIDE
            yield name, [Panel(None, picture, style.figure_size(size, len(shaped)))]


def _confusion_panel(place: int, model: str, matrix: ConfusionMatrix, pooled: Any) -> Panel:
    picture = Picture()
    draw_confusion(picture, matrix.counts, [format_label(label) for label in matrix.labels.tolist()], similar=pooled)
    k = matrix.labels.size
    side = max(4.2, 1.5 + 0.45 * k)
    return Panel(model, picture, (side, side) if k <= MOST_PLAIN else confusion_size(k), place=place)


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
    """Add each model's regression error characteristic: the share of rows whose error is at most x.

    Source: Bi and Bennett (2003), Regression Error Characteristic Curves, ICML, 43-50.
    """
    farthest = max(float(np.interp(0.98, shape.within, shape.sizes)) for _, shape in models) or 1.0
    for model, shape in models:
        x, y = np.append(0.0, shape.sizes), np.append(0.0, shape.within)
        picture.add_curve(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], label_of(model.name), picture.next_look())
    picture.x, picture.y = AxisScale("Size of the error", 0.0, farthest), AxisScale("Share of rows within", 0.0, 1.02)
    picture.legend = "lower right"


def _draw_means(picture: Picture, models: Sequence[tuple[ModelNumbers, ErrorShape]]) -> None:
    """Add the mean target against the mean prediction of each tenth of the rows."""
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


ERRORS: dict[str, Callable[..., None]] = {"errors": _draw_errors, "within": _draw_within, "means": _draw_means}
