"""Curves over the share of rows predicted positive: cumulative gain, and lift."""

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


class _ShareCurve(Curve):
    """A curve over the share of rows predicted positive, highest scores first, with counts linear between points."""

    __slots__ = ()

    NEEDS_NEGATIVES: ClassVar[bool] = False

    @property
    def share(self) -> NDArray[np.float64]:
        """Share of rows predicted positive, ascending from 0 to 1."""
        return self._rates(rates.share)

    @property
    def gain(self) -> NDArray[np.float64]:
        """Share of the positives that are predicted positive, ascending from 0 to 1."""
        return self._rates(rates.recall)

    def _linear_points(self) -> Polyline:
        return Polyline(self.share, self.gain)

    @overload
    def at(self, share: float) -> float: ...
    @overload
    def at(self, share: Places) -> Floats: ...
    @overload
    def at(self, *, threshold: float) -> tuple[float, float]: ...
    @overload
    def at(self, *, threshold: Places) -> tuple[Floats, Floats]: ...
    def at(self, share: ArrayLike | None = None, *, threshold: ArrayLike | None = None) -> Any:
        """Read the curve at one or several shares or thresholds.

        Parameters
        ----------
        share : float or array-like in [0, 1], optional
            Return the gain (or lift) when this share of the rows is predicted positive.
        threshold : float or array-like, optional
            Return the share and the gain (or lift) when rows with ``score >= threshold`` are predicted positive.

        Returns
        -------
        float, ndarray, or a tuple of two
            Between points, the expected value if rows of a group of ties are chosen at random.

        Raises
        ------
        ValueError
            If not exactly one argument is given, or if it is out of range.
        """
        return self._read_at(share=share, threshold=threshold)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GainCurve(_ShareCurve):
    """Share of the positives found, plotted against the share of rows predicted positive.

    Unpacks as ``share, gain, thresholds``.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at the threshold of each point.

    Attributes
    ----------
    share, gain : ndarray of shape (n_thresholds + 1,)
        From (0, 0) to (1, 1), ascending; `gain` is recall, NaN without positives.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    area : float
        Area under the polyline: 0.5 for random scores and at most 1 - p / 2, where p is the share of positives.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).gain_curve()
    >>> curve.at(share=0.25), curve.area
    (0.5, 0.625)
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("share", "gain", "thresholds")

    @property
    def area(self) -> float:
        """Area under the polyline."""
        if not self.counts.n_pos:
            return float("nan")
        if not self.counts.n_neg:
            return 0.5
        positives = self.counts.n_pos / (self.counts.n_pos + self.counts.n_neg)
        return positives / 2 + (1 - positives) * ranking_metrics.roc_auc(self.counts)

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return points.x, points.y


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LiftCurve(_ShareCurve):
    """Positives found, relative to the number expected at random; unpacks as ``share, lift, thresholds``.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at the threshold of each point.

    Attributes
    ----------
    share : ndarray of shape (n_thresholds + 1,)
        Share of rows predicted positive, ascending from 0 to 1.
    lift : ndarray of shape (n_thresholds + 1,)
        Precision divided by the share of positives; NaN without positives. At threshold +inf, where no row is
        predicted positive, it equals the lift of the next point.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    area : float
        Mean lift over all shares, with counts linear between points; 1 for random scores.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).lift_curve()
    >>> curve.lift
    array([2.        , 2.        , 1.        , 1.33333333, 1.        ])
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("share", "lift", "thresholds")

    @property
    def lift(self) -> NDArray[np.float64]:
        """Precision divided by the share of positives."""
        return self._rates(rates.lift)

    @property
    def area(self) -> float:
        """Mean lift over all shares."""
        return ranking_metrics.mean_lift(self.counts)

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Up to the first point the lift is constant, and tiny shares lack the digits for a division.
        constant = (points.x < self.share[min(1, len(self) - 1)]) | (points.x == 0)
        return points.x, np.where(constant, rates.first_lift(self.counts), ratio(points.y, points.x))
