"""Slow, obvious twin of DeLong's covariance, which compares every pair in fractions.

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
    """Return the structural components of the positives and of the negatives."""
    x = [s for y, s in zip(y_true, scores, strict=True) if y]
    z = [s for y, s in zip(y_true, scores, strict=True) if not y]
    return [mean([kernel(p, n) for n in z]) for p in x], [mean([kernel(p, n) for p in x]) for n in z]


def weighted_delong(
    y_true: Sequence[Any], models: Sequence[Sequence[Any]], weights: Sequence[Any]
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Return weighted AUCs and their covariance; each row is one observation with a weight.

    The variance of a weighted mean of independent values is the sum of squared shares times their variance. Weighted
    squared deviations estimate that variance, divided by a factor that is (n - 1) / n if all weights are equal.
    """
    sides = [[k for k, y in enumerate(y_true) if bool(y) == side and weights[k]] for side in (True, False)]
    shares = [[Fraction(weights[k]) / sum(Fraction(weights[k]) for k in rows) for k in rows] for rows in sides]
    aucs, placed = [], []
    for scores in models:
        table = [[kernel(scores[p], scores[n]) for n in sides[1]] for p in sides[0]]
        of_positives = [sum((s * x for s, x in zip(shares[1], row, strict=True)), Fraction(0)) for row in table]
        of_negatives = [
            sum((s * x for s, x in zip(shares[0], column, strict=True)), Fraction(0))
            for column in zip(*table, strict=True)
        ]
        aucs.append(sum((s * v for s, v in zip(shares[0], of_positives, strict=True)), Fraction(0)))
        placed.append((of_positives, of_negatives))

    def covariance(a: int, b: int) -> Fraction:
        total = Fraction(0)
        for which, share in enumerate(shares):
            spread = sum(
                s * s * (x - aucs[a]) * (y - aucs[b])
                for s, x, y in zip(share, placed[a][which], placed[b][which], strict=True)
            )
            # The expectation of the same sum for independent values of variance 1, as deviations from their mean.
            n = range(len(share))
            expected = sum(share[i] ** 2 * ((i == j) - share[j]) ** 2 for i in n for j in n)
            total += spread / expected * sum(s * s for s in share)
        return total

    models_range = range(len(models))
    return aucs, [[covariance(a, b) for b in models_range] for a in models_range]


def delong(
    y_true: Sequence[Any], models: Sequence[Sequence[Any]]
) -> tuple[list[Fraction], list[list[Fraction]] | None]:
    """Return the AUCs and their covariance, which is None with fewer than two rows of a class."""
    parts = [components(y_true, scores) for scores in models]
    aucs = [mean(v10) for v10, _ in parts]
    m, n = len(parts[0][0]), len(parts[0][1])
    if min(m, n) < 2:
        return aucs, None
    return aucs, [[cov(a10, b10) / m + cov(a01, b01) / n for b10, b01 in parts] for a10, a01 in parts]


def clustered_variance(
    y_true: Sequence[Any], first: Sequence[Any], second: Sequence[Any], groups: Sequence[Any]
) -> Fraction:
    """Return the variance of a difference of AUCs of clustered rows: Obuchowski (1997), doi:10.2307/2533958."""
    parts = [components(y_true, each) for each in (first, second)]
    names = [[g for y, g in zip(y_true, groups, strict=True) if bool(y) == wanted] for wanted in (True, False)]
    sums: list[dict[Any, Fraction]] = []
    for side in (0, 1):
        differences = [a - b for a, b in zip(parts[0][side], parts[1][side], strict=True)]
        of_cluster = dict.fromkeys(names[side], Fraction(0))
        for name, each in zip(names[side], differences, strict=True):
            of_cluster[name] += (each - mean(differences)) / len(differences)
        sums.append(of_cluster)
    positives, negatives = sums
    n, n_pos, n_neg = len(set(groups)), len(positives), len(negatives)
    both = sum((positives[g] * negatives[g] for g in positives.keys() & negatives.keys()), Fraction(0))
    squares = [sum((each**2 for each in side.values()), Fraction(0)) for side in sums]
    within = Fraction(n_pos, n_pos - 1) * squares[0] + Fraction(n_neg, n_neg - 1) * squares[1]
    return within + 2 * Fraction(n, n - 1) * both
