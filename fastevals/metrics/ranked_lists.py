"""Cumulative gains of ranked documents, in tables with one row per query, as in `sklearn.metrics`."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.queries import DCG, IDEAL, QUERY_SUMS
from fastevals.many.query_sums import TO_THE_END, Queries, as_ranks, sum_by_query
from fastevals.metrics._input import as_dense, as_numbers, as_row_weights, check_same_rows, target_type
from fastevals.metrics._parameters import FLAG, Rule, check_parameters

Floats = NDArray[np.float64]

SEVERAL = ("multilabel-indicator", "continuous-multioutput", "multiclass-multioutput")
RANKS = Rule(
    "an int in the range [1, inf) or None",
    lambda value: value is None or (isinstance(value, numbers.Integral) and int(value) >= 1),
)
BASE = Rule(
    "a float in the range (0.0, inf)", lambda value: isinstance(value, numbers.Real) and 0 < float(value) < math.inf
)


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: Any = None,
    log_base: Any = 2,
    sample_weight: ArrayLike | None = None,
    ignore_ties: Any = False,
) -> float:
    """Compute the mean discounted cumulative gain, like scikit-learn's `dcg_score`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Gain of each document, with one row per query.
    y_score : array-like of shape (n_samples, n_labels)
        Finite scores to rank the documents by.
    k : int, optional
        Number of top ranks that count; by default all ranks.
    log_base : float
        Base of the logarithm: gains are divided by the logarithm of 1 + rank.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    ignore_ties : bool
        Whether to rank the last of tied documents first (scikit-learn ranks them in the order that its sort happens to
        produce). Otherwise the gain is the mean over all orders of tied documents.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import dcg_score
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 2)
    9.5
    """
    check_parameters("dcg_score", k=(k, RANKS), log_base=(log_base, BASE), ignore_ties=(ignore_ties, FLAG))
    gains, scores, weights = _read(y_true, y_score, sample_weight)
    _check_table(gains, scores)
    return _mean(_cumulative_gains(gains, scores, k, log_base, ignore_ties, ideal=False)[DCG], weights)


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: Any = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: Any = False,
) -> float:
    """Compute the mean discounted cumulative gain relative to the ideal order, like scikit-learn's `ndcg_score`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Gain of each document, not negative, with one row per query; a row of zeros counts as 0.
    y_score, k, sample_weight, ignore_ties
        As for `dcg_score`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.metrics import ndcg_score
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 2)
    0.7
    """
    check_parameters("ndcg_score", k=(k, RANKS), ignore_ties=(ignore_ties, FLAG))
    gains, scores, weights = _read(y_true, y_score, sample_weight)
    if gains.min() < 0:
        raise ValueError("ndcg_score should not be used on negative y_true values.")
    if gains.ndim > 1 and gains.shape[1] <= 1:
        raise ValueError(
            f"Computing NDCG is only meaningful when there is more than 1 document. Got {gains.shape[1]} instead."
        )
    _check_table(gains, scores)
    sums = _cumulative_gains(gains, scores, k, 2, ignore_ties, ideal=True)
    dcg, ideal = sums[DCG], sums[IDEAL]
    return _mean(np.divide(dcg, ideal, out=np.zeros(ideal.size), where=ideal != 0), weights)


def _cumulative_gains(gains: Any, scores: Any, k: Any, log_base: Any, ignore_ties: Any, *, ideal: bool) -> Floats:
    """Return the discounted cumulative gain of each row."""
    discounts = np.log(log_base) / np.log(np.arange(gains.shape[1]) + 2)
    cuts = np.array([TO_THE_END if k is None else min(int(k), TO_THE_END)])
    found = np.empty((QUERY_SUMS, len(gains)))

    def use(rows: slice, relevant: Any, sums: Floats) -> None:
        found[:, rows] = sums[0]

    starts = Queries.of_rows(*gains.shape).starts
    ranked = as_ranks("y_score", scores).reshape(-1)
    sum_by_query(starts, gains.reshape(-1), ranked, cuts, discounts, use, ideal=ideal, split=bool(ignore_ties))
    return found


def _mean(values: Floats, weights: Floats | None) -> float:
    return float(np.average(values, weights=weights))


# Checks ---------------------------------------------------------------------------------------------------------------


def _read(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
    """Return gains and scores, which must be finite, and the row weights."""
    arrays = as_dense("y_true", y_true), as_dense("y_score", y_score)
    gains, scores = (as_numbers(name, each) for name, each in zip(("y_true", "y_score"), arrays, strict=True))
    check_same_rows(gains, scores, sample_weight)
    return gains, scores, as_row_weights(sample_weight, len(gains))


def _check_table(gains: NDArray[Any], scores: NDArray[Any]) -> None:
    """Raise unless each row has several documents, and one score for each document."""
    if gains.ndim != 2 or gains.shape[1] < 2:
        raise ValueError(f"Only {SEVERAL} formats are supported. Got {target_type('y_true', gains)} instead")
    if scores.shape != gains.shape:
        raise ValueError(f"y_score must have the shape of y_true, {gains.shape}, got {scores.shape}")
