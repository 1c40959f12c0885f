"""Values of a column: rows that share one, the blocks of --by and the groups of --group; the class of --pos-label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import raise_not_finite
from fastevals._validation.labels import as_groups, check_several_groups

MOST_BLOCKS = 1000


def distinct_values(shown: str, column: NDArray[Any]) -> list[Any]:
    """Return a column's values, ascending, as plain Python ones."""
    if column.dtype.kind == "O":
        return sorted(set(column.tolist()))
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise_not_finite(shown, column)
    return np.unique(column).tolist()  # type: ignore[no-any-return]


def split_by_value(shown: str, column: NDArray[Any]) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return each value of a column, ascending, and its rows; messages call the column `shown`."""
    values, codes = encode_values(shown, column)
    if len(values) > MOST_BLOCKS:
        raise ValueError(f"{shown} has {len(values)} values; a block each is made for at most {MOST_BLOCKS}")
    return list(zip(values, rows_by_code(codes, len(values)), strict=True))


def encode_values(shown: str, column: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return a column's values, ascending, and the place of each row's among them."""
    values = distinct_values(shown, column)
    if column.dtype.kind == "O":
        place = {value: k for k, value in enumerate(values)}
        codes = np.fromiter(map(place.__getitem__, column.tolist()), dtype=np.intp, count=column.size)
    else:
        codes = np.searchsorted(np.asarray(values, dtype=column.dtype), column)
    return values, codes


def rows_by_code(codes: NDArray[np.intp], n_values: int) -> list[NDArray[np.intp]]:
    """Return the rows of each value, ascending."""
    order = np.argsort(codes, kind="stable")
    stops = np.cumsum(np.bincount(codes, minlength=n_values))
    return np.split(order, stops[:-1])


def encode_groups(shown: str, column: NDArray[Any]) -> NDArray[np.intp]:
    """Return the groups of rows as numbers; there must be several."""
    groups, codes = np.unique(as_groups(shown, column), return_inverse=True)
    check_several_groups(shown, groups)
    return codes


def parse_label(text: str | None, there: Sequence[Any]) -> Any:
    """Return the label among those there that an option's text means; else that text, as a label of their type."""
    if text is None:
        return None
    like = [_as_label(text, label) for label in there]
    meant = next((one for one, label in zip(like, there, strict=True) if one == label), like[0])
    return text if meant is None else meant


def _as_label(text: str, like: Any) -> Any:
    """Return an option's text as a label of the type of another: numbers by value, booleans also as true and false."""
    if isinstance(like, str):
        return text
    if isinstance(like, bool) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            value = number(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return bool(value) if isinstance(like, bool) and value in (0, 1) else value
    return None
