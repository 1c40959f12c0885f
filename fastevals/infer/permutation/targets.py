"""Predicted numbers that are swapped: a mean loss changes by differences of losses whose signs are flipped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import mark_first
from fastevals.infer.bootstrap.samples import SLOW_PER_TASK
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic, permuted_difference
from fastevals.infer.permutation.scores import RowSwaps
from fastevals.infer.permutation.signs import nonzero_differences, permute_signs, scaled_mean
from fastevals.infer.significance.paired import scale_to_unit
from fastevals.measure.kinds import TargetMetric

Floats = NDArray[np.float64]

LEAST_DENOMINATOR = 2.0**-52  # that an error is divided by, as in `regression_metrics`
TINY = 2.0**-1000
OF_SQUARES = ("mean_squared_error", "root_mean_squared_error", "r2")


def permute_targets(
    targets: NDArray[Any],
    pred_a: NDArray[Any],
    pred_b: NDArray[Any],
    metric: TargetMetric,
    label: str,
    plan: PermutationPlan,
    pos_label: Any,
) -> PermutedStatistic:
    """Test a metric of errors."""
    name, quantile = metric
    targets, pred_a, pred_b = (each.astype(np.float64) for each in (targets, pred_a, pred_b))
    (y, *predicted), far = scale_to_unit(targets, pred_a, pred_b)
    (a, b), near = scale_to_unit(*(each - y for each in predicted))
    square, n = 2 * int(near[0]), targets.size
    unit = int(far[0] + near[0])  # errors are at most 1 in units of 2**unit: their squares don't overflow
    if name == "median_absolute_error":
        return _permute_medians(np.abs(a), np.abs(b), unit, plan)
    a, b = (_losses(name, each, targets, quantile) for each in (a, b))
    differences = nonzero_differences(b, a) if name == "r2" else nonzero_differences(a, b)
    tested, inner = permute_signs(differences.values, plan), differences.exponent
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
    outer = 2 * unit if name in OF_SQUARES else unit
    return tested._replace(in_unit=lambda sums: scaled_mean(sums, n, inner + outer))


def _losses(name: str, errors: Floats, targets: Floats, quantile: float) -> Floats:
    """Return the losses that the metric is made of by their sum."""
    if name in OF_SQUARES:
        return errors * errors
    if name == "mean_absolute_percentage_error":
        return np.abs(errors) / np.maximum(np.abs(targets), LEAST_DENOMINATOR)
    if name == "pinball_loss":
        return np.where(errors < 0, -quantile * errors, (1 - quantile) * errors)
    return np.abs(errors)


def _root_differences(sums: Any, total: float, n: int) -> Any:
    """Return differences of roots of mean squares from differences of sums, whose total no permutation changes."""
    roots = sum(np.sqrt(np.maximum(total + side * sums, 0.0) / (2 * n)) for side in (1, -1))
    return sums / n / np.maximum(roots, TINY)  # the difference of squares over the sum: no digits cancel


def _permute_medians(a: Floats, b: Floats, unit: int, plan: PermutationPlan) -> PermutedStatistic:
    """Test the median absolute error, which no sum tells."""
    swaps = RowSwaps(a != b, plan)
    places = swaps.places(np.arange(a.size))

    def medians(words: NDArray[np.uint64]) -> tuple[float, float]:
        marks = np.empty(a.size, dtype=np.uint8)
        mark_first(words, places, marks)
        return float(np.median(np.where(marks, a, b))), float(np.median(np.where(marks, b, a)))

    def task(numbers: range) -> Floats:
        return np.array([first - second for first, second in map(medians, map(swaps.words, numbers))])

    parts = run(task, swaps.tasks(SLOW_PER_TASK), progress=plan.progress, compiles=True)
    return permuted_difference(*medians(swaps.own()), swaps.distribution(parts))._replace(
        in_unit=lambda values: scaled_mean(values, 1, unit)
    )
