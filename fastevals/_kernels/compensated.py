"""Sums with twice the precision of a float, stored as unevaluated pairs (high, low).

Dekker, T. J. (1971), Numerische Mathematik 18, 224-242, doi:10.1007/BF01397083. With pairs, the sums over a perfect
ranking cancel exactly, and integer weights give the same result as repeated rows.
"""

import numpy as np

from fastevals._compile.jit import kernel


@kernel
def two_sum(a, b):
    """Return the sum of two floats and its rounding error, exactly."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@kernel
def add(high, low, x):
    """Add x to the pair."""
    total, error = two_sum(high, x)
    return two_sum(total, error + low)


@kernel
def accumulate(pair, x):
    """Add x to `pair`, an array of two floats; a sum beyond the largest float becomes (inf, 0)."""
    high, low = add(pair[0], pair[1], x)
    if low == low:
        pair[0], pair[1] = high, low
    else:
        pair[0], pair[1] = pair[0] + x, 0.0


@kernel
def difference(a, b):
    """Return the difference of two floats and its rounding error, exactly."""
    return two_sum(a, -b)


@kernel
def product(a, b):
    """Return the product of two floats below 2**500 and the product's rounding error, exactly."""
    split_a = 134217729.0 * a
    a_high = split_a - (split_a - a)
    a_low = a - a_high
    split_b = 134217729.0 * b
    b_high = split_b - (split_b - b)
    b_low = b - b_high
    total = a * b
    return total, ((a_high * b_high - total) + a_high * b_low + a_low * b_high) + a_low * b_low


# Floats can be summed as integers, which is exact in any order. A non-negative float is cut into limbs: its integer
# part, and its fraction in six pieces of 26 bits. Bits below 2^-156 are truncated.

LIMBS = 7
BITS = 26
BASE = 2.0**26


@kernel
def sum_limbs(values, times, limbs):
    """Add each value times its count to the limbs of a sum; values must be finite."""
    a, b, c, d, e, f, g = limbs[0], limbs[1], limbs[2], limbs[3], limbs[4], limbs[5], limbs[6]
    for i in range(values.size):
        n = np.int64(times[i])
        value = values[i]
        whole = np.floor(value)
        a += n * np.int64(whole)
        value = (value - whole) * BASE
        whole = np.floor(value)
        b += n * np.int64(whole)
        value = (value - whole) * BASE
        whole = np.floor(value)
        c += n * np.int64(whole)
        value = (value - whole) * BASE
        whole = np.floor(value)
        d += n * np.int64(whole)
        value = (value - whole) * BASE
        whole = np.floor(value)
        e += n * np.int64(whole)
        value = (value - whole) * BASE
        whole = np.floor(value)
        f += n * np.int64(whole)
        g += n * np.int64((value - whole) * BASE)
    limbs[0], limbs[1], limbs[2], limbs[3], limbs[4], limbs[5], limbs[6] = a, b, c, d, e, f, g
