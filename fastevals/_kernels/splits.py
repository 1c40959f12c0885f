"""Random splits of units (rows, or groups of rows) into parts, as one code per unit.

Loops copy arrays, since an assignment to a slice takes two seconds to compile.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.draws import ROW_BLOCK, draw_rows
from fastevals._kernels.random import bits, stream_key, uniform_below


@kernel
def shuffle(values, moved, key):
    """Shuffle values; the values at `moved` and after it are all equal.

    Fisher and Yates's method runs from the end: the value at i is swapped with itself or a later value, and later
    values remain in random order. The equal values at the end need no draws, as any order of them is random.
    """
    n = values.size
    for i in range(moved - 1, -1, -1):
        j = np.uint64(i) + uniform_below(n - i, bits(key, np.uint64(i)))
        values[i], values[j] = values[j], values[i]


@kernel
def shuffle_codes(template, order, starts, sizes, moved, key, first, out):
    """Write the units' codes, shuffled within each stratum, for consecutive repetitions, beginning at `first`.

    Stratum s has the units order[starts[s] : starts[s] + sizes[s]], whose codes are at the same positions of
    `template`. If `order` is empty, it stands for 0, 1, 2, ...
    """
    codes = np.empty_like(template)
    for r in range(out.shape[0]):
        stream = stream_key(key, np.uint64(first + r))
        row = out[r]
        if order.size == 0:
            codes = row
        for i in range(codes.size):
            codes[i] = template[i]
        for s in range(starts.size):
            here = codes[starts[s] : starts[s] + sizes[s]]
            shuffle(here, moved[s], stream_key(stream, np.uint64(s)))
        for i in range(order.size):
            row[order[i]] = codes[i]


@kernel
def draw_order(by_size, bounds, stream, order):
    """Write the numbers of all groups in order of size, shuffled between consecutive bounds."""
    for i in range(order.size):
        order[i] = by_size[i]
    for s in range(bounds.size - 1):
        here = order[bounds[s] : bounds[s + 1]]
        shuffle(here, here.size, stream_key(stream, np.uint64(s)))


@kernel
def spread_groups(sizes, by_size, bounds, n_folds, key, first, out):
    """Write each group's fold: in the order of `draw_order`, a group joins the fold that has the fewest rows so far.

    Uses a heap of ``rows * n_folds + fold``; among folds with equally many rows, the first is chosen.
    """
    order, heap = np.empty_like(by_size), np.empty(n_folds, dtype=np.int64)
    for r in range(out.shape[0]):
        draw_order(by_size, bounds, stream_key(key, np.uint64(first + r)), order)
        for fold in range(n_folds):
            heap[fold] = fold
        for group in order:
            out[r, group] = heap[0] % n_folds
            changed, at, child = heap[0] + sizes[group] * n_folds, 0, 1
            while child < n_folds:
                if child + 1 < n_folds and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= changed:
                    break
                heap[at] = heap[child]
                at, child = child, 2 * child + 1
            heap[at] = changed


@kernel
def spread_groups_of_classes(counts, weights, sizes, by_size, bounds, n_folds, key, first, out):
    """Do what `spread_groups` does, but add each group to the fold that increases a sum least (see below).

    Group g has counts[g, c] rows of class c, and fold f has held[f, c]. Adding g to f increases the sum of weights[c]
    held[f, c]^2 over folds and classes by the sum over c of weights[c] counts[g, c] (2 held[f, c] + counts[g, c]).
    Ties go to the fold with the fewest rows.
    """
    order = np.empty_like(by_size)
    for r in range(out.shape[0]):
        draw_order(by_size, bounds, stream_key(key, np.uint64(first + r)), order)
        held, rows = np.zeros((n_folds, counts.shape[1]), dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
        for group in order:
            best, least = 0, np.inf
            for fold in range(n_folds):
                common = 0.0
                for c in range(counts.shape[1]):
                    common += counts[group, c] * held[fold, c] * weights[c]
                if common < least or (common == least and rows[fold] < rows[best]):
                    best, least = fold, common
            out[r, group] = best
            rows[best] += sizes[group]
            for c in range(counts.shape[1]):
                held[best, c] += counts[group, c]


@kernel
def fill_combinations(combination, out):
    """Write one combination per row, in lexicographic order from `combination` on: 1 for its units, 0 for others."""
    p, n = combination.size, out.shape[1]
    for r in range(out.shape[0]):
        for i in range(n):
            out[r, i] = 0
        for i in range(p):
            out[r, combination[i]] = 1
        last = p - 1
        while last >= 0 and combination[last] == n - p + last:
            last -= 1
        if last >= 0:
            combination[last] += 1
            for i in range(last + 1, p):
                combination[i] = combination[i - 1] + 1


@kernel
def draw_with_replacement(limits, n_limits, order, starts, sizes, key, first, out):
    """Write how often each unit is drawn, in consecutive replicates, beginning at `first`; each stratum keeps its size.

    Strata are as in `shuffle_codes`; the first n_limits[s] elements of limits[s] are the limits for `draw_rows`. If
    every unit is drawn, none is left to test on, and the replicate is drawn again.
    """
    times, words = np.empty(out.shape[1], dtype=np.uint8), np.empty(ROW_BLOCK // 4, dtype=np.uint64)
    parts = words.view(np.uint16)
    for r in range(out.shape[0]):
        stream = stream_key(key, np.uint64(first + r))
        row = out[r]
        if order.size == 0:
            times = row
        attempt = np.uint64(0)
        left_out = 0
        while left_out == 0:
            for s in range(starts.size):
                here = times[starts[s] : starts[s] + sizes[s]]
                stratum_key = stream_key(stream_key(stream, attempt), np.uint64(s))
                draw_rows(limits[s, : n_limits[s]], stratum_key, words, parts, here)
            attempt += np.uint64(1)
            for i in range(times.size):
                left_out += times[i] == 0
        for i in range(order.size):
            row[order[i]] = times[i]


@kernel
def draw_units(size, key, times):
    """Add to times[unit] how often the unit is drawn in `size` draws with replacement."""
    for i in range(size):
        times[uniform_below(times.size, bits(key, np.uint64(i)))] += 1
