"""Slow, obvious twins of the metrics of predicted quantiles, from their definitions, in exact arithmetic.

Each takes the targets, the levels, and a row of quantiles for each target, and returns the loss of each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Rows = Sequence[Sequence[Any]]


def ends(levels: Sequence[Fraction], row: Sequence[Any]) -> tuple[Fraction, Fraction, Fraction]:
    """Return the ends of the widest central interval, and the probability outside."""
    low = min(k for k, level in enumerate(levels) if 1 - level in levels and level < Fraction(1, 2))
    return Fraction(row[low]), Fraction(row[list(levels).index(1 - levels[low])]), 2 * levels[low]


def interval_score(y: Fraction, levels: Sequence[Fraction], row: Sequence[Any]) -> Fraction:
    """Gneiting and Raftery (2007), equation 43."""
    low, high, alpha = ends(levels, row)
    return high - low + 2 / alpha * (low - y if y < low else y - high if y > high else 0)


def interval_coverage(y: Fraction, levels: Sequence[Fraction], row: Sequence[Any]) -> Fraction:
    low, high, _ = ends(levels, row)
    return Fraction(low <= y <= high)


def interval_width(y: Fraction, levels: Sequence[Fraction], row: Sequence[Any]) -> Fraction:
    low, high, _ = ends(levels, row)
    return high - low


def weighted_interval_score(y: Fraction, levels: Sequence[Fraction], row: Sequence[Any]) -> Fraction:
    """Bracher et al. (2021), equation 1: interval scores weighted by alpha / 2, and half the median's error."""
    total, parts = Fraction(0), Fraction(0)
    for k, level in enumerate(levels):
        if level < Fraction(1, 2):
            pair = [level, 1 - level]
            quantiles = [row[k], row[list(levels).index(1 - level)]]
            total, parts = total + level * interval_score(y, pair, quantiles), parts + 1
        elif level == Fraction(1, 2):
            total, parts = total + abs(y - Fraction(row[k])) / 2, parts + Fraction(1, 2)
    return total / parts


def pinball(y: Fraction, level: Fraction, quantile: Any) -> Fraction:
    error = y - Fraction(quantile)
    return max(level * error, (level - 1) * error)


def crps(y: Fraction, levels: Sequence[Fraction], row: Sequence[Any]) -> Fraction:
    """Twice the integral of a step function: levels up to the middle between two count as the lower one."""
    total, start = Fraction(0), Fraction(0)
    for k, level in enumerate(levels):
        stop = (level + levels[k + 1]) / 2 if k + 1 < len(levels) else Fraction(1)
        total += 2 * (stop - start) * pinball(y, level, row[k])
        start = stop
    return total


METRICS: dict[str, Callable[[Fraction, Sequence[Fraction], Sequence[Any]], Fraction]] = {
    each.__name__: each for each in (interval_score, interval_coverage, interval_width, weighted_interval_score, crps)
}


def mean(name: str, y_true: Sequence[Any], levels: Sequence[Fraction], rows: Rows) -> float:
    """Return a metric: the mean of its losses."""
    losses = [METRICS[name](Fraction(y), levels, row) for y, row in zip(y_true, rows, strict=True)]
    return float(sum(losses, Fraction(0)) / len(losses))
