"""Training sets drawn from rows, each by its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.random import stream_key
from fastevals._kernels.splits import draw_units
from fastevals._random import random_order, seed_key
from fastevals.split.splitters.layout import Layout
from fastevals.split.splitters.sizes import training_size, training_sizes

__all__ = ["TrainingSets"]

MOST_SETS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSets:
    """What training sets are drawn from, and how. A smaller set of the same number is a part of the larger one.

    Attributes
    ----------
    layout : Layout
        The rows, or groups of them that are drawn together.
    n_sets : int
        How many there are.
    replace : bool
        Whether a unit may be drawn again.
    key : uint64
        Of the streams, one a training set.
    """

    layout: Layout
    n_sets: int
    replace: bool
    key: np.uint64

    @classmethod
    def of(cls, X: Any, y: Any, groups: Any, n_sets: Any, replace: Any, rng: Any) -> TrainingSets:
        """Draw from the rows of data."""
        n_sets = check.check_integer("n_sets", n_sets, low=2, high=MOST_SETS)
        layout = Layout.of(check.check_same_rows(X=X, y=y, groups=groups), groups)
        layout.check_sizes(2, "drawing different training sets")
        return cls(layout, n_sets, check.as_flag("replace", replace), seed_key("rng", rng))

    def size(self, name: str, value: int | float | None) -> int:
        """Give the units of a training set, of a number or a share of them; None is as many as there are."""
        n, units = self.layout.n_units, self.layout.unit
        size = n
        if value is not None:
            size = training_size(name, value, n)
        check.check_training_set_size(name, value, size, n, units, self.replace)
        return size

    def sizes(self, name: str, values: Any) -> list[int]:
        """Give several sizes, which must differ, ascending."""
        return training_sizes(name, values, self.size, f"{self.layout.n_units} {self.layout.unit}")

    def rows(self, number: int, size: int) -> NDArray[np.intp]:
        """Give the rows of a training set of so many units, ascending."""
        times = np.zeros(self.layout.n_units, dtype=np.intp)
        if self.replace:
            draw_units(size, np.uint64(stream_key(self.key, np.uint64(number))), times)
        else:
            times[random_order(self.key, number, times.size)[:size]] = 1
        of_row = self.layout.of_row
        return np.repeat(np.arange(self.layout.n_samples), times if of_row is None else times[of_row])
