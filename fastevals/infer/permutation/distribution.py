"""The distribution of a statistic under permutations, with its p-values and critical values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_integer
from fastevals._random import seed_key
from fastevals.results import EXTREMENESS, MAX_RESAMPLES, TIE_TOLERANCE, Alternative

Floats = NDArray[np.float64]

FEW_PERMUTATIONS = 1 << 13  # up to this many permutations, all are enumerated, even if fewer are asked for
METRIC_ROUNDING = 2.0**-48  # relative to both models' metrics: smaller differences count as 0


class PermutationPlan(NamedTuple):
    """The number of permutations to draw, and the random stream for them."""

    n_resamples: int
    key: np.uint64
    progress: bool = False

    @classmethod
    def check(cls, n_resamples: Any, rng: Any, progress: bool = False) -> PermutationPlan:
        """Check a user's arguments."""
        n = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
        return cls(n, seed_key("rng", rng), progress)

    def max_outcomes(self, few: int = FEW_PERMUTATIONS) -> int:
        """Return the largest number of permutations for which all are enumerated."""
        return max(self.n_resamples + 1, few)


class PermutationDistribution(NamedTuple):
    """Values of a statistic under permutations.

    Attributes
    ----------
    values : ndarray of float64 of shape (n,)
        The statistic in each permutation.
    exact : bool
        Whether these are all permutations rather than a sample.
    chances : ndarray of float64 of shape (n,) or None
        Probabilities of the values, if they are not equally likely.
    """

    values: Floats
    exact: bool
    chances: Floats | None = None

    def without_undefined(self) -> PermutationDistribution:
        """Drop NaN values."""
        kept = ~np.isnan(self.values)
        if kept.all():
            return self
        chances = None if self.chances is None else self.chances[kept] / self.chances[kept].sum()
        return PermutationDistribution(self.values[kept], self.exact, chances)

    def pvalue(self, statistic: float, slack: float, alternative: Alternative) -> float:
        """Return the chance of a value at least as extreme as `statistic`, up to rounding; samples include the data."""
        extremeness = EXTREMENESS[alternative]
        reached = extremeness(self.values) >= float(extremeness(statistic)) - slack
        if self.chances is not None:
            return min(float(self.chances[reached].sum() / self.chances.sum()), 1.0)
        others = 0 if self.exact else 1
        return (others + int(np.count_nonzero(reached))) / (others + self.values.size)

    def critical_value(self, alpha: float, alternative: Alternative) -> float:
        """Return the most extreme value that is not rejected at level `alpha`."""
        extremeness = EXTREMENESS[alternative]
        values = extremeness(self.values)
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
    """A statistic, its permutation distribution, and the unit to report it in.

    Attributes
    ----------
    statistic : float
        The statistic of the data.
    distribution : PermutationDistribution
        Its values under permutations.
    slack : float
        Values within this distance of each other are tied, to allow for rounding.
    in_unit : callable
        Function that converts one or more statistics to the metric's own unit; increasing and odd.
    pos_label : label or None
        The positive class, if there is one.
    """

    statistic: float
    distribution: PermutationDistribution
    slack: float
    in_unit: Callable[[Any], Any] = lambda values: values
    pos_label: Any = None


def permuted_difference(
    first: float, second: float, distribution: PermutationDistribution, pos_label: Any = None
) -> PermutedStatistic:
    """Compute the statistic from each model's metric; exactly 0 if the metrics are equal up to rounding."""
    statistic = math.nan if math.isinf(first) and first == second else first - second
    size = METRIC_ROUNDING * max(abs(first), abs(second))
    if not math.isfinite(statistic):
        return PermutedStatistic(statistic, distribution, 0.0, pos_label=pos_label)
    if abs(statistic) <= size:
        statistic = 0.0
    return PermutedStatistic(statistic, distribution, max(TIE_TOLERANCE * abs(statistic), size), pos_label=pos_label)
