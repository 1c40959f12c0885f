"""The code of `docs/stack.md` runs with the real tools, and prints what stands below it."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from fastevals.integrations import _packages
from tests import documents

PAGE = documents.DOCS / "stack.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = {
    name: documents.Block(found, found["language"], found["code"], found["output"] or "", "")
    for name, found in (
        (marker[1], documents.BLOCK.match(TEXT, marker.end()))
        for marker in re.finditer(r"^<!-- (\w+) -->\n(?=```python)", TEXT, re.MULTILINE)
    )
}
TOOLS = [name for name in BLOCKS if name != "data"]


@pytest.mark.filterwarnings("ignore")  # of the tools
@pytest.mark.parametrize("tool", TOOLS)
def test_the_code_for_a_tool(tool: str, tmp_path: Path) -> None:
    if tool != "trackers" and find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    session = documents.Session(PAGE, tmp_path, warns="ignore")
    session.run(BLOCKS["data"])
    printed = session.run(BLOCKS[tool])
    assert documents.same(BLOCKS[tool].output, printed), printed


def test_every_python_block_has_a_marker() -> None:
    assert len(BLOCKS) == TEXT.count("```python\n")


def test_the_table_states_the_versions_that_are_tested() -> None:
    for package, (oldest, newest, _) in _packages.TESTED.items():
        assert f"{oldest} to {newest}" in TEXT, package
