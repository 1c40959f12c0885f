"""A metric of predicted labels, computed at each threshold of a score, as in `sklearn.metrics`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks, chunks, run
from fastevals.counts import Cells
from fastevals.measure import cells
from fastevals.measure.ranking.ranking import Ranking
from fastevals.metrics import agreement, per_class
from fastevals.metrics._input import (
    as_column,
    as_dense,
    as_numbers,
    as_row_weights,
    as_target,
    check_all_finite,
    check_same_rows,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule, check_parameters
from fastevals.metrics._rankings import OneScore
from fastevals.metrics.per_class import fill_undefined, rates_of

Floats = NDArray[np.float64]
FUNCTION = Rule("a callable", callable)
OPTIONS = Rule("an instance of 'dict' or None", lambda value: value is None or isinstance(value, dict))


def metric_at_thresholds(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metric_func: Callable[..., Any],
    *,
    sample_weight: ArrayLike | None = None,
    metric_params: dict[str, Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Compute a metric of predicted labels at each threshold, like scikit-learn's `metric_at_thresholds`.

    A row is predicted 1 if its score is at least the threshold, else 0. Metrics of the confusion matrix are computed at
    all thresholds in one pass; any other function is called once per threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, or any other values that `metric_func` accepts.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class.
    metric_func : callable
        Called as ``metric_func(y_true, y_pred, **metric_params)``, with rows in descending order of scores. One pass is
        enough if labels are 0 and 1 and the function, with its options, depends only on the confusion matrix:
        `accuracy_score`, `balanced_accuracy_score`, `cohen_kappa_score`, `f1_score`, `fbeta_score`, `hamming_loss`,
        `jaccard_score`, `matthews_corrcoef`, `precision_score`, `recall_score` and `zero_one_loss`, of this module or
        scikit-learn's.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative, for `metric_func`. Rows of weight zero are left out.
    metric_params : dict, optional
        Options of `metric_func`.

    Returns
    -------
    metric_values : ndarray of shape (n_thresholds,) or (n_thresholds, ...)
        The result of `metric_func` at each threshold.
    thresholds : ndarray of shape (n_thresholds,)
        Descending distinct scores.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If `metric_func` warns; only once if all thresholds are computed in one pass.

    Examples
    --------
    >>> from fastevals.metrics import f1_score, metric_at_thresholds
    >>> values, thresholds = metric_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], f1_score)
    >>> values
    array([0.66666667, 0.5       , 0.8       , 0.66666667])
    """
    check_parameters(
        "metric_at_thresholds",
        metric_func=(metric_func, FUNCTION),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        metric_params=(metric_params, OPTIONS),
    )
    labels, scores = as_target("y_true", y_true), as_dense("y_score", y_score)
    labels, scores = as_column(labels), as_column(as_numbers("y_score", scores, finite=False))
    check_same_rows(labels, scores, sample_weight)
    check_all_finite("y_true", labels)
    check_all_finite("y_score", scores)
    if sample_weight is not None:
        sample_weight = as_row_weights(as_column(as_dense("sample_weight", sample_weight)), labels.size)
    rows, options = OneScore(labels, scores, sample_weight), metric_params or {}
    metric = _metric_of_cells(metric_func, options)
    at_all = None if metric is None else _at_all_thresholds(rows, metric)
    return _one_by_one(rows, metric_func, options) if at_all is None else at_all


# All thresholds in one pass -------------------------------------------------------------------------------------------


class CellMetric(NamedTuple):
    """A metric as a function of cells, a final step for all its values, and whether both classes must have rows."""

    function: Callable[[Cells], Any]
    finish: Callable[[Floats], Floats] | None = None
    both_classes: bool = False


Options = Mapping[str, Any]
Maker = Callable[[Options], CellMetric | None]


def _metric_of_cells(metric_func: Any, options: dict[str, Any]) -> CellMetric | None:
    """Return a known function as a metric of cells; None if it is unknown, or its options need more than cells."""
    ours = next((each for each in OF_CELLS if each.__name__ == getattr(metric_func, "__name__", None)), None)
    if ours is None or "sample_weight" in options:  # these weights follow another order of rows
        return None
    theirs = getattr(sys.modules.get("sklearn.metrics._classification"), ours.__name__, ours)
    if not any(metric_func is each for each in (ours, theirs)):
        return None
    metric_func([0, 1], [0, 1], **options)  # raises if an option is unknown
    bound = inspect.signature(ours).bind([0, 1], [0, 1], **options)
    bound.apply_defaults()
    return OF_CELLS[ours](bound.arguments)


def _at_all_thresholds(rows: OneScore, metric: CellMetric) -> tuple[Floats, NDArray[Any]] | None:
    """Return values and thresholds; None unless labels are 0 and 1, and the classes that the metric needs have rows."""
    flags = rows.labels == 1
    if rows.labels.dtype.kind not in "biuf" or not (flags | (rows.labels == 0)).all():
        return None
    ranking = Ranking(flags, rows.scores, sample_weight=rows.weights, pos_label=True)
    if metric.both_classes and not (ranking.n_positives and ranking.n_negatives):
        return None
    counts = ranking.counts
    values = np.empty(counts.thresholds.size - 1)

    def fill(part: slice) -> None:
        for block in blocks(part):
            values[block] = metric.function(counts.cells(slice(block.start + 1, block.stop + 1)))

    run(fill, chunks(values.size))
    values = metric.finish(values) if metric.finish else values
    return values, counts.thresholds[1:].astype(rows.scores.dtype.newbyteorder("="))


def _rate(name: str) -> Maker:
    """Return a function that turns options into a metric: a rate of the positive class."""

    def make(options: Options) -> CellMetric | None:
        if options["average"] != "binary" or options["labels"] is not None:
            return None
        (rate,) = rates_of((name,), options.get("beta", 1.0), (name,)).values()

        def function(at: Cells) -> Any:
            return rate.function(at if options["pos_label"] else type(at)(at.tn, at.fn, at.fp, at.tp))

        return CellMetric(function, lambda values: fill_undefined(rate, values, "binary", options["zero_division"]))

    return make


def _share(*counted: str) -> Maker:
    """Return a function that turns options into a metric: the share, or the number, of rows in some cells."""

    def make(options: Options) -> CellMetric:
        def function(at: Cells) -> Any:
            rows = sum(getattr(at, cell) for cell in counted)
            return rows / ((at.tp + at.tn) + (at.fp + at.fn)) if options.get("normalize", True) else rows

        return CellMetric(function)

    return make


def _balanced_accuracy(options: Options) -> CellMetric:
    def function(at: Cells) -> Any:
        mean = (cells.recall(at) + cells.specificity(at)) / 2
        return 2 * mean - 1 if options["adjusted"] else mean

    return CellMetric(function, both_classes=True)


def _matthews(_: Options) -> CellMetric:
    def function(at: Cells) -> Any:
        return np.where(at.tn + at.fn > 0, cells.matthews(at), 0.0)

    return CellMetric(function, both_classes=True)


def _kappa(options: Options) -> CellMetric | None:
    if options["labels"] is not None or options["weights"] is not None:
        return None
    return CellMetric(cells.cohen_kappa, both_classes=True)


OF_CELLS: dict[Callable[..., Any], Maker] = {
    agreement.accuracy_score: _share("tp", "tn"),
    agreement.zero_one_loss: _share("fp", "fn"),
    agreement.hamming_loss: _share("fp", "fn"),
    agreement.balanced_accuracy_score: _balanced_accuracy,
    agreement.matthews_corrcoef: _matthews,
    agreement.cohen_kappa_score: _kappa,
    per_class.precision_score: _rate("precision"),
    per_class.recall_score: _rate("recall"),
    per_class.f1_score: _rate("f-score"),
    per_class.fbeta_score: _rate("f-score"),
    per_class.jaccard_score: _rate("jaccard"),
}


# One threshold at a time ----------------------------------------------------------------------------------------------


def _one_by_one(
    rows: OneScore, metric_func: Callable[..., Any], options: dict[str, Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Call the function on the predicted labels at each threshold; rows are in stable descending order of scores."""
    order = rows.scores.size - 1 - np.argsort(rows.scores[::-1], kind="stable")[::-1]
    if rows.weights is not None:
        order = order[rows.weights[order] != 0]
        options = {**options, "sample_weight": rows.weights[order]}
    labels, scores = rows.labels[order], rows.scores[order]
    thresholds = scores[np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)]
    values = [metric_func(labels, (scores >= threshold).astype(np.int32), **options) for threshold in thresholds]
    return np.asarray(values), thresholds
