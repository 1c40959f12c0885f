"""Cases of many groups, models and folds in one call: entries as in `benches.peers`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import N_CLASSES, Data
from benches.peers import Call, Cases, Setup, installed
from fastevals.measure.registry import METRICS

N_MODELS = 200
N_FOLDS = 1000
FEW_FOLDS = 10
N_CLASS_SCORES = 100
GROUPS_MANY, GROUPS_MOST = 10_000, 200_000
SIX = ("roc_auc", "average_precision", "ks_statistic", "equal_error_rate", "brier_score", "log_loss")
# Metrics computed for each group, by their input.
GROUPED = {
    of: tuple(metric.name for metric in METRICS.values() if metric.of in kinds and "cost" not in metric.name)
    for of, kinds in {
        "scores": ("ranking", "probabilities"),
        "labels": ("cells", "matrix"),
        "targets": ("targets",),
    }.items()
}


def _models(data: Data, n_models: int = N_MODELS) -> NDArray[np.float64]:
    """Return the models' scores: the same scores, each with its own noise."""
    noise = np.random.default_rng([data.rows, 11]).standard_normal((n_models, data.rows))
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


def _grouped(n_groups: int) -> dict[str, Setup]:
    def ours(data: Data) -> Call:
        groups = data.groups(n_groups)

        def call() -> NDArray[np.float64]:
            with warnings.catch_warnings():  # groups of one class
                warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
                return fastevals.grouped_auc(data.y, data.s, groups).values

        return call

    def theirs(data: Data) -> Call:
        polars, polarbearings = import_module("polars"), import_module("polarbearings")
        frame = polars.DataFrame({"y": data.y, "s": data.s, "g": data.groups(n_groups)})
        auc = polarbearings.roc_auc("y", "s").alias("auc")
        return lambda: frame.group_by("g").agg(auc).sort("g")["auc"].to_numpy()

    return {"fastevals": ours, "polarbearings": theirs}


def _grouped_in_polars(data: Data, aggregation: Callable[[], Any]) -> Call:
    """Group a frame of Polars and aggregate each group to its AUC."""
    frame = import_module("polars").DataFrame({"y": data.y, "s": data.s, "g": data.groups(GROUPS_MANY)})
    auc = aggregation().alias("auc")
    return lambda: frame.group_by("g").agg(auc).sort("g")["auc"].to_numpy()


def _auc_in_polars() -> Any:
    import_module("fastevals.integrations.polars")
    return import_module("polars").col("s").fe.roc_auc("y")


def _compared(data: Data) -> Call:
    """Compare two models in each group, with simultaneous intervals."""
    groups, models = data.groups(GROUPS_MANY), {"old": data.s, "new": _models(data, 1)[0]}

    def call() -> int:
        with warnings.catch_warnings():  # groups of one class
            warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
            found = fastevals.compare_groups(data.y, models, groups)["roc_auc"]
        return len(found)

    return call


def _metric_of_groups(of: str, metrics: str | tuple[str, ...], n_groups: int) -> Setup:
    """Compute metrics of each group; return the number of groups."""

    def set_up(data: Data) -> Call:
        rows = {
            "scores": (data.y, data.chances),
            "labels": (data.y, (data.s > 1).astype(np.int64)),
            "targets": (data.t, data.q),
        }[of]
        groups = data.groups(n_groups)

        def call() -> int:
            with warnings.catch_warnings():  # groups of one class
                warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
                found = fastevals.grouped_metrics(*rows, groups, metrics)
            return int(next(iter(found.values())).values.size)

        return call

    return set_up


def _pooled_roc(data: Data) -> Call:
    folds = _folds(data, min(FEW_FOLDS, data.rows // 200 + 1))
    return lambda: fastevals.RankingFolds.from_scores(data.y, data.s, folds).roc_curve().area


def _one_roc(data: Data) -> Call:
    return lambda: fastevals.Ranking(data.y, data.s).roc_curve().area


def _class_scores(data: Data) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return labels of many classes, and scores for each class."""
    rng = np.random.default_rng([data.rows, 15])
    labels = np.arange(data.rows) % min(N_CLASS_SCORES, data.rows // 5)
    scores = rng.exponential(size=(data.rows, labels.max() + 1))
    scores[np.arange(data.rows), labels] += 1.0
    return labels, scores / scores.sum(axis=1, keepdims=True)


def _one_vs_one(weight: float | None) -> Setup:
    """Return the mean AUC over all pairs of classes, with equal row weights (which change nothing) or without."""

    def set_up(data: Data) -> Call:
        labels, scores = _class_scores(data)
        weights = None if weight is None else np.full(data.rows, weight)
        return lambda: fastevals.ClassRankings(labels, scores, sample_weight=weights).roc_auc(multi_class="ovo")

    return set_up


def _folds(data: Data, n_folds: int) -> NDArray[np.int64]:
    """Return the rows' folds: ascending, of equal size."""
    return np.arange(data.rows) * min(n_folds, data.rows) // data.rows


def _matrices(data: Data) -> Call:
    folds = _folds(data, N_FOLDS)
    return lambda: fastevals.ConfusionMatrix.from_groups(data.k, data.p, folds)[1].counts


def _matrix_loop(data: Data) -> Call:
    matrix = import_module("sklearn.metrics").confusion_matrix
    folds, labels = _folds(data, N_FOLDS), np.arange(N_CLASSES)
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
        "grouped_auc_many": _grouped(GROUPS_MANY),
        "grouped_auc_most": _grouped(GROUPS_MOST),
        "grouped_auc_polars": {
            "fastevals": partial(_grouped_in_polars, aggregation=_auc_in_polars),
            "polarbearings": partial(
                _grouped_in_polars, aggregation=lambda: import_module("polarbearings").roc_auc("y", "s")
            ),
            "polars-ds": partial(
                _grouped_in_polars, aggregation=lambda: import_module("polars_ds").query_roc_auc("y", "s")
            ),
        },
        **{
            f"grouped_{name}": {
                "fastevals": _metric_of_groups(of, name, GROUPS_MANY),
                "average precision": _metric_of_groups("scores", "average_precision", GROUPS_MANY),
            }
            for of, names in GROUPED.items()
            for name in names
        },
        "compare_groups": {"fastevals": _compared},
        "grouped_six": {"fastevals": _metric_of_groups("scores", SIX, GROUPS_MOST)},
        "one_vs_one": {"fastevals": _one_vs_one(2.0), "unweighted": _one_vs_one(None)},
        "pooled_roc": {"fastevals": _pooled_roc, "one ranking": _one_roc},
        "fold_matrices": {"fastevals": _matrices, "scikit-learn": _matrix_loop},
    }
)
