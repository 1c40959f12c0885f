"""Thresholds for pictures: a few out of millions, chosen so that no curve moves by half a pixel on any axes.

`candidates` keeps the thresholds that draw every curve: the ends and extremes of columns a quarter of a pixel wide.
`chosen` keeps about two thousand of these, so that lines between them are off by at most another quarter of a pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals.counts import ThresholdCounts, last_row
from fastevals.document.page.paths import kept_within
from fastevals.document.picture import Picture, as_deviate, as_rate
from fastevals.measure.curves.numbers import PARTS, Number, is_of_counts, number_of
from fastevals.measure.curves.registry import CURVES, Axis, CurveEntry
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.show.plots.det import LOWEST, det_limits
from fastevals.show.plots.histogram import histogram_edges
from fastevals.show.plots.thinning import first_at_least, rows_to_draw

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]

PIXELS = 640  # of an axis
COLUMNS = 4 * PIXELS
TOLERANCE = 0.25  # pixels
WANTED = 2000  # thresholds of a model, approximately
HIGHEST = 0.99  # rate on the axes of a DET picture
BINS = 10  # of a calibration curve


def candidates(counts: ThresholdCounts, vertices: ThresholdCounts, thresholds: Any = ()) -> Rows:
    """Return the rows of thresholds that draw every curve.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts of a model.
    vertices : ThresholdCounts
        Counts on the convex hull, which are best for some costs and are kept.
    thresholds : sequence of float
        Other thresholds to keep.
    """
    kept = [_needed(counts, vertices, thresholds)]
    steps = np.arange(1, COLUMNS) / COLUMNS
    deviates = as_rate(np.linspace(as_deviate(LOWEST), as_deviate(HIGHEST), COLUMNS))

    def precision(rows: slice) -> Floats:
        tp = counts.tps[rows]
        return tp / (tp + counts.fps[rows])  # type: ignore[no-any-return]

    def add(x: Callable[[Any], Any], edges: Floats, y: Any = None) -> None:
        kept.append(rows_to_draw(counts, x, edges, y))

    add(lambda rows: counts.tps[rows] + counts.fps[rows], steps * (counts.n_pos + counts.n_neg))
    if counts.n_neg:
        add(lambda rows: counts.fps[rows], sorted_union(steps, deviates) * counts.n_neg)
    if counts.n_pos:
        add(lambda rows: counts.tps[rows], sorted_union(steps, 1 - deviates) * counts.n_pos, precision)
    with np.errstate(over="ignore"):
        low, high = (float(counts.thresholds[row]) / 2 for row in (-1, 1))
        at = 2 * (low + (high - low) * steps)
    kept.append(counts.rows_at_least(at))
    return sorted_unique(np.concatenate(kept))


def chosen(counts: ThresholdCounts, vertices: ThresholdCounts, thresholds: Any = ()) -> Rows:
    """Return about two thousand of the candidates' rows, or all if there are fewer.

    Parameters
    ----------
    counts, vertices, thresholds
        As for `candidates`.
    """
    n = counts.thresholds.size
    if n <= WANTED:
        return np.arange(n)
    kept = np.zeros(n, dtype=bool)
    kept[_needed(counts, vertices, thresholds)] = True
    kept[kept_within(kept, _distance(counts), TOLERANCE)] = True
    more = WANTED - int(kept.sum())
    if more > 0:  # to keep steps of a threshold small
        kept[_spread(counts, more // 2)] = True
    return np.flatnonzero(kept)


def _needed(counts: ThresholdCounts, vertices: ThresholdCounts, thresholds: Any) -> Rows:
    """Return the rows that pictures need in any case."""
    last = counts.thresholds.size - 1
    # A DET curve begins and ends at the first errors of each kind.
    errors = int(last_row(last + 1, (), lambda rows: counts.fps[rows] == 0)) + 1
    hits = int(last_row(last + 1, (), lambda rows: counts.tps[rows] < counts.n_pos))
    at = [
        vertices.thresholds,
        np.array([each for each in thresholds if not np.isnan(each)]),
        histogram_edges(counts)[0],
    ]
    if are_probabilities(counts):  # net benefit, and the ends of calibration's bins
        at += [np.arange(100) / 100, np.nextafter(np.arange(BINS + 1) / BINS, 2)]
    ends = np.array([min(row, last) for row in (0, 1, last, errors, hits)], np.intp)
    return np.concatenate([ends, *map(counts.rows_at_least, at)])


def _axes(counts: ThresholdCounts) -> list[tuple[Number, Number]]:
    """Return, for each curve drawn from true and false positives, functions that give x and y in pixels."""
    of_classes = {"positives": counts.n_pos, "negatives": counts.n_neg}
    defined = (
        each
        for each in CURVES.values()
        if each.in_reports and is_of_counts(each) and all(map(of_classes.get, each.undefined_without))
    )
    return [(_pixels(entry.x, counts), _pixels(entry.y, counts, _highest_line(entry))) for entry in defined]


def _highest_line(entry: CurveEntry) -> float:
    """Return the highest value of the reference lines, for which the axis must have room."""
    return max((y for line in entry.lines for y in line.y if not isinstance(y, str)), default=0.0)


def _pixels(axis: Axis, counts: ThresholdCounts, least: float = 0.0) -> Number:
    """Return a function of true and false positives: their place on an axis, in pixels.

    The axis has `PIXELS` pixels up to its end or the highest value.
    """
    along = number_of(axis.number, counts)
    if axis.scale == "deviate":
        ends = as_deviate(np.array(det_limits(Picture(), [counts])))  # several curves don't narrow them
        scale = PIXELS / float(ends[1] - ends[0])
        return lambda tp, fp: scale * np.clip(as_deviate(along(tp, fp)), *as_deviate(np.array([LOWEST, HIGHEST])))
    high = 1.0 if axis.number in PARTS else max(float(np.abs(along(counts.tps, counts.fps)).max()), least) or 1.0
    return lambda tp, fp: PIXELS / high * along(tp, fp)


def _distance(counts: ThresholdCounts) -> Callable[[Rows, Rows, Rows], Floats]:
    """Return a function that gives rows' distances, in pixels of the worst picture, from the line between two others.

    The line is straight in counts. A row's distance is measured to the line's point with the same number of true
    positives or to its point with the same number of false positives, whichever is nearer.
    """
    tps, fps, axes = counts.tps.astype(np.float64), counts.fps.astype(np.float64), _axes(counts)

    def distance(rows: Rows, before: Rows, after: Rows) -> Floats:
        most = np.zeros(rows.size)
        steps = [each[after] - each[before] for each in (tps, fps)]
        moved = [each[rows] - each[before] for each in (tps, fps)]
        along = [np.divide(a, b, out=np.full(rows.size, 0.5), where=b > 0) for a, b in zip(moved, steps, strict=True)]
        for along_x, along_y in axes:
            x, y = along_x(tps[rows], fps[rows]), along_y(tps[rows], fps[rows])
            least = np.full(rows.size, np.inf)
            for t in along:
                at = tps[before] + t * steps[0], fps[before] + t * steps[1]
                least = np.minimum(least, np.hypot(along_x(*at) - x, along_y(*at) - y))
            most = np.maximum(most, least)
        return most

    return distance


def _spread(counts: ThresholdCounts, n: int) -> Rows:
    """Return rows at equal steps in score, and at equal shares of rows."""
    total = counts.n_pos + counts.n_neg
    steps = np.arange(1, n + 1) / (n + 1)
    by_share = first_at_least(
        lambda rows: counts.tps[rows] + counts.fps[rows], counts.thresholds.size - 1, steps * total
    )
    edges = histogram_edges(counts)[0]
    return np.concatenate([by_share, counts.rows_at_least(edges[0] + (edges[-1] - edges[0]) * steps)])
