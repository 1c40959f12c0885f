"""The debiased and the smooth calibration error. Plain binned errors are in the calibration curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.measure.probability_metrics import (
    Floats,
    Groups,
    Strategy,
    cut_bins,
    require_probabilities,
    sum_bins,
    sweep_groups,
    weight_scale,
)

SINGLE_ROW = 1e-12  # if pairs of rows have at most this share of a bin's squared weight, the bin counts as a single row

# Debiased ---------------------------------------------------------------------------------------------------------


def debiased_calibration_error(counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform") -> float:
    """Return the root of the debiased squared calibration error, or 0 if that is negative.

    Examples
    --------
    >>> import fastevals
    >>> counts = fastevals.Ranking([0, 0, 1, 1, 1, 1], [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]).counts
    >>> debiased_calibration_error(counts)
    0.0
    """
    return root_of(debiased_squared_calibration_error(counts, n_bins=n_bins, strategy=strategy))


def debiased_squared_calibration_error(
    counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "uniform"
) -> float:
    """Return the mean squared calibration error in bins minus its bias: the mean product of two rows' residuals.

    The residual of a row is its label minus its probability. In each bin, the squared expected residual is estimated
    without bias by the mean product over pairs of different rows. The result is negative about half the time if the
    model is calibrated. Bins with a single row are ignored.

    Raises
    ------
    ValueError
        If a score is not a probability, an option is out of range, or rows have weights.

    References
    ----------
    Bröcker (2012), doi:10.1007/s00382-011-1191-1; Kumar, Liang and Ma (2019), arXiv:1909.10155; Sun, Chaudhari, Barnett
    and Dobriban (2024), arXiv:2408.08998.

    Examples
    --------
    >>> import fastevals
    >>> counts = fastevals.Ranking([0, 0, 1, 1, 1, 1], [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]).counts
    >>> debiased_squared_calibration_error(counts)
    -0.020833333333333336
    """
    if counts.tps.dtype.kind == "f":
        raise ValueError(
            "debiased calibration errors need the squared weight of each row (or cluster), which counts do not have: "
            "compute calibration(y_true, y_prob, sample_weight=..., groups=...).error from rows"
        )
    bins = cut_bins(counts, n_bins, strategy)
    rows = (bins.positives + bins.negatives).astype(np.float64)
    sums, squares = (each[::-1] / weight_scale(counts) for each in sum_bins(counts, bins.starts, _residuals))
    return debias(rows, rows, sums, squares)


def _residuals(groups: Groups, _: Any) -> list[Floats]:
    """Return the sum of the residuals, and of their squares, of the rows of each group."""
    p, q = groups.p.astype(np.float64, copy=False), 1 - groups.p.astype(np.float64, copy=False)
    return [groups.positives * q - groups.negatives * p, groups.positives * q * q + groups.negatives * p * p]


def debias(weight: Floats, squared_weight: Floats, sums: Floats, squares: Floats) -> float:
    """Return the debiased squared error from sums over each bin; NaN if no bin has two rows.

    Parameters
    ----------
    weight, squared_weight : ndarray of shape (n_bins,)
        Sum of the weights w of the rows (or clusters), and sum of the squared weights.
    sums, squares : ndarray of shape (n_bins,)
        Sum of ``w * residual``, and sum of its square.
    """
    several = has_pairs(weight, squared_weight)
    if not several.any():
        return math.nan
    weight, squared_weight, sums, squares = (each[several] for each in (weight, squared_weight, sums, squares))
    pairs = (sums**2 - squares) / (weight**2 - squared_weight)
    return math.fsum(weight / weight.sum() * pairs)


def has_pairs(weight: Floats, squared_weight: Floats) -> NDArray[np.bool_]:
    """Return which bins have at least two rows (or clusters) with weight above zero."""
    return weight**2 - squared_weight > SINGLE_ROW * weight**2


def root_of(squared: float) -> float:
    """Return the root of a debiased square, which may be negative; NaN stays NaN."""
    return squared if math.isnan(squared) else math.sqrt(max(squared, 0.0))


# Smoothed ---------------------------------------------------------------------------------------------------------

MOST_STEPS = 4**9  # steps of the grid on which residuals are smoothed
STEPS_PER_BANDWIDTH = 64
LEAST_ERROR = 0.2  # times n**(-1/3): the usual error of a calibrated model with n probabilities is above this
RELATIVE_TOLERANCE = 1e-10


def smooth_calibration_error(counts: ThresholdCounts) -> float:
    """Return the smooth calibration error (smECE): the mean absolute residual, smoothed with a bandwidth equal to it.

    Residuals are smoothed along the probabilities by a Gaussian kernel that is reflected at 0 and 1. The integral of
    the absolute smoothed residuals falls as the bandwidth grows; the error is the bandwidth that equals the integral.
    There are no bins, and the error changes continuously with the probabilities.

    Residuals are distributed linearly over a grid of at least 64 steps per bandwidth, and smoothed by a Fourier
    transform. If the bandwidth is at least 1/4096, the relative error is below 1e-4.

    Raises
    ------
    ValueError
        If a score is not a probability.

    References
    ----------
    Błasiok and Nakkiran (2023), "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", arXiv:2309.12236.

    Examples
    --------
    >>> import fastevals
    >>> round(smooth_calibration_error(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 0.5]).counts), 6)
    0.166667
    """
    require_probabilities(counts)
    counts._require_each_score("the smooth calibration error")
    if not counts.n_pos + counts.n_neg:
        return math.nan
    by_chance = LEAST_ERROR * (counts.thresholds.size - 1) ** (-1 / 3)
    steps = min(4 ** math.ceil(math.log(STEPS_PER_BANDWIDTH / by_chance, 4)), MOST_STEPS)
    found = smoothed_at_its_value(residuals_on_grid(counts, steps))
    while 0 < found < STEPS_PER_BANDWIDTH / steps and steps < MOST_STEPS:
        steps *= 4
        found = smoothed_at_its_value(residuals_on_grid(counts, steps))
    return found


def residuals_on_grid(counts: ThresholdCounts, steps: int) -> Floats:
    """Return the residuals, summed at the points k / steps and divided by the weight of all rows.

    A residual between two points is divided between them, in proportion to its distance from the other point.
    """

    def sums(block: slice, groups: Groups) -> tuple[int, Floats]:
        place = groups.p.astype(np.float64, copy=False) * steps
        below = np.minimum(place.astype(np.intp), steps - 1)
        above = place - below
        residuals, _ = _residuals(groups, None)
        first = int(below[-1])  # probabilities descend
        values = np.bincount(below - first, residuals * (1 - above), int(below[0]) - first + 2)
        values += np.bincount(below - first + 1, residuals * above)
        return first, values.astype(np.float64, copy=False)

    on_grid = np.zeros(steps + 1)
    for first, values in sweep_groups(counts, sums):
        on_grid[first : first + values.size] += values
    scale = weight_scale(counts)
    return np.asarray(on_grid / (counts.n_pos * scale + counts.n_neg * scale))


def smoothed_at_its_value(residuals: Floats) -> float:
    """Return the bandwidth that equals the integral of the absolute residuals smoothed with it."""
    from scipy.optimize import brentq

    steps = residuals.size - 1
    halves = residuals / 2
    even = np.concatenate((residuals[:1], halves[1:-1], residuals[-1:], halves[-2:0:-1]))
    cosines = np.fft.rfft(even).real  # a reflected Gaussian multiplies the k-th cosine by exp(-(pi k sigma)^2 / 2)
    decays = -((np.pi * np.arange(steps + 1)) ** 2) / 2

    def excess(bandwidth: float) -> float:
        smoothed = np.abs(np.fft.irfft(cosines * np.exp(decays * bandwidth**2), 2 * steps)[: steps + 1])
        return float(2 * (smoothed.sum() - (smoothed[0] + smoothed[-1]) / 2) - bandwidth)

    low, high = abs(float(cosines[0])), math.fsum(np.abs(residuals))
    if not low < high or excess(low) <= 0:
        return low
    return high if excess(high) >= 0 else float(brentq(excess, low, high, xtol=1e-300, rtol=RELATIVE_TOLERANCE))
