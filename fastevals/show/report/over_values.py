"""Metrics over the values of the --by column: of each value by itself, and their means."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progressed
from fastevals._options import UndefinedMetricWarning
from fastevals._random import seed_key
from fastevals.many.group_bootstrap import bootstrap_mean
from fastevals.many.groups import GroupedMetric, grouped_auc, grouped_metrics, mean_over_groups
from fastevals.results import check_confidence_level
from fastevals.show.commands import option
from fastevals.show.report.intervals import AUC, RANKING_COLUMNS, IntervalPlan, ScoredRows

MOST_BLOCKS = 100  # values with a block each: 300 take 5,000 lines, which nobody reads, and a minute of bootstraps
MANY_COLUMNS = (AUC, "average_precision")  # of many values: these are computed at once, others by a call for each
EXACT = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class OverValues:
    """Metrics of each value, over all values and their means."""

    values: list[Any]  # those that have rows of weight above zero, ascending
    # By model and metric; AUC with intervals: DeLong's, but of the mean of many values from a bootstrap of whole
    # values, since of many some seldom lack what DeLong's needs.
    metrics: dict[str, dict[str, GroupedMetric]]
    has_blocks: bool  # whether each value has a block too
    why_none: str | None  # why there are no intervals of DeLong's; None where there are, empty where none are wanted
    n_replicates: int | None  # of the bootstrap of whole values, where there is one

    @property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Rows, positive ones and the weight of each value."""
        auc = next(iter(self.metrics.values()))[AUC]
        assert auc.n_positives is not None
        return auc.n_samples, auc.n_positives, auc.weights


class ExtremeValue(NamedTuple):
    """The lowest or highest of a metric, the place of the --by value that has it (with most rows), and how many do."""

    metric: float
    place: int
    n_values: int


def have_blocks(values: Sequence[Any]) -> bool:
    """Return whether values are so few that each has a block."""
    return len(values) <= MOST_BLOCKS


def measure_over_values(
    values: Sequence[Any],
    codes: NDArray[np.intp],
    rows: ScoredRows,
    plan: IntervalPlan | None,
    blocks: Sequence[Mapping[str, Mapping[str, float]]],
) -> OverValues:
    """Measure the rows of each value of the --by column: `codes` are their places among the ascending values.

    All metrics of rankings that tables show, from the metrics of each value's `blocks` by model, where there are some;
    AUC and average precision where there are too many values.
    """
    has_blocks = bool(blocks)
    why_none = "" if plan is None else _why_none(rows)
    weights: dict[str, Any] = {"sample_weight": rows.weights}
    delong: dict[str, Any] = {}
    if plan is not None and not why_none:
        delong = {"interval": "delong", "confidence_level": plan.confidence}
    bootstrap_plan = None if has_blocks or rows.groups is not None else plan
    metrics = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # notes say it
        for name, scores in progressed(rows.scores.items(), "measuring values"):
            auc = grouped_auc(rows.positive, scores, codes, **weights, **delong)
            if bootstrap_plan is not None:
                auc = _bootstrap_values(auc, bootstrap_plan)
            metrics[name] = {AUC: auc}
            if has_blocks:
                for other in RANKING_COLUMNS[1:]:
                    metrics[name][other] = _gather_values(other, auc, [block[name][other] for block in blocks])
            else:
                metrics[name] |= grouped_metrics(rows.positive, scores, codes, MANY_COLUMNS[1:], **weights)
    n_replicates = None if bootstrap_plan is None else bootstrap_plan.resamples
    return OverValues(list(values), metrics, has_blocks, why_none, n_replicates)


def _gather_values(metric: str, auc: GroupedMetric, values: Sequence[float]) -> GroupedMetric:
    """Return a metric of values that are measured, each beside its AUC."""
    of_values = np.array(values)
    return GroupedMetric(
        metric, auc.groups, of_values, auc.n_samples, auc.n_positives, auc.n_negatives, auc.weights,
        mean_over_groups(of_values, auc.weights), mean_over_groups(of_values, np.ones(of_values.size)),
        pos_label=auc.pos_label,
    )  # fmt: skip


def _bootstrap_values(auc: GroupedMetric, plan: IntervalPlan) -> GroupedMetric:
    """Return the AUCs with an interval of their mean, from draws of whole values."""
    tail, key = check_confidence_level(plan.confidence)[1] / 2, seed_key(option("seed"), plan.seed)
    error, interval = bootstrap_mean(auc.values, auc.weights, plan.resamples, tail, key)
    return replace(auc, mean_standard_error=error, mean_confidence_interval=interval)


def _why_none(rows: ScoredRows) -> str | None:
    if rows.groups is not None:
        return "DeLong's don't hold for rows in groups"
    if rows.weights is not None:
        if (rows.weights != np.trunc(rows.weights)).any():
            return "DeLong's don't hold with weights that are not whole numbers"
        if rows.weights.sum() > EXACT:
            return "DeLong's don't hold with weights that add up to more than 2**53"
    return None


def find_extreme(metric: GroupedMetric, sign: int) -> ExtremeValue | None:
    """Return the lowest value (sign 1) or the highest (-1); None where all are undefined."""
    signed = sign * metric.values
    if metric.n_undefined == len(metric):
        return None
    places = np.flatnonzero(signed == np.nanmin(signed))
    place = int(places[np.argmax(metric.weights[places])])
    return ExtremeValue(float(metric.values[place]), place, places.size)
