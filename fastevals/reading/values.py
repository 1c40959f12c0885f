"""Finds the rows of a column that can be counted, and parses the names of groups and classes in CSV files.

Columns of names are read as text. They become numbers only if nothing is lost. Names of groups become numbers if every
name is in standard form (7, not 007 or 7.50). Names of classes become numbers if every name is a plain number (7 or
7.50, not 007 or 7e0).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._validation.arrays import is_arrow, missing_rows, numbers_of, plain_numbers
from fastevals._validation.keys import encode_keys
from fastevals._validation.labels import as_column
from fastevals._validation.text import (
    GroupKeys,
    TextLabels,
    ascending_objects,
    is_text,
    joint_names,
    unique_inverse,
)

# Words for a missing value: `NULLS`, pyarrow's words, in columns of numbers; `MISSING_WORDS` if rows with missing
# values are left out.
NULLS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
    "NaN", "n/a", "nan", "null",
)  # fmt: skip
MISSING_WORDS = (*NULLS, "None", "none", "NONE", "?", "-", "--", ".", "<NA>", "NaT")
PLAIN = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?")  # a number without leading zeros or an exponent
BOOLEANS = {"true": True, "false": False}


def finite_rows(column: Any, *, infinite: bool) -> NDArray[np.bool_] | None:
    """Return a mask of the finite floats (if `infinite`, also of infinite ones); None if it would select all rows."""
    if is_arrow(column):
        from pyarrow import types

        if not types.is_floating(column.type):
            return None
        values = numbers_of(column.fill_null(0.0) if column.null_count else column)
    else:
        values = plain_numbers(np.asarray(column))
        if values.dtype.kind != "f":
            return None
    if np.isfinite(values.min()) and np.isfinite(values.max()):
        return None
    finite: NDArray[np.bool_] = ~np.isnan(values) if infinite else np.isfinite(values)
    return None if finite.all() else finite


def kept_rows(column: Any, kept: NDArray[np.bool_]) -> Any:
    """Return the rows of a column that a mask selects."""
    if is_arrow(column):
        import pyarrow as pa

        return column.filter(pa.array(kept))
    if hasattr(column, "filter") and not hasattr(column, "iloc"):  # polars
        return column[np.flatnonzero(kept)]
    if isinstance(column, (list, tuple)):
        return [value for value, keep in zip(column, kept, strict=True) if keep]
    return column[kept]


def refuse_text(shown: str, dtype: Any, value: Any, where: str) -> NoReturn:
    """Raise the error for a numeric column with a value that is not a number."""
    raise ValueError(
        f"{shown} must hold numbers, but has type {dtype} (with the value {show(value)} at {where})"
        f"{_hint_on_number(value)}"
    )


# Values that may be missing -------------------------------------------------------------------------------------------


class PartlyMissing:
    """A column with missing values: a code for each row (-1 if missing), and the value of each code."""

    __slots__ = ("codes", "names")

    def __init__(self, names: NDArray[Any], codes: NDArray[np.intp]) -> None:
        self.names, self.codes = names, codes

    def __getitem__(self, rows: Any) -> PartlyMissing:
        return PartlyMissing(self.names, self.codes[rows])

    def __len__(self) -> int:
        return self.codes.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the codes."""
        return self.codes.shape

    def compact(self) -> PartlyMissing:
        """Return the same column with only the values that occur."""
        seen = np.flatnonzero(np.bincount(self.codes + 1, minlength=self.names.size + 1)[1:])
        places = np.full(self.names.size + 1, -1, np.intp)  # the last place is for missing values
        places[seen] = np.arange(seen.size)
        return PartlyMissing(self.names[seen], places[self.codes])

    @property
    def labels(self) -> Any:
        """The value of each code, in the type that a column without missing values has."""
        if self.names.dtype.kind == "O":
            return GroupKeys(self.names, np.arange(self.names.size))
        return TextLabels(self.names, np.arange(self.names.size)) if is_text(self.names) else self.names

    @classmethod
    def joined(cls, columns: Sequence[Any]) -> PartlyMissing:
        """Concatenate columns, some of which have missing values."""
        parts = [each if isinstance(each, cls) else cls(*unique_inverse(each)) for each in columns]
        known = [part.names for part in parts if part.names.size]
        names, found = joint_names(known) if known else (parts[0].names, [])
        places = iter(found)
        places_of = [np.append(next(places), -1) if part.names.size else np.array([-1]) for part in parts]
        return cls(names, np.concatenate([place[part.codes] for place, part in zip(places_of, parts, strict=True)]))


def have_missing(column: Any) -> bool:
    """Return whether a column has missing values or NaN."""
    return missing_rows(column) is not None or finite_rows(column, infinite=True) is not None


def values_or_missing(shown: str, column: Any) -> Any:
    """Return a column as `as_column` does or as keys, or as `PartlyMissing` if values are missing or NaN."""
    missing, known = missing_rows(column), finite_rows(column, infinite=True)
    if missing is None and known is None:
        return as_values(shown, column)
    present = ~missing if missing is not None else known
    if missing is not None and known is not None:
        present = known & ~missing
    assert present is not None
    codes = np.full(present.size, -1, np.intp)
    if not present.any():
        return PartlyMissing(np.empty(0), codes)
    names, codes[present] = unique_inverse(as_values(shown, kept_rows(column, present)))
    return PartlyMissing(names, codes)


def as_values(shown: str, column: Any) -> Any:
    """Return the values of a column that divides rows: ordered objects as keys, others as `as_column` does."""
    keys = encode_keys(shown, column)
    return as_column(shown, column) if keys is None else keys


def split_values(column: Any) -> tuple[list[Any], NDArray[np.intp]]:
    """Return a column's distinct values, ascending (None last, if values are missing), and each row's index."""
    if not isinstance(column, PartlyMissing):
        names, codes = unique_inverse(column)
        return names.tolist(), codes
    column = column.compact()
    names, missing = column.names.tolist(), column.codes < 0
    return ([*names, None], np.where(missing, len(names), column.codes)) if missing.any() else (names, column.codes)


def ascending(values: Iterable[Any], shown: str = "values") -> list[Any]:
    """Sort distinct values, with None for missing values last; raise if text and other types are mixed."""
    values = list(values)
    texts = [value for value in values if isinstance(value, str)]
    others = [value for value in values if value is not None and not isinstance(value, str)]
    if texts and others:
        raise ValueError(f"{shown} must have values of one type, got {show(texts[0])} and {show(others[0])}")
    missing = [None] * (None in values)
    return [*ascending_objects(texts or others), *missing] if texts or others else missing


def ordered_categories(column: Any) -> list[Any] | None:
    """Return the values of a column in order, if its type orders them; otherwise None.

    Such types are pandas' ordered categories, polars' Enum, and Arrow's ordered dictionaries.
    """
    if is_arrow(column):
        from pyarrow import types

        if not (types.is_dictionary(column.type) and column.type.ordered):
            return None
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        return chunks[0].dictionary.to_pylist() if chunks else None
    dtype = getattr(column, "dtype", None)
    is_enum = type(dtype).__name__ == "Enum" and type(dtype).__module__.startswith("polars")
    if not (is_enum or getattr(dtype, "ordered", False) is True):
        return None
    return list(getattr(dtype, "categories", ())) or None


# Names in CSV files ---------------------------------------------------------------------------------------------------


def name_values(names: Sequence[str]) -> list[Any]:
    """Return the values that a file's names stand for, all of one type, without merging or changing any.

    They are integers, floats or booleans if every name is in the standard form of its value (7, 0.5, true), and text
    otherwise: 7, 007, 100000 and 1E5 are four groups. A word for a missing value becomes None among numbers, but stays
    a name among text.
    """
    given = [name for name in names if name not in NULLS]
    for parse in (int, float, BOOLEANS.__getitem__):
        values = _parsed(parse, given)
        if values is not None and all(repr(value).lower() == name for value, name in zip(values, given, strict=True)):
            found = iter(values)
            return [None if name in NULLS else next(found) for name in names]
    return list(names)


def are_missing(names: Sequence[str]) -> list[str]:
    """Return the distinct names that mean a missing value; an empty list unless all other names are plain values."""
    missing = [name for name in names if name in NULLS]
    return missing if missing and plain_values([name for name in names if name not in NULLS]) is not None else []


def class_columns(columns: Mapping[str, TextLabels]) -> dict[str, Any]:
    """Convert each column of class names to numbers or booleans if all names in the column are plain.

    Names with leading zeros or an exponent are not plain. If each column of plain names shares a name with a column of
    text, all columns stay text.

    Parameters
    ----------
    columns : mapping of str to TextLabels
        Columns as written, by their names in messages.
    """
    names = {shown: np.asarray(column.names).tolist() for shown, column in columns.items()}
    values = {shown: plain_values(each) for shown, each in names.items()}
    of_text = {name for shown, each in names.items() if values[shown] is None for name in each}
    if all(each is None or of_text.intersection(names[shown]) for shown, each in values.items()):
        _check_written_alike(names)
        return dict(columns)
    return {
        shown: columns[shown] if each is None else np.array(each)[columns[shown].codes]
        for shown, each in values.items()
    }


def plain_values(names: Sequence[str]) -> list[Any] | None:
    """Return names as numbers or booleans if all are plain, otherwise None."""
    values = _parsed(lambda name: BOOLEANS[name.lower()], names)
    if values is None and all(PLAIN.fullmatch(name) for name in names):
        values = _parsed(int, names) or _parsed(float, names)
    return values


def _parsed(parse: Callable[[str], Any], names: Sequence[str]) -> list[Any] | None:
    """Return parsed names; None if there are none, or if one can't be parsed or doesn't fit 64 bits."""
    try:
        values = [parse(name) for name in names]
    except (ValueError, KeyError):
        return None
    fit = all(math.isfinite(value) and (isinstance(value, float) or -(2**63) <= value < 2**64) for value in values)
    return values if values and fit and not (min(values) < 0 and max(values) >= 2**63) else None


def _check_written_alike(names: Mapping[str, Sequence[str]]) -> None:
    """Raise if columns of text write one number in two ways, which would become two classes."""
    written: dict[float, tuple[str, str]] = {}
    for shown, each in names.items():
        for name in filter(PLAIN.fullmatch, each):
            first, where = written.setdefault(float(name), (name, shown))
            if first != name:
                raise ValueError(
                    f"classes that are text must be written alike, got {first!r} in {where} and {name!r} in {shown}"
                )


# Hints ----------------------------------------------------------------------------------------------------------------


def _hint_on_number(text: Any) -> str:
    """Return advice on text that should be a number, to end an error message; empty if its form is unknown."""
    given = text.strip() if isinstance(text, str) else ""
    if re.fullmatch(r"[+-]?\d{1,3}(?:([.,' \u2019\u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?", given):
        return "; remove the separators of thousands"
    if re.fullmatch(r"[+-]?\d*,\d+", given):
        return "; for decimal commas, separate columns by another character, such as a semicolon"
    return ""


def parse_label(text: str | None, labels: Sequence[Any]) -> Any:
    """Return one of `labels` if an option's text means it, otherwise the text converted to the labels' type."""
    if text is None:
        return None
    parsed = [_as_label(text, label) for label in labels]
    match = next((value for value, label in zip(parsed, labels, strict=True) if value == label), parsed[0])
    return text if match is None else match


def _as_label(text: str, like: Any) -> Any:
    """Convert an option's text to the type of the label `like`, or return None; "true" and "false" can be booleans."""
    if isinstance(like, str):
        return text
    if isinstance(like, bool) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            value = number(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return bool(value) if isinstance(like, bool) and value in (0, 1) else value
    return None
