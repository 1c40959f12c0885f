"""Sums of squared weights of a ranking, which make inference on weighted independent rows possible."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts

Pair = tuple[float, float]


class SquaredWeights(ThresholdCounts):
    """Sums of squared weights at or above the thresholds of a ranking's counts.

    Attributes
    ----------
    rows : pair of int
        Number of negative and of positive rows.
    cubes : pair of float
        Sums of the cubed weights of each class.
    """

    __slots__ = ("cubes", "rows")

    rows: tuple[int, int]
    cubes: Pair

    @classmethod
    def of(
        cls, thresholds: NDArray[Any], tps: NDArray[Any], fps: NDArray[Any], rows: tuple[int, int], cubes: Pair
    ) -> SquaredWeights:
        """Wrap sums without checking them."""
        squares = cls._unchecked(thresholds, tps, fps)
        object.__setattr__(squares, "rows", rows)
        object.__setattr__(squares, "cubes", cubes)
        return squares

    def __reduce__(self) -> tuple[Any, ...]:
        return SquaredWeights.of, (self.thresholds, self.tps, self.fps, self.rows, self.cubes)
