"""Partition unsorted scores into buckets that are in order of score.

Scores become order-preserving unsigned keys. A table fitted to a sample of the keys sends each key to one of at most 64
buckets of about equal size, so that a bucket fits into the cache when it is sorted. NumPy's vectorised sort takes 6 to
66 ns per value at 10M rows, depending on the processor; partition and bucket sort together take about 10 ns.
"""

import numpy as np

from fastevals._compile.jit import kernel

ROWS_PER_STRIP = 1 << 10  # rows whose keys and cells stay in a core's innermost cache
FINE_CELLS = 1 << 10  # cells into which a cell with several buckets is cut


@kernel
def mark_positive(labels, positive, negative, mask):
    """Write mask = (labels == positive); return how many labels are `positive` or `negative`."""
    known = 0
    for i in range(labels.size):
        mask[i] = labels[i] == positive
        known += (labels[i] == positive) | (labels[i] == negative)
    return known


@kernel
def key_of(bits, flip_below, flip):
    """Turn a score's bits into an order-preserving unsigned key; -0.0 becomes +0.0 (flip_below is 0 for integers)."""
    if bits == np.int64(-(2**63)) and flip_below != 0:
        bits = np.int64(0)
    return np.uint64((bits ^ ((bits >> np.int64(63)) & flip_below)) ^ flip)


@kernel
def fit_cells(sample, first, n_buckets, cells):
    """Assign cells to buckets, numbered from `first`, that have equal shares of the ascending `sample`.

    The number of cells is a power of two. Returns low and shift: key k is in cell (k - low) >> shift. The outermost 0.2
    % of keys at each end do not widen the range, so that one outlier does not squeeze all other keys into one cell.
    """
    m = sample.size
    low = sample[m // 500]
    span = sample[m - 1 - m // 500] - low
    shift = np.uint64(0)
    while (span >> shift) >= np.uint64(cells.size):
        shift += np.uint64(1)
    seen = 0
    bucket = 0
    for cell in range(cells.size):
        cells[cell] = first + bucket
        while seen < m - 1 and (max(sample[seen], low) - low) >> shift <= np.uint64(cell):
            seen += 1
            bucket = seen * n_buckets // m
    return low, shift


@kernel
def fit_buckets(sample, n_buckets, table, lows, shifts, starts, fine):
    """Fit the map from keys to buckets to an ascending sample; return low, shift, and the number of finely cut cells.

    `table[cell]` is an entry: a bucket's number, or a higher number if the cell holds several buckets. In
    `fine`, the cells of an entry begin at `starts[entry]`: one cell if the entry is a bucket, otherwise FINE_CELLS
    cells, fitted to the part of the sample that falls into the entry's cell of `table`.
    """
    low, shift = fit_cells(sample, np.int64(0), n_buckets, table)
    for bucket in range(n_buckets):
        lows[bucket], shifts[bucket], starts[bucket], fine[bucket] = ~np.uint64(0), 0, bucket, bucket
    entry = n_buckets
    seen = 0
    for cell in range(table.size):
        start = seen
        while seen < sample.size and (max(sample[seen], low) - low) >> shift <= np.uint64(cell):
            seen += 1
        bucket = np.int64(table[cell])
        stop = np.int64(table[cell + 1]) if cell + 1 < table.size else n_buckets
        if stop - bucket > 1 and seen > start:
            table[cell] = entry
            starts[entry] = n_buckets + (entry - n_buckets) * FINE_CELLS
            cells = fine[starts[entry] : starts[entry] + FINE_CELLS]
            lows[entry], shifts[entry] = fit_cells(sample[start:seen], bucket, stop - bucket, cells)
            entry += 1
    return low, shift, entry - n_buckets


@kernel
def find_slots(bits, flip_below, flip, low, shift, table, cut, lows, shifts, starts, fine, space):
    """For a strip of rows, return each row's slot: 2 * bucket + the upper bit of the key.

    Keys outside the range of the cells go to the first or last cell. Each loop does one thing, so that loops without
    look-ups are vectorised. Bits may be 64 or 32; the latter are the upper bits of keys. `space` is working memory of
    shape (4, ROWS_PER_STRIP), which also holds the slots.
    """
    n = bits.size
    unused = np.int64(64 - 8 * bits.itemsize)
    one, last = np.uint64(1), np.uint64(table.size - 1)
    cells = space[0, :n]  # shifted by one, with the upper bit of the key as the lowest bit
    for i in range(n):
        key = key_of(np.int64(bits[i]) << unused, flip_below, flip)
        cells[i] = (min((max(key, low) - low) >> shift, last) << one) | (key >> np.uint64(63))
    if cut:
        key_lows, key_shifts, first = space[1, :n], space[2, :n], space[3, :n]
        for i in range(n):
            entry = np.uintp(table[np.uintp(cells[i] >> one)])
            first[i] = starts[entry]
            key_lows[i] = lows[entry]
            key_shifts[i] = shifts[entry]
        last = np.uint64(FINE_CELLS - 1)
        for i in range(n):
            key = key_of(np.int64(bits[i]) << unused, flip_below, flip)
            cell = first[i] + min((max(key, key_lows[i]) - key_lows[i]) >> key_shifts[i], last)
            cells[i] = (cell << one) | (key >> np.uint64(63))
        table = fine
    for i in range(n):
        cells[i] = (np.uint64(table[np.uintp(cells[i] >> one)]) << one) | (cells[i] & one)
    return cells


@kernel
def count_slots(bits, places, flip_below, flip, low, shift, table, cut, lows, shifts, starts, fine, counts, space):
    """Turn each row's class (0 or 1) in `places` into 2 * bucket + class, and count the row in its slot."""
    for start in range(0, bits.size, ROWS_PER_STRIP):
        here = places[start : start + ROWS_PER_STRIP]
        strip = bits[start : start + ROWS_PER_STRIP]
        slots = find_slots(strip, flip_below, flip, low, shift, table, cut, lows, shifts, starts, fine, space)
        for i in range(here.size):
            here[i] += np.uint8(slots[i] & np.uint64(254))
            counts[np.uintp(slots[i])] += 1


@kernel
def place_slots(counts, starts):
    """Replace counts[chunk, slot] by the place of the chunk's first row in the slot, and write where slots start."""
    row = 0
    for slot in range(counts.shape[1]):
        starts[slot] = row
        for chunk in range(counts.shape[0]):
            count = counts[chunk, slot]
            counts[chunk, slot] = row
            row += count
    starts[counts.shape[1]] = row


@kernel
def scatter_keys(bits, places, flip_below, flip, ends, marked):
    """Write a block's keys to their slots; ends[slot] is where the next key of a slot goes.

    The upper bit of a key is dropped and the class becomes its lowest bit, so that sorted keys carry their classes.
    `bits` and `marked` have 64 or 32 bits each.
    """
    one = np.uint64(1)
    unused = np.int64(64 - 8 * bits.itemsize)
    none = np.uint64(unused)
    for i in range(bits.size):
        key = key_of(np.int64(bits[i]) << unused, flip_below, flip)
        slot = np.uintp(places[i] & np.uint8(254)) | np.uintp(key >> np.uint64(63))
        place = ends[slot]
        marked[np.uintp(place)] = (key << one >> none) | (np.uint64(places[i]) & one)
        ends[slot] = place + 1


@kernel
def scatter_pairs(bits, places, weights, flip_below, flip, ends, keys, signed):
    """Write a block's keys to their buckets, with each row's weight; the weights of negative rows are negated."""
    for i in range(bits.size):
        bucket = np.uintp(places[i]) >> np.uintp(1)
        place = ends[bucket]
        keys[np.uintp(place)] = key_of(bits[i], flip_below, flip)
        signed[np.uintp(place)] = weights[i] if places[i] & np.uint8(1) else -weights[i]
        ends[bucket] = place + 1
