"""A report as text to read."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

from fastevals.measure.registry import METRICS
from fastevals.measure.results import Interval
from fastevals.show.report.interval_tables import cautions, compared_columns, difference_rows, end_rows, how_made
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, RANKING_COLUMNS, cells_columns
from fastevals.show.report.parts import Block, Model, Report
from fastevals.show.report.value_tables import over_lines
from fastevals.show.report.values import MOST_BLOCKS
from fastevals.show.words import WIDTH, aligned, digits, label, place, printable, title

__all__ = ["to_text"]


def to_text(report: Report, data: str) -> str:
    """Give a report as text: what was asked, what there is over the values, then a table a block with a row a model.

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
    columns = cells_columns(report.best, report.costs)
    compared = compared_columns(report, columns)
    tables = aligned([_rows(report, block, columns) for block in report.blocks])
    more = [
        aligned([_probability_rows(report, block) for block in report.blocks]),
        aligned([_prior_rows(block) for block in report.blocks]),
        aligned([difference_rows(report, block, compared) for block in report.blocks]),
    ]
    lines = [f"fastevals report: {printable(data)}", *_header(report), *over_lines(report)]
    for block, rows, *others in zip(report.blocks, tables, *more, strict=True):
        lines.append("")
        if report.roles.by is not None:
            lines.append(f"{printable(report.roles.by)} = {label(block.value)}: {_rows_and_classes(block)}")
        lines += rows
        lines += _notes(report, block, columns)
        for rows in filter(None, others):
            lines += ["", *rows]
    return "\n".join(lines) + "\n"


def _header(report: Report) -> list[str]:
    words = {"label": f"{printable(report.roles.label)}, positive class {label(report.pos_label)}"}
    if report.roles.weight is not None:
        rows = "1 row" if report.n_weightless == 1 else f"{report.n_weightless} rows"
        left_out = f", {rows} of weight zero left out" if report.n_weightless else ""
        words["weight"] = printable(report.roles.weight) + left_out
    if report.roles.by is None:
        words["in all"] = _rows_and_classes(report.blocks[0])
    elif not report.blocks and report.over is not None:
        words["by"] = (
            f"{printable(report.roles.by)}, above {MOST_BLOCKS} values: no block or picture of each, "
            "but measures of the ranking over all values, which JSON has one by one"
        )
        n_samples, n_positives, _ = report.over.counts
        words["in all"] = f"{n_samples.sum()} rows, {n_positives.sum()} positive"
    if report.blocks:
        words |= _of_thresholds(report)
    intervals = how_made(report)
    if intervals:
        words["intervals"] = intervals
    if len(report.roles.scores) > 1:
        words["*"] = "the best of its column"
    lines = []
    for name, said in words.items():
        lines += textwrap.wrap(said, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
    return lines


def _of_thresholds(report: Report) -> dict[str, str]:
    words = {}
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
    return words


def _rows_and_classes(block: Block) -> str:
    words = f"{block.n_samples} row{'s' * (block.n_samples != 1)}, {block.n_positives} positive"
    share = f"({100 * block.positive_share:.3g} %)"
    return f"{words} {share}" if block.total_weight is None else f"{words}; weight {block.total_weight:.6g} {share}"


def _rows(report: Report, block: Block, columns: Sequence[str]) -> list[list[str]]:
    """Give a table's rows of cells, the heading first; each number has a place for its mark."""
    rows = [["model", *map(_head, RANKING_COLUMNS), "|", "threshold", *map(_head, columns)]]
    for model in block.models:
        left, right = ([_number(block, model, name) for name in names] for names in (RANKING_COLUMNS, columns))
        rows.append([printable(model.name), *left, "|", model.threshold_shown, *right])
        rows += end_rows(report, block, model, [*RANKING_COLUMNS, "|", "threshold", *columns])
    return rows


def _probability_rows(report: Report, block: Block) -> list[list[str]]:
    """Give the same of what is asked of probabilities: the models whose scores are some."""
    rows = []
    for model in block.models:
        if not math.isnan(model.metrics[PROBABILITY_COLUMNS[0]]):
            rows.append([printable(model.name), *(_number(block, model, name) for name in PROBABILITY_COLUMNS)])
            rows += end_rows(report, block, model, PROBABILITY_COLUMNS)
    return [["model", *map(_head, PROBABILITY_COLUMNS)], *rows] if rows else []


def _prior_rows(block: Block) -> list[list[str]]:
    """Give the same of the priors for which thresholds of least cost stay that, and are worth using."""
    models = [model for model in block.models if model.holds is not None]
    body = [[printable(model.name), _range(model.holds), _range(model.operating_range)] for model in models]
    return [["model", "threshold is best for priors of", "cheaper than all or none for"], *body] if body else []


def _range(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.low):
        return "-"
    return f"{interval.low:.4g} to {interval.high:.4g}"


def _head(name: str) -> str:
    return f"{title(name)} " if len(title(name)) < 7 else title(name)  # over the digits, not the mark


def _number(block: Block, model: Model, name: str) -> str:
    best = len(block.models) > 1 and model.name in block.best[name]
    return digits(model.metrics[name]) + ("*" if best else " ")


def _notes(report: Report, block: Block, columns: Iterable[str]) -> list[str]:
    """Say why there are dashes, and what is to be thought of intervals."""
    where = place(report.roles.by, block.value)
    notes = []
    missing = [name for name, count in _classes(block) if not count]
    unexplained: dict[str, list[str]] = {}
    for name in (*RANKING_COLUMNS, *columns):
        models = [model.name for model in block.models if math.isnan(model.metrics[name])]
        if models:
            unexplained[name] = models
    gone = [name for name in unexplained if set(missing) & set(METRICS[name].needs)]
    if gone:
        notes.append(f"{where} has no {missing[0]}: {', '.join(map(title, gone))} undefined")
    unexplained = {name: models for name, models in unexplained.items() if name not in gone}
    for name, models in unexplained.items():
        why = "no crossing" if METRICS[name].of == "ranking" else "0/0"
        notes.append(f"{title(name)} of {', '.join(map(printable, models))} undefined ({why})")
    marked = [*(("- : ", note) for note in notes), *(("! : ", note) for note in cautions(report, block))]
    return [
        line
        for mark, note in marked
        for line in textwrap.wrap(note, WIDTH, initial_indent=mark, subsequent_indent="    ")
    ]


def _classes(block: Block) -> tuple[tuple[str, int], tuple[str, int]]:
    return ("positives", block.n_positives), ("negatives", block.n_negatives)
