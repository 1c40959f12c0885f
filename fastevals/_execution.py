"""The one place that runs kernels over chunks: threads, progress, interrupts, and recovery after a fork.

Kernels are serial and release the GIL; `run` distributes calls over threads. Chunks depend only on the data, so results
are the same to the bit with any number of threads.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from fastevals._compile.notice import is_said
from fastevals._limits import available_cpus
from fastevals._options import check_integer, import_optional

T = TypeVar("T")
R = TypeVar("R")

ROWS_PER_BLOCK = 1 << 16  # rows whose temporaries stay in cache, yet enough that threads rarely wait for the GIL
MAX_CHUNKS = 64  # enough to balance many threads, few enough that the memory per chunk stays small in total
MAX_THREADS = 1024


def _initial_threads() -> int:
    wanted = os.environ.get("FASTEVALS_NUM_THREADS")
    if not wanted:
        return available_cpus()
    try:
        value: object = int(wanted)
    except ValueError:
        value = wanted
    return check_integer("FASTEVALS_NUM_THREADS", value, low=1, high=MAX_THREADS)


class _State:
    """Settings and threads of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pool: ThreadPoolExecutor | None = None
        self.threads: int | None = None
        self.compiled: set[Hashable] = set()


_state = _State()
_threads_here: ContextVar[int | None] = ContextVar("fastevals_num_threads", default=None)


def _reset_after_fork() -> None:
    """Drop the parent's threads, which a child does not have, and the parent's lock, which another thread may hold."""
    _state.lock = threading.Lock()
    _state.pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def get_num_threads() -> int:
    """Return the number of threads that a call made here would use."""
    here = _threads_here.get()
    if here is not None:
        return here
    if _state.threads is None:
        _state.threads = _initial_threads()
    return _state.threads


def set_num_threads(n: int) -> None:
    """Set the number of threads for the whole process.

    The default is the environment variable ``FASTEVALS_NUM_THREADS``, or else the number of CPUs that this process may
    use. Results do not depend on the number of threads.

    Parameters
    ----------
    n : int
        From 1 to 1024.

    Raises
    ------
    ValueError
        If `n` is not such a number.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.set_num_threads(fastevals.get_num_threads())
    """
    _state.threads = check_integer("n", n, low=1, high=MAX_THREADS)


@contextlib.contextmanager
def num_threads(n: int) -> Iterator[None]:
    """Use `n` threads inside a ``with`` block, only in this thread or task.

    Parameters
    ----------
    n : int
        From 1 to 1024.

    Raises
    ------
    ValueError
        If `n` is not such a number.

    Examples
    --------
    >>> import fastevals
    >>> with fastevals.num_threads(1):
    ...     auc = fastevals.Ranking([0, 1, 1], [0.1, 0.4, 0.3]).roc_auc()
    >>> auc
    1.0
    """
    token = _threads_here.set(check_integer("n", n, low=1, high=MAX_THREADS))
    try:
        yield
    finally:
        _threads_here.reset(token)


def chunks(n: int, width: int = 1, block: int = ROWS_PER_BLOCK) -> list[slice]:
    """Cut n rows of `width` values each into at most 64 slices.

    Each slice has at least `block` values; only the last may have fewer. The slices depend only on the arguments.
    """
    size = max(-(-block // max(width, 1)), -(-n // MAX_CHUNKS))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def blocks(part: slice, size: int = ROWS_PER_BLOCK) -> Iterator[slice]:
    """Cut a slice into shorter ones that fit into cache."""
    for start in range(part.start, part.stop, size):
        yield slice(start, min(start + size, part.stop))


def run(
    task: Callable[..., R],
    items: Sequence[Any],
    *,
    workspace: Callable[[], Any] | None = None,
    progress: bool = False,
    compiles: Hashable = None,
) -> list[R]:
    """Call `task` on each item, distributed over threads; return the results in the order of the items.

    The calling thread works too, so a call inside a task, or with all pool threads busy, still completes. The first
    error, or Ctrl-C, stops all threads after their current items.

    Parameters
    ----------
    task : callable
        Called as ``task(item)``, or ``task(item, space)`` with a `workspace`.
    items : sequence
        The items.
    workspace : callable, optional
        Makes the working memory of a thread.
    progress : bool
        Show a progress bar (needs tqdm).
    compiles : True or hashable, optional
        The task calls kernels that may not be compiled yet, so other threads start only after its first item. Otherwise
        the other threads would wait for the compiler, and if one of them compiled, the caller would wait without
        noticing Ctrl-C. A value other than True identifies the kernels and their types: once a call with this value
        has run, later calls start all threads at once.
    """
    threads = get_num_threads()  # for any items, so that an invalid setting is always an error
    if len(items) == 1 and not progress:  # few rows are one item; the rest of this function would cost more
        result = task(items[0]) if workspace is None else task(items[0], workspace())
        _state.compiled.add(compiles)
        return [result]
    alone = compiles is True or (bool(compiles) and compiles not in _state.compiled)
    results: list[Any] = [None] * len(items)
    todo = iter(range(len(items)))
    stop = threading.Event()
    done: deque[int] = deque()
    with progress_bar(len(items), progress) as show:

        def work(tick: Callable[[int], object] = lambda number: None) -> None:
            space = () if workspace is None else (workspace(),)
            for i in todo:  # next() on a range iterator is atomic
                if stop.is_set():
                    return
                results[i] = task(items[i], *space)
                done.append(i)
                tick(len(done))

        helpers: list[_Helper] = []

        def start(left: int) -> None:
            _start(work, min(threads, left) - 1, stop, helpers)

        def show_and_start(number: int) -> None:
            show(number)
            if number == 1:
                _state.compiled.add(compiles)
                start(len(items) - 1)

        try:
            if not alone:
                start(len(items))
            # Only this thread shows progress: Ctrl-C may leave the bar locked, and a helper would then wait forever.
            work(show_and_start if alone else show)
        except BaseException:
            stop.set()
            raise
        finally:
            _finish(helpers, stop)
        show(len(done))
    return results


class _Helper(Future[None]):
    """Work for one more thread; if it has not started when the caller is done, it is dropped from the pool's queue."""

    def __init__(self, work: Callable[[], None], stop: threading.Event) -> None:
        super().__init__()
        self.work: Callable[[], None] | None = work
        self.stop = stop

    def __call__(self) -> None:
        """Do the work, in a thread of the pool."""
        if not self.set_running_or_notify_cancel():
            return
        assert self.work is not None  # dropped only when done or cancelled
        try:
            self.work()
        except BaseException as error:
            self.stop.set()
            self.set_exception(error)
        else:
            self.set_result(None)


def _start(work: Callable[[], None], number: int, stop: threading.Event, helpers: list[_Helper]) -> None:
    """Start more threads and append them to `helpers`; an error in one stops the others."""
    if number < 1:
        return
    with _state.lock:
        if _state.pool is None:
            _state.pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="fastevals")
        pool = _state.pool
    for _ in range(number):
        helper = _Helper(work, stop)
        helpers.append(helper)  # before `submit`, so that `_finish` always knows it
        try:
            pool.submit(helper)
        except RuntimeError:
            # The system has no more threads, or the interpreter is shutting down. The pool may still have queued the
            # helper, and a thread may run it later. Until then the caller works alone.
            return


def _finish(helpers: list[_Helper], stop: threading.Event) -> None:
    """Wait for the helpers; a second Ctrl-C meanwhile does not leave them running."""
    interrupted: BaseException | None = None
    for helper in helpers:
        while not helper.cancel() and not helper.done():
            try:
                helper.exception()
            except KeyboardInterrupt as error:
                stop.set()
                interrupted = error
        helper.work = None
    if interrupted is not None:
        raise interrupted
    for helper in helpers:
        if not helper.cancelled():
            helper.result()


@contextlib.contextmanager
def progress_bar(total: int, wanted: bool, **options: Any) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of items done; `options` are tqdm's."""
    after = _bars_after.get()
    if wanted:
        tqdm = import_optional("tqdm.auto", "progress=True needs tqdm: pip install tqdm")
        with tqdm.tqdm(total=total, **options) as bar:
            yield lambda number: bar.update(number - bar.n)
    elif after is None:
        yield lambda number: None
    else:
        late = _LateBar(after, {"total": total, "leave": False, **options})
        try:
            yield late.update
        finally:
            late.close()


def progressed(items: Collection[T], what: str) -> Iterator[T]:
    """Yield items one by one; inside `bars_after`, show a progress bar if there are several items."""
    if len(items) < 2:
        yield from items
        return
    with progress_bar(len(items), False, desc=what) as show:
        for number, item in enumerate(items, start=1):
            yield item
            show(number)


@contextlib.contextmanager
def bars_after(seconds: float | None) -> Iterator[None]:
    """Show a progress bar for each long step inside a ``with`` block; none without tqdm, or if `seconds` is None."""
    token = _bars_after.set(seconds)
    try:
        yield
    finally:
        _bars_after.reset(token)


_bars_after: ContextVar[float | None] = ContextVar("fastevals_bars_after", default=None)


class _LateBar:
    """A progress bar, made by another thread when it is due, because this thread may be compiling until the end."""

    def __init__(self, after: float, options: dict[str, Any]) -> None:
        self.options = options
        self.start = time.time()
        self.done = 0
        self.bar: Any = None
        self.timer = threading.Timer(after, self._show)
        self.timer.daemon = True
        with contextlib.suppress(RuntimeError):  # no more threads can be started
            self.timer.start()

    def _show(self) -> None:
        if is_said():
            return
        with contextlib.suppress(ImportError):
            bar = importlib.import_module("tqdm.auto").tqdm(**self.options)
            bar.start_t = self.start
            bar.update(self.done)
            bar.refresh()
            self.bar = bar  # only now, so that no other thread touches it before

    def update(self, number: int) -> None:
        """Store the number of items done."""
        self.done = number
        if self.bar is not None:
            self.bar.update(number - self.bar.n)

    def close(self) -> None:
        """Remove the bar if there is one."""
        self.timer.cancel()
        if self.timer.ident is not None:
            self.timer.join(1.0)  # not longer, as Ctrl-C may have left tqdm locked
        if self.bar is not None:
            self.bar.close()
            self.bar.fp.write("\r")  # a bar below another leaves the cursor at its end
