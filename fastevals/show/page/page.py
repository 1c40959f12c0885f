"""The page of a report: what is written into the template, and the points that its script moves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._options import import_optional
from fastevals._text import describe_block, format_label, format_number, printable
from fastevals.counts import ThresholdCounts
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import SCORE_METRICS
from fastevals.show.commands import NO_JINJA
from fastevals.show.page.svg import draw
from fastevals.show.plots.picture import COLORS
from fastevals.show.report.intervals import (
    AUC,
    PROBABILITY_COLUMNS,
    RANKING_COLUMNS,
    ModelPair,
    cells_columns,
)
from fastevals.show.report.pictures import Panel, block_panels, group_panels
from fastevals.show.report.points import chosen
from fastevals.show.report.report import ModelNumbers, Report, ReportBlock
from fastevals.show.report.text import block_cautions, describe, over_cautions
from fastevals.show.report.verdict import cautions, verdict, verdict_over

Floats = NDArray[np.float64]

FOLDER = Path(__file__).parent
DIGITS = range(3, 17)  # of a threshold

CAPTIONS = {
    "roc": ("ROC", "dashed: chance; dotted: equal error rates, a ring where a model has them"),
    "precision_recall": ("Precision and recall", "dashed: chance; dotted: precision = recall"),
    "det": ("DET", "error rates on normal deviates; dotted: equal error rates"),
    "gain": ("Gain", "dashed: chance; dotted: perfect"),
    "lift": ("Lift", "dashed: chance"),
    "cost": ("Cost", "dashed: always positive; dotted: always negative; bars: where a model is worth using"),
    "cost_over_prior": ("Cost over the prior", "dashed: always positive; dotted: always negative"),
    "calibration": ("Calibration", "dashed: perfect; below how many rows each bin has"),
    "decision": ("Net benefit", "dashed: treat all; dotted: treat none"),
    "scores": ("Scores", "of positives (orange) and negatives (blue), as shares of each"),
    "confusion": ("Confusion matrix", "counts, and shares of the true class"),
    "intervals": ("Metrics and their intervals", "the best at the top"),
    "differences": ("Differences of models", "orange: the interval leaves out zero"),
    "groups": ("AUC by group", "dashed: the mean"),
}
LIVE = ("recall", "precision", "false_positive_rate", "specificity", "accuracy", "f1", "matthews")


def report_page(report: Report, command: str | None = None) -> str:
    """Return a report as a page of HTML that needs nothing else.

    Parameters
    ----------
    report : Report
    command : str, optional
        That made it.

    Raises
    ------
    ImportError
        Without Jinja2.
    """
    blocks = [_block(report, block, k) for k, block in enumerate(report.blocks)]
    live = {
        "costs": report.costs or {},
        "blocks": [_points(block) for block in report.blocks if any(model.counts for model in block.models)],
    }
    return _template().render(  # type: ignore[no-any-return]
        title=printable(report.data),
        facts=describe(report),
        version=__version__,
        command=command,
        models=[{"name": printable(name), "place": k} for k, name in enumerate(report.roles.scores)],
        n_colors=len(COLORS),
        blocks=blocks,
        over=_over(report),
        live_metrics=[(name, SCORE_METRICS[name].title) for name in LIVE],
        json=_embedded(report.to_dict()),
        live=_embedded(live),
        css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        script=(FOLDER / "page.js").read_text(encoding="utf-8"),
    )


@cache
def _template() -> Any:
    jinja2 = import_optional("jinja2", NO_JINJA)
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("page.html.jinja")


def _embedded(value: Any) -> str:
    """Return JSON that may stand in a script element: no text in it ends that."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# A block --------------------------------------------------------------------------------------------------------------


def _block(report: Report, block: ReportBlock, k: int) -> dict[str, Any]:
    """Return what the template shows of a block."""
    heading = "" if report.roles.by is None else describe_block(report.roles.by, block.value)
    columns = [*RANKING_COLUMNS, *PROBABILITY_COLUMNS, *cells_columns(report.best, report.costs)]
    columns = [name for name in columns if not all(math.isnan(model.metrics[name]) for model in block.models)]
    with_costs = report if report.costs is not None else replace(report, costs={"cost_fp": 1.0, "cost_fn": 1.0})
    return {
        "heading": heading,
        "rows": f"{block.n_samples:,} rows, {block.n_positives:,} positive",
        "verdict": verdict(report, block),
        "cautions": [*cautions(report, block), *block_cautions(report, block)],
        "columns": [(name, SCORE_METRICS[name].title) for name in columns],
        "models": [_model(block, model, columns, place) for place, model in enumerate(block.models)],
        "differences": [_pair(pair, columns) for pair in _all_pairs(block)],
        "against": [_pair(pair, columns) for pair in block.against],
        "figures": [
            figure for name, panels in block_panels(with_costs, block) for figure in _figures(name, panels, f"b{k}")
        ],
    }


def _all_pairs(block: ReportBlock) -> Sequence[ModelPair]:
    return () if block.intervals is None else block.intervals.differences


def _model(block: ReportBlock, model: ModelNumbers, columns: Sequence[str], place: int) -> dict[str, Any]:
    intervals = {} if block.intervals is None else block.intervals.models.get(model.name, {})
    cells = model.cells
    return {
        "name": printable(model.name),
        "place": place,
        "threshold": model.threshold_shown,
        "cells": None if cells is None else {name: f"{value:,}" for name, value in cells._asdict().items()},
        "live": {name: format_number(model.metrics[name]) for name in LIVE},
        "cost": format_number(model.metrics["expected_cost"]),
        "numbers": [
            {
                "value": format_number(model.metrics[name]),
                "exact": repr(model.metrics[name]),
                "interval": _ends(intervals.get(name)),
                "best": model.name in block.best[name] and len(block.models) > 1,
            }
            for name in columns
        ],
    }


def _ends(interval: Any) -> str:
    if interval is None or math.isnan(interval.low):
        return ""
    return f"{format_number(interval.low)} to {format_number(interval.high)}"


def _pair(pair: ModelPair, columns: Sequence[str]) -> dict[str, Any]:
    cells = []
    for name in columns:
        each = pair.metrics.get(name)
        if each is None or math.isnan(each.value):
            cells.append({"value": "", "interval": "", "pvalue": "", "shown": False})
            continue
        is_shown = each.interval.low > 0 or each.interval.high < 0
        pvalue = "" if math.isnan(each.pvalue) else f"p {each.pvalue:.3f}" if each.pvalue >= 0.001 else "p <0.001"
        value = f"{each.value:+.4f}"
        cells.append({"value": value, "interval": _ends(each.interval), "pvalue": pvalue, "shown": is_shown})
    return {"name": f"{printable(pair.model)} - {printable(pair.reference)}", "cells": cells}


def _figures(kind: str, panels: Sequence[Panel], prefix: str) -> Iterator[dict[str, Any]]:
    """Yield a figure a panel: its title, caption and picture."""
    title, caption = CAPTIONS[kind]
    for k, panel in enumerate(panels):
        name = printable(panel.title or "")
        heading = f"{title}: {name}" if name else title
        what = panel.picture.x.label if kind in ("intervals", "differences") else ""
        svg = draw(panel.picture, kind, f"{heading} {what}".strip(), f"{prefix}-{kind}-{k}")
        yield {"kind": kind, "title": heading, "caption": caption, "svg": svg, "place": k}


# Points that move -----------------------------------------------------------------------------------------------------


def _points(block: ReportBlock) -> dict[str, Any]:
    """Return each model's counts at the thresholds that can be chosen: differences of one row and the next."""
    return {
        "share": block.positive_share,
        "models": [_model_points(model, model.counts) for model in block.models if model.counts is not None],
    }


def _model_points(model: ModelNumbers, counts: ThresholdCounts) -> dict[str, Any]:
    rows = chosen(counts, hull(counts), [model.threshold])
    few, below = counts.take(rows), model.below
    assert below is not None
    # Where all thresholds are there, any score is told from any other; of the others some digits do.
    are_all = rows.size == counts.thresholds.size and bool((below[:-1] == counts.thresholds[1:]).all())
    thresholds = few.thresholds[1:].astype(np.float64)
    if not are_all:
        thresholds = _shortened(thresholds, below[rows][1:].astype(np.float64), model.threshold)
    at = None if math.isnan(model.threshold) else int(few.rows_at_least(np.asarray(model.threshold)))
    return {
        "name": model.name,
        "at": at,
        "t": thresholds.tolist(),
        "tp": _steps(few.tps),
        "fp": _steps(few.fps),
    }


def _steps(counts: NDArray[Any]) -> list[int | float]:
    steps: list[int | float] = np.diff(counts).tolist()
    return [int(step) if float(step).is_integer() else step for step in steps]


def _shortened(values: Floats, below: Floats, exact: float) -> Floats:
    """Return thresholds with as few digits as predict the same rows: above the next score below; one stays exact."""
    short, is_long = values.copy(), values != exact
    for digits in DIGITS:
        rest = np.flatnonzero(is_long)
        rounded = np.array([float(f"{value:.{digits}g}") for value in values[rest].tolist()])
        size = np.abs(values[rest])
        magnitude = np.floor(np.log10(size, where=size > 0, out=np.zeros(rest.size)))
        rounded = np.where(rounded > values[rest], rounded - 10.0 ** (magnitude + 1 - digits), rounded)
        rounded = np.array([float(f"{value:.{digits}g}") for value in rounded.tolist()])
        fits = (rounded <= values[rest]) & (rounded > below[rest])
        short[rest[fits]] = rounded[fits]
        is_long[rest[fits]] = False
    return short


# Over the values of --by ----------------------------------------------------------------------------------------------


def _over(report: Report) -> dict[str, Any] | None:
    """Return the table of values, and their picture."""
    over = report.over
    if over is None:
        return None
    n_samples, n_positives, _ = over.counts
    names = list(over.metrics)
    rows = []
    for k, value in enumerate(over.values):
        cells: list[dict[str, Any]] = []
        for name in names:
            auc = over.metrics[name][AUC]
            interval = auc.confidence_intervals
            ends = "" if interval is None or np.isnan(interval[k, 0]) else " to ".join(map(format_number, interval[k]))
            cells.append({"value": format_number(auc.values[k]), "sort": repr(float(auc.values[k])), "interval": ends})
        rows.append(
            {"label": format_label(value), "n": int(n_samples[k]), "positive": int(n_positives[k]), "cells": cells}
        )
    figures = list(_figures("groups", group_panels(over), "over"))
    means = [
        {
            "name": printable(name),
            "mean": format_number(metrics[AUC].mean),
            "interval": _ends(metrics[AUC].mean_confidence_interval),
            "macro": format_number(metrics[AUC].macro_mean),
            "undefined": metrics[AUC].n_undefined,
        }
        for name, metrics in over.metrics.items()
    ]
    by = printable(str(report.roles.by))
    return {
        "by": by,
        "verdict": verdict_over(over),
        "cautions": over_cautions(report),
        "models": list(map(printable, names)),
        "means": means,
        "figures": figures,
        "rows": rows,
    }
