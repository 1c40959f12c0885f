"""Costs that differ by row: what is at stake in each row, and the counts of money that follow from it.

Predicting a row positive saves an amount compared with predicting it negative: its *gain*, below 0 if that costs more.
Counts of money weight each row by the size of its gain: rows with a gain above 0 are their positives, and the other
rows are their negatives. Errors in these counts add up to the cost above the least possible cost, so the threshold that
is best for them has the lowest cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, chunks, run
from fastevals._options import check_number, row_at, show
from fastevals._validation.arrays import as_scores, check_same_length, raise_not_finite
from fastevals.counting.ordering import BinaryLabels, weighted_threshold_counts
from fastevals.counts import ThresholdCounts

Floats = NDArray[np.float64]


class RowAmounts(NamedTuple):
    """The costs of each row's predictions: numbers for all rows, or arrays of shape (n_rows,)."""

    cost_fp: Any
    cost_fn: Any
    cost_tp: Any = 0.0

    @classmethod
    def checked(cls, y_true: NDArray[Any], cost_fp: Any, cost_fn: Any, cost_tp: Any, names: Sequence[str]) -> Self:
        """Return checked costs; errors call them by `names`."""
        costs = [as_costs(name, each) for name, each in zip(names[:2], (cost_fp, cost_fn), strict=True)]
        costs.append(as_costs(names[2], cost_tp, low=-math.inf))
        for name, each in zip(names, costs, strict=True):
            if isinstance(each, np.ndarray):
                check_same_length(**{"y_true": y_true, name: each})
        if not any(map(np.any, costs)):
            raise ValueError(f"{names[0]} and {names[1]} must have a value above zero, but all are zero")
        return cls(*costs)

    def take(self, rows: Any) -> RowAmounts:
        """Return the costs of the rows that an index or mask selects."""
        return RowAmounts(*(each[rows] if isinstance(each, np.ndarray) else each for each in self))

    def stakes(self, positive: NDArray[np.bool_], weights: Floats | None = None) -> Stakes:
        """Return what is at stake in each row, multiplied by its weight, given which rows are positive."""
        none, gains = np.empty(positive.size), np.empty(positive.size)

        def fill(part: slice) -> bool:
            finite = True
            for of in blocks(part):
                fp, fn, tp = self.take(of)
                none[of] = np.where(positive[of], fn, 0.0)
                gains[of] = np.where(positive[of], np.subtract(fn, tp), np.negative(fp))
                finite &= bool(np.isfinite(gains[of]).all())
                if weights is not None:
                    none[of] *= weights[of]
                    gains[of] *= weights[of]
            return finite

        with np.errstate(over="ignore"):
            if not all(run(fill, chunks(positive.size))):
                raise ValueError("cost_fn - cost_tp must be finite, but it overflows")
        return Stakes(none, gains)

    def rule(self, probabilities: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the rows to predict positive: a positive prediction has the lower expected cost there.

        Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 1, with the costs of each row.
        """
        found = np.empty(probabilities.size, dtype=np.bool_)

        def fill(part: slice) -> None:
            for of in blocks(part):
                fp, fn, tp = self.take(of)
                p = probabilities[of].astype(np.float64, copy=False)
                found[of] = p * np.subtract(fn, tp) > (1 - p) * fp

        run(fill, chunks(found.size))
        return found

    def leaks(self, positive: NDArray[np.bool_]) -> list[tuple[str, str]]:
        """Return the costs that are 0 in all rows of exactly one class, each with the name of the class."""
        found, classes = [], (positive, ~positive)
        for name, costs in zip(("cost_fp", "cost_fn"), self[:2], strict=True):
            if isinstance(costs, np.ndarray):
                zero = [not any(costs[of][rows[of]].any() for of in blocks(slice(0, costs.size))) for rows in classes]
                if zero[0] != zero[1] and all(rows.any() for rows in classes):
                    found.append((name, "positive" if zero[0] else "negative"))
        return found


class Stakes(NamedTuple):
    """What is at stake in each row, in money: arrays of shape (n_rows,)."""

    none: Floats  # cost if the row is predicted negative
    gains: Floats  # cost saved by predicting it positive; negative if that costs more

    def size(self) -> float:
        """Return the sum of all that is at stake; raise unless it is finite and some prediction makes a difference."""

        def task(part: slice) -> tuple[float, float]:
            parts = list(blocks(part))
            return sum(float(self.none[of].sum()) for of in parts), sum(
                float(np.abs(self.gains[of]).sum()) for of in parts
            )

        with np.errstate(over="ignore"):
            none, gains = (sum(each) for each in zip(*run(task, chunks(self.gains.size)), strict=True))
        if not gains:
            raise ValueError("cost_fp and cost_fn must make some prediction cost more than the other, but none does")
        if not math.isfinite(none + gains):
            raise ValueError("cost_fp and cost_fn must have a finite sum, but it overflows")
        return float(none + gains)

    def typical(self, positive: NDArray[np.bool_], size: float) -> Floats:
        """Return root mean squares of the costs and gains of each class that occurs, negatives last: shape (n, 2).

        A gain has the sign that it usually has in the class. Numbers are divided by `size` before they are squared.
        """

        def task(part: slice) -> Floats:
            sums = np.zeros((2, 2))
            for of in blocks(part):
                gains = np.square(self.gains[of] / size)
                of_positives = float(np.where(positive[of], gains, 0.0).sum())
                sums += [[np.square(self.none[of] / size).sum(), of_positives], [0.0, gains.sum() - of_positives]]
            return sums

        sums = np.sum(run(task, chunks(positive.size)), axis=0)
        n_positive = np.count_nonzero(positive)
        found = [
            size * np.sqrt(np.maximum(each, 0) / n) * (1, sign)
            for each, n, sign in zip(sums, (n_positive, positive.size - n_positive), (1, -1), strict=True)
            if n
        ]
        return np.array(found)

    @property
    def staked(self) -> NDArray[np.intp]:
        """The rows whose prediction makes a difference."""
        return np.flatnonzero(self.gains)

    def counts(self, scores: NDArray[Any]) -> ThresholdCounts:
        """Return the counts of money at or above each score: gains as positives, losses as negatives."""
        gains = self.gains
        if np.count_nonzero(gains) < gains.size:
            rows = self.staked
            gains, scores = gains[rows], scores[rows]
        return weighted_threshold_counts(BinaryLabels(gains > 0, True, False), scores, np.abs(gains))[0]


# Checks ---------------------------------------------------------------------------------------------------------------


def as_costs(name: str, values: Any, *, low: float = 0.0) -> float | Floats:
    """Return costs as a finite float, or as an array with one finite float per row; at least `low`."""
    if np.ndim(values) == 0 and not isinstance(values, str) and not hasattr(values, "__len__"):
        return check_number(name, values, low=low, high=math.inf, open_low=math.isinf(low), open_high=True)
    costs = as_scores(name, values).astype(np.float64, copy=False)
    if not np.isfinite(costs).all():
        raise_not_finite(name, costs)
    if costs.size and costs.min() < low:
        row = int(np.argmax(costs < low))
        raise ValueError(f"{name} must not be negative, got {show(costs[row])} at {row_at(row)}")
    return costs
