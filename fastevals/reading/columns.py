"""Named columns as NumPy arrays: read from files (by pyarrow), frames and mappings; rows that share a value of one."""

from __future__ import annotations

import contextlib
import glob
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import OnInvalid
from fastevals._execution import progress_bar
from fastevals._limits import available_memory, free_bytes
from fastevals._naming import option
from fastevals._options import as_bytes, as_flag, check_choice, check_name, did_you_mean, import_optional, row_at, show
from fastevals._text import printable
from fastevals._validation.arrays import (
    as_array,
    as_scores,
    check_one_weight,
    check_same_length,
    first_text,
    holds_numbers,
    named_columns,
    raise_not_finite,
    refuse_engines,
)
from fastevals._validation.labels import as_groups, as_labels, check_several_groups
from fastevals._validation.text import encode_column, encode_text, unique_inverse
from fastevals.counting.labels import code_labels
from fastevals.reading.csv import CsvFile
from fastevals.reading.files import arrow_batches, column_named, open_parquet
from fastevals.reading.form import SUMMARY, CsvForm
from fastevals.reading.pieces import MISSING
from fastevals.reading.values import hint_on_number, name_values, nearest_floats, numbers_of

Names = Mapping[str, str]  # of columns, with what messages call each

ROWS_PER_READ = 1 << 17  # rows of a Parquet file that are read at once
COLUMNS_SHARE = 1 / 3  # of the free memory, that a file's columns may take: arrays and what is sorted take as much
MOST_UNPACKED, MOST_TIMES = 1 << 30, 100  # bytes of columns of a .gz file, and how much more than its own: 20 is a lot


class NamedColumns(dict[str, NDArray[Any]]):
    """A file's columns by name, and what messages call a row: the file's line, where it has lines.

    Those `as_written` are text of a CSV file, which may stand for numbers.
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        line: Callable[[int], str] = "row {}".format,
        as_written: Collection[str] = (),
    ) -> None:
        super().__init__(columns)
        self.line = line
        self.as_written = frozenset(as_written)

    def encode_values(self, shown: str, name: str) -> tuple[list[Any], NDArray[np.intp]]:
        """Return a column's values, ascending, and the place of each row's among them."""
        return encode_values(shown, self[name], as_written=name in self.as_written)

    def encode_groups(self, shown: str, name: str) -> NDArray[np.intp]:
        """Return the groups of rows as numbers; there must be several."""
        return encode_groups(shown, self[name], as_written=name in self.as_written)


def read_data(
    data: Any,
    wanted: Names | None,
    *,
    numeric: Collection[str] = (),
    names: Collection[str] = (),
    beside: Names = MappingProxyType({}),
    form: CsvForm = CsvForm(),  # noqa: B008 (which nothing changes)
    hint: str = "",
) -> NamedColumns:
    """Return some columns of a file, or of a frame or mapping of names to array-likes; arguments as `read_columns`.

    Raise as `read_columns` does; also if columns are of different lengths.
    """
    if isinstance(data, (str, os.PathLike)):
        return read_columns(
            os.fsdecode(data), wanted, numeric=numeric, names=names, beside=beside, form=form, hint=hint
        )
    refuse_engines("data", data)  # Spark's frames are streams of Arrow, too
    if hasattr(data, "__arrow_c_stream__") and not gives_columns(data):
        table = import_optional("pyarrow", MISSING).table(data)
        data = {name: _as_plain_numbers(table[name]) for name in table.column_names}
    table = named_columns("data", data)
    if table is None:
        raise ValueError(f"data must be a path, a frame or a mapping of names to columns, got {show(data)}")
    if options := form.options():
        raise ValueError(f"{options[0]} goes with a CSV file, but data is a {type(data).__name__}")
    columns = {str(name): values for name, values in table.items()}
    if wanted is None and not columns:
        raise ValueError(f"data must have columns, got {show(data)}")
    called = {**({name: f"column {name!r}" for name in columns} if wanted is None else wanted), **beside}
    check_columns("data", list(map(str, table)), called)
    arrays = {
        name: (as_scores if name in numeric else _as_labels)(shown, columns[name]) for name, shown in called.items()
    }
    check_same_length(**{called[name]: array for name, array in arrays.items()})
    return NamedColumns(arrays)


def _as_plain_numbers(column: Any) -> Any:
    from pyarrow import types

    return nearest_floats(column) if types.is_decimal(column.type) else column


def gives_columns(data: Any) -> bool:
    """Return whether data gives columns by name, which other streams of Arrow, such as a query of DuckDB, don't."""
    return type(data).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow")


def _as_labels(shown: str, values: Any) -> NDArray[Any]:
    """Return a column that need not hold numbers; days and times are text, as those of a file."""
    coded = encode_column(shown, values)
    array = as_array(shown, values) if coded is None else coded
    if array.dtype.kind != "M":
        return as_labels(shown, array)
    missing = np.flatnonzero(np.isnat(array))
    if missing.size:
        count = f"{missing.size} missing value{'s' * (missing.size > 1)}"
        raise ValueError(f"{shown} has {count}, the first at {row_at(int(missing[0]))}")
    return as_labels(shown, np.char.replace(np.datetime_as_string(array), "T", " "))


def data_name(data: Any) -> str:
    """Return what texts call where columns are from: a path, or what kind of object."""
    return os.fsdecode(data) if isinstance(data, (str, os.PathLike)) else type(data).__name__


def read_columns(
    path: str | Path,
    wanted: Names | None,
    *,
    numeric: Collection[str] = (),
    names: Collection[str] | None = (),
    beside: Names = MappingProxyType({}),
    form: CsvForm = CsvForm(),  # noqa: B008 (which nothing changes)
    hint: str = "",
) -> NamedColumns:
    """Read some columns of a file.

    Parameters
    ----------
    path : str or Path
        A CSV, Parquet or Arrow file; its name's end says which.
    wanted : mapping of str to str, or None
        Names of the columns, and what messages call each (``--label 'y'``); None for all.
    numeric : collection of str
        Those of `wanted` that must hold numbers.
    names : collection of str, or None
        Those that name groups or classes: of a CSV file they are text as it is written. None for all but `numeric`.
    beside : mapping of str to str
        Of all columns, those that messages call otherwise.
    form : CsvForm
        What is known of a CSV file.
    hint : str
        The end of a message on missing values.

    Returns
    -------
    NamedColumns
        Arrays of shape (n_rows,): numbers and booleans as such, strings as an object array of str. No value is missing,
        but floats may be NaN.

    Raises
    ------
    ValueError
        If the file is none of these, is damaged, takes too much memory or has no rows, or a column is not there, not
        unique, of another type or has missing values; or if it is not certain how a CSV file is to be read.
    ImportError
        Without pyarrow.
    """
    columns, called, source = _read(Path(path), form, wanted, beside, names, numeric)
    # Each is let go for its array: not all are held twice.
    arrays = {
        name: columns.pop(name).as_numpy(shown, name in numeric, source, coded=name in source.as_written, hint=hint)
        for name, shown in called.items()
    }
    return NamedColumns(arrays, source.line, source.as_written)


def read_numbers(path: str | Path, beside: Names, form: CsvForm) -> tuple[NamedColumns, list[str]]:
    """Read a file's columns of numbers, and those `beside` whatever they hold; arguments and errors as `read_columns`.

    Return the columns, and the names of those that are left out.
    """
    columns, called, source = _read(Path(path), form, None, beside)
    kept = {name for name, column in columns.items() if column.holds_numbers}.union(beside)
    arrays = {name: columns.pop(name).as_numpy(shown, False, source) for name, shown in called.items() if name in kept}
    return NamedColumns(arrays, source.line), [name for name in called if name not in kept]


def column_name(role: str, name: Any) -> str | None:
    """Return the name of a column that an option gives: text, or the number that a frame has for a name; or None."""
    return None if name is None else _named(role, name)


def column_names(role: str, names: Any) -> tuple[str, ...]:
    """Return the names of columns that an option gives: one, a sequence, or None."""
    if names is None:
        return ()
    if isinstance(names, (str, bytes, set, frozenset)) or not isinstance(names, Iterable):
        names = [names]  # a set has no order
    return tuple(_named(role, name) for name in names)


def _named(role: str, name: Any) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return str(int(name))
    if isinstance(name, tuple):  # of a frame with several levels of names
        return str(name)
    raise ValueError(f"{option(role)} must be the name of a column, got {show(name)}")


def columns_by_role(roles: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Return what messages call each column: option and name, in the order given; raise if a column has two roles.

    `roles` are pairs of an option, as messages call it, and the name of a column, or None.
    """
    called: dict[str, str] = {}
    for role, name in roles:
        if name in called:
            raise ValueError(f"{role} {name!r} is given already, as {called[name]}; a column has one role")
        if name is not None:
            called[name] = f"{role} {name!r}"
    return called


ROLES = {"scores": ("label", "score"), "labels": ("label", "pred"), "targets": ("target", "pred")}  # truth, models


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which column is what."""

    truth: str  # the true class or number
    models: tuple[str, ...]  # a column of scores or predictions each
    weight: str | None = None  # of rows, or numbers of their copies
    by: str | None = None  # its values make the blocks
    groups: str | None = None  # a bootstrap draws rows that share its value together
    are_copies: bool = False  # whether weights are numbers of copies of rows
    kind: str = "scores"  # of models: "scores", "labels" or "targets"

    @classmethod
    def checked(
        cls, truth: str, models: Sequence[str], sample_weight: str | None, frequency_weight: str | None, **others: Any
    ) -> ColumnRoles:
        """Return the columns; raise where rows have both weights and numbers of copies."""
        check_one_weight(sample_weight, frequency_weight, names=(option("sample_weight"), option("frequency_weight")))
        column = sample_weight if frequency_weight is None else frequency_weight
        return cls(truth, tuple(models), column, are_copies=frequency_weight is not None, **others)

    @property
    def weights(self) -> dict[str, str | None]:
        """The column of weights by its role; None for the other."""
        name = self.weight
        return {
            "sample_weight": None if self.are_copies else name,
            "frequency_weight": name if self.are_copies else None,
        }

    def message_names(self) -> dict[str, str]:
        """Return each column as messages call it, by option and name; raise if one has two roles."""
        truth, model = ROLES[self.kind]
        others = [*self.weights.items(), ("by", self.by), ("groups", self.groups)]
        roles = [(truth, self.truth), *((model, name) for name in self.models), *others]
        return columns_by_role((option(role), name) for role, name in roles)

    @property
    def lacking(self) -> dict[str, str]:
        """What rows lack that have no value in a column, in words."""
        what = "a finite score" if self.kind == "scores" else "a prediction"
        found = {self.truth: "a label"} if self.kind == "scores" else {}
        found |= {name: f"{what} of {printable(name)}" for name in self.models}
        return found if self.weight is None else found | {self.weight: "a finite weight"}

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns of names: of classes, and of groups of rows."""
        classes = (self.truth, *self.models) if self.kind == "labels" else ()
        return tuple(name for name in (*classes, self.by, self.groups) if name is not None)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        numbers = {"scores": self.models, "labels": (), "targets": (self.truth, *self.models)}[self.kind]
        return numbers if self.weight is None else (*numbers, self.weight)


def check_columns(data: str, names: list[str], wanted: Names, hint: str = "") -> None:
    """Raise unless each wanted column is there, once; `hint` is the end of the message."""
    count = Counter(names)
    for name, shown in wanted.items():
        if not count[name]:
            columns = ", ".join(map(repr, names[:20])) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
            near = did_you_mean(name, names)
            raise ValueError(f"{shown}: {data} has no such column{near}; its columns are {columns or 'none'}{hint}")
        if count[name] > 1:
            raise ValueError(f"{shown}: {data} has {count[name]} columns of this name")


# Rows that share a value: the blocks of --by, the groups of --group; the class of --pos-label ------------------------


def encode_values(shown: str, column: NDArray[Any], *, as_written: bool = False) -> tuple[list[Any], NDArray[np.intp]]:
    """Return a column's values, ascending, and the place of each row's among them.

    Text of a CSV file, `as_written`, is numbers where each is written as its number is shown.
    """
    if as_written:
        names, codes = unique_inverse(as_groups(shown, column))
        named = name_values(shown, names.tolist())
        order = sorted(range(len(named)), key=named.__getitem__)
        return [named[k] for k in order], np.argsort(order)[codes]
    if column.dtype.kind in "ib":
        labels, (codes,) = code_labels([column])
        return labels.astype(column.dtype).tolist(), codes
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise_not_finite(shown, column)
    values, codes = unique_inverse(encode_text(shown, column) if column.dtype.kind == "O" else column)
    return values.tolist(), codes


def encode_groups(shown: str, column: NDArray[Any], *, as_written: bool = False) -> NDArray[np.intp]:
    """Return the groups of rows as numbers; there must be several."""
    named = encode_values(shown, column, as_written=True) if as_written else unique_inverse(as_groups(shown, column))
    check_several_groups(shown, np.asarray(named[0]))
    return named[1]


def parse_label(text: str | None, labels: Sequence[Any]) -> Any:
    """Return the label that an option's text means, one of `labels` if it can; otherwise the text as their type."""
    if text is None:
        return None
    parsed = [_as_label(text, label) for label in labels]
    match = next((value for value, label in zip(parsed, labels, strict=True) if value == label), parsed[0])
    return text if match is None else match


def _as_label(text: str, like: Any) -> Any:
    """Return an option's text as a label of the type of another: numbers by value, booleans also as true and false."""
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


# Formats ----------------------------------------------------------------------------------------------------------


class _Source(Protocol):
    """An open file."""

    names: list[str]  # of its columns
    as_written: frozenset[str]  # columns that are text as it is written
    decimal: str  # point or comma
    n_rows: int | None  # where the file says it
    hint: str  # the end of a message on a column that is not there

    def read(self, columns: list[str], watch: Callable[[int], None]) -> Iterable[Any]:
        """Read some columns in batches; `watch` is called with how many bytes of the file have been read so far."""

    def line(self, row: int) -> str:
        """Return what messages call a row."""


class _Batches:
    """A Parquet or Arrow file, read in batches, which may be far larger than they are in the file."""

    hint = ""
    as_written: frozenset[str] = frozenset()
    decimal = "."

    def __init__(
        self,
        names: list[str],
        n_rows: int | None,
        size: int,
        batches: Callable[[list[str]], Iterator[tuple[float, Any]]],
    ) -> None:
        self.names = names
        self.n_rows = n_rows
        self.size = size
        self.batches = batches  # a function of columns: their batches, each with the share of the file read by then

    def read(self, columns: list[str], watch: Callable[[int], None]) -> Iterator[Any]:
        """Read some columns in batches."""
        for share, batch in self.batches(columns):
            yield batch
            watch(int(share * self.size))

    def line(self, row: int) -> str:
        """Return what messages call a row."""
        return f"row {row}"


def _open_parquet(path: Path, *_: Any) -> _Batches:
    file = open_parquet(path)

    def batches(columns: list[str]) -> Iterator[tuple[float, Any]]:
        rows = 0
        with column_named(file, columns, range(file.num_row_groups)):
            for batch in file.iter_batches(ROWS_PER_READ, columns=columns):
                rows += batch.num_rows
                yield rows / file.metadata.num_rows, batch

    return _Batches(list(file.schema_arrow.names), file.metadata.num_rows, path.stat().st_size, batches)


def _open_arrow(path: Path, *_: Any) -> _Batches:
    import pyarrow as pa
    from pyarrow import ipc

    size = path.stat().st_size
    with pa.OSFile(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"  # else a stream of batches
        file.seek(0)
        names = list((ipc.open_file if is_file else ipc.open_stream)(file).schema.names)

    def batches(columns: list[str]) -> Iterator[tuple[float, Any]]:
        with pa.OSFile(str(path)) as file:
            if is_file:
                yield from arrow_batches(file, names, columns)
                return
            options = ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns])
            for batch in ipc.open_stream(file, options=options):
                yield file.tell() / size, batch

    return _Batches(names, None, size, batches)


class _Format(NamedTuple):
    """What a suffix means: a name for messages, and how to open a file."""

    title: str
    open: Callable[[Path, CsvForm, set[str] | None, Collection[str]], _Source]


_CSV, _PARQUET, _ARROW = _Format("CSV", CsvFile), _Format("Parquet", _open_parquet), _Format("Arrow", _open_arrow)

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


# Whether files are read as a whole ---------------------------------------------------------------------------------

STDIN = "-"


def is_path(data: Any) -> bool:
    """Return whether data is a path."""
    return isinstance(data, (str, os.PathLike))


def are_summaries(data: Any) -> bool:
    """Return whether data was counted by `fastevals summarize`: one file or several, or what is read from them."""
    paths = [data] if is_path(data) else data
    if not isinstance(paths, (list, tuple)):
        return type(data).__name__ == "ScoresSummary"
    return bool(paths) and all(is_path(path) and os.fsdecode(path).endswith(SUMMARY) for path in paths)


class Reading(NamedTuple):
    """How files are read: options, checked."""

    memory: int | None  # bytes that rows may take; None where nobody knows what is free
    approximate: bool
    on_invalid: OnInvalid

    @classmethod
    def checked(cls, memory: Any, approximate: Any, on_invalid: Any) -> Reading:
        """Return the arguments of a call, checked."""
        check_choice(option("on_invalid"), on_invalid, OnInvalid)
        most = free_bytes(IN_MEMORY) if memory is None else as_bytes(option("memory"), memory)
        return cls(most, as_flag(option("approximate"), approximate), on_invalid)

    def fits(self, files: Any, n_models: int) -> bool:
        """Return whether rows are to be read into memory."""
        packed = sum(piece.n_bytes for piece in files.pieces if ".gz" in piece.name.lower())
        return files.can_repeat and self._fits(files.n_rows, files.n_bytes + PACKED * packed, n_models)

    def takes_whole(self, data: Any, n_models: int) -> bool:
        """Return whether data is one file that is to be read as a whole, or none, and the error is raised there."""
        if not is_path(data):
            return False
        path = os.fsdecode(data)
        if not os.path.isfile(path):
            return not (path == STDIN or os.path.isdir(path) or glob.has_magic(path) or "://" in path)
        n_rows, n_bytes = None, os.path.getsize(path)
        if not n_bytes or not path.lower().endswith(tuple(SUFFIXES)):
            return True
        if self.on_invalid != "raise":
            return False
        if path.lower().endswith((".parquet", ".pq")):
            with contextlib.suppress(Exception):
                from pyarrow import parquet

                n_rows = parquet.read_metadata(path).num_rows
        return self._fits(n_rows, n_bytes * (1 + PACKED * path.lower().endswith(".gz")), n_models)

    def _fits(self, n_rows: int | None, n_bytes: int, n_models: int) -> bool:
        needed = TEXT * n_bytes if n_rows is None else n_rows * (ROW + MODEL * n_models)
        return not self.approximate and (self.memory is None or needed <= self.memory)


IN_MEMORY = 1 / 2  # of what is free
ROW, MODEL = 32, 20  # bytes of a row, and of each of its scores, that a report in memory takes
TEXT, PACKED = 2, 10  # bytes of rows for each byte of a CSV file, and of that for each of a .gz file


# Reading ----------------------------------------------------------------------------------------------------------


def _read(
    path: Path,
    form: CsvForm,
    wanted: Names | None,
    beside: Names,
    names: Collection[str] | None = (),
    numeric: Collection[str] = (),
) -> tuple[dict[str, _Column], Names, _Source]:
    """Read columns, or all with None; return also what messages call each, and the open file."""
    file_format = _file_format(path)
    if file_format is not _CSV and (options := form.options()):
        raise ValueError(f"{options[0]} goes with a CSV file, but {str(path)!r} is {file_format.title}")
    import_optional("pyarrow", MISSING)
    check_file(path)
    check_name(str(path))
    with _explain_damage(path):
        known = {**(wanted or {}), **beside}
        source = file_format.open(path, form, set(known) or None, names or ())
    if names is None and file_format is _CSV:
        source.as_written = frozenset(source.names).difference(numeric)
    if wanted is None:
        wanted = {name: f"column {name!r}" for name in source.names}
    wanted = {**wanted, **beside}
    check_columns(repr(str(path)), source.names, wanted, source.hint)
    columns = {name: _Column(source.n_rows) for name in wanted}
    with _explain_damage(path), _watch_memory(path, columns) as watch:
        for batch in source.read(list(wanted), watch):
            batch.validate(full=True)  # formats without checksums let broken offsets and text that is not UTF-8 pass
            for name, column in columns.items():
                column.append(batch.column(name))
        watch(path.stat().st_size)
        for column in columns.values():
            if source.n_rows not in (None, column.n_rows):
                raise EOFError(f"it holds {column.n_rows} rows, but says that it holds {source.n_rows}")
    if not any(column.n_rows for column in columns.values()):
        raise ValueError(f"{str(path)!r} has no rows")
    return columns, wanted, source


@contextmanager
def _watch_memory(path: Path, columns: Mapping[str, _Column]) -> Iterator[Callable[[int], None]]:
    """Yield a function of the bytes read so far: it shows a bar, and raises where the columns take too much memory.

    A small file may hold columns that are a thousand times as large. Arrow's count of all memory says how large they
    are while it holds them; their own size does where memory of other arrays was given back meanwhile.
    """
    import pyarrow as pa

    size, before, available = path.stat().st_size, pa.total_allocated_bytes(), available_memory()
    most = math.inf if available is None else available * COLUMNS_SHARE
    if path.name.lower().endswith(".gz"):
        most = min(most, max(MOST_UNPACKED, MOST_TIMES * size))
    with progress_bar(size, False, desc=f"reading {printable(path.name)}", unit="B", unit_scale=True) as show:

        def watch(position: int) -> None:
            show(position)
            held = max(pa.total_allocated_bytes() - before, sum(column.n_bytes for column in columns.values()))
            if held > most:
                raise ValueError(
                    f"{str(path)!r} is too large: {_megabytes(position)} of its {_megabytes(size)} hold "
                    f"{_megabytes(held)} of columns, and at most {_megabytes(most)} are read, a third of the memory "
                    f"that is free, or {MOST_TIMES} times the size of a .gz file: unpack it if it is to be so large"
                )

        yield watch


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


# Errors -----------------------------------------------------------------------------------------------------------


def _file_format(path: Path) -> _Format:
    for suffix, file_format in SUFFIXES.items():
        if path.name.lower().endswith(suffix):
            return file_format
    raise ValueError(
        f"{str(path)!r} is of no known format: its name must end with {', '.join(SUFFIXES)}; "
        "CSV of any name can be piped: fastevals report - < FILE"
    )


def check_file(path: Path) -> None:
    """Raise unless a path is that of a regular file that is not empty."""
    if not path.exists():
        raise ValueError(f"{str(path)!r}: no such file")
    if not path.is_file():
        raise ValueError(f"{str(path)!r} is {'a directory' if path.is_dir() else 'no regular file'}; give one file")
    if not path.stat().st_size:
        raise ValueError(f"{str(path)!r} is empty")


@contextmanager
def _explain_damage(path: Path) -> Iterator[None]:
    """Name the file's format in errors about what can't be read of it."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        if isinstance(error, MemoryError):  # Arrow's
            raise MemoryError(f"{str(path)!r} takes more memory than there is, or is damaged: {error}") from error
        if isinstance(error, PermissionError):
            raise PermissionError(error.errno, "no permission to read it", str(path)) from error
        reason = (
            f"it is not {error.encoding}" if isinstance(error, UnicodeDecodeError) else " ".join(str(error).split())
        )
        reason = reason if len(reason) <= 200 else reason[:200] + "..."
        raise ValueError(f"{str(path)!r} can't be read as {_file_format(path).title}: {reason}") from error


# Values -----------------------------------------------------------------------------------------------------------


class _Column:
    """A column as it is read: numbers go into one array, from the first value that can't on all stays with Arrow.

    Pieces that are joined at the end would take the memory of another column, and of all while Arrow has them.
    """

    def __init__(self, most_rows: int | None) -> None:
        self.most_rows = most_rows  # where they are known
        self.n_rows = 0
        self.n_bytes = 0
        self.numbers: NDArray[Any] | None = None
        self.pieces: list[Any] = []

    def append(self, piece: Any) -> None:
        """Add the values of a batch."""
        rows = slice(self.n_rows, self.n_rows + len(piece))
        if self.most_rows is None or self.pieces or piece.null_count or not _is_number(piece.type):
            self.pieces.append(piece)
        else:
            values = numbers_of(piece)
            if self.numbers is None:
                self.numbers = _allocate(self.most_rows, values.dtype)
            if rows.stop > self.most_rows:
                raise EOFError(f"it holds more than the {self.most_rows} rows that it says it holds")
            self.numbers[rows] = values
        self.n_rows = rows.stop
        self.n_bytes += piece.nbytes

    @property
    def holds_numbers(self) -> bool:
        """Return whether its type is one of numbers."""
        return self.numbers is not None or holds_numbers(self.pieces[0].type)

    def as_numpy(
        self, shown: str, numeric: bool, source: _Source, *, coded: bool = False, hint: str = ""
    ) -> NDArray[Any]:
        """Return numbers, booleans or strings, these if `coded` as `TextLabels`; raise if a value is missing."""
        if not self.pieces:
            assert self.numbers is not None
            return self.numbers[: self.n_rows]
        column = _as_plain(shown, self.pieces, self.n_rows, numeric, source, hint)
        return encode_column(shown, column) if coded else np.asarray(column.to_numpy())  # type: ignore[return-value]


def _as_plain(shown: str, pieces: list[Any], n_rows: int, numeric: bool, source: _Source, hint: str) -> Any:
    """Return the pieces of a column, the last of so many rows, as numbers, booleans or strings."""
    import pyarrow as pa
    from pyarrow import types

    column = pa.chunked_array(pieces)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    dtype, missing = column.type, column.is_null().to_numpy()
    if count := int(np.count_nonzero(missing)):
        line = source.line(n_rows - missing.size + int(missing.argmax()))
        raise ValueError(f"{shown} has {count} missing value{'s' * (count > 1)}, the first at {line}{hint}")
    if types.is_decimal(dtype):
        column = nearest_floats(column)
    elif not holds_numbers(dtype):
        if numeric:
            row = first_text(column.to_pylist(), source.decimal) or 0
            value, line = column[row].as_py(), source.line(row)
            hint = hint_on_number(value)
            raise ValueError(
                f"{shown} must hold numbers, but has type {dtype} (with the value {value!r} at {line}){hint}"
            )
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            raise ValueError(f"{shown} must hold numbers, booleans or strings, but has type {dtype}") from None
    return column


def _is_number(dtype: Any) -> bool:
    from pyarrow import types

    return any(is_kind(dtype) for is_kind in (types.is_integer, types.is_floating, types.is_boolean))


def _allocate(n_rows: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(n_rows, dtype=dtype)
    except (MemoryError, ValueError) as error:
        raise EOFError(f"it says that it holds {n_rows} rows, which no memory does") from error
