"""The reliability curve: calibrated against predicted probability, by isotonic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._validation.arrays import Floats, Places
from fastevals._validation.curves import as_shares
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.isotonic import ScoreDecomposition, decompose, isotonic_blocks
from fastevals.measure.probability_metrics import uniform_bins
from fastevals.results import Frozen, number_or_array

HISTOGRAM_BINS = 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReliabilityCurve(Frozen):
    """Calibrated against predicted probability: the isotonic fit of the labels; unpacks as ``low, high, calibrated``.

    The fit is the non-decreasing function of the probability with the least squared error (and the least log loss). It
    is constant in each block of probabilities: the share of positives there. Between blocks the curve is a straight
    line. Unlike a calibration curve in bins, it needs no choice of bins, and it never decreases.

    Attributes
    ----------
    low, high : ndarray of shape (n_blocks,)
        Lowest and highest probability of the rows in each block, ascending.
    calibrated : ndarray of shape (n_blocks,)
        Share of positives in each block, weighted if rows have weights; strictly ascending.
    counts : ndarray of shape (n_blocks,)
        Rows in each block, or their weight.
    histogram : ndarray of shape (20,)
        Rows in 20 bins of equal width, as in the calibration curve, or their weight.
    decomposition : ScoreDecomposition
        Parts of the Brier score.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.25, 0.3, 0.75, 0.9, 1.0])
    >>> curve = ranking.reliability_curve()
    >>> curve
    ReliabilityCurve(3 blocks, miscalibration=0.105833)
    >>> low, high, calibrated = curve
    >>> calibrated
    array([0. , 0.5, 1. ])
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    calibrated: NDArray[np.float64]
    counts: NDArray[Any]
    histogram: NDArray[Any]
    decomposition: ScoreDecomposition

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return iter((self.low, self.high, self.calibrated))

    def __len__(self) -> int:
        return self.counts.size

    def __repr__(self) -> str:
        blocks = f"{len(self)} block{'s' * (len(self) != 1)}"
        return f"ReliabilityCurve({blocks}, miscalibration={self.decomposition.miscalibration:.6g})"

    def _columns(self) -> Columns:
        return make_columns({"low": self.low, "high": self.high, "calibrated": self.calibrated, "count": self.counts})

    @property
    def defined(self) -> bool:
        """Return whether there are rows."""
        return bool(self.counts.size)

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> ReliabilityCurve:
        """Make the curve from threshold counts; raise ValueError if a score is not a probability."""
        blocks = isotonic_blocks(counts)
        low, high = counts.thresholds[blocks.rows[1:]], counts.thresholds[blocks.rows[:-1] + 1]
        low, high, share = (np.array(each[::-1], dtype=np.float64) for each in (low, high, blocks.share))
        _, bins = uniform_bins(counts, HISTOGRAM_BINS)
        rows, histogram = (np.diff(counts.tps[at] + counts.fps[at])[::-1] for at in (blocks.rows, bins))
        return cls(low, high, share, rows, histogram, decompose(counts, "brier_score", blocks))

    @property
    def points(self) -> tuple[Floats, Floats]:
        """Both ends of each block, as arrays of probabilities and of calibrated probabilities."""
        return np.stack([self.low, self.high], axis=1).ravel(), np.repeat(self.calibrated, 2)

    @overload
    def at(self, probability: float) -> float: ...
    @overload
    def at(self, probability: Places) -> Floats: ...
    def at(self, probability: ArrayLike) -> Any:
        """Recalibrate a probability, or each one of an array.

        Parameters
        ----------
        probability : float or array-like in [0, 1]
            Below the lowest probability of the rows, and above the highest, the curve is constant.

        Returns
        -------
        float or ndarray
            Calibrated probabilities; NaN without rows.

        Raises
        ------
        ValueError
            If a value is out of range.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.25, 0.3, 0.75, 0.9, 1.0])
        >>> ranking.reliability_curve().at([0.2, 0.5])
        array([0. , 0.5])
        """
        values = as_shares("probability", probability)
        return number_or_array(np.interp(values, *self.points) if self.defined else np.full(values.shape, np.nan))
