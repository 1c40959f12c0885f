"""Confusion matrices, and likelihood ratios for two classes."""

from __future__ import annotations

import math
import numbers
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals.measure.cells import ratio
from fastevals.metrics._input import as_reported, as_requested, warn_one_label
from fastevals.metrics._labels import LabelPairs, count_classes, count_labels
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, Rule, any_of, check_parameters, warn_ill_defined

ONE_OR_BOTH_RATIOS = Rule(
    "a float among {1.0, nan} or an instance of 'dict'",
    lambda value: isinstance(value, dict) or (isinstance(value, numbers.Real) and (math.isnan(value) or value == 1)),
)

SHARES = any_of("true", "pred", "all", None)
AXES = {"true": (1,), "pred": (0,), "all": (0, 1)}


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: str | None = None,
) -> NDArray[Any]:
    """Count true classes (rows) against predicted ones (columns), like scikit-learn's `confusion_matrix`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels: whole numbers or strings.
    labels : array-like, optional
        The classes in the order of the matrix; rows with other labels are left out. By default all labels that occur,
        sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    normalize : {None, "true", "pred", "all"}
        Divide by the sums of true classes, by the sums of predicted classes, or by the total; 0 / 0 gives 0.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        int64; float64 if normalized, or if weights are floats.

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, no requested label is in `y_true`, or an option is not as
        described.

    Warns
    -----
    UserWarning
        If there is only one class.

    Examples
    --------
    >>> from fastevals.metrics import confusion_matrix
    >>> confusion_matrix([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    array([[2, 0, 0],
           [0, 0, 1],
           [1, 0, 2]])
    """
    check_parameters(
        "confusion_matrix",
        labels=(labels, ARRAY_OR_NONE),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        normalize=(normalize, SHARES),
    )
    counted = count_classes(y_true, y_pred, sample_weight)
    requested = None if labels is None else as_requested(labels, counted.true_labels())
    counts = counted.matrix(requested)
    if normalize is not None:
        counts = ratio(counts, counts.sum(axis=AXES[normalize], keepdims=True))
        counts[np.isnan(counts)] = 0.0
    if counts.size == 1:
        warn_one_label()
    return counts


def multilabel_confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    samplewise: bool = False,
) -> NDArray[Any]:
    """Count each label against the rest in a 2 x 2 matrix, like scikit-learn's `multilabel_confusion_matrix`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or array or sparse matrix of shape (n_samples, n_labels)
        Labels (whole numbers or strings), or indicators of several labels per row.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    labels : array-like, optional
        The labels to count, in this order; for indicators, column numbers. By default all labels that occur, sorted.
    samplewise : bool
        Whether to return one matrix per row instead of one per label; only for indicators.

    Returns
    -------
    ndarray of shape (n_labels, 2, 2) or (n_samples, 2, 2)
        One matrix ``[[tn, fp], [fn, tp]]`` per label or row: int64 counts, or float64 sums of weights.

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, or an option is not as described.

    Examples
    --------
    >>> from fastevals.metrics import multilabel_confusion_matrix
    >>> multilabel_confusion_matrix([0, 1, 1, 1], [0, 1, 1, 0]).tolist()
    [[[2, 1], [0, 1]], [[1, 0], [1, 2]]]
    """
    check_parameters(
        "multilabel_confusion_matrix",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        labels=(labels, ARRAY_OR_NONE),
        samplewise=(samplewise, FLAG),
    )
    counted = count_labels(y_true, y_pred, sample_weight)
    requested = as_reported(labels, counted.labels)
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
    """Compute how predictions change the odds of the positive class, like scikit-learn's `class_likelihood_ratios`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of two classes: whole numbers or strings.
    labels : array-like of two labels, optional
        The negative and the positive class; by default in sorted order.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    replace_undefined_by : nan, 1.0 or dict
        Value of a ratio whose denominator is zero; or a dict with a value for "LR+" (1 to inf) and one for "LR-" (0 to
        1).

    Returns
    -------
    positive, negative : float
        Recall divided by false positive rate, and false negative rate divided by specificity.

    Raises
    ------
    ValueError
        If there are more than two classes, the true and predicted labels are incompatible, or an option is not as
        described.

    Warns
    -----
    UndefinedMetricWarning
        If the denominator of a ratio is zero.

    Examples
    --------
    >>> from fastevals.metrics import class_likelihood_ratios
    >>> class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    check_parameters(
        "class_likelihood_ratios",
        labels=(labels, ARRAY_OR_NONE),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        replace_undefined_by=(replace_undefined_by, ONE_OR_BOTH_RATIOS),
    )
    both = count_labels(y_true, y_pred, sample_weight)
    _check_two_kinds("class_likelihood_ratios", both.kind)
    counted = cast(LabelPairs, both)
    positive_default, negative_default = _as_label_ratios(replace_undefined_by)
    counts = counted.matrix(None if labels is None else as_requested(labels, counted.true_labels()))
    _check_two_by_two(counts.shape[0])
    tn, fp, fn, tp = counts.ravel().tolist()  # Python's integers: products of two exceed 2**63
    _warn_undefined_ratios(tp, fp, fn, tn)
    return (
        float(positive_default) if not fp else _ratio(tp * (tn + fp), fp * (tp + fn)),
        float(negative_default) if not tn else _ratio(fn * (tn + fp), tn * (tp + fn)),
    )


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_two_kinds(function: str, kind: str) -> None:
    """Raise if there are more than two classes."""
    if kind != "binary":
        raise ValueError(f"{function} only supports binary classification problems, got targets of type: {kind}")


def _check_two_by_two(n_labels: int) -> None:
    """Raise unless there is a negative and a positive class."""
    if n_labels != 2:
        raise ValueError(f"class_likelihood_ratios needs a negative and a positive class, got {n_labels} labels")


def _as_label_ratios(value: Any) -> tuple[float, float]:
    """Return the values that replace undefined likelihood ratios of positive and of negative predictions."""
    if not isinstance(value, dict):
        return value, value
    try:
        positive, negative = value["LR+"], value["LR-"]
        legal = not (positive < 1 or negative < 0 or negative > 1)
    except (KeyError, TypeError):
        legal = False
    if not legal:
        raise ValueError(
            "The dictionary passed as `replace_undefined_by` needs to be in the form `{'LR+': `value_1`, 'LR-': "
            "`value_2`}` where the value for `LR+` ranges from `1.0` to `np.inf` or is `np.nan` and the value for "
            f"`LR-` ranges from `0.0` to `1.0` or is `np.nan`; got `{value}`."
        )
    return positive, negative


def _warn_undefined_ratios(tp: float, fp: float, fn: float, tn: float) -> None:
    """Warn about likelihood ratios whose denominator is zero."""
    control = (
        "set to `np.nan`. Use the `replace_undefined_by` param to control this behavior. To suppress this warning or "
        "turn it into an error, see Python's `warnings` module and `warnings.catch_warnings()`."
    )
    if not tp + fn:
        warn_ill_defined(
            "No samples of the positive class are present in `y_true`. `positive_likelihood_ratio` and "
            f"`negative_likelihood_ratio` are both {control}"
        )
    if not fp:
        none = "No samples were predicted for the positive class and `positive_likelihood_ratio` is "
        warn_ill_defined(f"{'`positive_likelihood_ratio` is ill-defined and ' if tp else none}{control}")
    if not tn:
        warn_ill_defined(f"`negative_likelihood_ratio` is ill-defined and {control}")
