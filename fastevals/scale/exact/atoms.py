"""Rows of a range of scores, counted at the distinct scores of the positives and between them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._execution import chunks, run
from fastevals._kernels.cells import count_around, join_equal
from fastevals._kernels.sorting import sort_keys
from fastevals._memory import lend
from fastevals.counting.ordering import FLOATS, MAX_CELLS
from fastevals.counts import ThresholdCounts
from fastevals.scale.cells import HIGHEST, LOWEST

Keys = NDArray[np.uint64]
Ints = NDArray[Any]

ATOMS_PER_BLOCK = 1 << 19  # atoms per block of points
NONE = np.empty(0, np.int64)
NO_KEYS = np.empty(0, np.uint64)


class KeyRange(NamedTuple):
    """A range of scores between two keys, both included."""

    low: int = LOWEST
    high: int = HIGHEST

    def take(self, keys: Keys, units: Ints | None) -> tuple[Keys, Ints | None]:
        """Return the keys within the range, and their units."""
        if (self.low, self.high) == (LOWEST, HIGHEST):
            return keys, units
        within = (keys >= np.uint64(self.low)) & (keys <= np.uint64(self.high))
        return keys[within], None if units is None else units[within]


@dataclass
class AtomCounts:
    """Rows of a range of scores, counted at the distinct scores of the positives (and at other requested scores).

    Attributes
    ----------
    keys : ndarray of uint64 of shape (n_atoms,)
        Keys of the atoms, ascending.
    positives : ndarray of shape (n_atoms,)
        Positive rows, or units of weight, of each atom.
    at : ndarray of shape (n_atoms,)
        Negatives with the atom's score.
    between : ndarray of shape (n_atoms + 1,)
        Negatives below the first atom, between neighbouring atoms, and above the last.
    least : ndarray of uint64 of shape (n_atoms + 1,)
        For each entry of `between`, the key of the lowest of its negatives, if it has any.
    squares : AtomCounts or None
        The same counts with squared weights in place of weights.
    """

    keys: Keys
    positives: Ints
    at: Ints
    between: Ints
    least: Keys
    squares: AtomCounts | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of_positives(
        cls, parts: list[Keys], units: list[Ints] | None, also: Keys, *, large: bool, squared: bool = False
    ) -> AtomCounts:
        """Make atoms from the keys of positives, in any order; `parts` is emptied.

        If `squared` is true, sums of squared units are kept too.
        """
        keys = joined(parts)
        dtype = np.int64 if large or units is not None else np.uint32
        squares: list[Ints] = []
        if units is None:
            sort(keys)
            positives = np.empty(keys.size, dtype)
            n = join_equal(keys, positives)
            if n < keys.size:
                keys, positives = keys[:n].copy(), positives[:n].copy()
        else:
            order = np.argsort(keys)
            keys, weights = keys[order], joined(units)[order]
            starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
            sums = [weights, weights * weights] if squared else [weights]
            positives, *squares = (np.add.reduceat(each, starts) if starts.size else each for each in sums)
            keys = keys[starts]
        counted = [positives.astype(dtype, copy=False), *squares]
        if also.size:
            places = np.searchsorted(keys, also)
            new = np.searchsorted(keys, also, side="right") == places
            keys = np.insert(keys, places[new], also[new])
            counted = [np.insert(each, places[new], 0) for each in counted]
        return cls.uncounted(keys, *counted)

    @classmethod
    def uncounted(cls, keys: Keys, positives: Ints, squares: Ints | None = None) -> AtomCounts:
        """Return atoms that have no negatives yet."""
        at, between = np.zeros(keys.size, positives.dtype), np.zeros(keys.size + 1, positives.dtype)
        beside = None if squares is None else cls.uncounted(keys, squares)
        return cls(keys, positives, at, between, np.full(between.size, np.iinfo(np.uint64).max), beside)

    def __reduce__(self) -> tuple[Any, ...]:
        return AtomCounts, (self.keys, self.positives, self.at, self.between, self.least, self.squares)  # no lock

    def count(self, keys: Keys, units: Ints | None) -> None:
        """Count negatives, in any order; `keys` are sorted in place."""
        if units is None:
            sort(keys)
        else:
            order = np.argsort(keys)
            keys, units = keys[order], units[order]
        with self._lock:
            count_around(keys, NONE if units is None else units, self.keys, self.at, self.between, self.least)
            if self.squares is not None and units is not None:
                into = self.squares
                count_around(keys, units * units, into.keys, into.at, into.between, into.least)

    def refined(self, gap: int, finer: AtomCounts) -> AtomCounts:
        """Return these atoms with the atoms of `finer` inserted into gap number `gap`."""

        def spliced(mine: NDArray[Any], its: NDArray[Any], replaced: int = 0) -> NDArray[Any]:
            return np.concatenate((mine[:gap], its, mine[gap + replaced :]))

        return AtomCounts(
            spliced(self.keys, finer.keys), spliced(self.positives, finer.positives), spliced(self.at, finer.at),
            spliced(self.between, finer.between, 1), spliced(self.least, finer.least, 1),
            None if self.squares is None or finer.squares is None else self.squares.refined(gap, finer.squares),
        )  # fmt: skip

    @property
    def totals(self) -> tuple[int, int]:
        """Numbers of positives and negatives."""
        return int(self.positives.sum(dtype=np.int64)), int(
            self.at.sum(dtype=np.int64) + self.between.sum(dtype=np.int64)
        )

    def doubled_u(self) -> int:
        """Return twice the Mann-Whitney U: twice the pairs in which the positive scores higher, plus the tied pairs."""

        def part(rows: slice) -> tuple[int, int, int]:
            positives, at, gaps = (each[rows].astype(np.int64) for each in (self.positives, self.at, self.between))
            below = np.cumsum(gaps + at) - at
            n_pos, n_neg = int(positives.sum()), int(gaps.sum() + at.sum())
            exact = positives if 2 * n_pos * n_neg < 2**63 else positives.astype(object)
            return int(exact @ (2 * below + at)), n_pos, n_neg

        doubled = below = 0
        for within, n_pos, n_neg in run(part, chunks(self.keys.size)):
            doubled += within + 2 * n_pos * below
            below += n_neg
        return doubled

    def at_thresholds(self, thresholds: NDArray[np.float64]) -> ThresholdCounts:
        """Return counts at descending thresholds that are points of these atoms, or infinite."""
        keys = FLOATS.encode(thresholds)
        rows = np.searchsorted(self.keys, keys)
        gaps = np.searchsorted(self.keys, keys, side="right")  # below an atom, or at the gap's own lowest negative
        above = [np.append(np.cumsum(each[::-1])[::-1], 0) for each in (self.positives, self.at, self.between)]
        fps = np.where(np.isinf(thresholds), 0, above[1][rows] + above[2][gaps])
        return ThresholdCounts._unchecked(thresholds, above[0][rows], fps)

    def points(self, tp: int, fp: int, block: int = ATOMS_PER_BLOCK) -> Iterator[ThresholdCounts]:
        """Yield counts from the highest atom down, in blocks; each begins with the last point of the block before.

        Parameters
        ----------
        tp, fp : int
            Positives and negatives above all of these atoms.
        """
        last = (np.inf, tp, fp)
        for stop in range(self.keys.size, 0, -block):
            start = max(stop - block, 0)
            rows = slice(start, stop)
            keys = np.stack((self.least[start + 1 : stop + 1], self.keys[rows]), axis=1)[::-1]  # of a gap and its atom
            negatives = np.stack((self.between[start + 1 : stop + 1], self.at[rows]), axis=1)[::-1].astype(np.int64)
            positives = np.stack((np.zeros(stop - start, np.int64), self.positives[rows].astype(np.int64)), axis=1)
            yield (piece := _counts_below(last, keys.ravel(), positives[::-1].ravel(), negatives.ravel()))
            last = (piece.thresholds[-1], int(piece.tps[-1]), int(piece.fps[-1]))
        if self.between[0]:
            yield _counts_below(last, self.least[:1], np.zeros(1, np.int64), self.between[:1].astype(np.int64))


HUNDREDTHS = FLOATS.encode(np.arange(101) / 100)


def atoms_beside(thresholds: Keys, highest: int) -> Keys:
    """Return the keys of additional atoms, at scores where counts are always needed.

    These are the requested thresholds, the highest score (at which some metrics are best), and the probabilities of
    decision curves.
    """
    return sorted_union(np.append(thresholds, np.uint64(highest)), HUNDREDTHS)


def sort(keys: Keys) -> None:
    """Sort keys in place; unlike NumPy's sort, it is equally fast on any processor."""
    cells = min(1 << max(keys.size - 1, 1).bit_length(), MAX_CELLS)
    sort_keys(keys, lend(keys.size, np.uint64), np.empty(cells, np.int32))


def joined_points(pieces: list[ThresholdCounts]) -> ThresholdCounts:
    """Join successive counts; the first point of each is the last point of the one before."""
    if not pieces:
        return ThresholdCounts._unchecked(np.array([np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    parts = [piece if k == 0 else piece.take(np.arange(1, piece.tps.size)) for k, piece in enumerate(pieces)]
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in ("thresholds", "tps", "fps"))
    return ThresholdCounts._unchecked(*arrays)


def joined(parts: list[Any]) -> NDArray[Any]:
    """Concatenate arrays, freeing each once it is copied; the list is emptied."""
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
    """Return the counts at `last`, followed by the counts at the lower keys that have rows; keys descend."""
    kept = (positives > 0) | (negatives > 0)
    sums = [np.cumsum(np.append(first, each[kept])) for first, each in ((last[1], positives), (last[2], negatives))]
    return ThresholdCounts._unchecked(np.append(last[0], FLOATS.decode(keys[kept])), *sums)
