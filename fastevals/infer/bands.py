"""Confidence bands of ROC and precision-recall curves: simultaneous or pointwise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._kernels import tubes as kernels
from fastevals._options import (
    as_flag,
    check_choice,
    check_integer,
    warn_degenerate,
    warn_left_out,
    warn_too_few,
    warn_undefined,
)
from fastevals._random import seed_key
from fastevals._validation.curves import as_shares
from fastevals._validation.labels import check_resampled_rows
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.bootstrap.curve_samples import CurveName, CurveSample
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.bootstrap.samples import Values
from fastevals.measure.cells import ratio
from fastevals.measure.curves.base import Polyline, first_at, limits
from fastevals.measure.curves.roc import RocCurve
from fastevals.measure.metric_specs import RankingMetric, metric
from fastevals.measure.ranking.ranking import ranking_of_rows
from fastevals.measure.registry import Detail
from fastevals.results import MAX_RESAMPLES, Frozen, check_confidence_level

Floats = NDArray[np.float64]
Edges = tuple[Floats, Floats, Floats]  # x, low, high
BandKind = Literal["simultaneous", "pointwise"]
BandMethod = Literal["studentised", "kolmogorov"]
PRINTED = 5  # number of points in a printed band
GRIDS = {"roc": np.arange(101) / 100, "precision_recall": np.arange(1, 101) / 100}


def confidence_band(
    ranking: Any,
    curve: CurveName = "roc",
    *,
    kind: BandKind = "simultaneous",
    method: BandMethod | None = None,
    confidence_level: float = 0.95,
    at: ArrayLike | None = None,
    n_resamples: int = 2000,
    stratified: bool = True,
    rng: Any = None,
    progress: bool = False,
) -> ConfidenceBand:
    """Compute a confidence band around a ROC or a precision-recall curve.

    A simultaneous band contains the entire true curve with about the chosen confidence. A pointwise band has that
    confidence only at each single x, so the true curve leaves the band somewhere far more often.

    Parameters
    ----------
    ranking : Ranking, RankingSummary or ThresholdCounts
        The ranking, without row weights.
    curve : {"roc", "precision_recall"}
        True positive rate against false positive rate, or precision against recall.
    kind : {"simultaneous", "pointwise"}
        Whether the level applies to the whole curve or to each point.
    method : {"studentised", "kolmogorov"}, optional
        Method of a simultaneous band; "studentised" by default. Kolmogorov's band is valid for any number of rows but
        conservative: it is about twice as wide, and contains the true curve far more often than its level.
    confidence_level : float in (0, 1)
        Confidence level, for the whole curve or for each point.
    at : float or array-like in [0, 1], optional
        The x values at which to compute the band; returned in ascending order without duplicates. By default, a
        studentised band has x values a twentieth of a standard error apart (about 60 times as many as the square root
        of a class's rows); Kolmogorov's band has all its corners, about four per point of ``ranking.roc_curve()``; and
        a pointwise band has 0, 0.01, ..., 1 (without recall 0, where precision is 1 by convention).
    n_resamples : int
        Number of bootstrap replicates, for a studentised or a pointwise band.
    stratified : bool
        Whether replicates of a pointwise band keep the number of rows of each class; a studentised band always does so.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed of the replicates. The same seed gives the same bits at any number of threads.
    progress : bool
        Show a bar (needs tqdm) while replicates are drawn.

    Returns
    -------
    ConfidenceBand
        The band; its edges are NaN if a class has no rows.

    Raises
    ------
    ValueError
        If an argument is not as described, or if the ranking has row weights. The message names the argument, the rule
        and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a class has no rows, if replicates lack a class and are dropped, if there are too few replicates for the
        level, or if all replicates of a pointwise band are equal, so that it has no width.

    Notes
    -----
    For the studentised band, both rates are transformed: k of n rows become 2 sqrt(n + 1/2) asin sqrt((k + 3/8) / (n +
    3/4)) (Anscombe 1948 [1]_). On this scale, each rate has a standard error of about 1 and is nearly normal, even for
    counts of 0 and 1. The band contains all points within a fixed distance of the curve. The distance is the same in
    all directions, because steep parts of the curve err in the false positive rate and flat parts in the true positive
    rate. It is the quantile of the largest distance between a point of the curve and a bootstrap replicate drawn within
    each class, but at least the quantile for a single point (the root of a chi-squared quantile with 2 degrees of
    freedom). In simulations with normal scores, 95 % bands contained the entire true curve in 95 to 99 % of 2,000 data
    sets per setting (200 to 2,000 rows, 50 or more of each class, AUC 0.7 to 0.99, scores with and without ties).

    Kolmogorov's band uses two quantiles of Kolmogorov's statistic at the square root of the level: d for the positives,
    e for the negatives. With at least that probability, the share of positives above every threshold is within d of its
    true value; likewise, the share of negatives is within e. So each point of the true curve is in a rectangle, 2 e
    wide and 2 d high, around a point of the polyline [2]_. The band is the union of these rectangles: at x, its upper
    edge is d above the polyline at x + e, and its lower edge is d below the polyline at x - e. Ties only make the band
    more conservative.

    All bands compute precision for the share of positives in these rows (without `stratified`, the share varies among
    the replicates of a pointwise band); for another share, the curve would differ. The edges of Kolmogorov's band for
    precision are curved between corners, so its default x values include 0, 0.001, ..., 1.

    If `at` is given, the confidence applies at those x values; straight lines between them may cut corners. With the
    default x values, straight lines enclose the whole band. For ten million rows without ties, all corners of
    Kolmogorov's band took 0.5 GB.

    Replicates of a pointwise band are evaluated like `RocCurve.at` and `PrecisionRecallCurve.at`: along the polyline,
    with the highest TPR where the polyline is vertical, and linear in counts between two thresholds. With few rows,
    percentile intervals are too narrow where a rate is near 0 or 1. In 600 simulations, scores were normal, and the
    means of the two classes were one standard deviation apart. With 24 positives and 36 negatives, 95 % intervals
    covered the true TPR in 96 % of simulations at an FPR of 0.3, but in only 58 % at an FPR of 0.9. With 500 rows, they
    covered it in 97 % and in 93 %.

    References
    ----------
    .. [1] Anscombe, F. J. (1948), "The transformation of Poisson, binomial and negative-binomial data", Biometrika 35,
       246-254, doi:10.1093/biomet/35.3-4.246.
    .. [2] Campbell, G. (1994), "Advances in statistical methodology for the evaluation of diagnostic and laboratory
       tests", Statistics in Medicine 13, 499-508, doi:10.1002/sim.4780130513. Macskassy and Provost (2004) call such
       bands simultaneous joint confidence regions (SJR).
    .. [3] Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, chapter 13.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8, 0.5, 0.7]
    >>> ranking = fastevals.Ranking(y_true, y_score)
    >>> fastevals.confidence_band(ranking, method="kolmogorov", at=[0.2, 0.8]).low.round(3)
    array([0.   , 0.077])
    >>> fastevals.confidence_band(ranking, kind="pointwise", at=0.5, rng=7).low
    array([0.5])
    """
    ranking, doubts = ranking_of_rows("ranking", ranking, {"roc_auc": metric("roc_auc")})
    if doubts:
        raise ValueError(
            "ranking must have counts at each positive score, but it has ranges of scores, within which the curve is "
            "unknown: count the rows in more cells, or use exact=True with enough memory= for one scan"
        )
    check_choice("curve", curve, CurveName)
    check_choice("kind", kind, BandKind)
    if method is not None:
        check_choice("method", method, BandMethod)
        if kind == "pointwise":
            raise ValueError(f"method applies only to a simultaneous band, got {method!r} with kind='pointwise'")
    how = method or ("studentised" if kind == "simultaneous" else "bootstrap")
    level, alpha = check_confidence_level(confidence_level)
    n_resamples = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
    x = None if at is None else sorted_unique(as_shares("at", at))
    key = seed_key("rng", rng)
    counts, undefined = ranking.counts, 0
    if not (counts.n_pos and counts.n_neg):
        warn_undefined(f"the {curve} band", f"y_true has no {'negatives' if counts.n_pos else 'positives'}")
        x = GRIDS[curve] if x is None else x
        edges = x, np.full(x.size, np.nan), np.full(x.size, np.nan)
    elif how == "kolmogorov":
        edges = kolmogorov_edges(counts, curve, level, x)
    elif how == "studentised":
        check_resampled_rows("ranking", ranking.n_samples)
        edges = studentised_edges(counts, curve, x, Tube.estimate(counts, level, n_resamples, key, progress=progress))
    else:
        x = GRIDS[curve] if x is None else x
        sample = CurveSample(counts, curve, x, stratified=as_flag("stratified", stratified))
        (replicates,) = sample.replicates(n_resamples, key, progress=progress)
        edges, undefined = _percentiles(f"the {curve} band", x, replicates, alpha)
    return ConfidenceBand(*edges, curve, kind, how, level, undefined)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfidenceBand(Frozen):
    """A confidence band of a curve; unpacks as ``x, low, high``, and prints the edges at five x values.

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        False positive rates of a ROC band, or recalls of a precision-recall band; ascending, from 0 to 1 by default.
        Where the band jumps, x is repeated: first with the edges to its left, then with those to its right.
    low, high : ndarray of shape (n_points,)
        True positive rates, or precisions, in [0, 1]; NaN if a class has no rows.
    curve : {"roc", "precision_recall"}
        The curve.
    kind : {"simultaneous", "pointwise"}
        Whether the level applies to the whole curve or to each x.
    method : {"studentised", "kolmogorov", "bootstrap"}
        "studentised" bands have the same width everywhere, in standard errors; "kolmogorov" bands are unions of
        rectangles from Kolmogorov's statistic for each class; "bootstrap" bands (pointwise) have percentiles of
        replicates.
    confidence_level : float
        Confidence level of the band.
    n_undefined : int
        Number of bootstrap replicates in which a class has no rows; they are dropped.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> band = fastevals.confidence_band(ranking, at=[0.0, 0.5, 1.0], rng=0)
    >>> band
    ConfidenceBand(roc, 3 points, 0.95 simultaneous, studentised)
    >>> x, low, high = band
    >>> print(band)
    ConfidenceBand(roc, 3 points, 0.95 simultaneous, studentised)
      0.0000: 0.0000 to 1.0000
      0.5000: 0.0000 to 1.0000
      1.0000: 0.0000 to 1.0000
    """

    x: Floats
    low: Floats
    high: Floats
    curve: CurveName
    kind: BandKind
    method: Literal["studentised", "kolmogorov", "bootstrap"]
    confidence_level: float
    n_undefined: int = 0

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.x, self.low, self.high))

    def __repr__(self) -> str:
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        return (
            f"ConfidenceBand({self.curve}, {self.x.size} points, {self.confidence_level:g} {self.kind}, "
            f"{self.method}{undefined})"
        )

    def _columns(self) -> Columns:
        return make_columns({"x": self.x, "low": self.low, "high": self.high})

    def __str__(self) -> str:
        shown = sorted_unique(np.linspace(0, self.x.size - 1, min(PRINTED, self.x.size)).round().astype(np.intp))
        rows = ("{:.4f}: {:.4f} to {:.4f}".format(*(each[k] for each in self)) for k in shown)
        return "\n  ".join([repr(self), *rows])


def _percentiles(name: str, x: Floats, replicates: Floats, alpha: float) -> tuple[Edges, int]:
    """Return the percentiles of replicates of shape (n_resamples, n_points), and how many replicates are undefined."""
    defined = ~np.isnan(replicates).any(axis=1)
    undefined = replicates.shape[0] - int(np.count_nonzero(defined))
    if undefined:
        warn_left_out(name, undefined, replicates.shape[0])
    if not defined.any():
        return (x, np.full(x.size, np.nan), np.full(x.size, np.nan)), undefined
    low, high = np.quantile(replicates[defined], [alpha / 2, 1 - alpha / 2], axis=0)
    inside = (x > 0) & (x < 1)  # at the ends a curve may have a single value
    if inside.any() and (low == high)[inside].all():
        warn_degenerate(name, "all its replicates are equal, so it has no width")
    return (x, low, high), undefined


def studentised_edges(counts: ThresholdCounts, curve: str, at: Floats | None, tube: Tube) -> Edges:
    """Return x and the edges of the tube around the ROC curve; x is FPR, or recall for the precision-recall curve."""
    roc = curve == "roc"
    tube = tube if roc else tube.swapped()
    x = tube.places() if at is None else at
    least, most = tube.edges(x)
    if at is not None:
        return (x, least, most) if roc else (x, _precision(counts, x, most), _precision(counts, x, least))
    # Both edges are nondecreasing, so between two x they stay within these values; lines between the nodes lie outside.
    if roc:
        low, high = least[:-1], most[1:]
    else:
        low, high = _precision(counts, x[:-1], most[1:]), _precision(counts, x[1:], least[:-1])
    before, after = np.append(0, np.arange(low.size)), np.append(np.arange(low.size), low.size - 1)
    return x, np.minimum(low[before], low[after]), np.maximum(high[before], high[after])


def kolmogorov_edges(counts: ThresholdCounts, curve: str, level: float, at: Floats | None) -> Edges:
    """Return x and the edges of the union of rectangles around the ROC polyline; x is FPR, or recall for P-R curves."""
    up, right = (_kolmogorov_quantile(math.sqrt(level), n) for n in (counts.n_pos, counts.n_neg))
    fpr, tpr, _ = RocCurve(counts, drop_intermediate=True)
    if curve == "roc":
        return _rectangle_union(Polyline(fpr, tpr), right, up, at, np.array([0.0, 1.0]))
    recall, least, most = _rectangle_union(Polyline(tpr, fpr), up, right, at, DENSE)
    low, high = (_precision(counts, recall, rate) for rate in (most, least))
    return recall, low, high


DENSE = np.arange(1001) / 1000  # recalls between which an edge of precision is nearly straight


@lru_cache(maxsize=16)
def _kolmogorov_quantile(chance: float, n: int) -> float:
    """Return the exact quantile of Kolmogorov's statistic for n rows; with tied scores it is conservative."""
    from scipy.stats import kstwo

    return float(kstwo.ppf(chance, n))


def _precision(counts: ThresholdCounts, recall: Floats, fpr: Floats) -> Floats:
    positives = recall * counts.n_pos
    return np.where(fpr == 0, 1.0, ratio(positives, positives + fpr * counts.n_neg))


def _rectangle_union(line: Polyline, dx: float, dy: float, at: Floats | None, among: Floats) -> Edges:
    """Return the edges of the union of rectangles, 2 dx by 2 dy, around all points of a line from (0, 0) to (1, 1).

    The line is nondecreasing. The edges are evaluated at the x in `at`. If `at` is None, they are evaluated at
    `among` and at all bends and jumps of the edges. Such an x has two entries if the limits from the left and from the
    right differ.
    """
    upper = Polyline(np.append(line.x - dx, 1.0), np.append(line.y, 1.0) + dy)
    lower = Polyline(np.append(0.0, line.x + dx), np.append(0.0, line.y) - dy)
    if at is not None:
        low, high = np.minimum(*limits(lower, at)), np.maximum(*limits(upper, at))
        return at, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    clipped = first_at(line, np.array([dy, 1 - dy])) + np.array([dx, -dx])
    places = sorted_unique(np.concatenate((upper.x, lower.x, clipped, among)))
    places = places[(places >= 0) & (places <= 1)]
    x = np.repeat(places, 2)[1:-1]
    low, high = (
        np.clip(np.stack(limits(edge, places), axis=1).ravel()[1:-1], 0.0, 1.0) for edge in (lower, upper)
    )  # fmt: skip
    kept = np.append(True, (np.diff(x) > 0) | (np.diff(low) != 0) | (np.diff(high) != 0))
    return x[kept], low[kept], high[kept]


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
        place = math.ceil(Fraction(repr(level)) * (n_resamples + 1)) - 1
        if place >= n_resamples:
            warn_too_few("n_resamples", n_resamples, level)
            radius = math.inf
        else:
            radius = max(float(np.partition(distances, place)[place]), math.sqrt(-2 * math.log1p(-level)))
        n_pos, n_neg = int(counts.n_pos), int(counts.n_neg)
        fpr, tpr, _ = RocCurve(counts, drop_intermediate=True)
        return cls(*_points(fpr * n_neg, tpr * n_pos, (n_neg, n_pos), EDGE_STEP, LEAST_STEP), radius, n_neg, n_pos)

    def swapped(self) -> Tube:
        """Return the tube with its axes swapped: false positive rates against true positive rates."""
        return Tube(self.y, self.x, self.radius, self.n_pos, self.n_neg)

    def places(self) -> Floats:
        """Return rates from 0 to 1 whose coordinates are EDGE_STEP apart."""
        first, last = (kernels.coordinate(count, self.n_neg) for count in (0, self.n_neg))
        rates = _rates(np.linspace(first, last, math.ceil((last - first) / EDGE_STEP) + 1), self.n_neg)
        rates[[0, -1]] = 0.0, 1.0  # exactly, despite rounding
        return rates

    def edges(self, rates: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and the highest TPR inside the tube at each of several ascending false positive rates."""
        if math.isinf(self.radius):
            return np.zeros(rates.size), np.ones(rates.size)
        radius = math.hypot(self.radius, EDGE_STEP / 2)  # so that discs around points cover the discs around the line
        places = _coordinates(rates * self.n_neg, self.n_neg)
        low, high = np.empty(rates.size), np.empty(rates.size)
        kernels.upper_edge(places, self.x, self.y, radius, high)
        kernels.upper_edge(-places[::-1], -self.x[::-1], -self.y[::-1], radius, low)
        low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)  # the discs cause ripples of 1e-4
        return _rates(-low[::-1], self.n_pos), _rates(high, self.n_pos)


class TubeSample(RankingSample):
    """Rows of a ranking, drawn within each class; `measure` returns how far each draw's curve is from the original."""

    def __init__(self, counts: ThresholdCounts) -> None:
        counts = counts.take(_distinct_rows(counts))
        super().__init__(counts, [RankingMetric(lambda counts: 0.0, Detail.POLYLINE)], stratified=True)
        self._n = int(counts.n_neg), int(counts.n_pos)
        self._tables = [_coordinates(np.arange(min(n + 1, TABLE)), n) for n in self._n]
        steps = self._sweep.steps
        up, right = steps.sizes.astype(np.int64)
        x, y = np.zeros((2, 2 * up.size + 1))  # false, true positives where a vertical and a step end
        x[1::2], x[2::2] = np.cumsum(right) - np.where(steps.tied, 0, right), np.cumsum(right)
        y[1::2] = y[2::2] = np.cumsum(up)
        length = np.hypot(*(np.diff(_coordinates(each[::2], n)) for each, n in zip((x, y), self._n, strict=True)))
        self._pieces = np.where(steps.tied, np.maximum(np.ceil(length / PIECE), 1), 1).astype(np.int64)
        self._points = _points(x, y, self._n, MEASURED_STEP, MEASURED_STEP)

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


def _distinct_rows(counts: ThresholdCounts) -> NDArray[np.intp]:
    """Return the first and the last row, and enough rows between them to resolve the deviations of replicates."""
    rates = ((each + 0.5) / (each[-1] + 1) for each in (counts.tps, counts.fps))
    odds = sum(np.log(rate) - np.log1p(-rate) for rate in rates)
    kept = np.append(True, np.diff(np.floor(odds / SAME_ODDS)) > 0)
    kept[-1] = True
    return np.flatnonzero(kept)


def _coordinates(counts: NDArray[Any], n: int) -> Floats:
    """Compute `kernels.coordinate` for many counts."""
    return np.asarray(2 * math.sqrt(n + 0.5) * np.arcsin(np.sqrt((counts + 0.375) / (n + 0.75))))


def _rates(coordinates: Floats, n: int) -> Floats:
    """Return the rates at the given coordinates, clipped to [0, 1]."""
    angles = np.clip(coordinates / (2 * math.sqrt(n + 0.5)), 0.0, math.pi / 2)
    return np.clip((np.sin(angles) ** 2 * (n + 0.75) - 0.375) / n, 0.0, 1.0)


def _points(right: Floats, up: Floats, n: tuple[int, int], most: float, least: float) -> tuple[Floats, Floats]:
    """Return coordinates of points on a polyline of counts, with gaps of at most `most` and at least about `least`."""
    lengths = np.hypot(np.diff(_coordinates(right, n[0])), np.diff(_coordinates(up, n[1])))
    pieces = np.maximum(np.ceil(lengths / most), 1).astype(np.int64)
    start = np.repeat(np.arange(pieces.size), pieces)
    share = (np.arange(start.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)) / pieces[start]
    between = (np.append(each[start] + share * np.diff(each)[start], each[-1]) for each in (right, up))
    x, y = (_coordinates(each, rows) for each, rows in zip(between, n, strict=True))
    along = np.floor(np.append(0.0, np.cumsum(np.diff(x) + np.diff(y))) / least)  # at most 1.42 times the length
    kept = np.append(True, np.diff(along) > 0)
    kept[-1] = True
    return x[kept], y[kept]
