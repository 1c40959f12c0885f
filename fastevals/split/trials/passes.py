"""Fits of many candidates on the splits of one data set, measured by one metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.asked_metrics import bounds_of, is_greater_better, kind_of
from fastevals.infer.results import level_of
from fastevals.measure.asked import AskedMetric, one_asked
from fastevals.split.estimates.asked import tallies_of
from fastevals.split.estimates.fits import Counted, SplitFit, describe
from fastevals.split.estimates.plans import SplitPairs, plan_of
from fastevals.split.estimates.result import ErrorEstimate, estimate_of
from fastevals.split.fitting import Failure, run_fits
from fastevals.split.rows import take_rows
from fastevals.split.trials.candidates import Candidate
from fastevals.split.trials.plans import PartPlan, TrialPlan

__all__ = ["Measurement", "Outcome", "Trial", "raise_if_all_failed"]

Rows = NDArray[np.intp]


class Trial(NamedTuple):
    """A candidate on the splits of a plan."""

    candidate: Candidate
    plan: TrialPlan


class Outcome(NamedTuple):
    """What came of a trial.

    Attributes
    ----------
    estimate : ErrorEstimate or None
        None where a fit failed.
    failure : Failure or None
        The first one's.
    candidate, split : str
        Whose it is, and in which split it failed.
    """

    estimate: ErrorEstimate | None
    failure: Failure | None = None
    candidate: str = ""
    split: str = ""

    @property
    def value(self) -> float:
        """The estimate's, NaN where there is none."""
        return math.nan if self.estimate is None else self.estimate.value

    @property
    def said(self) -> str | None:
        """What was raised and where, None if nothing was."""
        return None if self.failure is None else f"{self.failure} ({self.split})"


class _Item(NamedTuple):
    trial: Trial
    at: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.trial.candidate}, {describe(self.at)}"


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """The task of a worker."""

    base: SplitFit

    def __call__(self, item: _Item) -> Any:
        plan: Any = item.trial.plan  # of which a fit asks for pairs alone
        return replace(self.base, learner=item.trial.candidate.learner, plan=plan)(item.at)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One metric of one data set, ready to be measured on any splits.

    Attributes
    ----------
    metric : str
        What results call it.
    maximize : bool or None
        Whether greater is better; None if that isn't known.
    level, alpha : float
        Confidence level of intervals, and the rest to 1.
    groups : array-like or None
        Rows that belong together.
    """

    metric: str
    maximize: bool | None
    level: float
    alpha: float
    groups: Any
    _bounds: tuple[float, float]
    _fit: SplitFit

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        metric: Any,
        *,
        groups: ArrayLike | None,
        pos_label: Any,
        labels: ArrayLike | None,
        maximize: Any,
        confidence_level: float,
        training: bool = False,
    ) -> Measurement:
        """Check the arguments."""
        n = check.check_same_rows(X=X, y=y, groups=groups)
        name, one = one_asked("metric", metric)
        if isinstance(one, AskedMetric):
            kind_of(one, "metric")
        level, alpha = level_of(confidence_level)
        tallies, positive = tallies_of({name: one}, "y", y, several=False, pos_label=pos_label, labels=labels)
        direction = is_greater_better(one) if maximize is None else check.as_flag("maximize", maximize)
        nobody: Any = None
        fit = SplitFit(nobody, X, y, SplitPairs([], n), tallies, positive, training)
        return cls(name, direction, level, alpha, groups, bounds_of(one), fit)

    @property
    def n_samples(self) -> int:
        """Rows."""
        return self._fit.plan.n_samples

    @property
    def of_classes(self) -> bool:
        """Whether the metric is of labels or of scores of classes."""
        return self._fit.tallies[0].kind in ("labels", "scores")

    def plan(self, name: str, splitter: Any, part: Rows | None = None) -> PartPlan:
        """Give the splits that a splitter makes of some rows, or of all."""
        rows = np.arange(self.n_samples) if part is None else part
        data = (take_rows(each, part) for each in (self._fit.X, self._fit.y, self.groups))
        return PartPlan(rows, plan_of(name, splitter, *data))

    def fits(self, trials: Sequence[Trial], *, n_jobs: int | None, progress: bool) -> list[list[Counted | Failure]]:
        """Fit each trial's candidate on each of its splits, all in one pass; a fit that raises is a failure."""
        items = [_Item(trial, at) for trial in trials for at in trial.plan.items]
        found = run_fits(
            _Fit(self._fit), items, describe=str, keep_failures=True, n_jobs=n_jobs,
            progress=check.as_flag("progress", progress),
        )  # fmt: skip
        results = list(found)
        ends = np.cumsum([len(trial.plan.items) for trial in trials]).tolist()
        return [results[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def outcome(self, trial: Trial, found: Sequence[Counted | Failure]) -> Outcome:
        """Give the estimate of a trial from its fits, or what failed first."""
        for at, each in zip(trial.plan.items, found, strict=True):
            if isinstance(each, Failure):
                return Outcome(None, each, str(trial.candidate), describe(at))
        return Outcome(self.estimate(found, trial.plan.shape))

    def estimate(self, found: Sequence[Counted | Failure], shape: tuple[int, int]) -> ErrorEstimate:
        """Give the estimate from fits of a metric that is undefined where one failed."""
        there = [k for k, each in enumerate(found) if isinstance(each, Counted)]
        counted: list[Any] = [found[k] for k in there]
        if not counted:
            return estimate_of(self.metric, np.full(shape, np.nan), np.nan)
        n_test, n_train = (sum(sizes) for sizes in zip(*((each.n_test, each.n_train) for each in counted), strict=True))
        tally = self._fit.tallies[0]

        def of(parts: list[Any], label: str, **interval: Any) -> ErrorEstimate:
            values = np.full(len(found), np.nan)
            values[there] = tally.values(parts)[0]
            return estimate_of(label, values.reshape(shape), tally.micro(parts)[0], alpha=self.alpha, **interval)

        made = of([each.test[0] for each in counted], self.metric, bounds=self._bounds, test_to_train=n_test / n_train)
        if not self._fit.training:
            return made
        return replace(made, training=of([each.training[0] for each in counted], f"{self.metric} of training rows"))


def raise_if_all_failed(outcomes: Sequence[Outcome]) -> None:
    """Raise the first error if there is no estimate among outcomes."""
    failures = [
        (each.failure.error, f"{each.candidate}, {each.split}") for each in outcomes if each.failure is not None
    ]
    if len(failures) == len(outcomes):
        check.raise_all_failed(len(outcomes), *failures[0])
