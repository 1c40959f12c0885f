"""How splitters assign rows: a frame of units, and an assignment of a code to each unit.

A splitter never works on rows directly. The frame defines units (single rows, or whole groups) and, for a stratified
splitter, puts the units of each class next to each other. An assignment gives each unit a code: its part, its fold, or
how often it was drawn. So groups and classes are handled in one place, and a new splitter needs only a new assignment.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.splits import shuffle_codes, spread_groups, spread_groups_of_classes
from fastevals._validation.labels import as_groups, check_groups_of_one_class, check_resampled_rows
from fastevals._validation.text import unique_rows
from fastevals.counting.labels import number_labels
from fastevals.split.checks import as_strata, check_class_units, check_same_rows, check_split_units

Ints = NDArray[np.int64]
Numbers = NDArray[np.uint32]
Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class SamplingFrame:
    """The units to draw, and the strata that they are drawn from.

    A unit is a row, or a whole group of rows. A stratum is a class, or all units. Strata and groups are in the order of
    their first rows, so that draws do not depend on the names of classes and groups.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    row_units : ndarray of uint32 of shape (n_samples,), optional
        Index of the unit that each row belongs to; None if each row is a unit.
    order : ndarray of uint32 of shape (n_units,) or (0,)
        Indices of the units, stratum by stratum; empty if units are already in this order.
    starts, sizes : ndarray of int64 of shape (n_strata,)
        Position in `order` where each stratum starts, and its number of units.
    labels : ndarray of shape (n_strata,)
        Class of each stratum; empty if all units are one stratum.
    """

    n_samples: int
    row_units: Numbers | None
    order: Numbers
    starts: Ints
    sizes: Ints
    labels: NDArray[Any]

    @classmethod
    def from_rows(cls, n_samples: int, groups: Any, y: Any = None, *, stratified: bool = False) -> SamplingFrame:
        """Return the frame of the rows, or of their groups; if stratified, each group must contain only one class."""
        check_resampled_rows("X", n_samples)
        row_units, n_units, codes = None, n_samples, None
        if stratified:
            labels, codes = number_classes(y, n_samples)
        if groups is not None:
            array = _as_row_groups("groups", groups, n_samples)
            row_units, first_rows = _number_groups(array)
            n_units = first_rows.size
            if codes is not None:
                check_groups_of_one_class("groups", array, codes, codes[first_rows][row_units])
                codes = codes[first_rows]
        if codes is None:
            start = np.zeros(1, dtype=np.int64)
            return cls(n_samples, row_units, np.empty(0, np.uint32), start, start + n_units, np.empty(0))
        sizes = np.bincount(codes)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(codes.astype(np.uint16), kind="stable").astype(np.uint32)  # a radix sort
        as_seen = np.argsort(order[starts])  # strata sorted by their first units
        return cls(n_samples, row_units, order, starts[as_seen], sizes[as_seen], labels[as_seen])

    @property
    def n_units(self) -> int:
        """Number of units: rows, or groups."""
        return int(self.sizes.sum())

    @property
    def unit(self) -> str:
        """What errors call units: "rows" or "groups"."""
        return "rows" if self.row_units is None else "groups"

    def check_sizes(self, least: int, because: str) -> None:
        """Raise unless there are at least `least` units and, if stratified, at least `least` units of each class."""
        check_split_units(self.n_units, self.unit, least, because)
        if self.labels.size:
            check_class_units(self.sizes, self.labels, self.unit, least, because)


class Assignment(Protocol):
    """The code of each unit in each repetition; codes depend only on the seed and the repetition's number."""

    @property
    def compiles(self) -> Hashable:
        """The kernels that `fill` calls, and their types; None if it calls no kernel."""

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes of n repetitions, starting at `first`, to `out`, of shape (n, n_units)."""


@dataclass(frozen=True, slots=True, eq=False)
class RandomAssignment:
    """A random assignment with given numbers of units per stratum and code; all such assignments are equally likely."""

    frame: SamplingFrame
    template: Codes  # codes before shuffling, in the frame's order, with equal codes adjacent in each stratum
    moved: Ints  # units before the last block of equal codes of each stratum: only these are shuffled
    key: int  # key of the random stream

    @classmethod
    def from_counts(
        cls, frame: SamplingFrame, codes: ArrayLike, counts: Ints, dtype: np.dtype[Any], key: int
    ) -> RandomAssignment:
        """Return an assignment: counts[s, i] units of stratum s get codes[i]; fast if the last code is frequent."""
        template = np.empty(frame.n_units, dtype=dtype)
        values = np.asarray(codes, dtype=dtype)
        for start, size, each in zip(frame.starts.tolist(), frame.sizes.tolist(), counts, strict=True):
            template[start : start + size] = np.repeat(values, each)
        return cls(frame, template, frame.sizes - counts[:, -1], key)

    @property
    def compiles(self) -> Hashable:
        """The kernel that `fill` calls, and the type of the codes."""
        return shuffle_codes, self.template.dtype

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes of repetitions, starting at `first`."""
        strata = self.frame.order, self.frame.starts, self.frame.sizes
        shuffle_codes(self.template, *strata, self.moved, np.uint64(self.key), first, out)

    def unshuffled(self) -> FixedAssignment:
        """Return the same assignment without shuffling."""
        if not self.frame.order.size:
            return FixedAssignment(self.template)
        codes = np.empty_like(self.template)
        codes[self.frame.order] = self.template
        return FixedAssignment(codes)


@dataclass(frozen=True, slots=True, eq=False)
class FixedAssignment:
    """An assignment of the same codes in each repetition."""

    codes: Codes

    @property
    def compiles(self) -> Hashable:
        """None, because `fill` calls no kernel."""
        return None

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes of repetitions."""
        out[:] = self.codes


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssignment:
    """Assign groups to folds, larger groups first.

    A group is assigned to the fold with the fewest rows or, if stratified, to the fold with the smallest shares of the
    group's classes.
    """

    sizes: Ints  # number of rows in each group
    by_size: NDArray[np.uint32]  # groups in the order in which they are assigned
    bounds: Ints  # of runs in that order; each run is shuffled
    counts: Ints | None  # number of rows per group and class, of shape (n_groups, n_classes)
    n_folds: int
    key: int  # key of the random stream

    @classmethod
    def from_frame(cls, frame: SamplingFrame, counts: Ints | None, n_folds: int, key: int | None) -> GroupAssignment:
        """Sort groups by size or, if `key` is given, by power of two, so that similar sizes can be shuffled."""
        sizes = np.bincount(frame.row_units)  # type: ignore[arg-type]
        height = sizes if key is None else np.frexp(sizes)[1]
        by_size = np.argsort(-height, kind="stable").astype(np.uint32)
        runs = np.arange(1, sizes.size) if key is None else np.flatnonzero(np.diff(height[by_size])) + 1
        bounds = np.concatenate(([0], runs, [sizes.size]))
        return cls(sizes, by_size, bounds, counts, n_folds, key or 0)

    @property
    def compiles(self) -> Hashable:
        """The kernel; the number of folds determines the type of the codes."""
        return spread_groups if self.counts is None else spread_groups_of_classes

    def fill(self, first: int, out: Codes) -> None:
        """Write the fold of each group in consecutive repetitions, starting at `first`."""
        arguments = self.sizes, self.by_size, self.bounds, self.n_folds, np.uint64(self.key), first, out
        if self.counts is None:
            spread_groups(*arguments)
        else:
            spread_groups_of_classes(self.counts, 1 / self.counts.sum(axis=0, dtype=np.float64) ** 2, *arguments)


def count_classes_by_group(frame: SamplingFrame, y: Any, least: int, because: str) -> Ints:
    """Count the rows of each class in each group; each class must be in at least `least` groups."""
    labels, codes = number_classes(y, frame.n_samples)
    cells = frame.row_units * np.int64(labels.size) + codes  # type: ignore[operator]
    counts = np.bincount(cells, minlength=frame.n_units * labels.size).reshape(-1, labels.size)
    check_class_units(np.count_nonzero(counts, axis=0), labels, "groups", least, because)
    return counts


def number_classes(y: Any, n_samples: int) -> tuple[NDArray[Any], Ints]:
    """Return the sorted classes, and the class number of each row."""
    labels, (codes,) = number_labels("y", [as_strata("y", y, n_samples)])
    return labels, codes.astype(np.int64, copy=False)


def _number_groups(groups: NDArray[Any]) -> tuple[Numbers, Ints]:
    """Return the group number of each row, and the first row of each group."""
    _, first, inverse = unique_rows(groups)
    seen = np.argsort(first)
    number = np.empty(seen.size, dtype=np.uint32)
    number[seen] = np.arange(seen.size, dtype=np.uint32)
    return number[inverse], first[seen]


def _as_row_groups(name: str, values: Any, n: int) -> NDArray[Any]:
    """Return the group of each row."""
    array = as_groups(name, values)
    check_same_rows(rows=range(n), **{name: array})
    return array
