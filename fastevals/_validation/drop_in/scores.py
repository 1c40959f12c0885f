"""Scores and labels to rank: what a ranking refused is looked at again, for scikit-learn's words."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import check_all_strings
from fastevals._validation.drop_in.arrays import (
    as_column,
    as_dense,
    as_numbers,
    as_row_weights,
    check_all_finite,
    check_same_rows,
)
from fastevals._validation.drop_in.parameters import Rule
from fastevals._validation.drop_in.targets import (
    INDICATOR,
    as_named_labels,
    as_target,
    check_default_pos_label,
    distinct_labels,
    target_type,
)
from fastevals._validation.labels import as_labels, distinct_pair

__all__ = [
    "LABEL",
    "MAX_FPR",
    "NO_POSITIVES",
    "ONE_CLASS",
    "ScoreTable",
    "ScoredRows",
    "as_indicator",
    "as_ordered_classes",
    "as_points",
    "as_score_table",
    "as_scored_rows",
    "check_both_classes",
    "check_class_columns",
    "check_class_scores",
    "check_known_pos_label",
    "check_one_way",
    "check_partial_area",
    "check_row_kind",
    "check_table_kind",
    "first_labels",
    "label_kind",
    "only_column",
    "raise_no_pos_label",
    "raise_pos_label_fixed",
]

NO_POSITIVES = "No positive class found in y_true, recall is set to one for all thresholds."
ONE_CLASS = "Only one class is present in y_true. ROC AUC score is not defined in that case."
LABEL = Rule(
    "an instance of 'float', an instance of 'int', an instance of 'bool' or an instance of 'str'",
    lambda value: isinstance(value, (numbers.Real, str, np.bool_)),
)
MAX_FPR = Rule(
    "a float in the range (0.0, 1.0] or None",
    lambda value: value is None or (isinstance(value, numbers.Real) and 0 < float(value) <= 1),
)


class ScoreTable(NamedTuple):
    """Labels, or an indicator of many labels a row, with columns of scores; values are not looked at yet."""

    labels: NDArray[Any]
    scores: NDArray[Any]
    weights: NDArray[Any] | None


class ScoredRows(ScoreTable):
    """One label, score and weight a row."""


def as_scored_rows(y_true: Any, y_score: Any, sample_weight: Any) -> ScoredRows:
    """Give vectors, of columns too."""
    scores = as_column(as_numbers("y_score", y_score, finite=False))
    labels = as_column(as_target("y_true", y_true))
    return ScoredRows(
        labels, scores, None if sample_weight is None else as_column(as_dense("sample_weight", sample_weight))
    )


def first_labels(labels: NDArray[Any]) -> list[Any]:
    """Give the first label and the first that differs from it; raise if one is no whole number, or no text among it."""
    found = distinct_pair(labels) if labels.size else []
    if labels.dtype == object and not all(isinstance(label, (str, bytes)) for label in found):
        check_all_strings("y_true", labels)
    if any(isinstance(label, float) and not label.is_integer() for label in found):
        raise ValueError(f"labels must be whole numbers, got {found}")
    return found


def label_kind(labels: NDArray[Any]) -> str:
    """Tell what labels are, in scikit-learn's words; raise if some among text are missing or of other types."""
    kind = target_type("y_true", labels)
    if labels.dtype == object and labels.ndim == 1 and kind != "unknown":
        as_labels("y_true", labels)
    return kind


def check_row_kind(rows: ScoredRows) -> str:
    """Tell what the labels are; raise if rows can't be ranked by any of their labels."""
    check_same_rows(rows.labels, rows.scores, rows.weights)
    kind = label_kind(rows.labels)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"{kind} format is not supported")
    check_all_finite("y_score", rows.scores)
    as_row_weights(rows.weights, rows.labels.size)
    return kind


def raise_no_pos_label(kind: str, labels: NDArray[Any]) -> NoReturn:
    """Say why no label is the positive one by default."""
    if kind != "binary":
        raise ValueError(f"{kind} format is not supported")
    check_default_pos_label(labels)
    raise ValueError("pos_label is not specified")


def check_known_pos_label(pos_label: Any, labels: NDArray[Any]) -> None:
    """Raise if there are two labels, and this is none of them."""
    present = distinct_labels(labels)
    if present.size == 2 and pos_label not in present.tolist():
        raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {present}")


def raise_pos_label_fixed(kind: str) -> NoReturn:
    """Say that only rows of two classes have a label to choose."""
    raise ValueError(
        f"Parameter pos_label is fixed to 1 for {kind} y_true. Do not set pos_label or set pos_label to 1."
    )


def check_both_classes(pos_label: Any, y_true: Any) -> None:
    """Raise unless rows of both classes are there, of whatever weight, as a DET curve needs them."""
    labels = as_column(as_target("y_true", y_true))
    found = first_labels(labels)
    if len(found) < 2:
        raise ValueError(
            "Only one class is present in y_true. Detection error tradeoff curve is not defined in that case."
        )
    if pos_label is not None and not (labels == pos_label).any():
        raise ValueError(f"pos_label={pos_label!r} is not a label of y_true, which has {found} first")


# Several columns of scores ----------------------------------------------------------------------------------------


def check_partial_area(max_fpr: Any) -> None:
    """Raise if part of an area is asked for where there are many classes."""
    if max_fpr is not None and max_fpr != 1:
        raise ValueError(
            "Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, received "
            f"`max_fpr={max_fpr}` instead"
        )


def as_score_table(y_true: Any, y_score: Any, sample_weight: Any) -> ScoreTable:
    """Give arrays of one or two dimensions; a column of labels as a vector."""
    scores = as_numbers("y_score", y_score, finite=False)
    labels = as_target("y_true", y_true, sparse=True)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    return ScoreTable(
        labels, scores, None if sample_weight is None else as_column(as_dense("sample_weight", sample_weight))
    )


def only_column(table: ScoreTable) -> ScoredRows | None:
    """Give rows of one label and one score, where that is what there is."""
    labels, scores, weights = table
    one = labels.ndim == 1 and (scores.ndim == 1 or (scores.ndim == 2 and scores.shape[1] == 1))
    return ScoredRows(labels, scores.reshape(-1), weights) if one else None


def check_table_kind(table: ScoreTable, most_columns: int | None = None) -> str:
    """Tell what the labels are; raise unless each has a column of scores.

    Two classes are taken for some of many where there are more columns than `most_columns`.
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


def as_indicator(table: ScoreTable) -> NDArray[np.bool_]:
    """Tell which labels each row has."""
    distinct = distinct_labels(table.labels.reshape(-1))
    check_default_pos_label(distinct)
    return np.asarray(table.labels == 1)


def check_class_columns(table: ScoreTable) -> NDArray[Any]:
    """Give the classes that occur; raise unless each has a column of scores."""
    present = distinct_labels(table.labels)
    if table.scores.shape != (table.labels.size, present.size):
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={table.scores.shape}`."
        )
    return present


def check_class_scores(table: ScoreTable, labels: Any, multi_class: str, average: str | None) -> NDArray[Any]:
    """Give the classes of the columns; raise unless options, labels and probabilities of classes go together."""
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
    classes = as_ordered_classes(labels)
    if classes.size != y_score.shape[1]:
        raise ValueError(
            f"Number of given labels, {classes.size}, not equal to the number of columns in 'y_score', "
            f"{y_score.shape[1]}"
        )
    if set(present.tolist()) - set(classes.tolist()):
        raise ValueError("'y_true' contains labels not in parameter 'labels'")
    return classes


def as_ordered_classes(labels: Any) -> NDArray[Any]:
    """Give the labels of the columns; raise unless they ascend."""
    named = as_column(as_named_labels(labels))
    classes = distinct_labels(named)
    if classes.size != named.size:
        raise ValueError("Parameter 'labels' must be unique")
    if not np.array_equal(classes, named):
        raise ValueError("Parameter 'labels' must be ordered")
    return classes


# Points -----------------------------------------------------------------------------------------------------------


def as_points(x: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give two points or more as two vectors."""
    places, heights = as_dense("x", x), as_dense("y", y)
    check_same_rows(places, heights)
    places, heights = as_column(places), as_column(heights)
    if places.size < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {places.shape}")
    return places, heights


def check_one_way(places: NDArray[Any], steps: NDArray[Any]) -> None:
    """Raise if places go both up and down."""
    if (steps < 0).any() and (steps > 0).any():
        raise ValueError(f"x is neither increasing nor decreasing : {places}.")
