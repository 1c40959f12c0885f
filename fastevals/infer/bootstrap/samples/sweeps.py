"""Metrics of a ranking's replicates, swept from the counts of its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels import jackknife, replicates, thresholds
from fastevals._kernels.steps import above_cut, totals
from fastevals.infer.bootstrap.intervals import acceleration
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.steps import Steps
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.registry import Detail

__all__ = ["Sweeps"]

# Of positives and negatives by step, how many there are, and scratch: a value, or the counts above a threshold.
Sweep = Callable[[NDArray[Any], int, int, NDArray[Any]], Any]


class Sweeps:
    """The steps of one ranking, and metrics of how often each was drawn.

    Attributes
    ----------
    counts : ThresholdCounts
        Of the rows themselves.
    metrics : sequence of RankingMetric
        Of a draw.
    steps : Steps
        As fine as the metrics need.
    n_raw : int
        Numbers that are swept of a draw, from which `values` makes those of all draws at once.
    """

    def __init__(self, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, rows: bool = False) -> None:
        self.counts, self.metrics = counts, metrics
        fixed = [metric.threshold for metric in metrics if metric.threshold is not None]
        cut_rows = [int(counts.rows_at_least(threshold)) for threshold in fixed]
        self.steps = Steps.of(counts, max(metric.detail for metric in metrics), cut_rows, rows=rows)
        if counts.tps.dtype.kind != "f" and len(fixed) < len(metrics):
            check.check_resampled_rows("the ranking", int(counts.n_pos + counts.n_neg))  # their products then fit
        cuts = iter(self.steps.cuts)
        self._sweeps = [self._swept(metric, cuts) for metric in metrics]
        self._scratch = max((metric.sweep.scratch for metric in metrics if metric.sweep), default=0)
        ends = np.cumsum([2, *(2 if metric.of_cells else 1 for metric in metrics)]).tolist()
        self._places = [slice(*pair) for pair in pairwise(ends)]
        self.n_raw = ends[-1]

    def _swept(self, metric: RankingMetric, cuts: Any) -> Sweep:
        """Give the function that sweeps a metric."""
        if metric.threshold is not None:
            cut = next(cuts)
            return lambda counts, n_pos, n_neg, scratch: above_cut(*counts, cut)
        if metric.sweep is None:
            return lambda counts, n_pos, n_neg, scratch: metric.of_counts(self.steps.threshold_counts(counts))
        kernel = getattr(thresholds if metric.of_cells else replicates, metric.sweep.kernel)
        tied, n_scratch = self.steps.tied, metric.sweep.scratch
        parameters: tuple[Any, ...] = metric.parameters
        if metric.sweep.detail == Detail.THRESHOLDS:
            assert self.steps.thresholds is not None
            parameters = (self.steps.thresholds,)
        return lambda counts, n_pos, n_neg, scratch: kernel(
            *counts, tied, n_pos, n_neg, *parameters, *scratch[:n_scratch]
        )

    def scratch(self) -> NDArray[Any]:
        """Give the working memory of one thread."""
        small = self.steps.sizes.dtype.itemsize < 8
        dtype = np.int32 if small else self.counts.tps.dtype
        return np.empty((self._scratch, self.steps.tied.size + 2), dtype=dtype)

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return [np.array(metric.of_counts(self.counts)) for metric in self.metrics]

    def sweep(self, counts: NDArray[Any], scratch: NDArray[Any], raw: NDArray[np.float64]) -> None:
        """Write what is swept of a draw: positives, negatives, and each metric or the two counts that it is made of."""
        n_pos, n_neg = totals(*counts)
        raw[:2] = n_pos, n_neg
        for place, sweep in zip(self._places, self._sweeps, strict=True):
            raw[place] = sweep(counts, n_pos, n_neg, scratch)

    def values(self, raw: NDArray[np.float64]) -> Values:
        """Give each metric of all draws."""
        dtype = self.counts.tps.dtype
        n_pos, n_neg = raw[:, :2].T.astype(dtype)
        found = []
        for metric, place in zip(self.metrics, self._places, strict=True):
            if metric.of_cells:
                tp, fp = raw[:, place].T.astype(dtype)
                values = np.asarray(metric.of_cells(Cells(tp, fp, n_pos - tp, n_neg - fp)), dtype=np.float64)
                values = np.where(tp < 0, np.nan, values)
            else:
                then = metric.sweep.then if metric.sweep else None
                values = raw[:, place.start]
                values = values.copy() if then is None else then(values)
            found.append(values)
        return found

    def acceleration_of(self, k: int, *, stratified: bool) -> NDArray[np.float64] | None:
        """Give the acceleration of a metric whose values without one row of each cell have a closed form."""
        metric, sizes = self.metrics[k], self.steps.sizes
        if metric.of_cells and metric.threshold is not None:
            at = np.array(self.counts.cells(self.counts.rows_at_least(metric.threshold)))
            values = np.asarray(metric.of_cells(Cells(*(at[:, None] - np.eye(4, dtype=np.int64)))))
            order = np.array([[0, 2], [1, 3]])  # cells of positives first: tp, fn, fp, tn
            values, sizes = values[order], at[order]
        elif metric.sweep and metric.sweep.jackknife:
            values = np.empty(sizes.shape)
            n_pos, n_neg = totals(*sizes)
            getattr(jackknife, metric.sweep.jackknife)(*sizes, self.steps.tied, n_pos, n_neg, values)
            values = metric.sweep.then(values) if metric.sweep.then else values
        else:
            return None
        n = sizes.shape[1]
        strata = [slice(0, n), slice(n, 2 * n)] if stratified else [slice(None)]
        return acceleration(values.ravel(), sizes.ravel(), strata)
