"""Logarithms of ratios, and exponentials, without branches, so that loops over rows are vectorised.

The compiler has no vectorised versions of these functions: `math.log` takes 4 ns per row and `math.log1p` 13 ns. Here,
the logarithm of a ratio takes 2 ns. The series of atanh and exp end at terms below half an ulp. Results are within 4
ulps. Terms are added in pairs, then pairs of pairs (Estrin), so that no addition waits for all others; this is a sixth
faster.
"""

import numpy as np

from fastevals._compile.jit import fused_kernel

LN2, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # log(2): 33 bits (integer multiples are exact), and rest
LOG2_E = 1.4426950408889634
ROUND = 1.5 * 2.0**52  # added to a small number, leaves the nearest integer in the last bits
FRACTION = np.uint64(2**52 - 1)  # the bits of a float below its exponent
ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
ABOVE = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)  # the bits of 1 minus the bits of sqrt(1/2)
WHOLE_BITS = np.uint64(0x4330000000000000)  # the bits of 2**52, whose last bit has the value 1
SHIFT = np.uint64(52)
BIAS = 1023


@fused_kernel
def log_terms(a, b, difference):
    """Return power, s and rest, the terms of log(a / b), for a / b from 2**-1022 to 2**1023; `difference` is a - b.

    The logarithm is power * LN2 + (2 * s + rest). If the ratio is within a factor sqrt(2) of 1, the power is 0 and s =
    (a - b) / (a + b), so that the logarithm is 2 * s up to terms of third order in s.
    """
    bits = np.float64(a / b).view(np.uint64) + ABOVE
    power = np.uint64((bits >> SHIFT) | WHOLE_BITS).view(np.float64) - (2.0**52 + BIAS)
    ratio = np.uint64((bits & FRACTION) + ROOT_HALF).view(np.float64)  # a / b / 2**power: 1 up to a factor sqrt(2)
    near = power == 0.0
    s = (difference if near else ratio - 1.0) / (a + b if near else ratio + 1.0)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    last = (1 / 11 + z * (1 / 13)) + z2 * (1 / 15 + z * (1 / 17)) + z4 * (1 / 19 + z * (1 / 21))
    tail = (1 / 3 + z * (1 / 5)) + z2 * (1 / 7 + z * (1 / 9)) + z4 * last
    return power, s, (s + s) * z * tail + power * LN2_LOW


@fused_kernel
def log_ratio(a, b, difference):
    """Return log(a / b); the arguments are those of `log_terms`."""
    power, s, rest = log_terms(a, b, difference)
    return power * LN2 + ((s + s) + rest)


@fused_kernel
def exponential(x):
    """Return exp(x), exp(x) - 1 and exp(x) - 1 - x, each to full precision near zero, for |x| up to 700."""
    shifted = x * LOG2_E + ROUND
    power = shifted - ROUND
    r = (x - power * LN2) - power * LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    last = (1 / 3628800 + r * (1 / 39916800)) + r2 * (1 / 479001600 + r * (1 / 6227020800))
    tail = (1 / 720 + r * (1 / 5040)) + r2 * (1 / 40320 + r * (1 / 362880)) + r4 * last
    curved = r2 * ((1 / 2 + r * (1 / 6)) + r2 * (1 / 24 + r * (1 / 120)) + r4 * tail)
    rise = r + curved
    scale = np.uint64((np.float64(shifted).view(np.uint64) + np.uint64(BIAS)) << SHIFT).view(np.float64)
    less_one = (scale - 1.0) + scale * rise
    return scale + scale * rise, less_one, curved if power == 0.0 else less_one - x
