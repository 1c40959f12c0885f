"""Draws of rows that have a score for each class, counted by cells of each column's ranking."""

from fastevals._compile.jit import kernel


@kernel
def add_draws(times, cells, counts):
    """Add how often each row was drawn to the count of its cell."""
    for row in range(cells.size):
        counts[cells[row]] += times[row]
