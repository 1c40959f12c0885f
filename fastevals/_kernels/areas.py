"""Areas over threshold counts (thresholds descending, first row zero), each a sum over one block of steps."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import add, difference, product, two_sum

LARGEST_FLOAT = np.finfo(np.float64).max


@kernel
def roc_area(fps, tps, fp_scale, tp_scale):
    """Twice the area under (fps, tps), both scaled by powers of two, as a pair; exact for integer counts."""
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        width, width_error = difference(fps[i] * fp_scale, fps[i - 1] * fp_scale)
        if width != 0.0:
            height, height_error = two_sum(tps[i] * tp_scale, tps[i - 1] * tp_scale)
            area, error = product(width, height)
            high, low = add(high, low, area)
            high, low = add(high, low, error + (width * height_error + width_error * height))
    return high, low


@kernel
def average_precision(fps, tps, tp_scale):
    """Return the sum of gained true positives, scaled by a power of two, times precision, as a pair.

    There is no branch on the gain, which no processor can predict. Rounding errors are added up separately (Ogita, Rump
    and Oishi 2005, doi:10.1137/030601818), so that an addition does not wait for the last correction: half the time.
    """
    high, low = 0.0, 0.0
    for i in range(1, fps.size):
        gain, error = difference(tps[i] * tp_scale, tps[i - 1] * tp_scale)
        precision = tps[i] / (np.float64(tps[i]) + np.float64(fps[i]))
        high, lost = two_sum(high, gain * precision if gain != 0.0 else 0.0)
        low += lost + (error * precision if gain != 0.0 else 0.0)
    return two_sum(high, low)


@kernel
def linear_pr_area(fps, tps, tp_scale):
    """Twice the area under the P-R polyline, in scaled true positives, as a pair; the curve starts at precision 1."""
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
    """U - log(1 + u), without cancellation."""
    if abs(u) > 0.1:
        return u - np.log1p(u)
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
    """(u - log(1 + u)) / u for u > -1, without cancellation; 0 at 0."""
    if u == 0.0:
        return 0.0
    return excess_of_log(u) / u if u < 1.0 else 1.0 - np.log1p(u) / u


@kernel
def davis_goadrich_area(fps, tps, tp_scale):
    """Area under the P-R curve with counts linear between points, in scaled true positives, as a pair.

    Davis and Goadrich (2006), doi:10.1145/1143844.1143874. From (tp, fp), with r = dfp / dtp, the area of a step is
    the integral of (tp + t) / (tp + fp + (1 + r) t) over t in [0, dtp], in closed form and free of cancellation.
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
                high, low = add(high, low, tps[i - 1] * tp_scale / slope * np.log1p(u))
                high, low = add(high, low, gain / slope * excess_share(u))
    return high, low


@kernel
def lift_area(fps, tps, tp_scale):
    """Area under precision over the rows predicted positive, with linear counts, in scaled true positives, as a pair.

    For a step from (tp, fp) to the next n rows, with a share m of positives, the area is the integral of
    (tp + m t) / (tp + fp + t) over t in [0, n], in closed form without cancellation.
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
            high, low = add(high, low, tps[i - 1] * tp_scale * np.log1p(u))
            high, low = add(high, low, gain * excess_share(u))
    return high, low


@kernel
def upper_hull(x, y, hull):
    """Write the indices of the vertices of the upper hull of points with ascending y; return their number.

    The first point has the lowest x; later x may decrease, as in an average of P-R curves.
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
