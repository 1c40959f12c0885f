"""Bins of probabilities with exact sums, for the calibration of each class and of the most probable class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks
from fastevals._kernels.class_ranges import sum_in_bins
from fastevals._kernels.compensated import BITS, LIMBS
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.probability_metrics import FRACTION, mean_of_bins
from fastevals.scale.fields import Fields

Ints = NDArray[np.int64]


class ProbabilityBins:
    """Rows and sums of probabilities in bins of equal width, for several columns.

    Parameters
    ----------
    n_columns, n_bins : int

    Attributes
    ----------
    rows : ndarray of int64 of shape (n_columns, n_bins, 2)
        Other rows, and rows of the column's class, or their integer weight.
    limbs : ndarray of int64 of shape (n_columns, n_bins, 7)
        Sums of probabilities, as in `sum_limbs`; all limbs but the first are below 2^26.
    """

    __slots__ = ("limbs", "rows")

    def __init__(self, n_columns: int, n_bins: int) -> None:
        self.rows: Ints = np.zeros((n_columns, n_bins, 2), np.int64)
        self.limbs: Ints = np.zeros((n_columns, n_bins, LIMBS), np.int64)

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return int(self.rows.shape[1])

    @property
    def edges(self) -> NDArray[np.float64]:
        """Ends of the bins."""
        return np.arange(self.n_bins + 1) / self.n_bins

    def add(self, column: int, p: NDArray[Any], codes: NDArray[Any], code: int, times: Ints | None) -> None:
        """Count rows of a column, each once or as often as `times` says; those with `code` are of its class."""
        sums = self.rows[column].reshape(-1), self.limbs[column].reshape(-1)
        for block in blocks(slice(0, p.size)):
            values = np.ascontiguousarray(p[block], dtype=np.float64)
            each = np.ones(values.size, np.int64) if times is None else times[block]
            sum_in_bins(values, codes[block], code, each, self.edges, *sums)
        _carry(self.limbs[column])

    def merge(self, *others: ProbabilityBins) -> ProbabilityBins:
        """Return the bins of the rows of these bins and of others."""
        merged = object.__new__(ProbabilityBins)
        merged.rows, merged.limbs = (
            np.sum([getattr(each, name) for each in (self, *others)], axis=0) for name in ("rows", "limbs")
        )
        _carry(merged.limbs)
        return merged

    def in_order(self, columns: NDArray[np.intp]) -> ProbabilityBins:
        """Return the bins with the columns in another order."""
        moved = object.__new__(ProbabilityBins)
        moved.rows, moved.limbs = self.rows[columns], self.limbs[columns]
        return moved

    def curve(self, columns: slice) -> CalibrationCurve:
        """Return the calibration curve of some columns together."""
        others, own = self.rows[columns].sum(axis=0).T
        sizes = others + own
        sums = [_total_of(limbs) for limbs in self.limbs[columns].sum(axis=0).tolist()]
        fractions = np.divide(own, sizes, where=sizes > 0, out=np.full(sizes.size, np.nan))
        return CalibrationCurve(fractions, mean_of_bins(sums, sizes.tolist()), sizes, self.edges)

    def mean(self, columns: slice) -> float:
        """Return the mean probability of some columns together, rounded once; NaN without rows."""
        total = sum(_total_of(limbs) for limbs in self.limbs[columns].sum(axis=(0, 1))[np.newaxis].tolist())
        return float(mean_of_bins([total], [int(self.rows[columns].sum())])[0])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        return {"bins": self.rows.ravel(), "limbs": self.limbs.ravel()}

    def fill(self, fields: Fields) -> None:
        """Read the arrays that were stored; raise if they are damaged."""
        self.rows = fields.counts("bins", self.rows.size).reshape(self.rows.shape).copy()
        self.limbs = fields.counts("limbs", self.limbs.size).reshape(self.limbs.shape).copy()
        if (self.limbs[..., 1:] >> BITS != 0).any():
            raise ValueError("its sums are not carried")
        sizes = self.rows.sum(axis=2, dtype=np.float64).ravel().tolist()
        for size, limbs in zip(sizes, self.limbs.reshape(-1, LIMBS).tolist(), strict=True):
            if _total_of(limbs) > int(size) << FRACTION:
                raise ValueError("its bins must have the sums of their rows")


def _carry(limbs: Ints) -> None:
    """Move the overflow of each limb of a sum to the limb before it."""
    for k in range(LIMBS - 1, 0, -1):
        limbs[..., k - 1] += limbs[..., k] >> BITS
        limbs[..., k] &= (1 << BITS) - 1


def _total_of(limbs: list[int]) -> int:
    """Return a sum in units of 2^-156 from its limbs."""
    total = 0
    for limb in limbs:
        total = (total << BITS) + limb
    return total
