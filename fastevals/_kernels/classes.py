"""Sums over rows that lie class after class."""

from fastevals._kernels.jit import kernel

__all__ = ["add_segments"]


@kernel
def add_segments(values, first_row, starts, sums):
    """Add the values of rows from `first_row` on to sums[k], where class k has the rows starts[k] : starts[k + 1]."""
    for k in range(sums.size):
        total = 0
        for i in range(max(starts[k] - first_row, 0), min(starts[k + 1] - first_row, values.size)):
            total += values[i]
        sums[k] += total
