"""What groups, models and folds at once are compared with: entries as in `benches.peers`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import N_CLASSES, Data
from benches.peers import Call, Cases, Setup, installed

N_MODELS = 200
N_FOLDS = 1000


def _models(data: Data) -> NDArray[np.float64]:
    """Give the scores of models, each the same ones with noise of its own."""
    noise = np.random.default_rng([data.rows, 11]).standard_normal((N_MODELS, data.rows))
    return data.s + noise


def _batch(data: Data) -> Call:
    scores = _models(data)
    return lambda: fastevals.batch_auc(data.y, scores).values


def _loop(auc: Callable[[Any, Any], float]) -> Setup:
    def set_up(data: Data) -> Call:
        scores = _models(data)
        return lambda: np.array([auc(data.y, each) for each in scores])

    return set_up


def _single(y: Any, scores: Any) -> float:
    with fastevals.num_threads(1):
        return fastevals.Ranking(y, scores).roc_auc()


def _groups(data: Data, n_groups: int) -> NDArray[np.int64]:
    """Give each row a group, in no order; each group has some."""
    groups = np.arange(data.rows) % min(n_groups, data.rows // 5)
    np.random.default_rng([data.rows, 12]).shuffle(groups)
    return groups


def _grouped(n_groups: int) -> dict[str, Setup]:
    def ours(data: Data) -> Call:
        groups = _groups(data, n_groups)

        def call() -> NDArray[np.float64]:
            with warnings.catch_warnings():  # groups of one class
                warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
                return fastevals.grouped_auc(data.y, data.s, groups).values

        return call

    def theirs(data: Data) -> Call:
        polars, polarbearings = import_module("polars"), import_module("polarbearings")
        frame = polars.DataFrame({"y": data.y, "s": data.s, "g": _groups(data, n_groups)})
        auc = polarbearings.roc_auc("y", "s").alias("auc")
        return lambda: frame.group_by("g").agg(auc).sort("g")["auc"].to_numpy()

    return {"fastevals": ours, "polarbearings": theirs}


def _folds(data: Data) -> NDArray[np.int64]:
    """Give the rows' folds, ascending, each as long as the others."""
    return np.arange(data.rows) * min(N_FOLDS, data.rows) // data.rows


def _matrices(data: Data) -> Call:
    folds = _folds(data)
    return lambda: fastevals.ConfusionMatrix.from_groups(data.k, data.p, folds)[1].counts


def _matrix_loop(data: Data) -> Call:
    matrix = import_module("sklearn.metrics").confusion_matrix
    folds, labels = _folds(data), np.arange(N_CLASSES)
    ends = np.searchsorted(folds, np.arange(folds[-1] + 2))
    parts = [slice(*pair) for pair in pairwise(ends)]
    return lambda: np.stack([matrix(data.k[part], data.p[part], labels=labels) for part in parts])


MANY: Cases = installed(
    {
        "batch_auc": {
            "fastevals": _batch,
            "scikit-learn": _loop(lambda y, s: import_module("sklearn.metrics").roc_auc_score(y, s)),
            "one at a time": _loop(_single),
        },
        "grouped_auc_many": _grouped(10_000),
        "grouped_auc_most": _grouped(200_000),
        "fold_matrices": {"fastevals": _matrices, "scikit-learn": _matrix_loop},
    }
)
