"""Replicates of confusion matrices: drawn as counts, or from rows where those have weights or groups, or few alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.samples.base import GROUPS, Sample, Values
from fastevals.infer.bootstrap.samples.joint import Joint
from fastevals.infer.bootstrap.samples.tables import draw_tables, leave_out_table, table_size
from fastevals.infer.bootstrap.samples.units import CellCounter, Units, UnitSample
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.counts import Cells
from fastevals.measure.metric_kinds import MatrixMetric

__all__ = ["LabelSample", "TableSample", "measure_stack"]

STACKED = 1 << 18  # entries of matrices at a time: with many classes a replicate has far more of them than cells


class _Stack(ConfusionMatrix):
    """A stack of matrices whose undefined metrics are NaN without a word: they are counted."""

    __slots__ = ("_cells",)

    def __init__(self, counts: NDArray[Any], classes: check.Classes, mean_axes: tuple[int, ...]) -> None:
        self._cells: Cells | None = None
        self.counts, self._mean_axes = counts, mean_axes
        self.labels, self.pos_label = classes

    def _one_vs_rest(self) -> Cells:
        if self._cells is None:  # most metrics ask for them
            self._cells = super()._one_vs_rest()
        return self._cells

    def _warned(self, name: str, values: NDArray[Any]) -> Any:
        return values


def measure_stack(
    counts: NDArray[Any],
    classes: check.Classes,
    metrics: Sequence[MatrixMetric],
    *,
    mean_axes: tuple[int, ...] = (),
    argument: str = "metrics",
) -> Values:
    """Give each metric of a stack of matrices, of shape (n, ..., K, K), along its first axis; NaN where undefined.

    Metrics are averaged along `mean_axes`; `argument` is what errors of a user's function name.
    """
    stack = _Stack(counts, classes, mean_axes)
    return [check.checked_along(argument, metric(stack), len(counts)) for metric in metrics]


def _measured(
    matrix: ConfusionMatrix, counts: NDArray[Any], metrics: Sequence[MatrixMetric], joint: Joint | None
) -> Values:
    """Give each metric of counts of cells, of which `matrix` has those of the rows themselves."""
    if joint is None:
        stack, axes = counts.reshape(-1, *matrix.counts.shape), tuple(axis + 1 for axis in matrix._mean_axes)
        return measure_stack(stack, matrix._classes, metrics, mean_axes=axes)
    step = max(1, STACKED // matrix.counts.size)
    parts = [counts[start : start + step] for start in range(0, len(counts), step)]
    measured = [measure_stack(joint.matrices(part), matrix._classes, metrics) for part in parts]
    return [np.concatenate(values) for values in zip(*measured, strict=True)]


class TableSample(Sample):
    """Counts of whole rows: each matrix of a stack is drawn from by itself, each true class too if stratified.

    With `joint` the stack is of models on the same rows, which are drawn for all of them.
    """

    def __init__(
        self,
        matrix: ConfusionMatrix,
        metrics: Sequence[MatrixMetric],
        *,
        stratified: bool,
        joint: Joint | None = None,
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
        """Give each metric of the counts themselves."""
        return [check.checked_values("metrics", metric(self._matrix)) for metric in self._metrics]

    def task_size(self) -> int:
        """Give the replicates of one task, by the data alone."""
        return table_size(self.sizes.size)

    def load(self, key: np.uint64) -> None:
        """Nothing is compiled."""

    def draws(self, key: np.uint64, numbers: range, space: Any) -> NDArray[Any]:
        """Give the rows of each cell in each replicate."""
        return draw_tables(self.sizes, self.strata, numbers.start // self.task_size(), key)[: len(numbers)]

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Give each metric of n draws."""
        counts = draws if isinstance(draws, np.ndarray) else np.stack(list(draws))
        return _measured(self._matrix, counts, self._metrics, self._joint)

    def without_group(self, key: np.uint64, number: int, part: slice) -> NDArray[Any]:
        """Give the rows of each cell of a stratum without a random group."""
        return leave_out_table(self.sizes[part], number, key, GROUPS)


class LabelSample(UnitSample):
    """True and predicted labels of rows that have weights or groups, or that few others are like."""

    def __init__(
        self,
        matrix: ConfusionMatrix,
        cells: NDArray[Any],
        metrics: Sequence[MatrixMetric],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
        stratified: bool,
        joint: Joint | None = None,
    ) -> None:
        self._matrix, self._metrics, self._joint = matrix, metrics, joint
        self.labels, self.pos_label = matrix._classes
        k = matrix.labels.size
        self._n_cells = k * k if joint is None else joint.sizes.size
        true = cells // k if joint is None else joint.true[cells]
        units = Units.of(cells.size, groups, true if stratified else None)
        rows = np.argsort(cells, kind="stable")
        self._counter = CellCounter(rows, cells[rows], self._n_cells, units, weights)
        super().__init__(units, cells.size)

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return [check.checked_values("metrics", metric(self._matrix)) for metric in self._metrics]

    def workspace(self) -> Any:
        """Give the times of the units, and what counts are made with."""
        return self.times(), self._counter.scratch()

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Give each metric of n draws."""
        counts = np.empty((n, self._n_cells), dtype=np.float64 if self._counter.sums else np.int64)
        for times, row in zip(draws, counts, strict=True):
            self._counter.count(times, space[1], row)
        return _measured(self._matrix, counts, self._metrics, self._joint)
