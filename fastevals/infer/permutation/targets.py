"""Swap predicted numbers; for a mean loss, a swap flips the sign of a row's difference in loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import mark_first
from fastevals.infer.bootstrap.samples import SLOW_PER_TASK
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic, permuted_difference
from fastevals.infer.permutation.scores import RowSwaps
from fastevals.infer.permutation.signs import paired_differences, permute_signs, scaled_mean
from fastevals.infer.significance.paired import scale_to_unit
from fastevals.measure.error_metrics import LEAST_DENOMINATOR, MEDIAN, SQUARED, RegressionSums
from fastevals.measure.kinds import MEAN_LOSS, QuantileMetric, TargetMetric
from fastevals.measure.registry import METRICS

Floats = NDArray[np.float64]

LEAST_ROOTS = 2.0**-1000


def permute_targets(
    targets: NDArray[Any],
    pred_a: NDArray[Any],
    pred_b: NDArray[Any],
    metric: TargetMetric,
    label: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Permute the predicted numbers of two models, for a metric of errors."""
    name, loss = metric.name, METRICS[metric.name].loss
    targets, pred_a, pred_b = (each.astype(np.float64) for each in (targets, pred_a, pred_b))
    if loss is None and name != MEDIAN:
        return _permute_sums(targets, pred_a, pred_b, metric, plan)
    (y, *predicted), far = scale_to_unit(targets, pred_a, pred_b)
    (a, b), near = scale_to_unit(*(each - y for each in predicted))
    square, n = 2 * int(near[0]), targets.size
    unit = int(far[0] + near[0])  # in units of 2**unit errors are at most 1, so their squares do not overflow
    if loss is None:
        a, b = np.abs(a), np.abs(b)
        tested = _permute_rows(a != b, lambda own: float(np.median(np.where(own, a, b))), plan)
        return tested._replace(in_unit=lambda values: scaled_mean(values, 1, unit))
    a, b = (loss.of_rows(each, targets, **metric.options) for each in (a, b))
    values, inner, _ = paired_differences(b, a) if name == "r2" else paired_differences(a, b)
    tested = permute_signs(values[values != 0], plan)
    if name == "root_mean_squared_error":
        total = float(a.sum() + b.sum())
        return tested._replace(
            in_unit=lambda sums: scaled_mean(_root_differences(np.ldexp(sums, inner), total, n), 1, unit)
        )
    if name == "r2":
        deviations = y - y.mean()
        if (targets == targets[0]).all():
            return tested._replace(statistic=math.nan)
        scatter = float((deviations * deviations).sum())
        return tested._replace(in_unit=lambda sums: scaled_mean(sums, scatter, inner + square))
    outer = 2 * unit if loss is SQUARED else unit
    return tested._replace(in_unit=lambda sums: scaled_mean(sums, n, inner + outer))


def permute_quantiles(
    targets: NDArray[Any],
    pred_a: NDArray[Any],
    pred_b: NDArray[Any],
    metric: QuantileMetric,
    label: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Permute the losses of two models' predicted quantiles, as errors of numbers predicted for targets of 0."""
    a, b = (metric.losses(targets, each) for each in (pred_a, pred_b))
    return permute_targets(np.zeros(targets.size), a, b, MEAN_LOSS, label, plan, pos_label)


def _root_differences(sums: Any, total: float, n: int) -> Any:
    """Return differences of root mean squares, given differences of sums of squares and the sums' constant total."""
    roots = sum(np.sqrt(np.maximum(total + side * sums, 0.0) / (2 * n)) for side in (1, -1))
    return sums / n / np.maximum(roots, LEAST_ROOTS)  # (a**2 - b**2) / (a + b) avoids cancellation


def _permute_rows(
    differ: NDArray[np.bool_], measure: Callable[[NDArray[np.bool_]], float], plan: PermutationPlan
) -> PermutedStatistic:
    """Permute rows for a metric that is not a mean of losses; `measure` computes it from a mask of unswapped rows."""
    swaps = RowSwaps(differ, plan)
    places = swaps.places(np.arange(differ.size))

    def both(words: NDArray[np.uint64]) -> tuple[float, float]:
        marks = np.empty(differ.size, dtype=np.uint8)
        mark_first(words, places, marks)
        own = marks.view(np.bool_)
        return measure(own), measure(~own)

    def task(numbers: range) -> Floats:
        with np.errstate(invalid="ignore"):  # both infinite
            return np.array([first - second for first, second in map(both, map(swaps.words, numbers))])

    parts = run(task, swaps.tasks(SLOW_PER_TASK), progress=plan.progress, compiles=True)
    return permuted_difference(*both(swaps.own()), swaps.distribution(parts))


def _permute_sums(
    targets: Floats, pred_a: Floats, pred_b: Floats, metric: TargetMetric, plan: PermutationPlan
) -> PermutedStatistic:
    """Permute rows for any metric of sums; each permutation adds up its sums again."""
    least = np.maximum(np.abs(targets), LEAST_DENOMINATOR)

    def terms(errors: Floats) -> Floats:
        return np.stack((errors * errors, np.maximum(errors, 0.0), np.maximum(-errors, 0.0), np.abs(errors) / least))

    with np.errstate(over="ignore"):
        scatter = float(np.square(targets - targets.mean()).sum())
        a, b = terms(pred_a - targets), terms(pred_b - targets)

    def measure(own: NDArray[np.bool_]) -> float:
        sums = np.where(own, a, b).sum(axis=1, keepdims=True)
        return float(metric.of_sums(RegressionSums(float(targets.size), scatter, *sums)).item())

    return _permute_rows(pred_a != pred_b, measure, plan)
