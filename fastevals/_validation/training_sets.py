"""Training sets that are drawn."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.options import show
from fastevals._validation.selection import check_parameter_name

__all__ = [
    "as_observed",
    "check_parameter_or_sizes",
    "check_training_set_size",
]

LARGEST = 2**32  # rows of a training set


def as_observed(name: str, values: Any, n_sets: int) -> tuple[Any, NDArray[Any] | None]:
    """Give observed labels that are the same for all training sets, and those that each set has of its own."""
    if values is None:
        return None, None
    array = as_array(name, values)
    if array.ndim != 2:
        return array, None
    if len(array) != n_sets:
        raise ValueError(f"{name} must have a row for each training set, {n_sets}, or be 1-D; got shape {array.shape}")
    return None, array


def check_training_set_size(name: str, value: Any, size: int, n: int, units: str, replace: bool) -> None:
    """Raise where all training sets would be the same, or be larger than any memory."""
    if size > LARGEST:
        raise ValueError(f"{name} must be at most 2**32, got {show(value)}")
    if not replace and size >= n:
        raise ValueError(
            f"replace=False needs {name} below the number of {units}, {n}, or all training sets are the same; "
            f"got {show(value)}"
        )


def check_parameter_or_sizes(parameter: Any, values: Any, train_sizes: Any, train_size: Any) -> None:
    """Raise unless a parameter has values, or training sizes are given, but not both."""
    if (parameter is None) != (values is None):
        raise ValueError(f"parameter and values go together, got parameter={show(parameter)}, values={show(values)}")
    if (parameter is None) == (train_sizes is None):
        given = "neither" if parameter is None else "both"
        raise ValueError(f"either parameter and values or train_sizes must be given, got {given}")
    if train_sizes is not None and train_size is not None:
        raise ValueError(f"train_size goes with parameter and values, got it with train_sizes: {show(train_size)}")
    if parameter is not None:
        check_parameter_name("parameter", parameter)
