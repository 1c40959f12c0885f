"""Reads binary labels and scores batch by batch; rows pass the same checks as arrays, and errors name the row."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Required, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import OnInvalid
from fastevals._kernels.checksums import mix_column, sum_hashes
from fastevals._naming import dropping, option
from fastevals._options import listed, show
from fastevals._validation.arrays import (
    check_one_weight,
    exact_floats,
    first_text,
    holds_numbers,
    is_arrow,
    missing_rows,
)
from fastevals._validation.labels import Classes, as_column, binary_labels, both_classes, distinct_pair
from fastevals._validation.text import TextLabels, is_text, share_names
from fastevals.counting.ordering import BinaryLabels
from fastevals.reading.segments import RowSegments
from fastevals.reading.sources import Piece, RowRules, Source, Watch, read_piece
from fastevals.reading.values import (
    PartlyMissing,
    finite_rows,
    kept_rows,
    name_values,
    refuse_text,
    values_or_missing,
)


class Rows(NamedTuple):
    """The rows of one batch, except rows that lack a label, a weight or a finite score."""

    flags: NDArray[np.uint8]  # 1 for positive rows
    scores: tuple[NDArray[Any], ...]  # one array per model
    weights: NDArray[np.float64] | None
    values: tuple[Any, ...]  # columns that divide the rows
    groups: NDArray[Any] | None  # cluster of each row

    def take(self, rows: Any) -> Rows:
        """Return the rows that an index or mask selects."""
        scores, values = (tuple(column[rows] for column in columns) for columns in (self.scores, self.values))
        weights, groups = (None if column is None else column[rows] for column in (self.weights, self.groups))
        return Rows(self.flags[rows], scores, weights, values, groups)

    def counted(self, are_copies: bool) -> tuple[int, int]:
        """Return the numbers of rows and of positive rows, including copies if weights are numbers of copies."""
        if self.weights is None or not are_copies:
            return self.flags.size, int(np.count_nonzero(self.flags))
        return int(self.weights.sum()), int(self.weights[self.flags > 0].sum())

    def by_segment(self, segments: RowSegments) -> Iterator[tuple[Any, Rows]]:
        """Yield each segment's key with its rows; if rows are not divided, yield None with all rows."""
        for key, part in segments.divide(self.values):
            yield key, self if part is None or part.size == self.flags.size else self.take(part)

    def checksums(self) -> list[int]:
        """Return a checksum per model, which almost surely differs for different rows but ignores their order."""
        hashes: NDArray[Any] = self.flags
        others = [column for column in (self.weights, *self.values, self.groups) if column is not None]
        if others:
            hashes = hashes.astype(np.uint64)
        for column in others:
            mix_column(hashes, _bits(column))
        return [int(sum_hashes(hashes, _bits(scores))) for scores in self.scores]

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts, concatenated."""
        flags = np.concatenate([part.flags for part in parts])
        scores = tuple(np.concatenate(columns) for columns in zip(*(part.scores for part in parts), strict=True))
        values = tuple(joined_columns(columns) for columns in zip(*(part.values for part in parts), strict=True))
        weights, groups = (joined_columns([getattr(part, name) for part in parts]) for name in ("weights", "groups"))
        return cls(flags, scores, weights, values, groups)


class LeftOut(NamedTuple):
    """Numbers of rows left out because they can't be counted: in total, and by the column that lacks a value.

    A row that lacks several values counts for each of their columns; `alone` counts rows that lack only one value. If
    rows are divided into segments, `by_value` has the rows left out of each, by its key.
    """

    n_rows: int = 0
    by_column: Mapping[str, int] = {}
    alone: Mapping[str, int] = {}
    by_value: Mapping[Any, Any] = {}

    @classmethod
    def of(cls, wrong: Mapping[str, NDArray[np.bool_]], segments: RowSegments, columns: Sequence[Any]) -> LeftOut:
        """Count the rows of a batch that are invalid in some column, also by segment; `columns` divide the rows."""
        times = np.sum(list(wrong.values()), axis=0)
        by_column = {name: int(np.count_nonzero(each)) for name, each in wrong.items()}
        alone = {name: int(np.count_nonzero(each & (times == 1))) for name, each in wrong.items()}
        by_value = {}
        rows = np.flatnonzero(times)
        for key, part in segments.divide([column[rows] for column in columns]):
            if part is not None:
                its = {name: each[rows[part]] for name, each in wrong.items()}
                by_value[key] = cls.of({name: each for name, each in its.items() if each.any()}, RowSegments(), ())
        return cls(int(np.count_nonzero(times)), by_column, alone, by_value)

    @classmethod
    def total(cls, parts: Iterable[LeftOut]) -> LeftOut:
        """Add up the numbers of several parts."""
        n_rows, by_column, alone = 0, Counter[str](), Counter[str]()
        by_value = defaultdict[Any, list[LeftOut]](list)
        for part in parts:
            n_rows += part.n_rows
            by_column.update(part.by_column)
            alone.update(part.alone)
            for value, its in part.by_value.items():
                by_value[value].append(its)
        return cls(n_rows, dict(by_column), dict(alone), {value: cls.total(its) for value, its in by_value.items()})

    def named(self, names: Mapping[Any, Any]) -> LeftOut:
        """Return the same numbers with values renamed; values that get the same name are merged."""
        parts = [LeftOut(by_value={names[value]: its}) for value, its in self.by_value.items()]
        return self._replace(by_value=LeftOut.total(parts).by_value)


class NoRowsError(ValueError):
    """The data have no rows, or none that can be counted; `left_out` has the numbers of those that can't be."""

    def __init__(self, message: str, left_out: LeftOut | None = None) -> None:
        super().__init__(message)
        self.left_out = left_out or LeftOut()

    @classmethod
    def of(cls, title: str, left_out: LeftOut) -> NoRowsError:
        """Return the error for a source by its title."""
        return cls(f"{title} has no rows" + (" that can be counted" if left_out.n_rows else ""), left_out)


class ColumnReader:
    """Reads the columns of a source batch by batch, in any number of threads.

    Parameters
    ----------
    files : Source
    keys, numbers : sequence of str
        Columns that hold labels, classes or groups, and columns that hold finite numbers.
    truth : str, optional
        The column of true values, which is in `keys` or `numbers`.
    segments : RowSegments
        Columns that divide the rows, which are in `keys` or `numbers` too. Rows with a missing value in one of them are
        kept.
    rules : RowRules
        Whether rows with a missing label, and rows with another missing value, raise an error or are left out.
    checks : bool
        Whether this reader raises the errors that `rules` ask for; if not, its caller raises them.
    names : mapping of str to str, optional
        Names of the columns in messages.
    together : mapping of str to str, optional
        A name for several columns whose missing values count as one.
    """

    def __init__(
        self,
        files: Source,
        keys: Sequence[str],
        numbers: Sequence[str],
        *,
        truth: str | None = None,
        segments: RowSegments = RowSegments(),  # noqa: B008 (never modified)
        rules: RowRules = RowRules(),  # noqa: B008 (never modified)
        checks: bool = True,
        names: Mapping[str, str] | None = None,
        together: Mapping[str, str] | None = None,
    ) -> None:
        rules.check()
        self._together = dict(together or {})
        self.files, self.truth, self.parted, self.rules, self._checks = files, truth, segments, rules, checks
        self.columns = list(dict.fromkeys([*keys, *numbers]))
        self.names = {name: f"column {name!r}" for name in self.columns} if names is None else dict(names)
        files.check_columns(self.names)
        self._numbers = frozenset(numbers)
        self._lock = threading.Lock()
        self._dropped: dict[str, LeftOut] = {}  # rows left out, by piece

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because they can't be counted."""
        return self.left_out.n_rows

    @property
    def left_out(self) -> LeftOut:
        """Rows left out because they can't be counted, by the column that lacks a value."""
        return LeftOut.total(self._dropped.values())

    def dropped(self, pieces: Iterable[Piece]) -> LeftOut:
        """Return the rows of pieces that are left out because they can't be counted."""
        return LeftOut.total(self._dropped[piece.name] for piece in pieces if piece.name in self._dropped)

    def batches(self, piece: Piece) -> Iterator[tuple[Batch, dict[str, NDArray[Any]]]]:
        """Yield each batch's place, and its columns as numbers, booleans or text."""
        for place, columns in self.checked(piece):
            yield place, {name: self._values(name, column) for name, column in columns.items()}

    def _values(self, name: str, column: Any) -> Any:
        if name in self.parted.columns:
            return values_or_missing(self.names[name], column)
        return as_column(self.names[name], column, numeric=name in self._numbers)

    def checked(
        self, piece: Piece, *, name: str = "", watch: Watch | None = None
    ) -> Iterator[tuple[Batch, dict[str, Any]]]:
        """Yield each batch's place, and the unchanged columns of its valid rows; arguments as for `read_piece`."""
        dropped: list[LeftOut] = []
        for start, batch in read_piece(piece, self.columns, self.files.format, name=name, watch=watch):
            if not batch.num_rows:
                continue
            place = Batch(piece, start, batch.num_rows)
            columns = {name: batch.column(k) for k, name in enumerate(self.columns)}
            wrong = self._wrong(columns, place)
            if wrong:
                parted = [self._values(name, columns[name]) for name in self.parted.columns]
                dropped.append(LeftOut.of(wrong, self.parted, parted))
                valid = ~np.any(list(wrong.values()), axis=0)
                if not valid.any():
                    continue
                columns = {name: kept_rows(column, valid) for name, column in columns.items()}
                place = place._replace(kept=np.flatnonzero(valid))
            if self._checks:
                self._check_numbers(batch, place)
            yield place, columns
        with self._lock:  # only if the piece was read to its end
            self._dropped[piece.name] = LeftOut.total(dropped)

    def _check_numbers(self, batch: Any, place: Batch) -> None:
        """Raise if a column of numbers has another type; name its first value, in any batch, that is not a number."""
        for name in self._numbers:
            column = batch.column(self.columns.index(name))
            if not is_arrow(column) or holds_numbers(column.type):
                continue
            dtype = column.type
            again = self.files.can_repeat
            batches = read_piece(place.piece, [name]) if again else [(place.start, batch.select([name]))]
            row, value = place.start, column[0].as_py()
            for start, each in batches:
                values = each.column(0).to_pylist()
                first = first_text(values, place.piece.decimal)
                if first is not None:
                    row, value = start + first, values[first]
                    break
            refuse_text(self.names[name], dtype, value, place._replace(start=0, kept=None).row(row))

    def _wrong(self, arrays: Mapping[str, Any], place: Batch) -> dict[str, NDArray[np.bool_]]:
        """Return, by column, a mask of the rows that can't be counted; raise if the rules forbid such rows."""
        found: dict[str, NDArray[np.bool_]] = {}
        for name, array in arrays.items():
            rule = self.rules.of(is_truth=name == self.truth)
            if name in self.parted.columns or (rule == "raise" and not self._checks):
                continue
            wrong, what = missing_rows(array), "missing value"
            finite = finite_rows(array, infinite=name not in self._numbers)
            if finite is not None:
                wrong, what = (~finite, "NaN or infinite value") if wrong is None else (wrong | ~finite, what)
            if wrong is None:
                continue
            if rule == "raise":
                count = int(np.count_nonzero(wrong))
                where = place.row(int(wrong.argmax()))
                raise ValueError(
                    f"{self.names[name]} has {count} {what}{'s' * (count > 1)}, the first at {where}"
                    f"{dropping(is_label=name == self.truth)}"
                )
            name = self._together.get(name, name)
            found[name] = found[name] | wrong if name in found else wrong
        return found


class RowReader(ColumnReader):
    """Reads a source as rows of binary labels and scores, in any number of threads.

    Parameters
    ----------
    files : Source
    label : str
        Column of the true class.
    scores : sequence of str
        Columns of scores, one per model.
    weight, groups : str, optional
        Columns of row weights and of clusters.
    segments : RowSegments
        Columns that divide the rows.
    are_copies : bool
        Whether weights are numbers of copies.
    are_groups : bool
        Whether segments are groups, so that each row must have a value; otherwise rows without one are a segment.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans.
    rules : RowRules
        Whether rows without a label, and rows without a weight or a finite score, raise an error or are left out.
    names : mapping of str to str
        Names of the columns in messages.
    parse : callable, optional
        Called with `pos_label` and the first labels; returns the label that `pos_label` means.
    labels : tuple, optional
        The positive and the negative label, as far as they are known beforehand.
    """

    def __init__(
        self,
        files: Source,
        label: str,
        scores: Sequence[str],
        *,
        weight: str | None = None,
        segments: RowSegments = RowSegments(),  # noqa: B008 (never modified)
        groups: str | None = None,
        pos_label: Any = None,
        rules: RowRules = RowRules(),  # noqa: B008 (never modified)
        names: Mapping[str, str] | None = None,
        parse: Callable[[Any, list[Any]], Any] = lambda wanted, labels: wanted,
        labels: tuple[Any, Any] = (None, None),
        are_copies: bool = False,
        are_groups: bool = False,
    ) -> None:
        keys = [name for name in (label, *segments.columns, groups) if name is not None]
        numbers = [name for name in (*scores, weight) if name is not None]
        parted = RowSegments() if are_groups else segments
        super().__init__(files, keys, numbers, truth=label, segments=parted, rules=rules, names=names)
        self.segments = segments
        self.label, self.scores, self.weight, self.groups = label, tuple(scores), weight, groups
        self.are_copies = are_copies
        self._wanted, self._parse = pos_label, parse
        self._labels = labels  # positive and negative, as far as they are known
        self._like: Any = None  # a label, which shows the type of the file's labels
        self._has_positives = False
        self._weightless: dict[str, int] = {}
        self._parts: dict[Any, None] = {}  # values that divide rows, as read
        self.n_rows: dict[str, int] = {}  # rows kept, by piece
        self.reads_again = True  # rows that are read only once need no checksums
        self._checksums: dict[str, list[int]] = {}

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.scores

    @property
    def weighs_rows(self) -> bool:
        """Whether rows have weights that are not numbers of copies."""
        return self.weight is not None and not self.are_copies

    @property
    def identity(self) -> list[Any]:
        """The columns and files that are read; two readers of the same rows have equal identities."""
        by = self.segments.columns
        crossing = [*by[1:], *["crossed"] * self.segments.are_crossed]
        columns = [self.label, *self.scores, self.weight, by[0] if by else None, self.groups]
        columns += [*["copies"] * self.are_copies, *crossing]
        return [columns, self.files.identity]

    def weightless(self, pieces: Iterable[Piece]) -> int:
        """Return the number of rows left out because their weight is zero."""
        return sum(self._weightless.get(piece.name, 0) for piece in pieces)

    @property
    def n_weightless(self) -> int:
        """Number of rows left out because their weight is zero."""
        return sum(self._weightless.values())

    def no_rows(self) -> ValueError:
        """Return the error to raise if no row is left; it gives the reason."""
        if self.weight is not None and self.n_weightless:
            shown = self.names[self.weight]
            return ValueError(f"{shown} must have a value above zero, but all {self.n_weightless} are zero")
        return NoRowsError.of(self.files.title, self.left_out)

    @property
    def checksums(self) -> list[int]:
        """A checksum per model over all pieces that were read to their end."""
        return joined_checksums([[0] * len(self.scores), *self._checksums.values()])

    @property
    def labels(self) -> tuple[Any, Any]:
        """The positive and the negative label; None if unknown."""
        return self._labels

    @property
    def positive(self) -> Any:
        """The positive label, in the type of the file's labels."""
        positive = self._labels[0]
        return positive if self._like is None or positive is None else type(self._like)(positive)

    @property
    def classes(self) -> Classes:
        """The names of the two classes."""
        return named_classes(self._labels)

    def value_names(self, values: Iterable[Any]) -> dict[Any, Any]:
        """Map the values that divide rows, in ascending order, to what they stand for: CSV files hold them as text.

        Values of earlier calls and of rows left out are included.
        """
        self._parts |= {**dict.fromkeys(values), **dict.fromkeys(self.left_out.by_value)}
        found = list(self._parts)
        if not self.files.is_csv:
            return {key: key for key in self.segments.ascending(found, self.names)}
        named: dict[str, dict[Any, Any]] = {}
        for name, values in self.segments.values_of(found).items():
            texts = [value for value in values if value is not None]
            named[name] = dict(zip(texts, name_values(texts), strict=True)) | ({None: None} if None in values else {})
            missing = [value for value in values if named[name][value] is None]
            if len(missing) > 1:
                raise ValueError(f"{self.names[name]} has several words for a missing value among numbers: {missing}")
        written = {self.segments.renamed(key, lambda name, value: named[name][value]): key for key in found}
        return {written[key]: key for key in self.segments.ascending(written, self.names)}

    def learn(self) -> None:
        """Read the labels of the first rows, so that errors about other labels don't depend on the reading order."""
        if self.files.can_repeat and self._labels[0] is None:
            for piece in self.files.pieces:
                if any(True for _ in self.rows(piece)):
                    break

    def rows(self, piece: Piece) -> Iterator[Rows]:
        """Yield the rows of a piece; raise at its end if they differ from an earlier reading."""
        n_kept = n_weightless = 0
        checksums = [[0] * len(self.scores)]
        for place, arrays in self.checked(piece):
            flags = self._flags(self._values(self.label, arrays[self.label]), place)
            scores = tuple(self._scores(name, arrays[name], place) for name in self.scores)
            weights = None if self.weight is None else self._weights(arrays[self.weight], place)
            values = tuple(self._values(name, arrays[name]) for name in self.segments.columns)
            groups = None if self.groups is None else self._values(self.groups, arrays[self.groups])
            rows = Rows(flags, scores, weights, values, groups)
            if weights is not None and not weights.all():
                rows = rows.take(weights != 0)
                n_weightless += flags.size - rows.flags.size
            n_kept += rows.flags.size
            if rows.flags.size:
                if self.reads_again:
                    checksums.append(rows.checksums())
                yield rows
        found = joined_checksums(checksums)
        with self._lock:  # only if the piece was read to its end
            if self.n_rows.setdefault(piece.name, n_kept) != n_kept:
                raise ValueError(f"{piece.name} has changed: it had {self.n_rows[piece.name]} rows, and now {n_kept}")
            if self.reads_again and self._checksums.setdefault(piece.name, found) != found:
                raise ValueError(f"{piece.name} has changed: its rows differ from the first time it was read")
            self._weightless[piece.name] = n_weightless

    # Columns ----------------------------------------------------------------------------------------------------------

    def _scores(self, name: str, array: Any, place: Batch) -> NDArray[Any]:
        values = self._values(name, array)
        try:
            return exact_floats(self.names[name], values.view(np.uint8) if values.dtype == np.bool_ else values)
        except ValueError as error:
            raise ValueError(f"{error} (in {place.piece.name})") from None

    def _weights(self, array: Any, place: Batch) -> NDArray[np.float64]:
        assert self.weight is not None
        weights: NDArray[np.float64] = self._values(self.weight, array).astype(np.float64)
        if weights.size and weights.min() < 0:
            row = int(np.argmax(weights < 0))
            raise ValueError(
                f"{self.names[self.weight]} must hold weights that are not negative, got {show(weights[row])} at "
                f"{place.row(row)}"
            )
        if self.are_copies and (weights != np.trunc(weights)).any():
            row = int(np.argmax(weights != np.trunc(weights)))
            raise ValueError(
                f"{self.names[self.weight]} must hold whole numbers, the number of copies of each row, got "
                f"{show(weights[row])} at {place.row(row)}"
            )
        return weights

    def _flags(self, values: NDArray[Any], place: Batch) -> NDArray[np.uint8]:
        """Return 1 for positive rows and 0 for others."""
        labels = self._known(values, place)
        flags = np.empty(values.size, np.uint8)
        n_known = labels.mark(slice(0, flags.size), flags)
        self._has_positives = self._has_positives or bool(flags.any())
        if n_known < flags.size:
            if self._wanted is not None and not self._has_positives:
                distinct = listed(sorted({labels.negative, *distinct_pair(values)} - {None}))
                raise ValueError(
                    f"{option('pos_label')} must be a label of {self.names[self.label]} ({distinct}), got "
                    f"{show(self._wanted)}"
                )
            both = [labels.positive] if labels.negative is None else [labels.negative, labels.positive]
            other = ~np.isin(np.asarray(values), both)
            row = int(np.argmax(other))
            raise ValueError(
                f"{self.names[self.label]} must have two labels, which are {' and '.join(map(show, both))} in what was "
                f"read first, got {show(values[row])} in {np.count_nonzero(other)} rows, the first at {place.row(row)}"
            )
        return flags

    def _known(self, values: NDArray[Any], place: Batch) -> BinaryLabels:
        """Return `values` as labels, with the two allowed labels (of earlier rows, or the first two in `values`)."""
        positive, negative = self._labels
        if positive is None or negative is None:
            with self._lock:
                self._learn(values)
            positive, negative = self._labels
        if isinstance(positive, str) != is_text(values):
            row = first_text(values) or 0
            raise ValueError(
                f"{self.names[self.label]} must have labels of one type, got {show(positive)} in what was read first "
                f"and {show(values[row])} at {place.row(row)}"
            )
        return BinaryLabels(values, positive, negative)

    def _learn(self, values: NDArray[Any]) -> None:
        """Learn the positive and the negative label from the first values."""
        positive, negative = self._labels
        distinct = distinct_pair(values)
        if positive is None:
            name = self.names[self.label]
            wanted = None if self._wanted is None else self._parse(self._wanted, sorted(distinct))
            _, positive, negative = binary_labels(name, values, wanted, option=option("pos_label"))
            self._like = sorted(distinct)[0]
        elif isinstance(positive, str) == is_text(values):
            others = [label for label in distinct if label != positive]
            if others and negative is None:
                if self._wanted is None:  # whether 1 is positive by default depends on the other label
                    binary_labels(
                        self.names[self.label], np.array([positive, others[0]]), None, option=option("pos_label")
                    )
                negative = others[0]
        self._labels = positive, negative


def joined_checksums(parts: Iterable[Sequence[int]]) -> list[int]:
    """Return the checksums of all rows from the checksums of parts."""
    return [sum(each) % 2**64 for each in zip(*parts, strict=True)]


def _bits(column: Any) -> NDArray[np.uint64]:
    """Return 64 bits for each row of a column; equal values have equal bits."""
    if isinstance(column, PartlyMissing):
        return np.append(_bits(column.labels), np.uint64(0))[column.codes]
    if isinstance(column, TextLabels):
        hashed = [
            hashlib.blake2b(str(name).encode(errors="surrogatepass"), digest_size=8).digest() for name in column.names
        ]
        return np.frombuffer(b"".join(hashed), np.uint64)[column.codes]
    numbers: NDArray[np.float64] = np.add(column, 0.0, dtype=np.float64)  # -0.0 is 0.0
    return numbers.view(np.uint64)


def joined_columns(columns: Sequence[Any]) -> Any:
    """Concatenate the parts of a column; None if the rows have no such column."""
    if columns[0] is None:
        return None
    if any(isinstance(column, PartlyMissing) for column in columns):
        return PartlyMissing.joined(columns)
    if not isinstance(columns[0], TextLabels):
        return np.concatenate(columns)
    names, codes = share_names(columns)
    return type(columns[0])(names, np.concatenate(codes))


def named_classes(labels: tuple[Any, Any]) -> Classes:
    """Return the names of two classes, as far as they are known."""
    positive, negative = labels
    return Classes(both_classes(1 if positive is None else positive, negative), 1 if positive is None else positive)


class Batch(NamedTuple):
    """The place of a batch: its piece, its first row and its number of rows."""

    piece: Piece
    start: int
    n_rows: int
    kept: NDArray[np.intp] | None = None  # the batch's rows that are not left out; None for all

    def row(self, row: int) -> str:
        """Return the name that messages use for one of the batch's rows."""
        row = row if self.kept is None else int(self.kept[row])
        return f"{self.piece.place(self.start + row)} of {self.piece.name}"


# Options --------------------------------------------------------------------------------------------------------------


def score_names(score: Any) -> tuple[str, ...]:
    """Return the names of one or more score columns as a tuple."""
    scores = tuple(score) if isinstance(score, Iterable) and not isinstance(score, str) else (score,)
    if not scores or not all(isinstance(name, str) for name in scores):
        raise ValueError(f"score must be the name of a column, or names, got {show(score)}")
    if len(set(scores)) < len(scores):
        raise ValueError(f"score must name each column once, got {show(list(scores))}")
    return scores


def check_names(**columns: Any) -> None:
    """Raise unless all arguments are column names."""
    for name, column in columns.items():
        if not isinstance(column, str):
            raise ValueError(f"{name} must be the name of a column, got {show(column)}")


def given_columns(**columns: str | None) -> dict[str, str]:
    """Return the columns that are not None."""
    return {name: column for name, column in columns.items() if column is not None}


class CountOptions(TypedDict, total=False):
    """Options for the rows to count and their weights."""

    sample_weight: str | None
    frequency_weight: str | None
    on_missing_label: OnInvalid
    on_invalid: OnInvalid


class LabelOptions(CountOptions, total=False):
    """Options for the true class, in addition to `CountOptions`."""

    label: Required[str]
    pos_label: Any


class RankingOptions(LabelOptions, total=False):
    """Options for the ranges of scores, in addition to `LabelOptions`."""

    cells: int
    at: ArrayLike


class Weights(NamedTuple):
    """The column of row weights, or of numbers of copies."""

    sample_weight: str | None = None
    frequency_weight: str | None = None

    def given(self) -> dict[str, str]:
        """Map the argument that gave the weight column to this column; raise if both arguments are given."""
        check_one_weight(self.sample_weight, self.frequency_weight, ("sample_weight", "frequency_weight"))
        return given_columns(**self._asdict())

    @property
    def are_copies(self) -> bool:
        """Whether the column holds numbers of copies."""
        return self.frequency_weight is not None

    @property
    def column(self) -> str | None:
        """The column given by either argument, or None."""
        return self.frequency_weight if self.are_copies else self.sample_weight
