"""Numbers for groups: keys of any type as small codes, whose order is that of the keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.codec import plain_block
from fastevals.measure.label_codes import code_labels, label_range

__all__ = ["GroupCodes", "group_codes"]

Codes = NDArray[np.uint32]

NARROW = 1 << 16  # a range of integers as wide, or of as many values as there are rows, needs no look-up


@dataclass(frozen=True, slots=True, eq=False)
class GroupCodes:
    """Codes of rows below `width`, in the order of the groups' keys; not each code need occur.

    Attributes
    ----------
    width : int
        One more than the highest code.
    low : int or None
        Where codes are distances from the lowest key; else there is one for each of `distinct`.
    values : ndarray of shape (n_rows,)
        The keys as integers, or the codes.
    distinct : ndarray or None
        The groups' keys.
    dtype : dtype
        That the user knows the keys by.
    """

    width: int
    low: int | None
    values: NDArray[Any]
    distinct: NDArray[Any] | None
    dtype: np.dtype[Any]

    def block(self, rows: slice) -> Codes:
        """Give the codes of a block of rows."""
        here = self.values[rows]
        if self.low is None:
            return plain_block(here, np.dtype(np.uint32))
        if here.dtype.itemsize == 8:
            return np.asarray(here - here.dtype.type(self.low), dtype=np.uint32)
        return (here.astype(np.int64) - self.low).astype(np.uint32)

    def keys(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Give the keys of codes."""
        if self.distinct is not None:
            return np.asarray(self.distinct[codes])
        assert self.low is not None
        whole = np.uint64 if self.dtype.kind == "u" else np.int64
        values = codes.astype(whole) + whole(self.low)
        return values.view(self.dtype) if self.dtype.kind in "mM" else values.astype(self.dtype)


def group_codes(groups: NDArray[Any]) -> GroupCodes:
    """Number the groups of rows: by the range of the keys where they are integers close together, else by hash."""
    check.check_group_rows("groups", groups.size)
    dtype = groups.dtype.newbyteorder("=")
    if dtype.kind == "U":
        return _by_hash(groups, dtype)
    whole = groups
    if dtype.kind in "mM":
        whole = groups.astype(dtype, copy=False).view(np.int64)
    elif dtype.kind == "b":
        whole = groups.view(np.uint8)
    if whole.dtype.kind in "iu":
        low, width = label_range([whole])
        if width <= max(NARROW, whole.size):
            return GroupCodes(width, low, whole, None, dtype)
        return _by_hash(plain_block(whole, np.dtype(np.int64 if whole.dtype.kind == "i" else np.uint64)), dtype)
    if dtype.itemsize > 8:
        distinct, codes = np.unique(groups, return_inverse=True)
        return GroupCodes(distinct.size, None, codes.astype(np.uint32), distinct + dtype.type(0), dtype)
    return _by_hash(groups.astype(np.float64) + 0.0, dtype)  # -0.0 is 0.0


def _by_hash(keys: NDArray[Any], dtype: np.dtype[Any]) -> GroupCodes:
    """Number text or 64-bit numbers by hash, then in their order: that of numbers is not that of their bits."""
    found, (codes,) = code_labels("groups", [keys if keys.dtype.kind == "U" else keys.view(np.int64)])
    distinct = found if keys.dtype.kind == "U" else found.view(keys.dtype)
    order = np.argsort(distinct)
    rank = np.empty(order.size, dtype=np.uint32)
    rank[order] = np.arange(order.size, dtype=np.uint32)
    values = distinct[order].view(dtype) if dtype.kind in "mM" else distinct[order].astype(dtype, copy=False)
    return GroupCodes(order.size, None, rank[codes], values, dtype)
