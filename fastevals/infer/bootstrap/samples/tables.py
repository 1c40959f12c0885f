"""Replicates of counts: where metrics depend on few cells, those are drawn, at a cost that no row adds to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.random import stream_key

__all__ = ["draw_tables", "leave_out_table", "table_size"]

RARE = 1e-12  # chances below it are drawn as Poisson's, for NumPy before 2.4 lost them beside 1: no one could tell
TABLE = 1 << 18  # cells drawn together
MOST = 5000  # replicates drawn together, half the usual number


def table_size(n_cells: int) -> int:
    """Give the number of replicates that are drawn together, by the cells alone."""
    return max(1, min(TABLE // max(n_cells, 1), MOST))


def draw_tables(sizes: NDArray[np.int64], strata: Iterable[slice], number: int, key: np.uint64) -> NDArray[np.int64]:
    """Draw from each stratum as many rows as it has, with replacement, and count them anew.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each cell.
    strata : iterable of slice
        Cells that are drawn from by themselves.
    number : int
        Of the batch of `table_size` replicates: what is drawn depends on that size.
    key : uint64
        Of the stream.

    Returns
    -------
    ndarray of int64 of shape (table_size, n_cells)
        Exactly multinomial.
    """
    size = table_size(sizes.size)
    drawn = np.zeros((sizes.size, size), dtype=np.int64)  # sums over cells then run along replicates
    stream = _stream(key, number, 0)
    for part in strata:
        rows_of, out = sizes[part], drawn[part]
        left, rows = int(rows_of.sum()), np.full(size, rows_of.sum())
        # A binomial a cell, the rarest first: no rounding of a large share falls on a small one, or on an empty cell.
        for cell in np.argsort(rows_of, kind="stable")[np.count_nonzero(rows_of == 0) :].tolist():
            there = int(rows_of[cell])
            out[cell] = _binomial(stream, rows, there / left) if there < left else rows
            rows, left = rows - out[cell], left - there
    return drawn.T


def leave_out_table(sizes: NDArray[Any], number: int, key: np.uint64, n_groups: int) -> NDArray[Any]:
    """Give the rows of each cell without a random group of them, one of so many."""
    stream = _stream(key, number, 1)
    left_out = stream.binomial(sizes.astype(np.int64), 1 / n_groups)
    return np.asarray(sizes - left_out.astype(sizes.dtype))


def _binomial(stream: np.random.Generator, n: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
    """Draw numbers of successes, of a chance that may be tiny: Poisson's distribution is within it of the binomial."""
    return stream.binomial(n, chance) if chance >= RARE else np.minimum(stream.poisson(n * chance), n)


def _stream(key: np.uint64, number: int, purpose: int) -> np.random.Generator:
    """Give the generator of a batch."""
    return np.random.Generator(
        np.random.Philox(key=np.array([stream_key(key, np.uint64(number)), purpose], dtype=np.uint64))
    )
