"""RowSegments: how columns divide rows, each column on its own or crossed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counting.keys import compact_codes
from fastevals.counting.labels import rows_by_code
from fastevals.reading.values import ascending, split_values

Coded = tuple[list[Any], NDArray[np.intp]]  # distinct values, ascending, and each row's index into them
Grouping = tuple[str, ...]  # the columns whose values, or combinations of values, divide the rows once


class OfColumn(NamedTuple):
    """A segment of one of several columns that divide the rows, each on its own."""

    by: str
    value: Any


class Whole(Enum):
    """The key of all rows, beside the keys of the segments that they are divided into."""

    ROWS = "all rows"


class RowSegments(NamedTuple):
    """How columns divide rows. Rows without a value are a segment of their own.

    A segment's key is None without columns, the value of one column, or a tuple of the values of crossed columns. The
    keys for several columns, each on its own, are `OfColumn`. If `has_whole`, all rows are one more segment, with the
    key `Whole.ROWS`.
    """

    columns: tuple[str, ...] = ()
    cross: bool = False
    has_whole: bool = False

    @classmethod
    def of(cls, by: str | Sequence[str] | None, *, cross: bool = False) -> RowSegments:
        """Return the segments of one column, several or none."""
        return cls(() if by is None else (by,) if isinstance(by, str) else tuple(by), cross)

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """The ways to divide the rows: one tuple of all columns if they are crossed, otherwise one tuple per column."""
        if not self.columns:
            return ()
        return (self.columns,) if self.cross or len(self.columns) == 1 else tuple((name,) for name in self.columns)

    @property
    def are_crossed(self) -> bool:
        """Whether segments are combinations of values."""
        return self.cross and len(self.columns) > 1

    def key(self, grouping: Grouping, value: Any) -> Any:
        """Return the key of a value, or combination of values, of a grouping."""
        return value if len(self.groupings) < 2 else OfColumn(grouping[0], value)

    def of_key(self, key: Any) -> tuple[Grouping, Any]:
        """Return the grouping and the value of a key; all rows have an empty grouping and no value."""
        if key is Whole.ROWS:
            return (), None
        if len(self.groupings) > 1:
            return (key.by,), key.value
        return self.columns, key

    def divide(self, columns: Sequence[Any]) -> Iterator[tuple[Any, NDArray[np.intp] | None]]:
        """Yield each segment's key and rows, given the columns; without columns, yield (None, None) for all rows."""
        coded = dict(zip(self.columns, map(split_values, columns), strict=True))
        if not coded:
            yield None, None
        for grouping in self.groupings:
            values, codes = crossed([coded[name] for name in grouping])
            for value, rows in zip(values, rows_by_code(codes, len(values)), strict=True):
                yield self.key(grouping, value), rows
        if self.has_whole:
            yield Whole.ROWS, None

    def ascending(self, keys: Iterable[Any], names: Mapping[str, str]) -> list[Any]:
        """Return keys in order: by grouping, first column's value, ...; missing values and then all rows are last.

        `names` are the columns' names in messages.
        """
        keys = list(keys)
        if not self.columns:
            return keys
        values = self.values_of(keys)
        ranks = {
            name: {value: k for k, value in enumerate(ascending(each, names.get(name, repr(name))))}
            for name, each in values.items()
        }

        def rank(key: Any) -> list[int]:
            grouping, value = self.of_key(key)
            if not grouping:
                return [len(self.groupings)]
            parts = value if self.are_crossed else (value,)
            return [
                self.groupings.index(grouping), *(ranks[name][part] for name, part in zip(grouping, parts, strict=True))
            ]  # fmt: skip

        return sorted(keys, key=rank)

    def values_of(self, keys: Iterable[Any]) -> dict[str, list[Any]]:
        """Return the distinct values of each column among keys."""
        found: dict[str, dict[Any, None]] = {name: {} for name in self.columns}
        for key in keys if self.columns else ():
            grouping, value = self.of_key(key)
            if grouping:
                for name, part in zip(grouping, value if self.are_crossed else (value,), strict=True):
                    found[name][part] = None
        return {name: list(each) for name, each in found.items()}

    def renamed(self, key: Any, rename: Callable[[str, Any], Any]) -> Any:
        """Return a key with each value renamed, given the column and the value."""
        if not self.columns:
            return key
        grouping, value = self.of_key(key)
        if not grouping:
            return key
        if self.are_crossed:
            return tuple(map(rename, grouping, value))
        return self.key(grouping, rename(grouping[0], value))


def crossed(columns: Sequence[Coded]) -> Coded:
    """Return the combinations of values that occur, ascending, and each row's index into them."""
    values, codes = columns[0]
    if len(columns) == 1:
        return values, codes
    combinations: list[tuple[Any, ...]] = [(value,) for value in values]
    for more, its in columns[1:]:
        present, codes = compact_codes(codes.astype(np.int64) * len(more) + its, len(combinations) * len(more))
        combinations = [(*combinations[code // len(more)], more[code % len(more)]) for code in present.tolist()]
    return combinations, codes
