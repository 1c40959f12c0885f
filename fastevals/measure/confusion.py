"""Confusion matrices: one, or a stack of them over folds, models or thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.counts import Cells
from fastevals.measure.pairs import count_label_pairs

__all__ = ["ConfusionMatrix"]

AVERAGES = (None, "binary", "micro", "macro", "weighted")
MACRO_F = ("mean-of-f", "of-means")


class ConfusionMatrix:
    """Counts of true against predicted classes, one matrix or a stack of them.

    Every metric keeps the leading axes: with counts of shape (folds, models, K, K) it has shape (folds, models). A zero
    denominator gives NaN with `UndefinedMetricWarning`, never a silent 0.

    Parameters
    ----------
    counts : array-like of shape (..., K, K)
        Rows are true classes, columns predicted ones. Integers, or sums of weights; not negative.
    labels : sequence of K labels, optional
        Names of the classes; 0 to K - 1 if not given. With two classes the second is the positive one.

    Attributes
    ----------
    counts : ndarray of shape (..., K, K)
        int64 or float64, read-only.
    labels : ndarray of shape (K,)
        Names of the classes.

    Raises
    ------
    ValueError
        If the counts are not square, negative or not finite, or the number of labels is not K.

    Examples
    --------
    >>> import fastevals
    >>> matrix = fastevals.ConfusionMatrix.from_predictions(["a", "b", "b", "b"], ["a", "a", "b", "b"])
    >>> matrix.counts
    array([[1, 0],
           [1, 2]])
    >>> matrix.precision(), matrix.f_score(average="macro")
    (1.0, 0.7333333333333334)
    """

    __slots__ = ("_mean_axes", "counts", "labels")

    counts: NDArray[Any]
    labels: NDArray[Any]
    _mean_axes: tuple[int, ...]

    def __init__(self, counts: ArrayLike, labels: ArrayLike | None = None) -> None:
        self.counts = check.as_square_counts("counts", counts)
        self.labels = check.as_class_names("labels", labels, self.counts.shape[-1])
        self._mean_axes = ()

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> ConfusionMatrix:
        """Count true against predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        labels : sequence, optional
            The classes and their order; by default all that occur, sorted. A row with another label is an error.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, not negative.

        Returns
        -------
        ConfusionMatrix
            Of shape (K, K).

        Raises
        ------
        ValueError
            If an argument is not as described.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ConfusionMatrix.from_predictions([0, 1, 1], [0, 1, 0], labels=[1, 0]).counts
        array([[1, 1],
               [0, 1]])
        """
        true = check.as_labels("y_true", y_true)
        predicted = check.as_labels("y_pred", y_pred)
        check.check_same_length(y_true=true, y_pred=predicted)
        weights = None
        if sample_weight is not None:
            weights = check.as_weights("sample_weight", sample_weight)
            check.check_same_length(y_true=true, sample_weight=weights)
            if not weights.all():
                kept = weights != 0
                true, predicted, weights = true[kept], predicted[kept], weights[kept]
        return cls(*count_label_pairs(true, predicted, check.as_class_names("labels", labels, None), weights))

    def __repr__(self) -> str:
        k = self.counts.shape[-1]
        lead = "x".join(map(str, self.counts.shape[:-2]))
        averaged = f", macro over axes {self._mean_axes}" if self._mean_axes else ""
        total = self.counts.sum().item()
        shown = total if isinstance(total, int) else f"{total:g}"
        return f"ConfusionMatrix({lead + ' of ' if lead else ''}{k}x{k}, n={shown}{averaged})"

    def __reduce__(self) -> tuple[Callable[..., ConfusionMatrix], tuple[Any, ...]]:
        return _rebuilt, (self.counts, self.labels, self._mean_axes)  # the arrays of a copy are read-only too

    def to_dict(self) -> dict[str, Any]:
        """Give counts and labels as lists."""
        return {"counts": self.counts.tolist(), "labels": self.labels.tolist()}

    # Stacks -------------------------------------------------------------------------------------------------------

    def pool(self, axis: int | tuple[int, ...] | None = None) -> ConfusionMatrix:
        """Add up the matrices along leading axes (all by default): micro-averaging over folds or models.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Axes of the stack, without the two of the matrix.

        Returns
        -------
        ConfusionMatrix
            With fewer leading axes.

        Raises
        ------
        ValueError
            If there is no such axis.

        Examples
        --------
        >>> import fastevals
        >>> folds = fastevals.ConfusionMatrix([[[5, 1], [2, 2]], [[4, 0], [1, 5]]])
        >>> folds.pool().accuracy(), folds.macro().recall()
        (0.8, 0.6666666666666667)
        """
        axes = check.as_stack_axes("axis", axis, self.counts.ndim - 2)
        result = ConfusionMatrix(self.counts.sum(axis=axes), self.labels)
        kept = [one for one in range(self.counts.ndim - 2) if one not in axes]
        result._mean_axes = tuple(kept.index(one) for one in self._mean_axes if one in kept)
        return result

    def macro(self, axis: int | tuple[int, ...] | None = None) -> ConfusionMatrix:
        """Average every metric along leading axes (all by default): macro-averaging over folds or models.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Axes of the stack, without the two of the matrix.

        Returns
        -------
        ConfusionMatrix
            The same counts; its metrics give the mean of the members' values.

        Raises
        ------
        ValueError
            If there is no such axis.
        """
        result = ConfusionMatrix(self.counts, self.labels)
        axes = check.as_stack_axes("axis", axis, self.counts.ndim - 2)
        result._mean_axes = tuple(sorted({*self._mean_axes, *axes}))
        return result

    # Metrics of the whole matrix ----------------------------------------------------------------------------------

    def accuracy(self) -> Any:
        """Share of rows predicted right (2.5).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> stack = fastevals.ConfusionMatrix([[[4, 1], [2, 3]], [[5, 0], [0, 5]]])
        >>> stack.accuracy()
        array([0.7, 1. ])
        """
        return self._result("accuracy", cells.ratio(self._right(), self._total()))

    def error_rate(self) -> Any:
        """Share of rows predicted wrong (2.4).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.error_rate()
        0.3
        """
        return self._result("error_rate", cells.ratio(self._wrong(), self._total()))

    def hamming_loss(self) -> Any:
        """Share of labels predicted wrong: with one label a row, the error rate.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.hamming_loss()
        0.3
        """
        return self._result("hamming_loss", cells.ratio(self._wrong(), self._total()))

    def matthews(self) -> Any:
        """Correlation of true and predicted classes, in [-1, 1]; NaN where either is constant.

        References
        ----------
        Matthews (1975), doi:10.1016/0005-2795(75)90109-9; for K classes, Gorodkin (2004),
        doi:10.1016/j.compbiolchem.2004.09.006.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.matthews()
        0.408248290463863
        """
        total, right, true, predicted = self._moments()
        agreement = total * right - (true * predicted).sum(axis=-1)
        variances = (_float(total**2 - (margin * margin).sum(axis=-1)) for margin in (true, predicted))
        return self._result(
            "matthews", np.clip(cells.ratio(_float(agreement), np.sqrt(math.prod(variances))), -1.0, 1.0)
        )

    def cohen_kappa(self) -> Any:
        """Agreement beyond chance, in [-1, 1] (Cohen 1960, doi:10.1177/001316446002000104).

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.cohen_kappa()
        0.4
        """
        total, right, true, predicted = self._moments()
        by_chance = (true * predicted).sum(axis=-1)
        return self._result("cohen_kappa", cells.ratio(_float(total * right - by_chance), _float(total**2 - by_chance)))

    def balanced_accuracy(self) -> Any:
        """Mean of the classes' recalls.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.balanced_accuracy()
        0.7
        """
        return self._result("balanced_accuracy", cells.recall(self._one_vs_rest()).mean(axis=-1))

    def cost(self, cost_matrix: ArrayLike, *, prior: ArrayLike | None = None, normalize: bool = True) -> Any:
        """Cost of the predictions.

        With a prior it is ``sum over true classes of prior * sum over predicted of rate * cost``, where a class's rates
        are its row of counts over their sum: the mean cost where the classes have these shares.

        Parameters
        ----------
        cost_matrix : array-like of shape (K, K)
            Cost of one row of a true class (row) predicted as a class (column); gains are negative.
        prior : array-like of shape (K,), optional
            Shares of the classes, in the order of `labels`, where the classifier will be used; by default those here.
        normalize : bool
            A row's mean cost instead of the sum.

        Returns
        -------
        float or ndarray
            In the unit of the costs; NaN if the mean is of no rows, or a class of prior above zero has none.

        Raises
        ------
        ValueError
            If `cost_matrix` has another shape or a value that is not finite, `prior` does not hold K shares of sum 1,
            or `prior` is given for a sum.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[90, 5], [1, 4]])
        >>> matrix.cost([[0, 1], [10, 0]]), matrix.cost([[0, 1], [8, 0]], prior=[0.5, 0.5])
        (0.15, 0.8263157894736842)
        """
        costs = check.as_cost_matrix("cost_matrix", cost_matrix, self.counts.shape[-1])
        check.check_normalized(prior, normalize)
        if prior is not None:
            shares = check.as_class_shares("prior", prior, self.counts.shape[-1])[:, None]
            rates = cells.ratio(self.counts, self.counts.sum(axis=-1, keepdims=True))
            return self._result("cost", np.where(shares > 0, shares * rates * costs, 0.0).sum(axis=(-2, -1)))
        unit = np.ldexp(1.0, np.frexp(np.abs(costs).max())[1] - 1) or 1.0  # exact, and no sum overflows
        total = (self.counts * (costs / unit)).sum(axis=(-2, -1))
        with np.errstate(over="ignore"):
            return self._result("cost", (cells.ratio(total, self._total()) if normalize else total) * unit)

    # Metrics of a class against the rest --------------------------------------------------------------------------

    def precision(self, *, average: str | None = "binary") -> Any:
        """Share of the rows predicted as a class that belong to it (2.8).

        Parameters
        ----------
        average : {"binary", None, "micro", "macro", "weighted"}
            The second of two classes; each class; all classes' counts together; the mean over classes; the mean by
            true rows.

        Returns
        -------
        float or ndarray
            Of the stack's shape; with None one axis longer, over the classes.

        Raises
        ------
        ValueError
            If `average` is none of these, or "binary" with other than two classes.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.precision(), matrix.precision(average="macro")
        (0.75, 0.7083333333333333)
        """
        return self._averaged("precision", cells.precision, average)

    def recall(self, *, average: str | None = "binary") -> Any:
        """Share of the rows of a class that are predicted as it (2.9); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.recall(average=None)
        array([0.8, 0.6])
        """
        return self._averaged("recall", cells.recall, average)

    def specificity(self, *, average: str | None = "binary") -> Any:
        """Share of the rows outside a class that are not predicted as it; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.specificity()
        0.8
        """
        return self._averaged("specificity", cells.specificity, average)

    def jaccard(self, *, average: str | None = "binary") -> Any:
        """Intersection over union of a class's predicted and true rows; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.jaccard()
        0.5
        """
        return self._averaged("jaccard", cells.jaccard, average)

    def f_score(self, beta: float = 1.0, *, average: str | None = "binary", macro: str = "mean-of-f") -> Any:
        """Weighted harmonic mean of precision and recall (2.10 to 2.17), computed from counts.

        Parameters
        ----------
        beta : float
            Weight of recall against precision, above zero.
        average : {"binary", None, "micro", "macro", "weighted"}
            As in `precision`.
        macro : {"mean-of-f", "of-means"}
            Where something is averaged (classes by `average`, a stack by `macro()`): the mean of the F-scores, or the
            F-score of mean precision and mean recall, which is not smaller where both are defined for all.

        Returns
        -------
        float or ndarray
            In [0, 1]; 0 where nothing was found but there was something to find or something found wrongly.

        Raises
        ------
        ValueError
            If an option is out of range.

        References
        ----------
        The two macro-F1s: Opitz and Burst (2019), arXiv:1911.03347. Zhou, *Machine Learning*, (2.14) is "of-means".

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.f_score(average="macro"), matrix.f_score(average="macro", macro="of-means")
        (0.696969696969697, 0.7041420118343195)
        """
        beta = check.check_number("beta", beta, low=0, open_low=True, high=1e100)
        check.check_choice("macro", macro, MACRO_F)
        if macro == "mean-of-f" or not (self._mean_axes or average in ("macro", "weighted")):
            return self._averaged("f_score", lambda at: cells.f_score(at, beta), average)
        p, r = (self._mean(self._values(rate, average)) for rate in (cells.precision, cells.recall))
        b = beta * beta
        return self._warned("f_score", np.where(p + r == 0, 0.0, cells.ratio((1 + b) * p * r, b * p + r)))

    # Parts --------------------------------------------------------------------------------------------------------

    def _right(self) -> NDArray[Any]:
        return np.asarray(np.trace(self.counts, axis1=-2, axis2=-1))

    def _wrong(self) -> NDArray[Any]:
        return np.asarray(np.where(np.eye(self.counts.shape[-1], dtype=bool), 0, self.counts).sum(axis=(-2, -1)))

    def _total(self) -> NDArray[Any]:
        """Give the sum in such an order that a perfect matrix is exactly right."""
        return np.asarray(self._right() + self._wrong())

    def _one_vs_rest(self) -> Cells:
        """Give the cells of each class against the rest, of shape (..., K)."""
        counts = self.counts
        tp = np.diagonal(counts, axis1=-2, axis2=-1)
        others = np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts)
        # The counts outside row and column k are four corners around cell k, added up: a difference of float sums
        # would show what it rounds off as counts where there are none.
        tn = np.zeros_like(tp)
        for rows in (1, -1):
            for columns in (1, -1):
                corner = np.zeros_like(counts)
                corner[..., 1:, 1:] = counts[..., ::rows, ::columns][..., :-1, :-1].cumsum(axis=-2).cumsum(axis=-1)
                tn = tn + np.diagonal(corner[..., ::rows, ::columns], axis1=-2, axis2=-1)
        return Cells(tp, others.sum(axis=-2), others.sum(axis=-1), tn)

    def _moments(self) -> tuple[Any, Any, Any, Any]:
        """Give the total, the right and the margins, so that products of two are exact or harmless.

        Integers past 2**31 become Python's; floats are scaled by a power of two.
        """
        counts = self.counts
        total, right = self._total(), self._right()
        if counts.dtype.kind == "f":
            exponent = -np.frexp(total)[1]
            counts = np.ldexp(counts, exponent[..., None, None])
            total, right = np.ldexp(total, exponent), np.ldexp(right, exponent)
        elif total.max(initial=0) >= 2**31:
            counts, total, right = counts.astype(object), total.astype(object), right.astype(object)
        return total, right, counts.sum(axis=-1), counts.sum(axis=-2)

    def _averaged(self, name: str, metric: Callable[[Cells], NDArray[np.float64]], average: str | None) -> Any:
        return self._result(name, self._values(metric, average))

    def _values(self, metric: Callable[[Cells], NDArray[np.float64]], average: str | None) -> NDArray[np.float64]:
        """Compute a metric of each class against the rest, averaged over classes."""
        check.check_choice("average", average, AVERAGES)
        at = self._one_vs_rest()
        if average == "binary":
            check.check_two_classes("average='binary'", self.counts.shape[-1], AVERAGES)
            return np.asarray(metric(Cells(*(cell[..., 1] for cell in at))))
        if average == "micro":
            return metric(Cells(*(cell.sum(axis=-1) for cell in at)))
        values = metric(at)
        if average == "macro":
            values = values.mean(axis=-1)
        elif average == "weighted":
            support = at.tp + at.fn
            values = cells.ratio(np.where(support > 0, values * support, 0).sum(axis=-1), support.sum(axis=-1))
        return np.asarray(values)

    def _result(self, name: str, values: Any) -> Any:
        return self._warned(name, self._mean(values))

    def _mean(self, values: Any) -> NDArray[Any]:
        """Average over the axes of the stack that `macro` named."""
        if not self._mean_axes:
            return np.asarray(values)
        members = math.prod(values.shape[axis] for axis in self._mean_axes)
        return cells.ratio(values.sum(axis=self._mean_axes), members)

    def _warned(self, name: str, values: NDArray[Any]) -> Any:
        """Warn of NaN, and give a plain number for a single matrix."""
        missing = np.count_nonzero(np.isnan(values))
        if missing:
            where = f"{missing} of {values.size} values have a zero denominator" if values.ndim else "zero denominator"
            check.warn_undefined(name, where)
        return values if values.ndim else values.item()


def _float(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _rebuilt(counts: NDArray[Any], labels: NDArray[Any], mean_axes: tuple[int, ...]) -> ConfusionMatrix:
    matrix = ConfusionMatrix(counts, labels)
    matrix._mean_axes = mean_axes
    return matrix
