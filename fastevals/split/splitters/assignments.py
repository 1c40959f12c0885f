"""Which unit gets which code: so many of each at random, or whole groups to the fold that needs them most."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.splits import shuffle_codes, spread_groups, spread_groups_of_classes
from fastevals.split.checks import check_class_units
from fastevals.split.splitters.base import Codes
from fastevals.split.splitters.sampling_frame import SamplingFrame, number_classes

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FixedAssignment:
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
class RandomAssignment:
    """Random assignment: so many units of each stratum for each code, all ways to deal them out equally likely."""

    frame: SamplingFrame
    template: Codes  # in the order of the frame, stratum by stratum, equal codes side by side in blocks
    moved: Ints  # of each stratum: units ahead of its last block, which are all that must be moved
    key: int  # of the stream

    @classmethod
    def from_counts(
        cls, frame: SamplingFrame, codes: ArrayLike, counts: Ints, dtype: np.dtype[Any], key: int
    ) -> RandomAssignment:
        """Deal out counts[s, i] times codes[i] to stratum s; what most have as the last is dealt out fastest."""
        template = np.empty(frame.n_units, dtype=dtype)
        values = np.asarray(codes, dtype=dtype)
        for start, size, each in zip(frame.starts.tolist(), frame.sizes.tolist(), counts, strict=True):
            template[start : start + size] = np.repeat(values, each)
        return cls(frame, template, frame.sizes - counts[:, -1], key)

    @property
    def compiles(self) -> Hashable:
        """The kernel, and the type of the codes."""
        return shuffle_codes, self.template.dtype

    def fill(self, first: int, out: Codes) -> None:
        """Write the codes of the repetitions from `first` on."""
        strata = self.frame.order, self.frame.starts, self.frame.sizes
        shuffle_codes(self.template, *strata, self.moved, np.uint64(self.key), first, out)

    def unshuffled(self) -> FixedAssignment:
        """Return the assignment of the blocks as they are."""
        if not self.frame.order.size:
            return FixedAssignment(self.template)
        codes = np.empty_like(self.template)
        codes[self.frame.order] = self.template
        return FixedAssignment(codes)


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssignment:
    """Whole groups, the larger ones first, to the fold with the fewest rows, or with the least of their classes."""

    sizes: Ints  # rows of each group
    by_size: NDArray[np.uint32]  # groups in the order they are assigned in
    bounds: Ints  # of runs of that order, each of which is shuffled
    counts: Ints | None  # rows of each class in each group, of shape (n_groups, n_classes)
    n_folds: int
    key: int  # of the stream

    @classmethod
    def from_frame(cls, frame: SamplingFrame, counts: Ints | None, n_folds: int, key: int | None) -> GroupAssignment:
        """Order the groups; without a key by their exact sizes, else by powers of two, to leave something to chance."""
        sizes = np.bincount(frame.row_units)  # type: ignore[arg-type]
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
        arguments = self.sizes, self.by_size, self.bounds, self.n_folds, np.uint64(self.key), first, out
        if self.counts is None:
            spread_groups(*arguments)
        else:
            spread_groups_of_classes(self.counts, 1 / self.counts.sum(axis=0, dtype=np.float64) ** 2, *arguments)


def count_classes_by_group(frame: SamplingFrame, y: Any, least: int, because: str) -> Ints:
    """Count the rows of each class in each group; each class must be in so many groups."""
    labels, codes = number_classes(y, frame.n_samples)
    cells = frame.row_units * np.int64(labels.size) + codes  # type: ignore[operator]
    counts = np.bincount(cells, minlength=frame.n_units * labels.size).reshape(-1, labels.size)
    check_class_units(np.count_nonzero(counts, axis=0), labels, "groups", least, because)
    return counts
