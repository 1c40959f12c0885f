"""Numbers of a whole ranking: areas, break-even point, equal error rate, proper scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

from fastevals._validation.labels import Classes, both_classes
from fastevals._validation.options import check_choice, check_number, warn_undefined
from fastevals.counts import ThresholdCounts
from fastevals.measure import probability_metrics, ranking_metrics
from fastevals.measure.probability_metrics import BrierDecomposition
from fastevals.results import OperatingPoint


class Counted(ABC):
    """Threshold counts from somewhere: one data set, or several pooled."""

    __slots__ = ()

    n_positives: int
    n_negatives: int

    @property
    @abstractmethod
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score."""

    @property
    def n_samples(self) -> int:
        """Rows of weight above zero."""
        return self.n_positives + self.n_negatives

    def _classes(self) -> Classes:
        """Return the names of the two classes; of rankings pooled they are 0 and 1."""
        return Classes(both_classes(1), 1)

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Return twice the Mann-Whitney U and the pairs of two classes, where known without the counts."""
        return None

    def _sum_of_precision(self) -> Fraction | None:
        """Return the sum of gained true positives times precision, where it is had sooner than the counts."""
        return None

    def _warn_if(self, undefined: bool, name: str, because: str | None = None) -> None:
        if undefined:
            missing = [side for side, n in (("positives", self.n_positives), ("negatives", self.n_negatives)) if not n]
            warn_undefined(name, f"y_true has no {missing[0]}" if missing else because or "it is 0 / 0")

    def _defined(self, name: str, value: float) -> float:
        self._warn_if(math.isnan(value), name)
        return value

    def _defined_at(self, name: str, point: OperatingPoint, because: str | None = None) -> OperatingPoint:
        self._warn_if(math.isnan(float(point)), name, because)
        return point


class Numbers(Counted):
    """Methods that give a number."""

    __slots__ = ()

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
        f = 1.0 if max_fpr is None else check_number("max_fpr", max_fpr, low=0, high=1, open_low=True)
        t = 0.0 if min_tpr is None else check_number("min_tpr", min_tpr, low=0, high=1, open_high=True)
        if f < 1 or t > 0:
            return self._defined("roc_auc", ranking_metrics.partial_roc_auc(self.counts, f, t, standardize))
        known = self._doubled_u_and_pairs()
        if known is None:
            return self._defined("roc_auc", ranking_metrics.roc_auc(self.counts))
        return known[0] / (2 * known[1])

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
        known = self._doubled_u_and_pairs()
        if known is None:
            return self._defined("rank_loss", ranking_metrics.rank_loss(self.counts))
        return (2 * known[1] - known[0]) / (2 * known[1])

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
        known = self._sum_of_precision()
        if known is None:
            return self._defined("average_precision", ranking_metrics.average_precision(self.counts))
        share = ranking_metrics.share_of_gains(known / self.n_positives) if self.n_positives else math.nan
        return self._defined("average_precision", share)

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
        check_choice("interpolation", interpolation, ranking_metrics.PR_AREAS)
        return self._defined("pr_auc", ranking_metrics.pr_auc(self.counts, interpolation))

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
        return self._defined_at("equal_error_rate", ranking_metrics.equal_error_rate(self.counts, on_hull))

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

    def brier_decomposition(self, *, n_bins: int | None = None, strategy: str = "uniform") -> BrierDecomposition:
        """Take the Brier score apart: reliability - resolution + uncertainty.

        Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2.

        Parameters
        ----------
        n_bins : int, optional
            Compare in bins, as the calibration curve does; by default at each distinct probability.
        strategy : {"uniform", "quantile"}
            Of equal width, or of equal mass.

        Returns
        -------
        BrierDecomposition
            The parts, which add up; with bins two more, for what happens inside them.

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
