"""Count pairs of true and predicted labels, over all rows or within groups; number groups, and cut them into spans."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import blocks, run
from fastevals._kernels.groups import count_groups
from fastevals._validation.arrays import EXACT_INTEGER, INT64
from fastevals._validation.labels import (
    as_class_numbers,
    check_comparable_labels,
    check_group_cells,
    check_known_labels,
)
from fastevals._validation.text import TextLabels, number_values, share_names
from fastevals.counting.labels import SAMPLED_ROWS, count_codes, count_in_range, in_order, label_range, number_labels
from fastevals.counting.ordering import plain_block

Codes = NDArray[np.uint32]
Weights = NDArray[np.float64] | None

MOST_ROWS = 2**31 - 1
NARROW = 1 << 16  # integers in a range this wide, or as wide as there are rows, need no look-up
PAD = 32  # a sample's range is widened at each end by 1 / PAD of its width
WIDE_RANGE = 64  # labels in a wider range are numbered first
# Cells of the widest table that is kept twice: adding a row then need not wait for an equal row just before it.
LANE_CELLS = 1 << 14
ROWS_PER_CELL = 8  # a part of the rows has at least this many rows per cell of its table
FEWEST_ROWS = 1 << 14  # rows in a part
MAX_PARTS = 64
FAR_LABEL = 2**62
ROWS_PER_TASK = 1 << 15  # rows plus groups in a task


def count_label_pairs(
    true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs into a matrix over all labels that occur, in order; return the matrix and the labels."""
    check_comparable_labels(y_true=true, y_pred=predicted)
    if isinstance(true, TextLabels):
        names, codes = share_names([true, predicted])
        table, seen = _count_present(codes, weights, names)
        return table, names[seen]
    numbers = [as_class_numbers("y_true", true), as_class_numbers("y_pred", predicted)]
    table, distinct = _count_present(numbers, weights)
    return table, as_label_dtype(distinct, true.dtype, predicted.dtype)


def _count_present(
    arrays: list[NDArray[Any]], weights: NDArray[np.float64] | None, names: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count pairs of labels, or of codes of names; return the matrix over the labels that occur, and the labels."""
    counted = count_in_range(arrays, weights)
    if counted is None:
        distinct, codes = number_labels("y_true and y_pred", arrays, names)
        return count_codes(codes, weights, 0, distinct.size)[0].reshape(distinct.size, -1), distinct
    table, low, width = counted
    table = table.reshape(width, width)
    seen = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return table if seen.size == width else table[np.ix_(seen, seen)], seen + low


def expand_to_labels(counts: NDArray[Any], present: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Expand matrices over the present labels to matrices over `labels`, which include them."""
    places = check_known_labels(present, labels)
    if labels.size == places.size and (np.diff(places) > 0).all():
        return counts
    integers = np.zeros((*counts.shape[:-2], labels.size, labels.size), dtype=counts.dtype)
    integers[..., places[:, None], places] = counts
    return integers


def as_label_dtype(distinct: NDArray[np.int64], *dtypes: np.dtype[Any]) -> NDArray[Any]:
    """Return integer labels in the user's dtype, if it can represent all of them."""
    dtype = dtypes[0] if dtypes[0] == dtypes[1] else np.result_type(*dtypes, np.int8)
    labels = distinct.astype(dtype.newbyteorder("="))
    return labels if (labels == distinct).all() and np.abs(distinct).max() <= EXACT_INTEGER else distinct


def count_grouped_pairs(
    true: NDArray[Any], predicted: NDArray[Any], groups: NDArray[Any], weights: Weights
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count pairs of labels in each group; return the groups' keys, the matrices and their labels.

    The labels are all that occur in rows with a positive weight, in order. Groups without rows of
    positive weight have matrices of zeros.
    """
    check_comparable_labels(y_true=true, y_pred=predicted)
    _check_group_rows("groups", groups.size)
    dtypes = true.dtype, predicted.dtype
    texts = None
    if isinstance(true, TextLabels):
        texts, (true, predicted) = share_names([true, predicted])
    else:
        true, predicted = as_class_numbers("y_true", true), as_class_numbers("y_pred", predicted)
    tables = None
    for step in (max(true.size // SAMPLED_ROWS, 1), 1):
        codes = _code_integer_groups(groups, step)
        low, width = label_range([true[::step], predicted[::step]])
        if codes is None or width > WIDE_RANGE:
            break
        tables = _count_within_groups(codes, true, predicted, weights, low, width)
        if tables is not None:
            names = np.arange(low, low + width)
            break
    if tables is None:
        names, numbers = number_labels("y_true and y_pred", [true, predicted], texts)
        codes = code_groups(groups)
        tables = _count_within_groups(codes, numbers[0], numbers[1], weights, 0, names.size)
    assert tables is not None
    assert codes is not None
    seen = np.flatnonzero(tables.any(axis=(0, 1)) | tables.any(axis=(0, 2)))
    present = np.asarray(tables.any(axis=(1, 2)))
    if weights is not None:
        present[codes.block(slice(None))[weights == 0]] = True
    occurring = np.flatnonzero(present)
    distinct = as_label_dtype(names[seen], *dtypes) if texts is None else texts[names[seen]]
    tables = tables[occurring]
    if seen.size < tables.shape[1]:
        tables = tables[:, seen[:, None], seen]
    return codes.keys(occurring), tables, distinct


def _code_integer_groups(groups: NDArray[Any], step: int) -> GroupCodes | None:
    """Return integer keys as distances from a lower bound: the lowest key, or a value below the lowest sampled key.

    A `step` above 1 samples every `step`-th row. Return None unless keys are integers close to each other.
    """
    if isinstance(groups, TextLabels):
        return code_groups(groups)
    dtype = groups.dtype.newbyteorder("=")
    integers = groups.astype(dtype, copy=False).view(INT64) if dtype.kind in "mM" else groups
    if integers.dtype.kind not in "iub":
        return None
    low, width = label_range([integers[::step]])
    if max(-low, low + width) > FAR_LABEL or width > max(NARROW, integers.size):
        return None
    pad = (width - 1) // PAD + 1 if step > 1 else 0
    first = max(low - pad, 0) if integers.dtype.kind == "u" else low - pad
    return GroupCodes(low + width + pad - first, first, integers, None, dtype)


def _count_within_groups(
    codes: GroupCodes, true: NDArray[Any], predicted: NDArray[Any], weights: Weights, low: int, width: int
) -> NDArray[Any] | None:
    """Count label pairs in one table per code; return None if a row is outside the tables."""
    check_group_cells("groups", codes.width, width)
    n, n_cells = true.size, codes.width * width * width
    lane = n_cells if n_cells <= LANE_CELLS else 0
    n_parts = min(max(n // max(ROWS_PER_CELL * n_cells, FEWEST_ROWS), 1), MAX_PARTS)
    edges = [n * i // n_parts for i in range(n_parts + 1)]
    # Counts have 32 bits, because tables of many groups exceed the nearest caches.
    tables: NDArray[Any] = np.zeros((n_parts, n_cells + lane), dtype=np.int32 if weights is None else np.float64)
    first = int(np.array(codes.low or 0).astype(INT64))  # as in the rows: values past 2**63 are negative

    def count(i: int) -> int:
        outside = 0
        for block in blocks(slice(edges[i], edges[i + 1])):
            rows = (plain_block(each[block], INT64) for each in (codes.values, true, predicted))
            block_weights = None if weights is None else weights[block]
            outside += count_groups(*rows, block_weights, first, codes.width, low, width, lane, tables[i])
        return outside

    if sum(run(count, range(n_parts), compiles=(count_groups, weights is None))):
        return None
    total = tables.sum(axis=0, dtype=np.int64 if weights is None else np.float64)
    if lane:
        total = total[:lane] + total[lane:]
    return np.asarray(total.reshape(codes.width, width, width))


# Keys of groups -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class GroupCodes:
    """One code per row, below `width`. Codes are ordered like the groups' keys; some codes may not occur.

    Attributes
    ----------
    width : int
        One more than the highest code.
    low : int or None
        The lowest key, if codes are distances from it. None if codes index `distinct`.
    values : ndarray of shape (n_rows,)
        The keys as integers, or the codes.
    distinct : ndarray or None
        The groups' keys.
    dtype : dtype
        The user's dtype of the keys.
    """

    width: int
    low: int | None
    values: NDArray[Any]
    distinct: NDArray[Any] | None
    dtype: np.dtype[Any]

    def block(self, rows: slice) -> Codes:
        """Return the codes of a block of rows."""
        block = self.values[rows]
        if self.low is None:
            return plain_block(block, np.dtype(np.uint32))
        if block.dtype.itemsize == 8:
            return np.asarray(block - block.dtype.type(self.low), dtype=np.uint32)
        return (block.astype(np.int64) - self.low).astype(np.uint32)

    def keys(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the keys for codes."""
        if self.distinct is not None:
            return np.asarray(self.distinct[codes])
        assert self.low is not None
        integers = np.uint64 if self.dtype.kind == "u" else np.int64
        values = codes.astype(integers) + integers(self.low)
        return values.view(self.dtype) if self.dtype.kind in "mM" else values.astype(self.dtype)


def code_groups(groups: NDArray[Any]) -> GroupCodes:
    """Number the groups of rows: by distance from the lowest key if keys are close integers, else by the key's rank."""
    _check_group_rows("groups", groups.size)
    if isinstance(groups, TextLabels):
        return GroupCodes(groups.names.size, None, groups.codes, groups.names, groups.dtype)
    dtype, integers = groups.dtype.newbyteorder("="), groups
    if dtype.kind in "mM":
        integers = groups.astype(dtype, copy=False).view(np.int64)
    elif dtype.kind == "b":
        integers = groups.view(np.uint8)
    if integers.dtype.kind in "iu":
        low, width = label_range([integers])
        if width <= max(NARROW, integers.size):
            return GroupCodes(width, low, integers, None, dtype)
        return _code_by_hash(
            plain_block(integers, np.dtype(np.int64 if integers.dtype.kind == "i" else np.uint64)), dtype
        )
    if dtype.itemsize > 8:
        distinct, codes = np.unique(groups, return_inverse=True)
        return GroupCodes(distinct.size, None, codes.astype(np.uint32), distinct + dtype.type(0), dtype)
    return _code_by_hash(groups.astype(np.float64) + 0.0, dtype)  # -0.0 is 0.0


def _code_by_hash(keys: NDArray[Any], dtype: np.dtype[Any]) -> GroupCodes:
    """Number 64-bit keys by a hash of their bits, then renumber in ascending order of the keys."""
    values, (codes,) = number_values([keys.view(np.int64)])
    distinct, place = in_order(values.view(keys.dtype))
    distinct = distinct.view(dtype) if dtype.kind in "mM" else distinct.astype(dtype, copy=False)
    return GroupCodes(distinct.size, None, place.astype(np.uint32)[codes], distinct, dtype)


def _check_group_rows(name: str, n: int) -> None:
    """Raise if there are more rows than can be grouped."""
    if n > MOST_ROWS:
        raise ValueError(f"{name} must have at most 2**31 - 1 rows to be grouped, got {n}")


def spans(starts: NDArray[np.int64], task: int | None = None) -> list[tuple[int, int]]:
    """Cut groups (starts[g] is where g starts) into spans with similar numbers of rows and groups."""
    task = ROWS_PER_TASK if task is None else task
    work = starts + np.arange(starts.size)  # groups without rows take some work, too
    ends = np.searchsorted(work, np.arange(task, work[-1], task), side="left")
    edges = sorted_unique(np.concatenate(([0], ends, [starts.size - 1]))).tolist()
    return list(pairwise(edges))
