"""An example of the chapter: a question, a function that answers it, and the answer as plain data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastevals._options import did_you_mean
from fastevals.chapter.pictures import CAPTIONS
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Cell,
    Document,
    Figures,
    Number,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.picture import Panel

Pictures = Sequence[tuple[str, Sequence[Panel]]]  # pairs: a kind of picture (part of file names), its panels
HALF_DIGIT = 0.5 * (1 + 1e-9)  # in units of the last printed digit


class Comparison(NamedTuple):
    """A computed figure and the figure that a source prints."""

    what: str
    here: float
    printed: str  # with the digits of the source
    source: str
    why: str = ""  # reason why the two figures differ, if they do

    @property
    def decimals(self) -> int:
        """Number of printed decimals."""
        return len(self.printed.partition(".")[2])

    @property
    def agrees(self) -> bool:
        """Whether the computed figure rounds to the printed one."""
        return abs(self.here - float(self.printed)) <= HALF_DIGIT * 10.0**-self.decimals

    @property
    def shown(self) -> str:
        """The computed figure with as many decimals as the printed one, but at least four."""
        return f"{self.here:.{max(4, self.decimals)}f}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: sentences (the short answer first), figures compared with printed ones, tables and pictures."""

    sentences: Sequence[str]
    comparisons: Sequence[Comparison] = ()
    tables: Sequence[Table] = ()
    pictures: Pictures = ()

    def comparison_table(self, *, with_reasons: bool = True) -> Table:
        """Return a table of the computed and the printed figures."""
        has_reasons = with_reasons and any(each.why for each in self.comparisons)
        columns = ["", "fastevals", "printed", "source", *(["why they differ"] if has_reasons else [])]
        rows = [
            Row(each.what, [Cell(each.shown, repr(each.here)), *(str(text) for text in each[2 : len(columns)])])
            for each in self.comparisons
        ]
        return Table("comparisons", "Compared with printed figures", columns, rows)


class Example(NamedTuple):
    """An example, a table or an exercise of the chapter."""

    name: str
    section: str
    title: str
    question: str
    solve: Callable[[], Answer]


class Solved(NamedTuple):
    """An example with its answer."""

    example: Example
    answer: Answer

    def to_dict(self) -> dict[str, Any]:
        """Return the example and its answer as in the JSON output, which has only the names of pictures."""
        (name, section, title, question, _), answer = self
        tables = [
            {"title": table.title, "columns": [*table.columns], "rows": [written(row) for row in table.made()]}
            for table in answer.tables
        ]
        return {
            "name": name,
            "section": section,
            "title": title,
            "question": question,
            "answer": [*answer.sentences],
            "comparisons": [each._asdict() | {"agrees": each.agrees} for each in answer.comparisons],
            "tables": tables,
            "pictures": [kind for kind, _ in answer.pictures],
        }

    def document(self) -> Document:
        """Return the document of this example alone, as in the text output."""
        name, section, title, question, _ = self.example
        head = [Sentence(question, "question")]
        return Document("", f"{section} {title} [{name}]", head=head, sections=[Section(self.parts())])

    def parts(self) -> Iterator[Part]:
        """Yield the parts of the example's document."""
        answer = self.answer
        yield Sentence(self.example.question, "question", RICH)
        yield from (Sentence(sentence, "verdict") for sentence in answer.sentences)
        for each in answer.tables:
            yield from (GAP, Sentence(each.title, "line", TEXT), each)
        if answer.comparisons:
            yield from (GAP, answer.comparison_table(with_reasons=False)._replace(only=TEXT))
            yield answer.comparison_table()._replace(only=RICH)
        for why in dict.fromkeys(each.why for each in answer.comparisons if each.why):
            differ = "; ".join(each.what for each in answer.comparisons if each.why == why)
            yield Sentence(f"! {differ}: {why}", only=TEXT)
        yield Figures(lambda: answer.pictures, CAPTIONS)


def written(row: Row) -> list[str]:
    """Return the cells of a row as text."""
    return [row.name, *(cell if isinstance(cell, str) else cell.on_page().value for cell in row.cells)]


def table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[float | str]]) -> Table:
    """Return a table with named rows; integers are shown as counts."""
    return Table("results", title, columns, [Row(name, [_cell(each) for each in row]) for name, row in rows.items()])


def _cell(value: float | str) -> Cell | Number:
    if isinstance(value, str):
        return Cell(value)
    if isinstance(value, int):
        return Cell(f"{value:,}", repr(value))
    number = Number(float(value))
    return number._replace(written=number.on_page().value)


# Registered -----------------------------------------------------------------------------------------------------------

_EXAMPLES: dict[str, Example] = {}


def example(section: str) -> Callable[[Callable[[], Answer]], Callable[[], Answer]]:
    """Register a function as an example; its docstring holds the title and the question."""

    def register(solve: Callable[[], Answer]) -> Callable[[], Answer]:
        title, _, question = (inspect.getdoc(solve) or "").partition("\n\n")
        name = solve.__name__.replace("_", "-")
        _EXAMPLES[name] = Example(name, section, title.rstrip("."), " ".join(question.split()), solve)
        return solve

    return register


def examples() -> dict[str, Example]:
    """Return the examples by name, in the order of the chapter."""
    return dict(sorted(_EXAMPLES.items(), key=lambda item: item[1].section))


def find_example(name: str) -> Example:
    """Return the example with this name."""
    if name not in _EXAMPLES:
        raise ValueError(
            f"no example {name!r}{did_you_mean(name, _EXAMPLES)}; the examples are {', '.join(examples())}"
        )
    return _EXAMPLES[name]
