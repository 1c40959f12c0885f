"""A metric of rows that are spread over workers, each of which computes the same value for all rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals.integrations._metric import OneMetric
from fastevals.integrations._rounds import check_labels, mean_of_round
from fastevals.measure.kinds import CLASSES, LABELS, SCORES, TARGETS, is_row_mean, metric_kind
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.registry import METRICS
from fastevals.scale.certified import Certified, CertifiedRanking
from fastevals.scale.fixed_grid import BINARY, NOTHING_SEEN, any_scores_grid, cells_of_grid, count_in_grid
from fastevals.scale.rounding import PARTS, Spare
from fastevals.scale.summary import UNITS, read_rows

T = TypeVar("T")


class Workers(NamedTuple):
    """How the workers of a cluster exchange arrays. Each must call the same functions in the same order.

    Attributes
    ----------
    rank, size : int
        Number of this worker, from 0, and the number of all.
    allreduce : callable
        ``allreduce(array, "sum" | "max")`` returns the elementwise sum or maximum of all workers' arrays.
    broadcast : callable
        ``broadcast(text, rank)`` returns the text of the worker of this rank.
    """

    rank: int
    size: int
    allreduce: Callable[[NDArray[Any], Literal["sum", "max"]], NDArray[Any]]
    broadcast: Callable[[str, int], str]

    def run(self, task: Callable[[], T]) -> T:
        """Run a task on each worker; if it raises an error on some of them, raise the first one's error on all."""
        found, error = None, None
        try:
            found = task()
        except Exception as raised:  # any error, or the other workers would wait for this one for ever
            error = raised
        failed = self.allreduce(np.array([0 if error is None else self.size - self.rank]), "max")
        first = self.size - int(failed[0])
        if first < self.size:
            text = self.broadcast(str(error) if isinstance(error, ValueError) else repr(error), first)
            raise ValueError(f"worker {first}: {text}") from error
        return found  # type: ignore[return-value]


def value_of_workers(
    metric: OneMetric, y_true: Any, predicted: Any, weights: Any, sizes: Any, workers: Workers, *, tool: str
) -> float | Certified:
    """Return a metric of the rows of all workers, the same on each; the rows are as for `value_of_round`.

    A worker may have no rows. Metrics of rankings and at thresholds are certified by counts in a fixed grid. A mean
    over rows or queries is the mean of the workers' means.
    """
    mean_of = _mean_of(metric.spec)
    if metric.is_of_queries or mean_of is not None:
        of_rows = metric if mean_of is None else OneMetric(metric.name, mean_of)

        def sums() -> NDArray[np.float64]:
            if not np.shape(y_true)[0] or (np.size(weights) and weights is not None and not np.any(weights)):
                return np.zeros(2)
            value, weight = mean_of_round(of_rows, y_true, predicted, weights, sizes, tool=tool)
            return np.array([value * weight if weight else 0.0, weight])

        total, weight = workers.allreduce(workers.run(sums), "sum")
        mean = float(total / weight) if weight else math.nan
        return mean if mean_of == metric.spec or mean_of is None else math.sqrt(mean)
    workers.run(lambda: _check_countable(metric, predicted, tool))
    return _counted_ranking(metric.spec, y_true, predicted, weights, workers).metric(metric.spec)


def _mean_of(spec: MetricSpec) -> MetricSpec | None:
    """Return the mean over rows that a metric is, or the square of; None if it is none."""
    entry, kind = METRICS[spec.name], metric_kind(spec)
    if spec.name == "root_mean_squared_error":
        return MetricSpec("mean_squared_error", spec.options)
    is_known = kind in (TARGETS, LABELS, CLASSES) or entry.for_classes
    return spec if is_known and is_row_mean(spec) else None


def _check_countable(metric: OneMetric, predicted: Any, tool: str) -> None:
    """Raise unless a metric follows from counts of scores, and there is one score per row."""
    shape, spec = np.shape(predicted), metric.spec
    if len(shape) == 1:
        check_labels(metric, np.asarray(predicted), tool)
    if metric_kind(spec) is not SCORES or METRICS[spec.name].of == "probabilities":
        raise ValueError(
            f"{spec} can't be computed on a cluster: it is neither a metric of rankings or at a threshold, nor a mean "
            "over rows or queries"
        )
    if len(shape) > 1 and shape[1] > 1:
        raise ValueError(f"{spec} of several classes can't be computed on a cluster; means over rows can, as log_loss")


def _counted_ranking(spec: MetricSpec, y_true: Any, predicted: Any, weights: Any, workers: Workers) -> CertifiedRanking:
    """Count the rows of all workers in one grid, and return what the counts tell of their ranking."""
    weights = weights if weights is not None and np.size(weights) else None
    largest = workers.run(lambda: np.array([0.0 if weights is None else np.max(weights)], np.float64))
    largest_weight = float(workers.allreduce(largest, "max")[0])
    unit = largest_weight / UNITS if largest_weight > 0 else None
    threshold = _threshold(spec)
    grid = any_scores_grid(at=() if threshold is None else (threshold,))
    counts, lost = np.zeros((2, grid.n_cells), np.int64), np.zeros(2, np.int64)
    ends = np.full((2, grid.n_cells), NOTHING_SEEN)

    def count() -> None:
        given = weights
        if unit is not None and given is None:
            given = np.ones(np.shape(y_true)[0])
        scores = np.asarray(predicted)
        read = read_rows((None, None), y_true, scores.reshape(-1), given, unit)
        if read is None:
            return
        _, flags, scores, units = read
        if units is None:
            count_in_grid(grid, flags, scores, counts, ends)
            return
        kept = units.counts > 0
        count_in_grid(grid, flags[kept], scores[kept], np.zeros_like(counts), ends)
        alternating = np.zeros((1, 2 * grid.n_cells), np.int64)
        grid.count(scores, flags, units.counts[None], alternating)
        counts[:] = alternating.reshape(-1, 2).T
        if units.lost is not None:
            lost[:] = np.bincount(flags, weights=units.lost, minlength=2)

    workers.run(count)
    summed = workers.allreduce(np.concatenate((counts.ravel(), lost)), "sum")
    ends = workers.allreduce(ends.ravel(), "max").reshape(ends.shape)
    cells = cells_of_grid(grid, summed[:-2].reshape(counts.shape), ends)
    spare = Spare(*(n / PARTS for n in summed[-2:].tolist()))
    return CertifiedRanking(cells, BINARY, unit=unit, spare=spare)


def _threshold(spec: MetricSpec) -> float | None:
    """Return the threshold of a metric at a threshold that is fixed beforehand."""
    given = ranking_metric(spec).threshold
    return None if given is None else float(given)
