"""Metrics of a ranking's replicates, swept from the counts of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels import jackknife, replicates
from fastevals.infer.bootstrap.intervals import acceleration
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.steps import Steps
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import Cells, ThresholdCounts

__all__ = ["Sweeps"]


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

    def __init__(self, counts: ThresholdCounts, metrics: Sequence[RankingMetric]) -> None:
        self.counts, self.metrics = counts, metrics
        fixed = [metric.threshold for metric in metrics if metric.of_cells]
        rows = np.array([counts.rows_at_least(threshold) for threshold in fixed], dtype=np.intp)
        self.steps = Steps.of(counts, max(metric.detail for metric in metrics), rows)
        if counts.tps.dtype.kind != "f" and any(not metric.of_cells for metric in metrics):
            check.check_resampled_rows(
                "the ranking", int(counts.n_pos + counts.n_neg)
            )  # products of two counts fit then
        self._kernels = [getattr(replicates, metric.sweep.kernel) if metric.sweep else None for metric in metrics]
        self._scratch = max((metric.sweep.scratch for metric in metrics if metric.sweep), default=0)
        self.n_raw = 2 + len(metrics) + len(fixed)

    def scratch(self, dtype: Any) -> NDArray[Any]:
        """Give the working memory of one thread."""
        return np.empty((self._scratch, self.steps.tied.size + 2), dtype=dtype)

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return [np.array(metric.of_counts(self.counts)) for metric in self.metrics]

    def sweep(self, counts: NDArray[Any], scratch: NDArray[Any], raw: NDArray[np.float64]) -> None:
        """Write what is swept of a draw: positives, negatives, and each metric or the two counts that it is made of."""
        positives, negatives = counts
        tied = self.steps.tied
        n_pos, n_neg = replicates.totals(positives, negatives)
        raw[0], raw[1] = n_pos, n_neg
        place, cuts = 2, iter(self.steps.cuts)
        for metric, kernel in zip(self.metrics, self._kernels, strict=True):
            if metric.of_cells:
                raw[place : place + 2] = replicates.above_cut(positives, negatives, next(cuts))
                place += 2
                continue
            if kernel is None or metric.sweep is None:
                raw[place] = metric.of_counts(self.steps.threshold_counts(counts))
            else:
                rows = scratch[: metric.sweep.scratch]
                raw[place] = kernel(positives, negatives, tied, n_pos, n_neg, *metric.parameters, *rows)
            place += 1

    def values(self, raw: NDArray[np.float64]) -> Values:
        """Give each metric of all draws."""
        dtype = self.counts.tps.dtype
        n_pos, n_neg = raw[:, :2].T.astype(dtype)
        found, place = [], 2
        for metric in self.metrics:
            if metric.of_cells:
                tp, fp = raw[:, place : place + 2].T.astype(dtype)
                found.append(np.asarray(metric.of_cells(Cells(tp, fp, n_pos - tp, n_neg - fp)), dtype=np.float64))
                place += 2
                continue
            then = metric.sweep.then if metric.sweep else None
            found.append(then(raw[:, place]) if then else raw[:, place].copy())
            place += 1
        return found

    def acceleration_of(self, k: int, *, stratified: bool) -> NDArray[np.float64] | None:
        """Give the acceleration of a metric whose values without one row of each cell have a closed form."""
        metric, sizes = self.metrics[k], self.steps.sizes
        if metric.of_cells:
            at = np.array(self.counts.cells(self.counts.rows_at_least(metric.threshold)))
            values = np.asarray(metric.of_cells(Cells(*(at[:, None] - np.eye(4, dtype=np.int64)))))
            order = np.array([[0, 2], [1, 3]])  # cells of positives first: tp, fn, fp, tn
            values, sizes = values[order], at[order]
        elif metric.sweep and metric.sweep.jackknife:
            values = np.empty(sizes.shape)
            n_pos, n_neg = replicates.totals(*sizes)
            getattr(jackknife, metric.sweep.jackknife)(*sizes, self.steps.tied, n_pos, n_neg, values)
            values = metric.sweep.then(values) if metric.sweep.then else values
        else:
            return None
        n = sizes.shape[1]
        return acceleration(
            values.ravel(), sizes.ravel(), [slice(0, n), slice(n, 2 * n)] if stratified else [slice(None)]
        )
