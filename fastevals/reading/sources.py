"""Sources: frames, named columns, tables and streams, divided into pieces of rows.

One thread reads one piece: a Parquet row group, an Arrow or CSV file in batches, or the rows of a frame. Data that can
be read only once, such as a stream of batches, have one piece. `files.py` opens files.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fastevals._choices import OnInvalid
from fastevals._limits import free_bytes
from fastevals._naming import option
from fastevals._options import as_bytes, as_flag, check_choice, did_you_mean, import_optional, listed, show
from fastevals._validation.arrays import as_vector, named_columns, refuse_engines

OWN_FRAMES = ("pandas", "polars")  # modules whose frames are read without pyarrow, not as Arrow streams
MISSING = "reading files needs pyarrow: pip install pyarrow"
ROWS_PER_BATCH = 1 << 18  # rows that are read at a time

CSV, PARQUET, ARROW = "CSV", "Parquet", "Arrow"  # formats, by their names in messages
LONGEST_REASON = 200  # characters kept of another library's error message
NAMES_SHOWN = 20  # columns listed in the error about a missing column

Watch = Callable[[int], None]  # called with the number of bytes of a piece read so far
UNNAMED = "data from Python"  # the name of an object, such as a frame, in output


class Piece(NamedTuple):
    """Rows that one thread reads."""

    name: str  # in messages
    n_rows: int | None  # None if not known beforehand
    n_bytes: int
    read: Callable[[list[str]], Iterator[Any]]  # takes column names, returns batches
    place: Callable[[int], str] = "row {}".format  # the name of a row in messages
    decimal: str = "."  # decimal separator in text
    span: Callable[[str], tuple[float, float] | None] = lambda name: None  # lowest and highest value of a column
    load: Callable[[list[str], Watch], Iterable[Any]] | None = None  # like `read`, but faster if all rows fit in memory
    note: Callable[[int], object] = lambda n_rows: None  # called with the number of rows, once all are read


class ArrayBatch(NamedTuple):
    """Some rows of columns that are not in Arrow's format: arrays, lists, columns of frames."""

    columns: dict[str, Any]
    num_rows: int

    def column(self, k: int) -> Any:
        """Return a column by its index."""
        return list(self.columns.values())[k]


class ReadFiles(NamedTuple):
    """How many files were read, and which of them have no rows."""

    n_files: int
    without_rows: tuple[str, ...] = ()


@dataclass
class Source:
    """Rows in pieces.

    Attributes
    ----------
    title : str
        Name of the data in messages.
    names : list of str
        Names of the columns.
    pieces : list of Piece
    can_repeat : bool
        Whether the pieces can be read again.
    """

    title: str
    names: list[str]
    pieces: list[Piece]
    can_repeat: bool = True
    hint: str = ""  # the end of a message about a missing column
    format: str = ""  # format of the files
    as_written: frozenset[str] = frozenset()  # columns that hold a CSV file's text unchanged
    in_memory: bool = False
    is_one: bool = False  # one file or object: its rows are numbered across all pieces
    called: str = ""  # name of the data in output, if it is not the title
    rows_of_files: dict[str, int] = field(default_factory=dict)  # numbers of rows, as far as they are known
    _states: dict[str, Any] = field(default_factory=dict)  # size and modification time of each file
    _filesystem: Any = None

    @property
    def name(self) -> str:
        """Name of the data in output: its name in messages, without quotes."""
        return self.called or (self.title.replace("'", "") if self.title[:1] == "'" else self.title)

    @property
    def is_csv(self) -> bool:
        """Whether the data are CSV, whose columns have no types."""
        return self.format == CSV

    @property
    def is_remote(self) -> bool:
        """Whether its files are on another machine."""
        return type(self._filesystem).__name__ not in ("NoneType", "LocalFileSystem")

    @property
    def n_rows(self) -> int | None:
        """Total number of rows, if known."""
        rows = [piece.n_rows for piece in self.pieces]
        return None if None in rows else sum(map(int, rows))  # type: ignore[arg-type]

    @property
    def n_bytes(self) -> int:
        """Total size in bytes, as stored; 0 for a stream."""
        return sum(piece.n_bytes for piece in self.pieces)

    @property
    def n_packed(self) -> int:
        """Total size of the .gz files in bytes."""
        return sum(piece.n_bytes for piece in self.pieces if ".gz" in piece.name.lower())

    @property
    def files(self) -> ReadFiles | None:
        """The number of files, and those without rows, after all rows are read; None if the data are not files."""
        without_rows = tuple(path for path in self._states if self.rows_of_files.get(path) == 0)
        return ReadFiles(len(self._states), without_rows) if self._states else None

    @property
    def identity(self) -> list[Any]:
        """The files, with their sizes and modification times."""
        return [[path, *(state or ())] for path, state in sorted(self._states.items())]

    def check_columns(self, wanted: Mapping[str, str]) -> None:
        """Raise unless each wanted column exists exactly once; `wanted` maps columns to their names in messages."""
        check_columns(self.title, self.names, wanted, self.hint)

    def check_unchanged(self) -> None:
        """Raise if a file has changed since it was opened."""
        for path, state in self._states.items():
            now = state_of(self._filesystem, path)
            if now != state:
                what = "is gone" if now is None else "has changed"
                raise ValueError(f"{path!r} {what} since it was first read: its rows can't be counted again")


def state_of(filesystem: Any, path: str) -> Any:
    """Return a file's size and modification time, or None if it is gone; without `filesystem`, the file is local."""
    if filesystem is None:
        if not os.path.isfile(path):
            return None
        found = os.stat(path)
        return found.st_size, found.st_mtime_ns
    info = filesystem.get_file_info(path)
    return (info.size, info.mtime_ns) if info.is_file else None


def is_path(data: Any) -> bool:
    """Return whether data is a path."""
    return isinstance(data, (str, os.PathLike))


def data_name(data: Any) -> str:
    """Return a name for data that has not been opened: its path, or its type."""
    return os.fsdecode(data) if is_path(data) else type(data).__name__


# Reading --------------------------------------------------------------------------------------------------------------


def read_piece(
    piece: Piece, columns: list[str], form: str = "", *, name: str = "", watch: Watch | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield a piece's batches, each with the number of its first row; name the piece in errors.

    If `watch` is given, it is called with the bytes read so far, and all rows may be loaded into memory. `name`
    replaces the piece's name in errors.
    """
    start, n_bytes, shown = 0, 0, name or piece.name
    with explained(shown, form):
        is_loaded = watch is not None and piece.load is not None
        batches = iter(piece.load(columns, watch) if is_loaded else piece.read(columns))  # type: ignore[misc, arg-type]
    while True:
        with explained(shown, form):
            batch = next(batches, None)
            if batch is not None and not isinstance(batch, ArrayBatch):
                batch.validate(full=True)  # formats without checksums let broken offsets and invalid text pass
                n_bytes += batch.nbytes
            if batch is None and piece.n_rows not in (None, start):
                raise EOFError(f"it holds {start} rows, but says that it holds {piece.n_rows}")
        if batch is None:
            break
        yield start, batch
        start += batch.num_rows
        if watch is not None and not is_loaded:
            watch(min(n_bytes, piece.n_bytes) if not piece.n_rows else piece.n_bytes * start // piece.n_rows)
    piece.note(start)
    if watch is not None:
        watch(piece.n_bytes)


@contextmanager
def explained(shown: str, form: str = "") -> Iterator[None]:
    """Add a file's name and format to errors raised while reading it."""
    try:
        yield
    except Exception as error:
        is_damage = isinstance(error, (OSError, EOFError, UnicodeDecodeError))
        if not (is_damage or type(error).__module__.startswith("pyarrow")):
            raise
        if isinstance(error, MemoryError):  # from Arrow
            raise MemoryError(f"{shown} takes more memory than there is, or is damaged: {error}") from error
        if isinstance(error, PermissionError):
            raise PermissionError(error.errno, "no permission to read it", shown.strip("'")) from error
        is_decoding = isinstance(error, UnicodeDecodeError)
        reason = f"it is not {error.encoding}" if is_decoding else " ".join(str(error).split())  # type: ignore[attr-defined]
        reason = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}..."
        raise ValueError(f"{shown} can't be read{form and f' as {form}'}: {reason}") from error


def check_columns(title: str, names: list[str], wanted: Mapping[str, str], hint: str = "") -> None:
    """Raise unless each wanted column is among the names exactly once; `hint` ends the message."""
    for name, shown in wanted.items():
        count = names.count(name)
        if not count:
            near, columns = did_you_mean(name, names), listed(names, NAMES_SHOWN) or "none"
            raise ValueError(f"{shown}: {title} has no such column{near}; its columns are {columns}{hint}")
        if count > 1:
            raise ValueError(f"{shown}: {title} has {count} columns of this name")


# Objects --------------------------------------------------------------------------------------------------------------


def open_object(data: Any, name: str = "data") -> Source:
    """Open named columns: a frame, a mapping, a pyarrow table or an Arrow stream; raise for anything else."""
    refuse_engines(name, data)
    module = type(data).__module__.partition(".")[0]
    if module == "pyarrow" and hasattr(data, "num_rows"):
        batches = data.to_batches() if hasattr(data, "to_batches") else [data]
        pieces = [_batch_piece(k, batch) for k, batch in enumerate(batches)]
        return Source("the table", list(data.schema.names), pieces, in_memory=True, is_one=True, called=UNNAMED)
    if hasattr(data, "__arrow_c_stream__") and module not in OWN_FRAMES:
        return open_stream(data)
    columns = named_columns(name, data)
    if columns is None:
        raise ValueError(
            f"{name} must be a path, paths, a frame, a mapping of names to columns, a data set of pyarrow or a stream "
            f"of Arrow, got {show(data)}"
        )
    if not columns:
        raise ValueError(f"{name} must have columns, got {show(data)}")
    return _open_columns({str(name): values for name, values in columns.items()})


def _open_columns(columns: dict[str, Any]) -> Source:
    """Open columns in memory: arrays, lists, or columns of a frame."""
    n_rows = next((length for values in columns.values() if (length := _length(values)) is not None), 1)

    def load(names: list[str], _: Any) -> Iterator[ArrayBatch]:
        yield ArrayBatch({name: columns[name] for name in names}, n_rows)

    def read(names: list[str]) -> Iterator[ArrayBatch]:
        for name in names:
            length = _length(columns[name])
            if length is None:
                as_vector(f"column {name!r}", columns[name])  # raises
            if length != n_rows:
                raise ValueError(f"column {name!r} has {length} rows, but the first has {n_rows}")
        for start in range(0, n_rows, ROWS_PER_BATCH):
            rows = slice(start, min(start + ROWS_PER_BATCH, n_rows))
            parts = {name: getattr(columns[name], "iloc", columns[name])[rows] for name in names}
            yield ArrayBatch(parts, rows.stop - start)

    piece = Piece("data", n_rows, 0, read, load=load)
    return Source("data", list(columns), [piece], in_memory=True, is_one=True, called=UNNAMED)


def _length(values: Any) -> int | None:
    """Return the length of a column; None if it has none or has no slices (reading the column then raises an error)."""
    if not hasattr(values, "__getitem__"):
        return None
    shape = getattr(values, "shape", None)
    if shape is not None:
        return int(shape[0]) if shape else None
    return len(values) if hasattr(values, "__len__") else None


def _batch_piece(k: int, batch: Any) -> Piece:
    def read(columns: list[str]) -> Iterator[Any]:
        yield batch.select(columns)

    def span(name: str) -> tuple[float, float] | None:
        from pyarrow import compute

        return finite_span(*compute.min_max(batch.column(name)).as_py().values())

    return Piece(f"batch {k}", batch.num_rows, batch.nbytes, read, span=span)


class _Streamed(NamedTuple):
    """An object's stream, always in the object's own type, since DuckDB before 1.2 refuses requests for a type."""

    data: Any

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.data.__arrow_c_stream__()


def open_stream(data: Any, title: str = "the stream") -> Source:
    """Open a stream of record batches: a reader can be read only once, any other object with a stream repeatedly."""
    pa = import_optional("pyarrow", MISSING)
    can_repeat = not isinstance(data, pa.RecordBatchReader)
    with explained(title):
        first = pa.RecordBatchReader.from_stream(_Streamed(data)) if can_repeat else data
    left = iter([first])

    def read(columns: list[str]) -> Iterator[Any]:
        stream = next(left, None) or (pa.RecordBatchReader.from_stream(_Streamed(data)) if can_repeat else None)
        if stream is None:
            raise ValueError(f"{title} can be read only once, and has been read")
        for batch in stream:
            yield batch.select(columns)

    called = UNNAMED if can_repeat else ""
    return Source(
        title, list(first.schema.names), [Piece(title, None, 0, read)], can_repeat, is_one=can_repeat, called=called
    )


def finite_span(low: Any, high: Any) -> tuple[float, float] | None:
    """Return the lowest and the highest value as floats, if both are finite numbers."""
    are_numbers = all(isinstance(each, (int, float)) and math.isfinite(each) for each in (low, high))
    return (float(low), float(high)) if are_numbers else None


# Whether rows are read into memory ------------------------------------------------------------------------------------


class RowRules(NamedTuple):
    """What to do with rows that can't be counted: rows without a label, and rows with an invalid number."""

    on_missing_label: OnInvalid = "raise"
    on_invalid: OnInvalid = "raise"

    def check(self) -> None:
        """Raise unless both rules are valid."""
        for name, rule in self._asdict().items():
            check_choice(option(name), rule, OnInvalid)

    def of(self, *, is_truth: bool) -> OnInvalid:
        """Return the rule for missing values in the column of true values (`is_truth`), or in another column."""
        return self.on_missing_label if is_truth else self.on_invalid


class Reading(NamedTuple):
    """Checked options for reading rows."""

    limit: int | None  # bytes that rows may take; None if the call gives no limit
    approximate: bool

    @classmethod
    def checked(cls, memory: Any, approximate: Any) -> Reading:
        """Check a call's arguments and return them."""
        limit = None if memory is None else as_bytes(option("memory"), memory)
        return cls(limit, as_flag(option("approximate"), approximate))

    @property
    def memory(self) -> int | None:
        """Bytes that rows may take; None if the free memory is unknown."""
        return free_bytes(MEMORY_SHARE) if self.limit is None else self.limit

    def fits(self, source: Source, n_models: int) -> bool:
        """Return whether to read all rows into memory, with the scores of `n_models` models."""
        if self.approximate or not source.can_repeat:
            return False
        needed = self.needed(source, n_models)
        if not needed and source.n_rows is None:  # the size of a stream is unknown
            return self.limit is None
        if self.limit is None and needed < ALWAYS_FREE_BYTES:
            return True
        memory = self.memory
        return memory is None or needed <= memory

    def needed(self, source: Source, n_models: int) -> int:
        """Return the bytes that all rows take in memory; 0 for a stream, whose size is unknown."""
        if source.n_rows is not None:
            return source.n_rows * (BYTES_PER_ROW + BYTES_PER_SCORE * n_models)
        return TEXT_SHARE * (source.n_bytes + PACKED_SHARE * source.n_packed)

    def beside(self, n_bytes: int) -> Reading:
        """Return the options for further rows, given the bytes that the rows in memory take."""
        return self if self.limit is None else self._replace(limit=max(self.limit - n_bytes, 0))


MEMORY_SHARE = 1 / 2  # of free memory
ALWAYS_FREE_BYTES = 1 << 20
BYTES_PER_ROW, BYTES_PER_SCORE = 32, 20  # memory of a report, in bytes per row and per score
TEXT_SHARE, PACKED_SHARE = 2, 10  # bytes in memory per byte of CSV, and bytes of CSV per byte of a .gz file
