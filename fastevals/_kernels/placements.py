"""Placements: how many rows of the other class are below a row, a tie counting half. All counts are doubled.

Placements are looked up row by row, so that models can be compared without sorting all rows. The sorted keys of a class
have an index of two levels: equal cells over the range of the keys, and in each cell about as many equal steps as it
has keys. This suits keys of floats, whose binades near zero fill most of the range but hold few keys.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.partition import key_of

TRIM = 500  # 1 / TRIM of the keys at each end may be left out of the range
NARROW = 256  # these keys are left out if the others would fill less than 1 / NARROW of the cells
SCANNED_KEYS = 6  # keys compared one by one; larger steps are bisected
LOW_BITS = np.int64(2**32 - 1)


@kernel
def offset_of(key, low, high):
    """Return the distance of a key from `low`; keys outside the range go to its ends."""
    return min(max(key, low), high) - low


@kernel
def shift_to(span, n_cells):
    """Return the shift that reduces a span to a number below `n_cells`."""
    shift = np.uint64(0)
    while (span >> shift) >= n_cells:
        shift += np.uint64(1)
    return shift


@kernel
def index_keys(keys, bases, shifts, starts):
    """Index ascending keys; return the range of the cells and the shift from an offset to its cell.

    The steps of cell c are numbered from bases[c]; ``(offset in the cell) >> shifts[c]`` is the step within the cell.
    Step j holds keys[starts[j] : starts[j + 1]]. `starts` has room for one entry more than keys and cells together.
    """
    m = keys.size
    n_cells = np.uint64(bases.size)
    low = keys[0]
    high = keys[m - 1]
    shift = shift_to(high - low, n_cells)
    # Rows of the other class may lie among the outermost keys, so these share one step only if necessary.
    if ((keys[m - 1 - m // TRIM] - keys[m // TRIM]) >> shift) < n_cells // np.uint64(NARROW):
        low = keys[m // TRIM]
        high = keys[m - 1 - m // TRIM]
        shift = shift_to(high - low, n_cells)
    for c in range(bases.size):
        bases[c] = 0
    for i in range(m):
        bases[np.uintp(offset_of(keys[i], low, high) >> shift)] = i + 1
    start = 0
    steps = 0
    for c in range(bases.size):
        size = max(bases[c] - start, 0)
        start += size
        bits = np.uint64(0)
        while (np.int64(2) << np.int64(bits)) <= size and bits < shift:
            bits += np.uint64(1)
        shifts[c] = shift - bits
        bases[c] = steps
        steps += np.int64(1) << np.int64(bits)
    for j in range(steps + 1):
        starts[j] = 0
    within = (np.uint64(1) << shift) - np.uint64(1)
    for i in range(m):
        offset = offset_of(keys[i], low, high)
        starts[step_of(offset, shift, within, bases, shifts) + np.uintp(1)] = i + 1
    for j in range(1, steps + 1):
        starts[j] = max(starts[j], starts[j - 1])
    return low, high, shift


@kernel
def step_of(offset, shift, within, bases, shifts):
    """Return the step of keys with this offset; `within` masks the bits within a cell."""
    cell = np.uintp(offset >> shift)
    return np.uintp(bases[cell]) + np.uintp((offset & within) >> np.uint64(shifts[cell]))


@kernel
def count_below(keys, start, stop, key, or_equal):
    """Return the index in [start, stop) of the first key at or above `key` (with `or_equal`: above it), or `stop`."""
    while start < stop:
        middle = (start + stop) >> 1
        if keys[middle] < key or (or_equal and keys[middle] == key):
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def place_rows(bits, flip_below, flip, keys, low, high, shift, bases, shifts, starts, placements):
    """For each score, given as bits, write its doubled placement.

    It is the number of indexed keys below the score plus the number of keys below or equal to it.
    """
    within = (np.uint64(1) << shift) - np.uint64(1)
    scanned = min(keys.size, SCANNED_KEYS)
    last = keys.size - scanned
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        j = step_of(offset_of(key, low, high), shift, within, bases, shifts)
        start = min(np.int64(starts[j]), last)
        stop = np.int64(starts[j + np.uintp(1)])
        if stop - start <= scanned:
            # Keys before the step are below, keys after it above; looping over a fixed number mispredicts no branch.
            doubled = 2 * start
            for k in range(scanned):  # unrolled, this loop takes a third longer
                doubled += np.int64(keys[np.uintp(start + k)] < key) + np.int64(keys[np.uintp(start + k)] <= key)
            placements[i] = doubled
        else:
            below = count_below(keys, start, stop, key, False)
            placements[i] = below + count_below(keys, below, stop, key, True)


@kernel
def tabulate_placements(keys, shift, table):
    """Write the doubled placement of scores in each cell over the range of ascending keys, or -1 if a cell has keys.

    The first entry is for scores below all keys, the last one for scores above. A score between them is in cell
    ``1 + ((key - keys[0]) >> shift)``.
    """
    table[:] = 0
    for i in range(keys.size):
        table[1 + np.int64((keys[i] - keys[0]) >> shift)] += 1
    below = 0
    for c in range(table.size):
        size = table[c]
        table[c] = -1 if size > 0 else 2 * below
        below += size


@kernel
def sum_placements(bits, flip_below, flip, low, high, shift, table, kept):
    """Return the sum of the placements of scores in cells without keys, and the number of the other scores.

    The keys of the others are written to `kept`, which has one extra element, so that the loop needs no branch.
    """
    total = np.int64(0)
    n = 0
    last = table.size - 1
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        cell = np.int64(offset_of(key, low, high) >> shift) + 1
        cell = 0 if key < low else cell
        cell = last if key > high else cell
        placement = np.int64(table[cell])
        unknown = placement < 0
        total += placement + unknown
        kept[n] = key
        n += unknown
    return total, n


@kernel
def add_products(placements, n_rows, weights, sums):
    """Add the products of two models' first `n_rows` placements, times the weight, to sums[a, b] for each b <= a.

    Sums are exact if the weights of all rows add up to less than 2**30, because the upper and lower 32 bits of the
    products (below 2**62) are added up separately.
    """
    for a in range(placements.shape[0]):
        first = placements[a]
        for b in range(a + 1):
            second = placements[b]
            upper = np.int64(0)
            lower = np.int64(0)
            for i in range(n_rows):
                product = np.int64(first[i]) * np.int64(second[i])
                if weights is None:
                    upper += product >> np.int64(32)
                    lower += product & LOW_BITS
                else:
                    upper += (product >> np.int64(32)) * weights[i]
                    lower += (product & LOW_BITS) * weights[i]
            sums[a, b, 0] += upper
            sums[a, b, 1] += lower


@kernel
def add_to_clusters(placements, rows, codes, sums):
    """Add the placement of each row to the sum of its cluster; codes[rows[i]] is the cluster of placements[i]."""
    for i in range(rows.size):
        sums[codes[rows[i]]] += np.int64(placements[i])
