"""Costs that differ by row: what is at stake in each row, and the counts of money that follow from it.

Predicting a row positive saves an amount compared with predicting it negative: its *gain*, below 0 if that costs more.
Counts of money weight each row by the size of its gain: rows with a gain above 0 are their positives, and the other
rows are their negatives. Errors in these counts add up to the cost above the least possible cost, so the threshold that
is best for them has the lowest cost.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

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
    def checked(
        cls, y_true: NDArray[Any], cost_fp: Any, cost_fn: Any, cost_tp: Any, names: tuple[str, str, str]
    ) -> Self:
        """Return checked costs; errors call them by `names`."""
        costs = [as_costs(name, each) for name, each in zip(names[:2], (cost_fp, cost_fn), strict=True)]
        costs.append(as_costs(names[2], cost_tp, low=-math.inf))
        for name, each in zip(names, costs, strict=True):
            if isinstance(each, np.ndarray):
                check_same_length(**{"y_true": y_true, name: each})
        if not (np.any(costs[0]) or np.any(costs[1])):
            raise ValueError(f"{names[0]} and {names[1]} must have a value above zero, but all are zero")
        return cls(*costs)

    def take(self, rows: Any) -> RowAmounts:
        """Return the costs of the rows that an index or mask selects."""
        return RowAmounts(*(each[rows] if isinstance(each, np.ndarray) else each for each in self))

    def stakes(self, positive: NDArray[np.bool_]) -> Stakes:
        """Return what is at stake in each row, given which rows are positive."""
        gains = np.where(positive, np.subtract(self.cost_fn, self.cost_tp), np.negative(self.cost_fp))
        if not np.isfinite(gains).all():
            raise ValueError("cost_fn - cost_tp must be finite, but it overflows")
        return Stakes(np.where(positive, self.cost_fn, 0.0), gains)

    def rule(self, probabilities: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the rows to predict positive: a positive prediction has the lower expected cost there.

        Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 1, with the costs of each row.
        """
        p = probabilities.astype(np.float64, copy=False)
        return np.asarray(p * np.subtract(self.cost_fn, self.cost_tp) > (1 - p) * self.cost_fp)

    def leaks(self, positive: NDArray[np.bool_]) -> list[tuple[str, str]]:
        """Return the costs that are 0 in all rows of exactly one class, each with the name of the class."""
        found = []
        for name, costs in zip(("cost_fp", "cost_fn"), self[:2], strict=True):
            if isinstance(costs, np.ndarray):
                zero = [not costs[rows].any() for rows in (positive, ~positive)]
                if zero[0] != zero[1] and 0 < np.count_nonzero(positive) < positive.size:
                    found.append((name, "positive" if zero[0] else "negative"))
        return found


class Stakes(NamedTuple):
    """What is at stake in each row, in money: arrays of shape (n_rows,)."""

    none: Floats  # cost if the row is predicted negative
    gains: Floats  # cost saved by predicting it positive; negative if that costs more

    def weighted(self, weights: Floats | None) -> Stakes:
        """Multiply the stakes by row weights."""
        return self if weights is None else Stakes(self.none * weights, self.gains * weights)

    @property
    def staked(self) -> NDArray[np.intp]:
        """The rows whose prediction makes a difference."""
        return np.flatnonzero(self.gains)

    def counts(self, scores: NDArray[Any]) -> ThresholdCounts:
        """Return the counts of money at or above each score: gains as positives, losses as negatives."""
        rows = self.staked
        gains = self.gains
        if rows.size < gains.size:
            gains, scores = gains[rows], scores[rows]
        return weighted_threshold_counts(BinaryLabels(gains > 0, True, False), scores, np.abs(gains))[0]


# Checks ---------------------------------------------------------------------------------------------------------------


def as_costs(name: str, values: Any, *, low: float = 0.0) -> float | Floats:
    """Return costs as a finite float, or as an array with one finite float per row; at least `low`."""
    if np.ndim(values) == 0 and not isinstance(values, str) and not hasattr(values, "__len__"):
        return check_number(name, values, low=low, high=math.inf, open_low=math.isinf(low), open_high=True)
    costs = as_scores(name, values).astype(np.float64)
    if not np.isfinite(costs).all():
        raise_not_finite(name, costs)
    if costs.size and costs.min() < low:
        row = int(np.argmax(costs < low))
        raise ValueError(f"{name} must not be negative, got {show(costs[row])} at {row_at(row)}")
    return costs
