"""Swap predicted labels by drawing a binomial number for each true class and pair of different predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import draw_fair_binomials, fill_keys, place_kept
from fastevals._validation.arrays import INT64
from fastevals._validation.labels import Classes, as_class_numbers
from fastevals.counting.labels import count_label_tuples
from fastevals.infer.bootstrap.label_samples import encode_classes
from fastevals.infer.permutation.distribution import (
    PermutationDistribution,
    PermutationPlan,
    PermutedStatistic,
    permuted_difference,
)
from fastevals.measure.kinds import LABELS, MatrixMetric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


CELLS_PER_TASK = 1 << 18  # cells per task
PERMUTATIONS_PER_TASK = 1 << 14  # permutations per task: they are quick, and each task has overhead


def permute_labels(
    true: NDArray[Any],
    pred_a: NDArray[Any],
    pred_b: NDArray[Any],
    metric: MatrixMetric,
    name: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Permute the predicted labels of two models, for a metric of confusion matrices."""
    codes, rows, classes = count_label_triples(true, pred_a, pred_b, pos_label)
    return permute_label_counts(LabelSwaps(codes, rows, classes.labels.size), metric, name, classes, plan)


def count_label_triples(
    true: NDArray[Any], pred_a: NDArray[Any], pred_b: NDArray[Any], pos_label: Any = None
) -> tuple[Ints, Ints, Classes]:
    """Count rows by true class and both predictions; return the arguments of `LabelSwaps`, and the classes."""
    labels = {"y_true": true, "pred_a": pred_a, "pred_b": pred_b}
    whole = [as_class_numbers(name, values) for name, values in labels.items()]
    distinct, numbers, rows = count_label_tuples("y_true, pred_a and pred_b", whole)
    classes, codes = encode_classes(distinct, numbers, pos_label)
    return np.stack(codes), rows, classes


def permute_label_counts(
    swaps: LabelSwaps, metric: MatrixMetric, name: str, classes: Classes, plan: PermutationPlan
) -> PermutedStatistic:
    """Permute counted labels, for a function of stacks of confusion matrices; errors use `name` for the function."""
    k = swaps.n_classes

    def measure(kept: Ints) -> Floats:
        """Return the metric of both models, of shape (2, n), from one call with a single stack of matrices."""
        counts = np.empty((k * k, 2, kept.shape[1]), dtype=np.int64)
        counts[:, 0] = swaps.counts(kept)
        np.subtract(swaps.both[:, None], counts[:, 0], out=counts[:, 1])
        stack = counts.reshape(k * k, -1).T.reshape(-1, k, k)
        (values,) = LABELS.evaluate(stack, classes, [metric], argument="metric")
        if values.ndim > 1:
            raise ValueError(f"metric must return one number, but {name} returns an array of shape {values.shape[1:]}")
        return values.reshape(2, -1)

    (first,), (second,) = measure(swaps.kept[:, None])
    kept_in: Callable[[range], Ints]
    chances, n = None, plan.n_resamples
    if np.log2(swaps.sizes + 1.0).sum() <= math.log2(plan.max_outcomes()):
        all_kept, chances = swaps.all_outcomes()
        n, kept_in = chances.size, lambda numbers: all_kept[:, numbers.start : numbers.stop]
    else:
        kept_in = partial(FairBinomials(swaps.sizes).draw, plan.key)
    size = max(1, min(CELLS_PER_TASK // max(swaps.both.size, swaps.sizes.size), PERMUTATIONS_PER_TASK))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]

    def task(numbers: range) -> Floats:
        a, b = measure(kept_in(numbers))
        with np.errstate(invalid="ignore"):  # both infinite
            return np.asarray(a - b)

    parts = run(task, tasks, progress=plan.progress, compiles=chances is None and FairBinomials)
    distribution = PermutationDistribution(np.concatenate(parts), chances is not None, chances)
    return permuted_difference(float(first), float(second), distribution, classes.pos_label)


class LabelSwaps:
    """The rows that a swap changes, counted in cells by true class and the two different predictions.

    Parameters
    ----------
    codes : ndarray of int64 of shape (3, n)
        True class and both predictions, numbered in the order of the labels.
    rows : ndarray of int64 of shape (n,)
        Number of rows for each combination.
    n_classes : int
        Number of classes.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Number of rows for each true class and pair of different predictions.
    kept : ndarray of int64 of shape (n_cells,)
        Number of rows in each cell for which the first model predicts the lower class.
    both : ndarray of int64 of shape (n_classes**2,)
        Sum of the two models' confusion matrices, which no permutation changes.
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
        self.sizes, self.kept = np.zeros((2, cells.size), dtype=INT64)
        np.add.at(self.sizes, of_cell, rows)
        np.add.at(self.kept, of_cell, np.where(first < second, rows, 0))
        lower = cells // n_classes
        self._cells = lower, lower // n_classes * n_classes + cells % n_classes

    def _matrix(self, cells: Ints, rows: Ints) -> Ints:
        counts = np.zeros(self.n_classes**2, dtype=INT64)
        np.add.at(counts, cells, rows)
        return counts

    def counts(self, kept: Ints) -> Ints:
        """Return the first model's matrix in each of n permutations, as an array of shape (n_classes**2, n).

        `kept` has shape (n_cells, n): the rows of each cell for which the first model predicts the lower class.
        """
        counts = np.repeat(self._fixed[:, None], kept.shape[1], axis=1)
        place_kept(kept, self.sizes, *self._cells, counts)
        return counts

    def all_outcomes(self) -> tuple[Ints, Floats]:
        """Return all combinations of numbers of kept rows, and the probability of each combination."""
        shape = tuple((self.sizes + 1).tolist())
        kept = np.indices(shape, dtype=INT64).reshape(len(shape), math.prod(shape))
        chances = np.ones(kept.shape[1])
        for size, heads in zip(self.sizes.tolist(), kept, strict=True):
            chances *= fair_binomial_probabilities(size)[heads]
        return kept, chances


FAR_SIGMAS = 9.5  # standard deviations: values further away have a probability below 2**-64


def fair_binomial_probabilities(n: int, low: int = 0) -> NDArray[np.float64]:
    """Return the probabilities of `low` to ``n - low`` heads in n tosses of a fair coin."""
    middle = (n + 1) // 2
    k = np.arange(middle, n - low, dtype=np.float64)
    upper = np.cumprod(np.concatenate(([1.0], (n - k) / (k + 1))))  # from the middle outwards, so that none overflows
    whole = np.concatenate((upper[::-1] if n % 2 else upper[:0:-1], upper))
    return np.asarray(whole / whole.sum())


class FairBinomials:
    """Draws a fair binomial number for each cell, for many permutations in one call.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Number of rows in each cell, at least 1.
    """

    __slots__ = ("_of_cell", "_tables")

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        distinct, self._of_cell = np.unique(sizes, return_inverse=True)
        lows, limits, guides, shifts = [], [], [], []
        for n in distinct.tolist():
            low = max(0, math.floor(n / 2 - FAR_SIGMAS * math.sqrt(n) / 2))
            below = np.cumsum(fair_binomial_probabilities(n, low))[:-1]
            numbers = np.ldexp(below[(below >= 2.0**-64) & (below < 1)], 64).astype(np.uint64)
            lows.append(low + int(np.searchsorted(below, 2.0**-64)))
            limit = np.append(numbers - np.uint64(1), np.uint64(2**64 - 1))
            bits = max(limit.size.bit_length() - 2, 1)
            shifts.append(64 - bits)
            guides.append(np.searchsorted(limit, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)))
            limits.append(limit)
        starts = [np.cumsum([0, *map(len, parts[:-1])]) for parts in (limits, guides)]
        self._tables = (
            np.array(lows), np.concatenate(limits), np.concatenate(guides).astype(np.uint32), np.array(shifts), *starts
        )  # fmt: skip

    def draw(self, key: np.uint64, numbers: range) -> NDArray[np.int64]:
        """Return the counts of the permutations with these numbers, of shape (n_cells, n)."""
        keys = np.empty(len(numbers), dtype=np.uint64)
        fill_keys(key, numbers.start, keys)
        drawn = np.empty((self._of_cell.size, keys.size), dtype=np.int64)
        draw_fair_binomials(self._of_cell, *self._tables, keys, drawn)
        return drawn
