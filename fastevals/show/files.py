"""Columns of CSV, Parquet and Arrow files as NumPy arrays. Needs pyarrow, which is imported when a file is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation import did_you_mean

__all__ = ["SUFFIXES", "check_columns", "check_one_role", "first_text", "read_columns", "read_numbers"]

Names = Mapping[str, str]  # of columns, with what messages call each


def read_columns(path: str | Path, wanted: Names | None, *, numeric: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Read some columns of a file.

    Parameters
    ----------
    path : str or Path
        A CSV, Parquet or Arrow file; its name's end says which.
    wanted : mapping of str to str, or None
        Names of the columns, and what messages call each (``--label 'y'``); None for all.
    numeric : collection of str
        Those of `wanted` that must hold numbers.

    Returns
    -------
    dict of str to ndarray of shape (n_rows,)
        Numbers and booleans as such, strings as an object array of str. No value is missing, but floats may be NaN.

    Raises
    ------
    ValueError
        If the file is none of these, is damaged or has no rows, or a column is not there, not unique, of another type
        or has missing values.
    ModuleNotFoundError
        Without pyarrow.
    """
    table, shown = _read(Path(path), wanted)
    return {name: _as_numpy(each, table.column(name), name in numeric) for name, each in shown.items()}


def read_numbers(path: str | Path, beside: Names) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Read a file's columns of numbers, and some beside.

    Parameters
    ----------
    path : str or Path
        As of `read_columns`.
    beside : mapping of str to str
        Names of columns to read whatever they hold, and what messages call each.

    Returns
    -------
    columns : dict of str to ndarray of shape (n_rows,)
        As from `read_columns`.
    left_out : list of str
        Names of the other columns.

    Raises
    ------
    ValueError, ModuleNotFoundError
        As `read_columns`, of the columns that are given.
    """
    table, shown = _read(Path(path), None, beside)
    kept = {field.name for field in table.schema if _holds_numbers(field.type)}.union(beside)
    found = {name: _as_numpy(each, table.column(name), False) for name, each in shown.items() if name in kept}
    return found, [name for name in shown if name not in kept]


def check_one_role(shown: dict[str, str], option: str, name: str) -> None:
    """Note what messages call a column; raise if it has a role already."""
    if name in shown:
        raise ValueError(f"{option} {name!r} is given already, as {shown[name]}; a column has one role")
    shown[name] = f"{option} {name!r}"


def check_columns(where: str, names: list[str], wanted: Mapping[str, str]) -> None:
    """Raise unless each wanted column is there, once."""
    for name, shown in wanted.items():
        if name not in names:
            columns = ", ".join(map(repr, names[:20])) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
            hint = did_you_mean(name, names)
            raise ValueError(f"{shown}: {where} has no such column{hint}; its columns are {columns or 'none'}")
        if names.count(name) > 1:
            raise ValueError(f"{shown}: {where} has {names.count(name)} columns of this name")


def first_text(values: Iterable[Any]) -> int:
    """Give the row of the first value that is no number; 0 where each could be one."""
    return next((row for row, value in enumerate(values) if not _is_number(value)), 0)


# Formats ----------------------------------------------------------------------------------------------------------


class _Source(NamedTuple):
    """A file's column names, and what reads some of them as a table."""

    names: list[str]
    read: Callable[[list[str]], Any]


class _Format(NamedTuple):
    """What a suffix means: a name for messages, and how to open a file."""

    title: str
    open: Callable[[Path], _Source]


def _open_csv(path: Path) -> _Source:
    from pyarrow import ArrowInvalid, Table, compute, csv, string

    tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
    parse = csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as reader:
        names = list(reader.schema.names)

    def read(columns: list[str]) -> Any:
        options = csv.ConvertOptions(include_columns=columns)
        try:
            table = csv.read_csv(path, parse_options=parse, convert_options=options)
        except ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
            # Types are guessed from the first rows, and a later one does not fit: read text, then try types on all.
            options.column_types = dict.fromkeys(columns, string())
            table = csv.read_csv(path, parse_options=parse, convert_options=options)
            typed = [_typed(column, options.null_values) for column in table.columns]
            table = Table.from_arrays(typed, names=table.column_names)
        rounded = [name for name in columns if _may_be_rounded(table[name])]
        if rounded:
            options = csv.ConvertOptions(include_columns=rounded, column_types=dict.fromkeys(rounded, string()))
            text = csv.read_csv(path, parse_options=parse, convert_options=options)
            for name in rounded:
                exact = _typed(text[name], options.null_values)
                _check_not_rounded(name, text[name], exact)
                table = table.set_column(table.column_names.index(name), name, exact)
        empty_is_null = [
            compute.if_else(compute.equal(column, ""), None, column) if column.type == string() else column
            for column in table.columns
        ]
        return Table.from_arrays(empty_is_null, names=table.column_names)

    return _Source(names, read)


def _typed(column: Any, nulls: list[str]) -> Any:
    """Give a column of text as integers or floats if all its values are such, else as it is."""
    import pyarrow as pa
    from pyarrow import compute

    missing = compute.is_in(column, value_set=pa.array(nulls))
    for dtype in (pa.int64(), pa.uint64(), pa.float64()):
        try:
            return compute.if_else(missing, None, column).cast(dtype)
        except pa.ArrowInvalid:
            continue
    return column


def _may_be_rounded(column: Any) -> bool:
    """Tell whether a column became floats so large that integers among its values may have been rounded."""
    from pyarrow import compute, types

    if not types.is_floating(column.type):
        return False
    largest = compute.max(compute.abs(column)).as_py()
    return largest is not None and largest >= EXACT


def _check_not_rounded(name: str, text: Any, column: Any) -> None:
    """Raise if an integer among floats is not the float it has become."""
    from pyarrow import types

    if types.is_floating(column.type):
        for value in text.to_pylist():
            if value is not None and value.strip().lstrip("+-").isdigit() and float(value) != int(value):
                raise ValueError(f"column {name!r} holds {value}, which a float rounds, beside other than integers")


def _open_parquet(path: Path) -> _Source:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    return _Source(list(file.schema_arrow.names), lambda columns: file.read(columns=columns))


def _open_arrow(path: Path) -> _Source:
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(str(path)) as file:
        reader = ipc.open_file if file.read(6) == b"ARROW1" else ipc.open_stream
        file.seek(0)
        names = list(reader(file).schema.names)

    def read(columns: list[str]) -> Any:
        options = ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns])
        with pa.OSFile(str(path)) as file:
            return reader(file, options=options).read_all()

    return _Source(names, read)


_CSV, _PARQUET, _ARROW = _Format("CSV", _open_csv), _Format("Parquet", _open_parquet), _Format("Arrow", _open_arrow)

EXACT = 2**53  # up to here every integer is a float64

SUFFIXES: dict[str, _Format] = {
    ".csv": _CSV,
    ".csv.gz": _CSV,
    ".tsv": _CSV,
    ".tsv.gz": _CSV,
    ".parquet": _PARQUET,
    ".pq": _PARQUET,
    ".arrow": _ARROW,
    ".arrows": _ARROW,
    ".feather": _ARROW,
    ".ipc": _ARROW,
}


# Reading ----------------------------------------------------------------------------------------------------------


def _read(path: Path, wanted: Names | None, among_all: Names | None = None) -> tuple[Any, Names]:
    """Read columns as a table, or all with None, `among_all` with what messages call them; give what they call each."""
    open_format = _format_of(path)
    _import_pyarrow()
    _check_file(path)
    with _damage_reported(path):
        source = open_format.open(path)
    if wanted is None:
        wanted = {name: f"column {name!r}" for name in source.names} | dict(among_all or {})
    check_columns(f"{str(path)!r}", source.names, wanted)
    with _damage_reported(path):
        table = source.read(list(wanted))
        table.validate(full=True)  # formats without checksums let broken offsets and text that is not UTF-8 pass
    if not table.num_rows:
        raise ValueError(f"{str(path)!r} has no rows")
    return table, wanted


# Errors -----------------------------------------------------------------------------------------------------------


def _format_of(path: Path) -> _Format:
    for suffix, found in SUFFIXES.items():
        if path.name.lower().endswith(suffix):
            return found
    raise ValueError(f"{str(path)!r} is of no known format: its name must end with {', '.join(SUFFIXES)}")


def _check_file(path: Path) -> None:
    if not path.exists():
        raise ValueError(f"{str(path)!r}: no such file")
    if not path.is_file():
        raise ValueError(f"{str(path)!r} is {'a directory' if path.is_dir() else 'no regular file'}; give one file")
    if not path.stat().st_size:
        raise ValueError(f"{str(path)!r} is empty")


def _import_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ModuleNotFoundError("reading a file needs pyarrow: pip install 'fastevals[files]'") from None


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Say which format a file that can't be read was taken for."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        if isinstance(error, PermissionError):
            raise PermissionError(error.errno, "no permission to read it", str(path)) from error
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= 200 else reason[:200] + "..."
        raise ValueError(f"{str(path)!r} can't be read as {_format_of(path).title}: {reason}") from error


# Values -----------------------------------------------------------------------------------------------------------


def _as_numpy(shown: str, column: Any, numeric: bool) -> NDArray[Any]:
    """Give a column without missing values as numbers, booleans or strings."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    dtype, missing = column.type, column.is_null().to_numpy()
    if count := int(np.count_nonzero(missing)):
        raise ValueError(f"{shown} has {count} missing value{'s' * (count > 1)}, the first at row {missing.argmax()}")
    if types.is_decimal(dtype):
        column = column.cast(pa.float64())
    elif not _holds_numbers(dtype):
        if numeric:
            value = column[first_text(column.to_pylist())].as_py()
            raise ValueError(f"{shown} must hold numbers, but has type {dtype} (with the value {value!r})")
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            raise ValueError(f"{shown} must hold numbers, booleans or strings, but has type {dtype}") from None
    return np.asarray(column.to_numpy())


def _holds_numbers(dtype: Any) -> bool:
    from pyarrow import types

    dtype = dtype.value_type if types.is_dictionary(dtype) else dtype
    return any(is_one(dtype) for is_one in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal))


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True
