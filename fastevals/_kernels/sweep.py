"""Sweeps over sorted slots and buckets: counts of pairs, and counts at or above each threshold.

Slots hold marked keys. A marked key is a key without its upper bit, which the slot's number gives, followed by the
row's class as the lowest bit. Marked keys of 32 bits are the upper half of such numbers; keys have 64 bits.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import add, two_sum
from fastevals._kernels.partition import key_of
from fastevals._kernels.sorting import scratch_rows, sort_bits, sort_pairs

FIRST = 1 << 10  # keys that are checked for ties first
HASH = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio
ROWS_PER_STRIP = 1 << 12  # rows whose positives are listed in one go


@kernel
def bits_of(key, flip_below, flip):
    """Return the 64 bits of the score that has a key; this is the inverse of `key_of`."""
    bits = np.int64(key) ^ flip
    return bits ^ ((bits >> np.int64(63)) & flip_below)


@kernel
def distinct(keys):
    """Count the distinct values of ascending keys."""
    groups = min(keys.size, 1)
    for i in range(1, keys.size):
        groups += keys[i] != keys[i - 1]
    return groups


@kernel
def rank_distinct(marked):
    """Do what `rank_marked` does in half the time; U is correct only if all keys are distinct."""
    positives = 0
    places = 0
    groups = min(marked.size, 1)
    for i in range(marked.size):
        positive = np.int64(marked[i] & np.uint64(1))
        positives += positive
        places += positive * i
    for i in range(marked.size - 1):
        groups += (marked[np.uintp(i) + np.uintp(1)] ^ marked[i]) > np.uint64(1)
    return 2 * places - positives * (positives - 1), groups, positives


@kernel
def rank_marked(marked):
    """Return twice the Mann-Whitney U of ascending marked keys, and the numbers of distinct keys and of positives.

    The lowest bit of a marked key is the class. Positives come after the negatives with the same key, so each positive
    adds the number of negatives before its key plus the number before itself. No branch depends on the order of the
    classes, which is unpredictable. If the first keys are distinct, the faster `rank_distinct` is tried.
    """
    doubled_u, groups, positives = rank_distinct(marked[:FIRST])
    if groups == FIRST:
        doubled_u, groups, positives = rank_distinct(marked)
    if groups == marked.size:
        return doubled_u, groups, positives
    doubled_u = 0
    groups = 0
    below = 0
    up_to = 0
    last = marked[0] ^ np.uint64(2) if marked.size else np.uint64(0)
    for i in range(marked.size):
        positive = np.int64(marked[i] & np.uint64(1))
        new = (marked[i] ^ last) > np.uint64(1)
        below = up_to if new else below
        groups += new
        up_to += 1 - positive
        doubled_u += positive * (below + up_to)
        last = marked[i]
    return doubled_u, groups, marked.size - up_to


@kernel
def largest_scratch(marked, starts):
    """Return the length of scratch that `rank_slots` needs to sort any of the slots."""
    rows = 0
    for slot in range(starts.size - 1):
        rows = max(rows, scratch_rows(marked[starts[slot] : starts[slot + 1]]))
    return rows


@kernel
def rank_slots(marked, starts, first, last, scratch, cells, doubled_u, groups, positives):
    """Sort each slot from `first` up to `last` and apply `rank_marked` to it, in one call from Python."""
    for slot in range(first, last):
        here = marked[starts[slot] : starts[slot + 1]]
        sort_bits(here, scratch, cells)
        doubled_u[slot], groups[slot], positives[slot] = rank_marked(here)


@kernel
def sweep_slots(marked, starts, first, last, tp, fp, flip_below, flip, step, bits, tps, fps):
    """Write each distinct score and the counts at or above it, from the highest key of sorted slots down.

    With step 1 the highest score comes first, with step -1 it comes last. Tied rows overwrite each other.
    """
    one = np.uint64(1)
    unused = np.uint64(64 - 8 * marked.itemsize)
    g = np.int64(-1) if step > 0 else np.int64(bits.size)
    for slot in range(last - 1, first - 1, -1):
        start, stop = starts[slot], starts[slot + 1]
        upper = np.uint64(slot & 1) << np.uint64(63)
        above = marked[np.uintp(stop - 1)] ^ np.uint64(2) if start < stop else one
        for i in range(start, stop):
            mark = marked[np.uintp(start + stop - 1 - i)]
            g += step * np.int64((mark ^ above) > one)
            row = np.uintp(g)  # unsigned, as negative indices need checks, which double the time
            tp += np.int64(mark & one)
            fp += np.int64(~mark & one)
            bits[row] = bits_of((mark >> one << unused) | upper, flip_below, flip)
            tps[row] = tp
            fps[row] = fp
            above = mark


@kernel
def sum_precision(marked, starts, first, last, tp, fp):
    """Return, as a pair, the sum over the distinct keys of sorted slots of gained true positives times precision.

    Computes `areas.average_precision` without intermediate counts, at least three times as fast. The positives of a
    strip are listed first, without an unpredictable branch on the class, so that only positives take more than one
    step. Rounding errors are added up separately (Ogita, Rump and Oishi 2005, doi:10.1137/030601818).
    """
    high, low = 0.0, 0.0
    one = np.uint64(1)
    listed = np.empty(ROWS_PER_STRIP, dtype=np.int64)
    rows = tp + fp
    for slot in range(last - 1, first - 1, -1):
        here = marked[starts[slot] : starts[slot + 1]]
        stop = here.size
        while stop > 0:
            start = max(stop - ROWS_PER_STRIP, 0)
            n = 0
            for i in range(stop - 1, start - 1, -1):
                listed[n] = i
                n += np.int64(here[np.uintp(i)] & one)
            k = 0
            while k < n:
                row = listed[k]
                end = row
                gain = 1
                while end > 0 and here[end - 1] | one == here[row] | one:  # a tie may continue below the strip
                    end -= 1
                    gain += np.int64(here[end] & one)
                k += gain
                tp += gain
                start = min(start, end)
                high, lost = two_sum(high, gain * (tp / float(rows + here.size - end)))
                low += lost
            stop = start
        rows += here.size
    return high, low


@kernel
def keep_bends(marked, starts, first, top, bits, tps, fps):
    """Move to the front the rows at which the ROC polyline's step changes; return the number of these rows.

    The rows that `sweep_slots` wrote (`first` is the lowest slot) begin at row 1. Row 0 is the row before them, and the
    last row has room for the row after them. The highest threshold (in the sweep with `top` set) and the lowest are
    kept.
    """
    slot = first - 1
    while slot >= 0 and starts[slot + 1] == starts[slot]:
        slot -= 1
    end = bits.size - 1
    tps[end] = tps[end - 1]
    fps[end] = fps[end - 1]
    if slot >= 0:
        i = starts[slot + 1] - 1
        highest = marked[i]
        while i >= starts[slot] and (marked[i] ^ highest) <= np.uint64(1):
            positive = np.int64(marked[i] & np.uint64(1))
            tps[end] += positive
            fps[end] += 1 - positive
            i -= 1
    kept = 0
    dtp = np.int64(-1) if top else tps[1] - tps[0]
    dfp = fps[1] - fps[0]
    for i in range(1, end):
        next_dtp = tps[i + 1] - tps[i]
        next_dfp = fps[i + 1] - fps[i]
        bits[kept], tps[kept], fps[kept] = bits[i], tps[i], fps[i]
        kept += (next_dtp != dtp) | (next_dfp != dfp)
        dtp, dfp = next_dtp, next_dfp
    return kept


@kernel
def unmark_slots(marked, starts, negative, positive):
    """Write the keys of each class, ascending."""
    sides = negative, positive
    unused = np.uint64(64 - 8 * marked.itemsize)
    ends = np.zeros(2, dtype=np.int64)
    for slot in range(starts.size - 1):
        upper = np.uint64(slot & 1) << np.uint64(63)
        for i in range(starts[slot], starts[slot + 1]):
            which = np.int64(marked[i] & np.uint64(1))
            sides[which][ends[which]] = (marked[i] >> np.uint64(1) << unused) | upper
            ends[which] += 1


@kernel
def shift_to_slots(slots):
    """Return the shift that maps 64 bits to a slot of a table whose size is a power of two."""
    shift = np.uint64(64)
    while slots >> np.int64(np.uint64(64) - shift) > 1:
        shift -= np.uint64(1)
    return shift


@kernel
def find_slot(key, shift, keys, rows):
    """Return a key's slot in a hash table, or an empty slot for it; slot h has rows[2 h] and rows[2 h + 1].

    The hash is the upper bits of a product, since the lower bits of decimals often repeat.
    """
    one, mask = np.uintp(1), np.uintp(keys.size - 1)
    h = np.uintp((key * HASH) >> shift)
    while keys[h] != key and rows[h << one] + rows[(h << one) + one] > 0:
        h = (h + one) & mask
    return h


@kernel
def count_by_key(bits, flags, flip_below, flip, room, keys, rows):
    """Count each row at rows[2 h + class], where h is the slot of its key; return the number of new keys.

    If there are more than `room` new keys, stop and return -1.
    """
    one = np.uintp(1)
    shift = shift_to_slots(keys.size)
    taken = 0
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        h = find_slot(key, shift, keys, rows)
        if keys[h] != key:
            if taken == room:
                return -1
            taken += 1
            keys[h] = key
        rows[(h << one) + np.uintp(flags[i])] += 1
    return taken


@kernel
def sum_by_key(bits, flags, weights, flip_below, flip, keys, rows, sums):
    """Add each row's weight to the sums of its key and class in a hash table; return whether there was room.

    The table's size is a power of two. Slot h has keys[h] and, for each class, rows[2 h + class] and two numbers of
    `sums`: a float and its rounding error. There is room for new keys until only a quarter of all slots is empty.
    """
    one = np.uintp(1)
    shift = shift_to_slots(keys.size)
    room = 0
    for h in range(keys.size):
        room += rows[2 * h] + rows[2 * h + 1] == 0
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        h = find_slot(key, shift, keys, rows)
        if keys[h] != key:
            if 4 * room <= keys.size:
                return False
            room -= 1
            keys[h] = key
        k = (h << one) + np.uintp(flags[i])
        rows[k] += 1
        j = k << one
        total, lost = two_sum(sums[j], weights[i])
        sums[j] = total
        sums[j + one] += lost
    return True


@kernel
def sweep_sums(keys, sums, flip_below, flip, bits, tps, fps):
    """Write each distinct score and the sums at or above it, from the highest score down; return how many there are."""
    tp, tp_low, fp, fp_low = 0.0, 0.0, 0.0, 0.0
    g = -1
    for i in range(keys.size - 1, -1, -1):
        if i == keys.size - 1 or keys[i] != keys[i + 1]:
            g += 1
        fp, fp_low = add(fp, fp_low + sums[i, 1], sums[i, 0])
        tp, tp_low = add(tp, tp_low + sums[i, 3], sums[i, 2])
        bits[g] = bits_of(keys[i], flip_below, flip)
        tps[g] = tp
        fps[g] = fp
    return g + 1


@kernel
def rank_pairs(keys, weights, scratch, weight_scratch, cells):
    """Sort a bucket's keys and signed weights; return the number of distinct keys and the class totals as pairs."""
    sort_pairs(keys, weights, scratch, weight_scratch, cells)
    tp, tp_low, fp, fp_low = 0.0, 0.0, 0.0, 0.0
    for i in range(keys.size):
        if weights[i] > 0:
            tp, tp_low = add(tp, tp_low, weights[i])
        else:
            fp, fp_low = add(fp, fp_low, -weights[i])
    return distinct(keys), tp, tp_low, fp, fp_low


@kernel
def sweep_pairs(keys, weights, tp, tp_low, fp, fp_low, flip_below, flip, bits, tps, fps):
    """Write each distinct score and the weights at or above it, from the highest key down, with sums as pairs."""
    g = -1
    for i in range(keys.size - 1, -1, -1):
        if i == keys.size - 1 or keys[i] != keys[i + 1]:
            g += 1
        if weights[i] > 0:
            tp, tp_low = add(tp, tp_low, weights[i])
        else:
            fp, fp_low = add(fp, fp_low, -weights[i])
        bits[g] = bits_of(keys[i], flip_below, flip)
        tps[g] = tp
        fps[g] = fp
