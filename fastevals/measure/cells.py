"""Metrics of the four cells of a binary confusion matrix, as numbers or arrays.

Each is written once, in NumPy, for one matrix, a stack of matrices, or every threshold of a ranking. A zero
denominator gives NaN. Symbols as in Zhou, *Machine Learning*, section 2.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.counts import Cells

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "cohen_kappa",
    "error_rate",
    "expected_cost",
    "f_score",
    "false_negative_rate",
    "false_positive_rate",
    "informedness",
    "jaccard",
    "matthews",
    "precision",
    "ratio",
    "recall",
    "specificity",
]


def ratio(numerator: Any, denominator: Any) -> NDArray[np.float64]:
    """Divide, with NaN for 0 / 0 and no warning."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.true_divide(numerator, denominator))


def accuracy(cells: Cells) -> NDArray[np.float64]:
    """Share of rows predicted right (2.5)."""
    return ratio(cells.tp + cells.tn, sum(cells))


def error_rate(cells: Cells) -> NDArray[np.float64]:
    """Share of rows predicted wrong (2.4)."""
    return ratio(cells.fp + cells.fn, sum(cells))


def expected_cost(
    cells: Cells, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None
) -> NDArray[np.float64]:
    """Cost of a row, on average: p FNR cost_fn + (1 - p) FPR cost_fp, where p is `prior` or the positives' share."""
    if prior is None:
        return ratio(cost_fn * cells.fn + cost_fp * cells.fp, sum(cells))
    return prior * cost_fn * false_negative_rate(cells) + (1 - prior) * cost_fp * false_positive_rate(cells)


def precision(cells: Cells) -> NDArray[np.float64]:
    """Share of predicted positives that are positive (2.8)."""
    return ratio(cells.tp, cells.tp + cells.fp)


def recall(cells: Cells) -> NDArray[np.float64]:
    """Share of positives that are predicted positive (2.9)."""
    return ratio(cells.tp, cells.tp + cells.fn)


def specificity(cells: Cells) -> NDArray[np.float64]:
    """Share of negatives that are predicted negative."""
    return ratio(cells.tn, cells.tn + cells.fp)


def false_positive_rate(cells: Cells) -> NDArray[np.float64]:
    """Share of negatives that are predicted positive (2.19)."""
    return ratio(cells.fp, cells.tn + cells.fp)


def false_negative_rate(cells: Cells) -> NDArray[np.float64]:
    """Share of positives that are predicted negative (2.24)."""
    return ratio(cells.fn, cells.tp + cells.fn)


def f_score(cells: Cells, beta: float = 1.0) -> NDArray[np.float64]:
    """Weighted harmonic mean of precision and recall (2.11), from counts: 0 where tp = 0 but there was an error."""
    b = beta * beta
    gained = (1 + b) * cells.tp
    return ratio(gained, gained + b * cells.fn + cells.fp)


def jaccard(cells: Cells) -> NDArray[np.float64]:
    """Intersection over union of the predicted and the true positives."""
    return ratio(cells.tp, cells.tp + cells.fp + cells.fn)


def balanced_accuracy(cells: Cells) -> NDArray[np.float64]:
    """Mean of recall and specificity."""
    return (recall(cells) + specificity(cells)) / 2


def informedness(cells: Cells) -> NDArray[np.float64]:
    """Recall + specificity - 1, Youden's J."""
    return recall(cells) - false_positive_rate(cells)


def _balanced(cells: Cells) -> Cells:
    """Give cells of which products of four neither overflow nor vanish.

    Integers below 2**31 stay; larger ones become floats, and floats are scaled by a power of two, which is exact.
    """
    cells = Cells(*map(np.asarray, cells))
    total = sum(cells)
    if total.dtype.kind != "f" and total.max(initial=0) < 2**31:
        return cells
    exponent = np.frexp(total.astype(np.float64))[1]
    return Cells(*(np.ldexp(cell.astype(np.float64), -exponent) for cell in cells))


def matthews(cells: Cells) -> NDArray[np.float64]:
    """Correlation of truth and prediction (Matthews 1975, doi:10.1016/0005-2795(75)90109-9)."""
    tp, fp, fn, tn = _balanced(cells)
    variances = np.asarray((tp + fn) * (tn + fp), dtype=np.float64) * ((tp + fp) * (tn + fn))
    return np.clip(ratio(tp * tn - fp * fn, np.sqrt(variances)), -1.0, 1.0)


def cohen_kappa(cells: Cells) -> NDArray[np.float64]:
    """Agreement beyond chance (Cohen 1960, doi:10.1177/001316446002000104)."""
    tp, fp, fn, tn = _balanced(cells)
    return ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
