"""The process that compiles ahead: when it starts, and that it ends afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from fastevals._compile import ahead, cache
from fastevals.show.report.command import N_KERNELS
from tests.test_cache import MODULE, result, start

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="processes are asked for in another way there")


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file where a module's function writes its process id, before it prints and sleeps; set two CPUs."""
    code = f"""
        import os, sys, time
        from pathlib import Path

        def call(part, parts):
            written = Path({str(tmp_path)!r}) / "written"
            written.write_text(str(os.getpid()))
            written.rename({str(tmp_path / "pid")!r})
            print("out"), print("error", file=sys.stderr)
            time.sleep(60)
    """
    (tmp_path / "helper_of_a_test.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(ahead, "available_cpus", lambda: 2)
    return tmp_path / "pid"


def number_in(path: Path) -> int:
    end = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    return int(path.read_text())


def runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    if status.exists() and "\nState:\tZ" in status.read_text():  # dead, and not yet waited for
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@needs_signals
def test_it_runs_from_the_first_kernel_that_is_missing_to_the_end(
    helper: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with ahead.compiled_ahead("helper_of_a_test", "call"):
        assert not helper.exists()
        ahead.start_wanted()
        pid = number_in(helper)
        helper.unlink()
        ahead.start_wanted()
        assert runs(pid)
    assert not runs(pid)
    assert not helper.exists()  # only one process
    ahead.start_wanted()  # nothing is wanted after the block
    assert not ahead._wanted
    assert capfd.readouterr() == ("", "")


@needs_signals
def test_it_ends_with_an_error_too(helper: Path) -> None:
    found: list[int] = []

    def stopped() -> None:
        with ahead.compiled_ahead("helper_of_a_test", "call"):
            ahead.start_wanted()
            found.append(number_in(helper))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert not runs(found[0])


@needs_signals
def test_it_ends_when_the_process_that_started_it_is_killed(helper: Path) -> None:
    code = f"""
        import sys, time
        sys.path.insert(0, {str(helper.parent)!r})
        from fastevals._compile import ahead
        ahead.available_cpus = lambda: 2
        with ahead.compiled_ahead("helper_of_a_test", "call"):
            ahead.start_wanted()
            time.sleep(60)
    """
    process = start(code)
    try:
        pid = number_in(helper)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    end = time.monotonic() + 30
    while runs(pid):
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.usefixtures("helper")
def test_there_is_none_on_one_cpu_or_in_a_frozen_application(monkeypatch: pytest.MonkeyPatch) -> None:
    with ahead.compiled_ahead("helper_of_a_test", "call"):
        assert len(ahead._wanted) == 1
    for owner, name, value in (
        (ahead, "available_cpus", lambda: 1),
        (sys, "frozen", True),
        (sys, "executable", ""),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value, raising=False)
            with ahead.compiled_ahead("helper_of_a_test", "call"):
                assert not ahead._wanted


@pytest.mark.usefixtures("helper")
def test_it_is_of_no_consequence_that_it_cannot_be_started_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with ahead.compiled_ahead("no_such_module", "call"):
        ahead.start_wanted()

    def refuse(*arguments: object, **options: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with ahead.compiled_ahead("helper_of_a_test", "call"):
        ahead.start_wanted()


@pytest.mark.parametrize("where", ["somewhere", "nowhere"])
def test_it_is_started_where_a_kernel_is_compiled_and_kept(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    folders = ((tmp_path / "cache",), {}) if where == "somewhere" else ((), {})
    monkeypatch.setattr(cache, "_folders", lambda: folders)
    monkeypatch.setattr(cache, "unkept", ["warned"])
    started: list[int] = []
    monkeypatch.setattr(cache, "start_wanted", lambda: started.append(1))
    names: dict[str, Callable[[float], float]] = {}
    for expected in (where == "somewhere", False):
        started.clear()
        module = ModuleType("kernels_of_a_test")
        exec(MODULE, vars(module))
        names = vars(module)
        names["unrelated"](1.0)
        assert bool(started) is expected


@pytest.mark.slow
def test_what_a_report_compiles_later_is_compiled_ahead(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = "from fastevals.show.warm_up import report_intervals; report_intervals(0, 1); print(0)"
    assert result(start(code, **environment)) == 0
    code = """
        import contextlib, io, json, sys
        from fastevals.show.cli import main
        with contextlib.redirect_stdout(io.StringIO()):
            main(["report"])
        modules = [module for name, module in sys.modules.items() if name.startswith("fastevals._kernels.")]
        kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
        found = sorted(f"{k.__module__.rpartition('.')[2]}.{k.__name__}" for k in kernels if k.stats.cache_misses)
        print(json.dumps(found))
    """
    compiled = result(start(code, **environment))
    later = ("jackknife", "replicate")
    assert [name for name in compiled if name.startswith(later)] == []
    assert len(compiled) < 20


@pytest.mark.slow
@needs_signals
def test_a_first_report_says_how_many_kernels_are_left_and_a_second_nothing(tmp_path: Path) -> None:
    """On a terminal, with about as many kernels as it says; what it prints is the same."""
    pty = pytest.importorskip("pty")
    printed, said = [], []
    for _ in range(2):
        ours, terminal = pty.openpty()
        with open(ours, "rb", buffering=0) as stream:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "fastevals", "report"],
                env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
                stdout=subprocess.PIPE,
                stderr=terminal,
            )
            os.close(terminal)
            seen: list[bytes] = []
            with contextlib.suppress(OSError):  # of a terminal that nobody has open
                while part := stream.read(4096):
                    seen.append(part)
            printed.append(process.communicate()[0])
            said.append(b"".join(seen).decode())
    assert f"compiling kernels, once on this machine: about {N_KERNELS} left" in said[0]
    assert "compiled kernels, once on this machine: " in said[0]
    assert said[1] == ""
    assert printed[0] == printed[1]
    assert len(list(tmp_path.rglob("*.nbc"))) == pytest.approx(N_KERNELS, rel=0.1)
