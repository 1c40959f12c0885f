"""Rows by their class, and matrices of a column for each class."""

import numpy as np

from fastevals._kernels.jit import kernel
from fastevals._kernels.partition import key_of

TILE = 64  # rows whose values of one column are written together: whole lines of memory


@kernel
def copy_columns(matrix, first, columns):
    """Write row i of the matrix to columns[:, first + i]; give the lowest and the highest sum of a row.

    They are NaN or infinite if a value is.
    """
    lowest, highest = np.inf, -np.inf
    odd = 0.0
    sums = np.empty(TILE)
    for start in range(0, matrix.shape[0], TILE):
        stop = min(start + TILE, matrix.shape[0])
        for i in range(stop - start):
            sums[i] = 0.0
        for j in range(matrix.shape[1]):
            for i in range(start, stop):
                value = matrix[i, j]
                sums[i - start] += value
                columns[j, first + i] = value
        for i in range(stop - start):
            lowest, highest = min(lowest, sums[i]), max(highest, sums[i])
            odd += sums[i] * 0.0  # NaN of all that isn't finite
    return lowest + odd, highest + odd


@kernel
def keys_of_class(bits, codes, k, flip_below, flip, keys):
    """Write the keys of the scores of class k; `keys` has room for one more, so that there is no branch."""
    n = 0
    for i in range(bits.size):
        keys[n] = key_of(bits[i], flip_below, flip)
        n += codes[i] == k


@kernel
def add_by_class(values, codes, sums):
    """Add values[i] to sums[codes[i], i % 2]: with two sums for each class neighbours alike don't wait as long."""
    even = codes.size & ~1
    for i in range(0, even, 2):
        sums[codes[i], 0] += values[i]
        sums[codes[i + 1], 1] += values[i + 1]
    if even < codes.size:
        sums[codes[even], 0] += values[even]
