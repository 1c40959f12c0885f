"""From what a user gives, and the metrics he asks for, to a sample that can be resampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.samples.base import Sample
from fastevals.infer.bootstrap.samples.joint import joint_of
from fastevals.infer.bootstrap.samples.matrix import LabelSample, MatrixMetric, TableSample
from fastevals.infer.bootstrap.samples.models import ModelsSample
from fastevals.infer.bootstrap.samples.ranking import RankingSample
from fastevals.infer.bootstrap.samples.targets import TargetSample
from fastevals.measure.asked import F_SCORE, WHERE, AskedMetric, of_ranking
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.counts import Cells
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.pairs import count_label_pairs
from fastevals.measure.ranking import Ranking
from fastevals.measure.ranking_metrics import power_of_two
from fastevals.measure.registry import METRICS
from fastevals.measure.regression import RegressionMetrics, as_double

__all__ = [
    "Design",
    "bounds_of",
    "error_metric",
    "kind_of",
    "matrix_metric",
    "models_of",
    "predictions_of",
    "sample_of",
]

Asked = Mapping[str, AskedMetric | Callable[..., Any]]

ERRORS = [each.name for each in fields(RegressionMetrics) if each.name not in ("n_samples", "quantile", "names")]
MATRIX_METRICS = (
    "accuracy", "error_rate", "hamming_loss", "matthews", "cohen_kappa", "balanced_accuracy", "cost", "precision",
    "recall", "specificity", "jaccard", F_SCORE,
)  # fmt: skip
OF_CELLS = [name for name, entry in METRICS.items() if entry.of == "cells" and name != "expected_cost"]
OF_MATRICES = (*MATRIX_METRICS, *(name for name in OF_CELLS if name not in MATRIX_METRICS))
USUAL = 2.0**64  # weights as large, or as small, are taken in another unit
UNBOUNDED = (-math.inf, math.inf)


class Design(NamedTuple):
    """How rows are drawn: what goes with them, still as the user gave it."""

    groups: Any = None
    sample_weight: Any = None
    stratified: bool = False
    pos_label: Any = None


def sample_of(subject: Any, asked: Asked, design: Design) -> Sample:
    """Give the sample that a subject and the metrics asked of it make."""
    if isinstance(subject, (Ranking, ConfusionMatrix)):
        kind = type(subject).__name__
        for name in ("groups", "sample_weight", "pos_label"):
            if getattr(design, name) is not None:
                raise ValueError(f"{name} goes with rows: pass the pair (y_true, y_score or y_pred), not a {kind}")
        counts = subject.counts
        check.check_whole_counts("subject", counts if isinstance(counts, np.ndarray) else counts.cells(-1), kind)
        if isinstance(subject, Ranking):
            metrics = [of_ranking(each) for each in asked.values()]
            return RankingSample(subject.counts, metrics, stratified=design.stratified)
        return TableSample(subject, _of_matrix(asked), stratified=design.stratified)
    if not isinstance(subject, (tuple, list)) or len(subject) != 2:
        raise ValueError(
            "subject must be a Ranking, a ConfusionMatrix or a pair (y_true, y_score or y_pred), "
            f"got {check.show(subject)}"
        )
    kinds = {kind_of(each) for each in asked.values() if isinstance(each, AskedMetric)}
    if not kinds:
        raise ValueError("metrics: functions go with a Ranking or a ConfusionMatrix, not with a pair of arrays")
    y_true, other = subject
    if "targets" in kinds:
        return _of_targets(y_true, other, asked, design)
    of_rows = _of_scores if "scores" in kinds else _of_labels
    return of_rows(y_true, other, asked, design)


def kind_of(asked: AskedMetric) -> str:
    """Tell what a metric is taken of: targets, scores or predicted labels."""
    check.check_choice("metrics", asked.name, dict.fromkeys([*METRICS, *OF_MATRICES, *ERRORS]))
    if asked.name in ERRORS:
        return "targets"
    of_scores = asked.name in METRICS and (METRICS[asked.name].of != "cells" or asked.name == "expected_cost")
    return "scores" if of_scores or any(name in WHERE for name in asked.options) else "labels"


def bounds_of(asked: AskedMetric | Callable[..., Any]) -> tuple[float, float]:
    """Give what a metric can be."""
    if not isinstance(asked, AskedMetric) or asked.name == "cost":
        return UNBOUNDED
    if asked.name in ERRORS:
        return (-math.inf, 1.0) if asked.name == "r2" else (0.0, math.inf)
    return METRICS[asked.name].bounds if asked.name in METRICS else (0.0, 1.0)


# Scores -----------------------------------------------------------------------------------------------------------


def _of_scores(y_true: Any, y_score: Any, asked: Asked, design: Design) -> Sample:
    if design.groups is None and design.sample_weight is None:
        ranking = Ranking(y_true, y_score, pos_label=design.pos_label)
        return sample_of(ranking, asked, design._replace(pos_label=None))
    scores = {"y_score": check.as_scores("y_score", y_score)}
    return models_of(y_true, scores, asked, design, one_model=True)


def models_of(
    y_true: Any, scores: Mapping[str, NDArray[Any]], asked: Asked, design: Design, *, one_model: bool = False
) -> ModelsSample:
    """Give the sample of models' scores on the same rows, arrays by what errors call them."""
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, design.pos_label))
    check.check_same_length(y_true=labels.values, **scores)
    for name, values in scores.items():
        check.check_finite(name, values)
    weights, groups, kept = _beside(labels.values, design)
    if kept is not None:
        labels, scores = labels.take(kept), {name: values[kept] for name, values in scores.items()}
    return ModelsSample(
        labels,
        scores,
        list(map(of_ranking, asked.values())),
        weights=weights,
        groups=groups,
        stratified=design.stratified,
        one_model=one_model,
    )


def _beside(y_true: NDArray[Any], design: Design) -> tuple[NDArray[np.float64] | None, Any, NDArray[Any] | None]:
    """Check weights and groups against the rows; give them for rows of weight above zero, and those if not all."""
    weights, groups, kept = None, None, None
    if design.groups is not None:
        groups = check.as_groups("groups", design.groups)
        check.check_same_length(y_true=y_true, groups=groups)
    if design.sample_weight is not None:
        weights = check.as_weights("sample_weight", design.sample_weight)
        check.check_same_length(y_true=y_true, sample_weight=weights)
        if not weights.all():
            kept = weights != 0
            weights, groups = weights[kept], None if groups is None else groups[kept]
        if not 1 / USUAL < weights.max() < USUAL:
            weights = weights * power_of_two(weights.max())  # else products of two sums over- or underflow
    return weights, groups, kept


# Labels -----------------------------------------------------------------------------------------------------------


def _of_labels(y_true: Any, y_pred: Any, asked: Asked, design: Design) -> Sample:
    if design.pos_label is not None:
        raise ValueError(
            "pos_label goes with scores; of two predicted classes the second, in order, is the positive one"
        )
    true, predicted = check.as_labels("y_true", y_true), check.as_labels("y_pred", y_pred)
    check.check_same_length(y_true=true, y_pred=predicted)
    if design.groups is None and design.sample_weight is None:
        return sample_of(ConfusionMatrix.from_predictions(true, predicted), asked, design)
    weights, groups, kept = _beside(true, design)
    if kept is not None:
        true, predicted = true[kept], predicted[kept]
    matrix = ConfusionMatrix(*count_label_pairs(true, predicted, None, weights))
    cells = [np.searchsorted(matrix.labels, labels) for labels in (true, predicted)]
    return LabelSample(
        matrix, cells[0] * matrix.labels.size + cells[1], _of_matrix(asked),
        weights=weights, groups=groups, stratified=design.stratified,
    )  # fmt: skip


def predictions_of(true: NDArray[Any], models: Mapping[str, NDArray[Any]], asked: Asked, design: Design) -> Sample:
    """Give the sample of classes that models predict on the same rows; arrays as `joint_of` takes them."""
    metrics = _of_matrix(asked)
    weights, groups, kept = _beside(true, design)
    if kept is not None:
        true, models = true[kept], {name: labels[..., kept] for name, labels in models.items()}
    joint = joint_of(true, models, weights)
    if weights is None and groups is None:
        return TableSample(joint.matrix, metrics, stratified=design.stratified, joint=joint)
    return LabelSample(
        joint.matrix, joint.of_row, metrics,
        weights=weights, groups=groups, stratified=design.stratified, joint=joint,
    )  # fmt: skip


def _of_matrix(asked: Asked) -> list[MatrixMetric]:
    return list(map(matrix_metric, asked.values()))


def matrix_metric(asked: AskedMetric | Callable[..., Any]) -> MatrixMetric:
    """Give the function of a matrix, or a stack, that a metric is."""
    if not isinstance(asked, AskedMetric):
        return asked
    name, options = asked.name, asked.options
    check.check_choice("metrics", name, OF_MATRICES)
    if name in MATRIX_METRICS:
        method = getattr(ConfusionMatrix, name)
        check.check_options(str(asked), method, options, " in metric(...)")
        return lambda matrix: getattr(matrix, name)(**options)
    check.check_no_options(str(asked), options, ["average"])

    def of_cells(at: Cells) -> Any:
        return METRICS[name](at)

    return lambda matrix: matrix._averaged(name, of_cells, options.get("average", "binary"))


# Targets ----------------------------------------------------------------------------------------------------------


def _of_targets(y_true: Any, y_pred: Any, asked: Asked, design: Design) -> Sample:
    if design.stratified or design.pos_label is not None:
        raise ValueError("stratified and pos_label go with classes, but the metrics asked for are of targets")
    targets = as_double("y_true", check.as_scores("y_true", y_true))
    predictions = as_double("y_pred", check.as_scores("y_pred", y_pred))
    check.check_same_length(y_true=targets, y_pred=predictions)
    check.check_finite("y_true", targets)
    check.check_finite("y_pred", predictions)
    metrics = list(map(error_metric, asked.values()))
    weights, groups, kept = _beside(targets, design)
    if kept is not None:
        targets, predictions = targets[kept], predictions[kept]
    return TargetSample(targets, predictions, metrics, weights=weights, groups=groups)


def error_metric(asked: AskedMetric | Callable[..., Any]) -> tuple[str, float]:
    """Give the name of a metric of targets, and the quantile that it is taken at."""
    if not isinstance(asked, AskedMetric):
        raise ValueError("metrics: functions go with a Ranking or a ConfusionMatrix, not with targets")
    check.check_choice("metrics", asked.name, ERRORS)
    check.check_no_options(str(asked), asked.options, ["quantile"] if asked.name == "pinball_loss" else [])
    return asked.name, check.check_number("quantile", asked.options.get("quantile", 0.5), low=0, high=1)
