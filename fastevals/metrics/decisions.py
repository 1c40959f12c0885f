"""Metrics that compare the score of a row's true class with the other classes' scores, as in `sklearn.metrics`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.label_ranking import count_ahead, hinge_losses
from fastevals._validation.labels import check_comparable_labels, check_known_labels
from fastevals.many.query_sums import as_ranks
from fastevals.measure.class_scores import number_classes
from fastevals.metrics._input import (
    as_column,
    as_named_labels,
    as_numbers,
    as_row_weights,
    as_target,
    check_all_finite,
    check_same_rows,
    check_some_labels,
    distinct_labels,
    first_labels,
    label_kind,
)
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, Rule, check_parameters, warn_ill_defined
from fastevals.metrics._probabilities import flags_of
from fastevals.metrics._rows import mean_of_rows, sum_losses, total_weight, write_rows

POSITIVE = Rule("an int in the range [1, inf)", lambda value: isinstance(value, numbers.Integral) and int(value) >= 1)


def top_k_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Compute the share of rows whose class is among the k highest scores, like scikit-learn's `top_k_accuracy_score`.

    If the scores of classes tie, later classes rank higher.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores. With two labels, scores of the greater label; with more, one column per label in sorted order.
    k : int
        Number of highest-scoring classes. With ``k=1`` and two labels, the greater label is predicted if the score is
        above a threshold: 0.5 if all scores are in [0, 1], otherwise 0.
    normalize : bool
        Whether to return the share of right rows; otherwise return their number, or the sum of their weights.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    labels : array-like of shape (n_classes,), optional
        The labels of the columns, sorted; by default the labels that occur.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If there are at most k classes, so that every row is right.

    Examples
    --------
    >>> from fastevals.metrics import top_k_accuracy_score
    >>> top_k_accuracy_score([0, 1, 2, 2], [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]])
    0.75
    """
    check_parameters(
        "top_k_accuracy_score",
        k=(k, POSITIVE),
        normalize=(normalize, FLAG),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        labels=(labels, ARRAY_OR_NONE),
    )
    target = as_column(as_target("y_true", y_true))
    scores = as_numbers("y_score", y_score, finite=False)
    names = None if labels is None else as_column(as_named_labels(labels))
    two = _check_score_shape(target, scores, names)
    scores = as_column(scores) if two else scores
    check_same_rows(target, scores, sample_weight)
    weights = as_row_weights(sample_weight, target.size, all_zero=not normalize)
    n_classes = 2 if two else scores.shape[1]
    if names is not None:
        _check_sorted_names(names, n_classes)
    try:
        seen = first_labels(target) if two and names is None else []
        if len(seen) == 2:
            codes = flags_of(target, max(seen), min(seen))
        else:
            codes = number_classes(target, names, n_classes)[1]
    except ValueError:
        _check_known_classes(target, names, n_classes)
        raise
    if two:
        check_all_finite("y_score", scores)
        threshold = 0.5 if scores.min() >= 0 and scores.max() <= 1 else 0
        hits = ((scores > threshold) == codes) | (k > 1)
    else:
        hits = write_rows(count_ahead, "y_score", as_ranks("y_score", scores), codes) < k
    if k >= n_classes:
        warn_ill_defined(
            f"'k' ({k}) greater than or equal to 'n_classes' ({n_classes}) will result in a perfect score and is "
            "therefore meaningless."
        )
    if normalize:
        return mean_of_rows(hits, weights)
    return float(np.count_nonzero(hits) if weights is None else weights @ hits)


def hinge_loss(
    y_true: ArrayLike,
    pred_decision: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean amount by which margins fall short of 1, like scikit-learn's `hinge_loss`.

    A row's margin is the score of its true class minus the highest score of another class. With two classes, the margin
    is the score if the row has the greater label, otherwise minus the score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels. If only one label occurs and `labels` is not given, that label is the negative class.
    pred_decision : array-like of shape (n_samples,) or (n_samples, n_classes)
        Finite scores. With two labels, scores of the greater label; with more, one column per label in sorted order.
    labels : array-like, optional
        All labels; by default the labels that occur.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float
        The mean over rows.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Crammer and Singer (2001), "On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines", JMLR 2.

    Examples
    --------
    >>> from fastevals.metrics import hinge_loss
    >>> hinge_loss([-1, 1, 1], [-2.2, 2.4, 0.1])
    0.3
    """
    check_parameters("hinge_loss", labels=(labels, ARRAY_OR_NONE), sample_weight=(sample_weight, ARRAY_OR_NONE))
    decisions = as_numbers("pred_decision", pred_decision, finite=False)
    target = as_column(as_target("y_true", y_true))
    check_same_rows(target, decisions, sample_weight)
    weights = as_row_weights(sample_weight, target.size)
    kind = label_kind(target)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"Unknown label type: {kind}")
    names = None if labels is None else distinct_labels(as_named_labels(labels).reshape(-1))
    if names is not None:
        check_some_labels(names)
        check_comparable_labels(y_true=target, labels=names)
    if names.size > 2 if names is not None else kind == "multiclass":
        codes = _codes_of_decisions(target, decisions, names)
        return mean_of_rows(write_rows(hinge_losses, "pred_decision", decisions, codes), weights)
    decisions = as_column(decisions)
    check_all_finite("pred_decision", decisions)
    known = sorted(first_labels(target)) if names is None else names.tolist()
    try:
        positive = flags_of(target, known[-1], known[0]) * np.uint8(len(known) > 1)
    except ValueError:
        if names is not None:
            check_known_labels(distinct_labels(target), names)
        raise

    def losses(rows: slice) -> NDArray[np.float64]:
        short = np.multiply(decisions[rows], 1 - 2.0 * positive[rows], dtype=np.float64)
        short += 1
        return np.maximum(short, 0, out=short)  # type: ignore[no-any-return]

    return sum_losses(losses, target.size, weights) / total_weight(target.size, weights)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_score_shape(target: NDArray[Any], scores: NDArray[Any], names: NDArray[Any] | None) -> bool:
    """Return whether there are two classes; raise unless scores have one column (two classes) or one per class."""
    kind = label_kind(target)
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"y type must be 'binary' or 'multiclass', got '{kind}' instead.")
    if kind == "binary" and (names is None or names.size <= 2):
        if scores.ndim == 2 and scores.shape[1] != 1:
            raise ValueError(
                f"`y_true` is binary while y_score is 2d with {scores.shape[1]} classes. If `y_true` does not contain "
                "all the labels, `labels` must be provided."
            )
        return True
    if scores.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. Got "
            f"`y_score.shape={scores.shape}`."
        )
    return False


def _check_sorted_names(names: NDArray[Any], n_classes: int) -> None:
    """Raise unless there is one label per column, and labels are distinct and sorted."""
    classes = distinct_labels(names)
    if classes.size != names.size:
        raise ValueError("Parameter 'labels' must be unique.")
    if not np.array_equal(classes, names):
        raise ValueError("Parameter 'labels' must be ordered.")
    if classes.size != n_classes:
        raise ValueError(
            f"Number of given labels ({classes.size}) not equal to the number of classes in 'y_score' ({n_classes})."
        )


def _check_known_classes(target: NDArray[Any], names: NDArray[Any] | None, n_classes: int) -> None:
    """Raise if a label is not among `names` or, without `names`, if there are not as many labels as columns."""
    present = distinct_labels(target)
    if names is None and present.size != n_classes:
        raise ValueError(
            f"Number of classes in 'y_true' ({present.size}) not equal to the number of classes in 'y_score' "
            f"({n_classes}).You can provide a list of all known classes by assigning it to the `labels` parameter."
        )
    if names is not None and not set(present.tolist()) <= set(names.tolist()):
        raise ValueError("'y_true' contains labels not in parameter 'labels'.")


def _codes_of_decisions(target: NDArray[Any], decisions: NDArray[Any], names: NDArray[Any] | None) -> NDArray[Any]:
    """Return the class number of each row; raise unless each class has a column."""
    shape = decisions.shape
    try:
        if len(shape) == 2 and (names is None or names.size == shape[1]):
            return number_classes(target, names, shape[1])[1]
    except ValueError:
        if names is None and distinct_labels(target).size != shape[1]:
            raise ValueError("Please include all labels in y_true or pass labels as third argument") from None
        raise
    n_classes = (distinct_labels(target) if names is None else names).size
    expected = f"shape must be (n_samples, n_classes), that is ({target.size}, {n_classes}). Got: {shape}"
    if len(shape) < 2:
        raise ValueError(
            f"The shape of pred_decision cannot be 1d arraywith a multiclass target. pred_decision {expected}"
        )
    raise ValueError(
        "The shape of pred_decision is not consistent with the number of classes. With a multiclass target, "
        f"pred_decision {expected}"
    )
