"""What is done with the rows of a partition, on whatever machine it is, and how the answers become one.

A task is sent to the workers, its answers come back as bytes. It says what it counts, not where: engines do.
"""

from __future__ import annotations

import json
import pickle
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._validation.text import unique_inverse
from fastevals.counting.labels import rows_by_code
from fastevals.counting.ordering import FLOATS
from fastevals.counts import check_total
from fastevals.many.groups import GroupedMetric, grouped_auc, grouped_metrics
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.exact import FULL, AtomCounts, ExactCurve, WaitingKeys, ends, exact_units
from fastevals.scale.files import Piece, RowFiles
from fastevals.scale.grouped import GroupSummary
from fastevals.scale.payload import Summary, as_json, from_json, pack, unpack
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.rows import Batch, ColumnReader, RowReader, Rows, joined_columns
from fastevals.scale.scores import MOST_VALUES, Counting, ScoresSummary
from fastevals.scale.summary import joint_labels
from fastevals.scale.targets import TargetSummary

Keys = NDArray[np.uint64]
S = TypeVar("S", bound=Summary)

MOST_WAITING = 1 << 22  # keys that wait until equal ones are added up


class Task(ABC):
    """What is counted of each partition, of some columns: `rows` says which."""

    rows: Any

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return list(self.rows.all)

    def answer_of(self, batches: Iterator[Any], name: str) -> bytes:
        """Return what is counted of a partition, given as record batches."""
        return self.answer(partition(name, self.columns, batches))

    @abstractmethod
    def answer(self, rows: RowFiles) -> bytes:
        """Return what is counted of a partition."""

    @abstractmethod
    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return the answer of several partitions together."""


def partition(name: str, columns: Sequence[str], batches: Iterator[Any]) -> RowFiles:
    """Return the rows of a partition, which are read once."""
    return RowFiles(name, list(columns), [Piece(name, None, 0, lambda wanted: batches_of(batches, wanted))])


def batches_of(batches: Iterator[Any], columns: Sequence[str]) -> Iterator[Any]:
    """Yield batches with some columns."""
    for batch in batches:
        yield batch if batch.schema.names == columns else batch.select(columns)


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

    def answer(self, rows: RowFiles) -> bytes:
        """Return a `ScoresSummary`."""
        summary = self.counting.count(self.rows.reader(rows), rows.pieces)
        summary.pieces = {}
        return summary.to_bytes()

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return that of all rows."""
        return merge_all(ScoresSummary, answers).to_bytes()


class SummariesByValue(Summary):
    """Summaries of one kind by value of a column; of None where rows are not parted."""

    KIND = "by value"

    __slots__ = ("n_dropped", "summaries")

    def __init__(self, summaries: dict[Any, Summary], n_dropped: int = 0) -> None:
        self.summaries, self.n_dropped = summaries, n_dropped

    def _merged(self, others: Sequence[Self]) -> Self:
        parts: dict[Any, list[Summary]] = {}
        for each in (self, *others):
            for value, summary in each.summaries.items():
                parts.setdefault(value, []).append(summary)
        whole = {value: first.merge(*more) for value, (first, *more) in parts.items()}
        return type(self)(whole, sum(each.n_dropped for each in (self, *others)))

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        stored = [summary.to_bytes() for summary in self.summaries.values()]
        content = b"".join(stored)
        head = {
            "kinds": sorted({summary.KIND for summary in self.summaries.values()}),
            "values": as_json(self.summaries),
            "sizes": list(map(len, stored)),
            "n_dropped": self.n_dropped,
        }
        return head, {"summaries": np.frombuffer(content + bytes(-len(content) % 8), np.uint64)}

    @classmethod
    def _from_payload(cls, head: dict[str, Any], arrays: dict[str, NDArray[np.uint64]]) -> Self:
        content, stop = arrays["summaries"].tobytes(), np.cumsum([0, *head["sizes"]])
        kinds: list[type[Summary]] = [KINDS[name] for name in head["kinds"]] or [Summary]
        return cls(
            {
                value: kinds[0].from_bytes(content[start:end])
                for value, start, end in zip(from_json(head["values"]), stop[:-1], stop[1:], strict=True)
            },
            int(head["n_dropped"]),
        )


KINDS: dict[str, type[Summary]] = {
    kind.KIND: kind for kind in (ConfusionSummary, TargetSummary, ProbabilitySummary, GroupSummary)
}


@dataclass(frozen=True)
class CountValues(Task):
    """Adds true and predicted classes, or numbers, to a summary of a kind."""

    rows: ArgumentColumns
    kind: str
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self, rows: RowFiles) -> bytes:
        """Return `SummariesByValue`."""
        reader = self.rows.reader(rows)
        found: dict[Any, Any] = {}
        for place, arrays in reader.batches(rows.pieces[0]):
            for value, part in parted(arrays, self.rows.by):
                if value not in found:
                    if len(found) == MOST_VALUES:
                        raise ValueError(f"column {self.rows.by!r} must have at most {MOST_VALUES} values")
                    found[value] = KINDS[self.kind](**self.options)
                with self.rows.named(place):
                    found[value].update(**{name: part[column] for name, column in self.rows.arguments.items()})
        return SummariesByValue(found, reader.n_dropped).to_bytes()

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return that of all rows."""
        return merge_all(SummariesByValue, answers).to_bytes()


def parted(arrays: dict[str, Any], by: str | None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each value of a column, and the rows of it; None and all rows without a column."""
    if by is None:
        yield None, arrays
        return
    values, codes = unique_inverse(arrays[by])
    for value, rows in zip(values.tolist(), rows_by_code(codes, values.size), strict=True):
        yield value, {name: array[rows] for name, array in arrays.items()}


def merge_all(kind: type[S], answers: Iterable[bytes]) -> S:
    """Return the summary of all parts, given as bytes; few of them are held at once."""
    merged: list[tuple[int, S]] = []  # with how often each was merged: less often from one to the next
    for data in answers:
        times, summary = 0, kind.from_bytes(data)
        while merged and merged[-1][0] == times:
            summary = merged.pop()[1].merge(summary)
            times += 1
        merged.append((times, summary))
    whole = merged.pop()[1]
    while merged:
        whole = merged.pop()[1].merge(whole)
    return whole


@dataclass(frozen=True)
class LargestWeight(Task):
    """Finds the largest weight."""

    rows: ArgumentColumns

    def answer(self, rows: RowFiles) -> bytes:
        """Return the largest weight, and whether all are whole numbers."""
        largest, are_whole = 0.0, True
        for _, arrays in self.rows.reader(rows).batches(rows.pieces[0]):
            (weights,) = arrays.values()
            largest = max(largest, float(weights.max()))
            are_whole = are_whole and bool((weights == np.trunc(weights)).all())
        return json.dumps([largest, are_whole]).encode()

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return that of all rows."""
        found = [json.loads(data) for data in answers]
        return json.dumps([max(largest for largest, _ in found), all(whole for _, whole in found)]).encode()

    @staticmethod
    def read(data: bytes) -> float | None:
        """Return the largest weight; None where all are whole numbers."""
        largest, are_whole = json.loads(data)
        return None if are_whole else float(largest)


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


Where = tuple[Any, str]  # a value and a model


@dataclass(frozen=True)
class GatherPositives(Task):
    """Gathers the distinct scores of the positives."""

    rows: RankingColumns

    def answer(self, rows: RowFiles) -> bytes:
        """Return gathered scores by value and model."""
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
        return self.stored({where: GatheredScores.joined(parts) for where, parts in found.items()}, reader.labels)

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return that of all rows."""
        parts: dict[Where, list[GatheredScores]] = {}
        labels: tuple[Any, Any] = (None, None)
        for data in answers:
            found, its = self.read(data)
            labels = joint_labels(labels, its)
            for where, each in found.items():
                parts.setdefault(where, []).append(each)
        return self.stored({where: GatheredScores.joined(each) for where, each in parts.items()}, labels)

    def stored(self, found: dict[Where, GatheredScores], labels: tuple[Any, Any]) -> bytes:
        """Return gathered scores as bytes."""
        head = {
            "where": [as_json(where) for where in found],
            "known": [[each.lowest, each.highest, *each.totals] for each in found.values()],
            "labels": list(labels),
        }
        arrays: dict[str, NDArray[Any]] = {}
        for k, each in enumerate(found.values()):
            arrays |= {f"keys {k}": np.diff(each.keys, prepend=np.uint64(0)), f"positives {k}": each.positives}
        return pack("positives", head, arrays)

    def read(self, data: bytes) -> tuple[dict[Where, GatheredScores], tuple[Any, Any]]:
        """Return gathered scores by value and model, and the labels."""
        head, arrays = unpack(data, "positives")
        found = {}
        for k, (where, (low, high, *totals)) in enumerate(zip(head["where"], head["known"], strict=True)):
            value, name = from_json(where)
            keys = np.cumsum(arrays[f"keys {k}"], dtype=np.uint64)
            found[value, name] = GatheredScores(
                keys, arrays[f"positives {k}"].view(np.int64), low, high, (totals[0], totals[1])
            )
        return found, (head["labels"][0], head["labels"][1])


@dataclass(frozen=True)
class CountNegatives(Task):
    """Counts the negatives at and between some scores."""

    rows: RankingColumns
    keys: dict[Where, Keys]

    def answer(self, rows: RowFiles) -> bytes:
        """Return, by value and model in the order of the keys, counts between and at them by turns."""
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
        return self.stored([(each.at, each.between) for each in counts.values()])

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return that of all rows."""
        whole = self.read(answers[0])
        for data in answers[1:]:
            for mine, its in zip(whole, self.read(data), strict=True):
                for total, more in zip(mine, its, strict=True):
                    total += more
        return self.stored(whole)

    def stored(self, counts: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> bytes:
        """Return counts as bytes."""
        arrays: dict[str, NDArray[Any]] = {}
        for k, (at, between) in enumerate(counts):
            arrays |= {f"at {k}": at, f"between {k}": between}
        return pack("negatives", {}, arrays)

    def read(self, data: bytes) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return counts at and between the keys, by value and model in the order of the keys."""
        _, arrays = unpack(data, "negatives")
        return [
            (arrays[f"at {k}"].view(np.int64).copy(), arrays[f"between {k}"].view(np.int64).copy())
            for k in range(len(self.keys))
        ]


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


@dataclass(frozen=True)
class CountRanges(Task):
    """Counts the rows of partitions, each of which has a range of the scores of one model by itself."""

    rows: RankingColumns

    def answer(self, rows: RowFiles) -> bytes:
        """Return the keys of the least and the greatest score, and positives and negatives."""
        reader = self.rows.reader(rows)
        found: list[tuple[int, int, int, int]] = []
        for _, part in values_of(reader, rows):
            units = np.ones(part.flags.size, np.int64) if part.weights is None else exact_units(part.weights, reader)
            n_pos = int(units[part.flags.view(np.bool_)].sum())
            found.append((*ends(part.scores[0]), n_pos, int(units.sum()) - n_pos))
        if not found:
            return b"[]"
        lows, highs, positives, negatives = zip(*found, strict=True)
        return json.dumps([(min(lows), max(highs), sum(positives), sum(negatives))]).encode()

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return those of all ranges."""
        return json.dumps([each for data in answers for each in json.loads(data)]).encode()

    @staticmethod
    def read(data: bytes) -> list[tuple[int, int, int, int]]:
        """Return lowest and highest key, positives and negatives of each range."""
        return [tuple(each) for each in json.loads(data)]


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

    def answer(self, rows: RowFiles) -> bytes:
        """Return the curve of the partition."""
        found = atoms_of_partition(self.rows.reader(rows), rows)
        if found is None:
            return pickle.dumps([])
        atoms, low, _ = found
        if low not in self.above:
            raise ValueError(f"{rows.title} has other rows than before: persist the frame, or store it")
        curve = ExactCurve(*self.totals, low, above=self.above[low])
        curve.add(atoms)
        return pickle.dumps([(low, curve)])

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return those of all ranges."""
        return pickle.dumps([each for data in answers for each in pickle.loads(data)])

    def read(self, data: bytes) -> ExactCurve:
        """Return the curve of all rows."""
        whole = ExactCurve(*self.totals, self.lowest)
        for _, curve in sorted(pickle.loads(data), key=lambda each: -each[0]):
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

    def answer(self, rows: RowFiles) -> bytes:
        """Return a table of the groups as Arrow's bytes."""
        import pyarrow as pa

        arguments = self._arguments(rows)
        if arguments is None:
            return b""
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
        return as_stream(pa.table({name: pa.array(values) for name, values in columns.items()}))

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

    def merge(self, answers: Sequence[bytes]) -> bytes:
        """Return the table of all groups."""
        import pyarrow as pa

        tables = [table for data in answers if (table := self.read(data)) is not None]
        return as_stream(pa.concat_tables(tables)) if tables else b""

    def read(self, data: bytes) -> Any:
        """Return the table of groups; None where there are none."""
        import pyarrow as pa

        return pa.ipc.open_stream(data).read_all() if data else None


def as_stream(table: Any) -> bytes:
    """Return a table as the bytes of a stream of Arrow's."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
