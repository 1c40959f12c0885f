"""Slow, obvious twins of differences and ratios of shares between groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

from scipy import optimize, stats

Share = tuple[int, int]  # successes and trials


def wilson(share: Share, z: float) -> tuple[float, float]:
    """Return Wilson's limits, as roots of (p - rate)^2 = z^2 p (1 - p) / n."""
    x, n = share
    center, margin = x + z * z / 2, z * math.sqrt(x * (n - x) / n + z * z / 4)
    return (center - margin) / (n + z * z), (center + margin) / (n + z * z)


def difference(first: Share, second: Share, z: float) -> tuple[float, float]:
    """Return Newcombe's hybrid score interval of first - second."""
    (p, (l1, u1)), (q, (l2, u2)) = ((x / n, wilson((x, n), z)) for x, n in (first, second))
    return p - q - math.hypot(p - l1, u2 - q), p - q + math.hypot(u1 - p, q - l2)


def ratio(first: Share, second: Share, z: float) -> tuple[float, float]:
    """Return the ratios r at which the interval of first - r * second ends at 0."""
    (p, (l1, u1)), (q, (l2, u2)) = ((x / n, wilson((x, n), z)) for x, n in (first, second))

    def low(r: float) -> float:
        return p - r * q - math.hypot(p - l1, r * (u2 - q))

    def high(r: float) -> float:
        return p - r * q + math.hypot(u1 - p, r * (q - l2))

    least = optimize.brentq(low, 0, 1e6, xtol=1e-14)
    return least, optimize.brentq(high, 0, 1e6, xtol=1e-14) if second[0] else math.inf


def pvalue(first: Share, second: Share) -> float:
    """Return 1 minus the level of the interval that ends at 0."""
    side = 0 if first[0] / first[1] > second[0] / second[1] else 1
    return 2 * stats.norm.sf(optimize.brentq(lambda z: difference(first, second, z)[side], 1e-9, 30, xtol=1e-13))


def largest_difference(shares: Sequence[Share], level: float) -> tuple[float, float]:
    """Return the interval of the largest difference, from those of all pairs."""
    z = stats.studentized_range.ppf(level, len(shares), math.inf) / math.sqrt(2)
    ends = [difference(a, b, z) for a, b in permutations(shares, 2)]
    return max(0.0, *(low for low, _ in ends)), max(high for _, high in ends)


def smallest_ratio(shares: Sequence[Share], level: float) -> tuple[float, float]:
    """Return the interval of the smallest ratio, from those of all pairs."""
    z = stats.studentized_range.ppf(level, len(shares), math.inf) / math.sqrt(2)
    ends = [ratio(a, b, z) for a, b in permutations(shares, 2)]
    return min(low for low, _ in ends), min(1.0, *(high for _, high in ends))
