"""DeLong's covariance of the AUCs of several classes: of each class against the rest, their mean, and M.

Each AUC is a mean over rows, up to terms that vanish: a row's deviation is its placement minus the mean placement,
divided by the root of n (n - 1) for the n rows of its side. The covariance of two AUCs is the sum over rows of products
of deviations. For a single class against the rest it is DeLong's variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals.infer.delong.weighted import WeightedMoments
from fastevals.measure.class_scores import ClassScores

Floats = NDArray[np.float64]
AveragedAuc = Literal[None, "macro", "hand_till"]


class RankedAucs(NamedTuple):
    """AUCs of models and classes, and the deviations of rows, of shape (n_aucs, n_rows)."""

    names: tuple[Any, ...]
    aucs: Floats
    deviations: Floats


def class_moments(
    models: Mapping[Any, ClassScores], labels: NDArray[Any], average: AveragedAuc
) -> tuple[tuple[Any, ...], WeightedMoments]:
    """Return the names of the AUCs, and their values and covariance.

    The names are labels of classes, or models with `average`, or pairs of both for several models without it.
    """
    parts = [_moved(scores, average) for scores in models.values()]
    if average is not None:
        names = tuple(models)
    elif len(models) > 1:
        names = tuple((model, label) for model in models for label in labels.tolist())
    else:
        names = tuple(labels.tolist())
    aucs, deviations = (np.concatenate(each) for each in zip(*parts, strict=True))
    codes: Any = next(iter(models.values())).codes
    sizes = np.bincount(codes, minlength=labels.size)
    table: tuple[tuple[float, ...], ...] = ()
    if sizes.min() > 1:
        products = np.array([[_dot(first, second) for second in deviations] for first in deviations])
        table = tuple(map(tuple, products.tolist()))
    return names, WeightedMoments(codes.size, codes.size, tuple(aucs.tolist()), table)


def _dot(first: Floats, second: Floats) -> float:
    """Return a sum of products that does not depend on threads, and is the same for equal rows."""
    return float((first * second).sum())


def _moved(scores: ClassScores, average: AveragedAuc) -> tuple[Floats, Floats]:
    """Return the AUCs of a model, and the deviations of its rows."""
    codes: Any = scores.codes
    sizes = np.bincount(codes, minlength=len(scores.columns))
    if average == "hand_till":
        return _hand_till(scores.columns, codes, sizes)
    found = run(lambda k: _one_versus_rest(scores.columns[k], codes == k), range(len(sizes)))
    aucs, deviations = np.array([auc for auc, _ in found]), np.array([each for _, each in found])
    if average == "macro":
        return aucs.mean(keepdims=True), deviations.mean(axis=0, keepdims=True)
    return aucs, deviations


def _one_versus_rest(column: NDArray[Any], own: NDArray[np.bool_]) -> tuple[float, Floats]:
    """Return the AUC of a class against the rest, and the deviations of rows."""
    n_own, n_rest = int(np.count_nonzero(own)), int(np.count_nonzero(~own))
    if not n_own or not n_rest:
        return np.nan, np.full(own.size, np.nan)
    ranks = _Ranks(column)
    below = ranks.mass_below(~own) / n_rest
    above = 1 - ranks.mass_below(own) / n_own
    placements = np.where(own, below, above)
    auc = float(placements[own].mean())
    return auc, (placements - auc) / np.where(own, _root_of_pairs(n_own), _root_of_pairs(n_rest))


def _hand_till(columns: NDArray[Any], codes: NDArray[Any], sizes: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return M, and the deviations of rows: of a row's placements in the column of its class, and in other columns."""
    if not sizes.all():
        return np.array([np.nan]), np.full((1, codes.size), np.nan)
    n_classes = len(columns)

    def placements(k: int) -> tuple[Floats, float]:
        """Return what a column adds to each row's deviation, and the sum of the AUCs of its class with others."""
        own, ranks = codes == k, _Ranks(columns[k])
        below = ranks.mass_below(np.where(own, 0.0, 1 / sizes[codes]))
        above = 1 - ranks.mass_below(own) / sizes[k]
        with_each = np.bincount(codes, np.where(own, 0.0, above), minlength=n_classes) / sizes
        total = float(with_each.sum())
        return np.where(own, below - total, above - with_each[codes]), total

    parts = run(placements, range(n_classes))
    n_pairs = n_classes * (n_classes - 1)
    value = sum(total for _, total in parts) / n_pairs
    deviations = sum(moved for moved, _ in parts) / n_pairs / _root_of_pairs(sizes)[codes]
    return np.array([value]), np.asarray(deviations)[None]


def _root_of_pairs(n: Any) -> Any:
    """Return the divisor of deviations from a mean of n; infinite for a single row, which has no variance."""
    pairs = np.asarray(n, dtype=np.float64) * (np.asarray(n) - 1)
    return np.where(pairs > 0, np.sqrt(pairs), np.inf)


class _Ranks:
    """The order of a column's scores, and where groups of equal scores start and end."""

    def __init__(self, column: NDArray[Any]) -> None:
        self._order = np.argsort(column, kind="stable")
        scores = column[self._order]
        changes = np.flatnonzero(scores[1:] != scores[:-1]) + 1
        starts = np.concatenate(([0], changes))
        self._starts = np.repeat(starts, np.diff(np.append(starts, scores.size)))
        self._stops = np.repeat(np.append(changes, scores.size), np.diff(np.append(starts, scores.size)))

    def mass_below(self, mass: NDArray[Any]) -> Floats:
        """Return the mass of the rows below each row, plus half of the mass of rows with an equal score."""
        sums = np.concatenate(([0.0], np.cumsum(mass[self._order], dtype=np.float64)))
        below = np.empty(mass.size)
        below[self._order] = (sums[self._starts] + sums[self._stops]) / 2
        return below
