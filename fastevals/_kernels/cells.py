"""Cells of scores, which count the rows between two keys by class, and grids that define disjoint cells.

A grid is an array of ascending cuts: cell i holds the keys from cuts[i - 1] up to, but not including, cuts[i]. The
upper 16 bits of a key (its prefix) select a row of the grid's index; for keys of floats a prefix covers a sixteenth of
an octave. If a prefix's cuts, except at most two, are spaced evenly, a power of two apart, the cell is computed without
a branch. (The two exceptions may enclose a score shared by many rows, or be requested thresholds.) Otherwise a table of
slots gives the first cell that may hold the key.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.partition import key_of

PREFIX = 48  # lower bits that are not part of a prefix
PREFIXES = 1 << 16
ROW = 6  # numbers per prefix
SLOTS = 8  # slots per cut of a prefix that needs a table
WALKED_CUTS = 8  # cuts in a slot, above which bisection replaces a linear search
ATOM = 3  # sampled rows with the same key that count as a tie
TIED_SHARE = 0.25  # share of ties in the pairs within cells, above which keys with many rows get their own cells
UNEVEN = 1.7  # sum of the cells' squared weights, relative to equal weights, above which cuts follow the sample
EXPONENT = np.int64(0x7FF0000000000000)
END = np.uint64(2**64 - 1)  # greater than the key of any score
TABLE = np.uint64(1 << 63)  # marks a prefix that has a table


@kernel
def count_infinite(bits):
    """Count the infinite and NaN values of a float64 array from its bits.

    This takes one pass; finding both extremes would take two.
    """
    n = 0
    for i in range(bits.size):
        n += (bits[i] & EXPONENT) == EXPONENT
    return n


@kernel
def lattice_of(cuts, first, stop):
    """Check whether cuts[first:stop], except at most two, are spaced evenly, a power of two apart.

    Returns the first evenly spaced cut, the base-2 logarithm of the spacing, the number of these cuts (0 if the check
    fails), and the two other cuts. Up to three cuts count as one cut and two others. With more cuts, the spacing is
    the widest gap, since at least one gap contains no other cut.
    """
    n = stop - first
    start, shift, on = cuts[first], np.uint64(0), 1
    other, another = END, END
    if n > 3:
        step, at = UNIT_64, first
        for i in range(first + 1, stop):
            if cuts[i] - cuts[i - 1] > step:
                step, at = cuts[i] - cuts[i - 1], i
        if step & (step - UNIT_64) != np.uint64(0):
            return start, shift, 0, other, another
        while (UNIT_64 << shift) < step:
            shift += UNIT_64
        phase, on = cuts[at] & (step - UNIT_64), 0
        last, others = start, 0
        for i in range(first, stop):
            if cuts[i] & (step - UNIT_64) != phase:
                other, another = another, cuts[i]
                others += 1
            else:
                if on == 0:
                    start = cuts[i]
                last = cuts[i]
                on += 1
        if others > 2 or start < step or (last - start) >> shift != np.uint64(on - 1):
            return start, shift, 0, other, another
    elif n > 1:
        other = cuts[first + 1]
        another = cuts[first + 2] if n > 2 else END
    return start, shift, on, other, another


@kernel
def index_cuts(cuts, rows, slots):
    """Fill a grid's index with six numbers per prefix (see `cell_of`); `cuts` must end with the largest key."""
    used = 0
    at = 0
    n_cuts = cuts.size - 1
    for prefix in range(PREFIXES):
        start = np.uint64(prefix) << np.uint64(PREFIX)
        while at < n_cuts and cuts[at] <= start:
            at += 1
        first = at
        while at < n_cuts and (cuts[at] >> np.uint64(PREFIX)) == np.uint64(prefix):
            at += 1
        n = at - first
        low, shift, last, base = np.uint64(0), np.uint64(63), np.uint64(0), np.uint64(first)
        other, another = END, END
        if n > 0:
            on_lattice, shift, on, other, another = lattice_of(cuts, first, at)
            if on > 0:
                low, last = on_lattice - (UNIT_64 << shift), np.uint64(on)
            else:
                low, other, another, shift = cuts[first], END, END, np.uint64(0)
                span = cuts[at - 1] - low
                while (span >> shift) >= np.uint64(SLOTS * n):
                    shift += UNIT_64
                last, base = span >> shift, TABLE | np.uint64(used)
                cell = first
                for slot in range(np.int64(last) + 1):
                    edge = low + (np.uint64(slot) << shift)
                    while cell < at and cuts[cell] <= edge:
                        cell += 1
                    slots[used + slot] = cell
                used += np.int64(last) + 1
                slots[used] = at
                used += 1
        i = ROW * prefix
        rows[i], rows[i + 1], rows[i + 2], rows[i + 3] = low, shift, last, base
        rows[i + 4], rows[i + 5] = other, another
    return used


@kernel
def search(key, low, slot, cuts, slots):
    """Return the cell of a key by searching the cells that its slot lists."""
    cell, stop = np.uintp(slots[slot]), np.uintp(slots[slot + np.uintp(1)])
    if key < low:
        return cell - np.uintp(1)
    while stop > cell + np.uintp(WALKED_CUTS):
        middle = (cell + stop) >> np.uintp(1)
        if cuts[middle] <= key:
            cell = middle + np.uintp(1)
        else:
            stop = middle
    while cuts[cell] <= key:
        cell += np.uintp(1)
    return cell


@kernel
def cell_of(key, cuts, rows, slots):
    """Return the cell of a key: the first cell of its prefix plus the number of steps from `low` to the key.

    A prefix's row in the index holds the key at which its steps begin, the base-2 logarithm of a step's size, the last
    step, the first cell, and two cuts between steps. If the upper bit of the first cell is set, its other bits are
    instead the position in `slots` at which the steps' first possible cells are listed.
    """
    row = np.uintp(key >> np.uint64(PREFIX)) * np.uintp(ROW)
    low, base = rows[row], rows[row + np.uintp(3)]
    step = min((max(key, low) - low) >> rows[row + np.uintp(1)], rows[row + np.uintp(2)])
    # This is computed before the branch; computing it afterwards takes four times as long.
    others = np.uint64(key >= rows[row + np.uintp(4)]) + np.uint64(key >= rows[row + np.uintp(5)])
    if base < TABLE:
        return np.uintp(base + step + others)
    return search(key, low, np.uintp((base ^ TABLE) + step), cuts, slots)


@kernel
def count_in_cells(bits, flags, flip_below, flip, cuts, rows, slots, counts, beyond):
    """Count each row in its cell: negatives at counts[2 * cell], positives at counts[2 * cell + 1].

    Counts have 16 bits so that more of them stay in a near cache; `beyond` collects their overflow.
    """
    for i in range(bits.size):
        cell = cell_of(key_of(bits[i], flip_below, flip), cuts, rows, slots)
        at = (cell << np.uintp(1)) + np.uintp(flags[i])
        count = np.uint16(counts[at] + np.uint16(1))
        counts[at] = count
        if count == np.uint16(0):
            beyond[at] += 1 << 16


@kernel
def count_with_ends(bits, flags, flip_below, flip, cuts, rows, slots, counts, ends):
    """Count each row at counts[flag, cell], and keep the cell's extreme keys, as signed integers of the same order.

    ends[0, cell] is the largest complement of a key, so the complement of the lowest; ends[1, cell] is the largest key.
    """
    for i in range(bits.size):
        key = key_of(bits[i], flip_below, flip)
        cell = cell_of(key, cuts, rows, slots)
        signed = np.int64(key ^ TABLE)
        counts[np.uintp(flags[i]), cell] += 1
        ends[0, cell] = max(ends[0, cell], ~signed)
        ends[1, cell] = max(ends[1, cell], signed)


@kernel
def sum_in_cells(bits, flags, weights, flip_below, flip, cuts, rows, slots, counts):
    """Do what `count_in_cells` does, but add each row's integer weight instead of 1."""
    for i in range(bits.size):
        cell = cell_of(key_of(bits[i], flip_below, flip), cuts, rows, slots)
        counts[(cell << np.uintp(1)) + np.uintp(flags[i])] += weights[i]


@kernel
def find_cells(bits, flip_below, flip, cuts, rows, slots, cells):
    """Write the cell of each row."""
    for i in range(bits.size):
        cells[i] = cell_of(key_of(bits[i], flip_below, flip), cuts, rows, slots)


@kernel
def held_cells(cuts, lowest, highest, counts, low, high, held):
    """Write the non-empty cells: their lowest and highest keys, and their counts."""
    n = 0
    for cell in range(cuts.size + 1):
        if counts[0, 2 * cell] != 0 or counts[0, 2 * cell + 1] != 0:
            low[n] = lowest if cell == 0 else cuts[cell - 1]
            high[n] = highest if cell == cuts.size else cuts[cell] - UNIT_64
            for k in range(counts.shape[0]):
                held[n, 2 * k], held[n, 2 * k + 1] = counts[k, 2 * cell], counts[k, 2 * cell + 1]
            n += 1


@kernel
def doubt_of(counts, is_wide):
    """Return the number of rows of each class and, in wide cells, of (negative, positive) pairs and of all pairs."""
    negatives, positives, pairs, squares = 0.0, 0.0, 0.0, 0.0
    for cell in range(is_wide.size):
        n, p = float(counts[2 * cell]), float(counts[2 * cell + 1])
        negatives += n
        positives += p
        pairs += n * p * is_wide[cell]
        squares += (n + p) * (n + p) * is_wide[cell]
    return negatives, positives, pairs, squares


@kernel
def simplest_between(low, high):
    """Return the key in (low, high] with the most trailing zeros; other data are then likely to get the same key."""
    bit = np.uint64(0)
    while bit < np.uint64(63) and (high >> (bit + UNIT_64)) << (bit + UNIT_64) > low:
        bit += UNIT_64
    return (high >> bit) << bit


@kernel
def keys_by_class(bits, flags, start, step, flip_below, flip, negatives, positives):
    """Write the keys of every `step`-th row by class; return the number of negatives."""
    n, p = 0, 0
    for i in range(start, bits.size, step):
        key, flag = key_of(bits[i], flip_below, flip), np.int64(flags[i])
        negatives[n] = key  # overwritten later if the row is positive
        positives[p] = key
        n += 1 - flag
        p += flag
    return n


@kernel
def merge_classes(negatives, positives, keys, counts):
    """Merge the ascending keys of both classes; return the number of distinct keys.

    Writes the distinct keys and, for each key, the number of rows of each class.
    """
    i, j, n = 0, 0, 0
    while i < negatives.size or j < positives.size:
        key = END if i == negatives.size else negatives[i]
        if j < positives.size:
            key = min(key, positives[j])
        first, second = i, j
        while i < negatives.size and negatives[i] == key:
            i += 1
        while j < positives.size and positives[j] == key:
            j += 1
        keys[n] = key
        counts[n, 0], counts[n, 1] = i - first, j - second
        n += 1
    return n


@kernel
def fit_cuts(keys, counts, negative, positive, n_cells, cuts):
    """Write ascending cuts with sampled keys of about equal weight between them; return the number of cuts.

    Rows weigh `negative` or `positive`, by class, and the weights of all rows add up to 1. A prefix is the upper bits
    of a key. If a prefix's keys (without the heaviest, if it weighs half a cell or more) are spread evenly, the prefix
    gets cells of equal width; the width is a power of two. In other prefixes, and where ties cause much of the doubt
    within cells, cuts follow the sample: a key heavier than half a cell then gets its own cell.
    """
    n = 0
    pending = 0.0
    share = 1.0 / n_cells
    i = 0
    while i < keys.size:
        prefix = keys[i] >> np.uint64(PREFIX)
        stop, mass, heaviest, atom = i, 0.0, 0.0, -1
        own, tied = 0.0, 0.0  # pairs of sampled rows: each row with itself, and all rows that share a key
        while stop < keys.size and keys[stop] >> np.uint64(PREFIX) == prefix:
            weight = counts[stop, 0] * negative + counts[stop, 1] * positive
            mass += weight
            own += counts[stop, 0] * negative * negative + counts[stop, 1] * positive * positive
            tied += weight * weight
            if counts[stop, 0] + counts[stop, 1] >= ATOM and weight > heaviest:
                heaviest, atom = weight, stop
            stop += 1
        start = prefix << np.uint64(PREFIX)
        if mass < 2 * share and heaviest < share / 2:
            if pending > 0 and pending + mass > share:
                n = add_cut(cuts, n, start)
                pending = 0.0
            pending += mass
            i = stop
            continue
        n = add_cut(cuts, n, start)
        pending = 0.0
        if heaviest < share / 2:
            atom = -1
        else:
            mass -= heaviest
            own -= counts[atom, 0] * negative * negative + counts[atom, 1] * positive * positive
            tied -= heaviest * heaviest
        low, high = keys[i], keys[stop - 1]
        most = max(np.int64(mass * n_cells), 1)
        shift = np.uint64(0)
        while (high >> shift) - (low >> shift) >= np.uint64(most):
            shift += UNIT_64
        first = low >> shift
        n_even = np.int64((high >> shift) - first) + 1
        together, here = 0.0, 0.0  # pairs of rows in one cell
        for k in range(i, stop):
            if k != atom:
                here += counts[k, 0] * negative + counts[k, 1] * positive
            if k + 1 == stop or keys[k + 1] >> shift != keys[k] >> shift:
                together += here * here
                here = 0.0
        if tied - own <= TIED_SHARE * (together - own) and together - own <= UNEVEN * mass * mass / n_even:
            for slot in range(n_even + 1):
                cut = (first + np.uint64(slot)) << shift
                if atom >= 0 and keys[atom] < cut:
                    n = add_cut(cuts, n, keys[atom])
                    n = add_cut(cuts, n, keys[atom] + UNIT_64)
                    atom = -1
                n = add_cut(cuts, n, cut)
        else:
            n = follow_sample(keys[i:stop], counts[i:stop], negative, positive, share, cuts, n)
        n = add_cut(cuts, n, start + (UNIT_64 << np.uint64(PREFIX)))
        i = stop
    return n


@kernel
def add_cut(cuts, n, cut):
    """Append a cut unless it is already there; return the number of cuts."""
    if cut == np.uint64(0) or (n > 0 and cut <= cuts[n - 1]):
        return n
    cuts[n] = cut
    return n + 1


@kernel
def follow_sample(keys, counts, negative, positive, share, cuts, n):
    """Append a cut after about every `share` of sampled weight, and on either side of keys heavier than `share` / 2."""
    here = 0.0
    for i in range(keys.size):
        weight = counts[i, 0] * negative + counts[i, 1] * positive
        if weight >= share / 2 and counts[i, 0] + counts[i, 1] > 1:
            n = add_cut(cuts, n, keys[i])
            n = add_cut(cuts, n, keys[i] + UNIT_64)
            here = 0.0
            continue
        if here > 0 and here + weight > share:
            n = add_cut(cuts, n, simplest_between(keys[i - 1], keys[i]))
            here = 0.0
        here += weight
    return n


@kernel
def read_cells(deltas, widths, negatives, positives, lowest, highest, most, low, high, counts):
    """Decode cells from their widths and from each cell's distance to the one before it.

    Returns the cells' total number of rows, or -1 unless all cells have rows, lie between `lowest` and `highest`, and
    are in order of (low, high). Stops once there are more than `most` rows.
    """
    bound, last, last_end, rows = np.uint64(most), np.uint64(0), np.uint64(0), 0
    for i in range(deltas.size):
        first = last + deltas[i]
        end = first + widths[i]
        ordered = first >= last and lowest <= first <= end <= highest and (first > last or end > last_end or i == 0)
        if not ordered or negatives[i] > bound or positives[i] > bound or negatives[i] | positives[i] == 0:
            return -1
        low[i], high[i], last, last_end = first, end, first, end
        counts[i, 0], counts[i, 1] = negatives[i], positives[i]
        rows += counts[i, 0]
        if rows <= most:
            rows += counts[i, 1]
        if rows > most:
            break
    return rows


@kernel
def join_cells(low, high, counts, other_low, other_high, other_counts, joined_low, joined_high, joined):
    """Merge two lists of cells in order of (low, high), adding counts of equal cells; return the number of cells."""
    i, j, n = 0, 0, 0
    while i < low.size or j < other_low.size:
        mine = j == other_low.size or (
            i < low.size and (low[i] < other_low[j] or (low[i] == other_low[j] and high[i] <= other_high[j]))
        )
        both = mine and j < other_low.size and low[i] == other_low[j] and high[i] == other_high[j]
        if mine:
            joined_low[n], joined_high[n] = low[i], high[i]
            for k in range(joined.shape[1]):
                joined[n, k] = counts[i, k]
            i += 1
        else:
            joined_low[n], joined_high[n] = other_low[j], other_high[j]
            for k in range(joined.shape[1]):
                joined[n, k] = other_counts[j, k]
            j += 1
        if both:
            for k in range(joined.shape[1]):
                joined[n, k] += other_counts[j, k]
            j += 1
        n += 1
    return n


@kernel
def join_neighbours(low, high, counts, part, last_part, most, joined_low, joined_high, joined):
    """Join adjacent cells, given in order of (low, high), into hulls with at most `most` rows of each class.

    A cell of a single key with over `most` / 2 rows of a class stays alone, and so does a cell that spans two parts.
    Returns the number of cells.
    """
    n = 0
    alone = True  # whether the last cell must not be extended
    for i in range(low.size):
        heavy = part[i] != last_part[i]
        fits = not alone and part[i] == part[i - 1]
        for k in range(2):
            heavy = heavy or (low[i] == high[i] and 2 * counts[i, k] > most[k])
            fits = fits and joined[n - 1, k] + counts[i, k] <= most[k]
        if fits and not heavy:
            joined_high[n - 1] = max(joined_high[n - 1], high[i])
            for k in range(joined.shape[1]):
                joined[n - 1, k] += counts[i, k]
        else:
            joined_low[n], joined_high[n] = low[i], high[i]
            for k in range(joined.shape[1]):
                joined[n, k] = counts[i, k]
            n += 1
        alone = heavy
    return n


@kernel
def count_around(keys, weights, atoms, at, between, least):
    """For each of the ascending atoms, count the keys equal to it; also count the keys between atoms and beyond them.

    Keys ascend too. Also writes the lowest key of each of these gaps. Without weights each key counts 1. Each search
    for an atom starts at the previous atom, with steps that double.
    """
    i = 0
    n = atoms.size
    whole = weights.size == 0
    for row in range(keys.size):
        key = keys[row]
        step = 1
        while i + step <= n and atoms[i + step - 1] < key:
            i += step
            step <<= 1
        while step > 1:
            step >>= 1
            if i + step <= n and atoms[i + step - 1] < key:
                i += step
        units = 1 if whole else weights[row]
        if i < n and atoms[i] == key:
            at[i] += units
        else:
            between[i] += units
            least[i] = min(least[i], key)


@kernel
def join_equal(keys, counts):
    """Move the distinct values of ascending keys to the front, and write how often each occurs; return their number."""
    n = 0
    for i in range(keys.size):
        key = keys[i]
        if n > 0 and keys[n - 1] == key:
            counts[n - 1] += 1
        else:
            keys[n] = key
            counts[n] = 1
            n += 1
    return n
