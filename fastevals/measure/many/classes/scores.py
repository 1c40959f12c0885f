"""Scores by class."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._execution import chunks, run
from fastevals._kernels.classes import copy_columns
from fastevals._memory import lend
from fastevals.measure.codec import plain_block
from fastevals.measure.many.classes.labels import number_classes
from fastevals.measure.many.columns import Columns, Flags

__all__ = ["ClassScores", "class_scores"]

TILE = 1 << 11  # rows copied at a time, while their scores of all classes are in cache


@dataclass(slots=True, eq=False)
class ClassScores:
    """A column of scores for each class, and which rows have it.

    Attributes
    ----------
    columns : ndarray of shape (n_classes, n_samples)
        Finite scores of some real dtype.
    weights : ndarray of float64 of shape (n_samples,), or None
        Row weights, none zero.
    codes : ndarray of uint8 or uint16 of shape (n_samples,), or None
        With one label a row, the number of its class.
    indicator : ndarray of uint8 of shape (n_classes, n_samples), or None
        With many labels a row, 1 where a row has one.
    row_sums : tuple of float
        Bounds of what the scores of a row add up to; with one label a row those of rows of weight zero too.
    n_positives : ndarray of int64 of shape (n_classes,)
        Rows of each class.
    doubled : ndarray of int64 of shape (n_classes, n_classes), or None
        What `doubled_pairs` has counted.
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
        """Give 1 for the rows of class k, 0 for others."""
        if self.indicator is not None:
            row: Flags = self.indicator[k]
            return row
        assert self.codes is not None
        flags: Flags = lend(self.codes.size, np.uint8)
        np.equal(self.codes, k, out=flags.view(np.bool_))
        return flags

    def by_class(self) -> Columns:
        """Give each class against the rest."""
        names = [f"y_score[:, {k}]" for k in range(len(self.columns))]
        weights = self.weights
        return Columns(list(self.columns), self.flags, names, None if weights is None else lambda k: weights)

    def all_together(self) -> tuple[Flags, NDArray[Any], NDArray[np.float64] | None]:
        """Give flags, scores and weights of all classes, one after the other."""
        k = len(self.columns)
        weights = None if self.weights is None else np.tile(self.weights, k)
        return np.concatenate([self.flags(i) for i in range(k)]), self.columns.ravel(), weights

    def support(self) -> NDArray[Any]:
        """Sum the weights of the rows of each class."""
        weights = self.weights
        if weights is None:
            return self.n_positives
        return np.array([weights[self.flags(k).view(np.bool_)].sum() for k in range(len(self.columns))])


def class_scores(
    y_true: ArrayLike, y_score: ArrayLike, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[Any], ClassScores]:
    """Check the arrays, and copy them by class; give the labels too."""
    scores = check.as_score_matrix("y_score", y_score)
    rows = check.as_class_rows("y_true", y_true, scores)
    kept = weights = None
    if sample_weight is not None:
        weights = check.as_weights("sample_weight", sample_weight)
        check.check_same_length(y_true=rows, sample_weight=weights)
        if not weights.all():
            check.raise_not_finite_column("y_score", scores)  # where rows are left out of the copy
            kept = np.flatnonzero(weights)
            weights = weights[kept]
    if rows.ndim == 2:
        names = check.as_class_names("labels", labels, scores.shape[1])
        columns, row_sums = _by_column(scores, kept)
        return names, ClassScores(columns, weights, None, _by_column(rows.view(np.uint8), kept)[0], row_sums)
    names, codes = number_classes(rows, labels, scores.shape[1])
    if kept is not None:
        codes = codes[kept]
    columns, row_sums = _by_column(scores, kept)
    return names, ClassScores(columns, weights, codes, None, row_sums if kept is None else _sums_of_rows(scores))


def _by_column(matrix: NDArray[Any], kept: NDArray[np.intp] | None) -> tuple[NDArray[Any], tuple[float, float]]:
    """Copy a matrix column by column, of all rows or some; raise if a value is not finite.

    Gives bounds of the sums of these rows too.
    """
    n = matrix.shape[0] if kept is None else kept.size
    out = lend(n * matrix.shape[1], matrix.dtype.newbyteorder("=")).reshape(matrix.shape[1], n)
    parts = chunks(n)
    whole = matrix.flags.c_contiguous and matrix.flags.aligned  # else `take` would copy all of it each time

    plain = whole and matrix.dtype == np.float64

    def copy(part: slice) -> tuple[float, float]:
        lowest, highest = math.inf, -math.inf
        for start in range(part.start, part.stop, TILE):
            tile = slice(start, min(start + TILE, part.stop))
            if kept is not None and whole:
                rows = matrix.take(kept[tile], axis=0)
            else:
                rows = matrix[tile if kept is None else kept[tile]]
            if plain:
                low, high = copy_columns(plain_block(rows, out.dtype), start, out)
            else:
                low, high = _sums_of_rows(rows)
                out[:, tile] = rows.T
            lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)  # NaN, if one is
        return lowest, highest

    bounds = np.array(run(copy, parts, compiles=copy_columns if plain and len(parts) > 1 else None)).reshape(-1, 2)
    row_sums = float(bounds[:, 0].min(initial=math.inf)), float(bounds[:, 1].max(initial=-math.inf))
    if not all(map(math.isfinite, row_sums)):
        check.raise_not_finite_column("y_score", matrix)  # if no value is, sums have overflowed
    return out, row_sums


def _sums_of_rows(matrix: NDArray[Any]) -> tuple[float, float]:
    """Give the lowest and the highest sum of a row, NaN if one is."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, dtype=np.float64)
    return float(sums.min()), float(sums.max())
