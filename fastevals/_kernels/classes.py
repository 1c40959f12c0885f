"""Rows by their class, and matrices of a column for each class."""

import math

from fastevals._kernels.jit import kernel
from fastevals._kernels.partition import key_of

__all__ = ["add_by_class", "copy_columns", "keys_of_class", "rows_add_up_to_one"]

TILE = 64  # rows whose values of one column are written together: whole lines of memory

MOST = 2.0  # a sum this large is far off 1; infinite ones would pass a test relative to themselves


@kernel
def copy_columns(matrix, first, columns):
    """Write row i of the matrix to columns[:, first + i]; tell whether all values are finite."""
    odd = 0.0
    for start in range(0, matrix.shape[0], TILE):
        stop = min(start + TILE, matrix.shape[0])
        for j in range(matrix.shape[1]):
            for i in range(start, stop):
                value = matrix[i, j]
                odd += value * 0.0  # NaN of all that isn't finite
                columns[j, first + i] = value
    return odd == 0.0


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


@kernel
def rows_add_up_to_one(matrix, relative, absolute):
    """Tell whether each row adds up to 1 but for tolerances; a row with NaN or an infinity does not."""
    odd = 0
    for i in range(matrix.shape[0]):
        total = 0.0
        for j in range(matrix.shape[1]):
            total += matrix[i, j]
        size = math.fabs(total)
        odd += not ((math.fabs(1.0 - total) <= absolute + relative * size) & (size <= MOST))
    return odd == 0
