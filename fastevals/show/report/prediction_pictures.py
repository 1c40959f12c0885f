"""The pictures of a report of predictions: confusion matrices for classes, errors for numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._options import UndefinedMetricWarning
from fastevals._text import format_label
from fastevals.document.picture import GREY, AxisScale, Look, Outline, Panel, Picture, ThinLines
from fastevals.infer.bands import confidence_band
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.registry import CURVES
from fastevals.show.plots import style
from fastevals.show.plots.confusion import MOST_CLASSES, MOST_PLAIN, confusion_size, draw_confusion
from fastevals.show.plots.models import Band, add_band, label_of
from fastevals.show.plots.rates import draw_rates, points_of
from fastevals.show.report.data import ErrorShape, ModelNumbers, ReportBlock
from fastevals.show.report.intervals import IntervalPlan
from fastevals.show.report.kinds import AVERAGE_CURVES, AVERAGES_DRAWN

BAND_REPLICATES, BAND_PLACES = 499, 101


def prediction_panels(block: ReportBlock, plan: IntervalPlan | None) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of predictions by name: curves of classes and confusion matrices, or errors."""
    for name in AVERAGE_CURVES:
        if all(f"macro {name}" in model.curves for model in block.models):
            yield f"macro_{name}", [_average_panel(name, block.models, plan)]
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


def _average_panel(name: str, models: Sequence[ModelNumbers], plan: IntervalPlan | None) -> Panel:
    """Return each model's macro curve, with its micro curve as a thin line; ROC curves of few rows have bands."""
    entry, picture = CURVES[name], Picture()
    bands: dict[str, dict[str | None, Band]] = {"macro": {}, "micro": {}}
    if name == "roc" and plan is not None:
        bands = {average: _bands(average, models, plan) for average in AVERAGES_DRAWN}
    for k, model in enumerate(models):
        look = Look.of_place(k)
        micro = model.curves[f"micro {name}"]
        add_band(picture, bands["micro"].get(model.name), look)
        path = np.stack(points_of(entry, micro.counts, picture.columns), axis=1)
        picture.add(ThinLines("micro", [path], look, 0.8))
    macro = [(model.name, model.curves[f"macro {name}"]) for model in models]
    draw_rates(entry, picture, macro, marks=False, bands=bands["macro"])
    picture.add_entry("thin lines: micro average", GREY, "none")
    return Panel(None, picture, style.figure_size(style.SQUARE, len(models)))


def _bands(average: Any, models: Sequence[ModelNumbers], plan: IntervalPlan) -> dict[str | None, Band]:
    """Return the simultaneous band of each model's average ROC curve, if its rows were kept."""
    options: dict[str, Any] = {"n_resamples": BAND_REPLICATES, "rng": plan.seed, "at": np.linspace(0, 1, BAND_PLACES)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # replicates without a rare class are left out
        return {
            model.name: confidence_band(
                model.curves["classes"], average=average, confidence_level=plan.confidence_level, **options
            )
            for model in models
            if "classes" in model.curves
        }


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
