"""What the metrics that a user asks for are taken of (scores, predicted labels or targets), and within which bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fastevals._validation.options import check_choice, check_no_options, check_number, check_options
from fastevals.counts import Cells
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_specs import (
    ERRORS,
    MATRIX_METRICS,
    METRIC_ALIASES,
    METRIC_NAMES,
    OF_MATRICES,
    THRESHOLD_OPTIONS,
    MetricSpec,
)
from fastevals.measure.registry import METRICS

MatrixMetric = Callable[[ConfusionMatrix], Any]

SYMMETRIC = ("informedness",)  # of metrics of cells alone: the same whichever of two classes is positive
LESS_IS_BETTER = ("hamming_loss", "cost")  # of matrices, beside what the registry says
UNBOUNDED = (-math.inf, math.inf)


def metric_kind(spec: MetricSpec, argument: str = "metrics") -> str:
    """Tell what a metric is taken of: targets, scores or predicted labels."""
    check_choice(argument, spec.name, METRIC_NAMES, METRIC_ALIASES)
    if spec.name in ERRORS:
        return "targets"
    of_scores = spec.name in METRICS and (METRICS[spec.name].of != "cells" or spec.name == "expected_cost")
    return "scores" if of_scores or any(name in THRESHOLD_OPTIONS for name in spec.options) else "labels"


def metric_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float]:
    """Return what a metric can be."""
    if not isinstance(spec, MetricSpec) or spec.name == "cost":
        return UNBOUNDED
    if spec.name in ERRORS:
        return (-math.inf, 1.0) if spec.name == "r2" else (0.0, math.inf)
    if spec.options.get("standardize") is False:
        return 0.0, spec.options.get("max_fpr") or 1.0
    return METRICS[spec.name].bounds if spec.name in METRICS else (0.0, 1.0)


def optimized_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float] | None:
    """Return within which bounds that varies of which a metric is the best, chosen on the rows; None of other metrics.

    Accuracy at the threshold of the least error rate is such a metric too: both have the same best threshold.
    """
    if not isinstance(spec, MetricSpec):
        return None
    own, by = METRICS.get(spec.name), spec.options.get("best")
    if by is None:
        return own.optimized_bounds if own else None
    other = METRICS.get(by)
    alike = own and other and own.best is not None and own.best is other.best
    return metric_bounds(spec) if alike or by == spec.name else None


def is_greater_better(spec: MetricSpec | Callable[..., Any]) -> bool | None:
    """Tell a metric's direction, None of a function, whose direction isn't known."""
    if not isinstance(spec, MetricSpec):
        return None
    if spec.name in METRICS:
        return METRICS[spec.name].greater_is_better
    return spec.name == "r2" if spec.name in ERRORS else spec.name not in LESS_IS_BETTER


def matrix_metric(spec: MetricSpec | Callable[..., Any], argument: str = "metrics") -> MatrixMetric:
    """Return the function of a matrix, or a stack, that a metric is."""
    if not isinstance(spec, MetricSpec):
        return spec
    name, options = spec.name, spec.options
    check_choice(argument, name, OF_MATRICES, None)
    if name in MATRIX_METRICS:
        method = getattr(ConfusionMatrix, name)
        check_options(str(spec), method, options, " in metric(...)")
        return lambda matrix: getattr(matrix, name)(**options)
    check_no_options(str(spec), options, ["average"])

    def of_cells(at: Cells) -> Any:
        return METRICS[name](at)

    return lambda matrix: matrix._averaged(
        name, of_cells, options.get("average", "binary"), symmetric=name in SYMMETRIC
    )


def target_metric(spec: MetricSpec | Callable[..., Any], argument: str = "metrics") -> tuple[str, float]:
    """Return the name of a metric of targets, and the quantile that it is taken at."""
    if not isinstance(spec, MetricSpec):
        raise ValueError(f"{argument}: functions go with a Ranking or a ConfusionMatrix, not with targets")
    check_choice(argument, spec.name, ERRORS, None)
    check_no_options(str(spec), spec.options, ["quantile"] if spec.name == "pinball_loss" else [])
    return spec.name, check_number("quantile", spec.options.get("quantile", 0.5), low=0, high=1)
