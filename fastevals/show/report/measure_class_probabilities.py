"""Measure probabilities of classes: averages over classes, and each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import Classes
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.infer.class_ratios import class_ratios
from fastevals.many.classes import ClassRankings
from fastevals.measure.class_losses import predicted_classes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.registry import METRICS, columns_of
from fastevals.results import Interval
from fastevals.show.report.data import ModelNumbers, OfClasses
from fastevals.show.report.intervals import PredictedRows
from fastevals.show.report.kinds import MACRO_CURVES, RATIO_OF_CLASS

AVERAGES = {  # further averages of a metric over classes, with their titles
    "roc_auc": {"AUC weighted": {"average": "weighted"}, "AUC micro": {"average": "micro"}},
    "average_precision": {"AP weighted": {"average": "weighted"}, "AP micro": {"average": "micro"}},
}
OF_ORDERED = {"cohen_kappa": {"kappa (quadratic)": {"weights": "quadratic"}}}  # further ones if classes are ordered
EACH_PROBABILITY = {name: metric(name, average=None) for name in columns_of("probability classes")}
MOST_TOP = 3  # classes of the top-k accuracy, if there are more
DRAWS_PER_CLASS = 8  # cost of a replicate per row, class and model, in draws of predicted labels


def probability_specs(n_classes: int, *, are_ordered: bool) -> dict[str, MetricSpec]:
    """Return the metrics of class probabilities, by their names in tables."""
    specs: dict[str, MetricSpec] = {}
    further = AVERAGES | (OF_ORDERED if are_ordered else {})
    for name in columns_of("probabilities"):
        if name == "f1":
            specs["F1 (macro)"] = metric(name, average="macro")
        elif METRICS[name].options == ("k",):
            k = min(MOST_TOP, n_classes - 1)
            specs |= {f"top-{k} accuracy": metric(name, k=k)} if k > 1 else {}
        elif are_ordered or name != "ranked_probability_score":
            specs[name] = metric(name)
        specs |= {title: metric(name, **options) for title, options in further.get(name, {}).items()}
    return specs


def measure_probabilities(
    rows: PredictedRows,
    metrics: Mapping[str, MetricSpec],
    labels: NDArray[Any],
    confidence_level: float | None,
    *,
    is_pictured: bool = False,
) -> list[ModelNumbers]:
    """Measure each model; with a confidence level, ratios of classes have intervals; pictured blocks have curves."""
    found, codes = [], np.arange(labels.size)
    specs = CLASSES.specs({**metrics, **{f"{name} of each class": each for name, each in EACH_PROBABILITY.items()}})
    for model, matrix in rows.predicted.items():
        design = SamplingDesign(sample_weight=rows.weights, labels=codes)
        sample = make_class_sample(rows.true, {model: matrix}, specs, design, one_model=True)
        values = sample.estimates()
        own = dict(zip(metrics, map(float, values), strict=False))
        classes = dict(zip(EACH_PROBABILITY, values[len(metrics) :], strict=True))
        ratios, limits = class_ratios(matrix, rows.true, rows.weights, rows.groups, confidence_level or 0.95)
        ordered: dict[str, Any] = {}
        for name, each in classes.items():
            ordered[name] = each
            if name == "prevalence":
                ordered[RATIO_OF_CLASS] = ratios
        predicted = predicted_classes(np.ascontiguousarray(matrix.T))[0]
        counted = ConfusionMatrix.from_predictions(rows.true, predicted, labels=codes, sample_weight=rows.weights)
        named = ConfusionMatrix._from_counts(counted.counts, Classes(labels, None))
        intervals: dict[str, Interval] = {} if confidence_level is None else {RATIO_OF_CLASS: limits}
        curves = _macro_curves(rows, matrix, codes) if is_pictured else {}
        of_classes = OfClasses(named, ordered, intervals, numbered=codes)
        found.append(ModelNumbers(model, own, classes=of_classes, curves=curves))
    return found


def _macro_curves(rows: PredictedRows, matrix: NDArray[Any], codes: NDArray[Any]) -> dict[str, Any]:
    """Return the mean of the classes' curves by name; none if a class lacks rows, or rows outside it."""
    classes = ClassRankings(rows.true, matrix, labels=codes, sample_weight=rows.weights)
    sizes = classes.n_positives
    if not ((sizes > 0) & (sizes < classes.n_samples)).all():
        return {}
    return {name: getattr(classes, CURVES[name].method)(average="macro") for name in MACRO_CURVES}


def most_probable(rows: PredictedRows) -> PredictedRows:
    """Return the rows with each model's most probable class, by place."""
    return rows._replace(predicted={name: matrix.argmax(axis=1) for name, matrix in rows.predicted.items()})
