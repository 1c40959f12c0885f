"""Metrics of each class against the rest, and their averages over labels or rows."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import Floats
from fastevals.counts import Cells
from fastevals.measure import cells
from fastevals.metrics._input import as_reported
from fastevals.metrics._labels import Indicators, LabelPairs, count_labels
from fastevals.metrics._parameters import (
    ARRAY_OR_NONE,
    POS_LABEL,
    ZERO_DIVISION,
    Rule,
    any_of,
    check_parameters,
    warn,
    warn_ill_defined,
)

ALL = ("precision", "recall", "f-score")  # all rates that `label_rates` computes, except "jaccard"
AVERAGES = (None, "micro", "macro", "weighted", "samples")
MODIFIERS = {
    "precision": "predicted",
    "recall": "true",
    "f-score": "true nor predicted",
    "jaccard": "true or predicted",
}
AVERAGE = any_of("binary", *AVERAGES)
Mean = Literal["binary", "micro", "macro", "weighted", "samples"]
BETA = Rule(
    "a float in the range [0.0, inf]", lambda value: isinstance(value, numbers.Real) and bool(cast("Any", value) >= 0)
)
COLLECTION = Rule("an instance of 'list', 'tuple' or 'set'", lambda value: isinstance(value, (list, tuple, set)))
ZERO_OR_ONE = Rule(
    "a float among {0, 1} or a str among {'warn'}",
    lambda value: ZERO_DIVISION.allows(value) and (isinstance(value, str) or not math.isnan(value)),
)


def precision_recall_fscore_support(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = None,
    warn_for: Collection[str] = ALL,
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> tuple[Any, Any, Any, Any]:
    """Compute precision, recall, F-score and support, like scikit-learn's `precision_recall_fscore_support`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or array or sparse matrix of shape (n_samples, n_labels)
        Labels (whole numbers or strings), or indicators of several labels per row.
    beta : float
        Weight of recall relative to precision in the F-score.
    labels : array-like, optional
        The labels to report or average, in this order; by default all that occur, sorted. Labels that don't occur are
        allowed: they have no rows.
    pos_label : int, float, bool or str
        The positive label for ``average="binary"``.
    average : {None, "binary", "micro", "macro", "weighted", "samples"}
        None: one value per label. "binary": the positive label. "micro": all counts pooled. "macro": the mean over
        labels. "weighted": the mean weighted by the labels' numbers of true rows. "samples": the mean over rows
        (indicators only).
    warn_for : list, tuple or set
        Names of the metrics that may warn.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    zero_division : {"warn", 0.0, 1.0, nan}
        Value of 0 / 0; "warn" means 0 with a warning. NaN is left out of averages.

    Returns
    -------
    precision, recall, f_score : float or ndarray of float64 of shape (n_labels,)
        Arrays if `average` is None.
    support : None or ndarray of shape (n_labels,)
        Number of true rows of each label, or their weight; None unless `average` is None.

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, or an option is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a label has no predicted rows or no true rows.

    Examples
    --------
    >>> from fastevals.metrics import precision_recall_fscore_support
    >>> precision_recall_fscore_support([0, 1, 1, 2], [0, 1, 2, 2], average="macro")
    (0.8333333333333334, 0.8333333333333334, 0.7777777777777777, None)
    """
    check_parameters("precision_recall_fscore_support", beta=(beta, BETA), warn_for=(warn_for, COLLECTION))
    name = "precision_recall_fscore_support"
    scores = _score(name, ALL, y_true, y_pred, labels, pos_label, average, sample_weight, zero_division, beta, warn_for)
    return scores["precision"], scores["recall"], scores["f-score"], scores["support"]


class PerClass(TypedDict, total=False):
    """Options of per-class metrics."""

    labels: ArrayLike | None
    pos_label: Any
    sample_weight: ArrayLike | None
    zero_division: Any


@overload
def precision_score(y_true: ArrayLike, y_pred: ArrayLike, *, average: None, **options: Unpack[PerClass]) -> Floats: ...
@overload
def precision_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, average: Mean = ..., **options: Unpack[PerClass]
) -> float: ...
def precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the share of each label's predicted rows that are correct, like scikit-learn's `precision_score`.

    Parameters, errors and warnings are the same as for `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of float64 of shape (n_labels,)
        An array if `average` is None.

    Examples
    --------
    >>> from fastevals.metrics import precision_score
    >>> precision_score([0, 1, 1, 0], [0, 1, 1, 1])
    0.6666666666666666
    """
    wanted = ("precision",)
    return _score("precision_score", wanted, y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)[
        "precision"
    ]


@overload
def recall_score(y_true: ArrayLike, y_pred: ArrayLike, *, average: None, **options: Unpack[PerClass]) -> Floats: ...
@overload
def recall_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, average: Mean = ..., **options: Unpack[PerClass]
) -> float: ...
def recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the share of each label's true rows that are predicted correctly, like scikit-learn's `recall_score`.

    Parameters, errors and warnings are the same as for `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of float64 of shape (n_labels,)
        An array if `average` is None.

    Examples
    --------
    >>> from fastevals.metrics import recall_score
    >>> recall_score([0, 1, 1, 2], [0, 1, 2, 2], average=None)
    array([1. , 0.5, 1. ])
    """
    wanted = ("recall",)
    return _score("recall_score", wanted, y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)[
        "recall"
    ]


@overload
def f1_score(y_true: ArrayLike, y_pred: ArrayLike, *, average: None, **options: Unpack[PerClass]) -> Floats: ...
@overload
def f1_score(y_true: ArrayLike, y_pred: ArrayLike, *, average: Mean = ..., **options: Unpack[PerClass]) -> float: ...
def f1_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the harmonic mean of precision and recall from counts, like scikit-learn's `f1_score`.

    Parameters, errors and warnings are the same as for `precision_recall_fscore_support`.

    Returns
    -------
    float or ndarray of float64 of shape (n_labels,)
        An array if `average` is None.

    Examples
    --------
    >>> from fastevals.metrics import f1_score
    >>> f1_score([0, 1, 1, 0], [0, 1, 1, 1])
    0.8
    """
    wanted = ("f-score",)
    return _score("f1_score", wanted, y_true, y_pred, labels, pos_label, average, sample_weight, zero_division)[
        "f-score"
    ]


@overload
def fbeta_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, beta: float, average: None, **options: Unpack[PerClass]
) -> Floats: ...
@overload
def fbeta_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, beta: float, average: Mean = ..., **options: Unpack[PerClass]
) -> float: ...
def fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute the weighted harmonic mean of precision and recall from counts, like scikit-learn's `fbeta_score`.

    Parameters, errors and warnings are the same as for `precision_recall_fscore_support`. If `beta` is 0, the result is
    the precision; if it is inf, the recall.

    Returns
    -------
    float or ndarray of float64 of shape (n_labels,)
        An array if `average` is None.

    Examples
    --------
    >>> from fastevals.metrics import fbeta_score
    >>> fbeta_score([0, 1, 1, 0], [0, 1, 1, 1], beta=2)
    0.9090909090909091
    """
    check_parameters("fbeta_score", beta=(beta, BETA))
    wanted = ("f-score",)
    return _score(
        "fbeta_score", wanted, y_true, y_pred, labels, pos_label, average, sample_weight, zero_division, beta
    )["f-score"]


@overload
def jaccard_score(y_true: ArrayLike, y_pred: ArrayLike, *, average: None, **options: Unpack[PerClass]) -> Floats: ...
@overload
def jaccard_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, average: Mean = ..., **options: Unpack[PerClass]
) -> float: ...
def jaccard_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: Any = "warn",
) -> Any:
    """Compute intersection over union of each label's true and predicted rows, like scikit-learn's `jaccard_score`.

    Parameters, errors and warnings are the same as for `precision_recall_fscore_support`, but `zero_division` can't be
    NaN.

    Returns
    -------
    float or ndarray of float64 of shape (n_labels,)
        An array if `average` is None.

    Examples
    --------
    >>> from fastevals.metrics import jaccard_score
    >>> jaccard_score([0, 1, 1, 0], [0, 1, 1, 1])
    0.6666666666666666
    """
    wanted = ("jaccard",)
    return _score(
        "jaccard_score",
        wanted,
        y_true,
        y_pred,
        labels,
        pos_label,
        average,
        sample_weight,
        zero_division,
        zero_rule=ZERO_OR_ONE,
    )["jaccard"]


# Rates of labels, and their averages -------------------------------------------------------------------------------


def _score(
    function: str,
    wanted: Collection[str],
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: Any,
    beta: float = 1.0,
    warn_for: Collection[str] | None = None,
    zero_rule: Rule = ZERO_DIVISION,
) -> dict[str, Any]:
    check_parameters(
        function,
        labels=(labels, ARRAY_OR_NONE),
        pos_label=(pos_label, POS_LABEL),
        average=(average, AVERAGE),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        zero_division=(zero_division, zero_rule),
    )
    counted = count_labels(y_true, y_pred, sample_weight)
    return label_rates(
        counted,
        wanted,
        labels=_labels_to_average(counted.kind, counted.labels, average, labels, pos_label),
        average=average,
        beta=beta,
        zero_division=zero_division,
        warn_for=wanted if warn_for is None else warn_for,
    )


def label_rates(
    counted: LabelPairs | Indicators,
    wanted: Collection[str],
    *,
    labels: Any,
    average: str | None,
    beta: float = 1.0,
    zero_division: Any = "warn",
    warn_for: Collection[str] = ALL,
) -> dict[str, Any]:
    """Compute the requested rates and the support: numbers or, if `average` is None, arrays over labels."""
    at = _label_cells(counted, labels, average)
    rates: dict[str, Any] = {
        metric: fill_undefined(rate, rate.function(at), average, zero_division)
        for metric, rate in rates_of(wanted, beta, warn_for).items()
    }
    if average is None:
        return {**rates, "support": at.tp + at.fn}
    weights = None
    if average == "weighted":
        weights = at.tp + at.fn
    elif average == "samples":
        weights = counted.weights
    return {metric: _mean(values, weights) for metric, values in rates.items()} | {"support": None}


class Rate(NamedTuple):
    """A rate: its name, its function of cells, and whether it warns about 0 / 0."""

    name: str
    function: Callable[[Cells], NDArray[np.float64]]
    warned: bool


def rates_of(wanted: Collection[str], beta: float, warn_for: Collection[str]) -> dict[str, Rate]:
    """Return the requested rates; if `beta` makes the F-score equal to precision or recall, use that rate instead."""
    beta = float(min(beta, sys.float_info.max))  # an integer may be too large for a float
    functions: dict[str, Callable[[Cells], NDArray[np.float64]]] = {
        "precision": cells.precision,
        "recall": cells.recall,
        "f-score": lambda at: cells.f_score(at, beta),
        "jaccard": cells.jaccard,
    }
    aliases = {}
    if beta == 0 or math.isinf(beta * beta):
        aliases["f-score"] = "precision" if beta == 0 else "recall"
    rates = {}
    for metric in wanted:
        source = aliases.get(metric, metric)
        warned = source in warn_for and (source == metric or source not in wanted)
        rates[metric] = Rate(source, functions[source], warned)
    return rates


def _label_cells(counted: LabelPairs | Indicators, labels: Any, average: str | None) -> Cells:
    """Return the cells for the rates: per label, per row, or pooled over labels."""
    at = counted.cells(labels, samplewise=average == "samples")
    if average != "micro":
        return at
    return cells.added_up(Cells(*map(np.asarray, at)), keepdims=True)


def fill_undefined(
    rate: Rate, values: NDArray[np.float64], average: str | None, zero_division: Any
) -> NDArray[np.float64]:
    """Replace NaN by the value of 0 / 0."""
    undefined = np.isnan(values)
    if not undefined.any():
        return values
    if isinstance(zero_division, str):
        if rate.warned:
            n_values = 1 if average == "binary" else values.size
            _warn_zero_division(rate.name, MODIFIERS[rate.name], average, n_values)
        zero_division = 0.0
    values[undefined] = zero_division
    return values


def _mean(values: NDArray[np.float64], weights: NDArray[Any] | None) -> float:
    """Average the values that are not NaN; if all their weights are zero, ignore the weights."""
    kept = ~np.isnan(values)
    if not kept.all():
        values, weights = values[kept], None if weights is None else weights[kept]
    if not values.size:
        return math.nan
    if weights is None:
        return float(values.mean())
    weights = np.ldexp(weights, cells.shift_of(weights.max())) if weights.dtype.kind == "f" else weights
    total = weights.sum()
    return float((values * weights).sum() / total) if total else float(values.mean())


def _labels_to_average(
    kind: str, present: NDArray[Any], average: str | None, labels: Any, pos_label: Any
) -> Sequence[Any] | NDArray[Any] | None:
    """Return the labels to average over; for "binary", only the positive one."""
    if average == "binary":
        if kind != "binary":
            others = [each for each in AVERAGES if kind != "multiclass" or each != "samples"]
            raise ValueError(
                f"Target is {kind} but average='binary'. Please choose another average setting, one of {others!r}."
            )
        if present.size >= 2 and pos_label not in present.tolist():
            raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {present}")
        return np.array([pos_label], dtype=object)  # an object, as NumPy would truncate an Enum's text
    if pos_label is not None and pos_label != 1:
        warn(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). You "
            "may use labels=[pos_label] to specify a single positive class."
        )
    return as_reported(labels, present)


# Checks ------------------------------------------------------------------------------------------------------------


def _warn_zero_division(metric: str, modifier: str, average: str | None, n_values: int) -> None:
    """Warn that some of a metric's values have a zero denominator."""
    unit, within = ("label", "samples") if average == "samples" else ("sample", "labels")
    place = "due to" if n_values == 1 else f"in {within} with"
    warn_ill_defined(
        f"{metric.capitalize()} is ill-defined and being set to 0.0 {place} no {modifier} {unit}s. Use `zero_division` "
        "parameter to control this behavior."
    )
