"""Documents as text to read: lines of words to 100 characters, and tables whose columns are aligned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastevals._text import format_ends, format_pvalue, format_tables, printable, wrap_text
from fastevals.document.document import (
    BAR,
    AnyCell,
    DifferenceCell,
    Document,
    Number,
    Part,
    Row,
    Sentence,
    Table,
    parts_for,
)

FACT_CHARACTERS = 11  # before what is said
# Before the first line, and before others.
MARKS = {"caution": ("! : ", "    "), "note": ("- : ", "    "), "question": ("? ", "  ")}


def write_text(document: Document) -> str:
    """Return a document as text, the last line with a line end."""
    sections = [list(parts_for("text", section.parts)) for section in document.sections]
    tables = _table_lines([part for parts in sections for part in parts if isinstance(part, Table)])
    lines = [document.heading()]
    for name, text, _ in parts_for("text", document.facts):
        lines += wrap_text(f"{name:{FACT_CHARACTERS}}{text}", " " * FACT_CHARACTERS)
    lines += _lines(parts_for("text", document.head), [])
    for parts in sections:
        found = _lines(parts, tables)
        lines += ["", *found] if found else []
    return "\n".join(lines) + "\n"


def _lines(parts: Iterable[Part], tables: list[list[str]]) -> list[str]:
    """Return the lines of parts; those of tables, which are made, are taken one by one."""
    lines: list[str] = []
    is_apart = False
    for part in parts:
        if isinstance(part, Table):
            found = tables.pop(0)
        elif isinstance(part, Sentence):
            found = _sentence_lines(part)
        else:
            continue
        if found and is_apart and lines:
            lines.append("")
        is_apart = not found and (is_apart or isinstance(part, Sentence))
        lines += found
    return lines


def _sentence_lines(sentence: Sentence) -> list[str]:
    """Return a sentence's lines; none of a gap."""
    if sentence.role == "line":
        return sentence.text.split("\n") if sentence.text else []
    mark, indent = MARKS.get(sentence.role, ("", "    "))
    return wrap_text(mark + sentence.text, indent)


# Tables ---------------------------------------------------------------------------------------------------------------


def _table_lines(tables: Sequence[Table]) -> list[list[str]]:
    """Return each table's lines, in their order; none of one without rows."""
    written: list[list[list[str]]] = []
    more: list[list[str]] = []
    together: dict[object, list[int]] = {}
    for k, table in enumerate(tables):
        written.append(text_rows(table, table.made(table.n_shown)))
        more.append([table.more] if table.more else [])
        together.setdefault(table.aligned or k, []).append(k)
    lines: list[list[str]] = [[] for _ in tables]
    for places in together.values():
        for k, found in zip(places, format_tables([written[k] for k in places]), strict=True):
            lines[k] = found + more[k]
    return lines


def text_rows(table: Table, rows: Iterable[Row]) -> list[list[str]]:
    """Return the cells of a table's lines, the first line its heads; nothing of a table without rows."""
    heads = [*(table.heads or table.columns), *([""] if table.starred else [])]
    lines = [line for row in rows for line in _row_lines(table, row)]
    return [heads, *lines] if lines else []


def _row_lines(table: Table, row: Row) -> list[list[str]]:
    """Return a row's line, then one for each end of its intervals, and one for p."""
    cells = list(row.cells)
    first = [_first_line(cell, table.marked) for cell in cells]
    if table.starred:
        first.append("*" if any(getattr(cell, "emphasis", "") == "shown" for cell in cells) else "")
    lines = [[row.short or printable(row.name), *first]]
    padding = [""] if table.starred else []
    low, high, p = table.ends
    if any(isinstance(cell, (Number, DifferenceCell)) and cell.interval is not None for cell in cells):
        lines += [
            [name, *(_end(cell, k, table.marked) for cell in cells), *padding] for k, name in enumerate((low, high))
        ]
    if any(isinstance(cell, DifferenceCell) for cell in cells):
        lines.append([p, *(_pvalue(cell) for cell in cells), *padding])
    return lines


def _first_line(cell: AnyCell | str, marked: bool) -> str:
    if isinstance(cell, str):
        return cell
    if not (marked and isinstance(cell, Number)):
        return cell.as_text()
    return cell.as_text() + ("*" if cell.emphasis == "best" else " ")


def _end(cell: AnyCell | str, k: int, marked: bool) -> str:
    if not isinstance(cell, (Number, DifferenceCell)) or cell.interval is None:
        return _below(cell)
    return format_ends(cell.interval)[k] + (" " if marked and isinstance(cell, Number) else "")


def _pvalue(cell: AnyCell | str) -> str:
    return format_pvalue(cell.pvalue) if isinstance(cell, DifferenceCell) else _below(cell)


def _below(cell: AnyCell | str) -> str:
    """Return what stands in further lines of a column without numbers: the bar, or nothing."""
    return BAR if cell == BAR else ""
