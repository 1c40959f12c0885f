"""Metrics of rows that may have many labels, each the mean over rows of a value of the row.

A value is a function of the scores and the indicator of labels, both of shape (n_labels, n_samples). It is NaN for rows
that do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import ROWS_PER_BLOCK, chunks, run
from fastevals._kernels import label_ranking
from fastevals._options import show
from fastevals._validation.arrays import as_thresholds
from fastevals.counts import Cells

Floats = NDArray[np.float64]
RowValues = Callable[..., Floats]  # of scores, the indicator and the metric's options


def checked_threshold(threshold: Any = 0.5) -> dict[str, Any]:
    """Check the option of metrics of predicted sets of labels: one threshold, or one per label."""
    values = as_thresholds("threshold", threshold)
    if values.ndim > 1:
        raise ValueError(f"threshold must be a number or one number per label, got shape {values.shape}")
    return {"threshold": values}


def coverage_error(scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return the mean rank of the lowest-scoring true label: how far down the ranking all true labels are found.

    Tied labels all get the last of their ranks; a row without true labels counts as 0.
    """
    return _of_rows(label_ranking.cover_true, scores, indicator)


def label_ranking_loss(scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return the mean share of pairs of a true and another label in which the other label scores at least as high.

    A row with all labels or none counts as 0.
    """
    return _of_rows(label_ranking.share_misordered, scores, indicator)


def label_ranking_average_precision(scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return the mean over rows of the mean precision at the ranks of the row's true labels.

    Tied labels all get the last of their ranks; a row with all labels or none counts as 1.
    """
    return _of_rows(label_ranking.mean_precision, scores, indicator)


def subset_accuracy(scores: NDArray[Any], indicator: NDArray[Any], threshold: Any = 0.5) -> Floats:
    """Return the share of rows whose predicted set of labels is exactly the true set."""
    wrong = cells_of_rows(scores, indicator, threshold)
    return np.asarray((wrong.fp + wrong.fn == 0).astype(np.float64))


def multilabel_hamming_loss(scores: NDArray[Any], indicator: NDArray[Any], threshold: Any = 0.5) -> Floats:
    """Return the share of all pairs of row and label that are predicted wrong."""
    wrong = cells_of_rows(scores, indicator, threshold)
    return np.asarray((wrong.fp + wrong.fn) / len(scores))


# Means over samples -----------------------------------------------------------------------------------------------


def roc_auc_of_rows(scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return the AUC of each row's labels, ranked by their scores; NaN for rows with all labels or none."""
    return _of_rows(label_ranking.share_in_order, scores, indicator)


def average_precision_of_rows(scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return the average precision of each row's labels, ranked by their scores; NaN for rows without labels."""
    return np.where(indicator.any(axis=0), _of_rows(label_ranking.mean_precision, scores, indicator), np.nan)


def metric_of_rows(
    scores: NDArray[Any], indicator: NDArray[Any], of_cells: Callable[[Cells], Any], threshold: Any
) -> Floats:
    """Return a metric of cells of each row's predicted and true labels; NaN where it is undefined."""
    return np.asarray(of_cells(cells_of_rows(scores, indicator, threshold)), dtype=np.float64)


def cells_of_rows(scores: NDArray[Any], indicator: NDArray[Any], threshold: Any) -> Cells:
    """Return the number of labels of each row by truth and prediction."""
    limits = one_per_label(threshold, len(scores))
    tp, predicted, true = np.zeros((3, scores.shape[1]), dtype=np.int64)
    for column, limit, flags in zip(scores, limits, indicator, strict=True):
        chosen = column >= limit
        tp += chosen & (flags != 0)
        predicted += chosen
        true += flags
    return Cells(tp, predicted - tp, true - tp, len(scores) - predicted - true + tp)


def one_per_label(threshold: Any, n_labels: int) -> NDArray[Any]:
    """Return a threshold for each label; raise if there is another number of them."""
    values = np.asarray(threshold)
    if values.ndim and values.shape != (n_labels,):
        raise ValueError(
            f"threshold must be a number or one number for each of {n_labels} labels, got {values.size}: "
            f"{show(values.tolist())}"
        )
    return np.broadcast_to(values, (n_labels,))


def _of_rows(kernel: Callable[..., None], scores: NDArray[Any], indicator: NDArray[Any]) -> Floats:
    """Return a kernel's value of each row; rows are copied block by block."""
    found = np.empty(scores.shape[1])
    size = max(1, ROWS_PER_BLOCK // len(scores))

    def task(part: slice) -> None:
        for start in range(part.start, part.stop, size):
            of = slice(start, min(start + size, part.stop))
            rows = np.ascontiguousarray(scores[:, of].T, dtype=np.float64)
            kernel(rows, np.ascontiguousarray(indicator[:, of].T).view(np.bool_), found[of])

    run(task, chunks(found.size), compiles=kernel)
    return found
