"""Slow, obvious twins of metrics by group: rows in a dictionary, each group measured alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Rows = list[tuple[Any, ...]]


def rows_by_group(groups: Any, *columns: Any) -> dict[Any, Rows]:
    """Return the rows of each group, with groups ascending."""
    found: dict[Any, Rows] = {key: [] for key in sorted(set(groups))}
    for key, *row in zip(groups, *columns, strict=True):
        found[key].append(tuple(row))
    return found


def values_by_group(metric: Callable[..., Any], groups: Any, *columns: Any) -> dict[Any, float]:
    """Return a metric of each group's columns; NaN stands for None."""
    found = {}
    for key, rows in rows_by_group(groups, *columns).items():
        value = metric(*map(list, zip(*rows, strict=True)))
        found[key] = math.nan if value is None else float(value)
    return found


def mean(values: Mapping[Any, float], weights: Mapping[Any, float]) -> float:
    """Return the weighted mean of the values that are defined."""
    there = [key for key, value in values.items() if not math.isnan(value)]
    total = sum(weights[key] for key in there)
    return sum(values[key] * weights[key] for key in there) / total if there else math.nan


def matrices_by_group(y_true: Any, y_pred: Any, groups: Any, weights: Any = None) -> tuple[list[Any], list[Any]]:
    """Return the labels, and each group's confusion matrix."""
    weights = [1] * len(groups) if weights is None else list(weights)
    rows = rows_by_group(groups, y_true, y_pred, weights)
    labels = sorted({label for each in rows.values() for *pair, w in each if w for label in pair})
    return labels, [
        [[sum(w for t, p, w in each if (t, p) == (a, b)) for b in labels] for a in labels] for each in rows.values()
    ]
