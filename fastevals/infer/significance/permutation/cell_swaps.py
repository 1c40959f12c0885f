"""Swaps by cell: how many rows of a true class and two predictions keep them, not which rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.permutation import place_kept
from fastevals.infer.significance.permutation.binomial_draws import chances_of_half

__all__ = ["CellSwaps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INT = np.dtype(np.int64)


class CellSwaps:
    """The rows that a swap changes, by true class and the two predicted: of a cell's, a binomial number is swapped.

    Parameters
    ----------
    codes : ndarray of int64 of shape (3, n)
        True class and predicted ones, numbered in the order of labels.
    rows : ndarray of int64 of shape (n,)
        How many rows are such.
    n_classes : int
        Of all three.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each true class and pair of different predictions.
    kept : ndarray of int64 of shape (n_cells,)
        Those in which the first model's is the lower one.
    both : ndarray of int64 of shape (n_classes**2,)
        The two models' confusion matrices added up: permutations don't change that.
    n_classes : int
        As given.
    """

    __slots__ = ("_cells", "_fixed", "both", "kept", "n_classes", "sizes")

    def __init__(self, codes: Ints, rows: Ints, n_classes: int) -> None:
        self.n_classes = n_classes
        true, first, second = codes
        differ = first != second
        self._fixed = self._matrix(true[~differ] * n_classes + first[~differ], rows[~differ])
        self.both = self._matrix(true * n_classes + first, rows) + self._matrix(true * n_classes + second, rows)
        true, first, second, rows = (each[differ] for each in (true, first, second, rows))
        lower, higher = true * n_classes + np.minimum(first, second), np.maximum(first, second)
        cells, of_cell = np.unique(lower * n_classes + higher, return_inverse=True)
        self.sizes, self.kept = np.zeros((2, cells.size), dtype=INT)
        np.add.at(self.sizes, of_cell, rows)
        np.add.at(self.kept, of_cell, np.where(first < second, rows, 0))
        lower = cells // n_classes
        self._cells = lower, lower // n_classes * n_classes + cells % n_classes

    def _matrix(self, cells: Ints, rows: Ints) -> Ints:
        counts = np.zeros(self.n_classes**2, dtype=INT)
        np.add.at(counts, cells, rows)
        return counts

    def counts(self, kept: Ints) -> Ints:
        """Give the first model's confusion matrices, of shape (n_classes**2, n), of kept rows of shape (n_cells, n)."""
        counts = np.repeat(self._fixed[:, None], kept.shape[1], axis=1)
        place_kept(kept, self.sizes, *self._cells, counts)
        return counts

    def outcomes(self) -> tuple[Ints, Floats]:
        """Give all numbers of kept rows that there can be, and the chance of each."""
        shape = tuple((self.sizes + 1).tolist())
        kept = np.indices(shape, dtype=INT).reshape(len(shape), math.prod(shape))
        chances = np.ones(kept.shape[1])
        for size, heads in zip(self.sizes.tolist(), kept, strict=True):
            chances *= chances_of_half(size)[heads]
        return kept, chances
