"""Tubes around ROC curves: the points within a distance of the curve, in units of a standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import tubes as kernels
from fastevals._options import warn_too_few
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.bootstrap.samples import Values
from fastevals.measure.cells import ratio
from fastevals.measure.curves.roc import RocCurve
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.registry import Detail

Floats = NDArray[np.float64]
Edges = tuple[Floats, Floats, Floats]  # x, low, high

# Distances in standard errors; for comparison, a tube's radius is 2.4 to 3.3.
EDGE_STEP = 0.05  # between the x values of a tube's edges, and between the points at its center
MEASURED_STEP = 0.1  # between the points whose distance to a replicate is measured
PIECE = 0.5  # length of the pieces of a line in the ROC plane; such short pieces stay nearly straight
LEAST_STEP = 0.02  # points closer to the previous one are dropped
TABLE = 1 << 20  # number of counts whose coordinates are cached

# Adjacent thresholds are drawn as one if the sum of both rates' log odds differs by less than this: between them, the
# deviation of a replicate changes by about 0.04 standard errors.
SAME_ODDS = 0.005


class Tube(NamedTuple):
    """The points within a distance of a ROC curve, in coordinates whose unit is a standard error."""

    x: Floats  # points along the curve: coordinates of the false (x) and of the true positive rate (y)
    y: Floats
    radius: float  # the largest distance
    n_neg: int  # rows of each class
    n_pos: int

    @classmethod
    def estimate(
        cls, counts: ThresholdCounts, level: float, n_resamples: int, key: np.uint64, *, progress: bool = False
    ) -> Tube:
        """Return the tube that contains the true curve with a confidence of `level`.

        The radius is the quantile of the largest distance between the curve and a replicate. It is at least the
        quantile for a single point, whose two deviations are normal. Without this minimum, it would be 0 for a perfect
        ranking, because its replicates are all perfect.
        """
        (distances,) = TubeSample(counts).replicates(n_resamples, key, progress=progress)
        fpr, tpr, _ = RocCurve(counts, drop_intermediate=True)
        return cls.around(fpr, tpr, (int(counts.n_neg), int(counts.n_pos)), distances, level)

    @classmethod
    def around(cls, fpr: Floats, tpr: Floats, sizes: tuple[int, int], distances: Floats, level: float) -> Tube:
        """Return the tube around a polyline of rates, given the distances of replicates and the rows of each class."""
        n_resamples = distances.size
        place = math.ceil(Fraction(repr(level)) * (n_resamples + 1)) - 1
        if place >= n_resamples:
            warn_too_few("n_resamples", n_resamples, level)
            radius = math.inf
        else:
            radius = max(float(np.partition(distances, place)[place]), math.sqrt(-2 * math.log1p(-level)))
        n_neg, n_pos = sizes
        points = polyline_points(fpr * n_neg, tpr * n_pos, sizes, EDGE_STEP, LEAST_STEP)
        return cls(*points, radius, n_neg, n_pos)

    def swapped(self) -> Tube:
        """Return the tube with its axes swapped: false positive rates against true positive rates."""
        return Tube(self.y, self.x, self.radius, self.n_pos, self.n_neg)

    def places(self) -> Floats:
        """Return rates from 0 to 1 whose coordinates are EDGE_STEP apart."""
        return rates_apart(self.n_neg, EDGE_STEP)

    def edges(self, rates: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and the highest TPR inside the tube at each of several ascending false positive rates."""
        if math.isinf(self.radius):
            return np.zeros(rates.size), np.ones(rates.size)
        radius = math.hypot(self.radius, EDGE_STEP / 2)  # so that discs around points cover the discs around the line
        places = coordinates(rates * self.n_neg, self.n_neg)
        low, high = np.empty(rates.size), np.empty(rates.size)
        kernels.upper_edge(places, self.x, self.y, radius, high)
        kernels.upper_edge(-places[::-1], -self.x[::-1], -self.y[::-1], radius, low)
        low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)  # the discs cause ripples of 1e-4
        return rates_at(-low[::-1], self.n_pos), rates_at(high, self.n_pos)


class TubeSample(RankingSample):
    """Rows of a ranking, drawn within each class; `measure` returns how far each draw's curve is from the original."""

    def __init__(self, counts: ThresholdCounts) -> None:
        counts = counts.take(distinct_rows(counts))
        super().__init__(counts, [RankingMetric(lambda counts: 0.0, Detail.POLYLINE)], stratified=True)
        self._n = int(counts.n_neg), int(counts.n_pos)
        self._tables = [coordinates(np.arange(min(n + 1, TABLE)), n) for n in self._n]
        steps = self._sweep.steps
        up, right = steps.sizes.astype(np.int64)
        x, y = np.zeros((2, 2 * up.size + 1))  # false, true positives where a vertical and a step end
        x[1::2], x[2::2] = np.cumsum(right) - np.where(steps.tied, 0, right), np.cumsum(right)
        y[1::2] = y[2::2] = np.cumsum(up)
        length = np.hypot(*(np.diff(coordinates(each[::2], n)) for each, n in zip((x, y), self._n, strict=True)))
        self._pieces = np.where(steps.tied, np.maximum(np.ceil(length / PIECE), 1), 1).astype(np.int64)
        self._points = polyline_points(x, y, self._n, MEASURED_STEP, MEASURED_STEP)

    def workspace(self) -> Any:
        """Return arrays for the counts of a draw and for its polyline."""
        return np.zeros_like(self.sizes), np.empty((2, int(self._pieces.sum()) + self._pieces.size + 1))

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        return super().task_size() if self._few else max(1, min(256, (1 << 19) // self.sizes.size))

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return the largest distance between a point of the curve and each of n draws."""
        distances, (x, y), (rights, ups) = np.empty(n), space[1], self._tables
        tied = self._sweep.steps.tied
        for k, counts in enumerate(draws):
            drawn = counts.reshape(2, -1)
            corners = kernels.trace(*drawn, tied, self._pieces, *self._n[::-1], ups, rights, x, y)
            distances[k] = kernels.farthest(*self._points, x, y, corners)
        return [distances]


def distinct_rows(counts: ThresholdCounts) -> NDArray[np.intp]:
    """Return the first and the last row, and enough rows between them to resolve the deviations of replicates."""
    rates = ((each + 0.5) / (each[-1] + 1) for each in (counts.tps, counts.fps))
    odds = sum(np.log(rate) - np.log1p(-rate) for rate in rates)
    kept = np.append(True, np.diff(np.floor(odds / SAME_ODDS)) > 0)
    kept[-1] = True
    return np.flatnonzero(kept)


def coordinates(counts: NDArray[Any], n: int) -> Floats:
    """Compute `kernels.coordinate` for many counts."""
    return np.asarray(2 * math.sqrt(n + 0.5) * np.arcsin(np.sqrt((counts + 0.375) / (n + 0.75))))


def rates_at(coordinates: Floats, n: int) -> Floats:
    """Return the rates at the given coordinates, clipped to [0, 1]."""
    angles = np.clip(coordinates / (2 * math.sqrt(n + 0.5)), 0.0, math.pi / 2)
    return np.clip((np.sin(angles) ** 2 * (n + 0.75) - 0.375) / n, 0.0, 1.0)


def rates_apart(n: int, step: float) -> Floats:
    """Return rates from 0 to 1 whose coordinates are `step` apart."""
    first, last = (kernels.coordinate(count, n) for count in (0, n))
    rates = rates_at(np.linspace(first, last, math.ceil((last - first) / step) + 1), n)
    rates[[0, -1]] = 0.0, 1.0  # exactly, despite rounding
    return rates


def polyline_points(right: Floats, up: Floats, n: tuple[int, int], most: float, least: float) -> tuple[Floats, Floats]:
    """Return coordinates of points on a polyline of counts, with gaps of at most `most` and at least about `least`."""
    lengths = np.hypot(np.diff(coordinates(right, n[0])), np.diff(coordinates(up, n[1])))
    pieces = np.maximum(np.ceil(lengths / most), 1).astype(np.int64)
    start = np.repeat(np.arange(pieces.size), pieces)
    share = (np.arange(start.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[start]
    between = (np.append(each[start] + share * np.diff(each)[start], each[-1]) for each in (right, up))
    x, y = (coordinates(each, rows) for each, rows in zip(between, n, strict=True))
    along = np.floor(np.append(0.0, np.cumsum(np.diff(x) + np.diff(y))) / least)  # at most 1.42 times the length
    kept = np.append(True, np.diff(along) > 0)
    kept[-1] = True
    return x[kept], y[kept]


# Edges ----------------------------------------------------------------------------------------------------------------


def studentised_edges(counts: ThresholdCounts, curve: str, at: Floats | None, tube: Tube) -> Edges:
    """Return x and the edges of the tube around the ROC curve; x is FPR, or recall for the precision-recall curve."""
    roc = curve == "roc"
    tube = tube if roc else tube.swapped()
    x = tube.places() if at is None else at
    least, most = tube.edges(x)
    if at is not None:
        return (x, least, most) if roc else (x, precision_at(counts, x, most), precision_at(counts, x, least))
    # Both edges are nondecreasing, so between two x they stay within these values; lines between the nodes lie outside.
    if roc:
        low, high = least[:-1], most[1:]
    else:
        low, high = precision_at(counts, x[:-1], most[1:]), precision_at(counts, x[1:], least[:-1])
    before, after = np.append(0, np.arange(low.size)), np.append(np.arange(low.size), low.size - 1)
    return x, np.minimum(low[before], low[after]), np.maximum(high[before], high[after])


def precision_at(counts: ThresholdCounts, recall: Floats, fpr: Floats) -> Floats:
    """Return the precision at a recall and a false positive rate; 1 without false positives."""
    positives = recall * counts.n_pos
    return np.where(fpr == 0, 1.0, ratio(positives, positives + fpr * counts.n_neg))
