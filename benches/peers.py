"""Cases that compare libraries: `COMPARISONS[case][library](data)` returns a call without arguments.

Conversions that a library's users do once (a polars frame, a tensor) happen before the call. All calls of a case
return the same numbers: tests assert it on small data with ties, and benches assert it before they time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.data import DOCUMENTS, N_CLASSES, Data

Call = Callable[[], Any]
Setup = Callable[[Data], Call]
Cases = dict[str, dict[str, Setup]]

MODULES = {
    "scikit-learn": "sklearn",
    "polarbearings": "polarbearings",
    "polars-ds": "polars_ds",
    "torchmetrics": "torchmetrics",
    "factorize + codes": "pandas",
    "pyarrow": "pyarrow",
    "ranx": "ranx",
}
FPR_GRID = np.linspace(0, 1, 101)


def installed(cases: Mapping[str, Mapping[str, Setup]]) -> Cases:
    """Leave out the libraries that this machine lacks."""
    found = {library for library, module in MODULES.items() if find_spec(module)}
    return {
        case: {library: setup for library, setup in entries.items() if library not in MODULES or library in found}
        for case, entries in cases.items()
    }


def assert_agree(ours: Any, theirs: Any, library: str) -> None:
    """Raise unless two results (numbers, arrays or tuples of them) are equal up to rounding."""
    # torchmetrics divides counts in float32. The others are within a few thousand roundings of an exact sum.
    tolerance = 1e-5 if library == "torchmetrics" else 1e-11
    pairs = zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]
    for mine, other in pairs:
        np.testing.assert_allclose(mine, other, rtol=tolerance, err_msg=f"fastevals and {library} differ")


# scikit-learn -----------------------------------------------------------------------------------------------------


def _sklearn(function: Callable[[Any, Data], Any]) -> Setup:
    def set_up(data: Data) -> Call:
        metrics = import_module("sklearn.metrics")
        return lambda: function(metrics, data)

    return set_up


def _sklearn_counts(metrics: Any, data: Data) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return tps, fps and thresholds; scikit-learn before 1.8 returns only rates."""
    fpr, tpr, thresholds = metrics.roc_curve(data.y, data.s, drop_intermediate=False)
    n_pos = np.count_nonzero(data.y)
    return np.rint(tpr * n_pos), np.rint(fpr * (data.rows - n_pos)), thresholds


def _sklearn_precision_recall(metrics: Any, data: Data) -> tuple[NDArray[Any], NDArray[Any]]:
    precision, recall, _ = metrics.precision_recall_curve(data.y, data.s)
    return precision[::-1], recall[::-1]


def _sklearn_best_f1(metrics: Any, data: Data) -> tuple[float, float]:
    tps, fps, thresholds = _sklearn_counts(metrics, data)
    f1 = 2 * tps / (tps + fps + tps[-1])
    best = int(np.argmax(f1))
    return float(f1[best]), float(thresholds[best])


def _sklearn_everything(metrics: Any, data: Data) -> tuple[Any, ...]:
    tps, fps, _ = _sklearn_counts(metrics, data)
    tpr, fpr = tps / tps[-1], fps / fps[-1]
    row = int(np.argmax(fpr + tpr >= 1))
    before, after = fpr[row - 1] + tpr[row - 1], fpr[row] + tpr[row]
    equal_error_rate = fpr[row - 1] + (1 - before) / (after - before) * (fpr[row] - fpr[row - 1])
    return (
        metrics.roc_auc_score(data.y, data.s),
        metrics.average_precision_score(data.y, data.s),
        equal_error_rate,
        np.interp(tps[-1], tps + fps, tps) / tps[-1],
        np.abs(tpr - fpr).max(),
        _sklearn_best_f1(metrics, data)[0],
        np.interp(FPR_GRID, fpr, tpr),
        *_sklearn_precision_recall(metrics, data),
    )


def _sklearn_cost_area(metrics: Any, data: Data) -> float:
    """Return the area under the cost curve's lower envelope, which consists of the lines of the ROC hull's corners."""
    tps, fps, _ = _sklearn_counts(metrics, data)
    points = np.stack((fps / fps[-1], tps / tps[-1]), axis=1)
    if len(points) > 2:
        hull = import_module("scipy.spatial").ConvexHull(np.vstack((points, (1, 0)))).vertices
        points = points[np.sort(hull[hull < len(points)])]
    right, up = np.diff(points, axis=0).T
    x = np.concatenate(([0], right / (right + up), [1]))
    y = (1 - x) * np.append(points[:, 0], 1) + x * (1 - np.append(points[:, 1], 1))
    return float(np.trapezoid(y, x))


def _sklearn_four_curves(metrics: Any, data: Data) -> tuple[NDArray[Any], ...]:
    tps, fps, _ = _sklearn_counts(metrics, data)
    return (
        fps / fps[-1],
        tps / tps[-1],
        *_sklearn_precision_recall(metrics, data),
        (tps[-1] - tps) / tps[-1],
        (tps + fps) / data.rows,
    )


def _sklearn_regression(metrics: Any, data: Data) -> tuple[float, ...]:
    names = ("mean_squared", "root_mean_squared", "mean_absolute", "median_absolute", "mean_absolute_percentage")
    errors = (getattr(metrics, f"{name}_error")(data.t, data.q) for name in names)
    return (*errors, metrics.r2_score(data.t, data.q), metrics.mean_pinball_loss(data.t, data.q))


# fastevals --------------------------------------------------------------------------------------------------------


def _ranking(method: Callable[[fastevals.Ranking], Any]) -> Setup:
    return lambda data: lambda: method(fastevals.Ranking(data.y, data.s))


def _on_one_thread(function: Callable[[Data], float]) -> Setup:
    def set_up(data: Data) -> Call:
        def call() -> float:
            with fastevals.num_threads(1):
                return function(data)

        return call

    return set_up


def _two_curves(function: Callable[[fastevals.RocCurve, fastevals.RocCurve], Any]) -> Setup:
    def set_up(data: Data) -> Call:
        first, second = (fastevals.Ranking(data.y, scores).roc_curve() for scores in (data.s, data.second))
        return lambda: function(first, second)

    return set_up


def _everything(ranking: fastevals.Ranking) -> tuple[Any, ...]:
    roc, curve = ranking.roc_curve(), ranking.precision_recall_curve()
    return (
        ranking.roc_auc(),
        ranking.average_precision(),
        ranking.equal_error_rate().value,
        ranking.break_even_point().value,
        ranking.ks_statistic().value,
        ranking.best_threshold("f1").value,
        np.interp(FPR_GRID, roc.fpr, roc.tpr),  # the polyline does not depend on which of its points are kept
        curve.precision,
        curve.recall,
    )


def _cost_area(data: Data) -> Call:
    """Compute the cost curve, its envelope and area from a ranking that has been swept."""
    ranking = fastevals.Ranking(data.y, data.s)
    assert len(ranking.counts.thresholds)
    return lambda: ranking.cost_curve().area


def _decomposition(data: Data) -> Call:
    """Split the Brier score by the isotonic fit, from a ranking that has been swept."""
    ranking = fastevals.Ranking(data.y, data.chances)
    assert len(ranking.counts.thresholds)

    def call() -> tuple[float, float, float]:
        parts = ranking.brier_decomposition()
        return parts.miscalibration, parts.discrimination, parts.uncertainty

    return call


def _sklearn_decomposition(metrics: Any, data: Data) -> tuple[float, float, float]:
    fitted = import_module("sklearn.isotonic").IsotonicRegression().fit_transform(data.chances, data.y)
    base = np.full(data.y.size, data.y.mean())
    score, best, uncertainty = (metrics.brier_score_loss(data.y, p) for p in (data.chances, fitted, base))
    return score - best, uncertainty - best, uncertainty


def _consistency_band(data: Data) -> Call:
    """Draw labels for a consistency band, given a ranking that has been swept."""
    ranking = fastevals.Ranking(data.y, data.chances)
    assert len(ranking.counts.thresholds)
    return lambda: fastevals.reliability_band(ranking, kind="consistency", n_resamples=1000, rng=0).low


def _four_curves(ranking: fastevals.Ranking) -> tuple[NDArray[Any], ...]:
    roc, det = (make(drop_intermediate=False) for make in (ranking.roc_curve, ranking.det_curve))
    curve, gain = ranking.precision_recall_curve(), ranking.gain_curve()
    made = (det.fpr, gain.gain)  # equal to roc.fpr and roc.tpr, but a user of these curves computes them too
    assert made[0].shape == made[1].shape
    return roc.fpr, roc.tpr, curve.precision, curve.recall, det.fnr, gain.share


def _regression(data: Data) -> tuple[float, ...]:
    metrics = fastevals.regression_metrics(data.t, data.q)
    return (
        metrics.mean_squared_error,
        metrics.root_mean_squared_error,
        metrics.mean_absolute_error,
        metrics.median_absolute_error,
        metrics.mean_absolute_percentage_error,
        metrics.r2,
        metrics.pinball_loss,
    )


def _subtract_and_dot(data: Data) -> float:
    errors = np.subtract(data.t, data.q)
    return float(np.dot(errors, errors))


def _sort_rows(table: NDArray[Any]) -> Call:
    return lambda: np.sort(table, axis=1)


def _sort_queries(data: Data) -> Call:
    keys = data.s, data.queries
    return lambda: np.lexsort(keys)


def _two_counts(data: Data) -> Call:
    """Sum the weights of each class by the score's code, which is computed beforehand."""
    codes = np.unique(data.s, return_inverse=True)[1]
    positive, rest = data.w * data.y, data.w * (1 - data.y)
    return lambda: (np.bincount(codes, positive), np.bincount(codes, rest))


def _difference(curve: fastevals.CostCurve) -> fastevals.CostDifference:
    return curve.difference(fastevals.Ranking([0, 1, 0, 1], [1, 3, 2, 4]).cost_curve())


def _picture(plot: str, curve: Callable[[fastevals.Ranking], Any], of_probabilities: bool = False) -> Setup:
    """Compute a curve from a ranking that has been swept, draw it and save it."""

    def set_up(data: Data) -> Call:
        figure_of = import_module("matplotlib.figure").Figure
        draw = getattr(import_module("fastevals.show.plots"), plot)
        scores = 1 / (1 + np.exp(-data.s)) if of_probabilities else data.s
        ranking = fastevals.Ranking(data.y, scores)
        assert len(ranking.counts.thresholds)

        def call() -> int:
            figure = figure_of(figsize=(8, 6), dpi=100)
            draw(curve(ranking), ax=figure.subplots())
            picture = BytesIO()
            figure.savefig(picture, format="png")
            return len(picture.getvalue())

        return call

    return set_up


# polars and torch -------------------------------------------------------------------------------------------------


def _polars(package: str, call: Callable[[Any, Any], Any], columns: str = "ys") -> Setup:
    """Call with the package and a frame of the data's columns; both are loaded beforehand."""

    def set_up(data: Data) -> Call:
        frame = import_module("polars").DataFrame({column: data[column] for column in columns})
        module = import_module(package)
        return lambda: call(module, frame)

    return set_up


def _columns(frame: Any, *names: str) -> tuple[NDArray[Any], ...]:
    made = frame.collect()
    return tuple(made[name].to_numpy() for name in names)


def _torch(name: str) -> Setup:
    def set_up(data: Data) -> Call:
        torch = import_module("torch")
        function = getattr(import_module("torchmetrics.functional.classification"), name)
        # Scores outside [0, 1] would be passed through a sigmoid, which ties the largest.
        scores = torch.from_numpy((data.s - data.s.min()) / np.ptp(data.s))
        labels = torch.from_numpy(data.y)
        return lambda: float(function(scores, labels))

    return set_up


# The registry -----------------------------------------------------------------------------------------------------

COMPARISONS = installed(
    {
        "roc_auc": {
            "fastevals": _ranking(lambda ranking: ranking.roc_auc()),
            "scikit-learn": _sklearn(lambda metrics, data: metrics.roc_auc_score(data.y, data.s)),
            "polarbearings": _polars("polarbearings", lambda pb, frame: frame.select(pb.roc_auc("y", "s")).item()),
            "polars-ds": _polars("polars_ds", lambda pds, frame: frame.select(pds.query_roc_auc("y", "s")).item()),
            "torchmetrics": _torch("binary_auroc"),
        },
        "weighted_roc_auc": {
            "fastevals": lambda data: lambda: fastevals.Ranking(data.y, data.s, sample_weight=data.w).roc_auc(),
            "scikit-learn": _sklearn(lambda metrics, data: metrics.roc_auc_score(data.y, data.s, sample_weight=data.w)),
            "polarbearings": _polars(
                "polarbearings", lambda pb, frame: frame.select(pb.roc_auc("y", "s", weight="w")).item(), "ysw"
            ),
        },
        "weighted_roc_auc_threads": {
            "fastevals": lambda data: lambda: fastevals.Ranking(data.y, data.s, sample_weight=data.w).roc_auc(),
            "one thread": _on_one_thread(
                lambda data: fastevals.Ranking(data.y, data.s, sample_weight=data.w).roc_auc()
            ),
        },
        "roc_dominates": {"fastevals": _two_curves(lambda first, second: first.dominates(second))},
        "roc_crossings": {"fastevals": _two_curves(lambda first, second: first.crossings(second).size)},
        "row_costs": {
            "fastevals": lambda data: (
                lambda: fastevals.row_costs(data.y, data.chances, cost_fp=0.5, cost_fn=data.w, n_resamples=0).none
            )
        },
        "average_precision": {
            "fastevals": _ranking(lambda ranking: ranking.average_precision()),
            "scikit-learn": _sklearn(lambda metrics, data: metrics.average_precision_score(data.y, data.s)),
            "polarbearings": _polars(
                "polarbearings", lambda pb, frame: frame.select(pb.average_precision("y", "s")).item()
            ),
            "torchmetrics": _torch("binary_average_precision"),
        },
        "roc_curve": {
            "fastevals": _ranking(lambda ranking: tuple(ranking.roc_curve(drop_intermediate=False))),
            "scikit-learn": _sklearn(lambda metrics, data: metrics.roc_curve(data.y, data.s, drop_intermediate=False)),
            "polarbearings": _polars(
                "polarbearings", lambda pb, frame: _columns(pb.roc_curve(frame, "y", "s"), "fpr", "tpr", "threshold")
            ),
        },
        "precision_recall_curve": {
            "fastevals": _ranking(lambda ranking: tuple(ranking.precision_recall_curve())[:2]),
            "scikit-learn": _sklearn(_sklearn_precision_recall),
            "polarbearings": _polars(
                "polarbearings", lambda pb, frame: _columns(pb.pr_curve(frame, "y", "s"), "precision", "recall")
            ),
        },
        "best_f1": {
            "fastevals": _ranking(lambda ranking: tuple(ranking.best_threshold("f1"))),
            "scikit-learn": _sklearn(_sklearn_best_f1),
        },
        "everything": {"fastevals": _ranking(_everything), "scikit-learn": _sklearn(_sklearn_everything)},
        "cost_area": {"fastevals": _cost_area, "scikit-learn": _sklearn(_sklearn_cost_area)},
        "brier_decomposition": {"fastevals": _decomposition, "scikit-learn": _sklearn(_sklearn_decomposition)},
        "consistency_band": {"fastevals": _consistency_band},
        "four_curves": {"fastevals": _ranking(_four_curves), "scikit-learn": _sklearn(_sklearn_four_curves)},
        "regression": {
            "fastevals": lambda data: lambda: _regression(data),
            "scikit-learn": _sklearn(_sklearn_regression),
        },
        "picture_roc": {"fastevals": _picture("plot_roc", fastevals.Ranking.roc_curve)},
        "picture_precision_recall": {
            "fastevals": _picture("plot_precision_recall", fastevals.Ranking.precision_recall_curve)
        },
        "picture_det": {"fastevals": _picture("plot_det", fastevals.Ranking.det_curve)},
        "picture_gain": {"fastevals": _picture("plot_gain", fastevals.Ranking.gain_curve)},
        "picture_lift": {"fastevals": _picture("plot_lift", fastevals.Ranking.lift_curve)},
        "picture_cost": {"fastevals": _picture("plot_cost", fastevals.Ranking.cost_curve)},
        "picture_calibration": {"fastevals": _picture("plot_calibration", fastevals.Ranking.calibration_curve, True)},
        "picture_reliability": {"fastevals": _picture("plot_reliability", fastevals.Ranking.reliability_curve, True)},
        "picture_decision": {"fastevals": _picture("plot_decision", fastevals.Ranking.decision_curve, True)},
        "picture_cost_over_prior": {
            "fastevals": _picture("plot_cost_over_prior", lambda ranking: ranking.cost_curve().over_prior(cost_fn=5))
        },
        "picture_cost_difference": {
            "fastevals": _picture("plot_cost_difference", lambda ranking: _difference(ranking.cost_curve()))
        },
        "confusion_matrix": {
            "fastevals": lambda data: lambda: fastevals.ConfusionMatrix.from_predictions(data.k, data.p).counts,
            "numpy": lambda data: lambda: np.bincount(N_CLASSES * data.k + data.p).reshape(N_CLASSES, N_CLASSES),
            "scikit-learn": _sklearn(lambda metrics, data: metrics.confusion_matrix(data.k, data.p)),
        },
    }
)

# Work that serves as a unit of time; its results are not compared.
YARDSTICKS: dict[str, Setup] = {
    "np.sort": lambda data: lambda: np.sort(data.s),
    "np.copy": lambda data: lambda: (np.copy(data.y), np.copy(data.s)),
    "np.bincount twice": lambda data: _two_counts(data),
    "np.argsort": lambda data: lambda: np.argsort(data.s),
    "np.sort(axis=1)": lambda data: _sort_rows(data.s[: data.rows // DOCUMENTS * DOCUMENTS].reshape(-1, DOCUMENTS)),
    "np.lexsort": _sort_queries,
    "np.subtract+np.dot": lambda data: lambda: _subtract_and_dot(data),
}
