"""Replicates of a ranking's curves, evaluated at the points of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import replicate_curves
from fastevals._kernels.steps import totals
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.bootstrap.samples import Values
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import RocCurve
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.registry import Detail


class CurveOnGrid(NamedTuple):
    """Functions that evaluate a curve on an ascending grid, from threshold counts or from the draws of the steps."""

    of_counts: Callable[[ThresholdCounts, NDArray[np.float64]], Any]
    kernel: Callable[..., None]


CurveName = Literal["roc", "precision_recall"]
CURVES = {
    "roc": CurveOnGrid(lambda counts, grid: RocCurve(counts).at(fpr=grid), replicate_curves.roc_at),
    "precision_recall": CurveOnGrid(
        lambda counts, grid: PrecisionRecallCurve(counts).at(recall=grid), replicate_curves.precision_at
    ),
}


class CurveSample(RankingSample):
    """Unweighted rows of a ranking, whose only metric is a curve evaluated on an ascending grid of x."""

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
