"""From replicates to confidence intervals.

Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, chapters 13 and 14; Davison, A. C. and
Hinkley, D. V. (1997), *Bootstrap Methods and their Application*, chapter 5. Quantiles are interpolated as SciPy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.results import Interval

__all__ = ["METHODS", "acceleration", "confidence_interval"]

Floats = NDArray[np.float64]


def acceleration(values: Floats, times: NDArray[np.int64]) -> float:
    """Give BCa's acceleration: a sixth of the skewness of the jackknife.

    Parameters
    ----------
    values : ndarray of shape (n_cells,)
        The metric without one row of each cell.
    times : ndarray of shape (n_cells,)
        Rows of the cells: each has that value.

    Returns
    -------
    float
        NaN if all values are equal.
    """
    values, times = values[times > 0], times[times > 0]
    if np.ptp(values) == 0:
        return math.nan
    influence = np.average(values, weights=times) - values
    return float(np.dot(times, influence**3) / (6 * np.dot(times, influence**2) ** 1.5))


def confidence_interval(
    method: str,
    replicates: Floats,
    estimate: float,
    *,
    confidence_level: float,
    alternative: str,
    skew: float = math.nan,
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
        "less" has no lower end, "greater" no upper.
    skew : float
        The acceleration, for BCa.

    Returns
    -------
    Interval
        Both ends NaN where the method has none: no replicate, or for BCa all on one side of the estimate.
    """
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    if not replicates.size:
        return Interval(math.nan, math.nan)
    low, high = METHODS[method](replicates, estimate, tail, skew)
    if math.isnan(low + high):
        return Interval(math.nan, math.nan)
    return Interval(-math.inf if alternative == "less" else low, math.inf if alternative == "greater" else high)


def _quantiles(replicates: Floats, *shares: float) -> tuple[float, ...]:
    if any(map(math.isnan, shares)):
        return (math.nan,) * len(shares)
    return tuple(np.quantile(replicates, shares).tolist())


def _percentile(replicates: Floats, estimate: float, tail: float, skew: float) -> tuple[float, ...]:
    return _quantiles(replicates, tail, 1 - tail)


def _basic(replicates: Floats, estimate: float, tail: float, skew: float) -> tuple[float, ...]:
    low, high = _quantiles(replicates, tail, 1 - tail)
    return 2 * estimate - high, 2 * estimate - low


def _normal(replicates: Floats, estimate: float, tail: float, skew: float) -> tuple[float, ...]:
    from scipy.special import ndtri

    if replicates.size < 2:
        return math.nan, math.nan
    center, reach = 2 * estimate - float(replicates.mean()), float(ndtri(1 - tail) * replicates.std(ddof=1))
    return center - reach, center + reach


def _bca(replicates: Floats, estimate: float, tail: float, skew: float) -> tuple[float, ...]:
    from scipy.special import ndtr, ndtri

    below, up_to = np.count_nonzero(replicates < estimate), np.count_nonzero(replicates <= estimate)
    bias = float(ndtri((below + up_to) / (2 * replicates.size)))  # ties count half
    if not math.isfinite(bias):
        return math.nan, math.nan
    ends = []
    for deviate in (float(ndtri(tail)), -float(ndtri(tail))):
        moved = bias + deviate
        ends.append(float(ndtr(bias + moved / (1 - skew * moved))))
    return _quantiles(replicates, *ends)


METHODS: dict[str, Callable[[Floats, float, float, float], tuple[float, ...]]] = {
    "BCa": _bca,
    "percentile": _percentile,
    "basic": _basic,
    "normal": _normal,
}
