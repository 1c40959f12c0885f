"""ROC polylines in coordinates in which each rate has standard error 1, and distances between such polylines."""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.steps import wide


@kernel
def coordinate(count, n):
    """Return the coordinate of a count in n rows: Anscombe's 2 sqrt(n + 1/2) asin sqrt((count + 3/8) / (n + 3/4))."""
    return 2 * math.sqrt(n + 0.5) * math.asin(math.sqrt((count + 0.375) / (n + 0.75)))


@kernel
def looked_up(table, count, n):
    """Return the coordinate of a count, from a table for small counts: 5 x as fast as an arcsine."""
    return table[count] if count < table.size else coordinate(count, n)


@kernel
def trace(positives, negatives, tied, pieces, n_pos, n_neg, ups, rights, x, y):
    """Write the vertices of a draw's ROC polyline; return the number of vertices.

    Slanted steps (see `steps`) are cut into the number of pieces given for each step.

    `ups` and `rights` are tables of the coordinates of small counts of positives and negatives.
    """
    tp, fp, at = 0, 0, 0
    x[0], y[0] = coordinate(0, n_neg), coordinate(0, n_pos)
    for step in range(tied.size):
        up, down = wide(positives[step]), wide(negatives[step])
        if tied[step]:
            for piece in range(1, pieces[step]):
                at += 1
                share = piece / pieces[step]
                x[at], y[at] = coordinate(fp + share * down, n_neg), coordinate(tp + share * up, n_pos)
            tp += up
        else:
            tp += up
            at += 1
            x[at], y[at] = x[at - 1], looked_up(ups, tp, n_pos)
        fp += down
        at += 1
        x[at], y[at] = looked_up(rights, fp, n_neg), looked_up(ups, tp, n_pos)
    return at + 1


@kernel
def squared_distance(px, py, ax, ay, bx, by):
    """Return the squared distance from a point to a line segment."""
    dx, dy = bx - ax, by - ay
    length = dx * dx + dy * dy
    along = 0.0
    if length > 0:
        along = min(max(((px - ax) * dx + (py - ay) * dy) / length, 0.0), 1.0)
    dx, dy = px - ax - along * dx, py - ay - along * dy
    return dx * dx + dy * dy


@kernel
def farthest(px, py, qx, qy, n):
    """Return the largest distance of points p from the polyline of the first n vertices q; p and q never decrease.

    The search for a point's nearest segment starts where x + y is equal and goes outwards, until the other segments are
    too far away or the point can't be farther from the polyline than an earlier point; most points need one segment.
    """
    most, at = 0.0, 1
    for i in range(px.size):
        x, y = px[i], py[i]
        here = x + y
        while at < n - 1 and qx[at] + qy[at] < here:
            at += 1
        least = squared_distance(x, y, qx[at - 1], qy[at - 1], qx[at], qy[at])
        above, below = at, at - 1
        while least > most:
            ahead = qx[above] + qy[above] - here
            behind = here - qx[below] - qy[below]
            searching = False
            if above < n - 1 and (ahead <= 0 or ahead * ahead < 2 * least):
                new = squared_distance(x, y, qx[above], qy[above], qx[above + 1], qy[above + 1])
                least, above, searching = min(least, new), above + 1, True
            if below > 0 and (behind <= 0 or behind * behind < 2 * least):
                new = squared_distance(x, y, qx[below - 1], qy[below - 1], qx[below], qy[below])
                least, below, searching = min(least, new), below - 1, True
            if not searching:
                most = least
    return math.sqrt(most)


@kernel
def upper_edge(places, x, y, radius, out):
    """For each x of the ascending `places`, write the largest y with (x, y) within `radius` of any of the points.

    The points' coordinates never decrease.
    """
    first = 0
    for k in range(places.size):
        while first < x.size - 1 and x[first] < places[k] - radius:
            first += 1
        highest, i = -np.inf, first
        while i < x.size and x[i] <= places[k] + radius:
            off = x[i] - places[k]
            highest = max(highest, y[i] + math.sqrt(max(radius * radius - off * off, 0.0)))
            i += 1
        out[k] = highest
