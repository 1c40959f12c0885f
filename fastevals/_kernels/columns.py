"""Rank one column of scores in few calls, so that threads rarely run Python code and can work on many columns.

A row is stored as one number: its key, shifted to start at zero, followed by a lowest bit that is 1 for a positive row.
Hence negatives come first among tied rows.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.partition import ROWS_PER_STRIP, find_slots, key_of
from fastevals._kernels.sorting import sort_keys

MIDDLE = np.uint64(2**63)  # key of zero


@kernel
def pack_rows(bits, flags, flip_below, flip, rows):
    """Write each row's number; return the lowest and the highest key, and whether all keys fit.

    Keys of negative floats and keys of positive floats form two distant ranges. The gap between the two is left out,
    except for the key of zero. All keys fit unless the scores span more than half of all floats.
    """
    low = ~np.uint64(0)
    high = np.uint64(0)
    below = np.uint64(0)
    above = ~np.uint64(0)
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        rows[i] = key
        low = min(low, key)
        high = max(high, key)
        below = max(below, key if key < MIDDLE else np.uint64(0))
        above = min(above, key if key > MIDDLE else ~np.uint64(0))
    zero = below - low + np.uint64(1) if low < MIDDLE else np.uint64(0)
    span = zero + (high - above + np.uint64(1) if high > MIDDLE else np.uint64(0))
    if span >= MIDDLE:
        return low, high, False
    up = above - zero - np.uint64(1)
    for i in range(bits.size):
        key = rows[i]
        place = key - low if key < MIDDLE else (key - up if key > MIDDLE else zero)
        rows[i] = (place << np.uint64(1)) | np.uint64(flags[i])
    return low, high, True


@kernel
def sort_rows(packed, slots, low, shift, table, cut, lows, shifts, starts, fine, ends, space, cells, rows):
    """Move packed rows to their buckets in `rows`, by the map of `partition.fit_buckets`, and sort each bucket.

    The packed rows then serve as working memory, like `slots` (of the same length), `space` (see `find_slots`) and
    `cells`. `ends` has one element more than there are buckets and must be all zero.
    """
    none = np.int64(0)
    for start in range(0, packed.size, ROWS_PER_STRIP):
        bits = packed[start : start + ROWS_PER_STRIP].view(np.int64)
        found = find_slots(bits, none, none, low, shift, table, cut, lows, shifts, starts, fine, space)
        for i in range(found.size):
            bucket = found[i] >> np.uint64(1)
            slots[start + i] = bucket
            ends[np.uintp(bucket) + np.uintp(1)] += 1
    for b in range(1, ends.size):
        ends[b] += ends[b - 1]
    for i in range(packed.size):
        bucket = np.uintp(slots[i])
        place = ends[bucket]
        rows[np.uintp(place)] = packed[i]
        ends[bucket] = place + 1
    start = 0
    for b in range(ends.size - 1):
        sort_keys(rows[start : ends[b]], packed, cells)
        start = ends[b]


@kernel
def square_placements(rows):
    """From ascending rows, return two sums of squared doubled placements: one over negatives, one over positives."""
    of_negatives = 0
    of_positives = 0
    negatives = 0
    positives = 0
    i = 0
    while i < rows.size:
        key = rows[i] >> np.uint64(1)
        below = negatives
        under = positives
        while i < rows.size and rows[i] >> np.uint64(1) == key:
            positive = np.int64(rows[i] & np.uint64(1))
            positives += positive
            negatives += 1 - positive
            i += 1
        of_negatives += (negatives - below) * (under + positives) ** 2
        of_positives += (positives - under) * (below + negatives) ** 2
    return of_negatives, of_positives
