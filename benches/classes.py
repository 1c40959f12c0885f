"""Cases of class probabilities: entries as in `benches.peers`."""

from __future__ import annotations

import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, installed
from fastevals import metric

N_CLASSES, MOST_CLASSES, N_MODELS = 10, 1000, 3
COMPARED = ["roc_auc", "log_loss", "brier_score", metric("top_k_accuracy", k=3), "f1"]


@lru_cache(maxsize=2)
def probabilities(n: int, n_classes: int, n_models: int = 1, dtype: str = "f8") -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels, and the class probabilities of models, of shape (n_models, n, n_classes)."""
    rng = np.random.default_rng([n, n_classes])
    labels = rng.permutation(np.arange(n) % n_classes)  # each class has rows
    made = np.empty((n_models, n, n_classes), dtype)
    for model, out in enumerate(made):
        logits = rng.standard_normal((n, n_classes), dtype=np.float32)
        logits[np.arange(n), labels] += 1 + 0.1 * model
        np.exp(logits, out=logits)
        out[:] = logits
        out /= out.sum(axis=1, keepdims=True)
    return labels, made


def _metrics(data: Data) -> Call:
    labels, (matrix,) = probabilities(data.rows, N_CLASSES)

    def call() -> NDArray[np.float64]:
        classes = fastevals.ClassRankings(labels, matrix)
        f1 = classes.confusion_matrix().f_score(average="macro")
        return np.array([classes.roc_auc(), classes.log_loss(), classes.brier_score(), classes.top_k_accuracy(3), f1])

    return call


def _metrics_of_scikit_learn(data: Data) -> Call:
    metrics = import_module("sklearn.metrics")
    labels, (matrix,) = probabilities(data.rows, N_CLASSES)

    def call() -> NDArray[np.float64]:
        return np.array(
            [
                metrics.roc_auc_score(labels, matrix, multi_class="ovr"),
                metrics.log_loss(labels, matrix),
                metrics.brier_score_loss(labels, matrix),
                metrics.top_k_accuracy_score(labels, matrix, k=3),
                metrics.f1_score(labels, matrix.argmax(axis=1), average="macro"),
            ]
        )

    return call


def _comparison(data: Data) -> Call:
    labels, matrices = probabilities(data.rows, N_CLASSES, N_MODELS)
    models = dict(zip("abc", matrices, strict=True))

    def call() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = fastevals.compare_rankings(labels, models, metrics=COMPARED, n_resamples=1999, rng=0)
        return found["roc_auc"].differences[0].value

    return call


def _many_aucs(data: Data) -> Call:
    n_classes = min(MOST_CLASSES, data.rows // 4)
    labels, (matrix,) = probabilities(data.rows, n_classes, dtype="f4")
    return lambda: fastevals.ClassRankings(labels, matrix, labels=range(n_classes)).roc_auc(average=None)


def _sorted_columns(data: Data) -> Call:
    n_classes = min(MOST_CLASSES, data.rows // 4)
    labels, (matrix,) = probabilities(data.rows, n_classes, dtype="f4")
    columns = np.ascontiguousarray(matrix.T)
    aucs = fastevals.ClassRankings(labels, matrix, labels=range(n_classes)).roc_auc(average=None)

    def call() -> NDArray[np.float64]:
        for column in columns:
            np.sort(column)
        return aucs  # of what is sorted, there is nothing to compare

    return call


CLASSES: Cases = installed(
    {
        "class_metrics": {"fastevals": _metrics, "scikit-learn": _metrics_of_scikit_learn},
        "class_comparison": {"fastevals": _comparison},
        "class_aucs": {"fastevals": _many_aucs, "np.sort of columns": _sorted_columns},
    }
)
