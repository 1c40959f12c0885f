"""Ranges of probabilities that are the same for all rows, and tables of rows by class, range and true class.

Ranges are narrow near 0 and near 1, where probabilities of classes differ most: above 2^-6 they have equal width, and
below it, each octave has as many ranges. As they depend on no data, counts of any parts of the rows add up exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks
from fastevals._kernels.class_ranges import OCTAVES, count_in_ranges, find_ranges, sum_in_ranges
from fastevals.counting.ordering import FLOATS
from fastevals.scale.cells import ScoreCells

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_LEVEL = 12
LEAST_RANGES = 256
EXPONENT = 52  # position of a float's exponent
# Exponents of 2^-64, 2^-24 and 2^-5: ends of octaves with the same number of ranges.
TINY_EXPONENT, SMALL_EXPONENT, EVEN_EXPONENT = 959, 999, 1018
TINY_OCTAVES = 6  # base-2 logarithm of the number of tiny octaves per range
BITS_OF_ONE = int(np.float64(1.0).view(np.int64))  # bits of the highest probability
FEWER = 3  # base-2 logarithm of how many times fewer ranges a small octave has


@dataclass(frozen=True, eq=False)
class ProbabilityRanges:
    """Ranges of probabilities: 2^level per octave of tails from 2^-24 to 2^-5, and as narrow ones up to 1/2.

    Attributes
    ----------
    level : int
    base, start, shift : ndarray of int64
        What `range_of` needs for each octave.
    size : int
        Number of ranges.
    """

    level: int
    base: Ints
    start: Ints
    shift: Ints
    size: int

    @classmethod
    @lru_cache(maxsize=MOST_LEVEL + 1)
    def of_level(cls, level: int) -> ProbabilityRanges:
        """Return the ranges of a level."""
        parts = [(0, TINY_EXPONENT, EXPONENT + TINY_OCTAVES), (TINY_EXPONENT, SMALL_EXPONENT, EXPONENT - level + FEWER)]
        parts.append((SMALL_EXPONENT, EVEN_EXPONENT, EXPONENT - level))
        parts += [(e, e + 1, EXPONENT - level - (e - EVEN_EXPONENT + 1)) for e in range(EVEN_EXPONENT, OCTAVES - 1)]
        parts.append((OCTAVES - 1, OCTAVES, EXPONENT))  # 1/2 alone
        base, start, shift = np.empty((3, OCTAVES), np.int64)
        n = 0
        for first, stop, by in parts:
            base[first:stop], start[first:stop], shift[first:stop] = n, first << EXPONENT, by
            n += (((stop << EXPONENT) - 1 - (first << EXPONENT)) >> by) + 1
        return cls(level, base, start, shift, 2 * n)

    @classmethod
    def at_most(cls, size: int) -> ProbabilityRanges | None:
        """Return the finest of the grids with at most `size` ranges, or None if all have more."""
        levels = (cls.of_level(level) for level in range(MOST_LEVEL, -1, -1))
        return next((ranges for ranges in levels if ranges.size <= size), None)

    @property
    def index(self) -> tuple[Ints, Ints, Ints]:
        """What kernels need to find ranges."""
        return self.base, self.start, self.shift

    def find(self, p: Floats) -> Ints:
        """Return the range of each probability."""
        places = np.empty(p.size, np.int64)
        find_ranges(p, *self.index, self.size, places)
        return places


class RangeTable:
    """Numbers of rows by column, range of probabilities and code, with the ends of the probabilities in each range.

    Parameters
    ----------
    ranges : ProbabilityRanges
    n_columns : int
        Number of classes: there is one column per class.
    are_classes : bool
        Whether a row's code is its true class; otherwise it is 1 for rows of the column's class, and 0 for others.

    Attributes
    ----------
    counts : ndarray of int64 of shape (n_columns, n_ranges, n_codes)
        Rows, or their integer weight.
    low, high : ndarray of shape (n_columns, n_ranges)
        The lowest and the highest probability of the rows in each range; inf and -inf if it has none.
    """

    __slots__ = ("are_classes", "counts", "high", "low", "ranges")

    def __init__(self, ranges: ProbabilityRanges, n_columns: int, *, are_classes: bool) -> None:
        n_codes = n_columns if are_classes else 2
        self.ranges, self.are_classes = ranges, are_classes
        self.counts = np.zeros((n_columns, ranges.size, n_codes), np.int64)
        self.low = np.full((n_columns, ranges.size), np.inf)
        self.high = np.full((n_columns, ranges.size), -np.inf)

    def add(self, column: int, p: NDArray[Any], codes: NDArray[Any], times: Ints | None) -> None:
        """Count rows of a column, each once or as often as `times` says."""
        counts, ends = self.counts[column].reshape(-1), (self.low[column], self.high[column])
        short = np.zeros(counts.size, np.uint16) if times is None and p.size > counts.size else None
        for block in blocks(slice(0, p.size)):
            values = np.ascontiguousarray(p[block], dtype=np.float64) + 0.0
            rows = values, codes[block]
            if short is not None:
                count_in_ranges(*rows, *self.ranges.index, *ends, short, counts)
            else:
                each = np.ones(values.size, np.int64) if times is None else times[block]
                sum_in_ranges(*rows, each, *self.ranges.index, *ends, counts)
        if short is not None:
            counts += short

    def merge(self, *others: RangeTable) -> RangeTable:
        """Return the table of the rows of this table and of others."""
        merged = object.__new__(RangeTable)
        merged.ranges, merged.are_classes, merged.counts = self.ranges, self.are_classes, self.counts.copy()
        merged.low, merged.high = self.low.copy(), self.high.copy()
        for other in others:
            merged.counts += other.counts
            np.minimum(merged.low, other.low, out=merged.low)
            np.maximum(merged.high, other.high, out=merged.high)
        return merged

    def in_order(self, order: NDArray[np.intp]) -> RangeTable:
        """Return the table with the columns in another order, and codes too if they are classes."""
        table = object.__new__(RangeTable)
        table.ranges, table.are_classes = self.ranges, self.are_classes
        table.low, table.high = self.low[order], self.high[order]
        counts = self.counts[order]
        table.counts = counts[:, :, order] if self.are_classes else counts
        return table

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store, without empty places: their distances, and counts and ends of those with rows."""
        places, held = np.flatnonzero(self.counts), np.flatnonzero(self.low <= self.high)
        low, high = (each.ravel()[held].view(np.int64) for each in (self.low, self.high))
        return {
            "places": np.diff(places, prepend=0),
            "counts": self.counts.ravel()[places],
            "low": low,
            "width": high - low,
        }

    def fill(self, read: Callable[..., Ints]) -> None:
        """Read the arrays that were stored into an empty table; raise if they are damaged."""
        steps = read("places")
        counts = read("counts", steps.size)
        if not steps[1:].all() or not steps.sum(dtype=np.float64) < self.counts.size:
            raise ValueError("its places are not in order")
        places = np.cumsum(steps)
        if not counts.all():
            raise ValueError("its places must have rows")
        self.counts.reshape(-1)[places] = counts
        held = np.flatnonzero(self.counts.any(axis=2))
        low, width = read("low", held.size), read("width", held.size)
        for ends, bits in ((self.low, low), (self.high, low + width)):
            values = bits.view(np.float64)  # integers of bits are in the order of the probabilities
            if ((bits < 0) | (bits > BITS_OF_ONE)).any() or (self.ranges.find(values) != held % self.ranges.size).any():
                raise ValueError("its ends must be probabilities in their ranges")
            ends.reshape(-1)[held] = values

    def against_rest(self, column: int) -> Ints:
        """Return the rows of a column's class against all other rows, of shape (n_ranges, 2), in each range."""
        counts: Ints = self.counts[column]
        if not self.are_classes:
            return counts
        own = counts[:, column]
        return np.stack((counts.sum(axis=1) - own, own), axis=1)

    def held(self, column: int) -> NDArray[np.intp]:
        """Return the ranges of a column that have rows, ascending."""
        return np.flatnonzero(self.low[column] <= self.high[column])

    def cells(self, column: int, counts: Ints) -> ScoreCells:
        """Return a column's ranges that have rows as cells with the given counts of their negatives and positives."""
        held = self.held(column)
        low, high = (FLOATS.encode(each[column][held]) for each in (self.low, self.high))
        return ScoreCells(low, high, np.ascontiguousarray(counts[held]))

    def all_cells(self, counts: Ints) -> ScoreCells:
        """Return the ranges in which any column has rows, with the given counts."""
        low, high = self.low.min(axis=0), self.high.max(axis=0)
        held = np.flatnonzero(low <= high)
        return ScoreCells(FLOATS.encode(low[held]), FLOATS.encode(high[held]), np.ascontiguousarray(counts[held]))

    # Pairs of classes -------------------------------------------------------------------------------------------------

    def doubled_wins(self, column: int) -> NDArray[Any]:
        """Return how many pairs of a row of the column's class and a row of each class its probabilities rank right.

        A pair counts 2, a tie 1. The result has shape (3, n_classes): if pairs of one range are wrong, tied or right,
        except where all probabilities in a range are equal. Integers of any size are exact.
        """
        held = self.held(column)
        rows: NDArray[Any] = self.counts[column][held]
        sizes = [int(each) for each in rows.sum(axis=0)]
        if 2 * sizes[column] * max(sizes) >= 2**62:
            rows = rows.astype(object)
        own = rows[:, column]
        below = np.cumsum(rows, axis=0) - rows
        strict, tied = 2 * (own @ below), own @ rows
        atoms = self.low[column][held] == self.high[column][held]
        equal = own[atoms] @ rows[atoms]
        return np.array([strict + equal, strict + tied, strict + 2 * tied - equal])
