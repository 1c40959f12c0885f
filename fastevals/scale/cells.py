"""Cells: the number of rows of each class in each range of scores, and the bounds on metrics that these numbers imply.

A set of cells describes all data sets with these counts. Two of these data sets are extreme: in the worst, each
positive has the lowest score of its cell and each negative the highest; in the best, the reverse. If a metric never
falls when a positive moves up or a negative moves down, its exact value lies between its values on these two data sets.
The counts of both data sets are ordinary `ThresholdCounts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.cells import join_cells, join_neighbours
from fastevals.counting.ordering import FLOATS, count_by_score
from fastevals.counts import USUAL_SUM, ThresholdCounts
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.measure.ranking_metrics import exact_auc, one_class
from fastevals.measure.registry import Detail
from fastevals.scale.squares import RowSums, as_floats, carry, of_ones, squared_points

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]

LOWEST, HIGHEST = (int(key) for key in FLOATS.encode(np.array([-np.finfo(np.float64).max, np.finfo(np.float64).max])))


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Numbers of rows by range of scores.

    Attributes
    ----------
    low, high : ndarray of uint64 of shape (n_cells,)
        Keys of the lowest and the highest score that a cell's rows may have. Cells are sorted by (low, high), and no
        two are equal. A cell whose two keys are equal is an atom: the score of its rows is known exactly.
    counts : ndarray of int64 of shape (n_cells, 2) or (n_cells, 6)
        Negatives and positives in each cell, in rows or whole units of weight. If squared weights are kept, the other
        four columns are the lower and upper limbs of their sums (`fastevals.scale.squares`).
    """

    low: Keys
    high: Keys
    counts: Ints

    @classmethod
    def none(cls) -> Self:
        """Return an empty set of cells."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty((0, 2), np.int64))

    @classmethod
    def sort(cls, low: Keys, high: Keys, counts: Ints) -> Self:
        """Sort cells given in any order, possibly repeated: empty cells are left out, and equal cells are added up."""
        kept = counts.any(axis=1)
        low, high, counts = low[kept], high[kept], counts[kept]
        order = np.lexsort((high, low))
        low, high, counts = low[order], high[order], counts[order]
        new = np.append(True, (low[1:] != low[:-1]) | (high[1:] != high[:-1]))[: low.size]
        if not new.all():
            first = np.flatnonzero(new)
            low, high, counts = low[first], high[first], np.add.reduceat(counts, first, axis=0)
        return cls(low, high, carried(np.ascontiguousarray(counts)))

    @classmethod
    def atoms(cls, counts: ThresholdCounts) -> Self:
        """Return a cell for each distinct score in counts of rows."""
        keys = FLOATS.encode(counts.thresholds[:0:-1].astype(np.float64) + 0.0)
        steps = np.stack((np.diff(counts.fps), np.diff(counts.tps)), axis=1)[::-1]
        return cls(keys, keys, np.ascontiguousarray(steps))

    @classmethod
    def of_rows(cls, keys: Keys, flags: NDArray[Any], units: Ints) -> Self:
        """Return a cell for each distinct key, from rows' keys, flags and units; units have shape (n_sums, n_rows)."""
        order = np.argsort(keys)
        keys, flags = keys[order], flags[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
        counts = np.empty((first.size, 2 * len(units)), np.int64)
        for k, each in enumerate(units):
            values = each[order]
            for flag in (0, 1):
                counts[:, 2 * k + flag] = np.add.reduceat(np.where(flags == flag, values, 0), first)
        return cls(keys[first], keys[first], carried(counts))

    @classmethod
    def between(cls, counts: ThresholdCounts, highest: int, squares: ThresholdCounts | None = None) -> Self:
        """Return one cell per threshold; each cell ends just below the next threshold, the topmost at `highest`.

        `squares` has integer sums of squared weights at the thresholds.
        """
        low = FLOATS.encode(counts.thresholds[:0:-1] + 0.0)
        high = np.append(low[1:] - np.uint64(1), np.uint64(highest))
        sums = [counts] if squares is None else [counts, squares]
        steps, *squared = (np.stack((np.diff(each.fps), np.diff(each.tps)), axis=1)[::-1] for each in sums)
        kept = steps.any(axis=1)
        columns = np.hstack([steps, *(limb for each in squared for limb in of_ones(each)[1:])])
        return cls(low[kept], high[kept][: low.size], np.ascontiguousarray(columns[kept]))

    def join(self, other: ScoreCells) -> ScoreCells:
        """Return the cells of both sets, with equal cells added up."""
        if not other.low.size or not self.low.size:
            return self if self.low.size else other
        most = self.low.size + other.low.size
        low, high = np.empty(most, np.uint64), np.empty(most, np.uint64)
        counts = np.empty((most, self.counts.shape[1]), np.int64)
        n = join_cells(self.low, self.high, self.counts, other.low, other.high, other.counts, low, high, counts)
        return ScoreCells(low[:n], high[:n], carried(counts[:n]))

    def with_squares(self, *, kept: bool) -> ScoreCells:
        """Return the same cells with or without squares; rows without a weight get weight 1."""
        if kept == (self.counts.shape[1] > 2):
            return self
        counts = of_ones(self.counts).transpose(1, 0, 2).reshape(-1, 6) if kept else self.counts[:, :2]
        return ScoreCells(self.low, self.high, np.ascontiguousarray(counts))

    def squares_at(
        self, counts: ThresholdCounts, keys: Keys, unit: float | None, sums: RowSums | None
    ) -> SquaredWeights | None:
        """Return sums of squared weights at the thresholds of `counts`, with each cell placed at its key in `keys`.

        Return None if no squares are kept, or if floats can't hold the sums.
        """
        if unit is None or sums is None or not 1 / USUAL_SUM < unit < USUAL_SUM:
            return None
        rows = np.searchsorted(-counts.thresholds, -FLOATS.decode(keys))
        gains = [as_floats(self.counts[:, 2 + flag], self.counts[:, 4 + flag]) for flag in (1, 0)]
        tps, fps = (np.cumsum(np.bincount(rows, gain, counts.tps.size)) for gain in gains)
        return squared_points(ThresholdCounts._unchecked(counts.thresholds, tps, fps), sums, unit)

    def coarsen(self, n_cells: int, cuts: Keys) -> ScoreCells:
        """Join neighbouring cells into about `n_cells` cells with similar numbers of rows.

        Atoms with many rows stay separate, and no joined cell spans any of `cuts`.
        """
        most = np.maximum(-(-self.totals // n_cells), 1)
        low, high, counts = np.empty_like(self.low), np.empty_like(self.high), np.empty_like(self.counts)
        parts = np.searchsorted(cuts, self.low, side="right"), np.searchsorted(cuts, self.high, side="right")
        n = join_neighbours(self.low, self.high, self.counts, *parts, most, low, high, counts)
        return ScoreCells.sort(low[:n], high[:n], counts[:n])

    @cached_property
    def totals(self) -> Ints:
        """Total numbers of negative and positive rows."""
        return np.array(
            [rows.sum() for rows in self.counts.T[:2]], dtype=np.int64
        )  # a sum along axis 0 takes ten times as long

    def count_rows(self, sums: RowSums | None, *, weighted: bool) -> tuple[int, int]:
        """Return the numbers of negative and positive rows; weighted rows count once per cell if `sums` is None."""
        if weighted and sums is not None:
            return sums.rows
        n_neg, n_pos = np.count_nonzero(self.counts[:, :2], axis=0) if weighted else self.totals
        return int(n_neg), int(n_pos)

    @property
    def are_atoms(self) -> bool:
        """Whether each cell is an atom, with a single score."""
        return bool((self.low == self.high).all())

    # The data sets that the cells stand for ---------------------------------------------------------------------------

    @cached_property
    def worst(self) -> ThresholdCounts:
        """Counts with each positive at the lowest score of its cell and each negative at the highest."""
        return self._counts_at(negatives=self.high, positives=self.low)

    @cached_property
    def best(self) -> ThresholdCounts:
        """Counts with each positive at the highest score of its cell and each negative at the lowest."""
        return self._counts_at(negatives=self.low, positives=self.high)

    @cached_property
    def at_cuts(self) -> ThresholdCounts:
        """Counts at the cuts: scores that no cell spans, where counts are exact."""
        first = np.append(True, self.low[1:] != self.low[:-1])[: self.low.size]
        cuts = np.flatnonzero(first & (self.low > self.reach[:-1]))[::-1]
        thresholds = np.append(np.inf, FLOATS.decode(self.low[cuts]))
        fps, tps = (np.append(0, self.from_cell[cuts, k]) for k in (0, 1))
        return ThresholdCounts._unchecked(thresholds, tps, fps)

    @cached_property
    def reach(self) -> Keys:
        """For each cell, the highest key of all cells before it; the last entry is the highest key of all cells."""
        return np.append(np.uint64(0), np.maximum.accumulate(self.high))

    @cached_property
    def from_cell(self) -> Ints:
        """For each cell, the numbers of rows by class in this and all later cells; the last entry is 0."""
        sums = np.zeros((self.low.size + 1, 2), dtype=np.int64)
        np.cumsum(self.counts[::-1, :2], axis=0, out=sums[-2::-1])
        return sums

    @cached_property
    def middle(self) -> ThresholdCounts:
        """Counts with all rows of a cell tied at the middle of its keys."""
        return self._counts_at(negatives=self.middle_keys, positives=self.middle_keys)

    @property
    def middle_keys(self) -> Keys:
        """The middle of each cell's keys."""
        return self.low + (self.high - self.low) // np.uint64(2)

    def _counts_at(self, *, negatives: Keys, positives: Keys) -> ThresholdCounts:
        scores = FLOATS.decode(np.concatenate((negatives, positives)))
        none = np.zeros(self.low.size, dtype=np.int64)
        rows = self.counts[:, 1], self.counts[:, 0]
        return count_by_score(scores, np.concatenate((none, rows[0])), np.concatenate((rows[1], none)))

    @cached_property
    def detail(self) -> Detail:
        """The finest detail at which the cells determine metrics.

        A metric that needs no finer detail has the same value, whatever scores the rows have within their cells.
        """
        wide = self.low < self.high
        if not wide.any():
            return Detail.THRESHOLDS
        if not self.totals.all():  # with one class, only metrics of probabilities depend on scores
            return Detail.POSITIVES
        if self._pairs_won(self.worst) != self._pairs_won(self.best):
            return Detail.CUTS
        return Detail.POLYLINE if (wide & (self.counts[:, 1] > 0)).any() else Detail.POSITIVES

    @staticmethod
    def _pairs_won(counts: ThresholdCounts) -> Any:
        """Return the area below the ROC polyline; if two polylines don't cross, equal areas mean equal polylines."""
        return None if one_class(counts) else exact_auc(counts)


def carried(counts: Ints) -> Ints:
    """Carry the overflow of sums of squared weights from the lower to the upper limb, in place; return `counts`.

    `squares.py` defines the limbs.
    """
    if counts.shape[1] > 2:
        carry(counts[:, 2:4], counts[:, 4:])
    return counts
