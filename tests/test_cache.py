"""Compiled kernels on disk: the names and places of their files, and damaged files."""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import pkgutil
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core import config

import fastevals
from fastevals import _kernels
from fastevals._compile import cache
from fastevals._compile.notice import is_said
from fastevals.show import warm_up
from fastevals.show.cli import main
from fastevals.show.commands import progress_shown

PACKAGE = Path(fastevals.__file__).parent

# The smallest kernels: a compilation takes well under a second.
EXAMPLE = """
    import json
    from fastevals._kernels import compensated
    pair = compensated.difference(1e16, -1.0)
    stats = getattr(compensated.difference, "stats", None)
    hits, misses = (sum(stats.cache_hits.values()), sum(stats.cache_misses.values())) if stats else (0, 0)
    print(json.dumps({"pair": pair, "hits": hits, "misses": misses, "file": compensated.__file__}))
"""
FILES_OF_EXAMPLE = 2  # difference calls two_sum


def start(code: str, *flags: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", *flags, "-c", textwrap.dedent(code)],  # -P: not the package of the working folder
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Any:
    try:
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, (process.returncode, errors)
    return json.loads(output)


def example(folder: Path | str, **environment: str) -> dict[str, Any]:
    seen: dict[str, Any] = result(start(EXAMPLE, "-W", "error", NUMBA_CACHE_DIR=str(folder), **environment))
    assert seen["pair"] == [1e16, 1.0]
    return seen


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def copied(folder: Path) -> Path:
    """Copy the package to a place where tests may break it."""
    return Path(shutil.copytree(PACKAGE, folder / "fastevals", ignore=shutil.ignore_patterns("__pycache__")))


def off_by_1000(package: Path) -> None:
    """Change a kernel that `difference` calls."""
    path = package / "_kernels" / "compensated.py"
    text = path.read_text().replace("    return total, (a - (total", "    return total + 1000.0, (a - (total", 1)
    assert text != path.read_text()
    path.write_text(text)


# Loading and compiling anew -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder that one process has filled."""
    folder = tmp_path_factory.mktemp("cache")
    seen = example(folder)
    assert (seen["hits"], seen["misses"]) == (0, 1)
    assert [path.suffix for path in files(folder)] == [".nbc"] * FILES_OF_EXAMPLE
    return folder


@pytest.fixture
def filled(compiled: Path, tmp_path: Path) -> Path:
    """Return a copy of the filled folder."""
    return Path(shutil.copytree(compiled, tmp_path / "cache"))


def test_a_second_process_loads_from_the_file(filled: Path) -> None:
    before = [(path, path.stat().st_mtime_ns) for path in files(filled)]
    seen = example(filled)
    assert (seen["hits"], seen["misses"]) == (1, 0)
    assert [(path, path.stat().st_mtime_ns) for path in files(filled)] == before


def flipped(data: bytes, tenth: int) -> bytes:
    at = len(data) * tenth // 10
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 8]) + data[at + 8 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "garbage": lambda data: b"\x80\x05garbage" * 100,
    "flipped early": lambda data: flipped(data, 1),
    "flipped in the code": lambda data: flipped(data, 2),
    "flipped in the middle": lambda data: flipped(data, 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_compiled_anew(kind: str, filled: Path) -> None:
    damaged = {path: DAMAGE[kind](path.read_bytes()) for path in files(filled)}
    for path, data in damaged.items():
        path.write_bytes(data)
    seen = example(filled)
    assert (seen["hits"], seen["misses"]) == (0, 1)
    assert all(path.read_bytes() != data for path, data in damaged.items())
    if kind == "half":
        assert example(filled)["hits"] == 1


@pytest.mark.slow
def test_a_deleted_folder_is_made_again(filled: Path) -> None:
    shutil.rmtree(filled)
    assert example(filled)["misses"] == 1
    assert len(files(filled)) == FILES_OF_EXAMPLE


@pytest.mark.slow
def test_a_folder_deleted_while_the_process_runs(tmp_path: Path) -> None:
    code = f"""
        import json, shutil
        from fastevals._compile import cache
        from fastevals._kernels import compensated
        cache.folders()
        shutil.rmtree({str(tmp_path)!r})
        print(json.dumps(compensated.two_sum(1e16, 1.0)))
    """
    assert result(start(code, "-W", "error", NUMBA_CACHE_DIR=str(tmp_path))) == [1e16, 1.0]
    assert len(files(tmp_path)) == 1


@pytest.mark.slow
def test_processes_that_compile_at_once_all_get_it_right(tmp_path: Path) -> None:
    code = """
        import json
        from fastevals._kernels import compensated
        print(json.dumps([compensated.two_sum(a, b) for a, b in ((1e16, 1.0), (3, 4), (1, 2.5))]))
    """
    expected = [[1e16, 1.0], [7, 0], [3.5, 0.0]]
    processes = [start(code, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    assert [result(process) for process in processes] == [expected] * 3
    assert {path.suffix for path in files(tmp_path)} == {".nbc"}
    assert len(files(tmp_path)) == 3  # one for each signature, and no temporary file
    assert result(start(code, NUMBA_CACHE_DIR=str(tmp_path))) == expected
    assert len(files(tmp_path)) == 3


# What files are named by --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_code_of_a_package_replaced_under_a_process_is_not_kept_as_the_new_ones(tmp_path: Path) -> None:
    package, folder = copied(tmp_path), tmp_path / "cache"
    code = f"""
        import json
        from fastevals._kernels import compensated
        from tests.test_cache import off_by_1000
        from pathlib import Path
        off_by_1000(Path({str(package)!r}))  # an upgrade, before the first call
        print(json.dumps(compensated.difference(3.0, -1.0)))
    """
    environment = {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": f"{tmp_path}{os.pathsep}{PACKAGE.parent}"}
    assert result(start(code, **environment)) == [4.0, 0.0]
    later = """
        import json
        from fastevals._kernels import compensated
        print(json.dumps(compensated.difference(3.0, -1.0)))
    """
    assert result(start(later, **environment)) == [1004.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zip", "bytecode"])
def test_packages_without_sources_have_a_cache_and_never_old_code(kind: str, tmp_path: Path) -> None:
    package = copied(tmp_path / "sources")

    def pack(place: Path) -> Path:
        if kind == "zip":
            with zipfile.ZipFile(place.with_suffix(".zip"), "w") as file:
                for path in package.rglob("*.py"):
                    file.write(path, path.relative_to(package.parent))
            return place.with_suffix(".zip")
        target = Path(shutil.copytree(package, place / "fastevals", dirs_exist_ok=True))
        subprocess.run([sys.executable, "-m", "compileall", "-q", "-b", target], check=True)
        for path in target.rglob("*.py"):
            path.unlink()
        return place

    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    place = str(pack(tmp_path / "packed"))
    first, second = (example("", PYTHONPATH=place, **environment) for _ in range(2))
    assert first["file"].startswith(place)
    assert (first["misses"], second["misses"], second["hits"]) == (1, 0, 1)
    off_by_1000(package)
    pack(tmp_path / "packed")
    assert result(start(EXAMPLE, NUMBA_CACHE_DIR="", PYTHONPATH=place, **environment))["pair"] == [1e16 + 1000, 1.0]


MODULE = """
import math
import numpy as np
from fastevals._compile.jit import kernel, sum_kernel
SCALE = 2.5
TABLE = np.array([1, 2, 3])

@kernel
def below(x, y=3):
    return x * SCALE - y  # a comment

@kernel
def unrelated(x):
    return x

@kernel
def middle(x):
    return below(x) + TABLE[0] if x in (1, 2) else math.sqrt(x)

@kernel
def above(x):
    return middle(x)
"""
CHANGES = [
    ("SCALE = 2.5", "SCALE = 2.25"),
    ("SCALE = 2.5", "SCALE = np.float64(2.5)"),
    ("[1, 2, 3]", "[1, 2, 4]"),
    ("[1, 2, 3]", "[1.0, 2, 3]"),
    ("[1, 2, 3]", "[[1, 2, 3]]"),
    ("x * SCALE - y", "x * SCALE + y"),
    ("(1, 2)", "(1, 3)"),
    ("y=3", "y=4"),
    ("math.sqrt", "math.exp"),
    ("math.sqrt", "np.sqrt"),
    ("@kernel\ndef below", "@sum_kernel\ndef below"),
]


@pytest.fixture
def write_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Return a function that imports a module of kernels from text, under one name, with its own cache folder."""
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setattr(cache, "_folders", lambda: ((tmp_path / "cache",), {}))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> ModuleType:
        (tmp_path / "kernels_of_a_test.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop("kernels_of_a_test", None)
        return importlib.import_module("kernels_of_a_test")

    yield write
    sys.modules.pop("kernels_of_a_test", None)


def test_a_change_in_anything_that_is_called_renames_the_file(write_module: Callable[[str], ModuleType]) -> None:
    def fingerprints(text: str) -> list[str]:
        found: list[str] = write_module(text).above._cache._fingerprints()
        return found

    before = fingerprints(MODULE)
    assert len(before) == 3
    assert fingerprints(MODULE.replace("# a comment", "# another").replace("import math", "import math\n\n")) == before
    assert fingerprints(MODULE.replace("    return x\n", "    return -x\n")) == before
    seen = {tuple(before)}
    for old, new in CHANGES:
        assert old in MODULE
        seen.add(tuple(fingerprints(MODULE.replace(old, new))))
    assert len(seen) == 1 + len(CHANGES)


def test_what_changes_while_it_is_compiled_is_not_kept(
    write_module: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    module = write_module(MODULE)
    module.below(1.0)
    assert len(files(tmp_path / "cache")) == 1
    module.SCALE = 100.0
    assert module.middle(1) == 98.0  # numba's result; `below` was listed with the old constant
    assert len(files(tmp_path / "cache")) == 1


def test_each_kernel_has_a_name_that_does_not_depend_on_the_process() -> None:
    names = [f"fastevals._kernels.{module.name}" for module in pkgutil.iter_modules(_kernels.__path__)]
    kernels = {
        f"{name}.{key}": value._cache._fingerprints()
        for name in names
        for key, value in vars(importlib.import_module(name)).items()
        if hasattr(value, "py_func")
    }
    code = f"""
        import importlib, json
        names = {sorted(kernels)!r}
        modules = [(importlib.import_module(name.rpartition(".")[0]), name) for name in names]
        found = {{name: getattr(module, name.rpartition(".")[2])._cache._fingerprints() for module, name in modules}}
        print(json.dumps(found))
    """
    assert result(start(code, PYTHONHASHSEED="12345")) == kernels
    assert len(kernels) > 150


# Where they may be --------------------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[Path], dict[Path, str]]]:
    """Find folders with some candidates."""

    def find(*candidates: Path) -> tuple[list[Path], dict[Path, str]]:
        monkeypatch.setattr(cache, "_candidates", lambda: list(candidates))
        found, refused = cache._folders.__wrapped__()
        return list(found), refused

    return find


def test_the_first_that_can_be_written_is_the_last_that_is_read(
    places: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [tmp_path / name for name in ("image", "mine", "other")]
    assert places(*names) == ([names[0]], {})
    monkeypatch.setattr(os, "access", lambda path, mode: path != names[0])
    assert places(*names) == (names[:2], {names[0]: "not writable"})
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert places(*names) == (names, dict.fromkeys(names, "not writable"))


def test_folders_that_others_may_write_to_are_not_used(places: Any, tmp_path: Path) -> None:
    for mode in (0o777, 0o770, 0o702):
        open_to_others = tmp_path / f"{mode:o}"
        open_to_others.mkdir()
        open_to_others.chmod(mode)
        assert places(open_to_others) == ([], {open_to_others: "others may write to it"})
    link = tmp_path / "link"
    (tmp_path / "target").mkdir(mode=0o700)
    link.symlink_to(tmp_path / "target")
    (tmp_path / "file").touch()
    assert places(link, tmp_path / "file") == ([], {link: "not a folder", tmp_path / "file": "not a folder"})
    assert places(tmp_path / "file" / "inside")[0] == []


@pytest.mark.parametrize(
    ("owner", "user", "mode", "why"),
    [
        (1000, 1000, 0o700, None),
        (0, 1000, 0o755, None),  # root's folder, in an image
        (1001, 1000, 0o755, "owned by another user"),
        (1000, 0, 0o700, "owned by another user"),  # root runs no other user's code
        (1000, 1000, 0o775, "others may write to it"),
        (0, 1000, 0o757, "others may write to it"),
    ],
)
def test_whose_files_are_run(
    owner: int, user: int, mode: int, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert cache._not_ours(os.stat_result((mode, 0, 0, 0, owner, 0, 0, 0, 0, 0))) == why


@pytest.mark.parametrize(("user", "modes"), [(1000, (0o700, 0o600)), (0, (0o755, 0o644))])
@pytest.mark.parametrize("umask", [0, 0o077])
def test_what_is_made_is_closed_to_others_and_roots_can_be_read(
    user: int, modes: tuple[int, int], umask: int, places: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    folder = tmp_path / "new" / "fastevals"
    before = os.umask(umask)
    try:
        assert cache._refusal(folder) is None or os.getuid() not in (0, user)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cache, "_refusal", lambda folder: None)
            cache._write(folder / "a.nbc", b"data")
    finally:
        os.umask(before)
    assert tuple(stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "a.nbc")) == modes


def test_without_a_home_nothing_is_looked_for_in_the_working_folder(
    places: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(uid: int) -> Any:
        raise KeyError(uid)

    candidates = cache._candidates
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", "here")
    monkeypatch.setattr(cache, "__file__", "/dev/null/package/cache.py")
    monkeypatch.setattr("pwd.getpwuid", nobody)
    for home in (None, "home"):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", home) if home else monkeypatch.delenv("HOME")
        found, refused = places(*candidates())
        assert (found, list(refused.values())) == (
            [],
            ["not an absolute path", "Not a directory", "not an absolute path"],
        )
    assert os.listdir(tmp_path) == []


NOWHERE = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), "/dev/null/nowhere")


@pytest.mark.slow
def test_without_any_folder_kernels_compile_in_memory_and_one_warning_says_so(tmp_path: Path) -> None:
    # Files in place of folders stop even root, whom permissions do not.
    package = copied(tmp_path)
    (package / "_kernels" / "__pycache__").touch()
    before = files(tmp_path)
    code = """
        import json, warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            from fastevals._kernels import compensated
            pairs = compensated.two_sum(1e16, 1.0), compensated.two_sum(3, 4)
        print(json.dumps([pairs, [str(warning.message) for warning in caught]]))
    """
    environment = {"NUMBA_CACHE_DIR": "/dev/null/a", "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    pairs, messages = result(start(code, **environment, **NOWHERE))
    assert pairs == [[1e16, 1.0], [7, 0]]
    (message,) = messages
    for part in ("each process", "/dev/null/a/fastevals: Not a directory", "NUMBA_CACHE_DIR", "fastevals warm-up"):
        assert part in message
    assert files(tmp_path) == before


@pytest.mark.slow
def test_without_the_variable_the_cache_is_beside_the_package(tmp_path: Path) -> None:
    package = copied(tmp_path)
    example("", PYTHONPATH=str(tmp_path))
    inside = package / "_kernels" / "__pycache__" / "fastevals"
    assert [path.suffix for path in files(inside)] == [".nbc"] * FILES_OF_EXAMPLE
    assert not [path for path in files(tmp_path) if path.suffix == ".nbc" and path.parent != inside]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_what_root_filled_serves_other_users() -> None:
    code = """
        import json, os
        from fastevals._compile import cache
        from fastevals._kernels import compensated
        compensated.product(2.0, 3.0)  # what is imported late is imported by root, who may read all of this Python
        os.seteuid({user})
        cache._folders.cache_clear()
        compensated.difference(2.0, 3.0)
        stats = compensated.difference.stats
        print(json.dumps([sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
    """
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        copied(Path(name))
        environment = {"NUMBA_CACHE_DIR": "", "PYTHONPATH": name, **NOWHERE}
        seen = [result(start(code.format(user=user), "-W", "error", **environment)) for user in (0, 65_534)]
    assert seen == [[0, 1], [1, 0]]


# What they may be ---------------------------------------------------------------------------------------------------


def test_only_own_regular_files_of_a_sane_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = tmp_path / "good.nbc"
    cache._write(good, b"payload")
    assert cache._read(good) == b"payload"
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "link").symlink_to(good)
    (tmp_path / "folder").mkdir()
    shutil.copy(good, tmp_path / "open")
    (tmp_path / "open").chmod(0o666)
    for name in ("pipe", "link", "folder", "open", "missing"):
        assert cache._read(tmp_path / name) is None, name
    monkeypatch.setattr(cache, "FILE_BYTES", good.stat().st_size - 1)
    assert cache._read(good) is None


@pytest.mark.slow
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(filled: Path) -> None:
    for path in files(filled):
        path.unlink()
        os.mkfifo(path, 0o600)
    assert example(filled)["misses"] == 1


def test_what_nobody_uses_goes_after_a_while(
    write_module: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    now = time.time()
    ages = {"old.nbc": 31, "young.nbc": 29, "old.tmp": 0.1, "young.tmp": 0.01, "notes.txt": 400}
    for name, days in ages.items():
        (folder / name).touch()
        os.utime(folder / name, (now - days * 86_400,) * 2)
    cache._clean.cache_clear()
    write_module(MODULE).unrelated(1)
    kept = {path.name for path in files(folder)}
    (new,) = kept - set(ages)
    assert kept == {"young.nbc", "young.tmp", "notes.txt", new}
    os.utime(folder / new, (now - 20 * 86_400,) * 2)
    module = write_module(MODULE)
    assert module.unrelated(1) == 1
    assert sum(module.unrelated.stats.cache_hits.values()) == 1
    assert (folder / new).stat().st_mtime > now - 60  # in use


def full(*paths: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_is_one_warning_and_leaves_no_file(
    write_module: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "unkept", [])
    monkeypatch.setattr(os, "replace", full)
    module = write_module(MODULE)
    with pytest.warns(RuntimeWarning, match="can't be kept.*No space left on device") as caught:
        assert (module.unrelated(1), module.unrelated(2.5)) == (1, 2.5)
    assert [each.filename for each in caught] == [__file__]  # not in numba, but where kernels are cached
    assert files(tmp_path / "cache") == []


def test_sizes_are_those_of_compiled_kernels(tmp_path: Path) -> None:
    cache._write(tmp_path / "a.nbc", bytes(68))
    (tmp_path / "notes.txt").write_text("1234")
    assert list(cache.sizes([tmp_path, tmp_path / "missing"])) == [100]


# Warm-up ------------------------------------------------------------------------------------------------------------


def test_a_first_compilation_says_how_many_kernels_are_left(
    write_module: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*given: object, terminal: bool = True, quiet: bool = False) -> str:
        stream, module = io.StringIO(), write_module(MODULE)
        monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            with progress_shown(argparse.Namespace(quiet=quiet, n_kernels=4)):
                for each in given:
                    module.unrelated(each)
        return stream.getvalue()

    first = said(1, 2.5)
    assert re.findall(r"about (\d) left", first) == ["4", "3"]
    assert re.search(r"\rcompiled kernels, once on this machine: \d s\n$", first)
    assert said(1, 2.5) == said(np.float32(1), terminal=False) == said(True, quiet=True) == ""
    assert not is_said()


def test_warm_up_says_what_it_does_and_where_to(
    write_module: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def steps() -> Iterator[tuple[str, Callable[[], object]]]:
        module = write_module(MODULE)
        yield "one", lambda: print(module.unrelated(1))
        yield "another", lambda: module.unrelated(2.5)

    monkeypatch.setattr(warm_up, "_steps", steps)
    assert main(["warm-up"]) == 0
    (first, second), where = files(tmp_path / "cache"), tmp_path / "cache"
    size = first.stat().st_size + second.stat().st_size
    said, progress = capsys.readouterr()
    assert said == f"2 files of {size / 1e6:.1f} MB in {where}, 2 of them new\n"
    assert [line.rpartition(": ")[0] for line in progress.splitlines()] == ["1/2 one", "2/2 another"]
    assert main(["warm-up", "--quiet"]) == 0
    assert capsys.readouterr() == (f"2 files of {size / 1e6:.1f} MB in {where}, 0 of them new\n", "")


def test_warm_up_that_can_keep_nothing_says_why(
    write_module: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(warm_up, "_steps", lambda: [("one", lambda: write_module(MODULE).unrelated(1))])
        patch.setattr(cache, "unkept", [])
        patch.setattr(os, "replace", full)
        assert main(["warm-up"]) == 2
        assert "No space left on device" in capsys.readouterr().err
    monkeypatch.setattr(cache, "_folders", lambda: ((), {tmp_path: "others may write to it"}))
    assert main(["warm-up"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("fastevals warm-up: error: compiled kernels can't be kept")
    assert f"{tmp_path}: others may write to it" in said
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    assert main(["warm-up"]) == 2
    assert "NUMBA_DISABLE_JIT" in capsys.readouterr().err


@pytest.mark.slow
def test_after_warm_up_commands_and_common_calls_compile_nothing() -> None:
    # In the tests' shared folder, where most kernels are compiled already.
    assert subprocess.run([sys.executable, "-m", "fastevals", "warm-up", "--quiet"], timeout=900).returncode == 0
    code = """
        import contextlib, io, json, sys, warnings
        import numpy as np, fastevals as fe
        from fastevals.show.cli import main
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(5)
        with contextlib.redirect_stdout(io.StringIO()):
            for command in (["report", "--by", "fold"], ["compare"], ["bias-variance"]):
                assert main(command) == 0
        for n in (1000, 400_000):
            y, s, p, c = rng.integers(0, 2, n), rng.random(n), rng.integers(0, 3, n), rng.integers(0, 3, n)
            ranking = fe.Ranking(y, s)
            ranking.confusion_at(ranking.best_threshold("f1").threshold).matthews()
            ranking.roc_curve().dominates(fe.Ranking(y, rng.random(n)).roc_curve())
            asked = ["roc_auc", "average_precision", fe.metric("f1", best="f1")]
            fe.bootstrap(ranking, asked, n_resamples=99, rng=0)
            fe.bootstrap((y, s), "roc_auc", groups=np.arange(n) // 5, n_resamples=99, rng=0)
            fe.compare_rankings(y, {"a": s, "b": rng.random(n)}, metrics=asked, n_resamples=99, rng=0)
            fe.bootstrap(fe.ConfusionMatrix.from_predictions(c, p), "accuracy", rng=0)
            fe.grouped_auc(y, s, np.arange(n) // 20), fe.batch_auc(y, rng.random((5, n)), standard_errors=True)
            fe.ClassRankings(c, np.eye(3)[p]).roc_auc(), fe.metrics.roc_auc_score(y, s), fe.metrics.f1_score(y, 1 - y)
            fe.permutation_test(c, p, p[::-1], fe.metric("f1", average="macro"), n_resamples=99, rng=0)
            fe.mcnemar_test(c, p, p[::-1]), fe.evaluate_splits(c, p, fe.KFold(5, rng=0), "error_rate")
        fe.nemenyi_test(rng.random((20, 4))), fe.pairwise_tests(rng.random((20, 4)), test="wilcoxon")
        modules = [module for name, module in sys.modules.items() if name.startswith("fastevals._kernels.")]
        kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
        print(json.dumps([[k.__name__, str(k.stats.cache_misses)] for k in kernels if k.stats.cache_misses]))
    """
    assert result(start(code)) == []


@pytest.mark.slow
@pytest.mark.parametrize("calls", [[], ["documents"]], ids=["summaries, folds, files and snapshots", "documents"])
def test_warm_up_compiles_what_calls_need(calls: list[str]) -> None:
    command = [sys.executable, "-m", "tests.public_calls", *calls]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {}
