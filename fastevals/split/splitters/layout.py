"""What a split deals out: rows, or groups of them that are kept whole, class by class where it is stratified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.label_codes import number_labels

__all__ = ["Layout", "number_classes"]

Ints = NDArray[np.int64]
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
        check.check_resampled_rows("X", n_samples)
        of_row, n_units, codes = None, n_samples, None
        if stratified:
            labels, codes = number_classes(y, n_samples)
        if groups is not None:
            array = check.as_row_groups("groups", groups, n_samples)
            of_row, first = _number_groups(array)
            n_units = first.size
            if codes is not None:
                check.check_groups_of_one_class("groups", array, codes, codes[first][of_row])
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
        check.check_split_units(self.n_units, self.unit, least, because)
        if self.labels.size:
            check.check_class_units(self.sizes, self.labels, self.unit, least, because)


def number_classes(y: Any, n_samples: int) -> tuple[NDArray[Any], Ints]:
    """Give the classes, in order, and the number of each row's."""
    labels, (codes,) = number_labels("y", [check.as_strata("y", y, n_samples)])
    return labels, codes.astype(np.int64, copy=False)


def _number_groups(groups: NDArray[Any]) -> tuple[Numbers, Ints]:
    """Give the number of each row's group, and the first row of each group."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    seen = np.argsort(first)
    number = np.empty(seen.size, dtype=np.uint32)
    number[seen] = np.arange(seen.size, dtype=np.uint32)
    return number[inverse], first[seen]
