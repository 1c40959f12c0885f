"""Cost against the prior at fixed costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._kernels.areas import excess_of_log
from fastevals.measure.cells import ratio
from fastevals.measure.curves.cost_envelope import CostEnvelope
from fastevals.measure.curves.geometry import area_under
from fastevals.measure.results import Frozen, Interval, OperatingPoint, number_or_array

__all__ = ["CostOverPrior", "cost_of_all_wrong", "priors_of", "probability_cost_of"]


def probability_cost_of(prior: NDArray[np.float64], cost_fp: float, cost_fn: float) -> NDArray[np.float64]:
    """Give PC(+) of a prior and costs (2.24); NaN where no row can cost anything."""
    largest = max(cost_fp, cost_fn)
    positive = prior * (cost_fn / largest)
    place = ratio(positive, positive + (1 - prior) * (cost_fp / largest))
    # One class alone, whatever a mistake on the other costs: that ratio may have vanished.
    return np.where((prior == 0) & (cost_fp > 0), 0.0, np.where((prior == 1) & (cost_fn > 0), 1.0, place))


def priors_of(places: Interval, cost_fp: float, cost_fn: float) -> Interval:
    """Give the priors that have a range of PC(+); NaN where a kind of error is free, for then all have one place."""
    if not (cost_fp and cost_fn):
        return Interval(math.nan, math.nan)
    low, high = probability_cost_of(np.array(places), cost_fn, cost_fp).tolist()  # the inverse has the costs swapped
    return Interval(low, high)


def cost_of_all_wrong(prior: NDArray[np.float64], cost_fp: float, cost_fn: float) -> NDArray[np.float64]:
    """Give a row's expected cost if everything is predicted wrong, to normalise costs by."""
    return prior * cost_fn + (1 - prior) * cost_fp


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostOverPrior(Frozen):
    """The least expected cost at each prior, at fixed costs, in pieces of one threshold each.

    Attributes
    ----------
    prior : ndarray of shape (n_pieces + 1,)
        Where the pieces start and end, ascending from 0 to 1.
    cost : ndarray of shape (n_pieces + 1,)
        The cost there. Between, a row's cost is straight and the normalised one is not, unless the costs are equal.
    thresholds : ndarray of shape (n_pieces,)
        The threshold that attains the least cost in each piece.
    cost_fp, cost_fn : float
        The costs.
    normalize : bool
        Whether costs are divided by that of predicting everything wrong.
    envelope : CostEnvelope
        The same over PC(+).
    area : float
        Mean cost over all priors.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    >>> over = curve.over_prior(cost_fn=3.0)
    >>> over.at(0.5), over.holds(0.5)
    (OperatingPoint(value=0.125, threshold=0.3), Interval(low=0.25, high=1.0))
    """

    prior: NDArray[np.float64]
    cost: NDArray[np.float64]
    thresholds: NDArray[Any]
    cost_fp: float
    cost_fn: float
    normalize: bool
    envelope: CostEnvelope

    @property
    def defined(self) -> bool:
        """Whether it has a value anywhere."""
        return not math.isnan(self.cost[0])

    @classmethod
    def of_envelope(cls, envelope: CostEnvelope, cost_fp: float, cost_fn: float, normalize: bool) -> CostOverPrior:
        """Map the pieces of an envelope over PC(+) to the prior."""
        made_of = cost_fp, cost_fn, normalize, envelope
        if normalize:
            cost_fp, cost_fn = _in_unit(cost_fp, cost_fn)
        if not (cost_fp and cost_fn):  # one kind of error is free: PC(+) is 0 or 1 at every prior, and nothing costs
            only = envelope.least_at(np.array([1.0 if cost_fn else 0.0]))
            cost, threshold = np.repeat(only.value, 2), np.asarray(only.threshold)
            return cls(np.array([0.0, 1.0]), cost, threshold, *made_of)
        prior = probability_cost_of(envelope.probability_cost, cost_fn, cost_fp)  # the inverse has the costs swapped
        prior[[0, -1]] = 0.0, 1.0  # also where a cost vanishes beside the other
        kept = np.append(np.diff(prior) > 0, True)
        fpr, fnr = envelope.fpr[kept[:-1]], envelope.fnr[kept[:-1]]
        prior = prior[kept]
        cost = prior * cost_fn * np.append(fnr, fnr[-1]) + (1 - prior) * cost_fp * np.append(fpr, fpr[-1])
        if normalize:
            cost /= cost_of_all_wrong(prior, cost_fp, cost_fn)
        return cls(prior, cost, envelope.thresholds[kept[:-1]], *made_of)

    def __repr__(self) -> str:
        costs = f"cost_fp={self.cost_fp:g}, cost_fn={self.cost_fn:g}"
        return f"CostOverPrior({self.thresholds.size} pieces, {costs}, area={self.area:.6g})"

    @property
    def area(self) -> float:
        """Mean cost over all priors."""
        costs = _in_unit(self.cost_fp, self.cost_fn)
        if not (self.normalize and all(costs)):
            return area_under(self.prior, self.cost)
        worst = cost_of_all_wrong(self.prior, *costs)
        ends = (self.cost * worst, worst)
        sides = [values.tolist() for line in ends for values in (line[:-1], line[1:])]
        return math.fsum(map(_piece_area, np.diff(self.prior).tolist(), *sides))

    def operating_range(self) -> Interval:
        """Give the range of priors in which the classifier is cheaper than predicting all or none.

        Returns
        -------
        Interval
            ``low, high``; both NaN if there is no such prior, as where one kind of error is free.
        """
        return priors_of(self.envelope.operating_range(), self.cost_fp, self.cost_fn)

    def at(self, prior: ArrayLike) -> OperatingPoint:
        """Give the least cost at a prior, and the highest threshold that attains it.

        Parameters
        ----------
        prior : float or array-like in [0, 1]
            Share of positives where the classifier is used.

        Returns
        -------
        OperatingPoint
            Arrays of the prior's shape where an array is given. A normalised cost is NaN where no row can cost
            anything.

        Raises
        ------
        ValueError
            If a prior is out of range.
        """
        place = check.as_shares("prior", prior)
        probability_cost = probability_cost_of(place, self.cost_fp, self.cost_fn)
        fpr, fnr, threshold = self.envelope.lines_at(probability_cost)
        cost_fp, cost_fn = _in_unit(self.cost_fp, self.cost_fn) if self.normalize else (self.cost_fp, self.cost_fn)
        cost = place * cost_fn * fnr + (1 - place) * cost_fp * fpr
        if self.normalize:
            # It may vanish at a prior of 0 or 1 beside the other class's.
            worst = cost_of_all_wrong(place, cost_fp, cost_fn)
            cost = np.where(worst > 0, ratio(cost, worst), self.envelope.least_at(probability_cost).value)
        return OperatingPoint(number_or_array(cost), number_or_array(threshold))

    def holds(self, prior: float) -> Interval:
        """Give the range of priors in which the threshold that is best at one prior stays the best.

        Parameters
        ----------
        prior : float in [0, 1]
            Share of positives.

        Returns
        -------
        Interval
            ``low, high``; both NaN if the curve is undefined.

        Raises
        ------
        ValueError
            If the prior is out of range.
        """
        asked = check.check_number("prior", prior, low=0, high=1)
        if not self.defined:
            return Interval(math.nan, math.nan)
        piece = int(np.searchsorted(self.prior[1:-1], asked, side="left"))
        if self.at(asked).threshold > self.thresholds[piece]:  # positives count for nothing: predicting none is free
            return Interval(0.0, asked)
        return Interval(float(self.prior[piece]), float(self.prior[piece + 1]))


def _in_unit(cost_fp: float, cost_fn: float) -> tuple[float, float]:
    """Give costs in a unit in which the larger is 1, so that no product of them vanishes."""
    largest = max(cost_fp, cost_fn)
    return cost_fp / largest, cost_fn / largest


def _piece_area(width: float, n0: float, n1: float, d0: float, d1: float) -> float:
    """Integrate the ratio of two straight lines, from n0 to n1 over from d0 to d1, in closed form."""
    if n0 == n1 == 0:
        return 0.0
    if d0 < d1:  # from the larger end, so that u is in [-1, 0]
        n0, n1, d0, d1 = n1, n0, d1, d0
    u = (d1 - d0) / d0
    if u == 0:
        return width * (n0 + n1) / 2 / d0
    if u < -0.1:
        log = math.log(d1) - math.log(d0)  # of 1 + u, which may round to 0
        excess = u - log
    else:
        log, excess = math.log1p(u), excess_of_log(u)
    return float(width * (n0 * log / u + (n1 - n0) * excess / u**2) / d0)
