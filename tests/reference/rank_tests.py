"""Slow, obvious twins of the rank tests: all signs enumerated, all pairwise means computed, all in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from statistics import median
from typing import Any

HALF = Fraction(1, 2)


def midranks(values: Sequence[Any]) -> list[Fraction]:
    """Return ranks, 1 for the smallest; ties share their mean rank."""
    return [
        sum(other < value for other in values) + HALF * (1 + sum(other == value for other in values))
        for value in values
    ]


def ranked_differences(differences: Sequence[float], zeros: str) -> list[float]:
    return [d for d in differences if d or zeros == "pratt"]


def rank_sum(differences: Sequence[float], signs: Sequence[Any], zeros: str) -> Fraction:
    """Return the sum of the positive differences' ranks by absolute value; zeros have no sign."""
    ranks = midranks([abs(d) for d in differences])
    return sum((r for r, d, sign in zip(ranks, differences, signs, strict=True) if d and sign > 0), Fraction(0))


def wilcoxon(differences: Sequence[float], zeros: str, alternative: str) -> tuple[Fraction, Fraction]:
    """Return W+ and its p-value among all signs."""
    kept = ranked_differences(differences, zeros)
    observed = rank_sum(kept, kept, zeros)
    sums = [rank_sum(kept, signs, zeros) for signs in product((-1, 1), repeat=len(kept))]
    lower = Fraction(sum(s <= observed for s in sums), len(sums))
    upper = Fraction(sum(s >= observed for s in sums), len(sums))
    both = min(2 * min(lower, upper), Fraction(1))
    return observed, {"two-sided": both, "less": lower, "greater": upper}[alternative]


def walsh_sums(values: Sequence[float]) -> list[float]:
    """Return the sums of all pairs of values, each value with itself included, in order."""
    return sorted(values[i] + values[j] for i in range(len(values)) for j in range(i + 1))


def pseudomedian(differences: Sequence[float], zeros: str) -> float:
    sums = walsh_sums(ranked_differences(differences, zeros))
    return median(sums) / 2 if sums else 0.0


def friedman(
    table: Sequence[Sequence[Any]], tie_correction: bool, higher_is_better: bool
) -> tuple[list[Any], Any, Any]:
    """Return mean ranks, chi-square (None if all are tied) and F (None if its denominator is zero)."""
    n, k = len(table), len(table[0])
    ranks = [midranks([-value if higher_is_better else value for value in row]) for row in table]
    means = [sum(row[j] for row in ranks) / n for j in range(k)]
    chi_square = Fraction(12 * n, k * (k + 1)) * (sum(mean**2 for mean in means) - Fraction(k * (k + 1) ** 2, 4))
    if tie_correction:
        ties = sum(row.count(value) ** 2 - 1 for row in map(list, table) for value in row)
        left = 1 - Fraction(ties, n * k * (k**2 - 1))
        if not left:
            return means, None, None
        chi_square /= left
    rest = n * (k - 1) - chi_square
    return means, chi_square, (n - 1) * chi_square / rest if rest else None


def groups(mean_ranks: Sequence[float], differ: Any) -> set[frozenset[int]]:
    """Return the maximal runs of two or more, in order of mean rank, where no two differ."""
    order = sorted(range(len(mean_ranks)), key=lambda j: mean_ranks[j])
    runs = {frozenset(order[i:j]) for i in range(len(order)) for j in range(i + 2, len(order) + 1)}
    clean = {run for run in runs if not any(differ[i][j] for i in run for j in run)}
    return {run for run in clean if not any(run < other for other in clean)}
