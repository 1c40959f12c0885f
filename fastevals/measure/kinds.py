"""The three kinds of predictions: scores, labels and targets (numbers).

A kind says how arrays of it are read, which function a metric is of its counts, and how that is computed. What draws
rows, swaps them, splits them or takes many models at once finds the kind that its metrics are of, and has a table from
kinds to what it does with each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import (
    check_choice,
    check_no_options,
    check_not_given,
    check_options,
    named_by_base,
    warn_undefined,
)
from fastevals._validation.arrays import as_scores, check_finite, check_probabilities, check_same_length
from fastevals._validation.labels import Classes, as_labels, as_true_labels, binary_labels, check_comparable_labels
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import RegressionSums
from fastevals.measure.metric_specs import METRIC_ALIASES, THRESHOLD_OPTIONS, MetricSpec, RankingMetric, ranking_metric
from fastevals.measure.registry import METRICS
from fastevals.measure.regression import as_double, sum_errors

Array = NDArray[Any]
Floats = NDArray[np.float64]
Spec = MetricSpec | Callable[..., Any]
MetricSpecs = Mapping[str, Spec]  # by what results call them
MatrixMetric = Callable[[ConfusionMatrix], Any]  # of one matrix, or of a stack


class TargetMetric(NamedTuple):
    """A metric of predicted numbers by its name, with its options."""

    name: str
    options: dict[str, Any]

    def of_sums(self, sums: RegressionSums) -> Floats:
        """Compute it of each model's sums, from which all but the median follow."""
        return np.asarray(METRICS[self.name].function(sums, **self.options))


class Kind(ABC):
    """What models predict, and metrics are computed from."""

    name: ClassVar[str]
    phrase: ClassVar[str]  # what messages call it

    @abstractmethod
    def as_array(self, name: str, values: Any) -> Array:
        """Return predictions as a 1-D array, without a pass over the rows where none is needed."""

    @abstractmethod
    def as_truth(self, name: str, values: Any) -> Array:
        """Return what they are compared with as a 1-D array."""

    @abstractmethod
    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Return the truth and predictions of the same rows, checked; keys are what errors call them."""

    @abstractmethod
    def metric(self, spec: Spec, argument: str = "metrics") -> Any:
        """Return the metric of a spec, or a user's function, with its options checked."""

    def metrics(self, specs: MetricSpecs) -> list[Any]:
        """Return the metrics of all specs."""
        return [self.metric(each) for each in specs.values()]

    def _as_arrays(self, values: Mapping[str, Any]) -> dict[str, Array]:
        return {name: self.as_array(name, each) for name, each in values.items()}


class Scores(Kind):
    """Scores of the positive class: metrics are of their `ThresholdCounts`."""

    name = "scores"
    phrase = "scores"

    def as_array(self, name: str, values: Any) -> Array:
        """Return scores as they are."""
        return as_scores(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return labels as they are."""
        return as_labels(name, values)

    def read(
        self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None
    ) -> tuple[BinaryLabels, dict[str, Array]]:
        """Return the labels with the positive one, and finite scores."""
        truth = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
        arrays = self._as_arrays(predictions)
        check_same_length(y_true=truth.values, **arrays)
        for name, values in arrays.items():
            check_finite(name, values)
        return truth, arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> RankingMetric:
        """Return the function of threshold counts, and how it is swept."""
        return ranking_metric(spec, argument)

    def evaluate(self, counts: Sequence[ThresholdCounts], metrics: Sequence[RankingMetric]) -> Floats:
        """Return each metric of each counts, of shape (n_metrics, n)."""
        return np.array([[metric.of_counts(each) for each in counts] for metric in metrics])


class Labels(Kind):
    """Predicted labels: metrics are of their `ConfusionMatrix`."""

    name = "labels"
    phrase = "predicted labels"

    def as_array(self, name: str, values: Any) -> Array:
        """Return labels as they are; of floats it isn't looked at whether they are whole."""
        return as_labels(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return labels as integers, booleans or strings."""
        return as_true_labels(name, values)

    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Return labels that can be compared; whether they are whole is looked at of rows that are counted."""
        arrays = self._as_arrays({"y_true": y_true, **predictions})
        check_same_length(**arrays)
        check_comparable_labels(**arrays)
        return arrays.pop("y_true"), arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> MatrixMetric:
        """Return the function of a matrix, or of a stack."""
        if not isinstance(spec, MetricSpec):
            return spec
        name, options = spec.name, spec.options
        check_choice(argument, name, [each for each, entry in METRICS.items() if entry.of_labels], None)
        entry = METRICS[name]
        if entry.is_matrix_method:
            method = getattr(ConfusionMatrix, name)
            check_options(str(spec), method, options, " in metric(...)")
            return lambda matrix: getattr(matrix, name)(**options)
        own = entry.own_options(options)
        if entry.of == "matrix":
            check_no_options(str(spec), options, entry.options)
            return lambda matrix: entry.function(matrix, **own)
        check_no_options(str(spec), options, ["average", *entry.options])
        average = options.get("average", "binary")
        return lambda matrix: matrix._averaged(name, lambda at: entry(at, **own), average, symmetric=entry.symmetric)

    def evaluate(
        self,
        counts: Array,
        classes: Classes,
        metrics: Sequence[MatrixMetric],
        *,
        mean_axes: tuple[int, ...] = (),
        argument: str = "metrics",
    ) -> list[Floats]:
        """Return each metric of a stack of matrices, of shape (n, ..., K, K), along its first axis; NaN if undefined.

        Metrics are averaged along `mean_axes`; `argument` is what errors of a user's function name.
        """
        stack = _Stack(counts, classes, mean_axes)
        return [_checked_along(argument, metric(stack), len(counts)) for metric in metrics]


@named_by_base
class _Stack(ConfusionMatrix):
    """A stack of matrices whose undefined metrics are NaN without a warning: they are counted."""

    __slots__ = ("_cells",)

    def __init__(self, counts: Array, classes: Classes, mean_axes: tuple[int, ...]) -> None:
        self._cells: Cells | None = None
        self.counts, self._mean_axes = counts, mean_axes
        self.labels, self.pos_label = classes

    def _one_vs_rest(self) -> Cells:
        if self._cells is None:  # most metrics ask for them
            self._cells = super()._one_vs_rest()
        return self._cells

    def _warned_values(self, name: str, values: Array) -> Any:
        return values


class Targets(Kind):
    """Predicted numbers: metrics are of their errors, that is, of `RegressionSums`, and of the median one."""

    name = "targets"
    phrase = "predicted numbers"

    def as_array(self, name: str, values: Any) -> Array:
        """Return numbers, none of them longer than float64."""
        return as_double(name, as_scores(name, values))

    as_truth = as_array

    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Return finite numbers."""
        check_not_given("pos_label", pos_label, "metrics of classes")
        arrays = self._as_arrays({"y_true": y_true, **predictions})
        check_same_length(**arrays)
        for name, values in arrays.items():
            check_finite(name, values)
        return arrays.pop("y_true"), arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> TargetMetric:
        """Return the name and the options."""
        if not isinstance(spec, MetricSpec):
            raise ValueError(f"{argument}: functions go with a Ranking or a ConfusionMatrix, not with targets")
        check_choice(argument, spec.name, [name for name, entry in METRICS.items() if entry.of == "targets"], None)
        check_no_options(str(spec), spec.options, METRICS[spec.name].options)
        return TargetMetric(spec.name, METRICS[spec.name].own_options(spec.options))

    def evaluate(self, sums: RegressionSums, metrics: Sequence[TargetMetric]) -> list[Floats]:
        """Return each metric but the median, of sums."""
        return [each.of_sums(sums) for each in metrics]

    def evaluate_rows(
        self,
        targets: Array,
        predictions: Sequence[Array],
        weights: Floats | None,
        metrics: Sequence[TargetMetric],
        if_not_finite: Callable[[], None] = lambda: None,
    ) -> list[Floats]:
        """Return each metric of each model on the same rows, of shape (n_models,); see `sum_errors`."""
        median = any(each.name == "median_absolute_error" for each in metrics)
        sums, exact = sum_errors(targets, predictions, weights, if_not_finite, median=median)
        return [exact[each.name] if each.name in exact else each.of_sums(sums) for each in metrics]


SCORES, LABELS, TARGETS = Scores(), Labels(), Targets()


# The kind of metrics --------------------------------------------------------------------------------------------------


def metric_kind(spec: MetricSpec, argument: str = "metrics") -> Kind:
    """Return what a metric is computed from."""
    check_choice(argument, spec.name, METRICS, METRIC_ALIASES)
    entry = METRICS[spec.name]
    if entry.of == "targets":
        return TARGETS
    at_threshold = any(name in THRESHOLD_OPTIONS for name in spec.options)
    return LABELS if entry.of_labels and not at_threshold else SCORES


def metric_kinds(specs: MetricSpecs) -> dict[str, Kind]:
    """Return what each metric that has a name is computed from; functions take what the others do."""
    return {label: metric_kind(each) for label, each in specs.items() if isinstance(each, MetricSpec)}


def array_kind(kinds: Mapping[str, Kind]) -> Kind | None:
    """Return what the one array holds that all metrics are to be computed from; None where no metric tells.

    If some need targets, or else scores, the array must hold these, and the others are refused if they can't do with
    them.
    """
    return next((kind for kind in (TARGETS, SCORES, LABELS) if kind in kinds.values()), None)


def check_one_kind(name: str, kinds: Mapping[str, Kind], *, several: bool) -> None:
    """Raise unless metrics go together: all of one kind, or, of a learner that gives both, of labels and of scores."""
    first = {kind: metric for metric, kind in kinds.items()}
    if len(first) > 1 and (TARGETS in first or not several):
        wanted = " and ".join(f"{metric} is of {kind.phrase}" for kind, metric in first.items())
        rule = "classes or all of numbers" if several else "labels, all of scores or all of numbers, one array of which"
        rule += "" if several else " is measured"
        raise ValueError(f"{name} must all be of {rule}, but {wanted}")


# Checks ---------------------------------------------------------------------------------------------------------------


def _checked_along(name: str, values: Any, n: int) -> Floats:
    """Return what a user's function of a stack returned, if it is real numbers along the stack's first axis."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.shape[:1] != (n,):
        raise ValueError(
            f"{name}: a function of a stack of {n} matrices must give real numbers along its first axis, got dtype "
            f"{array.dtype} of shape {array.shape}"
        )
    return array.astype(np.float64, copy=False)


def check_needed_probabilities(specs: MetricSpecs, scores: Mapping[str, Array]) -> None:
    """Raise if a metric needs probabilities and no model has them; warn if some models have none.

    Keys are what messages call the scores.
    """
    names = {each.name for each in specs.values() if isinstance(each, MetricSpec)}
    names = {name for name in names & METRICS.keys() if METRICS[name].of == "probabilities"}
    lacking = []
    for name, values in scores.items() if names else ():
        try:
            check_probabilities(name, *((values.min(), values.max()) if values.size else (0, 1)))
        except ValueError as error:
            lacking.append(error)
    if lacking and len(lacking) == len(scores):
        raise lacking[0]
    if lacking:
        warn_undefined(", ".join(sorted(names)), str(lacking[0]))
