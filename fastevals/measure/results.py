"""What results share, and what metrics with a threshold return."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

__all__ = ["UNDEFINED", "Frozen", "Interval", "OperatingPoint", "as_list", "number_or_array", "plain"]


class Frozen:
    """A dataclass whose arrays are read-only, also in a copy, and lists in a dict."""

    __slots__ = ()
    MADE_OF: ClassVar[tuple[str, ...]] = ()  # fields that are not part of what it says, and not of its dict

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
        """Give the fields as JSON has them: arrays and tuples as lists, other results as dicts, the rest as text."""
        names = [each.name for each in fields(self) if each.name not in self.MADE_OF]  # type: ignore[arg-type]
        return {name: as_list(getattr(self, name)) for name in names if not name.startswith("_")}


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


def as_list(values: Any) -> Any:
    """Give a value as JSON has it: arrays, intervals and tuples as lists, named tuples and results as dicts.

    What JSON has no kind for is given as its repr.
    """
    if isinstance(values, np.generic):
        return plain(values) if isinstance(values, np.longdouble) else as_list(values.item())
    if isinstance(values, np.ndarray):
        numbers = values.dtype.kind in "biuf" and values.dtype != np.longdouble
        return values.tolist() if numbers else list(map(as_list, values))
    if values is None or isinstance(values, (str, int, float)):
        return values
    if hasattr(values, "to_dict"):
        return values.to_dict()
    if hasattr(values, "_asdict") and not isinstance(values, Interval):
        return as_list(values._asdict())
    if isinstance(values, Mapping):
        names = [name if isinstance(name, (str, int, float)) else str(name) for name in map(as_list, values)]
        return dict(zip(names, map(as_list, values.values()), strict=True))
    return list(map(as_list, values)) if isinstance(values, (list, tuple)) else repr(values)


def number_or_array(values: Any) -> Any:
    """Give an array without axes as a float."""
    values = np.asarray(values)
    return values if values.ndim else plain(values)
