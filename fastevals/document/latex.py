r"""Write the tables of documents as LaTeX: booktabs `tabular`s with captions and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from fastevals._text import one_line, printable
from fastevals.document.document import Cell, Document, RichRow, Section, Table, parts_for, rich

NEEDED = r"% needs \usepackage{booktabs}"
SPECIAL = {each: f"\\{each}" for each in "{}$&#_%"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "`": r"\textasciigrave{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "•": r"$\bullet$", "◦": r"$\circ$",
}  # fmt: skip
TABLE = r"""\begin{{table}}
\centering
\caption{{{caption}}}
\label{{tab:{label}}}
\begin{{tabular}}{{l{columns}}}
\toprule
{head} \\
\midrule
{rows}
\bottomrule
\end{{tabular}}
\end{{table}}
"""


def write_latex(document: Document) -> str:
    """Return a document's tables for a LaTeX document that uses booktabs."""
    found = [
        (section, table)
        for section in document.sections
        for table in parts_for("latex", section.parts)
        if isinstance(table, Table)
    ]
    labels: dict[str, int] = {}
    tables = [_table(document, section, table, labels) for section, table in found]
    return "\n".join([NEEDED, *filter(None, tables)])


def _table(document: Document, section: Section, table: Table, labels: dict[str, int]) -> str:
    """Return a table, or nothing if it has no rows; `labels` counts the tables of each kind so far."""
    _, columns, rows = rich(table, table.n_shown)
    if not rows:
        return ""
    labels[table.kind] = labels.get(table.kind, 0) + 1
    of = printable(document.title) if document.command or not table.title else ""  # another title is of the table only
    caption = [each for each in (f"{table.title} {table.note}".strip(), section.heading, of) if each]
    caption += [table.more] if table.more else []
    return TABLE.format(
        caption=_escaped("; ".join(caption)) + ".",
        label=table.kind + (f"-{labels[table.kind]}" if labels[table.kind] > 1 else ""),
        columns="r" * (len(columns) - 1),
        head=" & ".join(_escaped(printable(column)) for column in columns),
        rows="\n".join(line for row in rows for line in _lines(row)),
    )


def _lines(row: RichRow) -> Iterable[str]:
    """Yield a row's line, after a rule if it has one, then lines with its intervals and p-values."""
    if row.ruled:
        yield r"\midrule"
    yield " & ".join([_escaped(printable(row.name)), *map(_value, row.cells)]) + r" \\"
    for notes in zip_longest(*(cell.notes for cell in row.cells), fillvalue=""):
        yield " & ".join(["", *(rf"\footnotesize {_escaped(note)}" if note else "" for note in notes)]) + r" \\"


def _value(cell: Cell) -> str:
    value = _escaped(cell.value)
    command = {"": "", "second": r"\underline"}.get(cell.emphasis, r"\textbf")
    return f"{command}{{{value}}}" if command else value


def _escaped(text: str) -> str:
    """Return words in one line, with special characters escaped and proper minus signs in numbers."""
    parts = re.split(r"((?<![\w.])-(?=\d))", one_line(text))
    return "".join("$-$" if k % 2 else "".join(map(_letter, part)) for k, part in enumerate(parts))


def _letter(letter: str) -> str:
    return SPECIAL.get(letter, letter)
