"""Reliability in bins of predicted probability, with an interval for each bin's observed rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import refuse_weighted
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.calibration.forecasts import Block, CountedForecasts, Forecasts
from fastevals.infer.proportions import share_interval
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.probability_metrics import Bins, Strategy, cut_bins
from fastevals.results import check_confidence_level

Floats = NDArray[np.float64]
BinOptions = tuple[int, Strategy]  # their number, and how they are cut

ONE_CLUSTER = "a bin with rows of a single cluster has no interval"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationBins(CalibrationCurve):
    """A calibration curve with an interval for each bin's observed rate; `plots.plot_calibration` draws both.

    Attributes
    ----------
    fraction_of_positives, mean_predicted : ndarray of shape (n_bins,)
        Observed rate of positives, and mean probability; NaN for an empty bin.
    counts : ndarray of shape (n_bins,)
        Rows in each bin, or their weight.
    edges : ndarray of shape (n_bins + 1,)
        Ascending from 0 to 1; an edge belongs to the bin below it.
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

    low: Floats
    high: Floats
    confidence_level: float
    caution: str = ""

    @classmethod
    def from_counts(
        cls,
        counts: ThresholdCounts,
        *,
        n_bins: int = 10,
        strategy: Strategy = "quantile",
        confidence_level: float = 0.95,
    ) -> CalibrationBins:
        """Make the bins, with Wilson's intervals, from counts of independent rows.

        Parameters
        ----------
        counts : ThresholdCounts
            Counts of rows by probability, without weights.
        n_bins, strategy
            As for `CalibrationCurve.from_counts`.
        confidence_level : float in (0, 1)
            Level of the intervals.

        Returns
        -------
        CalibrationBins
            The same as `calibration(counts).bins`.

        Raises
        ------
        ValueError
            If a score is not a probability, counts are weights, or an option is out of range.
        """
        forecasts = CountedForecasts.of(counts, None)
        if forecasts is None:
            refuse_weighted("counts", counts)
        return make_bins(forecasts, (n_bins, strategy), confidence_level)

    def __str__(self) -> str:
        return self.to_text().rstrip()

    def __repr__(self) -> str:
        return f"CalibrationBins({len(self)} bin{'s' * (len(self) != 1)}, {self.counts.sum():g} rows)"

    def _columns(self) -> Columns:
        columns = CalibrationCurve._columns(self)
        rows = columns.pop("count")
        return {**columns, **make_columns({"low": self.low, "high": self.high}), "count": rows}


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
            rows = weight**2 / forecasts.squares_in(bins)
    else:
        rows = weight
    low, high = share_interval(rows * rate, rows * (1 - rate), "wilson", alpha, "two-sided")
    counts = weight / forecasts.unit if forecasts.is_weighted else bins.positives + bins.negatives
    return CalibrationBins(rate, bins.mean_predicted, counts, bins.edges, low, high, confidence_level, caution)


def _effective_rows(forecasts: Forecasts, bins: Bins, weight: Floats, alpha: float) -> Floats:
    """Return the number of independent rows with the same variance of each bin's rate; NaN with a single cluster."""
    from scipy.special import ndtri, stdtrit

    rate = bins.fraction_of_positives

    def residuals(block: Block, at: NDArray[np.intp]) -> list[Floats]:
        negatives, positives = block.weights
        return [positives - (negatives + positives) * rate[at], np.ones(at.size)]

    sums, rows_of_clusters = forecasts.by_cluster(bins.edges, residuals)
    n, squared = np.diff(rows_of_clusters.indptr), forecasts.squares_in(bins)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = sums.power(2).sum(axis=1) / weight**2 * n / (n - 1)
        rows = np.minimum(rate * (1 - rate) / variance, weight**2 / squared)
        rows *= np.square(ndtri(alpha / 2) / stdtrit(n - 1, alpha / 2))
        return np.where(n > 1, np.where((rate == 0) | (rate == 1), n, rows), np.nan)
