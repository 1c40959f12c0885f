"""Cells of rows that bootstrap draws are counted by."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.draws import LARGEST_PIECE, ROW_BLOCK, ROW_LIMITS, draw_cells, draw_rows

__all__ = ["Rows", "Urn", "row_limits"]

Counts = NDArray[np.uint16] | NDArray[np.int32] | NDArray[np.int64]

SIGMAS = 2.0  # a Poisson total is above n in 2 % of tries, and leaves 2 standard deviations of rows to draw one by one
FEWEST = 16  # rows; fewer are drawn one by one
CELLS_PER_BLOCK = 16  # that the index from a row to its cell leaves to be walked through


@lru_cache(maxsize=8)
def _poisson_tables(rate: float) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Give, for cells of 0 up to `LARGEST_PIECE` rows, cumulative probabilities (of 2**-64, less one) and guides.

    Only ratios of probabilities matter for what is drawn, given the total: 53 bits of them are exact.
    """
    if not rate:
        return np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint8)
    from scipy.special import pdtr

    means = rate * np.arange(LARGEST_PIECE + 1)
    counts = np.arange(LARGEST_PIECE + 12 * math.isqrt(LARGEST_PIECE) + 40)
    cumulative = pdtr(counts, means[:, None])
    tables = np.full(cumulative.shape, 2**64 - 1, dtype=np.uint64)
    below = cumulative < 1
    tables[below] = np.ldexp(cumulative[below], 64).astype(np.uint64) - np.uint64(1)
    starts = np.arange(256, dtype=np.uint64) << np.uint64(56)
    guides = np.stack([np.searchsorted(table, starts) for table in tables])
    return tables, guides.astype(np.uint8)


def _usual_rate(n: int) -> float:
    return 1 - SIGMAS / math.sqrt(n) if n >= FEWEST else 0.0


class Urn:
    """Rows in cells; a draw takes as many rows as there are, with replacement, and counts them by cell.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_cells,)
        Rows of each cell, fewer than 2**32 in all.
    rate : float, optional
        Mean of a row's Poisson count, below 1; 0 draws all rows one by one. What is drawn has the same distribution.
    """

    __slots__ = ("_cells", "_guides", "_shift", "_starts", "_tables", "n", "sizes")

    def __init__(self, sizes: Counts, rate: float | None = None) -> None:
        self.sizes = np.ascontiguousarray(sizes)
        ends = np.cumsum(sizes, dtype=np.int64)
        self.n = int(ends[-1])
        self._tables, self._guides = _poisson_tables(_usual_rate(self.n) if rate is None else rate)
        self._shift = (self.n * CELLS_PER_BLOCK // sizes.size).bit_length()
        blocks = np.arange((self.n >> self._shift) + 1) << self._shift
        self._cells = np.searchsorted(ends, blocks, side="right")
        self._starts = np.append(0, ends)[self._cells]

    def draw(self, key: np.uint64, counts: Counts) -> None:
        """Write how many rows of each cell a draw takes: exactly multinomial, the same for the same key."""
        blocks = self._cells, self._starts, self._shift
        draw_cells(self.sizes, self.n, *blocks, self._tables, self._guides, key, counts)

    def __repr__(self) -> str:
        return f"Urn({self.sizes.size} cells, {self.n} rows)"


def row_limits(n: int, rate: float | None = None) -> NDArray[np.uint32]:
    """Give the limits that `draw_rows` takes for n rows, of shape (12,), or none where they are drawn one by one."""
    from scipy.special import pdtr

    rate = _usual_rate(n) if rate is None else rate
    limits = np.minimum(np.ldexp(pdtr(np.arange(ROW_LIMITS if rate else 0), rate), 32) - 1, 2**32 - 1)
    return np.asarray(limits, dtype=np.uint32)


class Rows:
    """Rows each by itself: where weights, groups or several models need to know which were drawn.

    Parameters
    ----------
    n : int
        Rows, fewer than 2**32.
    rate : float, optional
        As for `Urn`.
    """

    __slots__ = ("_limits", "n")

    def __init__(self, n: int, rate: float | None = None) -> None:
        self.n = n
        self._limits = row_limits(n, rate)

    def draw(self, key: np.uint64, counts: NDArray[np.uint8]) -> None:
        """Write how often a draw takes each row: exactly multinomial, the same for the same key."""
        draw_rows(self._limits, key, np.empty(ROW_BLOCK // 2, dtype=np.uint64), counts)

    def __repr__(self) -> str:
        return f"Rows({self.n})"
