"""Slow, obvious twins of all methods of a confusion matrix, in dictionaries and fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.reference.ranking import CELL_METRICS

Matrix = Sequence[Sequence[Any]]
Value = Fraction | None


def plain(label: Any) -> Any:
    """Return a label as a plain Python object."""
    return label.item() if hasattr(label, "item") else label


def confusion(
    y_true: Sequence[Any], y_pred: Sequence[Any], labels: Sequence[Any] | None = None, weights: Any = None
) -> tuple[list[list[Any]], list[Any]]:
    """Count pairs in a dictionary; return the matrix and the labels."""
    weights = [1] * len(y_true) if weights is None else [plain(weight) for weight in weights]
    cells: Counter[tuple[Any, Any]] = Counter()
    for true, predicted, weight in zip(y_true, y_pred, weights, strict=True):
        if weight != 0:
            cells[plain(true), plain(predicted)] += weight
    if labels is None:
        labels = sorted({label for pair in cells for label in pair})
    return [[cells[plain(t), plain(p)] for p in labels] for t in labels], [plain(label) for label in labels]


def fractions(matrix: Matrix) -> list[list[Fraction]]:
    return [[Fraction(plain(count)) for count in row] for row in matrix]


def ratio(numerator: Fraction, denominator: Fraction) -> Value:
    return None if denominator == 0 else numerator / denominator


def one_vs_rest(matrix: Matrix) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """Return (tp, fp, fn, tn) of each class."""
    m = fractions(matrix)
    total = sum(map(sum, m), Fraction(0))
    result = []
    for k in range(len(m)):
        tp = m[k][k]
        fp = sum((row[k] for row in m), Fraction(0)) - tp
        fn = sum(m[k], Fraction(0)) - tp
        result.append((tp, fp, fn, total - tp - fp - fn))
    return result


def f_score(tp: Fraction, fp: Fraction, fn: Fraction, beta: float = 1.0) -> Value:
    b = Fraction(beta) ** 2
    return ratio((1 + b) * tp, (1 + b) * tp + b * fn + fp)


RATES = {
    "precision": lambda tp, fp, fn, tn: ratio(tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: ratio(tp, tp + fn),
    "specificity": lambda tp, fp, fn, tn: ratio(tn, tn + fp),
    "jaccard": lambda tp, fp, fn, tn: ratio(tp, tp + fp + fn),
    "f_score": lambda tp, fp, fn, tn: f_score(tp, fp, fn),
}
RATES |= {
    name: CELL_METRICS[name]
    for name in (
        "negative_predictive_value", "positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio",
        "prevalence", "prediction_rate", "fowlkes_mallows", "markedness",
    )
}  # fmt: skip


def averaged(rate: Any, matrix: Matrix, average: str | None) -> Any:
    """Average a rate of (tp, fp, fn, tn) over classes; None if it is undefined."""
    cells = one_vs_rest(matrix)
    if average == "binary":
        return rate(*cells[1])
    if average == "micro":
        return rate(*(sum(cell, Fraction(0)) for cell in zip(*cells, strict=True)))
    values = [rate(*cell) for cell in cells]
    if average is None:
        return values
    if average == "macro":
        return None if None in values else sum(values, Fraction(0)) / len(values)
    support = [tp + fn for tp, _, fn, _ in cells]
    if any(value is None and there for value, there in zip(values, support, strict=True)) or not sum(support):
        return None
    return sum((v * s for v, s in zip(values, support, strict=True) if s), Fraction(0)) / sum(support)


def accuracy(matrix: Matrix) -> Value:
    m = fractions(matrix)
    return ratio(sum((m[k][k] for k in range(len(m))), Fraction(0)), sum(map(sum, m), Fraction(0)))


def balanced_accuracy(matrix: Matrix) -> Value:
    cells = one_vs_rest(matrix)
    if any(tp + fn == 0 for tp, _, fn, _ in cells):
        return None
    return sum((tp / (tp + fn) for tp, _, fn, _ in cells), Fraction(0)) / len(cells)


def matthews(matrix: Matrix) -> float | None:
    """Compute Gorodkin's correlation for K classes, rounded once."""
    m = fractions(matrix)
    total, t, p = sum(map(sum, m)), [sum(row) for row in m], [sum(col) for col in zip(*m, strict=True)]
    right = sum(m[k][k] for k in range(len(m)))
    covariance = total * right - sum(a * b for a, b in zip(t, p, strict=True))
    variances = (total**2 - sum(a * a for a in t)) * (total**2 - sum(b * b for b in p))
    if not variances:
        return None
    squared = Fraction(covariance) ** 2 / variances
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = 60, -(10**6), 10**6
        root = (Decimal(squared.numerator) / Decimal(squared.denominator)).sqrt()
    return math.copysign(float(root), covariance)


def cohen_kappa(matrix: Matrix) -> Value:
    m = fractions(matrix)
    total = sum(map(sum, m), Fraction(0))
    by_chance = sum((sum(row) * sum(col) for row, col in zip(m, zip(*m, strict=True), strict=True)), Fraction(0))
    right = sum((m[k][k] for k in range(len(m))), Fraction(0))
    return ratio(total * right - by_chance, total**2 - by_chance)


def cost(matrix: Matrix, costs: Matrix) -> Fraction:
    return sum(
        (
            n * c
            for row, prices in zip(fractions(matrix), fractions(costs), strict=True)
            for n, c in zip(row, prices, strict=True)
        ),
        Fraction(0),
    )
