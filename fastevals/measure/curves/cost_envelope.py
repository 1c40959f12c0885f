"""The lower envelope of cost curves: the least cost, and the threshold that attains it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure import cells, ranking_metrics
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves.geometry import area_under
from fastevals.measure.results import Frozen, Interval, OperatingPoint, number_or_array

__all__ = ["CostEnvelope"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostEnvelope(Frozen):
    """The least cost at each PC(+), in straight pieces of one threshold each.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_pieces + 1,)
        Where the pieces start and end, ascending from 0 to 1.
    cost : ndarray of shape (n_pieces + 1,)
        The cost there.
    thresholds : ndarray of shape (n_pieces,)
        The threshold of each piece, descending; +inf: predict none, the lowest score: predict all.
    fpr, fnr : ndarray of shape (n_pieces,)
        The error rates at it: the cost at the left and right end of its line.

    Examples
    --------
    >>> import fastevals
    >>> envelope = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve().lower_envelope
    >>> envelope.thresholds, envelope.at(0.5)
    (array([0.8, 0.3]), OperatingPoint(value=0.25, threshold=0.8))
    """

    probability_cost: NDArray[np.float64]
    cost: NDArray[np.float64]
    thresholds: NDArray[Any]
    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"CostEnvelope({self.thresholds.size} pieces, area={self.area:.6g})"

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> CostEnvelope:
        """Take the lines of the ROC hull's vertices; neighbours meet where the hull's slope is the ratio of costs."""
        hull = ranking_metrics.hull(counts)
        at = hull.cells()
        fpr, tpr, fnr = (rate(at) for rate in (cells.false_positive_rate, cells.recall, cells.false_negative_rate))
        if math.isnan(fpr[-1]) or math.isnan(tpr[-1]):
            nothing = np.full(2, np.nan)
            return cls(np.array([0.0, 1.0]), nothing, nothing[:1], nothing[:1], nothing[:1])
        # In counts, not rates: then places where lines of whole counts meet are the floats nearest to them.
        n_pos, n_neg = (total * check.power_of_two(total) for total in (hull.n_pos, hull.n_neg))
        right = np.diff(hull.fps) * check.power_of_two(hull.n_neg) * n_pos
        up = np.diff(hull.tps) * check.power_of_two(hull.n_pos) * n_neg
        edges = np.concatenate(([0.0], np.maximum.accumulate(right / (right + up)), [1.0]))
        kept = np.diff(edges) > 0  # a line that is least in one point alone is no piece
        fpr, fnr = fpr[kept], fnr[kept]
        starts = np.append(edges[:-1][kept], 1.0)
        cost = (1 - starts) * np.append(fpr, 1.0) + starts * np.append(fnr, fnr[-1])
        return cls(starts, cost, hull.thresholds[kept], fpr, fnr)

    @property
    def area(self) -> float:
        """Mean least cost over PC(+)."""
        return area_under(self.probability_cost, self.cost)

    def operating_range(self) -> Interval:
        """Give the range of PC(+) in which it is below predicting all and none; both NaN if there is none."""
        useful = np.flatnonzero((self.fpr < 1) & (self.fnr < 1))  # not NaN
        if not useful.size:
            return Interval(math.nan, math.nan)
        edges = self.probability_cost
        return Interval(float(edges[useful[0]]), float(edges[useful[-1] + 1]))

    def at(self, probability_cost: ArrayLike) -> OperatingPoint:
        """Give the least cost at PC(+), and the highest threshold that attains it.

        Parameters
        ----------
        probability_cost : float or array-like in [0, 1]
            PC(+).

        Returns
        -------
        OperatingPoint
            Arrays of the places' shape where an array is given.

        Raises
        ------
        ValueError
            If a place is out of range.
        """
        return self.least_at(check.as_shares("probability_cost", probability_cost))

    def least_at(self, place: NDArray[np.float64]) -> OperatingPoint:
        """`at` of places that are checked, or NaN."""
        fpr, fnr, threshold = self.lines_at(place)
        return OperatingPoint(number_or_array((1 - place) * fpr + place * fnr), number_or_array(threshold))

    def lines_at(self, place: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
        """Give FPR, FNR and threshold of the line that is least at each place; where two are, the higher threshold."""
        piece = np.searchsorted(self.probability_cost[1:-1], place, side="left")
        # At 0, or where nothing costs, "predict none" is free.
        threshold = np.where((place > 0) | np.isnan(self.cost[0]), self.thresholds[piece], np.inf)
        return self.fpr[piece], self.fnr[piece], threshold
