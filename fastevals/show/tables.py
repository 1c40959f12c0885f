"""Tables that several pages have: a row a model, and a row for each two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fastevals.document.document import Cell, DifferenceCell, Number, Row
from fastevals.show.report.intervals import ModelPair


def metric_rows(block: Any, metrics: Sequence[str]) -> list[Row]:
    """Return a row a model of a block of any report, the best of each column marked."""
    made = {} if block.intervals is None else block.intervals.models
    rows = []
    for place, model in enumerate(block.models):
        intervals, several = made.get(model.name, {}), len(block.models) > 1
        marks = {name: "best" for name in metrics if several and model.name in block.best[name]}
        cells = [Number(model.metrics[name], intervals.get(name), marks.get(name, "")) for name in metrics]
        rows.append(Row(model.name, cells, place))
    return rows


def difference_rows(pairs: Iterable[ModelPair], metrics: Sequence[str]) -> list[Row]:
    """Return a row for each two models."""
    rows = []
    for model, reference, of_metrics in pairs:
        found = [of_metrics.get(name) for name in metrics]
        cells: list[Any] = [Cell("") if each is None else DifferenceCell(*each) for each in found]
        rows.append(Row(f"{model} - {reference}", cells))
    return rows
