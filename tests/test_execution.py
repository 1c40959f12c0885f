from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import _execution
from fastevals._execution import blocks, chunks, get_num_threads, num_threads, run, set_num_threads
from tests.parameters import quick

THREADS = [1, 2, 3, 5]


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(autouse=True)
def _restore_state(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(_execution._state, "compiled", set())
    before = _execution._state.threads
    yield
    _execution._state.threads = before


# run ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 100])
def test_results_come_in_the_order_of_the_items(threads: int, n: int) -> None:
    def task(item: int) -> int:
        time.sleep(0.0001 * (item % 3))
        return item * item

    with num_threads(threads):
        assert run(task, range(n)) == [item * item for item in range(n)]
        assert run(str, list("abc")) == ["a", "b", "c"]


def test_tasks_run_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=20)
    with num_threads(3):
        assert sorted(run(lambda item: meeting.wait() * 0 + item, range(3))) == [0, 1, 2]


def test_one_thread_means_the_callers() -> None:
    with num_threads(1):
        assert set(run(lambda _: threading.get_ident(), range(20))) == {threading.get_ident()}


@pytest.mark.parametrize("threads", THREADS)
def test_each_thread_has_its_workspace(threads: int) -> None:
    made = []

    def workspace() -> dict[str, int]:
        made.append({"owner": threading.get_ident(), "used": 0})
        return made[-1]

    def task(item: int, space: dict[str, int]) -> int:
        assert space["owner"] == threading.get_ident()
        space["used"] += 1
        return item

    with num_threads(threads):
        assert run(task, range(50), workspace=workspace) == list(range(50))
    assert 1 <= len(made) <= threads
    assert sum(space["used"] for space in made) == 50


@pytest.mark.cases(3)
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("bad", [0, 3, 500])
def test_an_error_is_raised_and_stops_the_others(threads: int, bad: int) -> None:
    seen = []

    def task(item: int) -> None:
        seen.append(item)
        if item == bad:
            raise ZeroDivisionError(f"item {item}")
        time.sleep(0.0005)

    with num_threads(threads), pytest.raises(ZeroDivisionError, match=f"item {bad}"):
        run(task, range(5000))
    assert len(seen) < bad + 1000
    after = len(seen)
    time.sleep(0.01)
    assert len(seen) == after  # no worker is left


@pytest.mark.parametrize("threads", THREADS)
def test_an_error_of_a_workspace_is_raised(threads: int) -> None:
    def workspace() -> None:
        raise MemoryError("no room")

    with num_threads(threads), pytest.raises(MemoryError, match="no room"):
        run(lambda item, space: item, range(10), workspace=workspace)


def test_the_pool_serves_again_after_an_error() -> None:
    with num_threads(3):
        with pytest.raises(ZeroDivisionError):
            run(lambda item: 1 // item, range(3))
        assert run(abs, range(9)) == list(range(9))


def test_nested_calls() -> None:
    def inner(item: int) -> int:
        return sum(run(lambda i: i * item, range(20)))

    set_num_threads(4)
    assert run(inner, range(30)) == [190 * item for item in range(30)]
    assert run(lambda a: run(inner, range(a)), range(4)) == [[190 * item for item in range(a)] for a in range(4)]


def test_nested_calls_with_a_pool_smaller_than_the_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(_execution._state, "pool", pool)
        set_num_threads(8)
        assert run(lambda a: sum(run(lambda b: a * b, range(10))), range(40)) == [45 * a for a in range(40)]


def test_two_threads_may_call_at_once() -> None:
    rng = np.random.default_rng(0)
    true, score = rng.integers(0, 2, 150_000), rng.random(150_000)
    expected = fastevals.Ranking(true, score).roc_auc()
    results: list[float] = []

    def work() -> None:
        results.extend(fastevals.Ranking(true, score).roc_auc() for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 20


@pytest.mark.parametrize("threads", THREADS)
def test_the_same_bits_at_any_number_of_threads(threads: int) -> None:
    rng = np.random.default_rng(1)
    true, score, weight = rng.integers(0, 2, 200_000), rng.random(200_000).round(4), rng.random(200_000)

    def numbers() -> list[float]:
        ranking = fastevals.Ranking(true, score, sample_weight=weight)
        return [ranking.roc_auc(), ranking.average_precision(), ranking.pr_auc(), *ranking.counts.tps.tolist()]

    with num_threads(1):
        expected = numbers()
    with num_threads(threads):
        assert numbers() == expected


@pytest.mark.parametrize("compiles", [True, "some kernel"])
@pytest.mark.parametrize("threads", THREADS)
def test_a_task_that_compiles_is_alone_until_its_first_item_is_done(threads: int, compiles: Any) -> None:
    seen: list[tuple[int, int]] = []
    first_done = threading.Event()

    def task(item: int) -> int:
        seen.append((item, threading.get_ident()))
        if len(seen) == 1:
            time.sleep(0.02)  # others would come in between
            assert len(seen) == 1
            first_done.set()
        assert first_done.is_set()
        return item * item

    with num_threads(threads):
        assert run(task, range(30), compiles=compiles) == [item * item for item in range(30)]
    assert seen[0] == (0, threading.get_ident())


def test_a_task_that_may_compile_each_time_is_alone_each_time() -> None:
    for _ in range(2):
        seen: list[int] = []

        def task(item: int, seen: list[int] = seen) -> None:
            if item == 0:
                time.sleep(0.02)  # others would come in between
                assert not seen
            seen.append(item)

        with num_threads(3):
            run(task, range(9), compiles=True)


def test_a_task_that_has_compiled_is_spread_at_once() -> None:
    def task(meeting: threading.Barrier) -> None:
        meeting.wait()

    with num_threads(3):
        run(task, [threading.Barrier(1)], compiles="some kernel")
        run(task, [threading.Barrier(3, timeout=20)] * 3, compiles="some kernel")


def test_the_first_item_of_a_task_that_compiles_may_fail() -> None:
    def task(item: int) -> float:
        return 1 / item

    with num_threads(3):
        with pytest.raises(ZeroDivisionError):
            run(task, range(5), compiles="some kernel")
        assert not _execution._state.compiled
        assert run(task, range(1, 4), compiles="some kernel") == [1, 1 / 2, 1 / 3]
        assert run(task, [], compiles=True) == []
        assert run(abs, range(5), compiles=True) == list(range(5))


@pytest.mark.parametrize("threads", THREADS)
def test_the_first_item_of_a_task_that_compiles_shares_the_callers_workspace(threads: int) -> None:
    made: list[int] = []

    def workspace() -> list[int]:
        made.append(threading.get_ident())
        return [0]

    def task(item: int, space: list[int]) -> int:
        space[0] += 1
        return item

    with num_threads(threads):
        assert run(task, range(50), workspace=workspace, compiles=True) == list(range(50))
    assert made[0] == threading.get_ident()
    assert 1 <= len(made) <= threads
    assert len(set(made)) == len(made)


# Threads that can't be started --------------------------------------------------------------------------------------


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Start without pool threads; none starts until the event is set."""
    allowed = threading.Event()
    start = threading.Thread.start

    def start_if_allowed(thread: threading.Thread) -> None:
        if thread.name.startswith("fastevals") and not allowed.is_set():
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_allowed)
    monkeypatch.setattr(_execution._state, "pool", None)
    return allowed


def test_without_more_threads_the_caller_works_alone(no_threads: threading.Event) -> None:
    with num_threads(4):
        assert run(lambda item: (item, threading.get_ident()), range(9)) == [
            (i, threading.get_ident()) for i in range(9)
        ]


def test_what_a_late_thread_takes_up_is_waited_for(no_threads: threading.Event) -> None:
    taken = threading.Event()

    def task(item: int) -> int:
        if item == 0:
            no_threads.set()
            run(abs, range(3))  # starts a thread, which finds the outer call's work in the queue
            assert taken.wait(20)
        elif item == 1:
            taken.set()
            time.sleep(0.2)  # the caller has finished its items long before
        return item + 1

    with num_threads(2):
        assert run(task, range(5)) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_what_no_thread_takes_up_is_not_kept(no_threads: threading.Event) -> None:
    class Data:
        pass

    data = [Data(), Data()]
    kept = [weakref.ref(item) for item in data]
    with num_threads(4):
        run(lambda item, held=tuple(data): len(held), range(9))
    assert _execution._state.pool._work_queue.qsize() == 1
    del data
    gc.collect()
    assert [item() for item in kept] == [None, None]
    no_threads.set()
    with num_threads(4):
        assert run(abs, range(9)) == list(range(9))


# Processes ----------------------------------------------------------------------------------------------------------


def small_example() -> float:
    rng = np.random.default_rng(2)
    return fastevals.Ranking(rng.integers(0, 2, 200_000), rng.random(200_000)).roc_auc()


def child(queue: Any) -> None:
    with num_threads(3):
        queue.put((small_example(), run(abs, range(5))))


@pytest.mark.parametrize("method", quick(["fork", "spawn"], "fork"))
def test_a_child_process_works_after_the_parent_used_threads(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    with num_threads(3):
        expected = small_example()
    assert _execution._state.pool is not None
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns about any fork with threads
        process = context.Process(target=child, args=(queue,))
        process.start()
    try:
        assert queue.get(timeout=60) == (expected, list(range(5)))
        process.join(30)
        assert process.exitcode == 0
    finally:
        process.kill()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_the_lock_is_held_works() -> None:
    with num_threads(3):
        run(abs, range(5))
    with warnings.catch_warnings(), _execution._state.lock:
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if not pid:
            signal.alarm(20)
            with num_threads(3):
                os._exit(0 if run(abs, range(5)) == list(range(5)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT here")
@pytest.mark.parametrize("threads", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
def test_ctrl_c_ends_a_long_run_within_a_second(threads: int) -> None:
    code = f"""
        import signal, time
        from fastevals._execution import run, set_num_threads
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests are a job in the background
        set_num_threads({threads})
        print("ready", flush=True)
        run(lambda item: time.sleep(0.02), range(10_000))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - start < 1.5  # a second, plus some time on a busy machine
        assert "KeyboardInterrupt" in errors
        assert process.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
    finally:
        process.kill()


# Numbers of threads -------------------------------------------------------------------------------------------------


def test_the_context_restores_and_nests() -> None:
    set_num_threads(7)
    with num_threads(2):
        assert get_num_threads() == 2
        with num_threads(5):
            assert get_num_threads() == 5
            set_num_threads(9)
            assert get_num_threads() == 5
        assert get_num_threads() == 2
    assert get_num_threads() == 9
    with pytest.raises(KeyError), num_threads(3):
        raise KeyError
    assert get_num_threads() == 9


def test_the_context_is_of_this_thread_alone() -> None:
    set_num_threads(4)
    seen = []
    with num_threads(2):
        thread = threading.Thread(target=lambda: seen.append(get_num_threads()))
        thread.start()
        thread.join()
    assert seen == [4]


@pytest.mark.parametrize("n", [1, 2, 1024, np.int64(3)])
def test_set_num_threads(n: Any) -> None:
    set_num_threads(n)
    assert get_num_threads() == n
    assert type(get_num_threads()) is int


@pytest.mark.parametrize("n", [0, -1, 1025, 1.5, 2.0, "2", None, True, [1], float("nan")])
def test_bad_numbers_of_threads(n: Any) -> None:
    before = get_num_threads()
    with pytest.raises(ValueError, match="n must be an integer"):
        set_num_threads(n)
    with pytest.raises(ValueError, match="n must be an integer"), num_threads(n):
        pass
    assert get_num_threads() == before


def test_the_environment_sets_the_number() -> None:
    done = python("import fastevals; print(fastevals.get_num_threads())", FASTEVALS_NUM_THREADS="3")
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.mark.parametrize(
    "value", ["0", "many", *(pytest.param(value, marks=pytest.mark.slow) for value in ("-2", "1.5", "2000"))]
)
def test_a_bad_environment_is_named(value: str) -> None:
    code = "import fastevals; fastevals.Ranking([0, 1], [0.1, 0.2]).roc_auc()"
    done = python(code, FASTEVALS_NUM_THREADS=value)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: FASTEVALS_NUM_THREADS must be an integer")
    assert repr(value) in last or value in last


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_the_default_is_the_cpus_this_process_may_use() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "FASTEVALS_NUM_THREADS"}
    code = """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import fastevals
        print(fastevals.get_num_threads())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"
    assert 1 <= _execution.available_cpus() <= len(os.sched_getaffinity(0))


# Chunks -------------------------------------------------------------------------------------------------------------

SIZES = [0, 1, 2, 65_535, 65_536, 65_537, 10**6, 64 * 65_536 - 1, 64 * 65_536, 64 * 65_536 + 1, 10**8 + 7]


@pytest.mark.parametrize("n", SIZES)
def test_chunks_and_blocks_cover_each_row_once(n: int) -> None:
    parts = chunks(n)
    assert len(parts) <= 64
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])][: len(parts)]
    assert (parts[-1].stop if parts else 0) == n
    assert all(part.stop - part.start >= 65_536 for part in parts[:-1])
    for part in parts[:2] + parts[-1:]:
        pieces = list(blocks(part))
        assert [piece.start for piece in pieces] == [part.start, *(piece.stop for piece in pieces[:-1])]
        assert pieces[-1].stop == part.stop
        assert all(0 < piece.stop - piece.start <= 65_536 for piece in pieces)


@pytest.mark.parametrize("width", [1, 3, 10**6])
@pytest.mark.parametrize("n", SIZES)
def test_chunks_of_values_of_another_size(n: int, width: int) -> None:
    parts = chunks(n, width, 1000)
    assert len(parts) <= 64
    assert sum(part.stop - part.start for part in parts) == n
    assert all((part.stop - part.start) * width >= 1000 for part in parts[:-1])
    for part in parts[:1]:
        assert max(piece.stop - piece.start for piece in blocks(part, 7)) <= 7


@pytest.mark.parametrize("n", SIZES)
def test_chunks_depend_on_the_number_of_rows_alone(n: int) -> None:
    expected = chunks(n)
    for threads in THREADS:
        with num_threads(threads):
            assert chunks(n) == expected


# Progress -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_shows_a_bar(threads: int, capsys: pytest.CaptureFixture[str]) -> None:
    with num_threads(threads):
        assert run(abs, range(7), progress=True) == list(range(7))
    assert "7/7" in capsys.readouterr().err
    run(abs, range(7))
    assert capsys.readouterr().err == ""
    with num_threads(threads):
        assert run(lambda item: item, range(7), progress=True, compiles=True) == list(range(7))
    assert "7/7" in capsys.readouterr().err


def test_without_tqdm_progress_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="progress=True needs tqdm: pip install"):
        run(abs, range(3), progress=True)
