"""Slow, obvious twins of the methods of curves, in fractions, straight from the definitions.

A curve is a list of points with ascending x, joined by straight lines; a cost curve is a list of lines over PC(+). All
functions except those that make curves take such lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from tests.reference.ranking import Point, polyline_area, threshold_counts


class Line(NamedTuple):
    """A threshold's cost: `fpr` at PC(+) = 0 and `fnr` at 1."""

    threshold: Any
    fpr: Fraction
    fnr: Fraction

    def cost(self, x: Fraction) -> Fraction:
        return (1 - x) * self.fpr + x * self.fnr


class Twin(NamedTuple):
    """The slow drawing of a curve."""

    straight: Callable[..., list[Point]]  # points joined by straight lines; higher is better
    place: str  # the keyword of `at` for their x
    unpacked: Callable[[Point], tuple[Fraction, Fraction]]  # a point in the coordinates that the curve unpacks into
    is_at_zero: bool = True  # whether it has a value at an x of 0


# Points -----------------------------------------------------------------------------------------------------------


def roc(y_true: Any, y_score: Any, weights: Any = None) -> list[Point]:
    """Return (FPR, TPR)."""
    steps = threshold_counts(y_true, y_score, weights)
    return [(step.fp / steps[-1].fp, step.tp / steps[-1].tp) for step in steps]


def false_per_positive(y_true: Any, y_score: Any, weights: Any = None) -> list[Point]:
    """Return (recall, -fp / positives), where the P-R curve is straight."""
    steps = threshold_counts(y_true, y_score, weights)
    return [(step.tp / steps[-1].tp, -step.fp / steps[-1].tp) for step in steps]


def gain(y_true: Any, y_score: Any, weights: Any = None) -> list[Point]:
    """Return (share of rows, share of positives)."""
    steps = threshold_counts(y_true, y_score, weights)
    last = steps[-1]
    return [((step.tp + step.fp) / (last.tp + last.fp), step.tp / last.tp) for step in steps]


def errors_in_all_rows(y_true: Any, y_score: Any, weights: Any = None) -> list[Point]:
    """Return (share of rows, minus the share of all rows that are accepted errors)."""
    steps = threshold_counts(y_true, y_score, weights)
    n = steps[-1].tp + steps[-1].fp
    return [((step.tp + step.fp) / n, -step.fp / n) for step in steps]


def least_costs(y_true: Any, y_score: Any, weights: Any = None) -> list[Point]:
    """Return (PC(+), minus the least cost) where two lines meet."""
    lines = cost_lines(y_true, y_score, weights)
    return [(x, -least_cost(lines, x)[0]) for x in meetings(lines)]


def precision_of(point: Point) -> Fraction:
    """Return the precision at (recall, -fp / positives); 1 if nothing is predicted positive."""
    x, y = point
    return x / (x - y) if x or y else Fraction(1)


TWINS = {  # by the name of the curve's entry in the registry
    "roc": Twin(roc, "fpr", lambda p: p),
    "det": Twin(roc, "fpr", lambda p: (p[0], 1 - p[1])),
    "precision_recall": Twin(false_per_positive, "recall", lambda p: (precision_of(p), p[0])),
    "gain": Twin(gain, "share", lambda p: p),
    "lift": Twin(gain, "share", lambda p: (p[0], p[1] / p[0]), is_at_zero=False),
    "risk_coverage": Twin(errors_in_all_rows, "coverage", lambda p: (p[0], -p[1] / p[0]), is_at_zero=False),
    "cost": Twin(least_costs, "probability_cost", lambda p: (p[0], -p[1])),
}


# Values -----------------------------------------------------------------------------------------------------------


def best_at(points: Sequence[Point], x: Fraction) -> Fraction:
    """Return the greatest y at x over the segments that span x."""
    found = [y for at, y in points if at == x]
    found += [y0 + (x - x0) / (x1 - x0) * (y1 - y0) for (x0, y0), (x1, y1) in pairwise(points) if x0 < x < x1]
    return max(found)


def swapped(points: Sequence[Point]) -> list[Point]:
    """Return (y, -x), where the least x is best."""
    return [(y, -x) for x, y in points]


# Two curves -------------------------------------------------------------------------------------------------------


def _pieces(mine: Sequence[Point], other: Sequence[Point]) -> list[tuple[Fraction, Fraction, int]]:
    """Cut the range of x at the curves' points and crossings; return each piece and the better curve inside."""
    cuts = sorted({x for x, _ in (*mine, *other)})
    pieces = []
    for low, high in pairwise(cuts):
        at = [low + (high - low) * share for share in (Fraction(1, 3), Fraction(2, 3))]  # straight: two are enough
        d0, d1 = (best_at(mine, x) - best_at(other, x) for x in at)
        ends = [low, high]
        if d0 != d1:
            zero = at[0] - d0 * (at[1] - at[0]) / (d1 - d0)
            if low < zero < high:
                ends.insert(1, zero)
        for a, b in pairwise(ends):
            middle = (a + b) / 2
            difference = best_at(mine, middle) - best_at(other, middle)
            pieces.append((a, b, (difference > 0) - (difference < 0)))
    return pieces


def dominates(mine: Sequence[Point], other: Sequence[Point]) -> bool:
    """Return whether a curve is nowhere below the other, and somewhere above."""
    signs = {sign for _, _, sign in _pieces(mine, other)}
    return 1 in signs and -1 not in signs


def crossings(mine: Sequence[Point], other: Sequence[Point]) -> list[Fraction]:
    """Return each x where the better curve changes."""
    apart = [(low, high, sign) for low, high, sign in _pieces(mine, other) if sign]
    return [before[1] for before, after in pairwise(apart) if before[2] != after[2]]


def heights(points: Sequence[Point], x: Fraction) -> tuple[Fraction, Fraction]:
    """Return the lowest and the greatest y at x."""
    return -best_at([(at, -y) for at, y in points], x), best_at(points, x)


# Cost curves ------------------------------------------------------------------------------------------------------


def cost_lines(y_true: Any, y_score: Any, weights: Any = None) -> list[Line]:
    """Return the line of each threshold, from +inf (predict none) to the lowest score (predict all)."""
    steps = threshold_counts(y_true, y_score, weights)
    last = steps[-1]
    return [Line(step.threshold, step.fp / last.fp, 1 - step.tp / last.tp) for step in steps]


def least_cost(lines: Sequence[Line], x: Fraction) -> tuple[Fraction, Any]:
    """Try every line; return the least cost and the first threshold that attains it."""
    costs = [line.cost(x) for line in lines]
    return min(costs), lines[costs.index(min(costs))].threshold


def meetings(lines: Sequence[Line]) -> list[Fraction]:
    """Return every PC(+) where two lines meet, and both ends; the envelope is straight in between."""
    found = {Fraction(0), Fraction(1)}
    for a, b in combinations(lines, 2):
        turn = (a.fpr - b.fpr) - (a.fnr - b.fnr)
        if turn and 0 < (a.fpr - b.fpr) / turn < 1:
            found.add((a.fpr - b.fpr) / turn)
    return sorted(found)


def cost_area(y_true: Any, y_score: Any, weights: Any = None) -> Fraction:
    """Compute the area under the least cost over PC(+)."""
    lines = cost_lines(y_true, y_score, weights)
    return polyline_area([(x, least_cost(lines, x)[0]) for x in meetings(lines)])


def operating_range(lines: Sequence[Line]) -> tuple[Fraction, Fraction] | None:
    """Return the range where some line is cheaper than predicting none (cost x) and all (cost 1 - x)."""
    trivial = [Line(None, Fraction(0), Fraction(1)), Line(None, Fraction(1), Fraction(0))]
    useful = [
        (low, high)
        for low, high in pairwise(meetings([*lines, *trivial]))
        if least_cost(lines, (low + high) / 2)[0] < least_cost(trivial, (low + high) / 2)[0]
    ]
    return (useful[0][0], useful[-1][1]) if useful else None


def row_cost(line: Line, prior: Fraction, cost_fp: Fraction, cost_fn: Fraction) -> Fraction:
    return prior * cost_fn * line.fnr + (1 - prior) * cost_fp * line.fpr


def least_row_cost(lines: Sequence[Line], prior: Fraction, cost_fp: Fraction, cost_fn: Fraction) -> Fraction:
    return min(row_cost(line, prior, cost_fp, cost_fn) for line in lines)


# Folds ------------------------------------------------------------------------------------------------------------

Fold = tuple[Any, ...]  # (y_true, y_score) or (y_true, y_score, weights)


def fold_thresholds(folds: Sequence[Fold]) -> list[Any]:
    """Return every threshold of any fold, from the highest down."""
    return sorted({step.threshold for fold in folds for step in threshold_counts(*fold)}, reverse=True)


def counts_of(fold: Fold, threshold: Any) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return (tp, fp, positives, negatives)."""
    steps = threshold_counts(*fold)
    at = [step for step in steps if step.threshold >= threshold][-1]
    return at.tp, at.fp, steps[-1].tp, steps[-1].fp


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def fold_mean(folds: Sequence[Fold], threshold: Any, rate: Callable[..., Fraction | None]) -> Fraction | None:
    """Average a rate of (tp, fp, positives, negatives) over the folds where it is defined."""
    found = [value for fold in folds if (value := rate(*counts_of(fold, threshold))) is not None]
    return mean(found) if found else None


RATES: dict[str, Callable[..., Fraction | None]] = {
    "fpr": lambda tp, fp, p, n: fp / n,
    "tpr": lambda tp, fp, p, n: tp / p,
    "fnr": lambda tp, fp, p, n: (p - tp) / p,
    "recall": lambda tp, fp, p, n: tp / p,
    "precision": lambda tp, fp, p, n: tp / (tp + fp) if tp + fp else None,
    "share": lambda tp, fp, p, n: (tp + fp) / (p + n),
    "gain": lambda tp, fp, p, n: tp / p,
}
