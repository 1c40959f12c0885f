"""Sums of residuals (labels minus probabilities) in bins of probabilities."""

from fastevals._compile.jit import spared_kernel


@spared_kernel
def add_residuals(p, negatives, positives, negative_squares, positive_squares, edges, sums):
    """Add forecasts to sums over bins.

    Entry i has rows of weight `negatives[i]` and `positives[i]` with probability `p[i]`, and sums of squared weights.
    The rows of `sums` are the sums of w, w^2, w u, w^2 u, (w u)^2, w^2 v and w^4 v^2, for the weight w of a row, its
    residual u, and v = p (1 - p). For w^4, the weights of an entry and class are taken to be equal. An edge belongs to
    the bin below it.
    """
    at, last = 0, edges.size - 2
    for i in range(p.size):
        x = p[i]
        if (x <= edges[at] and at > 0) or (x > edges[at + 1] and at < last):
            low, high = 0, last
            while low < high:
                middle = (low + high) // 2
                if x <= edges[middle + 1]:
                    high = middle
                else:
                    low = middle + 1
            at = low
        q = 1.0 - x
        v = x * q
        for w, s, u in ((negatives[i], negative_squares[i], -x), (positives[i], positive_squares[i], q)):
            if w > 0.0:
                share = s / w  # the weight of a row
                sums[0, at] += w
                sums[1, at] += s
                sums[2, at] += w * u
                sums[3, at] += s * u
                sums[4, at] += s * u * u
                sums[5, at] += s * v
                sums[6, at] += s * share * share * v * v
