"""Replicates of a ranking: rows are alike within a cell of its steps, so cells are what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.random import stream_key
from fastevals.infer.bootstrap.samples.base import GROUPS, SLOW, Sample, Values
from fastevals.infer.bootstrap.samples.sweeps import Space, Sweeps
from fastevals.infer.bootstrap.samples.tables import draw_tables, leave_out_table, table_size
from fastevals.infer.bootstrap.samples.urn import Urn
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import ThresholdCounts

__all__ = ["RankingSample"]

FEW_CELLS, FEW_ROWS = 16, 1000  # cells in all, or rows a cell, for which it is faster to draw a binomial a cell


class RankingSample(Sample):
    """Whole rows of a ranking, all with the same chance, or of each class by itself if stratified."""

    def __init__(
        self, counts: ThresholdCounts, metrics: Sequence[RankingMetric], *, stratified: bool, pos_label: Any = None
    ) -> None:
        self.pos_label = pos_label
        self._sweeps = Sweeps(counts, metrics)
        self.class_sizes = int(counts.n_pos), int(counts.n_neg)
        sizes = self._sweeps.steps.sizes
        self.sizes = sizes.ravel()
        n = sizes.shape[1]
        self.strata = [slice(0, n), slice(n, 2 * n)] if stratified else [slice(0, 2 * n)]
        there = np.count_nonzero(sizes)
        self._few = there <= FEW_CELLS or there * FEW_ROWS < counts.n_pos + counts.n_neg
        drawn = [] if self._few else [part for part in self.strata if self.sizes[part].any()]
        self._urns = [(part, Urn(self.sizes[part])) for part in drawn]

    def estimates(self) -> Values:
        """Give each metric of the rows themselves."""
        return self._sweeps.estimates()

    def workspace(self) -> tuple[NDArray[Any], Space]:
        """Give the counts of a draw, and what kernels write to."""
        return np.zeros_like(self.sizes), self._sweeps.workspace()

    def task_size(self) -> int:
        """Give the replicates of one task, by the data alone."""
        if self._few:
            return table_size(self.sizes.size)
        return super().task_size() if self._sweeps.quick else SLOW

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Give the rows of each cell in each replicate."""
        if self._few:
            drawn = draw_tables(self.sizes.astype(np.int64), self.strata, numbers.start // self.task_size(), key)
            # Rows side by side: kernels are compiled for one layout.
            yield from drawn[: len(numbers)].astype(self.sizes.dtype, order="C")
            return
        counts = space[0]
        for number in numbers:
            stream = stream_key(key, np.uint64(number))
            for k, (part, urn) in enumerate(self._urns):
                urn.draw(np.uint64(stream_key(np.uint64(stream), np.uint64(k))), counts[part])
            yield counts

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Give each metric of n draws."""
        raw = np.empty((n, self._sweeps.n_raw))
        for counts, row in zip(draws, raw, strict=True):
            self._sweeps.sweep(counts.reshape(2, -1), space[1], row)
        return self._sweeps.values(raw)

    def without_group(self, key: np.uint64, number: int, part: slice) -> NDArray[Any]:
        """Give the rows of each cell of a stratum without a random group."""
        if self._few:
            return leave_out_table(self.sizes[part], number, key, GROUPS)
        return super().without_group(key, number, part)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Give the acceleration of a metric whose values without one row have a closed form."""
        return self._sweeps.closed_form_acceleration(metric, stratified=len(self.strata) > 1)
