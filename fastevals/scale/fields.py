"""The fields of a summary read from bytes; each is requested by name and checked against a rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals.counts import MOST_ROWS
from fastevals.scale.cells import HIGHEST, LOWEST, Keys

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROOM, TIMES = 1 << 27, 1032  # bytes that even a small summary may unpack to, and zlib's largest expansion
LONGEST_DIGITS = 4096  # most digits of a hexadecimal number
DIGITS = frozenset("0123456789abcdef")  # hexadecimal digits


class Room:
    """The memory that a summary of `stored` bytes may take when unpacked, including the summaries inside it."""

    __slots__ = ("left", "most", "stored")

    def __init__(self, stored: int) -> None:
        self.stored = stored
        self.left = self.most = max(ROOM, TIMES * stored)

    def take(self, n_bytes: int) -> None:
        """Reserve bytes for unpacking; raise if fewer are left."""
        self.left -= n_bytes
        if self.left < 0:
            raise ValueError(f"{self.stored} bytes must unpack to at most {self.most}")


class Fields:
    """The head and the arrays of a summary that was read."""

    __slots__ = ("_arrays", "_head", "room")

    def __init__(self, head: dict[str, Any], arrays: dict[str, NDArray[np.uint64]], room: Room) -> None:
        self._head, self._arrays, self.room = head, arrays, room

    def __contains__(self, name: str) -> bool:
        """Return whether a field exists; summaries of an earlier version may lack it."""
        return name in self._head or name in self._arrays

    def check_all_read(self) -> None:
        """Raise if a field was never requested."""
        for name in (*self._head, *self._arrays):
            raise ValueError(f"it has a field {show(name)}, which such a summary does not have")

    def item(self, name: str, rule: str, is_valid: Callable[[Any], bool]) -> Any:
        """Return a field of the head; raise if it is missing or not valid."""
        if name not in self._head:
            raise ValueError(f"{name} is missing")
        value = self._head.pop(name)
        if not is_valid(value):
            raise ValueError(f"{name} must be {rule}, got {_shown(value)}")
        return value

    def integer(self, name: str, low: int = 0, high: int = MOST_ROWS) -> int:
        """Return an integer from `low` to `high`."""
        rule = f"an integer from {low} to {high}"
        return self.item(name, rule, lambda value: type(value) is int and low <= value <= high)  # type: ignore[no-any-return]

    def flag(self, name: str) -> bool:
        """Return true or false."""
        return self.item(name, "true or false", lambda value: isinstance(value, bool))  # type: ignore[no-any-return]

    def is_weighted(self) -> bool:
        """Return whether rows have weights that are not copies; weights from older versions are taken for copies."""
        return "weighted" in self and self.flag("weighted")

    def text(self, name: str) -> str:
        """Return text."""
        return self.item(name, "text", lambda value: isinstance(value, str))  # type: ignore[no-any-return]

    def text_or_none(self, name: str) -> str | None:
        """Return text, or None."""
        return self.item(name, "text or none", lambda value: isinstance(value, (str, type(None))))  # type: ignore[no-any-return]

    def many(self, name: str, what: str, is_valid: Callable[[Any], bool], size: int | None = None) -> list[Any]:
        """Return a list, which must have `size` items if `size` is given."""
        rule = f"a list of {what}" if size is None else f"a list of {size} {what}"
        return self.item(  # type: ignore[no-any-return]
            name, rule,
            lambda value: isinstance(value, list) and size in (None, len(value)) and all(map(is_valid, value)),
        )  # fmt: skip

    def label(self, name: str) -> Any:
        """Return a label, or None."""
        return self.item(name, "a label or none", is_label)

    def labels(self, mark: str | None = None) -> tuple[Any, Any]:
        """Return the positive and the negative label; None if unknown.

        If the positive label is unknown, the negative label must be None or `mark`.
        """
        positive, negative = self.many("labels", "labels or none", is_label, 2)
        if positive is None and negative not in (None, mark):
            raise ValueError(f"labels must have a positive one, got {show(negative)} alone")
        alike = isinstance(positive, str) == isinstance(negative, str) and positive != negative
        if None not in (positive, negative) and not alike:
            raise ValueError(f"labels must be two of one type, got {show(positive)} and {show(negative)}")
        return positive, negative

    def number(self, name: str) -> float | None:
        """Return a finite float, stored in base 16, or None."""
        value = self.item(name, "a finite number in base 16, or none", lambda value: value is None or _is_float(value))
        return None if value is None else float.fromhex(value)

    def numbers(self, name: str, size: int) -> list[float]:
        """Return floats that are not NaN."""
        values = self.many(name, "numbers in base 16", lambda value: _is_float(value, infinite=True), size)
        return list(map(float.fromhex, values))

    def integers(self, name: str, size: int) -> list[int]:
        """Return non-negative integers of any size, stored in base 16."""
        return [int(value, 16) for value in self.many(name, "integers in base 16", is_hex, size)]

    def array(self, name: str, size: int | None = None) -> NDArray[np.uint64]:
        """Return an array, which must have `size` values if `size` is given."""
        if name not in self._arrays:
            raise ValueError(f"{name} is missing")
        values = self._arrays.pop(name)
        if size not in (None, values.size):
            raise ValueError(f"{name} must have {size} values, got {values.size}")
        return values

    def counts(self, name: str, size: int | None = None, *, high: int = MOST_ROWS) -> Ints:
        """Return integers from 0 to `high`."""
        values = self.array(name, size)
        largest = int(values.max(initial=0))
        if largest > high:
            raise ValueError(f"{name} must be integers up to {high}, got {largest}")
        return values.view(np.int64)

    def keys(self, name: str, size: int | None = None) -> Keys:
        """Return keys of finite scores."""
        values = self.array(name, size)
        if values.size and (values.min() < LOWEST or values.max() > HIGHEST):
            raise ValueError(f"{name} must be scores")
        return values

    def floats(self, name: str, size: int | None = None) -> Floats:
        """Return floats that are not NaN."""
        values = self.array(name, size).view(np.float64)
        if np.isnan(values).any():
            raise ValueError(f"{name} must not be NaN")
        return values

    def content(self, name: str, size: int) -> bytes:
        """Return `size` bytes, which are stored as an array."""
        values = self.array(name)
        if not 0 <= 8 * values.size - size < 8:
            raise ValueError(f"{name} must have {size} bytes, got {8 * values.size}")
        return values.tobytes()[:size]


def is_label(value: Any) -> bool:
    """Return whether a value is None or a label that summaries may have."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool, type(None))) or (isinstance(value, int) and -(2**63) <= value < 2**64)


def is_count(value: Any) -> bool:
    """Return whether a value can be a number of rows: an int from 0 to MOST_ROWS."""
    return type(value) is int and 0 <= value <= MOST_ROWS


def _is_float(value: Any, *, infinite: bool = False) -> bool:
    try:
        number = float.fromhex(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isfinite(number) or (infinite and not math.isnan(number))


def is_hex(value: Any) -> bool:
    """Return whether a value is a non-negative integer in base 16, as `hex` writes it."""
    digits = value.removeprefix("0x") if isinstance(value, str) else ""
    return 0 < len(digits) <= LONGEST_DIGITS and set(digits) <= DIGITS


def _shown(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (list, dict)) else show(value)
