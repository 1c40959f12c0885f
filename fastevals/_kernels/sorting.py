"""Sort one bucket of keys, alone or with one weight per key.

Counting brings the keys near their places; networks of minima and maxima do the rest in vector registers.
"""

import numpy as np

from fastevals._compile.jit import kernel

INSERTED_ROWS = 24  # up to this number, insertion is fastest
DEEP = 32  # cells with more keys are sorted on their own instead of by insertion
CELLS = 1 << 15  # cells that suffice for any number of keys
FEW_CELLS = 64  # cells that can be filled while a core has the addresses of their memory pages in cache
MUCH = 8  # a cell with more than 1 / MUCH of the keys is large
PIECE_ROWS = 1 << 15  # most keys that are sorted in one go, so that they stay in a core's cache
JOINED_ROWS = 1 << 11  # small neighbouring pieces are joined up to this number of keys
LEAST_NORMAL = np.uint64(1 << 52)  # the bits of the smallest normal float
LEAST_SHORT_NORMAL = np.uint64(1 << 23)  # the bits of the smallest normal float32
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
    return np.uint64(low), np.uint64(high)


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
    shift = shift_to_cells(high - low, np.int64(FEW_CELLS), cells)
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
    for i in range(above):  # an assignment of slices would take seconds to compile
        keys[stop + i] = scratch[i]
    return below, stop


@kernel
def part_at(keys, middle, scratch):
    """Move keys up to `middle` to the front, and the other keys behind them; return the number of keys in front."""
    below = 0
    above = 0
    for i in range(keys.size):
        key = keys[i]
        keys[np.uintp(below)] = key
        scratch[np.uintp(above)] = key
        below += key <= middle
        above += key > middle
    for i in range(above):
        keys[below + i] = scratch[i]
    return below


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
def insert_from(keys, first):
    """Sort a few keys in place by inserting keys from place `first` on; the keys before it are ascending."""
    for i in range(first, keys.size):
        key = keys[i]
        if keys[i - 1] > key:
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key


@kernel
def sort_eights(keys):
    """Sort each eight keys by Batcher's network (1968, doi:10.1145/1468075.1468121) of 19 minima and maxima.

    The loop has no branch, so several eights are sorted at once, one in each lane of the vector registers.
    """
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    five, six, seven = np.uintp(5), np.uintp(6), np.uintp(7)
    for eight in range(keys.size // 8):
        i = np.uintp(8 * eight)
        a, b, c, d = keys[i], keys[i + one], keys[i + two], keys[i + three]
        e, f, g, h = keys[i + four], keys[i + five], keys[i + six], keys[i + seven]
        a, b, c, d = min(a, b), max(a, b), min(c, d), max(c, d)
        e, f, g, h = min(e, f), max(e, f), min(g, h), max(g, h)
        a, c, b, d = min(a, c), max(a, c), min(b, d), max(b, d)
        e, g, f, h = min(e, g), max(e, g), min(f, h), max(f, h)
        b, c, f, g = min(b, c), max(b, c), min(f, g), max(f, g)
        a, e, b, f = min(a, e), max(a, e), min(b, f), max(b, f)
        c, g, d, h = min(c, g), max(c, g), min(d, h), max(d, h)
        c, e, d, f = min(c, e), max(c, e), min(d, f), max(d, f)
        b, c, d, e, f, g = min(b, c), max(b, c), min(d, e), max(d, e), min(f, g), max(f, g)
        keys[i], keys[i + one], keys[i + two], keys[i + three] = a, b, c, d
        keys[i + four], keys[i + five], keys[i + six], keys[i + seven] = e, f, g, h


@kernel
def merge_fours(keys):
    """Merge the first and the last four of each eight keys, both ascending, in lanes like `sort_eights`."""
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    five, six, seven = np.uintp(5), np.uintp(6), np.uintp(7)
    for eight in range(keys.size // 8):
        i = np.uintp(8 * eight)
        a, b, c, d = keys[i], keys[i + one], keys[i + two], keys[i + three]
        e, f, g, h = keys[i + four], keys[i + five], keys[i + six], keys[i + seven]
        a, e, b, f = min(a, e), max(a, e), min(b, f), max(b, f)
        c, g, d, h = min(c, g), max(c, g), min(d, h), max(d, h)
        c, e, d, f = min(c, e), max(c, e), min(d, f), max(d, f)
        b, c, d, e, f, g = min(b, c), max(b, c), min(d, e), max(d, e), min(f, g), max(f, g)
        keys[i], keys[i + one], keys[i + two], keys[i + three] = a, b, c, d
        keys[i + four], keys[i + five], keys[i + six], keys[i + seven] = e, f, g, h


@kernel
def sort_ordered(keys):
    """Return whether the keys were in ascending order, or in descending order; the latter are reversed."""
    m = keys.size
    i = 1
    while i < m and keys[i - 1] <= keys[i]:
        i += 1
    if i == m:
        return True
    i = 1
    while i < m and keys[i - 1] >= keys[i]:
        i += 1
    if i == m:
        for k in range(m // 2):
            keys[k], keys[m - 1 - k] = keys[m - 1 - k], keys[k]
    return i == m


@kernel
def sort_near(keys):
    """Sort keys that are near their places.

    Eights are sorted, then eights that begin four keys later. Keys that were at most four places away are then in
    order; the few others are inserted, from the ends of eights where neighbours are out of order.
    """
    m = keys.size
    sort_eights(keys)
    insert_from(keys[m & -8 :], 1)
    merge_fours(keys[4:])
    end = 4 + ((m - 4) & -8)  # of the last merged eight
    for start in range(4, end, 8):
        i = np.uintp(start)
        if keys[i - np.uintp(1)] > keys[i]:
            insert_from(keys[: start + 8], start)
    insert_from(keys, end)


@kernel
def sort_piece(source, out, low, high, floats, cells):
    """Write the keys of `source` to `out` in order, by one counting pass, unless there is a cell of many keys.

    There are one to three keys per cell, so keys come near their places; `sort_near` does the rest. If a cell has more
    than DEEP keys, keys are only in order of their cells. Return the shift to cells and the size of the largest cell.
    `floats` is working memory as long as `source`, or `out` itself, viewed as floats of the same width: the keys are
    sorted as the bits of positive floats, since a minimum of floats takes one instruction. That needs `high` - `low` to
    be below `wide`.
    """
    room = floats.view(source.dtype)
    m = source.size
    wanted = max(min(cells.size, 3 * m // 4), 2)
    shift = np.uint64(0)
    while (high - low) >> shift >= np.uint64(wanted):
        shift += np.uint64(1)
    deepest = count_cells(source, low, high, shift, cells)
    base = LEAST_NORMAL if source.itemsize == 8 else LEAST_SHORT_NORMAL
    for i in range(m):
        offset = source[i] - low
        cell = np.uintp(offset >> shift)
        place = cells[cell]
        room[np.uintp(place)] = offset + base
        cells[cell] = place + 1
    if deepest <= DEEP:
        sort_near(floats)
    base -= low
    for i in range(m):
        out[i] = room[i] - base
    return shift, deepest


@kernel
def split_keys(keys, low, high, scratch, cells):
    """Move keys to `scratch`, in order of few cells; `cells[c]` becomes the end of cell c. Return the shift to cells.

    Only FEW_CELLS cells are used, so that the addresses of their memory pages stay in cache. If a cell is large,
    perhaps because of ties, half of all cells are used: with only a few, the keys of the large cell would move again.
    """
    shift = shift_to_cells(high - low, FEW_CELLS, cells)
    deepest = count_cells(keys, low, high, shift, cells)
    if deepest > keys.size // MUCH:
        shift = shift_to_cells(high - low, keys.size, cells)
        count_cells(keys, low, high, shift, cells)
    for i in range(keys.size):
        cell = np.uintp((keys[i] - low) >> shift)
        place = cells[cell]
        scratch[np.uintp(place)] = keys[i]
        cells[cell] = place + 1
    return shift


@kernel
def sort_keys(keys, scratch, cells):
    """Sort 64-bit keys in place, see `sort_bits`; `scratch` has the dtype of keys."""
    sort_bits(keys, scratch.view(np.float64), cells)


@kernel
def sort_bits(keys, floats, cells):
    """Sort keys of 64 or 32 bits in place.

    Many keys are first split into pieces that stay in a core's cache with their working memory; a piece is then sorted
    by `sort_piece`. Keys of a score shared by many rows are set aside first; their lowest bits differ by class.
    Keys that span a quarter of all keys or more, as those of scores of both signs do, are first parted in the middle.
    `floats` is working memory as wide as `keys` and as long as `keys`, or as `scratch_rows` returns; `cells` has at
    least 64 elements. A cell of many keys is sorted over its own range, so each level sorts by the next lower bits, and
    the time is never quadratic. The function calls itself in two places only: each takes half a second to compile.
    """
    m = keys.size
    if m <= INSERTED_ROWS:
        insert_from(keys, 1)
        return
    if sort_ordered(keys):
        return
    low, high = range_of(keys)
    if high - low <= np.uint64(1):  # rows of one score, in two classes
        fill_two(keys, low, high)
        return
    room_of_keys = floats.view(keys.dtype)
    frequent, pair = frequent_pair(keys) if m > MANY else (False, low)
    wide = high - low >= np.uint64(1) << np.uint64(8 * keys.itemsize - 2)  # such offsets are no bits of finite floats
    if frequent or wide:
        below, above = 0, 0
        if frequent:
            below, above = part_at_pair(keys, pair, room_of_keys)
        else:
            below = above = part_at(keys, low + ((high - low) >> np.uint64(1)), room_of_keys)
        for side in range(2):
            sort_bits(keys[above:] if side else keys[:below], floats, cells)
        return
    many = m > PIECE_ROWS
    if many and cells.size < 2 * FEW_CELLS:  # so that cells of cells of cells never run out of cells
        cells = np.empty(CELLS, np.int32)
    half = cells.size // 2 if many else 0
    coarse = split_keys(keys, low, high, room_of_keys, cells[:half]) if many else np.uint64(0)
    n_cells = np.int64((high - low) >> coarse) + 1 if many else 1
    finer = cells[half:]
    floor, top = low, high
    c = 0
    start = 0
    while start < m:
        stop = m
        if many:
            floor = low + (np.uint64(c) << coarse)
            stop = np.int64(cells[c])
            c += 1
            while c < n_cells and cells[c] - start <= JOINED_ROWS:
                stop = np.int64(cells[c])
                c += 1
            top = high if c == n_cells else low + ((np.uint64(c) << coarse) - np.uint64(1))
        piece, space = keys[start:stop], floats[start:stop]
        source, room = (room_of_keys[start:stop], piece.view(floats.dtype)) if many else (piece, space)
        start = stop
        shift, deepest = np.uint64(63), DEEP + 1  # of a piece that is not sorted yet: all keys are in one cell
        if piece.size <= (INSERTED_ROWS if many else 0) or piece.size > PIECE_ROWS:
            for i in range(piece.size):
                piece[i] = source[i]
        else:
            shift, deepest = sort_piece(source, piece, floor, top, room, finer)
        left = 0
        while deepest > DEEP and shift > np.uint64(0) and left < piece.size:
            cell = (piece[left] - floor) >> shift
            right = left + 1
            while right < piece.size and (piece[right] - floor) >> shift == cell:
                right += 1
            if right - left > 1:
                sort_bits(piece[left:right], space, finer)
            left = right


@kernel
def sort_pairs(keys, weights, scratch, weight_scratch, cells):
    """Do what `sort_keys` does, and move a weight with each key; equal keys keep their order."""
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
