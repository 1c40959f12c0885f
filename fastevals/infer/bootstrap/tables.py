"""Replicates of counts: where metrics depend on a table alone, its cells are drawn, at a cost that no row adds to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["table_replicates"]


def table_replicates(
    counts: NDArray[np.int64], n_resamples: int, key: np.uint64, *, stratified: bool = False
) -> NDArray[np.int64]:
    """Draw as many rows as each table counts, with replacement, and count them anew.

    Parameters
    ----------
    counts : ndarray of int64 of shape (..., K, K)
        A confusion matrix, or a stack; each is drawn from by itself.
    n_resamples : int
        How often.
    key : uint64
        Of the streams; each cell has its own.
    stratified : bool
        Draw as many of each true class as there are of it.

    Returns
    -------
    ndarray of int64 of shape (n_resamples, ..., K, K)
        The first are the same whatever their number.
    """
    k = counts.shape[-1]
    groups = counts.reshape(-1, k) if stratified else counts.reshape(-1, k * k)
    drawn = np.zeros((n_resamples, *groups.shape), dtype=np.int64)
    for number, group in enumerate(groups):
        left, rows = int(group.sum()), np.full(n_resamples, group.sum())
        # A binomial a cell, the rarest first: no rounding of a large share falls on a small one, or on an empty cell.
        for cell in np.argsort(group, kind="stable")[np.count_nonzero(group == 0) :].tolist():
            bits = np.random.Philox(key=np.array([key, number * group.size + cell], dtype=np.uint64))
            size = int(group[cell])
            drawn[:, number, cell] = np.random.Generator(bits).binomial(rows, size / left)
            rows, left = rows - drawn[:, number, cell], left - size
    return drawn.reshape(n_resamples, *counts.shape)
