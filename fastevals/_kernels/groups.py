"""Gather rows by group, with each group's scores sorted within each class.

Groups are numbered by codes; 2 * code + class is a row's slot. Rows are first scattered to runs of consecutive codes.
There are so few runs that all places written to stay in cache. Then the rows of each run are moved to their slots.
Both passes take linear time, whatever the number and sizes of the groups.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.partition import key_of
from fastevals._kernels.sorting import sort_keys, sort_pairs


@kernel
def count_runs(codes, shift, counts):
    """Count the rows of each run of codes."""
    for i in range(codes.size):
        counts[np.uintp(codes[i] >> shift)] += 1


@kernel
def scatter_rows(bits, codes, classes, weights, flip_below, flip, shift, ends, keys, slots, weights_out):
    """Write the keys, slots and weights (if any) of a block's rows to their runs; ends[run] is the next free place."""
    for i in range(bits.size):
        run = np.uintp(codes[i] >> shift)
        place = np.uintp(ends[run])
        keys[place] = key_of(bits[i], flip_below, flip)
        slots[place] = codes[i] * np.uint32(2) + classes[i]
        if weights is not None:
            weights_out[place] = weights[i]
        ends[run] += 1


@kernel
def settle_runs(keys, slots, weights, run_starts, first, last, shift, sizes, places, scratch, weight_scratch, cells):
    """Sort the runs from `first` up to `last` by slot, and each slot by key; write the number of rows in each slot.

    `places` has room for a run's slots, and the scratch arrays for the largest run.
    """
    width = np.int64(2) << np.int64(shift)
    for run in range(first, last):
        low = run * width
        n_slots = min(width, sizes.size - low)
        start, stop = run_starts[run], run_starts[run + 1]
        here = sizes[low : low + n_slots]
        for i in range(start, stop):
            here[np.int64(slots[i]) - low] += 1
            scratch[i - start] = keys[i]
            if weights is not None:
                weight_scratch[i - start] = weights[i]
        place = start
        for slot in range(n_slots):
            places[slot] = place
            place += here[slot]
        for i in range(start, stop):
            slot = np.uintp(np.int64(slots[i]) - low)
            to = np.uintp(places[slot])
            keys[to] = scratch[i - start]
            if weights is not None:
                weights[to] = weight_scratch[i - start]
            places[slot] += 1
        stop = start
        for slot in range(n_slots):
            start, stop = stop, stop + here[slot]
            if stop - start > 1:
                if weights is None:
                    sort_keys(keys[start:stop], scratch, cells)
                else:
                    sort_pairs(keys[start:stop], weights[start:stop], scratch, weight_scratch, cells)


@kernel
def count_groups(groups, true, predicted, weights, low, n_groups, low_label, n_labels, lane, counts):
    """Add each row's weight (1 if None) to its cell [group, true, predicted]; return the number of rows without a cell.

    Every second row is counted `lane` cells further on, so that adding a row need not wait for an equal
    row just before it.
    """
    n, k, step = np.uint64(n_groups), np.uint64(n_labels), np.uint64(lane)
    outside = 0
    for i in range(groups.size):
        g = np.uint64(groups[i] - low)
        a, b = np.uint64(true[i] - low_label), np.uint64(predicted[i] - low_label)
        if g < n and a < k and b < k:
            counts[(g * k + a) * k + b + (np.uint64(i) & UNIT_64) * step] += 1 if weights is None else weights[i]
        else:
            outside += 1
    return outside
