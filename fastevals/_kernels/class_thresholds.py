"""Sweep the threshold of one class, while the thresholds of all other classes stay fixed."""

import numpy as np

from fastevals._compile.jit import kernel

ROWS_PER_STEP = 1024  # rows whose best products stay in the nearest cache
GOAL_ROUNDING = 1e-12  # relative distance below which two values may differ only by rounding


@kernel
def best_of_others(columns, factors, k, ratios, others):
    """For each row, write the best class besides k, by probability times factor, and the factor of k that ties with it.

    The factor is inf for rows without any probability of class k. Among equal products the first class counts.
    """
    n_classes, n = columns.shape
    for start in range(0, n, ROWS_PER_STEP):
        rows = min(ROWS_PER_STEP, n - start)
        most, best = ratios[start : start + rows], others[start : start + rows]
        most[:] = -1.0
        for j in range(n_classes):
            if j == k:
                continue
            column, factor = columns[j, start : start + rows], factors[j]
            for row in range(rows):
                product = column[row] * factor
                better = product > most[row]
                most[row] = product if better else most[row]
                best[row] = j if better else best[row]
        column = columns[k, start : start + rows]
        for row in range(rows):
            most[row] = most[row] / column[row] if column[row] > 0.0 else np.inf


@kernel
def sum_of_goals(hits, predicted, support, values, of_f):
    """Return the sum over classes of F1, or of hits times the class's value."""
    total = 0.0
    for k in range(hits.size):
        total += goal(hits[k], predicted[k], support[k], values[k], of_f)
    return total


@kernel
def goal(hit, predicted, support, value, of_f):
    """Return the F1 of a class, 0 if it has no rows and is never predicted; or its hits times its value."""
    if not of_f:
        return hit * value
    return 2 * hit / (predicted + support) if predicted + support > 0 else 0.0


@kernel
def sweep_class(order, ratios, others, codes, weights, support, values, of_f, k, factor):
    """Return the best goal over all factors of class k, and the factors between which it holds.

    Rows are in the order of ascending `ratios`, and are predicted as class k if its factor is above their ratio. The
    goal for the current factor is returned too. If several stretches are best, the first one counts.
    """
    n_classes = support.size
    hits, predicted = np.zeros(n_classes), np.zeros(n_classes)
    for row in range(codes.size):
        predicted[others[row]] += weights[row]
        hits[others[row]] += weights[row] * (codes[row] == others[row])
    total = sum_of_goals(hits, predicted, support, values, of_f)
    best, low, high, current, reached = total, 0.0, np.inf, total, 0.0
    at, is_first = 0, True
    while True:
        ratio = ratios[order[at]] if at < order.size else np.inf
        if ratio > reached:  # factors between the two predict the same classes
            if reached < factor:
                current = total
            if is_first or total > best + GOAL_ROUNDING * abs(best):
                best, low, high, is_first = total, reached, ratio, False
        if ratio == np.inf:
            break
        while at < order.size and ratios[order[at]] == ratio:
            row = order[at]
            j, w = others[row], weights[row]
            total -= goal(hits[j], predicted[j], support[j], values[j], of_f)
            total -= goal(hits[k], predicted[k], support[k], values[k], of_f)
            predicted[j] -= w
            predicted[k] += w
            hits[j] -= w * (codes[row] == j)
            hits[k] += w * (codes[row] == k)
            total += goal(hits[j], predicted[j], support[j], values[j], of_f)
            total += goal(hits[k], predicted[k], support[k], values[k], of_f)
            at += 1
        reached = ratio
    return best, low, high, current
