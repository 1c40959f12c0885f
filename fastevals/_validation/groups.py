"""Keys of groups: users, queries, days."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_vector
from fastevals._validation.labels import as_groups
from fastevals._validation.options import show

__all__ = ["as_group_keys", "check_group_cells", "check_group_rows", "place_of_group", "raise_no_metric_of_groups"]

MOST_ROWS = 2**31 - 1
MOST_CELLS = 2**31
DATES = (datetime.date, datetime.datetime)


def as_group_keys(name: str, values: Any) -> NDArray[Any]:
    """Give the group of each row as a 1-D array of numbers, booleans, strings, dates or times, none missing."""
    array = as_vector(name, values)
    if array.dtype.kind == "O" and isinstance(array[0], datetime.date):
        array = _as_dates(name, array)
    if array.dtype.kind not in "mM":
        return as_groups(name, array)
    missing = np.isnat(array)
    if missing.any():
        count = int(np.count_nonzero(missing))
        raise ValueError(f"{name} has {count} NaT value{'s' * (count > 1)}, the first at row {int(np.argmax(missing))}")
    return array


def _as_dates(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Give Python's dates, or its times without a zone, as NumPy's."""
    kind = type(array[0])
    for row, value in enumerate(array):
        if kind not in DATES or type(value) is not kind or getattr(value, "tzinfo", None) is not None:
            raise ValueError(
                f"{name} must hold dates or times of one type, without zones; got {show(value)} at row {row}"
            )
    return array.astype("M8[us]" if kind is datetime.datetime else "M8[D]")


def check_group_rows(name: str, n: int) -> None:
    """Raise if there are more rows than groups are made of."""
    if n > MOST_ROWS:
        raise ValueError(f"{name} must have at most 2**31 - 1 rows to be taken by groups, got {n}")


def check_group_cells(name: str, n_groups: int, n_labels: int) -> None:
    """Raise if the matrices of all groups would not fit memory."""
    if n_groups * n_labels**2 > MOST_CELLS:
        raise ValueError(
            f"{name}: {n_groups} matrices of {n_labels} labels would have more than 2**31 cells; take fewer at a time"
        )


def raise_no_metric_of_groups(argument: str, rule: str, asked: Any) -> None:
    """Raise of a metric that can't be taken of groups."""
    raise ValueError(f"{argument}: {asked} {rule}")


def place_of_group(key: Any, groups: NDArray[Any]) -> int:
    """Find a key among those of groups, ascending."""
    try:
        if groups.dtype.kind in "mM":
            wanted = _as_moment(key, groups.dtype)
            place = int(np.searchsorted(groups, wanted))
            there = place < groups.size and groups[place] == wanted
        else:  # Python's numbers are compared exactly, whatever their types; NumPy's as floats
            wanted = key.item() if isinstance(key, (np.generic, np.ndarray)) else key
            place = bisect_left(range(groups.size), wanted, key=lambda g: groups[g].item())
            there = place < groups.size and groups[place].item() == wanted
        if there:
            return place
    except (TypeError, ValueError):  # a key of another kind
        pass
    raise KeyError(f"no group has the key {show(key)}; there are {groups.size}")


def _as_moment(key: Any, dtype: np.dtype[Any]) -> Any:
    """Give a date, a time or a span in the unit of groups; raise if it is something else or not whole in that unit."""
    if getattr(key, "tzinfo", None) is not None:
        raise ValueError("groups have no time zone")
    key = key.to_numpy() if hasattr(key, "to_numpy") else key  # Python's part of pandas' times leaves out nanoseconds
    if dtype.kind == "M" and key is not None:
        moment: Any = np.datetime64(key)
    elif isinstance(key, (np.timedelta64, datetime.timedelta)):
        moment = np.timedelta64(key)
    else:
        raise TypeError("not a time")
    found = moment.astype(dtype, casting="same_kind")
    if found.astype(moment.dtype) != moment:
        raise ValueError("between two of the unit")
    return found
