"""Confidence sequences, night by night: weighted sums in fractions, mixtures by numerical integration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import beta, norm

from fastevals.infer.sequential.boundaries import log_rate_martingale


def weighted_mean(nights: Sequence[tuple[float, float, float]]) -> tuple[Fraction, Fraction]:
    """Return the mean and its variance, from (weight, value, variance or NaN) of each night."""
    exact = [(Fraction(weight), Fraction(value)) for weight, value, _ in nights]
    total = sum((weight for weight, _ in exact), Fraction(0))
    mean = sum((weight * value for weight, value in exact), Fraction(0)) / total
    spread = Fraction(0)
    for (weight, value), (*_, variance) in zip(exact, nights, strict=True):
        spread += weight**2 * ((value - mean) ** 2 if math.isnan(variance) else Fraction(variance))
    return mean, spread / total**2


def normal_mixture(z: float, ratio: float, *, one_sided: bool) -> float:
    """Return the likelihood ratio of `z`, averaged over normal (one-sided: half normal) drifts of variance `ratio`."""
    scale = math.sqrt(ratio)
    center = ratio / (1 + ratio) * z  # where the integrand is
    reach = 12 * math.sqrt(ratio / (1 + ratio))
    low, high = max(center - reach, 0.0) if one_sided else center - reach, max(center + reach, reach)

    def weighed(drift: float) -> float:
        return math.exp(drift * z - drift**2 / 2) * float(norm.pdf(drift, scale=scale)) * (2 if one_sided else 1)

    return float(quad(weighed, low, high, epsabs=0, epsrel=1e-12, limit=200)[0])


def rate_martingale(p: Fraction, outcomes: Sequence[bool], prior: Fraction) -> Fraction:
    """Return the product of predicted over hypothetical probabilities of the outcomes, one by one."""
    product, a, b = Fraction(1), prior * p, prior * (1 - p)
    for outcome in outcomes:
        product *= (a if outcome else b) / (a + b) / (p if outcome else 1 - p)
        a, b = a + outcome, b + (not outcome)
    return product


def one_sided_rate_martingale(p: float, successes: int, failures: int, prior: float) -> float:
    """Return the likelihood ratio, averaged over rates above `p`."""
    mixing = beta(prior * p, prior * (1 - p))

    def weighed(q: float) -> float:
        ratio = successes * math.log(q / p) + failures * math.log((1 - q) / (1 - p))
        return math.exp(ratio) * float(mixing.pdf(q))

    return float(quad(weighed, p, 1, epsabs=0, epsrel=1e-10, limit=400)[0] / mixing.sf(p))


def lowest_rates(
    successes: NDArray[np.float64], failures: NDArray[np.float64], prior: float, alpha: float, *, one_sided: bool
) -> list[float]:
    """Return the lowest rates whose martingale is below 1 / alpha, each by halving the range below the estimate."""
    found = []
    for right, wrong in zip(successes.tolist(), failures.tolist(), strict=True):
        outside, inside = 0.0, right / (right + wrong) if right else 0.0
        for _ in range(80 if right else 0):
            middle = (outside + inside) / 2
            if float(log_rate_martingale(middle, right, wrong, prior, one_sided=one_sided)) < -math.log(alpha):
                inside = middle
            else:
                outside = middle
        found.append(outside)
    return found
