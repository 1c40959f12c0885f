"""Numbers in the text of published tables: "0.91±0.02", "91 %", "**0.91**" and "0,91"; and cells without a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import row_at, show
from fastevals._validation.arrays import EXACT_INTEGER, as_array, as_vector, is_missing

NUMBER = r"[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+)(?:e[+-]?\d+)?"
CELL = re.compile(
    rf"(?P<number>{NUMBER})\s*(?P<percent>%)?\s*"
    rf"(?P<after>(?:±|\+/?-)\s*{NUMBER}|\([^()]*\)|\[[^\[\]]*\])?\s*(?P<percent_after>%)?",
    re.IGNORECASE,
)
MARKS = re.compile(
    r"\\(?:textbf|textit|underline|mathbf|mathit|bfseries|bf|it|emph|num)\b|</?(?:b|strong|i|em|u|sup|sub)>|[*_$†‡§{}~^]",
    re.IGNORECASE,
)
SPELLED = (("\\%", "%"), ("\\pm", "±"), ("\N{MINUS SIGN}", "-"), ("\N{NO-BREAK SPACE}", " "))
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # or three decimals
NO_RESULT = re.compile(
    "|[-\N{EN DASH}\N{EM DASH}?]+|n/?a|nan|none|null|nil|missing|time[ -]?out|timed out|t/o|oom|out of memory"
    "|mem(ory)?[ -]?out|fail(ed|ure)?|err(or)?|crash(ed)?|dnf|did not finish",
    re.IGNORECASE,
)
CELLS_SEEN = 200  # cells read to decide whether text holds results
LEFT_OUT = {  # by what was recognised: a sentence, with the first such cell
    "after": "A number's deviation, or other text after it, is left out, as in {}.",
    "marks": "Marks around numbers are left out, as in {}.",
    "percent": "Results are in percent, as in {}.",
    "comma": "A comma is read as the decimal point, as in {}.",
}


class ReadCells(NamedTuple):
    """A column of results as float64: NaN where there is none, with the text of such cells by row.

    `recognised` has the first cell for each entry of `LEFT_OUT` that applies.
    """

    values: NDArray[np.float64]
    no_result: Mapping[int, str] = {}
    recognised: Mapping[str, str] = {}


NO_NUMBERS = (np.datetime64, np.timedelta64, np.complexfloating)  # although they have __float__


def is_text(column: Any) -> bool:
    """Return whether a column holds strings, and no other values except missing ones."""
    cells = _as_cells(column)
    if cells.ndim != 1 or cells.dtype.kind not in "OUT":
        return False
    texts = [isinstance(each, str) or not is_missing(each) for each in cells]
    return any(texts) and all(isinstance(each, str) or is_missing(each) for each in cells)


def holds_result_text(column: Any) -> bool:
    """Return whether text holds results: numbers, possibly with text around them, in at least half of the cells."""
    cells = [str(each).strip() for each in column[:CELLS_SEEN] if not is_missing(each)]
    found = [CELL.fullmatch(_without_marks(each)) is not None for each in cells if not NO_RESULT.fullmatch(each)]
    return bool(found) and 2 * sum(found) >= len(found)


def read_cells(name: str, column: Any) -> ReadCells:
    """Return a column of results, given as numbers or as text with a number in each cell.

    Raise if a cell is not a number, infinite, or ambiguous ("1,234", or "91 %" beside "0.93").
    """
    is_plain = not (is_text(column) or _holds_objects(column))
    array = as_array(name, column) if is_plain else _as_cells(column).astype(object)
    if array.ndim != 1:
        array = as_vector(name, array)
    if array.dtype.kind in "fiub":
        return ReadCells(_as_floats(name, array))
    if any(isinstance(each, str) for each in array):  # numbers among text, such as 0.5 and "timeout"
        return _from_text(name, [each if isinstance(each, str) or is_missing(each) else repr(each) for each in array])
    return ReadCells(_from_objects(name, array))


def join_recognised(name: str, columns: Mapping[Any, ReadCells]) -> tuple[str, ...]:
    """Return sentences on the text that was recognised in columns; raise if only some of them are in percent."""
    first: dict[str, str] = {}
    for each in columns.values():
        for kind, cell in each.recognised.items():
            first.setdefault(kind, cell)
    if "percent" in first:
        plain = [key for key, each in columns.items() if "percent" not in each.recognised and _has_values(each)]
        if plain:
            raise ValueError(
                f"{name} must be in percent everywhere or nowhere, got {show(first['percent'])}, but numbers without "
                f"% in {show(plain[0])}"
            )
    return tuple(LEFT_OUT[kind].format(show(first[kind])) for kind in LEFT_OUT if kind in first)


def _has_values(cells: ReadCells) -> bool:
    return not np.isnan(cells.values).all()


def _as_cells(column: Any) -> NDArray[Any]:
    """Return a column as an array, of objects if some cells are lists or numbers stand among text."""
    if not isinstance(column, (list, tuple)):
        return np.asarray(column)
    cells = np.empty(len(column), dtype=object)
    cells[:] = column
    is_mixed = any(isinstance(each, (str, list, tuple)) or each is None for each in column)
    return cells if is_mixed else np.asarray(column)


def _holds_objects(column: Any) -> bool:
    """Return whether a column holds objects: numbers with missing values, or with text."""
    array = _as_cells(column)
    return array.ndim == 1 and array.dtype.kind == "O"


def _as_floats(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > EXACT_INTEGER:
        raise ValueError(f"{name} must be within 2**53 for integers, got {max(array.tolist(), key=abs)}")
    with np.errstate(over="ignore"):  # longer floats may overflow
        values = array.astype(np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise ValueError(f"{name} must be finite, but has {values[infinite[0]]} at {row_at(infinite[0])}")
    return values


def _from_objects(name: str, cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return Python's numbers and missing values as floats."""
    for row, cell in enumerate(cells):
        is_number = hasattr(cell, "__float__") and not np.ndim(cell) and not isinstance(cell, NO_NUMBERS)
        if not (is_number or is_missing(cell)):
            raise ValueError(f"{name} must hold numbers, but has {show(cell)} ({type(cell).__name__}) at {row_at(row)}")
    return _as_floats(name, np.array([np.nan if is_missing(each) else float(each) for each in cells], dtype=np.float64))


def _from_text(name: str, cells: Iterable[Any]) -> ReadCells:
    """Return the numbers in cells of text."""
    numbers: dict[int, str] = {}
    no_result: dict[int, str] = {}
    first: dict[str, tuple[int, str]] = {}
    percents: dict[bool, tuple[int, str]] = {}
    n = 0
    for row, cell in enumerate(cells):
        n = row + 1
        text = "" if is_missing(cell) else str(cell).strip()
        bare = _without_marks(text)
        found = CELL.fullmatch(bare)
        if found is None:
            if not NO_RESULT.fullmatch(text):
                raise ValueError(f"{name} must hold numbers, but has {show(text)} at {row_at(row)}")
            if text:
                no_result[row] = text
            continue
        numbers[row] = found["number"]
        percent = bool(found["percent"] or found["percent_after"])
        percents.setdefault(percent, (row, text))
        kinds = {"after": found["after"], "percent": percent, "comma": "," in found["number"]}
        kinds["marks"] = MARKS.search(text)
        for kind, applies in kinds.items():
            if applies:
                first.setdefault(kind, (row, text))
    if len(percents) == 2:
        (row, text), (other, plain) = percents[True], percents[False]
        raise ValueError(
            f"{name} must be in percent everywhere or nowhere, got {show(text)} at {row_at(row)} and {show(plain)} at "
            f"{row_at(other)}"
        )
    if "comma" in first:
        _check_commas(name, numbers)
    values = np.full(n, np.nan)
    values[list(numbers)] = [float(each.replace(",", ".")) for each in numbers.values()]
    return ReadCells(_as_floats(name, values), no_result, {kind: text for kind, (_, text) in first.items()})


def _check_commas(name: str, numbers: Mapping[int, str]) -> None:
    """Raise unless commas are decimal points: they may separate thousands, or some numbers may have points."""
    with_point = next(((row, each) for row, each in numbers.items() if "." in each), None)
    with_comma = {row: each for row, each in numbers.items() if "," in each}
    row, seen = next(iter(with_comma.items()))
    if with_point is not None:
        raise ValueError(
            f"{name} must have one decimal sign, got {show(seen)} at {row_at(row)} and {show(with_point[1])} at "
            f"{row_at(with_point[0])}"
        )
    if all(THOUSANDS.fullmatch(each) for each in with_comma.values()):
        raise ValueError(
            f"{name} must have an unambiguous decimal sign, but the comma of {show(seen)} at {row_at(row)} may "
            "separate thousands or decimals: write numbers with a point, or without separators"
        )


def _without_marks(text: str) -> str:
    """Return a cell without the marks of Markdown, LaTeX and HTML."""
    for written, plain in SPELLED:
        text = text.replace(written, plain)
    return MARKS.sub("", text).strip()
