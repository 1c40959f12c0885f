"""One fit of a learner, what is counted of its predictions, and what the counts of many fits come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.split.estimates.asked import Asked
from fastevals.split.estimates.intervals import SplitVariance
from fastevals.split.estimates.result import ErrorEstimate, estimates_of
from fastevals.split.estimates.tallies.base import Floats, Tally
from fastevals.split.learners import Learner
from fastevals.split.plans import Held, Splits

__all__ = ["Counted", "Fit", "SplitFit", "estimates_from", "fits_of", "said_of"]

Rows = NDArray[np.intp]


class Fit(NamedTuple):
    """A learner, the rows that it is fitted to and those that it is tested on, None for all; and which fit it is."""

    learner: Learner
    train: Rows | None
    test: Rows | None
    said: str


class Counted(NamedTuple):
    """What is known of a split: counts by tally, of the test set and of the training rows, and the sizes of both.

    Of a fit to all rows, tested on the same, it is also what each tally has of the predictions.
    """

    test: list[Any]
    training: list[Any]
    n_train: int
    n_test: int
    predicted: list[NDArray[Any]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SplitFit:
    """Makes a fit and counts what it predicts.

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

    def __call__(self, fit: Fit) -> Counted:
        """Give what is counted of a split, or of a fit to all rows."""
        train, test = fit.train, fit.test
        if train is None or test is None:
            rows = np.arange(check.n_rows("X", self.X))
            found = self._predictions(fit.learner, None, None)
            predicted, counts = self._counts(fit, found, rows, "all rows")
            return Counted(counts, [], rows.size, rows.size, predicted)
        found = self._predictions(fit.learner, train, np.concatenate((test, train)) if self.training else test)
        _, tested = self._counts(fit, {kind: each[: test.size] for kind, each in found.items()}, test, "test rows")
        seen: list[Any] = []
        if self.training:
            _, seen = self._counts(
                fit, {kind: each[test.size :] for kind, each in found.items()}, train, "training rows"
            )
        return Counted(tested, seen, int(np.count_nonzero(np.bincount(train))), test.size)

    def _counts(
        self, fit: Fit, found: dict[str, NDArray[Any]], rows: Rows, said: str
    ) -> tuple[list[NDArray[Any]], list[Any]]:
        """Give each tally's predictions of some rows, and what it counts."""
        name = f"{fit.learner.name}'s predictions of the {said}"
        checked = [each.checked(name, found[each.kind], rows) for each in self.tallies]
        return checked, [each.of_rows(rows, own) for each, own in zip(self.tallies, checked, strict=True)]

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


def estimates_from(
    tallies: Sequence[Tally],
    found: Sequence[Any],
    shape: tuple[int, int],
    asked: Asked,
    alpha: float,
    held: Held,
    splitter: Any = None,
) -> tuple[dict[str, ErrorEstimate], list[SplitVariance]]:
    """Make the estimates of metrics from what is `Counted` of all splits; give also how each tally's vary.

    What is anything else stands for one that failed: its values are NaN, of which there is no warning. One is there.
    """
    there = [k for k, each in enumerate(found) if isinstance(each, Counted)]
    counted: list[Counted] = [found[k] for k in there]
    sizes = [each.n_train for each in counted], [each.n_test for each in counted]

    def measured(tally: Tally, parts: list[Any], pooled: Any) -> tuple[Floats, Floats]:
        values = np.full((len(tally.names), len(found)), np.nan)
        values[:, there] = tally.values(parts)
        return values, tally.micro(pooled)

    estimates: dict[str, ErrorEstimate] = {}
    variances = []
    for k, tally in enumerate(tallies):
        parts = [each.test[k] for each in counted]
        variances.append(SplitVariance(tally, tally.pooled(parts), held, *sizes, alpha))
        test, training = measured(tally, parts, variances[-1].pooled), None
        if counted[0].training:
            parts = [each.training[k] for each in counted]
            training = measured(tally, parts, tally.pooled(parts))
        estimates |= estimates_of(
            *test, shape, asked, variances[-1], training=training, missing=len(found) - len(there), splitter=splitter
        )
    return estimates, variances
