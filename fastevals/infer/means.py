"""Intervals for accuracies and for mean or median errors, over all rows or for each part of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.proportions import share_interval
from fastevals.results import NOWHERE, Alternative, Interval, check_confidence_level, tail_probability

Floats = NDArray[np.float64]


def median_interval(targets: NDArray[Any], values: NDArray[Any], level: float) -> Interval:
    """Return a distribution-free interval for the median absolute error; its ends are two of the errors.

    Source: David and Nagaraja (2003), *Order Statistics*, section 7.1.
    """
    from scipy.stats import binom

    errors = np.abs(np.subtract(values, targets, dtype=np.float64))
    below = max(int(binom.ppf(check_confidence_level(level)[1] / 2, errors.size, 0.5)), 1)
    errors.partition([below - 1, errors.size - below])
    return Interval(float(errors[below - 1]), float(errors[errors.size - below]))


def skewed_interval(
    value: float, error: float, skewness: float, degrees: float, level: float, alternative: Alternative = "two-sided"
) -> Interval:
    """Return Hall's interval for a mean, total or ratio, from its standard error and the skewness of its distribution.

    A transformation removes the skewness of the t statistic: Hall, P. (1992), "On the Removal of Skewness by
    Transformation", Journal of the Royal Statistical Society B 54, 221-228.
    """
    from scipy.stats import t

    if not degrees:
        return NOWHERE
    margin = float(t.isf(tail_probability(check_confidence_level(level)[1], alternative), degrees))
    low, high = (value - error * _unskewed(end, skewness) for end in (margin, -margin))
    return Interval(-math.inf if alternative == "less" else low, math.inf if alternative == "greater" else high)


def _unskewed(place: float, skewness: float) -> float:
    """Return the t statistic that Hall's transformation maps to `place`."""
    if abs(skewness) < 1e-6:  # the limit of the formula, whose digits cancel
        return place
    return 3 / skewness * (math.cbrt(1 + skewness * (place - skewness / 6)) - 1)


def accuracies(
    true: NDArray[Any], predicted: NDArray[Any], codes: NDArray[np.intp], weights: Floats | None, n: int, level: float
) -> tuple[Floats, Floats]:
    """Return the accuracy of each of n parts, with Wilson's interval for the effective number of rows.

    That number is (sum of weights)**2 / (sum of squared weights): Kish (1965), *Survey Sampling*, section 8.2.
    """
    weights = np.ones(codes.size) if weights is None else weights / weights.max()
    is_right = true == predicted
    right, wrong = (np.bincount(codes, np.where(each, weights, 0.0), n) for each in (is_right, ~is_right))
    total = np.bincount(codes, weights, n)
    rows = total / np.bincount(codes, np.square(weights), n)  # effective rows per unit of weight
    ends = share_interval(rows * right, rows * wrong, "wilson", check_confidence_level(level)[1], "two-sided")
    return right / total, np.stack(ends, axis=1)


def root_mean_squares(
    true: NDArray[Any], predicted: NDArray[Any], codes: NDArray[np.intp], weights: Floats | None, n: int, level: float
) -> tuple[Floats, Floats]:
    """Return the root mean squared error of each part, and its interval: the roots of the MSE interval's ends."""
    errors = np.abs(np.subtract(true, predicted, dtype=np.float64))
    unit = float(errors.max()) or 1.0  # so that squares neither overflow nor underflow
    means, ends = _means(np.square(errors / unit), codes, weights, n, level, (0.0, math.inf))
    return unit * np.sqrt(means), unit * np.sqrt(ends)


def _means(
    values: Floats, codes: NDArray[np.intp], weights: Floats | None, n: int, level: float, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the mean of each part and its t interval, which is NaN for a single row."""
    from scipy.stats import t

    weights = np.ones(values.size) if weights is None else weights / weights.max()
    rows, total = np.bincount(codes, minlength=n), np.bincount(codes, weights, n)
    means = np.bincount(codes, weights * values, n) / total
    squares = np.bincount(codes, np.square(weights * (values - means[codes])), n)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(squares * rows / (rows - 1)) / total
        margin = t.isf(check_confidence_level(level)[1] / 2, rows - 1) * errors
    return means, np.clip(np.stack([means - margin, means + margin], axis=1), *bounds)
