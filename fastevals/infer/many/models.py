"""Metrics of many models in one call, and DeLong's standard errors of their AUCs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals._kernels.columns import square_placements
from fastevals._kernels.sweep import rank_marked
from fastevals.infer.bootstrap.samples.matrix import measure_stack
from fastevals.infer.delong.placements import LIMIT, Moments, moments_of, moments_of_ranking
from fastevals.infer.results import ByMetric
from fastevals.measure.asked import AskedMetric, as_asked, of_ranking
from fastevals.measure.codec import Keys
from fastevals.measure.many.columns import Columns, measure_columns, over_columns
from fastevals.measure.many.models import BatchMetric, columns_of, count_models, errors_of_models
from fastevals.measure.metric_kinds import kind_of, matrix_metric
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.pairs import placed
from fastevals.measure.ranking import Ranking

__all__ = ["BatchMetrics", "batch_auc", "batch_metrics"]

Arrays = Mapping[str, NDArray[Any]]  # by what errors call them
Asked = Mapping[str, AskedMetric | Callable[..., Any]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchMetrics(ByMetric):
    """Metrics of many models: a mapping from each to its `BatchMetric`.

    Attributes
    ----------
    metrics : dict of str to BatchMetric
        What the mapping holds.
    """

    def _how(self) -> str:
        n = len(next(iter(self.metrics.values())))
        return f"{n} model{'s' * (n > 1)}"


def batch_auc(
    y_true: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    standard_errors: bool = False,
) -> BatchMetric:
    """Compute the AUCs of many models in one batch.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_models, n_samples), or mapping of name to array-like
        Labels of two classes: numbers, booleans or strings. Shared by all models, or a row or an entry for each:
        entries may differ in length.
    scores : array-like of shape (n_models, n_samples), sequence of arrays, mapping of name to array-like, or frame
        Finite scores: a row, an array, an entry or a column for each model. Of any memory order and real dtype.
    sample_weight : as `y_true`, optional
        Row weights, not negative. Rows of weight zero are left out.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.
    standard_errors : bool
        Whether to give DeLong's standard error of each AUC. Weights must then be whole numbers, how often each row
        counts. For covariances of the models, see `delong`.

    Returns
    -------
    BatchMetric
        As from `Ranking.roc_auc` for each model, to the last bit.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once, if models lack a class: their AUC is NaN; or, of standard errors, if a class has fewer than two rows.

    Notes
    -----
    Labels that all models share are read once. Each thread works on a column by itself, with 17 bytes a row beyond the
    input (8 more if scores are not float64, 8 columns if they lie side by side in memory); on columns that are few and
    long all threads work together.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595.

    Examples
    --------
    >>> import fastevals
    >>> scores = {"a": [0.1, 0.4, 0.3, 0.8], "b": [0.4, 0.1, 0.3, 0.8]}
    >>> fastevals.batch_auc([0, 0, 1, 1], scores, standard_errors=True).standard_errors
    array([0.35355339, 0.35355339])
    """
    models, names = check.as_models("scores", scores, check.as_scores)
    asked = as_asked("roc_auc")
    if not check.as_flag("standard_errors", standard_errors):
        found = _of_scores(asked, y_true, models, names, sample_weight, pos_label)
        return found.metrics["roc_auc"]  # type: ignore[no-any-return]
    labels, weights = _beside(y_true, models, names, sample_weight, check.as_labels, check.as_frequencies)
    columns = columns_of(labels, pos_label, models, weights)
    moments = _moments(columns)
    values = np.concatenate([each.aucs() for each in moments])
    deviations = np.sqrt(np.concatenate([each.covariance()[0] for each in moments]))
    n_pos, n_neg = _same([each.n_pos for each in moments]), _same([each.n_neg for each in moments])
    check.warn_undefined_models("roc_auc", values, names, "y_true has one class")
    if np.isnan(deviations).sum() > np.isnan(values).sum():
        check.warn_undefined_models("the standard error", deviations, names, "two rows of each class are needed")
    return BatchMetric(values, names, n_pos, n_neg, deviations, columns.pos_label)


def batch_metrics(
    y_true: Any, predictions: Any, metrics: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> BatchMetrics:
    """Compute metrics of many models in one batch: of scores, of predicted labels or of predicted numbers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_models, n_samples), or mapping of name to array-like
        Labels or targets. Shared by all models, or a row or an entry for each; entries may differ in length.
    predictions : array-like of shape (n_models, n_samples), sequence of arrays, mapping of name to array-like, or frame
        What each model gives: a row, an array, an entry or a column.
    metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
        All of scores ("roc_auc", "average_precision", ``metric("f1", threshold=0.5)``), all of predicted labels
        ("accuracy", ``metric("f_score", average="macro")``), or all of predicted numbers ("mean_squared_error").
        Functions go with the others: of threshold counts, or of a stack of confusion matrices.
    sample_weight : as `y_true`, optional
        Row weights, not negative. Rows of weight zero are left out.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans. Of other labels it must be given for scores, and for
        metrics of predicted labels that need it.

    Returns
    -------
    BatchMetrics
        A mapping from each metric to its `BatchMetric`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that is NaN for some models.

    Notes
    -----
    Matrices of predicted labels are over the labels of all models: a macro average has the same classes in each.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.batch_metrics([0, 0, 1, 1], [[0, 1, 1, 1], [0, 0, 1, 1]], ["accuracy", "f1"])
    >>> found["accuracy"].values, found["f1"][0]
    (array([0.75, 1.  ]), 0.8)
    """
    asked = as_asked(metrics)
    kinds = {label: kind_of(each) for label, each in asked.items() if isinstance(each, AskedMetric)}
    check.check_one_kind("metrics", kinds, several=False)
    kind = next(iter(kinds.values()), None)
    if kind is None:
        raise ValueError("metrics: functions go beside a metric that has a name, which tells what they are of")
    if kind == "scores":
        models, names = check.as_models("predictions", predictions, check.as_scores)
        return _of_scores(asked, y_true, models, names, sample_weight, pos_label)
    if kind == "labels":
        return _of_labels(asked, y_true, predictions, sample_weight, pos_label)
    check.check_not_given("pos_label", pos_label, "metrics of classes")
    return _of_numbers(asked, y_true, predictions, sample_weight)


# Kinds ------------------------------------------------------------------------------------------------------------


def _beside(
    y_true: Any, models: Arrays, names: tuple[Any, ...], sample_weight: Any, read: Any, read_weights: Any
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]] | None]:
    """Give the truth and the weights that go with models, of as many rows."""
    truth = check.as_beside_models("y_true", y_true, names, read)
    check.check_lengths_of_models(models, truth)
    if sample_weight is None:
        return truth, None
    weights = check.as_beside_models("sample_weight", sample_weight, names, read_weights)
    check.check_lengths_of_models(models, weights)
    return truth, weights


def _of_scores(
    asked: Asked, y_true: Any, models: Arrays, names: tuple[Any, ...], sample_weight: Any, pos_label: Any
) -> BatchMetrics:
    metrics = [of_ranking(each) for each in asked.values()]
    labels, weights = _beside(y_true, models, names, sample_weight, check.as_labels, check.as_weights)
    columns = columns_of(labels, pos_label, models, weights)
    found = measure_columns(columns, metrics)
    sizes = _same([each.n_positives for each in found]), _same([each.n_negatives for each in found])
    values = np.array([each.values for each in found], dtype=np.float64).T
    return _results(asked, names, list(values), sizes=sizes, pos_label=columns.pos_label)


def _of_labels(asked: Asked, y_true: Any, predictions: Any, sample_weight: Any, pos_label: Any) -> BatchMetrics:
    metrics = [matrix_metric(each) for each in asked.values()]
    models, names = check.as_models("predictions", predictions, check.as_labels)
    true, weights = _beside(y_true, models, names, sample_weight, check.as_true_labels, check.as_weights)
    stack, found = count_models(true, models, weights)
    classes = check.as_classes("the data", found, None, pos_label)
    values = measure_stack(placed(stack, found, classes.labels), classes, metrics)
    for label, each in zip(asked, values, strict=True):
        check.check_one_number(label, each.shape[1:], "model")
    return _results(asked, names, values, labels=classes.labels, pos_label=classes.pos_label)


def _of_numbers(asked: Asked, y_true: Any, predictions: Any, sample_weight: Any) -> BatchMetrics:
    models, names = check.as_models("predictions", predictions, check.as_scores)
    targets, weights = _beside(y_true, models, names, sample_weight, check.as_scores, check.as_weights)
    return _results(asked, names, errors_of_models(asked, targets, models, weights))


def _same(sizes: list[int]) -> int | NDArray[np.int64]:
    """Give the rows of a class: one number where it is the same for all models."""
    return sizes[0] if len(set(sizes)) == 1 else np.array(sizes)


def _results(
    asked: Asked,
    names: tuple[Any, ...],
    values: list[NDArray[np.float64]],
    *,
    sizes: tuple[Any, Any] = (None, None),
    labels: Any = None,
    pos_label: Any = None,
) -> BatchMetrics:
    for label, each in zip(asked, values, strict=True):
        check.warn_undefined_models(label, each, names)
    found = {
        label: BatchMetric(each, names, *sizes, pos_label=pos_label) for label, each in zip(asked, values, strict=True)
    }
    return BatchMetrics(found, labels=labels, pos_label=pos_label)


# DeLong -----------------------------------------------------------------------------------------------------------


def _moments(columns: Columns) -> list[Moments]:
    """Give the moments of each model alone: time and memory grow with the models, not with their pairs."""
    weights = columns.weights
    if weights is not None:

        def counted(i: int) -> Moments:
            check.check_finite(columns.names[i], columns.scores[i])
            return moments_of(BinaryLabels(columns.flags(i), 1, 0), [columns.scores[i]], weights(i))

        return run(counted, range(len(columns.scores)), compiles="counted moments")

    def of_rows(rows: Keys) -> Moments:
        doubled_u, _, n_pos = rank_marked(rows)
        sums = np.zeros((2, 1, 1, 2), dtype=np.int64)
        sums[:, 0, 0, 1] = square_placements(rows)
        return Moments.of(n_pos, rows.size - n_pos, [doubled_u], sums)

    def of_ranking(ranking: Ranking) -> Moments:
        check.check_class_sizes("y_true", LIMIT, ranking.n_positives, ranking.n_negatives)
        return moments_of_ranking(ranking)

    return over_columns(columns, of_ranking, of_rows, compiles="moments")
