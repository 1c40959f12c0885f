"""Predicted probabilities with their labels, and the loss of each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import chunks, run
from fastevals._kernels import label_ranking as kernels
from fastevals._validation.arrays import FLOAT64, INT64
from fastevals._validation.labels import as_labels, default_pos_label
from fastevals.counting.ordering import BinaryLabels, plain_block
from fastevals.measure.class_scores import number_classes
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
from fastevals.metrics._parameters import warn, warn_ill_defined
from fastevals.metrics._rows import Floats, sums_of_others

ROW_SUM_ROUNDING = 1e-8  # by which row sums may differ from 1, beyond the rounding of their dtype
Rows = tuple[NDArray[Any], NDArray[Any], Floats | None]


class Probabilities(NamedTuple):
    """Predicted probabilities and, for a matrix, the largest deviation of a row sum from 1."""

    values: NDArray[Any]
    off: float


# The class of each row ---------------------------------------------------------------------------------------------


def class_rows(y_true: Any, p: Probabilities, sample_weight: Any, labels: ArrayLike | None) -> Rows:
    """Return probabilities, the class of each row (see `_true_classes`) and weights."""
    target = as_target("y_true", y_true)
    if p.values.ndim == 1 and target.ndim == 2 and target.shape[1] > 1:
        p = p._replace(values=np.stack([1 - p.values, p.values], axis=1))
    weights = _check_probability_rows(target, p.values, sample_weight)
    true = _true_classes(target, p.values, labels)
    if p.off > ROW_SUM_ROUNDING + math.sqrt(np.finfo(p.values.dtype).eps):
        warn("The y_prob values do not sum to one. Make sure to pass probabilities.")
    return p.values, true, weights


def positive_rows(y_true: Any, p: Probabilities, sample_weight: Any, pos_label: Any, labels: ArrayLike | None) -> Rows:
    """Like `class_rows`, but for one column of probabilities return flags of the positive label instead of classes."""
    if p.values.ndim == 2:
        return class_rows(y_true, p, sample_weight, labels)
    target = as_column(as_target("y_true", y_true))
    weights = _check_probability_rows(target, p.values, sample_weight)
    return p.values, _positive_flags(target, pos_label), weights


def _true_classes(target: NDArray[Any], y_proba: NDArray[Any], labels: ArrayLike | None) -> NDArray[Any]:
    """Return each row's class number (classes are sorted) or, for an indicator matrix, flags of the row's labels."""
    if target.ndim == 2 and target.shape[1] > 1:
        _check_indicator_columns(target, y_proba, labels)
        return np.asarray(target == 1)
    target = as_column(target)
    n_columns = 2 if y_proba.ndim == 1 else y_proba.shape[1]
    classes = None if labels is None else _as_sorted_classes(labels)
    try:
        labels_seen = first_labels(target)
        if n_columns == 2 and len(labels_seen) == 2 and classes is None:
            return flags_of(target, max(labels_seen), min(labels_seen))
        return number_classes(target, classes, n_columns)[1]
    except ValueError:
        _check_probability_classes(target, labels, n_columns)
        raise


def _positive_flags(target: NDArray[Any], pos_label: Any) -> NDArray[np.uint8]:
    """Return 1 for rows with the positive label and 0 for others; raise if there are more than two labels."""
    try:
        labels_seen = first_labels(target)
        if pos_label is None:
            pos_label = default_pos_label(labels_seen)
        if pos_label is None:
            pos_label = _greatest_pos_label(target, labels_seen)
        flags = flags_of(target, labels_seen[-1], labels_seen[0])
    except ValueError:
        _check_two_labels(target)
        raise
    if pos_label == labels_seen[-1]:
        return flags
    return 1 - flags if pos_label == labels_seen[0] else np.zeros_like(flags)


def flags_of(target: NDArray[Any], positive: Any, negative: Any) -> NDArray[np.uint8]:
    """Return 1 for rows with the positive label and 0 for the negative one; raise if there is a third."""
    strings = target.dtype == object and isinstance(positive, str) and isinstance(negative, str)
    return BinaryLabels(target if strings else as_labels("y_true", target), positive, negative).flags()


def _greatest_pos_label(y_true: NDArray[Any], labels_seen: list[Any]) -> Any:
    """Return the greatest label; raise if labels are text."""
    if y_true.dtype.kind in "OUS":
        check_default_pos_label(y_true)
    return max(labels_seen)


# Losses of rows ----------------------------------------------------------------------------------------------------


def log_losses(p: NDArray[Any], true: NDArray[Any]) -> Callable[[slice], Floats]:
    """Return a function that computes the log losses of some rows."""
    eps = np.finfo(p.dtype).eps

    def losses(rows: slice) -> Floats:
        if true.ndim == 2:
            logs = np.log(np.clip(p[rows], eps, 1 - eps), dtype=np.float64)
            return -np.where(true[rows], logs, 0.0)
        chosen = _true_class_probabilities(p[rows], true[rows])
        return -np.log(np.clip(chosen, eps, 1 - eps, out=chosen), dtype=np.float64)  # type: ignore[no-any-return]

    return losses


def squared_errors(p: NDArray[Any], true: NDArray[Any]) -> Callable[[slice], Floats]:
    """Return a function that computes the squared differences of some rows."""

    def losses(rows: slice) -> Floats:
        if p.ndim == 1:
            return 2 * np.square(np.subtract(true[rows], p[rows], dtype=np.float64))  # type: ignore[no-any-return]
        if true.ndim == 2:
            return np.square(np.subtract(true[rows], p[rows], dtype=np.float64))  # type: ignore[no-any-return]
        errors = np.empty(rows.stop - rows.start)
        kernels.squared_errors(plain_block(p[rows], FLOAT64), plain_block(true[rows], INT64), errors)
        return errors

    return losses


def _true_class_probabilities(p: NDArray[Any], true: NDArray[Any]) -> NDArray[Any]:
    """Return the probability of each row's true label, as a new array."""
    if p.ndim == 1:
        return np.where(true, p, 1 - p)
    if p.shape[1] == 2:
        return np.where(true, p[:, 1], p[:, 0])
    return p[np.arange(true.size), true]  # type: ignore[no-any-return]


def class_weights(p: NDArray[Any], true: NDArray[Any], weights: Floats | None) -> tuple[Floats, Floats]:
    """For each class, or each label of an indicator matrix, return the weight of its rows and of all other rows."""

    def add_up(rows: slice) -> NDArray[Any]:
        some = None if weights is None else weights[rows]
        if true.ndim == 2:
            both = np.hstack((true[rows], ~true[rows]))
            return both.sum(axis=0) if some is None else some @ both  # type: ignore[no-any-return]
        return np.bincount(true[rows], some, minlength=2 if p.ndim == 1 else p.shape[1])

    sums = np.array(run(add_up, chunks(p.shape[0])), dtype=np.float64).sum(axis=0)
    if true.ndim == 2:
        return sums[: true.shape[1]], sums[true.shape[1] :]
    return sums, sums_of_others(sums)


# Checks ------------------------------------------------------------------------------------------------------------


def is_one_row(p: Probabilities, target: NDArray[Any], sample_weight: Any) -> bool:
    """Return whether there is only one row, and warn if so; raise if the arguments' numbers of rows differ."""
    check_same_rows(p.values, target, sample_weight)
    if p.values.shape[0] > 1:
        return False
    warn_ill_defined("D^2 score is not well-defined with less than two samples.")
    return True


def renamed_argument(y_proba: Any, y_pred: Any) -> Any:
    """Return the probabilities passed as `y_proba` or, with a warning, under the old name `y_pred`."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("Cannot use both `y_pred` and `y_proba`. `y_pred` is deprecated, use `y_proba` instead.")
    warn(
        "`y_pred` was renamed to `y_proba` in version 1.9 and will be removed in 1.11. Use `y_proba` instead.",
        FutureWarning,
    )
    return y_pred


def as_probabilities(values: Any) -> Probabilities:
    """Return probabilities as 1-D or 2-D floats of at most 64 bits; a single column becomes a vector."""
    array = as_numbers("y_proba", values, finite=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if not array.ndim or not array.size:
        raise ValueError(f"y_proba must have a row and a column or more, got shape {array.shape}")

    def ends(part: slice) -> tuple[Any, Any, float]:
        block = array[part]
        off = kernels.farthest_from_one(plain_block(block, FLOAT64)) if array.ndim == 2 else 0.0
        return block.min(), block.max(), off

    parts = chunks(array.shape[0], array.size // array.shape[0])
    compiles = kernels.farthest_from_one if array.ndim == 2 else None
    lows, highs, offs = zip(*run(ends, parts, compiles=compiles), strict=True)
    low, high = np.min(lows), np.max(highs)
    if not (low >= 0 and high <= 1):
        check_all_finite("y_proba", array)
        if high > 1:
            raise ValueError(f"y_prob contains values greater than 1: {high}")
        raise ValueError(f"y_prob contains values {'lower' if array.ndim == 2 else 'less'} than 0: {low}")
    return Probabilities(array, max(offs))


def _check_probability_rows(y_true: NDArray[Any], y_proba: NDArray[Any], weights: Any) -> NDArray[np.float64] | None:
    """Return the row weights; raise if the arguments' numbers of rows differ."""
    check_same_rows(y_proba, y_true, weights)
    return as_row_weights(weights, y_proba.shape[0])


def _check_two_labels(y_true: NDArray[Any]) -> None:
    """Raise if there are more than two labels."""
    kind = label_kind(y_true)
    if kind != "binary":
        raise ValueError(
            f"The type of the target inferred from y_true is {kind} but should be binary according to the shape of "
            "y_prob."
        )


def _as_sorted_classes(labels: Any) -> NDArray[Any]:
    """Return the labels of the columns in sorted order; warn if they were not sorted."""
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
    """Raise unless each class has a column, and each row has a known class."""
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
    """Raise unless `y_true` is a matrix of 0s and 1s with one column per label, and `labels` is not given."""
    kind = target_type("y_true", y_true)
    if kind != INDICATOR:
        raise ValueError(f"Unknown label type: {kind}")
    if labels is not None:
        raise ValueError(f"labels can't be given for the columns of a {INDICATOR} y_true, got {labels!r}")
    check_default_pos_label(y_true.reshape(-1))
    if y_true.shape != y_proba.shape:
        raise ValueError(
            f"y_true and y_prob contain different number of classes: {y_true.shape[1]} vs "
            f"{y_proba.shape[1]}. Please provide the true labels explicitly through the "
            "labels argument."
        )
