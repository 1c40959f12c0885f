"""The report of predictions that are no scores: classes, of two or many, and numbers.

The way of the data: `report_predictions` reads columns, and splits their rows into the blocks of the --by column. In
each block each model is measured, and one bootstrap makes the intervals of all models and of their differences. The
`PredictionReport` writes itself as text and JSON; pages and pictures are in prediction_page.py.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._choices import OnInvalid
from fastevals._distinct import sorted_unique
from fastevals._execution import progressed
from fastevals._naming import dropping, option
from fastevals._options import UndefinedMetricWarning, check_choice, naming_rows, show
from fastevals._text import WIDTH, format_label, format_number, format_tables, printable, shorten_name
from fastevals._validation.arrays import as_frequencies, as_weights, check_one_weight
from fastevals._validation.labels import Classes
from fastevals.counting.labels import rows_by_code
from fastevals.document.frames import Columns
from fastevals.infer.bootstrap.bootstrap import BootstrapResult, bootstrap
from fastevals.infer.comparison import ModelComparison, compare_predictions
from fastevals.infer.proportions import proportion_interval, share_interval
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import MEDIAN
from fastevals.measure.kinds import LABELS, TARGETS
from fastevals.measure.metric_specs import MetricSpec
from fastevals.reading.columns import STDIN, column_name, column_names, columns_by_role, data_name, is_path, read_data
from fastevals.reading.form import CsvForm
from fastevals.reading.rows import LeftOut
from fastevals.results import Interval, as_json, check_confidence_level
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.targets import TargetSummary
from fastevals.show.commands import MOST_PICTURED
from fastevals.show.predicted import EACH_CLASS, NUMBER_METRICS, class_metrics, read_classes, read_targets
from fastevals.show.report.intervals import (
    BCA,
    IntervalPlan,
    Intervals,
    as_plan,
    best_models,
    metric_title,
    read_intervals,
    why_no_squares,
    why_unknown_squares,
)
from fastevals.show.report.json import interval_values, left_out_values, pair_values
from fastevals.show.report.over_values import MOST_BLOCKS
from fastevals.show.report.streams import read_complete_rows
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
from fastevals.show.text_result import TextResult

if TYPE_CHECKING:
    from fastevals.document.page.page import Page

Floats = NDArray[np.float64]

CLASSES, NUMBERS = "classes", "numbers"
OF_EACH = {f"{name} of each class": spec for name, spec in EACH_CLASS.items()}  # as a bootstrap calls them
SHARES = {"precision": 0, "recall": 1}  # metrics of a class that are successes over trials: the axis that is summed
MOST_NAMED = 5  # classes in a note
MOST_ESTIMATED = 100  # classes, of more there are no intervals of each
MOST_WRITTEN = 20  # classes in the text
MOST_CELLS = 200  # classes whose matrix is in the JSON
MAPE = "mean_absolute_percentage_error"
NORMAL = "normal"
FEWEST_REPLICATES = 199  # replicates, however many rows there are
MOST_SORTED = 20_000  # rows whose median error is drawn: of more its interval is between two of the errors
NOT_MEASURED = {
    CLASSES: "Predicted classes have no ranking, no threshold and no calibration: these need scores.",
    NUMBERS: "Predicted numbers have errors, and no classes: what costs or thresholds make of them is not measured.",
}


# What a report is made of ---------------------------------------------------------------------------------------------


class PredictionRoles(NamedTuple):
    """Which column is what."""

    truth: str  # the true class or number
    models: tuple[str, ...]
    sample_weight: str | None
    by: str | None
    groups: str | None
    frequency_weight: str | None = None  # numbers of copies of rows

    @property
    def lacking(self) -> dict[str, str]:
        """What rows lack that have no value in a column, in words."""
        found = {name: f"a prediction of {printable(name)}" for name in self.models}
        return found if self.sample_weight is None else found | {self.sample_weight: "a finite weight"}


class ErrorShape(NamedTuple):
    """How a model's errors, predictions less targets, are spread."""

    edges: Floats  # of bins of errors, shape (n_bins + 1,): the outer bins hold all beyond, too
    shares: Floats  # of rows in each
    sizes: Floats  # ascending sizes of errors, at equal steps of the share of rows
    within: Floats  # share of rows with an error of at most each size
    predicted: Floats  # mean prediction of each tenth of the rows, by predictions
    observed: Floats  # mean target of these


@dataclass(frozen=True, slots=True)
class PredictedModel:
    """One model's numbers in a block."""

    name: str
    metrics: dict[str, float]  # by what their columns are called; NaN where undefined
    matrix: ConfusionMatrix | None = None
    classes: dict[str, Floats] = field(default_factory=dict)  # by metric, of each class
    class_intervals: dict[str, Interval] = field(default_factory=dict)  # the same: arrays
    wilson: dict[str, Interval] = field(default_factory=dict)  # of shares, where those have no width: arrays, else NaN
    errors: ErrorShape | None = field(default=None, repr=False, compare=False)  # for pictures


@dataclass(frozen=True, slots=True)
class PredictionBlock:
    """Rows that share a value of the --by column, or all; counts are of rows with weight above zero."""

    value: Any
    n_samples: int
    total_weight: float | None
    models: tuple[PredictedModel, ...]
    best: Mapping[str, tuple[str, ...]]
    intervals: Intervals | None
    n_resamples: int | None = None  # replicates: fewer than the plan's where its budget is not enough for these


class ValueTable(NamedTuple):
    """One metric of each value of the --by column."""

    values: list[Any]
    n_samples: NDArray[np.int64]
    metric: str
    of_models: dict[str, tuple[Floats, Floats]]  # by model, of shapes (n_values,) and (n_values, 2): NaN without one


@dataclass(frozen=True, slots=True, repr=False)
class PredictionReport(TextResult):
    """A report of predicted classes or numbers, which prints itself as text.

    Attributes
    ----------
    data : str
        Where the columns are from.
    kind : "classes" or "numbers"
    roles : PredictionRoles
    classes : Classes or None
        Those that occur, the positive one of two last; None of numbers.
    metrics : tuple of str
        What columns of tables are called.
    blocks : tuple of PredictionBlock
        By ascending value of the --by column; none where there are more than 100.
    plan : IntervalPlan or None
        How intervals were made; None where none are wanted.
    over : ValueTable or None
        Of the --by column's values, where there are two or more.
    n_weightless : int
        Rows of weight zero, left out.
    not_measured : tuple of str
        What is not, and why.
    left_out : LeftOut
        Rows without a value that they need, by the columns that lack it.
    """

    data: str
    kind: str
    roles: PredictionRoles
    classes: Classes | None
    metrics: tuple[str, ...]
    blocks: tuple[PredictionBlock, ...]
    plan: IntervalPlan | None
    over: ValueTable | None = None
    n_weightless: int = 0
    not_measured: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as strict JSON: NaN is None, what is infinite "Infinity"."""
        roles, plan = self.roles, self.plan
        values: dict[str, Any] = {
            "fastevals": __version__,
            "data": self.data,
            "predicted": self.kind,
            "label" if self.kind == CLASSES else "target": roles.truth,
            "classes": None if self.classes is None else self.classes.labels,
            "pos_label": None if self.classes is None else self.classes.pos_label,
            "weight": roles.sample_weight,
            "frequency_weight": roles.frequency_weight,
            "by": roles.by,
            "n_dropped": self.left_out.n_rows,
            "dropped": left_out_values(self.left_out),
            "not_measured": self.not_measured,
            "intervals": None
            if plan is None
            else {
                "confidence": plan.confidence_level,
                "resamples": plan.n_resamples,
                "seed": plan.seed,
                "group": roles.groups,
            },
            "over": None if self.over is None else _over_values(self.over),
            "blocks": [self._block_values(block) for block in self.blocks],
        }
        return {name: as_json(value) for name, value in values.items()}

    def _block_values(self, block: PredictionBlock) -> dict[str, Any]:
        intervals = block.intervals
        return {
            "value": block.value,
            "n_samples": block.n_samples,
            "total_weight": block.total_weight,
            "models": [self._model_values(block, model) for model in block.models],
            "best": {name: list(models) for name, models in block.best.items()},
            "differences": [] if intervals is None else [pair_values(pair) for pair in intervals.differences],
            "intervals": None
            if intervals is None
            else {
                "method": intervals.method,
                "resamples": block.n_resamples,
                "n_groups": intervals.n_groups,
                "n_undefined": intervals.n_undefined,
                "notes": cautions(self, block),
            },
        }

    def _model_values(self, block: PredictionBlock, model: PredictedModel) -> dict[str, Any]:
        intervals = None
        if block.intervals is not None:
            made = block.intervals.models.get(model.name, {})
            intervals = {name: interval_values(made.get(name)) for name in self.metrics}
        values: dict[str, Any] = {"name": model.name, "metrics": model.metrics, "intervals": intervals}
        if model.matrix is not None:
            classes = {
                name: {
                    "values": each,
                    "intervals": _end_rows(model.class_intervals.get(name)),
                    "wilson": _end_rows(model.wilson.get(name)),
                }
                for name, each in model.classes.items()
            }
            labels = model.matrix.labels
            counts = model.matrix.counts if labels.size <= MOST_CELLS else None
            values |= {"confusion": counts, "labels": labels, "classes": classes}
        return values

    def to_text(self) -> str:
        """Return the report as text to read, the last line with a line end."""
        lines = [f"fastevals report: {printable(self.data)}"]
        for name, text in describe(self).items():
            lines += textwrap.wrap(text, WIDTH, initial_indent=f"{name:11}", subsequent_indent=" " * 11)
        if self.over is not None:
            lines += ["", *_over_lines(self, self.over)]
        models = format_tables([self._model_table(block) for block in self.blocks])
        differences = format_tables([
            difference_table(self.plan, () if block.intervals is None else block.intervals.differences, self.metrics)
            for block in self.blocks
        ])  # fmt: skip
        for block, table, compared in zip(self.blocks, models, differences, strict=True):
            lines.append("")
            if self.roles.by is not None:
                lines.append(f"{block_title(self.roles.by, block.value)}: {describe_rows(block)}")
            lines += table
            lines += note_lines("- : ", _undefined(block, self.metrics))
            lines += note_lines("! : ", cautions(self, block))
            for of_classes in format_tables(_class_tables(block)):
                lines += ["", *of_classes]
            lines += ["", *compared] if compared else []
        return "\n".join(lines) + "\n"

    def _model_table(self, block: PredictionBlock) -> list[list[str]]:
        table = [["model", *map(heading, self.metrics)]]
        for model in block.models:
            table.append([printable(model.name), *(marked_number(block, model, name) for name in self.metrics)])
            table += interval_rows(self.plan, block.intervals, model.name, self.metrics)
        return table

    def _columns(self) -> Columns:
        from fastevals.show.report.rows import prediction_report_columns

        return prediction_report_columns(self)

    def to_page(self) -> Page:
        """Return what the report's page shows."""
        from fastevals.show.report.prediction_page import prediction_page

        return prediction_page(self)


def describe(report: PredictionReport) -> dict[str, str]:
    """Return what is said of columns, rows and intervals, by name."""
    roles, truth = report.roles, printable(report.roles.truth)
    entries = {"target": truth}
    if report.classes is not None:
        labels, positive = report.classes
        known = f", positive class {format_label(positive)}" if positive is not None else ""
        if labels.size == 2 and positive is None:
            known = f"; {option('pos_label')} gives precision, recall and F1 of one"
        entries = {"label": f"{truth}, {labels.size} class{'es' * (labels.size != 1)}{known}"}
    weight = roles.sample_weight if roles.frequency_weight is None else roles.frequency_weight
    if weight is not None:
        left_out = f", {report.n_weightless} of weight zero left out" if report.n_weightless else ""
        entries["weight" if roles.frequency_weight is None else "copies"] = printable(weight) + left_out
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


def describe_rows(block: PredictionBlock) -> str:
    """Return how many rows a block has."""
    rows = f"{block.n_samples:,} row{'s' * (block.n_samples != 1)}"
    return rows if block.total_weight is None else f"{rows}; weight {block.total_weight:.6g}"


def cautions(report: PredictionReport, block: PredictionBlock) -> list[str]:
    """Return why a block has no intervals, or what is to be thought of those it has."""
    first = block is report.blocks[0]
    taken = left_out_cautions(report.left_out, report.roles.models, "a prediction") if first else []
    notes = taken + interval_cautions(report, block, [("row", "s", block.n_samples)])
    return notes + [_on_flat_classes(model) for model in block.models if flat_classes(model)]


def flat_classes(model: PredictedModel) -> dict[int, list[str]]:
    """Return the metrics of each class, by its place, whose intervals have no width."""
    found: dict[int, list[str]] = {}
    for name, (low, high) in model.class_intervals.items():
        for k in np.flatnonzero(np.equal(low, high)).tolist():
            found.setdefault(k, []).append(name)
    return dict(sorted(found.items()))


def _on_flat_classes(model: PredictedModel) -> str:
    assert model.matrix is not None
    flat, said = flat_classes(model), []
    for k in list(flat)[:MOST_NAMED]:
        names = [f"{metric_title(name)}{_wilson_of(model, name, k)}" for name in flat[k]]
        said.append(f"{format_label(model.matrix.labels[k].item())}: {', '.join(names)}")
    more = [f"{len(flat) - MOST_NAMED} more"] if len(flat) > MOST_NAMED else []
    return (
        f"intervals without width for classes of {printable(model.name)}, {'; '.join(said + more)}. All their "
        "replicates are equal, which says nothing about how sure these values are"
    )


def _wilson_of(model: PredictedModel, name: str, k: int) -> str:
    note = wilson_note(model, name, k)
    return f" ({note})" if note else ""


def wilson_note(model: PredictedModel, name: str, k: int) -> str:
    """Return Wilson's interval of a class in words, where it stands in for one without width."""
    interval: Any = model.wilson.get(name)
    if interval is None or np.isnan(interval.low[k]):
        return ""
    return f"Wilson {format_number(interval.low[k])} to {format_number(interval.high[k])}"


def _undefined(block: PredictionBlock, metrics: Iterable[str]) -> list[str]:
    notes = []
    for name in metrics:
        models = [printable(model.name) for model in block.models if math.isnan(model.metrics[name])]
        if models:
            why = "all targets are equal" if name == "r2" else "0/0"
            notes.append(f"{metric_title(name)} of {', '.join(models)} undefined ({why})")
    return notes


def _class_tables(block: PredictionBlock) -> list[list[list[str]]]:
    """Return for each model a row a class; of many those with the lowest F1."""
    tables = []
    for model in block.models:
        if model.matrix is None:
            continue
        sizes = model.matrix.counts.sum(axis=1)
        order, more = np.arange(sizes.size), ""
        if sizes.size > MOST_WRITTEN:
            order = np.argsort(model.classes["f1"], kind="stable")[:MOST_WRITTEN]
            more = f", the lowest {MOST_WRITTEN} of {sizes.size}"
        name = shorten_name(printable(model.name))
        table = [[f"{name}, class{more}", "rows", *map(metric_title, EACH_CLASS)]]
        for k in order.tolist():
            numbers = [format_number(model.classes[name][k]) for name in EACH_CLASS]
            table.append([format_label(model.matrix.labels[k].item()), f"{sizes[k]:g}", *numbers])
        tables.append(table)
    return tables


def _over_lines(report: PredictionReport, over: ValueTable) -> list[str]:
    """Return the lowest and the highest values of the --by column."""
    title, by = metric_title(over.metric), printable(str(report.roles.by))
    lines = []
    for name, (numbers, _) in over.of_models.items():
        defined = np.flatnonzero(~np.isnan(numbers))
        text = f"{title} of {printable(name)} over {len(over.values):,} values of {by}: undefined"
        if defined.size:
            low, high = (defined[at(numbers[defined])] for at in (np.argmin, np.argmax))
            ends = [f"{format_number(numbers[k])} ({format_label(over.values[k])})" for k in (low, high)]
            mean = np.average(numbers[defined], weights=over.n_samples[defined])
            text = f"{title} of {printable(name)} over {len(over.values):,} values of {by}: "
            text += f"mean by rows {format_number(mean)}, from {ends[0]} to {ends[1]}"
        lines += textwrap.wrap(text, WIDTH, subsequent_indent="    ")
    return lines


def _over_values(over: ValueTable) -> dict[str, Any]:
    models = [
        {"name": name, "values": numbers, "intervals": [None if math.isnan(low) else [low, high] for low, high in ends]}
        for name, (numbers, ends) in over.of_models.items()
    ]
    return {"values": over.values, "n_samples": over.n_samples, "metric": over.metric, "models": models}


def _end_rows(interval: Any) -> list[list[float] | None] | None:
    if interval is None:
        return None
    return [interval_values(Interval(*ends)) for ends in np.stack(interval, axis=1).tolist()]


# Reading --------------------------------------------------------------------------------------------------------------


class _PredictedRows(NamedTuple):
    """Rows of the data, or of a block: arrays of shape (n_rows,)."""

    true: NDArray[Any]
    predicted: dict[str, NDArray[Any]]
    weights: Floats | None
    groups: NDArray[np.intp] | None

    def take(self, rows: Any) -> _PredictedRows:
        """Return some of the rows, by index or mask."""
        weights, groups = (None if column is None else column[rows] for column in (self.weights, self.groups))
        return _PredictedRows(
            self.true[rows], {name: each[rows] for name, each in self.predicted.items()}, weights, groups
        )


def report_predictions(
    data: Any,
    *,
    label: str | None = None,
    target: str | None = None,
    pred: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    by: str | None = None,
    pos_label: Any = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: Any = 0,
    groups: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    on_invalid: OnInvalid = "raise",
    progress: bool = False,
    n_pictured: int = MOST_PICTURED,
) -> PredictionReport:
    """Measure models' predictions in each block; arguments as `report`."""
    form = CsvForm.checked(separator, encoding, header)
    others = {"sample_weight": sample_weight, "frequency_weight": frequency_weight, "by": by, "groups": groups}
    label, target, sample_weight, frequency_weight, by, groups = (
        column_name(role, name) for role, name in {"label": label, "target": target, **others}.items()
    )
    check_one_weight(sample_weight, frequency_weight, (option("sample_weight"), option("frequency_weight")))
    models = column_names("pred", pred)
    plan = as_plan(n_resamples, confidence_level, rng)
    if isinstance(data, (ConfusionMatrix, ConfusionSummary, TargetSummary)):
        return _report_counted(data, target or label, models, plan, others | {"pos_label": pos_label})
    if label is not None and target is not None:
        raise ValueError(
            f"{option('target')} is a column of numbers, {option('label')} one of classes: give one of them"
        )
    if target is not None and pos_label is not None:
        raise ValueError(
            f"{option('pos_label')} goes with {option('label')}; {option('target')} is a column of numbers"
        )
    for name, value in (("label", label or target), ("pred", models)):
        if not value:
            other = f" (or {option('target')}, of numbers)" if name == "label" else ""
            what = "true classes" if name == "label" else "a model's predictions"
            raise ValueError(f"{option(name)}{other} is missing: it names the column of {what} in {data_name(data)}")
    if isinstance(data, (list, tuple)) or (isinstance(data, str) and data == STDIN):
        raise ValueError(f"{option('pred')} goes with one file or a frame, not with several or standard input")
    truth = str(label or target)
    kind = NUMBERS if target is not None else CLASSES
    roles = PredictionRoles(truth, models, sample_weight, by, groups, frequency_weight)
    role = "label" if kind == CLASSES else "target"
    named = [(option(role), truth), *((option("pred"), name) for name in models)]
    called = columns_by_role([*named, *((option(name), value) for name, value in _beside(roles).items())])
    numeric = [] if kind == CLASSES else [truth, *models]
    numeric += [name for name in (sample_weight, frequency_weight) if name is not None]
    check_choice(option("on_invalid"), on_invalid, OnInvalid)
    left_out = LeftOut()
    if on_invalid == "raise":
        names = set(called) - set(numeric)
        columns = read_data(data, called, numeric=numeric, names=names, form=form, hint=dropping())
    else:
        columns, left_out = read_complete_rows(data, called, numeric, form)
    with naming_rows(columns.line, dropping() if is_path(data) else ""):
        classes = None
        if kind == CLASSES:
            read = read_classes(columns, truth, models, pos_label)
            true, predicted, classes = read.true, read.predicted, read.classes
        else:
            true, predicted = read_targets(columns, truth, models)
        weights = None if sample_weight is None else as_weights(called[sample_weight], columns[sample_weight])
        copies = None
        if frequency_weight is not None:
            copies = as_frequencies(called[frequency_weight], columns[frequency_weight])
        drawn_together = None if groups is None else columns.encode_groups(called[groups], groups)
        values, codes = ([None], None) if by is None else columns.encode_values(called[by], by)
    rows, n_weightless = _PredictedRows(true, predicted, weights, drawn_together), 0
    times: Any = weights if copies is None else copies
    if times is not None and not (copies is None and times.all()):
        kept = np.flatnonzero(times) if copies is None else np.repeat(np.arange(copies.size), copies)
        rows, n_weightless = rows.take(kept), int(np.count_nonzero(times == 0))
        if codes is not None:
            present, codes = np.unique(codes[kept], return_inverse=True)
            values = [values[k] for k in present.tolist()]
    measure = _MeasurePredictions(kind, classes, plan, progress)
    metrics, not_measured = measure.metrics(rows), [NOT_MEASURED[kind]]
    if classes is not None and classes.labels.size > MOST_ESTIMATED:
        not_measured.append(f"Classes have no intervals of their own where there are more than {MOST_ESTIMATED}.")
    if kind == NUMBERS and MAPE not in metrics:
        n = int(np.count_nonzero(rows.true == 0))
        not_measured.append(f"{metric_title(MAPE)} is not measured: {n} target{'s are' if n > 1 else ' is'} zero.")
    if kind == NUMBERS and rows.true.size > MOST_SORTED and plan is not None:
        what = "no differences" if rows.weights is None and rows.groups is None else "no intervals"
        not_measured.append(f"{metric_title(MEDIAN)} has {what} where there are more than {MOST_SORTED:,} rows.")
    places = [None] if codes is None else rows_by_code(codes, len(values)) if len(values) <= MOST_BLOCKS else []
    parts = list(zip(values if places else [], places, strict=True))
    blocks = [
        measure.block(value, rows if part is None else rows.take(part), metrics, is_pictured=k < n_pictured)
        for k, (value, part) in enumerate(progressed(parts, "measuring"))
    ]
    over = None if codes is None or len(values) < 2 else measure.over(values, codes, rows)
    return PredictionReport(
        data_name(data), kind, roles, classes, tuple(metrics), tuple(blocks), plan, over, n_weightless,
        tuple(not_measured), left_out,
    )  # fmt: skip


def _beside(roles: PredictionRoles) -> dict[str, str | None]:
    others = {"by": roles.by, "groups": roles.groups}
    return {"sample_weight": roles.sample_weight, "frequency_weight": roles.frequency_weight, **others}


# Measuring ------------------------------------------------------------------------------------------------------------


class _MeasurePredictions(NamedTuple):
    """How blocks are measured."""

    kind: str
    classes: Classes | None
    plan: IntervalPlan | None
    progress: bool

    def metrics(self, rows: _PredictedRows) -> dict[str, MetricSpec]:
        """Return what is measured: relative errors only where no target is zero."""
        if self.classes is not None:
            return class_metrics(self.classes)
        return {name: spec for name, spec in NUMBER_METRICS.items() if name != MAPE or (rows.true != 0).all()}

    def block(
        self, value: Any, rows: _PredictedRows, metrics: Mapping[str, MetricSpec], *, is_pictured: bool
    ) -> PredictionBlock:
        """Measure each model, and make intervals."""
        total = None if rows.weights is None else float(rows.weights.sum())
        n_groups = None if rows.groups is None else int(sorted_unique(rows.groups).size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # notes say it
            if self.classes is not None:
                models = self._measure_classes(rows, metrics)
            else:
                models = _measure_numbers(rows, metrics, is_pictured)
            intervals, models = self._intervals(rows, metrics, models, n_groups)
        best = {name: best_models(name, models) for name in metrics}
        drawn = self._n_resamples(rows) if intervals is not None and intervals.method == BCA else None
        return PredictionBlock(value, rows.true.size, total, tuple(models), best, intervals, drawn)

    def _measure_classes(self, rows: _PredictedRows, metrics: Mapping[str, MetricSpec]) -> list[PredictedModel]:
        """Measure predicted classes by their matrices: of many classes those of the truth and the model's own."""
        assert self.classes is not None
        labels = None if self.classes.pos_label is None else self.classes.labels
        matrices = {
            name: ConfusionMatrix.from_predictions(rows.true, each, labels=labels, sample_weight=rows.weights)
            for name, each in rows.predicted.items()
        }
        return [_measure_matrix(name, matrix, metrics) for name, matrix in matrices.items()]

    def _intervals(
        self,
        rows: _PredictedRows,
        metrics: Mapping[str, MetricSpec],
        models: list[PredictedModel],
        n_groups: int | None,
    ) -> tuple[Intervals | None, list[PredictedModel]]:
        """Return intervals of what is defined, and the models with those of each class."""
        if self.plan is None:
            return None, models
        if n_groups == 1:
            return Intervals(why_none="all its rows are of one group", n_groups=1), models
        specs, each = _defined(metrics, models), {}
        is_sorted = self.kind == NUMBERS and rows.true.size > MOST_SORTED
        if is_sorted:
            specs.pop(MEDIAN, None)
        if self.classes is not None and self.classes.labels.size <= MOST_ESTIMATED:
            each = {
                label: spec
                for label, spec in OF_EACH.items()
                if any(np.isfinite(model.classes[spec.name]).any() for model in models)
            }
        if not specs:
            return Intervals(n_groups=n_groups), models
        result = self._resample(rows, specs | each)
        made = read_intervals(result, list(rows.predicted), specs, n_groups)
        if is_sorted and rows.weights is None and rows.groups is None:
            for name, predicted in rows.predicted.items():
                made.models[name][MEDIAN] = median_interval(rows.true, predicted, self.plan.confidence_level)
        are_independent = rows.weights is None and rows.groups is None
        return made, [
            _with_class_intervals(model, result, each, self.plan.confidence_level if are_independent else None)
            for model in models
        ]

    def _n_resamples(self, rows: _PredictedRows) -> int | None:
        """Return how many replicates the budget is enough for: all, where a number of them is asked for."""
        plan = self.plan
        is_counted = self.kind == CLASSES and rows.weights is None and rows.groups is None  # at no cost of rows
        if plan is None or plan.budget is None or is_counted:
            return None if plan is None else plan.n_resamples
        least = max(FEWEST_REPLICATES, math.ceil(1 / check_confidence_level(plan.confidence_level)[1]) - 1)
        return min(plan.n_resamples, max(least, plan.budget // (rows.true.size * len(rows.predicted))))

    def _resample(self, rows: _PredictedRows, specs: Mapping[str, MetricSpec]) -> BootstrapResult | ModelComparison:
        """Return one bootstrap of all models, or of the only one."""
        assert self.plan is not None
        settings: dict[str, Any] = {
            "n_resamples": self._n_resamples(rows), "confidence_level": self.plan.confidence_level,
            "rng": self.plan.seed, "groups": rows.groups, "sample_weight": rows.weights, "progress": self.progress,
        }  # fmt: skip
        if self.classes is not None and self.classes.pos_label is not None:
            settings["pos_label"] = self.classes.pos_label
        if len(rows.predicted) > 1:
            return compare_predictions(rows.true, rows.predicted, metrics=specs, **settings)
        (only,) = rows.predicted.values()
        return bootstrap((rows.true, only), specs, **settings)

    def over(self, values: list[Any], codes: NDArray[np.intp], rows: _PredictedRows) -> ValueTable:
        """Measure one metric of each value: accuracy, with Wilson's interval, or the root mean squared error."""
        n = np.bincount(codes, minlength=len(values))
        has_intervals = self.plan is not None and rows.groups is None
        level = self.plan.confidence_level if self.plan is not None else 0.95
        measure = _accuracies if self.classes is not None else _root_mean_squares
        name = "accuracy" if self.classes is not None else "root_mean_squared_error"
        found = {}
        for model, predicted in rows.predicted.items():
            numbers, ends = measure(rows.true, predicted, codes, rows.weights, len(values), level)
            found[model] = numbers, ends if has_intervals else np.full((len(values), 2), np.nan)
        return ValueTable(values, n, name, found)


def _measure_matrix(name: str, matrix: ConfusionMatrix, metrics: Mapping[str, MetricSpec]) -> PredictedModel:
    specs = [*metrics.values(), *EACH_CLASS.values()]
    found = LABELS.evaluate(matrix.counts[np.newaxis], matrix._classes, [LABELS.metric(spec) for spec in specs])
    values = dict(zip(metrics, (float(each[0]) for each in found), strict=False))
    classes = dict(zip(EACH_CLASS, (each[0] for each in found[len(metrics) :]), strict=True))
    return PredictedModel(name, values, matrix, classes)


def _measure_numbers(
    rows: _PredictedRows, metrics: Mapping[str, MetricSpec], is_pictured: bool
) -> list[PredictedModel]:
    """Measure predicted numbers, all models in one sweep."""
    specs = [TARGETS.metric(spec) for spec in metrics.values()]
    targets, arrays = TARGETS.read(rows.true, rows.predicted)
    found = TARGETS.evaluate_rows(targets, list(arrays.values()), rows.weights, specs)
    shapes: list[ErrorShape | None] = [None] * len(arrays)
    if is_pictured:
        shapes = list(error_shapes(targets, list(arrays.values()), rows.weights))
    return [
        PredictedModel(name, dict(zip(metrics, (float(each[k]) for each in found), strict=True)), errors=shape)
        for k, (name, shape) in enumerate(zip(arrays, shapes, strict=True))
    ]


def _defined(metrics: Mapping[str, MetricSpec], models: Sequence[PredictedModel]) -> dict[str, MetricSpec]:
    return {name: spec for name, spec in metrics.items() if any(math.isfinite(model.metrics[name]) for model in models)}


def median_interval(targets: NDArray[Any], values: NDArray[Any], level: float) -> Interval:
    """Return the interval of the median absolute error between two of the errors, whatever their distribution.

    Source: David and Nagaraja (2003), *Order Statistics*, section 7.1.
    """
    from scipy.stats import binom

    errors = np.abs(np.subtract(values, targets, dtype=np.float64))
    below = max(int(binom.ppf(check_confidence_level(level)[1] / 2, errors.size, 0.5)), 1)
    errors.partition([below - 1, errors.size - below])
    return Interval(float(errors[below - 1]), float(errors[errors.size - below]))


def _with_class_intervals(
    model: PredictedModel,
    result: BootstrapResult | ModelComparison,
    each: Mapping[str, MetricSpec],
    confidence_level: float | None,
) -> PredictedModel:
    """Return a model with intervals of each of its classes; the result's are of those of all models.

    With the confidence level of whole rows that are independent, shares without width have Wilson's interval too.
    """
    matrix = model.matrix
    if matrix is None or result.labels is None:
        return model
    found: dict[str, Interval] = {}
    order = np.argsort(result.labels, kind="stable")  # the positive one of two is last
    places = order[np.searchsorted(result.labels[order], matrix.labels)]
    for label, spec in each.items():
        estimate = result[label].estimates[model.name] if isinstance(result, ModelComparison) else result[label]
        ends: Any = estimate.confidence_interval  # of each class
        low, high = ends
        found[spec.name] = Interval(low[places], high[places])
    wilson: dict[str, Interval] = {}
    if confidence_level is not None:
        right, alpha = np.diag(matrix.counts), check_confidence_level(confidence_level)[1]
        for name in SHARES.keys() & {name for name, each in found.items() if np.equal(*each).any()}:
            ends = share_interval(right, matrix.counts.sum(axis=SHARES[name]) - right, "wilson", alpha, "two-sided")
            ends[0][~np.equal(*found[name])] = math.nan
            wilson[name] = Interval(*ends)
    return replace(model, class_intervals=found, wilson=wilson)


# Errors, for pictures -------------------------------------------------------------------------------------------------

N_BINS, N_SIZES, N_PARTS = 60, 256, 10
TAIL = 0.005  # share of errors on each side that is not drawn to scale


def error_shapes(targets: NDArray[Any], predictions: Sequence[NDArray[Any]], weights: Floats | None) -> Iterable[Any]:
    """Yield how each model's errors are spread, in bins that all models have."""
    errors = [np.subtract(values, targets, dtype=np.float64) for values in predictions]
    quantiles = [np.quantile(each, [TAIL, 1 - TAIL]) for each in errors]
    low, high = min(each[0] for each in quantiles), max(each[1] for each in quantiles)
    if not low < high:
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    edges = np.linspace(low, high, N_BINS + 1)
    for values, each in zip(predictions, errors, strict=True):
        shares = np.histogram(np.clip(each, low, high), edges, weights=weights)[0].astype(np.float64)
        order = np.argsort(np.abs(each), kind="stable")
        rows = np.ones(each.size) if weights is None else weights
        below = np.cumsum(rows[order]) / rows.sum()
        kept = sorted_unique(np.searchsorted(below, np.linspace(0, 1, N_SIZES)).clip(max=each.size - 1))
        by_value = np.argsort(values, kind="stable")
        parts = [part for part in np.array_split(by_value, N_PARTS) if part.size]
        means = [
            [float(np.average(column[part], weights=None if weights is None else weights[part])) for part in parts]
            for column in (values, targets)
        ]
        yield ErrorShape(edges, shares / shares.sum(), np.abs(each)[order][kept], below[kept], *map(np.array, means))


# Values of --by -------------------------------------------------------------------------------------------------------


def _accuracies(
    true: NDArray[Any], predicted: NDArray[Any], codes: NDArray[np.intp], weights: Floats | None, n: int, level: float
) -> tuple[Floats, Floats]:
    """Return each value's accuracy; Wilson's intervals, or those of standard errors where rows have weights."""
    right = (true == predicted).astype(np.float64)
    if weights is not None:
        return _wilson(right, codes, weights / weights.max(), n, level)
    rows, n_right = np.bincount(codes, minlength=n), np.bincount(codes, right, n).astype(np.int64)
    counts = np.zeros((n, 2, 2), dtype=np.int64)
    counts[:, 0, 0], counts[:, 0, 1] = n_right, rows - n_right
    ends = proportion_interval(ConfusionMatrix(counts), "accuracy", confidence_level=level)
    return n_right / rows, np.stack(ends, axis=1)


def _root_mean_squares(
    true: NDArray[Any], predicted: NDArray[Any], codes: NDArray[np.intp], weights: Floats | None, n: int, level: float
) -> tuple[Floats, Floats]:
    """Return each value's root mean squared error, with roots of the ends of the mean's interval."""
    errors = np.abs(np.subtract(true, predicted, dtype=np.float64))
    unit = float(errors.max()) or 1.0  # so that squares neither over- nor underflow
    means, ends = _means(np.square(errors / unit), codes, weights, n, level, (0.0, math.inf))
    return unit * np.sqrt(means), unit * np.sqrt(ends)


def _wilson(right: Floats, codes: NDArray[np.intp], weights: Floats, n: int, level: float) -> tuple[Floats, Floats]:
    """Return weighted accuracies by value, and Wilson's intervals of as many rows as weigh as unevenly as one row each.

    Source: Kish (1965), *Survey Sampling*, section 8.2: (sum of weights)**2 / (sum of their squares) rows.
    """
    from scipy.special import ndtri

    total = np.bincount(codes, weights, n)
    shares = np.bincount(codes, weights * right, n) / total
    rows = total**2 / np.bincount(codes, weights**2, n)
    z = float(ndtri(1 - check_confidence_level(level)[1] / 2))
    middle, room = (shares + z * z / (2 * rows)), z * np.sqrt(shares * (1 - shares) / rows + (z / (2 * rows)) ** 2)
    ends = np.stack([middle - room, middle + room], axis=1) / (1 + z * z / rows)[:, np.newaxis]
    return shares, np.clip(ends, 0.0, 1.0)


def _means(
    values: Floats, codes: NDArray[np.intp], weights: Floats | None, n: int, level: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return means by value, and their intervals by standard errors: NaN where there is a single row."""
    from scipy.stats import t

    weights = np.ones(values.size) if weights is None else weights / weights.max()
    rows, total = np.bincount(codes, minlength=n), np.bincount(codes, weights, n)
    means = np.bincount(codes, weights * values, n) / total
    squares = np.bincount(codes, np.square(weights * (values - means[codes])), n)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(squares * rows / (rows - 1)) / total
        margin = t.isf(check_confidence_level(level)[1] / 2, rows - 1) * errors
    return means, np.clip(np.stack([means - margin, means + margin], axis=1), *bounds)


# What was counted -----------------------------------------------------------------------------------------------------


def _report_counted(
    data: ConfusionMatrix | ConfusionSummary | TargetSummary,
    truth: str | None,
    models: tuple[str, ...],
    plan: IntervalPlan | None,
    beside: Mapping[str, Any],
) -> PredictionReport:
    """Report on what was counted of one model."""
    kind = type(data).__name__
    for name, value in beside.items():
        if value is not None:
            raise ValueError(f"{option(name)} goes with columns of rows, but data is a {kind}")
    if len(models) > 1:
        raise ValueError(f"{option('pred')} must be one name, of the model that a {kind} is of, got {list(models)}")
    model = models[0] if models else "pred"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if isinstance(data, TargetSummary):
            return _report_sums(data, truth or "target", model, plan)
        matrix = data.matrix() if isinstance(data, ConfusionSummary) else data
        if matrix.counts.ndim != 2:
            raise ValueError(f"data must be one matrix, not a stack of them, got counts of shape {matrix.counts.shape}")
        total = matrix.counts.sum()
        if not total > 0:
            raise ValueError(f"data must count rows, got {show(data)}")
        classes = matrix._classes
        metrics = class_metrics(classes)
        measured, intervals = _measure_matrix(model, matrix, metrics), None
        is_whole = matrix.counts.dtype.kind == "i"
        if plan is not None and isinstance(data, ConfusionSummary) and data._known_squares() is None:
            intervals = Intervals(why_none=why_unknown_squares())
        elif plan is not None and isinstance(data, ConfusionMatrix) and not is_whole:
            intervals = Intervals(why_none=why_no_squares())
        elif plan is not None:
            specs = _defined(metrics, [measured])
            each = OF_EACH if measured.classes["f1"].size <= MOST_ESTIMATED else {}
            settings: dict[str, Any] = {"confidence_level": plan.confidence_level, "rng": plan.seed}
            result = bootstrap(data, specs | each, n_resamples=plan.n_resamples, **settings)
            intervals = read_intervals(result, [model], specs, None)
            measured = _with_class_intervals(measured, result, each, plan.confidence_level if is_whole else None)
    n_rows = int(total) if is_whole else 0
    best = dict.fromkeys(metrics, (model,))
    block = PredictionBlock(None, n_rows, None if is_whole else float(total), (measured,), best, intervals)
    roles = PredictionRoles(truth or "label", (model,), None, None, None)
    said = (NOT_MEASURED[CLASSES],)
    return PredictionReport(kind, CLASSES, roles, classes, tuple(metrics), (block,), plan, not_measured=said)


def _report_sums(data: TargetSummary, target: str, model: str, plan: IntervalPlan | None) -> PredictionReport:
    """Report on sums of one model's errors, with intervals by standard errors."""
    if not data.n_samples:
        raise ValueError(f"data must count rows, got {show(data)}")
    median = "median_absolute_error"
    names = [name for name in NUMBER_METRICS if name not in (median, MAPE)]
    values = {name: float(data.metric(name)) for name in names}
    intervals = None
    if plan is not None and data._known_squares() is None:
        intervals = Intervals(why_none=why_unknown_squares())
    elif plan is not None:
        found = {name: data.confidence_interval(name, plan.confidence_level) for name in names}
        intervals = Intervals(NORMAL, models={model: found})
    measured, best = PredictedModel(model, values), dict.fromkeys(names, (model,))
    block = PredictionBlock(None, data.n_samples, None, (measured,), best, intervals)
    said = (
        NOT_MEASURED[NUMBERS],
        f"{metric_title(median)} and {metric_title(MAPE)} are not measured: sums don't tell these.",
    )
    roles = PredictionRoles(target, (model,), None, None, None)
    return PredictionReport(type(data).__name__, NUMBERS, roles, None, tuple(names), (block,), plan, not_measured=said)
