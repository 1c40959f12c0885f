"""Predicted sets of labels beside true ones, as indicator matrices, dense or sparse."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import Cells
from fastevals.metrics._input import INDICATOR, as_target, is_sparse, target_type

COLUMNS = "All labels must be in [0, n labels) for multilabel targets."


class Indicators:
    """Counts of rows with any number of labels each.

    Attributes
    ----------
    kind : {"multilabel-indicator"}
        Beside the kinds of `Pairs`.
    labels : ndarray of shape (n_labels,)
        Numbers of the columns.
    weights : ndarray of shape (n_samples,) or None
        Of the rows.
    """

    kind = INDICATOR

    def __init__(self, true: Any, predicted: Any, weights: NDArray[np.float64] | None, whole: bool) -> None:
        _check_column_numbers(true.shape[1], predicted.shape[1])
        self.weights, self.whole = weights, whole
        self.labels = np.arange(true.shape[1])
        self._given = true, predicted

    @cached_property
    def _marked(self) -> tuple[Any, Any]:
        return tuple(marks.astype(np.bool_) for marks in self._given)

    @cached_property
    def _wrong(self) -> NDArray[Any]:
        """Wrong labels of each row."""
        true, predicted = self._given
        return self._sums(true != predicted, rows=True)

    @property
    def n_right(self) -> Any:
        """Rows with all labels right, or their weight."""
        return self._weight(self._wrong == 0)

    @property
    def n_wrong(self) -> Any:
        """Rows with a wrong label, or their weight."""
        return self._weight(self._wrong != 0)

    @property
    def total(self) -> Any:
        """Rows, or their weight: in such an order that a perfect prediction is exactly right."""
        return self.n_right + self.n_wrong

    def _weight(self, rows: NDArray[np.bool_]) -> Any:
        return np.count_nonzero(rows) if self.weights is None else self.weights[rows].sum()

    @property
    def n_marks(self) -> Any:
        """Labels of all rows that are right or wrong: so many, or their weight."""
        return self.total * self.labels.size

    @property
    def n_wrong_marks(self) -> Any:
        """Labels of all rows that are wrong: so many, or their weight."""
        return self._wrong.sum() if self.weights is None else self._wrong @ self.weights

    def _sums(self, marks: Any, *, rows: bool) -> NDArray[Any]:
        """Count marks in each row, or their weight in each column."""
        if is_sparse(marks):
            marks.eliminate_zeros()
            in_rows: NDArray[np.int64] = np.diff(marks.indptr).astype(np.int64)
            weights = None if self.weights is None or rows else np.repeat(self.weights, in_rows)
            if rows:
                return in_rows
            sums: NDArray[Any] = np.bincount(marks.indices, weights, minlength=marks.shape[1])
            return sums.astype(np.int64 if weights is None else np.float64, copy=False)
        if rows or self.weights is None:
            return np.asarray(np.count_nonzero(marks, axis=1 if rows else 0))
        return np.asarray(self.weights @ marks)

    def cells(self, labels: Any = None, *, samplewise: bool = False) -> Cells:
        """Return the cells of each label, or with `samplewise` of each row, for all labels or those asked for."""
        true, predicted = self._marked
        if labels is not None:
            columns = _as_columns(labels, self.labels.size)
            true, predicted = true[:, columns], predicted[:, columns]
        tp = self._sums(true.multiply(predicted) if is_sparse(true) else true & predicted, rows=samplewise)
        if samplewise or self.weights is None:
            fp, fn = (self._sums(marks, rows=samplewise) - tp for marks in (predicted, true))
        else:  # a difference of float sums would leave what they round off
            fp, fn = self._sums(predicted > true, rows=False), self._sums(true > predicted, rows=False)
        if not samplewise:
            total = true.shape[0] if self.weights is None else self.weights.sum()
            tn = total - tp - fp - fn
            return Cells(tp, fp, fn, tn if self.weights is None else np.maximum(tn, 0.0))
        cells = Cells(tp, fp, fn, true.shape[1] - tp - fp - fn)
        if self.weights is None:
            return cells
        weighted = (cell * self.weights for cell in cells)
        return Cells(*(cell.astype(np.int64) if self.whole else cell for cell in weighted))


def read_sparse(y_true: Any, y_pred: Any) -> tuple[Any, Any] | None:
    """Return two indicator matrices of which one is sparse as sparse ones, else None."""
    if not (is_sparse(y_true) or is_sparse(y_pred)):
        return None
    if not (_is_indicator(y_true) and _is_indicator(y_pred)):
        return None
    from scipy.sparse import csr_array

    return csr_array(y_true), csr_array(y_pred)


def _is_indicator(values: Any) -> bool:
    if not is_sparse(values):
        return target_type("y", as_target("y", values)) == INDICATOR
    data = np.asarray(values.tocsr().data)
    numbers = data.dtype.kind in "biu" or bool((data == np.trunc(data)).all())
    return values.ndim == 2 and values.shape[1] > 1 and numbers and bool((data == data[:1]).all())


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_column_numbers(true: int, predicted: int) -> None:
    """Raise unless both indicator matrices have as many columns."""
    if true != predicted:
        raise ValueError(
            "Multi-label binary indicator input with different numbers of labels: "
            f"y_true has {true}, y_pred {predicted}"
        )


def _as_columns(labels: Any, n_labels: int) -> NDArray[np.int64]:
    """Return the numbers of some columns of an indicator matrix."""
    columns = np.asarray(labels)
    if not columns.size:
        return np.empty(0, dtype=np.int64)
    if columns.max() >= n_labels:
        raise ValueError(f"{COLUMNS} Got {columns.max()} > {n_labels - 1}")
    if columns.min() < 0:
        raise ValueError(f"{COLUMNS} Got {columns.min()} < 0")
    return columns.astype(np.int64, copy=False)
