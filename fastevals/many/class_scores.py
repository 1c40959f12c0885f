"""Scores of several classes; metrics of each class against the rest and of each pair of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastevals._execution import chunks, num_threads, run
from fastevals._kernels.classes import (
    add_by_class,
    add_weighted_by_class,
    copy_columns,
    divide_by_pairs,
    keys_of_class,
    sum_above,
)
from fastevals._kernels.placements import index_keys, place_rows
from fastevals._kernels.sorting import sort_keys
from fastevals._memory import lend
from fastevals._options import listed, show
from fastevals._validation.arrays import (
    EXACT_INTEGER,
    as_array,
    as_weights,
    check_same_length,
    power_of_two,
    raise_not_finite,
)
from fastevals._validation.labels import (
    as_class_names,
    as_class_numbers,
    as_labels,
    check_class_sizes,
    check_comparable_labels,
    check_known_labels,
)
from fastevals._validation.text import is_text
from fastevals.counting.labels import number_labels, rows_by_code
from fastevals.counting.ordering import CLASS_ROWS, STRETCH_ROWS, Codec, KeyIndex, codec_for, plain_block, sorting_space
from fastevals.many.columns import Flags, ScoreColumns, batch_values
from fastevals.measure.metric_specs import MetricSpec, ranking_metric

R = TypeVar("R")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BYTE_CLASSES = 1 << 8  # classes whose numbers fit into one byte; a stable sort of bytes is a radix sort in one pass
ROWS_PER_TILE = 1 << 11  # rows copied at a time, while the scores of all classes are in cache
MANY = 64  # number of classes from which AUCs are computed from pairs of classes
SMALL_CELLS = 1 << 16  # scores that one thread handles in less than a millisecond


@dataclass(slots=True, eq=False)
class ClassScores:
    """One column of scores per class, and the rows of each class.

    Attributes
    ----------
    columns : ndarray of shape (n_classes, n_samples)
        Finite scores of some real dtype.
    weights : ndarray of float64 of shape (n_samples,), or None
        Row weights, none zero.
    codes : ndarray of uint8 or uint16 of shape (n_samples,), or None
        The class number of each row, if rows have one label.
    indicator : ndarray of uint8 of shape (n_classes, n_samples), or None
        1 where a row has a class, if rows may have many labels.
    row_sums : tuple of float
        Lowest and highest sum of a row's scores; if rows have one label, rows of weight zero are included.
    n_positives : ndarray of int64 of shape (n_classes,)
        Rows of each class.
    doubled : ndarray of int64 of shape (n_classes, n_classes), or None
        The result of `doubled_pairs`, once it has been computed.
    """

    columns: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[Any] | None
    indicator: Flags | None
    row_sums: tuple[float, float]
    n_positives: NDArray[np.int64] = field(init=False)
    doubled: NDArray[np.int64] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.indicator is not None:
            self.n_positives = np.asarray(self.indicator.sum(axis=1, dtype=np.int64))
            return
        codes, n_classes = self.codes, len(self.columns)
        assert codes is not None
        parts = chunks(codes.size)
        self.n_positives = np.sum(run(lambda part: np.bincount(codes[part], minlength=n_classes), parts), axis=0)

    def flags(self, k: int) -> Flags:
        """Return 1 for the rows of class k, 0 for others."""
        if self.indicator is not None:
            row: Flags = self.indicator[k]
            return row
        assert self.codes is not None
        flags: Flags = lend(self.codes.size, np.uint8)
        np.equal(self.codes, k, out=flags.view(np.bool_))
        return flags

    def by_class(self) -> ScoreColumns:
        """Return the columns of scores, each of which ranks one class against the rest."""
        names = [f"y_score[:, {k}]" for k in range(len(self.columns))]
        weights = self.weights
        return ScoreColumns(list(self.columns), self.flags, names, None if weights is None else lambda k: weights)

    def all_together(self) -> tuple[Flags, NDArray[Any], NDArray[np.float64] | None]:
        """Return flags, scores and weights of all classes, concatenated."""
        k = len(self.columns)
        weights = None if self.weights is None else np.tile(self.weights, k)
        return np.concatenate([self.flags(i) for i in range(k)]), self.columns.ravel(), weights

    def support(self) -> NDArray[Any]:
        """Return the total row weight of each class."""
        weights = self.weights
        if weights is None:
            return self.n_positives
        return np.array([weights[self.flags(k).view(np.bool_)].sum() for k in range(len(self.columns))])


def read_class_scores(
    y_true: ArrayLike, y_score: ArrayLike, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], ClassScores]:
    """Check the arrays and copy them by class; return the labels and the scores."""
    scores = _as_score_matrix("y_score", y_score)
    rows = _as_class_rows("y_true", y_true, scores)
    kept = weights = None
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=rows, sample_weight=weights)
        if not weights.all():
            _raise_not_finite_column("y_score", scores)  # before rows are dropped
            kept = np.flatnonzero(weights)
            weights = weights[kept]
    if rows.ndim == 2:
        names = as_class_names("labels", labels, scores.shape[1])
        columns, row_sums = _by_column(scores, kept)
        return names, ClassScores(columns, weights, None, _by_column(rows.view(np.uint8), kept)[0], row_sums)
    names, codes = number_classes(rows, labels, scores.shape[1])
    if kept is not None:
        codes = codes[kept]
    columns, row_sums = _by_column(scores, kept)
    return names, ClassScores(columns, weights, codes, None, row_sums if kept is None else _extreme_row_sums(scores))


def number_classes(values: NDArray[Any], labels: ArrayLike | None, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of the columns, and the class number of each row."""
    rows = as_labels("y_true", values)
    given = as_class_names("labels", labels, None)
    if given is not None:
        check_comparable_labels(y_true=rows, labels=given)
    text = is_text(rows)
    distinct, (codes,) = number_labels("y_true", [rows if text else as_class_numbers("y_true", rows)])
    distinct = distinct if text else distinct.astype(rows.dtype.newbyteorder("="))
    class_labels = distinct if given is None else given
    _check_class_columns(class_labels, n_columns, given is not None)
    dtype = np.uint8 if class_labels.size <= BYTE_CLASSES else np.uint16
    if given is None:
        return distinct, codes.astype(dtype, copy=False)
    return given, check_known_labels(distinct, given).astype(dtype)[codes]


def _by_column(matrix: NDArray[Any], kept: NDArray[np.intp] | None) -> tuple[NDArray[Any], tuple[float, float]]:
    """Copy all or some rows of a matrix, column by column; raise if a value is not finite.

    Also returns the lowest and the highest row sum.
    """
    n = matrix.shape[0] if kept is None else kept.size
    out = lend(n * matrix.shape[1], matrix.dtype.newbyteorder("=")).reshape(matrix.shape[1], n)
    parts = chunks(n)
    contiguous = matrix.flags.c_contiguous and matrix.flags.aligned  # otherwise `take` copies the whole matrix

    plain = contiguous and matrix.dtype == np.float64

    def copy(part: slice) -> tuple[float, float]:
        lowest, highest = math.inf, -math.inf
        for start in range(part.start, part.stop, ROWS_PER_TILE):
            tile = slice(start, min(start + ROWS_PER_TILE, part.stop))
            if kept is not None and contiguous:
                rows = matrix.take(kept[tile], axis=0)
            else:
                rows = matrix[tile if kept is None else kept[tile]]
            if plain:
                low, high = copy_columns(plain_block(rows, out.dtype), start, out)
            else:
                low, high = _extreme_row_sums(rows)
                out[:, tile] = rows.T
            lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)  # NaN if either is
        return lowest, highest

    bounds = np.array(run(copy, parts, compiles=copy_columns if plain else None)).reshape(-1, 2)
    row_sums = float(bounds[:, 0].min(initial=math.inf)), float(bounds[:, 1].max(initial=-math.inf))
    if not all(map(math.isfinite, row_sums)):
        _raise_not_finite_column("y_score", matrix)  # if all values are finite, sums have overflowed
    return out, row_sums


def _extreme_row_sums(matrix: NDArray[Any]) -> tuple[float, float]:
    """Return the lowest and the highest row sum; NaN if any is NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, dtype=np.float64)
    return float(sums.min()), float(sums.max())


def class_metric(scores: ClassScores, metric: str, **options: object) -> Floats:
    """Return a metric of each class against the rest."""
    from_pairs = metric == "roc_auc" and not options and scores.codes is not None and scores.weights is None
    # With many classes, placing rows among the sorted rows of each class is faster than sorting all rows per class.
    if from_pairs and (scores.doubled is not None or len(scores.columns) >= MANY):
        return aucs_by_class(doubled_pairs(scores), scores.n_positives)
    ranked = ranking_metric(MetricSpec(metric, options))
    with _threads_for(scores):
        values: Floats = batch_values(scores.by_class(), [ranked])[0]
    return values


def _threads_for(scores: ClassScores) -> AbstractContextManager[None]:
    """Return a context that allows only one thread if the work takes less time than starting another thread."""
    return num_threads(1) if scores.columns.size < SMALL_CELLS else nullcontext()


def _run_if_large(
    scores: ClassScores, task: Callable[[Any], R], items: Sequence[Any], *, compiles: Hashable
) -> list[R]:
    """Call `run`, or stay in this thread if the work takes less time than starting another thread."""
    return run(task, items, compiles=compiles) if scores.columns.size >= SMALL_CELLS else list(map(task, items))


def aucs_by_class(doubled: Ints, sizes: Ints) -> Floats:
    """Return each class's AUC against the rest, from doubled numbers of pairs ranked right and sizes of classes."""
    rows = sizes if sizes.sum() < CLASS_ROWS else sizes.astype(object)  # products may exceed 2**63
    return _ratio(doubled.sum(axis=1, dtype=rows.dtype), rows * (rows.sum() - rows))


def _ratio(doubled: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    """Return doubled / (2 pairs), rounded once; NaN where there are no pairs."""
    if 2 * int(pairs.max()) <= EXACT_INTEGER:
        return np.asarray(np.divide(doubled, 2 * pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0))
    both = zip(doubled.ravel().tolist(), pairs.ravel().tolist(), strict=True)
    return np.array([a / (2 * b) if b else np.nan for a, b in both]).reshape(pairs.shape)


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


# Checks ---------------------------------------------------------------------------------------------------------------
def _as_score_matrix(name: str, values: Any) -> NDArray[Any]:
    """Return scores as an array of shape (n_samples, n_classes) of some real dtype, without checking the values."""
    array = as_array(name, values)
    if array.ndim != 2:
        hint = "; for scores of the positive class alone, use Ranking" if array.ndim == 1 else ""
        raise ValueError(f"{name} must be 2-D, with a column for each class, got shape {array.shape}{hint}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: it must have at least one row and one column, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype} (first value {show(array[0, 0])})")
    return array


def _as_class_rows(name: str, values: Any, scores: NDArray[Any]) -> NDArray[Any]:
    """Return one label per row as a 1-D array, or the indicator of each row's labels as a 2-D boolean array."""
    array = as_array(name, values)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must be 1-D, labels, or 2-D, an indicator matrix, got shape {array.shape}")
    if array.shape[0] != scores.shape[0]:
        raise ValueError(f"y_score has {scores.shape[0]} rows, but {name} has {array.shape[0]}")
    if array.ndim == 1:
        return array
    if array.shape != scores.shape:
        raise ValueError(f"{name} must have y_score's shape {scores.shape} where it is 2-D, got {array.shape}")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold 0 and 1 where it is 2-D, got dtype {array.dtype}")
    flags: NDArray[np.bool_] = array != 0
    odd = flags & (array != 1)
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise ValueError(
            f"{name} must hold 0 and 1 where it is 2-D, got {show(array[row, column])} at row {row}, column {column}"
        )
    return flags


def _check_class_columns(labels: NDArray[Any], n_columns: int, given: bool) -> None:
    """Raise unless there are two columns or more, one for each label."""
    if n_columns < 2:
        raise ValueError("y_score must have two columns or more where y_true is 1-D, got 1")
    if labels.size != n_columns:
        raise ValueError(
            f"y_score has {n_columns} columns, but {'labels' if given else 'y_true'} has {labels.size} "
            f"label{'s' * (labels.size != 1)}: {listed(list(labels))}"
            + ("" if given else "; pass labels=, the columns' labels in order")
        )


def _raise_not_finite_column(name: str, array: NDArray[Any]) -> None:
    """Raise for the first column with NaN or infinite values; say which, how many, and where the first one is."""
    finite = np.isfinite(array).all(axis=0)
    if not finite.all():
        column = int(np.argmin(finite))
        raise_not_finite(f"{name}[:, {column}]", array[:, column])
