"""Reuse memory: in a sort, getting fresh pages from the system takes as long as a pass over the rows.

A lent array returns its memory when the array and all its views are gone. Only the memory of the most recent arrays is
kept, up to 128 MiB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LEAST_BYTES = 1 << 18  # bytes, below which the system's allocator is fast enough
MOST_BYTES = 1 << 27  # bytes kept

# There is no lock, because an interrupt or a fork could leave it held. Each method call is atomic; at worst, other
# threads or the garbage collector act in between, and memory goes back to the system. The newest memory comes last.
_kept: list[NDArray[np.uint8]] = []


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

    def __del__(self, kept: list[NDArray[np.uint8]] = _kept, most: int = MOST_BYTES) -> None:
        kept.append(self.memory)  # at interpreter exit a module has no names left, hence the defaults
        too_much = sum(memory.size for memory in kept) - most
        try:
            while too_much > 0:
                too_much -= kept.pop(0).size
        except IndexError:  # another thread took the rest
            pass


def _take(n_bytes: int) -> NDArray[np.uint8] | None:
    """Return kept memory of at least `n_bytes` and at most a quarter more, or None."""
    for i in reversed(range(len(_kept))):
        try:
            memory = _kept.pop(i)
        except IndexError:  # another thread took it
            continue
        if n_bytes <= memory.size <= n_bytes + n_bytes // 4:
            return memory
        _kept.insert(i, memory)
    return None


def lend(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialized array of shape (size,), like `numpy.empty`. The array does not own its memory."""
    dtype = np.dtype(dtype)
    n_bytes = size * dtype.itemsize
    if not LEAST_BYTES <= n_bytes <= MOST_BYTES:
        return np.empty(size, dtype=dtype)
    memory = _take(n_bytes)
    return np.asarray(_Loan(np.empty(n_bytes, dtype=np.uint8) if memory is None else memory, size, dtype))
