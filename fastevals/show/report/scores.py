"""The report of models' scores: a tree of plain values that text, JSON, pictures and pages are written from.

The way of the data: `report_scores` reads columns (../columns.py), checks options, makes `ScoredRows` of the columns
and splits them into the blocks of the --by column. Each model is measured in each block (`_Measure`), intervals.py
makes the block's intervals, and over_values.py measures over all blocks. The `Report` writes itself as text (text.py),
JSON (json.py) and page (page.py).
"""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import OnInvalid
from fastevals._execution import progressed
from fastevals._naming import dropping, option
from fastevals._options import UndefinedMetricWarning, check_costs, check_number, naming_rows, show
from fastevals._text import printable
from fastevals._validation.arrays import (
    as_frequencies,
    as_scores,
    as_weights,
    check_finite,
    check_one_weight,
    raise_not_finite,
)
from fastevals._validation.labels import binary_labels, distinct_pair
from fastevals.counting.labels import rows_by_code
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells, ThresholdCounts
from fastevals.datasets import load_digits_eight
from fastevals.document.frames import Columns
from fastevals.infer.bootstrap.few_cells import FewCells
from fastevals.infer.delong.placements import PlacementMoments, sum_placements
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import OF_PAIRS, SCORE_METRICS, find_metric
from fastevals.reading.columns import (
    NamedColumns,
    Reading,
    are_summaries,
    check_columns,
    column_name,
    column_names,
    columns_by_role,
    data_name,
    encode_values,
    is_path,
    parse_label,
    read_data,
)
from fastevals.reading.form import CsvForm
from fastevals.reading.rows import LeftOut, RowReader
from fastevals.results import Interval
from fastevals.scale.certified import Certified
from fastevals.scale.exact.scans import NotWholeError
from fastevals.scale.scores import ScoresSummary
from fastevals.show.commands import MOST_PICTURED, check_required_columns
from fastevals.show.report.intervals import (
    IntervalPlan,
    Intervals,
    ModelPair,
    ScoredRows,
    Subjects,
    as_plan,
    best_models,
    column_metrics,
    few_cells_of_rows,
    make_intervals,
    takes_cells,
)
from fastevals.show.report.over_values import (
    OverValues,
    gather_over_blocks,
    have_blocks,
    measure_over_values,
    why_no_delong,
)
from fastevals.show.report.streams import (
    CertifiedBlock,
    ExactStream,
    StreamedBlock,
    differences_from,
    open_reader,
    read_reference,
    read_rows,
    read_summaries,
    scored_rows,
    streamed_intervals,
    summarize_rows,
    summary_intervals,
    summary_name,
    summary_of_ranking,
)
from fastevals.show.text_result import TextResult

if TYPE_CHECKING:
    from fastevals.document.page.page import Page

EMBEDDED = "digits_eight (embedded)"
DIGIT_SCORES = ("logistic", "naive_bayes", "random_forest")
MOST_POINTS = 2560  # thresholds of a model that are all kept for pictures
PICTURED_PROBABILITIES = [k / 1000 for k in range(1001)]  # at which counts are exact, for pictures


@dataclass(frozen=True, slots=True, repr=False)
class Report(TextResult):
    """A report, which prints itself as text.

    Attributes
    ----------
    data : str
        Where the columns are from.
    roles : ColumnRoles
        The columns.
    pos_label : int, float, bool or str
        The positive class.
    best : str or None
        The metric by which each model's threshold is chosen in each block; None where `threshold` is given.
    threshold : float or None
        The threshold of all.
    costs : dict of str to float, or None
        ``cost_fp`` and ``cost_fn``, where given or used, and ``prior`` where given.
    n_weightless : int
        Rows of weight zero, left out.
    blocks : tuple of ReportBlock
        By ascending value; none where there are too many.
    plan : IntervalPlan or None
        How intervals were made; None where none are wanted.
    over : OverValues or None
        Metrics over the values of the --by column, where it has two or more.
    left_out : LeftOut
        Rows without a value that they need, such as a label or a finite score, by the columns that lack it.
    """

    data: str
    roles: ColumnRoles
    pos_label: Any
    best: str | None
    threshold: float | None
    costs: dict[str, float] | None
    n_weightless: int
    blocks: tuple[ReportBlock, ...]
    plan: IntervalPlan | None = None
    over: OverValues | None = field(default=None, compare=False)
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because they can't be counted."""
        return self.left_out.n_rows

    def to_dict(self) -> dict[str, Any]:
        """Return the report as strict JSON: NaN is None, an infinite threshold "Infinity"."""
        from fastevals.show.report.json import report_values  # which reads these fields

        return report_values(self)

    def to_text(self) -> str:
        """Return the report as text to read: lines of at most 120 characters for ordinary names."""
        from fastevals.show.report.text import report_text

        return report_text(self)

    def _columns(self) -> Columns:
        from fastevals.show.report.rows import report_columns

        return report_columns(self)

    def to_page(self) -> Page:
        """Return what the report's page shows."""
        from fastevals.show.report.page import report_page

        return report_page(self)

    def to_json(self) -> str:
        """Return the report as the command prints it with --format json: one line without blocks."""
        indent = 2 if self.blocks else None  # with it a million numbers take seconds, and a line each
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False) + "\n"


@dataclass(frozen=True, slots=True)
class ReportBlock:
    """Rows that share a value of the --by column, or all; counts are of rows with weight above zero."""

    value: Any  # of the --by column; None for all rows
    n_samples: int
    n_positives: int
    n_negatives: int
    total_weight: float | None  # None without weights
    positive_share: float  # by weight
    models: tuple[ModelNumbers, ...]  # in the order given
    best: dict[str, tuple[str, ...]]  # by metric, the models with the best value
    intervals: Intervals | None = None  # of what tables show; None where none are wanted
    against: tuple[ModelPair, ...] = ()  # the models, and what they were on other rows


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """One model's numbers in a block."""

    name: str  # column of its scores
    threshold: float  # rows with score >= threshold are predicted positive; NaN where no threshold is best
    threshold_shown: str  # with as few digits, from 6 up, as predict the same rows
    cells: Cells | None  # counts (or weights) there
    metrics: dict[str, float]  # by name, as in the registry; NaN where undefined
    # Where the threshold is that of least cost: the priors for which it stays that, and those for which the model is
    # cheaper than predicting all or none.
    holds: Interval | None = None
    operating_range: Interval | None = None
    # For pictures, in the first blocks: counts at some thousands of thresholds, the next score below each of these, and
    # calibration of probabilities.
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)
    below: NDArray[Any] | None = field(default=None, repr=False, compare=False)
    calibration: CalibrationCurve | None = field(default=None, repr=False, compare=False)
    auc_variance: float = math.nan  # DeLong's, where means over blocks need it
    bounds: dict[str, Interval] = field(default_factory=dict)  # of metrics that are in doubt: they hold for certain


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which column is what."""

    label: str  # the true class
    scores: tuple[str, ...]  # a model each
    weight: str | None = None  # of rows, or numbers of their copies
    by: str | None = None  # its values make the blocks
    groups: str | None = None  # a bootstrap draws rows that share its value together
    are_copies: bool = False  # whether weights are numbers of copies of rows

    @classmethod
    def checked(
        cls, label: str, scores: Sequence[str], sample_weight: str | None, frequency_weight: str | None, **others: Any
    ) -> ColumnRoles:
        """Return the columns; raise where rows have both weights and numbers of copies."""
        check_one_weight(sample_weight, frequency_weight, names=(option("sample_weight"), option("frequency_weight")))
        column = sample_weight if frequency_weight is None else frequency_weight
        return cls(label, tuple(scores), column, are_copies=frequency_weight is not None, **others)

    @property
    def weights(self) -> dict[str, str | None]:
        """The column of weights by its role; None for the other."""
        name = self.weight
        return {
            "sample_weight": None if self.are_copies else name,
            "frequency_weight": name if self.are_copies else None,
        }

    def message_names(self) -> dict[str, str]:
        """Return each column as messages call it, by option and name; raise if one has two roles."""
        others = [*self.weights.items(), ("by", self.by), ("groups", self.groups)]
        roles = [("label", self.label), *(("score", score) for score in self.scores), *others]
        return columns_by_role((option(role), name) for role, name in roles)

    @property
    def lacking(self) -> dict[str, str]:
        """What rows lack that have no value in a column, in words."""
        found = {self.label: "a label"} | {name: f"a finite score of {printable(name)}" for name in self.scores}
        return found if self.weight is None else found | {self.weight: "a finite weight"}

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that name groups of rows."""
        return tuple(name for name in (self.by, self.groups) if name is not None)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        return self.scores if self.weight is None else (*self.scores, self.weight)


class ThresholdRule(NamedTuple):
    """Where rows are predicted positive: from each model's best threshold by a metric in each block, or from one."""

    best: str | None  # name of the metric
    threshold: float | None
    costs: dict[str, float] | None  # cost_fp and cost_fn, where given or used, and prior where given


def report_scores(
    data: Any,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    by: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prior: float | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: Any = 0,
    groups: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    approximate: bool = False,
    on_invalid: OnInvalid = "raise",
    against: Any = None,
    progress: bool = False,
    n_pictured: int = MOST_PICTURED,
) -> Report:
    """Measure each model in each block, and over all values of the `by` column; arguments as `report`.

    The first `n_pictured` blocks keep what pictures of their models are made of.
    """
    form = CsvForm.checked(separator, encoding, header)
    others = {"sample_weight": sample_weight, "frequency_weight": frequency_weight, "by": by, "groups": groups}
    label, sample_weight, frequency_weight, by, groups = (
        column_name(role, name) for role, name in {"label": label, **others}.items()
    )
    others |= {"pos_label": pos_label}
    scores = column_names("score", score)
    ranking = as_ranking("data", data)
    is_counted = isinstance(ranking, BaseRanking)
    if is_counted:
        _check_no_columns(data, form, others, scores)
    if is_counted or data is None:
        label, scores = label or "label", scores or (("score",) if is_counted else DIGIT_SCORES)
    summary = read_summaries(data) if are_summaries(data) else None
    if is_counted and not ranking.n_samples:
        raise ValueError("data has no rows")
    if is_counted and type(ranking) is not Ranking:  # of which not each score is known
        summary, is_counted = summary_of_ranking(str(label), scores[0], ranking), False
    if summary is not None:
        _check_no_columns(data, form, others, ())
        label, scores = label or summary.label, scores or summary.models
        by = summary.by
        sample_weight, frequency_weight = (None, summary.weight) if summary.are_copies else (summary.weight, None)
    check_required_columns(data_name(data), label, scores)
    if against is not None and (summary is None or not are_summaries(against)):
        raise ValueError(f"{option('against')} goes with files of fastevals summarize, in its place and as the data")
    roles = ColumnRoles.checked(str(label), scores, sample_weight, frequency_weight, by=by, groups=groups)
    reading = Reading.checked(memory, approximate, on_invalid)
    reader = None
    if not (is_counted or summary is not None or reading.takes_whole(data, len(scores))):
        reader = open_reader(data, roles, form, pos_label, reading)
    is_read = is_counted or reader is not None or summary is not None
    columns = NamedColumns({}) if is_read else _read_columns(data, roles, form)
    with naming_rows(columns.line, dropping() if is_path(data) else ""):
        plan = as_plan(n_resamples, confidence_level, rng)
        rule = _threshold_rule(threshold, best, _costs(cost_fp, cost_fn, prior))
        measure = _Measure(roles, rule, plan, n_pictured, progress)
        left_out = LeftOut()
        if summary is not None:
            summary = summary.of_models(roles.label, scores)
            reference = None if against is None else read_reference(against, summary)
            measured = measure.summary(summary, reference, against)
            positive, n_weightless, left_out = summary.labels[0], summary.n_weightless, summary.left_out
        elif reader is not None and not reading.fits(reader.files, len(scores)):
            one_scan = reading.approximate or not reader.files.can_repeat
            try:
                measured = measure.in_one_scan(reader) if one_scan else measure.stream(reader, reading)
            except NotWholeError:  # of weights that are not whole numbers there are bounds
                measured = measure.in_one_scan(reader)
            positive, n_weightless = reader.positive, reader.n_weightless
        elif reader is not None:
            read = read_rows(reader)
            values, codes = _parted(roles, read.values, as_written=reader.files.is_csv)
            measured = measure.rows(scored_rows(read, reader), values, codes)
            positive, n_weightless = reader.positive, reader.n_weightless
        else:
            rows, positive = (
                _counted_rows(data, ranking, roles.scores[0]) if is_counted else _scored_rows(columns, roles, pos_label)
            )
            by_column = None if roles.by is None else columns[roles.by]
            values, codes = _parted(roles, by_column, as_written=roles.by in columns.as_written)
            n_weightless = 0 if rows.weights is None else int(np.count_nonzero(rows.weights == 0))
            if n_weightless:
                kept = rows.weights != 0
                rows = rows.take(kept)
                if codes is not None:
                    present, codes = np.unique(codes[kept], return_inverse=True)
                    values = [values[k] for k in present.tolist()]
            measured = measure.rows(rows, values, codes)
        if reader is not None:
            left_out = reader.left_out
    title = EMBEDDED if data is None else data_name(data) if reader is None else reader.files.name
    title = title if summary is None else summary_name(data)
    blocks, plan, over = measured
    return Report(title, roles, positive, *rule, n_weightless, tuple(blocks), plan, over, left_out)


class _Measure(NamedTuple):
    """How blocks are measured."""

    roles: ColumnRoles
    rule: ThresholdRule
    plan: IntervalPlan | None
    n_pictured: int
    progress: bool

    def rows(self, rows: ScoredRows, values: list[Any], codes: NDArray[np.intp] | None) -> Measured:
        """Measure rows in memory."""
        metrics, plan = column_metrics(*self.rule), self.plan
        blocks: list[ReportBlock] = []
        parts = _blocks_of_rows(values, codes, rows) if codes is None or have_blocks(values) else []
        if plan is not None:
            plan = plan.for_blocks([n_samples for _, n_samples, _ in parts], len(rows.scores))
        why_none = "" if plan is None or codes is None else why_no_delong(rows)
        for value, _, places in progressed(parts, "measuring"):
            block_rows = rows if places is None else rows.take(places)
            blocks.append(self.block(value, block_rows, metrics, plan, len(blocks), why_none is None))
        over = None
        if codes is not None and len(values) > 1:
            over = (
                gather_over_blocks(blocks, plan, why_none) if blocks else measure_over_values(values, codes, rows, plan)
            )
        return Measured(blocks, plan, over)

    def stream(self, reader: RowReader, reading: Reading) -> Measured:
        """Measure files in scans."""
        metrics, plan = column_metrics(*self.rule), self.plan
        thresholds = [] if self.rule.threshold is None else [self.rule.threshold]
        if self.n_pictured:
            thresholds += PICTURED_PROBABILITIES
        stream = ExactStream(reader, self.rule.best, self.rule.costs or {}, thresholds, reading.memory, self.progress)
        sizes = [block.n_samples for block in stream.blocks]
        plan = None if plan is None else plan.for_blocks(sizes, len(reader.scores))
        why_none = "" if plan is None else why_no_delong(reader)
        streamed = stream.count(plan, metrics)
        values = reader.value_names(block.totals.value for block in streamed)
        streamed.sort(key=lambda block: values[block.totals.value])
        models = [
            self.streamed_models(block, reader, k < self.n_pictured, why_none) for k, block in enumerate(streamed)
        ]
        defined = [_defined(metrics, each) for each in models]
        joint = {} if plan is None else stream.joint_sums(zip(streamed, defined, strict=True))
        blocks: list[ReportBlock] = []
        for block, measured, specs in zip(streamed, models, defined, strict=True):
            value = values[block.totals.value]
            if block.rows is not None:
                blocks.append(self.block(value, block.rows, metrics, plan, len(blocks), why_none is None))
                continue
            numbers = {model.name: {label: model.metrics[label] for label in specs} for model in measured}
            intervals = None
            if plan is not None:
                intervals = streamed_intervals(plan, specs, block, numbers, joint.get(block.totals.value))
            blocks.append(_report_block(value, _block_totals(block.ranking(0)), measured, intervals))
        over = gather_over_blocks(blocks, plan, why_none) if len(blocks) > 1 else None
        return Measured(blocks, plan, over)

    def streamed_models(
        self, block: StreamedBlock, reader: RowReader, is_pictured: bool, why_none: str | None
    ) -> list[ModelNumbers]:
        """Measure each model of a block whose rows are not in memory."""
        models = []
        for k, curve in enumerate(block.curves):
            model = _measure_model(reader.scores[k], block.ranking(k), self.rule, is_pictured, block.known(k))
            if reader.by is not None and why_none is None:
                model = replace(model, auc_variance=_variance(curve.moments))
            models.append(model)
        return models

    def in_one_scan(self, reader: RowReader) -> Measured:
        """Measure files in one scan."""
        thresholds = [] if self.rule.threshold is None else [self.rule.threshold]
        return self.summary(summarize_rows(reader, thresholds, self.progress))

    def summary(self, summary: ScoresSummary, reference: ScoresSummary | None = None, other: Any = None) -> Measured:
        """Measure what was counted in ranges of scores; also against other rows, where these are called so."""
        blocks: list[ReportBlock] = []
        metrics, plan = column_metrics(*self.rule), self.plan
        if reference is not None and plan is None:
            raise ValueError(
                f"{option('against')} needs replicates: {option('n_resamples', 0)} leaves nothing to compare"
            )
        if len(summary.blocks) > 1 and not have_blocks(list(summary.blocks)):
            raise ValueError(
                f"{option('by')} {summary.by!r} has {len(summary.blocks)} values, of which 100 are measured"
            )
        for value, counted in summary.blocks.items():
            block = CertifiedBlock(counted)
            models = []
            for name in summary.models:
                certified = block.certified(name)
                known = {metric: float(number) for metric, number in certified.items()} | block.losses(name)
                model = _measure_model(name, block.ranking(name), self.rule, len(blocks) < self.n_pictured, known)
                bounds = {
                    metric: Interval(number.low, number.high)
                    for metric, number in certified.items()
                    if isinstance(number, Certified)
                }
                bounds |= block.bounds_at(name, model.threshold, self.rule.costs or {})
                models.append(replace(model, bounds=bounds))
            defined = _defined(metrics, models)
            numbers = {model.name: {label: model.metrics[label] for label in defined} for model in models}
            doubts = {model.name: model.bounds for model in models}
            intervals = None if plan is None else summary_intervals(plan, defined, block, numbers, doubts)
            measured = _report_block(value, _block_totals(block.ranking(summary.models[0])), models, intervals)
            if reference is not None and plan is not None and value in reference.blocks:
                past = CertifiedBlock(reference.blocks[value])
                pairs = differences_from(plan, defined, block, past, summary.models, summary_name(other))
                measured = replace(measured, against=pairs)
            blocks.append(measured)
        return Measured(blocks, plan, gather_over_blocks(blocks, None, "") if len(blocks) > 1 else None)

    def block(
        self,
        value: Any,
        rows: ScoredRows,
        metrics: dict[str, MetricSpec],
        plan: IntervalPlan | None,
        number: int,
        wants_variance: bool,
    ) -> ReportBlock:
        """Measure each model on a block's rows, and make intervals of the metrics that one of them has."""
        totals, models = None, []
        cells: dict[str, FewCells] = {}
        by_cells = takes_cells(plan, rows)
        for name in progressed(rows.scores, "measuring models"):
            ranking = rows.ranking_of(name)  # and gone before the next: each has up to 32 bytes a row
            totals = totals or _block_totals(ranking)
            model = _measure_model(name, ranking, self.rule, number < self.n_pictured, _won_pairs(ranking))
            if wants_variance:
                model = replace(model, auc_variance=_variance(_moments(ranking.counts)))
            models.append(model)
            if by_cells:
                cells[name] = few_cells_of_rows(ranking, rows, name, metrics)
            del ranking
        intervals = None
        if plan is not None:
            defined = _defined(metrics, models)
            values = {model.name: {label: model.metrics[label] for label in defined} for model in models}
            intervals = make_intervals(plan, defined, rows, Subjects(values, cells), progress=self.progress)
        assert totals is not None
        return _report_block(value, totals, models, intervals)


class Measured(NamedTuple):
    """What a report is made of."""

    blocks: list[ReportBlock]
    plan: IntervalPlan | None
    over: OverValues | None


def _parted(
    roles: ColumnRoles, column: NDArray[Any] | None, *, as_written: bool
) -> tuple[list[Any], NDArray[np.intp] | None]:
    """Return the values of the blocks, and the place of each row's among them."""
    if column is None:
        return [None], None
    return encode_values(roles.message_names()[str(roles.by)], column, as_written=as_written)


# Columns and rows -------------------------------------------------------------------------------------------------


def _read_columns(data: Any, roles: ColumnRoles, form: CsvForm) -> NamedColumns:
    """Return the columns of the data, or of the embedded scores."""
    names = roles.message_names()
    if data is not None:
        return read_data(data, names, numeric=roles.numeric, names=roles.naming, form=form, hint=dropping())
    columns = load_digits_eight()
    check_columns(EMBEDDED, list(columns), names)
    return NamedColumns(columns)


def _scored_rows(columns: NamedColumns, roles: ColumnRoles, pos_label: Any) -> tuple[ScoredRows, Any]:
    """Return the rows that columns hold, checked, and the positive label; the labels are taken out of the columns."""
    names = roles.message_names()
    positive, positive_label = _positives(names[roles.label], columns.pop(roles.label), pos_label)
    scores = {}
    for name in roles.scores:
        scores[name] = as_scores(names[name], columns[name])
        check_finite(names[name], scores[name])
    read_weights = as_frequencies if roles.are_copies else as_weights
    weights = None if roles.weight is None else read_weights(names[roles.weight], columns[roles.weight])
    groups = None if roles.groups is None else columns.encode_groups(names[roles.groups], roles.groups)
    return ScoredRows(positive, scores, weights, groups, are_copies=roles.are_copies), positive_label


def _positives(name: str, labels: NDArray[Any], pos_label: Any) -> tuple[NDArray[np.bool_], Any]:
    """Return which rows are positive, and the positive label."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise_not_finite(name, labels)
    distinct = sorted(distinct_pair(labels))
    wanted = parse_label(pos_label, distinct) if isinstance(pos_label, str) else pos_label
    coded = BinaryLabels(*binary_labels(name, labels, wanted, option=option("pos_label")))
    return coded.flags(name).view(bool), type(distinct[0])(coded.positive)


def _check_no_columns(data: Any, form: CsvForm, others: dict[str, Any], score: Sequence[str]) -> None:
    """Raise if options that need columns come with a ranking or counts."""
    kind = type(data).__name__
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{option(name)} goes with columns of rows, but data is a {kind}")
    if options := form.options():
        raise ValueError(f"{options[0]} goes with a CSV file, but data is a {kind}")
    if len(score) > 1:
        raise ValueError(f"{option('score')} must be one name, of the model that a {kind} is of, got {list(score)}")


def _counted_rows(data: Any, ranking: Ranking, name: str) -> tuple[ScoredRows, Any]:
    """Return a row for each distinct score and class, weighted by how often it occurs, and the positive label."""
    counts = ranking.counts
    if isinstance(data, ThresholdCounts) and counts.tps.dtype.kind == "f":
        raise ValueError("data must count rows, but these ThresholdCounts are sums of weights: pass the Ranking")
    sizes = np.concatenate([np.diff(counts.tps), np.diff(counts.fps)])
    positive, scores = np.repeat([True, False], counts.tps.size - 1), np.tile(counts.thresholds[1:], 2)
    kept, are_copies = sizes > 0, counts.tps.dtype.kind == "i"
    return ScoredRows(positive[kept], {name: scores[kept]}, sizes[kept], None, ranking, are_copies), ranking.pos_label


def _blocks_of_rows(
    values: list[Any], codes: NDArray[np.intp] | None, rows: ScoredRows
) -> list[tuple[Any, int, NDArray[np.intp] | None]]:
    """Return each block's value, how many rows it has, and which; None for all."""
    if codes is None:
        return [(values[0], rows.n_samples, None)]
    places = rows_by_code(codes, len(values))
    sizes = [part.size for part in places]
    if rows.are_copies and rows.weights is not None:
        sizes = np.bincount(codes, rows.weights, len(values)).astype(np.int64).tolist()
    return list(zip(values, sizes, places, strict=True))


# Options ----------------------------------------------------------------------------------------------------------


def _threshold_rule(threshold: float | None, best: str | None, costs: dict[str, float] | None) -> ThresholdRule:
    """Return the options checked: by default the best F1, or the least expected cost where costs are given."""
    if threshold is None:
        best = ("f1" if costs is None else "expected_cost") if best is None else best
        best = find_metric(option("best"), best, of="cells").name
        if best == "expected_cost":
            costs = costs or _costs(1.0, 1.0)
    elif best is not None:
        raise ValueError(f"{option('best')} and {option('threshold')} exclude each other")
    elif isinstance(threshold, bool) or not isinstance(threshold, Real) or threshold != threshold:
        raise ValueError(f"{option('threshold')} must be a number, got {show(threshold)}")
    else:
        check_number(option("threshold"), threshold)
    return ThresholdRule(best, threshold, costs)


def _costs(cost_fp: float | None, cost_fn: float | None, prior: float | None = None) -> dict[str, float] | None:
    if cost_fp is None and cost_fn is None and prior is None:
        return None
    names = (option("cost_fp"), option("cost_fn"))
    fp, fn, _ = check_costs(*(1.0 if cost is None else cost for cost in (cost_fp, cost_fn)), names=names)
    costs = {"cost_fp": fp, "cost_fn": fn}
    return costs if prior is None else costs | {"prior": check_number(option("prior"), prior, low=0, high=1)}


# Numbers ----------------------------------------------------------------------------------------------------------


def _defined(metrics: dict[str, MetricSpec], models: Sequence[ModelNumbers]) -> dict[str, MetricSpec]:
    """Return the metrics that one of the models has."""
    return {
        name: spec for name, spec in metrics.items() if not all(math.isnan(model.metrics[name]) for model in models)
    }


Totals = tuple[int, int, int, float | None, float]


def _report_block(value: Any, totals: Totals, models: list[ModelNumbers], intervals: Intervals | None) -> ReportBlock:
    best = {name: best_models(name, models) for name in SCORE_METRICS}
    return ReportBlock(value, *totals, tuple(models), best, intervals)


def _block_totals(ranking: BaseRanking) -> Totals:
    """Return the rows, positives and negatives of a block, its weight and the share of positives."""
    counts = ranking.counts
    total = counts.n_pos + counts.n_neg
    weight = float(total) if counts.tps.dtype.kind == "f" else None
    return ranking.n_samples, ranking.n_positives, ranking.n_negatives, weight, counts.n_pos / total


def _won_pairs(ranking: Ranking) -> dict[str, float]:
    """Return the metrics that are known without a sweep of the counts."""
    exact = ranking._doubled_u_and_pairs()
    if exact is None:
        return {}
    doubled_u, pairs = exact
    return {name: won(doubled_u, 2 * pairs) / (2 * pairs) for name, won in OF_PAIRS.items()}


def _moments(counts: ThresholdCounts) -> PlacementMoments:
    whole = counts.tps.dtype.kind == "i"
    tps, fps = (each if whole else each.astype(np.int64) for each in (counts.tps, counts.fps))
    n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
    return PlacementMoments.from_placements(n_pos, n_neg, sum_placements(tps, fps, n_pos, n_neg))


def _variance(moments: PlacementMoments) -> float:
    return float(moments.covariance()[0, 0])


def _measure_model(
    name: str, ranking: BaseRanking, rule: ThresholdRule, is_pictured: bool, known: Mapping[str, float]
) -> ModelNumbers:
    """Compute every metric of the registry, those of a confusion matrix at the rule's threshold.

    `known` has metrics that are known without the counts.
    """
    best, threshold, costs = rule.best, rule.threshold, rule.costs or {}
    if best is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            options: dict[str, Any] = {name: costs[name] for name in SCORE_METRICS[best].options if name in costs}
            threshold = ranking.best_threshold(best, **options).threshold
    assert threshold is not None
    counts = ranking.counts
    cells = None if math.isnan(threshold) else counts.cells(counts.rows_at_least(np.asarray(threshold)))
    metrics = {}
    vertices = hull(counts)
    for metric in SCORE_METRICS.values():
        if metric.name in known:
            metrics[metric.name] = known[metric.name]
        elif metric.of != "cells":
            metrics[metric.name] = metric(vertices if metric.on_hull else counts)
        elif cells is None:
            metrics[metric.name] = math.nan
        else:
            metrics[metric.name] = float(metric(cells, **costs))
    plain = None if cells is None else Cells(*(np.asarray(cell).item() for cell in cells))
    holds = operating_range = None
    if best == "expected_cost":
        over = CostCurve(counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])
        holds = over._where_best(threshold, costs.get("prior", counts.n_pos / (counts.n_pos + counts.n_neg)))
        operating_range = over.operating_range()
    shown = _format_threshold(threshold, counts)
    numbers = ModelNumbers(name, threshold, shown, plain, metrics, holds, operating_range)
    return replace(numbers, **_pictured(counts, vertices, threshold)) if is_pictured else numbers


def _pictured(counts: ThresholdCounts, vertices: ThresholdCounts, threshold: float) -> dict[str, Any]:
    """Return what pictures of a model are made of."""
    is_calibrated = counts._has_each_score and are_probabilities(counts)
    calibration = CalibrationCurve.from_counts(counts) if is_calibrated else None
    rows = np.arange(counts.thresholds.size)
    if rows.size > MOST_POINTS:
        from fastevals.show.report.points import candidates

        rows = candidates(counts, vertices, [threshold])
    below = np.append(counts.thresholds[1:], -math.inf)[rows]
    return {"counts": counts.take(rows), "below": below, "calibration": calibration}


def _format_threshold(threshold: float, counts: ThresholdCounts) -> str:
    """Write a threshold so that what is read from paper predicts the same rows: it is a score, so mustn't round up."""
    if math.isnan(threshold):
        return "-"
    row = counts.rows_at_least(np.asarray(threshold))
    for digits in range(6, 18):
        text = f"{threshold:.{digits}g}"
        with contextlib.suppress(ValueError):  # between scores that are known
            if counts.rows_at_least(np.asarray(float(text))) == row:
                return text
    return str(threshold)
