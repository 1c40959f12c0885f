"""From replicates to confidence intervals.

Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, chapters 13 and 14; Davison, A. C. and
Hinkley, D. V. (1997), *Bootstrap Methods and their Application*, chapter 5. Quantiles are interpolated as SciPy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.results import Interval

__all__ = ["METHODS", "acceleration", "confidence_interval"]

Floats = NDArray[np.float64]

TIE = 2.0**-50  # values as near, in units of their size, are equal but for rounding


def acceleration(values: Floats, times: NDArray[Any], strata: Sequence[slice] = (slice(None),)) -> Floats:
    """Give BCa's acceleration: a sixth of the skewness of the jackknife, over strata as SciPy adds them up.

    Parameters
    ----------
    values : ndarray of shape (n_cells, ...)
        The metric without one row of each cell; what is undefined is left out.
    times : ndarray of shape (n_cells,)
        Rows of the cells: each has that value.
    strata : sequence of slice
        The cells of each stratum.

    Returns
    -------
    ndarray of shape (...)
        0 if all values are equal.
    """
    times = np.where(np.isfinite(values), times.reshape(-1, *[1] * (values.ndim - 1)), 0)
    values = np.where(times > 0, values, 0.0)
    influence = np.zeros(values.shape)
    for part in strata:
        v, t = values[part], times[part]
        n = np.maximum(t.sum(axis=0), 1)
        low, high = (
            bound(v, axis=0, where=t > 0, initial=start) for bound, start in ((np.min, np.inf), (np.max, -np.inf))
        )
        influence[part] = np.where((t > 0) & (low < high), ((t * v).sum(axis=0) / n - v) * (1 - 1 / n), 0.0)
    unit = np.abs(influence).max(axis=0, initial=0.0)
    influence /= np.where(unit > 0, unit, 1.0)  # so that cubes neither over- nor underflow
    squares = (times * influence**2).sum(axis=0)
    return np.asarray((times * influence**3).sum(axis=0) / np.where(squares > 0, 6 * squares**1.5, 1.0))


def confidence_interval(
    method: str,
    replicates: Floats,
    estimate: float,
    *,
    confidence_level: float,
    alternative: str,
    skew: float = 0.0,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Give the interval of one metric.

    Parameters
    ----------
    method : {"BCa", "percentile", "basic", "normal"}
        The normal interval is that of R's boot: about the estimate less its bias.
    replicates : ndarray of shape (n_resamples,)
        The metric of each, none NaN.
    estimate : float
        The metric of the data.
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less", "greater"}
        With "less" the lower end is that of the bounds, with "greater" the upper.
    skew : float
        The acceleration, for BCa.
    bounds : tuple of float
        What the metric can be: the interval stays within.

    Returns
    -------
    Interval
        Both ends NaN where the method has none: no replicate, or for BCa all on one side of the estimate.
    """
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    if not replicates.size or math.isnan(estimate):
        return Interval(math.nan, math.nan)
    size = abs(estimate) if math.inf in (abs(bounds[0]), abs(bounds[1])) else 1.0
    low, high = METHODS[method](replicates, estimate, tail, skew, TIE * size)
    if math.isnan(low + high):
        return Interval(math.nan, math.nan)
    least, most = bounds
    return Interval(
        least if alternative == "less" else min(max(low, least), most),
        most if alternative == "greater" else max(min(high, most), least),
    )


def _quantiles(replicates: Floats, *shares: float) -> tuple[float, ...]:
    if any(map(math.isnan, shares)):
        return (math.nan,) * len(shares)
    return tuple(np.quantile(replicates, shares).tolist())


def _percentile(replicates: Floats, estimate: float, tail: float, skew: float, tie: float) -> tuple[float, ...]:
    return _quantiles(replicates, tail, 1 - tail)


def _basic(replicates: Floats, estimate: float, tail: float, skew: float, tie: float) -> tuple[float, ...]:
    low, high = _quantiles(replicates, tail, 1 - tail)
    return 2 * estimate - high, 2 * estimate - low


def _normal(replicates: Floats, estimate: float, tail: float, skew: float, tie: float) -> tuple[float, ...]:
    from scipy.special import ndtri

    if replicates.size < 2:
        return math.nan, math.nan
    center, reach = 2 * estimate - float(replicates.mean()), float(ndtri(1 - tail) * replicates.std(ddof=1))
    return center - reach, center + reach


def _bca(replicates: Floats, estimate: float, tail: float, skew: float, tie: float) -> tuple[float, ...]:
    from scipy.special import ndtr, ndtri

    below = np.count_nonzero(replicates < estimate - tie)
    up_to = np.count_nonzero(replicates <= estimate + tie)
    bias = float(ndtri((below + up_to) / (2 * replicates.size)))  # ties count half
    if not math.isfinite(bias):
        return math.nan, math.nan
    ends = []
    for deviate in (float(ndtri(tail)), -float(ndtri(tail))):
        moved = bias + deviate
        ends.append(float(ndtr(bias + moved / (1 - skew * moved))))
    return _quantiles(replicates, *ends)


METHODS: dict[str, Callable[[Floats, float, float, float, float], tuple[float, ...]]] = {
    "BCa": _bca,
    "percentile": _percentile,
    "basic": _basic,
    "normal": _normal,
}
