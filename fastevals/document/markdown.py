"""Write documents as Markdown for pull requests and job summaries: verdict, tables, caveats and facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fastevals._text import one_line, printable
from fastevals.document.document import Cell, Document, Sentence, Table, parts_for, rich

FACTS = "<details><summary>How this was made</summary>"


def write_markdown(document: Document) -> str:
    """Return a document as GitHub's Markdown, ending in a newline and without pictures."""
    parts = [f"## {_escaped(document.heading())}"]
    sections = [(section, list(parts_for("markdown", section.parts))) for section in document.sections]
    several = sum(bool(found) for _, found in sections) > 1
    said = list(parts_for("markdown", document.head))
    if several:
        parts += [*_paragraphs(said), *_cautions(said)]
        said = []
    for section, found in sections:
        if several and section.heading:
            size = f" ({section.size})" if section.size else ""
            parts.append(f"### {_escaped(section.heading + size)}")
        sentences = said + [part for part in found if isinstance(part, Sentence)]
        parts += _paragraphs(sentences)
        parts += [text for part in found if isinstance(part, Table) for text in _table(part)]
        parts += _cautions(sentences)
    facts = [
        f"- {_started(f'{fact.name}: {fact.text}')}" for fact in parts_for("markdown", document.facts) if fact.text
    ]
    parts += [FACTS, "\n".join(facts), "</details>"] if facts else []
    return "\n\n".join(parts) + "\n"


def _paragraphs(sentences: Iterable[Sentence]) -> Iterator[str]:
    """Yield the verdict, its first sentence in bold, then other sentences one by one."""
    yield from (f"_{_escaped(each.text)}_" for each in sentences if each.role == "question")
    verdict = [each.text for each in sentences if each.role == "verdict"]
    if verdict:
        yield " ".join([f"**{_escaped(verdict[0])}**", *map(_escaped, verdict[1:])])
    yield from (_started(each.text) for each in sentences if each.role in ("", "line", "note"))


def _cautions(sentences: Iterable[Sentence]) -> list[str]:
    """Return the caveats as a list."""
    cautions = [f"- {_started(each.text)}" for each in sentences if each.role == "caution"]
    return ["\n".join(cautions)] if cautions else []


def _table(table: Table) -> Iterator[str]:
    """Yield a table with its title, and a line on the rows that it leaves out."""
    _, columns, rows = rich(table, table.n_shown)
    if not rows:
        return
    if table.title:
        yield f"**{_escaped(table.title)}**" + (f" {_escaped(table.note)}" if table.note else "")
    lines = [_line(_escaped(printable(column)) for column in columns), _line(["---", *["--:"] * (len(columns) - 1)])]
    lines += [_line([_escaped(printable(row.name)), *map(_cell, row.cells)]) for row in rows]
    yield "\n".join(lines)
    if table.more:
        yield _started(table.more)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    value = _escaped(cell.value)
    mark, end = {"": ("", ""), "second": ("<ins>", "</ins>")}.get(cell.emphasis, ("**", "**"))
    value = f"{mark}{value}{end}"
    return f"{value} ({_escaped(', '.join(cell.notes))})" if cell.notes else value


# Escapes --------------------------------------------------------------------------------------------------------------


def _escaped(text: str) -> str:
    """Return words in one line, with characters that mean something in Markdown or HTML escaped."""
    text = re.sub(r"([\\|*`\[\]~$])|(?<!\w)_|_(?!\w)", r"\\\g<0>", one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _started(text: str) -> str:
    """Return words escaped so that they do not start a heading, list or rule."""
    return re.sub(r"^(\d*)([-+#=.)])", r"\1\\\2", _escaped(text))
