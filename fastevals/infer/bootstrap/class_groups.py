"""Replicates of scores of several classes for many rows: random groups of rows are drawn, rather than rows.

The rows are divided at random into `GROUPS_DRAWN` groups. What a metric is computed from is added up by group: sums for
means and calibration errors, and influences for areas, which are their derivatives by the mass of each row (Hampel
1974, doi:10.1080/01621459.1974.10482962). So scores are sorted once, and a replicate costs as many steps as there are
groups. Groups add an error of 1 % to standard errors. Areas are linear in the draws, which is accurate for many rows of
each class: with 50 of 21,000 rows, the standard error of the average precision is 12 % too low, with 200 it is right.
Metrics of predicted classes are drawn by the cells of their matrix, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.class_groups import add_area_changes, count_area_sums
from fastevals._validation.labels import Classes
from fastevals.infer.bootstrap.class_chance import drawn_errors, errors_by_chance
from fastevals.infer.bootstrap.class_samples import ClassSample, codes_of
from fastevals.infer.bootstrap.label_samples import LabelSample, MatrixSample, joint_cells_of_codes
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.infer.bootstrap.samples import LEAVE_OUT, Floats, Jackknife, Sample, Values, batch_stream
from fastevals.measure.class_losses import predicted_classes, readable
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.class_specs import ClassMetric, class_metric_of, spec_of_classes
from fastevals.measure.kinds import LABELS
from fastevals.measure.metric_specs import MetricSpec

GROUPS_DRAWN, FEWEST_GROUPS = 4096, 512
MOST_SUMS = 1 << 26  # sums of all groups, models, classes and bins: 512 MB
DEFAULT_BINS = 10
NO_MASS = np.empty(0)
REPLICATES_PER_TASK = 64
ROWS_ALWAYS_DRAWN = 20_000  # not groups or cells; with fewer, widths of differences from cells were up to 7 % off
MOST_STEPS, STEPS_PER_SCORE = 12_000_000_000, 8  # steps of all replicates, above which groups are drawn: 84 s of CPU
GROUPING = np.uint64(LEAVE_OUT + np.uint64(2))  # a stream that no replicate uses

T = TypeVar("T")
Drawn = Callable[["_Draws"], Floats]  # values of draws, of shape (n, n_models, ...)
AREAS = {"roc_auc": 0, "average_precision": 1}
MEANS = ("mean_predicted", "prevalence")
ERROR, ERROR_OF_TOP = "expected_calibration_error", "top_label_calibration_error"


def take_minutes(models: Mapping[str, NDArray[Any]], n_resamples: int) -> bool:
    """Return whether draws of many rows would take minutes; models have arrays of shape (n_rows, n_classes)."""
    n_rows = len(next(iter(models.values())))
    steps = sum(each.size for each in models.values()) * STEPS_PER_SCORE * n_resamples
    return n_rows > ROWS_ALWAYS_DRAWN and steps > MOST_STEPS


def can_be_grouped(specs: Iterable[Any]) -> bool:
    """Return whether random groups of rows can be drawn for all metrics."""
    return all(_can_be_grouped(spec_of_classes(spec)) for spec in specs)


def _can_be_grouped(spec: Any) -> bool:
    metric = class_metric_of(spec)
    if metric.source in ("rows", "labels"):
        return True
    if metric.source == "pairs":
        return metric.function is not None
    if not spec.options.keys() <= {"average", "multi_class", "n_bins"}:
        return False
    known = {"top label": {ERROR_OF_TOP}, "micro": {*AREAS}, "one vs. rest": {*AREAS, *MEANS, ERROR}}
    return spec.name in known.get(metric.source, ())


class GroupedClassSample(Sample):
    """Rows with scores of several classes, drawn in random groups; clusters stay whole."""

    def __init__(
        self,
        labels: NDArray[Any],
        models: Sequence[ClassScores],
        metrics: Sequence[ClassMetric],
        *,
        groups: Any,
        one_model: bool,
        specs: Sequence[MetricSpec],
    ) -> None:
        self.labels, self._one_model = labels, one_model
        self._models, self._metrics, self._specs = list(models), list(metrics), list(specs)
        self._units = SamplingUnits.number(models[0].n_rows, groups, None)
        self.unit, self.sizes = "cluster" if self._units.grouped else "row", np.ones(self._units.n, dtype=np.uint8)
        self._weights = models[0].weights
        by_model = [self._values_of(model, groups) for model in models]  # one by one, to save memory
        self._values = [np.array(each) for each in zip(*by_model, strict=True)]
        self._drawn: tuple[np.uint64, list[tuple[Sample, list[int]]]] | None = None

    def _values_of(self, model: ClassScores, groups: Any) -> Values:
        """Return each metric of a model."""
        assert self.labels is not None
        design: dict[str, Any] = {"groups": groups, "stratified": False, "one_model": True}
        return ClassSample(self.labels, [model], self._metrics, **design).estimates()

    def estimates(self) -> Values:
        """Return each metric of each model on the original rows."""
        return [each[0] for each in self._values] if self._one_model else self._values

    def errors_by_chance(self, key: np.uint64) -> dict[int, Floats]:
        """Return draws of the calibration errors of calibrated models; none for rows with weights or in clusters."""
        if self._weights is not None or self._units.grouped:
            return {}
        drawn = errors_by_chance(self._models, drawn_errors(self._specs, self._metrics), key)
        return {k: each[:, 0] if self._one_model else each for k, each in drawn.items()}

    def replicates(self, n_resamples: int, key: np.uint64, *, progress: bool = False) -> Values:
        """Measure draws of random groups, and of the cells of predicted classes."""
        found: list[Any] = [None] * len(self._metrics)
        for sample, numbers in self._samples(key):
            for k, values in zip(numbers, sample.replicates(n_resamples, key, progress=progress), strict=True):
                found[k] = values[:, 0] if self._one_model else values
        return found

    def left_out(self, key: np.uint64) -> list[Jackknife]:
        """Return each metric without some of the groups, or of the rows, in turn."""
        found: list[Any] = [None] * len(self._metrics)
        for sample, numbers in self._samples(key):
            for k, each in zip(numbers, sample.left_out(key), strict=True):
                found[k] = each._replace(values=each.values[:, 0]) if self._one_model else each
        return found

    def _samples(self, key: np.uint64) -> list[tuple[Sample, list[int]]]:
        """Return the samples that are drawn, and the metrics of each."""
        if self._drawn is not None and self._drawn[0] == key:
            return self._drawn[1]
        sources = [metric.source for metric in self._metrics]
        of_labels = [k for k, source in enumerate(sources) if source == "labels"]
        others = [k for k, source in enumerate(sources) if source != "labels"]
        samples: list[tuple[Sample, list[int]]] = []
        if of_labels:
            samples.append((self._label_sample([self._metrics[k] for k in of_labels]), of_labels))
        if others:
            grouping = _Grouping(self._models, self._units, key)
            drawn = [grouping.drawn(self._metrics[k], spec_of_classes(self._specs[k])) for k in others]
            samples.append((_GroupSample(grouping.n, drawn, [self._values[k] for k in others]), others))
        self._drawn = key, samples
        return samples

    def _label_sample(self, metrics: Sequence[ClassMetric]) -> Sample:
        """Return the sample of predicted classes, drawn by cell if there are few cells."""
        assert self.labels is not None
        measured = [LABELS.metric(each.of_labels) for each in metrics if each.of_labels is not None]
        codes = [codes_of(self._models), *(predicted_classes(each.columns)[0] for each in self._models)]
        joint, cells = joint_cells_of_codes(Classes(self.labels, None), codes, self._weights)
        is_plain = self._weights is None and not self._units.grouped
        if is_plain and joint.are_few(cells.size):
            return MatrixSample(joint.matrix, measured, stratified=False, joint=joint)
        groups = self._units if self._units.grouped else None
        return LabelSample(
            joint.matrix, cells, measured, weights=self._weights, groups=groups, stratified=False, joint=joint
        )


class _GroupSample(UnitSample):
    """Random groups of rows; what metrics are computed from is drawn."""

    def __init__(self, n_groups: int, drawn: Sequence[Drawn], values: Sequence[Floats]) -> None:
        """Store how metrics are computed from draws, and their values for all rows."""
        super().__init__(SamplingUnits(np.arange(n_groups, dtype=np.uint32), (n_groups,), False), n_groups)
        self._values, self._drawn = list(values), list(drawn)
        whole = _Draws(np.ones((1, n_groups)))
        with np.errstate(invalid="ignore"):
            self._off = [value - of_draws(whole)[0] for value, of_draws in zip(values, drawn, strict=True)]

    def task_size(self) -> int:
        """Return the number of replicates per task."""
        return REPLICATES_PER_TASK

    def workspace(self) -> Any:
        """Return the array to draw the groups into."""
        return (self.times(),)

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws; a metric that is not finite for all rows has this value in each draw."""
        times = np.empty((n, self.strata[0].stop))
        for row, drawn in zip(times, draws, strict=True):
            row[:] = drawn[: row.size]  # the array is reused for the next draw
        draws_of_groups, found = _Draws(times), []
        for value, of_draws, off in zip(self._values, self._drawn, self._off, strict=True):
            with np.errstate(invalid="ignore", divide="ignore"):
                values = of_draws(draws_of_groups) + off
            found.append(np.where(np.isfinite(value), values, value))
        return found


class _Grouping:
    """Sums and influences of random groups of rows, each computed once."""

    def __init__(self, models: Sequence[ClassScores], units: SamplingUnits, key: np.uint64) -> None:
        self._models, self._codes, self._weights = models, codes_of(models), models[0].weights
        n_columns = len(models) * len(models[0].columns)
        self.n = int(np.clip(MOST_SUMS // (DEFAULT_BINS * n_columns), FEWEST_GROUPS, GROUPS_DRAWN))
        self._groups = units.unit_by_row
        if units.n <= self.n:
            self.n = units.n
        else:
            drawn = batch_stream(key, int(GROUPING)).integers(self.n, size=units.n, dtype=np.uint32)
            self._groups = drawn[units.unit_by_row]
        self._n_classes = len(models[0].columns)
        self._kept: dict[Hashable, Any] = {}
        self._class_mass = np.bincount(self._codes, self._weights, minlength=self._n_classes).astype(np.float64)

    def sums(self, values: NDArray[Any] | None = None) -> Floats:
        """Return the sum over the rows of each group of values times the rows' mass."""
        mass = self._weights
        if values is not None:
            mass = values if mass is None else values * mass
        return np.bincount(self._groups, mass, minlength=self.n).astype(np.float64)

    @cached_property
    def mass(self) -> Floats:
        """Return the mass of each group."""
        return self.sums()

    @cached_property
    def support(self) -> Floats:
        """Return the mass of each class in each group, of shape (n_groups, n_classes)."""
        cells = self._groups.astype(np.int64) * self._n_classes + self._codes
        found = np.bincount(cells, self._weights, minlength=self.n * self._n_classes)
        return found.astype(np.float64).reshape(self.n, self._n_classes)

    @cached_property
    def predicted(self) -> Floats:
        """Return the sums of each column, of shape (n_groups, n_models, n_classes)."""
        tasks = [column for model in self._models for column in model.columns]
        return self._by_column(run(self.sums, tasks))

    @cached_property
    def areas(self) -> tuple[Floats, Floats]:
        """Return areas of columns, (3, n_models, n_classes), and influences, (3, n_groups, n_models, n_classes).

        The areas are the AUC, the average precision, and the sum of the AUCs against each other class.
        """
        tasks = [(column, k) for model in self._models for k, column in enumerate(model.columns)]
        found = run(lambda task: self._area(*task), tasks, compiles=True)
        values, changes = zip(*found, strict=True)
        shape = len(self._models), self._n_classes
        return np.transpose(values).reshape(3, *shape), np.stack(changes, axis=-1).reshape(3, self.n, *shape)

    def _area_of_classes(self, area: int) -> tuple[Floats, Floats]:
        """Return an area of each column, and the influences on it."""
        values, changes = self.areas
        return self._once(("area", area), lambda: (values[area], np.ascontiguousarray(changes[area])))

    def _once(self, name: Hashable, make: Callable[[], T]) -> T:
        """Return the same result in each call with this name."""
        if name not in self._kept:
            self._kept[name] = make()
        kept: T = self._kept[name]
        return kept

    @cached_property
    def micro(self) -> tuple[Floats, Floats]:
        """Return areas of all columns ranked as one, (3, n_models), and influences, (3, n_groups, n_models)."""
        found = [self._area(model.columns.ravel(), None) for model in self._models]
        values, changes = zip(*found, strict=True)
        return np.transpose(values), np.stack(changes, axis=-1)

    def off(self, n_bins: int) -> Floats:
        """Return probabilities minus true rows in bins of each column, (n_groups, n_models, n_classes, n_bins)."""
        tasks = [(column, k) for model in self._models for k, column in enumerate(model.columns)]
        return self._by_column(run(lambda task: self._in_bins(task[0], self._codes == task[1], n_bins), tasks))

    def off_top(self, n_bins: int) -> Floats:
        """Return highest probabilities minus rows that are right, in bins, of shape (n_groups, n_models, n_bins)."""
        found = ((each, *predicted_classes(readable(each.columns))) for each in self._models)
        return np.stack(
            [self._in_bins(highest, likeliest == self._codes, n_bins) for _, likeliest, highest in found], axis=1
        )

    def _by_column(self, found: Sequence[Floats]) -> Floats:
        """Return arrays of all columns as one, of shape (n_groups, n_models, n_classes, ...)."""
        whole = np.stack(found, axis=1)
        return whole.reshape(self.n, len(self._models), self._n_classes, *whole.shape[2:])

    def _in_bins(self, column: NDArray[Any], own: NDArray[np.bool_], n_bins: int) -> Floats:
        bins = np.searchsorted(np.arange(1, n_bins) / n_bins, column, side="left")
        off = column.astype(np.float64) - own
        off = off if self._weights is None else off * self._weights
        cells = self._groups.astype(np.int64) * n_bins + bins
        return np.asarray(np.bincount(cells, off, minlength=self.n * n_bins).reshape(self.n, n_bins))

    def _area(self, scores: NDArray[Any], own: int | None) -> tuple[Floats, Floats]:
        """Return areas and the influences of groups on them; `own` is None for the columns of all classes."""
        scores = readable(scores)
        order = np.argsort(scores)[::-1]
        of_column: Any = own
        if own is None:
            order = order.astype(np.min_scalar_type(order.size))  # which takes half as much memory
            of_column = (order // self._codes.size).astype(self._codes.dtype)
        rows = order if own is not None else order % order.dtype.type(self._codes.size)
        codes = self._codes[rows]
        positive = codes == of_column
        mass = NO_MASS if self._weights is None else self._weights[rows]
        won, changes = np.empty(self._n_classes), np.zeros((3, self.n))
        given = scores[order], positive, codes, mass, won
        sums = count_area_sums(*given)
        class_mass = NO_MASS if own is None else self._class_mass
        values = np.array(add_area_changes(*given, class_mass, sums, self._groups[rows], *changes))
        return values, changes

    def drawn(self, metric: ClassMetric, spec: MetricSpec) -> Drawn:
        """Return how a metric is computed from draws of the groups."""
        if metric.source == "rows":
            assert metric.function is not None
            losses = [metric.function(each.columns, self._codes) for each in self._models]
            totals = np.stack([self.sums(each) for each in losses], axis=-1)
            return lambda draws: draws.added(totals) / self._mass_of(draws)
        n_bins = spec.options.get("n_bins", DEFAULT_BINS)
        if metric.source == "top label":
            off = self.off_top(n_bins)
            return lambda draws: np.abs(draws.added(off)).sum(axis=-1) / self._mass_of(draws)
        if metric.source == "pairs":
            n_pairs = self._n_classes * (self._n_classes - 1)
            values, changes = (each[2].sum(axis=-1) / n_pairs for each in self.areas)
            return lambda draws: draws.moved(values, changes)
        area = AREAS.get(spec.name)
        if metric.source == "micro":
            assert area is not None
            values, changes = (each[area] for each in self.micro)
            return lambda draws: draws.moved(values, changes)
        of_classes = self._of_classes(spec.name, area, n_bins)
        return lambda draws: metric.averaged(of_classes(draws), draws.added(self.support)[:, None])

    def _of_classes(self, name: str, area: int | None, n_bins: int) -> Drawn:
        """Return how a metric of each class is computed from draws, of shape (n, n_models, n_classes)."""
        if area is not None:
            values, changes = self._area_of_classes(area)
            return lambda draws: draws.moved(values, changes)
        if name == "mean_predicted":
            return lambda draws: draws.added(self.predicted) / self._mass_of(draws)[..., None]
        if name == "prevalence":
            support = np.repeat(self.support[:, None], len(self._models), axis=1)
            return lambda draws: draws.added(support) / self._mass_of(draws)[..., None]
        off = self._once(("off", n_bins), lambda: self.off(n_bins))
        return lambda draws: np.abs(draws.added(off)).sum(axis=-1) / self._mass_of(draws)[..., None]

    def _mass_of(self, draws: _Draws) -> Floats:
        """Return the mass of all rows in draws, of shape (n, 1)."""
        return draws.added(self.mass)[:, None]


class _Draws:
    """How often each group was drawn, of shape (n, n_groups)."""

    def __init__(self, times: Floats) -> None:
        self._times = times
        self._added: dict[int, Floats] = {}  # results by the array that was added up, which several metrics use

    def added(self, sums: Floats) -> Floats:
        """Add up the sums of the groups that were drawn."""
        if id(sums) not in self._added:
            total = self._times @ sums.reshape(len(sums), -1)
            self._added[id(sums)] = total.reshape(len(total), *sums.shape[1:])
        return self._added[id(sums)]

    def moved(self, values: Floats, changes: Floats) -> Floats:
        """Return values plus the influences of the drawn groups; the influences of all groups add up to 0."""
        return values + self.added(changes)
