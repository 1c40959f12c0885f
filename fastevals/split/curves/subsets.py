"""Training rows left out of each split, so that the rest is of a given size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.random import fill_bits, key_of
from fastevals.split.estimates.plans import Plan
from fastevals.split.trials.plans import TrialPlan

__all__ = ["SmallerTraining"]

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class SmallerTraining(TrialPlan):
    """Splits whose training parts are cut down: a smaller one is part of each larger one of the same split.

    Attributes
    ----------
    plan : Plan
        The splits.
    size : int or None
        Training rows; None for all.
    key : uint64
        Of the orders in which rows are taken, one a split.
    classes : ndarray of int of shape (n_samples,), optional
        The number of each row's class: each size then has of each class its share, rounded.
    """

    plan: Plan
    size: int | None
    key: np.uint64
    classes: NDArray[np.intp] | None

    def pair(self, repeat: int, fold: int) -> tuple[Rows, Rows]:
        """Give the rows to train on, ascending, and those to test on."""
        train, test = self.plan.pair(repeat, fold)
        if self.size is None:
            return train, test
        words = np.empty(train.size, dtype=np.uint64)
        fill_bits(np.uint64(key_of(self.key, np.uint64(repeat * self.plan.n_folds + fold))), 0, words)
        order = np.argsort(words, kind="stable")
        if self.classes is not None:
            order = order[np.argsort(_places(self.classes[train][order]), kind="stable")]
        return train[np.sort(order[: self.size])], test


def _places(classes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give each row its place among those of its class, as a share of them: (i + 1/2) / n."""
    by_class = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    number = np.empty(classes.size)
    number[by_class] = np.arange(classes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray((number + 0.5) / sizes[classes])
