"""From pairs of labels to counts of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.confusion import count_pairs
from fastevals.measure.codec import plain_block

__all__ = ["count_label_pairs"]

SAMPLE = 1 << 10  # rows that suggest the range of integer labels
DENSE = 1 << 10  # widest range of integer labels counted without looking them up
SHARED = 1 << 7  # widest table of which every chunk gets its own
INT = np.dtype(np.int64)
EXACT = 2**53


def count_label_pairs(
    true: NDArray[Any], predicted: NDArray[Any], labels: NDArray[Any] | None, weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs into a matrix over `labels`, or over all that occur; give the matrix and its labels."""
    check.check_comparable_labels(y_true=true, y_pred=predicted)
    if true.dtype.kind in "US":
        table, distinct = _count_distinct(true, predicted, weights)
    else:
        numbers = check.as_class_numbers("y_true", true), check.as_class_numbers("y_pred", predicted)
        table, distinct = _count_in_range(*numbers, weights) or _count_distinct(*numbers, weights)
        distinct = _as_label_dtype(distinct, true.dtype, predicted.dtype)
    if labels is None:
        return table, distinct
    check.check_known_labels(distinct, labels)
    order = [int(np.flatnonzero(labels == label)[0]) for label in distinct]
    counts = np.zeros((labels.size, labels.size), dtype=table.dtype)
    counts[np.ix_(order, order)] = table
    return counts, labels


def _as_label_dtype(distinct: NDArray[np.int64], *dtypes: np.dtype[Any]) -> NDArray[Any]:
    """Give integer labels the type the user knows them by, where it holds them all."""
    dtype = dtypes[0] if dtypes[0] == dtypes[1] else np.result_type(*dtypes, np.int8)
    known = distinct.astype(dtype.newbyteorder("="))
    return known if (known == distinct).all() and np.abs(distinct).max() <= EXACT else distinct


def _count_distinct(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count labels of any kind by looking them up; give the table and the labels."""
    dtype = None if true.dtype.kind in "US" else INT  # not a float that holds both, but not all of their values
    distinct, codes = np.unique(np.concatenate((true, predicted), dtype=dtype, casting="unsafe"), return_inverse=True)
    check.check_class_number("y_true and y_pred", distinct)
    codes = codes.astype(INT, copy=False)
    return _count(codes[: true.size], codes[true.size :], weights, 0, distinct.size)[0], distinct


def _count_in_range(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Count integer labels by their distance from the lowest, in one pass if a sample shows the range.

    Give the table and the labels that occur, or None where the range is too wide.
    """
    step = max(true.size // SAMPLE, 1)
    for suggestion in ((true[::step], predicted[::step]), (true, predicted)):
        low = int(min(values.min() for values in suggestion))
        width = int(max(values.max() for values in suggestion)) - low + 1
        if width > DENSE:
            return None
        table, outside = _count(true, predicted, weights, low, width)
        if not outside:
            break
    seen = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return table[np.ix_(seen, seen)], seen + low


def _count(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None, low: int, width: int
) -> tuple[NDArray[Any], int]:
    """Count pairs with codes in [low, low + width); give the table and the number of pairs outside."""
    parts = chunks(true.size)
    own = width <= SHARED
    tables = np.zeros(
        (len(parts) if own else 1, 2 if own else 1, width, width), dtype=np.int64 if weights is None else np.float64
    )

    def count(i: int) -> int:
        outside = 0
        for block in blocks(parts[i]):
            pair = [plain_block(labels[block], INT) for labels in (true, predicted)]
            outside += count_pairs(*pair, None if weights is None else weights[block], low, tables[i if own else 0])
        return outside

    outside = sum(run(count, range(len(parts))) if own else map(count, range(len(parts))))
    return tables.sum(axis=(0, 1)), outside
