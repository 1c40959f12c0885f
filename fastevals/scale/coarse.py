"""A ranking in a few thousand cells, and intervals from draws of these: their cost does not depend on the rows.

Metrics of a ranking vary from draw to draw by what is drawn between one threshold and another. Cells that hold a small
share of each class lose nothing of that but where single rows are told apart: the value itself, which is known exactly.
So replicates are of the cells, and stand about the exact value. Where a metric is read at one place of the curve (EER,
KS, a threshold that is best on the rows) cells get ever finer towards that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.paired import draw_counts
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, Estimate, make_estimate, resample
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.bootstrap.samples import GROUPS, Values, leave_out_table, poisson_tables
from fastevals.measure.cells import ratio
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.registry import METRICS
from fastevals.measure.thresholds import best_row_by
from fastevals.results import OperatingPoint
from fastevals.scale.probabilities import MOST, ProbabilitySummary

Specs = Mapping[str, MetricSpec]
Rows = NDArray[np.intp]

FEW = 4096  # thresholds that are all kept
EVEN = 2048  # thresholds with as much of both classes between any two
NEAR, CHOSEN = 256, 512  # thresholds about a place, and about one that is the best: there they must be closer
LOWEST = -np.finfo(np.float64).max
BINS = 10  # of the calibration error
BIN_EDGES = np.arange(1, BINS) / BINS
LARGE = 2**31  # rows; products of the counts of more are past integers
TASK = 16  # replicates
READ_AT_A_PLACE = ("equal_error_rate", "break_even_point", "ks_statistic")


@dataclass(frozen=True, slots=True, eq=False)
class CoarseRanking:
    """One model's counts at a few thousand thresholds: all that its intervals are made of.

    Attributes
    ----------
    counts : ThresholdCounts
        Of whole rows, at the thresholds that were kept.
    places : dict of str to int
        The row of the counts at which a metric is read, by what it is called; without those of the whole curve.
    probabilities : ThresholdCounts or None
        Rows at the mean probabilities of small cells; None where scores are no probabilities.
    """

    counts: ThresholdCounts
    places: dict[str, int]
    probabilities: ThresholdCounts | None = None

    @classmethod
    def reduce(cls, counts: ThresholdCounts, specs: Specs, probabilities: ThresholdCounts | None = None) -> Self:
        """Keep few thresholds of counts, closest where metrics are read.

        Parameters
        ----------
        counts : ThresholdCounts
            Of whole rows: at thresholds with positives and the next above each at least, and at those that are fixed
            beforehand. More thresholds make no difference.
        specs : mapping of str to MetricSpec
            Metrics by what they are called.
        probabilities : ThresholdCounts, optional
            Of `probability_cells`.
        """
        fixed = [spec.options["threshold"] for spec in specs.values() if "threshold" in spec.options]
        counts = counts_at_positives(counts, fixed)
        found = {label: place_of(counts, spec) for label, spec in specs.items()}
        places = {label: row for label, row in found.items() if row is not None}
        chosen = {row: specs[label] for label, row in places.items() if is_chosen(specs[label])}
        rows = np.arange(counts.tps.size)
        if rows.size > FEW:
            share = Shares.of(counts)
            kept = [share.even(EVEN), *(share.near(row, NEAR) for row in {0, *places.values()} - chosen.keys())]
            for row, spec in chosen.items():
                about = share.near(row, CHOSEN, -1 / 3)
                kept += [about, peaks(counts, spec, about)]
            rows = sorted_unique(np.concatenate(kept))
        places = {label: int(np.searchsorted(rows, row)) for label, row in places.items()}
        return cls(counts.take(rows), places, probabilities)

    def estimate(
        self, specs: Specs, values: Mapping[str, float], settings: BootstrapSettings, *, progress: bool = False
    ) -> dict[str, Estimate]:
        """Return estimates of metrics from draws of cells, about the metrics' values of the rows themselves.

        Parameters
        ----------
        specs : mapping of str to MetricSpec
            Metrics by what they are called.
        values : mapping of str to float
            Of the rows, by metric, none NaN.
        settings : BootstrapSettings
            Of the bootstrap.
        progress : bool
            Show a bar.

        Returns
        -------
        dict of str to Estimate
            Of what the cells tell: without positives there is no telling where a threshold is chosen.
        """
        of_values = {label: spec for label, spec in specs.items() if METRICS[spec.name].of == "probabilities"}
        of_order = {label: spec for label, spec in specs.items() if label not in of_values}
        if not self.counts.n_pos:
            of_order = {label: spec for label, spec in of_order.items() if not is_chosen(spec)}
        estimates: dict[str, Estimate] = {}
        for counts, some in ((self.counts, of_order), (self.probabilities, of_values)):
            if counts is not None and some:
                estimates |= _estimates(counts, some, values, settings, progress)
        return {label: estimates[label] for label in specs if label in estimates}


# Thresholds -----------------------------------------------------------------------------------------------------------


def counts_at_positives(counts: ThresholdCounts, cuts: Sequence[float] = ()) -> ThresholdCounts:
    """Return counts at thresholds with positives, just above these, and at cuts: whatever other thresholds there are.

    Nothing but the counts there is looked at, so that counts of all distinct scores and those of streams, which know
    no more than these, give the same bits.
    """
    tps, fps = (each.astype(np.int64, copy=False) for each in (counts.tps, counts.fps))
    thresholds = counts.thresholds.astype(np.float64, copy=False)
    gains = np.append(False, tps[1:] != tps[:-1])
    keeps = gains | np.append(gains[1:], True)  # the next above each, and the last
    cut_rows = [int(counts.rows_at_least(np.asarray(cut))) for cut in cuts]
    keeps[[0, *cut_rows]] = True
    kept = np.flatnonzero(keeps)
    at, last = gains[kept], tps.size - 1
    values = np.where(at, thresholds[kept], np.nextafter(thresholds[np.minimum(kept + 1, last)], np.inf))
    if not at[-1]:
        values[-1] = LOWEST
    for row, cut in zip(cut_rows, cuts, strict=True):
        if not gains[row]:  # one below all scores is the last
            values[np.searchsorted(kept, row)] = cut
    values[0] = np.inf
    tps, fps = tps[kept], fps[kept]
    differs = np.append(values[1:] != values[:-1], True)  # longer floats may be rounded to the same
    differs[1:] &= (tps[1:] != tps[:-1]) | (fps[1:] != fps[:-1])
    return ThresholdCounts._unchecked(values[differs], tps[differs], fps[differs])


def place_of(counts: ThresholdCounts, spec: MetricSpec) -> int | None:
    """Return the row of counts at which a metric is read; None where it is of no single place, or undefined."""
    entry = METRICS[spec.name]
    if entry.of == "cells":
        if "threshold" in spec.options:
            return int(counts.rows_at_least(np.asarray(spec.options["threshold"])))
        best = METRICS[spec.options["best"]]
        return best_row_by(counts, best, best.own_options(spec.options))
    if entry.name not in READ_AT_A_PLACE:
        return None
    point: OperatingPoint = entry.function(counts)
    return None if np.isnan(point.threshold) else int(counts.rows_at_least(np.asarray(point.threshold)))


def is_chosen(spec: MetricSpec) -> bool:
    """Return whether a metric is read at the threshold that is the best on the rows."""
    return "best" in spec.options or spec.name == "ks_statistic"


def worth(spec: MetricSpec, at: Cells) -> NDArray[np.float64]:
    """Return what a metric's threshold is chosen by, the more the better; -inf where undefined."""
    if spec.name == "ks_statistic":
        values = np.abs(ratio(at.tp, at.tp + at.fn) - ratio(at.fp, at.fp + at.tn))
    else:
        best = METRICS[spec.options["best"]]
        values = np.asarray(best.function(at, **best.own_options(spec.options)), dtype=np.float64)
        values = values if best.greater_is_better else -values
    return np.where(np.isnan(values), -np.inf, values)


class Shares(NamedTuple):
    """The share of both classes above each row of counts, by which rows are few and far between, or close."""

    above: NDArray[np.float64]  # from 0 to 2
    rarer: int  # rows of the rarer class, or 1

    @classmethod
    def of(cls, counts: ThresholdCounts) -> Self:
        """Return those of counts."""
        above = counts.tps / max(counts.n_pos, 1) + counts.fps / max(counts.n_neg, 1)
        return cls(above, max(min(int(counts.n_pos), int(counts.n_neg)), 1))

    def even(self, n: int) -> Rows:
        """Return about n rows, ascending, with as much of both classes between any two."""
        return self._rows(np.linspace(0, self.above[-1], n))

    def near(self, row: int, n: int, power: float = -1 / 2) -> Rows:
        """Return a row and about n around it: evenly up to a power of the rows, then ever farther apart.

        What is read at a fixed place varies by the root of one over the rows, what is best on them by the cube root.
        """
        unit = self.rarer**power
        farthest = np.arcsinh(self.above[-1] / unit)
        away = unit * np.sinh(np.linspace(-farthest, farthest, n))
        return sorted_union(self._rows(self.above[row] + away), [row])

    def _rows(self, above: NDArray[np.float64]) -> Rows:
        last = self.above.size - 1
        return sorted_unique(np.append(np.searchsorted(self.above, above).clip(0, last), (0, last)))


def peaks(counts: ThresholdCounts, spec: MetricSpec, rows: Rows) -> Rows:
    """Return the best row from each of some rows to the next, by what a metric's threshold is chosen by.

    Draws choose among the peaks of the rows, and would choose others if these were lower.
    """
    values = worth(spec, counts.cells())
    most = np.repeat(np.maximum.reduceat(values, rows), np.diff(rows, append=values.size))
    at_most = np.flatnonzero(values == most)
    return at_most[np.unique(np.searchsorted(rows, at_most, side="right"), return_index=True)[1]]


def probability_cells(counts: ThresholdCounts) -> ThresholdCounts | None:
    """Return the rows at the mean score of each class in each cell (see `ProbabilitySummary`); None of other scores."""
    if not are_probabilities(counts) or counts.n_pos + counts.n_neg > MOST:
        return None
    made: list[ProbabilitySummary] = []

    def workspace() -> ProbabilitySummary:
        made.append(ProbabilitySummary())
        return made[-1]

    def count(rows: slice, summary: ProbabilitySummary) -> None:
        for block in blocks(rows):
            steps = slice(block.start, block.stop + 1)
            p = counts.thresholds[steps][1:]
            for flag, column in enumerate((counts.fps, counts.tps)):
                times = np.diff(column[steps]).astype(np.int64)
                held = times > 0
                summary._count_cells(np.full(int(held.sum()), flag, np.uint8), p[held], times[held])

    run(count, chunks(counts.thresholds.size - 1), workspace=workspace)
    return made[0].merge(*made[1:]).counts() if made else None


# Draws ----------------------------------------------------------------------------------------------------------------


class CoarseSample(RankingSample):
    """Cells of a ranking, each drawn by itself: a row occurs a Poisson number of times, of mean 1.

    A draw has as many rows as there are only on average. No metric of rates or shares can tell.
    """

    def __init__(self, counts: ThresholdCounts, specs: Specs) -> None:
        if counts.n_pos + counts.n_neg >= LARGE:
            tps, fps = counts.tps.astype(np.float64), counts.fps.astype(np.float64)
            counts = ThresholdCounts._unchecked(counts.thresholds, tps, fps)
        super().__init__(counts, [ranking_metric(spec) for spec in specs.values()], stratified=False)
        self._roots, self._tables = np.sqrt(self.sizes.astype(np.float64)), poisson_tables(1.0)

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return TASK

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Return the rows of each cell in each replicate."""
        counts = np.empty((len(numbers), self.sizes.size), dtype=self.sizes.dtype)
        draw_counts(self.sizes, self._roots, *self._tables, key, numbers.start, counts)
        yield from counts

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws, sums over rows of all draws together."""
        raw, drawn = np.empty((n, self._sweep.n_raw)), np.stack(list(draws))
        if self._in_floats:  # products of whole numbers would overflow
            drawn = drawn.astype(np.float64)
        for counts, row in zip(drawn, raw, strict=True):
            self._sweep.sweep(counts.reshape(2, -1), space[1], row, counts)
        self._sweep.sum_rows(drawn, raw)
        return self._sweep.values(raw)

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the rows of each cell of a stratum without a random group."""
        return leave_out_table(self.sizes[part], number, key, GROUPS)


def _estimates(
    counts: ThresholdCounts, specs: Specs, values: Mapping[str, float], settings: BootstrapSettings, progress: bool
) -> dict[str, Estimate]:
    sample = CoarseSample(counts, specs)
    coarse, replicates, accelerations = resample(sample, dict(specs), settings, progress=progress)
    return {
        label: make_estimate(
            label, spec, values[label], replicates[k] + _shift(values[label], coarse[k]), accelerations.get(k, 0.0),
            settings, keep=False, class_sizes=sample.class_sizes,
        )
        for k, (label, spec) in enumerate(specs.items())
    }  # fmt: skip


def _shift(value: float, coarse: Any) -> float:
    """Return how far the value of the rows lies above that of the cells; 0 where either isn't finite."""
    shift = value - float(coarse)
    return shift if np.isfinite(shift) else 0.0
