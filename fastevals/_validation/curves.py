"""Curves, the places asked for on them, and what else is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.options import listed, show

__all__ = [
    "as_named",
    "as_shares",
    "as_split_values",
    "check_all_equal",
    "check_axes",
    "check_default_costs",
    "check_defined",
    "check_has_thresholds",
    "check_kind",
    "check_same_kind",
    "check_some_split",
]


def as_shares(name: str, values: Any) -> NDArray[np.float64]:
    """Give shares as a float64 array of any shape, within [0, 1]."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold numbers, got {show(values)}")
    array = array.astype(np.float64)
    outside = ~((array >= 0) & (array <= 1))  # NaN too
    if outside.any():
        raise ValueError(f"{name} must be in [0, 1], got {show(array[outside][0])}")
    return array


def check_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless an argument is one of our own results."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {kind.__name__}, got {type(value).__name__}")


def check_same_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless a result is of the kind it is to be compared with."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__} to be compared with one, got {type(value).__name__}")


def check_defined(name: str, undefined: bool) -> None:
    """Raise if a curve has no values for want of a class."""
    if undefined:
        raise ValueError(f"{name} is undefined (NaN): its data has no rows of one class, so it can't be compared")


def check_default_costs(name: str, cost_fp: float, cost_fn: float) -> None:
    """Raise if costs are given beside PC(+), which holds them already."""
    if (cost_fp, cost_fn) != (1.0, 1.0):
        raise ValueError(f"cost_fp and cost_fn go with prior; {name} holds the costs already, got {cost_fp}, {cost_fn}")


def check_has_thresholds(thresholds: NDArray[Any]) -> None:
    """Raise if a curve's points belong to no threshold."""
    if np.isnan(thresholds[-1]):
        raise ValueError("threshold can't be asked of a vertical average: its points have no thresholds")


def as_named(name: str, value: Any, kind: type, *others: str) -> list[tuple[str | None, Any]]:
    """Give results of one kind by name; one that is not in a mapping has none. Messages name what others are taken."""
    first, *more = (f"a {each}" for each in (kind.__name__, *others))
    if not isinstance(value, Mapping):
        if not isinstance(value, kind):
            taken = ", ".join([first, *more])
            raise ValueError(f"{name} must be {taken} or a mapping of names to them, got {_kind(value)}")
        return [(None, value)]
    if not value:
        raise ValueError(f"{name} is an empty mapping: there is nothing to draw")
    for key, one in value.items():
        if not isinstance(one, kind):
            raise ValueError(f"{name}[{key!r}] must be {' or '.join([first, *more])}, got {_kind(one)}")
    return [(str(key), one) for key, one in value.items()]


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
        if str(key) in found:
            raise ValueError(f"{name} must have names that can be told apart, got {show(list(values))}")
        table = table.astype(np.float64)
        found[str(key)] = (table[:, np.newaxis] if table.ndim == 1 else table), of
    return found


def check_some_split(name: str, key: str, n_defined: int, n: int) -> None:
    """Raise if no split has a value."""
    if not n_defined:
        raise ValueError(f"{name}[{key!r}] must have a value that is not NaN, but all of its {n} are")


def check_axes(name: str, value: Any, kind: type) -> None:
    """Raise unless a place to draw is one Axes."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a matplotlib Axes, got {_kind(value)}")


def check_all_equal(name: str, attribute: str, values: Collection[Any]) -> None:
    """Raise if results that share an axis differ in what the axis means."""
    if len(set(values)) > 1:
        raise ValueError(f"{name} must all have the same {attribute}, got {listed(values)}")


def _kind(value: Any) -> str:
    return type(value).__name__
