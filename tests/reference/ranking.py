"""Slow, obvious twins of rankings and their metrics, straight from the definitions.

Every function takes ``(y_true, y_score, weights=None)`` with `y_true` of 0/1 or booleans. Numbers become fractions
where possible, so results are exact. An undefined value is None. Rows with zero weight are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

Point = tuple[Fraction, Fraction]


class Row(NamedTuple):
    positive: bool
    score: Any
    weight: Fraction


class Counts(NamedTuple):
    """Counts at or above a threshold."""

    threshold: Any
    tp: Fraction
    fp: Fraction


class Crossing(NamedTuple):
    value: Fraction
    threshold: Any


def rows_of(y_true: Sequence[Any], y_score: Sequence[Any], weights: Sequence[Any] | None = None) -> list[Row]:
    if weights is None:
        weights = [1] * len(y_true)
    rows = [Row(bool(y), s, exact(w)) for y, s, w in zip(y_true, y_score, weights, strict=True)]
    return [row for row in rows if row.weight]


def exact(number: Any) -> Fraction:
    return Fraction(number.item() if hasattr(number, "item") else number)


def total(rows: Sequence[Row], positive: bool) -> Fraction:
    return sum((row.weight for row in rows if row.positive == positive), Fraction(0))


def counts_at(rows: Sequence[Row], threshold: Any) -> Counts:
    above = [row for row in rows if row.score >= threshold]
    return Counts(threshold, total(above, True), total(above, False))


def threshold_counts(y_true: Any, y_score: Any, weights: Any = None) -> list[Counts]:
    """Recount ``score >= t`` for every threshold t: +inf, then the distinct scores from the highest down."""
    rows = rows_of(y_true, y_score, weights)
    return [counts_at(rows, t) for t in (math.inf, *sorted({row.score for row in rows}, reverse=True))]


def counts_by_score(scores: Sequence[Any], positives: Sequence[int], negatives: Sequence[int]) -> list[Counts]:
    """Recount, one by one, the rows that counts of scores stand for."""
    y: list[int] = []
    rows: list[Any] = []
    for score, of_positives, of_negatives in zip(scores, positives, negatives, strict=True):
        y += [1] * of_positives + [0] * of_negatives
        rows += [score] * (of_positives + of_negatives)
    return threshold_counts(y, rows)


def merged_counts(parts: Iterable[list[Counts]]) -> list[Counts]:
    """Sum, for every threshold of any part, the parts' counts at or above it."""
    parts = list(parts)
    found = []
    for threshold in sorted({row.threshold for part in parts for row in part}, reverse=True):
        last = [max((row for row in part if row.threshold >= threshold), key=lambda row: row[1:]) for part in parts]
        found.append(Counts(threshold, sum(row.tp for row in last), sum(row.fp for row in last)))
    return found


def confusion_at(y_true: Any, y_score: Any, threshold: Any, weights: Any = None) -> list[list[Fraction]]:
    """Return [[tn, fp], [fn, tp]]."""
    rows = rows_of(y_true, y_score, weights)
    _, tp, fp = counts_at(rows, threshold)
    return [[total(rows, False) - fp, fp], [total(rows, True) - tp, tp]]


def cells(y_true: Any, y_score: Any, weights: Any = None) -> list[tuple[Any, tuple[Fraction, ...]]]:
    """Return each threshold with its (tp, fp, fn, tn)."""
    steps = threshold_counts(y_true, y_score, weights)
    _, n_pos, n_neg = steps[-1]
    return [(t, (tp, fp, n_pos - tp, n_neg - fp)) for t, tp, fp in steps]


# Areas ------------------------------------------------------------------------------------------------------------


def roc_auc(y_true: Any, y_score: Any, weights: Any = None) -> Fraction | None:
    """Count every pair of a positive and a negative: 1 if ranked right, 1/2 if tied."""
    rows = rows_of(y_true, y_score, weights)
    right, pairs = Fraction(0), Fraction(0)
    for a in rows:
        for b in rows:
            if a.positive and not b.positive:
                pairs += a.weight * b.weight
                right += a.weight * b.weight * (Fraction(1, 2) if a.score == b.score else int(a.score > b.score))
    return right / pairs if pairs else None


def rank_loss(y_true: Any, y_score: Any, weights: Any = None) -> Fraction | None:
    """Count every pair of a positive and a negative: 1 if ranked wrong, 1/2 if tied."""
    rows = rows_of(y_true, y_score, weights)
    wrong, pairs = Fraction(0), Fraction(0)
    for a in rows:
        for b in rows:
            if a.positive and not b.positive:
                pairs += a.weight * b.weight
                wrong += a.weight * b.weight * (Fraction(1, 2) if a.score == b.score else int(a.score < b.score))
    return wrong / pairs if pairs else None


def average_precision(y_true: Any, y_score: Any, weights: Any = None) -> Fraction | None:
    """Sum the gains in recall times precision."""
    steps = threshold_counts(y_true, y_score, weights)
    n_pos = steps[-1].tp
    if not n_pos:
        return None
    return sum(
        ((new.tp - old.tp) / n_pos * new.tp / (new.tp + new.fp) for old, new in pairwise(steps)),
        Fraction(0),
    )


def risk_coverage_area(y_true: Any, y_score: Any, weights: Any = None) -> float:
    """Integrate the share of errors among accepted rows over the rows, each group of ties as a straight piece."""
    steps, area = threshold_counts(y_true, y_score, weights), 0.0
    for old, new in pairwise(steps):
        start, rows = old.tp + old.fp, new.tp + new.fp - old.tp - old.fp
        slope = (new.fp - old.fp) / rows
        area += float(slope * rows)
        if start:
            area += float(old.fp - slope * start) * math.log1p(float(rows / start))
    return area / float(steps[-1].tp + steps[-1].fp)


def excess_risk_coverage_area(y_true: Any, y_score: Any, weights: Any = None) -> float:
    """Subtract the area if all errors are below all right answers."""
    return risk_coverage_area(y_true, y_score, weights) - risk_coverage_area(y_true, y_true, weights)


def risk_at_coverage(y_true: Any, y_score: Any, weights: Any = None, coverage: float = 0.8) -> Fraction:
    """Count errors among the rows with the highest scores, up to a share of all rows."""
    steps = threshold_counts(y_true, y_score, weights)
    wanted = Fraction(coverage) * (steps[-1].tp + steps[-1].fp)
    for old, new in pairwise(steps):
        if new.tp + new.fp >= wanted:
            share = (wanted - old.tp - old.fp) / (new.tp + new.fp - old.tp - old.fp)
            return (old.fp + share * (new.fp - old.fp)) / wanted
    raise AssertionError


def coverage_at_risk(y_true: Any, y_score: Any, weights: Any = None, risk: float = 0.05) -> Fraction:
    """Try every threshold."""
    steps = threshold_counts(y_true, y_score, weights)
    n = steps[-1].tp + steps[-1].fp
    low = [step.tp + step.fp for step in steps[1:] if float(step.fp / Fraction(step.tp + step.fp)) <= risk]
    return max(low, default=Fraction(0)) / n


def linear_pr_area(y_true: Any, y_score: Any, weights: Any = None) -> Fraction | None:
    """Compute the area under the polyline of (recall, precision), which starts at (0, 1)."""
    steps = threshold_counts(y_true, y_score, weights)
    n_pos = steps[-1].tp
    if not n_pos:
        return None
    points = [(Fraction(0), Fraction(1))] + [(tp / n_pos, tp / (tp + fp)) for _, tp, fp in steps[1:]]
    return polyline_area(points)


def polyline_area(points: Sequence[Point]) -> Fraction:
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points)), Fraction(0))


def davis_goadrich_area(y_true: Any, y_score: Any, weights: Any = None) -> float | None:
    """Compute the area under precision over recall, with tp and fp linear between thresholds.

    With tp = a + t, fp = b + r t, the area of a step is the integral of (a + t) / (c + s t) over t in [0, g], where
    c = a + b, s = 1 + r: g / s + (a - c / s) / s * ln(1 + s g / c). With 100 digits, cancellation is harmless.
    """
    steps = threshold_counts(y_true, y_score, weights)
    n_pos = steps[-1].tp
    if not n_pos:
        return None
    with localcontext() as context:
        context.prec = 100
        area = Decimal(0)
        for old, new in pairwise(steps):
            gain = new.tp - old.tp
            if gain:
                s, c = 1 + (new.fp - old.fp) / gain, old.tp + old.fp
                area += decimal(gain / s)
                if c:
                    area += decimal((old.tp - c / s) / s) * decimal(1 + s * gain / c).ln()
        return float(area / decimal(n_pos))


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def partial_roc_auc(
    y_true: Any, y_score: Any, weights: Any = None, *, max_fpr: float, min_tpr: float, standardize: bool
) -> Fraction | None:
    """Integrate max(TPR(x) - min_tpr, 0) over x in [0, max_fpr], along the ROC polyline."""
    points = roc_points(y_true, y_score, weights)
    if points is None:
        return None
    f, t = Fraction(max_fpr), Fraction(min_tpr)
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1 or x0 >= f:
            continue
        slope = (y1 - y0) / (x1 - x0)
        stop = min(x1, f)
        start = x0 if y0 >= t else (min(x0 + (t - y0) / slope, stop) if slope else stop)
        height = [y0 + slope * (x - x0) - t for x in (start, stop)]
        area += (stop - start) * sum(height) / 2
    if not standardize:
        return area
    chance = max(f - t, Fraction(0)) ** 2 / 2
    return (1 + (area - chance) / (f * (1 - t) - chance)) / 2


# Points -----------------------------------------------------------------------------------------------------------


def roc_points(y_true: Any, y_score: Any, weights: Any = None) -> list[Point] | None:
    """Return (FPR, TPR) at every threshold."""
    steps = threshold_counts(y_true, y_score, weights)
    _, n_pos, n_neg = steps[-1]
    return [(fp / n_neg, tp / n_pos) for _, tp, fp in steps] if n_pos and n_neg else None


def hull_rows(points: Sequence[Point]) -> list[int]:
    """Keep a point unless it repeats an earlier one, or lies on or below a chord between one before and one after."""
    distinct = [k for k, point in enumerate(points) if point not in points[:k]]

    def below(k: int, i: int, j: int) -> bool:
        (xi, yi), (xj, yj), (xk, yk) = points[i], points[j], points[k]
        return (xj - xi) * (yk - yi) <= (yj - yi) * (xk - xi)

    return [
        k for at, k in enumerate(distinct) if not any(below(k, i, j) for i in distinct[:at] for j in distinct[at + 1 :])
    ]


def ks_statistic(y_true: Any, y_score: Any, weights: Any = None) -> Crossing | None:
    """Return the largest |TPR - FPR| and the highest threshold that attains it."""
    points = roc_points(y_true, y_score, weights)
    if points is None:
        return None
    distances = [abs(y - x) for x, y in points]
    row = distances.index(max(distances))
    return Crossing(distances[row], threshold_counts(y_true, y_score, weights)[row].threshold)


def break_even_point(y_true: Any, y_score: Any, weights: Any = None) -> Crossing | None:
    """Return the recall where as many are predicted positive as are positive; counts are linear within ties."""
    steps = threshold_counts(y_true, y_score, weights)
    n_pos = steps[-1].tp
    for old, new in pairwise(steps):
        before, after = old.tp + old.fp, new.tp + new.fp
        if before < n_pos <= after:
            tp = old.tp + (n_pos - before) / (after - before) * (new.tp - old.tp)
            return Crossing(tp / n_pos, new.threshold) if tp else None
    return None


def equal_error_rate(y_true: Any, y_score: Any, weights: Any = None, *, on_hull: bool = False) -> Crossing | None:
    """Return the FPR where the ROC polyline, or its hull, crosses FPR = 1 - TPR."""
    points = roc_points(y_true, y_score, weights)
    if points is None:
        return None
    thresholds = [step.threshold for step in threshold_counts(y_true, y_score, weights)]
    rows = hull_rows(points) if on_hull else list(range(len(points)))
    for i, j in pairwise(rows):
        (x0, y0), (x1, y1) = points[i], points[j]
        if x0 + y0 < 1 <= x1 + y1:
            share = (1 - x0 - y0) / (x1 + y1 - x0 - y0)
            return Crossing(x0 + share * (x1 - x0), thresholds[j])
    raise AssertionError("a ROC curve goes from (0, 0) to (1, 1)")


# Metrics of one threshold -----------------------------------------------------------------------------------------


def ratio(numerator: Fraction, denominator: Fraction) -> Fraction | None:
    return numerator / denominator if denominator else None


def endless(numerator: Fraction, denominator: Fraction) -> Fraction | float | None:
    """Divide; a number above 0 over 0 is infinite."""
    return math.inf if numerator and not denominator else ratio(numerator, denominator)


def both(a: Fraction | None, b: Fraction | None, combine: Callable[[Fraction, Fraction], Fraction]) -> Fraction | None:
    return None if a is None or b is None else combine(a, b)


def _matthews(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> float | None:
    squared = ratio((tp * tn - fp * fn) ** 2, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return None if squared is None else math.copysign(math.sqrt(squared), 1 if tp * tn >= fp * fn else -1)


def _kappa(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Fraction | None:
    n = tp + fp + fn + tn
    chance = ((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / n**2
    return ratio((tp + tn) / n - chance, 1 - chance)


# By name in fastevals' registry; each is a function of (tp, fp, fn, tn).
CELL_METRICS: dict[str, Callable[..., Any]] = {
    "accuracy": lambda tp, fp, fn, tn: ratio(tp + tn, tp + fp + fn + tn),
    "error_rate": lambda tp, fp, fn, tn: ratio(fp + fn, tp + fp + fn + tn),
    "expected_cost": lambda tp, fp, fn, tn: ratio(fp + fn, tp + fp + fn + tn),
    "precision": lambda tp, fp, fn, tn: ratio(tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: ratio(tp, tp + fn),
    "specificity": lambda tp, fp, fn, tn: ratio(tn, tn + fp),
    "false_positive_rate": lambda tp, fp, fn, tn: ratio(fp, tn + fp),
    "false_negative_rate": lambda tp, fp, fn, tn: ratio(fn, tp + fn),
    "negative_predictive_value": lambda tp, fp, fn, tn: ratio(tn, tn + fn),
    "positive_likelihood_ratio": lambda tp, fp, fn, tn: both(ratio(tp, tp + fn), ratio(fp, tn + fp), endless),
    "negative_likelihood_ratio": lambda tp, fp, fn, tn: both(ratio(fn, tp + fn), ratio(tn, tn + fp), endless),
    "diagnostic_odds_ratio": lambda tp, fp, fn, tn: endless(tp * tn, fp * fn),
    "prevalence": lambda tp, fp, fn, tn: ratio(tp + fn, tp + fp + fn + tn),
    "prediction_rate": lambda tp, fp, fn, tn: ratio(tp + fp, tp + fp + fn + tn),
    "fowlkes_mallows": lambda tp, fp, fn, tn: both(
        ratio(tp, tp + fp), ratio(tp, tp + fn), lambda a, b: math.sqrt(a * b)
    ),
    "markedness": lambda tp, fp, fn, tn: both(ratio(tp, tp + fp), ratio(tn, tn + fn), lambda a, b: a + b - 1),
    "f1": lambda tp, fp, fn, tn: ratio(2 * tp, 2 * tp + fp + fn),
    "jaccard": lambda tp, fp, fn, tn: ratio(tp, tp + fp + fn),
    "balanced_accuracy": lambda tp, fp, fn, tn: both(ratio(tp, tp + fn), ratio(tn, tn + fp), lambda a, b: (a + b) / 2),
    "informedness": lambda tp, fp, fn, tn: both(ratio(tp, tp + fn), ratio(fp, tn + fp), lambda a, b: a - b),
    "matthews": _matthews,
    "cohen_kappa": _kappa,
}
LOWER_IS_BETTER = {
    "error_rate", "expected_cost", "false_positive_rate", "false_negative_rate", "negative_likelihood_ratio"
}  # fmt: skip
NEITHER_IS_BETTER = {"prevalence", "prediction_rate"}


def best_threshold(metric: Callable[..., Any], maximize: bool, y_true: Any, y_score: Any, weights: Any = None) -> Any:
    """Try every threshold from +inf down; keep the first best one."""
    best = None
    for threshold, cell in cells(y_true, y_score, weights):
        value = metric(*cell)
        if value is not None and (best is None or (value > best.value if maximize else value < best.value)):
            best = Crossing(value, threshold)
    return best


def threshold_for(constraint: str, limit: float, y_true: Any, y_score: Any, weights: Any = None) -> Crossing | None:
    """Try every threshold from +inf down; keep the first best one within the limit.

    A rate is within a limit if its nearest float is: 1/10 is at least 0.1.
    """
    held, other = {
        "precision": ("precision", "recall"),
        "recall": ("recall", "precision"),
        "fpr": ("false_positive_rate", "recall"),
        "tpr": ("recall", "false_positive_rate"),
        "n_predicted": (None, "recall"),
    }[constraint]
    if constraint == "n_predicted":  # filled, whatever the metric
        within = [(cell[0] + cell[1], threshold, cell) for threshold, cell in cells(y_true, y_score, weights)]
        _, threshold, cell = max(each for each in within if each[0] <= limit)
        return Crossing(CELL_METRICS["recall"](*cell), threshold)
    best = None
    for threshold, cell in cells(y_true, y_score, weights):
        value = cell[0] + cell[1] if held is None else CELL_METRICS[held](*cell)
        if value is None or (float(value) > limit if constraint in ("fpr", "n_predicted") else float(value) < limit):
            continue
        gained = CELL_METRICS[other](*cell)
        if gained is not None and (
            best is None or (gained < best.value if other == "false_positive_rate" else gained > best.value)
        ):
            best = Crossing(gained, threshold)
    return best


def expected_cost(
    y_true: Any,
    y_score: Any,
    threshold: Any,
    weights: Any = None,
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    prior: float | None = None,
) -> Fraction | None:
    """Return p cost_fn FNR + (1 - p) cost_fp FPR, where p is the prior or the share of positives."""
    (tn, fp), (fn, tp) = confusion_at(y_true, y_score, threshold, weights)
    n = tp + fp + fn + tn
    if prior is None:
        return (Fraction(cost_fn) * fn + Fraction(cost_fp) * fp) / n
    if not (tp + fn and fp + tn):
        return None
    p = Fraction(prior)
    return p * Fraction(cost_fn) * fn / (tp + fn) + (1 - p) * Fraction(cost_fp) * fp / (fp + tn)
