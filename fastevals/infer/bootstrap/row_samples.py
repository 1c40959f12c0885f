"""Replicates of rows with an identity: with weights, in clusters, with scores of several models, or with targets.

A draw counts how often each unit (a row or a cluster) is drawn. A `CellCounter` adds the counts up by cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.draws import (
    ROW_BLOCK,
    ROW_LIMITS,
    ROW_TABLE,
    WORD_BLOCK,
    count_drawn,
    draw_rows,
    sum_drawn,
    take_drawn,
)
from fastevals._kernels.jackknife import draw_groups
from fastevals._kernels.random import stream_key
from fastevals._kernels.regression import EPSILON
from fastevals._validation.labels import (
    as_class_numbers,
    check_comparable_labels,
    check_groups_of_one_class,
    check_several_groups,
)
from fastevals._validation.text import TextLabels, distinct_labels, share_names, unique_rows
from fastevals.infer.bootstrap.samples import (
    CELLS_PER_TASK,
    GROUPS,
    MOST_PER_TASK,
    Sample,
    Values,
    jackknife_acceleration,
    usual_rate,
)
from fastevals.measure.error_metrics import RegressionSums
from fastevals.measure.kinds import MEAN_LOSS, TARGETS, TargetMetric
from fastevals.measure.registry import METRICS
from fastevals.measure.regression import choose_origin, sum_drawn_errors

Floats = NDArray[np.float64]
Times = NDArray[np.uint8]


class UnitSample(Sample):
    """Base class of samples that draw numbered rows, or clusters of rows, with replacement in each stratum.

    Parameters
    ----------
    units : SamplingUnits
        The units that are drawn.
    work : int
        Number of rows read per replicate.
    """

    def __init__(self, units: SamplingUnits, work: int) -> None:
        self._work, self.unit = work, "cluster" if units.grouped else "row"
        self.sizes = zero_bytes(units.n)
        self.sizes[: units.n] = 1
        stops = np.cumsum(units.strata).tolist()
        self.strata = [slice(stop - n, stop) for stop, n in zip(stops, units.strata, strict=True)]
        self._rows = list(map(RowSampler, units.strata))

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        return max(1, min(4 * CELLS_PER_TASK // self._work, MOST_PER_TASK))

    def times(self) -> Times:
        """Return the array into which a thread draws."""
        return np.zeros_like(self.sizes)

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[Times]:
        """Yield how often each unit is drawn in each replicate."""
        times = space[0]
        for number in numbers:
            stream = stream_key(key, np.uint64(number))
            for k, (part, rows) in enumerate(zip(self.strata, self._rows, strict=True)):
                rows.draw(np.uint64(stream_key(np.uint64(stream), np.uint64(k))), times[part])
            yield times

    def replicates_and_rest(self, n_resamples: int, key: np.uint64, *, progress: bool = False) -> list[Floats]:
        """Measure each draw, and the units that it leaves out (out of bag).

        Returns an array of shape (n_resamples, 2, ...) for each metric, NaN where undefined.
        """
        values = self._measure_draws(self._draws_and_rest, 2, n_resamples, key, progress)
        return [each.reshape(n_resamples, 2, *each.shape[1:]) for each in values]

    def _draws_and_rest(self, key: np.uint64, numbers: range, space: Any) -> Iterator[Times]:
        """Yield how often each unit is drawn in each replicate, then 1 for each unit that is not drawn."""
        rest = self.times()
        for times in self.draws(key, numbers, space):
            yield times
            np.less(times, self.sizes, out=rest.view(np.bool_))
            yield rest

    def draw_groups(self, key: np.uint64, part: slice) -> NDArray[np.uint8]:
        """Return the random group of each unit of a stratum."""
        groups = np.empty(part.stop - part.start, dtype=np.uint8)
        draw_groups(key, GROUPS, groups)
        return groups

    def without_group(self, key: Any, number: int, part: slice) -> Times:
        """Return 1 for each unit of a stratum, and 0 for the units of the group that is left out."""
        return np.asarray(key != number).view(np.uint8)


class TargetSample(UnitSample):
    """Rows with a target and the prediction of each model.

    A draw is measured by one sweep over all rows, in order, because extracting the drawn rows takes several times as
    long. The drawn rows are extracted only for the median, and for models whose sums have lost digits.
    """

    def __init__(
        self,
        targets: NDArray[Any],
        predictions: Sequence[NDArray[Any]],
        metrics: Sequence[TargetMetric],
        *,
        weights: NDArray[np.float64] | None,
        groups: Any,
        one_model: bool = False,
    ) -> None:
        self._metrics, self._one_model = metrics, one_model
        self._targets, self._predictions, self._weights = targets, predictions, weights
        self._needs_rows = any(each.name == "median_absolute_error" for each in metrics)
        self._needs_scatter = any("scatter" in METRICS[each.name].needs for each in metrics)
        self._origin = choose_origin(targets)
        units = SamplingUnits.number(targets.size, groups, None)
        self._unit_by_row = units.unit_by_row if units.grouped else None
        super().__init__(units, (8 if self._needs_rows else 1) * len(predictions) * targets.size)

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        values = TARGETS.evaluate_rows(self._targets, self._predictions, self._weights, self._metrics)
        return self._by_metric(np.array(values))

    def workspace(self) -> Any:
        """Return arrays for the draws of the units and, with clusters or weights, for reading the rows."""
        n = self._targets.size
        drawn = None if self._unit_by_row is None else zero_bytes(n)[:n]
        return self.times(), drawn, None if self._weights is None else np.empty(n)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws."""
        values = np.empty((n, len(self._metrics), len(self._predictions)))
        for times, row in zip(draws, values, strict=True):
            self._measure_draw(times, row, space)
        return self._by_metric(np.moveaxis(values, 1, 0))

    def _measure_draw(self, times: Times, values: Floats, space: Any) -> None:
        """Write each metric of each model, given the draws of the units."""
        drawn = times[: self._targets.size]
        if self._unit_by_row is not None:
            drawn = space[1]
            take_drawn(times, self._unit_by_row, drawn)
        weights = drawn if self._weights is None else np.multiply(drawn, self._weights, out=space[2])
        lost = np.ones(len(self._predictions), dtype=np.bool_)
        if not self._needs_rows:
            sums, lost = sum_drawn_errors(
                self._targets, self._predictions, weights, self._origin, scatter=self._needs_scatter
            )
            with np.errstate(invalid="ignore"):
                values[:] = TARGETS.evaluate(sums, self._metrics)
        if lost.any():
            values[:, lost] = self._measure_rows(np.flatnonzero(drawn), weights, np.flatnonzero(lost).tolist())

    def _measure_rows(self, rows: NDArray[np.intp], weights: NDArray[Any], models: Sequence[int]) -> Any:
        """Return each metric of some models on the drawn rows."""
        if not rows.size:  # the only row was left out
            return np.nan
        predictions = [self._predictions[k][rows] for k in models]
        return TARGETS.evaluate_rows(self._targets[rows], predictions, weights[rows].astype(np.float64), self._metrics)

    def _by_metric(self, values: Floats) -> Values:
        """Return an array for each metric, without the axis of models if there is a single one."""
        return list(values[..., 0] if self._one_model else values)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric of sums: leaving out a unit subtracts the contribution of its rows."""
        if self._metrics[metric].name == "median_absolute_error":
            return None
        return self._accelerations(self._metrics[metric], self._predictions)

    def _accelerations(self, metric: TargetMetric, models: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        results = []
        for predictions in models:
            with np.errstate(divide="ignore", invalid="ignore"):  # a single unit has no others
                others = _SumsOfOthers(self._targets, predictions, self._weights, self._unit_by_row)
                values = metric.of_sums(cast("RegressionSums", others))
            results.append(jackknife_acceleration(values, self.sizes[: values.size]))
        return results[0] if self._one_model else np.array(results)


class LossSample(TargetSample):
    """Rows with a loss for each metric and model; a metric is the mean of its losses.

    Parameters
    ----------
    losses : list of ndarray
        The losses of each model by the first metric, then by the next one, and so on.
    n_metrics : int
        Number of metrics.
    """

    def __init__(self, losses: Sequence[NDArray[Any]], n_metrics: int, **design: Any) -> None:
        self._n_metrics, self._n_models = n_metrics, len(losses) // n_metrics
        super().__init__(np.zeros(losses[0].size), losses, [MEAN_LOSS], **design)

    def _by_metric(self, values: Floats) -> Values:
        """Return an array for each metric, without the axis of models if there is a single one."""
        split = values[0].reshape(*values.shape[1:-1], self._n_metrics, self._n_models)
        return super()._by_metric(np.moveaxis(split, -2, 0))

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of the mean of a metric's losses."""
        models = self._predictions[metric * self._n_models : (metric + 1) * self._n_models]
        return self._accelerations(MEAN_LOSS, models)


class _SumsOfOthers:
    """`RegressionSums` without each unit in turn, as arrays of shape (n_units,), computed when a metric reads them.

    Errors and targets are scaled so that the largest is near 1, and squares neither overflow nor underflow. Skewness
    does not depend on the scale.
    """

    unit = 1.0

    def __init__(
        self,
        targets: NDArray[Any],
        predictions: NDArray[Any],
        weights: Floats | None,
        unit_by_row: NDArray[np.uint32] | None,
    ) -> None:
        self._weights, self._unit_by_row = weights, unit_by_row
        self._targets = np.multiply(targets, 0.25, dtype=np.float64)  # scaled by 1/4 so that no difference overflows
        self._errors = self._targets - np.multiply(predictions, 0.25, dtype=np.float64)

    def _of_others(self, terms: Any) -> Floats:
        weighted = terms if self._weights is None else terms * self._weights
        own = np.broadcast_to(weighted, self._errors.shape)
        if self._unit_by_row is not None:
            own = np.bincount(self._unit_by_row, own)
        return np.asarray(own.sum() - own)

    @property
    def weight(self) -> Floats:
        """Return the number of rows or the sum of weights."""
        return self._of_others(1.0)

    @cached_property
    def scatter(self) -> Floats:
        """Return the sum of squared deviations of the targets from their mean."""
        deviations = _near_one(self._targets - np.average(self._targets, weights=self._weights))
        return np.maximum(self._of_others(deviations**2) - self._of_others(deviations) ** 2 / self.weight, 0.0)

    @property
    def square(self) -> Floats:
        """Return the sum of squared errors."""
        return np.maximum(self._of_others(_near_one(self._errors) ** 2), 0.0)

    @property
    def over(self) -> Floats:
        """Return the sum of predictions minus targets, over the rows where the difference is positive."""
        return self._of_others(np.maximum(-_near_one(self._errors), 0.0))

    @property
    def under(self) -> Floats:
        """Return the sum of targets minus predictions, over the rows where the difference is positive."""
        return self._of_others(np.maximum(_near_one(self._errors), 0.0))

    @property
    def relative(self) -> Floats:
        """Return the sum over rows of the absolute error divided by the absolute target."""
        return self._of_others(_near_one(np.abs(self._errors) / np.maximum(np.abs(self._targets), EPSILON / 4)))


def _near_one(values: Floats) -> Floats:
    """Return values times a power of two, so that the largest is near 1."""
    return np.ldexp(values, -math.frexp(float(np.abs(values).max()))[1])


@dataclass(frozen=True, slots=True, eq=False)
class SamplingUnits:
    """The units that are drawn: rows or clusters of rows, numbered by stratum."""

    unit_by_row: NDArray[np.uint32]  # of shape (n_rows,)
    strata: tuple[int, ...]  # units of each stratum, which are drawn separately
    grouped: bool  # whether a unit may have more than one row

    @classmethod
    def number(cls, n_rows: int, groups: Any, classes: NDArray[Any] | None) -> SamplingUnits:
        """Number the rows or their clusters, class by class if stratified; `SamplingUnits` are returned unchanged."""
        if isinstance(groups, SamplingUnits):
            return groups
        if groups is None and classes is None:
            return cls(np.arange(n_rows, dtype=np.uint32), (n_rows,), False)
        if groups is None:
            numbers = np.arange(n_rows)
            unit_classes = classes
        else:
            values, first, numbers = unique_rows(groups)
            check_several_groups("groups", values)
            unit_classes = None if classes is None else classes[first]
            if classes is not None and unit_classes is not None:
                check_groups_of_one_class("groups", groups, classes, unit_classes[numbers])
        if unit_classes is None:
            return cls(numbers.astype(np.uint32), (int(numbers.max()) + 1,), groups is not None)
        order = np.argsort(unit_classes, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        strata = np.unique(unit_classes, return_counts=True)[1]
        return cls(place[numbers].astype(np.uint32), tuple(strata.tolist()), groups is not None)

    @classmethod
    def number_shared(cls, groups: Mapping[str, Any]) -> list[SamplingUnits]:
        """Number the clusters of several sets of rows: a cluster has the same number in each set.

        The units of each set are the clusters of all sets. Errors call each set's clusters by their key.
        """
        check_comparable_labels(**groups)
        for name, each in groups.items():
            check_several_groups(name, distinct_labels(each))
        if any(isinstance(each, TextLabels) for each in groups.values()):
            parts = share_names(list(groups.values()))[1]
        else:
            parts = [as_class_numbers(n, each) if each.dtype.kind == "u" else each for n, each in groups.items()]
        together = np.concatenate(parts)
        units = cls.number(together.size, together, None)
        ends = np.cumsum([each.size for each in parts[:-1]])
        return [cls(part, units.strata, True) for part in np.split(units.unit_by_row, ends)]

    def renumbered(self, rows: NDArray[np.intp]) -> SamplingUnits:
        """Return the units of unclustered rows, numbered in the order of `rows`, with the same strata."""
        unit_by_row = np.empty_like(self.unit_by_row)
        unit_by_row[rows] = np.arange(rows.size, dtype=np.uint32)
        return SamplingUnits(unit_by_row, self.strata, self.grouped)

    @property
    def n(self) -> int:
        """Return the total number of units."""
        return sum(self.strata)


class RowSampler:
    """Draws single rows, for samples that need to know which rows were drawn (weights, clusters, several models).

    Parameters
    ----------
    n : int
        Number of rows, below 2**32.
    rate : float, optional
        As for `CellSampler`.
    """

    __slots__ = ("_limits", "n")

    def __init__(self, n: int, rate: float | None = None) -> None:
        self.n = n
        self._limits = row_limits(n, rate)

    def draw(self, key: np.uint64, counts: NDArray[np.uint8]) -> None:
        """Write how often each row is drawn: exactly multinomial, and determined by the key."""
        words = np.empty(ROW_BLOCK // 4, dtype=np.uint64)
        draw_rows(self._limits, key, words, words.view(np.uint16), counts)

    def __repr__(self) -> str:
        return f"RowSampler({self.n})"


def row_limits(n: int, rate: float | None = None) -> NDArray[np.uint64]:
    """Return the ROW_TABLE limits of `draw_rows` for n rows; an empty array if rows are drawn one by one.

    The first limits are cumulative sums, minus 1, of the Poisson probabilities of a row's count, each rounded down to
    16 bits. The remainders, divided by their total, are probabilities too. The other limits are cumulative sums of
    these, in units of 2**-64, minus 1. Both parts together are exact to about 2**-50.
    """
    rate = usual_rate(n) if rate is None else rate
    if not rate:
        return np.empty(0, dtype=np.uint64)
    counts = np.arange(ROW_TABLE - ROW_LIMITS)
    chances = 2.0**16 * math.exp(-rate) * np.cumprod(np.where(counts > 0, rate / np.maximum(counts, 1), 1.0))
    rounded = np.where(counts < ROW_LIMITS, np.floor(chances), 0.0)
    left = np.cumsum(chances - rounded)
    limits = np.full(ROW_TABLE, 2**64 - 1, dtype=np.uint64)
    limits[:ROW_LIMITS] = np.cumsum(rounded)[:ROW_LIMITS] - 1
    below = np.flatnonzero(left < left[-1])
    limits[ROW_LIMITS + below] = np.ldexp(left[below] / left[-1], 64).astype(np.uint64) - np.uint64(1)
    return limits


class CellCounter:
    """Rows sorted by cell; counts the draws of each cell, or sums them if there are weights or clusters.

    Parameters
    ----------
    rows : ndarray of int of shape (n_rows,)
        All rows, in the order of ascending cells.
    cells : ndarray of int of shape (n_rows,)
        The cell of each of these rows.
    n_cells : int
        Number of cells.
    units : SamplingUnits
        The units that are drawn.
    weights : ndarray of shape (n_rows,), optional
        Row weights, in the original order of rows.

    Attributes
    ----------
    sums : bool
        Whether counts are float sums.
    """

    __slots__ = ("_before", "_ends", "_order", "_weights", "sums")

    def __init__(
        self,
        rows: NDArray[np.intp],
        cells: NDArray[Any],
        n_cells: int,
        units: SamplingUnits,
        weights: NDArray[np.float64] | None,
    ) -> None:
        self._ends = np.cumsum(np.bincount(cells, minlength=n_cells)).astype(np.uint32)
        self._order: NDArray[np.uint32] | None = units.unit_by_row[rows]
        self._weights = None
        if weights is not None or units.grouped:  # rows of a cluster may be drawn 256 times or more
            self._weights = np.ones(rows.size) if weights is None else weights[rows]
        self.sums = self._weights is not None
        stops = np.arange(1, -(-rows.size // (8 * WORD_BLOCK)) + 1) * (8 * WORD_BLOCK)
        self._before = np.concatenate(([0], np.searchsorted(self._ends, stops, side="right")))
        if units.n == rows.size and (self._order == np.arange(rows.size, dtype=np.uint32)).all():
            self._order = None  # rows are in the order of the units already

    def scratch(self) -> Times:
        """Return the working memory of one thread."""
        return zero_bytes(0 if self._order is None else self._order.size)

    def count(self, times: Times, drawn: Times, counts: NDArray[Any]) -> Times:
        """Write each cell's number (or weight) of drawn rows, given the draws of the units.

        Returns how often each row is drawn, in the order of the cells.
        """
        if self._order is None:
            drawn = times
        else:
            take_drawn(times, self._order, drawn)
        if self._weights is None:
            within, before = np.zeros(WORD_BLOCK + 1, dtype=np.uint64), np.zeros(WORD_BLOCK + 1, dtype=np.int32)
            scratch = within, within.view(np.uint8), before
            count_drawn(drawn.view(np.uint64), self._ends, self._before, *scratch, counts)
        else:
            sum_drawn(drawn, self._weights, self._ends, counts)
        return drawn


def zero_bytes(n: int) -> Times:
    """Return n zero bytes, rounded up to whole words of 8."""
    return np.zeros(-(-n // 8) * 8, dtype=np.uint8)
