"""Differences and ratios of independent shares of rows, with intervals and p-values from the limits of each share.

Limits of the two shares are combined by the method of variance estimates recovery (MOVER): Newcombe's hybrid score
interval for differences, and its form for ratios. A test, the interval of the difference and the interval of the ratio
always agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.proportions import score_limits

Floats = NDArray[np.float64]

LARGEST_Z = 37.0  # larger values have a tail probability of 0 in float64
LARGEST_T = 1e8  # beyond it, Wilson's limits are 0 and 1
BISECTIONS = 60


class GroupShares(NamedTuple):
    """Successes and trials of shares. Trials may be effective numbers; without trials, the share is NaN.

    If the numbers of trials are estimated, `df` has the degrees of freedom of these estimates.
    """

    successes: Floats
    trials: Floats
    df: Floats | None = None

    @property
    def values(self) -> Floats:
        """The shares."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.successes / self.trials)

    def take(self, places: Any) -> GroupShares:
        """Return some of the shares."""
        df = None if self.df is None else self.df[places]
        return GroupShares(self.successes[places], self.trials[places], df)

    def limits(self, z: Any) -> ShareLimits:
        """Return Wilson's limits, `z` standard errors from the shares; t replaces z if trials are estimated."""
        from scipy.special import ndtr, stdtrit

        if self.df is not None:
            z = np.minimum(-stdtrit(np.maximum(self.df, 1.0), ndtr(-np.asarray(z))), LARGEST_T)
        return ShareLimits(self.values, *score_limits(self.successes, self.trials - self.successes, z))


class ShareLimits(NamedTuple):
    """Shares with the low and high ends of their intervals."""

    values: Floats
    low: Floats
    high: Floats

    def take(self, places: Any) -> ShareLimits:
        """Return some of the shares."""
        return ShareLimits(*(each[places] for each in self))


def difference_interval(first: ShareLimits, second: ShareLimits) -> tuple[Floats, Floats]:
    """Return the interval of the first share minus the second.

    It is Newcombe's method 10 (1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I).
    """
    difference = first.values - second.values
    below = np.hypot(first.values - first.low, second.high - second.values)
    above = np.hypot(first.high - first.values, second.values - second.low)
    return np.maximum(difference - below, -1.0), np.minimum(difference + above, 1.0)


def ratio_interval(first: ShareLimits, second: ShareLimits) -> tuple[Floats, Floats]:
    """Return the interval of the first share over the second (Donner and Zou 2012, doi:10.1177/0962280210383466).

    A ratio is inside if the interval of first - ratio * second contains 0.
    """
    product = first.values * second.values
    ends = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for own, other in ((first.low, second.high), (first.high, second.low)):
            one, two = own * (2 * first.values - own), other * (2 * second.values - other)
            root = np.sqrt(np.maximum(product**2 - one * two, 0.0))
            ends.append((one / (product + root), (product + root) / two))
    (low, _), (_, high) = ends
    low = np.where(first.low == 0, 0.0, low)
    high = np.where(second.low == 0, np.inf, high)
    undefined = np.isnan(product)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def difference_pvalues(first: GroupShares, second: GroupShares) -> Floats:
    """Return two-sided p-values for no difference: 1 minus the level of the interval that ends at 0."""
    from scipy.special import ndtr

    difference = first.values - second.values
    inside, outside = np.zeros(difference.shape), np.full(difference.shape, LARGEST_Z)
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        low, high = difference_interval(first.limits(middle), second.limits(middle))
        is_outside = np.where(difference > 0, low <= 0, high >= 0)  # contains 0: the distance is smaller
        outside, inside = np.where(is_outside, middle, outside), np.where(is_outside, inside, middle)
    pvalues = np.where(difference == 0, 1.0, np.minimum(2 * ndtr(-inside), 1.0))
    return np.where(np.isnan(difference), np.nan, pvalues)
