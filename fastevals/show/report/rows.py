"""A report as rows, each a metric of a model or the difference of two: what its frame has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastevals.document.frames import Columns, as_column, from_rows, make_columns, stack
from fastevals.results import Interval
from fastevals.show.report.data import PredictionReportData, ReportData, ValueTable
from fastevals.show.report.intervals import Intervals, ModelPair
from fastevals.show.report.over_values import OverValues

Row = dict[str, Any]

ORDER = ("by", "model", "reference", "metric", "label", "value", "low", "high", "bound_low", "bound_high", "pvalue")


def report_columns(report: ReportData) -> Columns:
    """Return a row for each number of a report of scores; without blocks, for each value of the --by column."""
    if not report.blocks and report.over is not None:
        return _columns_over_values(report.over)
    rows: list[Row] = []
    for block in report.blocks:
        by = {} if report.roles.by is None else {"by": block.value}
        for model in block.models:
            for row in _model_rows(model.name, model.metrics, block.intervals):
                bounds = model.bounds.get(row["metric"])
                rows.append(by | row | ({} if bounds is None else _ends(bounds, "bound_")))
        differences = () if block.intervals is None else block.intervals.differences
        rows += [by | row for row in _pair_rows([*block.against, *differences])]
    return _in_order(from_rows(rows))


def prediction_report_columns(report: PredictionReportData) -> Columns:
    """Return a row for each number of a report of predicted classes or numbers, those of classes with their label."""
    if not report.blocks and report.over is not None:
        return _columns_of_table(report.over)
    rows: list[Row] = []
    for block in report.blocks:
        by = {} if report.roles.by is None else {"by": block.value}
        for model in block.models:
            rows += [by | row for row in _model_rows(model.name, model.metrics, block.intervals)]
            labels = [] if model.matrix is None else model.matrix.labels.tolist()
            for metric, values in model.classes.items():
                for k, (label, value) in enumerate(zip(labels, values.tolist(), strict=True)):
                    row = {"model": model.name, "metric": metric, "label": label, "value": value}
                    ends = model.class_intervals.get(metric)
                    rows.append(by | row | ({} if ends is None else _ends(Interval(*np.transpose(ends)[k]))))
        rows += [by | row for row in _pair_rows(() if block.intervals is None else block.intervals.differences)]
    return _in_order(from_rows(rows))


def _in_order(columns: Columns) -> Columns:
    return {name: columns[name] for name in ORDER if name in columns}


def _model_rows(model: str, metrics: Mapping[str, float], intervals: Intervals | None) -> Iterator[Row]:
    ends = {} if intervals is None else intervals.models.get(model, {})
    for name, value in metrics.items():
        row = {"model": model, "metric": name, "value": value}
        yield row | (_ends(ends[name]) if name in ends else {})


def _pair_rows(pairs: Sequence[ModelPair]) -> Iterator[Row]:
    for pair in pairs:
        for name, each in pair.metrics.items():
            row = {"model": pair.model, "reference": pair.reference, "metric": name, "value": each.value}
            yield row | _ends(each.interval) | {"pvalue": each.pvalue}


def _ends(interval: Interval, prefix: str = "") -> Row:
    return {f"{prefix}low": float(interval.low), f"{prefix}high": float(interval.high)}


def _columns_over_values(over: OverValues) -> Columns:
    """Return a row for each value of each metric of each model."""
    by = as_column(over.values)
    return stack(
        ({"model": model, "metric": name}, {"by": by} | metric._numbers())
        for model, metrics in over.metrics.items()
        for name, metric in metrics.items()
    )


def _columns_of_table(table: ValueTable) -> Columns:
    """Return a row for each value of each model."""
    by = {"by": as_column(table.values)}
    return stack(
        (
            {"model": model, "metric": table.metric},
            by | make_columns({"value": values, "low": ends[:, 0], "high": ends[:, 1], "n_samples": table.n_samples}),
        )
        for model, (values, ends) in table.of_models.items()
    )
