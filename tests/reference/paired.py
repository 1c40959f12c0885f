"""Sums over rows of their contributions to two models' metrics, row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fastevals import Ranking


def covariance_of_rows(y: Any, scores: Mapping[str, Any], of_counts: Callable[[Any], float]) -> Any:
    """Leave each row out of each model; return the covariance of the metrics' losses, times the rows."""
    rows = np.arange(y.size)
    lost = []
    for each in scores.values():
        value = of_counts(Ranking(y, each).counts)
        losses = np.array([value - of_counts(Ranking(y[rows != i], each[rows != i]).counts) for i in rows])
        lost.append(losses - losses.mean())
    return np.array(lost) @ np.array(lost).T


def rows_by_two_places(y: Any, scores: Any, other: Any, cuts: Any, other_cuts: Any, weights: Any) -> Any:
    """Sum weights by class and by the number of each model's cuts that a row's scores reach."""
    counts = np.zeros((2, len(cuts) + 1, len(other_cuts) + 1))
    for label, score, also, weight in zip(y, scores, other, weights, strict=True):
        counts[label, sum(score >= cut for cut in cuts), sum(also >= cut for cut in other_cuts)] += weight
    return counts
