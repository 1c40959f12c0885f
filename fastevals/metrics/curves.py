"""Curves over thresholds, with points, order and dtypes as in `sklearn.metrics`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import ROWS_PER_BLOCK
from fastevals._validation.arrays import FLOAT64, plain_text
from fastevals.counting.sweeps import select_rows
from fastevals.counts import ThresholdCounts
from fastevals.measure.cells import ratio
from fastevals.measure.ranking.ranking import Ranking, pr_points, roc_points
from fastevals.metrics._input import (
    as_column,
    as_dense,
    as_numbers,
    as_target,
    as_weight_column,
    check_same_rows,
    first_labels,
)
from fastevals.metrics._parameters import (
    ARRAY_OR_NONE,
    FLAG,
    POS_LABEL,
    check_parameters,
    named_options,
    warn,
    warn_ill_defined,
)
from fastevals.metrics._rankings import NO_POSITIVES, OneScore, pos_label_ranking

Floats = NDArray[np.float64]
CURVATURE_ROUNDING = 4 * np.finfo(np.float64).eps  # relative rounding error of a second difference of sums


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """Compute the ROC curve, like scikit-learn's `roc_curve`.

    Multiplying all weights by a number does not change the number of points.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; or of more classes if `pos_label` is given, which is ranked against all others.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class.
    pos_label : label, optional
        The positive class; by default 1 for labels 0/1 and -1/1.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    drop_intermediate : bool
        Whether to leave out points halfway between their neighbours.

    Returns
    -------
    fpr, tpr, thresholds : ndarray of shape (n_points,)
        FPR and TPR at each threshold; thresholds descend from +inf.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a class has no rows; its rate is then NaN.

    Examples
    --------
    >>> from fastevals.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    """
    ranking, _ = _ranked("roc_curve", y_true, y_score, pos_label, sample_weight, drop_intermediate)
    _warn_one_class(ranking)
    return _roc_arrays(ranking, bool(drop_intermediate), sample_weight is not None)


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Compute precision and recall at each threshold, like scikit-learn's `precision_recall_curve`.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc_curve`.
    drop_intermediate : bool
        Whether to leave out points that have the same recall as both neighbours.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        Precision and recall at each threshold, followed by 1 and 0.
    thresholds : ndarray of shape (n_thresholds,)
        Ascending distinct scores.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If there are no positives; recall is then 1.

    Examples
    --------
    >>> from fastevals.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> recall
    array([1. , 1. , 0.5, 0.5, 0. ])
    """
    ranking, dtype = _ranked("precision_recall_curve", y_true, y_score, pos_label, sample_weight, drop_intermediate)
    if not ranking.n_positives:
        warn(NO_POSITIVES)
    return _precision_recall_arrays(ranking, bool(drop_intermediate), dtype)


def det_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Compute the detection error trade-off, like scikit-learn's `det_curve`.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc_curve`.
    drop_intermediate : bool
        Whether to leave out points that have the same FNR as both neighbours.

    Returns
    -------
    fpr, fnr, thresholds : ndarray of shape (n_points,)
        FPR and FNR at each threshold; thresholds ascend from the highest one without false negatives to the lowest one
        without false positives.

    Raises
    ------
    ValueError
        If an argument is not as described, or a class has no rows.

    Warns
    -----
    UndefinedMetricWarning
        If all rows of a class have weight zero; its rate is then NaN.

    Examples
    --------
    >>> from fastevals.metrics import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fnr
    array([0. , 0.5, 0.5])
    """
    ranking, _ = _ranked("det_curve", y_true, y_score, pos_label, sample_weight, drop_intermediate)
    if not (ranking.n_positives and ranking.n_negatives):
        _check_both_classes(pos_label, y_true)
        _warn_one_class(ranking)  # all rows of the other class have weight zero
    return _det_arrays(ranking, bool(drop_intermediate))


@named_options
def confusion_matrix_at_thresholds(
    y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats, Floats, NDArray[Any]]:
    """Count the confusion matrix's four cells at each threshold, like scikit-learn's `confusion_matrix_at_thresholds`.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc_curve`.

    Returns
    -------
    tns, fps, fns, tps : ndarray of shape (n_thresholds,)
        Numbers of rows, or sums of their weights.
    thresholds : ndarray of shape (n_thresholds,)
        Descending distinct scores.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    FutureWarning
        If an option is passed as a positional argument; scikit-learn allows this until version 1.11.

    Examples
    --------
    >>> from fastevals.metrics import confusion_matrix_at_thresholds
    >>> tns, fps, fns, tps, thresholds = confusion_matrix_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tps
    array([1., 1., 2., 2.])
    """
    ranking, dtype = _ranked("confusion_matrix_at_thresholds", y_true, y_score, pos_label, sample_weight, False)
    return _threshold_arrays(ranking, dtype)


def auc(x: ArrayLike, y: ArrayLike) -> float:
    """Compute the area under a curve with the trapezoidal rule, like scikit-learn's `auc`.

    Parameters
    ----------
    x : array-like of shape (n_points,)
        The points' x, ascending or descending.
    y : array-like of shape (n_points,)
        The points' y.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are fewer than two points, or `x` is not monotonic.

    Examples
    --------
    >>> from fastevals.metrics import auc
    >>> auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    0.75
    """
    places, heights = _as_points(x, y)
    steps = np.subtract(places[1:], places[:-1], dtype=np.float64)
    _check_one_way(places, steps)
    with np.errstate(over="ignore", invalid="ignore"):
        area = float(np.sum(steps * np.add(heights[1:], heights[:-1], dtype=np.float64) / 2.0))
    return -area if places[-1] < places[0] else area


def _ranked(
    function: str, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any, drop_intermediate: Any
) -> tuple[Ranking, np.dtype[Any]]:
    """Rank the rows; also return the dtype of the scores."""
    check_parameters(
        function,
        pos_label=(pos_label, POS_LABEL),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        drop_intermediate=(drop_intermediate, FLAG),
    )
    rows = _as_scored_rows(y_true, y_score, sample_weight)
    return pos_label_ranking(rows, pos_label), rows.scores.dtype


# Arrays of a curve -------------------------------------------------------------------------------------------------


def _roc_arrays(ranking: Ranking, drop_intermediate: bool, weighted: bool) -> tuple[Floats, Floats, Floats]:
    """Return FPR, TPR and thresholds, which descend from +inf; rates of a class without rows are NaN."""
    if drop_intermediate and weighted:
        counts = _thinned(ranking.counts, 1, _bends_curve)
        return _rates(counts.fps), _rates(counts.tps), _as_dtype(counts.thresholds, FLOAT64)
    fpr, tpr, thresholds = roc_points(ranking, drop_intermediate=drop_intermediate)
    return fpr, tpr, _as_dtype(thresholds, FLOAT64)


def _precision_recall_arrays(
    ranking: Ranking, drop_intermediate: bool, dtype: np.dtype[Any]
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return precision, recall and ascending thresholds; recall is 1 if there are no positives."""
    if drop_intermediate:
        counts = _thinned(ranking.counts, 1, _changes_recall)
        thresholds, tps, fps = (each[:0:-1] for each in (counts.thresholds, counts.tps, counts.fps))
        precision, recall = np.append(tps / (tps + fps), 1.0), np.append(tps / (tps[0] or 1), 0.0)
    else:
        precision, recall, thresholds = pr_points(ranking)
    if not ranking.n_positives:
        recall[:-1], recall[-1] = 1.0, 0.0
    return precision, recall, _as_dtype(thresholds, dtype)


def _det_arrays(ranking: Ranking, drop_intermediate: bool) -> tuple[Floats, Floats, Floats]:
    """Return FPR, FNR and thresholds, which ascend from the highest one without FN to the lowest one without FP."""
    counts = _thinned(ranking.counts, 0, _changes_recall) if drop_intermediate else ranking.counts
    first = int(np.searchsorted(counts.fps, 0, side="right")) - 1
    last = int(np.searchsorted(counts.tps, counts.n_pos))
    n_pos, n_neg, rows = counts.n_pos, counts.n_neg, slice(last, first - 1 if first else None, -1)
    return (
        ratio(counts.fps[rows], n_neg),
        ratio(n_pos - counts.tps[rows], n_pos),
        counts.thresholds[rows].astype(FLOAT64),
    )


def _threshold_arrays(ranking: Ranking, dtype: np.dtype[Any]) -> tuple[Floats, Floats, Floats, Floats, NDArray[Any]]:
    """Return true negatives, false positives, false negatives, true positives and descending thresholds."""
    rows = slice(1, None)
    tp, fp, fn, tn = (cell.astype(FLOAT64) for cell in ranking.counts.cells(rows))
    return tn, fp, fn, tp, ranking.counts.thresholds[rows].astype(dtype.newbyteorder("="))


def _rates(totals: NDArray[Any]) -> Floats:
    """Divide totals by the last total; return NaN if the last total is zero."""
    return totals / totals[-1] if totals[-1] else np.full(totals.size, np.nan)


def _as_dtype(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return values in a dtype that holds them, with native byte order."""
    return np.ascontiguousarray(values, dtype=dtype.newbyteorder("="))


# Points left out ---------------------------------------------------------------------------------------------------


def _thinned(counts: ThresholdCounts, first: int, matters: Callable[..., NDArray[np.bool_]]) -> ThresholdCounts:
    """Keep points up to `first`, later points that `matters` selects by their neighbours, and the last point."""
    n = counts.thresholds.size

    def keep(rows: slice) -> NDArray[np.bool_]:
        kept = np.ones(rows.stop - rows.start, dtype=np.bool_)
        inner = slice(max(rows.start, first + 1), min(rows.stop, n - 1))
        if inner.start < inner.stop:
            beside = slice(inner.start - 1, inner.stop + 1)
            kept[inner.start - rows.start : inner.stop - rows.start] = matters(counts.tps[beside], counts.fps[beside])
        return kept

    return counts.take(select_rows(n, keep) if n > ROWS_PER_BLOCK else np.flatnonzero(keep(slice(0, n))))


def _bends_curve(tps: NDArray[Any], fps: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which inner points are not midway between their neighbours in ROC space, whatever the scale of weights."""
    bends = np.zeros(tps.size - 2, dtype=np.bool_)
    for cells in (fps, tps):
        bends |= np.abs((cells[2:] - cells[1:-1]) - (cells[1:-1] - cells[:-2])) > CURVATURE_ROUNDING * cells[2:]
    return bends


def _changes_recall(tps: NDArray[Any], _: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which inner points differ in recall from the point before or after them."""
    changes = tps[1:] != tps[:-1]
    return changes[1:] | changes[:-1]  # type: ignore[no-any-return]


# Checks ------------------------------------------------------------------------------------------------------------


def _warn_one_class(ranking: Ranking) -> None:
    if not ranking.n_negatives:
        warn_ill_defined("No negative samples in y_true, false positive value should be meaningless")
    if not ranking.n_positives:
        warn_ill_defined("No positive samples in y_true, true positive value should be meaningless")


def _as_scored_rows(y_true: Any, y_score: Any, sample_weight: Any) -> OneScore:
    """Return labels, scores and weights as vectors."""
    scores = as_column(as_numbers("y_score", y_score, finite=False))
    labels = as_column(as_target("y_true", y_true))
    return OneScore(labels, scores, as_weight_column(sample_weight))


def _check_both_classes(pos_label: Any, y_true: Any) -> None:
    """Raise unless both classes have rows, possibly with weight zero; a DET curve needs both."""
    labels = as_column(as_target("y_true", y_true))
    labels_seen = first_labels(labels)
    if len(labels_seen) < 2:
        raise ValueError(
            "Only one class is present in y_true. Detection error tradeoff curve is not defined in that case."
        )
    if pos_label is not None and not (labels == plain_text(pos_label)).any():
        raise ValueError(f"pos_label={pos_label!r} is not a label of y_true, which has {labels_seen} first")


def _as_points(x: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return x and y of at least two points as vectors."""
    places, heights = as_dense("x", x), as_dense("y", y)
    check_same_rows(places, heights)
    places, heights = as_column(places), as_column(heights)
    if places.size < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {places.shape}")
    return places, heights


def _check_one_way(places: NDArray[Any], steps: NDArray[Any]) -> None:
    """Raise unless x is monotonic."""
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(f"x is neither increasing nor decreasing : {places}.")
