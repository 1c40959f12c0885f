"""DeLong's covariance of the AUCs of several classes: of each class against the rest, their mean, and M.

Each AUC is a mean over rows, up to terms that vanish: a row's deviation is its placement minus the mean placement,
divided by the root of n (n - 1) for the n rows of its side. The covariance of two AUCs is the sum over rows of products
of deviations. For a single class against the rest it is DeLong's variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._options import listed, show, warn_undefined
from fastevals._text import count_of
from fastevals._validation.arrays import as_matrices
from fastevals.infer.delong.result import DelongResult
from fastevals.infer.delong.weighted import WeightedMoments
from fastevals.measure.class_pairs import aucs_by_class, doubled_pairs, hand_till, pair_aucs
from fastevals.measure.class_scores import BaseClassRankings, ClassScores
from fastevals.measure.kinds import CLASSES

Floats = NDArray[np.float64]
AveragedAuc = Literal[None, "macro", "hand_till"]


def delong_of_classes(
    y_true: Any, scores: Any, average: AveragedAuc, labels: Any, beside: dict[str, Any]
) -> ClassDelongResult:
    """Return DeLong's result for AUCs of several classes."""
    for name, value in beside.items():
        if value is not None:
            raise ValueError(f"{name} is not allowed with scores of several classes: call bootstrap")
    names: NDArray[Any]
    models: dict[Any, ClassScores]
    if isinstance(y_true, BaseClassRankings):
        if scores is not None or labels is not None:
            raise ValueError("scores and labels must not be given with a ClassRankings, which has its own")
        names, models = y_true._labels, {0: y_true._scores}
    else:
        labelled, keys = as_matrices("scores", scores)
        names, read = CLASSES.read_weighted(y_true, labelled, labels, None)
        models = dict(zip(keys, read.values(), strict=True))
    first = next(iter(models.values()))
    if first.weights is not None:
        raise ValueError("rows have weights: for several classes with weights, call bootstrap")
    if first.codes is None:
        raise ValueError("y_true must have one label per row, but it is an indicator matrix")
    of_aucs, moments = class_moments(models, names, average)
    if not moments.defined:
        few = np.minimum(first.n_positives, first.n_rows - first.n_positives)
        rarest = int(np.argmin(first.n_positives))
        n = int(first.n_positives[rarest])
        of_some = "" if average is not None or few.max() < 2 else f" for {listed(names[few < 2].tolist())}"
        warn_undefined(
            f"delong's covariance{of_some}", f"class {show(names[rarest])} has {count_of(n, 'row')}, and two are needed"
        )
    return ClassDelongResult(
        moments.aucs(), moments.covariance(), of_aucs if len(models) > 1 or average is None else None,
        tuple(first.n_positives.tolist()), tuple((first.n_rows - first.n_positives).tolist()), moments,
        _several=len(models) > 1 or average is None, labels=names, average=average,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassDelongResult(DelongResult[Any]):
    """AUCs of several classes, or averages of them, and their covariance, as in `DelongResult`.

    Attributes
    ----------
    names : tuple or None
        The labels of the classes; with several models, pairs of a model and a label; with `average`, the models.
    n_positives, n_negatives : tuple of int
        Rows of each class, and rows of the others.
    labels : ndarray of shape (n_classes,)
        The classes.
    average : {None, "macro", "hand_till"}
        Whether the AUCs are of classes, their means, or Hand and Till's M.

    Examples
    --------
    >>> import fastevals
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    >>> classes = fastevals.ClassRankings(["a", "a", "b", "c", "b", "c"], scores)
    >>> fastevals.delong(classes)
    ClassDelongResult(aucs=[0.8125, 1.    , 1.    ], standard_errors=[0.2224, 0.    , 0.    ], n_samples=6)
    >>> round(fastevals.delong(classes, average="hand_till").standard_error, 4)
    0.078
    """

    labels: NDArray[Any] | None = None
    average: AveragedAuc = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(sum(self.n_positives))

    @property
    def _what(self) -> str:
        return {"macro": "macro AUC", "hand_till": "M"}.get(self.average or "", "AUC")

    def _counted_rows(self) -> str:
        return f"{self.n_samples} of {len(self.n_positives)} classes"

    def __repr__(self) -> str:
        return DelongResult.__repr__(self).partition(", n_positives")[0] + f", n_samples={self.n_samples})"


def class_moments(
    models: Mapping[Any, ClassScores], labels: NDArray[Any], average: AveragedAuc
) -> tuple[tuple[Any, ...], WeightedMoments]:
    """Return the names of the AUCs, and their values and covariance.

    The names are labels of classes, or models with `average`, or pairs of both for several models without it. The
    covariances of an AUC are NaN if a class or its rest, or for an average any class, has fewer than two rows.
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
    table = tuple(tuple(_dot(first, second) for second in deviations) for first in deviations)
    return names, WeightedMoments(codes.size, codes.size, tuple(aucs.tolist()), table)


def _dot(first: Floats, second: Floats) -> float:
    """Return a sum of products that does not depend on threads, and is the same for equal rows."""
    return float((first * second).sum())


def _moved(scores: ClassScores, average: AveragedAuc) -> tuple[Floats, Floats]:
    """Return the AUCs of a model, and the deviations of its rows."""
    codes: Any = scores.codes
    sizes = np.bincount(codes, minlength=len(scores.columns))
    if average == "hand_till":
        return hand_till(pair_aucs(scores)).reshape(1), _moved_from_m(scores.columns, codes, sizes)[None]
    aucs = aucs_by_class(doubled_pairs(scores), sizes)
    deviations = np.array(run(lambda k: _moved_from_auc(scores.columns[k], codes == k), range(len(sizes))))
    if average == "macro":
        return aucs.mean(keepdims=True), deviations.mean(axis=0, keepdims=True)
    return aucs, deviations


def _moved_from_auc(column: NDArray[Any], own: NDArray[np.bool_]) -> Floats:
    """Return the deviations of rows from the AUC of a class against the rest; NaN if either has fewer than two rows."""
    n_own, n_rest = int(np.count_nonzero(own)), int(np.count_nonzero(~own))
    if min(n_own, n_rest) < 2:
        return np.full(own.size, np.nan)
    ranks = _Ranks(column)
    below = ranks.mass_below(~own) / n_rest
    above = 1 - ranks.mass_below(own) / n_own
    placements = np.where(own, below, above)
    deviations: Floats = (placements - placements[own].mean()) / np.where(
        own, _root_of_pairs(n_own), _root_of_pairs(n_rest)
    )
    return deviations


def _moved_from_m(columns: NDArray[Any], codes: NDArray[Any], sizes: NDArray[Any]) -> Floats:
    """Return the deviations of rows from M: of the placements in the column of a row's class, and in other columns.

    NaN if a class has fewer than two rows.
    """
    if sizes.min() < 2:
        return np.full(codes.size, np.nan)
    n_classes = len(columns)

    def moved(k: int) -> Floats:
        """Return what a column adds to each row's deviation."""
        own, ranks = codes == k, _Ranks(columns[k])
        below = ranks.mass_below(np.where(own, 0.0, 1 / sizes[codes]))
        above = 1 - ranks.mass_below(own) / sizes[k]
        with_each = np.bincount(codes, np.where(own, 0.0, above), minlength=n_classes) / sizes
        return np.asarray(np.where(own, below - with_each.sum(), above - with_each[codes]))

    total = sum(run(moved, range(n_classes)))
    return np.asarray(total / (n_classes * (n_classes - 1)) / _root_of_pairs(sizes)[codes])


def _root_of_pairs(n: Any) -> Any:
    """Return the divisor of deviations from a mean of n values."""
    return np.sqrt(np.asarray(n, dtype=np.float64) * (np.asarray(n) - 1))


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
