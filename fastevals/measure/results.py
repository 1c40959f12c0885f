"""What results share, and what metrics with a threshold return."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNDEFINED", "Frozen", "Interval", "OperatingPoint", "as_json", "number_or_array", "plain"]


class Frozen:
    """A dataclass whose arrays are read-only, also in a copy, and that is strict JSON as a dict."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, each.name, view)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), {each.name: getattr(self, each.name) for each in fields(self) if each.init})  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return every public attribute as strict JSON has it: arrays as lists, other results as dicts, NaN as None."""
        return {name: as_json(getattr(self, name)) for name in _public(type(self))}  # type: ignore[arg-type]


@cache
def _public(kind: type[Any]) -> list[str]:
    """Return the names of a result's fields and properties."""
    named = dict.fromkeys(each.name for each in fields(kind))
    for each in reversed(kind.__mro__):
        named |= dict.fromkeys(name for name, value in vars(each).items() if isinstance(value, property))
    return [name for name in named if not name.startswith("_")]


def _rebuilt(kind: type[Frozen], values: dict[str, Any]) -> Frozen:
    return kind(**values)


@dataclass(frozen=True, slots=True)
class OperatingPoint(Frozen):
    """A value and the threshold that attains it; unpacks as ``value, threshold`` and converts with ``float()``.

    Attributes
    ----------
    value : float
        The metric's value, NaN where it is undefined.
    threshold : float or int
        Rows with ``score >= threshold`` are predicted positive; +inf predicts none, NaN means there is none. An int
        where a float would round it: for integer scores past 2**53.

    Examples
    --------
    >>> import fastevals
    >>> point = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).best_threshold("f1")
    >>> point
    OperatingPoint(value=0.8, threshold=0.3)
    >>> value, threshold = point
    """

    value: float
    threshold: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.value, self.threshold))

    def __float__(self) -> float:
        return float(self.value)


class Interval(NamedTuple):
    """From `low` to `high`; NaN where there is none."""

    low: float
    high: float


UNDEFINED = OperatingPoint(math.nan, math.nan)


def plain(value: Any) -> Any:
    """Give an array's number as a float, or as an int where it is one that a float would round."""
    value = value.item()
    if not isinstance(value, np.longdouble) or float(value) == value or not np.isfinite(value):
        return float(value)
    return int(value) if value == np.trunc(value) else value


def as_json(value: Any) -> Any:
    """Return a value as strict JSON has it, and gives it back: NaN as None, what is infinite as "Infinity".

    Arrays, intervals and tuples are lists, named tuples and results dicts, keys and dates text; what JSON has no kind
    for is given as its repr.
    """
    kind = type(value)  # what most values are comes first
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [as_json(each) for each in value]
    if isinstance(value, np.longdouble):
        number = plain(value)
        return number if isinstance(number, int) else as_json(float(number))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    if isinstance(value, np.generic):
        own = value.item()
        return repr(own) if isinstance(own, np.generic) else as_json(own)
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return None if math.isnan(value) else float(value)
    if isinstance(value, np.ndarray):
        return _array_as_json(value)
    if isinstance(value, (str, int)):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict") and not isinstance(value, Interval):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(as_json(key)): as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, (list, tuple)) else repr(value)


def _array_as_json(array: NDArray[Any]) -> Any:
    kind = array.dtype.kind
    if not array.ndim:
        return as_json(array[()])
    if kind not in "biuf" or array.dtype == np.longdouble:
        return [as_json(each) for each in array]
    odd = ~np.isfinite(array) if kind == "f" else np.zeros(array.shape, dtype=bool)
    if odd.any():
        numbers, array = array, array.astype(object)
        array[odd] = [as_json(each) for each in numbers[odd].tolist()]
    return array.tolist()


def number_or_array(values: Any) -> Any:
    """Give an array without axes as a float."""
    values = np.asarray(values)
    return values if values.ndim else plain(values)
