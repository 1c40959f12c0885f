"""A report of predicted classes or numbers as text and JSON; pages and pictures are in prediction_page.py."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._text import WIDTH, format_label, format_number, format_tables, printable, shorten_name
from fastevals.show.predicted import EACH_CLASS
from fastevals.show.report.data import OfClasses, ReportBlock, ReportData
from fastevals.show.report.intervals import (
    BCA,
    metric_title,
)
from fastevals.show.report.over_values import MOST_BLOCKS, OverValues
from fastevals.show.report.text import (
    block_title,
    describe_left_out,
    difference_table,
    heading,
    interval_cautions,
    interval_rows,
    left_out_cautions,
    marked_number,
    note_lines,
)

Floats = NDArray[np.float64]

MOST_NAMED = 5  # classes in a note
MOST_WRITTEN = 20  # classes in the text


def prediction_text(report: ReportData) -> str:
    """Return the report as text to read, the last line with a line end."""
    lines = [f"fastevals report: {printable(report.data)}"]
    for name, text in describe(report).items():
        lines += textwrap.wrap(text, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
    if report.over is not None:
        lines += ["", *_over_lines(report, report.over)]
    models = format_tables([_model_table(report, block) for block in report.blocks])
    differences = format_tables([
        difference_table(report.plan, () if block.intervals is None else block.intervals.differences, report.metrics)
        for block in report.blocks
    ])  # fmt: skip
    for block, table, compared in zip(report.blocks, models, differences, strict=True):
        lines.append("")
        if report.roles.by is not None:
            lines.append(f"{block_title(report.roles.by, block.value)}: {describe_rows(block)}")
        lines += table
        lines += note_lines("- : ", _undefined(block, report.metrics))
        lines += note_lines("! : ", cautions(report, block))
        for of_classes in format_tables(_class_tables(block)):
            lines += ["", *of_classes]
        lines += ["", *compared] if compared else []
    return "\n".join(lines) + "\n"


def _model_table(report: ReportData, block: ReportBlock) -> list[list[str]]:
    table = [["model", *map(heading, report.metrics)]]
    for model in block.models:
        table.append([printable(model.name), *(marked_number(block, model, name) for name in report.metrics)])
        table += interval_rows(report.plan, block.intervals, model.name, report.metrics)
    return table


def describe(report: ReportData) -> dict[str, str]:
    """Return what is said of columns, rows and intervals, by name."""
    roles, truth = report.roles, printable(report.roles.truth)
    entries = {"target": truth}
    labels, positive = report.labels, report.pos_label
    if labels is not None:
        known = f", positive class {format_label(positive)}" if positive is not None else ""
        if len(labels) == 2 and positive is None:
            known = f"; {option('pos_label')} gives precision, recall and F1 of one"
        entries = {"label": f"{truth}, {len(labels)} class{'es' * (len(labels) != 1)}{known}"}
    if roles.weight is not None:
        left_out = f", {report.n_weightless} of weight zero left out" if report.n_weightless else ""
        entries["copies" if roles.are_copies else "weight"] = printable(roles.weight) + left_out
    if report.left_out.n_rows:
        entries["dropped"] = describe_left_out(report.left_out, roles.lacking)
    if roles.by is None:
        entries["in all"] = describe_rows(report.blocks[0])
    elif not report.blocks:
        entries["by"] = f"{printable(roles.by)}, above {MOST_BLOCKS} values: no block or picture of each"
    methods = {block.intervals.method for block in report.blocks if block.intervals is not None} - {None}
    if report.plan is not None and methods:
        plan = report.plan
        entries["intervals"] = f"{100 * plan.confidence_level:.6g} %, by standard errors"
        if BCA in methods:
            drawn = "rows" if roles.groups is None else f"groups of {printable(roles.groups)}"
            numbers = sorted({block.n_resamples for block in report.blocks if block.n_resamples is not None})
            replicates = " to ".join(f"{n:,}" for n in (numbers if len(numbers) < 2 else (numbers[0], numbers[-1])))
            entries["intervals"] = (
                f"{100 * plan.confidence_level:.6g} %, BCa, {replicates} bootstrap replicates of {drawn} "
                f"(seed {plan.seed})"
            )
        if any(block.intervals is not None and block.intervals.differences for block in report.blocks):
            entries["intervals"] += "; of differences simultaneous, with p adjusted, over all pairs (max-T)"
    if len(roles.models) > 1:
        entries["*"] = "the best of its column"
    return entries | {"not here": " ".join(report.not_measured)}


def describe_rows(block: ReportBlock) -> str:
    """Return how many rows a block has."""
    rows = f"{block.n_samples:,} row{'s' * (block.n_samples != 1)}"
    return rows if block.total_weight is None else f"{rows}; weight {block.total_weight:.6g}"


def cautions(report: ReportData, block: ReportBlock) -> list[str]:
    """Return why a block has no intervals, or what is to be thought of those it has."""
    first = block is report.blocks[0]
    taken = left_out_cautions(report.left_out, report.roles.models, "a prediction") if first else []
    notes = taken + interval_cautions(report, block, [("row", "s", block.n_samples)])
    flat = [(model.name, model.classes) for model in block.models if model.classes and flat_classes(model.classes)]
    return notes + [_on_flat_classes(*each) for each in flat]


def flat_classes(classes: OfClasses) -> dict[int, list[str]]:
    """Return the metrics of each class, by its place, whose intervals have no width."""
    found: dict[int, list[str]] = {}
    for name, (low, high) in classes.intervals.items():
        for k in np.flatnonzero(np.equal(low, high)).tolist():
            found.setdefault(k, []).append(name)
    return dict(sorted(found.items()))


def _on_flat_classes(model: str, classes: OfClasses) -> str:
    flat, said = flat_classes(classes), []
    for k in list(flat)[:MOST_NAMED]:
        wilson = [wilson_note(classes, name, k) for name in flat[k]]
        names = [
            f"{metric_title(name)} ({note})" if note else metric_title(name)
            for name, note in zip(flat[k], wilson, strict=True)
        ]
        said.append(f"{format_label(classes.matrix.labels[k].item())}: {', '.join(names)}")
    more = [f"{len(flat) - MOST_NAMED} more"] if len(flat) > MOST_NAMED else []
    return (
        f"intervals without width for classes of {printable(model)}, {'; '.join(said + more)}. All their "
        "replicates are equal, which says nothing about how sure these values are"
    )


def wilson_note(classes: OfClasses, name: str, k: int) -> str:
    """Return Wilson's interval of a class in words, where it stands in for one without width."""
    interval: Any = classes.wilson.get(name)
    if interval is None or np.isnan(interval.low[k]):
        return ""
    return f"Wilson {format_number(interval.low[k])} to {format_number(interval.high[k])}"


def _undefined(block: ReportBlock, metrics: Iterable[str]) -> list[str]:
    notes = []
    for name in metrics:
        models = [printable(model.name) for model in block.models if math.isnan(model.metrics[name])]
        if models:
            why = "all targets are equal" if name == "r2" else "0/0"
            notes.append(f"{metric_title(name)} of {', '.join(models)} undefined ({why})")
    return notes


def _class_tables(block: ReportBlock) -> list[list[list[str]]]:
    """Return for each model a row a class; of many those with the lowest F1."""
    tables = []
    for model in block.models:
        if model.classes is None:
            continue
        sizes = model.classes.matrix.counts.sum(axis=1)
        order, more = np.arange(sizes.size), ""
        if sizes.size > MOST_WRITTEN:
            order = np.argsort(model.classes.metrics["f1"], kind="stable")[:MOST_WRITTEN]
            more = f", the lowest {MOST_WRITTEN} of {sizes.size}"
        name = shorten_name(printable(model.name))
        table = [[f"{name}, class{more}", "rows", *map(metric_title, EACH_CLASS)]]
        for k in order.tolist():
            numbers = [format_number(model.classes.metrics[name][k]) for name in EACH_CLASS]
            table.append([format_label(model.classes.matrix.labels[k].item()), f"{sizes[k]:g}", *numbers])
        tables.append(table)
    return tables


def _over_lines(report: ReportData, over: OverValues) -> list[str]:
    """Return the lowest and the highest values of the --by column."""
    title, by = metric_title(over.metric), printable(str(report.roles.by))
    lines = []
    for name, metrics in over.metrics.items():
        metric = metrics[over.metric]
        numbers = metric.values
        defined = np.flatnonzero(~np.isnan(numbers))
        text = f"{title} of {printable(name)} over {len(over.values):,} values of {by}: undefined"
        if defined.size:
            low, high = (defined[at(numbers[defined])] for at in (np.argmin, np.argmax))
            ends = [f"{format_number(numbers[k])} ({format_label(over.values[k])})" for k in (low, high)]
            text = f"{title} of {printable(name)} over {len(over.values):,} values of {by}: "
            text += f"mean by rows {format_number(metric.mean)}, from {ends[0]} to {ends[1]}"
        lines += textwrap.wrap(text, WIDTH, subsequent_indent="    ")
    return lines
