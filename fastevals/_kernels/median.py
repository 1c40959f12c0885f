"""Values within a bracket around a median or quantile, counts of other values, and the rows of a weighted median."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import accumulate, add

MAGNITUDE = np.uint64(2**63 - 1)  # the bits of a float except its sign


@kernel
def count_outside(keys, first, low, high, counts):
    """Add the numbers of keys below `first`, equal to `low` and equal to `high` to the three rows of counts[3, 1]."""
    before, at_low, at_high = 0, 0, 0
    for i in range(keys.size):
        key = keys[i] & MAGNITUDE
        before += key < first
        at_low += key == low
        at_high += key == high
    counts[0, 0] += before
    counts[1, 0] += at_low
    counts[2, 0] += at_high


@kernel
def keep_between(keys, first, span, kept, found):
    """Append the keys in [first, first + span) to kept[found:]; return the new end."""
    place = np.uint64(found)
    for i in range(keys.size):
        key = keys[i] & MAGNITUDE
        kept[place] = key  # always written, seldom kept, so that there is no branch to mispredict
        place += np.uint64((key - first) < span)
    return np.int64(place)


@kernel
def collect(errors, low, high, counts, inside, found):
    """Append the absolute errors strictly between `low` and `high` to inside[found:]; return the new end.

    Also adds the numbers of errors up to `low`, equal to `low` and equal to `high` to the three rows of `counts`.
    A `low` below zero excludes nothing. `inside` has room for all rows. Bits of non-negative floats are ordered like
    the floats, so one comparison of integers checks both ends, which is 2x faster.
    """
    low_key, high_key = np.float64(low).view(np.uint64), np.float64(high).view(np.uint64)
    first = low_key + np.uint64(1) if low >= 0.0 else np.uint64(0)
    span = high_key - first if high > low else np.uint64(0)
    keys = errors.view(np.uint64)
    count_outside(keys, first, low_key, high_key, counts)
    return keep_between(keys, first, span, inside.view(np.uint64), found)


@kernel
def collect_weighted(errors, w, low, high, sums, inside, weights, found):
    """Do what `collect` does, for weighted errors; return the new end.

    The pairs sums[5, 2] are the weights of errors below `low`, at `low`, at `high`, above `high`, and in between.
    """
    for i in range(errors.size):
        error = abs(errors[i])
        which = 0 if error < low else 1 if error == low else 2 if error == high else 3
        if error > low and error < high:
            inside[found] = error
            weights[found] = w[i]
            found += 1
            which = 4
        accumulate(sums[which], w[i])
    return found


@kernel
def keep_bracketed(values, w, low, high, sums, kept, weights):
    """Write the values in [low, high] that have positive weight, and their weights; return their number.

    Adds the weight below `low` to the pair sums[0], the weight above `high` to the pair sums[1], and the sum of all
    values to sums[2, 0]. The outputs have room for all rows.
    """
    below, above, below_low, above_low, total, place = 0.0, 0.0, 0.0, 0.0, 0.0, np.uint64(0)
    for i in range(values.size):
        value, weight = values[i], 1.0 if w is None else w[i]
        is_below, is_above = value < low, value > high
        if w is None:
            below += is_below
            above += is_above
        else:
            below, below_low = add(below, below_low, weight if is_below else 0.0)
            above, above_low = add(above, above_low, weight if is_above else 0.0)
        total += value
        kept[place], weights[place] = value, weight  # always written, so that there is no branch to mispredict
        place += np.uint64((not is_below) & (not is_above) & (weight > 0.0))
    accumulate(sums[0], below)
    accumulate(sums[0], below_low)
    accumulate(sums[1], above)
    accumulate(sums[1], above_low)
    sums[2, 0] += total
    return np.int64(place)


@kernel
def add_up(weights, pair, sums, rests):
    """Add weights one by one to `pair`, an array of two floats, and write the pair after each weight."""
    for i in range(weights.size):
        accumulate(pair, weights[i])
        sums[i], rests[i] = pair[0], pair[1]


@kernel
def find_half(errors, weights, whole, whole_low):
    """In ascending `errors`, find the two (often the same one) whose mean is the weighted median; return positions.

    The positions differ if exactly half of the weight is reached. The pair (whole, whole_low) is the total weight.
    Several rows may have the same error; the first of these rows has weight zero only if all of them do.
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
