"""Metrics of a whole ranking, each a function of threshold counts; NaN if a class is missing.

Ratios of counts are computed as fractions and rounded once. Symbols and equation numbers follow Zhou, *Machine
Learning*, section 2.3.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import chunks, run
from fastevals._kernels import areas
from fastevals._options import as_flag, python_number
from fastevals._validation.arrays import power_of_two
from fastevals.counting.sweeps import COUNT_ROUNDING, best_row, sum_steps
from fastevals.counts import Cells, ThresholdCounts, last_row, read_only_as
from fastevals.measure.cells import informedness
from fastevals.results import UNDEFINED_POINT, OperatingPoint


class Area(NamedTuple):
    """An area under the P-R curve."""

    kernel: Callable[..., Any]  # returns a step's gained positives times its precision, multiplied by `times`
    times: int

    def of_sum(self, share: Fraction) -> float:
        """Return the area as a float of at most 1, from the kernel's sum over all steps divided by the positives."""
        return float(min(share / self.times, Fraction(1)))


LARGEST_RATIO = Fraction(2**1023)
Interpolation = Literal["davis-goadrich", "linear"]
STEPWISE = Area(areas.average_precision, 1)
PR_AREAS = {"davis-goadrich": Area(areas.davis_goadrich_area, 1), "linear": Area(areas.linear_pr_area, 2)}


def one_class(counts: ThresholdCounts) -> bool:
    """Return whether a class has no rows."""
    return not (counts.n_pos and counts.n_neg)


def exact_auc(counts: ThresholdCounts) -> Fraction:
    """Return the area under the ROC curve before it is rounded."""
    fp_scale, tp_scale = power_of_two(counts.n_neg), power_of_two(counts.n_pos)
    doubled = sum_steps(areas.roc_area, counts, fp_scale, tp_scale)
    return min(doubled / (2 * Fraction(counts.n_neg * fp_scale) * Fraction(counts.n_pos * tp_scale)), Fraction(1))


def roc_auc(counts: ThresholdCounts) -> float:
    """Return the area under the ROC curve (2.20): the chance that a positive outranks a negative; ties count half."""
    return math.nan if one_class(counts) else float(exact_auc(counts))


def rank_loss(counts: ThresholdCounts) -> float:
    """Return 1 - AUC (2.21): the share of pairs ranked wrong; ties count half."""
    return math.nan if one_class(counts) else float(1 - exact_auc(counts))


def gini(counts: ThresholdCounts) -> float:
    """Return 2 AUC - 1."""
    return math.nan if one_class(counts) else float(2 * exact_auc(counts) - 1)


def partial_roc_auc(counts: ThresholdCounts, max_fpr: float, min_tpr: float, standardize: bool) -> float:
    """Return the area under the ROC curve where FPR <= max_fpr and above TPR = min_tpr.

    With `standardize`, chance is 0.5 and a perfect ranking is 1: McClish (1989), doi:10.1177/0272989X8900900307;
    both bounds: Yang et al. (2019), doi:10.1177/0962280217718866.
    """
    if one_class(counts):
        return math.nan
    n, n_pos, n_neg = counts.thresholds.size, Fraction(counts.n_pos), Fraction(counts.n_neg)

    def fpr(row: int) -> Fraction:
        return Fraction(counts.fps[row].item()) / n_neg

    def tpr(row: int) -> Fraction:
        return Fraction(counts.tps[row].item()) / n_pos

    right, bottom = Fraction(max_fpr), Fraction(min_tpr)
    last = bisect_right(range(n), right, key=fpr) - 1
    first = bisect_left(range(n), bottom, key=tpr)
    start = _between(fpr, tpr, first, bottom), bottom
    stop = right, _between(tpr, fpr, min(last + 1, n - 1), right)
    area = Fraction(0)
    if start[0] < right:
        points = [start, stop]
        if first <= last:
            rows = slice(first, last + 1)
            fp_scale, tp_scale = power_of_two(counts.n_neg), power_of_two(counts.n_pos)
            doubled = sum(map(Fraction, areas.roc_area(counts.fps[rows], counts.tps[rows], fp_scale, tp_scale)))
            whole = 2 * (n_neg * Fraction(fp_scale)) * (n_pos * Fraction(tp_scale))
            points[1:1] = [(fpr(first), tpr(first)), (fpr(last), tpr(last))]
            area = doubled / whole - bottom * (fpr(last) - fpr(first))
        for (x0, y0), (x1, y1) in zip(points[::2], points[1::2], strict=True):  # the partial segments at both limits
            area += (x1 - x0) * ((y0 + y1) / 2 - bottom)
    if not as_flag("standardize", standardize):
        return float(area)
    chance = max(right - bottom, Fraction(0)) ** 2 / 2
    return min(float((1 + (area - chance) / (right * (1 - bottom) - chance)) / 2), 1.0)


def _between(
    other_rate: Callable[[int], Fraction], along: Callable[[int], Fraction], row: int, place: Fraction
) -> Fraction:
    """Interpolate one rate where the other reaches a value, between a row that has reached it and the row before."""
    end = along(row)
    if not row or end <= place:
        return other_rate(row)
    before = along(row - 1)
    return other_rate(row - 1) + (other_rate(row) - other_rate(row - 1)) * (place - before) / (end - before)


def average_precision(counts: ThresholdCounts) -> float:
    """Return the sum over thresholds of precision times the gain in recall."""
    return _area(STEPWISE, counts)


def _sum_over_positives(kernel: Callable[..., Any], counts: ThresholdCounts) -> Fraction:
    """Return the sum that `kernel` computes over all steps of the counts, divided by the number of positives."""
    scale = power_of_two(counts.n_pos)
    return sum_steps(kernel, counts, scale) / Fraction(counts.n_pos * scale)


def _area(area: Area, counts: ThresholdCounts) -> float:
    return area.of_sum(_sum_over_positives(area.kernel, counts)) if counts.n_pos else math.nan


def pr_auc(counts: ThresholdCounts, interpolation: Interpolation = "davis-goadrich") -> float:
    """Return the area under the P-R curve, with counts linear between points (or precision linear in recall)."""
    return _area(PR_AREAS[interpolation], counts)


def pr_auc_linear(counts: ThresholdCounts) -> float:
    """Return the area under the P-R curve with precision linear in recall between points, which is optimistic."""
    return pr_auc(counts, "linear")


def mean_lift(counts: ThresholdCounts) -> float:
    """Return the mean lift over all shares of rows predicted positive; lift is precision / share of positives."""
    if not counts.n_pos:
        return math.nan
    return float(_sum_over_positives(areas.lift_area, counts))


def risk_coverage_area(counts: ThresholdCounts) -> float:
    """Return the area under the risk-coverage curve (AURC): the mean selective risk over all shares of rows accepted.

    The risk is the share of negatives among the accepted rows, those with the highest scores. Counts are linear between
    thresholds. Geifman and El-Yaniv (2017), arXiv:1705.08500.
    """
    return _risk_area(counts) if counts.n_pos or counts.n_neg else math.nan


def excess_risk_coverage_area(counts: ThresholdCounts) -> float:
    """Return the AURC minus the least AURC at the same share r of negatives, which is r + (1 - r) log(1 - r) (E-AURC).

    It is 0 if all positives are above all negatives. Geifman, Uziel and El-Yaniv (2019), arXiv:1805.08206.
    """
    n_pos, n_neg = counts.n_pos, counts.n_neg
    if not (n_pos or n_neg):
        return math.nan
    least = float(Fraction(n_neg) / (Fraction(n_neg) + Fraction(n_pos)))
    if n_pos:
        least *= float(areas.excess_share(float(min(Fraction(n_neg) / Fraction(n_pos), LARGEST_RATIO))))
    area = _risk_area(counts)
    return area - least if area - least > COUNT_ROUNDING * area else 0.0


def _risk_area(counts: ThresholdCounts) -> float:
    scale = power_of_two(counts.n_neg) if counts.n_neg else 1.0
    area = sum_steps(areas.risk_area, counts, scale)
    return float(min(area / Fraction(scale) / (Fraction(counts.n_pos) + Fraction(counts.n_neg)), Fraction(1)))


def risk_at_coverage(counts: ThresholdCounts, coverage: float = 0.8) -> OperatingPoint:
    """Return the selective risk at a coverage: the share of negatives among this share of rows, highest scores first.

    Inside a group of ties the counts are interpolated linearly, as if its rows were accepted at random.
    """
    n = Fraction(counts.n_pos) + Fraction(counts.n_neg)
    if not n:
        return UNDEFINED_POINT
    wanted = Fraction(coverage) * n

    def accepted(row: int) -> Fraction:
        return Fraction(counts.tps[row].item()) + Fraction(counts.fps[row].item())

    row = min(bisect_left(range(counts.thresholds.size), wanted, key=accepted), counts.thresholds.size - 1)
    share = min((wanted - accepted(row - 1)) / (accepted(row) - accepted(row - 1)), Fraction(1))
    before, after = Fraction(counts.fps[row - 1].item()), Fraction(counts.fps[row].item())
    return OperatingPoint(float((before + share * (after - before)) / wanted), python_number(counts.thresholds[row]))


def coverage_at_risk(counts: ThresholdCounts, risk: float = 0.05) -> OperatingPoint:
    """Return the largest share of rows at or above a threshold among which the share of negatives is at most `risk`."""
    n = Fraction(counts.n_pos) + Fraction(counts.n_neg)
    if not n:
        return UNDEFINED_POINT

    def last(part: slice) -> int:
        tps, fps = counts.tps[part], counts.fps[part]
        accepted = tps + fps
        rows = np.flatnonzero(np.divide(fps, accepted, out=np.zeros(fps.size), where=accepted > 0) <= risk)
        return part.start + int(rows[-1]) if rows.size else 0

    row = max(run(last, chunks(counts.thresholds.size)))
    accepted = Fraction(counts.tps[row].item()) + Fraction(counts.fps[row].item())
    return OperatingPoint(float(accepted / n), python_number(counts.thresholds[row]))


def ks_statistic(counts: ThresholdCounts) -> OperatingPoint:
    """Return the largest distance between TPR and FPR."""
    if one_class(counts):
        return UNDEFINED_POINT
    n_pos, n_neg = counts.n_pos, counts.n_neg
    if isinstance(n_pos, int) and n_pos * n_neg < 2**62:
        row = best_row(counts, lambda at: np.abs(at.tp * n_neg - at.fp * n_pos))  # exact, and needs no division
    else:
        row = best_row(counts, lambda at: np.abs(at.tp / n_pos - at.fp / n_neg), _abs_informedness_parts, size=1.0)
    assert row is not None
    tpr, fpr = (Fraction(cells[row].item()) / Fraction(cells[-1].item()) for cells in (counts.tps, counts.fps))
    return OperatingPoint(float(abs(tpr - fpr)), python_number(counts.thresholds[row]))


def _abs_informedness_parts(at: Cells) -> tuple[Any, Any]:
    numerator, denominator = informedness.parts(at)
    return abs(numerator), denominator


def _exact(number: Any) -> int | Fraction:
    """Return a count as it is, and a sum of weights as a fraction."""
    return number if isinstance(number, int) else Fraction(number)


def break_even_point(counts: ThresholdCounts) -> OperatingPoint:
    """Return the value at which precision = recall: as many rows are predicted positive as are positive.

    Inside a group of ties the counts are interpolated linearly. NaN if no positive is among these rows.
    """
    if not counts.n_pos:
        return UNDEFINED_POINT
    n_pos = _exact(counts.n_pos)

    def predicted(row: int) -> int | Fraction:
        return _exact(counts.tps[row].item()) + _exact(counts.fps[row].item())

    row = bisect_left(range(counts.thresholds.size), n_pos, key=predicted)
    row = min(row, counts.thresholds.size - 1)
    share = min(Fraction(n_pos - predicted(row - 1)) / (predicted(row) - predicted(row - 1)), Fraction(1))
    before, after = Fraction(counts.tps[row - 1].item()), Fraction(counts.tps[row].item())
    tp = before + share * (after - before)
    return OperatingPoint(float(tp / n_pos), python_number(counts.thresholds[row])) if tp else UNDEFINED_POINT


def equal_error_rate(counts: ThresholdCounts, on_hull: bool = False) -> OperatingPoint:
    """Return the FPR where the ROC polyline or hull crosses FPR = 1 - TPR, and the threshold at or just past it."""
    if one_class(counts):
        return UNDEFINED_POINT
    if as_flag("on_hull", on_hull):
        counts = hull(counts)
    n_pos, n_neg = _exact(counts.n_pos), _exact(counts.n_neg)

    def scaled(row: int) -> int | Fraction:
        """Return (FPR + TPR) n_pos n_neg."""
        return _exact(counts.fps[row].item()) * n_pos + _exact(counts.tps[row].item()) * n_neg

    row = bisect_left(range(counts.thresholds.size), n_pos * n_neg, key=scaled)
    before, after = scaled(row - 1), scaled(row)
    share = Fraction(n_pos * n_neg - before) / (after - before)
    fpr0, fpr1 = (Fraction(counts.fps[at].item()) / n_neg for at in (row - 1, row))
    return OperatingPoint(float(fpr0 + share * (fpr1 - fpr0)), python_number(counts.thresholds[row]))


def equal_error_rate_on_hull(counts: ThresholdCounts) -> OperatingPoint:
    """Return the FPR at which the convex hull of the ROC curve crosses FPR = 1 - TPR."""
    return equal_error_rate(counts, on_hull=True)


def hull(counts: ThresholdCounts) -> ThresholdCounts:
    """Keep the vertices of the convex hull of the ROC curve (Provost and Fawcett 2001, doi:10.1023/A:1007601015854)."""
    return counts.take(hull_rows(counts))


def hull_rows(counts: ThresholdCounts) -> NDArray[np.intp]:
    """Return the rows of the counts at the vertices of the ROC curve's convex hull, ascending."""
    x, y = counts.fps, counts.tps
    # For rounded cross products the vertices may depend on the order of evaluation; integer products must not overflow.
    if y.dtype == np.float64 or counts.n_pos * counts.n_neg >= 2**62:
        return _vertices(x * power_of_two(counts.n_neg), y * power_of_two(counts.n_pos))
    rows = np.append(np.arange(0, x.size - 1, areas.ROWS_PER_STRIDE), x.size - 1)
    edges = rows[_vertices(x[rows], y[rows])]  # the hull of every 64th row: only rows above it can be further vertices

    def above(part: slice) -> NDArray[np.intp]:
        found: NDArray[np.intp] = np.empty(part.stop - part.start, dtype=np.intp)
        return found[: areas.rows_above(x, y, edges, part.start, part.stop, found)].copy()

    rows = np.concatenate(run(above, chunks(x.size)))
    rows = rows[_vertices(x[rows], y[rows])]
    # Among rows with the same counts, the last one is the vertex; at the start, it is row 0.
    at = x[rows[1:]] + y[rows[1:]]
    return np.append(rows[:1], last_row(x.size, at.shape, lambda each: x[each] + y[each] <= at))


def _vertices(x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices of the vertices of the upper hull of points with ascending y."""
    x, y = (read_only_as(each, each.dtype) for each in (x, y))
    places: NDArray[np.intp] = np.empty(x.size, dtype=np.intp)
    return places[: areas.upper_hull(x, y, places)].copy()
