"""Losses of predicted quantiles, row by row."""

from fastevals._compile.jit import kernel


@kernel
def pinball_losses(y, quantiles, levels, weights, losses):
    """Write the sum over levels of weight times pinball loss of each row; `quantiles` is of shape (n, n_levels)."""
    for i in range(y.size):
        total = 0.0
        for k in range(levels.size):
            error = y[i] - quantiles[i, k]
            total += weights[k] * (levels[k] * error if error > 0.0 else (levels[k] - 1.0) * error)
        losses[i] = total
