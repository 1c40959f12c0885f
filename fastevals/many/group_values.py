"""Metrics of scores in each group, by compiled loops; with few groups or no kernel, by one call per group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels import replicate_metrics, replicate_thresholds
from fastevals._kernels.groups_metrics import average_precisions, count_at_least, doubled_wins, weighted_aucs
from fastevals._kernels.groups_sweeps import fill_group_steps, sum_over_rows, sweep_of_groups
from fastevals._validation.arrays import EXACT_INTEGER, check_probabilities
from fastevals.counting.groups import spans
from fastevals.counts import USUAL_SUM, Cells, ThresholdCounts
from fastevals.many.group_scores import GroupedScores
from fastevals.measure.metric_specs import RankingMetric
from fastevals.measure.registry import OF_PAIRS, Metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW_GROUPS = 1 << 7  # calls for this many groups take no longer than loading a compiled loop; compiling takes 50 x that


class GroupValues(NamedTuple):
    """Metrics of groups, with their rows and weights.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        Keys of the groups, ascending.
    values : list of ndarray of shape (n_groups,)
        Values of each metric; NaN where undefined.
    n_samples : ndarray of int64 of shape (n_groups,)
        Number of rows of weight above zero.
    weights : ndarray of shape (n_groups,)
        Total weight of each group's rows.
    n_positives, n_negatives : ndarray of int64 of shape (n_groups,), or None
        Rows of each class, for metrics of scores.
    variances : ndarray of shape (n_groups,), or None
        DeLong's variances of AUCs; NaN where a class has fewer than two rows.
    """

    groups: NDArray[Any]
    values: list[Floats]
    n_samples: Ints
    weights: Floats
    n_positives: Ints | None = None
    n_negatives: Ints | None = None
    variances: Floats | None = None


def grouped_values(metrics: Sequence[RankingMetric], scores: GroupedScores) -> list[Floats]:
    """Return metrics of scores for each group, NaN where undefined.

    Kernels measure all groups in one call. Users' functions and metrics without a kernel are called once per group. If
    groups are few, metrics whose kernel sweeps thresholds are called once per group too.
    """
    values: dict[int, Floats] = {}
    swept: dict[int, RankingMetric] = {}
    for k, metric in enumerate(metrics):
        entry = metric.of_counts if isinstance(metric.of_counts, Metric) else None
        name, of_probabilities = entry and entry.name, entry is not None and entry.of == "probabilities"
        if of_probabilities:
            check_probabilities("y_score", *scores.extremes)
        if name in OF_PAIRS:
            values[k] = grouped_aucs(scores, name)
        elif name == "average_precision":
            values[k] = _average_precisions(scores)
        elif metric.threshold is not None and metric.of_cells is not None:
            values[k] = np.asarray(metric.of_cells(_cells_at(scores, metric.threshold)), dtype=np.float64)
        elif (
            metric.sweep is None
            or scores.groups.size <= FEW_GROUPS
            or (of_probabilities and scores.threshold_dtype != np.float64)  # their kernels don't accept long doubles
        ):
            values[k] = np.full(scores.groups.size, math.nan)
            _measure_one_by_one(metric, scores, np.ones(scores.groups.size, dtype=np.bool_), values[k])
        else:
            swept[k] = metric
    for k, found in zip(swept, _swept_values(list(swept.values()), scores), strict=True):
        values[k] = np.clip(found, *metrics[k].bounds)  # rounded values may exceed the bounds
    return [values[k] for k in range(len(metrics))]


# Metrics with kernels of their own, without needless roundings --------------------------------------------------------


def grouped_aucs(scores: GroupedScores, form: str = "roc_auc") -> Floats:
    """Return each group's AUC in the given form; NaN if a class is missing. Unweighted values are rounded once."""
    numerator = OF_PAIRS[form]
    aucs = np.empty(scores.groups.size)
    if scores.weights is not None:
        scores.each(
            lambda first, last: weighted_aucs(scores.keys, scores.weights, scores.starts, first, last, aucs),
            compiles=weighted_aucs,
        )
        return np.asarray(numerator(aucs, 1.0))
    doubled = np.empty(scores.groups.size, dtype=np.int64)
    scores.each(
        lambda first, last: doubled_wins(scores.keys, scores.starts, first, last, doubled), compiles=doubled_wins
    )
    pairs = 2.0 * scores.n_positives * scores.n_negatives
    np.divide(numerator(doubled, pairs), pairs, out=aucs, where=pairs > 0)
    aucs[pairs == 0] = math.nan
    for g in np.flatnonzero(pairs >= EXACT_INTEGER).tolist():  # a float would be rounded before the division
        exact = 2 * int(scores.n_positives[g]) * int(scores.n_negatives[g])
        aucs[g] = numerator(int(doubled[g]), exact) / exact
    return aucs


def _average_precisions(scores: GroupedScores) -> Floats:
    """Return the average precision of each group, NaN without positives."""
    values = np.empty(scores.groups.size)
    scores.each(
        lambda first, last: average_precisions(scores.keys, scores.row_weights, scores.starts, first, last, values),
        compiles=average_precisions,
    )
    return values


def _cells_at(scores: GroupedScores, threshold: NDArray[Any]) -> Cells:
    """Return the cells of each group at a threshold."""
    key, above = _key_at(scores, threshold)
    slot_weights: NDArray[Any] = np.empty((2 * scores.groups.size, 2))

    def count(first: int, last: int) -> None:
        count_at_least(scores.keys, scores.row_weights, scores.starts, key, above, 2 * first, 2 * last, slot_weights)

    scores.each(count, compiles=count_at_least)
    if scores.weights is None:
        slot_weights = slot_weights.astype(np.int64)
    (fp, tn), (tp, fn) = slot_weights.reshape(-1, 2, 2).transpose(1, 2, 0)
    return Cells(tp, fp, fn, tn)


def _key_at(scores: GroupedScores, threshold: NDArray[Any]) -> tuple[np.uint64, bool]:
    """Return the lowest key at or above a threshold, and False; if no integer is as high, the highest key and True."""
    codec = scores.codec
    if codec.distinct is not None:
        codes = np.array([np.searchsorted(codec.distinct, threshold)])
        return codec.encode(codes)[0], False
    if codec.dtype.kind == "f":
        with np.errstate(over="ignore"):
            rounded = threshold.astype(np.float64)
        if rounded.astype(np.longdouble) < threshold.astype(np.longdouble):
            rounded = np.nextafter(rounded, math.inf)
        return codec.encode(np.atleast_1d(rounded + 0.0))[0], False  # -0.0 is 0.0
    limits = np.iinfo(codec.dtype)
    if np.isinf(threshold):
        integer: int = limits.max + 1 if threshold > 0 else limits.min
    else:
        integer = math.ceil(threshold.item())
    return codec.encode(np.array([min(max(integer, limits.min), limits.max)], dtype=codec.dtype))[
        0
    ], integer > limits.max


# Metrics swept by the kernels of replicates ---------------------------------------------------------------------------


class GroupSteps(NamedTuple):
    """Steps of consecutive groups, each from its highest threshold down.

    Attributes
    ----------
    positives, negatives : ndarray of shape (n_steps,)
        Rows, or their total weight, at each distinct score.
    thresholds : ndarray of shape (n_steps,)
        Distinct scores, of a type that can hold the scores of all groups.
    ends : ndarray of int64 of shape (n_groups,)
        Where each group's steps end.
    totals : ndarray of shape (n_groups, 2)
        Positives and negatives of each group.
    """

    positives: Floats
    negatives: Floats
    thresholds: NDArray[Any]
    ends: NDArray[np.int64]
    totals: Floats

    @classmethod
    def of_span(cls, scores: GroupedScores, first: int, last: int) -> GroupSteps:
        """Count rows at each step for the groups from `first` up to `last`."""
        n = int(scores.starts[2 * last] - scores.starts[2 * first])
        positives, negatives, keys = np.empty(n), np.empty(n), np.empty(n, dtype=np.uint64)
        ends, totals = np.empty(last - first, dtype=np.int64), np.empty((last - first, 2))
        fill_group_steps(
            scores.keys, scores.row_weights, scores.starts, first, last, positives, negatives, keys, ends, totals
        )
        steps = slice(ends[-1])
        thresholds = scores.codec.decode(keys[steps]).astype(scores.threshold_dtype, copy=False)
        return cls(positives[steps], negatives[steps], thresholds, ends, totals)

    def counts(self, g: int, dtype: type) -> ThresholdCounts:
        """Return the threshold counts of the g-th group of the span, with a given dtype."""
        steps = slice(self.ends[g - 1] if g else 0, self.ends[g])
        thresholds = np.concatenate(([np.inf], self.thresholds[steps]))
        counts: NDArray[Any] = np.zeros((2, thresholds.size), dtype=dtype)
        counts[:, 1:] = np.cumsum(self.positives[steps]), np.cumsum(self.negatives[steps])
        return ThresholdCounts._unchecked(thresholds, *counts)


def _measure_one_by_one(metric: RankingMetric, scores: GroupedScores, chosen: NDArray[np.bool_], out: Floats) -> None:
    """Write a metric for the chosen groups that have rows, with one call per group."""
    chosen = chosen & (np.diff(scores.starts[::2]) > 0)
    dtype = np.int64 if scores.weights is None else np.float64
    for first, last in spans(scores.starts[::2]):
        here = np.flatnonzero(chosen[first:last])
        if here.size:
            steps = GroupSteps.of_span(scores, first, last)
            out[first + here] = [metric.of_counts(steps.counts(g, dtype)) for g in here.tolist()]


def _swept_values(metrics: Sequence[RankingMetric], scores: GroupedScores) -> list[Floats]:
    """Return the values of metrics with a kernel; the steps of a span of groups are counted once for all metrics."""
    if not metrics:
        return []
    totals = np.empty((scores.groups.size, 2))
    swept = [np.empty((scores.groups.size, 2 if metric.of_cells else 1)) for metric in metrics]

    def sweep(first: int, last: int) -> None:
        steps = GroupSteps.of_span(scores, first, last)
        totals[first:last] = steps.totals
        for metric, out in zip(metrics, swept, strict=True):
            _sweep_span(metric, steps, out[first:last])

    scores.each(sweep, compiles=("swept groups", *(metric.sweep for metric in metrics)))
    # If weights add up to a number far from 1, products of sums may overflow or underflow.
    unusual = ((totals != 0) & ~((totals > 1 / USUAL_SUM) & (totals < USUAL_SUM))).any(axis=1)
    results = []
    for metric, out in zip(metrics, swept, strict=True):
        out[unusual] = math.nan
        values = _values_of(metric, scores, totals.T, out.T)
        _measure_one_by_one(metric, scores, unusual, values)
        results.append(values)
    return results


def _sweep_span(metric: RankingMetric, steps: GroupSteps, out: Floats) -> None:
    """Write the results of a metric's kernel for each group of a span."""
    assert metric.sweep is not None
    sweep = metric.sweep
    if sweep.of_thresholds is not None:
        p = steps.thresholds.astype(np.float64)
        bins = np.searchsorted(np.arange(1, sweep.n_bins) / sweep.n_bins, p)
        terms = sweep.of_thresholds(p)
        sum_over_rows(steps.positives, steps.negatives, *terms, bins, steps.ends, steps.totals, out)
        return
    kernel = getattr(replicate_thresholds if metric.of_cells else replicate_metrics, sweep.kernel)
    scratch = tuple(np.empty((sweep.scratch, steps.positives.size + 2)))
    tied = np.ones(steps.positives.size, dtype=np.bool_)  # each step is a single threshold
    sweep_of_groups(kernel, metric.of_cells is not None)(
        steps.positives, steps.negatives, tied, steps.ends, steps.totals, metric.parameters, scratch, out
    )


def _values_of(metric: RankingMetric, scores: GroupedScores, totals: Floats, swept: Floats) -> Floats:
    """Turn the results of a metric's kernel (values, or counts above a threshold) into values for all groups."""
    if metric.of_cells is None:
        transform = metric.sweep.then if metric.sweep else None
        return swept[0] if transform is None else np.asarray(transform(swept[0]))
    (n_pos, n_neg), defined = totals, swept[0] >= 0  # NaN if a group has no such threshold, or no rows
    tp, fp = np.where(defined, swept, 0.0)
    cells = tp, fp, n_pos - tp, n_neg - fp
    if scores.weights is None:
        cells = tuple(each.astype(np.int64) for each in cells)
    return np.where(defined, metric.of_cells(Cells(*cells)), math.nan)
