"""Replicates of rows that are drawn by name: where they have weights or groups, or are targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.draws import (
    LARGEST_PIECE,
    ROW_BLOCK,
    ROW_LIMITS,
    WORD_BLOCK,
    count_drawn,
    draw_cells,
    draw_rows,
    sum_drawn,
    take_drawn,
)
from fastevals._kernels.random import stream_key
from fastevals._validation.labels import check_groups_of_one_class, check_several_groups
from fastevals.infer.bootstrap.samples import MOST, WORK, Sample, Values
from fastevals.measure.regression import errors_of

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
    """Return the limits that `draw_rows` takes for n rows, of shape (12,), or none where they are drawn one by one."""
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
            check_several_groups("groups", values)
            of_class = None if classes is None else classes[first]
            if classes is not None and of_class is not None:
                check_groups_of_one_class("groups", groups, classes, of_class[numbers])
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
    """Return n zero bytes, and up to 7 more: whole words of 8."""
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
        """Return the working memory of one thread."""
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
        """Return the replicates of one task, by the data alone."""
        return max(1, min(WORK // self._work, MOST))

    def times(self) -> Times:
        """Return the array that a thread draws into."""
        return np.zeros_like(self.sizes)

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[Times]:
        """Return how often each unit is drawn in each replicate."""
        times = space[0]
        for number in numbers:
            stream = stream_key(key, np.uint64(number))
            for k, (part, rows) in enumerate(zip(self.strata, self._rows, strict=True)):
                rows.draw(np.uint64(stream_key(np.uint64(stream), np.uint64(k))), times[part])
            yield times


MEDIAN, PINBALL = "median_absolute_error", "pinball_loss"


class TargetSample(UnitSample):
    """Rows with a target and a prediction; `metrics` gives each one's name and its quantile, if it has one."""

    def __init__(
        self,
        targets: NDArray[Any],
        predictions: NDArray[Any],
        metrics: Sequence[tuple[str, float]],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
    ) -> None:
        self._metrics = metrics
        self._targets, self._predictions, self._weights = targets, predictions, weights
        units = Units.of(targets.size, groups, None)
        self._unit_of_row = units.of_row
        super().__init__(units, 8 * targets.size)

    def estimates(self) -> Values:
        """Return each metric of the rows themselves."""
        return self._errors(self._targets, self._predictions, self._weights)

    def workspace(self) -> Any:
        """Return the times of the units, and those of the rows."""
        return self.times(), padded(self._targets.size)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        found = []
        for times in draws:
            take_drawn(times, self._unit_of_row, space[1])
            rows = np.flatnonzero(space[1])
            weights = space[1][rows].astype(np.float64)
            if self._weights is not None:
                weights *= self._weights[rows]
            found.append(self._errors(self._targets[rows], self._predictions[rows], weights))
        return [np.array(each) for each in zip(*found, strict=True)]

    def _errors(self, targets: NDArray[Any], predictions: NDArray[Any], weights: NDArray[np.float64] | None) -> Values:
        if not targets.size:  # the only row was left out
            return [np.array(np.nan)] * len(self._metrics)
        names = [name for name, _ in self._metrics]
        quantiles = sorted({quantile for name, quantile in self._metrics if name == PINBALL}) or [0.5]
        by_quantile = {
            quantile: errors_of(targets, [predictions], weights, quantile, _finite, median=k == 0 and MEDIAN in names)
            for k, quantile in enumerate(quantiles)
        }
        usual = quantiles[0]
        return [by_quantile[at if name == PINBALL else usual][name][0] for name, at in self._metrics]


def _finite() -> None:
    """Values were looked at before."""
