"""Rows in pieces that are read one by one, as often as asked: what every source is opened as.

A piece is what is read at once by one thread: a row group of a Parquet file, a batch of an Arrow file, a whole CSV file
in batches. What can be read once alone, such as a stream of batches, has one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fastevals._options import did_you_mean, listed

MISSING = "reading files needs pyarrow: pip install pyarrow"
ROWS_PER_BATCH = 1 << 19  # rows of a batch of a large row group


class Piece(NamedTuple):
    """Rows that one thread reads."""

    name: str  # as messages call it
    n_rows: int | None  # where it is known beforehand
    n_bytes: int
    read: Callable[[list[str]], Iterator[Any]]  # of columns, their record batches
    place: Callable[[int], str] = "row {}".format  # what messages call a row
    decimal: str = "."  # of numbers in text
    span: Callable[[str], tuple[float, float] | None] = lambda name: None  # the least and greatest value of a column


@dataclass
class Source:
    """Rows in pieces.

    Attributes
    ----------
    title : str
        As messages and reports call the data.
    names : list of str
        Columns.
    pieces : list of Piece
    can_repeat : bool
        Whether they can be read again.
    """

    title: str
    names: list[str]
    pieces: list[Piece]
    can_repeat: bool = True
    hint: str = ""  # the end of a message on a column that is not there
    is_csv: bool = False
    _states: dict[str, Any] = field(default_factory=dict)  # size and time of change of each file
    _filesystem: Any = None

    @property
    def name(self) -> str:
        """What texts call the data: as messages, but without quotes."""
        return self.title.replace("'", "") if self.title[:1] == "'" else self.title

    @property
    def n_rows(self) -> int | None:
        """Rows in all, where they are known."""
        rows = [piece.n_rows for piece in self.pieces]
        return None if None in rows else sum(map(int, rows))  # type: ignore[arg-type]

    @property
    def n_bytes(self) -> int:
        """Bytes in all, as they are stored; 0 of a stream."""
        return sum(piece.n_bytes for piece in self.pieces)

    @property
    def identity(self) -> list[Any]:
        """The files, with their sizes and when they were changed last."""
        return [[path, *(state or ())] for path, state in sorted(self._states.items())]

    def check_columns(self, wanted: Mapping[str, str]) -> None:
        """Raise unless each column is there, once; `wanted` says what messages call it."""
        for name, shown in wanted.items():
            count = self.names.count(name)
            if not count:
                columns = listed(self.names) if self.names else "none"
                near = did_you_mean(name, self.names)
                raise ValueError(
                    f"{shown}: {self.title} has no such column{near}; its columns are {columns}{self.hint}"
                )
            if count > 1:
                raise ValueError(f"{shown}: {self.title} has {count} columns of this name")

    def check_unchanged(self) -> None:
        """Raise if a file is another than when it was opened."""
        for path, state in self._states.items():
            now = state_of(self._filesystem, path)
            if now != state:
                what = "is gone" if now is None else "has changed"
                raise ValueError(f"{path!r} {what} since it was first read: its rows can't be counted again")


def state_of(filesystem: Any, path: str) -> Any:
    """Return the size and the time of the last change of a file; None where there is none."""
    info = filesystem.get_file_info(path)
    return (info.size, info.mtime_ns) if info.is_file else None


# Reading --------------------------------------------------------------------------------------------------------------


def read_piece(piece: Piece, columns: list[str]) -> Iterator[tuple[int, Any]]:
    """Yield a piece's record batches, each with the number of its first row; name the piece where it can't be read."""
    start = 0
    batches = piece.read(columns)
    while True:
        with explained(piece.name, quoted=True):
            batch = next(batches, None)
            if batch is None:
                break
            batch.validate(full=True)
        yield start, batch
        start += batch.num_rows
    if piece.n_rows not in (None, start):
        raise ValueError(f"{piece.name} can't be read: it has {start} rows, but says that it has {piece.n_rows}")


@contextmanager
def explained(name: str, *, quoted: bool = False) -> Iterator[None]:
    """Name the file in errors about what can't be read of it."""
    from pyarrow import ArrowException

    shown = name if quoted or name[:1] in "'\"" else repr(name)
    try:
        yield
    except (ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, MemoryError):  # Arrow's
            raise MemoryError(f"{shown} takes more memory than there is, or is damaged: {error}") from error
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= 200 else reason[:200] + "..."
        raise ValueError(f"{shown} can't be read: {reason}") from error
