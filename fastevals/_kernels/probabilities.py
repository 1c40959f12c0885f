"""Probabilities counted by bin and by cell, with integer sums (see `compensated.sum_limbs`)."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import BASE, LIMBS

FINE_EXPONENT = 1003  # biased float exponent; cells are 1 / 64 of an octave from here on, and whole octaves below
FINE_CELLS = (1022 - FINE_EXPONENT) * 64 + 1  # cells up to 1/2
CELLS = FINE_EXPONENT + FINE_CELLS


@kernel
def count_probabilities(p, tail, flags, times, edges, bins, ends, sums, cells, offsets):
    """Count probabilities by bin and by cell.

    `tail` holds the bits of p, or of 1 - p where p > 1/2. `bins` receives the rows of each bin by class, `ends`
    the bin's lowest and highest probability, and `sums` the limbs of the sum of its probabilities. `cells` receives the
    rows of each cell by class, and `offsets` the sums of their distances from the cell's start, in units of 2^-26 of
    the cell's width. Probabilities above 1/2 and odd-numbered bins have cells of their own, so that no cell
    crosses an edge.
    """
    n_bins = edges.size - 1
    zero = np.int64(0)
    for i in range(p.size):
        value, n, flag = p[i], np.int64(times[i]), np.int64(flags[i])
        at = min(max(np.int64(np.ceil(value * n_bins)) - 1, zero), n_bins - 1)
        if at > 0 and value <= edges[at]:
            at -= 1
        elif value > edges[at + 1]:
            at += 1
        bins[2 * at + flag] += n
        ends[2 * at], ends[2 * at + 1] = min(ends[2 * at], value), max(ends[2 * at + 1], value)
        rest = value
        for k in range(LIMBS):
            whole = np.floor(rest)
            sums[LIMBS * at + k] += n * np.int64(whole)
            rest = (rest - whole) * BASE
        bits = tail[i]
        exponent = bits >> np.int64(52)
        if exponent >= FINE_EXPONENT:
            cell = FINE_EXPONENT + (bits >> np.int64(46)) - FINE_EXPONENT * 64
            offset = (bits & np.int64((1 << 46) - 1)) >> np.int64(20)
        else:
            cell = exponent
            offset = (bits & np.int64((1 << 52) - 1)) >> np.int64(26)
        place = 2 * (2 * (2 * cell + np.int64(value > 0.5)) + (at & 1)) + flag
        cells[place] += n
        offsets[place] += n * offset
