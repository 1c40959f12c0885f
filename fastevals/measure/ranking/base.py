"""The methods of rankings, all functions of their counts: numbers, thresholds and curves."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar, overload

from numpy.typing import ArrayLike

from fastevals._options import as_flag, check_choice, check_costs, check_exactly_one, check_number, warn_undefined
from fastevals._validation.arrays import Floats, Places, as_thresholds
from fastevals._validation.labels import Classes
from fastevals.counts import ThresholdCounts
from fastevals.measure import probability_metrics, ranking_metrics
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.base import Curve
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.decision import DecisionCurve, net_benefit
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import entry_of
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.probability_metrics import BrierDecomposition, Strategy
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.results import OperatingPoint

C = TypeVar("C", bound=Curve | DecisionCurve | CalibrationCurve)
Doubt = tuple[float, float]  # how far the rows' own value may lie below, and above, a value


class BaseRanking(ABC):
    """Rows of two classes ranked by a score, wherever they were counted: all of it is read from threshold counts."""

    __slots__ = ()

    n_positives: int
    n_negatives: int
    _moments: Any = None  # DeLong's, where they are known without counts

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        return f"Ranking(n_positives={self.n_positives}, n_negatives={self.n_negatives}{weighted})"

    @property
    @abstractmethod
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score."""

    @property
    def n_samples(self) -> int:
        """Rows of weight above zero; where only sums of weights are known, one for each."""
        return self.n_positives + self.n_negatives

    @property
    def pos_label(self) -> Any:
        """The positive class."""
        return self._classes().pos_label

    @property
    def is_weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self.counts.tps.dtype.kind == "f"

    @property
    def _squares(self) -> SquaredWeights | None:
        """Sums of squared weights at the thresholds of the counts; None without weights, or where they aren't known."""
        return None

    # Areas and rates ----------------------------------------------------------------------------------------------

    def roc_auc(self, *, max_fpr: float | None = None, min_tpr: float | None = None, standardize: bool = True) -> float:
        """Area under the ROC curve: the chance that a positive ranks above a negative, ties counting half.

        Without weights it is the ratio of two integers, rounded once.

        Parameters
        ----------
        max_fpr : float in (0, 1], optional
            Only the area where FPR is at most this.
        min_tpr : float in [0, 1), optional
            Only the area above this TPR.
        standardize : bool
            Scale a partial area so that chance is 0.5 and a perfect ranking 1 (as scikit-learn does).

        Returns
        -------
        float
            In [0, 1]; NaN if a class is missing.

        Raises
        ------
        ValueError
            If `max_fpr` or `min_tpr` is out of range.

        References
        ----------
        Zhou, *Machine Learning*, (2.20); McClish (1989), doi:10.1177/0272989X8900900307; with both bounds, Yang et
        al. (2019), doi:10.1177/0962280217718866.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.roc_auc(), ranking.roc_auc(max_fpr=0.5, standardize=False)
        (0.75, 0.25)
        """
        standardize = as_flag("standardize", standardize)
        right = 1.0 if max_fpr is None else check_number("max_fpr", max_fpr, low=0, high=1, open_low=True)
        bottom = 0.0 if min_tpr is None else check_number("min_tpr", min_tpr, low=0, high=1, open_high=True)
        if right < 1 or bottom > 0:
            area = ranking_metrics.partial_roc_auc(self.counts, right, bottom, standardize)
            return self._warned_value("roc_auc", area)
        exact = self._doubled_u_and_pairs()
        if exact is None:
            return self._warned_value("roc_auc", ranking_metrics.roc_auc(self.counts))
        doubled_u, pairs = exact
        return doubled_u / (2 * pairs)

    def rank_loss(self) -> float:
        """Share of pairs of a positive and a negative that are ranked wrong, ties counting half: 1 - AUC.

        Returns
        -------
        float
            In [0, 1]; NaN if a class is missing.

        References
        ----------
        Zhou, *Machine Learning*, (2.21).

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.rank_loss()
        0.25
        """
        exact = self._doubled_u_and_pairs()
        if exact is None:
            return self._warned_value("rank_loss", ranking_metrics.rank_loss(self.counts))
        doubled_u, pairs = exact
        return (2 * pairs - doubled_u) / (2 * pairs)

    def gini(self) -> float:
        """Gini coefficient, or accuracy ratio: ``2 AUC - 1``, 0 for scores that don't rank and 1 for perfect ones.

        Returns
        -------
        float
            NaN if a class is missing.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).gini()
        0.5
        """
        exact = self._doubled_u_and_pairs()
        if exact is None:
            return self._warned_value("gini", ranking_metrics.gini(self.counts))
        doubled_u, pairs = exact
        return (doubled_u - pairs) / pairs

    def average_precision(self) -> float:
        """Sum over thresholds of recall gained times precision (scikit-learn's AP: no interpolation).

        Returns
        -------
        float
            In [0, 1]; NaN without positives.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.average_precision()
        0.8333333333333333
        """
        total = self._sum_of_precision()
        if total is None:
            return self._warned_value("average_precision", ranking_metrics.average_precision(self.counts))
        share = ranking_metrics.STEPWISE.of_sum(total / self.n_positives) if self.n_positives else math.nan
        return self._warned_value("average_precision", share)

    def pr_auc(self, *, interpolation: ranking_metrics.Interpolation = "davis-goadrich") -> float:
        """Area under the precision-recall curve.

        Parameters
        ----------
        interpolation : {"davis-goadrich", "linear"}
            Between points, counts are linear (right, for any point there can be attained by chance) or precision is
            (too optimistic, but often published: the trapezoids of scikit-learn's curve).

        Returns
        -------
        float
            In [0, 1]; NaN without positives.

        Raises
        ------
        ValueError
            If `interpolation` is neither.

        References
        ----------
        Davis and Goadrich (2006), doi:10.1145/1143844.1143874.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.pr_auc(interpolation="linear")
        0.7916666666666666
        """
        check_choice("interpolation", interpolation, ranking_metrics.Interpolation)
        return self._warned_value("pr_auc", ranking_metrics.pr_auc(self.counts, interpolation))

    def ks_statistic(self) -> OperatingPoint:
        """Largest distance between TPR and FPR (the two-sample Kolmogorov-Smirnov statistic of the classes).

        Returns
        -------
        OperatingPoint
            The distance, and the highest threshold that attains it; NaN if a class is missing.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.ks_statistic()
        OperatingPoint(value=0.5, threshold=0.8)
        """
        return self._warned_point("ks_statistic", ranking_metrics.ks_statistic(self.counts))

    def break_even_point(self) -> OperatingPoint:
        """Value at which precision equals recall: where as many rows are predicted positive as are positive.

        Inside a tie group counts are interpolated linearly.

        Returns
        -------
        OperatingPoint
            The value, and the threshold at or just past it; NaN if no positive is found there or there are none.

        References
        ----------
        Zhou, *Machine Learning*, section 2.3.2.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.break_even_point()
        OperatingPoint(value=0.5, threshold=0.4)
        """
        return self._warned_point(
            "break_even_point",
            ranking_metrics.break_even_point(self.counts),
            "there are no positives, or none among as many rows of highest score",
        )

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """Rate at which FPR = FNR: where the ROC polyline crosses FPR = 1 - TPR, interpolated.

        Martin et al. (1997), "The DET curve in assessment of detection task performance", Eurospeech.

        Parameters
        ----------
        on_hull : bool
            Cross the convex hull of the ROC curve instead: what can be attained by mixing two thresholds at random.

        Returns
        -------
        OperatingPoint
            The rate, and the threshold of the point at or just past it; NaN if a class is missing.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> value, threshold = ranking.equal_error_rate()
        >>> value
        0.5
        """
        return self._warned_point("equal_error_rate", ranking_metrics.equal_error_rate(self.counts, on_hull))

    # Probabilities ------------------------------------------------------------------------------------------------

    def brier_score(self) -> float:
        """Mean squared difference between the predicted probability and what happened; less is better.

        Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2, for two classes halved.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).brier_score()
        0.175
        """
        return probability_metrics.brier_score(self.counts)

    def brier_decomposition(self, n_bins: int | None = 10, *, strategy: Strategy = "quantile") -> BrierDecomposition:
        """Split the Brier score into parts: reliability - resolution + uncertainty, and two for what bins hide.

        Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2.

        Parameters
        ----------
        n_bins : int or None
            Bins in which mean probability and share of positives are compared. With None each distinct probability is
            a bin: where each row has one of its own, the reliability is then the Brier score itself.
        strategy : {"quantile", "uniform"}
            Bins of equal mass, or of equal width, as the calibration curve has. No more than `n_bins` distinct
            probabilities are a quantile bin each.

        Returns
        -------
        BrierDecomposition
            The parts, which add up. The two for the inside of bins are 0 where each probability is a bin of its own.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an option is out of range.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.25, 0.25, 0.25, 1.0]).brier_decomposition().uncertainty
        0.25
        """
        return probability_metrics.brier_decomposition(self.counts, n_bins=n_bins, strategy=strategy)

    def log_loss(self) -> float:
        """Mean of minus the natural logarithm of the probability given to what happened; less is better.

        Good (1952), "Rational Decisions", doi:10.1111/j.2517-6161.1952.tb00104.x.

        Returns
        -------
        float
            Not negative; inf where what happened was called impossible (scikit-learn clips instead).

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.25, 0.25, 0.5, 0.75]).log_loss()
        0.389048349478822
        """
        return probability_metrics.log_loss(self.counts)

    # Thresholds ---------------------------------------------------------------------------------------------------

    def expected_calibration_error(self, n_bins: int = 10, *, strategy: Strategy = "uniform") -> float:
        """Mean distance of mean predicted probability and share of positives, over bins of probabilities.

        Parameters
        ----------
        n_bins, strategy
            As of `calibration_curve`.

        Returns
        -------
        float
            0 if calibrated in each bin; NaN without rows.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an option is out of range.

        Examples
        --------
        >>> import fastevals
        >>> round(fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).expected_calibration_error(2), 12)
        0.1
        """
        return self.calibration_curve(n_bins, strategy=strategy).expected_calibration_error

    @overload
    def confusion_at(self, thresholds: float) -> ConfusionMatrix: ...
    @overload
    def confusion_at(self, thresholds: Places) -> ConfusionMatrix[Floats]: ...
    def confusion_at(self, thresholds: ArrayLike) -> ConfusionMatrix[Any]:
        """Count the confusion matrix at a threshold, or at each of an array of them.

        Parameters
        ----------
        thresholds : float or array-like
            Rows with ``score >= threshold`` are predicted positive; infinities are allowed.

        Returns
        -------
        ConfusionMatrix
            Of shape ``thresholds.shape + (2, 2)``, the negative class first. Where no row has it, it is called 0, or
            "not" the other.

        Raises
        ------
        ValueError
            If a threshold is NaN or not a number.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.confusion_at([0.3, 0.8]).recall()
        array([1. , 0.5])
        """
        values = as_thresholds("thresholds", thresholds)
        return ConfusionMatrix._from_counts(at_thresholds.confusion_counts(self.counts, values), self._classes())

    def best_threshold(
        self,
        metric: str | Callable[..., Any],
        *,
        maximize: bool | None = None,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prior: float | None = None,
    ) -> OperatingPoint:
        """Find the threshold that is best by a metric of the confusion matrix.

        A threshold chosen and judged on the same rows looks better than it is.

        Parameters
        ----------
        metric : str or callable
            Name of a metric of one threshold ("f1", "informedness", "matthews", "expected_cost", ...), or a function of
            the counts ``(tp, fp, fn, tn)``, arrays of one shape, that gives an array of that shape.
        maximize : bool, optional
            Direction; by default the named metric's own, and True for a function.
        cost_fp, cost_fn, prior : float
            For "expected_cost"; see `expected_cost`.

        Returns
        -------
        OperatingPoint
            The best value and the highest threshold that attains it (+inf: predict none). NaN if it is undefined at
            every threshold.

        Raises
        ------
        ValueError
            If the name is unknown or costs are given for another metric.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.best_threshold("expected_cost", cost_fn=5.0)
        OperatingPoint(value=0.25, threshold=0.3)
        >>> ranking.best_threshold(lambda tp, fp, fn, tn: tp - 2 * fp).threshold
        0.8
        """
        costs = check_costs(cost_fp, cost_fn, prior)
        point = at_thresholds.best_threshold(self.counts, metric, maximize, costs)
        return self._warned_point("best_threshold", point, "the metric is NaN at every threshold")

    def threshold_for(
        self,
        *,
        precision: float | None = None,
        recall: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        n_predicted: float | None = None,
    ) -> OperatingPoint:
        """Find the threshold that keeps a constraint and is best otherwise.

        Exactly one constraint is given. Of thresholds that are equally good the highest is taken.

        Parameters
        ----------
        precision : float in [0, 1], optional
            At least this precision; the best recall under it.
        recall : float in [0, 1], optional
            At least this recall; the best precision.
        fpr : float in [0, 1], optional
            At most this false positive rate; the best true positive rate.
        tpr : float in [0, 1], optional
            At least this true positive rate; the best (lowest) false positive rate.
        n_predicted : float, optional
            A quota: at most so many rows (or weight) predicted positive, and as many as ties allow, whether or not the
            last of them add recall; the recall there.

        Returns
        -------
        OperatingPoint
            The best other rate and its threshold; NaN where no threshold keeps the constraint.

        Raises
        ------
        ValueError
            If not exactly one constraint is given, or it is out of range.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.threshold_for(precision=0.6)
        OperatingPoint(value=1.0, threshold=0.3)
        >>> ranking.threshold_for(n_predicted=1)
        OperatingPoint(value=0.5, threshold=0.8)
        """
        constraints = {"precision": precision, "recall": recall, "fpr": fpr, "tpr": tpr, "n_predicted": n_predicted}
        name, limit = check_exactly_one(constraints)
        point = at_thresholds.threshold_for(self.counts, name, limit)
        return self._warned_point("threshold_for", point, f"no threshold keeps to {name}={limit:g}")

    def expected_cost(
        self, threshold: float, *, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None
    ) -> float:
        """Cost of a row on average, when rows with ``score >= threshold`` are predicted positive.

        It is ``p * cost_fn * FNR + (1 - p) * cost_fp * FPR``; what is predicted right costs nothing.

        Parameters
        ----------
        threshold : float
            The threshold.
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative, not negative and not both zero.
        prior : float in [0, 1], optional
            Share of positives p where the scores will be used; by default the share here.

        Returns
        -------
        float
            In the unit of the costs; NaN if `prior` is given and a class is missing.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).expected_cost(0.5, cost_fn=5.0)
        1.25
        """
        costs = check_costs(cost_fp, cost_fn, prior)
        value = as_thresholds("threshold", threshold, scalar=True)
        return self._warned_value("expected_cost", at_thresholds.expected_cost(self.counts, value, *costs))

    @overload
    def net_benefit(self, threshold_probability: float, *, prior: float | None = ...) -> float: ...
    @overload
    def net_benefit(self, threshold_probability: Places, *, prior: float | None = ...) -> Floats: ...
    def net_benefit(self, threshold_probability: ArrayLike, *, prior: float | None = None) -> Any:
        """Net benefit of acting on rows with at least some predicted probability, in true positives a row.

        It is ``tp / n - fp / n * pt / (1 - pt)``; acting on none has 0.

        Parameters
        ----------
        threshold_probability : float or array-like
            The probability pt in [0, 1) from which one would act: a false positive is pt / (1 - pt) times as bad as a
            true positive is good.
        prior : float in [0, 1], optional
            Share of positives where the model will be used; by default the share here.

        Returns
        -------
        float or ndarray
            Of the shape of `threshold_probability`; NaN if `prior` is given and a class is missing.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an argument is out of range.

        References
        ----------
        Vickers and Elkin (2006), doi:10.1177/0272989X06295361.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]).net_benefit(0.2)
        0.4375
        """
        self._warn_if(prior is not None and not (self.n_positives and self.n_negatives), "net_benefit")
        return net_benefit(self.counts, threshold_probability, prior=prior)

    # Curves -------------------------------------------------------------------------------------------------------

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
        return self._make_curve(RocCurve, as_flag("drop_intermediate", drop_intermediate))

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
        return self._make_curve(DetCurve, as_flag("drop_intermediate", drop_intermediate))

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
        return self._make_curve(PrecisionRecallCurve)

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
        return self._make_curve(GainCurve)

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
        return self._make_curve(LiftCurve)

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
        return self._make_curve(CostCurve)

    def calibration_curve(self, n_bins: int = 10, *, strategy: Strategy = "uniform") -> CalibrationCurve:
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
        return self._make_curve(CalibrationCurve, n_bins=n_bins, strategy=strategy)

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
        return self._make_curve(DecisionCurve, threshold_probability, prior=prior)

    # For those who infer ---------------------------------------------------------------------------------------------

    @abstractmethod
    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Return a ranking with the counts that replicates are drawn from, and what is in doubt of metrics of it.

        Parameters
        ----------
        specs : mapping of str to MetricSpec
            Metrics by what they are called.

        Returns
        -------
        ranking : Ranking
        doubts : dict of str to (float, float)
            How far the rows' own values may lie below and above the ranking's; metrics that are certain are left out.
        """

    # What some rankings know without counts; warnings ---------------------------------------------------------------

    @abstractmethod
    def _classes(self) -> Classes:
        """Return the names of the two classes."""

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Return twice the Mann-Whitney U and the pairs of two classes, where known without the counts."""
        return None

    def _sum_of_precision(self) -> Fraction | None:
        """Return the sum of gained true positives times precision, where it needs no counts."""
        return None

    def _warn_if(self, undefined: bool, name: str, reason: str | None = None) -> None:
        if undefined:
            missing = [side for side, n in (("positives", self.n_positives), ("negatives", self.n_negatives)) if not n]
            warn_undefined(name, f"y_true has no {missing[0]}" if missing else reason or "it is 0 / 0")

    def _warned_value(self, name: str, value: float) -> float:
        self._warn_if(math.isnan(value), name)
        return value

    def _warned_point(self, name: str, point: OperatingPoint, reason: str | None = None) -> OperatingPoint:
        self._warn_if(math.isnan(float(point)), name, reason)
        return point

    def _make_curve(self, kind: type[C], *options: Any, **more: Any) -> C:
        """Make a curve of the counts; warn where it is undefined."""
        make: Any = getattr(kind, "from_counts", kind)
        curve: C = make(self.counts, *options, **more)
        if not curve.defined:
            self._warn_if(True, entry_of(kind).method)
        return curve
