"""Rows counted by group, true and predicted label: a matrix for each group, all in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, run
from fastevals._kernels.groups import count_groups
from fastevals.measure.codec import plain_block
from fastevals.measure.group_codes import NARROW, GroupCodes, group_codes
from fastevals.measure.label_codes import label_range, number_labels
from fastevals.measure.pairs import as_label_dtype

__all__ = ["count_grouped_pairs"]

Weights = NDArray[np.float64] | None

SAMPLE = 1 << 10  # rows that suggest ranges
PAD = 32  # a sample's range is widened by as small a part of it at both ends
WIDE = 64  # labels of a wider range are numbered first
LANES = 1 << 14  # cells of the widest table that is kept twice, so that equal neighbours don't wait for each other
ROWS_PER_CELL = 8  # of each part that has a table of its own
FEWEST = 1 << 14  # rows of a part
MAX_PARTS = 64
FAR = 2**62
INT = np.dtype(np.int64)


def count_grouped_pairs(
    true: NDArray[Any],
    predicted: NDArray[Any],
    groups: NDArray[Any],
    weights: Weights,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count pairs of labels in each group; return the groups' keys, the matrices and their labels.

    Matrices are over all that occur in rows of weight above zero, in order. Groups without such rows have matrices of
    zeros.
    """
    check.check_comparable_labels(y_true=true, y_pred=predicted)
    check.check_group_rows("groups", groups.size)
    dtypes = true.dtype, predicted.dtype
    strings = true.dtype.kind == "U"
    if not strings:
        true, predicted = check.as_class_numbers("y_true", true), check.as_class_numbers("y_pred", predicted)
    found = None
    for step in () if strings else (max(true.size // SAMPLE, 1), 1):
        codes = _group_codes(groups, step)
        low, width = label_range([true[::step], predicted[::step]])
        if codes is None or width > WIDE:
            break
        found = _count(codes, true, predicted, weights, low, width)
        if found is not None:
            names = np.arange(low, low + width)
            break
    if found is None:
        names, numbers = number_labels("y_true and y_pred", [true, predicted])
        codes = group_codes(groups)
        found = _count(codes, numbers[0], numbers[1], weights, 0, names.size)
    assert found is not None
    assert codes is not None
    seen = np.flatnonzero(found.any(axis=(0, 1)) | found.any(axis=(0, 2)))
    present = np.asarray(found.any(axis=(1, 2)))
    if weights is not None:
        present[codes.block(slice(None))[weights == 0]] = True
    there = np.flatnonzero(present)
    distinct = names[seen] if strings else as_label_dtype(names[seen], *dtypes)
    tables = found[there]
    return codes.keys(there), tables if seen.size == tables.shape[1] else tables[:, seen[:, None], seen], distinct


def _group_codes(groups: NDArray[Any], step: int) -> GroupCodes | None:
    """Give integer groups as their distances from below the lowest of each `step`-th row, or from the lowest of all.

    None where they are not integers close together.
    """
    dtype = groups.dtype.newbyteorder("=")
    whole = groups.astype(dtype, copy=False).view(INT) if dtype.kind in "mM" else groups
    if whole.dtype.kind not in "iub":
        return None
    low, width = label_range([whole[::step]])
    if max(-low, low + width) > FAR or width > max(NARROW, whole.size):
        return None
    pad = (width - 1) // PAD + 1 if step > 1 else 0
    first = max(low - pad, 0) if whole.dtype.kind == "u" else low - pad
    return GroupCodes(low + width + pad - first, first, whole, None, dtype)


def _count(
    codes: GroupCodes, true: NDArray[Any], predicted: NDArray[Any], weights: Weights, low: int, width: int
) -> NDArray[Any] | None:
    """Give the tables of all codes, or None if a row is outside of them."""
    check.check_group_cells("groups", codes.width, width)
    n, n_cells = true.size, codes.width * width * width
    lane = n_cells if n_cells <= LANES else 0
    n_parts = min(max(n // max(ROWS_PER_CELL * n_cells, FEWEST), 1), MAX_PARTS)
    edges = [n * i // n_parts for i in range(n_parts + 1)]
    # Narrow counts: of many groups they are past the nearest caches.
    tables: NDArray[Any] = np.zeros((n_parts, n_cells + lane), dtype=np.int32 if weights is None else np.float64)
    first = int(np.array(codes.low or 0).astype(INT))  # rows are given as these, those past 2**63 as negative ones

    def count(i: int) -> int:
        outside = 0
        for block in blocks(slice(edges[i], edges[i + 1])):
            rows = (plain_block(each[block], INT) for each in (codes.values, true, predicted))
            of_rows = None if weights is None else weights[block]
            outside += count_groups(*rows, of_rows, first, codes.width, low, width, lane, tables[i])
        return outside

    if sum(run(count, range(n_parts), compiles=(count_groups, weights is None))):
        return None
    total = tables.sum(axis=0, dtype=np.int64 if weights is None else np.float64)
    if lane:
        total = total[:lane] + total[lane:]
    return np.asarray(total.reshape(codes.width, width, width))
