"""Thresholds of several classes: the class with the largest probability divided by its threshold is predicted."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, run
from fastevals._kernels.class_thresholds import (
    GOAL_ROUNDING,
    best_of_others,
    find_two_best,
    settle_order,
    sum_of_goals,
    sweep_class,
    update_two_best,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
ThresholdGoal = Literal["f1", "balanced_accuracy", "accuracy"]

MOST_PASSES = 50
LEAST_GAIN = 1e-4  # relative gain of a pass over all classes, below which the ascent ends


def classes_by_factors(columns: NDArray[Any], factors: Floats) -> Codes:
    """Return each row's class with the largest product of probability and the class's factor; the first if tied."""
    found = np.empty(columns.shape[1], dtype=np.int64)

    def task(part: slice) -> None:
        for of in blocks(part, max(1, ROWS_PER_BLOCK // len(columns))):
            found[of] = (columns[:, of] * factors[:, None]).argmax(axis=0)

    run(task, chunks(found.size))
    return found


class ThresholdSearch:
    """Rows of several classes, on which the classes' factors (inverse thresholds) are chosen by coordinate ascent.

    Parameters
    ----------
    columns : ndarray of shape (n_classes, n_rows)
        Probabilities.
    codes : ndarray of int of shape (n_rows,)
        The class number of each row.
    weights : ndarray of shape (n_rows,), optional
        Row weights.
    goal : "f1", "balanced_accuracy" or "accuracy"
        What is maximised: the mean of the classes' F1, the mean of their recall, or the share of right predictions.
    """

    def __init__(self, columns: NDArray[Any], codes: NDArray[Any], weights: Floats | None, goal: ThresholdGoal) -> None:
        self._columns, self._codes = np.ascontiguousarray(columns, dtype=np.float64), codes.astype(np.int64)
        self._weights = np.ones(codes.size) if weights is None else weights / weights.mean()
        self._support = np.bincount(self._codes, self._weights, len(columns))
        self._of_f, total = goal == "f1", float(self._support.sum())
        share = np.full(len(columns), 1 / total)
        if goal == "balanced_accuracy":
            n_present = np.count_nonzero(self._support)
            share = np.divide(1 / n_present, self._support, out=np.zeros(len(columns)), where=self._support > 0)
        self._values = share

    def value(self, factors: Floats) -> float:
        """Return the goal: for F1 its sum over classes."""
        return self._value_of(classes_by_factors(self._columns, factors))

    def _value_of(self, predicted: Codes) -> float:
        """Return the goal of predicted classes."""
        n = self._support.size
        hits = np.bincount(self._codes, self._weights * (predicted == self._codes), n)
        counts = np.bincount(predicted, self._weights, n)
        return float(sum_of_goals(hits, counts, self._support, self._values, self._of_f))

    def best(self) -> Floats:
        """Return the best thresholds found from two starts: equal factors, and the inverse shares of the classes.

        One factor after another is set to its best value given the others, until a pass hardly improves the goal.
        """
        start = np.ones(self._support.size)
        shares = np.where(self._support > 0, self._support / self._support.sum(), 1.0)
        found = [_as_thresholds(each) for each in (start, *map(self._ascend, (start, 1 / shares)))]
        values = [self.value(1 / each) for each in found]
        most = max(values)
        place = next(k for k, each in enumerate(values) if each >= most - GOAL_ROUNDING * abs(most))
        return found[place]

    def _ascend(self, start: Floats) -> Floats:
        factors, n_rows = start.copy(), self._codes.size
        ratios, others, fixed = np.empty(n_rows), np.empty(n_rows, dtype=np.int64), self._fixed
        first, second = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        products, next_products = np.empty(n_rows), np.empty(n_rows)
        best = first, second, products, next_products
        find_two_best(self._columns, factors, *best)
        value = self._value_of(first)
        for _ in range(MOST_PASSES):
            for k in range(factors.size):
                best_of_others(self._columns[k], k, *best, ratios, others)
                most, low, high, current = sweep_class(_ascending(ratios), ratios, others, *fixed, k, factors[k])
                if most > current + GOAL_ROUNDING * abs(most):
                    before, factors[k] = factors[k], _between(low, high)
                    update_two_best(self._columns, factors, k, factors[k] > before, *best)
            unit = 2.0 ** -math.frexp(factors.max())[1]  # exact, so the two best classes stay the same
            factors *= unit
            products *= unit
            next_products *= unit
            last, value = value, self._value_of(first)
            if value <= last + LEAST_GAIN * abs(last):
                break
        return factors

    @property
    def _fixed(self) -> tuple[Any, ...]:
        """What a sweep reads of the rows and of the goal."""
        return self._codes, self._weights, self._support, self._values, self._of_f


def _ascending(values: Floats) -> NDArray[np.intp]:
    """Return the rows in ascending order of their values, which are not negative.

    Sorting integers made of the value's 32 leading bits and the row, and settling the rest, takes a third of the time
    of `argsort`.
    """
    with np.errstate(over="ignore", under="ignore"):
        leading = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    keys = (leading << np.uint64(32)) | np.arange(values.size, dtype=np.uint64)
    keys.sort()
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.intp)
    return order if settle_order(order, values) else np.argsort(values)


def _as_thresholds(factors: Floats) -> Floats:
    thresholds = 1 / factors
    return np.asarray(thresholds / thresholds.sum())


def _between(low: float, high: float) -> float:
    """Return a factor between two factors, as far from both as possible on the scale of logarithms."""
    if not math.isfinite(high):
        return 2 * low or 1.0
    return math.sqrt(low) * math.sqrt(high) if low else high / 2
