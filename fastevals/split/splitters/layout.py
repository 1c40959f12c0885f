"""What a split deals out: rows, or whole groups, class by class where it is stratified, and how many to each part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import as_groups, check_groups_of_one_class, check_resampled_rows
from fastevals._validation.options import listed, show
from fastevals.counting.labels import number_labels
from fastevals.split.checks import (
    as_share_or_count,
    as_strata,
    as_values,
    check_class_units,
    check_same_rows,
    check_split_units,
)

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
        """Return the units of each part, by its code, of n in all.

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
        _check_part_sizes(sizes, n, unit, self._asdict())
        return np.array([train, sizes["test"], sizes.get("validation", 0), rest - train])


def units_of(size: Size, n: int, rounded: Callable[[float], int]) -> int:
    """Return a number of units, or a share of n as one."""
    if isinstance(size, int):
        return size
    exact = size * n
    near = round(exact)
    return near if abs(exact - near) <= SLACK * exact else rounded(exact)  # 0.07 of 100 is 7, though not in floats


def training_size(name: str, value: Any, n: int, *, most: int | None = None) -> int:
    """Return the units of a training set: a number of them, up to `most`, or a share of n rounded down, at least 1."""
    return max(units_of(as_share_or_count(name, value, whole=True, most=most), n, math.floor), 1)


def training_sizes(name: str, values: Any, size: Callable[[str, Any], int], of: str) -> list[int]:
    """Return several sizes, ascending: each value's `size`, which must differ; `of` says what they are shares of."""
    given = as_values(name, values)
    found = [size(name, value) for value in given]
    _check_sizes_differ(name, given, found, of)
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
    """Return the cells of a cycle, every other one: a class and a part with an open cell have another one."""
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
    """Return the first that is marked other than one."""
    marked = marked.copy()
    marked[than] = False
    return int(np.argmax(marked))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_sizes_differ(name: str, values: Sequence[Any], sizes: Sequence[int], of: str) -> None:
    """Raise unless sizes were given as shares of all or as counts, not both, and differ."""
    if len({isinstance(each, float) for each in values}) > 1:
        raise ValueError(f"{name} must all be shares (floats) or all counts (integers), got {show(values)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"{name} must differ; of {of} they are {listed(sizes)}")


def _check_part_sizes(sizes: dict[str, int], n: int, of: str, given: dict[str, Any]) -> None:
    """Raise unless each part of n units has one at least, and all together no more than there are."""
    asked = ", ".join(f"{name}={show(size)}" for name, size in given.items() if size is not None)
    for part, size in sizes.items():
        if size < 1:
            raise ValueError(f"{asked} leaves the {part} part of {n} {of} empty")
    if sum(sizes.values()) > n:
        raise ValueError(f"{asked} takes {sum(sizes.values())} {of}, but there are {n}")


Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Units, and the strata they are in.

    Strata, and groups, are in the order of their first rows: what is drawn does not depend on their names.

    Attributes
    ----------
    n_samples : int
        Rows.
    of_row : ndarray of uint32 of shape (n_samples,), optional
        The unit of each row; without it each row is one.
    order : ndarray of uint32 of shape (n_units,) or (0,)
        Units, those of a stratum one after another; empty: as they are.
    starts, sizes : ndarray of int64 of shape (n_strata,)
        Where in `order` each stratum's units start, and how many they are.
    labels : ndarray of shape (n_strata,)
        The classes that the strata are of; empty for a single one of all.
    """

    n_samples: int
    of_row: Numbers | None
    order: Numbers
    starts: Ints
    sizes: Ints
    labels: NDArray[Any]

    @classmethod
    def of(cls, n_samples: int, groups: Any, y: Any = None, *, stratified: bool = False) -> Layout:
        """Lay out the rows, or their groups; stratified each group must be of one class."""
        check_resampled_rows("X", n_samples)
        of_row, n_units, codes = None, n_samples, None
        if stratified:
            labels, codes = number_classes(y, n_samples)
        if groups is not None:
            array = _as_row_groups("groups", groups, n_samples)
            of_row, first = _number_groups(array)
            n_units = first.size
            if codes is not None:
                check_groups_of_one_class("groups", array, codes, codes[first][of_row])
                codes = codes[first]
        if codes is None:
            alone = np.zeros(1, dtype=np.int64)
            return cls(n_samples, of_row, np.empty(0, np.uint32), alone, alone + n_units, np.empty(0))
        sizes = np.bincount(codes)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(codes.astype(np.uint16), kind="stable").astype(np.uint32)  # a radix sort
        seen = np.argsort(order[starts])
        return cls(n_samples, of_row, order, starts[seen], sizes[seen], labels[seen])

    @property
    def n_units(self) -> int:
        """Rows, or groups."""
        return int(self.sizes.sum())

    @property
    def unit(self) -> str:
        """What errors call units."""
        return "rows" if self.of_row is None else "groups"

    def check_sizes(self, least: int, because: str) -> None:
        """Raise unless there are so many units, and as many of each class."""
        check_split_units(self.n_units, self.unit, least, because)
        if self.labels.size:
            check_class_units(self.sizes, self.labels, self.unit, least, because)


def number_classes(y: Any, n_samples: int) -> tuple[NDArray[Any], Ints]:
    """Return the classes, in order, and the number of each row's."""
    labels, (codes,) = number_labels("y", [as_strata("y", y, n_samples)])
    return labels, codes.astype(np.int64, copy=False)


def _number_groups(groups: NDArray[Any]) -> tuple[Numbers, Ints]:
    """Return the number of each row's group, and the first row of each group."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    seen = np.argsort(first)
    number = np.empty(seen.size, dtype=np.uint32)
    number[seen] = np.arange(seen.size, dtype=np.uint32)
    return number[inverse], first[seen]


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_row_groups(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return the group of each row."""
    array = as_groups(name, values)
    check_same_rows(rows=range(n), **{name: array})
    return array
