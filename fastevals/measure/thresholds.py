"""Values at a threshold, and the best thresholds, as functions of threshold counts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag, check_number, python_number
from fastevals.counting.sweeps import best_row
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure import cells
from fastevals.measure.registry import COSTS, Detail, Metric, ReplicateKernel, find_criterion
from fastevals.results import UNDEFINED_POINT, OperatingPoint

LARGEST_INTEGER_OPTION = 2**15  # above it, squares times counts could exceed 64 bits


def confusion_counts(counts: ThresholdCounts, thresholds: NDArray[Any]) -> NDArray[Any]:
    """Return the confusion matrix at each threshold, the negative class first."""
    tp, fp, fn, tn = counts.cells(counts.rows_at_least(thresholds))
    return np.stack((np.stack((tn, fp), axis=-1), np.stack((fn, tp), axis=-1)), axis=-2)


def expected_cost(
    counts: ThresholdCounts, threshold: NDArray[Any], cost_fp: float, cost_fn: float, prior: float | None
) -> float:
    """Return the mean cost per row at a threshold."""
    at = counts.cells(counts.rows_at_least(threshold))
    return float(cells.expected_cost(at, cost_fp, cost_fn, prior))


def best_threshold(
    counts: ThresholdCounts,
    metric: str | Callable[..., Any],
    maximize: bool | None,
    costs: tuple[float, float, float | None],
) -> OperatingPoint:
    """Return the best value of a metric of one threshold, and the highest threshold that attains it."""
    options = dict(zip(COSTS, costs, strict=True))
    maximize = None if maximize is None else as_flag("maximize", maximize)
    if callable(metric):
        _check_costs_used("a function", (), options)
        function, sign = _as_cell_function("metric", metric), -1 if maximize is False else 1
        return _operating_point(counts, best_row(counts, lambda at: sign * function(at)), function)
    entry = find_criterion("metric", metric)
    entry_options = entry.own_options(options)
    _check_costs_used(repr(entry.name), entry_options, options)
    row = best_row_by(counts, entry, entry_options, maximize)
    return _operating_point(counts, row, lambda at: entry(at, **entry_options))


def best_row_by(
    counts: ThresholdCounts, entry: Metric, options: dict[str, Any], maximize: bool | None = None
) -> int | None:
    """Return the row of the highest threshold that is best by a metric of cells; `options` has all its options."""
    sign = 1 if (entry.greater_is_better if maximize is None else maximize) else -1
    present = {name: value for name, value in options.items() if value is not None}
    integers = {name: int(value) for name, value in present.items() if value == int(value) < LARGEST_INTEGER_OPTION}
    parts = _signed(entry.parts, sign, integers) if entry.parts is not None and len(integers) == len(present) else None
    size = 1.0 if entry.bounds[0] < 0 else 0.0
    return best_row(counts, lambda at: sign * entry.function(at, **options), parts, size=size)


def _signed(function: Callable[..., Any], sign: int, options: dict[str, int]) -> Callable[[Cells], tuple[Any, Any]]:
    def parts(at: Cells) -> tuple[Any, Any]:
        numerator, denominator = function(at, **options)
        return sign * numerator, denominator

    return parts


def threshold_for(counts: ThresholdCounts, name: str, limit: Any) -> OperatingPoint:
    """Return the best value of one rate while another is within its limit, and the highest threshold attaining it."""
    return _operating_point(counts, row_within(counts, name, checked_limit(name, limit)), CONSTRAINTS[name].best)


def checked_limit(name: str, limit: Any) -> float:
    """Check the limit of a constraint and return it as a float."""
    return check_number(name, limit, low=0, high=CONSTRAINTS[name].largest)


def row_within(counts: ThresholdCounts, name: str, limit: float) -> int | None:
    """Return the row at which one rate is best while another is within its limit; None if no row is.

    For `n_predicted` return the highest threshold that predicts the most rows positive within the limit, even if the
    last of these rows add no recall.
    """
    rate, bound, best, sign, *_ = CONSTRAINTS[name]
    if name == QUOTA:
        rows = range(counts.thresholds.size)
        last = bisect_right(rows, limit, key=lambda row: rate(counts.cells(row))) - 1
        return bisect_left(rows, rate(counts.cells(last)), key=lambda row: rate(counts.cells(row)))

    def other_rate(at: Cells) -> Any:
        return np.where(bound * rate(at) >= bound * limit, sign * best(at), np.nan)

    return best_row(counts, other_rate, _signed(best.parts, sign, {}))


def _operating_point(counts: ThresholdCounts, row: int | None, function: Callable[[Cells], Any]) -> OperatingPoint:
    if row is None:
        return UNDEFINED_POINT
    at = Cells(*(np.asarray(cell) for cell in counts.cells(row)))
    return OperatingPoint(float(function(at)), python_number(counts.thresholds[row]))


def _n_predicted(at: Cells) -> Any:
    return at.tp + at.fp


QUOTA = "n_predicted"


class Constraint(NamedTuple):
    """What a constraint bounds, and which rate is optimized under it."""

    rate: Callable[[Cells], Any]  # the rate, or number, that is bounded
    bound: int  # 1: from below, -1: from above
    best: cells.Quotient  # the rate that is optimized
    sign: int  # 1: maximized, -1: minimized
    largest: float  # largest possible limit
    replicate: ReplicateKernel  # finds a bootstrap replicate's threshold


CONSTRAINTS: dict[str, Constraint] = {
    "precision": Constraint(cells.precision, 1, cells.recall, 1, 1.0, ReplicateKernel("with_precision")),
    "recall": Constraint(cells.recall, 1, cells.precision, 1, 1.0, ReplicateKernel("with_recall", Detail.POSITIVES)),
    "fpr": Constraint(cells.false_positive_rate, -1, cells.recall, 1, 1.0, ReplicateKernel("within_fpr")),
    "tpr": Constraint(
        cells.recall, 1, cells.false_positive_rate, -1, 1.0, ReplicateKernel("with_tpr", Detail.POSITIVES)
    ),
    QUOTA: Constraint(
        _n_predicted, -1, cells.recall, 1, math.inf, ReplicateKernel("within_n_predicted", Detail.THRESHOLDS)
    ),
}


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_costs_used(metric: str, used: Iterable[str], options: dict[str, Any]) -> None:
    """Raise if costs or a prior are given for a metric that does not take them."""
    if not {*COSTS}.intersection(used) and options != {"cost_fp": 1.0, "cost_fn": 1.0, "prior": None}:
        raise ValueError(f"cost_fp, cost_fn and prior apply only to metric='expected_cost', got them with {metric}")


def _as_cell_function(name: str, function: Callable[..., Any]) -> Callable[[Any], NDArray[Any]]:
    """Wrap a user's function of (tp, fp, fn, tn) so that it must return numbers of their shape."""

    def checked(cells: Any) -> NDArray[Any]:
        values = np.asarray(function(*cells))
        if values.dtype.kind not in "fiub" or values.shape != np.shape(cells[0]):
            raise ValueError(
                f"{name} must return real numbers of the counts' shape {np.shape(cells[0])}, "
                f"got dtype {values.dtype} of shape {values.shape}"
            )
        return values.astype(np.float64, copy=False)

    return checked
