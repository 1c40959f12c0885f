"""Metrics of predicted numbers as functions of sums of errors, for one model or many."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class RegressionSums(NamedTuple):
    """Sums over rows, weighted by the rows' weights: enough for all metrics except the median.

    Attributes
    ----------
    weight : float or ndarray
        Number of rows or sum of weights.
    scatter : float or ndarray
        Squared deviations of the targets from their mean.
    square, over, under, relative : ndarray of shape (n_models,)
        Sums of: squared errors; prediction minus target, if positive; target minus prediction, if positive; absolute
        error divided by absolute target. If the models' rows differ, `weight` and `scatter` are arrays, too.
    unit : float
        The power of two that targets and predictions were multiplied by; it does not affect relative errors.
    """

    weight: Any
    scatter: Any
    square: Floats
    over: Floats
    under: Floats
    relative: Floats
    unit: float = 1.0


@np.errstate(over="ignore")
def mean_squared_error(sums: RegressionSums) -> Floats:
    """Mean of the squared errors."""
    return np.asarray(sums.square / sums.weight / sums.unit / sums.unit)


@np.errstate(over="ignore")
def root_mean_squared_error(sums: RegressionSums) -> Floats:
    """Square root of the mean of the squared errors."""
    return np.asarray(np.sqrt(sums.square / sums.weight) / sums.unit)


@np.errstate(over="ignore")
def mean_absolute_error(sums: RegressionSums) -> Floats:
    """Mean of the absolute errors."""
    return np.asarray((sums.over + sums.under) / sums.weight / sums.unit)


@np.errstate(over="ignore")
def mean_absolute_percentage_error(sums: RegressionSums) -> Floats:
    """Mean of the absolute errors, each divided by the absolute target, or by 2**-52 if the target is smaller."""
    return np.asarray(sums.relative / sums.weight)


@np.errstate(over="ignore")
def r2(sums: RegressionSums) -> Floats:
    """Share of the targets' variance that the predictions explain: 1 - squared errors / squared deviations."""
    defined = (np.asarray(sums.scatter) > 0) & np.isfinite(sums.scatter)
    return np.asarray(np.where(defined, 1 - sums.square / np.where(defined, sums.scatter, 1.0), math.nan))


@np.errstate(over="ignore")
def pinball_loss(sums: RegressionSums, quantile: float = 0.5) -> Floats:
    """Mean of absolute errors, each times `quantile` if the prediction is too low, or 1 - `quantile` if too high."""
    # A sum whose factor is zero is left out, even if the sum is infinite.
    sides = [share * side for share, side in ((quantile, sums.under), (1 - quantile, sums.over)) if share]
    return np.asarray(sum(sides) / sums.weight / sums.unit)


@np.errstate(over="ignore", invalid="ignore")
def mean_error(sums: RegressionSums) -> Floats:
    """Mean of prediction minus target (the signed bias): above 0 if predictions are too high on average."""
    return np.asarray((sums.over - sums.under) / sums.weight / sums.unit)


@np.errstate(over="ignore")
def median_absolute_error(targets: Floats, predictions: Floats) -> float:
    """Middle absolute error, or the mean of the middle two; it needs rows, because sums are not enough."""
    return float(np.median(np.abs(predictions - targets)))


# Losses of rows, whose means are metrics ----------------------------------------------------------------------------

LEAST_DENOMINATOR = 2.0**-52  # smallest target that an error is divided by


class RowLoss(NamedTuple):
    """What a row adds to a metric's sum."""

    of_rows: Callable[..., Floats]  # from errors, targets and the metric's options
    of_sums: Callable[..., tuple[float, ...]]  # from options: weights of the square, over, under and relative sums


SQUARED = RowLoss(lambda errors, targets: errors * errors, lambda: (1, 0, 0, 0))
ABSOLUTE = RowLoss(lambda errors, targets: np.abs(errors), lambda: (0, 1, 1, 0))
SIGNED = RowLoss(lambda errors, targets: errors, lambda: (0, 1, -1, 0))
RELATIVE = RowLoss(
    lambda errors, targets: np.abs(errors) / np.maximum(np.abs(targets), LEAST_DENOMINATOR), lambda: (0, 0, 0, 1)
)
PINBALL = RowLoss(
    lambda errors, targets, quantile=0.5: np.where(errors < 0, -quantile * errors, (1 - quantile) * errors),
    lambda quantile=0.5: (0, 1 - quantile, quantile, 0),
)
MEDIAN = median_absolute_error.__name__  # the only metric that needs rows
OF_MEANS = (mean_squared_error, mean_absolute_error, mean_absolute_percentage_error, pinball_loss)  # of row losses
OF_SQUARES = (mean_squared_error, root_mean_squared_error, r2)
OF_SUMS = (*OF_SQUARES, mean_absolute_error, mean_absolute_percentage_error, mean_error)
