"""A ranking as steps: what bootstrap draws are counted by, and metrics of a draw swept over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.replicates import fill_steps
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.registry import Detail

__all__ = ["Steps"]


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Positives and negatives from the highest threshold down, in as few cells as metrics need.

    Attributes
    ----------
    sizes : ndarray of shape (2, n_steps)
        Positives and negatives of each step: int32 (int64 from 2**31 on), float64 with weights.
    tied : ndarray of bool of shape (n_steps,)
        Whether they share a threshold; otherwise the positives come first.
    cuts : tuple of int
        Steps above each threshold that is fixed beforehand.
    thresholds : ndarray of shape (n_steps,) or None
        Of the steps, where their values count.
    of_row : ndarray of int32 of shape (n_thresholds + 1,)
        The step that each row of the threshold counts is in; -1 for row 0, which has none.
    """

    sizes: NDArray[Any]
    tied: NDArray[np.bool_]
    cuts: tuple[int, ...]
    thresholds: NDArray[Any] | None
    of_row: NDArray[np.int32]

    @classmethod
    def of(cls, counts: ThresholdCounts, detail: Detail, cut_rows: NDArray[np.intp] | None = None) -> Steps:
        """Take them from counts; `cut_rows` are the last rows above the thresholds that are fixed."""
        last = counts.thresholds.size - 1
        rows = np.zeros(0, dtype=np.intp) if cut_rows is None else cut_rows
        ends, place = np.unique(rows, return_inverse=True)
        swept = counts
        if detail == Detail.CUTS:
            kept = np.union1d(ends, [0, last])
            swept, ends = counts.take(kept), np.searchsorted(kept, ends)
        n = swept.thresholds.size - 1
        sizes, tied = np.zeros((2, n), dtype=counts.tps.dtype), np.zeros(n, dtype=np.bool_)
        of_row, cut_steps = np.full(n + 1, -1, dtype=np.int32), np.zeros(ends.size, dtype=np.int64)
        merge = detail in (Detail.POLYLINE, Detail.POSITIVES), detail == Detail.POLYLINE
        n_steps = fill_steps(swept.tps, swept.fps, *merge, ends, sizes, tied, of_row, cut_steps)
        if detail == Detail.CUTS:
            of_row = np.searchsorted(kept, np.arange(last + 1)).astype(np.int32) - 1
        small = counts.tps.dtype.kind != "f" and counts.n_pos + counts.n_neg < 2**31
        return cls(
            sizes[:, :n_steps].astype(np.int32 if small else sizes.dtype),
            tied[:n_steps].copy(),
            tuple(cut_steps[place].tolist()),
            counts.thresholds[1:] if detail == Detail.THRESHOLDS else None,
            np.asarray(of_row, dtype=np.int32),
        )

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
