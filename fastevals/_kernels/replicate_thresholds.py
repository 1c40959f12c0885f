"""Thresholds chosen in a bootstrap replicate, from how often the rows of each step were drawn (see `steps`).

Each kernel returns the positives and negatives above the threshold, or -1 for both if no threshold is allowed. A rate
can reach its best value only at two kinds of places: before the negatives of an untied step, and after a tied step.
Among thresholds whose values are equal up to rounding, the highest is chosen.
"""

from fastevals._compile.jit import kernel
from fastevals._kernels.steps import STEPS_PER_STRETCH, sum_of, wide

VALUE_ROUNDING = 2.0**-49  # relative


@kernel
def exceeds(value, best):
    """Return whether a value is larger by more than a few rounding errors."""
    return value > best + VALUE_ROUNDING * abs(best)


@kernel
def best_f(positives, negatives, tied, n_pos, n_neg, beta):
    """Maximize the F score; without positives F is 0 everywhere, and the highest score drawn becomes the threshold."""
    if n_pos == 0:
        for step in range(tied.size):
            if negatives[step] > 0:
                return n_pos, wide(negatives[step])
    tp, fp, square = n_pos * 0, n_pos * 0, beta * beta
    least = 0.0  # the largest value at the ends of stretches
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        tp, fp = tp + sum_of(positives, start, stop), fp + sum_of(negatives, start, stop)
        least = max(least, tp / (square * n_pos + tp + fp))
    least *= 1 - VALUE_ROUNDING
    tp, fp, best = n_pos * 0, n_pos * 0, -1.0
    best_tp, best_fp = n_pos * 0 - 1, n_pos * 0 - 1
    for start in range(0, tied.size, STEPS_PER_STRETCH):
        stop = min(start + STEPS_PER_STRETCH, tied.size)
        gained, lost = sum_of(positives, start, stop), sum_of(negatives, start, stop)
        if (tp + gained) / (square * n_pos + tp + gained + fp) >= least:
            at_tp, at_fp = tp, fp
            for step in range(start, stop):
                at_tp += positives[step]
                ahead = at_fp + wide(negatives[step]) * tied[step]
                at_fp += negatives[step]
                value = at_tp / (square * n_pos + at_tp + ahead)
                if value >= least and exceeds(value, best) and at_tp + ahead > 0:
                    best, best_tp, best_fp = value, at_tp, ahead
        tp, fp = tp + gained, fp + lost
    return best_tp, best_fp


@kernel
def best_difference(positives, negatives, tied, n_pos, n_neg, gain, loss, of_rates):
    """Maximize gain * tp - loss * fp, for counts or rates.

    Differences within the rounding error of both terms count as equal, since they may be much smaller than the terms.
    """
    if of_rates and (n_pos == 0 or n_neg == 0):
        return n_pos * 0 - 1, n_pos * 0 - 1
    if of_rates:  # rates multiplied by both totals
        gain, loss = gain * n_neg, loss * n_pos
    tp, fp, best = n_pos * 0, n_pos * 0, 0.0
    best_tp, best_fp = n_pos * 0, n_pos * 0
    for step in range(tied.size):
        tp += positives[step]
        ahead = fp + wide(negatives[step]) * tied[step]
        fp += negatives[step]
        won, lost = gain * tp, loss * ahead
        if won - lost > best + VALUE_ROUNDING * (won + lost):
            best, best_tp, best_fp = won - lost, tp, ahead
    return best_tp, best_fp


@kernel
def with_recall(positives, negatives, tied, n_pos, n_neg, limit):
    """Maximize precision with a recall of at least `limit`; steps must not merge positives (see `fill_steps`)."""
    tp, fp, best = n_pos * 0, n_pos * 0, -1.0
    best_tp, best_fp = n_pos * 0 - 1, n_pos * 0 - 1
    if n_pos == 0:
        return best_tp, best_fp
    for step in range(tied.size):
        tp += positives[step]
        ahead = fp + wide(negatives[step]) * tied[step]
        fp += negatives[step]
        if tp / n_pos >= limit and tp + ahead > 0:
            precision = tp / (tp + ahead)
            if exceeds(precision, best):
                best, best_tp, best_fp = precision, tp, ahead
    return best_tp, best_fp


@kernel
def with_precision(positives, negatives, tied, n_pos, n_neg, limit):
    """Maximize recall with a precision of at least `limit`."""
    tp, fp = n_pos * 0, n_pos * 0
    best_tp, best_fp = n_pos * 0 - 1, n_pos * 0 - 1
    if n_pos == 0:
        return best_tp, best_fp
    for step in range(tied.size):
        tp += positives[step]
        ahead = fp + wide(negatives[step]) * tied[step]
        fp += negatives[step]
        if tp > best_tp and tp + ahead > 0 and tp / (tp + ahead) >= limit:
            best_tp, best_fp = tp, ahead
    return best_tp, best_fp


@kernel
def within_fpr(positives, negatives, tied, n_pos, n_neg, limit):
    """Maximize recall with a false positive rate of at most `limit`."""
    tp, fp = n_pos * 0, n_pos * 0
    if n_pos == 0 or n_neg == 0:
        return tp - 1, fp - 1
    best_tp, best_fp = tp, fp
    for step in range(tied.size):
        tp += positives[step]
        ahead = fp + wide(negatives[step]) * tied[step]
        fp += negatives[step]
        if ahead / n_neg > limit:
            break
        if tp > best_tp:
            best_tp, best_fp = tp, ahead
    return best_tp, best_fp


@kernel
def with_tpr(positives, negatives, tied, n_pos, n_neg, limit):
    """Minimize the false positive rate with a recall of at least `limit`; steps must not merge positives."""
    tp, fp = n_pos * 0, n_pos * 0
    if n_pos == 0 or n_neg == 0:
        return tp - 1, fp - 1
    if limit <= 0:
        return tp, fp
    for step in range(tied.size):
        tp += positives[step]
        ahead = fp + wide(negatives[step]) * tied[step]
        fp += negatives[step]
        if tp / n_pos >= limit:
            return tp, ahead
    return n_pos * 0 - 1, n_pos * 0 - 1


@kernel
def within_n_predicted(positives, negatives, tied, n_pos, n_neg, limit):
    """Predict as many rows positive as `limit` allows; steps must not merge thresholds."""
    tp, fp = n_pos * 0, n_pos * 0
    for step in range(tied.size):
        if tp + positives[step] + fp + negatives[step] > limit:
            break
        tp, fp = tp + positives[step], fp + negatives[step]
    return tp, fp
