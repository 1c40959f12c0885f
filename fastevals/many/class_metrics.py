"""Metrics of each class against the rest."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import num_threads
from fastevals.many.columns import ScoreColumns, batch_values
from fastevals.measure.class_pairs import SMALL_CELLS, aucs_by_class, doubled_against_rest
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.metric_specs import MetricSpec, ranking_metric

Floats = NDArray[np.float64]

MANY = 64  # number of classes from which AUCs are computed from pairs of classes


def class_metric(scores: ClassScores, metric: str, **options: object) -> Floats:
    """Return a metric of each class against the rest."""
    from_pairs = metric == "roc_auc" and not options and scores.codes is not None and scores.weights is None
    # With many classes, placing rows among the sorted rows of each class is faster than sorting all rows per class.
    if from_pairs and (scores.doubled is not None or len(scores.columns) >= MANY):
        return aucs_by_class(doubled_against_rest(scores), scores.n_positives)
    ranked = ranking_metric(MetricSpec(metric, options))
    with _threads_for(scores):
        values: Floats = batch_values(columns_by_class(scores), [ranked])[0]
    return values


def _threads_for(scores: ClassScores) -> AbstractContextManager[None]:
    """Return a context that allows only one thread if the work takes less time than starting another thread."""
    return num_threads(1) if scores.columns.size < SMALL_CELLS else nullcontext()


def columns_by_class(scores: ClassScores) -> ScoreColumns:
    """Return the columns of scores, each of which ranks one class against the rest."""
    names = [f"y_score[:, {k}]" for k in range(len(scores.columns))]
    weights = scores.weights
    return ScoreColumns(list(scores.columns), scores.flags, names, None if weights is None else lambda k: weights)
