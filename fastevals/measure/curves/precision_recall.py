"""The precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import Floats, Places
from fastevals.measure import ranking_metrics
from fastevals.measure.cells import ratio
from fastevals.measure.curves import rates
from fastevals.measure.curves.base import Curve, Polyline


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrecisionRecallCurve(Curve):
    """Precision and recall at each threshold, from the highest down; unpacks as ``precision, recall, thresholds``.

    Between two points the counts are interpolated linearly, because choosing randomly between two thresholds attains
    such counts. Precision is then not linear in recall (Davis and Goadrich 2006).

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at the threshold of each point.

    Attributes
    ----------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        The first point is (1, 0) by convention: no row is predicted positive at +inf. Recall ascends to 1.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    area : float
        Area under the curve between its points, the same as `Ranking.pr_auc` (not average precision).

    References
    ----------
    Davis and Goadrich (2006), doi:10.1145/1143844.1143874.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).precision_recall_curve()
    >>> curve.recall
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve.at(recall=0.75)  # half way from 1 of 2 found to 2 of 3: 1.5 of 2.5
    0.6
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("precision", "recall", "thresholds")
    NEEDS_NEGATIVES: ClassVar[bool] = False

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of predicted positives that are positive; 1 at the first point."""
        return self._rates(rates.precision)

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of positives that are predicted positive, ascending."""
        return self._rates(rates.recall)

    @property
    def area(self) -> float:
        """Area under the curve, with counts linear between points."""
        return ranking_metrics.pr_auc(self.counts)

    @overload
    def at(self, recall: float) -> float: ...
    @overload
    def at(self, recall: Places) -> Floats: ...
    @overload
    def at(self, *, threshold: float) -> tuple[float, float]: ...
    @overload
    def at(self, *, threshold: Places) -> tuple[Floats, Floats]: ...
    def at(self, recall: ArrayLike | None = None, *, threshold: ArrayLike | None = None) -> Any:
        """Read the curve at one or several values of recall or threshold.

        Parameters
        ----------
        recall : float or array-like in [0, 1], optional
            Return the precision at this recall: the highest if several thresholds have this recall; 1 at recall 0.
        threshold : float or array-like, optional
            Return ``(precision, recall)`` when rows with ``score >= threshold`` are predicted positive.

        Returns
        -------
        float, ndarray, or a tuple of two
            Between points the counts are linear; precision is not.

        Raises
        ------
        ValueError
            If not exactly one argument is given, or if it is out of range.
        """
        return self._read_at(recall=recall, threshold=threshold)

    def _linear_points(self) -> Polyline:
        """Return recall, and minus the number of false positives per positive row."""
        return Polyline(self.recall, ratio(-self.counts.fps, self.counts.n_pos))

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        precision = ratio(points.x, points.x - points.y)
        first = int(np.argmax(self.recall > 0))
        if not self.counts.fps[first - 1]:  # precision is constant up to there, and tiny recalls lack digits
            precision = np.where(points.x < self.recall[first], self.precision[first], precision)
        return np.where((points.x == 0) & (points.y == 0), 1.0, precision), points.x
