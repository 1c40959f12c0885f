from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals._kernels import jit
from tests import reference_confusion as twin

PACKAGE = Path(fastevals.__file__).parent
KERNELS = sorted((PACKAGE / "_kernels").glob("*.py"))

# The smallest kernels: a compilation takes well under a second.
EXAMPLE = """
    import json
    from fastevals._kernels import compensated
    pair = compensated.two_sum(1e16, 1.0)
    stats = getattr(compensated.two_sum, "stats", None)
    hits, misses = (sum(stats.cache_hits.values()), sum(stats.cache_misses.values())) if stats else (0, 0)
    print(json.dumps({"pair": pair, "hits": hits, "misses": misses, "file": compensated.__file__}))
"""


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-W", "error", "-c", textwrap.dedent(code)],  # -P: not the package of the working folder
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Any:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, (process.returncode, errors)
    return json.loads(output)


def example(folder: Path | str, **environment: str) -> dict[str, Any]:
    seen: dict[str, Any] = result(start(EXAMPLE, NUMBA_CACHE_DIR=str(folder), **environment))
    assert seen["pair"] == [1e16, 1.0]
    return seen


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


# The cache ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that one process has filled."""
    folder = tmp_path_factory.mktemp("cache")
    seen = example(folder)
    assert (seen["hits"], seen["misses"]) == (0, 1)
    assert [path.suffix for path in files(folder)] == [".nbc"]
    return folder


@pytest.fixture
def cache(compiled: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(compiled, tmp_path / "cache"))


def test_a_second_process_loads_from_the_file(cache: Path) -> None:
    before = [(path, path.stat().st_mtime_ns) for path in files(cache)]
    seen = example(cache)
    assert (seen["hits"], seen["misses"]) == (1, 0)
    assert [(path, path.stat().st_mtime_ns) for path in files(cache)] == before


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


@pytest.mark.parametrize(
    "kind", [kind if kind == "half" else pytest.param(kind, marks=pytest.mark.slow) for kind in DAMAGE]
)
def test_a_damaged_file_is_compiled_anew(kind: str, cache: Path) -> None:
    (path,) = files(cache)
    good = path.read_bytes()
    path.write_bytes(DAMAGE[kind](good))
    seen = example(cache)
    assert (seen["hits"], seen["misses"]) == (0, 1)
    assert path.read_bytes() != DAMAGE[kind](good)
    if kind == "half":
        assert example(cache)["hits"] == 1


def test_a_deleted_folder_is_made_again(cache: Path) -> None:
    shutil.rmtree(cache)
    assert example(cache)["misses"] == 1
    assert len(files(cache)) == 1


@pytest.mark.slow
def test_a_folder_deleted_while_the_process_runs(tmp_path: Path) -> None:
    code = f"""
        import json, shutil
        from fastevals._kernels import compensated
        shutil.rmtree({str(tmp_path)!r}, ignore_errors=True)
        print(json.dumps(compensated.two_sum(1e16, 1.0)))
    """
    assert result(start(code, NUMBA_CACHE_DIR=str(tmp_path))) == [1e16, 1.0]


def copied(folder: Path) -> Path:
    """Copy the package to where tests may break it."""
    return Path(shutil.copytree(PACKAGE, folder / "fastevals", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.mark.slow
def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    copied(tmp_path)
    (tmp_path / "file").touch()
    seen = example(tmp_path / "file", PYTHONPATH=str(tmp_path))
    assert seen["file"].startswith(str(tmp_path))


def test_without_any_writable_folder_kernels_compile_in_memory(tmp_path: Path) -> None:
    # Files where folders would be: that stops even root, whom permissions don't.
    package = copied(tmp_path)
    (package / "_kernels" / "__pycache__").touch()
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "IPYTHONDIR", "LOCALAPPDATA"), "/dev/null/nowhere")
    before = files(tmp_path)
    seen = example("/dev/null/nowhere", PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1", **nowhere)
    assert seen["file"].startswith(str(tmp_path))
    assert seen["hits"] == 0
    assert files(tmp_path) == before


def test_without_the_variable_the_cache_is_beside_the_package(tmp_path: Path) -> None:
    package = copied(tmp_path)
    example("", PYTHONPATH=str(tmp_path))
    assert [path.suffix for path in files(package / "_kernels" / "__pycache__") if path.suffix != ".pyc"] == [".nbc"]


@pytest.mark.slow
def test_an_edit_in_another_kernel_file_compiles_anew(tmp_path: Path) -> None:
    package, cache = copied(tmp_path), tmp_path / "cache"
    assert example(cache, PYTHONPATH=str(tmp_path))["misses"] == 1
    path = package / "_kernels" / "areas.py"
    path.write_text(path.read_text() + "\n# edited\n")
    assert example(cache, PYTHONPATH=str(tmp_path))["misses"] == 1


def test_the_fingerprint_covers_every_kernel_file(monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = jit._fingerprint.__wrapped__
    seen = {fingerprint()}
    read = Path.read_bytes
    for edited in KERNELS:
        monkeypatch.setattr(Path, "read_bytes", lambda path, edited=edited: read(path) + b" " * (path == edited))
        seen.add(fingerprint())
    assert len(seen) == 1 + len(KERNELS)


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


# The sources --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_kernels_wear_one_decorator(path: Path) -> None:
    if path.name in ("jit.py", "__init__.py"):
        return
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            (decorator,) = (ast.unparse(decorator) for decorator in node.decorator_list)
            assert decorator in jit.__all__, node.name
            assert ast.get_docstring(node), node.name
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            assert "numba" not in ast.unparse(node).replace("fastevals._kernels", "")
        assert not (isinstance(node, ast.Raise | ast.Try)), "kernels have no user errors"


def test_no_parallel_loops_and_of_fast_math_only_sums_in_any_order() -> None:
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        keywords = [node for node in nodes if isinstance(node, ast.keyword)]
        words = {node.arg for node in keywords}
        names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        flags = [ast.unparse(node.value) for node in keywords if node.arg == "fastmath"]
        assert flags == (["{'reassoc'}"] if path.name == "jit.py" else []), path
        assert "parallel" not in words, path
        assert not names & {"prange"}, path
        if path.name != "jit.py":
            assert not names & {"njit", "jit", "vectorize", "guvectorize", "cfunc"}, path


def test_kernels_are_read_by_the_compiler_without_the_gil() -> None:
    from fastevals._kernels import confusion, regression

    options = confusion.count_tuples.targetoptions
    assert options["nogil"]
    assert options["error_model"] == "numpy"
    assert not options.get("fastmath")
    assert not options.get("parallel")
    assert regression.sum_errors.targetoptions["fastmath"] == {"reassoc"}
    assert isinstance(confusion.count_tuples._cache, jit._KernelCache)


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
