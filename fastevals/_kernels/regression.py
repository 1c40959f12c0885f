"""One pass over targets and predictions: sums of errors and targets, and the errors around the median.

The pass reads a stretch of rows at a time, so that all loops except the first find the stretch's values in the cache.
The sums of stretches are added with compensation, so that their relative error stays at a few times 1e-16 for any
number of rows.
"""

import numpy as np

from fastevals._compile.jit import kernel, sum_kernel
from fastevals._kernels.compensated import accumulate
from fastevals._kernels.median import collect, collect_weighted

STRETCH_ROWS = 2048  # rows whose errors, targets and predictions fill a cache of 48 KiB
SUMS = 7  # sums per model
EPSILON = 2.0**-52  # smallest denominator of a relative error, as in scikit-learn


@kernel
def subtract(y, p, errors):
    """Write y - p."""
    for i in range(y.size):
        errors[i] = y[i] - p[i]


@kernel
def deviate(y, origin, deviations):
    """Write y - origin."""
    for i in range(y.size):
        deviations[i] = y[i] - origin


@sum_kernel
def sum_errors(errors, y, w):
    """Return the sums of squared error, overprediction, underprediction and relative error."""
    square, over, under, relative = 0.0, 0.0, 0.0, 0.0
    for i in range(errors.size):
        error = errors[i]
        weight = 1.0 if w is None else w[i]
        square += error * error * weight
        over += (0.0 if error > 0.0 else -error) * weight
        under += (error if error > 0.0 else 0.0) * weight
        relative += abs(error) / max(abs(y[i]), EPSILON) * weight
    return square, over, under, relative


@sum_kernel
def sum_deviations(deviations, w):
    """Return the sums of weights, weighted deviations and weighted squared deviations."""
    total, first, second = 0.0, 0.0, 0.0
    for i in range(deviations.size):
        deviation = deviations[i]
        weight = 1.0 if w is None else w[i]
        total += weight
        first += deviation * weight
        second += deviation * deviation * weight
    return total, first, second


@kernel
def merge_sums(parts, sums):
    """Add the pairs parts[n, SUMS, 2] to the pairs sums[SUMS, 2], in order."""
    for i in range(parts.shape[0]):
        for which in range(SUMS):
            accumulate(sums[which], parts[i, which, 0])
            accumulate(sums[which], parts[i, which, 1])


@kernel
def read_rows(y, p, w, origin, first, sums, errors, low, high, outside, inside, weights, found):
    """Add rows to the pairs sums[SUMS, 2]; append absolute errors between `low` and `high` to inside[found:].

    The sums come from `sum_errors` (not finite if a target or prediction is not) and, for the first model, from
    `sum_deviations`, relative to `origin`. Errors outside the bracket are counted as in `collect`, or their weights are
    added as in `collect_weighted`. If `low` is above `high`, errors are neither collected nor counted. `errors` is
    scratch of STRETCH_ROWS. Returns the new end of `inside`.
    """
    for start in range(0, y.size, STRETCH_ROWS):  # slices instead of offsets: 4x faster, without checks of signs
        y_part, p_part = y[start : start + STRETCH_ROWS], p[start : start + STRETCH_ROWS]
        w_part = None if w is None else w[start : start + STRETCH_ROWS]
        part = errors[: y_part.size]
        subtract(y_part, p_part, part)
        square, over, under, relative = sum_errors(part, y_part, w_part)
        accumulate(sums[0], square)
        accumulate(sums[1], over)
        accumulate(sums[2], under)
        accumulate(sums[3], relative)
        if low <= high:
            if w is None:
                found = collect(part, low, high, outside, inside, found)
            else:
                found = collect_weighted(part, w_part, low, high, outside, inside, weights, found)
        if first:
            deviate(y_part, origin, part)
            total, deviation, scatter = sum_deviations(part, w_part)
            accumulate(sums[4], total)
            accumulate(sums[5], deviation)
            accumulate(sums[6], scatter)
    return found


@kernel
def sum_terms(y, p, weights, origin, pairs, products):
    """For each row, add seven terms to the pairs pairs[7, 2], and the products of the terms to products[7, 7].

    The terms are 1, the squared error, overprediction, underprediction, the relative error, the target minus an origin,
    and the square of this difference.
    """
    terms = np.ones(7)
    for i in range(y.size):
        w = 1.0 if weights.size == 0 else weights[i]
        error, shifted = y[i] - p[i], y[i] - origin
        terms[1] = error * error
        terms[2] = -error if error < 0.0 else 0.0
        terms[3] = error if error > 0.0 else 0.0
        terms[4] = abs(error) / max(abs(y[i]), EPSILON)
        terms[5], terms[6] = shifted, shifted * shifted
        for j in range(7):
            accumulate(pairs[j], terms[j] * w)
            for k in range(j, 7):
                products[j, k] += terms[j] * terms[k] * w
