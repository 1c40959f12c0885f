"""The risk-coverage curve: the error of the answers that a model gives when it may abstain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_number
from fastevals._validation.arrays import Floats, Places
from fastevals.measure import ranking_metrics
from fastevals.measure.cells import ratio
from fastevals.measure.curves import rates
from fastevals.measure.curves.base import Curve, Polyline
from fastevals.results import OperatingPoint


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RiskCoverageCurve(Curve):
    """Selective risk against coverage: the share of errors among the answers, the most confident answers first.

    Positives are right answers, negatives are errors, and scores are the model's confidence. The model answers the rows
    at or above a threshold, and abstains on the others. Unpacks as ``coverage, risk, thresholds``.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts of right answers and errors at the threshold of each point.

    Attributes
    ----------
    coverage : ndarray of shape (n_thresholds + 1,)
        Share of rows that are answered, ascending from 0 to 1.
    risk : ndarray of shape (n_thresholds + 1,)
        Share of errors among them. At threshold +inf, where no row is answered, it equals the risk of the next point.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    area : float
        Area under the curve (AURC): the mean risk over all coverages, with counts linear between points.
    excess_area : float
        The area minus the least possible area at the same error rate (E-AURC): 0 if every error is less confident than
        every right answer.

    Notes
    -----
    In the original definition [1]_, the AURC is a mean over rows, which depends on the order of tied rows. Without ties
    this mean differs from the area by at most (1 + log(n)) / (2 n) for n rows.

    References
    ----------
    .. [1] Geifman and El-Yaniv (2017), "Selective Classification for Deep Neural Networks", arXiv:1705.08500.
    .. [2] Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers",
       arXiv:1805.08206 (E-AURC).

    Examples
    --------
    >>> import fastevals
    >>> right, confidence = [True, True, False, True], [0.9, 0.8, 0.7, 0.6]
    >>> curve = fastevals.Ranking(right, confidence).risk_coverage_curve()
    >>> curve.risk.round(3)
    array([0.   , 0.   , 0.   , 0.333, 0.25 ])
    >>> curve.at(coverage=0.5), curve.largest_coverage(risk=0.3)
    (0.0, OperatingPoint(value=1.0, threshold=0.6))
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("coverage", "risk", "thresholds")
    NEEDS_NEGATIVES: ClassVar[bool] = False

    @property
    def defined(self) -> bool:
        """Return whether there are rows."""
        return bool(self.counts.n_pos or self.counts.n_neg)

    @property
    def coverage(self) -> NDArray[np.float64]:
        """Share of rows that are answered, ascending from 0 to 1."""
        return self._rates(rates.share)

    @property
    def risk(self) -> NDArray[np.float64]:
        """Share of errors among the rows that are answered."""
        return self._rates(rates.risk)

    @property
    def area(self) -> float:
        """Mean risk over all coverages (AURC)."""
        return ranking_metrics.risk_coverage_area(self.counts)

    @property
    def excess_area(self) -> float:
        """The area minus the least possible area at the same error rate (E-AURC)."""
        return ranking_metrics.excess_risk_coverage_area(self.counts)

    @overload
    def at(self, coverage: float) -> float: ...
    @overload
    def at(self, coverage: Places) -> Floats: ...
    @overload
    def at(self, *, threshold: float) -> tuple[float, float]: ...
    @overload
    def at(self, *, threshold: Places) -> tuple[Floats, Floats]: ...
    def at(self, coverage: ArrayLike | None = None, *, threshold: ArrayLike | None = None) -> Any:
        """Read the curve at one or several coverages or thresholds.

        Parameters
        ----------
        coverage : float or array-like in [0, 1], optional
            Return the risk when this share of the rows is answered.
        threshold : float or array-like, optional
            Return the coverage and the risk when rows with ``score >= threshold`` are answered.

        Returns
        -------
        float, ndarray, or a tuple of two
            Between points, the expected value if rows of a group of ties are answered at random.

        Raises
        ------
        ValueError
            If not exactly one argument is given, or if it is out of range.
        """
        return self._read_at(coverage=coverage, threshold=threshold)

    def largest_coverage(self, *, risk: float) -> OperatingPoint:
        """Find the threshold at or above which most rows are answered with at most a given risk.

        Parameters
        ----------
        risk : float in [0, 1]
            The largest share of errors allowed among the answers.

        Returns
        -------
        OperatingPoint
            The coverage and the threshold; coverage 0 and threshold +inf if no threshold has so low a risk. If the
            threshold was chosen on the same rows, the risk on other rows tends to be above `risk`.

        Raises
        ------
        ValueError
            If `risk` is out of range.
        """
        limit = check_number("risk", risk, low=0, high=1)
        return ranking_metrics.coverage_at_risk(self.counts, limit)

    def _linear_points(self) -> Polyline:
        """Return the share of errors in all rows, as a negative number, over the coverage."""
        total = self.counts.n_pos + self.counts.n_neg
        return Polyline(self.coverage, -ratio(self.counts.fps, total))

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Up to the first point the risk is constant, and tiny shares lack the digits for a division.
        constant = (points.x < self.coverage[min(1, len(self) - 1)]) | (points.x == 0)
        return points.x, np.where(constant, 1 - rates.first_precision(self.counts), ratio(-points.y, points.x))
