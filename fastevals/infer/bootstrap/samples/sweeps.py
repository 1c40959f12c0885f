"""Metrics of a ranking's replicates, swept from the counts of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels import jackknife, replicate_metrics, replicate_thresholds
from fastevals._kernels.steps import above_cut, merge_steps, totals
from fastevals.infer.bootstrap.intervals import acceleration_of
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.steps import Steps
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.registry import Detail

__all__ = ["Space", "Sweeps"]


class Space(NamedTuple):
    """Working memory of one thread: counts of the coarse steps, where there are some, and what kernels write to."""

    coarse: NDArray[Any]
    scratch: NDArray[Any]


# Of positives and negatives by step, how many there are, and scratch: a value, or the counts above a threshold.
Swept = Callable[[NDArray[Any], int, int, NDArray[Any]], Any]


class Sweeps:
    """The steps of one ranking, and metrics of how often each was drawn.

    Attributes
    ----------
    counts : ThresholdCounts
        Of the rows themselves.
    metrics : sequence of RankingMetric
        Of a draw.
    steps : Steps
        As fine as the finest metric needs: draws are counted by them.
    coarse : Steps
        As fine as the others need, where the finest tells all thresholds apart; else the same.
    quick : bool
        Whether all metrics have kernels.
    n_raw : int
        Numbers that are swept of a draw, from which `values` makes those of all draws at once.
    """

    def __init__(self, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, rows: bool = False) -> None:
        self.counts, self.metrics = counts, metrics
        fixed = [metric.threshold for metric in metrics if metric.threshold is not None]
        if counts.tps.dtype.kind != "f" and len(fixed) < len(metrics):
            check.check_resampled_rows("the ranking", int(counts.n_pos + counts.n_neg))  # their products then fit
        cut_rows = [int(counts.rows_at_least(threshold)) for threshold in fixed]
        details = {metric.detail for metric in metrics}
        self.steps = self.coarse = Steps.of(counts, max(details), cut_rows, rows=rows)
        if max(details) == Detail.THRESHOLDS and len(details) > 1:
            self.coarse = Steps.of(counts, max(details - {Detail.THRESHOLDS}), cut_rows, rows=True)
        cuts = iter(self.coarse.cuts)
        self.quick = all(metric.sweep or metric.of_cells for metric in metrics)
        self._sweeps = [self._swept(metric, cuts) for metric in metrics]
        self._scratch = max((metric.sweep.scratch for metric in metrics if metric.sweep), default=0)
        ends = np.cumsum([2, *(2 if metric.of_cells else 1 for metric in metrics)]).tolist()
        self._places = [slice(*pair) for pair in pairwise(ends)]
        self.n_raw = ends[-1]

    def _swept(self, metric: RankingMetric, cuts: Iterator[int]) -> Swept:
        """Give the function that sweeps a metric."""
        steps, sweep = self._steps_of(metric), metric.sweep
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

    def _steps_of(self, metric: RankingMetric) -> Steps:
        return self.steps if metric.detail == Detail.THRESHOLDS else self.coarse

    def workspace(self, *, sums: bool = False) -> Space:
        """Give the working memory of one thread; `sums` where counts are sums of floats."""
        whole = np.int32 if self.counts.n_pos + self.counts.n_neg < 2**31 else np.int64
        coarse = self.coarse.sizes if self.coarse is not self.steps else np.empty((2, 0), dtype=np.int32)
        return Space(
            np.empty(coarse.shape, dtype=np.float64 if sums else coarse.dtype),
            np.empty((self._scratch, self.coarse.tied.size + 2), dtype=np.float64 if sums else whole),
        )

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return [np.array(metric.of_counts(self.counts)) for metric in self.metrics]

    def sweep(self, counts: NDArray[Any], space: Space, raw: NDArray[np.float64]) -> None:
        """Write what is swept of a draw: positives, negatives, and each metric or the two counts that it is made of."""
        coarse = counts
        if self.coarse is not self.steps:
            coarse = space.coarse
            merge_steps(counts, self.coarse.of_row, coarse)
        n_pos, n_neg = totals(*coarse)
        raw[:2] = n_pos, n_neg
        for metric, place, sweep in zip(self.metrics, self._places, self._sweeps, strict=True):
            swept = counts if metric.detail == Detail.THRESHOLDS else coarse
            raw[place] = sweep(swept, n_pos, n_neg, space.scratch)

    def values(self, raw: NDArray[np.float64]) -> Values:
        """Give each metric of all draws."""
        dtype = self.counts.tps.dtype
        n_pos, n_neg = raw[:, :2].T.astype(dtype)
        found = []
        for metric, place in zip(self.metrics, self._places, strict=True):
            if metric.of_cells:
                tp, fp = raw[:, place].T.astype(dtype)
                there = tp >= 0
                tp, fp = tp * there, fp * there
                values = np.asarray(metric.of_cells(Cells(tp, fp, n_pos - tp, n_neg - fp)), dtype=np.float64)
                values = np.where(there, values, np.nan)
            else:
                then = metric.sweep.then if metric.sweep else None
                values = raw[:, place.start]
                values = values.copy() if then is None else then(values)
            found.append(values)
        return found

    def closed_form_acceleration(self, k: int, *, stratified: bool) -> NDArray[np.float64] | None:
        """Give the acceleration of a metric whose values without one row of each cell have a closed form."""
        metric = self.metrics[k]
        steps = self._steps_of(metric)
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
        return acceleration_of(values.ravel(), sizes.ravel(), strata)
