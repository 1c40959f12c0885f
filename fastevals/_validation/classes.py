"""Scores of many classes, and which of them a row has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, raise_not_finite
from fastevals._validation.options import listed, show

__all__ = [
    "as_class_rows",
    "as_score_matrix",
    "check_both_sides",
    "check_class_columns",
    "check_one_vs_one",
    "raise_not_finite_column",
]


def as_score_matrix(name: str, values: Any) -> NDArray[Any]:
    """Give scores as an array of shape (n_samples, n_classes) of some real dtype; their values are not looked at."""
    array = as_array(name, values)
    if array.ndim != 2:
        hint = "; scores of the positive class alone are for Ranking" if array.ndim == 1 else ""
        raise ValueError(f"{name} must be 2-D, with a column for each class, got shape {array.shape}{hint}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: it must have at least one row and one column, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype} (first value {show(array[0, 0])})")
    return array


def as_class_rows(name: str, values: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Give a label for each row as a 1-D array, or an indicator of the labels that it has as a 2-D boolean one."""
    array = as_array(name, values)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must be 1-D, labels, or 2-D, an indicator matrix, got shape {array.shape}")
    if array.shape[0] != scores.shape[0]:
        raise ValueError(f"y_score has {scores.shape[0]} rows, but {name} has {array.shape[0]}")
    if array.ndim == 1:
        return array
    if array.shape != scores.shape:
        raise ValueError(f"{name} must have y_score's shape {scores.shape} where it is 2-D, got {array.shape}")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold 0 and 1 where it is 2-D, got dtype {array.dtype}")
    flags: NDArray[np.bool_] = array != 0
    odd = flags & (array != 1)
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise ValueError(
            f"{name} must hold 0 and 1 where it is 2-D, got {show(array[row, column])} at row {row}, column {column}"
        )
    return flags


def check_class_columns(labels: NDArray[Any], n_columns: int, given: bool) -> None:
    """Raise unless there are two columns or more, one for each label."""
    if n_columns < 2:
        raise ValueError("y_score must have two columns or more where y_true is 1-D, got 1")
    if labels.size != n_columns:
        raise ValueError(
            f"y_score has {n_columns} columns, but {'labels' if given else 'y_true'} has {labels.size} "
            f"label{'s' * (labels.size != 1)}: {listed(list(labels))}"
            + ("" if given else "; pass labels=, those of the columns in their order")
        )


def check_one_vs_one(multilabel: bool, average: str | None, max_fpr: Any) -> None:
    """Raise unless pairs of classes can be asked for with these options."""
    if multilabel:
        raise ValueError("multi_class='ovo' needs one label a row, but y_true is an indicator matrix")
    if average == "micro":
        raise ValueError("average='micro' goes with multi_class='ovr': pairs of classes have no indicator matrix")
    if max_fpr is not None:
        raise ValueError(f"max_fpr goes with multi_class='ovr', got {show(max_fpr)} with 'ovo'")


def check_both_sides(what: str, labels: NDArray[Any], n_positives: NDArray[Any], n_samples: int) -> None:
    """Raise unless each class has rows, and rows outside it."""
    for side, rows in (("rows", n_positives), ("rows outside it", n_samples - n_positives)):
        if not rows.all():
            label = show(labels[int(np.argmin(rows != 0))])
            raise ValueError(f"{what} needs rows of each class and outside it, but class {label} has no {side}")


def raise_not_finite_column(name: str, array: NDArray[Any]) -> None:
    """Say in which column values are NaN or infinite, how many, and where the first is."""
    finite = np.isfinite(array).all(axis=0)
    if not finite.all():
        column = int(np.argmin(finite))
        raise_not_finite(f"{name}[:, {column}]", array[:, column])
