"""Areas under curves over a block of steps, from threshold counts: thresholds descend, and the first counts are 0."""

import math

import numpy as np

from fastevals._compile.jit import kernel, spared_kernel
from fastevals._kernels.compensated import add, difference, product, two_sum

LARGEST_FLOAT = np.finfo(np.float64).max
ROWS_PER_STRIDE = 64


@spared_kernel
def roc_area(fps, tps, fp_scale, tp_scale):
    """Return, as a pair, twice the area under the curve of tps * tp_scale over fps * fp_scale.

    The scales are powers of two. The area is exact for integer counts.
    """
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        width, width_error = difference(fps[i] * fp_scale, fps[i - 1] * fp_scale)
        if width != 0.0:
            height, height_error = two_sum(tps[i] * tp_scale, tps[i - 1] * tp_scale)
            area, error = product(width, height)
            high, low = add(high, low, area)
            high, low = add(high, low, error + (width * height_error + width_error * height))
    return high, low


@spared_kernel
def average_precision(fps, tps, tp_scale):
    """Return, as a pair, the sum over steps of precision times the gain in tps * tp_scale; the scale is a power of two.

    The loop does not branch on whether there is a gain, since processors could not predict such a branch. Rounding
    errors are added up separately (Ogita, Rump and Oishi 2005, doi:10.1137/030601818), so that no addition waits for
    the previous correction; this halves the time.
    """
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        gain, error = difference(tps[i] * tp_scale, tps[i - 1] * tp_scale)
        precision = tps[i] / (np.float64(tps[i]) + np.float64(fps[i]))
        high, lost = two_sum(high, gain * precision if gain != 0.0 else 0.0)
        low += lost + (error * precision if gain != 0.0 else 0.0)
    return two_sum(high, low)


@spared_kernel
def linear_pr_area(fps, tps, tp_scale):
    """Return, as a pair, 2 * `tp_scale` times the area under the polyline of precision over true positives.

    The polyline starts at precision 1.
    """
    high, low = 0.0, 0.0
    before = 1.0
    if tps[0] + fps[0] > 0:
        before = tps[0] / (np.float64(tps[0]) + np.float64(fps[0]))
    for i in range(1, fps.size):
        precision = tps[i] / (np.float64(tps[i]) + np.float64(fps[i]))
        gain, error = difference(tps[i] * tp_scale, tps[i - 1] * tp_scale)
        if gain != 0.0:
            high, low = add(high, low, gain * (before + precision))
            low += error * (before + precision)
        before = precision
    return high, low


@kernel
def excess_of_log(u):
    """Return u - log(1 + u), computed without cancellation."""
    if abs(u) > 0.1:
        return u - math.log1p(u)
    term = u * u
    total = 0.0
    k = 2.0
    while True:
        step = term / k
        if total + step == total:
            return total
        total += step
        term *= -u
        k += 1.0


@kernel
def excess_share(u):
    """Return (u - log(1 + u)) / u for u > -1, computed without cancellation; 0 if u is 0."""
    if u == 0.0:
        return 0.0
    return excess_of_log(u) / u if u < 1.0 else 1.0 - math.log1p(u) / u


@spared_kernel
def davis_goadrich_area(fps, tps, tp_scale):
    """Return, as a pair, `tp_scale` times the area under precision plotted over true positives.

    Counts are interpolated linearly: Davis and Goadrich (2006), doi:10.1145/1143844.1143874. With r = dfp / dtp, the
    area of a step from (tp, fp) is the integral of (tp + t) / (tp + fp + (1 + r) t) over t in [0, dtp], computed in
    closed form without cancellation.
    """
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        gain, error = difference(tps[i] * tp_scale, tps[i - 1] * tp_scale)
        if gain > 0.0 and fps[i] == 0:
            high, low = add(high, low, gain)
            low += error
        elif gain > 0.0:
            gained = np.float64(tps[i] - tps[i - 1])
            slope = 1.0 + (fps[i] - fps[i - 1]) / gained
            start = np.float64(tps[i - 1]) + np.float64(fps[i - 1])
            if start == 0.0:
                high, low = add(high, low, gain / slope)
            elif slope == 0.0:
                high, low = add(high, low, gain * ((tps[i - 1] + gained / 2) / start))
            else:
                u = min((gained + (fps[i] - fps[i - 1])) / start, LARGEST_FLOAT)
                high, low = add(high, low, tps[i - 1] * tp_scale / slope * math.log1p(u))
                high, low = add(high, low, gain / slope * excess_share(u))
    return high, low


@kernel
def lift_area(fps, tps, tp_scale):
    """Return, as a pair, `tp_scale` times the area under precision plotted over the rows predicted positive.

    Counts are interpolated linearly. If a share m of the n rows after (tp, fp) is positive, a step's area is the
    integral of (tp + m t) / (tp + fp + t) over t in [0, n], computed in closed form without cancellation.
    """
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        gain = tps[i] * tp_scale - tps[i - 1] * tp_scale
        rows = (float(tps[i]) - float(tps[i - 1])) + (float(fps[i]) - float(fps[i - 1]))
        start = float(tps[i - 1]) + float(fps[i - 1])
        if start == 0.0:
            high, low = add(high, low, gain)
        elif rows > 0.0:
            u = min(rows / start, LARGEST_FLOAT)
            high, low = add(high, low, tps[i - 1] * tp_scale * math.log1p(u))
            high, low = add(high, low, gain * excess_share(u))
    return high, low


@kernel
def risk_area(fps, tps, fp_scale):
    """Return, as a pair, `fp_scale` times the area under 1 - precision plotted over the rows predicted positive."""
    return lift_area(tps, fps, fp_scale)


@spared_kernel
def upper_hull(x, y, hull):
    """Write the indices of the upper hull's vertices, for points with ascending y; return the number of vertices.

    The first point has the lowest x; later x values may decrease, as in an average of P-R curves.
    """
    size = 0
    for i in range(x.size):
        while size >= 2:
            a = hull[size - 2]
            b = hull[size - 1]
            if (x[b] - x[a]) * (y[i] - y[a]) < (y[b] - y[a]) * (x[i] - x[a]):
                break
            size -= 1
        if size == 1 and x[hull[0]] == x[i] and y[hull[0]] == y[i]:
            continue
        hull[size] = i
        size += 1
    return size


@spared_kernel
def rows_above(x, y, edges, start, stop, found):
    """Write the rows from `start` to `stop` that lie above a polyline or are its vertices; return their number.

    x and y are ascending integers; `edges` holds the rows of the polyline's vertices, from 0 to the last row. Most
    strides have no such row: even the corner with the x of a stride's first row and the y of its last row is not above
    the polyline.
    """
    n = 0
    low, high = 0, edges.size  # a search by hand, since np.searchsorted compiles for half a second
    while low < high:
        middle = (low + high) // 2
        if edges[middle] <= start:
            low = middle + 1
        else:
            high = middle
    edge = low - 1
    while start < stop:
        if edges[edge] == start:
            found[n] = start
            n += 1
        if edge == edges.size - 1:
            break
        a, b = edges[edge], edges[edge + 1]
        right, up = x[b] - x[a], y[b] - y[a]
        line = right * y[a] - up * x[a]
        end = min(start + ROWS_PER_STRIDE, stop, b)
        if right * y[end - 1] - up * x[start] > line:
            highest = line
            for i in range(start, end):
                highest = max(highest, right * y[i] - up * x[i])
            if highest > line:
                for i in range(start, end):
                    if right * y[i] - up * x[i] > line:
                        found[n] = i
                        n += 1
        start = end
        edge += start == b
    return n
