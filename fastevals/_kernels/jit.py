"""The one decorator every kernel wears. numba is imported when a kernel is first called, which takes 0.2 s."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call: serial, without the GIL, with IEEE division, cached on disk."""
    return Kernel(function)


def sum_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, but additions may be regrouped: a sum over rows is then several at once, in a vector register.

    Where it is called from makes no difference to the bits, the width of the machine's registers does. Sum nothing
    that relies on rounding (a compensated sum, a small difference of large terms): that is for `kernel`.
    """
    return Kernel(function, fastmath={"reassoc"})


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
            from fastevals._kernels.compiler import dispatcher_of

            made.setdefault("compiled", dispatcher_of(self.__wrapped__, self.options))  # one, whatever threads do
            self._hold(made["compiled"])
        return made["compiled"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher(), name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)
