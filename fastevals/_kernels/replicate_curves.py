"""Values of a bootstrap replicate's curve on a whole grid, in one sweep over its steps (see `steps`)."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.steps import wide


@kernel
def least_count(share, total, above):
    """Return the lowest count whose rounded quotient count / total is at least `share` (with `above`, greater)."""
    count = max(int(share * total) - 1, 0)
    while count / total < share or (above and count / total == share):
        count += 1
    return count


@kernel
def roc_at(positives, negatives, tied, n_pos, n_neg, grid, out):
    """Write the TPR at each FPR of an ascending grid: the highest where the curve is vertical, NaN without a class."""
    if n_pos == 0 or n_neg == 0 or grid.size == 0:
        out[:] = np.nan
        return
    at, tp, fp = 0, n_pos * 0, n_neg * 0
    stop = least_count(grid[0], n_neg, True)
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        slanted = up * tied[step]
        tp += up - slanted
        while fp + down >= stop:
            along = max(grid[at] * n_neg - fp, 0.0) / down
            out[at] = (tp + slanted * along) / n_pos
            at += 1
            if at == grid.size:
                return
            stop = least_count(grid[at], n_neg, True)
        tp, fp = tp + slanted, fp + down
    out[at:] = 1.0


@kernel
def precision_at(positives, negatives, tied, n_pos, n_neg, grid, out):
    """Write the precision at each recall of an ascending grid; 1 at recall 0, NaN if a class is missing.

    Counts are interpolated linearly. If several thresholds give the same recall, their highest precision is written.
    """
    if n_pos == 0 or n_neg == 0 or grid.size == 0:
        out[:] = np.nan
        return
    at, tp, fp = 0, n_pos * 0, n_neg * 0
    while grid[at] == 0:
        out[at] = 1.0
        at += 1
        if at == grid.size:
            return
    stop = least_count(grid[at], n_pos, False)
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        while tp + up >= stop:
            found = grid[at] * n_pos
            ahead = fp + down * tied[step] * (max(found - tp, 0.0) / up)
            if tp + fp == 0:  # precision is constant in this step, and tiny recalls lack digits
                found, ahead = float(up), float(down * tied[step])
            out[at] = found / (found + ahead)
            at += 1
            if at == grid.size:
                return
            stop = least_count(grid[at], n_pos, False)
        tp, fp = tp + up, fp + down
