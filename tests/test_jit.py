from __future__ import annotations

import ast
import os
import pickle
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock

import fastevals
from fastevals._compile import compiler, jit
from fastevals._compile.cache import KernelCache
from tests.reference import confusion as twin
from tests.test_cache import result, start

PACKAGE = Path(fastevals.__file__).parent
KERNELS = sorted((PACKAGE / "_kernels").glob("*.py"))

# The sources --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_wear_one_decorator(path: Path) -> None:
    if path.name == "__init__.py":
        return
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            (decorator,) = (ast.unparse(decorator) for decorator in node.decorator_list)
            assert callable(getattr(jit, decorator)), node.name
            assert ast.get_docstring(node), node.name
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert "numba" not in ast.unparse(node)
        assert not (isinstance(node, ast.Raise | ast.Try)), "kernels have no user errors"


def test_no_parallel_loops_and_of_fast_math_only_sums_in_any_order_and_what_is_rounded_once() -> None:
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        if path.name != "jit.py" and not re.search("parallel|fastmath|prange|jit|vectorize|cfunc", text):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        keywords = [node for node in nodes if isinstance(node, ast.keyword)]
        words = {node.arg for node in keywords}
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        flags = [ast.unparse(node.value) for node in keywords if node.arg == "fastmath"]
        assert flags == (["{'reassoc'}", "{'contract'}"] if path.name == "jit.py" else []), path
        assert "parallel" not in words, path
        assert not names & {"prange"}, path
        if path.name != "compiler.py":
            assert not names & {"njit", "jit", "vectorize", "guvectorize", "cfunc"}, path


def test_kernels_are_read_by_the_compiler_without_the_gil() -> None:
    from fastevals._kernels import confusion, regression

    options = confusion.count_tuples.targetoptions
    assert options["nogil"]
    assert options["error_model"] == "numpy"
    assert not options.get("fastmath")
    assert not options.get("parallel")
    assert regression.sum_errors.targetoptions["fastmath"] == {"reassoc"}
    assert isinstance(confusion.count_tuples._cache, KernelCache)


# Without the compiler -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_everything_small_runs_with_the_jit_disabled() -> None:
    code = """
        import json
        import fastevals, numpy as np
        from fastevals._kernels import compensated
        rng = np.random.default_rng(0)
        true, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
        weight = rng.integers(1, 9, 60) * 0.25
        count = fastevals.ConfusionMatrix.from_predictions
        matrices = [count(true, predicted, sample_weight=w) for w in (None, weight)]
        numbers = []
        for scores in (rng.random(60).round(1), rng.integers(-9, 9, 60), rng.random(60).astype(np.float32)):
            for w in (None, weight):
                ranking = fastevals.Ranking(true > 1, scores, sample_weight=w)
                numbers += [ranking.roc_auc(), ranking.roc_auc(max_fpr=0.5), ranking.average_precision(),
                            ranking.pr_auc(), ranking.pr_auc(interpolation="linear"), ranking.ks_statistic().value,
                            ranking.equal_error_rate(on_hull=True).value, ranking.best_threshold("f1").value]
        compiled = hasattr(compensated.two_sum, "py_func")
        print(json.dumps([compiled, [m.counts.tolist() for m in matrices], numbers]))
    """
    interpreted, interpreted_counts, interpreted_numbers = result(start(code, NUMBA_DISABLE_JIT="1"))
    compiled, compiled_counts, compiled_numbers = result(start(code, NUMBA_DISABLE_JIT="0"))
    assert (interpreted, compiled) == (False, True)
    assert interpreted_counts == compiled_counts
    assert interpreted_numbers == pytest.approx(compiled_numbers, rel=1e-14)
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 4, 60), rng.integers(0, 4, 60)
    assert compiled_counts[0] == twin.confusion(true, predicted)[0]


# numba, when it is needed -------------------------------------------------------------------------------------------


def plain(x: float) -> float:
    """Add 1."""
    return x + 1


def test_a_kernel_makes_its_dispatcher_once_whatever_threads_call_it_first() -> None:
    for _ in range(20):
        made = jit.Kernel(plain)
        barrier = threading.Barrier(4)
        found: list[Any] = []

        def ask(made: jit.Kernel = made, barrier: threading.Barrier = barrier, found: list[Any] = found) -> None:
            barrier.wait()
            found.append(made.dispatcher())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(each) for each in found}) == 1
        assert made.func is found[0]


def test_a_kernel_is_its_function_by_name_in_a_pickle_and_where_another_calls_it() -> None:
    from fastevals._kernels import compensated

    assert pickle.loads(pickle.dumps(compensated.two_sum)) is compensated.two_sum
    made = jit.Kernel(plain)
    assert (made.__name__, made.__module__, made.__doc__) == ("plain", __name__, "Add 1.")
    assert made.py_func is plain
    assert not hasattr(made, "no_attribute")


@pytest.mark.slow
def test_what_is_loaded_from_the_cache_needs_nothing_to_compile_with(tmp_path: Path) -> None:
    code = """
        import json, sys
        from fastevals._kernels import compensated, sweep
        import numpy as np
        pair = compensated.difference(1e16, -1.0)
        keys, starts = np.array([2, 5, 3], dtype=np.uint64), np.array([0, 2, 3])
        sides = np.empty(1, dtype=np.uint64), np.empty(2, dtype=np.uint64)
        sweep.unmark_slots(keys, starts, *sides)  # it allocates
        print(json.dumps([pair, [side.tolist() for side in sides], "numba.np.arraymath" in sys.modules]))
    """
    found = [result(start(code, NUMBA_CACHE_DIR=str(tmp_path))) for _ in range(2)]
    sides = [[1], [2, 2**63 + 1]]
    assert found == [[[1e16, 1.0], sides, True], [[1e16, 1.0], sides, False]]


# Ctrl-C -------------------------------------------------------------------------------------------------------------


def fresh() -> Any:
    """Return a kernel that has not been compiled yet: it adds 1."""

    def plain(x: float) -> float:
        return x + 1

    compiled = jit.Kernel(plain).dispatcher()
    compiled._cache = NullCache()
    return compiled


class AtPass(event.Listener):  # type: ignore[misc]
    """Perform an action once, when the compiler starts its first pass."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.actions = [action]

    def on_start(self, event: Any) -> None:
        if self.actions:
            self.actions.pop()()

    def on_end(self, event: Any) -> None:
        pass


@pytest.fixture(params=[signal.default_int_handler])
def handler(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Set the handler of Ctrl-C; a pytest worker may have none."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    after = signal.signal(signal.SIGINT, before)
    assert after == request.param


class Dying:
    """Python prints an exception raised in a destructor, and continues."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("handler")
def test_ctrl_c_while_it_compiles_is_not_lost() -> None:
    compiled = fresh()
    with event.install_listener("numba:run_pass", AtPass(Dying)):
        with pytest.raises(KeyboardInterrupt):
            compiled(1)
        assert not compiled.overloads
    assert not global_compiler_lock.is_locked()
    assert compiled(1) == 2


@pytest.mark.usefixtures("handler")
def test_ctrl_c_in_the_last_pass_is_raised_after_it() -> None:
    compiled = fresh()
    compiled._cache.save_overload = lambda signature, data: Dying()
    with pytest.raises(KeyboardInterrupt):
        compiled(1)
    assert compiled(1) == 2


came: list[int] = []


@pytest.mark.parametrize("handler", [lambda number, frame: came.append(number)], indirect=True)
def test_handlers_of_others_are_called_once_it_is_compiled(handler: Any) -> None:
    came.clear()
    compiled = fresh()
    with event.install_listener("numba:run_pass", AtPass(Dying)):
        assert compiled(1) == 2
    assert came == [signal.SIGINT]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT here")
@pytest.mark.parametrize("seconds", [0.0, 0.4, 0.8, 1.2, 1.6, 2.0, 2.4])
def test_ctrl_c_at_any_time_ends_a_bootstrap_that_compiles(seconds: float, tmp_path: Path) -> None:
    code = """
        import numpy as np, fastevals, fastevals.infer.bootstrap
        rng = np.random.default_rng(0)
        print("ready", flush=True)
        fastevals.bootstrap((rng.integers(0, 2, 300_000), rng.random(300_000)), "average_precision", rng=0)
    """
    process = start(code, NUMBA_CACHE_DIR=str(tmp_path))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, errors = process.communicate(timeout=30)
        assert time.monotonic() - begin < 5  # one pass of the compiler on a busy machine
        assert errors.strip().splitlines()[-1] == "KeyboardInterrupt"
    finally:
        process.kill()


# Forks --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def compiling() -> Iterator[Callable[[float], threading.Event]]:
    """Start a thread that compiles for some seconds; return an event that is set once it compiles."""
    threads: list[threading.Thread] = []

    def compile_for(seconds: float) -> threading.Event:
        begun = threading.Event()
        compiled = fresh()

        def work() -> None:
            with event.install_listener("numba:run_pass", AtPass(lambda: (begun.set(), time.sleep(seconds)))):
                compiled(1)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        assert begun.wait(20)
        return begun

    yield compile_for
    for thread in threads:
        thread.join(60)


def fork(work: Callable[[], bool]) -> int:
    """Run an action in a child, which dies after 20 seconds; return its process id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork with threads
        pid = os.fork()
    if not pid:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        os._exit(0 if work() else 1)
    return pid


def exit_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_child_forked_while_another_thread_compiles_works(compiling: Any) -> None:
    other = fresh()
    compiling(0.3)
    assert exit_of(fork(lambda: other(1.5) == 2.5)) == 0
    assert other(1.5) == 2.5


@pytest.mark.slow
@needs_fork
def test_a_child_forked_while_another_thread_imports_numba_works() -> None:
    code = """
        import os, signal, sys, threading, time, warnings
        import fastevals._execution
        from fastevals._kernels.random import stream_key

        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork with threads

        begun = threading.Event()
        class Slow:
            def find_spec(self, name, *_):
                if name == "numba.core.types":
                    begun.set()
                    time.sleep(0.3)
        sys.meta_path.insert(0, Slow())
        thread = threading.Thread(target=stream_key, args=(1, 2))
        thread.start()
        begun.wait()
        pid = os.fork()
        if not pid:
            signal.alarm(20)
            stream_key(1, 2)
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        thread.join()
    """
    output, errors = start(code).communicate(timeout=60)
    assert (output, errors) == ("0\n", "")


@needs_fork
def test_a_child_forked_by_the_thread_that_compiles_works() -> None:
    outer, inner = fresh(), fresh()
    exits: list[int] = []
    action = AtPass(lambda: exits.append(exit_of(fork(lambda: inner(1.5) == 2.5))))
    with event.install_listener("numba:run_pass", action):
        assert outer(1) == 2
    assert exits == [0]


@needs_fork
def test_a_fork_does_not_wait_for_ever(compiling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "COMPILING_SECONDS", 0.05)
    compiling(1.5)
    begin = time.monotonic()
    pid = fork(lambda: True)
    assert time.monotonic() - begin < 1.4
    assert exit_of(pid) == 0
    fresh()(1.5)  # waits for the lock, which was not released


@needs_fork
@pytest.mark.usefixtures("handler")
def test_ctrl_c_while_a_fork_waits_comes_after_it(compiling: Any) -> None:
    pids: list[int] = []

    def fork_and_wait() -> None:
        pids.append(fork(lambda: True))
        time.sleep(20)

    compiling(0.5)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        fork_and_wait()
    assert [exit_of(pid) for pid in pids] == [0]
