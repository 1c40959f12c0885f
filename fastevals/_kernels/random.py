"""Counter-based random bits: the bits at any position of a stream are found without computing earlier ones.

SplitMix64: Steele, Lea and Flood (2014), doi:10.1145/2660193.2660195. A stream is identified by its key; the bits at a
counter are hash(key + (counter + 1) * constant), with an odd constant.
"""

import numpy as np

from fastevals._compile.jit import kernel

GOLDEN_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio, odd
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(2**32 - 1)
HALF_WORD = np.uint64(32)


@kernel
def mix(x):
    """Hash 64 bits bijectively."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@kernel
def bits(key, counter):
    """Return the 64 random bits of a stream at a counter."""
    return mix(key + (counter + np.uint64(1)) * GOLDEN_STEP)


@kernel
def stream_key(key, number):
    """Return the key of a numbered stream within another stream, for a replicate or a new attempt at a replicate."""
    return mix(mix(key ^ SECOND) + mix(number * FIRST + GOLDEN_STEP))


@kernel
def uniform_below(n, random):
    """Return an integer in [0, n), n <= 2**32: the high word of n times 64 random bits, with bias up to n / 2**64."""
    n = np.uint64(n)
    return ((random >> HALF_WORD) * n + ((random & LOW_HALF) * n >> HALF_WORD)) >> HALF_WORD


@kernel
def fill_bits(key, first, out):
    """Write the random bits at consecutive counters, beginning at `first`."""
    for i in range(out.size):
        out[i] = bits(key, np.uint64(first) + np.uint64(i))
