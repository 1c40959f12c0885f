"""Sweeps over sorted buckets: pair counts, and the counts at or above each threshold."""

from fastevals._kernels.compensated import add
from fastevals._kernels.jit import kernel
from fastevals._kernels.sorting import sort_keys, sort_pairs

__all__ = ["rank_buckets", "rank_pairs", "sweep_bucket", "sweep_pairs"]


@kernel
def first_at_least(keys, start, key):
    """First place from `start` on whose key is not below `key`, counted eight at a time: no branch to mispredict."""
    while start + 8 <= keys.size:
        below = 0
        for i in range(8):
            below += keys[start + i] < key
        start += below
        if below < 8:
            return start
    while start < keys.size and keys[start] < key:
        start += 1
    return start


@kernel
def distinct(keys):
    """Count the distinct values of ascending keys."""
    groups = min(keys.size, 1)
    for i in range(1, keys.size):
        groups += keys[i] != keys[i - 1]
    return groups


@kernel
def rank_bucket(negative, positive, scratch, cells):
    """Sort both classes of a bucket; give twice its Mann-Whitney U and its number of distinct keys."""
    sort_keys(negative, scratch, cells)
    sort_keys(positive, scratch, cells)
    groups = distinct(negative) + distinct(positive)
    doubled_u = 0
    below = 0
    up_to = 0
    for i in range(positive.size):
        key = positive[i]
        if i == 0 or key != positive[i - 1]:
            below = first_at_least(negative, up_to, key)
            up_to = below
            while up_to < negative.size and negative[up_to] == key:
                up_to += 1
            groups -= up_to > below
        doubled_u += below + up_to
    return doubled_u, groups


@kernel
def rank_buckets(keys, starts, first, last, scratch, cells, doubled_u, groups):
    """`rank_bucket` for the buckets from `first` up to `last`, into arrays: Python is entered seldom."""
    for bucket in range(first, last):
        start, middle, stop = starts[2 * bucket], starts[2 * bucket + 1], starts[2 * bucket + 2]
        within, distinct_keys = rank_bucket(keys[start:middle], keys[middle:stop], scratch, cells)
        doubled_u[bucket] = within
        groups[bucket] = distinct_keys


@kernel
def sweep_bucket(negative, positive, tp, fp, keys, tps, fps):
    """From the highest key of a sorted bucket down, write each distinct key and the counts at or above it."""
    i = positive.size - 1
    j = negative.size - 1
    for g in range(keys.size):
        take_positive = j < 0 or (i >= 0 and positive[i] >= negative[j])
        key = positive[i] if take_positive else negative[j]
        while i >= 0 and positive[i] == key:
            i -= 1
            tp += 1
        while j >= 0 and negative[j] == key:
            j -= 1
            fp += 1
        keys[g] = key
        tps[g] = tp
        fps[g] = fp


@kernel
def rank_pairs(keys, weights, scratch, weight_scratch, cells):
    """Sort a bucket of signed weights; give its number of distinct keys and its class totals as pairs."""
    sort_pairs(keys, weights, scratch, weight_scratch, cells)
    tp, tp_low, fp, fp_low = 0.0, 0.0, 0.0, 0.0
    for i in range(keys.size):
        if weights[i] > 0:
            tp, tp_low = add(tp, tp_low, weights[i])
        else:
            fp, fp_low = add(fp, fp_low, -weights[i])
    return distinct(keys), tp, tp_low, fp, fp_low


@kernel
def sweep_pairs(keys, weights, tp, tp_low, fp, fp_low, thresholds, tps, fps):
    """`sweep_bucket` over signed weights; totals are carried as unevaluated pairs (high, low)."""
    g = -1
    for i in range(keys.size - 1, -1, -1):
        if i == keys.size - 1 or keys[i] != keys[i + 1]:
            g += 1
        if weights[i] > 0:
            tp, tp_low = add(tp, tp_low, weights[i])
        else:
            fp, fp_low = add(fp, fp_low, -weights[i])
        thresholds[g] = keys[i]
        tps[g] = tp
        fps[g] = fp
