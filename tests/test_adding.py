"""The guides of docs/adding, followed: each makes its addition in a copy of the tree, and its commands run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import documents

PAGES = documents.DOCS / "adding"
WALKED = ("metric", "curve", "test", "plot", "splitter", "engine")
KEPT_OUT = shutil.ignore_patterns(".git", ".venv*", ".hypothesis", ".benchmarks", "build", "dist")

# A block of a page: an addition to a file, as the line above says; commands; or a program, with its output.
BLOCK = re.compile(
    r"(?:^(?:New file|In) `(?P<file>[^`]+)`"
    r"(?:, (?P<place>above|one line above|below|at the end|in place of)(?: `(?P<anchor>[^\n]+)`)?)?:\n\n)?"
    r"^```(?P<language>\w+)\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def blocks(name: str) -> list[re.Match[str]]:
    """Return the blocks of a page, in order."""
    return [*BLOCK.finditer((PAGES / f"{name}.md").read_text(encoding="utf-8"))]


class Copy:
    """A copy of the tree, or of some of its files, which a page is applied to."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def walk(self, page: str) -> None:
        """Do what each block of a page says, in order."""
        for block in blocks(page):
            if block["file"]:
                self.add(block["file"], block["place"], block["anchor"], block["code"])
            elif block["language"] == "sh":
                self.run("bash", "-c", f'set -eu; python() {{ "{sys.executable}" "$@"; }}\n{block["code"]}')
            elif block["language"] == "python":
                printed = self.run(sys.executable, "-W", "error", "-c", block["code"])
                assert documents.same(block["output"] or "", printed), f"{page}: {block['code']}\n{printed}"

    def add(self, file: str, place: str | None, anchor: str | None, code: str) -> None:
        """Write a new file, or put code near the one line that has the anchor, or in place of it."""
        path = self.root / file
        if place is None:
            assert not path.exists(), f"{file} is there already"
            path.write_text(code, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [number for number, line in enumerate(lines) if anchor and anchor in line]
        assert not anchor or len(found) == 1, f"{file} has {len(found)} lines with {anchor}"
        start = {"below": 1, "one line above": -1}.get(place, 0) + (found[0] if anchor else len(lines))
        lines[start : start + (place == "in place of")] = [code]
        path.write_text("".join(lines), encoding="utf-8")

    def run(self, *command: str) -> str:
        """Run a command in the copy, by which its own package is imported, and return what it printed."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(self.root), "PYTEST_ADDOPTS": "-n 0"}
        environment["MYPY_CACHE_DIR"] = str(self.root.parents[1] / "mypy")  # of all copies
        environment.pop("FASTEVALS_TEST_UNTIL", None)
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout


@pytest.mark.parametrize("name", WALKED)
def test_every_addition_has_its_place(name: str, tmp_path: Path) -> None:
    """A line that a page names, and that has changed since, is named anew."""
    copy = Copy(tmp_path)
    for block in blocks(name):
        if block["file"]:
            path = tmp_path / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            if block["place"] and not path.exists():
                shutil.copy(documents.ROOT / block["file"], path)
            copy.add(block["file"], block["place"], block["anchor"], block["code"])


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKED)
def test_following_a_guide_to_the_letter_makes_the_addition(name: str, tmp_path: Path) -> None:
    shutil.copytree(documents.ROOT, tmp_path / "copy", ignore=KEPT_OUT)  # with byte code, which stays valid
    copy = Copy(tmp_path / "copy")
    copy.walk(name)
    for tool in ("ruff check .", "ruff format --check .", "mypy"):
        if shutil.which(tool.split()[0], path=str(Path(sys.executable).parent)):
            copy.run(*tool.split())
