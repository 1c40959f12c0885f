"""Weights rounded to whole units: how far off their sums may be, and the effect on metrics.

A row has at least 1 unit, and its weight is within half a unit of its units. So the weight of any rows of a class is
off by at most the sum of all roundings, and by at most half of itself. Counts moved that far one way at each threshold
are no better than the rows' counts; moved the other way, they are no worse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import named_by_base
from fastevals.counts import Cells, ThresholdCounts

PARTS = 2**20  # parts of a unit in which roundings are added up
LOST = 2.0**-53  # relative rounding of a division by a unit

WORSE, BETTER = -1, 1  # sides


def parts_lost(weights: NDArray[np.float64], units: NDArray[Any], unit: float) -> NDArray[np.int64]:
    """Return the parts of a unit, rounded up, by which each row's weight may differ from its units."""
    exact = weights / unit
    off = np.abs(exact - units)
    return np.asarray(np.where(off > 0, np.ceil((off + exact * LOST) * PARTS), 0), dtype=np.int64)


class Spare(NamedTuple):
    """Units by which the rows of each class may weigh more or less than was counted."""

    negatives: float = 0.0
    positives: float = 0.0

    @property
    def is_none(self) -> bool:
        """Whether all weights are whole units."""
        return not (self.negatives or self.positives)

    def share(self, counts: ThresholdCounts) -> float:
        """Return the largest share of weight that may be off, counted in the numerator and in the denominator."""
        total, off = float(counts.n_pos + counts.n_neg), sum(self)
        return 2 * off / max(total - off, total / 2) if total else 0.0


def moved(sums: Any, spare: float, side: int) -> Any:
    """Return sums of weights shifted by their largest possible error."""
    return sums + side * np.minimum(spare, sums / 2)


def moved_cells(at: Cells, spare: Spare, side: int) -> Cells:
    """Return cells that are as bad, or as good, as rounding allows."""
    negatives, positives = spare
    return Cells(
        moved(at.tp, positives, side), moved(at.fp, negatives, -side), moved(at.fn, positives, -side),
        moved(at.tn, negatives, side),
    )  # fmt: skip


@named_by_base
class LooseCounts(ThresholdCounts):
    """Counts whose cells at each threshold are as bad, or as good, as rounding allows."""

    __slots__ = ("_side", "_spare")

    _spare: Spare
    _side: int

    @classmethod
    def of(cls, counts: ThresholdCounts, spare: Spare, side: int) -> ThresholdCounts:
        """Return counts that are off to one side; unchanged if nothing was rounded."""
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
    """Return counts whose class rates and share of positives are off to one side.

    Fewer positives are the worse side. Over the share of rows predicted positive (`over_share`) they are neither better
    nor worse: there, counts have the fewest possible positives, and points move by the effect of having more.
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
    """Return the weights of negatives and positives with the smallest, or the largest, share of positives."""
    return moved(counts.n_neg, spare.negatives, -side), moved(counts.n_pos, spare.positives, side)
