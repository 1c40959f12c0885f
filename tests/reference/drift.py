"""Drift of scores from rows, one by one, in fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def quantile_edges(yesterday: Sequence[float], n_bins: int) -> list[float]:
    """Return inner edges: the lowest scores with at least a share k / n_bins of the rows at or below them."""
    ordered = sorted(yesterday)
    edges = {ordered[math.ceil(Fraction(k, n_bins) * len(ordered)) - 1] for k in range(1, n_bins)}
    return sorted(edge for edge in edges if edge < ordered[-1])


def shares(scores: Sequence[float], edges: Sequence[float]) -> list[Fraction]:
    """Return the share of rows in each bin."""
    ends = [-math.inf, *edges, math.inf]
    return [Fraction(sum(low < score <= high for score in scores), len(scores)) for low, high in pairwise(ends)]


def psi(today: Sequence[float], yesterday: Sequence[float], edges: Sequence[float]) -> float:
    """Return the PSI; an empty bin counts as half a row."""
    total = 0.0
    for p, q in zip(shares(today, edges), shares(yesterday, edges), strict=True):
        a, b = float(p or Fraction(1, 2 * len(today))), float(q or Fraction(1, 2 * len(yesterday)))
        total += (a - b) * math.log(a / b)
    return total


def ks_distance(today: Sequence[float], yesterday: Sequence[float]) -> Fraction:
    """Return the largest distance between the distribution functions."""
    return max(
        abs(
            Fraction(sum(each >= score for each in today), len(today))
            - Fraction(sum(each >= score for each in yesterday), len(yesterday))
        )
        for score in (*today, *yesterday)
    )


def pvalue_of_ks(n: int, m: int, distance: Fraction) -> Fraction:
    """Return the share of all orders of n + m different scores with at least this distance."""
    inside = {0: 1}  # orders so far by number of today's rows, among those that stayed below the distance
    for step in range(1, n + m + 1):
        counts: dict[int, int] = {}
        for i, ways in inside.items():
            for a in (i, i + 1):
                j = step - a
                if a <= n and 0 <= j <= m and abs(Fraction(a, n) - Fraction(j, m)) < distance:
                    counts[a] = counts.get(a, 0) + ways
        inside = counts
    return 1 - Fraction(inside.get(n, 0), math.comb(n + m, n))
