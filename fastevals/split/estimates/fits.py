"""One fit of a learner, what is counted of its predictions, and what the counts of many fits come to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.labels import binary_labels, raise_not_binary
from fastevals._validation.options import check_not_given, check_one_kind
from fastevals.measure.kinds import kind_of
from fastevals.measure.metric_specs import AskedMetric
from fastevals.split.checks import n_rows
from fastevals.split.estimates.results import ErrorEstimate, SplitVariance, estimates_of
from fastevals.split.estimates.score_tallies import LossTally, RankTally, is_mean_loss
from fastevals.split.estimates.tallies import Floats, FunctionTally, LabelTally, MedianTally, Tally, TargetTally
from fastevals.split.learners import Learner
from fastevals.split.plans import Held, Splits

Asked = Mapping[str, AskedMetric | Callable[..., Any]]

MEDIAN = "median_absolute_error"


def tallies_of(
    asked: Asked, name: str, y: Any, *, several: bool, pos_label: Any = None, labels: Any = None
) -> tuple[list[Tally], Any]:
    """Return the tallies of the metrics, that of labels first, and the positive class, None where there is none.

    `name` is what errors call `y`; `several` is whether there may be predicted labels and scores both.
    """
    kinds = {label: kind_of(each) for label, each in asked.items() if isinstance(each, AskedMetric)}
    check_one_kind("metrics", kinds, several=several)
    of_kind: dict[str, dict[str, Any]] = {}
    for label, each in asked.items():
        of_kind.setdefault(_tally_of(label, each, kinds), {})[label] = each
    if "labels" not in of_kind:
        check_not_given("labels", labels, "metrics of predicted labels")
    if not {"labels", "ranks", "losses"} & set(of_kind):
        check_not_given("pos_label", pos_label, "metrics of two classes")
    tallies: list[Tally] = []
    positive = None
    if "labels" in of_kind:
        of_labels = LabelTally(of_kind["labels"], y, name, labels=labels, pos_label=pos_label)
        tallies.append(of_labels)
        positive = of_labels.classes.pos_label
        pos_label = pos_label if positive is None else positive
    if "ranks" in of_kind or "losses" in of_kind:
        array, positive, _ = binary_labels(name, y, pos_label)
        rows = _check_two_labels_only(name, array, positive)
        if "ranks" in of_kind:
            tallies.append(RankTally(of_kind["ranks"], rows))
        if "losses" in of_kind:
            tallies.append(LossTally(of_kind["losses"], rows))
    for key, kind in (("targets", TargetTally), ("median", MedianTally), ("functions", FunctionTally)):
        if key in of_kind:
            tallies.append(kind(of_kind[key], y, name))
    return tallies, positive


def _tally_of(label: str, each: Any, kinds: Mapping[str, str]) -> str:
    if label not in kinds:
        return "functions"
    if kinds[label] == "scores":
        return "losses" if is_mean_loss(each) else "ranks"
    return "median" if each.name == MEDIAN else kinds[label]


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
        """Return what is counted of a split, or of a fit to all rows."""
        train, test = fit.train, fit.test
        if train is None or test is None:
            rows = np.arange(n_rows("X", self.X))
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
        """Return each tally's predictions of some rows, and what it counts."""
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


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_two_labels_only(name: str, y: NDArray[Any], positive: Any) -> NDArray[np.bool_]:
    """Tell the positive rows; raise if there is a third label."""
    if np.unique(y).size > 2:
        raise_not_binary(name, y)
    return np.asarray(y == positive)
