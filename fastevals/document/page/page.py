"""What a page shows, as plain data, and how it becomes one file of HTML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._options import import_optional
from fastevals._text import format_number, format_pvalue, printable
from fastevals.document.page.svg import draw
from fastevals.document.picture import COLORS, DASHES, Panel
from fastevals.results import Interval

NO_JINJA = "pages need Jinja2: pip install jinja2"
FOLDER = Path(__file__).parent
SMALL_PVALUE = 0.001
MOST_VALUES = 2000  # of --by, in a table
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


class Cell(NamedTuple):
    """A number of a table."""

    value: str
    exact: str = ""  # all its digits, by which a column is sorted
    notes: tuple[str, ...] = ()  # lines below it: an interval, a p-value
    emphasis: str = ""  # "best" of its column, or "shown" to differ


class TableRow(NamedTuple):
    """A row of a table: its name, and a cell a column."""

    name: str
    cells: Sequence[Cell]
    place: int = -1  # of the model that it is of


class Table(NamedTuple):
    """A table, its first column names."""

    kind: str  # as a file of it is named
    title: str
    columns: Sequence[str]
    rows: Sequence[TableRow]
    places: Sequence[int] = ()  # of the models that columns are of, from the second column on; -1 of none


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
    tables: Sequence[Table] = ()
    live: Table | None = None  # numbers that move with the threshold; each cell's `exact` is its name
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


def write_page(page: Page, typed: str | None = None) -> str:
    """Return a page as HTML that needs nothing else, with the command that made it.

    Raises
    ------
    ImportError
        Without Jinja2.
    """
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


def number(value: float, interval: Interval | None = None, emphasis: str = "") -> Cell:
    """Return the cell of a number, with its interval below if it has one."""
    return Cell(_shown(value), "" if math.isnan(value) else repr(float(value)), ends(interval), emphasis)


def count(value: float) -> Cell:
    """Return the cell of a number of rows, or of their weight."""
    return Cell(f"{value:,}" if float(value).is_integer() else f"{value:,.6g}", repr(value))


def difference(value: float, interval: Interval, pvalue: float) -> Cell:
    """Return the cell of a difference: empty where it is undefined, marked where its interval leaves out zero."""
    if math.isnan(value):
        return Cell("")
    p = () if math.isnan(pvalue) else (f"p {format_pvalue(pvalue)}",)
    is_shown = interval.low > 0 or interval.high < 0
    return Cell(
        ("+" if value > 0 else "") + _shown(value),
        repr(float(value)),
        (*ends(interval), *p),
        "shown" if is_shown else "",
    )


def extremes(values: NDArray[np.float64]) -> list[int]:
    """Return the places of values: of very many those of the lowest and the highest, which a page has room for."""
    if values.size <= MOST_VALUES:
        return list(range(values.size))
    order = np.argsort(values, kind="stable")
    order = order[: np.count_nonzero(~np.isnan(values))]
    return sorted({*order[: MOST_VALUES // 2].tolist(), *order[-MOST_VALUES // 2 :].tolist()})


def values_title(n_shown: int, n: int) -> str:
    """Return what a table of values is called."""
    return "Values" if n_shown == n else f"The lowest and the highest {n_shown:,} of {n:,} values; the JSON has all"


def ends(interval: Interval | None) -> tuple[str, ...]:
    """Return what is written of an interval: nothing of one that is undefined."""
    if interval is None or math.isnan(interval.low):
        return ()
    return (f"{_shown(interval.low)} to {_shown(interval.high)}",)


def _shown(value: float) -> str:
    """Return a number to four decimals, a small one to three digits."""
    return f"{value:.3g}" if 0 < abs(value) < SMALL_PVALUE else format_number(value)
