"""Replicates of rows that are drawn by name: where they have weights or groups, or several models share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.draws import WORD_BLOCK, count_drawn, sum_drawn, take_drawn
from fastevals._kernels.random import stream_key
from fastevals.infer.bootstrap.samples.base import MOST, WORK, Sample
from fastevals.infer.bootstrap.samples.urn import Rows

__all__ = ["CellCounter", "UnitSample", "Units"]

Times = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn: rows, or whole groups of them.

    Attributes
    ----------
    of_row : ndarray of uint32 of shape (n_rows,)
        The unit of each row.
    strata : tuple of int
        Units of each stratum, which come one after another and are drawn from by themselves.
    grouped : bool
        Whether a unit may have more than one row.
    """

    of_row: NDArray[np.uint32]
    strata: tuple[int, ...]
    grouped: bool

    @classmethod
    def of(cls, n_rows: int, groups: Any, classes: NDArray[Any] | None) -> Units:
        """Number the rows, or the groups they are in, class by class where they are drawn so."""
        if groups is None:
            numbers = np.arange(n_rows)
            of_class = classes
        else:
            values, first, numbers = np.unique(groups, return_index=True, return_inverse=True)
            check.check_several_groups("groups", values)
            of_class = None if classes is None else classes[first]
            if classes is not None and of_class is not None:
                check.check_groups_of_one_class("groups", groups, classes, of_class[numbers])
        if of_class is None:
            return cls(numbers.astype(np.uint32), (int(numbers.max()) + 1,), groups is not None)
        order = np.argsort(of_class, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        strata = np.unique(of_class, return_counts=True)[1]
        return cls(place[numbers].astype(np.uint32), tuple(strata.tolist()), groups is not None)

    def numbered(self, rows: NDArray[np.intp]) -> Units:
        """Number rows that are not in groups in another order, of the same strata."""
        of_row = np.empty_like(self.of_row)
        of_row[rows] = np.arange(rows.size, dtype=np.uint32)
        return Units(of_row, self.strata, self.grouped)

    @property
    def n(self) -> int:
        """Units in all."""
        return sum(self.strata)


def padded(n: int) -> Times:
    """Give n zero bytes, and up to 7 more: whole words of 8."""
    return np.zeros(-(-n // 8) * 8, dtype=np.uint8)


class CellCounter:
    """Rows sorted into cells, whose draws are counted, or summed where rows have weights or groups.

    Parameters
    ----------
    rows : ndarray of int of shape (n_rows,)
        All rows, in such an order that cells ascend.
    cells : ndarray of int of shape (n_rows,)
        The cell of each of these.
    n_cells : int
        How many there are.
    units : Units
        What is drawn.
    weights : ndarray of shape (n_rows,), optional
        Of the rows, in their own order.

    Attributes
    ----------
    sums : bool
        Whether counts are sums of floats.
    """

    __slots__ = ("_before", "_ends", "_order", "_weights", "sums")

    def __init__(
        self,
        rows: NDArray[np.intp],
        cells: NDArray[Any],
        n_cells: int,
        units: Units,
        weights: NDArray[np.float64] | None,
    ) -> None:
        self._ends = np.cumsum(np.bincount(cells, minlength=n_cells)).astype(np.uint32)
        self._order: NDArray[np.uint32] | None = units.of_row[rows]
        self._weights = None
        if weights is not None or units.grouped:  # a group's rows may be drawn 256 times and more
            self._weights = np.ones(rows.size) if weights is None else weights[rows]
        self.sums = self._weights is not None
        stops = np.arange(1, -(-rows.size // (8 * WORD_BLOCK)) + 1) * (8 * WORD_BLOCK)
        self._before = np.concatenate(([0], np.searchsorted(self._ends, stops, side="right")))
        if units.n == rows.size and (self._order == np.arange(rows.size, dtype=np.uint32)).all():
            self._order = None  # rows are in the order of the units already

    def scratch(self) -> Times:
        """Give the working memory of one thread."""
        return padded(0 if self._order is None else self._order.size)

    def count(self, times: Times, drawn: Times, counts: NDArray[Any]) -> None:
        """Write how many rows of each cell were drawn, or their weight, given how often each unit was."""
        if self._order is None:
            drawn = times
        else:
            take_drawn(times, self._order, drawn)
        if self._weights is None:
            count_drawn(drawn.view(np.uint64), self._ends, self._before, counts)
        else:
            sum_drawn(drawn, self._weights, self._ends, counts)


class UnitSample(Sample):
    """Units drawn with replacement, each stratum by itself.

    Parameters
    ----------
    units : Units
        What is drawn.
    work : int
        Rows that are read for a replicate.
    """

    def __init__(self, units: Units, work: int) -> None:
        self._work = work
        self.sizes = padded(units.n)
        self.sizes[: units.n] = 1
        stops = np.cumsum(units.strata).tolist()
        self.strata = [slice(stop - n, stop) for stop, n in zip(stops, units.strata, strict=True)]
        self._rows = list(map(Rows, units.strata))

    def task_size(self) -> int:
        """Give the replicates of one task, by the data alone."""
        return max(1, min(WORK // self._work, MOST))

    def times(self) -> Times:
        """Give the array that a thread draws into."""
        return np.zeros_like(self.sizes)

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[Times]:
        """Give how often each unit is drawn in each replicate."""
        times = space[0]
        for number in numbers:
            stream = stream_key(key, np.uint64(number))
            for k, (part, rows) in enumerate(zip(self.strata, self._rows, strict=True)):
                rows.draw(np.uint64(stream_key(np.uint64(stream), np.uint64(k))), times[part])
            yield times
