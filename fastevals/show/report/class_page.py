"""The section of a page in which a reader chooses a class: its curves against the rest, which follow the threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fastevals._text import format_label, printable
from fastevals.document.document import PAGE, Caption, Figures, Part, Section, Sentence
from fastevals.document.picture import AxisScale, Look, Panel, Picture, ThinLines
from fastevals.infer.proportions import share_interval
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import check_confidence_level
from fastevals.show.pictures import CAPTIONS
from fastevals.show.plots import style
from fastevals.show.plots.classes import ClassModels
from fastevals.show.plots.models import label_of, number
from fastevals.show.plots.rates import UNIT, draw_rates
from fastevals.show.report.data import ModelNumbers, ReportBlock, ReportData
from fastevals.show.report.each_class import BEST, CLASS_CURVES, MOST_LISTED
from fastevals.show.report.kinds import AVERAGE_CURVES, AVERAGES_DRAWN
from fastevals.show.report.live import block_points, live_table
from fastevals.show.report.notes import all_blocks

NOTE = f"at each model's threshold of highest {SCORE_METRICS[BEST].title} for the class"
CHOICE = "Class"
PREDICTED = "calibration"
CLASS_CAPTIONS: Mapping[str, Caption] = {
    "roc": Caption("ROC of the class", "dashed: chance"),
    "precision_recall": Caption("Precision and recall of the class", "dashed: chance"),
    "gain": Caption("Gain of the class", "dashed: chance; dotted: perfect"),
    PREDICTED: Caption(
        "Predicted and observed",
        "share of the class in ten equal-width bins of its probability, with intervals; dashed: equal",
    ),
}


def class_section(report: ReportData) -> list[Section]:
    """Return the section of the classes, if there are any: it has the first until the reader chooses another."""
    blocks = class_blocks(report)
    if not blocks:
        return []
    parts: list[Part] = [
        *(Sentence(text, "note", PAGE) for text in _notes(report, blocks)),
        live_table(blocks[0], NOTE)._replace(only=PAGE),
        Figures(lambda: class_panels(blocks[0], _level(report)), {**CAPTIONS, **CLASS_CAPTIONS}),
    ]
    return [Section(parts, "Each class against the rest", _described(blocks[0]))]


def class_blocks(report: ReportData) -> list[ReportBlock]:
    """Return a block for each class that a page has, in the order of its list."""
    block = next((each for each in all_blocks(report) if any(model.each_class for model in each.models)), None)
    if block is None or report.labels is None:
        return []
    found = []
    for k in block.models[0].each_class:
        models = tuple(model.each_class[k] for model in block.models)
        counts = models[0].counts
        assert counts is not None
        share = float(counts.n_pos / (counts.n_pos + counts.n_neg))
        matrix = None if block.models[0].classes is None else block.models[0].classes.matrix
        n_positives = 0 if matrix is None else matrix.counts[k].sum().item()
        found.append(
            ReportBlock(
                report.labels[k], block.n_samples, block.total_weight, models, {}, n_positives=n_positives,
                positive_share=share,
            )
        )  # fmt: skip
    return found


def _notes(report: ReportData, blocks: Sequence[ReportBlock]) -> Iterator[str]:
    n, listed = len(report.labels or ()), len(blocks)
    if listed < n:
        which = f"the {listed} with the lowest mean AUC" if n > MOST_LISTED else f"the {listed} with an AUC"
        yield f"The list has {which} of the {n} classes."
    sizes = [model.counts.thresholds.size - 1 for block in blocks for model in block.models if model.counts is not None]
    yield (
        f"Rows with at least the threshold's probability of the class are predicted to be of the class. Curves and "
        f"thresholds are thinned to at most {max(sizes)} per model."
    )


def _level(report: ReportData) -> float | None:
    """Return the level of the intervals of bins, which are for independent rows; None without intervals."""
    return None if report.plan is None or report.roles.groups is not None else report.plan.confidence_level


def _described(block: ReportBlock) -> str:
    """Return a class as the list shows it: its label, rows, and AUC of each model."""
    share = f"{block.n_positives:,} of {block.n_samples:,} rows"
    if block.total_weight is not None:
        share = f"{100 * block.positive_share:.3g} % of the weight"
    aucs = ", ".join(f"{model.metrics['roc_auc']:.3f}" for model in block.models)
    return f"{printable(format_label(block.value))}: {share}, AUC {aucs}"


# Pictures -------------------------------------------------------------------------------------------------------------


def class_panels(block: ReportBlock, level: float | None) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of a class by name; bins have intervals if a level is given."""
    size = style.figure_size(style.SQUARE, len(block.models))
    for name in CLASS_CURVES:
        entry, picture = CURVES[name], Picture(metrics={model.name: model.metrics for model in block.models})
        draw_rates(entry, picture, [(model.name, entry.of_counts(model.counts)) for model in block.models], marks=False)
        for k, model in enumerate(block.models):
            x, y = (_at_threshold(model, axis.number) for axis in (entry.x, entry.y))
            picture.add_ring(x, y, Look.of_place(k), filled=True)
        yield name, [Panel(None, picture, size)]
    yield PREDICTED, [Panel(None, _predicted_and_observed(block, level), size)]


def _predicted_and_observed(block: ReportBlock, level: float | None) -> Picture:
    picture = Picture()
    picture.add_reference([0, 1], [0, 1], "equal")
    for model, title in zip(block.models, _titles(block)[PREDICTED], strict=True):
        look = picture.next_look()
        x, y, low, high = np.array(_bins(model, level), dtype=np.float64).reshape(-1, 4).T
        ends = [np.array([(at, a), (at, b)]) for at, a, b in zip(x, low, high, strict=True) if not math.isnan(a)]
        picture.add(ThinLines("intervals", ends, look, 1.2))
        picture.add_curve(x, y, title, look, ringed=True)
        picture.add(ThinLines("threshold", [np.array([(model.threshold, 0.0), (model.threshold, 1.0)])], look, 1.2))
    picture.x, picture.y = AxisScale("Mean predicted probability", *UNIT), AxisScale("Share of the class", *UNIT)
    picture.equal = True
    return picture


def all_classes_panels(report: ReportData, block: ReportBlock) -> Iterator[tuple[str, list[Panel]]]:
    """Yield pictures of all classes with their averages, one panel for each model; none if a class is undefined."""
    labels = [format_label(label) for label in report.labels or ()]
    are_whole = all(set(range(len(labels))) == set(model.each_class) for model in block.models)
    for name in AVERAGE_CURVES if are_whole else ():
        entry, panels = CURVES[name], []
        for model in block.models:
            averages = [(each, model.curves[f"{each} {name}"]) for each in AVERAGES_DRAWN]
            counts = [model.each_class[k].counts for k in range(len(labels))]
            curves = ClassModels.of_curves(
                averages, [(label, entry.of_counts(each)) for label, each in zip(labels, counts, strict=True)]
            )
            metrics = {label: model.each_class[k].metrics for k, label in enumerate(labels)}
            draw, picture = partial(draw_rates, entry, marks=False), Picture(metrics=metrics)
            curves.add_others(picture, draw)
            draw(picture, curves)
            panels.append(Panel(model.name, picture, style.figure_size(style.SQUARE, len(curves) + 2)))
        yield f"classes_{name}", panels


def _at_threshold(model: ModelNumbers, name: str) -> float:
    assert model.cells is not None
    tp, fp, fn, tn = model.cells
    return float((tp + fp) / (tp + fp + fn + tn)) if name == "share" else model.metrics[name]


def _bins(model: ModelNumbers, level: float | None) -> list[list[float | None]]:
    """Return the mean probability, the share of the class, and Wilson's interval for each bin that has rows.

    Without a level, or with row weights, intervals are None.
    """
    curve = model.curves[PREDICTED]
    filled = curve.counts > 0
    predicted, observed, n = (
        each[filled] for each in (curve.mean_predicted, curve.fraction_of_positives, curve.counts)
    )
    low = high = np.full(n.size, np.nan)
    if level is not None and n.dtype.kind != "f":
        right = np.rint(observed * n)
        low, high = share_interval(right, n - right, "wilson", check_confidence_level(level)[1], "two-sided")
    columns = np.stack([predicted, observed, low, high], axis=1).round(4)
    return [[None if math.isnan(each) else each for each in row] for row in columns.tolist()]


def _titles(block: ReportBlock) -> dict[str, list[str]]:
    """Return the words for each model's curve in each picture."""
    titles = {name: [label_of(model.name, *_area(name, model)) for model in block.models] for name in CLASS_CURVES}
    errors = [model.curves[PREDICTED].expected_calibration_error for model in block.models]
    titles[PREDICTED] = [
        label_of(model.name, number("ECE", each)) for model, each in zip(block.models, errors, strict=True)
    ]
    return titles


def _area(name: str, model: ModelNumbers) -> list[str]:
    entry = CURVES[name]
    area = model.metrics.get(entry.area_metric)
    if area is None:
        area = entry.of_counts(model.counts).area
    return [number(entry.area, area)]


# Points ---------------------------------------------------------------------------------------------------------------


def class_points(report: ReportData, place: int) -> dict[str, Any]:
    """Return the points from which `page.js` draws the chosen class, for the block at a place; none without classes."""
    blocks = class_blocks(report)
    if not blocks:
        return {}
    level = _level(report)
    lines = {name: [(line.x, line.y) for line in CURVES[name].lines] for name in CLASS_CURVES}
    return {
        "pick": {
            "name": CHOICE,
            "block": place,
            "lines": {**lines, PREDICTED: [((0, 1), (0, 1))]},
            "options": [_described(block) for block in blocks],
            "blocks": [
                {
                    **block_points(block),
                    "titles": _titles(block),
                    "bins": [_bins(model, level) for model in block.models],
                }
                for block in blocks
            ],
        }
    }
