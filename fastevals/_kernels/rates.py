"""Rates from counts, a block of rows at a time; 0 / 0 is NaN."""

from fastevals._compile.jit import kernel


@kernel
def divide(counts, total, out):
    """Write each count divided by the total."""
    for i in range(counts.size):
        out[i] = counts[i] / total


@kernel
def divide_rest(counts, total, out):
    """Write the total minus each count, divided by the total."""
    for i in range(counts.size):
        out[i] = (total - counts[i]) / total


@kernel
def divide_sum(tps, fps, total, out):
    """Write each sum of two counts divided by the total."""
    for i in range(tps.size):
        out[i] = (tps[i] + fps[i]) / total


@kernel
def precision(tps, fps, of_none, out):
    """Write each tps[i] / (tps[i] + fps[i]); `of_none` where the sum is zero."""
    for i in range(tps.size):
        predicted = tps[i] + fps[i]
        out[i] = tps[i] / predicted if predicted != 0 else of_none
