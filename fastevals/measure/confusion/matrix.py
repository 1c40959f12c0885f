"""Confusion matrices: one, or a stack of them over folds, models or thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure.confusion.per_class import PerClass
from fastevals.measure.confusion.whole import WholeMatrix
from fastevals.measure.grouped_pairs import count_grouped_pairs
from fastevals.measure.pairs import count_label_pairs, placed
from fastevals.measure.results import as_json

__all__ = ["ConfusionMatrix"]


class ConfusionMatrix(WholeMatrix, PerClass):
    """Counts of true against predicted classes, one matrix or a stack of them.

    Every metric keeps the leading axes: with counts of shape (folds, models, K, K) it has shape (folds, models). A zero
    denominator gives NaN with `UndefinedMetricWarning`, never a silent 0.

    Parameters
    ----------
    counts : array-like of shape (..., K, K)
        Rows are true classes, columns predicted ones. Integers, or sums of weights; not negative. A pandas frame
        (as of `pandas.crosstab`) whose rows and columns are named alike names the classes.
    labels : sequence of K labels, optional
        Names of the classes, of a frame that names them their order; 0 to K - 1 if not given. With two classes the
        second is the positive one.
    pos_label : label, optional
        The positive one of two classes: the second where `labels` are given; without them 0 turns the matrix round, so
        that the positive class comes last.

    Attributes
    ----------
    counts : ndarray of shape (..., K, K)
        int64 or float64, read-only.
    labels : ndarray of shape (K,)
        Names of the classes, the positive one of two last.
    pos_label : label or None
        The positive one of two classes. None of more, and where nobody said: metrics that need it are an error then,
        those of all classes and averages over them are not.

    Raises
    ------
    ValueError
        If the counts are not square, negative or not finite, the number of labels is not K, or `pos_label` is not the
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

    __slots__ = ()

    def __init__(self, counts: ArrayLike, labels: ArrayLike | None = None, *, pos_label: Any = None) -> None:
        own = check.as_square_counts("counts", counts)
        found = check.names_of_counts("counts", counts, labels)
        names = check.as_class_names("labels", labels if found is None else found, own.shape[-1])
        if pos_label is not None:
            check.check_two_classes("pos_label", own.shape[-1])
        classes = check.as_classes("counts", names, labels, pos_label)
        self.counts = check.as_square_counts("counts", placed(own, names, classes.labels))
        self.labels, self.pos_label = classes
        self._mean_axes = ()

    @classmethod
    def _of(cls, counts: NDArray[Any], classes: check.Classes, mean_axes: tuple[int, ...] = ()) -> ConfusionMatrix:
        """Make the matrix of classes that are in the order of the counts."""
        matrix = cls.__new__(cls)
        matrix.counts = check.as_square_counts("counts", counts)
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
    ) -> ConfusionMatrix:
        """Count true against predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        labels : sequence, optional
            The classes and their order, the positive one of two last; by default all that occur, sorted. A row with
            another label is an error.
        pos_label : label, optional
            The positive one of two classes, which comes last; 1 among 0/1, -1/1 and booleans. Of others, metrics that
            need it are an error without it.
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
        counts, found = count_label_pairs(true, predicted, weights)
        classes = check.as_classes("the data", found, labels, pos_label)
        return cls._of(placed(counts, found, classes.labels), classes)

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
    ) -> tuple[NDArray[Any], ConfusionMatrix]:
        """Count true against predicted labels in each group (a fold, a user, a day), all groups in one pass.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        groups : array-like of shape (n_samples,)
            The group of each row, in any order: numbers, booleans, strings, dates or times.
        labels : sequence, optional
            The classes and their order, the positive one of two last; by default all that occur in any group, sorted. A
            row with another label is an error.
        pos_label : label, optional
            As of `from_predictions`.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, not negative.

        Returns
        -------
        groups : ndarray of shape (n_groups,)
            The distinct keys, ascending.
        matrix : ConfusionMatrix
            Of shape (n_groups, K, K): its metrics have an entry for each group, `pool` adds the groups up.

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
        true, predicted = check.as_labels("y_true", y_true), check.as_labels("y_pred", y_pred)
        keys = check.as_group_keys("groups", groups)
        check.check_same_length(y_true=true, y_pred=predicted, groups=keys)
        weights = None
        if sample_weight is not None:
            weights = check.as_weights("sample_weight", sample_weight)
            check.check_same_length(y_true=true, sample_weight=weights)
        distinct, counts, found = count_grouped_pairs(true, predicted, keys, weights)
        classes = check.as_classes("the data", found, labels, pos_label)
        if labels is not None:
            check.check_group_cells("labels", len(counts), classes.labels.size)
        return distinct, cls._of(placed(counts, found, classes.labels), classes)

    def __repr__(self) -> str:
        k = self.counts.shape[-1]
        lead = "x".join(map(str, self.counts.shape[:-2]))
        averaged = f", macro over axes {self._mean_axes}" if self._mean_axes else ""
        total = self.counts.sum().item()
        shown = total if isinstance(total, int) else f"{total:g}"
        positive = "" if self.pos_label is None else f", pos_label={check.show(self.pos_label)}"
        return f"ConfusionMatrix({lead + ' of ' if lead else ''}{k}x{k}, n={shown}{positive}{averaged})"

    def __reduce__(self) -> tuple[Callable[..., ConfusionMatrix], tuple[Any, ...]]:
        return _rebuilt, (self.counts, self.labels, self.pos_label, self._mean_axes)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and labels as lists, the positive one of two, and the axes that metrics average over."""
        told = {"counts": self.counts, "labels": self.labels, "pos_label": self.pos_label}
        return {name: as_json(each) for name, each in told.items()} | {"macro_axes": list(self._mean_axes)}

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
        kept = [one for one in range(self.counts.ndim - 2) if one not in axes]
        mean_axes = tuple(kept.index(one) for one in self._mean_axes if one in kept)
        return self._of(self.counts.sum(axis=axes), self._classes, mean_axes)

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
        axes = check.as_stack_axes("axis", axis, self.counts.ndim - 2)
        return self._of(self.counts, self._classes, tuple(sorted({*self._mean_axes, *axes})))


def _rebuilt(counts: NDArray[Any], labels: NDArray[Any], pos_label: Any, mean_axes: tuple[int, ...]) -> ConfusionMatrix:
    labels.flags.writeable = False  # as they were before they were pickled
    return ConfusionMatrix._of(counts, check.Classes(labels, pos_label), mean_axes)
