"""A report and its document: the verdict, facts, means over the values of --by, and a section for each block.

The text has several narrow tables. Pages and Markdown have one table of all metrics, with Gini after AUC, and further
caveats. Pages also have pictures and a threshold to move.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from fastevals._text import (
    ALL_ROWS,
    LONGEST_NAME,
    describe_block,
    describe_segment,
    format_label,
    format_number,
    printable,
    shorten_name,
)
from fastevals.document.document import (
    BAR,
    GAP,
    RICH,
    TEXT,
    AnyCell,
    Cell,
    Count,
    DifferenceCell,
    Document,
    Fact,
    Figures,
    Later,
    Number,
    Part,
    Range,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns
from fastevals.document.result import Result
from fastevals.document.scalars import Scalar
from fastevals.measure.registry import SCORE_METRICS, metric_title
from fastevals.results import NOWHERE, Interval
from fastevals.show.pictures import CAPTIONS
from fastevals.show.report.calibrated import COLUMNS, RATIO, calibration_rows, undefined_calibration, written_ratio
from fastevals.show.report.costs import cost_table
from fastevals.show.report.data import ModelNumbers, OfClasses, ReportBlock, ReportData
from fastevals.show.report.gains import gain_parts
from fastevals.show.report.intervals import PROBABILITY_COLUMNS, RANKING_COLUMNS, ModelDifference, ModelPair
from fastevals.show.report.json import page_values, report_values
from fastevals.show.report.kinds import AUC, GINI
from fastevals.show.report.live import live_points, live_table, threshold_note
from fastevals.show.report.notes import (
    all_blocks,
    block_cautions,
    describe_means,
    describe_rows,
    facts,
    flat_classes,
    have_own_thresholds,
    interval_heads,
    labelled_share,
    lacks_labels,
    share_text,
    title_of,
    undefined_notes,
    wilson_note,
)
from fastevals.show.report.over_differences import differences_parts
from fastevals.show.report.over_document import over_section, over_verdict
from fastevals.show.report.rows import report_columns, report_scalars, shown_columns
from fastevals.show.report.trend import trend_conclusions, trend_section

THRESHOLD = "threshold"  # a column
QUOTED = ("average_precision", "brier_score")  # beside AUC and Gini, in a model's first line of the text
CLASSES_WRITTEN = 20  # classes in the text
SHORT_TITLE = 7  # characters of a title that is aligned with a number's digits, not with its mark


class Report(ReportData, Result):
    """A report, which prints itself as text.

    Attributes
    ----------
    data : str
        Name of the data.
    roles : ColumnRoles
        The columns and their roles.
    metrics : tuple of str
        Metrics of the tables.
    blocks : tuple of ReportBlock
        One block per value of each --by column, or per combination with both classes, in ascending order; no blocks
        for more than 100 values.
    plan : IntervalPlan or None
        How intervals were made; None if none are wanted.
    overs : tuple of OverValues
        Metrics over the values of each --by column, or of combinations, if there are two or more; `over` is the first.
    whole : ReportBlock or None
        All rows as one block, if --by divides them into several blocks.
    trend : Trend or None
        Metrics over ordered values, and how each value differs from the mean of the others, if wanted.
    n_weightless : int
        Number of rows left out because their weight is zero.
    left_out : LeftOut
        Rows left out because they lack a label, finite score or other value, by column.
    pos_label : int, float, bool, str or None
        The positive class, if there is one.
    best : str or None
        The metric that chooses each model's threshold in each block; None if `threshold` is given.
    threshold : float or None
        The threshold of all models.
    costs : dict of str to float, or None
        ``cost_fp`` and ``cost_fn`` if given or used, and ``prior`` if given.
    row_costs : dict of str to str or float, or None
        If costs differ by row, the column or the constant of ``cost_fp``, ``cost_fn`` and, if given, ``cost_tp``.
    labels : list or None
        For predicted classes, the classes that occur; if there are two, the positive one is last.
    not_measured : tuple of str
        What is not measured, and why.
    against : OtherData or None
        The other rows that the models are compared with, if there are any.
    files : ReadFiles or None
        How many files were read, and which have no rows; None if the data are not files of rows.
    reference : str or None
        The model that the others are compared with; None if all pairs are compared.
    class_facts : ClassFacts or None
        For probabilities of classes, whether the classes are ordered, rows were divided by their sums, and models
        predict only 0 and 1.
    """

    __slots__ = ()

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because a value can't be used."""
        return self.left_out.n_rows

    def to_dict(self) -> dict[str, Any]:
        """Return the report as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        return report_values(self)

    def _columns(self) -> Columns:
        return report_columns(self)

    def _shown_columns(self) -> Columns:
        return shown_columns(self._columns())

    def _scalars(self) -> list[Scalar]:
        return report_scalars(self)

    def _document(self) -> Document:
        return _report_document(self)

    def to_json(self) -> str:
        """Return the report as JSON, as the command prints it with --format json; without blocks it is one line."""
        is_read = self.blocks or self.roles.kind != "scores"  # otherwise a million numbers take seconds, one line each
        return json.dumps(self.to_dict(), indent=2 if is_read else None, allow_nan=False) + "\n"


def _report_document(report: ReportData) -> Document:
    """Return the document of a report."""
    said = [Fact(name, text, TEXT if name == "*" else ()) for name, text in facts(report)]
    opening = [Later(lambda: _opening(report), TEXT)]
    shown = all_blocks(report) if report.trend is None else all_blocks(report)[:1]
    compared = cache(lambda kind: _compared(report, kind))  # of all blocks
    blocks = report.blocks if report.trend is None else ()
    sections = [_section(report, block, k, compared) for k, block in enumerate(blocks)]
    if report.whole is not None:
        sections.insert(0, _section(report, report.whole, len(sections), compared))
    if report.trend is not None:
        sections = [trend_section(report.trend), *([] if report.whole is None else sections[:1])]
    else:
        sections = [*(over_section(report, over) for over in report.overs), *sections]
    points: Callable[[], dict[str, Any]] = dict
    if report.roles.kind == "probabilities":
        from fastevals.show.report.class_page import class_points, class_section

        n_blocks = sum(each.is_block for each in sections)
        sections += class_section(report)
        points = partial(class_points, report, n_blocks)
    if report.overs and report.roles.kind == "scores" and report.trend is None:
        level = "" if report.plan is None else f"; intervals at {100 * report.plan.confidence_level:g} %"
        said.append(Fact("means", describe_means(report, report.overs[0]) + level, RICH))
    return Document(
        "report", title_of(report.data, report.roles.models), said, sections, opening,
        models=report.roles.models,
        numbers=lambda: page_values(report),
        points=lambda: live_points(report, shown) | points(),
    )  # fmt: skip


def _opening(report: ReportData) -> Iterator[Part]:
    """Yield what the text says first: the verdict on all rows, or on the means over the values of --by."""
    if not report.roles.by:
        yield from _summary(report, report.blocks[0])
        return
    if report.trend is not None:
        yield from (Sentence(text, "verdict") for text in trend_conclusions(report.trend))
        return
    for over in report.overs:
        yield from over_verdict(report, over)
    for over in report.overs:
        yield GAP
        yield from differences_parts(over)


def _summary(report: ReportData, block: ReportBlock) -> Iterator[Part]:
    """Yield the verdict on a block and, for scores, a line per model with the numbers that people quote."""
    from fastevals.show.report.verdict import verdict

    yield from (Sentence(text, "verdict") for text in verdict(report, block))
    yield GAP
    if report.roles.kind == "scores":
        yield _quoted(report, block)
        yield GAP


def _section(report: ReportData, block: ReportBlock, k: int, compared: Callable[[str], list[str]]) -> Section:
    by, rows = block.by, describe_rows(report, block)
    parts: list[Part] = []
    if report.roles.by:
        name = describe_segment(by, block.value, LONGEST_NAME) if by else ALL_ROWS
        line = f"{name}: {rows}"
        parts += [Sentence(line, "line", TEXT), Later(lambda: _summary(report, block), TEXT)]
    parts += [
        Later(lambda: _verdict(report, block), RICH),
        _metrics_written(report, block),
        *_costs(block),
        *(Sentence(note, "note", TEXT) for note in undefined_notes(report, block)),
        Later(lambda: _written(report, block, k, compared), TEXT),
        GAP,
        *(Sentence(note, "caution") for note in block_cautions(report, block)),
        Figures(lambda: _panels(report, block), CAPTIONS),
        Later(lambda: _tables(report, block), RICH),
    ]
    if report.roles.kind == "scores":
        labelled = f", {share_text(labelled_share(report, by, block.value, block.n_samples))} labelled"
        rows = f"{block.n_samples:,} rows, {block.n_positives:,} positive{labelled * lacks_labels(report)}"
    return Section(
        parts, describe_block(by, block.value) if by else ALL_ROWS.capitalize() * bool(report.roles.by), rows
    )


def _costs(block: ReportBlock) -> Iterator[Part]:
    """Yield the table of costs that differ by row."""
    if block.costs is not None:
        yield GAP
        yield cost_table(block.costs)


def _verdict(report: ReportData, block: ReportBlock) -> Iterator[Sentence]:
    from fastevals.show.report.verdict import page_cautions, verdict

    yield from (Sentence(text, "verdict") for text in verdict(report, block))
    yield from (Sentence(text, "caution") for text in page_cautions(report, block))


def _panels(report: ReportData, block: ReportBlock) -> Any:
    from fastevals.show.report.pictures import block_panels

    return block_panels(report, block, {"cost_fp": 1.0, "cost_fn": 1.0})


# Rows -----------------------------------------------------------------------------------------------------------------


def metric_rows(block: ReportBlock, columns: Sequence[str], models: Iterable[ModelNumbers] | None = None) -> list[Row]:
    """Return a row for each of `models` (by default all of the block's), with the best of each column marked.

    If models have their own thresholds, metrics at these have no mark: they are at different operating points.
    """
    made = {} if block.intervals is None else block.intervals.models
    several, own_thresholds = len(block.models) > 1, have_own_thresholds(block)
    rows = []
    for place, model in enumerate(block.models if models is None else models):
        intervals = made.get(model.name, {})
        cells: list[AnyCell | str] = []
        for name in columns:
            if name in (BAR, THRESHOLD):
                cells.append(BAR if name == BAR else model.threshold_shown)
            else:
                is_comparable = several and not (own_thresholds and SCORE_METRICS[name].of == "cells")
                is_best = is_comparable and model.name in block.best[name]
                cells.append(Number(model.metrics[name], _interval(intervals, name), "best" if is_best else ""))
        rows.append(Row(model.name, cells, place))
    return rows


def difference_rows(pairs: Iterable[ModelPair], columns: Sequence[str]) -> list[Row]:
    """Return a row for each pair of models."""
    rows = []
    for model, reference, of_metrics in pairs:
        found = [_difference(of_metrics, name) for name in columns]
        cells = [
            DifferenceCell(*each) if each is not None else BAR if name == BAR else ""
            for name, each in zip(columns, found, strict=True)
        ]
        short = " - ".join(shorten_name(printable(name), LONGEST_NAME // 2 - 1) for name in (model, reference))
        rows.append(Row(f"{model} - {reference}", cells, short=short))
    return rows


def _interval(intervals: Mapping[str, Interval], name: str) -> Interval | None:
    """Return a metric's interval, if there is one; Gini's is 2 x AUC's - 1."""
    if name == GINI and AUC in intervals:
        low, high = intervals[AUC]
        return Interval(2 * low - 1, 2 * high - 1)
    return intervals.get(name)


def _difference(differences: Mapping[str, ModelDifference], name: str) -> ModelDifference | None:
    """Return the difference in a metric, if there is one; Gini's is 2 x AUC's, with the same p."""
    if name == GINI and AUC in differences:
        value, (low, high), pvalue = differences[AUC]
        return ModelDifference(2 * value, Interval(2 * low, 2 * high), pvalue)
    return differences.get(name)


# Tables of the text ---------------------------------------------------------------------------------------------------


def _quoted(report: ReportData, block: ReportBlock) -> Table:
    """Return one line for each model: AUC, Gini, AP, Brier score, and predicted / observed; two have intervals."""
    made = {} if block.intervals is None else block.intervals.models
    models = [model for each in all_blocks(report) for model in each.models]
    more = [GINI, *(name for name in QUOTED if not all(math.isnan(model.metrics[name]) for model in models))]
    known, planned = any(model.calibrated is not None for model in models), report.plan is not None
    level = f" ({100 * report.plan.confidence_level:.6g} %)" if report.plan is not None else ""
    rows = []
    for model in block.models:
        numbers = [format_number(model.metrics[name]) for name in more]
        cells = [_with_ends((model.metrics[AUC], *made.get(model.name, {}).get(AUC, NOWHERE))), *numbers]
        if known:
            cells.append(written_ratio(model.calibrated, with_interval=planned))
        rows.append(Row(model.name, cells))
    heads = ["model", f"{SCORE_METRICS[AUC].title}{level if any(made.values()) else ''}", *map(metric_title, more)]
    return Table("quoted", "Summary", [*heads, *[f"{RATIO}{level}"] * known], rows, only=TEXT, aligned="quoted")


def _with_ends(values: Sequence[float]) -> str:
    """Return a value and the ends of its interval, if it has one."""
    value, low, high = map(format_number, values)
    return value if math.isnan(values[1]) else f"{value} [{low}, {high}]"


def _metrics_written(report: ReportData, block: ReportBlock) -> Table:
    """Return a row for each model, with intervals below; metrics at a threshold are to the right of a bar."""
    columns: Sequence[str] = report.metrics
    if report.roles.kind == "scores":
        columns = [*RANKING_COLUMNS, BAR, THRESHOLD, *_at_threshold(report)]
    return models_table(report, "metrics", columns, metric_rows(block, columns))


def _at_threshold(report: ReportData) -> list[str]:
    others = {*RANKING_COLUMNS, *PROBABILITY_COLUMNS}
    return [name for name in report.metrics if name not in others]


def _written(report: ReportData, block: ReportBlock, k: int, compared: Callable[[str], list[str]]) -> Iterator[Part]:
    """Yield the text's tables after the notes, each after an empty line."""
    error, has_scores = PROBABILITY_COLUMNS[0], report.roles.kind == "scores"
    models = [model for model in block.models if has_scores and not math.isnan(model.metrics[error])]
    tables = [
        models_table(report, "probabilities", PROBABILITY_COLUMNS, metric_rows(block, PROBABILITY_COLUMNS, models)),
        _calibration_written(report, block),
        _priors_written(block.models),
        *(_classes_written(model, model.classes, k) for model in block.models if model.classes is not None),
        *(differences_written(report, kind, block, compared(kind)) for kind in ("differences", "against")),
    ]
    for table in tables:
        yield from (GAP, table)
        if table.kind == "calibration":
            yield from (Sentence(note, "note") for note in undefined_calibration(block.models))
    for model in block.models:
        if model.gains is not None:
            yield from gain_parts(model.name, model.gains)


def models_table(report: ReportData, kind: str, columns: Sequence[str], rows: Iterable[Row]) -> Table:
    """Return a table of the text with a row for each of `rows`, intervals below."""
    titles = [column if column == BAR else metric_title(column) for column in columns]
    heads = ["model", *(f"{title} " if len(title) < SHORT_TITLE and title != BAR else title for title in titles)]
    ends = interval_heads(report.plan)
    return Table(kind, "Metrics", heads, list(rows), only=TEXT, ends=ends, marked=True, aligned=kind)


def _calibration_written(report: ReportData, block: ReportBlock) -> Table:
    rows = calibration_rows(block.models, with_intervals=report.plan is not None)
    ends = interval_heads(report.plan)
    return Table("calibration", "Calibration", ["model", *COLUMNS], rows, only=TEXT, ends=ends, aligned="calibration")


def _priors_written(models: Iterable[ModelNumbers]) -> Table:
    """Return the priors for which each threshold of least cost remains best, and each model is worth using."""
    rows = [
        Row(model.name, [Range(*model.holds), Range(*(model.operating_range or NOWHERE))])
        for model in models
        if model.holds is not None
    ]
    columns = ["model", "priors where threshold is best", "priors where model beats all or none"]
    return Table("priors", "Priors", columns, rows, only=TEXT, aligned="priors")


def _classes_written(model: ModelNumbers, classes: OfClasses, k: int) -> Table:
    """Return a row for each class, or for those with the lowest F1 if there are many."""
    labels, sizes = classes.matrix.labels, classes.matrix.counts.sum(axis=1)
    order, more = np.arange(sizes.size), ""
    if sizes.size > CLASSES_WRITTEN:
        order = np.argsort(classes.metrics["f1"], kind="stable")[:CLASSES_WRITTEN]
        more = f", the lowest {CLASSES_WRITTEN} of {sizes.size}"
    names = list(classes.metrics)
    columns = [f"{shorten_name(printable(model.name))}, class{more}", "rows", *map(metric_title, names)]
    rows = [
        Row(
            format_label(labels[k].item()),
            [f"{sizes[k]:g}", *(format_number(classes.metrics[name][k]) for name in names)],
        )
        for k in order.tolist()
    ]
    return Table("classes", "Classes", columns, rows, only=TEXT, aligned=f"classes {k}")


def _compared(report: ReportData, kind: str) -> list[str]:
    """Return the columns in which some block has differences."""
    present = {name for each in all_blocks(report) for pair in _pairs(each, kind) for name in pair.metrics}
    if report.roles.kind != "scores":
        return [name for name in report.metrics if name in present]
    left, right = ([name for name in names if name in present] for names in (RANKING_COLUMNS, _at_threshold(report)))
    return [*left, BAR, *right] if right else left


def differences_written(report: ReportData, kind: str, block: ReportBlock, columns: Sequence[str]) -> Table:
    """Return four lines for each pair of models: the differences, the ends of their intervals, and p."""
    heads = ["difference", *(column if column == BAR else metric_title(column) for column in columns)]
    rows, ends = difference_rows(_pairs(block, kind), columns), interval_heads(report.plan)
    return Table(kind, "Differences", heads, rows, only=TEXT, ends=ends, aligned=kind)


def _pairs(block: ReportBlock, kind: str) -> Sequence[ModelPair]:
    if kind == "against":
        return block.against
    return () if block.intervals is None else block.intervals.differences


# Tables of pages, and of Markdown -------------------------------------------------------------------------------------


def _tables(report: ReportData, block: ReportBlock) -> Iterator[Part]:
    names = [name for name in report.metrics if not all(math.isnan(model.metrics[name]) for model in block.models)]
    if AUC in names and report.roles.kind == "scores":
        names.insert(names.index(AUC) + 1, GINI)
    titles = list(map(metric_title, names))
    if report.roles.kind == "scores":
        yield live_table(block, threshold_note(report))
    note = threshold_note(report) if report.roles.kind == "scores" else ""
    yield Table("metrics", "Metrics", ["Model", *titles], metric_rows(block, names), note=note)
    if report.roles.kind == "labels":
        yield _class_table(block.models)
    elif report.roles.kind == "probabilities":  # with many columns each
        for model in block.models:
            name = f" of {shorten_name(printable(model.name))}" * (len(block.models) > 1)
            yield _class_table([model])._replace(title=f"Classes{name}")
    calibrated = calibration_rows(block.models, with_intervals=report.plan is not None)
    yield Table("calibration", "Calibration", ["Model", *COLUMNS], calibrated)
    for model in block.models:
        if model.gains is not None:
            yield from gain_parts(model.name, model.gains)
    for kind, title in (("differences", "Differences of models"), ("against", "Against other rows")):
        yield Table("differences", title, ["Models", *titles], difference_rows(_pairs(block, kind), names), note=note)


def _class_table(of_models: Iterable[ModelNumbers]) -> Table:
    """Return a row for each class with the metrics of each model; cells are empty where a model lacks the class."""
    models = [(model, model.classes) for model in of_models if model.classes is not None]
    several = len(models) > 1
    names = list(models[0][1].metrics) if models else []
    rows_of: dict[Any, float] = {}
    rank: dict[str, dict[Any, int]] = {}  # of each label, by model
    columns, places = ["Class", "rows"], [-1]
    for place, (model, classes) in enumerate(models):
        for name in names:
            of_model = f" of {shorten_name(printable(model.name))}" if several else ""
            columns.append(f"{metric_title(name)}{of_model}")
            places.append(place if several else -1)
        labels, sizes = classes.matrix.labels.tolist(), classes.matrix.counts.sum(axis=1).tolist()
        rows_of |= dict(zip(labels, sizes, strict=True))
        rank[model.name] = {label: k for k, label in enumerate(labels)}
    rows = []
    for label in sorted(rows_of) if several else rows_of:
        cells: list[Any] = [Count(rows_of[label])]
        for model, classes in models:
            k = rank[model.name].get(label)
            cells += ["" if k is None else _class_cell(classes, name, k) for name in names]
        rows.append(Row(format_label(label), cells))
    return Table("classes", "Classes", columns, rows, places)


def _class_cell(classes: OfClasses, name: str, k: int) -> Number | Cell:
    ends: Any = classes.intervals.get(name)
    interval = None if ends is None else Interval(float(ends.low[k]), float(ends.high[k]))
    number = Number(float(classes.metrics[name][k]), interval)
    if name not in flat_classes(classes).get(k, ()):
        return number
    cell, wilson = number.on_page(), classes.wilson.get(name, Interval(*np.full((2, k + 1), math.nan)))
    ends = {f"Wilson {end}": float(each[k]) for end, each in wilson._asdict().items() if not math.isnan(each[k])}
    notes = (*cell.notes, wilson_note(classes, name, k) or "no width")
    return cell._replace(notes=notes, numbers={**cell.numbers, **ends})
