"""Labels of many classes as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._execution import chunks, run
from fastevals.measure.label_codes import code_labels

__all__ = ["number_classes"]

WIDEST = 1 << 15  # range of integer labels that are numbered by a table
FEW = 1 << 8  # classes whose numbers take one byte, in which a stable sort is a radix sort of one pass


def number_classes(values: NDArray[Any], labels: ArrayLike | None, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the labels of the columns, and for each row the number of its own."""
    rows = check.as_labels("y_true", values)
    names = check.as_class_names("labels", labels, None)
    if names is not None:
        check.check_comparable_labels(y_true=rows, labels=names)
    distinct, codes = _number(rows)
    check.check_class_number("y_true", distinct)
    known = distinct if names is None else names
    check.check_class_columns(known, n_columns, names is not None)
    dtype = np.uint8 if known.size <= FEW else np.uint16
    if names is None:
        return distinct, codes.astype(dtype, copy=False)
    check.check_known_labels(distinct, names)
    places = np.array([np.flatnonzero(names == label)[0] for label in distinct], dtype=dtype)
    return names, places[codes]


def _number(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the labels that occur, in order, and each row's number among them."""
    text = rows.dtype.kind == "U"
    whole = rows if text else check.as_class_numbers("y_true", rows)
    if whole.dtype.kind == "b":
        whole = whole.view(np.uint8)
    low = 0 if text else int(whole.min())
    width = WIDEST + 1 if text else int(whole.max()) - low + 1
    if width > WIDEST:
        distinct, (codes,) = code_labels("y_true", [whole])
        return distinct if text else distinct.astype(rows.dtype.newbyteorder("=")), codes
    offsets = np.empty(rows.size, dtype=np.uint8 if width <= FEW else np.uint16)

    def fill(part: slice) -> NDArray[np.int64]:
        np.copyto(offsets[part], np.subtract(whole[part], low, dtype=np.int64), casting="unsafe")
        return np.bincount(offsets[part], minlength=width)

    seen = np.logical_or.reduce(run(fill, chunks(rows.size)))
    distinct = (np.flatnonzero(seen) + low).astype(rows.dtype.newbyteorder("="))
    if distinct.size == width:
        return distinct, offsets
    numbers = (np.cumsum(seen) - 1).astype(offsets.dtype)
    return distinct, numbers[offsets]
