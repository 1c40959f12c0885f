"""Steps of the ROC staircase, which are the cells that replicates of rankings draw: as few as the metrics need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._kernels.steps import fill_steps
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.row_samples import Times
from fastevals.measure.registry import Detail


class SortedRows(NamedTuple):
    """Rows in the order of their cells: positives first, each class by descending score."""

    scores: NDArray[Any]
    negative: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None

    def at_the_highest_score(self, times: Times) -> float:
        """Return the number, or weight, of drawn rows that share the highest score drawn."""
        drawn = np.flatnonzero(times[: self.scores.size])
        if not drawn.size:
            return 0.0
        rows = drawn[self.scores[drawn] == self.scores[drawn].max()]
        return float((times[rows] * (1.0 if self.weights is None else self.weights[rows])).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of the ROC staircase by descending threshold, as few as the metrics need.

    Thresholds that no metric distinguishes form one step. Depending on `Detail`, a step has all thresholds between two
    fixed thresholds; or positives with the negatives after them, up to the next corner of the polyline; or all
    negatives between positives.
    """

    sizes: NDArray[Any]  # (2, n_steps) positives and negatives, in the smallest dtype for draw counts
    tied: NDArray[np.bool_]  # whether a step is a single threshold; otherwise its positives come first
    cuts: tuple[int, ...]  # number of steps above each fixed threshold
    thresholds: NDArray[np.float64] | None  # thresholds of the steps, if their values matter
    step_by_row: NDArray[np.int32]  # step of each row of the threshold counts, except row 0; empty unless needed

    def cells(self, ranks: NDArray[np.intp], negative: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the cells of rows, given the rank of their score and their class."""
        return np.asarray(self.step_by_row[1 + ranks] + negative * self.tied.size)

    def sorted_cells(self) -> SortedRows:
        """Return one row per cell, with the threshold of its step."""
        assert self.thresholds is not None
        return SortedRows(np.tile(self.thresholds, 2), np.repeat([False, True], self.tied.size))

    @classmethod
    def from_counts(
        cls, counts: ThresholdCounts, detail: Detail, cut_rows: Sequence[int] = (), *, rows: bool = False
    ) -> Steps:
        """Merge thresholds into steps; `cut_rows` has, for each fixed threshold, the last row of counts above it."""
        last = counts.thresholds.size - 1
        ends, place = np.unique(np.asarray(cut_rows, dtype=np.int64), return_inverse=True)
        step_by_row = np.zeros(last + 1 if rows else 0, dtype=np.int32)
        swept = counts
        if detail == Detail.CUTS:
            kept = sorted_union(ends, [0, last])
            swept, ends = counts.take(kept), np.searchsorted(kept, ends)
            step_by_row[:] = np.searchsorted(kept, np.arange(step_by_row.size)) - 1
        written = step_by_row if detail != Detail.CUTS else step_by_row[:0]
        cut_steps = np.zeros(ends.size, dtype=np.int64)
        merge = detail in (Detail.POLYLINE, Detail.POSITIVES), detail == Detail.POLYLINE
        walk = partial(fill_steps, swept.tps, swept.fps, *merge, ends, cut_steps, written)
        usual = _count_dtype(counts, 0)  # the dtype that most counts end with, so that the kernel is compiled once
        n_steps, largest = walk(np.empty((2, 0), dtype=usual), np.empty(0, dtype=np.bool_))
        sizes = np.empty((2, n_steps), dtype=_count_dtype(counts, largest))
        tied = np.empty(n_steps, dtype=np.bool_)
        walk(sizes, tied)
        values = counts.thresholds[1:].astype(np.float64) if detail == Detail.THRESHOLDS else None
        return cls(sizes, tied, tuple(cut_steps[place].tolist()), values, step_by_row)

    def threshold_counts(self, counts: NDArray[Any]) -> ThresholdCounts:
        """Return the curve of a replicate from its counts per cell; thresholds without a value are ranks."""
        positives, negatives = counts
        wide = np.float64 if counts.dtype.kind == "f" else np.int64
        tps, fps = np.cumsum(positives, dtype=wide), np.cumsum(negatives, dtype=wide)
        thresholds = self.thresholds
        if thresholds is None:
            corners = np.stack((fps - np.where(self.tied, 0, negatives), fps), axis=1)
            tps, fps = np.repeat(tps, 2), corners.ravel()
        moved = np.flatnonzero((np.diff(tps, prepend=0) != 0) | (np.diff(fps, prepend=0) != 0))
        values = np.arange(moved.size, 0, -1, dtype=np.float64) if thresholds is None else thresholds[moved]
        zero = np.zeros(1, dtype=wide)
        return ThresholdCounts._unchecked(
            np.concatenate(([np.inf], values)), np.concatenate((zero, tps[moved])), np.concatenate((zero, fps[moved]))
        )


CELL_ROWS = 1 << 14  # a cell of up to so many rows never gets 4 times as many draws: the probability is below 1e-10,000


def _count_dtype(counts: ThresholdCounts, largest: float) -> type[np.generic]:
    """Return the smallest dtype for the draw counts of cells of at most `largest` rows."""
    if counts.tps.dtype.kind == "f":
        return np.float64
    if largest <= CELL_ROWS:
        return np.uint16
    return np.int32 if counts.n_pos + counts.n_neg < 2**31 else np.int64
