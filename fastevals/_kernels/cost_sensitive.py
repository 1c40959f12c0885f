"""Kernels that choose the cheapest action for each row, and add up powers of what rows cost."""

from __future__ import annotations

import numpy as np

from fastevals._compile.jit import kernel, sum_kernel

ROWS_PER_STEP = 256  # rows whose totals stay in the nearest cache


@kernel
def cheapest_actions(probabilities, costs, chosen):
    """Write each row's cheapest action, the first if tied; shapes are (classes, rows), (actions, classes), (rows,).

    Costs are summed in the order of the classes, independently of other rows, whereas the last bits of a matrix product
    depend on a row's place in its block. A matrix product and argmin take 5 x as long for 2 classes, just as long for
    30, and a third of the time for 1000. From 10 classes on, four classes per loop are 3 to 5 x faster than one.
    """
    n_actions, n_classes = costs.shape
    total, least = np.empty(ROWS_PER_STEP), np.empty(ROWS_PER_STEP)
    for start in range(0, chosen.size, ROWS_PER_STEP):
        rows = min(ROWS_PER_STEP, chosen.size - start)
        best = chosen[start : start + rows]
        for action in range(n_actions):
            total[:] = 0.0
            for k in range(0, n_classes - 3, 4):
                c0, c1, c2, c3 = costs[action, k], costs[action, k + 1], costs[action, k + 2], costs[action, k + 3]
                p0 = probabilities[k, start : start + rows]
                p1 = probabilities[k + 1, start : start + rows]
                p2 = probabilities[k + 2, start : start + rows]
                p3 = probabilities[k + 3, start : start + rows]
                for row in range(rows):
                    total[row] = (((total[row] + c0 * p0[row]) + c1 * p1[row]) + c2 * p2[row]) + c3 * p3[row]
            for k in range(n_classes - n_classes % 4, n_classes):
                c0 = costs[action, k]
                p0 = probabilities[k, start : start + rows]
                for row in range(rows):
                    total[row] += c0 * p0[row]
            for row in range(rows):
                better = action == 0 or total[row] < least[row]
                least[row] = total[row] if better else least[row]
                best[row] = action if better else best[row]


@sum_kernel
def add_powers(none, gains, weights, saved, forms, powers):
    """Add to the sums of squares, cubes and fourth powers of linear forms in four columns; shape (n_forms, 3)."""
    for k in range(forms.shape[0]):
        a, b, c, d = forms[k]
        square = cube = fourth = 0.0
        for i in range(none.size):
            value = a * none[i] + b * gains[i] + c * weights[i] + d * saved[i]
            squared = value * value
            square += squared
            cube += squared * value
            fourth += squared * squared
        powers[k, 0] += square
        powers[k, 1] += cube
        powers[k, 2] += fourth
