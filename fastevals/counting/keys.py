"""Keys of groups, from one column or several."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import (
    INT64,
    as_vector,
    check_same_length,
    is_arrow,
    is_frame,
    named_columns,
    refuse_engines,
)
from fastevals._validation.keys import encode_keys
from fastevals._validation.labels import as_dates, as_groups
from fastevals._validation.text import Codes, GroupKeys, encode_column, number_values
from fastevals.counting.groups import NARROW, code_groups
from fastevals.counting.labels import in_order


def as_group_keys(name: str, values: Any) -> Any:
    """Return the group of each row, in one of three forms; none may be missing.

    Numbers, booleans and times are an array; text is `TextLabels`; other values are `GroupKeys`. With several columns
    (a frame, mapping, list of columns or 2-D array) keys are tuples, in `GroupKeys`.
    """
    columns = key_columns(name, values)
    if columns is None:
        return _as_keys(name, values)
    keys = {key: _as_keys(f"{name}[{key!r}]", column) for key, column in columns.items()}
    if len(keys) == 1:
        return next(iter(keys.values()))
    check_same_length(**{f"{name}[{key!r}]": each for key, each in keys.items()})
    return combined_keys(list(keys.values()))


def key_names(name: str, values: Any) -> tuple[str, ...] | None:
    """Return the names of several columns of keys; None for one column."""
    columns = key_columns(name, values)
    if columns is None or len(columns) == 1:
        return None
    return tuple(f"group_{key}" if isinstance(key, int) else str(key) for key in columns)


def key_columns(name: str, values: Any) -> dict[Any, Any] | None:
    """Return columns of keys by name, or by number if they have none; None if the values are one column."""
    refuse_engines(name, values)
    columns: dict[Any, Any] | None = None
    if is_frame(values) or isinstance(values, Mapping):
        columns = named_columns(name, values)
    elif isinstance(values, (list, tuple)) and values and not isinstance(values[0], (str, bytes, tuple)):
        if all(isinstance(each, list) or getattr(each, "ndim", 0) == 1 or is_arrow(each) for each in values):
            names = [getattr(each, "name", None) for each in values]
            known = all(isinstance(each, str) for each in names) and len(set(names)) == len(names)
            columns = dict(zip(names if known else range(len(values)), values, strict=True))
    elif isinstance(values, np.ndarray) and values.ndim == 2:
        columns = dict(enumerate(values.T))
    if columns is not None and not columns:
        raise ValueError(f"{name} must have a column or more, got none")
    return columns


def _as_keys(name: str, values: Any) -> Any:
    """Return one column of keys."""
    if (keys := encode_keys(name, values)) is not None:
        return keys
    coded = None if isinstance(values, np.ndarray) else encode_column(name, values)
    if coded is not None:
        return coded
    array = as_vector(name, values)
    if array.dtype.kind == "O" and isinstance(array[0], datetime.date):
        array = as_dates(name, array)
    if array.dtype.kind not in "mM":
        return as_groups(name, array)
    missing = np.isnat(array)
    if missing.any():
        count = int(np.count_nonzero(missing))
        raise ValueError(f"{name} has {count} NaT value{'s' * (count > 1)}, the first at row {int(np.argmax(missing))}")
    return array


def combined_keys(columns: Sequence[Any]) -> GroupKeys:
    """Return tuples of the values of several columns as keys, in the order of the first column, then the second, ..."""
    coded = [code_groups(each) for each in columns]
    combined = coded[0].block(slice(None)).astype(INT64)
    places = np.arange(coded[0].width)[:, np.newaxis]  # of each combination so far, its value in each column
    for each in coded[1:]:
        present, combined = compact_codes(combined * each.width + each.block(slice(None)), len(places) * each.width)
        before, last = np.divmod(present, each.width)
        places = np.column_stack([places[before], last])
    items = [as_list(each.keys(own)) for each, own in zip(coded, places.T, strict=True)]
    keys = np.empty(len(places), dtype=object)
    keys[:] = list(zip(*items, strict=True))
    return GroupKeys(keys, combined)


def as_list(values: NDArray[Any]) -> list[Any]:
    """Return values as Python objects, but times as NumPy's, which keep their unit."""
    return list(values) if values.dtype.kind in "mM" else values.tolist()


def compact_codes(codes: Codes, width: int) -> tuple[NDArray[np.int64], Codes]:
    """Return the codes that occur, ascending, and each row's place among them."""
    if width <= max(NARROW, codes.size):
        seen = np.zeros(width, np.bool_)
        seen[codes] = True
        return np.flatnonzero(seen), (np.cumsum(seen) - 1)[codes]
    numbers, (numbered,) = number_values([codes])
    present, places = in_order(numbers)
    return present, places[numbered]
