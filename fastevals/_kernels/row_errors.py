"""The error of each row: what metrics of targets are means of, where NumPy would pass over the rows many times.

Rows that logarithms here are too short for (numbers that a metric is not for, ratios near the ends of the floats) have
NaN.
"""

import math

import numpy as np

from fastevals._kernels.jit import kernel
from fastevals._kernels.logarithms import exponential, log_ratio
from fastevals._kernels.regression import EPSILON

TINY, HUGE = 1e-300, 1e300
FAR = 700.0  # exponents from here on may overflow


@kernel
def relative_errors(y, p, errors):
    """Write |y - p| / |y|."""
    for i in range(y.size):
        errors[i] = abs(y[i] - p[i]) / max(abs(y[i]), EPSILON)


@kernel
def pinball_losses(y, p, losses, quantile):
    """Write (y - p) times the quantile where that is positive, else times quantile - 1."""
    for i in range(y.size):
        error = y[i] - p[i]
        losses[i] = error * (quantile if error >= 0.0 else quantile - 1.0)


@kernel
def squared_log_errors(y, p, squares):
    """Write log((1 + y) / (1 + p))^2."""
    for i in range(y.size):
        a, b = 1.0 + y[i], 1.0 + p[i]
        ratio = a / b
        log = log_ratio(a, b, y[i] - p[i])
        known = (a > 0.0) & (b > 0.0) & (ratio > TINY) & (ratio < HUGE)
        squares[i] = log * log if known else math.nan


@kernel
def poisson_deviances(y, p, deviances):
    """Write y log(y / p) - (y - p): half the deviances."""
    for i in range(y.size):
        ratio, less = y[i] / p[i], y[i] - p[i]
        known = (p[i] > 0.0) & ((ratio > TINY) | (y[i] == 0.0)) & (ratio < HUGE)
        deviances[i] = y[i] * log_ratio(y[i], p[i], less) - less if known else math.nan


@kernel
def gamma_deviances(y, p, deviances):
    """Write (y - p) / p - log(y / p): half the deviances."""
    for i in range(y.size):
        ratio, less = y[i] / p[i], y[i] - p[i]
        known = (p[i] > 0.0) & (ratio > TINY) & (ratio < HUGE)
        deviances[i] = less / p[i] - log_ratio(y[i], p[i], less) if known else math.nan


@kernel
def inverse_gaussian_deviances(y, p, deviances):
    """Write (y - p)^2 / (2 y p^2): half the deviances."""
    for i in range(y.size):
        relative = (y[i] - p[i]) / p[i]
        deviances[i] = relative * relative / (2.0 * y[i]) if (y[i] > 0.0) & (p[i] > 0.0) else math.nan


@kernel
def root_deviances(y, p, deviances):
    """Write 2 (sqrt(y) - sqrt(p))^2 / sqrt(p): half the deviances with power 1.5."""
    for i in range(y.size):
        root = np.sqrt(p[i])
        less = (y[i] - p[i]) / (np.sqrt(y[i]) + root)
        deviances[i] = 2.0 * less * less / root if (y[i] >= 0.0) & (p[i] > 0.0) else math.nan


@kernel
def tweedie_deviances(y, p, deviances, power, least):
    """Write p^a ((y / p)^a - 1) / a - (y - p) p^(a - 1), over 1 - power, with a = 2 - power: half the deviances.

    Targets are `least` or more; the a-th power of those below zero is taken to be zero.
    """
    a = 2.0 - power
    for i in range(y.size):
        positive = y[i] > 0.0
        ratio, less = y[i] / p[i], y[i] - p[i]
        rise = a * log_ratio(y[i] if positive else p[i], p[i], less if positive else 0.0)
        size = a * log_ratio(p[i], 1.0, p[i] - 1.0)
        known = (p[i] > TINY) & (p[i] < HUGE) & (y[i] >= least) & (abs(size) < FAR) & (abs(rise) < FAR)
        known &= (abs(ratio) < HUGE) & ((ratio > TINY) | (not positive))
        risen = exponential(rise)[1] if positive else -1.0
        deviance = (risen / a - less / p[i]) * exponential(size)[0] / (1.0 - power)
        deviances[i] = deviance if known else math.nan
