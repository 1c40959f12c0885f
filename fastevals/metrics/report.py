"""The table of each class's precision, recall and F1."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fastevals.metrics._input import INDICATOR, as_reported, check_some_labels
from fastevals.metrics._labels import count_labels
from fastevals.metrics._parameters import ARRAY_OR_NONE, FLAG, ZERO_DIVISION, Rule, check_parameters, warn
from fastevals.metrics.per_class import ALL, label_rates

DIGITS = Rule(
    "an int in the range [0, inf)",
    lambda value: isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 0,
)

COLUMNS = ("precision", "recall", "f1-score", "support")


def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    target_names: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
) -> str | dict[str, Any]:
    """Report precision, recall, F1 and support of each class, like scikit-learn's `classification_report`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,) or array or sparse matrix of shape (n_samples, n_labels)
        Labels (whole numbers or strings), or indicators of several labels per row.
    labels : array-like, optional
        The labels to report, in this order; by default all that occur, sorted.
    target_names : array-like of str, optional
        Names of these labels, in the same order.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative.
    digits : int
        Number of decimals in the text.
    output_dict : bool
        Whether to return a dict instead of text.
    zero_division : {"warn", 0.0, 1.0, nan}
        Value of 0 / 0; "warn" means 0 with a warning.

    Returns
    -------
    str or dict
        The dict has a dict for each label and each average, and a number for "accuracy". If some labels are not
        reported, or rows may have several labels, "micro avg" takes the place of "accuracy".

    Raises
    ------
    ValueError
        If the true and predicted labels are incompatible, or an option is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a label has no predicted rows or no true rows.
    UserWarning
        If there are not as many names as labels.

    Examples
    --------
    >>> from fastevals.metrics import classification_report
    >>> print(classification_report([0, 1, 1], [0, 1, 0]))
                  precision    recall  f1-score   support
    <BLANKLINE>
               0       0.50      1.00      0.67         1
               1       1.00      0.50      0.67         2
    <BLANKLINE>
        accuracy                           0.67         3
       macro avg       0.75      0.75      0.67         3
    weighted avg       0.83      0.67      0.67         3
    <BLANKLINE>
    """
    check_parameters(
        "classification_report",
        labels=(labels, ARRAY_OR_NONE),
        target_names=(target_names, ARRAY_OR_NONE),
        sample_weight=(sample_weight, ARRAY_OR_NONE),
        digits=(digits, DIGITS),
        output_dict=(output_dict, FLAG),
        zero_division=(zero_division, ZERO_DIVISION),
    )
    counted = count_labels(y_true, y_pred, sample_weight)
    chosen = as_reported(labels, counted.labels)
    requested = counted.labels if chosen is None else chosen
    check_some_labels(requested)
    names: list[str] = [str(label) for label in requested] if target_names is None else list(cast(Any, target_names))
    _check_target_names(names, requested.size, chosen is not None)
    several = counted.kind == INDICATOR
    all_labels = set(counted.labels.tolist()) <= set(requested.tolist())

    def rates(average: str | None) -> tuple[Any, ...]:
        return tuple(label_rates(counted, ALL, labels=chosen, average=average, zero_division=zero_division).values())

    *label_scores, support = rates(None)
    rows = list(zip(names, zip(*label_scores, support, strict=True), strict=False))
    averages = {}
    for average in ("micro", "macro", "weighted", *(["samples"] if several else [])):
        name = "accuracy" if average == "micro" and all_labels and not several else f"{average} avg"
        averages[name] = (*rates(average)[:-1], np.sum(support))
    return _as_dict(rows, averages) if output_dict else _as_text(rows, averages, digits)


def _as_dict(rows: list[tuple[str, Any]], averages: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    named = {name: dict(zip(COLUMNS, map(float, values), strict=True)) for name, values in [*rows, *averages.items()]}
    return {name: values["precision"] if name == "accuracy" else values for name, values in named.items()}


def _as_text(rows: list[tuple[str, Any]], averages: dict[str, tuple[Any, ...]], digits: int) -> str:
    width = max(*(len(name) for name, _ in rows), len("weighted avg"), digits)

    def line(name: str, *columns: Any) -> str:
        texts = (each if isinstance(each, str) else f"{each:.{digits}f}" for each in columns[:-1])
        return f"{name:>{width}} " + "".join(f" {text:>9}" for text in (*texts, columns[-1])) + "\n"

    report = line("", *COLUMNS) + "\n" + "".join(line(name, *values) for name, values in rows) + "\n"
    for name, values in averages.items():
        report += line(name, *(("", "", *values[2:]) if name == "accuracy" else values))
    return report


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_target_names(names: Sequence[str], n_labels: int, named: bool) -> None:
    """Raise if there are not as many names as labels; only warn if labels are given."""
    if named and len(names) != n_labels:
        warn(f"labels size, {n_labels}, does not match size of target_names, {len(names)}")
    elif len(names) != n_labels:
        raise ValueError(
            f"Number of classes, {n_labels}, does not match size of target_names, {len(names)}. Try specifying the "
            "labels parameter"
        )
