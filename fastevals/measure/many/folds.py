"""Rankings over folds: pooled counts (micro), or rates averaged (macro)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves import CostCurve, DetCurve, GainCurve, LiftCurve, PrecisionRecallCurve, RocCurve
from fastevals.measure.many.fold_averages import (
    mean_at_each_fpr,
    mean_precision_and_recall,
    mean_rates,
    mean_shares,
    pooled_counts,
)
from fastevals.measure.many.pooled import PooledRanking
from fastevals.measure.ranking import Ranking

__all__ = ["RankingFolds"]


class RankingFolds:
    """The rankings of several folds, and their curves averaged in either way.

    "micro" adds up the folds' counts at each threshold and takes the rates of the sums; "macro" takes each fold's rates
    at a threshold and averages them (threshold averaging). Both compare the folds' scores as they are, so they must be
    on one scale. "vertical" averages the folds' TPR at each FPR instead, whatever the thresholds.

    Parameters
    ----------
    rankings : sequence or mapping of Ranking
        One for each fold, or by the fold's name. Each must have both classes.

    Attributes
    ----------
    names : tuple
        Names of the folds; numbers from 0 for a sequence.
    rankings : tuple of Ranking
        In the same order.

    Raises
    ------
    ValueError
        If there is no fold, one is not a ranking, or one has rows of one class only; the message names it.

    References
    ----------
    Fawcett (2006), section 8, doi:10.1016/j.patrec.2005.10.010; Zhou, *Machine Learning*, (2.12) to (2.17).

    Examples
    --------
    >>> import fastevals
    >>> y, s, folds = [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.6, 0.4, 0.8, 0.3], [1, 1, 1, 2, 2, 2]
    >>> both = fastevals.RankingFolds.from_scores(y, s, folds)
    >>> both.roc_curve(average="micro").area, both.roc_curve(average="vertical").area
    (0.8888888888888888, 1.0)

    The course's homework, macro against micro curves of handwritten digits:

    >>> from fastevals.datasets import load_digits_eight
    >>> digits = load_digits_eight()
    >>> folds = fastevals.RankingFolds.from_scores(digits["label"], digits["logistic"], digits["fold"])
    >>> [round(folds.roc_curve(average=average).area, 4) for average in ("micro", "macro")]
    [0.9756, 0.9757]
    >>> [round(folds.cost_curve(average=average).area, 4) for average in ("micro", "macro")]
    [0.0589, 0.0587]
    """

    __slots__ = ("names", "rankings")

    names: tuple[Any, ...]
    rankings: tuple[Ranking, ...]

    def __init__(self, rankings: Sequence[Ranking] | Mapping[Any, Ranking]) -> None:
        named = (
            dict(rankings) if isinstance(rankings, Mapping) else dict(enumerate(check.as_list("rankings", rankings)))
        )
        check.check_folds("rankings", named, Ranking)
        self.names, self.rankings = tuple(named), tuple(named.values())

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        folds: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> RankingFolds:
        """Rank each fold's rows.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As for `Ranking`, all folds together.
        folds : array-like of shape (n_samples,)
            Each row's fold: numbers or strings.

        Returns
        -------
        RankingFolds
            Named by the distinct values of `folds`, ascending.

        Raises
        ------
        ValueError
            If an argument is not as described, or a fold has one class only.
        """
        labels, positive, _ = check.binary_labels("y_true", y_true, pos_label)
        scores = check.as_scores("y_score", y_score)
        fold = check.as_labels("folds", folds)
        check.check_same_length(y_true=labels, y_score=scores, folds=fold)
        check.check_finite("y_score", scores)
        check.check_finite("folds", fold)
        weights = None
        if sample_weight is not None:
            weights = check.as_weights("sample_weight", sample_weight)
            check.check_same_length(y_true=labels, sample_weight=weights)
        names, codes = np.unique(fold, return_inverse=True)
        check.check_fold_number("folds", names)
        check.check_two_labels("y_true", labels, positive)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
        rankings = {}
        for name, rows in zip(names.tolist(), parts, strict=True):
            part = None if weights is None else weights[rows]
            check.check_fold_weight(name, part)
            rankings[name] = Ranking(labels[rows] == positive, scores[rows], sample_weight=part)
        return cls(rankings)

    def __len__(self) -> int:
        return len(self.rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return iter(self.rankings)

    def __repr__(self) -> str:
        n_pos, n_neg = self._rows
        return f"RankingFolds({len(self)} folds, n_positives={n_pos}, n_negatives={n_neg})"

    @property
    def _rows(self) -> tuple[int, int]:
        return sum(fold.n_positives for fold in self), sum(fold.n_negatives for fold in self)

    def pool(self) -> PooledRanking:
        """Add up the folds' counts at each threshold: micro-averaging.

        Returns
        -------
        PooledRanking
            What a ranking of all folds' rows is.

        Raises
        ------
        ValueError
            If the weights of all folds add up past the largest float.
        """
        return PooledRanking(pooled_counts(self.rankings), *self._rows)

    def roc_curve(self, *, average: str = "micro") -> RocCurve:
        """Average the folds' ROC curves.

        Parameters
        ----------
        average : {"micro", "macro", "vertical"}
            How, as above. The vertical average has no thresholds (NaN), and its area is the mean of the folds' AUCs.

        Returns
        -------
        RocCurve
            With every threshold of any fold.

        Raises
        ------
        ValueError
            If `average` is none of these.
        """
        check.check_choice("average", average, ("micro", "macro", "vertical"))
        if average == "vertical":
            return RocCurve(mean_at_each_fpr(self.rankings))
        return RocCurve(self._counts(average, mean_rates))

    def det_curve(self, *, average: str = "micro") -> DetCurve:
        """Average the folds' DET curves: FPR and FNR.

        Parameters
        ----------
        average : {"micro", "macro", "vertical"}
            As for `roc_curve`.

        Returns
        -------
        DetCurve
            With every threshold of any fold.

        Raises
        ------
        ValueError
            If `average` is none of these.
        """
        return DetCurve(self.roc_curve(average=average).counts)

    def cost_curve(self, *, average: str = "micro") -> CostCurve:
        """Average the folds' cost curves.

        Parameters
        ----------
        average : {"micro", "macro"}
            Each threshold's line has the rates of the pooled counts, or the averages of the folds' FPR and FNR.

        Returns
        -------
        CostCurve
            With every threshold of any fold: one threshold is chosen for all folds, so that a fold's own best
            thresholds don't flatter it.

        Raises
        ------
        ValueError
            If `average` is none of these.
        """
        return CostCurve(self._counts(average, mean_rates))

    def precision_recall_curve(self, *, average: str = "micro") -> PrecisionRecallCurve:
        """Average the folds' P-R curves.

        Parameters
        ----------
        average : {"micro", "macro"}
            Precision and recall of the pooled counts, or the averages of the folds' at each threshold. A fold in which
            nothing is predicted positive at a threshold has no precision there and is left out of its average. (There
            is no vertical average: a mean of precisions is the precision of no counts, so the curve between two
            recalls would be one that no threshold attains.)

        Returns
        -------
        PrecisionRecallCurve
            With every threshold of any fold. Between the points of a macro curve, counts that have these precisions
            and recalls are linear.

        Raises
        ------
        ValueError
            If `average` is neither.
        """
        return PrecisionRecallCurve(self._counts(average, mean_precision_and_recall))

    def gain_curve(self, *, average: str = "micro") -> GainCurve:
        """Average the folds' gain curves: shares of rows and of positives found.

        Parameters
        ----------
        average : {"micro", "macro"}
            Shares of the pooled counts, or the averages of the folds' at each threshold.

        Returns
        -------
        GainCurve
            With every threshold of any fold.

        Raises
        ------
        ValueError
            If `average` is neither.
        """
        return GainCurve(self._counts(average, mean_shares))

    def lift_curve(self, *, average: str = "micro") -> LiftCurve:
        """Average the folds' gain curves, as `gain_curve` does, and give the lift: gain over share of rows.

        Parameters
        ----------
        average : {"micro", "macro"}
            As for `gain_curve`.

        Returns
        -------
        LiftCurve
            With every threshold of any fold.

        Raises
        ------
        ValueError
            If `average` is neither.
        """
        return LiftCurve(self._counts(average, mean_shares))

    def _counts(self, average: str, mean: Callable[[Sequence[Ranking]], ThresholdCounts]) -> ThresholdCounts:
        check.check_choice("average", average, ("micro", "macro"))
        return self.pool().counts if average == "micro" else mean(self.rankings)
