"""How numba compiles kernels without losing Ctrl-C or making a fork hang."""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import FrameType
from typing import Any

import numba
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.sigutils import normalize_signature

from fastevals._compile.cache import KernelCache
from fastevals._compile.interpreted import interpreted

COMPILING_SECONDS = 60.0  # how long a fork waits for a thread that compiles; a kernel takes up to 10 s on a slow core
SIGNAL_SECONDS = 0.01


def dispatcher_of(function: Callable[..., Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """Make a function that is compiled when called: serial, without the GIL, with IEEE division, cached on disk."""
    compiled = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if compiled is function:  # the JIT is switched off
        return interpreted(function)
    compiled._cache = KernelCache(compiled)
    _Compile(compiled)
    return compiled  # type: ignore[no-any-return]


# Kernels that kernels call ------------------------------------------------------------------------------------------


class _Compile:
    """Compiles a kernel for calls from Python, or for the kernels that call it.

    A caller links LLVM code. It needs no machine code and no wrapper for Python, which would take a tenth longer.
    """

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self.for_python, self.find_template = dispatcher.compile, dispatcher.get_call_template
        self.is_called_by_kernel = False
        self.linked: set[tuple[Any, ...]] = set()  # types of arguments that it is compiled for, but only for callers
        dispatcher.compile = _patient(self.compile)
        dispatcher.get_call_template = self.get_call_template  # which numba asks for when it compiles a caller
        dispatcher._compiler._customize_flags = self.customize

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        with global_compiler_lock:
            self.is_called_by_kernel = True
            try:
                return self.find_template(arguments, keywords)
            finally:
                self.is_called_by_kernel = False

    def compile(self, signature: Any) -> Any:
        with global_compiler_lock:
            arguments = tuple(normalize_signature(signature)[0])
            if self.is_called_by_kernel:
                if arguments not in self.dispatcher.overloads:
                    self.link(arguments)
                return self.dispatcher.overloads[arguments].entry_point
            if arguments in self.linked:
                self.linked.remove(arguments)
                del self.dispatcher.overloads[arguments]
            return self.for_python(signature)

    def link(self, arguments: tuple[Any, ...]) -> None:
        kernel, target = self.dispatcher, self.dispatcher.targetctx
        result = kernel._cache.load_linked(arguments, target)
        if result is None:
            result = kernel._cache.load_overload(arguments, target)
            if result is not None:
                kernel.add_overload(result)
        if result is None:
            with kernel._compiling_counter:
                result = kernel._compiler.compile(arguments, None)
            result = result._replace(entry_point=object())  # by which callers find it
            result.library._finalize_final_module = partial(_finish, result.library)
            kernel._cache.save_linked(arguments, result)
        if arguments not in kernel.overloads:
            kernel.overloads[arguments] = result
            self.linked.add(arguments)
        target.insert_user_function(result.entry_point, result.fndesc, [result.library])

    def customize(self, flags: Any) -> Any:
        if self.is_called_by_kernel:
            flags.no_compile = flags.no_cpython_wrapper = True
        return flags


def _finish(library: Any) -> None:
    """Do what numba does at the end of a library, without machine code."""
    library._finalize_dynamic_globals()
    library._verify_declare_only_symbols()
    library._finalized = True


# Ctrl-C -------------------------------------------------------------------------------------------------------------


class _Interrupt:
    """Defers Ctrl-C in the main thread while kernels are compiled.

    A compiler runs many destructors: if Ctrl-C raised in one, the exception would be printed and lost. If Ctrl-C raised
    just after a lock is taken, the lock would stay held.
    """

    def __init__(self) -> None:
        self.handler: Callable[[int, FrameType | None], Any] = signal.default_int_handler
        self.came = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.came = True

    def put_off(self) -> bool:
        """Defer Ctrl-C unless it is already deferred or Python does not handle it; return whether it is deferred."""
        if threading.current_thread() is not threading.main_thread():
            return False
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler) or handler == self._note:
            return False
        try:
            signal.signal(signal.SIGINT, self._note)
        except ValueError:  # the main thread of a subinterpreter, which receives no signals
            return False
        self.handler = handler
        return True

    def take_back(self) -> bool:
        """Restore the handler; return whether Ctrl-C came meanwhile."""
        signal.signal(signal.SIGINT, self.handler)
        came, self.came = self.came, False
        return came

    def deliver(self) -> None:
        """Raise a deferred KeyboardInterrupt, unless the program has its own handler; call where raising is safe."""
        main = threading.current_thread() is threading.main_thread()
        if self.came and main and self.handler is signal.default_int_handler:
            self.came = False
            raise KeyboardInterrupt


_interrupt = _Interrupt()


@contextlib.contextmanager
def _interrupt_put_off() -> Iterator[None]:
    if not _interrupt.put_off():
        yield
        return
    try:
        yield
    finally:
        if _interrupt.take_back():
            _interrupt.handler(signal.SIGINT, None)


def _patient(compile_for: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let Ctrl-C raise only between the passes of the compiler, and collect no garbage, which takes a tenth longer."""

    def compile(signature: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            with _interrupt_put_off():
                return compile_for(signature)
        finally:
            if collects:
                gc.enable()

    return compile


class _BetweenPasses(event.Listener):  # type: ignore[misc]
    def on_start(self, event: Any) -> None:
        _interrupt.deliver()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:run_pass", _BetweenPasses())


# Forks --------------------------------------------------------------------------------------------------------------


class _CompilerLock(threading.local):
    """The compiler's lock, taken before a fork; otherwise a child of a compiling parent would wait for it forever.

    An exception raised here would be printed and lost, so Ctrl-C is deferred.
    """

    locked = False
    put_off = False

    def before(self) -> None:
        self.put_off = _interrupt.put_off()
        # This times out only if the other thread waits for a lock held here, such as that of a module's import.
        self.locked = global_compiler_lock._lock.acquire(timeout=COMPILING_SECONDS)

    def after(self, *, parent: bool) -> None:
        if self.locked:
            global_compiler_lock._lock.release()
        if self.put_off and _interrupt.take_back() and parent:
            # This also interrupts a waiting call, because the signal wakes it.
            again = threading.Timer(SIGNAL_SECONDS, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
            again.daemon = True
            again.start()


fork = _CompilerLock()  # used by `jit`, which handles forks before numba is imported
