"""Documents: what a result says as plain data, in sections of sentences, tables of typed cells and pictures.

A result makes its `Document` in `Result._document`. Renderers turn it into text (`text.py`), an HTML page (`page/`),
Markdown (`markdown.py`), LaTeX (`latex.py`) and a notebook cell's output (`notebook.py`). A document is cheap to make:
rows, cells and pictures are made when they are rendered, so pass generators or functions instead of lists.

The parts of a `Section` are in the order of the text. The other renderers use their own order: the verdict and caveats
come first, then pictures and tables. `GAP` is an empty line of the text if something follows it. A part that is not
for all renderers names its renderers in `only`: `TEXT`, `RICH` (all but the text) or `PAGE`. For example ::

    Document(
        "compare", "results.csv",
        facts=[Fact("level", "0.05")],
        head=[Sentence("12 data sets, higher is better", only=TEXT)],
        sections=[
            Section(
                [
                    Sentence("forest is better than logistic.", "verdict", RICH),
                    Table("metrics", "Metrics", ["Model", "AUC"], [Row("forest", [Number(0.9, interval, "best")])]),
                    GAP,
                    Sentence("intervals are rough", "caution"),
                    Figures(lambda: [("roc", [panel])], {"roc": Caption("ROC", "dashed: chance")}),
                ],
            )
        ],
    )
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from fastevals._text import format_ends, format_number, format_pvalue, printable
from fastevals.document.picture import Panel

Format = Literal["text", "html", "markdown", "latex", "notebook"]
Only: TypeAlias = tuple[Format, ...]  # renderers of a part; all if empty
TEXT: Only = ("text",)
RICH: Only = ("html", "markdown", "latex", "notebook")
PAGE: Only = ("html",)

Role = Literal["", "question", "verdict", "caution", "note", "line"]
Emphasis: TypeAlias = str  # "best" of its column or row, "second" after it, "shown" to differ significantly, or ""
Ends = tuple[float, float]  # of an interval: low and high

SMALL_VALUE = 0.001  # smaller numbers have three digits on pages
AXIS = "{axis}"  # in the title of a picture
BAR = "|"  # the title, and the cells in the text, of a column that separates others; pages leave it out


# Cells ----------------------------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """A cell of words; pages convert all other kinds of cells to this kind."""

    value: str
    exact: str = ""  # all digits of a number: columns are sorted by it
    notes: tuple[str, ...] = ()  # lines below, such as an interval and a p-value
    emphasis: Emphasis = ""
    numbers: Mapping[str, float] = {}  # of the notes, by the names of their columns in a saved table
    written: str = ""  # in the text, if not as it is

    def as_text(self) -> str:
        """Return the cell in the text."""
        return self.written or self.value

    def on_page(self) -> Cell:
        """Return the cell on pages."""
        return self


class Number(NamedTuple):
    """A number, with its interval below if there is one."""

    value: float
    interval: Ends | None = None
    emphasis: Emphasis = ""
    written: str = ""  # in the text, if not to four decimals

    def as_text(self) -> str:
        """Return the number to four decimals."""
        return self.written or format_number(self.value)

    def on_page(self) -> Cell:
        """Return the number, to three digits if it is small, and its interval."""
        exact = "" if math.isnan(self.value) else repr(float(self.value))
        return Cell(_shown(self.value), exact, _ends(self.interval), self.emphasis, ends_by_name(self.interval))


class DifferenceCell(NamedTuple):
    """A difference between two models, with interval and p-value; pages mark it if the interval excludes zero."""

    value: float
    interval: Ends
    pvalue: float

    def as_text(self) -> str:
        """Return the difference to four decimals."""
        return format_number(self.value)

    def on_page(self) -> Cell:
        """Return the difference with its sign; nothing if it is undefined."""
        if math.isnan(self.value):
            return Cell("")
        low, high = self.interval
        has_pvalue = not math.isnan(self.pvalue)
        p, numbers = (f"p {format_pvalue(self.pvalue)}",) * has_pvalue, ends_by_name(self.interval)
        numbers |= {"p": self.pvalue} if has_pvalue else {}
        value, emphasis = ("+" if self.value > 0 else "") + _shown(self.value), "shown" if low > 0 or high < 0 else ""
        return Cell(value, repr(float(self.value)), (*_ends(self.interval), *p), emphasis, numbers)


class PValue(NamedTuple):
    """A p-value."""

    value: float
    emphasis: Emphasis = ""

    def as_text(self) -> str:
        """Return the p-value to four decimals."""
        return format_pvalue(self.value)

    def on_page(self) -> Cell:
        """Return the p-value; the cell's exact number has all digits."""
        exact = "" if math.isnan(self.value) else repr(float(self.value))
        return Cell(self.as_text(), exact, (), self.emphasis)


class Count(NamedTuple):
    """A number of rows, or their weight."""

    value: float
    written: str = ""  # in the text, if not as it is

    def as_text(self) -> str:
        """Return the number as it is."""
        return self.written or (f"{self.value:g}" if isinstance(self.value, float) else str(self.value))

    def on_page(self) -> Cell:
        """Return the number with thousands separators."""
        shown = f"{self.value:,}" if float(self.value).is_integer() else f"{self.value:,.6g}"
        return Cell(shown, repr(self.value))


class Range(NamedTuple):
    """A range of numbers, shown to four digits; a dash if it is undefined."""

    low: float
    high: float

    def as_text(self) -> str:
        """Return both ends."""
        return "-" if math.isnan(self.low) else f"{self.low:.4g} to {self.high:.4g}"

    def on_page(self) -> Cell:
        """Return the same."""
        return Cell(self.as_text(), numbers=ends_by_name(self))


AnyCell: TypeAlias = "Cell | Number | DifferenceCell | PValue | Count | Range"


def _shown(value: float) -> str:
    """Return a number to four decimals, or to three digits if it is small."""
    return f"{value:.3g}" if 0 < abs(value) < SMALL_VALUE else format_number(value)


def _ends(interval: Ends | None) -> tuple[str, ...]:
    """Return an interval as text; nothing if it is undefined."""
    if interval is None or math.isnan(interval[0]):
        return ()
    return (" to ".join(format_ends(interval, _shown, SMALL_VALUE)),)


def ends_by_name(interval: Ends | None) -> dict[str, float]:
    """Return the ends of an interval by the names of their columns in a saved table."""
    return {} if interval is None or math.isnan(interval[0]) else {"low": interval[0], "high": interval[1]}


# Parts ----------------------------------------------------------------------------------------------------------------


class Sentence(NamedTuple):
    """Words.

    The role is a question that the verdict answers, a sentence of the verdict, a caution, a note on undefined values,
    a line that is not wrapped, or none of these.
    """

    text: str
    role: Role = ""
    only: Only = ()


GAP = Sentence("", "line", TEXT)


class Row(NamedTuple):
    """A row of a table: its name and one cell per column, `BAR` in columns that separate others."""

    name: str
    cells: Iterable[AnyCell | str]
    place: int = -1  # of its model; -1 for none
    short: str = ""  # its name in the text, if different
    ruled: bool = False  # whether a line separates it from the rows before it


class Table(NamedTuple):
    """A table whose first column holds names; without rows it is left out."""

    kind: str  # names its saved file
    title: str  # left out of the text
    columns: Sequence[str]
    rows: Iterable[Row] | Callable[[], Iterable[Row]]  # a generator can be rendered once
    places: Sequence[int] = ()  # of the models of columns, from the second on; -1 for none
    only: Only = ()
    n_shown: int | None = None  # rows that other renderers than the page show, if fewer
    more: str = ""  # what these renderers write for the other rows: "... 3 more pairs"
    n_rows: int | None = None  # in all, if not all are made
    note: str = ""  # after the title: at which thresholds the numbers are
    # In the text:
    heads: Sequence[str] = ()  # columns, if named differently
    ends: tuple[str, str, str] = ("  from", "  to", "  p")  # names before the ends of intervals and before p
    marked: bool = False  # whether cells leave room for the mark of the best (*) and of the second (_)
    starred: bool = False  # whether a last column stars rows with a significant difference
    aligned: str = ""  # tables with the same name here, and the same columns, have columns of equal width

    def made(self, n_shown: int | None = None) -> list[Row]:
        """Make and return the rows, or the first of them."""
        return list(islice(self.rows() if callable(self.rows) else self.rows, n_shown))


class Caption(NamedTuple):
    """The words above a picture: its title and what its marks mean; `AXIS` in the title is the x axis's label."""

    title: str
    text: str


class Figures(NamedTuple):
    """Pictures by name, each of one or more panels; only pages have them."""

    panels: Callable[[], Iterable[tuple[str, Sequence[Panel]]]]
    captions: Mapping[str, Caption]  # by name
    only: Only = PAGE


class Later(NamedTuple):
    """Parts that take time to make, made only for some renderers."""

    parts: Callable[[], Iterable[Part]]
    only: Only


Part: TypeAlias = "Sentence | Table | Figures | Later"


class Section(NamedTuple):
    """A part of a document: all rows, the rows with one value of --by, or the overview of all values."""

    parts: Iterable[Part]
    heading: str = ""  # left out of the text
    size: str = ""  # number of rows
    is_block: bool = True  # whether the page's controls apply to it
    choice: str = ""  # of sections with the same words, such as "Class", pages show one, which the reader chooses


class Fact(NamedTuple):
    """A line about how the numbers were made."""

    name: str
    text: str
    only: Only = ()


class Document(NamedTuple):
    """A result as a document."""

    command: str  # without options; "" if no command gives the result
    title: str
    facts: Iterable[Fact] = ()
    sections: Sequence[Section] = ()
    head: Iterable[Part] = ()  # below the title
    models: Sequence[str] = ()  # that the page can hide
    numbers: Callable[[], Any] = dict  # the result as JSON
    points: Callable[[], Mapping[str, Any]] = lambda: {"costs": {}, "blocks": []}  # thresholds for the page's controls

    def heading(self) -> str:
        """Return the first line."""
        return f"fastevals {self.command}: {printable(self.title)}" if self.command else printable(self.title)


def parts_for(form: Format, parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the parts, or facts, for one renderer."""
    for part in parts:
        if part.only and form not in part.only:
            continue
        if isinstance(part, Later):
            yield from parts_for(form, part.parts())
        else:
            yield part


# For pages ------------------------------------------------------------------------------------------------------------


class RichRow(NamedTuple):
    """A row of a table on an HTML page."""

    name: str
    cells: list[Cell]
    place: int
    ruled: bool


class RichTable(NamedTuple):
    """A table whose cells are made, without the columns of bars that only the text has."""

    table: Table
    columns: list[str]
    rows: list[RichRow]


def rich(table: Table, n_shown: int | None = None) -> RichTable:
    """Return a table, or only its first rows, with cells for pages."""
    bars = {k for k, column in enumerate(table.columns[1:]) if column == BAR}
    rows = [
        RichRow(row.name, [_rich(cell) for k, cell in enumerate(row.cells) if k not in bars], row.place, row.ruled)
        for row in table.made(n_shown)
    ]
    return RichTable(table, [column for column in table.columns if column != BAR], rows)


def _rich(cell: AnyCell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell.on_page()
