"""The models that `compare_groups` compares: their differences in metrics of scores, labels or numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_weights, check_finite, check_same_length
from fastevals._validation.labels import as_classes, as_groups, check_known_labels
from fastevals.counting.groups import code_groups
from fastevals.counting.keys import as_group_keys, key_names
from fastevals.counting.labels import number_labels
from fastevals.counts import Cells
from fastevals.many.group_influences import (
    Differences,
    GroupedRows,
    Matrices,
    Slots,
    clusters_within,
    differ_in_aucs,
    differ_in_matrices,
    differ_in_means,
)
from fastevals.measure.error_metrics import OF_MEANS
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, Kind
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS, OF_PAIRS, Metric

Floats = NDArray[np.float64]
Pairs = list[tuple[int, int]]  # positions of a model and its reference

MEAN_ERRORS = [name for name, entry in METRICS.items() if entry.function in OF_MEANS]


class ScoredModels(NamedTuple):
    """Scores of models, and 1 for positive rows."""

    true: NDArray[np.uint8]
    models: list[NDArray[Any]]
    labels: None
    pos_label: Any

    @classmethod
    def of(cls, truth: Any, models: list[NDArray[Any]], pos_label: Any) -> ScoredModels:
        """Return the models, given the labels and predictions as `Kind.read` returns them."""
        return cls(truth.flags(), models, None, truth.positive)

    def take(self, kept: NDArray[np.bool_]) -> ScoredModels:
        """Keep some rows."""
        return self._replace(true=self.true[kept], models=[each[kept] for each in self.models])

    def differences(self, rows: GroupedRows, metric: Any, spec: Any, pairs: Pairs) -> list[Differences]:
        """Return, for each pair, the differences between its two models in a metric, by group."""
        entry = metric.of_counts if isinstance(metric.of_counts, Metric) else None
        if entry is not None and entry.name in OF_PAIRS:
            self._check_unweighted(rows, spec)
            return [_in_form(entry.name, each) for each in self.differences_in_auc(rows, pairs)]
        if metric.threshold is not None:
            of, predicted = self.matrices(metric, spec)
            return [differ_in_matrices(rows, of, predicted[a], predicted[b]) for a, b in pairs]
        losses = {k: self._losses(metric, self.models[k]) for k in {k for pair in pairs for k in pair}}
        return [differ_in_means(rows, losses[a], losses[b]) for a, b in pairs]

    def matrices(self, metric: Any, spec: Any) -> tuple[Matrices, list[NDArray[Any]]]:
        """Return how a metric at a threshold is computed, and the classes that each model predicts."""

        def measure(stack: NDArray[Any]) -> Floats:
            cells = Cells(stack[:, 1, 1], stack[:, 0, 1], stack[:, 1, 0], stack[:, 0, 0])
            return np.asarray(metric.of_cells(cells), dtype=np.float64)

        predicted = [(each >= metric.threshold).astype(np.uint8) for each in self.models]
        return Matrices(self.true, 2, measure, METRICS[spec.name].trials), predicted

    def auc_of_one(self, rows: GroupedRows, spec: MetricSpec) -> Differences:
        """Return a form of the only model's AUC, as its difference from 0."""
        self._check_unweighted(rows, spec)
        slots = Slots.of(rows, self.true)
        placements = slots.placements(self.models[0])
        return _in_form(spec.name, differ_in_aucs(rows, slots, placements, np.zeros_like(placements)))

    def _check_unweighted(self, rows: GroupedRows, spec: Any) -> None:
        if rows.weights is not None:
            raise ValueError(f"metrics: {spec} does not take sample_weight; got it with weights")

    def differences_in_auc(self, rows: GroupedRows, pairs: Pairs) -> Iterator[Differences]:
        """Yield the differences between the AUCs of each pair."""
        slots = Slots.of(rows, self.true)
        reference = slots.placements(self.models[pairs[0][1]])
        for k, _ in pairs:
            yield differ_in_aucs(rows, slots, slots.placements(self.models[k]), reference)

    def _losses(self, metric: Any, scores: NDArray[Any]) -> Floats:
        of_positive, of_negative = metric.sweep.of_thresholds(scores.astype(np.float64))
        return np.asarray(np.where(self.true == 1, of_positive, of_negative))


def _in_form(name: str, found: Differences) -> Differences:
    """Return differences of a form of the AUC, such as Gini's coefficient."""
    form = OF_PAIRS[name]
    scale = float(form(1.0, 1.0)) - float(form(0.0, 1.0))
    own, other = (np.asarray(form(each, 1.0)) for each in (found.values, found.reference_values))
    return Differences(own, other, found.spread._replace(variances=scale**2 * found.spread.variances))


class LabelledModels(NamedTuple):
    """Predicted labels of models, and true labels, as numbers of classes."""

    true: NDArray[Any]
    models: list[NDArray[Any]]
    labels: NDArray[Any]
    pos_label: Any
    classes: Any

    @classmethod
    def of(cls, truth: Any, models: list[NDArray[Any]], pos_label: Any) -> LabelledModels:
        """Return the models, given the labels and predictions as `Kind.read` returns them."""
        present, numbers = number_labels("y_true and predictions", [truth, *models])
        classes = as_classes("the data", present, None, pos_label)
        places = check_known_labels(present, classes.labels)
        true, *predicted = (places[each] for each in numbers)
        return cls(true, predicted, classes.labels, classes.pos_label, classes)

    def take(self, kept: NDArray[np.bool_]) -> LabelledModels:
        """Keep some rows."""
        return self._replace(true=self.true[kept], models=[each[kept] for each in self.models])

    def differences(self, rows: GroupedRows, metric: Any, spec: Any, pairs: Pairs) -> list[Differences]:
        """Return, for each pair, the differences between its two models in a metric, by group."""
        of, predicted = self.matrices(metric, spec)
        return [differ_in_matrices(rows, of, predicted[a], predicted[b]) for a, b in pairs]

    def matrices(self, metric: Any, spec: Any) -> tuple[Matrices, list[NDArray[Any]]]:
        """Return how a metric of predicted labels is computed, and the classes that each model predicts."""

        def measure(stack: NDArray[Any]) -> Floats:
            values = LABELS.evaluate(stack, self.classes, [metric])[0]
            if values.ndim != 1:
                raise ValueError(f"metrics: {spec} must be one number per group, got shape {values.shape[1:]}")
            return values

        trials = METRICS[spec.name].trials if isinstance(spec, MetricSpec) else ""
        is_share = trials == "rows" or (self.labels.size == 2 and "average" not in spec.options)
        return Matrices(self.true, self.labels.size, measure, trials if is_share else ""), self.models


class NumericModels(NamedTuple):
    """Numbers predicted by models, and targets."""

    true: Floats
    models: list[Floats]
    labels: None = None
    pos_label: None = None

    @classmethod
    def of(cls, truth: Any, models: list[NDArray[Any]], pos_label: Any) -> NumericModels:
        """Return the models, given the labels and predictions as `Kind.read` returns them."""
        return cls(truth.astype(np.float64), [each.astype(np.float64) for each in models])

    def take(self, kept: NDArray[np.bool_]) -> NumericModels:
        """Keep some rows."""
        return self._replace(true=self.true[kept], models=[each[kept] for each in self.models])

    def differences(self, rows: GroupedRows, metric: Any, spec: Any, pairs: Pairs) -> list[Differences]:
        """Return, for each pair, the differences between its two models in a metric, by group."""
        loss = METRICS[metric.name].loss
        assert loss is not None
        with np.errstate(over="ignore", invalid="ignore"):  # the metric is then undefined
            errors = {k: self.true - self.models[k] for k in {k for pair in pairs for k in pair}}
            losses = {k: loss.of_rows(each, self.true, **metric.options) for k, each in errors.items()}
        return [differ_in_means(rows, losses[a], losses[b]) for a, b in pairs]


SUBJECTS: dict[Kind, Any] = {SCORES: ScoredModels.of, LABELS: LabelledModels.of, TARGETS: NumericModels.of}


# Rows -----------------------------------------------------------------------------------------------------------------


class GroupsRead(NamedTuple):
    """The rows of groups, as users give them.

    Attributes
    ----------
    rows : GroupedRows
        The rows of weight above zero; groups without such rows have no number.
    kept : ndarray of bool of shape (n_rows,), or None
        The rows of weight above zero; None for all.
    keys : ndarray of shape (n_groups,)
        The groups' keys.
    by : tuple of str, or None
        Names of several columns of groups.
    """

    rows: GroupedRows
    kept: NDArray[np.bool_] | None
    keys: NDArray[Any]
    by: tuple[str, ...] | None


def read_models(
    kind: Kind, y_true: Any, predictions: dict[str, Any], pos_label: Any
) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the ground truth and predictions of the same rows, as `SUBJECTS` take them; NaN is no label."""
    truth, arrays = kind.read(y_true, predictions, pos_label if kind is SCORES else None)
    if kind is LABELS:
        for name, values in {"y_true": truth, **arrays}.items():
            if values.dtype.kind == "f":
                check_finite(name, values)
    return truth, arrays


def worst_first(pvalues: Floats, benefits: Floats) -> NDArray[np.intp]:
    """Order groups by evidence: the strongest for a negative benefit first, for a positive benefit last, then NaN."""
    return np.lexsort((benefits, np.where(benefits < 0, pvalues / 2, 1 - pvalues / 2)))


def read_groups(like: NDArray[Any], groups: Any, clusters: Any, sample_weight: Any) -> GroupsRead:
    """Return the groups of as many rows as `like` has; clusters are numbered within groups."""
    keys = as_group_keys("groups", groups)
    beside: dict[str, Any] = {"groups": keys}
    if clusters is not None:
        clusters = beside["clusters"] = as_groups("clusters", clusters)
    weights = kept = None
    if sample_weight is not None:
        weights = beside["sample_weight"] = as_weights("sample_weight", sample_weight)
    check_same_length(y_true=like, **beside)
    if not like.size:
        raise ValueError("y_true is empty: it must have at least one row")
    coded = code_groups(keys)
    codes = coded.block(slice(None)).astype(np.int64)
    if clusters is not None:
        clusters = clusters_within(codes, code_groups(clusters).block(slice(None)).astype(np.int64))
    if weights is not None and not weights.all():
        kept = weights != 0
        codes, weights = codes[kept], weights[kept]
        clusters = None if clusters is None else clusters[kept]
    occurring = np.flatnonzero(np.bincount(codes, minlength=coded.width))
    numbers = np.zeros(coded.width, dtype=np.int64)
    numbers[occurring] = np.arange(occurring.size)
    weights = None if weights is None else weights / weights.max()
    rows = GroupedRows(numbers[codes], occurring.size, weights, clusters)
    return GroupsRead(rows, kept, coded.keys(occurring), key_names("groups", groups))


# Checks ---------------------------------------------------------------------------------------------------------------


def checked_metric(kind: Kind, name: str, spec: Any) -> Any:
    """Return a metric whose variance follows from the influences of rows; raise for any other."""
    metric = kind.metric(spec)
    if kind is SCORES:
        entry = metric.of_counts if isinstance(metric.of_counts, Metric) else None
        is_mean = metric.sweep is not None and metric.sweep.of_thresholds is not None and not metric.sweep.n_bins
        known = is_mean or metric.threshold is not None or (entry is not None and entry.name in OF_PAIRS)
        rule = "be AUCs, losses of probabilities, or metrics at a fixed threshold"
    elif kind is TARGETS:
        known = metric.name in MEAN_ERRORS
        rule = f"be one of {', '.join(MEAN_ERRORS)}"
    else:
        return metric
    if not known:
        raise ValueError(f"metrics must {rule}, got {name}: use compare_rankings within a group for others")
    return metric
