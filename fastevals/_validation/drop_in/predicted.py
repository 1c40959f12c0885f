"""Predicted labels beside true ones: targets that go together, the labels asked for, and what is undefined."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.drop_in.arrays import as_column
from fastevals._validation.drop_in.complaints import warn, warn_ill_defined
from fastevals._validation.drop_in.parameters import Rule, any_of
from fastevals._validation.drop_in.targets import INDICATOR, as_named_labels, target_type
from fastevals._validation.labels import as_class_numbers

__all__ = [
    "AVERAGE",
    "BETA",
    "DIGITS",
    "MINUS_ONE_TO_ONE",
    "ONE_OR_BOTH_RATIOS",
    "as_agreed_labels",
    "as_class_labels",
    "as_columns",
    "as_label_ratios",
    "as_reported",
    "as_requested",
    "check_column_numbers",
    "check_indicators",
    "check_names_of_classes",
    "check_not_indicators",
    "check_one_kind_of_label",
    "check_samplewise",
    "check_some_labels",
    "check_two_by_two",
    "check_two_kinds",
    "labels_to_average",
    "warn_no_kappa",
    "warn_one_label",
    "warn_undefined_ratios",
    "warn_zero_division",
]

COLUMNS = "All labels must be in [0, n labels) for multilabel targets."
AVERAGES = (None, "micro", "macro", "weighted", "samples")

AVERAGE = any_of("binary", *AVERAGES)
BETA = Rule(
    "a float in the range [0.0, inf]", lambda value: isinstance(value, numbers.Real) and bool(cast("Any", value) >= 0)
)
DIGITS = Rule(
    "an int in the range [0, inf)",
    lambda value: isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 0,
)
MINUS_ONE_TO_ONE = Rule(
    "a float in the range [-1.0, 1.0] or numpy.nan",
    lambda value: _is_number(value) and (math.isnan(value) or -1 <= value <= 1),
)
ONE_OR_BOTH_RATIOS = Rule(
    "a float among {1.0, nan} or an instance of 'dict'",
    lambda value: isinstance(value, dict) or (isinstance(value, numbers.Real) and (math.isnan(value) or value == 1)),
)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def as_class_labels(name: str, array: NDArray[Any]) -> NDArray[Any] | None:
    """Give a target as a vector of labels, whole floats as integers; None if it is no such target."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = as_column(array)
    kind = array.dtype.kind
    if array.ndim != 1:
        return None
    if kind == "f":
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        return whole if (whole == array).all() else None
    if kind == "u" and array.itemsize == 8:
        return as_class_numbers(name, array)
    return array if kind in "iubU" or (kind == "O" and isinstance(array[0], str)) else None


def check_indicators(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise unless both targets mark the same several labels."""
    kinds = [target_type("y_true", true), target_type("y_pred", predicted)]
    if set(kinds) == {"binary", "multiclass"}:
        kinds = ["multiclass"]
    if len(set(kinds)) > 1:
        raise ValueError(f"Classification metrics can't handle a mix of {kinds[0]} and {kinds[1]} targets")
    if kinds[0] != INDICATOR:
        raise ValueError(f"{kinds[0]} is not supported")


def check_column_numbers(true: int, predicted: int) -> None:
    """Raise unless both indicator matrices have as many columns."""
    if true != predicted:
        raise ValueError(
            "Multi-label binary indicator input with different numbers of labels: "
            f"y_true has {true}, y_pred {predicted}"
        )


def check_not_indicators(kind: str) -> None:
    """Raise if rows may have several labels."""
    if kind == INDICATOR:
        raise ValueError(f"{kind} is not supported")


def check_samplewise(samplewise: bool) -> None:
    """Raise if rows that have but one label are to be looked at one by one."""
    if samplewise:
        raise ValueError("Samplewise metrics are not available outside of multilabel classification.")


def as_columns(labels: Any, n_labels: int) -> NDArray[np.int64]:
    """Give the numbers of some columns of an indicator matrix."""
    columns = np.asarray(labels)
    if not columns.size:
        return np.empty(0, dtype=np.int64)
    if columns.max() >= n_labels:
        raise ValueError(f"{COLUMNS} Got {columns.max()} > {n_labels - 1}")
    if columns.min() < 0:
        raise ValueError(f"{COLUMNS} Got {columns.min()} < 0")
    return columns.astype(np.int64, copy=False)


def check_one_kind_of_label(true: NDArray[Any], predicted: NDArray[Any]) -> None:
    """Raise if one target has strings and the other numbers."""
    if (true.dtype.kind in "OU") != (predicted.dtype.kind in "OU"):
        seen = " and ".join(str(np.unique(each)) for each in (true, predicted))
        raise ValueError(f"Mix of label input types (string and number); Got {seen}.")


def check_two_kinds(function: str, kind: str) -> None:
    """Raise unless there are at most two classes."""
    if kind != "binary":
        raise ValueError(f"{function} only supports binary classification problems, got targets of type: {kind}")


def check_two_by_two(n_labels: int) -> None:
    """Raise unless there is a negative and a positive class."""
    if n_labels != 2:
        raise ValueError(f"class_likelihood_ratios needs a negative and a positive class, got {n_labels} labels")


def labels_to_average(
    kind: str, present: NDArray[Any], average: str | None, labels: Any, pos_label: Any
) -> Sequence[Any] | NDArray[Any] | None:
    """Give the labels whose counts are averaged: the positive one for 'binary'."""
    if average == "binary":
        if kind != "binary":
            others = [each for each in AVERAGES if kind != "multiclass" or each != "samples"]
            raise ValueError(
                f"Target is {kind} but average='binary'. Please choose another average setting, one of {others!r}."
            )
        if present.size >= 2 and pos_label not in present.tolist():
            raise ValueError(f"pos_label={pos_label} is not a valid label. It should be one of {present}")
        return [pos_label]
    if pos_label is not None and pos_label != 1:
        warn(
            f"Note that pos_label (set to {pos_label!r}) is ignored when average != 'binary' (got {average!r}). You "
            "may use labels=[pos_label] to specify a single positive class."
        )
    return as_reported(labels, present)


def as_reported(labels: Any, present: NDArray[Any]) -> NDArray[Any] | None:
    """Give the labels asked for, of the kind of those present; None for all."""
    if labels is None:
        return None
    reported = as_named_labels(labels)
    if reported.ndim != 1:
        raise ValueError(f"labels must be 1-D, got shape {reported.shape}")
    return _of_one_kind(reported, present)


def _of_one_kind(labels: NDArray[Any], present: NDArray[Any]) -> NDArray[Any]:
    """Raise if the labels asked for are text and those present numbers, or the other way round."""
    if labels.size and _is_text(labels) != _is_text(present):
        asked, there = ("strings", "numbers") if _is_text(labels) else ("numbers", "strings")
        raise ValueError(f"labels must be {there}, as those of the targets are, got {asked}: {labels.tolist()}")
    return labels


def _is_text(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "UT" or (labels.dtype.kind == "O" and isinstance(labels[0], str))


def as_requested(labels: Any, present: NDArray[Any]) -> NDArray[Any]:
    """Give the classes of a matrix, of which one must be among those present."""
    requested = _of_one_kind(np.ravel(as_named_labels(labels)), present)
    check_some_labels(requested)
    if not set(present.tolist()).intersection(requested.tolist()):
        raise ValueError("At least one label specified must be in y_true")
    return requested


def check_some_labels(labels: NDArray[Any]) -> None:
    """Raise if no label is asked for."""
    if not labels.size:
        raise ValueError("'labels' should contain at least one label.")


def as_agreed_labels(labels: Any, present: NDArray[Any]) -> NDArray[Any]:
    """Give the labels that two raters are compared on, of which one must be among the first's."""
    try:
        return as_requested(labels, present)
    except ValueError as error:
        if not np.size(labels):
            raise
        raise ValueError(
            "At least one label in `labels` must be present in `y1` (even though `cohen_kappa_score` is otherwise "
            f"agnostic to the order of `y1` and `y2`). {error}"
        ) from error


def as_label_ratios(value: Any) -> tuple[float, float]:
    """Give what stands for undefined likelihood ratios, of positive and of negative predictions."""
    if not isinstance(value, dict):
        return value, value
    try:
        positive, negative = value["LR+"], value["LR-"]
        legal = not (positive < 1 or negative < 0 or negative > 1)
    except (KeyError, TypeError):
        legal = False
    if not legal:
        raise ValueError(
            "The dictionary passed as `replace_undefined_by` needs to be in the form `{'LR+': `value_1`, 'LR-': "
            "`value_2`}` where the value for `LR+` ranges from `1.0` to `np.inf` or is `np.nan` and the value for "
            f"`LR-` ranges from `0.0` to `1.0` or is `np.nan`; got `{value}`."
        )
    return positive, negative


def check_names_of_classes(names: Sequence[str], n_labels: int, given: bool) -> None:
    """Raise, or warn where labels are given, if there are not as many names as labels."""
    if given and len(names) != n_labels:
        warn(f"labels size, {n_labels}, does not match size of target_names, {len(names)}")
    elif len(names) != n_labels:
        raise ValueError(
            f"Number of classes, {n_labels}, does not match size of target_names, {len(names)}. Try specifying the "
            "labels parameter"
        )


def warn_no_kappa(rows: bool, replaced_by: float) -> None:
    """Warn that raters can't be compared: on a single label, or on no rows at all."""
    because = (
        "`y1`, `y2` and `labels` have only one label in common. "
        if rows
        else "`y2` contains no labels that are present in both `y1` and `labels`."
    )
    warn_ill_defined(
        f"{because}`cohen_kappa_score` is undefined and set to the value defined by the `replace_undefined_by` param, "
        f"which is set to {replaced_by}."
    )


def warn_one_label() -> None:
    """Warn that a matrix has but one cell."""
    warn(
        "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, use "
        "the 'labels' parameter to pass all known labels."
    )


def warn_undefined_ratios(tp: float, fp: float, fn: float, tn: float) -> None:
    """Warn of likelihood ratios that are divided by zero."""
    control = (
        "set to `np.nan`. Use the `replace_undefined_by` param to control this behavior. To suppress this warning or "
        "turn it into an error, see Python's `warnings` module and `warnings.catch_warnings()`."
    )
    if not tp + fn:
        warn_ill_defined(
            "No samples of the positive class are present in `y_true`. `positive_likelihood_ratio` and "
            f"`negative_likelihood_ratio` are both {control}"
        )
    if not fp:
        none = "No samples were predicted for the positive class and `positive_likelihood_ratio` is "
        warn_ill_defined(f"{'`positive_likelihood_ratio` is ill-defined and ' if tp else none}{control}")
    if not tn:
        warn_ill_defined(f"`negative_likelihood_ratio` is ill-defined and {control}")


def warn_zero_division(metric: str, modifier: str, average: str | None, n_values: int) -> None:
    """Warn that some of a metric's values have a zero denominator."""
    of, within = ("label", "samples") if average == "samples" else ("sample", "labels")
    where = "due to" if n_values == 1 else f"in {within} with"
    warn_ill_defined(
        f"{metric.capitalize()} is ill-defined and being set to 0.0 {where} no {modifier} {of}s. Use `zero_division` "
        "parameter to control this behavior."
    )
