"""Slow, obvious twins of estimates from splits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def per_split(y_true: Any, y_pred: Any, pairs: Iterable[tuple[Any, Any]], metric: Callable[[Any, Any], float]) -> Any:
    """Compute the metric of each test set's rows."""
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    return np.array([metric(true[test], predicted[test]) for _, test in pairs])


def together(y_true: Any, y_pred: Any, pairs: Iterable[tuple[Any, Any]], metric: Callable[[Any, Any], float]) -> float:
    """Compute the metric of the concatenated rows of all test sets."""
    rows = np.concatenate([test for _, test in pairs])
    return metric(np.asarray(y_true)[rows], np.asarray(y_pred)[rows])


def accuracy(y: Any, p: Any) -> float:
    return sum(a == b for a, b in zip(y, p, strict=True)) / len(y)


def recall(y: Any, p: Any) -> float:
    positive = [b for a, b in zip(y, p, strict=True) if a == 1]
    return sum(b == 1 for b in positive) / len(positive) if positive else math.nan


def mean_squared_error(y: Any, p: Any) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(y, p, strict=True)) / len(y)


def mean_absolute_error(y: Any, p: Any) -> float:
    return math.fsum(abs(a - b) for a, b in zip(y, p, strict=True)) / len(y)


def mean_absolute_percentage_error(y: Any, p: Any) -> float:
    return math.fsum(abs(a - b) / max(abs(a), 2.0**-52) for a, b in zip(y, p, strict=True)) / len(y)


def r2(y: Any, p: Any) -> float:
    if len(set(np.asarray(y).tolist())) == 1:
        return math.nan
    mean = math.fsum(y) / len(y)
    return 1 - mean_squared_error(y, p) / mean_squared_error(y, [mean] * len(y))


def pinball_loss(y: Any, p: Any, quantile: float) -> float:
    losses = (quantile * (a - b) if a > b else (1 - quantile) * (b - a) for a, b in zip(y, p, strict=True))
    return math.fsum(losses) / len(y)


def median_absolute_error(y: Any, p: Any) -> float:
    return float(np.median(np.abs(np.asarray(y) - p)))


def roc_auc(y: Any, s: Any) -> float:
    pairs = [(a > b) + (a == b) / 2 for a, i in zip(s, y, strict=True) if i for b, j in zip(s, y, strict=True) if not j]
    return sum(pairs) / len(pairs) if pairs else math.nan


def brier_score(y: Any, s: Any) -> float:
    return mean_squared_error(y, s)


def all_pairs(y: NDArray[Any], p: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pair each row's truth with each row's prediction, so that predictions carry no information."""
    return np.repeat(y, p.size), np.tile(p, y.size)


def nadeau_bengio(values: Any, test_to_train: float, level: float) -> tuple[float, float]:
    from scipy import stats

    values = np.asarray(values)
    error = math.sqrt(values.var(ddof=1) * (1 / values.size + test_to_train))
    reach = stats.t.ppf((1 + level) / 2, values.size - 1) * error
    return values.mean() - reach, values.mean() + reach
