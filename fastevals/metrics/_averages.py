"""Averages of a metric of rankings: over classes, pairs of classes, or rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import in_usual_unit
from fastevals.counting.ordering import BinaryLabels
from fastevals.many.class_scores import ClassScores, class_scores, class_values, pair_aucs
from fastevals.many.group_scores import grouped_scores, values_of
from fastevals.measure.metric_specs import AskedMetric, of_ranking
from fastevals.measure.ranking.ranking import Ranking
from fastevals.metrics._input import (
    NO_POSITIVES,
    ScoreTable,
    as_ordered_classes,
    check_default_pos_label,
    distinct_labels,
)
from fastevals.metrics._parameters import warn, warn_ill_defined

ONE_CLASS = "Only one class is present in y_true. ROC AUC score is not defined in that case."

Floats = NDArray[np.float64]

RELATIVE, ABSOLUTE = 1e-5, 1e-8  # how far sums of probabilities may be off 1


class Area(NamedTuple):
    """A metric of rankings.

    Attributes
    ----------
    name : str
        That of the registry.
    undefined : float
        What it is where it has no value.
    warn : callable
        Says so.
    """

    name: str
    undefined: float
    warn: Callable[[], None]


ROC_AUC = Area("roc_auc", math.nan, lambda: warn_ill_defined(ONE_CLASS))
AVERAGE_PRECISION = Area("average_precision", 0.0, lambda: warn(NO_POSITIVES))


def value_of(area: Area, ranking: Ranking, max_fpr: float | None = None) -> float:
    """Return the metric of one ranking, of the AUC perhaps only a part."""
    if ranking.n_positives and (ranking.n_negatives or area is AVERAGE_PRECISION):
        return ranking.roc_auc(max_fpr=max_fpr) if area is ROC_AUC else ranking.average_precision()
    area.warn()
    return area.undefined


def scores_of_classes(table: ScoreTable, labels: Any = None, *, probabilities: bool = False) -> ClassScores | None:
    """Return the scores of three classes or more, probabilities of them perhaps; None if something may be odd.

    Nothing is looked at twice where there are scores.
    """
    matrix = table.scores
    if table.labels.ndim != 1 or matrix.ndim != 2 or matrix.shape[1] < 3:
        return None
    try:
        classes = None if labels is None else as_ordered_classes(labels)
        scores = class_scores(table.labels, matrix, classes, table.weights)[1]
    except ValueError:
        return None
    if probabilities and not all(map(_is_one, scores.row_sums)):
        return None
    return scores


def _is_one(total: float) -> bool:
    """Return whether probabilities add up to 1, as `numpy.allclose` has it."""
    return math.isfinite(total) and abs(1 - total) <= ABSOLUTE + RELATIVE * abs(total)


def average_over_labels(
    area: Area,
    table: ScoreTable,
    average: str | None,
    classes: NDArray[Any] | None = None,
    max_fpr: float | None = None,
) -> Any:
    """Average over the columns of a table, one for each of `classes`, or, where None, of the labels a row may have."""
    if average == "micro":
        return value_of(area, _as_one(table, classes), max_fpr)
    if average == "samples":
        return _average_over_rows(area, table, classes, max_fpr)
    labels = _as_indicator(table) if classes is None else table.labels
    return average_over_classes(area, class_scores(labels, table.scores, classes, table.weights)[1], average, max_fpr)


def average_over_classes(area: Area, scores: ClassScores, average: str | None, max_fpr: float | None = None) -> Any:
    """Average over classes, each against the rest."""
    support = scores.support() if average == "weighted" else None
    if support is not None and not support.any():
        return 0
    options = {} if max_fpr is None else {"max_fpr": max_fpr}
    values = _defined(area, class_values(scores, area.name, **options))
    return values if average is None else _mean(values, support)


def average_over_pairs(scores: ClassScores, average: str | None) -> Any:
    """Average the AUC over pairs of classes that have rows."""
    support = scores.support()
    present = np.flatnonzero(scores.n_positives)
    if present.size < 2:
        ROC_AUC.warn()
        return math.nan
    first, second = (present[i] for i in np.triu_indices(present.size, 1))
    by_pair = pair_aucs(scores)
    means = (by_pair[first, second] + by_pair[second, first]) / 2
    return _mean(means, support[first] + support[second] if average == "weighted" else None)


def _as_one(table: ScoreTable, classes: NDArray[Any] | None) -> Ranking:
    """Rank all columns together."""
    weights = None if table.weights is None else np.repeat(table.weights, table.scores.shape[1])
    return Ranking(_flags(table, classes).ravel(), table.scores.ravel(), sample_weight=weights, pos_label=True)


def _average_over_rows(area: Area, table: ScoreTable, classes: NDArray[Any] | None, max_fpr: float | None) -> float:
    """Average over the rows, each a group of its labels."""
    flags = _flags(table, classes)
    asked = AskedMetric(area.name, {} if max_fpr is None else {"max_fpr": max_fpr})
    labels, rows = BinaryLabels(flags.ravel(), True, False), np.repeat(np.arange(len(flags)), flags.shape[1])
    values = values_of(asked, of_ranking(asked), grouped_scores(labels, table.scores.ravel(), rows))
    return _mean(_defined(area, values), table.weights)


def _flags(table: ScoreTable, classes: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Tell which labels a row has."""
    return _as_indicator(table) if classes is None else table.labels[:, np.newaxis] == classes


def _defined(area: Area, values: Floats) -> Floats:
    """Return values with what is undefined replaced, and warned about once."""
    missing = np.isnan(values)
    if missing.any():
        area.warn()
        values[missing] = area.undefined
    return values


def _mean(values: Floats, weights: NDArray[Any] | None) -> float:
    """Return the weighted mean; an undefined value of weight zero is left out."""
    if weights is not None:
        values = np.where(weights == 0, 0.0, values)
        weights = in_usual_unit(weights)
    return float(np.average(values, weights=weights))


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_indicator(table: ScoreTable) -> NDArray[np.bool_]:
    """Tell which labels each row has."""
    distinct = distinct_labels(table.labels.reshape(-1))
    check_default_pos_label(distinct)
    return np.asarray(table.labels == 1)
