"""Placements of rows within their groups; rows are listed by group, negatives first."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.placements import count_below
from fastevals._kernels.sorting import sort_keys


@kernel
def list_slots(codes, classes, ends, order):
    """Write row numbers by slot, 2 * code + class; ends[slot] is the slot's first free place, and moves up."""
    for i in range(codes.size):
        slot = 2 * np.int64(codes[i]) + np.int64(classes[i])
        order[ends[slot]] = i
        ends[slot] += 1


@kernel
def place_groups(keys, order, starts, first, last, own, ranked, scratch, cells, placements):
    """Write the doubled placement of each row of the groups from `first` up to `last`, in the order of `order`.

    The placement is the number of rows of the other class that the row is ranked correctly against; a tie counts half.
    `own` and `ranked` have room for the largest group.
    """
    for g in range(first, last):
        start, middle, stop = starts[2 * g], starts[2 * g + 1], starts[2 * g + 2]
        n_neg, n = middle - start, stop - start
        for i in range(n):
            own[i] = keys[order[start + i]]
            ranked[i] = own[i]
        sort_keys(ranked[:n_neg], scratch, cells)
        sort_keys(ranked[n_neg:n], scratch, cells)
        for i in range(n):
            low, high = (n_neg, n) if i < n_neg else (0, n_neg)
            below = count_below(ranked, low, high, own[i], False)
            up_to = below
            if below < high and ranked[below] == own[i]:
                up_to = count_below(ranked, below, high, own[i], True)
            placements[start + i] = 2 * high - below - up_to if i < n_neg else below + up_to
