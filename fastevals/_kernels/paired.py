"""Sums over rows by the cells of two models, and draws from cells with many rows."""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.draws import LARGEST_PIECE, poisson
from fastevals._kernels.random import bits, stream_key

UNIT = 2.0**-53
VARIANCE_ROUNDING = 2.0**-40  # relative to the largest variance; anything smaller is rounding error
LEAST_PROBABILITY = 2.0**-1000  # smaller probabilities share a cell
CENTRAL = 0.02425  # probability of each tail, where the quantile has another formula


@kernel
def normal_quantile(share):
    """Return the quantile of the normal distribution to a relative error of 1e-9 (Acklam's rational approximation)."""
    if share < CENTRAL or share > 1 - CENTRAL:
        q = math.sqrt(-2 * math.log(min(share, 1 - share)))
        top = ((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q
                - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783  # fmt: skip
        bottom = (((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q
                  + 3.754408661907416) * q + 1.0  # fmt: skip
        return top / bottom if share < 0.5 else -top / bottom
    q = share - 0.5
    r = q * q
    top = ((((-3.969683028665376e01 * r + 2.209460984245205e02) * r - 2.759285104469687e02) * r
            + 1.383577518672690e02) * r - 3.066479806614716e01) * r + 2.506628277459239  # fmt: skip
    bottom = ((((-5.447609879822406e01 * r + 1.615858368580409e02) * r - 1.556989798598866e02) * r
               + 6.680131188771972e01) * r - 1.328068155288572e01) * r + 1.0  # fmt: skip
    return top * q / bottom


@kernel
def draw_counts(sizes, roots, tables, guides, key, first, counts):
    """For replicates numbered from `first`, draw each cell's Poisson count; its mean is the cell's number of rows.

    For a cell of more than LARGEST_PIECE rows, the count is an expansion of the Poisson quantile (Giles 2016,
    doi:10.1145/2699466) whose mean and variance equal the number of rows. `roots` are the square roots of the sizes.
    """
    for replicate in range(counts.shape[0]):
        stream = stream_key(key, np.uint64(first + replicate))
        for cell in range(sizes.size):
            size = np.int64(sizes[cell])
            random = bits(stream, np.uint64(cell))
            if size <= LARGEST_PIECE:
                counts[replicate, cell] = poisson(random, size, tables, guides)
            else:
                w = normal_quantile((np.int64(random >> np.uint64(11)) + 0.5) * UNIT)
                square = w * w + 2
                # The last term is of order 1 / root.
                counts[replicate, cell] = np.int64(
                    size + roots[cell] * w + square / 6 - w * square / (72 * roots[cell])
                )


@kernel
def add_products(cells, other_cells, flags, weights, gains, other_gains, sums):
    """For each row, add its weight times the product of its k-th gains in the two models to sums[k].

    `gains` are integers of shape (n_classes, n_cells, n_sums); weights are integers, or an empty array.
    """
    for row in range(flags.size):
        mine, other = gains[flags[row], cells[row]], other_gains[flags[row], other_cells[row]]
        weight = weights[row] if weights.size else np.int64(1)
        for k in range(sums.size):
            sums[k] += weight * (np.int64(mine[k]) * np.int64(other[k]))


@kernel
def add_by_group(cells, other_cells, flags, weights, groups, other_groups, counts):
    """Count rows by class, by the group of the row's cell in the first model, and by its group in the second model.

    If there are weights, add them up instead.
    """
    for row in range(flags.size):
        weight = weights[row] if weights.size else np.int64(1)
        counts[flags[row], groups[cells[row]], other_groups[other_cells[row]]] += weight


@kernel
def add_products_by_group(cells, other_cells, flags, weights, gains, other_gains, groups, other_groups, sums):
    """Do what `add_products` does for one sum, separately for each pair of groups of cells."""
    for row in range(flags.size):
        weight = weights[row] if weights.size else np.int64(1)
        mine, other = gains[flags[row], cells[row]], other_gains[flags[row], other_cells[row]]
        sums[groups[cells[row]], other_groups[other_cells[row]]] += weight * (np.int64(mine) * np.int64(other))


@kernel
def cell_of(p):
    """Return the cell of a probability p: there are 64 cells per octave of p, or of 1 - p where p > 1/2."""
    if p > 0.5:
        return np.int64(2048) * 64 - cell_of_half(1 - p)
    return cell_of_half(p)


@kernel
def cell_of_half(p):
    """Return the cell of a probability of at most 1/2."""
    if p < LEAST_PROBABILITY:
        return np.int64(0)
    fraction, exponent = math.frexp(p)
    return np.int64((1024 + exponent) * 64 + np.int64((fraction - 0.5) * 128))


@kernel
def factorize(covariance, factor, order):
    """Write the transposed pivoted Cholesky factor of a covariance, and the order of columns; return the rank.

    A library's factorization is multi-threaded: waiting for threads would take longer than this loop, and the last bits
    would depend on the number of threads.
    """
    n = covariance.shape[0]
    left = np.empty(n)
    for i in range(n):
        order[i], left[i] = i, covariance[i, i]
    least = 0.0
    for k in range(n):
        pivot = k
        for i in range(k, n):
            if left[i] > left[pivot]:
                pivot = i
        if k == 0:
            least = left[pivot] * VARIANCE_ROUNDING
        if left[pivot] <= least:
            return k
        order[k], order[pivot] = order[pivot], order[k]
        left[k], left[pivot] = left[pivot], left[k]
        for j in range(k):
            factor[j, k], factor[j, pivot] = factor[j, pivot], factor[j, k]
        root = math.sqrt(left[k])
        row = factor[k]
        for i in range(k):
            row[i] = 0.0
        row[k] = root
        for i in range(k + 1, n):
            row[i] = covariance[order[i], order[k]]
        for j in range(k):
            scale = factor[j, k]
            above = factor[j]
            for i in range(k + 1, n):
                row[i] -= scale * above[i]
        for i in range(k + 1, n):
            row[i] /= root
            left[i] -= row[i] * row[i]
    return n


@kernel
def draw_with_factor(normal, factor, order, draws):
    """Turn independent normal numbers, of shape (n_draws, rank), into draws with the covariance that was factorized.

    Two draws at a time are summed over two rows of the factor, as reading these takes longest. The factor has one row
    more than columns, and its rows from `rank` on are 0.
    """
    n, rank = order.size, normal.shape[1]
    sums = np.empty((2, n))
    of_a, of_b = sums[0], sums[1]
    for start in range(0, normal.shape[0], 2):
        a, b = normal[start], normal[min(start + 1, normal.shape[0] - 1)]
        for i in range(n):
            of_a[i] = of_b[i] = 0.0
        for k in range(0, rank, 2):
            more = min(k + 1, rank - 1)
            first, second = factor[k], factor[k + 1]
            a1, a2, b1, b2 = a[k], a[more], b[k], b[more]
            for i in range(k, n):
                x, y = first[i], second[i]
                of_a[i] = of_a[i] + a1 * x + a2 * y
                of_b[i] = of_b[i] + b1 * x + b2 * y
        for j in range(min(2, normal.shape[0] - start)):
            for i in range(n):
                draws[start + j, order[i]] = sums[j, i]
