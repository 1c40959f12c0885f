"""Checksums of rows, independent of their order: the sum of a hash of each row."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.random import GOLDEN_STEP, mix


@kernel
def mix_column(hashes, column):
    """Mix the bits of a column into the hashes of rows."""
    for i in range(hashes.size):
        hashes[i] = mix(hashes[i] * GOLDEN_STEP ^ column[i])


@kernel
def sum_hashes(hashes, column):
    """Return the sum of the rows' hashes modulo 2^64, after mixing in a column's bits."""
    total = np.uint64(0)
    for i in range(hashes.size):
        total += mix(np.uint64(hashes[i]) * GOLDEN_STEP ^ column[i])
    return total
