"""Fits of many candidates on the splits of one data set, measured by one metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.results import level_of
from fastevals.measure.asked import AskedMetric, one_asked
from fastevals.measure.metric_kinds import is_greater_better, kind_of
from fastevals.split.estimates.asked import Asked, tallies_of
from fastevals.split.estimates.fits import Counted, Fit, SplitFit, estimates_from, fits_of, said_of
from fastevals.split.estimates.result import ErrorEstimate, no_estimate
from fastevals.split.fitting import Failure, run_fits
from fastevals.split.plans import Held, Splits, held_by, plan_of, splits_of
from fastevals.split.rows import take_rows
from fastevals.split.trials.candidates import Candidate

__all__ = ["Measurement", "Outcome", "Trial", "raise_if_all_failed"]

Rows = NDArray[np.intp]
Outcome = tuple[ErrorEstimate, Failure | None]  # of a trial: NaN where a fit failed, and the first that did


class Trial(NamedTuple):
    """A candidate on splits."""

    candidate: Candidate
    splits: Splits


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
    n_samples : int
        Rows.
    """

    metric: str
    maximize: bool | None
    level: float
    alpha: float
    groups: Any
    n_samples: int
    _asked: Asked
    _task: SplitFit

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
        n = check.n_rows("X", X)
        check.check_same_rows(X=X, y=y, groups=groups)
        name, one = one_asked("metric", metric)
        if isinstance(one, AskedMetric):
            kind_of(one, "metric")
        level, alpha = level_of(confidence_level)
        tallies, positive = tallies_of({name: one}, "y", y, several=False, pos_label=pos_label, labels=labels)
        direction = check.as_direction("maximize", name, maximize, is_greater_better(one))
        task = SplitFit(X, y, tallies, positive, training)
        return cls(name, direction, level, alpha, groups, n, {name: one}, task)

    @property
    def pos_label(self) -> Any:
        """The positive class, where there is one."""
        return self._task.positive

    @property
    def of_classes(self) -> bool:
        """Whether the metric is of labels or of scores of classes."""
        return self._task.tallies[0].kind in ("labels", "scores")

    def splits(self, name: str, splitter: Any, part: Rows | None = None) -> Splits:
        """Give the splits that a splitter makes of some rows, or of all."""
        data = self._task.X, self._task.y, self.groups
        if part is not None:
            data = tuple(take_rows(each, part) for each in data)
        plan = plan_of(name, splitter, *data)
        return splits_of(plan, held_by(splitter, plan, data[1]), part)

    def fits(self, fits: Iterable[Fit], total: int, **how: Any) -> list[Any]:
        """Make fits; give what is `Counted` of each, in order."""
        return list(run_fits(self._task, fits, total=total, describe=said_of, **how))

    def outcomes(self, trials: Sequence[Trial], *, n_jobs: int | None, progress: bool) -> list[Outcome]:
        """Fit each trial's candidate on each of its splits, all in one pass, and give what comes of each trial."""
        fits = (fit for candidate, splits in trials for fit in fits_of(candidate.learner, splits))
        found = iter(
            self.fits(
                fits, sum(trial.splits.number for trial in trials), keep_failures=True, n_jobs=n_jobs,
                progress=check.as_flag("progress", progress),
            )
        )  # fmt: skip
        return [self._outcome(list(islice(found, splits.number)), splits) for _, splits in trials]

    def _outcome(self, found: Sequence[Counted | Failure], splits: Splits) -> Outcome:
        failure = next((each for each in found if isinstance(each, Failure)), None)
        shape = splits.shape
        return (self.estimate(found, shape, splits.held) if failure is None else self.nothing(shape)), failure

    def nothing(self, shape: tuple[int, int]) -> ErrorEstimate:
        """Give what stands where there is no estimate."""
        return no_estimate(shape, training=self._task.training)

    def value(self, counted: Counted, part: str) -> float:
        """Give the metric of one split, whose test rows are called a part of the data."""
        value = float(self._task.tallies[0].values([counted.test[0]])[0, 0])
        if math.isnan(value):
            check.warn_undefined(self.metric, f"on the {counted.n_test} rows of the {part}")
        return value

    def estimate(self, found: Sequence[Any], shape: tuple[int, int], held: Held) -> ErrorEstimate:
        """Give the estimate from fits, NaN where one is not `Counted`: it failed, of which there is no warning."""
        if not any(isinstance(each, Counted) for each in found):
            return self.nothing(shape)
        estimates, _ = estimates_from(self._task.tallies, found, shape, self._asked, self.alpha, held)
        return estimates[self.metric]


def raise_if_all_failed(trials: Sequence[Trial], outcomes: Sequence[Outcome]) -> None:
    """Raise the first error if no trial has an estimate."""
    failures = [failure for _, failure in outcomes if failure is not None]
    if len(failures) == len(outcomes):
        more = f"; all {len(outcomes)} candidates failed" if len(outcomes) > 1 else ""
        raise failures[0].noted(f"{trials[0].candidate.choice}, ", more)
