"""Slow, obvious twins of `fastevals.calibration`: rows one by one, and every jackknife step solved on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm


class Row(NamedTuple):
    y: int
    p: float
    weight: float
    cluster: Any


def rows_of(y: Sequence[int], p: Sequence[float], weights: Any = None, clusters: Any = None) -> list[Row]:
    """Return rows of weight above zero; each row is its own cluster if there are none."""
    weights = [1.0] * len(y) if weights is None else weights
    clusters = range(len(y)) if clusters is None else clusters
    return [Row(*each) for each in zip(y, p, weights, clusters, strict=True) if each[2] > 0]


def log_ratio(rows: Sequence[Row]) -> float:
    return math.log(sum(row.weight * row.p for row in rows) / sum(row.weight * row.y for row in rows))


def derivatives(rows: Sequence[Row], a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Return score and information of the log-odds ``a + b * logit(p)``."""
    score, information = np.zeros(2), np.zeros((2, 2))
    for row in rows:
        if 0 < row.p < 1:
            x = np.array([1.0, math.log(row.p / (1 - row.p))])
            chance = 1 / (1 + math.exp(-(a + b * x[1])))
            score += row.weight * (row.y - chance) * x
            information += row.weight * chance * (1 - chance) * np.outer(x, x)
    return score, information


def fit(rows: Sequence[Row], *, slope: bool) -> np.ndarray:
    """Return intercept and slope of the highest likelihood; the slope is 1 unless it is to be fitted."""

    def loss(at: np.ndarray) -> float:
        a, b = at[0], at[1] if slope else 1.0
        total = 0.0
        for row in rows:
            if 0 < row.p < 1:
                z = a + b * math.log(row.p / (1 - row.p))
                total += row.weight * (np.logaddexp(0, z) - row.y * z)
        return total

    at = np.array([*minimize(loss, [0.0, 1.0][: 1 + slope], tol=1e-10).x, 1.0])[:2]
    for _ in range(5):  # to the last digits
        score, information = derivatives(rows, *at)
        n = 1 + slope
        at[:n] += np.linalg.solve(information[:n, :n], score[:n])
    return at


def jackknife(rows: Sequence[Row]) -> dict[str, float]:
    """Return standard errors of the log ratio, and of intercept and slope after one step without each cluster."""
    clusters = dict.fromkeys(row.cluster for row in rows)
    level, line = fit(rows, slope=False), fit(rows, slope=True)
    moved: dict[str, list[float]] = {"log_ratio": [], "intercept": [], "slope_intercept": [], "slope": []}
    for cluster in clusters:
        rest = [row for row in rows if row.cluster != cluster]
        moved["log_ratio"].append(log_ratio(rest) - log_ratio(rows))
        score, information = derivatives(rest, *level)
        moved["intercept"].append(score[0] / information[0, 0])
        score, information = derivatives(rest, *line)
        a, b = np.linalg.solve(information, score)
        moved["slope_intercept"].append(a)
        moved["slope"].append(b)
    n = len(clusters)
    return {name: math.sqrt((n - 1) / n * sum(each**2 for each in steps)) for name, steps in moved.items()}


def spiegelhalter(rows: Sequence[Row], *, clustered: bool = False) -> tuple[float, float]:
    """Return z and p."""
    total, variance, sums = 0.0, 0.0, dict.fromkeys((row.cluster for row in rows), 0.0)
    for row in rows:
        total += row.weight * (row.y - row.p) * (1 - 2 * row.p)
        sums[row.cluster] += row.weight * (row.y - row.p) * (1 - 2 * row.p)
        variance += row.weight**2 * (1 - 2 * row.p) ** 2 * row.p * (1 - row.p)
    z = total / math.sqrt(sum(each**2 for each in sums.values()) if clustered else variance)
    return z, 2 * norm.sf(abs(z))
