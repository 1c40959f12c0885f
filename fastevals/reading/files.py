"""Opens data as a source: files, folders, patterns, addresses, data sets, standard input and Python objects."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fastevals._options import check_name, import_optional, listed
from fastevals.reading.csv import CsvFile, CsvStream, EmptyFileError, Request
from fastevals.reading.sources import (
    ARROW,
    CSV,
    MISSING,
    PARQUET,
    ROWS_PER_BATCH,
    Piece,
    Source,
    explained,
    finite_span,
    is_path,
    open_object,
    open_stream,
    state_of,
)

STDIN = "-"  # means standard input
SUFFIXES = {
    ".csv": CSV, ".csv.gz": CSV, ".tsv": CSV, ".tsv.gz": CSV, ".parquet": PARQUET, ".pq": PARQUET, ".arrow": ARROW,
    ".arrows": ARROW, ".feather": ARROW, ".ipc": ARROW,
}  # fmt: skip


# Opening --------------------------------------------------------------------------------------------------------------


def open_source(
    data: Any,
    request: Request = Request(),  # noqa: B008
    *,
    filesystem: Any = None,
    name: str = "data",
) -> Source:
    """Open data.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, pyarrow data set, table or reader, or an Arrow stream
        A path may be a file, a folder, a pattern such as ``scores/*.parquet``, an address such as ``s3://...``, or "-"
        for standard input. Hive partitions (``day=1/``) become columns.
    request : Request
        The columns to read, and how CSV files are written.
    filesystem : pyarrow.fs.FileSystem, optional
        The file system of the paths.
    name : str
        What messages call data of a wrong type.

    Raises
    ------
    ValueError
        If `data` is none of these; if a file does not exist, has an unknown format or is damaged; if files have
        different columns; or if it is uncertain how to read a CSV file.
    ImportError
        If `data` is files or a stream, and pyarrow is not installed.
    """
    if isinstance(data, str) and data == STDIN:
        return _open_stdin(request)
    paths = [data] if is_path(data) else data
    if isinstance(paths, Sequence) and len(paths) and all(map(is_path, paths)):
        return _open_files([os.fsdecode(path) for path in paths], request, filesystem)
    if options := request.form.options():
        raise ValueError(f"{options[0]} goes with a CSV file, but data is a {type(data).__name__}")
    if type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "get_fragments"):
        return open_dataset("the data set", data, filesystem)
    return open_object(data, name)


def _open_files(given: Sequence[str], request: Request, filesystem: Any = None) -> Source:
    """Open files, folders, patterns such as ``scores/*.parquet``, or addresses such as ``s3://...``.

    Hive partitions (``day=1/``) become columns.
    """
    if len(given) == 1 and filesystem is None and os.path.isfile(given[0]) and "=" not in os.path.dirname(given[0]):
        return _open_file(given[0], request)
    if len(given) == 1 and filesystem is None and not os.path.exists(given[0]) and not _is_pattern(given[0]):
        raise ValueError(f"{given[0]!r}: no such file")
    import_optional("pyarrow", MISSING)
    paths, filesystem = expand_files(list(given), filesystem)
    title = repr(given[0]) + (f" and {len(given) - 1} more" if len(given) > 1 else "")
    formats = {path: format_of(path) for path in paths}
    first = formats[paths[0]]
    other = next((path for path, each in formats.items() if each != first), None)
    if other is not None:
        raise ValueError(f"files must be of one format, got {paths[0]!r} and {other!r}")
    _check_form(request, first, paths[0])
    states = {path: state_of(filesystem, path) for path in paths}
    for path in paths:
        if not states[path][0] and (first != CSV or not any(size for size, _ in states.values())):
            raise ValueError(f"{path!r} is empty")
    if first == CSV:
        return _open_csv_files(title, states, filesystem, request)
    with explained(repr(paths[0]) if len(paths) == 1 else title, first):
        dataset, repeated = _as_dataset(paths, first, filesystem)
    source = open_dataset(title, dataset, filesystem)
    source.names += repeated
    source.format, source._states, source._filesystem = first, states, filesystem
    return source


def _is_pattern(path: str) -> bool:
    return "://" in path or glob.has_magic(path)


def format_of(path: str) -> str:
    """Return the format that a file name's suffix means; raise if it is unknown."""
    found = known_format(path)
    if found is None:
        raise ValueError(
            f"{path!r} is of no known format: its name must end with {', '.join(SUFFIXES)}; "
            "CSV of any name can be piped: fastevals report - < FILE"
        )
    return found


def known_format(path: str) -> str | None:
    """Return the format that a file name's suffix means; None if it is unknown."""
    return next((each for suffix, each in SUFFIXES.items() if path.lower().endswith(suffix)), None)


def check_file(path: str) -> None:
    """Raise unless a path is a regular file that is not empty."""
    if not os.path.exists(path):
        raise ValueError(f"{path!r}: no such file")
    if not os.path.isfile(path):
        raise ValueError(f"{path!r} is {'a directory' if os.path.isdir(path) else 'no regular file'}; give one file")
    if not os.path.getsize(path):
        raise ValueError(f"{path!r} is empty")


def _check_form(request: Request, form: str, path: str) -> None:
    if form != CSV and (options := request.form.options()):
        raise ValueError(f"{options[0]} goes with a CSV file, but {path!r} is {form}")


def _open_file(path: str, request: Request) -> Source:
    """Open a local file without `pyarrow.dataset`, whose import takes longer than reading a small file."""
    form = format_of(path)
    _check_form(request, form, path)
    pa = import_optional("pyarrow", MISSING)
    check_file(path)
    check_name(path)
    shown = repr(path)
    source = Source(shown, [], [], format=form, is_one=True, called=path, _states={path: state_of(None, path)})
    with explained(shown, form):
        if form == CSV:
            file = CsvFile(Path(path), request)
            source.names, source.hint, source.as_written = file.names, file.hint, file.as_written
            source.pieces = [file.piece(shown, os.path.getsize(path))]
        elif form == PARQUET:
            opened = open_parquet(path)
            source.names, metadata = list(opened.schema_arrow.names), opened.metadata
            source.pieces = list(_row_groups(path, metadata, _Stored(shown, source.names)))
        else:
            with pa.OSFile(path) as opened:
                source.names = list(_arrow_reader(opened).schema.names)
            stored = _Stored(shown, source.names)
            source.pieces = [_arrow_piece(stored, lambda: pa.OSFile(path), os.path.getsize(path))]
    return source


def _open_csv_files(title: str, states: dict[str, Any], filesystem: Any, request: Request) -> Source:
    """Open CSV files as a source with one piece per file."""
    from pyarrow import fs

    if not isinstance(filesystem, fs.LocalFileSystem):
        raise ValueError(f"{next(iter(states))!r} is CSV: only files on this machine are read")
    files: dict[str, CsvFile] = {}
    rows: dict[str, int] = {}
    for path in states:
        try:
            with explained(repr(path), CSV):
                files[path] = CsvFile(Path(path), request)
        except EmptyFileError:  # without a header; an error only if all files are so
            if not files and path == list(states)[-1]:
                raise
            rows[path] = 0
    first, *others = files
    for path in others:
        if set(files[path].names) != set(files[first].names):
            raise ValueError(f"{path!r} has other columns than {first!r}: {listed(files[path].names)}")
    pieces = [
        file.piece(repr(path), states[path][0])._replace(note=partial(rows.__setitem__, path))
        for path, file in files.items()
    ]
    return Source(
        title, files[first].names, pieces, hint=files[first].hint, format=CSV, as_written=files[first].as_written,
        rows_of_files=rows, _states=states, _filesystem=filesystem,
    )  # fmt: skip


def _as_dataset(paths: list[str], form: str, filesystem: Any) -> tuple[Any, list[str]]:
    """Return files as a data set without repeated columns, and the names that are repeated in the first file."""
    from pyarrow import dataset as datasets
    from pyarrow import schema, unify_schemas

    factory = datasets.FileSystemDatasetFactory(
        filesystem,
        paths,
        (datasets.ParquetFileFormat if form == PARQUET else datasets.IpcFileFormat)(),
        datasets.FileSystemFactoryOptions(partitioning=datasets.HivePartitioning.discover()),
    )
    schemas = factory.inspect_schemas()
    repeated = [name for each in schemas[:1] for name in each.names if each.names.count(name) > 1]
    if not repeated:
        return factory.finish(), repeated
    schemas = [
        schema(each.field(k) for k, name in enumerate(each.names) if each.names.count(name) == 1) for each in schemas
    ]
    return factory.finish(unify_schemas(schemas)), repeated


def expand_files(paths: list[str], filesystem: Any) -> tuple[list[str], Any]:
    """Return the files for paths, patterns and folders, in order, and their file system."""
    from pyarrow import fs

    if filesystem is None and any("://" in path for path in paths):
        opened = [fs.FileSystem.from_uri(path) for path in paths]
        filesystem, paths = opened[0][0], [path for _, path in opened]
        if any(each != filesystem for each, _ in opened):
            raise ValueError("paths must be of one file system")
    found: list[str] = []
    for path in paths:
        if filesystem is None and not os.path.exists(path) and glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise ValueError(f"{path!r} matches no file")
        else:
            matches = [path]
        for match in matches:
            check_name(match)
            found += _files_in(match, filesystem or fs.LocalFileSystem())
    filesystem = filesystem or fs.LocalFileSystem()
    is_local = isinstance(filesystem, fs.LocalFileSystem)
    given: dict[str, str] = {}
    for path in found:
        real = os.path.realpath(path) if is_local else path
        if real in given:
            also = "" if given[real] == path else f", also as {given[real]!r}"
            raise ValueError(f"{path!r} is given twice{also}")
        given[real] = path
    return found, filesystem


def _files_in(path: str, filesystem: Any) -> list[str]:
    """Return a file, or all data files in a folder and its subfolders, except hidden ones (named .* or _*)."""
    from pyarrow import fs

    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise ValueError(f"{path!r}: no such file")
    if info.type == fs.FileType.File:
        return [path]
    if info.type != fs.FileType.Directory:
        raise ValueError(f"{path!r} is no regular file")
    base = path.rstrip("/") + "/"
    found = sorted(
        each.path
        for each in filesystem.get_file_info(fs.FileSelector(path, recursive=True))
        if each.type == fs.FileType.File
        and not any(part.startswith((".", "_")) for part in each.path.removeprefix(base).split("/"))
        and known_format(each.path)
    )
    if not found:
        raise ValueError(f"{path!r} is a folder without files of a known format: {', '.join(SUFFIXES)}")
    return found


def _open_stdin(request: Request) -> Source:
    """Open standard input: CSV, or an Arrow stream."""
    title = "standard input"
    pa = import_optional("pyarrow", MISSING)
    if sys.stdin is None:
        raise ValueError(f"{title} is closed")
    stream: Any = sys.stdin.buffer
    start = stream.peek(8)[:8]
    if not start:
        raise ValueError(f"{title} is empty")
    for mark, kind in {b"PAR1": "Parquet", b"ARROW1": "an Arrow file"}.items():
        if start.startswith(mark):
            raise ValueError(f"{title} is {kind}, which can't be read from a pipe: give the file")
    if start.startswith(b"\xff\xff\xff\xff"):
        if options := request.form.options():
            raise ValueError(f"{options[0]} goes with CSV, but {title} is an Arrow stream")
        with explained(title):
            reader = pa.ipc.open_stream(pa.PythonFile(stream, mode="r"))
        return open_stream(reader, title)
    with explained(title):
        file = CsvStream(stream, title, request)
    piece = file.piece(title)._replace(load=None)
    return Source(title, file.names, [piece], can_repeat=False, hint=file.hint, format=CSV, as_written=file.as_written)


# Pieces ---------------------------------------------------------------------------------------------------------------


def open_dataset(title: str, dataset: Any, filesystem: Any = None) -> Source:
    """Open a pyarrow data set, with one piece per Parquet row group, or per fragment in another format."""
    from pyarrow import dataset as datasets

    source = Source(title, list(dataset.schema.names), [], _filesystem=filesystem)
    for number, fragment in enumerate(dataset.get_fragments()):
        path = getattr(fragment, "path", None)
        name = f"fragment {number} of {title}" if path is None else repr(path)
        with explained(name):
            is_arrow = isinstance(getattr(fragment, "format", None), datasets.IpcFileFormat)
            has_groups = path is not None and hasattr(fragment, "row_groups")
            if has_groups or is_arrow:
                partition = datasets.get_partition_keys(fragment.partition_expression)
                stored = _Stored(name, list(fragment.physical_schema.names), partition)
            note = partial(source.rows_of_files.__setitem__, str(path))
            if has_groups:  # a filtered or split data set may have only some row groups
                groups = [group.id for group in fragment.row_groups]
                pieces = list(_row_groups(str(path), fragment.metadata, stored, groups, fragment.filesystem))
                source.pieces += pieces
                note(sum(piece.n_rows or 0 for piece in pieces))
            elif is_arrow:
                source.pieces.append(_arrow_piece(stored, fragment.open, _size(fragment))._replace(note=note))
            else:
                source.pieces.append(_fragment_piece(name, fragment, dataset.schema)._replace(note=note))
        if path is not None and fragment.filesystem is not None:
            source._states[path] = state_of(fragment.filesystem, path)
            source._filesystem = source._filesystem or fragment.filesystem
    return source


class _Stored(NamedTuple):
    """The columns stored in a file, and the values of columns that its path gives."""

    name: str
    names: list[str]
    partition: Mapping[str, Any] = MappingProxyType({})

    def among(self, columns: list[str]) -> list[str]:
        """Return the given columns that the file stores; raise unless its path gives all others."""
        stored = [name for name in columns if name in self.names or name not in self.partition]
        for name in stored:
            count = self.names.count(name)
            if count != 1:
                what = f"{count} columns {name!r}" if count else f"no column {name!r}, which other files have"
                raise ValueError(f"{self.name} has {what}")
        return stored

    def with_path(self, batch: Any, columns: list[str]) -> Any:
        """Return a batch completed by the columns that the file's path gives."""
        import pyarrow as pa

        arrays = [
            batch.column(name) if name in self.names else pa.repeat(pa.scalar(self.partition[name]), batch.num_rows)
            for name in columns
        ]
        return pa.RecordBatch.from_arrays(arrays, names=columns)


def _fragment_piece(name: str, fragment: Any, schema: Any) -> Piece:
    def read(columns: list[str]) -> Iterator[Any]:
        yield from fragment.to_batches(
            schema=schema,
            columns=columns,
            use_threads=False,
            batch_size=ROWS_PER_BATCH,
            batch_readahead=1,
            fragment_readahead=0,
        )

    return Piece(name, None, _size(fragment), read)


def _arrow_piece(stored: _Stored, opened: Callable[[], Any], n_bytes: int) -> Piece:
    """Return an Arrow file as a piece, without pyarrow's scanner, which crashes if the file is damaged."""

    def read(columns: list[str]) -> Iterator[Any]:
        with opened() as file:
            reader = _arrow_reader(file, [stored.names.index(name) for name in stored.among(columns)])
            is_file = hasattr(reader, "get_batch")
            for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
                for start in range(0, batch.num_rows, ROWS_PER_BATCH):
                    yield stored.with_path(batch.slice(start, ROWS_PER_BATCH), columns)

    return Piece(stored.name, None, n_bytes, read)


def _arrow_reader(file: Any, fields: list[int] | None = None) -> Any:
    """Open a file in Arrow's file format or its stream format."""
    from pyarrow import ipc

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return (ipc.open_file if is_file else ipc.open_stream)(file, options=ipc.IpcReadOptions(included_fields=fields))


def open_parquet(source: Any, **options: Any) -> Any:
    """Open a Parquet file; if its pages have checksums, they are verified as the pages are read."""
    from pyarrow import parquet

    return parquet.ParquetFile(source, pre_buffer=False, page_checksum_verification=True, **options)


@contextmanager
def column_named(file: Any, columns: list[str], row_groups: Sequence[int]) -> Iterator[None]:
    """Name the damaged column in errors raised while reading a Parquet file's row groups."""
    from pyarrow import ArrowException

    try:
        yield
    except MemoryError:
        raise
    except (ArrowException, OSError) as error:
        for name in columns:
            try:
                for _ in file.iter_batches(ROWS_PER_BATCH, row_groups=row_groups, columns=[name], use_threads=False):
                    pass
            except (ArrowException, OSError) as again:
                raise OSError(f"column {name!r}: {again}") from error
        raise


def _size(fragment: Any) -> int:
    """Return the size of a fragment's file in bytes; 0 if it has no file."""
    if getattr(fragment, "filesystem", None) is None:
        return 0
    return fragment.filesystem.get_file_info(fragment.path).size or 0


def _row_groups(
    path: str, metadata: Any, stored: _Stored, groups: Sequence[int] | None = None, filesystem: Any = None
) -> Iterator[Piece]:
    """Yield one piece per row group of a Parquet file, or per row group in `groups`."""
    from pyarrow import ArrowException

    places = {metadata.schema.column(k).path: k for k in range(metadata.num_columns)}

    def span(group: int, name: str) -> tuple[float, float] | None:
        with suppress(ArrowException, OSError):
            known = metadata.row_group(group).column(places[name]).statistics if name in places else None
            return finite_span(known.min, known.max) if known is not None and known.has_min_max else None
        return None

    def read(group: int, columns: list[str]) -> Iterator[Any]:
        own = stored.among(columns)
        with (
            open_parquet(path, metadata=metadata, filesystem=filesystem) as file,
            column_named(file, own, [group]),
        ):
            for batch in file.iter_batches(ROWS_PER_BATCH, row_groups=[group], columns=own, use_threads=False):
                yield stored.with_path(batch, columns)

    known = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    n_rows, said = sum(group.num_rows for group in known), metadata.num_rows
    if n_rows != said:
        much = f"more than the {said} rows" if n_rows > said else f"{n_rows} rows, but says that it holds {said}"
        raise EOFError(f"it holds {much}{' that it says it holds' * (n_rows > said)}")
    for group in range(len(known)) if groups is None else groups:
        if known[group].num_rows:
            name, n_bytes = f"row group {group} of {path!r}", known[group].total_byte_size
            yield Piece(name, known[group].num_rows, n_bytes, partial(read, group), span=partial(span, group))
