"""How many units each part of a hold-out gets, in all and of each class, and how many a training set."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check

__all__ = [
    "NEITHER",
    "TEST",
    "TRAIN",
    "VALIDATION",
    "AskedSizes",
    "class_sizes",
    "training_size",
    "training_sizes",
]

TRAIN, TEST, VALIDATION, NEITHER = range(4)  # the codes of the parts

SLACK = 1e-14  # of a product of floats
Ints = NDArray[np.int64]
Size = int | float
Cells = tuple[list[int], list[int]]


class AskedSizes(NamedTuple):
    """Shares or numbers of units, as asked for."""

    test_size: Size
    validation_size: Size | None
    train_size: Size | None

    def of(self, n: int, unit: str) -> Ints:
        """Give the units of each part, by its code, of n in all.

        As scikit-learn's: a share is rounded up for test and validation, down for training.
        """
        sizes = {"test": units_of(self.test_size, n, math.ceil)}
        if self.validation_size is not None:
            sizes["validation"] = units_of(self.validation_size, n, math.ceil)
        rest = n - sum(sizes.values())
        train = rest if self.train_size is None else units_of(self.train_size, n, math.floor)
        if isinstance(self.train_size, float):
            train = min(train, rest)  # all other shares were rounded up
        sizes["training"] = train
        check.check_part_sizes(sizes, n, unit, self._asdict())
        return np.array([train, sizes["test"], sizes.get("validation", 0), rest - train])


def units_of(size: Size, n: int, rounded: Callable[[float], int]) -> int:
    """Give a number of units, or a share of n as one."""
    if isinstance(size, int):
        return size
    exact = size * n
    near = round(exact)
    return near if abs(exact - near) <= SLACK * exact else rounded(exact)  # 0.07 of 100 is 7, though not in floats


def training_size(name: str, value: Any, n: int, *, most: int | None = None) -> int:
    """Give the units of a training set: a number of them, up to `most`, or a share of n rounded down, at least 1."""
    return max(units_of(check.as_share_or_count(name, value, whole=True, most=most), n, math.floor), 1)


def training_sizes(name: str, values: Any, size: Callable[[str, Any], int], of: str) -> list[int]:
    """Give several sizes, ascending: each value's `size`, which must differ; `of` says what they are shares of."""
    given = check.as_values(name, values)
    found = [size(name, value) for value in given]
    check.check_sizes_differ(name, given, found, of)
    return sorted(found)


def class_sizes(sizes: Ints, parts: Ints) -> Ints:
    """Share out whole parts of n units over classes: each number is its exact share n_c n_p / n, rounded up or down.

    The shares of a class, and those of a part, add up to whole numbers. While some have fractions, there is a cycle
    through cells with fractions, in turn in one class and in one part; along it as much is added and taken off in turn
    as makes one of them whole, and all sums stay as they are. Such a rounding always exists: Bacharach (1966),
    doi:10.1287/mnsc.12.9.732.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_classes,)
        Units of each class.
    parts : ndarray of int of shape (n_parts,)
        Units of each part; of the same sum n.
    """
    n = sum(sizes.tolist())
    whole, over = np.divmod(np.outer(sizes.astype(np.uint64), parts.astype(np.uint64)), np.uint64(n))  # below 2**64
    counts, over = whole.astype(np.int64), over.astype(np.int64)
    while (cycle := _cycle((over > 0) & (over < n))) is not None:
        up, down = sorted(cycle, key=lambda cells: -over[cells].sum())
        step = min((n - over[up]).min(), over[down].min())
        over[up] += step
        over[down] -= step
    counts += over // n
    return counts


def _cycle(open_cells: NDArray[np.bool_]) -> tuple[Cells, Cells] | None:
    """Give the cells of a cycle, every other one: a class and a part with an open cell have another one."""
    if not open_cells.any():
        return None
    row = int(np.argmax(open_cells.any(axis=1)))
    part = int(np.argmax(open_cells[row]))
    rows, parts = [row], [part]  # cell i of the way: rows[i], parts[i], and then rows[i + 1], parts[i]
    while True:
        row = _other(open_cells[:, part], row)
        part = _other(open_cells[row], part)
        rows.append(row)
        parts.append(part)
        if part in parts[:-1]:
            start = parts.index(part)
            rows, parts = rows[start + 1 :], parts[start:]
            return (rows, parts[:-1]), (rows, parts[1:])


def _other(marked: NDArray[np.bool_], than: int) -> int:
    """Give the first that is marked other than one."""
    marked = marked.copy()
    marked[than] = False
    return int(np.argmax(marked))
