"""Sums over the errors of a regression, and what lies around the median error.

A sum runs in lanes, because without fastmath the compiler keeps one chain of additions in order and adds one row at a
time. Lanes are folded every 4096 rows and added with compensation, so a sum's relative error is below 1e-14 whatever
the number of rows, and 1e-16 or so on ordinary data.
"""

import numpy as np

from fastevals._kernels.compensated import add
from fastevals._kernels.jit import kernel

__all__ = [
    "collect_errors",
    "collect_weighted_errors",
    "error_sums",
    "find_half",
    "merge_moments",
    "merge_sums",
    "read_rows",
    "target_moments",
]

LANES = 64  # eight vectors of 512 bits
STRETCH = 4096  # rows whose sums are folded together: 64 additions a lane
EPSILON = 2.0**-52  # of the denominator of a relative error, as in scikit-learn


@kernel
def fold(lanes, which):
    """Sum of lanes[which * LANES : (which + 1) * LANES], pairwise; changes them."""
    first = which * LANES
    width = LANES // 2
    while width:
        for j in range(width):
            lanes[first + j] += lanes[first + width + j]
        width //= 2
    return lanes[first]


@kernel
def accumulate(pair, x):
    """Add x to the pair in place; past the largest float the pair is (inf, 0)."""
    high, low = add(pair[0], pair[1], x)
    if low == low:
        pair[0], pair[1] = high, low
    else:
        pair[0], pair[1] = pair[0] + x, 0.0


@kernel
def stretch_errors(y, p, w, lanes):
    """Add at most LANES rows to the lanes of the four sums of `error_sums`."""
    for j in range(y.size):
        error = y[j] - p[j]
        square = error * error
        over = 0.0 if error > 0.0 else -error
        under = error if error > 0.0 else 0.0
        relative = abs(error) / max(abs(y[j]), EPSILON)
        if w is not None:
            square *= w[j]
            over *= w[j]
            under *= w[j]
            relative *= w[j]
        lanes[j] += square
        lanes[LANES + j] += over
        lanes[2 * LANES + j] += under
        lanes[3 * LANES + j] += relative


@kernel
def error_sums(y, p, w, lanes, sums):
    """Add to the pairs sums[4, 2]: squared error, prediction above and below the target, relative error.

    Not finite where a target or a prediction is not. `lanes` is scratch of 4 * LANES.
    """
    for start in range(0, y.size, STRETCH):
        lanes[:] = 0.0
        stop = min(start + STRETCH, y.size)
        for i in range(start, stop, LANES):
            k = min(i + LANES, stop)
            stretch_errors(y[i:k], p[i:k], None if w is None else w[i:k], lanes)
        for which in range(4):
            accumulate(sums[which], fold(lanes, which))


@kernel
def merge_sums(parts, sums):
    """Add parts[n, 4, 2] to sums[4, 2], in order."""
    for i in range(parts.shape[0]):
        for which in range(4):
            accumulate(sums[which], parts[i, which, 0])
            accumulate(sums[which], parts[i, which, 1])


# Targets ----------------------------------------------------------------------------------------------------------


@kernel
def merge_moments(moments, weight, mean, scatter):
    """Merge (weight, mean, sum of squared deviations) into `moments`.

    Chan, T. F., Golub, G. H. and LeVeque, R. J. (1983), The American Statistician 37, 242-247, eq. 2.1,
    doi:10.1080/00031305.1983.10483115.
    """
    total = moments[0] + weight
    delta = mean - moments[1]
    moments[1] += delta * (weight / total)
    moments[2] += scatter + delta * delta * (moments[0] * (weight / total))
    moments[0] = total


@kernel
def stretch_totals(y, w, origin, lanes):
    """Add at most LANES rows to the lanes of weight and of deviation from `origin`."""
    for j in range(y.size):
        deviation = y[j] - origin
        weight = 1.0
        if w is not None:
            weight = w[j]
            deviation *= weight
        lanes[j] += weight
        lanes[LANES + j] += deviation


@kernel
def stretch_scatter(y, w, origin, mean, lanes):
    """Add at most LANES rows to the lanes of deviation from origin + mean, and of its square."""
    for j in range(y.size):
        deviation = (y[j] - origin) - mean
        square = deviation * deviation
        if w is not None:
            deviation *= w[j]
            square *= w[j]
        lanes[j] += deviation
        lanes[LANES + j] += square


@kernel
def target_moments(y, w, origin, lanes, moments):
    """Merge the rows into moments[3]: weight, mean and sum of squared deviations of y - origin.

    A stretch is read twice, while it is in the cache: its mean first. `origin` is a target near the middle: far from
    zero the mean itself would be rounded by more than the targets vary. Constant targets give zeros.
    """
    for start in range(0, y.size, STRETCH):
        stop = min(start + STRETCH, y.size)
        lanes[:] = 0.0
        for i in range(start, stop, LANES):
            k = min(i + LANES, stop)
            stretch_totals(y[i:k], None if w is None else w[i:k], origin, lanes)
        weight = fold(lanes, 0)
        mean = fold(lanes, 1) / weight
        lanes[:] = 0.0
        for i in range(start, stop, LANES):
            k = min(i + LANES, stop)
            stretch_scatter(y[i:k], None if w is None else w[i:k], origin, mean, lanes)
        rest = fold(lanes, 0) / weight
        merge_moments(moments, weight, mean + rest, max(fold(lanes, 1) - rest * rest * weight, 0.0))


# The median error -------------------------------------------------------------------------------------------------


@kernel
def compare_errors(y, p, low, high, counts, errors):
    """Write the absolute errors; add to counts[3] those below `low`, at it and at `high`."""
    below, at_low, at_high = 0, 0, 0
    for i in range(y.size):
        error = abs(y[i] - p[i])
        errors[i] = error
        below += error < low
        at_low += error == low
        at_high += error == high
    counts[0] += below
    counts[1] += at_low
    counts[2] += at_high


@kernel
def keep_between(keys, first, span, kept, found):
    """Append the keys in [first, first + span) to kept[found:]; give the new end."""
    place = np.uint64(found)
    for i in range(keys.size):
        kept[place] = keys[i]  # always written, seldom kept: no branch to mispredict
        place += np.uint64((keys[i] - first) < span)
    return np.int64(place)


@kernel
def collect_errors(y, p, low, high, counts, scratch, inside, found):
    """Append the absolute errors between `low` and `high`, ends excluded, to inside[found:]; give the new end.

    Adds the others to counts[3] as `compare_errors` does. `inside` has room for all rows, `scratch` for a stretch. The
    bits of floats that are not negative are in their order: as integers, one comparison does for both ends, 2x faster.
    """
    keys = scratch.view(np.uint64)
    scratch[0], scratch[1] = low, high
    first = keys[0] + np.uint64(1) if low >= 0.0 else np.uint64(0)
    span = keys[1] - first if high > low else np.uint64(0)
    for start in range(0, y.size, STRETCH):  # slices, not offsets: without the check for a negative index 4x faster
        y_part, p_part = y[start : start + STRETCH], p[start : start + STRETCH]
        compare_errors(y_part, p_part, low, high, counts, scratch)
        found = keep_between(keys[: y_part.size], first, span, inside.view(np.uint64), found)
    return found


@kernel
def read_rows(y, p, origin, first, sums, moments, low, high, counts, scratch, inside, found):
    """`error_sums`, `collect_errors` and, for the first model, `target_moments`, a stretch at a time in the cache."""
    for start in range(0, y.size, STRETCH):
        y_part, p_part = y[start : start + STRETCH], p[start : start + STRETCH]
        if first:
            target_moments(y_part, None, origin, scratch, moments)
        error_sums(y_part, p_part, None, scratch, sums)
        found = collect_errors(y_part, p_part, low, high, counts, scratch, inside, found)
    return found


@kernel
def collect_weighted_errors(y, p, w, low, high, sums, inside, weights, found):
    """`collect_errors` with the weight beside each error; give the new end.

    sums[5, 2] are pairs: the weights below `low`, at it, at `high`, above `high` and between.
    """
    for i in range(y.size):
        error = abs(y[i] - p[i])
        which = 0 if error < low else 1 if error == low else 2 if error == high else 3
        if error > low and error < high:
            inside[found] = error
            weights[found] = w[i]
            found += 1
            which = 4
        accumulate(sums[which], w[i])
    return found


@kernel
def find_half(errors, weights, whole, whole_low):
    """First and last of the ascending `errors` that share the weighted median: two where half is hit exactly.

    The pair (whole, whole_low) is the weight of all. A weight may be spread over several rows of equal error, of which
    the first is not zero unless all are.
    """
    total, total_low = 0.0, 0.0
    i = 0
    while i < errors.size:
        group = i
        while i < errors.size and errors[i] == errors[group]:
            total, total_low = add(total, total_low, weights[i])
            i += 1
        if 2.0 * total > whole or (2.0 * total == whole and 2.0 * total_low > whole_low):
            return group, group
        if 2.0 * total == whole and 2.0 * total_low == whole_low:
            while i < errors.size and weights[i] <= 0.0:
                i += 1
            return group, min(i, errors.size - 1)
    return errors.size - 1, errors.size - 1
