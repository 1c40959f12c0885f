"""Sort one bucket of keys, alone or with one weight per key."""

import numpy as np

from fastevals._compile.jit import kernel

INSERTED_ROWS = 24  # up to this number, insertion is fastest
DEEP = 32  # cells with more keys are sorted on their own instead of by insertion
FEW_CELLS = 64  # cells that can be filled while a core has the addresses of their memory pages in cache
MUCH = 8  # a cell with more than 1 / MUCH of the keys is large
MANY = 1 << 15  # number of keys, above which the keys of a frequent score are set aside first
PROBES = 1 << 6  # keys that are probed for a frequent score
FREQUENT = 1 << 4  # number of probes with the same key that make the key frequent


@kernel
def range_of(keys):
    """Return the lowest and the highest key."""
    low = keys[0]
    high = keys[0]
    for i in range(keys.size):
        low = min(low, keys[i])
        high = max(high, keys[i])
    return low, high


@kernel
def shift_to_cells(span, wanted, cells):
    """Return the shift that maps offsets up to `span` to about `wanted` cells, at most cells.size."""
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
    """Set cells[c] to the place of the first key of cell c; return the size of the largest cell."""
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
    """Run `count_cells` with one to three keys per cell; return the shift and the size of the largest cell.

    If there are more keys than cells, only FEW_CELLS cells are used, so that the addresses of their memory pages stay
    in cache; most cells are later sorted on their own, again within few pages. If a cell is large, perhaps because of
    ties, all cells are used: with only a few, the keys of the large cell would move again at each level.
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
    """Sort keys that have at most two values."""
    middle = 0
    for i in range(keys.size):
        middle += keys[i] == low
    keys[:middle] = low
    keys[middle:] = high


@kernel
def frequent_pair(keys):
    """Return whether a key of three is frequent, and which; keys that differ only in the lowest bit are equal."""
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
    """Move keys below `high` - 1 to the front and keys above `high` to the end.

    The keys `high` - 1 and `high` come in between. Returns the start and the end of this middle part.
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
    """Return the length of scratch that `sort_keys` needs; keys of a frequent score need none."""
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
    """Copy keys in four passes that put neighbours in order, two keys at a time.

    Each pass stays two keys behind the one before it, so that keys stay in registers, and there is no branch to
    mispredict. With one key per cell on average, one key in a hundred remains out of order.
    """
    m = keys.size
    third, second, first = keys[0], keys[1], keys[2]  # the keys waiting for each pass except the first
    for pair in range((m - 3) // 2):
        i = np.uintp(2 * pair)  # unsigned, as negative indices need checks, which double the time
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
    """Sort `keys` in place, by one counting pass over the bits that differ, followed by insertion.

    Keys of a score shared by many rows are set aside first; their lowest bits differ by class. `scratch` is as long as
    `keys`, or as `scratch_rows` returns; `cells` is working memory of at least two elements. A cell of many keys is
    sorted over its own range, so each level sorts by the next lower bits, and the time is never quadratic.
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
    """Do what `sort_keys` does, and move a weight with each key."""
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
