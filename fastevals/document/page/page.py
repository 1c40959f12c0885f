"""What a page shows, as plain data, and how it becomes one file of HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from fastevals import __version__
from fastevals._options import import_optional
from fastevals._text import printable
from fastevals.document.document import (
    Document,
    Figures,
    Section,
    Sentence,
    Table,
    parts_for,
    rich,
)
from fastevals.document.page.svg import draw
from fastevals.document.picture import COLORS, DASHES, Panel

NO_JINJA = "pages need Jinja2: pip install jinja2"
FOLDER = Path(__file__).parent
RIGHT_TO_LEFT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+"  # words
MOST_UNSORTED = 10  # rows: a table of more can be sorted and searched

CAPTIONS = {
    "roc": ("ROC", "dashed: chance; dotted: equal error rates, a ring where a model has them"),
    "precision_recall": ("Precision and recall", "dashed: chance; dotted: precision = recall"),
    "det": ("DET", "error rates on normal deviates; dotted: equal error rates"),
    "gain": ("Gain", "dashed: chance; dotted: perfect"),
    "lift": ("Lift", "dashed: chance"),
    "cost": ("Cost", "dashed: always positive; dotted: always negative; bars: where a model is worth using"),
    "cost_over_prior": ("Cost over the prior", "dashed: always positive; dotted: always negative"),
    "calibration": ("Calibration", "dashed: perfect; below how many rows each bin has"),
    "decision": ("Net benefit", "dashed: treat all; dotted: treat none"),
    "scores": ("Scores", "of positives (orange) and negatives (blue), as shares of each"),
    "confusion": ("Confusion matrix", "counts, and shares of the true class"),
    "intervals": ("Metrics and their intervals", "the best at the top"),
    "differences": ("Differences of models", "orange: the interval leaves out zero"),
    "groups": ("By group", "dashed: the mean; orange: the interval leaves it out"),
    "errors": ("Errors", "predictions less targets, in bins: the outer ones have all beyond; dashed: none"),
    "within": ("Errors within a size", "share of rows with an error of at most that size"),
    "critical_difference": ("Mean ranks", "1, the best, at the right; a bar joins what is not shown to differ"),
    "critical_difference_ranges": ("Mean ranks, with the critical difference", "bars that don't overlap differ"),
    "pvalues": ("p-values", "the darker, the smaller"),
    "null": ("The first test", "its statistic if nothing differed, where that is rejected, and what was seen"),
    "bias_variance": ("Bias and variance", "parts of the expected loss"),
    "means": ("Predicted and observed", "means of each tenth of the rows, by predictions; dashed: equal"),
}
NAMED_BY_AXIS = ("intervals", "differences")  # pictures that differ by what is on their x axis


class Figure(NamedTuple):
    """A picture on a page, with what stands above it."""

    kind: str
    title: str
    caption: str
    svg: str
    place: int  # of the model that it is of, or -1


class Block(NamedTuple):
    """A part of a page: all rows, or those that share a value of the --by column."""

    heading: str = ""
    size: str = ""  # how many rows
    verdict: Sequence[str] = ()  # sentences, the first on top of all
    cautions: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Any] = ()  # of tables, or rich ones
    live: Any = None  # numbers that move with the threshold; each cell's `exact` is its name
    question: str = ""  # what the verdict answers


class Page(NamedTuple):
    """A page: blocks, and what is said before and after them."""

    command: str  # without options
    title: str
    facts: Mapping[str, str]
    models: Sequence[str]  # that can be switched on and off
    blocks: Sequence[Block]
    numbers: Mapping[str, Any]  # the JSON
    before: Block | None = None
    after: Block | None = None
    points: Mapping[str, Any] = {"costs": {}, "blocks": []}  # at which the threshold can be


def write_page(document: Document | Page, typed: str | None = None) -> str:
    """Return a document as HTML that needs nothing else, with the command that made it.

    Raises
    ------
    ImportError
        Without Jinja2.
    """
    page = _with_cells(document) if isinstance(document, Page) else _page_of(document)
    return _template().render(  # type: ignore[no-any-return]
        page=page,
        typed=typed,
        version=__version__,
        n_colors=len(COLORS),
        n_dashes=len(DASHES),
        most_unsorted=MOST_UNSORTED,
        json=_embedded(page.numbers),
        points=_embedded(page.points),
        css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        script=(FOLDER / "page.js").read_text(encoding="utf-8"),
    )


def _page_of(document: Document) -> Page:
    before: list[Block] = []
    blocks: list[Block] = []
    after: list[Block] = []
    for k, section in enumerate(document.sections):
        if not (section.is_block or section.heading):
            continue  # the text's alone
        place = blocks if section.is_block else after if k else before
        place.append(_block(section, f"b{len(blocks)}" if section.is_block else "over"))
    facts = {name: text for name, text, _ in parts_for("html", document.facts) if text}
    return Page(
        document.command,
        document.title,
        facts,
        document.models,
        blocks,
        document.numbers(),
        next(iter(before), None),
        next(iter(after), None),
        document.points(),
    )


def _block(section: Section, prefix: str) -> Block:
    """Return what the page shows of a section: its parts by what they are; a verdict has other sentences, too."""
    parts = list(parts_for("html", section.parts))
    sentences = [part for part in parts if isinstance(part, Sentence)]
    drawn = chain.from_iterable(
        figures(part.panels(), prefix, part.captions or CAPTIONS) for part in parts if isinstance(part, Figures)
    )
    tables = [rich(part) for part in parts if isinstance(part, Table)]
    return Block(
        section.heading,
        section.size,
        [sentence.text for sentence in sentences if sentence.role != "caution"],
        [sentence.text for sentence in sentences if sentence.role == "caution"],
        list(drawn),
        [each for each in tables if each.table.kind != "live"],
        next((each for each in tables if each.table.kind == "live"), None),
        section.question,
    )


def _with_cells(page: Page) -> Page:
    def made(block: Block) -> Block:
        tables = [rich(table) for table in block.tables if table.rows]
        return block._replace(tables=tables, live=None if block.live is None else rich(block.live))

    before, after = (None if block is None else made(block) for block in (page.before, page.after))
    return page._replace(blocks=list(map(made, page.blocks)), before=before, after=after)


@cache
def _template() -> Any:
    jinja2 = import_optional("jinja2", NO_JINJA)
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"printable": printable, "isolated": isolated}
    return environment.get_template("page.html.jinja")


def isolated(sentence: str) -> str:
    """Return a sentence with words that are read from right to left in isolates, so that what follows stays there."""
    return re.sub(rf"{RIGHT_TO_LEFT}(?:\s+{RIGHT_TO_LEFT})*", "\u2068\\g<0>\u2069", sentence)


def _embedded(value: Any) -> str:
    """Return JSON that may stand in a script element: no text in it ends that."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# Parts ----------------------------------------------------------------------------------------------------------------


def figures(
    panels: Iterable[tuple[str, Sequence[Panel]]], prefix: str, captions: Mapping[str, tuple[str, str]] = CAPTIONS
) -> Iterator[Figure]:
    """Yield a figure for each panel of pictures by name; `prefix` is that of no other block."""
    for kind, several in panels:
        title, caption = captions[kind]
        for k, panel in enumerate(several):
            name = printable(panel.title or "")
            heading = f"{title}: {name}" if name else title
            what = panel.picture.x.label if kind in NAMED_BY_AXIS else ""
            svg = draw(panel.picture, kind, f"{heading} {what}".strip(), f"{prefix}-{kind}-{k}")
            yield Figure(kind, heading, caption, svg, panel.place)
