"""Class labels of any type as kernels number them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.codec import plain_block

__all__ = ["Classes", "distinct"]

WIDEST = 1 << 15  # range of integer labels that are numbered by a table
INT = np.dtype(np.int64)


class Classes:
    """The classes there are.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        In order, all different.
    bytes : dict of str to (ndarray of uint8, ndarray of int32)
        The bytes that mean a class, and the class's number, where 8-bit labels are of some kind of dtype.
    """

    def __init__(self, true: NDArray[Any], labels: Any) -> None:
        """Take those of the true labels, or those given."""
        if labels is None:
            self.labels = distinct(true).astype(true.dtype.newbyteorder("="), copy=False)
            check.check_comparable_labels(y_true=self.labels)
            check.check_class_number("y_true", self.labels)
        else:
            self.labels = np.sort(check.as_true_labels("labels", check.as_class_names("labels", labels, None)))
            check.check_comparable_labels(labels=self.labels, y_true=true)
        is_text = self.labels.dtype.kind == "U"
        self._numbers = None if is_text else self.labels.astype(INT)
        self._bytes = {kind: self._byte_table(kind) for kind in ("" if is_text else "biu")}
        there = {kind: np.flatnonzero(table >= 0) for kind, table in self._bytes.items()}
        self.bytes = {kind: (at.astype(np.uint8), self._bytes[kind][at]) for kind, at in there.items()}
        self._searches = is_text or int(self.labels[-1]) - int(self.labels[0]) >= WIDEST
        codes = np.arange(self.labels.size, dtype=np.int32)
        if self._searches:
            self._low, self._table = 0, codes
        else:
            assert self._numbers is not None
            self._low = int(self._numbers[0])
            self._table = np.full(int(self._numbers[-1]) - self._low + 1, -1, dtype=np.int32)
            self._table[self._numbers - self._low] = codes

    def _byte_table(self, kind: str) -> NDArray[np.int32]:
        """Give the number of the class that each byte stands for, -1 for none."""
        meant = np.arange(256, dtype=np.uint8).view(np.int8 if kind == "i" else np.uint8).astype(INT)
        return self._find(meant).astype(np.int32)

    def _find(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Give the number of each value's class by search, -1 for none."""
        known = self.labels if self._numbers is None else self._numbers
        at = np.minimum(np.searchsorted(known, values), known.size - 1)
        return np.where(known[at] == values, at, -1)

    def is_direct(self, table: NDArray[Any]) -> bool:
        """Tell whether `numbered` gives a whole array without a copy."""
        small = table.dtype.itemsize == 1
        return (
            table.dtype.kind in "biu" and table.flags.carray and (small or (table.dtype == INT and not self._searches))
        )

    def numbered(self, block: NDArray[Any]) -> tuple[NDArray[Any], int, NDArray[np.int32]]:
        """Give a block of labels as integers, and a table whose row ``integer - low`` has the number of the class."""
        kind = block.dtype.kind
        if kind in "biu" and block.dtype.itemsize == 1:
            return plain_block(block, block.dtype).view(np.uint8), 0, self._bytes[kind]
        if kind == "U":
            return self._find(block), 0, self._table
        if kind != "f":
            values = plain_block(block, INT)
            return (self._find(values) if self._searches else values), self._low, self._table
        with np.errstate(invalid="ignore"):
            values = block.astype(INT, order="C")
        odd = values != block
        if self._searches:
            values = self._find(values)
        values[odd] = self._low - 1 if self._low > np.iinfo(INT).min else self._low + self._table.size
        return values, self._low, self._table

    def codes(self, block: NDArray[Any]) -> NDArray[np.int64]:
        """Give the number of each label's class; all have one."""
        values, low, table = self.numbered(block)
        return table[values.astype(INT) - low].astype(INT)


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Give the labels that occur, in order."""
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        if high - low < WIDEST and -(2**63) <= low <= high < 2**63:
            return np.flatnonzero(np.bincount(labels.astype(INT) - low)) + low
    return np.unique(labels)
