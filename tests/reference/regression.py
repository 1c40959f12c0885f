"""Slow, obvious twins of the regression metrics, in exact arithmetic on the rounded errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

EPSILON = Fraction(1, 2**52)


def metrics(
    y_true: Sequence[float], y_pred: Sequence[float], weights: Sequence[float] | None = None, quantile: float = 0.5
) -> dict[str, float]:
    """Compute each metric from its definition; r2 is NaN if the targets are constant."""
    rows = [
        (Fraction(y), Fraction(y) - Fraction(p), Fraction(w))
        for y, p, w in zip(y_true, y_pred, weights or [1.0] * len(y_true), strict=True)
        if w
    ]
    weight = sum(w for *_, w in rows)
    q = Fraction(quantile)
    square = sum(w * e * e for _, e, w in rows)
    mean = sum(w * y for y, _, w in rows) / weight
    scatter = sum(w * (y - mean) ** 2 for y, _, w in rows)
    return {
        "mean_squared_error": rounded(square / weight),
        "root_mean_squared_error": root(square / weight),
        "mean_absolute_error": float(sum(w * abs(e) for _, e, w in rows) / weight),
        "median_absolute_error": median_absolute_error(y_true, y_pred, weights),
        "mean_absolute_percentage_error": float(sum(w * abs(e) / max(abs(y), EPSILON) for y, e, w in rows) / weight),
        "r2": float(1 - square / scatter) if scatter else math.nan,
        "mean_error": float(-sum(w * e for _, e, w in rows) / weight),
        "pinball_loss": float(sum(w * max(q * e, (q - 1) * e) for _, e, w in rows) / weight),
    }


def rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def root(value: Fraction) -> float:
    return float(Fraction(math.isqrt(value.numerator * 4**1200 // value.denominator), 2**1200))


def median_absolute_error(
    y_true: Sequence[float], y_pred: Sequence[float], weights: Sequence[float] | None = None
) -> float:
    """Return the mean of the lower and upper weighted median of the errors, as floats."""
    pairs = zip(y_true, y_pred, weights or [1.0] * len(y_true), strict=True)
    rows = sorted((abs(float(y) - float(p)), Fraction(w)) for y, p, w in pairs if w)
    half = sum(w for _, w in rows) / 2
    lower = next(e for i, (e, _) in enumerate(rows) if sum(w for _, w in rows[: i + 1]) >= half)
    upper = next(e for i, (e, _) in reversed(list(enumerate(rows))) if sum(w for _, w in rows[i:]) >= half)
    return (lower + upper) / 2


def deviance(y: float, p: float, power: float) -> float:
    """Compute the Tweedie deviance from its definition in 100 digits; nearly equal values leave half of them."""
    with localcontext(Context(prec=100, Emin=-(10**6), Emax=10**6)):
        true, predicted, d = Decimal(y), Decimal(p), Decimal(power)
        if d == 0:
            return float((true - predicted) ** 2)
        if d == 1:
            half = (true * (true / predicted).ln() if true else 0) - true + predicted
        elif d == 2:
            half = -(true / predicted).ln() + true / predicted - 1
        else:
            first = true ** (2 - d) / ((1 - d) * (2 - d)) if true > 0 else Decimal(0)
            half = first - true * predicted ** (1 - d) / (1 - d) + predicted ** (2 - d) / (2 - d)
        return float(2 * half)
