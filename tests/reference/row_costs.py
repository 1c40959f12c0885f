"""Slow, obvious twins of costs by row: a loop over rows for each decision, and over all thresholds for the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Numbers = Sequence[float]


def total_cost(y: Sequence[bool], decided: Sequence[bool], costs: Any, weights: Numbers) -> float:
    """Add up each row's cost; `costs` has the costs of false positives, false negatives and true positives."""
    total = 0.0
    for positive, predicted, fp, fn, tp, weight in zip(y, decided, *costs, weights, strict=True):
        if positive:
            total += weight * (tp if predicted else fn)
        else:
            total += weight * (fp if predicted else 0.0)
    return total


def best_threshold(y: Sequence[bool], scores: Numbers, costs: Any, weights: Numbers) -> tuple[float, float]:
    """Try all thresholds; return the lowest total cost, and the highest threshold that attains it up to rounding."""
    found = [
        (total_cost(y, [score >= threshold for score in scores], costs, weights), threshold)
        for threshold in [math.inf, *sorted(set(scores), reverse=True)]
    ]
    least = min(cost for cost, _ in found)
    slack = 1e-9 * sum(total_cost([each] * len(y), [not each] * len(y), costs, weights) for each in (True, False))
    return next((least, threshold) for cost, threshold in found if cost <= least + slack)


def rule(p: Numbers, costs: Any) -> list[bool]:
    """Choose each row's prediction of lower expected cost (Elkan 2001)."""
    return [
        (1 - each) * fp + each * tp < each * fn  # the expected costs of predicting positive, and negative
        for each, fp, fn, tp in zip(p, *costs, strict=True)
    ]


def leave_each_out(value: Callable[[list[int]], float], clusters: Sequence[Any]) -> list[float]:
    """Return a value of rows, leaving out each cluster in turn."""
    return [value([row for row, cluster in enumerate(clusters) if cluster != out]) for out in sorted(set(clusters))]
