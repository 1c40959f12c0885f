"""Random draws for Markov chains, one number at a time, and the step of a slice sampler.

A stream is an array of two integers, the key and the counter of `random.bits`; each draw advances the counter.
"""

import math

import numpy as np

from fastevals._compile.jit import kernel, kernel_maker
from fastevals._kernels.random import bits

UNIT_BITS = np.uint64(11)  # of 64 random bits that a float does not hold
UNIT_STEP = 2.0**-53
MOST_WIDENINGS, MOST_SHRINKINGS = 64, 200  # of the interval of a slice


@kernel
def draw_uniform(stream):
    """Return a uniform number in (0, 1)."""
    drawn = bits(stream[0], stream[1])
    stream[1] += np.uint64(1)
    return (np.float64(drawn >> UNIT_BITS) + 0.5) * UNIT_STEP


@kernel
def draw_normal(stream):
    """Return a standard normal number, by Box and Muller's method."""
    radius = math.sqrt(-2.0 * math.log(draw_uniform(stream)))
    return radius * math.cos(2.0 * math.pi * draw_uniform(stream))


@kernel
def draw_gamma(shape, stream):
    """Return a number from the gamma distribution with scale 1: Marsaglia and Tsang (2000), doi:10.1145/358407.358414.

    A shape below 1 is raised by 1, and the draw is multiplied by a power of a uniform number.
    """
    least = (shape + 1.0 if shape < 1.0 else shape) - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * least)
    drawn = -1.0
    while drawn < 0.0:
        x = draw_normal(stream)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(draw_uniform(stream)) < 0.5 * x * x + least * (1.0 - v + math.log(v)):
            drawn = least * v
    if shape < 1.0:
        drawn *= draw_uniform(stream) ** (1.0 / shape)
    return drawn


@kernel
def draw_gamma_above(shape, rate, least, stream):
    """Return a number above `least` from a gamma distribution, by rejection; far in the tail, of exponential draws."""
    if least * rate <= shape:
        x = draw_gamma(shape, stream) / rate
        while x < least:
            x = draw_gamma(shape, stream) / rate
        return x
    slope = max(shape - 1.0, 0.0) / least  # of the log of x^(shape - 1) at the least x, where it is steepest
    while True:
        beyond = -math.log(draw_uniform(stream)) / (rate - slope)
        if math.log(draw_uniform(stream)) <= (shape - 1.0) * math.log1p(beyond / least) - slope * beyond:
            return least + beyond


@kernel
def draw_normal_within(mean, deviation, limit, stream):
    """Return a normal number within -limit and limit, for a mean within them, by rejection."""
    if deviation < limit:
        x = mean + deviation * draw_normal(stream)
        while abs(x) > limit:
            x = mean + deviation * draw_normal(stream)
        return x
    x = limit * (2.0 * draw_uniform(stream) - 1.0)
    while math.log(draw_uniform(stream)) > -0.5 * ((x - mean) / deviation) ** 2:
        x = limit * (2.0 * draw_uniform(stream) - 1.0)
    return x


@kernel_maker
def slice_step_of(log_density):
    """Make the kernel of a slice sampler's step for a density: Neal (2003), doi:10.1214/aos/1056562461."""

    @kernel
    def step(x, low, high, width, stream, *parameters):
        """Return the next number of the chain after x, within low and high; the slice is searched in steps of width."""
        level = log_density(x, *parameters) + math.log(draw_uniform(stream))
        left = x - width * draw_uniform(stream)
        right = left + width
        for _ in range(MOST_WIDENINGS):
            if left <= low or log_density(left, *parameters) < level:
                break
            left -= width
        for _ in range(MOST_WIDENINGS):
            if right >= high or log_density(right, *parameters) < level:
                break
            right += width
        left, right = max(left, low), min(right, high)
        for _ in range(MOST_SHRINKINGS):
            proposed = left + (right - left) * draw_uniform(stream)
            if log_density(proposed, *parameters) >= level:
                return proposed
            if proposed < x:
                left = proposed
            else:
                right = proposed
        return x

    return step
