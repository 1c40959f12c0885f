"""Rankings of many classes, and their curves."""

from __future__ import annotations

from typing import Any, TypeVar

from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals._execution import run
from fastevals.measure.curves import PrecisionRecallCurve, RocCurve
from fastevals.measure.curves.base import Curve
from fastevals.measure.many.classes.areas import Areas
from fastevals.measure.many.classes.base import LACK
from fastevals.measure.many.classes.scores import class_scores
from fastevals.measure.many.folds import RankingFolds

__all__ = ["ClassRankings"]

C = TypeVar("C", bound=Curve)


class ClassRankings(Areas):
    """Rows of many classes, ranked by a score for each class.

    With `y_true` of one label a row (multiclass) or an indicator matrix (multilabel). Each class is ranked against the
    rest by its own column; columns are compared with each other by ``average="micro"`` alone, and rows need not
    add up to 1. Later changes to the arrays change nothing.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels: integers, booleans, strings, or floats without a fraction; or 0 and 1, which labels a row has.
    y_score : array-like of shape (n_samples, n_classes)
        Finite scores of any real dtype, a column for each class, higher for rows of the class.
    labels : sequence of n_classes labels, optional
        The classes of the columns, in their order. By default the labels that occur, sorted, or, of an indicator
        matrix, 0 to n_classes - 1. Classes of which there are no rows are allowed; their values are undefined.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out (but their labels are among those that occur).

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        Names of the classes, read-only.
    n_samples : int
        Rows (of weight above zero).
    n_positives : ndarray of shape (n_classes,)
        Rows of each class.
    support : ndarray of shape (n_classes,)
        Their sum of weights.
    is_multilabel : bool
        Whether a row may have many labels.
    rankings : tuple of Ranking
        Each class against the rest. Made when first asked for.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        From methods of which a value is undefined, and NaN: of a class without rows, or without rows outside it. The
        macro average is then NaN too; a weighted one leaves out classes without rows.

    Notes
    -----
    A copy of the scores is kept; `rankings`, once asked for, keep 8 to 24 bytes more for each row and class.

    Examples
    --------
    >>> import fastevals
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
    >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
    >>> classes.roc_auc(average=None)
    array([0.75, 1.  , 1.  ])
    >>> classes.roc_auc(), classes.hand_till()
    (0.9166666666666666, 0.9166666666666666)
    """

    __slots__ = ()

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self._labels, self._scores = class_scores(y_true, y_score, labels, sample_weight)
        self._rankings = None

    def __repr__(self) -> str:
        kind = ", multilabel" if self.is_multilabel else ""
        weighted = "" if self._scores.weights is None else ", weighted"
        return f"ClassRankings({self._labels.size} classes, n_samples={self.n_samples}{kind}{weighted})"

    def roc_curve(self, *, average: str | None = None, drop_intermediate: bool = True) -> Any:
        """ROC curves of each class against the rest, or their average.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            Each class's curve; that of all classes' columns ranked as one; or the mean of the classes' TPR at each FPR,
            which has no thresholds (NaN) and whose area is the macro AUC.
        drop_intermediate : bool
            Leave out points inside horizontal and vertical stretches: the same polyline with fewer points.

        Returns
        -------
        dict of RocCurve by label, or RocCurve
            Rates are NaN of a class without rows, or without rows outside it.

        Raises
        ------
        ValueError
            If `average` is none of these, or "macro" and a curve is undefined.

        References
        ----------
        The mean at each FPR: Fawcett (2006), section 8, doi:10.1016/j.patrec.2005.10.010.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.roc_curve()["a"], round(classes.roc_curve(average="macro").area, 12)
        (RocCurve(5 points, area=0.75), 0.916666666667)
        """
        check.check_choice("average", average, (None, "micro", "macro"))
        if average == "micro":
            return self._as_one().roc_curve(drop_intermediate=drop_intermediate)
        if average == "macro":
            check.check_both_sides("average='macro'", self._labels, self.n_positives, self.n_samples)
            return RankingFolds(self.rankings).roc_curve(average="vertical")
        curves = run(lambda ranking: RocCurve(ranking.counts, drop_intermediate), self.rankings)
        return self._by_label("roc_curve", curves)

    def precision_recall_curve(self, *, average: str | None = None) -> Any:
        """Precision-recall curves of each class against the rest, or that of all.

        Parameters
        ----------
        average : {None, "micro"}
            Each class's curve; or that of all classes' columns ranked as one. (There is no macro curve: a mean of
            precisions is the precision of no counts.)

        Returns
        -------
        dict of PrecisionRecallCurve by label, or PrecisionRecallCurve
            Recall is NaN of a class without rows.

        Raises
        ------
        ValueError
            If `average` is neither.

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[3, 1], [1, 2], [2, 3]])
        >>> classes.precision_recall_curve()[1].precision
        array([1.        , 1.        , 1.        , 0.66666667])
        """
        check.check_choice("average", average, (None, "micro"))
        if average == "micro":
            return self._as_one().precision_recall_curve()
        curves = run(lambda ranking: PrecisionRecallCurve(ranking.counts), self.rankings)
        return self._by_label("precision_recall_curve", curves)

    def _by_label(self, name: str, curves: list[C]) -> dict[Any, C]:
        """Name curves by their classes, with one warning of those that are undefined."""
        missing = sum(not curve.defined for curve in curves)
        if missing:
            check.warn_undefined(name, f"{missing} of {len(curves)} classes {LACK}")
        return dict(zip(self._labels.tolist(), curves, strict=True))
