"""Slow, obvious twins of metrics of many models: one model after the other, from the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.reference import delong as reference_delong
from tests.reference import ranking as reference


def of_each(shared_or_each: Any, n_models: int) -> list[Any]:
    """Return each model's labels or weights, from shared ones or a list of them."""
    if shared_or_each is None or not isinstance(shared_or_each[0], (list, tuple)):
        return [shared_or_each] * n_models
    return list(shared_or_each)


def aucs(y_true: Any, scores: Sequence[Any], weights: Any = None) -> list[float]:
    """Return each model's AUC, rounded once; NaN where a class is missing."""
    n = len(scores)
    found = map(reference.roc_auc, of_each(y_true, n), scores, of_each(weights, n))
    return [math.nan if each is None else float(each) for each in found]


def standard_errors(y_true: Any, scores: Sequence[Any]) -> list[float]:
    """Return DeLong's standard error of each model's AUC; NaN with fewer than two rows of a class."""
    found = []
    for labels, values in zip(of_each(y_true, len(scores)), scores, strict=True):
        if min(sum(labels), len(labels) - sum(labels)) < 2:
            found.append(math.nan)
        else:
            _, covariance = reference_delong.delong(labels, [values])
            found.append(math.sqrt(float(covariance[0][0])))
    return found


def doubled_u(flags: Sequence[int], scores: Sequence[Any]) -> int:
    """Compare all pairs: 2 for a correctly ranked pair, 1 for a tie."""
    pairs = [
        (p, n) for p, i in zip(scores, flags, strict=True) if i for n, j in zip(scores, flags, strict=True) if not j
    ]
    return sum(2 if p > n else p == n for p, n in pairs)


def squares(flags: Sequence[int], scores: Sequence[Any]) -> tuple[int, int]:
    """Sum squares of doubled placements (rows of the other class below; ties half) of negatives and positives."""

    def placed(score: Any, other: int) -> int:
        against = [each for each, flag in zip(scores, flags, strict=True) if flag == other]
        return sum(2 if score > each else score == each for each in against)

    found = [[placed(s, 1 - k) ** 2 for s, flag in zip(scores, flags, strict=True) if flag == k] for k in (0, 1)]
    return sum(found[0]), sum(found[1])


def accuracies(y_true: Any, predicted: Sequence[Any]) -> list[float]:
    """Return the share of right predictions of each model."""
    truth = of_each(y_true, len(predicted))
    right = [[a == b for a, b in zip(t, p, strict=True)] for t, p in zip(truth, predicted, strict=True)]
    return [float(Fraction(sum(each), len(each))) for each in right]
