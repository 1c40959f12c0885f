"""Splits of rows into training and test parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import check_finite
from fastevals._validation.labels import as_groups, as_labels, check_comparable_labels
from fastevals._validation.options import check_integer, check_number, show
from fastevals._validation.rows import check_same_rows

__all__ = [
    "as_row_groups",
    "as_share_or_count",
    "as_strata",
    "check_class_units",
    "check_left_out",
    "check_part_sizes",
    "check_random_repeats",
    "check_shares",
    "check_split_units",
    "check_splits_fit",
]

CELLS = 2**40  # of an array of all splits: more is no array to ask for
ROUNDING = 1e-9


def as_share_or_count(name: str, value: Any, *, whole: bool = False, most: int | None = None) -> int | float:
    """Give the size of a part: an int from 1 to `most`, or a float within (0, 1); with `whole` 1 is one too."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return check_integer(name, value, low=1, high=most)
    try:
        return check_number(name, value, low=0, high=1, open_low=True, open_high=not whole)
    except ValueError:
        within = "(0, 1]" if whole else "(0, 1)"
        raise ValueError(
            f"{name} must be a share of the rows in {within}, or their number, got {show(value)}"
        ) from None


def check_shares(sizes: dict[str, Any], *, whole: bool) -> None:
    """Raise if parts that are given as shares add up to more than all rows, or to all with one part still to come."""
    shares = {name: size for name, size in sizes.items() if isinstance(size, float)}
    total = math.fsum(shares.values())
    if total > 1 + ROUNDING or (not whole and total > 1 - ROUNDING):
        given = ", ".join(f"{name}={size:g}" for name, size in shares.items())
        rule = "add up to at most 1" if whole else "leave a share for training"
        raise ValueError(f"{' and '.join(shares)} must {rule}, got {given}")


def check_part_sizes(sizes: dict[str, int], n: int, of: str, given: dict[str, Any]) -> None:
    """Raise unless each part of n units has one at least, and all together no more than there are."""
    asked = ", ".join(f"{name}={show(size)}" for name, size in given.items() if size is not None)
    for part, size in sizes.items():
        if size < 1:
            raise ValueError(f"{asked} leaves the {part} part of {n} {of} empty")
    if sum(sizes.values()) > n:
        raise ValueError(f"{asked} takes {sum(sizes.values())} {of}, but there are {n}")


def as_strata(name: str, values: Any, n: int) -> NDArray[Any]:
    """Give the classes that rows are stratified by, as integers or strings."""
    if values is None:
        raise ValueError(f"stratified=True needs {name}, the class of each row, got None")
    array = as_labels(name, values)
    check_finite(name, array)
    if array.dtype.kind == "f":
        odd = (np.trunc(array) != array) | (np.abs(array) >= np.float64(2**63))
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(
                f"{name} must hold classes for stratified=True, strings or whole numbers, but has "
                f"{show(array[row])} at row {row}; cut numbers into bins, or leave out stratified=True"
            )
        array = array.astype(np.int64)
    check_same_rows(rows=range(n), **{name: array})
    check_comparable_labels(**{name: array})
    return array


def as_row_groups(name: str, values: Any, n: int) -> NDArray[Any]:
    """Give the group of each row."""
    array = as_groups(name, values)
    check_same_rows(rows=range(n), **{name: array})
    return array


def check_split_units(n: int, of: str, least: int, because: str) -> None:
    """Raise if there are fewer rows, or groups, than a splitter has parts."""
    if n < least:
        raise ValueError(f"{because} needs {least} {of} or more, got {n}")


def check_class_units(sizes: NDArray[Any], labels: NDArray[Any], of: str, least: int, because: str) -> None:
    """Raise if a class has fewer rows, or groups, than a splitter has parts."""
    few = np.flatnonzero(sizes < least)
    if few.size:
        k = int(few[0])
        raise ValueError(
            f"{because} needs {least} {of} or more of each class, but class {show(labels[k])} has {sizes[k]}"
        )


def check_left_out(p: int, n: int, of: str) -> None:
    """Raise unless a row, or group, is left to train on."""
    if p >= n:
        raise ValueError(f"p must be less than the number of {of}, {n}, got {p}")


def check_random_repeats(n_repeats: int, shuffle: bool) -> None:
    """Raise if repetitions were asked for that would all be the same."""
    if n_repeats > 1 and not shuffle:
        raise ValueError(f"n_repeats goes with shuffle=True: without it all repetitions are the same, got {n_repeats}")


def check_splits_fit(n_repeats: int, n: int) -> None:
    """Raise if an array of all splits would hold more than any memory does."""
    if n_repeats * n > CELLS:
        raise ValueError(
            f"assignments of {show(n_repeats)} repetitions of {n} rows are too many for an array; take random "
            "ones (n_repeats=), or go through split()"
        )
