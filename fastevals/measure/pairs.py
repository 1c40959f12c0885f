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


def count_label_pairs(
    true: NDArray[Any], predicted: NDArray[Any], labels: NDArray[Any] | None, weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs into a matrix over `labels`, or over all that occur; give the matrix and its labels."""
    check.check_comparable_labels(y_true=true, y_pred=predicted)
    counted = _count_in_range(true, predicted, weights) if true.dtype.kind in "iubf" else None
    if counted is None:
        distinct, codes = np.unique(np.concatenate((true, predicted)), return_inverse=True)
        check.check_class_number(distinct)
        codes = codes.astype(np.int64, copy=False)
        table, _ = _count(codes[: true.size], codes[true.size :], weights, 0, distinct.size)
    else:
        table, low = counted
        seen = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
        dtype = np.bool_ if true.dtype == predicted.dtype == np.bool_ else np.result_type(true, predicted, np.int8)
        distinct, table = (seen + low).astype(dtype), table[np.ix_(seen, seen)]
    if labels is None:
        return table, distinct
    check.check_known_labels(distinct, labels)
    order = [int(np.flatnonzero(labels == label)[0]) for label in distinct]
    counts = np.zeros((labels.size, labels.size), dtype=table.dtype)
    counts[np.ix_(order, order)] = table
    return counts, labels


def _count_in_range(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], int] | None:
    """Count integer labels by their distance from the lowest, in one pass if a sample shows the range.

    Give None where the range is too wide.
    """
    step = max(true.size // SAMPLE, 1)
    for suggestion in ((true[::step], predicted[::step]), (true, predicted)):
        check.check_whole_numbers(y_true=suggestion[0], y_pred=suggestion[1])
        low = int(min(values.min() for values in suggestion))
        width = int(max(values.max() for values in suggestion)) - low + 1
        if width > DENSE:
            return None
        table, outside = _count(true, predicted, weights, low, width)
        if not outside:
            return table, low
    # Within the full range no label is outside but a fraction, which hides between the sampled rows.
    check.check_whole_numbers(y_true=true, y_pred=predicted)
    raise AssertionError("unreachable")


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
            pair = [_codes(labels[block]) for labels in (true, predicted)]
            if any(codes is None for codes in pair):
                outside += block.stop - block.start
            else:
                outside += count_pairs(*pair, None if weights is None else weights[block], low, tables[i if own else 0])
        return outside

    outside = sum(run(count, range(len(parts))) if own else map(count, range(len(parts))))
    return tables.sum(axis=(0, 1)), outside


def _codes(labels: NDArray[Any]) -> NDArray[np.int64] | None:
    """Give a block of labels as int64; None if a float is no whole number."""
    with np.errstate(invalid="ignore"):  # the cast of a NaN
        codes = plain_block(labels, INT)
    return codes if labels.dtype.kind != "f" or (codes == labels).all() else None
