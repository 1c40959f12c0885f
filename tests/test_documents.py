from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fastevals
from tests import documents
from tests.parameters import quick

pytest.importorskip("matplotlib")
pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")

TEXTS = [
    *documents.PAGES,
    *(documents.DOCS / name for name in documents.MADE),
    documents.ROOT / "CONTRIBUTING.md",
    documents.ROOT / "CHANGELOG.md",
    *(documents.DOCS / name for name in documents.OWN_TESTS),
    *sorted((documents.DOCS / "adding").glob("*.md")),  # whose code tests/test_adding.py runs
]

SITE = [page for page in sorted(documents.DOCS.glob("*.md")) if page.name != "index.md"]
# With many commands, which take seconds.
LONG = (
    "bayes.md",
    "curves.md",
    "drift.md",
    "planning.md",
    "queries.md",
    "learners.md",
    "report.md",
    "rows.md",
    "segments.md",
    "tasks.md",
    "thresholds.md",
    "tour.md",
)
SHORT = [page for page in documents.PAGES if page.name not in LONG]


@pytest.mark.cases(2)
@pytest.mark.parametrize("page", quick(documents.PAGES, *SHORT), ids=lambda page: page.name)
def test_the_code_of_a_page_gives_what_stands_below_it(page: Path, tmp_path: Path) -> None:
    assert documents.rewritten(page, tmp_path) == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", quick(documents.MADE, "api.md", "metrics.md"))
def test_pages_that_are_made_of_the_code(name: str) -> None:
    then, now = (documents.DOCS / name).read_text(encoding="utf-8"), documents.MADE[name]()
    different = {*now.splitlines()} ^ {*then.splitlines()}
    assert documents.same(then, now), f"python -m tests.documents --write docs/{name}  # {sorted(different)[:6]}"


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [*documents.broken_links(page)] == []


INDEX = (documents.DOCS / "index.md").read_text(encoding="utf-8")
GROUPS = {"Start", "Decide", "Scale", "Understand", "Reference", "Contribute"}


def test_the_index_lists_every_page_in_the_group_of_the_sidebar() -> None:
    trees = {
        caption: names.split()
        for caption, names in re.findall(r"```\{toctree\}\n:hidden:\n:caption: (\w+)\n(.*?)```", INDEX, re.DOTALL)
    }
    sections = re.findall(r"^## (\w+)$(.*?)(?=^## |^```|\Z)", INDEX, re.MULTILINE | re.DOTALL)
    assert {title: re.findall(r"\]\(([\w/]+)\.md\)", text) for title, text in sections} == trees
    assert trees.keys() == GROUPS
    listed = [name for names in trees.values() for name in names]
    assert sorted(listed) == sorted({page.stem for page in documents.DOCS.glob("*.md")} - {"index"} | {"adding/index"})


@pytest.mark.parametrize("page", SITE, ids=lambda page: page.name)
def test_a_page_begins_with_the_question_that_it_answers(page: Path) -> None:
    title, question = re.search(rf"^\| \[(.+)\]\({page.name}\) \| (.+\?) \|$", INDEX, re.MULTILINE).groups()
    text = re.sub(r"\A<!--.*?-->\n", "", page.read_text(encoding="utf-8"))
    assert text.startswith(f"# {title}\n\n**{question}**")


@pytest.mark.parametrize("page", [documents.DOCS / "index.md", *SITE], ids=lambda page: page.name)
def test_no_line_of_code_is_wider_than_the_site(page: Path) -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line for language, code in blocks if language != "text" for line in code.splitlines()]
    assert [line for line in lines if len(line) > documents.COLUMNS] == []


def test_the_citation_names_this_version() -> None:
    text = (documents.ROOT / "README.md").read_text(encoding="utf-8")
    assert f"version = {{{fastevals.__version__}}}" in text


def test_every_picture_is_shown() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in TEXTS)
    assert [file.name for file in (documents.DOCS / "images").iterdir() if f"images/{file.name}" not in texts] == []


def test_extras_that_pages_name_are_extras() -> None:
    project = tomllib.loads((documents.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        extra
        for page in TEXTS
        for listed in re.findall(r"pip install [^\n`]*?\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        for extra in listed.split(",")
    }
    assert named
    assert named - set(project["optional-dependencies"]) == set()


def test_no_hint_installs_fastevals_from_an_index() -> None:
    """The index may have another project of that name: hints name what is missing, and checkouts are paths."""
    code = sorted((documents.ROOT / "fastevals").rglob("*.py"))
    hint = re.compile(r"pip install [^\n`&]*(?<![./\w])fastevals\b")
    assert [str(file) for file in (*code, *TEXTS) if hint.search(file.read_text(encoding="utf-8"))] == []


def test_a_page_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 2\nx + 1\nprint('a')\n```\n\nText.\n\n```python\nx\n```\n\n```text\n3\n```\n\nEnd.\n"
    )
    new = documents.rewritten(page, tmp_path)
    first, second = (
        "```python\nx = 2\nx + 1\nprint('a')\n```\n\n```text\n3\na\n```\n",
        "```python\nx\n```\n\n```text\n2\n```\n",
    )
    assert new == f"{first}\nText.\n\n{second}\nEnd.\n"
    page.write_text(new)
    assert documents.rewritten(page, tmp_path) == new
    page.write_text("<!-- not run: a reason -->\n```python\n1 / 0\n```\n")
    assert documents.rewritten(page, tmp_path) == page.read_text()
    page.write_text("```sh\necho a; false\n```\n")
    with pytest.raises(AssertionError, match="echo a; false"):
        documents.rewritten(page, tmp_path)
    page.write_text("```python\n1\n```\n\n![nothing](images/nothing.svg)\n")
    with pytest.raises(AssertionError, match=r"pictures, for 'images/nothing\.svg'"):
        documents.rewritten(page, tmp_path)


@pytest.mark.parametrize(
    ("then", "now", "is_same"),
    [
        ("0.1234 a", "0.1235 a", True),
        ("0.1234 a", "0.1236 a", False),
        ("0.1234 a", "0.1234 b", False),
        ("12 rows", "13 rows", False),
        ("0.30000000000000004", "0.3000000000000001", True),
        ("1.5e-05", "1.6e-05", True),
        ("a 1", "a 1 2", False),
    ],
)
def test_outputs_may_differ_in_the_last_digit(then: str, now: str, is_same: bool) -> None:
    assert documents.same(then, now) is is_same


def test_broken_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    (tmp_path / "there.md").write_text("# A *title*, two\n")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#a-title-two) [b](gone.md) [c](there.md#gone) [d](https://example.org) ![e](x.svg)\n")
    assert sorted(documents.broken_links(page)) == ["page.md: gone.md", "page.md: there.md#gone", "page.md: x.svg"]


@pytest.mark.slow
def test_readmes_shell_examples_run_as_pasted(tmp_path: Path) -> None:
    """In a checkout, with the virtual environment that README's first line makes."""
    text = (documents.ROOT / "README.md").read_text(encoding="utf-8")
    pasted = re.findall(r"^<!-- not run: a test pastes it into a checkout -->\n```sh\n(.*?)^```", text, re.M | re.S)
    (tmp_path / "fastevals").symlink_to(documents.ROOT / "fastevals")
    program = tmp_path / ".venv" / "bin" / "fastevals"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fastevals "$@"\n')
    program.chmod(0o755)
    verdicts = "random_forest's AUC is higher than logistic's by", "PASS: random_forest may ship."
    for example, verdict in zip(pasted, verdicts, strict=True):
        done = subprocess.run(["bash", "-c", example], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert verdict in done.stdout
    assert "random_forest" in (tmp_path / "page.html").read_text(encoding="utf-8")
