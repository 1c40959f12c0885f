"""Bootstrap of the AUC within groups, and of means over groups; rows are stored as in `groups_metrics`."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.groups_metrics import sum_of, unit_of
from fastevals._kernels.random import HALF_WORD, LOW_HALF, bits, stream_key
from fastevals._kernels.sorting import sort_keys


@kernel
def draw_rows(n, key, times):
    """Draw n of n rows with replacement (n < 2**31) and write how often each is drawn; 64 random bits draw two rows."""
    times[:n] = 0
    rows = np.uint64(n)
    for i in range(n // 2):
        random = bits(key, np.uint64(i))
        times[np.uintp((random >> HALF_WORD) * rows >> HALF_WORD)] += 1
        times[np.uintp((random & LOW_HALF) * rows >> HALF_WORD)] += 1
    if n % 2:
        times[np.uintp((bits(key, np.uint64(n // 2)) >> HALF_WORD) * rows >> HALF_WORD)] += 1


@kernel
def draw_aucs(keys, weights, starts, g, key, first, last, times, totals, belows, ties, out):
    """Write the AUC of a group in the replicates from `first` up to `last`, NaN if a class is not drawn.

    Replicate r uses the stream (key, g, r). `times`, `belows` and `ties` are scratch with an entry per row;
    `totals` is scratch with one entry more.
    """
    start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
    n_neg, n_pos = middle - start, stop - middle
    down, up = unit_of(sum_of(weights[start:middle])[0]), unit_of(sum_of(weights[middle:stop])[0])
    below, tied = 0, 0
    for i in range(n_pos):
        if i == 0 or keys[middle + i] != keys[middle + i - 1]:
            below = tied
            while below < n_neg and keys[start + below] < keys[middle + i]:
                below += 1
            tied = below
            while tied < n_neg and keys[start + tied] == keys[middle + i]:
                tied += 1
        belows[i], ties[i] = below, tied
    stream = stream_key(key, np.uint64(g))
    for r in range(first, last):
        draw_rows(n_neg + n_pos, stream_key(stream, np.uint64(r)), times)
        negatives, positives, lost = 0.0, 0.0, 0.0
        for i in range(n_neg):
            totals[i] = negatives
            negatives += times[i] * (weights[start + i] * down)
        totals[n_neg] = negatives
        for i in range(n_pos):
            drawn = times[n_neg + i] * (weights[middle + i] * up)
            positives += drawn
            lost += drawn * ((negatives - totals[belows[i]]) + (negatives - totals[ties[i]]))
        if negatives == 0.0 or positives == 0.0:
            out[r - first] = np.nan
        else:
            pairs = 2.0 * negatives * positives
            out[r - first] = min(max((pairs - lost) / pairs, 0.0), 1.0)


@kernel
def quantile(ascending, share):
    """Return the quantile of ascending values at `share`, interpolated linearly."""
    at = share * (ascending.size - 1)
    i = min(np.int64(at), ascending.size - 1)
    if i + 1 >= ascending.size:
        return ascending[i]
    return ascending[i] + (ascending[i + 1] - ascending[i]) * (at - i)


@kernel
def summarise_draws(values, tail, scratch, cells, out):
    """Sort the replicates' non-negative values; write their interval, standard error and number of undefined values.

    The bits of non-negative floats have the same order as the floats.
    """
    n, mean = 0, 0.0
    for i in range(values.size):
        if values[i] == values[i]:
            values[n] = values[i]
            mean += values[i]
            n += 1
    out[3] = values.size - n
    if n == 0:
        out[0], out[1], out[2] = np.nan, np.nan, np.nan
        return
    kept = values[:n]
    sort_keys(kept.view(np.uint64), scratch, cells)
    mean /= n
    squares = 0.0
    for i in range(n):
        squares += (kept[i] - mean) ** 2
    out[0], out[1] = quantile(kept, tail), quantile(kept, 1.0 - tail)
    out[2] = np.sqrt(squares / (n - 1)) if n > 1 else np.nan
    if kept[0] == kept[n - 1]:
        out[2] = 0.0 if n > 1 else np.nan


@kernel
def draw_spans(keys, weights, starts, first, last, key, number, stop, tail, spaces, values, scratch, cells, out):
    """Draw the replicates from `number` up to `stop`, for each group from `first` up to `last`, into `values`.

    If `tail` is above zero, `values` then holds all replicates of the group, which are summarised in out[g]; a group
    that lacks a class gets NaN. `spaces` is the scratch of `draw_aucs`.
    """
    times, totals, belows, ties = spaces
    for g in range(first, last):
        if starts[2 * g] == starts[2 * g + 1] or starts[2 * g + 1] == starts[2 * g + 2]:
            out[g, 0], out[g, 1], out[g, 2], out[g, 3] = np.nan, np.nan, np.nan, values.size
            continue
        if stop > number:
            draw_aucs(keys, weights, starts, g, key, number, stop, times, totals, belows, ties, values)
        if tail > 0.0:
            summarise_draws(values, tail, scratch, cells, out[g])


@kernel
def weighted_mean(times, values, weights):
    """Return the weighted mean of values, each counted as often as it was drawn; NaN if the total weight is 0."""
    total, base = 0.0, 0.0
    for i in range(values.size):
        weight = times[i] * weights[i]
        base += weight
        total += weight * values[i]
    return total / base if base > 0.0 else np.nan
