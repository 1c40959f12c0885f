"""Kernels without the compiler: Python code that handles numbers as compiled code does.

numba adds two items of 8, 16 or 32 bits as 64-bit integers; NumPy's scalars of these types wrap around.

All kernels run so with NUMBA_DISABLE_JIT. Spared kernels run so while rows are few, since compiling one takes as long
as Python does for 30,000 items. Python computes the same bits if a kernel adds floats in the order written, and calls
logarithms from `math` (NumPy's own differ in the last bit on some processors).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

ITEMS_PER_KERNEL = 1 << 15  # items that Python walks in a process for each kernel; 0 compiles all kernels at once


class Items(np.ndarray[Any, Any]):
    """An array of narrow integers or booleans: items are read as int or bool; assigned values keep their low bits."""

    def __getitem__(self, key: Any) -> Any:
        item = super().__getitem__(key)
        return item if isinstance(item, np.ndarray) else item.item()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (int, np.integer)) and self.dtype.kind in "iu":
            value = np.array(int(value) & (2**64 - 1), dtype=np.uint64).astype(self.dtype)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a kernel's function so that it computes with its arguments as compiled code would."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return _plain(function(*map(_wide, arguments)))

    return call


def _wide(value: Any) -> Any:
    """Return a narrow integer, or an array's items, as Python's integers; return anything else unchanged."""
    narrow = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biu" and value.dtype.itemsize < 8
    if not narrow:
        return value
    return value.view(Items) if isinstance(value, np.ndarray) else value.item()


def _plain(result: Any) -> Any:
    """Return a kernel's result, with `Items` converted to plain arrays."""
    if isinstance(result, tuple):
        return tuple(map(_plain, result))
    return np.asarray(result) if isinstance(result, Items) else result


# Kernels that are spared while rows are few ---------------------------------------------------------------------------


def items_of(arguments: tuple[Any, ...]) -> int:
    """Return the number of items in the longest array."""
    return max((each.size for each in arguments if isinstance(each, np.ndarray)), default=0)


def fits(items: int, most: int, is_kept: Callable[[], bool]) -> bool:
    """Return whether a process may do without a kernel for so many items, see `Kernel.spares`."""
    return items <= ITEMS_PER_KERNEL or (bool(ITEMS_PER_KERNEL) and items <= most and not is_kept())


class _Numbers(list[Any]):
    """A read-only column as Python's numbers, which are read in half the time of NumPy's."""

    __slots__ = ("size",)

    def __init__(self, array: Any) -> None:
        super().__init__(array.tolist())
        self.size = len(self)


def _as_column(value: Any) -> Any:
    is_column = isinstance(value, np.ndarray) and value.ndim == 1 and not value.flags.writeable
    return _Numbers(value) if is_column else value


def as_python(function: FunctionType, names: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a kernel's function as Python, with `names` as its globals."""
    named = {name: MATH if value is math else value for name, value in names.items()}
    return FunctionType(function.__code__, named, function.__name__, function.__defaults__)


def run_as_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a kernel's function, once more with NumPy's numbers if Python's can't be divided by 0."""
    call = interpreted(function)
    try:
        return call(*map(_as_column, arguments))
    except ZeroDivisionError:
        return call(*arguments)


def _log1p(x: float) -> float:
    """Return log(1 + x) as compiled code does, which raises no error."""
    return math.log1p(x) if x > -1.0 else -math.inf if x == -1.0 else math.nan


MATH = SimpleNamespace(log1p=_log1p)  # in place of `math`, from which these kernels need nothing else
