"""What all curves share: they are views of threshold counts, and compare as polylines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.measure import ranking_metrics
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves.geometry import Polyline, best_at, crossings, dominates
from fastevals.measure.results import Frozen, number_or_array
from fastevals.measure.sweeps import fill_rows

__all__ = ["Curve"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve(Frozen, ABC):
    """A curve over thresholds. Its arrays are made from the counts when first asked for, and are read-only."""

    counts: ThresholdCounts
    _made: dict[Any, Any] = field(default_factory=dict, init=False)

    ARRAYS: ClassVar[tuple[str, ...]]  # what the curve unpacks into
    NEEDS_NEGATIVES: ClassVar[bool] = True  # all need positives

    def __post_init__(self) -> None:
        check.check_kind("counts", self.counts, ThresholdCounts)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in self.ARRAYS)

    def __len__(self) -> int:
        return self._points.thresholds.size

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} points, area={self.area:.6g})"

    @property
    def defined(self) -> bool:
        """Whether there are rows of the classes it needs: where not, its area and rates are NaN."""
        return bool(self.counts.n_pos and (self.counts.n_neg or not self.NEEDS_NEGATIVES))

    @property
    def thresholds(self) -> NDArray[Any]:
        """Thresholds of the points, descending from +inf."""
        return self._points.thresholds

    @property
    def _points(self) -> ThresholdCounts:
        """The counts that are points of the curve."""
        return self.counts

    @property
    @abstractmethod
    def area(self) -> float:
        """Area under the curve."""

    def hull(self) -> Self:
        """Keep the points on the convex hull of the ROC curve, as a curve of this kind.

        It is what can be attained by mixing thresholds at random (Provost and Fawcett 2001,
        doi:10.1023/A:1007601015854); for precision and recall the achievable curve of Davis and Goadrich (2006).
        """
        return type(self)(ranking_metrics.hull(self.counts))

    def _once(self, make: Callable[[ThresholdCounts], T]) -> T:
        """Make something of the counts when it is first asked for."""
        if make not in self._made:
            self._made[make] = make(self.counts)
        return self._made[make]  # type: ignore[no-any-return]

    def _array(self, rate: Callable[[ThresholdCounts, slice, NDArray[np.float64]], None]) -> NDArray[np.float64]:
        """Give a rate at each threshold."""
        if rate not in self._made:
            self._made[rate] = array = fill_rows(len(self), lambda rows, out: rate(self._points, rows, out))
            array.flags.writeable = False
        return self._made[rate]  # type: ignore[no-any-return]

    def _at(self, **places: ArrayLike | None) -> Any:
        """Read the curve at the one place that is asked for: values of one of its arrays, or thresholds."""
        name, asked = check.check_exactly_one(places)
        if name == "threshold":
            return self._at_threshold(asked)
        return number_or_array(self._beside(name, check.as_shares(name, asked)))

    def _beside(self, name: str, place: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the other coordinate where the one named, the x of the straight curve, has some values."""
        return self._drawn(Polyline(place, best_at(self._straight(), place)))[1 - self.ARRAYS.index(name)]

    def _at_threshold(self, threshold: ArrayLike) -> tuple[Any, ...]:
        """Give the curve's point at a threshold, or arrays of points."""
        check.check_has_thresholds(self.thresholds)
        asked = check.as_thresholds("threshold", threshold)
        rows, last = self.counts.rows_at_least(asked), self.counts.thresholds.size - 1
        there = type(self)(self.counts.take(np.concatenate(([0, min(1, last)], rows.ravel(), [last]))))
        return tuple(number_or_array(getattr(there, name)[2:-1].reshape(asked.shape)) for name in self.ARRAYS[:2])

    @abstractmethod
    def _straight(self) -> Polyline:
        """Give the curve in coordinates in which it is straight between its points; greater y is better."""

    @abstractmethod
    def _drawn(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give points of those coordinates on the curve's own axes, in the order it unpacks."""

    def dominates(self, other: Self) -> bool:
        """Tell whether this curve encloses another: nowhere worse, somewhere better (Zhou, section 2.3.2).

        Parameters
        ----------
        other : curve
            Of the same kind. Differences of rounding don't count.

        Returns
        -------
        bool
            Two equal curves don't dominate each other; neither do curves that cross.

        Raises
        ------
        ValueError
            If `other` is of another kind, or a curve is undefined for want of a class.
        """
        return dominates(*self._pair(other))

    def crossings(self, other: Self) -> NDArray[np.float64]:
        """Find the points where this curve and another change places.

        Parameters
        ----------
        other : curve
            Of the same kind.

        Returns
        -------
        ndarray of shape (n_crossings, 2)
            Points in the order in which the curve unpacks, for instance (fpr, tpr). Where the curves run together
            before they part, the first common point.

        Raises
        ------
        ValueError
            If `other` is of another kind, or a curve is undefined for want of a class.
        """
        return np.stack(self._drawn(crossings(*self._pair(other))), axis=1)

    def _pair(self, other: Self) -> tuple[Polyline, Polyline]:
        check.check_same_kind("other", other, type(self))
        lines = self._straight(), other._straight()
        for name, line in zip(("this curve", "other"), lines, strict=True):
            check.check_defined(name, np.isnan(line.x[-1]) or np.isnan(line.y[-1]))
        return lines
