"""Curves of a ranking."""

from __future__ import annotations

from typing import TypeVar

from numpy.typing import ArrayLike

from fastevals.measure.curves.base import Curve
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.ranking.numbers import Counted

C = TypeVar("C", bound=Curve | DecisionCurve)


class Curves(Counted):
    """Methods that give a curve."""

    __slots__ = ()

    def roc_curve(self, *, drop_intermediate: bool = True) -> RocCurve:
        """True positive rate against false positive rate.

        Parameters
        ----------
        drop_intermediate : bool
            Leave out points inside horizontal and vertical stretches: the same polyline with fewer points.

        Returns
        -------
        RocCurve
            Unpacks as ``fpr, tpr, thresholds``. Rates of a missing class are NaN.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.roc_curve()
        RocCurve(5 points, area=0.75)
        """
        return self._warned("roc_curve", RocCurve(self.counts, drop_intermediate))

    def det_curve(self, *, drop_intermediate: bool = True) -> DetCurve:
        """False negative rate against false positive rate.

        Parameters
        ----------
        drop_intermediate : bool
            Leave out points inside horizontal and vertical stretches: the same polyline with fewer points.

        Returns
        -------
        DetCurve
            Unpacks as ``fpr, fnr, thresholds``. Rates of a missing class are NaN.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.det_curve()
        DetCurve(5 points, area=0.25)
        """
        return self._warned("det_curve", DetCurve(self.counts, drop_intermediate))

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        """Precision against recall.

        Returns
        -------
        PrecisionRecallCurve
            Unpacks as ``precision, recall, thresholds``, from the highest threshold down.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> precision, recall, thresholds = ranking.precision_recall_curve()
        >>> float(precision.min())
        0.5
        """
        return self._warned("precision_recall_curve", PrecisionRecallCurve(self.counts))

    def gain_curve(self) -> GainCurve:
        """Share of all positives found against the share of rows predicted positive.

        Returns
        -------
        GainCurve
            Unpacks as ``share, gain, thresholds``; the gain is NaN without positives.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.gain_curve().at(share=0.5)
        0.5
        """
        return self._warned("gain_curve", GainCurve(self.counts))

    def lift_curve(self) -> LiftCurve:
        """How many times as many positives are found as among as many rows taken by chance.

        Returns
        -------
        LiftCurve
            Unpacks as ``share, lift, thresholds``; the lift is NaN without positives.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.lift_curve().at(share=0.25)
        2.0
        """
        return self._warned("lift_curve", LiftCurve(self.counts))

    def cost_curve(self) -> CostCurve:
        """Expected cost against prior and costs in one, with the threshold that attains the least.

        Returns
        -------
        CostCurve
            Its lower envelope is NaN if a class is missing.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.cost_curve().at(prior=0.2, cost_fp=1, cost_fn=8)
        OperatingPoint(value=0.16666666666666669, threshold=0.3)
        """
        return self._warned("cost_curve", CostCurve(self.counts))

    def calibration_curve(self, *, n_bins: int = 10, strategy: str = "uniform") -> CalibrationCurve:
        """Share of positives against mean predicted probability, in bins.

        Parameters
        ----------
        n_bins : int
            At least 1.
        strategy : {"uniform", "quantile"}
            Bins of equal width, or of equal mass (rows or weight; rows of one score are never split).

        Returns
        -------
        CalibrationCurve
            With the expected and the maximum calibration error.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an option is out of range.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> round(ranking.calibration_curve(n_bins=2).expected_calibration_error, 12)
        0.1
        """
        return CalibrationCurve.from_counts(self.counts, n_bins=n_bins, strategy=strategy)

    def decision_curve(
        self, threshold_probability: ArrayLike | None = None, *, prior: float | None = None
    ) -> DecisionCurve:
        """Net benefit of acting on the predicted probabilities, beside that of treating all or none.

        Parameters
        ----------
        threshold_probability : array-like of shape (n_points,), optional
            In [0, 1); by default 0.01, 0.02, ..., 0.99.
        prior : float in [0, 1], optional
            Share of positives where the model will be used; by default the share here.

        Returns
        -------
        DecisionCurve
            NaN if `prior` is given and a class is missing.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an argument is out of range.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8])
        >>> ranking.decision_curve().at(0.3)
        0.3142857142857143
        """
        return self._warned(
            "decision_curve", DecisionCurve.from_counts(self.counts, threshold_probability, prior=prior)
        )

    def _warned(self, name: str, curve: C) -> C:
        """Return a curve, with a warning where it is undefined."""
        self._warn_if(not curve.defined, name)
        return curve
