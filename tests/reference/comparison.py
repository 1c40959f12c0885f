"""Slow, obvious twins of the paired bootstrap: a loop over draws, and a loop over replicates and pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def paired_replicates(
    metrics: Callable[..., Mapping[str, float]], y: Any, models: Mapping[str, Any], draws: Iterable[Any], weights: Any
) -> dict[str, Any]:
    """Repeat each row as often as it was drawn, equally for all models; return (n_draws, n_models) per metric."""
    rows = [np.repeat(np.arange(len(y)), times) for times in draws]
    measured = [
        [metrics(y[drawn].tolist(), each[drawn].tolist(), weights[drawn].tolist()) for each in models.values()]
        for drawn in rows
    ]
    return {name: np.array([[each[name] for each in row] for row in measured]) for name in measured[0][0]}


def max_t(
    values: Any,
    replicates: Any,
    pairs: Sequence[tuple[int, int]],
    level: float,
    alternative: str,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> list[tuple[float, ...]]:
    """Return each pair's difference, simultaneous interval, standard error, adjusted and unadjusted p-value."""
    side: Any = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    deviations = np.array(
        [
            side((row[i] - row[j]) - (values[i] - values[j])) / np.std(replicates[:, i] - replicates[:, j], ddof=1)
            for row in replicates
            for i, j in pairs
        ]
    ).reshape(len(replicates), len(pairs))
    largest = np.sort(deviations.max(axis=1))
    reach = largest[math.ceil(level * (len(largest) + 1)) - 1]
    found = []
    for k, (i, j) in enumerate(pairs):
        error = np.std(replicates[:, i] - replicates[:, j], ddof=1)
        difference = values[i] - values[j]
        low = bounds[0] if alternative == "less" else difference - reach * error
        high = bounds[1] if alternative == "greater" else difference + reach * error
        reached = side(difference) / error
        least = reached - 1e-9 * abs(reached)  # mathematically equal values count
        adjusted, own = ((1 + (each >= least).sum()) / (1 + len(largest)) for each in (largest, deviations[:, k]))
        found.append((difference, low, high, error, adjusted, own))
    return found
