"""Slow twins of planned sample sizes: exact power by summing chances, and the first size from which on it suffices."""

from __future__ import annotations

import math
from fractions import Fraction

from scipy import stats


def power_of_trials(trials: int, value: float, low: float | None, high: float | None, alpha: float) -> float:
    """Return the chance that one-sided limits of Clopper and Pearson show a claim, outcome by outcome."""
    chance = 0.0
    for successes in range(trials + 1):
        shown = trials > 0
        if low is not None:
            shown = shown and stats.binom.sf(successes - 1, trials, low) <= alpha
        if high is not None:
            shown = shown and stats.binom.cdf(successes, trials, high) <= alpha
        chance += stats.binom.pmf(successes, trials, value) if shown else 0.0
    return float(chance)


def power_of_rows(n: int, share: float, value: float, low: float | None, high: float | None, alpha: float) -> float:
    """Return the mean of `power_of_trials` over the random number of trials among n rows."""
    chances = stats.binom.pmf(range(n + 1), n, share)
    return float(sum(c * power_of_trials(t, value, low, high, alpha) for t, c in enumerate(chances) if c > 1e-12))


def delong_variance(positives: list[float], negatives: list[float], prevalence: float) -> float:
    """Return n times the variance of an AUC from n rows with a share of positives, from every pair of rows."""

    def won(positive: float, negative: float) -> Fraction:
        return Fraction((positive > negative) * 2 + (positive == negative), 2)

    of_positives = [sum(won(p, n) for n in negatives) / len(negatives) for p in positives]
    of_negatives = [sum(won(p, n) for p in positives) / len(positives) for n in negatives]
    total = 0.0
    for placements, share in ((of_positives, prevalence), (of_negatives, 1 - prevalence)):
        mean = sum(placements) / len(placements)
        total += float(sum((each - mean) ** 2 for each in placements) / (len(placements) - 1)) / share
    return total


def normal_rows(variance: float, distance: float, level: float, power: float) -> int:
    """Return the rows that a one-sided decision needs, by the usual formula."""
    z = stats.norm.ppf(level) + stats.norm.ppf(power)
    return math.ceil(variance * (z / distance) ** 2)
