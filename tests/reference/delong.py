"""Slow, obvious twin of DeLong's covariance: every pair compared, in fractions.

DeLong, DeLong and Clarke-Pearson (1988), doi:10.2307/2531595, eqs. 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)


def kernel(positive: Any, negative: Any) -> Fraction:
    return HALF if positive == negative else Fraction(int(positive > negative))


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def cov(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    a, b = mean(first), mean(second)
    return sum(((x - a) * (y - b) for x, y in zip(first, second, strict=True)), Fraction(0)) / (len(first) - 1)


def components(y_true: Sequence[Any], scores: Sequence[Any]) -> tuple[list[Fraction], list[Fraction]]:
    """Give the structural components of the positives and of the negatives."""
    x = [s for y, s in zip(y_true, scores, strict=True) if y]
    z = [s for y, s in zip(y_true, scores, strict=True) if not y]
    return [mean([kernel(p, n) for n in z]) for p in x], [mean([kernel(p, n) for p in x]) for n in z]


def delong(
    y_true: Sequence[Any], models: Sequence[Sequence[Any]]
) -> tuple[list[Fraction], list[list[Fraction]] | None]:
    """Give the AUCs and their covariance; None for it with fewer than two rows of a class."""
    parts = [components(y_true, scores) for scores in models]
    aucs = [mean(v10) for v10, _ in parts]
    m, n = len(parts[0][0]), len(parts[0][1])
    if min(m, n) < 2:
        return aucs, None
    return aucs, [[cov(a10, b10) / m + cov(a01, b01) / n for b10, b01 in parts] for a10, a01 in parts]
