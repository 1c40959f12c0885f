"""Predicted labels that are swapped: counts of rows are all there is to know."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals.infer.bootstrap.samples.joint import coded
from fastevals.infer.bootstrap.samples.matrix import measure_stack
from fastevals.infer.significance.permutation.binomial_draws import BinomialDraws
from fastevals.infer.significance.permutation.cell_swaps import CellSwaps
from fastevals.infer.significance.permutation.outcomes import Draws, Outcomes, Tested, from_values
from fastevals.measure.label_tuples import count_label_tuples
from fastevals.measure.metric_kinds import MatrixMetric, matrix_metric

__all__ = ["count_rows", "of_cell_swaps", "of_labels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WORK = 1 << 18  # cells of one task
MOST = 1 << 14  # permutations of one task: they are quick, and a task has some overhead


def of_labels(y_true: Any, pred_a: Any, pred_b: Any, asked: Any, pos_label: Any, draws: Draws) -> Tested:
    """Test a metric of confusion matrices."""
    codes, rows, classes = count_rows(y_true, pred_a, pred_b, pos_label)
    swaps = CellSwaps(codes, rows, classes.labels.size)
    return of_cell_swaps(swaps, matrix_metric(asked, "metric"), asked, classes, draws)


def count_rows(y_true: Any, pred_a: Any, pred_b: Any, pos_label: Any = None) -> tuple[Ints, Ints, check.Classes]:
    """Count rows by true class and predicted ones: what `CellSwaps` takes, and the classes."""
    given = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    labels = {name: check.as_labels(name, values) for name, values in given.items()}
    check.check_same_length(**labels)
    check.check_comparable_labels(**labels)
    whole = [check.as_class_numbers(name, values) for name, values in labels.items()]
    distinct, numbers, rows = count_label_tuples("y_true, pred_a and pred_b", whole)
    classes, codes = coded(distinct, numbers, pos_label)
    return np.stack(codes), rows, classes


def of_cell_swaps(swaps: CellSwaps, function: MatrixMetric, asked: Any, classes: check.Classes, draws: Draws) -> Tested:
    """Test a function of stacks of confusion matrices."""
    k = swaps.n_classes

    def values(kept: Ints) -> Floats:
        """Give the metric of both models, of shape (2, n); one stack of all matrices halves the calls."""
        counts = np.empty((k * k, 2, kept.shape[1]), dtype=np.int64)
        counts[:, 0] = swaps.counts(kept)
        np.subtract(swaps.both[:, None], counts[:, 0], out=counts[:, 1])
        stack = counts.reshape(k * k, -1).T.reshape(-1, k, k)
        (found,) = measure_stack(stack, classes, [function], argument="metric")
        if found.ndim > 1:
            raise ValueError(f"metric must give one number, but {asked} gives an array of shape {found.shape[1:]}")
        return found.reshape(2, -1)

    (first,), (second,) = values(swaps.kept[:, None])
    kept_in: Callable[[range], Ints]
    chances, n = None, draws.n_resamples
    if np.log2(swaps.sizes + 1.0).sum() <= math.log2(draws.most()):
        all_kept, chances = swaps.outcomes()
        n, kept_in = chances.size, lambda numbers: all_kept[:, numbers.start : numbers.stop]
    else:
        kept_in = partial(BinomialDraws(swaps.sizes).draw, draws.key)
    size = max(1, min(WORK // max(swaps.both.size, swaps.sizes.size), MOST))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]

    def task(numbers: range) -> Floats:
        found = values(kept_in(numbers))
        with np.errstate(invalid="ignore"):  # both infinite
            return np.asarray(found[0] - found[1])

    parts = run(task, tasks, progress=draws.progress, compiles=chances is None and BinomialDraws)
    outcomes = Outcomes(np.concatenate(parts), chances is not None, chances)
    return from_values(float(first), float(second), outcomes, classes.pos_label)
