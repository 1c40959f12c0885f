"""Slow, obvious twins of the permutation tests: every swap of every row, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from tests.reference import confusion as reference_confusion
from tests.reference import ranking as reference
from tests.reference import regression as reference_regression

Metric = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any]


def matrix_of(y: Sequence[Any], p: Sequence[Any], labels: Sequence[Any]) -> list[list[Any]]:
    return reference_confusion.confusion(y, p, labels)[0]


def _rate(name: str, average: str) -> Metric:
    return lambda y, p, labels: reference_confusion.averaged(
        reference_confusion.RATES[name], matrix_of(y, p, labels), average
    )


def _error(name: str) -> Metric:
    return lambda y, p, labels: reference_regression.metrics(y, p)[name]


# Functions of truth, outputs, and all labels in order.
METRICS: dict[str, Metric] = {
    "accuracy": lambda y, p, labels: reference_confusion.accuracy(matrix_of(y, p, labels)),
    "matthews": lambda y, p, labels: reference_confusion.matthews(matrix_of(y, p, labels)),
    "cohen_kappa": lambda y, p, labels: reference_confusion.cohen_kappa(matrix_of(y, p, labels)),
    "f1": _rate("f_score", "binary"),
    "precision": _rate("precision", "binary"),
    "macro_f1": _rate("f_score", "macro"),
    "roc_auc": lambda y, p, labels: reference.roc_auc(y, p),
    "average_precision": lambda y, p, labels: reference.average_precision(y, p),
    "mean_squared_error": _error("mean_squared_error"),
    "root_mean_squared_error": _error("root_mean_squared_error"),
    "mean_absolute_error": _error("mean_absolute_error"),
    "median_absolute_error": _error("median_absolute_error"),
    "mean_absolute_percentage_error": _error("mean_absolute_percentage_error"),
    "pinball_loss": _error("pinball_loss"),
    "r2": _error("r2"),
}


def swap_differences(metric: str, y: Sequence[Any], a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Return a metric's difference for each set of swapped rows, None if undefined; the data's difference is first."""
    labels = sorted({*y, *a, *b})
    found = []
    for swapped in product((False, True), repeat=len(y)):
        pairs = [(q, p) if swap else (p, q) for p, q, swap in zip(a, b, swapped, strict=True)]
        values = [METRICS[metric](y, outputs, labels) for outputs in zip(*pairs, strict=True)]
        found.append(None if None in values else values[0] - values[1])
    return found


def sign_flips(a: Sequence[float], b: Sequence[float]) -> list[Fraction]:
    """Return the exact mean difference for each set of signs; the data's difference is first."""
    differences = [Fraction(p) - Fraction(q) for p, q in zip(a, b, strict=True)]
    return [
        sum((-d if flip else d for d, flip in zip(differences, flips, strict=True)), Fraction(0)) / len(differences)
        for flips in product((False, True), repeat=len(differences))
    ]


def exact_pvalue(values: Sequence[Any], alternative: str) -> float:
    """Return the share of defined values as extreme as the first, the data's; nearly equal floats count as equal."""
    side: Any = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    defined = [value for value in values if value is not None]
    least = side(values[0]) - Fraction(1, 10**10) * (not isinstance(values[0], Fraction))
    return sum(side(value) >= least for value in defined) / len(defined)
