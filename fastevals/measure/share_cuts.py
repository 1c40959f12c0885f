"""Cut ranked rows at shares, from the highest score; rows with equal scores are divided in expectation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts, last_row
from fastevals.measure.probability_metrics import WEIGHT_ROUNDING, are_probabilities, sum_bins, weight_scale

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ShareCuts:
    """Places at which the rows, from the highest score down, reach given shares of the rows (or of their weight).

    Attributes
    ----------
    counts : ThresholdCounts
        Counts of the rows.
    amounts : list
        Rows (or weight) above each cut: whole numbers, unless rows have weights.
    rows : ndarray of shape (n_cuts,)
        Row of the counts for the lowest score whose rows are all above the cut.
    parts : list
        Share of the next score's rows that are above the cut; 0 if the cut divides no score.
    """

    counts: ThresholdCounts
    amounts: list[Any]
    rows: NDArray[np.intp]
    parts: list[Any]

    @classmethod
    def at(cls, counts: ThresholdCounts, shares: Sequence[Fraction]) -> Self:
        """Cut at ascending shares; a share that is not a whole number of rows is rounded up to one."""
        total = counts.n_pos + counts.n_neg
        if isinstance(total, int):
            amounts: list[Any] = [math.ceil(share * total) for share in shares]
            limits: NDArray[Any] = np.array(amounts, dtype=np.int64)
        else:
            amounts = [float(share) * total for share in shares]
            limits = np.array(amounts) * (1 + WEIGHT_ROUNDING)  # so that equal weights of 0.1 are cut like whole ones
        rows = last_row(counts.thresholds.size, limits.shape, lambda at: counts.tps[at] + counts.fps[at] <= limits)
        cuts = cls(counts, amounts, rows, [0] * rows.size)
        for k, (amount, whole, step) in enumerate(zip(amounts, *cuts._around(counts.tps, counts.fps), strict=True)):
            if step and amount > whole:
                cuts.parts[k] = Fraction(amount - whole, step) if isinstance(total, int) else (amount - whole) / step
        return cuts

    def above(self, column: NDArray[Any]) -> list[Any]:
        """Return a column of the counts, such as `tps`, at each cut; it is exact unless rows have weights."""
        return [whole + part * step for part, whole, step in zip(self.parts, *self._around(column), strict=True)]

    def _around(self, *columns: NDArray[Any]) -> tuple[list[Any], list[Any]]:
        """Return the sum of columns at the scores wholly above each cut, and what the next score adds to it."""
        after = np.minimum(self.rows + 1, self.counts.thresholds.size - 1)
        whole, steps = (sum(column[at] for column in columns) for at in (self.rows, after))
        return np.asarray(whole).tolist(), np.asarray(steps - whole).tolist()

    @property
    def is_divided(self) -> NDArray[np.bool_]:
        """Whether each cut divides rows with equal scores (or the weight of a row)."""
        return np.array([part > 0 for part in self.parts]) & ~self._is_in_gap

    @property
    def lowest_scores(self) -> NDArray[Any]:
        """Lowest score above each cut; NaN if no row is above the cut, or if counts do not store the score."""
        at = self.rows + [part > 0 for part in self.parts]
        scores = self.counts.thresholds[at]
        scores[(at == 0) | self._is_in_gap] = math.nan
        return np.asarray(scores)

    @property
    def _is_in_gap(self) -> NDArray[np.bool_]:
        """Whether each cut is among negatives whose scores are unknown, because the counts do not store them."""
        counts, after = self.counts, np.minimum(self.rows + 1, self.counts.thresholds.size - 1)
        if counts._has_each_score:
            return np.zeros(self.rows.size, dtype=np.bool_)
        divided = np.array([part > 0 for part in self.parts])
        return np.asarray(divided & (counts.tps[after] == counts.tps[self.rows]))

    def sums_between(self) -> Floats | None:
        """Return the sum of probabilities from each cut to the next; None if scores are not known probabilities."""
        counts = self.counts
        if not (counts._has_each_score and are_probabilities(counts)):
            return None
        (sums,) = sum_bins(counts, self.rows, lambda groups, _: [(groups.positives + groups.negatives) * groups.p])
        after = np.minimum(self.rows + 1, counts.thresholds.size - 1)
        _, steps = self._around(counts.tps, counts.fps)
        p = np.where(self.rows < after, counts.thresholds[after], 0.0).astype(np.float64)
        divided = np.array([float(part * step) for part, step in zip(self.parts, steps, strict=True)]) * p
        return np.asarray(sums / weight_scale(counts) + np.diff(divided))
