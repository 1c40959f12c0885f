"""Losses of predicted probabilities, as in `sklearn.metrics`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._validation.arrays import in_usual_unit
from fastevals.measure.cells import ratio
from fastevals.metrics._input import as_target
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, POS_LABEL, Rule, check_parameters
from fastevals.metrics._probabilities import (
    as_probabilities,
    class_rows,
    class_weights,
    is_one_row,
    log_losses,
    positive_rows,
    renamed_argument,
    squared_errors,
)
from fastevals.metrics._rows import sum_losses, total_weight

EPS = np.finfo(np.float64).eps
SCALE_BY_HALF = Rule(
    "an instance of 'bool' or a str among {'auto'}",
    lambda value: isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "auto"),
)


def log_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike | None = None,
    *,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: Any = "deprecated",
) -> float:
    """Compute the mean of -log(probability of the true label), like scikit-learn's `log_loss`.

    Probabilities are clipped to [eps, 1 - eps], where eps is the machine epsilon of their dtype.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, or an indicator matrix of 0s and 1s.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        With two labels, probabilities of the greater label; with more, one column of probabilities per label, in sorted
        order.
    normalize : bool
        Whether to return the mean over rows; otherwise return the sum.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    labels : array-like of shape (n_classes,), optional
        The labels of the columns; by default the labels that occur.
    y_pred : array-like
        The old name of `y_proba`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If the probabilities of a row don't add up to 1, or `labels` are not sorted.
    FutureWarning
        If `y_pred` is used.

    Examples
    --------
    >>> from fastevals.metrics import log_loss
    >>> log_loss([1, 0, 1], [0.5, 0.5, 1.0])
    0.46209812037329695
    """
    check_parameters(
        "log_loss",
        normalize=(normalize, FLAG),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        labels=(labels, ARRAY_OR_NONE),
    )
    p, true, weights = class_rows(y_true, as_probabilities(renamed_argument(y_proba, y_pred)), sample_weight, labels)
    if normalize and weights is not None:
        weights = in_usual_unit(weights)
    total = sum_losses(log_losses(p, true), p.shape[0], weights)
    return total / total_weight(p.shape[0], weights) if normalize else total


def brier_score_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    scale_by_half: Any = "auto",
) -> float:
    """Compute the mean squared difference between probabilities and outcomes, like scikit-learn's `brier_score_loss`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels, or an indicator matrix of 0s and 1s.
    y_proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive label, or one column per label in sorted order.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    pos_label : label, optional
        The positive label, if there are two: by default 1 for labels 0/1 and -1/1, otherwise the greater number.
    labels : array-like of shape (n_classes,), optional
        The labels of the columns; by default the labels that occur.
    scale_by_half : bool or "auto"
        Whether to halve the sum over classes; "auto" halves it if there are two classes.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UserWarning
        If the probabilities of a row don't add up to 1, or `labels` are not sorted.

    References
    ----------
    Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.

    Examples
    --------
    >>> from fastevals.metrics import brier_score_loss
    >>> brier_score_loss([1, 0, 1], [0.5, 0.5, 1.0])
    0.16666666666666666
    """
    check_parameters(
        "brier_score_loss",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        pos_label=(pos_label, POS_LABEL),
        labels=(labels, ARRAY_OR_NONE),
        scale_by_half=(scale_by_half, SCALE_BY_HALF),
    )
    p, true, weights = positive_rows(y_true, as_probabilities(y_proba), sample_weight, pos_label, labels)
    halved = (p.ndim == 1 or p.shape[1] < 3) if isinstance(scale_by_half, str) else scale_by_half
    if weights is not None:
        weights = in_usual_unit(weights)
    mean = sum_losses(squared_errors(p, true), p.shape[0], weights) / total_weight(p.shape[0], weights)
    return mean / 2 if halved else mean


def d2_log_loss_score(
    y_true: ArrayLike,
    y_proba: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    y_pred: Any = "deprecated",
) -> float:
    """Compute the skill score of the log loss over predicting class shares, like scikit-learn's `d2_log_loss_score`.

    It is 1 - L / L0, where L is the log loss, and L0 the log loss of predicting the class shares.

    Parameters
    ----------
    y_true, y_proba, sample_weight, labels, y_pred
        As for `log_loss`.

    Returns
    -------
    float
        At most 1; 0 if the probabilities are the class shares; NaN if there is only one row.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If there is only one row.
    UserWarning, FutureWarning
        As for `log_loss`.

    Examples
    --------
    >>> from fastevals.metrics import d2_log_loss_score
    >>> round(d2_log_loss_score([1, 0, 1, 0], [0.5, 0.5, 1.0, 0.5]), 9)
    0.25
    """
    check_parameters("d2_log_loss_score", sample_weight=(sample_weight, ARRAY_OR_NONE), labels=(labels, ARRAY_OR_NONE))
    given, target = as_probabilities(renamed_argument(y_proba, y_pred)), as_target("y_true", y_true)
    if is_one_row(given, target, sample_weight):
        return math.nan
    p, true, weights = class_rows(target, given, sample_weight, labels)
    if weights is not None:
        weights = in_usual_unit(weights)
    own, others = class_weights(p, true, weights)
    null = -float(own @ np.log(np.clip(own / (own + others), EPS, 1 - EPS)))
    return 1 - sum_losses(log_losses(p, true), p.shape[0], weights) / null


def d2_brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
) -> float:
    """Compute the Brier skill score relative to predicting class shares, like scikit-learn's `d2_brier_score`.

    It is 1 - B / B0, where B is the Brier score, and B0 the Brier score of predicting the class shares.

    Parameters
    ----------
    y_true, y_proba, sample_weight, pos_label, labels
        As for `brier_score_loss`.

    Returns
    -------
    float
        At most 1; 0 if the probabilities are the class shares; NaN if there is only one row; -inf or NaN if one class
        has all rows.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If there is only one row.
    UserWarning
        As for `brier_score_loss`.

    Examples
    --------
    >>> from fastevals.metrics import d2_brier_score
    >>> d2_brier_score([1, 0, 1, 0], [0.5, 0.5, 1.0, 0.5])
    0.25
    """
    check_parameters(
        "d2_brier_score",
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        pos_label=(pos_label, POS_LABEL),
        labels=(labels, ARRAY_OR_NONE),
    )
    given, target = as_probabilities(y_proba), as_target("y_true", y_true)
    if is_one_row(given, target, sample_weight):
        return math.nan
    p, true, weights = positive_rows(target, given, sample_weight, pos_label, labels)
    if weights is not None:
        weights = in_usual_unit(weights)
    own, others = class_weights(p, true, weights)
    null = float((own * (others / (own + others))).sum())
    return 1 - float(ratio(sum_losses(squared_errors(p, true), p.shape[0], weights), null))
