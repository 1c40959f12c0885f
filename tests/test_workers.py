"""Workers of a parallel run have files of their own, and each test runs once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import leave_cases_out
from tests.workers import shares

FILES = {
    "tests/__init__.py": "",
    "tests/conftest.py": "from tests.workers import Workers\n"
    "def pytest_configure(config):\n    config.pluginmanager.register(Workers(config))\n",
    "tests/helpers.py": "def three():\n    return 3\n",
    "tests/test_few.py": "def test_one():\n    pass\n",
    "tests/test_many.py": "import os\nfrom tests.helpers import three\n"
    "def test_one():\n    assert three() == 3\ndef test_crash():\n    os._exit(3)\ndef test_two():\n    pass\n",
    "tests/examples.py": '"""Say three.\n\n>>> 3\n3\n"""\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    own = {"tests/workers.py": Path(__file__).with_name("workers.py").read_text()}
    for name, text in (FILES | own).items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_each_file_with_tests_is_in_one_share(folder: Path) -> None:
    names = [[Path(file).name for file in share] for share in shares([folder / "tests"], 2)]
    assert names == [["examples.py", "test_few.py"], ["test_many.py"]]
    assert shares([folder / "tests" / "helpers.py"], 2) == [[], [str(folder / "tests" / "helpers.py")]]  # asked for


@pytest.mark.slow
def test_each_test_runs_once_even_after_a_crash(folder: Path) -> None:
    options = ["-n", "2", "--dist", "loadfile", "-m", "not slow", "--doctest-modules", "-rA"]
    command = [sys.executable, "-m", "pytest", *options, "tests"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    ran = [line for line in done.stdout.splitlines() if line.startswith(("PASSED", "FAILED"))]
    assert [line.split()[:2] for line in sorted(ran)] == [
        ["FAILED", "tests/test_many.py::test_crash"],
        ["PASSED", "tests/examples.py::tests.examples"],
        ["PASSED", "tests/test_few.py::test_one"],
        ["PASSED", "tests/test_many.py::test_one"],
        ["PASSED", "tests/test_many.py::test_two"],
    ]


def test_a_default_run_needs_some_cases_evenly_spread(request: pytest.FixtureRequest) -> None:
    def case(name: str, n: int | None) -> pytest.Item:
        item = pytest.Function.from_parent(request.node.parent, name=name, originalname=name[:1], callobj=case)
        if n is not None:
            item.add_marker(pytest.mark.cases(n))
        return item

    items = [case(f"{name}[{k}]", n) for k in range(7) for name, n in (("a", 3), ("b", 9), ("c", None))]
    leave_cases_out(items)
    assert [item.name for item in items if item.get_closest_marker("slow")] == ["a[1]", "a[3]", "a[5]", "a[6]"]
