"""The confusion matrix: counts of rows by true and predicted class, one matrix or a stack of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Generic, Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_flag, check_choice, check_number, listed, show, warn_undefined
from fastevals._text import format_tables, shorten_names
from fastevals._validation.arrays import (
    EXACT_INTEGER,
    Floats,
    as_array,
    as_frequencies,
    as_weights,
    check_one_weight,
    check_same_length,
    read_only,
)
from fastevals._validation.curves import as_class_shares, as_cost_matrix
from fastevals._validation.labels import (
    Classes,
    as_class_names,
    as_classes,
    as_labels,
    check_group_cells,
    check_positive_known,
    check_two_classes,
)
from fastevals.counting.groups import count_grouped_pairs, count_label_pairs, expand_to_labels
from fastevals.counting.keys import as_group_keys
from fastevals.counts import Cells
from fastevals.document.frames import Columns, as_column
from fastevals.document.result import Result
from fastevals.measure import cells
from fastevals.measure.confused_classes import most_frequent_errors, order_of_similar_classes
from fastevals.results import V, as_json

FAR_APART = 2.0**-480  # share of the largest count; products of two smaller counts, or their errors, may underflow
MeanAverage = Literal["binary", "micro", "macro", "weighted"]
Average = Literal[None, MeanAverage]
MOST_SHOWN = 10  # classes in a printed matrix
MOST_CELLS = 20  # classes of a matrix that is shown as a table of all cells; of more, the most frequent errors
LONGEST_NAME = 16
KappaWeights = Literal[None, "linear", "quadratic"]
MacroF = Literal["mean-of-f", "of-means"]


class ConfusionMatrix(Result, Generic[V]):
    """Counts of true against predicted classes, one matrix or a stack of them.

    Every metric keeps the leading axes: counts of shape (folds, models, K, K) give values of shape (folds, models). A
    zero denominator gives NaN with `UndefinedMetricWarning`, never a silent 0.

    Parameters
    ----------
    counts : array-like of shape (..., K, K)
        Rows are true classes, columns are predicted classes; at least 0. Whole numbers count rows, others are sums of
        weights. If a pandas frame (as from `pandas.crosstab`) has equal row and column names, these are the classes.
    labels : sequence of K labels, optional
        Names of the classes; 0 to K - 1 by default. If a frame names the classes, `labels` sets their order. The second
        of two classes is the positive class.
    pos_label : label, optional
        The positive class, if there are two classes. With `labels` it must be the second. Without `labels`,
        ``pos_label=0`` swaps the two classes, so that the positive class comes last.

    Attributes
    ----------
    counts : ndarray of shape (..., K, K)
        Read-only: numbers of rows as int64, or sums of weights as float64. `bootstrap` and tests do not accept sums of
        weights.
    labels : ndarray of shape (K,)
        Names of the classes; if there are two, the positive class comes last.
    pos_label : label or None
        The positive class, if there are two classes. None if there are more, or if the positive class was not named:
        metrics that need it then raise an error, but averages over classes and values per class work.

    Raises
    ------
    ValueError
        If the counts are not square, negative or not finite, if there are not K labels, or if `pos_label` is not the
        last of two.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_pred = ["a", "b", "b", "b"], ["a", "a", "b", "b"]
    >>> matrix = fastevals.ConfusionMatrix.from_predictions(y_true, y_pred, pos_label="b")
    >>> matrix.counts
    array([[1, 0],
           [1, 2]])
    >>> matrix.precision(), matrix.f_score(average="macro")
    (1.0, 0.7333333333333334)
    """

    __slots__ = ("_mean_axes", "counts", "labels", "pos_label")

    counts: NDArray[Any]
    labels: NDArray[Any]
    pos_label: Any
    _mean_axes: tuple[int, ...]  # axes of the stack that `macro` averages over

    def __init__(self, counts: ArrayLike, labels: ArrayLike | None = None, *, pos_label: Any = None) -> None:
        array = _as_rows(_as_square_counts("counts", counts))
        frame_names = _names_of_counts("counts", counts, labels)
        names = as_class_names("labels", labels if frame_names is None else frame_names, array.shape[-1])
        if pos_label is not None:
            check_two_classes("pos_label", array.shape[-1])
        classes = as_classes("counts", names, labels, pos_label)
        self.counts = _as_square_counts("counts", expand_to_labels(array, names, classes.labels))
        self.labels, self.pos_label = classes
        self._mean_axes = ()

    @classmethod
    def _from_counts(
        cls, counts: NDArray[Any], classes: Classes, mean_axes: tuple[int, ...] = ()
    ) -> ConfusionMatrix[Any]:
        """Make a matrix from the package's own counts, whose classes are in order; integers are not checked."""
        matrix = cls.__new__(cls)
        matrix.counts = _as_square_counts("counts", counts) if counts.dtype.kind == "f" else counts.view()
        matrix.counts.flags.writeable = False
        matrix.labels, matrix.pos_label = classes
        matrix._mean_axes = mean_axes
        return matrix

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> ConfusionMatrix:
        """Count true against predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        labels : sequence, optional
            The classes in order; the second of two is the positive class. By default all labels that occur, sorted. A
            row with another label is an error.
        pos_label : label, optional
            Which of the two classes is the positive one; it comes last. By default 1 for labels 0/1, -1/1 and booleans;
            for other labels it must be given, or metrics that need it raise an error.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, at least 0. A weighted matrix has values, but no intervals or tests.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: whole numbers, as if rows were repeated. Not allowed with `sample_weight`.

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
        true = as_labels("y_true", y_true)
        predicted = as_labels("y_pred", y_pred)
        check_same_length(y_true=true, y_pred=predicted)
        check_one_weight(sample_weight, frequency_weight)
        weights = None
        if sample_weight is not None:
            weights = as_weights("sample_weight", sample_weight)
            check_same_length(y_true=true, sample_weight=weights)
        elif frequency_weight is not None:
            weights = as_frequencies("frequency_weight", frequency_weight).astype(np.float64)
            check_same_length(y_true=true, frequency_weight=weights)
        if weights is not None and not weights.all():
            kept = weights != 0
            true, predicted, weights = true[kept], predicted[kept], weights[kept]
        counts, found_labels = count_label_pairs(true, predicted, weights)
        if frequency_weight is not None:
            counts = counts.astype(np.int64)
        classes = as_classes("the data", found_labels, labels, pos_label)
        return cls._from_counts(expand_to_labels(counts, found_labels, classes.labels), classes)

    @classmethod
    def from_groups(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        groups: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[NDArray[Any], ConfusionMatrix[Floats]]:
        """Count true against predicted labels in each group (a fold, a user, a day), in one pass over the rows.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        groups : array-like of shape (n_samples,), or several such columns
            The group of each row, in any order, as `grouped_auc` takes them.
        labels : sequence, optional
            The classes in order; the second of two is the positive class. By default all labels in any group, sorted. A
            row with another label is an error.
        pos_label : label, optional
            As in `from_predictions`.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, at least 0.

        Returns
        -------
        groups : ndarray of shape (n_groups,)
            The distinct groups in ascending order.
        matrix : ConfusionMatrix
            Of shape (n_groups, K, K). Its metrics have one value per group; `pool` adds up the groups.

        Raises
        ------
        ValueError
            If an argument is not as described.

        Examples
        --------
        >>> import fastevals
        >>> folds, matrix = fastevals.ConfusionMatrix.from_groups([0, 1, 1, 0], [0, 1, 0, 0], [7, 7, 3, 3])
        >>> folds, matrix.accuracy()
        (array([3, 7]), array([0.5, 1. ]))
        """
        true, predicted = as_labels("y_true", y_true), as_labels("y_pred", y_pred)
        keys = as_group_keys("groups", groups)
        check_same_length(y_true=true, y_pred=predicted, groups=keys)
        weights = None
        if sample_weight is not None:
            weights = as_weights("sample_weight", sample_weight)
            check_same_length(y_true=true, sample_weight=weights)
        distinct, counts, found_labels = count_grouped_pairs(true, predicted, keys, weights)
        classes = as_classes("the data", found_labels, labels, pos_label)
        if labels is not None:
            check_group_cells("labels", len(counts), classes.labels.size)
        return distinct, cls._from_counts(expand_to_labels(counts, found_labels, classes.labels), classes)

    def __repr__(self) -> str:
        k = self.counts.shape[-1]
        lead = "x".join(map(str, self.counts.shape[:-2]))
        averaged = f", macro over axes {self._mean_axes}" if self._mean_axes else ""
        total = self.counts.sum().item()
        shown = total if isinstance(total, int) else f"{total:g}"
        positive = "" if self.pos_label is None else f", pos_label={show(self.pos_label)}"
        return f"ConfusionMatrix({lead + ' of ' if lead else ''}{k}x{k}, n={shown}{positive}{averaged})"

    def __str__(self) -> str:
        """Return the repr and the cells, or the most frequent errors of many classes; for a stack, its first matrix."""
        if self._is_shown_by_errors:
            return "\n  ".join([repr(self), *self._error_lines()])
        first = self.counts.reshape(-1, *self.counts.shape[-2:])[:1, :MOST_SHOWN, :MOST_SHOWN]
        names = shorten_names(self.labels[:MOST_SHOWN].tolist(), LONGEST_NAME)
        rows = [["true \\ predicted", *names]]
        for matrix in first.tolist():  # no matrix if the stack is empty
            rows += [
                [name, *(str(cell) if isinstance(cell, int) else f"{cell:.6g}" for cell in row)]
                for name, row in zip(names, matrix, strict=True)
            ]
        if self.labels.size > MOST_SHOWN:
            rows = [*([*row, "..."] for row in rows), ["...", *[""] * (MOST_SHOWN + 1)]]
        return "\n  ".join([repr(self), *(format_tables([rows])[0] if first.size else [])])

    def _error_lines(self) -> list[str]:
        errors = most_frequent_errors(self.counts, MOST_SHOWN)
        names = shorten_names(self.labels.tolist(), LONGEST_NAME)
        rows = [["true", "predicted", "count", "of true class"]]
        for true, predicted, count, share in zip(*(each.tolist() for each in errors[:4]), strict=True):
            written = str(count) if isinstance(count, int) else f"{count:.6g}"
            rows.append([names[true], names[predicted], written, f"{100 * share:.1f} %"])
        return [*format_tables([rows])[0], *(["..."] if errors.n_pairs > MOST_SHOWN else [])]

    def __reduce__(self) -> tuple[Callable[..., ConfusionMatrix[Any]], tuple[Any, ...]]:
        return _rebuild, (self.counts, self.labels, self.pos_label, self._mean_axes)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and labels as lists, the positive class, and the axes that metrics average over."""
        fields = {"counts": self.counts, "labels": self.labels, "pos_label": self.pos_label}
        return {name: as_json(each) for name, each in fields.items()} | {"macro_axes": list(self._mean_axes)}

    def _columns(self) -> Columns:
        """Return one row per cell: the index in the stack, the true and predicted classes, and the count."""
        places = np.indices(self.counts.shape).reshape(self.counts.ndim, -1)
        *stack, true, predicted = places
        of_stack = {f"axis_{k}": place for k, place in enumerate(stack)}
        labels = as_column(self.labels)
        return {**of_stack, "true": labels[true], "predicted": labels[predicted], "count": self.counts.ravel()}

    def _title(self) -> str:
        if not self._is_shown_by_errors:
            return repr(self)
        shown = most_frequent_errors(self.counts, MOST_CELLS)
        if not shown.n_pairs:
            return f"{self!r} without errors"
        return f"{self!r}, {shown.counts.size:,} most frequent of {shown.n_pairs:,} kinds of errors"

    @property
    def _is_shown_by_errors(self) -> bool:
        return self.counts.ndim == 2 and self.labels.size > MOST_CELLS

    def _shown_columns(self) -> Columns:
        """Return one matrix as a table, or its most frequent errors if it is large, and a stack as one row per cell."""
        if self.counts.ndim > 2:
            return self._columns()
        if self._is_shown_by_errors:
            errors, labels = most_frequent_errors(self.counts, MOST_CELLS), as_column(self.labels)
            classes = {"true": labels[errors.true], "predicted": labels[errors.predicted]}
            return {**classes, "count": errors.counts, "share of true class": errors.shares}
        names = shorten_names(self.labels.tolist(), LONGEST_NAME)
        return {"true \\ predicted": as_column(names), **dict(zip(names, self.counts.T, strict=True))}

    def sorted_by_confusion(self) -> ConfusionMatrix[V]:
        """Reorder the classes so that classes that are often confused with each other are neighbours.

        Returns
        -------
        ConfusionMatrix
            The same counts with rows and columns in the new order. Two classes keep their order. All matrices of a
            stack have the order of their sum.

        Notes
        -----
        The similarity of two classes is the mean of both shares of rows predicted as the other class. Classes are
        clustered by average linkage, and the order of the tree's leaves makes neighbours as similar as possible [1]_;
        above 512 classes, the tree's own order is kept.

        References
        ----------
        .. [1] Bar-Joseph, Gifford and Jaakkola (2001), "Fast optimal leaf ordering for hierarchical clustering",
           Bioinformatics 17, S22-S29, doi:10.1093/bioinformatics/17.suppl_1.S22.

        Examples
        --------
        >>> import fastevals
        >>> counts = [[90, 0, 10], [0, 97, 3], [15, 1, 84]]
        >>> fastevals.ConfusionMatrix(counts, labels=["cat", "car", "dog"]).sorted_by_confusion().labels
        array(['cat', 'dog', 'car'], dtype='<U3')
        """
        order = order_of_similar_classes(self.counts.sum(axis=tuple(range(self.counts.ndim - 2))))
        counts = np.ascontiguousarray(self.counts[..., order[:, np.newaxis], order])
        return self._from_counts(
            counts, Classes(read_only("labels", self.labels[order]), self.pos_label), self._mean_axes
        )

    @overload
    def pool(self, axis: None = ...) -> ConfusionMatrix: ...
    @overload
    def pool(self, axis: int | tuple[int, ...]) -> ConfusionMatrix[Floats]: ...
    def pool(self, axis: int | tuple[int, ...] | None = None) -> ConfusionMatrix[Any]:
        """Add up the matrices along leading axes (all by default): micro-averaging over folds or models.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Leading axes to add up; the last two axes are the classes, not the stack.

        Returns
        -------
        ConfusionMatrix
            The sums, with fewer leading axes.

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
        axes = _as_stack_axes("axis", axis, self.counts.ndim - 2)
        kept = [k for k in range(self.counts.ndim - 2) if k not in axes]
        mean_axes = tuple(kept.index(k) for k in self._mean_axes if k in kept)
        return self._from_counts(self.counts.sum(axis=axes), self._classes, mean_axes)

    @overload
    def macro(self, axis: None = ...) -> ConfusionMatrix: ...
    @overload
    def macro(self, axis: int | tuple[int, ...]) -> ConfusionMatrix[Floats]: ...
    def macro(self, axis: int | tuple[int, ...] | None = None) -> ConfusionMatrix[Any]:
        """Average every metric along leading axes (all by default): macro-averaging over folds or models.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Leading axes to average over; the last two axes are the classes, not the stack.

        Returns
        -------
        ConfusionMatrix
            The same counts; its metrics return the mean of the values along these axes.

        Raises
        ------
        ValueError
            If there is no such axis.
        """
        axes = _as_stack_axes("axis", axis, self.counts.ndim - 2)
        return self._from_counts(self.counts, self._classes, tuple(sorted({*self._mean_axes, *axes})))

    def accuracy(self) -> V:
        """Share of rows predicted right (2.5).

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> stack = fastevals.ConfusionMatrix([[[4, 1], [2, 3]], [[5, 0], [0, 5]]])
        >>> stack.accuracy()
        array([0.7, 1. ])
        """
        return self._result("accuracy", cells.ratio(self._right(), self._total()))

    def error_rate(self) -> V:
        """Share of rows predicted wrong (2.4).

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.error_rate()
        0.3
        """
        return self._result("error_rate", cells.ratio(self._wrong(), self._total()))

    def hamming_loss(self) -> V:
        """Share of labels predicted wrong; with one label per row it equals the error rate.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.hamming_loss()
        0.3
        """
        return self._result("hamming_loss", cells.ratio(self._wrong(), self._total()))

    def balanced_accuracy(self) -> V:
        """Mean of the classes' recalls.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.balanced_accuracy()
        0.7
        """
        return self._result("balanced_accuracy", cells.recall(self._one_vs_rest()).mean(axis=-1))

    @overload
    def precision(self, *, average: None) -> Floats: ...
    @overload
    def precision(self, *, average: MeanAverage = ...) -> V: ...
    def precision(self, *, average: Average = "binary") -> Any:
        """Share of rows that belong to a class, among the rows predicted as this class (2.8).

        Parameters
        ----------
        average : {"binary", None, "micro", "macro", "weighted"}
            "binary": the metric of the positive class (`pos_label`), if there are two classes; None: each class;
            "micro": from the counts added up over classes; "macro": the mean over classes; "weighted": the mean over
            classes, weighted by their rows.

        Returns
        -------
        float or ndarray
            One value per matrix; with ``average=None``, one per matrix and class.

        Raises
        ------
        ValueError
            If `average` is none of these, or if it is "binary" and there are more than two classes or the positive
            class is unknown.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.precision(), matrix.precision(average="macro")
        (0.75, 0.7083333333333333)
        """
        return self._averaged("precision", cells.precision, average)

    @overload
    def recall(self, *, average: None) -> Floats: ...
    @overload
    def recall(self, *, average: MeanAverage = ...) -> V: ...
    def recall(self, *, average: Average = "binary") -> Any:
        """Share of a class's rows that are predicted as this class (2.9); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.recall(average=None)
        array([0.8, 0.6])
        """
        return self._averaged("recall", cells.recall, average)

    @overload
    def specificity(self, *, average: None) -> Floats: ...
    @overload
    def specificity(self, *, average: MeanAverage = ...) -> V: ...
    def specificity(self, *, average: Average = "binary") -> Any:
        """Share of the rows outside a class that are not predicted as this class; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.specificity()
        0.8
        """
        return self._averaged("specificity", cells.specificity, average)

    @overload
    def negative_predictive_value(self, *, average: None) -> Floats: ...
    @overload
    def negative_predictive_value(self, *, average: MeanAverage = ...) -> V: ...
    def negative_predictive_value(self, *, average: Average = "binary") -> Any:
        """Share of rows outside a class, among the rows not predicted as this class; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.negative_predictive_value()
        0.6666666666666666
        """
        return self._averaged("negative_predictive_value", cells.negative_predictive_value, average)

    @overload
    def positive_likelihood_ratio(self, *, average: None) -> Floats: ...
    @overload
    def positive_likelihood_ratio(self, *, average: MeanAverage = ...) -> V: ...
    def positive_likelihood_ratio(self, *, average: Average = "binary") -> Any:
        """Recall / false positive rate of a class (LR+); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix, in [0, inf]: inf where only the false positive rate is 0; NaN where both rates are 0
            or one is undefined.

        References
        ----------
        Deeks and Altman (2004), doi:10.1136/bmj.329.7458.168.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.positive_likelihood_ratio()
        3.0
        """
        return self._averaged("positive_likelihood_ratio", cells.positive_likelihood_ratio, average)

    @overload
    def negative_likelihood_ratio(self, *, average: None) -> Floats: ...
    @overload
    def negative_likelihood_ratio(self, *, average: MeanAverage = ...) -> V: ...
    def negative_likelihood_ratio(self, *, average: Average = "binary") -> Any:
        """False negative rate / specificity of a class (LR-); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix, in [0, inf]: inf where only specificity is 0; NaN where both rates are 0 or one is
            undefined.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.negative_likelihood_ratio()
        0.5
        """
        return self._averaged("negative_likelihood_ratio", cells.negative_likelihood_ratio, average)

    @overload
    def diagnostic_odds_ratio(self, *, average: None) -> Floats: ...
    @overload
    def diagnostic_odds_ratio(self, *, average: MeanAverage = ...) -> V: ...
    def diagnostic_odds_ratio(self, *, average: Average = "binary") -> Any:
        """Diagnostic odds ratio TP TN / (FP FN), which is LR+ / LR-; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix, in [0, inf]: inf where only FP FN is 0; NaN where TP TN is 0, too.

        References
        ----------
        Glas et al. (2003), doi:10.1016/S0895-4356(03)00177-X.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.diagnostic_odds_ratio()
        6.0
        """
        return self._averaged("diagnostic_odds_ratio", cells.diagnostic_odds_ratio, average, symmetric=True)

    @overload
    def prevalence(self, *, average: None) -> Floats: ...
    @overload
    def prevalence(self, *, average: MeanAverage = ...) -> V: ...
    def prevalence(self, *, average: Average = "binary") -> Any:
        """Share of rows that are of a class; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN without rows.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.prevalence()
        0.5
        """
        return self._averaged("prevalence", cells.prevalence, average)

    @overload
    def prediction_rate(self, *, average: None) -> Floats: ...
    @overload
    def prediction_rate(self, *, average: MeanAverage = ...) -> V: ...
    def prediction_rate(self, *, average: Average = "binary") -> Any:
        """Share of rows that are predicted as a class (the selection rate); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN without rows.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.prediction_rate()
        0.4
        """
        return self._averaged("prediction_rate", cells.prediction_rate, average)

    @overload
    def fowlkes_mallows(self, *, average: None) -> Floats: ...
    @overload
    def fowlkes_mallows(self, *, average: MeanAverage = ...) -> V: ...
    def fowlkes_mallows(self, *, average: Average = "binary") -> Any:
        """Geometric mean of precision and recall; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where precision or recall is undefined.

        References
        ----------
        Fowlkes and Mallows (1983), doi:10.1080/01621459.1983.10478008.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.fowlkes_mallows()
        0.6708203932499369
        """
        return self._averaged("fowlkes_mallows", cells.fowlkes_mallows, average)

    @overload
    def markedness(self, *, average: None) -> Floats: ...
    @overload
    def markedness(self, *, average: MeanAverage = ...) -> V: ...
    def markedness(self, *, average: Average = "binary") -> Any:
        """Precision + negative predictive value - 1; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix, in [-1, 1]; NaN where all rows are predicted as one class.

        References
        ----------
        Powers (2011), arXiv:2010.16061.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.markedness()
        0.4166666666666667
        """
        return self._averaged("markedness", cells.markedness, average, symmetric=True)

    @overload
    def jaccard(self, *, average: None) -> Floats: ...
    @overload
    def jaccard(self, *, average: MeanAverage = ...) -> V: ...
    def jaccard(self, *, average: Average = "binary") -> Any:
        """Intersection over union of a class's predicted rows and its true rows; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.jaccard()
        0.5
        """
        return self._averaged("jaccard", cells.jaccard, average)

    @overload
    def f_score(self, beta: float = ..., *, average: None, macro: MacroF = ...) -> Floats: ...
    @overload
    def f_score(self, beta: float = ..., *, average: MeanAverage = ..., macro: MacroF = ...) -> V: ...
    def f_score(self, beta: float = 1.0, *, average: Average = "binary", macro: MacroF = "mean-of-f") -> Any:
        """Weighted harmonic mean of precision and recall (2.10 to 2.17), computed from counts.

        Parameters
        ----------
        beta : float
            Weight of recall relative to precision, above zero.
        average : {"binary", None, "micro", "macro", "weighted"}
            As in `precision`.
        macro : {"mean-of-f", "of-means"}
            How to average over classes (`average`) or over a stack (`macro()`): "mean-of-f" is the mean of the
            F-scores, and "of-means" is the F-score of mean precision and mean recall. "of-means" is never smaller if
            all precisions and recalls are defined.

        Returns
        -------
        float or ndarray
            In [0, 1]; 0 if there are errors but no true positives.

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
        beta = check_number("beta", beta, low=0, open_low=True, high=1e100)
        check_choice("macro", macro, MacroF)
        if macro == "mean-of-f" or not (self._mean_axes or average in ("macro", "weighted")):
            return self._averaged("f_score", lambda at: cells.f_score(at, beta), average)
        p, r = (self._mean(self._values(rate, average, "f_score")) for rate in (cells.precision, cells.recall))
        b = beta * beta
        return self._warned_values("f_score", np.where(p + r == 0, 0.0, cells.ratio((1 + b) * p * r, b * p + r)))

    def matthews(self) -> V:
        """Correlation between true and predicted classes, in [-1, 1]; NaN if true or predicted classes are all equal.

        References
        ----------
        Matthews (1975), doi:10.1016/0005-2795(75)90109-9; for K classes, Gorodkin (2004),
        doi:10.1016/j.compbiolchem.2004.09.006.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.matthews()
        0.408248290463863
        """
        return self._result("matthews", self._agreement().matthews())

    def cohen_kappa(self, *, weights: KappaWeights = None) -> V:
        """Agreement beyond chance, at most 1 (Cohen 1960, doi:10.1177/001316446002000104).

        Parameters
        ----------
        weights : {None, "linear", "quadratic"}
            What an error costs, for ordered classes: the distance between the two classes in the order of `labels`, or
            its square (Cohen 1968, doi:10.1037/h0026256). None counts all errors alike.

        Returns
        -------
        float or ndarray
            One value per matrix; NaN where the denominator is zero.

        Raises
        ------
        ValueError
            If `weights` has another value.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.cohen_kappa()
        0.4
        >>> fastevals.ConfusionMatrix([[3, 1, 0], [1, 3, 1], [0, 1, 2]]).cohen_kappa(weights="quadratic")
        0.7108433734939759
        """
        check_choice("weights", weights, KappaWeights)
        if weights is None:
            return self._result("cohen_kappa", self._agreement().cohen_kappa())
        places = np.arange(self.counts.shape[-1], dtype=np.float64)
        costs = np.abs(places[:, None] - places) ** (1 if weights == "linear" else 2)
        shares = cells.ratio(self._scaled_counts, self._scaled_counts.sum(axis=(-2, -1), keepdims=True))
        by_chance = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
        observed, expected = ((each * costs).sum(axis=(-2, -1)) for each in (shares, by_chance))
        return self._result("cohen_kappa", 1 - cells.ratio(observed, expected))

    def cost(self, cost_matrix: ArrayLike, *, prior: ArrayLike | None = None, normalize: bool = True) -> V:
        """Mean cost of the predictions per row, or their total cost.

        With a prior it is ``sum over true classes of prior * sum over predicted of rate * cost``: the mean cost if the
        classes have these shares. The rates of a class are its row of counts divided by the row's sum.

        Parameters
        ----------
        cost_matrix : array-like of shape (K, K)
            Cost of each prediction: one row per true class, one column per predicted class; gains are negative. If the
            columns or the index of a frame are named by the classes, they are matched by name.
        prior : array-like of shape (K,), optional
            Shares of the classes in the population on which the classifier will be used, in the order of `labels`; by
            default the shares in these rows.
        normalize : bool
            Return the mean cost per row instead of the sum.

        Returns
        -------
        float or ndarray
            In units of the costs; NaN for a mean over no rows, or if a class with a prior above zero has no rows.

        Raises
        ------
        ValueError
            If `cost_matrix` has another shape or a value that is not finite, if `prior` does not hold K shares that sum
            to 1, or if `prior` is given together with ``normalize=False``.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[90, 5], [1, 4]])
        >>> matrix.cost([[0, 1], [10, 0]]), matrix.cost([[0, 1], [8, 0]], prior=[0.5, 0.5])
        (0.15, 0.8263157894736842)
        """
        costs = as_cost_matrix("cost_matrix", cost_matrix, self.counts.shape[-1], self.labels.tolist())
        normalize = as_flag("normalize", normalize)
        _check_normalized(prior, normalize)
        if prior is not None:
            shares = as_class_shares("prior", prior, self.counts.shape[-1])[:, None]
            counts = self._scaled_counts
            rates = cells.ratio(counts, counts.sum(axis=-1, keepdims=True))
            return self._result("cost", np.where(shares > 0, shares * rates * costs, 0.0).sum(axis=(-2, -1)))
        counts = self._scaled_counts if normalize else self.counts
        unit = np.ldexp(1.0, np.frexp(np.abs(costs).max())[1] - 1) or 1.0  # exact, and no sum overflows
        total = (counts * (costs / unit)).sum(axis=(-2, -1))
        with np.errstate(over="ignore"):
            return self._result("cost", (cells.ratio(total, self._total()) if normalize else total) * unit)

    def _averaged(
        self, name: str, metric: Callable[[Cells], NDArray[np.float64]], average: Average, *, symmetric: bool = False
    ) -> Any:
        """Compute and average a metric; a `symmetric` metric does not depend on which of two classes is positive."""
        return self._result(name, self._values(metric, average, None if symmetric else name))

    def _values(
        self,
        metric: Callable[[Cells], NDArray[np.float64]],
        average: Average,
        needs_positive: str | None = "average='binary'",
    ) -> NDArray[np.float64]:
        """Compute a metric of each class against the rest, averaged over classes.

        `needs_positive` names, in errors, what needs the positive class; None if either class may be positive.
        """
        check_choice("average", average, Average)
        if average == "binary":
            check_two_classes("average='binary'", self.counts.shape[-1], get_args(Average))
            if needs_positive is not None:
                check_positive_known(needs_positive, self._classes)
            (tn, fp), (fn, tp) = np.moveaxis(self._scaled_counts, (-2, -1), (0, 1))
            return np.asarray(metric(Cells(tp, fp, fn, tn)))
        at = self._one_vs_rest()
        if average == "micro":
            return metric(cells.added_up(at))
        values = metric(at)
        if average == "macro":
            values = values.mean(axis=-1)
        elif average == "weighted":
            support = at.tp + at.fn
            values = cells.ratio(np.where(support > 0, values * support, 0).sum(axis=-1), support.sum(axis=-1))
        return np.asarray(values)

    def _result(self, name: str, values: Any) -> V:
        return self._warned_values(name, self._mean(values))

    def _mean(self, values: Any) -> NDArray[Any]:
        """Average over the axes of the stack that were passed to `macro`."""
        if not self._mean_axes:
            return np.asarray(values)
        members = math.prod(values.shape[axis] for axis in self._mean_axes)
        return cells.ratio(values.sum(axis=self._mean_axes), members)

    def _warned_values(self, name: str, values: NDArray[Any]) -> V:
        """Warn about NaN; return a plain number for a single matrix."""
        missing = np.count_nonzero(np.isnan(values))
        if missing:
            where = f"{missing} of {values.size} values have a zero denominator" if values.ndim else "zero denominator"
            warn_undefined(name, where)
        return values if values.ndim else values.item()  # type: ignore[return-value]

    @property
    def _classes(self) -> Classes:
        return Classes(self.labels, self.pos_label)

    @property
    def _scaled_counts(self) -> NDArray[Any]:
        """Counts to compute ratios from: floats near the ends of their range are scaled by a power of two."""
        counts = self.counts
        if counts.dtype.kind != "f":
            return counts
        shift = np.maximum(cells.shift_of(counts.max(axis=(-2, -1), keepdims=True)), 0)
        return np.ldexp(counts, shift) if shift.any() else counts

    def _right(self) -> NDArray[Any]:
        return np.asarray(np.trace(self._scaled_counts, axis1=-2, axis2=-1))

    def _wrong(self) -> NDArray[Any]:
        return np.asarray(
            np.where(np.eye(self.counts.shape[-1], dtype=bool), 0, self._scaled_counts).sum(axis=(-2, -1))
        )

    def _total(self) -> NDArray[Any]:
        """Return the sum of all counts, added in an order that makes the accuracy of a perfect matrix exactly 1."""
        return np.asarray(self._right() + self._wrong())

    def _one_vs_rest(self) -> Cells:
        """Return the cells of each class against the rest, of shape (..., K)."""
        return _one_vs_rest(self._scaled_counts)

    def _agreement(self) -> BeyondChance:
        """Compare the agreement of truth and prediction with chance.

        The result is exact for integers (Python's own are used past 2**31), and for floats so far apart that their
        products underflow. For other floats no small difference is computed from large sums, because the difference
        would lose digits.
        """
        counts = self.counts
        if counts.dtype.kind == "f":
            scaled = np.ldexp(counts, -np.frexp(counts.max(axis=(-2, -1), keepdims=True))[1])
            if not ((counts > 0) & (scaled < FAR_APART)).any():
                return _float_agreement(scaled)
            counts = np.asarray(np.frompyfunc(_as_whole, 1, 1)(counts))
        return _agreement(counts)


def _rebuild(
    counts: NDArray[Any], labels: NDArray[Any], pos_label: Any, mean_axes: tuple[int, ...]
) -> ConfusionMatrix[Any]:
    labels.flags.writeable = False  # pickling makes arrays writable
    return ConfusionMatrix._from_counts(counts, Classes(labels, pos_label), mean_axes)


def _one_vs_rest(counts: NDArray[Any]) -> Cells:
    """Return the cells of each class against the rest, of shape (..., K)."""
    if counts.shape[-1] == 2:  # all rows outside one class are of the other
        (a, b), (c, d) = np.moveaxis(counts, (-2, -1), (0, 1))
        return Cells(*(np.stack(pair, axis=-1) for pair in ((a, d), (c, b), (b, c), (d, a))))
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    others = np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts)
    # The counts outside row and column k are added up from the four corners around cell k. A difference of float
    # sums would turn rounding errors into counts.
    tn = np.zeros_like(tp)
    for rows in (1, -1):
        for columns in (1, -1):
            corner = np.zeros_like(counts)
            corner[..., 1:, 1:] = counts[..., ::rows, ::columns][..., :-1, :-1].cumsum(axis=-2).cumsum(axis=-1)
            tn = tn + np.diagonal(corner[..., ::rows, ::columns], axis1=-2, axis2=-1)
    return Cells(tp, others.sum(axis=-2), others.sum(axis=-1), tn)


class BeyondChance(NamedTuple):
    """Agreement of truth and prediction beyond chance, their variances, and the disagreement expected by chance.

    All four are multiplied by the squared number of rows. They are integers (Python's own where products would
    overflow), or floats.
    """

    beyond_chance: NDArray[Any]
    true_variance: NDArray[Any]
    predicted_variance: NDArray[Any]
    disagreement: NDArray[Any]

    @classmethod
    def of_margins(cls, right: Any, wrong: Any, true: NDArray[Any], predicted: NDArray[Any]) -> BeyondChance:
        """Compute all four from the rows predicted right and wrong, and the rows of each true and predicted class."""
        right, total = np.asarray(right), np.asarray(right + wrong)  # this sum makes perfect agreement exactly 1
        if total.dtype.kind == "i" and total.max(initial=0) >= 2**31:
            right, total, true, predicted = (each.astype(object) for each in (right, total, true, predicted))
        by_chance = (true * predicted).sum(axis=-1)
        variances = (total**2 - (margin * margin).sum(axis=-1) for margin in (true, predicted))
        statistics = total * right - by_chance, *variances, total**2 - by_chance
        return cls(*(np.asarray(each, dtype=true.dtype) for each in statistics))

    def cohen_kappa(self) -> NDArray[np.float64]:
        """Return the agreement beyond chance as a share of the disagreement expected by chance."""
        parts = self.beyond_chance, self.disagreement
        return cells.ratio(*parts) if self.disagreement.dtype != object else _map_integers(_quotient, *parts)

    def matthews(self) -> NDArray[np.float64]:
        """Return the correlation."""
        if self.disagreement.dtype == object:
            value = _map_integers(_correlation, *self[:3])
        else:
            root = np.sqrt(self.true_variance.astype(np.float64) * self.predicted_variance)
            value = cells.ratio(self.beyond_chance, root)
        return np.clip(value, -1.0, 1.0)


def _agreement(counts: NDArray[Any]) -> BeyondChance:
    right = np.trace(counts, axis1=-2, axis2=-1)
    wrong = np.where(np.eye(counts.shape[-1], dtype=bool), 0, counts).sum(axis=(-2, -1))
    return BeyondChance.of_margins(right, wrong, counts.sum(axis=-1), counts.sum(axis=-2))


def _float_agreement(counts: NDArray[np.float64]) -> BeyondChance:
    """Compute `_agreement` for float counts up to about 1; avoid differences where one count dwarfs the others."""
    statistics = _agreement(counts)
    hidden = np.minimum.reduce(statistics[1:]) < counts.sum(axis=(-2, -1)) ** 2 / 16
    if hidden.any():
        at = _one_vs_rest(counts[hidden])
        true, predicted, others, rest = at.tp + at.fn, at.tp + at.fp, at.fp + at.tn, at.fn + at.tn
        sums = _excess(at), true * others, predicted * rest, true * rest
        for each, exact in zip(statistics, sums, strict=True):
            each[hidden] = exact.sum(axis=-1)
    return statistics


def _excess(at: Cells) -> NDArray[np.float64]:
    """Return tp tn - fp fn for floats up to about 1, corrected for the rounding errors of both products."""
    (won, won_error), (lost, lost_error) = _product(at.tp, at.tn), _product(at.fp, at.fn)
    return np.asarray((won - lost) + (won_error - lost_error))


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a product and its rounding error (Dekker 1971, doi:10.1007/BF01397083)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    total = a * b
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Any) -> tuple[Any, Any]:
    wide = 134217729.0 * x
    high = wide - (wide - x)
    return high, x - high


def _as_whole(count: float) -> int:
    """Return a float times 2**1074, which is an integer for every float."""
    return int(Fraction(count) * 2**1074)


def _map_integers(function: Callable[..., float], *integers: NDArray[Any]) -> NDArray[np.float64]:
    """Call a function of Python's integers elementwise."""
    return np.asarray(np.frompyfunc(function, len(integers), 1)(*integers), dtype=np.float64)


def _quotient(numerator: int, denominator: int) -> float:
    return numerator / denominator if denominator else math.nan


def _correlation(covariance: int, true_variance: int, predicted_variance: int) -> float:
    """Divide a covariance by the root of two variances; the root has so many digits that only the division rounds."""
    return _quotient(covariance << 64, math.isqrt((true_variance * predicted_variance) << 128))


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_square_counts(name: str, values: Any) -> NDArray[Any]:
    """Return the counts of confusion matrices as a read-only int64 or float64 array of shape (..., K, K)."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or not array.shape[-1]:
        raise ValueError(f"{name} must have shape (..., K, K), got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, but has a NaN or infinite value")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} must not be negative, got {show(array.min())}")
    limit = 2.0**63 if array.dtype.kind != "f" else math.inf
    with np.errstate(over="ignore"):
        total = array.sum(dtype=np.float64)
    if not total < limit:
        raise ValueError(f"{name} must add up to less than {'2**63' if limit < math.inf else 'the largest float'}")
    counts = np.array(array, dtype=np.float64 if array.dtype.kind == "f" else np.int64)
    counts.flags.writeable = False
    return counts


def _as_rows(counts: NDArray[Any]) -> NDArray[Any]:
    """Return whole counts as int64: they count rows."""
    if counts.dtype.kind == "f" and (counts == np.trunc(counts)).all() and counts.sum() <= EXACT_INTEGER:
        return counts.astype(np.int64)
    return counts


def _as_stack_axes(name: str, axis: Any, n_axes: int) -> tuple[int, ...]:
    """Return the axes of a stack of matrices as a tuple of non-negative integers; None means all axes."""
    if axis is None:
        return tuple(range(n_axes))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    for one in axes:
        if isinstance(one, bool) or not isinstance(one, (int, np.integer)) or not -n_axes <= one < n_axes:
            raise ValueError(f"{name} must name leading axes (there are {n_axes}), got {show(axis)}")
    return tuple(sorted({int(one) % n_axes for one in axes}))


def _check_normalized(prior: Any, normalize: Any) -> None:
    """Raise if a prior is given for a total cost."""
    if prior is not None and not normalize:
        raise ValueError(f"prior requires normalize=True, got normalize={show(normalize)}")


def _names_of_counts(name: str, values: Any, labels: Any) -> Any:
    """Return the names of a pandas frame's rows and columns; None if there are none, or if they are 0 to K - 1.

    Raise if rows and columns have different names and `labels` is not given.
    """
    if not hasattr(values, "iloc"):
        return None
    rows, columns = np.asarray(values.index), np.asarray(values.columns)
    alike = np.array_equal(rows, columns)
    if (alike and np.array_equal(rows, np.arange(rows.size))) or (labels is not None and not alike):
        return None
    if not alike and rows.size == columns.size:
        raise ValueError(
            f"{name} must have the same names for rows and columns, or labels must be given (if there are two, the "
            f"positive class last); got rows {listed(list(rows))} and columns {listed(list(columns))}"
        )
    return as_labels(f"the columns of {name}", columns) if alike else None
