"""Which class each row is of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation import as_labels, default_pos_label
from fastevals._validation import drop_in as check
from fastevals.measure.many.classes.labels import number_classes
from fastevals.measure.ordering import BinaryLabels

__all__ = ["marked_rows", "true_columns"]


def true_columns(target: NDArray[Any], y_proba: NDArray[Any], labels: ArrayLike | None) -> NDArray[Any]:
    """Give the number of each row's class in sorted order, or, of an indicator matrix, which labels it has."""
    if target.ndim == 2 and target.shape[1] > 1:
        check.check_indicator_columns(target, y_proba, labels)
        return np.asarray(target == 1)
    target = check.as_column(target)
    n_columns = 2 if y_proba.ndim == 1 else y_proba.shape[1]
    classes = None if labels is None else check.as_sorted_classes(labels)
    try:
        found = check.first_labels(target)
        if n_columns == 2 and len(found) == 2 and classes is None:
            return _flags(target, max(found), min(found))
        return number_classes(target, classes, n_columns)[1]
    except ValueError:
        check.check_probability_classes(target, labels, n_columns)
        raise


def marked_rows(target: NDArray[Any], pos_label: Any) -> NDArray[np.uint8]:
    """Give 1 for the rows of the positive label, 0 for others; raise unless there are two labels, or one."""
    try:
        found = check.first_labels(target)
        if pos_label is None:
            pos_label = default_pos_label(found)
        if pos_label is None:
            pos_label = check.greatest_pos_label(target, found)
        flags = _flags(target, found[-1], found[0])
    except ValueError:
        check.check_two_labels(target)
        raise
    if pos_label == found[-1]:
        return flags
    return 1 - flags if pos_label == found[0] else np.zeros_like(flags)


def _flags(target: NDArray[Any], positive: Any, negative: Any) -> NDArray[np.uint8]:
    """Give 1 for the rows of one label and 0 for another's; raise if there is a third."""
    strings = target.dtype == object and isinstance(positive, str) and isinstance(negative, str)
    return BinaryLabels(target if strings else as_labels("y_true", target), positive, negative).flags()
