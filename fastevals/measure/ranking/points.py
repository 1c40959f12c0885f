"""Points of curves as plain arrays, in the order in which scikit-learn gives them.

While nobody has asked for the counts of an unweighted ranking, its sorted scores are swept into these arrays a span at
a time. With counts of all rows in between (24 bytes for each, on fresh pages) it takes about twice as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels import rates as kernels
from fastevals._memory import lend
from fastevals.measure.class_split import ClassSplit, Span

if TYPE_CHECKING:
    from fastevals.measure.ranking.ranking import Ranking

__all__ = ["pr_points", "roc_points"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Points = tuple[Floats, Floats, NDArray[Any]]


def roc_points(ranking: Ranking, *, drop_intermediate: bool = True) -> Points:
    """Give FPR, TPR and thresholds, from the highest threshold (+inf) down.

    With `drop_intermediate` without the points between two equal steps, as scikit-learn does: `RocCurve` leaves out all
    points inside horizontal and vertical stretches. Rates of a missing class are NaN. Thresholds are float64, or longer
    floats where scores are longer floats or integers past 2**53.
    """
    counts = ranking._swept()
    if isinstance(counts, ClassSplit):
        return _split_roc(counts, drop_intermediate)
    if drop_intermediate and counts.thresholds.size > 3:
        bends = (np.diff(counts.fps[1:], 2) != 0) | (np.diff(counts.tps[1:], 2) != 0)
        counts = counts.take(np.flatnonzero(np.concatenate(([True, True], bends, [True]))))
    fpr, tpr = np.empty((2, counts.thresholds.size))
    kernels.divide(counts.fps, counts.n_neg, fpr)
    kernels.divide(counts.tps, counts.n_pos, tpr)
    return fpr, tpr, counts.thresholds.copy()


def _split_roc(split: ClassSplit, drop_intermediate: bool) -> Points:
    """Sweep each span into the first rows of its share of the points; then close the gaps, if points were left out."""

    def points(size: int) -> Points:
        return lend(size, np.float64), lend(size, np.float64), lend(size, split.threshold_dtype)

    fpr, tpr, thresholds = all_points = points(split.n_thresholds + 1)
    thresholds[0] = np.inf
    fpr[0], tpr[0] = (0.0 if total else np.nan for total in (split.n_neg, split.n_pos))

    def write(span: Span, bits: Ints, tps: Ints, fps: Ints) -> slice:
        if drop_intermediate:
            size = split.sweep_bends(span, bits, tps, fps)
        else:
            split.sweep(span, bits[:-2], tps[:-2], fps[:-2])
            size = span.groups
        here = slice(1 + span.groups_above, 1 + span.groups_above + size)
        kernels.divide(_read_only(fps[:size]), split.n_neg, fpr[here])
        kernels.divide(_read_only(tps[:size]), split.n_pos, tpr[here])
        thresholds[here] = split.codec.values(bits[:size])
        return here

    kept = [slice(0, 1), *reversed(split.map_spans(write, rows=2))]
    stops = np.cumsum([rows.stop - rows.start for rows in kept]).tolist()
    if stops[-1] == thresholds.size:
        return all_points
    kept_points = points(stops[-1])

    def move(i: int) -> None:
        rows, stop = kept[i], stops[i]
        for source, out in zip(all_points, kept_points, strict=True):
            out[stop - (rows.stop - rows.start) : stop] = source[rows]

    run(move, range(len(kept)))
    return kept_points


def pr_points(ranking: Ranking) -> Points:
    """Give precision, recall and thresholds, from the lowest threshold up; the last point (1, 0) has no threshold.

    Recall is NaN without positives. Thresholds are of the dtype of `roc_points`.
    """
    counts = ranking._swept()
    if isinstance(counts, ClassSplit):
        return _split_pr(counts)
    precision, recall = np.empty((2, counts.thresholds.size))
    kernels.precision(counts.tps, counts.fps, 1.0, precision)
    kernels.divide(counts.tps, counts.n_pos, recall)
    return precision[::-1].copy(), recall[::-1].copy(), counts.thresholds[:0:-1].copy()


def _split_pr(split: ClassSplit) -> Points:
    thresholds = lend(split.n_thresholds, split.threshold_dtype)
    precision, recall = lend(thresholds.size + 1, np.float64), lend(thresholds.size + 1, np.float64)
    precision[-1], recall[-1] = 1.0, 0.0 if split.n_pos else np.nan

    def write(span: Span, bits: Ints, tps: Ints, fps: Ints) -> None:
        split.sweep(span, bits, tps, fps, ascending=True)
        stop = thresholds.size - span.groups_above
        here = slice(stop - span.groups, stop)
        kernels.precision(_read_only(tps), _read_only(fps), 1.0, precision[here])
        kernels.divide(_read_only(tps), split.n_pos, recall[here])
        thresholds[here] = split.codec.values(bits)

    split.map_spans(write)
    return precision, recall, thresholds


def _read_only(totals: Ints) -> Ints:
    """Give a view as kernels know it from counts: they are not compiled again for arrays that can be written."""
    view = totals[:]
    view.flags.writeable = False
    return view
