"""Tasks count the rows of a partition on any machine, and merge the answers.

A task is sent to the workers, which return answers: summaries, and other objects that are small when pickled. The task
defines what to count; frames decide where.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progress_bar
from fastevals._naming import naming_columns
from fastevals._options import show
from fastevals._validation.text import is_text
from fastevals.counting.labels import rows_by_code
from fastevals.counting.ordering import FLOATS
from fastevals.counts import check_total
from fastevals.many.group_values import GroupValues, grouped_values
from fastevals.many.groups import auc_of_groups, counted_by_weight, errors_of_groups, scores_by_group, values_of_groups
from fastevals.measure.kinds import SCORES, TARGETS, MetricSpecs
from fastevals.reading.class_columns import ANY, ClassColumns
from fastevals.reading.model_columns import places_of, split_lists
from fastevals.reading.rows import (
    Batch,
    ColumnReader,
    RowReader,
    Rows,
    Weights,
    check_names,
    given_columns,
    joined_checksums,
    joined_columns,
)
from fastevals.reading.segments import RowSegments
from fastevals.reading.sources import Piece, RowRules, Source
from fastevals.reading.values import split_values
from fastevals.scale.exact.atoms import AtomCounts, atoms_beside
from fastevals.scale.exact.curve import ExactCurve
from fastevals.scale.exact.scans import KEYS_PER_SORT, WaitingKeys, ends, exact_units
from fastevals.scale.grouped import GroupSummary
from fastevals.scale.payload import pack, unpack
from fastevals.scale.scores import MOST_VALUES, Counting, ScoresSummary
from fastevals.scale.summary import joint_labels

Keys = NDArray[np.uint64]

OPENED = 4  # answers unpickled at the same time, 8 MB each
MOST_ANSWERS = 256  # most answers to the driver, per model and value, of up to 700 kB each
MOST_WAITING = 1 << 22  # keys that wait until equal ones are added up


class Task(ABC):
    """A task: what to count in each partition, from which columns, and how many answers the driver may merge."""

    columns: Any
    most_answers: int = MOST_ANSWERS

    def answer_of(self, batches: Iterator[Any], name: str) -> Any:
        """Return the answer of a partition, given as record batches."""
        return self.answer(self.columns.reader(name, batches))

    @abstractmethod
    def answer(self, reader: Any) -> Any:
        """Return the answer for the rows of a reader, which are read once."""

    @abstractmethod
    def merge(self, answers: Iterable[Any]) -> Any:
        """Return the joint answer of several partitions; answers are read once and not changed."""


@lru_cache(maxsize=1)
def task_of(sent: bytes) -> Task:
    """Unpickle the task that was sent; all partitions on a worker share it."""
    return pickle.loads(sent)  # type: ignore[no-any-return]


def _partition(name: str, columns: list[str], batches: Iterator[Any]) -> Source:
    """Return the rows of a partition, which can be read only once."""

    def selected(wanted: list[str]) -> Iterator[Any]:
        for batch in batches:
            yield batch if batch.schema.names == wanted else batch.select(wanted)

    return Source(name, columns, [Piece(name, None, 0, selected)], can_repeat=False)


def opened(answers: Iterable[Any]) -> Iterator[Any]:
    """Yield answers, unpickled if they are bytes."""
    for answer in answers:
        yield pickle.loads(answer) if isinstance(answer, bytes) else answer


# Columns and their readers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankingColumns:
    """Columns of labels and scores.

    Attributes
    ----------
    label : str
        Column of the true class.
    scores : tuple of str
        Columns of scores, one per model.
    weight : str or None
        Column of weights.
    by : str, tuple of str, or None
        Column of values that divide the rows, or columns of groups.
    pos_label : label or None
        The positive class, if given.
    labels : tuple
        The positive and the negative label, as far as they are known.
    rules : RowRules
        What to do with rows without a label, and with rows without a weight or a finite score.
    are_copies : bool
        Whether weights are numbers of copies.
    are_groups : bool
        Whether values of `by` are groups; then each row must have a value.
    """

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    by: str | tuple[str, ...] | None = None
    pos_label: Any = None
    labels: tuple[Any, Any] = (None, None)
    rules: RowRules = RowRules()  # noqa: RUF009 (never modified)
    are_copies: bool = False
    are_groups: bool = False

    @property
    def weighs_rows(self) -> bool:
        """Whether rows have weights that are not numbers of copies."""
        return self.weight is not None and not self.are_copies

    @property
    def names(self) -> list[str]:
        """All columns, without repetition."""
        others = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([self.label, *self.scores, *others, *self.segments.columns]))

    @property
    def segments(self) -> RowSegments:
        """How values divide the rows; several columns are crossed."""
        return RowSegments.of(self.by, cross=True)

    def reader(self, name: str, batches: Iterator[Any]) -> RowReader:
        """Return a reader of these columns of a partition."""
        return RowReader(
            _partition(name, self.names, batches), self.label, self.scores, weight=self.weight,
            segments=self.segments, pos_label=self.pos_label, rules=self.rules, labels=self.labels,
            are_copies=self.are_copies, are_groups=self.are_groups,
        )  # fmt: skip


@dataclass(frozen=True)
class ArgumentColumns:
    """Columns for the arguments of a summary's `update`.

    Attributes
    ----------
    arguments : dict of str to str
        The column of each argument.
    numbers : tuple of str
        The arguments that are finite numbers; others may be text.
    by : str or None
        Column of values that divide the rows.
    rules : RowRules
        What to do with rows without a true value, and with rows without another value.
    """

    arguments: dict[str, str]
    numbers: tuple[str, ...]
    by: str | None = None
    rules: RowRules = RowRules()  # noqa: RUF009 (never modified)

    @property
    def weight(self) -> str | None:
        """Column of weights, or of numbers of copies."""
        return self.arguments.get("sample_weight", self.arguments.get("frequency_weight"))

    @property
    def names(self) -> list[str]:
        """All columns, without repetition."""
        return list(dict.fromkeys([*self.arguments.values(), *([] if self.by is None else [self.by])]))

    def reader(self, name: str, batches: Iterator[Any]) -> ColumnReader:
        """Return a reader of these columns of a partition."""
        numbers = [self.arguments[argument] for argument in self.numbers if argument in self.arguments]
        keys = [column for column in self.names if column not in numbers]
        return ColumnReader(
            _partition(name, self.names, batches), keys, numbers, truth=self.arguments.get("y_true"),
            segments=RowSegments.of(self.by), rules=self.rules,
        )  # fmt: skip


@dataclass(frozen=True)
class ProbabilityColumns(ArgumentColumns):
    """Columns for the arguments of `ClassScoresSummary.update`; `arguments` has all but the probabilities.

    Attributes
    ----------
    classes : ClassColumns
        The columns of probabilities, as the reader has them.
    lists : dict of str to int
        The column of lists that these columns come from, if any, and the length of the lists.
    """

    classes: ClassColumns = field(kw_only=True)
    lists: dict[str, int] = field(kw_only=True)

    @property
    def names(self) -> list[str]:
        """All columns, without repetition."""
        return list(dict.fromkeys([*super().names, *(self.lists or self.classes.columns)]))

    def reader(self, name: str, batches: Iterator[Any]) -> ColumnReader:
        """Return a reader of these columns of a partition."""
        return self.reader_of(_partition(name, self.names, batches))

    def reader_of(self, source: Source) -> ColumnReader:
        """Return a reader of these columns of a source."""
        weights = [self.arguments[argument] for argument in self.numbers if argument in self.arguments]
        keys = [self.arguments["y_true"], *([] if self.by is None else [self.by])]
        return ColumnReader(
            split_lists(source, self.lists), keys, [*self.classes.columns, *weights], truth=keys[0],
            segments=RowSegments.of(self.by), rules=self.rules,
        )  # fmt: skip


def probability_columns(
    names: Sequence[str],
    label: str,
    probabilities: Any,
    classes: Sequence[Any] | None,
    weights: Weights,
    by: str | None,
    rules: RowRules,
) -> ProbabilityColumns:
    """Return the columns of a request for class probabilities; `names` are all columns of the data."""
    rules.check()
    check_names(label=label, **weights.given(), **given_columns(by=by))
    others = (label, weights.sample_weight, weights.frequency_weight, by)
    lists = dict[str, int]()
    if isinstance(probabilities, str) and (ANY not in probabilities or probabilities in names):
        if classes is None:
            raise ValueError(f"classes must name the classes of the lists in column {probabilities!r}, in their order")
        lists[probabilities] = len(classes)
        found = ClassColumns(tuple(places_of(probabilities, len(classes))), tuple(classes), False)
    else:
        found = ClassColumns.find(names, probabilities, classes, others)
    given = given_columns(y_true=label, sample_weight=weights.sample_weight, frequency_weight=weights.frequency_weight)
    return ProbabilityColumns(given, ("sample_weight", "frequency_weight"), by, rules, classes=found, lists=lists)


# Summaries ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountScores(Task):
    """Counts scores by range and by value of a column."""

    columns: RankingColumns
    counting: Counting
    most_answers: int = MOST_ANSWERS

    def answer(self, reader: RowReader) -> ScoresSummary:
        """Return the summary of a partition's rows."""
        summary = self.counting.count(reader, reader.files.pieces)
        summary.pieces = {}
        return summary

    def merge(self, answers: Iterable[ScoresSummary]) -> ScoresSummary:
        """Return the summary of all rows."""
        waiting = iter(answers)
        whole = next(waiting)
        while some := list(islice(waiting, OPENED)):
            whole = whole.merge(*some)
        return whole


@dataclass(frozen=True)
class CountValues(Task):
    """Adds true and predicted values (classes or numbers) to one summary, or to one per value of the column `by`."""

    columns: ArgumentColumns
    kind: type[Any]
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self, reader: ColumnReader, *, progress: bool = False) -> dict[Any, Any]:
        """Return the summaries of a reader's rows."""
        found: dict[Any, Any] = {}
        pieces = reader.files.pieces
        with progress_bar(len(pieces), progress) as show_bar:
            for n, piece in enumerate(pieces):
                self._add(reader.batches(piece), found)
                show_bar(n + 1)
        return found

    def _add(self, batches: Iterator[tuple[Batch, dict[str, Any]]], found: dict[Any, Any]) -> None:
        """Add the rows of batches to the summaries."""
        for place, arrays in batches:
            for value, part in _parted(arrays, self.columns.by):
                if value not in found:
                    if len(found) == MOST_VALUES:
                        raise ValueError(f"column {self.columns.by!r} must have at most {MOST_VALUES} values")
                    found[value] = self.kind(**self._options(part))
                with naming_columns(self._titles(), f"of rows from {place.row(0)} on"):
                    found[value].update(**self._arguments(part))

    def _options(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a summary whose first rows are given."""
        return self.options

    def _arguments(self, part: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `update`."""
        return {name: part[column] for name, column in self.columns.arguments.items()}

    def _titles(self) -> dict[str, str]:
        """Return the column of each argument."""
        return self.columns.arguments

    def merge(self, answers: Iterable[dict[Any, Any]]) -> dict[Any, Any]:
        """Return the summaries of all rows."""
        waiting, whole = iter(answers), dict[Any, Any]()
        while some := list(islice(waiting, OPENED)):
            parts = {value: [whole[value]] for value in whole}
            for answer in some:
                for value, summary in answer.items():
                    parts.setdefault(value, []).append(summary)
            whole = {value: first.merge(*more) for value, (first, *more) in parts.items()}
        return whole


@dataclass(frozen=True)
class CountClassScores(CountValues):
    """Adds true classes and class probabilities to one summary, or to one per value of the column `by`."""

    columns: ProbabilityColumns
    most_answers: int = 16  # answers may be several megabytes each

    def _options(self, part: dict[str, Any]) -> dict[str, Any]:
        name = self.columns.arguments["y_true"]
        return {**self.options, "labels": self.columns.classes.labels_for(name, part[name])}

    def _arguments(self, part: dict[str, Any]) -> dict[str, Any]:
        return {
            **super()._arguments(part),
            "y_score": np.stack([part[c] for c in self.columns.classes.columns], axis=1),
        }

    def _titles(self) -> dict[str, str]:
        return {**self.columns.arguments, "y_score": self.columns.classes.title}


def _parted(arrays: dict[str, Any], by: str | None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each value of a column with its rows; without a column, None with all rows."""
    if by is None:
        yield None, arrays
        return
    values, codes = split_values(arrays[by])
    for value, rows in zip(values, rows_by_code(codes, len(values)), strict=True):
        yield value, {name: array[rows] for name, array in arrays.items()}


@dataclass(frozen=True)
class LargestWeight(Task):
    """Finds the largest weight."""

    columns: ArgumentColumns

    def answer(self, reader: ColumnReader) -> tuple[float, bool]:
        """Return the largest weight, and whether all are integers."""
        largest, are_whole = 0.0, True
        for _, arrays in reader.batches(*reader.files.pieces):
            (weights,) = arrays.values()
            largest = max(largest, float(weights.max()))
            are_whole = are_whole and bool((weights == np.trunc(weights)).all())
        return largest, are_whole

    def merge(self, answers: Iterable[tuple[float, bool]]) -> tuple[float, bool]:
        """Return the answer for all rows."""
        largest, are_whole = zip(*answers, strict=True)
        return max(largest), all(are_whole)


# Exact counts ---------------------------------------------------------------------------------------------------------


Where = tuple[Any, str]  # a value of the column that divides rows, and a model


def _summed(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    first, second = zip(*pairs, strict=True)
    return sum(first), sum(second)


class PositiveScores(NamedTuple):
    """The scores of positives, and totals of all rows.

    Attributes
    ----------
    keys : ndarray of uint64
        Keys of the distinct scores of positives, ascending; empty if there are too many.
    units : ndarray of int64
        Rows, or units of weight, at each score.
    highest : int
        Key of the highest score of all rows.
    totals : tuple of int
        Units of weight of positives and negatives.
    rows : tuple of int
        Numbers of positive and negative rows.
    """

    keys: Keys
    units: NDArray[np.int64]
    highest: int
    totals: tuple[int, int]
    rows: tuple[int, int]

    @classmethod
    def joined(cls, parts: Sequence[PositiveScores]) -> PositiveScores:
        """Return the scores of all parts."""
        none = np.empty(0, np.uint64)
        units = [part.units for part in parts]
        atoms = AtomCounts.of_positives([part.keys for part in parts], units, none, large=True)
        totals, rows = (_summed([getattr(part, name) for part in parts]) for name in ("totals", "rows"))
        check_total("sample_weight", *totals)
        highest = max(part.highest for part in parts)
        return cls(atoms.keys, atoms.positives.astype(np.int64), highest, totals, rows)

    def without_keys(self) -> PositiveScores:
        """Return the totals without the scores."""
        return self._replace(keys=self.keys[:0], units=self.units[:0])

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {"keys": np.diff(self.keys, prepend=np.uint64(0)), "units": self.units}
        return PositiveScores._unpacked, (pack("positives", {}, arrays), *self[2:])

    @classmethod
    def _unpacked(cls, data: bytes, *others: Any) -> PositiveScores:
        fields = unpack(data, "positives")
        return cls(np.cumsum(fields.array("keys"), dtype=np.uint64), fields.counts("units"), *others)


class Gathered(NamedTuple):
    """Results of a first pass over all rows.

    Attributes
    ----------
    scores : dict of (value, model) to PositiveScores
    labels : tuple
        The positive and the negative label, as far as they are known.
    are_too_many : bool
        Whether there are too many scores of positives; if so, they are not kept.
    checksums : list of int
        Checksums of all rows, one per model.
    """

    scores: dict[Where, PositiveScores]
    labels: tuple[Any, Any]
    are_too_many: bool
    checksums: list[int]


class _Gathering:
    """Gathers scores of positives, up to a maximum number of distinct scores."""

    def __init__(self, most: int) -> None:
        self.most, self.are_too_many = most, False
        self._parts: dict[Where, list[PositiveScores]] = {}
        self._n_waiting = 0

    def add(self, where: Where, scores: PositiveScores) -> None:
        self._parts.setdefault(where, []).append(scores.without_keys() if self.are_too_many else scores)
        self._n_waiting += scores.keys.size
        if self._n_waiting > MOST_WAITING:
            self.join()

    def join(self) -> dict[Where, PositiveScores]:
        joined = {where: PositiveScores.joined(parts) for where, parts in self._parts.items()}
        self.are_too_many |= sum(each.keys.size for each in joined.values()) > self.most
        if self.are_too_many:
            joined = {where: each.without_keys() for where, each in joined.items()}
        self._parts = {where: [each] for where, each in joined.items()}
        self._n_waiting = 0
        return joined


class NegativeCounts(NamedTuple):
    """Negatives at given scores, negatives between them, and the lowest negative of each gap, as in `AtomCounts`."""

    at: NDArray[np.int64]
    between: NDArray[np.int64]
    least: Keys

    def __reduce__(self) -> tuple[Any, ...]:
        return NegativeCounts._unpacked, (pack("negatives", {}, self._asdict()),)

    @classmethod
    def _unpacked(cls, data: bytes) -> NegativeCounts:
        fields = unpack(data, "negatives")
        return cls(fields.counts("at"), fields.counts("between"), fields.array("least"))


class CountedNegatives(NamedTuple):
    """Counts of negatives by value and model, in the order of the task's keys, and checksums of all rows."""

    counts: list[NegativeCounts]
    checksums: list[int]


@dataclass(frozen=True)
class GatherPositives(Task):
    """Gathers the distinct scores of the positives.

    Attributes
    ----------
    columns : RankingColumns
    most : int
        The most distinct scores in total; more are not kept.
    """

    columns: RankingColumns
    most: int
    most_answers = 4  # answers may be 30 MB each

    def answer(self, reader: RowReader) -> Gathered:
        """Return the gathered scores of a partition."""
        gathering = _Gathering(self.most)
        for value, part in rows_by_value(reader):
            units = units_of(part, reader)
            positive = part.flags.view(np.bool_)
            totals = int(units[positive].sum()), int(units[~positive].sum())
            n_samples, n_positives = part.counted(self.columns.are_copies)
            known = totals, (n_positives, n_samples - n_positives)
            for name, scores in zip(self.columns.scores, part.scores, strict=True):
                keys = FLOATS.encode(scores[positive] + 0.0)
                gathering.add((value, name), PositiveScores(keys, units[positive], ends(scores)[1], *known))
        return Gathered(gathering.join(), reader.labels, gathering.are_too_many, reader.checksums)

    def merge(self, answers: Iterable[Gathered]) -> Gathered:
        """Return the gathered scores of all rows."""
        gathering, labels, parts = _Gathering(self.most), (None, None), []
        for scores, its, are_too_many, checksums in answers:
            labels = joint_labels(labels, its)
            gathering.are_too_many |= are_too_many
            parts.append(checksums)
            for where, each in scores.items():
                gathering.add(where, each)
        return Gathered(gathering.join(), labels, gathering.are_too_many, joined_checksums(parts))


@dataclass(frozen=True)
class CountNegatives(Task):
    """Counts the negatives at and between some scores."""

    columns: RankingColumns
    keys: dict[Where, Keys]
    most_answers = 16  # answers may be 8 MB each

    def answer(self, reader: RowReader) -> CountedNegatives:
        """Return the counts of a partition."""
        counts = self._uncounted()
        waiting: dict[Where, WaitingKeys] = {where: WaitingKeys() for where in counts}
        for value, part in rows_by_value(reader):
            negative = ~part.flags.view(np.bool_)
            units = None if part.weights is None else exact_units(part.weights, reader)[negative]
            for name, scores in zip(self.columns.scores, part.scores, strict=True):
                if (value, name) not in counts:
                    raise changed(reader.files.title, f"it had no rows of {self.columns.by} = {show(value)}")
                waiting[value, name].add(FLOATS.encode(scores[negative] + 0.0), units)
                if waiting[value, name].n >= KEYS_PER_SORT:
                    counts[value, name].count(*waiting[value, name].empty())
        for where, left in waiting.items():
            if left.n:
                counts[where].count(*left.empty())
        found = [NegativeCounts(each.at, each.between, each.least) for each in counts.values()]
        return CountedNegatives(found, reader.checksums)

    def merge(self, answers: Iterable[CountedNegatives]) -> CountedNegatives:
        """Return the counts of all rows."""
        whole = list(self._uncounted().values())
        parts = []
        for counts, checksums in answers:
            parts.append(checksums)
            for mine, its in zip(whole, counts, strict=True):
                mine.at += its.at
                mine.between += its.between
                np.minimum(mine.least, its.least, out=mine.least)
        found = [NegativeCounts(each.at, each.between, each.least) for each in whole]
        return CountedNegatives(found, joined_checksums(parts))

    def _uncounted(self) -> dict[Where, AtomCounts]:
        return {where: AtomCounts.uncounted(keys, np.zeros(keys.size, np.int64)) for where, keys in self.keys.items()}


OTHER_ROWS = "its scores, labels or weights differ from the first pass"


def changed(title: str, how: str) -> ValueError:
    """Return the error for rows that differ from those read before."""
    return ValueError(
        f"{title} has changed: {how}. Its rows are read more than once, and must stay the same: call its persist() (on "
        "Spark also cache()) first, or write them to files"
    )


def rows_of(reader: RowReader) -> Iterator[Rows]:
    """Yield the rows of a partition, batch by batch."""
    return reader.rows(*reader.files.pieces)


def rows_by_value(reader: RowReader) -> Iterator[tuple[Any, Rows]]:
    """Yield the rows of a partition by value, batch by batch."""
    for batch in rows_of(reader):
        yield from batch.by_segment(reader.segments)


def units_of(rows: Rows, reader: RowReader) -> NDArray[np.int64]:
    """Return each row's units of weight, or 1 if there are no weights."""
    return np.ones(rows.flags.size, np.int64) if rows.weights is None else exact_units(rows.weights, reader)


# Ranges of scores -----------------------------------------------------------------------------------------------------


class ScoreRange(NamedTuple):
    """A score range: keys of its lowest and highest score, its numbers of positives and negatives, and a checksum."""

    low: int
    high: int
    n_positives: int
    n_negatives: int
    checksum: int


@dataclass(frozen=True)
class CountRanges(Task):
    """Counts the rows of partitions that each hold a separate range of one model's scores."""

    columns: RankingColumns

    def answer(self, reader: RowReader) -> list[ScoreRange]:
        """Return the partition's range in a list, which is empty if there are no rows."""
        found: list[tuple[int, int, int, int]] = []
        for part in rows_of(reader):
            units = units_of(part, reader)
            n_pos = int(units[part.flags.view(np.bool_)].sum())
            found.append((*ends(part.scores[0]), n_pos, int(units.sum()) - n_pos))
        if not found:
            return []
        lows, highs, positives, negatives = zip(*found, strict=True)
        return [ScoreRange(min(lows), max(highs), sum(positives), sum(negatives), *reader.checksums)]

    def merge(self, answers: Iterable[list[ScoreRange]]) -> list[ScoreRange]:
        """Return the ranges of all partitions."""
        return [each for answer in answers for each in answer]


@dataclass(frozen=True)
class SweepRanges(Task):
    """Adds up, range by range, the sums that a ranking's metrics need from all points.

    Attributes
    ----------
    columns : RankingColumns
    above : dict of int to tuple of int
        Maps the key of each range's lowest score to the positives above the range, the negatives above it, and the
        checksum of the range's rows.
    known : PositiveScores
        Totals of all rows.
    at : ndarray of uint64
        Keys of further thresholds at which counts are exact.
    """

    columns: RankingColumns
    above: dict[int, tuple[int, int, int]]
    known: PositiveScores
    at: Keys

    def answer(self, reader: RowReader) -> list[tuple[int, ExactCurve]]:
        """Return a list with the key of the lowest score and the curve; an empty list if the partition has no rows."""
        parts = list(rows_of(reader))
        if not parts:
            return []
        rows = Rows.joined(parts)
        keys, positive, units = FLOATS.encode(rows.scores[0] + 0.0), rows.flags.view(np.bool_), units_of(rows, reader)
        also = atoms_beside(self.at, self.known.highest)
        atoms = AtomCounts.of_positives([keys[positive]], [units[positive]], also, large=True)
        atoms.count(keys[~positive], None if rows.weights is None else units[~positive])
        low, _ = ends(rows.scores[0])
        tp, fp, checksum = self.above.get(low, (0, 0, None))
        if reader.checksums != [checksum]:
            raise changed(reader.files.title, OTHER_ROWS)
        curve = ExactCurve(*self.known.totals, at=self.at, above=(tp, fp))
        curve.add(atoms)
        return [(low, curve)]

    def merge(self, answers: Iterable[list[tuple[int, ExactCurve]]]) -> list[tuple[int, ExactCurve]]:
        """Return the curves of all partitions."""
        return [each for answer in answers for each in answer]

    def whole(self, answer: list[tuple[int, ExactCurve]]) -> ExactCurve:
        """Return the curve of all rows."""
        whole = ExactCurve(*self.known.totals, at=self.at)
        for _, curve in sorted(answer, key=lambda each: -each[0]):
            whole.append(curve)
        return whole


# Groups ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountGroups(Task):
    """Counts all distinct scores of groups, in one summary per model.

    Attributes
    ----------
    columns : RankingColumns
        Groups are the values of the column `by`.
    most_scores : int
        The most distinct scores in each summary.
    """

    columns: RankingColumns
    most_scores: int = 20_000_000
    most_answers = 4  # answers may be 200 MB each

    def answer(self, reader: RowReader) -> dict[str, GroupSummary]:
        """Return the summaries of a partition's rows."""
        found = {name: GroupSummary(pos_label=1, most_scores=self.most_scores) for name in self.columns.scores}
        for rows in rows_of(reader):
            units = None if rows.weights is None else exact_units(rows.weights, reader)
            with naming_columns({"groups": str(self.columns.by)}, f"in {reader.files.title}"):
                for summary, scores in zip(found.values(), rows.scores, strict=True):
                    given = {"frequency_weight" if reader.are_copies else "sample_weight": units}
                    summary.update(rows.flags, scores, *rows.values, **given)  # type: ignore[arg-type]
        for summary in found.values():
            summary._labels = reader.labels
        return found

    def merge(self, answers: Iterable[dict[str, GroupSummary]]) -> dict[str, GroupSummary]:
        """Return the summaries of all rows."""
        waiting = iter(answers)
        whole = next(waiting)
        while some := list(islice(waiting, OPENED)):
            with naming_columns({"groups": str(self.columns.by)}, "of all rows"):
                whole = {name: summary.merge(*(each[name] for each in some)) for name, summary in whole.items()}
        return whole


class MeasuredGroups(NamedTuple):
    """Metrics of the groups of some partitions, and the labels."""

    parts: list[GroupValues]
    labels: tuple[Any, Any]

    def whole(self) -> GroupValues:
        """Return the metrics of all groups, ascending."""
        seen = {is_text(part.groups): part.groups[0] for part in self.parts}
        if len(seen) > 1:
            raise ValueError(
                f"by must be a column of text or of numbers, not both, got {' and '.join(map(show, seen.values()))}"
            )
        order = np.argsort(np.concatenate([part.groups for part in self.parts]), kind="stable")

        def joined(columns: Sequence[Any]) -> Any:
            return None if columns[0] is None else np.concatenate(columns)[order]

        groups, values, *others = zip(*self.parts, strict=True)
        return GroupValues(joined(groups), [joined(each) for each in zip(*values, strict=True)], *map(joined, others))

    def __reduce__(self) -> tuple[Any, ...]:
        return MeasuredGroups._unpacked, ([_recoded(part, "U", np.char.encode) for part in self.parts], self.labels)

    @classmethod
    def _unpacked(cls, parts: list[GroupValues], labels: tuple[Any, Any]) -> MeasuredGroups:
        return cls([_recoded(part, "S", np.char.decode) for part in parts], labels)


def _recoded(found: GroupValues, kind: str, function: Callable[..., Any]) -> GroupValues:
    """Encode the groups' text names as bytes, which take a quarter of the space, or decode them."""
    if found.groups.dtype.kind != kind:
        return found
    return found._replace(groups=function(found.groups, "utf-8", "surrogatepass"))


@dataclass(frozen=True)
class MeasureGroups(Task):
    """Measures groups; all rows of a group must be in one partition.

    Attributes
    ----------
    columns : RankingColumns or ArgumentColumns
        Groups are the values of the column `by`.
    metrics : dict of str to MetricSpec or function
        Metrics by their names in results.
    interval : bool
        Whether to return standard errors, which are available only for AUC.
    """

    columns: RankingColumns | ArgumentColumns
    metrics: MetricSpecs
    interval: bool = False

    def answer(self, reader: Any) -> MeasuredGroups:
        """Return the metrics of a partition's groups."""
        found = self._of_scores(reader) if isinstance(reader, RowReader) else self._of_numbers(reader)
        return MeasuredGroups([] if found is None else [found], getattr(reader, "labels", (None, None)))

    def _of_scores(self, reader: RowReader) -> GroupValues | None:
        parts = list(rows_of(reader))
        if not parts:
            return None
        rows = Rows.joined(parts)
        weights = rows.weights
        scores = scores_by_group(rows.flags, rows.scores[0], list(rows.values), weights, None)
        if self.interval:
            found = auc_of_groups(scores, with_variances=True)
        else:
            found = values_of_groups(scores, grouped_values(SCORES.metrics(self.metrics), scores))
        return counted_by_weight(scores, found) if reader.are_copies else found

    def _of_numbers(self, reader: ColumnReader) -> GroupValues | None:
        parts = [arrays for _, arrays in reader.batches(*reader.files.pieces)]
        if not parts:
            return None
        arguments = self.columns.arguments.items()  # type: ignore[union-attr]
        arrays = {argument: joined_columns([part[name] for part in parts]) for argument, name in arguments}
        groups = [array for argument, array in arrays.items() if argument.startswith("groups")]
        y_true, y_pred, weights = map(arrays.get, ("y_true", "y_pred", "sample_weight"))
        return errors_of_groups(TARGETS.metrics(self.metrics), y_true, y_pred, groups, weights)

    def merge(self, answers: Iterable[MeasuredGroups]) -> MeasuredGroups:
        """Return the metrics of all groups."""
        parts, labels = [], (None, None)
        for found, its in answers:
            labels = joint_labels(labels, its)
            parts += found
        return MeasuredGroups(parts, labels)
