"""Labels of many classes as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure.label_codes import number_labels

__all__ = ["number_classes"]

FEW = 1 << 8  # classes whose numbers take one byte, in which a stable sort is a radix sort of one pass


def number_classes(values: NDArray[Any], labels: ArrayLike | None, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the labels of the columns, and for each row the number of its own."""
    rows = check.as_labels("y_true", values)
    names = check.as_class_names("labels", labels, None)
    if names is not None:
        check.check_comparable_labels(y_true=rows, labels=names)
    text = rows.dtype.kind == "U"
    distinct, (codes,) = number_labels("y_true", [rows if text else check.as_class_numbers("y_true", rows)])
    distinct = distinct if text else distinct.astype(rows.dtype.newbyteorder("="))
    known = distinct if names is None else names
    check.check_class_columns(known, n_columns, names is not None)
    dtype = np.uint8 if known.size <= FEW else np.uint16
    if names is None:
        return distinct, codes.astype(dtype, copy=False)
    return names, check.check_known_labels(distinct, names).astype(dtype)[codes]
