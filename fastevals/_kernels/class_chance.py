"""Calibration errors of a calibrated model: labels are drawn from its probabilities."""

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.draws import uniform


@kernel
def draw_bins(columns, bins, likeliest, predicted, key, off):
    """Write, by class and bin, the rows whose drawn class it is, minus the rows expected.

    `bins` has the bin of each row in each class's column and, last, of its highest probability, whose rows are right if
    the drawn class is the `likeliest`. `predicted` has the sums of probabilities in each bin.
    """
    n_classes = columns.shape[0]
    off[:] = -predicted
    counter = UNIT_64
    for i in range(columns.shape[1]):
        left = uniform(key, counter)
        counter += UNIT_64
        k = 0
        while k < n_classes - 1 and left >= columns[k, i]:
            left -= columns[k, i]
            k += 1
        off[k, bins[k, i]] += 1.0
        if k == likeliest[i]:
            off[n_classes, bins[n_classes, i]] += 1.0
