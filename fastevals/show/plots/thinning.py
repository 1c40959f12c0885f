"""Choose points that draw a curve: a few rows out of millions, and more points where it is curved between two rows.

A line is cut into columns narrower than a pixel. The first, lowest, highest and last point of each column draw the same
line as all points (M4: Jugel et al. 2014, doi:10.14778/2732951.2732953), to within a column's width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import blocks, run
from fastevals.counts import ThresholdCounts, last_row

ROUNDS = 60  # halvings; a float allows no more

Values = NDArray[np.float64]
Rows = NDArray[np.intp]
Points = tuple[Values, Values]


def rows_to_draw(
    counts: ThresholdCounts,
    x: Callable[[Any], NDArray[Any]],
    edges: Values,
    y: Callable[[slice], NDArray[Any]] | None = None,
) -> Rows:
    """Choose the rows of counts that are drawn as the points of a curve.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts of the curve.
    x : callable
        Function from an array of rows to their ascending x.
    edges : ndarray of shape (n_columns - 1,)
        Ascending edges between columns, in the unit of x.
    y : callable, optional
        Function from a slice of rows, after the first one, to their y. Not needed if y is monotone: then the first and
        last point of a column are its lowest and highest.

    Returns
    -------
    ndarray of shape (n_kept,)
        All rows if they are few, otherwise at most four per column.
    """
    n = counts.thresholds.size
    if n <= 4 * edges.size:
        return np.arange(n)
    starts = sorted_unique(np.concatenate(([0], first_at_least(x, n, edges), [n])))
    ends = [starts[:-1], starts[1:] - 1]
    if y is None:
        return sorted_unique(np.concatenate(ends))
    columns = np.flatnonzero(np.diff(starts) > 2)
    spans = list(zip(np.maximum(starts[columns], 1).tolist(), starts[columns + 1].tolist(), strict=True))

    def extremes(some: list[tuple[int, int]]) -> list[int]:
        return [row for start, stop in some for row in _extremes(y, slice(start, stop))]

    inner = run(extremes, [spans[k : k + 64] for k in range(0, len(spans), 64)])
    return sorted_unique(np.concatenate([*ends, *(np.asarray(rows, dtype=np.intp) for rows in inner)]))


def first_at_least(x: Callable[[Any], NDArray[Any]], n: int, values: Values) -> Rows:
    """Return, for each value, the first row whose x reaches it, or n if none does.

    x is 0 at row 0, and values are positive.
    """
    return last_row(n, values.shape, lambda rows: x(rows) < values) + 1


def _extremes(y: Callable[[slice], NDArray[Any]], rows: slice) -> list[int]:
    """Return a row with the lowest y and one with the highest."""
    lowest: list[tuple[float, int]] = []
    highest: list[tuple[float, int]] = []
    for block in blocks(rows):
        values = y(block)
        low, high = int(np.argmin(values)), int(np.argmax(values))
        lowest.append((values[low], block.start + low))
        highest.append((-values[high], block.start + high))
    return [min(lowest)[1], min(highest)[1]]


def thinned(x: Values, y: Values, columns: int) -> Points:
    """Thin a line with ascending x and no spikes in y: in each pixel column keep the first and the last point."""
    if x.size <= 4 * columns:
        return x, y
    starts = np.searchsorted(x, np.linspace(x[0], x[-1], columns))
    kept = sorted_unique(np.concatenate((starts, np.maximum(starts - 1, 0), [x.size - 1])))
    return x[kept], y[kept]


def refined(
    u: Values, v: Values, drawn: Callable[[Values, Values], tuple[Values, Values]], longest: tuple[float, float]
) -> Points:
    """Add points to a polyline in (u, v) until each piece, as drawn, is short, horizontal or vertical.

    Parameters
    ----------
    u, v : ndarray of shape (n_points,)
        Coordinates in which the line is straight between points.
    drawn : callable
        Function that maps u and v to x and y. Both x and y are monotone along each piece of the line.
    longest : tuple of float
        Longest allowed step in x and in y.

    Returns
    -------
    tuple of ndarray
        u and v of all points.
    """
    for _ in range(ROUNDS):
        right, up = (np.abs(np.diff(values)) for values in drawn(u, v))
        long = np.flatnonzero(((right > longest[0]) | (up > longest[1])) & (right > 0) & (up > 0))
        if not long.size:
            break
        u, v = (np.insert(each, long + 1, each[long] / 2 + each[long + 1] / 2) for each in (u, v))
    return u, v


def rows_along(
    counts: ThresholdCounts, columns: int, x: Callable[[Any, Any], Any], total: float, y: Any = None
) -> NDArray[np.intp]:
    """Choose the rows that draw a curve over x; x is a function of true and false positives, and ends at `total`."""
    edges = np.arange(1, columns) / columns * total
    return rows_to_draw(counts, lambda rows: x(counts.tps[rows], counts.fps[rows]), edges, y)
