"""The solved examples in the order of the chapter: as text, JSON, a page and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastevals._execution import progressed
from fastevals._text import TABLE_WIDTH
from fastevals.chapter import bias_variance, costs, exercises, formulas, measures, ranks, regressions, splits, tests
from fastevals.chapter.example import Answer, Example, Solved, examples, find_example
from fastevals.document.document import Document, Fact, Section
from fastevals.document.frames import Columns, make_columns
from fastevals.document.picture import Panel
from fastevals.document.result import Result
from fastevals.document.text import write_text
from fastevals.results import as_json
from fastevals.show.output import BlockPictures
from fastevals.show.schema import json_head

SECTIONS = (
    formulas,
    splits,
    regressions,
    measures,
    costs,
    tests,
    ranks,
    bias_variance,
    exercises,
)  # modules register their examples when imported
TITLE = "Model evaluation and selection"
FACTS = (
    Fact("chapter", "2 of Zhou Zhihua, Machine Learning (2016), with the examples and homework of a course on it"),
    Fact(
        "printed",
        "figures from the book, the course and other sources; where a computed figure differs, the reason is given",
    ),
)


@dataclass(frozen=True, slots=True, repr=False)
class Chapter(Result):
    """Solved examples, which the command shows as text, JSON and a page."""

    solved: tuple[Solved, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the examples as strict JSON."""
        return {
            **json_head(),
            "chapter": TITLE,
            "examples": as_json([each.to_dict() for each in self.solved]),
        }

    def _written(self, width: int = TABLE_WIDTH) -> str:
        """Return the examples as text, each headed by its name."""
        return "\n\n".join(write_text(each.document(), width) for each in self.solved)

    def _document(self) -> Document:
        sections = [
            Section(solved.parts(), solved.example.title, f"{solved.example.section}, {solved.example.name}")
            for solved in self.solved
        ]
        return Document("chapter", TITLE, FACTS, sections, numbers=self.to_dict)

    def _columns(self) -> Columns:
        """Return a row for each figure that is compared with a printed one."""
        found = [(each.name, *figure, figure.agrees) for each, answer in self.solved for figure in answer.comparisons]
        names = ("example", "what", "here", "printed", "source", "why", "agrees")
        return make_columns({name: [row[k] for row in found] for k, name in enumerate(names)})

    def _title(self) -> str:
        return f"{TITLE}: {len(self.solved)} examples"

    def pictures(self) -> BlockPictures:
        """Return the pictures that `--out` draws, named EXAMPLE-KIND."""
        names = [f"{name}-{kind}" for name, kind, _ in self._panels()]
        return BlockPictures(
            names, None, (), lambda _: ((f"{name}-{kind}", each) for name, kind, each in self._panels())
        )

    def _panels(self) -> Iterator[tuple[str, str, list[Panel]]]:
        for each, answer in self.solved:
            for kind, panels in answer.pictures:
                yield each.name, kind, list(panels)


def solve(name: str | None = None) -> Chapter:
    """Solve all examples of the chapter, or one of them.

    Parameters
    ----------
    name : str, optional
        A name from `examples`. By default all examples are solved, in the order of the chapter; if an example needs
        an optional package that is missing, its answer says so.

    Returns
    -------
    Chapter
        The attribute `solved` holds each `Example` with its `Answer`.

    Raises
    ------
    ValueError
        If no example has this name.
    ImportError
        If the example needs an optional package that is missing.

    Examples
    --------
    >>> from fastevals.chapter import solve
    >>> (example, answer), = solve("table-2-5").solved
    >>> example.section, answer.comparisons[1].printed, answer.comparisons[1].here
    ('2.4.4', '24.429', 24.428571428571427)
    """
    if name is not None:
        chosen = find_example(name)
        return Chapter((Solved(chosen, chosen.solve()),))
    every = progressed(examples().values(), "examples")
    return Chapter(tuple(Solved(each, _answer_if_possible(each)) for each in every))


def _answer_if_possible(each: Example) -> Answer:
    try:
        return each.solve()
    except ModuleNotFoundError as error:
        return Answer([f"Not answered here: {error}"])
