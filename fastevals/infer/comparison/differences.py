"""Differences of replicates: simultaneous intervals and adjusted p-values (max-T)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.plan import Plan
from fastevals.infer.results import SIDES, TIED
from fastevals.infer.significance.differences import scaled
from fastevals.measure.results import Interval, number_or_array

__all__ = ["differences_of"]

Floats = NDArray[np.float64]

ROUNDING = 2.0**-48  # relative; what is less is rounding


def differences_of(
    values: Floats,
    replicates: Floats,
    pairs: NDArray[np.intp],
    plan: Plan,
    bounds: tuple[float, float],
) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return the number of undefined replicates, and of each pair what a Difference says of it.

    Values have shape (n_models, ...), replicates (n_resamples, n_models, ...). What a metric has of more axes, such as
    a value for each class, is compared by itself: a class that is undefined in many replicates leaves the others be.
    """
    if values.ndim == 1:
        return _differences(values, replicates, pairs, plan, bounds)
    shape = values.shape[1:]
    columns = values.reshape(len(values), -1).T, np.moveaxis(replicates.reshape(*replicates.shape[:2], -1), -1, 0)
    found = [_differences(*column, pairs, plan, bounds) for column in zip(*columns, strict=True)]
    undefined = np.reshape([n for n, _ in found], shape)
    rows = []
    for each in zip(*(rows for _, rows in found), strict=True):
        value, intervals, *others = zip(*each, strict=True)
        low, high = (np.reshape(end, shape) for end in zip(*intervals, strict=True))
        error, pvalue, unadjusted = (np.reshape(other, shape) for other in others)
        rows.append(
            (np.reshape(value, shape), Interval(number_or_array(low), number_or_array(high)), error, pvalue, unadjusted)
        )
    return undefined, rows


def _differences(
    values: Floats,
    replicates: Floats,
    pairs: NDArray[np.intp],
    plan: Plan,
    bounds: tuple[float, float],
) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the number of undefined replicates, and of each pair what a Difference says of it.

    Values have shape (n_models,), replicates (n_resamples, n_models).
    """
    alternative, side = plan.alternative, SIDES[plan.alternative]
    compared = np.unique(pairs)
    values = np.where(np.isfinite(values), values, np.nan)
    defined = compared[~np.isnan(values[compared])]
    kept = np.isfinite(replicates[:, defined]).all(axis=1)
    replicates = replicates[kept]
    n = len(replicates)
    largest = np.full(n, -math.inf)
    found = []
    for i, j in pairs:
        difference = values[i] - values[j]
        with np.errstate(invalid="ignore"):  # of models whose metric is infinite
            deviations = replicates[:, i] - replicates[:, j] - difference
        error = _spread(deviations)
        statistic = float(side(difference))
        if n and np.abs(deviations).max() <= ROUNDING * abs(values[i]):  # alike, or as different in all replicates
            deviations, error = np.zeros(n), 0.0
            alike = abs(difference) <= ROUNDING * abs(values[i])
            difference, statistic = (0.0, 0.0) if alike else (difference, math.copysign(math.inf, statistic))
        else:
            deviations, statistic = side(deviations) / error, statistic / error
        if not math.isnan(statistic):
            np.maximum(largest, deviations, out=largest)
        found.append((float(difference), error, statistic, _pvalue(deviations, statistic)))
    place = math.ceil(Fraction(repr(plan.confidence_level)) * (n + 1)) - 1
    if place >= n:
        check.warn_too_few("n_resamples", n, plan.confidence_level)
    reach = float(np.partition(largest, place)[place]) if place < n else math.inf
    rows = []
    for difference, error, statistic, pvalue in found:
        margin = reach * error if error else 0.0
        ends = [
            0.0 if abs(end) <= TIED * abs(difference) else end for end in (difference - margin, difference + margin)
        ]
        low = bounds[0] if alternative == "less" else max(ends[0], bounds[0])
        high = bounds[1] if alternative == "greater" else min(ends[1], bounds[1])
        interval = Interval(math.nan, math.nan) if math.isnan(statistic) else Interval(float(low), float(high))
        rows.append((difference, interval, error, _pvalue(largest, statistic), pvalue))
    return int(np.count_nonzero(~kept)), rows


def _spread(deviations: Floats) -> float:
    """Give the standard deviation, of deviations too small to be squared as well."""
    if deviations.size < 2:
        return math.nan
    (own,), exponent = scaled(deviations)
    return math.ldexp(float(own.std(ddof=1)), int(exponent[0]))


def _pvalue(deviations: Floats, statistic: float) -> float:
    """Give the share of deviations that reach a statistic, the data's own among them."""
    if math.isnan(statistic):
        return math.nan
    reached = np.count_nonzero(deviations >= statistic - TIED * abs(statistic)) if math.isfinite(statistic) else 0
    if statistic == -math.inf:
        reached = deviations.size
    return (1 + reached) / (1 + deviations.size)
