"""Rows of files, data sets and streams, in pieces that are read one by one, as often as asked.

A piece is what is read at once by one thread: a row group of a Parquet file, a batch of an Arrow file, a whole CSV file
in batches. pyarrow reads them. What can be read once alone, such as a stream of batches, has one piece.
"""

from __future__ import annotations

import glob
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from fastevals._options import check_name, import_optional, listed, show
from fastevals._validation.arrays import refuse_engines
from fastevals.reading.pieces import MISSING, ROWS_PER_BATCH, Piece, Source, explained, state_of

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".arrows": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".csv": "csv", ".csv.gz": "csv", ".tsv": "csv", ".tsv.gz": "csv",
}  # fmt: skip
GROUP = 1 << 21  # rows of a row group that are read at once; of larger ones batches are


# Opening --------------------------------------------------------------------------------------------------------------


def open_rows(data: Any, *, filesystem: Any = None, csv: Callable[[Path], Any] | None = None) -> Source:
    """Open data that pyarrow reads.

    Parameters
    ----------
    data : path, sequence of paths, pyarrow data set, table, record-batch reader or object with an Arrow stream
        A path may be a file, a folder, a pattern such as ``scores/*.parquet``, or an address such as ``s3://...``.
        Columns of hive partitions (``day=1/``) are columns.
    filesystem : pyarrow.fs.FileSystem, optional
        That paths are of.
    csv : callable, optional
        Opens a CSV file, as `CsvFile` does.

    Returns
    -------
    Source

    Raises
    ------
    ValueError
        If there is no such file, one is of no known format or damaged, or files have different columns.
    ImportError
        Without pyarrow.
    """
    refuse_engines("data", data)
    pa = import_optional("pyarrow", MISSING)
    datasets = import_optional("pyarrow.dataset", MISSING)
    if isinstance(data, datasets.Dataset):
        return _open_dataset("the data set", data, filesystem)
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        batches = data.to_batches() if isinstance(data, pa.Table) else [data]
        return Source("the table", list(data.schema.names), [_batch_piece(k, batch) for k, batch in enumerate(batches)])
    if isinstance(data, pa.RecordBatchReader) or hasattr(data, "__arrow_c_stream__"):
        reader = data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
        return open_stream(reader)
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    if not isinstance(data, Sequence) or not data or not all(isinstance(each, (str, os.PathLike)) for each in data):
        raise ValueError(
            "data must be a path, paths, a data set or table of pyarrow, or a stream of record batches, got "
            f"{show(data)}"
        )
    paths, filesystem = _expand([os.fsdecode(each) for each in data], filesystem)
    title = repr(os.fsdecode(data[0])) + (f" and {len(data) - 1} more" if len(data) > 1 else "")
    kinds = {path: _format(path) for path in paths}
    first = kinds[paths[0]]
    other = next((path for path, kind in kinds.items() if kind != first), None)
    if other is not None:
        raise ValueError(f"files must be of one format, got {paths[0]!r} and {other!r}")
    states = {path: state_of(filesystem, path) for path in paths}
    if first == "csv":
        return _open_csv_files(title, paths, states, filesystem, csv)
    for path in paths:
        if not states[path][0]:
            raise ValueError(f"{path!r} is empty")
    with explained(paths[0] if len(paths) == 1 else title):
        dataset, repeated = _as_dataset(paths, first, filesystem)
    rows = _open_dataset(title, dataset, filesystem)
    rows.names += repeated
    rows._states, rows._filesystem = states, filesystem
    return rows


def _as_dataset(paths: list[str], kind: str, filesystem: Any) -> tuple[Any, list[str]]:
    """Return files as a data set, and names that several columns of the first have: these it does without."""
    from pyarrow import dataset as datasets
    from pyarrow import schema, unify_schemas

    factory = datasets.FileSystemDatasetFactory(
        filesystem,
        paths,
        {"parquet": datasets.ParquetFileFormat, "ipc": datasets.IpcFileFormat}[kind](),
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


def open_stream(reader: Any, title: str = "the stream") -> Source:
    """Open a stream of record batches: it is read once."""
    taken = iter([reader])

    def read(columns: list[str]) -> Iterator[Any]:
        stream = next(taken, None)
        if stream is None:
            raise ValueError(f"{title} can be read once, and has been")
        for batch in stream:
            yield batch.select(columns)

    return Source(title, list(reader.schema.names), [Piece(title, None, 0, read)], can_repeat=False)


def _expand(paths: list[str], filesystem: Any) -> tuple[list[str], Any]:
    """Return the files that paths, patterns and folders mean, in order, and the file system that they are of."""
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
    """Return a file, or the files of a folder and those in it; none that is hidden, as Spark's own are."""
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
        raise ValueError(f"{path!r} is a folder without files of a known format: {', '.join(FORMATS)}")
    return found


def known_format(path: str) -> str | None:
    """Return the format that the end of a name stands for."""
    return next((kind for suffix, kind in FORMATS.items() if path.lower().endswith(suffix)), None)


def _format(path: str) -> str:
    kind = known_format(path)
    if kind is None:
        raise ValueError(f"{path!r} is of no known format: its name must end with {', '.join(FORMATS)}")
    return kind


# Pieces ---------------------------------------------------------------------------------------------------------------


def _batch_piece(k: int, batch: Any) -> Piece:
    def read(columns: list[str]) -> Iterator[Any]:
        yield batch.select(columns)

    def span(name: str) -> tuple[float, float] | None:
        from pyarrow import compute

        return _finite_span(*compute.min_max(batch.column(name)).as_py().values())

    return Piece(f"batch {k}", batch.num_rows, batch.nbytes, read, span=span)


def _finite_span(low: Any, high: Any) -> tuple[float, float] | None:
    """Return the least and the greatest of some values as floats, if they are finite numbers."""
    are_numbers = all(isinstance(each, (int, float)) and math.isfinite(each) for each in (low, high))
    return (float(low), float(high)) if are_numbers else None


def _open_dataset(title: str, dataset: Any, filesystem: Any) -> Source:
    """Open a pyarrow data set: a piece for each row group, or fragment of another kind."""
    from pyarrow import dataset as datasets

    pieces: list[Piece] = []
    states: dict[str, Any] = {}
    for number, fragment in enumerate(dataset.get_fragments()):
        path = getattr(fragment, "path", None)
        name = f"fragment {number} of {title}" if path is None else repr(path)
        with explained(name, quoted=True):
            if path is not None and hasattr(fragment, "row_groups"):
                pieces += _row_groups(fragment)
            elif isinstance(getattr(fragment, "format", None), datasets.IpcFileFormat):
                pieces.append(_arrow_piece(name, fragment))
            else:
                pieces.append(_fragment_piece(name, fragment, dataset.schema))
        if path is not None and fragment.filesystem is not None:
            states[path] = state_of(fragment.filesystem, path)
            filesystem = filesystem or fragment.filesystem
    return Source(title, list(dataset.schema.names), pieces, _states=states, _filesystem=filesystem)


class _Stored:
    """Which columns a file of a data set has, and the values of those that are in its path."""

    def __init__(self, name: str, fragment: Any) -> None:
        from pyarrow import dataset as datasets

        self.name, self.names = name, list(fragment.physical_schema.names)
        self.partition = datasets.get_partition_keys(fragment.partition_expression)

    def among(self, columns: list[str]) -> list[str]:
        """Return those columns that are in the file; raise unless each other one is in its path."""
        stored = [name for name in columns if name in self.names or name not in self.partition]
        for name in stored:
            count = self.names.count(name)
            if count != 1:
                what = f"{count} columns {name!r}" if count else f"no column {name!r}, which other files have"
                raise ValueError(f"{self.name} has {what}")
        return stored

    def with_path(self, batch: Any, columns: list[str]) -> Any:
        """Return a batch with the columns that are in the file's path."""
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


def _arrow_piece(name: str, fragment: Any) -> Piece:
    """Return the piece of an Arrow file."""
    stored = _Stored(name, fragment)

    def read(columns: list[str]) -> Iterator[Any]:
        with fragment.open() as file:
            for _, batch in arrow_batches(file, stored.names, stored.among(columns)):
                for start in range(0, batch.num_rows, ROWS_PER_BATCH):
                    yield stored.with_path(batch.slice(start, ROWS_PER_BATCH), columns)

    return Piece(name, None, _size(fragment), read)


def open_parquet(source: Any, **options: Any) -> Any:
    """Open a Parquet file; where its pages have checksums, reading compares them."""
    from pyarrow import parquet

    return parquet.ParquetFile(source, pre_buffer=False, page_checksum_verification=True, **options)


@contextmanager
def column_named(file: Any, columns: list[str], row_groups: Sequence[int]) -> Iterator[None]:
    """Name the column in errors about what can't be read of a Parquet file's row groups."""
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


def arrow_batches(file: Any, names: list[str], columns: list[str]) -> Iterator[tuple[float, Any]]:
    """Yield some columns of an open Arrow file, whose columns have these names: batches, and the share read by then.

    Batch by batch, since the scanner of pyarrow's data sets ends the process at a damaged file.
    """
    from pyarrow import ipc

    reader = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns]))
    for k in range(reader.num_record_batches):
        yield (k + 1) / reader.num_record_batches, reader.get_batch(k)


def _size(fragment: Any) -> int:
    """Return the bytes of a fragment's file; 0 where it has none."""
    if getattr(fragment, "filesystem", None) is None:
        return 0
    return fragment.filesystem.get_file_info(fragment.path).size or 0


def _row_groups(fragment: Any) -> Iterator[Piece]:
    """Yield a piece for each row group of a Parquet file."""
    from pyarrow import ArrowException

    path, metadata = fragment.path, fragment.metadata
    stored = _Stored(repr(path), fragment)
    places = {metadata.schema.column(k).path: k for k in range(metadata.num_columns)}

    def span(group: int, name: str) -> tuple[float, float] | None:
        with suppress(ArrowException, OSError):
            known = metadata.row_group(group).column(places[name]).statistics if name in places else None
            return _finite_span(known.min, known.max) if known is not None and known.has_min_max else None
        return None

    def read(group: int, n_rows: int, columns: list[str]) -> Iterator[Any]:
        own = stored.among(columns)
        with (
            open_parquet(path, metadata=metadata, filesystem=fragment.filesystem) as file,
            column_named(file, own, [group]),
        ):
            if n_rows <= GROUP:
                batches = file.read_row_group(group, columns=own, use_threads=False).to_batches()
            else:
                batches = file.iter_batches(ROWS_PER_BATCH, row_groups=[group], columns=own, use_threads=False)
            for batch in batches:
                yield stored.with_path(batch, columns)

    # Of a data set that was filtered, or cut to pieces, a fragment may have some row groups alone.
    for group in fragment.row_groups:
        n_rows = metadata.row_group(group.id).num_rows
        size = metadata.row_group(group.id).total_byte_size

        def read_group(columns: list[str], group: int = group.id, n_rows: int = n_rows) -> Iterator[Any]:
            return read(group, n_rows, columns)

        if n_rows:
            title = f"row group {group.id} of {path!r}"
            yield Piece(title, n_rows, size, read_group, span=partial(span, group.id))


def _open_csv_files(
    title: str, paths: list[str], states: dict[str, Any], filesystem: Any, csv: Callable[[Path], Any] | None
) -> Source:
    """Open CSV files: a piece each."""
    from pyarrow import fs

    if csv is None or not isinstance(filesystem, fs.LocalFileSystem):
        raise ValueError(f"{paths[0]!r} is CSV: only files on this machine are read, by fastevals report")
    files = []
    for path in paths:
        if not states[path][0]:
            raise ValueError(f"{path!r} is empty")
        with explained(path):
            files.append(csv(Path(path)))
    for path, file in zip(paths[1:], files[1:], strict=True):
        if set(file.names) != set(files[0].names):
            raise ValueError(f"{path!r} has other columns than {paths[0]!r}: {listed(file.names)}")
    pieces = [
        Piece(repr(path), None, states[path][0], file.stream, file.line, file.decimal)
        for path, file in zip(paths, files, strict=True)
    ]
    return Source(
        title, list(files[0].names), pieces, hint=files[0].hint, is_csv=True, _states=states, _filesystem=filesystem
    )
