"""Markov chains for a Bradley-Terry model: the chance that i beats j is 1 / (1 + exp(s_j - s_i)), for strengths s."""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.chains import draw_normal, slice_step_of

STRENGTH_STEP = 0.5  # of log odds


@kernel
def log_strength_density(strength, k, strengths, wins, spread):
    """Return the log density of strength k, given the others, wins[i, j] of i over j, and a normal prior."""
    total = -0.5 * (strength / spread) ** 2
    for j in range(strengths.size):
        won, lost = wins[k, j], wins[j, k]
        if won + lost > 0.0:  # never for j = k
            ahead = strength - strengths[j]
            total -= (won + lost) * math.log1p(math.exp(-abs(ahead))) + (lost if ahead > 0.0 else -won) * ahead
    return total


@kernel
def log_spread_of_strengths(log_spread, squares, n, prior_deviation):
    """Return the log density of the log of the prior's deviation, given the sum of the n squared strengths."""
    return -0.5 * (log_spread / prior_deviation) ** 2 - n * log_spread - 0.5 * squares * math.exp(-2.0 * log_spread)


step_strength, step_spread = slice_step_of(log_strength_density), slice_step_of(log_spread_of_strengths)


@kernel
def sample_strengths(wins, least_spread, prior_deviation, state, stream, drawn):
    """Write a chain's draws of strengths to drawn[draw, n]; state, which is updated, has strengths and spread."""
    n = wins.shape[0]
    strengths = state[:n]
    for draw in range(drawn.shape[0]):
        for k in range(n):
            spread = state[n]
            strengths[k] = step_strength(
                strengths[k], -np.inf, np.inf, STRENGTH_STEP, stream, k, strengths, wins, spread
            )
        # Only the prior knows the mean strength: draw it anew.
        strengths += state[n] * draw_normal(stream) / math.sqrt(n) - strengths.mean()
        squares = (strengths * strengths).sum()
        log_spread = step_spread(
            math.log(state[n]), math.log(least_spread), np.inf, 1.0, stream, squares, n, prior_deviation
        )
        state[n] = math.exp(log_spread)
        drawn[draw] = strengths
