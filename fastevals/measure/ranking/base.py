"""What every ranking has: counts, and a word to say where a value is undefined."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction

from fastevals import _validation as check
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.results import OperatingPoint

__all__ = ["Counted"]


class Counted(ABC):
    """Threshold counts from somewhere: one data set, or several pooled."""

    __slots__ = ()

    n_positives: int
    n_negatives: int

    @property
    @abstractmethod
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score."""

    @property
    def n_samples(self) -> int:
        """Rows of weight above zero."""
        return self.n_positives + self.n_negatives

    def _classes(self) -> check.Classes:
        """Give the names of the two classes; of rankings pooled they are 0 and 1."""
        return check.Classes(check.both_classes(1), 1)

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Give twice the Mann-Whitney U and the pairs of a positive and a negative, where known without the counts."""
        return None

    def _sum_of_precision(self) -> Fraction | None:
        """Give the sum of gained true positives times precision, where it is had sooner than the counts."""
        return None

    def _warn_if(self, undefined: bool, name: str, because: str | None = None) -> None:
        if undefined:
            missing = [side for side, n in (("positives", self.n_positives), ("negatives", self.n_negatives)) if not n]
            check.warn_undefined(name, f"y_true has no {missing[0]}" if missing else because or "it is 0 / 0")

    def _defined(self, name: str, value: float) -> float:
        self._warn_if(math.isnan(value), name)
        return value

    def _defined_at(self, name: str, point: OperatingPoint, because: str | None = None) -> OperatingPoint:
        self._warn_if(math.isnan(float(point)), name, because)
        return point
