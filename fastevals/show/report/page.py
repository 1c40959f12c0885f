"""The page of a report: its verdict, tables and pictures, and the points that its script moves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import describe_block, format_label, format_number, printable, shorten_names
from fastevals.counts import ThresholdCounts
from fastevals.document.document import AnyCell, Cell, Count, Number, Row, Table
from fastevals.document.page.page import Block, Page, extremes, figures, values_title
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import SCORE_METRICS
from fastevals.results import Interval
from fastevals.show.report.data import ModelNumbers, ReportBlock, ReportData
from fastevals.show.report.intervals import AUC, PROBABILITY_COLUMNS, RANKING_COLUMNS, cells_columns
from fastevals.show.report.json import report_values
from fastevals.show.report.over_values import OverValues
from fastevals.show.report.pictures import block_panels, group_panels
from fastevals.show.report.points import chosen
from fastevals.show.report.text import block_cautions, describe, describe_means, over_cautions
from fastevals.show.report.verdict import cautions, verdict, verdict_over
from fastevals.show.tables import difference_rows, metric_rows

Floats = NDArray[np.float64]

DIGITS = range(3, 17)  # of a threshold
# What `page.js` computes anew at a threshold that is moved.
LIVE = ("recall", "precision", "false_positive_rate", "specificity", "accuracy", "f1", "matthews")


def report_page(report: ReportData) -> Page:
    """Return what the page of a report shows."""
    facts = {name: text for name, text in describe(report).items() if name != "*"}
    over = report.over
    if over is not None:
        level = "" if report.plan is None else f"; intervals at {100 * report.plan.confidence_level:g} %"
        facts["means"] = describe_means(report, over) + level
    return Page(
        "report",
        report.data,
        facts,
        report.roles.models,
        [_block(report, block, k) for k, block in enumerate(report.blocks)],
        report_values(report),
        before=None if over is None else _before(report, over),
        after=None if over is None else _after(report, over),
        points={
            "costs": report.costs or {},
            "blocks": [_points(block) for block in report.blocks if any(model.counts for model in block.models)],
        },
    )


# A block --------------------------------------------------------------------------------------------------------------


def _block(report: ReportData, block: ReportBlock, k: int) -> Block:
    names = [*RANKING_COLUMNS, *PROBABILITY_COLUMNS, *cells_columns(report.best, report.costs)]
    names = [name for name in names if not all(math.isnan(model.metrics[name]) for model in block.models)]
    titles = [SCORE_METRICS[name].title for name in names]
    pairs = () if block.intervals is None else block.intervals.differences
    tables = [Table("metrics", "Metrics", ["Model", *titles], metric_rows(block, names))]
    for heading, compared in (("Differences of models", pairs), ("Against other rows", block.against)):
        if compared:
            rows = difference_rows(compared, names)
            tables.append(Table("differences", heading, ["Models", *titles], rows))
    with_costs = report if report.costs is not None else replace(report, costs={"cost_fp": 1.0, "cost_fn": 1.0})
    return Block(
        "" if report.roles.by is None else describe_block(report.roles.by, block.value),
        f"{block.n_samples:,} rows, {block.n_positives:,} positive",
        verdict(report, block),
        [*cautions(report, block), *block_cautions(report, block)],
        list(figures(block_panels(with_costs, block), f"b{k}")),
        tables,
        _live_table(block),
    )


def _live_table(block: ReportBlock) -> Table:
    """Return the numbers at the threshold, which the script finds by their names."""
    rows = []
    for place, model in enumerate(block.models):
        cells = dict.fromkeys(("tp", "fp", "fn", "tn"), "-")
        if model.cells is not None:
            cells = {name: f"{value:,}" for name, value in model.cells._asdict().items()}
        metrics = {name: format_number(model.metrics[name]) for name in LIVE}
        values = {"threshold": model.threshold_shown, **{name: cells[name] for name in ("tp", "fp", "fn", "tn")}}
        values |= {**metrics, "cost": format_number(model.metrics["expected_cost"]), "least": "", "holds": ""}
        rows.append(Row(model.name, [Cell(text, name) for name, text in values.items()], place))
    titles = ["threshold", "TP", "FP", "FN", "TN", *(SCORE_METRICS[name].title for name in LIVE), "cost"]
    return Table("live", "At the threshold", ["Model", *titles, "least cost at", "best for priors"], rows)


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
        "threshold": model.threshold if math.isfinite(model.threshold) else None,
        "shown": model.threshold_shown,
        "whole": are_all,
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
        with np.errstate(over="ignore"):  # of a summary's last threshold, which is below all scores
            rounded = np.where(rounded > values[rest], rounded - 10.0 ** (magnitude + 1 - digits), rounded)
        rounded = np.array([float(f"{value:.{digits}g}") for value in rounded.tolist()])
        fits = (rounded <= values[rest]) & (rounded > below[rest])
        short[rest[fits]] = rounded[fits]
        is_long[rest[fits]] = False
    return short


# Over the values of --by ----------------------------------------------------------------------------------------------


def _before(report: ReportData, over: OverValues) -> Block:
    """Return the means over the values."""
    rows = []
    for name, metrics in over.metrics.items():
        auc = metrics[AUC]
        cells: list[AnyCell] = [
            Number(auc.mean, auc.mean_confidence_interval),
            Number(auc.macro_mean),
            Count(auc.n_undefined),
        ]
        rows.append(Row(name, cells))
    columns = ["Model", f"mean {SCORE_METRICS[AUC].title} by weight", "plain mean", "undefined"]
    return Block(
        f"Over the values of {printable(str(report.roles.by))}",
        verdict=[verdict_over(over)],
        cautions=over_cautions(report),
        tables=[Table("means", "Means", columns, rows)],
    )


def _after(report: ReportData, over: OverValues) -> Block:
    """Return the values, in a table and in pictures."""
    n_samples, n_positives, _ = over.counts
    rows = []
    shown = extremes(next(iter(over.metrics.values()))[AUC].values)
    for k in shown:
        value = over.values[k]
        cells: list[AnyCell] = [Count(int(n_samples[k])), Count(int(n_positives[k]))]
        for metrics in over.metrics.values():
            auc = metrics[AUC]
            intervals = auc.confidence_intervals
            interval = None if intervals is None else Interval(*intervals[k].tolist())
            cells.append(Number(float(auc.values[k]), interval))
        rows.append(Row(format_label(value), cells))
    by = str(report.roles.by)
    models = [f"{SCORE_METRICS[AUC].title} of {name}" for name in shorten_names(over.metrics)]
    return Block(
        f"Values of {printable(by)}",
        figures=list(figures([("groups", group_panels(over))], "over")),
        tables=[
            Table(
                "values",
                values_title(len(shown), len(over.values)),
                [by, "rows", "positive", *models],
                rows,
                [-1, -1, *range(len(models))],
            )
        ],
    )
