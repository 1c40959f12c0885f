"""Several files as one source with a column that names the file of each row."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from fastevals._naming import option
from fastevals._options import show
from fastevals.reading.csv import Request
from fastevals.reading.files import SUFFIXES, expand_files, open_source
from fastevals.reading.form import SUMMARY
from fastevals.reading.sources import Piece, Source, is_path
from fastevals.reading.values import name_values

FILE = "file"  # the name of the column


def as_paths(data: Any) -> list[str]:
    """Return paths; raise unless data are paths."""
    paths = [data] if is_path(data) else data
    if not isinstance(paths, Sequence) or not paths or not all(map(is_path, paths)):
        raise ValueError(
            f"{option('trend')} needs {option('by')}, or two files or more, of which each is a value, got {show(data)}"
        )
    return [os.fsdecode(path) for path in paths]


def names_of_files(paths: Sequence[str]) -> list[Any]:
    """Return a name for each file: its path without what all share, except digits; numbers if all names are numbers."""
    if len(paths) < 2:
        raise ValueError(f"{option('trend')} needs two files or more, of which each is a value, got {show(paths[0])}")
    names = [_without_suffix(os.path.basename(path)) for path in paths]
    if len(set(names)) < len(names):
        names = list(map(_without_suffix, paths))
    start, end = _common_start(names), _common_start([name[::-1] for name in names])[::-1]
    shortest = min(map(len, names))
    n_start = len(re.match(r"\D*", start)[0])  # type: ignore[index]
    n_end = min(len(re.search(r"\D*$", end)[0]), shortest - n_start)  # type: ignore[index]
    short = [name[n_start : len(name) - n_end] for name in names]
    names = short if all(short) and any(map(str.isdigit, "".join(short))) else names
    if len(set(names)) < len(names):
        twice = next(name for name, other in pairwise(sorted(names)) if name == other)
        raise ValueError(f"{option('trend')} needs files with different names, got {show(twice)} twice")
    return name_values(names)


def _common_start(names: Sequence[str]) -> str:
    low, high = min(names), max(names)
    return next((low[:k] for k, letter in enumerate(low) if letter != high[k]), low)


def _without_suffix(path: str) -> str:
    suffixes = sorted([*SUFFIXES, SUMMARY], key=len, reverse=True)
    return next((path[: -len(each)] for each in suffixes if path.lower().endswith(each)), path)


def natural_key(value: Any) -> tuple[Any, ...]:
    """Return a key that sorts text by its numbers: day-2 comes before day-10."""
    if not isinstance(value, str):
        return (value,)
    parts = re.split(r"(\d+)", value)
    return tuple((int(part), part) if k % 2 else part for k, part in enumerate(parts))


def open_named_files(data: Any, request: Request) -> Source:
    """Open files as one source with the column `FILE`."""
    paths, filesystem = expand_files(as_paths(data), None)
    names = dict(zip(paths, names_of_files(paths), strict=True))
    columns, written, by = (
        None if columns is None else tuple(name for name in columns if name != FILE)
        for columns in (request.columns, request.as_written, request.by)
    )
    request = request._replace(columns=columns, as_written=written, by=by or ())
    source = open_source(paths, request, filesystem=filesystem)
    others = [name for name in source.names if name != FILE]
    pieces = []
    for piece in source.pieces:
        (path,) = (path for path in paths if piece.name == repr(path) or piece.name.endswith(f" of {path!r}"))
        pieces.append(_with_name(piece, names[path], others[0]))
    source.pieces, source.names = pieces, [*others, FILE]
    return source


def _with_name(piece: Piece, value: Any, first: str) -> Piece:
    """Return a piece whose rows have a further column with one value; `first` is a column that the file has."""

    def wrap(read: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
        def with_name(columns: list[str], *watch: Any) -> Iterator[Any]:
            import pyarrow as pa

            stored = [name for name in columns if name != FILE] or [first]
            for batch in read(stored, *watch):
                if FILE not in columns:
                    yield batch
                    continue
                arrays = {name: batch.column(stored.index(name)) for name in columns if name != FILE}
                arrays[FILE] = pa.repeat(pa.scalar(value), batch.num_rows)
                yield pa.RecordBatch.from_arrays([arrays[name] for name in columns], names=columns)

        return with_name

    return piece._replace(read=wrap(piece.read), load=None if piece.load is None else wrap(piece.load))
