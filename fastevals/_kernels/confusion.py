"""Counting of pairs of integer codes."""

import numpy as np

from fastevals._kernels.jit import kernel

__all__ = ["count_pairs", "count_weighted_pairs"]


@kernel
def count_pairs(y_true, y_pred, low, counts):
    """Add pairs to counts[lanes, K, K], lanes 1 or 2, taken in turn so that equal neighbours don't wait for each other.

    Codes are offset by `low`; give the number of pairs with a code outside [low, low + K), which are not counted.
    """
    k = np.uint64(counts.shape[1])
    flat = counts.reshape(counts.shape[0], counts.shape[1] * counts.shape[2])
    lanes = np.uint64(counts.shape[0] - 1)
    outside = 0
    for i in range(y_true.size):
        t = np.uint64(y_true[i] - low)
        p = np.uint64(y_pred[i] - low)
        if t < k and p < k:
            flat[np.uint64(i) & lanes, t * k + p] += 1
        else:
            outside += 1
    return outside


@kernel
def count_weighted_pairs(y_true, y_pred, weights, low, counts):
    """`count_pairs` that adds each pair's weight instead of one."""
    k = np.uint64(counts.shape[1])
    flat = counts.reshape(counts.shape[0], counts.shape[1] * counts.shape[2])
    lanes = np.uint64(counts.shape[0] - 1)
    outside = 0
    for i in range(y_true.size):
        t = np.uint64(y_true[i] - low)
        p = np.uint64(y_pred[i] - low)
        if t < k and p < k:
            flat[np.uint64(i) & lanes, t * k + p] += weights[i]
        else:
            outside += 1
    return outside
