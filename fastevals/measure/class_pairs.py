"""AUCs of each class against the rest and of each pair of classes, from counts of pairs ranked right."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastevals._execution import chunks, run
from fastevals._kernels.classes import (
    add_by_class,
    add_weighted_by_class,
    divide_by_pairs,
    keys_of_class,
    sum_above,
)
from fastevals._kernels.placements import index_keys, place_rows, sum_placements, tabulate_placements
from fastevals._kernels.sorting import sort_keys
from fastevals._validation.arrays import EXACT_INTEGER, power_of_two
from fastevals._validation.labels import check_class_sizes
from fastevals.counting.labels import rows_by_code
from fastevals.counting.ordering import CLASS_ROWS, STRETCH_ROWS, Codec, KeyIndex, codec_for, sorting_space
from fastevals.measure.class_scores import ClassScores

R = TypeVar("R")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL_CELLS = 1 << 16  # scores that one thread handles in less than a millisecond


def _run_if_large(
    scores: ClassScores, task: Callable[[Any], R], items: Sequence[Any], *, compiles: Hashable
) -> list[R]:
    """Call `run`, or stay in this thread if the work takes less time than starting another thread."""
    return run(task, items, compiles=compiles) if scores.columns.size >= SMALL_CELLS else list(map(task, items))


def aucs_by_class(doubled: Ints, sizes: Ints) -> Floats:
    """Return each class's AUC against the rest, from doubled numbers of pairs ranked right and sizes of classes.

    The numbers are of each class, or of each pair of classes.
    """
    rows = sizes if sizes.sum() < CLASS_ROWS else sizes.astype(object)  # products may exceed 2**63
    right = doubled.sum(axis=1, dtype=rows.dtype) if doubled.ndim == 2 else doubled
    return _ratio(right, rows * (rows.sum() - rows))


def _ratio(doubled: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    """Return doubled / (2 pairs), rounded once; NaN where there are no pairs."""
    if 2 * int(pairs.max()) <= EXACT_INTEGER:
        return np.asarray(np.divide(doubled, 2 * pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0))
    both = zip(doubled.ravel().tolist(), pairs.ravel().tolist(), strict=True)
    return np.array([a / (2 * b) if b else np.nan for a, b in both]).reshape(pairs.shape)


def hand_till(aucs: NDArray[Any]) -> Floats:
    """Return the mean over pairs of classes j, k of (A(j | k) + A(k | j)) / 2, Hand and Till's M.

    A(j | k) is the chance that the score of class j is higher for a row of class j than for a row of class k. (Hand and
    Till 2001, doi:10.1023/A:1010920819831.)
    """
    return np.asarray(means_of_pairs(aucs).mean(axis=-1))


def means_of_pairs(aucs: NDArray[Any]) -> Floats:
    """Return (A(j | k) + A(k | j)) / 2 for each pair j < k, of shape (..., K * (K - 1) / 2)."""
    first, second = np.triu_indices(aucs.shape[-1], 1)
    return np.asarray((aucs[..., first, second] + aucs[..., second, first]) / 2)


def ratios_of_pairs(doubled: NDArray[Any], sizes: NDArray[Any]) -> Floats:
    """Return A(j | k) of replicates, from doubled sums of pairs ranked right and sums of classes; NaN without pairs."""
    pairs = 2.0 * sizes[..., :, None] * sizes[..., None, :]
    aucs: Floats = np.divide(doubled, pairs, out=np.full(doubled.shape, np.nan), where=pairs > 0)
    diagonal = np.arange(sizes.shape[-1])
    aucs[..., diagonal, diagonal] = np.nan
    return aucs


def pair_aucs(scores: ClassScores) -> Floats:
    """Return A(j | k), the chance that column j scores a row of class j above a row of class k."""
    sizes = scores.n_positives
    if scores.weights is not None:
        return _weighted_pair_aucs(scores)
    return _ratio(doubled_pairs(scores), np.outer(sizes, sizes) * ~np.eye(sizes.size, dtype=np.bool_))


# Every row is placed among the sorted scores of class j: one sort per class and one look-up per row, instead of one
# sort per pair --------------------------------------------------------------------------------------------------------
def doubled_pairs(scores: ClassScores) -> Ints:
    """Count the pairs of rows of classes j and k that column j ranks correctly: a pair counts two, a tie one.

    Returns an array of shape (n_classes, n_classes), 0 where j = k or a class has no rows.
    """
    if scores.doubled is None:
        scores.doubled = _doubled_pairs(scores)
    return scores.doubled


def _doubled_pairs(scores: ClassScores) -> Ints:
    codes, sizes = scores.codes, scores.n_positives
    assert codes is not None
    check_class_sizes("y_true", CLASS_ROWS, int(sizes.max()))

    def sort(j: int, codec: Codec, column: NDArray[Any]) -> NDArray[np.uint64]:
        keys = np.empty(sizes[j] + 1, dtype=np.uint64)
        keys_of_class(codec.bits(column), codes, j, codec.flip_below, codec.flip, keys)
        keys = keys[:-1]
        sort_keys(keys, *sorting_space(keys.size))
        return keys

    def add(j: int, placements: NDArray[np.int32], block: slice, sums: Ints) -> None:
        add_by_class(placements, codes[block], sums)

    by_class = _sum_over_rows(scores, sort, add, np.int64, compiles=(keys_of_class, add_by_class))
    doubled = np.zeros((sizes.size, sizes.size), dtype=np.int64)
    for j, sums in by_class.items():
        doubled[j] = sums.sum(axis=(0, 2))
    # A placement is twice the number of rows of class j below another row, where a tie counts half.
    right = 2 * np.outer(sizes, sizes) - doubled
    np.fill_diagonal(right, 0)
    return right


# If classes are few rows of many, most scores lie between the class's own scores, in cells of a table that tells their
# placement: one look-up per row. The few others are placed one by one.
TABLE_CELLS = 1 << 12  # 16 kB, half of the nearest cache
CELLS_A_KEY = 8  # with fewer cells per row of the class, most cells have keys


def doubled_against_rest(scores: ClassScores) -> Ints:
    """Count, for each class, the pairs with rows of all other classes that its column ranks correctly, doubled."""
    if scores.doubled is not None:
        return np.asarray(scores.doubled.sum(axis=1))
    sizes = scores.n_positives
    if CELLS_A_KEY * int(sizes.max()) > TABLE_CELLS:
        return np.asarray(doubled_pairs(scores).sum(axis=1))
    columns, codes = scores.columns, scores.codes
    assert codes is not None
    rows = rows_by_code(codes, sizes.size)

    def count(j: int) -> int:
        codec, column = codec_for(columns[j])
        keys = np.sort(codec.encode(column[rows[j]]))
        span = int(keys[-1] - keys[0])
        shift = np.uint64(max(span.bit_length() - (TABLE_CELLS.bit_length() - 1), 0))
        table = np.empty((span >> int(shift)) + 3, dtype=np.int32)
        tabulate_placements(keys, shift, table)
        index, total = KeyIndex.build(keys), 0
        kept = np.empty(min(STRETCH_ROWS, column.size) + 1, dtype=np.uint64)
        placements = np.empty(kept.size, dtype=np.int32)
        for start in range(0, column.size, STRETCH_ROWS):
            bits = codec.bits(column[start : start + STRETCH_ROWS])
            known, n = sum_placements(bits, codec.flip_below, codec.flip, keys[0], keys[-1], shift, table, kept)
            place_rows(kept[:n].view(np.int64), np.int64(0), np.int64(0), *index, placements)
            total += int(known) + int(placements[:n].sum(dtype=np.int64))
        n_own = keys.size
        return 2 * n_own * (column.size - n_own) - (total - n_own * n_own)  # own rows have n_own ** 2 in sum

    present = np.flatnonzero(sizes).tolist()
    found = _run_if_large(scores, count, present, compiles=(sum_placements, place_rows, columns.dtype))
    doubled = np.zeros(sizes.size, dtype=np.int64)
    doubled[present] = found
    return doubled


def _weighted_pair_aucs(scores: ClassScores) -> Floats:
    """Return A(j | k) for weighted rows: sums are pairs of floats, and each ratio is rounded once."""
    codes, sizes = scores.codes, scores.n_positives
    assert codes is not None
    assert scores.weights is not None
    check_class_sizes("y_true", CLASS_ROWS, int(sizes.max()))
    rows = rows_by_code(codes, sizes.size)
    # Each class's weights are scaled by a unit, which cancels out, so that no product overflows or vanishes.
    units = np.array([power_of_two(total) for total in scores.support().tolist()])
    weights = scores.weights * units[codes]
    totals, above = np.zeros((sizes.size, 2)), [np.empty((2 * n + 1, 2)) for n in sizes.tolist()]

    def sort(j: int, codec: Codec, column: NDArray[Any]) -> NDArray[np.uint64]:
        keys = codec.encode(column[rows[j]])
        order = np.argsort(keys)
        keys = keys[order]
        sum_above(keys, weights[rows[j][order]], above[j])
        totals[j] = above[j][0] / 2
        return keys

    def add(j: int, placements: NDArray[np.int32], block: slice, sums: Floats) -> None:
        add_weighted_by_class(placements, codes[block], weights[block], above[j], sums)

    by_class = _sum_over_rows(scores, sort, add, np.float64, compiles=(sum_above, add_weighted_by_class))
    aucs = np.full((sizes.size, sizes.size), np.nan)
    for j, sums in by_class.items():
        divide_by_pairs(sums, totals, j, aucs[j])
    np.fill_diagonal(aucs, np.nan)
    return aucs


def _sum_over_rows(
    scores: ClassScores,
    sort: Callable[[int, Codec, NDArray[Any]], NDArray[np.uint64]],
    add: Callable[[int, NDArray[np.int32], slice, NDArray[Any]], None],
    dtype: DTypeLike,
    compiles: Hashable,
) -> dict[int, NDArray[Any]]:
    """Place all rows among the sorted keys of each class that has rows; add up the results by the classes of the rows.

    Returns sums of shape (n_parts, n_classes, 2) for each class.
    """
    columns, codes = scores.columns, scores.codes
    assert codes is not None

    def index(j: int) -> tuple[Codec, NDArray[Any], KeyIndex]:
        codec, column = codec_for(columns[j])
        return codec, column, KeyIndex.build(sort(j, codec, column))

    def place(task: tuple[int, slice]) -> NDArray[Any]:
        j, part = task
        codec, column, index = indices[j]
        sums = np.zeros((len(columns), 2), dtype=dtype)
        placements = np.empty(min(STRETCH_ROWS, part.stop - part.start), dtype=np.int32)
        for start in range(part.start, part.stop, STRETCH_ROWS):
            block = slice(start, min(start + STRETCH_ROWS, part.stop))
            place_rows(codec.bits(column[block]), codec.flip_below, codec.flip, *index, placements)
            add(j, placements, block, sums)
        return sums

    present, parts = np.flatnonzero(scores.n_positives).tolist(), chunks(codes.size)
    compiled = compiles, columns.dtype
    indices = dict(zip(present, _run_if_large(scores, index, present, compiles=(index_keys, compiled)), strict=True))
    tasks = [(j, part) for j in present for part in parts]
    placed = _run_if_large(scores, place, tasks, compiles=(place_rows, compiled))
    sums = np.array(placed).reshape(len(present), len(parts), len(columns), 2)
    return dict(zip(present, sums, strict=True))
