"""Scores of predicted probabilities, each a function of threshold counts.

Brier score and log loss are monotone in the probability in each class. So the rounding of cumulative weights, which
enters the difference of two of them twice, comes to an ulp of the total, and not to one for each distinct probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.measure.cells import ratio
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.probability_bins import (
    Bins,
    Groups,
    cut,
    mean_over_rows,
    require_probabilities,
    scale_of,
    sum_bins,
    sweep_groups,
)
from fastevals.measure.results import Frozen

__all__ = [
    "BrierDecomposition",
    "brier_decomposition",
    "brier_score",
    "log_loss",
    "log_losses",
    "probabilities",
    "squared_losses",
]

Floats = NDArray[np.float64]

TINY = 5e-324  # divides an empty group's 0 without a NaN


def _squares(groups: Groups) -> Any:
    return np.sum(groups.positives * (1 - groups.p) ** 2 + groups.negatives * groups.p**2)


def brier_score(counts: ThresholdCounts) -> float:
    """Give the mean squared difference of probability and label: Brier (1950), for two classes halved.

    Defined for one class too. Raises ValueError where a score is no probability.

    Examples
    --------
    >>> import fastevals
    >>> brier_score(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 1.0]).counts)
    0.16666666666666666
    """
    require_probabilities(counts)
    return min(mean_over_rows(counts, sweep_groups(counts, lambda _, groups: _squares(groups))), 1.0)


def log_loss(counts: ThresholdCounts) -> float:
    """Give the mean of -log(probability of the true label), natural logarithm.

    It is inf where a label was given probability 0: nothing is clipped (scikit-learn clips by the eps of the dtype).
    A weight so small that it is lost in the total is not seen. Defined for one class too. Raises ValueError where a
    score is no probability.

    Examples
    --------
    >>> import fastevals
    >>> log_loss(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 1.0]).counts)
    0.46209812037329684
    >>> log_loss(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 0.0]).counts)
    inf
    """
    require_probabilities(counts)

    def logs(_: slice, groups: Groups) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 log(0) is 0: no row was wrong
            of_positives = groups.positives * np.log(groups.p)
            of_negatives = groups.negatives * np.log1p(-groups.p)
        of_positives[groups.positives == 0] = 0
        of_negatives[groups.negatives == 0] = 0
        return np.sum(of_positives + of_negatives)

    return abs(mean_over_rows(counts, sweep_groups(counts, logs)))


# Losses at each threshold, for bootstrap replicates: NaN unless all thresholds are probabilities ---------------------


def probabilities(thresholds: Floats) -> tuple[Floats]:
    """Give descending thresholds themselves."""
    if thresholds.size and not (thresholds[-1] >= 0 and thresholds[0] <= 1):
        return (np.full(thresholds.size, np.nan),)
    return (thresholds,)


def squared_losses(thresholds: Floats) -> tuple[Floats, Floats]:
    """Give the squared differences of the Brier score."""
    (p,) = probabilities(thresholds)
    return (1 - p) ** 2, p**2


def log_losses(thresholds: Floats) -> tuple[Floats, Floats]:
    """Give the terms of the log loss."""
    (p,) = probabilities(thresholds)
    with np.errstate(divide="ignore"):
        return -np.log(p), -np.log1p(-p)


# The Brier score in parts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrierDecomposition(Frozen):
    """Parts of a Brier score: reliability - resolution + uncertainty, and what the bins hide.

    ``brier_score = reliability - resolution + uncertainty + within_bin_variance - within_bin_covariance``.

    Attributes
    ----------
    brier_score : float
        Mean squared difference of probability and label.
    reliability : float
        Mean squared difference of mean probability and share of positives in a bin; 0 is perfectly calibrated.
    resolution : float
        Variance of the bins' shares of positives; higher is better.
    uncertainty : float
        Variance of the labels; no forecast changes it.
    within_bin_variance, within_bin_covariance : float
        Variance of the probabilities inside bins, and twice their covariance with the labels there. Both are 0 when
        each distinct probability is a bin of its own.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; inside bins, Stephenson, Coelho and Jolliffe
    (2008), doi:10.1175/2007WAF2006116.1.

    Examples
    --------
    >>> import fastevals
    >>> parts = fastevals.Ranking([0, 0, 1, 1], [0.25, 0.25, 0.25, 1.0]).brier_decomposition()
    >>> parts.reliability - parts.resolution + parts.uncertainty == parts.brier_score
    True
    """

    brier_score: float
    reliability: float
    resolution: float
    uncertainty: float
    within_bin_variance: float = 0.0
    within_bin_covariance: float = 0.0

    @property
    def generalized_resolution(self) -> float:
        """Resolution with what the bins hide: ``brier_score = reliability - generalized_resolution + uncertainty``."""
        return self.resolution - self.within_bin_variance + self.within_bin_covariance


def brier_decomposition(
    counts: ThresholdCounts, *, n_bins: int | None = None, strategy: str = "uniform"
) -> BrierDecomposition:
    """Split the Brier score into parts that add up to it.

    Parameters
    ----------
    counts : ThresholdCounts
        Of probabilities.
    n_bins : int, optional
        Bins, as `CalibrationCurve` has them. By default each distinct probability is one: reliability is then high and
        resolution too, where few rows share a probability.
    strategy : {"uniform", "quantile"}
        How bins are cut.

    Returns
    -------
    BrierDecomposition
        For one class resolution and uncertainty are 0.

    Raises
    ------
    ValueError
        If a score is no probability, or an option is out of range.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; inside bins, Stephenson, Coelho and Jolliffe
    (2008), doi:10.1175/2007WAF2006116.1.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 0, 1, 1, 1], [0.25, 0.25, 0.25, 0.25, 1, 1])
    >>> parts = brier_decomposition(ranking.counts)
    >>> parts.brier_score, parts.reliability, parts.resolution, parts.uncertainty
    (0.125, 0.0, 0.125, 0.25)
    """
    score = brier_score(counts)
    scale = scale_of(counts)
    n_pos, n_neg = counts.n_pos * scale, counts.n_neg * scale
    base = ratio(n_pos, n_pos + n_neg)
    uncertainty = float(base * ratio(n_neg, n_pos + n_neg))
    if n_bins is not None:
        bins = cut(counts, n_bins, strategy)
        reliability, resolution, variance, covariance = _binned_parts(counts, bins, base)
        return BrierDecomposition(score, reliability, resolution, uncertainty, variance, covariance)

    def parts(_: slice, groups: Groups) -> tuple[Any, Any]:
        weight = groups.positives + groups.negatives
        share = groups.positives / np.maximum(weight, TINY)
        return np.sum(weight * (groups.p - share) ** 2), np.sum(weight * (share - base) ** 2)

    sums = list(zip(*sweep_groups(counts, parts), strict=True)) or [(), ()]
    reliability, resolution = (mean_over_rows(counts, list(part)) for part in sums)
    return BrierDecomposition(score, reliability, resolution, uncertainty)


def _binned_parts(counts: ThresholdCounts, bins: Bins, base: Any) -> list[float]:
    """Give reliability, resolution, and the variance and twice the covariance inside bins."""
    scale = scale_of(counts)
    # From the highest bin down, as groups are.
    weight, mean, share = (
        array[::-1]
        for array in (
            bins.positives * scale + bins.negatives * scale,
            bins.mean_predicted,
            bins.fraction_of_positives,
        )
    )

    def inside(groups: Groups, spread: Callable[[NDArray[Any]], NDArray[Any]]) -> list[NDArray[Any]]:
        away, share_here = groups.p - spread(mean), spread(share)
        together = groups.positives * (1 - share_here) - groups.negatives * share_here
        return [(groups.positives + groups.negatives) * away**2, 2 * together * away]

    between = [weight * (mean - share) ** 2, weight * (share - base) ** 2]
    return [
        mean_over_rows(counts, part[weight > 0].tolist()) for part in between + sum_bins(counts, bins.starts, inside)
    ]
