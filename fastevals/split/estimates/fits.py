"""One fit of a learner, and what is counted of its predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.split.estimates.tallies.base import Tally
from fastevals.split.learners import Learner
from fastevals.split.plans import Splits

__all__ = ["Counted", "Fit", "SplitFit", "fits_of", "said_of"]

Rows = NDArray[np.intp]


class Fit(NamedTuple):
    """A learner, the rows that it is fitted to and those that it is tested on, None for all; and which fit it is."""

    learner: Learner
    train: Rows | None
    test: Rows | None
    said: str


class Counted(NamedTuple):
    """What is known of a split: counts by tally, of the test set and of the training rows, and the sizes of both."""

    test: list[Any]
    training: list[Any]
    n_train: int
    n_test: int


@dataclass(frozen=True, slots=True, eq=False)
class SplitFit:
    """Makes a fit and counts what it predicts; of one to all rows, gives what it predicts.

    Attributes
    ----------
    X, y : data with rows
        All of it.
    tallies : sequence of Tally
        What is counted.
    positive : label
        The positive class of scores.
    training : bool
        Whether training rows are predicted too, as often as they are trained on.
    """

    X: Any
    y: Any
    tallies: Sequence[Tally]
    positive: Any
    training: bool

    def __call__(self, fit: Fit) -> Any:
        """Give what is `Counted` of a split, or each tally's predictions of all rows."""
        name, train, test = f"{fit.learner.name}'s predictions", fit.train, fit.test
        if train is None or test is None:
            found = self._predictions(fit.learner, None, None)
            return [each.checked(name, found[each.kind]) for each in self.tallies]
        found = self._predictions(fit.learner, train, np.concatenate((test, train)) if self.training else test)

        def counted(rows: Rows, part: slice) -> list[Any]:
            return [each.of_rows(rows, each.checked(name, found[each.kind][part], rows)) for each in self.tallies]

        in_training = counted(train, slice(test.size, None)) if self.training else []
        n_train = int(np.count_nonzero(np.bincount(train)))
        return Counted(counted(test, slice(test.size)), in_training, n_train, test.size)

    def _predictions(self, learner: Learner, train: Rows | None, new: Rows | None) -> dict[str, NDArray[Any]]:
        kinds = dict.fromkeys(each.kind for each in self.tallies)
        return learner.predictions(self.X, self.y, train, self.X, new, kinds, self.positive)


def fits_of(learner: Learner, splits: Splits) -> Iterator[Fit]:
    """Go through the fits of a learner on splits."""
    for number, (train, test) in enumerate(splits.pairs()):
        repeat, fold = divmod(number, splits.shape[1])
        yield Fit(learner, train, test, f"repetition {repeat}, fold {fold}")


def said_of(fit: Fit) -> str:
    """Say which fit it is."""
    return fit.said
