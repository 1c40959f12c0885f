"""A metric of many lists of rows, as data frames and databases pass groups to a function.

The value of a list depends on its own rows alone, so it doesn't matter which lists are passed in one call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.labels import Classes
from fastevals.many.group_values import grouped_values
from fastevals.many.groups import errors_of_groups, scores_by_group
from fastevals.many.queries import QueryTask
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, metric_kind
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS

Floats = NDArray[np.float64]


def check_metric_of_lists(spec: MetricSpec, **given: Any) -> None:
    """Raise unless a metric has one number per list, and is computed from one column of predictions.

    `given` has the other arguments, of which metrics of ranked documents take none.
    """
    if METRICS[spec.name].of == "queries":
        for name, each in given.items():
            if each is not None:
                raise ValueError(f"{spec} measures ranked documents, and takes no {name}")
        return
    kind = metric_kind(spec, "metric")
    if kind not in (SCORES, LABELS, TARGETS):
        raise ValueError(f"metric must be computed from one column of predictions, and {spec} needs {kind.phrase}")
    if spec.options.get("average", "") is None:
        raise ValueError(f"metric must give one number, and {spec} gives one for each class")
    kind.metric(spec, "metric")


def metrics_of_lists() -> dict[str, MetricSpec]:
    """Return the metrics that need no options."""
    found = {}
    for name in METRICS:
        spec = MetricSpec(name, {})
        try:
            check_metric_of_lists(spec)
        except ValueError:
            continue
        found[name] = spec
    return found


def check_same_sizes(sizes: Mapping[str, NDArray[Any]]) -> None:
    """Raise unless the lists of all columns, by name, have equal numbers of rows."""
    first = next(iter(sizes))
    for name, each in sizes.items():
        wrong = np.flatnonzero(each != sizes[first])
        if wrong.size:
            got = each[wrong[0]], sizes[first][wrong[0]]
            raise ValueError(f"{name} must have as many rows in each group as {first}, got {got[0]} and {got[1]}")


def check_none_missing(n_missing: Mapping[str, int], remedy: str) -> None:
    """Raise if columns, by name, have missing values."""
    for name, n in n_missing.items():
        if n:
            raise ValueError(f"{name} has {n} null {'value' if n == 1 else 'values'}: {remedy}")


def metric_of_lists(
    spec: MetricSpec,
    y_true: Any,
    predicted: Any,
    sizes: NDArray[Any],
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Floats:
    """Compute a metric of each list of rows, without warnings.

    Parameters
    ----------
    spec : MetricSpec
        A metric that `check_metric_of_lists` accepts. If it measures ranked documents, each list is a query.
    y_true, predicted, sample_weight : array-like of shape (n_rows,)
        The lists, one after the other.
    sizes : ndarray of shape (n_lists,)
        Number of rows in each list.
    pos_label : label, optional
        The positive class.

    Returns
    -------
    ndarray of shape (n_lists,)
        NaN where the metric is undefined: for lists without rows, without a class, without a weight above zero, or with
        a zero denominator.
    """
    values = np.full(sizes.size, math.nan)
    weights = None if sample_weight is None else as_array("sample_weight", sample_weight)
    if not sizes.any() or (weights is not None and weights.dtype.kind in "biuf" and not weights.any()):
        return values
    groups = np.repeat(np.arange(sizes.size, dtype=np.uint32), sizes)
    values[sizes > 0] = _measure(spec, y_true, predicted, groups, weights, pos_label)
    return values


def _measure(spec: MetricSpec, y_true: Any, predicted: Any, groups: Any, sample_weight: Any, pos_label: Any) -> Floats:
    """Return the metric of each group that has rows."""
    if METRICS[spec.name].of == "queries":
        task = QueryTask(y_true, groups, {str(spec): spec}, "linear", math.nan, None)
        values, _ = task.measure("y_score", predicted)
        return np.asarray(values[0])
    kind = metric_kind(spec)
    if kind is SCORES:
        scores = scores_by_group(y_true, predicted, groups, sample_weight, pos_label)
        return grouped_values([SCORES.metric(spec)], scores)[0]
    if kind is TARGETS:
        metrics = [TARGETS.metric(spec)]
        return errors_of_groups(metrics, y_true, predicted, groups, sample_weight, pos_label).values[0]
    _, matrix = ConfusionMatrix.from_groups(y_true, predicted, groups, sample_weight=sample_weight, pos_label=pos_label)
    return _of_own_classes(spec, matrix)


def _of_own_classes(spec: MetricSpec, matrix: ConfusionMatrix[Any]) -> Floats:
    """Return a metric of each matrix of a stack; means over classes are over the classes that occur in the matrix."""
    metrics, labels = [LABELS.metric(spec)], matrix.labels
    values = LABELS.evaluate(matrix.counts, matrix._classes, metrics)[0]
    if labels.size == 2 and "average" not in spec.options:
        return values
    occurring = matrix.counts.any(axis=1) | matrix.counts.any(axis=2)
    patterns, pattern_of = np.unique(occurring, axis=0, return_inverse=True)
    for number, present in enumerate(patterns):
        if present.any() and not present.all():
            rows = np.flatnonzero(pattern_of.ravel() == number)
            counts = matrix.counts[np.ix_(rows, present, present)]
            values[rows] = LABELS.evaluate(counts, Classes(labels[present], matrix.pos_label), metrics)[0]
    return values
