"""Predictions of several models on the same rows: rows with the same true class and the same predictions are alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.label_codes import number_labels
from fastevals.measure.label_tuples import count_label_tuples, fold_codes

__all__ = ["Joint", "coded", "joint_of", "joint_of_rows"]

Ints = NDArray[np.int64]
Models = Mapping[str, NDArray[Any]]

WHAT = "y_true and predictions"


class Joint(NamedTuple):
    """Cells of rows that no metric of any model tells apart, in the order of their true classes.

    Attributes
    ----------
    matrix : ConfusionMatrix
        Of the rows, one for each model.
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each cell.
    true : ndarray of int64 of shape (n_cells,)
        Number of the true class of each cell.
    places : ndarray of int64 of shape (n_models, n_cells)
        Where each cell's rows are counted in a model's matrix, flat.
    """

    matrix: ConfusionMatrix
    sizes: Ints
    true: Ints
    places: Ints

    def matrices(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Add up counts of cells, of shape (n, n_cells), to matrices of shape (n, n_models, K, K)."""
        return _matrices(self.places, counts, self.matrix.labels.size)


def joint_of(true: NDArray[Any], models: Models, pos_label: Any = None) -> Joint:
    """Count rows by the true class and the models' predictions, which hold labels that can be compared.

    An array of the mapping may be of many models, of shape (n_models, n_rows).
    """
    labels, codes, sizes = count_label_tuples(WHAT, _whole(true, models))
    classes, numbers = coded(labels, codes, pos_label)
    order = np.lexsort(numbers[::-1])
    return _joint(classes, np.stack(numbers)[:, order], sizes[order], sizes[order])


def coded(
    labels: NDArray[Any], codes: Iterable[NDArray[Any]], pos_label: Any
) -> tuple[check.Classes, list[NDArray[Any]]]:
    """Return the classes of labels that occur, the positive one of two last, and codes as their places among them."""
    classes = check.as_classes("the data", labels, None, pos_label)
    places = check.check_known_labels(labels, classes.labels)
    if (np.diff(places) > 0).all() and places[0] == 0:
        return classes, list(codes)
    return classes, [places.astype(each.dtype)[each] for each in codes]


def joint_of_rows(
    true: NDArray[Any], models: Models, weights: NDArray[np.float64] | None, pos_label: Any = None
) -> tuple[Joint, NDArray[np.intp]]:
    """Give what `joint_of` does, of rows that may have weights, and the cell of each row."""
    labels, numbers = number_labels(WHAT, _whole(true, models))
    classes, codes = coded(labels, numbers, pos_label)
    folded = fold_codes(codes, classes.labels.size)
    _, first, of_row, sizes = np.unique(folded, return_index=True, return_inverse=True, return_counts=True)
    rows = sizes if weights is None else np.bincount(of_row, weights, minlength=sizes.size)
    return _joint(classes, np.stack([each[first] for each in codes], dtype=np.int64), sizes, rows), of_row


def _whole(true: NDArray[Any], models: Models) -> list[NDArray[Any]]:
    """Give the true labels and those of each model, whole numbers if they are numbers."""
    given = {"y_true": true}
    for name, labels in models.items():
        given |= {name: labels} if labels.ndim == 1 else {f"{name}[{i}]": row for i, row in enumerate(labels)}
    return [check.as_class_numbers(name, labels) for name, labels in given.items()]


def _joint(classes: check.Classes, codes: Ints, sizes: Ints, rows: NDArray[Any]) -> Joint:
    places = codes[0] * classes.labels.size + codes[1:]
    matrix = ConfusionMatrix._of(_matrices(places, rows[None], classes.labels.size)[0], classes)
    return Joint(matrix, sizes, codes[0], places)


def _matrices(places: Ints, counts: NDArray[Any], k: int) -> NDArray[Any]:
    found = np.zeros((len(counts), len(places), k * k), dtype=counts.dtype)
    for model, place in enumerate(places):
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        found[:, model, place[order][starts]] = np.add.reduceat(counts[:, order], starts, axis=1)
    return found.reshape(len(counts), len(places), k, k)
