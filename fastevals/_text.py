"""How reports and comparisons write names, numbers, metrics and tables."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import show

LOSSES = {"squared": "squared loss", "zero_one": "0-1 loss"}
WIDTH = 88  # characters of a line of words
TABLE_WIDTH = 120  # characters of a table's line
SMALL_VALUE = 0.1  # smaller values have fewer than four significant digits in four decimals
MOST_DECIMALS = 8  # decimals, above which powers of ten are shorter
LONG = 8  # characters of a float, above which it is shortened
ROWS_SHOWN = 4  # rows of a printed result
NAME_CHARACTERS = 24  # characters of a model's name next to numbers
LONGEST_NAME = 58  # characters of a name at the start of a table's row
MISSING = "(missing)"  # name of the block of rows without a value of --by
MOST_PAIRS = 45  # pairs in a table; JSON has all


def first_lines(lines: Iterable[str]) -> str:
    """Return the first few lines, each indented on a new line, followed by dots if there are more."""
    first = list(islice(lines, ROWS_SHOWN + 1))
    return "".join(f"\n  {line}" for line in [*first[:ROWS_SHOWN], *(["..."] if len(first) > ROWS_SHOWN else [])])


def printable(text: str) -> str:
    """Return a name unchanged, or quoted with escapes if it would break the line."""
    return text if text.isprintable() else repr(text)


def shorten_names(names: Iterable[Any], longest: int = NAME_CHARACTERS) -> list[str]:
    """Return names for a table; long names are cut in the middle, or at the start that they share with others.

    Names that would still look the same get a number.
    """
    full = [printable(str(name)) for name in names]
    short = [shorten_name(name, longest) for name in full]
    for same in _repeated(short):
        alike = [k for k, name in enumerate(short) if name == same != full[k]]
        ends = min((full[k] for k in alike), default=""), max((full[k] for k in alike), default="")
        shared = sum(takewhile(bool, (a == b for a, b in zip(*ends, strict=False))))
        for k in alike:
            kept = min(shared, len(full[k]) - longest + 3)
            short[k] = f"...{shorten_name(full[k][kept:].lstrip('.'), longest - 3)}"
    repeated = _repeated(short)
    for k, name in enumerate(short):
        if name in repeated and name != full[k]:
            number = f" #{k + 1}"
            short[k] = shorten_name(full[k], longest - len(number)) + number
    return short


def _repeated(names: Sequence[str]) -> set[str]:
    return {name for name in names if names.count(name) > 1}


def shorten_name(name: str, longest: int = NAME_CHARACTERS) -> str:
    """Return a name, with the middle of a long one cut out: names differ at the end as often as at the start."""
    if len(name) <= longest:
        return name
    end = (longest - 3) // 2
    return f"{name[: longest - 3 - end]}...{name[len(name) - end :]}"


def format_label(value: Any) -> str:
    """Return a class or --by value as a user would write it; None stands for rows without a value."""
    if value is None:
        return MISSING
    if isinstance(value, tuple):
        return ", ".join(map(format_label, value))
    if not isinstance(value, (str, bool, int, float, np.generic)):
        return printable(_short_time(object_text(value)))
    return printable(_short_time(value)) if isinstance(value, str) and value != MISSING else repr(value).lower()


TIME = re.compile(r"(\d{4}-\d\d-\d\d)( \d\d:\d\d:\d\d)(?:(\.\d*?)0*)?(Z|[+-]\d{4})?")


def _short_time(text: str) -> str:
    """Return a time without zeros at its end: midnight without a time zone is the date."""
    if (time := TIME.fullmatch(text)) is None:
        return text
    day, clock, fraction, zone = time.groups("")
    clock += fraction.rstrip(".")
    return day if clock == " 00:00:00" and not zone else day + clock + zone


def object_text(value: Any) -> str:
    """Return a Python object as text; times with a time zone are written as Arrow does."""
    if not isinstance(value, datetime) or value.tzinfo is None or getattr(value, "nanosecond", False):
        return str(value)
    return f"{value:%Y-%m-%d %H:%M:%S.%f}" + ("Z" if str(value.tzinfo) == "UTC" else f"{value:%z}")


def count_of(n: int, what: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{n} {what}{'s' * (n != 1)}"


ALL_ROWS = "all rows"  # the name of their block, beside blocks of values


def describe_block(by: Sequence[str], value: Any) -> str:
    """Return text that names the block of a note; `value` is a tuple if several columns are crossed."""
    if not by:
        return "the data"
    return f"{printable(by[0])} {format_label(value)}" if len(by) == 1 else describe_segment(by, value)


def describe_segment(by: Sequence[str], value: Any, longest: int | None = None) -> str:
    """Return a segment as "region = north", or "region = north, product = card"; `longest` limits each name."""
    values = value if len(by) > 1 else (value,)
    names = [(printable(name), format_label(each)) for name, each in zip(by, values, strict=True)]
    if longest is not None:
        names = [(shorten_name(name, longest), shorten_name(each, longest)) for name, each in names]
    return ", ".join(f"{name} = {each}" for name, each in names)


def describe_by(by: Sequence[str]) -> str:
    """Return the name of the column that divides rows, or of crossed columns, such as "region x product"."""
    return " x ".join(map(printable, by))


def format_number(value: float) -> str:
    """Return a metric's value with four decimals, without a minus if it rounds to 0; "-" if it is undefined."""
    if math.isnan(value):
        return "-"
    return f"{value:z.4f}" if abs(value) < 1e6 else f"{value:.6g}"


def limit_text(limit: float) -> str:
    """Return a limit or a margin with all digits that the user wrote, up to 15: a rounded limit is another limit."""
    return f"{limit:.15g}"


def format_ends(
    ends: Sequence[float], write: Callable[[float], str] = format_number, least: float = 0.0001
) -> list[str]:
    """Format both ends of an interval with `write`; an end nearer to zero than `least` gets three digits.

    The three digits are rounded outwards, so that the printed interval excludes zero if and only if the interval does.
    """
    return [
        f"{_three_digits(end, way):.3g}" if 0 < abs(end) < least else write(end)
        for end, way in zip(ends, (ROUND_FLOOR, ROUND_CEILING), strict=True)
    ]


def _three_digits(value: float, rounding: str) -> Decimal:
    exact = Decimal(value)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding)


def format_column(values: Sequence[float]) -> list[str]:
    """Format a column of numbers with four decimals; with more if all are small, to show four digits of the largest."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if not 0 < largest < SMALL_VALUE:
        return [format_number(value) for value in values]
    decimals = 3 - math.floor(math.log10(largest))
    form = f"z.{decimals}f" if decimals <= MOST_DECIMALS else ".3e"
    return ["-" if math.isnan(value) else format(value, form) for value in values]


def format_numbers(rows: ArrayLike) -> list[list[str]]:
    """Format all rows of numbers as if they were one column of `format_column`."""
    numbers = np.asarray(rows, dtype=np.float64)
    texts: list[list[str]] = np.reshape(format_column(numbers.ravel().tolist()), numbers.shape).tolist()
    return texts


def format_value(value: Any) -> str:
    """Return a parameter's value for a table or a picture: strings unchanged, long floats with six digits."""
    if isinstance(value, str):
        return value
    text = show(value)
    return f"{value:.6g}" if isinstance(value, float) and len(text) > LONG else text


def format_pvalue(value: float) -> str:
    """Return a p-value with four decimals; below 0.0001 with one significant digit; below 1e-9 as "<1e-9"."""
    if value < 1e-9:
        return "<1e-9"
    return f"{value:.0e}" if value < 0.0001 else format_number(value)


def more_pairs(n_pairs: int) -> str:
    """Return a line about the pairs that a table omits; empty if the table has all pairs."""
    more = n_pairs - MOST_PAIRS
    return f"... {more} more pairs, with equal or larger p: JSON has all" if more > 0 else ""


def one_line(text: str) -> str:
    """Return text with escapes for unprintable characters such as line ends."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def wrap_text(text: str, indent: str = "    ", width: int = WIDTH) -> list[str]:
    """Return the lines of a text, all but the first indented, with escapes for unprintable characters."""
    return textwrap.wrap(one_line(text), min(width, WIDTH), subsequent_indent=indent, break_on_hyphens=False)


def _with_short_names(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows of a table, with long names at the start of rows shortened."""
    if all(len(row[0]) <= LONGEST_NAME for row in rows):
        return rows
    names = shorten_names([row[0] for row in rows], LONGEST_NAME)
    return [[name, *row[1:]] for name, row in zip(names, rows, strict=True)]


def columns_of(text: str) -> int:
    """Return the columns that a text takes in a terminal: two for each Chinese, Japanese or Korean letter."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.category(letter) in ("Mn", "Me", "Cf") for letter in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Pad a text to `width` columns of a terminal, with blanks after it (before it if `right`)."""
    blanks = " " * (width - columns_of(text))
    return blanks + text if right else text + blanks


def format_tables(tables: Sequence[list[list[str]]]) -> list[list[str]]:
    """Return the lines of tables whose columns have the same widths; long names are cut in the middle."""
    tables = [_with_short_names(rows) for rows in tables]
    widths = [max(map(columns_of, column)) for column in zip(*(row for rows in tables for row in rows), strict=True)]

    def line(row: list[str]) -> str:
        name, *cells = row
        padded = [pad(name, widths[0]), *(pad(*each, right=True) for each in zip(cells, widths[1:], strict=True))]
        return " ".join(padded).rstrip()

    return [list(map(line, rows)) for rows in tables]
