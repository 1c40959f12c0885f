"""Draw a few thousand cells of a ranking, so that the cost of intervals does not depend on the number of rows.

A metric of a ranking varies between draws because the numbers of rows between thresholds vary. Cells that hold a small
share of each class preserve this variation, except where single rows matter. A replicate's deviation from the metric of
the few cells is added to the metric of all rows, which is known exactly.

A metric's draws depend only on the counts and on that metric, not on the other metrics asked for. The draws use only
counts that a scan of files provides too (`counts_at_positives`). The cells depend on the metric:

- Metrics of the whole curve share cells that are equally wide in asin(sqrt(rate)), which varies equally between draws
  at all rates.
- Metrics at a threshold that each replicate chooses (the best one, or one under a constraint) have cells that get finer
  towards the threshold that all rows choose. Metrics at the same threshold share draws.
- Metrics at a fixed threshold have four cells, metrics of probabilities have `probability_cells`, and a function of the
  counts has all of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import RankingSample, WeightedSample
from fastevals.infer.bootstrap.samples import Sample, Values
from fastevals.measure.cells import ratio
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import MetricSpec, influence_of, ranking_metric
from fastevals.measure.probability_cells import probability_cells
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.registry import METRICS, Detail, Influence
from fastevals.measure.thresholds import CONSTRAINTS, QUOTA, best_row_by, checked_limit, row_within
from fastevals.results import OperatingPoint

Rows = NDArray[np.intp]
Rule = tuple[str, Any, tuple[Any, ...]]  # an option, its value, and the options of the metric that the value names

THRESHOLDS_KEPT = 1 << 11  # up to this many thresholds, a ranking is not reduced
STEPS_PER_CLASS = 384  # steps per class for a ranking with more thresholds
STEPS_NEAR_PLACE = 128  # steps around the point of the curve where a metric is read
STEPS_NEAR_BEST, STEPS_NEAR_LIMIT = 256, 512  # steps around a threshold that is best, or chosen under a constraint
STRATIFIED_WEIGHTS = "stratified draws of weighted rows need the rows: pass the pair of arrays and sample_weight"
LOWEST_SCORE = -np.finfo(np.float64).max


class DrawnCells(NamedTuple):
    """Counts whose thresholds separate the drawn cells."""

    counts: ThresholdCounts
    squares: ThresholdCounts | None  # squared weights, if the counts are sums of weights
    detail: Detail = Detail.POSITIVES

    @classmethod
    def of(cls, counts: ThresholdCounts, squares: ThresholdCounts | None, rows: Rows) -> Self:
        """Return the cells between the given rows of counts."""
        return cls(counts.take(rows), None if squares is None else squares.take(rows))


@dataclass(frozen=True, slots=True, eq=False)
class FewCells:
    """The counts of one model at a few thousand thresholds, which are enough to compute its intervals.

    Attributes
    ----------
    counts : ThresholdCounts
        Counts at the thresholds that any metric needs.
    drawn : dict of str to DrawnCells
        The drawn cells of each metric, by its name; metrics that share draws have the same object. Functions, and
        metrics of probabilities, are not included.
    places : dict of str to int
        Row of the counts where each metric is read, by its name; metrics of the whole curve are not included.
    probabilities : ThresholdCounts or None
        Numbers of rows in small cells; the threshold of a cell is its mean probability. None if scores are not
        probabilities.
    squares, probability_squares : ThresholdCounts or None
        Sums of squared weights that belong to `counts` and to `probabilities`, if these are sums of weights.
    """

    counts: ThresholdCounts
    drawn: dict[str, DrawnCells]
    places: dict[str, int]
    probabilities: ThresholdCounts | None = None
    squares: ThresholdCounts | None = None
    probability_squares: ThresholdCounts | None = None

    def tell(self, label: str, spec: MetricSpec | Callable[..., Any]) -> bool:
        """Return whether these cells determine how a metric varies; they do not if they may cross edges of its bins."""
        of_probabilities = isinstance(spec, MetricSpec) and not is_of_order(spec) and not spec.options
        return label in self.drawn or (of_probabilities and self.probabilities is not None)

    @classmethod
    def reduce(
        cls,
        counts: ThresholdCounts,
        specs: MetricSpecs,
        probabilities: ThresholdCounts | None = None,
        squares: ThresholdCounts | None = None,
    ) -> Self:
        """Reduce the counts to few thresholds, which are closest together where metrics are read.

        Parameters
        ----------
        counts : ThresholdCounts
            Counts that include all thresholds with positives, the next threshold above each of these, and the fixed
            thresholds. Further thresholds make no difference.
        specs : mapping of str to MetricSpec or function
            Metrics by name.
        probabilities : ThresholdCounts, optional
            Result of `probability_cells`.
        squares : ThresholdCounts, optional
            Sums of squared weights, at the thresholds of the counts.
        """
        of_order: dict[str, Any] = {label: spec for label, spec in specs.items() if is_of_order(spec)}
        cuts = {label: spec.options["threshold"] for label, spec in of_order.items() if "threshold" in spec.options}
        every, own, of_counts = counts_at_positives(counts, list(cuts.values()))
        ends, alone = [0, every.tps.size - 1], every.take(own)  # alone: thresholds kept even without cuts
        is_small = alone.tps.size <= THRESHOLDS_KEPT
        shares, place_of = Shares.of(alone), cache(partial(find_place, alone))
        kept: dict[Any, Rows] = {None: own if is_small else own[rows_of_curve(alone, shares, place_of)]}
        reads: dict[str, Any] = {}  # kept rows between which metrics are drawn
        places: dict[str, int] = {}
        quotas: dict[str, DrawnCells] = {}  # a quota may end anywhere, also between thresholds with positives
        for label, spec in of_order.items():
            if label in cuts:
                row = int(every.rows_at_least(np.asarray(cuts[label])))
                reads[label] = places[label] = row
                kept[row] = sorted_unique([*ends, row])
                continue
            if QUOTA in spec.options:
                if squares is not None:
                    raise ValueError(
                        f"{spec} of weighted rows needs the rows: pass (y_true, y_score) and sample_weight"
                    )
                quotas[label] = DrawnCells(counts.take(rows_near_quota(counts, spec)), None, Detail.THRESHOLDS)
                continue
            if not counts.n_pos and is_chosen(spec):
                continue  # the place is unknown
            rule = rule_of(spec)
            place, reads[label] = place_of(rule), None
            if place is None:
                continue
            places[label] = int(own[place])
            if not is_small and METRICS[spec.name].of == "cells":
                key = reads[label] = place, rule
                if key not in kept:
                    n = STEPS_NEAR_BEST if "best" in spec.options else STEPS_NEAR_LIMIT
                    kept[key] = own[rows_near(alone, shares, place, spec, n)]
        rows = sorted_unique(np.concatenate(list(kept.values())))
        if squares is not None:
            squares = squares.take(of_counts)
        drawn = {key: DrawnCells.of(every, squares, some) for key, some in kept.items()}
        return cls(
            every.take(rows),
            {label: drawn[key] for label, key in reads.items()} | quotas,
            {label: int(np.searchsorted(rows, row)) for label, row in places.items()},
            probabilities,
            None if squares is None else squares.take(rows),
        )


# Thresholds -----------------------------------------------------------------------------------------------------------


def is_of_order(spec: Any) -> bool:
    """Return whether a metric depends only on the order of the scores; False for functions."""
    return isinstance(spec, MetricSpec) and METRICS[spec.name].of != "probabilities"


def counts_at_positives(counts: ThresholdCounts, cuts: Sequence[float]) -> tuple[ThresholdCounts, Rows, Rows]:
    """Return the counts at thresholds with positives, just above each such threshold, and at cuts; drop all others.

    Streams provide only these counts. So results from counts at all distinct scores are the same to the bit as results
    from a stream's counts. Two arrays of row indices are returned, too. The first lists the rows of the result that do
    not depend on the cuts. The second gives, for each row of the result, its row in `counts`.
    """
    wide = np.float64 if counts.tps.dtype.kind == "f" else np.int64
    tps, fps = (each.astype(wide, copy=False) for each in (counts.tps, counts.fps))
    thresholds = counts.thresholds.astype(np.float64, copy=False)
    gains = np.append(False, tps[1:] != tps[:-1])
    keeps = gains | np.append(gains[1:], True)  # also the next row above each of these, and the last row
    keeps[0] = True
    without = keeps.copy()
    cut_rows = [int(counts.rows_at_least(np.asarray(cut))) for cut in cuts]
    keeps[cut_rows] = True
    kept = np.flatnonzero(keeps)
    at, last = gains[kept], tps.size - 1
    values = np.where(at, thresholds[kept], np.nextafter(thresholds[np.minimum(kept + 1, last)], np.inf))
    if not at[-1]:
        values[-1] = LOWEST_SCORE
    for row, cut in zip(cut_rows, cuts, strict=True):
        if not gains[row]:  # the last threshold is below all scores
            values[np.searchsorted(kept, row)] = cut
    values[0] = np.inf
    tps, fps = tps[kept], fps[kept]
    differs = np.append(values[1:] != values[:-1], True)  # longer floats may round to equal values
    differs[1:] &= (tps[1:] != tps[:-1]) | (fps[1:] != fps[:-1])
    own = np.logical_or.reduceat(without[kept], np.flatnonzero(differs))  # any of the rows that are equal
    found = ThresholdCounts._unchecked(values[differs], tps[differs], fps[differs])
    return found, np.flatnonzero(own), kept[differs]


def rows_of_curve(counts: ThresholdCounts, shares: Shares, place_of: Callable[[Rule], int | None]) -> Rows:
    """Return rows evenly spaced in asin(sqrt(rate)) of each class, and closer rows near where metrics are read."""
    even = np.sin(np.linspace(0, np.pi / 2, STEPS_PER_CLASS + 1)) ** 2
    found = [np.searchsorted(each, even[:-1] * each[-1]) for each in (counts.tps, counts.fps)]
    for spec in (MetricSpec(name, {}) for name, entry in METRICS.items() if entry.of == "ranking"):
        place = place_of(rule_of(spec))
        if place is not None:
            found.append(rows_near(counts, shares, place, spec, STEPS_NEAR_PLACE))
    return sorted_unique(np.concatenate((*found, [0, counts.tps.size - 1])))


def rows_near(counts: ThresholdCounts, shares: Shares, place: int, spec: MetricSpec, n: int) -> Rows:
    """Return the row of counts where a metric is read, and about n rows around it where draws may read the metric."""
    if not is_chosen(spec):
        return shares.near(place, n)
    about = shares.near(place, n, -1 / 3)
    return sorted_union(about, peaks(counts, spec, about))


def rows_near_quota(counts: ThresholdCounts, spec: MetricSpec) -> Rows:
    """Return the last row of counts within a quota of predicted positives (of both classes), and rows around it.

    These reach 8 standard errors to each side. The first and last row are added; of few rows, all are returned.
    """
    if counts.tps.size <= THRESHOLDS_KEPT:
        return np.arange(counts.tps.size)
    above, quota = counts.tps + counts.fps, min(checked_limit(QUOTA, spec.options[QUOTA]), counts.n_pos + counts.n_neg)
    near = quota + np.linspace(-8, 8, 2 * STEPS_NEAR_LIMIT) * math.sqrt(quota + 1)  # standard errors
    found = np.searchsorted(above, np.append(near, quota), side="right") - 1
    return sorted_unique(np.append(found.clip(0), (0, above.size - 1)))


def find_place(counts: ThresholdCounts, rule: Rule) -> int | None:
    """Return the row of counts that a rule finds; None if the rule's metrics have no single place or are undefined."""
    name, value, options = rule
    if name in CONSTRAINTS:
        return row_within(counts, name, value)
    entry = METRICS[value]
    if entry.of == "cells":
        return best_row_by(counts, entry, dict(options))
    if entry.influence == Influence.LINEAR:
        return None
    point: OperatingPoint = entry.function(counts, **dict(options))
    return None if np.isnan(point.threshold) else int(counts.rows_at_least(np.asarray(point.threshold)))


def rule_of(spec: MetricSpec) -> Rule:
    """Return the rule that finds the place where a metric is read."""
    for name in CONSTRAINTS:
        if name in spec.options:
            return name, checked_limit(name, spec.options[name]), ()
    best = spec.options.get("best", spec.name)
    return "best", best, tuple(METRICS[best].own_options(spec.options).items())


def is_chosen(spec: MetricSpec) -> bool:
    """Return whether a metric is read at the threshold that is best on the same rows."""
    return influence_of(spec) == Influence.BEST or not {"precision", "recall"}.isdisjoint(spec.options)


def worth(spec: MetricSpec, at: Cells) -> NDArray[np.float64]:
    """Return the criterion that chooses a metric's threshold (the largest value wins); -inf where undefined."""
    if spec.name == "ks_statistic":
        values = np.abs(ratio(at.tp, at.tp + at.fn) - ratio(at.fp, at.fp + at.tn))
    else:
        best = METRICS[spec.options.get("best", "precision")]  # to maximise at a given recall, or to reach
        values = np.asarray(best.function(at, **best.own_options(spec.options)), dtype=np.float64)
        values = values if best.greater_is_better else -values
    return np.where(np.isnan(values), -np.inf, values)


class Shares(NamedTuple):
    """The shares of both classes above each row of counts, which determine the spacing of rows."""

    above: NDArray[np.float64]  # sum of both shares, from 0 to 2
    rarer: int  # rows of the rarer class, or 1

    @classmethod
    def of(cls, counts: ThresholdCounts) -> Self:
        """Return the shares of counts."""
        above = counts.tps / max(counts.n_pos, 1) + counts.fps / max(counts.n_neg, 1)
        return cls(above, max(min(int(counts.n_pos), int(counts.n_neg)), 1))

    def near(self, row: int, n: int, power: float = -1 / 2) -> Rows:
        """Return a row and about n rows around it: evenly spaced near it, and ever farther apart beyond.

        The spacing is even up to a distance of ``rarer**power``, or less if few rows are above `row`. Between draws, a
        fixed place varies by about one over the square root of the number of rows, and a best threshold by one over the
        cube root. Both places vary less if few rows are above them.
        """
        share = max(min(float(self.above[row]), 1.0), 1 / self.rarer)
        unit = self.rarer**power * math.sqrt(share)
        farthest = np.arcsinh(self.above[-1] / unit)
        away = unit * np.sinh(np.linspace(-farthest, farthest, n))
        last = self.above.size - 1
        found = np.searchsorted(self.above, self.above[row] + away).clip(0, last)
        return sorted_unique(np.concatenate((found, [0, row, last])))


def peaks(counts: ThresholdCounts, spec: MetricSpec, rows: Rows) -> Rows:
    """Split the counts at `rows`; return the best row of each part, by the criterion of the metric's threshold.

    Draws choose their thresholds among these peaks. If rows with lower values were kept instead, draws would choose
    other thresholds.
    """
    values = worth(spec, counts.cells())
    most = np.repeat(np.maximum.reduceat(values, rows), np.diff(rows, append=values.size))
    at_most = np.flatnonzero(values == most)
    return at_most[np.unique(np.searchsorted(rows, at_most, side="right"), return_index=True)[1]]


# Draws ----------------------------------------------------------------------------------------------------------------


def make_few_cell_sample(ranking: BaseRanking, specs: MetricSpecs, *, stratified: bool) -> FewCellSample:
    """Return the sample of few cells for the counts of a ranking."""
    counts, squares = ranking.counts, ranking._squares
    if squares is not None and stratified:
        raise ValueError(STRATIFIED_WEIGHTS)
    values = {label: ranking_metric(spec).of_counts(counts) for label, spec in specs.items()}
    are_needed = any(isinstance(spec, MetricSpec) and not is_of_order(spec) for spec in specs.values())
    probabilities = probability_cells(counts) if are_needed and squares is None else None
    cells = FewCells.reduce(counts, specs, probabilities, squares)
    return FewCellSample(cells, specs, values, of=ranking, stratified=stratified)


class FewCellSample(Sample):
    """Cells of a ranking, drawn separately for each metric, or jointly for metrics that share cells."""

    def __init__(
        self,
        cells: FewCells,
        specs: MetricSpecs,
        values: Mapping[str, float],
        *,
        of: BaseRanking | None = None,
        stratified: bool = False,
    ) -> None:
        """Store each metric's value for all rows, and the ranking that functions of counts need."""
        self.pos_label = None if of is None else of.pos_label
        self.class_sizes = int(cells.counts.n_pos), int(cells.counts.n_neg)
        self._values = [np.array(values[label], dtype=np.float64) for label in specs]
        whole = None if of is None else DrawnCells(of.counts, of._squares, Detail.THRESHOLDS)
        losses = None
        if cells.probabilities is not None:
            losses = DrawnCells(cells.probabilities, cells.probability_squares, Detail.THRESHOLDS)
        together: dict[int, tuple[Any, list[int]]] = {}  # drawn cells, and the metrics that share them
        for number, (label, spec) in enumerate(specs.items()):
            drawn = cells.drawn.get(label) or (losses if cells.tell(label, spec) else whole)
            together.setdefault(id(drawn), (drawn, []))[1].append(number)
        metrics = [ranking_metric(spec) for spec in specs.values()]
        self._parts: list[tuple[Sample, list[int]]] = []
        for (counts, squares, detail), numbers in together.values():
            own = [metrics[k] for k in numbers]
            if squares is None:
                sample: Sample = RankingSample(counts, own, stratified=stratified, detail=detail)
            else:
                sample = WeightedSample(counts, squares, own)
            self._parts.append((sample, numbers))
        self._bounds = [metric.bounds for metric in metrics]

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        return self._values

    def replicates(self, n_resamples: int, key: np.uint64, *, progress: bool = False) -> Values:
        """Measure draws of the cells; shift them by the metric of all rows minus the metric of all cells."""
        found: list[Any] = [None] * len(self._values)
        for sample, numbers in self._parts:
            drawn = sample.replicates(n_resamples, key, progress=progress)
            for k, values, of_cells in zip(numbers, drawn, sample.estimates(), strict=True):
                if np.isfinite([self._values[k], of_cells]).all():
                    values = np.clip(values + (self._values[k] - of_cells), *self._bounds[k])
                found[k] = values
        return found

    def accelerations(self, key: np.uint64, metrics: Iterable[int]) -> dict[int, NDArray[np.float64]]:
        """Return BCa's acceleration for each metric, from its cells."""
        wanted = set(metrics)
        found: dict[int, NDArray[np.float64]] = {}
        for sample, numbers in self._parts:
            own = [k for k, number in enumerate(numbers) if number in wanted]
            found |= {numbers[k]: each for k, each in sample.accelerations(key, own).items()}
        return found
