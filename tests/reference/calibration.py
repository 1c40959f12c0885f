"""Slow, obvious twins of the metrics of probabilities, row by row, in fractions where possible.

Every function takes ``(y_true, y_score, weights=None)`` first, as in `tests.reference.ranking`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from tests.reference.ranking import Row, exact, rows_of, total


class Bin(NamedTuple):
    """The contents of a bin; `mean` and `share` are None if it is empty."""

    mean: Fraction | None
    share: Fraction | None
    weight: Fraction


class Parts(NamedTuple):
    reliability: Fraction
    resolution: Fraction
    uncertainty: Fraction
    within_bin_variance: Fraction
    within_bin_covariance: Fraction


def weight_of(rows: Sequence[Row]) -> Fraction:
    return total(rows, True) + total(rows, False)


def mean(rows: Sequence[Row], value: Any) -> Fraction:
    return sum((row.weight * value(row) for row in rows), Fraction(0)) / weight_of(rows)


def label(row: Row) -> int:
    return int(row.positive)


def probability(row: Row) -> Fraction:
    return exact(row.score)


def brier_score(y_true: Any, y_score: Any, weights: Any = None) -> Fraction:
    return mean(rows_of(y_true, y_score, weights), lambda row: (probability(row) - label(row)) ** 2)


def log_loss(y_true: Any, y_score: Any, weights: Any = None) -> float:
    rows = rows_of(y_true, y_score, weights)
    with localcontext(prec=1200):  # 1 - 5e-324 has more than a thousand digits
        loss = Decimal(0)
        for row in rows:
            p = Decimal(float(row.score))
            of_label = p if row.positive else 1 - p
            if not of_label:
                return math.inf
            with localcontext(prec=60):
                # The difference from 1 is -log(1 - x) to first order, where 60 digits do not show it.
                loss += decimal(row.weight) * (1 - of_label if of_label > 1 - Decimal("1e-40") else -of_label.ln())
        return float(loss / decimal(weight_of(rows)))


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


# Bins -------------------------------------------------------------------------------------------------------------


def uniform_edges(n_bins: int) -> list[float]:
    return [k / n_bins for k in range(n_bins + 1)]


def quantile_edges(n_bins: int, y_true: Any, y_score: Any, weights: Any = None) -> list[float]:
    """Use the lowest probability with a share of k / n_bins at or below it, unless nothing lies above."""
    rows = rows_of(y_true, y_score, weights)
    edges = []
    for k in range(1, n_bins):
        enough = [p for p in {row.score for row in rows} if share_up_to(rows, p) >= Fraction(k, n_bins)]
        edge = float(min(enough))
        if edge not in edges and share_up_to(rows, edge) < 1:
            edges.append(edge)
    return [0.0, *edges, 1.0]


def share_up_to(rows: Sequence[Row], p: float) -> Fraction:
    return weight_of([row for row in rows if row.score <= p]) / weight_of(rows)


def rows_in_bins(edges: Sequence[float], rows: Sequence[Row]) -> list[list[Row]]:
    """Put each row into the first bin whose upper edge is at or above its probability."""
    bins: list[list[Row]] = [[] for _ in edges[1:]]
    for row in rows:
        bins[next(k for k, edge in enumerate(edges[1:]) if row.score <= edge)].append(row)
    return bins


def calibration(edges: Sequence[float], y_true: Any, y_score: Any, weights: Any = None) -> list[Bin]:
    return [
        Bin(mean(rows, probability), mean(rows, label), weight_of(rows)) if rows else Bin(None, None, Fraction(0))
        for rows in rows_in_bins(edges, rows_of(y_true, y_score, weights))
    ]


def gaps(bins: Sequence[Bin]) -> list[tuple[Fraction, Fraction]]:
    """Return the weight of each non-empty bin and the distance of its two means."""
    return [(b.weight, abs(b.share - b.mean)) for b in bins if b.share is not None and b.mean is not None]


def expected_calibration_error(bins: Sequence[Bin]) -> Fraction:
    return sum((w * gap for w, gap in gaps(bins)), Fraction(0)) / sum(w for w, _ in gaps(bins))


def mean_square_calibration_error(bins: Sequence[Bin]) -> Fraction:
    return sum((w * gap**2 for w, gap in gaps(bins)), Fraction(0)) / sum(w for w, _ in gaps(bins))


def brier_parts(edges: Sequence[float] | None, y_true: Any, y_score: Any, weights: Any = None) -> Parts:
    """Split the Brier score over bins, or over distinct probabilities without edges."""
    rows = rows_of(y_true, y_score, weights)
    if edges is None:
        bins = [[row for row in rows if row.score == p] for p in {row.score for row in rows}]
    else:
        bins = [filled for filled in rows_in_bins(edges, rows) if filled]
    n, base = weight_of(rows), mean(rows, label)
    parts = [Fraction(0)] * 4
    for inside in bins:
        p, share, weight = mean(inside, probability), mean(inside, label), weight_of(inside)
        of_bin = (
            weight * (p - share) ** 2,
            weight * (share - base) ** 2,
            sum((row.weight * (probability(row) - p) ** 2 for row in inside), Fraction(0)),
            2 * sum((row.weight * (label(row) - share) * (probability(row) - p) for row in inside), Fraction(0)),
        )
        parts = [part + of / n for part, of in zip(parts, of_bin, strict=True)]
    return Parts(parts[0], parts[1], base * (1 - base), parts[2], parts[3])


# Decisions --------------------------------------------------------------------------------------------------------


def net_benefit(pt: float, prior: Any, y_true: Any, y_score: Any, weights: Any = None) -> Fraction | None:
    """Count the treated at probability `pt`; `prior` None stands for the share of positives."""
    rows = rows_of(y_true, y_score, weights)
    treated = [row for row in rows if row.score >= pt]
    n_pos, n_neg = total(rows, True), total(rows, False)
    if prior is not None and not (n_pos and n_neg):
        return None
    odds = Fraction(pt) / (1 - Fraction(pt))
    if prior is None:
        return total(treated, True) / (n_pos + n_neg) - total(treated, False) / (n_pos + n_neg) * odds
    return Fraction(prior) * total(treated, True) / n_pos - (1 - Fraction(prior)) * total(treated, False) / n_neg * odds
