"""Mutants make the change they describe, run where they do no harm, and die only by their own effect."""

import ast
import subprocess
from functools import cache

import pytest

from tests import mutation
from tests.mutation import (
    Change,
    Copy,
    Mutant,
    Suite,
    Verdict,
    equivalents,
    mutants_at,
    mutants_of,
    score,
    stale,
    survivors,
    without_line,
)

SOURCE = '''"""1 < 2."""
from typing import TYPE_CHECKING
import numpy as np
if TYPE_CHECKING:
    SIZE = 3
def f(x: tuple[1, 2], *, k: int = 1) -> list[4]:
    """Add 1 + 1."""
    é = x < 2.5 and (k + 1) not in x
    if not é:
        raise ValueError(f"{k + 1} is below 2")
    x += np.maximum(1, 0)
    print("left", -x, *zip(x, x, strict=True))
    for _ in x:
        continue
    return x if k else True
'''
CHANGES = {
    6: ["k: int = 2", "k: int = 0"],
    8: [
        "x <= 2.5 and (k + 1) not in x", "x < 5.0 and (k + 1) not in x", "x < 2.5 or (k + 1) not in x",
        "x < 2.5 and (k - 1) not in x", "x < 2.5 and (k + 2) not in x", "x < 2.5 and (k + 0) not in x",
        "x < 2.5 and (k + 1) in x",
    ],
    9: ["if é:", "if (not (not é)):"],
    11: ["x -= np.maximum(1, 0)", "x += np.minimum(1, 0)", "x += np.maximum(2, 0)", "x += np.maximum(0, 0)",
         "x += np.maximum(1, 1)"],
    12: ["pass", "print('right', -x, ", 'print("left", x, '],
    14: ["break"],
    15: ["return x if (not (k)) else True", "return x if k else False"],
}  # fmt: skip


def test_the_mutants_of_a_source():
    found = mutants_of("f.py", SOURCE)
    assert len(found) == len(set(found)) == sum(map(len, CHANGES.values()))
    for line, changed in CHANGES.items():
        after = [mutant.after for mutant in found if mutant.change.line == line]
        assert len(after) == len(changed)
        for text in changed:
            assert [text in each for each in after].count(True) == 1, text
    for mutant in found:
        ast.parse(mutant.applied(SOURCE))
        same = [a == b for a, b in zip(SOURCE.split("\n"), mutant.applied(SOURCE).split("\n"), strict=True)]
        assert [number for number, kept in enumerate(same, 1) if not kept] == [mutant.change.line]


def test_the_mutants_of_a_file_and_of_a_line():
    file = "fastevals/measure/ranking/ranking.py"
    found = mutants_at([file])
    assert {mutant.file for mutant in found} == {file}
    assert mutants_at([f"{file}:{found[0].change.line}"]) == [m for m in found if m.change.line == found[0].change.line]
    assert found == [mutant for mutant in mutants_at(["fastevals/measure/ranking"]) if mutant.file == file]
    assert {mutant.room for mutant in found} == {"measure"}


@pytest.mark.slow
def test_equivalents_are_mutants_of_the_lines_that_are_there():
    known, gone = equivalents(), stale()
    for file in {file for file, _, _ in known}:
        there = {(mutant.before.strip(), mutant.after.strip()) for mutant in mutants_at([file])}
        listed = {(line, after) for its, line, after in known if its == file and f"{file}: {line}" not in gone}
        assert not listed - there, file
    assert len(gone) < len(known)
    assert all(len(reason) > 10 for reason in known.values())


suite = cache(lambda: Suite(mutation.ROOT))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("fastevals/measure/regression.py", "tests/measure/test_regression.py"),
        ("fastevals/_kernels/compensated.py", "tests/kernels/test_compensated.py"),
        ("fastevals/_execution.py", "tests/test_execution.py"),
    ],
)
def test_the_nearest_tests_come_first(file, first):
    tests = suite()
    nearest, own, others = tests.near(Mutant(file, Change(1, 0, 0, ""), "", ""))
    assert next(name for name in nearest if name.startswith("tests/")) == first
    run = [*nearest, *own, *others]
    assert sorted(name for name in run if name.startswith("tests/")) == tests.files
    assert run[-1] == "fastevals"


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / "fastevals").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["slow"]\n')
    (root / "fastevals" / "__init__.py").write_text("")
    (root / "fastevals" / "lists.py").write_text(
        "def count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\ndef least(x):\n    return min(x)\n"
    )
    (root / "tests" / "__init__.py").write_text("")
    (root / "tests" / "mutation.py").write_text((mutation.ROOT / "tests" / "mutation.py").read_text())
    (root / "tests" / "test_nothing.py").write_text("import a_module_that_is_missing\n")
    (root / "tests" / "test_lists.py").write_text(
        "from fastevals.lists import count, least\nlevel = 0\n"
        "def test_broken():\n    assert False\n"
        "def test_count():\n    assert count(3) == 3\n"
        "def test_least():\n    assert least([2, 2]) == 2\n"
    )
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ("while i <= n:", Verdict(True, "tests/test_lists.py::test_count")),
        ("return max(x)", Verdict(False, "survived")),
        ("i -= 1", Verdict(True, "too slow")),
    ],
)
def test_mutants_are_killed_by_their_own_doing(project, tmp_path, monkeypatch, after, verdict):
    monkeypatch.setattr(mutation, "SECONDS", 1)
    monkeypatch.setattr(mutation, "IMPORTED", ("hypothesis", "pytest", "xdist"))
    (mutant,) = [mutant for mutant in mutants_at(["fastevals"], project) if mutant.after.strip() == after]
    source = (project / mutant.file).read_text()
    with Copy(project, tmp_path / "work") as copy:
        assert copy.try_(mutant, [["tests/test_nothing.py", "tests/test_lists.py"]], "not slow") == verdict
    assert (project / mutant.file).read_text() == (copy.tree / mutant.file).read_text() == source


def test_the_copy_is_of_the_tree_as_it_is(project, tmp_path):
    Copy(project, tmp_path / "work")
    (project / "fastevals" / "lists.py").write_text("def count(n):\n    return n\n")
    (project / "tests" / "test_lists.py").rename(project / "tests" / "test_counts.py")
    tree = Copy(project, tmp_path / "work").tree
    assert (tree / "fastevals" / "lists.py").read_text().endswith("return n\n")
    assert sorted(path.name for path in (tree / "tests").iterdir()) == [
        "__init__.py", "mutation.py", "test_counts.py", "test_nothing.py",
    ]  # fmt: skip


def test_survivors_are_read_from_what_was_printed():
    file, source = "fastevals/lists.py", "def f(x):\n    return [x < 1, x > 2]\n"
    dead, alive = map(str, mutants_of(file, source)[:2])
    assert survivors(f"killed     {dead}  [a test; 3 s]\nsurvived   {alive}  [survived; 3 s]\n") == {
        without_line(alive)
    }
    assert without_line(str(mutants_of(file, f"\n{source}")[1])) == without_line(alive) != without_line(dead)


def test_scores_are_of_rooms_and_of_what_is_not_equivalent():
    table, enough = score([("infer", "killed")] * 97 + [("infer", "survived")] * 3 + [("show", "equivalent")] * 7)
    rows = [line.split() for line in table.split("\n")[1:]]
    assert rows == [
        ["infer", "100", "97", "0", "3", "97%", "97%"],
        ["show", "7", "0", "7", "0", "0%", "0%"],
        ["all", "107", "97", "7", "3", "91%", "97%"],
    ]
    assert enough
    assert not score([("infer", "killed")] * 96 + [("infer", "survived")] * 4)[1]
    assert not score([("infer", "killed")] * 89 + [("infer", "equivalent")] * 11)[1]
