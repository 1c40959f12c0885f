"""Intervals that go with McNemar's tests: of the odds ratio, and of the difference of the accuracies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.proportions import METHODS
from fastevals.infer.results import tail_of
from fastevals.measure.results import Interval

__all__ = ["difference_interval", "odds_interval"]

LARGEST_LOG = 700.0  # of odds that a float can hold


def odds_interval(b: int, c: int, method: str, alternative: str, alpha: float) -> Interval:
    """Give the odds ratios at which the test would not reject."""
    tail = tail_of(alpha, alternative)
    low = 0.0 if alternative == "less" else LOWEST_ODDS[method](b, c, tail)
    lowest_of_b = 0.0 if alternative == "greater" else LOWEST_ODDS[method](c, b, tail)
    return Interval(low, 1 / lowest_of_b if lowest_of_b else math.inf)


def _share_ends(method: str, b: float, c: float, tail: float) -> tuple[float, float]:
    low, high = METHODS[method](np.asarray(float(b)), np.asarray(float(c)), tail)
    return float(low), float(high)


def _lowest_exact(b: int, c: int, tail: float) -> float:
    if b == 0:
        return 0.0
    low = _share_ends("clopper-pearson", b, c, tail)[0]
    rest = _share_ends("clopper-pearson", c, b, tail)[1]  # 1 - low, with all its digits
    return low / rest


def _lowest_score(b: float, c: float, tail: float) -> float:
    if b <= 0:
        return 0.0
    return _share_ends("wilson", b, c, tail)[0] / _share_ends("wilson", c, b, tail)[1]


def _lowest_mid_p(b: int, c: int, tail: float) -> float:
    """Give the odds at which so many rows or more, these counted half, have the chance `tail`."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincc, expit

    def at_least(k: int, log_odds: float) -> float:
        if k in (0, b + c + 1):
            return float(k == 0)
        if log_odds < 0:
            return float(betainc(k, b + c - k + 1, expit(log_odds)))
        return float(betaincc(b + c - k + 1, k, expit(-log_odds)))

    def excess(log_odds: float) -> float:
        return (at_least(b, log_odds) + at_least(b + 1, log_odds)) / 2 - tail

    if b + c == 0 or excess(-LARGEST_LOG) >= 0:
        return 0.0
    if excess(LARGEST_LOG) < 0:
        return math.inf
    return math.exp(brentq(excess, -LARGEST_LOG, LARGEST_LOG, xtol=1e-14))


LOWEST_ODDS: dict[str, Callable[[int, int, float], float]] = {
    "exact": _lowest_exact,
    "mid-p": _lowest_mid_p,
    "corrected": lambda b, c, tail: _lowest_score(b - 0.5, c + 0.5, tail),
    "uncorrected": _lowest_score,
}


def difference_interval(table: NDArray[np.int64], alternative: str, alpha: float) -> Interval:
    """Give Newcombe's hybrid score interval of the difference of the accuracies, method 10 of his paper on pairs."""
    (both, b), (c, neither) = table.tolist()
    n = both + b + c + neither
    tail = tail_of(alpha, alternative)
    right_a, right_b = both + b, both + c
    low_a, high_a = _share_ends("wilson", right_a, n - right_a, tail)
    low_b, high_b = _share_ends("wilson", right_b, n - right_b, tail)
    share_a, share_b = right_a / n, right_b / n
    product = both * neither - b * c
    if product > 0:
        product = max(product - n / 2, 0)
    scale = math.sqrt(right_a * (n - right_a)) * math.sqrt(right_b * (n - right_b))
    correlation = product / scale if scale else 0.0

    def margin(of_a: float, of_b: float) -> float:
        return math.sqrt(max(of_a * of_a - 2 * correlation * of_a * of_b + of_b * of_b, 0.0))

    difference = (b - c) / n
    sign = math.copysign(1.0, 0.5 - tail)  # an end below level 1/2 is on the other side
    low = difference - sign * margin(share_a - low_a, high_b - share_b)
    high = difference + sign * margin(high_a - share_a, share_b - low_b)
    return Interval(-1.0 if alternative == "less" else low, 1.0 if alternative == "greater" else high)
