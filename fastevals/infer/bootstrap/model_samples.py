"""Replicates of one or more rankings of the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import Sweeps
from fastevals.infer.bootstrap.row_samples import CellCounter, Units, UnitSample
from fastevals.infer.bootstrap.samples import SLOW, Values
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.ranking.ranking import Ranking


class ModelsSample(UnitSample):
    """Rows with the scores of models: a draw of rows is the same for all.

    Values are of shape (n, n_models), or (n,) with `one_model`.
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
        units = Units.of(negative.size, groups, negative if stratified else None)
        rankings = [
            Ranking(truth.values, each, sample_weight=weights, pos_label=truth.positive) for each in scores.values()
        ]
        models: list[tuple[Sweeps, CellCounter]] = []
        for each, ranking in zip(scores.values(), rankings, strict=True):
            sweeps, rows, cells = rows_by_step(ranking.counts, each, negative, metrics)
            if not models and groups is None:
                units = units.numbered(rows)
            models.append((sweeps, CellCounter(rows, cells, sweeps.steps.sizes.size, units, weights)))
        self._models = models
        self._whole_rows = weights is None and groups is None
        super().__init__(units, negative.size * len(models))

    def estimates(self) -> Values:
        """Return each metric of each model, of the rows themselves."""
        return self._by_metric([sweeps.estimates() for sweeps, _ in self._models])

    def workspace(self) -> Any:
        """Return the times of the units, and for each model what its counts are made with."""
        spaces = []
        for sweeps, counter in self._models:
            sizes = sweeps.steps.sizes
            counts = np.empty(sizes.shape, dtype=np.float64 if counter.sums else sizes.dtype)
            spaces.append((counter.scratch(), counts, sweeps.workspace(sums=counter.sums)))
        return self.times(), spaces

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of each model in n draws."""
        raw = [np.empty((n, sweeps.n_raw)) for sweeps, _ in self._models]
        for number, times in enumerate(draws):
            for (sweeps, counter), (drawn, counts, scratch), rows in zip(self._models, space[1], raw, strict=True):
                counter.count(times, drawn, counts.reshape(-1))
                sweeps.sweep(counts, scratch, rows[number])
        return self._by_metric([sweeps.values(rows) for (sweeps, _), rows in zip(self._models, raw, strict=True)])

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return super().task_size() if self._models[0][0].quick else SLOW

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose values without one row have a closed form."""
        if not self._whole_rows:
            return None
        found = [sweeps.closed_form_acceleration(metric, stratified=len(self.strata) > 1) for sweeps, _ in self._models]
        return None if any(each is None for each in found) else np.array(found)

    def _by_metric(self, values: list[Values]) -> Values:
        return values[0] if self._one_model else [np.stack(each, axis=-1) for each in zip(*values, strict=True)]


def rows_by_step(
    counts: ThresholdCounts, scores: NDArray[Any], negative: NDArray[np.bool_], metrics: Sequence[RankingMetric]
) -> tuple[Sweeps, NDArray[np.intp], NDArray[Any]]:
    """Return the sweeps of metrics of counts, the rows in the order of their cells, and the cell of each of these."""
    sweeps = Sweeps(counts, metrics, rows=True)
    rows, ranks = _by_class_and_score(negative, scores)
    return sweeps, rows, sweeps.steps.of_row[1 + ranks] + negative[rows] * sweeps.steps.tied.size


def _by_class_and_score(negative: NDArray[np.bool_], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows, positives first, from the highest score down, and the number of each one's distinct score."""
    rows = scores.size - 1 - np.argsort(scores[::-1], kind="stable")[::-1]
    ordered = scores[rows]
    ranks = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    below = negative[rows]
    by_class = np.concatenate((np.flatnonzero(~below), np.flatnonzero(below)))
    return rows[by_class], ranks[by_class]
