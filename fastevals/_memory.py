"""Memory that is used again: fresh pages from the system cost a sort as much time as a pass over its rows.

An array that is lent gives its memory back when it and all views of it are gone. Little is kept: that of the last
arrays, 128 MiB at most.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["lend"]

LEAST = 1 << 18  # bytes: fewer are no trouble to the system's allocator
MOST = 1 << 27  # bytes kept

# Nobody waits for the lock: the collector may give an array back in the middle of anything, and a fork may have left it
# locked. Who doesn't get it does without.
_lock = threading.Lock()
_kept: list[NDArray[np.uint8]] = []  # the last one given back comes last


class _Loan:
    """Owner of the memory of one array."""

    def __init__(self, memory: NDArray[np.uint8], size: int, dtype: np.dtype[Any]) -> None:
        self.memory = memory
        self.__array_interface__ = {
            "version": 3,
            "data": (memory.ctypes.data, False),
            "shape": (size,),
            "typestr": dtype.str,
        }

    def __del__(self, lock: Any = _lock, most: int = MOST, kept: list[NDArray[np.uint8]] = _kept) -> None:
        if lock.acquire(blocking=False):  # at the end of the interpreter a module has no names left, hence the defaults
            kept.append(self.memory)
            while sum(memory.size for memory in kept) > most:
                del kept[0]
            lock.release()


def lend(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Give an array of shape (size,) that holds anything, as `numpy.empty` does."""
    dtype = np.dtype(dtype)
    n_bytes = size * dtype.itemsize
    if not LEAST <= n_bytes <= MOST:
        return np.empty(size, dtype=dtype)
    memory = None
    if _lock.acquire(blocking=False):
        fits = (i for i in reversed(range(len(_kept))) if n_bytes <= _kept[i].size <= 2 * n_bytes)
        i = next(fits, None)
        memory = None if i is None else _kept.pop(i)
        _lock.release()
    if memory is None:
        memory = np.empty(n_bytes, dtype=np.uint8)
    return np.asarray(_Loan(memory, size, dtype))
