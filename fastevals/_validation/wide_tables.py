"""Extras in tables of results: names of rows, rows of means, text around numbers, or another shape.

A table has one row per data set, one column per algorithm and a number in each cell. Real tables have more: the unnamed
index that pandas writes, a last row of means, cells such as "0.91±0.02", or one row per pair of data set and
algorithm, which must be pivoted first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import show
from fastevals._validation.arrays import first_text, is_number

UNNAMED = re.compile(r"|unnamed: \d+|__index_level_\d+__", re.IGNORECASE)  # in CSV files, in pandas, in Parquet
NUMBERED = re.compile(r"(.*[\W_])?(id|ids|idx|index|key|no|nr|num|number|row|fold|repeat|seed|run)", re.IGNORECASE)
ALGORITHMS = re.compile(r"(algorithm|algo|method|model|classifier|learner|estimator|system|approach)s?", re.IGNORECASE)
DATASETS = re.compile(r"((data[ _.-]?)?sets?|data|tasks?|problems?)([ _.-]?(name|id))?", re.IGNORECASE)
FOLDS = re.compile(r"(cv[ _.-]?)?(folds?|splits?)([ _.-]?(id|idx|index|no|nr|number))?", re.IGNORECASE)
REPEATS = re.compile(
    r"(repeats?|repetitions?|reps?|runs?|seeds?|random[ _.-]?(seed|state))([ _.-]?(id|no|nr|number))?", re.IGNORECASE
)
SUMMARY = re.compile(
    r"((macro|micro|weighted|grand|overall|arithmetic|geometric|geo)[ -.]?)?"
    r"(mean|average|avg\.?|median|std\.?|sd|stdev|std\.? ?dev\.?|standard deviation|min|max|sum|total)"
    r"([ _-]?(rank|ranks|ranking|score|accuracy|error)| ?(±|\+/?-|\().*)?|ranks?",
    re.IGNORECASE,
)
RESULT = re.compile(r"\W*(\d[\d.,' ]*|[.,]\d+)(e[+-]?\d+)?\W*((±|\+/?-|\().*)?", re.IGNORECASE)  # with text around it
CELLS = 200  # cells read to decide whether text holds results


def holds_text(column: Any) -> bool:
    """Return whether a column holds only strings."""
    values = np.asarray(column)
    if values.ndim != 1 or values.dtype.kind not in "OUT":
        return False
    return values.dtype.kind != "O" or all(isinstance(each, str) for each in values)


def is_unnamed(name: Any) -> bool:
    """Return whether a column's name is one that programs give to an unnamed index."""
    return UNNAMED.fullmatch(str(name)) is not None


def tells_rows_apart(column: Any) -> bool:
    """Return whether a column holds distinct integers, as an index does."""
    values = np.asarray(column)
    return values.dtype.kind in "iu" and sorted_unique(values).size == values.size


def holds_results(column: NDArray[Any], is_first: bool) -> bool:
    """Return whether a text column holds results: numbers, possibly with text around them.

    Cells of the first column may be names that look like results (1, 2, or 10 %, 20 %). Such cells count as results
    only if some are plain numbers and others are not.
    """
    cells = [str(each).strip() for each in column[:CELLS]]
    if 2 * sum(RESULT.fullmatch(each) is not None for each in cells) < len(cells):
        return False
    return not is_first or (first_text(column) is not None and any(map(is_number, cells)))


def find_summaries(names: Iterable[Any]) -> list[int]:
    """Return the rows of a table that are a mean, median or similar summary of other rows, judging by their names."""
    called = [str(each).strip() for each in names]
    rows = [row for row, each in enumerate(called) if SUMMARY.fullmatch(each)]
    return rows if 2 * len(rows) <= len(called) else []


def explain_summaries(names: Iterable[Any], of: str = "data sets") -> str:
    """Return a note that rows with these names are left out."""
    left_out = dict.fromkeys(show(each) for each in names)
    return f"Rows that summarise other {of} are left out: {', '.join(left_out)}."


class LongForm(NamedTuple):
    """Columns of a table with one row per pair of data set and algorithm."""

    rows: list[str]
    on: str  # the column with the algorithms
    results: list[str]

    def explain(self) -> str:
        """Return how to convert the table."""
        rows, index = " and ".join(map(repr, self.rows)), self.rows[0] if len(self.rows) == 1 else self.rows
        return (
            f"one row for each combination of {rows} and {self.on!r}, not one column for each {self.on!r}: "
            "pivot it, in pandas with "
            f".pivot(index={index!r}, columns={self.on!r}, values={self.results[0]!r})"
        )


def find_long_form(columns: Mapping[Any, Any]) -> LongForm | None:
    """Return the roles of a table's columns if it appears to be in long form, otherwise None.

    Long form requires one column of results and two columns of text (data sets and algorithms); one of these two may
    hold fold numbers. With several columns of results, one text column must have a name that means algorithms.
    """
    texts = [name for name, column in columns.items() if holds_text(column)]
    counts = [name for name, column in columns.items() if _counts(name, column)]
    results = [name for name in columns if name not in texts and name not in counts]
    repeated = {name: len(set(np.asarray(columns[name], dtype=object).tolist())) for name in texts}
    repeated = {name: distinct for name, distinct in repeated.items() if distinct < len(columns[name])}
    named = [name for name in repeated if ALGORITHMS.fullmatch(str(name))]
    if not results or not repeated or not (named or (len(results) == 1 and len(texts) > 1)):
        return None
    on = named[-1] if named else min(repeated, key=lambda name: repeated[name])
    index = [name for name in (*texts, *counts) if name != on and not is_unnamed(name)]
    return LongForm(index, on, results) if index else None


def split_columns(columns: Mapping[Any, Any]) -> list[Any]:
    """Return the columns that number folds or repeats, judging by their names and values."""
    named = [name for name in columns if FOLDS.fullmatch(str(name)) or REPEATS.fullmatch(str(name))]
    return [name for name in named if not has_fractions(columns[name])]


def has_fractions(column: Any) -> bool:
    """Return whether a column holds numbers other than whole ones."""
    values = np.asarray(column)
    return values.dtype.kind == "f" and bool((values % 1 != 0).any())


def _counts(name: Any, column: Any) -> bool:
    named = is_unnamed(name) or NUMBERED.fullmatch(str(name)) or DATASETS.fullmatch(str(name))
    return np.asarray(column).dtype.kind in "iu" and bool(named)
