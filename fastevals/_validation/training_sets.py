"""Training sets that are drawn, and values of splits that are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.options import show

__all__ = [
    "as_observed",
    "as_split_values",
    "check_parameter_or_sizes",
    "check_some_split",
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
    if parameter is not None and not isinstance(parameter, str):
        raise ValueError(f"parameter must be a name, got {show(parameter)}")


def as_split_values(name: str, values: Any, kind: type) -> dict[str, tuple[NDArray[np.float64], Any]]:
    """Give the values of splits by name, of shape (n_repeats, n_folds), with the result they are of, if it is one."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{name} must be a mapping of names to {kind.__name__} or arrays, got {type(values).__name__}")
    if not values:
        raise ValueError(f"{name} is an empty mapping: there is nothing to draw")
    found = {}
    for key, each in values.items():
        of = each if isinstance(each, kind) else None
        table = as_array(f"{name}[{key!r}]", each if of is None else each.per_split)
        if table.dtype.kind not in "fiub" or table.ndim not in (1, 2) or np.isinf(table).any():
            raise ValueError(
                f"{name}[{key!r}] must be {kind.__name__} or hold finite numbers, NaN where undefined, in shape "
                f"(n_repeats, n_folds) or (n_repeats,); got {show(each)}"
            )
        table = table.astype(np.float64)
        found[str(key)] = (table[:, np.newaxis] if table.ndim == 1 else table), of
    return found


def check_some_split(name: str, key: str, n_defined: int, n: int) -> None:
    """Raise if no split has a value."""
    if not n_defined:
        raise ValueError(f"{name}[{key!r}] must have a value that is not NaN, but all of its {n} are")
