"""Fits of a learner, counts of their predictions, and estimates from the counts of many fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import _warn, check_not_given
from fastevals._validation.labels import binary_labels, raise_not_binary
from fastevals._validation.text import distinct_labels
from fastevals.measure.kinds import LABELS, QUANTILES, SCORES, TARGETS, Kind, MetricSpecs, check_one_kind, metric_kinds
from fastevals.split.checks import n_rows
from fastevals.split.designs import SplitDesign
from fastevals.split.estimates.results import ErrorEstimate, GivenError, SplitVariance, make_estimates
from fastevals.split.estimates.score_metrics import MeanLossMetrics, ThresholdMetrics, is_mean_loss
from fastevals.split.estimates.split_metrics import (
    Floats,
    FunctionMetrics,
    LabelMetrics,
    MedianErrorMetric,
    QuantileMetrics,
    SplitMetrics,
    TargetMetrics,
)
from fastevals.split.learners import Failure, Learner
from fastevals.split.splitters.base import Rows


def make_split_metrics(
    specs: MetricSpecs, name: str, y: Any, *, several: bool, pos_label: Any = None, labels: Any = None
) -> tuple[list[SplitMetrics], Any]:
    """Return the metrics in one set per kind, with labels first, and the positive class (None if there is none).

    `name` is the name of `y` in errors; `several` means that predictions may include both labels and scores.
    """
    kinds = metric_kinds(specs)
    check_one_kind("metrics", kinds, several=several)
    by_class: dict[type[SplitMetrics], dict[str, Any]] = {}
    for label, each in specs.items():
        by_class.setdefault(_choose_class(each, kinds.get(label)), {})[label] = each
    if LabelMetrics not in by_class:
        check_not_given("labels", labels, "metrics of predicted labels")
    if not {LABELS, SCORES} & set(kinds.values()):
        check_not_given("pos_label", pos_label, "metrics of two classes")
    metric_sets: list[SplitMetrics] = []
    positive = None
    if LabelMetrics in by_class:
        label_metrics = LabelMetrics(by_class[LabelMetrics], y, name, labels=labels, pos_label=pos_label)
        metric_sets.append(label_metrics)
        positive = label_metrics.classes.pos_label
        pos_label = pos_label if positive is None else positive
    if SCORES in kinds.values():
        array, positive, _ = binary_labels(name, y, pos_label)
        rows = _check_two_labels_only(name, array, positive)
        metric_sets += [each(by_class[each], rows) for each in (ThresholdMetrics, MeanLossMetrics) if each in by_class]
    others = (TargetMetrics, MedianErrorMetric, QuantileMetrics, FunctionMetrics)
    return [*metric_sets, *(each(by_class[each], y, name) for each in others if each in by_class)], positive


def _choose_class(spec: Any, kind: Kind | None) -> type[SplitMetrics]:
    """Return the subclass of `SplitMetrics` that counts test sets for a metric."""
    if kind is SCORES:
        return MeanLossMetrics if is_mean_loss(spec) else ThresholdMetrics
    if kind is TARGETS:
        return MedianErrorMetric if spec.name == "median_absolute_error" else TargetMetrics
    if kind is QUANTILES:
        return QuantileMetrics
    return FunctionMetrics if kind is None else LabelMetrics


class Fit(NamedTuple):
    """A fit to make: a learner, training rows and test rows. None means all rows."""

    learner: Learner
    train: Rows | None
    test: Rows | None
    description: str  # identifies the fit in errors
    is_extra: bool = False  # whether it is made only for an interval, so that training rows are not measured
    keeps: bool = False  # whether to return the predictions of the test rows


class SplitCounts(NamedTuple):
    """A split's counts for each set of metrics, and its numbers of training and test rows."""

    test: list[Any]  # counts of the test rows
    training: list[Any]  # counts of the training rows; empty if they are not measured
    n_train: int
    n_test: int
    predicted: list[NDArray[Any]] | None = None  # predictions, if they are kept or a fit to all rows is measured on all
    row_values: list[Floats] | None = None  # each metric of each test row, if requested; a set is (n_metrics, n_test)


@dataclass(frozen=True, slots=True, eq=False)
class FitTask:
    """The task of a worker, which makes a fit and returns counts of its predictions, not the predictions."""

    X: Any
    y: Any
    metric_sets: Sequence[SplitMetrics]
    positive: Any  # the positive class, for scores
    training: bool  # whether to predict training rows too, repeated as in training
    by_row: bool = False  # whether to return the metrics of each test row

    def __call__(self, fit: Fit) -> SplitCounts:
        """Return the counts for a split, or for a fit to all rows."""
        train, test = fit.train, fit.test
        if train is None or test is None:
            rows = np.arange(n_rows("X", self.X))
            checked, counts = self._counts(fit, self._predict(fit.learner, None, None), rows, "all rows")
            return SplitCounts(counts, [], rows.size, rows.size, checked)
        training = self.training and not fit.is_extra
        predicted = self._predict(fit.learner, train, np.concatenate((test, train)) if training else test)
        test_part = {kind: each[: test.size] for kind, each in predicted.items()}
        checked, counts = self._counts(fit, test_part, test, "test rows")
        by_row = None
        if self.by_row:
            by_row = [each.row_values(test, own) for each, own in zip(self.metric_sets, checked, strict=True)]
        training_counts: list[Any] = []
        if training:
            training_part = {kind: each[test.size :] for kind, each in predicted.items()}
            _, training_counts = self._counts(fit, training_part, train, "training rows")
        kept = [test_part[each.kind] for each in self.metric_sets] if fit.keeps else None
        return SplitCounts(counts, training_counts, _count_distinct(train), test.size, kept, by_row)

    def _counts(
        self, fit: Fit, predicted: dict[str, NDArray[Any]], rows: Rows, part: str
    ) -> tuple[list[NDArray[Any]], list[Any]]:
        """Return, for each set of metrics, checked predictions of some rows, and the counts of these predictions."""
        name = f"{fit.learner.name}'s predictions of the {part}"
        checked = [each.check_predictions(name, predicted[each.kind], rows) for each in self.metric_sets]
        return checked, [each.count_split(rows, own) for each, own in zip(self.metric_sets, checked, strict=True)]

    def _predict(self, learner: Learner, train: Rows | None, new: Rows | None) -> dict[str, NDArray[Any]]:
        kinds = dict.fromkeys(each.kind for each in self.metric_sets)
        return learner.predictions(self.X, self.y, train, self.X, new, kinds, self.positive)


def make_fits(learner: Learner, splits: SplitDesign, *, keeps: bool = False) -> Iterator[Fit]:
    """Yield the fits of a learner to the training rows of all splits; `keeps` keeps the predictions of test rows."""
    for number, (train, test) in enumerate(splits.pairs()):
        repeat, fold = divmod(number, splits.shape[1])
        yield Fit(learner, train, test, f"repetition {repeat}, fold {fold}", keeps=keeps)


def describe_fit(fit: Fit) -> str:
    """Return the description of a fit; a named function, because workers pickle it."""
    return fit.description


def estimate_from_counts(
    metric_sets: Sequence[SplitMetrics],
    outcomes: Sequence[Any],
    design: SplitDesign,
    specs: MetricSpecs,
    alpha: float,
    splitter: Any = None,
    given: Mapping[str, GivenError] | None = None,
    sizes_of_all: tuple[Any, Any] | None = None,
) -> tuple[dict[str, ErrorEstimate], list[SplitVariance]]:
    """Return the metrics' estimates from the counts of all splits, and the variance of each set of metrics.

    Outcomes that are not `SplitCounts` are failed fits; their values are NaN, without a warning. At least one outcome
    must have counts. `given` has the values and standard errors of intervals that are not Nadeau and Bengio's;
    `sizes_of_all` has the numbers of training and test rows of all splits, if fits failed.
    """
    present = [k for k, each in enumerate(outcomes) if isinstance(each, SplitCounts)]
    counted: list[SplitCounts] = [outcomes[k] for k in present]
    sizes = [each.n_train for each in counted], [each.n_test for each in counted]

    def measure(metrics: SplitMetrics, counts: list[Any], pooled: Any) -> tuple[Floats, Floats]:
        values = np.full((len(metrics.names), len(outcomes)), np.nan)
        values[:, present] = metrics.values(counts)
        return values, metrics.micro(pooled)

    estimates: dict[str, ErrorEstimate] = {}
    variances = []
    for k, metrics in enumerate(metric_sets):
        counts = [each.test[k] for each in counted]
        variances.append(SplitVariance(metrics, metrics.pool(counts), design.fixed, *sizes, alpha, given or {}))
        test, training = measure(metrics, counts, variances[-1].pooled), None
        if counted[0].training:
            counts = [each.training[k] for each in counted]
            training = measure(metrics, counts, metrics.pool(counts))
        estimates |= make_estimates(
            *test,
            design.shape,
            specs,
            variances[-1],
            training=training,
            missing=len(outcomes) - len(present),
            splitter=splitter,
            sizes_of_all=sizes_of_all,
        )
    return estimates, variances


def failed_splits(outcomes: Sequence[Any], design: SplitDesign) -> dict[tuple[int, int], Failure]:
    """Return the failures among outcomes by numbers of repetition and fold, with a warning.

    If all fits failed, raise the first error.
    """
    failures = {divmod(k, design.shape[1]): each for k, each in enumerate(outcomes) if isinstance(each, Failure)}
    if failures:
        first = next(iter(failures.values()))
        n = len(outcomes)
        if len(failures) == n:
            raise first.noted()
        fits = "1 fit" if len(failures) == 1 else f"{len(failures)} fits"
        _warn(f"{fits} of {n} failed, and their splits are left out (n_undefined, errors); the first: {first}")
    return failures


def split_sizes(outcomes: Sequence[Any], design: SplitDesign) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of distinct training rows and of test rows of all splits, also of failed fits."""
    sizes = [(each.n_train, each.n_test) if isinstance(each, SplitCounts) else None for each in outcomes]
    if None in sizes:
        for k, (train, test) in enumerate(design.pairs()):
            sizes[k] = sizes[k] or (_count_distinct(train), test.size)
    n_train, n_test = (np.reshape(each, design.shape) for each in zip(*filter(None, sizes), strict=True))
    return n_train, n_test


def _count_distinct(rows: Rows) -> int:
    return int(np.count_nonzero(np.bincount(rows)))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_two_labels_only(name: str, y: NDArray[Any], positive: Any) -> NDArray[np.bool_]:
    """Return which rows are positive; raise if there is a third label."""
    if distinct_labels(y).size > 2:
        raise_not_binary(name, y)
    return np.asarray(y == positive)
