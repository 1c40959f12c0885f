"""A ranking as steps: what bootstrap draws are counted by, and metrics of a draw swept over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.replicates import fill_steps
from fastevals.measure.counts import ThresholdCounts

__all__ = ["Steps"]


class Steps(NamedTuple):
    """Positives and negatives from the highest threshold down, in as few cells as metrics need.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (2 * n_steps,)
        Positives and negatives of each step in turn.
    tied : ndarray of bool of shape (n_steps,)
        Whether they share a threshold; otherwise the positives come first.
    """

    sizes: NDArray[np.int64]
    tied: NDArray[np.bool_]

    @classmethod
    def of(cls, counts: ThresholdCounts, *, merge_positives: bool) -> Steps:
        """Take them from whole counts; positives that no negative parts are one only if `merge_positives`."""
        n = counts.thresholds.size - 1
        sizes, tied = np.zeros(2 * n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        n_steps = fill_steps(counts.tps, counts.fps, merge_positives, sizes, tied)
        return cls(sizes[: 2 * n_steps].copy(), tied[:n_steps].copy())

    def threshold_counts(self, counts: NDArray[np.int64]) -> ThresholdCounts:
        """Give a replicate's curve, of what `counts` has of each cell: its corners, at thresholds that are ranks."""
        positives, negatives = counts[::2], counts[1::2]
        fp = np.cumsum(negatives)
        corners = np.stack((fp - np.where(self.tied, 0, negatives), fp), axis=1)
        tps, fps = np.repeat(np.cumsum(positives), 2), corners.ravel()
        moved = np.flatnonzero(np.diff(tps, prepend=0) + np.diff(fps, prepend=0))
        thresholds = np.concatenate(([np.inf], np.arange(moved.size, 0, -1, dtype=np.float64)))
        return ThresholdCounts(thresholds, np.append(0, tps[moved]), np.append(0, fps[moved]))
