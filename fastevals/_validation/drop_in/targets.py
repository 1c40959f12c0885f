"""What a target is: of two classes or more, of several labels at once, continuous."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.drop_in.arrays import as_dense, check_all_finite, is_sparse
from fastevals._validation.drop_in.complaints import InvalidParameterError
from fastevals._validation.labels import default_pos_label

__all__ = [
    "INDICATOR",
    "as_named_labels",
    "as_target",
    "check_default_pos_label",
    "distinct_labels",
    "target_type",
]

INDICATOR = "multilabel-indicator"
SCAN = 1 << 16  # rows looked at together
LEGACY = (
    "You appear to be using a legacy multi-label data representation. Sequence of sequences are no longer supported; "
    "use a binary array or sparse matrix instead - the MultiLabelBinarizer transformer can convert to this format."
)


def as_target(name: str, values: Any, *, sparse: bool = False) -> NDArray[Any]:
    """Give labels as an array of one or two dimensions; a sparse indicator matrix, where allowed, as a dense one."""
    if sparse and is_sparse(values):
        if values.shape[1] < 2:
            raise TypeError("Sparse input is only supported when targets are of multilabel type")
        return np.asarray(values.toarray())
    try:
        array = as_dense(name, values)
    except ValueError as error:
        if isinstance(values, Sequence) and not isinstance(error, InvalidParameterError):
            raise ValueError(LEGACY) from error
        raise
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}")
    check_label_dtype(name, array)
    first = array.flat[0] if array.size else None
    if isinstance(first, bytes):
        raise TypeError(
            "Support for labels represented as bytes is not supported. Convert the labels to a string or integer "
            "format."
        )
    if array.dtype == object and isinstance(first, Sequence) and not isinstance(first, str):
        raise ValueError(LEGACY)
    return array


def check_label_dtype(name: str, array: NDArray[Any]) -> None:
    """Raise if values are of a type that labels can't have, such as dates."""
    if array.dtype.kind not in "fiubOUST":
        raise ValueError(f"{name} must hold numbers, booleans or strings, got dtype {array.dtype}")


def as_named_labels(labels: Any) -> NDArray[Any]:
    """Give the argument `labels` as an array of numbers, or of text."""
    array = as_dense("labels", labels)
    check_label_dtype("labels", array)
    if array.dtype.kind in "OUT":  # NumPy has turned [0, "a"] into text
        given = labels if isinstance(labels, Sequence) and array.ndim == 1 else array.reshape(-1).tolist()
        if not any(all(isinstance(each, kind) for each in given) for kind in (str, (numbers.Real, np.bool_))):
            raise ValueError(f"labels must hold numbers alone or strings alone, got {labels!r}")
    return array


def target_type(name: str, array: NDArray[Any]) -> str:
    """Tell what a target is, in scikit-learn's words; raise if it is continuous and not finite."""
    if array.ndim not in (1, 2) or (array.ndim == 2 and not array.size):
        return "unknown"
    several = array.ndim == 2 and array.shape[1] > 1
    if not array.size:
        return "binary"
    if array.dtype == object and not isinstance(array.flat[0], str):
        return "unknown"
    if array.dtype.kind == "f" and not _is_whole(array):
        check_all_finite(name, array)
        return "continuous-multioutput" if several else "continuous"
    if several:
        marks = array.dtype.kind in "fiub"
        return INDICATOR if marks and not has_third_label(array.reshape(-1)) else "multiclass-multioutput"
    return "multiclass" if has_third_label(array.reshape(-1)) else "binary"


def _is_whole(array: NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return bool((np.trunc(array) == array).all() and (np.abs(array) < 2.0**63).all())


def has_third_label(array: NDArray[Any]) -> bool:
    """Tell whether a vector has three distinct labels or more."""
    if array.dtype == object:
        return len(set(array.tolist())) > 2
    first = second = array[0]
    for start in range(0, array.size, SCAN):
        block = array[start : start + SCAN]
        other = block != first
        if first == second and other.any():
            second = block[int(np.argmax(other))]
        if (other & (block != second)).any():
            return True
    return False


def distinct_labels(array: NDArray[Any]) -> NDArray[Any]:
    """Give the distinct labels of a vector, ascending."""
    if array.dtype == object:
        return np.array(sorted(set(array.tolist())), dtype=object)
    return np.unique(array)


def check_default_pos_label(y_true: NDArray[Any]) -> None:
    """Raise unless one of the labels is the positive one by default."""
    classes = distinct_labels(y_true).tolist()
    if default_pos_label(classes) is not None:
        return
    listed = ", ".join(map(repr, classes))
    raise ValueError(
        f"y_true takes value in {{{listed}}} and pos_label is not specified: either make y_true take value in {{0, 1}} "
        "or {-1, 1} or pass pos_label explicitly."
    )
