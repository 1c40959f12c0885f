"""Scores that are swapped: both models' are sorted once, as one pool, and each permutation is two sweeps over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals._kernels.permutation import mark_first
from fastevals.infer.bootstrap.samples.base import MOST, SLOW, WORK
from fastevals.infer.bootstrap.samples.models import rows_by_step
from fastevals.infer.bootstrap.samples.units import CellCounter, Units, padded
from fastevals.infer.significance.permutation.cell_swaps import CellSwaps
from fastevals.infer.significance.permutation.labels import of_cell_swaps
from fastevals.infer.significance.permutation.outcomes import Draws, Tested, from_values
from fastevals.infer.significance.permutation.row_swaps import RowSwaps
from fastevals.measure.asked import RankingMetric, of_ranking
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.counts import Cells
from fastevals.measure.label_tuples import count_codes
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.ranking import Ranking

__all__ = ["of_scores"]

Floats = NDArray[np.float64]


def of_scores(y_true: Any, pred_a: Any, pred_b: Any, asked: Any, pos_label: Any, draws: Draws) -> Tested:
    """Test a metric of rankings."""
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
    scores = {"pred_a": check.as_scores("pred_a", pred_a), "pred_b": check.as_scores("pred_b", pred_b)}
    check.check_same_length(y_true=labels.values, **scores)
    for name, values in scores.items():
        check.check_finite(name, values)
    metric = of_ranking(asked, "metric")
    if metric.threshold is not None:
        return _at_a_threshold(labels, list(scores.values()), metric, asked, draws)
    pool = Pool(labels, np.concatenate(list(scores.values())), metric)
    swaps = RowSwaps(scores["pred_a"] != scores["pred_b"], draws)
    places = swaps.places(pool.rows)

    def task(numbers: range, space: Any) -> Floats:
        found = pool.values(map(swaps.words, numbers), places, space)
        with np.errstate(invalid="ignore"):  # both infinite
            return found[0] - found[1]

    parts = run(task, swaps.tasks(pool.task_size), workspace=pool.workspace, progress=draws.progress, compiles=True)
    first, second = pool.values([swaps.own()], places, pool.workspace())
    return from_values(float(first[0]), float(second[0]), swaps.outcomes(parts), labels.positive)


def _at_a_threshold(
    labels: BinaryLabels, scores: Sequence[NDArray[Any]], metric: RankingMetric, asked: Any, draws: Draws
) -> Tested:
    """Test a metric at a threshold fixed beforehand: scores are predicted labels then, and rows can be counted."""
    exact = [each.astype(np.longdouble) if each.dtype.kind in "iu" else each for each in scores]
    table, _ = count_codes([labels.flags(), *(each >= metric.threshold for each in exact)], None, 0, 2)
    codes = np.stack(np.unravel_index(np.flatnonzero(table), (2, 2, 2)))

    def function(matrices: ConfusionMatrix) -> Any:
        (tn, fp), (fn, tp) = np.moveaxis(matrices.counts, 0, -1)
        return metric.of_cells(Cells(tp, fp, fn, tn))  # type: ignore[misc]

    classes = check.Classes(np.arange(2), labels.positive)
    return of_cell_swaps(CellSwaps(codes, table[table > 0], 2), function, asked, classes, draws)


class Pool:
    """The scores of both models on the same rows, ranked together.

    Attributes
    ----------
    rows : ndarray of int of shape (2 * n_samples,)
        The pooled scores from the highest down, positives first, by their place in the pool.
    task_size : int
        Permutations of one task.
    """

    __slots__ = ("_counter", "_sweeps", "rows", "task_size")

    def __init__(self, labels: BinaryLabels, scores: NDArray[Any], metric: RankingMetric) -> None:
        true = np.concatenate((labels.values, labels.values))
        ranking = Ranking(true, scores, pos_label=labels.positive)
        self._sweeps, self.rows, cells = rows_by_step(ranking.counts, scores, true != labels.positive, [metric])
        units = Units.of(true.size, None, None).numbered(self.rows)
        self._counter = CellCounter(self.rows, cells, self._sweeps.steps.sizes.size, units, None)
        self.task_size = max(1, min(WORK // true.size, MOST)) if self._sweeps.quick else SLOW

    def workspace(self) -> Any:
        """Give the working memory of one thread."""
        counts = np.empty_like(self._sweeps.steps.sizes)
        return padded(self.rows.size), counts, self._sweeps.workspace()

    def values(self, flips: Any, places: NDArray[np.uint32], space: Any) -> tuple[Floats, Floats]:
        """Give the metric of each model where `flips`, an iterable of random bits, say who has which score."""
        marks, counts, scratch = space
        raw: tuple[list[Floats], list[Floats]] = ([], [])
        for words in flips:
            mark_first(words, places, marks[: places.size])
            self._counter.count(marks, marks[:0], counts.reshape(-1))
            for rows in raw:
                rows.append(np.empty(self._sweeps.n_raw))
                self._sweeps.sweep(counts, scratch, rows[-1])
                np.subtract(self._sweeps.steps.sizes, counts, out=counts)
        first, second = (self._sweeps.values(np.array(rows))[0] for rows in raw)
        return first, second
