"""The decorators that every kernel uses. numba is imported when a kernel is first called, which takes 0.2 s."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any

from fastevals._compile import interpreted

IMPORT_SECONDS = 20.0  # how long a fork waits for another thread's import, which takes 2 s on a slow disk


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile `function` on its first call: serial, without the GIL, with IEEE division, cached on disk."""
    return Kernel(function)


def spared_kernel(function: Callable[..., Any]) -> Kernel:
    """Compile like `kernel`, but run as Python until calls from Python have passed `ITEMS_PER_KERNEL` items.

    For a loop over rows that a report calls a few times. Logarithms must be those of `math` (see `interpreted`).
    """
    return Kernel(function, is_spared=True)


def sum_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile like `kernel`, but let additions be regrouped, so that a sum over rows uses vector registers.

    The bits of the sum depend on the width of the machine's registers, but not on the caller. Don't sum anything that
    relies on rounding (a compensated sum, a small difference of large terms); use `kernel` for that.
    """
    return Kernel(function, fastmath={"reassoc"})


def inline_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile like `kernel`, but always inline into the calling kernels.

    A loop with a call is not vectorised, and each array argument of a call is reference-counted, which often takes
    longer than the work for a row or group. Inlining avoids both costs if the function has one exit, its last line,
    and calls only inline kernels.
    """
    return Kernel(function, forceinline=True)


def fused_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile like `inline_kernel`, and allow a product and an addition to be rounded once (fused multiply-add).

    This is a third faster and never less exact. The function must not rely on the rounding of a product.
    """
    return Kernel(function, forceinline=True, fastmath={"contract"})


def kernel_maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """Cache the kernel that `make` makes from other kernels, so that it is compiled once for the same kernels."""
    return cache(make)


class Kernel(partial[Any]):
    """A function that numba compiles on the first call; it also has the attributes of numba's dispatcher.

    It is a `functools.partial`, which calls its function without a step in Python. At first this function is
    `_first_call`, which makes the dispatcher; later it is the dispatcher.
    """

    def __new__(cls, function: Callable[..., Any], *, is_spared: bool = False, **options: Any) -> Kernel:
        """Store the function and numba's options for it."""
        kernel = super().__new__(cls, function)
        update_wrapper(kernel, function)
        vars(kernel).update(options=options, is_spared=is_spared, items=0)
        kernel._hold(kernel._first_call)
        return kernel

    def _hold(self, call: Callable[..., Any]) -> None:
        self.__setstate__((call, (), {}, vars(self)))

    def _first_call(self, *arguments: Any) -> Any:
        if self.is_spared and self.spares(interpreted.items_of(arguments)):
            return interpreted.run_as_python(self.python(), arguments)
        return self.dispatcher()(*arguments)

    def spares(self, items: int, most: int = 0) -> bool:
        """Return whether to do without the compiled kernel for these items; if so, count them.

        From `ITEMS_PER_KERNEL` items on, and up to `most`, a kernel is spared only if it is not on disk.
        """
        made = vars(self)
        if "compiled" in made or not interpreted.fits(made["items"] + items, most, self.is_kept):
            return False
        made["items"] += items
        return True

    def is_kept(self) -> bool:
        """Return whether the kernel seems to be on disk, compiled for some arguments."""
        from fastevals._compile.cache import kept_kernels

        return f"{self.__module__.rpartition('.')[2]}.{self.__name__}" in kept_kernels()

    def python(self) -> Callable[..., Any]:
        """Return the function as Python, which calls other kernels as Python, too."""
        made = vars(self)
        if "as_python" not in made:
            read = self.__wrapped__.__globals__
            names = {name: read[name] for name in self.__wrapped__.__code__.co_names if name in read}
            names = {name: each.python() if isinstance(each, Kernel) else each for name, each in names.items()}
            made["as_python"] = interpreted.as_python(self.__wrapped__, names)
        return made["as_python"]  # type: ignore[no-any-return]

    def dispatcher(self) -> Any:
        """Return numba's dispatcher for the function, or the function itself if the JIT is switched off."""
        made = vars(self)
        if "compiled" not in made:
            with _fork.loading:
                from fastevals._compile.compiler import dispatcher_of

                made.setdefault("compiled", dispatcher_of(self.__wrapped__, self.options))  # one for all threads
            self._hold(made["compiled"])
        return made["compiled"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher(), name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)


class _Fork(threading.local):
    """Makes a fork wait for threads that import numba or compile; otherwise a child would see their work half done."""

    loading = threading.RLock()
    held = False
    compiling: Any = None

    def before(self) -> None:
        # This times out only if the other thread waits for a module that this thread imports.
        self.held = self.loading.acquire(timeout=IMPORT_SECONDS)
        self.compiling = getattr(sys.modules.get("fastevals._compile.compiler"), "fork", None) if self.held else None
        if self.compiling:  # take its lock first, since compiling a kernel loads the kernels that it calls
            self.loading.release()
            self.compiling.before()
            self.held = self.loading.acquire(timeout=IMPORT_SECONDS)

    def after(self, *, parent: bool) -> None:
        if self.compiling:
            self.compiling.after(parent=parent)
        if self.held:
            self.loading.release()


_fork = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_fork.before,
        after_in_parent=lambda: _fork.after(parent=True),
        after_in_child=lambda: _fork.after(parent=False),
    )
