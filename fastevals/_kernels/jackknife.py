"""Leave-one-out values of a metric, for each class and step of a ranking (see `steps`), in one pass down and one up.

Also draws the groups of rows to leave out, for metrics that have no such passes.
"""

import math

import numpy as np

from fastevals._compile.jit import kernel, spared_kernel
from fastevals._kernels.areas import excess_share
from fastevals._kernels.random import bits, uniform_below
from fastevals._kernels.replicate_thresholds import VALUE_ROUNDING
from fastevals._kernels.steps import wide


@kernel
def draw_groups(key, n_groups, groups):
    """Draw a random group for each row; there are at most 256 groups."""
    for row in range(groups.size):
        groups[row] = uniform_below(n_groups, bits(key, np.uint64(row)))


@kernel
def leave_group_out(sizes, key, n_groups, group, counts):
    """Write how many rows of each cell are outside one group; rows are assigned to groups at random."""
    counter = np.uint64(0)
    for cell in range(sizes.size):
        kept = 0
        for _ in range(wide(sizes[cell])):
            kept += uniform_below(n_groups, bits(key, counter)) != group
            counter += np.uint64(1)
        counts[cell] = kept


# Areas that are sums over steps -----------------------------------------------------------------------------------

STEPWISE, DAVIS_GOADRICH, LINEAR, PARTIAL = range(4)  # average precision, two P-R areas, partial ROC area


@kernel
def step_area(form, tp, fp, up, down, tied, n_pos, n_neg, max_fpr, min_tpr):
    """Return the area, in counts, that a step adds after tp and fp, by the formulas of `replicate_metrics`."""
    if form == PARTIAL:
        start, stop, floor = float(fp), min(fp + down, max_fpr * n_neg), min_tpr * n_pos
        if stop <= start:
            return 0.0
        bottom, rise = (tp, up) if tied else (tp + up, up * 0)
        low, top = float(bottom), bottom + rise * ((stop - start) / down)
        if low < floor < top:
            start += (stop - start) * ((floor - low) / (top - low))
            low = floor
        return (stop - start) * ((low + top) / 2 - floor) if top > floor else 0.0
    if up == 0:
        return 0.0
    ahead = fp + down * tied
    if form == DAVIS_GOADRICH:
        before, slope = tp + fp, 1.0 + down * tied / up
        if ahead == 0 or before == 0:
            return up / slope
        u = slope * up / before
        return tp / slope * math.log1p(u) + up / slope * excess_share(u)
    precision = (tp + up) / (tp + up + ahead)
    if form == LINEAR:
        precision = ((tp / (tp + fp) if tp + fp > 0 else 1.0) + precision) / 2
    return up * precision


@spared_kernel
def area(positives, negatives, tied, n_pos, n_neg, form, max_fpr, min_tpr, values):
    """For each class and step, write the area without one row of this class in this step.

    Leaving out the row changes the counts at this step and at all lower steps.
    """
    for of in range(2):  # the class of the left-out row
        lost = 1 - of, of
        left = n_pos - lost[0], n_neg - lost[1]
        whole = left[0] * left[1] if form == PARTIAL else left[0]
        tp, fp, below = np.int64(n_pos), np.int64(n_neg), 0.0
        for step in range(tied.size - 1, -1, -1):
            up, down = np.int64(positives[step]), np.int64(negatives[step])
            tp, fp = tp - up, fp - down
            values[of, step] = below
            if (down if of else up) > 0:
                values[of, step] += step_area(
                    form, tp, fp, up - lost[0], down - lost[1], tied[step], left[0], left[1], max_fpr, min_tpr
                )
            below += step_area(
                form, tp - lost[0], fp - lost[1], up, down, tied[step], left[0], left[1], max_fpr, min_tpr
            )
        tp, fp, above = np.int64(0), np.int64(0), 0.0
        for step in range(tied.size):
            up, down = np.int64(positives[step]), np.int64(negatives[step])
            values[of, step] = (values[of, step] + above) / whole
            above += step_area(form, tp, fp, up, down, tied[step], left[0], left[1], max_fpr, min_tpr)
            tp, fp = tp + up, fp + down


# Thresholds that are chosen on the rows ---------------------------------------------------------------------------

BEST_F, BEST_DIFFERENCE, WITH_RECALL, WITH_PRECISION, WITHIN_FPR, WITH_TPR, WITHIN_N_PREDICTED = range(7)


@kernel
def worth(rule, tp, fp, n_pos, n_neg, first, second, of_rates):
    """Return a threshold's value by a rule of `replicate_thresholds`, and the size to which rounding is relative.

    The value is -inf if the rule does not allow the threshold.

    `first` is the limit, the beta or the gain, depending on the rule; `second` is the loss.
    """
    if rule == BEST_F:
        allowed, value = tp + fp > 0, tp / (first * first * n_pos + tp + fp)
    elif rule == BEST_DIFFERENCE:
        won, lost = first * tp, second * fp
        if of_rates:
            won, lost = won * n_neg, lost * n_pos
        return won - lost, won + lost
    elif rule == WITH_RECALL:
        allowed, value = tp + fp > 0 and tp / n_pos >= first, tp / (tp + fp)
    elif rule == WITH_PRECISION:
        allowed, value = tp + fp > 0 and tp / (tp + fp) >= first, float(tp)
    elif rule == WITHIN_FPR:
        allowed, value = fp / n_neg <= first, float(tp)
    elif rule == WITH_TPR:
        allowed, value = tp / n_pos >= first, -float(fp)
    else:
        allowed, value = tp + fp <= first, float(tp + fp)
    return (value, abs(value)) if allowed else (-np.inf, 0.0)


@spared_kernel
def chosen_thresholds(positives, negatives, tied, n_pos, n_neg, of, rule, first, second, of_rates, out):
    """For each step, leave out one of its rows of class `of` (0: positive); count rows at or above the best threshold.

    At thresholds above the left-out row, only the class total falls by one; at the row's own threshold and below, the
    count at or above the threshold falls by one, too. Adjacent steps with the same counts become one column of `out`,
    whose third entry is the number of rows that may be left out; returns the number of columns. Counts are -1 if no
    threshold is allowed. Among thresholds that are equal up to rounding, the highest is chosen.
    """
    lost_tp, lost_fp = 1 - of, of
    pos, neg = n_pos - lost_tp, n_neg - lost_fp
    nowhere = np.int64(-1)
    tp, fp, best, unit = np.int64(n_pos), np.int64(n_neg), -np.inf, 0.0
    at_tp, at_fp = nowhere, nowhere
    for step in range(tied.size - 1, -1, -1):  # the best threshold at or below the row's own
        fp -= np.int64(negatives[step])
        ahead = fp + np.int64(negatives[step]) * tied[step]
        own = lost_tp > 0 or tied[step]  # whether a row of the step is above the step's threshold
        if not own:
            out[0, step], out[1, step] = at_tp, at_fp
        value, size = worth(rule, tp - lost_tp, ahead - lost_fp, pos, neg, first, second, of_rates)
        if value > -np.inf and not best > value + VALUE_ROUNDING * unit:
            best, unit, at_tp, at_fp = value, size, tp - lost_tp, ahead - lost_fp
        if own:
            out[0, step], out[1, step] = at_tp, at_fp
        tp -= np.int64(positives[step])
    tp, fp = np.int64(0), np.int64(0)
    best, _ = worth(rule, tp, fp, pos, neg, first, second, of_rates)
    at_tp, at_fp = (tp, fp) if best > -np.inf else (nowhere, nowhere)
    columns = 0
    for step in range(tied.size):  # the best threshold above the row, and then the best of all
        rows = np.int64(negatives[step] if of else positives[step])
        tp += np.int64(positives[step])
        ahead = fp + np.int64(negatives[step]) * tied[step]
        value, size = worth(rule, tp, ahead, pos, neg, first, second, of_rates)
        better = value > best + VALUE_ROUNDING * size
        own = lost_tp > 0 or tied[step]
        if better and not own:
            best, at_tp, at_fp = value, tp, ahead
        if rows > 0:
            found_tp, found_fp = at_tp, at_fp
            if out[0, step] >= 0:
                value_below, size = worth(rule, out[0, step], out[1, step], pos, neg, first, second, of_rates)
                if value_below > best + VALUE_ROUNDING * size:
                    found_tp, found_fp = out[0, step], out[1, step]
            if columns == 0 or out[0, columns - 1] != found_tp or out[1, columns - 1] != found_fp:
                out[0, columns], out[1, columns], out[2, columns] = found_tp, found_fp, 0
                columns += 1
            out[2, columns - 1] += rows
        if better and own:
            best, at_tp, at_fp = value, tp, ahead
        fp += np.int64(negatives[step])
    return columns
