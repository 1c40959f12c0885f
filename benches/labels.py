"""Cases that compare text and categories with integer codes, as labels and groups: entries as in `benches.peers`.

The kind of data determines the type of the labels. The other sides get integers: as they are, or after
`pandas.factorize` of each column of labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import LABELS, Data
from benches.peers import Call, Cases, Setup, installed

N_GROUPS = 10_000
N_MODELS = 5
MANY_CLASSES = 1000

Columns = Callable[[Data], list[NDArray[Any]]]


def _sides(columns: Columns, call: Callable[..., Any]) -> dict[str, Setup]:
    """Return a call's sides: labels as the kind represents them, as codes, and as codes after factorizing."""

    def named(data: Data) -> Call:
        labels = [data.named(column) for column in columns(data)]
        return lambda: call(data, *labels)

    def codes(data: Data) -> Call:
        numbers = columns(data)
        return lambda: call(data, *numbers)

    def factorized(data: Data) -> Call:
        factorize, on_codes = import_module("pandas").factorize, codes(data)
        labels = [np.asarray(data.named(column)) for column in columns(data)]

        def both() -> Any:
            for each in labels:
                factorize(each)
            return on_codes()

        return both

    return {"fastevals": named, "codes": codes, "factorize + codes": factorized}


def _roc_auc(data: Data, y: Any) -> float:
    positive = 1 if y is data.y or data.kind not in LABELS else "name_000001"
    return fastevals.Ranking(y, data.s, pos_label=positive).roc_auc()


def _grouped(data: Data, groups: Any) -> NDArray[np.float64]:
    with warnings.catch_warnings():  # groups of one class
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        return fastevals.grouped_auc(data.y, data.s, groups).values


def _report(data: Data, by: Any) -> float:
    columns = {"y": data.y, "s": data.s, "by": by}
    report = fastevals.report(columns, label="y", score="s", by="by", n_resamples=0)
    return float(report.to_dict()["blocks"][0]["models"][0]["metrics"]["roc_auc"])


def _models(data: Data) -> list[NDArray[Any]]:
    """Return the true classes, and the models' predictions."""
    rng = np.random.default_rng([data.rows, 13])
    return [data.k, *(np.where(rng.random(data.rows) < 0.2, data.k, data.p) for _ in range(N_MODELS))]


def _zero_one(data: Data, true: Any, *predictions: Any) -> float:
    return float(fastevals.bias_variance(true, list(predictions), loss="zero_one").expected_loss)


def _many_classes(data: Data) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng([data.rows, 14])
    true = rng.integers(0, MANY_CLASSES, data.rows)
    true[-1] = MANY_CLASSES - 1
    return true, np.where(rng.random(data.rows) < 0.8, true, rng.integers(0, MANY_CLASSES, data.rows))


def _matrix(data: Data) -> Call:
    true, predicted = _many_classes(data)
    labels = None if data.rows > 100 * MANY_CLASSES else np.arange(MANY_CLASSES)  # few rows lack some classes
    return lambda: fastevals.ConfusionMatrix.from_predictions(true, predicted, labels=labels).counts


def _bincount(data: Data) -> Call:
    true, predicted = _many_classes(data)
    shape = MANY_CLASSES, MANY_CLASSES
    return lambda: np.bincount(MANY_CLASSES * true + predicted, minlength=MANY_CLASSES**2).reshape(shape)


LABEL_CASES: Cases = installed(
    {
        "labels_roc_auc": _sides(lambda data: [data.y], _roc_auc),
        "labels_matrix": _sides(
            lambda data: [data.k, data.p],
            lambda data, true, predicted: fastevals.ConfusionMatrix.from_predictions(true, predicted).counts,
        ),
        "labels_grouped_auc": _sides(lambda data: [data.groups(N_GROUPS)], _grouped),
        "labels_report_by": _sides(lambda data: [data.k], _report),
        "labels_zero_one": _sides(_models, _zero_one),
        "many_classes": {"fastevals": _matrix, "np.bincount": _bincount},
        "accuracy": {
            "fastevals": lambda data: lambda: fastevals.metrics.accuracy_score(data.k, data.p),
            "np.mean": lambda data: lambda: float(np.mean(data.k == data.p)),
        },
    }
)
