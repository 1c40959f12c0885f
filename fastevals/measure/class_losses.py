"""Metrics of class probabilities that are means over rows, and the most probable class of each row.

A loss is a function of the scores, of shape (n_classes, n_samples), and the class number of each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import chunks, run
from fastevals._kernels import class_rows
from fastevals._options import check_integer
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals.measure.probability_metrics import FRACTION, LARGE_ROWS, sum_exactly

Floats = NDArray[np.float64]
NUMBA_LACKS = {"e": np.float32, "g": np.float64}  # types of scores, and the types that they are read as
RowLosses = Callable[..., Floats]  # of scores, class numbers and the metric's options


def checked_top_k(k: Any = 3) -> dict[str, Any]:
    """Check the options of `top_k_accuracy`."""
    return {"k": check_integer("k", k, low=1)}


def multiclass_log_loss(scores: NDArray[Any], codes: NDArray[Any]) -> Floats:
    """Return the mean of -log(probability of the true class), natural logarithm.

    It is inf if a true class was given probability 0: nothing is clipped.
    """
    own = _of_rows(scores, codes, class_rows.scores_of_true, np.float64)
    with np.errstate(divide="ignore"):
        losses: Floats = -np.log(own)
    return losses


def multiclass_brier_score(scores: NDArray[Any], codes: NDArray[Any]) -> Floats:
    """Return the mean over rows of the squared distance between the probabilities and the truth (Brier 1950).

    The squares are added up over classes, so the score is at most 2; for two classes it is twice the `brier_score` of
    either class.
    """
    return _of_rows(scores, codes, class_rows.squared_distances)


def ranked_probability_score(scores: NDArray[Any], codes: NDArray[Any]) -> Floats:
    """Return the mean squared distance between cumulative probabilities and cumulative truth, for ordered classes.

    Squares are added up over classes except the last one, and divided by their number, so the score is at most 1
    (Epstein 1969, doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2).
    """
    return _of_rows(scores, codes, class_rows.squared_distances_of_sums) / (len(scores) - 1)


def top_k_accuracy(scores: NDArray[Any], codes: NDArray[Any], k: int = 3) -> Floats:
    """Return the share of rows whose class is among the k classes with the highest scores.

    Of classes with equal scores, the first ones count as higher.
    """
    scores = readable(scores)
    own = _of_rows(scores, codes, class_rows.scores_of_true, scores.dtype)
    ranks = np.empty(codes.size, dtype=np.int32)

    def rank(part: slice) -> None:
        class_rows.ranks_of_true(scores, codes, part.start, own[part], ranks[part])

    run(rank, chunks(codes.size), compiles=(class_rows.ranks_of_true, scores.dtype, codes.dtype))
    return (ranks < k).astype(np.float64)


def predicted_classes(scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the number of the most probable class of each row, the first one of equals, and its score."""
    scores = readable(scores)
    n = scores.shape[1]
    predicted = np.empty(n, dtype=np.uint8 if len(scores) <= 256 else np.uint16)
    highest = np.empty(n, dtype=scores.dtype)

    def predict(part: slice) -> None:
        class_rows.most_probable(scores, part.start, highest[part], predicted[part])

    run(predict, chunks(n), compiles=(class_rows.most_probable, scores.dtype, predicted.dtype))
    return predicted, highest


def mean_over_rows(losses: Floats, weights: Floats | None) -> float:
    """Return the mean of losses, rounded once for rows without weights; NaN without rows."""
    if not losses.size:
        return math.nan
    if np.isinf(losses).any():
        return math.inf
    if weights is not None:
        return float(np.average(losses, weights=weights))
    if losses.size > LARGE_ROWS or not losses.max() < EXACT_INTEGER:
        return float(losses.mean())
    ones = np.ones(min(losses.size, 1 << 20), dtype=np.int64)
    parts = [losses[start : start + ones.size] for start in range(0, losses.size, ones.size)]
    total = sum(sum_exactly(part, ones[: part.size]) for part in parts)
    return float(Fraction(total, losses.size << FRACTION))


def _of_rows(scores: NDArray[Any], codes: NDArray[Any], kernel: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return what a kernel writes for each row."""
    scores = readable(scores)
    values = np.empty(codes.size, dtype=dtype)

    def write(part: slice) -> None:
        kernel(scores, codes, part.start, values[part])

    run(write, chunks(codes.size), compiles=(kernel, scores.dtype, codes.dtype))
    return values


def readable(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores of a type that kernels can read."""
    dtype = NUMBA_LACKS.get(scores.dtype.char)
    return scores if dtype is None else scores.astype(dtype)
