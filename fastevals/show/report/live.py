"""The numbers that follow the threshold on a page, and the points from which `page.js` computes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import format_number
from fastevals.counts import ThresholdCounts
from fastevals.document.document import PAGE, Cell, Row, Table
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import SCORE_METRICS
from fastevals.show.report.data import ModelNumbers, ReportBlock, ReportData
from fastevals.show.report.points import chosen

Floats = NDArray[np.float64]

DIGITS = range(3, 17)  # significant digits of a threshold
NO_THRESHOLD = "none: predict no row positive"  # where the threshold is infinite
# The metrics that `page.js` recomputes when the threshold moves.
LIVE = ("recall", "precision", "false_positive_rate", "specificity", "accuracy", "f1", "matthews")


def threshold_note(report: ReportData) -> str:
    """Say at which thresholds the report's own numbers are."""
    if report.best is None:
        none = report.threshold == math.inf
        return "at no threshold" if none else f"at {report.threshold:g}, the same for every model"
    best = "highest" if SCORE_METRICS[report.best].greater_is_better else "lowest"
    return f"at each model's threshold of {best} {SCORE_METRICS[report.best].title}"


def threshold_text(model: ModelNumbers) -> str:
    """Return a model's threshold as pages show it."""
    return NO_THRESHOLD if model.threshold == math.inf else model.threshold_shown


def live_table(block: ReportBlock, note: str) -> Table:
    """Return the numbers at the thresholds that the note describes; `page.js` finds them by name."""
    rows = []
    for place, model in enumerate(block.models):
        cells = dict.fromkeys(("tp", "fp", "fn", "tn"), "-")
        if model.cells is not None:
            cells = {name: f"{value:,}" for name, value in model.cells._asdict().items()}
        metrics = {name: format_number(model.metrics[name]) for name in LIVE}
        values = {"threshold": threshold_text(model), **{name: cells[name] for name in ("tp", "fp", "fn", "tn")}}
        values |= {**metrics, "cost": format_number(model.metrics["expected_cost"]), "least": "", "holds": ""}
        rows.append(Row(model.name, [Cell(text, name) for name, text in values.items()], place))
    titles = ["threshold", "TP", "FP", "FN", "TN", *(SCORE_METRICS[name].title for name in LIVE), "cost"]
    columns = ["Model", *titles, "least cost at", "best for priors"]
    return Table("live", "Counts and rates", columns, rows, only=PAGE, note=note)


# Points ---------------------------------------------------------------------------------------------------------------


def live_points(report: ReportData, shown: Sequence[ReportBlock]) -> dict[str, Any]:
    """Return the possible thresholds by block, of those that pages show, and by model."""
    blocks = [block_points(block) for block in shown if any(model.counts for model in block.models)]
    drawn = (each for each in CURVES.values() if each.in_reports)
    places = {each.name: list(filter(None, (each.x.number, each.y.number))) for each in drawn}
    return {"costs": report.costs or {}, "none": NO_THRESHOLD, "places": places, "blocks": blocks}


def block_points(block: ReportBlock) -> dict[str, Any]:
    """Return each model's counts at the possible thresholds, as differences between successive rows."""
    return {
        "share": block.positive_share,
        "models": [_model_points(model, model.counts) for model in block.models if model.counts is not None],
    }


def _model_points(model: ModelNumbers, counts: ThresholdCounts) -> dict[str, Any]:
    rows = chosen(counts, hull(counts), [model.threshold])
    few, below = counts.take(rows), model.below
    assert below is not None
    # If all thresholds are kept, each is a score with all its digits; otherwise a few digits are enough.
    are_all = rows.size == counts.thresholds.size and bool((below[:-1] == counts.thresholds[1:]).all())
    thresholds = few.thresholds[1:].astype(np.float64)
    if not are_all:
        thresholds = _shortened(thresholds, below[rows][1:].astype(np.float64), model.threshold)
    at = None if math.isnan(model.threshold) else int(few.rows_at_least(np.asarray(model.threshold)))
    return {
        "name": model.name,
        "at": at,
        "threshold": model.threshold if math.isfinite(model.threshold) else None,
        "shown": threshold_text(model),
        "whole": are_all,
        "t": thresholds.tolist(),
        "tp": _steps(few.tps),
        "fp": _steps(few.fps),
    }


def _steps(counts: NDArray[Any]) -> list[int | float]:
    steps: list[int | float] = np.diff(counts).tolist()
    return [int(step) if float(step).is_integer() else step for step in steps]


def _shortened(values: Floats, below: Floats, exact: float) -> Floats:
    """Shorten thresholds as far as the same rows are predicted positive; keep `exact` as it is."""
    short, is_long = values.copy(), values != exact
    for digits in DIGITS:
        rest = np.flatnonzero(is_long)
        rounded = np.array([float(f"{value:.{digits}g}") for value in values[rest].tolist()])
        size = np.abs(values[rest])
        magnitude = np.floor(np.log10(size, where=size > 0, out=np.zeros(rest.size)))
        with np.errstate(over="ignore"):  # a summary's last threshold is below all scores
            rounded = np.where(rounded > values[rest], rounded - 10.0 ** (magnitude + 1 - digits), rounded)
        rounded = np.array([float(f"{value:.{digits}g}") for value in rounded.tolist()])
        fits = (rounded <= values[rest]) & (rounded > below[rest])
        short[rest[fits]] = rounded[fits]
        is_long[rest[fits]] = False
    return short
