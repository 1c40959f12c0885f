"""The base class of curves over thresholds, and the geometry of polylines: values, dominance and crossings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.lines import align, overlay
from fastevals._options import check_exactly_one
from fastevals._validation.arrays import as_thresholds
from fastevals._validation.curves import as_shares, check_has_thresholds, check_kind
from fastevals.counting.sweeps import fill_rows
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, as_column
from fastevals.measure import ranking_metrics
from fastevals.results import Frozen, number_or_array

Values = NDArray[np.float64]

T = TypeVar("T")

SHARE_ROUNDING = 1e-13  # shares that differ by at most this much (one row in 10**13) are taken as equal


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve(Frozen, ABC):
    """A curve over thresholds. Its arrays are computed from the counts on first use, and are read-only."""

    counts: ThresholdCounts
    _cache: dict[Any, Any] = field(default_factory=dict, init=False)

    ARRAYS: ClassVar[tuple[str, ...]]  # the arrays that the curve unpacks into
    NEEDS_NEGATIVES: ClassVar[bool] = True  # every curve needs positives

    def __post_init__(self) -> None:
        check_kind("counts", self.counts, ThresholdCounts)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in self.ARRAYS)

    def __len__(self) -> int:
        return self._points.thresholds.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} points, area={self.area:.6g})"

    def _columns(self) -> Columns:
        names = {name: "threshold" if name == "thresholds" else name for name in self.ARRAYS}
        return {name: as_column(getattr(self, attribute)) for attribute, name in names.items()}

    @property
    def defined(self) -> bool:
        """Return whether the classes that the curve needs have rows; if not, the curve's area and rates are NaN."""
        return bool(self.counts.n_pos and (self.counts.n_neg or not self.NEEDS_NEGATIVES))

    @property
    def thresholds(self) -> NDArray[Any]:
        """Thresholds of the points, descending from +inf."""
        return self._points.thresholds

    @property
    def _points(self) -> ThresholdCounts:
        """The counts at the points of the curve."""
        return self.counts

    @property
    @abstractmethod
    def area(self) -> float:
        """Area under the curve."""

    def hull(self) -> Self:
        """Keep the points on the convex hull of the ROC curve, and return them as a curve of this kind.

        Choosing randomly between two thresholds attains each point of the hull (Provost and Fawcett 2001,
        doi:10.1023/A:1007601015854). The hull of a precision-recall curve is Davis and Goadrich's (2006) achievable
        curve.
        """
        return type(self)(ranking_metrics.hull(self.counts))

    def dominates(self, other: Self) -> bool:
        """Return whether this curve dominates another: it is nowhere worse and somewhere better (Zhou, 2.3.2).

        Parameters
        ----------
        other : curve
            A curve of the same kind. Rounding differences are ignored.

        Returns
        -------
        bool
            Equal curves do not dominate each other; neither do curves that cross.

        Raises
        ------
        ValueError
            If `other` is of another kind, or if a curve is undefined because a class is missing.
        """
        return _dominates(*self._comparable_lines(other))

    def crossings(self, other: Self) -> NDArray[np.float64]:
        """Find the points at which this curve and another cross.

        Parameters
        ----------
        other : curve
            A curve of the same kind.

        Returns
        -------
        ndarray of shape (n_crossings, 2)
            Points in the order in which the curve unpacks, for instance (fpr, tpr). If the curves cross along
            a stretch on which they coincide, only the first point of the stretch is returned.

        Raises
        ------
        ValueError
            If `other` is of another kind, or if a curve is undefined because a class is missing.
        """
        return np.stack(self._on_axes(_crossings(*self._comparable_lines(other))), axis=1)

    def _cached(self, make: Callable[[ThresholdCounts], T]) -> T:
        """Return what `make` computes from the counts, and cache it."""
        if make not in self._cache:
            self._cache[make] = make(self.counts)
        return self._cache[make]  # type: ignore[no-any-return]

    def _rates(self, rate: Callable[[ThresholdCounts, slice, NDArray[np.float64]], None]) -> NDArray[np.float64]:
        """Return a rate at each threshold, and cache it."""
        if rate not in self._cache:
            self._cache[rate] = array = fill_rows(len(self), lambda rows, out: rate(self._points, rows, out))
            array.flags.writeable = False
        return self._cache[rate]  # type: ignore[no-any-return]

    def _read_at(self, **places: ArrayLike | None) -> Any:
        """Read the curve at values of one coordinate, or at thresholds; raise unless exactly one argument is given."""
        name, values = check_exactly_one(places)
        if name == "threshold":
            return self._at_threshold(values)
        return number_or_array(self._other_coordinate(name, as_shares(name, values)))

    def _other_coordinate(self, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the other coordinate at values of the named coordinate, which must be the x of `_linear_points`."""
        return self._on_axes(Polyline(values, best_at(self._linear_points(), values)))[1 - self.ARRAYS.index(name)]

    def _at_threshold(self, threshold: ArrayLike) -> tuple[Any, ...]:
        """Return the curve's point at a threshold, or arrays of points."""
        check_has_thresholds(self.thresholds)
        thresholds = as_thresholds("threshold", threshold)
        rows, last = self.counts.rows_at_least(thresholds), self.counts.thresholds.size - 1
        # Make a curve of these rows only; its rates also need the first two rows and the last one (the totals).
        points = type(self)(self.counts.take(np.concatenate(([0, min(1, last)], rows.ravel(), [last]))))
        return tuple(number_or_array(getattr(points, name)[2:-1].reshape(thresholds.shape)) for name in self.ARRAYS[:2])

    @abstractmethod
    def _linear_points(self) -> Polyline:
        """Return the curve in coordinates where it is straight between points and a greater y is better."""

    @abstractmethod
    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Map points from the coordinates of `_linear_points` to the curve's axes, in the order in which it unpacks."""

    def _comparable_lines(self, other: Self) -> tuple[Polyline, Polyline]:
        """Return this curve and another of the same kind as polylines; raise unless both are defined."""
        _check_same_kind("other", other, type(self))
        lines = self._linear_points(), other._linear_points()
        for name, line in zip(("this curve", "other"), lines, strict=True):
            _check_defined(name, np.isnan(line.x[-1]) or np.isnan(line.y[-1]))
        return lines


# Polylines ------------------------------------------------------------------------------------------------------------


class Polyline(NamedTuple):
    """Points joined by straight lines."""

    x: Values
    y: Values


def _interpolate(line: Polyline, at: Values, left: NDArray[np.intp], right: NDArray[np.intp]) -> Values:
    """Interpolate between the points left and right of each x; where both are the same point, return its value."""
    x0, x1, y0, y1 = line.x[left], line.x[right], line.y[left], line.y[right]
    width = np.where(x1 > x0, x1 - x0, 1.0)
    return y0 + (at - x0) / width * (y1 - y0)


def limits(line: Polyline, at: Values) -> tuple[Values, Values]:
    """Return the values just left and just right of each x."""
    last = line.x.size - 1
    from_right = np.minimum(np.searchsorted(line.x, at, side="left"), last)
    from_left = np.maximum(np.searchsorted(line.x, at, side="right") - 1, 0)
    between = line.x[from_right] != at
    inside = _interpolate(line, at, np.where(between, from_left, from_right), from_right)
    return inside, np.where(between, inside, line.y[from_left])


def best_at(line: Polyline, at: Values) -> Values:
    """Return the value at each x; where the line jumps, return the greater of the two values."""
    return np.maximum(*limits(line, at))


def first_at(line: Polyline, y: Values) -> Values:
    """Return the smallest x at which a non-decreasing line reaches each y."""
    return -best_at(Polyline(line.y, -line.x), y)


class _Overlay(NamedTuple):
    """Values of two lines just left and just right of each x of either line; at the last x only the left value."""

    x: Values
    mine: Values
    other: Values
    difference: Values  # 0 if it is only a rounding error


def _overlay(mine: Polyline, other: Polyline) -> _Overlay:
    """Evaluate two lines at the x of both; jumps whose x differ only by rounding errors are aligned."""
    aligned, other_aligned = np.empty_like(mine.x), np.empty_like(other.x)
    n_places = align(mine.x, other.x, SHARE_ROUNDING, aligned, other_aligned)
    x, y, others = (np.empty(2 * n_places) for _ in range(3))
    overlay(aligned, mine.y, other_aligned, other.y, x, y, others)
    x, y, others = x[:-1], y[:-1], others[:-1]
    scale = max(1.0, *(float(np.abs(line.y).max()) for line in (mine, other)))
    difference = y - others
    difference[np.abs(difference) <= SHARE_ROUNDING * scale] = 0.0
    return _Overlay(x, y, others, difference)


def _dominates(mine: Polyline, other: Polyline) -> bool:
    """Return whether a line is nowhere below another and somewhere above it."""
    difference = _overlay(mine, other).difference
    return bool((difference >= 0).all() and (difference > 0).any())


def _crossings(mine: Polyline, other: Polyline) -> Polyline:
    """Return the points where two lines change sides; if they coincide in between, the first common point."""
    x, y, others, difference = _overlay(mine, other)
    apart = np.flatnonzero(difference)
    before, after = apart[:-1], apart[1:]
    swapped = np.signbit(difference[before]) != np.signbit(difference[after])
    before, after = before[swapped], after[swapped]
    run_together = after > before + 1
    end = np.where(run_together, before + 1, after)
    share = np.where(run_together, 1.0, difference[before] / (difference[before] - difference[after]))
    at = y[before] + share * (y[end] - y[before])
    # If the lines change sides in a jump, they meet at the first value that both have reached.
    jump = ~run_together & (x[before] == x[end])
    rising = y[end] + others[end] > y[before] + others[before]
    arrival = np.where(rising, np.maximum(y[before], others[before]), np.minimum(y[before], others[before]))
    return Polyline(x[before] + share * (x[end] - x[before]), np.where(jump, arrival, at))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_same_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless a value is of the same kind as the curve that it is compared with."""
    if not isinstance(value, kind):
        hint = ": pass its points, its worst or its best" if hasattr(value, "points") else ""
        raise ValueError(f"{name} must be a {kind.__name__} to be compared with one, got {type(value).__name__}{hint}")


def _check_defined(name: str, undefined: bool) -> None:
    """Raise if a curve has no values because a class is missing."""
    if undefined:
        raise ValueError(f"{name} is undefined (NaN): its data has no rows of one class, so it can't be compared")
