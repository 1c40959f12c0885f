"""Distinct values by sorting: since NumPy 2.3 `np.unique` hashes integers, which takes up to 200 times as long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def sorted_unique(values: ArrayLike) -> NDArray[Any]:
    """Return the distinct values in ascending order."""
    return np.unique(values, return_counts=True)[0]  # asking for counts makes it sort


def sorted_union(first: ArrayLike, second: ArrayLike) -> NDArray[Any]:
    """Return the distinct values of two arrays in ascending order."""
    return sorted_unique(np.concatenate((np.ravel(first), np.ravel(second))))
