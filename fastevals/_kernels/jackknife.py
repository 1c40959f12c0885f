"""A metric without one row, for a row of each cell of a ranking's steps (see `replicates`), in one pass down and up."""

import numpy as np

from fastevals._kernels.jit import kernel

__all__ = ["average_precision", "roc_auc"]


@kernel
def roc_auc(counts, tied, n_pos, n_neg, values):
    """AUC without a row of each cell: the pairs it loses are those its row is in."""
    tp, fp, lost = 0, 0, 0
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        tp += positives
        # Twice the pairs lost, or half lost, by a positive and by a negative of the step.
        values[2 * step] = 2 * fp + negatives * tied[step]
        values[2 * step + 1] = 2 * (n_pos - tp) + positives * tied[step]
        lost += positives * (2 * fp + negatives * tied[step])
        fp += negatives
    without_positive, without_negative = 2.0 * (n_pos - 1) * n_neg, 2.0 * n_pos * (n_neg - 1)
    for step in range(tied.size):
        values[2 * step] = (without_positive - (lost - values[2 * step])) / without_positive
        values[2 * step + 1] = (without_negative - (lost - values[2 * step + 1])) / without_negative


@kernel
def average_precision(counts, tied, n_pos, n_neg, values):
    """Average precision without a row of each cell: it moves the counts of its step and of those below."""
    tp, fp, above = n_pos, n_neg, 0.0
    below_positive, below_negative = 0.0, 0.0  # sums over the steps below, with one positive or negative less there
    for step in range(tied.size - 1, -1, -1):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        fp -= negatives
        ahead = fp + negatives * tied[step]
        values[2 * step], values[2 * step + 1] = below_positive, below_negative
        if positives > 1:
            values[2 * step] += (positives - 1) * ((tp - 1) / (tp - 1 + ahead))
        if positives > 0:
            if tp > 1:
                below_positive += positives * ((tp - 1) / (tp - 1 + ahead))
            if tied[step]:
                values[2 * step + 1] += positives * (tp / (tp + ahead - 1))
            below_negative += positives * (tp / (tp + max(ahead - 1, 0)))
        tp -= positives
    tp, fp = 0, 0
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        tp += positives
        here = positives * (tp / (tp + fp + negatives * tied[step])) if positives > 0 else 0.0
        values[2 * step] = (values[2 * step] + above) / (n_pos - 1)
        values[2 * step + 1] = (values[2 * step + 1] + above + (0.0 if tied[step] else here)) / n_pos
        above += here
        fp += negatives
