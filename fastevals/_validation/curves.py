"""Check costs and shares of classes, curves, and the values at which curves are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import listed, show
from fastevals._validation.arrays import as_array, as_texts, check_finite, frame_names, is_frame, row_labels


def sum_tolerance(dtype: np.dtype[Any]) -> float:
    """Return how far from 1 a sum of shares of a dtype may be: 1e-6; 3.5e-4 for float32, 0.03 for float16."""
    return max(1e-6, float(np.sqrt(np.finfo(dtype).eps))) if dtype.kind == "f" else 1e-6


# Costs ------------------------------------------------------------------------------------------------------------


def costs_by_name(
    name: str, frame: Any, classes: list[Any] | None, actions: list[Any] | None
) -> tuple[NDArray[Any], list[str]]:
    """Return a frame's costs in the order of names, and the names of other columns, which come last.

    Rows are in the order of the classes if the frame has an index, and columns in the order of the actions if it names
    some of them. None leaves rows or columns where they are.
    """
    costs, index, columns = as_array(name, frame), row_labels(frame), as_texts(frame_names(frame))
    if index is not None and classes is not None:
        costs = costs[_places(name, "index", as_texts(list(index)), as_texts(classes))]
    wanted = as_texts(actions or [])
    if not set(wanted) & set(columns):
        return costs, []
    places = _places(name, "columns", columns, wanted)
    more = [place for place in range(len(columns)) if place not in places]
    return costs[:, places + more], [columns[place] for place in more]


def _places(name: str, what: str, names: list[str], wanted: list[str]) -> list[int]:
    """Return the places of the classes, or actions, among the names of a frame's rows or columns."""
    lacking = [each for each in wanted if each not in names]
    if lacking or len(set(names)) < len(names) or (what == "index" and len(names) != len(wanted)):
        raise ValueError(
            f"{name} must name each class once in its {what}, got {listed(names)} for the classes {listed(wanted)}"
        )
    return [names.index(each) for each in wanted]


def as_cost_matrix(name: str, values: Any, n_classes: int, labels: list[Any] | None = None) -> NDArray[np.float64]:
    """Return a cost matrix as finite float64 of shape (K, K), with a frame's rows and columns in the labels' order."""
    array = costs_by_name(name, values, labels, labels)[0] if is_frame(values) else as_array(name, values)
    if array.dtype.kind not in "fiub" or array.shape != (n_classes, n_classes):
        raise ValueError(
            f"{name} must hold numbers of shape {(n_classes, n_classes)}, got {array.dtype} of shape {array.shape}"
        )
    return _as_finite(name, array)


def _as_finite(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # longer floats may overflow
        costs = array.astype(np.float64)
    if not np.isfinite(costs).all():
        raise ValueError(f"{name} must be finite, but has a NaN or infinite value")
    return costs


# Shares of the classes --------------------------------------------------------------------------------------------


def as_class_shares(name: str, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Return shares of K classes as float64: finite, not negative, and summing to 1 up to rounding."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub" or array.shape != (n_classes,):
        raise ValueError(f"{name} must hold numbers of shape ({n_classes},), got {array.dtype} of shape {array.shape}")
    check_finite(name, array)
    shares = array.astype(np.float64)
    if shares.min() < 0:
        raise ValueError(f"{name} must not be negative, got {show(shares.min())}")
    with np.errstate(over="ignore"):
        total = shares.sum()
    if not abs(total - 1) <= sum_tolerance(array.dtype):
        raise ValueError(f"{name} must sum to 1, but its sum is {show(total)}")
    return shares


# Probabilities ----------------------------------------------------------------------------------------------------


def as_shares(name: str, values: Any) -> NDArray[np.float64]:
    """Return shares as a float64 array of any shape, within [0, 1]."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold numbers, got {show(values)}")
    array = array.astype(np.float64)
    outside = ~((array >= 0) & (array <= 1))  # includes NaN
    if outside.any():
        raise ValueError(f"{name} must be in [0, 1], got {show(array[outside][0])}")
    return array


def check_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless an argument is a result of the given class."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be {kind.__name__}, got {type(value).__name__}")


def check_has_thresholds(thresholds: NDArray[Any]) -> None:
    """Raise if a curve's points have no thresholds."""
    if np.isnan(thresholds[-1]):
        raise ValueError("a vertical average can't be read at a threshold: its points have no thresholds")


def as_named(name: str, value: Any, kind: type, *others: str) -> list[tuple[str | None, Any]]:
    """Return results of one kind by name; a single result has no name. `others` are further kinds that errors list."""
    first, *more = (f"a {each}" for each in (kind.__name__, *others))
    if not isinstance(value, Mapping):
        if not isinstance(value, kind):
            taken = ", ".join([first, *more])
            raise ValueError(f"{name} must be {taken} or a mapping of names to them, got {_kind(value)}")
        return [(None, value)]
    if not value:
        raise ValueError(f"{name} is an empty mapping: there is nothing to draw")
    for key, each in value.items():
        if not isinstance(each, kind):
            raise ValueError(f"{name}[{key!r}] must be {' or '.join([first, *more])}, got {_kind(each)}")
    return [(str(key), each) for key, each in value.items()]


def _kind(value: Any) -> str:
    return type(value).__name__
