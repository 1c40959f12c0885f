"""Candidates and their trials: fit many learners on many splits in one pass.

Model selection and error curves make lists of `Trial`s. `Measurement.outcomes` makes the fits of all trials in one
pass, so that workers never wait between candidates, and returns the estimate or the failure of each trial.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_direction, as_flag, show, warn_undefined
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import is_greater_better, parse_metric
from fastevals.results import Frozen, check_confidence_level
from fastevals.split.checks import as_values, check_learner, check_same_rows, n_rows
from fastevals.split.designs import SplitDesign, design_splits
from fastevals.split.estimates.fits import (
    Fit,
    FitTask,
    SplitCounts,
    describe_fit,
    estimate_from_counts,
    make_fits,
    make_split_metrics,
)
from fastevals.split.estimates.results import ErrorEstimate, no_estimate
from fastevals.split.learners import Failure, Learner, as_learner, run_fits, take_rows
from fastevals.split.splitters.base import Rows

Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """A learner's name and values of some of its parameters."""

    name: str
    params: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={show(value)}' for key, value in self.params.items())})"


class Candidate(NamedTuple):
    """A learner with fixed values of its parameters; a selection chooses among candidates."""

    choice: Choice
    learner: Learner


def list_candidates(candidates: Any, grid: Any) -> list[Candidate]:
    """Return the candidates from learners and grids, in order; the last parameter of a grid varies fastest."""
    listed = []
    for name, (function, its_grid) in _as_named_learners("candidates", candidates, grid).items():
        learner = as_learner(name, function)
        where = "grid" if grid is not None else f"candidates[{name!r}]'s grid"
        for combinations in _as_grids(where, its_grid):
            for values in product(*combinations.values()):
                params = dict(zip(combinations, values, strict=True))
                listed.append(Candidate(Choice(name, params), learner.with_params(params)))
    return listed


def same_value(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same; 1, 1.0 and True differ: a learner may tell them apart."""
    return one is other or (type(one) is type(other) and np.array_equal(one, other))


def param_columns(params: Mapping[str, Sequence[Any]]) -> Columns:
    """Return values of parameters as columns, with prefixed names as in scikit-learn's ``cv_results_``."""
    return make_columns({f"param_{name}": list(values) for name, values in params.items()})


def varied_column(parameter: str | None, values: Sequence[Any]) -> Columns:
    """Return the column of the varied parameter, or of the number of training rows."""
    return make_columns({"train_size": list(values)}) if parameter is None else param_columns({parameter: values})


def best_place(values: NDArray[np.float64], maximize: bool) -> int | None:
    """Return the index of the best value, the first one if several tie; None if all are NaN."""
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if maximize else np.nanargmin(values))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorLine(Frozen):
    """Estimates of a metric at several values of a parameter, or for several training sizes.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Mean over the splits for each value; NaN if a fit failed.
    standard_deviation : ndarray of shape (n_values,)
        Standard deviation over the splits.
    low, high : ndarray of shape (n_values,)
        Ends of the confidence intervals of the means.
    per_split : ndarray of shape (n_values, n_repeats, n_folds)
        The metric in each split.
    """

    values: Floats
    standard_deviation: Floats
    low: Floats
    high: Floats
    per_split: Floats

    @classmethod
    def from_estimates(cls, estimates: Sequence[ErrorEstimate]) -> ErrorLine:
        """Return an `ErrorLine` from estimates on the same splits."""
        numbers = [(each.value, each.standard_deviation, *each.confidence_interval) for each in estimates]
        values, deviation, low, high = np.array(numbers, dtype=np.float64).T
        return cls(values, deviation, low, high, np.stack([each.per_split for each in estimates]))

    def _columns(self) -> Columns:
        return self.columns()

    def columns(self, prefix: str = "") -> Columns:
        """Return a table's columns, with one row per value; `prefix` in the columns' names tells lines apart."""
        numbers = {
            "value": self.values,
            "standard_deviation": self.standard_deviation,
            "low": self.low,
            "high": self.high,
        }
        return make_columns({prefix + name: values for name, values in numbers.items()})

    def __repr__(self) -> str:
        return f"ErrorLine({', '.join(f'{each:.4g}' for each in self.values)})"


class Trial(NamedTuple):
    """A candidate, the splits to fit and measure it on, and whether to keep its predictions of test rows."""

    candidate: Candidate
    splits: SplitDesign
    keeps: bool = False


class Outcome(NamedTuple):
    """A trial's estimate (NaN if a fit failed), its first failure, and the predictions of test rows if kept."""

    estimate: ErrorEstimate
    failure: Failure | None
    predicted: list[NDArray[Any]] | None = None  # of each split


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """One metric and one data set; measures candidates on any splits of the data."""

    metric: str  # the metric's name in results
    maximize: bool | None  # whether a greater value is better; None if unknown
    level: float
    alpha: float  # 1 minus the confidence level
    groups: Any
    n_samples: int
    _specs: MetricSpecs
    _task: FitTask

    @classmethod
    def build(
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
        """Check the arguments and return an object that measures the metric."""
        n = n_rows("X", X)
        check_same_rows(X=X, y=y, groups=groups)
        name, one = parse_metric("metric", metric)
        level, alpha = check_confidence_level(confidence_level)
        metric_sets, positive = make_split_metrics(
            {name: one}, "y", y, several=False, pos_label=pos_label, labels=labels
        )
        direction = as_direction("maximize", name, maximize, is_greater_better(one))
        task = FitTask(X, y, metric_sets, positive, training)
        return cls(name, direction, level, alpha, groups, n, {name: one}, task)

    @property
    def pos_label(self) -> Any:
        """The positive class, or None."""
        return self._task.positive

    @property
    def truth(self) -> Any:
        """The user's labels or numbers."""
        return self._task.y

    @property
    def spec(self) -> Any:
        """The parsed metric."""
        return self._specs[self.metric]

    @property
    def is_classification(self) -> bool:
        """Whether the metric is for predicted labels or for scores of classes."""
        return self._task.metric_sets[0].kind in ("labels", "scores")

    def splits(self, name: str, splitter: Any, part: Rows | None = None) -> SplitDesign:
        """Return the splits that a splitter makes of some or all rows."""
        data = self._task.X, self._task.y, self.groups
        if part is not None:
            data = tuple(take_rows(each, part) for each in data)
        return design_splits(name, splitter, *data, rows=part)

    def fits(self, fits: Iterable[Fit], total: int, **options: Any) -> list[Any]:
        """Make the given fits, and return their `SplitCounts` in the same order."""
        return list(run_fits(self._task, fits, total=total, describe=describe_fit, **options))

    def outcomes(self, trials: Sequence[Trial], *, n_jobs: int | None, progress: bool) -> list[Outcome]:
        """Fit each trial's candidate on all its splits, in one pass, and return the outcome of each trial."""
        fits = (fit for trial in trials for fit in make_fits(trial.candidate.learner, trial.splits, keeps=trial.keeps))
        counted = iter(
            self.fits(
                fits, sum(trial.splits.n_splits for trial in trials), keep_failures=True, n_jobs=n_jobs,
                progress=as_flag("progress", progress),
            )
        )  # fmt: skip
        return [self._outcome(list(islice(counted, each.splits.n_splits)), each) for each in trials]

    def _outcome(self, counted: Sequence[SplitCounts | Failure], trial: Trial) -> Outcome:
        failure = next((each for each in counted if isinstance(each, Failure)), None)
        if failure is not None:
            return Outcome(self._no_estimate(trial.splits), failure)
        predicted = [each.predicted[0] for each in counted if isinstance(each, SplitCounts) and each.predicted]
        return Outcome(self.estimate(counted, trial.splits), None, predicted if trial.keeps else None)

    def _no_estimate(self, splits: SplitDesign) -> ErrorEstimate:
        return no_estimate(splits.shape, training=self._task.training)

    def value(self, counted: SplitCounts, part: str) -> float:
        """Return the metric's value in one split; warnings call the split's test rows `part`."""
        value = float(self._task.metric_sets[0].values([counted.test[0]])[0, 0])
        if math.isnan(value):
            warn_undefined(self.metric, f"on the {counted.n_test} rows of the {part}")
        return value

    def estimate(self, counted: Sequence[Any], splits: SplitDesign) -> ErrorEstimate:
        """Return the estimate from fits; items other than `SplitCounts` are failed fits: NaN, without a warning."""
        if not any(isinstance(each, SplitCounts) for each in counted):
            return self._no_estimate(splits)
        estimates, _ = estimate_from_counts(self._task.metric_sets, counted, splits, self._specs, self.alpha)
        return estimates[self.metric]


def raise_if_all_failed(trials: Sequence[Trial], outcomes: Sequence[Outcome]) -> None:
    """Raise the first error if all trials failed."""
    failures = [each.failure for each in outcomes if each.failure is not None]
    if len(failures) == len(outcomes):
        more = f"; all {len(outcomes)} candidates failed" if len(outcomes) > 1 else ""
        raise failures[0].noted(f"{trials[0].candidate.choice}, ", more)


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_grids(name: str, grid: Any) -> list[dict[str, list[Any]]]:
    """Return the list of a learner's grids from one grid or a list; None means one grid without parameters."""
    if grid is None:
        return [{}]
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, (list, tuple)):
        raise ValueError(
            f"{name} must be a mapping of parameters to lists of values, or a list of them; got {show(grid)}"
        )
    if not grids:
        raise ValueError(f"{name} is empty: it must have at least one parameter with values")
    checked = []
    for each in grids:
        if not isinstance(each, Mapping):
            raise ValueError(f"{name} must hold mappings of parameters to lists of values, got {show(each)}")
        if not each:
            raise ValueError(f"{name} is empty: it must have at least one parameter with values")
        for parameter in each:
            if not isinstance(parameter, str):
                raise ValueError(f"{name} must name parameters by strings, got {show(parameter)}")
        checked.append({parameter: as_values(f"{name}[{parameter!r}]", values) for parameter, values in each.items()})
    return checked


def _as_named_learners(name: str, candidates: Any, grid: Any) -> dict[str, tuple[Any, Any]]:
    """Return a mapping from names to pairs (learner, grid), from one learner or a mapping to learners or pairs."""
    if not isinstance(candidates, Mapping):
        check_learner(name, candidates)
        return {getattr(candidates, "__name__", type(candidates).__name__): (candidates, grid)}
    if not candidates:
        raise ValueError(f"{name} is an empty mapping: there is nothing to select")
    if grid is not None:
        raise ValueError(f"grid goes with one learner; a mapping has pairs (learner, grid), got grid={show(grid)}")
    learners = {}
    for key, value in candidates.items():
        if not isinstance(key, str):
            raise ValueError(f"{name} must have strings as names, got {show(key)}")
        if isinstance(value, tuple) and len(value) != 2:
            raise ValueError(f"{name}[{key!r}] must be a learner or a pair (learner, grid), got {show(value)}")
        learners[key] = value if isinstance(value, tuple) else (value, None)
        check_learner(f"{name}[{key!r}]", learners[key][0])
    return learners
