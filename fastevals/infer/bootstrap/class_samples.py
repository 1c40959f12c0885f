"""Replicates of scores of several classes: one draw of rows for all classes, metrics and models.

A draw is measured by parts, each of which serves all metrics that are computed from the same numbers: the rankings of
columns, the pairs of classes, the matrix of most probable classes, and the losses of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels import class_pairs
from fastevals._kernels.draws import take_drawn
from fastevals._kernels.replicate_metrics import total_of
from fastevals._validation.labels import Classes
from fastevals.counts import Cells
from fastevals.infer.bootstrap.class_chance import drawn_errors, errors_by_chance
from fastevals.infer.bootstrap.label_samples import joint_cells_of_codes, measure_joint_cells
from fastevals.infer.bootstrap.ranking_samples import RankedColumns, RankingSweep, rank_column
from fastevals.infer.bootstrap.row_samples import CellCounter, SamplingUnits, Times, UnitSample, zero_bytes
from fastevals.infer.bootstrap.samples import Values
from fastevals.measure.class_losses import mean_over_rows, predicted_classes
from fastevals.measure.class_pairs import pair_aucs, ratios_of_pairs
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.class_specs import ClassMetric
from fastevals.measure.kinds import LABELS
from fastevals.measure.label_sets import one_per_label
from fastevals.measure.ranking.ranking import Ranking

Floats = NDArray[np.float64]
Column = tuple[NDArray[Any], NDArray[Any], Floats | None]  # flags, scores and weights
Numbered = Sequence[tuple[int, ClassMetric]]  # metrics with their places among all metrics


class ClassSample(UnitSample):
    """Rows with scores of several classes, of one model or of many models.

    Values have shape (n, n_models, ...), or (n, ...) with `one_model`; metrics with a value for each class have a last
    axis of classes.
    """

    def __init__(
        self,
        labels: NDArray[Any],
        models: Sequence[ClassScores],
        metrics: Sequence[ClassMetric],
        *,
        groups: Any,
        stratified: bool,
        one_model: bool,
        specs: Sequence[Any] = (),
    ) -> None:
        self.labels, self._one_model = labels, one_model
        n_rows = models[0].n_rows
        self._units = SamplingUnits.number(n_rows, groups, models[0].codes if stratified else None)
        self._weights = models[0].weights
        numbered = list(enumerate(metrics))
        makers: list[tuple[Any, str]] = [
            (_ColumnPart, "one vs. rest"), (_MicroPart, "micro"), (_TopPart, "top label"), (_PairPart, "pairs"),
            (_LabelPart, "labels"), (_RowPart, "rows"), (_LabelSetPart, "label sets"), (_CellPart, "cells"),
        ]  # fmt: skip
        chosen = [(make, [each for each in numbered if each[1].source == source]) for make, source in makers]
        self._parts: list[_DrawnPart] = [make(labels, models, each, self._units) for make, each in chosen if each]
        self._n_metrics, self._is_prepared = len(metrics), False
        self._models = list(models)
        self._errors = drawn_errors(specs, metrics)
        if not self._errors:
            self._models.clear()  # so that the scores' memory can be freed
        super().__init__(self._units, n_rows * sum(part.work for part in self._parts))

    def estimates(self) -> Values:
        """Return each metric of each model on the original rows."""
        return self._by_metric([part.estimates() for part in self._parts], 0)

    def prepare(self) -> None:
        """Sort what draws are counted by, once; threads must not be running."""
        if not self._is_prepared:
            for part in self._parts:
                part.prepare()
            self._is_prepared = True

    def load(self, key: np.uint64) -> None:
        """Prepare and load compiled code before threads start."""
        self.prepare()
        super().load(key)

    def workspace(self) -> Any:
        """Return arrays to draw the units into, the mass of each row, and the working memory of each part."""
        self.prepare()
        n = self._units.unit_by_row.size
        mass: NDArray[Any] = np.empty(0, dtype=np.uint8)
        if self._weights is not None:
            mass = np.empty(n)
        elif self._units.grouped or len(self._units.strata) > 1:
            mass = zero_bytes(n)[:n]
        return self.times(), mass, [part.workspace() for part in self._parts]

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of each model in n draws."""
        raw = [part.raw(n) for part in self._parts]
        for number, times in enumerate(draws):
            mass = self._mass(times, space[1])
            for part, numbers, own in zip(self._parts, raw, space[2], strict=True):
                part.measure(times, mass, number, numbers, own)
        return self._by_metric([part.values(numbers) for part, numbers in zip(self._parts, raw, strict=True)], 1)

    def errors_by_chance(self, key: np.uint64) -> dict[int, Floats]:
        """Return draws of the calibration errors of calibrated models; none for rows with weights or in clusters."""
        if not self._errors or self._weights is not None or self._units.grouped:
            return {}
        drawn = errors_by_chance(self._models, self._errors, key)
        return {k: each[:, 0] if self._one_model else each for k, each in drawn.items()}

    def _mass(self, times: Times, mass: NDArray[Any]) -> NDArray[Any]:
        """Return the draws of each row, times its weight."""
        if not mass.size:
            return times[: self._units.unit_by_row.size]
        if self._weights is None:
            take_drawn(times, self._units.unit_by_row, mass)
        else:
            class_pairs.take_weighted(times, self._units.unit_by_row, self._weights, mass)
        return mass

    def _by_metric(self, found: Sequence[dict[int, Floats]], axis: int) -> Values:
        """Return the values of all parts in the order of metrics; with `one_model`, drop the axis of models."""
        values: dict[int, Floats] = {}
        for part in found:
            values |= part
        ordered = [values[k] for k in range(self._n_metrics)]
        return [np.asarray(each.take(0, axis)) for each in ordered] if self._one_model else ordered


class _DrawnPart(Protocol):
    """What several metrics are computed from."""

    work: int  # times that a draw reads all rows

    def estimates(self) -> dict[int, Floats]:
        """Return each metric, of shape (n_models, ...), by its place among all metrics."""

    def prepare(self) -> None:
        """Sort what draws are counted by; estimates don't need it."""

    def workspace(self) -> Any:
        """Return the working memory of one thread."""

    def raw(self, n: int) -> Any:
        """Return arrays for the numbers of n draws."""

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: Any, space: Any) -> None:
        """Write the numbers of a draw, given how often each unit was drawn, and the mass of each row."""

    def values(self, raw: Any) -> dict[int, Floats]:
        """Return each metric of all draws, of shape (n, n_models, ...), by its place among all metrics."""


class _ColumnPart:
    """Each class's column, ranked against the rest."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics, self._n_models = metrics, len(models)
        self._to_sort = self._columns_of(models)
        self._ranked = [each.ranked for _, each in metrics if each.ranked is not None]
        self._n_rows = self._to_sort[0][1].size
        self._rows = _tiled(units, self._n_rows // models[0].n_rows)
        self.work = len(self._to_sort) * self._n_rows // models[0].n_rows

        def measured(column: Column) -> tuple[Values, float]:
            ranking = _ranking_of(column)
            values = [np.array(metric.of_counts(ranking.counts)) for metric in self._ranked]
            return values, float(ranking.counts.n_pos)

        found = run(measured, self._to_sort, compiles=True)
        self._values = [values for values, _ in found]
        self._support = np.array([support for _, support in found]).reshape(self._n_models, -1)

    def prepare(self) -> None:
        """Sort the rows of each column."""

        def build(column: Column) -> tuple[RankingSweep, CellCounter]:
            flags, scores, weights = column
            sweep, order, cells = rank_column(
                flags == 0, scores, weights, _ranking_of(column), self._ranked, stable=False
            )
            sweep.forget_counts()
            return sweep, CellCounter(order, cells, sweep.steps.sizes.size, self._rows, weights)

        self._columns = RankedColumns(run(build, self._to_sort, compiles=True), self._n_rows)
        self._to_sort = []

    def _columns_of(self, models: Sequence[ClassScores]) -> list[Column]:
        """Return the flags, scores and weights of each column."""
        return [(each.flags(k), column, each.weights) for each in models for k, column in enumerate(each.columns)]

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        return self._averaged(self._values, self._support)

    def workspace(self) -> Any:
        """Return arrays to count a draw in."""
        return self._columns.workspace()

    def raw(self, n: int) -> list[Floats]:
        """Return an array for each column."""
        return self._columns.raw(n)

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: list[Floats], space: Any) -> None:
        """Count a draw and sweep the counts."""
        self._columns.measure(times, number, raw, space)

    def values(self, raw: list[Floats]) -> dict[int, Floats]:
        """Return each metric of all draws."""
        support = np.stack([each[:, 0] for each in raw], axis=-1).reshape(len(raw[0]), self._n_models, -1)
        return self._averaged(self._columns.values(raw), support)

    def _averaged(self, by_column: Sequence[Values], support: Floats) -> dict[int, Floats]:
        found = {}
        for place, (k, metric) in enumerate(self._metrics):
            values = np.stack([each[place] for each in by_column], axis=-1).reshape(support.shape)
            found[k] = metric.averaged(values, support) if metric.source == "one vs. rest" else values[..., 0]
        return found


class _MicroPart(_ColumnPart):
    """All classes' columns of a model, ranked as one: a row is drawn with all its scores."""

    def _columns_of(self, models: Sequence[ClassScores]) -> list[Column]:
        return [each.all_together() for each in models]


class _TopPart(_ColumnPart):
    """Rows ranked by their highest score; rows of its class are positive."""

    def _columns_of(self, models: Sequence[ClassScores]) -> list[Column]:
        found = ((each, *predicted_classes(each.columns)) for each in models)
        return [((predicted == each.codes).view(np.uint8), highest, each.weights) for each, predicted, highest in found]


class _PairPart:
    """The AUC of each pair of classes, by the column of either class."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics, self._n_models, self._n_classes = metrics, len(models), labels.size
        self._codes, self._in_floats = codes_of(models), models[0].weights is not None
        self._values = np.array([pair_aucs(each) for each in models])
        self._support = np.array([each.support() for each in models], dtype=np.float64)
        self._to_sort = [(column, k) for each in models for k, column in enumerate(each.columns)]
        self.work = 3 * len(self._to_sort)

    def prepare(self) -> None:
        """Sort the rows of each column."""
        self._sorted = run(lambda task: _sort_for_pairs(task[0], self._codes, task[1]), self._to_sort)
        self._to_sort = []

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        return {k: metric.of_pairs(self._values, self._support) for k, metric in self._metrics}

    def workspace(self) -> NDArray[Any]:
        """Return scratch for the sums of a sweep."""
        return np.empty((2, self._n_classes), dtype=np.float64 if self._in_floats else np.int64)

    def raw(self, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return arrays for the pairs of each model, and for the rows of each class."""
        dtype, k = np.float64 if self._in_floats else np.int64, self._n_classes
        return np.empty((n, self._n_models, k, k), dtype=dtype), np.empty((n, k), dtype=dtype)

    def measure(
        self,
        times: Times,
        mass: NDArray[Any],
        number: int,
        raw: tuple[NDArray[Any], NDArray[Any]],
        space: NDArray[Any],
    ) -> None:
        """Count the pairs of a draw."""
        doubled, sizes = raw[0][number].reshape(-1, self._n_classes), raw[1][number]
        class_pairs.add_mass(mass, self._codes, sizes)
        for column, (order, classes, ties) in enumerate(self._sorted):
            class_pairs.count_pairs(mass, order, classes, column % self._n_classes, ties, space, doubled[column])

    def values(self, raw: tuple[NDArray[Any], NDArray[Any]]) -> dict[int, Floats]:
        """Return each metric of all draws."""
        sizes = raw[1][:, None, :]
        aucs = ratios_of_pairs(raw[0], sizes)
        return {k: metric.of_pairs(aucs, sizes) for k, metric in self._metrics}


def _sort_for_pairs(
    column: NDArray[Any], codes: NDArray[Any], own: int
) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.int32]]:
    """Return the rows by descending score, their classes, and stretches of equal scores (see `count_pairs`)."""
    mine = codes == own
    order = np.argsort(column)[::-1].astype(np.int32)  # a stable sort takes several times as long
    scores = column[order]
    starts = np.concatenate(([0], np.flatnonzero(scores[1:] != scores[:-1]) + 1))
    stops = np.append(starts[1:], order.size)
    sizes = stops - starts
    tied = np.repeat(sizes > 1, sizes)
    if tied.any():  # of equal scores, the class's own come last; the order is the same on all machines
        rows, group = order[tied], np.repeat(np.arange(sizes.size), sizes)[tied]
        order[tied] = rows[np.lexsort((rows, mine[rows], group))]
    first = mine[order]
    of_own = np.concatenate(([0], np.cumsum(first)))
    middles = stops - (of_own[stops] - of_own[starts])
    both = (middles > starts) & (middles < stops)
    return order, codes[order], np.stack([starts, middles, stops], axis=1)[both].astype(np.int32)


class _LabelPart:
    """The matrix of true and most probable classes."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics = metrics
        self._measured = [LABELS.metric(metric.of_labels) for _, metric in metrics if metric.of_labels is not None]
        codes = [codes_of(models), *(predicted_classes(each.columns)[0] for each in models)]
        weights = models[0].weights
        self._joint, self._cells = joint_cells_of_codes(Classes(labels, None), codes, weights)
        self._units, self._weights = units, weights
        self.work = 1

    def prepare(self) -> None:
        """Sort the rows by cell."""
        order = np.argsort(self._cells, kind="stable")
        self._counter = CellCounter(order, self._cells[order], self._joint.sizes.size, self._units, self._weights)

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        found = (np.asarray(metric(self._joint.matrix), dtype=np.float64) for metric in self._measured)
        return dict(zip((k for k, _ in self._metrics), found, strict=True))

    def workspace(self) -> Times:
        """Return the working memory of a count."""
        return self._counter.scratch()

    def raw(self, n: int) -> NDArray[Any]:
        """Return an array for the counts of cells."""
        return np.empty((n, self._joint.sizes.size), dtype=np.float64 if self._counter.sums else np.int64)

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: NDArray[Any], space: Times) -> None:
        """Count the cells of a draw."""
        self._counter.count(times, space, raw[number])

    def values(self, raw: NDArray[Any]) -> dict[int, Floats]:
        """Return each metric of all draws."""
        found = measure_joint_cells(self._joint, raw, self._measured)
        return dict(zip((k for k, _ in self._metrics), found, strict=True))


class _RowPart(_DrawnPart):
    """Losses of rows, whose means are the metrics."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics, codes = metrics, codes_of(models)
        functions = [metric.function for _, metric in metrics if metric.function is not None]
        self._losses = [[function(each.columns, codes) for each in models] for function in functions]
        self._values = [
            np.array([mean_over_rows(losses, models[0].weights) for losses in of_models]) for of_models in self._losses
        ]
        self.work = len(metrics) * len(models)

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        return {k: values for (k, _), values in zip(self._metrics, self._values, strict=True)}

    def workspace(self) -> None:
        """Return nothing."""

    def raw(self, n: int) -> Floats:
        """Return an array for the means."""
        return np.empty((n, len(self._losses), len(self._losses[0])))

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: Floats, space: None) -> None:
        """Write the means of a draw."""
        total = mass.sum(dtype=np.float64)
        for place, of_models in enumerate(self._losses):
            for model, losses in enumerate(of_models):
                raw[number, place, model] = total_of(mass, losses) / total if total else np.nan

    def values(self, raw: Floats) -> dict[int, Floats]:
        """Return each metric of all draws."""
        return {k: raw[:, place] for place, (k, _) in enumerate(self._metrics)}


class _LabelSetPart(_DrawnPart):
    """Values of rows that may have many labels, whose means over the rows that count are the metrics."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics, self._n_models = metrics, len(models)
        functions = [metric.function for _, metric in metrics if metric.function is not None]
        values = [function(each.columns, indicator_of(each)) for function in functions for each in models]
        self._counted = [None if np.isfinite(each).all() else np.isfinite(each) for each in values]
        self._terms = [
            each if counted is None else np.where(counted, each, 0.0)
            for each, counted in zip(values, self._counted, strict=True)
        ]
        weights = models[0].weights
        self._values = self._means(np.ones(models[0].n_rows) if weights is None else weights)
        self.work = 2 * len(values)

    def _means(self, mass: NDArray[Any]) -> Floats:
        """Return the means of all metrics and models, given the mass of each row."""
        total, found = mass.sum(dtype=np.float64), np.empty(len(self._terms))
        for k, (terms, counted) in enumerate(zip(self._terms, self._counted, strict=True)):
            of_counted = total if counted is None else mass.sum(where=counted, dtype=np.float64)
            found[k] = total_of(mass, terms) / of_counted if of_counted else np.nan
        return found.reshape(-1, self._n_models)

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        return {k: values for (k, _), values in zip(self._metrics, self._values, strict=True)}

    def workspace(self) -> None:
        """Return nothing."""

    def raw(self, n: int) -> Floats:
        """Return an array for the means."""
        return np.empty((n, *self._values.shape))

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: Floats, space: None) -> None:
        """Write the means of a draw."""
        raw[number] = self._means(mass)

    def values(self, raw: Floats) -> dict[int, Floats]:
        """Return each metric of all draws."""
        return {k: raw[:, place] for place, (k, _) in enumerate(self._metrics)}


class _CellPart(_DrawnPart):
    """The cells of each class, predicted at its own threshold."""

    def __init__(
        self, labels: NDArray[Any], models: Sequence[ClassScores], metrics: Numbered, units: SamplingUnits
    ) -> None:
        self._metrics = metrics
        n_classes, n_rows = models[0].columns.shape
        places: dict[bytes, int] = {}
        self._codes: list[NDArray[np.uint8]] = []  # by thresholds and model, each of shape (n_classes, n_rows)
        self._place = []  # of the thresholds of each metric
        for _, metric in metrics:
            limits = np.ascontiguousarray(one_per_label(metric.thresholds, n_classes))
            key = limits.tobytes() + limits.dtype.str.encode()
            if key not in places:
                places[key] = len(places)
                self._codes += [_cell_codes(each, limits) for each in models]
            self._place.append(places[key])
        self._shape = len(places), len(models), n_classes, 4
        weights = models[0].weights
        self._in_floats = weights is not None
        self._own = self.raw(1)
        self._add(np.ones(n_rows, dtype=np.uint8) if weights is None else weights, self._own[0])
        self.work = len(self._codes) * n_classes

    def _add(self, mass: NDArray[Any], cells: NDArray[Any]) -> None:
        """Write the mass of each cell."""
        for codes, of_model in zip(self._codes, cells.reshape(-1, *self._shape[2:]), strict=True):
            for of_class, row in zip(codes, of_model, strict=True):
                class_pairs.add_mass(mass, of_class, row)

    def estimates(self) -> dict[int, Floats]:
        """Return each metric of each model."""
        return {k: values[0] for k, values in self.values(self._own).items()}

    def workspace(self) -> None:
        """Return nothing."""

    def raw(self, n: int) -> NDArray[Any]:
        """Return an array for the cells."""
        return np.empty((n, *self._shape), dtype=np.float64 if self._in_floats else np.int64)

    def measure(self, times: Times, mass: NDArray[Any], number: int, raw: NDArray[Any], space: None) -> None:
        """Count the cells of a draw."""
        self._add(mass, raw[number])

    def values(self, raw: NDArray[Any]) -> dict[int, Floats]:
        """Return each metric of all draws."""
        found = {}
        for (k, metric), place in zip(self._metrics, self._place, strict=True):
            tn, fn, fp, tp = np.moveaxis(raw[:, place], -1, 0)
            found[k] = metric.of_cells(Cells(tp, fp, fn, tn))
        return found


def _cell_codes(scores: ClassScores, limits: NDArray[Any]) -> NDArray[np.uint8]:
    """Return 2 where a class is predicted, plus 1 where it is true, of shape (n_classes, n_rows)."""
    codes: NDArray[np.uint8] = np.empty(scores.columns.shape, dtype=np.uint8)
    for k, (column, limit) in enumerate(zip(scores.columns, limits, strict=True)):
        codes[k] = 2 * (column >= limit) + scores.flags(k)
    return codes


def indicator_of(scores: ClassScores) -> NDArray[np.uint8]:
    """Return the indicator of each row's labels; raise if rows have one label."""
    if scores.indicator is None:
        raise ValueError("metrics: y_true must be an indicator matrix for metrics of sets of labels, but it is 1-D")
    return scores.indicator


def codes_of(models: Sequence[ClassScores]) -> NDArray[Any]:
    """Return the class number of each row; raise if rows may have many labels."""
    codes = models[0].codes
    if codes is None:
        raise ValueError("metrics: y_true must have one label per row for metrics of pairs, labels and losses of rows")
    return codes


def _ranking_of(column: Column) -> Ranking:
    flags, scores, weights = column
    return Ranking(flags, scores, sample_weight=weights, pos_label=1)


def _tiled(units: SamplingUnits, times: int) -> SamplingUnits:
    """Return the units of rows that stand several times, one after another."""
    if times == 1:
        return units
    return SamplingUnits(np.tile(units.unit_by_row, times), units.strata, units.grouped)
