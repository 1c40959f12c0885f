"""Reports on files that are larger than memory: the same numbers, counted in scans over the rows.

The first scan counts the rows and gathers the scores of positives; the second counts negatives around them
(`fastevals.scale.exact`). Only small blocks are resampled by row: their rows are read into memory and measured like any
other data. With --approximate, or if data can be read only once, one scan counts rows in ranges of scores
(`RankingSummary`), and numbers that are not exact have bounds.
"""

from __future__ import annotations

import contextlib
import glob
import math
import os
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import UndefinedMetricWarning
from fastevals.counting.ordering import FLOATS
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.few_cells import FewCells
from fastevals.measure.metric_specs import MetricSpec, metric_bounds, ranking_metric
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import SCORE_METRICS
from fastevals.measure.thresholds import best_row_by
from fastevals.reading.columns import are_summaries, encode_groups
from fastevals.reading.named_files import FILE, names_of_files
from fastevals.reading.rows import RowReader, Rows
from fastevals.reading.segments import Whole
from fastevals.reading.sources import is_path
from fastevals.results import Interval
from fastevals.scale.certified import Certified
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.exact.atoms import AtomCounts
from fastevals.scale.exact.curve import ExactCurve
from fastevals.scale.exact.scans import BlockRows, ExactScans, Place
from fastevals.scale.paired import JointSums
from fastevals.scale.parquet import threshold_keys
from fastevals.scale.payload import kind_of_file, read_file, stored_kind
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.scores import CountedBlock, ScoresSummary, count_scores
from fastevals.scale.summarized_classes import SummarizedClasses
from fastevals.scale.summary import Units
from fastevals.show.report.data import ModelNumbers
from fastevals.show.report.intervals import (
    PROBABILITY_COLUMNS,
    IntervalPlan,
    Intervals,
    ScoredRows,
    cell_intervals,
    few_cells,
    values_of,
    why_unknown_squares,
    with_losses,
)
from fastevals.show.report.over_values import have_blocks, most_blocks

KEY_OF_ZERO, KEY_OF_ONE = (int(key) for key in FLOATS.encode(np.array([0.0, 1.0])))  # keys of the ends of probabilities

Key = tuple[Any, int]  # a block's value, and the number of a model


# Exact --------------------------------------------------------------------------------------------------------------


class StreamedBlock(NamedTuple):
    """The data of one block for a report: its rows if they are few, or the counts of each model."""

    totals: BlockRows
    rows: ScoredRows | None
    curves: tuple[ExactCurve, ...]
    probabilities: list[ProbabilitySummary | None]
    is_weighted: bool
    cells: dict[str, FewCells]  # by model, if intervals are from cells

    def ranking(self, model: int) -> Ranking:
        """Return the kept points of a model's ranking; weights are floats, as for rows."""
        counts = self.curves[model].counts
        if self.is_weighted:
            counts = counts.in_weight()
        return Ranking._from_checked_counts(counts, None, (self.totals.n_positives, self.totals.n_negatives))

    def known(self, model: int) -> dict[str, float]:
        """Return a model's metrics that aren't computed from its kept points; NaN for unknown probability metrics."""
        summary = self.probabilities[model]
        losses = dict.fromkeys(PROBABILITY_COLUMNS, math.nan) if summary is None else summary.metrics()
        return self.curves[model].metrics | losses


class ExactStream:
    """The blocks of a report on files (the rows of each --by value), with exact counts.

    Parameters
    ----------
    reader : RowReader
    best : str or None
        Metric that chooses each model's threshold.
    costs : mapping of str to float
    thresholds : sequence of float
        Other thresholds at which to count.
    memory : int or None
        Memory for the scores of positives, in bytes.
    progress : bool
    is_trend : bool, default False
        Whether the values are those of a trend, which may be many.
    """

    def __init__(
        self,
        reader: RowReader,
        best: str | None,
        costs: Mapping[str, float],
        thresholds: Sequence[float],
        memory: int | None,
        progress: bool,
        *,
        is_trend: bool = False,
    ) -> None:
        self.reader, self.best, self.costs, self.memory = reader, best, costs, memory
        self.scans = ExactScans(reader, _finite_keys(thresholds), memory, progress)
        self.blocks = self.scans.first()
        for by in reader.segments.groupings:
            keys = [block.value for block in self.blocks if reader.segments.of_key(block.value)[0] == by]
            if not have_blocks(keys, is_trend=is_trend):
                raise ValueError(
                    f"{option('by')} {' x '.join(map(repr, by))} has {len(keys):,} values; of files larger than memory "
                    f"at most {most_blocks(is_trend=is_trend):,} are measured"
                )

    def count(
        self, plan: IntervalPlan | None, of_all: IntervalPlan | None, metrics: Mapping[str, MetricSpec]
    ) -> list[StreamedBlock]:
        """Return all blocks: with rows if the plan resamples them, else with the data for intervals of metrics.

        `of_all` is the plan for the block of all rows, if values divide them into several.
        """
        models = range(len(self.reader.scores))
        drawn = self._drawn(plan, [block for block in self.blocks if block.value is not Whole.ROWS])
        drawn |= self._drawn(of_all, [block for block in self.blocks if block.value is Whole.ROWS], drawn)
        wanted = [block for block in self.blocks if block.value not in drawn]
        has_cells = plan is not None and self.reader.groups is None
        by_cells = [
            block.value
            for block in wanted
            if has_cells and (block.known_sums is not None or not self.reader.weighs_rows)
        ]
        gathered: dict[Any, list[tuple[Place, Rows]]] = {value: [] for value in drawn}
        losses = _ByThread(ProbabilitySummary)
        curves = {(block.value, k): self._curve(block, k) for block in wanted for k in models}
        reduced: dict[Key, FewCells] = {}

        def look(rows: Rows, block: BlockRows, place: Place) -> None:
            if block.value in drawn:
                gathered[block.value].append((place, rows))
                return
            units = None if rows.weights is None else Units(rows.weights.astype(np.int64), self.reader.weighs_rows)
            for k, scores in enumerate(rows.scores):
                if block.lowest[k] >= KEY_OF_ZERO and block.highest[k] <= KEY_OF_ONE:
                    losses.mine((block.value, k))._count_rows(rows.flags, scores, units)

        def take(block: BlockRows, k: int, atoms: AtomCounts) -> None:
            curve = curves[block.value, k]
            curve.add(atoms)
            points = curve.all_points(atoms) if block.value in by_cells else None
            if points is not None:
                squares = None if atoms.squares is None else atoms.squares.at_thresholds(points.thresholds)
                reduced[block.value, k] = few_cells(points, metrics, squares)

        if wanted:
            self.scans.count(wanted, take, look)
        else:
            self.scans.scan(look)
        found = {key: parts[0].merge(*parts[1:]) for key, parts in losses.all().items()}
        for key in ((value, k) for value in by_cells for k in models):
            some = reduced[key] if key in reduced else few_cells(curves[key].counts, metrics, curves[key].squares)
            reduced[key] = with_losses(some, found.get(key))
        names = self.reader.scores
        of_blocks = {value: {names[k]: reduced[value, k] for k in models} for value in by_cells}
        return [
            StreamedBlock(
                block,
                self._rows(gathered.pop(block.value)) if block.value in drawn else None,
                tuple(curves[block.value, k] for k in models if block.value not in drawn),
                [found.get((block.value, k)) for k in models],
                self.reader.weighs_rows,
                of_blocks.get(block.value, {}),
            )
            for block in self.blocks
        ]

    def _drawn(self, plan: IntervalPlan | None, blocks: Sequence[BlockRows], kept: Collection[Any] = ()) -> set[Any]:
        """Return the values of the blocks whose rows are resampled, which must fit in memory beside `kept` blocks."""
        if plan is None:
            return set()
        blocks = [block for block in blocks if plan.draws(block.n_samples)]
        values = {block.value for block in blocks}.union(kept)
        n_rows = sum(block.n_samples for block in self.blocks if block.value in values)
        n_bytes = n_rows * (8 * len(self.reader.scores) + 9)
        fit = plan.budget is not None or self.memory is None or n_bytes <= self.memory
        blocks = [block for block in blocks if plan.draws(block.n_samples, fit=fit)]
        return {block.value for block in blocks}

    def joint_sums(self, wanted: Iterable[tuple[StreamedBlock, Mapping[str, MetricSpec]]]) -> dict[Any, JointSums]:
        """Return, by value, joint sums for the differences of models in some metrics, from one more scan."""
        joint = {
            block.totals.value: JointSums(block.cells, metrics) for block, metrics in wanted if len(block.cells) > 1
        }
        if not joint:
            return {}
        parts: dict[tuple[Any, int], JointSums] = {}

        def add(rows: Rows, block: BlockRows, _: Place) -> None:
            if block.value in joint:
                key = block.value, threading.get_ident()
                if key not in parts:
                    parts[key] = joint[block.value].empty()
                parts[key].add(rows.flags, dict(zip(self.reader.scores, rows.scores, strict=True)), rows.weights)

        self.scans.scan(add)
        for (value, _), part in parts.items():
            joint[value].merge(part)
        return joint

    def _curve(self, block: BlockRows, k: int) -> ExactCurve:
        keep = None
        if self.best is not None:
            metric = SCORE_METRICS[self.best]
            options = metric.own_options({name: self.costs[name] for name in metric.options if name in self.costs})

            def keep(counts: ThresholdCounts) -> int | None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    return best_row_by(counts, metric, options)

        return ExactCurve(*block.weight, keep)

    def _rows(self, parts: list[tuple[Place, Rows]]) -> ScoredRows:
        """Return rows in the order of the files."""
        rows = Rows.joined([part for _, part in sorted(parts, key=lambda each: each[0])])
        return scored_rows(rows, self.reader)


# In one scan --------------------------------------------------------------------------------------------------------


def _finite_keys(thresholds: Sequence[float]) -> NDArray[np.uint64]:
    return threshold_keys(option("threshold"), [each for each in thresholds if math.isfinite(each)])


def summarize_rows(reader: RowReader, thresholds: Sequence[float], progress: bool) -> ScoresSummary:
    """Count the rows of files by score, in one scan."""
    return count_scores(reader, _finite_keys(thresholds), cells=2**18, progress=progress)


def read_named_summaries(data: Any) -> ScoresSummary:
    """Return one summary whose blocks are the files, each with all of its rows, named by the files."""
    if isinstance(data, ScoresSummary):
        raise ValueError(f"{option('trend')} needs {option('by')}, or two .fe files or more, got one summary")
    paths = paths_of_summaries(data)
    parts = []
    for path, name in zip(paths, names_of_files(paths), strict=True):
        found = read_summaries(path)
        everything = found.blocks[None] if found.by is None else with_whole(found, 1)[Whole.ROWS]
        lacking = found.left_out._replace(by_value={name: found.left_out._replace(by_value={})})
        parts.append(replace(found, by=FILE, cross=False, blocks={name: everything}, left_out=lacking))
    try:
        merged: ScoresSummary = parts[0].merge(*parts[1:])
    except ValueError as error:
        raise ValueError(f"{' and '.join(map(repr, paths[:3]))}: {error}") from None
    return merged


def paths_of_summaries(data: Any) -> list[str]:
    """Return the paths of files and patterns."""
    paths: list[str] = []
    for path in map(os.fsdecode, [data] if is_path(data) else data):
        paths += [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True)) or [path]
    return paths


def with_whole(summary: ScoresSummary[Any], fewest: int = 2) -> dict[Any, CountedBlock]:
    """Return a summary's blocks; if a column divides the rows into `fewest` blocks or more, add a block of all rows."""
    segments = summary.segments
    if not segments.columns or len(summary.blocks) < fewest:
        return summary.blocks
    parts = [block for key, block in summary.blocks.items() if segments.of_key(key)[0] == segments.groupings[0]]
    return {**summary.blocks, Whole.ROWS: parts[0].merge(*parts[1:])}


def summary_of_ranking(label: str, model: str, ranking: Any) -> ScoresSummary:
    """Wrap a ranking as a summary of one model; its counts are known at some thresholds, or in ranges of scores."""
    block = CountedBlock(ranking.n_samples, ranking.n_positives, {model: ranking}, {})
    return ScoresSummary(label, (model,), labels=ranking._classes().labels[::-1].tolist(), blocks={None: block})


def read_summaries(data: Any) -> ScoresSummary:
    """Return the summary from one file of `fastevals summarize`, or the merged summary of several files."""
    if isinstance(data, ScoresSummary):
        return data
    found: list[Any] = []
    paths = paths_of_summaries(data)
    for path in paths:
        try:
            found.append(_read_summary(read_file(path)))
        except ValueError as error:
            raise ValueError(f"{path!r}: {error}") from None
    if len({each.KIND for each in found}) > 1:
        raise ValueError(f"{' and '.join(map(repr, paths[:3]))}: some have scores, and some have class probabilities")
    if len({(each.by, each.cross) for each in found}) == 1:  # CSV columns have no type
        names = found[0].segments.columns
        mixed = [name for name in names if len(set().union(*(each.has_types_of(name) for each in found))) > 1]
        found = [each.with_text_values(mixed) for each in found] if mixed else found
    try:
        merged: ScoresSummary = found[0].merge(*found[1:])
    except ValueError as error:
        hint = " (see --largest-weight of fastevals summarize)" if "largest_weight" in str(error) else ""
        raise ValueError(f"{' and '.join(map(repr, paths[:3]))}: {error}{hint}") from None
    return merged


def _read_summary(content: bytes) -> ScoresSummary[Any]:
    if stored_kind(content) == ClassScoresSummary.KIND:
        return SummarizedClasses.of_summary(ClassScoresSummary.from_bytes(content))
    return ScoresSummary.from_bytes(content)


def counts_classes(data: Any) -> bool:
    """Return whether data are counts of class probabilities: files of `fastevals summarize`, or a summary."""
    if isinstance(data, (ClassScoresSummary, SummarizedClasses)):
        return True
    if isinstance(data, ScoresSummary) or not are_summaries(data):
        return False
    first = next(iter(paths_of_summaries(data)), "")
    return kind_of_file(first) in (ClassScoresSummary.KIND, SummarizedClasses.KIND)


def summary_name(data: Any) -> str:
    """Return the name that texts use for summaries."""
    if isinstance(data, (ScoresSummary, ClassScoresSummary)):
        return getattr(data, "title", "") or "summary"
    if not (is_path(data) or isinstance(data, (list, tuple))):
        return "ranking"
    return ", ".join(os.path.basename(os.fsdecode(path)) for path in ([data] if is_path(data) else data))


@dataclass(frozen=True)
class CertifiedBlock:
    """The data of one block, counted in ranges of scores, for a report."""

    totals: CountedBlock

    @cached_property
    def _rankings(self) -> dict[str, Any]:
        return {model: as_ranking(model, summary) for model, summary in self.totals.summaries.items()}

    def ranking(self, model: str) -> Ranking:
        """Return a model's ranking, restricted to the thresholds at which counts are exact."""
        found = self._rankings[model]
        is_exact = isinstance(found, Ranking)
        counts = found.counts if is_exact else found.at_cuts
        ranking = Ranking._from_checked_counts(counts, None, (self.totals.n_positives, self.totals.n_negatives))
        ranking._squared = found._squares if is_exact else found.squares_at_cuts
        return ranking

    def bounds_at(self, model: str, threshold: float, costs: Mapping[str, float]) -> dict[str, Interval]:
        """Return the bounds of metrics at a threshold; leave out metrics without bounds."""
        ranking = self._rankings[model]
        bounds: dict[str, Interval] = {}
        if isinstance(ranking, Ranking) or math.isnan(threshold):
            return bounds
        for name, entry in SCORE_METRICS.items():
            if entry.of == "cells":
                with contextlib.suppress(ValueError), warnings.catch_warnings():
                    warnings.simplefilter("ignore", UndefinedMetricWarning)
                    found = ranking.metric(MetricSpec(name, {"threshold": threshold, **entry.own_options(costs)}))
                    if isinstance(found, Certified):
                        bounds[name] = Interval(found.low, found.high)
        return bounds

    def subjects(self, model: str, metrics: Mapping[str, MetricSpec]) -> list[tuple[Any, dict[str, MetricSpec]]]:
        """Return what to resample, each with its metrics: ranges of scores, counts at cuts, and probabilities."""
        summary = self.totals.summaries[model]
        rankings = {label: spec for label, spec in metrics.items() if SCORE_METRICS[spec.name].of == "ranking"}
        at_cuts = {label: spec for label, spec in metrics.items() if SCORE_METRICS[spec.name].of == "cells"}
        subjects: list[tuple[Any, dict[str, MetricSpec]]] = [(summary, rankings), (self.ranking(model), at_cuts)]
        losses = self.totals.probabilities.get(model)
        if losses is not None and losses.are_probabilities:
            proper = {label: spec for label, spec in metrics.items() if SCORE_METRICS[spec.name].of == "probabilities"}
            of_losses: Any = losses.counts()
            if losses.is_weighted:
                of_losses = Ranking.from_threshold_counts(of_losses)
                of_losses._squared = losses.squares()
            subjects.append((of_losses, proper))
        return [(subject, specs) for subject, specs in subjects if specs]

    def value(self, model: str, spec: MetricSpec) -> float:
        """Return a metric, NaN if it is undefined or unknown; the middle of its bounds if it is not exact."""
        if SCORE_METRICS[spec.name].of == "probabilities":
            return self.losses(model).get(spec.name, math.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            ranking = self._rankings[model]
            is_exact = isinstance(ranking, Ranking)
            return float(ranking_metric(spec).of_counts(ranking.counts) if is_exact else ranking.metric(spec))

    def doubts_at(self, model: str, metrics: Mapping[str, MetricSpec], values: Mapping[str, float]) -> dict[str, Doubt]:
        """Return how far metrics of confusion matrices may lie below and above `values`: a threshold may be no cut."""
        ranking, found = self._rankings[model], {}
        at_thresholds = {} if isinstance(ranking, Ranking) else metrics
        for label, spec in at_thresholds.items():
            if SCORE_METRICS[spec.name].of == "cells" and not math.isnan(values[label]):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UndefinedMetricWarning)
                        exact = ranking.metric(spec)
                except ValueError:  # no bounds are known: `values` are those at a cut
                    continue
                low, high = (exact.low, exact.high) if isinstance(exact, Certified) else (exact, exact)
                found[label] = max(values[label] - low, 0.0), max(high - values[label], 0.0)
        return found

    def losses(self, model: str) -> dict[str, float]:
        """Return the metrics of probabilities; NaN if scores are not probabilities."""
        summary = self.totals.probabilities.get(model)
        return dict.fromkeys(PROBABILITY_COLUMNS, math.nan) if summary is None else summary.metrics()

    def certified(self, model: str) -> dict[str, float | Certified]:
        """Return the metrics of rankings, with bounds unless they are exact; NaN for unknown ones."""
        ranking = self._rankings[model]
        found: dict[str, float | Certified] = {}
        for name, entry in SCORE_METRICS.items():
            if entry.of != "ranking":
                continue
            if isinstance(ranking, Ranking):
                found[name] = float(entry(hull(ranking.counts) if entry.on_hull else ranking.counts))
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UndefinedMetricWarning)
                    try:
                        found[name] = ranking.metric(MetricSpec(name, {}))
                    except ValueError:  # no bounds are known
                        found[name] = math.nan
        return found


def summary_intervals(
    plan: IntervalPlan,
    metrics: Mapping[str, MetricSpec],
    block: CertifiedBlock,
    models: Sequence[ModelNumbers],
) -> Intervals:
    """Return intervals of each model from resampled cells, widened by the bounds."""
    if not block.totals.has_squares:
        return Intervals(why_none=why_unknown_squares())
    cells = {}
    for model in models:
        ranking = block.ranking(model.name)
        some = few_cells(ranking.counts, metrics, ranking._squares)
        cells[model.name] = with_losses(some, block.totals.probabilities.get(model.name))
    found = cell_intervals(plan, metrics, values_of(models), cells, None)
    for model in models:
        by_metric = found.models[model.name]
        for label, interval in by_metric.items():
            doubt = model.bounds.get(label)
            if doubt is not None:
                value = model.metrics[label]
                ends = interval.low - (value - doubt.low), interval.high + (doubt.high - value)
                low, high = np.clip(ends, *metric_bounds(metrics[label]))
                by_metric[label] = Interval(float(low), float(high))
    return found


class _ByThread:
    """Summaries by key, separate for each thread."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.made: dict[int, dict[Key, Any]] = {}

    def mine(self, key: Key) -> Any:
        """Return this thread's summaries."""
        own = self.made.setdefault(threading.get_ident(), {})
        if key not in own:
            own[key] = self.make()
        return own[key]

    def all(self) -> dict[Key, list[Any]]:
        """Return the summaries of all threads."""
        keys = {key for own in self.made.values() for key in own}
        return {key: [own[key] for own in self.made.values() if key in own] for key in keys}


# Rows in memory -----------------------------------------------------------------------------------------------------


def scored_rows(rows: Rows, reader: RowReader) -> ScoredRows:
    """Return rows as `ScoredRows`, so that they are measured like any other data."""
    scores = dict(zip(reader.scores, rows.scores, strict=True))
    groups = (
        None
        if rows.groups is None
        else encode_groups(reader.names[str(reader.groups)], rows.groups, as_written=reader.files.is_csv)
    )
    return ScoredRows(rows.flags.view(np.bool_), scores, rows.weights, groups, are_copies=reader.are_copies)


def streamed_intervals(
    plan: IntervalPlan,
    metrics: Mapping[str, MetricSpec],
    block: StreamedBlock,
    models: Sequence[ModelNumbers],
    joint: JointSums | None,
) -> Intervals:
    """Return the intervals of a block whose rows are not in memory."""
    if not block.cells:
        unknown = block.is_weighted and block.totals.known_sums is None
        return Intervals(why_none=why_unknown_squares() if unknown else "its rows are clustered and not in memory")
    return cell_intervals(plan, metrics, values_of(models), block.cells, joint)
