"""Scores of several classes: one column of scores per class, checked and copied by class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import chunks, run
from fastevals._kernels.classes import copy_columns
from fastevals._memory import lend
from fastevals._options import listed, row_at, show
from fastevals._validation.arrays import (
    as_array,
    as_scores,
    as_weights,
    check_same_length,
    frame_names,
    holds_lists,
    is_frame,
    raise_not_finite,
    usual_unit,
)
from fastevals._validation.class_order import order_of_columns, without_ends
from fastevals._validation.labels import (
    as_class_names,
    as_class_numbers,
    as_labels,
    check_comparable_labels,
    check_known_labels,
)
from fastevals._validation.text import is_text
from fastevals.counting.labels import number_labels
from fastevals.counting.ordering import plain_block

Flags = NDArray[np.uint8]

SUM_TOLERANCE = 1e-5  # of the sum of a row's probabilities; with fewer digits, the dtype's precision
BYTE_CLASSES = 1 << 8  # classes whose numbers fit into one byte; a stable sort of bytes is a radix sort in one pass
MANY_VALUES = 1 << 24  # float32 values, above which a kernel for them is worth compiling
ROWS_PER_TILE = 1 << 11  # rows copied at a time, while the scores of all classes are in cache


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
    kept : ndarray of intp of shape (n_samples,), or None
        The number of each row among all rows, if rows of weight zero were left out.
    n_given : int
        If rows of weight zero were left out, the number of all rows.
    n_positives : ndarray of int64 of shape (n_classes,)
        Rows of each class.
    doubled : ndarray of int64 of shape (n_classes, n_classes), or None
        The result of `doubled_pairs`, once it has been computed.
    are_probabilities : bool
        Whether `require_probabilities` has found no fault.
    """

    columns: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[Any] | None
    indicator: Flags | None
    row_sums: tuple[float, float]
    kept: NDArray[np.intp] | None = None
    n_given: int = 0
    n_positives: NDArray[np.int64] = field(init=False)
    doubled: NDArray[np.int64] | None = field(default=None, init=False)
    are_probabilities: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.indicator is not None:
            self.n_positives = np.asarray(self.indicator.sum(axis=1, dtype=np.int64))
            return
        codes, n_classes = self.codes, len(self.columns)
        assert codes is not None
        parts = chunks(codes.size)
        self.n_positives = np.sum(run(lambda part: np.bincount(codes[part], minlength=n_classes), parts), axis=0)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self.columns.shape[1])

    def followed_by(self, other: ClassScores) -> ClassScores:
        """Return the rows of these scores, followed by the rows of others; no rows may have weights or many labels."""
        assert self.codes is not None
        assert other.codes is not None
        columns = np.concatenate((self.columns, other.columns), axis=1)
        sums = min(self.row_sums[0], other.row_sums[0]), max(self.row_sums[1], other.row_sums[1])
        return ClassScores(columns, None, np.concatenate((self.codes, other.codes)), None, sums)

    def repeated(self, copies: NDArray[np.int64]) -> ClassScores:
        """Return the rows of these scores, each as often as it has copies; rows may not have weights."""
        indicator = None if self.indicator is None else self.indicator.repeat(copies, axis=1)
        codes = None if self.codes is None else self.codes.repeat(copies)
        return ClassScores(self.columns.repeat(copies, axis=1), None, codes, indicator, self.row_sums)

    def kept_groups(self, groups: NDArray[Any]) -> NDArray[Any]:
        """Return the groups of rows with weight above zero, given the groups of all rows."""
        n = self.n_given or self.n_rows
        if groups.size != n:
            raise ValueError(f"groups has {groups.size} rows, but y_true has {n}")
        return groups if self.kept is None else groups[self.kept]

    def in_usual_unit(self) -> ClassScores:
        """Return these scores with weights whose products neither overflow nor underflow; ratios of sums are equal."""
        unit = 1.0 if self.weights is None else usual_unit(self.weights)
        if self.weights is None or unit == 1:
            return self
        return replace(self, weights=np.maximum(self.weights * unit, np.finfo(np.float64).smallest_subnormal))

    def flags(self, k: int) -> Flags:
        """Return 1 for the rows of class k, 0 for others."""
        if self.indicator is not None:
            row: Flags = self.indicator[k]
            return row
        assert self.codes is not None
        flags: Flags = lend(self.codes.size, np.uint8)
        np.equal(self.codes, k, out=flags.view(np.bool_))
        return flags

    def all_together(self) -> tuple[Flags, NDArray[Any], NDArray[np.float64] | None]:
        """Return flags, scores and weights of all classes, concatenated."""
        k = len(self.columns)
        weights = None if self.weights is None else np.tile(self.weights, k)
        return np.concatenate([self.flags(i) for i in range(k)]), self.columns.ravel(), weights

    def require_probabilities(self, name: str) -> None:
        """Raise unless scores are probabilities, which add up to 1 in each row that has one label."""
        if self.are_probabilities:
            return
        check_unit_range([name] * len(self.columns), self.columns, row=self._row_at)
        tolerance = sum_tolerance(self.columns.dtype)
        if self.indicator is None and not all(abs(each - 1) <= tolerance for each in self.row_sums):
            check_row_sums(name, self.columns.sum(axis=0, dtype=np.float64), tolerance, row=self._row_at)
            total = max(self.row_sums, key=lambda each: abs(each - 1))
            raise ValueError(f"{name} must have rows that add up to 1, got the sum {show(total)} in a row of weight 0")
        self.are_probabilities = True

    def _row_at(self, row: int) -> str:
        """Return the name of a row in messages."""
        return row_at(row if self.kept is None else self.kept[row])

    def support(self) -> NDArray[Any]:
        """Return the total row weight of each class."""
        weights = self.weights
        if weights is None:
            return self.n_positives
        return np.array([weights[self.flags(k).view(np.bool_)].sum() for k in range(len(self.columns))])


class BaseClassRankings:
    """Base of `ClassRankings`: the labels of the classes, and their scores."""

    __slots__ = ("_labels", "_scores")

    _labels: NDArray[Any]
    _scores: ClassScores


def sum_tolerance(*dtypes: np.dtype[Any]) -> float:
    """Return how far the sum of a row's probabilities of these types may be from 1."""
    return max(SUM_TOLERANCE, *(float(np.finfo(each).eps) for each in dtypes if each.kind == "f"), 0.0)


def read_class_scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    name: str = "y_score",
) -> tuple[NDArray[Any], ClassScores]:
    """Check the arrays and copy them by class; return the labels and the scores, which errors call `name`."""
    scores = as_score_matrix(name, y_score)
    rows = _as_class_rows("y_true", y_true, scores, name)
    kept = weights = None
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=rows, sample_weight=weights)
        if not weights.all():
            _raise_not_finite_column(name, scores)  # before rows are dropped
            kept = np.flatnonzero(weights)
            weights = weights[kept]
    if rows.ndim == 2:
        names = as_class_names("labels", labels, scores.shape[1])
        order = without_ends(frame_names(y_true)) if is_frame(y_true) else labels
        if order is not None:
            scores = _in_order_of(np.asarray(order).tolist(), scores, y_score, name, labels is not None)
        columns, row_sums = _by_column(scores, kept, name)
        indicator = _by_column(rows.view(np.uint8), kept, name)[0]
        return names, ClassScores(columns, weights, None, indicator, row_sums, kept, len(scores))
    names, codes = number_classes(rows, labels, scores.shape[1], name)
    scores = _in_order_of(names.tolist(), scores, y_score, name, labels is not None)
    if kept is not None:
        codes = codes[kept]
    columns, row_sums = _by_column(scores, kept, name)
    sums = row_sums if kept is None else _extreme_row_sums(scores)
    return names, ClassScores(columns, weights, codes, None, sums, kept, len(scores))


def _in_order_of(labels: list[Any], scores: NDArray[Any], given: Any, name: str, told: bool) -> NDArray[Any]:
    """Return scores with columns in the order of the labels if they came from a frame whose columns name the labels.

    `told` is whether the user gave the labels of the columns.
    """
    order = order_of_columns(name, frame_names(given), labels, are_given=told) if is_frame(given) else []
    return scores if order == sorted(order) else scores[:, order]


def number_classes(
    values: NDArray[Any], labels: ArrayLike | None, n_columns: int, name: str = "y_score"
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of the columns, and the class number of each row."""
    rows = as_labels("y_true", values)
    given = as_class_names("labels", labels, None)
    if given is not None:
        check_comparable_labels(y_true=rows, labels=given)
    text = is_text(rows)
    distinct, (codes,) = number_labels("y_true", [rows if text else as_class_numbers("y_true", rows)])
    distinct = distinct if text else distinct.astype(rows.dtype.newbyteorder("="))
    class_labels = distinct if given is None else given
    _check_class_columns(class_labels, n_columns, given is not None, name)
    dtype = np.uint8 if class_labels.size <= BYTE_CLASSES else np.uint16
    if given is None:
        return distinct, codes.astype(dtype, copy=False)
    return given, check_known_labels(distinct, given).astype(dtype)[codes]


def _by_column(
    matrix: NDArray[Any], kept: NDArray[np.intp] | None, name: str
) -> tuple[NDArray[Any], tuple[float, float]]:
    """Copy all or some rows of a matrix, column by column; raise if a value is not finite.

    Also returns the lowest and the highest row sum.
    """
    n = matrix.shape[0] if kept is None else kept.size
    out = lend(n * matrix.shape[1], matrix.dtype.newbyteorder("=")).reshape(matrix.shape[1], n)
    parts = chunks(n)
    contiguous = matrix.flags.c_contiguous and matrix.flags.aligned  # otherwise `take` copies the whole matrix

    plain = contiguous and (matrix.dtype == np.float64 or (matrix.dtype == np.float32 and matrix.size > MANY_VALUES))

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
        _raise_not_finite_column(name, matrix)  # if all values are finite, sums have overflowed
    return out, row_sums


def _extreme_row_sums(matrix: NDArray[Any]) -> tuple[float, float]:
    """Return the lowest and the highest row sum; NaN if any is NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, dtype=np.float64)
    return float(sums.min()), float(sums.max())


# Checks ---------------------------------------------------------------------------------------------------------------


def check_unit_range(
    titles: Sequence[str],
    columns: Sequence[NDArray[Any]] | NDArray[Any],
    *,
    most: float = 1.0,
    row: Callable[[int], str] = row_at,
) -> None:
    """Raise unless the columns' values are probabilities; with `normalize=`, they may be larger than 1."""
    lowest = [column.min(initial=0) for column in columns]
    highest = [column.max(initial=0) for column in columns]
    if min(lowest) >= 0 and max(highest) <= most:
        return
    is_negative = bool(min(lowest) < 0)
    k = int(np.argmin(lowest) if is_negative else np.argmax(highest))
    place = int(columns[k].argmin() if is_negative else columns[k].argmax())
    raise ValueError(
        f"{titles[k]} must hold probabilities, in [0, 1], got {show(columns[k][place])} at {row(place)}"
        + "; logits become probabilities by a softmax" * is_negative
    )


def check_row_sums(
    name: str,
    sums: NDArray[np.float64],
    tolerance: float,
    *,
    hint: str = "divide each row by its sum",
    row: Callable[[int], str] = row_at,
) -> None:
    """Raise unless the sums of rows' probabilities are 1 up to a tolerance; `hint` says what to do."""
    off = np.abs(sums - 1)
    if off.max(initial=0) <= tolerance:
        return
    place = int(off.argmax())
    raise ValueError(
        f"{name} must have rows that add up to 1, got the sum {sums[place]:.6g} in {row(place)}"
        f" ({np.count_nonzero(off > tolerance):,} of {off.size:,} rows are off by more than {tolerance:.2g}); {hint}"
    )


def as_score_matrix(name: str, values: Any) -> NDArray[Any]:
    """Return scores as an array of shape (n_samples, n_classes) of some real dtype, without checking the values."""
    array = _as_numbers(name, values)
    if array.ndim != 2:
        hint = "; for scores of the positive class alone, use Ranking" if array.ndim == 1 else ""
        raise ValueError(f"{name} must be 2-D, with a column for each class, got shape {array.shape}{hint}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: it must have at least one row and one column, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype} (first value {show(array[0, 0])})")
    return array


def _as_numbers(name: str, values: Any) -> NDArray[Any]:
    """Return an array; the columns of a frame are read one by one if they have types that know missing values."""
    if holds_lists(values):
        from fastevals.reading.model_columns import matrix_of_lists

        return matrix_of_lists(name, values)
    array = as_array(name, values)
    if not is_frame(values) or array.dtype.kind != "O" or array.ndim != 2 or array.shape[1] < 2:
        return array
    return np.column_stack([as_scores(f"{name}[{each!r}]", values[each]) for each in frame_names(values)])


def as_true_rows(name: str, values: Any) -> NDArray[Any]:
    """Return labels, or an indicator matrix; a sparse one of SciPy takes one byte per row and label."""
    if not (hasattr(values, "tocsr") and hasattr(values, "nnz")):
        return _as_numbers(name, values)
    rows = values.tocsr(copy=True)
    rows.sum_duplicates()
    odd = (rows.data != 0) & (rows.data != 1)
    if odd.any():
        place = int(np.argmax(odd))
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise ValueError(
            f"{name} must hold 0 and 1 where it is 2-D, got {show(rows.data[place])} at row {row}, column "
            f"{int(rows.indices[place])}"
        )
    indicator = np.zeros(rows.shape, dtype=np.uint8)
    indicator[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
    return indicator


def _as_class_rows(name: str, values: Any, scores: NDArray[Any], of_scores: str) -> NDArray[Any]:
    """Return one label per row as a 1-D array, or the indicator of each row's labels as a 2-D boolean array."""
    array = as_true_rows(name, values)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must be 1-D, labels, or 2-D, an indicator matrix, got shape {array.shape}")
    if array.shape[0] != scores.shape[0]:
        raise ValueError(f"{of_scores} has {scores.shape[0]} rows, but {name} has {array.shape[0]}")
    if array.ndim == 1:
        return array
    if array.shape != scores.shape:
        raise ValueError(f"{name} must have {of_scores}'s shape {scores.shape} where it is 2-D, got {array.shape}")
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


def _check_class_columns(labels: NDArray[Any], n_columns: int, given: bool, name: str) -> None:
    """Raise unless there are two columns or more, one for each label."""
    if n_columns < 2:
        raise ValueError(f"{name} must have two columns or more where y_true is 1-D, got 1")
    if labels.size != n_columns:
        raise ValueError(
            f"{name} has {n_columns} columns, but {'labels' if given else 'y_true'} has {labels.size} "
            f"label{'s' * (labels.size != 1)}: {listed(list(labels))}"
            + ("" if given else "; pass labels=, the columns' labels in order")
        )


def _raise_not_finite_column(name: str, array: NDArray[Any]) -> None:
    """Raise for the first column with NaN or infinite values; say which, how many, and where the first one is."""
    finite = np.isfinite(array).all(axis=0)
    if not finite.all():
        column = int(np.argmin(finite))
        raise_not_finite(f"{name}[:, {column}]", array[:, column])
