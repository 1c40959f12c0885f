"""Ordered Python objects as keys of groups: intervals, periods, UUIDs, decimals, enumerations, times with a zone."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import row_at, show
from fastevals._validation.arrays import INT64, is_masked, is_missing
from fastevals._validation.text import Codes, GroupKeys, TextLabels, number_objects

KINDS = {("uuid", "UUID"), ("pandas", "Interval"), ("pandas", "Period")}  # modules and types, other than those imported
EXTENSIONS = ("arrow.uuid", "pandas.interval", "pandas.period")  # Arrow types of these kinds


def encode_keys(name: str, values: Any) -> GroupKeys | None:
    """Return a column of ordered Python objects as keys; None if its values are of another kind."""
    if isinstance(values, GroupKeys):
        return values
    if isinstance(values, TextLabels) or getattr(values, "ndim", 1) != 1:
        return None
    encode = _ENCODERS.get(type(values).__module__.partition(".")[0])
    coded = None if encode is None else encode(values)
    if coded is None:
        return _of_objects(name, values)
    objects, codes = coded
    if codes.size and codes.min() < 0:
        _raise_missing(name, codes < 0)
    return None if not codes.size else _in_order(name, objects, codes)


def _of_objects(name: str, values: Any) -> GroupKeys | None:
    """Return keys of a list or array of objects; None if its first value is of another kind."""
    is_array = isinstance(getattr(values, "dtype", None), np.dtype) and values.dtype.kind == "O"
    if not (isinstance(values, (list, tuple)) or is_array) or is_masked(values):
        return None
    first = next((each for each in values if not is_missing(each)), None)
    if not is_key(first):
        return None
    array = np.fromiter(values, dtype=object, count=len(values))
    if isinstance(first, datetime.date):
        check_zones(name, array)
        array = np.fromiter(map(with_one_moment, values), dtype=object, count=len(values))
    missing = np.fromiter((is_missing(each) or each != each for each in array), np.bool_, array.size)
    if missing.any():
        _raise_missing(name, missing)
    kind = type(first)
    other = next((row for row, each in enumerate(array) if type(each) is not kind), None)
    if other is not None:
        raise ValueError(
            f"{name} must have values of one type, got {show(first)} and {show(array[other])} at {row_at(other)}"
        )
    numbered = number_objects(array)
    if numbered is None:
        raise ValueError(f"{name} must have values that are hashable, got {show(array[0])}")
    return _in_order(name, *numbered)


def is_key(value: Any) -> bool:
    """Return whether a Python object is of a kind that only `GroupKeys` hold."""
    kind = type(value)
    if (kind.__module__.partition(".")[0], kind.__name__) in KINDS or isinstance(value, (Decimal, tuple)):
        return True
    if isinstance(value, Enum):
        return not isinstance(value, (int, str))  # those are integers and text
    return isinstance(value, datetime.datetime) and value.tzinfo is not None


def check_zones(name: str, array: NDArray[Any]) -> None:
    """Raise unless an array of Python objects holds dates or times of one type, all with a time zone or all without."""
    kind, zoned = type(array[0]), getattr(array[0], "tzinfo", None) is not None
    for row, value in enumerate(array):
        if (
            not issubclass(kind, datetime.date)
            or type(value) is not kind
            or (getattr(value, "tzinfo", None) is not None) != zoned
        ):
            raise ValueError(
                f"{name} must hold dates or times of one type, all with a time zone or all without; "
                f"got {show(value)} at row {row}"
            )


def with_one_moment(value: Any) -> Any:
    """Return a time, with a fixed offset instead of its zone if the zone's clock shows this time twice.

    Python takes both moments for equal.
    """
    if type(value) is not datetime.datetime or value.tzinfo is None:
        return value
    offset = value.utcoffset()
    if offset is None or value.replace(fold=1 - value.fold).utcoffset() == offset:
        return value
    return value.replace(tzinfo=datetime.timezone(offset), fold=0)


def _in_order(name: str, objects: Iterable[Any], codes: Codes) -> GroupKeys:
    try:
        return GroupKeys.of(objects, codes)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must have values that have an order: {error}") from None


def _raise_missing(name: str, missing: NDArray[np.bool_]) -> None:
    count = int(np.count_nonzero(missing))
    where = row_at(int(np.argmax(missing)))
    raise ValueError(f"{name} has {count} missing value{'s' * (count > 1)}, the first at {where}")


def _encode_pandas(values: Any) -> tuple[Sequence[Any], Codes] | None:
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "name", "") == "category":
        column = values.cat if hasattr(values, "cat") else values
        objects, codes = list(column.categories), np.asarray(column.codes, dtype=INT64)
        return (objects, codes) if objects and is_key(objects[0]) else None
    if getattr(dtype, "pyarrow_dtype", None) is not None:
        return _encode_arrow(getattr(values, "array", values).__arrow_array__())
    if getattr(dtype, "tz", None) is None and getattr(dtype, "name", "").partition("[")[0] not in (
        "interval",
        "period",
    ):
        return None
    codes, objects = values.factorize()
    return list(objects), codes


def _encode_polars(values: Any) -> tuple[Sequence[Any], Codes] | None:
    import polars

    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "time_zone", None) is None and not isinstance(dtype, polars.Decimal):
        return None
    objects = values.unique(maintain_order=True).drop_nulls()
    places = polars.DataFrame({"key": objects, "code": np.arange(objects.len())})
    found = values.alias("key").to_frame().join(places, on="key", how="left", maintain_order="left")["code"]
    return list(map(with_one_moment, objects.to_list())), found.fill_null(-1).to_numpy()


def _encode_arrow(values: Any) -> tuple[Sequence[Any], Codes] | None:
    import pyarrow as pa
    from pyarrow import types

    dtype: Any = getattr(values, "type", None)
    dtype = getattr(dtype, "value_type", dtype)
    is_extension = isinstance(dtype, pa.BaseExtensionType) and dtype.extension_name in EXTENSIONS
    if not (is_extension or types.is_decimal(dtype) or getattr(dtype, "tz", None) is not None):
        return None
    if is_extension and dtype.extension_name != "arrow.uuid":
        values = values.dictionary_decode() if types.is_dictionary(values.type) else values
        codes, objects = values.to_pandas().factorize()
        return list(objects), codes
    if is_extension:
        codes, objects = _numbered(values.to_pylist())
        return objects, codes
    if not types.is_dictionary(values.type):
        values = values.dictionary_encode()
    if hasattr(values, "unify_dictionaries"):
        values = values.unify_dictionaries().combine_chunks()
    return list(map(with_one_moment, values.dictionary.to_pylist())), values.indices.fill_null(-1).to_numpy()


def _numbered(values: list[Any]) -> tuple[Codes, list[Any]]:
    """Return the number of each object (-1 for None), and the objects."""
    objects = [each for each in dict.fromkeys(values) if each is not None]
    places = {each: k for k, each in enumerate(objects)} | {None: -1}
    return np.fromiter(map(places.__getitem__, values), INT64, len(values)), objects


_ENCODERS: dict[str, Callable[[Any], tuple[Sequence[Any], Codes] | None]] = {
    "pandas": _encode_pandas,
    "polars": _encode_polars,
    "pyarrow": _encode_arrow,
}
