"""Evaluate polylines at the x values of several, in one walk along them."""

import numpy as np

from fastevals._compile.jit import kernel


@kernel
def align(x, other_x, rounding, aligned, other_aligned):
    """Write the ascending x of both lines; where x values are equal up to rounding, all become the lowest of them.

    Returns the number of distinct x.
    """
    i, j, n = 0, 0, 0
    last, place = -np.inf, -np.inf
    while i < x.size or j < other_x.size:
        mine = j == other_x.size or (i < x.size and x[i] <= other_x[j])
        here = x[i] if mine else other_x[j]
        if here - last > rounding:
            place = here
            n += 1
        last = here
        if mine:
            aligned[i] = place
            i += 1
        else:
            other_aligned[j] = place
            j += 1
    return n


@kernel
def values_at(place, x, y, start):
    """Return y just left and just right of x = `place`, and the first point beyond it; search from point `start`."""
    if start == x.size:  # beyond the last point
        return y[start - 1], y[start - 1], start
    if x[start] == place:
        stop = start + 1
        while stop < x.size and x[stop] == place:
            stop += 1
        return y[start], y[stop - 1], stop
    if start == 0:  # before the first
        return y[0], y[0], start
    x0, y0 = x[start - 1], y[start - 1]
    width = x[start] - x0
    inside = y0 + (place - x0) / width * (y[start] - y0)
    return inside, inside, start


@kernel
def both_sides(places, x, y, left, right):
    """Write a line's y just left and just right of each of the ascending places, which include all x of the line."""
    i = 0
    for k in range(places.size):
        left[k], right[k], i = values_at(places[k], x, y, i)


@kernel
def overlay(x, y, other_x, other_y, places, mine, other):
    """Write each x of two aligned lines twice, with the values of both lines just left and just right of it."""
    i, j = 0, 0
    for k in range(0, places.size, 2):
        place = other_x[j] if i == x.size else x[i] if j == other_x.size else min(x[i], other_x[j])
        mine[k], mine[k + 1], i = values_at(place, x, y, i)
        other[k], other[k + 1], j = values_at(place, other_x, other_y, j)
        places[k], places[k + 1] = place, place
