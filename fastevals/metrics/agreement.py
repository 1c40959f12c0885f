"""Metrics over all labels: accuracy and similar metrics, and agreement beyond chance."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import in_usual_unit
from fastevals.counting.labels import DENSE
from fastevals.measure import cells
from fastevals.measure.confusion import BeyondChance, ConfusionMatrix
from fastevals.metrics._input import as_requested, warn_one_label
from fastevals.metrics._labels import Indicators, LabelPairs, Pairs, count_classes, count_labels
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, Rule, any_of, check_parameters, warn, warn_ill_defined
from fastevals.metrics._rows import sums_of_others

MINUS_ONE_TO_ONE = Rule(
    "a float in the range [-1.0, 1.0] or numpy.nan",
    lambda value: _is_number(value) and (math.isnan(value) or -1 <= value <= 1),
)

SCALES = any_of("linear", "quadratic", None)


def _read(
    function: str, y_true: Any, y_pred: Any, sample_weight: Any, **flags: tuple[Any, Rule]
) -> LabelPairs | Indicators:
    check_parameters(function, sample_weight=(sample_weight, ARRAY_OR_NONE), **flags)
    return count_labels(y_true, y_pred, sample_weight)


def accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the share of rows predicted right, like scikit-learn's `accuracy_score`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or array or sparse matrix of shape (n_samples, n_labels)
        Labels (whole numbers or strings), or indicators of several labels per row, all of which must be right.
    normalize : bool
        Whether to return the share of right rows; otherwise return their number, or the sum of their weights.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float
        In [0, 1] if `normalize`.

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, or an option is not as described.

    Examples
    --------
    >>> from fastevals.metrics import accuracy_score
    >>> accuracy_score(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """
    counted = _read("accuracy_score", y_true, y_pred, sample_weight, normalize=(normalize, FLAG))
    return float(counted.n_right / counted.total if normalize else counted.n_right)


def zero_one_loss(
    y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    """Compute the share of rows predicted wrong, like scikit-learn's `zero_one_loss`.

    The share is rounded only once: with one wrong row of ten it is 0.1, while 1 - 0.9 is 0.09999999999999998.
    Parameters and errors are the same as for `accuracy_score`.

    Returns
    -------
    float
        In [0, 1] if `normalize`; otherwise the number of wrong rows, or the sum of their weights.

    Examples
    --------
    >>> from fastevals.metrics import zero_one_loss
    >>> zero_one_loss([0, 1, 2, 2], [0, 1, 2, 1]), zero_one_loss([0, 1, 2, 2], [0, 1, 2, 1], normalize=False)
    (0.25, 1.0)
    """
    counted = _read("zero_one_loss", y_true, y_pred, sample_weight, normalize=(normalize, FLAG))
    if normalize:
        return float(counted.n_wrong / counted.total)
    return float(counted.n_wrong) if counted.weights is None else np.float64(counted.n_wrong)


def hamming_loss(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the share of wrong labels, like scikit-learn's `hamming_loss`.

    Parameters and errors are the same as for `accuracy_score`. With one label per row, it is the share of wrong rows.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from fastevals.metrics import hamming_loss
    >>> hamming_loss([[0, 1], [1, 1]], [[0, 0], [1, 1]])
    0.25
    """
    counted = _read("hamming_loss", y_true, y_pred, sample_weight)
    if isinstance(counted, Indicators):
        loss = counted.n_wrong_marks / counted.n_marks
        return float(loss) if counted.weights is None else loss  # the types that scikit-learn returns
    return float(counted.n_wrong / counted.total)


def balanced_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None, adjusted: bool = False
) -> float:
    """Compute the mean recall of the true classes, like scikit-learn's `balanced_accuracy_score`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels: whole numbers or strings.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    adjusted : bool
        Whether to scale the score so that chance gives 0 and perfect predictions give 1.

    Returns
    -------
    float
        At most 1.

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, or an option is not as described.

    Warns
    -----
    UserWarning
        If there is only one class, or if a class is predicted but never true; such a class is left out.

    Examples
    --------
    >>> from fastevals.metrics import balanced_accuracy_score
    >>> balanced_accuracy_score([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1])
    0.625
    """
    flags = {"sample_weight": (sample_weight, ARRAY_OR_NONE), "adjusted": (adjusted, FLAG)}
    check_parameters("balanced_accuracy_score", **flags)
    counted = count_classes(y_true, y_pred, sample_weight)
    if counted.labels.size == 1:
        warn_one_label()
    recalls = cells.recall(counted.cells())
    undefined = np.isnan(recalls)
    if undefined.any():
        warn("y_pred contains classes not in y_true")
        recalls = recalls[~undefined]
    score = recalls.mean()
    if adjusted:
        chance = np.float64(1 / recalls.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = (score - chance) / (1 - chance)
    return float(score)


def matthews_corrcoef(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Compute the correlation of true and predicted classes, like scikit-learn's `matthews_corrcoef`.

    It is 0 if the true or the predicted classes are constant.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels: whole numbers or strings.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible.

    References
    ----------
    Matthews (1975), doi:10.1016/0005-2795(75)90109-9; for K classes, Gorodkin (2004),
    doi:10.1016/j.compbiolchem.2004.09.006.

    Examples
    --------
    >>> from fastevals.metrics import matthews_corrcoef
    >>> matthews_corrcoef([1, 1, 1, -1], [1, -1, 1, 1])
    -0.3333333333333333
    """
    check_parameters("matthews_corrcoef", sample_weight=(sample_weight, ARRAY_OR_NONE))
    counted = count_classes(y_true, y_pred, sample_weight)
    if counted.labels.size == 1:
        warn_one_label()
    at = counted.cells()
    if min(np.count_nonzero(at.tp + at.fn), np.count_nonzero(at.tp + at.fp)) < 2:
        return 0.0
    if counted.labels.size**2 <= DENSE:
        return float(ConfusionMatrix(counted.matrix()).matthews())
    return float(_agreement(counted.pairs()).matthews())


def cohen_kappa_score(
    y1: ArrayLike,
    y2: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    weights: str | None = None,
    sample_weight: ArrayLike | None = None,
    replace_undefined_by: float = math.nan,
) -> float:
    """Compute the agreement of two raters beyond chance, like scikit-learn's `cohen_kappa_score`.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_samples,)
        Labels: whole numbers or strings.
    labels : array-like, optional
        The labels to compare, in the order that `weights` uses; rows with other labels are left out. By default all
        labels, sorted.
    weights : {None, "linear", "quadratic"}
        How the cost of a disagreement grows with the distance between the labels; None: all disagreements cost the
        same.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    replace_undefined_by : float
        Value to return if kappa is 0 / 0: in [-1, 1], or NaN.

    Returns
    -------
    float
        In [-1, 1].

    Raises
    ------
    ValueError
        If the two raters' labels are incompatible, or an option is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If both raters use the same single label, or no row is left.

    References
    ----------
    Cohen (1960), doi:10.1177/001316446002000104; (1968), doi:10.1037/h0026256.

    Examples
    --------
    >>> from fastevals.metrics import cohen_kappa_score
    >>> cohen_kappa_score([0, 1, 2, 2], [0, 1, 1, 2]), cohen_kappa_score([0, 1, 2, 2], [0, 1, 1, 2], weights="linear")
    (0.6363636363636364, 0.7142857142857143)
    """
    check_parameters(
        "cohen_kappa_score",
        labels=(labels, ARRAY_OR_NONE),
        weights=(weights, SCALES),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        replace_undefined_by=(replace_undefined_by, MINUS_ONE_TO_ONE),
    )
    counted = count_classes(y1, y2, sample_weight, names=("y1", "y2"))
    requested = None if labels is None else _as_agreed_labels(labels, counted.true_labels())
    pairs = counted.pairs(requested)
    if pairs.n_labels == 1:
        warn_one_label()
    first, second = map(np.flatnonzero, pairs.margins())
    if not first.size or (first.size == second.size == 1 and first[0] == second[0]):
        _warn_no_kappa(bool(first.size), replace_undefined_by)
        return replace_undefined_by
    if weights is not None:
        return _weighted_kappa(pairs, 1 if weights == "linear" else 2)
    if pairs.n_labels**2 <= DENSE:
        return float(ConfusionMatrix(counted.matrix(requested)).cohen_kappa())
    return float(_agreement(pairs).cohen_kappa())


def _agreement(pairs: Pairs) -> BeyondChance:
    """Compare two raters' agreement with chance, by their label counts; a full table would be slow for many labels."""
    if pairs.rows.dtype.kind == "f":
        pairs = pairs._replace(rows=in_usual_unit(pairs.rows))
    (first, second), same = pairs.margins(), pairs.true == pairs.predicted
    right, wrong = pairs.rows[same].sum(), pairs.rows[~same].sum()
    if pairs.rows.dtype.kind != "f":
        return BeyondChance.of_margins(right, wrong, first, second)
    others, other_second = sums_of_others(first), sums_of_others(second)
    disagreement = first @ other_second
    return BeyondChance(disagreement - (right + wrong) * wrong, first @ others, second @ other_second, disagreement)


def _weighted_kappa(pairs: Pairs, power: int) -> float:
    """Return kappa, where a disagreement costs the distance between its labels, raised to a power."""
    rows = np.ldexp(pairs.rows.astype(np.float64), cells.shift_of(max(each.max() for each in pairs.margins())))
    first, second = pairs._replace(rows=rows).margins()
    total = first.sum()
    cost = rows @ np.abs(pairs.true - pairs.predicted).astype(np.float64) ** power
    if power == 1:  # the distance between two labels counts the gaps between neighbouring labels from one to the other
        (below, also_below), (above, also_above) = (
            [np.cumsum(each[::step])[:-1][::step] / total for each in (first, second)] for step in (1, -1)
        )
        by_chance = below @ also_above + above @ also_below
    else:
        place = np.arange(first.size, dtype=np.float64)
        means = [each @ place / total for each in (first, second)]
        spread = sum(each @ (place - mean) ** 2 / total for each, mean in zip((first, second), means, strict=True))
        by_chance = spread + (means[0] - means[1]) ** 2
    return float(1 - cells.ratio(cost / total, by_chance))


# Checks ---------------------------------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _as_agreed_labels(labels: Any, present: NDArray[Any]) -> NDArray[Any]:
    """Return the labels to compare raters on; the first rater must use at least one of them."""
    try:
        return as_requested(labels, present)
    except ValueError as error:
        if not np.size(labels):
            raise
        raise ValueError(
            "At least one label in `labels` must be present in `y1` (even though `cohen_kappa_score` is otherwise "
            f"agnostic to the order of `y1` and `y2`). {error}"
        ) from error


def _warn_no_kappa(rows: bool, replaced_by: float) -> None:
    """Warn that raters can't be compared because they have a single label, or no rows."""
    because = (
        "`y1`, `y2` and `labels` have only one label in common. "
        if rows
        else "`y2` contains no labels that are present in both `y1` and `labels`."
    )
    warn_ill_defined(
        f"{because}`cohen_kappa_score` is undefined and set to the value defined by the `replace_undefined_by` param, "
        f"which is set to {replaced_by}."
    )
