"""Counts of several rankings at every threshold of any: added up, or such that their rates are averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.curves.geometry import Polyline, limits
from fastevals.measure.curves.roc import corners
from fastevals.measure.ranking import Ranking

__all__ = ["mean_at_each_fpr", "mean_precision_and_recall", "mean_rates", "mean_shares", "pooled_counts"]


def pooled_counts(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Add up the counts at each threshold."""
    with np.errstate(over="ignore"):
        thresholds, tps, fps = _over_thresholds(rankings, lambda at: (at.tp, at.fp))
        check.check_pooled("rankings", tps[-1] + fps[-1])
    return ThresholdCounts(thresholds, tps, fps)


def mean_rates(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Average TPR and FPR at each threshold."""
    thresholds, tpr, fpr = _over_thresholds(rankings, lambda at: (cells.recall(at), cells.false_positive_rate(at)))
    return ThresholdCounts(thresholds, tpr / len(rankings), fpr / len(rankings))


def mean_precision_and_recall(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Give counts, for one positive row, that have the averages of precision and recall at each threshold."""
    thresholds, recall, false, precision, defined = _over_thresholds(rankings, _recall_and_precision)
    recall, precision = recall / len(rankings), cells.ratio(precision, defined)
    # With no recall the average of false positives will do.
    found = recall > 0
    false = np.where(found, recall * (1 / np.where(found, precision, 1.0) - 1), false / len(rankings))
    return ThresholdCounts(thresholds, recall, false)


def mean_shares(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Give counts, for one positive row, that have the averages of the shares of rows and of positives found."""
    thresholds, gain, share = _over_thresholds(rankings, lambda at: (cells.recall(at), _share_predicted(at)))
    # Of any number of rows: that of the fold with the fewest positives, so that no false positives are below zero.
    n_rows = max(1 + each.counts.n_neg / each.counts.n_pos for each in rankings)
    found = gain / len(rankings)
    return ThresholdCounts(thresholds, found, np.maximum(share / len(rankings) * n_rows - found, 0.0))


def mean_at_each_fpr(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Average the TPR at each FPR: jumps stay jumps, so the polyline of all folds' places is exact."""
    lines = []
    for each in rankings:
        at = corners(each.counts).cells()
        lines.append(Polyline(cells.false_positive_rate(at), cells.recall(at)))
    fpr = np.unique(np.concatenate([line.x for line in lines]))
    sides = [limits(line, fpr) for line in lines]
    tpr = np.stack([sum(side[k] for side in sides) / len(rankings) for k in (0, 1)], axis=1).ravel()
    points = np.stack((np.repeat(fpr, 2), tpr))
    kept = np.append(True, (np.diff(points, axis=1) > 0).any(axis=0))
    fpr, tpr = points[:, kept]
    thresholds = np.full(fpr.size, np.nan)
    thresholds[0] = np.inf
    return ThresholdCounts(thresholds, tpr, fpr)


def _over_thresholds(rankings: Sequence[Ranking], terms: Callable[[Cells], tuple[Any, ...]]) -> list[NDArray[Any]]:
    """Give every threshold of any ranking, descending, and sums over the rankings of terms of their cells there."""
    counts = [each.counts for each in rankings]
    thresholds = np.unique(np.concatenate([each.thresholds for each in counts]))[::-1].copy()
    sums: list[Any] = []
    for each in counts:
        rows = np.searchsorted(-each.thresholds, -thresholds, side="right") - 1
        values = terms(each.cells(rows))
        sums = list(values) if not sums else [a + b for a, b in zip(sums, values, strict=True)]
    return [thresholds, *sums]


def _recall_and_precision(at: Cells) -> tuple[Any, ...]:
    """Give recall, false positives for a positive row, precision (0 where there is none) and whether there is one."""
    predicted = at.tp + at.fp > 0
    precision = np.where(predicted, cells.precision(at), 0.0)
    return cells.recall(at), cells.ratio(at.fp, at.tp + at.fn), precision, predicted.astype(np.int64)


def _share_predicted(at: Cells) -> Any:
    return cells.ratio(at.tp + at.fp, at.tp + at.fp + at.fn + at.tn)
