"""Intervals for a learner's error besides Nadeau and Bengio's t: the splits they need, the fits they add, their errors.

A method is prepared before the first fit. It checks that it is for these splits, yields the additional fits, and
computes each metric's standard error from the results of all fits. Most methods need the metric of each test row (its
loss). A test set's losses are reduced as soon as they arrive: to their number, mean and sum of squared deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, listed, show
from fastevals._random import random_order, seed_key
from fastevals.split.designs import SplitDesign, design_splits
from fastevals.split.estimates.fits import Fit, SplitCounts, make_fits
from fastevals.split.estimates.results import CORRECTED_T, GivenError
from fastevals.split.estimates.split_metrics import SplitMetrics
from fastevals.split.learners import Learner, take_rows
from fastevals.split.splitters.assignments import SamplingFrame
from fastevals.split.splitters.base import TEST, TRAIN, Pair, Rows
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold

Floats = NDArray[np.float64]
ErrorInterval = Literal["corrected-t", "conservative-z", "nested-cv", "infinitesimal-jackknife", "cv-wald"]

HALVINGS = 10  # random halvings of the rows for a conservative z, as recommended in section 5 of the paper
HALVES = 0x4A1F  # tells the seed of halvings from the splitter's own seed


class Data(NamedTuple):
    """The data that are split."""

    y: Any
    groups: Any
    n_samples: int


class LearnerInterval:
    """A method of intervals on given splits: the fits that it adds, and the standard errors that it computes."""

    needs_row_values = True
    n_fits = 0  # additional fits

    def __init__(self, design: SplitDesign, metric_sets: Sequence[SplitMetrics]) -> None:
        self.design = design
        self.metric_sets = metric_sets

    def fits(self, learner: Learner) -> Iterator[Fit]:
        """Yield the additional fits."""
        yield from ()

    def reduce(self, counts: SplitCounts) -> SplitCounts:
        """Return what is kept of a split's results; by default, moments in place of the metrics of test rows."""
        assert counts.row_values is not None
        return counts._replace(row_values=[moments(each) for each in counts.row_values])

    def errors(self, counted: Sequence[SplitCounts], extra: Iterable[SplitCounts]) -> dict[str, GivenError]:
        """Return the standard error of each metric, from the reduced results of the splits and of additional fits."""
        raise NotImplementedError

    def by_fold(self, counted: Sequence[SplitCounts]) -> list[Floats]:
        """Return the moments of each set of metrics, of shape (n_metrics, n_repeats, n_folds, 3)."""
        by_split = [np.stack(each, axis=1) for each in zip(*(each.row_values or () for each in counted), strict=True)]
        return [each.reshape(len(each), *self.design.shape, N_MOMENTS) for each in by_split]


def prepare_interval(
    interval: Any, splitter: Any, design: SplitDesign, metric_sets: Sequence[SplitMetrics], data: Data
) -> LearnerInterval | None:
    """Return the method, or None for Nadeau and Bengio's; raise unless it is for these splits and metrics."""
    check_choice("interval", interval, ErrorInterval)
    if interval == CORRECTED_T:
        return None
    if interval == "conservative-z":
        return ConservativeZ(splitter, design, metric_sets, data)
    name = f"interval={interval!r}"
    _check_row_means(name, metric_sets)
    _check_rows_are_independent(name, data.groups)
    if interval == "infinitesimal-jackknife":
        _check_splitter(name, splitter, BootstrapSplit)
        _check_not_stratified(name, design)
        if design.n_splits < 2:
            raise ValueError(f"{name} needs at least 2 replicates, got n_repeats={design.n_splits}")
        return InfinitesimalJackknife(design, metric_sets, data.n_samples)
    if interval == "cv-wald":
        _check_partitions(name, design, data.n_samples, splitter)
        return CvWald(design, metric_sets)
    _check_splitter(name, splitter, KFold)
    _check_not_stratified(name, design)
    _check_folds(name, splitter, data.n_samples)
    return NestedCv(design, metric_sets, data.n_samples)


# Moments --------------------------------------------------------------------------------------------------------------

N_MOMENTS = 3


def moments(values: Floats) -> Floats:
    """Return the number, mean and sum of squared deviations along the last axis, which is replaced by these."""
    mean = values.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", over="ignore"):
        squares = np.sum((values - mean) ** 2, axis=-1)
    return np.stack([np.full(squares.shape, values.shape[-1], dtype=np.float64), mean[..., 0], squares], axis=-1)


def pool_moments(parts: Floats, axis: int) -> Floats:
    """Return the moments of all values whose moments lie along an axis (which is removed); the last axis has the three.

    The axis is counted without the last one.
    """
    n, mean, squares = np.moveaxis(parts, -1, 0)
    total = n.sum(axis=axis)
    with np.errstate(invalid="ignore", over="ignore"):
        overall = np.sum(n * mean, axis=axis) / total
        between = np.sum(n * (mean - np.expand_dims(overall, axis)) ** 2, axis=axis)
        return np.stack([total, overall, squares.sum(axis=axis) + between], axis=-1)


def pool_all(parts: Floats) -> list[float]:
    """Return the moments of all values whose moments lie along all axes except the last one."""
    pooled: list[float] = pool_moments(parts.reshape(-1, N_MOMENTS), axis=0).tolist()
    return pooled


# Cross-validation -----------------------------------------------------------------------------------------------------


class CvWald(LearnerInterval):
    """Bayle et al.'s central limit theorem for cross-validation, with the all-pairs variance of row losses."""

    def errors(self, counted: Sequence[SplitCounts], extra: Iterable[SplitCounts]) -> dict[str, GivenError]:
        """Return each metric's standard error; with several repetitions, the root of the mean variance."""
        found: dict[str, GivenError] = {}
        for metrics, by_fold in zip(self.metric_sets, self.by_fold(counted), strict=True):
            errors = wald_errors(by_fold).tolist()
            found |= {name: GivenError(error) for name, error in zip(metrics.names, errors, strict=True)}
        return found


def wald_errors(by_fold: Floats) -> Floats:
    """Return the standard errors from the moments of folds, of shape (n_metrics, n_repeats, n_folds, 3)."""
    n, _, squares = np.moveaxis(pool_moments(by_fold, axis=2), -1, 0)  # of each metric and repetition
    return np.asarray(np.sqrt(np.mean(squares / n / n, axis=1)))


class NestedCv(LearnerInterval):
    """Bates, Hastie and Tibshirani's nested cross-validation: its estimate of the mean squared error, and its value.

    Each repetition has K folds. An additional fit for each pair of folds learns from the other K - 2 folds and is
    measured on both. So fold j has an error of fits to the other K - 1 folds, and the cross-validated error within
    those K - 1 folds. The squared difference of the two, minus the variance of the former, estimates the mean squared
    error of a cross-validated error.
    """

    def __init__(self, design: SplitDesign, metric_sets: Sequence[SplitMetrics], n_samples: int) -> None:
        super().__init__(design, metric_sets)
        n_repeats, self.n_folds = design.shape
        self.pairs_of_folds = list(combinations(range(self.n_folds), 2))
        self.n_samples = n_samples
        self.n_fits = n_repeats * len(self.pairs_of_folds)

    def fits(self, learner: Learner) -> Iterator[Fit]:
        """Yield a fit for each pair of folds, which is in neither fold and is measured on both."""
        for repeat, folds in enumerate(self._test_sets()):
            for one, other in self.pairs_of_folds:
                test = np.concatenate((folds[one], folds[other]))
                learns = np.ones(self.n_samples, dtype=np.bool_)
                learns[test] = False
                where = f"repetition {repeat}, without folds {one} and {other}"
                yield Fit(learner, np.flatnonzero(learns), test, where, is_extra=True)

    def _test_sets(self) -> Iterator[list[Rows]]:
        """Yield the test sets of each repetition."""
        pairs = self.design.pairs()
        for _ in range(self.design.shape[0]):
            yield [test for _, test in islice(pairs, self.n_folds)]

    def errors(self, counted: Sequence[SplitCounts], extra: Iterable[SplitCounts]) -> dict[str, GivenError]:
        """Return each metric's standard error and bias-corrected value."""
        k, shape = self.n_folds, self.design.shape
        sizes = np.reshape([each.n_test for each in counted], shape)
        # Moments of each fold, from fits without it and another fold: repetition, other fold, place among the rest.
        inner = [np.empty((len(each.names), *shape, k - 1, N_MOMENTS)) for each in self.metric_sets]
        for number, fit in enumerate(extra):
            repeat, pair = divmod(number, len(self.pairs_of_folds))
            one, other = self.pairs_of_folds[pair]
            for of_set, values in zip(inner, fit.row_values or (), strict=True):
                first, second = np.split(values, [sizes[repeat, one]], axis=1)
                of_set[:, repeat, other, one] = moments(first)
                of_set[:, repeat, one, other - 1] = moments(second)
        found = {}
        for metrics, of_folds, within in zip(self.metric_sets, self.by_fold(counted), inner, strict=True):
            for m, name in enumerate(metrics.names):
                found[name] = nested_error(of_folds[m], within[m], self.n_samples)
        return found


def nested_error(outer: Floats, inner: Floats, n: int) -> GivenError:
    """Return a metric's standard error and bias-corrected value from the moments of test sets.

    Parameters
    ----------
    outer : ndarray of shape (n_repeats, K, 3)
        Moments of each fold, from a fit to all other folds.
    inner : ndarray of shape (n_repeats, K, K - 1, 3)
        For each fold that is left out (axis 1), moments of the other folds, each from a fit to the remaining ones.
    n : int
        Number of rows.
    """
    k = outer.shape[1]
    within = pool_moments(inner, axis=2)  # cross-validation within the rows outside each fold
    every = pool_all(within)
    sizes, means, squares = np.moveaxis(outer, -1, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        mse = float(np.mean((within[..., 1] - means) ** 2 - squares / (sizes - 1) / sizes)) * (k - 1) / k
    if not math.isfinite(mse):
        return GivenError(math.nan)
    # If the errors of folds were independent, the error would be the least; if they were equal, the greatest.
    least = math.sqrt(every[2] / (every[0] - 1) / n)
    error = min(max(math.sqrt(max(mse, 0.0)), least), least * math.sqrt(k))
    bias = (1 + (k - 2) / k) * (every[1] - pool_all(outer)[1])
    return GivenError(error, every[1] - bias)


# Hold-out -------------------------------------------------------------------------------------------------------------


class ConservativeZ(LearnerInterval):
    """Nadeau and Bengio's conservative z: the variance between means of repeated hold-outs of two halves of the rows.

    Two halves share no rows, so their means are independent. They are means for half as many rows, which vary more than
    the mean for all rows.
    """

    needs_row_values = False

    def __init__(self, splitter: Any, design: SplitDesign, metric_sets: Sequence[SplitMetrics], data: Data) -> None:
        super().__init__(design, metric_sets)
        _check_splitter("interval='conservative-z'", splitter, HoldOut)
        self.n_repeats = design.n_splits
        halves = chain.from_iterable(_halvings(splitter, data))
        self.halves = [_design_half(splitter, rows, data, number) for number, rows in enumerate(halves)]
        self.n_fits = self.n_repeats * len(self.halves)

    def fits(self, learner: Learner) -> Iterator[Fit]:
        """Yield the hold-outs of the halves."""
        for number, design in enumerate(self.halves):
            for fit in make_fits(learner, design):
                halving, half = divmod(number, 2)
                where = f"halving {halving}, half {half}, {fit.description}"
                yield fit._replace(description=where, is_extra=True)

    def reduce(self, counts: SplitCounts) -> SplitCounts:
        """Return the results: counts are kept."""
        return counts

    def errors(self, counted: Sequence[SplitCounts], extra: Iterable[SplitCounts]) -> dict[str, GivenError]:
        """Return each metric's standard error."""
        every = list(extra)
        found = {}
        for k, metrics in enumerate(self.metric_sets):
            values = metrics.values([each.test[k] for each in every]).reshape(-1, HALVINGS, 2, self.n_repeats)
            for name, of_metric in zip(metrics.names, values, strict=True):
                found[name] = GivenError(halves_error(of_metric))
        return found


def halves_error(values: Floats) -> float:
    """Return the standard error of a mean over splits; `values` is of shape (n_halvings, 2, n_splits)."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means = np.where(defined, values, 0.0).sum(axis=2) / defined.sum(axis=2)
        differences = means[:, 0] - means[:, 1]
        differences = differences[~np.isnan(differences)]
    return math.hypot(*differences.tolist()) / math.sqrt(2 * differences.size) if differences.size else math.nan


def _halvings(splitter: HoldOut, data: Data) -> Iterator[tuple[Rows, Rows]]:
    """Yield random halves of the rows, or of the groups; an odd row or group is left out."""
    frame = SamplingFrame.from_rows(data.n_samples, data.groups)
    key = seed_key("rng", [HALVES, splitter._key])
    for number in range(HALVINGS):
        half_of_unit = random_order(key, number, frame.n_units) // (frame.n_units // 2)
        half = half_of_unit if frame.row_units is None else half_of_unit[frame.row_units]
        yield np.flatnonzero(half == 0), np.flatnonzero(half == 1)


def _design_half(splitter: HoldOut, rows: Rows, data: Data, number: int) -> SplitDesign:
    """Return the hold-outs of half of the rows: as many test rows as with all rows, and other rows to learn from."""
    _, parts = splitter._frame_and_counts(data.n_samples, data.y, data.groups)
    n_train, n_test = parts.sum(axis=0)[[TRAIN, TEST]].tolist()
    y, groups = take_rows(data.y, rows), take_rows(data.groups, rows)
    n_units = SamplingFrame.from_rows(rows.size, groups).n_units
    if n_units <= n_test:
        raise ValueError(
            "interval='conservative-z' needs test parts smaller than half of the data, "
            f"got test_size={show(splitter.test_size)}: {n_test} of {parts.sum()}"
        )
    hold_out = HoldOut(
        n_test, train_size=min(n_train, n_units - n_test), n_repeats=splitter.n_repeats, stratified=splitter.stratified,
        rng=[HALVES, splitter._key, number],
    )  # fmt: skip
    return design_splits("splitter", hold_out, y, y, groups, rows)


# Bootstrap ------------------------------------------------------------------------------------------------------------


class InfinitesimalJackknife(LearnerInterval):
    """Efron and Tibshirani's standard error of the out-of-bag error, by the delta method after the bootstrap.

    The out-of-bag error is a function of the weights of rows. Its derivatives follow from how often replicates drew
    each row, so no additional fits are needed.
    """

    def __init__(self, design: SplitDesign, metric_sets: Sequence[SplitMetrics], n_samples: int) -> None:
        super().__init__(design, metric_sets)
        self.n_samples = n_samples

    def reduce(self, counts: SplitCounts) -> SplitCounts:
        """Return the results: the metrics of all test rows are kept."""
        return counts

    def errors(self, counted: Sequence[SplitCounts], extra: Iterable[SplitCounts]) -> dict[str, GivenError]:
        """Return each metric's standard error."""
        names = [name for metrics in self.metric_sets for name in metrics.names]
        values = [np.concatenate(each.row_values) for each in counted if each.row_values is not None]
        errors = jackknife_errors(self.design.pairs, values, self.n_samples).tolist()
        return {name: GivenError(error) for name, error in zip(names, errors, strict=True)}


def jackknife_errors(replicates: Callable[[], Iterable[Pair]], values: Sequence[Floats], n: int) -> Floats:
    """Return the standard errors of metrics' out-of-bag means over rows, of shape (n_metrics,).

    The variance is the sum of squared influences of rows. A finite number of replicates adds to it; this part is
    estimated and subtracted, as by Wager, Hastie and Efron (2014), JMLR 15, 1625-1651. The variance is at least the
    variance of a mean over rows.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        influence, direct, parts = influences(replicates, values, n)
        simulation = (n - 1) * len(values) * parts.var(axis=1)
        variance = np.sum(influence**2, axis=1) - simulation
        return np.asarray(np.sqrt(np.maximum(variance, np.sum(direct**2, axis=1))))


def influences(
    replicates: Callable[[], Iterable[Pair]], values: Sequence[Floats], n: int
) -> tuple[Floats, Floats, Floats]:
    """Return the influence of each row on metrics' out-of-bag means over rows, and what it is made of.

    Parameters
    ----------
    replicates : callable
        Function that returns, for each replicate, the rows that it drew, repeated as drawn, and the rows that it
        did not draw.
    values : sequence of ndarrays of shape (n_metrics, n_test)
        The metrics of each replicate's test rows.
    n : int
        Number of rows.

    Returns
    -------
    influence : ndarray of shape (n_metrics, n)
        Derivatives with respect to the weights of rows, divided by n.
    direct : ndarray of shape (n_metrics, n)
        The part of the influence that is due to the row's own metric, for given fits.
    parts : ndarray of shape (n_metrics, n_replicates)
        What each replicate adds to the out-of-bag mean.

    Notes
    -----
    Let Q_i be the metric of row i in a replicate without it, E_i its mean over these replicates, E the mean of E_i over
    rows, and N_l the number of times that a replicate drew row l. Without row i, a replicate draws from n - 1 rows. So
    the derivative with respect to the weight of row l is E_l - E, plus the sum over other rows i of the mean of
    Q_i (N_l - 1 - 1 / (n - 1)).
    """
    times, totals = np.zeros(n), np.zeros((len(values[0]), n))
    for (_, test), own in zip(replicates(), values, strict=True):
        times[test] += 1
        totals[:, test] += own
    ever = times > 0
    means = totals / np.where(ever, times, 1.0)
    direct = np.where(ever, means - means[:, ever].mean(axis=1, keepdims=True), 0.0) / n
    parts = np.empty((len(values[0]), len(values)))
    drawn, covariance = np.zeros(n), np.zeros_like(direct)
    for number, ((train, test), own) in enumerate(zip(replicates(), values, strict=True)):
        parts[:, number] = np.sum(own / times[test], axis=1) / n
        counts = np.bincount(train, minlength=n)
        drawn += counts
        covariance += np.outer(parts[:, number], counts)
    covariance -= np.outer(parts.sum(axis=1), drawn / len(values))
    return (2 + 1 / (n - 1)) * direct + covariance, direct, parts


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_row_means(interval: str, metric_sets: Sequence[SplitMetrics]) -> None:
    """Raise unless all metrics are means over rows."""
    others = [name for each in metric_sets for name in each.names if not each.is_row_mean(name)]
    if others:
        raise ValueError(
            f"{interval} needs metrics that are means over rows, such as error_rate, brier_score or "
            f"mean_squared_error, got {listed(others)}: choose 'corrected-t' or 'conservative-z'"
        )


def _check_rows_are_independent(interval: str, groups: Any) -> None:
    """Raise if rows are clustered."""
    if groups is not None:
        raise ValueError(
            f"{interval} treats rows as independent, so it can't be used with groups: choose 'corrected-t' or "
            "'conservative-z'"
        )


def _check_splitter(interval: str, splitter: Any, needed: type) -> None:
    """Raise unless a splitter is of the type that an interval needs."""
    if not isinstance(splitter, needed):
        raise ValueError(f"{interval} goes with a {needed.__name__}, got splitter={show(splitter)}")


def _check_not_stratified(interval: str, design: SplitDesign) -> None:
    """Raise if splits are stratified."""
    if design.fixed.kind is not None:
        raise ValueError(
            f"{interval} needs splits that are not stratified, because their spread must show the variance due to "
            "class shares; got splitter with stratified=True"
        )


def _check_folds(interval: str, splitter: KFold, n_samples: int) -> None:
    """Raise unless there are three folds, with two rows in each."""
    if splitter.n_splits < 3:
        raise ValueError(f"{interval} needs at least 3 folds, got n_splits={splitter.n_splits}")
    if n_samples < 2 * splitter.n_splits:
        raise ValueError(
            f"{interval} needs at least 2 rows in each fold, got n_splits={splitter.n_splits} for {n_samples} rows"
        )


def _check_partitions(interval: str, design: SplitDesign, n_samples: int, splitter: Any) -> None:
    """Raise unless the test sets of each repetition contain each row once."""
    pairs = design.pairs()
    for _ in range(design.shape[0]):
        times = np.zeros(n_samples, dtype=np.int64)
        for _, test in islice(pairs, design.shape[1]):
            times[test] += 1
        if (times != 1).any():
            raise ValueError(
                f"{interval} goes with splits that test each row exactly once, such as KFold and LeaveOneOut, "
                f"got splitter={show(splitter)}"
            )
