"""Areas under curves, averaged over classes, pairs of classes or rows, as in `sklearn.metrics`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import in_usual_unit
from fastevals.counting.ordering import BinaryLabels
from fastevals.many.class_metrics import each_class
from fastevals.many.group_scores import grouped_scores
from fastevals.many.group_values import grouped_values
from fastevals.measure.class_pairs import means_of_pairs, pair_aucs
from fastevals.measure.class_scores import ClassScores, read_class_scores
from fastevals.measure.metric_specs import MetricSpec, ranking_metric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.metrics._input import (
    INDICATOR,
    as_column,
    as_named_labels,
    as_numbers,
    as_row_weights,
    as_target,
    as_weight_column,
    check_all_finite,
    check_default_pos_label,
    check_same_rows,
    distinct_labels,
    label_kind,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, Rule, any_of, check_parameters, warn, warn_ill_defined
from fastevals.metrics._rankings import (
    NO_POSITIVES,
    OneScore,
    ScoreTable,
    greater_label_ranking,
    pos_label_ranking,
    two_class_ranking,
)

ONE_CLASS = "Only one class is present in y_true. ROC AUC score is not defined in that case."
LABEL = Rule(
    "an instance of 'float', an instance of 'int', an instance of 'bool' or an instance of 'str'",
    lambda value: isinstance(value, (numbers.Real, str, np.bool_)),
)
MAX_FPR = Rule(
    "a float in the range (0.0, 1.0] or None",
    lambda value: value is None or (isinstance(value, numbers.Real) and 0 < float(value) <= 1),
)
Mean = Literal["macro", "micro", "samples", "weighted"]
AVERAGE = any_of(*get_args(Mean), None)
MULTI_CLASS = any_of("raise", "ovr", "ovo")
# averages of values per class or per pair of classes
OVER_CLASSES: dict[str, tuple[str | None, ...]] = {"ovr": ("macro", "weighted", None), "ovo": ("macro", "weighted")}
RELATIVE, ABSOLUTE = 1e-5, 1e-8  # by which the sum of a row's probabilities may differ from 1
Floats = NDArray[np.float64]


@overload
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: None,
    sample_weight: ArrayLike | None = ...,
    max_fpr: float | None = ...,
    multi_class: str = ...,
    labels: ArrayLike | None = ...,
) -> Floats: ...
@overload
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Mean = ...,
    sample_weight: ArrayLike | None = ...,
    max_fpr: float | None = ...,
    multi_class: str = ...,
    labels: ArrayLike | None = ...,
) -> float: ...
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: ArrayLike | None = None,
) -> Any:
    """Compute the area under the ROC curve, like scikit-learn's `roc_auc_score`.

    Without weights, the area is a ratio of two integers, rounded only once. With weights, the area is never above 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two classes, where the greater label is positive; labels of more classes, if `multi_class` is set; or
        an indicator matrix of 0s and 1s.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, higher for the positive class. For more than two classes, probabilities, one column per class.
        For an indicator matrix, scores, one column per label.
    average : {"macro", "micro", "samples", "weighted", None}
        How to average over classes. "macro": the mean. "micro": one area for all columns ranked together. "samples":
        the mean over rows, where each row ranks its labels. "weighted": the mean weighted by the classes' numbers of
        rows. None: one area per class. `average` has no effect with two classes.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative; ``multi_class="ovo"`` uses them too.
    max_fpr : float in (0, 1], optional
        Compute only the area up to this FPR, scaled so that chance gives 0.5.
    multi_class : {"raise", "ovr", "ovo"}
        How to treat more than two classes. "ovr": rank each class against the rest. "ovo": rank each pair of classes
        (Hand and Till 2001, doi:10.1023/A:1010920819831).
    labels : array-like of shape (n_classes,), optional
        Class of each column, in sorted order.

    Returns
    -------
    float or ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If an argument is not as described.
    NotImplementedError
        If ``average=None`` is combined with ``multi_class="ovo"``.

    Warns
    -----
    UndefinedMetricWarning
        If a class has no rows or has all rows; its area is NaN.

    Examples
    --------
    >>> from fastevals.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    check_parameters(
        "roc_auc_score",
        average=(average, AVERAGE),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        max_fpr=(max_fpr, MAX_FPR),
        multi_class=(multi_class, MULTI_CLASS),
        labels=(labels, ARRAY_OR_NONE),
    )
    max_fpr = None if max_fpr is None else float(max_fpr)
    table = _as_score_table(y_true, y_score, sample_weight)
    rows = _only_column(table)
    if rows is not None:
        ranking, kind = greater_label_ranking(rows)
        if ranking is not None:
            return _area(ROC_AUC, ranking, max_fpr=max_fpr)
    else:
        if average in OVER_CLASSES.get(multi_class, ()) and max_fpr in (None, 1):
            scores = _checked_class_scores(table, labels, probabilities=True)
            if scores is not None:
                if multi_class == "ovo":
                    return np.float64(_average_over_pairs(scores, average))
                return _average_over_classes(ROC_AUC, scores, average)
        kind = _check_table_kind(table, most_columns=2)
    if kind == INDICATOR:
        return _average_over_labels(ROC_AUC, table, average, max_fpr=max_fpr)
    _check_partial_area(max_fpr)
    classes = _check_class_scores(table, labels, multi_class, average)
    if multi_class == "ovo":
        return np.float64(
            _average_over_pairs(read_class_scores(table.labels, table.scores, classes, table.weights)[1], average)
        )
    return _average_over_labels(ROC_AUC, table, average, classes)


@overload
def average_precision_score(
    y_true: ArrayLike, y_score: ArrayLike, *, average: None, pos_label: Any = ..., sample_weight: ArrayLike | None = ...
) -> Floats: ...
@overload
def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Mean = ...,
    pos_label: Any = ...,
    sample_weight: ArrayLike | None = ...,
) -> float: ...
def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Compute average precision, like scikit-learn's `average_precision_score`.

    It is the sum over thresholds of precision times the increase in recall, and never above 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two or more classes, or an indicator matrix of 0s and 1s.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, higher for the positive class; for more than two classes, one column per class.
    average : {"macro", "micro", "samples", "weighted", None}
        How to average over classes; see `roc_auc_score`.
    pos_label : label
        The positive class, if there are two.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float or ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If a class has no rows; its average precision is 0.

    Examples
    --------
    >>> from fastevals.metrics import average_precision_score
    >>> average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    check_parameters(
        "average_precision_score",
        average=(average, AVERAGE),
        pos_label=(pos_label, LABEL),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
    )
    table = _as_score_table(y_true, y_score, sample_weight)
    rows = _only_column(table)
    if rows is None:
        scores = _checked_class_scores(table) if pos_label == 1 and average in OVER_CLASSES["ovr"] else None
        if scores is not None:
            return _average_over_classes(AVERAGE_PRECISION, scores, average)
        kind = _check_table_kind(table)
    else:
        ranking, kind = two_class_ranking(rows, lambda labels: pos_label if pos_label in labels else None)
        if ranking is None and kind == "binary":
            _check_known_pos_label(pos_label, rows.labels)
            ranking = pos_label_ranking(rows, pos_label)
        if ranking is not None:
            return _area(AVERAGE_PRECISION, ranking)
    if pos_label != 1:
        _raise_pos_label_fixed(kind)
    classes = None if kind == INDICATOR else _check_class_columns(table)
    return _average_over_labels(AVERAGE_PRECISION, table, average, classes)


def _only_column(table: ScoreTable) -> OneScore | None:
    """Return one label and one score per row; None if labels or scores have several columns."""
    labels, scores, weights = table
    is_column = labels.ndim == 1 and (scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] == 1))
    return OneScore(labels, scores.reshape(-1), weights) if is_column else None


# Averages ----------------------------------------------------------------------------------------------------------


class AveragedMetric(NamedTuple):
    """A metric of rankings, with the value to return if it is undefined.

    Attributes
    ----------
    name : str
        Name of the metric in the registry.
    undefined : float
        The value to return if the metric is undefined.
    warn : callable
        Warns that the metric is undefined.
    """

    name: str
    undefined: float
    warn: Callable[[], None]


ROC_AUC = AveragedMetric("roc_auc", math.nan, lambda: warn_ill_defined(ONE_CLASS))
AVERAGE_PRECISION = AveragedMetric("average_precision", 0.0, lambda: warn(NO_POSITIVES))


def _area(area: AveragedMetric, ranking: Ranking, max_fpr: float | None = None) -> float:
    """Return the metric of one ranking; the AUC may be restricted to FPRs up to `max_fpr`."""
    if ranking.n_positives and (ranking.n_negatives or area is AVERAGE_PRECISION):
        return ranking.roc_auc(max_fpr=max_fpr) if area is ROC_AUC else ranking.average_precision()
    area.warn()
    return area.undefined


def _checked_class_scores(table: ScoreTable, labels: Any = None, *, probabilities: bool = False) -> ClassScores | None:
    """Return the scores of at least three classes; None if the input may be invalid.

    If `probabilities`, scores that don't add up to 1 are invalid. If scores are returned, values have been read only
    once.
    """
    matrix = table.scores
    if table.labels.ndim != 1 or matrix.ndim != 2 or matrix.shape[1] < 3:
        return None
    try:
        classes = None if labels is None else _as_ordered_classes(labels)
        scores = read_class_scores(table.labels, matrix, classes, table.weights)[1]
    except ValueError:
        return None
    if probabilities and not all(map(_adds_up_to_one, scores.row_sums)):
        return None
    return scores


def _adds_up_to_one(total: float) -> bool:
    """Return whether probabilities add up to 1, by the rule of `numpy.allclose`."""
    return math.isfinite(total) and abs(1 - total) <= ABSOLUTE + RELATIVE * abs(total)


def _average_over_labels(
    area: AveragedMetric,
    table: ScoreTable,
    average: str | None,
    classes: NDArray[Any] | None = None,
    max_fpr: float | None = None,
) -> Any:
    """Average over the columns of a table: one per class or, if `classes` is None, per label of an indicator matrix."""
    if average == "micro":
        return _area(area, _rank_all_columns(table, classes), max_fpr)
    if average == "samples":
        return _average_over_rows(area, table, classes, max_fpr)
    labels = _as_indicator(table) if classes is None else table.labels
    return _average_over_classes(
        area, read_class_scores(labels, table.scores, classes, table.weights)[1], average, max_fpr
    )


def _average_over_classes(
    area: AveragedMetric, scores: ClassScores, average: str | None, max_fpr: float | None = None
) -> Any:
    """Average the metric over classes, each ranked against the rest."""
    support = scores.support() if average == "weighted" else None
    if support is not None and not support.any():
        return 0
    options = {} if max_fpr is None else {"max_fpr": max_fpr}
    values = _fill_undefined(area, each_class(scores, ranking_metric(MetricSpec(area.name, options))))
    return values if average is None else _mean(values, support)


def _average_over_pairs(scores: ClassScores, average: str | None) -> Any:
    """Average the AUC over pairs of classes that have rows."""
    support = scores.support()
    present = np.flatnonzero(scores.n_positives)
    if present.size < 2:
        ROC_AUC.warn()
        return math.nan
    first, second = (present[i] for i in np.triu_indices(present.size, 1))
    means = means_of_pairs(pair_aucs(scores)[np.ix_(present, present)])
    return _mean(means, support[first] + support[second] if average == "weighted" else None)


def _rank_all_columns(table: ScoreTable, classes: NDArray[Any] | None) -> Ranking:
    """Rank the scores of all columns together."""
    weights = None if table.weights is None else np.repeat(table.weights, table.scores.shape[1])
    return Ranking(_flags(table, classes).ravel(), table.scores.ravel(), sample_weight=weights, pos_label=True)


def _average_over_rows(
    area: AveragedMetric, table: ScoreTable, classes: NDArray[Any] | None, max_fpr: float | None
) -> float:
    """Average over rows; each row is a group that ranks its labels."""
    flags = _flags(table, classes)
    metric = ranking_metric(MetricSpec(area.name, {} if max_fpr is None else {"max_fpr": max_fpr}))
    labels, rows = BinaryLabels(flags.ravel(), True, False), np.repeat(np.arange(len(flags)), flags.shape[1])
    (values,) = grouped_values([metric], grouped_scores(labels, table.scores.ravel(), rows))
    return _mean(_fill_undefined(area, values), table.weights)


def _flags(table: ScoreTable, classes: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Return which labels each row has."""
    return _as_indicator(table) if classes is None else table.labels[:, np.newaxis] == classes


def _fill_undefined(area: AveragedMetric, values: Floats) -> Floats:
    """Replace undefined values and warn once."""
    missing = np.isnan(values)
    if missing.any():
        area.warn()
        values[missing] = area.undefined
    return values


def _mean(values: Floats, weights: NDArray[Any] | None) -> float:
    """Return the weighted mean; an undefined value with weight zero is left out."""
    if weights is not None:
        values = np.where(weights == 0, 0.0, values)
        weights = in_usual_unit(weights)
    return float(np.average(values, weights=weights))


# Checks ------------------------------------------------------------------------------------------------------------


def _check_known_pos_label(pos_label: Any, labels: NDArray[Any]) -> None:
    """Raise if there are two labels and `pos_label` is neither of them."""
    present = distinct_labels(labels)
    if present.size == 2 and pos_label not in present.tolist():
        raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {present}")


def _raise_pos_label_fixed(kind: str) -> NoReturn:
    """Raise because a positive label can be chosen only for two classes."""
    raise ValueError(
        f"Parameter pos_label is fixed to 1 for {kind} y_true. Do not set pos_label or set pos_label to 1."
    )


def _check_partial_area(max_fpr: Any) -> None:
    """Raise if `max_fpr` is given for more than two classes."""
    if max_fpr is not None and max_fpr != 1:
        raise ValueError(
            "Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, received "
            f"`max_fpr={max_fpr}` instead"
        )


def _as_score_table(y_true: Any, y_score: Any, sample_weight: Any) -> ScoreTable:
    """Return labels, scores and weights as arrays; a single column of labels becomes a vector."""
    scores = as_numbers("y_score", y_score, finite=False)
    labels = as_target("y_true", y_true, sparse=True)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    return ScoreTable(labels, scores, as_weight_column(sample_weight))


def _check_table_kind(table: ScoreTable, most_columns: int | None = None) -> str:
    """Return the type of the labels; raise unless each label has a column of scores.

    Labels of two classes have the type "multiclass" if there are more than `most_columns` columns of scores.
    """
    check_same_rows(*table)
    kind = label_kind(table.labels)
    if kind not in ("binary", "multiclass", INDICATOR):
        raise ValueError(f"{kind} format is not supported")
    check_all_finite("y_score", table.scores)
    as_row_weights(table.weights, table.labels.shape[0])
    if kind == "binary":
        if most_columns is None or table.scores.ndim < 2 or table.scores.shape[1] <= most_columns:
            as_column(table.scores)
        return "multiclass"
    if kind == INDICATOR and table.scores.shape != table.labels.shape:
        raise ValueError(f"y_score must have the shape of y_true, {table.labels.shape}, got {table.scores.shape}")
    return kind


def _check_class_columns(table: ScoreTable) -> NDArray[Any]:
    """Return the classes that occur; raise unless each class has a column of scores."""
    present = distinct_labels(table.labels)
    if table.scores.shape != (table.labels.size, present.size):
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={table.scores.shape}`."
        )
    return present


def _check_class_scores(table: ScoreTable, labels: Any, multi_class: str, average: str | None) -> NDArray[Any]:
    """Return the classes of the columns; raise unless options, labels and class probabilities are compatible."""
    y_true, y_score = table.labels, table.scores
    if multi_class == "raise":
        raise ValueError("multi_class must be in ('ovo', 'ovr')")
    if y_score.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={y_score.shape}`."
        )
    if not np.allclose(1, y_score @ np.ones(y_score.shape[1])):
        raise ValueError(
            "Target scores need to be probabilities for multiclass roc_auc, i.e. they should sum up to 1.0 over classes"
        )
    options = ("macro", "weighted", None) if multi_class == "ovo" else ("micro", "macro", "weighted", None)
    if average not in options:
        raise ValueError(f"average must be one of {options} for multiclass problems")
    if average is None and multi_class == "ovo":
        raise NotImplementedError("average=None is not implemented for multi_class='ovo'.")
    present = distinct_labels(y_true)
    if labels is None:
        if present.size != y_score.shape[1]:
            raise ValueError(
                f"Number of classes in y_true not equal to the number of columns in 'y_score': {present.size} and "
                f"{y_score.shape[1]}"
            )
        return present
    classes = _as_ordered_classes(labels)
    if classes.size != y_score.shape[1]:
        raise ValueError(
            f"Number of given labels, {classes.size}, not equal to the number of columns in 'y_score', "
            f"{y_score.shape[1]}"
        )
    if set(present.tolist()) - set(classes.tolist()):
        raise ValueError("'y_true' contains labels not in parameter 'labels'")
    return classes


def _as_indicator(table: ScoreTable) -> NDArray[np.bool_]:
    """Return which labels each row has, from an indicator matrix."""
    distinct = distinct_labels(table.labels.reshape(-1))
    check_default_pos_label(distinct)
    return np.asarray(table.labels == 1)


def _as_ordered_classes(labels: Any) -> NDArray[Any]:
    """Return the labels of the columns; raise unless they are distinct and ascending."""
    named = as_column(as_named_labels(labels))
    classes = distinct_labels(named)
    if classes.size != named.size:
        raise ValueError("Parameter 'labels' must be unique")
    if not np.array_equal(classes, named):
        raise ValueError("Parameter 'labels' must be ordered")
    return classes
