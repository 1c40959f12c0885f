"""Bootstrap draws: how often each cell of rows is drawn when n rows are drawn from n, with replacement."""

import numpy as np

from fastevals._kernels.jit import kernel
from fastevals._kernels.random import bits, key_of, uniform_below

__all__ = ["LARGEST_PIECE", "draw_cells"]

LARGEST_PIECE = 32  # rows of a cell whose count is drawn at once
GUIDE_SHIFT = np.uint64(56)  # the first 8 bits of a random number choose where the search of a table starts


@kernel
def poisson(random, table, guide):
    """Least j with random <= table[j]: the table ascends to the largest integer, guide[b] is where to start for b."""
    j = np.uint64(guide[random >> GUIDE_SHIFT])
    while random > table[j]:
        j += np.uint64(1)
    return np.int64(j)


@kernel
def draw_poisson(sizes, tables, guides, key, counts):
    """Draw each cell's Poisson count, of a mean proportional to its size; give their sum and the counters used up."""
    counter = np.uint64(0)
    total = 0
    for cell in range(sizes.size):
        size = sizes[cell]
        count = 0
        while size > LARGEST_PIECE:
            count += poisson(bits(key, counter), tables[LARGEST_PIECE - 1], guides[LARGEST_PIECE - 1])
            counter += np.uint64(1)
            size -= LARGEST_PIECE
        if size > 0:
            count += poisson(bits(key, counter), tables[size - 1], guides[size - 1])
            counter += np.uint64(1)
        counts[cell] = count
        total += count
    return total, counter


@kernel
def draw_cells(sizes, ends, cell_of_block, shift, tables, guides, key, counts):
    """Draw n rows out of the n of all cells: write how many are of each cell, exactly multinomial.

    Independent Poisson counts are multinomial given their sum, and stay so when the rows that are missing are drawn
    one by one. Where the sum is above n they are drawn anew: that depends on the sum alone. `ends[cell]` is the sum of
    the sizes up to it; `cell_of_block[row >> shift]` is at or before the cell of a row. Without tables all rows are
    drawn one by one.
    """
    n = ends[ends.size - 1]
    total = n + 1
    attempt = np.uint64(0)
    while total > n:
        stream = key_of(key, attempt)
        attempt += np.uint64(1)
        if tables.shape[0] == 0:
            counts[:] = 0
            total, counter = 0, np.uint64(0)
        else:
            total, counter = draw_poisson(sizes, tables, guides, stream, counts)
    for _ in range(n - total):
        row = np.int64(uniform_below(n, bits(stream, counter)))
        counter += np.uint64(1)
        cell = cell_of_block[row >> shift]
        while ends[cell] <= row:
            cell += 1
        counts[cell] += 1
