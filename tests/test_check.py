"""`.ci/check`: the tests it finds for changed files, in a small repository of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[1] / ".ci" / "check"
FILES = {
    "pyproject.toml": '[tool.mypy]\nfiles = ["fastevals"]\n',
    "fastevals/__init__.py": "",
    "fastevals/counts.py": "",
    "fastevals/_validation/__init__.py": "",
    "fastevals/infer/__init__.py": "",
    "fastevals/infer/delong/__init__.py": "",
    "fastevals/_validation/labels.py": "",
    "fastevals/infer/means.py": "",
    "fastevals/infer/delong/delong.py": "",
    "tests/test_architecture.py": "def test_layers():\n    pass\n",
    "tests/test_counts.py": "def test_counts():\n    pass\n",
    "tests/test_validation.py": "def test_labels():\n    pass\n",
    "tests/infer/test_means.py": "def test_means():\n    pass\n",
    "tests/infer/delong/test_variance.py": "def test_variance():\n    pass\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    author = {f"GIT_{role}_{field}": "someone" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    environment = os.environ | author | {"PATH": path, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for tool in ("git", "ruff", "mypy"):
        if not shutil.which(tool, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"):
            pytest.skip(f"needs {tool}")
    if not CHECK.exists():
        pytest.skip("an sdist has no .ci")
    write(tmp_path, FILES | {".ci/check": CHECK.read_text(), ".gitignore": ".*_cache\n__pycache__\n"})
    (tmp_path / ".ci" / "check").chmod(0o755)
    for command in ("init -q -b main", "add -A", "commit -q -m start", "checkout -q -b change"):
        assert run(tmp_path, "git", *command.split()).returncode == 0
    return tmp_path


@pytest.mark.slow
def test_tests_of_touched_rooms_are_run(repository: Path) -> None:
    nothing = run(repository, ".ci/check")
    assert nothing.returncode == 0, nothing.stdout + nothing.stderr
    assert "tests of 0 changed files: tests/test_architecture.py (" in nothing.stdout

    write(repository, {"fastevals/infer/delong/delong.py": "N = 2\n", "fastevals/infer/delong/new.py": "N = 3\n"})
    assert run(repository, "git", "commit", "-q", "-a", "-m", "change").returncode == 0
    committed = run(repository, ".ci/check")
    assert committed.returncode == 0, committed.stdout + committed.stderr
    assert "tests of 2 changed files: tests/test_architecture.py tests/infer/delong (" in committed.stdout
    assert "2 passed" in committed.stdout

    write(repository, dict.fromkeys(("fastevals/counts.py", "fastevals/_validation/labels.py"), "N = 1\n"))
    write(repository, {"fastevals/infer/means.py": "N: int = None\n"})
    wrong = run(repository, ".ci/check")
    own = "tests/infer/test_means.py tests/test_counts.py tests/test_validation.py"
    assert f"tests of 5 changed files: tests/test_architecture.py {own} tests/infer" in wrong.stdout
    assert wrong.returncode == 1
    assert "fastevals/infer/means.py:1: error: Incompatible types in assignment" in wrong.stdout


def test_a_commit_that_is_unknown_is_an_error(repository: Path) -> None:
    wrong = run(repository, ".ci/check", "no-such-commit")
    assert wrong.returncode
    assert "no-such-commit" in wrong.stderr


@pytest.mark.slow
def test_a_deleted_file_counts(repository: Path) -> None:
    for name in ("fastevals/infer/delong/delong.py", "tests/test_counts.py"):
        (repository / name).unlink()
    deleted = run(repository, ".ci/check")
    assert deleted.returncode == 0, deleted.stdout + deleted.stderr
    assert "tests of 2 changed files: tests/test_architecture.py tests/infer/delong (" in deleted.stdout
