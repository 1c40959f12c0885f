"""The difference of two cost curves, and where each wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.curves.cost_over_prior import priors_of
from fastevals.measure.curves.geometry import area_under
from fastevals.measure.results import Frozen, Interval

__all__ = ["CostDifference"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Frozen):
    """How two cost curves differ: the other's least cost less this one's.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_points,)
        From 0 to 1, ascending.
    saving : ndarray of shape (n_points,)
        Straight between points; above zero where the curve that was asked is the cheaper.

    Examples
    --------
    >>> import fastevals
    >>> one, other = (fastevals.Ranking([0, 1, 0, 1], scores).cost_curve() for scores in ([1, 2, 3, 4], [1, 2, 4, 3]))
    >>> difference = one.difference(other)
    >>> difference.wins, difference.over_prior(cost_fn=3)
    ([Interval(low=0.0, high=0.5)], ([Interval(low=0.0, high=0.25)], []))
    """

    probability_cost: NDArray[np.float64]
    saving: NDArray[np.float64]

    def __repr__(self) -> str:
        ranges = f"wins={_shown(self.wins)}, losses={_shown(self.losses)}"
        return f"CostDifference({ranges}, mean_saving={self.mean_saving:.6g})"

    @property
    def defined(self) -> bool:
        """Always so: curves that are not can't be compared."""
        return True

    def over_prior(self, *, cost_fp: float = 1.0, cost_fn: float = 1.0) -> tuple[list[Interval], list[Interval]]:
        """Give the ranges of the prior, at fixed costs, in which the curve that was asked wins and loses.

        Parameters
        ----------
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative, not negative and not both zero.

        Returns
        -------
        wins, losses : list of Interval
            Empty where a kind of error is free: then nothing costs, at any prior.

        Raises
        ------
        ValueError
            If the costs are out of range.
        """
        cost_fp, cost_fn, _ = check.check_costs(cost_fp, cost_fn)
        if not (cost_fp and cost_fn):
            return [], []
        wins, losses = ([priors_of(one, cost_fp, cost_fn) for one in ranges] for ranges in (self.wins, self.losses))
        return wins, losses

    @property
    def mean_saving(self) -> float:
        """Mean of the saving over PC(+): the difference of the areas."""
        return area_under(self.probability_cost, self.saving)

    @property
    def wins(self) -> list[Interval]:
        """Ranges of PC(+) in which the curve that was asked is cheaper."""
        return self._ranges(1)

    @property
    def losses(self) -> list[Interval]:
        """Ranges of PC(+) in which the other is cheaper."""
        return self._ranges(-1)

    def _ranges(self, sign: int) -> list[Interval]:
        ranges: list[Interval] = []
        x, saving = self.probability_cost, sign * self.saving
        for i in np.flatnonzero((saving[:-1] > 0) | (saving[1:] > 0)):
            low, high = x[i], x[i + 1]
            if saving[i] < 0 or saving[i + 1] < 0:
                zero = low + (high - low) * saving[i] / (saving[i] - saving[i + 1])
                low, high = (zero, high) if saving[i] < 0 else (low, zero)
            if ranges and ranges[-1].high == low and saving[i] > 0:
                low = ranges.pop().low
            ranges.append(Interval(float(low), float(high)))
        return ranges


def _shown(ranges: list[Interval]) -> str:
    return "[" + ", ".join(f"({low:.4g}, {high:.4g})" for low, high in ranges) + "]"
