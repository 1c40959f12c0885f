"""Make the sample to draw from, given a user's subject and metric specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_not_given, show
from fastevals._validation.arrays import (
    as_frequencies,
    as_vector,
    as_weights,
    check_one_weight,
    check_only_of_classes,
    check_same_length,
    is_matrix,
    refuse_weighted,
    usual_unit,
)
from fastevals._validation.labels import as_groups
from fastevals._validation.text import find_sorted
from fastevals.infer.bootstrap.class_groups import GroupedClassSample
from fastevals.infer.bootstrap.class_samples import ClassSample
from fastevals.infer.bootstrap.few_cells import STRATIFIED_WEIGHTS, make_few_cell_sample
from fastevals.infer.bootstrap.label_samples import (
    LabelSample,
    MatrixSample,
    WeightedMatrix,
    WeightedMatrixSample,
    count_joint_cells,
    number_joint_cells,
)
from fastevals.infer.bootstrap.ranking_samples import ModelsSample, make_ranking_sample
from fastevals.infer.bootstrap.row_samples import LossSample, SamplingUnits, TargetSample
from fastevals.infer.bootstrap.samples import Sample
from fastevals.measure.class_scores import BaseClassRankings, ClassScores
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.kinds import (
    CLASSES,
    LABELS,
    QUANTILES,
    SCORES,
    TARGETS,
    Kind,
    MetricSpecs,
    Spec,
    array_kind,
    check_needed_probabilities,
    metric_kinds,
    require_needed_probabilities,
)
from fastevals.measure.metric_specs import ranking_metric
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking


class SamplingDesign(NamedTuple):
    """A user's options for drawing rows, not yet checked."""

    groups: Any = None  # clusters, or `SamplingUnits` that are numbered already
    sample_weight: Any = None
    stratified: bool = False
    pos_label: Any = None
    frequency_weight: Any = None
    labels: Any = None  # the class of each column of scores


def specs_for(subject: Any, specs: dict[str, Spec]) -> dict[str, Spec]:
    """Return the specs; if a subject has scores of several classes, with the names of its own metrics."""
    if hasattr(type(subject), "_drawn_specs"):  # a summary of class probabilities
        return subject._drawn_specs(specs)  # type: ignore[no-any-return]
    is_of_classes = isinstance(subject, BaseClassRankings) or (
        isinstance(subject, (tuple, list)) and len(subject) == 2 and _kind_of_pair(subject[1], specs) is CLASSES
    )
    return CLASSES.specs(specs) if is_of_classes else specs


def _kind_of_pair(predictions: Any, specs: MetricSpecs) -> Kind | None:
    """Return the kind of predictions that metrics are computed from, or None if no metric determines it."""
    kind = array_kind(metric_kinds(specs))
    return CLASSES if kind in (SCORES, LABELS) and is_matrix(predictions) else kind


def make_sample(
    subject: Any, specs: MetricSpecs, design: SamplingDesign, *, coarse: bool = False, name: str = "subject"
) -> Sample:
    """Return a sample that draws from a subject and can compute the given metrics.

    With `coarse`, a ranking is drawn by a few thousand cells (`few_cells.py`) rather than by row. Errors call the
    subject `name`.
    """
    if isinstance(subject, BaseClassRankings):
        return _sample_class_rankings(subject, specs, design)
    if isinstance(subject, WeightedMatrix):
        if design.stratified:
            raise ValueError(STRATIFIED_WEIGHTS)
        return WeightedMatrixSample(subject, LABELS.metrics(specs))
    if isinstance(subject, (BaseRanking, ConfusionMatrix)):
        type_name = "ConfusionMatrix" if isinstance(subject, ConfusionMatrix) else "Ranking"
        for option in ("groups", "sample_weight", "frequency_weight", "pos_label"):
            if getattr(design, option) is not None:
                known = ", which has its own" if option == "pos_label" else ""
                raise ValueError(
                    f"{option} requires rows: pass the pair (y_true, y_score or y_pred), not a {type_name}{known}"
                )
        counts = subject.counts
        _check_rows(name, subject, counts if isinstance(counts, np.ndarray) else counts.cells(-1))
        if isinstance(subject, BaseRanking):
            metrics = SCORES.metrics(specs)
            check_needed_probabilities(specs, {"y_score": subject.counts.thresholds[1:]})
            if coarse:
                return make_few_cell_sample(subject, specs, stratified=design.stratified)
            return make_ranking_sample(
                subject.counts, metrics, stratified=design.stratified, pos_label=subject.pos_label
            )
        return MatrixSample(subject, LABELS.metrics(specs), stratified=design.stratified)
    if not isinstance(subject, (tuple, list)) or len(subject) != 2:
        raise ValueError(
            f"{name} must be a Ranking, ThresholdCounts, a ConfusionMatrix or a pair (y_true, y_score or y_pred), got "
            f"{show(subject)}"
        )
    kind = _kind_of_pair(subject[1], specs)
    if kind is None:
        raise ValueError(
            "metrics: a function requires a Ranking or a ConfusionMatrix, not a pair of arrays: pass these, and the "
            "function, to bootstrap_statistic"
        )
    make = {
        SCORES: _sample_scores, LABELS: _sample_labels, CLASSES: _sample_classes, TARGETS: _sample_targets,
        QUANTILES: _sample_quantiles,
    }[kind]  # fmt: skip
    y_true, predictions = subject
    check_one_weight(design.sample_weight, design.frequency_weight)
    if kind is not CLASSES:
        check_only_of_classes(labels=design.labels)
    if kind is TARGETS and is_matrix(predictions):
        raise ValueError(
            f"metrics: {next(iter(specs))} is a metric of predicted numbers, one per row, but the second array has a "
            "column for each class: use a metric of classes, such as 'roc_auc', 'log_loss' or 'accuracy'"
        )
    is_repeated = kind in (TARGETS, QUANTILES) or (design.groups is not None and kind is not CLASSES)
    if design.frequency_weight is not None and is_repeated:
        y_true, predictions, design = _repeated(y_true, predictions, design)
    return make(y_true, predictions, specs, design)


# Scores -----------------------------------------------------------------------------------------------------------


def _sample_scores(y_true: Any, y_score: Any, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    if design.groups is None and design.sample_weight is None:
        ranking = Ranking(y_true, y_score, pos_label=design.pos_label, frequency_weight=design.frequency_weight)
        return make_sample(ranking, specs, design._replace(pos_label=None, frequency_weight=None))
    return make_score_sample(y_true, {"y_score": y_score}, specs, design, one_model=True)


def make_score_sample(
    y_true: Any, scores: Mapping[str, Any], specs: MetricSpecs, design: SamplingDesign, *, one_model: bool = False
) -> ModelsSample:
    """Return the sample of models' scores on the same rows; errors call each array by its key."""
    labels, scores = SCORES.read(y_true, scores, design.pos_label)
    weights, groups, kept, unit = _weights_and_groups(labels.values, design, labels.values == labels.positive)
    if kept is not None:
        labels, scores = labels.take(kept), {name: values[kept] for name, values in scores.items()}
    check_needed_probabilities(specs, scores)
    return ModelsSample.from_rows(
        labels,
        scores,
        [ranking_metric(each, unit=unit) for each in specs.values()],
        weights=weights,
        groups=groups,
        stratified=design.stratified,
        one_model=one_model,
    )


def _weights_and_groups(
    y_true: NDArray[Any], design: SamplingDesign, positive: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.float64] | None, Any, NDArray[Any] | None, float]:
    """Check weights and groups; return both for rows of positive weight, and the indices of these rows (None if all).

    Weights are multiplied by a factor, which is returned last. The factor is such that a product of two sums of
    weights, one of them over positive rows, neither overflows nor underflows.
    """
    groups: Any = None
    weights, kept, unit = None, None, 1.0
    if isinstance(design.groups, SamplingUnits):
        groups = design.groups
        check_same_length(y_true=y_true, groups=groups.unit_by_row)
    elif design.groups is not None:
        groups = as_groups("groups", design.groups)
        check_same_length(y_true=y_true, groups=groups)
    if design.sample_weight is not None:
        weights = as_weights("sample_weight", design.sample_weight)
        check_same_length(y_true=y_true, sample_weight=weights)
        unit = usual_unit(weights, positive)
        weights = weights if unit == 1 else weights * unit
        if not weights.all():  # scaling may also turn small weights into 0 if others are large
            kept = weights != 0
            weights, groups = weights[kept], None if groups is None else groups[kept]
    return weights, groups, kept, unit


# Labels -----------------------------------------------------------------------------------------------------------


def _sample_labels(y_true: Any, y_pred: Any, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    true, labels = LABELS.read(y_true, {"y_pred": y_pred})
    predicted = labels["y_pred"]
    if design.groups is None and design.sample_weight is None:
        matrix = ConfusionMatrix.from_predictions(
            true, predicted, pos_label=design.pos_label, frequency_weight=design.frequency_weight
        )
        return make_sample(matrix, specs, design._replace(pos_label=None, frequency_weight=None))
    weights, groups, kept, _ = _weights_and_groups(true, design)
    if kept is not None:
        true, predicted = true[kept], predicted[kept]
    matrix = ConfusionMatrix.from_predictions(true, predicted, pos_label=design.pos_label, sample_weight=weights)
    order = np.argsort(matrix.labels)
    cells = [order[find_sorted(matrix.labels[order], labels)[0]] for labels in (true, predicted)]
    return LabelSample(
        matrix, cells[0] * matrix.labels.size + cells[1], LABELS.metrics(specs),
        weights=weights, groups=groups, stratified=design.stratified,
    )  # fmt: skip


def make_prediction_sample(
    true: NDArray[Any], models: Mapping[str, NDArray[Any]], specs: MetricSpecs, design: SamplingDesign
) -> Sample:
    """Return the sample of models' predicted classes on the same rows; arrays are as for `count_joint_cells`."""
    metrics = LABELS.metrics(specs)
    weights, groups, kept, _ = _weights_and_groups(true, design)
    if kept is not None:
        true, models = true[kept], {name: labels[..., kept] for name, labels in models.items()}
    if weights is None and groups is None:
        joint = count_joint_cells(true, models, design.pos_label)
        if joint.are_few(true.size):
            return MatrixSample(joint.matrix, metrics, stratified=design.stratified, joint=joint)
    joint, cells = number_joint_cells(true, models, weights, design.pos_label)
    return LabelSample(
        joint.matrix, cells, metrics,
        weights=weights, groups=groups, stratified=design.stratified, joint=joint,
    )  # fmt: skip


# Scores of several classes ----------------------------------------------------------------------------------------


def _sample_classes(y_true: Any, y_score: Any, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    return make_class_sample(y_true, {"y_score": y_score}, specs, design, one_model=True)


def make_class_sample(
    y_true: Any,
    scores: Mapping[str, Any],
    specs: MetricSpecs,
    design: SamplingDesign,
    *,
    one_model: bool = False,
    coarse: bool = False,
) -> Sample:
    """Return the sample of models' scores of several classes on the same rows; errors call each matrix by its key.

    With `coarse`, random groups of rows are drawn (`class_groups.py`) rather than rows.
    """
    check_not_given("pos_label", design.pos_label, "two classes")
    labels, models = CLASSES.read_weighted(y_true, scores, design.labels, design.sample_weight)
    first, groups, copies = next(iter(models.values())), design.groups, None
    if design.frequency_weight is not None:
        copies = as_frequencies("frequency_weight", design.frequency_weight)
        check_same_length(y_true=first.columns[0], frequency_weight=copies)
        models = {name: each.repeated(copies) for name, each in models.items()}
    if groups is not None and not isinstance(groups, SamplingUnits):
        groups = first.kept_groups(as_groups("groups", groups))
        groups = groups if copies is None else groups.repeat(copies)
    design = design._replace(groups=groups)
    return _class_sample(labels, models, specs, design, one_model=one_model, coarse=coarse)


def _sample_class_rankings(subject: BaseClassRankings, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    """Return the sample of a `ClassRankings`, which has its own weights and labels."""
    for option in ("sample_weight", "frequency_weight", "pos_label", "labels"):
        if getattr(design, option) is not None:
            raise ValueError(
                f"{option} requires the pair (y_true, y_score), not {type(subject).__name__}, which has its own"
            )
    models, groups = {"y_score": subject._scores}, design.groups
    if groups is not None and not isinstance(groups, SamplingUnits):
        groups, scores = as_groups("groups", groups), subject._scores
        if groups.size == scores.n_given:  # with rows of weight zero, if there are any
            groups = scores.kept_groups(groups)
        check_same_length(subject=scores.columns[0], groups=groups)
    return _class_sample(subject._labels, models, specs, design._replace(groups=groups), one_model=True)


def _class_sample(
    labels: NDArray[Any],
    models: Mapping[str, ClassScores],
    specs: MetricSpecs,
    design: SamplingDesign,
    *,
    one_model: bool,
    coarse: bool = False,
) -> Sample:
    """Return the sample of scores that have been read; groups have been checked."""
    require_needed_probabilities(specs.values(), models)
    scores, metrics = [each.in_usual_unit() for each in models.values()], CLASSES.metrics(specs)
    options: dict[str, Any] = {"groups": design.groups, "one_model": one_model, "specs": list(specs.values())}
    sample: Sample
    if coarse:
        sample = GroupedClassSample(labels, scores, metrics, **options)
    else:
        sample = ClassSample(labels, scores, metrics, stratified=design.stratified, **options)
    rarest = int(np.minimum(scores[0].n_positives, scores[0].n_rows - scores[0].n_positives).min())
    sample.class_sizes = rarest, scores[0].n_rows - rarest
    return sample


# Targets ----------------------------------------------------------------------------------------------------------


def _sample_targets(y_true: Any, y_pred: Any, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    return make_target_sample(y_true, {"y_pred": y_pred}, specs, design, one_model=True)


def make_target_sample(
    y_true: Any, predictions: Mapping[str, Any], specs: MetricSpecs, design: SamplingDesign, *, one_model: bool = False
) -> TargetSample:
    """Return the sample of models' predicted numbers on the same rows; errors call each array by its key."""
    _check_no_classes(design)
    metrics = TARGETS.metrics(specs)
    targets, predictions = TARGETS.read(y_true, predictions)
    models = list(predictions.values())
    weights, groups, kept, _ = _weights_and_groups(targets, design)
    if kept is not None:
        targets, models = targets[kept], [values[kept] for values in models]
    return TargetSample(targets, models, metrics, weights=weights, groups=groups, one_model=one_model)


# Quantiles ----------------------------------------------------------------------------------------------------------


def _sample_quantiles(y_true: Any, y_pred: Any, specs: MetricSpecs, design: SamplingDesign) -> Sample:
    return make_quantile_sample(y_true, {"y_pred": y_pred}, specs, design, one_model=True)


def make_quantile_sample(
    y_true: Any, predictions: Mapping[str, Any], specs: MetricSpecs, design: SamplingDesign, *, one_model: bool = False
) -> LossSample:
    """Return the sample of models' predicted quantiles on the same rows; errors call each array by its key."""
    _check_no_classes(design)
    metrics = QUANTILES.metrics(specs)
    targets, predictions = QUANTILES.read(y_true, predictions)
    weights, groups, kept, _ = _weights_and_groups(targets, design)
    losses = [each.losses(targets, values) for each in metrics for values in predictions.values()]
    if kept is not None:
        losses = [values[kept] for values in losses]
    return LossSample(losses, len(metrics), weights=weights, groups=groups, one_model=one_model)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_no_classes(design: SamplingDesign) -> None:
    if design.stratified or design.pos_label is not None:
        raise ValueError("stratified and pos_label apply only to classes, but the metrics are regression metrics")


def _repeated(y_true: Any, predictions: Any, design: SamplingDesign) -> tuple[Any, Any, SamplingDesign]:
    """Repeat each row, and its cluster, as often as it has copies."""
    copies = as_frequencies("frequency_weight", design.frequency_weight)
    arrays = {"y_true": as_vector("y_true", y_true), "predictions": as_vector("predictions", predictions)}
    if design.groups is not None:
        arrays["groups"] = as_groups("groups", design.groups)
    check_same_length(**arrays, frequency_weight=copies)
    rows = np.repeat(np.arange(copies.size), copies)
    repeated = {name: values[rows] for name, values in arrays.items()}
    design = design._replace(groups=repeated.get("groups"), frequency_weight=None)
    return repeated["y_true"], repeated["predictions"], design


def _check_rows(name: str, subject: Any, values: Any) -> None:
    """Raise unless the counts are unweighted and not empty."""
    counts = np.asarray(values)
    if counts.dtype.kind == "f" and (not isinstance(subject, BaseRanking) or subject._squares is None):
        refuse_weighted(name, subject)
    if not counts.sum():
        raise ValueError(f"{name} has no rows to draw from")
