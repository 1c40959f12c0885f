"""Replicates of costs that differ by row: sums over the drawn rows, and each model's best threshold in each draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.replicate_metrics import total_of
from fastevals.infer.bootstrap.ranking_samples import sort_rows_by_step
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import Floats, Values
from fastevals.measure.metric_specs import metric, ranking_metric
from fastevals.measure.row_costs import Stakes

BEST = ranking_metric(metric("expected_cost", best="expected_cost"))


class CostSample(UnitSample):
    """Rows, or clusters of rows, with an amount at stake.

    A draw has one sum for each of `columns`. For each model, it also has gains minus losses, at the threshold with the
    greatest difference in this draw.

    Parameters
    ----------
    units : SamplingUnits
        The units that are drawn.
    stakes : Stakes
        What is at stake in each row, multiplied by the row's weight.
    scores : sequence of ndarray of shape (n_rows,)
        Finite scores of each model.
    columns : sequence of ndarray of shape (n_units,)
        One number per unit, to add up in each draw.
    """

    def __init__(
        self,
        units: SamplingUnits,
        stakes: Stakes,
        scores: Sequence[NDArray[Any]],
        columns: Sequence[Floats],
    ) -> None:
        self._columns = [np.ascontiguousarray(each) for each in columns]
        rows, sizes = stakes.staked, np.abs(stakes.gains)
        self._models = []
        for each in scores:
            sweep, order, cells = sort_rows_by_step(stakes.counts(each), each[rows], stakes.gains[rows] < 0, [BEST])
            counter = CellCounter(rows[order], cells, sweep.steps.sizes.size, units, sizes)
            self._models.append((sweep, counter))
        super().__init__(units, stakes.gains.size * (len(columns) + 4 * len(scores)))

    def workspace(self) -> Any:
        """Return an array to draw the units into and, for each model, arrays to sum a draw in."""
        spaces = [
            (counter.scratch(), np.empty(sweep.steps.sizes.shape), sweep.workspace(sums=True), np.empty(sweep.n_raw))
            for sweep, counter in self._models
        ]
        return self.times(), spaces

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the sums of n draws: an array of shape (n, n_columns), and one of shape (n, n_models)."""
        sums, best = np.empty((n, len(self._columns))), np.empty((n, len(self._models)))
        for number, times in enumerate(draws):
            sums[number] = [total_of(times, column) for column in self._columns]
            for k, (model, (drawn, counts, scratch, raw)) in enumerate(zip(self._models, space[1], strict=True)):
                sweep, counter = model
                counter.count(times, drawn, counts.reshape(-1))
                sweep.sweep(counts, scratch, raw)
                best[number, k] = raw[2] - raw[3]
        return [sums, best]
