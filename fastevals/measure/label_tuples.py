"""Rows counted by their labels: a true and a predicted one, or a true one and those that several models predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.confusion import count_tuples
from fastevals.measure.codec import plain_block
from fastevals.measure.label_codes import label_range, number_labels

__all__ = ["count_codes", "count_in_range", "count_label_tuples", "fold_codes"]

Ints = NDArray[np.int64]
Weights = NDArray[np.float64] | None

SAMPLE = 1 << 10  # rows that suggest the range of integer labels
SHARED = 1 << 14  # cells of the widest table of which every chunk gets its own
DENSE = 1 << 20  # cells of the widest table that is counted in without looking labels up
MOST_ARRAYS = 3  # that the kernel takes
MOST_CODES = 2**62
INT = np.dtype(np.int64)


def count_label_tuples(what: str, arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], Ints, Ints]:
    """Count rows by the labels that each of two or more arrays has for them.

    Parameters
    ----------
    what : str
        What errors call the arrays together.
    arrays : sequence of ndarray of shape (n_rows,)
        Labels that can be compared: strings, or integers.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        All that occur, in order.
    codes : ndarray of int64 of shape (n_arrays, n_cells)
        Their numbers in each cell, a combination that occurs; cells are in the order of the first array's labels, then
        of the next one's.
    rows : ndarray of int64 of shape (n_cells,)
        How many rows are in each.
    """
    found = count_in_range(arrays, None)
    if found is not None:
        table, low, width = found
        codes, rows = _cells(table, width, len(arrays))
        seen, codes = np.unique(codes, return_inverse=True)
        check.check_class_number(what, seen)
        return seen + low, codes.reshape(len(arrays), -1), rows
    labels, numbers = number_labels(what, arrays)
    if len(arrays) <= MOST_ARRAYS and labels.size ** len(arrays) <= DENSE:
        return labels, *_cells(count_codes(numbers, None, 0, labels.size)[0], labels.size, len(arrays))
    folded = fold_codes(numbers, labels.size)
    if labels.size ** len(arrays) <= MOST_CODES:
        cells, rows = np.unique(folded, return_counts=True)
        return labels, _digits(cells, labels.size, len(arrays)), rows
    _, first, rows = np.unique(folded, return_index=True, return_counts=True)  # twice as long
    return labels, np.stack([each[first] for each in numbers], dtype=INT), rows


def _cells(table: Ints, width: int, n_digits: int) -> tuple[Ints, Ints]:
    """Give the cells of a table that have rows, by their digits, and those rows."""
    there = np.flatnonzero(table)
    return _digits(there, width, n_digits), table[there]


def _digits(numbers: Ints, base: int, n: int) -> Ints:
    """Give the n digits of each number, the highest first."""
    return np.stack([numbers // base**place % base for place in range(n - 1, -1, -1)])


def count_in_range(arrays: Sequence[NDArray[Any]], weights: Weights) -> tuple[NDArray[Any], int, int] | None:
    """Count integer labels by their distance from the lowest, in one pass if a sample shows the range.

    Give the table of all combinations, flat, the lowest label and the width of the range; or None where that is too
    wide, labels are strings or arrays too many.
    """
    if arrays[0].dtype.kind not in "iub" or len(arrays) > MOST_ARRAYS:
        return None
    step = max(arrays[0].size // SAMPLE, 1)
    for suggestion in ([each[::step] for each in arrays], arrays):
        low, width = label_range(suggestion)
        if width ** len(arrays) > DENSE:
            return None
        table, outside = count_codes(arrays, weights, low, width)
        if not outside:
            break
    return table, low, width


def count_codes(arrays: Sequence[NDArray[Any]], weights: Weights, low: int, width: int) -> tuple[NDArray[Any], int]:
    """Count rows of two or three codes in [low, low + width); give the table, flat, and the number of rows outside."""
    parts = chunks(arrays[0].size)
    n_cells = width ** len(arrays)
    own = n_cells <= SHARED
    lane, shape = (n_cells, (len(parts), 2 * n_cells)) if own else (0, (1, n_cells))
    dtype = np.int64 if weights is None else np.float64
    tables = np.zeros(shape, dtype=dtype)

    def count(i: int) -> int:
        outside = 0
        for block in blocks(parts[i]):
            first, second, third = (*(plain_block(each[block], INT) for each in arrays), None)[:MOST_ARRAYS]
            of_rows = None if weights is None else weights[block]
            outside += count_tuples(first, second, third, of_rows, low, width, lane, tables[i if own else 0])
        return outside

    if not own:
        return tables[0], sum(map(count, range(len(parts))))
    outside = sum(run(count, range(len(parts)), compiles=(count_tuples, len(arrays), dtype)))
    return tables.reshape(-1, n_cells).sum(axis=0), outside


def fold_codes(codes: Sequence[NDArray[Any]], width: int) -> Ints:
    """Give one number for the codes below `width` that each row has, in their order."""
    folded, n = codes[0].astype(INT), width
    for each in codes[1:]:
        if n * width > MOST_CODES:
            distinct, folded = np.unique(folded, return_inverse=True)
            n = distinct.size
        folded, n = folded * width + each, n * width
    return folded
