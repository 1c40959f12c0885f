"""Metrics of the sorted scores of groups: those with a kernel at once, others group by group."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.groups_metrics import average_precisions, count_at_least, doubled_wins, weighted_aucs
from fastevals._kernels.sweep import sweep_pairs
from fastevals.measure.asked import AskedMetric, RankingMetric
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.many.groups.scores import GroupedScores
from fastevals.measure.ranking_metrics import WON_PAIRS
from fastevals.measure.registry import METRICS

__all__ = ["aucs_of", "values_of"]

Floats = NDArray[np.float64]

EXACT = 2**53


def aucs_of(scores: GroupedScores, form: str = "roc_auc") -> Floats:
    """Give the AUC of each group, or a form of it, NaN where a class is missing; without weights rounded once."""
    numerator = WON_PAIRS[form]
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
    for g in np.flatnonzero(pairs >= EXACT).tolist():  # which a float rounds before it is divided
        exact = 2 * int(scores.n_positives[g]) * int(scores.n_negatives[g])
        aucs[g] = numerator(int(doubled[g]), exact) / exact
    return aucs


def values_of(asked: AskedMetric | Callable[..., Any], metric: RankingMetric, scores: GroupedScores) -> Floats:
    """Give a metric of scores for each group, NaN where it is undefined.

    AUC, average precision and metrics at a fixed threshold are of all groups at once; others take a call for each.
    """
    name = asked.name if isinstance(asked, AskedMetric) else ""
    if name in WON_PAIRS and not metric.parameters:
        return aucs_of(scores, name)
    if name == "average_precision":
        values = np.empty(scores.groups.size)
        scores.each(
            lambda first, last: average_precisions(scores.keys, scores.row_weights, scores.starts, first, last, values),
            compiles=average_precisions,
        )
        return values
    if metric.threshold is not None and metric.of_cells is not None:
        return np.asarray(metric.of_cells(_cells_at(scores, metric.threshold)), dtype=np.float64)
    if name in METRICS and METRICS[name].of == "probabilities":
        check.check_probabilities("y_score", *scores.extremes())
    there = np.flatnonzero(np.diff(scores.starts[::2]))
    values = np.full(scores.groups.size, math.nan)
    dtype = scores.codec.threshold_dtype(scores.extremes())
    for g in there.tolist():
        values[g] = metric.of_counts(counts_of(scores, g, dtype))
    return values


def counts_of(scores: GroupedScores, g: int, dtype: np.dtype[Any]) -> ThresholdCounts:
    """Give the threshold counts of a group that has rows, with thresholds of a type that holds all scores."""
    start, middle, stop = scores.starts[2 * g : 2 * g + 3]
    keys, codec = scores.keys[start:stop], scores.codec
    distinct = np.unique(keys)[::-1]
    tps, fps = np.zeros((2, distinct.size + 1), dtype=np.int64 if scores.weights is None else np.float64)
    if scores.weights is None:
        for part, totals in ((scores.keys[middle:stop], tps), (scores.keys[start:middle], fps)):
            totals[1:] = part.size - np.searchsorted(part, distinct)
    else:
        signed = scores.weights[start:stop].copy()
        signed[: middle - start] *= -1
        order = np.argsort(keys, kind="stable")
        bits = np.empty(distinct.size, dtype=np.int64)
        sweep_pairs(
            keys[order], signed[order], 0.0, 0.0, 0.0, 0.0, codec.flip_below, codec.flip, bits, tps[1:], fps[1:]
        )
    thresholds = np.empty(tps.size, dtype=dtype)
    thresholds[0], thresholds[1:] = np.inf, codec.decode(distinct)
    return ThresholdCounts(thresholds, tps, fps)


def _cells_at(scores: GroupedScores, threshold: NDArray[Any]) -> Cells:
    """Give the cells of each group at a threshold."""
    key, above = _key_at(scores, threshold)
    of_slots: NDArray[Any] = np.empty((2 * scores.groups.size, 2))

    def count(first: int, last: int) -> None:
        count_at_least(scores.keys, scores.row_weights, scores.starts, key, above, 2 * first, 2 * last, of_slots)

    scores.each(count, compiles=count_at_least)
    if scores.weights is None:
        of_slots = of_slots.astype(np.int64)
    (fp, tn), (tp, fn) = of_slots.reshape(-1, 2, 2).transpose(1, 2, 0)
    return Cells(tp, fp, fn, tn)


def _key_at(scores: GroupedScores, threshold: NDArray[Any]) -> tuple[np.uint64, bool]:
    """Give the key such that scores at or above a threshold have it or a higher one, or only a higher one."""
    codec = scores.codec
    if codec.distinct is not None:
        codes = np.array([np.searchsorted(codec.distinct, threshold)])
        return codec.encode(codes)[0], False
    if codec.dtype.kind == "f":
        with np.errstate(over="ignore"):
            near = threshold.astype(np.float64)
        if near.astype(np.longdouble) < threshold.astype(np.longdouble):
            near = np.nextafter(near, math.inf)
        return codec.encode(np.atleast_1d(near + 0.0))[0], False  # -0.0 is 0.0
    limits = np.iinfo(codec.dtype)
    if np.isinf(threshold):
        whole: int = limits.max + 1 if threshold > 0 else limits.min
    else:
        whole = math.ceil(threshold.item())
    return codec.encode(np.array([min(max(whole, limits.min), limits.max)], dtype=codec.dtype))[0], whole > limits.max
