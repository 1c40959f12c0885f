"""Losses of predicted probabilities, as `sklearn.metrics` has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._validation.arrays import in_usual_unit
from fastevals._validation.labels import as_labels, default_pos_label
from fastevals.counting.ordering import BinaryLabels
from fastevals.many.class_scores import number_classes
from fastevals.metrics._input import (
    INDICATOR,
    as_column,
    as_named_labels,
    as_numbers,
    as_row_weights,
    as_target,
    check_all_finite,
    check_default_pos_label,
    check_same_rows,
    distinct_labels,
    first_labels,
    label_kind,
    target_type,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, POS_LABEL, Rule, check_parameters, warn

SCALE_BY_HALF = Rule(
    "an instance of 'bool' or a str among {'auto'}",
    lambda value: isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "auto"),
)
ROUNDING = 1e-8  # that rows may be off beside what floats of their type are


def log_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike | None = None,
    *,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: Any = "deprecated",
) -> float:
    """Compute the mean of -log(probability of the true label), as scikit-learn's `log_loss`.

    Probabilities are clipped to [eps, 1 - eps], eps that of their dtype.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels; or, as 0 and 1, which a row has.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the greater of two labels, or of each label in sorted order.
    normalize : bool
        Give the mean, not the sum.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    labels : array-like of shape (n_classes,), optional
        The labels of the columns; by default those that occur.
    y_pred : array-like
        The old name of `y_proba`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If rows don't add up to 1, or `labels` are not sorted.
    FutureWarning
        If `y_pred` is used.

    Examples
    --------
    >>> from fastevals.metrics import log_loss
    >>> log_loss([1, 0, 1], [0.5, 0.5, 1.0])
    0.46209812037329695
    """
    check_parameters(
        "log_loss",
        normalize=(normalize, FLAG),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        labels=(labels, ARRAY_OR_NONE),
    )
    p = _as_probabilities(_renamed_argument(y_proba, y_pred))
    target = as_target("y_true", y_true)
    weights = _check_probability_rows(target, p, sample_weight)
    true = _true_classes(target, p, labels)
    _check_normalized(p)
    eps = np.finfo(p.dtype).eps

    def losses(rows: slice) -> NDArray[np.float64]:
        if true.ndim == 2:
            logs = np.log(np.clip(p[rows], eps, 1 - eps), dtype=np.float64)
            return -np.where(true[rows], logs, 0.0)
        chosen = _true_class_probabilities(p[rows], true[rows])
        return -np.log(np.clip(chosen, eps, 1 - eps, out=chosen), dtype=np.float64)  # type: ignore[no-any-return]

    if normalize and weights is not None:
        weights = in_usual_unit(weights)
    total = _sum(losses, p.shape[0], weights)
    return total / _total_weight(p, weights) if normalize else total


def brier_score_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    scale_by_half: Any = "auto",
) -> float:
    """Compute the mean squared difference of probabilities and what happened, as scikit-learn's `brier_score_loss`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels; or, as 0 and 1, which a row has.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive label, or of each label in sorted order.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    pos_label : label, optional
        The positive of two labels: by default 1 among 0/1 and -1/1, else the greater number.
    labels : array-like of shape (n_classes,), optional
        The labels of the columns; by default those that occur.
    scale_by_half : bool or "auto"
        Halve the sum over classes: with "auto" that of two classes.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If rows don't add up to 1, or `labels` are not sorted.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.

    Examples
    --------
    >>> from fastevals.metrics import brier_score_loss
    >>> brier_score_loss([1, 0, 1], [0.5, 0.5, 1.0])
    0.16666666666666666
    """
    check_parameters(
        "brier_score_loss",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        pos_label=(pos_label, POS_LABEL),
        labels=(labels, ARRAY_OR_NONE),
        scale_by_half=(scale_by_half, SCALE_BY_HALF),
    )
    p = _as_probabilities(y_proba)
    target = as_target("y_true", y_true)
    if p.ndim == 1:
        target = as_column(target)
    weights = _check_probability_rows(target, p, sample_weight)
    if p.ndim == 1:
        true = _positive_flags(target, pos_label)
    else:
        true = _true_classes(target, p, labels)
        _check_normalized(p)

    def losses(rows: slice) -> NDArray[np.float64]:
        if p.ndim == 1:
            return 2 * np.square(np.subtract(true[rows], p[rows], dtype=np.float64))  # type: ignore[no-any-return]
        if true.ndim == 2:
            return np.square(np.subtract(true[rows], p[rows], dtype=np.float64))  # type: ignore[no-any-return]
        off = p[rows].astype(np.float64)
        off[np.arange(off.shape[0]), true[rows]] -= 1
        return np.square(off, out=off)

    halved = (p.ndim == 1 or p.shape[1] < 3) if isinstance(scale_by_half, str) else scale_by_half
    if weights is not None:
        weights = in_usual_unit(weights)
    mean = _sum(losses, p.shape[0], weights) / _total_weight(p, weights)
    return mean / 2 if halved else mean


def _true_class_probabilities(p: NDArray[Any], true: NDArray[Any]) -> NDArray[Any]:
    """Return the probability of each row's own label, as a new array."""
    if p.ndim == 1:
        return np.where(true, p, 1 - p)
    if p.shape[1] == 2:
        return np.where(true, p[:, 1], p[:, 0])
    return p[np.arange(true.size), true]  # type: ignore[no-any-return]


def _sum(losses: Callable[[slice], NDArray[np.float64]], n: int, weights: NDArray[np.float64] | None) -> float:
    """Sum the losses of all rows, or of their classes, a block of rows at a time."""

    def part(rows: slice) -> list[float]:
        by_block = ((block, losses(block)) for block in blocks(rows))
        return [float(each.sum() if weights is None else (weights[block] @ each).sum()) for block, each in by_block]

    return math.fsum(total for totals in run(part, chunks(n)) for total in totals)


def _total_weight(p: NDArray[Any], weights: NDArray[np.float64] | None) -> float:
    return p.shape[0] if weights is None else float(weights.sum())


# Which class each row is of ----------------------------------------------------------------------------------------


def _true_classes(target: NDArray[Any], y_proba: NDArray[Any], labels: ArrayLike | None) -> NDArray[Any]:
    """Return the number of each row's class in sorted order, or, of an indicator matrix, which labels it has."""
    if target.ndim == 2 and target.shape[1] > 1:
        _check_indicator_columns(target, y_proba, labels)
        return np.asarray(target == 1)
    target = as_column(target)
    n_columns = 2 if y_proba.ndim == 1 else y_proba.shape[1]
    classes = None if labels is None else _as_sorted_classes(labels)
    try:
        labels_seen = first_labels(target)
        if n_columns == 2 and len(labels_seen) == 2 and classes is None:
            return _flags(target, max(labels_seen), min(labels_seen))
        return number_classes(target, classes, n_columns)[1]
    except ValueError:
        _check_probability_classes(target, labels, n_columns)
        raise


def _positive_flags(target: NDArray[Any], pos_label: Any) -> NDArray[np.uint8]:
    """Return 1 for the rows of the positive label, 0 for others; raise unless there are two labels, or one."""
    try:
        labels_seen = first_labels(target)
        if pos_label is None:
            pos_label = default_pos_label(labels_seen)
        if pos_label is None:
            pos_label = _greatest_pos_label(target, labels_seen)
        flags = _flags(target, labels_seen[-1], labels_seen[0])
    except ValueError:
        _check_two_labels(target)
        raise
    if pos_label == labels_seen[-1]:
        return flags
    return 1 - flags if pos_label == labels_seen[0] else np.zeros_like(flags)


def _flags(target: NDArray[Any], positive: Any, negative: Any) -> NDArray[np.uint8]:
    """Return 1 for the rows of one label and 0 for another's; raise if there is a third."""
    strings = target.dtype == object and isinstance(positive, str) and isinstance(negative, str)
    return BinaryLabels(target if strings else as_labels("y_true", target), positive, negative).flags()


def _greatest_pos_label(y_true: NDArray[Any], labels_seen: list[Any]) -> Any:
    """Return the greater label; raise where labels are text."""
    if y_true.dtype.kind in "OUS":
        check_default_pos_label(y_true)
    return max(labels_seen)


# Checks ------------------------------------------------------------------------------------------------------------


def _check_normalized(p: NDArray[Any]) -> None:
    """Warn unless the rows of a matrix add up to one."""
    if p.ndim == 1:
        return
    slack = ROUNDING + math.sqrt(np.finfo(p.dtype).eps)
    ones = np.ones(p.shape[1])  # a product is far faster than sums of short rows

    def off(part: slice) -> bool:
        return any(bool((np.abs(p[rows] @ ones - 1) > slack).any()) for rows in blocks(part))

    if any(run(off, chunks(p.shape[0]))):
        _warn_not_normalized()


def _renamed_argument(y_proba: Any, y_pred: Any) -> Any:
    """Return probabilities passed by their name, or, with a warning, by their old one."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("Cannot use both `y_pred` and `y_proba`. `y_pred` is deprecated, use `y_proba` instead.")
    warn(
        "`y_pred` was renamed to `y_proba` in version 1.9 and will be removed in 1.11. Use `y_proba` instead.",
        FutureWarning,
    )
    return y_pred


def _as_probabilities(values: Any) -> NDArray[Any]:
    """Return probabilities as floats of at most 64 bits, of one or two dimensions; one column as a vector."""
    array = as_numbers("y_proba", values, finite=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not array.ndim or not array.size:
        raise ValueError(f"y_proba must have a row and a column or more, got shape {array.shape}")
    low, high = array.min(), array.max()
    if not (low >= 0 and high <= 1):
        check_all_finite("y_proba", array)
        if high > 1:
            raise ValueError(f"y_prob contains values greater than 1: {high}")
        raise ValueError(f"y_prob contains values {'lower' if array.ndim == 2 else 'less'} than 0: {low}")
    return array


def _check_probability_rows(y_true: NDArray[Any], y_proba: NDArray[Any], weights: Any) -> NDArray[np.float64] | None:
    """Return the row weights; raise unless all have the same number of rows."""
    check_same_rows(y_proba, y_true, weights)
    return as_row_weights(weights, y_proba.shape[0])


def _warn_not_normalized() -> None:
    """Warn that rows of probabilities don't add up to one."""
    warn("The y_prob values do not sum to one. Make sure to pass probabilities.")


def _check_two_labels(y_true: NDArray[Any]) -> None:
    """Raise unless there are two labels, or one."""
    kind = label_kind(y_true)
    if kind != "binary":
        raise ValueError(
            f"The type of the target inferred from y_true is {kind} but should be binary according to the shape of "
            "y_prob."
        )


def _as_sorted_classes(labels: Any) -> NDArray[Any]:
    """Return the labels of the columns, sorted; warn if they are not."""
    named = as_named_labels(labels)
    if named.ndim != 1:
        raise ValueError(f"labels must be 1-D, got shape {named.shape}")
    classes = distinct_labels(named)
    if classes.size != named.size:
        raise ValueError(f"labels must be unique, got {named}")
    if not np.array_equal(classes, named):
        warn(
            f"Labels passed were {labels}. But this function assumes labels are ordered lexicographically. Pass the "
            f"ordered labels={classes.tolist()} and ensure that the columns of y_prob correspond to this ordering."
        )
    return classes


def _check_probability_classes(y_true: NDArray[Any], labels: Any, n_columns: int) -> None:
    """Raise unless each class has a column, and each row a class."""
    kind = label_kind(y_true)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"Unknown label type: {kind}")
    present = distinct_labels(y_true)
    classes = present if labels is None else distinct_labels(as_named_labels(labels))
    undeclared = set(present.tolist()) - set(classes.tolist())
    if undeclared:
        raise ValueError(f"y_true contains values {undeclared} not belonging to the passed labels {labels}.")
    if classes.size == 1 and labels is None:
        raise ValueError(
            f"y_true contains only one label ({classes[0]}). Please provide the list of all expected class labels "
            "explicitly through the labels argument."
        )
    if classes.size == 1:
        raise ValueError(f"The labels array needs to contain at least two labels, got {classes}.")
    if classes.size == n_columns:
        return
    if labels is None:
        raise ValueError(
            f"y_true and y_prob contain different number of classes: {classes.size} vs {n_columns}. Please provide the "
            f"true labels explicitly through the labels argument. Classes found in y_true: {classes}"
        )
    raise ValueError(
        f"The number of classes in labels is different from that in y_prob. Classes found in labels: {classes}"
    )


def _check_indicator_columns(y_true: NDArray[Any], y_proba: NDArray[Any], labels: Any) -> None:
    """Raise unless a matrix tells with 0 and 1 which labels a row has, and each label has a column and no name."""
    kind = target_type("y_true", y_true)
    if kind != INDICATOR:
        raise ValueError(f"Unknown label type: {kind}")
    if labels is not None:
        raise ValueError(f"labels can't be given for the columns of a {INDICATOR} y_true, got {labels!r}")
    check_default_pos_label(y_true.reshape(-1))
    if y_true.shape != y_proba.shape:
        raise ValueError(
            f"y_true and y_prob contain different number of classes: {y_true.shape[1]} vs "
            f"{y_proba.shape[1] if y_proba.ndim == 2 else 2}. Please provide the true labels explicitly through the "
            "labels argument."
        )
