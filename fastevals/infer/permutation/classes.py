"""Swap rows of scores of several classes between two models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import mark_first
from fastevals.infer.bootstrap.class_samples import ClassSample
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic, permuted_difference
from fastevals.infer.permutation.scores import RowSwaps
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.class_specs import ClassMetric

Floats = NDArray[np.float64]


def permute_classes(
    labels: NDArray[Any],
    pred_a: ClassScores,
    pred_b: ClassScores,
    metric: ClassMetric,
    name: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Permute the scores of two models: a row's scores of all classes are swapped together.

    The rows of both models are one sample, of which a permutation takes half for each model.
    """
    n = pred_a.n_rows
    pool = ClassSample(labels, [pred_a.followed_by(pred_b)], [metric], groups=None, stratified=False, one_model=True)
    if np.ndim(pool.estimates()[0]):
        raise ValueError(f"metric: a permutation test takes metrics that return one number, but {name} returns several")
    pool.prepare()
    swaps = RowSwaps((pred_a.columns != pred_b.columns).any(axis=0), plan)
    places = swaps.places(np.arange(2 * n))

    def halves(words: Any, marks: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
        for each in words:
            mark_first(each, places, marks[: 2 * n])
            yield marks
            marks[: 2 * n] ^= 1
            yield marks

    def both(words: list[Any], space: Any) -> Floats:
        return pool.measure(halves(words, space[0]), 2 * len(words), space)[0].reshape(-1, 2)

    def task(numbers: range, space: Any) -> Floats:
        with np.errstate(invalid="ignore"):  # both infinite
            return np.asarray(-np.diff(both(list(map(swaps.words, numbers)), space), axis=1)[:, 0])

    size = max(1, pool.task_size() // 2)
    parts = run(task, swaps.tasks(size), workspace=pool.workspace, progress=plan.progress, compiles=True)
    first, second = both([swaps.own()], pool.workspace())[0].tolist()
    return permuted_difference(first, second, swaps.distribution(parts))
