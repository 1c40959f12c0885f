"""Metrics of how high a row's true labels rank among all labels, as in `sklearn.metrics`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import chunks, run
from fastevals._kernels.label_ranking import cover_true, mean_precision, share_misordered
from fastevals._validation.labels import distinct_pair
from fastevals.many.query_sums import as_ranks
from fastevals.metrics._input import (
    as_dense,
    as_numbers,
    as_row_weights,
    as_target,
    check_all_finite,
    check_same_rows,
    is_sparse,
    target_type,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, check_parameters, warn_ill_defined
from fastevals.metrics._rows import mean_of_rows, write_rows


def coverage_error(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the mean rank of each row's lowest-scoring true label, like scikit-learn's `coverage_error`.

    Tied labels all get the last of their ranks. A row without true labels counts as 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Indicator matrix of 0s and 1s, with at least two columns.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores, higher for labels that a row is more likely to have.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float
        The mean over rows; its best value is the mean number of true labels per row.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2010), doi:10.1007/978-0-387-09823-4_34, who count from 0.

    Examples
    --------
    >>> from fastevals.metrics import coverage_error
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    return _mean("coverage_error", cover_true, y_true, y_score, sample_weight, two_d=True)


def label_ranking_average_precision_score(
    y_true: Any, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute mean precision at true labels' ranks, like scikit-learn's `label_ranking_average_precision_score`.

    For each true label, precision is the share of true labels among all labels that rank at least as high. Precision is
    averaged over a row's true labels, then over rows. Tied labels all get the last of their ranks; a row with all
    labels or none counts as 1.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        Indicator matrix of 0s and 1s.
    y_score, sample_weight
        As for `coverage_error`.

    Returns
    -------
    float
        In (0, 1].

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If all weights are zero; the value is then NaN.

    Examples
    --------
    >>> from fastevals.metrics import label_ranking_average_precision_score
    >>> label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.41666666666666663
    """
    function = "label_ranking_average_precision_score"
    return _mean(function, mean_precision, y_true, y_score, sample_weight, sparse=True, one_label=True, all_zero=True)


def label_ranking_loss(y_true: Any, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the share of label pairs in the wrong order, like scikit-learn's `label_ranking_loss`.

    A pair is a true label and a label that is not true. Tied pairs count as wrong; a row with all labels or none counts
    as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        Indicator matrix of 0s and 1s, with at least two columns.
    y_score, sample_weight
        As for `coverage_error`.

    Returns
    -------
    float
        The mean over rows, in [0, 1].

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Tsoumakas, Katakis and Vlahavas (2010), doi:10.1007/978-0-387-09823-4_34.

    Examples
    --------
    >>> from fastevals.metrics import label_ranking_loss
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    return _mean("label_ranking_loss", share_misordered, y_true, y_score, sample_weight, sparse=True)


def _mean(
    function: str,
    kernel: Callable[..., None],
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    *,
    two_d: bool = False,
    sparse: bool = False,
    one_label: bool = False,
    all_zero: bool = False,
) -> float:
    """Return the mean over rows of the values that a kernel computes."""
    check_parameters(function, sample_weight=(sample_weight, ARRAY_OR_NONE))
    if sparse and is_sparse(y_true):
        y_true = y_true.astype(np.bool_).toarray()
    target, scores = as_target("y_true", y_true), as_dense("y_score", y_score)
    target = as_numbers("y_true", target, two_d=two_d, finite=False)
    scores = as_numbers("y_score", scores, two_d=two_d, finite=False)
    check_same_rows(target, scores, sample_weight)
    weights = as_row_weights(sample_weight, target.shape[0], all_zero=all_zero)
    marks = _as_marks(target, one_label)
    if marks is None:
        check_all_finite("y_true", target)
        check_all_finite("y_score", scores)
        raise ValueError(f"{target_type('y_true', target)} format is not supported")
    if marks.shape != scores.shape:
        raise ValueError(f"y_true and y_score have different shape, {marks.shape} and {scores.shape}")
    values = write_rows(kernel, "y_score", as_ranks("y_score", scores), marks)
    if weights is not None and not weights.any():
        warn_ill_defined(f"{function} is undefined where all sample weights are zero, and set to nan.")
        return math.nan
    return mean_of_rows(values, weights)


def _as_marks(target: NDArray[Any], one_label: bool) -> NDArray[np.bool_] | None:
    """Return flags of nonzero labels; None if they are not indicators.

    Indicators have at most two distinct values, both whole, and at least two columns (one if `one_label`).
    """
    if target.ndim < 2 or target.shape[1] < (1 if one_label else 2):
        return None
    if target.dtype == np.bool_:
        return target
    marks = np.empty(target.shape, dtype=np.bool_)
    first, *second = distinct_pair(target.reshape(-1))

    def mark(part: slice) -> bool:
        block = target[part]
        np.not_equal(block, 0, out=marks[part])
        known = block == first
        return bool((known | (block == second[0]) if second else known).all())

    whole = all(float(value).is_integer() for value in (first, *second))
    return marks if whole and all(run(mark, chunks(*target.shape))) else None
