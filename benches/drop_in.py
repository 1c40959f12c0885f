"""What the drop-in is compared with, the same call of both: entries as in `benches.peers`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from benches.data import Data
from benches.peers import Call, Cases, Setup, installed

MODULES = {"fastevals": "fastevals.metrics", "scikit-learn": "sklearn.metrics"}
FEW = 100  # rows of a small call
CALLS = 200  # small calls that are timed together
FOLDS, CANDIDATES = 5, 20  # of a search


def _both(call_of: Callable[[Any, Data], Call]) -> dict[str, Setup]:
    """Give both modules' call on the data."""

    def setup(module: str) -> Setup:
        return lambda data: call_of(import_module(module), data)

    return {library: setup(module) for library, module in MODULES.items()}


def _of_scores(metric: Callable[[Any, Data], Any]) -> dict[str, Setup]:
    return _both(lambda metrics, data: lambda: metric(metrics, data))


def _of_labels(metric: Callable[[Any, Any, Any], Any]) -> dict[str, Setup]:
    """Give the calls on true and predicted classes."""

    def call_of(metrics: Any, data: Data) -> Call:
        true, predicted = data.named(data.k), data.named(data.p)
        return lambda: metric(metrics, true, predicted)

    return _both(call_of)


def _small(metric: Callable[[Any, Data], Any]) -> dict[str, Setup]:
    """Give many calls on the same few rows."""

    def call_of(metrics: Any, data: Data) -> Call:
        few = Data(FEW)
        return lambda: tuple(metric(metrics, few) for _ in range(CALLS))

    return _both(call_of)


def _column() -> Any:
    """Give a fitted classifier whose scores are the first column of what it is given."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def decision_function(self, X: Any) -> Any:
            return X[:, 0]

    return Column()


def _search(in_place: bool) -> Setup:
    """Give the calls of the scorer that a search makes: each candidate on each fold, predictions for nothing."""

    def setup(data: Data) -> Call:
        from sklearn.metrics import check_scoring

        from fastevals.metrics import in_place as switched

        model = _column()
        with switched() if in_place else nullcontext():
            scorer = check_scoring(model, scoring="roc_auc")
        folds = [(data.s[part, None], data.y[part]) for part in np.arange(len(data.y)).reshape(FOLDS, -1)]
        return lambda: tuple(scorer(model, *fold) for fold in folds for _ in range(CANDIDATES))

    return setup


def _report(metrics: Any, true: Any, predicted: Any) -> tuple[float, ...]:
    rows = metrics.classification_report(true, predicted, output_dict=True).values()
    return tuple(value for row in rows for value in (row.values() if isinstance(row, dict) else [row]))


LABEL_METRICS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "f1": lambda metrics, true, predicted: metrics.f1_score(true, predicted, average="macro"),
    "matrix": lambda metrics, true, predicted: metrics.confusion_matrix(true, predicted),
    "each": lambda metrics, true, predicted: metrics.precision_recall_fscore_support(true, predicted),
    "report": _report,
}

DROP_IN: Cases = installed(
    {
        "drop_in_roc_auc": _of_scores(lambda metrics, data: metrics.roc_auc_score(data.y, data.s)),
        "drop_in_average_precision": _of_scores(lambda metrics, data: metrics.average_precision_score(data.y, data.s)),
        "drop_in_roc_curve": _of_scores(lambda metrics, data: metrics.roc_curve(data.y, data.s)),
        "drop_in_precision_recall_curve": _of_scores(
            lambda metrics, data: metrics.precision_recall_curve(data.y, data.s)
        ),
        "drop_in_ovr": _of_scores(
            lambda metrics, data: metrics.roc_auc_score(data.k, data.probabilities, multi_class="ovr")
        ),
        "drop_in_ovo": _of_scores(
            lambda metrics, data: metrics.roc_auc_score(data.k, data.probabilities, multi_class="ovo")
        ),
        **{f"drop_in_{name}": _of_labels(metric) for name, metric in LABEL_METRICS.items()},
        "search_roc_auc": {"fastevals": _search(True), "scikit-learn": _search(False)},
        "small_roc_auc": _small(lambda metrics, data: metrics.roc_auc_score(data.y, data.s)),
        "small_f1": _small(lambda metrics, data: metrics.f1_score(data.y, data.y)),
    }
)
