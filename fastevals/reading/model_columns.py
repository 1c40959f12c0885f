"""Finds the class probabilities of several models: a column for each class, or columns of lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import row_at, show
from fastevals._validation.arrays import as_array, frame_names, holds_numbers, is_arrow, is_frame, named_columns
from fastevals._validation.class_order import are_default_names
from fastevals.reading.class_columns import ANY, ClassColumns
from fastevals.reading.sources import ArrayBatch, Piece, Source, check_columns, is_path

JOINTS = "_-.:/| "  # characters between a model's name and a class
ROLE = "probabilities"


class ModelColumns(NamedTuple):
    """The columns that hold one model's class probabilities."""

    model: str
    given: str  # the pattern or column that names them
    columns: tuple[str, ...]
    classes: tuple[str, ...] | None  # of the columns; None if a column of lists does not name them

    @property
    def shown(self) -> str:
        """The option in messages."""
        return f"{option(ROLE)} {self.given!r}"


# Names ----------------------------------------------------------------------------------------------------------------


def model_columns(
    source: Source, given: Sequence[str | ModelColumns], others: Mapping[str, str], n_classes: int | None
) -> tuple[Source, list[ModelColumns]]:
    """Find each model's columns.

    Parameters
    ----------
    source : Source
    given : sequence of str or ModelColumns
        Patterns with ``*`` in place of the class, or names of columns of lists. A column that fits several patterns
        goes to the longest.
    others : mapping of str to str
        Columns with another role, by their names in messages. No pattern matches them.
    n_classes : int, optional
        Length of the lists; by default, the first list sets it.

    Returns
    -------
    Source
        The same rows. A column of lists is replaced by one column per class, such as ``forest[0]``.
    list of ModelColumns
        One per model, with different names.

    Raises
    ------
    ValueError
        If a pattern matches fewer than two columns, or a column is missing or has no lists of equal length.
    """
    twice = next((each for k, each in enumerate(given) if each in given[:k]), None)
    if twice is not None:
        raise ValueError(f"{option(ROLE)} must name each model once, got {twice!r} twice")
    matched = _matched(source, given, others)
    found, lists = [], dict[str, int]()
    for each in given:
        if isinstance(each, ModelColumns):
            found.append(each)
        elif each in matched:
            columns, classes, _ = matched[each]
            check_columns(source.title, source.names, {name: f"{option(ROLE)} {name!r}" for name in columns})
            before, _, after = each.partition(ANY)
            found.append(ModelColumns(before.rstrip(JOINTS) or after.lstrip(JOINTS) or "p", each, columns, classes))
        else:
            shown = f"{option(ROLE)} {each!r}"
            check_columns(source.title, source.names, {each: shown}, source.hint)
            if each in others:
                raise ValueError(f"{shown} is given already, as {others[each]}; a column has one role")
            lists[each] = n_classes or _width(source, each, shown)
            found.append(ModelColumns(each, each, tuple(places_of(each, lists[each])), None))
    found = _named_apart(found, others)
    return split_lists(source, lists), found


def _matched(source: Source, given: Sequence[str | ModelColumns], others: Collection[str]) -> dict[str, ClassColumns]:
    """Return the columns that each pattern matches; longer patterns take theirs first."""
    patterns = [each for each in given if isinstance(each, str) and ANY in each and each not in source.names]
    found, taken = dict[str, ClassColumns](), list(others)
    for pattern in sorted(patterns, key=len, reverse=True):
        found[pattern] = ClassColumns.find(source.names, pattern, None, taken)
        taken += found[pattern].columns
    return found


def _named_apart(found: Sequence[ModelColumns], others: Collection[str]) -> list[ModelColumns]:
    """Name models by their patterns where names would be those of other models or of columns with another role."""
    names = [each.model for each in found]
    return [
        each._replace(model=each.given) if names.count(each.model) > 1 or each.model in others else each
        for each in found
    ]


def add_arrays(data: Any, arrays: Mapping[Any, Any]) -> tuple[dict[str, Any], list[str | ModelColumns]]:
    """Add models' matrices to columns by name; return all columns, and where each model's are.

    A frame's columns are named by class, unless they have default names; a matrix of shape (n_samples, n_classes)
    becomes a column of lists.
    """
    columns = None if is_path(data) or isinstance(data, (list, tuple)) else named_columns("data", data)
    if columns is None:
        raise ValueError(f"{option(ROLE)} holds arrays, which go with data in memory: a frame or named columns")
    if not arrays:
        raise ValueError(f"{option(ROLE)} must hold a model's array or more, got {show(arrays)}")
    columns, found = {str(name): column for name, column in columns.items()}, list[str | ModelColumns]()
    for key, values in arrays.items():
        model = str(key)
        if isinstance(values, str):
            raise ValueError(
                f"{option(ROLE)} must map a model to its array, got {values!r} for {model!r}; patterns of columns go "
                "in a list, and what stands before * names the model"
            )
        if is_frame(values) and not are_default_names(frame_names(values)):
            of_classes = {str(name): column for name, column in (named_columns(model, values) or {}).items()}
            names = {label: f"{model}[{label}]" for label in of_classes}
            columns |= {names[label]: column for label, column in of_classes.items()}
            found.append(ModelColumns(model, model, tuple(names.values()), tuple(of_classes)))
        elif model in columns:
            raise ValueError(f"{option(ROLE)} must not have the name of a column of data, got {model!r}")
        else:
            columns[model] = values
            found.append(model)
    return columns, found


# Columns of lists -----------------------------------------------------------------------------------------------------


def places_of(name: str, n_classes: int) -> list[str]:
    """Return the names of the columns that replace a column of lists."""
    return [f"{name}[{k}]" for k in range(n_classes)]


def _width(source: Source, name: str, shown: str) -> int:
    """Return the number of classes of a column of lists: the length of its first list."""
    if not source.can_repeat:
        raise ValueError(f"{option('classes')} is missing: it names the classes of the lists in {shown}, in order")
    for piece in source.pieces:
        for batch in piece.read([name]):
            rows = _rows_of(shown, batch.column(0))
            width = next((each for each in rows.lengths if each), 0)
            if width:
                return int(width)
    raise ValueError(f"{shown} must hold lists of probabilities, one per class, but has none")


def split_lists(source: Source, lists: Mapping[str, int]) -> Source:
    """Return a source with one column per class in place of each column of lists; `lists` has their lengths."""
    if not lists:
        return source
    names = [each for name in source.names for each in (places_of(name, lists[name]) if name in lists else [name])]
    return replace(source, names=names, pieces=[_split_piece(piece, lists) for piece in source.pieces])


def _split_piece(piece: Piece, lists: Mapping[str, int]) -> Piece:
    homes = {place: name for name, n_classes in lists.items() for place in places_of(name, n_classes)}

    def wrap(read: Callable[..., Iterable[Any]]) -> Callable[..., Iterator[Any]]:
        def split(columns: list[str], *watch: Any) -> Iterator[Any]:
            stored, start = list(dict.fromkeys(homes.get(name, name) for name in columns)), 0
            for batch in read(stored, *watch):
                whole = {name: batch.column(k) for k, name in enumerate(stored)}
                for name in lists.keys() & whole.keys():
                    rows = _rows_of(f"{option(ROLE)} {name!r}", whole.pop(name))
                    matrix = rows.matrix(lists[name], lambda row, start=start: piece.place(start + row))  # type: ignore[misc]
                    whole |= dict(zip(places_of(name, lists[name]), matrix.T, strict=True))
                yield _batch_like(batch, {name: whole[name] for name in columns})
                start += batch.num_rows

        return split

    return piece._replace(read=wrap(piece.read), load=None if piece.load is None else wrap(piece.load))


def _batch_like(batch: Any, columns: dict[str, Any]) -> Any:
    if isinstance(batch, ArrayBatch):
        return ArrayBatch(columns, batch.num_rows)
    import pyarrow as pa

    arrays = [pa.array(each) if isinstance(each, np.ndarray) else each for each in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def matrix_of_lists(shown: str, column: Any) -> NDArray[Any]:
    """Return a column of lists of equal length as an array of shape (n_samples, n_classes), NaN for a missing list."""
    rows = _rows_of(shown, column.combine_chunks() if hasattr(column, "combine_chunks") else column)
    return rows.matrix(int(next((each for each in rows.lengths if each), 0)), row_at)


class _ListRows(NamedTuple):
    """A column of lists: the values of all lists one after the other, and the length of each list."""

    shown: str
    values: NDArray[Any]
    lengths: NDArray[np.int64]  # 0 for a missing list

    def matrix(self, n_classes: int, row: Callable[[int], str]) -> NDArray[Any]:
        """Return an array of shape (n_samples, n_classes), NaN where a list is missing; raise for another length."""
        known = self.lengths > 0
        wrong = known & (self.lengths != n_classes)
        if wrong.any():
            first = int(wrong.argmax())
            raise ValueError(
                f"{self.shown} must have {n_classes} probabilities per row, one per class, got {self.lengths[first]} "
                f"at {row(first)}"
            )
        if known.all():
            return self.values.reshape(-1, n_classes)
        out = np.full((known.size, n_classes), np.nan, self.values.dtype)
        out[known] = self.values.reshape(-1, n_classes)
        return out


def _rows_of(shown: str, column: Any) -> _ListRows:
    """Return the lists of a column: an Arrow list, a 2-D array, or a sequence of sequences; raise for other columns."""
    if is_arrow(column):
        from pyarrow import compute, types

        is_list = types.is_list(column.type) or types.is_large_list(column.type)
        if not (is_list or types.is_fixed_size_list(column.type)) or not holds_numbers(column.type.value_type):
            _refuse_no_lists(shown, column.type)
        values = as_array(shown, column.flatten().to_numpy(zero_copy_only=False))
        lengths = compute.if_else(column.is_valid(), compute.list_value_length(column), 0)
        return _ListRows(shown, _floats(values), lengths.to_numpy(zero_copy_only=False).astype(np.int64))
    array = as_array(shown, column)
    if array.ndim == 2 and array.dtype.kind in "fiub":
        return _ListRows(shown, _floats(array).ravel(), np.full(array.shape[0], array.shape[1]))
    if array.ndim != 1 or array.dtype.kind != "O":
        _refuse_no_lists(shown, f"{array.dtype}, shape {array.shape}")
    rows = [np.empty(0) if _is_missing(each) else np.asarray(each) for each in array]
    odd = next((each for each in rows if each.ndim != 1 or each.dtype.kind not in "fiub"), None)
    if odd is not None:
        _refuse_no_lists(shown, f"object, with {show(odd.tolist())}")
    return _ListRows(shown, _floats(np.concatenate(rows)), np.array([each.size for each in rows]))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _floats(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _refuse_no_lists(shown: str, dtype: Any) -> None:
    raise ValueError(
        f"{shown} must be a column of lists with a probability for each class, or a pattern such as 'p_*' for one "
        f"column per class, but has type {dtype}"
    )
