"""Costs that differ by row, in a gate: metrics of what decisions cost, and the evidence on them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from fastevals._options import UndefinedMetricWarning, as_flag, check_no_options, show
from fastevals._validation.arrays import as_thresholds
from fastevals.infer.bootstrap.bootstrap import FEWEST_REPLICATES, BootstrapSettings, Estimate
from fastevals.infer.costs.decisions import BEST, FIXED, PER_ROW
from fastevals.infer.costs.measured import CostedRows, CostEstimates
from fastevals.infer.gate.evidence import NO_EVIDENCE, Evidence, RarerClass
from fastevals.results import Interval

FIRST_LEVEL = 0.95  # of the estimate whose value, error and caution are read


class CostEntry(NamedTuple):
    """A quantity of what decisions cost."""

    title: str
    of: str  # name of the quantity among those of `DecisionCost`
    greater_is_better: bool
    is_sum: bool  # whether it is a sum over the rows, which depends on their number


COST_METRICS = {
    "mean_cost": CostEntry("mean cost", "total", False, False),
    "total_cost": CostEntry("total cost", "total", False, True),
    "savings": CostEntry("amount saved", "savings", True, True),
    "savings_share": CostEntry("share saved", "savings_share", True, False),
    "savings_over_all": CostEntry("amount saved over predicting all positive", "savings_over_all", True, True),
    "savings_over_all_share": CostEntry(
        "share saved over predicting all positive", "savings_over_all_share", True, False
    ),
}
OPTIONS = ("threshold", "per_row_rule", "best")
COSTS_OF_BEST = ("expected_cost", "cost")  # names of the metric for which best thresholds are best


@dataclass(frozen=True, slots=True)
class CostMetric:
    """A metric of what decisions cost if costs differ by row, as `row_costs` measures it; `str()` gives its name.

    Attributes
    ----------
    name : str
        A name of `COST_METRICS`.
    threshold : float or None
        A threshold fixed beforehand.
    per_row_rule : bool
        Whether the per-row rule decides. If neither decides, each model has its threshold of the lowest total cost.
    """

    name: str
    threshold: float | None = None
    per_row_rule: bool = False

    @classmethod
    def of(cls, name: str, options: Mapping[str, Any]) -> CostMetric:
        """Return the metric with options as they are written in a rule; raise if one is unknown or wrong."""
        check_no_options(name, options, OPTIONS)
        best, threshold = options.get("best"), options.get("threshold")
        if best is not None and best not in COSTS_OF_BEST:
            raise ValueError(f"best must be expected_cost, because thresholds have the lowest total cost, got {best!r}")
        per_row = as_flag("per_row_rule", options.get("per_row_rule", False))
        if threshold is not None:
            threshold = float(as_thresholds("threshold", threshold, scalar=True))
        if (threshold is not None) + per_row + (best is not None) > 1:
            given = " and ".join(each for each in OPTIONS if options.get(each) not in (None, False))
            raise ValueError(f"{given} exclude each other: one rule decides which rows are predicted positive")
        return cls(name, threshold, per_row)

    @property
    def entry(self) -> CostEntry:
        """The quantity."""
        return COST_METRICS[self.name]

    @property
    def decision(self) -> str:
        """The rule that decides which rows are predicted positive."""
        return PER_ROW if self.per_row_rule else BEST if self.threshold is None else FIXED

    @property
    def title(self) -> str:
        """The metric in words."""
        by = {
            BEST: "at its best threshold",
            FIXED: f"at threshold={show(self.threshold)}",
            PER_ROW: "by the per-row rule",
        }
        return f"{self.entry.title} {by[self.decision]}"

    def __str__(self) -> str:
        options = {"threshold": self.threshold, "per_row_rule": self.per_row_rule or None}
        given = [f"{name}={show(value)}" for name, value in options.items() if value is not None]
        return f"{self.name}({', '.join(given)})" if given else self.name


class CostEvidence:
    """Evidence on metrics of what models' decisions cost on the same rows.

    Parameters
    ----------
    rows : CostedRows
    metrics : mapping of str to CostMetric
        By label.
    settings : BootstrapSettings
        The replicates and their seed; levels are chosen later.
    budget : int
        Rows x models x replicates that are drawn; larger data have fewer replicates, but at least 199.
    progress : bool
    """

    def __init__(
        self,
        rows: CostedRows,
        metrics: Mapping[str, CostMetric],
        settings: BootstrapSettings,
        budget: int,
        *,
        progress: bool = False,
    ) -> None:
        self.rows, self.metrics, self.settings, self.budget, self.progress = rows, metrics, settings, budget, progress
        parts = {"positives": rows.positive, "negatives": ~rows.positive}
        self._few = RarerClass.of(parts, rows.weights, rows.groups).why_few
        self._estimates = cache(self._estimates_of)

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""
        metric = self.metrics[label]
        found = self._measured(metric, draws=False)
        if isinstance(found, str):
            return NO_EVIDENCE.without(found)
        of, key = metric.entry.of, (model, metric.decision)
        return self._evidence(metric, found, lambda settings: found.estimate(of, key, settings))

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Return the evidence on a model's metric minus `factor` times another's."""
        metric = self.metrics[label]
        scores = self.rows.scores
        if factor == 1 and np.array_equal(scores[model], scores[other]):
            return self._checked(Evidence(0.0, 0.0, "identical predictions", lambda _: Interval(0.0, 0.0)))
        found = self._measured(metric, draws=True)
        if isinstance(found, str):
            return NO_EVIDENCE.without(found)
        of, decision, models = metric.entry.of, metric.decision, (model, other)
        return self._evidence(metric, found, lambda settings: found.difference(of, decision, models, factor, settings))

    def _evidence(
        self, metric: CostMetric, found: CostEstimates, estimate: Callable[[BootstrapSettings], Estimate]
    ) -> Evidence:
        """Return the evidence of an estimate, which has an interval at the level of given settings."""
        scale = 1 / found.weight if metric.name == "mean_cost" else 1.0  # means are totals divided by the rows

        @cache
        def at(level: float) -> Estimate:
            with warnings.catch_warnings():  # too few replicates: the bounds are infinite, and the gate says so
                warnings.simplefilter("ignore")
                return estimate(self.settings._replace(confidence_level=2 * level - 1))

        def interval(level: float) -> Interval:
            low, high = at(level).confidence_interval
            return Interval(scale * low, scale * high)

        first, n = at(FIRST_LEVEL), found.settings.n_resamples
        value, error = scale * first.value, scale * first.standard_error
        method = f"{first.method}, {n:,} replicates" if n and n != self.settings.n_resamples else first.method
        return self._checked(
            Evidence(
                value, error, method, interval, int(first.n_undefined), first.caution, n_replicates=n,
                is_sum=metric.entry.is_sum,
            )
        )  # fmt: skip

    def estimate(self, label: str, model: str) -> tuple[float, float]:
        """Return a model's metric and its standard error."""
        found = self.of(label, model)
        return found.value, found.standard_error

    def _measured(self, metric: CostMetric, *, draws: bool) -> CostEstimates | str:
        """Return what decisions cost by a metric's rule, or why that is unknown."""
        if metric.per_row_rule:
            for model, scores in self.rows.scores.items():
                if scores.size and not 0 <= scores.min() <= scores.max() <= 1:
                    raise ValueError(f"{metric} needs probabilities: scores of {model} are outside [0, 1]")
            if leaks := self.rows.amounts.leaks(self.rows.positive):
                name, of_class = leaks[0]
                return f"{name} is 0 in all {of_class} rows and not in all others, so it reveals the label to the rule"
        return self._estimates(metric.decision, metric.threshold, draws or metric.decision == BEST)

    def _estimates_of(self, decision: str, threshold: float | None, draws: bool) -> CostEstimates | str:
        at = None if threshold is None else np.asarray(threshold)
        n_resamples = self._n_resamples if draws else 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                return CostEstimates(
                    self.rows, self.settings._replace(n_resamples=n_resamples), at, decision == PER_ROW, (decision,),
                    progress=self.progress,
                )  # fmt: skip
        except ValueError as error:  # such as costs of a segment that are all 0
            return str(error)

    @property
    def _n_resamples(self) -> int:
        """Number of replicates: fewer than asked for if the rows are so many that they take too long."""
        of_budget = self.budget // (self.rows.positive.size * len(self.rows.scores))
        return min(self.settings.n_resamples, max(FEWEST_REPLICATES, of_budget))

    def _checked(self, found: Evidence) -> Evidence:
        """Return the evidence, without bounds if a class has too few rows or there is no interval."""
        if math.isnan(found.value):
            return found.without("the metric is undefined")
        return found.without(self._few) if self._few else found
