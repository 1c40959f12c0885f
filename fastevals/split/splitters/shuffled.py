"""Codes dealt out at random: so many of each to each stratum."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.splits import shuffle_codes
from fastevals.split.splitters.base import Codes
from fastevals.split.splitters.layout import Layout

__all__ = ["Fixed", "Shuffled"]

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
        """Give the blocks as they are."""
        if not self.layout.order.size:
            return Fixed(self.template)
        codes = np.empty_like(self.template)
        codes[self.layout.order] = self.template
        return Fixed(codes)
