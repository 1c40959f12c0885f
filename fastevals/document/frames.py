"""Turn a result's rows into a pandas or polars frame, an Arrow stream, or the cells of a table.

A result gives its rows as columns in `Result._columns`. A column has the name of its attribute, in the singular, and
holds plain numbers, booleans, times or Python objects, as made by `as_column`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from importlib.util import find_spec
from itertools import chain, islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, import_optional, python_number
from fastevals._text import format_column, format_pvalue, format_value, object_text, printable, shorten_name

Array = NDArray[Any]
Columns = dict[str, Array]  # of one length

Library = Literal["pandas", "polars"]
NO_LIBRARY = "a frame needs pandas or polars: pip install pandas, or pip install polars"
NO_LIBRARY_NAMED = "a frame of {0} needs {0}: pip install {0}"
NO_ARROW = "an Arrow stream needs pyarrow: pip install pyarrow"

# NumPy's units of time, with the nearest unit that polars and Arrow have; other times become text.
KNOWN = {"ms": "ms", "us": "us", "ns": "ns"}
UNITS = {
    "M": dict.fromkeys("YMWD", "D") | dict.fromkeys("hms", "ms") | KNOWN,
    "m": dict.fromkeys("WDhms", "ms") | KNOWN,
}
INTEGERS_END = 2**63  # of 64-bit integers
OF_ONE_TYPE = (str, int, bool, float, datetime, date, timedelta)  # types that columns of polars and Arrow can hold

OF_SETTINGS = {  # columns of numbers that some settings leave empty
    "standard_error", "low", "high", "n_undefined_replicates", "n_positives", "n_negatives", "training", "out_of_bag",
    "resubstitution", "no_information_rate", "relative_overfitting_rate", "error_632", "error_632_plus", "n_nights",
    "tonight", "tonight_low", "tonight_high",
}  # fmt: skip
LONGEST_TEXT = 40  # characters of a cell
ESTIMATES = ("value", "effect", "auc", "low", "high")


def as_frame(columns: Columns, library: Library | None) -> Any:
    """Return columns as a frame of the given library, or of pandas or polars, whichever is imported or installed."""
    if library is not None:
        check_choice("library", library, Library)
    else:
        library = _library_at_hand()
    frames = import_optional(library, NO_LIBRARY_NAMED.format(library))
    if library == "pandas":
        of_pandas = {name: frames.Series(column).infer_objects() for name, column in columns.items() if _is_own(column)}
        return frames.DataFrame(columns | of_pandas)
    types = {name: frames.String if says_nothing(column) else None for name, column in columns.items()}
    return frames.DataFrame(
        [frames.Series(name, _of_one_type(column), types[name]) for name, column in columns.items()]
    )


def _is_own(column: Array) -> bool:
    """Return whether a column holds objects for which pandas has a type: intervals, periods and times with a zone."""
    return column.dtype == object and column.size > 0 and type(column[0]).__module__.startswith("pandas.")


def as_stream(columns: Columns, requested_schema: Any) -> Any:
    """Return columns as an Arrow stream."""
    pa = import_optional("pyarrow", NO_ARROW)
    arrays = {
        name: pa.array(_of_one_type(column), pa.string() if says_nothing(column) else None)
        for name, column in columns.items()
    }
    return pa.table(arrays).__arrow_c_stream__(requested_schema)


def _library_at_hand() -> Library:
    """Return a library that is imported, or else one that is installed."""
    libraries: tuple[Library, ...] = get_args(Library)
    for there in (sys.modules.get, find_spec):
        for name in libraries:
            if there(name):
                return name
    raise ModuleNotFoundError(NO_LIBRARY, name=libraries[0])


# Columns ------------------------------------------------------------------------------------------------------------


def make_columns(columns: Mapping[str, Any]) -> Columns:
    """Return columns from arrays or sequences; a single value, or None, applies to all rows."""
    arrays = {name: values if _is_many(values) else None for name, values in columns.items()}
    n_rows = max((len(values) for values in arrays.values() if values is not None), default=1)
    return {
        name: np.repeat(as_column([columns[name]]), n_rows) if values is None else as_column(values)
        for name, values in arrays.items()
    }


def or_nan(numbers: Any) -> Any:
    """Return `numbers`, or NaN if it is None: NaN makes a column without values."""
    return math.nan if numbers is None else numbers


def _is_many(values: Any) -> bool:
    return isinstance(values, (list, tuple, range)) or (isinstance(values, np.ndarray) and values.ndim > 0)


def as_column(values: Sequence[Any] | Array) -> Array:
    """Return a column of native numbers, booleans or times, or of Python objects."""
    if isinstance(values, np.ndarray):
        kind = values.dtype.kind
        if kind in "mM":
            return _as_times(values)
        if kind in "biuf" and values.dtype != np.longdouble:
            return values.astype(values.dtype.newbyteorder("="), copy=False)
        if kind in "UT":
            return values.astype(object)
        if values.dtype == np.longdouble:
            rounded = values.astype(np.float64)
            if np.array_equal(rounded, values, equal_nan=True):
                return rounded
    items = [_as_python(value) for value in values]
    kinds = {type(value) for value in items}
    if kinds == {bool}:
        return np.array(items, dtype=np.bool_)
    if kinds == {int} and all(-INTEGERS_END <= value < INTEGERS_END for value in items):
        return np.array(items, dtype=np.int64)
    if float in kinds and kinds <= {float, int, type(None)}:
        numbers = [math.nan if value is None else value for value in items]
        if all(type(value) is float or abs(value) <= 2**53 for value in numbers):
            return np.array(numbers, dtype=np.float64)
    column = np.empty(len(items), dtype=object)
    for k, value in enumerate(items):  # one by one, since NumPy would split values that are sequences
        column[k] = value
    return column


def _as_python(value: Any) -> Any:
    if isinstance(value, np.longdouble):
        return python_number(value)
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _as_times(values: Array) -> Array:
    """Return times in a unit that polars and Arrow have, or else as text."""
    kind = values.dtype.kind
    unit = UNITS[kind].get(np.datetime_data(values.dtype)[0])
    return as_column(values.astype(str)) if unit is None else values.astype(f"{kind}8[{unit}]", copy=False)


def from_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows; values that a row lacks are NaN or None."""
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: as_column([row.get(name) for row in rows]) for name in names}


def stack(tables: Iterable[tuple[Mapping[str, Any], Columns]]) -> Columns:
    """Stack tables, each paired with a mapping of names to values: a value fills a column in all rows of its table.

    Columns that a table lacks are NaN or None in its rows.
    """
    named = [(common, table, len(next(iter(table.values())))) for common, table in tables]
    lengths = [n_rows for _, _, n_rows in named]
    columns = {
        name: np.repeat(as_column([common.get(name) for common, _, _ in named]), lengths)
        for name in dict.fromkeys(chain.from_iterable(common for common, _, _ in named))
    }
    for name in dict.fromkeys(chain.from_iterable(table for _, table, _ in named)):
        columns[name] = _join([table.get(name) for _, table, _ in named], lengths)
    return columns


def _join(parts: Sequence[Array | None], lengths: Sequence[int]) -> Array:
    """Join the parts of a column; missing parts are None."""
    kinds = {part.dtype.kind for part in parts if part is not None}
    if kinds == {"f"}:
        parts = [np.full(n, math.nan) if part is None else part for part, n in zip(parts, lengths, strict=True)]
    if len(kinds) == 1 and all(part is not None for part in parts):
        return np.concatenate(parts)  # type: ignore[arg-type]
    lists: list[Sequence[Any] | Array] = [
        [None] * n if part is None else part for part, n in zip(parts, lengths, strict=True)
    ]
    return as_column(list(chain.from_iterable(lists)))


def says_nothing(column: Array) -> bool:
    """Return whether a column of objects holds only None; frames make it a text column."""
    return column.dtype == object and column.size > 0 and all(value is None for value in column)


def leave_unused_out(columns: Columns) -> Columns:
    """Return the columns without those that the settings leave empty; only frames keep the empty columns."""
    return {
        name: column
        for name, column in columns.items()
        if not (says_nothing(column) or (name in OF_SETTINGS and column.dtype.kind == "f" and np.isnan(column).all()))
    }


def spread(**numbers: ArrayLike) -> Columns:
    """Return numbers as one row, or arrays as one row per element; a column `place` holds each element's index."""
    arrays = dict(zip(numbers, np.broadcast_arrays(*numbers.values()), strict=True))
    shape = next(iter(arrays.values())).shape
    places: Any = range(shape[0]) if len(shape) == 1 else list(np.ndindex(shape))
    columns = {name: as_column(array.ravel()) for name, array in arrays.items()}
    return {"place": as_column(places), **columns} if shape else columns


def _of_one_type(column: Array) -> Any:
    """Return a column with one type for polars and Arrow: text if values have several types."""
    if column.dtype != object:
        return column
    values = column.tolist()
    kinds = {type(value) for value in values} - {type(None)}
    if len(kinds) < 2 and kinds <= set(OF_ONE_TYPE) and not (kinds == {int} and _too_large(values)):
        return values
    return [value if value is None else _as_text(value) for value in values]


def _as_text(value: Any) -> str:
    return object_text(value)


def _too_large(values: Iterable[int | None]) -> bool:
    return not all(value is None or -INTEGERS_END <= value < INTEGERS_END for value in values)


# Cells of a table ------------------------------------------------------------------------------------------------


def format_cells(columns: Columns) -> list[list[str]]:
    """Return the cells of columns as text; an estimate and its interval have the same number of decimals."""
    together = {
        name: column.tolist() for name, column in columns.items() if name in ESTIMATES and column.dtype.kind == "f"
    }
    estimates = iter(format_column([*chain.from_iterable(together.values())]))
    texts = []
    for name, column in columns.items():
        if name in together:
            texts.append([*islice(estimates, len(column))])
        elif column.dtype.kind == "f":
            values = column.tolist()
            texts.append([*map(format_pvalue, values)] if name.endswith("pvalue") else format_column(values))
        else:
            texts.append([shorten_name(printable(_format_cell(value)), LONGEST_TEXT) for value in column])
    return texts


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    is_plain = isinstance(value, (str, int, float)) and not isinstance(value, np.generic)
    return format_value(value) if is_plain else object_text(value)
