"""Predicted classes of models beside the true ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, check_same_length
from fastevals._validation.labels import as_class_numbers, as_labels, as_text, check_comparable_labels, check_two_models
from fastevals._validation.named import named_columns

__all__ = ["as_models_labels", "as_predicted_labels", "as_true_labels"]


def as_true_labels(name: str, values: Any) -> NDArray[Any]:
    """Give true classes as a 1-D array of integers, booleans or strings."""
    labels = as_labels(name, values)
    return labels if labels.dtype.kind == "U" else as_class_numbers(name, labels)


def as_predicted_labels(
    y_true: NDArray[Any], labelled: Mapping[str, Any], *, true_name: str = "y_true"
) -> dict[str, NDArray[Any]]:
    """Give predicted classes as 1-D arrays that can be compared with the true ones; keys are what errors call them.

    Of floats it isn't looked at whether they are whole.
    """
    models = {label: as_labels(label, value) for label, value in labelled.items()}
    check_same_length(**{true_name: y_true}, **models)
    check_comparable_labels(**{true_name: y_true}, **models)
    return models


def as_models_labels(name: str, y_true: NDArray[Any], values: Any) -> tuple[dict[str, NDArray[Any]], tuple[Any, ...]]:
    """Give the classes that two or more models predict, as from `as_predicted_labels`, and the models' names.

    Models are the entries of a mapping, the columns of a frame, or the rows of a 2-D array, which have numbers for
    names: the array stays one, of shape (n_models, n_samples).
    """
    columns = named_columns(name, values)
    if columns is not None:
        check_two_models(name, columns)
        return as_predicted_labels(y_true, {f"{name}[{key!r}]": each for key, each in columns.items()}), tuple(columns)
    array = as_array(name, values)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D, (models x rows), or a mapping or frame of models; got shape {array.shape}"
        )
    check_two_models(name, array)
    first = as_predicted_labels(y_true, {f"{name}[0]": array[0]})  # what is wrong with one row is with all
    if array.dtype.kind in "OT":
        array = np.stack([as_labels(f"{name}[{i}]", row) for i, row in enumerate(array)])
    models = {name: as_text(array)}
    check_comparable_labels(**first, **models)
    return models, tuple(range(array.shape[0]))
