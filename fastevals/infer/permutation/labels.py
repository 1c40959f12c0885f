"""Predicted labels swapped: a binomial number for each true class and pair of different predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import place_kept
from fastevals._validation.arrays import check_same_length
from fastevals._validation.labels import Classes, as_class_numbers, as_labels, check_comparable_labels
from fastevals.counting.labels import count_label_tuples
from fastevals.infer.bootstrap.label_samples import encode_classes, measure_stack
from fastevals.infer.permutation.distribution import (
    FairBinomials,
    PermutationDistribution,
    PermutationPlan,
    PermutedStatistic,
    fair_binomial_probabilities,
    permuted_difference,
)
from fastevals.measure.kinds import MatrixMetric, matrix_metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INT = np.dtype(np.int64)


class LabelSwaps:
    """The rows that a swap changes, by true class and the two predicted: of a cell's, a binomial number is swapped.

    Parameters
    ----------
    codes : ndarray of int64 of shape (3, n)
        True class and predicted ones, numbered in the order of labels.
    rows : ndarray of int64 of shape (n,)
        How many rows are such.
    n_classes : int
        Of all three.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each true class and pair of different predictions.
    kept : ndarray of int64 of shape (n_cells,)
        Those in which the first model's is the lower one.
    both : ndarray of int64 of shape (n_classes**2,)
        The two models' confusion matrices added up: permutations don't change that.
    n_classes : int
        As given.
    """

    __slots__ = ("_cells", "_fixed", "both", "kept", "n_classes", "sizes")

    def __init__(self, codes: Ints, rows: Ints, n_classes: int) -> None:
        self.n_classes = n_classes
        true, first, second = codes
        differ = first != second
        self._fixed = self._matrix(true[~differ] * n_classes + first[~differ], rows[~differ])
        self.both = self._matrix(true * n_classes + first, rows) + self._matrix(true * n_classes + second, rows)
        true, first, second, rows = (each[differ] for each in (true, first, second, rows))
        lower, higher = true * n_classes + np.minimum(first, second), np.maximum(first, second)
        cells, of_cell = np.unique(lower * n_classes + higher, return_inverse=True)
        self.sizes, self.kept = np.zeros((2, cells.size), dtype=INT)
        np.add.at(self.sizes, of_cell, rows)
        np.add.at(self.kept, of_cell, np.where(first < second, rows, 0))
        lower = cells // n_classes
        self._cells = lower, lower // n_classes * n_classes + cells % n_classes

    def _matrix(self, cells: Ints, rows: Ints) -> Ints:
        counts = np.zeros(self.n_classes**2, dtype=INT)
        np.add.at(counts, cells, rows)
        return counts

    def counts(self, kept: Ints) -> Ints:
        """Return the first model's matrices, of shape (n_classes**2, n), of kept rows of shape (n_cells, n)."""
        counts = np.repeat(self._fixed[:, None], kept.shape[1], axis=1)
        place_kept(kept, self.sizes, *self._cells, counts)
        return counts

    def outcomes(self) -> tuple[Ints, Floats]:
        """Return all numbers of kept rows that there can be, and the chance of each."""
        shape = tuple((self.sizes + 1).tolist())
        kept = np.indices(shape, dtype=INT).reshape(len(shape), math.prod(shape))
        chances = np.ones(kept.shape[1])
        for size, heads in zip(self.sizes.tolist(), kept, strict=True):
            chances *= fair_binomial_probabilities(size)[heads]
        return kept, chances


WORK = 1 << 18  # cells of one task
MOST = 1 << 14  # permutations of one task: they are quick, and a task has some overhead


def permute_labels(
    y_true: Any, pred_a: Any, pred_b: Any, asked: Any, pos_label: Any, draws: PermutationPlan
) -> PermutedStatistic:
    """Test a metric of confusion matrices."""
    codes, rows, classes = count_label_triples(y_true, pred_a, pred_b, pos_label)
    swaps = LabelSwaps(codes, rows, classes.labels.size)
    return permute_label_counts(swaps, matrix_metric(asked, "metric"), asked, classes, draws)


def count_label_triples(y_true: Any, pred_a: Any, pred_b: Any, pos_label: Any = None) -> tuple[Ints, Ints, Classes]:
    """Count rows by true class and predicted ones: what `LabelSwaps` takes, and the classes."""
    given = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    labels = {name: as_labels(name, values) for name, values in given.items()}
    check_same_length(**labels)
    check_comparable_labels(**labels)
    whole = [as_class_numbers(name, values) for name, values in labels.items()]
    distinct, numbers, rows = count_label_tuples("y_true, pred_a and pred_b", whole)
    classes, codes = encode_classes(distinct, numbers, pos_label)
    return np.stack(codes), rows, classes


def permute_label_counts(
    swaps: LabelSwaps, function: MatrixMetric, asked: Any, classes: Classes, draws: PermutationPlan
) -> PermutedStatistic:
    """Test a function of stacks of confusion matrices."""
    k = swaps.n_classes

    def values(kept: Ints) -> Floats:
        """Return the metric of both models, of shape (2, n); one stack of all matrices halves the calls."""
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
        kept_in = partial(FairBinomials(swaps.sizes).draw, draws.key)
    size = max(1, min(WORK // max(swaps.both.size, swaps.sizes.size), MOST))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]

    def task(numbers: range) -> Floats:
        found = values(kept_in(numbers))
        with np.errstate(invalid="ignore"):  # both infinite
            return np.asarray(found[0] - found[1])

    parts = run(task, tasks, progress=draws.progress, compiles=chances is None and FairBinomials)
    outcomes = PermutationDistribution(np.concatenate(parts), chances is not None, chances)
    return permuted_difference(float(first), float(second), outcomes, classes.pos_label)
