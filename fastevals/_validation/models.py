"""What many models predict, and the rows that they have in common or each for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array
from fastevals._validation.named import named_columns
from fastevals._validation.options import listed, warn_undefined

__all__ = ["as_beside_models", "as_models", "check_lengths_of_models", "warn_undefined_models"]

Array = NDArray[Any]
Read = Callable[[str, Any], Array]  # of what errors call an array-like, and of it, gives a 1-D array


def as_models(name: str, values: Any, read: Read) -> tuple[dict[str, Array], tuple[Any, ...]]:
    """Give what models predict: for each what errors call it and an array, and all names.

    Models are the entries of a mapping, the columns of a frame, the rows of a 2-D array or the arrays of a sequence,
    which have numbers for names. One vector is one model.
    """
    columns = named_columns(name, values)
    if columns is None and _is_sequence_of_arrays(values):
        columns, rows = None, list(values)
    elif columns is None:
        array = as_array(name, values)
        if array.ndim not in (1, 2):
            raise ValueError(f"{name} must be 1-D, or 2-D with a row for each model, got shape {array.shape}")
        if array.ndim == 1:
            return {name: read(name, array)}, (0,)
        rows = list(array)
    parts = dict(enumerate(rows)) if columns is None else columns
    if not parts:
        raise ValueError(f"{name} is empty: it must have at least one model")
    labelled = {f"{name}[{key!r}]": each for key, each in parts.items()}
    return {label: read(label, each) for label, each in labelled.items()}, tuple(parts)


def _is_sequence_of_arrays(values: Any) -> bool:
    """Tell arrays side by side, which need not be copied into one."""
    return isinstance(values, (list, tuple)) and bool(values) and all(getattr(one, "ndim", 0) == 1 for one in values)


def as_beside_models(name: str, values: Any, models: tuple[Any, ...], read: Read) -> dict[str, Array]:
    """Give what goes with the predictions: one array that all models share, or one for each model, in their order.

    Keys are what errors call the arrays. Of one model alone the two are the same.
    """
    columns = named_columns(name, values)
    if columns is None and not _is_sequence_of_arrays(values):
        values = as_array(name, values)
        if values.ndim != 2:
            return {name: read(name, values)}
    if columns is None:
        columns = dict(enumerate(values))
        if len(columns) != len(models):
            raise ValueError(f"{name} must have a row for each of the {len(models)} models, got {len(columns)}")
        return {f"{name}[{i}]": read(f"{name}[{i}]", each) for i, each in columns.items()}
    if set(columns) != set(models):
        odd = [each for each in models if each not in columns] or [each for each in columns if each not in models]
        verb = "lacks" if len(columns.keys() & set(models)) < len(models) else "also has"
        raise ValueError(f"{name} must have the names of the models, but {verb} {listed(odd)}")
    return {f"{name}[{key!r}]": read(f"{name}[{key!r}]", columns[key]) for key in models}


def check_lengths_of_models(models: Mapping[str, Array], beside: Mapping[str, Array]) -> None:
    """Raise unless each model has as many rows as what goes with it."""
    names = list(beside)
    for i, (label, predicted) in enumerate(models.items()):
        name = names[i if len(names) > 1 else 0]
        if predicted.size != beside[name].size:
            raise ValueError(f"{label} has {predicted.size} rows, but {name} has {beside[name].size}")


def warn_undefined_models(metric: str, values: NDArray[np.float64], names: tuple[Any, ...], because: str = "") -> None:
    """Warn, once for all models, if a metric is NaN for some."""
    undefined = np.flatnonzero(np.isnan(values))
    if undefined.size:
        which = f"in {undefined.size} of {values.size} models, the first {names[undefined[0]]!r}"
        warn_undefined(metric, f"{which}{because and ': '}{because}")
