"""Confusion matrices, and the ratios that are read off one of two classes."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation import drop_in as check
from fastevals.measure.cells import ratio
from fastevals.metrics._counted import Pairs, read, read_classes

__all__ = ["class_likelihood_ratios", "confusion_matrix", "multilabel_confusion_matrix"]

SHARES = check.any_of("true", "pred", "all", None)
AXES = {"true": (1,), "pred": (0,), "all": (0, 1)}


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: str | None = None,
) -> NDArray[Any]:
    """Count true classes (rows) against predicted ones (columns), as scikit-learn's `confusion_matrix`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels: numbers without a fraction, or strings.
    labels : array-like, optional
        The classes and their order; rows with another label are left out. By default all that occur, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    normalize : {None, "true", "pred", "all"}
        Divide by the sums of rows, of columns, or of all; 0 / 0 is 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        int64; float64 if normalized, or weights are.

    Raises
    ------
    ValueError
        If the targets do not go together, no label asked for is in `y_true`, or an option is not as described.

    Warns
    -----
    UserWarning
        If there is one class.

    Examples
    --------
    >>> from fastevals.metrics import confusion_matrix
    >>> confusion_matrix([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    array([[2, 0, 0],
           [0, 0, 1],
           [1, 0, 2]])
    """
    check.check_parameters(
        "confusion_matrix",
        labels=(labels, check.ARRAY_OR_NONE),
        sample_weight=(sample_weight, check.ARRAY_OR_NONE),
        normalize=(normalize, SHARES),
    )
    counted = read_classes(y_true, y_pred, sample_weight)
    requested = None if labels is None else check.as_requested(labels, counted.true_labels())
    counts = counted.matrix(requested)
    if normalize is not None:
        counts = ratio(counts, counts.sum(axis=AXES[normalize], keepdims=True))
        counts[np.isnan(counts)] = 0.0
    if counts.size == 1:
        check.warn_one_label()
    return counts


def multilabel_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    samplewise: bool = False,
) -> NDArray[Any]:
    """Count each label against the rest, as scikit-learn's `multilabel_confusion_matrix`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or array or sparse matrix of shape (n_samples, n_labels)
        Labels: numbers without a fraction, or strings. Or indicators of several labels a row.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    labels : array-like, optional
        The labels and their order; of indicators the numbers of columns. By default all that occur, sorted.
    samplewise : bool
        A matrix for each row, not for each label; of indicators alone.

    Returns
    -------
    ndarray of shape (n_labels, 2, 2) or (n_samples, 2, 2)
        ``[[tn, fp], [fn, tp]]`` for each: int64, or float64 sums of weights, which are never negative.

    Raises
    ------
    ValueError
        If the targets do not go together, or an option is not as described.

    Examples
    --------
    >>> from fastevals.metrics import multilabel_confusion_matrix
    >>> multilabel_confusion_matrix([0, 1, 1, 1], [0, 1, 1, 0]).tolist()
    [[[2, 1], [0, 1]], [[1, 0], [1, 2]]]
    """
    check.check_parameters(
        "multilabel_confusion_matrix",
        sample_weight=(sample_weight, check.ARRAY_OR_NONE),
        labels=(labels, check.ARRAY_OR_NONE),
        samplewise=(samplewise, check.FLAG),
    )
    counted = read(y_true, y_pred, sample_weight)
    requested = check.as_reported(labels, counted.labels)
    tp, fp, fn, tn = counted.cells(requested, samplewise=bool(samplewise))
    return np.stack([tn, fp, fn, tp], axis=-1).reshape(-1, 2, 2)


def class_likelihood_ratios(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    replace_undefined_by: Any = math.nan,
) -> tuple[float, float]:
    """How much a prediction changes the odds of the positive class, as scikit-learn's `class_likelihood_ratios`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of two classes: numbers without a fraction, or strings.
    labels : array-like of two labels, optional
        The negative class and the positive one; by default in sorted order.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    replace_undefined_by : nan, 1.0 or dict
        What stands for a ratio that is divided by zero; a dict has one for "LR+" (1 to inf) and one for "LR-" (0 to 1).

    Returns
    -------
    positive, negative : float
        Recall over false positive rate; false negative rate over specificity.

    Raises
    ------
    ValueError
        If there are more than two classes, the targets do not go together, or an option is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a ratio is divided by zero.

    Examples
    --------
    >>> from fastevals.metrics import class_likelihood_ratios
    >>> class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    check.check_parameters(
        "class_likelihood_ratios",
        labels=(labels, check.ARRAY_OR_NONE),
        sample_weight=(sample_weight, check.ARRAY_OR_NONE),
        replace_undefined_by=(replace_undefined_by, check.ONE_OR_BOTH_RATIOS),
    )
    both = read(y_true, y_pred, sample_weight)
    check.check_two_kinds("class_likelihood_ratios", both.kind)
    counted = cast(Pairs, both)
    of_positive, of_negative = check.as_label_ratios(replace_undefined_by)
    counts = counted.matrix(None if labels is None else check.as_requested(labels, counted.true_labels()))
    check.check_two_by_two(counts.shape[0])
    tn, fp, fn, tp = counts.ravel().tolist()  # Python's integers: products of two pass 2**63
    check.warn_undefined_ratios(tp, fp, fn, tn)
    return (
        float(of_positive) if not fp else _ratio(tp * (tn + fp), fp * (tp + fn)),
        float(of_negative) if not tn else _ratio(fn * (tn + fp), tn * (tp + fn)),
    )


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan
