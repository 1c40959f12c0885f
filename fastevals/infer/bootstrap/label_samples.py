"""Replicates of confusion matrices: identical rows are drawn as counts of cells, rows with an identity by number.

Matrices of models on the same rows share draws: the cells of the models' joint table (`JointCells`) are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._validation.labels import Classes, as_class_numbers, as_classes, check_known_labels
from fastevals.counting.labels import count_label_tuples, fold_codes, number_labels
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import (
    GROUPS,
    Sample,
    Values,
    WeightedDraws,
    draw_tables,
    leave_out_table,
    table_size,
)
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.kinds import LABELS, MatrixMetric

Ints = NDArray[np.int64]
Models = Mapping[str, NDArray[Any]]

LABEL_ARRAYS = "y_true and predictions"
STACKED = 1 << 18  # matrix entries per batch: with many classes, a replicate has far more entries than cells
# If the squared number of cells exceeds this many times the number of rows, drawing rows is faster than drawing counts
# of cells: with many cells, one call draws fewer replicates. Times per replicate, as counts and as rows: 6 and 7 us for
# 57 cells and 300 rows, 0.10 and 0.05 ms for 944 cells and 30,000 rows, 9.4 and 9.5 ms for 10,000 cells and 3,000,000
# rows, and 8 and 0.7 ms for 8,923 cells and 300,000 rows.
MANY_CELLS = 16


class MatrixSample(Sample):
    """Unweighted rows of confusion matrices, drawn as counts of the matrices' cells.

    Each matrix of a stack is drawn separately; if stratified, so is each true class. With `joint`, the matrices of a
    stack are of models on the same rows, and the cells of the joint table are drawn.
    """

    def __init__(
        self,
        matrix: ConfusionMatrix,
        metrics: Sequence[MatrixMetric],
        *,
        stratified: bool,
        joint: JointCells | None = None,
    ) -> None:
        self._matrix, self._metrics, self._joint = matrix, metrics, joint
        self.labels, self.pos_label = matrix._classes
        counts = matrix.counts.astype(np.int64)
        self.sizes = counts.ravel() if joint is None else joint.sizes
        k = counts.shape[-1]
        if joint is None:
            ends = list(range(0, self.sizes.size + 1, k if stratified else k * k))
        else:
            ends = np.searchsorted(joint.true, range(k + 1)).tolist() if stratified else [0, self.sizes.size]
        self.strata = [slice(*pair) for pair in pairwise(ends)]

    def estimates(self) -> Values:
        """Return each metric of the original counts."""
        return [_checked_values("metrics", metric(self._matrix)) for metric in self._metrics]

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        return table_size(self.sizes.size)

    def load(self, key: np.uint64) -> None:
        """Do nothing: nothing is compiled."""

    def draws(self, key: np.uint64, numbers: range, space: Any) -> NDArray[Any]:
        """Return the number of rows of each cell in each replicate."""
        return draw_tables(self.sizes, self.strata, numbers.start // self.task_size(), key)[: len(numbers)]

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        counts = draws if isinstance(draws, np.ndarray) else np.stack(list(draws))
        return _measure_cells(self._matrix, counts, self._metrics, self._joint)

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the number of rows in each cell of a stratum, without one random group."""
        return leave_out_table(self.sizes[part], number, key, GROUPS)


class WeightedMatrix(NamedTuple):
    """A confusion matrix of weighted rows, and the sums of squared weights in its cells."""

    matrix: ConfusionMatrix
    squares: NDArray[np.float64]


class WeightedMatrixSample(WeightedDraws):
    """The cells of a confusion matrix of weighted rows, which can be drawn."""

    def __init__(self, weighted: WeightedMatrix, metrics: Sequence[MatrixMetric]) -> None:
        self._matrix, self._metrics = weighted.matrix, metrics
        self.labels, self.pos_label = weighted.matrix._classes
        self.set_weights(weighted.matrix.counts.ravel(), weighted.squares.ravel())

    def estimates(self) -> Values:
        """Return each metric of the original counts."""
        return [_checked_values("metrics", metric(self._matrix)) for metric in self._metrics]

    def load(self, key: np.uint64) -> None:
        """Do nothing: nothing is compiled."""

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        return _measure_cells(self._matrix, np.stack(list(draws)), self._metrics, None)


class LabelSample(UnitSample):
    """Rows with an identity: labels with weights, in clusters, or of so many models that few rows are identical."""

    def __init__(
        self,
        matrix: ConfusionMatrix,
        cells: NDArray[Any],
        metrics: Sequence[MatrixMetric],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
        stratified: bool,
        joint: JointCells | None = None,
    ) -> None:
        self._matrix, self._metrics, self._joint = matrix, metrics, joint
        self.labels, self.pos_label = matrix._classes
        k = matrix.labels.size
        self._n_cells = k * k if joint is None else joint.sizes.size
        true = cells // k if joint is None else joint.true[cells]
        units = SamplingUnits.number(cells.size, groups, true if stratified else None)
        rows = np.argsort(cells, kind="stable")
        self._counter = CellCounter(rows, cells[rows], self._n_cells, units, weights)
        super().__init__(units, cells.size)

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        return [_checked_values("metrics", metric(self._matrix)) for metric in self._metrics]

    def workspace(self) -> Any:
        """Return arrays for the draws of the units and for counting them."""
        return self.times(), self._counter.scratch()

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        counts = np.empty((n, self._n_cells), dtype=np.float64 if self._counter.sums else np.int64)
        for times, row in zip(draws, counts, strict=True):
            self._counter.count(times, space[1], row)
        return _measure_cells(self._matrix, counts, self._metrics, self._joint)


class JointCells(NamedTuple):
    """The joint table of true classes and all models' predictions; no metric distinguishes the rows of a cell.

    The table has only the n_cells cells with rows, in the order of their true classes.
    """

    matrix: ConfusionMatrix  # of the original rows, one for each model
    sizes: Ints  # rows of each cell
    true: Ints  # number of the true class of each cell
    places: Ints  # (n_models, n_cells): flat index of each cell in the matrix of each model

    def are_few(self, n_rows: int) -> bool:
        """Return whether it is faster to draw counts of cells than to draw rows."""
        return self.sizes.size**2 <= MANY_CELLS * n_rows

    def matrices(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Add up counts of cells, of shape (n, n_cells), into matrices of shape (n, n_models, K, K)."""
        return _add_up_matrices(self.places, counts, self.matrix.labels.size)


def count_joint_cells(true: NDArray[Any], models: Models, pos_label: Any = None) -> JointCells:
    """Count rows by the true class and the predictions of the models, with comparable labels.

    An array of the mapping may hold many models, with shape (n_models, n_rows).
    """
    labels, codes, sizes = count_label_tuples(LABEL_ARRAYS, _as_class_columns(true, models))
    classes, numbers = encode_classes(labels, codes, pos_label)
    order = np.lexsort(numbers[::-1])
    return _build_joint_cells(classes, np.stack(numbers)[:, order], sizes[order], sizes[order])


def number_joint_cells(
    true: NDArray[Any], models: Models, weights: NDArray[np.float64] | None, pos_label: Any = None
) -> tuple[JointCells, NDArray[np.intp]]:
    """Return the result of `count_joint_cells` for rows that may have weights, and the cell of each row."""
    labels, numbers = number_labels(LABEL_ARRAYS, _as_class_columns(true, models))
    return joint_cells_of_codes(*encode_classes(labels, numbers, pos_label), weights)


def joint_cells_of_codes(
    classes: Classes, codes: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None
) -> tuple[JointCells, NDArray[np.intp]]:
    """Return the joint table of numbers of classes, true ones first and then each model's, and the cell of each row."""
    folded = fold_codes(codes, classes.labels.size)
    _, first, cells, sizes = np.unique(folded, return_index=True, return_inverse=True, return_counts=True)
    rows = sizes if weights is None else np.bincount(cells, weights, minlength=sizes.size)
    return _build_joint_cells(classes, np.stack([each[first] for each in codes], dtype=np.int64), sizes, rows), cells


def encode_classes(
    labels: NDArray[Any], codes: Iterable[NDArray[Any]], pos_label: Any
) -> tuple[Classes, list[NDArray[Any]]]:
    """Return the classes that occur (if two, the positive one last), and the codes as indices into them."""
    classes = as_classes("the data", labels, None, pos_label)
    places = check_known_labels(labels, classes.labels)
    if (np.diff(places) > 0).all() and places[0] == 0:
        return classes, list(codes)
    return classes, [places.astype(each.dtype)[each] for each in codes]


def _as_class_columns(true: NDArray[Any], models: Models) -> list[NDArray[Any]]:
    """Return the true labels and the labels of each model, as integers if they are numbers."""
    columns = {"y_true": true}
    for name, labels in models.items():
        columns |= {name: labels} if labels.ndim == 1 else {f"{name}[{i}]": row for i, row in enumerate(labels)}
    return [as_class_numbers(name, labels) for name, labels in columns.items()]


def _build_joint_cells(classes: Classes, codes: Ints, sizes: Ints, rows: NDArray[Any]) -> JointCells:
    """Return the joint table from the codes of each cell, true class first; `rows` has each cell's rows or weight."""
    places = codes[0] * classes.labels.size + codes[1:]
    matrix = ConfusionMatrix._from_counts(_add_up_matrices(places, rows[None], classes.labels.size)[0], classes)
    return JointCells(matrix, sizes, codes[0], places)


def _add_up_matrices(places: Ints, counts: NDArray[Any], k: int) -> NDArray[Any]:
    """Add up counts of joint cells into the K x K matrix of each model: the core of `JointCells.matrices`."""
    matrices = np.zeros((len(counts), len(places), k * k), dtype=counts.dtype)
    for model, place in enumerate(places):
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        matrices[:, model, place[order][starts]] = np.add.reduceat(counts[:, order], starts, axis=1)
    return matrices.reshape(len(counts), len(places), k, k)


def measure_joint_cells(joint: JointCells, counts: NDArray[Any], metrics: Sequence[MatrixMetric]) -> Values:
    """Return each metric of each model for given counts of joint cells."""
    step = max(1, STACKED // joint.matrix.counts.size)
    parts = [counts[start : start + step] for start in range(0, len(counts), step)]
    measured = [LABELS.evaluate(joint.matrices(part), joint.matrix._classes, metrics) for part in parts]
    return [np.concatenate(values) for values in zip(*measured, strict=True)]


def _measure_cells(
    matrix: ConfusionMatrix, counts: NDArray[Any], metrics: Sequence[MatrixMetric], joint: JointCells | None
) -> Values:
    """Return each metric for given counts of cells; `matrix` has the original counts."""
    if joint is None:
        stack, axes = counts.reshape(-1, *matrix.counts.shape), tuple(axis + 1 for axis in matrix._mean_axes)
        return LABELS.evaluate(stack, matrix._classes, metrics, mean_axes=axes)
    return measure_joint_cells(joint, counts, metrics)


def _checked_values(name: str, values: Any) -> NDArray[np.float64]:
    """Check that a user's function of one matrix returned real numbers, and return them."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name}: a function must return real numbers, got {show(values)}")
    return array.astype(np.float64)
