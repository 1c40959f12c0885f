"""Differences between models that scored the same rows, with intervals and p-values, from sums over these rows.

Two models' metrics are correlated because both models score the same rows. One pass over the rows finds each row's cell
for each model and adds up integers (`JointSums`). These sums are the same for any order and division of the rows. All
results are computed from them, at a cost that does not depend on the number of rows, in one of three ways:

- Areas, losses and metrics at a fixed threshold are nearly linear in the rows. A row's contribution to a metric is the
  change in the metric when the row is left out (the infinitesimal jackknife; Efron and Tibshirani 1993, chapter 20).
  Summed over rows, the products of a row's contributions to two models' metrics give the metrics' covariance.
- Metrics read at one place of the curve (EER, BEP, KS, a threshold that is best on the rows) are less linear, because
  the place varies between samples. For very similar models, this variation makes up most of the difference. So rows are
  counted by groups of cells near the places of both models. The counts of all models are then drawn jointly from a
  normal distribution with their covariance, and the metric is read again in each draw.
- The calibration error is a sum of absolute values, which is not linear either. So the sums of its bins are also drawn
  from a normal distribution.

A weighted row contributes its weight to a sum, and its squared weight to a sum of products. Weights are counted in
fractions of their mean.

Intervals and adjusted p-values of differences are then computed as in `compare_rankings`: from the largest deviation of
any pair's difference in each draw, in units of that difference's standard error (max-T).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import chunks, run
from fastevals._kernels.paired import (
    add_by_group,
    add_products,
    add_products_by_group,
    draw_counts,
)
from fastevals._kernels.random import stream_key
from fastevals._options import UndefinedMetricWarning
from fastevals.counting.ordering import FLOATS
from fastevals.counts import Cells, ThresholdCounts, UsualCells
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.bootstrap.few_cells import LOWEST_SCORE, FewCells, Rows, Shares, is_chosen, peaks, worth
from fastevals.infer.bootstrap.jackknife import leave_each_out
from fastevals.infer.bootstrap.samples import poisson_tables
from fastevals.infer.bootstrap.steps import Steps
from fastevals.infer.comparison import compare_numbers, draw_normal
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.metric_specs import MetricSpec, metric_bounds, ranking_metric
from fastevals.measure.probability_cells import N_BINS
from fastevals.measure.registry import METRICS, Detail
from fastevals.results import Interval
from fastevals.scale.grid import ScoreGrid

Specs = Mapping[str, MetricSpec]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS_PER_BLOCK = 1 << 14  # few enough rows that their cells stay in the nearest caches
NEAR_THRESHOLDS = 48  # thresholds to keep near the point of the curve at which a metric is read
FEW_THRESHOLDS = 256  # if a best threshold has at most this many candidates, all are kept
TRIED_THRESHOLDS = 1024  # otherwise, this many candidates compete in trial draws
MOST_CHOSEN = 96  # the most thresholds kept from trial draws
TRIAL_DRAWS, TRIAL_KEY = 512, np.uint64(1)  # trial draws show which thresholds may be best
DRAWS, LINEAR_DRAWS = 4_999, 99_999
MOST_BITS = 30  # bits of a row's contribution as an integer
PARTS_PER_MEAN_WEIGHT = 128  # weights are counted in 1 / 128 of the mean row weight
INNER_EDGES = np.arange(1, N_BINS) / N_BINS
LIMITED_RATES = {"fpr": "false_positive_rate", "tpr": "recall"}
CALIBRATION, KS = "expected_calibration_error", "ks_statistic"


class JointSums:
    """Sums, over all rows, that show how the metrics of each pair of models vary together.

    Parameters
    ----------
    models : mapping of str to FewCells
        Two or more models that scored the same rows.
    specs : mapping of str to MetricSpec
        Metrics by their names in results.

    Attributes
    ----------
    n_added, squared : int
        Sums of weights and of squared weights so far. Without weights, both are the number of rows, including copies.
    """

    __slots__ = ("_bins", "_groups", "_part", "_products", "models", "n_added", "readings", "specs", "squared", "terms")

    def __init__(self, models: Mapping[str, FewCells], specs: Specs) -> None:
        self.models, self.specs = dict(models), dict(specs)
        self.readings = Readings.of(models, specs)
        mean_weight = _mean_weight(next(iter(models.values())))
        self._part = None if mean_weight is None else mean_weight / PARTS_PER_MEAN_WEIGHT
        self.terms = [ModelTerms.of(model, specs, self.readings, mean_weight) for model in models.values()]
        self._clear()

    def _clear(self) -> None:
        self.n_added = self.squared = 0
        self._products, self._bins, self._groups = {}, {}, {}
        for a, b in combinations_with_replacement(range(len(self.terms)), 2):
            mine, other = self.terms[a], self.terms[b]
            self._products[a, b] = np.zeros(mine.gains.shape[2], dtype=np.int64)
            self._bins[a, b] = np.zeros((N_BINS, N_BINS), dtype=np.int64)
            if a < b:
                self._groups[a, b] = [
                    np.zeros((2, x.shape[1], y.shape[1]), dtype=np.int64)
                    for x, y in zip(mine.sizes, other.sizes, strict=True)
                ]

    def empty(self) -> JointSums:
        """Return empty sums for the same models."""
        other = object.__new__(type(self))
        for name in ("_part", "models", "specs", "readings", "terms"):
            setattr(other, name, getattr(self, name))
        other._clear()
        return other

    def add(self, flags: NDArray[Any], scores: Mapping[str, NDArray[Any]], weights: NDArray[Any] | None = None) -> None:
        """Add rows, given each row's class, its finite score by each model, and its weight or number of copies."""
        flags = np.ascontiguousarray(flags).view(np.uint8)
        cells = [np.empty(min(ROWS_PER_BLOCK, flags.size), dtype=np.uint16) for _ in self.terms]
        for start in range(0, flags.size, ROWS_PER_BLOCK):
            part = slice(start, start + ROWS_PER_BLOCK)
            n = flags[part].size
            whole = squares = np.empty(0, dtype=np.int64)
            if weights is not None and self._part is None:
                whole = squares = weights[part].astype(np.int64)
            elif weights is not None:
                whole = np.rint(weights[part] / self._part).astype(np.int64)
                squares = whole * whole
            for name, terms, found in zip(self.models, self.terms, cells, strict=True):
                terms.grid.find(scores[name][part], found[:n])
            for (a, b), products in self._products.items():
                mine, other = self.terms[a], self.terms[b]
                rows = cells[a][:n], cells[b][:n], flags[part], squares
                add_products(*rows, mine.gains, other.gains, products)
                if self.readings.calibration:
                    add_products_by_group(*rows, mine.wrong, other.wrong, mine.bins, other.bins, self._bins[a, b])
                for counts, x, y in zip(self._groups.get((a, b), ()), mine.groups, other.groups, strict=False):
                    add_by_group(*rows, x, y, counts)
            self.n_added += n if weights is None else int(whole.sum())
            self.squared += n if weights is None else int(squares.sum())

    def add_all(self, flags: NDArray[Any], scores: Mapping[str, NDArray[Any]], weights: Any = None) -> None:
        """Add rows like `add`, using all threads."""
        parts: list[JointSums] = []

        def workspace() -> JointSums:
            parts.append(self.empty())
            return parts[-1]

        def add(part: slice, space: JointSums) -> None:
            chunk = {name: each[part] for name, each in scores.items()}
            space.add(flags[part], chunk, None if weights is None else weights[part])

        run(add, chunks(flags.size), workspace=workspace, compiles="paired")
        for part in parts:
            self.merge(part)

    def merge(self, other: JointSums) -> None:
        """Add the sums of other rows."""
        self.n_added += other.n_added
        self.squared += other.squared
        for pair in self._products:
            self._products[pair] += other._products[pair]
            self._bins[pair] += other._bins[pair]
            for counts, more in zip(self._groups.get(pair, ()), other._groups.get(pair, ()), strict=True):
                counts += more

    def covariance(self, k: int) -> Floats:
        """Return the covariance matrix of the models' values of the k-th linear metric, (n_models, n_models)."""
        values = np.empty((len(self.terms), len(self.terms)))
        for (a, b), products in self._products.items():
            values[a, b] = values[b, a] = products[k] * (self.terms[a].units[k] * self.terms[b].units[k])
        return values

    def covariance_of_bins(self) -> Floats:
        """Return the covariance of models' sums by calibration bin, (n_models, n_bins, n_models, n_bins)."""
        values = np.empty((len(self.terms), N_BINS, len(self.terms), N_BINS))
        for (a, b), products in self._bins.items():
            mine, other = self.terms[a], self.terms[b]
            values[a, :, b] = products * (mine.wrong_unit * other.wrong_unit)
            n_rows = self.n_added if self._part is None else self.n_added**2 / self.squared  # effective number of rows
            values[a, :, b] -= np.outer(mine.off, other.off) / n_rows  # since the number of rows is fixed
            values[b, :, a] = values[a, :, b].T
        return values

    def counts_of_groups(self, k: int) -> Floats:
        """Count rows by class and by two models' groups near place k, for all pairs (also a model with itself).

        Weighted rows count by their squared weights, which gives the covariance if each row occurs a Poisson number of
        times.
        """
        width = max(terms.sizes[k].shape[1] for terms in self.terms)
        counts = np.zeros((2, len(self.terms), width, len(self.terms), width))
        for (a, b), groups in self._groups.items():
            counts[:, a, : groups[k].shape[1], b, : groups[k].shape[2]] = groups[k]
            counts[:, b, :, a] = counts[:, a, :, b].transpose(0, 2, 1)
            for model, own in ((a, groups[k].sum(axis=2)), (b, groups[k].sum(axis=1))):
                at = np.arange(own.shape[1])
                counts[:, model, at, model, at] = own
        return counts

    def sizes_of_groups(self, k: int) -> Floats:
        """Return the numbers of rows, or their total weights, by class, model, and the model's group near place k."""
        sizes = np.zeros((2, len(self.terms), max(terms.sizes[k].shape[1] for terms in self.terms)))
        for a, terms in enumerate(self.terms):
            sizes[:, a, : terms.sizes[k].shape[1]] = terms.sizes[k]
        return sizes


def _mean_weight(model: FewCells) -> float | None:
    """Return the mean of a model's row weights, weighted by the weights themselves; None without weights."""
    if model.squares is None:
        return None
    return (model.squares.n_pos + model.squares.n_neg) / (model.counts.n_pos + model.counts.n_neg)


def _in_parts(model: FewCells, part: float) -> FewCells:
    """Return the same model with weights as integer multiples of `part`."""

    def whole(counts: ThresholdCounts) -> ThresholdCounts:
        sums = (np.rint(each / part).astype(np.int64) for each in (counts.tps, counts.fps))
        return ThresholdCounts._unchecked(counts.thresholds, *sums)

    p = model.probabilities
    return replace(model, counts=whole(model.counts), probabilities=None if p is None else whole(p))


# Contributions of a row in each cell to a model's sums ----------------------------------------------------------------


class Readings(NamedTuple):
    """Metrics grouped by how their differences are computed."""

    linear: list[str]
    together: list[list[str]]  # lists of metrics that are read at the same places
    calibration: list[str]  # the calibration error, if requested

    @classmethod
    def of(cls, models: Mapping[str, FewCells], specs: Specs) -> Self:
        """Group metrics by how their differences are computed."""
        linear: list[str] = []
        together: dict[Any, list[str]] = {}
        calibration: list[str] = []
        for label, spec in specs.items():
            places = tuple(model.places.get(label) for model in models.values())
            if spec.name == CALIBRATION:
                calibration.append(label)
            elif "threshold" in spec.options or _limit_of(spec) or all(row is None for row in places):
                linear.append(label)
            else:
                together.setdefault((places, is_chosen(spec)), []).append(label)
        return cls(linear, list(together.values()), calibration)


class ModelTerms(NamedTuple):
    """What a row in each cell adds to each sum of a model, as an integer multiple of the sum's unit."""

    grid: ScoreGrid  # cells, in ascending order of scores
    gains: NDArray[np.int32]  # (2, n_cells, n_metrics): contributions of a negative and a positive to linear metrics
    units: Floats  # (n_metrics,): units of `gains`, NaN if a metric is not known
    wrong: NDArray[np.int32]  # (2, n_cells): label minus probability
    wrong_unit: float  # unit of `wrong`; NaN if scores are not probabilities
    bins: NDArray[np.uint16]  # (n_cells,): bin of the calibration error
    off: Floats  # (n_bins,): sums of labels minus probabilities
    groups: list[NDArray[np.uint16]]  # (n_cells,): group near each place
    sizes: list[Ints]  # (2, n_groups): numbers of rows in each group

    @classmethod
    def of(cls, model: FewCells, specs: Specs, readings: Readings, mean_weight: float | None) -> Self:
        """Return the contributions for a model, whose counts are sums of weights if `mean_weight` is given."""
        in_rows, n_parts = model, 1
        if mean_weight is not None:
            in_rows, n_parts = _in_parts(model, mean_weight), PARTS_PER_MEAN_WEIGHT
            model = _in_parts(model, mean_weight / PARTS_PER_MEAN_WEIGHT)
        counts, p = model.counts, model.probabilities
        cuts = counts.thresholds[1:][counts.thresholds[1:] > LOWEST_SCORE]
        edges = sorted_unique(np.concatenate((cuts, _probability_cuts(p))))
        low = np.append(-np.inf, edges)
        rows = np.minimum(np.searchsorted(-counts.thresholds, -low), counts.thresholds.size - 1)
        means = np.full((2, low.size), np.nan) if p is None else mean_probabilities(p, edges)
        bits = min(MOST_BITS, (62 - int((counts.n_pos + counts.n_neg) * n_parts).bit_length()) // 2)
        gains = [_gains(model, label, specs[label], rows, means) for label in readings.linear]
        whole = [_as_whole(each, bits) for each in [*gains, np.array([[0.0], [1.0]]) - means]]
        groups = [_groups(in_rows, labels[0], specs[labels[0]]) for labels in readings.together]
        by_row = np.stack((np.diff(counts.fps), np.diff(counts.tps)))
        return cls(
            ScoreGrid.from_keys(FLOATS.encode(edges + 0.0)),
            np.ascontiguousarray(np.stack([each for each, _ in whole[:-1]], axis=-1))
            if gains else np.zeros((2, low.size, 0), dtype=np.int32),
            np.array([unit for _, unit in whole[:-1]]),
            *whole[-1],
            np.searchsorted(INNER_EDGES, low).astype(np.uint16),
            np.full(N_BINS, np.nan) if p is None else _off(p),
            [each[rows - 1].astype(np.uint16) for each in groups],
            [np.stack([np.bincount(each, n).astype(np.int64) for n in by_row]) for each in groups],
        )  # fmt: skip


def _as_whole(values: Floats, bits: int) -> tuple[NDArray[np.int32], float]:
    """Return values as integers of at most `bits` bits, and their unit; the unit is NaN if a value is not finite."""
    largest = float(np.abs(values).max())
    if not math.isfinite(largest):
        return np.zeros(values.shape, dtype=np.int32), math.nan
    unit = largest / 2**bits if largest else 1.0
    return np.rint(values / unit).astype(np.int32), unit


def _gains(model: FewCells, label: str, spec: MetricSpec, rows: Rows, means: Floats) -> Floats:
    """Return a row's contribution to a linear metric by class and cell, of shape (2, n_cells)."""
    counts, entry = model.counts, METRICS[spec.name]
    unknown = np.full(means.shape, np.nan)
    if entry.of == "probabilities":
        if model.probabilities is None:
            return unknown
        replicate = entry.replicate
        assert replicate is not None
        assert replicate.of_thresholds is not None
        losses = [np.where(np.isfinite(each), each, 0.0) for each in replicate.of_thresholds(means)]
        n = counts.n_pos + counts.n_neg
        return np.asarray((np.stack((losses[1][0], losses[0][1])) - entry.function(model.probabilities)) / n)
    metric, limit = ranking_metric(spec), _limit_of(spec)
    value = metric.of_counts(counts)
    if metric.threshold is not None:
        assert metric.of_cells is not None
        return _gains_at(counts, metric.of_cells, rows, model.places[label])
    if limit:
        if label not in model.places:
            return unknown
        return _gains_at_limit(counts, spec, limit, rows, model.places[label])
    steps = Steps.from_counts(counts, Detail.THRESHOLDS)
    left = leave_each_out(metric, steps, counts, stratified=False)
    if left is None:
        return unknown
    gains = np.where(left.times > 0, value - left.values, 0.0).reshape(2, -1)[::-1]
    gains -= (gains * left.times.reshape(2, -1)[::-1]).sum() / (counts.n_pos + counts.n_neg)
    return np.asarray(gains[:, rows - 1])


def _gains_at(counts: ThresholdCounts, of_cells: Callable[[Cells], Any], rows: Rows, row: int) -> Floats:
    """Return a row's contribution to a metric at the threshold of a row of counts."""
    cells = np.array(counts.cells(row))
    without = np.asarray(of_cells(Cells(*(cells[:, None] - np.diag((cells > 0).astype(np.int64))))))
    tp, fp, fn, tn = of_cells(counts.cells(row)) - without
    return np.where(rows <= row, np.array([[fp], [tp]]), np.array([[tn], [fn]]))


def _gains_at_limit(counts: ThresholdCounts, spec: MetricSpec, limit: str, rows: Rows, row: int) -> Floats:
    """Return a row's contribution to a metric at the threshold where a rate has a given limit.

    A row that adds to the rate moves the threshold back to the limit. The metric then changes along the curve, by its
    slope against the rate: this is Bahadur's representation of a quantile.
    """
    own = {name: value for name, value in spec.options.items() if name != limit}
    at = {"threshold": float(counts.thresholds[row])}
    metric, rate = (
        ranking_metric(MetricSpec(name, options | at)).of_cells
        for name, options in ((spec.name, own), (LIMITED_RATES[limit], {}))
    )
    assert metric is not None
    assert rate is not None
    of_class = counts.fps if limit == "fpr" else counts.tps
    n, last = int(of_class[-1]), of_class.size - 1
    reach = 2 * math.sqrt(max(int(of_class[row]), 1))  # two standard errors of the count at the limit
    ends = np.searchsorted(of_class, (of_class[row] - reach, of_class[row] + reach))
    low, high = max(min(int(ends[0]), row - 1), 1), min(max(int(ends[1]), row + 1), last)
    if of_class[high] == of_class[low]:
        return np.full((2, rows.size), np.nan)
    slope = float(metric(counts.cells(high)) - metric(counts.cells(low))) * n / int(of_class[high] - of_class[low])
    return _gains_at(counts, metric, rows, row) - slope * _gains_at(counts, rate, rows, row)


def _limit_of(spec: MetricSpec) -> str:
    """Return the rate whose limit chooses a metric's threshold, or an empty string."""
    return next((name for name in LIMITED_RATES if name in spec.options), "")


# Probabilities --------------------------------------------------------------------------------------------------------


def _probability_cuts(counts: ThresholdCounts | None) -> Floats:
    """Return the cuts that cells of probabilities must include: calibration bins, and octaves near 0 and 1."""
    if counts is None:
        return np.empty(0)
    tails = 0.5 ** np.arange(1, 60)
    cuts = np.concatenate((tails, 1 - tails, np.nextafter(INNER_EDGES, 1)))  # a bin includes its upper edge
    return np.asarray(cuts[(cuts > counts.thresholds[-1]) & (cuts <= counts.thresholds[1])])


def mean_probabilities(counts: ThresholdCounts, edges: Floats) -> Floats:
    """Return the mean probability by class and cell, of shape (2, n_cells), from the finer cells of `counts`."""
    p = counts.thresholds[1:]
    ends = np.clip(np.concatenate((p[-1:], edges, p[:1])), 0.0, 1.0)
    means = np.tile((ends[1:] + ends[:-1]) / 2, (2, 1))
    cells = np.searchsorted(edges, p, side="right")
    for of, n in enumerate((np.diff(counts.fps), np.diff(counts.tps))):
        rows, total = (np.bincount(cells, weights, minlength=means.shape[1]) for weights in (n, n * p))
        np.divide(total, rows, out=means[of], where=rows > 0)
    return np.asarray(means)


def _off(counts: ThresholdCounts) -> Floats:
    """Return the sum of labels minus probabilities in each bin."""
    p = counts.thresholds[1:]
    wrong = np.diff(counts.tps) * (1 - p) - np.diff(counts.fps) * p
    return np.asarray(np.bincount(np.searchsorted(INNER_EDGES, p), wrong, minlength=N_BINS), dtype=np.float64)


# Places ---------------------------------------------------------------------------------------------------------------


def _groups(model: FewCells, label: str, spec: MetricSpec) -> Ints:
    """Return the group of each step of a model's counts, highest score first; group 0 has the lowest scores."""
    row, last = model.places.get(label), model.counts.tps.size - 1
    cuts = np.empty(0, dtype=np.intp)
    if row is not None:
        near = (
            chosen_rows(model.counts, spec) if is_chosen(spec) else Shares.of(model.counts).near(row, NEAR_THRESHOLDS)
        )
        cuts = sorted_union(near, [row])
        cuts = cuts[(cuts > 0) & (cuts < last)]
    return np.asarray(cuts.size - np.searchsorted(cuts, np.arange(1, last + 1)), dtype=np.int64)


def chosen_rows(counts: ThresholdCounts, spec: MetricSpec) -> Rows:
    """Return the thresholds that are best in some trial draw, and one between each two of these, as rows of `counts`.

    If at most `FEW_THRESHOLDS` thresholds are near the best one, return all of them without trial draws.
    """
    share = Shares.of(counts)
    own = int(np.argmax(worth(spec, counts.cells())))
    about = share.near(own, TRIED_THRESHOLDS, -1 / 3)
    about = sorted_union(about, peaks(counts, spec, about))
    about = about[about > 0]
    if about.size <= FEW_THRESHOLDS:
        return about
    sizes = np.concatenate([np.diff(each[about], prepend=0) for each in (counts.tps, counts.fps)])
    drawn = np.empty((TRIAL_DRAWS, sizes.size), dtype=np.int64)
    draw_counts(sizes, np.sqrt(sizes.astype(np.float64)), *poisson_tables(1.0), TRIAL_KEY, 0, drawn)
    tps, fps = (np.cumsum(part, axis=1) for part in np.split(drawn, 2, axis=1))
    n_pos, n_neg = tps[:, -1:], fps[:, -1:]
    best = np.argmax(worth(spec, UsualCells(tps, fps, n_pos - tps, n_neg - fps)), axis=1)
    found = sorted_unique(best)
    if found.size > MOST_CHOSEN:  # the time of later draws grows with the cube of the number of thresholds
        found = sorted_unique(np.quantile(best, np.linspace(0, 1, MOST_CHOSEN), method="nearest"))
    return np.asarray(about[sorted_union(found, (found[1:] + found[:-1]) // 2)])


# Differences ----------------------------------------------------------------------------------------------------------


class PairDifference(NamedTuple):
    """A difference in a metric between two models, with simultaneous interval and adjusted p-value."""

    value: float
    interval: Interval
    pvalue: float


def differences(
    joint: JointSums,
    values: Mapping[str, Mapping[str, float]],
    settings: BootstrapSettings,
    reference: str | None = None,
) -> dict[str, list[PairDifference]]:
    """Return, for each metric, the differences between pairs of models in the order of `compared_pairs`.

    Parameters
    ----------
    joint : JointSums
        Sums of all rows.
    values : mapping of str to mapping of str to float
        Values of the metrics by model and by metric name; NaN where undefined.
    settings : BootstrapSettings
        Settings; only the level and the random stream are used.
    reference : str, optional
        The model to compare the others with; by default all pairs are compared.

    Returns
    -------
    dict of str to list of PairDifference
        The p-value of a linear metric is a share of draws or, if smaller, the normal tail probability times the number
        of pairs.
    """
    names = list(joint.models)
    pairs = compared_pairs(tuple(names), reference)
    drawn = draw_deviations(joint, settings.key)
    return {
        label: _compare(np.array([values[name][label] for name in names]), drawn[label], spec, pairs, settings)
        for label, spec in joint.specs.items()
    }


def draw_deviations(joint: JointSums, key: np.uint64) -> dict[str, Floats]:
    """Return joint draws of all models' metrics minus the metrics of the rows, of shape (n_draws, n_models)."""
    linear, together, calibration = joint.readings

    def generator(number: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[int(stream_key(key, np.uint64(number))), 0]))

    deviations = {label: draw_normal(joint.covariance(k), LINEAR_DRAWS, generator(k)) for k, label in enumerate(linear)}
    for label in calibration:
        deviations[label] = _of_bins(joint, generator(len(linear)))

    def near(k: int) -> dict[str, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):  # in draws that lack a class
            return _near_places(joint, k, together[k], generator(len(linear) + 1 + k))

    for found in run(near, range(len(together)), compiles="places"):
        deviations |= found
    return deviations


def _compare(
    values: Floats, deviations: Floats, spec: MetricSpec, pairs: Ints, settings: BootstrapSettings
) -> list[PairDifference]:
    """Return the difference between the models of each pair."""
    from scipy.special import ndtr

    low, high = metric_bounds(spec)
    known = np.where(np.isfinite(deviations).any(axis=0), values, np.nan)  # undefined draws are left out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        _, fields = compare_numbers(known, known + deviations, pairs, settings, (low - high, high - low))
    found = []
    for (a, b), (difference, interval, error, pvalue, _) in zip(pairs, fields, strict=True):
        least = 1.0
        if len(deviations) == LINEAR_DRAWS and error:  # the draws are normal, so their tail is known
            least = len(pairs) * 2 * float(ndtr(-abs(difference) / error))
        both = values[[a, b]]
        value = float(both[0] - both[1]) if np.isfinite(both).all() else math.nan
        found.append(PairDifference(value, interval, min(pvalue, least)))
    return found


def _of_bins(joint: JointSums, rng: np.random.Generator) -> Floats:
    """Return deviations of the calibration error, from draws of the sums of its bins."""
    off = np.array([terms.off for terms in joint.terms])
    drawn = draw_normal(joint.covariance_of_bins(), DRAWS, rng) + off
    return np.asarray((np.abs(drawn).sum(axis=2) - np.abs(off).sum(axis=1)) / joint.n_added)


def _near_places(joint: JointSums, k: int, labels: Sequence[str], rng: np.random.Generator) -> dict[str, Floats]:
    """Draw all models' counts near place k jointly; return each draw's metrics minus the metrics of the rows."""
    counts, sizes = joint.counts_of_groups(k), joint.sizes_of_groups(k)
    drawn = [draw_normal(each, DRAWS, rng) + size for each, size in zip(counts, sizes, strict=True)]
    deviations = {label: np.full((DRAWS, len(joint.terms)), np.nan) for label in labels}
    for a, model in enumerate(joint.models.values()):
        if labels[0] not in model.places or not model.counts.n_pos:
            continue
        fps, tps = (_above(each[:, a]) for each in drawn)
        own_fps, own_tps = (_above(size[None, a]) for size in sizes)
        for label in labels:
            spec = joint.specs[label]
            read = READERS.get(spec.name, _read_at_best)
            deviations[label][:, a] = read(spec, tps, fps) - read(spec, own_tps, own_fps)
    return deviations


def _above(sizes: Floats) -> Floats:
    """Return the numbers of rows above each threshold, from 0 (highest threshold) to all; groups are ascending."""
    above = np.zeros((len(sizes), sizes.shape[1] + 1))
    np.cumsum(sizes[:, ::-1], axis=1, out=above[:, 1:])
    return np.clip(above, 0, np.maximum(above[:, -1:], 0), out=above)


def _read_at_best(spec: MetricSpec, tps: Floats, fps: Floats) -> Floats:
    """Return a metric at the threshold that is best in each draw."""
    cells = UsualCells(tps, fps, tps[:, -1:] - tps, fps[:, -1:] - fps)
    values = worth(spec, cells)
    at = np.argmax(values, axis=1)[:, None]
    if spec.name == KS:
        return np.take_along_axis(values, at, axis=1)[:, 0]
    entry = METRICS[spec.name]
    chosen = UsualCells(*(np.take_along_axis(each, at, axis=1)[:, 0] for each in cells))
    return np.asarray(entry.function(chosen, **entry.own_options(spec.options)), dtype=np.float64)


def _read_eer(spec: MetricSpec, tps: Floats, fps: Floats) -> Floats:
    fpr = fps / fps[:, -1:]
    return _read_where(fpr + tps / tps[:, -1:] - 1, fpr)


def _read_bep(spec: MetricSpec, tps: Floats, fps: Floats) -> Floats:
    return _read_where(tps + fps - tps[:, -1:], tps / tps[:, -1:])


def _read_where(crossing: Floats, along: Floats) -> Floats:
    """For each draw, interpolate the line `along` at the point where the rising line `crossing` reaches 0."""
    at = np.argmax(crossing >= 0, axis=1)[:, None]
    before, after = (
        [np.take_along_axis(each, k, axis=1)[:, 0] for each in (crossing, along)] for k in (np.maximum(at - 1, 0), at)
    )
    rise = after[0] - before[0]
    share = np.divide(-before[0], rise, out=np.ones_like(rise), where=rise > 0)
    return before[1] + (after[1] - before[1]) * share


# Functions that read a metric from counts above thresholds, (n_draws, n_thresholds). Metrics that are not listed are
# read at the best threshold.
READERS: dict[str, Callable[[MetricSpec, Floats, Floats], Floats]] = {
    "equal_error_rate": _read_eer,
    "break_even_point": _read_bep,
}
