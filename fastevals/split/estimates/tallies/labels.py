"""Predicted classes: a confusion matrix of each test set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.fold_counts import count_cells
from fastevals.infer.bootstrap.samples.matrix import measure_stack
from fastevals.infer.proportions import OUTCOMES
from fastevals.measure.asked import AskedMetric
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.counts import Cells
from fastevals.measure.metric_kinds import matrix_metric
from fastevals.split.estimates.tallies.base import Floats, Folds, SumTally, variance_of_rows

__all__ = ["LabelTally"]

Rows = NDArray[np.intp]

STACKED = 1 << 20  # entries of matrices at a time
MOST_KEPT = 1 << 23  # entries of matrices that results hold: 64 MB
MOST_TRIED = 1 << 28  # entries of matrices with a row more: a second


class LabelTally(SumTally):
    """Metrics of confusion matrices.

    Attributes
    ----------
    classes : Classes
        All classes: the user's own, or the labels of `y`, the positive one of two last. A test set may lack some.
    """

    kind = "labels"
    knows_no_information = True

    def __init__(
        self, asked: Mapping[str, Any], y: Any, name: str, *, labels: Any = None, pos_label: Any = None
    ) -> None:
        self.names = list(asked)
        self._asked = asked
        self._name, self._y = name, check.as_true_labels(name, y)
        self.classes: check.Classes = check.as_classes(name, np.unique(self._y), labels, pos_label)
        self._order = np.argsort(self.classes.labels, kind="stable")
        self._n_cells = self.classes.labels.size**2
        self._true = self._codes(name, self._y)
        self.of_totals(np.zeros((1, self._n_cells), dtype=np.int64))  # what can't be is an error before any fit

    def _codes(self, name: str, labels: NDArray[Any]) -> NDArray[np.int32]:
        return check.as_class_codes(name, labels, self.classes.labels, self._order)

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give the numbers of the predicted classes."""
        y = self._y if rows is None else self._y[rows]
        labels = check.as_predicted_labels(y, {name: predicted}, true_name=self._name)[name]
        return self._codes(name, labels if labels.dtype.kind == "U" else check.as_class_numbers(name, labels))

    def rows_of(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Give the cell of each row."""
        true = self._true if rows is None else self._true[rows]
        return np.asarray(true * np.int32(self.classes.labels.size) + predicted)

    def totals(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Count the cells of each test set."""
        counts = np.zeros((len(folds), n_folds, self._n_cells), dtype=np.int64)
        count_cells(folds, prepared, counts)
        return counts

    def of_totals(self, totals: NDArray[Any]) -> Floats:
        """Give each metric of matrices."""
        k = self.classes.labels.size
        metrics = [matrix_metric(each) for each in self._asked.values()]  # anew in each call: closures do not pickle
        step = max(1, STACKED // (k * k))
        found: list[Floats] = []
        for start in range(0, len(totals), step):
            values = measure_stack(totals[start : start + step].reshape(-1, k, k), self.classes, metrics)
            for name, each in zip(self.names, values, strict=True):
                check.check_one_number(name, each.shape[1:])
            found.append(np.stack(values))
        return np.concatenate(found, axis=1)

    def of_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Give each metric of all test sets, and the counts of each or of all together.

        It is done for so few test sets at a time that memory holds their matrices.
        """
        n_cells = self._n_cells
        step = min(max(1, STACKED // n_cells), n_folds)
        lines = max(1, STACKED // (n_cells * step))
        values, counts = [], []
        for top in range(0, len(folds), lines):
            some = folds[top : top + lines]
            parts = [
                super(LabelTally, self).of_folds(
                    prepared, some - np.uint32(start), min(step, n_folds - start), keep=keep
                )
                for start in range(0, n_folds, step)
            ]
            values.append(np.concatenate([each for each, _ in parts], axis=2))
            counts.append(np.concatenate([each for _, each in parts], axis=1).reshape(-1, n_cells))
        return np.concatenate(values, axis=1), np.concatenate(counts)

    def keeps(self, n_splits: int) -> bool:
        """Tell whether results hold the matrices of so many test sets."""
        return n_splits * self._n_cells <= MOST_KEPT

    def matrices(self, counted: Sequence[Any], shape: tuple[int, int]) -> ConfusionMatrix | None:
        """Give the matrices of splits of a shape."""
        if not self.keeps(math.prod(shape)):
            return None
        k = self.classes.labels.size
        return ConfusionMatrix._of(np.concatenate(counted, axis=None).reshape(*shape, k, k), self.classes)

    def class_variance(self, name: str, pooled: NDArray[Any]) -> float:
        """Compute the variance of what a metric gains by a row of a class, its predictions in the shares there are."""
        k = self.classes.labels.size
        rows = pooled.reshape(k, k).sum(axis=1)
        (there,) = np.nonzero(rows)
        if there.size * pooled.size > MOST_TRIED:
            return math.nan
        more = np.zeros((there.size, k, k))
        more[np.arange(there.size), there] = pooled.reshape(k, k)[there] / rows[there, None]
        return self._variance(name, pooled, more, rows[there])

    def row_variance(self, name: str, pooled: NDArray[Any]) -> float:
        """Compute the variance of what a metric gains by a row."""
        (there,) = np.nonzero(pooled)
        if there.size * pooled.size > MOST_TRIED:
            return math.nan
        more = np.zeros((there.size, pooled.size))
        more[np.arange(there.size), there] = 1.0
        return self._variance(name, pooled, more, pooled[there])

    def _variance(self, name: str, pooled: NDArray[Any], more: Floats, numbers: NDArray[Any]) -> float:
        """Compute the variance of what a metric gains by adding rows of so many kinds, `numbers` of each."""
        k = self.classes.labels.size
        stack = np.concatenate((pooled.reshape(1, k, k), pooled.reshape(1, k, k) + more.reshape(-1, k, k)))
        (values,) = measure_stack(stack, self.classes, [matrix_metric(self._asked[name])])
        return variance_of_rows(float(values[0]), values[1:], numbers)

    def outcomes(self, name: str, pooled: NDArray[Any]) -> tuple[float, float] | None:
        """Return the successes and failures of accuracy and the like; of two classes those of rates of the positive."""
        asked, k = self._asked[name], self.classes.labels.size
        matrix = pooled.reshape(k, k)
        if not isinstance(asked, AskedMetric) or asked.name not in OUTCOMES or asked.options:
            return None
        right = int(np.trace(matrix))
        if asked.name in ("accuracy", "error_rate"):
            cells = Cells(right, int(matrix.sum()) - right, 0, 0)
        elif k == 2:
            cells = Cells(*map(int, (matrix[1, 1], matrix[0, 1], matrix[1, 0], matrix[0, 0])))
        else:
            return None
        successes, failures = OUTCOMES[asked.name](cells)
        return float(successes), float(failures)

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Give each metric of the matrix that the margins make."""
        k = self.classes.labels.size
        margins = [np.bincount(codes, minlength=k) for codes in (self._true, predicted)]
        return self.of_totals((np.outer(*margins) / self._true.size).reshape(1, -1))[:, 0]
