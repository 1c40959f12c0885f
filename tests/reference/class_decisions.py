"""Slow, obvious twins of decisions among several classes, straight from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np


def least_cost_actions(y_prob: Any, costs: Any) -> list[int]:
    """Add up each action's expected cost in the order of the classes; the first action with the lowest counts."""
    chosen = []
    for row in np.asarray(y_prob, dtype=float):
        expected = [
            sum(p * cost[action] for p, cost in zip(row, costs, strict=True)) for action in range(len(costs[0]))
        ]
        chosen.append(expected.index(min(expected)))
    return chosen


def mean_cost(codes: Sequence[int], actions: Sequence[int], costs: Any, weights: Sequence[float]) -> float:
    """Add up the cost of each row."""
    total = sum(w * costs[k][a] for k, a, w in zip(codes, actions, weights, strict=True))
    return float(total / sum(weights))


def predicted(y_prob: Any, thresholds: Sequence[float]) -> list[int]:
    """Compare each class's probability divided by its threshold."""
    quotients = [[p / t for p, t in zip(row, thresholds, strict=True)] for row in np.asarray(y_prob, dtype=float)]
    return [row.index(max(row)) for row in quotients]


def goal(codes: Sequence[int], chosen: Sequence[int], weights: Sequence[float], n_classes: int, metric: str) -> float:
    """Return macro-F1, balanced accuracy or accuracy."""
    rows = list(zip(codes, chosen, weights, strict=True))
    if metric == "accuracy":
        return sum(w for k, a, w in rows if k == a) / sum(weights)
    values = []
    for c in range(n_classes):
        hit = sum(w for k, a, w in rows if k == a == c)
        of_class, predicted_as = sum(w for k, _, w in rows if k == c), sum(w for _, a, w in rows if a == c)
        values.append(hit / of_class if metric == "balanced_accuracy" else 2 * hit / (of_class + predicted_as))
    return sum(values) / n_classes


def best_on_a_grid(codes: Sequence[int], y_prob: Any, weights: Sequence[float], metric: str, grid: Any) -> float:
    """Try thresholds from a grid for all classes but the first, whose threshold is 1."""
    n = len(y_prob[0])
    return max(goal(codes, predicted(y_prob, [1.0, *rest]), weights, n, metric) for rest in product(grid, repeat=n - 1))
