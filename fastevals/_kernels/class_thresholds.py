"""Sweep the threshold of one class, while the thresholds of all other classes stay fixed."""

import numpy as np

from fastevals._compile.jit import kernel

GOAL_ROUNDING = 1e-12  # relative distance below which two values may differ only by rounding
SHIFTS_PER_ROW = 8  # in an insertion sort of rows that are almost in order; with more, another sort is faster


@kernel
def find_two_best(columns, factors, first, second, most, next_most):
    """For each row, write the two best classes by probability times factor, and these products.

    Among equal products the first class counts.
    """
    for row in range(first.size):
        two_best_of_row(columns, factors, row, first, second, most, next_most)


@kernel
def two_best_of_row(columns, factors, row, first, second, most, next_most):
    """Write the two best classes of a row."""
    a, b, best, next_best = -1, -1, -1.0, -1.0
    for j in range(factors.size):
        product = columns[j, row] * factors[j]
        if product > best:
            a, b, best, next_best = j, a, product, best
        elif product > next_best:
            b, next_best = j, product
    first[row], second[row], most[row], next_most[row] = a, b, best, next_best


@kernel
def update_two_best(columns, factors, k, has_risen, first, second, most, next_most):
    """Update the two best classes of each row after the factor of class k has risen or fallen."""
    for row in range(first.size):
        product = columns[k, row] * factors[k]
        a, b = first[row], second[row]
        if not has_risen:
            if a == k:
                if product > next_most[row] or (product == next_most[row] and k < b):
                    most[row] = product
                else:
                    two_best_of_row(columns, factors, row, first, second, most, next_most)
            elif b == k:
                two_best_of_row(columns, factors, row, first, second, most, next_most)
        elif a == k:
            most[row] = product
        elif product > most[row] or (product == most[row] and k < a):
            first[row], second[row], most[row], next_most[row] = k, a, product, most[row]
        elif b == k or product > next_most[row] or (product == next_most[row] and k < b):
            second[row], next_most[row] = k, product


@kernel
def best_of_others(column, k, first, second, most, next_most, ratios, others):
    """For each row, write the best class besides k, and the factor of k whose product is equal.

    The factor is inf for rows without any probability of class k, whose column is given.
    """
    for row in range(column.size):
        is_first = first[row] == k
        others[row] = second[row] if is_first else first[row]
        product = next_most[row] if is_first else most[row]
        ratios[row] = product / column[row] if column[row] > 0.0 else np.inf


@kernel
def settle_order(order, values):
    """Sort rows that are almost in ascending order of their values; return whether that took few steps."""
    shifts = 0
    for place in range(1, order.size):
        row, at = order[place], place
        while at > 0 and values[order[at - 1]] > values[row]:
            order[at] = order[at - 1]
            at -= 1
            shifts += 1
        order[at] = row
        if shifts > SHIFTS_PER_ROW * order.size:
            return False
    return True


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
    goals = np.empty(n_classes)
    for j in range(n_classes):
        goals[j] = goal(hits[j], predicted[j], support[j], values[j], of_f)
    own_hits, own_predicted, own = 0.0, 0.0, goals[k]
    total = goals.sum()
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
            j, w, code = others[row], weights[row], codes[row]  # j is never k
            before = goals[j] + own
            predicted[j] -= w
            own_predicted += w
            hits[j] -= w * (code == j)
            own_hits += w * (code == k)
            goals[j] = goal(hits[j], predicted[j], support[j], values[j], of_f)
            own = goal(own_hits, own_predicted, support[k], values[k], of_f)
            total += goals[j] + own - before
            at += 1
        reached = ratio
    return best, low, high, current
