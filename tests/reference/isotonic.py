"""Slow, obvious twin of isotonic recalibration: pool adjacent violators, in fractions.

Every function takes ``(y_true, y_score, weights=None)`` first, as in `tests.reference.ranking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from scipy.stats import binomtest

from tests.reference.ranking import exact, rows_of


class Block(NamedTuple):
    low: Fraction
    high: Fraction
    positives: Fraction
    weight: Fraction

    @property
    def share(self) -> Fraction:
        return self.positives / self.weight


def blocks(y_true: Any, y_score: Any, weights: Any = None) -> list[Block]:
    """Start with a block for each probability; pool two neighbours while the left one's share is not the lower."""
    rows = [row for row in rows_of(y_true, y_score, weights) if row.weight]
    pooled: list[Block] = []
    for p in sorted({row.score for row in rows}):
        here = [row for row in rows if row.score == p]
        positives = sum((row.weight for row in here if row.positive), Fraction(0))
        pooled.append(Block(exact(p), exact(p), positives, sum((row.weight for row in here), Fraction(0))))
        while len(pooled) > 1 and pooled[-2].share >= pooled[-1].share:
            right, left = pooled.pop(), pooled.pop()
            pooled.append(Block(left.low, right.high, left.positives + right.positives, left.weight + right.weight))
    return pooled


def recalibrated(y_true: Any, y_score: Any, weights: Any = None) -> list[Fraction]:
    """Return the calibrated probability of each row; 1/2 for rows without weight outside all blocks."""
    fitted = blocks(y_true, y_score, weights)
    return [next((b.share for b in fitted if b.low <= exact(p) <= b.high), Fraction(1, 2)) for p in y_score]


def limits(positives: Sequence[int], rows: Sequence[int], alpha: float) -> tuple[list[float], list[float]]:
    """Return the highest lower and the lowest upper Clopper-Pearson limit of the intervals up to, and from, each cell.

    Each of the n (n + 1) / 2 intervals of cells has a two-sided interval at level 2 alpha / (n (n + 1)).
    """
    n = len(rows)
    low, high = [0.0] * n, [1.0] * n
    for first in range(n):
        for last in range(first, n):
            yes, all_rows = sum(positives[first : last + 1]), sum(rows[first : last + 1])
            interval = binomtest(yes, all_rows).proportion_ci(1 - 2 * alpha / (n * (n + 1)), method="exact")
            for cell in range(last, n):
                low[cell] = max(low[cell], interval.low)
            for cell in range(first + 1):
                high[cell] = min(high[cell], interval.high)
    return low, high
