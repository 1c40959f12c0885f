"""The rows that a gate judges, whole or in segments: each gives evidence on models' metrics and their differences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, listed
from fastevals._validation.labels import Classes
from fastevals.infer.bootstrap.bootstrap import NO_DOUBT, BootstrapSettings
from fastevals.infer.bootstrap.class_groups import ROWS_ALWAYS_DRAWN
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample
from fastevals.infer.calibration.calibration import calibration
from fastevals.infer.calibration.calibrations import Calibration
from fastevals.infer.gate.closed import Closed, ClosedCounts, ClosedForms, ClosedRows
from fastevals.infer.gate.costs import CostEvidence, CostMetric
from fastevals.infer.gate.evidence import NO_EVIDENCE, Evidence, Measured, RarerClass, from_normal, measure_rows
from fastevals.infer.gate.rules import CALIBRATION
from fastevals.measure.class_specs import class_metric_of
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import Ranking, as_ranking, without_doubt
from fastevals.measure.registry import METRICS
from fastevals.measure.thresholds import QUOTA
from fastevals.results import NOWHERE, Interval
from fastevals.scale.certified import Certified
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.paired import JointSums, draw_deviations
from fastevals.scale.scores import CountedBlock
from fastevals.show.gate.data import Pinned, Sizes
from fastevals.show.report.against import CountedSide, RowsSide
from fastevals.show.report.costs import costed_rows
from fastevals.show.report.intervals import (
    BUDGET,
    BUDGET_WITHOUT_CELLS,
    IntervalPlan,
    PredictedRows,
    ScoredRows,
    few_cells,
    few_cells_of_rows,
    with_losses,
)
from fastevals.show.report.streams import CertifiedBlock

Specs = Mapping[str, MetricSpec]
CALIBRATION_FIELDS = {"predicted/observed": "ratio", "calibration_intercept": "intercept", "calibration_slope": "slope"}
UNPAIRED = (
    "a summary does not pair the models' rows, and neither does standard input: give files, or another summary as the "
    "reference"
)
MANY_ROWS = 1000  # rows of the rarer class that are enough for normal estimates, if the data are large


class EvidenceSettings(NamedTuple):
    """What is measured, and how."""

    specs: Specs
    alone: frozenset[str]  # metrics that rules judge without another model on the same rows
    n_resamples: int
    seed: int
    progress: bool = False
    costs: Mapping[str, CostMetric] = MappingProxyType({})  # metrics of what decisions cost, if costs differ by row

    @property
    def joint_specs(self) -> Specs:
        """The metrics that joint sums know; a given number of rows may end between two thresholds."""
        return {label: spec for label, spec in self.specs.items() if QUOTA not in spec.options}

    @property
    def bootstrap(self) -> BootstrapSettings:
        """The settings of the bootstrap; levels are chosen later."""
        return BootstrapSettings.checked(self.n_resamples, 0.95, "BCa", "two-sided", self.seed)

    def plan(self, n_models: int) -> IntervalPlan:
        """Return the plan of a report that resamples rows, or cells, where the gate does."""
        most = max(BUDGET // (n_models * self.n_resamples), ROWS_ALWAYS_DRAWN)
        return IntervalPlan(0.95, self.n_resamples, None, self.seed, most)


class JudgedSide(Protocol):
    """Rows that rules are judged on."""

    sizes: Sizes

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Return the evidence on a model's metric minus `factor` times another's, on the same rows."""

    def estimate(self, label: str, model: str) -> Pinned:
        """Return a model's metric and its standard error, which may take less time than the evidence."""

    def share(self, label: str, model: str) -> tuple[int, int] | None:
        """Return the successes and trials of a model's rate; None if the metric is no rate of unweighted rows."""


class MeasuredSide:
    """Rows whose metrics and differences are measured together, and whose calibration is measured apart."""

    sizes: Sizes
    _measured: Any  # with the methods `of`, `between` and `estimate`

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""
        if label in CALIBRATION:
            few = self._units.why_few
            if model not in self._calibrations:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UndefinedMetricWarning)
                    self._calibrations[model] = self._calibration(label, model)
            calibrated = _calibrated(label, self._calibrations[model])
            return calibrated.without(few) if few else calibrated
        found: Evidence = self._measures(label).of(label, model)
        return found

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Return the evidence on a difference."""
        found: Evidence = self._measures(label).between(label, model, other, factor)
        return found

    def estimate(self, label: str, model: str) -> Pinned:
        """Return a model's metric and its standard error."""
        if label in CALIBRATION:
            found = self.of(label, model)
            return Pinned(found.value, found.standard_error)
        return Pinned(*self._measures(label).estimate(label, model))

    def _measures(self, label: str) -> Any:
        """Return what measures a metric."""
        return self._measured

    @property
    def _units(self) -> RarerClass:
        """The rows of the rarer class."""
        return _rarer_class((self.sizes.n_samples, self.sizes.n_positives or 0))

    @cached_property
    def _calibrations(self) -> dict[str, Calibration]:
        """The calibration of each model for which it was asked."""
        return {}

    def _calibration(self, label: str, model: str) -> Calibration:
        """Return a model's calibration."""
        raise NotImplementedError


class Scored(MeasuredSide):
    """Rows of scores in memory: few rows are resampled, and cells of many rows."""

    def __init__(self, rows: ScoredRows, settings: EvidenceSettings) -> None:
        self.rows, self.settings = rows, settings
        n_samples, n_positives = RowsSide(rows).counts
        self.sizes = Sizes(n_samples, n_positives, n_samples - n_positives)

    @property
    def _units(self) -> RarerClass:
        """The rows, effective rows or clusters of the rarer class."""
        rows = self.rows
        if rows.ranking is not None or not (rows.weighs_rows or rows.groups is not None):
            return super()._units
        parts = {"positives": rows.positive, "negatives": ~rows.positive}
        return RarerClass.of(parts, rows.weights if rows.weighs_rows else None, rows.groups)

    def _calibration(self, label: str, model: str) -> Calibration:
        rows = self.rows
        return calibration(rows.positive, rows.scores[model], groups=rows.groups, **rows.weight_options)

    def share(self, label: str, model: str) -> tuple[int, int] | None:
        """Return the successes and trials of a rate."""
        rows, specs = self.rows, self.settings.specs
        if rows.weighs_rows:
            return None
        if rows.ranking is not None:
            return ClosedCounts(rows.ranking.counts, specs).share(label)
        rows = rows.repeated()
        return ClosedRows.of_scores(rows.positive, rows.scores, specs).share(label, model)

    def _measures(self, label: str) -> Any:
        return self._costs if label in self.settings.costs else self._measured

    @cached_property
    def _costs(self) -> CostEvidence:
        settings = self.settings
        return CostEvidence(
            costed_rows(self.rows),
            settings.costs,
            settings.bootstrap,
            BUDGET_WITHOUT_CELLS,
            progress=settings.progress,
        )

    @cached_property
    def _measured(self) -> Measured | CellsEvidence:
        rows, settings = self.rows, self.settings
        draws = settings.plan(len(rows.scores)).draws(rows.n_samples)

        def in_cells(specs: Specs) -> CellsEvidence:
            own = settings._replace(specs=specs)
            return CellsEvidence(RowsSide(rows), own, tuple(rows.scores), lambda: _joint_rows(rows, own))

        if rows.ranking is not None or (rows.are_copies and not draws):
            return in_cells(settings.specs)
        repeated = rows.repeated()
        return measure_rows(
            "scores", repeated.positive, repeated.scores, settings.specs, settings.bootstrap,
            groups=repeated.groups, sample_weight=repeated.weights,
            measure_rest=None if draws or rows.groups is not None else in_cells, progress=settings.progress,
        )  # fmt: skip


class Counted(MeasuredSide):
    """Counts of scores: a summary, or scanned files, which can be scanned again to pair the models."""

    def __init__(
        self, block: CertifiedBlock, settings: EvidenceSettings, pair: Callable[[], Joint] | None = None
    ) -> None:
        self.block, totals = block, block.totals
        self.sizes = Sizes(totals.n_samples, totals.n_positives, totals.n_negatives)
        self._measured = CellsEvidence(CountedSide(block), settings, tuple(totals.summaries), pair)

    def _calibration(self, label: str, model: str) -> Calibration:
        losses = self.block.totals.probabilities.get(model)
        if losses is None or not losses.are_probabilities:
            raise ValueError(f"{label} needs probabilities: scores of {model} are outside [0, 1]")
        return calibration(losses)

    def share(self, label: str, model: str) -> tuple[int, int] | None:
        """Return the successes and trials of a rate."""
        if self.block.totals.is_weighted:
            raise ValueError("rows of this summary have weights, and confidence sequences need rows of equal weight")
        return ClosedCounts(self.block.ranking(model).counts, self._measured.settings.specs).share(label)


class CountedClasses:
    """Counts of class probabilities: means over rows and predicted classes have bounds, areas have none."""

    def __init__(self, block: CountedBlock, settings: EvidenceSettings) -> None:
        self.block, self.settings = block, settings
        self.sizes = Sizes(block.n_samples)

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""
        summary, spec = self.block.summaries[model], self.settings.specs[label]
        found, units = class_metric_of(spec), RarerClass(summary._effective_rows, "effective rows")
        if not summary.is_weighted:
            units = units._replace(noun="rows")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            if found.of_labels is not None:
                counts, _ = summary._counts_and_doubts({})
                specs = {label: found.of_labels}
                sample = make_sample(counts, specs, SamplingDesign(), name=model)
                return Measured.of_sample(sample, specs, [model], self.settings.bootstrap, units=units).of(label, model)
            value = summary.metric(spec)
        if found.source != "rows":
            return _without_interval(value)
        return _mean_of_rows(summary, spec, value, units)

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Raise: counts do not pair models."""
        raise ValueError(f"{label}: {UNPAIRED}")

    def estimate(self, label: str, model: str) -> Pinned:
        """Return a model's metric and its standard error."""
        found = self.of(label, model)
        return Pinned(found.value, found.standard_error)

    def share(self, label: str, model: str) -> None:
        """Return None: confidence sequences are not for probabilities of classes."""


def _mean_of_rows(summary: ClassScoresSummary, spec: MetricSpec, value: float, units: RarerClass) -> Evidence:
    """Return the evidence on a mean over rows: a loss, or the rate of rows whose class is among the k likeliest."""
    error, method = summary.standard_error(spec), "Wilson" if spec.name == "top_k_accuracy" else "normal"
    found = Evidence(value, error, method, lambda level: summary.confidence_interval(spec, 2 * level - 1))
    if not math.isfinite(value):
        return found.without("the metric is infinite")
    return found.without(units.why_few) if units.why_few else found


def _without_interval(value: float | Certified) -> Evidence:
    """Return a metric that counts know without an interval."""
    if math.isnan(float(value)):
        why = "the metric is undefined"
    else:
        why = "counts do not record which probabilities belong to one row, so it has no interval: judge the rows"
    if isinstance(value, Certified):
        why += f" (on these rows it is between {value.low:.6g} and {value.high:.6g})"
    return Evidence(float(value), math.nan, "", lambda _: NOWHERE).without(why)


class Predicted(MeasuredSide):
    """Rows of predicted classes or numbers in memory."""

    def __init__(self, rows: PredictedRows, kind: str, classes: Classes | None, settings: EvidenceSettings) -> None:
        self.rows, self.kind, self.settings = rows, kind, settings
        self.pos_label = None if classes is None else classes.pos_label
        n_positives = None if self.pos_label is None else int(np.count_nonzero(np.asarray(rows.true) == self.pos_label))
        self.sizes = Sizes(rows.true.size, n_positives, None if n_positives is None else rows.true.size - n_positives)

    def share(self, label: str, model: str) -> tuple[int, int] | None:
        """Return the successes and trials of a rate."""
        rows = self.rows
        if self.kind != "labels" or rows.weights is not None:
            return None
        true, predicted = np.asarray(rows.true), {model: np.asarray(rows.predicted[model])}
        return ClosedRows.of_labels(true, predicted, self.settings.specs, self.pos_label).share(label, model)

    @cached_property
    def _measured(self) -> Measured:
        rows, settings = self.rows, self.settings
        return measure_rows(
            self.kind, rows.true, rows.predicted, settings.specs, settings.bootstrap, groups=rows.groups,
            sample_weight=rows.weights, pos_label=self.pos_label, progress=settings.progress,
        )  # fmt: skip


class PinnedSide:
    """The results of a receipt, with their standard errors."""

    def __init__(self, pinned: Mapping[str, Pinned], sizes: Sizes, name: str) -> None:
        self.pinned, self.sizes, self.name = pinned, sizes, name

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a pinned metric, whichever model it is."""
        if label not in self.pinned:
            raise ValueError(f"{self.name} has no {label}: it pins {listed(self.pinned)}")
        value, error = self.pinned[label]
        found = from_normal(value, error, "pinned")
        if not 0 < error < math.inf:
            return found.without(f"the receipt has no usable standard error of {label}")
        if self.sizes.n_positives is None or self.sizes.n_negatives is None:
            return found
        rarer = min(RarerClass(self.sizes.n_positives, "positives"), RarerClass(self.sizes.n_negatives, "negatives"))
        return found.without(f"the receipt has {rarer.why_few}") if rarer.why_few else found

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Raise: a receipt has one model."""
        raise NotImplementedError

    def estimate(self, label: str, model: str) -> Pinned:
        """Return a pinned metric and its standard error."""
        return self.pinned[label]

    def share(self, label: str, model: str) -> None:
        """Return None: a receipt has no counts."""


class EmptySide:
    """A night without rows."""

    sizes = Sizes(0)

    def of(self, label: str, model: str) -> Evidence:
        """Return no evidence."""
        return NO_EVIDENCE.without("there are no rows")

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Return no evidence."""
        return self.of(label, model)

    def estimate(self, label: str, model: str) -> Pinned:
        """Return no estimate."""
        return Pinned(math.nan, math.nan)

    def share(self, label: str, model: str) -> None:
        """Return None: there is no share."""


# Counts -------------------------------------------------------------------------------------------------------------


class ClosedBlock:
    """The closed forms of a model's unweighted counts: of all scores, or at the cuts between ranges of scores."""

    def __init__(self, block: CertifiedBlock, model: str, specs: Specs) -> None:
        self.block, self.counts = block, ClosedCounts(block.ranking(model).counts, specs)
        self.has_all_scores = isinstance(as_ranking(model, block.totals.summaries[model]), Ranking)

    def of(self, label: str, model: str) -> Closed | None:
        """Return the model's metric; None if it has no closed form."""
        spec = self.counts.specs[label]
        if not self.has_all_scores and METRICS[spec.name].of != "cells":
            return None
        found = self.counts.of(label, model)
        if found is None or self.has_all_scores:
            return found
        below, above = self.block.doubts_at(model, {label: spec}, {label: found.value})[label]
        return self.counts.within(label, found.value - below, found.value + above) if below or above else found

    def between(self, label: str, model: str, other: str, factor: float) -> Closed | None:
        """Return None: counts do not pair models."""
        return None


class Joint(NamedTuple):
    """Joint sums of models over rows, and the models' metrics."""

    sums: JointSums
    values: Mapping[str, Mapping[str, float]]  # by model and metric


class CellsEvidence:
    """Metrics of counts: of each model from resampled cells, and differences from joint sums over the rows."""

    def __init__(
        self,
        side: CountedSide | RowsSide,
        settings: EvidenceSettings,
        models: tuple[str, ...],
        pair: Callable[[], Joint] | None,
    ) -> None:
        self.side, self.settings, self.models, self.pair = side, settings, models, pair
        self._found: dict[tuple[str, str], Measured] = {}
        self._joint = cache(self._joint_of)

    def of(self, label: str, model: str) -> Evidence:
        """Return the evidence on a model's metric."""
        if (model, label) not in self._found:
            if why := self.side.why_none(self._plan):
                raise ValueError(f"there are no bounds: {why}")
            alone = self.settings.alone | {label}
            self._measure(model, {name: spec for name, spec in self.settings.specs.items() if name in alone})
        if (model, label) not in self._found:
            raise ValueError(f"{label} of {model} is unknown: it needs probabilities, or the rows in memory")
        return self._found[model, label].of(label, model)

    def _measure(self, model: str, specs: Specs) -> None:
        """Measure metrics of a model: in closed form, by normal draws if rows are many, else by resampled cells."""
        rarer = _rarer_class(self.side.counts)
        closed = self._closed(model, specs)
        if known := [] if closed is None else [name for name in specs if closed.of(name, model) is not None]:
            exact = Measured(specs, [model], {}, {}, closed=closed, units=rarer)
            self._found |= {(model, name): exact for name in known}
            specs = {name: spec for name, spec in specs.items() if name not in known}
        if not specs:
            return
        joint = self._joint(model) if rarer.n >= MANY_ROWS else None
        if joint is not None:
            self._found |= {(model, name): joint for name in specs if name in joint.specs}
            specs = {name: spec for name, spec in specs.items() if name not in joint.specs}
        for sample, metrics, doubts in self.side.drawn(model, specs, self._plan, None) if specs else ():
            measured = Measured.of_sample(sample, metrics, [model], self.settings.bootstrap, doubts)
            self._found |= {(model, name): measured for name in metrics}

    def _joint_of(self, model: str) -> Measured | None:
        """Return a model's metrics with joint draws: of all models, or from its own counts."""
        if self._together is not None:
            return self._together
        if not isinstance(self.side, CountedSide) or self.side.block.totals.is_weighted:
            return None
        return _draws(_joint_counts(self.side.block, model, self.settings.joint_specs), self.settings, self.side)

    def between(self, label: str, model: str, other: str, factor: float) -> Evidence:
        """Return the evidence on a difference."""
        if self._together is None:
            raise ValueError(f"{label}: {UNPAIRED}")
        if label not in self._together.specs:
            raise ValueError(
                f"differences in {label} need resampled rows, and there are too many: lower {option('n_resamples')}, "
                f"or raise {option('memory')} if the files do not fit in it"
            )
        return self._together.between(label, model, other, factor)

    def estimate(self, label: str, model: str) -> Pinned:
        """Return a model's metric and its standard error."""
        if self._together is None or label not in self._together.specs or (model, label) in self._found:
            found = self.of(label, model)
            return Pinned(found.value, found.standard_error)
        place = self._together.models.index(model)
        error = float(np.nanstd(self._together.replicates[label][:, place], ddof=1))
        return Pinned(float(self._together.values[label][place]), error)

    def _closed(self, model: str, specs: Specs) -> ClosedForms | None:
        """Return the closed forms of unweighted counts."""
        if isinstance(self.side, CountedSide):
            block = self.side.block
            return None if block.totals.is_weighted else ClosedBlock(block, model, specs)
        rows = self.side.rows
        if rows.ranking is None and not rows.are_copies:
            return None
        ranking = rows.ranking_of(model)
        return None if ranking.is_weighted else ClosedCounts(ranking.counts, specs)

    @property
    def _plan(self) -> IntervalPlan:
        return self.settings.plan(len(self.models))

    @cached_property
    def _together(self) -> Measured | None:
        return None if self.pair is None else _draws(self.pair(), self.settings, self.side)


def _rarer_class(sizes: tuple[int, int]) -> RarerClass:
    """Return the rarer class of all rows and the positive ones."""
    n_samples, n_positives = sizes
    return min(RarerClass(n_positives, "positives"), RarerClass(n_samples - n_positives, "negatives"))


def _joint_doubts(side: CountedSide, specs: Specs, values: Mapping[str, Mapping[str, float]]) -> dict[str, Doubt]:
    """Return how far each metric of counts may be off, whichever model has it."""
    found: dict[str, Doubt] = {}
    for model in values:
        own = side.block.doubts_at(model, specs, values[model])
        for subject, each in side.block.subjects(model, specs):
            own |= without_doubt(model, subject, each, takes_weights=True)[1]
        for label, doubt in own.items():
            low, high = found.get(label, NO_DOUBT)
            found[label] = max(low, doubt[0]), max(high, doubt[1])
    return found


def _draws(joint: Joint, settings: EvidenceSettings, side: CountedSide | RowsSide) -> Measured:
    """Return the metrics of models with joint draws from their sums."""
    sums, values = joint
    drawn, models = draw_deviations(sums, settings.bootstrap.key), list(sums.models)
    of_pairs = {label for labels in sums.readings.together for label in labels}  # such as maxima
    specs = {label: spec for label, spec in sums.specs.items() if len(models) > 1 or label not in of_pairs}
    found = {label: np.array([values[model][label] for model in models]) for label in specs}
    doubts = _joint_doubts(side, specs, values) if isinstance(side, CountedSide) else {}
    replicates = {label: found[label] + drawn[label] for label in specs}
    return Measured(specs, models, found, replicates, doubts=doubts, units=_rarer_class(side.counts))


def _joint_counts(block: CertifiedBlock, model: str, specs: Specs) -> Joint:
    """Return the sums of one model's counts: each cell and class is a row that counts as many times as it has rows."""
    ranking, losses = block.ranking(model), block.totals.probabilities.get(model)
    cells = with_losses(few_cells(ranking.counts, specs, ranking._squares), losses)
    values = {label: block.value(model, spec) for label, spec in specs.items()}
    told = {name: spec for name, spec in specs.items() if not math.isnan(values[name]) and cells.tell(name, spec)}
    sums, counts = JointSums({model: cells}, told), ranking.counts
    rows = np.concatenate([np.diff(counts.tps), np.diff(counts.fps)])
    flags, scores = np.repeat([True, False], counts.tps.size - 1), np.tile(counts.thresholds[1:], 2)
    kept = rows > 0
    sums.add_all(flags[kept], {model: scores[kept]}, rows[kept])
    return Joint(sums, {model: values})


def _joint_rows(rows: ScoredRows, settings: EvidenceSettings) -> Joint:
    """Return the joint sums of rows in memory."""
    specs = settings.joint_specs
    cells, values = {}, {}
    for model in rows.scores:
        ranking = rows.ranking_of(model)  # deleted before the next: each has up to 32 bytes per row
        cells[model] = few_cells_of_rows(ranking, rows, model, specs)
        values[model] = {name: float(ranking_metric(each).of_counts(ranking.counts)) for name, each in specs.items()}
        del ranking
    sums = JointSums(cells, specs)
    sums.add_all(rows.positive, rows.scores, rows.shares if rows.weighs_rows else rows.weights)
    return Joint(sums, values)


def _calibrated(label: str, found: Calibration) -> Evidence:
    """Return the evidence on a quantity of a calibration."""
    name = CALIBRATION_FIELDS[label]
    estimate = getattr(found, name)

    def interval(level: float) -> Interval:
        return found._interval_at(name, 2 * level - 1)

    return Evidence(estimate.value, estimate.standard_error, "calibration", interval, caution=estimate.caution)
