"""Count rows by the integer codes of their labels."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64


@kernel
def count_tuples(first, second, third, weights, low, width, lane, counts):
    """Add each row's weight to its cell of `counts`; return the number of rows outside, which are skipped.

    The digits of a cell's number in base `width` are the row's codes minus `low`; a row is outside if a code is not in
    [low, low + width). Every second row is counted `lane` cells further on, so that adding a row need not wait for an
    equal row just before it; with a `lane` of 0 it must wait. If the third code or the weights are None (each row then
    counts 1), numba removes the branch. A loop over a tuple of arrays takes 1.2 x as long with three codes, and 1.3 x
    with two; lanes as the first axis of `counts` take 1.4 x and 1.25 x.
    """
    k, step = np.uint64(width), np.uint64(lane)
    outside = 0
    for i in range(first.size):
        a, b = np.uint64(first[i] - low), np.uint64(second[i] - low)
        c = np.uint64(0) if third is None else np.uint64(third[i] - low)
        if a < k and b < k and c < k:
            cell = a * k + b if third is None else (a * k + b) * k + c
            counts[cell + (np.uint64(i) & UNIT_64) * step] += 1 if weights is None else weights[i]
        else:
            outside += 1
    return outside
