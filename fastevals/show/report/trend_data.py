"""The data of a report's trend: metrics over ordered values, such as days."""

from __future__ import annotations

from dataclasses import dataclass, field
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

    @property
    def lacks_labels(self) -> bool:
        """Whether some rows have no label."""
        return bool((self.labelled < 1).any())
