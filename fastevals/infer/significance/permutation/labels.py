"""Predicted labels that are swapped: counts of rows are all there is to know."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.permutation import count_triples, place_halves
from fastevals.infer.bootstrap.samples.matrix import MatrixMetric, TableSample
from fastevals.infer.bootstrap.subjects import matrix_metric
from fastevals.infer.significance.permutation.halves import Halves, chances_of_half
from fastevals.infer.significance.permutation.outcomes import Draws, Outcomes, Tested, from_values
from fastevals.measure.codec import plain_block
from fastevals.measure.confusion import ConfusionMatrix

__all__ = ["Swaps", "count_codes", "count_rows", "of_labels", "of_swaps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLE = 1 << 10  # rows that suggest the range of integer labels
DENSE = 1 << 4  # widest range of integer labels counted in a table
WIDEST = 1 << 20  # range of which three codes make an integer
WORK = 1 << 18  # cells of one task
MOST = 1 << 14  # permutations of one task: they are quick, and a task has some overhead
INT = np.dtype(np.int64)


def of_labels(y_true: Any, pred_a: Any, pred_b: Any, asked: Any, draws: Draws) -> Tested:
    """Test a metric of confusion matrices."""
    return of_swaps(Swaps(*count_rows(y_true, pred_a, pred_b)), matrix_metric(asked), asked, draws)


def of_swaps(swaps: Swaps, function: MatrixMetric, asked: Any, draws: Draws) -> Tested:
    """Test a function of stacks of confusion matrices."""
    matrix = ConfusionMatrix(np.zeros((swaps.n_classes, swaps.n_classes), dtype=INT))
    sample = TableSample(matrix, [function], stratified=False)

    def values(kept: Ints) -> Floats:
        """Give the metric of both models, of shape (2, n); one stack of all matrices halves the calls."""
        counts = np.empty((swaps.both.size, 2, kept.shape[1]), dtype=INT)
        counts[:, 0] = swaps.counts(kept)
        np.subtract(swaps.both[:, None], counts[:, 0], out=counts[:, 1])
        found = sample.measure(counts.reshape(len(counts), -1).T, 2 * kept.shape[1], None)[0]
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
        kept_in = partial(Halves(swaps.sizes).draw, draws.key)
    size = max(1, min(WORK // max(swaps.both.size, swaps.sizes.size), MOST))
    tasks = [range(start, min(start + size, n)) for start in range(0, n, size)]

    def task(numbers: range) -> Floats:
        found = values(kept_in(numbers))
        with np.errstate(invalid="ignore"):  # both infinite
            return np.asarray(found[0] - found[1])

    parts = run(task, tasks, progress=draws.progress)
    return from_values(float(first), float(second), Outcomes(np.concatenate(parts), chances is not None, chances))


class Swaps:
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
        """Give the first model's confusion matrices, of shape (n_classes**2, n), of kept rows of shape (n_cells, n)."""
        counts = np.repeat(self._fixed[:, None], kept.shape[1], axis=1)
        place_halves(kept, self.sizes, *self._cells, counts)
        return counts

    def outcomes(self) -> tuple[Ints, Floats]:
        """Give all numbers of kept rows that there can be, and the chance of each."""
        shape = tuple((self.sizes + 1).tolist())
        kept = np.indices(shape, dtype=INT).reshape(len(shape), math.prod(shape))
        chances = np.ones(kept.shape[1])
        for size, heads in zip(self.sizes.tolist(), kept, strict=True):
            chances *= chances_of_half(size)[heads]
        return kept, chances


# Counting ---------------------------------------------------------------------------------------------------------


def count_rows(y_true: Any, pred_a: Any, pred_b: Any) -> tuple[Ints, Ints, int]:
    """Count rows by true class and predicted ones: what `Swaps` takes."""
    given = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    labels = {name: check.as_labels(name, values) for name, values in given.items()}
    check.check_same_length(**labels)
    check.check_comparable_labels(**labels)
    if labels["y_true"].dtype.kind in "US":
        numbers = _codes(list(labels.values()))
    else:
        numbers = [check.as_class_numbers(name, values) for name, values in labels.items()]
    cells, rows, width = _counted(numbers)
    codes = np.stack((cells // width**2, cells // width % width, cells % width))
    distinct, codes = np.unique(codes, return_inverse=True)
    check.check_class_number("y_true, pred_a and pred_b", distinct)
    return codes.reshape(3, -1), rows, distinct.size


def _codes(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Number labels of any kind in their order."""
    codes = np.unique(np.concatenate(arrays), return_inverse=True)[1]
    return list(codes.reshape(len(arrays), -1))


def _counted(numbers: Sequence[NDArray[Any]]) -> tuple[Ints, Ints, int]:
    """Give the cells that occur, three codes below a width each in one number, their rows, and the width."""
    step = max(numbers[0].size // SAMPLE, 1)
    for suggestion in ([each[::step] for each in numbers], numbers):
        low = min(int(each.min()) for each in suggestion)
        width = max(int(each.max()) for each in suggestion) - low + 1
        if width <= DENSE:
            table, outside = count_codes(numbers, low, width)
            if not outside:
                cells = np.flatnonzero(table)
                return cells, table[cells], width
    if width > WIDEST:
        return _counted(_codes([each.astype(INT) for each in numbers]))
    keys = np.zeros(numbers[0].size, dtype=INT)
    for each in numbers:
        keys = keys * width + (each.astype(INT) - low)
    return *np.unique(keys, return_counts=True), width


def count_codes(numbers: Sequence[NDArray[Any]], low: int, width: int) -> tuple[Ints, int]:
    """Count codes in [low, low + width) in one pass; give the table, and the number of rows outside."""
    parts = chunks(numbers[0].size)
    tables = np.zeros((len(parts), 2, width**3), dtype=INT)

    def count(i: int) -> int:
        outside = 0
        for block in blocks(parts[i]):
            outside += count_triples(*(plain_block(each[block], INT) for each in numbers), low, width, tables[i])
        return outside

    outside = sum(run(count, range(len(parts))))
    return tables.sum(axis=(0, 1)), outside
