"""Which class each row is of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.labels import as_labels, default_pos_label
from fastevals.counting.ordering import BinaryLabels
from fastevals.many.class_scores import number_classes
from fastevals.metrics._input import (
    INDICATOR,
    as_column,
    as_named_labels,
    check_default_pos_label,
    distinct_labels,
    first_labels,
    label_kind,
    target_type,
)
from fastevals.metrics._parameters import warn


def true_columns(target: NDArray[Any], y_proba: NDArray[Any], labels: ArrayLike | None) -> NDArray[Any]:
    """Return the number of each row's class in sorted order, or, of an indicator matrix, which labels it has."""
    if target.ndim == 2 and target.shape[1] > 1:
        _check_indicator_columns(target, y_proba, labels)
        return np.asarray(target == 1)
    target = as_column(target)
    n_columns = 2 if y_proba.ndim == 1 else y_proba.shape[1]
    classes = None if labels is None else _as_sorted_classes(labels)
    try:
        found = first_labels(target)
        if n_columns == 2 and len(found) == 2 and classes is None:
            return _flags(target, max(found), min(found))
        return number_classes(target, classes, n_columns)[1]
    except ValueError:
        _check_probability_classes(target, labels, n_columns)
        raise


def marked_rows(target: NDArray[Any], pos_label: Any) -> NDArray[np.uint8]:
    """Give 1 for the rows of the positive label, 0 for others; raise unless there are two labels, or one."""
    try:
        found = first_labels(target)
        if pos_label is None:
            pos_label = default_pos_label(found)
        if pos_label is None:
            pos_label = _greatest_pos_label(target, found)
        flags = _flags(target, found[-1], found[0])
    except ValueError:
        _check_two_labels(target)
        raise
    if pos_label == found[-1]:
        return flags
    return 1 - flags if pos_label == found[0] else np.zeros_like(flags)


def _flags(target: NDArray[Any], positive: Any, negative: Any) -> NDArray[np.uint8]:
    """Give 1 for the rows of one label and 0 for another's; raise if there is a third."""
    strings = target.dtype == object and isinstance(positive, str) and isinstance(negative, str)
    return BinaryLabels(target if strings else as_labels("y_true", target), positive, negative).flags()


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_two_labels(y_true: NDArray[Any]) -> None:
    """Raise unless there are two labels, or one."""
    kind = label_kind(y_true)
    if kind != "binary":
        raise ValueError(
            f"The type of the target inferred from y_true is {kind} but should be binary according to the shape of "
            "y_prob."
        )


def _greatest_pos_label(y_true: NDArray[Any], found: list[Any]) -> Any:
    """Return the greater label; raise where labels are text."""
    if y_true.dtype.kind in "OUS":
        check_default_pos_label(y_true)
    return max(found)


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
