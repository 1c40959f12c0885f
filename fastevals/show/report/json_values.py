"""A report as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from fastevals import __version__
from fastevals.measure.results import Interval
from fastevals.show.report.interval_tables import cautions
from fastevals.show.report.intervals import (
    BCA,
    DELONG,
    PROBABILITY_COLUMNS,
    RANKING_COLUMNS,
    Intervals,
    Pair,
    cells_columns,
)
from fastevals.show.report.parts import Block, Model, Report
from fastevals.show.words import json_number

__all__ = ["to_json"]


def to_json(report: Report, data: str) -> str:
    """Give a report as strict JSON: NaN is null, an infinite threshold "Infinity".

    Parameters
    ----------
    report : Report
        What to show.
    data : str
        Where the columns are from.

    Returns
    -------
    str
        Indented lines, the last with a line end.
    """
    return json.dumps(_values(report, data), indent=2, allow_nan=False) + "\n"


def _values(report: Report, data: str) -> dict[str, Any]:
    point = {"best": report.best} if report.best is not None else {"threshold": json_number(report.threshold)}
    return {
        "fastevals": __version__,
        "data": data,
        "label": report.roles.label,
        "pos_label": report.pos_label,
        "weight": report.roles.weight,
        "by": report.roles.by,
        "operating_point": point,
        "costs": report.costs,
        "intervals": _plan(report),
        "blocks": [_block(report, block) for block in report.blocks],
    }


def _plan(report: Report) -> dict[str, Any] | None:
    """Give how intervals are made, by the method of the block with most metrics."""
    plan = report.plan
    if plan is None:
        return None
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None}
    return {
        "method": next((method for method in (BCA, DELONG) if method in methods), None),
        "confidence": plan.confidence,
        "resamples": plan.resamples,
        "seed": plan.seed,
        "group": report.roles.group,
        "delong_above": plan.most_bootstrapped,
    }


def _block(report: Report, block: Block) -> dict[str, Any]:
    made = block.intervals
    columns = (*RANKING_COLUMNS, *PROBABILITY_COLUMNS, *cells_columns(report.best, report.costs))
    return {
        "value": block.value,
        "n_samples": block.n_samples,
        "n_positives": block.n_positives,
        "n_negatives": block.n_negatives,
        "total_weight": block.total_weight,
        "models": [_model(model, _intervals(block, model, columns)) for model in block.models],
        "best": {name: list(models) for name, models in block.best.items()},
        "differences": [] if made is None else [_pair(pair) for pair in made.differences],
        "intervals": None if made is None else _made(report, block, made),
    }


def _made(report: Report, block: Block, made: Intervals) -> dict[str, Any]:
    """Give what a block's intervals are."""
    return {
        "method": made.method,
        "n_groups": made.n_groups,
        "n_undefined": made.n_undefined,
        "notes": cautions(report, block),
    }


def _intervals(block: Block, model: Model, columns: Iterable[str]) -> dict[str, Any] | None:
    """Give the intervals of all that tables show, null where there is none."""
    if block.intervals is None:
        return None
    found = block.intervals.models.get(model.name, {})
    return {name: _ends(found.get(name)) for name in columns}


def _pair(pair: Pair) -> dict[str, Any]:
    metrics = {
        name: {
            "value": json_number(each.value),
            "interval": _ends(each.interval),
            "pvalue": json_number(each.pvalue),
        }
        for name, each in pair.metrics.items()
    }
    return {"model": pair.model, "reference": pair.reference, "metrics": metrics}


def _model(model: Model, intervals: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "name": model.name,
        "threshold": json_number(model.threshold),
        "confusion": None if model.cells is None else model.cells._asdict(),
        "metrics": {name: json_number(value) for name, value in model.metrics.items()},
        "holds": _ends(model.holds),
        "operating_range": _ends(model.operating_range),
        "intervals": intervals,
    }


def _ends(interval: Interval | None) -> list[Any] | None:
    return None if interval is None or math.isnan(interval.low) else list(map(json_number, interval))
