"""Areas under curves and their averages over classes, as `sklearn.metrics` has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._validation import drop_in as check
from fastevals.measure.many.classes.scores import class_scores
from fastevals.metrics._averages import (
    AVERAGE_PRECISION,
    ROC_AUC,
    average_over_classes,
    average_over_labels,
    average_over_pairs,
    scores_of_classes,
    value_of,
)
from fastevals.metrics._binary import greater_label_ranking, pos_label_ranking, two_class_ranking

__all__ = ["average_precision_score", "roc_auc_score"]

AVERAGE = check.any_of("macro", "micro", "samples", "weighted", None)
MULTI_CLASS = check.any_of("raise", "ovr", "ovo")
# Averages of values of each class or pair.
OVER_CLASSES: dict[str, tuple[str | None, ...]] = {"ovr": ("macro", "weighted", None), "ovo": ("macro", "weighted")}


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
    """Compute the area under the ROC curve, as scikit-learn's `roc_auc_score`.

    Without weights it is the ratio of two integers, rounded once; with them, never above 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two classes, the greater positive; of more with `multi_class`; or, as 0 and 1, which a row has.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, higher for the positive class; a column for each of many classes, then probabilities unless a row
        may have many labels.
    average : {"macro", "micro", "samples", "weighted", None}
        Over classes: the mean; the area of all ranked as one; the mean of each row's area over its labels; the mean by
        the number of rows of a class; or each area. Of no effect with two classes.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. They go with ``multi_class="ovo"`` too.
    max_fpr : float in (0, 1], optional
        Only the area where FPR is at most this, scaled so that chance is 0.5.
    multi_class : {"raise", "ovr", "ovo"}
        Of many classes, each against the rest or each pair (Hand and Till 2001, doi:10.1023/A:1010920819831).
    labels : array-like of shape (n_classes,), optional
        The classes of the columns, sorted.

    Returns
    -------
    float or ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If an argument is not as described.
    NotImplementedError
        If ``average=None`` goes with ``multi_class="ovo"``.

    Warns
    -----
    UndefinedMetricWarning
        If a class has no rows, or all; its area is NaN.

    Examples
    --------
    >>> from fastevals.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    check.check_parameters(
        "roc_auc_score",
        average=(average, AVERAGE),
        sample_weight=(sample_weight, check.ARRAY_OR_NONE),
        max_fpr=(max_fpr, check.MAX_FPR),
        multi_class=(multi_class, MULTI_CLASS),
        labels=(labels, check.ARRAY_OR_NONE),
    )
    max_fpr = None if max_fpr is None else float(max_fpr)
    table = check.as_score_table(y_true, y_score, sample_weight)
    rows = check.only_column(table)
    if rows is not None:
        ranking, kind = greater_label_ranking(rows)
        if ranking is not None:
            return value_of(ROC_AUC, ranking, max_fpr=max_fpr)
    else:
        if average in OVER_CLASSES.get(multi_class, ()) and max_fpr in (None, 1):
            scores = scores_of_classes(table, labels, probabilities=True)
            if scores is not None:
                if multi_class == "ovo":
                    return np.float64(average_over_pairs(scores, average))
                return average_over_classes(ROC_AUC, scores, average)
        kind = check.check_table_kind(table, most_columns=2)
    if kind == check.INDICATOR:
        return average_over_labels(ROC_AUC, table, average, max_fpr=max_fpr)
    check.check_partial_area(max_fpr)
    classes = check.check_class_scores(table, labels, multi_class, average)
    if multi_class == "ovo":
        return np.float64(
            average_over_pairs(class_scores(table.labels, table.scores, classes, table.weights)[1], average)
        )
    return average_over_labels(ROC_AUC, table, average, classes)


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Compute average precision, the sum of recall gained times precision, as scikit-learn's `average_precision_score`.

    It is never above 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels of two classes or more; or, as 0 and 1, which a row has.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores, higher for the positive class; a column for each of many classes.
    average : {"macro", "micro", "samples", "weighted", None}
        Over classes, as for `roc_auc_score`.
    pos_label : label
        The positive one of two classes.
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
    check.check_parameters(
        "average_precision_score",
        average=(average, AVERAGE),
        pos_label=(pos_label, check.LABEL),
        sample_weight=(sample_weight, check.ARRAY_OR_NONE),
    )
    table = check.as_score_table(y_true, y_score, sample_weight)
    rows = check.only_column(table)
    if rows is None:
        scores = scores_of_classes(table) if pos_label == 1 and average in OVER_CLASSES["ovr"] else None
        if scores is not None:
            return average_over_classes(AVERAGE_PRECISION, scores, average)
        kind = check.check_table_kind(table)
    else:
        ranking, kind = two_class_ranking(rows, lambda found: pos_label if pos_label in found else None)
        if ranking is None and kind == "binary":
            check.check_known_pos_label(pos_label, rows.labels)
            ranking = pos_label_ranking(rows, pos_label)
        if ranking is not None:
            return value_of(AVERAGE_PRECISION, ranking)
    if pos_label != 1:
        check.raise_pos_label_fixed(kind)
    classes = None if kind == check.INDICATOR else check.check_class_columns(table)
    return average_over_labels(AVERAGE_PRECISION, table, average, classes)
