"""What is done with the rows of a partition, on whatever machine it is, and how the answers become one.

A task is sent to the workers, its answers come back: summaries, and others that are small where they are pickled. It
says what it counts, not where: engines do.
"""

from __future__ import annotations

import pickle
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._validation.text import unique_inverse
from fastevals.counting.labels import rows_by_code
from fastevals.counting.ordering import FLOATS
from fastevals.counts import check_total
from fastevals.many.groups import GroupedMetric, grouped_auc, grouped_metrics
from fastevals.scale.exact import FULL, AtomCounts, ExactCurve, WaitingKeys, ends, exact_units
from fastevals.scale.files import Piece, RowFiles
from fastevals.scale.payload import pack, unpack
from fastevals.scale.rows import Batch, ColumnReader, RowReader, Rows, joined_columns
from fastevals.scale.scores import MOST_VALUES, Counting, ScoresSummary
from fastevals.scale.summary import joint_labels

Keys = NDArray[np.uint64]
S = TypeVar("S", ScoresSummary, "SummariesByValue")

AT_ONCE = 32  # summaries
MOST_WAITING = 1 << 22  # keys that wait until equal ones are added up


class Task(ABC):
    """What is counted of each partition, of some columns: `rows` says which."""

    rows: Any

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return list(self.rows.all)

    def answer_of(self, batches: Iterator[Any], name: str) -> Any:
        """Return what is counted of a partition, given as record batches."""
        return self.answer(partition(name, self.columns, batches))

    @abstractmethod
    def answer(self, rows: RowFiles) -> Any:
        """Return what is counted of a partition."""

    @abstractmethod
    def merge(self, answers: Iterable[Any]) -> Any:
        """Return the answer of several partitions together, which are read once and stay as they are."""


@lru_cache(maxsize=1)
def task_of(sent: bytes) -> Task:
    """Return the task that was sent: all partitions of a worker have the same."""
    return pickle.loads(sent)  # type: ignore[no-any-return]


def partition(name: str, columns: Sequence[str], batches: Iterator[Any]) -> RowFiles:
    """Return the rows of a partition, which are read once."""
    return RowFiles(name, list(columns), [Piece(name, None, 0, lambda wanted: batches_of(batches, wanted))])


def batches_of(batches: Iterator[Any], columns: Sequence[str]) -> Iterator[Any]:
    """Yield batches with some columns."""
    for batch in batches:
        yield batch if batch.schema.names == columns else batch.select(columns)


def opened(answers: Iterable[Any]) -> Iterator[Any]:
    """Yield answers, unpickled where they are bytes."""
    for answer in answers:
        yield pickle.loads(answer) if isinstance(answer, bytes) else answer


# Columns and who reads them -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RankingColumns:
    """Columns of labels and scores.

    Attributes
    ----------
    label : str
        Of the true class.
    scores : tuple of str
        A model each.
    weight, by : str or None
        Of weights, and of values that part rows.
    pos_label : label or None
        The positive class, where it was said.
    labels : tuple
        The positive and the negative label, as far as they are known.
    on_invalid : {"raise", "drop"}
        What becomes of a row without a label, a weight or a finite score.
    """

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    by: str | None = None
    pos_label: Any = None
    labels: tuple[Any, Any] = (None, None)
    on_invalid: str = "raise"

    @property
    def all(self) -> list[str]:
        """All columns, each once."""
        others = [name for name in (self.weight, self.by) if name is not None]
        return list(dict.fromkeys([self.label, *self.scores, *others]))

    def reader(self, rows: RowFiles) -> RowReader:
        """Return what reads them."""
        return RowReader(
            rows, self.label, self.scores, weight=self.weight, by=self.by, pos_label=self.pos_label,
            on_invalid=self.on_invalid, labels=self.labels,
        )  # fmt: skip


@dataclass(frozen=True)
class ArgumentColumns:
    """Columns that a summary's `update` takes.

    Attributes
    ----------
    arguments : dict of str to str
        The column that each argument is.
    numbers : tuple of str
        The arguments that are finite numbers; others may be text.
    by : str or None
        Of values that part rows.
    on_invalid : {"raise", "drop"}
        What becomes of a row without a value in one of them.
    """

    arguments: dict[str, str]
    numbers: tuple[str, ...]
    by: str | None = None
    on_invalid: str = "raise"

    @property
    def all(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([*self.arguments.values(), *([] if self.by is None else [self.by])]))

    def reader(self, rows: RowFiles) -> ColumnReader:
        """Return what reads them."""
        numbers = [self.arguments[argument] for argument in self.numbers if argument in self.arguments]
        keys = [name for name in self.all if name not in numbers]
        return ColumnReader(rows, keys, numbers, on_invalid=self.on_invalid)

    @contextmanager
    def named(self, place: Batch) -> Iterator[None]:
        """Make errors name columns, not arguments, and where the rows are."""
        try:
            yield
        except ValueError as error:
            message = str(error)
            for argument, name in self.arguments.items():
                message = re.sub(rf"\b{argument}\b", f"column {name!r}".replace("\\", r"\\"), message)
            raise ValueError(f"{message} (of rows from {place.row(0)} on)") from None


# Summaries ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountScores(Task):
    """Counts scores in ranges, by value."""

    rows: RankingColumns
    counting: Counting

    def answer(self, rows: RowFiles) -> ScoresSummary:
        """Return the summary of a partition's rows."""
        summary = self.counting.count(self.rows.reader(rows), rows.pieces)
        summary.pieces = {}
        return summary

    def merge(self, answers: Iterable[ScoresSummary]) -> ScoresSummary:
        """Return that of all rows."""
        return merge_all(answers)


@dataclass(frozen=True)
class SummariesByValue:
    """Summaries of one kind by value of a column, of None where rows are not parted; and the rows left out."""

    summaries: dict[Any, Any]
    n_dropped: int = 0

    def merge(self, *others: SummariesByValue) -> SummariesByValue:
        """Return those of all rows."""
        parts: dict[Any, list[Any]] = {}
        for each in (self, *others):
            for value, summary in each.summaries.items():
                parts.setdefault(value, []).append(summary)
        whole = {value: first.merge(*more) for value, (first, *more) in parts.items()}
        return SummariesByValue(whole, sum(each.n_dropped for each in (self, *others)))


@dataclass(frozen=True)
class CountValues(Task):
    """Adds true and predicted classes, or numbers, to a summary of a kind."""

    rows: ArgumentColumns
    kind: type[Any]
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self, rows: RowFiles) -> SummariesByValue:
        """Return the summaries of a partition's rows."""
        reader = self.rows.reader(rows)
        found: dict[Any, Any] = {}
        for place, arrays in reader.batches(rows.pieces[0]):
            for value, part in parted(arrays, self.rows.by):
                if value not in found:
                    if len(found) == MOST_VALUES:
                        raise ValueError(f"column {self.rows.by!r} must have at most {MOST_VALUES} values")
                    found[value] = self.kind(**self.options)
                with self.rows.named(place):
                    found[value].update(**{name: part[column] for name, column in self.rows.arguments.items()})
        return SummariesByValue(found, reader.n_dropped)

    def merge(self, answers: Iterable[SummariesByValue]) -> SummariesByValue:
        """Return those of all rows."""
        return merge_all(answers)


def parted(arrays: dict[str, Any], by: str | None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each value of a column, and the rows of it; None and all rows without a column."""
    if by is None:
        yield None, arrays
        return
    values, codes = unique_inverse(arrays[by])
    for value, rows in zip(values.tolist(), rows_by_code(codes, values.size), strict=True):
        yield value, {name: array[rows] for name, array in arrays.items()}


def merge_all(parts: Iterable[S]) -> S:
    """Return the summary of all parts, of which few are held at once."""
    waiting = iter(parts)
    whole = next(waiting)
    while some := list(islice(waiting, AT_ONCE)):
        whole = whole.merge(*some)
    return whole


@dataclass(frozen=True)
class LargestWeight(Task):
    """Finds the largest weight."""

    rows: ArgumentColumns

    def answer(self, rows: RowFiles) -> tuple[float, bool]:
        """Return the largest weight, and whether all are whole numbers."""
        largest, are_whole = 0.0, True
        for _, arrays in self.rows.reader(rows).batches(rows.pieces[0]):
            (weights,) = arrays.values()
            largest = max(largest, float(weights.max()))
            are_whole = are_whole and bool((weights == np.trunc(weights)).all())
        return largest, are_whole

    def merge(self, answers: Iterable[tuple[float, bool]]) -> tuple[float, bool]:
        """Return that of all rows."""
        largest, are_whole = zip(*answers, strict=True)
        return max(largest), all(are_whole)


# Exact counts ---------------------------------------------------------------------------------------------------------


class GatheredScores(NamedTuple):
    """The scores of positives, and what is known of all rows.

    Attributes
    ----------
    keys : ndarray of uint64
        Of the distinct scores of positives, ascending.
    positives : ndarray of int64
        Rows, or units of weight, of each.
    lowest, highest : int
        Keys of the least and the greatest score of all rows.
    totals : tuple of int
        Positives and negatives.
    """

    keys: Keys
    positives: NDArray[np.int64]
    lowest: int
    highest: int
    totals: tuple[int, int]

    @classmethod
    def joined(cls, parts: Sequence[GatheredScores]) -> GatheredScores:
        """Return those of all parts."""
        none = np.empty(0, np.uint64)
        units = [part.positives for part in parts]
        atoms = AtomCounts.of_positives([part.keys for part in parts], units, none, large=True)
        totals = tuple(sum(part.totals[k] for part in parts) for k in (0, 1))
        check_total("sample_weight", *totals)
        lowest, highest = min(part.lowest for part in parts), max(part.highest for part in parts)
        return cls(atoms.keys, atoms.positives.astype(np.int64), lowest, highest, (totals[0], totals[1]))

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {"keys": np.diff(self.keys, prepend=np.uint64(0)), "positives": self.positives}
        return GatheredScores._unpacked, (pack("positives", {}, arrays), *self[2:])

    @classmethod
    def _unpacked(cls, data: bytes, *others: Any) -> GatheredScores:
        _, arrays = unpack(data, "positives")
        return cls(np.cumsum(arrays["keys"], dtype=np.uint64), arrays["positives"].view(np.int64), *others)


class NegativeCounts(NamedTuple):
    """Negatives at each of some scores, and between these."""

    at: NDArray[np.int64]
    between: NDArray[np.int64]

    def __reduce__(self) -> tuple[Any, ...]:
        return NegativeCounts._unpacked, (pack("negatives", {}, self._asdict()),)

    @classmethod
    def _unpacked(cls, data: bytes) -> NegativeCounts:
        _, arrays = unpack(data, "negatives")
        return cls(arrays["at"].view(np.int64), arrays["between"].view(np.int64))


Where = tuple[Any, str]  # a value and a model
Gathered = tuple[dict[Where, GatheredScores], tuple[Any, Any]]  # and the labels


@dataclass(frozen=True)
class GatherPositives(Task):
    """Gathers the distinct scores of the positives."""

    rows: RankingColumns

    def answer(self, rows: RowFiles) -> Gathered:
        """Return gathered scores by value and model, and the labels."""
        reader = self.rows.reader(rows)
        found: dict[Where, list[GatheredScores]] = {}
        for value, part in values_of(reader, rows):
            units = np.ones(part.flags.size, np.int64) if part.weights is None else exact_units(part.weights, reader)
            positive = part.flags.view(np.bool_)
            totals = int(units[positive].sum()), int(units[~positive].sum())
            for name, scores in zip(self.rows.scores, part.scores, strict=True):
                low, high = ends(scores)
                keys = FLOATS.encode(scores[positive] + 0.0)
                parts = found.setdefault((value, name), [])
                parts.append(GatheredScores(keys, units[positive], low, high, totals))
                if sum(each.keys.size for each in parts) > MOST_WAITING:
                    found[value, name] = [GatheredScores.joined(parts)]
        return {where: GatheredScores.joined(parts) for where, parts in found.items()}, reader.labels

    def merge(self, answers: Iterable[Gathered]) -> Gathered:
        """Return that of all rows."""
        parts: dict[Where, list[GatheredScores]] = {}
        labels: tuple[Any, Any] = (None, None)
        for found, its in answers:
            labels = joint_labels(labels, its)
            for where, each in found.items():
                parts.setdefault(where, []).append(each)
        return {where: GatheredScores.joined(each) for where, each in parts.items()}, labels


@dataclass(frozen=True)
class CountNegatives(Task):
    """Counts the negatives at and between some scores."""

    rows: RankingColumns
    keys: dict[Where, Keys]

    def answer(self, rows: RowFiles) -> list[NegativeCounts]:
        """Return counts by value and model, in the order of the keys."""
        reader = self.rows.reader(rows)
        none = np.empty(0, np.int64)
        counts = {
            where: AtomCounts(keys, none, np.zeros(keys.size, np.int64), np.zeros(keys.size + 1, np.int64))
            for where, keys in self.keys.items()
        }
        waiting: dict[Where, WaitingKeys] = {where: WaitingKeys() for where in counts}
        for value, part in values_of(reader, rows):
            negative = ~part.flags.view(np.bool_)
            units = None if part.weights is None else exact_units(part.weights, reader)[negative]
            for name, scores in zip(self.rows.scores, part.scores, strict=True):
                if (value, name) not in counts:
                    raise ValueError(f"{rows.title} has changed: it had no rows of {self.rows.by} = {show(value)}")
                waiting[value, name].add(FLOATS.encode(scores[negative] + 0.0), units)
                if waiting[value, name].n >= FULL:
                    counts[value, name].count(*waiting[value, name].empty())
        for where, left in waiting.items():
            if left.n:
                counts[where].count(*left.empty())
        return [NegativeCounts(each.at, each.between) for each in counts.values()]

    def merge(self, answers: Iterable[list[NegativeCounts]]) -> list[NegativeCounts]:
        """Return those of all rows."""
        whole = [NegativeCounts(np.zeros(n, np.int64), np.zeros(n + 1, np.int64)) for n in map(len, self.keys.values())]
        for answer in answers:
            for mine, its in zip(whole, answer, strict=True):
                for total, more in zip(mine, its, strict=True):
                    total += more
        return whole


def values_of(reader: RowReader, rows: RowFiles) -> Iterator[tuple[Any, Rows]]:
    """Yield the rows of a partition by value, batch by batch."""
    for batch in reader.rows(rows.pieces[0]):
        yield from batch.by_value()


# Ranges of scores -----------------------------------------------------------------------------------------------------


def atoms_of_partition(reader: RowReader, rows: RowFiles) -> tuple[AtomCounts, int, int] | None:
    """Return the exact counts of a partition's rows, with the keys of its least and greatest score; None of no rows."""
    parts = [part for _, part in values_of(reader, rows)]
    if not parts:
        return None
    whole = Rows.joined(parts)
    keys, positive = FLOATS.encode(whole.scores[0] + 0.0), whole.flags.view(np.bool_)
    units = np.ones(keys.size, np.int64) if whole.weights is None else exact_units(whole.weights, reader)
    low, high = ends(whole.scores[0])
    atoms = AtomCounts.of_positives([keys[positive]], [units[positive]], np.empty(0, np.uint64), large=True)
    atoms.count(keys[~positive], None if whole.weights is None else units[~positive])
    return atoms, low, high


ScoreRange = tuple[int, int, int, int]  # keys of the least and the greatest score, positives and negatives


@dataclass(frozen=True)
class CountRanges(Task):
    """Counts the rows of partitions, each of which has a range of the scores of one model by itself."""

    rows: RankingColumns

    def answer(self, rows: RowFiles) -> list[ScoreRange]:
        """Return what the partition has, if it has rows."""
        reader = self.rows.reader(rows)
        found: list[ScoreRange] = []
        for _, part in values_of(reader, rows):
            units = np.ones(part.flags.size, np.int64) if part.weights is None else exact_units(part.weights, reader)
            n_pos = int(units[part.flags.view(np.bool_)].sum())
            found.append((*ends(part.scores[0]), n_pos, int(units.sum()) - n_pos))
        if not found:
            return []
        lows, highs, positives, negatives = zip(*found, strict=True)
        return [(min(lows), max(highs), sum(positives), sum(negatives))]

    def merge(self, answers: Iterable[list[ScoreRange]]) -> list[ScoreRange]:
        """Return those of all partitions."""
        return [each for answer in answers for each in answer]


@dataclass(frozen=True)
class SweepRanges(Task):
    """Adds up what a ranking's metrics need of all points, range by range.

    Attributes
    ----------
    rows : RankingColumns
    above : dict of int to tuple of int
        Positives and negatives above each range, by the key of its least score.
    totals : tuple of int
        Positives and negatives of all rows.
    lowest : int
        Key of the least score of all rows.
    """

    rows: RankingColumns
    above: dict[int, tuple[int, int]]
    totals: tuple[int, int]
    lowest: int

    def answer(self, rows: RowFiles) -> list[tuple[int, ExactCurve]]:
        """Return the key of the partition's least score, and its curve, if it has rows."""
        found = atoms_of_partition(self.rows.reader(rows), rows)
        if found is None:
            return []
        atoms, low, _ = found
        if low not in self.above:
            raise ValueError(f"{rows.title} has other rows than before: persist the frame, or store it")
        curve = ExactCurve(*self.totals, low, above=self.above[low])
        curve.add(atoms)
        return [(low, curve)]

    def merge(self, answers: Iterable[list[tuple[int, ExactCurve]]]) -> list[tuple[int, ExactCurve]]:
        """Return those of all partitions."""
        return [each for answer in answers for each in answer]

    def whole(self, answer: list[tuple[int, ExactCurve]]) -> ExactCurve:
        """Return the curve of all rows."""
        whole = ExactCurve(*self.totals, self.lowest)
        for _, curve in sorted(answer, key=lambda each: -each[0]):
            whole.append(curve)
        return whole


# Groups ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureGroups(Task):
    """Measures groups, all rows of each of which are in one partition.

    Attributes
    ----------
    rows : RankingColumns or ArgumentColumns
        The groups are those of the column `by`.
    metrics : dict of str to MetricSpec or function
        By what they are called.
    interval : bool
        Whether standard errors are asked for, of AUC alone.
    """

    rows: RankingColumns | ArgumentColumns
    metrics: Mapping[str, Any]
    interval: bool = False

    def answer(self, rows: RowFiles) -> Any:
        """Return a table of the groups; None where there are none."""
        import pyarrow as pa

        arguments = self._arguments(rows)
        if arguments is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of groups here: it is said of all together
            if self.interval:
                found: Mapping[str, GroupedMetric] = {"roc_auc": grouped_auc(**arguments, interval="delong")}
            else:
                found = grouped_metrics(**arguments, metrics=self.metrics)
        any_one = next(iter(found.values()))
        columns: dict[str, Any] = {"group": any_one.groups, "n_samples": any_one.n_samples, "weight": any_one.weights}
        if any_one.n_positives is not None:
            columns |= {"n_positives": any_one.n_positives, "n_negatives": any_one.n_negatives}
        for k, each in enumerate(found.values()):
            columns[f"value {k}"] = each.values
            if each.standard_errors is not None:
                columns["error"] = each.standard_errors
        return pa.table({name: pa.array(values) for name, values in columns.items()})

    def _arguments(self, rows: RowFiles) -> dict[str, Any] | None:
        """Return all rows as arguments of a call; None where there are none."""
        if isinstance(self.rows, RankingColumns):
            reader = self.rows.reader(rows)
            parts = list(reader.rows(rows.pieces[0]))
            if not parts:
                return None
            whole = Rows.joined(parts)
            values = (whole.flags, whole.scores[0], whole.values)
            return dict(zip(("y_true", "y_score", "groups"), values, strict=True)) | {"sample_weight": whole.weights}
        arrays = [part for _, part in self.rows.reader(rows).batches(rows.pieces[0])]
        if not arrays:
            return None
        return {
            argument: joined_columns([part[name] for part in arrays]) for argument, name in self.rows.arguments.items()
        }

    def merge(self, answers: Iterable[Any]) -> Any:
        """Return the table of all groups."""
        import pyarrow as pa

        tables = [table for table in answers if table is not None]
        return pa.concat_tables(tables) if tables else None
