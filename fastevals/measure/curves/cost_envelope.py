"""The lower envelope of cost curves: the least cost, and the threshold that attains it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure import cells, ranking_metrics
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves.base import Frozen
from fastevals.measure.results import plain

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
    """

    probability_cost: NDArray[np.float64]
    cost: NDArray[np.float64]
    thresholds: NDArray[Any]
    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"CostEnvelope({self.thresholds.size} pieces, area={self.area:.6g})"

    def to_dict(self) -> dict[str, list[float]]:
        """Give the arrays as lists."""
        return {name: list(map(plain, getattr(self, name))) for name in self.__slots__}

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> CostEnvelope:
        """Take the lines of the ROC hull's vertices; neighbours meet where the hull's slope is the ratio of costs."""
        hull = ranking_metrics.hull(counts)
        at = hull.cells()
        fpr, tpr, fnr = (rate(at) for rate in (cells.false_positive_rate, cells.recall, cells.false_negative_rate))
        if math.isnan(fpr[-1]) or math.isnan(tpr[-1]):
            nothing = np.full(2, np.nan)
            return cls(np.array([0.0, 1.0]), nothing, hull.thresholds[:1], nothing[:1], nothing[:1])
        right, up = np.diff(fpr), np.diff(tpr)
        edges = np.concatenate(([0.0], np.maximum.accumulate(right / (right + up)), [1.0]))
        kept = np.diff(edges) > 0  # a line that is least in one point alone is no piece
        fpr, fnr = fpr[kept], fnr[kept]
        starts = np.append(edges[:-1][kept], 1.0)
        cost = (1 - starts) * np.append(fpr, 1.0) + starts * np.append(fnr, fnr[-1])
        return cls(starts, cost, hull.thresholds[kept], fpr, fnr)

    @property
    def area(self) -> float:
        """Mean least cost over PC(+)."""
        return math.fsum(np.diff(self.probability_cost) * (self.cost[1:] + self.cost[:-1]) / 2)

    def piece_at(self, probability_cost: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give the piece at each place; where two meet, that of the higher threshold."""
        return np.searchsorted(self.probability_cost[1:-1], probability_cost, side="left")

    def at(self, probability_cost: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Give the least cost at each place, and its threshold."""
        piece = self.piece_at(probability_cost)
        cost = (1 - probability_cost) * self.fpr[piece] + probability_cost * self.fnr[piece]
        return cost, np.where(probability_cost == 0, np.inf, self.thresholds[piece])  # at 0 "predict none" is free
