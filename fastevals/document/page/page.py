"""What a page shows, as plain data, and how it becomes one file of HTML."""

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


class Article(NamedTuple):
    """A section as a page shows it: what it comes to in words, then pictures and tables."""

    heading: str
    size: str  # how many rows
    question: str  # what the verdict answers
    verdict: Sequence[str]  # sentences, the first on top of all
    cautions: Sequence[str]
    figures: Sequence[Figure]
    tables: Sequence[RichTable]
    live: RichTable | None  # numbers that move with the threshold; each cell's `exact` is its name
    block: int | None  # the place of a block


def write_page(document: Document, typed: str | None = None) -> str:
    """Return a document as HTML that needs nothing else, with the command that made it.

    Raises
    ------
    ImportError
        Without Jinja2.
    """
    articles: list[Article] = []
    for section in document.sections:
        n_blocks = sum(each.block is not None for each in articles)
        parts = list(parts_for("html", section.parts))
        if parts:
            articles.append(_article(section, parts, n_blocks if section.is_block else None))
    blocks = [k for k, article in enumerate(articles) if article.block is not None]
    points = document.points()
    return _template().render(  # type: ignore[no-any-return]
        page=document,
        facts=[fact for fact in parts_for("html", document.facts) if fact.text],
        articles=articles,
        only_block=articles[blocks[0]] if len(blocks) == 1 else None,
        controlled=blocks[0] if blocks else len(articles) - 1,  # the article that the controls are of
        has_points=bool(points["blocks"]),
        typed=typed,
        version=__version__,
        n_colors=len(COLORS),
        n_dashes=len(DASHES),
        most_unsorted=MOST_UNSORTED,
        json=_embedded(document.numbers()),
        points=_embedded(points),
        css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        script=(FOLDER / "page.js").read_text(encoding="utf-8"),
    )


def _article(section: Section, parts: Iterable[Part], block: int | None) -> Article:
    """Return what the page shows of a section: its parts by what they are; a verdict has other sentences, too."""
    said: dict[Role, list[str]] = {"question": [], "verdict": [], "caution": []}
    tables: list[RichTable] = []
    drawn: list[Figure] = []
    for part in parts:
        if isinstance(part, Sentence):
            said[part.role if part.role in said else "verdict"].append(part.text)
        elif isinstance(part, Table):
            tables.append(rich(part))
        elif isinstance(part, Figures):
            prefix = "over" if block is None else f"b{block}"
            drawn += figures(part.panels(), prefix, part.captions or CAPTIONS)
    return Article(
        section.heading,
        section.size,
        " ".join(said["question"]),
        said["verdict"],
        said["caution"],
        drawn,
        [each for each in tables if each.table.kind != "live" and each.rows],
        next((each for each in tables if each.table.kind == "live"), None),
        block,
    )


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
