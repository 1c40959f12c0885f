"""Predicted probabilities, and the classes they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.drop_in.arrays import (
    as_numbers,
    as_row_weights,
    check_all_finite,
    check_same_rows,
)
from fastevals._validation.drop_in.complaints import warn
from fastevals._validation.drop_in.parameters import Rule
from fastevals._validation.drop_in.scores import label_kind
from fastevals._validation.drop_in.targets import (
    INDICATOR,
    as_named_labels,
    check_default_pos_label,
    distinct_labels,
    target_type,
)

__all__ = [
    "SCALE_BY_HALF",
    "as_probabilities",
    "as_sorted_classes",
    "check_indicator_columns",
    "check_probability_classes",
    "check_probability_rows",
    "check_two_labels",
    "greatest_pos_label",
    "renamed_argument",
    "warn_not_normalized",
]

SCALE_BY_HALF = Rule(
    "an instance of 'bool' or a str among {'auto'}",
    lambda value: isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "auto"),
)


def renamed_argument(y_proba: Any, y_pred: Any) -> Any:
    """Give probabilities passed by their name, or, with a warning, by their old one."""
    if isinstance(y_pred, str) and y_pred == "deprecated":
        return y_proba
    if y_proba is not None:
        raise ValueError("Cannot use both `y_pred` and `y_proba`. `y_pred` is deprecated, use `y_proba` instead.")
    warn(
        "`y_pred` was renamed to `y_proba` in version 1.9 and will be removed in 1.11. Use `y_proba` instead.",
        FutureWarning,
    )
    return y_pred


def as_probabilities(values: Any) -> NDArray[Any]:
    """Give probabilities as floats of at most 64 bits, of one or two dimensions; one column as a vector."""
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


def check_probability_rows(y_true: NDArray[Any], y_proba: NDArray[Any], weights: Any) -> NDArray[np.float64] | None:
    """Give the row weights; raise unless all have the same number of rows."""
    check_same_rows(y_proba, y_true, weights)
    return as_row_weights(weights, y_proba.shape[0])


def check_two_labels(y_true: NDArray[Any]) -> None:
    """Raise unless there are two labels, or one."""
    kind = label_kind(y_true)
    if kind != "binary":
        raise ValueError(
            f"The type of the target inferred from y_true is {kind} but should be binary according to the shape of "
            "y_prob."
        )


def greatest_pos_label(y_true: NDArray[Any], found: list[Any]) -> Any:
    """Give the greater label; raise where labels are text."""
    if y_true.dtype.kind in "OUS":
        check_default_pos_label(y_true)
    return max(found)


def as_sorted_classes(labels: Any) -> NDArray[Any]:
    """Give the labels of the columns, sorted; warn if they are not."""
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


def check_probability_classes(y_true: NDArray[Any], labels: Any, n_columns: int) -> None:
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


def check_indicator_columns(y_true: NDArray[Any], y_proba: NDArray[Any], labels: Any) -> None:
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


def warn_not_normalized() -> None:
    """Warn that rows of probabilities don't add up to one."""
    warn("The y_prob values do not sum to one. Make sure to pass probabilities.")
