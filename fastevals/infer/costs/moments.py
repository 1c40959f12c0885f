"""Sums of costs over independent units, and the spread of estimates that are ratios of these sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._kernels.cost_sensitive import add_powers
from fastevals._text import count_of

Floats = NDArray[np.float64]
Key = tuple[Any, str]  # model and rule

UNITS_TOGETHER = 16_384  # whose columns stay in a core's cache
SKEWED = "few rows carry most of the amount"
FEW_AMOUNTS = 10  # equal amounts; intervals of totals that are more skewed cover the true value too rarely
TYPICAL_ROWS_ADDED = 0.5  # to each class, decided each way, as Jeffreys' prior counts half a success and half a failure


class CostColumns(NamedTuple):
    """Numbers of independent units (rows or clusters): arrays of shape (n_units,)."""

    none: Floats  # cost if all rows are predicted negative
    gains: Floats  # cost saved if all rows are predicted positive
    weights: Floats | None  # None: 1 each
    saved: Mapping[Key, NDArray[Any]]  # gains of the rows predicted positive; for rows, whether they are

    def saved_gains(self, key: Key, of: slice) -> Floats:
        """Return the gains that a decision saves in some units."""
        each = self.saved[key][of]
        return np.where(each, self.gains[of], 0.0) if each.dtype == np.bool_ else each

    def _block(self, of: slice) -> Iterator[tuple[Floats, ...]]:
        """Yield the four columns of some units for each decision."""
        none, gains = self.none[of], self.gains[of]
        weights = np.ones(none.size) if self.weights is None else self.weights[of]
        for key in self.saved:
            yield none, gains, weights, self.saved_gains(key, of)

    def _over_units(self, task: Any) -> list[Any]:
        """Return the results of a task for all blocks of units, in order."""
        parts = run(lambda part: [task(of) for of in blocks(part, UNITS_TOGETHER)], chunks(self.none.size))
        return [each for part in parts for each in part]

    def sums(self) -> tuple[dict[Key, Floats], Floats]:
        """Return the four sums for each decision, and the largest size of a number in each column."""

        def task(of: slice) -> tuple[Floats, Floats]:
            of_decisions = list(self._block(of))
            none, gain, weight = (float(np.abs(each).max()) for each in of_decisions[0][:3])
            first = [float(each.sum()) for each in of_decisions[0][:3]]
            sums = np.array([[*first, float(each[3].sum())] for each in of_decisions])
            return sums, np.array([none, gain, weight, gain])

        found = self._over_units(task)
        totals = np.sum([each for each, _ in found], axis=0)
        return dict(zip(self.saved, totals, strict=True)), np.max([each for _, each in found], axis=0)

    def powers(self, forms: Mapping[Key, Floats]) -> dict[Key, Floats]:
        """Return sums of squares, cubes and fourth powers of linear forms in the four columns, for each decision.

        Forms have shape (n_forms, 4), the sums shape (n_forms, 3).
        """

        def task(of: slice) -> Floats:
            sums = np.zeros((len(forms), *next(iter(forms.values())).shape[:1], 3))
            for columns, form, out in zip(self._block(of), forms.values(), sums, strict=True):
                add_powers(*columns, form, out)
            return sums

        return dict(zip(forms, np.sum(self._over_units(task), axis=0), strict=True))


class SkewedSpread(NamedTuple):
    """The spread of an estimate over samples."""

    error: float  # standard error
    wider: float  # the same, with half a row more in each class, decided each way
    skewness: float  # of the estimate's distribution, with these rows
    degrees: float  # degrees of freedom of the squared error, smaller for heavy tails; 0 for a single unit

    @classmethod
    def of_influences(cls, influences: Floats, more: Floats, added: float) -> SkewedSpread:
        """Return the spread of an estimate from the influences of its units, and of rows that are added by a share."""
        unit = float(max(np.abs(influences).max(), np.abs(more).max())) or 1.0
        influences = influences / unit
        squares = np.square(influences)
        powers = np.array([squares.sum(), (squares * influences).sum(), np.square(squares).sum()])
        return cls.of(influences.size, unit, powers, more / unit, added)

    @classmethod
    def of(cls, n: int, unit: float, powers: Floats, more: Floats, added: float = TYPICAL_ROWS_ADDED) -> SkewedSpread:
        """Return the spread of an estimate from the influences of its units, which are divided by `unit`.

        `powers` are the sums over n units of the squares, cubes and fourth powers of these influences. `more` has the
        influences of the typical rows; a share `added` of each is added. The variance of a sample's variance matches
        that of chi-square (Satterthwaite 1946) with 2 n / (kurtosis - 1) degrees of freedom.
        """
        if n < 2 or not np.isfinite(powers).all():  # which overflow only for amounts near the smallest float
            return cls(math.nan, math.nan, 0.0, 0.0)
        square, cube, fourth = (float(each) for each in powers)
        if square <= n * (64 * np.finfo(np.float64).eps) ** 2:  # equal up to rounding in all units
            square = cube = fourth = 0.0
        degrees = n - 1.0
        if square:
            kurtosis = n * fourth / square**2
            degrees = min(degrees, 2 * n / (kurtosis - 1)) if kurtosis > 1 else degrees
        more_square = square + added * float((more**2).sum())
        skewness = (cube + added * float((more**3).sum())) / more_square**1.5 if more_square else 0.0
        error, wider = (unit * math.sqrt(each * n / (n - 1)) for each in (square, more_square))
        return cls(error, wider, skewness, degrees)

    def caution(self, what: str) -> str:
        """Return a caution if a few rows carry most of the estimate: intervals cover too rarely."""
        if not self.skewness or self.skewness**-2 >= FEW_AMOUNTS:  # a sum of n equal amounts has skewness n ** -0.5
            return ""
        n = count_of(max(math.floor(self.skewness**-2), 1), "equal amount")
        return (
            f"{SKEWED}: the {what} is as skewed as a sum of {n}, and intervals of sums of fewer than {FEW_AMOUNTS} "
            "cover the true value too rarely: use more rows"
        )
