"""Documents in notebooks: the title, the verdict, the first rows of each table, and caveats, without colours."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from fastevals._options import check_integer
from fastevals._text import printable
from fastevals.document.document import Cell, Document, Sentence, Table, parts_for, rich

ROWS_SHOWN, COLUMNS_SHOWN, BLOCKS_SHOWN = 20, 24, 2
WHOLE_OUTPUT = '<div class="tex2jax_ignore mathjax_ignore">\n{}\n</div>\n'
TABLE = """\
<table style="font-variant-numeric: tabular-nums">
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


class _Display:
    """How much notebooks show."""

    max_rows = ROWS_SHOWN


_display = _Display()


def set_display(*, max_rows: int) -> None:
    """Set how many rows of each table a notebook shows, for the whole process.

    Parameters
    ----------
    max_rows : int
        From 1 to 100,000; 20 by default.

    Raises
    ------
    ValueError
        If `max_rows` is not such a number.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.set_display(max_rows=20)
    """
    _display.max_rows = check_integer("max_rows", max_rows, low=1, high=100_000)


def write_notebook(document: Document) -> str:
    """Return a document as HTML for the output of a notebook's cell; a long one is cut, and says so."""
    parts = [f"<strong>{_escaped(document.heading())}</strong>"]
    sections = [(section, list(parts_for("notebook", section.parts))) for section in document.sections[:BLOCKS_SHOWN]]
    said = list(parts_for("notebook", document.head))
    for section, found in sections:
        if section.heading and found and len(document.sections) > 1:
            parts.append(f"<p><strong>{_escaped(section.heading)}</strong></p>")
        sentences = said + [part for part in found if isinstance(part, Sentence)]
        parts += _paragraphs(each.text for each in sentences if each.role == "verdict")
        parts += _paragraphs(each.text for each in sentences if each.role in ("", "line", "note"))
        parts += [text for part in found if isinstance(part, Table) for text in _table(part)]
        parts += _paragraphs(f"Caveat: {each.text}" for each in sentences if each.role == "caution")
        said = []
    if len(document.sections) > BLOCKS_SHOWN:
        parts += _paragraphs([f"{BLOCKS_SHOWN} of {len(document.sections):,} blocks; to_html() has all"])
    return WHOLE_OUTPUT.format("\n".join(parts))


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    return (f"<p>{_escaped(text)}</p>" for text in texts if text)


def _table(table: Table) -> Iterator[str]:
    """Yield the first rows and columns of a table with its title, and what is left out."""
    most = _display.max_rows
    _, columns, rows = rich(table, most + 1)
    if not rows:
        return
    if table.title and table.n_rows is None:
        yield f"<p><strong>{_escaped(table.title)}</strong> {_escaped(table.note)}</p>"
    shown = [[Cell(row.name), *row.cells[: COLUMNS_SHOWN - 1]] for row in rows[:most]]
    columns_of_cells = zip_longest(*shown, fillvalue=Cell(""))
    styles = [f' style="text-align: {_alignment(cells)}"' for cells in columns_of_cells]
    head = "".join(f"<th{style}>{_escaped(printable(name))}</th>" for name, style in zip(columns, styles, strict=False))
    lines = (
        "<tr>" + "".join(f"<td{style}>{_cell(cell)}</td>" for cell, style in zip(row, styles, strict=False)) + "</tr>"
        for row in shown
    )
    yield TABLE.format(head=head, rows="\n".join(lines))
    if len(rows) > most:
        of = f" of {table.n_rows:,}" if table.n_rows else ""
        yield from _paragraphs([f"The first {most:,}{of} rows; fastevals.set_display(max_rows=...) sets how many"])
    if len(columns) > COLUMNS_SHOWN:
        yield from _paragraphs([f"The first {COLUMNS_SHOWN} of {len(columns):,} columns"])


def _alignment(cells: Iterable[Cell]) -> str:
    return "right" if any(cell.exact for cell in cells) else "left"


def _cell(cell: Cell) -> str:
    value = _escaped(cell.value)
    tag = {"": "", "second": "u"}.get(cell.emphasis, "strong")
    value = f"<{tag}>{value}</{tag}>" if tag else value
    return "<br>".join([value, *map(_escaped, cell.notes)])


def _escaped(text: str) -> str:
    return html.escape(printable(text))
