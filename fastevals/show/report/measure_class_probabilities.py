"""Measure probabilities of classes: averages over classes, and each class against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._validation.labels import Classes
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.infer.class_ratios import class_ratios
from fastevals.many.class_curves import MACROS
from fastevals.many.classes import ClassRankings
from fastevals.measure.class_losses import predicted_classes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.registry import METRICS, columns_of
from fastevals.results import Interval
from fastevals.show.report.data import ModelNumbers, OfClasses
from fastevals.show.report.each_class import listed_classes, measure_each_class
from fastevals.show.report.intervals import PredictedRows
from fastevals.show.report.kinds import AVERAGE_CURVES, RATIO_OF_CLASS

AVERAGES = {  # further averages of a metric over classes, with their titles
    "roc_auc": {"AUC weighted": {"average": "weighted"}, "AUC micro": {"average": "micro"}},
    "average_precision": {"AP weighted": {"average": "weighted"}, "AP micro": {"average": "micro"}},
}
OF_ORDERED = {"cohen_kappa": {"kappa (quadratic)": {"weights": "quadratic"}}}  # further ones if classes are ordered
EACH_PROBABILITY = {name: metric(name, average=None) for name in columns_of("probability classes")}
MOST_TOP = 3  # classes of the top-k accuracy, if there are more
STEPS_DRAWN = 16_384  # of a rate in average curves, whose areas then differ by less than 1e-6
MOST_BANDED = 500_000  # scores of all models up to which average curves have bands
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
    is_whole: bool = False,
) -> list[ModelNumbers]:
    """Measure each model; with a confidence level, ratios of classes have intervals; pictured blocks have curves.

    If the block has all rows, its pictures also show each class, and bands of the average curves.
    """
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
        of_classes = OfClasses(named, ordered, intervals, numbered=codes)
        found.append(ModelNumbers(model, own, classes=of_classes))
    return _pictured(found, rows, codes, is_whole=is_whole) if is_pictured else found


# Pictures -------------------------------------------------------------------------------------------------------------


def _pictured(
    models: list[ModelNumbers],
    rows: PredictedRows,
    codes: NDArray[Any],
    *,
    is_whole: bool,
) -> list[ModelNumbers]:
    """Add the average curves of each model; for all rows also the numbers of each class, and what bands need."""
    aucs = np.array([model.classes.metrics["roc_auc"] for model in models if model.classes is not None])
    listed = listed_classes(aucs).tolist() if is_whole else []
    has_bands = is_whole and rows.weights is None and rows.groups is None
    has_bands &= len(models) * rows.true.size * codes.size <= MOST_BANDED
    pictured = []
    for model, own in zip(models, aucs, strict=True):
        classes = ClassRankings(rows.true, rows.predicted[model.name], labels=codes, sample_weight=rows.weights)
        curves: dict[str, Any] = {}
        if not np.isnan(own).any():
            curves = _average_curves(classes)
            if has_bands:
                curves["classes"] = classes
        each = measure_each_class(model.name, classes, listed, own, len(models))
        pictured.append(replace(model, curves=curves, each_class=each))
        del classes  # before the next: it has up to 32 bytes per score, and few are kept for bands
    return pictured


class RankingDrawn(NamedTuple):
    """A ranking, as far as pictures show it."""

    counts: ThresholdCounts


def _average_curves(classes: ClassRankings) -> dict[str, Any]:
    """Return the average curves, from as many thresholds of each ranking as pictures show."""
    ranked = [RankingDrawn(_drawn_counts(each.counts)) for each in classes.rankings]
    together = _drawn_counts(classes._as_one().counts)
    curves: dict[str, Any] = {}
    for name in AVERAGE_CURVES:
        entry = CURVES[name]
        curves[f"macro {name}"] = entry.kind(MACROS[entry.macro](ranked))
        curves[f"micro {name}"] = entry.of_counts(together)
    return curves


def _drawn_counts(counts: ThresholdCounts) -> ThresholdCounts:
    """Return counts at the thresholds that pictures show: at least one in each step of either class's rate."""
    last = counts.thresholds.size - 1
    if last <= STEPS_DRAWN:
        return counts
    steps = np.linspace(0, 1, STEPS_DRAWN)
    rows = [np.searchsorted(each, steps * each[-1]).clip(max=last) for each in (counts.tps, counts.fps)]
    return counts.take(sorted_unique(np.concatenate([np.array([0, last]), *rows])))


def most_probable(rows: PredictedRows) -> PredictedRows:
    """Return the rows with each model's most probable class, by place."""
    return rows._replace(predicted={name: matrix.argmax(axis=1) for name, matrix in rows.predicted.items()})
