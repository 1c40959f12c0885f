"""Metrics of predicted numbers in each group, computed from sums over its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks
from fastevals._kernels.groups_errors import add_errors, middle_rows
from fastevals._validation.arrays import FLOAT64, in_usual_unit
from fastevals.counting.groups import code_groups
from fastevals.counting.ordering import BinaryLabels, plain_block
from fastevals.counts import USUAL_SUM
from fastevals.many.group_scores import grouped_scores
from fastevals.many.group_values import GroupValues
from fastevals.measure.error_metrics import RegressionSums
from fastevals.measure.kinds import TARGETS, TargetMetric
from fastevals.measure.regression import in_range

Array = NDArray[Any]
Floats = NDArray[np.float64]


def grouped_errors(
    metrics: Sequence[TargetMetric], targets: Array, predictions: Array, groups: Array, weights: Floats | None
) -> GroupValues:
    """Return metrics of finite targets and predictions; NaN for a group without rows of weight above zero."""
    keys = code_groups(groups)
    codes = keys.block(slice(None))
    occurring = np.flatnonzero(np.bincount(codes, minlength=keys.width))
    numbers = np.zeros(keys.width, dtype=np.uint32)
    numbers[occurring] = np.arange(occurring.size)
    rows = _Rows(numbers[codes], occurring.size, targets, predictions, None)
    totals = np.bincount(rows.groups, weights, rows.n_groups).astype(np.float64, copy=False)
    if weights is not None:
        rows = rows._replace(weights=in_usual_unit(weights))
        rows = rows if weights.all() else rows.take(np.flatnonzero(weights))
    summed = cache(lambda: _sum_errors(rows))  # medians need no sums
    values = []
    for metric in metrics:
        if metric.name == "median_absolute_error":
            values.append(_medians(rows))
        else:
            sums, unusual = summed()
            values.append(metric.of_sums(sums))
            _measure_one_by_one(metric, rows, np.flatnonzero(unusual), values[-1])
    return GroupValues(keys.keys(occurring), values, np.bincount(rows.groups, minlength=rows.n_groups), totals)


class _Rows(NamedTuple):
    """Rows, and the number (from 0) of each row's group."""

    groups: NDArray[np.uint32]
    n_groups: int
    targets: Array
    predictions: Array
    weights: Floats | None

    def take(self, rows: NDArray[np.intp]) -> _Rows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return _Rows(self.groups[rows], self.n_groups, self.targets[rows], self.predictions[rows], weights)


def _sum_errors(rows: _Rows) -> tuple[RegressionSums, NDArray[np.bool_]]:
    """Return the sums of each group (NaN without rows), and flags of groups whose sums may have lost digits."""
    sums, of_targets = np.zeros((rows.n_groups, 5, 2)), np.zeros((rows.n_groups, 4))
    for block in blocks(slice(0, rows.groups.size)):
        y, p = plain_block(rows.targets[block], FLOAT64), plain_block(rows.predictions[block], FLOAT64)
        add_errors(rows.groups[block], y, p, None if rows.weights is None else rows.weights[block], sums, of_targets)
    weight, square, over, under, relative = sums[:, :, 0].T
    _, scatter, _, differing = of_targets.T
    unusual = ~((weight > 1 / USUAL_SUM) & (weight < USUAL_SUM))
    unusual |= ~in_range(square) & (over + under > 0)
    unusual |= ~in_range(scatter) & (differing > 0)
    unusual &= weight > 0
    weight[weight == 0] = math.nan
    return RegressionSums(weight, scatter, square, over, under, relative), unusual


def _medians(rows: _Rows) -> Floats:
    """Return the median absolute error of each group, NaN without rows."""
    medians = np.full(rows.n_groups, math.nan)
    with np.errstate(over="ignore"):
        errors, unit = np.abs(np.subtract(rows.targets, rows.predictions, dtype=np.float64)), 1.0
        if not np.isfinite(errors).all():
            errors, unit = np.abs(np.multiply(rows.targets, 0.5) - np.multiply(rows.predictions, 0.5)), 2.0
        labels = BinaryLabels(np.ones(errors.size, dtype=np.bool_), True, None)
        found = grouped_scores(labels, errors, rows.groups, rows.weights)
        errors, starts = found.codec.decode(found.keys), found.starts[::2].copy()
        middle = np.empty((found.groups.size, 2), dtype=np.int64)
        found.each(
            lambda first, last: middle_rows(found.row_weights, errors, starts, first, last, middle),
            compiles=middle_rows,
        )
        low, high = errors[middle].T * unit
        total = low + high
        medians[found.groups] = np.where(total < math.inf, total / 2, low / 2 + high / 2)
    return medians


def _measure_one_by_one(metric: TargetMetric, rows: _Rows, chosen: NDArray[np.intp], out: Floats) -> None:
    """Write a metric for the chosen groups, with one call per group, which scales values by the group's own units."""
    if not chosen.size:
        return
    order = np.argsort(rows.groups, kind="stable")
    ends = np.searchsorted(rows.groups[order], np.stack((chosen, chosen + 1)))
    for g, start, stop in zip(chosen, *ends, strict=True):
        part = rows.take(order[start:stop])
        out[g] = TARGETS.evaluate_rows(part.targets, [part.predictions], part.weights, [metric])[0][0]
