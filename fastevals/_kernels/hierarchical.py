"""Markov chains for the hierarchical model of differences over data sets.

On data set i, the mean difference d_i has a Student distribution with `df` degrees of freedom around `mean`, with scale
`spread`: normal, with variance spread^2 / weight_i, for weights with a gamma distribution. The n_i differences of its
folds have mean d_i, precision p_i (1 over the variance) and correlation rho. Their likelihood depends only on their own
mean m_i and a sum of squares: it is the likelihood of one normal observation m_i of d_i with variance c_i / p_i, where
c_i = (1 + (n_i - 1) rho) / n_i, and of a gamma-distributed p_i.
"""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.chains import draw_gamma, draw_gamma_above, draw_normal, draw_normal_within, slice_step_of

LOG_STEP = 1.0  # of the logarithms of the spread and of df - 1


@kernel
def log_spread_density(log_spread, mean, means, errors, weights):
    """Return the log density of the log spread: each m_i is normal with variance errors[i] + spread^2 / weights[i]."""
    square, total = math.exp(2.0 * log_spread), log_spread
    for i in range(means.size):
        variance = errors[i] + square / weights[i]
        total -= 0.5 * (math.log(variance) + (means[i] - mean) ** 2 / variance)
    return total


@kernel
def log_df_density(log_rest, shape, rate, squares):
    """Return the log density of log(df - 1), given squared distances of the d_i from the mean, in units of spread^2."""
    rest = math.exp(log_rest)
    df = rest + 1.0
    half = 0.5 * (df + 1.0)
    total = shape * log_rest - rate * rest
    total += squares.size * (math.lgamma(half) - math.lgamma(0.5 * df) - 0.5 * math.log(df))
    for i in range(squares.size):
        total -= half * math.log1p(squares[i] / df)
    return total


@kernel
def log_shape_density(shape, rate, rest):
    """Return the log density of the shape of the gamma prior of df - 1, given its rate."""
    return shape * math.log(rate * rest) - math.lgamma(shape)


@kernel
def log_rate_density(rate, shape, rest):
    """Return the log density of the rate of the gamma prior of df - 1, given its shape."""
    return shape * math.log(rate) - rate * rest


step_spread, step_df = slice_step_of(log_spread_density), slice_step_of(log_df_density)
step_shape, step_rate = slice_step_of(log_shape_density), slice_step_of(log_rate_density)


@kernel
def sample_hierarchical(means, squares, sizes, factors, limits, priors, state, latent, stream, drawn):
    """Write a chain's draws of mean, spread and df to drawn[draw, 3].

    Parameters
    ----------
    means, squares, sizes, factors
        m_i, sums of squared deviations from m_i over 1 - rho, n_i and c_i of each data set.
    limits
        Largest |mean|, largest spread, and least precision.
    priors
        Ends of the uniform priors of the shape and the rate of df - 1.
    state, latent
        Mean, spread, df, shape and rate; and rows of p_i and weight_i. They are updated, so a later call continues the
        chain.
    stream
        The chain's stream.
    """
    mean, spread, df, shape, rate = state
    largest_mean, largest_spread, least_precision = limits
    precisions, weights, n = latent[0], latent[1], means.size
    errors, distances = factors / precisions, np.empty(n)
    for draw in range(drawn.shape[0]):
        # Spread, mean and d_i, given precisions and weights: for spread and mean, the d_i are integrated out.
        highest = math.log(largest_spread)
        log_spread = math.log(spread)
        log_spread = step_spread(log_spread, -np.inf, highest, LOG_STEP, stream, mean, means, errors, weights)
        spread = math.exp(log_spread)
        total, weighted = 0.0, 0.0
        for i in range(n):
            inverse = 1.0 / (errors[i] + spread * spread / weights[i])
            total += inverse
            weighted += inverse * means[i]
        mean = draw_normal_within(weighted / total, 1.0 / math.sqrt(total), largest_mean, stream)
        for i in range(n):
            inner, outer = 1.0 / errors[i], weights[i] / (spread * spread)
            centre = (inner * means[i] + outer * mean) / (inner + outer)
            centre += draw_normal(stream) / math.sqrt(inner + outer)
            distances[i] = ((centre - mean) / spread) ** 2
            # The precision, given d_i.
            half_sum = 0.5 * (squares[i] + (means[i] - centre) ** 2 / factors[i])
            precisions[i] = draw_gamma_above(0.5 * (sizes[i] - 1.0), half_sum, least_precision, stream)
            errors[i] = factors[i] / precisions[i]
        # df, its prior, and weights, given d_i: for df, the weights are integrated out.
        df = 1.0 + math.exp(step_df(math.log(df - 1.0), -np.inf, np.inf, LOG_STEP, stream, shape, rate, distances))
        shape = step_shape(shape, priors[0], priors[1], priors[1] - priors[0], stream, rate, df - 1.0)
        rate = step_rate(rate, priors[2], priors[3], priors[3] - priors[2], stream, shape, df - 1.0)
        for i in range(n):
            weights[i] = draw_gamma(0.5 * (df + 1.0), stream) / (0.5 * (df + distances[i]))
        drawn[draw, 0], drawn[draw, 1], drawn[draw, 2] = mean, spread, df
    state[:] = np.array([mean, spread, df, shape, rate])
