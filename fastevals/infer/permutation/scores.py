"""Swap scores row by row, and rank them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import fill_words, mark_first
from fastevals._validation.labels import Classes
from fastevals.counting.labels import count_codes
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells
from fastevals.infer.bootstrap.ranking_samples import sort_rows_by_step
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, zero_bytes
from fastevals.infer.bootstrap.samples import CELLS_PER_TASK, MOST_PER_TASK, SLOW_PER_TASK
from fastevals.infer.permutation.distribution import (
    PermutationDistribution,
    PermutationPlan,
    PermutedStatistic,
    permuted_difference,
)
from fastevals.infer.permutation.labels import LabelSwaps, permute_label_counts
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.ranking.ranking import Ranking

Words = NDArray[np.uint64]


Floats = NDArray[np.float64]


def permute_scores(
    labels: BinaryLabels,
    pred_a: NDArray[Any],
    pred_b: NDArray[Any],
    metric: RankingMetric,
    name: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Permute the scores of two models, for a metric of rankings."""
    if metric.threshold is not None:
        return _permute_at_threshold(labels, [pred_a, pred_b], metric, name, plan)
    pool = PooledScores(labels, np.concatenate((pred_a, pred_b)), metric)
    swaps = RowSwaps(pred_a != pred_b, plan)
    places = swaps.places(pool.rows)

    def task(numbers: range, space: Any) -> Floats:
        a, b = pool.values(map(swaps.words, numbers), places, space)
        with np.errstate(invalid="ignore"):  # both infinite
            return a - b

    parts = run(task, swaps.tasks(pool.task_size), workspace=pool.workspace, progress=plan.progress, compiles=True)
    first, second = pool.values([swaps.own()], places, pool.workspace())
    return permuted_difference(float(first[0]), float(second[0]), swaps.distribution(parts), labels.positive)


def _permute_at_threshold(
    labels: BinaryLabels, scores: Sequence[NDArray[Any]], metric: RankingMetric, name: str, plan: PermutationPlan
) -> PermutedStatistic:
    """Permute scores for a metric at a fixed threshold, which turns them into predicted labels that can be counted."""
    exact = [each.astype(np.longdouble) if each.dtype.kind in "iu" else each for each in scores]
    table, _ = count_codes([labels.flags(), *(each >= metric.threshold for each in exact)], None, 0, 2)
    codes = np.stack(np.unravel_index(np.flatnonzero(table), (2, 2, 2)))

    def function(matrices: ConfusionMatrix[Any]) -> Any:
        (tn, fp), (fn, tp) = np.moveaxis(matrices.counts, 0, -1)
        return metric.of_cells(Cells(tp, fp, fn, tn))  # type: ignore[misc]

    classes = Classes(np.arange(2), labels.positive)
    return permute_label_counts(LabelSwaps(codes, table[table > 0], 2), function, name, classes, plan)


class PooledScores:
    """The scores of both models on the same rows, ranked together.

    Attributes
    ----------
    rows : ndarray of int of shape (2 * n_samples,)
        Indices into the pool, positives first, each class by descending score.
    task_size : int
        Permutations per task.
    """

    __slots__ = ("_counter", "_sweeps", "rows", "task_size")

    def __init__(self, labels: BinaryLabels, scores: NDArray[Any], metric: RankingMetric) -> None:
        flags = np.tile(labels.flags(), 2)
        counts = Ranking(flags, scores, pos_label=1).counts
        self._sweeps, self.rows, cells = sort_rows_by_step(counts, scores, flags == 0, [metric])
        units = SamplingUnits.number(flags.size, None, None).renumbered(self.rows)
        self._counter = CellCounter(self.rows, cells, self._sweeps.steps.sizes.size, units, None)
        self.task_size = (
            max(1, min(CELLS_PER_TASK // flags.size, MOST_PER_TASK)) if self._sweeps.quick else SLOW_PER_TASK
        )

    def workspace(self) -> Any:
        """Return the working memory of one thread."""
        counts = np.empty_like(self._sweeps.steps.sizes)
        return zero_bytes(self.rows.size), counts, self._sweeps.workspace()

    def values(self, flips: Any, places: NDArray[np.uint32], space: Any) -> tuple[Floats, Floats]:
        """Return the metric of each model; `flips`, an iterable of random bits, assigns scores to models."""
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


class RowSwaps:
    """Bits for the rows whose two outputs differ: 1 if each model keeps its own output.

    Parameters
    ----------
    differ : ndarray of bool of shape (n_samples,)
        Whether the two outputs of each row differ.
    plan : PermutationPlan
        The number of permutations to draw, and the random stream for them.
    """

    __slots__ = ("_bit", "_exact", "_key", "_n", "_words")

    def __init__(self, differ: NDArray[np.bool_], plan: PermutationPlan) -> None:
        self._bit = np.maximum(np.cumsum(differ) - 1, 0).astype(np.uint32)
        n_bits = int(np.count_nonzero(differ))
        self._exact = n_bits < 31 and 1 << n_bits <= plan.max_outcomes()
        self._n = 1 << n_bits if self._exact else plan.n_resamples
        self._words, self._key = n_bits // 64 + 1, plan.key

    def places(self, pooled: NDArray[np.intp]) -> NDArray[np.uint32]:
        """Return, for each pooled output, twice the index of its row's bit, plus 1 if it is the second model's."""
        n = np.intp(self._bit.size)
        return np.asarray(2 * self._bit[pooled % n] + (pooled >= n), dtype=np.uint32)

    def own(self) -> Words:
        """Return the bits that swap nothing."""
        return np.full(self._words, 2**64 - 1, dtype=np.uint64)

    def words(self, number: int) -> Words:
        """Return the bits of a permutation."""
        if self._exact:
            return np.array([number], dtype=np.uint64)
        words = np.empty(self._words, dtype=np.uint64)
        fill_words(self._key, np.uint64(number), words)
        return words

    def tasks(self, size: int) -> list[range]:
        """Split the permutations' numbers into ranges of the given size."""
        return [range(start, min(start + size, self._n)) for start in range(0, self._n, size)]

    def distribution(self, parts: Sequence[NDArray[np.float64]]) -> PermutationDistribution:
        """Return the distribution of the outcomes of all tasks."""
        return PermutationDistribution(np.concatenate(parts), self._exact)
