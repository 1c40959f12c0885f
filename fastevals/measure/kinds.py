"""What the metrics that a user asks for are taken of (scores, predicted labels or targets), and within which bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastevals._validation.options import check_choice, check_no_options, check_number, check_options
from fastevals.counts import Cells
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.metric_specs import METRIC_ALIASES, THRESHOLD_OPTIONS, MetricSpec
from fastevals.measure.registry import METRICS, UNBOUNDED

MatrixMetric = Callable[[ConfusionMatrix], Any]


def metric_kind(spec: MetricSpec, argument: str = "metrics") -> str:
    """Return what a metric is taken of: "targets", "scores" or predicted "labels"."""
    check_choice(argument, spec.name, METRICS, METRIC_ALIASES)
    entry = METRICS[spec.name]
    if entry.of == "targets":
        return "targets"
    at_threshold = any(name in THRESHOLD_OPTIONS for name in spec.options)
    return "labels" if entry.of_labels and not at_threshold else "scores"


def metric_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float]:
    """Return the least and the largest value that a metric can have."""
    if not isinstance(spec, MetricSpec):
        return UNBOUNDED
    if spec.options.get("standardize") is False:
        return 0.0, spec.options.get("max_fpr") or 1.0
    return METRICS[spec.name].bounds


def optimized_bounds(spec: MetricSpec | Callable[..., Any]) -> tuple[float, float] | None:
    """Return within which bounds that varies of which a metric is the best, chosen on the rows; None of other metrics.

    Accuracy at the threshold of the least error rate is such a metric too: both have the same best threshold.
    """
    if not isinstance(spec, MetricSpec):
        return None
    own, by = METRICS[spec.name], spec.options.get("best")
    if by is None:
        return own.optimized_bounds
    alike = own.best is not None and own.best is METRICS[by].best
    return metric_bounds(spec) if alike or by == spec.name else None


def is_greater_better(spec: MetricSpec | Callable[..., Any]) -> bool | None:
    """Return a metric's direction, None of a function, whose direction isn't known."""
    return METRICS[spec.name].greater_is_better if isinstance(spec, MetricSpec) else None


def matrix_metric(spec: MetricSpec | Callable[..., Any], argument: str = "metrics") -> MatrixMetric:
    """Return the function of a matrix, or a stack, that a metric is."""
    if not isinstance(spec, MetricSpec):
        return spec
    name, options = spec.name, spec.options
    check_choice(argument, name, [each for each, entry in METRICS.items() if entry.of_labels], None)
    if METRICS[name].is_matrix_method:
        method = getattr(ConfusionMatrix, name)
        check_options(str(spec), method, options, " in metric(...)")
        return lambda matrix: getattr(matrix, name)(**options)
    check_no_options(str(spec), options, ["average"])

    def of_cells(at: Cells) -> Any:
        return METRICS[name](at)

    return lambda matrix: matrix._averaged(
        name, of_cells, options.get("average", "binary"), symmetric=METRICS[name].symmetric
    )


def target_metric(spec: MetricSpec | Callable[..., Any], argument: str = "metrics") -> tuple[str, float]:
    """Return the name of a metric of targets, and the quantile that it is taken at."""
    if not isinstance(spec, MetricSpec):
        raise ValueError(f"{argument}: functions go with a Ranking or a ConfusionMatrix, not with targets")
    check_choice(argument, spec.name, [name for name, entry in METRICS.items() if entry.of == "targets"], None)
    check_no_options(str(spec), spec.options, METRICS[spec.name].options)
    return spec.name, check_number("quantile", spec.options.get("quantile", 0.5), low=0, high=1)
