"""Write documents as pages: one self-contained HTML file each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastevals import __version__
from fastevals._options import import_optional
from fastevals._text import printable
from fastevals.document.document import (
    AXIS,
    Caption,
    Document,
    Figures,
    Part,
    RichTable,
    Role,
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
RIGHT_TO_LEFT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+"  # words in right-to-left scripts
KINDS_ABOVE_PICTURES = ("segments",)  # of tables
MOST_UNSORTED = 10  # rows: longer tables can be sorted and searched


class Figure(NamedTuple):
    """A picture on a page, with its title and caption."""

    kind: str
    title: str
    caption: str
    svg: str
    place: int  # of its model, or -1


class Article(NamedTuple):
    """A section on a page: verdict and caveats, tables that belong to the verdict, then pictures and other tables."""

    heading: str
    size: str  # number of rows
    question: str  # that the verdict answers
    verdict: Sequence[Sentence]  # the first is the headline
    cautions: Sequence[str]
    first: Sequence[RichTable]
    figures: Sequence[Figure]
    tables: Sequence[RichTable]
    live: RichTable | None  # numbers that follow the threshold; each cell's `exact` is its name
    block: int | None  # its place among the blocks; None if the section is not a block
    choice: str  # what the reader chooses one of several sections by, if there are several


def write_page(document: Document, typed: str | None = None) -> str:
    """Return a document as self-contained HTML, with the command that made it.

    Raises
    ------
    ImportError
        If Jinja2 is not installed.
    """
    articles: list[Article] = []
    for section in document.sections:
        n_blocks = sum(each.block is not None for each in articles)
        parts = list(parts_for("html", section.parts))
        if parts:
            articles.append(_article(section, parts, n_blocks if section.is_block else None))
    blocks = [k for k, article in enumerate(articles) if article.block is not None]
    choices = [article for article in articles if article.choice]
    points = document.points()
    return _template().render(  # type: ignore[no-any-return]
        page=document,
        facts=[fact for fact in parts_for("html", document.facts) if fact.text],
        articles=articles,
        only_block=articles[blocks[0]] if len(blocks) == 1 else None,
        controlled=blocks[0] if blocks else len(articles) - 1,  # the article that the controls precede
        has_points=bool(points["blocks"] or "pick" in points),
        picked=points.get("pick"),
        size=articles[blocks[0]].size if blocks and (len(blocks) == 1 or not articles[blocks[0]].heading) else "",
        typed=typed,
        version=__version__,
        n_colors=len(COLORS),
        n_dashes=len(DASHES),
        most_unsorted=MOST_UNSORTED,
        json=_embedded(document.numbers()),
        points=_embedded(points),
        choices=choices,
        contents=[
            (f"part-{k}", article)
            for k, article in enumerate(articles)
            if article.heading and (not article.choice or article == choices[0])
        ],
        css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        script=(FOLDER / "page.js").read_text(encoding="utf-8"),
    )


def _article(section: Section, parts: Iterable[Part], block: int | None) -> Article:
    """Return a section as an article; sentences without a role join the verdict."""
    said: dict[Role, list[str]] = {"question": [], "caution": []}
    verdict: list[Sentence] = []
    tables: list[RichTable] = []
    drawn: list[Figure] = []
    for part in parts:
        if isinstance(part, Sentence):
            if part.role in said:
                said[part.role].append(part.text)
            else:
                verdict.append(part)
        elif isinstance(part, Table):
            tables.append(rich(part))
        elif isinstance(part, Figures):
            prefix = "over" if block is None else f"b{block}"
            drawn += figures(part.panels(), prefix, part.captions)
    return Article(
        section.heading,
        section.size,
        " ".join(said["question"]),
        verdict,
        said["caution"],
        [each for each in tables if each.table.kind in KINDS_ABOVE_PICTURES and each.rows],
        drawn,
        [each for each in tables if each.table.kind not in ("live", *KINDS_ABOVE_PICTURES) and each.rows],
        next((each for each in tables if each.table.kind == "live"), None),
        block,
        section.choice if block is not None else "",
    )


@cache
def _template() -> Any:
    jinja2 = import_optional("jinja2", NO_JINJA)
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"printable": printable, "isolated": isolated, "listed": _listed}
    return environment.get_template("page.html.jinja")


def isolated(sentence: str) -> str:
    """Return a sentence with right-to-left words in Unicode isolates, so that the rest keeps its order."""
    return re.sub(rf"{RIGHT_TO_LEFT}(?:\s+{RIGHT_TO_LEFT})*", "\u2068\\g<0>\u2069", sentence)


def _listed(numbers: Mapping[str, float]) -> str:
    """Join named numbers into the value of an HTML attribute, which the page's script splits again."""
    return ";".join(f"{name}={float(value)!r}" for name, value in numbers.items())


def _embedded(value: Any) -> str:
    """Return JSON that is safe within a script element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# Parts ----------------------------------------------------------------------------------------------------------------


def figures(
    panels: Iterable[tuple[str, Sequence[Panel]]], prefix: str, captions: Mapping[str, Caption]
) -> Iterator[Figure]:
    """Yield a figure for each panel of pictures by name; `prefix` is unique to the block."""
    for kind, several in panels:
        title, caption = captions[kind]
        for k, panel in enumerate(several):
            name = printable(panel.title or "")
            heading = f"{title}: {name}" if name else title
            if AXIS in title:
                heading = title.replace(AXIS, panel.picture.x.label)
            svg = draw(panel.picture, kind, heading, f"{prefix}-{kind}-{k}")
            yield Figure(kind, heading, caption, svg, panel.place)
