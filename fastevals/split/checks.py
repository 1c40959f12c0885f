"""Shared checks of this package: data with rows of any kind, learners, sizes of parts, varied parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_integer, check_number, listed, show
from fastevals._validation.arrays import as_array, check_finite
from fastevals._validation.labels import as_labels, check_comparable_labels

SLACK = 1e-14  # relative rounding error of a product of floats


def n_rows(name: str, data: Any) -> int:
    """Return the number of rows; raise if there are none."""
    shape = getattr(data, "shape", None)
    try:
        n = int(shape[0]) if shape else len(data)
    except TypeError:
        raise ValueError(f"{name} must have rows, got {show(data)}") from None
    # Some sparse matrices are dicts, and have a shape.
    if isinstance(data, (str, bytes, set, frozenset)) or shape == () or (shape is None and isinstance(data, dict)):
        raise ValueError(f"{name} must have rows, got {show(data)}")
    if not n:
        raise ValueError(f"{name} is empty: it must have at least one row")
    return n


def check_same_rows(**data: Any) -> int:
    """Return the number of rows; raise unless all data that are not None have the same number of rows."""
    rows = {name: n_rows(name, each) for name, each in data.items() if each is not None}
    if not rows:
        raise ValueError(f"one of {', '.join(data)} must be given, to say how many rows there are")
    (first, n), *others = rows.items()
    for name, each in others:
        if each != n:
            raise ValueError(f"{name} has {each} rows, but {first} has {n}")
    return n


def check_learner(name: str, learner: Any) -> bool:
    """Return whether a learner is an estimator; raise if it is neither an estimator nor a function."""
    if isinstance(learner, type):
        raise ValueError(f"{name} must be an estimator or a function, got class {learner.__name__}, not an instance")
    if callable(getattr(learner, "fit", None)) and callable(getattr(learner, "predict", None)):
        return True
    if not callable(learner):
        raise ValueError(
            f"{name} must be a function (X_train, y_train, X_test) -> predictions, or have fit and predict as "
            f"scikit-learn's estimators; got {show(learner)}"
        )
    return False


def as_fitted_predictions(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return a learner's predictions as an array, one for each row."""
    array = as_array(f"{name}'s predictions", values)
    if array.shape != (n,):
        raise ValueError(f"{name} must give one prediction for each of the {n} rows, got shape {array.shape}")
    return array


def as_share_or_count(name: str, value: Any, *, whole: bool = False, most: int | None = None) -> int | float:
    """Return the size of a part: an int from 1 to `most`, or a float in (0, 1), or in (0, 1] if `whole`."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return check_integer(name, value, low=1, high=most)
    try:
        return check_number(name, value, low=0, high=1, open_low=True, open_high=not whole)
    except ValueError:
        within = "(0, 1]" if whole else "(0, 1)"
        raise ValueError(f"{name} must be a share in {within} or a number of rows, got {show(value)}") from None


def as_units(size: int | float, n: int, rounded: Callable[[float], int]) -> int:
    """Return a number of units; an int is returned unchanged, a float is a share of n units."""
    if isinstance(size, int):
        return size
    exact = size * n
    near = round(exact)
    return near if abs(exact - near) <= SLACK * exact else rounded(exact)  # 0.07 * 100 is 7, but not in floats


def training_size(name: str, value: Any, n: int, *, most: int | None = None) -> int:
    """Return a training set's number of units: a number up to `most`, or a share of n rounded down but at least 1."""
    return max(as_units(as_share_or_count(name, value, whole=True, most=most), n, math.floor), 1)


def training_sizes(name: str, values: Any, size: Callable[[str, Any], int], whole: str) -> list[int]:
    """Return distinct sizes in ascending order. `size` converts a user's value; errors call all units `whole`."""
    shares_or_counts = as_values(name, values)
    sizes = [size(name, value) for value in shares_or_counts]
    _check_sizes_differ(name, shares_or_counts, sizes, whole)
    return sorted(sizes)


def _check_sizes_differ(name: str, values: Sequence[Any], sizes: Sequence[int], whole: str) -> None:
    """Raise unless sizes are all shares or all counts, and no two are equal."""
    if len({isinstance(each, float) for each in values}) > 1:
        raise ValueError(f"{name} must all be shares (floats) or all counts (integers), got {show(values)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"{name} must give different numbers; out of {whole} they give {listed(sizes)}")


def as_strata(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return the classes to stratify rows by, as integers or strings."""
    if values is None:
        raise ValueError(f"stratified=True needs {name}, the class of each row, got None")
    array = as_labels(name, values)
    check_finite(name, array)
    if array.dtype.kind == "f":
        odd = (np.trunc(array) != array) | (np.abs(array) >= np.float64(2**63))
        if odd.any():
            row = int(np.argmax(odd))
            raise ValueError(
                f"{name} must hold classes (strings or whole numbers) for stratified=True, but has "
                f"{show(array[row])} at row {row}; cut numbers into bins, or leave out stratified=True"
            )
        array = array.astype(np.int64)
    check_same_rows(rows=range(n), **{name: array})
    check_comparable_labels(**{name: array})
    return array


def check_split_units(n: int, unit: str, least: int, because: str) -> None:
    """Raise if there are fewer rows, or groups, than `least`."""
    if n < least:
        raise ValueError(f"{because} needs {least} {unit} or more, got {n}")


def check_class_units(sizes: NDArray[Any], labels: NDArray[Any], unit: str, least: int, because: str) -> None:
    """Raise if a class has fewer rows, or groups, than `least`."""
    few = np.flatnonzero(sizes < least)
    if few.size:
        k = int(few[0])
        raise ValueError(
            f"{because} needs {least} {unit} or more of each class, but class {show(labels[k])} has {sizes[k]}"
        )


def as_values(name: str, values: Any) -> list[Any]:
    """Return the values of a parameter as Python objects instead of NumPy scalars; raise if there are none."""
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of values, got {show(values)}")
    shape = getattr(values, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"{name} must be a list of values, got shape {shape}")
    listed_values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not listed_values:
        raise ValueError(f"{name} is empty: it must have at least one value")
    return [each.item() if isinstance(each, np.generic) else each for each in listed_values]


def check_parameter_name(name: str, value: Any) -> None:
    """Raise unless the name of a parameter is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be the name of a parameter, got {show(value)}")


def check_varies_only(name: str, params: Mapping[str, Any], other: str, parameter: str) -> None:
    """Raise if the varied parameter also has a fixed value."""
    if parameter in params:
        raise ValueError(
            f"{name} must not have {parameter!r}, as it is the {other} that varies; got {show(params[parameter])}"
        )


def check_some_defined(metric: str, place: int | None, n: int, candidates: str) -> int:
    """Return `place`, the index of the best candidate or value; raise if it is None because all are undefined."""
    if place is None:
        raise ValueError(f"{metric} is undefined (NaN) for all {n} {candidates}: none is the best")
    return place


def check_direction(name: str, metric: str, maximize: bool | None) -> bool:
    """Return whether a greater value is better; raise if this is unknown."""
    if maximize is None:
        raise ValueError(f"{name} must be given, True or False, for the function {metric}, whose direction isn't known")
    return maximize
