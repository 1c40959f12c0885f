"""The counts that a report needs from files' rows, by range of scores; they can be stored, merged and read again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import get_num_threads, run
from fastevals._options import check_integer, did_you_mean, listed, show
from fastevals._validation.keys import is_key
from fastevals.counting.ordering import FLOATS
from fastevals.measure.ranking.ranking import as_ranking
from fastevals.reading.rows import LeftOut, RowReader, Rows
from fastevals.reading.segments import RowSegments
from fastevals.reading.sources import ROWS_PER_BATCH, Piece
from fastevals.results import as_json as as_plain
from fastevals.scale.cells import ScoreCells
from fastevals.scale.fields import Fields, is_count, is_label
from fastevals.scale.grid import ScoreGrid, atoms_of_rows, even_cuts, fit_grid
from fastevals.scale.payload import Summary, as_json, from_json, stored_kind
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.summary import MOST_CELLS, SAMPLED_ROWS, RankingSummary, joint_labels, read_units, whole_units

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    S = TypeVarWithDefault("S", covariant=True, default=RankingSummary)
else:
    S = TypeVar("S")  # a model's summary or, if a column divides the rows, the summaries for one of its values

SAMPLED_PIECES = 16  # pieces that a grid is fitted to
FEW_PIECES = 4  # sampled pieces that are enough to represent the scores of another piece
BEYOND = 64  # one cell in 64 is reserved for scores below the whole sample, and one for scores above it
MOST_VALUES = 1000  # most values of a column, each with its own summaries
ROWS_PER_SCORE = 4  # fewer sampled rows per distinct score mean many distinct scores, and so a grid
ROUND = 8  # pieces per thread, after which counts may be stored


@dataclass
class CountedBlock:
    """Rows that share a value, counted in ranges of scores.

    Attributes
    ----------
    n_samples, n_positives : int
        Numbers of all rows and of positive rows; of several classes none is positive.
    summaries : dict of str to RankingSummary, or to ClassScoresSummary
        Summaries of the models' scores, or of their probabilities of several classes.
    probabilities : dict of str to ProbabilitySummary
        Summaries of probabilities by model; empty if weights are not integers.
    """

    n_samples: int
    n_positives: int
    summaries: dict[str, Any]
    probabilities: dict[str, ProbabilitySummary]

    @property
    def n_negatives(self) -> int:
        """Number of negative rows."""
        return self.n_samples - self.n_positives

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return any(summary.is_weighted for summary in self.summaries.values())

    @property
    def has_squares(self) -> bool:
        """Whether rows have no weights, or the sums of squared weights are known."""
        rankings = (as_ranking(name, summary) for name, summary in self.summaries.items())
        return not self.is_weighted or all(ranking._squares is not None for ranking in rankings)

    def all_summaries(self) -> list[Any]:
        """Return the summaries of all models."""
        return [*self.summaries.values(), *self.probabilities.values()]

    def add(self, rows: Rows, *, are_copies: bool = False) -> None:
        """Count rows: each once, by its weight, or by its number of copies."""
        n_samples, n_positives = rows.counted(are_copies)
        self.n_samples += n_samples
        self.n_positives += n_positives
        for (name, summary), scores in zip(self.summaries.items(), rows.scores, strict=True):
            units = None
            if rows.weights is not None and are_copies:
                units = read_units(None, rows.weights, scores.size, None)
            elif rows.weights is not None:
                units = whole_units(rows.weights, scores.size, summary._unit)
            summary._count_rows(rows.flags, scores, units)
            if name in self.probabilities:
                self.probabilities[name]._count_rows(rows.flags, scores, units)

    def merge(self, *others: CountedBlock) -> CountedBlock:
        """Return a block with the rows of this block and of others."""
        summaries = {
            name: summary.merge(*(other.summaries[name] for other in others))
            for name, summary in self.summaries.items()
        }
        probabilities = {
            name: summary.merge(*(other.probabilities[name] for other in others))
            for name, summary in self.probabilities.items()
            if all(name in other.probabilities for other in others)
        }
        n_samples = self.n_samples + sum(other.n_samples for other in others)
        n_positives = self.n_positives + sum(other.n_positives for other in others)
        return type(self)(n_samples, n_positives, summaries, probabilities)


@dataclass
class ScoresSummary(Summary, Mapping[Any, S]):
    """Scores of several models, counted by range and by value of a column: the output of `fastevals summarize`.

    A mapping from model names to `RankingSummary` (to `ClassScoresSummary` after ``--probabilities``); if a column
    divides the rows, from its values to such mappings. Models are counted separately, so it is unknown which rows one
    model ranks better than another.

    Attributes
    ----------
    label : str
        Column of the true class.
    models : tuple of str
        Columns of scores.
    weight : str or None
        Column of weights.
    by : str, tuple of str, or None
        Column of values that divide the rows, or several columns.
    are_copies : bool
        Whether weights are numbers of copies.
    labels : tuple
        The positive and the negative label; None if unknown.
    blocks : dict of label to CountedBlock
        Counts by value, in ascending order of values; if rows are not divided, the only key is None. With
        several columns, keys are tuples: one value per column if columns are crossed, otherwise a column and its value.
    cross : bool
        Whether blocks are combinations of the values of several columns.
    left_out : LeftOut
        Numbers of rows left out because they can't be counted.
    n_weightless : int
        Number of rows left out because their weight is zero.
    pieces : dict of str to int
        If counting is unfinished, the pieces that are counted, with their numbers of rows.
    title : str
        The name in texts of a table that the counts were read from.
    """

    KIND = "scores"
    PARTS: ClassVar[tuple[type[Any], ...]] = (RankingSummary, ProbabilitySummary)  # of a block, by model
    OPTION: ClassVar[str] = "score"  # the option that names the models
    STORED: ClassVar[dict[str, type[ScoresSummary[Any]]]] = {}  # what files may hold, by kind

    label: str
    models: tuple[str, ...]
    weight: str | None = None
    by: str | tuple[str, ...] | None = None
    labels: tuple[Any, Any] = (None, None)
    blocks: dict[Any, CountedBlock] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)
    n_weightless: int = 0
    pieces: dict[str, int] = field(default_factory=dict)
    settings: list[Any] = field(default_factory=list)  # settings of a run that was stopped
    are_copies: bool = False
    cross: bool = False
    title: str = ""

    def __init_subclass__(cls) -> None:
        ScoresSummary.STORED[cls.KIND] = cls

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the summary from the bytes that `to_bytes` returned, or from a file of `fastevals summarize`.

        Raises
        ------
        ValueError
            If the bytes are damaged, are not such a summary, or have a newer version.
        """
        return cls.STORED.get(stored_kind(data), cls)._unpack(data)  # type: ignore[return-value]

    @property
    def segments(self) -> RowSegments:
        """How columns divide the rows."""
        return RowSegments.of(self.by, cross=self.cross)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self._of_all_rows(lambda block: block.n_samples)

    @property
    def n_positives(self) -> int:
        """Number of positive rows."""
        return self._of_all_rows(lambda block: block.n_positives)

    def _of_all_rows(self, count: Callable[[CountedBlock], int]) -> int:
        """Add up a number over all blocks, divided by the number of groupings, as each grouping has all rows."""
        total = sum(count(block) for block in self.blocks.values())
        return total // max(len(self.segments.groupings), 1)

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because they can't be counted."""
        return self.left_out.n_rows

    def __getitem__(self, key: Any) -> S:
        found = self.blocks[None].summaries[key] if self.by is None else dict(self.blocks[key].summaries)
        return cast(S, found)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models if self.by is None else self.blocks)

    def __len__(self) -> int:
        return len(self.models if self.by is None else self.blocks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_samples} rows, {', '.join(self.models)})"

    def _merged(self, others: Sequence[Self]) -> Self:
        labels = self.labels
        for other in others:
            if other.KIND != self.KIND:
                raise ValueError(f"summaries must be of one kind, got {self.KIND} and {other.KIND}")
            for name in ("label", "models", "weight", "by", "cross"):
                mine, its = getattr(self, name), getattr(other, name)
                if mine != its:
                    raise ValueError(f"summaries must have the same {name}, got {show(mine)} and {show(its)}")
            if self.are_copies != other.are_copies:
                raise ValueError("summaries must all have weights of rows, or all numbers of copies, got both")
            labels = joint_labels(labels, other.labels)
        everything = (self, *others)
        keys = {key: None for each in everything for key in each.blocks}
        for name, values in self.segments.values_of(keys).items():
            if has_both_types(values):
                raise ValueError(f"summaries must have values of {name!r} of one type, got text and numbers")
        blocks = {}
        for value in self.segments.ascending(keys, {}):
            first, *more = (each.blocks[value] for each in everything if value in each.blocks)
            blocks[value] = first.merge(*more)
        return type(self)(
            self.label, self.models, self.weight, self.by, labels, blocks,
            LeftOut.total(each.left_out for each in everything), sum(each.n_weightless for each in everything),
            {name: rows for each in everything for name, rows in each.pieces.items()},
            are_copies=self.are_copies, cross=self.cross,
        )  # fmt: skip

    def has_types_of(self, column: str) -> set[bool]:
        """Return whether a column has text, other values, or both."""
        values = self.segments.values_of(self.blocks)[column]
        return {isinstance(value, str) for value in values if value is not None}

    def with_text_values(self, columns: Collection[str]) -> Self:
        """Return a summary with numeric values of columns converted to text, as they are displayed."""

        def rename(name: str, value: Any) -> Any:
            return _as_text(value) if name in columns else value

        return replace(self, blocks={self.segments.renamed(key, rename): each for key, each in self.blocks.items()})

    def _with_json_values(self) -> Self:
        """Return a summary with values that JSON has no type for as text (decimals as numbers), in the same order."""
        segments, keys = self.segments, (*self.blocks, *self.left_out.by_value)
        names = {key: segments.renamed(key, lambda _, value: as_plain(value)) for key in keys}
        blocks = {names[key]: block for key, block in self.blocks.items()}
        ordered = {key: blocks[key] for key in segments.ascending(blocks, {})}
        return replace(self, blocks=ordered, left_out=self.left_out.named(names))

    def share_labels(self) -> None:
        """Copy `labels` to all models' summaries, because some may have counted rows of only one class."""
        for block in self.blocks.values():
            for summary in block.all_summaries():
                summary._labels = self.labels

    def of_models(self, label: str, models: Sequence[str]) -> Self:
        """Return the summary of some of the models; raise if there are no such columns."""
        if label != self.label:
            raise ValueError(f"label must be {self.label!r}, which was counted, got {label!r}")
        for name in models:
            if name not in self.models:
                near = did_you_mean(name, self.models)
                raise ValueError(f"{self.OPTION} {name!r} is not among what was counted{near}: {listed(self.models)}")
        blocks = {
            value: type(block)(
                block.n_samples,
                block.n_positives,
                {name: block.summaries[name] for name in models},
                {name: block.probabilities[name] for name in models if name in block.probabilities},
            )
            for value, block in self.blocks.items()
        }
        return replace(self, models=tuple(models), blocks=blocks)

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if any(is_key(value) for values in self.segments.values_of(self.blocks).values() for value in values):
            return self._with_json_values()._payload()
        stored = [summary.to_bytes() for block in self.blocks.values() for summary in block.all_summaries()]
        head = {
            "label": self.label,
            "models": list(self.models),
            "weight": self.weight,
            "by": self.by if self.by is None or isinstance(self.by, str) else list(self.by),
            "labels": list(self.labels),
            "values": [*map(self._stored_key, self.blocks)],
            "has_probabilities": all(block.probabilities for block in self.blocks.values()),
            "rows": [[block.n_samples, block.n_positives] for block in self.blocks.values()],
            "left_out": [self.left_out.n_rows, self.n_weightless],
            "lacking": [dict(self.left_out.by_column), dict(self.left_out.alone)],
            "lacking_by_value": [
                [self._stored_key(value), its.n_rows, dict(its.by_column), dict(its.alone)]
                for value, its in self.left_out.by_value.items()
            ],
            "pieces": self.pieces,
            "settings": self.settings,
            "sizes": [len(data) for data in stored],
        }
        if self.are_copies:
            head["copies"] = True
        if self.cross:
            head["cross"] = True
        content = b"".join(stored)
        whole = np.frombuffer(content + bytes(-len(content) % 8), np.uint64)
        return head, {"summaries": whole}

    def _stored_key(self, key: Any) -> Any:
        """Return a key as it is stored: a value, the values of crossed columns, or a column's number and its value."""
        grouping, value = self.segments.of_key(key)
        if self.segments.are_crossed:
            return as_json(list(value))
        (stored,) = as_json([value])
        return stored if len(self.segments.groupings) < 2 else [self.segments.groupings.index(grouping), stored]

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        given = fields.item("by", "a column, columns or none", _are_columns)
        by = tuple(given) if isinstance(given, list) else given
        segments = RowSegments.of(by, cross="cross" in fields and fields.flag("cross"))
        values = [_read_key(segments, key) for key in fields.many("values", "labels", partial(_is_key_of, segments))]
        models = fields.many("models", "names", lambda name: isinstance(name, str))
        if not models or len(set(models)) < len(models):
            raise ValueError(f"models must have different names, got {listed(models)}")
        if by is None and values not in ([], [None]):
            raise ValueError(f"values must be none if no column divides the rows, got {listed(values)}")
        if any(has_both_types(each) for each in segments.values_of(values).values()):
            raise ValueError("values must be of one type")
        if len(set(values)) < len(values) or segments.ascending(values, {}) != values:
            raise ValueError("values must be in order")
        n_dropped, n_weightless = fields.many("left_out", "numbers of rows", is_count, 2)
        lacking = fields.many("lacking", "numbers of rows by name", _are_named, 2) if "lacking" in fields else [{}, {}]
        parts: dict[Any, LeftOut] = {}
        if "lacking_by_value" in fields:
            are_left_out = partial(_are_left_out, segments)
            for key, *its in fields.many("lacking_by_value", "numbers of rows by value", are_left_out):
                parts[_read_key(segments, key)] = LeftOut(*its)
        summary = cls(
            fields.text("label"), tuple(models), fields.text_or_none("weight"), by, fields.labels(), {},
            LeftOut(n_dropped, lacking[0], lacking[1], parts), n_weightless,
            fields.item("pieces", "numbers of rows by name", _are_named),
            fields.many("settings", "any values", lambda value: True),
            are_copies="copies" in fields and fields.flag("copies"), cross=segments.cross,
        )  # fmt: skip
        summary._read_blocks(values, fields)
        return summary

    def _read_blocks(self, values: list[Any], fields: Fields) -> None:
        """Read the blocks of values."""
        kinds = self.PARTS[: 1 + fields.flag("has_probabilities")]
        rows = fields.many("rows", "pairs of numbers of rows", _are_rows, len(values))
        sizes = fields.many("sizes", "numbers of bytes", is_count, len(kinds) * len(self.models) * len(values))
        content = fields.content("summaries", sum(sizes))
        ends = np.cumsum([0, *sizes]).tolist()
        parts = iter(content[start:end] for start, end in pairwise(ends))
        for value, counted in zip(values, rows, strict=True):
            found: list[dict[str, Any]] = [{}, {}]
            for by_model, kind in zip(found, kinds, strict=False):
                by_model.update((name, kind._unpack(next(parts), fields.room)) for name in self.models)
            self.blocks[value] = CountedBlock(*counted, *found)
            self._check_block(self.blocks[value])

    def _check_block(self, block: CountedBlock) -> None:
        """Raise unless a block's summaries have the same rows as the block."""
        units = {summary._unit for summary in block.summaries.values()}
        weights = {tuple(summary.cells.totals.tolist()) for summary in block.summaries.values()}
        (totals,) = weights if len(weights) == 1 else [(-1, -1)]
        for total, n in zip(totals, (block.n_negatives, block.n_positives), strict=True):
            if total < n or bool(total) != bool(n) or ((self.weight is None or self.are_copies) and total != n):
                raise ValueError("its summaries must have the rows of their blocks")
        if len(units) > 1 or (units != {None} and (self.weight is None or block.probabilities)):
            raise ValueError("its summaries must have the same largest_weight")
        for summary in block.all_summaries():
            if joint_labels(self.labels, summary._labels) != self.labels:
                raise ValueError("the labels of its summaries must agree with the labels in its head")
        for probabilities in block.probabilities.values():
            counted = (probabilities.n_negatives, probabilities.n_positives)
            if probabilities.are_probabilities and counted != totals:
                raise ValueError("its summaries must have the rows of their blocks")


def has_both_types(values: Iterable[Any]) -> bool:
    """Return whether values hold both text and other types."""
    return len({isinstance(value, str) for value in values if value is not None}) > 1


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else repr(value).lower()


ENDLESS = (["inf"], ["-inf"])  # infinite labels, as stored in JSON


def _are_rows(value: Any) -> bool:
    """Return whether a value is a pair: a number of rows, and the number of positives among them."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_count, value)) and value[1] <= value[0]


def _are_named(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_count, value.values()))


def _are_left_out(segments: RowSegments, found: Any) -> bool:
    """Return whether `found` is a list of a key, its number of rows left out, and two dicts of counts by column."""
    if not isinstance(found, list) or len(found) != 4:
        return False
    key, n_rows, *lacking = found
    return _is_key_of(segments, key) and is_count(n_rows) and all(map(_are_named, lacking))


def _are_columns(by: Any) -> bool:
    """Return whether a value is a column's name, a list of different names, or None."""
    if not isinstance(by, list):
        return by is None or isinstance(by, str)
    return len(by) > 1 and all(isinstance(name, str) for name in by) and len(set(by)) == len(by)


def _is_key_of(segments: RowSegments, key: Any) -> bool:
    """Return whether a stored key may be one of `segments`."""
    if segments.are_crossed:
        return isinstance(key, list) and len(key) == len(segments.columns) and all(map(_is_value, key))
    if len(segments.groupings) < 2:
        return _is_value(key)
    is_pair = isinstance(key, list) and len(key) == 2
    return is_pair and type(key[0]) is int and 0 <= key[0] < len(segments.groupings) and _is_value(key[1])


def _is_value(value: Any) -> bool:
    return is_label(value) or value in ENDLESS


def _read_key(segments: RowSegments, key: Any) -> Any:
    """Return the key that a stored key means."""
    if segments.are_crossed:
        return tuple(from_json(key))
    if len(segments.groupings) < 2:
        return from_json([key])[0]
    return segments.key(segments.groupings[key[0]], from_json([key[1]])[0])


# Counting -------------------------------------------------------------------------------------------------------------

W = TypeVar("W", bound=ScoresSummary[Any])


@dataclass(frozen=True)
class Counting:
    """Settings for counting rows.

    Attributes
    ----------
    cells : int
        Approximate number of ranges of each model's scores.
    thresholds : ndarray of uint64
        Keys of thresholds at which counts stay exact.
    grids : dict of str to ScoreGrid
        Ranges of scores for some models.
    largest_weight : float or None
        The largest weight, if weights are not integers.
    with_probabilities : bool
        Whether to also keep the counts that metrics of probabilities need.
    may_move : bool
        Whether new ranges may be fitted to rows that `grids` don't fit.
    """

    cells: int
    thresholds: NDArray[np.uint64]
    grids: dict[str, ScoreGrid]
    largest_weight: float | None = None
    with_probabilities: bool = True
    may_move: bool = False

    def new_block(self, models: Sequence[str]) -> CountedBlock:
        """Return a block without rows."""
        options: dict[str, Any] = {"cells": self.cells, "largest_weight": self.largest_weight}
        options["at"] = FLOATS.decode(self.thresholds)
        summaries = {}
        for name in models:
            grid = self.grids.get(name)
            summaries[name] = RankingSummary(grid=None if self.may_move else grid, **options)
            if self.may_move:
                summaries[name]._use(grid)
        have_probabilities = self.with_probabilities and self.largest_weight is None
        return CountedBlock(0, 0, summaries, {name: ProbabilitySummary() for name in models if have_probabilities})

    def count(self, reader: RowReader, pieces: Sequence[Piece], *, progress: bool = False) -> ScoresSummary:
        """Count the rows of pieces."""
        made: list[dict[Any, CountedBlock]] = []

        def blocks() -> dict[Any, CountedBlock]:
            made.append({})
            return made[-1]

        def read(piece: Piece, space: dict[Any, CountedBlock]) -> None:
            add_rows(reader, piece, space, lambda: self.new_block(reader.scores))

        run(read, pieces, workspace=blocks, progress=progress)
        parts = [ScoresSummary(**columns_of(reader), blocks=each) for each in made or [{}]]
        whole = parts[0].merge(*parts[1:])
        whole.labels = reader.labels
        return told(whole, reader, pieces)


def add_rows(
    reader: RowReader, piece: Piece, blocks: dict[Any, CountedBlock], new_block: Callable[[], CountedBlock]
) -> None:
    """Add the rows of a piece to the block of their value, which is made if there is none."""
    for rows in reader.rows(piece):
        for value, part in rows.by_segment(reader.segments):
            if value not in blocks:
                if len(blocks) == MOST_VALUES:
                    by = listed([reader.names[name] for name in reader.segments.columns])
                    raise ValueError(f"{by} must have at most {MOST_VALUES} values")
                with naming_weights(reader, piece):
                    blocks[value] = new_block()
            with naming_weights(reader, piece):
                blocks[value].add(part, are_copies=reader.are_copies)


def columns_of(reader: RowReader) -> dict[str, Any]:
    """Return the fields of a summary that say what a reader reads."""
    names = reader.segments.columns
    by = None if not names else names[0] if len(names) == 1 else names
    return {
        "label": reader.label, "models": reader.models, "weight": reader.weight, "by": by,
        "are_copies": reader.are_copies, "cross": reader.segments.cross,
    }  # fmt: skip


def told(whole: W, reader: RowReader, pieces: Sequence[Piece]) -> W:
    """Add to the counts of pieces what their reader tells: numbers of rows, also of those left out."""
    whole.pieces = {piece.name: reader.n_rows.get(piece.name, 0) for piece in pieces}
    whole.left_out, whole.n_weightless = reader.dropped(pieces), reader.weightless(pieces)
    return whole


@contextmanager
def naming_weights(reader: RowReader, piece: Piece) -> Iterator[None]:
    """Make errors name the weight column and the piece instead of a row within a part."""
    try:
        yield
    except ValueError as error:
        message = str(error).partition(" at row ")[0]
        shown = {"sample_weight": reader.names.get(str(reader.weight), ""), "largest_weight": "the largest weight"}
        for name in shown:
            message = message.replace(name, shown[name])
        raise ValueError(f"{message} (in {piece.name})") from None


def count_scores(
    reader: RowReader,
    thresholds: NDArray[np.uint64],
    *,
    cells: int,
    progress: bool,
    with_probabilities: bool = True,
    largest_weight: float | None = None,
    before: ScoresSummary | None = None,
    store: Callable[[ScoresSummary], None] | None = None,
) -> ScoresSummary:
    """Count all rows of a reader, with one sample and one scan.

    Parameters
    ----------
    reader : RowReader
    thresholds : ndarray of uint64
        Keys of thresholds at which counts stay exact.
    cells : int
        Approximate number of ranges of each model's scores.
    progress : bool
    with_probabilities : bool
        Whether to also keep the counts that metrics of probabilities need.
    largest_weight : float, optional
        The largest possible row weight; by default the largest weight among these rows.
    before : ScoresSummary, optional
        Counts from an earlier run.
    store : callable, optional
        Called now and then with the counts so far.

    Returns
    -------
    ScoresSummary
    """
    cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
    reader.learn()
    if reader.weighs_rows and largest_weight is None:
        largest_weight = _largest_weight(reader)
    fitted = reader.files.can_repeat and (reader.files.n_rows is None or reader.files.n_rows > cells)
    grids = _fit_to_files(reader, cells, thresholds) if fitted else {}
    counting = Counting(cells, thresholds, grids, largest_weight, with_probabilities)
    whole = count_in_rounds(reader, partial(counting.count, reader, progress=progress), before, store)
    whole.share_labels()
    return whole


def count_in_rounds(
    reader: RowReader,
    count: Callable[[Sequence[Piece]], W],
    before: W | None = None,
    store: Callable[[W], None] | None = None,
) -> W:
    """Count the pieces that `before` lacks, some at a time if the counts so far are to be stored; name the values."""
    done = {} if before is None else before.pieces
    left = [piece for piece in reader.files.pieces if piece.name not in done]
    reader.files.check_unchanged()
    size = len(left) if store is None else ROUND * get_num_threads()
    rounds = [left[start : start + size] for start in range(0, len(left), max(size, 1))]
    whole = before
    for number, pieces in enumerate(rounds):
        counted = count(pieces)
        whole = counted if whole is None else whole.merge(counted)
        reader.files.check_unchanged()
        if store is not None and number + 1 < len(rounds):
            store(whole)
    if whole is None or not whole.n_samples:
        raise reader.no_rows()
    names = reader.value_names(whole.blocks)
    whole.blocks = {value: whole.blocks[read] for read, value in names.items() if read in whole.blocks}
    whole.left_out = whole.left_out.named(names)
    return whole


def _fit_to_files(reader: RowReader, cells: int, thresholds: NDArray[np.uint64]) -> dict[str, ScoreGrid]:
    """Return grids fitted to some rows of evenly spaced pieces, and to the known score ranges of other pieces.

    If rows are sorted by score, the other pieces have scores that the sample does not show.
    """
    pieces = reader.files.pieces
    chosen = sorted({i * len(pieces) // SAMPLED_PIECES for i in range(SAMPLED_PIECES)})
    samples = _samples(reader, [pieces[k] for k in chosen])
    others = [piece for k, piece in enumerate(pieces) if k not in chosen]
    n_rows = reader.files.n_rows
    if not others or n_rows is None:
        return fitted_grids(samples, cells, thresholds)
    cuts = {
        name: _cuts_of_unseen(name, sample, others, n_rows, cells)
        for name, sample in samples.items()
        if sample.low.size
    }
    return fitted_grids(samples, cells, thresholds, cuts)


def _cuts_of_unseen(
    name: str, sample: ScoreCells, others: Sequence[Piece], n_rows: int, cells: int
) -> NDArray[np.uint64]:
    """Return cuts for scores that occur in pieces outside the sample but are rare in the sample.

    A piece is represented if enough of the sample's scores lie between the piece's lowest and highest score: as many as
    `FEW_PIECES` pieces of its size would contribute, or half of the sample. A piece that is not represented gets cells
    between its lowest and highest score, in proportion to its number of rows. Some cells are reserved for scores
    outside the range of the sample.
    """
    spans = [(piece.n_rows or 0, piece.span(name)) for piece in others]
    n_taken = n_rows - sum(size for size, _ in spans)
    rows = np.append(0, np.cumsum(sample.counts.sum(axis=1)))
    first, last = FLOATS.decode(sample.low[[0, -1]]).tolist()
    lowest, highest = first, last
    cuts = [np.empty(0, np.uint64)]
    for size, span in spans:
        if span is None:
            continue
        lowest, highest = min(lowest, span[0]), max(highest, span[1])
        low, high = FLOATS.encode(np.array(span) + 0.0)
        seen = rows[np.searchsorted(sample.low, high, "right")] - rows[np.searchsorted(sample.low, low)]
        if seen < rows[-1] * min(FEW_PIECES * size / n_taken, 0.5):
            cuts.append(even_cuts(*span, round(cells * size / n_rows)))
    cuts += [even_cuts(*ends, cells // BEYOND) for ends in ((lowest, first), (last, highest)) if ends[0] < ends[1]]
    return sorted_unique(np.concatenate(cuts))


def _samples(reader: RowReader, taken: Sequence[Piece]) -> dict[str, ScoreCells]:
    """Return the atoms of some rows of pieces, by model."""

    def read(piece: Piece) -> list[Rows]:
        step = max((piece.n_rows or ROWS_PER_BATCH) * len(taken) // SAMPLED_ROWS, 1)
        found = []
        for rows in reader.rows(piece):
            found.append(rows.take(slice(None, None, step)))
            if piece.n_rows is None and sum(each.flags.size for each in found) >= SAMPLED_ROWS // len(taken):
                break  # if the number of rows is not known beforehand, the first rows are the sample
        return found

    parts = [rows for part in run(read, taken) for rows in part]
    return atoms_by_model(reader, parts) if parts else {}


def atoms_by_model(reader: RowReader, parts: Sequence[Rows]) -> dict[str, ScoreCells]:
    """Return the atoms of each model's scores in some rows."""
    rows = Rows.joined([part._replace(weights=None, values=(), groups=None) for part in parts])
    return {name: atoms_of_rows(scores, rows.flags) for name, scores in zip(reader.scores, rows.scores, strict=True)}


def fitted_grids(
    samples: Mapping[str, ScoreCells],
    cells: int,
    thresholds: NDArray[np.uint64],
    cuts: Mapping[str, NDArray[np.uint64]] = MappingProxyType({}),
) -> dict[str, ScoreGrid]:
    """Return the grids of the models that need one.

    A model has no grid if its sample has at most `cells` distinct scores, and at least `ROWS_PER_SCORE` rows for each
    on average: then each score can have its own cell. `cuts` are cuts that a model's grid must have; they count towards
    the number of cells.
    """
    grids = {}
    for name, sample in samples.items():
        if sample.low.size > min(cells, int(sample.totals.sum()) // ROWS_PER_SCORE):
            given = cuts.get(name, np.empty(0, np.uint64))
            grid = fit_grid(sample, max(cells - given.size, cells // SAMPLED_PIECES, 1))
            more = sorted_union(thresholds, given)
            grids[name] = ScoreGrid.from_keys(sorted_union(grid.cuts, more)) if more.size else grid
    return grids


def _largest_weight(reader: RowReader) -> float | None:
    """Return the largest weight; None if all weights are integers."""
    if not reader.files.can_repeat:
        return None

    def read(piece: Piece) -> tuple[float, bool]:
        found = [
            (float(rows.weights.max()), bool((rows.weights == np.trunc(rows.weights)).all()))
            for rows in reader.rows(piece)
            if rows.weights is not None and rows.weights.size
        ]
        return max((largest for largest, _ in found), default=0.0), all(whole for _, whole in found)

    found = run(read, reader.files.pieces)
    return None if all(whole for _, whole in found) else max(largest for largest, _ in found)
