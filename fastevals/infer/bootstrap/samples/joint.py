"""Predictions of several models on the same rows: rows with the same true class and the same predictions are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.confusion import ConfusionMatrix

__all__ = ["Joint", "joint_of"]

Ints = NDArray[np.int64]

WIDEST = 1 << 15  # range of integer labels that are numbered without looking them up
MOST_CODES = 2**62


class Joint(NamedTuple):
    """Cells of rows that no metric of any model tells apart, in the order of their true classes.

    Attributes
    ----------
    matrix : ConfusionMatrix
        Of the rows, one for each model.
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each cell.
    of_row : ndarray of intp of shape (n_rows,)
        Cell of each row.
    true : ndarray of int64 of shape (n_cells,)
        Number of the true class of each cell.
    places : ndarray of int64 of shape (n_models, n_cells)
        Where each cell's rows are counted in a model's matrix, flat.
    """

    matrix: ConfusionMatrix
    sizes: Ints
    of_row: NDArray[np.intp]
    true: Ints
    places: Ints

    def matrices(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Add up counts of cells, of shape (n, n_cells), to matrices of shape (n, n_models, K, K)."""
        return _matrices(self.places, counts, self.matrix.labels.size)


def joint_of(true: NDArray[Any], models: Mapping[str, NDArray[Any]], weights: NDArray[np.float64] | None) -> Joint:
    """Count rows by the true class and the models' predictions, which hold labels that can be compared.

    An array of the mapping may be of many models, of shape (n_models, n_rows).
    """
    predicted = [row for labels in models.values() for row in np.atleast_2d(labels)]
    named = [name if labels.ndim == 1 else f"{name}[{i}]" for name, labels in models.items()
             for i in range(len(np.atleast_2d(labels)))]  # fmt: skip
    whole = [check.as_class_numbers(name, each) for name, each in zip(named, predicted, strict=True)]
    labels, codes = _numbered([true, *whole])
    k = labels.size
    cells, n_codes = codes[0], k
    for each in codes[1:]:
        if n_codes * k > MOST_CODES:
            distinct, cells = np.unique(cells, return_inverse=True)
            n_codes = distinct.size
        cells, n_codes = cells * k + each, n_codes * k
    _, first, of_row, sizes = np.unique(cells, return_index=True, return_inverse=True, return_counts=True)
    true_of = codes[0][first]
    places = np.stack([true_of * k + each[first] for each in codes[1:]])
    rows = sizes if weights is None else np.bincount(of_row, weights, minlength=sizes.size)
    matrix = ConfusionMatrix(_matrices(places, rows[None], k)[0], labels)
    return Joint(matrix, sizes, of_row, true_of, places)


def _matrices(places: Ints, counts: NDArray[Any], k: int) -> NDArray[Any]:
    found = np.zeros((len(counts), len(places), k * k), dtype=counts.dtype)
    for model, place in enumerate(places):
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        found[:, model, place[order][starts]] = np.add.reduceat(counts[:, order], starts, axis=1)
    return found.reshape(len(counts), len(places), k, k)


def _numbered(arrays: list[NDArray[Any]]) -> tuple[NDArray[Any], list[Ints]]:
    """Give the labels of all arrays, in order, and the arrays with each label's number in place of it."""
    if arrays[0].dtype.kind in "iub":
        low = min(int(array.min()) for array in arrays)
        high = max(int(array.max()) for array in arrays)
        if high - low < WIDEST:
            seen = np.zeros(high - low + 1, dtype=np.bool_)
            offset = [array.astype(np.int64) - low for array in arrays]
            for each in offset:
                seen[each] = True
            number = np.cumsum(seen) - 1
            labels = np.flatnonzero(seen) + low
            check.check_class_number("y_true and predictions", labels)
            return labels, [number[each] for each in offset]
    dtype = None if arrays[0].dtype.kind == "U" else np.int64
    labels, codes = np.unique(np.concatenate(arrays, dtype=dtype, casting="unsafe"), return_inverse=True)
    check.check_class_number("y_true and predictions", labels)
    return labels, np.split(codes.astype(np.int64, copy=False), len(arrays))
