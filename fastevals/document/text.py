"""Documents as text: wrapped lines of words, and tables with aligned columns, split where they are too wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastevals._text import (
    TABLE_WIDTH,
    columns_of,
    format_ends,
    format_pvalue,
    format_tables,
    pad,
    printable,
    shorten_name,
    wrap_text,
)
from fastevals.document.document import (
    BAR,
    AnyCell,
    Cell,
    DifferenceCell,
    Document,
    Number,
    Part,
    Row,
    Sentence,
    Table,
    parts_for,
)

FACT_CHARACTERS = 11  # before the text of a fact
NAME_SHARE = 0.4  # of the width, at most for the names of a table that is split
LEAST_NAME = 10  # characters of the column of names, which also has the rows of intervals
EMPHASES = {"best": "*", "second": "_"}  # marks behind numbers
# Before the first line, and before others.
MARKS = {"caution": ("! : ", "    "), "note": ("- : ", "    "), "question": ("? ", "  ")}


def write_text(document: Document, width: int = TABLE_WIDTH) -> str:
    """Return a document as text whose lines fit in `width` characters, the last line with a line end."""
    head = list(parts_for("text", document.head))
    sections = [list(parts_for("text", section.parts)) for section in document.sections]
    every = [part for parts in (head, *sections) for part in parts if isinstance(part, Table)]
    tables = _table_lines(every, width)
    heading = document.heading()
    lines = [heading] if len(heading) <= width else wrap_text(heading, width=width)
    lines += _lines(head, tables, width)
    facts = list(parts_for("text", document.facts))
    lines += [""] if facts and head else []
    for name, text, _ in facts:
        lines += wrap_text(f"{name:{FACT_CHARACTERS}}{text}", " " * FACT_CHARACTERS, width)
    for parts in sections:
        found = _lines(parts, tables, width)
        lines += ["", *found] if found else []
    return "\n".join(lines) + "\n"


def _lines(parts: Iterable[Part], tables: list[list[str]], width: int) -> list[str]:
    """Return the lines of parts; take the lines of each table from the front of `tables`."""
    lines: list[str] = []
    is_apart = False
    for part in parts:
        if isinstance(part, Table):
            found = tables.pop(0)
        elif isinstance(part, Sentence):
            found = _sentence_lines(part, width)
        else:
            continue
        if found and is_apart and lines:
            lines.append("")
        is_apart = not found and (is_apart or isinstance(part, Sentence))
        lines += found
    return lines


def _sentence_lines(sentence: Sentence, width: int) -> list[str]:
    """Return a sentence's lines; a gap has none."""
    if sentence.role == "line":
        return sentence.text.split("\n") if sentence.text else []
    mark, indent = MARKS.get(sentence.role, ("", "    "))
    return wrap_text(mark + sentence.text, indent, width)


# Tables ---------------------------------------------------------------------------------------------------------------


def _table_lines(tables: Sequence[Table], width: int) -> list[list[str]]:
    """Return the lines of each table, in order; a table without rows has none."""
    written: list[list[list[str]]] = []
    more: list[list[str]] = []
    together: dict[object, list[int]] = {}
    for k, table in enumerate(tables):
        written.append(text_rows(table, table.made(table.n_shown)))
        more.append([table.more] if table.more else [])
        group = (table.aligned, *(table.heads or table.columns)) if table.aligned else k
        together.setdefault(group, []).append(k)
    lines: list[list[str]] = [[] for _ in tables]
    for places in together.values():
        for k, found in zip(places, _fitted([written[k] for k in places], width), strict=True):
            lines[k] = found + more[k]
    return lines


def _fitted(tables: list[list[list[str]]], width: int) -> list[list[str]]:
    """Return the lines of aligned tables. In tables that are too wide, some columns follow below the others.

    Such a table is split at its bars first. A name that is too long for its column has a line of its own.
    """
    lines = format_tables(tables)
    if max((columns_of(line) for found in lines for line in found), default=0) <= width:
        return lines
    widths = [max(map(columns_of, column)) for column in zip(*(row for rows in tables for row in rows), strict=True)]
    heads = next(filter(None, tables))[0]
    room = width - sum(column + 1 for column in widths[1:])  # for names, if no column follows below
    widths[0] = min(widths[0], room if room >= LEAST_NAME and BAR not in heads else round(NAME_SHARE * width))
    parts: list[list[int]] = [[]]
    for k, head in enumerate(heads[1:], 1):
        if parts[-1] and (head == BAR or widths[0] + sum(widths[n] + 1 for n in (*parts[-1], k)) > width):
            parts.append([])
        if head != BAR:
            parts[-1].append(k)
    return [_split_lines(rows, widths, parts, width) for rows in tables]


def _split_lines(rows: list[list[str]], widths: list[int], parts: list[list[int]], width: int) -> list[str]:
    """Return the lines of a table whose columns are split into parts, one below the other.

    A part without intervals has no lines for their ends, whose names are indented.
    """
    lines: list[str] = []
    for part in parts if rows else ():
        lines += [""] if lines else []
        for name, *cells in rows:
            if name.startswith(" ") and not any(cells[k - 1].strip() for k in part):
                continue
            if columns_of(name) > widths[0]:
                lines.append(shorten_name(name, width))
                name = ""
            padded = [pad(name, widths[0]), *(pad(cells[k - 1], widths[k], right=True) for k in part)]
            lines.append(" ".join(padded).rstrip())
    return lines


def text_rows(table: Table, rows: Iterable[Row]) -> list[list[str]]:
    """Return the cells of a table's lines, heads first; nothing for a table without rows."""
    heads = [*(table.heads or table.columns), *([""] if table.starred else [])]
    lines = [line for row in rows for line in _row_lines(table, row)]
    return [heads, *lines] if lines else []


def _row_lines(table: Table, row: Row) -> list[list[str]]:
    """Return a row's line, then a line for each end of its intervals and for p."""
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
    if not (marked and isinstance(cell, (Number, Cell))):
        return cell.as_text()
    return cell.as_text() + EMPHASES.get(cell.emphasis, " ")


def _end(cell: AnyCell | str, k: int, marked: bool) -> str:
    if not isinstance(cell, (Number, DifferenceCell)) or cell.interval is None:
        return _below(cell)
    return format_ends(cell.interval)[k] + (" " if marked and isinstance(cell, Number) else "")


def _pvalue(cell: AnyCell | str) -> str:
    return format_pvalue(cell.pvalue) if isinstance(cell, DifferenceCell) else _below(cell)


def _below(cell: AnyCell | str) -> str:
    """Return what is written below a cell in a line without a number for it: a bar below a bar, otherwise nothing."""
    return BAR if cell == BAR else ""
