"""Counting of pairs of integer codes."""

import numpy as np

from fastevals._kernels.jit import kernel

__all__ = ["count_pairs"]


@kernel
def count_pairs(y_true, y_pred, weights, low, counts):
    """Add each pair's weight to counts[lanes, K, K]; give the number of pairs outside, which are not counted.

    Codes are offset by `low`; outside is what is not in [low, low + K). Pairs go to the lanes (1 or 2) in turn, so that
    equal neighbours don't wait for each other. Without weights (None: numba leaves out that branch) a pair counts one.
    """
    k = np.uint64(counts.shape[1])
    flat = counts.reshape(counts.shape[0], counts.shape[1] * counts.shape[2])
    lanes = np.uint64(counts.shape[0] - 1)
    outside = 0
    for i in range(y_true.size):
        t = np.uint64(y_true[i] - low)
        p = np.uint64(y_pred[i] - low)
        if t < k and p < k:
            flat[np.uint64(i) & lanes, t * k + p] += 1 if weights is None else weights[i]
        else:
            outside += 1
    return outside
