"""All points within a distance of a ROC curve, in coordinates in which the standard error of each rate is 1."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels import tubes as kernels
from fastevals.infer.bootstrap.samples.base import Values
from fastevals.infer.bootstrap.samples.ranking import RankingSample
from fastevals.measure.asked import RankingMetric
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.curves import RocCurve
from fastevals.measure.registry import Detail

__all__ = ["Tube"]

Floats = NDArray[np.float64]

# In standard errors; a tube's radius is 2.4 to 3.3.
STEP = 0.05  # between the places of its edges, and the points that it is about
MEASURED = 0.1  # between the points whose distance from a replicate is measured
PIECE = 0.5  # of a straight line of the ROC plane, which is curved here: as good as straight
NEAR = 0.02  # points nearer than that to the last are left out
TABLE = 1 << 20  # counts whose coordinates are kept
# Thresholds whose log odds of both rates, added up, differ by less are drawn together: between them the deviation of a
# replicate in standard errors changes by 0.04 or so.
SAME_ODDS = 0.005


class Tube(NamedTuple):
    """Points about a ROC curve.

    Attributes
    ----------
    x, y : ndarray of shape (n_points,)
        Coordinates of points along the curve, of the false and of the true positive rate.
    radius : float
        Largest distance.
    n_neg, n_pos : int
        Rows.
    """

    x: Floats
    y: Floats
    radius: float
    n_neg: int
    n_pos: int

    @classmethod
    def of(
        cls, counts: ThresholdCounts, level: float, n_resamples: int, key: np.uint64, *, progress: bool = False
    ) -> Tube:
        """Return the tube that holds the true curve with a chance.

        Its radius is the quantile of the largest distance of a point of the curve from replicates, but not below that
        of one point alone, whose two deviations are normal: replicates of a perfect ranking are all perfect.
        """
        (distances,) = TubeSample(counts).replicates(n_resamples, key, progress=progress)
        place = math.ceil(Fraction(repr(level)) * (n_resamples + 1)) - 1
        if place >= n_resamples:
            check.warn_too_few("n_resamples", n_resamples, level)
            radius = math.inf
        else:
            radius = max(float(np.partition(distances, place)[place]), math.sqrt(-2 * math.log1p(-level)))
        n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
        fpr, tpr, _ = RocCurve(counts, drop_intermediate=True)
        return cls(*_points(fpr * n_neg, tpr * n_pos, (n_neg, n_pos), STEP, NEAR), radius, n_neg, n_pos)

    def swapped(self) -> Tube:
        """Return the tube on swapped axes: of false over true positive rates."""
        return Tube(self.y, self.x, self.radius, self.n_pos, self.n_neg)

    def places(self) -> Floats:
        """Return rates from 0 to 1 of which each is STEP from the next."""
        first, last = (kernels.coordinate(count, self.n_neg) for count in (0, self.n_neg))
        rates = _rates(np.linspace(first, last, math.ceil((last - first) / STEP) + 1), self.n_neg)
        rates[[0, -1]] = 0.0, 1.0  # but for rounding
        return rates

    def edges(self, rates: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest TPR of the tube at ascending false positive rates."""
        if math.isinf(self.radius):
            return np.zeros(rates.size), np.ones(rates.size)
        radius = math.hypot(self.radius, STEP / 2)  # that of discs about points which holds all of the line's
        places = _coordinates(rates * self.n_neg, self.n_neg)
        low, high = np.empty(rates.size), np.empty(rates.size)
        kernels.upper_edge(places, self.x, self.y, radius, high)
        kernels.upper_edge(-places[::-1], -self.x[::-1], -self.y[::-1], radius, low)
        low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)  # discs make for waves of 1e-4
        return _rates(-low[::-1], self.n_pos), _rates(high, self.n_pos)


class TubeSample(RankingSample):
    """Rows of each class of a ranking, and how far its curve is from a draw's."""

    def __init__(self, counts: ThresholdCounts) -> None:
        counts = counts.take(_apart(counts))
        super().__init__(counts, [RankingMetric(lambda counts: 0.0, Detail.POLYLINE)], stratified=True)
        self._n = int(counts.n_neg), int(counts.n_pos)
        self._tables = [_coordinates(np.arange(min(n + 1, TABLE)), n) for n in self._n]
        steps = self._sweeps.steps
        up, right = steps.sizes.astype(np.int64)
        x, y = np.zeros((2, 2 * up.size + 1))  # false and true positives at the end of the vertical, and of the step
        x[1::2], x[2::2] = np.cumsum(right) - np.where(steps.tied, 0, right), np.cumsum(right)
        y[1::2] = y[2::2] = np.cumsum(up)
        length = np.hypot(*(np.diff(_coordinates(each[::2], n)) for each, n in zip((x, y), self._n, strict=True)))
        self._pieces = np.where(steps.tied, np.maximum(np.ceil(length / PIECE), 1), 1).astype(np.int64)
        self._points = _points(x, y, self._n, MEASURED, MEASURED)

    def workspace(self) -> Any:
        """Return the counts of a draw, and room for its polyline."""
        return np.zeros_like(self.sizes), np.empty((2, int(self._pieces.sum()) + self._pieces.size + 1))

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return super().task_size() if self._few else max(1, min(256, (1 << 19) // self.sizes.size))

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the largest distance of a point of the curve from each of n draws."""
        found, (x, y), (rights, ups) = np.empty(n), space[1], self._tables
        tied = self._sweeps.steps.tied
        for k, counts in enumerate(draws):
            drawn = counts.reshape(2, -1)
            corners = kernels.trace(*drawn, tied, self._pieces, *self._n[::-1], ups, rights, x, y)
            found[k] = kernels.farthest(*self._points, x, y, corners)
        return [found]


def _apart(counts: ThresholdCounts) -> NDArray[np.intp]:
    """Return the first and the last row, and of those between enough to tell deviations of replicates apart."""
    rates = ((each + 0.5) / (each[-1] + 1) for each in (counts.tps, counts.fps))
    odds = sum(np.log(rate) - np.log1p(-rate) for rate in rates)
    kept = np.append(True, np.diff(np.floor(odds / SAME_ODDS)) > 0)
    kept[-1] = True
    return np.flatnonzero(kept)


def _coordinates(counts: NDArray[Any], n: int) -> Floats:
    """Compute `kernels.coordinate` of many counts."""
    return np.asarray(2 * math.sqrt(n + 0.5) * np.arcsin(np.sqrt((counts + 0.375) / (n + 0.75))))


def _rates(coordinates: Floats, n: int) -> Floats:
    """Return the rates at coordinates, 0 and 1 beyond the first and the last."""
    angles = np.clip(coordinates / (2 * math.sqrt(n + 0.5)), 0.0, math.pi / 2)
    return np.clip((np.sin(angles) ** 2 * (n + 0.75) - 0.375) / n, 0.0, 1.0)


def _points(right: Floats, up: Floats, n: tuple[int, int], most: float, least: float) -> tuple[Floats, Floats]:
    """Return the coordinates of points along a polyline of counts: at most, and about at least, as far apart."""
    lengths = np.hypot(np.diff(_coordinates(right, n[0])), np.diff(_coordinates(up, n[1])))
    pieces = np.maximum(np.ceil(lengths / most), 1).astype(np.int64)
    start = np.repeat(np.arange(pieces.size), pieces)
    share = (np.arange(start.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[start]
    between = (np.append(each[start] + share * np.diff(each)[start], each[-1]) for each in (right, up))
    x, y = (_coordinates(each, rows) for each, rows in zip(between, n, strict=True))
    along = np.floor(np.append(0.0, np.cumsum(np.diff(x) + np.diff(y))) / least)  # grows at most 1.42 x as the length
    kept = np.append(True, np.diff(along) > 0)
    kept[-1] = True
    return x[kept], y[kept]
