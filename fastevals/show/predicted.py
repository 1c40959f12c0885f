"""Read predictions that are not scores: classes and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._naming import dropping, option
from fastevals._options import naming_rows
from fastevals._validation.arrays import as_scores, check_finite
from fastevals._validation.labels import Classes, as_class_numbers, as_classes, as_predicted_labels, as_true_labels
from fastevals._validation.text import unique_inverse
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.registry import columns_of
from fastevals.reading.columns import NamedColumns, parse_label
from fastevals.reading.values import class_columns

# Metrics of predictions in tables, by title.
NUMBER_METRICS = {name: metric(name) for name in columns_of("numbers")}
POSITIVE_METRICS = {name: metric(name) for name in columns_of("labels")}  # if one of two classes is positive
EACH_CLASS = {name: metric(name, average=None) for name in columns_of("classes")}
CLASS_METRICS = {
    "F1 (macro)" if name == "f1" else name: metric("f1", average="macro") if name == "f1" else spec
    for name, spec in POSITIVE_METRICS.items()
    if name == "f1" or name not in EACH_CLASS
}


def class_metrics(classes: Classes) -> dict[str, MetricSpec]:
    """Return the metrics of predicted classes."""
    return CLASS_METRICS if classes.pos_label is None else POSITIVE_METRICS


class PredictedClasses(NamedTuple):
    """True and predicted classes, arrays of shape (n_rows,), and the classes that occur."""

    true: NDArray[Any]
    predicted: dict[str, NDArray[Any]]  # by model
    classes: Classes
    pos_label: Any  # as given, for other readers of the same rows


def read_classes(columns: NamedColumns, label: str, models: Sequence[str], pos_label: Any = None) -> PredictedClasses:
    """Return the columns of true and predicted classes, checked; raise if a column doesn't hold classes."""
    name = f"{option('label')} {label!r}"
    found: Mapping[str, Any] = {name: columns[label]} | {
        f"{option('pred')} {model!r}": columns[model] for model in models
    }
    if label in columns.as_written:
        found = class_columns(found)
    with naming_rows(columns.line, dropping(is_label=True)):
        true = as_true_labels(name, found[name])
    predicted = as_predicted_labels(
        true, {shown: column for shown, column in found.items() if shown != name}, true_name=name
    )
    for shown, column in predicted.items():
        as_class_numbers(shown, column, f"scores go with {option('score')}")
    labels = sorted_unique(np.concatenate([unique_inverse(column)[0] for column in (true, *predicted.values())]))
    wanted = parse_label(pos_label, labels.tolist()) if isinstance(pos_label, str) else pos_label
    classes = as_classes(name, labels, None, wanted, option=option("pos_label"))
    return PredictedClasses(true, dict(zip(models, predicted.values(), strict=True)), classes, wanted)


def read_targets(
    columns: NamedColumns, target: str, models: Sequence[str]
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Return the columns of true and predicted numbers, checked; raise if a column doesn't hold finite numbers."""
    arrays = {}
    for role, name in (("target", target), *(("pred", model) for model in models)):
        shown = f"{option(role)} {name!r}"
        with naming_rows(columns.line, dropping(is_label=role == "target")):
            arrays[name] = as_scores(shown, columns[name])
            check_finite(shown, arrays[name])
    return arrays.pop(target), arrays
