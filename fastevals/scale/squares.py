"""Squared weights of rows as integers: their sums are the same for any order and division of the rows.

A square has two limbs of `LIMB_BITS` bits. Weights are below 2**40 units, and add up to at most 2**62, so the upper
limb of a sum fits in 64 bits. The lower limb fits too, because its overflow is carried after each chunk of rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks
from fastevals.counts import ThresholdCounts
from fastevals.measure.ranking.squares import SquaredWeights

Ints = NDArray[np.int64]

LIMB_BITS, DIGIT_BITS = 40, 20
MAX_WEIGHT_IN_64_BITS = 2**30  # squares are kept in 64 bits only if all weights are below it
MAX_WEIGHT_IN_LIMBS = 2**LIMB_BITS - 1  # the largest row weight, in units, whose square is kept


def with_squares(units: Ints) -> Ints:
    """Return weights and the limbs of their squares, of shape (3, n)."""
    sums = np.empty((3, units.size), np.int64)
    sums[0] = units
    for rows in blocks(slice(0, units.size)):
        low = units[rows] & _ones(DIGIT_BITS)
        high, lower, upper = units[rows] >> DIGIT_BITS, low * low, 0
        if high.any():
            middle = 2 * high * low
            lower += (middle & _ones(DIGIT_BITS)) << DIGIT_BITS
            upper = high * high + (middle >> DIGIT_BITS)
        sums[1, rows], sums[2, rows] = lower, upper
        carry(sums[1, rows], sums[2, rows])
    return sums


def of_ones(copies: Ints) -> Ints:
    """Return total weights and limbs of squares, of shape (3, ...), for `copies` rows that weigh 1 each."""
    return np.stack((copies, copies & _ones(LIMB_BITS), copies >> LIMB_BITS))


def carry(lower: Ints, upper: Ints) -> None:
    """Move the overflow of the lower limbs to the upper limbs, in place."""
    upper += lower >> LIMB_BITS
    lower &= _ones(LIMB_BITS)


def as_floats(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.float64]:
    """Return sums of squares as floats, from their limbs; each is rounded at most twice."""
    return np.asarray(upper * 2.0**LIMB_BITS + lower)


def _ones(bits: int) -> int:
    return (1 << bits) - 1


class RowSums(NamedTuple):
    """The number of rows and the sum of their cubed weights, by class (negatives first)."""

    rows: tuple[int, int] = (0, 0)
    cubes: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, units: Ints, flags: NDArray[Any]) -> Self:
        """Return the sums of weighted rows."""
        n_pos, cubes = int(np.count_nonzero(flags)), [0, 0]
        for rows in blocks(slice(0, units.size)):
            total, positives = _sum_of_cubes(units[rows]), _sum_of_cubes(units[rows] * flags[rows])
            cubes = [cubes[0] + total - positives, cubes[1] + positives]
        return cls((flags.size - n_pos, n_pos), (cubes[0], cubes[1]))

    @classmethod
    def of_ones(cls, n_neg: int, n_pos: int) -> Self:
        """Return the sums of rows that weigh 1 each."""
        return cls((n_neg, n_pos), (n_neg, n_pos))

    @classmethod
    def of_fields(cls, fields: Any) -> Self:
        """Read the sums from a summary's head."""
        return cls(*(tuple(fields.integers(name, 2)) for name in cls._fields))

    def head(self) -> dict[str, Any]:
        """Return the sums as fields of a summary's head."""
        return {name: list(map(hex, pair)) for name, pair in self._asdict().items()}

    def plus(self, other: RowSums) -> RowSums:
        """Return the sums over both sets of rows."""
        (a, b), (c, d) = ([x + y for x, y in zip(*each, strict=True)] for each in zip(self, other, strict=True))
        return RowSums((a, b), (c, d))


def _sum_of_cubes(units: Ints) -> int:
    high, low = units >> DIGIT_BITS, units & _ones(DIGIT_BITS)
    if not high.any():
        return exact_sum(low * low * low)
    a, b = high * high, low * low
    parts = exact_sum(a * high), 3 * exact_sum(a * low), 3 * exact_sum(b * high), exact_sum(b * low)
    return sum(part << (3 - k) * DIGIT_BITS for k, part in enumerate(parts))


def exact_sum(values: Ints) -> int:
    """Return the exact sum of integers, each at most 2**62."""
    return (int((values >> 30).sum()) << 30) + int((values & _ones(30)).sum())


def squared_points(squares: ThresholdCounts, sums: RowSums, unit: float = 1.0) -> SquaredWeights:
    """Convert sums of squared units at thresholds to sums of squared weights."""
    tps, fps = (each * (unit * unit) for each in (squares.tps, squares.fps))
    negatives, positives = (cubes * unit**3 for cubes in sums.cubes)
    return SquaredWeights.of(squares.thresholds, tps, fps, sums.rows, (negatives, positives))


def check_limbs(weights: Ints, lower: Ints, upper: Ints) -> None:
    """Raise if no integer weights can have these sums and these limbs of summed squares."""
    squares = as_floats(lower, upper)
    floats = weights.astype(np.float64)
    in_range = (lower >> LIMB_BITS == 0) & (upper <= weights)
    most = squares <= floats * floats * (1 + 2.0**-50)
    least = (upper > weights >> LIMB_BITS) | ((upper == weights >> LIMB_BITS) & (lower >= weights & _ones(LIMB_BITS)))
    if not (in_range & most & least).all():
        raise ValueError("its squares are not those of its weights")


def check_squares(counts: Ints, sums: RowSums) -> None:
    """Raise if no rows can have these sums of weights, squares and cubes; `counts` are as in `ScoreCells`."""
    weights, lower, upper = counts[:, :2], counts[:, 2:4], counts[:, 4:]
    check_limbs(weights, lower, upper)
    for k, (n, cubes) in enumerate(zip(sums.rows, sums.cubes, strict=True)):
        weight, square = int(weights[:, k].sum()), (int(upper[:, k].sum()) << LIMB_BITS) + exact_sum(lower[:, k])
        alike = bool(n) == bool(weight) and n <= weight
        if not alike or weight**2 > n * square or square**2 > weight * cubes or cubes > weight * square:
            raise ValueError("its rows, squares and cubes are not those of its weights")
