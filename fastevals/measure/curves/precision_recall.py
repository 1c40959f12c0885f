"""The precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.cells import ratio
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves.base import Curve
from fastevals.measure.sweeps import map_rows

__all__ = ["PrecisionRecallCurve"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrecisionRecallCurve(Curve):
    """Precision and recall at each threshold, from the highest down.

    Attributes
    ----------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        The first point is (1, 0) by convention: at threshold +inf nothing is predicted. Recall ascends to 1.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).precision_recall_curve()
    >>> curve.recall
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[Any]

    def __repr__(self) -> str:
        return f"PrecisionRecallCurve({len(self)} points)"

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> PrecisionRecallCurve:
        """Make the curve of threshold counts."""
        n = counts.thresholds.size
        precision = map_rows(n, lambda rows: ratio(counts.tps[rows], counts.tps[rows] + counts.fps[rows]))
        precision[0] = 1.0
        return cls(precision, map_rows(n, lambda rows: ratio(counts.tps[rows], counts.n_pos)), counts.thresholds)
