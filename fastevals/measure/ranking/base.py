"""The methods of rankings: numbers, thresholds and curves, each computed from threshold counts."""

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
from fastevals.measure.calibration_errors import smooth_calibration_error
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.base import Curve
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.decision import DecisionCurve, net_benefit
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import entry_of
from fastevals.measure.curves.reliability import ReliabilityCurve
from fastevals.measure.curves.risk_coverage import RiskCoverageCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.isotonic import ScoreDecomposition, decompose
from fastevals.measure.probability_metrics import BrierDecomposition, Strategy
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.results import OperatingPoint

C = TypeVar("C", bound=Curve | DecisionCurve | CalibrationCurve | ReliabilityCurve)
Doubt = tuple[float, float]  # how far the value over all rows may lie below, and above, the computed value


class BaseRanking(ABC):
    """Binary labels ranked by a score, however the rows were counted: every method reads the threshold counts."""

    __slots__ = ()

    n_positives: int
    n_negatives: int
    _moments: Any = None  # DeLong's moments, if they are known without counts

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        return f"Ranking(n_positives={self.n_positives}, n_negatives={self.n_negatives}{weighted})"

    @property
    @abstractmethod
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score."""

    @property
    def n_samples(self) -> int:
        """Number of rows of weight above zero; if only sums of weights are known, each sum counts as one row."""
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
        """Sums of squared weights at the thresholds of the counts; None without weights, or if the sums are unknown."""
        return None

    # Areas and rates ----------------------------------------------------------------------------------------------

    def roc_auc(self, *, max_fpr: float | None = None, min_tpr: float | None = None, standardize: bool = True) -> float:
        """Area under the ROC curve: the chance that a positive ranks above a negative, counting a tie as half.

        Without weights the value is the float nearest to an exact ratio of two integers.

        Parameters
        ----------
        max_fpr : float in (0, 1], optional
            Restrict the area to false positive rates up to this one.
        min_tpr : float in [0, 1), optional
            Restrict the area to true positive rates above this one.
        standardize : bool
            Rescale a partial area so that chance is 0.5 and a perfect ranking is 1 (as scikit-learn does).

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
        Zhou, *Machine Learning*, (2.20); McClish (1989), doi:10.1177/0272989X8900900307; both bounds: Yang et al.
        (2019), doi:10.1177/0962280217718866.

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
        """Share of positive-negative pairs that are ranked wrong, counting a tie as half: 1 - AUC.

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
        """Gini coefficient, or accuracy ratio: ``2 AUC - 1``, which is 0 for chance and 1 for a perfect ranking.

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
        """Sum over thresholds of precision times the gain in recall, without interpolation (scikit-learn's AP).

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
            "davis-goadrich": true and false positives are interpolated linearly between neighbouring thresholds.
            Choosing at random between the two thresholds attains these counts on average.
            "linear": precision is linear in recall, which is optimistic but often published (trapezoids under
            scikit-learn's curve).

        Returns
        -------
        float
            In [0, 1]; NaN without positives.

        Raises
        ------
        ValueError
            If `interpolation` is not one of these.

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
        """Largest distance between TPR and FPR: the two-sample Kolmogorov-Smirnov statistic of the two classes.

        Returns
        -------
        OperatingPoint
            The distance and the highest threshold that attains it; NaN if a class is missing.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
        >>> ranking.ks_statistic()
        OperatingPoint(value=0.5, threshold=0.8)
        """
        return self._warned_point("ks_statistic", ranking_metrics.ks_statistic(self.counts))

    def break_even_point(self) -> OperatingPoint:
        """Value at which precision equals recall: as many rows are predicted positive as are positive.

        Inside a group of ties the counts are interpolated linearly.

        Returns
        -------
        OperatingPoint
            The value, and the threshold at or just past it; NaN without positives, or if none is among the rows
            predicted positive.

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
            "there are no positives, or none ranks among the n_positives highest scores",
        )

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """Rate at which FPR = FNR, interpolated where the ROC polyline crosses FPR = 1 - TPR.

        Martin et al. (1997), "The DET curve in assessment of detection task performance", Eurospeech.

        Parameters
        ----------
        on_hull : bool
            Use the convex hull of the ROC curve instead; choosing randomly between two thresholds attains its points.

        Returns
        -------
        OperatingPoint
            The rate, and the threshold of the point at or just past the crossing; NaN if a class is missing.

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
        """Mean squared difference between predicted probability and label (0 or 1); lower is better.

        Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2, halved, as is usual for two classes.

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

    @overload
    def brier_decomposition(self, n_bins: None = None, *, strategy: Strategy = ...) -> ScoreDecomposition: ...
    @overload
    def brier_decomposition(self, n_bins: int, *, strategy: Strategy = ...) -> BrierDecomposition: ...
    def brier_decomposition(
        self, n_bins: int | None = None, *, strategy: Strategy = "quantile"
    ) -> ScoreDecomposition | BrierDecomposition:
        """Split the Brier score into miscalibration - discrimination + uncertainty (CORP), or into Murphy's parts.

        Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118; in bins: Murphy (1973),
        doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2.

        Parameters
        ----------
        n_bins : int, optional
            Compare mean probability and share of positives in this number of bins. By default, the isotonic fit chooses
            the blocks of probabilities.
        strategy : {"quantile", "uniform"}
            With `n_bins`: bins of equal mass or of equal width, as in the calibration curve. If there are at most
            `n_bins` distinct probabilities, each is a quantile bin.

        Returns
        -------
        ScoreDecomposition or BrierDecomposition
            By default, the parts of the isotonic fit. With `n_bins`: reliability, resolution, uncertainty, and two
            terms for variation inside bins. In either case, the parts add up to the score.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or an option is out of range.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 1, 0, 1], [0.25, 0.5, 0.5, 1.0])
        >>> parts = ranking.brier_decomposition()
        >>> parts.miscalibration, parts.discrimination, parts.uncertainty
        (0.015625, 0.125, 0.25)
        >>> parts.miscalibration - parts.discrimination + parts.uncertainty == ranking.brier_score()
        True
        """
        if n_bins is None:
            return decompose(self.counts, "brier_score")
        return probability_metrics.brier_decomposition(self.counts, n_bins=n_bins, strategy=strategy)

    def log_loss_decomposition(self) -> ScoreDecomposition:
        """Split the log loss into miscalibration - discrimination + uncertainty (CORP).

        Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118.

        Returns
        -------
        ScoreDecomposition
            Score and miscalibration are inf if a true label was given probability 0.

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 1, 0, 1], [0.25, 0.5, 0.5, 1.0]).log_loss_decomposition().discrimination
        0.34657359027997264
        """
        return decompose(self.counts, "log_loss")

    def log_loss(self) -> float:
        """Mean negative natural logarithm of the probability given to the true label; lower is better.

        Good (1952), "Rational Decisions", doi:10.1111/j.2517-6161.1952.tb00104.x.

        Returns
        -------
        float
            At least 0; inf if a true label was given probability 0 (scikit-learn clips instead).

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

    def mean_predicted(self) -> float:
        """Mean predicted probability, to compare with the share of positives.

        Returns
        -------
        float
            In [0, 1]; NaN without rows.

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 0, 1, 1], [0.25, 0.25, 0.5, 0.75]).mean_predicted()
        0.4375
        """
        return probability_metrics.mean_predicted(self.counts)

    def expected_calibration_error(self, n_bins: int = 10, *, strategy: Strategy = "uniform") -> float:
        """Mean distance between mean predicted probability and share of positives, over bins of probabilities.

        Parameters
        ----------
        n_bins, strategy
            As in `calibration_curve`.

        Returns
        -------
        float
            0 if every bin is calibrated; NaN without rows.

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

    def smooth_calibration_error(self) -> float:
        """Smooth calibration error (smECE): the mean absolute residual, smoothed along the probabilities, without bins.

        Błasiok and Nakkiran (2023), arXiv:2309.12236. Residuals are smoothed by a Gaussian kernel. Its bandwidth is
        chosen so that the resulting error equals the bandwidth.

        Returns
        -------
        float
            In [0, 1], to a relative error of 1e-4; NaN without rows.

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> round(fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).smooth_calibration_error(), 4)
        0.1234
        """
        return smooth_calibration_error(self.counts)

    # Thresholds ---------------------------------------------------------------------------------------------------

    @overload
    def confusion_at(self, thresholds: float) -> ConfusionMatrix: ...
    @overload
    def confusion_at(self, thresholds: Places) -> ConfusionMatrix[Floats]: ...
    def confusion_at(self, thresholds: ArrayLike) -> ConfusionMatrix[Any]:
        """Count the confusion matrix at one threshold, or at each of an array of thresholds.

        Parameters
        ----------
        thresholds : float or array-like
            Rows with ``score >= threshold`` are predicted positive; infinities are allowed.

        Returns
        -------
        ConfusionMatrix
            Its shape is ``thresholds.shape + (2, 2)``, with the negative class first. If no row is negative, the
            negative class gets a made-up name: for text labels, "not" followed by the positive class; otherwise 0
            (False for booleans), or 1 if the positive class is 0.

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
        """Find the threshold at which a metric of the confusion matrix is best.

        The value is optimistic when the threshold is chosen and judged on the same rows.

        Parameters
        ----------
        metric : str or callable
            Name of a metric of one threshold ("f1", "informedness", "matthews", "expected_cost", ...), or a function
            of the counts ``(tp, fp, fn, tn)``, arrays of one shape, that returns an array of that shape.
        maximize : bool, optional
            Whether a greater value is better; by default the direction of the named metric, and True for a function.
        cost_fp, cost_fn, prior : float
            Only for the metric "expected_cost"; see the method of this name.

        Returns
        -------
        OperatingPoint
            The best value and the highest threshold that attains it (+inf: predict no row positive). NaN if the metric
            is undefined at every threshold.

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
        """Find the best threshold among those that satisfy a constraint.

        Give exactly one constraint. Among equally good thresholds the highest is returned.

        Parameters
        ----------
        precision : float in [0, 1], optional
            At least this precision; maximizes recall.
        recall : float in [0, 1], optional
            At least this recall; maximizes precision.
        fpr : float in [0, 1], optional
            At most this false positive rate; maximizes the true positive rate.
        tpr : float in [0, 1], optional
            At least this true positive rate; minimizes the false positive rate.
        n_predicted : float, optional
            Predict at most this many rows (or this weight) positive, and as many as ties allow, even if the last rows
            add no recall; the value is the recall.

        Returns
        -------
        OperatingPoint
            The optimized rate and its threshold; NaN if no threshold satisfies the constraint.

        Raises
        ------
        ValueError
            If not exactly one constraint is given, or if it is out of range.

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
        return self._warned_point("threshold_for", point, f"no threshold satisfies {name}={limit:g}")

    def expected_cost(
        self, threshold: float, *, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None
    ) -> float:
        """Mean cost per row when rows with ``score >= threshold`` are predicted positive.

        It is ``p * cost_fn * FNR + (1 - p) * cost_fp * FPR``; right predictions cost nothing.

        Parameters
        ----------
        threshold : float
            Rows with a score of at least this are predicted positive.
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative, not negative and not both zero.
        prior : float in [0, 1], optional
            Share p of positives in the population on which the scores will be used; by default the share in these rows.

        Returns
        -------
        float
            In units of the costs; NaN if `prior` is given and a class is missing.

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
        """Net benefit of acting on rows at or above a predicted probability, in true positives per row.

        It is ``tp / n - fp / n * pt / (1 - pt)``; acting on no row has net benefit 0.

        Parameters
        ----------
        threshold_probability : float or array-like
            The probability pt in [0, 1) at or above which to act: a false positive costs pt / (1 - pt) times the gain
            of a true positive.
        prior : float in [0, 1], optional
            Share of positives in the population on which the model will be used; by default the share in these rows.

        Returns
        -------
        float or ndarray
            Same shape as `threshold_probability`; NaN if `prior` is given and a class is missing.

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
            Leave out points inside horizontal and vertical segments: the polyline is the same, with fewer points.

        Returns
        -------
        RocCurve
            Unpacks as ``fpr, tpr, thresholds``. The rates of a missing class are NaN.

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
            Leave out points inside horizontal and vertical segments: the polyline is the same, with fewer points.

        Returns
        -------
        DetCurve
            Unpacks as ``fpr, fnr, thresholds``. The rates of a missing class are NaN.

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
        """Share of the positives found, plotted against the share of rows predicted positive.

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
        """Positives found, relative to the number expected among as many rows chosen at random.

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

    def risk_coverage_curve(self) -> RiskCoverageCurve:
        """Share of errors among the rows that are answered, plotted against their share, the most confident first.

        Positives are right answers, and scores are their confidence, as in the ranking of `ClassRankings.top_label`.

        Returns
        -------
        RiskCoverageCurve
            Unpacks as ``coverage, risk, thresholds``.

        Examples
        --------
        >>> import fastevals
        >>> right, confidence = [True, True, False, True], [0.9, 0.8, 0.7, 0.6]
        >>> fastevals.Ranking(right, confidence).risk_coverage_curve().at(coverage=1)
        0.25
        """
        return self._make_curve(RiskCoverageCurve)

    def cost_curve(self) -> CostCurve:
        """Expected cost, plotted against a combination of prior and costs, and the threshold with the lowest cost.

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
        """Share of positives in bins of predicted probability, against the mean probability of each bin.

        Parameters
        ----------
        n_bins : int
            At least 1.
        strategy : {"uniform", "quantile"}
            Bins of equal width, or of equal mass (rows or weight; rows of one score are never split).

        Returns
        -------
        CalibrationCurve
            It also has the expected and the maximum calibration errors.

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

    def reliability_curve(self) -> ReliabilityCurve:
        """Calibrated against predicted probability, by isotonic regression: no choice of bins (CORP).

        Returns
        -------
        ReliabilityCurve
            It unpacks as ``low, high, calibrated``, arrays with one value per block of probabilities. Also defined if
            all rows are of one class.

        Raises
        ------
        ValueError
            If a score is outside [0, 1].

        Examples
        --------
        >>> import fastevals
        >>> fastevals.Ranking([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).reliability_curve().calibrated
        array([0. , 0.5, 1. ])
        """
        return self._make_curve(ReliabilityCurve)

    def decision_curve(
        self, threshold_probability: ArrayLike | None = None, *, prior: float | None = None
    ) -> DecisionCurve:
        """Net benefit of acting on the predicted probabilities, compared with acting on all rows or on none.

        Parameters
        ----------
        threshold_probability : array-like of shape (n_points,), optional
            Where to compute the curve, in [0, 1); by default at 0.01, 0.02, ..., 0.99.
        prior : float in [0, 1], optional
            Share of positives in the population on which the model will be used; by default the share in these rows.

        Returns
        -------
        DecisionCurve
            Its values are NaN if `prior` is given and a class is missing.

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

    # For inference ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Return a ranking to draw replicates from, and how far its metrics may be off.

        Parameters
        ----------
        specs : mapping of str to MetricSpec
            Metrics by their names in results.

        Returns
        -------
        ranking : Ranking
        doubts : dict of str to (float, float)
            How far the value over all rows may lie below and above the ranking's value; exact metrics are left out.
        """

    # Results that some rankings have without counts; warnings ---------------------------------------------------------

    @abstractmethod
    def _classes(self) -> Classes:
        """Return the names of the two classes."""

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Return twice the Mann-Whitney U and the number of positive-negative pairs, if known without counts."""
        return None

    def _sum_of_precision(self) -> Fraction | None:
        """Return the sum over thresholds of precision times the gained true positives; None if it needs counts."""
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
        """Make a curve from the counts and warn if it is undefined."""
        make: Any = getattr(kind, "from_counts", kind)
        curve: C = make(self.counts, *options, **more)
        if not curve.defined:
            self._warn_if(True, entry_of(kind).method)
        return curve
