"""Probabilities of one class, counted in ranges by the rows' classes, and in bins of equal width.

The tail of a probability p is p itself, or 1 - p above 1/2, which is exact. An octave of tails (one exponent) has a
base, a start and a shift: a tail with some bits is in range base + ((bits - start) >> shift). Probabilities above 1/2
have as many ranges of their own, counted from the top.
"""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import BASE, LIMBS

OCTAVES = 1023  # of tails, which are at most 1/2


@kernel
def range_of(value, base, start, shift, n_ranges):
    """Return the range of a probability."""
    is_upper = value > 0.5
    bits = np.float64(1.0 - value if is_upper else value).view(np.int64)
    octave = bits >> np.int64(52)
    place = base[octave] + ((bits - start[octave]) >> shift[octave])
    return n_ranges - 1 - place if is_upper else place


@kernel
def find_ranges(p, base, start, shift, n_ranges, places):
    """Write the range of each probability."""
    for i in range(p.size):
        places[i] = range_of(p[i], base, start, shift, n_ranges)


@kernel
def count_in_ranges(p, codes, base, start, shift, low, high, counts, beyond):
    """Count rows by range and code, and write the lowest and the highest probability of each range.

    Counts have 16 bits so that they stay in a near cache; `beyond` collects their overflow.
    """
    n_codes = counts.size // low.size
    for i in range(p.size):
        place = range_of(p[i], base, start, shift, low.size)
        low[place] = min(low[place], p[i])
        high[place] = max(high[place], p[i])
        at = place * n_codes + np.int64(codes[i])
        count = np.uint16(counts[at] + np.uint16(1))
        counts[at] = count
        if count == np.uint16(0):
            beyond[at] += 1 << 16


@kernel
def sum_in_ranges(p, codes, times, base, start, shift, low, high, counts):
    """Do what `count_in_ranges` does, but count each row as often as `times` says."""
    n_codes = counts.size // low.size
    for i in range(p.size):
        place = range_of(p[i], base, start, shift, low.size)
        low[place] = min(low[place], p[i])
        high[place] = max(high[place], p[i])
        counts[place * n_codes + np.int64(codes[i])] += times[i]


@kernel
def sum_in_bins(p, codes, code, times, edges, rows, limbs):
    """Count rows in bins of equal width, which include their upper edges, and sum their probabilities exactly.

    `rows` receives the other rows and the rows of one code, alternately; `limbs` is as in `sum_limbs`, for each bin.
    """
    n_bins = edges.size - 1
    zero = np.int64(0)
    for i in range(p.size):
        value, n = p[i], np.int64(times[i])
        at = min(max(np.int64(np.ceil(value * n_bins)) - 1, zero), n_bins - 1)
        if at > 0 and value <= edges[at]:
            at -= 1
        elif value > edges[at + 1]:
            at += 1
        rows[2 * at + np.int64(codes[i] == code)] += n
        limb = LIMBS * at + 1
        rest = value * BASE
        first = np.int64(rest)
        rest = (rest - first) * BASE
        second = np.int64(rest)
        rest = (rest - second) * BASE
        third = np.int64(rest)
        limbs[limb] += n * first
        limbs[limb + 1] += n * second
        limbs[limb + 2] += n * third
        rest -= third
        if rest > 0.0:  # below 2^-25
            for k in range(limb + 3, LIMBS * (at + 1)):
                rest *= BASE
                whole = np.int64(rest)
                limbs[k] += n * whole
                rest -= whole
