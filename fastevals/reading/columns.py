"""Reads named columns into memory, names columns in messages, and assigns one number to all rows that share a value."""

from __future__ import annotations

import math
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import progress_bar, run
from fastevals._limits import available_memory
from fastevals._naming import dropping, option
from fastevals._options import show
from fastevals._text import printable
from fastevals._validation.arrays import (
    check_exact_integers,
    check_one_weight,
    check_same_length,
    first_text,
    holds_numbers,
    is_arrow,
    missing_rows,
    numbers_of,
    raise_not_finite,
    text_array,
)
from fastevals._validation.labels import as_column, as_groups, check_several_groups
from fastevals._validation.text import GroupKeys, TextLabels, encode_text, is_text, unique_inverse
from fastevals.counting.labels import code_labels
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import open_source
from fastevals.reading.form import SUMMARY
from fastevals.reading.model_columns import ModelColumns
from fastevals.reading.rows import Batch, ColumnReader, LeftOut, NoRowsError, RowReader, joined_columns
from fastevals.reading.segments import RowSegments
from fastevals.reading.sources import Piece, RowRules, Source, Watch, explained, is_path, read_piece
from fastevals.reading.values import (
    PartlyMissing,
    as_values,
    ascending,
    have_missing,
    name_values,
    ordered_categories,
    parse_label,
    refuse_text,
    values_or_missing,
)

Names = Mapping[str, str]  # from columns to their names in messages

BYTES_UNWATCHED = 1 << 16  # smaller CSV files are read without watching their memory
COLUMNS_SHARE = 1 / 3  # share of free memory for columns; arrays and sorted copies need as much again
MOST_UNPACKED, MOST_TIMES = 1 << 30, 100  # a .gz file's columns may take 1 GiB, or 100 times its size if that is more


class NamedColumns(dict[str, NDArray[Any]]):
    """Columns by name; `line` returns a row's name in messages, such as its line in a file.

    Columns in `as_written` hold a CSV file's text unchanged, numbers included. `left_out` counts the rows left
    out because they lack a value. `data` is the source's name in output. `categories` has the classes of class
    probabilities, if the type of their column orders them.
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        line: Callable[[int], str] = "row {}".format,
        as_written: Collection[str] = (),
        left_out: LeftOut = LeftOut(),  # noqa: B008 (never modified)
        data: str = "",
        categories: Mapping[str, list[Any]] = MappingProxyType({}),
    ) -> None:
        super().__init__(columns)
        self.categories = categories
        self.line = line
        self.as_written = frozenset(as_written)
        self.left_out, self.data = left_out, data

    def encode_values(self, shown: str, name: str) -> tuple[list[Any], NDArray[np.intp]]:
        """Return a column's distinct values in ascending order, and each row's index into them."""
        return encode_values(shown, self[name], as_written=name in self.as_written)

    def encode_groups(self, shown: str, name: str) -> NDArray[np.intp]:
        """Return each row's group as a number; raise unless there are several groups."""
        return self.code_groups(shown, name)[1]

    def code_groups(self, shown: str, name: str) -> tuple[Any, NDArray[np.intp]]:
        """Return the groups, and each row's index into them; raise unless there are several groups."""
        return code_groups(shown, self[name], as_written=name in self.as_written)


def read_columns(
    data: Any,
    wanted: Names | None,
    *,
    numeric: Collection[str] = (),
    names: Collection[str] | None = (),
    beside: Names = MappingProxyType({}),
    form: CsvForm = CsvForm(),  # noqa: B008 (never modified)
    truth: str | None = None,
    rules: RowRules | None = None,
) -> NamedColumns:
    """Read some columns of data.

    Parameters
    ----------
    data : path, frame, mapping, ...
        Anything that `open_source` opens.
    wanted : mapping of str to str, or None
        The columns to read, with their names in messages (such as ``--label 'y'``); None for all.
    numeric : collection of str
        Columns of `wanted` that must hold numbers.
    names : collection of str, or None
        Columns of group or class names, read from a CSV file as unchanged text. None means all columns except those
        in `numeric`.
    beside : mapping of str to str
        Further columns with their names in messages; if all columns are read, these names replace the default ones.
    form : CsvForm
        Separator, encoding and header of a CSV file, as far as they are known.
    truth : str, optional
        The column of true values.
    rules : RowRules, optional
        Whether rows with a missing label, and rows with another missing value, raise an error or are left out and
        counted. By default such rows raise an error that does not mention the options for leaving rows out.

    Returns
    -------
    NamedColumns
        Arrays of shape (n_rows,): numbers and booleans keep their types, and strings become `TextLabels`. No value is
        missing, but floats may be NaN unless rows are dropped.

    Raises
    ------
    ValueError
        If `open_source` raises it; if the data need too much memory or have no rows; or if a column is missing, not
        unique, of the wrong type or length, or has missing values.
    """
    columns = None if wanted is None and not beside else {**(wanted or {}), **beside}
    source = open_source(data, Request(columns, names, numeric, "drop" in (rules or ()), form))
    return join_columns(source, _called(source, wanted, beside), numeric, truth=truth, rules=rules)


def _called(source: Source, wanted: Names | None, beside: Names) -> dict[str, str]:
    return {**({name: f"column {name!r}" for name in source.names} if wanted is None else wanted), **beside}


def join_columns(
    source: Source,
    wanted: Names,
    numeric: Collection[str],
    *,
    truth: str | None = None,
    segments: RowSegments = RowSegments(),  # noqa: B008 (never modified)
    rules: RowRules | None = None,
    together: Names = MappingProxyType({}),
) -> NamedColumns:
    """Read some columns of all pieces of a source; arguments and errors as for `read_columns`.

    Rows with a missing value in a column of `segments` are kept. Rows left out count for one name if `together` maps
    several columns to it.
    """
    loaded = _Loaded(source, wanted, numeric, truth, segments, rules, together)
    named = [truth] if together and truth is not None else []
    categories = {name: found for name in named if (found := loaded.categories(name)) is not None}
    arrays: dict[str, Any] = {name: loaded.take(name) for name in wanted}
    check_same_length(**{wanted[name]: array for name, array in arrays.items()})
    left_out, as_written = loaded.left_out, source.as_written
    for name in as_written.intersection(segments.columns):
        arrays[name], left_out = _named_values(name, arrays[name], segments, left_out)
    written = as_written.difference(segments.columns)
    return NamedColumns(arrays, loaded.line, written, left_out, source.name, categories)


def _named_values(name: str, column: Any, segments: RowSegments, left_out: LeftOut) -> tuple[PartlyMissing, LeftOut]:
    """Parse the text of a column that divides the rows; return its values, and `left_out` by parsed value."""
    column = PartlyMissing.joined([column])
    of_left_out = segments.values_of(left_out.by_value)[name]
    written = list(dict.fromkeys([*column.names.tolist(), *of_left_out]))
    texts = [name for name in written if name is not None]
    values: dict[Any, Any] = {None: None} | dict(zip(texts, name_values(texts), strict=True))
    distinct = [value for value in ascending({values[name] for name in column.names.tolist()}) if value is not None]
    place = {None: -1} | {value: k for k, value in enumerate(distinct)}
    places = np.array([*(place[values[name]] for name in column.names.tolist()), -1], np.intp)
    names = text_array(distinct) if distinct and isinstance(distinct[0], str) else np.array(distinct)
    renamed = {
        key: segments.renamed(key, lambda of, value: values[value] if of == name else value)
        for key in left_out.by_value
    }
    return PartlyMissing(names, places[column.codes]), left_out.named(renamed)


def read_numbers(path: str, beside: Names, form: CsvForm) -> tuple[NamedColumns, list[str]]:
    """Read a file's numeric columns, and the columns in `beside`; arguments and errors as for `read_columns`.

    Columns in `beside` may have any type. Return the columns, and the names of the columns that are skipped.
    """
    source = open_source(path, Request(beside or None, form=form))
    loaded = _Loaded(source, _called(source, None, beside), (), None, RowSegments(), None)
    kept = {name for name in loaded.names if name in beside or loaded.columns[name].holds_numbers}
    arrays = {name: loaded.take(name) for name in loaded.names if name in kept}
    return NamedColumns(arrays, loaded.line), [name for name in loaded.names if name not in kept]


class _Column:
    """A column that is being read: numbers go into one array if their count is known; other values wait.

    Joining batches at the end would need memory for a second copy of one column or, if Arrow frees no batch before all
    of its columns are joined, for a second copy of all columns.
    """

    def __init__(self, source: Source, n_rows: int | None) -> None:
        self.source, self.n_rows, self.n_bytes = source, n_rows, 0
        self.numbers: NDArray[Any] | None = None
        self.waiting: list[tuple[int, Batch, Any]] = []  # first row, batch and values of each part
        self._lock = threading.Lock()

    def keeps(self, start: int, column: Any) -> bool:
        """Store the numbers of a batch that begins at row `start`; return whether they were stored.

        They are stored if they are an Arrow column without nulls, have the type of earlier batches, and come from a
        source whose number of rows is known. The numbers of a source's only batch are not stored.
        """
        if not is_arrow(column):
            return False
        with self._lock:
            self.n_bytes += column.nbytes
        if self.n_rows is None or len(column) == self.n_rows or column.null_count or not _are_numbers(column.type):
            return False
        values = numbers_of(column)
        with self._lock:
            if self.numbers is None:
                self.numbers = self._allocate(values.dtype)
        if values.dtype != self.numbers.dtype:  # a batch of another file may have another type
            return False
        self.numbers[start : start + values.size] = values
        return True

    def _allocate(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        try:
            return np.empty(self.n_rows or 0, dtype)
        except (MemoryError, ValueError) as error:
            with explained(self.source.title, self.source.format):
                raise EOFError(f"it says that it holds {self.n_rows} rows, more than fit in memory") from error

    @property
    def holds_numbers(self) -> bool:
        """Whether the column's type is numeric."""
        return self.numbers is not None or holds_numbers(self.waiting[0][2].type)


def _are_numbers(dtype: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype))


class _Loaded:
    """All rows of a source, read piece by piece (remote pieces in parallel), with the origin of each row."""

    def __init__(
        self,
        source: Source,
        wanted: Names,
        numeric: Collection[str],
        truth: str | None,
        segments: RowSegments,
        rules: RowRules | None,
        together: Names = MappingProxyType({}),
    ) -> None:
        source.check_columns(wanted)
        numbers = [name for name in wanted if name in numeric]
        self.source, self.names, self.numeric = source, dict(wanted), frozenset(numbers)
        self.truth, self.by, self.has_rules = truth, segments.columns, rules is not None
        self.reader = None  # used if some rows may be left out
        if rules is not None and "drop" in rules:
            keys = [name for name in wanted if name not in numeric]
            checks = "raise" in rules  # a rule that raises also applies to rows that the other rule drops
            self.reader = ColumnReader(
                source, keys, numbers, truth=truth, segments=segments, rules=rules, checks=checks, names=wanted,
                together=together,
            )  # fmt: skip
        n_rows = None if self.reader is not None or source.in_memory else source.n_rows
        self.columns = {name: _Column(source, n_rows) for name in wanted}
        self._starts = [0, *accumulate(piece.n_rows or 0 for piece in source.pieces)]
        source.check_unchanged()
        with self._watch() as watch:
            pieces = list(enumerate(source.pieces))
            each = run if source.is_remote else map  # on one disk, threads only take more memory
            found = list(each(lambda numbered: self._load(numbered[0], numbered[1], watch), pieces))
        source.check_unchanged()
        self._batches: list[tuple[int, Batch]] = []
        for k, (batches, waiting) in enumerate(found):
            self._batches += [(k, batch) for batch in batches]
            for name, parts in waiting.items():
                self.columns[name].waiting += parts
        sizes = [batch.n_rows if batch.kept is None else batch.kept.size for _, batch in self._batches]
        self._ends = list(accumulate(sizes))
        if not self._ends:
            raise NoRowsError.of(source.title, self.left_out)

    def _load(
        self, k: int, piece: Piece, watch: Callable[[int, int], None]
    ) -> tuple[list[Batch], dict[str, list[tuple[int, Batch, Any]]]]:
        """Read a piece; return its batches, and the columns that wait to be joined."""
        batches: list[Batch] = []
        waiting: dict[str, list[tuple[int, Batch, Any]]] = {name: [] for name in self.columns}
        for batch, columns in self._read(piece, lambda position: watch(k, position)):
            batches.append(batch)
            start = self._starts[k] + batch.start
            for name, column in columns.items():
                if (name in self.by and have_missing(column)) or not self.columns[name].keeps(start, column):
                    waiting[name].append((start, batch, column))
        return batches, waiting

    def _read(self, piece: Piece, watch: Watch) -> Iterator[tuple[Batch, dict[str, Any]]]:
        """Yield the place of each batch of a piece, and the batch's unchanged columns."""
        title = self.source.title if self.source.is_one else piece.name
        if self.reader is not None:  # requires columns of equal length
            yield from self.reader.checked(piece, name=title, watch=None if self.source.in_memory else watch)
            return
        for start, batch in read_piece(piece, list(self.names), self.source.format, name=title, watch=watch):
            if batch.num_rows:
                yield Batch(piece, start, batch.num_rows), {name: batch.column(k) for k, name in enumerate(self.names)}

    @property
    def left_out(self) -> LeftOut:
        """The rows left out."""
        return LeftOut() if self.reader is None else self.reader.left_out

    @contextmanager
    def _watch(self) -> Iterator[Callable[[int, int], None]]:
        """Yield a function to call with a piece's number and its bytes read so far, for progress and a limit of memory.

        A small file may hold columns a thousand times its size. The size of columns is the growth of Arrow's allocated
        memory, or the sum of the columns' own sizes if that is larger (other arrays may have been freed meanwhile). If
        the size exceeds the limit, the function raises ValueError.
        """
        source, columns, positions = self.source, self.columns, dict[int, int]()
        if source.in_memory or (source.is_csv and 0 < source.n_bytes < BYTES_UNWATCHED and not source.n_packed):
            yield lambda k, position: None
            return
        import pyarrow as pa

        size, before, available = source.n_bytes, pa.total_allocated_bytes(), available_memory()
        most = math.inf if available is None else available * COLUMNS_SHARE
        if source.n_packed:
            most = min(most, max(MOST_UNPACKED, MOST_TIMES * size))
        title = printable(os.path.basename(source.name))
        with progress_bar(size, False, desc=f"reading {title}", unit="B", unit_scale=True) as show_bar:

            def watch(k: int, position: int) -> None:
                positions[k] = position
                done = sum(list(positions.values()))
                show_bar(done)
                held = max(pa.total_allocated_bytes() - before, sum(column.n_bytes for column in columns.values()))
                if held > most:
                    part = f"{_megabytes(done)} of its {_megabytes(size)} hold" if size else "it holds"
                    raise ValueError(
                        f"{source.title} is too large: {part} {_megabytes(held)} of columns, and at most "
                        f"{_megabytes(most)} are read (a third of the free memory, or {MOST_TIMES} times the size of a "
                        ".gz file): unpack the file if it is meant to be so large"
                    )

            yield watch

    def categories(self, name: str) -> list[Any] | None:
        """Return a column's values in order if its type orders them, the same way in all batches; otherwise None."""
        found = [ordered_categories(each) for _, _, each in self.columns[name].waiting]
        return found[0] if found and all(each == found[0] for each in found) else None

    def take(self, name: str) -> Any:
        """Return a column as an array, and forget it to save memory; raise if a value is missing."""
        column, shown = self.columns.pop(name), self.names[name]
        read = as_values if name in self.by else partial(as_column, numeric=name in self.numeric)
        parts = [(batch, each) for _, batch, each in column.waiting]
        if name in self.by and any(have_missing(each) for _, each in parts):
            return self._parted(shown, column)
        if parts and is_arrow(parts[0][1]):
            self._check_missing(name, parts)
            if name in self.numeric:
                self._check_numbers(shown, parts)
        if column.numbers is None:
            try:
                return self._joined(shown, parts, read)
            except ValueError:
                self._check_missing(name, parts)  # raises a more specific error
                raise
        if parts:  # from files in which the column has another type
            arrays = [as_column(shown, each, numeric=True) for _, each in parts]
            numbers = _widened(shown, column.numbers, arrays)
            for (start, _, _), array in zip(column.waiting, arrays, strict=True):
                numbers[start : start + array.size] = array
            return numbers
        return column.numbers

    def _parted(self, shown: str, column: _Column) -> PartlyMissing:
        """Join the batches of a column that has missing values."""
        waiting = [values_or_missing(shown, each) for _, _, each in column.waiting]
        labels = [each.labels if isinstance(each, PartlyMissing) else each for each in waiting]
        known = [(batch, each) for (_, batch, _), each in zip(column.waiting, labels, strict=True) if len(each)]
        if column.numbers is not None:
            known.insert(0, (column.waiting[0][1], column.numbers))
        self._check_alike(shown, [batch for batch, _ in known], [each for _, each in known])
        if column.numbers is None:
            return PartlyMissing.joined(waiting)
        for start, _, each in column.waiting:
            column.numbers[start : start + len(each)] = 0
        joined, n_rows = PartlyMissing.joined([column.numbers, *waiting]), column.numbers.size
        firsts = accumulate(map(len, waiting), initial=n_rows)
        for (start, _, each), first in zip(column.waiting, firsts, strict=False):
            joined.codes[start : start + len(each)] = joined.codes[first : first + len(each)]
        return joined[:n_rows]

    def _check_missing(self, name: str, parts: list[tuple[Batch, Any]]) -> None:
        missing = [(batch, rows) for batch, each in parts if (rows := missing_rows(each)) is not None]
        if missing:
            count = sum(int(np.count_nonzero(rows)) for _, rows in missing)
            where = self._row(missing[0][0], int(missing[0][1].argmax()))
            hint = dropping(is_label=name == self.truth) if self.has_rules else ""
            raise ValueError(
                f"{self.names[name]} has {count} missing value{'s' * (count > 1)}, the first at {where}{hint}"
            )

    def _check_numbers(self, shown: str, parts: list[tuple[Batch, Any]]) -> None:
        """Raise if a column that must hold numbers has another type; name its first value that is not a number."""
        others = [(batch, each) for batch, each in parts if not holds_numbers(each.type)]
        for batch, each in others:
            values = each.to_pylist()
            row = first_text(values, batch.piece.decimal)
            if row is not None:
                refuse_text(shown, each.type, values[row], self._row(batch, row))
        for batch, each in others:
            refuse_text(shown, each.type, each[0].as_py(), self._row(batch, 0))

    def _joined(self, shown: str, parts: list[tuple[Batch, Any]], read: Callable[[str, Any], Any]) -> Any:
        """Convert the batches of a column to arrays with `read`, and join them."""
        first = parts[0][1]
        if len(parts) == 1:
            return read(shown, first)
        if is_arrow(first) and all(each.type == first.type for _, each in parts):
            import pyarrow as pa

            return read(shown, pa.chunked_array([each for _, each in parts]))
        arrays = [read(shown, each) for _, each in parts]
        self._check_alike(shown, [batch for batch, _ in parts], arrays)
        return joined_columns(arrays)

    def _check_alike(self, shown: str, batches: Sequence[Batch], arrays: Sequence[Any]) -> None:
        """Raise unless all batches are text, or all are numbers that one type holds without rounding."""
        for batch, array in zip(batches, arrays, strict=True):
            if (is_text(array), type(array) is GroupKeys) != (is_text(arrays[0]), type(arrays[0]) is GroupKeys):
                raise ValueError(
                    f"{shown} must have labels of one type, got {show(arrays[0][0])} in what was read first and "
                    f"{show(array[0])} at {self._row(batch, 0)}"
                )
        if arrays and not isinstance(arrays[0], TextLabels):
            _widened(shown, arrays[0][:0], arrays)

    def _row(self, batch: Batch, row: int) -> str:
        """Return the name that messages use for a batch's row, with the source if there are several sources."""
        if not self.source.is_one:
            return batch.row(row)
        row = row if batch.kept is None else int(batch.kept[row])
        start = next(k for k, piece in enumerate(self.source.pieces) if piece is batch.piece)
        return batch.piece.place(self._starts[start] + batch.start + row)

    def line(self, row: int) -> str:
        """Return the name that messages use for a row of the joined columns."""
        k = bisect_right(self._ends, row)
        return self._row(self._batches[k][1], row - (self._ends[k - 1] if k else 0))


def _widened(shown: str, numbers: NDArray[Any], others: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Convert numbers to a type that can also hold `others`; raise if that type would round any of them."""
    dtype = np.result_type(numbers, *others)
    for array in (numbers, *others) if dtype.kind == "f" else ():
        check_exact_integers(shown, array)
    return numbers.astype(dtype)


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def are_summaries(data: Any) -> bool:
    """Return whether data is output of `fastevals summarize`: one or more files, or the object read from them."""
    paths = [data] if is_path(data) else data
    if not isinstance(paths, (list, tuple)):
        return type(data).__name__ in ("ScoresSummary", "SummarizedClasses")
    return bool(paths) and all(is_path(path) and os.fsdecode(path).endswith(SUMMARY) for path in paths)


# Names of columns in messages -----------------------------------------------------------------------------------------


def column_name(role: str, name: Any) -> str | None:
    """Return an option's column name as text, or None; frames may name columns by numbers."""
    return None if name is None else _named(role, name)


def column_names(role: str, names: Any) -> tuple[str, ...]:
    """Return an option's column names as a tuple, from one name, a sequence of names, or None."""
    if names is None:
        return ()
    if isinstance(names, (str, bytes, set, frozenset)) or not isinstance(names, Iterable):
        names = [names]  # a set is refused because it has no order
    return tuple(_named(role, name) for name in names)


def _named(role: str, name: Any) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        return str(int(name))
    if isinstance(name, tuple):  # from a frame with multi-level column names
        return str(name)
    raise ValueError(f"{option(role)} must be the name of a column, got {show(name)}")


def columns_by_role(roles: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """Return each column's name in messages, such as ``--label 'y'``; raise if a column has two roles.

    `roles` are pairs: an option's name in messages, and a column's name or None.
    """
    called: dict[str, str] = {}
    for role, name in roles:
        if name in called:
            raise ValueError(f"{role} {name!r} is given already, as {called[name]}; a column has one role")
        if name is not None:
            called[name] = f"{role} {name!r}"
    return called


ROLES = {  # truth, models
    "scores": ("label", "score"),
    "labels": ("label", "pred"),
    "targets": ("target", "pred"),
    "probabilities": ("label", "probabilities"),
}


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of a data set by their roles."""

    truth: str  # the true class or number
    models: tuple[str, ...]  # one column of scores or predictions per model, or the names of `class_columns`
    weight: str | None = None  # row weights, or numbers of copies
    by: tuple[str, ...] = ()  # each of their values makes a segment
    groups: str | None = None  # clusters: a bootstrap draws rows with the same value together
    are_copies: bool = False  # whether `weight` holds numbers of copies
    cross: bool = False  # whether segments are combinations of the values of several columns
    kind: str = "scores"  # kind of prediction: "scores", "labels", "targets" or "probabilities"
    cost_fp: str | None = None  # each row's cost of a false positive
    cost_fn: str | None = None  # of a false negative
    cost_tp: str | None = None  # and of a true positive
    class_columns: tuple[ModelColumns, ...] = ()  # of probabilities: each model's columns, one per class

    @classmethod
    def checked(
        cls, truth: str, models: Sequence[str], sample_weight: str | None, frequency_weight: str | None, **others: Any
    ) -> ColumnRoles:
        """Return the roles; raise if both weights and numbers of copies are given."""
        check_one_weight(sample_weight, frequency_weight, names=(option("sample_weight"), option("frequency_weight")))
        column = sample_weight if frequency_weight is None else frequency_weight
        return cls(truth, tuple(models), column, are_copies=frequency_weight is not None, **others)

    @property
    def weights(self) -> dict[str, str | None]:
        """The column that each of the two weight options gave; None if the option was not given."""
        name = self.weight
        return {
            "sample_weight": None if self.are_copies else name,
            "frequency_weight": name if self.are_copies else None,
        }

    def without_costs(self) -> ColumnRoles:
        """Return the roles without the columns of costs."""
        return replace(self, cost_fp=None, cost_fn=None, cost_tp=None)

    @property
    def are_several(self) -> bool:
        """Whether several columns divide the rows, each on its own."""
        return len(self.by) > 1 and not self.cross

    @property
    def segments(self) -> RowSegments:
        """How the columns of `by` divide the rows."""
        return RowSegments(self.by, self.cross)

    @property
    def model_columns(self) -> tuple[str, ...]:
        """The columns of the models' scores or predictions."""
        if self.kind != "probabilities":
            return self.models
        return tuple(name for each in self.class_columns for name in each.columns)

    @property
    def together(self) -> dict[str, str]:
        """The model of each column, if a model has several columns."""
        return {name: each.model for each in self.class_columns for name in each.columns}

    def message_names(self) -> dict[str, str]:
        """Return each column's name in messages, such as ``--label 'y'``; raise if a column has two roles."""
        truth, model = ROLES[self.kind]
        others = [*self.weights.items(), *(("by", name) for name in self.by), ("groups", self.groups)]
        others += [(f"{name}_column", getattr(self, name)) for name in ("cost_fp", "cost_fn", "cost_tp")]
        roles = [(truth, self.truth), *((model, name) for name in self.model_columns), *others]
        return columns_by_role((option(role), name) for role, name in roles)

    def reason(self, column: str) -> str:
        """Return the reason for leaving out rows that lack a value in a column."""
        what = {"scores": "score", "probabilities": "probability"}.get(self.kind, "prediction")
        truth = "missing target" if self.kind == "targets" else "missing label"
        others: dict[str | None, str] = dict.fromkeys(self.costs, "invalid cost")
        others |= {self.groups: "missing group", self.weight: "invalid weight", self.truth: truth}
        return others.get(column, f"invalid {what}")

    @property
    def lacking(self) -> dict[str, str]:
        """Phrases for the value that a row may lack, such as "a label", by column."""
        what = {"scores": "a finite score", "probabilities": "finite probabilities"}.get(self.kind, "a prediction")
        found = {self.truth: "a target" if self.kind == "targets" else "a label"}
        found |= {name: f"{what} of {printable(name)}" for name in self.models}
        found |= dict.fromkeys(self.costs, "a finite cost")
        return found if self.weight is None else found | {self.weight: "a finite weight"}

    @property
    def costs(self) -> tuple[str, ...]:
        """Columns of costs by row."""
        return tuple(name for name in (self.cost_fp, self.cost_fn, self.cost_tp) if name is not None)

    @property
    def naming(self) -> tuple[str, ...]:
        """Columns that hold names: of classes, blocks or clusters."""
        classes = (self.truth, *self.models) if self.kind == "labels" else ()
        return tuple(name for name in (*classes, *self.by, self.groups) if name is not None)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        truth = (self.truth,) if self.kind == "targets" else ()
        numbers = () if self.kind == "labels" else (*truth, *self.model_columns)
        return (*numbers, *(() if self.weight is None else (self.weight,)), *self.costs)

    def request(self, rules: RowRules, form: CsvForm) -> Request:
        """Return the request for these columns."""
        return Request(self.message_names(), self.naming, self.numeric, "drop" in rules, form, self.by)


def row_reader(source: Source, roles: ColumnRoles, pos_label: Any, rules: RowRules) -> RowReader:
    """Return a reader of a source's rows in scans."""
    return RowReader(
        source, roles.truth, roles.models, weight=roles.weight, segments=roles.segments, groups=roles.groups,
        pos_label=pos_label,
        are_copies=roles.are_copies, rules=rules, names=roles.message_names(),
        parse=lambda wanted, labels: parse_label(wanted, labels) if isinstance(wanted, str) else wanted,
    )  # fmt: skip


# Rows that share a value: the blocks of --by, the groups of --group; the class of --pos-label ------------------------


def encode_values(shown: str, column: Any, *, as_written: bool = False) -> tuple[list[Any], NDArray[np.intp]]:
    """Return a column's distinct values in ascending order, and each row's index into them.

    Text of a CSV file (`as_written`) becomes numbers if every value is in standard form: 7, not 007. None, for missing
    values, comes last.
    """
    if isinstance(column, PartlyMissing):
        column = column.compact()
        if not column.names.size:
            return [None], column.codes + 1
        values, places = encode_values(shown, column.labels)
        if not (column.codes < 0).any():
            return values, places[column.codes]
        return [*values, None], np.append(places, len(values)).astype(np.intp)[column.codes]
    if as_written:
        names, codes = unique_inverse(as_groups(shown, column))
        named = name_values(names.tolist())
        if None in named:
            raise ValueError(f"{shown} must not have missing values, got {names[named.index(None)]!r} among numbers")
        order = sorted(range(len(named)), key=named.__getitem__)
        return [named[k] for k in order], np.argsort(order)[codes]
    if column.dtype.kind in "ib":
        labels, (places,) = code_labels([column])
        return labels.astype(column.dtype).tolist(), places
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise_not_finite(shown, column)
    is_encoded = column.dtype.kind != "O" or isinstance(column, GroupKeys)
    distinct, codes = unique_inverse(column if is_encoded else encode_text(shown, column))
    return distinct.tolist(), codes


def encode_groups(shown: str, column: NDArray[Any], *, as_written: bool = False) -> NDArray[np.intp]:
    """Return each row's group as a number; raise unless there are several groups."""
    return code_groups(shown, column, as_written=as_written)[1]


def code_groups(shown: str, column: NDArray[Any], *, as_written: bool = False) -> tuple[Any, NDArray[np.intp]]:
    """Return the groups, and each row's index into them; raise unless there are several groups."""
    named = encode_values(shown, column, as_written=True) if as_written else unique_inverse(as_groups(shown, column))
    check_several_groups(shown, np.asarray(named[0]))
    return named


def share_numbers(sides: Iterable[tuple[list[Any], NDArray[np.intp]]]) -> list[NDArray[np.intp]]:
    """Return each row's value as a number that several sets of rows share, given each set's values and indices.

    If some values are text and others are not, all are compared as text, because CSV files don't say which.
    """
    sides = list(sides)
    are_mixed = len({isinstance(value, str) for values, _ in sides for value in values}) > 1
    numbers: dict[Any, int] = {}
    shared = []
    for values, codes in sides:
        keys = [str(value) for value in values] if are_mixed else values
        shared.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)[codes])
    return shared
