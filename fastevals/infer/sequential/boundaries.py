"""Boundaries of confidence sequences: how far an estimate may be from the truth at any of infinitely many looks.

Both mixtures average a likelihood ratio over alternatives to the null hypothesis. If the hypothesis is true, the
average is a martingale with expectation 1, so it ever reaches 1 / alpha with probability at most alpha (Ville's
inequality). The alternatives are centred at the hypothesis, with a spread that makes the interval narrowest, relative
to a fixed interval, at a chosen number of rows.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Ratio of the information in the data to the information in the mixing distribution, at which a two-sided 95 %
# sequence is narrowest relative to a fixed interval (1.55 times as wide).
NARROWEST_RATIO = 8.27
NEWTON_STEPS = 40
LAST = slice(-1, None)  # the last look
STEPS = 180  # the most steps to a limit; every third step halves the limit's range
PRECISION = 1e-10  # of the logarithm of a martingale at the limit of a rate
CLOSE = 1e-12  # of the ends of a limit's range, relative to rates of 1e-6 or more


def normal_limit(ratio: Any, alpha: float, *, one_sided: bool) -> Floats:
    """Return the number of standard errors that an estimate may be from the truth at any look.

    `ratio` is the information in the data divided by the information in the mixing distribution, which is normal or,
    for one side, half normal. See Robbins (1970), doi:10.1214/aoms/1177696786, and Howard et al. (2021),
    doi:10.1214/20-AOS1991, propositions 5 and 6.
    """
    ratio = np.asarray(ratio, dtype=np.float64)
    growth = np.log1p(ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not one_sided:
            return np.asarray(np.sqrt((1 + 1 / ratio) * (growth - 2 * math.log(alpha))))
        return np.asarray(_inverse_of_half_normal(growth / 2 - math.log(2 * alpha)) * np.sqrt(1 + 1 / ratio))


def _inverse_of_half_normal(target: Floats) -> Floats:
    """Return the g from 0 on with ``g**2 / 2 + log(Phi(g)) == target``, which is at least -log(2).

    The function is increasing and convex, so Newton's method descends to the root from any point above it.
    """
    from scipy.special import log_ndtr

    g = np.sqrt(2 * np.maximum(target + math.log(2), 0.0))
    for _ in range(NEWTON_STEPS):
        hazard = np.exp(-(g**2) / 2 - log_ndtr(g)) / math.sqrt(2 * math.pi)
        step = (g**2 / 2 + log_ndtr(g) - target) / (g + hazard)
        g = np.maximum(g - step, 0.0)
        if not np.any(np.abs(step) > 1e-14 * (1 + g)):
            break
    return np.asarray(g)


class NormalEvidence(NamedTuple):
    """Estimates with their standard errors, one per look; limits are exact as the number of rows grows.

    The limits are on the scale of the log-odds of an estimate's place between its bounds (with one finite bound: of
    the logarithm of the distance from it), so that they are within the bounds and allow for skewness near a bound.
    """

    values: Floats
    errors: Floats
    ratios: Floats  # information in the data divided by information in the mixing distribution
    bounds: tuple[float, float]

    def low(self, alpha: float, *, one_sided: bool) -> Floats:
        """Return lower limits."""
        return self._moved(-normal_limit(self.ratios, alpha, one_sided=one_sided))

    def high(self, alpha: float, *, one_sided: bool) -> Floats:
        """Return upper limits."""
        return self._moved(normal_limit(self.ratios, alpha, one_sided=one_sided))

    def ends(self, alpha: float, *, one_sided: bool) -> tuple[Floats, Floats]:
        """Return lower and upper limits."""
        z = normal_limit(self.ratios, alpha, one_sided=one_sided)
        return self._moved(-z), self._moved(z)

    def fixed(self, tail: float) -> tuple[Floats, Floats]:
        """Return the limits of fixed intervals, for one look only; `tail` is the probability beyond each limit."""
        from scipy.special import ndtri

        z = np.asarray(-ndtri(tail))
        return self._moved(-z), self._moved(z)

    def at(self, looks: slice) -> NormalEvidence:
        """Return the evidence at some looks."""
        return NormalEvidence(self.values[looks], self.errors[looks], self.ratios[looks], self.bounds)

    def _moved(self, z: Floats) -> Floats:
        """Return the estimates moved by `z` standard errors."""
        low, high = self.bounds
        steps = z * self.errors
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if math.isinf(low) and math.isinf(high):
                return np.asarray(self.values + steps)
            if math.isinf(high):
                above = self.values - low
                return np.asarray(low + above * np.exp(steps / above))
            if math.isinf(low):
                below = high - self.values
                return np.asarray(high - below * np.exp(-steps / below))
            above, below = self.values - low, high - self.values
            # with d = steps * width / (above * below), the odds above / below become exp(d) * above / below
            factor = np.exp(-np.abs(steps) * (1 / above + 1 / below))
            up = high - (high - low) * below * factor / (below * factor + above)
            down = low + (high - low) * above * factor / (above * factor + below)
            at_bound = (above <= 0) | (below <= 0)  # no scale reaches the estimate: the limit is the farther bound
            return np.asarray(np.where(z < 0, np.where(at_bound, low, down), np.where(at_bound, high, up)))


class RateEvidence(NamedTuple):
    """Successes and failures so far, one pair per look; limits hold for any number of trials, if the rate is constant.

    `prior` is the number of trials that the beta mixing distribution is worth. See Robbins (1970),
    doi:10.1214/aoms/1177696786, and Howard et al. (2021), doi:10.1214/20-AOS1991, proposition 7.
    """

    successes: Floats
    failures: Floats
    prior: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible rate."""
        return 0.0, 1.0

    @property
    def values(self) -> Floats:
        """Rates; NaN without trials."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.successes / (self.successes + self.failures))

    @property
    def errors(self) -> Floats:
        """Standard errors of the rates."""
        values = self.values
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sqrt(values * (1 - values) / (self.successes + self.failures)))

    def low(self, alpha: float, *, one_sided: bool) -> Floats:
        """Return lower limits."""
        return _lower_rates(self.successes, self.failures, self.prior, alpha, one_sided=one_sided)

    def high(self, alpha: float, *, one_sided: bool) -> Floats:
        """Return upper limits."""
        return 1 - _lower_rates(self.failures, self.successes, self.prior, alpha, one_sided=one_sided)

    def ends(self, alpha: float, *, one_sided: bool) -> tuple[Floats, Floats]:
        """Return lower and upper limits."""
        outcomes = np.stack([self.successes, self.failures])
        low, rest = _lower_rates(outcomes, outcomes[::-1], self.prior, alpha, one_sided=one_sided)
        return low, 1 - rest

    def fixed(self, tail: float) -> tuple[Floats, Floats]:
        """Return the limits of fixed intervals (Wilson), for one look only."""
        from scipy.special import ndtri

        from fastevals.infer.proportions import score_limits

        return score_limits(self.successes, self.failures, abs(float(ndtri(tail))))

    def at(self, looks: slice) -> RateEvidence:
        """Return the evidence at some looks."""
        return RateEvidence(self.successes[looks], self.failures[looks], self.prior)


def log_rate_martingale(p: Any, successes: Any, failures: Any, prior: float, *, one_sided: bool) -> Floats:
    """Return the logarithm of the beta-binomial mixture's martingale if the rate is `p`.

    The mixing distribution is a beta distribution with mean `p`, worth `prior` trials; for one side, only its part
    above `p`.
    """
    from scipy.special import betaincc, betaln

    a, b = prior * p, prior * (1 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = betaln(a + successes, b + failures) - betaln(a, b)
        value = value - successes * np.log(p) - failures * np.log1p(-p)
        if one_sided:
            value = value + np.log(betaincc(a + successes, b + failures, p)) - np.log(betaincc(a, b, p))
    return np.asarray(value)


def _lower_rates(successes: Floats, failures: Floats, prior: float, alpha: float, *, one_sided: bool) -> Floats:
    """Return the lowest rates whose martingale is below 1 / alpha, between 0 and the estimates.

    The square root of the martingale's logarithm, plus a constant, is almost linear in the rate. So the regula falsi
    (Illinois) is close after a few steps; where an end has no value yet, or it is slow, the range is halved.
    """
    from fastevals.infer.proportions import score_limits

    trials, limit = successes + failures, -math.log(alpha)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        inside = np.where(trials > 0, successes / trials, math.nan)
        outside = np.zeros(inside.shape)
        least = np.log1p(trials / prior) / 2  # minus the logarithm at the estimate, approximately
        root = np.sqrt(limit + least)
        over, under = np.full(inside.shape, math.inf), -root  # the two ends' roots, minus the limit's
        place = score_limits(successes, failures, normal_limit(trials / prior, alpha, one_sided=one_sided))[0]
        was_inside, is_done = np.zeros(inside.shape, np.bool_), ~(successes > 0)
        for step in range(STEPS):
            is_halved = ~is_done & (~((place > outside) & (place < inside)) | (step % 3 == 2))
            place = np.where(is_halved, (outside + inside) / 2, place)
            found = log_rate_martingale(place, successes, failures, prior, one_sided=one_sided)
            is_inside = found < limit
            excess = np.sqrt(np.maximum(found + least, 0)) - root
            repeated = (is_inside == was_inside) & ~is_halved
            over = np.where(is_inside, np.where(repeated, over / 2, over), excess)
            under = np.where(is_inside, excess, np.where(repeated, under / 2, under))
            inside, outside = np.where(is_inside, place, inside), np.where(is_inside, outside, place)
            is_exact = np.abs(found - limit) < PRECISION
            is_done |= is_exact
            is_done |= inside - outside <= CLOSE * np.maximum(inside, 1e-6)
            if np.all(is_done):
                break
            next_place = outside + (inside - outside) * over / (over - under)
            was_inside, place = is_inside, np.where(is_done, place, next_place)
    return np.where(successes > 0, np.where(is_exact, place, outside), 0.0)
