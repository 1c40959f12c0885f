"""Calibration errors of a calibrated model: labels are drawn from its probabilities."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.draws import uniform


@kernel
def draw_bins(columns, bins, likeliest, predicted, keys, below, off):
    """Write, for each draw by class and bin, the rows whose drawn class it is, minus the rows expected.

    `bins` has the bin of each row in each class's column and, last, of its highest probability, whose rows are right if
    the drawn class is the `likeliest`. `predicted` has the sums of probabilities in each bin. Each draw has a key. All
    draws are made while a row's probabilities are at hand; `below` is scratch for their sums up to each class.
    """
    n_classes = columns.shape[0]
    for draw in range(keys.size):
        for k in range(predicted.shape[0]):
            for b in range(predicted.shape[1]):
                off[draw, k, b] = -predicted[k, b]
    counter = UNIT_64
    for i in range(columns.shape[1]):
        total = 0.0
        for k in range(n_classes - 1):
            total += columns[k, i]
            below[k] = total
        for draw in range(keys.size):
            left, k = uniform(keys[draw], counter), np.int32(0)
            for j in range(n_classes - 1):
                k += np.int32(left >= below[j])
            off[draw, k, bins[k, i]] += 1.0
            if k == likeliest[i]:
                off[draw, n_classes, bins[n_classes, i]] += 1.0
        counter += UNIT_64
