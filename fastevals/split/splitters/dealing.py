"""Codes dealt out: so many of each at random, or whole groups to the fold that needs them most."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.splits import shuffle_codes, spread_groups, spread_groups_of_classes
from fastevals.split.checks import check_class_units
from fastevals.split.splitters.base import Codes
from fastevals.split.splitters.layout import Layout, number_classes

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """The same codes in each repetition."""

    codes: Codes

    @property
    def compiles(self) -> Hashable:
        """Nothing."""
        return None

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes."""
        out[:] = self.codes


@dataclass(frozen=True, slots=True, eq=False)
class Shuffled:
    """A number of units of each stratum for each code, all ways to deal them out equally likely.

    Attributes
    ----------
    layout : Layout
        The units.
    template : ndarray of shape (n_units,)
        Codes in the order of the layout, stratum by stratum in blocks.
    moved : ndarray of int64 of shape (n_strata,)
        Units of a stratum ahead of its last block.
    key : int
        Of the stream.
    """

    layout: Layout
    template: Codes
    moved: Ints
    key: int

    @classmethod
    def of(cls, layout: Layout, codes: ArrayLike, counts: Ints, dtype: np.dtype[Any], key: int) -> Shuffled:
        """Deal out counts[s, i] times codes[i] to stratum s; what most have as the last is dealt out fastest."""
        template = np.empty(layout.n_units, dtype=dtype)
        values = np.asarray(codes, dtype=dtype)
        for start, size, each in zip(layout.starts.tolist(), layout.sizes.tolist(), counts, strict=True):
            template[start : start + size] = np.repeat(values, each)
        return cls(layout, template, layout.sizes - counts[:, -1], key)

    @property
    def compiles(self) -> Hashable:
        """The kernel, and the type of the codes."""
        return shuffle_codes, self.template.dtype

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes of the repetitions from `first` on."""
        at = self.layout
        shuffle_codes(self.template, at.order, at.starts, at.sizes, self.moved, np.uint64(self.key), first, out)

    def unshuffled(self) -> Fixed:
        """Return the blocks as they are."""
        if not self.layout.order.size:
            return Fixed(self.template)
        codes = np.empty_like(self.template)
        codes[self.layout.order] = self.template
        return Fixed(codes)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Groups, the larger ones first, to the fold with the fewest rows, or with the least of their classes.

    Attributes
    ----------
    sizes : ndarray of int64 of shape (n_groups,)
        Rows of each group.
    by_size : ndarray of uint32 of shape (n_groups,)
        Groups in the order they go in.
    bounds : ndarray of int64 of shape (n_runs + 1,)
        Runs of that order, each shuffled.
    counts : ndarray of int64 of shape (n_groups, n_classes), optional
        Rows of each class in each group.
    n_folds : int
        How many.
    key : int
        Of the stream.
    """

    sizes: Ints
    by_size: NDArray[np.uint32]
    bounds: Ints
    counts: Ints | None
    n_folds: int
    key: int

    @classmethod
    def of(cls, layout: Layout, counts: Ints | None, n_folds: int, key: int | None) -> Spread:
        """Order the groups; without a key by their exact sizes, else by powers of two, to leave something to chance."""
        sizes = np.bincount(layout.of_row)  # type: ignore[arg-type]
        height = sizes if key is None else np.frexp(sizes)[1]
        by_size = np.argsort(-height, kind="stable").astype(np.uint32)
        runs = np.arange(1, sizes.size) if key is None else np.flatnonzero(np.diff(height[by_size])) + 1
        bounds = np.concatenate(([0], runs, [sizes.size]))
        return cls(sizes, by_size, bounds, counts, n_folds, key or 0)

    @property
    def compiles(self) -> Hashable:
        """The kernel; the type of codes goes with the number of folds."""
        return spread_groups if self.counts is None else spread_groups_of_classes

    def fill(self, first: int, out: Codes) -> None:
        """Write the folds of the groups in the repetitions from `first` on."""
        how = self.sizes, self.by_size, self.bounds, self.n_folds, np.uint64(self.key), first, out
        if self.counts is None:
            spread_groups(*how)
        else:
            spread_groups_of_classes(self.counts, 1 / self.counts.sum(axis=0, dtype=np.float64) ** 2, *how)


def count_classes(layout: Layout, y: Any, least: int, because: str) -> Ints:
    """Count the rows of each class in each group; each class must be in so many groups."""
    labels, codes = number_classes(y, layout.n_samples)
    cells = layout.of_row * np.int64(labels.size) + codes  # type: ignore[operator]
    counts = np.bincount(cells, minlength=layout.n_units * labels.size).reshape(-1, labels.size)
    check_class_units(np.count_nonzero(counts, axis=0), labels, "groups", least, because)
    return counts
