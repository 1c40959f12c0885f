"""Metrics of test sets, computed from counts, with one class per kind of prediction.

If each split has its own predictions, each test set is counted after its fit (`count_split`). Metrics are then computed
from the counts of each test set (`values`), and counts are pooled (`pool`). If predictions are fixed, the test sets of
many splits are counted in one pass over the rows (`measure_folds`, `pool_folds`). Both ways give the same counts, and
so the same values.

A splitter may hold the test rows, or the class shares, fixed. The variance of a metric due to rows or class shares is
then computed from the pooled counts, as the variance of the metric's gain from one more row (`row_variance`,
`class_variance`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.fold_counts import add_deviations, add_terms, count_cells
from fastevals._kernels.regression import EPSILON
from fastevals._options import check_one_number, listed, show
from fastevals._validation.arrays import as_vector, check_finite, power_of_two
from fastevals._validation.labels import (
    Classes,
    _plain,
    as_class_numbers,
    as_classes,
    as_predicted_labels,
    as_true_labels,
)
from fastevals._validation.text import find_sorted, is_text, unique_inverse
from fastevals.counts import Cells
from fastevals.infer.proportions import SHARES, outcomes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import RegressionSums, median_absolute_error
from fastevals.measure.kinds import LABELS, QUANTILES, TARGETS, is_row_mean
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS
from fastevals.measure.regression import choose_origin
from fastevals.split.splitters.base import Rows

Floats = NDArray[np.float64]
Folds = NDArray[np.uint32]  # (n_repeats, n_samples): the test set of each row, or a larger number

GAIN_ROUNDING = 2.0**-48  # relative rounding error, per row, of the metric's gain from one more row
STACKED = 1 << 20  # entries of the matrices that are evaluated at a time
MOST_KEPT = 1 << 23  # entries of the matrices in results, at most 64 MB
MOST_TRIED = 1 << 28  # entries of the matrices with one more row; this many take a second
N_SUMS = 5  # the number of rows, and four sums of errors
USUAL_TARGET = 2.0**400  # targets above this or below its inverse are rescaled


class SplitMetrics:
    """Metrics of one kind of prediction, and the counts of test sets from which they are computed.

    Each subclass has its own form of counts (cells of a matrix, sums, threshold counts). Other code only passes the
    counts on.
    """

    names: list[str]  # names of the metrics in results
    kind: str  # of predictions: "labels", "scores", "targets", or "values" (anything)
    knows_no_information = False  # whether `no_information` returns numbers, not NaN
    needs_times_tested = False  # whether `pool_folds` requires `tested`
    classes: Classes | None = None  # of predicted labels

    @property
    def labels(self) -> NDArray[Any] | None:
        """The classes of predicted labels."""
        return None if self.classes is None else self.classes.labels

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return checked predictions of some or all rows, in the form that `count_split` and `prepare` need."""
        raise NotImplementedError

    def count_split(self, rows: Rows, predicted: NDArray[Any]) -> Any:
        """Return the counts of a test set."""
        raise NotImplementedError

    def values(self, counted: Sequence[Any]) -> Floats:
        """Return the metrics of all test sets, of shape (n_metrics, n_splits); undefined values are NaN."""
        raise NotImplementedError

    def pool(self, counted: Sequence[Any]) -> Any:
        """Return the pooled counts of all test sets; None if metrics have no counts."""
        return None

    def micro(self, pooled: Any) -> Floats:
        """Return the metrics of all test sets pooled; NaN if counts don't determine them."""
        return np.full(len(self.names), np.nan)

    def class_variance(self, name: str, pooled: Any) -> float:
        """Compute the variance, over rows, of a metric's gain from one more row of the same class.

        This variance divided by the number of rows is the metric's variance due to the class shares. It is NaN if
        unknown.
        """
        return math.nan

    def row_variance(self, name: str, pooled: Any) -> float:
        """Compute the variance, over rows, of a metric's gain from one more copy of the row; NaN if unknown."""
        return math.nan

    def outcomes(self, name: str, pooled: Any) -> tuple[float, float] | None:
        """Return the successes and failures if a metric is a share of trials, otherwise None."""
        return None

    def is_row_mean(self, name: str) -> bool:
        """Return whether a metric is a mean over rows."""
        return False

    def row_values(self, rows: Rows, predicted: NDArray[Any]) -> Floats:
        """Return the metrics of each row alone, of shape (n_metrics, n_rows); a mean over rows is the mean of these."""
        raise NotImplementedError

    def prepare(self, predicted: NDArray[Any], n_folds: int) -> Any:
        """Convert predictions of all rows to the form that `measure_folds` needs; this is done only once."""
        return predicted

    def measure_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Return the metrics of all test sets, of shape (n_metrics, n_repeats, n_folds), and counts for `pool_folds`.

        If `keep`, the counts can also be passed to `matrices`.
        """
        raise NotImplementedError

    def pool_folds(self, parts: Sequence[Any], predicted: NDArray[Any], tested: NDArray[Any]) -> Any:
        """Return the counts of all test sets pooled.

        `parts` are the counts from each call of `measure_folds`. `tested`, of the shape of the predictions, says how
        often each prediction is in a test set; `tested` is 0 if this was not counted.
        """
        return self.pool(parts)

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Return the metrics over all pairs of one row's truth and another row's prediction."""
        return np.full(len(self.names), np.nan)

    def keeps_matrices(self, n_splits: int) -> bool:
        """Return whether results keep their confusion matrices if there are `n_splits` test sets."""
        return False

    def matrices(self, counted: Sequence[Any], shape: tuple[int, int]) -> ConfusionMatrix[Any] | None:
        """Return the confusion matrices of splits if results keep them; for `counted` see `pool`."""
        return None


class AdditiveMetrics(SplitMetrics):
    """Metrics computed from sums over rows; the sums of several test sets can be added."""

    def sum_by_fold(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Return the sums of each test set, of shape (n_repeats, n_folds, n_sums)."""
        raise NotImplementedError

    def evaluate_totals(self, totals: NDArray[Any]) -> Floats:
        """Return the metrics of n test sets from `totals`, their sums, of shape (n, n_sums)."""
        raise NotImplementedError

    def merge_totals(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Return the sums over all test sets."""
        return np.asarray(totals.sum(axis=0))

    def count_split(self, rows: Rows, predicted: NDArray[Any]) -> NDArray[Any]:
        """Return the sums over a test set."""
        folds = np.zeros((1, rows.size), dtype=np.uint32)
        return np.asarray(self.sum_by_fold(self.row_terms(predicted, rows), folds, 1)[0, 0])

    def row_terms(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Return the terms that each row adds to the sums."""
        raise NotImplementedError

    def row_values(self, rows: Rows, predicted: NDArray[Any]) -> Floats:
        """Return the metrics of each row alone."""
        folds = np.arange(rows.size, dtype=np.uint32)[None]
        return self.evaluate_totals(self.sum_by_fold(self.row_terms(predicted, rows), folds, rows.size)[0])

    def values(self, counted: Sequence[Any]) -> Floats:
        """Return each metric of each test set."""
        return self.evaluate_totals(np.stack(counted))

    def pool(self, counted: Sequence[Any]) -> Any:
        """Return the sums over all test sets; each item of `counted` has the sums of one or more test sets."""
        return self.merge_totals(np.concatenate([each.reshape(-1, each.shape[-1]) for each in counted]))

    def micro(self, pooled: Any) -> Floats:
        """Return the metrics of all test sets pooled."""
        return np.asarray(self.evaluate_totals(pooled[None])[:, 0])

    def prepare(self, predicted: NDArray[Any], n_folds: int) -> NDArray[Any]:
        """Return the terms of each row."""
        return self.row_terms(predicted, None)

    def measure_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Return the metrics of all test sets, and sums: one per test set if `keep`, otherwise pooled."""
        totals = self.sum_by_fold(prepared, folds, n_folds)
        flat = totals.reshape(-1, totals.shape[-1])
        values = self.evaluate_totals(flat).reshape(-1, *totals.shape[:2])
        return values, totals if keep else self.merge_totals(flat)[None, None]


class LabelMetrics(AdditiveMetrics):
    """Metrics of confusion matrices; classes are given by the user or found in `y`, and a test set may lack some."""

    kind = "labels"
    knows_no_information = True

    def __init__(
        self, specs: Mapping[str, Any], y: Any, name: str, *, labels: Any = None, pos_label: Any = None
    ) -> None:
        self.names = list(specs)
        self._specs = specs
        self._name, self._y = name, as_true_labels(name, y)
        self.classes: Classes = as_classes(name, unique_inverse(self._y)[0], labels, pos_label)
        self._order = np.argsort(self.classes.labels, kind="stable")
        self._n_cells = self.classes.labels.size**2
        self._true = self._codes(name, self._y)
        self.evaluate_totals(np.zeros((1, self._n_cells), dtype=np.int64))  # raises early if an option is invalid

    def _codes(self, name: str, labels: NDArray[Any]) -> NDArray[np.int32]:
        return _as_class_codes(name, labels, self.classes.labels, self._order)

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return the class numbers of the predictions."""
        y = self._y if rows is None else self._y[rows]
        labels = as_predicted_labels(y, {name: predicted}, true_name=self._name)[name]
        return self._codes(name, labels if is_text(labels) else as_class_numbers(name, labels))

    def row_terms(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Return the number of each row's cell in the confusion matrix."""
        true = self._true if rows is None else self._true[rows]
        return np.asarray(true * np.int32(self.classes.labels.size) + predicted)

    def sum_by_fold(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Count the rows in each cell, per test set."""
        counts = np.zeros((len(folds), n_folds, self._n_cells), dtype=np.int64)
        count_cells(folds, prepared, counts)
        return counts

    def evaluate_totals(self, totals: NDArray[Any]) -> Floats:
        """Return the metrics of confusion matrices."""
        k = self.classes.labels.size
        metrics = LABELS.metrics(self._specs)  # made anew in each call: closures can't be pickled
        step = max(1, STACKED // (k * k))
        results: list[Floats] = []
        for start in range(0, len(totals), step):
            values = LABELS.evaluate(totals[start : start + step].reshape(-1, k, k), self.classes, metrics)
            for name, each in zip(self.names, values, strict=True):
                check_one_number(name, each.shape[1:])
            results.append(np.stack(values))
        return np.concatenate(results, axis=1)

    def is_row_mean(self, name: str) -> bool:
        """Return whether a metric is a mean over rows."""
        spec = self._specs[name]
        return isinstance(spec, MetricSpec) and is_row_mean(spec)

    def row_values(self, rows: Rows, predicted: NDArray[Any]) -> Floats:
        """Return the metrics of each row alone; rows in the same cell of the matrix have the same values."""
        cells, kinds = np.unique(self.row_terms(predicted, rows), return_inverse=True)
        step = max(1, STACKED // self._n_cells)
        values = []
        for start in range(0, cells.size, step):
            some = cells[start : start + step]
            alone = np.zeros((some.size, self._n_cells), dtype=np.int64)
            alone[np.arange(some.size), some] = 1
            values.append(self.evaluate_totals(alone))
        return np.concatenate(values, axis=1)[:, kinds]

    def measure_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Return the metrics of all test sets, and counts: one per test set if `keep`, otherwise pooled.

        Test sets are counted a few at a time, so that their matrices fit in memory.
        """
        n_cells = self._n_cells
        step = min(max(1, STACKED // n_cells), n_folds)
        repeats = max(1, STACKED // (n_cells * step))
        values, counts = [], []
        for top in range(0, len(folds), repeats):
            some = folds[top : top + repeats]
            parts = [
                super(LabelMetrics, self).measure_folds(
                    prepared, some - np.uint32(start), min(step, n_folds - start), keep=keep
                )
                for start in range(0, n_folds, step)
            ]
            values.append(np.concatenate([each for each, _ in parts], axis=2))
            counts.append(np.concatenate([each for _, each in parts], axis=1).reshape(-1, n_cells))
        return np.concatenate(values, axis=1), np.concatenate(counts)

    def keeps_matrices(self, n_splits: int) -> bool:
        """Return whether results keep their confusion matrices if there are `n_splits` test sets."""
        return n_splits * self._n_cells <= MOST_KEPT

    def matrices(self, counted: Sequence[Any], shape: tuple[int, int]) -> ConfusionMatrix[Any] | None:
        """Return the confusion matrices of splits as one stack of this shape; None if results don't keep them."""
        if not self.keeps_matrices(math.prod(shape)):
            return None
        k = self.classes.labels.size
        return ConfusionMatrix._from_counts(np.concatenate(counted, axis=None).reshape(*shape, k, k), self.classes)

    def class_variance(self, name: str, pooled: NDArray[Any]) -> float:
        """Compute the variance, over classes, of a metric's gain from one more row of the class.

        The new row is divided over predicted labels in the same proportions as the rows of its class.
        """
        k = self.classes.labels.size
        rows = pooled.reshape(k, k).sum(axis=1)
        (present,) = np.nonzero(rows)
        if present.size * pooled.size > MOST_TRIED:
            return math.nan
        more = np.zeros((present.size, k, k))
        more[np.arange(present.size), present] = pooled.reshape(k, k)[present] / rows[present, None]
        return self._variance(name, pooled, more, rows[present])

    def row_variance(self, name: str, pooled: NDArray[Any]) -> float:
        """Compute the variance of a metric's gain from one more row."""
        (present,) = np.nonzero(pooled)
        if present.size * pooled.size > MOST_TRIED:
            return math.nan
        more = np.zeros((present.size, pooled.size))
        more[np.arange(present.size), present] = 1.0
        return self._variance(name, pooled, more, pooled[present])

    def _variance(self, name: str, pooled: NDArray[Any], more: Floats, numbers: NDArray[Any]) -> float:
        """Compute the variance, over kinds of rows, of a metric's gain from one more row.

        Kind i has numbers[i] rows.
        """
        k = self.classes.labels.size
        stack = np.concatenate((pooled.reshape(1, k, k), pooled.reshape(1, k, k) + more.reshape(-1, k, k)))
        (values,) = LABELS.evaluate(stack, self.classes, [LABELS.metric(self._specs[name])])
        return gain_variance(float(values[0]), values[1:], numbers)

    def outcomes(self, name: str, pooled: NDArray[Any]) -> tuple[float, float] | None:
        """Return the successes and failures of shares of rows (accuracy) and, with two classes, of rates (recall)."""
        spec, k = self._specs[name], self.classes.labels.size
        matrix = pooled.reshape(k, k)
        if not isinstance(spec, MetricSpec) or spec.name not in SHARES or spec.options:
            return None
        right = int(np.trace(matrix))
        if SHARES[spec.name].trials == "rows":
            cells = Cells(right, int(matrix.sum()) - right, 0, 0)
        elif k == 2:
            cells = Cells(*map(int, (matrix[1, 1], matrix[0, 1], matrix[1, 0], matrix[0, 0])))
        else:
            return None
        successes, failures = outcomes(spec.name, cells)
        return float(successes), float(failures)

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Return the metrics of the confusion matrix expected if truth and predictions were independent."""
        k = self.classes.labels.size
        margins = [np.bincount(codes, minlength=k) for codes in (self._true, predicted)]
        return self.evaluate_totals((np.outer(*margins) / self._true.size).reshape(1, -1))[:, 0]


class TargetMetrics(AdditiveMetrics):
    """Metrics of numeric errors, except the median absolute error."""

    kind = "targets"
    knows_no_information = True

    def __init__(self, specs: Mapping[str, Any], y: Any, name: str) -> None:
        self.names = list(specs)
        self._specs = specs
        self._metrics = TARGETS.metrics(specs)
        self._y = as_finite_targets(name, y)
        self._origin = choose_origin(self._y)
        largest = float(np.abs(self._y).max())
        # Other targets are scaled, so that squares don't overflow or underflow.
        self._unit = 1.0 if 1 / USUAL_TARGET < largest < USUAL_TARGET else power_of_two(largest)
        self._scatter = any("scatter" in METRICS[each.name].needs for each in self._metrics)

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return the predictions as finite floats."""
        return as_finite_targets(name, predicted)

    def row_terms(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Return each row's squared error, errors above and below the target, relative error, and centred target."""
        y = self._y if rows is None else self._y[rows]
        with np.errstate(over="ignore"):
            errors = predicted - y
            relative = np.abs(errors) / np.maximum(np.abs(y), EPSILON)
            errors *= self._unit
            over, under = np.maximum(errors, 0.0), np.maximum(-errors, 0.0)
            return np.stack((errors * errors, over, under, relative, (y - self._origin) * self._unit), axis=1)

    def sum_by_fold(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Add up the terms of each test set."""
        totals = np.zeros((len(folds), n_folds, N_SUMS + 2 * self._scatter))
        add_terms(folds, prepared[:, :-1], totals)
        if self._scatter:
            add_deviations(folds, prepared[:, -1], np.empty(n_folds), totals)
        return totals

    def merge_totals(self, totals: NDArray[Any]) -> NDArray[Any]:
        """Return the sums over all test sets, where squared deviations are from the overall mean."""
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.asarray(totals.sum(axis=0))
            if self._scatter:
                n, mean = totals[:, 0], totals[:, N_SUMS]
                sums[N_SUMS] = np.sum(n * mean) / sums[0]
                sums[N_SUMS + 1] += np.sum(n * (mean - sums[N_SUMS]) ** 2)
        return sums

    def evaluate_totals(self, totals: NDArray[Any]) -> Floats:
        """Return the metrics of test sets from their sums."""
        scatter = totals[:, -1] if self._scatter else np.zeros(len(totals))
        return self._evaluate_sums(
            RegressionSums(totals[:, 0], scatter, *totals[:, 1:N_SUMS].T)._replace(unit=self._unit)
        )

    def is_row_mean(self, name: str) -> bool:
        """Return whether a metric is a mean over rows."""
        return is_row_mean(self._specs[name])

    def _evaluate_sums(self, sums: RegressionSums) -> Floats:
        return np.stack(TARGETS.evaluate(sums, self._metrics))

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Return the metrics over all pairs of a target and a prediction, by sorting instead of forming pairs."""
        n = self._y.size
        y, p = self._y * self._unit, predicted * self._unit
        middle = y.mean()
        y, p = y - middle, np.sort(p - middle)
        below = np.concatenate(([0.0], np.cumsum(p)))
        rank = np.searchsorted(p, y)
        under, over = rank * y - below[rank], below[-1] - below[rank] - (n - rank) * y
        under, over = np.maximum(under, 0.0), np.maximum(over, 0.0)
        square = n * (np.sum(y * y) + np.sum(p * p)) - 2 * np.sum(y) * np.sum(p)
        relative = np.sum((under + over) / self._unit / np.maximum(np.abs(self._y), EPSILON))
        sums = np.array([square, over.sum(), under.sum(), relative])[:, None]
        scatter = n * np.sum((y - y.mean()) ** 2)
        return self._evaluate_sums(RegressionSums(float(n) ** 2, scatter, *sums)._replace(unit=self._unit))[:, 0]


class QuantileMetrics(AdditiveMetrics):
    """Metrics of predicted quantiles: means of losses."""

    kind = "quantiles"

    def __init__(self, specs: Mapping[str, Any], y: Any, name: str) -> None:
        self.names = list(specs)
        self._metrics = QUANTILES.metrics(specs)
        self._y = QUANTILES.as_truth(name, y)

    def is_row_mean(self, name: str) -> bool:
        """Return True: all metrics of quantiles are means of losses."""
        return True

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return finite quantiles."""
        return QUANTILES.as_array(name, predicted)

    def row_terms(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Return the losses of each row."""
        y = self._y if rows is None else self._y[rows]
        return np.stack([each.losses(y, predicted) for each in self._metrics], axis=1)

    def sum_by_fold(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Add up the rows and the losses of each test set."""
        totals = np.zeros((len(folds), n_folds, 1 + len(self._metrics)))
        add_terms(folds, prepared, totals)
        return totals

    def evaluate_totals(self, totals: NDArray[Any]) -> Floats:
        """Return the mean losses of test sets."""
        return np.asarray(totals[:, 1:] / totals[:, :1]).T


class FunctionMetrics(SplitMetrics):
    """Metrics that are functions of a test set's truth and predictions; they have no pooled value."""

    kind = "values"

    def __init__(self, specs: Mapping[str, Callable[..., Any]], y: Any, name: str) -> None:
        self.names = list(specs)
        self._functions = list(specs.values())
        self._y = as_vector(name, y)

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return the predictions as an array."""
        return as_vector(name, predicted)

    def count_split(self, rows: Rows, predicted: NDArray[Any]) -> Floats:
        """Call the functions, each with its own arrays, because a function may sort them in place."""
        functions = zip(self.names, self._functions, strict=True)
        return np.array([_as_metric_value(name, each(self._y[rows], predicted.copy())) for name, each in functions])

    def values(self, counted: Sequence[Any]) -> Floats:
        """Return each metric of each test set."""
        return np.stack(counted, axis=1)

    def measure_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Call the functions for each test set."""
        results = np.empty((len(self.names), len(folds), n_folds))
        for repeat, row_folds in enumerate(folds):
            rows, starts = rows_by_test_set(row_folds, n_folds)
            for fold in range(n_folds):
                part = rows[starts[fold] : starts[fold + 1]]
                results[:, repeat, fold] = self.count_split(part, prepared[part])
        return results, None


class MedianErrorMetric(FunctionMetrics):
    """The median absolute error, which can't be computed from sums."""

    kind = "targets"

    def __init__(self, specs: Mapping[str, Any], y: Any, name: str) -> None:
        TARGETS.metrics(specs)  # raises if an option is invalid
        super().__init__(dict.fromkeys(specs, median_absolute_error), as_finite_targets(name, y), name)

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return the predictions as finite floats."""
        return as_finite_targets(name, predicted)


def gain_variance(without: float, more: Floats, numbers: NDArray[Any]) -> float:
    """Compute the variance of a metric's gain from one more row.

    `without` is the metric's value, and more[i] is its value if one row of kind i is added. Kind i has numbers[i] rows.
    """
    n = float(numbers.sum())
    gains = (n + 1) * (more - without)
    gains[np.abs(gains) <= GAIN_ROUNDING * n * np.maximum(np.abs(more), 1)] = 0.0
    shares = numbers / n
    return float(shares @ (gains - shares @ gains) ** 2)


def rows_by_test_set(folds: NDArray[np.uint32], n_folds: int) -> tuple[Rows, Rows]:
    """Return a repetition's rows sorted by test set, then by number, and the position where each test set begins."""
    if n_folds == 1:  # ten times as fast as sorting
        rows = np.flatnonzero(folds == 0)
        return rows, np.array([0, rows.size])
    folds = np.minimum(folds, np.uint32(n_folds))
    starts = np.concatenate(([0], np.cumsum(np.bincount(folds, minlength=n_folds)[:n_folds])))
    return np.argsort(folds, kind="stable")[: starts[-1]], starts


def as_finite_targets(name: str, predicted: Any) -> Floats:
    """Return targets or predictions as finite floats."""
    values = TARGETS.as_array(name, predicted)
    check_finite(name, values)
    return values.astype(np.float64)


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_class_codes(
    name: str, labels: NDArray[Any], classes: NDArray[Any], order: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Return the index of each label in `classes`, which `order` sorts; raise if a label is not a class."""
    place, found = find_sorted(classes[order], labels)
    if not found.all():
        row = int(np.argmin(found))
        raise ValueError(
            f"{name} has the label {show(_plain(labels[row]))} at row {row}, which is not among the classes: "
            f"{listed(list(classes))}"
        )
    return order[place].astype(np.int32)


def _as_metric_value(name: str, value: Any) -> float:
    """Return the value of a user's metric on a test set; raise unless it is one real number."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or array.ndim:
        raise ValueError(f"metric {name} must give one real number for each test set, got {show(value)}")
    return float(array)
