"""Text labels of any storage, as integer codes and the names that the codes stand for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import ROWS_PER_BLOCK, blocks, chunks, run
from fastevals._kernels.labels import enter_keys, note_first, number_keys, number_words
from fastevals._validation.arrays import INT64, SHORT_CHARACTERS, check_all_strings, plain_text, text_array

Codes = NDArray[Any]
Ints = NDArray[np.int64]

SLOTS = 1 << 10  # slots of the first table: it fits into cache and holds all labels except long-tailed ones
GROWTH = 1 << 4  # growth of the next tables; a chunk starts over each time, so the last table costs most
NAMED = {("uuid", "UUID"), ("pandas", "Interval"), ("pandas", "Period")}  # modules and types whose text is a name
MOSTLY = 15 / 16  # share of new objects in the rows so far, above which rows are compared by value


class TextLabels:
    """Text labels: the code of each row, and the name of each code.

    They behave like an array of text: `numpy.asarray` converts them, items are strings, and slices, masks and
    comparisons work as for an array, but on the codes.

    Attributes
    ----------
    names : ndarray of shape (n_names,)
        Distinct text in ascending order; some may not occur.
    codes : ndarray of integers
        Positions in `names`, of any shape.
    """

    __slots__ = ("codes", "names")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, names: NDArray[Any], codes: Codes) -> None:
        self.names, self.codes = names, codes

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the names."""
        return self.names.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the codes."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.codes.ndim

    @property
    def size(self) -> int:
        """Number of labels."""
        return self.codes.size

    def __len__(self) -> int:
        return len(self.codes)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.names[self.codes].astype(self.dtype if dtype is None else dtype, copy=False)

    def __getitem__(self, rows: Any) -> Any:
        codes = self.codes[rows]
        return type(self)(self.names, codes) if isinstance(codes, np.ndarray) else self.names[codes]

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> Any:
        if isinstance(other, str):
            return self.codes == self.code(other)
        if isinstance(other, TextLabels):
            _, (mine, its) = share_names([self, other])
            return mine == its
        return np.asarray(self) == other

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def copy(self) -> TextLabels:
        """Return labels with their own copy of the codes."""
        return type(self)(self.names, self.codes.copy())

    def tolist(self) -> Any:
        """Return the names as lists of strings."""
        return np.asarray(self).tolist()

    def code(self, name: str) -> int:
        """Return the code of a name, -1 if there is none."""
        place = int(np.searchsorted(self.names, np.str_(plain_text(name))))
        return place if place < self.names.size and self.names[place] == name else -1

    def occurring(self) -> tuple[NDArray[Any], Codes]:
        """Return the names that occur, and codes into them."""
        seen, _, codes = _occurring(self.codes, self.names.size)
        return self.names[seen], codes


class GroupKeys(TextLabels):
    """Keys of groups that are Python objects: the code of each row, and the objects in ascending order.

    Objects have one type and the order of that type; members of an enumeration have the order of their definition.
    """

    __slots__ = ()

    @classmethod
    def of(cls, objects: Iterable[Any], codes: Codes) -> GroupKeys:
        """Return keys, given objects in any order (some may be equal) and the position of each row's object."""
        objects = list(objects)
        names = ascending_objects(objects)
        places = {each: k for k, each in enumerate(names)}
        return cls(names, np.fromiter(map(places.__getitem__, objects), INT64, len(objects))[codes])


def ascending_objects(objects: Iterable[Any]) -> NDArray[Any]:
    """Return the distinct values of Python objects of one type, ascending."""
    distinct = list(dict.fromkeys(objects))
    by_definition = {each: k for k, each in enumerate(type(distinct[0]))} if isinstance(distinct[0], Enum) else {}
    names = np.empty(len(distinct), dtype=object)
    for k, each in enumerate(sorted(distinct, key=by_definition.__getitem__ if by_definition else None)):
        names[k] = each  # one by one, since NumPy would split tuples
    return names


def distinct_labels(labels: Any) -> NDArray[Any]:
    """Return the distinct values of an array or text labels, ascending."""
    return labels.occurring()[0] if isinstance(labels, TextLabels) else sorted_unique(labels)


def unique_inverse(labels: Any) -> tuple[NDArray[Any], Codes]:
    """Return the distinct values of an array or text labels, ascending, and each row's position in them."""
    if isinstance(labels, TextLabels):
        return labels.occurring()
    values, places = np.unique(labels, return_inverse=True)
    return values, places


def unique_rows(labels: Any) -> tuple[NDArray[Any], NDArray[np.intp], Codes]:
    """Return the distinct values, ascending, the first row of each, and each row's position in them."""
    if isinstance(labels, TextLabels):
        seen, first, codes = _occurring(labels.codes, labels.names.size)
        return labels.names[seen], first, codes
    values, first, places = np.unique(labels, return_index=True, return_inverse=True)
    return values, first, places


def find_sorted(values: NDArray[Any], labels: Any) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the position of each label among sorted values, and whether it is one of them; text is found by name."""
    if isinstance(labels, TextLabels):
        places, found = find_sorted(values, labels.names)
        return places[labels.codes], found[labels.codes]
    places = np.minimum(np.searchsorted(values, labels), values.size - 1)
    return places, values[places] == labels


def share_names(labels: Sequence[Any]) -> tuple[NDArray[Any], list[Codes]]:
    """Return the names of all labels, ascending, and each array's codes for these names."""
    names = labels[0].names
    if all(each.names is names or np.array_equal(each.names, names) for each in labels[1:]):
        return names, [each.codes for each in labels]
    names, places = joint_names([each.names for each in labels])
    return names, [place[each.codes] for place, each in zip(places, labels, strict=True)]


def joint_names(parts: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.intp]]]:
    """Return the distinct names of several arrays of names, ascending, and the position of each array's names."""
    together = np.concatenate(parts)
    if together.dtype.kind != "O":
        names = sorted_unique(together)
        return names, [np.searchsorted(names, part) for part in parts]
    names = ascending_objects(together)
    places = {each: k for k, each in enumerate(names)}
    return names, [np.fromiter(map(places.__getitem__, part), np.intp, part.size) for part in parts]


def _occurring(codes: Codes, n_codes: int) -> tuple[NDArray[np.intp], Ints, Codes]:
    """Return the codes that occur, ascending, the first row of each, and each row's position among them."""
    first, flat = np.full(n_codes, -1, dtype=INT64), codes.ravel()
    for block in blocks(slice(0, flat.size)):
        note_first(np.ascontiguousarray(flat[block], dtype=INT64), block.start, first)
    seen = np.flatnonzero(first >= 0)
    return seen, first[seen], codes if seen.size == n_codes else (np.cumsum(first >= 0) - 1)[codes]


def is_text(labels: Any) -> bool:
    """Return whether an array or labels hold text, of fixed or variable width."""
    return labels.dtype.kind in "UT"


# Columns that come with codes -----------------------------------------------------------------------------------------


def encode_column(name: str, values: Any) -> TextLabels | None:
    """Return the text of a list, or of a dictionary column of pandas, pyarrow or polars, as labels; else None.

    Also None if a column has a missing value, since the error needs the values.
    """
    if isinstance(values, TextLabels):
        return values
    if isinstance(values, (list, tuple)):
        is_flat = len(values) > 0 and isinstance(values[0], (str, bytes))
        return _encode_objects(name, np.fromiter(values, dtype=object, count=len(values))) if is_flat else None
    encode = _ENCODERS.get(type(values).__module__.partition(".")[0])
    coded = None if encode is None or getattr(values, "ndim", 1) != 1 else encode(values)
    if coded is None:
        return None
    names, codes = coded
    if not codes.size or not all(isinstance(each, str) for each in names):
        return None
    _check_ends(name, names)
    return sort_names(names, codes)


def _encode_pandas(values: Any) -> tuple[Any, Codes] | None:
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "name", "") == "category":
        column = values.cat if hasattr(values, "cat") else values
        names, codes = column.categories, np.asarray(column.codes)
    elif getattr(dtype, "type", None) is str:
        codes, names = values.factorize()
    elif getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None) is not None:
        return _encode_arrow(getattr(values, "array", values).__arrow_array__())
    elif (zone := getattr(dtype, "tz", None)) is not None:
        codes, moments = values.factorize()
        names = _local_times(moments.tz_localize(None).to_numpy(), moments.strftime("%z"), zone)
    else:
        return None
    return None if codes.size and codes.min() < 0 else (names.tolist(), codes)


def _encode_arrow(values: Any) -> tuple[Any, Codes] | None:
    from pyarrow import types

    kind = getattr(values, "type", None)
    if not hasattr(values, "dictionary_encode") or values.null_count:
        return None
    values = values.cast("string") if getattr(kind, "tz", None) is not None else values  # as local times with offsets
    if types.is_string(values.type) or types.is_large_string(values.type):
        values = values.dictionary_encode()
    elif not types.is_dictionary(kind):
        return None
    if hasattr(values, "unify_dictionaries"):
        values = values.unify_dictionaries().combine_chunks()
    return values.dictionary.to_pylist(), values.indices.to_numpy()


def _encode_polars(values: Any) -> tuple[Any, Codes] | None:
    import polars

    if getattr(getattr(values, "dtype", None), "time_zone", None) is not None and not values.null_count():
        moments = values.unique(maintain_order=True)
        names = _local_times(
            moments.dt.replace_time_zone(None).to_numpy(), moments.dt.to_string("%z"), values.dtype.time_zone
        )
        return names, number_values([values.to_physical().to_numpy()])[1][0]
    if getattr(values, "dtype", None) not in (polars.String, polars.Categorical, polars.Enum) or values.null_count():
        return None
    values = values.cast(polars.Categorical) if values.dtype == polars.String else values
    codes = values.to_physical().to_numpy()
    _, first, codes = _occurring(codes, int(codes.max()) + 1 if codes.size else 0)
    return values[first].to_list(), codes


def _local_times(times: NDArray[Any], offsets: Iterable[str], zone: Any) -> NDArray[Any]:
    """Return times with a time zone as text, as Arrow does; NumPy has no time zones and might show another day."""
    texts = np.char.replace(np.datetime_as_string(times), "T", " ")
    ends = ["Z"] * texts.size if str(zone) == "UTC" else list(offsets)
    return np.char.add(texts, np.array(ends, dtype=np.str_))


_ENCODERS: dict[str, Callable[[Any], tuple[Any, Codes] | None]] = {
    "pandas": _encode_pandas,
    "polars": _encode_polars,
    "pyarrow": _encode_arrow,
}


# Arrays of text -------------------------------------------------------------------------------------------------------


def encode_text(name: str, array: NDArray[Any]) -> TextLabels:
    """Return an array of fixed-width text, bytes, variable-width strings or Python objects as labels.

    Raises
    ------
    ValueError
        If an object in the array is not a string.
    """
    if array.dtype.kind == "O":
        return _encode_objects(name, array)
    if array.dtype.kind == "T":
        short = not hasattr(array.dtype, "na_object") and int(np.strings.str_len(array).max()) <= SHORT_CHARACTERS
        if not short:
            return _encode_objects(name, array.astype(object))
    names, (codes,) = number_values([array])
    return sort_names(names, codes)


def sort_names(names: Sequence[str] | NDArray[Any], codes: Codes) -> TextLabels:
    """Return labels from codes and names in any order; NumPy may consider two of the names equal."""
    text = names if isinstance(names, np.ndarray) else text_array(names)
    distinct, place = text, np.arange(text.size)
    if not (text[1:] > text[:-1]).all():
        distinct, place = np.unique(text, return_inverse=True)
    elif codes.dtype != INT64:
        return TextLabels(text, codes)
    place = place.astype(np.min_scalar_type(distinct.size))
    out = np.empty(codes.shape, dtype=place.dtype)
    run(lambda part: np.take(place, codes[part], out=out[part]), chunks(codes.size))
    return TextLabels(distinct, out)


def as_text(labels: Any) -> Any:
    """Return bytes, or an array of them, as text, one character per byte, so that both forms name the same class."""
    if isinstance(labels, bytes):
        return labels.decode("latin-1")
    if not isinstance(labels, np.ndarray) or labels.dtype.kind != "S":
        return plain_text(labels)
    codes = np.ascontiguousarray(labels)[..., np.newaxis].view(np.uint8).astype(np.uint32)
    return codes.view(f"U{labels.itemsize}")[..., 0]


def _encode_objects(name: str, array: NDArray[Any]) -> TextLabels:
    """Number Python strings: first by object, because there are usually few objects, then the objects by value."""
    distinct, codes = _number_objects(array)
    values = array if distinct is None else array[distinct]
    numbered = number_objects(values)
    kinds = set() if numbered is None else {type(each) for each in numbered[0]}
    if numbered is not None and len(kinds) == 1 and _is_named(*kinds):
        numbered = list(map(str, numbered[0])), numbered[1]
    elif numbered is None or not kinds <= {str, bytes}:
        check_all_strings(name, array)
        numbered = number_objects(np.fromiter(map(plain_text, values), dtype=object, count=values.size))
        assert numbered is not None
    numbers, by_value = numbered
    names = list(map(as_text, numbers))
    _check_ends(name, names)
    return sort_names(names, by_value if distinct is None else by_value[codes])


def _is_named(kind: type[Any]) -> bool:
    """Return whether Python objects of a type are names, represented by their text."""
    is_member = issubclass(kind, Enum) and not issubclass(kind, (str, int))
    return is_member or (kind.__module__.partition(".")[0], kind.__name__) in NAMED


def number_objects(values: NDArray[Any]) -> tuple[Collection[Any], Ints] | None:
    """Return the distinct values of Python objects and the number of each row; None if a value isn't hashable."""
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)  # strings cache their hashes
    listed = chain.from_iterable(values[rows].tolist() for rows in blocks(slice(0, values.size)))
    try:
        return numbers.keys(), np.fromiter(map(numbers.__getitem__, listed), dtype=INT64, count=values.size)
    except TypeError:
        return None


def _check_ends(name: str, names: Sequence[str]) -> None:
    """Raise if a name ends with a NUL, which NumPy's fixed-width text drops."""
    for each in names:
        if each.endswith("\0"):
            raise ValueError(f"{name} must hold text that does not end with a NUL, which NumPy drops: got {each!r}")


def _number_objects(array: NDArray[Any]) -> tuple[Ints | None, Ints]:
    """Return the first row of each object, and each row's number; None if most rows have their own object."""
    addresses, codes = np.asarray(_Addresses(array)), np.empty(array.size, dtype=INT64)
    slots, first, n = np.full(SLOTS, -1, dtype=INT64), np.empty(SLOTS // 2, dtype=INT64), 0
    for block in blocks(slice(0, array.size)):
        if n > MOSTLY * block.start > 0:
            return None, codes
        done = block.start
        while True:
            done, n = number_keys(addresses, done, block.stop, slots, first, n, codes)
            if done == block.stop:
                break
            slots, first = np.full(slots.size * GROWTH, -1, dtype=INT64), np.resize(first, first.size * GROWTH)
            enter_keys(addresses, first, n, slots)
    return first[:n], codes


class _Addresses:
    """The addresses of an array's objects, as an array: equal addresses mean the same object."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array  # keeps the objects alive
        self.__array_interface__ = {**array.__array_interface__, "typestr": INT64.str, "descr": [("", INT64.str)]}


# By hash --------------------------------------------------------------------------------------------------------------


def number_values(arrays: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[Ints]]:
    """Return the distinct values of arrays of integers or fixed-width text, in any order, and each row's number.

    Integers of any dtype are compared as int64.
    """
    if (
        sum(array.size for array in arrays) <= ROWS_PER_BLOCK
    ):  # threads and a second table would take longer than everything else
        both = [_as_hashed(array) for array in arrays]
        values, numbers = _number_by_first(both[0] if len(both) == 1 else np.concatenate(both))
        return values, np.split(numbers, np.cumsum([array.size for array in arrays[:-1]]))
    codes = [np.empty(array.size, dtype=INT64) for array in arrays]
    parts = [(k, part) for k, array in enumerate(arrays) for part in chunks(array.size)]

    def number(item: tuple[int, slice]) -> NDArray[Any]:
        k, part = item
        values, codes[k][part] = _number_by_first(_as_hashed(arrays[k][part]))
        return values

    values_by_part = run(number, parts, compiles=number_words)
    values, numbers = _number_by_first(np.concatenate(values_by_part))
    start = 0
    for (k, part), part_values in zip(parts, values_by_part, strict=True):
        codes_of_part = numbers[start : start + part_values.size]
        for block in blocks(part):
            codes[k][block] = codes_of_part[codes[k][block]]
        start += part_values.size
    return values, codes


def _as_hashed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the form that the kernel needs: rows of whole words."""
    if array.dtype.kind == "T":
        array = array.astype(f"U{max(int(np.strings.str_len(array).max()), 1)}")
    array = as_text(array)
    dtype = array.dtype.newbyteorder("=") if array.dtype.kind == "U" else INT64
    plain = array.dtype == dtype and array.flags.carray
    return array if plain else np.array(array, dtype=dtype, order="C")


def _number_by_first(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct values in order of first occurrence, and for each row the index of its value."""
    words = values.view(np.uint32).reshape(values.size, -1)
    codes = np.empty(values.size, dtype=INT64)
    slots = SLOTS
    while True:
        first = np.empty(slots // 2, dtype=INT64)
        n = number_words(words, np.full(slots, -1, dtype=INT64), first, codes)
        if n >= 0:
            return values[first[:n]], codes
        slots *= GROWTH
