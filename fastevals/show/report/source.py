"""Make reports: read columns, check options, and measure the rows in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import dropping, option
from fastevals._options import UndefinedMetricWarning, check_costs, check_number, listed, naming_rows, show
from fastevals._validation.arrays import (
    as_frequencies,
    as_scores,
    as_weights,
    check_finite,
    check_one_weight,
    raise_not_finite,
)
from fastevals._validation.labels import Classes, binary_labels, distinct_pair
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import ThresholdCounts
from fastevals.datasets import load_digits_eight
from fastevals.infer.bootstrap.bootstrap import bootstrap
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import MEDIAN
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.measure.registry import find_criterion
from fastevals.reading.columns import (
    ColumnRoles,
    NamedColumns,
    are_summaries,
    join_columns,
    parse_label,
)
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import open_source
from fastevals.reading.rows import LeftOut, RowReader
from fastevals.reading.segments import crossed
from fastevals.reading.sources import Reading, RowRules, Source, data_name
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.exact.scans import NotWholeError
from fastevals.scale.scores import ScoresSummary
from fastevals.scale.targets import TargetSummary
from fastevals.show.commands import MOST_PICTURED, check_required_columns, checked, refuse
from fastevals.show.predicted import NUMBER_METRICS, class_metrics, read_classes, read_targets
from fastevals.show.report.costs import (
    check_cost_options,
    costs_by_outcome,
    read_amounts,
    refuse_costs,
    refuse_unread,
)
from fastevals.show.report.data import ModelNumbers, ReportBlock, ThresholdRule
from fastevals.show.report.document import Report
from fastevals.show.report.intervals import (
    IntervalPlan,
    Intervals,
    ScoredRows,
    as_plan,
    column_metrics,
    metric_title,
    read_intervals,
    why_no_squares,
    why_unknown_squares,
)
from fastevals.show.report.measure import Measure
from fastevals.show.report.measure_predictions import (
    MAPE,
    MOST_ESTIMATED,
    MOST_SORTED,
    NORMAL,
    NOT_MEASURED,
    OF_EACH,
    MeasurePredictions,
    PredictedRows,
    defined_metrics,
    measure_matrix,
    with_class_intervals,
)
from fastevals.show.report.options import ROWS, SCORES, ReportOptions
from fastevals.show.report.over_values import DividedRows
from fastevals.show.report.streams import (
    read_reference,
    read_summaries,
    row_reader,
    summary_name,
    summary_of_ranking,
)

EMBEDDED = "digits_eight (embedded)"
DIGIT_SCORES = ("logistic", "naive_bayes", "random_forest")


def build_report(data: Any, options: ReportOptions, *, n_pictured: int = MOST_PICTURED) -> Report:
    """Make a report with the given options. The first `n_pictured` blocks keep the data for their pictures."""
    is_predicted = options.pred is not None or options.target is not None
    if options.score is not None and is_predicted:
        other = "pred" if options.pred is not None else "target"
        raise ValueError(f"{option('score')} and {option(other)} exclude each other: scores, or what models predict")
    form = CsvForm.checked(options.separator, options.encoding, options.header)
    options = checked(options)
    if not (is_predicted or counts_predictions(data)):
        return report_scores(data, options, form, n_pictured)
    if _has_cost_columns(options):
        refuse_costs(options)
    refuse(options, SCORES, "; this is a report of predictions")
    return report_predictions(data, options, form, n_pictured)


def counts_predictions(data: Any) -> bool:
    """Return whether data are counts of predicted classes or numbers."""
    return type(data).__name__ in ("ConfusionMatrix", "ConfusionSummary", "TargetSummary")


def report_scores(data: Any, options: ReportOptions, form: CsvForm, n_pictured: int) -> Report:
    """Measure each model in each block, and over all values of the --by column."""
    is_summary = are_summaries(data) or _is_counted_elsewhere(data)
    if options.against is not None and not (is_summary and are_summaries(options.against)):
        raise ValueError(
            f"{option('against')} compares two summaries: it and the data must be files of fastevals summarize"
        )
    opened = open_scores(data, options, form)
    roles, reader, rule = opened.roles, opened.reader, _threshold_rule(options)
    by_row = _has_cost_columns(options)
    with opened.naming_rows():
        plan = as_plan(options.n_resamples, options.confidence_level, options.rng)
        measure = Measure(roles, rule, plan, n_pictured, options.progress, options.gain_table)
        if opened.summary is not None:
            reference = None if options.against is None else read_reference(options.against, opened.summary)
            measured = measure.summary(opened.summary, reference, options.against)
        elif reader is not None:
            one_scan = opened.reading.approximate or not reader.files.can_repeat
            try:
                measured = measure.in_one_scan(reader) if one_scan else measure.stream(reader, opened.reading)
            except NotWholeError:  # weights that are not whole numbers give bounds
                measured = measure.in_one_scan(reader)
        else:
            assert opened.rows is not None
            measured = measure.rows(opened.rows, opened.groupings)
    return Report(
        opened.title, roles, tuple(column_metrics(*rule)), **measured, **opened.facts(),
        row_costs=costs_by_outcome(options) if by_row else None, **rule._asdict(),
    )  # fmt: skip


class OpenedScores(NamedTuple):
    """Scores of models: checked rows in memory, a reader of rows that don't fit, or a summary."""

    title: str
    roles: ColumnRoles
    reading: Reading
    columns: NamedColumns
    rows: ScoredRows | None = None
    groupings: Sequence[DividedRows] = ()  # the ways to divide the rows
    reader: RowReader | None = None
    summary: ScoresSummary | None = None
    positive: Any = None  # the positive label; a reader knows it after its first scan
    n_weightless: int = 0

    def naming_rows(self) -> AbstractContextManager[None]:
        """In a ``with`` block, name rows in messages as the data do."""
        return naming_rows(self.columns.line, dropping())

    def facts(self) -> dict[str, Any]:
        """Return the positive label, and the rows that are left out; after the rows are read."""
        if self.summary is not None:
            return {
                "pos_label": self.summary.labels[0], "n_weightless": self.summary.n_weightless,
                "left_out": self.summary.left_out,
            }  # fmt: skip
        if self.reader is not None:
            left_out = self.reader.left_out.named(self.reader.value_names(()))
            return {
                "pos_label": self.reader.positive, "n_weightless": self.reader.n_weightless, "left_out": left_out,
            }  # fmt: skip
        return {"pos_label": self.positive, "n_weightless": self.n_weightless, "left_out": self.columns.left_out}


def _is_counted_elsewhere(data: Any) -> bool:
    """Return whether data are a ranking that does not know every score."""
    ranking = as_ranking("data", data)
    return isinstance(ranking, BaseRanking) and type(ranking) is not Ranking


def open_scores(data: Any, options: ReportOptions, form: CsvForm) -> OpenedScores:
    """Open scores of any source, and read the rows if they fit in memory."""
    label, scores, by = options.label, tuple(options.score or ()), tuple(options.by or ())
    cross = options.cross
    _check_cross(by, cross)
    weights = options.sample_weight, options.frequency_weight
    ranking = as_ranking("data", data)
    is_counted = isinstance(ranking, BaseRanking)
    if is_counted:
        _check_no_columns(data, form, options, scores)
    if is_counted or data is None:
        label, scores = label or "label", scores or (("score",) if is_counted else DIGIT_SCORES)
    summary = read_summaries(data) if are_summaries(data) else None
    if is_counted and not ranking.n_samples:
        raise ValueError("data has no rows")
    if is_counted and type(ranking) is not Ranking:  # not every score is known
        summary, is_counted = summary_of_ranking(str(label), scores[0], ranking), False
    if summary is not None:
        _check_no_columns(data, form, options, ())
        label, scores = label or summary.label, scores or summary.models
        by, cross = summary.segments
        weights = (None, summary.weight) if summary.are_copies else (summary.weight, None)
    check_required_columns(data_name(data), label, scores)
    by_row = _has_cost_columns(options)
    costs = check_cost_options(options) if by_row or options.cost_tp is not None else {}
    roles = ColumnRoles.checked(str(label), scores, *weights, by=by, cross=cross, groups=options.groups, **costs)
    reading, rules = Reading.checked(options.memory, options.approximate), _row_rules(options)
    columns = NamedColumns({}, data=data_name(data))
    if summary is not None:
        summary = summary.of_models(roles.truth, scores)
        return OpenedScores(summary_name(data), roles, reading, columns, summary=summary)
    if not is_counted:
        source = _open(data, roles, form, rules)
        if not reading.fits(source, len(scores)):
            if by_row:
                refuse_unread(options, source.title)
            reader = row_reader(source, roles, options.pos_label, rules)
            return OpenedScores(reader.files.name, roles, reading, columns, reader=reader)
        columns = join_columns(
            source, roles.message_names(), roles.numeric, truth=roles.truth, segments=roles.segments, rules=rules
        )
    with naming_rows(columns.line, dropping()):
        rows, positive = (
            _counted_rows(data, ranking, roles.models[0])
            if is_counted
            else _scored_rows(columns, roles, options.pos_label)
        )
        if by_row:
            rows = rows._replace(amounts=read_amounts(roles, columns, options))
        groupings = grouped_rows(columns, roles)
    n_weightless = 0 if rows.weights is None else int(np.count_nonzero(rows.weights == 0))
    if n_weightless:
        kept = rows.weights != 0
        rows, groupings = rows.take(kept), [grouped.take(kept) for grouped in groupings]
    return OpenedScores(
        columns.data, roles, reading, columns, rows, groupings, positive=positive, n_weightless=n_weightless
    )


# Columns and rows -------------------------------------------------------------------------------------------------


def _row_rules(options: ReportOptions) -> RowRules:
    """Return the rules for rows that can't be counted."""
    rules = RowRules(options.on_missing_label, options.on_invalid)
    rules.check()
    return rules


def _check_cross(by: tuple[str, ...], cross: bool) -> None:
    """Raise if values of fewer than two columns are to be combined."""
    if cross and len(by) < 2:
        raise ValueError(f"{option('cross')} needs {option('by')} twice or more, got {listed(by) or 'none'}")


def grouped_rows(columns: NamedColumns, roles: ColumnRoles) -> list[DividedRows]:
    """Return each way to divide rows by the columns of --by."""
    if not roles.by:
        return []
    called = roles.message_names()
    coded = {name: columns.encode_values(called[name], name) for name in roles.by}
    return [DividedRows(by, *crossed([coded[name] for name in by])) for by in roles.segments.groupings]


def _open(data: Any, roles: ColumnRoles, form: CsvForm, rules: RowRules) -> Source:
    """Open the data, or the embedded scores."""
    if data is not None:
        return open_source(data, roles.request(rules, form))
    source = open_source(load_digits_eight(), Request(form=form))
    source.title = source.called = EMBEDDED
    return source


def _scored_rows(columns: NamedColumns, roles: ColumnRoles, pos_label: Any) -> tuple[ScoredRows, Any]:
    """Return the checked rows and the positive label; remove the labels from the columns."""
    names = roles.message_names()
    with naming_rows(columns.line, dropping(is_label=True)):
        positive, positive_label = _positives(names[roles.truth], columns.pop(roles.truth), pos_label)
    scores = {}
    for name in roles.models:
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


def _check_no_columns(data: Any, form: CsvForm, options: ReportOptions, score: Sequence[str]) -> None:
    """Raise if options that need columns are given with a ranking or counts."""
    kind = type(data).__name__
    refuse(options, ROWS, f", but data is a {kind}")
    if given := form.options():
        raise ValueError(f"{given[0]} goes with a CSV file, but data is a {kind}")
    if len(score) > 1:
        raise ValueError(f"{option('score')} must be one name, because a {kind} holds one model, got {list(score)}")


def _counted_rows(data: Any, ranking: Ranking, name: str) -> tuple[ScoredRows, Any]:
    """Return a row for each distinct score and class, weighted by its count, and the positive label."""
    counts = ranking.counts
    if isinstance(data, ThresholdCounts) and counts.tps.dtype.kind == "f":
        raise ValueError("data must count rows, but these ThresholdCounts are sums of weights: pass the Ranking")
    sizes = np.concatenate([np.diff(counts.tps), np.diff(counts.fps)])
    positive, scores = np.repeat([True, False], counts.tps.size - 1), np.tile(counts.thresholds[1:], 2)
    kept, are_copies = sizes > 0, counts.tps.dtype.kind == "i"
    return ScoredRows(positive[kept], {name: scores[kept]}, sizes[kept], None, ranking, are_copies), ranking.pos_label


# Options ----------------------------------------------------------------------------------------------------------


def _has_cost_columns(options: ReportOptions) -> bool:
    return any(each is not None for each in (options.cost_fp_column, options.cost_fn_column, options.cost_tp_column))


def _threshold_rule(options: ReportOptions) -> ThresholdRule:
    """Return the rule for thresholds: by default the best F1, or the least expected cost if costs are given."""
    threshold, best = options.threshold, options.best
    costs, by_row = _costs(options.cost_fp, options.cost_fn, options.prior), _has_cost_columns(options)
    if threshold is None:
        best = ("f1" if costs is None and not by_row else "expected_cost") if best is None else best
        best = find_criterion(option("best"), best).name
        if best == "expected_cost":
            costs = costs or _costs(1.0, 1.0)
    elif best is not None:
        raise ValueError(f"{option('best')} and {option('threshold')} exclude each other")
    elif isinstance(threshold, bool) or not isinstance(threshold, Real) or threshold != threshold:
        raise ValueError(f"{option('threshold')} must be a number, got {show(threshold)}")
    else:
        check_number(option("threshold"), threshold)
    return ThresholdRule(best, threshold, None if by_row else costs)


def _costs(cost_fp: float | None, cost_fn: float | None, prior: float | None = None) -> dict[str, float] | None:
    if cost_fp is None and cost_fn is None and prior is None:
        return None
    names = (option("cost_fp"), option("cost_fn"))
    fp, fn, _ = check_costs(*(1.0 if cost is None else cost for cost in (cost_fp, cost_fn)), names=names)
    costs = {"cost_fp": fp, "cost_fn": fn}
    return costs if prior is None else costs | {"prior": check_number(option("prior"), prior, low=0, high=1)}


# Predictions ----------------------------------------------------------------------------------------------------------


class OpenedPredictions(NamedTuple):
    """Predictions of models: checked rows in memory."""

    title: str
    roles: ColumnRoles
    rows: PredictedRows
    groupings: Sequence[DividedRows]
    classes: Classes | None  # of predicted classes
    n_weightless: int
    left_out: LeftOut


def open_predictions(data: Any, options: ReportOptions, form: CsvForm) -> OpenedPredictions:
    """Read the rows of predictions."""
    label, target, by, groups = options.label, options.target, tuple(options.by or ()), options.groups
    sample_weight, frequency_weight = options.sample_weight, options.frequency_weight
    models = tuple(options.pred or ())
    if label is not None and target is not None:
        raise ValueError(
            f"{option('target')} names a column of numbers, {option('label')} a column of classes: give only one"
        )
    if target is not None and options.pos_label is not None:
        raise ValueError(
            f"{option('pos_label')} goes with {option('label')}; {option('target')} names a column of numbers"
        )
    for name, value in (("label", label or target), ("pred", models)):
        if not value:
            other = f" (or {option('target')}, of numbers)" if name == "label" else ""
            what = "true classes" if name == "label" else "a model's predictions"
            raise ValueError(f"{option(name)}{other} is missing: it names the column of {what} in {data_name(data)}")
    others: dict[str, Any] = {
        "by": by,
        "cross": options.cross,
        "groups": groups,
        "kind": "labels" if target is None else "targets",
    }
    roles = ColumnRoles.checked(str(label or target), models, sample_weight, frequency_weight, **others)
    called = roles.message_names()
    rules = _row_rules(options)
    source = open_source(data, roles.request(rules, form))
    columns = join_columns(source, called, roles.numeric, truth=roles.truth, segments=roles.segments, rules=rules)
    with naming_rows(columns.line, dropping()):
        classes = None
        if roles.kind == "labels":
            read = read_classes(columns, roles.truth, models, options.pos_label)
            true, predicted, classes = read.true, read.predicted, read.classes
        else:
            true, predicted = read_targets(columns, roles.truth, models)
        weights = None if sample_weight is None else as_weights(called[sample_weight], columns[sample_weight])
        copies = None
        if frequency_weight is not None:
            copies = as_frequencies(called[frequency_weight], columns[frequency_weight])
        drawn_together = None if groups is None else columns.encode_groups(called[groups], groups)
        groupings = grouped_rows(columns, roles)
    rows, n_weightless = PredictedRows(true, predicted, weights, drawn_together), 0
    times: Any = weights if copies is None else copies
    if times is not None and not (copies is None and times.all()):
        kept = np.flatnonzero(times) if copies is None else np.repeat(np.arange(copies.size), copies)
        rows, n_weightless = rows.take(kept), int(np.count_nonzero(times == 0))
        groupings = [grouped.take(kept) for grouped in groupings]
    return OpenedPredictions(columns.data, roles, rows, groupings, classes, n_weightless, columns.left_out)


def report_predictions(data: Any, options: ReportOptions, form: CsvForm, n_pictured: int) -> Report:
    """Measure models' predictions in each block."""
    _check_cross(tuple(options.by or ()), options.cross)
    names = (option("sample_weight"), option("frequency_weight"))
    check_one_weight(options.sample_weight, options.frequency_weight, names)
    plan = as_plan(options.n_resamples, options.confidence_level, options.rng)
    if isinstance(data, (ConfusionMatrix, ConfusionSummary, TargetSummary)):
        return report_counted(data, tuple(options.pred or ()), plan, options)
    title, roles, rows, groupings, classes, n_weightless, left_out = open_predictions(data, options, form)
    kind = roles.kind
    measure = MeasurePredictions(kind, classes, plan, n_pictured, options.progress)
    metrics, not_measured = measure.metrics(rows), [NOT_MEASURED[kind]]
    if classes is not None and classes.labels.size > MOST_ESTIMATED:
        not_measured.append(f"Classes have no intervals, because there are more than {MOST_ESTIMATED}.")
    if kind == "targets" and MAPE not in metrics:
        n = int(np.count_nonzero(rows.true == 0))
        not_measured.append(f"{metric_title(MAPE)} is not measured: {n} target{'s are' if n > 1 else ' is'} zero.")
    if kind == "targets" and rows.true.size > MOST_SORTED and plan is not None:
        what = "no differences" if rows.weights is None and rows.groups is None else "no intervals"
        not_measured.append(f"{metric_title(MEDIAN)} has {what}, because there are more than {MOST_SORTED:,} rows.")
    return Report(
        title, roles, tuple(metrics), **measure.rows(rows, groupings), n_weightless=n_weightless,
        left_out=left_out, not_measured=tuple(not_measured), **_classes(classes),
    )  # fmt: skip


def _classes(classes: Classes | None) -> dict[str, Any]:
    """Return the report's fields on predicted classes."""
    return {} if classes is None else {"labels": classes.labels.tolist(), "pos_label": classes.pos_label}


# What was counted -----------------------------------------------------------------------------------------------------


def report_counted(
    data: ConfusionMatrix | ConfusionSummary | TargetSummary,
    models: tuple[str, ...],
    plan: IntervalPlan | None,
    options: ReportOptions,
) -> Report:
    """Report on the counts of one model."""
    kind, truth = type(data).__name__, options.target or options.label
    refuse(options, ROWS, f", but data is a {kind}")
    if len(models) > 1:
        raise ValueError(f"{option('pred')} must be one name, because a {kind} holds one model, got {list(models)}")
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
        measured, intervals = measure_matrix(model, matrix, metrics), None
        is_whole = matrix.counts.dtype.kind == "i"
        if plan is not None and isinstance(data, ConfusionSummary) and data._known_squares() is None:
            intervals = Intervals(why_none=why_unknown_squares())
        elif plan is not None and isinstance(data, ConfusionMatrix) and not is_whole:
            intervals = Intervals(why_none=why_no_squares())
        elif plan is not None:
            specs = defined_metrics(metrics, [measured])
            each = OF_EACH if classes.labels.size <= MOST_ESTIMATED else {}
            settings: dict[str, Any] = {"confidence_level": plan.confidence_level, "rng": plan.seed}
            result = bootstrap(data, specs | each, n_resamples=plan.n_resamples, **settings)
            intervals = read_intervals(result, [model], specs, None)
            measured = with_class_intervals(measured, result, each, plan.confidence_level if is_whole else None)
    n_rows = int(total) if is_whole else 0
    best = dict.fromkeys(metrics, (model,))
    block = ReportBlock(None, n_rows, None if is_whole else float(total), (measured,), best, intervals)
    roles = ColumnRoles(truth or "label", (model,), kind="labels")
    said = (NOT_MEASURED["labels"],)
    return Report(kind, roles, tuple(metrics), (block,), plan, not_measured=said, **_classes(classes))


def _report_sums(data: TargetSummary, target: str, model: str, plan: IntervalPlan | None) -> Report:
    """Report on sums of one model's errors, with intervals from standard errors."""
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
    measured, best = ModelNumbers(model, values), dict.fromkeys(names, (model,))
    block = ReportBlock(None, data.n_samples, None, (measured,), best, intervals)
    said = (
        NOT_MEASURED["targets"],
        f"{metric_title(median)} and {metric_title(MAPE)} are not measured: they need the rows, not sums.",
    )
    roles = ColumnRoles(target, (model,), kind="targets")
    return Report(type(data).__name__, roles, tuple(names), (block,), plan, not_measured=said)
