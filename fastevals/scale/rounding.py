"""Weights rounded to whole units: the error of their sums, and its effect on metrics.

A row has at least 1 unit, and its weight differs from its units by at most half a unit. So the total weight of some
rows of a class is off by at most the sum of all rounding errors, and by at most half of the total. If counts are
shifted by that error in one direction at each threshold, they are no better than the rows' own counts; shifted in the
other direction, they are no worse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import named_by_base
from fastevals.counts import Cells, ThresholdCounts

PARTS = 2**20  # rounding errors are counted in 1 / PARTS of a unit
LOST = 2.0**-53  # relative rounding error of a division by a unit

WORSE, BETTER = -1, 1  # directions in which counts are shifted


def parts_lost(weights: NDArray[np.float64], units: NDArray[Any], unit: float) -> NDArray[np.int64]:
    """Return how far each row's weight may be from its units, in parts of a unit (1 / `PARTS`), rounded up."""
    exact = weights / unit
    off = np.abs(exact - units)
    return np.asarray(np.where(off > 0, np.ceil((off + exact * LOST) * PARTS), 0), dtype=np.int64)


class Spare(NamedTuple):
    """Units by which the total weight of each class may differ from the counted weight."""

    negatives: float = 0.0
    positives: float = 0.0

    @property
    def is_none(self) -> bool:
        """Whether all weights are whole units."""
        return not (self.negatives or self.positives)

    def share(self, counts: ThresholdCounts) -> float:
        """Return the largest relative error of a mean, whose numerator and denominator may both be off."""
        total, off = float(counts.n_pos + counts.n_neg), sum(self)
        return 2 * off / max(total - off, total / 2) if total else 0.0


def moved(sums: Any, spare: float, side: int) -> Any:
    """Return sums of weights shifted by their largest possible error."""
    return sums + side * np.minimum(spare, sums / 2)


def moved_cells(at: Cells, spare: Spare, side: int) -> Cells:
    """Return the worst or the best confusion matrix cells that rounding allows."""
    negatives, positives = spare
    return Cells(
        moved(at.tp, positives, side), moved(at.fp, negatives, -side), moved(at.fn, positives, -side),
        moved(at.tn, negatives, side),
    )  # fmt: skip


@named_by_base
class LooseCounts(ThresholdCounts):
    """Counts with the worst or the best confusion matrix cells that rounding allows at each threshold."""

    __slots__ = ("_side", "_spare")

    _spare: Spare
    _side: int

    @classmethod
    def of(cls, counts: ThresholdCounts, spare: Spare, side: int) -> ThresholdCounts:
        """Return counts shifted in one direction; unchanged if nothing was rounded."""
        if spare.is_none:
            return counts
        loose = cls._unchecked(counts.thresholds, counts.tps, counts.fps)
        object.__setattr__(loose, "_spare", spare)
        object.__setattr__(loose, "_side", side)
        return loose

    def cells(self, rows: slice | NDArray[Any] | int = slice(None)) -> Cells:
        """Return the cells at some of the thresholds."""
        return moved_cells(super().cells(rows), self._spare, self._side)


def moved_curve(counts: ThresholdCounts, spare: Spare, side: int, *, over_share: bool = False) -> ThresholdCounts:
    """Return counts whose class rates and share of positives are shifted in one direction.

    A smaller share of positives is worse, except on curves over the share of rows predicted positive (`over_share`),
    where it is neither better nor worse. The counts for these curves always assume the fewest possible positives; each
    point is then moved by as much as additional positives could move it.
    """
    if spare.is_none:
        return counts
    rates, totals = [], (counts.n_neg, counts.n_pos)
    for sums, total, off, way in zip((counts.fps, counts.tps), totals, spare, (-side, side), strict=True):
        above, below = moved(sums, off, way), moved(total - sums, off, -way)
        rates.append(np.maximum.accumulate(above / (above + below)) if total else np.zeros(sums.size))
    fpr, tpr = rates
    n_neg, n_pos = _moved_totals(counts, spare, WORSE if over_share else side)
    if over_share and all(totals):
        most_neg, most_pos = _moved_totals(counts, spare, BETTER)
        along = (most_pos / (most_pos + most_neg) * (n_pos + n_neg) - n_pos) / n_neg
        fpr = fpr + along * (np.maximum if side == WORSE else np.minimum)(tpr - fpr, 0)
    scale = totals[1] / n_pos if totals[1] else 1.0
    return ThresholdCounts._unchecked(counts.thresholds, tpr * totals[1], fpr * (n_neg * scale))


def _moved_totals(counts: ThresholdCounts, spare: Spare, side: int) -> tuple[float, float]:
    """Return the possible weights of negatives and positives that make the share of positives smallest, or largest."""
    return moved(counts.n_neg, spare.negatives, -side), moved(counts.n_pos, spare.positives, side)
