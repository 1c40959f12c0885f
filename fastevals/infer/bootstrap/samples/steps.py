"""A ranking as steps: what bootstrap draws are counted by, and metrics of a draw swept over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.steps import fill_steps
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.registry import Detail

__all__ = ["Steps"]

SMALL = 1 << 14  # rows of a cell of which 4 times as many are never drawn: the chance is below 1e-10,000


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Positives and negatives from the highest threshold down, in as few cells as metrics need.

    Attributes
    ----------
    sizes : ndarray of shape (2, n_steps)
        Positives and negatives of each step: uint16 where replicates surely fit, or int32, int64; float64 with weights.
    tied : ndarray of bool of shape (n_steps,)
        Whether they share a threshold; otherwise the positives come first.
    cuts : tuple of int
        Steps above each threshold that is fixed beforehand.
    thresholds : ndarray of float64 of shape (n_steps,) or None
        Of the steps, where their values count.
    of_row : ndarray of int32 of shape (n_thresholds + 1,), or empty
        The step that each row of the threshold counts is in, but for row 0; where it was asked for.
    """

    sizes: NDArray[Any]
    tied: NDArray[np.bool_]
    cuts: tuple[int, ...]
    thresholds: NDArray[np.float64] | None
    of_row: NDArray[np.int32]

    @classmethod
    def of(cls, counts: ThresholdCounts, detail: Detail, cut_rows: Sequence[int] = (), *, rows: bool = False) -> Steps:
        """Take them from counts; `cut_rows` are the last rows above the thresholds that are fixed."""
        last = counts.thresholds.size - 1
        ends, place = np.unique(np.asarray(cut_rows, dtype=np.int64), return_inverse=True)
        of_row = np.zeros(last + 1 if rows else 0, dtype=np.int32)
        swept = counts
        if detail == Detail.CUTS:
            kept = np.union1d(ends, [0, last])
            swept, ends = counts.take(kept), np.searchsorted(kept, ends)
            of_row[:] = np.searchsorted(kept, np.arange(of_row.size)) - 1
        into = of_row if detail != Detail.CUTS else of_row[:0]
        cut_steps = np.zeros(ends.size, dtype=np.int64)
        merge = detail in (Detail.POLYLINE, Detail.POSITIVES), detail == Detail.POLYLINE
        walk = partial(fill_steps, swept.tps, swept.fps, *merge, ends, cut_steps, into)
        n_steps, largest = walk(np.empty((2, 0), dtype=np.int32), np.empty(0, dtype=np.bool_))
        sizes = np.empty((2, n_steps), dtype=_dtype(counts, largest))
        tied = np.empty(n_steps, dtype=np.bool_)
        walk(sizes, tied)
        values = counts.thresholds[1:].astype(np.float64) if detail == Detail.THRESHOLDS else None
        return cls(sizes, tied, tuple(cut_steps[place].tolist()), values, of_row)

    def threshold_counts(self, counts: NDArray[Any]) -> ThresholdCounts:
        """Give a replicate's curve, of what `counts` has of each cell; ranks stand for thresholds of no value."""
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
        return ThresholdCounts(
            np.concatenate(([np.inf], values)),
            np.concatenate((zero, tps[moved])),
            np.concatenate((zero, fps[moved])),
        )


def _dtype(counts: ThresholdCounts, largest: float) -> type[np.generic]:
    """Give the least type that holds what is drawn of a cell, of which the largest has so many rows."""
    if counts.tps.dtype.kind == "f":
        return np.float64
    if largest <= SMALL:
        return np.uint16
    return np.int32 if counts.n_pos + counts.n_neg < 2**31 else np.int64
