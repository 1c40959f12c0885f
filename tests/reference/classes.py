"""Slow, obvious twins of metrics of many classes, in fractions, with pairs counted one by one.

Rows are triples (the row's classes, its scores by class, its weight); a class is its column's number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from tests.reference import calibration
from tests.reference import ranking as reference

Row = tuple[frozenset[int], Sequence[Any], Fraction]


def rows_of(y_true: Any, y_score: Any, labels: Sequence[Any], weights: Any = None) -> list[Row]:
    """Return the rows with positive weight; `y_true` has one label per row, or 0 and 1 per class."""
    rows: list[Row] = []
    for i, scores in enumerate(y_score):
        weight = Fraction(1) if weights is None else reference.exact(weights[i])
        several = hasattr(y_true[i], "__len__")
        has = [bool(flag) for flag in y_true[i]] if several else [label == y_true[i] for label in labels]
        if weight:
            rows.append((frozenset(k for k, yes in enumerate(has) if yes), list(scores), weight))
    return rows


def against_rest(rows: Sequence[Row], k: int) -> tuple[list[bool], list[Any], list[Fraction]]:
    """Return labels, scores and weights of a class against the rest."""
    return [k in has for has, _, _ in rows], [scores[k] for _, scores, _ in rows], [weight for _, _, weight in rows]


def all_as_one(rows: Sequence[Row]) -> tuple[list[bool], list[Any], list[Fraction]]:
    """Return labels, scores and weights of all cells of the indicator matrix."""
    cells = [against_rest(rows, k) for k in range(len(rows[0][1]))]
    flags, scores, weights = zip(*cells, strict=True)
    return list(chain(*flags)), list(chain(*scores)), list(chain(*weights))


def pair_auc(rows: Sequence[Row], j: int, k: int) -> Fraction | None:
    """Return A(j | k): how often column j scores a row of class j higher than a row of class k."""
    right, pairs = Fraction(0), Fraction(0)
    for a_has, a_scores, a_weight in rows:
        for b_has, b_scores, b_weight in rows:
            if j in a_has and k in b_has and j != k:
                pairs += a_weight * b_weight
                tied = Fraction(int(a_scores[j] == b_scores[j]), 2)
                right += a_weight * b_weight * (tied + int(a_scores[j] > b_scores[j]))
    return right / pairs if pairs else None


def support(rows: Sequence[Row], k: int) -> Fraction:
    return sum((weight for has, _, weight in rows if k in has), Fraction(0))


def mean(values: Sequence[Fraction | None], shares: Sequence[Fraction] | None = None) -> Fraction | None:
    """Return the mean, weighted by shares if given; values with a zero share do not count."""
    shares = [Fraction(1)] * len(values) if shares is None else shares
    counted = [(value, share) for value, share in zip(values, shares, strict=True) if share]
    if not counted or any(value is None for value, _ in counted):
        return None
    return sum((value * share for value, share in counted if value is not None), Fraction(0)) / sum(shares)


def one_vs_one(rows: Sequence[Row], weighted: bool = False) -> Fraction | None:
    """Return the mean of (A(j | k) + A(k | j)) / 2 over pairs of classes; unweighted, Hand and Till's M."""
    pairs = list(combinations(range(len(rows[0][1])), 2))
    values = []
    for j, k in pairs:
        first, second = pair_auc(rows, j, k), pair_auc(rows, k, j)
        values.append(None if first is None or second is None else (first + second) / 2)
    return mean(values, [support(rows, j) + support(rows, k) for j, k in pairs] if weighted else None)


# Metrics of rows with one label ---------------------------------------------------------------------------------------


def hand_till(rows: Sequence[Row]) -> Fraction | None:
    return one_vs_one(rows)


def class_of(row: Row) -> int:
    (k,) = row[0]
    return k


def most_probable(row: Row) -> int:
    return max(range(len(row[1])), key=lambda k: (row[1][k], -k))


def mean_of_rows(rows: Sequence[Row], loss: Any) -> Any:
    return sum(weight * loss((has, scores, weight)) for has, scores, weight in rows) / sum(each[2] for each in rows)


def multiclass_log_loss(rows: Sequence[Row]) -> float:
    if any(row[1][class_of(row)] == 0 for row in rows):
        return math.inf
    return float(mean_of_rows(rows, lambda row: Fraction(-math.log(row[1][class_of(row)]))))


def multiclass_brier_score(rows: Sequence[Row]) -> Fraction:
    def distance(row: Row) -> Fraction:
        own = class_of(row)
        return sum(((reference.exact(p) - (k == own)) ** 2 for k, p in enumerate(row[1])), Fraction(0))

    return Fraction(mean_of_rows(rows, distance))


def ranked_probability_score(rows: Sequence[Row]) -> Fraction:
    def distance(row: Row) -> Fraction:
        own, scores, last = class_of(row), [reference.exact(p) for p in row[1]], len(row[1]) - 1
        return sum(((sum(scores[: k + 1]) - (own <= k)) ** 2 for k in range(last)), Fraction(0)) / last

    return Fraction(mean_of_rows(rows, distance))


def top_k_accuracy(rows: Sequence[Row], k: int = 3) -> Fraction:
    def hit(row: Row) -> int:
        best = sorted(range(len(row[1])), key=lambda j: (-row[1][j], j))[:k]
        return int(class_of(row) in best)

    return Fraction(mean_of_rows(rows, hit))


def top_label_calibration_error(rows: Sequence[Row], n_bins: int = 10) -> Fraction:
    right, highest = [most_probable(row) == class_of(row) for row in rows], [max(row[1]) for row in rows]
    weights = [row[2] for row in rows]
    bins = calibration.calibration(calibration.uniform_edges(n_bins), right, highest, weights)
    return calibration.expected_calibration_error(bins)
