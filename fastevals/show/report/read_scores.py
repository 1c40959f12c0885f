"""Read scores for a report: rows in memory, a reader of rows that do not fit, or counts; also of --against."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import dropping, option
from fastevals._options import listed, naming_rows
from fastevals._validation.arrays import as_frequencies, as_scores, as_weights, check_finite, raise_not_finite
from fastevals._validation.labels import binary_labels, distinct_pair
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import ThresholdCounts
from fastevals.datasets import load_digits_eight
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.reading.columns import (
    ColumnRoles,
    NamedColumns,
    are_summaries,
    join_columns,
    row_reader,
    share_numbers,
)
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import STDIN, known_format, open_source
from fastevals.reading.named_files import open_named_files
from fastevals.reading.rows import LeftOut, RowReader
from fastevals.reading.segments import RowSegments, Whole, crossed
from fastevals.reading.sources import CSV, ReadFiles, Reading, RowRules, Source, data_name, is_path
from fastevals.reading.values import parse_label
from fastevals.scale.exact.scans import NotWholeError
from fastevals.scale.scores import ScoresSummary
from fastevals.show.report.against import OtherSides, OtherTotals, Side
from fastevals.show.report.costs import read_amounts
from fastevals.show.report.intervals import IntervalPlan, ScoredRows, why_unknown_squares
from fastevals.show.report.measure import Measure, sides_of_summary
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.over_values import DividedRows
from fastevals.show.report.streams import (
    read_named_summaries,
    read_summaries,
    summary_name,
    summary_of_ranking,
)
from fastevals.show.verdict import listed as listed_in_words

EMBEDDED = "digits_eight (embedded)"
UNNAMED_ROWS = "other rows"  # the name of --against in texts if it is no file
FILES_NAMED = 2  # of several files of --against

T = TypeVar("T")


class ReadScores(NamedTuple):
    """Scores that were read: counts, a reader of rows that do not fit in memory, or rows in memory."""

    name: str  # in output
    summary: ScoresSummary | None = None
    reader: RowReader | None = None
    rows: ScoredRows | None = None
    groupings: Sequence[DividedRows] = ()
    labels: tuple[Any, Any] = (None, None)  # positive and negative; None if unknown
    left_out: LeftOut = LeftOut()
    n_weightless: int = 0
    clusters: Any = None  # values of the column of clusters; rows have indices into them
    line: Callable[[int], str] = "row {}".format  # names a row in messages
    n_bytes: int = 0  # memory that the rows take
    files: ReadFiles | None = None

    @property
    def weighing(self) -> tuple[bool, str | None]:
        """Whether rows have weights other than numbers of copies, and the column of weights if it is known."""
        if self.summary is not None:
            is_weighted = any(block.is_weighted for block in self.summary.blocks.values())
            return is_weighted, self.summary.weight if is_weighted else None
        if self.rows is not None and self.rows.ranking is not None:
            return self.rows.ranking.is_weighted, None
        return any(each is not None and each.weighs_rows for each in (self.rows, self.reader)), None

    def coded_groups(self) -> tuple[list[Any], NDArray[np.intp]]:
        """Return the clusters, and each row's index into them."""
        assert self.rows is not None
        assert self.rows.groups is not None
        return list(self.clusters), self.rows.groups

    def with_groups(self, groups: NDArray[np.intp]) -> ReadScores:
        """Return the same scores with other numbers of the clusters."""
        assert self.rows is not None
        return self._replace(rows=self.rows._replace(groups=groups))

    def counted(self, measured: Callable[[], T]) -> tuple[T, ReadScores]:
        """Measure; return the result, and these scores with what only a scan of the rows tells."""
        found = measured()
        if self.reader is None:
            return found, self
        reader = self.reader
        left_out = reader.left_out.named(reader.value_names(()))
        labels = reader.positive, reader.labels[1]
        return found, self._replace(
            labels=labels, left_out=left_out, n_weightless=reader.n_weightless, files=reader.files.files
        )


def read_counts(argument: str, data: Any, label: str, model: str, *, by_file: bool = False) -> ReadScores | None:
    """Return the counts that data hold: summaries of files, a ranking, or a summary; None if they are rows.

    If `by_file`, files of summaries are blocks.
    """
    if are_summaries(data):
        summary = read_named_summaries(data) if by_file else read_summaries(data)
        return ReadScores(
            summary_name(data), summary, labels=summary.labels, left_out=summary.left_out,
            n_weightless=summary.n_weightless,
        )  # fmt: skip
    ranking = as_ranking(argument, data)
    if not isinstance(ranking, BaseRanking):
        return None
    if not ranking.n_samples:
        raise ValueError(f"{argument} has no rows")
    if type(ranking) is not Ranking:  # not every score is known
        summary = summary_of_ranking(label, model, ranking)
        return ReadScores(summary_name(data), summary, labels=summary.labels)
    negative = next((each for each in ranking._classes().labels.tolist() if each != ranking.pos_label), None)
    rows = _counted_rows(argument, data, ranking, model)
    return ReadScores(data_name(data), rows=rows, labels=(ranking.pos_label, negative))


def read_rows(
    source: Source,
    roles: ColumnRoles,
    reading: Reading,
    rules: RowRules,
    pos_label: Any,
    *,
    cost_options: ReportOptions | None = None,
    classes: tuple[Any, Any] = (None, None),
) -> ReadScores:
    """Read rows into memory if they fit.

    `cost_options` are given if costs differ by row, and `classes` (positive and negative) as far as they are known.
    """
    if not reading.fits(source, len(roles.models)):
        return ReadScores(source.name, reader=row_reader(source, roles, pos_label, rules))
    columns = join_columns(
        source, roles.message_names(), roles.numeric, truth=roles.truth, segments=roles.segments, rules=rules
    )
    with naming_rows(columns.line, dropping()):
        rows, labels, clusters = _scored_rows(columns, roles, pos_label, classes)
        if cost_options is not None:
            rows = rows._replace(amounts=read_amounts(roles, columns, cost_options))
        groupings = grouped_rows(columns, roles)
    n_weightless = 0 if rows.weights is None else int(np.count_nonzero(rows.weights == 0))
    if n_weightless:
        kept = rows.weights != 0
        rows, groupings = rows.take(kept), [grouped.take(kept) for grouped in groupings]
    return ReadScores(
        columns.data, None, None, rows, groupings, labels, columns.left_out, n_weightless, clusters, columns.line,
        reading.needed(source, len(roles.models)), source.files,
    )  # fmt: skip


# Other rows -----------------------------------------------------------------------------------------------------------


def read_other(
    data: Any, own: ReadScores, options: ReportOptions, form: CsvForm, reading: Reading, measure: Measure
) -> tuple[OtherSides, ReadScores]:
    """Read the rows of --against by the same rules; return them, and the data with clusters that both sides share."""
    against, roles = only_path(options.against), measure.roles.without_costs()
    check_against(data, against, measure.plan)
    if own.reader is not None:
        own.reader.learn()
        own = own._replace(labels=(own.reader.positive, own.reader.labels[1]))
    name = other_name(against, data)
    with naming_other(name):
        read = read_counts("it", against, roles.truth, roles.models[0])
        if read is None:
            pos_label = options.pos_label if own.labels[0] is None else own.labels[0]
            source = open_source(against, roles.request(row_rules(options), form_of(against, data, form)))
            rules, kept = row_rules(options), reading.beside(own.n_bytes)
            read = read_rows(source, roles, kept, rules, pos_label, classes=own.labels)
        else:
            read = _matching(read, roles, against)
        own, read = _with_shared_clusters(own, read, roles)
        _check_weights(own, read)
        with naming_rows(read.line, dropping()):
            sides, read = read.counted(partial(_sides, measure, read, reading))
    whole = sides.pop(Whole.ROWS, None)
    n_samples, n_positives = (
        sum(side.counts[k] or 0 for side in sides.values()) // max(len(roles.segments.groupings), 1) for k in (0, 1)
    )
    totals = OtherTotals(n_samples, n_positives, read.left_out, read.n_weightless, read.files)
    other = OtherSides(name, roles, sides, read.labels, totals, whole)
    other.check_classes(own.labels)
    return other, own


def check_against(data: Any, against: Any, plan: IntervalPlan | None) -> None:
    """Raise if there are no replicates, or if standard input would be read twice."""
    if plan is None:
        raise ValueError(f"{option('against')} needs replicates: {option('n_resamples', 0)} leaves nothing to compare")
    if is_stdin(data) and is_stdin(against):
        raise ValueError(f"{option('against')} and the data can't both be standard input")


def _matching(read: ReadScores, roles: ColumnRoles, against: Any) -> ReadScores:
    """Return the counts of the data's models; raise unless every block of the data can be compared with them."""
    if not are_summaries(against) and len(roles.models) > 1:
        raise ValueError(f"it holds one model, and the data has {len(roles.models)}: {listed(roles.models)}")
    segments = RowSegments() if read.summary is None else read.summary.segments
    if segments != roles.segments:
        its, mine = (
            f"by {' x '.join(map(repr, each.columns))}" if each.columns else "as a whole"
            for each in (segments, roles.segments)
        )
        raise ValueError(f"it is counted {its}, and the data {mine}")
    if read.summary is None:
        return read
    for model in roles.models:
        if model not in read.summary.models:
            raise ValueError(f"it has no scores {model!r}: it has those of {listed(read.summary.models)}")
    return read._replace(summary=read.summary.of_models(read.summary.label, roles.models))


def _with_shared_clusters(own: ReadScores, read: ReadScores, roles: ColumnRoles) -> tuple[ReadScores, ReadScores]:
    """Number the clusters of both sides together, because some may be on both; raise if the rows are not in memory."""
    if roles.groups is None:
        return own, read
    for each, shown in ((own, "the data's"), (read, "its")):
        if each.rows is None or each.rows.groups is None:
            hint = f": raise {option('memory')}" if each.reader is not None else ", which were counted"
            raise ValueError(f"{option('groups')} needs {shown} rows in memory{hint}")
    codes = share_numbers([own.coded_groups(), read.coded_groups()])
    return own.with_groups(codes[0]), read.with_groups(codes[1])


def _check_weights(own: ReadScores, read: ReadScores) -> None:
    """Raise unless the rows of both sides are weighted by the same column, or not at all, and have intervals."""
    (mine, my_name), (its, its_name) = own.weighing, read.weighing
    if mine != its or (my_name and its_name and my_name != its_name):
        named = (
            f"weighted{f' by {name!r}' if name else ''}" if weighs else "not weighted"
            for weighs, name in ((its, its_name), (mine, my_name))
        )
        raise ValueError("its rows are {}, and the data's are {}".format(*named))
    for each, shown in ((own, "the data"), (read, "it")):
        if each.summary is not None and not all(block.has_squares for block in each.summary.blocks.values()):
            raise ValueError(f"{shown} has no intervals: {why_unknown_squares()}")


def _sides(measure: Measure, read: ReadScores, reading: Reading) -> dict[Any, Side]:
    """Return the other rows of each block, by its key."""
    if read.summary is not None:
        return sides_of_summary(read.summary)
    if read.rows is not None:
        return measure.sides_of_rows(read.rows, read.groupings)
    assert read.reader is not None
    if not reading.approximate and read.reader.files.can_repeat:
        with suppress(NotWholeError):  # weights that are not whole numbers give bounds
            return measure.sides_of_stream(read.reader, reading)
    return sides_of_summary(measure.summarized(read.reader))


@contextmanager
def naming_other(name: str, role: str = "against") -> Iterator[None]:
    """Name the other rows in errors; the option `role` gives them."""
    shown = option(role) + ("" if name == UNNAMED_ROWS else f" {name}")
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{shown}: {error}") from error


def other_name(against: Any, data: Any) -> str:
    """Return the name that texts use for the other rows: the files' names, with folders if the data have the same."""
    if paths := _paths(against):
        names, of_data = ([os.path.basename(path) for path in each] for each in (paths, _paths(data)))
        names = paths if names == of_data and paths != _paths(data) else names
        return "standard input" if is_stdin(against) else listed_in_words(names, FILES_NAMED)
    title = os.path.basename(against.title) if isinstance(against, ScoresSummary) else ""
    return title or UNNAMED_ROWS


def _paths(data: Any) -> list[str]:
    given = [data] if is_path(data) else data
    are_paths = isinstance(given, (list, tuple)) and all(map(is_path, given))
    return [os.fsdecode(path) for path in given] if are_paths else []


def only_path(data: Any) -> Any:
    """Return the only path of a list; other data are returned unchanged."""
    return data[0] if isinstance(data, (list, tuple)) and len(data) == 1 and is_path(data[0]) else data


def is_stdin(data: Any) -> bool:
    """Return whether data are standard input."""
    return isinstance(data, str) and data == STDIN


def form_of(data: Any, other: Any, form: CsvForm) -> CsvForm:
    """Return the form of CSV files for data; none if they are of another format and `other` may be CSV."""
    return CsvForm() if other is not None and not may_be_csv(data) and may_be_csv(only_path(other)) else form


def may_be_csv(data: Any) -> bool:
    """Return whether data may be CSV: standard input, a folder, or a file with its suffix."""
    return any(is_stdin(path) or known_format(path) in (CSV, None) for path in _paths(data) if not are_summaries(path))


# Columns and rows -------------------------------------------------------------------------------------------------


def row_rules(options: ReportOptions) -> RowRules:
    """Return the rules for rows that can't be counted."""
    rules = RowRules(options.on_missing_label, options.on_invalid)
    rules.check()
    return rules


def grouped_rows(columns: NamedColumns, roles: ColumnRoles) -> list[DividedRows]:
    """Return each way to divide rows by the columns of --by."""
    if not roles.by:
        return []
    called = roles.message_names()
    coded = {name: columns.encode_values(called[name], name) for name in roles.by}
    return [DividedRows(by, *crossed([coded[name] for name in by])) for by in roles.segments.groupings]


def open_scores(data: Any, roles: ColumnRoles, form: CsvForm, rules: RowRules, *, by_file: bool = False) -> Source:
    """Open the data, or the embedded scores."""
    if data is not None:
        return (open_named_files if by_file else open_source)(data, roles.request(rules, form))
    source = open_source(load_digits_eight(), Request(form=form))
    source.title = source.called = EMBEDDED
    return source


def _scored_rows(
    columns: NamedColumns, roles: ColumnRoles, pos_label: Any, classes: tuple[Any, Any]
) -> tuple[ScoredRows, tuple[Any, Any], Any]:
    """Return the checked rows, the labels and the clusters; remove the labels from the columns."""
    names = roles.message_names()
    with naming_rows(columns.line, dropping(is_label=True)):
        positive, labels = _positives(names[roles.truth], columns.pop(roles.truth), pos_label, classes)
    scores = {}
    for name in roles.models:
        scores[name] = as_scores(names[name], columns[name])
        check_finite(names[name], scores[name])
    read_weights = as_frequencies if roles.are_copies else as_weights
    weights = None if roles.weight is None else read_weights(names[roles.weight], columns[roles.weight])
    clusters, groups = (None, None) if roles.groups is None else columns.code_groups(names[roles.groups], roles.groups)
    return ScoredRows(positive, scores, weights, groups, are_copies=roles.are_copies), labels, clusters


def _positives(
    name: str, labels: NDArray[Any], pos_label: Any, classes: tuple[Any, Any]
) -> tuple[NDArray[np.bool_], tuple[Any, Any]]:
    """Return which rows are positive, and the positive and the negative label (None if there is none).

    Raise if a label is not among `classes` and both of these are known.
    """
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise_not_finite(name, labels)
    distinct = sorted(distinct_pair(labels))
    if None not in classes and not set(distinct) <= set(classes):
        raise ValueError(f"{name} has the classes {listed(distinct)}, and the data has {listed(sorted(classes))}")
    wanted = parse_label(pos_label, distinct) if isinstance(pos_label, str) else pos_label
    coded = BinaryLabels(*binary_labels(name, labels, wanted, option=option("pos_label")))
    flags, positive = coded.flags(name).view(bool), type(distinct[0])(coded.positive)
    return flags, (positive, next((label for label in distinct if label != positive), None))


def _counted_rows(argument: str, data: Any, ranking: Ranking, name: str) -> ScoredRows:
    """Return a row for each distinct score and class, weighted by its count."""
    counts = ranking.counts
    if isinstance(data, ThresholdCounts) and counts.tps.dtype.kind == "f":
        raise ValueError(f"{argument} must count rows, but these ThresholdCounts are sums of weights: pass the Ranking")
    sizes = np.concatenate([np.diff(counts.tps), np.diff(counts.fps)])
    positive, scores = np.repeat([True, False], counts.tps.size - 1), np.tile(counts.thresholds[1:], 2)
    kept, are_copies = sizes > 0, counts.tps.dtype.kind == "i"
    return ScoredRows(positive[kept], {name: scores[kept]}, sizes[kept], None, ranking, are_copies)
