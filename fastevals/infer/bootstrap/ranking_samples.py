"""Replicates of rankings: draw steps of the ROC staircase, and compute metrics in one sweep over the counts.

Unweighted rows are drawn by cell (`RankingSample`). Rows with weights, clusters or several models, and rows that nearly
all have a cell of their own, are drawn by number (`ModelsSample`). All use the same `RankingSweep`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels import replicate_metrics, replicate_thresholds
from fastevals._kernels.random import stream_key
from fastevals._kernels.steps import above_cut, totals
from fastevals._validation.labels import check_resampled_rows
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.jackknife import leave_each_out
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, Times, UnitSample, zero_bytes
from fastevals.infer.bootstrap.samples import (
    GROUPS,
    SLOW_PER_TASK,
    CellSampler,
    Sample,
    Values,
    WeightedDraws,
    draw_tables,
    jackknife_acceleration,
    leave_out_table,
    table_size,
)
from fastevals.infer.bootstrap.steps import SortedRows, Steps
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import Detail, ReplicateKernel

FEW_CELLS = 16  # up to this many cells, drawing many replicates in one call is faster
PRODUCTS_FIT = 1 << 32  # from this many rows on, products of class sizes exceed 64 bits and sweeps use floats
DRAWS_TOGETHER = 4  # draws summed in one pass, so that terms are read from memory once: reading takes longest
MANY_CELLS, ROWS_A_CELL = 500, 4  # with more cells, and fewer rows per cell, drawing single rows is as fast


def make_ranking_sample(
    counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, stratified: bool, pos_label: Any = None
) -> Sample:
    """Return the sample of unweighted rows of a ranking, drawn by cell, or by number if most have their own cell."""
    if any(metric.detail == Detail.THRESHOLDS for metric in metrics):
        n_cells = sum(int(np.count_nonzero(np.diff(each))) for each in (counts.tps, counts.fps))
        if n_cells > max(MANY_CELLS, (counts.n_pos + counts.n_neg) / ROWS_A_CELL):
            return ModelsSample.from_counts(counts, metrics, stratified=stratified, pos_label=pos_label)
    return RankingSample(counts, metrics, stratified=stratified, pos_label=pos_label)


class RankingSample(Sample):
    """Unweighted rows of a ranking, drawn by cell, and per class if stratified.

    A cell has the positives, or the negatives, of one step. Few cells are drawn as binomials for many replicates in one
    call; many cells are drawn by a `CellSampler`. There are only as many steps as the metrics need, unless `detail` is
    given.
    """

    def __init__(
        self,
        counts: ThresholdCounts,
        metrics: Sequence[RankingMetric],
        *,
        stratified: bool,
        pos_label: Any = None,
        detail: Detail | None = None,
    ) -> None:
        self.pos_label = pos_label
        self.class_sizes = int(counts.n_pos), int(counts.n_neg)
        self._in_floats = sum(self.class_sizes) >= PRODUCTS_FIT
        if self._in_floats:
            fits = [each.astype(np.float64) for each in (counts.tps, counts.fps)]
            counts = ThresholdCounts._unchecked(counts.thresholds, *fits)
        self._sweep = RankingSweep(counts, metrics, detail=detail)
        sizes = self._sweep.steps.sizes
        self.sizes = sizes.ravel() if not self._in_floats else sizes.ravel().astype(np.int64)
        n = sizes.shape[1]
        self.strata = [slice(0, n), slice(n, 2 * n)] if stratified else [slice(0, 2 * n)]
        n_cells = np.count_nonzero(sizes)
        self._few = n_cells <= FEW_CELLS
        sampled = [] if self._few else [part for part in self.strata if self.sizes[part].any()]
        self._samplers = [(part, CellSampler(self.sizes[part])) for part in sampled]

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        return self._sweep.estimates()

    def workspace(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return arrays for the counts of a draw and for kernels to write to."""
        return np.zeros_like(self.sizes), self._sweep.workspace(sums=self._in_floats)

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        if self._few:
            return table_size(self.sizes.size)
        return super().task_size() if self._sweep.quick else SLOW_PER_TASK

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Yield the number of rows of each cell in each replicate."""
        if self._few:
            drawn = draw_tables(self.sizes.astype(np.int64), self.strata, numbers.start // self.task_size(), key)
            # Contiguous rows: kernels are compiled for one layout.
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
            drawn = counts.astype(np.float64) if self._in_floats else counts
            self._sweep.sweep(drawn.reshape(2, -1), space[1], row)
        return self._sweep.values(raw)

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the number of rows in each cell of a stratum, without one random group."""
        if self._few or self._in_floats:
            return leave_out_table(self.sizes[part], number, key, GROUPS)
        return super().without_group(key, number, part)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose leave-one-out values have a closed form."""
        if self._in_floats:
            return np.zeros(())  # with so many rows the acceleration is below 1e-4
        return self._sweep.closed_form_acceleration(metric, stratified=len(self.strata) > 1)


class WeightedSample(WeightedDraws):
    """The cells of a ranking of weighted rows, which can be drawn."""

    def __init__(self, counts: ThresholdCounts, squares: ThresholdCounts, metrics: Sequence[RankingMetric]) -> None:
        self._sweep = RankingSweep(counts, metrics, detail=Detail.THRESHOLDS)
        squared = [np.diff(each.astype(np.float64)) for each in (squares.tps, squares.fps)]
        self.set_weights(self._sweep.steps.sizes.ravel(), np.concatenate(squared))

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        return self._sweep.estimates()

    def workspace(self) -> NDArray[Any]:
        """Return arrays for kernels to write to."""
        return self._sweep.workspace(sums=True)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        raw = np.empty((n, self._sweep.n_raw))
        for drawn, row in zip(draws, raw, strict=True):
            self._sweep.sweep(drawn.reshape(2, -1), space, row)
        return self._sweep.values(raw)


class ModelsSample(UnitSample):
    """Rows with an identity: with weights, in clusters, or with scores of several models on the same rows.

    All models share the draw of rows or clusters. Values have shape (n, n_models), or (n,) with `one_model`.
    """

    def __init__(
        self,
        models: list[tuple[RankingSweep, CellCounter]],
        units: SamplingUnits,
        class_sizes: tuple[int, int],
        *,
        pos_label: Any,
        one_model: bool,
        whole_rows: bool,
    ) -> None:
        self._models, self._one_model, self._whole_rows = models, one_model, whole_rows
        self._columns = RankedColumns(models, sum(class_sizes))
        self.class_sizes, self.pos_label = class_sizes, pos_label
        super().__init__(units, sum(class_sizes) * len(models))

    @classmethod
    def from_rows(
        cls,
        truth: BinaryLabels,
        scores: Mapping[str, NDArray[Any]],
        metrics: Sequence[RankingMetric],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
        stratified: bool,
        one_model: bool,
    ) -> ModelsSample:
        """Sort the rows by the scores of each model; without clusters, number them in the first model's order."""
        negative = truth.values != truth.positive
        units = SamplingUnits.number(negative.size, groups, negative if stratified else None)
        rankings = [
            Ranking(truth.values, each, sample_weight=weights, pos_label=truth.positive) for each in scores.values()
        ]
        models: list[tuple[RankingSweep, CellCounter]] = []
        for each, ranking in zip(scores.values(), rankings, strict=True):
            sweep, rows, cells = rank_column(negative, each, weights, ranking, metrics)
            if not models and groups is None:
                units = units.renumbered(rows)
            models.append((sweep, CellCounter(rows, cells, sweep.steps.sizes.size, units, weights)))
        n_neg = int(np.count_nonzero(negative))
        return cls(
            models, units, (negative.size - n_neg, n_neg),
            pos_label=truth.positive, one_model=one_model, whole_rows=weights is None and groups is None,
        )  # fmt: skip

    @classmethod
    def from_counts(
        cls, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, stratified: bool, pos_label: Any = None
    ) -> ModelsSample:
        """Use the unweighted rows of one ranking, in their order."""
        class_sizes = int(counts.n_pos), int(counts.n_neg)
        rows = np.arange(sum(class_sizes))
        strata = [n for n in class_sizes if n] if stratified else [rows.size]
        units = SamplingUnits(rows.astype(np.uint32), tuple(strata), False)
        scores = [np.repeat(counts.thresholds[1:], np.diff(each)) for each in (counts.tps, counts.fps)]
        sweep = RankingSweep(counts, metrics, drawn=SortedRows(np.concatenate(scores), rows >= class_sizes[0]))
        cells = np.repeat(np.arange(sweep.steps.sizes.size), sweep.steps.sizes.ravel())
        counter = CellCounter(rows, cells, sweep.steps.sizes.size, units, None)
        return cls([(sweep, counter)], units, class_sizes, pos_label=pos_label, one_model=True, whole_rows=True)

    def estimates(self) -> Values:
        """Return each metric of each model on the original rows."""
        return self._by_metric([sweep.estimates() for sweep, _ in self._models])

    def workspace(self) -> Any:
        """Return an array to draw the units into and, for each model, arrays to count a draw in."""
        return self.times(), self._columns.workspace()

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of each model in n draws."""
        raw = self._columns.raw(n)
        for number, times in enumerate(draws):
            self._columns.measure(times, number, raw, space[1])
        return self._by_metric(self._columns.values(raw))

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        size = super().task_size() if self._models[0][0].quick else SLOW_PER_TASK
        return size - size % DRAWS_TOGETHER or size

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose leave-one-out values have a closed form."""
        if not self._whole_rows:
            return None
        stratified = len(self.strata) > 1

        def accelerated(model: tuple[RankingSweep, CellCounter]) -> NDArray[np.float64] | None:
            return model[0].closed_form_acceleration(metric, stratified=stratified)

        values = run(accelerated, self._models, compiles=True)
        if any(each is None for each in values):
            return None
        return values[0] if self._one_model else np.array(values)

    def _by_metric(self, values: list[Values]) -> Values:
        return values[0] if self._one_model else [np.stack(each, axis=-1) for each in zip(*values, strict=True)]


class RankedColumns:
    """Columns of scores of the same rows: a sweep of metrics, and a counter of draws, for each column."""

    def __init__(self, columns: list[tuple[RankingSweep, CellCounter]], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    def workspace(self) -> list[Any]:
        """Return arrays to count a draw in, for each column."""
        spaces = []
        for sweep, counter in self._columns:
            sizes = sweep.steps.sizes
            counts = np.empty(sizes.shape, dtype=np.float64 if counter.sums else sizes.dtype)
            drawn = np.tile(zero_bytes(self._n_rows), (DRAWS_TOGETHER, 1)) if sweep.of_rows else counter.scratch()[None]
            spaces.append((drawn, counts, sweep.workspace(sums=counter.sums)))
        return spaces

    def raw(self, n: int) -> list[NDArray[np.float64]]:
        """Return arrays for the swept numbers of n draws, one for each column."""
        return [np.empty((n, sweep.n_raw)) for sweep, _ in self._columns]

    def measure(self, times: Times, number: int, raw: list[NDArray[np.float64]], spaces: list[Any]) -> None:
        """Write the swept numbers of a draw of units, the draws of which are measured in order."""
        for (sweep, counter), (drawn, counts, scratch), rows in zip(self._columns, spaces, raw, strict=True):
            at = number % len(drawn)
            times_by_row = counter.count(times, drawn[at], counts.reshape(-1))
            sweep.sweep(counts, scratch, rows[number], times_by_row)
            if sweep.of_rows and times_by_row is times:  # copy: the next draw overwrites it
                drawn[at] = times
            if at == len(drawn) - 1 or number == len(rows) - 1:
                sweep.sum_rows(drawn[: at + 1], rows[number - at : number + 1])

    def values(self, raw: list[NDArray[np.float64]]) -> list[Values]:
        """Return each metric of all draws, for each column."""
        return [sweep.values(rows) for (sweep, _), rows in zip(self._columns, raw, strict=True)]


def rank_column(
    negative: NDArray[np.bool_],
    scores: NDArray[Any],
    weights: NDArray[np.float64] | None,
    ranking: Ranking,
    metrics: Sequence[RankingMetric],
    *,
    stable: bool = True,
) -> tuple[RankingSweep, NDArray[np.intp], NDArray[Any]]:
    """Return the sweep of a column's metrics, the rows in the order of their cells, and the cell of each of these.

    Unless `stable`, rows of a cell may be in any order, and sorting takes a fraction of the time.
    """
    rows, ranks = _by_class_and_score(negative, scores, stable=stable)
    drawn = SortedRows(scores[rows], negative[rows], None if weights is None else weights[rows])
    sweep = RankingSweep(ranking.counts, metrics, rows=True, drawn=drawn)
    return sweep, rows, sweep.steps.cells(ranks, drawn.negative)


def sort_rows_by_step(
    counts: ThresholdCounts, scores: NDArray[Any], negative: NDArray[np.bool_], metrics: Sequence[RankingMetric]
) -> tuple[RankingSweep, NDArray[np.intp], NDArray[Any]]:
    """Return the sweep of metrics, the rows in the order of their cells, and the cell of each of these rows."""
    sweep = RankingSweep(counts, metrics, rows=True)
    rows, ranks = _by_class_and_score(negative, scores)
    return sweep, rows, sweep.steps.cells(ranks, negative[rows])


def _by_class_and_score(
    negative: NDArray[np.bool_], scores: NDArray[Any], *, stable: bool = True
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows, positives first, each class by descending score, and their ranks among the distinct scores."""
    rows = scores.size - 1 - np.argsort(scores[::-1], kind="stable" if stable else None)[::-1]
    ordered = scores[rows]
    ranks = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    negatives = negative[rows]
    by_class = np.concatenate((np.flatnonzero(~negatives), np.flatnonzero(negatives)))
    return rows[by_class], ranks[by_class]


# Arguments: positives and negatives by step, draws of each row, class sizes, scratch. Returns a value, or the counts
# above a threshold.
SweepFunction = Callable[[NDArray[Any], Times | None, int, int, NDArray[Any]], Any]


class RankingSweep:
    """The steps of one ranking, and its metrics computed from the draws of the steps.

    Draws are counted by `steps`, which are as fine as the finest swept metric needs. Means over rows are not swept:
    they are sums over `drawn` rows or, if there are none, over the cells of the steps.

    `sweep` writes `n_raw` numbers per draw, from which `values` computes the metrics of all draws in one call. Numbers
    that several metrics share, such as the counts at one threshold, are swept once.
    """

    def __init__(
        self,
        counts: ThresholdCounts,
        metrics: Sequence[RankingMetric],
        *,
        rows: bool = False,
        drawn: SortedRows | None = None,
        detail: Detail | None = None,
    ) -> None:
        self.counts, self.metrics = counts, metrics  # counts of the original rows
        fixed = [metric.threshold for metric in metrics if metric.threshold is not None]
        if counts.tps.dtype.kind != "f" and len(fixed) < len(metrics):
            check_resampled_rows("the ranking", int(counts.n_pos + counts.n_neg))  # so that products of class sizes fit
        if detail is None:
            detail = max(metric.detail if drawn is None else _detail_by_row(metric) for metric in metrics)
        cut_rows = [int(counts.rows_at_least(threshold)) for threshold in fixed]
        self.steps = Steps.from_counts(counts, detail, cut_rows, rows=rows)
        self.quick = all(metric.sweep or metric.of_cells for metric in metrics)  # all have kernels
        self._scratch = max((metric.sweep.scratch for metric in metrics if metric.sweep), default=0)
        cuts = iter(self.steps.cuts)
        places: dict[Any, slice] = {}
        self._functions: list[tuple[slice, SweepFunction]] = []
        self._sums: list[tuple[int, NDArray[Any], NDArray[Any]]] = []  # index, terms and bins of each sum over rows
        self._places = []  # indices of the numbers that each metric needs
        self.n_raw = 2
        for metric in metrics:
            cut = next(cuts) if metric.threshold is not None else None
            sweep = metric.sweep
            key: Any = metric if cut is None else cut
            if sweep:
                key = sweep.kernel, sweep.of_thresholds, sweep.n_bins, metric.parameters
            if key not in places:
                places[key] = slice(self.n_raw, self.n_raw + (2 if metric.of_cells else 1))
                if sweep and sweep.of_thresholds:
                    terms = sum_terms(sweep, self.steps.sorted_cells() if drawn is None else drawn)
                    self._sums.append((self.n_raw, *terms))
                else:
                    self._functions.append((places[key], self._sweep_function(metric, cut, drawn)))
                self.n_raw = places[key].stop
            self._places.append(places[key])
        self.of_rows = drawn is not None and bool(self._sums)

    def _sweep_function(self, metric: RankingMetric, cut: int | None, drawn: SortedRows | None) -> SweepFunction:
        """Return the function that sweeps a metric."""
        steps, sweep = self.steps, metric.sweep
        if cut is not None:
            return lambda counts, times, n_pos, n_neg, scratch: above_cut(*counts, cut)
        if sweep is None:
            return lambda counts, times, n_pos, n_neg, scratch: metric.of_counts(steps.threshold_counts(counts))
        kernel = getattr(replicate_thresholds if metric.of_cells else replicate_metrics, sweep.kernel)
        tied = steps.tied
        needed = drawn if metric.detail > _detail_by_row(metric) else None

        def swept(counts: NDArray[Any], times: Times | None, n_pos: Any, n_neg: Any, scratch: NDArray[Any]) -> Any:
            if not n_pos and needed is not None and times is not None:
                # F is 0 at all thresholds
                return 0, needed.at_the_highest_score(times)
            return kernel(*counts, tied, n_pos, n_neg, *metric.parameters, *scratch[: sweep.scratch])

        return swept

    def workspace(self, *, sums: bool = False) -> NDArray[Any]:
        """Return arrays for the kernels of one thread; set `sums` if counts are float sums."""
        integer = np.int32 if self.counts.n_pos + self.counts.n_neg < 2**31 else np.int64
        return np.empty((self._scratch, self.steps.tied.size + 2), dtype=np.float64 if sums else integer)

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        return [np.array(metric.of_counts(self.counts)) for metric in self.metrics]

    def forget_counts(self) -> None:
        """Keep only the totals of the original counts, and no step of each row: they need most of the memory."""
        self.counts = self.counts.take(np.array([0, -1]))
        self.steps = replace(self.steps, step_by_row=self.steps.step_by_row[:0].copy())

    def sweep(
        self, counts: NDArray[Any], scratch: NDArray[Any], raw: NDArray[np.float64], times: Times | None = None
    ) -> None:
        """Write the swept numbers of a draw: positives, negatives, and values of metrics or counts at a threshold.

        If `drawn` rows were given, `times` has the draws of each row; then call `sum_rows` as well.
        """
        n_pos, n_neg = totals(*counts)
        raw[:2] = n_pos, n_neg
        for place, function in self._functions:
            raw[place] = function(counts, times, n_pos, n_neg, scratch)
        if times is None:
            self.sum_rows(counts.reshape(1, -1), raw[None])

    def sum_rows(self, times: NDArray[Any], raw: NDArray[np.float64]) -> None:
        """Write the means over rows for several swept draws, given how often each row, or each cell, was drawn."""
        for place, terms, starts in self._sums:
            sums = np.empty(len(raw))
            replicate_metrics.sum_by_bin(times, terms, starts, sums)
            with np.errstate(invalid="ignore"):  # no rows
                raw[:, place] = sums / (raw[:, 0] + raw[:, 1])

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
        """Return the acceleration of a metric whose leave-one-out values have a closed form."""
        metric = self.metrics[k]
        left_out = leave_each_out(metric, self.steps, self.counts, stratified=stratified)
        return None if left_out is None else jackknife_acceleration(*left_out)


def _detail_by_row(metric: RankingMetric) -> Detail:
    """Return how finely steps must distinguish rows for a metric, if the draws of each row are known."""
    by_row = metric.sweep.row_detail if metric.sweep else None
    return metric.detail if by_row is None else by_row


def sum_terms(sweep: ReplicateKernel, rows: SortedRows) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each row's term of a metric's sum over rows, and the rows where the bins of each class start."""
    assert sweep.of_thresholds is not None
    p = rows.scores.astype(np.float64)
    terms = np.where(rows.negative, *sweep.of_thresholds(p)[::-1])
    if rows.weights is not None:
        terms *= rows.weights
    edges = np.arange(sweep.n_bins - 1, 0, -1) / sweep.n_bins
    n_pos = p.size - int(np.count_nonzero(rows.negative))
    starts = [
        [part.start, *(part.start + np.searchsorted(-p[part], -edges)), part.stop]
        for part in (slice(0, n_pos), slice(n_pos, p.size))
    ]
    return terms, np.array(starts)
