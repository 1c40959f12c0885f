"""The one place that runs kernels over chunks: threads, progress, cancelling, life after a fork.

Kernels release the GIL and are serial; `run` spreads calls to them over threads. What the chunks are depends on the
data alone, so results are the same bits at any number of threads.
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

from fastevals._limits import available_cpus
from fastevals._options import check_integer, import_optional

T = TypeVar("T")
R = TypeVar("R")

ROWS_PER_BLOCK = 1 << 16  # rows whose temporaries stay in cache, yet enough that threads seldom wait for the GIL
MAX_CHUNKS = 64  # enough to balance many threads, few enough that what is kept for each chunk stays small
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
    """Forget the parent's threads (they don't exist in the child) and its lock (it may have been held)."""
    _state.lock = threading.Lock()
    _state.pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def get_num_threads() -> int:
    """Return the number of threads a call made here and now uses."""
    here = _threads_here.get()
    if here is not None:
        return here
    if _state.threads is None:
        _state.threads = _initial_threads()
    return _state.threads


def set_num_threads(n: int) -> None:
    """Set the number of threads for the whole process.

    The default is the environment variable ``FASTEVALS_NUM_THREADS`` or else the CPUs this process may use. Results
    do not depend on it.

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
    """Use `n` threads inside a ``with`` block, in this thread or task alone.

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
    """Cut n rows, of so many values each, into at most 64 slices of a block or more (the last may be shorter).

    By these numbers alone.
    """
    size = max(-(-block // max(width, 1)), -(-n // MAX_CHUNKS))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def blocks(part: slice, size: int = ROWS_PER_BLOCK) -> Iterator[slice]:
    """Cut a slice into shorter ones, by default cache-sized."""
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
    """Call `task` on each item, spread over threads; give the results in the order of the items.

    The calling thread works too, so a call inside a task, or with every pool thread busy, still gets done. The first
    error, or Ctrl-C, stops all threads after the items they are on.

    Parameters
    ----------
    task : callable
        Called as ``task(item)``, or ``task(item, space)`` with a `workspace`.
    items : sequence
        What to call it on.
    workspace : callable, optional
        Makes the working memory of one thread.
    progress : bool
        Show a bar (needs tqdm).
    compiles : True or hashable, optional
        The task calls kernels that nothing may have called before it: other threads start after its first item. They
        would wait for the compiler, and where one of them compiled, the caller would, and not hear of Ctrl-C. With
        anything but True, which says which kernels these are and for which types, that is done once in a process.
    """
    threads = get_num_threads()  # whatever the items: a bad setting is an error
    if len(items) == 1 and not progress:  # of few rows all is one item, and what follows takes longer
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
            # This thread alone shows progress: Ctrl-C may leave the bar locked, and a helper would wait for ever.
            work(show_and_start if alone else show)
        except BaseException:
            stop.set()
            raise
        finally:
            _finish(helpers, stop)
        show(len(done))
    return results


class _Helper(Future[None]):
    """Work for one more thread; what it has not begun when the caller is done is never done, nor kept in a queue."""

    def __init__(self, work: Callable[[], None], stop: threading.Event) -> None:
        super().__init__()
        self.work: Callable[[], None] | None = work
        self.stop = stop

    def __call__(self) -> None:
        """Do it, in a thread of the pool."""
        if not self.set_running_or_notify_cancel():
            return
        assert self.work is not None  # dropped only when this is done, or cancelled
        try:
            self.work()
        except BaseException as error:
            self.stop.set()
            self.set_exception(error)
        else:
            self.set_result(None)


def _start(work: Callable[[], None], number: int, stop: threading.Event, helpers: list[_Helper]) -> None:
    """Start more threads and list them in `helpers`; an error in one stops the others."""
    if number < 1:
        return
    with _state.lock:
        if _state.pool is None:
            _state.pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="fastevals")
        pool = _state.pool
    for _ in range(number):
        helper = _Helper(work, stop)
        helpers.append(helper)  # first: whatever comes now, `_finish` knows of it
        try:
            pool.submit(helper)
        except RuntimeError:
            # The system has no more threads, or the interpreter is going down. The helper may be in the pool's queue
            # all the same, and a thread take it up later. Until then the caller works alone.
            return


def _finish(helpers: list[_Helper], stop: threading.Event) -> None:
    """Wait for the helpers; a second Ctrl-C while they end doesn't leave them running."""
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
    """Return a function to call with the number of items done; options are tqdm's."""
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
    """Yield items one by one, with a bar of them, if they are several, where steps that take long have one."""
    if len(items) < 2:
        yield from items
        return
    with progress_bar(len(items), False, desc=what) as show:
        for number, item in enumerate(items, start=1):
            yield item
            show(number)


@contextlib.contextmanager
def bars_after(seconds: float | None) -> Iterator[None]:
    """Show a bar of each step inside a ``with`` block that takes longer, unasked; none without tqdm, or with None."""
    token = _bars_after.set(seconds)
    try:
        yield
    finally:
        _bars_after.reset(token)


_bars_after: ContextVar[float | None] = ContextVar("fastevals_bars_after", default=None)


class _LateBar:
    """A bar that another thread makes when the time has come: this one may be in a compiler till the last item."""

    def __init__(self, after: float, options: dict[str, Any]) -> None:
        self.options = options
        self.start = time.time()
        self.done = 0
        self.bar: Any = None
        self.timer = threading.Timer(after, self._show)
        self.timer.daemon = True
        with contextlib.suppress(RuntimeError):  # no thread can be started
            self.timer.start()

    def _show(self) -> None:
        with contextlib.suppress(ImportError):
            bar = importlib.import_module("tqdm.auto").tqdm(**self.options)
            bar.start_t = self.start
            bar.update(self.done)
            bar.refresh()
            self.bar = bar  # not before: until then no other thread touches it

    def update(self, number: int) -> None:
        """Note the number of items done."""
        self.done = number
        if self.bar is not None:
            self.bar.update(number - self.bar.n)

    def close(self) -> None:
        """Remove the bar, if there is one."""
        self.timer.cancel()
        if self.timer.ident is not None:
            self.timer.join(1.0)  # no longer: Ctrl-C may have left tqdm locked
        if self.bar is not None:
            self.bar.close()
            self.bar.fp.write("\r")  # a bar below another leaves the cursor at its end
