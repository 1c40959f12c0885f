"""Replicates of a ranking's curve: its ordinates over a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import replicate_curves
from fastevals._kernels.steps import totals
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.ranking import RankingSample
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves import PrecisionRecallCurve, RocCurve
from fastevals.measure.registry import Detail

__all__ = ["SWEPT", "CurveSample"]


class _Swept(NamedTuple):
    """How a curve is read over a grid: of counts, and of how often each step was drawn."""

    of_counts: Callable[[ThresholdCounts, NDArray[np.float64]], Any]
    kernel: Callable[..., None]


SWEPT = {
    "roc": _Swept(lambda counts, grid: RocCurve(counts).at(fpr=grid), replicate_curves.roc_at),
    "precision_recall": _Swept(
        lambda counts, grid: PrecisionRecallCurve(counts).at(recall=grid), replicate_curves.precision_at
    ),
}


class CurveSample(RankingSample):
    """Rows of a ranking, and one array of values: the curve named, at each x of an ascending grid."""

    def __init__(self, counts: ThresholdCounts, curve: str, grid: NDArray[np.float64], *, stratified: bool) -> None:
        self._grid, (of_counts, self._kernel) = grid, SWEPT[curve]
        whole = RankingMetric(lambda counts: of_counts(counts, grid), Detail.POLYLINE)
        super().__init__(counts, [whole], stratified=stratified)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Give the curves of n draws, of shape (n, n_points); NaN where a class was not drawn."""
        values = np.empty((n, self._grid.size))
        tied = self._sweeps.steps.tied
        for counts, row in zip(draws, values, strict=True):
            positives, negatives = counts.reshape(2, -1)
            self._kernel(positives, negatives, tied, *totals(positives, negatives), self._grid, row)
        return [values]
