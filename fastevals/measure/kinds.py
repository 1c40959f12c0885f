"""The kinds of predictions: scores, labels, scores of several classes, targets (numbers), and quantiles of numbers.

A kind defines how its arrays are read, and how its metrics are found and evaluated. Calls that draw, swap or split
rows, or take many models, look up the kind of their metrics and dispatch on it with a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import (
    check_choice,
    check_no_options,
    check_not_given,
    check_options,
    listed,
    named_by_base,
    row_at,
    warn_undefined,
)
from fastevals._validation.arrays import as_scores, check_finite, check_probabilities, check_same_length
from fastevals._validation.labels import Classes, as_labels, as_true_labels, binary_labels, check_comparable_labels
from fastevals.counting.ordering import BinaryLabels
from fastevals.counts import Cells, ThresholdCounts
from fastevals.measure.class_scores import ClassScores, as_score_matrix, as_true_rows, read_class_scores
from fastevals.measure.class_specs import ClassMetric, class_metric_of, spec_of_classes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.error_metrics import RegressionSums
from fastevals.measure.metric_specs import METRIC_ALIASES, THRESHOLD_OPTIONS, MetricSpec, RankingMetric, ranking_metric
from fastevals.measure.predicted_quantiles import as_quantiles, rows_of
from fastevals.measure.registry import METRICS
from fastevals.measure.regression import as_double, sum_errors

Array = NDArray[Any]
Floats = NDArray[np.float64]
Spec = MetricSpec | Callable[..., Any]
MetricSpecs = Mapping[str, Spec]  # by name in results
MatrixMetric = Callable[[ConfusionMatrix], Any]  # takes one matrix or a stack


class TargetMetric(NamedTuple):
    """A metric of predicted numbers: its name and options."""

    name: str
    options: dict[str, Any]

    def of_sums(self, sums: RegressionSums) -> Floats:
        """Compute the metric from each model's sums; this works for all metrics except the median."""
        return np.asarray(METRICS[self.name].function(sums, **self.options))


class Kind(ABC):
    """A kind of predictions, from which metrics are computed."""

    name: ClassVar[str]
    phrase: ClassVar[str]  # its name in messages

    @abstractmethod
    def as_array(self, name: str, values: Any) -> Array:
        """Return predictions as a 1-D array; if possible, postpone checks that need a pass over the rows."""

    @abstractmethod
    def as_truth(self, name: str, values: Any) -> Array:
        """Return the ground truth for the predictions as a 1-D array."""

    @abstractmethod
    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Check and return the ground truth and predictions of the same rows; errors name predictions by their keys."""

    @abstractmethod
    def metric(self, spec: Spec, argument: str = "metrics") -> Any:
        """Return the metric for a spec or a user's function, with its options checked."""

    def metrics(self, specs: MetricSpecs) -> list[Any]:
        """Return the metrics for all specs."""
        return [self.metric(each) for each in specs.values()]

    def _as_arrays(self, values: Mapping[str, Any]) -> dict[str, Array]:
        return {name: self.as_array(name, each) for name, each in values.items()}


class Scores(Kind):
    """Scores of the positive class: metrics are functions of their `ThresholdCounts`."""

    name = "scores"
    phrase = "scores"

    def as_array(self, name: str, values: Any) -> Array:
        """Return scores without checking that they are finite."""
        return as_scores(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return labels without checking their number."""
        return as_labels(name, values)

    def read(
        self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None
    ) -> tuple[BinaryLabels, dict[str, Array]]:
        """Return the labels with the positive class, and finite scores."""
        truth = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
        arrays = self._as_arrays(predictions)
        check_same_length(y_true=truth.values, **arrays)
        for name, values in arrays.items():
            check_finite(name, values)
        return truth, arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> RankingMetric:
        """Return the metric as a function of threshold counts, with its sweep."""
        return ranking_metric(spec, argument)

    def evaluate(self, counts: Sequence[ThresholdCounts], metrics: Sequence[RankingMetric]) -> Floats:
        """Return all metrics for all counts, as an array of shape (n_metrics, n)."""
        return np.array([[metric.of_counts(each) for each in counts] for metric in metrics])


class Labels(Kind):
    """Predicted labels: metrics are functions of their `ConfusionMatrix`."""

    name = "labels"
    phrase = "predicted labels"

    def as_array(self, name: str, values: Any) -> Array:
        """Return labels without checking that floats are whole."""
        return as_labels(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return labels as integers, booleans or strings."""
        return as_true_labels(name, values)

    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Return comparable labels; whether floats are whole is checked when rows are counted."""
        arrays = self._as_arrays({"y_true": y_true, **predictions})
        check_same_length(**arrays)
        check_comparable_labels(**arrays)
        return arrays.pop("y_true"), arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> MatrixMetric:
        """Return the metric as a function of one matrix or a stack."""
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
        """Return each metric for each entry of the first axis of a stack of shape (n, ..., K, K); NaN if undefined.

        Metrics are averaged along `mean_axes`; if a user's function is at fault, the error message names `argument`.
        """
        stack = _Stack(counts, classes, mean_axes)
        return [_checked_along(argument, metric(stack), len(counts)) for metric in metrics]


@named_by_base
class _Stack(ConfusionMatrix):
    """A stack of matrices whose undefined metrics are NaN without a warning, because callers count them."""

    __slots__ = ("_cells",)

    def __init__(self, counts: Array, classes: Classes, mean_axes: tuple[int, ...]) -> None:
        self._cells: Cells | None = None
        self.counts, self._mean_axes = counts, mean_axes
        self.labels, self.pos_label = classes

    def _one_vs_rest(self) -> Cells:
        if self._cells is None:  # shared by most metrics
            self._cells = super()._one_vs_rest()
        return self._cells

    def _warned_values(self, name: str, values: Array) -> Any:
        return values


class ClassMatrices(Kind):
    """Scores of several classes, one column per class: metrics are described by `ClassMetric`."""

    name = "classes"
    phrase = "scores of several classes"

    def as_array(self, name: str, values: Any) -> Array:
        """Return scores as a 2-D array, without checking that they are finite."""
        return as_score_matrix(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return labels, or an indicator matrix."""
        return as_true_rows(name, values)

    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Any]]:
        """Return the labels of the classes, and the `ClassScores` of each model."""
        check_not_given("pos_label", pos_label, "two classes")
        return self.read_weighted(y_true, predictions, None, None)

    def read_weighted(
        self, y_true: Any, predictions: Mapping[str, Any], labels: Any, sample_weight: Any
    ) -> tuple[Array, dict[str, ClassScores]]:
        """Return the labels of the classes, in the order of columns, and the scores of rows with weight above zero."""
        read, names = {}, None
        for name, matrix in predictions.items():
            own, read[name] = read_class_scores(y_true, matrix, labels, sample_weight, name=name)
            if names is not None and not np.array_equal(own, names):
                raise ValueError(
                    f"{name} has the classes {listed(own.tolist())}, but others have {listed(names.tolist())}"
                )
            names = own
        assert names is not None
        return names, read

    def metric(self, spec: Spec, argument: str = "metrics") -> ClassMetric:
        """Return what the metric is computed from, and how it is averaged over classes."""
        return class_metric_of(spec, argument)

    def specs(self, specs: MetricSpecs) -> dict[str, Spec]:
        """Return the specs with names of metrics of two classes replaced by those for several classes."""
        return {label: spec_of_classes(each) for label, each in specs.items()}


class Targets(Kind):
    """Predicted numbers: metrics are functions of their `RegressionSums`, or of rows for the median error."""

    name = "targets"
    phrase = "predicted numbers"

    def as_array(self, name: str, values: Any) -> Array:
        """Return numbers, rounded to float64 if they are longer floats."""
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
        """Return the metric's name and options."""
        if not isinstance(spec, MetricSpec):
            raise ValueError(f"{argument}: functions need a Ranking or a ConfusionMatrix, not targets")
        check_choice(argument, spec.name, [name for name, entry in METRICS.items() if entry.of == "targets"], None)
        check_no_options(str(spec), spec.options, METRICS[spec.name].options)
        return TargetMetric(spec.name, METRICS[spec.name].own_options(spec.options))

    def evaluate(self, sums: RegressionSums, metrics: Sequence[TargetMetric]) -> list[Floats]:
        """Return each metric, computed from sums, which do not suffice for the median."""
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


class QuantileMetric(NamedTuple):
    """A metric of predicted quantiles, the mean over rows of a loss: its name and options."""

    name: str
    options: dict[str, Any]

    def losses(self, targets: Array, predicted: Array) -> Floats:
        """Return the loss of each row; raise if it exceeds the largest float."""
        with np.errstate(over="ignore", invalid="ignore"):
            losses = np.asarray(METRICS[self.name].function(targets, rows_of(predicted), **self.options))
        if not np.isfinite(losses).all():
            row = row_at(np.argmin(np.isfinite(losses)))
            raise ValueError(
                f"{self.name} at {row} exceeds the largest float: divide targets and quantiles by a number"
            )
        return losses


class Quantiles(Kind):
    """Predicted quantiles of numbers: metrics are means of losses over rows.

    A loss is treated as a number predicted for a target of 0, so `MEAN_LOSS`, the mean error, is the mean loss. All
    functions for predicted numbers thus work for quantiles.
    """

    name = "quantiles"
    phrase = "predicted quantiles"

    def as_array(self, name: str, values: Any) -> Array:
        """Return finite quantiles with their levels."""
        return as_quantiles(name, values)

    def as_truth(self, name: str, values: Any) -> Array:
        """Return finite numbers."""
        targets = TARGETS.as_array(name, values)
        check_finite(name, targets)
        return targets

    def read(self, y_true: Any, predictions: Mapping[str, Any], pos_label: Any = None) -> tuple[Any, dict[str, Array]]:
        """Return finite targets and quantiles."""
        check_not_given("pos_label", pos_label, "metrics of classes")
        targets, arrays = self.as_truth("y_true", y_true), self._as_arrays(predictions)
        check_same_length(y_true=targets, **arrays)
        return targets, arrays

    def metric(self, spec: Spec, argument: str = "metrics") -> QuantileMetric:
        """Return the metric's name and options."""
        if not isinstance(spec, MetricSpec):
            raise ValueError(f"{argument}: functions need a Ranking or a ConfusionMatrix, not quantiles")
        check_choice(argument, spec.name, [name for name, entry in METRICS.items() if entry.of == "quantiles"], None)
        check_no_options(str(spec), spec.options, METRICS[spec.name].options)
        return QuantileMetric(spec.name, METRICS[spec.name].own_options(spec.options))


SCORES, LABELS, CLASSES, TARGETS, QUANTILES = Scores(), Labels(), ClassMatrices(), Targets(), Quantiles()
MEAN_LOSS = TargetMetric("mean_error", {})


# The kind of metrics --------------------------------------------------------------------------------------------------


def metric_kind(spec: MetricSpec, argument: str = "metrics") -> Kind:
    """Return the kind of predictions that a metric is computed from."""
    check_choice(argument, spec.name, METRICS, METRIC_ALIASES)
    entry = METRICS[spec.name]
    if entry.of in ("targets", "quantiles"):
        return TARGETS if entry.of == "targets" else QUANTILES
    if entry.of == "classes":
        return CLASSES
    at_threshold = any(name in THRESHOLD_OPTIONS for name in spec.options)
    return LABELS if entry.of_labels and not at_threshold else SCORES


def is_row_mean(spec: MetricSpec) -> bool:
    """Return whether a metric of labels, of classes or of targets is a mean over all rows."""
    entry, kind = METRICS[spec.name], metric_kind(spec)
    if kind is TARGETS:
        return entry.is_mean
    if kind is LABELS and (spec.name == "hamming_loss" or spec.name == "cost"):
        return bool(spec.options.get("normalize", True))
    return entry.is_mean_over_rows and entry.classes != "label sets" and "average" not in spec.options


def metric_kinds(specs: MetricSpecs) -> dict[str, Kind]:
    """Return the kind of each named metric; users' functions get the same kind as the others."""
    return {label: metric_kind(each) for label, each in specs.items() if isinstance(each, MetricSpec)}


def array_kind(kinds: Mapping[str, Kind]) -> Kind | None:
    """Return the kind that one array must have for all metrics; None if no metric determines it.

    Numbers take precedence, then scores; metrics that can't be computed from this kind are refused later.
    """
    return next((kind for kind in (QUANTILES, TARGETS, CLASSES, SCORES, LABELS) if kind in kinds.values()), None)


def check_one_kind(name: str, kinds: Mapping[str, Kind], *, several: bool) -> None:
    """Raise unless metrics fit together: all of one kind, or labels and scores for a learner that predicts both."""
    first = {kind: metric for metric, kind in kinds.items()}
    if len(first) > 1 and (first.keys() & {TARGETS, QUANTILES} or not several):
        wanted = " and ".join(f"{metric} is of {kind.phrase}" for kind, metric in first.items())
        rule = "classes or all of numbers" if several else "labels, all of scores or all of numbers (one array is"
        rule += "" if several else " measured)"
        raise ValueError(f"{name} must all be of {rule}, but {wanted}")


# Checks ---------------------------------------------------------------------------------------------------------------


def _checked_along(name: str, values: Any, n: int) -> Floats:
    """Return a user function's values for a stack of n matrices as floats; raise unless they are n real values."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.shape[:1] != (n,):
        raise ValueError(
            f"{name}: a function of a stack of {n} matrices must return real numbers along its first axis, got dtype "
            f"{array.dtype} of shape {array.shape}"
        )
    return array.astype(np.float64, copy=False)


def check_needed_probabilities(specs: MetricSpecs, scores: Mapping[str, Array]) -> None:
    """Raise if a metric needs probabilities and no model predicts them; warn if some models don't.

    The keys of `scores` are names in messages.
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


def require_needed_probabilities(specs: Iterable[Spec], models: Mapping[str, ClassScores]) -> None:
    """Raise if a metric needs probabilities of classes, and a model's scores are none; keys are names in messages."""
    named = (spec_of_classes(each) for each in specs if isinstance(each, MetricSpec))
    if any(METRICS[each.name].needs_probabilities for each in named):
        for name, scores in models.items():
            scores.require_probabilities(name)
