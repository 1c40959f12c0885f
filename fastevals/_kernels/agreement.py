"""Count the rows that two models both predict correctly, from one bit per model and row."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64

# LLVM recognizes this form as the number of set bits, for which it has vector instructions.
PAIRS, FOURS, EIGHTS = (np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F))
BYTES = np.uint64(0x0101010101010101)
TWO, FOUR, TOP = np.uint64(2), np.uint64(4), np.uint64(56)


@kernel
def count_set(x):
    """Return the number of set bits in a word."""
    x = x - ((x >> UNIT_64) & PAIRS)
    x = (x & FOURS) + ((x >> TWO) & FOURS)
    x = (x + (x >> FOUR)) & EIGHTS
    return (x * BYTES) >> TOP


@kernel
def count_common(bits, first, second, counts):
    """Add to counts[p] the number of bits that are set in both row first[p] and row second[p] of bits[k, words]."""
    for p in range(first.size):
        a, b = bits[first[p]], bits[second[p]]
        common = np.uint64(0)
        for w in range(a.size):
            common += count_set(a[w] & b[w])
        counts[p] += np.int64(common)
