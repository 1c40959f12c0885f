"""The sign test and Wilcoxon's signed-rank test.

Both use the signs of the differences. If neither learner is better, both signs of a difference are equally likely,
whatever its size. So the distributions of the statistics are known without assuming any distribution of the
measurements.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import as_flag, check_choice
from fastevals._validation.tables import as_measurement_pair, names_of_pair
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.binomial import fair_least_kept, fair_null, fair_pvalues
from fastevals.infer.significance.decision import build_result, check_alpha, compare_two, discrete_critical_value
from fastevals.infer.significance.paired import ranked_differences
from fastevals.results import Alternative, Interval, Null, PairNames, SignificanceResult, tail_probability

Floats = NDArray[np.float64]

AUTO_EXACT = 50  # differences up to which "auto" is exact
MOST_EXACT = 1000  # differences that "exact" allows: about a second
TOO_FEW_DIFFERENCES = "With so few differences, no outcome would be significant."
LARGEST_SUM = MOST_EXACT * (MOST_EXACT + 1)  # sum of doubled ranks: few differences among many zeros have large ranks


WilcoxonMethod = Literal["auto", "exact", "normal"]
Zeros = Literal["drop", "pratt"]


def wilcoxon_test(
    a: Any,
    b: Any,
    *,
    names: PairNames = None,
    method: WilcoxonMethod = "auto",
    zeros: Zeros = "drop",
    continuity_correction: bool = False,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether two learners do equally well on the same data sets, by the signed ranks of their differences.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), list of ErrorEstimate, or ErrorEstimate
        Paired measurements of the two learners. If all are decimals of at most 15 digits (6 for float32), like the
        results in a table, differences are tied if they are equal as decimals: 0.9 - 0.8 equals 0.8 - 0.7. Otherwise
        they are tied if they are equal as floats, so pass integers (numbers of errors) rather than shares of rows such
        as 17 / 81.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    method : {"auto", "exact", "normal"}
        The null distribution of the statistic, given the ranks. "exact" handles ties and zeros, for up to 1000 nonzero
        differences; "normal" uses the exact mean and variance; "auto" is exact for up to 50 differences.
    zeros : {"drop", "pratt"}
        Drop differences of 0 (Wilcoxon), or rank them with the others and then drop their ranks (Pratt).
    continuity_correction : bool
        With the normal distribution, move the statistic 1/2 towards its mean.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the pseudomedian of ``a - b`` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is W+, the sum of the ranks of positive differences (ties share their mean rank). `effect` is the
        Hodges-Lehmann estimate: the median of the means of all pairs of differences, including the pair of each
        difference with itself. The interval ends at two such means and excludes 0 if the test rejects (0 may be an end
        if differences are tied). Effect and interval use only the ranked differences: with "drop", the nonzero ones. If
        the learners do not differ at all, W+ is 0 and p is 1. If there are too few differences for any rejection, the
        interval is infinite.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the measurements come from splits of one data set, which are not independent.

    Notes
    -----
    The differences must be independent. If the learners do not differ, a difference of d must be as likely as a
    difference of -d. Given the ranks r, W+ has mean sum(r) / 2 and variance sum(r^2) / 4. Splitting the ranks of zeros
    evenly (Demsar) moves W+ and its mean by the same amount, so p is the same as with "pratt". Other libraries that
    split the ranks of zeros keep these ranks in the variance.

    The time is O(n log n), and O(n^3) for the exact distribution of n differences.

    References
    ----------
    Wilcoxon (1945), doi:10.2307/3001968. Pratt (1959), doi:10.1080/01621459.1959.10501526. Hodges and Lehmann (1963),
    doi:10.1214/aoms/1177704172. Demsar (2006), JMLR 7, 1-30.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.wilcoxon_test([125, 115, 130, 140, 140, 115], [110, 122, 125, 120, 140, 124])
    >>> result
    SignificanceResult(statistic=10, pvalue=0.625, effect=5, rejected=False)
    """
    alpha = check_alpha(confidence_level, alternative)
    first, second = names_of_pair(names, a, b)
    options = wilcoxon_options(method=method, zeros=zeros, continuity_correction=continuity_correction)
    signed = rank_signed_differences(*_as_one_pair("wilcoxon_test", a, b), **options)
    largest = float(signed.largest[0])
    lows = wilcoxon_critical_values(signed, tail_probability(alpha, alternative))
    low = float(lows[0])
    return build_result(
        SignificanceResult,
        "Wilcoxon's signed-rank test",
        compare_two("pseudomedian of the differences", first, second),
        float(signed.statistic[0]),
        float(tail_pvalues(signed.lower, signed.upper, alternative)[0]),
        discrete_critical_value(low, largest, alternative),
        alternative=alternative,
        alpha=alpha,
        effect=float(signed.effect[0]),
        interval=Interval(*(float(ends[0]) for ends in wilcoxon_intervals(signed, lows, alternative))),
        caution="" if low > 0 else TOO_FEW_DIFFERENCES,
        null=None if signed.exact[0] else Null("norm", (largest / 2, float(signed.deviation[0]))),
    )


def sign_test(
    a: Any, b: Any, *, names: PairNames = None, alternative: Alternative = "two-sided", confidence_level: float = 0.95
) -> SignificanceResult:
    """Test whether two learners win equally often, on the same data sets.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), list of ErrorEstimate, or ErrorEstimate
        Paired measurements of the two learners; `a` wins a pair if its measurement is larger. Equal pairs are dropped.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the share of pairs that `a` wins is not 1/2, is below 1/2, or is above 1/2.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is the number of `a`'s wins, with a binomial null distribution. `effect` is the share of wins among
        the pairs that differ, with its Clopper-Pearson interval. If no pair differs, `effect` is 1/2 and p is 1.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the measurements come from splits of one data set, which are not independent.

    References
    ----------
    Dixon and Mood (1946), doi:10.1080/01621459.1946.10501898. Clopper and Pearson (1934), doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.sign_test([0.9, 0.8, 0.7, 0.9, 0.8, 0.6, 0.7], [0.8, 0.7, 0.6, 0.7, 0.8, 0.5, 0.6])
    SignificanceResult(statistic=6, pvalue=0.03125, effect=1, rejected=True)
    """
    alpha = check_alpha(confidence_level, alternative)
    winner, loser = names_of_pair(names, a, b)
    first, second = _as_one_pair("sign_test", a, b)
    wins, pvalue, share = (float(each[0]) for each in pairwise_sign(first, second, alternative))
    n = int(np.count_nonzero(first != second))
    interval = Interval(*(float(ends[0]) for ends in pairwise_sign_interval(first, second, alternative, alpha)))
    low = fair_least_kept(n, alternative, alpha)
    return build_result(
        SignificanceResult,
        "the sign test",
        compare_two("share of wins", winner, loser),
        wins,
        pvalue,
        discrete_critical_value(low, n, alternative),
        alternative=alternative,
        alpha=alpha,
        effect=share,
        interval=interval,
        value=0.5,
        caution="" if low > 0 else TOO_FEW_DIFFERENCES,
        null=fair_null(n),
    )


def wilcoxon_options(
    *, method: WilcoxonMethod = "auto", zeros: Zeros = "drop", continuity_correction: bool = False
) -> dict[str, Any]:
    """Check the options of `pairwise_wilcoxon`."""
    check_choice("method", method, WilcoxonMethod)
    check_choice("zeros", zeros, Zeros)
    return {
        "method": method,
        "zeros": zeros,
        "continuity_correction": as_flag("continuity_correction", continuity_correction),
    }


def pairwise_wilcoxon(
    a: Floats,
    b: Floats,
    alternative: Alternative,
    method: WilcoxonMethod = "auto",
    zeros: Zeros = "drop",
    continuity_correction: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Return W+, p-values and pseudomedians for many pairs of learners, with measurements along the last axis."""
    signed = rank_signed_differences(a, b, method, zeros, continuity_correction)
    return signed.statistic, tail_pvalues(signed.lower, signed.upper, alternative), signed.effect


def pairwise_wilcoxon_interval(
    a: Floats,
    b: Floats,
    alternative: Alternative,
    alpha: float,
    method: WilcoxonMethod = "auto",
    zeros: Zeros = "drop",
    continuity_correction: bool = False,
) -> Interval[Floats]:
    """Return the intervals of pseudomedians for many pairs, as `wilcoxon_test` gives them for one pair."""
    signed = rank_signed_differences(a, b, method, zeros, continuity_correction, with_effect=False)
    lows = wilcoxon_critical_values(signed, tail_probability(alpha, alternative))
    return wilcoxon_intervals(signed, lows, alternative)


def pairwise_pseudomedian(a: Floats, b: Floats, alpha: float, **options: Any) -> tuple[Floats, Interval[Floats]]:
    """Return pseudomedians of all differences, zeros included, for many pairs, and their two-sided intervals.

    They are found from differences moved beyond zero, of which none is dropped.
    """
    differences, scale = ranked_differences(a, b)
    largest = np.abs(differences).max(axis=-1)
    shift = np.where(largest > 0, 2 * largest, 1.0)
    moved = rank_signed_differences(differences + shift[:, np.newaxis], np.zeros_like(differences), **options)
    lows = wilcoxon_critical_values(moved, tail_probability(alpha, "two-sided"))
    low, high = ((end - shift) / scale for end in wilcoxon_intervals(moved, lows, "two-sided"))
    return (moved.effect - shift) / scale, Interval(low, high)


def pairwise_sign_interval(a: Floats, b: Floats, alternative: Alternative, alpha: float) -> Interval[Floats]:
    """Return the intervals of shares of wins for many pairs; 0 and 1 for a pair that never differs."""
    wins, losses = (a > b).sum(axis=-1), (a < b).sum(axis=-1)
    low, high = share_interval(wins, losses, "clopper-pearson", alpha, alternative)
    return Interval(np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=1.0))


def pairwise_sign(a: Floats, b: Floats, alternative: Alternative) -> tuple[Floats, Floats, Floats]:
    """Return the first learner's wins, p and share of wins for many pairs, with measurements along the last axis."""
    wins, losses = (a > b).sum(axis=-1), (a < b).sum(axis=-1)
    n = wins + losses
    share = np.where(n > 0, wins / np.maximum(n, 1), 0.5)
    return wins.astype(np.float64), fair_pvalues(wins, losses, alternative), share


def _as_one_pair(test: str, a: Any, b: Any) -> tuple[Floats, Floats]:
    """Return the measurements of two learners as arrays of one pair."""
    first, second = as_measurement_pair(a, b, independent=test)
    return first.values[np.newaxis], second.values[np.newaxis]


class SignedRanks(NamedTuple):
    """Ranked differences of pairs of learners, with arrays along the pairs.

    `differences` have been multiplied by `scale` and are in ascending order. They include zeros, which are ranked only
    if `keep_zeros`.
    `lower` is the probability that W+ is at most the observed W+, and `upper` that it is at least the observed W+.
    `largest` and `deviation` are the largest value and the standard deviation of W+. `step` is the continuity
    correction.
    """

    differences: Floats
    scale: Floats
    keep_zeros: bool
    statistic: Floats
    largest: Floats
    deviation: Floats
    lower: Floats
    upper: Floats
    exact: NDArray[np.bool_]
    step: float
    effect: Floats


def rank_signed_differences(
    a: Floats, b: Floats, method: str, zeros: str, continuity_correction: bool, *, with_effect: bool = True
) -> SignedRanks:
    """Rank the differences of pairs of learners, with measurements along the last axis; NaN for effects left out."""
    from scipy.special import ndtr

    from fastevals._kernels.ranks import signed_rank_tests

    n = a.shape[-1]
    differences, scale = ranked_differences(a, b)
    ascending = np.sort(differences, axis=-1)
    if method == "exact":
        _check_exact(ascending, zeros == "pratt")
    most_exact = {"auto": AUTO_EXACT, "exact": n, "normal": 0}[method]
    columns = np.empty((len(ascending), 6 if with_effect else 5))
    signed_rank_tests(ascending, zeros == "pratt", most_exact, LARGEST_SUM, columns)
    doubled, doubled_largest, variance, lower, upper = columns.T[:5]
    statistic, largest, deviation = doubled / 2, doubled_largest / 2, np.sqrt(variance)
    exact = ~np.isnan(lower)
    step = 0.5 if continuity_correction else 0.0
    if not exact.all():
        above, spread = statistic - largest / 2, np.where(exact, 1.0, deviation)
        lower = np.where(exact, lower, ndtr((above + step) / spread))
        upper = np.where(exact, upper, ndtr((step - above) / spread))
    with np.errstate(over="ignore"):
        effect = columns[:, 5] / (2 * scale) if with_effect else np.full(len(columns), np.nan)
    return SignedRanks(
        ascending, scale, zeros == "pratt", statistic, largest, deviation, lower, upper, exact, step, effect
    )


def _check_exact(ascending: Floats, keep_zeros: bool) -> None:
    """Raise if the exact distribution for a pair would take too long."""
    n = ascending.shape[-1]
    for n_zeros in sorted_unique(np.count_nonzero(ascending == 0, axis=-1)).tolist():
        ranked, others = (n, n_zeros) if keep_zeros else (n - n_zeros, 0)
        _check_exact_ranks(ranked, others, MOST_EXACT)


def tail_pvalues(lower: Floats, upper: Floats, alternative: Alternative) -> Floats:
    """Return p-values from the lower and upper tail probabilities of a statistic with a symmetric distribution."""
    if alternative == "two-sided":
        doubled: Floats = 2 * np.minimum(lower, upper)
        return np.minimum(doubled, 1.0)
    return lower if alternative == "less" else upper


def wilcoxon_critical_values(signed: SignedRanks, tail: float) -> Floats:
    """Return for each pair the smallest W+ whose lower-tail probability is at least `tail`."""
    from scipy.special import ndtri

    from fastevals._kernels.ranks import rank_sizes, spread_signs

    lows = signed.largest / 2 + float(ndtri(tail)) * signed.deviation - signed.step
    ranks = np.empty(signed.differences.shape[1], dtype=np.int64)
    before, chances = ranks[:0].copy(), np.ones(1)
    for pair in np.flatnonzero(signed.exact):
        count, _ = rank_sizes(signed.differences[pair], signed.keep_zeros, ranks)
        if not np.array_equal(ranks[:count], before):  # pairs without ties and zeros all have the same ranks
            before = ranks[:count].copy()
            chances = np.cumsum(spread_signs(before, np.empty((2, int(before.sum()) + 1))))
        lows[pair] = min(float(np.searchsorted(chances, tail)) / 2, signed.largest[pair])
    return lows


def wilcoxon_intervals(signed: SignedRanks, lows: Floats, alternative: Alternative) -> Interval[Floats]:
    """Return the intervals of shifts of the pairs' differences for which W+ stays within its critical values.

    After a shift, W+ is the number of means of two differences that exceed the shift; means equal to the shift count
    half. If zeros are ranked and these ranks dropped (`keep_zeros`), each zero lowers W+ by half its rank. The interval
    is infinite if no W+ would be significant.
    """
    from fastevals._kernels.ranks import walsh_ends

    values = signed.differences
    zeros = np.count_nonzero(values == 0, axis=-1)
    ranked = values.shape[1] - (0 if signed.keep_zeros else zeros)
    dropped = zeros * (zeros + 1) / 4 if signed.keep_zeros else 0.0
    places = np.maximum(np.floor(ranked * (ranked + 1) // 2 - lows - dropped), 0).astype(np.int64)
    ends = np.empty((len(values), 2))
    walsh_ends(values, signed.keep_zeros, np.where(lows > 0, places, -1), ends)
    with np.errstate(over="ignore"):
        low, high = (each / (2 * signed.scale) for each in ends.T)
    open_end = np.full(len(values), math.inf)
    return Interval(-open_end if alternative == "less" else low, open_end if alternative == "greater" else high)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_exact_ranks(ranked: int, others: int, most: int) -> None:
    """Raise if the sum of ranks exceeds the sum for `most` differences; `others` is the number of ranked zeros."""
    if ranked * (ranked + 1) - others * (others + 1) > most * (most + 1):
        zeros = f", and {others} ranked zeros" if others else ""
        raise ValueError(
            f"method='exact' is for up to {most} nonzero differences (fewer if zeros are ranked), got "
            f"{ranked - others}{zeros}"
        )
