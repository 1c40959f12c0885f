"""What a result says, as plain data: sections of sentences, tables of typed cells, and pictures.

A result makes its `Document`, in `Result._document`; a renderer each makes text (`text.py`), an HTML page (`page/`),
Markdown (`markdown.py`), LaTeX (`latex.py`) and the output of a notebook's cell (`notebook.py`) of it. The document is
cheap to make: rows, cells and pictures are made when they are rendered, so give generators or functions, not lists.

The parts of a `Section` are in the order of the text. The other renderers have an order of their own: the verdict and
what may mislead come first, then pictures and tables. `GAP` is an empty line of the text, where something follows.
What text and pages say in different words, or only one of them says, is `only` for one: `TEXT`, `RICH` (all others) or
`PAGE`. For example ::

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
Only: TypeAlias = tuple[Format, ...]  # the renderers that a part is for; all if it names none
TEXT: Only = ("text",)
RICH: Only = ("html", "markdown", "latex", "notebook")
PAGE: Only = ("html",)

Role = Literal["", "question", "verdict", "caution", "note", "line"]
Emphasis: TypeAlias = str  # "best" of its column; "shown" to differ; or ""
Ends = tuple[float, float]  # of an interval

SMALL_VALUE = 0.001  # smaller numbers have three digits on pages
AXIS = "{axis}"  # in the title of a picture
BAR = "|"  # the title, and in the text the cells, of a column that separates others; pages leave it out


# Cells ----------------------------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """Words, and how pages show any cell."""

    value: str
    exact: str = ""  # all digits of a number, by which a column is sorted
    notes: tuple[str, ...] = ()  # lines below it: an interval, a p-value
    emphasis: Emphasis = ""
    numbers: Mapping[str, float] = {}  # of the notes, by the names of their columns in a saved table

    def as_text(self) -> str:
        """Return what is in the text's line."""
        return self.value

    def on_page(self) -> Cell:
        """Return what pages show."""
        return self


class Number(NamedTuple):
    """A number, with its interval below if it has one."""

    value: float
    interval: Ends | None = None
    emphasis: Emphasis = ""
    written: str = ""  # in the text, where that is not to four decimals

    def as_text(self) -> str:
        """Return the number to four decimals."""
        return self.written or format_number(self.value)

    def on_page(self) -> Cell:
        """Return the number, a small one to three digits, and its interval."""
        exact = "" if math.isnan(self.value) else repr(float(self.value))
        return Cell(_shown(self.value), exact, _ends(self.interval), self.emphasis, ends_by_name(self.interval))


class DifferenceCell(NamedTuple):
    """A difference of two models, with its interval and p; pages mark it where the interval leaves out zero."""

    value: float
    interval: Ends
    pvalue: float

    def as_text(self) -> str:
        """Return the difference to four decimals."""
        return format_number(self.value)

    def on_page(self) -> Cell:
        """Return the difference with its sign; nothing of one that is undefined."""
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
        """Return the p-value, with all digits beside it."""
        exact = "" if math.isnan(self.value) else repr(float(self.value))
        return Cell(self.as_text(), exact, (), self.emphasis)


class Count(NamedTuple):
    """A number of rows, or of their weight."""

    value: float

    def as_text(self) -> str:
        """Return the number as it is."""
        return f"{self.value:g}" if isinstance(self.value, float) else str(self.value)

    def on_page(self) -> Cell:
        """Return the number with its thousands apart."""
        shown = f"{self.value:,}" if float(self.value).is_integer() else f"{self.value:,.6g}"
        return Cell(shown, repr(self.value))


class Range(NamedTuple):
    """From a number to another, in four digits; a dash where that is undefined."""

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
    """Return a number to four decimals, a small one to three digits."""
    return f"{value:.3g}" if 0 < abs(value) < SMALL_VALUE else format_number(value)


def _ends(interval: Ends | None) -> tuple[str, ...]:
    """Return what is written of an interval: nothing of one that is undefined."""
    if interval is None or math.isnan(interval[0]):
        return ()
    return (" to ".join(format_ends(interval, _shown, SMALL_VALUE)),)


def ends_by_name(interval: Ends | None) -> dict[str, float]:
    """Return the ends of an interval as a saved table names their columns."""
    return {} if interval is None or math.isnan(interval[0]) else {"low": interval[0], "high": interval[1]}


# Parts ----------------------------------------------------------------------------------------------------------------


class Sentence(NamedTuple):
    """Words.

    The role is what the verdict answers (a question), a sentence of the verdict, a caution, a note on what is
    undefined, a line that is not wrapped, or none of these.
    """

    text: str
    role: Role = ""
    only: Only = ()


GAP = Sentence("", "line", TEXT)


class Row(NamedTuple):
    """A row of a table: its name, and a cell a column; a `BAR` stands for itself."""

    name: str
    cells: Iterable[AnyCell | str]
    place: int = -1  # of the model that it is of
    short: str = ""  # its name in the text, where that is another


class Table(NamedTuple):
    """A table, its first column names. One without rows is not shown."""

    kind: str  # as a file of it is named
    title: str  # which the text leaves out
    columns: Sequence[str]
    rows: Iterable[Row] | Callable[[], Iterable[Row]]  # an iterable that is a generator is rendered once
    places: Sequence[int] = ()  # of the models that columns are of, from the second column on; -1 of none
    only: Only = ()
    n_shown: int | None = None  # rows that others than the page have, where that is fewer
    more: str = ""  # what they say of the rest: "... 3 more pairs"
    n_rows: int | None = None  # in all, where not all are made
    note: str = ""  # after the title: at which thresholds the numbers are
    # In the text:
    heads: Sequence[str] = ()  # columns, where they are called otherwise
    ends: tuple[str, str, str] = ("  from", "  to", "  p")  # what stands before the ends of intervals, and before p
    marked: bool = False  # numbers have a place behind them for the mark of the best
    starred: bool = False  # a last column has a star in rows with something that is shown
    aligned: str = ""  # tables that share this name have columns of the same widths

    def made(self, n_shown: int | None = None) -> list[Row]:
        """Return the rows, or the first of them, made now."""
        return list(islice(self.rows() if callable(self.rows) else self.rows, n_shown))


class Caption(NamedTuple):
    """The words above a picture: its title, in which `AXIS` stands for the label of the x axis, and its marks."""

    title: str
    text: str


class Figures(NamedTuple):
    """Pictures by name, each of one panel or of several that belong together; only pages have them."""

    panels: Callable[[], Iterable[tuple[str, Sequence[Panel]]]]
    captions: Mapping[str, Caption]  # by name
    only: Only = PAGE


class Later(NamedTuple):
    """Parts that take some time, made for the renderers that have them."""

    parts: Callable[[], Iterable[Part]]
    only: Only


Part: TypeAlias = "Sentence | Table | Figures | Later"


class Section(NamedTuple):
    """A part of a document: all rows, those that share a value of the --by column, or what is said of all values."""

    parts: Iterable[Part]
    heading: str = ""  # which the text leaves out
    size: str = ""  # how many rows
    is_block: bool = True  # rows that were measured, so that the page's controls are for it


class Fact(NamedTuple):
    """A line on how the numbers were made."""

    name: str
    text: str
    only: Only = ()


class Document(NamedTuple):
    """What a result says."""

    command: str  # without options; "" of a result that no command gives
    title: str
    facts: Iterable[Fact] = ()
    sections: Sequence[Section] = ()
    head: Iterable[Part] = ()  # below the title
    models: Sequence[str] = ()  # that can be switched on and off on the page
    numbers: Callable[[], Any] = dict  # the JSON that goes with it
    points: Callable[[], Mapping[str, Any]] = lambda: {"costs": {}, "blocks": []}  # where the threshold can be

    def heading(self) -> str:
        """Return the first line."""
        return f"fastevals {self.command}: {printable(self.title)}" if self.command else printable(self.title)


def parts_for(form: Format, parts: Iterable[Any]) -> Iterator[Any]:
    """Yield the parts, or facts, that are for a renderer."""
    for part in parts:
        if part.only and form not in part.only:
            continue
        if isinstance(part, Later):
            yield from parts_for(form, part.parts())
        else:
            yield part


# As pages show it -----------------------------------------------------------------------------------------------------


class RichRow(NamedTuple):
    """A row of a table as pages show it."""

    name: str
    cells: list[Cell]
    place: int


class RichTable(NamedTuple):
    """A table whose cells are made, without the bars of the text."""

    table: Table
    columns: list[str]
    rows: list[RichRow]


def rich(table: Table, n_shown: int | None = None) -> RichTable:
    """Return a table, or its first rows, as pages show it."""
    bars = {k for k, column in enumerate(table.columns[1:]) if column == BAR}
    rows = [
        RichRow(row.name, [_rich(cell) for k, cell in enumerate(row.cells) if k not in bars], row.place)
        for row in table.made(n_shown)
    ]
    return RichTable(table, [column for column in table.columns if column != BAR], rows)


def _rich(cell: AnyCell | str) -> Cell:
    return Cell(cell) if isinstance(cell, str) else cell.on_page()
