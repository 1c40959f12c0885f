"""The calibration curve, or reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.probability_metrics import Strategy, cut_bins
from fastevals.results import Frozen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationCurve(Frozen):
    """Share of positives and mean predicted probability in bins; unpacks in this order, like scikit-learn's curve.

    Bin k contains the probabilities ``edges[k] < p <= edges[k + 1]``, and the first bin also ``p == edges[0]``: an edge
    belongs to the bin below it, as in scikit-learn and Guo et al. Empty bins are kept (scikit-learn leaves them out);
    their count is 0, their other values are NaN, and the calibration errors ignore them.

    Attributes
    ----------
    fraction_of_positives, mean_predicted : ndarray of shape (n_bins,)
        Share of positives and mean probability of the rows in each bin, weighted if rows have weights.
    counts : ndarray of shape (n_bins,)
        Rows in each bin, or their weight.
    edges : ndarray of shape (n_bins + 1,)
        Ascending from 0 to 1.

    References
    ----------
    Murphy and Winkler (1977), doi:10.2307/2346866; errors: Guo et al. (2017), arXiv:1706.04599.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.25, 0.3, 0.75, 0.9, 1.0])
    >>> curve = CalibrationCurve.from_counts(ranking.counts, n_bins=2)
    >>> curve
    CalibrationCurve(2 bins, expected_calibration_error=0.166667)
    >>> curve.counts
    array([3, 3])
    """

    fraction_of_positives: NDArray[np.float64]
    mean_predicted: NDArray[np.float64]
    counts: NDArray[Any]
    edges: NDArray[np.float64]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return iter((self.fraction_of_positives, self.mean_predicted))

    def __len__(self) -> int:
        return self.counts.size

    def __repr__(self) -> str:
        bins = f"{len(self)} bin{'s' * (len(self) != 1)}"
        return f"CalibrationCurve({bins}, expected_calibration_error={self.expected_calibration_error:.6g})"

    def _columns(self) -> Columns:
        return make_columns(
            {
                "lower_edge": self.edges[:-1],
                "upper_edge": self.edges[1:],
                "fraction_of_positives": self.fraction_of_positives,
                "mean_predicted": self.mean_predicted,
                "count": self.counts,
            }
        )

    @property
    def defined(self) -> bool:
        """Return whether the curve has a value anywhere."""
        return bool((self.counts > 0).any())

    @classmethod
    def from_counts(
        cls, counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform"
    ) -> CalibrationCurve:
        """Make the curve from threshold counts.

        Parameters
        ----------
        counts : ThresholdCounts
            Counts of rows by probability.
        n_bins : int
            From 1 to a million.
        strategy : {"uniform", "quantile"}
            "uniform": bins of equal width; edges are the floats nearest to k / n_bins. "quantile": bins of equal mass
            (number of rows, or weight); edge k is the lowest probability p such that the rows with probabilities up to
            p have at least a share k / n_bins of the mass. Rows with equal probability are never split and equal edges
            are merged, so there may be fewer bins.

        Returns
        -------
        CalibrationCurve
            Also defined if all rows are of one class.

        Raises
        ------
        ValueError
            If a score is not a probability, or an option is out of range.
        """
        bins = cut_bins(counts, n_bins, strategy)
        return cls(bins.fraction_of_positives, bins.mean_predicted, bins.positives + bins.negatives, bins.edges)

    @property
    def expected_calibration_error(self) -> float:
        """Mean over rows of ``|share of positives - mean probability|`` in the row's bin."""
        return self._weighted_mean(self._gaps)

    @property
    def root_mean_square_calibration_error(self) -> float:
        """Square root of the mean over rows of (share of positives - mean probability)^2 in the row's bin."""
        return math.sqrt(self._weighted_mean(self._gaps**2))

    @property
    def maximum_calibration_error(self) -> float:
        """Largest ``|share of positives - mean probability|`` of any bin."""
        return float(np.fmax.reduce(self._gaps))

    @property
    def calibration_error_by_chance(self) -> float:
        """Expected calibration error of a calibrated model with as many rows in each bin; NaN if rows have weights.

        It is the mean over rows of the mean absolute deviation of a binomial share, exact if the probabilities of each
        bin are equal and otherwise slightly too large.
        """
        if self.counts.dtype.kind == "f":
            return math.nan
        return self._weighted_mean(mean_absolute_deviation(self.counts, self.mean_predicted))

    @property
    def _gaps(self) -> NDArray[np.float64]:
        return np.abs(self.fraction_of_positives - self.mean_predicted)

    def _weighted_mean(self, over_bins: NDArray[np.float64]) -> float:
        filled = ~np.isnan(over_bins)  # excludes bins that are empty or whose weight is negligible
        total = math.fsum(self.counts)
        if not total:
            return math.nan
        return min(math.fsum(over_bins[filled] * (self.counts[filled] / total)), float(over_bins[filled].max()))


def expected_calibration_error(counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform") -> float:
    """Return the mean distance between a bin's mean probability and share of positives; 10 equal bins by default."""
    return CalibrationCurve.from_counts(counts, n_bins=n_bins, strategy=strategy).expected_calibration_error


def top_label_calibration_error(counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform") -> float:
    """Return the expected calibration error of the most probable class: its probability against how often it is right.

    (Guo et al. 2017, arXiv:1706.04599.)
    """
    return expected_calibration_error(counts, n_bins=n_bins, strategy=strategy)


def root_mean_square_calibration_error(
    counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform"
) -> float:
    """Return the root of the mean squared distance between a bin's mean probability and share of positives."""
    return CalibrationCurve.from_counts(counts, n_bins=n_bins, strategy=strategy).root_mean_square_calibration_error


def maximum_calibration_error(counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform") -> float:
    """Return the largest distance between a bin's mean probability and share of positives; empty bins are ignored."""
    return CalibrationCurve.from_counts(counts, n_bins=n_bins, strategy=strategy).maximum_calibration_error


def mean_absolute_deviation(n: NDArray[Any], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean distance of a binomial share of n trials from its expectation p (De Moivre 1730); NaN if n is 0.

    Examples
    --------
    >>> mean_absolute_deviation(np.array([1, 2]), np.array([0.5, 0.5]))
    array([0.5 , 0.25])
    """
    from scipy.special import betaln, xlog1py, xlogy

    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.minimum(np.floor(n * p) + 1, n)  # fewest positives above the expectation
        logs = xlogy(above, p) + xlog1py(n - above + 1, -p) - betaln(above, n - above + 1)
        return np.where(n > 0, 2 * np.exp(logs) / n, np.nan)
