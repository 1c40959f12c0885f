"""A report as the rows of a frame: metrics of a model or of one of its classes, or differences of two models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fastevals._text import describe_by, describe_segment
from fastevals.document.frames import Columns, as_column, from_rows, says_nothing, stack
from fastevals.document.scalars import Scalar, scalars_of_rows
from fastevals.infer.costs.decisions import ESTIMATES, RowCosts
from fastevals.many.trends import Trend
from fastevals.results import Interval
from fastevals.show.report.calibrated import calibration_numbers
from fastevals.show.report.data import OfClasses, ReportBlock, ReportData
from fastevals.show.report.notes import all_blocks
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.trend import OTHERS

Row = dict[str, Any]

# The columns of all reports, whatever their settings, with the values of rows that lack them.
NUMBERS = dict.fromkeys(("value", "low", "high", "bound_low", "bound_high", "pvalue"), math.nan)
NOTHING: Row = {**dict.fromkeys(("model", "reference", "metric", "label")), **NUMBERS, "n_samples": 0, "whole": False}


def report_columns(report: ReportData) -> Columns:
    """Return a row for each number of a report; without blocks, a row for each value of the --by column."""
    by = report.roles.by
    tables = [_columns_over_values(over, by) for over in report.overs if not over.has_blocks]
    rows = [
        _named_by(by, block.by, block.value)
        | NOTHING
        | {"n_samples": block.n_samples, "whole": block is report.whole}
        | row
        for block in sorted(all_blocks(report), key=lambda each: not each.by)
        for row in _block_rows(block)
    ]
    rows += [_named_by(by, over.by, value) | NOTHING | row for over in report.overs for value, row in _compared(over)]
    if report.trend is not None:
        rows += [{"by": value} | NOTHING | row for value, row in _trended(report.trend)]
    tables = [from_rows(rows), *tables] if rows else tables
    return tables[0] if len(tables) == 1 else stack(({}, table) for table in tables)


def _named_by(names: tuple[str, ...], by: tuple[str, ...], value: Any) -> Row:
    """Return a segment's value as `by`; with several columns, `by` is text, and each value has its own column."""
    if len(names) < 2:
        return {"by": value}
    values = dict(zip(by, value if len(by) > 1 else (value,), strict=True)) if by else {}
    return {"by": describe_segment(by, value) if by else None} | {column_of(name): values.get(name) for name in names}


def column_of(name: str) -> str:
    """Return the frame's column for a column of --by: its name, with a prefix if the frame has one of that name."""
    return f"by_{name}" if name in NOTHING or name == "by" else name


def shown_columns(columns: Columns) -> Columns:
    """Return the columns that have values."""
    return {
        name: column
        for name, column in columns.items()
        if not (
            says_nothing(column)
            or (column.dtype.kind == "f" and np.isnan(column).all())
            or (column.dtype.kind == "b" and not column.any())
        )
    }


def report_scalars(report: ReportData) -> list[Scalar]:
    """Return the numbers of a report's rows; a segment's name stands in front."""
    names = report.roles.by
    columns = report_columns(report)
    segment = names[0] if len(names) == 1 else "by"
    repeated = {"by", *map(column_of, names)} if len(names) > 1 else {"by"}
    others = {name: column for name, column in columns.items() if name not in repeated}
    return scalars_of_rows({segment: columns["by"]} | others, names) or []


def _block_rows(block: ReportBlock) -> Iterator[Row]:
    intervals, differences = (
        ({}, ()) if block.intervals is None else (block.intervals.models, block.intervals.differences)
    )
    for model in block.models:
        found = intervals.get(model.name, {})
        for name, value in model.metrics.items():
            ends = _ends(found.get(name)) | _ends(model.bounds.get(name), "bound_")
            yield {"model": model.name, "metric": name, "value": value} | ends
        if model.calibrated is not None:
            yield from ({"model": model.name} | row for row in calibration_numbers(model.calibrated))
        if model.classes is not None:
            yield from ({"model": model.name} | row for row in _class_rows(model.classes))
    yield from () if block.costs is None else _cost_rows(block.costs)
    for pair in (*block.against, *differences):
        for name, each in pair.metrics.items():
            row = {"model": pair.model, "reference": pair.reference, "metric": name, "value": each.value}
            yield row | _ends(each.interval) | {"pvalue": each.pvalue}


def _compared(over: OverValues) -> Iterator[tuple[Any, Row]]:
    """Yield, by value, the differences between two models in a metric such as "roc_auc(over region)"."""
    found = over.differences
    if found is None:
        return
    metric = f"{found.metric}(over {describe_by(over.by)})"
    for k, value in enumerate(found.groups.tolist()):
        row = {"model": str(found.models[k]), "reference": found.reference, "metric": metric}
        row |= {"value": float(found.differences[k]), "pvalue": float(found.adjusted_pvalues[k])}
        row["n_samples"] = int(found.n_samples[k])
        yield value, row | _ends(Interval(*found.confidence_intervals[k].tolist()))


def _trended(trend: Trend) -> Iterator[tuple[Any, Row]]:
    """Yield, by value, a metric minus the mean of the other values."""
    for metric, lines in trend.lines.items():
        for model, line in lines.items():
            found = line.compared
            for k, value in enumerate(trend.values if found is not None else ()):
                assert found is not None
                row: Row = {"model": model, "reference": OTHERS, "metric": f"{metric}(trend)"}
                row |= {"value": float(found.differences[k]), "pvalue": float(found.adjusted_pvalues[k])}
                yield (
                    value,
                    row | _ends(Interval(*found.intervals[k].tolist())) | {"n_samples": int(trend.n_samples[k])},
                )


def _cost_rows(costs: RowCosts) -> Iterator[Row]:
    """Yield total costs and savings by each rule, such as "total_cost(per-row rule)"."""
    for model, decision in costs._decisions():
        for name in ESTIMATES:
            each = getattr(decision, name)
            metric = f"{'total_cost' if name == 'total' else name}({decision.rule})"
            yield {"model": model, "metric": metric, "value": each.value} | _ends(each.confidence_interval)
    for rule, pairs in costs.differences.items():
        for pair in pairs:
            row = {"model": pair.model, "reference": pair.reference, "metric": f"total_cost({rule})"}
            yield row | {"value": pair.value, "pvalue": pair.pvalue} | _ends(pair.confidence_interval)


def _class_rows(classes: OfClasses) -> Iterator[Row]:
    for name, values in classes.metrics.items():
        intervals = classes.intervals.get(name, Interval(*np.full((2, values.size), math.nan)))
        rows: Any = zip(classes.matrix.labels.tolist(), values.tolist(), *intervals, strict=True)
        for label, value, low, high in rows:
            yield {"metric": name, "label": label, "value": value} | _ends(Interval(low, high))


def _ends(interval: Interval | None, prefix: str = "") -> Row:
    return {} if interval is None else {f"{prefix}low": float(interval.low), f"{prefix}high": float(interval.high)}


def _columns_over_values(over: OverValues, by: tuple[str, ...]) -> Columns:
    """Return a row for each value of each metric of each model."""
    named = from_rows([_named_by(by, over.by, value) for value in over.values])
    columns = stack(
        ({"model": model, "metric": name}, named | metric._numbers())
        for model, metrics in over.metrics.items()
        for name, metric in metrics.items()
    )
    n_rows = columns["by"].size
    others = {name: columns.get(name, np.repeat(as_column([nothing]), n_rows)) for name, nothing in NOTHING.items()}
    return {name: columns[name] for name in named} | others
