"""Array-likes into arrays of numbers, columns and row weights."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.drop_in.complaints import InvalidParameterError
from fastevals._validation.drop_in.parameters import is_array_like
from fastevals._validation.options import show

__all__ = [
    "as_column",
    "as_dense",
    "as_numbers",
    "as_row_weights",
    "check_all_finite",
    "check_not_empty",
    "check_same_rows",
    "is_sparse",
]


def is_sparse(values: Any) -> bool:
    """Tell a SciPy sparse array or matrix."""
    return hasattr(values, "toarray") and hasattr(values, "nnz")


def as_dense(name: str, values: Any) -> NDArray[Any]:
    """Give an array-like as an array; columns of pandas' own types as those of NumPy."""
    if type(values) is np.ndarray and values.ndim:
        return values
    if is_sparse(values) or not is_array_like(values):
        dense = "; use '.toarray()' to convert sparse data to a dense array" if is_sparse(values) else ""
        raise InvalidParameterError(f"The {name!r} parameter must be an array-like. Got {values!r} instead{dense}.")
    if isinstance(values, np.ma.MaskedArray):
        return as_array(name, values)
    dtype = getattr(getattr(values, "dtype", None), "numpy_dtype", None)
    return np.asarray(values if dtype is None else values.to_numpy(dtype))


def check_same_rows(*arrays: Any) -> None:
    """Raise unless all that are not None have the same number of rows."""
    rows = [_rows(each) for each in arrays if each is not None and not isinstance(each, numbers.Number)]
    if any(n != rows[0] for n in rows):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {rows}")


def _rows(values: Any) -> int:
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


def check_not_empty(*arrays: NDArray[Any]) -> None:
    """Raise if there are no rows."""
    if not all(map(_rows, arrays)):
        raise ValueError(
            "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required."
        )


def as_column(array: NDArray[Any]) -> NDArray[Any]:
    """Give a vector, or a matrix of one column as a vector."""
    if array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")


def check_all_finite(name: str, array: NDArray[Any]) -> None:
    """Raise if there is a NaN or an infinity, and say how many and where."""
    if array.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()) or np.isfinite(array).all():  # the sum is one pass, and rarely overflows
            return
    odd, what = np.isnan(array), "NaN"
    if not odd.any():
        odd, what = np.isinf(array), f"infinity or a value too large for {array.dtype!r}"
    count, first = int(np.count_nonzero(odd)), np.argwhere(odd)[0].tolist()
    where = f"row {first[0]}" + (f", column {first[1]}" if len(first) > 1 else "")
    raise ValueError(
        f"Input {name} contains {what}. There {'is' if count == 1 else 'are'} {count}, the first at {where}."
    )


def as_numbers(name: str, values: Any, *, two_d: bool = False, finite: bool = True) -> NDArray[Any]:
    """Give an array of real numbers with a row or more; `finite` is False where the values are looked at later."""
    array = as_dense(name, values)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {array.dtype}")
    if array.dtype.kind not in "fiub":
        if array.dtype.kind != "O" or any(isinstance(each, (str, bytes)) for each in array.flat):
            raise ValueError(f"{name} must hold numbers, got {'text' if array.dtype.kind in 'OUST' else array.dtype}")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
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
    if finite:
        check_all_finite(name, array)
    return array


def as_row_weights(values: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Give row weights as float64, one number as so many: finite, none negative, not all zero."""
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
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights
