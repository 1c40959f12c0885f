"""Metrics of one bootstrap replicate, from how often the rows of each step were drawn (see `steps`).

Metrics of probabilities need no order: they are sums over rows, from how often each row was drawn.
"""

import numpy as np

from fastevals._compile.jit import kernel, sum_kernel
from fastevals._kernels.areas import excess_share
from fastevals._kernels.steps import STEPS_PER_STRETCH, largest_step, sum_of, wide

STEPS_PER_BLOCK = 256  # steps whose running counts stay in the nearest cache
SMALL_RISE = 1e-3  # below it, five terms of the series are exact to the last bit
AREA_ROUNDING = 1e-13  # relative distance below which an area counts as the least possible one
ROW_BLOCK = 2048  # rows whose terms stay in the nearest cache


@kernel
def roc_auc(positives, negatives, tied, n_pos, n_neg):
    """Return the AUC: 1 minus the share of pairs whose negative is above the positive, a tie counting half."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    fp, lost = n_neg * 0, n_neg * 0
    for step in range(tied.size):
        down = wide(negatives[step])
        lost += positives[step] * (2 * fp + down * tied[step])
        fp += down
    # Exact for integer counts; with weights, rounding may lead outside [0, 1].
    return min(max((2.0 * n_pos * n_neg - lost) / (2.0 * n_pos * n_neg), 0.0), 1.0)


@kernel
def partial_roc_auc(positives, negatives, tied, n_pos, n_neg, max_fpr, min_tpr, standardize):
    """Return the area under the ROC polyline up to an FPR and above a TPR, in McClish's standard form if requested."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    area, fpr, tpr = 0.0, 0.0, 0.0
    for step in range(tied.size):
        up, right = positives[step] / n_pos, negatives[step] / n_neg
        if not tied[step]:
            tpr += up
            up = 0.0
        if right > 0:
            stop = min(fpr + right, max_fpr)
            top = tpr + up * ((stop - fpr) / right)
            start, bottom = fpr, tpr
            if bottom < min_tpr < top:
                start += (stop - fpr) * ((min_tpr - bottom) / (top - bottom))
                bottom = min_tpr
            if top > min_tpr:
                area += (stop - start) * ((bottom + top) / 2 - min_tpr)
        fpr, tpr = fpr + right, tpr + up
        if fpr >= max_fpr:
            break
    if not standardize:
        return area
    chance = max(max_fpr - min_tpr, 0.0) ** 2 / 2
    return min(0.5 * (1 + (area - chance) / (max_fpr * (1 - min_tpr) - chance)), 1.0)


@kernel
def average_precision(positives, negatives, tied, n_pos, n_neg):
    """Return the sum over steps of the gain in recall times precision."""
    if n_pos == 0:
        return np.nan
    tp, fp, total = n_pos * 0, n_pos * 0, 0.0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        tp += up
        predicted = tp + fp + down * tied[step]
        total += up * (tp / (predicted + (predicted == 0)))  # no branch, as draws can't be predicted
        fp += down
    return total / n_pos


@kernel
def log_of_rise(u):
    """Return log(1 + u); most steps add a small share of rows, for which the series takes a fifth of the time."""
    if u < SMALL_RISE:
        return u * (1.0 - u * (1 / 2 - u * (1 / 3 - u * (1 / 4 - u / 5))))
    return np.log1p(u)


@kernel
def excess_of_rise(u):
    """Return `excess_share(u)`, from its series for small u."""
    if u < SMALL_RISE:
        return u * (1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u / 6))))
    return excess_share(u)


@kernel
def risk_coverage_area(positives, negatives, tied, n_pos, n_neg):
    """Return the area under the share of negatives among the rows predicted positive, plotted over their share."""
    n = n_pos + n_neg
    if n == 0:
        return np.nan
    tp, fp, area = n_pos * 0, n_pos * 0, 0.0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        if not tied[step]:
            if up > 0 and fp > 0:
                area += fp * log_of_rise(up / (tp + fp))
            tp += up
            up *= 0
        if down > 0:
            if tp + fp == 0:
                area += down
            else:
                u = (up + down) / (tp + fp)
                area += fp * log_of_rise(u) + down * excess_of_rise(u)
        elif up > 0 and fp > 0:
            area += fp * log_of_rise(up / (tp + fp))
        tp, fp = tp + up, fp + down
    return min(area / n, 1.0)


@kernel
def excess_risk_coverage_area(positives, negatives, tied, n_pos, n_neg):
    """Return the area by `risk_coverage_area` minus the area if all positives were above all negatives."""
    area = risk_coverage_area(positives, negatives, tied, n_pos, n_neg)
    least = n_neg / (n_pos + n_neg) if n_pos == 0 else n_neg * excess_share(n_neg / n_pos) / (n_pos + n_neg)
    return area - least if area - least > AREA_ROUNDING * area else 0.0


@kernel
def risk_at_coverage(positives, negatives, tied, n_pos, n_neg, coverage):
    """Return the share of negatives among the given share of rows, those with the highest scores."""
    n = n_pos + n_neg
    if n == 0:
        return np.nan
    wanted = coverage * n
    tp, fp = n_pos * 0, n_pos * 0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        if not tied[step]:
            if tp + fp + up >= wanted:
                return fp / wanted
            tp += up
            up *= 0
        if down > 0 and tp + fp + up + down >= wanted:
            return min((fp + down * ((wanted - tp - fp) / (up + down))) / wanted, 1.0)
        if up > 0 and tp + fp + up >= wanted:
            return fp / wanted
        tp, fp = tp + up, fp + down
    return n_neg / n


@kernel
def coverage_at_risk(positives, negatives, tied, n_pos, n_neg, risk):
    """Return the largest share of rows at or above a threshold among which at most the share `risk` is negative."""
    n = n_pos + n_neg
    if n == 0:
        return np.nan
    tp, fp, most = n_pos * 0, n_pos * 0, n_pos * 0
    for step in range(tied.size):
        tp += positives[step]
        fp += negatives[step]
        if tp + fp > 0 and fp / (tp + fp) <= risk:
            most = tp + fp
    return most / n


@kernel
def ks_statistic(positives, negatives, tied, n_pos, n_neg):
    """Return the largest distance between TPR and FPR."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    here, high, low = n_pos * 0, n_pos * 0, n_pos * 0
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        here += sum_of(positives, start, stop) * n_neg - sum_of(negatives, start, stop) * n_pos
        high, low = max(high, here), min(low, here)
    here *= 0
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        up, down = sum_of(positives, start, stop) * n_neg, sum_of(negatives, start, stop) * n_pos
        if here + up > high or here - down < low:
            at = here
            for step in range(start, stop):
                ahead = at + wide(positives[step]) * n_neg
                at = ahead - wide(negatives[step]) * n_pos
                high = max(high, at if tied[step] else ahead)
                low = min(low, at)
        here += up - down
    return max(high, -low) / (float(n_pos) * n_neg)


@kernel
def equal_error_rate(positives, negatives, tied, n_pos, n_neg):
    """Return the FPR where the ROC polyline crosses FPR = 1 - TPR."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    fp, here, whole = n_pos * 0, n_pos * 0, n_pos * n_neg
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        down = sum_of(negatives, start, stop)
        rise = sum_of(positives, start, stop) * n_neg + down * n_pos
        if here + rise < whole:
            fp, here = fp + down, here + rise
            continue
        for step in range(start, stop):
            up, down = wide(positives[step]), wide(negatives[step])
            if not tied[step]:
                here += up * n_neg
                if here >= whole:
                    return fp / n_neg
                up *= 0
            rise = up * n_neg + down * n_pos
            if here + rise >= whole and rise > 0:
                # One division, so that few rows cause one rounding; products of three counts may exceed integers.
                return (float(fp) * rise + float(down) * (whole - here)) / (float(rise) * n_neg)
            fp, here = fp + down, here + rise
    return np.nan


@kernel
def break_even_point(positives, negatives, tied, n_pos, n_neg):
    """Return precision (= recall) with n_pos rows predicted positive; NaN if no positive is among these rows."""
    if n_pos == 0:
        return np.nan
    tp, predicted = n_pos * 0, n_pos * 0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        if not tied[step]:
            if predicted + up >= n_pos:
                tp += n_pos - predicted
                return tp / n_pos if tp > 0 else np.nan
            tp, predicted = tp + up, predicted + up
            up *= 0
        rows = up + down
        if predicted + rows >= n_pos and rows > 0:
            found = tp * rows + up * (n_pos - predicted)
            return found / (rows * n_pos) if found > 0 else np.nan
        tp, predicted = tp + up, predicted + rows
    return np.nan


@kernel
def counts_before(positives, negatives, tp, fp, tps, fps):
    """Write the counts of positives and negatives before each step; return the counts after the last.

    The counts start at tp and fp.
    """
    for step in range(positives.size):
        tps[step], fps[step] = tp, fp
        tp += positives[step]
        fp += negatives[step]
    return tp, fp


@sum_kernel
def davis_goadrich_tail(positives, negatives, tied, tps, fps):
    """Return the area of small steps: a step has at most 1/64 as many rows as come before it.

    Eight terms of a series replace the logarithm.
    """
    area = 0.0
    for step in range(tied.size):
        up, tp = float(positives[step]), float(tps[step])
        share = 1.0 / (tp + fps[step])
        u = (up + negatives[step] * tied[step]) * share
        # This is (u - log(1 + u)) over the square of u.
        excess = 1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u * (1 / 6 - u * (1 / 7 - u * (1 / 8 - u / 9))))))
        area += up * share * (tp + excess * (up - tp * u))
    return area


@kernel
def pr_auc(positives, negatives, tied, n_pos, n_neg, tps, fps):
    """Return the area under the P-R curve with linearly interpolated counts (see `areas.davis_goadrich_area`).

    `tps` and `fps` are scratch, with one entry per step of a block.
    """
    if n_pos == 0:
        return np.nan
    tp, fp, area = n_pos * 0, n_pos * 0, 0.0
    for start in range(0, tied.size, STEPS_PER_BLOCK):
        part = slice(start, start + STEPS_PER_BLOCK)
        ups, downs, ties = positives[part], negatives[part], tied[part]
        if 0 < 64 * largest_step(ups, downs) <= tp + fp:
            tp, fp = counts_before(ups, downs, tp, fp, tps, fps)
            area += davis_goadrich_tail(ups, downs, ties, tps, fps)
            continue
        for step in range(ties.size):
            up, down = wide(ups[step]), wide(downs[step]) * ties[step]
            if up > 0 and fp + down == 0:
                area += up
            elif up > 0:
                slope, at = 1.0 + down / up, float(tp + fp)
                if at == 0.0:
                    area += up / slope
                else:
                    u = slope * up / at
                    area += tp / slope * np.log1p(u) + up / slope * excess_share(u)
            tp += up
            fp += downs[step]
    return min(area / n_pos, 1.0)


@kernel
def pr_auc_linear(positives, negatives, tied, n_pos, n_neg):
    """Return the area under the P-R curve with straight lines between points; the curve starts at precision 1."""
    if n_pos == 0:
        return np.nan
    tp, fp, area, before = n_pos * 0, n_pos * 0, 0.0, 1.0
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        ahead = fp + down * tied[step]
        if up > 0:
            precision = (tp + up) / (tp + up + ahead)
            area += up * (before + precision) / 2
        tp += up
        fp += down
        if tp + fp > 0:
            before = tp / (tp + fp)
    return area / n_pos


@sum_kernel
def total_of(times, terms):
    """Return the sum over rows (or cells) of the number of draws times the term.

    Terms of rows that are not drawn may be infinite.
    """
    total = 0.0
    for i in range(terms.size):
        total += times[i] * terms[i] if times[i] > 0 else 0.0
    return total


@kernel
def sum_by_bin(times, terms, starts, sums):
    """For each replicate, sum the terms of the drawn rows within each bin; write the total of the absolute sums.

    times[r] is how often replicate r draws each row. Bin k of class c has the rows from starts[c, k] up to
    starts[c, k + 1].
    """
    off = np.empty_like(sums)
    sums[:] = 0.0
    for k in range(starts.shape[1] - 1):
        off[:] = 0.0
        for of in range(2):
            for start in range(starts[of, k], starts[of, k + 1], ROW_BLOCK):
                rows = slice(start, min(start + ROW_BLOCK, starts[of, k + 1]))
                for r in range(sums.size):
                    off[r] += total_of(times[r, rows], terms[rows])
        for r in range(sums.size):
            sums[r] += abs(off[r])


@kernel
def push(x, y, size, new_x, new_y):
    """Add a point to an upper hull, removing vertices that are then below it; return the number of vertices."""
    if size > 0 and x[size - 1] == new_x and y[size - 1] == new_y:
        return size
    while size >= 2:
        right, up = wide(x[size - 1]) - x[size - 2], wide(y[size - 1]) - y[size - 2]
        if right * (new_y - y[size - 2]) < up * (new_x - x[size - 2]):
            break
        size -= 1
    x[size], y[size] = new_x, new_y
    return size + 1


@kernel
def upper_hull(positives, negatives, tied, rough_x, rough_y, x, y):
    """Write the counts at the vertices of the ROC polyline's upper hull; return their number.

    The last four arguments are scratch, with two entries more than there are steps; vertices go to `x` (negatives)
    and `y` (positives).
    """
    zero = wide(positives[0]) * 0
    # First the hull of the ends of stretches: points below it can't be vertices.
    size = push(rough_x, rough_y, 0, zero, zero)
    tp, fp = zero, zero
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        tp, fp = tp + sum_of(positives, start, stop), fp + sum_of(negatives, start, stop)
        size = push(rough_x, rough_y, size, fp, tp)
    edge, last = 0, size - 2
    size = push(x, y, 0, zero, zero)
    tp, fp = zero, zero
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        while edge < last and fp >= rough_x[edge + 1] and tp >= rough_y[edge + 1]:
            edge += 1
            size = push(x, y, size, wide(rough_x[edge]), wide(rough_y[edge]))
        right, up = wide(rough_x[edge + 1]) - rough_x[edge], wide(rough_y[edge + 1]) - rough_y[edge]
        line = right * rough_y[edge] - up * rough_x[edge]  # the value of right y - up x on the edge
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        gained, lost = sum_of(positives, start, stop), sum_of(negatives, start, stop)
        if right * (tp + gained) - up * fp > line:
            at_tp, at_fp = tp, fp
            for step in range(start, stop):
                at_tp += positives[step]
                ahead = at_fp + wide(negatives[step]) * tied[step]
                at_fp += negatives[step]
                if right * at_tp - up * ahead > line:
                    size = push(x, y, size, ahead, at_tp)
        tp, fp = tp + gained, fp + lost
    return push(x, y, size, fp, tp)


@kernel
def cost_area(positives, negatives, tied, n_pos, n_neg, rough_x, rough_y, x, y):
    """Return the area under the lower envelope of the cost lines; the last four arguments are `upper_hull`'s scratch.

    A vertex of the upper hull is the cheapest threshold between the slopes of its two edges. If a and b are the PC(+)
    of these slopes, the mean of the vertex's cost line from a to b is (1 - (a + b) / 2) fpr + (a + b) / 2 fnr.
    """
    if n_pos == 0 or n_neg == 0:
        return np.nan
    size = upper_hull(positives, negatives, tied, rough_x, rough_y, x, y)
    area, start_x = 0.0, 0.0
    for i in range(size):
        stop_x = 1.0
        if i + 1 < size:
            across, rise = float(x[i + 1] - x[i]) * n_pos, float(y[i + 1] - y[i]) * n_neg
            stop_x = across / (across + rise)
        middle = (start_x + stop_x) / 2
        area += (stop_x - start_x) * ((1 - middle) * (x[i] / n_neg) + middle * ((n_pos - y[i]) / n_pos))
        start_x = stop_x
    return area


@kernel
def equal_error_rate_on_hull(positives, negatives, tied, n_pos, n_neg, rough_x, rough_y, x, y):
    """Return the FPR where the upper hull crosses FPR = 1 - TPR; the last four arguments are `upper_hull`'s scratch."""
    if n_pos == 0 or n_neg == 0:
        return np.nan
    size = upper_hull(positives, negatives, tied, rough_x, rough_y, x, y)
    for i in range(size - 1):
        right, up = wide(x[i + 1]) - x[i], wide(y[i + 1]) - y[i]
        rise = up * n_neg + right * n_pos
        left = n_pos * n_neg - (y[i] * n_neg + x[i] * n_pos)
        if left <= rise:
            return (float(x[i]) * rise + float(right) * left) / (float(rise) * n_neg)  # as in `equal_error_rate`
    return np.nan
