"""Differences of two shares of the same rows: the score interval, which has a width even if no row differs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from fastevals.results import Interval

BISECTIONS = 50
EMPTY = 1e-8  # rows of an empty cell, so that the constrained estimate may give it a probability


class PairedCounts(NamedTuple):
    """Trials by outcome: successes of both, of the first alone, of the second alone, and of neither."""

    both: int
    first: int
    second: int
    neither: int

    def difference(self, factor: float = 1.0) -> float:
        """Return the first share minus `factor` times the second; NaN if there are no trials."""
        n = sum(self)
        if not n:
            return math.nan
        return (
            (self.first - self.second) / n
            if factor == 1
            else (self.both + self.first) / n - factor * (self.both + self.second) / n
        )


def score_interval(counts: PairedCounts, z: float, factor: float = 1.0) -> Interval:
    """Return the score interval of the first share minus `factor` times the second, `z` standard errors to each side.

    It contains the differences that differ from the observed one by less than `z` standard errors, where the standard
    error is that of the most likely probabilities with this difference. With `factor` 1 the interval is Tango's [1]_.
    Its coverage is close to the level even with few trials or few that differ. If no trial differs and `factor` is 1,
    the ends are ``z**2 / (n + z**2)`` from 0.

    References
    ----------
    .. [1] Tango, T. (1998), "Equivalence test and confidence interval for the difference in proportions for the
       paired-sample design", Statistics in Medicine 17, 891-908,
       doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B.
    """
    n = sum(counts)
    if not n:
        return Interval(math.nan, math.nan)
    values = (1 - factor, 1.0, -factor, 0.0)
    shares = [max(each, EMPTY) / n for each in counts]
    observed = counts.difference(factor)

    def is_outside(difference: float) -> bool:
        variance = _likeliest_variance(values, shares, difference) / n
        return (observed - difference) ** 2 >= z * z * variance

    return Interval(_end(is_outside, observed, min(values)), _end(is_outside, observed, max(values)))


def _end(is_outside: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the point between an inner and an outer one where the outside begins."""
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        if is_outside(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _likeliest_variance(values: tuple[float, ...], shares: list[float], mean: float) -> float:
    """Return the variance of the most likely distribution on some values that has a given mean.

    Its probabilities are ``share / (1 + multiplier * (value - mean))``. The multiplier makes the mean right.
    """
    deviations = [value - mean for value in values]
    largest, smallest = max(deviations), min(deviations)
    if largest <= 0 or smallest >= 0:
        return 0.0
    low, high = -1 / largest, -1 / smallest
    for _ in range(BISECTIONS):
        multiplier = (low + high) / 2
        excess = 0.0
        for share, each in zip(shares, deviations, strict=True):
            excess += share * each / (1 + multiplier * each)
        if excess > 0:
            low = multiplier
        else:
            high = multiplier
    multiplier = (low + high) / 2
    return sum(share * each * each / (1 + multiplier * each) for share, each in zip(shares, deviations, strict=True))
