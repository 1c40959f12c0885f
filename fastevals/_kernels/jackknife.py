"""A metric without one row, for a row of each cell of a ranking's steps (see `steps`), in one pass down and up.

Also the groups that rows are left out by, where a metric has no such pass.
"""

import numpy as np

from fastevals._kernels.jit import kernel
from fastevals._kernels.random import bits, uniform_below
from fastevals._kernels.steps import wide


@kernel
def leave_group_out(sizes, key, n_groups, group, counts):
    """Write the rows of each cell that are not of a group: which of the groups a row is in is random."""
    counter = np.uint64(0)
    for cell in range(sizes.size):
        kept = 0
        for _ in range(wide(sizes[cell])):
            kept += uniform_below(n_groups, bits(key, counter)) != group
            counter += np.uint64(1)
        counts[cell] = kept


@kernel
def roc_auc(positives, negatives, tied, n_pos, n_neg, values):
    """AUC without a row of each cell: the pairs it loses are those its row is in."""
    tp, fp, lost = 0, 0, 0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        tp += up
        # Twice the pairs lost, or half lost, by a positive and by a negative of the step.
        values[0, step] = 2 * fp + down * tied[step]
        values[1, step] = 2 * (n_pos - tp) + up * tied[step]
        lost += up * (2 * fp + down * tied[step])
        fp += down
    without_positive, without_negative = 2.0 * (n_pos - 1) * n_neg, 2.0 * n_pos * (n_neg - 1)
    for step in range(tied.size):
        values[0, step] = (without_positive - (lost - values[0, step])) / without_positive
        values[1, step] = (without_negative - (lost - values[1, step])) / without_negative


@kernel
def average_precision(positives, negatives, tied, n_pos, n_neg, values):
    """Average precision without a row of each cell: it moves the counts of its step and of those below."""
    tp, fp, above = n_pos, n_neg, 0.0
    below_positive, below_negative = 0.0, 0.0  # sums over the steps below, with one positive or negative less there
    for step in range(tied.size - 1, -1, -1):
        up, down = wide(positives[step]), wide(negatives[step])
        fp -= down
        ahead = fp + down * tied[step]
        values[0, step], values[1, step] = below_positive, below_negative
        if up > 1:
            values[0, step] += (up - 1) * ((tp - 1) / (tp - 1 + ahead))
        if up > 0:
            if tp > 1:
                below_positive += up * ((tp - 1) / (tp - 1 + ahead))
            if tied[step]:
                values[1, step] += up * (tp / (tp + ahead - 1))
            below_negative += up * (tp / (tp + max(ahead - 1, 0)))
        tp -= up
    tp, fp = 0, 0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        tp += up
        here = up * (tp / (tp + fp + down * tied[step])) if up > 0 else 0.0
        values[0, step] = (values[0, step] + above) / (n_pos - 1)
        values[1, step] = (values[1, step] + above + (0.0 if tied[step] else here)) / n_pos
        above += here
        fp += down
