"""The ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.cells import ratio
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves.base import Curve
from fastevals.measure.sweeps import map_rows, select_rows

__all__ = ["RocCurve", "corners"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(Curve):
    """True positive rate against false positive rate, from the highest threshold down; unpacks like scikit-learn's.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        From (0, 0) to (1, 1), ascending; NaN where the class has no rows.
    thresholds : ndarray of shape (n_points,)
        Descending from +inf.

    References
    ----------
    Fawcett (2006), "An introduction to ROC analysis", doi:10.1016/j.patrec.2005.10.010.

    Examples
    --------
    >>> import fastevals
    >>> fpr, tpr, thresholds = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).roc_curve()
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[Any]

    def __repr__(self) -> str:
        return f"RocCurve({len(self)} points, area={self.area:.6g})"

    @property
    def area(self) -> float:
        """Area under the polyline."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @classmethod
    def from_counts(cls, counts: ThresholdCounts, *, drop_intermediate: bool = True) -> RocCurve:
        """Make the curve of threshold counts."""
        if drop_intermediate:
            counts = counts.take(corners(counts))
        n = counts.thresholds.size
        return cls(
            map_rows(n, lambda rows: ratio(counts.fps[rows], counts.n_neg)),
            map_rows(n, lambda rows: ratio(counts.tps[rows], counts.n_pos)),
            counts.thresholds,
        )


def corners(counts: ThresholdCounts) -> NDArray[np.intp]:
    """Give the rows where the ROC polyline starts, ends, or leaves a horizontal or vertical stretch.

    Whether a count changed is exact and doesn't depend on the scale of weights, as slopes would (scikit-learn #31635).
    """
    n = counts.thresholds.size

    def keep(rows: slice) -> NDArray[np.bool_]:
        inner = slice(max(rows.start, 1), min(rows.stop, n - 1))
        near = slice(inner.start - 1, inner.stop + 1)
        straight = np.zeros(max(inner.stop - inner.start, 0), dtype=np.bool_)
        for totals in (counts.tps, counts.fps):
            still = totals[near][1:] == totals[near][:-1]
            straight |= still[1:] & still[:-1]
        kept = np.ones(rows.stop - rows.start, dtype=np.bool_)
        kept[inner.start - rows.start : inner.stop - rows.start] = ~straight
        return kept

    return select_rows(n, keep)
