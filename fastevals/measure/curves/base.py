"""What all curves share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.results import plain

__all__ = ["Curve"]


class Curve:
    """A dataclass of arrays of one length: unpacks in the order of its fields, and its arrays are read-only."""

    __slots__ = ()
    thresholds: NDArray[Any]

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, check.read_only(field.name, getattr(self, field.name)))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.thresholds.size

    def to_dict(self) -> dict[str, list[float]]:
        """Give the arrays as lists."""
        return {field.name: list(map(plain, getattr(self, field.name))) for field in fields(self)}  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[type[Curve], tuple[Any, ...]]:
        return type(self), tuple(self)  # through the constructor: the arrays of a copy are read-only too
