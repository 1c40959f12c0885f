"""Rankings: labels and scores sorted once, every number and curve one sweep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals.measure import ranking_metrics
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves import PrecisionRecallCurve, RocCurve
from fastevals.measure.ordering import BinaryLabels, ClassSplit, split_by_class, weighted_threshold_counts
from fastevals.measure.results import OperatingPoint

__all__ = ["Ranking"]


class Ranking:
    """Binary labels ranked by a score.

    The scores are sorted here, once; every method is a sweep over the sorted scores or the counts made from them. Later
    changes to the arrays change nothing. A row is predicted positive when ``score >= threshold``; scores are tied
    when they are equal (``-0.0 == 0.0``), however near others are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores of any real dtype, higher for the positive class. Integers of any size are compared exactly.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.

    Attributes
    ----------
    n_samples, n_positives, n_negatives : int
        Rows (of weight above zero), in all and of each class.
    counts : ThresholdCounts
        Counts, or sums of weights, at or above each distinct score. Made when first asked for.
    pos_label : label
        The positive class.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        From methods whose value is undefined for want of a class, and NaN.

    Notes
    -----
    Takes about 9 bytes a row to build and 8 to keep until `counts` are made, which take 24 for each distinct score.
    With weights they are made at once, from about 41 bytes a row.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> ranking.roc_auc()
    0.75
    >>> ranking.threshold_for(recall=1.0)
    OperatingPoint(value=0.6666666666666666, threshold=0.3)
    """

    __slots__ = ("_counts", "_doubled_u", "_split", "n_negatives", "n_positives", "pos_label")

    _counts: ThresholdCounts | None
    _split: ClassSplit | None  # until there are counts
    _doubled_u: int | None  # twice the Mann-Whitney U; None with weights
    n_positives: int
    n_negatives: int
    pos_label: Any

    def __init__(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
    ) -> None:
        labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
        scores = check.as_scores("y_score", y_score)
        check.check_same_length(y_true=labels.values, y_score=scores)
        self.pos_label = labels.positive
        if sample_weight is None:
            split = split_by_class(labels, scores)
            self._split, self._counts, self._doubled_u = split, None, split.doubled_u
            self.n_positives, self.n_negatives = split.n_pos, split.n_neg
            return
        weights = check.as_weights("sample_weight", sample_weight)
        check.check_same_length(y_true=labels.values, sample_weight=weights)
        if not weights.all():
            check.check_finite("y_score", scores)  # while its rows are still the user's
            kept = weights != 0
            labels, scores, weights = labels.take(kept), scores[kept], weights[kept]
        self._split, self._doubled_u = None, None
        self._counts, self.n_positives = weighted_threshold_counts(labels, scores, weights)
        self.n_negatives = scores.size - self.n_positives

    def __repr__(self) -> str:
        weighted = ", weighted" if self._doubled_u is None else ""
        return f"Ranking(n_positives={self.n_positives}, n_negatives={self.n_negatives}{weighted})"

    @property
    def n_samples(self) -> int:
        """Rows of weight above zero."""
        return self.n_positives + self.n_negatives

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score, made when first asked for."""
        counts, split = self._counts, self._split
        if counts is None:
            assert split is not None
            counts = self._counts = split.threshold_counts()
            self._split = None  # the sorted scores have served; another thread in here keeps its own reference
        return counts

    # Areas --------------------------------------------------------------------------------------------------------

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
        f = 1.0 if max_fpr is None else check.check_number("max_fpr", max_fpr, low=0, high=1, open_low=True)
        t = 0.0 if min_tpr is None else check.check_number("min_tpr", min_tpr, low=0, high=1, open_high=True)
        if f < 1 or t > 0:
            return self._defined("roc_auc", ranking_metrics.partial_roc_auc(self.counts, f, t, standardize))
        if self._doubled_u is None or not self._pairs:
            return self._defined("roc_auc", ranking_metrics.roc_auc(self.counts))
        return self._doubled_u / (2 * self._pairs)

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
        if self._doubled_u is None or not self._pairs:
            return self._defined("rank_loss", ranking_metrics.rank_loss(self.counts))
        return (2 * self._pairs - self._doubled_u) / (2 * self._pairs)

    @property
    def _pairs(self) -> int:
        return self.n_positives * self.n_negatives

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
        return self._defined("average_precision", ranking_metrics.average_precision(self.counts))

    def pr_auc(self, *, interpolation: str = "davis-goadrich") -> float:
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
        check.check_choice("interpolation", interpolation, ranking_metrics.PR_AREAS)
        return self._defined("pr_auc", ranking_metrics.pr_auc(self.counts, interpolation))

    # Points -------------------------------------------------------------------------------------------------------

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
        return self._defined_at("ks_statistic", ranking_metrics.ks_statistic(self.counts))

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
        return self._defined_at(
            "break_even_point",
            ranking_metrics.break_even_point(self.counts),
            "there are no positives, or none among as many rows of highest score",
        )

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """Rate at which FPR = FNR: where the ROC polyline crosses FPR = 1 - TPR, interpolated.

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
        return self._defined_at("equal_error_rate", ranking_metrics.equal_error_rate(self.counts, on_hull))

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
        self._warn_if(ranking_metrics.one_class(self.counts), "roc_curve")
        return RocCurve.from_counts(self.counts, drop_intermediate=drop_intermediate)

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
        self._warn_if(not self.n_positives, "precision_recall_curve")
        return PrecisionRecallCurve.from_counts(self.counts)

    # Thresholds ---------------------------------------------------------------------------------------------------

    def confusion_at(self, thresholds: ArrayLike) -> ConfusionMatrix:
        """Count the confusion matrix at a threshold, or at each of an array of them.

        Parameters
        ----------
        thresholds : float or array-like
            Rows with ``score >= threshold`` are predicted positive; infinities are allowed.

        Returns
        -------
        ConfusionMatrix
            Of shape ``thresholds.shape + (2, 2)``, the negative class first.

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
        asked = check.as_thresholds("thresholds", thresholds)
        return ConfusionMatrix(at_thresholds.confusion_counts(self.counts, asked))

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
        costs = check.check_costs(cost_fp, cost_fn, prior)
        point = at_thresholds.best_threshold(self.counts, metric, maximize, costs)
        return self._defined_at("best_threshold", point, "the metric is NaN at every threshold")

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
            A quota: at most so many rows (or weight) predicted positive, as many as ties allow; the recall there.

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
        given = {"precision": precision, "recall": recall, "fpr": fpr, "tpr": tpr, "n_predicted": n_predicted}
        name, asked = check.check_exactly_one(given)
        point = at_thresholds.threshold_for(self.counts, name, asked)
        return self._defined_at("threshold_for", point, f"no threshold keeps to {name}={asked:g}")

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
        costs = check.check_costs(cost_fp, cost_fn, prior)
        asked = check.as_thresholds("threshold", threshold, scalar=True)
        return self._defined("expected_cost", at_thresholds.expected_cost(self.counts, asked, *costs))

    # Undefined values ---------------------------------------------------------------------------------------------

    def _warn_if(self, undefined: bool, name: str, because: str | None = None) -> None:
        if undefined:
            missing = [side for side, n in (("positives", self.n_positives), ("negatives", self.n_negatives)) if not n]
            check.warn_undefined(name, f"y_true has no {missing[0]}" if missing else because or "it is 0 / 0")

    def _defined(self, name: str, value: float) -> float:
        self._warn_if(math.isnan(value), name)
        return value

    def _defined_at(self, name: str, point: OperatingPoint, because: str | None = None) -> OperatingPoint:
        self._warn_if(math.isnan(point.value), name, because)
        return point
