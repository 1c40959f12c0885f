"""Cost curves: expected cost against class prior and costs in one, with the threshold that attains the least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure import cells, rates
from fastevals.measure.curves.base import Curve
from fastevals.measure.curves.cost_difference import CostDifference
from fastevals.measure.curves.cost_envelope import CostEnvelope
from fastevals.measure.curves.cost_over_prior import CostOverPrior, probability_cost_of
from fastevals.measure.curves.geometry import ROUNDING, Polyline, limits
from fastevals.measure.results import Interval, OperatingPoint, number_or_array

__all__ = ["CostCurve"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostCurve(Curve):
    """Normalised expected cost against PC(+), a line for each threshold; unpacks as ``fpr, fnr, thresholds``.

    PC(+) = p cost_fn / (p cost_fn + (1 - p) cost_fp), where p is the prior, the share of positives where the
    classifier is used: one axis holds every prior and every ratio of costs. A threshold's cost is the straight line
    from its FPR at PC(+) = 0 to its FNR at 1; a cost of 1 is that of predicting everything wrong. The curve proper is
    the lower envelope of the lines, "predict all" and "predict none" among them.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at each threshold.

    Attributes
    ----------
    fpr, fnr : ndarray of shape (n_thresholds + 1,)
        Ends of the lines; NaN where the class has no rows.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    lines : ndarray of shape (n_thresholds + 1, 2)
        A line each: its cost at PC(+) = 0 and at 1.
    lower_envelope : CostEnvelope
        The least cost, and where each threshold attains it.
    area : float
        Area under the lower envelope: the expected cost if all PC(+) are as likely. At most 0.25, less is better.

    References
    ----------
    Drummond and Holte (2006), "Cost curves: an improved method for visualizing classifier performance",
    doi:10.1007/s10994-006-8199-5; Zhou, *Machine Learning*, (2.23) to (2.25).

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    >>> curve.at(prior=0.5, cost_fn=3.0)
    OperatingPoint(value=0.125, threshold=0.3)
    >>> curve.area, curve.operating_range()
    (0.125, Interval(low=0.0, high=1.0))
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("fpr", "fnr", "thresholds")

    @property
    def fpr(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 0."""
        return self._array(rates.false_positive_rate)

    @property
    def fnr(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 1."""
        return self._array(rates.false_negative_rate)

    @property
    def lines(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 0 and at 1."""
        return np.stack((self.fpr, self.fnr), axis=1)

    @property
    def lower_envelope(self) -> CostEnvelope:
        """The least cost, and where each threshold attains it."""
        return self._once(CostEnvelope.from_counts)

    @property
    def area(self) -> float:
        """Area under the lower envelope."""
        return self.lower_envelope.area

    def at(
        self,
        *,
        probability_cost: ArrayLike | None = None,
        prior: ArrayLike | None = None,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        threshold: float | None = None,
    ) -> OperatingPoint:
        """Find the least cost and the threshold that attains it, or the cost of one threshold.

        Parameters
        ----------
        probability_cost : float or array-like in [0, 1], optional
            PC(+).
        prior : float or array-like in [0, 1], optional
            Or the share of positives where the classifier is used.
        cost_fp, cost_fn : float
            With `prior`: cost of a false positive and of a false negative, not negative and not both zero.
        threshold : float, optional
            Ask for the cost of this threshold, a point of its straight line, instead of the least.

        Returns
        -------
        OperatingPoint
            The normalised cost and the highest threshold that attains it, or the one given; arrays of the places' shape
            where an array is given. Times ``p * cost_fn + (1 - p) * cost_fp`` it is the cost of a row in the unit of
            the costs.

        Raises
        ------
        ValueError
            If not exactly one of `probability_cost` and `prior` is given, or an argument is out of range.
        """
        name, asked = check.check_exactly_one({"probability_cost": probability_cost, "prior": prior})
        cost_fp, cost_fn, _ = check.check_costs(cost_fp, cost_fn)
        place = check.as_shares(name, asked)
        if name == "prior":
            place = probability_cost_of(place, cost_fp, cost_fn)
        else:
            check.check_default_costs(name, cost_fp, cost_fn)
        if threshold is None:
            return self.lower_envelope.least_at(place)
        fpr, fnr = self._line_of(threshold)
        return OperatingPoint(number_or_array((1 - place) * fpr + place * fnr), float(threshold))

    def _line_of(self, threshold: float) -> tuple[float, float]:
        """Give FPR and FNR where rows with ``score >= threshold`` are predicted positive."""
        check.check_has_thresholds(self.thresholds)
        asked = check.as_thresholds("threshold", threshold, scalar=True)
        at = self.counts.cells(self.counts.rows_at_least(asked))
        return float(cells.false_positive_rate(at)), float(cells.false_negative_rate(at))

    def operating_range(self, threshold: float | None = None) -> Interval:
        """Give the range of PC(+) in which the classifier is cheaper than predicting all or none.

        Parameters
        ----------
        threshold : float, optional
            The range of this threshold alone; by default that of the lower envelope.

        Returns
        -------
        Interval
            ``low, high``; both NaN if there is no such PC(+).

        Raises
        ------
        ValueError
            If `threshold` is no number, or the curve has no thresholds.
        """
        if threshold is None:
            return self.lower_envelope.operating_range()
        fpr, fnr = self._line_of(threshold)
        if not fpr + fnr < 1:
            return Interval(math.nan, math.nan)
        return Interval(fpr / (1 - fnr + fpr), (1 - fpr) / (1 - fpr + fnr))

    def over_prior(self, *, cost_fp: float = 1.0, cost_fn: float = 1.0, normalize: bool = True) -> CostOverPrior:
        """Redraw the curve against the prior at fixed costs: there, unlike on PC(+), the costs change the picture.

        Parameters
        ----------
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative, not negative and not both zero.
        normalize : bool
            Divide by the cost of predicting everything wrong at each prior; otherwise a row's cost, in the unit of
            the costs.

        Returns
        -------
        CostOverPrior
            Cost and threshold at each prior.

        Raises
        ------
        ValueError
            If the costs are out of range.
        """
        cost_fp, cost_fn, _ = check.check_costs(cost_fp, cost_fn)
        return CostOverPrior.of_envelope(self.lower_envelope, cost_fp, cost_fn, normalize)

    def difference(self, other: CostCurve) -> CostDifference:
        """Compare the least costs of two classifiers over PC(+).

        Parameters
        ----------
        other : CostCurve
            Of another classifier.

        Returns
        -------
        CostDifference
            With the ranges in which each wins.

        Raises
        ------
        ValueError
            If `other` is no cost curve, or a curve is undefined for want of a class.
        """
        mine, others = self._pair(other)
        x = np.union1d(mine.x, others.x)
        saving = limits(mine, x)[0] - limits(others, x)[0]  # y is minus the cost
        saving[np.abs(saving) <= ROUNDING] = 0.0
        return CostDifference(x, saving)

    def _straight(self) -> Polyline:
        return Polyline(self.lower_envelope.probability_cost, -self.lower_envelope.cost)

    def _drawn(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return points.x, -points.y
