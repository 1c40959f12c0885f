"""Sums of losses over rows; the means of these losses are metrics of predicted numbers.

Each kernel adds rows to lanes in turn, with one sum for each of about a hundred lanes. A loop over lanes runs in
registers of any width and adds in the same order on every machine (terms may round once more on machines without fused
multiply-add). Rounding errors add up only over the rows of a lane. With several outputs, each row has one value per
output, and the number of lanes is a multiple of the number of outputs.

Rows whose logarithm this module can't compute count as NaN: the metric does not allow their values, or the values or
their ratio are near the ends of a float's range.
"""

import math

import numpy as np

from fastevals._compile.jit import fused_kernel, kernel, kernel_maker
from fastevals._kernels.logarithms import LN2, exponential, log_ratio, log_terms
from fastevals._kernels.regression import EPSILON

TINY, HUGE = 1e-300, 1e300
FAR_POWER = 700.0  # exponents from here on may overflow


@kernel_maker
def adder_of(loss):
    """Make the kernel that adds up a loss over rows."""

    @kernel
    def add(y, p, w, sums, *parameters):
        """Add the loss of each row, times its weight, to sums[1, lanes]."""
        lanes = sums[0]
        for start in range(0, y.size, lanes.size):
            y_part, p_part = y[start : start + lanes.size], p[start : start + lanes.size]
            w_part = None if w is None else w[start : start + lanes.size]
            for i in range(y_part.size):
                lanes[i] += loss(y_part[i], p_part[i], *parameters) * (1.0 if w is None else w_part[i])

    return add


@kernel
def add_deviations(y, p, w, sums, error_origins, target_origins):
    """Add errors minus their lane's origin to sums[0], and the squares to sums[1]; add targets to sums[2] and sums[3].

    Targets are treated like errors. `sums` has shape (4, n_lanes).
    """
    errors, squared_errors, targets, squared_targets = sums[0], sums[1], sums[2], sums[3]
    for start in range(0, y.size, errors.size):
        y_part, p_part = y[start : start + errors.size], p[start : start + errors.size]
        w_part = None if w is None else w[start : start + errors.size]
        for i in range(y_part.size):
            weight = 1.0 if w is None else w_part[i]
            error, target = y_part[i] - p_part[i] - error_origins[i], y_part[i] - target_origins[i]
            errors[i] += error * weight
            squared_errors[i] += error * error * weight
            targets[i] += target * weight
            squared_targets[i] += target * target * weight


@kernel
def largest_error(y, p):
    """Return the largest |y - p|, NaN if any is NaN; bits of non-negative floats are in the floats' order, NaN last."""
    largest = np.int64(0)
    for i in range(y.size):
        largest = max(largest, np.float64(abs(y[i] - p[i])).view(np.int64))
    return np.int64(largest).view(np.float64)


@fused_kernel
def squared_error(y, p):
    """Return (y - p)^2."""
    return (y - p) * (y - p)


@fused_kernel
def absolute_error(y, p):
    """Return |y - p|."""
    return abs(y - p)


@fused_kernel
def relative_error(y, p):
    """Return |y - p| / max(|y|, EPSILON)."""
    return abs(y - p) / max(abs(y), EPSILON)


@fused_kernel
def pinball_loss(y, p, quantile):
    """Return the error y - p, times `quantile` if the error is positive, otherwise times `quantile` - 1."""
    error = y - p
    return error * (quantile if error >= 0.0 else quantile - 1.0)


@fused_kernel
def squared_log_error(y, p):
    """Return log((1 + y) / (1 + p))^2."""
    a, b = 1.0 + y, 1.0 + p
    ratio = a / b
    log = log_ratio(a, b, y - p)
    known = (a > 0.0) & (b > 0.0) & (b < HUGE) & (ratio > TINY) & (ratio < HUGE)
    return log * log if known else math.nan


@fused_kernel
def log_beyond(y, less, power, s, rest):
    """Return y log(y / p) - (y - p) from the logarithm's terms; near y = p this is of second order in s."""
    return (s * less if power == 0.0 else y * (power * LN2 + (s + s)) - less) + y * rest


@fused_kernel
def beyond_log(relative, power, s, rest):
    """Return (y - p) / p - log(y / p) from the logarithm's terms; near y = p this is of second order in s."""
    return (s * relative if power == 0.0 else relative - (power * LN2 + (s + s))) - rest


@fused_kernel
def poisson_deviance(y, p):
    """Return half the Poisson deviance: y log(y / p) - (y - p)."""
    ratio, less = y / p, y - p
    known = (p > 0.0) & (p < HUGE) & ((ratio > TINY) | (y == 0.0)) & (ratio < HUGE)
    power, s, rest = log_terms(y, p, less)
    return log_beyond(y, less, power, s, rest) if known else math.nan


@fused_kernel
def gamma_deviance(y, p):
    """Return half the gamma deviance: (y - p) / p - log(y / p)."""
    ratio, less = y / p, y - p
    known = (p > 0.0) & (p < HUGE) & (ratio > TINY) & (ratio < HUGE)
    power, s, rest = log_terms(y, p, less)
    return beyond_log(less / p, power, s, rest) if known else math.nan


@fused_kernel
def inverse_gaussian_deviance(y, p):
    """Return half the inverse Gaussian deviance: (y - p)^2 / (2 y p^2)."""
    relative = (y - p) / p
    return 0.5 * relative * relative / y if (y > 0.0) & (p > 0.0) else math.nan


@fused_kernel
def root_deviance(y, p):
    """Return half the deviance with power 1.5: 2 (sqrt(y) - sqrt(p))^2 / sqrt(p)."""
    root = np.sqrt(p)
    less = (y - p) / (np.sqrt(y) + root)
    return 2.0 * less * less / root if (y >= 0.0) & (p > 0.0) else math.nan


@fused_kernel
def low_tweedie_deviance(y, p, power, least):
    """Return half the deviance for a power up to 1.5: p^b (y (exp(b l) - 1 - b l) + b d) / (b + b b).

    Here b = 1 - power, l = log(y / p), and d is half the deviance for power 1. Targets must be at least `least`; the
    (2 - power)-th power of a negative target is taken as zero.
    """
    b = 1.0 - power
    factor = 1.0 / (b * (1.0 + b))  # few divisions, which take most of the time
    positive = y > 0.0
    above = y if positive else p
    less, ratio = above - p, above / p
    exponent, s, rest = log_terms(above, p, less)
    rise = b * (exponent * LN2 + ((s + s) + rest))
    size = b * log_ratio(p, 1.0, p - 1.0)
    known = (p > TINY) & (p < HUGE) & (y >= least) & (abs(size) < FAR_POWER) & (abs(rise) < FAR_POWER)
    known &= (ratio > TINY) & (ratio < HUGE)
    terms = above * exponential(rise)[2] + b * log_beyond(above, less, exponent, s, rest)
    return (terms if positive else b * p - (1.0 + b) * y) * exponential(size)[0] * factor if known else math.nan


@fused_kernel
def high_tweedie_deviance(y, p, power, least):
    """Return half the deviance for a power above 1.5: p^a ((exp(a l) - 1 - a l) - a d) / (a a - a).

    Here a = 2 - power, l = log(y / p), and d is half the deviance for power 2. Targets must be at least `least`. No
    term is much larger than the result.
    """
    a = 2.0 - power
    factor = 1.0 / (a * (a - 1.0))
    positive = y > 0.0
    above = y if positive else p
    less, ratio = above - p, above / p
    exponent, s, rest = log_terms(above, p, less)
    rise = a * (exponent * LN2 + ((s + s) + rest))
    size = a * log_ratio(p, 1.0, p - 1.0)
    known = (p > TINY) & (p < HUGE) & (y >= least) & (abs(size) < FAR_POWER) & (abs(rise) < FAR_POWER)
    known &= (ratio > TINY) & (ratio < HUGE)
    terms = exponential(rise)[2] - a * beyond_log(less / p, exponent, s, rest)
    return (terms if positive else a - 1.0) * exponential(size)[0] * factor if known else math.nan
