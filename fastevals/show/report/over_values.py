"""Metrics over the values of the --by column: for each value, and their means."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progressed
from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning
from fastevals._random import seed_key
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.many.group_bootstrap import bootstrap_mean
from fastevals.many.group_comparison import GroupComparison
from fastevals.many.group_values import GroupValues
from fastevals.many.groups import GroupedMetric, group_results, grouped_auc, grouped_metrics
from fastevals.reading.rows import RowReader
from fastevals.results import check_confidence_level
from fastevals.show.report.intervals import RANKING_COLUMNS, IntervalPlan, ScoredRows
from fastevals.show.report.kinds import AUC

MOST_BLOCKS = 100  # values with a block each; 300 would take 5,000 lines and a minute of bootstraps
MOST_IN_TREND = 1000  # values of a trend, which text and pages show without a block each
MANY_COLUMNS = (AUC, "average_precision")  # for many values: one call computes each of these


@dataclass(frozen=True, slots=True, eq=False)
class OverValues:
    """Metrics of each value, and their means."""

    by: tuple[str, ...]  # the --by column, or several that are crossed
    values: list[Any]  # with rows of weight above zero, ascending; tuples for crossed columns
    # By model and metric. AUC has DeLong's intervals. The interval of its mean over many values is from a bootstrap of
    # whole values, because some of these values usually lack the rows that DeLong's method needs.
    metrics: dict[str, dict[str, GroupedMetric]]
    has_blocks: bool  # whether each value has a block too
    why_none: str | None = None  # why there are no DeLong intervals; None if there are, "" if none are wanted
    n_replicates: int | None = None  # of the bootstrap of whole values, if there is one
    differences: GroupComparison | None = None  # of models in each value; None for one model, or without intervals
    why_not_compared: str = ""  # why there are no differences; "" if there are, or if none are wanted
    # By model, for each value; None unless scores are probabilities. Empty without blocks.
    calibrated: dict[str, list[Calibration | None]] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """The metric that ranks the values."""
        return next(iter(next(iter(self.metrics.values()))))

    @property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Rows, positive rows and the weight of each value."""
        auc = next(iter(self.metrics.values()))[AUC]
        assert auc.n_positives is not None
        return auc.n_samples, auc.n_positives, auc.weights


class DividedRows(NamedTuple):
    """Rows divided by a --by column, or by crossed columns: the distinct values, and each row's position in them."""

    by: tuple[str, ...]
    values: list[Any]
    codes: NDArray[np.intp]

    def take(self, rows: Any) -> DividedRows:
        """Return the rows that an index or mask selects, with the values that they have."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return DividedRows(self.by, [self.values[k] for k in present.tolist()], codes)


class ExtremeValue(NamedTuple):
    """A metric's lowest or highest value, the position of a --by value that has it, and how many --by values have it.

    If several have it, the position is that of the --by value with the largest weight (without --weight: most rows).
    """

    metric: float
    place: int
    n_values: int


def most_blocks(*, is_trend: bool = False) -> int:
    """Return the number of values up to which each has a block."""
    return MOST_IN_TREND if is_trend else MOST_BLOCKS


def have_blocks(values: Sequence[Any], *, is_trend: bool = False) -> bool:
    """Return whether there are few enough values for a block each."""
    return len(values) <= most_blocks(is_trend=is_trend)


def measure_over_values(grouped: DividedRows, rows: ScoredRows, plan: IntervalPlan | None) -> OverValues:
    """Measure AUC and average precision for each of many values."""
    codes = grouped.codes
    if rows.are_copies and rows.weights is not None:  # other metrics of groups don't take copies
        codes, rows = np.repeat(codes, rows.weights.astype(np.int64)), rows.repeated()
    why_none = "" if plan is None else why_no_delong(rows)
    weights: dict[str, Any] = {"sample_weight": rows.weights}
    delong: dict[str, Any] = {}
    if plan is not None and not why_none:
        delong = {"interval": "delong", "confidence_level": plan.confidence_level}
    bootstrap_plan = None if rows.groups is not None else plan
    metrics = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # a note says so
        for name, scores in progressed(rows.scores.items(), "measuring values"):
            auc = grouped_auc(rows.positive, scores, codes, **weights, **delong)
            if bootstrap_plan is not None:
                auc = _bootstrap_values(auc, bootstrap_plan)
            metrics[name] = {AUC: auc}
            metrics[name] |= grouped_metrics(rows.positive, scores, codes, MANY_COLUMNS[1:], **weights)
    n_replicates = None if bootstrap_plan is None else bootstrap_plan.n_resamples
    return OverValues(grouped.by, list(grouped.values), metrics, False, why_none, n_replicates)


def gather_over_blocks(blocks: Sequence[Any], plan: IntervalPlan | None, why_none: str | None) -> OverValues:
    """Gather the metrics of values that have a block each.

    Parameters
    ----------
    blocks : sequence of ReportBlock
    plan : IntervalPlan or None
    why_none : str or None
        Why there are no DeLong intervals.
    """
    counts: dict[str, Any] = {
        name: np.array([getattr(block, name) for block in blocks])
        for name in ("n_samples", "n_positives", "n_negatives")
    }
    counts["weights"] = np.array(
        [block.n_samples if block.total_weight is None else block.total_weight for block in blocks], dtype=np.float64
    )
    metrics: dict[str, dict[str, GroupedMetric]] = {}
    for k, model in enumerate(blocks[0].models):
        of_values = [np.array([block.models[k].metrics[metric] for block in blocks]) for metric in RANKING_COLUMNS]
        found = GroupValues(np.arange(len(blocks)), of_values, **counts)
        metrics[model.name] = group_results(RANKING_COLUMNS, found, warns=False)
        if plan is not None and not why_none:
            variances = np.array([block.models[k].auc_variance for block in blocks])
            found = found._replace(values=[metrics[model.name][AUC].values], variances=variances)
            tail = check_confidence_level(plan.confidence_level)[1]
            metrics[model.name] |= group_results([AUC], found, alpha=tail, warns=False)
    calibrated = {
        model.name: [block.models[k].calibrated for block in blocks] for k, model in enumerate(blocks[0].models)
    }
    values = [block.value for block in blocks]
    return OverValues(blocks[0].by, values, metrics, True, why_none, calibrated=calibrated)


def _bootstrap_values(auc: GroupedMetric, plan: IntervalPlan) -> GroupedMetric:
    """Return the AUCs with an interval of their mean, from a bootstrap of whole values."""
    tail, key = check_confidence_level(plan.confidence_level)[1] / 2, seed_key(option("rng"), plan.seed)
    error, interval = bootstrap_mean(auc.values, auc.weights, plan.n_resamples, tail, key)
    return replace(auc, mean_standard_error=error, mean_confidence_interval=interval)


def why_no_delong(rows: ScoredRows | RowReader) -> str | None:
    """Say why rows have no DeLong intervals; return None if they have them."""
    if rows.groups is not None:
        return "DeLong's intervals are not valid for clustered rows"
    if rows.weighs_rows:
        return "DeLong's intervals are not valid for weighted rows"
    return None


def find_extreme(metric: GroupedMetric, sign: int) -> ExtremeValue | None:
    """Return the lowest value (sign 1) or the highest (-1); None if all are undefined."""
    signed = sign * metric.values
    if metric.n_undefined == len(metric):
        return None
    places = np.flatnonzero(signed == np.nanmin(signed))
    place = int(places[np.argmax(metric.weights[places])])
    return ExtremeValue(float(metric.values[place]), place, places.size)
