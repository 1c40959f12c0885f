"""Reliability in bins of predicted probability, with an interval for each bin's observed rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals.document.frames import Columns, make_columns
from fastevals.infer.calibration.forecasts import Forecasts, bins_of
from fastevals.infer.proportions import share_interval
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.probability_metrics import Bins, Strategy, cut_bins
from fastevals.results import Frozen, check_confidence_level

Floats = NDArray[np.float64]
BinOptions = tuple[int, Strategy]  # their number, and how they are cut

ONE_CLUSTER = "a bin with rows of a single cluster has no interval"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationBins(Frozen):
    """Predicted and observed rates in bins of predicted probability; an edge belongs to the bin below it.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Ascending from 0 to 1.
    counts : ndarray of shape (n_bins,)
        Rows in each bin, or their weight.
    mean_predicted, fraction_of_positives : ndarray of shape (n_bins,)
        Mean probability, and the observed rate of positives; NaN for an empty bin.
    low, high : ndarray of shape (n_bins,)
        Interval of the observed rate (not simultaneous).
    confidence_level : float
        Level of the intervals.
    caution : str
        Why some intervals are missing; empty if none is.

    Examples
    --------
    >>> import fastevals
    >>> bins = fastevals.calibration([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9], n_bins=2).bins
    >>> bins.mean_predicted, bins.fraction_of_positives, bins.low.round(3)
    (array([0.2       , 0.76666667]), array([0.33333333, 0.66666667]), array([0.061, 0.208]))
    """

    edges: Floats
    counts: Floats
    mean_predicted: Floats
    fraction_of_positives: Floats
    low: Floats
    high: Floats
    confidence_level: float
    caution: str = ""

    def __len__(self) -> int:
        return self.counts.size

    def __str__(self) -> str:
        return self.to_text().rstrip()

    def __repr__(self) -> str:
        return f"CalibrationBins({len(self)} bin{'s' * (len(self) != 1)}, {self.counts.sum():g} rows)"

    def _columns(self) -> Columns:
        return make_columns(
            {
                "lower_edge": self.edges[:-1],
                "upper_edge": self.edges[1:],
                "mean_predicted": self.mean_predicted,
                "fraction_of_positives": self.fraction_of_positives,
                "low": self.low,
                "high": self.high,
                "count": self.counts,
            }
        )

    @property
    def curve(self) -> CalibrationCurve:
        """The bins as a calibration curve, which `plots.plot_calibration` draws."""
        return CalibrationCurve(self.fraction_of_positives, self.mean_predicted, self.counts, self.edges)


def make_bins(forecasts: Forecasts, options: BinOptions, confidence_level: float) -> CalibrationBins:
    """Cut one model's forecasts into bins, with Wilson's interval for each bin's observed rate.

    Weighted rows count as Kish's effective number of rows. With clusters, the effective number of rows is the number of
    independent rows with the same variance of the rate (Korn and Graubard 1998), with Student's t for that variance. A
    bin whose outcomes are all alike shows no variance, so each of its clusters counts as one row.
    """
    bins = cut_bins(forecasts.counts(), *options)
    alpha = check_confidence_level(confidence_level)[1]
    weight, rate = np.asarray(bins.positives + bins.negatives, dtype=np.float64), bins.fraction_of_positives
    caution = ""
    if forecasts.n_clusters is not None:
        rows = _effective_rows(forecasts, bins, weight, alpha)
        caution = ONE_CLUSTER if (np.isnan(rows) & (weight > 0)).any() else ""
    elif forecasts.is_weighted:
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = weight**2 / forecasts.squares_in(bins.edges, bins.starts)
    else:
        rows = weight
    low, high = share_interval(rows * rate, rows * (1 - rate), "wilson", alpha, "two-sided")
    counts = weight / forecasts.unit if forecasts.is_weighted else bins.positives + bins.negatives
    return CalibrationBins(bins.edges, counts, bins.mean_predicted, rate, low, high, confidence_level, caution)


def _effective_rows(forecasts: Forecasts, bins: Bins, weight: Floats, alpha: float) -> Floats:
    """Return the number of independent rows with the same variance of each bin's rate; NaN with a single cluster."""
    from scipy.special import ndtri, stdtrit

    n_bins, n_clusters = weight.size, forecasts.n_clusters
    assert n_clusters is not None
    sums, squared = np.zeros((n_bins, n_clusters)), np.zeros(n_bins)
    present = np.zeros((n_bins, n_clusters), dtype=bool)
    for block in forecasts.blocks(n_bins * n_clusters):
        assert block.clusters is not None
        here = bins_of(block.p[0], bins.edges)
        at, (negatives, positives) = here * n_clusters + block.clusters, block.weights
        residuals = positives - (negatives + positives) * bins.fraction_of_positives[here]
        sums += np.bincount(at, residuals, sums.size).reshape(sums.shape)
        squared += np.bincount(here, block.squares.sum(axis=0), n_bins)
        present.ravel()[at] = True
    n, rate = present.sum(axis=1), bins.fraction_of_positives
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.square(sums).sum(axis=1) / weight**2 * n / (n - 1)
        rows = np.minimum(rate * (1 - rate) / variance, weight**2 / squared)
        rows *= np.square(ndtri(alpha / 2) / stdtrit(n - 1, alpha / 2))
        return np.where(n > 1, np.where((rate == 0) | (rate == 1), n, rows), np.nan)
