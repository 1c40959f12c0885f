"""Training sets drawn from rows, each by its number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.random import fill_bits, key_of
from fastevals.split.splitters.layout import Layout

__all__ = ["TrainingSets"]

LOW_HALF = np.uint64(2**32 - 1)
HALF = np.uint64(32)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSets:
    """What training sets are drawn from, and how. A smaller set of the same number is a part of the larger one.

    Attributes
    ----------
    layout : Layout
        The rows, or groups of them that are drawn together.
    key : uint64
        Of the streams, one a training set.
    replace : bool
        Whether a unit may be drawn again.
    """

    layout: Layout
    key: np.uint64
    replace: bool

    def size(self, name: str, value: int | float | None) -> int:
        """Give the units of a training set, of a number or a share of them; None is as many as there are."""
        n = self.layout.n_units
        if value is None:
            size = n
        else:
            asked = check.as_share_or_count(name, value)
            size = max(int(asked * n + 1e-9), 1) if isinstance(asked, float) else asked
        check.check_training_set_size(name, value, size, n, self.layout.unit, self.replace)
        return size

    def rows(self, number: int, size: int) -> NDArray[np.intp]:
        """Give the rows of a training set of so many units, ascending."""
        n = self.layout.n_units
        words = np.empty(size if self.replace else n, dtype=np.uint64)
        fill_bits(np.uint64(key_of(self.key, np.uint64(number))), 0, words)
        if self.replace:  # as `_kernels.random.uniform_below`
            drawn = ((words >> HALF) * np.uint64(n) + ((words & LOW_HALF) * np.uint64(n) >> HALF)) >> HALF
        else:
            drawn = np.argsort(words, kind="stable")[:size].astype(np.uint64)
        times = np.bincount(drawn.astype(np.intp), minlength=n)
        of_row = self.layout.of_row
        return np.repeat(np.arange(self.layout.n_samples), times if of_row is None else times[of_row])
