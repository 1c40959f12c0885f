"""Binomial counts of chance 1/2: how many rows of a cell keep their outputs where each is swapped or not."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.permutation import draw_fair_binomials, fill_keys

__all__ = ["BinomialDraws", "chances_of_half"]

FAR = 9.5  # standard deviations: what is further off has a chance below 2**-64


def chances_of_half(n: int, low: int = 0) -> NDArray[np.float64]:
    """Give the chances of `low` to ``n - low`` heads among n."""
    middle = (n + 1) // 2
    k = np.arange(middle, n - low, dtype=np.float64)
    upper = np.cumprod(np.concatenate(([1.0], (n - k) / (k + 1))))  # from the middle out: none overflows
    whole = np.concatenate((upper[::-1] if n % 2 else upper[:0:-1], upper))
    return np.asarray(whole / whole.sum())


class BinomialDraws:
    """Draws the counts of cells of given sizes, for many permutations at once.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of the cells, at least 1.
    """

    __slots__ = ("_of_cell", "_tables")

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        distinct, self._of_cell = np.unique(sizes, return_inverse=True)
        lows, limits, guides, shifts = [], [], [], []
        for n in distinct.tolist():
            low = max(0, math.floor(n / 2 - FAR * math.sqrt(n) / 2))
            below = np.cumsum(chances_of_half(n, low))[:-1]
            numbers = np.ldexp(below[(below >= 2.0**-64) & (below < 1)], 64).astype(np.uint64)
            lows.append(low + int(np.searchsorted(below, 2.0**-64)))
            limit = np.append(numbers - np.uint64(1), np.uint64(2**64 - 1))
            bits = max(limit.size.bit_length() - 2, 1)
            shifts.append(64 - bits)
            guides.append(np.searchsorted(limit, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)))
            limits.append(limit)
        starts = [np.cumsum([0, *map(len, parts[:-1])]) for parts in (limits, guides)]
        self._tables = (
            np.array(lows), np.concatenate(limits), np.concatenate(guides).astype(np.uint32), np.array(shifts), *starts
        )  # fmt: skip

    def draw(self, key: np.uint64, numbers: range) -> NDArray[np.int64]:
        """Give the counts in permutations of these numbers, of shape (n_cells, n)."""
        keys = np.empty(len(numbers), dtype=np.uint64)
        fill_keys(key, numbers.start, keys)
        drawn = np.empty((self._of_cell.size, keys.size), dtype=np.int64)
        draw_fair_binomials(self._of_cell, *self._tables, keys, drawn)
        return drawn
