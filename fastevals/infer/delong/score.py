"""One-sided bounds of an AUC, or of a difference of AUCs, that allow for rows unlike those that were observed.

DeLong's interval takes the variance of the observed placements, which is too small if the AUC is near 1: most
placements are alike, and few rows tell how unlike the others can be. A score interval takes the variance that the
placements would have if the bound were true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.results import Interval

Floats = NDArray[np.float64]

BINS = 1024  # placements of a class are rounded to this many values if they have more
BISECTIONS = 40
# An unobserved row may lie this many times as far from the mean as the furthest observed one. With 1 (no unobserved
# rows), AUCs of 0.99 with 50 positives exceeded their bound in 11 % of data sets instead of 5 %; with 2, in 5 %.
REACH = 2.0


def placements(positive: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the share of the other class that each row is ranked right against; ties count half, positives first."""
    negatives, positives = np.sort(scores[~positive]), np.sort(scores[positive])
    own = scores[positive], scores[~positive]
    below = np.searchsorted(negatives, own[0], "left") + np.searchsorted(negatives, own[0], "right")
    above = np.searchsorted(positives, own[1], "left") + np.searchsorted(positives, own[1], "right")
    return below / (2 * max(negatives.size, 1)), 1 - above / (2 * max(positives.size, 1))


@dataclass(frozen=True)
class PlacementBounds:
    """The bounds of a mean placement: an AUC, or an AUC minus a multiple of another one on the same rows.

    Attributes
    ----------
    classes : tuple of ndarray
        Placements of the positives and of the negatives, or their differences; both have the same mean.
    limits : tuple of float
        Lowest and highest possible placement.
    """

    classes: tuple[Floats, Floats]
    limits: tuple[float, float]

    @property
    def value(self) -> float:
        """The AUC or the difference."""
        return float(self.classes[0].mean())

    @property
    def is_constant(self) -> bool:
        """Whether all placements of each class are equal, so that no row tells how far the value may be off."""
        return all(each.min() == each.max() for each in self.classes)

    @cached_property
    def variances(self) -> tuple[float, float]:
        """The parts of DeLong's variance."""
        positives, negatives = (float(each.var(ddof=1)) / each.size for each in self.classes)
        return positives, negatives

    @property
    def standard_error(self) -> float:
        """DeLong's standard error."""
        return math.sqrt(sum(self.variances))

    @cached_property
    def _counted(self) -> list[tuple[Floats, Floats]]:
        return [_counted(each) for each in self.classes]

    def interval(self, level: float) -> Interval:
        """Return the bounds at a level, each one-sided.

        Each is the further one of the score bound and of DeLong's bound with t, for one AUC on the scale of log odds.
        If all placements are equal, a bound allows for a share of rows that the smaller class would lack with a
        probability of 1 - level.
        """
        if self.is_constant:
            unlike = 1 - (1 - level) ** (1 / min(each.size for each in self.classes))
            low, high = (self.value + unlike * (end - self.value) for end in self.limits)
            return Interval(low, high)
        wald, score = self._delong(level), self._score(level)
        return Interval(max(min(wald.low, score.low), self.limits[0]), min(max(wald.high, score.high), self.limits[1]))

    def _delong(self, level: float) -> Interval:
        from scipy.special import expit, logit, stdtrit

        df = sum(self.variances) ** 2 / sum(
            part**2 / (each.size - 1) for part, each in zip(self.variances, self.classes, strict=True)
        )
        reach, value = float(stdtrit(df, level)) * self.standard_error, self.value
        if self.limits != (0.0, 1.0) or value in self.limits:
            return Interval(value - reach, value + reach)
        scaled = reach / (value * (1 - value))
        return Interval(float(expit(logit(value) - scaled)), float(expit(logit(value) + scaled)))

    def _score(self, level: float) -> Interval:
        from scipy.special import ndtri

        z = abs(float(ndtri(level)))
        low, high = (self._score_bound(z, end) for end in self.limits)
        return Interval(low, high)

    def _score_bound(self, z: float, end: float) -> float:
        """Return the mean placement, towards an end, at which the observed one is `z` standard errors away."""
        value = inside = self.value
        extremes = [each.min() if end < value else each.max() for each in self.classes]
        furthest = [value + REACH * (float(each) - value) for each in extremes]
        atoms = [max(each, end) if end < value else min(each, end) for each in furthest]
        outside = end
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2
            variance = sum(
                likeliest_variance(*counted, atom, middle) / (each.size - 1)
                for counted, atom, each in zip(self._counted, atoms, self.classes, strict=True)
            )
            if (value - middle) ** 2 >= z * z * variance:
                outside = middle
            else:
                inside = middle
        return outside


def likeliest_variance(values: Floats, shares: Floats, atom: float, mean: float) -> float:
    """Return the variance of the most likely distribution of values, and an unobserved one, that has a given mean.

    Its probabilities are ``share / (1 + multiplier * (value - mean))``; the rest is the probability of the unobserved
    value, `atom`. The multiplier makes the mean right. See Owen, A. B. (1988), "Empirical likelihood ratio confidence
    intervals for a single functional", Biometrika 75, 237-249, doi:10.1093/biomet/75.2.237.
    """
    deviations, beyond = values - mean, atom - mean
    largest, smallest = max(float(deviations.max()), beyond), min(float(deviations.min()), beyond)
    if largest <= 0 or smallest >= 0:
        return 0.0
    low, high = -1 / largest, -1 / smallest
    for _ in range(BISECTIONS):
        multiplier = (low + high) / 2
        if float((shares * deviations / (1 + multiplier * deviations)).sum()) > 0:
            low = multiplier
        else:
            high = multiplier
    probabilities = shares / (1 + multiplier * deviations)
    rest = max(1 - float(probabilities.sum()), 0.0)
    return float((probabilities * deviations**2).sum()) + rest * beyond**2


def _counted(values: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values and their shares; many values become the means of bins of equal width."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size > BINS:
        places = ((values - distinct[0]) * ((BINS - 1) / (distinct[-1] - distinct[0]))).astype(np.intp)
        counts = np.bincount(places, minlength=BINS)
        sums = np.bincount(places, values, minlength=BINS)[counts > 0]
        counts = counts[counts > 0]
        distinct = sums / counts
    return distinct, counts / values.size
