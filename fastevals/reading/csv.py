"""Reads CSV files: detects separator, encoding and header, or raises if in doubt, and returns columns as tables.

pyarrow reads the files. The standard library's csv module parses the first lines, and counts lines for messages.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import gzip
import io
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from fastevals._naming import option
from fastevals._options import as_flag
from fastevals._validation.arrays import EXACT_INTEGER, is_number
from fastevals.reading.form import encoding_of, separator_of
from fastevals.reading.sources import Piece, Watch
from fastevals.reading.values import MISSING_WORDS, NULLS, are_missing

HEAD = 1 << 20  # bytes that are inspected
BYTES_PER_BLOCK = 1 << 24  # bytes read at a time, batch by batch
LINES = 200  # lines of the head that are inspected
SEPARATORS = ",;\t|"
MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # longest first
PACKED = {  # other types of file, by their first bytes
    b"\x1f\x8b": ("compressed by gzip", "unpack it, or give a file whose name ends with .csv.gz or .tsv.gz"),
    b"PK\x03\x04": ("a ZIP archive or a workbook, of Excel for instance", "unpack it, or save it as CSV"),
}
ONE_BYTE = "latin-1"  # stands for all single-byte encodings that contain ASCII: ASCII text is the same in each
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


class CsvForm(NamedTuple):
    """How a CSV file is written; a field is None if it is to be detected from the file."""

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None

    @classmethod
    def checked(cls, separator: str | None, encoding: str | None, header: bool | None) -> CsvForm:
        """Check a call's arguments and return them."""
        header = None if header is None else as_flag(option("header"), header)
        return cls(_checked("separator", separator, separator_of), _checked("encoding", encoding, encoding_of), header)

    def options(self) -> list[str]:
        """Return the options that are given, by their names in messages."""
        return [
            option(name, value if name == "header" else None)
            for name, value in self._asdict().items()
            if value is not None
        ]


class Request(NamedTuple):
    """The columns to read from a source, and how to read CSV files."""

    columns: Collection[str] | None = None  # to read; None for all
    as_written: Collection[str] | None = ()  # columns to keep as text; None for all that aren't numeric
    numeric: Collection[str] = ()
    drops: bool = False  # whether rows that lack a value are left out: then more words mean a missing value
    form: CsvForm = CsvForm()
    by: tuple[str, ...] = ()  # columns that divide rows: their missing values are determined from all files


def _checked(name: str, value: Any, check: Callable[[str], str]) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{option(name)} must be text, got {value!r}")
    try:
        return None if value is None else check(value)
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{option(name)} {error}") from None


class _Dialect(NamedTuple):
    """How a file is written, according to its first lines and the call's arguments."""

    separator: str
    encoding: str
    header: bool
    decimal: str  # decimal separator: point or comma
    is_guess: bool  # whether the encoding is a guess: columns are certain, but not their text
    skipped: int  # lines before the header, such as Excel's sep=;
    hint: str  # ends the error about a missing column


class EmptyFileError(ValueError):
    """A file without any line."""


class CsvFile:
    """An open CSV file: the `names` of its columns, and a `hint` for the error about a missing column.

    The suffix determines whether the file is compressed. If the first lines don't show the separator, the suffix
    determines it too. The words in `nulls` mean missing values in columns of numbers and, if the request drops rows,
    also in text. If the separator or the header is uncertain, the error names the option to set.
    """

    def __init__(self, path: Path, request: Request) -> None:
        from pyarrow import csv as arrow

        self.path = path
        self.by = request.by
        self.nulls: Sequence[str] = MISSING_WORDS if request.drops else NULLS
        self.no_text: Sequence[str] = MISSING_WORDS if request.drops else ("",)
        head = self._head()
        if not head.strip():
            raise EmptyFileError(f"{str(path)!r} is empty")
        for mark, (kind, rule) in PACKED.items():
            if head.startswith(mark):
                raise ValueError(f"{str(path)!r} can't be read as CSV: it is {kind}; {rule}")
        self.dialect = _detect_dialect(
            path, head, request.form, None if request.columns is None else set(request.columns)
        )
        self.hint, self.decimal = self.dialect.hint, self.dialect.decimal
        self.parse = arrow.ParseOptions(delimiter=self.dialect.separator, newlines_in_values=True)
        self.options = self._read_options(autogenerate_column_names=not self.dialect.header)
        with self._name_lines():
            reader = arrow.open_csv(
                self._stream(),
                read_options=self._read_options(
                    autogenerate_column_names=not self.dialect.header,
                    block_size=HEAD // 8,  # small: a pipe's head, whose last row is cut off, must hold a whole block
                ),
                parse_options=self.parse,
                convert_options=self._convert_options(),
            )
            self.names, self._guesses = list(reader.schema.names), list(reader.schema.types)
            reader.close()
        self._types: dict[str, Any] = {}  # types of columns that were streamed
        self._as_text: dict[str, list[Any]] = {}  # columns read as text, with the types to try
        if not self.dialect.header:
            self.names = [str(k + 1) for k in range(len(self.names))]
            self.options = self._read_options(column_names=self.names)
        named = set(self.names).difference(request.numeric) if request.as_written is None else request.as_written
        self.as_written = frozenset(named)

    def _read_options(self, **options: Any) -> Any:
        from pyarrow import csv as arrow

        return arrow.ReadOptions(encoding=self.dialect.encoding, skip_rows=self.dialect.skipped, **options)

    def _convert_options(self, **options: Any) -> Any:
        from pyarrow import csv as arrow

        return arrow.ConvertOptions(decimal_point=self.dialect.decimal, null_values=list(self.nulls), **options)

    def _head(self) -> bytes:
        """Return the first bytes of the content."""
        return bytes(self._stream().read(HEAD))

    def _stream(self, watch: Watch | None = None) -> Any:
        """Open the file's content; `watch` is called with the number of bytes of the file read so far."""
        import pyarrow as pa

        file = pa.OSFile(str(self.path))
        stream = pa.CompressedInputStream(file, "gzip") if self.path.name.lower().endswith(".gz") else file
        if watch is None:
            return stream

        def report_position(chunk: Any) -> Any:
            watch(file.tell())
            return chunk

        return pa.TransformInputStream(stream, report_position)

    def piece(self, shown: str, n_bytes: int = 0) -> Piece:
        """Return the file as a piece; `shown` is its name in messages."""
        return Piece(shown, None, n_bytes, self.stream, self.line, self.decimal, load=self.read)

    def read(self, columns: list[str], watch: Watch) -> list[Any]:
        """Read columns in one pass; numbers are exact, and missing or empty strings are null."""
        from pyarrow import ArrowInvalid, Table, binary, float64, int64, types, uint64
        from pyarrow import csv as arrow

        as_written = {name: binary() for name in columns if name in self.as_written}
        options = self._convert_options(include_columns=columns, column_types=as_written)

        def read(as_text: list[str] | None = None) -> Any:
            if as_text is not None:
                options.include_columns, options.column_types = as_text, dict.fromkeys(as_text, "binary")
            with self._name_lines():
                return arrow.read_csv(
                    self._stream(watch), read_options=self.options, parse_options=self.parse, convert_options=options
                )

        numbers = [int64(), uint64(), float64()]
        try:
            table = read()
            arrays = {name: table[name] for name in columns}
        except ArrowInvalid as error:
            if "conversion error" not in str(error):
                raise
            # A later row does not fit the types guessed from the first rows: read text, then try types for all rows.
            table = read(columns)
            arrays = {
                name: self._parse_column(name, table[name], [] if name in as_written else numbers) for name in columns
            }
        rounded = [name for name, column in arrays.items() if _may_be_rounded(column)]
        if rounded:
            text = read(rounded)
            for name in rounded:
                arrays[name] = self._parse_column(name, text[name], numbers)
                _check_not_rounded(name, text[name], arrays[name])
        for name, column in arrays.items():
            column = self._decode_column(name, column) if types.is_binary(column.type) else column
            if types.is_string(column.type):
                column = self._text(name, column)
                if name in as_written and name not in self.by:
                    missing = are_missing([each for each in column.unique().to_pylist() if each is not None])
                    column = _without(column, missing) if missing else column
            arrays[name] = column
        return Table.from_arrays(list(arrays.values()), names=columns).to_batches()  # type: ignore[no-any-return]

    def stream(self, columns: list[str]) -> Iterator[Any]:
        """Read columns batch by batch, with the same types and values as `read`."""
        from pyarrow import RecordBatch, binary, types

        self._learn_types(columns)
        start = 0
        known = {name: binary() if name in self._as_text else self._types[name] for name in columns}
        for batch in self._batches(known):
            arrays = []
            for name, column in zip(columns, batch.columns, strict=True):
                if types.is_binary(column.type):
                    text, column = column, self._parse_column(name, column, self._as_text.get(name, []), start)
                    if _may_be_rounded(column):
                        _check_not_rounded(name, text, column)
                arrays.append(self._text(name, column, start) if types.is_string(column.type) else column)
            start += batch.num_rows
            yield RecordBatch.from_arrays(arrays, names=columns)

    def _batches(self, known: dict[str, Any]) -> Iterator[Any]:
        """Read columns of known types batch by batch."""
        from pyarrow import csv as arrow

        with self._name_lines():
            yield from arrow.open_csv(
                self._stream(),
                read_options=self._read_options(column_names=self.options.column_names, block_size=BYTES_PER_BLOCK),
                parse_options=self.parse,
                convert_options=self._convert_options(include_columns=list(known), column_types=known),
            )

    def _learn_types(self, columns: list[str]) -> None:
        """Find the narrowest type that fits all of a column's values, as `read` does.

        The search begins with the types guessed from the first rows. Since later rows may need a wider type, all rows
        are scanned before the first batch is returned.
        """
        from pyarrow import ArrowInvalid, float64, uint64

        self._as_text.update({name: [] for name in columns if name in self.as_written})
        left = [name for name in columns if name not in self.as_written and name not in self._types]
        found = {name: self._guesses[self.names.index(name)] for name in left}
        exact: set[str] = set()  # read as text, since floats would round integers
        while found:
            large: set[str] = set()
            try:
                for batch in self._batches(found):
                    large.update(
                        name for name, column in zip(found, batch.columns, strict=True) if _may_be_rounded(column)
                    )
            except ArrowInvalid as error:
                place = re.match(r"In CSV column #(\d+): CSV conversion error", str(error))
                if place is None:
                    raise
                name = self.names[int(place[1])]
                if found[name] == uint64():
                    exact.add(name)
                found[name] = float64() if found[name] == uint64() else _wider(found[name])
                continue
            if large <= exact:
                break
            found.update(dict.fromkeys(large - exact, uint64()))
        self._types.update(found)
        self._as_text.update({name: [float64()] for name in exact})

    def _parse_column(self, name: str, text: Any, dtypes: list[Any], start: int = 0) -> Any:
        """Convert a column of bytes, whose first row is `start`, to the first of `dtypes` that fits, or to text."""
        import pyarrow as pa
        from pyarrow import compute

        column = self._decode_column(name, text, start)
        if not dtypes:
            return column
        whole = point = compute.ascii_trim(_without(column, self.nulls), " \t")
        if self.dialect.decimal != ".":  # with decimal commas, a point is not valid
            point = compute.replace_substring(compute.replace_substring(whole, ".", "?"), self.dialect.decimal, ".")
        for dtype in dtypes:
            with suppress(pa.ArrowInvalid):
                return (point if pa.types.is_floating(dtype) else whole).cast(dtype)
        return column

    def _decode_column(self, name: str, column: Any, start: int = 0) -> Any:
        """Decode a column of bytes, whose first row is `start`."""
        import pyarrow as pa

        try:
            return column.cast(pa.string())
        except pa.ArrowInvalid:
            pass
        for row, value in enumerate(column.to_pylist()):
            try:
                (value or b"").decode()
            except UnicodeDecodeError:
                raise ValueError(self._not_utf8(name, value, start + row)) from None
        return column

    def _text(self, name: str, column: Any, start: int = 0) -> Any:
        """Check strings, the first of which is in row `start`; return them with null for missing values."""
        self._check_encoding_known(name, column, start)
        return _without(column, self.no_text)

    def _check_encoding_known(self, name: str, column: Any, start: int = 0) -> None:
        """Raise if the text would read differently in another encoding that the file may have."""
        from pyarrow import compute

        if self.dialect.is_guess and not compute.all(compute.string_is_ascii(column)).as_py():
            row = next(row for row, value in enumerate(column.to_pylist()) if not (value or "").isascii())
            raise ValueError(self._not_utf8(name, column[row].as_py().encode(ONE_BYTE), start + row))

    def _not_utf8(self, name: str, value: bytes, row: int) -> str:
        return (
            f"{str(self.path)!r} is not UTF-8: column {name!r} has {value!r} at {self.line(row)}; "
            f"set {option('encoding')}, such as latin-1 or cp1252"
        )

    # Lines --------------------------------------------------------------------------------------------------------

    def line(self, row: int) -> str:
        """Return a row's name in messages: the line on which it starts, or its number if lines can't be counted."""
        records = itertools.islice(self._records(), row + self.dialect.header, None)
        line, _ = next(records, (None, []))
        return f"row {row}" if line is None else f"line {line}"

    @contextmanager
    def _name_lines(self) -> Iterator[None]:
        """If a line's number of columns differs from the first line's, make the error name that line."""
        from pyarrow import ArrowInvalid

        try:
            yield
        except ArrowInvalid as error:
            records = self._records() if "columns, got" in str(error) else iter(())
            first, names = next(records, (1, []))
            for line, record in records:
                if len(record) != len(names):
                    message = f"line {line} has {len(record)} columns, but line {first} has {len(names)}"
                    raise ArrowInvalid(message) from error
            raise

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number at which each record starts, and the record's fields."""
        encoding = "utf-8-sig" if self.dialect.encoding == "utf8" else self.dialect.encoding
        opened = gzip.open if self.path.name.lower().endswith(".gz") else open
        with opened(self.path, "rt", encoding=encoding, errors="replace", newline="") as file:
            reader = csv.reader(file, delimiter=self.dialect.separator)
            for _ in range(self.dialect.skipped):
                next(reader, None)
            line = 1 + self.dialect.skipped
            try:
                for record in reader:
                    if record:  # pyarrow leaves out empty lines, too
                        yield line, record
                    line = reader.line_num + 1
            except (csv.Error, EOFError):
                return


class CsvStream(CsvFile):
    """CSV from a pipe, which can be read only once."""

    def __init__(self, stream: Any, title: str, request: Request) -> None:
        self.first = stream.read(HEAD)
        self.rest = stream
        self.is_open = False
        super().__init__(Path(title), request)
        self.is_open = True

    def _head(self) -> bytes:
        return bytes(self.first)

    def _stream(self, watch: Watch | None = None) -> Any:
        import pyarrow as pa

        if not self.is_open:  # only the column names are read
            return pa.BufferReader(self.first if len(self.first) < HEAD else self._whole_lines())
        return pa.PythonFile(_Chained(self.first, self.rest), mode="r")

    def _whole_lines(self) -> bytes:
        """Return the first bytes, up to the end of their last whole line."""
        if self.dialect.encoding.lower().startswith(("utf-16", "utf-32", "utf16", "utf32")):  # several bytes each
            text = codecs.getincrementaldecoder(self.dialect.encoding)().decode(self.first)
            return text[: max(text.rfind("\n"), text.rfind("\r")) + 1].encode(self.dialect.encoding)
        return bytes(self.first[: max(self.first.rfind(b"\n"), self.first.rfind(b"\r")) + 1])

    def _learn_types(self, columns: list[str]) -> None:
        """Keep text as it is, and choose number types batch by batch, since later batches are not known yet."""
        from pyarrow import bool_, float64, int64, null, uint64

        for name in columns:
            guess = self._guesses[self.names.index(name)]
            are_numbers = name not in self.as_written and guess in (null(), int64(), bool_(), float64())
            self._as_text[name] = [int64(), uint64(), bool_(), float64()] if are_numbers else []

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        return iter(())


class _Chained(io.RawIOBase):
    """A stream that returns some given bytes, then those of another stream."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self.first, self.rest = io.BytesIO(first), rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self.first.read(size)
        return found or bytes(self.rest.read(size))


# Separator, encoding and header from the first lines --------------------------------------------------------------


def _detect_dialect(path: Path, head: bytes, form: CsvForm, wanted: set[str] | None) -> _Dialect:
    """Detect how a file is written from its first bytes; raise if they are ambiguous."""
    text, encoding, is_guess = _decode_head(path, head, form.encoding)
    if "\0" in text and form.encoding is None:
        of_two_bytes = text.count("\0") > len(text) // 4
        where = f"line {1 + len(text[: text.index(chr(0))].splitlines()[:-1])}"
        what = (
            f"as text in {option('encoding', 'utf-16-le')} has"
            if of_two_bytes
            else f"which text never has, the first in {where}"
        )
        raise ValueError(f"{str(path)!r} can't be read as CSV: it has NUL bytes, {what}")
    told = re.match(r"sep=([^\r\n])(\r\n?|\n)", text)
    if told is not None:
        text = text[told.end() :]
        form = form._replace(separator=form.separator or told[1])
    is_whole = len(head) < HEAD
    usual = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
    separator = form.separator or _separator(path, text, is_whole, usual, None if form.header is False else wanted)
    records = _first_records(text, separator, is_whole)
    first, *others = records or [[]]
    numbers = _looks_like_data(first)
    header = True if form.header is None else form.header
    if numbers and form.header is None and wanted is not None and set(first) == set(numbers) >= wanted:
        wanted = None  # --truth 1 may be the first column, or the column named 1
    if numbers and form.header is None and wanted is None:
        raise ValueError(
            f"{str(path)!r} has numbers in its first line, {', '.join(map(repr, numbers[:3]))}, where column names "
            f"should be: set {option('header', False)} if it is data, {option('header', True)} if these are names"
        )
    hint = ""
    if header and len(first) < 2:
        hint = f"; set {option('separator')} if columns are separated otherwise"
    elif header and numbers:
        hint = f"; if its first line is data, {option('header', False)} calls its columns 1, 2, ..."
    elif is_guess and not text.isascii():
        hint = f"; it is not UTF-8: set {option('encoding')}, such as latin-1 or cp1252"
    decimal = "," if separator != "," and _has_decimal_commas(others if header else records) else "."
    return _Dialect(separator, encoding, header, decimal, is_guess, int(told is not None), hint)


def _decode_head(path: Path, head: bytes, encoding: str | None) -> tuple[str, str, bool]:
    """Return the first bytes as text, the encoding for pyarrow, and whether the encoding is a guess."""
    encoding = encoding or next((name for mark, name in MARKS.items() if head.startswith(mark)), "utf-8")
    if encoding in ("utf-8", "utf-8-sig", "ascii"):
        names = re.split(rb"[\r\n]", head, maxsplit=1)[0]
        try:
            codecs.getincrementaldecoder("utf-8")().decode(names, final=len(names) < HEAD)
        except UnicodeDecodeError:
            return head.decode(ONE_BYTE), ONE_BYTE, True
        return head.decode("utf-8-sig", "replace"), "utf8", False
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head, final=len(head) < HEAD), encoding, False
    except UnicodeError as error:  # without a byte-order mark, UTF-16's error has no position
        reason = f"{error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ValueError(
            f"{str(path)!r} can't be read as CSV: it is not {encoding}: {reason}; set {option('encoding')}"
        ) from None


def _separator(path: Path, text: str, is_whole: bool, usual: str, wanted: set[str] | None) -> str:
    """Return the separator that splits the first lines into equal numbers of columns.

    If several separators do, return the only one with which the wanted names are found.
    """
    parsed = {separator: _first_records(text, separator, is_whole) for separator in SEPARATORS}
    several = {separator: records for separator, records in parsed.items() if records and len(records[0]) > 1}
    fitting = [separator for separator, records in several.items() if len({len(record) for record in records}) == 1]
    with_names = [separator for separator in fitting if wanted and wanted <= set(several[separator][0])]
    candidates = with_names if len(with_names) == 1 else fitting or list(several)
    if len(candidates) == 1:
        return candidates[0]
    if len(fitting) > 1:
        columns = " or ".join(f"{separator!r} ({len(several[separator][0])} columns)" for separator in fitting)
        raise ValueError(f"{str(path)!r} may have columns separated by {columns}: set {option('separator')}")
    return usual


def _first_records(text: str, separator: str, is_whole: bool) -> list[list[str]]:
    """Return the fields of the first complete, non-empty lines; an empty list if they can't be parsed."""
    try:
        records = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), LINES))
    except csv.Error:
        return []
    return [record for record in (records if is_whole or len(records) == LINES else records[:-1]) if record]


def _looks_like_data(names: list[str]) -> list[str]:
    """Return the column names that are numbers; return none if these numbers merely count from 0 or 1."""
    numbers = [name for name in names if is_number(name) and any(map(str.isdigit, name))]
    counts = ([str(k) for k in range(start, start + len(numbers))] for start in (0, 1))
    return [] if numbers in counts else numbers


def _has_decimal_commas(records: list[list[str]]) -> bool:
    """Return whether some numbers have a decimal comma and none has a decimal point; 1,234 and 1.234 don't count."""
    commas = False
    for value in itertools.chain.from_iterable(records):
        if "." in value and is_number(value) and not THOUSANDS.fullmatch(value.strip()):
            return False
        whole, comma, part = value.strip().lstrip("+-").partition(",")
        if comma and part[:1].isdigit() and is_number(f"{whole}.{part}"):
            commas = commas or len(part) != 3 or whole in ("", "0") or len(whole) > 3
    return commas


def _without(column: Any, words: Sequence[str]) -> Any:
    """Return strings with the given words replaced by null."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.if_else(compute.is_in(column, value_set=pa.array(words)), None, column)


# Types of columns -----------------------------------------------------------------------------------------------------


def _wider(dtype: Any) -> Any:
    """Return the next wider type, which pyarrow tries if a column's values don't fit `dtype`."""
    import pyarrow as pa

    order = [
        pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"), pa.timestamp("s"), pa.timestamp("ns"),
        pa.float64(), pa.string(), pa.binary(),
    ]  # fmt: skip
    return order[order.index(dtype) + 1] if dtype in order else pa.string()


# Large integers ---------------------------------------------------------------------------------------------------


def _may_be_rounded(column: Any) -> bool:
    """Return whether a column has floats so large that they may be rounded integers."""
    from pyarrow import compute, types

    if not types.is_floating(column.type):
        return False
    size = compute.abs(column)
    large = compute.and_(compute.greater_equal(size, float(EXACT_INTEGER)), compute.is_finite(size))
    return bool(compute.any(large).as_py())


def _check_not_rounded(name: str, text: Any, column: Any) -> None:
    """Raise if an integer was rounded when it was read as a float."""
    from pyarrow import types

    if types.is_floating(column.type):
        for value in text.to_pylist():
            if value is not None and value.strip().lstrip(b"+-").isdigit() and float(value) != int(value):
                raise ValueError(
                    f"column {name!r} holds {value.decode()}, which a float rounds, "
                    "and not all its values are 64-bit integers"
                )
