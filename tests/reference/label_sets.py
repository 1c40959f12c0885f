"""Slow, obvious twins of metrics of rows that may have many labels, straight from the definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Row = tuple[Sequence[Any], Sequence[Any]]  # flags and scores of a row's labels


def mean(rows: Sequence[Row], weights: Sequence[Any], value: Callable[[Any, Any], Fraction | None]) -> Fraction | None:
    """Return the mean of a value over the rows that have one."""
    values = [(Fraction(w), value(*row)) for row, w in zip(rows, weights, strict=True)]
    counted = [(w, each) for w, each in values if each is not None]
    total = sum((w for w, _ in counted), Fraction(0))
    return sum((w * each for w, each in counted), Fraction(0)) / total if total else None


def coverage_error(flags: Any, scores: Any) -> Fraction:
    """Count the labels that score at least as high as the lowest true label."""
    true = [s for f, s in zip(flags, scores, strict=True) if f]
    return Fraction(sum(s >= min(true) for s in scores)) if true else Fraction(0)


def pairs(flags: Any, scores: Any) -> list[tuple[Any, Any]]:
    """Return the scores of all pairs of a true and another label."""
    true, others = ([s for f, s in zip(flags, scores, strict=True) if bool(f) == of] for of in (True, False))
    return [(a, b) for a in true for b in others]


def label_ranking_loss(flags: Any, scores: Any) -> Fraction:
    """Count pairs with the other label at least as high."""
    found = pairs(flags, scores)
    return Fraction(sum(b >= a for a, b in found), len(found)) if found else Fraction(0)


def roc_auc(flags: Any, scores: Any) -> Fraction | None:
    """Count pairs in order, ties half."""
    found = pairs(flags, scores)
    return Fraction(sum(2 * (a > b) + (a == b) for a, b in found), 2 * len(found)) if found else None


def average_precision(flags: Any, scores: Any) -> Fraction | None:
    """Return the mean precision at the ranks of true labels."""
    rows = [*zip(flags, scores, strict=True)]
    true = [s for f, s in rows if f]
    if not true:
        return None
    return sum((Fraction(sum(t >= s for t in true), sum(t >= s for t in scores)) for s in true), Fraction(0)) / len(
        true
    )


def label_ranking_average_precision(flags: Any, scores: Any) -> Fraction:
    """Return the same, and 1 for rows with all labels or none."""
    found = average_precision(flags, scores)
    return Fraction(1) if found is None or all(flags) else found


def cells(flags: Any, scores: Any, limits: Any) -> tuple[int, int, int, int]:
    """Return tp, fp, fn, tn of a row."""
    both = [(bool(f), s >= t) for f, s, t in zip(flags, scores, limits, strict=True)]
    return tuple(both.count(each) for each in ((True, True), (False, True), (True, False), (False, False)))  # type: ignore[return-value]


def subset_accuracy(flags: Any, scores: Any, limits: Any) -> Fraction:
    """Compare the sets."""
    _, fp, fn, _ = cells(flags, scores, limits)
    return Fraction(int(fp == fn == 0))


def multilabel_hamming_loss(flags: Any, scores: Any, limits: Any) -> Fraction:
    """Count wrong labels."""
    _, fp, fn, _ = cells(flags, scores, limits)
    return Fraction(fp + fn, len(flags))


def f1(flags: Any, scores: Any, limits: Any) -> Fraction | None:
    """Return F1 of a row; undefined without true and predicted labels."""
    tp, fp, fn, _ = cells(flags, scores, limits)
    return Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else None
