"""Metrics of a whole ranking, each a function of threshold counts; NaN where a class is missing.

Values that are ratios of counts are computed as fractions and rounded once. Symbols and numbers of equations as in
Zhou, *Machine Learning*, section 2.3.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import areas
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.results import UNDEFINED, OperatingPoint, plain
from fastevals.measure.sweeps import best_row, sum_steps

__all__ = [
    "WON_PAIRS",
    "average_precision",
    "break_even_point",
    "equal_error_rate",
    "gini",
    "hull",
    "ks_statistic",
    "mean_lift",
    "partial_roc_auc",
    "power_of_two",
    "pr_auc",
    "rank_loss",
    "roc_auc",
    "share_of_gains",
]

# Of how many pairs of a positive and a negative are won, and how many there are, both doubled: the metric times these.
WON_PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "roc_auc": lambda won, pairs: won,
    "rank_loss": lambda won, pairs: pairs - won,
    "gini": lambda won, pairs: 2 * won - pairs,
}
PR_AREAS = {"davis-goadrich": (areas.davis_goadrich_area, 1), "linear": (areas.linear_pr_area, 2)}


def one_class(counts: ThresholdCounts) -> bool:
    """Tell whether a class has no rows."""
    return not (counts.n_pos and counts.n_neg)


def power_of_two(total: float) -> float:
    """Give the scale that brings a total near 1, so that products of weights neither overflow nor vanish."""
    return math.ldexp(1.0, -max(math.frexp(total)[1], -1000))


def _auc(counts: ThresholdCounts) -> Fraction:
    fp_scale, tp_scale = power_of_two(counts.n_neg), power_of_two(counts.n_pos)
    doubled = sum_steps(areas.roc_area, counts, fp_scale, tp_scale)
    return min(doubled / (2 * Fraction(counts.n_neg * fp_scale) * Fraction(counts.n_pos * tp_scale)), Fraction(1))


def roc_auc(counts: ThresholdCounts) -> float:
    """Give the area under the ROC curve: the chance that a positive ranks above a negative, ties half (2.20)."""
    return math.nan if one_class(counts) else float(_auc(counts))


def rank_loss(counts: ThresholdCounts) -> float:
    """Give 1 - AUC: the share of pairs ranked wrong, ties half (2.21)."""
    return math.nan if one_class(counts) else float(1 - _auc(counts))


def gini(counts: ThresholdCounts) -> float:
    """Give 2 AUC - 1."""
    return math.nan if one_class(counts) else float(2 * _auc(counts) - 1)


def partial_roc_auc(counts: ThresholdCounts, max_fpr: float, min_tpr: float, standardize: bool) -> float:
    """Give the area under the ROC curve where FPR <= max_fpr and above TPR = min_tpr.

    Standardised so that chance is 0.5 and a perfect ranking 1: McClish (1989), doi:10.1177/0272989X8900900307;
    both sides: Yang et al. (2019), doi:10.1177/0962280217718866.
    """
    if one_class(counts):
        return math.nan
    n_pos, n_neg = counts.n_pos, counts.n_neg
    last = int(np.searchsorted(counts.fps, max_fpr * n_neg, side="right")) - 1
    first = int(np.searchsorted(counts.tps, min_tpr * n_pos, side="left"))
    after = slice(last, last + 2)
    right = (max_fpr, float(np.interp(max_fpr, counts.fps[after] / n_neg, counts.tps[after] / n_pos)))
    before = slice(max(first - 1, 0), first + 1)
    left = (float(np.interp(min_tpr, counts.tps[before] / n_pos, counts.fps[before] / n_neg)), min_tpr)
    area = 0.0
    if left[0] < right[0]:
        points = [left, right]
        if first <= last:
            rows = slice(first, last + 1)
            fp_scale, tp_scale = power_of_two(n_neg), power_of_two(n_pos)
            doubled = sum(areas.roc_area(counts.fps[rows], counts.tps[rows], fp_scale, tp_scale))
            ends = [(counts.fps[row] / n_neg, counts.tps[row] / n_pos) for row in (first, last)]
            area = doubled / 2 / (n_neg * fp_scale) / (n_pos * tp_scale) - min_tpr * (ends[1][0] - ends[0][0])
            points[1:1] = ends
        for (x0, y0), (x1, y1) in zip(points[::2], points[1::2], strict=True):  # the pieces cut off at the limits
            area += (x1 - x0) * ((y0 + y1) / 2 - min_tpr)
    if not standardize:
        return float(area)
    chance = max(max_fpr - min_tpr, 0.0) ** 2 / 2
    return min(float(0.5 * (1 + (area - chance) / (max_fpr * (1 - min_tpr) - chance))), 1.0)


def average_precision(counts: ThresholdCounts) -> float:
    """Give the sum of recall gained times precision, over thresholds."""
    return share_of_gains(sum_steps(areas.average_precision, counts), counts.n_pos)


def share_of_gains(total: Fraction, n_pos: float) -> float:
    """Give a sum of gained true positives times precision over all positives."""
    return float(min(total / Fraction(n_pos), Fraction(1))) if n_pos else math.nan


def pr_auc(counts: ThresholdCounts, interpolation: str = "davis-goadrich") -> float:
    """Give the area under the P-R curve, between points linear in counts or linear in precision and recall."""
    if not counts.n_pos:
        return math.nan
    kernel, multiple = PR_AREAS[interpolation]
    return float(min(sum_steps(kernel, counts) / (multiple * Fraction(counts.n_pos)), Fraction(1)))


def mean_lift(counts: ThresholdCounts) -> float:
    """Give precision over the share of positives, on average over the share of rows predicted positive."""
    if not counts.n_pos:
        return math.nan
    return float(sum_steps(areas.lift_area, counts) / Fraction(counts.n_pos))


def ks_statistic(counts: ThresholdCounts) -> OperatingPoint:
    """Give the largest distance between TPR and FPR."""
    if one_class(counts):
        return UNDEFINED
    n_pos, n_neg = counts.n_pos, counts.n_neg
    # Cross products are exact for whole counts and tell true ties; floats are scaled so as not to overflow.
    x, y = n_pos, n_neg
    if isinstance(n_pos, float) or n_pos * n_neg >= 2**63:
        x, y = n_pos * power_of_two(n_pos), n_neg * power_of_two(n_pos)
    row = best_row(counts, lambda cells: np.abs(cells.tp * y - cells.fp * x))
    assert row is not None
    tpr, fpr = Fraction(counts.tps[row].item()) / Fraction(n_pos), Fraction(counts.fps[row].item()) / Fraction(n_neg)
    return OperatingPoint(float(abs(tpr - fpr)), plain(counts.thresholds[row]))


def break_even_point(counts: ThresholdCounts) -> OperatingPoint:
    """Give precision = recall: where as many rows are predicted positive as are positive.

    Inside a tie group the counts are interpolated linearly. No true positive there is no crossing: NaN.
    """
    if not counts.n_pos:
        return UNDEFINED
    n_pos = Fraction(counts.n_pos)

    def predicted(row: int) -> Fraction:
        return Fraction(counts.tps[row].item()) + Fraction(counts.fps[row].item())

    row = bisect_left(range(counts.thresholds.size), n_pos, key=predicted)
    row = min(row, counts.thresholds.size - 1)
    share = min((n_pos - predicted(row - 1)) / (predicted(row) - predicted(row - 1)), Fraction(1))
    before, after = Fraction(counts.tps[row - 1].item()), Fraction(counts.tps[row].item())
    tp = before + share * (after - before)
    return OperatingPoint(float(tp / n_pos), plain(counts.thresholds[row])) if tp else UNDEFINED


def equal_error_rate(counts: ThresholdCounts, on_hull: bool = False) -> OperatingPoint:
    """Give FPR = 1 - TPR where the ROC polyline or its hull crosses it, and the threshold at or just past it."""
    if one_class(counts):
        return UNDEFINED
    if on_hull:
        counts = hull(counts)
    n_pos, n_neg = Fraction(counts.n_pos), Fraction(counts.n_neg)

    def rates(row: int) -> tuple[Fraction, Fraction]:
        return Fraction(counts.fps[row].item()) / n_neg, Fraction(counts.tps[row].item()) / n_pos

    row = bisect_left(range(counts.thresholds.size), Fraction(1), key=lambda row: rates(row)[0] + rates(row)[1])
    (fpr0, tpr0), (fpr1, tpr1) = rates(row - 1), rates(row)
    share = (1 - fpr0 - tpr0) / (fpr1 + tpr1 - fpr0 - tpr0)
    return OperatingPoint(float(fpr0 + share * (fpr1 - fpr0)), plain(counts.thresholds[row]))


def hull(counts: ThresholdCounts) -> ThresholdCounts:
    """Keep the vertices of the convex hull of the ROC curve (Provost and Fawcett 2001, doi:10.1023/A:1007601015854)."""
    rows: NDArray[np.intp] = np.empty(counts.thresholds.size, dtype=np.intp)
    x, y = counts.fps, counts.tps
    if y.dtype == np.float64:
        x, y = x * power_of_two(counts.n_neg), y * power_of_two(counts.n_pos)
    size = areas.upper_hull(x, y, rows)
    return counts.take(rows[:size].copy())
