"""Sorted keys of a class with an index, among which rows of others are placed; see `_kernels.placements`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.placements import index_keys
from fastevals.measure.codec import Keys

__all__ = ["LIMIT", "STRETCH", "Index"]

LIMIT = 2**30  # rows of a class: up to here doubled placements take 32 bits, and sums of kernels are exact
STRETCH = 1 << 14  # rows placed at a time, while their placements are in cache
CELLS = 1 << 14  # of an index: 8 or more for each binade that a float can have


class Index(NamedTuple):
    """Ascending keys of a class, and where to look for one: see `index_keys`."""

    keys: Keys
    low: np.uint64
    high: np.uint64
    shift: np.uint64
    bases: NDArray[np.int32]
    shifts: NDArray[np.uint8]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys) -> Index:
        """Index the keys."""
        cells = min(CELLS, 1 << keys.size.bit_length())
        tables = np.empty(cells, np.int32), np.empty(cells, np.uint8), np.empty(keys.size + cells + 1, np.int32)
        low, high, shift = map(np.uint64, index_keys(keys, *tables))
        return cls(keys, low, high, shift, *tables)
