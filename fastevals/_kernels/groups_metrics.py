"""Metrics of each group. A group's negatives are stored first, then its positives, each class in ascending order.

Group g has its negatives at keys[starts[2 g] : starts[2 g + 1]] and its positives from there up to starts[2 g + 2].
Unweighted AUCs are computed from integers; for other metrics unweighted rows have weights of one, whose sums are exact.
"""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import add, product


@kernel
def doubled_wins(keys, starts, first, last, doubled):
    """Write twice the Mann-Whitney U of each group from `first` up to `last`."""
    for g in range(first, last):
        start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
        total, below, up_to = 0, start, start
        for i in range(middle, stop):
            key = keys[i]
            if i == middle or key != keys[i - 1]:
                below = up_to
                while below < middle and keys[below] < key:
                    below += 1
                up_to = below
                while up_to < middle and keys[up_to] == key:
                    up_to += 1
            total += below + up_to - 2 * start
        doubled[g] = total


@kernel
def sum_of(values):
    """Return the sum of values as a pair."""
    high, low = 0.0, 0.0
    for i in range(values.size):
        high, low = add(high, low, values[i])
    return high, low


@kernel
def unit_of(total):
    """Return the power of two that brings a total near 1."""
    return math.ldexp(1.0, -max(math.frexp(total)[1], -1000))


@kernel
def weighted_aucs(keys, weights, starts, first, last, aucs):
    """Write the AUCs of weighted groups; sums are pairs, so that AUCs of 1, 0 and 1/2 (all rows tied) are exact."""
    for g in range(first, last):
        start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
        if start == middle or middle == stop:
            aucs[g] = np.nan
            continue
        negatives, negatives_low = sum_of(weights[start:middle])
        positives, positives_low = sum_of(weights[middle:stop])
        down, up = unit_of(negatives), unit_of(positives)
        high, low = 0.0, 0.0
        below, below_low, tied, tied_low, at = 0.0, 0.0, 0.0, 0.0, start
        for i in range(middle, stop):
            if i == middle or keys[i] != keys[i - 1]:
                below, below_low = add(below, below_low, tied)
                below_low += tied_low
                tied, tied_low = 0.0, 0.0
                while at < middle and keys[at] < keys[i]:
                    below, below_low = add(below, below_low, weights[at] * down)
                    at += 1
                while at < middle and keys[at] == keys[i]:
                    tied, tied_low = add(tied, tied_low, weights[at] * down)
                    at += 1
            half, half_low = add(2.0 * below, 2.0 * below_low, tied)
            won, error = product(weights[i] * up, half)
            high, low = add(high, low, won)
            high, low = add(high, low, error + weights[i] * up * (half_low + tied_low))
        pairs, error = product(negatives * down, positives * up)
        error += negatives * down * (positives_low * up) + negatives_low * down * (positives * up)
        aucs[g] = min((high + low) / (2.0 * (pairs + error)), 1.0)


@kernel
def placement_squares(keys, weights, starts, n_pos, n_neg, aucs, first, last, variances):
    """Write DeLong's variances of the groups' AUCs; NaN for groups with fewer than two rows of a class.

    Doubled placements are integers; subtracting the integer nearest to their mean avoids cancellation of squares. A
    weight is the number of times a row counts. A negative is placed by the positives below it, not above it as in
    DeLong; the variance is the same.
    """
    for g in range(first, last):
        if n_pos[g] < 2 or n_neg[g] < 2:
            variances[g] = np.nan
            continue
        start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
        variances[g] = spread(keys, weights, start, middle, middle, stop, 1.0 - aucs[g], n_neg[g], n_pos[g]) + spread(
            keys, weights, middle, stop, start, middle, aucs[g], n_pos[g], n_neg[g]
        )


@kernel
def spread(keys, weights, start, stop, other, other_stop, share, n, n_other):
    """Return the variance of the mean placement of rows from `start` up to `stop` among rows of the other class."""
    center = np.rint(2.0 * share * n_other)
    off, squares = 0.0, 0.0
    below, tied, at, deviation = 0.0, 0.0, other, 0.0
    for i in range(start, stop):
        if i == start or keys[i] != keys[i - 1]:
            below += tied
            tied = 0.0
            while at < other_stop and keys[at] < keys[i]:
                below += weights[at]
                at += 1
            while at < other_stop and keys[at] == keys[i]:
                tied += weights[at]
                at += 1
            deviation = 2.0 * below + tied - center
        off += weights[i] * deviation
        squares += weights[i] * deviation * deviation
    return max(squares - off * off / n, 0.0) / (n * (n - 1.0) * (4.0 * n_other * n_other))


@kernel
def share(high, low, total):
    """Return a pair divided by a positive float that is at least as large; the quotient is rounded once."""
    unit = unit_of(total)
    high, low, total = high * unit, low * unit, total * unit
    first = high / total
    back, error = product(first, total)
    return first + ((high - back) - error + low) / total


@kernel
def average_precisions(keys, weights, starts, first, last, values):
    """Write the step-wise average precisions of groups; NaN without positives."""
    for g in range(first, last):
        start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
        tp, tp_low, fp, fp_low = 0.0, 0.0, 0.0, 0.0
        high, low = 0.0, 0.0
        at, i = middle - 1, stop - 1
        up = unit_of(sum_of(weights[middle:stop])[0])  # otherwise products with precision may underflow
        while i >= middle:
            key = keys[i]
            gain, gain_low = 0.0, 0.0
            while i >= middle and keys[i] == key:
                gain, gain_low = add(gain, gain_low, weights[i])
                i -= 1
            while at >= start and keys[at] >= key:
                fp, fp_low = add(fp, fp_low, weights[at])
                at -= 1
            tp, tp_low = add(tp, tp_low, gain)
            tp_low += gain_low
            precision = tp / (tp + fp)
            high, low = add(high, low, gain * up * precision)
            low += gain_low * up * precision
        values[g] = min(share(high, low, tp * up), 1.0) if stop > middle else np.nan


@kernel
def count_at_least(keys, weights, starts, key, above, first, last, cells):
    """Write to cells[slot, 0] the weight of the slot's rows with a key of at least `key` (with `above`, greater).

    The weight of the slot's other rows goes to cells[slot, 1].
    """
    for slot in range(first, last):
        start, stop = starts[slot], starts[slot + 1]
        low, high = start, stop
        while low < high:
            middle = (low + high) >> 1
            if keys[middle] < key or (above and keys[middle] == key):
                low = middle + 1
            else:
                high = middle
        cells[slot, 0], cells[slot, 1] = sum_of(weights[low:stop])[0], sum_of(weights[start:low])[0]
