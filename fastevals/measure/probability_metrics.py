"""Metrics of predicted probabilities: proper scores, their decomposition, and calibration in bins.

The scores of the ranking are the probabilities. The difference between a row of the counts and the row before it is
the number (or weight) of positives and negatives that share a probability.

Weights are differences of cumulative floats, each off by half an ulp of the *total* weight. In each class, Brier score
and log loss are monotone in the probability, so these errors nearly cancel: they add up to about one ulp of the total,
not to one per distinct probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.compensated import BASE, BITS, LIMBS, sum_limbs
from fastevals._options import check_choice, check_integer
from fastevals._validation.arrays import EXACT_INTEGER, check_probabilities, power_of_two
from fastevals.counts import ThresholdCounts, last_row, read_only_as
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.cells import ratio
from fastevals.results import Frozen

Floats = NDArray[np.float64]

Losses = Callable[[Floats], tuple[Floats, Floats]]

LEAST_FLOAT = 5e-324  # avoids NaN when an empty group's 0 is divided


def _squares(groups: Groups) -> Any:
    return np.sum(groups.positives * (1 - groups.p) ** 2 + groups.negatives * groups.p**2)


def brier_score(counts: ThresholdCounts) -> float:
    """Return the mean squared difference between probability and label (Brier 1950, halved for two classes).

    It is also defined if all rows are of one class. Raises ValueError if a score is not a probability.

    Examples
    --------
    >>> import fastevals
    >>> brier_score(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 1.0]).counts)
    0.16666666666666666
    """
    require_probabilities(counts)
    counts._require_each_score("the Brier score")
    if are_whole(counts):
        return min(_exact_mean(counts, squared_losses), 1.0)
    return min(mean_over_rows(counts, sweep_groups(counts, lambda _, groups: _squares(groups))), 1.0)


def log_loss(counts: ThresholdCounts) -> float:
    """Return the mean of -log(probability of the true label), natural logarithm.

    It is inf if a true label was given probability 0: nothing is clipped (scikit-learn clips by the eps of the dtype).
    A weight too small to change the total weight is ignored. The loss is also defined if all rows are of one class.
    Raises ValueError if a score is not a probability.

    Examples
    --------
    >>> import fastevals
    >>> log_loss(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 1.0]).counts)
    0.46209812037329684
    >>> log_loss(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 0.0]).counts)
    inf
    """
    require_probabilities(counts)
    counts._require_each_score("the log loss")
    if are_whole(counts):
        return _exact_mean(counts, log_losses)

    def logs(_: slice, groups: Groups) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 log(0) is 0: no such row
            positive_losses = groups.positives * np.log(groups.p)
            negative_losses = groups.negatives * np.log1p(-groups.p)
        positive_losses[groups.positives == 0] = 0
        negative_losses[groups.negatives == 0] = 0
        return np.sum(positive_losses + negative_losses)

    return abs(mean_over_rows(counts, sweep_groups(counts, logs)))


def mean_predicted(counts: ThresholdCounts) -> float:
    """Return the mean predicted probability.

    Compare it with the share of positives. It is also defined if all rows are of one class. Raises ValueError if a
    score is not a probability.

    Examples
    --------
    >>> import fastevals
    >>> mean_predicted(fastevals.Ranking([0, 1, 1], [0.5, 0.5, 0.75]).counts)
    0.5833333333333334
    """
    require_probabilities(counts)
    counts._require_each_score("the mean predicted probability")
    if are_whole(counts):
        return _exact_mean(counts, probabilities)

    def predicted(_: slice, groups: Groups) -> Any:
        return np.sum((groups.positives + groups.negatives) * groups.p)

    return min(mean_over_rows(counts, sweep_groups(counts, predicted)), 1.0)


# Exact sums over rows: the same in any order and for any split into parts ---------------------------------------------

FRACTION = 156  # bits after the binary point
REST = 6 * FRACTION  # further bits, within which all floats end
SMALL_SUM = 2 ** (FRACTION - 59)  # up to this sum, the mean of 2**37 rows may be so small that truncated bits matter
LIMBED_ROWS = 1 << 22  # values that a process sums with NumPy before the kernel is worth its compilation
LARGE_ROWS = 2**36  # rows, above which sums of limbs could exceed 64 bits


def are_whole(counts: ThresholdCounts) -> bool:
    """Return whether counts are numbers of rows, or sums of weights whose values are all whole numbers."""
    if counts.tps.dtype.kind != "f":
        return True
    if not counts.n_pos + counts.n_neg < EXACT_INTEGER:
        return False
    return all(bool((each == np.rint(each)).all()) for each in (counts.tps, counts.fps))


def sum_exactly(values: Floats, times: NDArray[Any]) -> int:
    """Return the sum of `values * times` in units of 2**-156, with lower bits cut off; no value may be negative."""
    if times.size and float(times.sum(dtype=np.float64)) > LARGE_ROWS:
        high, low = times.astype(np.int64) >> 24, times.astype(np.int64) & (2**24 - 1)
        halves = values.size // 2
        if halves:
            return sum_exactly(values[:halves], times[:halves]) + sum_exactly(values[halves:], times[halves:])
        return (sum_exactly(values, high) << 24) + sum_exactly(values, low)
    limbs = np.zeros(LIMBS, dtype=np.int64)
    if sum_limbs.spares(values.size, LIMBED_ROWS):
        _sum_limbs(values, times, limbs)
    else:
        sum_limbs(read_only_as(values, values.dtype), times, limbs)
    total = 0
    for limb in limbs.tolist():
        total = (total << BITS) + limb
    return total


def _sum_limbs(values: Floats, times: NDArray[Any], limbs: NDArray[np.int64]) -> None:
    """Do the work of the kernel `sum_limbs` with NumPy."""
    n = times.astype(np.int64)
    for k in range(LIMBS):
        whole = np.floor(values) if k < LIMBS - 1 else values
        limbs[k] += n @ whole.astype(np.int64)
        values = (values - whole) * BASE


def sum_rests(values: Floats, times: NDArray[Any]) -> int:
    """Return the sum of the bits that `sum_exactly` truncates, in units of 2**-(156 + REST)."""
    total = 0
    for _ in range(REST // FRACTION):
        values = np.ldexp(values, FRACTION) % 1.0
        total = (total << FRACTION) + sum_exactly(values, times)
    return total


def sum_losses(p: Floats, positives: NDArray[Any], negatives: NDArray[Any], losses: Losses) -> NDArray[Any]:
    """Return the sum of losses in units of 2**-156, the number of infinite losses, and truncated bits of small sums."""
    total = infinite = rest = 0
    for values, times in zip(losses(p), (positives, negatives), strict=True):
        if not np.isfinite(values.max(initial=0.0)):
            endless = np.isinf(values)
            infinite += int(times[endless].sum())
            values = np.where(endless, 0.0, values)
        more = sum_exactly(values, times)
        total += more
        rest += sum_rests(values, times) if more <= SMALL_SUM else 0
    return np.array([total, infinite, rest], dtype=object)


def mean_loss(total: int, infinite: int, rest: int, n: int) -> float:
    """Return the mean over n rows from the result of `sum_losses`, rounded once."""
    if infinite:
        return math.inf
    exact = (total << REST) + (rest if total <= SMALL_SUM else 0)
    return float(Fraction(exact, n << (FRACTION + REST)))


def _exact_mean(counts: ThresholdCounts, losses: Losses) -> float:
    def block_sum(rows: slice) -> NDArray[Any]:
        sums = np.zeros(3, dtype=object)
        for block in blocks(rows):
            steps = slice(block.start, block.stop + 1)
            p = counts.thresholds[steps][1:].astype(np.float64, copy=False)
            sums += sum_losses(p, np.diff(counts.tps[steps]), np.diff(counts.fps[steps]), losses)
        return sums

    sums = sum(run(block_sum, chunks(counts.thresholds.size - 1)), np.zeros(3, dtype=object))
    n = int(counts.n_pos + counts.n_neg)
    return mean_loss(sums[0], sums[1], sums[2], n) if n else math.nan


# Terms per positive and per negative, for bootstrap replicates: NaN unless all scores are probabilities ---------------


def differences(scores: Floats) -> tuple[Floats, Floats]:
    """Return label minus probability."""
    p = _nan_unless_probabilities(scores)
    return 1 - p, -p


def probabilities(scores: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities."""
    p = _nan_unless_probabilities(scores)
    return p, p


def squared_losses(scores: Floats) -> tuple[Floats, Floats]:
    """Return the squared differences of the Brier score."""
    p = _nan_unless_probabilities(scores)
    return (1 - p) ** 2, p**2


def log_losses(scores: Floats) -> tuple[Floats, Floats]:
    """Return the terms of the log loss."""
    p = _nan_unless_probabilities(scores)
    with np.errstate(divide="ignore"):
        return -np.log(p), -np.log1p(-p)


def _nan_unless_probabilities(scores: Floats) -> Floats:
    return scores if not scores.size or (scores.min() >= 0 and scores.max() <= 1) else np.full(scores.size, np.nan)


# The Brier score in parts -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BrierDecomposition(Frozen):
    """Parts of a Brier score: reliability, resolution, uncertainty, and two terms for variation inside bins.

    ``brier_score = reliability - resolution + uncertainty + within_bin_variance - within_bin_covariance``.

    Attributes
    ----------
    brier_score : float
        Mean squared difference between probability and label.
    reliability : float
        Mean squared difference between a bin's mean probability and its share of positives; 0 if perfectly calibrated.
        Chance alone contributes ``k * uncertainty / n`` for n rows in k bins, and as much to the resolution.
    resolution : float
        Variance of the bins' shares of positives; higher is better.
    uncertainty : float
        Variance of the labels, which no forecast changes.
    within_bin_variance, within_bin_covariance : float
        Variance of the probabilities inside bins, and twice their covariance with the labels. Both are 0 if each
        distinct probability is a bin of its own.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; terms inside bins: Stephenson, Coelho and
    Jolliffe (2008), doi:10.1175/2007WAF2006116.1.

    Examples
    --------
    >>> import fastevals
    >>> parts = fastevals.Ranking([0, 0, 1, 1], [0.25, 0.25, 0.25, 1.0]).brier_decomposition(n_bins=10)
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
        """Resolution including both terms inside bins: score = reliability - generalized_resolution + uncertainty."""
        return self.resolution - self.within_bin_variance + self.within_bin_covariance

    def _title(self) -> str:
        return type(self).__name__

    def _columns(self) -> Columns:
        names = (*(each.name for each in fields(self)), "generalized_resolution")
        return make_columns({name: getattr(self, name) for name in names})


def brier_decomposition(
    counts: ThresholdCounts, *, n_bins: int = 10, strategy: Strategy = "quantile"
) -> BrierDecomposition:
    """Split the Brier score into parts that add up to it, by bins.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts of rows by probability.
    n_bins : int
        Number of bins, as in `CalibrationCurve`.
    strategy : {"quantile", "uniform"}
        Bins of equal mass or width. If there are at most `n_bins` distinct probabilities, each is a quantile bin.

    Returns
    -------
    BrierDecomposition
        With one class, resolution and uncertainty are 0.

    Raises
    ------
    ValueError
        If a score is not a probability, or an option is out of range.

    References
    ----------
    Murphy (1973), doi:10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2; terms inside bins: Stephenson, Coelho and
    Jolliffe (2008), doi:10.1175/2007WAF2006116.1.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 0, 1, 1, 1], [0.25, 0.25, 0.25, 0.25, 1, 1])
    >>> parts = brier_decomposition(ranking.counts)
    >>> parts.brier_score, parts.reliability, parts.resolution, parts.uncertainty
    (0.125, 0.0, 0.125, 0.25)
    """
    score = brier_score(counts)
    scale = weight_scale(counts)
    n_pos, n_neg = counts.n_pos * scale, counts.n_neg * scale
    base = ratio(n_pos, n_pos + n_neg)
    uncertainty = float(base * ratio(n_neg, n_pos + n_neg))
    bins = cut_bins(counts, n_bins, strategy)
    if strategy != "quantile" or counts.thresholds.size - 1 > n_bins:
        reliability, resolution, variance, covariance = _binned_parts(counts, bins, base)
        return BrierDecomposition(score, reliability, resolution, uncertainty, variance, covariance)

    def parts(_: slice, groups: Groups) -> tuple[Any, Any]:
        weight = groups.positives + groups.negatives
        share = groups.positives / np.maximum(weight, LEAST_FLOAT)
        return np.sum(weight * (groups.p - share) ** 2), np.sum(weight * (share - base) ** 2)

    sums = list(zip(*sweep_groups(counts, parts), strict=True)) or [(), ()]
    reliability, resolution = (mean_over_rows(counts, list(terms)) for terms in sums)
    return BrierDecomposition(score, reliability, resolution, uncertainty)


def _binned_parts(counts: ThresholdCounts, bins: Bins, base: Any) -> list[float]:
    """Return reliability, resolution, and the variance and twice the covariance inside bins."""
    scale = weight_scale(counts)
    # From the highest bin down, like the groups.
    weight, mean, share = (
        array[::-1]
        for array in (bins.positives * scale + bins.negatives * scale, bins.mean_predicted, bins.fraction_of_positives)
    )

    def terms_within(groups: Groups, to_groups: Callable[[NDArray[Any]], NDArray[Any]]) -> list[NDArray[Any]]:
        deviation, share_in_bin = groups.p - to_groups(mean), to_groups(share)
        covariance_terms = groups.positives * (1 - share_in_bin) - groups.negatives * share_in_bin
        return [(groups.positives + groups.negatives) * deviation**2, 2 * covariance_terms * deviation]

    between = [weight * (mean - share) ** 2, weight * (share - base) ** 2]
    return [
        mean_over_rows(counts, terms[weight > 0].tolist())
        for terms in between + sum_bins(counts, bins.starts, terms_within)
    ]


T = TypeVar("T")
MOST_BINS = 1_000_000
WEIGHT_ROUNDING = 2.0**-50  # largest relative error of sums of weights


def are_probabilities(counts: ThresholdCounts) -> bool:
    """Return whether all thresholds except the first, +inf, are probabilities."""
    return bool(counts.thresholds.size == 1 or (counts.thresholds[-1] >= 0 and counts.thresholds[1] <= 1))


def require_probabilities(counts: ThresholdCounts) -> None:
    """Raise unless all thresholds except the first are probabilities."""
    if not are_probabilities(counts):
        check_probabilities("y_score", counts.thresholds[-1], counts.thresholds[1])


class Groups(NamedTuple):
    """Distinct probabilities, descending, and the weight of the positives and negatives with each of them."""

    p: NDArray[Any]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]


def weight_scale(counts: ThresholdCounts) -> float:
    """Return the power of two that scales the weight to about 1, so that no product over- or underflows."""
    return power_of_two(max(counts.n_pos, counts.n_neg))


def sweep_groups(counts: ThresholdCounts, function: Callable[[slice, Groups], T]) -> list[T]:
    """Call a function on each block of groups; group i holds what row i + 1 of the counts adds to row i."""
    scale = weight_scale(counts)
    dtype = np.result_type(counts.thresholds, np.float64)

    def groups(block: slice) -> Groups:
        rows = slice(block.start, block.stop + 1)
        p = counts.thresholds[rows][1:].astype(dtype, copy=False)
        return Groups(p, np.diff(counts.tps[rows]) * scale, np.diff(counts.fps[rows]) * scale)

    def sweep_rows(rows: slice) -> list[T]:
        return [function(block, groups(block)) for block in blocks(rows)]

    return [result for results in run(sweep_rows, chunks(counts.thresholds.size - 1)) for result in results]


def mean_over_rows(counts: ThresholdCounts, sums: list[Any]) -> float:
    """Return the mean over all rows from sums per block."""
    scale = weight_scale(counts)
    return float(ratio(math.fsum(sums), counts.n_pos * scale + counts.n_neg * scale))


# Bins -------------------------------------------------------------------------------------------------------------


class Bins(NamedTuple):
    """Bins of probabilities, ascending.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Ascending from 0 to 1. Bin k is ``edges[k] < p <= edges[k + 1]``; the first also includes ``p == edges[0]``.
    positives, negatives : ndarray of shape (n_bins,)
        Rows in each bin, or their weight.
    mean_predicted, fraction_of_positives : ndarray of shape (n_bins,)
        NaN for an empty bin.
    starts : ndarray of shape (n_bins + 1,)
        Index of each bin's first distinct probability, *from the highest bin down*, then the number of probabilities.
    """

    edges: NDArray[np.float64]
    positives: NDArray[Any]
    negatives: NDArray[Any]
    mean_predicted: NDArray[np.float64]
    fraction_of_positives: NDArray[np.float64]
    starts: NDArray[np.intp]


def checked_bins(n_bins: Any = 10, strategy: Any = "uniform") -> dict[str, Any]:
    """Check and return the options for bins."""
    check_choice("strategy", strategy, Strategy)
    return {"n_bins": check_integer("n_bins", n_bins, low=1, high=MOST_BINS), "strategy": strategy}


def cut_bins(counts: ThresholdCounts, n_bins: int, strategy: Strategy) -> Bins:
    """Cut the probabilities into bins of equal width ("uniform") or of equal mass ("quantile")."""
    require_probabilities(counts)
    counts._require_each_score("calibration")
    n_bins, strategy = checked_bins(n_bins, strategy).values()
    edges, starts = STRATEGIES[strategy](counts, n_bins)
    positives, negatives = np.diff(counts.tps[starts]), np.diff(counts.fps[starts])
    if n_bins <= FEW_BINS and are_whole(counts):
        mean = mean_of_bins(_exact_bins(counts, starts), (positives + negatives).tolist())
    else:
        (sums,) = sum_bins(counts, starts, lambda groups, _: [(groups.positives + groups.negatives) * groups.p])
        scale = weight_scale(counts)
        mean = ratio(sums, positives * scale + negatives * scale)
    # Rounded means are kept within the bin, and the mean of a single probability is that probability.
    highest = counts.thresholds[np.minimum(starts[:-1] + 1, counts.thresholds.size - 1)]
    mean = np.clip(mean, counts.thresholds[starts[1:]], np.fmax(highest, counts.thresholds[starts[1:]]))
    fraction = ratio(positives, positives + negatives)
    mean, fraction = mean[::-1].astype(np.float64), fraction[::-1].copy()
    return Bins(edges, positives[::-1], negatives[::-1], mean, fraction, starts)


FEW_BINS = 1000  # up to this many bins are summed one by one, exactly


def _exact_bins(counts: ThresholdCounts, starts: NDArray[np.intp]) -> list[int]:
    """Return the sum of the probabilities of each bin's rows, in units of 2**-156."""

    def bin_sum(rows: slice) -> int:
        total = 0
        for block in blocks(rows):
            steps = slice(block.start, block.stop + 1)
            rows_here = np.diff(counts.tps[steps]) + np.diff(counts.fps[steps])
            total += sum_exactly(counts.thresholds[steps][1:].astype(np.float64, copy=False), rows_here)
        return total

    return run(bin_sum, [slice(*each) for each in pairwise(starts.tolist())])


def mean_of_bins(sums: list[int], sizes: list[Any]) -> Floats:
    """Return the mean probability of each bin, rounded once; NaN for empty bins."""
    means = [Fraction(total, int(n) << FRACTION) if n else math.nan for total, n in zip(sums, sizes, strict=True)]
    return np.array([float(mean) for mean in means])


def uniform_bins(counts: ThresholdCounts, n_bins: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the edges of bins of equal width, and the `starts` of `Bins`."""
    edges = np.arange(n_bins + 1) / n_bins
    # A probability above an edge is at least the next float.
    above = np.nextafter(edges.astype(np.result_type(counts.thresholds, np.float64)), 2)
    starts = counts.rows_at_least(above[::-1])
    starts[-1] = counts.thresholds.size - 1  # 0 belongs to the first bin
    return edges, starts


def _quantile(counts: ThresholdCounts, n_bins: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """For each k, cut at the lowest probability p for which at least a share k / n_bins of the rows is at or below p.

    In the counts, p is the highest threshold with more than a share 1 - k / n_bins of the rows at or above it.
    """
    # A few ulps more than needed, so that equal weights of 0.1 are cut like whole ones.
    enough = (counts.n_pos + counts.n_neg) * (np.arange(1, n_bins) / n_bins) * (1 + WEIGHT_ROUNDING)
    fits = last_row(counts.thresholds.size, enough.shape, lambda rows: counts.tps[rows] + counts.fps[rows] <= enough)
    inner = sorted_unique(fits)
    inner = inner[counts.tps[inner] + counts.fps[inner] > 0]  # a bin above the last row would be empty
    edges = np.concatenate(([0.0], counts.thresholds[inner[::-1] + 1].astype(np.float64), [1.0]))
    return edges, np.concatenate(([0], inner, [counts.thresholds.size - 1]))


Strategy = Literal["uniform", "quantile"]
STRATEGIES = {"uniform": uniform_bins, "quantile": _quantile}


def sum_bins(
    counts: ThresholdCounts,
    starts: NDArray[np.intp],
    terms: Callable[[Groups, Callable[[NDArray[Any]], NDArray[Any]]], list[NDArray[Any]]],
) -> list[NDArray[np.float64]]:
    """Sum over each bin, the highest first.

    `terms` returns arrays with one value per group of a block. It is called with the groups, and with a function that
    expands an array with one value per bin to one value per group.
    """

    def block_sums(block: slice, groups: Groups) -> list[tuple[int, list[Any]]]:
        first = np.searchsorted(starts, block.start, side="right") - 1
        bins_here = np.arange(first, np.searchsorted(starts, block.stop))
        begin, end = np.maximum(starts[bins_here], block.start), np.minimum(starts[bins_here + 1], block.stop)
        bins_here, begin, end = bins_here[begin < end], begin[begin < end], end[begin < end]
        arrays = terms(groups, lambda over_bins: np.repeat(over_bins[bins_here], end - begin))
        sums = np.stack([np.add.reduceat(array, begin - block.start) for array in arrays], axis=1)
        return list(zip(bins_here.tolist(), sums.tolist(), strict=True))

    results = [piece for block in sweep_groups(counts, block_sums) for piece in block]
    totals = np.zeros((len(results[0][1]) if results else 1, starts.size - 1))
    for i, same_bin in groupby(results, itemgetter(0)):
        totals[:, i] = [math.fsum(sums) for sums in zip(*(sums for _, sums in same_bin), strict=True)]
    return list(totals)
