"""Folds of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import raise_not_binary
from fastevals._validation.options import show

__all__ = ["as_list", "check_fold_number", "check_fold_weight", "check_folds", "check_pooled", "check_two_labels"]

MOST_FOLDS = 10_000


def as_list(name: str, values: Any) -> list[Any]:
    """Give a sequence as a list."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence or a mapping, got {show(values)}")
    return list(values)


def check_folds(name: str, rankings: Mapping[Any, Any], kind: Any) -> None:
    """Raise unless there are folds, all of one kind, each with both classes."""
    if not rankings:
        raise ValueError(f"{name} is empty: it must have at least one fold")
    ranking: Any
    for fold, ranking in rankings.items():
        if not isinstance(ranking, kind):
            raise ValueError(f"{name} must hold {kind.__name__}s, but fold {show(fold)} is a {type(ranking).__name__}")
        for side, rows in (("positives", ranking.n_positives), ("negatives", ranking.n_negatives)):
            if not rows:
                raise ValueError(f"each fold must have both classes, but fold {show(fold)} has no {side}")


def check_fold_number(name: str, distinct: NDArray[Any]) -> None:
    """Raise if there are too many folds to be folds."""
    if distinct.size > MOST_FOLDS:
        raise ValueError(f"{name} must have at most {MOST_FOLDS} distinct values, got {distinct.size}")


def check_fold_weight(fold: Any, weights: NDArray[np.float64] | None) -> None:
    """Raise if all rows of a fold have weight zero."""
    if weights is not None and not weights.any():
        raise ValueError(f"each fold must have a row of weight above zero, but fold {show(fold)} has none")


def check_two_labels(name: str, labels: NDArray[Any], positive: Any) -> None:
    """Raise if there is a third label."""
    others = labels[labels != positive]
    if others.size and (others != others[0]).any():
        raise_not_binary(name, labels)


def check_pooled(name: str, total: Any) -> None:
    """Raise if the folds' weights don't add up to a float."""
    if not np.isfinite(total):
        raise ValueError(f"{name} must have weights of a finite sum, but pooled they overflow")
