"""One metric of one model's predictions, of any kind, as tools ask for it: a name, a direction, a number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastevals._options import show
from fastevals._validation.arrays import as_weights
from fastevals.many.classes import ClassRankings
from fastevals.many.models import batch_metrics
from fastevals.many.queries import query_metrics
from fastevals.measure.kinds import LABELS, metric_kind
from fastevals.measure.metric_specs import MetricSpec, is_greater_better, parse_metric
from fastevals.measure.registry import METRICS


@dataclass(frozen=True, slots=True)
class OneMetric:
    """A metric, ready to be computed from labels and predictions.

    Attributes
    ----------
    name : str
        Name in results.
    spec : MetricSpec
        The metric and its options.
    """

    name: str
    spec: MetricSpec

    @classmethod
    def read(cls, metric: Any, *, name: str | None = None, argument: str = "metric") -> OneMetric:
        """Return the metric that a user names, by a string or `metric(...)`."""
        of_queries = _is_of_queries(metric)
        own_name, spec = parse_metric(argument, metric, "be a name or metric(...)", of_queries=of_queries)
        if not isinstance(spec, MetricSpec):
            raise ValueError(f"{argument} must be a name or metric(...), got {show(metric)}")
        return cls(own_name if name is None else name, spec)

    @property
    def greater_is_better(self) -> bool | None:
        """Direction; None if neither higher nor lower values are better."""
        return is_greater_better(self.spec)

    @property
    def is_of_queries(self) -> bool:
        """Whether the metric measures ranked documents, so that it needs the query of each row."""
        return METRICS[self.spec.name].of == "queries"

    @property
    def is_of_labels(self) -> bool:
        """Whether the metric is computed from predicted labels of two or more classes, not from scores."""
        return not self.is_of_queries and metric_kind(self.spec) is LABELS

    def direction(self, argument: str = "metric") -> bool:
        """Return whether greater is better; raise if neither direction is."""
        if self.greater_is_better is None:
            raise ValueError(f"{argument}: {self.spec} has no direction, so no model is best by it")
        return self.greater_is_better

    def value(
        self,
        y_true: Any,
        predicted: Any,
        *,
        sample_weight: Any = None,
        queries: Any = None,
        labels: Any = None,
        pos_label: Any = None,
    ) -> float:
        """Compute the metric.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels, targets or relevance.
        predicted : array-like of shape (n_samples,) or (n_samples, n_classes)
            Scores, predicted labels or numbers; a column per class for several classes.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.
        queries : array-like of shape (n_samples,), optional
            The query of each row, for metrics of ranked documents.
        labels : array-like of shape (n_classes,), optional
            The classes of the columns of `predicted`; by default the sorted labels.
        pos_label : label, optional
            The positive class of two.
        """
        if self.is_of_queries:
            if queries is None:
                raise ValueError(f"{self.spec} measures ranked documents: it needs the query of each row")
            if sample_weight is not None:
                raise ValueError(f"{self.spec} measures ranked documents, and takes no weights of rows")
            return weighted_mean(self.query_values(y_true, predicted, queries))[0]
        shape = np.shape(predicted)
        if len(shape) == 2 and shape[1] > 1:
            values = ClassRankings(y_true, predicted, labels=labels, sample_weight=sample_weight).metric(self.spec)
            if np.ndim(values):
                raise ValueError(f"metric must give one number, and {self.spec} gives one for each class")
            return float(values)
        column = predicted if len(shape) < 2 else np.asarray(predicted)[:, 0]
        metrics = {self.name: self.spec}
        return float(
            batch_metrics(y_true, column, metrics, sample_weight=sample_weight, pos_label=pos_label)[self.name][0]
        )

    def query_values(self, y_true: Any, predicted: Any, queries: Any) -> Any:
        """Return the metric of each query, in ascending order; NaN of queries that have no relevant documents."""
        return query_metrics(y_true, predicted, queries, {self.name: self.spec}, interval=None)[self.name].values


def _is_of_queries(metric: Any) -> bool:
    """Return whether a name or `metric(...)` is of ranked documents; whether it is a metric is checked later."""
    try:
        spec = parse_metric("metric", metric, of_queries=True)[1]
    except ValueError:
        return False
    return isinstance(spec, MetricSpec)


def weighted_mean(values: Any, weights: Any = None) -> tuple[float, float]:
    """Return the mean of the values that are defined, as of queries with relevant documents, and its weight."""
    defined = ~np.isnan(values)
    values = values[defined]
    if weights is None:
        return (float(values.mean()) if values.size else math.nan), values.size
    weights = as_weights("query_weights", np.asarray(weights))[defined]
    total = float(weights.sum())
    return (float(np.average(values, weights=weights)) if total else math.nan), total
