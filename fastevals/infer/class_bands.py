"""Replicates of macro and micro curves of several classes: one draw of rows for the curves of all classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import replicate_curves
from fastevals._kernels import tubes as tube_kernels
from fastevals._kernels.class_curves import add_draws
from fastevals._kernels.steps import totals
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import Values
from fastevals.infer.tubes import (
    MEASURED_STEP,
    Edges,
    Tube,
    coordinates,
    distinct_rows,
    polyline_points,
    rates_apart,
    studentised_edges,
)
from fastevals.measure.class_scores import ClassScores

Floats = NDArray[np.float64]

MOST_POINTS = 1 << 14  # places at which each draw's curve is evaluated; with more rows, they are further apart
KERNELS = {"roc": replicate_curves.roc_at, "precision_recall": replicate_curves.precision_at}


class AverageCurves(UnitSample):
    """Unweighted rows with scores of several classes, whose metric is an average curve on an ascending grid.

    A micro curve has all columns in one ranking, so a drawn row counts once for each class.
    """

    def __init__(
        self, scores: ClassScores, rankings: Sequence[ThresholdCounts], curve: str, grid: Floats, *, stratified: bool
    ) -> None:
        self._kernel, self._grid = KERNELS[curve], grid
        units = SamplingUnits.number(scores.columns.shape[1], None, scores.codes if stratified else None)
        counted = [counts.take(distinct_rows(counts)) for counts in rankings]
        each = range(len(scores.columns))
        parts = [[k] for k in each] if len(rankings) > 1 else [list(each)]
        self._cells = [
            [_cells_of(scores, k, counts, units) for k in part] for part, counts in zip(parts, counted, strict=True)
        ]
        self._n_bins = [counts.thresholds.size - 1 for counts in counted]
        super().__init__(units, scores.columns.size)

    def workspace(self) -> Any:
        """Return arrays to draw the units into, and to count a draw of each column in."""
        counts = [np.zeros((2, n), dtype=np.int64) for n in self._n_bins]
        return self.times(), counts, [np.ones(n, dtype=np.bool_) for n in self._n_bins], np.empty(self._grid.size)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the average curve of n draws, of shape (n, n_points); NaN if a class was not drawn."""
        return [self.curves(draws, n, space)]

    def curves(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Floats:
        """Return the average curve of n draws, one per row."""
        values = np.zeros((n, self._grid.size))
        _, counted, tied, of_class = space
        for times, row in zip(draws, values, strict=True):
            for columns, counts, each in zip(self._cells, counted, tied, strict=True):
                counts[:] = 0
                for cells in columns:
                    add_draws(times, cells, counts.reshape(-1))
                self._kernel(*counts, each, *totals(*counts), self._grid, of_class)
                row += of_class
        return values / len(self._cells)

    def original(self) -> Floats:
        """Return the average curve of all rows."""
        curve: Floats = self.curves([np.ones_like(self.sizes)], 1, self.workspace())[0]
        return curve


class AverageTube(AverageCurves):
    """`measure` returns how far the average ROC curve of each draw is from the original curve."""

    def __init__(
        self, scores: ClassScores, rankings: Sequence[ThresholdCounts], sizes: tuple[int, int], *, stratified: bool
    ) -> None:
        self._n = sizes
        step = max(MEASURED_STEP, rates_apart(sizes[0], MEASURED_STEP).size * MEASURED_STEP / MOST_POINTS)
        grid = rates_apart(sizes[0], step)
        super().__init__(scores, rankings, "roc", grid, stratified=stratified)
        self._x = coordinates(np.append(0.0, grid) * sizes[0], sizes[0])
        right, up = (np.append(0.0, each) * n for each, n in zip((grid, self.original()), sizes, strict=True))
        self._points = polyline_points(right, up, sizes, step, step)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the largest distance of the curve from each of n draws; NaN if a class was not drawn."""
        distances = np.full(n, np.nan)
        for k, curve in enumerate(self.curves(draws, n, space)):
            if not np.isnan(curve[0]):
                y = coordinates(np.append(0.0, curve) * self._n[1], self._n[1])
                distances[k] = tube_kernels.farthest(*self._points, self._x, y, y.size)
        return [distances]


def _cells_of(scores: ClassScores, k: int, counts: ThresholdCounts, units: SamplingUnits) -> NDArray[Any]:
    """Return the cell of each unit in a column: its step, after all steps of positives if the row is negative."""
    n = counts.thresholds.size - 1
    ascending = counts.thresholds[:0:-1]
    step = n - np.searchsorted(ascending, scores.columns[k], side="right")
    cells = np.empty(step.size, dtype=np.uint16 if 2 * n <= 1 << 16 else np.uint32)
    cells[units.unit_by_row] = step + n * (scores.flags(k) == 0)
    return cells


class ClassBand:
    """The replicates of an average curve of `ClassRankings`."""

    def __init__(
        self, classes: Any, average: str, n_resamples: int, key: np.uint64, *, stratified: bool, progress: bool
    ) -> None:
        self._classes, self._average = classes, average
        self._counts = [each.counts for each in ([classes._as_one()] if average == "micro" else classes.rankings)]
        self._drawn = n_resamples, key, progress
        self._stratified = stratified

    def studentised(self, curve: str, at: Floats | None, level: float) -> tuple[Edges, int]:
        """Return x and the edges of the tube around the curve, and the number of replicates without a class."""
        n_resamples, key, progress = self._drawn
        _check_both_sides(self._average, self._counts)
        line = self._classes.roc_curve(average=self._average)
        sizes = sizes_of(self._counts)
        sample = AverageTube(self._classes._scores, self._counts, sizes, stratified=self._stratified)
        (distances,) = sample.replicates(n_resamples, key, progress=progress)
        defined = ~np.isnan(distances)
        tube = Tube.around(line.fpr, line.tpr, sizes, distances[defined], level)
        return studentised_edges(self._counts[0], curve, at, tube), int(np.count_nonzero(~defined))

    def replicates(self, curve: str, at: Floats) -> Floats:
        """Return replicates of the curve, of shape (n_resamples, n_points)."""
        n_resamples, key, progress = self._drawn
        sample = AverageCurves(self._classes._scores, self._counts, curve, at, stratified=self._stratified)
        return sample.replicates(n_resamples, key, progress=progress)[0]


def sizes_of(rankings: Sequence[ThresholdCounts]) -> tuple[int, int]:
    """Return the negative and positive rows of one ranking whose rates have the standard errors of the mean rates."""
    k = len(rankings)
    inverse = [sum(1 / int(n) for n in each) for each in zip(*((c.n_neg, c.n_pos) for c in rankings), strict=True)]
    n_neg, n_pos = (max(round(k * k / each), 1) for each in inverse)
    return n_neg, n_pos


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_both_sides(average: str, rankings: Sequence[ThresholdCounts]) -> None:
    """Raise unless each ranking has positives and negatives."""
    if not all(counts.n_pos and counts.n_neg for counts in rankings):
        what = "a positive and a negative cell" if average == "micro" else "rows of each class and outside it"
        raise ValueError(f"average={average!r} needs {what}")
