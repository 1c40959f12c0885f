"""The one decorator every kernel wears. numba is imported when a kernel is first called, which takes 0.2 s."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any

IMPORT_SECONDS = 20.0  # seconds that a fork waits for another thread's import; two on a slow disk


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call: serial, without the GIL, with IEEE division, cached on disk."""
    return Kernel(function)


def sum_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, but additions may be regrouped: a sum over rows is then several at once, in a vector register.

    Where it is called from makes no difference to the bits, the width of the machine's registers does. Sum nothing
    that relies on rounding (a compensated sum, a small difference of large terms): that is for `kernel`.
    """
    return Kernel(function, fastmath={"reassoc"})


def inline_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, but always copied into the kernels that call it.

    A loop with a call has no vectors, and each array of a call is counted as referred to, and as no longer so, which
    takes longer than most of what is done for a row or a group. Where it is copied this falls away, if it has one
    exit, its last line, and itself calls none that are not.
    """
    return Kernel(function, forceinline=True)


def fused_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `inline_kernel`, and a product and what is added to it may be rounded once, where the machine can.

    That is a third faster, and nowhere less exact. Nothing in it relies on the rounding of a product.
    """
    return Kernel(function, forceinline=True, fastmath={"contract"})


def kernel_maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what `make` makes of kernels: one that calls them. It is made, and so compiled, once for the same ones."""
    return cache(make)


class Kernel(partial[Any]):
    """A function that numba compiles; it has the attributes of numba's dispatcher, too.

    A partial calls what it holds without a step in Python: at first what makes the dispatcher, from then on that.
    """

    def __new__(cls, function: Callable[..., Any], **options: Any) -> Kernel:
        """Hold the function, and numba's options for it."""
        kernel = super().__new__(cls, function)
        update_wrapper(kernel, function)
        vars(kernel)["options"] = options
        kernel._hold(kernel._first_call)
        return kernel

    def _hold(self, call: Callable[..., Any]) -> None:
        self.__setstate__((call, (), {}, vars(self)))

    def _first_call(self, *arguments: Any) -> Any:
        return self.dispatcher()(*arguments)

    def dispatcher(self) -> Any:
        """Return what numba makes of the function: with its JIT switched off, the function itself."""
        made = vars(self)
        if "compiled" not in made:
            with _fork.loading:
                from fastevals._compile.compiler import dispatcher_of

                made.setdefault("compiled", dispatcher_of(self.__wrapped__, self.options))  # one, whatever threads do
            self._hold(made["compiled"])
        return made["compiled"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher(), name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)


class _Fork(threading.local):
    """A fork waits for another thread's import of numba, which a child would find half done, and for its compiling."""

    loading = threading.RLock()
    held = False
    compiling: Any = None

    def before(self) -> None:
        # In vain only if the other thread waits for a module that this one imports.
        self.held = self.loading.acquire(timeout=IMPORT_SECONDS)
        self.compiling = getattr(sys.modules.get("fastevals._compile.compiler"), "fork", None) if self.held else None
        if self.compiling:  # its lock comes first: what is compiled loads what it calls
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
