"""A metric of each of many models, and what it takes to measure their scores, labels or numbers in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import num_threads, run
from fastevals.measure.asked import AskedMetric
from fastevals.measure.many.columns import Columns, Flags
from fastevals.measure.metric_kinds import error_metric
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.pairs import count_label_pairs
from fastevals.measure.regression import as_double, errors_of
from fastevals.measure.results import Frozen

__all__ = ["BatchMetric", "columns_of", "count_models", "errors_of_models"]

Array = NDArray[Any]
Arrays = Mapping[str, Array]  # by what errors call them

SHOWN = 4  # models in a repr
MEDIAN = "median_absolute_error"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchMetric(Frozen):
    """A metric of each of many models: a sequence of floats, and indexed by the models' names.

    Attributes
    ----------
    values : ndarray of shape (n_models,)
        NaN where undefined.
    names : tuple
        The models' names in order; 0, 1, 2, ... where they had none.
    n_positives, n_negatives : int, ndarray of shape (n_models,) or None
        Rows (of weight above zero) of each class: numbers where they are the same for all models; None of metrics that
        are not of scores. Beside standard errors a weighted row is as many rows as its weight says.
    standard_errors : ndarray of shape (n_models,) or None
        Of the values, where asked for.
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.

    Examples
    --------
    >>> import fastevals
    >>> aucs = fastevals.batch_auc([0, 0, 1, 1], {"a": [0.1, 0.4, 0.3, 0.8], "b": [1, 2, 3, 4]})
    >>> aucs
    BatchMetric(a=0.75, b=1.0)
    >>> aucs["a"], list(aucs), len(aucs)
    (0.75, [0.75, 1.0], 2)
    """

    values: NDArray[np.float64]
    names: tuple[Any, ...]
    n_positives: Any = None
    n_negatives: Any = None
    standard_errors: NDArray[np.float64] | None = None
    pos_label: Any = None

    @property
    def n_undefined(self) -> int:
        """Models of which the metric is NaN."""
        return int(np.isnan(self.values).sum())

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __getitem__(self, name: Any) -> float:
        if name not in self.names:
            raise KeyError(f"{check.show(name)}: the models are {check.listed(self.names)}")
        return float(self.values[self.names.index(name)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        pairs = list(zip(self.names, self, strict=True))[:SHOWN]
        named = not all(isinstance(name, int) for name, _ in pairs)
        shown = [f"{name}={value:.4}" if named else f"{value:.4}" for name, value in pairs]
        more = [f"... {len(self)} models"] if len(self) > SHOWN else []
        undefined = [f"n_undefined={self.n_undefined}"] if self.n_undefined else []
        return f"{type(self).__name__}({', '.join([*shown, *more, *undefined])})"


def _one_or_each(arrays: Sequence[Any], i: int) -> Any:
    """Give what goes with a model: what all share, or its own."""
    return arrays[i if len(arrays) > 1 else 0]


# Scores -----------------------------------------------------------------------------------------------------------


def columns_of(y_true: Arrays, pos_label: Any, scores: Arrays, weights: Arrays | None) -> Columns:
    """Give scores, labels and weights as columns; labels that models share are looked at once."""
    labels = [BinaryLabels(*check.binary_labels(name, each, pos_label)) for name, each in y_true.items()]
    names = list(y_true)
    flags = [labels[0].flags(names[0])] if len(labels) == 1 else None

    def flags_of(i: int) -> Flags:
        return labels[i].flags(names[i]) if flags is None else flags[0]

    beside = None if weights is None else list(weights.values())
    weights_of = None if beside is None else lambda i: _one_or_each(beside, i)
    return Columns(list(scores.values()), flags_of, list(scores), weights_of, labels[0].positive)


# Predicted labels -------------------------------------------------------------------------------------------------


def count_models(y_true: Arrays, predicted: Arrays, weights: Arrays | None) -> tuple[Array, Array]:
    """Count true against predicted labels of each model; give a stack of matrices, and the labels of all, in order."""
    names, true = list(y_true), list(y_true.values())
    for i, (label, each) in enumerate(predicted.items()):
        check.check_comparable_labels(**{_one_or_each(names, i): _one_or_each(true, i), label: each})
    models, beside = list(predicted.items()), [None] if weights is None else list(weights.values())
    texts = None
    if true[0].dtype.kind == "U":
        texts = np.unique(np.concatenate(run(np.unique, [*true, *predicted.values()])))
        true = run(lambda each: np.asarray(np.searchsorted(texts, each)), true)

    def count(i: int) -> tuple[Array, Array]:
        these, weight, (label, those) = _one_or_each(true, i), _one_or_each(beside, i), models[i]
        those = check.as_class_numbers(label, those) if texts is None else np.searchsorted(texts, those)
        if weight is not None and not weight.all():
            kept = weight != 0
            these, those, weight = these[kept], those[kept], weight[kept]
        with num_threads(1):
            return count_label_pairs(these, those, weight)

    found = run(count, range(len(models)), compiles=("count_models", weights is None))
    labels = np.unique(np.concatenate([each for _, each in found]))
    check.check_class_number("the models' labels", labels)
    stack = np.zeros((len(models), labels.size, labels.size), dtype=found[0][0].dtype)
    for matrix, (counts, own) in zip(stack, found, strict=True):
        places = np.searchsorted(labels, own)
        matrix[np.ix_(places, places)] = counts
    return stack, labels if texts is None else texts[labels]


# Predicted numbers ------------------------------------------------------------------------------------------------


def errors_of_models(
    asked: Mapping[str, AskedMetric | Callable[..., Any]], y_true: Arrays, predicted: Arrays, weights: Arrays | None
) -> list[NDArray[np.float64]]:
    """Give each metric of errors of each model; those on the same rows are read together."""
    metrics = [error_metric(each) for each in asked.values()]
    y_true, predicted = ({name: as_double(name, each) for name, each in of.items()} for of in (y_true, predicted))
    shared = len(y_true) == 1 and (weights is None or len(weights) == 1)
    models = list(predicted.items())
    groups = [models] if shared else [[model] for model in models]
    found = []
    for i, group in enumerate(groups):
        name = list(y_true)[i if len(y_true) > 1 else 0]
        weight = None if weights is None else _one_or_each(list(weights.values()), i)
        found.append(_errors(metrics, {name: y_true[name]}, dict(group), weight))
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _errors(
    metrics: Sequence[tuple[str, float]], y_true: Arrays, models: Arrays, weights: NDArray[np.float64] | None
) -> list[NDArray[np.float64]]:
    """Give each metric of models on the same rows."""

    def check_finite() -> None:
        for name, each in {**y_true, **models}.items():
            check.check_finite(name, each)

    (targets,), predictions = y_true.values(), list(models.values())
    if weights is not None and not weights.all():
        check_finite()  # while the rows are still the user's
        kept = weights != 0
        targets, weights, predictions = targets[kept], weights[kept], [each[kept] for each in predictions]
    median = any(name == MEDIAN for name, _ in metrics)
    by_quantile = {
        quantile: errors_of(targets, predictions, weights, quantile, check_finite, median=median)
        for quantile in dict.fromkeys(quantile for _, quantile in metrics)
    }
    return [by_quantile[quantile][name] for name, quantile in metrics]
