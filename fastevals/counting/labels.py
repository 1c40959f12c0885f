"""Labels of any kind as codes, and counts of rows by their labels in several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._kernels.confusion import count_tuples
from fastevals._validation.arrays import INT64
from fastevals._validation.labels import check_class_number
from fastevals._validation.text import TextLabels, number_values, share_names
from fastevals.counting.ordering import plain_block

Ints = NDArray[np.int64]
Weights = NDArray[np.float64] | None

WIDEST = 1 << 15  # range of integer labels, up to which a table numbers them
SAMPLED_ROWS = 1 << 10  # sampled rows that suggest the range of integer labels
SHARED = 1 << 14  # cells of a table, up to which every chunk gets its own table
ALONE = 1 << 20  # rows that one thread compares before a second has started
DENSE = 1 << 20  # cells of a table, up to which it is filled without looking up labels
MOST_ARRAYS = 3  # arrays that the kernel takes
MOST_CODES = 2**62


def label_range(arrays: Sequence[NDArray[Any]]) -> tuple[int, int]:
    """Return the lowest label in arrays of integers or booleans, and the width of the range of all labels."""
    if arrays[0].size < ALONE:
        ends = list(map(_ends, arrays))
    else:
        ends = run(_ends, [array[part] for array in arrays for part in chunks(array.size)])
    low = min(low for low, _ in ends)
    return low, max(high for _, high in ends) - low + 1


def _ends(array: NDArray[Any]) -> tuple[int, int]:
    return int(array.min()), int(array.max())


def count_equal(first: NDArray[Any], second: NDArray[Any]) -> int:
    """Count rows in which two arrays are equal."""

    def count(part: slice) -> int:
        return int(np.count_nonzero(first[part] == second[part]))

    return count(slice(None)) if first.size < ALONE else sum(run(count, chunks(first.size)))


def number_labels(
    name: str, arrays: Sequence[NDArray[Any]], names: NDArray[Any] | None = None
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Assign codes to labels as `code_labels` does; raise above 10,000 labels.

    If the range of the labels is narrow, codes have the shortest unsigned dtype.

    If labels are codes of text, `names` are their names in errors.
    """
    if isinstance(arrays[0], TextLabels):
        names, arrays = share_names(arrays)
        labels, codes = number_labels(name, arrays, names)
        return names[labels], codes
    low, width = label_range(arrays)
    if width > WIDEST:
        labels, codes = code_labels(arrays)
        check_class_number(name, labels, names)
        return labels, codes
    offsets = [np.empty(array.size, dtype=np.min_scalar_type(width - 1)) for array in arrays]

    def fill(item: tuple[int, slice]) -> NDArray[np.bool_]:
        k, part = item
        offsets[k][part] = np.subtract(arrays[k][part], low, dtype=INT64, casting="unsafe")
        return np.bincount(offsets[k][part], minlength=width) > 0

    seen = np.logical_or.reduce(run(fill, [(k, part) for k, array in enumerate(arrays) for part in chunks(array.size)]))
    labels = np.flatnonzero(seen) + low
    check_class_number(name, labels, names)
    if labels.size == width:
        return labels, offsets
    number = (np.cumsum(seen) - 1).astype(offsets[0].dtype)
    return labels, [number[each] for each in offsets]


def code_labels(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the distinct labels of all arrays, ascending, and each array as positions among these labels.

    Labels are integers or booleans, and become int64.
    """
    labels, codes = number_values(arrays)
    labels, place = in_order(labels)
    return labels, [place[each] for each in codes]


def in_order(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return distinct values in ascending order, and the new position of each."""
    order = np.argsort(values)
    place = np.empty(order.size, dtype=INT64)
    place[order] = np.arange(order.size)
    return values[order], place


def rows_by_code(codes: NDArray[Any], n_codes: int) -> list[NDArray[np.intp]]:
    """Return the rows of each code, ascending."""
    # Short integers are sorted by radix, in a fifth of the time.
    order = np.argsort(codes.astype(np.min_scalar_type(max(n_codes - 1, 0)), copy=False), kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=n_codes))[:-1])


# Tables of labels -----------------------------------------------------------------------------------------------------


def count_label_tuples(
    name: str, arrays: Sequence[NDArray[Any]], names: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Ints, Ints]:
    """Count rows by their labels in two or more arrays.

    Parameters
    ----------
    name : str
        Name of the arrays in errors.
    arrays : sequence of ndarray of shape (n_rows,)
        Comparable labels: strings or integers.
    names : ndarray, optional
        Names of the labels in errors, if the labels are codes.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        All labels that occur, in order.
    codes : ndarray of int64 of shape (n_arrays, n_cells)
        Codes of each cell's labels; a cell is a combination of labels that occurs. Cells are ordered by the first
        array's labels, then by the next array's.
    rows : ndarray of int64 of shape (n_cells,)
        Number of rows in each cell.
    """
    if isinstance(arrays[0], TextLabels):
        names, arrays = share_names(arrays)
        labels, *cells = count_label_tuples(name, arrays, names)
        return names[labels], *cells
    counted = count_in_range(arrays, None)
    if counted is not None:
        table, low, width = counted
        codes, rows = _occupied_cells(table, width, len(arrays))
        seen, codes = np.unique(codes, return_inverse=True)
        return seen + low, codes.reshape(len(arrays), -1), rows
    labels, numbers = number_labels(name, arrays, names)
    if len(arrays) <= MOST_ARRAYS and labels.size ** len(arrays) <= DENSE:
        return labels, *_occupied_cells(count_codes(numbers, None, 0, labels.size)[0], labels.size, len(arrays))
    folded = fold_codes(numbers, labels.size)
    if labels.size ** len(arrays) <= MOST_CODES:
        cells, rows = np.unique(folded, return_counts=True)
        return labels, _digits(cells, labels.size, len(arrays)), rows
    _, first, rows = np.unique(folded, return_index=True, return_counts=True)  # takes twice as long as a table
    return labels, np.stack([each[first] for each in numbers], dtype=INT64), rows


def _occupied_cells(table: Ints, width: int, n_digits: int) -> tuple[Ints, Ints]:
    """Return the digits of each cell that has rows, and the number of rows in the cell."""
    occupied = np.flatnonzero(table)
    return _digits(occupied, width, n_digits), table[occupied]


def _digits(numbers: Ints, base: int, n: int) -> Ints:
    """Return the n digits of each number, the highest digit first."""
    return np.stack([numbers // base**place % base for place in range(n - 1, -1, -1)])


def count_in_range(arrays: Sequence[NDArray[Any]], weights: Weights) -> tuple[NDArray[Any], int, int] | None:
    """Count integer labels by their distance from the lowest, in one pass if a sample shows a narrow range.

    Returns the flat table of all combinations, the lowest label and the width of the range; or None if the range is too
    wide, labels are strings, or there are too many arrays.
    """
    if arrays[0].dtype.kind not in "iub" or len(arrays) > MOST_ARRAYS:
        return None
    step = max(arrays[0].size // SAMPLED_ROWS, 1)
    for suggestion in ([each[::step] for each in arrays], arrays):
        low, width = label_range(suggestion)
        n_cells = width ** len(arrays)
        if n_cells > DENSE:
            return None
        if suggestion is not arrays and n_cells > SHARED:  # a sample rarely contains both ends of a wide range
            continue
        table, outside = count_codes(arrays, weights, low, width)
        if not outside:
            break
    return table, low, width


def count_codes(arrays: Sequence[NDArray[Any]], weights: Weights, low: int, width: int) -> tuple[NDArray[Any], int]:
    """Count rows of two or three codes in [low, low + width); return the flat table, and the number of rows outside."""
    parts = chunks(arrays[0].size)
    n_cells = width ** len(arrays)
    table_by_part = n_cells <= SHARED  # larger tables leave two threads less cache each: no faster than one thread
    lane, shape = (n_cells, (len(parts), 2 * n_cells)) if table_by_part else (0, (1, n_cells))
    dtype = np.int64 if weights is None else np.float64
    tables = np.zeros(shape, dtype=dtype)

    def count(i: int) -> int:
        outside = 0
        for block in blocks(parts[i]):
            first, second, third = (*(plain_block(each[block], INT64) for each in arrays), None)[:MOST_ARRAYS]
            block_weights = None if weights is None else weights[block]
            outside += count_tuples(
                first, second, third, block_weights, low, width, lane, tables[i if table_by_part else 0]
            )
        return outside

    if not table_by_part:
        return tables[0], sum(map(count, range(len(parts))))
    outside = sum(run(count, range(len(parts)), compiles=(count_tuples, len(arrays), dtype)))
    return tables.reshape(-1, n_cells).sum(axis=0), outside


def fold_codes(codes: Sequence[NDArray[Any]], width: int) -> Ints:
    """Fold each row's codes (below `width`) into one number that is ordered like the codes."""
    folded, n = codes[0].astype(INT64), width
    for each in codes[1:]:
        if n * width > MOST_CODES:
            distinct, folded = np.unique(folded, return_inverse=True)
            n = distinct.size
        folded, n = folded * width + each, n * width
    return folded
