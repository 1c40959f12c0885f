"""Pairs of rows of two classes in a bootstrap replicate, counted in one sweep over a class's sorted column."""

from fastevals._compile.jit import kernel
from fastevals._kernels.steps import wide


@kernel
def count_pairs(mass, order, classes, own, ties, won, doubled):
    """Write doubled[k]: twice the mass of pairs whose row of class `own` is above the row of class k; ties count half.

    `mass` has the draws (or weight) of each row. `order` has the rows by descending score, and rows of class `own` last
    among equal scores; `classes` has the class of each of these rows. Each of `ties` is a stretch of equal scores: its
    first row, its first row of class `own`, and its end. `won` is scratch of shape (2, n_classes): with two sums per
    class, the addition of a row need not wait for the addition of the row before it.
    """
    above = wide(mass[0]) * 0
    won[:] = 0
    for place in range(order.size):
        rows, k = wide(mass[order[place]]), classes[place]
        won[place & 1, k] += rows * above
        above += rows * (k == own)
    for k in range(doubled.size):
        doubled[k] = 2 * (won[0, k] + won[1, k])
    for tie in range(ties.shape[0]):
        level = wide(mass[0]) * 0
        for place in range(ties[tie, 1], ties[tie, 2]):
            level += mass[order[place]]
        for place in range(ties[tie, 0], ties[tie, 1]):
            doubled[classes[place]] += mass[order[place]] * level
    doubled[own] = 0


@kernel
def add_mass(mass, codes, sums):
    """Write the mass of each class."""
    sums[:] = 0
    for i in range(codes.size):
        sums[codes[i]] += mass[i]


@kernel
def take_weighted(times, units, weights, mass):
    """Write each row's weight times how often its unit was drawn."""
    for i in range(units.size):
        mass[i] = times[units[i]] * weights[i]
