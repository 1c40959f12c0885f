"""Columns that have names: of a mapping or a frame, whatever package it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastevals._validation.options import listed, show

__all__ = ["is_frame", "labels_of_rows", "named_columns"]


def is_frame(values: Any) -> bool:
    """Tell a frame (of pandas, polars, Arrow, ...) from other things."""
    return hasattr(values, "columns")


def named_columns(name: str, values: Any) -> dict[Any, Any] | None:
    """Give the columns of a frame or the entries of a mapping by name, or None of anything else."""
    if is_frame(values):
        names = list(getattr(values, "column_names", values.columns))  # Arrow's columns are not their names
        if len(set(names)) < len(names):
            raise ValueError(f"{name} must have columns of different names, got {listed(names)}")
        return {each: values[each] for each in names}
    if not isinstance(values, Mapping):
        return None
    if len({repr(each) for each in values}) < len(values):  # what messages call them
        raise ValueError(f"{name} must have names that can be told apart, got {show(list(values))}")
    return dict(values)


def labels_of_rows(frame: Any) -> tuple[Any, ...] | None:
    """Give the index of a frame of pandas, unless it is 0, 1, 2, ...; None of others, which have none."""
    kind = type(getattr(frame, "index", None)).__name__
    return (
        None
        if kind in ("NoneType", "RangeIndex", "method")
        else tuple(each if isinstance(each, (int, float, str)) else str(each) for each in frame.index)
    )
