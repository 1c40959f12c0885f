"""Metrics of scores of several classes, as users request them: what each is computed from, and how it is averaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, check_no_options, keyword_parameters
from fastevals.counts import Cells
from fastevals.measure import label_sets
from fastevals.measure.class_pairs import means_of_pairs
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_specs import THRESHOLD_OPTIONS, MetricSpec, RankingMetric, cell_function, ranking_metric
from fastevals.measure.registry import METRICS

Floats = NDArray[np.float64]
Source = Literal["one vs. rest", "micro", "pairs", "labels", "rows", "top label", "label sets", "cells"]
ClassAverage = Literal["macro", "micro", "weighted", "samples", None]
MultiClass = Literal["ovr", "ovo"]


@dataclass(frozen=True, slots=True, eq=False)
class ClassMetric:
    """A metric of scores of several classes.

    Attributes
    ----------
    source : str
        What the metric is computed from. "one vs. rest": the ranking of each class against the rest. "micro": all
        classes' columns ranked as one. "pairs": the AUC of each pair of classes. "labels": the matrix of true and most
        probable classes. "rows": losses of rows. "top label": the ranking of rows by their highest score. "label sets":
        values of rows that may have many labels. "cells": the cells of each class at its own threshold.
    average : "macro", "weighted", "micro" or None
        How values of classes, or of pairs of classes, are averaged; None returns each value, and "micro" adds up cells.
    ranked : RankingMetric, optional
        The metric of each ranking.
    of_labels : MetricSpec, optional
        The metric of predicted labels.
    function : callable, optional
        The function of losses, pairs, label sets or cells, with its options.
    thresholds : ndarray, optional
        The threshold of each class, for cells.
    """

    source: Source
    average: ClassAverage = None
    ranked: RankingMetric | None = None
    of_labels: MetricSpec | None = None
    function: Callable[..., Any] | None = None
    thresholds: NDArray[Any] | None = None

    def of_cells(self, cells: Cells) -> Floats:
        """Return the metric, given the cells of each class along the last axis."""
        assert self.function is not None
        if self.average == "micro":
            cells = Cells(*(each.sum(axis=-1) for each in cells))
            return np.asarray(self.function(cells), dtype=np.float64)
        return self.averaged(np.asarray(self.function(cells), dtype=np.float64), cells.tp + cells.fn)

    def averaged(self, values: NDArray[Any], support: NDArray[Any]) -> Floats:
        """Average values of classes, or of pairs, along the last axis; a class without rows is left out by weight 0."""
        if self.average is None:
            return np.asarray(values)
        if self.average == "macro":
            return np.asarray(values.mean(axis=-1))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(support > 0, values * support, 0.0).sum(axis=-1) / support.sum(axis=-1))

    def of_pairs(self, aucs: NDArray[Any], support: NDArray[Any]) -> Floats:
        """Return the metric, given the AUC of each pair, of shape (..., K, K), and the weight of each class."""
        if self.function is not None:
            return np.asarray(self.function(aucs))
        first, second = np.triu_indices(aucs.shape[-1], 1)
        return self.averaged(means_of_pairs(aucs), support[..., first] + support[..., second])


def spec_of_classes(spec: Any) -> Any:
    """Return the spec of the metric that a name stands for if there are several classes."""
    if not isinstance(spec, MetricSpec) or "average" in spec.options:
        return spec
    name = METRICS[spec.name].for_classes
    return MetricSpec(name, spec.options) if name else spec


def class_metric_of(spec: Any, argument: str = "metrics") -> ClassMetric:
    """Check the options of a metric of scores of several classes, and return the metric."""
    if not isinstance(spec, MetricSpec):
        raise ValueError(f"{argument}: functions need a Ranking or a ConfusionMatrix, not scores of several classes")
    spec = spec_of_classes(spec)
    entry, options = METRICS[spec.name], dict(spec.options)
    if entry.classes == "top label":
        name = "expected_calibration_error" if entry.of == "classes" else spec.name
        return ClassMetric("top label", ranked=ranking_metric(MetricSpec(name, options)))
    if entry.of == "classes":
        check_no_options(str(spec), options, entry.options)
        own = entry.own_options(options)
        return ClassMetric(entry.classes or "rows", function=partial(entry.function, **own))
    if options.get("average") == "samples":
        return _over_samples(spec, options)
    if entry.of == "cells" and np.ndim(options.get("threshold", 0.0)):
        return _at_own_thresholds(spec, options)
    placed = any(name in options for name in THRESHOLD_OPTIONS)
    if entry.of in ("ranking", "probabilities") or (entry.of == "cells" and (placed or not entry.of_labels)):
        return _one_versus_rest(spec, options)
    if entry.of_labels:
        return _of_labels(spec, options)
    legal = [name for name, each in METRICS.items() if each.of not in ("targets", "quantiles", "queries")]
    check_choice(argument, spec.name, legal, None)
    raise AssertionError(spec)


def _over_samples(spec: MetricSpec, options: dict[str, Any]) -> ClassMetric:
    """Return the mean over rows of a metric of each row's labels."""
    entry, own = METRICS[spec.name], {name: value for name, value in options.items() if name != "average"}
    if entry.of == "cells":
        if "threshold" not in own:
            raise ValueError(f"{spec}: average='samples' needs threshold=, a number or one number per label")
        check_no_options(str(spec), own, ["threshold", *entry.options])
        threshold, of_cells = label_sets.checked_threshold(own.pop("threshold")), cell_function(spec.name, own)
        return ClassMetric("label sets", function=partial(label_sets.metric_of_rows, of_cells=of_cells, **threshold))
    of_rows = {"roc_auc": label_sets.roc_auc_of_rows, "average_precision": label_sets.average_precision_of_rows}
    if spec.name not in of_rows:
        raise ValueError(
            f"{spec}: average='samples' applies to 'roc_auc', 'average_precision' and metrics at a threshold"
        )
    check_no_options(str(spec), own, [])
    return ClassMetric("label sets", function=of_rows[spec.name])


def _at_own_thresholds(spec: MetricSpec, options: dict[str, Any]) -> ClassMetric:
    """Return a metric of each class at its own threshold."""
    own = {name: value for name, value in options.items() if name not in ("average", "threshold")}
    check_no_options(str(spec), own, METRICS[spec.name].options)
    average = options.get("average", "macro")
    check_choice(f"average of {spec}", average, ClassAverage)
    thresholds = label_sets.checked_threshold(options["threshold"])["threshold"]
    return ClassMetric("cells", average, function=cell_function(spec.name, own), thresholds=thresholds)


def _of_labels(spec: MetricSpec, options: dict[str, Any]) -> ClassMetric:
    """Return a metric of the most probable classes; metrics of one class are averaged over classes by default."""
    entry = METRICS[spec.name]
    takes_average = not entry.is_matrix_method or "average" in keyword_parameters(getattr(ConfusionMatrix, spec.name))
    if entry.of == "cells" and takes_average:
        options = {"average": "macro", **options}
    return ClassMetric("labels", of_labels=MetricSpec(spec.name, options))


def _one_versus_rest(spec: MetricSpec, options: dict[str, Any]) -> ClassMetric:
    """Return a metric of each class against the rest, or of pairs of classes."""
    average = options.pop("average", "macro")
    check_choice(f"average of {spec}", average, ClassAverage)
    if spec.name == "roc_auc":
        multi_class = options.pop("multi_class", "ovr")
        check_choice(f"multi_class of {spec}", multi_class, get_args(MultiClass))
        if multi_class == "ovo":
            if average == "micro" or options:
                raise ValueError(f"{spec}: multi_class='ovo' takes average='macro', 'weighted' or None, and no limits")
            return ClassMetric("pairs", average)
    ranked = ranking_metric(MetricSpec(spec.name, options))
    return ClassMetric("micro", ranked=ranked) if average == "micro" else ClassMetric("one vs. rest", average, ranked)
