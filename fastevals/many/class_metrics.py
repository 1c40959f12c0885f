"""Metrics of scores of several classes, and of each class against the rest."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import num_threads
from fastevals.many.columns import ScoreColumns, batch_values
from fastevals.measure.class_losses import mean_over_rows
from fastevals.measure.class_pairs import SMALL_CELLS, aucs_by_class, doubled_against_rest, pair_aucs
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.class_specs import ClassMetric
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.registry import METRICS

Floats = NDArray[np.float64]

MANY = 64  # number of classes from which AUCs are computed from pairs of classes


def value_of_classes(scores: ClassScores, metric: ClassMetric) -> Floats | None:
    """Return a metric of scores of several classes, or None if only a sample of rows computes it."""
    scores = scores.in_usual_unit()
    if metric.source == "one vs. rest" and metric.ranked is not None:
        return metric.averaged(each_class(scores, metric.ranked), scores.support())
    if metric.source == "micro" and metric.ranked is not None:
        return np.asarray(batch_values(_columns_as_one(scores), [metric.ranked])[0, 0])
    if metric.source == "pairs" and scores.codes is not None:
        return metric.of_pairs(pair_aucs(scores), scores.support())
    if metric.source == "rows" and metric.function is not None and scores.codes is not None:
        return np.asarray(mean_over_rows(metric.function(scores.columns, scores.codes), scores.weights))
    return None


def each_class(scores: ClassScores, metric: RankingMetric) -> Floats:
    """Return a metric of each class against the rest."""
    from_pairs = metric.of_counts is METRICS["roc_auc"] and scores.codes is not None and scores.weights is None
    # With many classes, placing rows among the sorted rows of each class is faster than sorting all rows per class.
    if from_pairs and (scores.doubled is not None or len(scores.columns) >= MANY):
        return aucs_by_class(doubled_against_rest(scores), scores.n_positives)
    with _threads_for(scores):
        values: Floats = batch_values(columns_by_class(scores), [metric])[0]
    return values


def _threads_for(scores: ClassScores) -> AbstractContextManager[None]:
    """Return a context that allows only one thread if the work takes less time than starting another thread."""
    return num_threads(1) if scores.columns.size < SMALL_CELLS else nullcontext()


def columns_by_class(scores: ClassScores) -> ScoreColumns:
    """Return the columns of scores, each of which ranks one class against the rest."""
    names = [f"y_score[:, {k}]" for k in range(len(scores.columns))]
    weights = scores.weights
    return ScoreColumns(list(scores.columns), scores.flags, names, None if weights is None else lambda k: weights)


def _columns_as_one(scores: ClassScores) -> ScoreColumns:
    """Return a single column with the scores of all classes."""
    flags, values, weights = scores.all_together()
    return ScoreColumns([values], lambda _: flags, ["y_score"], None if weights is None else lambda _: weights)
