"""A line on standard error while a command compiles kernels for the first time on a machine."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

_listening: list[Callable[[int], None]] = []
_said: list[float] = []  # when the line was first written; empty if it is not on screen


@contextlib.contextmanager
def first_compile_said(n_kernels: int) -> Iterator[None]:
    """Once a kernel is not found on disk, write on standard error how many are left to compile.

    Write nothing if the ``with`` block compiles nothing, or if `n_kernels` is 0.

    Parameters
    ----------
    n_kernels : int
        Approximate number of kernels that a first run compiles.
    """
    before: list[int] = []

    def say(n_files: int) -> None:
        before[:] = before or [n_files]
        _said[:] = _said or [time.perf_counter()]
        left = max(n_kernels - (n_files - before[0]), 1)
        _write(f"compiling kernels, once on this machine: about {left} left", "")

    if n_kernels:
        _listening.append(say)
    try:
        yield
    finally:
        _listening.clear()
        if _said:
            _write(f"compiled kernels, once on this machine: {time.perf_counter() - _said.pop():.0f} s", "\n")


def is_said() -> bool:
    """Return whether the line is on screen; a progress bar would overwrite it."""
    return bool(_said)


def note_missing(n_files: Callable[[], int]) -> None:
    """Report that a kernel is being compiled; `n_files` returns the number of compiled kernels on disk."""
    for say in _listening:
        say(n_files())


def _write(line: str, end: str) -> None:
    print(f"\r{line:70}".rstrip() if end else f"\r{line:70}", end=end, file=sys.stderr, flush=True)
