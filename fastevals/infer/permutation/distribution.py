"""All outcomes of a permutation, or a sample of them, and binomial numbers drawn for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.permutation import draw_fair_binomials, fill_keys
from fastevals._random import seed_key
from fastevals._validation.options import check_integer
from fastevals.results import EXTREMENESS, MAX_RESAMPLES, TIE_TOLERANCE

Floats = NDArray[np.float64]

FEW = 1 << 13  # permutations that are all gone through, even where fewer are asked for
ROUNDING = 2.0**-48  # relative to the two metrics: less is no difference


class PermutationPlan(NamedTuple):
    """How many permutations to draw, and from which stream."""

    n_resamples: int
    key: np.uint64
    progress: bool = False

    @classmethod
    def of(cls, n_resamples: Any, rng: Any, progress: bool = False) -> PermutationPlan:
        """Check what a user gives."""
        n = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
        return cls(n, seed_key("rng", rng), progress)

    def most(self, few: int = FEW) -> int:
        """Return the number of permutations up to which all are gone through: no more than drawn, or few."""
        return max(self.n_resamples + 1, few)


class PermutationDistribution(NamedTuple):
    """Values of a statistic under permutations.

    Attributes
    ----------
    values : ndarray of float64 of shape (n,)
        Of each.
    exact : bool
        Whether these are all there are, and not a sample.
    chances : ndarray of float64 of shape (n,) or None
        Of the values, where they are not equally likely.
    """

    values: Floats
    exact: bool
    chances: Floats | None = None

    def defined(self) -> PermutationDistribution:
        """Leave out what is NaN."""
        kept = ~np.isnan(self.values)
        if kept.all():
            return self
        chances = None if self.chances is None else self.chances[kept] / self.chances[kept].sum()
        return PermutationDistribution(self.values[kept], self.exact, chances)

    def pvalue(self, statistic: float, slack: float, alternative: str) -> float:
        """Return the chance of a value as extreme or more, up to rounding; in a sample, the data's own counts."""
        side = EXTREMENESS[alternative]
        reached = side(self.values) >= float(side(statistic)) - slack
        if self.chances is not None:
            return min(float(self.chances[reached].sum() / self.chances.sum()), 1.0)
        others = 0 if self.exact else 1
        return (others + int(np.count_nonzero(reached))) / (others + self.values.size)

    def critical_value(self, alpha: float, alternative: str) -> float:
        """Return the most extreme value that is not rejected."""
        side = EXTREMENESS[alternative]
        values = side(self.values)
        if self.chances is not None:
            order = np.argsort(values)[::-1]
            place = int(np.searchsorted(np.cumsum(self.chances[order]), alpha * (1 - TIE_TOLERANCE)))
            critical = values[order[min(place, values.size - 1)]]
        else:
            others = 0 if self.exact else 1
            place = (
                math.ceil(alpha * (1 - TIE_TOLERANCE) * (values.size + others)) - 1 - others
            )  # from the largest down
            if place < 0:
                return -math.inf if alternative == "less" else math.inf
            critical = np.partition(values, values.size - 1 - place)[values.size - 1 - place]
        return float(-critical if alternative == "less" else critical)


class PermutedStatistic(NamedTuple):
    """A statistic, what permutations make of it, and in which unit to give it.

    Attributes
    ----------
    statistic : float
        Of the data.
    outcomes : Outcomes
        Under permutations.
    slack : float
        Values as near are tied: each is rounded.
    in_unit : callable
        Gives a statistic, or many, in the metric's own unit; ascending, and odd.
    pos_label : label or None
        The positive class, where there is one.
    """

    statistic: float
    outcomes: PermutationDistribution
    slack: float
    in_unit: Callable[[Any], Any] = lambda values: values
    pos_label: Any = None


def permuted_difference(
    first: float, second: float, outcomes: PermutationDistribution, pos_label: Any = None
) -> PermutedStatistic:
    """Take the statistic from the metric of each model; those that are equal up to rounding do not differ at all."""
    statistic = math.nan if math.isinf(first) and first == second else first - second
    size = ROUNDING * max(abs(first), abs(second))
    if not math.isfinite(statistic):
        return PermutedStatistic(statistic, outcomes, 0.0, pos_label=pos_label)
    if abs(statistic) <= size:
        statistic = 0.0
    return PermutedStatistic(statistic, outcomes, max(TIE_TOLERANCE * abs(statistic), size), pos_label=pos_label)


FAR = 9.5  # standard deviations: what is further off has a chance below 2**-64


def fair_binomial_probabilities(n: int, low: int = 0) -> NDArray[np.float64]:
    """Return the chances of `low` to ``n - low`` heads among n."""
    middle = (n + 1) // 2
    k = np.arange(middle, n - low, dtype=np.float64)
    upper = np.cumprod(np.concatenate(([1.0], (n - k) / (k + 1))))  # from the middle out: none overflows
    whole = np.concatenate((upper[::-1] if n % 2 else upper[:0:-1], upper))
    return np.asarray(whole / whole.sum())


class FairBinomials:
    """Draws the counts of cells of given sizes, for many permutations at once.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of the cells, at least 1.
    """

    __slots__ = ("_of_cell", "_tables")

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        distinct, self._of_cell = np.unique(sizes, return_inverse=True)
        lows, limits, guides, shifts = [], [], [], []
        for n in distinct.tolist():
            low = max(0, math.floor(n / 2 - FAR * math.sqrt(n) / 2))
            below = np.cumsum(fair_binomial_probabilities(n, low))[:-1]
            numbers = np.ldexp(below[(below >= 2.0**-64) & (below < 1)], 64).astype(np.uint64)
            lows.append(low + int(np.searchsorted(below, 2.0**-64)))
            limit = np.append(numbers - np.uint64(1), np.uint64(2**64 - 1))
            bits = max(limit.size.bit_length() - 2, 1)
            shifts.append(64 - bits)
            guides.append(np.searchsorted(limit, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)))
            limits.append(limit)
        starts = [np.cumsum([0, *map(len, parts[:-1])]) for parts in (limits, guides)]
        self._tables = (
            np.array(lows), np.concatenate(limits), np.concatenate(guides).astype(np.uint32), np.array(shifts), *starts
        )  # fmt: skip

    def draw(self, key: np.uint64, numbers: range) -> NDArray[np.int64]:
        """Return the counts in permutations of these numbers, of shape (n_cells, n)."""
        keys = np.empty(len(numbers), dtype=np.uint64)
        fill_keys(key, numbers.start, keys)
        drawn = np.empty((self._of_cell.size, keys.size), dtype=np.int64)
        draw_fair_binomials(self._of_cell, *self._tables, keys, drawn)
        return drawn
