"""What splitters draw from: rows, or whole groups of them, class by class where a splitter is stratified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import as_groups, check_groups_of_one_class, check_resampled_rows
from fastevals.counting.labels import number_labels
from fastevals.split.checks import as_strata, check_class_units, check_same_rows, check_split_units

Ints = NDArray[np.int64]
Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class SamplingFrame:
    """The units that are drawn, and the strata that they are drawn from.

    A unit is a row, or a whole group of rows; a stratum is a class, or all units. Strata and groups are in the order of
    their first rows, so that what is drawn does not depend on their names.

    Attributes
    ----------
    n_samples : int
        Rows.
    row_units : ndarray of uint32 of shape (n_samples,), optional
        The unit of each row; without it each row is one.
    order : ndarray of uint32 of shape (n_units,) or (0,)
        Units, those of a stratum one after another; empty: as they are.
    starts, sizes : ndarray of int64 of shape (n_strata,)
        Where in `order` each stratum's units start, and how many they are.
    labels : ndarray of shape (n_strata,)
        The classes that the strata are of; empty for a single one of all.
    """

    n_samples: int
    row_units: Numbers | None
    order: Numbers
    starts: Ints
    sizes: Ints
    labels: NDArray[Any]

    @classmethod
    def from_rows(cls, n_samples: int, groups: Any, y: Any = None, *, stratified: bool = False) -> SamplingFrame:
        """Return the frame of the rows, or of their groups; stratified each group must be of one class."""
        check_resampled_rows("X", n_samples)
        row_units, n_units, codes = None, n_samples, None
        if stratified:
            labels, codes = number_classes(y, n_samples)
        if groups is not None:
            array = _as_row_groups("groups", groups, n_samples)
            row_units, first_rows = _number_groups(array)
            n_units = first_rows.size
            if codes is not None:
                check_groups_of_one_class("groups", array, codes, codes[first_rows][row_units])
                codes = codes[first_rows]
        if codes is None:
            start = np.zeros(1, dtype=np.int64)
            return cls(n_samples, row_units, np.empty(0, np.uint32), start, start + n_units, np.empty(0))
        sizes = np.bincount(codes)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(codes.astype(np.uint16), kind="stable").astype(np.uint32)  # a radix sort
        as_seen = np.argsort(order[starts])  # strata in the order of their first units
        return cls(n_samples, row_units, order, starts[as_seen], sizes[as_seen], labels[as_seen])

    @property
    def n_units(self) -> int:
        """Rows, or groups."""
        return int(self.sizes.sum())

    @property
    def unit(self) -> str:
        """What errors call units."""
        return "rows" if self.row_units is None else "groups"

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


def _as_row_groups(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return the group of each row."""
    array = as_groups(name, values)
    check_same_rows(rows=range(n), **{name: array})
    return array
