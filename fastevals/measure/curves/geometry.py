"""Geometry of polylines y(x): x never falls, y is better the greater, and may jump where x stands still."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING", "Polyline", "area_under", "best_at", "crossings", "dominates", "first_at", "limits"]

Values = NDArray[np.float64]

ROUNDING = 1e-13  # differences of shares that are no more than rounding: less than a row in ten million millions


class Polyline(NamedTuple):
    """Points joined by straight lines."""

    x: Values
    y: Values


def _slope_to(line: Polyline, at: Values, left: NDArray[np.intp], right: NDArray[np.intp]) -> Values:
    """Interpolate between two points of each place; where they are one, give its value."""
    x0, x1, y0, y1 = line.x[left], line.x[right], line.y[left], line.y[right]
    width = np.where(x1 > x0, x1 - x0, 1.0)
    return y0 + (at - x0) / width * (y1 - y0)


def limits(line: Polyline, at: Values) -> tuple[Values, Values]:
    """Give the values just left and just right of each place within the range of x."""
    last = line.x.size - 1
    from_right = np.minimum(np.searchsorted(line.x, at, side="left"), last)
    from_left = np.maximum(np.searchsorted(line.x, at, side="right") - 1, 0)
    between = line.x[from_right] != at
    inside = _slope_to(line, at, np.where(between, from_left, from_right), from_right)
    return inside, np.where(between, inside, line.y[from_left])


def best_at(line: Polyline, at: Values) -> Values:
    """Give the value at each place, the greater one where the line jumps."""
    return np.maximum(*limits(line, at))


def area_under(x: Values, y: Values) -> float:
    """Give the area under the straight pieces between points."""
    return math.fsum(np.diff(x) * (y[1:] + y[:-1]) / 2)


def first_at(line: Polyline, y: Values) -> Values:
    """Give the least x at which each y is reached, of a line that never falls."""
    return -best_at(Polyline(line.y, -line.x), y)


class _Comparison(NamedTuple):
    """Two lines at the limits of all their places, from left to right: left, right, left, ..., and left of the last."""

    x: Values
    mine: Values
    other: Values
    difference: Values  # 0 where it is no more than rounding


def _compared(mine: Polyline, other: Polyline) -> _Comparison:
    """Lay two lines over each other; jumps at places that rounding alone tells apart are at one place."""
    x = np.union1d(mine.x, other.x)
    first = np.append(True, np.diff(x) > ROUNDING)
    same = x[first][np.cumsum(first) - 1]
    snapped = [Polyline(same[np.searchsorted(x, line.x)], line.y) for line in (mine, other)]
    y, others = (np.stack(limits(line, x[first]), axis=1).ravel()[:-1] for line in snapped)
    scale = max(1.0, *(float(np.abs(line.y).max()) for line in (mine, other)))
    difference = y - others
    difference[np.abs(difference) <= ROUNDING * scale] = 0.0
    return _Comparison(np.repeat(x[first], 2)[:-1], y, others, difference)


def dominates(mine: Polyline, other: Polyline) -> bool:
    """Tell whether a line is nowhere below another and somewhere above it."""
    difference = _compared(mine, other).difference
    return bool((difference >= 0).all() and (difference > 0).any())


def crossings(mine: Polyline, other: Polyline) -> Polyline:
    """Give the points where two lines change places; where they run together in between, the first common point."""
    x, y, others, difference = _compared(mine, other)
    apart = np.flatnonzero(difference)
    before, after = apart[:-1], apart[1:]
    swapped = np.signbit(difference[before]) != np.signbit(difference[after])
    before, after = before[swapped], after[swapped]
    touching = after > before + 1
    end = np.where(touching, before + 1, after)
    share = np.where(touching, 1.0, difference[before] / (difference[before] - difference[after]))
    at = y[before] + share * (y[end] - y[before])
    # Where one line or both jump past the other, they meet where the second of them arrives.
    jump = ~touching & (x[before] == x[end])
    rising = y[end] + others[end] > y[before] + others[before]
    arrival = np.where(rising, np.maximum(y[before], others[before]), np.minimum(y[before], others[before]))
    return Polyline(x[before] + share * (x[end] - x[before]), np.where(jump, arrival, at))
