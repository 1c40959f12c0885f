"""Thresholds: what happens at one, which is best, and what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from fastevals._validation.arrays import as_thresholds
from fastevals._validation.options import check_costs, check_exactly_one
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.decision import net_benefit
from fastevals.measure.ranking.numbers import Counted
from fastevals.results import OperatingPoint


class Thresholds(Counted):
    """Methods about one threshold."""

    __slots__ = ()

    def confusion_at(self, thresholds: ArrayLike) -> ConfusionMatrix:
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
        asked = as_thresholds("thresholds", thresholds)
        return ConfusionMatrix._of(at_thresholds.confusion_counts(self.counts, asked), self._classes())

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
        name, asked = check_exactly_one(given)
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
        costs = check_costs(cost_fp, cost_fn, prior)
        asked = as_thresholds("threshold", threshold, scalar=True)
        return self._defined("expected_cost", at_thresholds.expected_cost(self.counts, asked, *costs))

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
