"""Kernels without the compiler (NUMBA_DISABLE_JIT): Python code that handles narrow integers as compiled code does.

numba adds two items of 8, 16 or 32 bits as 64-bit integers; NumPy's scalars of these types wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np


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
