"""Checks of the input, with scikit-learn's errors and warnings; messages also give the position of a wrong value."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import show
from fastevals._validation.arrays import (
    as_array,
    begins_with_text,
    check_all_strings,
    exceeds_floats,
    is_masked,
    plain_numbers,
)
from fastevals._validation.labels import ROWS_PER_SCAN, as_labels, default_pos_label, distinct_pair
from fastevals.metrics._parameters import InvalidParameterError, is_array_like, warn


def is_sparse(values: Any) -> bool:
    """Return whether values are a SciPy sparse array or matrix."""
    return hasattr(values, "toarray") and hasattr(values, "nnz")


def as_dense(name: str, values: Any) -> NDArray[Any]:
    """Return an array-like as a NumPy array; pandas' own dtypes are converted to the NumPy dtypes they stand for."""
    if type(values) is np.ndarray and values.ndim:
        return values
    if is_sparse(values) or not is_array_like(values):
        dense = "; use '.toarray()' to convert sparse data to a dense array" if is_sparse(values) else ""
        raise InvalidParameterError(f"The {name!r} parameter must be an array-like. Got {values!r} instead{dense}.")
    if is_masked(values) or begins_with_text(values):
        return as_array(name, values)
    dtype = getattr(getattr(values, "dtype", None), "numpy_dtype", None)
    return np.asarray(values if dtype is None else values.to_numpy(dtype))


def check_same_rows(*arrays: Any) -> None:
    """Raise unless all arguments that are not None have the same number of rows."""
    rows = [row_count(each) for each in arrays if each is not None and not isinstance(each, numbers.Number)]
    if any(n != rows[0] for n in rows):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {rows}")


def row_count(values: Any) -> int:
    shape = getattr(values, "shape", None)
    if shape is None:
        if not hasattr(values, "__len__"):
            raise TypeError(f"Expected sequence or array-like, got {type(values)}")
        return len(values)
    if not shape:
        raise TypeError(
            f"Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar {values!r}"
        )
    return int(shape[0])


def as_column(array: NDArray[Any]) -> NDArray[Any]:
    """Return a vector; a matrix with one column becomes a vector."""
    if array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")


def check_all_finite(name: str, array: NDArray[Any]) -> None:
    """Raise if there are NaN or infinite values; the message says how many, and where the first one is."""
    if array.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()) or np.isfinite(array).all():  # a sum takes one pass, and rarely overflows
            return
    invalid, problem = np.isnan(array), "NaN"
    if not invalid.any():
        invalid, problem = np.isinf(array), f"infinity or a value too large for {array.dtype!r}"
    count, first = int(np.count_nonzero(invalid)), np.argwhere(invalid)[0].tolist()
    position = f"row {first[0]}" + (f", column {first[1]}" if len(first) > 1 else "")
    raise ValueError(
        f"Input {name} contains {problem}. There {'is' if count == 1 else 'are'} {count}, the first at {position}."
    )


def as_numbers(name: str, values: Any, *, two_d: bool = False, finite: bool = True) -> NDArray[Any]:
    """Return an array of real numbers with at least one row; `finite` is False if the caller checks values later."""
    array = plain_numbers(as_dense(name, values))
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}")
    if array.dtype.kind not in "fiub":
        if array.dtype.kind != "O" or any(isinstance(each, (str, bytes)) for each in array.flat):
            raise ValueError(f"{name} must hold numbers, got {'text' if array.dtype.kind in 'OUST' else array.dtype}")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}: {error}") from error
    if two_d and array.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: {name} has shape {array.shape}. Reshape it, for instance with "
            "array.reshape(-1, 1)."
        )
    if array.ndim > 2:
        raise ValueError(f"Found array with dim {array.ndim}, while dim <= 2 is required: {name}.")
    if array.ndim and not array.shape[0]:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required: {name}."
        )
    if array.ndim == 2 and not array.shape[1]:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required: {name}."
        )
    if finite:
        check_all_finite(name, array)
    return array


def as_row_weights(values: Any, n_samples: int, *, all_zero: bool = False) -> NDArray[np.float64] | None:
    """Return finite, nonnegative row weights as float64, not all zero unless allowed; a single number is repeated."""
    if values is None:
        return None
    if isinstance(values, numbers.Number):
        values = np.full(n_samples, values)
    weights = as_numbers("sample_weight", values)
    if weights.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Expected either a scalar value or "
            f"a 1D array of length {n_samples}."
        )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}!")
    weights = weights.astype(np.float64, copy=False)
    negative = weights < 0
    if negative.any():
        row = int(np.argmax(negative))
        raise ValueError(f"sample_weight must not be negative, got {show(weights[row])} at row {row}")
    if not all_zero and not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def as_weight_column(values: Any) -> NDArray[Any] | None:
    """Return row weights as an unchecked vector; integers that float64 would round become float64."""
    if values is None:
        return None
    weights = as_column(as_dense("sample_weight", values))
    if weights.dtype == object:
        weights = as_numbers("sample_weight", weights, finite=False)
    return weights.astype(np.float64) if exceeds_floats(weights) else weights


INDICATOR = "multilabel-indicator"
LEGACY = (
    "You appear to be using a legacy multi-label data representation. Sequence of sequences are no longer supported; "
    "use a binary array or sparse matrix instead - the MultiLabelBinarizer transformer can convert to this format."
)


def as_target(name: str, values: Any, *, sparse: bool = False) -> NDArray[Any]:
    """Return labels as a 1-D or 2-D array; a sparse indicator matrix, if allowed, becomes dense."""
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
    """Raise if values have a type that labels can't have, such as dates."""
    if array.dtype.kind not in "fiubOUST":
        raise ValueError(f"{name} must hold numbers, booleans or strings, got dtype {array.dtype}")


def as_named_labels(labels: Any) -> NDArray[Any]:
    """Return the argument `labels` as an array of numbers, or of text."""
    array = as_dense("labels", labels)
    check_label_dtype("labels", array)
    if array.dtype.kind in "OUT":  # NumPy has turned [0, "a"] into text
        items = labels if isinstance(labels, Sequence) and array.ndim == 1 else array.reshape(-1).tolist()
        if not any(all(isinstance(each, kind) for each in items) for kind in (str, (numbers.Real, np.bool_))):
            raise ValueError(f"labels must hold numbers alone or strings alone, got {labels!r}")
    return array


def target_type(name: str, array: NDArray[Any]) -> str:
    """Return scikit-learn's name for the type of a target; raise if a continuous target has NaN or infinities."""
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
    """Return whether a vector has at least three distinct labels."""
    if array.dtype == object:
        return len(set(array.tolist())) > 2
    first = second = array[0]
    for start in range(0, array.size, ROWS_PER_SCAN):
        block = array[start : start + ROWS_PER_SCAN]
        other = block != first
        if first == second and other.any():
            second = block[int(np.argmax(other))]
        if (other & (block != second)).any():
            return True
    return False


def distinct_labels(array: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels of a vector, ascending."""
    if array.dtype == object:
        return np.array(sorted(set(array.tolist())), dtype=object)
    return sorted_unique(array)


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


def as_reported(labels: Any, present: NDArray[Any]) -> NDArray[Any] | None:
    """Return the requested labels, which must be of the same kind as those present; None means all."""
    if labels is None:
        return None
    reported = as_named_labels(labels)
    if reported.ndim != 1:
        raise ValueError(f"labels must be 1-D, got shape {reported.shape}")
    return _check_label_type(reported, present)


def _check_label_type(labels: NDArray[Any], present: NDArray[Any]) -> NDArray[Any]:
    """Raise if the requested labels are text and the labels present are numbers, or vice versa."""
    if labels.size and _is_text(labels) != _is_text(present):
        other, expected = ("strings", "numbers") if _is_text(labels) else ("numbers", "strings")
        raise ValueError(f"labels must be {expected}, as the targets are, got {other}: {labels.tolist()}")
    return labels


def _is_text(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "UT" or (labels.dtype.kind == "O" and isinstance(labels[0], str))


def as_requested(labels: Any, present: NDArray[Any]) -> NDArray[Any]:
    """Return the requested classes of a matrix, at least one of which must be present."""
    requested = _check_label_type(np.ravel(as_named_labels(labels)), present)
    check_some_labels(requested)
    if not set(present.tolist()).intersection(requested.tolist()):
        raise ValueError("At least one label specified must be in y_true")
    return requested


def check_some_labels(labels: NDArray[Any]) -> None:
    """Raise if the list of requested labels is empty."""
    if not labels.size:
        raise ValueError("'labels' should contain at least one label.")


def warn_one_label() -> None:
    """Warn that a matrix has only one cell."""
    warn(
        "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, use "
        "the 'labels' parameter to pass all known labels."
    )


def first_labels(labels: NDArray[Any]) -> list[Any]:
    """Return the first label and the first different one; raise if a number is not whole, or text has mixed types."""
    labels_seen = distinct_pair(labels) if labels.size else []
    if labels.dtype == object and not all(isinstance(label, (str, bytes)) for label in labels_seen):
        check_all_strings("y_true", labels)
    if any(isinstance(label, float) and not label.is_integer() for label in labels_seen):
        raise ValueError(f"labels must be whole numbers, got {labels_seen}")
    return labels_seen


def label_kind(labels: NDArray[Any]) -> str:
    """Return scikit-learn's name for the labels' type; raise if text is mixed with missing values or other types."""
    kind = target_type("y_true", labels)
    if labels.dtype == object and labels.ndim == 1 and kind != "unknown":
        as_labels("y_true", labels)
    return kind
