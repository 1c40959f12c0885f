"""Metrics over ordered values, such as days, and how each value differs from the mean of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.many.values_compared import ValuesCompared
from fastevals.results import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TrendLine:
    """One metric of one model over the values."""

    values: Floats
    intervals: Floats  # shape (n_values, 2); NaN without intervals
    pooled: float  # of all rows
    pooled_interval: Interval
    compared: ValuesCompared | None  # None without intervals

    def take(self, places: NDArray[np.intp]) -> TrendLine:
        """Return the line with only the values at some places."""
        found = self.compared
        if found is not None:
            arrays: dict[str, Any] = {
                name: each[places] for name, each in found._asdict().items() if isinstance(each, np.ndarray)
            }
            found = found._replace(**arrays)
        return replace(self, values=self.values[places], intervals=self.intervals[places], compared=found)


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """Metrics over ordered values."""

    by: str
    values: list[Any]  # in natural order
    n_samples: NDArray[np.int64]
    n_positives: NDArray[np.int64] | None  # None for predictions
    labelled: Floats  # share of rows that have a label; NaN without rows
    pooled_labelled: float
    min_labelled: float | None
    lines: dict[str, dict[str, TrendLine]]  # by metric and model
    confidence_level: float | None  # None without intervals
    are_clustered: bool = False
    undecided: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def take(self, places: Sequence[int]) -> Trend:
        """Return the trend with only the values at some places; means and p-values stay those over all."""
        at = np.array(places, dtype=np.intp)
        return replace(
            self, values=[self.values[k] for k in places], n_samples=self.n_samples[at],
            n_positives=None if self.n_positives is None else self.n_positives[at], labelled=self.labelled[at],
            undecided=self.undecided[at],
            lines={metric: {name: line.take(at) for name, line in its.items()} for metric, its in self.lines.items()},
        )  # fmt: skip

    @property
    def lacks_labels(self) -> bool:
        """Whether some rows have no label."""
        return bool((self.labelled < 1).any())
