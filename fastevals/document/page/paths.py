"""Write SVG paths for pages: short, with no point off by more than a tenth of a pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

UNITS_PER_PIXEL = 10  # a path's numbers are in tenths of a pixel
TOLERANCE = 0.08  # pixels: largest error of a path


def path(x: Floats, y: Floats) -> str:
    """Return the SVG path of a polyline through points in pixels; leave out points within `TOLERANCE` of the line."""
    points = np.stack([np.clip(x, -1e4, 1e4), np.clip(y, -1e4, 1e4)], axis=1)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return ""
    whole = np.rint(UNITS_PER_PIXEL * points[simplified(points)]).astype(np.int64)
    steps = np.diff(whole, axis=0)
    steps = steps[(steps != 0).any(axis=1)]
    return f"M{_number(whole[0, 0])} {_number(whole[0, 1])}" + _steps(steps.tolist())


def _steps(steps: Iterable[Sequence[int]]) -> str:
    """Return steps in tenths of a pixel as path commands."""
    parts, before = [], ""
    for x, y in steps:
        command, numbers = ("h", [x]) if not y else ("v", [y]) if not x else ("l", [x, y])
        for k, number in enumerate(numbers):
            text = _number(number)
            starts = command if not k and command != before else "" if text.startswith("-") else " "
            parts.append(starts + text)
        before = command
    return "".join(parts)


def _number(tenths: int) -> str:
    whole, tenth = divmod(abs(int(tenths)), UNITS_PER_PIXEL)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{whole}" if not tenth else f"{sign}{whole or ''}.{tenth}"


def simplified(points: Floats, tolerance: float = TOLERANCE) -> NDArray[np.intp]:
    """Return the rows of points to keep: all others are within `tolerance` of the line through the kept points."""
    kept = np.zeros(len(points), dtype=bool)
    kept[[0, -1]] = True

    def distance(rows: Any, before: Any, after: Any) -> Floats:
        return segment_distances(points, rows, before, after)

    return kept_within(kept, distance, tolerance)


def segment_distances(points: Floats, rows: Any, before: Any, after: Any) -> Floats:
    """Return the distance of each of some points from the line segment between two other points."""
    step, moved = points[after] - points[before], points[rows] - points[before]
    length = (step * step).sum(axis=1)
    along = np.divide((moved * step).sum(axis=1), length, out=np.zeros(len(rows)), where=length > 0)
    return np.hypot(*(moved - np.clip(along, 0, 1)[:, np.newaxis] * step).T)  # type: ignore[no-any-return]


def kept_within(
    kept: NDArray[np.bool_], distance: Callable[[Rows, Rows, Rows], NDArray[np.float64]], tolerance: float
) -> Rows:
    """Keep more rows until all others are near the line drawn between their kept neighbours.

    Parameters
    ----------
    kept : ndarray of bool of shape (n_rows,)
        Rows to keep in any case, including the first and the last; changed in place.
    distance : callable
        Function ``distance(rows, before, after)``: how far each row is from the line drawn between the kept rows before
        and after it.
    tolerance : float
        Largest distance allowed.
    """
    while True:
        ends = np.flatnonzero(kept)
        inner = np.flatnonzero(np.diff(ends) > 1)
        if not inner.size:
            return ends
        before, after = ends[inner], ends[inner + 1]
        sizes = after - before - 1
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(starts[-1]) - np.repeat(starts[:-1] - before - 1, sizes)
        far = distance(rows, np.repeat(before, sizes), np.repeat(after, sizes))
        most = np.maximum.reduceat(far, starts[:-1])
        farthest = np.flatnonzero(far == np.repeat(most, sizes))
        piece, one_each = np.unique(np.searchsorted(starts, farthest, side="right") - 1, return_index=True)
        more = rows[farthest[one_each][most[piece] > tolerance]]
        if not more.size:
            return ends
        kept[more] = True
