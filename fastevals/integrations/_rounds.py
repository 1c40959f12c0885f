"""A metric of one round of boosting: predictions of a data set, whose rows may have weights and be grouped by query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals.integrations._metric import OneMetric, weighted_mean
from fastevals.measure.registry import METRICS


def value_of_round(
    metric: OneMetric, y_true: Any, predicted: Any, weights: Any = None, sizes: Any = None, *, tool: str
) -> float:
    """Compute a metric of the predictions that a tool passes to a function of the user after each round.

    Parameters
    ----------
    metric : OneMetric
        The metric.
    y_true : array-like of shape (n_samples,)
        Labels, targets or relevance; of several classes their numbers.
    predicted : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions.
    weights : array-like of shape (n_samples,) or (n_queries,), optional
        Weights of rows or of queries. Empty if there are none.
    sizes : array-like of shape (n_queries,), optional
        Numbers of rows of the queries, whose rows are adjacent. Empty if there are none.
    tool : str
        The tool, as messages name it.
    """
    return mean_of_round(metric, y_true, predicted, weights, sizes, tool=tool)[0]


def mean_of_round(
    metric: OneMetric, y_true: Any, predicted: Any, weights: Any, sizes: Any, *, tool: str
) -> tuple[float, float]:
    """Return what `value_of_round` returns, and the total weight of the rows, or of the queries that have a value."""
    weights, sizes, predicted = _or_none(weights), _or_none(sizes), np.asarray(predicted)
    n = np.shape(y_true)[0]
    if metric.is_of_queries:
        if sizes is None:
            raise ValueError(
                f"{metric.spec} measures ranked documents: it needs the query of each row, but the data has no groups"
            )
        values = metric.query_values(y_true, predicted, _query_of_rows(sizes))
        query_weights = _of_queries(weights, sizes, n)
        return weighted_mean(values, None if query_weights is None else query_weights[sizes > 0])
    if weights is not None and sizes is not None and weights.size == sizes.size != n:
        weights = np.repeat(weights, sizes)
    if predicted.ndim == 2 and predicted.shape[1] > 1 and np.ndim(y_true) == 1:
        value = metric.value(y_true, predicted, sample_weight=weights, labels=np.arange(predicted.shape[1]))
    else:
        check_labels(metric, predicted, tool)
        _check_probabilities(metric, predicted, tool)
        value = metric.value(y_true, predicted, sample_weight=weights)
    return value, n if weights is None else float(np.sum(weights, dtype=np.float64))


def _or_none(values: Any) -> NDArray[Any] | None:
    """Return an array, or None if there are no values."""
    array = None if values is None else np.asarray(values)
    return None if array is None or not array.size else array


def _query_of_rows(sizes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each row's query."""
    return np.repeat(np.arange(sizes.size), sizes)


def _of_queries(weights: NDArray[Any] | None, sizes: NDArray[Any], n: int) -> NDArray[np.float64] | None:
    """Return the weight of each query: its own, or the mean weight of its rows."""
    if weights is None or (weights.size == sizes.size != n):
        return weights
    sums = np.bincount(_query_of_rows(sizes), weights=weights, minlength=sizes.size)
    means: NDArray[np.float64] = sums / np.maximum(sizes, 1)
    return means


def check_labels(metric: OneMetric, predicted: NDArray[Any], tool: str) -> None:
    """Raise if a metric is of predicted labels, and predictions are scores."""
    if metric.is_of_labels and predicted.dtype.kind == "f" and (predicted != np.trunc(predicted)).any():
        name = metric.spec.name
        hint = f": pass metric({name!r}, threshold=0.5) or another threshold" if METRICS[name].of == "cells" else ""
        raise ValueError(f"{metric.spec} is of predicted labels, but {tool} predicts scores{hint}")


def _check_probabilities(metric: OneMetric, predicted: NDArray[Any], tool: str) -> None:
    """Raise if a metric is of probabilities, and a prediction is none."""
    if METRICS[metric.spec.name].of == "probabilities" and predicted.size:
        outside = (predicted < 0) | (predicted > 1)
        if outside.any():
            row = int(np.argmax(outside.reshape(-1)))
            raise ValueError(
                f"{metric.spec} needs probabilities, in [0, 1], got {show(predicted.reshape(-1)[row])} at row {row}: "
                f"with an objective of your own, {tool} passes margins"
            )


def link(metric: OneMetric, raw: Any) -> NDArray[Any]:
    """Return the predictions that a metric needs from a tool's raw values, which are one array or an array per class.

    Metrics of numbers, of predicted classes and of rankings of one array take raw values as they are: as probabilities,
    some would be equal that are not.
    """
    columns: NDArray[np.float64] = np.array([np.asarray(each) for each in raw], dtype=np.float64)
    entry = METRICS[metric.spec.name]
    if len(columns) > 1 and metric.is_of_labels:
        return np.ascontiguousarray(columns.T)
    if len(columns) > 1:
        powers = np.exp(columns - columns.max(axis=0))
        shares: NDArray[np.float64] = powers / powers.sum(axis=0)
        return np.ascontiguousarray(shares.T)
    column: NDArray[np.float64] = columns[0]
    if entry.needs_probabilities or "threshold" in metric.spec.options:
        powers = np.exp(-np.abs(column))
        column = np.where(column < 0, powers, 1.0) / (1 + powers)
    return column
