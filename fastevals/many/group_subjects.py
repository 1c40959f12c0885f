"""The models that `compare_groups` compares: their differences in metrics of scores, labels or numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import as_classes, check_known_labels
from fastevals.counting.labels import number_labels
from fastevals.counts import Cells
from fastevals.many.group_influences import (
    Differences,
    GroupedRows,
    Matrices,
    Slots,
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
        """Return the differences of each pair in a metric."""
        entry = metric.of_counts if isinstance(metric.of_counts, Metric) else None
        if entry is not None and entry.name in OF_PAIRS:
            if rows.weights is not None:
                raise ValueError(f"metrics: {entry.name} does not take sample_weight; got {spec} with weights")
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
        """Return the differences of each pair in a metric."""
        of = self.matrices(metric, spec)
        return [differ_in_matrices(rows, of, self.models[a], self.models[b]) for a, b in pairs]

    def matrices(self, metric: Any, spec: Any) -> Matrices:
        """Return how a metric of predicted labels is computed."""

        def measure(stack: NDArray[Any]) -> Floats:
            values = LABELS.evaluate(stack, self.classes, [metric])[0]
            if values.ndim != 1:
                raise ValueError(f"metrics: {spec} must be one number per group, got shape {values.shape[1:]}")
            return values

        trials = METRICS[spec.name].trials if isinstance(spec, MetricSpec) else ""
        is_share = trials == "rows" or (self.labels.size == 2 and "average" not in spec.options)
        return Matrices(self.true, self.labels.size, measure, trials if is_share else "")


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
        """Return the differences of each pair in a metric."""
        loss = METRICS[metric.name].loss
        assert loss is not None
        errors = {k: self.true - self.models[k] for k in {k for pair in pairs for k in pair}}
        losses = {k: loss.of_rows(each, self.true, **metric.options) for k, each in errors.items()}
        return [differ_in_means(rows, losses[a], losses[b]) for a, b in pairs]


SUBJECTS: dict[Kind, Any] = {SCORES: ScoredModels.of, LABELS: LabelledModels.of, TARGETS: NumericModels.of}


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
