"""Replicates of rankings and of their curves: steps of the ROC staircase are drawn, and metrics swept from counts.

Whole rows are drawn by the cell: `RankingSample`, and `CurveSample` for curves. Rows with weights, groups or several
models are drawn by number: `ModelsSample`. All sweep a draw with the same `RankingSweep`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import jackknife, replicate_curves, replicate_metrics, replicate_thresholds
from fastevals._kernels.random import stream_key
from fastevals._kernels.steps import above_cut, fill_steps, merge_steps, totals
from fastevals._validation.labels import check_resampled_rows
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import (
    GROUPS,
    SLOW_PER_TASK,
    CellSampler,
    Sample,
    Values,
    draw_tables,
    jackknife_acceleration,
    leave_out_table,
    table_size,
)
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import RocCurve
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import Detail

FEW_CELLS, FEW_ROWS = 16, 1000  # cells in all, or rows a cell, for which it is faster to draw a binomial a cell


class RankingSample(Sample):
    """Rows that are alike: whole rows of a ranking, drawn by the cell, each class by itself if stratified.

    A cell is the positives, or the negatives, of a step. Where cells are few, or have many rows each, a draw is a
    binomial for each; else a `CellSampler` draws.
    """

    def __init__(
        self, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, stratified: bool, pos_label: Any = None
    ) -> None:
        self.pos_label = pos_label
        self._sweep = RankingSweep(counts, metrics)
        self.class_sizes = int(counts.n_pos), int(counts.n_neg)
        sizes = self._sweep.steps.sizes
        self.sizes = sizes.ravel()
        n = sizes.shape[1]
        self.strata = [slice(0, n), slice(n, 2 * n)] if stratified else [slice(0, 2 * n)]
        n_cells = np.count_nonzero(sizes)
        self._few = n_cells <= FEW_CELLS or n_cells * FEW_ROWS < counts.n_pos + counts.n_neg
        sampled = [] if self._few else [part for part in self.strata if self.sizes[part].any()]
        self._samplers = [(part, CellSampler(self.sizes[part])) for part in sampled]

    def estimates(self) -> Values:
        """Return each metric of the rows themselves."""
        return self._sweep.estimates()

    def workspace(self) -> tuple[NDArray[Any], SweepSpace]:
        """Return the counts of a draw, and what kernels write to."""
        return np.zeros_like(self.sizes), self._sweep.workspace()

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        if self._few:
            return table_size(self.sizes.size)
        return super().task_size() if self._sweep.quick else SLOW_PER_TASK

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Return the rows of each cell in each replicate."""
        if self._few:
            drawn = draw_tables(self.sizes.astype(np.int64), self.strata, numbers.start // self.task_size(), key)
            # Rows side by side: kernels are compiled for one layout.
            yield from drawn[: len(numbers)].astype(self.sizes.dtype, order="C")
            return
        counts = space[0]
        for number in numbers:
            stream = stream_key(key, np.uint64(number))
            for k, (part, sampler) in enumerate(self._samplers):
                sampler.draw(np.uint64(stream_key(np.uint64(stream), np.uint64(k))), counts[part])
            yield counts

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        raw = np.empty((n, self._sweep.n_raw))
        for counts, row in zip(draws, raw, strict=True):
            self._sweep.sweep(counts.reshape(2, -1), space[1], row)
        return self._sweep.values(raw)

    def without_group(self, key: np.uint64, number: int, part: slice) -> NDArray[Any]:
        """Return the rows of each cell of a stratum without a random group."""
        if self._few:
            return leave_out_table(self.sizes[part], number, key, GROUPS)
        return super().without_group(key, number, part)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose values without one row have a closed form."""
        return self._sweep.closed_form_acceleration(metric, stratified=len(self.strata) > 1)


class ModelsSample(UnitSample):
    """Rows that have names: with weights, in groups, or with the scores of several models on the same rows.

    A draw of rows, or of groups, is the same for all models. Values are of shape (n, n_models), or (n,) with
    `one_model`.
    """

    def __init__(
        self,
        truth: BinaryLabels,
        scores: Mapping[str, NDArray[Any]],
        metrics: Sequence[RankingMetric],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
        stratified: bool,
        one_model: bool,
    ) -> None:
        self._one_model = one_model
        self.pos_label = truth.positive
        negative = truth.values != truth.positive
        self.class_sizes = int(np.count_nonzero(~negative)), int(np.count_nonzero(negative))
        units = SamplingUnits.number(negative.size, groups, negative if stratified else None)
        rankings = [
            Ranking(truth.values, each, sample_weight=weights, pos_label=truth.positive) for each in scores.values()
        ]
        models: list[tuple[RankingSweep, CellCounter]] = []
        for each, ranking in zip(scores.values(), rankings, strict=True):
            sweep, rows, cells = sort_rows_by_step(ranking.counts, each, negative, metrics)
            if not models and groups is None:
                units = units.renumbered(rows)
            models.append((sweep, CellCounter(rows, cells, sweep.steps.sizes.size, units, weights)))
        self._models = models
        self._whole_rows = weights is None and groups is None
        super().__init__(units, negative.size * len(models))

    def estimates(self) -> Values:
        """Return each metric of each model, of the rows themselves."""
        return self._by_metric([sweep.estimates() for sweep, _ in self._models])

    def workspace(self) -> Any:
        """Return the times of the units, and for each model what its counts are made with."""
        spaces = []
        for sweep, counter in self._models:
            sizes = sweep.steps.sizes
            counts = np.empty(sizes.shape, dtype=np.float64 if counter.sums else sizes.dtype)
            spaces.append((counter.scratch(), counts, sweep.workspace(sums=counter.sums)))
        return self.times(), spaces

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of each model in n draws."""
        raw = [np.empty((n, sweep.n_raw)) for sweep, _ in self._models]
        for number, times in enumerate(draws):
            for (sweep, counter), (drawn, counts, scratch), rows in zip(self._models, space[1], raw, strict=True):
                counter.count(times, drawn, counts.reshape(-1))
                sweep.sweep(counts, scratch, rows[number])
        return self._by_metric([sweep.values(rows) for (sweep, _), rows in zip(self._models, raw, strict=True)])

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return super().task_size() if self._models[0][0].quick else SLOW_PER_TASK

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose values without one row have a closed form."""
        if not self._whole_rows:
            return None
        stratified = len(self.strata) > 1
        values = [sweep.closed_form_acceleration(metric, stratified=stratified) for sweep, _ in self._models]
        return None if any(each is None for each in values) else np.array(values)

    def _by_metric(self, values: list[Values]) -> Values:
        return values[0] if self._one_model else [np.stack(each, axis=-1) for each in zip(*values, strict=True)]


def sort_rows_by_step(
    counts: ThresholdCounts, scores: NDArray[Any], negative: NDArray[np.bool_], metrics: Sequence[RankingMetric]
) -> tuple[RankingSweep, NDArray[np.intp], NDArray[Any]]:
    """Return the sweep of metrics of counts, the rows in the order of their cells, and the cell of each of these."""
    sweep = RankingSweep(counts, metrics, rows=True)
    rows, ranks = _by_class_and_score(negative, scores)
    return sweep, rows, sweep.steps.step_by_row[1 + ranks] + negative[rows] * sweep.steps.tied.size


def _by_class_and_score(negative: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows, positives first, from the highest score down, and the number of each one's distinct score."""
    rows = scores.size - 1 - np.argsort(scores[::-1], kind="stable")[::-1]
    ordered = scores[rows]
    ranks = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    negatives = negative[rows]
    by_class = np.concatenate((np.flatnonzero(~negatives), np.flatnonzero(negatives)))
    return rows[by_class], ranks[by_class]


class CurveOnGrid(NamedTuple):
    """Functions that read a curve at an ascending grid: of threshold counts, and of how often each step was drawn."""

    of_counts: Callable[[ThresholdCounts, NDArray[np.float64]], Any]
    kernel: Callable[..., None]


CURVES = {
    "roc": CurveOnGrid(lambda counts, grid: RocCurve(counts).at(fpr=grid), replicate_curves.roc_at),
    "precision_recall": CurveOnGrid(
        lambda counts, grid: PrecisionRecallCurve(counts).at(recall=grid), replicate_curves.precision_at
    ),
}


class CurveSample(RankingSample):
    """Whole rows of a ranking, and the one metric that the curve named is, at each x of an ascending grid."""

    def __init__(self, counts: ThresholdCounts, curve: str, grid: NDArray[np.float64], *, stratified: bool) -> None:
        self._grid, (of_counts, self._kernel) = grid, CURVES[curve]
        metric = RankingMetric(lambda counts: of_counts(counts, grid), Detail.POLYLINE)
        super().__init__(counts, [metric], stratified=stratified)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the curves of n draws, of shape (n, n_points); NaN where a class was not drawn."""
        values = np.empty((n, self._grid.size))
        tied = self._sweep.steps.tied
        for counts, row in zip(draws, values, strict=True):
            positives, negatives = counts.reshape(2, -1)
            self._kernel(positives, negatives, tied, *totals(positives, negatives), self._grid, row)
        return [values]


# From positives and negatives by step, how many there are, and scratch: to a value, or the counts above a threshold.
SweepFunction = Callable[[NDArray[Any], int, int, NDArray[Any]], Any]


class RankingSweep:
    """The steps of one ranking, and its metrics computed from how often each step was drawn.

    Draws are counted by `steps`, as fine as the finest metric needs. Where that one tells all thresholds apart and
    others don't, their counts are first added up to `coarse` steps, which are fewer; else the two are the same.
    `sweep` writes `n_raw` numbers of a draw, from which `values` computes the metrics of all draws at once.
    """

    def __init__(self, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, rows: bool = False) -> None:
        self.counts, self.metrics = counts, metrics  # counts of the rows themselves
        fixed = [metric.threshold for metric in metrics if metric.threshold is not None]
        if counts.tps.dtype.kind != "f" and len(fixed) < len(metrics):
            check_resampled_rows("the ranking", int(counts.n_pos + counts.n_neg))  # their products then fit
        cut_rows = [int(counts.rows_at_least(threshold)) for threshold in fixed]
        details = {metric.detail for metric in metrics}
        self.steps = self.coarse = Steps.from_counts(counts, max(details), cut_rows, rows=rows)
        if max(details) == Detail.THRESHOLDS and len(details) > 1:
            self.coarse = Steps.from_counts(counts, max(details - {Detail.THRESHOLDS}), cut_rows, rows=True)
        cuts = iter(self.coarse.cuts)
        self.quick = all(metric.sweep or metric.of_cells for metric in metrics)  # all have kernels
        self._functions = [self._sweep_function(metric, cuts) for metric in metrics]
        self._scratch = max((metric.sweep.scratch for metric in metrics if metric.sweep), default=0)
        ends = np.cumsum([2, *(2 if metric.of_cells else 1 for metric in metrics)]).tolist()
        self._places = [slice(*pair) for pair in pairwise(ends)]
        self.n_raw = ends[-1]

    def _sweep_function(self, metric: RankingMetric, cuts: Iterator[int]) -> SweepFunction:
        """Return the function that sweeps a metric."""
        steps, sweep = self._select_steps(metric), metric.sweep
        if metric.threshold is not None:
            cut = next(cuts)
            return lambda counts, n_pos, n_neg, scratch: above_cut(*counts, cut)
        if sweep is None:
            return lambda counts, n_pos, n_neg, scratch: metric.of_counts(steps.threshold_counts(counts))
        kernel = getattr(replicate_thresholds if metric.of_cells else replicate_metrics, sweep.kernel)
        parameters: tuple[Any, ...] = metric.parameters
        if sweep.of_thresholds is not None and steps.thresholds is not None:
            parameters = sweep.of_thresholds(steps.thresholds)
        return lambda counts, n_pos, n_neg, scratch: kernel(
            *counts, steps.tied, n_pos, n_neg, *parameters, *scratch[: sweep.scratch]
        )

    def _select_steps(self, metric: RankingMetric) -> Steps:
        return self.steps if metric.detail == Detail.THRESHOLDS else self.coarse

    def workspace(self, *, sums: bool = False) -> SweepSpace:
        """Return the working memory of one thread; `sums` where counts are sums of floats."""
        integer = np.int32 if self.counts.n_pos + self.counts.n_neg < 2**31 else np.int64
        coarse = self.coarse.sizes if self.coarse is not self.steps else np.empty((2, 0), dtype=np.int32)
        return SweepSpace(
            np.empty(coarse.shape, dtype=np.float64 if sums else coarse.dtype),
            np.empty((self._scratch, self.coarse.tied.size + 2), dtype=np.float64 if sums else integer),
        )

    def estimates(self) -> Values:
        """Return each metric of the rows themselves."""
        return [np.array(metric.of_counts(self.counts)) for metric in self.metrics]

    def sweep(self, counts: NDArray[Any], space: SweepSpace, raw: NDArray[np.float64]) -> None:
        """Write what is swept of a draw: positives, negatives, and each metric or the two counts that it is made of."""
        coarse = counts
        if self.coarse is not self.steps:
            coarse = space.coarse
            merge_steps(counts, self.coarse.step_by_row, coarse)
        n_pos, n_neg = totals(*coarse)
        raw[:2] = n_pos, n_neg
        for metric, place, function in zip(self.metrics, self._places, self._functions, strict=True):
            drawn = counts if metric.detail == Detail.THRESHOLDS else coarse
            raw[place] = function(drawn, n_pos, n_neg, space.scratch)

    def values(self, raw: NDArray[np.float64]) -> Values:
        """Return each metric of all draws."""
        dtype = self.counts.tps.dtype
        n_pos, n_neg = raw[:, :2].T.astype(dtype)
        results = []
        for metric, place in zip(self.metrics, self._places, strict=True):
            if metric.of_cells:
                tp, fp = raw[:, place].T.astype(dtype)
                defined = tp >= 0
                tp, fp = tp * defined, fp * defined
                values = np.asarray(metric.of_cells(Cells(tp, fp, n_pos - tp, n_neg - fp)), dtype=np.float64)
                values = np.where(defined, values, np.nan)
            else:
                transform = metric.sweep.then if metric.sweep else None
                values = raw[:, place.start]
                values = values.copy() if transform is None else transform(values)
            results.append(values)
        return results

    def closed_form_acceleration(self, k: int, *, stratified: bool) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose values without one row of each cell have a closed form."""
        metric = self.metrics[k]
        steps = self._select_steps(metric)
        sizes = steps.sizes
        if metric.of_cells and metric.threshold is not None:
            at = np.array(self.counts.cells(self.counts.rows_at_least(metric.threshold)))
            values = np.asarray(metric.of_cells(Cells(*(at[:, None] - np.diag((at > 0).astype(np.int64))))))
            order = np.array([[0, 2], [1, 3]])  # cells of positives first: tp, fn, fp, tn
            values, sizes = values[order], at[order]
        elif metric.sweep and metric.sweep.jackknife:
            values = np.empty(sizes.shape)
            n_pos, n_neg = totals(*sizes)
            getattr(jackknife, metric.sweep.jackknife)(*sizes, steps.tied, n_pos, n_neg, values)
            values = metric.sweep.then(values) if metric.sweep.then else values
        else:
            return None
        n = sizes.shape[1]
        strata = [slice(0, n), slice(n, 2 * n)] if stratified else [slice(None)]
        return jackknife_acceleration(values.ravel(), sizes.ravel(), strata)


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of the ROC staircase from the highest threshold down, as few as metrics need.

    Thresholds that no metric tells apart are one step: all between two fixed thresholds, positives and the negatives
    after them up to the next corner of the polyline, or negatives between two thresholds with positives (`Detail`).
    """

    sizes: NDArray[Any]  # (2, n_steps) positives and negatives, in the least type that holds what may be drawn
    tied: NDArray[np.bool_]  # whether those of a step share a threshold; otherwise the positives come first
    cuts: tuple[int, ...]  # steps above each threshold that is fixed beforehand
    thresholds: NDArray[np.float64] | None  # of the steps, where their values count
    step_by_row: NDArray[np.int32]  # of each row of the threshold counts but row 0; empty unless needed

    @classmethod
    def from_counts(
        cls, counts: ThresholdCounts, detail: Detail, cut_rows: Sequence[int] = (), *, rows: bool = False
    ) -> Steps:
        """Merge thresholds to steps; `cut_rows` are the last rows of counts above the thresholds that are fixed."""
        last = counts.thresholds.size - 1
        ends, place = np.unique(np.asarray(cut_rows, dtype=np.int64), return_inverse=True)
        step_by_row = np.zeros(last + 1 if rows else 0, dtype=np.int32)
        swept = counts
        if detail == Detail.CUTS:
            kept = np.union1d(ends, [0, last])
            swept, ends = counts.take(kept), np.searchsorted(kept, ends)
            step_by_row[:] = np.searchsorted(kept, np.arange(step_by_row.size)) - 1
        written = step_by_row if detail != Detail.CUTS else step_by_row[:0]
        cut_steps = np.zeros(ends.size, dtype=np.int64)
        merge = detail in (Detail.POLYLINE, Detail.POSITIVES), detail == Detail.POLYLINE
        walk = partial(fill_steps, swept.tps, swept.fps, *merge, ends, cut_steps, written)
        n_steps, largest = walk(np.empty((2, 0), dtype=np.int32), np.empty(0, dtype=np.bool_))
        sizes = np.empty((2, n_steps), dtype=_count_dtype(counts, largest))
        tied = np.empty(n_steps, dtype=np.bool_)
        walk(sizes, tied)
        values = counts.thresholds[1:].astype(np.float64) if detail == Detail.THRESHOLDS else None
        return cls(sizes, tied, tuple(cut_steps[place].tolist()), values, step_by_row)

    def threshold_counts(self, counts: NDArray[Any]) -> ThresholdCounts:
        """Return a replicate's curve, of what `counts` has of each cell; ranks stand for thresholds of no value."""
        positives, negatives = counts
        wide = np.float64 if counts.dtype.kind == "f" else np.int64
        tps, fps = np.cumsum(positives, dtype=wide), np.cumsum(negatives, dtype=wide)
        thresholds = self.thresholds
        if thresholds is None:
            corners = np.stack((fps - np.where(self.tied, 0, negatives), fps), axis=1)
            tps, fps = np.repeat(tps, 2), corners.ravel()
        moved = np.flatnonzero((np.diff(tps, prepend=0) != 0) | (np.diff(fps, prepend=0) != 0))
        values = np.arange(moved.size, 0, -1, dtype=np.float64) if thresholds is None else thresholds[moved]
        zero = np.zeros(1, dtype=wide)
        return ThresholdCounts._unchecked(
            np.concatenate(([np.inf], values)),
            np.concatenate((zero, tps[moved])),
            np.concatenate((zero, fps[moved])),
        )


SMALL = 1 << 14  # rows of a cell of which 4 times as many are never drawn: the chance is below 1e-10,000


def _count_dtype(counts: ThresholdCounts, largest: float) -> type[np.generic]:
    """Return the least type that holds what is drawn of a cell, of which the largest has so many rows."""
    if counts.tps.dtype.kind == "f":
        return np.float64
    if largest <= SMALL:
        return np.uint16
    return np.int32 if counts.n_pos + counts.n_neg < 2**31 else np.int64


class SweepSpace(NamedTuple):
    """Working memory of one thread: counts of the coarse steps, where there are some, and what kernels write to."""

    coarse: NDArray[Any]
    scratch: NDArray[Any]
