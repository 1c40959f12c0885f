"""Curves of the two error rates: ROC and its mirror image, DET."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import Floats, Places
from fastevals.counting.sweeps import select_rows
from fastevals.counts import ThresholdCounts
from fastevals.measure import ranking_metrics
from fastevals.measure.curves import rates
from fastevals.measure.curves.base import Curve, Polyline, first_at


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _RateCurve(Curve):
    """FPR and TPR (or FNR) at each threshold.

    Points in between are reached by choosing randomly between two thresholds.
    """

    drop_intermediate: bool = False

    @property
    def _points(self) -> ThresholdCounts:
        return self._cached(corners) if self.drop_intermediate else self.counts

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rate, ascending."""
        return self._rates(rates.false_positive_rate)

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rate, ascending."""
        return self._rates(rates.recall)

    @property
    def fnr(self) -> NDArray[np.float64]:
        """False negative rate, descending."""
        return self._rates(rates.false_negative_rate)

    def _other_coordinate(self, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if name == "fpr":
            return Curve._other_coordinate(self, name, values)
        _, y = self._on_axes(Polyline(values, values))  # `_linear_points` has minus the FNR
        return first_at(self._linear_points(), y)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(_RateCurve):
    """True positive rate against false positive rate, from the highest threshold down.

    Unpacks like scikit-learn's: ``fpr, tpr, thresholds``.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at each threshold.
    drop_intermediate : bool
        Leave out points inside horizontal and vertical segments.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        From (0, 0) to (1, 1), ascending. `fpr` is NaN without negatives, and `tpr` without positives.
    thresholds : ndarray of shape (n_points,)
        Descending from +inf.
    area : float
        Area under the polyline, which is the AUC.

    References
    ----------
    Fawcett (2006), "An introduction to ROC analysis", doi:10.1016/j.patrec.2005.10.010.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).roc_curve()
    >>> fpr, tpr, thresholds = curve
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve.at(fpr=0.25), curve.at(tpr=0.75), curve.hull()
    (0.5, 0.5, RocCurve(4 points, area=0.875))
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("fpr", "tpr", "thresholds")

    @property
    def area(self) -> float:
        """Area under the polyline, which is the AUC."""
        return ranking_metrics.roc_auc(self.counts)

    @overload
    def at(self, fpr: float) -> float: ...
    @overload
    def at(self, fpr: Places) -> Floats: ...
    @overload
    def at(self, *, tpr: float) -> float: ...
    @overload
    def at(self, *, tpr: Places) -> Floats: ...
    @overload
    def at(self, *, threshold: float) -> tuple[float, float]: ...
    @overload
    def at(self, *, threshold: Places) -> tuple[Floats, Floats]: ...
    def at(
        self, fpr: ArrayLike | None = None, *, tpr: ArrayLike | None = None, threshold: ArrayLike | None = None
    ) -> Any:
        """Read the curve at one or several values of a coordinate or threshold.

        Parameters
        ----------
        fpr : float or array-like in [0, 1], optional
            Return the TPR at this FPR, the highest one where the curve is vertical.
        tpr : float or array-like in [0, 1], optional
            Return the lowest FPR at which this TPR is reached.
        threshold : float or array-like, optional
            Return ``(fpr, tpr)`` when rows with ``score >= threshold`` are predicted positive.

        Returns
        -------
        float, ndarray, or a tuple of two
            Linear between points: choosing randomly between two thresholds attains these values.

        Raises
        ------
        ValueError
            If not exactly one argument is given, or if it is out of range.
        """
        return self._read_at(fpr=fpr, tpr=tpr, threshold=threshold)

    def _linear_points(self) -> Polyline:
        return Polyline(self.fpr, self.tpr)

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return points.x, points.y


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DetCurve(_RateCurve):
    """False negative rate against false positive rate (detection error tradeoff), from the highest threshold down.

    Unpacks as ``fpr, fnr, thresholds``. It is usually drawn on normal-deviate axes.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at each threshold.
    drop_intermediate : bool
        Leave out points inside horizontal and vertical segments.

    Attributes
    ----------
    fpr : ndarray of shape (n_points,)
        Ascending from 0 to 1; NaN without negatives.
    fnr : ndarray of shape (n_points,)
        Descending from 1 to 0; NaN without positives.
    thresholds : ndarray of shape (n_points,)
        Descending from +inf. (scikit-learn's curve has the same direction since 1.9, but lacks the ends.)
    area : float
        Area under the polyline, which is 1 - AUC; lower is better.

    References
    ----------
    Martin et al. (1997), "The DET curve in assessment of detection task performance", Eurospeech.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).det_curve()
    >>> curve.fnr
    array([1. , 0.5, 0.5, 0. , 0. ])
    >>> curve.at(fpr=0.25), curve.area
    (0.5, 0.25)
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("fpr", "fnr", "thresholds")

    @property
    def area(self) -> float:
        """Area under the polyline, which is 1 - AUC."""
        return ranking_metrics.rank_loss(self.counts)

    @overload
    def at(self, fpr: float) -> float: ...
    @overload
    def at(self, fpr: Places) -> Floats: ...
    @overload
    def at(self, *, fnr: float) -> float: ...
    @overload
    def at(self, *, fnr: Places) -> Floats: ...
    @overload
    def at(self, *, threshold: float) -> tuple[float, float]: ...
    @overload
    def at(self, *, threshold: Places) -> tuple[Floats, Floats]: ...
    def at(
        self, fpr: ArrayLike | None = None, *, fnr: ArrayLike | None = None, threshold: ArrayLike | None = None
    ) -> Any:
        """Read the curve at one or several values of a coordinate or threshold.

        Parameters
        ----------
        fpr : float or array-like in [0, 1], optional
            Return the FNR at this FPR, the lowest one where the curve is vertical.
        fnr : float or array-like in [0, 1], optional
            Return the lowest FPR at which the FNR is at most this.
        threshold : float or array-like, optional
            Return ``(fpr, fnr)`` when rows with ``score >= threshold`` are predicted positive.

        Returns
        -------
        float, ndarray, or a tuple of two
            Linear in both rates between points, whatever axes the curve is drawn on.

        Raises
        ------
        ValueError
            If not exactly one argument is given, or if it is out of range.
        """
        return self._read_at(fpr=fpr, fnr=fnr, threshold=threshold)

    def _linear_points(self) -> Polyline:
        return Polyline(self.fpr, -self.fnr)

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return points.x, -points.y


def corners(counts: ThresholdCounts) -> ThresholdCounts:
    """Keep the rows where the ROC polyline starts, ends, or leaves a horizontal or vertical segment.

    Comparing counts is exact and does not depend on the scale of weights, unlike slopes (scikit-learn #31635).
    """
    n = counts.thresholds.size

    def keep(rows: slice) -> NDArray[np.bool_]:
        inner = slice(max(rows.start, 1), min(rows.stop, n - 1))
        with_neighbours = slice(inner.start - 1, inner.stop + 1)
        straight = np.zeros(max(inner.stop - inner.start, 0), dtype=np.bool_)
        for totals in (counts.tps, counts.fps):
            unchanged = totals[with_neighbours][1:] == totals[with_neighbours][:-1]
            straight |= unchanged[1:] & unchanged[:-1]
        kept = np.ones(rows.stop - rows.start, dtype=np.bool_)
        kept[inner.start - rows.start : inner.stop - rows.start] = ~straight
        return kept

    return counts.take(select_rows(n, keep))
