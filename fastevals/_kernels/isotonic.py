"""Isotonic fits of labels that are drawn under calibration, in cells of rows with equal probabilities."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.draws import binomial
from fastevals._kernels.random import stream_key


@kernel
def draw_fits(rows, p, key, first, shares, ends, fits):
    """Write the isotonic fit in each cell for replicates `first`, `first` + 1, ..., by pooling adjacent violators.

    Cells ascend in p, the probability of a positive. `shares` and `ends` are scratch with an element per cell and,
    for `shares`, two columns.
    """
    for r in range(fits.shape[0]):
        stream = stream_key(key, np.uint64(first + r))
        counter = np.uint64(0)
        size = 0
        for cell in range(rows.size):
            n = rows[cell]
            drawn, counter = binomial(n, min(p[cell], 1 - p[cell]), stream, counter)
            positives, total = float(drawn if p[cell] <= 0.5 else n - drawn), float(n)
            while size > 0 and shares[size - 1, 0] * total >= positives * shares[size - 1, 1]:
                size -= 1
                positives += shares[size, 0]
                total += shares[size, 1]
            shares[size, 0], shares[size, 1], ends[size] = positives, total, cell + 1
            size += 1
        start = 0
        for block in range(size):
            fits[r, start : ends[block]] = shares[block, 0] / shares[block, 1]
            start = ends[block]
