"""Predicted numbers that are swapped: a mean loss changes by differences of losses whose signs are flipped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import mark_first
from fastevals._validation.arrays import as_scores, check_finite, check_same_length
from fastevals.infer.bootstrap.row_samples import MEDIAN
from fastevals.infer.bootstrap.samples import SLOW_PER_TASK
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic, permuted_difference
from fastevals.infer.permutation.scores import RowSwaps
from fastevals.infer.permutation.signs import nonzero_differences, permute_signs, scaled_mean
from fastevals.infer.significance.paired import scale_to_unit
from fastevals.measure.kinds import target_metric
from fastevals.measure.regression import as_double

Floats = NDArray[np.float64]

LEAST_DENOMINATOR = 2.0**-52  # that an error is divided by, as in `regression_metrics`
TINY = 2.0**-1000
OF_SQUARES = ("mean_squared_error", "root_mean_squared_error", "r2")


def permute_targets(y_true: Any, pred_a: Any, pred_b: Any, spec: Any, plan: PermutationPlan) -> PermutedStatistic:
    """Test a metric of errors."""
    name, quantile = target_metric(spec, "metric")
    given = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    values = {key: as_double(key, as_scores(key, each)).astype(np.float64) for key, each in given.items()}
    check_same_length(**values)
    for key, each in values.items():
        check_finite(key, each)
    targets, *_ = values.values()
    (y, *predicted), far = scale_to_unit(*values.values())
    (a, b), near = scale_to_unit(*(each - y for each in predicted))
    square, n = 2 * int(near[0]), targets.size
    unit = int(far[0] + near[0])  # errors are at most 1 in units of 2**unit: their squares don't overflow
    if name == MEDIAN:
        return _permute_medians(np.abs(a), np.abs(b), unit, plan)
    a, b = (_losses(name, each, targets, quantile) for each in (a, b))
    found = nonzero_differences(b, a) if name == "r2" else nonzero_differences(a, b)
    tested, inner = permute_signs(found.values, plan), found.exponent
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
