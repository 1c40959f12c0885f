"""Slow, obvious twins of McNemar's and Cochran's tests: row by row, with probabilities summed in fractions.

McNemar (1947), doi:10.1007/BF02295996; Cochran (1950), doi:10.1093/biomet/37.3-4.256; Newcombe (1998), Statistics in
Medicine 17, 2635-2650, method 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)


def table(y_true: Sequence[Any], pred_a: Sequence[Any], pred_b: Sequence[Any]) -> list[list[int]]:
    """Count rows by whether a is right or wrong, and b is right or wrong."""
    counts = [[0, 0], [0, 0]]
    for true, a, b in zip(y_true, pred_a, pred_b, strict=True):
        counts[a != true][b != true] += 1
    return counts


def chance(k: int, m: int, share: Fraction = HALF) -> Fraction:
    """Return the binomial probability of k."""
    return math.comb(m, k) * share**k * (1 - share) ** (m - k)


def at_most(k: int, m: int, share: Fraction = HALF, *, mid: bool = False) -> Fraction:
    """Return the probability of k or fewer; with `mid`, k itself counts half."""
    below = sum((chance(j, m, share) for j in range(k)), Fraction(0))
    return below + chance(k, m, share) * (HALF if mid else 1)


def at_least(k: int, m: int, share: Fraction = HALF, *, mid: bool = False) -> Fraction:
    return at_most(m - k, m, 1 - share, mid=mid)


def statistic(b: int, c: int, method: str) -> Fraction:
    if method in ("exact", "mid-p"):
        return Fraction(b)
    if b == c:
        return Fraction(0)
    return Fraction((abs(b - c) - (method == "corrected")) ** 2, b + c)


def pvalue(b: int, c: int, method: str, alternative: str) -> float:
    if b + c == 0:
        return 1.0
    if method in ("corrected", "uncorrected"):
        return math.erfc(math.sqrt(statistic(b, c, method) / 2))
    mid = method == "mid-p"
    less, greater = at_most(b, b + c, mid=mid), at_least(b, b + c, mid=mid)
    return float({"less": less, "greater": greater, "two-sided": min(Fraction(1), 2 * min(less, greater))}[alternative])


def wilson(k: int, n: int, z: float) -> tuple[float, float]:
    middle, root = 2 * k + z * z, z * math.sqrt(z * z + 4 * k * (1 - k / n))
    return (middle - root) / (2 * (n + z * z)), (middle + root) / (2 * (n + z * z))


def newcombe(counts: Sequence[Sequence[int]], z: float) -> tuple[float, float]:
    """Return the interval of the difference in accuracy."""
    (both, b), (c, neither) = counts
    n = both + b + c + neither
    share_a, share_b = (both + b) / n, (both + c) / n
    (low_a, high_a), (low_b, high_b) = wilson(both + b, n, z), wilson(both + c, n, z)
    numerator = both * neither - b * c
    if numerator > n / 2:
        phi = numerator - n / 2
    elif numerator >= 0:
        phi = 0.0
    else:
        phi = numerator
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    phi = phi / math.sqrt(margins) if margins else 0.0
    down, up = (share_a - low_a, high_b - share_b), (high_a - share_a, share_b - low_b)
    delta, epsilon = (math.sqrt(max(p**2 - 2 * phi * p * q + q**2, 0)) for p, q in (down, up))
    return share_a - share_b - delta, share_a - share_b + epsilon


def cochran_q(y_true: Sequence[Any], predictions: Sequence[Sequence[Any]]) -> Fraction:
    """Return Q, computed from deviations from the mean."""
    k = len(predictions)
    right = [[int(p == t) for p, t in zip(model, y_true, strict=True)] for model in predictions]
    of_models = [sum(model) for model in right]
    of_rows = [sum(row) for row in zip(*right, strict=True)]
    mean = Fraction(sum(of_models), k)
    within = sum(t * (k - t) for t in of_rows)
    return k * (k - 1) * sum((r - mean) ** 2 for r in of_models) / within if within else Fraction(0)
