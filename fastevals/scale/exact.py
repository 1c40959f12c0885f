"""Exact counts of rows that don't fit in memory: by the distinct scores of the positives, and between them.

The order of negatives between two adjacent positive scores affects no curve and no metric of a ranking. So a first scan
gathers the scores of the positives, and a second counts the negatives at and between them: 28 bytes for each distinct
one. Where that is too much memory, ranges of scores are gathered and counted one after another. A threshold among
negatives, where a quota ends for instance, takes further scans.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import run
from fastevals._kernels import areas
from fastevals._kernels.cells import count_around, join_equal
from fastevals._kernels.sorting import sort_keys
from fastevals._memory import lend
from fastevals._options import check_exactly_one, show
from fastevals._validation.arrays import EXACT, power_of_two
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS, MAX_CELLS
from fastevals.counting.sweeps import sum_steps
from fastevals.counts import ThresholdCounts, check_total
from fastevals.infer.delong.placements import PlacementMoments, sum_placements
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.ranking_metrics import WON_PAIRS, hull, share_of_gains
from fastevals.measure.registry import SCORE_METRICS
from fastevals.measure.thresholds import QUOTA, checked_limit
from fastevals.results import OperatingPoint
from fastevals.scale.cells import HIGHEST, LOWEST, ScoreCells
from fastevals.scale.files import Piece
from fastevals.scale.rows import RowReader, Rows

Keys = NDArray[np.uint64]
Ints = NDArray[Any]

FULL = 1 << 20  # keys of negatives that are sorted together, then counted: the more, the fewer atoms are stepped over
TOLD_APART = 1 << 18  # ranges that a range of negatives' scores is divided into, where a threshold is among them
BLOCK = 1 << 19  # atoms whose points are swept together
POSITIVE_BYTES = 44  # of memory for each positive while its score is gathered, sorted and counted
NONE = np.empty(0, np.int64)
NO_KEYS = np.empty(0, np.uint64)

Place = tuple[int, int]  # of a batch: the number of its piece, and its own in there


class KeyRange(NamedTuple):
    """Scores from one key up to another, which is of it too."""

    low: int = LOWEST
    high: int = HIGHEST

    def take(self, keys: Keys, units: Ints | None) -> tuple[Keys, Ints | None]:
        """Return the keys within, and their units."""
        if (self.low, self.high) == (LOWEST, HIGHEST):
            return keys, units
        within = (keys >= np.uint64(self.low)) & (keys <= np.uint64(self.high))
        return keys[within], None if units is None else units[within]


@dataclass
class AtomCounts:
    """Rows of a range of scores, by the distinct scores of the positives (and others asked for).

    Attributes
    ----------
    keys : ndarray of uint64 of shape (n_atoms,)
        Of the atoms, ascending.
    positives : ndarray of shape (n_atoms,)
        Positive rows, or units of weight, of each.
    at : ndarray of shape (n_atoms,)
        Negative ones of the same score.
    between : ndarray of shape (n_atoms + 1,)
        Negative ones below the first atom, between each two, and above the last.
    least : ndarray of uint64 of shape (n_atoms + 1,)
        Key of the lowest of these, where there are any.
    """

    keys: Keys
    positives: Ints
    at: Ints
    between: Ints
    least: Keys
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of_positives(cls, parts: list[Keys], units: list[Ints] | None, also: Keys, *, large: bool) -> AtomCounts:
        """Make atoms of the keys of positives, which come in any order; `parts` is emptied."""
        keys = _joined(parts)
        dtype = np.int64 if large or units is not None else np.uint32
        if units is None:
            sort(keys)
            positives = np.empty(keys.size, dtype)
            n = join_equal(keys, positives)
            if n < keys.size:
                keys, positives = keys[:n].copy(), positives[:n].copy()
        else:
            order = np.argsort(keys)
            keys, weights = keys[order], _joined(units)[order]
            starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
            positives = np.add.reduceat(weights, starts) if starts.size else weights
            keys = keys[starts]
        positives = positives.astype(dtype, copy=False)
        if also.size:
            places = np.searchsorted(keys, also)
            new = np.searchsorted(keys, also, side="right") == places
            keys, positives = np.insert(keys, places[new], also[new]), np.insert(positives, places[new], 0)
        return cls.uncounted(keys, positives)

    @classmethod
    def uncounted(cls, keys: Keys, positives: Ints) -> AtomCounts:
        """Return atoms without negatives yet."""
        at, between = np.zeros(keys.size, positives.dtype), np.zeros(keys.size + 1, positives.dtype)
        return cls(keys, positives, at, between, np.full(between.size, np.iinfo(np.uint64).max))

    def __reduce__(self) -> tuple[Any, ...]:
        return AtomCounts, (self.keys, self.positives, self.at, self.between, self.least)  # without the lock

    def count(self, keys: Keys, units: Ints | None) -> None:
        """Count negatives, in any order; `keys` are sorted in place."""
        if units is None:
            sort(keys)
        else:
            order = np.argsort(keys)
            keys, units = keys[order], units[order]
        with self._lock:
            count_around(keys, NONE if units is None else units, self.keys, self.at, self.between, self.least)

    def refined(self, gap: int, finer: AtomCounts) -> AtomCounts:
        """Return these atoms with more of them between two neighbours."""

        def joined(mine: NDArray[Any], its: NDArray[Any], replaced: int = 0) -> NDArray[Any]:
            return np.concatenate((mine[:gap], its, mine[gap + replaced :]))

        return AtomCounts(
            joined(self.keys, finer.keys), joined(self.positives, finer.positives), joined(self.at, finer.at),
            joined(self.between, finer.between, 1), joined(self.least, finer.least, 1),
        )  # fmt: skip

    @property
    def totals(self) -> tuple[int, int]:
        """Positives and negatives."""
        return int(self.positives.sum(dtype=np.int64)), int(
            self.at.sum(dtype=np.int64) + self.between.sum(dtype=np.int64)
        )

    def points(self, tp: int, fp: int, block: int = BLOCK) -> Iterator[ThresholdCounts]:
        """Yield counts from the highest atom down, in blocks: each begins with the last point of the one before.

        Parameters
        ----------
        tp, fp : int
            Positives and negatives above all of these.
        """
        last = (np.inf, tp, fp)
        for stop in range(self.keys.size, 0, -block):
            start = max(stop - block, 0)
            rows = slice(start, stop)
            keys = np.stack((self.least[start + 1 : stop + 1], self.keys[rows]), axis=1)[::-1]  # of a gap, and its atom
            negatives = np.stack((self.between[start + 1 : stop + 1], self.at[rows]), axis=1)[::-1].astype(np.int64)
            positives = np.stack((np.zeros(stop - start, np.int64), self.positives[rows].astype(np.int64)), axis=1)
            yield (piece := _counts_below(last, keys.ravel(), positives[::-1].ravel(), negatives.ravel()))
            last = (piece.thresholds[-1], int(piece.tps[-1]), int(piece.fps[-1]))
        if self.between[0]:
            yield _counts_below(last, self.least[:1], np.zeros(1, np.int64), self.between[:1].astype(np.int64))


HUNDREDTHS = FLOATS.encode(np.arange(101) / 100)


def atoms_beside(thresholds: Keys, highest: int) -> Keys:
    """Return the keys of scores that are atoms too, where counts are wanted in any case.

    These are thresholds, the highest score, where some metrics are best, and those that decision curves are of.
    """
    return sorted_union(np.append(thresholds, np.uint64(highest)), HUNDREDTHS)


def sort(keys: Keys) -> None:
    """Sort keys in place: as fast on any processor, which NumPy's sort is not."""
    cells = min(1 << max(keys.size - 1, 1).bit_length(), MAX_CELLS)
    sort_keys(keys, lend(keys.size, np.uint64), np.empty(cells, np.int32))


def joined_points(pieces: list[ThresholdCounts]) -> ThresholdCounts:
    """Return counts that follow each other as one: the first point of each is the last of the one before."""
    if not pieces:
        return ThresholdCounts._unchecked(np.array([np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    parts = [piece if k == 0 else piece.take(np.arange(1, piece.tps.size)) for k, piece in enumerate(pieces)]
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in ("thresholds", "tps", "fps"))
    return ThresholdCounts._unchecked(*arrays)


def _joined(parts: list[Any]) -> NDArray[Any]:
    """Return arrays one after another, each let go for its copy; the list is emptied."""
    if len(parts) == 1:
        return parts.pop()  # type: ignore[no-any-return]
    if not parts:
        return np.empty(0, np.uint64)
    joined = np.empty(sum(part.size for part in parts), parts[0].dtype)
    stop = joined.size
    while parts:
        part = parts.pop()
        joined[stop - part.size : stop] = part
        stop -= part.size
    return joined


def _counts_below(last: tuple[float, int, int], keys: Keys, positives: Ints, negatives: Ints) -> ThresholdCounts:
    """Return counts after a point: those of descending keys at which there are rows."""
    kept = (positives > 0) | (negatives > 0)
    sums = [np.cumsum(np.append(first, each[kept])) for first, each in ((last[1], positives), (last[2], negatives))]
    return ThresholdCounts._unchecked(np.append(last[0], FLOATS.decode(keys[kept])), *sums)


# Without all points ---------------------------------------------------------------------------------------------------

SUMS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "roc_auc": (areas.roc_area, ("fp", "tp")),
    "average_precision": (areas.average_precision, ("tp",)),
    "pr_auc": (areas.davis_goadrich_area, ("tp",)),
    "pr_auc_linear": (areas.linear_pr_area, ("tp",)),
}


class ExactCurve:
    """What a ranking's metrics need of all its points, added up block by block from the highest score down.

    Areas are sums over all points; everything else is read at a vertex of the hull, at the best of some metric, or
    where the curve crosses a line: these points are kept, and some more between, for pictures.

    Parameters
    ----------
    n_pos, n_neg : int
        Rows in all, or units of weight.
    keep : callable, optional
        Of a block's counts, with those of all rows behind them, gives one more row that is kept.
    at : ndarray of uint64
        Keys of thresholds at which counts are kept.
    above : tuple of int
        Positives and negatives above all that is added.
    """

    def __init__(
        self,
        n_pos: int,
        n_neg: int,
        keep: Callable[[ThresholdCounts], int | None] | None = None,
        at: Keys = NO_KEYS,
        above: tuple[int, int] = (0, 0),
    ) -> None:
        self.n_pos, self.n_neg, self.keep = n_pos, n_neg, keep
        self._at = FLOATS.decode(at)
        self._placements = (0, 0, 0)
        self.scales = {"fp": power_of_two(n_neg), "tp": power_of_two(n_pos)}
        self.sums = dict.fromkeys(SUMS, Fraction(0))
        self._kept: list[ThresholdCounts] = []
        self._last = above

    def append(self, other: ExactCurve) -> None:
        """Add what is known of the next lower range, of the same rows in all."""
        self.sums = {name: total + other.sums[name] for name, total in self.sums.items()}
        self._placements = tuple(map(add, self._placements, other._placements))
        self._kept += other._kept
        self._last = other._last

    def add(self, atoms: AtomCounts) -> None:
        """Add the points of the next lower range."""
        for piece in atoms.points(*self._last):
            for name, (kernel, scales) in SUMS.items():
                self.sums[name] += sum_steps(kernel, piece, *(self.scales[scale] for scale in scales))
            placed = sum_placements(piece.tps, piece.fps, self.n_pos, self.n_neg)
            self._placements = tuple(map(add, self._placements, placed))
            rows = {0, piece.tps.size - 1, *self._of_hull(piece), *self._where_crossed(piece), *self._regular(piece)}
            rows.update(piece.rows_at_least(self._at).tolist())
            best = None if self.keep is None else self.keep(self._with_totals(piece))
            rows.update(() if best is None else (min(best, piece.tps.size - 1),))
            self._kept.append(piece.take(np.array(sorted(rows))))
            self._last = int(piece.tps[-1]), int(piece.fps[-1])

    def _with_totals(self, piece: ThresholdCounts) -> ThresholdCounts:
        """Return counts whose last row are all rows, whatever their threshold is."""
        last = np.nextafter(piece.thresholds[-1], -np.inf)
        return ThresholdCounts._unchecked(
            np.append(piece.thresholds, last), np.append(piece.tps, self.n_pos), np.append(piece.fps, self.n_neg)
        )

    def _of_hull(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield the rows of the upper hull, and the lowest below the diagonal."""
        vertices = hull(piece)
        yield from np.searchsorted(-piece.thresholds, -vertices.thresholds).tolist()
        above = piece.tps * float(self.n_neg) - piece.fps * float(self.n_pos)
        for extreme in (above.argmin(), above.argmax()):
            yield from range(max(int(extreme) - 1, 0), min(int(extreme) + 2, above.size))

    def _where_crossed(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield the rows about where precision is recall, and where FPR is FNR."""
        predicted = piece.tps + piece.fps
        rates = piece.fps * float(self.n_pos) + piece.tps * float(self.n_neg)
        for values, goal in ((predicted, self.n_pos), (rates, float(self.n_pos) * self.n_neg)):
            row = int(np.searchsorted(values, goal))
            if 0 < row < values.size or (row == 0 and values[0] == goal):
                yield from range(max(row - 3, 0), min(row + 4, values.size))

    def _regular(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield rows a thousandth of a percent of each class apart."""
        place = piece.tps / max(self.n_pos, 1) + piece.fps / max(self.n_neg, 1)
        steps = np.floor(place * REGULAR).astype(np.int64)
        yield from (np.flatnonzero(steps[1:] != steps[:-1]) + 1).tolist()

    def all_points(self, atoms: AtomCounts) -> ThresholdCounts | None:
        """Return all points if the atoms are complete; None if they are not, or if points would be too many."""
        if atoms.keys.size > MOST_POINTS or atoms.totals != (self.n_pos, self.n_neg):
            return None
        return joined_points(list(atoms.points(0, 0)))

    @cached_property
    def counts(self) -> ThresholdCounts:
        """The points that are kept."""
        return joined_points(self._kept)

    def cells(self, highest: int) -> ScoreCells:
        """Return the rows between the points that are kept, and the thresholds."""
        points, at = self.counts, self._at[::-1]
        rows = points.rows_at_least(at)
        new = (points.thresholds[rows] > at) & (at < FLOATS.decode(np.array([highest], np.uint64)))
        rows, at = rows[new], at[new]
        cut = (
            np.insert(each, rows + 1, also)
            for each, also in ((points.thresholds, at), (points.tps, points.tps[rows]), (points.fps, points.fps[rows]))
        )
        return ScoreCells.between(ThresholdCounts._unchecked(*cut), highest)

    @cached_property
    def moments(self) -> PlacementMoments:
        """DeLong's moments."""
        return PlacementMoments.from_placements(self.n_pos, self.n_neg, self._placements)

    @cached_property
    def metrics(self) -> dict[str, float]:
        """All metrics of rankings that the points that are kept, and the areas, tell exactly."""
        values = dict.fromkeys((*SUMS, *WON_PAIRS), math.nan)
        if self.n_pos:
            gained = Fraction(self.n_pos * self.scales["tp"])
            for name, multiple in (("average_precision", 1), ("pr_auc", 1), ("pr_auc_linear", 2)):
                values[name] = share_of_gains(self.sums[name] / gained / multiple)
        if self.n_pos and self.n_neg:
            pairs = 2 * Fraction(self.n_neg * self.scales["fp"]) * Fraction(self.n_pos * self.scales["tp"])
            won = min(self.sums["roc_auc"], pairs)
            values |= {name: float(share(won, pairs) / pairs) for name, share in WON_PAIRS.items()}
        vertices = hull(self.counts)
        for metric in SCORE_METRICS.values():
            if metric.of == "ranking" and metric.name not in values:
                values[metric.name] = metric(vertices if metric.on_hull else self.counts)
        return values


# Scans ----------------------------------------------------------------------------------------------------------------


@dataclass
class BlockRows:
    """What is counted of the rows that share a value, of each model.

    Attributes
    ----------
    value : label or None
        Of the --by column.
    n_samples, n_positives, n_negatives : int
        Rows.
    weight : tuple of int
        Units of weight, of positives and negatives; rows where there are no weights.
    lowest, highest : list of int
        Keys of the lowest and the highest score of each model.
    """

    value: Any = None
    n_samples: int = 0
    n_positives: int = 0
    weight: tuple[int, int] = (0, 0)
    lowest: list[int] = field(default_factory=list)
    highest: list[int] = field(default_factory=list)
    keys: list[list[Keys]] = field(default_factory=list)
    units: list[list[Ints]] = field(default_factory=list)

    @property
    def n_negatives(self) -> int:
        """Negative rows."""
        return self.n_samples - self.n_positives


class ExactScans:
    """Scans that count rows exactly, by value of a column.

    Parameters
    ----------
    reader : RowReader
    also : ndarray of uint64
        Keys of thresholds at which counts are wanted, too.
    memory : int or None
        Bytes that the scores of positives may take.
    progress : bool
    """

    def __init__(self, reader: RowReader, also: Keys, memory: int | None, progress: bool) -> None:
        self.reader, self.also, self.memory, self.progress = reader, also, memory, progress
        self.blocks: dict[Any, BlockRows] = {}
        self.n_ranges = 1
        self._lock = threading.Lock()
        self._n_bytes = 0
        self._sampled = False  # since there are too many keys to hold them all

    # The first scan: which rows there are, and the scores of positives ------------------------------------------------

    def first(self) -> list[BlockRows]:
        """Count rows by value, and gather the scores of positives; return the values' rows, ascending."""
        self.reader.learn()
        self.scan(self._gather_all)
        blocks = (
            [self.blocks[value] for value in sorted(self.blocks)]
            if self.reader.by is not None
            else list(self.blocks.values())
        )
        if not blocks:
            raise self.reader.no_rows()
        for block in blocks:
            check_total("sample_weight", *block.weight)
        if self._sampled:
            n_positives = sum(block.n_positives for block in blocks)
            needed = POSITIVE_BYTES * n_positives * len(self.reader.scores)
            self.n_ranges = -(-needed // (self.memory or 1))
            if self.n_ranges > MOST_RANGES:
                raise ValueError(
                    f"memory must be at least {-(-needed // MOST_RANGES)} bytes for the scores of {n_positives} "
                    f"positives, got {self.memory}"
                )
        return blocks

    def _gather_all(self, rows: Rows, block: BlockRows, _: Place) -> None:
        flags = rows.flags.view(np.bool_)
        units = None if rows.weights is None else exact_units(rows.weights, self.reader)
        n_samples, n_positives = rows.counted(self.reader.are_copies)
        parts = [(FLOATS.encode(scores[flags] + 0.0), ends(scores)) for scores in rows.scores]
        with self._lock:
            block.n_samples += n_samples
            block.n_positives += n_positives
            weights = (n_positives, n_samples - n_positives)
            if units is not None:
                weights = (int(units[flags].sum()), int(units[~flags].sum()))
            block.weight = (block.weight[0] + weights[0], block.weight[1] + weights[1])
            for k, (keys, (low, high)) in enumerate(parts):
                block.lowest[k], block.highest[k] = min(block.lowest[k], low), max(block.highest[k], high)
                self._keep(block.keys[k], keys)
                if units is not None:
                    self._keep(block.units[k], units[flags])

    def _keep(self, gathered: list[Any], keys: NDArray[Any]) -> None:
        """Keep keys; of each some, where all would be more than memory is for."""
        gathered.append(keys[::SAMPLED].copy() if self._sampled else keys)
        self._n_bytes += keys.nbytes
        if self.memory is not None and not self._sampled and self._n_bytes * (POSITIVE_BYTES / 8) > self.memory:
            self._sampled = True
            for block in self.blocks.values():
                for lists in (block.keys, block.units):
                    for parts in lists:
                        parts[:] = [part[::SAMPLED].copy() for part in parts]

    # The others: negatives about them ---------------------------------------------------------------------------------

    def count(
        self,
        wanted: Sequence[BlockRows],
        done: Callable[[BlockRows, int, AtomCounts], None],
        beside: Callable[[Rows, BlockRows, Place], None] | None = None,
    ) -> None:
        """Count the negatives of blocks; call `done` with the counts of each model, from the highest range down.

        `beside` is called, in one of the scans, with all rows.
        """
        large = sum(block.n_samples for block in self.blocks.values()) >= 2**32
        models = range(len(self.reader.scores))
        ranges = {id(block): [self._ranges(block, k) for k in models] for block in wanted}
        if self._sampled:
            self._gather([(block, [each[0] for each in ranges[id(block)]]) for block in wanted])
        for number in range(self.n_ranges):
            counts: dict[int, list[AtomCounts]] = {}
            for block in wanted:
                counts[id(block)] = []
                for k in models:
                    also = ranges[id(block)][k][number].take(atoms_beside(self.also, block.highest[k]), None)[0]
                    units = block.units[k] if self.reader.weight is not None else None
                    counts[id(block)].append(AtomCounts.of_positives(block.keys[k], units, also, large=large))
            following = None
            if number + 1 < self.n_ranges:
                following = [(block, [each[number + 1] for each in ranges[id(block)]]) for block in wanted]
            within = {key: [each[number] for each in value] for key, value in ranges.items()}
            self._count(counts, within, following, beside if number == 0 else None)
            for block in wanted:
                for k in models:
                    done(block, k, counts[id(block)][k])
                    counts[id(block)][k] = None  # type: ignore[call-overload]

    def _ranges(self, block: BlockRows, k: int) -> list[KeyRange]:
        """Return ranges of about as many positives each, from the highest."""
        if not self._sampled:
            return [KeyRange()]
        sample = np.sort(np.concatenate(block.keys[k])) if block.keys[k] else np.empty(0, np.uint64)
        block.keys[k], block.units[k] = [], []
        if not sample.size:
            return [KeyRange(), *[KeyRange(1, 0)] * (self.n_ranges - 1)]
        places = np.arange(1, self.n_ranges) * sample.size // self.n_ranges
        edges = sorted_unique(sample[places])
        lows = [LOWEST, *map(int, edges)]
        highs = [*(int(edge) - 1 for edge in edges), HIGHEST]
        found = [KeyRange(low, high) for low, high in zip(lows, highs, strict=True)][::-1]
        return found + [KeyRange(1, 0)] * (self.n_ranges - len(found))

    def _gather(self, ranges: list[tuple[BlockRows, list[KeyRange]]]) -> None:
        by_block = {id(block): each for block, each in ranges}
        self.scan(lambda rows, block, _: self._gather_range(rows, block, by_block.get(id(block))))

    def _gather_range(self, rows: Rows, block: BlockRows, ranges: list[KeyRange] | None) -> None:
        if ranges is None:
            return
        flags = rows.flags.view(np.bool_)
        units = None if rows.weights is None else exact_units(rows.weights, self.reader)[flags]
        for k, scores in enumerate(rows.scores):
            keys, of_keys = ranges[k].take(FLOATS.encode(scores[flags] + 0.0), units)
            with self._lock:
                block.keys[k].append(keys)
                if of_keys is not None:
                    block.units[k].append(of_keys)

    def _count(
        self,
        counts: dict[int, list[AtomCounts]],
        within: dict[int, list[KeyRange]],
        following: list[tuple[BlockRows, list[KeyRange]]] | None,
        beside: Callable[[Rows, BlockRows, Place], None] | None,
    ) -> None:
        """Scan: count negatives, and gather the positives of the next range."""
        gather = {id(block): each for block, each in following or ()}
        made: list[dict[tuple[int, int], WaitingKeys]] = []

        def buffers() -> dict[tuple[int, int], WaitingKeys]:
            made.append({})
            return made[-1]

        def visit(rows: Rows, block: BlockRows, place: Place, space: dict[tuple[int, int], WaitingKeys]) -> None:
            if id(block) in counts:
                negative = ~rows.flags.view(np.bool_)
                units = None if rows.weights is None else exact_units(rows.weights, self.reader)[negative]
                for k, scores in enumerate(rows.scores):
                    buffer = space.setdefault((id(block), k), WaitingKeys())
                    buffer.add(*within[id(block)][k].take(FLOATS.encode(scores[negative] + 0.0), units))
                    if buffer.n >= FULL:
                        counts[id(block)][k].count(*buffer.empty())
            self._gather_range(rows, block, gather.get(id(block)))
            if beside is not None:
                beside(rows, block, place)

        self.scan(visit, buffers)
        left = [(key, buffer) for space in made for key, buffer in space.items() if buffer.n]
        run(lambda each: counts[each[0][0]][each[0][1]].count(*each[1].empty()), left)

    def recount(self, block: BlockRows, k: int, keys: Keys) -> AtomCounts:
        """Return the negatives of a model around other atoms, from the first atom to the last, in one more scan."""
        atoms = AtomCounts.uncounted(keys, np.zeros(keys.size, np.int64))
        within = KeyRange(int(keys[0]), int(keys[-1]))

        def visit(rows: Rows, its: BlockRows, _: Place) -> None:
            if its is block:
                negative = ~rows.flags.view(np.bool_)
                units = None if rows.weights is None else exact_units(rows.weights, self.reader)[negative]
                atoms.count(*within.take(FLOATS.encode(rows.scores[k][negative] + 0.0), units))

        self.scan(visit)
        return atoms

    # Scanning ---------------------------------------------------------------------------------------------------------

    def scan(self, visit: Callable[..., None], workspace: Callable[[], Any] | None = None) -> None:
        """Call a function with the rows of each block of each batch, the block, and the batch's place among all."""
        self.reader.files.check_unchanged()

        def read(numbered: tuple[int, Piece], *space: Any) -> None:
            number, piece = numbered
            for batch, rows in enumerate(self.reader.rows(piece)):
                for value, part in rows.by_value():
                    visit(part, self._block(value), (number, batch), *space)

        run(read, list(enumerate(self.reader.files.pieces)), workspace=workspace, progress=self.progress)
        self.reader.files.check_unchanged()

    def _block(self, value: Any) -> BlockRows:
        block = self.blocks.get(value)
        if block is None:
            n = len(self.reader.scores)
            with self._lock:
                if len(self.blocks) >= MOST_BLOCKS and value not in self.blocks:
                    raise ValueError(f"the column {self.reader.by!r} has more than {MOST_BLOCKS} values")
                new = BlockRows(
                    value, 0, 0, (0, 0), [HIGHEST] * n, [LOWEST] * n, [[] for _ in range(n)], [[] for _ in range(n)]
                )
                block = self.blocks.setdefault(value, new)
        return block


MOST_POINTS = 1 << 22  # atoms, 200 MB of points
REGULAR = 50_000  # points between, of each class
MOST_RANGES = 100  # of scores, with a scan each
SAMPLED = 256  # every 256th key is kept where there are too many
MOST_BLOCKS = 10_000


class WaitingKeys:
    """Keys that wait for more."""

    def __init__(self) -> None:
        self.keys: list[Keys] = []
        self.units: list[Ints] = []
        self.n = 0

    def add(self, keys: Keys, units: Ints | None) -> None:
        """Add keys."""
        self.keys.append(keys)
        self.n += keys.size
        if units is not None:
            self.units.append(units)

    def empty(self) -> tuple[Keys, Ints | None]:
        """Return all keys, and forget them."""
        self.n = 0
        return _joined(self.keys), _joined(self.units) if self.units else None


class NotWholeError(ValueError):
    """Weights are not whole numbers."""


def exact_units(weights: NDArray[np.float64], reader: RowReader) -> Ints:
    """Return weights as whole numbers; raise where they aren't, or are too large to be told from their neighbours."""
    name = reader.names[str(reader.weight)]
    odd = weights != np.trunc(weights)
    if odd.any():
        raise NotWholeError(f"{name} must hold whole numbers, got {show(weights[int(np.argmax(odd))])}")
    if weights.max(initial=0) > EXACT:
        raise ValueError(f"{name} must be at most 2**53, got {show(weights.max())}")
    return weights.astype(np.int64)


def ends(scores: NDArray[Any]) -> tuple[int, int]:
    """Return the keys of the least and the greatest score."""
    low, high = FLOATS.encode(np.array([scores.min(), scores.max()], np.float64) + 0.0)
    return int(low), int(high)


# A ranking ------------------------------------------------------------------------------------------------------------


class AtomPoints(ThresholdCounts):
    """Counts at atoms, and at the lowest of the negatives between two of them, wherever the others are."""

    __slots__ = ("atoms",)

    atoms: AtomCounts

    @classmethod
    def of(cls, atoms: AtomCounts) -> AtomPoints:
        """Return the points of all atoms."""
        points = joined_points(list(atoms.points(0, 0)))
        return _atom_points(points.thresholds, points.tps, points.fps, atoms)

    def __reduce__(self) -> tuple[Any, ...]:
        return _atom_points, (self.thresholds, self.tps, self.fps, self.atoms)

    def in_weight(self, unit: float = 1.0) -> Self:
        """Return sums of weights, as floats, instead of numbers of units."""
        return _atom_points(self.thresholds, self.tps * unit, self.fps * unit, self.atoms)  # type: ignore[return-value]

    def take(self, rows: NDArray[np.intp]) -> ThresholdCounts:  # type: ignore[override]
        """Keep some of the points, as those of any curve."""
        return ThresholdCounts._unchecked(self.thresholds[rows], self.tps[rows], self.fps[rows])

    def rows_at_least(self, thresholds: NDArray[Any]) -> NDArray[np.intp]:
        """Return the row that holds the counts at each threshold; raise where it is among negatives."""
        rows, keys = super().rows_at_least(thresholds), FLOATS.encode(thresholds.astype(np.float64).ravel() + 0.0)
        gaps = np.searchsorted(self.atoms.keys, keys)
        is_atom = np.searchsorted(self.atoms.keys, keys, side="right") > gaps
        doubtful = ~is_atom & (self.atoms.between[gaps] > 1) & (keys > self.atoms.least[gaps])
        if doubtful.any():
            place = int(np.argmax(doubtful))
            row = int(rows.ravel()[place])
            raise ValueError(
                f"counts at the threshold {thresholds.ravel()[place]:.17g} are not known: "
                f"{self.atoms.between[gaps[place]]:,} negatives are between the known ones around it, "
                f"{self.thresholds[row + 1]:.17g} and {self.thresholds[row]:.17g}. Name it beforehand (at=)"
            )
        return rows

    @property
    def _has_each_score(self) -> bool:
        """Whether each distinct score of the rows is a threshold: those of negatives are not."""
        return False


def _atom_points(thresholds: Any, tps: Any, fps: Any, atoms: AtomCounts) -> AtomPoints:
    counts = AtomPoints._unchecked(thresholds, tps, fps)
    object.__setattr__(counts, "atoms", atoms)
    return counts


class ExactRanking(Ranking):
    """A ranking of rows in files: its areas are known, its points are made when asked for, 48 bytes a positive.

    Negatives are counted between the scores of positives, the thresholds that were asked for, and hundredths from 0 to
    1. So what is best, and all curves and areas are exact, as are counts at these scores. Where the threshold of a
    break-even point, an equal error rate or a quota is among negatives, they are counted in further scans. Counts at
    other thresholds, and what is asked of probabilities, raise an error.

    Parameters
    ----------
    atoms : AtomCounts
    curve : ExactCurve
    n_positives, n_negatives : int
    classes : Classes
    recount : callable
        Gives the negatives about other atoms, from the first to the last, of keys. A copy, or what was pickled, is
        without it.
    is_weighted : bool
        Whether what is counted is the weight of rows.
    """

    __slots__ = ("_atoms", "_curve", "_is_weighted", "_recount")

    def __init__(
        self,
        atoms: AtomCounts,
        curve: ExactCurve,
        n_positives: int,
        n_negatives: int,
        classes: Classes,
        recount: Callable[[Keys], AtomCounts] | None = None,
        is_weighted: bool = False,
    ) -> None:
        self._atoms, self._curve, self._recount, self._is_weighted = atoms, curve, recount, is_weighted
        self._set_parts(None, n_positives, n_negatives, classes.pos_label, classes.labels[0])

    def __reduce__(self) -> tuple[Any, ...]:
        counted = self._atoms, self._curve, self.n_positives, self.n_negatives
        return ExactRanking, (*counted, self._classes(), None, self._is_weighted)

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at each distinct score of a positive, at other atoms, and at the lowest negative between two."""
        if self._counts is None:
            counts = AtomPoints.of(self._atoms)
            self._counts = counts.in_weight() if self._is_weighted else counts
        return self._counts

    @property
    def is_weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._is_weighted

    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Return a ranking of the points: what each score must be known for raises."""
        for label, spec in specs.items():
            if not isinstance(spec, MetricSpec):
                raise ValueError(f"metrics of a ranking of files must have names, got {show(spec)}")
            if SCORE_METRICS[spec.name].of == "probabilities":
                self.counts._require_each_score(label)
        return Ranking._of_classes(self.counts, self.n_positives, self.n_negatives, self._classes()), {}

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Return twice the Mann-Whitney U and the pairs of two classes: whole numbers that no sum has rounded."""
        curve, pairs = self._curve, self.n_positives * self.n_negatives
        return (
            (round(curve.sums["roc_auc"] / Fraction(curve.scales["fp"] * curve.scales["tp"])), pairs) if pairs else None
        )

    def break_even_point(self) -> OperatingPoint:
        """As `Ranking.break_even_point`."""
        self._tell_apart(lambda tp, fp: tp + fp >= self.n_positives)
        return super().break_even_point()

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """As `Ranking.equal_error_rate`."""
        n_pos, n_neg = self.n_positives, self.n_negatives
        if not on_hull:  # whose vertices are at scores of positives
            self._tell_apart(lambda tp, fp: tp * n_neg + fp * n_pos >= n_pos * n_neg)
        return super().equal_error_rate(on_hull=on_hull)

    def threshold_for(self, *, n_predicted: float | None = None, **others: float | None) -> OperatingPoint:
        """As `Ranking.threshold_for`."""
        name, limit = check_exactly_one({**others, QUOTA: n_predicted})
        if name == QUOTA:
            most = checked_limit(name, limit)
            self._tell_apart(lambda tp, fp: tp + fp > most)
        return super().threshold_for(**{name: limit})

    def _tell_apart(self, is_reached: Callable[[int, int], bool]) -> None:
        """Count negatives apart until the score is known at which a condition of true and false positives is met.

        Once it is met, it is at all lower thresholds.
        """
        while True:
            counts, atoms = self.counts, self._atoms

            def is_reached_at(row: int, counts: ThresholdCounts = counts) -> bool:
                return is_reached(int(counts.tps[row]), int(counts.fps[row]))

            row = bisect_left(range(counts.thresholds.size), True, key=is_reached_at)
            key = FLOATS.encode(counts.thresholds[row : row + 1])
            gap = int(np.searchsorted(atoms.keys, key)[0]) if key.size else atoms.keys.size
            if gap == atoms.keys.size or atoms.keys[gap] == key or atoms.between[gap] <= 1:
                return
            if self._recount is None:
                raise ValueError(
                    f"the threshold is that of one of {atoms.between[gap]:,} negatives, which a copy can't count: ask "
                    "the ranking that it was made of before, or rank the rows again"
                )
            low, high = int(atoms.least[gap]), int(atoms.keys[gap]) - 1
            step = -(-(high - low + 1) // TOLD_APART)
            finer = np.append(np.arange(low, high, step, dtype=np.uint64), np.uint64(high))
            self._atoms, self._counts = atoms.refined(gap, self._recount(finer)), None
