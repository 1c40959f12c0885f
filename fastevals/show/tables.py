"""A report as text to read, or as plain values for JSON."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from fastevals import __version__
from fastevals.measure.registry import METRICS
from fastevals.measure.results import Interval
from fastevals.show.report import Block, Model, Report

__all__ = ["printable", "to_json_text", "to_json_values", "to_text"]

# The metrics a table shows; JSON has all.
RANKING_COLUMNS = ("roc_auc", "average_precision", "pr_auc", "equal_error_rate", "break_even_point", "ks_statistic")
PROBABILITY_COLUMNS = ("brier_score", "log_loss", "expected_calibration_error")  # where a model's scores are some
CELLS_COLUMNS = ("accuracy", "precision", "recall", "f1", "matthews")
WIDTH = 100  # of the lines of words


def to_text(report: Report, data: str) -> str:
    """Give a report as text: what was asked, then a table a block with a row a model.

    Parameters
    ----------
    report : Report
        What to show.
    data : str
        Where the columns are from.

    Returns
    -------
    str
        Lines of at most 120 characters for ordinary names (a few more with costs), the last with a line end.
    """
    columns = _cells_columns(report)
    tables = _aligned([_rows(block, columns) for block in report.blocks])
    more = [_aligned([rows(block) for block in report.blocks]) for rows in (_probability_rows, _prior_rows)]
    lines = [f"fastevals report: {printable(data)}", *_header(report)]
    for block, rows, *others in zip(report.blocks, tables, *more, strict=True):
        lines.append("")
        if report.roles.by is not None:
            lines.append(f"{printable(report.roles.by)} = {_label(block.value)}: {_rows_and_classes(block)}")
        lines += rows
        lines += _notes(report, block, columns)
        for rows in filter(None, others):
            lines += ["", *rows]
    return "\n".join(lines) + "\n"


def to_json_values(report: Report, data: str) -> dict[str, Any]:
    """Give a report as values that JSON holds: NaN becomes None, an infinite threshold "Infinity".

    Parameters
    ----------
    report : Report
        What to show.
    data : str
        Where the columns are from.

    Returns
    -------
    dict
        With every metric of the registry.
    """
    point = {"best": report.best} if report.best is not None else {"threshold": _json_number(report.threshold)}
    return {
        "fastevals": __version__,
        "data": data,
        "label": report.roles.label,
        "pos_label": report.pos_label,
        "weight": report.roles.weight,
        "by": report.roles.by,
        "operating_point": point,
        "costs": report.costs,
        "blocks": [_json_block(block) for block in report.blocks],
    }


def to_json_text(report: Report, data: str) -> str:
    """Give a report as strict JSON.

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
    return json.dumps(to_json_values(report, data), indent=2, allow_nan=False) + "\n"


# Text -------------------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """Give a name as it is, or quoted with escapes where it would break the line."""
    return text if text.isprintable() else repr(text)


def _label(value: Any) -> str:
    """Give a class or --by value as one writes it."""
    return printable(value) if isinstance(value, str) else repr(value).lower()


def _header(report: Report) -> list[str]:
    words = {"label": f"{printable(report.roles.label)}, positive class {_label(report.pos_label)}"}
    if report.roles.weight is not None:
        rows = "1 row" if report.n_weightless == 1 else f"{report.n_weightless} rows"
        left_out = f", {rows} of weight zero left out" if report.n_weightless else ""
        words["weight"] = printable(report.roles.weight) + left_out
    if report.roles.by is None:
        words["in all"] = _rows_and_classes(report.blocks[0])
    if report.costs is not None:
        words["costs"] = f"{report.costs['cost_fp']:g} a false positive, {report.costs['cost_fn']:g} a false negative"
        if "prior" in report.costs:
            words["costs"] += f"; prior {report.costs['prior']:g}"
    if report.best is None:
        words["threshold"] = f"{report.threshold}, for every model"
    else:
        direction = "best" if METRICS[report.best].greater_is_better else "least"
        each = "model" if report.roles.by is None else "model and block"
        words["threshold"] = (
            f"{direction} {METRICS[report.best].title} of each {each}, chosen on the rows it is judged on: "
            "what stands right of the bar looks better than it is"
        )
    if len(report.roles.scores) > 1:
        words["*"] = "the best of its column"
    lines = []
    for name, said in words.items():
        lines += textwrap.wrap(said, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
    return lines


def _rows_and_classes(block: Block) -> str:
    words = f"{block.n_samples} row{'s' * (block.n_samples != 1)}, {block.n_positives} positive"
    share = f"({100 * block.positive_share:.3g} %)"
    return f"{words} {share}" if block.total_weight is None else f"{words}; weight {block.total_weight:.6g} {share}"


def _cells_columns(report: Report) -> list[str]:
    """Give the columns right of the bar: the usual ones, that of the threshold, and the cost where costs are given."""
    columns = list(CELLS_COLUMNS)
    if report.best is not None and report.best not in (*columns, "expected_cost"):
        columns.append(report.best)
    return columns if report.costs is None else [*columns, "expected_cost"]


def _rows(block: Block, columns: Iterable[str]) -> list[list[str]]:
    """Give a table's rows of cells, the heading first; each number has a place for its mark."""
    heads = ["model", *map(_head, RANKING_COLUMNS), "|", "threshold", *map(_head, columns)]
    body = [
        [
            printable(model.name),
            *(_number(block, model, name) for name in RANKING_COLUMNS),
            "|",
            model.threshold_shown,
            *(_number(block, model, name) for name in columns),
        ]
        for model in block.models
    ]
    return [heads, *body]


def _probability_rows(block: Block) -> list[list[str]]:
    """Give the same of what is asked of probabilities: the models whose scores are some."""
    models = [model for model in block.models if not math.isnan(model.metrics[PROBABILITY_COLUMNS[0]])]
    if not models:
        return []
    body = [[printable(model.name), *(_number(block, model, name) for name in PROBABILITY_COLUMNS)] for model in models]
    return [["model", *map(_head, PROBABILITY_COLUMNS)], *body]


def _prior_rows(block: Block) -> list[list[str]]:
    """Give the same of the priors for which thresholds of least cost stay that, and are worth using."""
    models = [model for model in block.models if model.holds is not None]
    body = [[printable(model.name), _range(model.holds), _range(model.operating_range)] for model in models]
    return [["model", "threshold is best for priors of", "cheaper than all or none for"], *body] if body else []


def _range(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    return f"{interval.low:.4g} to {interval.high:.4g}"


def _title(name: str) -> str:
    return METRICS[name].title


def _head(name: str) -> str:
    return f"{_title(name)} " if len(_title(name)) < 7 else _title(name)  # over the digits, not the mark


def _number(block: Block, model: Model, name: str) -> str:
    value = model.metrics[name]
    if math.isnan(value):
        return "- "
    mark = "*" if len(block.models) > 1 and model.name in block.best[name] else " "
    return (f"{value:.4f}" if abs(value) < 1e6 else f"{value:.6g}") + mark


def _aligned(tables: Sequence[list[list[str]]]) -> list[list[str]]:
    """Give the lines of tables whose columns have the same widths."""
    widths = [max(map(len, column)) for column in zip(*(row for rows in tables for row in rows), strict=True)]

    def line(row: list[str]) -> str:
        name, *cells = row
        padded = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
        return " ".join(padded).rstrip()

    return [list(map(line, rows)) for rows in tables]


def _notes(report: Report, block: Block, columns: Iterable[str]) -> list[str]:
    """Say why there are dashes."""
    where = "the data" if report.roles.by is None else f"{printable(report.roles.by)} {_label(block.value)}"
    notes = []
    missing = [name for name, count in _classes(block) if not count]
    unexplained: dict[str, list[str]] = {}
    for name in (*RANKING_COLUMNS, *columns):
        models = [model.name for model in block.models if math.isnan(model.metrics[name])]
        if models:
            unexplained[name] = models
    gone = [name for name in unexplained if set(missing) & set(METRICS[name].needs)]
    if gone:
        notes.append(f"{where} has no {missing[0]}: {', '.join(map(_title, gone))} undefined")
    unexplained = {name: models for name, models in unexplained.items() if name not in gone}
    for name, models in unexplained.items():
        why = "no crossing" if METRICS[name].of == "ranking" else "0/0"
        notes.append(f"{_title(name)} of {', '.join(map(printable, models))} undefined ({why})")
    return [
        line for note in notes for line in textwrap.wrap(note, WIDTH, initial_indent="- : ", subsequent_indent="    ")
    ]


def _classes(block: Block) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("positives", block.n_positives), ("negatives", block.n_negatives)


# JSON -------------------------------------------------------------------------------------------------------------


def _json_number(value: float | None) -> float | str | None:
    """Give a number that strict JSON has."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _json_block(block: Block) -> dict[str, Any]:
    return {
        "value": block.value,
        "n_samples": block.n_samples,
        "n_positives": block.n_positives,
        "n_negatives": block.n_negatives,
        "total_weight": block.total_weight,
        "models": [_json_model(model) for model in block.models],
        "best": {name: list(models) for name, models in block.best.items()},
    }


def _json_model(model: Model) -> dict[str, Any]:
    return {
        "name": model.name,
        "threshold": _json_number(model.threshold),
        "confusion": None if model.cells is None else model.cells._asdict(),
        "metrics": {name: _json_number(value) for name, value in model.metrics.items()},
        "holds": _json_range(model.holds),
        "operating_range": _json_range(model.operating_range),
    }


def _json_range(interval: Interval | None) -> list[float] | None:
    return None if interval is None or math.isnan(interval.low) else list(interval)
