"""Integers stored by byte position: all first bytes, then all second bytes, since bytes at one position are similar."""

import numpy as np

from fastevals._compile.jit import kernel


@kernel
def join_planes(planes, values):
    """Reassemble the bytes of each number."""
    n = values.size
    for i in range(n):
        low = np.uint32(planes[i]) | np.uint32(planes[n + i]) << np.uint32(8)
        low |= np.uint32(planes[2 * n + i]) << np.uint32(16) | np.uint32(planes[3 * n + i]) << np.uint32(24)
        high = np.uint32(planes[4 * n + i]) | np.uint32(planes[5 * n + i]) << np.uint32(8)
        high |= np.uint32(planes[6 * n + i]) << np.uint32(16) | np.uint32(planes[7 * n + i]) << np.uint32(24)
        values[i] = np.uint64(low) | np.uint64(high) << np.uint64(32)
