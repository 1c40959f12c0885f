"""Metrics computed from the four cells of a binary confusion matrix; cells are numbers or arrays.

Each metric is written once, in NumPy, for one matrix, a stack of matrices, or every threshold of a ranking. Most are a
`Quotient` of numerator and denominator. For whole counts both are integers, so the value is rounded once and values can
be compared exactly. A zero denominator gives NaN. Symbols follow Zhou, *Machine Learning*, section 2.3.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import SMALL_ROWS, Cells, UsualCells

Floats = NDArray[np.float64]
Parts = tuple[Any, Any]

LEAST_POWER, MOST_POWER = -480, 1000  # binary exponents of sums of weights that need no scaling
FAR_APART = 2.0**-240  # products of four factors this small keep full precision


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Divide without a warning; 0 / 0 gives NaN."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.asarray(np.true_divide(numerator, denominator))


class Quotient:
    """A metric computed by a single division.

    Parameters
    ----------
    parts : callable
        Given cells and the metric's options, returns numerator and denominator, which are exact for Python's integers.
    unit : callable, optional
        Scales the cells first; by default `in_unit`.
    """

    def __init__(self, parts: Callable[..., Parts], unit: Callable[[Cells], Cells] | None = None) -> None:
        self.parts, self._unit = parts, unit or in_unit
        functools.update_wrapper(self, parts)

    def __call__(self, cells: Cells, *args: Any, **options: Any) -> Floats:
        """Divide the parts."""
        return ratio(*self.parts(self._unit(cells), *args, **options))


# Units ------------------------------------------------------------------------------------------------------------


def in_unit(cells: Cells) -> Cells:
    """Scale very small cells by a power of two, so that shares of them have a float's full precision."""
    cells = as_counts(cells)
    if _need_no_unit(cells) or max(cell.min(initial=1.0) for cell in cells) > 2.0**LEAST_POWER:
        return cells
    exponent = np.frexp(np.maximum.reduce(np.broadcast_arrays(*cells)))[1]
    shift = np.where(exponent < LEAST_POWER, -exponent, 0)
    return Cells(*(np.ldexp(cell, shift) for cell in cells)) if shift.any() else cells


def as_counts(cells: Cells) -> Cells:
    """Return cells as arrays; integers become floats unless all of them are small."""
    if isinstance(cells, UsualCells):
        return cells
    cells = Cells(*map(np.asarray, cells))
    if (
        all(cell.dtype.kind in "iub" for cell in cells)
        and 4 * max(int(cell.max(initial=0)) for cell in cells) < SMALL_ROWS
    ):
        return cells
    return Cells(*(cell.astype(np.float64, copy=False) for cell in cells))


def below_overflow(cells: Cells) -> Cells:
    """Scale large cells down, so that even a few times the sum of true positives and errors is finite."""
    if _need_no_unit(cells := in_unit(cells)):
        return cells
    large = np.maximum(np.maximum(cells.tp, cells.fp), cells.fn) > 2.0**MOST_POWER
    return Cells(*(np.ldexp(cell, np.where(large, MOST_POWER - 1024, 0)) for cell in cells)) if large.any() else cells


def _need_no_unit(cells: Cells) -> bool:
    """Return whether cells are integers, or are known to be far from the ends of a float's range."""
    return isinstance(cells, UsualCells) or cells.tp.dtype.kind != "f"


def shift_of(largest: Any) -> Any:
    """Return the binary exponent of the factor that moves `largest` away from the ends of a float's range.

    Large floats are scaled down only as far as their sum requires, because other values may be very small.
    """
    exponent = np.frexp(largest)[1]
    return np.where(exponent > MOST_POWER, MOST_POWER - 1024, np.where(exponent < LEAST_POWER, -exponent, 0))


def added_up(cells: Cells, *, keepdims: bool = False) -> Cells:
    """Add up the cells of the classes, which are on the last axis; floats are scaled so that the sum is finite."""
    if cells.tp.dtype.kind == "f":
        shift = shift_of(np.maximum.reduce(cells).max(axis=-1, keepdims=True))
        cells = Cells(*(np.ldexp(cell, shift) for cell in cells))
    return Cells(*(cell.sum(axis=-1, keepdims=keepdims) for cell in cells))


def by_class(cells: Cells) -> Cells:
    """Scale the floats of each true class by a power of two so that its larger cell is near 1; keep integers as is."""
    tp, fp, fn, tn = cells = as_counts(cells)
    if _need_no_unit(cells) or _are_near_one((tp + fn, tn + fp), 2.0**480):
        return cells
    up, down = (-np.frexp(np.maximum(*pair))[1] for pair in ((tp, fn), (fp, tn)))
    return Cells(np.ldexp(tp, up), np.ldexp(fp, down), np.ldexp(fn, up), np.ldexp(tn, down))


def by_prediction(cells: Cells) -> Cells:
    """Scale the floats of each predicted class by a power of two, as `by_class` scales those of each true class."""
    return _transposed(by_class(_transposed(as_counts(cells))))


def _transposed(cells: Cells) -> Cells:
    """Exchange truth and prediction."""
    return type(cells)(cells.tp, cells.fn, cells.fp, cells.tn)


def _together(cells: Cells) -> tuple[Cells, Any]:
    """Scale floats so that the largest cell is near 1, and find where products of sums may underflow; keep integers."""
    if cells.tp.dtype.kind != "f" or _are_near_one(_margins(cells), 1 / FAR_APART):
        return cells, False
    largest = np.maximum.reduce(np.broadcast_arrays(*cells))
    far_apart = np.any([(margin > 0) & (margin < FAR_APART * largest) for margin in _margins(cells)], axis=0)
    exponent = -np.frexp(largest)[1]
    return Cells(*(np.ldexp(cell, exponent) for cell in cells)), far_apart


def _are_near_one(totals: Iterable[Any], bound: float) -> bool:
    """Return whether each total is 0 or between 1 / bound and bound, so that products neither over- nor underflow."""
    return all(np.max(each, initial=0) < bound and not ((each > 0) & (each < 1 / bound)).any() for each in totals)


def _margins(cells: Cells) -> tuple[Any, Any, Any, Any]:
    """Return the rows predicted positive, predicted negative, truly positive and truly negative."""
    tp, fp, fn, tn = cells
    return tp + fp, tn + fn, tp + fn, tn + fp


def excess(cells: Cells) -> Any:
    """Return tp tn - fp fn, exact for integers."""
    tp, fp, fn, tn = cells
    return tp * tn - fp * fn


# Shares of rows ---------------------------------------------------------------------------------------------------


@Quotient
def accuracy(cells: Cells) -> Parts:
    """Share of rows predicted right (2.5)."""
    return cells.tp + cells.tn, sum(cells)


@Quotient
def error_rate(cells: Cells) -> Parts:
    """Share of rows predicted wrong (2.4)."""
    return cells.fp + cells.fn, sum(cells)


@Quotient
def precision(cells: Cells) -> Parts:
    """Share of predicted positives that are positive (2.8)."""
    return cells.tp, cells.tp + cells.fp


@Quotient
def recall(cells: Cells) -> Parts:
    """Share of positives that are predicted positive (2.9)."""
    return cells.tp, cells.tp + cells.fn


@Quotient
def specificity(cells: Cells) -> Parts:
    """Share of negatives that are predicted negative."""
    return cells.tn, cells.tn + cells.fp


@Quotient
def false_positive_rate(cells: Cells) -> Parts:
    """Share of negatives that are predicted positive (2.19)."""
    return cells.fp, cells.tn + cells.fp


@Quotient
def false_negative_rate(cells: Cells) -> Parts:
    """Share of positives that are predicted negative (2.24)."""
    return cells.fn, cells.tp + cells.fn


@functools.partial(Quotient, unit=below_overflow)
def f_score(cells: Cells, beta: float = 1) -> Parts:
    """Weighted harmonic mean of precision and recall (2.11); 0 if there are errors but no true positives."""
    b: Any = beta * beta
    one: Any = 1
    if isinstance(b, float) and b > 2.0**10:  # multiply all terms by a power of two, so that nothing overflows
        one = math.ldexp(1.0, -math.frexp(1 + b)[1])
        b *= one
    gained = (one + b) * cells.tp
    return gained, gained + b * cells.fn + one * cells.fp


@Quotient
def jaccard(cells: Cells) -> Parts:
    """Intersection over union of the rows predicted positive and the positive rows."""
    return cells.tp, cells.tp + cells.fp + cells.fn


@Quotient
def negative_predictive_value(cells: Cells) -> Parts:
    """Share of predicted negatives that are negative."""
    return cells.tn, cells.tn + cells.fn


@Quotient
def prevalence(cells: Cells) -> Parts:
    """Share of rows that are positive."""
    return cells.tp + cells.fn, sum(cells)


@Quotient
def prediction_rate(cells: Cells) -> Parts:
    """Share of rows that are predicted positive."""
    return cells.tp + cells.fp, sum(cells)


def fowlkes_mallows(cells: Cells) -> Floats:
    """Geometric mean of precision and recall (Fowlkes and Mallows 1983, doi:10.1080/01621459.1983.10478008)."""
    return np.sqrt(precision(cells)) * np.sqrt(recall(cells))


def fowlkes_mallows_parts(cells: Cells) -> Parts:
    """Return numerator and denominator of the square; squaring keeps the order of thresholds."""
    tp, fp, fn = (np.asarray(cell).astype(object) for cell in cells[:3])
    return tp * tp, (tp + fp) * (tp + fn)


# Both classes -----------------------------------------------------------------------------------------------------


@functools.partial(Quotient, unit=by_class)
def balanced_accuracy(cells: Cells) -> Parts:
    """Mean of recall and specificity."""
    tp, fp, fn, tn = cells
    n_pos, n_neg = tp + fn, tn + fp
    return tp * n_neg + tn * n_pos, 2 * n_pos * n_neg


@functools.partial(Quotient, unit=by_class)
def informedness(cells: Cells) -> Parts:
    """Recall + specificity - 1 (Youden's J)."""
    return excess(cells), (cells.tp + cells.fn) * (cells.tn + cells.fp)


@functools.partial(Quotient, unit=by_prediction)
def markedness(cells: Cells) -> Parts:
    """Precision + negative predictive value - 1 (Powers 2011, arXiv:2010.16061)."""
    return excess(cells), (cells.tp + cells.fp) * (cells.tn + cells.fn)


@functools.partial(Quotient, unit=by_class)
def positive_likelihood_ratio(cells: Cells) -> Parts:
    """Recall / false positive rate; infinite if no negatives are predicted positive."""
    return cells.tp * (cells.tn + cells.fp), cells.fp * (cells.tp + cells.fn)


@functools.partial(Quotient, unit=by_class)
def negative_likelihood_ratio(cells: Cells) -> Parts:
    """False negative rate / specificity; infinite if no negatives are predicted negative."""
    return cells.fn * (cells.tn + cells.fp), cells.tn * (cells.tp + cells.fn)


@functools.partial(Quotient, unit=by_class)
def diagnostic_odds_ratio(cells: Cells) -> Parts:
    """Odds of a positive prediction for positives / the same odds for negatives (doi:10.1016/S0895-4356(03)00177-X)."""
    return cells.tp * cells.tn, cells.fp * cells.fn


@functools.partial(Quotient, unit=as_counts)
def cohen_kappa(cells: Cells) -> Parts:
    """Agreement beyond chance (Cohen 1960, doi:10.1177/001316446002000104)."""
    near_one, far_apart = _together(cells)
    predicted, left, n_pos, n_neg = _margins(near_one)
    agreement, expected = 2 * excess(near_one), predicted * n_neg + n_pos * left
    if not np.any(far_apart):
        return agreement, expected
    predicted, left, n_pos, n_neg = _margins(cells)  # both results are divided by the product of the class sizes
    far_apart = far_apart & (n_pos > 0) & (n_neg > 0)
    return (
        np.where(far_apart, 2 * informedness(cells), agreement),
        np.where(far_apart, ratio(predicted, n_pos) + ratio(left, n_neg), expected),
    )


def matthews(cells: Cells) -> Floats:
    """Correlation between truth and prediction (Matthews 1975, doi:10.1016/0005-2795(75)90109-9)."""
    cells = as_counts(cells)
    near_one, far_apart = _together(cells)
    predicted, left, n_pos, n_neg = _margins(near_one)
    value = ratio(excess(near_one), np.sqrt(np.asarray(n_pos * n_neg, dtype=np.float64) * (predicted * left)))
    if np.any(far_apart):  # avoid products of very small and very large values
        (predicted, a), (left, b), (n_pos, c), (n_neg, d) = (np.frexp(np.sqrt(each)) for each in _margins(cells))
        with np.errstate(invalid="ignore", over="ignore"):
            factor = np.ldexp(ratio(n_pos * n_neg, predicted * left), c + d - a - b)
            value = np.where(far_apart, informedness(cells) * factor, value)
    return np.clip(value, -1.0, 1.0)


def matthews_parts(cells: Cells) -> Parts:
    """Return numerator and denominator of the correlation's signed square; squaring keeps the order of thresholds."""
    tp, fp, fn, tn = (np.asarray(cell).astype(object) for cell in cells)
    found = excess(Cells(tp, fp, fn, tn))
    return found * abs(found), (tp + fn) * (tn + fp) * (tp + fp) * (tn + fn)


# Costs ------------------------------------------------------------------------------------------------------------


def expected_cost(cells: Cells, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None) -> Floats:
    """Mean cost per row: p FNR cost_fn + (1 - p) FPR cost_fp, where p is `prior` or the share of positives."""
    if prior is not None:
        return prior * cost_fn * false_negative_rate(cells) + (1 - prior) * cost_fp * false_positive_rate(cells)
    cells = in_unit(cells)
    if LEAST_POWER < np.frexp(max(cost_fp, cost_fn))[1] < MOST_POWER:
        return ratio(*cost_parts(cells, cost_fp, cost_fn))
    n = sum(cells)  # divide first, so that nothing over- or underflows
    return cost_fn * ratio(cells.fn, n) + cost_fp * ratio(cells.fp, n)


def cost_parts(cells: Cells, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None) -> Parts:
    """Return total cost and number of rows; with a prior, the total over positive-negative pairs and their number."""
    if prior is None:
        return cost_fn * cells.fn + cost_fp * cells.fp, sum(cells)
    tp, fp, fn, tn = (np.asarray(cell).astype(object) for cell in cells)
    positives, negatives = tp + fn, fp + tn
    return prior * cost_fn * fn * negatives + (1 - prior) * cost_fp * fp * positives, positives * negatives
