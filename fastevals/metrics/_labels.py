"""True and predicted labels, counted once: counts of each pair or, if rows have several labels, of each label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals._validation.labels import as_class_numbers
from fastevals._validation.text import TextLabels, encode_column, encode_text, share_names
from fastevals.counting.labels import DENSE, code_labels, count_codes, count_equal, count_in_range
from fastevals.counts import Cells
from fastevals.metrics._input import (
    INDICATOR,
    as_column,
    as_row_weights,
    as_target,
    check_same_rows,
    is_sparse,
    row_count,
    target_type,
)

Weights = NDArray[np.float64] | None
Targets = tuple[NDArray[Any], NDArray[Any]]
COLUMNS = "All labels must be in [0, n labels) for multilabel targets."


def count_labels(
    y_true: Any,
    y_pred: Any,
    sample_weight: ArrayLike | None = None,
    *,
    names: tuple[str, str] = ("y_true", "y_pred"),
    sparse: bool = True,
) -> LabelPairs | Indicators:
    """Read true and predicted labels, sparse if allowed, and count them."""
    indicators = read_sparse(y_true, y_pred) if sparse else None
    true, predicted = indicators or tuple(
        _read_target(name, values, sparse) for name, values in zip(names, (y_true, y_pred), strict=True)
    )
    check_same_rows(true, predicted, sample_weight)
    _check_not_empty(true, predicted)
    weights = as_row_weights(sample_weight, true.shape[0])
    whole = weights is None or (np.asarray(sample_weight).dtype.kind in "iub" and float(weights.sum()) <= EXACT_INTEGER)
    if indicators:
        return Indicators(true, predicted, weights, whole)
    true_labels, predicted_labels = _as_class_labels(names[0], true), _as_class_labels(names[1], predicted)
    if true_labels is None or predicted_labels is None:
        _check_indicators(true, predicted)
        return Indicators(true, predicted, weights, whole)
    _check_same_label_type(true_labels, predicted_labels)
    return LabelPairs(true_labels, predicted_labels, weights, whole, (true.dtype, predicted.dtype))


def _read_target(name: str, values: Any, sparse: bool) -> Any:
    """Return a target as an array; a column of text becomes labels with code numbers."""
    coded = None if type(values) is np.ndarray else encode_column(name, values)
    return as_target(name, values, sparse=sparse) if coded is None else coded


def count_classes(
    y_true: Any, y_pred: Any, sample_weight: ArrayLike | None = None, *, names: tuple[str, str] = ("y_true", "y_pred")
) -> LabelPairs:
    """Read true and predicted labels, one of each per row."""
    counted = count_labels(y_true, y_pred, sample_weight, names=names, sparse=False)
    _check_not_indicators(counted.kind)
    return counted  # type: ignore[return-value]


# One label per row -------------------------------------------------------------------------------------------------


class LabelPairs:
    """Counts of rows with one label each; rows are counted on first use.

    Attributes
    ----------
    kind : {"binary", "multiclass"}
        "multiclass" if more than two labels occur.
    labels : ndarray of shape (n_labels,)
        All true or predicted labels, ascending.
    total, n_right, n_wrong : int or float
        Numbers of all rows, of rows predicted right and of rows predicted wrong, or the total weights of these rows.
    weights : ndarray of shape (n_samples,) or None
        Row weights.
    """

    def __init__(
        self,
        true: NDArray[Any],
        predicted: NDArray[Any],
        weights: Weights,
        whole: bool,
        dtypes: tuple[np.dtype[Any], np.dtype[Any]],
    ) -> None:
        self.weights, self.whole = weights, whole
        self._targets, self._dtypes, self._names = (true, predicted), dtypes, None
        if isinstance(true, TextLabels):
            self._names, self._targets = share_names([true, predicted])

    @cached_property
    def _counts(self) -> PairCounts:
        counted = _count_in_range(self._targets, self.weights) or _count_codes(self._targets, self.weights)
        return counted._replace(labels=self._as_known(counted))

    def _as_known(self, counted: PairCounts) -> NDArray[Any]:
        """Return the labels in the user's type, which is the true labels' type if these include all labels."""
        true, predicted = self._dtypes
        if self._names is not None:
            return self._names[counted.labels]
        dtype = true if true == predicted or counted.in_true.all() else np.result_type(true, predicted)
        return counted.labels.astype(dtype.newbyteorder("="), copy=False)

    @property
    def labels(self) -> NDArray[Any]:
        """All true or predicted labels, ascending."""
        return self._counts.labels

    @property
    def kind(self) -> str:
        """Type of the labels: "multiclass" if more than two labels occur, otherwise "binary"."""
        return "binary" if self.labels.size <= 2 else "multiclass"

    @cached_property
    def n_right(self) -> Any:
        """Number of rows predicted right, or their weight."""
        if self.weights is None:
            return count_equal(*self._targets)
        return self._margins[0].sum()

    @cached_property
    def n_wrong(self) -> Any:
        """Number of rows predicted wrong, or their weight."""
        return self._targets[0].size - self.n_right if self.weights is None else self._margins[1].sum()

    @property
    def total(self) -> Any:
        """Number of rows, or their weight, summed so that a perfect prediction has an accuracy of exactly 1."""
        return self.n_right + self.n_wrong

    @cached_property
    def _margins(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """True positives, false positives and false negatives of each label."""
        labels, _, table, codes = self._counts
        if table is not None:
            right = table.diagonal()
            if table.dtype.kind == "f":  # subtracting sums would leave their rounding errors
                wrong = np.where(np.eye(right.size, dtype=bool), 0.0, table)
                return right.copy(), wrong.sum(axis=0), wrong.sum(axis=1)
            return right, table.sum(axis=0) - right, table.sum(axis=1) - right
        true, predicted = codes
        same = true == predicted
        rows = (true, same), (predicted, ~same), (true, ~same)
        right, fp, fn = (_bins(each[kept], self.weights, kept, labels.size) for each, kept in rows)
        return right, fp, fn

    def true_labels(self) -> NDArray[Any]:
        """Return the true labels, including those of rows with weight zero."""
        return self.labels[self._counts.in_true]

    def cells(self, labels: Any = None, *, samplewise: bool = False) -> Cells:
        """Return the cells of each label against the rest, for all labels or the requested ones."""
        _check_samplewise(samplewise)
        right, fp, fn = self._margins
        none_right = self.weights is None and not right.any()
        if labels is not None:
            counts = np.zeros((3, self.labels.size + 1), dtype=right.dtype)  # last: labels that don't occur
            counts[:, :-1] = right, fp, fn
            right, fp, fn = counts[:, _places(np.asarray(labels), self.labels)]
        if none_right:
            right = right.astype(np.float64)  # scikit-learn's type if no row is right: a report then has "3.0" rows
        tn = self.total - right - fp - fn
        return Cells(right, fp, fn, tn if tn.dtype.kind == "i" else np.maximum(tn, 0.0))

    def pairs(self, labels: NDArray[Any] | None = None) -> Pairs:
        """Return pairs of labels, possibly repeated, and their row counts or weights; omit pairs outside `labels`."""
        _, _, table, codes = self._counts
        n = self.labels.size
        if table is not None:
            true, predicted = np.nonzero(table)
            rows = table[true, predicted]
        else:
            true, predicted = codes
            rows = np.ones(true.size, dtype=np.int64) if self.weights is None else self.weights
        if labels is not None:
            n, place = labels.size, _places(self.labels, labels)
            kept = (place[true] >= 0) & (place[predicted] >= 0)
            true, predicted, rows = place[true[kept]], place[predicted[kept]], rows[kept]
        return Pairs(true, predicted, rows.astype(np.int64) if self.whole else rows, n)

    def matrix(self, labels: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the confusion matrix, with true labels in rows; rows with a label outside `labels` are left out."""
        counts = self._counts.table
        if counts is None or labels is not None:
            true, predicted, rows, n = self.pairs(labels)
            counts = np.bincount(true * n + predicted, rows, minlength=n * n).reshape(n, n).astype(rows.dtype)
        return counts.astype(np.int64, copy=False) if self.whole else counts


class Pairs(NamedTuple):
    """Pairs of true and predicted label numbers, the row count of each pair, and the number of labels."""

    true: NDArray[Any]
    predicted: NDArray[Any]
    rows: NDArray[Any]
    n_labels: int

    def margins(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the row counts of each true label and of each predicted label."""
        sums = (np.bincount(each, self.rows, minlength=self.n_labels) for each in (self.true, self.predicted))
        return tuple(each.astype(self.rows.dtype) for each in sums)  # type: ignore[return-value]


class PairCounts(NamedTuple):
    """Labels that occur, whether each is a true label, and the table of pairs.

    If the table would be large, it is None, and `codes` has the codes of the rows.
    """

    labels: NDArray[Any]
    in_true: NDArray[np.bool_]
    table: NDArray[Any] | None
    codes: Sequence[NDArray[np.int64]] = ()


def _count_in_range(targets: Targets, weights: Weights) -> PairCounts | None:
    """Count pairs of labels that are integers in a narrow range; return None for other labels."""
    counted = count_in_range(targets, weights)
    if counted is None:
        return None
    table, low, width = counted
    rows = table
    if weights is not None and not weights.all():  # labels of rows with weight zero count as occurring
        rows, _ = count_codes(targets, None, low, width)
    occurs = rows.reshape(width, width) != 0
    in_true = occurs.any(axis=1)
    at = np.flatnonzero(in_true | occurs.any(axis=0))
    table = table.reshape(width, width)
    return PairCounts(at + low, in_true[at], table if at.size == width else table[np.ix_(at, at)])


def _count_codes(targets: Targets, weights: Weights) -> PairCounts:
    """Count pairs of labels that are text or far apart, after replacing labels by codes."""
    labels, codes = code_labels(targets)
    in_true = np.bincount(codes[0], minlength=labels.size) > 0
    if labels.size**2 > DENSE:
        return PairCounts(labels, in_true, None, codes)
    table, _ = count_codes(codes, weights, 0, labels.size)
    return PairCounts(labels, in_true, table.reshape(labels.size, -1))


def _bins(codes: NDArray[np.int64], weights: Weights, rows: NDArray[np.bool_], n_labels: int) -> NDArray[Any]:
    return np.bincount(codes, None if weights is None else weights[rows], minlength=n_labels)


def _places(labels: NDArray[Any], known: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the known ones, or -1."""
    place = {label: at for at, label in enumerate(known.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


# Several labels per row --------------------------------------------------------------------------------------------


class Indicators:
    """Counts of rows, each of which has any number of labels.

    Attributes
    ----------
    kind : {"multilabel-indicator"}
        Always this text, which distinguishes indicators from `LabelPairs`.
    labels : ndarray of shape (n_labels,)
        Numbers of the columns.
    weights : ndarray of shape (n_samples,) or None
        Row weights.
    """

    kind = INDICATOR

    def __init__(self, true: Any, predicted: Any, weights: NDArray[np.float64] | None, whole: bool) -> None:
        _check_column_numbers(true.shape[1], predicted.shape[1])
        self.weights, self.whole = weights, whole
        self.labels = np.arange(true.shape[1])
        self._targets = true, predicted

    @cached_property
    def _marked(self) -> tuple[Any, Any]:
        return tuple(marks.astype(np.bool_) for marks in self._targets)

    @cached_property
    def _wrong(self) -> NDArray[Any]:
        """Number of wrong labels in each row."""
        true, predicted = self._targets
        return self._sums(true != predicted, rows=True)

    @property
    def n_right(self) -> Any:
        """Number of rows with all labels right, or their weight."""
        return self._weight(self._wrong == 0)

    @property
    def n_wrong(self) -> Any:
        """Number of rows with a wrong label, or their weight."""
        return self._weight(self._wrong != 0)

    @property
    def total(self) -> Any:
        """Number of rows, or their weight, summed so that a perfect prediction has an accuracy of exactly 1."""
        return self.n_right + self.n_wrong

    def _weight(self, rows: NDArray[np.bool_]) -> Any:
        return np.count_nonzero(rows) if self.weights is None else self.weights[rows].sum()

    @property
    def n_marks(self) -> Any:
        """Number of entries of an indicator matrix; with row weights, the sum of the weights of the entries' rows."""
        return self.total * self.labels.size

    @property
    def n_wrong_marks(self) -> Any:
        """Number of entries in which the matrices differ; with row weights, the sum of the weights of their rows."""
        return self._wrong.sum() if self.weights is None else self._wrong @ self.weights

    def _sums(self, marks: Any, *, rows: bool) -> NDArray[Any]:
        """Count the nonzero entries of each row or, if `rows` is False, add up their row weights in each column."""
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
        """Return the cells of each label or, if `samplewise`, of each row, for all labels or the requested ones."""
        true, predicted = self._marked
        if labels is not None:
            columns = _as_columns(labels, self.labels.size)
            true, predicted = true[:, columns], predicted[:, columns]
        tp = self._sums(true.multiply(predicted) if is_sparse(true) else true & predicted, rows=samplewise)
        if samplewise or self.weights is None:
            fp, fn = (self._sums(marks, rows=samplewise) - tp for marks in (predicted, true))
        else:  # subtracting sums of floats would leave their rounding errors
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
    """Return both indicator matrices in sparse form if either is sparse; otherwise None."""
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


# Checks ------------------------------------------------------------------------------------------------------------


def _check_not_empty(*arrays: NDArray[Any]) -> None:
    """Raise if there are no rows."""
    if not all(map(row_count, arrays)):
        raise ValueError(
            "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required."
        )


def _as_class_labels(name: str, array: Any) -> Any:
    """Return a target as a vector of labels, with whole floats as integers; None if it is not a vector of labels."""
    if isinstance(array, TextLabels):
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        array = as_column(array)
    kind = array.dtype.kind
    if array.ndim != 1:
        return None
    if kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        return whole if (whole == array).all() else None
    if kind == "u" and array.itemsize == 8:
        return as_class_numbers(name, array)
    if kind == "U" or (kind == "O" and isinstance(array[0], str)):
        return encode_text(name, array)
    return array if kind in "iub" else None


def _check_indicators(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise unless both targets are indicator matrices."""
    first, second = target_type("y_true", np.asarray(true)), target_type("y_pred", np.asarray(predicted))
    if first != second:
        raise ValueError(f"Classification metrics can't handle a mix of {first} and {second} targets")
    if first != INDICATOR:
        raise ValueError(f"{first} is not supported")


def _check_not_indicators(kind: str) -> None:
    """Raise if rows may have several labels."""
    if kind == INDICATOR:
        raise ValueError(f"{kind} is not supported")


def _check_samplewise(samplewise: bool) -> None:
    """Raise if samplewise metrics are requested for data with one label per row."""
    if samplewise:
        raise ValueError("Samplewise metrics are not available outside of multilabel classification.")


def _check_same_label_type(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if one target has strings and the other has numbers."""
    if (true.dtype.kind in "OUT") != (predicted.dtype.kind in "OUT"):
        seen = " and ".join(str(sorted_unique(each)) for each in (true, predicted))
        raise ValueError(f"Mix of label input types (string and number); Got {seen}.")


def _check_column_numbers(true: int, predicted: int) -> None:
    """Raise unless both indicator matrices have the same number of columns."""
    if true != predicted:
        raise ValueError(
            "Multi-label binary indicator input with different numbers of labels: "
            f"y_true has {true}, y_pred {predicted}"
        )


def _as_columns(labels: Any, n_labels: int) -> NDArray[np.int64]:
    """Return the column numbers that `labels` request from an indicator matrix."""
    columns = np.asarray(labels)
    if not columns.size:
        return np.empty(0, dtype=np.int64)
    if columns.max() >= n_labels:
        raise ValueError(f"{COLUMNS} Got {columns.max()} > {n_labels - 1}")
    if columns.min() < 0:
        raise ValueError(f"{COLUMNS} Got {columns.min()} < 0")
    return columns.astype(np.int64, copy=False)
