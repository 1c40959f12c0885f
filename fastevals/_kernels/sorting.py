"""Sorting of one bucket of keys, alone or with a weight beside each key."""

import numpy as np

from fastevals._compile.jit import kernel

INSERTED_ROWS = 24  # below it insertion is fastest
DEEP = 32  # a cell above it is sorted on its own instead of by insertion
FEW_CELLS = 64  # cells that are filled without leaving the pages whose addresses a core knows
MUCH = 8  # a cell with more than one key of so many holds much
MANY = 1 << 15  # keys, of which those of a frequent score are put aside first
PROBES = 1 << 6  # keys that show whether there is one
FREQUENT = 1 << 4  # of them


@kernel
def range_of(keys):
    """Lowest and highest key."""
    low = keys[0]
    high = keys[0]
    for i in range(keys.size):
        low = min(low, keys[i])
        high = max(high, keys[i])
    return low, high


@kernel
def shift_to_cells(span, wanted, cells):
    """Shift that takes offsets up to `span` to about as many cells as wanted, of those that there are."""
    n_cells = np.uint64(1)
    while n_cells < np.uint64(wanted):
        n_cells <<= np.uint64(1)
    n_cells = min(n_cells, np.uint64(cells.size))
    shift = np.uint64(0)
    while (span >> shift) >= n_cells:
        shift += np.uint64(1)
    return shift


@kernel
def count_cells(keys, low, high, shift, cells):
    """Make cells[c] the place of the first key of cell c; give the size of the largest cell."""
    n_cells = np.int64((high - low) >> shift) + 1
    for c in range(n_cells):
        cells[c] = 0
    for i in range(keys.size):
        cells[np.uintp((keys[i] - low) >> shift)] += 1
    place = 0
    deepest = 0
    for c in range(n_cells):
        size = cells[c]
        cells[c] = place
        place += size
        deepest = max(deepest, size)
    return deepest


@kernel
def place_cells(keys, low, high, cells):
    """`count_cells` with one to three keys for each cell; give the shift and the size of the largest.

    More keys than cells go to few: most of these are then sorted on their own, in pages that are near each other. But
    where one of them holds much, a mass of ties perhaps, all cells are used: it would be moved again at each level.
    """
    if keys.size <= cells.size:
        shift = shift_to_cells(high - low, keys.size * 2 // 3, cells)
        return shift, count_cells(keys, low, high, shift, cells)
    shift = shift_to_cells(high - low, FEW_CELLS, cells)
    deepest = count_cells(keys, low, high, shift, cells)
    if deepest > keys.size // MUCH:
        shift = shift_to_cells(high - low, cells.size, cells)
        deepest = count_cells(keys, low, high, shift, cells)
    return shift, deepest


@kernel
def fill_two(keys, low, high):
    """Sort keys of two values, or one."""
    middle = 0
    for i in range(keys.size):
        middle += keys[i] == low
    keys[:middle] = low
    keys[middle:] = high


@kernel
def frequent_pair(keys):
    """Return whether one key of three is frequent, with the one that differs in the lowest bit, and that key."""
    one = np.uint64(1)
    for quarter in range(1, 4):
        key = keys[quarter * keys.size // 4] | one
        seen = 0
        for probe in range(PROBES):
            seen += keys[probe * keys.size // PROBES] | one == key
        if seen >= FREQUENT:
            return True, key
    return False, one


@kernel
def part_at_pair(keys, high, scratch):
    """Move the keys below a pair, `high` and the one that differs in the lowest bit, to the front, others to the end.

    The pair comes between. Returns where it starts, and where it ends.
    """
    low = high - np.uint64(1)
    below = 0
    above = 0
    highs = 0
    for i in range(keys.size):
        key = keys[i]
        keys[np.uintp(below)] = key
        scratch[np.uintp(above)] = key
        below += key < low
        above += key > high
        highs += key == high
    stop = keys.size - above
    keys[below : stop - highs] = low
    keys[stop - highs : stop] = high
    keys[stop:] = scratch[:above]
    return below, stop


@kernel
def scratch_rows(keys):
    """How long the scratch must be in which `sort_keys` sorts keys: of a frequent score it needs none."""
    if keys.size <= MANY:
        return keys.size
    frequent, high = frequent_pair(keys)
    if not frequent:
        return keys.size
    below, above = 0, 0
    for i in range(keys.size):
        below += keys[i] < high - np.uint64(1)
        above += keys[i] > high
    return min(max(below, above + 1), keys.size)


@kernel
def swap_neighbours(keys, out):
    """Copy keys, of which four passes over neighbours on the way put two at a time in order.

    The passes follow each other two keys behind, so that keys stay in registers, and there is no branch to mispredict:
    where cells hold a key on average, one key in a hundred is left out of order.
    """
    m = keys.size
    third, second, first = keys[0], keys[1], keys[2]  # what waits for each pass but the first
    for pair in range((m - 3) // 2):
        i = np.uintp(2 * pair)  # unsigned, it takes half the time: nothing asks whether to count from the end
        left, right = keys[i + np.uintp(3)], keys[i + np.uintp(4)]
        lower, upper = min(left, right), max(left, right)
        lower, first_upper = min(first, lower), max(first, lower)
        lower, second_upper = min(second, lower), max(second, lower)
        out[i], out[i + np.uintp(1)] = min(third, lower), max(third, lower)
        third, second, first = second_upper, first_upper, upper
    end = (m - 1) | 1
    out[end - 3], out[end - 2], out[end - 1] = third, second, first
    if end < m:
        out[end] = keys[end]


@kernel
def sort_keys(keys, scratch, cells):
    """Sort `keys` in place: one counting pass over the bits that differ, then insertion.

    Keys of a score that many rows share, in two classes, are put aside before.
    `scratch` is as long as `scratch_rows` says, or as `keys`; `cells` is working memory, two or more of them. A cell of
    many keys is sorted by itself on its own range, so every level settles further bits: never quadratic.
    """
    m = keys.size
    if m > INSERTED_ROWS:
        low, high = range_of(keys)
        if high - low <= np.uint64(1):  # rows of one score, in two classes
            fill_two(keys, low, high)
            return
        frequent, pair = frequent_pair(keys) if m > MANY else (False, low)
        if frequent:
            start, stop = part_at_pair(keys, pair, scratch)
            sort_keys(keys[:start], scratch, cells)
            sort_keys(keys[stop:], scratch, cells)
            return
        shift, deepest = place_cells(keys, low, high, cells)
        for i in range(m):
            cell = np.uintp((keys[i] - low) >> shift)
            place = cells[cell]
            scratch[np.uintp(place)] = keys[i]
            cells[cell] = place + 1
        swap_neighbours(scratch[:m], keys)
        if deepest > DEEP:
            start = 0
            while start < m:
                cell = (keys[start] - low) >> shift
                stop = start + 1
                while stop < m and (keys[stop] - low) >> shift == cell:
                    stop += 1
                if shift > np.uint64(0) and stop - start > 1:
                    sort_keys(keys[start:stop], scratch, cells)
                start = stop
            return
    for i in range(1, m):
        key = keys[i]
        if keys[i - 1] > key:
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key


@kernel
def sort_pairs(keys, weights, scratch, weight_scratch, cells):
    """`sort_keys` that carries a weight with each key."""
    m = keys.size
    if m > INSERTED_ROWS:
        low, high = range_of(keys)
        if low == high:
            return
        shift, deepest = place_cells(keys, low, high, cells)
        for i in range(m):
            cell = np.uintp((keys[i] - low) >> shift)
            place = cells[cell]
            scratch[np.uintp(place)] = keys[i]
            weight_scratch[np.uintp(place)] = weights[i]
            cells[cell] = place + 1
        for i in range(m):
            keys[i] = scratch[i]
            weights[i] = weight_scratch[i]
        if deepest > DEEP:
            start = 0
            while start < m:
                cell = (keys[start] - low) >> shift
                stop = start + 1
                while stop < m and (keys[stop] - low) >> shift == cell:
                    stop += 1
                if shift > np.uint64(0) and stop - start > 1:
                    sort_pairs(keys[start:stop], weights[start:stop], scratch, weight_scratch, cells)
                start = stop
            return
    for i in range(1, m):
        key = keys[i]
        weight = weights[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            weights[j] = weights[j - 1]
            j -= 1
        keys[j] = key
        weights[j] = weight
