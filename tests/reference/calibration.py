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


def mean_predicted(y_true: Any, y_score: Any, weights: Any = None) -> Fraction:
    return mean(rows_of(y_true, y_score, weights), probability)


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


def root_mean_square_calibration_error(bins: Sequence[Bin]) -> float:
    return math.sqrt(mean_square_calibration_error(bins))


def maximum_calibration_error(bins: Sequence[Bin]) -> Fraction:
    return max(gap for _, gap in gaps(bins))


def debiased_squared_calibration_error(edges: Sequence[float], y_true: Any, y_score: Any) -> Fraction | None:
    """Average products of the residuals of two different rows in each bin of two rows or more."""
    several = [rows for rows in rows_in_bins(edges, rows_of(y_true, y_score)) if len(rows) > 1]
    if not several:
        return None
    total = Fraction(0)
    for rows in several:
        residuals = [label(row) - probability(row) for row in rows]
        products = [u * v for i, u in enumerate(residuals) for j, v in enumerate(residuals) if i != j]
        total += len(rows) * sum(products, Fraction(0)) / len(products)
    return total / sum(len(rows) for rows in several)


def debiased_calibration_error(edges: Sequence[float], y_true: Any, y_score: Any) -> float:
    return math.sqrt(max(debiased_squared_calibration_error(edges, y_true, y_score) or 0, 0))


def debiased_moments(
    edges: Sequence[float], y_true: Any, y_score: Any, weights: Any, clusters: Any, at: float
) -> tuple[float, float, float]:
    """Return the debiased square, its variance if calibrated, and its variance if the true square is `at`.

    A cluster is a unit whose residual in a bin is the sum over its rows; without clusters each row is a unit. With
    clusters, the variance if calibrated comes from the sums themselves; otherwise from p (1 - p).
    """
    n = len(y_true)
    units = sorted(set(range(n) if clusters is None else clusters))
    weight = [[0.0] * (len(edges) - 1) for _ in units]
    residual = [[0.0] * (len(edges) - 1) for _ in units]
    variance = [[0.0] * (len(edges) - 1) for _ in units]
    for i in range(n):
        unit = units.index(i if clusters is None else clusters[i])
        b = next(k for k, edge in enumerate(edges[1:]) if y_score[i] <= edge)
        w, p = 1.0 if weights is None else float(weights[i]), float(y_score[i])
        weight[unit][b] += w
        residual[unit][b] += w * (y_true[i] - p)
        variance[unit][b] += w * w * p * (1 - p)
    bins, others = range(len(edges) - 1), [(i, j) for i in range(len(units)) for j in range(len(units)) if i != j]
    total = sum(map(sum, weight))
    of_bins = [sum(each[b] for each in weight) for b in bins]
    pairs = [sum(weight[i][b] * weight[j][b] for i, j in others) for b in bins]
    factors = [of_bins[b] / total / pairs[b] for b in bins]
    squared = sum(factors[b] * residual[i][b] * residual[j][b] for b in bins for i, j in others)
    gaps = [sum(each[b] for each in residual) / of_bins[b] for b in bins]
    plain = sum(of_bins[b] / total * gaps[b] ** 2 for b in bins)

    def of_squares(centred: list[list[float]]) -> list[list[float]]:
        """Return the covariance of the bins' gaps from the units' sums."""
        return [
            [sum(each[a] * each[b] for each in centred) / math.sqrt(pairs[a] * pairs[b]) for b in bins] for a in bins
        ]

    if clusters is None:
        null = sum(2 * factors[b] ** 2 * variance[i][b] * variance[j][b] for b in bins for i, j in others)
    else:
        table = of_squares(residual)
        null = sum(2 * of_bins[a] / total * table[a][b] * of_bins[b] / total * table[b][a] for a in bins for b in bins)
    centred = [
        [u - gap * w for u, w, gap in zip(*each, gaps, strict=True)] for each in zip(residual, weight, strict=True)
    ]
    table = of_squares(centred)
    linear = sum(
        4 * of_bins[a] / total * gaps[a] * table[a][b] * gaps[b] * of_bins[b] / total for a in bins for b in bins
    )
    quadratic = sum(sum((gaps[b] ** 2 - plain) * each[b] for b in bins) ** 2 for each in weight) / total**2
    ratio = max(at, 0.0) / plain
    return squared, null, null + linear * ratio + quadratic * ratio**2


def smoothed_residual(t: float, bandwidth: float, rows: Sequence[Row]) -> float:
    """Average residuals times a Gaussian density at t that is reflected at 0 and 1, as often as it matters."""
    scale = bandwidth * math.sqrt(2 * math.pi)
    total = 0.0
    for row in rows:
        centres = [2 * k + sign * float(row.score) for k in range(-2, 3) for sign in (1, -1)]
        density = sum(math.exp(-(((t - centre) / bandwidth) ** 2) / 2) for centre in centres) / scale
        total += float(row.weight) * (label(row) - float(row.score)) * density
    return total / float(weight_of(rows))


def smooth_calibration_error_at(bandwidth: float, y_true: Any, y_score: Any, weights: Any = None) -> float:
    rows, n = rows_of(y_true, y_score, weights), 600
    return sum(abs(smoothed_residual((k + 0.5) / n, bandwidth, rows)) for k in range(n)) / n


def smooth_calibration_error(y_true: Any, y_score: Any, weights: Any = None) -> float:
    """Halve the interval of bandwidths until its ends agree: the error falls as the bandwidth grows."""
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        if smooth_calibration_error_at(middle, y_true, y_score, weights) > middle:
            low = middle
        else:
            high = middle
    return high


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
