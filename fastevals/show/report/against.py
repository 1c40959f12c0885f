"""Compare each model with itself on other rows: the two sides of the comparison, paired by value (--against)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning, listed, show
from fastevals._validation.text import unique_inverse
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.bootstrap.class_groups import take_minutes
from fastevals.infer.bootstrap.few_cells import FewCells, FewCellSample
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.bootstrap.samples import Sample
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample, make_sample, specs_for
from fastevals.infer.bootstrap.unpaired import (
    Resampled,
    bootstrap_unpaired,
    reference_settings,
    unpaired_differences,
)
from fastevals.infer.significance.decision import normal_margins
from fastevals.measure.class_specs import class_metric_of
from fastevals.measure.error_metrics import MEDIAN
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import without_doubt
from fastevals.measure.registry import SCORE_METRICS
from fastevals.reading.columns import ColumnRoles
from fastevals.reading.rows import LeftOut
from fastevals.reading.segments import RowSegments
from fastevals.reading.sources import ReadFiles
from fastevals.results import Interval, as_json, check_confidence_level
from fastevals.scale.scores import CountedBlock
from fastevals.show.report.data import OtherBlock, OtherData
from fastevals.show.report.intervals import (
    BCA,
    IntervalPlan,
    ModelDifference,
    ModelPair,
    PredictedRows,
    ScoredRows,
    few_cells_of_rows,
    why_none,
    why_unknown_squares,
)
from fastevals.show.report.kinds import MAPE
from fastevals.show.report.over_values import MOST_BLOCKS, DividedRows, have_blocks
from fastevals.show.report.streams import CertifiedBlock

Specs = Mapping[str, MetricSpec]
NO_AREAS_COMPARED = (
    "averages of AUC and AP over classes, M and calibration errors are not compared: these have no intervals without "
    "the rows"
)
ONE_CLUSTER = "all rows of one side are in one cluster"


class DrawnPart(NamedTuple):
    """A sample of one side, the metrics that it measures, and how far they may be off."""

    sample: Sample
    metrics: Specs
    doubts: Mapping[str, Doubt] = {}


# Sides ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsSide:
    """Rows in memory, which are resampled if there are few enough, and otherwise in cells."""

    rows: ScoredRows

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of rows and of positive rows."""
        if self.rows.ranking is not None:
            return self.rows.ranking.n_samples, self.rows.ranking.n_positives
        copies = self.rows.weights if self.rows.are_copies else None
        flags = self.rows.positive
        return self.rows.n_samples, int(np.count_nonzero(flags) if copies is None else copies[flags].sum())

    def why_none(self, plan: IntervalPlan) -> str:
        """Say why these rows can't be resampled; "" if they can."""
        return why_none(plan, self.rows)

    def drawn(self, model: str, metrics: Specs, plan: IntervalPlan, units: SamplingUnits | None) -> Iterator[DrawnPart]:
        """Yield the samples that measure a model; `units` number the clusters of both sides."""
        rows = self.rows
        metrics = _applicable(metrics, rows.scores[model])
        if plan.draws(rows.n_samples) and (rows.groups is not None or rows.weighs_rows) and rows.ranking is None:
            rows = rows.repeated()
            design = SamplingDesign(units, rows.weights, pos_label=True)
            yield DrawnPart(make_sample((rows.positive, rows.scores[model]), metrics, design), metrics)
            return
        ranking = rows.ranking_of(model)
        if plan.draws(rows.n_samples):
            yield DrawnPart(make_sample(ranking, metrics, SamplingDesign()), metrics)
            return
        cells = few_cells_of_rows(ranking, rows, model, metrics)
        values = {label: float(ranking_metric(spec).of_counts(ranking.counts)) for label, spec in metrics.items()}
        yield _drawn_cells(cells, metrics, values)


@dataclass(frozen=True)
class CellsSide:
    """Rows of files that were counted in scans: the cells and the metrics of each model."""

    counts: tuple[int, int]  # rows, and positive rows
    cells: Mapping[str, FewCells]  # by model; empty if intervals are unknown
    values: Mapping[str, Mapping[str, float]]

    def why_none(self, plan: IntervalPlan) -> str:
        """Say why these rows can't be resampled; "" if they can."""
        return "" if self.cells else why_unknown_squares()

    def drawn(self, model: str, metrics: Specs, plan: IntervalPlan, units: SamplingUnits | None) -> Iterator[DrawnPart]:
        """Yield the sample that measures a model."""
        yield _drawn_cells(self.cells[model], metrics, self.values[model])


@dataclass(frozen=True)
class CountedSide:
    """Rows that were counted in ranges of scores."""

    block: CertifiedBlock

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of rows and of positive rows."""
        return self.block.totals.n_samples, self.block.totals.n_positives

    def why_none(self, plan: IntervalPlan) -> str:
        """Say why these rows can't be resampled; "" if they can."""
        return "" if self.block.totals.has_squares else why_unknown_squares()

    def drawn(self, model: str, metrics: Specs, plan: IntervalPlan, units: SamplingUnits | None) -> Iterator[DrawnPart]:
        """Yield the samples that measure a model: ranges of scores, counts at cuts, and probabilities."""
        for subject, specs in self.block.subjects(model, metrics):
            counts, doubts, coarse = without_doubt(model, subject, specs, takes_weights=True)
            at_thresholds = {label: spec for label, spec in specs.items() if SCORE_METRICS[spec.name].of == "cells"}
            known = self.block.ranking(model).counts
            values = {label: float(ranking_metric(each).of_counts(known)) for label, each in at_thresholds.items()}
            doubts = {**doubts, **self.block.doubts_at(model, at_thresholds, values)}
            yield DrawnPart(make_sample(counts, specs, SamplingDesign(), coarse=coarse, name=model), specs, doubts)


@dataclass(frozen=True)
class PredictedSide:
    """Rows of predicted classes or numbers in memory, which are resampled."""

    rows: PredictedRows
    has_many_classes: bool = False  # whether classes are predicted, and none of them is positive
    pos_label: Any = None
    most_sorted: float = math.inf  # rows, above which the median error is not compared
    labels: NDArray[Any] | None = None  # the classes of columns of probabilities, by number

    @property
    def counts(self) -> tuple[int, None]:
        """Number of rows; predictions don't tell which rows are positive."""
        return self.rows.true.size, None

    def classes(self, model: str) -> set[Any]:
        """Return the classes that are true or predicted by a model."""
        columns = self.rows.true, self.rows.predicted[model]
        return {each for column in columns for each in unique_inverse(column)[0].tolist()}

    def why_none(self, plan: IntervalPlan) -> str:
        """Return "": rows can be resampled."""
        return ""

    def drawn(self, model: str, metrics: Specs, plan: IntervalPlan, units: SamplingUnits | None) -> Iterator[DrawnPart]:
        """Yield the sample that measures a model; `units` number the clusters of both sides."""
        rows = self.rows
        left_out = {MEDIAN} if rows.true.size > self.most_sorted else set()
        left_out |= {MAPE} if MAPE in metrics and not (rows.true != 0).all() else set()
        metrics = {label: spec for label, spec in metrics.items() if label not in left_out}
        design = SamplingDesign(units, rows.weights, pos_label=self.pos_label, labels=self.labels)
        subject, specs = (rows.true, rows.predicted[model]), dict[str, Any](metrics)
        # Clusters on both sides must be drawn together, so they are never grouped.
        may_group = self.labels is not None and plan.budget is not None and units is None
        if may_group and take_minutes(rows.predicted, plan.n_resamples):
            one = {model: rows.predicted[model]}
            sample = make_class_sample(rows.true, one, CLASSES.specs(specs), design, one_model=True, coarse=True)
        else:
            sample = make_sample(subject, specs_for(subject, specs), design)
        yield DrawnPart(sample, metrics)


@dataclass(frozen=True)
class ClassCountsSide:
    """Rows with class probabilities that were counted."""

    block: CountedBlock

    @property
    def counts(self) -> tuple[int, None]:
        """Number of rows."""
        return self.block.n_samples, None

    def why_none(self, plan: IntervalPlan) -> str:
        """Return "": means over rows and predicted classes have intervals."""
        return ""

    def differences(self, other: ClassCountsSide, model: str, metrics: Specs, plan: IntervalPlan) -> Differences:
        """Return a model's differences from other rows in means over rows and metrics of predicted classes."""
        one, two = self.block.summaries[model], other.block.summaries[model]
        of_labels = {label: spec for label, spec in metrics.items() if class_metric_of(spec).of_labels is not None}
        found: Differences = {}
        if of_labels:
            settings: dict[str, Any] = {"confidence_level": plan.confidence_level, "rng": plan.seed}
            drawn = bootstrap_unpaired(one, two, of_labels, n_resamples=plan.n_resamples, **settings)
            found = {
                label: ModelDifference(each.value, each.confidence_interval, each.pvalue)
                for label, each in drawn.items()
            }
        alpha = check_confidence_level(plan.confidence_level)[1]
        for label, spec in metrics.items():
            if class_metric_of(spec).source == "rows":
                value = one.metric(spec) - two.metric(spec)
                error = math.hypot(one.standard_error(spec), two.standard_error(spec))
                margin = float(normal_margins(alpha, "two-sided")[0]) * error
                pvalue = math.erfc(abs(value / error) / math.sqrt(2)) if error > 0 else math.nan
                found[label] = ModelDifference(value, Interval(value - margin, value + margin), pvalue)
        return found


Differences = dict[str, ModelDifference]
Side = RowsSide | CellsSide | CountedSide | PredictedSide | ClassCountsSide


def _groups_of(side: Side) -> NDArray[Any] | None:
    """Return the clusters of a side's rows; None without clusters."""
    if isinstance(side, RowsSide):
        return side.rows.repeated().groups
    return side.rows.groups if isinstance(side, PredictedSide) else None


def _applicable(metrics: Specs, scores: NDArray[Any]) -> Specs:
    """Return the metrics that scores have: metrics of probabilities only if the scores are in [0, 1]."""
    if scores.size and scores.min() >= 0 and scores.max() <= 1:
        return metrics
    return {label: spec for label, spec in metrics.items() if SCORE_METRICS[spec.name].of != "probabilities"}


def _drawn_cells(cells: FewCells, metrics: Specs, values: Mapping[str, float]) -> DrawnPart:
    told = {label: spec for label, spec in metrics.items() if not np.isnan(values[label]) and cells.tell(label, spec)}
    return DrawnPart(FewCellSample(cells, told, values), told)


# Differences ----------------------------------------------------------------------------------------------------------


def differences_from(
    plan: IntervalPlan, metrics: Specs, side: Side, other: Side, models: Sequence[str], name: str
) -> tuple[ModelPair, ...]:
    """Return each model's differences from its own results on other rows, with separate intervals."""
    if isinstance(side, ClassCountsSide) and isinstance(other, ClassCountsSide):
        return tuple(_pair(model, name, metrics, side.differences(other, model, metrics, plan)) for model in models)
    settings = BootstrapSettings.checked(plan.n_resamples, plan.confidence_level, BCA, "two-sided", plan.seed)
    units = _shared_units(side, other)
    settings_of_other = reference_settings(settings) if units is None else settings
    sides: Any = (("the data", side, settings), ("the other rows", other, settings_of_other))
    pairs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for model in models:
            ours, theirs = (
                [
                    Resampled.of(shown, each.sample, each.metrics, own, each.doubts)
                    for each in one.drawn(model, metrics, plan, None if units is None else units[k])
                    if each.metrics
                ]
                for k, (shown, one, own) in enumerate(sides)
            )
            found: dict[str, ModelDifference] = {}
            for one in ours:
                for its in theirs:
                    both = {label: metrics[label] for label in one.values if label in its.values}
                    drawn = unpaired_differences(one, its, both, settings, share_clusters=units is not None)
                    found |= {
                        label: ModelDifference(each.value, each.confidence_interval, each.pvalue)
                        for label, each in drawn.items()
                    }
            pairs.append(_pair(model, name, metrics, found))
    return tuple(pairs)


def _pair(model: str, name: str, metrics: Specs, found: Differences) -> ModelPair:
    return ModelPair(model, f"{model} in {name}", {label: found[label] for label in metrics if label in found})


def _why_fewer(side: Side, other: Side, models: Sequence[str], name: str) -> str:
    """Say why averages over classes are not compared; "" if both sides have the same classes."""
    if isinstance(side, ClassCountsSide):
        return NO_AREAS_COMPARED
    if not (isinstance(side, PredictedSide) and isinstance(other, PredictedSide) and side.has_many_classes):
        return ""
    only: tuple[set[Any], set[Any]] = set(), set()
    for model in models:
        mine, its = side.classes(model), other.classes(model)
        only[0].update(mine - its)
        only[1].update(its - mine)
    if not any(only):
        return ""
    said = [
        f"only in {shown}: {listed(sorted(each))}" for each, shown in zip(only, ("the data", name), strict=True) if each
    ]
    return f"averages over classes are not compared, because the classes differ ({'; '.join(said)})"


def _averages_classes(spec: MetricSpec) -> bool:
    """Return whether a metric is an average over the classes that occur."""
    return spec.options.get("average", "binary") != "binary" or spec.name == "balanced_accuracy"


def check_blocks(groupings: Sequence[DividedRows]) -> None:
    """Raise if rows to compare with other rows have too many values for a block each."""
    for by, values, _ in groupings:
        if not have_blocks(values):
            raise ValueError(
                f"{option('by')} {' x '.join(map(repr, by))} has {len(values):,} values; {option('against')} compares "
                f"at most {MOST_BLOCKS}"
            )


def _shared_units(side: Side, other: Side) -> list[SamplingUnits] | None:
    """Return the clusters of both sides, numbered together; None without clusters."""
    groups = [_groups_of(one) for one in (side, other)]
    if groups[0] is None or groups[1] is None:
        return None
    return SamplingUnits.number_shared({"the data": groups[0], "the other rows": groups[1]})


def are_of_one_cluster(side: Side) -> bool:
    """Return whether all rows of a side are in one cluster, so that they can't be resampled."""
    groups = side.rows.groups if isinstance(side, (RowsSide, PredictedSide)) else None
    return groups is not None and bool((groups == groups[0]).all())


# Other rows -----------------------------------------------------------------------------------------------------------


class OtherTotals(NamedTuple):
    """What a report tells about all other rows."""

    n_samples: int
    n_positives: int | None
    left_out: LeftOut
    n_weightless: int
    files: ReadFiles | None


class OtherSides:
    """The other rows, by value of the --by columns.

    Parameters
    ----------
    name : str
        Name of the other rows in texts.
    roles : ColumnRoles
        Roles of the columns.
    sides : dict of label to Side
        The rows of each block, by its key.
    labels : tuple
        The positive and the negative label; None if unknown.
    totals : OtherTotals
    whole : Side or None
        All rows, if they are divided into blocks.
    """

    def __init__(
        self,
        name: str,
        roles: ColumnRoles,
        sides: dict[Any, Side],
        labels: tuple[Any, Any],
        totals: OtherTotals,
        whole: Side | None = None,
    ) -> None:
        self.name, self.roles, self.sides, self.labels, self.totals = name, roles, sides, labels, totals
        self.whole = whole
        self._segments = roles.segments
        self._as_text = {text_key(self._segments, key): key for key in sides}
        self._paired: dict[Any, Any] = {}  # keys of the data that were compared, with keys of the other rows

    @property
    def whole_side(self) -> Side | None:
        """All rows."""
        return self.sides[None] if self.whole is None else self.whole

    @property
    def sizes(self) -> list[int]:
        """Numbers of rows of the blocks."""
        return [side.counts[0] for side in self.sides.values()]

    def compared(
        self, key: Any, side: Side, metrics: Specs, models: Sequence[str], plan: IntervalPlan
    ) -> tuple[tuple[ModelPair, ...], OtherBlock | None]:
        """Return the differences of a block from the other rows with its value, and the numbers of these rows."""
        its = self.pair(key)
        return ((), None) if its is None else self._compared(side, its, metrics, models, plan)

    def pair(self, key: Any) -> Side | None:
        """Return the other rows with the value of a block of the data; None if there are none."""
        its = key if key in self.sides else self._as_text.get(text_key(self._segments, key), key)
        if its not in self.sides:
            return None
        self._paired[key] = its
        return self.sides[its]

    def compared_whole(
        self, side: Side, metrics: Specs, models: Sequence[str], plan: IntervalPlan
    ) -> tuple[tuple[ModelPair, ...], OtherBlock | None]:
        """Return the differences of all rows from all other rows, and the numbers of these."""
        return ((), None) if self.whole is None else self._compared(side, self.whole, metrics, models, plan)

    def _compared(
        self, side: Side, other: Side, metrics: Specs, models: Sequence[str], plan: IntervalPlan
    ) -> tuple[tuple[ModelPair, ...], OtherBlock]:
        why = side.why_none(plan) or other.why_none(plan)
        if not why and (are_of_one_cluster(side) or are_of_one_cluster(other)):
            why = ONE_CLUSTER
        fewer = "" if why else _why_fewer(side, other, models, self.name)
        if fewer and isinstance(side, PredictedSide):
            metrics = {label: spec for label, spec in metrics.items() if not _averages_classes(spec)}
        pairs = () if why else differences_from(plan, metrics, side, other, models, self.name)
        n_samples, n_positives = other.counts
        return pairs, OtherBlock(n_samples, n_positives, why, fewer)

    def told(self, keys: Iterable[Any]) -> OtherData:
        """Return what a report tells about these rows, given the keys of the data's blocks."""
        used = set(self._paired.values())
        return OtherData(
            self.name, *self.totals,
            tuple(key for key in keys if key not in self._paired),
            tuple(key for key in self.sides if key not in used),
        )  # fmt: skip

    def check_classes(self, labels: tuple[Any, Any]) -> None:
        """Raise unless the classes are those of the data, as far as both are known."""
        for what, mine, its in zip(("positive", "negative"), labels, self.labels, strict=True):
            if mine is None or its is None or (mine == its and isinstance(mine, str) == isinstance(its, str)):
                continue
            if labels[::-1] == self.labels:
                raise ValueError(
                    f"{option('against')} {self.name}: its positive class is {show(self.labels[0])}, and the data's is "
                    f"{show(labels[0])}"
                )
            raise ValueError(
                f"{option('against')} {self.name}: its {what} class is {show(its)}, and the data's is {show(mine)}"
            )

    def check_paired(self, keys: Iterable[Any]) -> None:
        """Raise unless some value of the data is among the other rows."""
        texts = {text_key(self._segments, key) for key in keys}
        if not texts & self._as_text.keys():
            by = listed(self._segments.columns)
            raise ValueError(f"{option('against')}: {self.name} and the data have no value of {by} in common")


def text_key(segments: RowSegments, key: Any) -> Any:
    """Return a key with its values as text, so that values of CSV files match those of other formats."""

    def rename(_: str, value: Any) -> Any:
        plain = as_json(value)
        return plain if plain is None or isinstance(plain, str) else repr(plain).lower()

    return segments.renamed(key, rename)
