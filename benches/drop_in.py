"""Cases that call the same function of the drop-in and of scikit-learn: entries as in `benches.peers`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from benches.data import Data
from benches.peers import Call, Cases, Setup, installed

MODULES = {"fastevals": "fastevals.metrics", "scikit-learn": "sklearn.metrics"}
FEW = 100  # rows per small call
FEW_DOCUMENTS = 10  # per row
CALLS = 200  # small calls timed as one
FOLDS, CANDIDATES = 5, 20  # of a search


def _both(call_of: Callable[[Any, Data], Call]) -> dict[str, Setup]:
    """Return both modules' call on the data."""

    def setup(module: str) -> Setup:
        return lambda data: call_of(import_module(module), data)

    return {library: setup(module) for library, module in MODULES.items()}


def _of_scores(metric: Callable[[Any, Data], Any]) -> dict[str, Setup]:
    return _both(lambda metrics, data: lambda: metric(metrics, data))


def _of_labels(metric: Callable[[Any, Any, Any], Any]) -> dict[str, Setup]:
    """Return the calls on true and predicted classes."""

    def call_of(metrics: Any, data: Data) -> Call:
        true, predicted = data.named(data.k), data.named(data.p)
        return lambda: metric(metrics, true, predicted)

    return _both(call_of)


def _fastevals_metrics() -> Any:
    return import_module(MODULES["fastevals"])


def _small(metric: Callable[[Any, Data], Any]) -> dict[str, Setup]:
    """Return many calls on the same few rows."""

    def call_of(metrics: Any, data: Data) -> Call:
        few = Data(FEW)
        return lambda: tuple(metric(metrics, few) for _ in range(CALLS))

    return _both(call_of)


def _column() -> Any:
    """Return a fitted classifier whose scores are the first column of X."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any) -> Any:
            return self

        def decision_function(self, X: Any) -> Any:
            return X[:, 0]

    return Column()


def _search(in_place: bool) -> Setup:
    """Return the calls of the scorer that a search makes, one per candidate and fold; predicting costs no time."""

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


def _gains(name: str) -> Callable[[Any, Data], float]:
    """Return the metric of rows of ten documents."""

    def metric(metrics: Any, data: Data) -> float:
        n = data.rows // FEW_DOCUMENTS * FEW_DOCUMENTS
        both = (each[:n].reshape(-1, FEW_DOCUMENTS) for each in (data.k, data.s))
        return float(getattr(metrics, name)(*both))

    return metric


LABEL_METRICS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "f1": lambda metrics, true, predicted: metrics.f1_score(true, predicted, average="macro"),
    "matrix": lambda metrics, true, predicted: metrics.confusion_matrix(true, predicted),
    "each": lambda metrics, true, predicted: metrics.precision_recall_fscore_support(true, predicted),
    "report": _report,
}


def _f1_of_counts(data: Data) -> tuple[Any, Any]:
    """Compute F1 at each distinct score from sorted rows."""
    order = np.argsort(-data.s)
    scores, hits = data.s[order], np.cumsum(data.y[order])
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    return 2 * hits[last] / (last + 1 + hits[-1]), scores[last]


# Metrics of scores and labels in one or many columns: name, call, title.
ROW_METRICS: dict[str, tuple[Callable[[Any, Data], Any], str]] = {
    "hinge": (lambda metrics, data: metrics.hinge_loss(data.y, data.s), "hinge_loss"),
    "hinge_classes": (lambda metrics, data: metrics.hinge_loss(data.k, data.probabilities), "hinge_loss, 10 classes"),
    "top_k": (
        lambda metrics, data: metrics.top_k_accuracy_score(data.k, data.probabilities),
        "top_k_accuracy_score, 10 classes",
    ),
    "coverage": (
        lambda metrics, data: metrics.coverage_error(data.marks, data.probabilities),
        "coverage_error, 10 labels",
    ),
    "label_ranking_precision": (
        lambda metrics, data: metrics.label_ranking_average_precision_score(data.marks, data.probabilities),
        "label_ranking_average_precision_score, 10 labels",
    ),
    "label_ranking_loss": (
        lambda metrics, data: metrics.label_ranking_loss(data.marks, data.probabilities),
        "label_ranking_loss, 10 labels",
    ),
    "d2_log_loss": (lambda metrics, data: metrics.d2_log_loss_score(data.y, data.chances), "d2_log_loss_score"),
    "d2_log_loss_classes": (
        lambda metrics, data: metrics.d2_log_loss_score(data.k, data.probabilities),
        "d2_log_loss_score, 10 classes",
    ),
    "d2_brier": (lambda metrics, data: metrics.d2_brier_score(data.y, data.chances), "d2_brier_score"),
    "d2_brier_classes": (
        lambda metrics, data: metrics.d2_brier_score(data.k, data.probabilities),
        "d2_brier_score, 10 classes",
    ),
}


def _of_targets(metric: Callable[[Any, Any, Any], Any]) -> dict[str, Setup]:
    """Return the calls on positive targets and predictions."""

    def call_of(metrics: Any, data: Data) -> Call:
        true, predicted = np.exp(data.t / 4), np.exp(data.q / 4)
        return lambda: metric(metrics, true, predicted)

    return _both(call_of)


# Error metrics: the function's name, followed by its options if any, and the options.
TARGET_METRICS: dict[str, dict[str, Any]] = {
    "explained_variance_score": {},
    "max_error": {},
    "mean_absolute_percentage_error": {},
    "mean_pinball_loss": {},
    "mean_squared_log_error": {},
    "root_mean_squared_log_error": {},
    "mean_poisson_deviance": {},
    "mean_gamma_deviance": {},
    "mean_tweedie_deviance": {},
    "mean_tweedie_deviance, power=1.3": {"power": 1.3},
    "mean_tweedie_deviance, power=1.5": {"power": 1.5},
    "median_absolute_error": {},
    "d2_absolute_error_score": {},
    "d2_pinball_score": {},
    "d2_tweedie_score": {},
    "d2_tweedie_score, power=1.5": {"power": 1.5},
}


def _of_function(name: str) -> Callable[[Any, Any, Any], Any]:
    function, options = name.partition(",")[0], TARGET_METRICS[name]
    return lambda metrics, true, predicted: getattr(metrics, function)(true, predicted, **options)


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
        "drop_in_f1_at_thresholds": {
            "fastevals": lambda data: (
                lambda: _fastevals_metrics().metric_at_thresholds(data.y, data.s, _fastevals_metrics().f1_score)
            ),
            "np.cumsum": lambda data: lambda: _f1_of_counts(data),
        },
        **{f"drop_in_{name}": _of_scores(metric) for name, (metric, _) in ROW_METRICS.items()},
        **{f"drop_in_{name}": _of_scores(_gains(f"{name}_score")) for name in ("ndcg", "dcg")},
        **{f"drop_in_{name}": _of_labels(metric) for name, metric in LABEL_METRICS.items()},
        **{f"drop_in_{name}": _of_targets(_of_function(name)) for name in TARGET_METRICS},
        "search_roc_auc": {"fastevals": _search(True), "scikit-learn": _search(False)},
        "small_roc_auc": _small(lambda metrics, data: metrics.roc_auc_score(data.y, data.s)),
        "small_f1": _small(lambda metrics, data: metrics.f1_score(data.y, data.y)),
    }
)
