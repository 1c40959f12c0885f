"""Rows by class, and matrices with one column per class."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import add, product, two_sum
from fastevals._kernels.partition import key_of

ROWS_PER_TILE = 64  # rows whose values of one column are written in one go, as whole cache lines


@kernel
def copy_columns(matrix, first, columns):
    """Write row i of the matrix to columns[:, first + i]; return the lowest and the highest row sum.

    Both sums are NaN or infinite if any value is.
    """
    lowest, highest = np.inf, -np.inf
    odd = 0.0
    sums = np.empty(ROWS_PER_TILE)
    for start in range(0, matrix.shape[0], ROWS_PER_TILE):
        stop = min(start + ROWS_PER_TILE, matrix.shape[0])
        for i in range(stop - start):
            sums[i] = 0.0
        for j in range(matrix.shape[1]):
            for i in range(start, stop):
                value = matrix[i, j]
                sums[i - start] += value
                columns[j, first + i] = value
        for i in range(stop - start):
            lowest, highest = min(lowest, sums[i]), max(highest, sums[i])
            odd += sums[i] * 0.0  # NaN if any sum is not finite
    return lowest + odd, highest + odd


@kernel
def keys_of_class(bits, codes, k, flip_below, flip, keys):
    """Write the keys of class k's scores; `keys` has one extra element, so that the loop needs no branch."""
    n = 0
    for i in range(bits.size):
        keys[n] = key_of(bits[i], flip_below, flip)
        n += codes[i] == k


@kernel
def add_by_class(values, codes, sums):
    """Add values[i] to sums[codes[i], i % 2].

    With two sums per class, the addition of a row need not wait for the addition of the row before it.
    """
    even = codes.size & ~1
    for i in range(0, even, 2):
        sums[codes[i], 0] += values[i]
        sums[codes[i + 1], 1] += values[i + 1]
    if even < codes.size:
        sums[codes[even], 0] += values[even]


@kernel
def sum_above(keys, weights, above):
    """Write above[p], for a row with doubled placement p: twice the weight of keys above it, plus that of tied keys.

    Here p is the number of keys below the row plus the number of keys up to it. A row can be at a distinct key or in a
    gap between two keys, and p differs for each of these places; other entries are not changed. Sums are pairs.
    """
    high, low = 0.0, 0.0
    end = keys.size
    above[2 * end, 0], above[2 * end, 1] = high, low
    while end > 0:
        start = end - 1
        with_high, with_low = add(high, low, weights[start])
        while start > 0 and keys[start - 1] == keys[start]:
            start -= 1
            with_high, with_low = add(with_high, with_low, weights[start])
        both, lost = two_sum(high, with_high)
        above[start + end, 0], above[start + end, 1] = two_sum(both, lost + (low + with_low))
        above[2 * start, 0], above[2 * start, 1] = 2 * with_high, 2 * with_low
        high, low, end = with_high, with_low, start


@kernel
def add_weighted_by_class(placements, codes, weights, above, sums):
    """Add weights[i] * above[placements[i]] to sums[codes[i]]; all sums are pairs."""
    for i in range(codes.size):
        k, p, weight = codes[i], placements[i], weights[i]
        term, error = product(weight, above[p, 0])
        sums[k, 0], lost = two_sum(sums[k, 0], term)
        sums[k, 1] += lost + (error + weight * above[p, 1])


@kernel
def divide_by_pairs(sums, totals, j, areas):
    """Write areas[k]: class k's sum over all parts of sums[n_parts, K], divided by 2 * totals[j] * totals[k].

    All sums and totals are pairs, and the ratio is rounded once; 0 / 0 is NaN.
    """
    for k in range(areas.size):
        high, low = 0.0, 0.0
        for part in range(sums.shape[0]):
            high, low = add(high, low, sums[part, k, 0])
            high, low = add(high, low, sums[part, k, 1])
        whole, error = product(totals[j, 0], totals[k, 0])
        whole, error = two_sum(whole, error + (totals[j, 0] * totals[k, 1] + totals[j, 1] * totals[k, 0]))
        whole, error = 2 * whole, 2 * error
        ratio = high / whole
        times, lost = product(ratio, whole)
        areas[k] = ratio + ((high - times) - lost + low - ratio * error) / whole
