"""TREC's files: judgments (query, iteration, document, relevance), runs (query, Q0, document, rank, score, tag)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from fastevals._options import import_optional, show
from fastevals.reading.files import check_file, known_format
from fastevals.reading.sources import CSV, MISSING, explained

FIELDS = {
    "relevance": ("query", "iteration", "document", "relevance"),
    "score": ("query", "Q0", "document", "rank", "score", "tag"),
}
BYTES_PER_FIRST_LINE = 1 << 16


class TrecColumns(NamedTuple):
    """The queries, documents and values of a file, as columns of Arrow."""

    queries: Any
    documents: Any
    values: Any
    lines: list[int] | None = None  # the line of each row; None if there are no blank lines

    def line(self, row: int) -> str:
        """Return the name of a row in messages."""
        return f"line {row + 1 if self.lines is None else self.lines[row]}"


def read_trec(path: str, value: str) -> TrecColumns | None:
    """Read a file of judgments (`value` is "relevance") or of a run ("score"); return None for another form of file.

    Ids are text. Fields are separated by spaces or tabs; the file may be compressed (.gz). A file whose name does not
    end as a CSV file's must be in TREC's form.
    """
    form = known_format(path)
    if not os.path.isfile(path) or form not in (CSV, None):
        return None
    import_optional("pyarrow", MISSING)
    with explained(repr(path)):
        number, first = _first_line(path)
    kind = next((kind for kind, names in FIELDS.items() if _is_trec(first, names)), None)
    if kind is None and form is None:
        check_file(path)
        raise _wrong_fields(path, FIELDS[value], number, first, "; the name of a CSV file must end with .csv or .tsv")
    if kind is None:
        return None
    if kind != value:
        what = {"relevance": "judgments", "score": "a run"}
        raise ValueError(f"{path!r} must hold {what[value]} ({' '.join(FIELDS[value])}), but holds {what[kind]}")
    names = FIELDS[kind]
    return _by_arrow(path, first, names) or _by_line(path, names)


def _stream(path: str) -> Any:
    import pyarrow as pa

    return pa.input_stream(path, compression="detect")


def _first_line(path: str) -> tuple[int, str]:
    """Return the number and the text of the first line that is not blank."""
    with _stream(path) as stream:
        head = stream.read(BYTES_PER_FIRST_LINE)
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return next(((number, line) for number, line in enumerate(lines, 1) if line.strip()), (1, ""))


def _wrong_fields(path: str, names: tuple[str, ...], number: int, line: str, hint: str = "") -> ValueError:
    return ValueError(
        f"{path!r} must have {len(names)} fields in each line ({' '.join(names)}), got {show(line)} in line {number}"
        f"{hint}"
    )


def _is_trec(first: str, names: tuple[str, ...]) -> bool:
    fields = first.split()
    if len(fields) != len(names):
        return False
    numbers = [field for name, field in zip(names, fields, strict=True) if name in ("rank", *FIELDS)]
    return all(map(_is_number, numbers))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_arrow(path: str, first: str, names: tuple[str, ...]) -> TrecColumns | None:
    """Read a file whose fields are separated by one character each; return None if they are not."""
    import pyarrow as pa
    from pyarrow import csv

    kept = [name for name in names if name in ("query", "document", *FIELDS)]
    dtypes = {name: pa.float64() if name in FIELDS else pa.string() for name in kept}
    try:
        with _stream(path) as stream:
            table = csv.read_csv(
                stream,
                csv.ReadOptions(column_names=list(names)),
                csv.ParseOptions(delimiter="\t" if "\t" in first else " ", quote_char=False, ignore_empty_lines=False),
                csv.ConvertOptions(column_types=dtypes, include_columns=kept, null_values=[]),
            )
    except pa.ArrowInvalid:
        return None
    table = table.combine_chunks()  # otherwise ids are numbered chunk by chunk, which takes three times as long
    return TrecColumns(*(table[name] for name in kept))


def _by_line(path: str, names: tuple[str, ...]) -> TrecColumns:
    """Read a file with any number of spaces between fields; raise if a line has other fields."""
    import pyarrow as pa

    queries, documents, values, lines = [], [], [], []
    for number, fields in _lines(path):
        wrong = len(fields) != len(names)
        value = "" if wrong else fields[names.index("score" if "score" in names else "relevance")]
        if wrong or not _is_number(value):
            raise _wrong_fields(path, names, number, " ".join(fields))
        queries.append(fields[0])
        documents.append(fields[2])
        values.append(float(value))
        lines.append(number)
    return TrecColumns(pa.array(queries), pa.array(documents), pa.array(values, pa.float64()), lines)


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is not blank."""
    import io

    with explained(repr(path)), _stream(path) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8-sig"), 1):
            if fields := line.split():
                yield number, fields
