"""Slow, obvious twins of tests between learners, from their definitions, in fractions where possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any


def binomial_tail(n: int, rate: Fraction, least: int) -> Fraction:
    """Return the probability of at least `least` errors among n."""
    return sum(
        (math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(max(least, 0), n + 1)), start=Fraction(0)
    )


def binomial_pvalue(errors: int, n: int, rate: Fraction, alternative: str) -> Fraction:
    if alternative == "greater":
        return binomial_tail(n, rate, errors)
    if alternative == "less":
        return 1 - binomial_tail(n, rate, errors + 1)
    chances = [math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(n + 1)]
    return sum((chance for chance in chances if chance <= chances[errors]), start=Fraction(0))


def critical_errors(n: int, rate: Fraction, alpha: Fraction) -> int:
    """Return min{c : P(X > c) < alpha}, the correct form of (2.27)."""
    return next(c for c in range(n + 1) if binomial_tail(n, rate, c + 1) < alpha)


def t_squared(differences: Sequence[float], factor: Fraction) -> Fraction | None:
    """Return the exact square of t; None without variance."""
    d = [Fraction(each) for each in differences]
    mean = sum(d) / len(d)
    variance = sum((each - mean) ** 2 for each in d) / (len(d) - 1)
    return mean**2 / (variance * factor) if variance else None


def five_by_two(differences: Sequence[Sequence[float]]) -> tuple[Fraction, Fraction, Fraction]:
    """Return the squares of Dietterich's and the chapter's t, and Alpaydin's F."""
    d = [[Fraction(each) for each in pair] for pair in differences]
    variances = [sum((each - sum(pair) / 2) ** 2 for each in pair) for pair in d]
    mean = sum(variances) / 5
    squares = sum(each**2 for pair in d for each in pair)
    return d[0][0] ** 2 / mean, (sum(d[0]) / 2) ** 2 / mean, squares / (2 * sum(variances))


def adjusted(pvalues: Sequence[float], correction: str) -> list[float]:
    """Return adjusted p-values: the least level at which each procedure rejects."""
    m = len(pvalues)
    order = sorted(range(m), key=lambda i: pvalues[i])
    p = [pvalues[i] for i in order]
    harmonic = sum(1 / j for j in range(1, m + 1))
    found = {
        "none": lambda i: p[i],
        "bonferroni": lambda i: m * p[i],
        "sidak": lambda i: 1 - (1 - p[i]) ** m,
        "holm": lambda i: max((m - j) * p[j] for j in range(i + 1)),
        "finner": lambda i: max(1 - (1 - p[j]) ** (m / (j + 1)) for j in range(i + 1)),
        "hochberg": lambda i: min((m - j) * p[j] for j in range(i, m)),
        "benjamini-hochberg": lambda i: min(m / (j + 1) * p[j] for j in range(i, m)),
        "benjamini-yekutieli": lambda i: min(harmonic * m / (j + 1) * p[j] for j in range(i, m)),
    }[correction]
    values = [0.0] * m
    for place, i in enumerate(order):
        values[i] = min(1.0, found(place))
    return values


def possible_equal_pairs(k: int) -> list[int]:
    """Return the numbers of equal pairs over all partitions of k learners into groups."""

    def partitions(n: int, largest: int) -> Iterator[list[int]]:
        if n == 0:
            yield []
        for size in range(min(n, largest), 0, -1):
            yield from ([size, *rest] for rest in partitions(n - size, size))

    return sorted({sum(size * (size - 1) // 2 for size in each) for each in partitions(k, k)})


def shaffer(pvalues: Sequence[float], k: int) -> list[float]:
    """Return the p-values of all pairs of k learners, adjusted by Shaffer's static procedure."""
    possible, m = possible_equal_pairs(k), len(pvalues)
    values, largest = [0.0] * m, 0.0
    for place, i in enumerate(sorted(range(m), key=lambda i: pvalues[i])):
        equal = max(each for each in possible if each <= m - place)
        largest = max(largest, min(equal * pvalues[i], 1.0))
        values[i] = largest
    return values


def effects_of(differences: Sequence[float]) -> dict[str, Any]:
    """Return the effect sizes of a pair from its differences, by definition."""
    d, n = sorted(differences), len(differences)
    higher, tied = sum(each > 0 for each in d), sum(each == 0 for each in d)
    rest = [each for each in d if each != 0]
    ranks = [sum(abs(x) < abs(y) for x in rest) + (1 + sum(abs(x) == abs(y) for x in rest)) / 2 for y in rest]
    plus = sum(rank for rank, each in zip(ranks, rest, strict=True) if each > 0)
    minus = sum(rank for rank, each in zip(ranks, rest, strict=True) if each < 0)
    inside = [k for k in range(n + 1) if 40 * sum(math.comb(n, i) for i in range(k)) <= 2**n]  # P(X < k) <= 2.5 %
    k = max(inside)
    return {
        "higher": higher,
        "tied": tied,
        "lower": n - higher - tied,
        "mean_difference": sum(d) / n,
        "median_difference": (d[(n - 1) // 2] + d[n // 2]) / 2,
        "median_interval": [d[k - 1], d[n - k]] if k else [-math.inf, math.inf],
        "rank_biserial": (plus - minus) / (plus + minus) if rest else 0.0,
        "vargha_delaney_a": (higher + tied / 2) / n,
    }
