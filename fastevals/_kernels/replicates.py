"""Metrics of one bootstrap replicate, from how often each step of the ranking was drawn.

Steps go from the highest threshold down. Step s has counts[2 * s] positives and counts[2 * s + 1] negatives: at one
threshold where they are tied, else the positives first and the negatives, of whatever thresholds, after them.
"""

import numpy as np

from fastevals._kernels.jit import kernel

__all__ = [
    "average_precision",
    "break_even_point",
    "cost_area",
    "equal_error_rate",
    "fill_steps",
    "ks_statistic",
    "largest_f",
    "roc_auc",
    "totals",
]


@kernel
def fill_steps(tps, fps, merge, sizes, tied):
    """Write the steps of cumulative counts, merging what no metric tells apart; give their number.

    Negatives between two thresholds with positives are one; with `merge` positives between two with negatives too,
    which average precision tells apart.
    """
    steps = 0
    for row in range(1, tps.size):
        positives, negatives = tps[row] - tps[row - 1], fps[row] - fps[row - 1]
        open_ = steps > 0 and not tied[steps - 1]
        if open_ and positives == 0:
            sizes[2 * steps - 1] += negatives
        elif open_ and merge and negatives == 0 and sizes[2 * steps - 1] == 0:
            sizes[2 * steps - 2] += positives
        else:
            sizes[2 * steps], sizes[2 * steps + 1] = positives, negatives
            tied[steps] = positives > 0 and negatives > 0
            steps += 1
    return steps


@kernel
def totals(counts):
    """Positives and negatives in all."""
    n_pos, n_neg = 0, 0
    for step in range(counts.size // 2):
        n_pos += counts[2 * step]
        n_neg += counts[2 * step + 1]
    return n_pos, n_neg


@kernel
def roc_auc(counts, tied, n_pos, n_neg):
    """AUC: one less the share of pairs whose negative is not below the positive, ties half."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    fp, lost = 0, 0
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        lost += positives * (2 * fp + negatives * tied[step])
        fp += negatives
    return (2.0 * n_pos * n_neg - lost) / (2.0 * n_pos * n_neg)


@kernel
def average_precision(counts, tied, n_pos, n_neg):
    """Step-wise sum of precision over recall."""
    if n_pos == 0:
        return np.nan
    tp, fp, total = 0, 0, 0.0
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        tp += positives
        if positives > 0:
            total += positives * (tp / (tp + fp + negatives * tied[step]))
        fp += negatives
    return total / n_pos


@kernel
def ks_statistic(counts, tied, n_pos, n_neg):
    """Largest distance between TPR and FPR."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    tp, fp, most = 0, 0, 0
    for step in range(tied.size):
        tp += counts[2 * step]
        if not tied[step]:
            most = max(most, abs(tp * n_neg - fp * n_pos))
        fp += counts[2 * step + 1]
        most = max(most, abs(tp * n_neg - fp * n_pos))
    return most / (float(n_pos) * n_neg)


@kernel
def equal_error_rate(counts, tied, n_pos, n_neg):
    """FPR where the ROC polyline crosses FPR = 1 - TPR."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    tp, fp, here, whole = 0, 0, 0, n_pos * n_neg
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        if not tied[step]:
            here += positives * n_neg
            if here >= whole:
                return fp / n_neg
            tp += positives
            positives = 0
        rise = positives * n_neg + negatives * n_pos
        if here + rise >= whole and rise > 0:
            return (fp + negatives * ((whole - here) / rise)) / n_neg
        tp, fp, here = tp + positives, fp + negatives, here + rise
    return np.nan


@kernel
def break_even_point(counts, tied, n_pos, n_neg):
    """Precision = recall: where as many rows are predicted positive as are positive; NaN if none of them is."""
    if n_pos == 0:
        return np.nan
    tp, predicted = 0, 0
    for step in range(tied.size):
        positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
        if not tied[step]:
            if predicted + positives >= n_pos:
                tp += n_pos - predicted
                return tp / n_pos if tp > 0 else np.nan
            tp, predicted = tp + positives, predicted + positives
            positives = 0
        rows = positives + negatives
        if predicted + rows >= n_pos and rows > 0:
            found = tp + positives * ((n_pos - predicted) / rows)
            return found / n_pos if found > 0 else np.nan
        tp, predicted = tp + positives, predicted + rows
    return np.nan


@kernel
def largest_f(counts, tied, n_pos, n_neg, beta_squared):
    """Largest F score of any threshold."""
    if n_pos == 0:
        return np.nan
    tp, fp, best = 0, 0, 0.0
    for step in range(tied.size):
        tp += counts[2 * step]
        ahead = fp + counts[2 * step + 1] * tied[step]  # F falls with each negative: it is largest before they come
        best = max(best, tp / (beta_squared * n_pos + tp + ahead))
        fp += counts[2 * step + 1]
    return (1.0 + beta_squared) * best


@kernel
def cost_area(counts, tied, n_pos, n_neg, fps, tps):
    """Area under the lower envelope of the cost lines; fps and tps are scratch, an entry a step and two more.

    A vertex of the upper hull is the cheapest threshold between the slopes of its two edges. Over such a stretch of
    PC(+), from a to b, its line has the mean (1 - (a + b) / 2) fpr + (a + b) / 2 fnr.
    """
    if n_pos == 0 or n_neg == 0:
        return np.nan
    fps[0], tps[0] = 0, 0
    size, tp, fp = 1, 0, 0
    for step in range(tied.size + 1):
        if step < tied.size:  # the points before negatives, and the last one, are all that can be vertices
            positives, negatives = np.int64(counts[2 * step]), np.int64(counts[2 * step + 1])
            tp += positives
            x = fp + negatives * tied[step]
            fp += negatives
        else:
            x = fp
        while size >= 2 and (fps[size - 1] - fps[size - 2]) * (tp - tps[size - 2]) >= (
            tps[size - 1] - tps[size - 2]
        ) * (x - fps[size - 2]):
            size -= 1
        if x != fps[size - 1] or tp != tps[size - 1]:
            fps[size], tps[size] = x, tp
            size += 1
    area, start = 0.0, 0.0
    for i in range(size):
        stop = 1.0
        if i + 1 < size:
            right, up = float(fps[i + 1] - fps[i]) * n_pos, float(tps[i + 1] - tps[i]) * n_neg
            stop = right / (right + up)
        middle = (start + stop) / 2
        area += (stop - start) * ((1 - middle) * (fps[i] / n_neg) + middle * ((n_pos - tps[i]) / n_pos))
        start = stop
    return area
