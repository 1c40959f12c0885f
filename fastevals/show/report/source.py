"""Make reports: read columns, check options, and measure the rows in blocks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import dropping, option
from fastevals._options import UndefinedMetricWarning, check_costs, check_number, listed, naming_rows, show
from fastevals._validation.arrays import (
    as_frequencies,
    as_weights,
    check_one_weight,
    is_matrix,
)
from fastevals._validation.labels import Classes
from fastevals.infer.bootstrap.bootstrap import bootstrap
from fastevals.measure.class_scores import BaseClassRankings
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import MEDIAN
from fastevals.measure.registry import find_criterion, metric_title
from fastevals.reading.columns import (
    ColumnRoles,
    are_summaries,
    join_columns,
    share_numbers,
)
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import expand_files, open_source
from fastevals.reading.model_columns import add_arrays, model_columns
from fastevals.reading.named_files import FILE, as_paths, names_of_files, open_named_files
from fastevals.reading.rows import LeftOut
from fastevals.reading.segments import Whole
from fastevals.reading.sources import ReadFiles, Reading, Source, data_name, is_path
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.exact.scans import NotWholeError
from fastevals.scale.scores import ScoresSummary
from fastevals.scale.summarized_classes import SummarizedClasses
from fastevals.scale.targets import TargetSummary
from fastevals.show.commands import MOST_PICTURED, check_required_columns, checked, refuse, with_reference_first
from fastevals.show.predicted import (
    NUMBER_METRICS,
    DataClasses,
    class_metrics,
    read_classes,
    read_probabilities,
    read_targets,
)
from fastevals.show.report.against import ClassCountsSide, OtherSides, OtherTotals, Side
from fastevals.show.report.cells import read_cells
from fastevals.show.report.class_streams import ClassRowReader, count_probabilities
from fastevals.show.report.costs import (
    check_cost_options,
    costs_by_outcome,
    refuse_costs,
    refuse_unread,
)
from fastevals.show.report.data import ClassFacts, ModelNumbers, ReportBlock, ThresholdRule
from fastevals.show.report.document import Report
from fastevals.show.report.intervals import (
    IntervalPlan,
    Intervals,
    PredictedRows,
    as_plan,
    column_metrics,
    read_intervals,
    why_no_squares,
    why_unknown_squares,
)
from fastevals.show.report.kinds import MAPE
from fastevals.show.report.measure import Measure
from fastevals.show.report.measure_class_counts import MeasureClassCounts, not_measured_of_counts
from fastevals.show.report.measure_class_probabilities import probability_specs
from fastevals.show.report.measure_predictions import (
    MOST_ESTIMATED,
    MOST_SORTED,
    NORMAL,
    NOT_MEASURED,
    OF_EACH,
    MeasurePredictions,
    defined_metrics,
    measure_matrix,
    with_class_intervals,
)
from fastevals.show.report.options import COUNTED, PROBABILITIES, QUERIES, ROWS, SCORES, ReportOptions
from fastevals.show.report.over_values import DividedRows
from fastevals.show.report.read_scores import (
    ReadScores,
    check_against,
    form_of,
    grouped_rows,
    may_be_csv,
    naming_other,
    only_path,
    open_scores,
    other_name,
    read_counts,
    read_other,
    read_rows,
    row_rules,
)
from fastevals.show.report.streams import (
    counts_classes,
    paths_of_summaries,
    read_named_summaries,
    read_summaries,
    summary_name,
    with_whole,
)
from fastevals.show.report.trend import make_trend

THE_MODEL = "model"  # name of the only model, if none was given
DIGIT_SCORES = ("logistic", "naive_bayes", "random_forest")


def refuse_class_rankings(data: Any) -> None:
    """Raise if the data are a ranking of several classes, which is no table of rows."""
    if isinstance(data, BaseClassRankings):
        raise ValueError(
            f"data must be rows, got a {type(data).__name__}: pass {{'y': y_true}} with {option('label')} 'y' and, as "
            f"{option('probabilities')}, a mapping of the model's name to the matrix that the ranking was made from"
        )


def build_report(data: Any, options: ReportOptions, *, n_pictured: int = MOST_PICTURED) -> Report:
    """Make a report with the given options. The first `n_pictured` blocks keep the data for their pictures."""
    refuse_class_rankings(data)
    refuse(options, QUERIES, "")
    others = [name for name in ("probabilities", "pred", "target") if getattr(options, name) is not None]
    is_predicted = bool(others)
    if options.score is not None and is_predicted:
        raise ValueError(
            f"{option('score')} and {option(others[0])} exclude each other: scores, or what models predict"
        )
    if options.probabilities is None:
        refuse(options, PROBABILITIES, "")
    elif len(others) > 1:
        raise ValueError(f"{option(others[0])} and {option(others[1])} exclude each other")
    form = CsvForm.checked(options.separator, options.encoding, options.header)
    options = checked(options)
    if options.cells:
        if is_predicted or data is None:
            other = f"{option(others[0])} exclude each other" if others else "the embedded data exclude each other"
            raise ValueError(f"{option('cells')} and {other}")
        data, options, form = with_cells(data, options, form)
    if counts_of_classes(data):
        return report_class_counts(data, options, form, n_pictured)
    if not (is_predicted or counts_predictions(data)):
        return report_scores(data, options, form, n_pictured)
    if _has_cost_columns(options):
        refuse_costs(options)
    refuse(options, SCORES, "; this is a report of predictions")
    if options.probabilities is None:
        refuse(options, COUNTED, "; this is a report of predictions")
    return report_predictions(data, options, form, n_pictured)


def with_cells(data: Any, options: ReportOptions, form: CsvForm) -> tuple[ScoresSummary, ReportOptions, CsvForm]:
    """Read the tables of cells that are the data and those of --against."""
    own, other = read_cells(data, options.label, options.score, form), options.against
    if other is not None:
        with naming_other(other_name(only_path(other), data)):
            other = read_cells(only_path(other), options.label, options.score, form)
    return own, replace(options, cells=False, against=other), CsvForm()


def counts_of_classes(data: Any) -> bool:
    """Return whether data are counts of class probabilities: files of `fastevals summarize`, or a summary."""
    return isinstance(data, ClassScoresSummary) or (are_summaries(data) and counts_classes(data))


def counts_predictions(data: Any) -> bool:
    """Return whether data are counts of predicted classes or numbers."""
    return type(data).__name__ in ("ConfusionMatrix", "ConfusionSummary", "TargetSummary")


class OpenedScores(NamedTuple):
    """Scores of any source: the roles of the columns, how to read, and what was read."""

    roles: ColumnRoles
    reading: Reading
    read: ReadScores


def open_data(data: Any, options: ReportOptions, form: CsvForm) -> OpenedScores:
    """Open scores of any source, and read the rows if they fit in memory."""
    label, scores, by = options.label, tuple(options.score or ()), tuple(options.by or ())
    cross = options.cross
    _check_cross(by, cross)
    weights = options.sample_weight, options.frequency_weight
    by_file = options.trend and not by and not is_divided(data)
    counted = read_counts("data", data, str(label or "label"), scores[0] if scores else "score", by_file=by_file)
    if counted is not None:
        _check_no_columns(data, form, options, () if are_summaries(data) else scores)
    if data is None or (counted is not None and not are_summaries(data)):
        label, scores = label or "label", scores or (DIGIT_SCORES if data is None else ("score",))
    if counted is not None and counted.summary is not None:
        summary = counted.summary
        label, scores = label or summary.label, scores or summary.models
        by, cross = summary.segments.columns, summary.segments.cross
        weights = (None, summary.weight) if summary.are_copies else (summary.weight, None)
    elif by_file:
        as_paths(data)
        by = (FILE,)
    check_required_columns(data_name(data), label, scores)
    scores = with_reference_first(scores, options.reference)
    by_row = _has_cost_columns(options)
    costs = check_cost_options(options) if by_row or options.cost_tp is not None else {}
    roles = ColumnRoles.checked(str(label), scores, *weights, by=by, cross=cross, groups=options.groups, **costs)
    reading, rules = Reading.checked(options.memory, options.approximate), row_rules(options)
    own = counted
    if own is None:
        source = open_scores(data, roles, form_of(data, options.against, form), rules, by_file=by_file)
        own = read_rows(source, roles, reading, rules, options.pos_label, cost_options=options if by_row else None)
        if own.reader is not None and by_row:
            refuse_unread(options, source.title)
    elif own.summary is not None:
        own = own._replace(summary=own.summary.of_models(roles.truth, scores))
    return OpenedScores(roles, reading, own)


def report_scores(data: Any, options: ReportOptions, form: CsvForm, n_pictured: int) -> Report:
    """Measure each model in each block, and over all values of the --by column."""
    roles, reading, own = open_data(data, options, form)
    check_trend(options, roles)
    by_row = _has_cost_columns(options)
    with naming_rows(own.line, dropping()):
        has_cells = options.groups is None and not by_row
        plan = as_plan(
            options.n_resamples, options.confidence_level, options.rng, options.reference, has_cells=has_cells
        )
        rule = _threshold_rule(options)
        measure = Measure(roles, rule, plan, n_pictured, options.progress, options.gain_table, is_trend=options.trend)
        if options.against is not None:
            other, own = read_other(data, own, options, form, reading, measure)
            measure = measure._replace(other=other)
        measured, own = own.counted(partial(measure_scores, measure, own, reading))
    of_other = None
    if measure.other is not None:
        of_other = measure.other.told(
            roles.segments.key(block.by, block.value) if block.by else None for block in measured["blocks"]
        )
    if options.trend:
        measured["trend"] = make_trend(
            roles, measured, [*column_metrics(*rule)], rule.best, own.left_out, file_values(data, options, roles),
            options.min_labelled,
        )  # fmt: skip
    return Report(
        own.name, roles, tuple(column_metrics(*rule)), **measured,
        n_weightless=own.n_weightless, left_out=own.left_out, pos_label=own.labels[0],
        row_costs=costs_by_outcome(options) if by_row else None, against=of_other, files=own.files,
        reference=options.reference,
        **rule._asdict(),
    )  # fmt: skip


def measure_scores(measure: Measure, read: ReadScores, reading: Reading) -> dict[str, Any]:
    """Measure what was read; return these fields of a report."""
    if read.summary is not None:
        return measure.summary(read.summary)
    if read.rows is not None:
        return measure.rows(read.rows, read.groupings)
    assert read.reader is not None
    if reading.approximate or not read.reader.files.can_repeat:
        return measure.in_one_scan(read.reader)
    try:
        return measure.stream(read.reader, reading)
    except NotWholeError:  # weights that are not whole numbers give bounds
        return measure.in_one_scan(read.reader)


# Checks -----------------------------------------------------------------------------------------------------------


def is_divided(data: Any) -> bool:
    """Return whether data are a summary whose rows a column divides."""
    paths = [data] if is_path(data) else data
    if type(data).__name__ in ("ScoresSummary", "SummarizedClasses"):
        return data.by is not None
    if not are_summaries(data) or len(paths) > 1 or not os.path.isfile(paths[0]):
        return False
    return read_summaries(data).by is not None


def check_trend(options: ReportOptions, roles: ColumnRoles) -> None:
    """Raise unless a trend is over one column, and its options are valid."""
    if options.min_labelled is not None:
        check_number(option("min_labelled"), options.min_labelled, low=0, high=1)
        if not options.trend:
            raise ValueError(f"{option('min_labelled')} goes with {option('trend')}")
    if not options.trend:
        return
    if len(roles.by) > 1:
        raise ValueError(f"{option('trend')} is over one column of {option('by')}, got {listed(roles.by)}")
    if options.against is not None:
        raise ValueError(f"{option('trend')} and {option('against')} exclude each other")


def file_values(data: Any, options: ReportOptions, roles: ColumnRoles) -> list[Any]:
    """Return the values of a trend over files, also of files without rows."""
    if options.by or roles.by != (FILE,):
        return []
    if are_summaries(data):
        paths = paths_of_summaries(data)
        return names_of_files(paths) if len(paths) > 1 else []
    return names_of_files(expand_files(as_paths(data), None)[0])


def _check_cross(by: tuple[str, ...], cross: bool) -> None:
    """Raise if values of fewer than two columns are to be combined."""
    if cross and len(by) < 2:
        raise ValueError(f"{option('cross')} needs {option('by')} twice or more, got {listed(by) or 'none'}")


def _check_no_columns(data: Any, form: CsvForm, options: ReportOptions, score: Sequence[str]) -> None:
    """Raise if options that need columns are given with a ranking or counts."""
    kind = "table of counts" if isinstance(data, ScoresSummary) and data.title else type(data).__name__
    refuse(options, ROWS, f", but data is a {kind}")
    if not may_be_csv(options.against) and (given := form.options()):
        raise ValueError(f"{given[0]} goes with a CSV file, but data is a {kind}")
    if len(score) > 1:
        raise ValueError(f"{option('score')} must be one name, because a {kind} holds one model, got {list(score)}")


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
    files: ReadFiles | None
    clusters: Any = None  # values of the column of clusters; rows have indices into them
    labels: list[Any] | None = None  # the classes of probabilities
    facts: ClassFacts | None = None  # about these classes

    def with_groups(self, groups: NDArray[np.intp]) -> OpenedPredictions:
        """Return the same predictions with other numbers of the clusters."""
        return self._replace(rows=self.rows._replace(groups=groups))


def open_columns(data: Any, options: ReportOptions, form: CsvForm) -> tuple[Source, ColumnRoles]:
    """Open predictions; return their source, and the roles of its columns."""
    label, target, by = options.label, options.target, tuple(options.by or ())
    models, given = tuple(options.pred or ()), options.probabilities
    if given is not None:
        data, models = given_models(data, options)
    if label is not None and target is not None:
        raise ValueError(
            f"{option('target')} names a column of numbers, {option('label')} a column of classes: give only one"
        )
    if target is not None and options.pos_label is not None:
        raise ValueError(
            f"{option('pos_label')} goes with {option('label')}; {option('target')} names a column of numbers"
        )
    if given is not None and options.pos_label is not None:
        raise ValueError(f"{option('pos_label')} goes with scores and predicted classes, not {option('probabilities')}")
    for name, value in (("label", label or target), ("probabilities" if given is not None else "pred", models)):
        if not value:
            other = f" (or {option('target')}, of numbers)" if name == "label" else ""
            what = "true classes" if name == "label" else "a model's predictions"
            raise ValueError(f"{option(name)}{other} is missing: it names the column of {what} in {data_name(data)}")
    if given is None:
        models = with_reference_first(models, options.reference)
    by_file = options.trend and not by
    if by_file:
        as_paths(data)
        by = (FILE,)
    others: dict[str, Any] = {
        "by": by,
        "cross": options.cross,
        "groups": options.groups,
        "kind": "probabilities" if given is not None else "labels" if target is None else "targets",
    }
    columns_of_models = () if given is not None else models
    weights = options.sample_weight, options.frequency_weight
    roles = ColumnRoles.checked(str(label or target), columns_of_models, *weights, **others)
    source = (open_named_files if by_file else open_source)(data, roles.request(row_rules(options), form))
    if given is not None:
        n_classes = None if options.classes is None else len(options.classes)
        source, found = model_columns(source, models, roles.message_names(), n_classes)
        models = with_reference_first([each.model for each in found], options.reference)
        roles = replace(roles, models=models, class_columns=tuple(found))
    return source, roles


def open_predictions(data: Any, options: ReportOptions, form: CsvForm) -> OpenedPredictions:
    """Read the rows of predictions."""
    return read_predictions(*open_columns(data, options, form), options)


def read_predictions(source: Source, roles: ColumnRoles, options: ReportOptions) -> OpenedPredictions:
    """Read the rows of an open source of predictions."""
    sample_weight, frequency_weight, groups = options.sample_weight, options.frequency_weight, options.groups
    called, rules, models = roles.message_names(), row_rules(options), roles.models
    columns = join_columns(
        source, called, roles.numeric, truth=roles.truth, segments=roles.segments, rules=rules, together=roles.together
    )
    with naming_rows(columns.line, dropping()):
        classes = labels = facts = None
        if roles.kind == "probabilities":
            of_classes = read_probabilities(
                columns, roles.truth, roles.class_columns, classes=options.classes, ordered=options.ordered,
                normalize=options.normalize,
            )  # fmt: skip
            true, predicted, labels = of_classes.true, of_classes.predicted, of_classes.labels
            predicted = {name: predicted[name] for name in models}
            facts = ClassFacts(of_classes.are_ordered, of_classes.hard, options.normalize)
        elif roles.kind == "labels":
            read = read_classes(columns, roles.truth, models, options.pos_label)
            true, predicted, classes = read.true, read.predicted, read.classes
        else:
            true, predicted = read_targets(columns, roles.truth, models)
        weights = None if sample_weight is None else as_weights(called[sample_weight], columns[sample_weight])
        copies = None
        if frequency_weight is not None:
            copies = as_frequencies(called[frequency_weight], columns[frequency_weight])
        clusters, drawn_together = (None, None) if groups is None else columns.code_groups(called[groups], groups)
        groupings = grouped_rows(columns, roles)
    rows, n_weightless = PredictedRows(true, predicted, weights, drawn_together), 0
    times: Any = weights if copies is None else copies
    if times is not None and not (copies is None and times.all()):
        kept = np.flatnonzero(times) if copies is None else np.repeat(np.arange(copies.size), copies)
        rows, n_weightless = rows.take(kept), int(np.count_nonzero(times == 0))
        groupings = [grouped.take(kept) for grouped in groupings]
    return OpenedPredictions(
        columns.data, roles, rows, groupings, classes, n_weightless, columns.left_out, source.files, clusters,
        labels, facts,
    )  # fmt: skip


def given_models(data: Any, options: ReportOptions) -> tuple[Any, tuple[Any, ...]]:
    """Return the data with the arrays of --probabilities, if they are arrays, and where each model's columns are."""
    given = options.probabilities
    if not isinstance(given, (Mapping, str)) and is_matrix(given):
        given = {THE_MODEL: given}
    if isinstance(given, Mapping):
        if options.against is not None:
            raise ValueError(f"{option('against')} goes with {option('probabilities')} that name columns, not arrays")
        data, found = add_arrays(data, given)
        return data, tuple(found)
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise ValueError(
            f"{option('probabilities')} must be a pattern such as 'p_*', a column of lists, several of these, an "
            f"array of shape (n_samples, n_classes), or a mapping of models to arrays, got {show(given)}"
        )
    return data, tuple(names)


def open_other_predictions(
    data: Any, own: OpenedPredictions, options: ReportOptions, form: CsvForm, measure: MeasurePredictions
) -> tuple[OtherSides, OpenedPredictions]:
    """Read the rows of --against by the same rules; return them, and the data with clusters that both sides share."""
    against = only_path(options.against)
    check_against(data, against, measure.plan)
    name = other_name(against, data)
    with naming_other(name):
        if counts_predictions(against) or are_summaries(against):
            raise ValueError("it has counts, and predictions are compared with rows")
        classes = own.classes
        pos_label = options.pos_label if classes is None else classes.pos_label
        read_as = replace(options, against=None, pos_label=pos_label)
        if own.labels is not None:
            read_as = replace(read_as, classes=DataClasses(own.labels))
        its = open_predictions(against, read_as, form_of(against, data, form))
        _check_same_classes(own, its)
        if own.rows.groups is not None and its.rows.groups is not None:
            named = [(list(own.clusters), own.rows.groups), (list(its.clusters), its.rows.groups)]
            codes = share_numbers(named)
            own, its = own.with_groups(codes[0]), its.with_groups(codes[1])
        sides = measure.sides(its.rows, its.groupings, own.roles.segments)
    whole = sides.pop(Whole.ROWS, None)
    totals = OtherTotals(its.rows.true.size, None, its.left_out, its.n_weightless, its.files)
    return OtherSides(name, own.roles, sides, (None, None), totals, whole), own


def _check_same_classes(own: OpenedPredictions, its: OpenedPredictions) -> None:
    """Raise if two sides have no class in common, or if one is positive and the other rows have more classes."""
    if own.classes is None or its.classes is None:
        return
    mine, others = own.classes.labels.tolist(), its.classes.labels.tolist()
    is_wrong = not set(others) <= set(mine) if own.classes.pos_label is not None else not set(others) & set(mine)
    if is_wrong:
        raise ValueError(f"it has the classes {listed(others)}, and the data has {listed(mine)}")


def report_predictions(data: Any, options: ReportOptions, form: CsvForm, n_pictured: int) -> Report:
    """Measure models' predictions in each block."""
    _check_cross(tuple(options.by or ()), options.cross)
    check_trend(options, ColumnRoles("", (), by=tuple(options.by or ())))
    names = (option("sample_weight"), option("frequency_weight"))
    check_one_weight(options.sample_weight, options.frequency_weight, names)
    plan = as_plan(options.n_resamples, options.confidence_level, options.rng, options.reference)
    if isinstance(data, (ConfusionMatrix, ConfusionSummary, TargetSummary)):
        models = tuple(options.pred or ())
        with_reference_first(models[:1] or ("pred",), options.reference)
        return report_counted(data, models, plan, options)
    source, roles = open_columns(data, options, form_of(data, options.against, form))
    if roles.kind == "probabilities" and _is_counted(source, roles, options):
        return report_streamed(data, source, roles, options, form, n_pictured)
    opened = read_predictions(source, roles, options)
    kind, other = opened.roles.kind, None
    labels = None if opened.labels is None else np.array(opened.labels)
    measure = MeasurePredictions(
        kind, opened.classes, plan, n_pictured, options.progress, options.trend, labels=labels, facts=opened.facts
    )
    if options.against is not None:
        other, opened = open_other_predictions(data, opened, options, form, measure)
        measure = measure._replace(other=other)
    title, roles, rows, groupings, classes, n_weightless, left_out, files, *_ = opened
    metrics, not_measured = measure.metrics(rows), [NOT_MEASURED[kind]]
    labels = labels if classes is None else classes.labels
    if labels is not None and labels.size > MOST_ESTIMATED:
        not_measured.append(f"Classes have no intervals, because there are more than {MOST_ESTIMATED}.")
    if kind == "targets" and MAPE not in metrics:
        n = int(np.count_nonzero(rows.true == 0))
        not_measured.append(f"{metric_title(MAPE)} is not measured: {n} target{'s are' if n > 1 else ' is'} zero.")
    if kind == "targets" and rows.true.size > MOST_SORTED and plan is not None:
        what = "no differences" if rows.weights is None and rows.groups is None else "no intervals"
        not_measured.append(f"{metric_title(MEDIAN)} has {what}, because there are more than {MOST_SORTED:,} rows.")
    measured = measure.rows(rows, groupings)
    if options.trend:
        values = file_values(data, options, roles)
        measured["trend"] = make_trend(roles, measured, tuple(metrics), None, left_out, values, options.min_labelled)
    of_other = None
    if other is not None:
        of_other = other.told(
            roles.segments.key(block.by, block.value) if block.by else None for block in measured["blocks"]
        )
    return Report(
        title, roles, tuple(metrics), **measured, n_weightless=n_weightless,
        left_out=left_out, not_measured=tuple(not_measured), files=files,
        **(_classes(classes) if opened.labels is None else {"labels": opened.labels}),
        reference=options.reference, against=of_other, class_facts=opened.facts,
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
    if options.against is not None:
        raise ValueError(
            f"{option('against')} compares rows of predictions, and data is a {kind}: call bootstrap_unpaired with both"
        )
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


# Counts of class probabilities ----------------------------------------------------------------------------------------


def open_class_counts(data: Any, options: ReportOptions, *, by_file: bool = False) -> SummarizedClasses:
    """Return the counts of class probabilities that data hold, of the models that are named; raise if they lack one."""
    given = options.probabilities
    if given is not None and not (isinstance(given, str) or all(isinstance(each, str) for each in given)):
        raise ValueError(f"{option('probabilities')} must name models that were counted, got {show(given)}")
    names = (given,) if isinstance(given, str) else tuple(given or ())
    if isinstance(data, ClassScoresSummary):
        if not data.n_samples:
            raise ValueError(f"data must count rows, got {show(data)}")
        if len(names) > 1:
            raise ValueError(
                f"{option('probabilities')} must be one name, because a ClassScoresSummary holds one model, got "
                f"{listed(names)}"
            )
        found = SummarizedClasses.of_summary(data, options.label or "label", names[0] if names else "p")
    else:
        summary: Any = (read_named_summaries if by_file else read_summaries)(data)
        found = summary.of_models(options.label or summary.label, names or summary.models)
    models = with_reference_first(found.models, options.reference)
    return found if models == found.models else found.of_models(found.label, models)


def refuse_rows_of_counts(data: Any, options: ReportOptions, form: CsvForm) -> None:
    """Raise if options are given that do not go with counts of class probabilities."""
    for name in ("score", "pred", "target"):
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)} does not go with counts of class probabilities")
    kind = type(data).__name__ if isinstance(data, ClassScoresSummary) else "file of counts"
    for refused in (ROWS, PROBABILITIES, COUNTED):
        refuse(options, refused, f", but data is a {kind}")
    refuse(options, SCORES, "; this is a report of predictions")
    if given := form.options():
        raise ValueError(f"{given[0]} goes with a CSV file, but data is a {kind}")


def report_class_counts(data: Any, options: ReportOptions, form: CsvForm, n_pictured: int) -> Report:
    """Report on counts of class probabilities."""
    refuse_rows_of_counts(data, options, form)
    by_file = options.trend and not is_divided(data)
    if by_file and isinstance(data, ClassScoresSummary):
        raise ValueError(f"{option('trend')} needs {option('by')}, or two .fe files or more, got one summary")
    summary = open_class_counts(data, options, by_file=by_file)
    return report_summarized(summary_name(data), summary, options, n_pictured, all_values_of=data)


def roles_of_counts(summary: SummarizedClasses) -> ColumnRoles:
    """Return the roles of the columns that were counted."""
    return ColumnRoles(
        summary.label, summary.models, summary.weight, summary.segments.columns, are_copies=summary.are_copies,
        cross=summary.cross, kind="probabilities",
    )  # fmt: skip


def report_summarized(
    title: str,
    summary: SummarizedClasses,
    options: ReportOptions,
    n_pictured: int,
    *,
    all_values_of: Any,
    files: ReadFiles | None = None,
    form: CsvForm | None = None,
) -> Report:
    """Measure counts of class probabilities; a trend has all values of the given data."""
    roles = roles_of_counts(summary)
    check_trend(options, roles)
    plan = as_plan(options.n_resamples, options.confidence_level, options.rng, options.reference)
    measure = MeasureClassCounts(roles, plan, n_pictured, options.trend)
    if options.against is not None:
        measure = measure._replace(other=_other_class_counts(all_values_of, summary, roles, options, plan, form))
    facts = ClassFacts(summary.are_ordered, summary.hard_models, summary.is_normalized)
    metrics = probability_specs(summary.classes.size, are_ordered=facts.are_ordered)
    measured = measure.summary(summary)
    if options.trend:
        values = file_values(all_values_of, options, roles)
        measured["trend"] = make_trend(
            roles, measured, tuple(metrics), None, summary.left_out, values, options.min_labelled
        )
    of_other = None
    if measure.other is not None:
        of_other = measure.other.told(
            roles.segments.key(block.by, block.value) if block.by else None for block in measured["blocks"]
        )
    return Report(
        title, roles, tuple(metrics), **measured, n_weightless=summary.n_weightless, left_out=summary.left_out,
        not_measured=not_measured_of_counts(summary, plan), labels=summary.classes.tolist(), files=files,
        reference=options.reference, against=of_other, class_facts=facts,
    )  # fmt: skip


def _is_counted(source: Source, roles: ColumnRoles, options: ReportOptions) -> bool:
    """Return whether rows are counted in one scan, because they do not fit in memory, or because this is wanted."""
    reading = Reading.checked(options.memory, options.approximate)
    if reading.approximate or not source.can_repeat:
        return reading.approximate
    return not (source.in_memory and reading.limit is None) and not reading.fits(source, len(roles.model_columns))


def report_streamed(
    data: Any, source: Source, roles: ColumnRoles, options: ReportOptions, form: CsvForm, n_pictured: int
) -> Report:
    """Count the class probabilities of files in one scan, and report on the counts."""
    if roles.groups is not None:
        raise ValueError(
            f"{option('groups')} needs the rows in memory: raise {option('memory')}, or leave out "
            f"{option('approximate', True)}"
        )
    reader = ClassRowReader(source, roles, options)
    summary = count_probabilities(reader, progress=options.progress)
    title, files = source.name, reader.files.files
    return report_summarized(title, summary, options, n_pictured, all_values_of=data, files=files, form=form)


def _other_class_counts(
    data: Any,
    own: SummarizedClasses,
    roles: ColumnRoles,
    options: ReportOptions,
    plan: IntervalPlan | None,
    form: CsvForm | None,
) -> OtherSides:
    """Read the counts of --against, or count its rows if the form of rows is given."""
    against = only_path(options.against)
    check_against(data, against, plan)
    name = other_name(against, data)
    with naming_other(name):
        read_as = replace(options, against=None, reference=None)
        if counts_of_classes(against):
            label = own.label if isinstance(against, ClassScoresSummary) else None
            its = open_class_counts(against, replace(read_as, label=label, probabilities=own.models))
        elif form is None:
            raise ValueError("it must be counts of class probabilities, as the data are: a file of summarize")
        else:
            read_as = replace(read_as, classes=own.classes.tolist())
            source, its_roles = open_columns(against, read_as, form_of(against, data, form))
            its = count_probabilities(ClassRowReader(source, its_roles, read_as), progress=options.progress)
            its = its.of_models(own.label, own.models)
        if its.segments != own.segments:
            shown = (
                f"by {' x '.join(map(repr, each.columns))}" if each.columns else "as a whole"
                for each in (its.segments, own.segments)
            )
            raise ValueError("it is counted {}, and the data {}".format(*shown))
        if set(its.classes.tolist()) != set(own.classes.tolist()):
            raise ValueError(
                f"it has the classes {listed(its.classes.tolist())}, and the data has {listed(own.classes.tolist())}"
            )
        sides: dict[Any, Side] = {key: ClassCountsSide(block) for key, block in with_whole(its).items()}
    whole = sides.pop(Whole.ROWS, None)
    totals = OtherTotals(its.n_samples, None, its.left_out, its.n_weightless, None)
    return OtherSides(name, roles, sides, (None, None), totals, whole)
