"""One fit of a learner, and what is counted of its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.split.estimates.plans import Plan
from fastevals.split.estimates.tallies.base import Tally
from fastevals.split.learners import Learner

__all__ = ["Counted", "SplitFit"]

Rows = NDArray[np.intp]


class Counted(NamedTuple):
    """What is known of a split: counts by tally, of the test set and of the training rows, and the sizes of both."""

    test: list[Any]
    training: list[Any]
    n_train: int
    n_test: int


@dataclass(frozen=True, slots=True, eq=False)
class SplitFit:
    """Fits a learner to the training rows of a split and counts what it predicts; of None, fits and predicts all rows.

    Attributes
    ----------
    learner : Learner
        What is fitted.
    X, y : data with rows
        All of it.
    plan : Plan
        The splits.
    tallies : sequence of Tally
        What is counted.
    positive : label
        The positive class of scores.
    training : bool
        Whether training rows are predicted too, as often as they are trained on.
    """

    learner: Learner
    X: Any
    y: Any
    plan: Plan
    tallies: Sequence[Tally]
    positive: Any
    training: bool

    def __call__(self, item: tuple[int, int] | None) -> Any:
        """Give what is `Counted` of a repetition's fold, or each tally's predictions of all rows."""
        if item is None:
            everything = self._predictions(None, None)
            return [each.checked(self._name, everything[each.kind]) for each in self.tallies]
        train, test = self.plan.pair(*item)
        new = np.concatenate((test, train)) if self.training else test
        found = self._predictions(train, new)
        n_train = int(np.count_nonzero(np.bincount(train)))
        in_training = self._counted(train, found, slice(test.size, None)) if self.training else []
        return Counted(self._counted(test, found, slice(test.size)), in_training, n_train, test.size)

    @property
    def _name(self) -> str:
        return f"{self.learner.name}'s predictions"

    def _predictions(self, train: Rows | None, new: Rows | None) -> dict[str, NDArray[Any]]:
        kinds = dict.fromkeys(each.kind for each in self.tallies)
        return self.learner.predictions(self.X, self.y, train, self.X, new, kinds, self.positive)

    def _counted(self, rows: Rows, found: dict[str, NDArray[Any]], part: slice) -> list[Any]:
        return [each.of_rows(rows, each.checked(self._name, found[each.kind][part], rows)) for each in self.tallies]


def describe(item: tuple[int, int] | None) -> str:
    """Say which fit it is."""
    return "all rows" if item is None else f"repetition {item[0]}, fold {item[1]}"
