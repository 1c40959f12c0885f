"""Estimates side by side, as lines to draw and to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.results import Frozen
from fastevals.split.estimates.result import ErrorEstimate

__all__ = ["ErrorLine"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErrorLine(Frozen):
    """Estimates of a metric at several values of what varies.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Means over the splits, NaN where there is no estimate: a fit failed.
    standard_deviation : ndarray of shape (n_values,)
        Of the splits' values.
    low, high : ndarray of shape (n_values,)
        Ends of the confidence intervals of the means.
    per_split : ndarray of shape (n_values, n_repeats, n_folds)
        The splits' values.
    """

    values: Floats
    standard_deviation: Floats
    low: Floats
    high: Floats
    per_split: Floats

    @classmethod
    def of(cls, estimates: Sequence[ErrorEstimate]) -> ErrorLine:
        """Put estimates of the same splits side by side."""
        numbers = [(each.value, each.standard_deviation, *each.confidence_interval) for each in estimates]
        values, deviation, low, high = np.array(numbers, dtype=np.float64).T
        return cls(values, deviation, low, high, np.stack([each.per_split for each in estimates]))

    def __repr__(self) -> str:
        return f"ErrorLine({', '.join(f'{each:.4g}' for each in self.values)})"
