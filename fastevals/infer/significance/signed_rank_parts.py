"""What Wilcoxon's signed-rank test is made of: ranks, chances of their sum, shifts it doesn't reject."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.results import Interval

__all__ = ["SignedRanks", "least_kept", "shifts_kept", "signed_ranks_of", "tail_pvalues"]

Floats = NDArray[np.float64]

AUTO_EXACT = 50  # differences
MOST_EXACT = 1000  # differences: about a second
LARGEST_SUM = MOST_EXACT * (MOST_EXACT + 1)  # of doubled ranks; those of few differences among many zeros are large
LARGE = 2.0**1000


class SignedRanks(NamedTuple):
    """What is known of pairs of learners; arrays along them.

    `differences` ascend, in units of `unit`, with the zeros where they have ranks (`keep_zeros`); `lower` and `upper`
    are the chances of a W+ as small and as large, `largest` and `deviation` its largest value and standard deviation,
    `step` how far it is moved towards the mean.
    """

    differences: Floats
    unit: float
    keep_zeros: bool
    statistic: Floats
    largest: Floats
    deviation: Floats
    lower: Floats
    upper: Floats
    exact: NDArray[np.bool_]
    step: float
    effect: Floats


def signed_ranks_of(a: Floats, b: Floats, method: str, zeros: str, continuity_correction: bool) -> SignedRanks:
    """Rank the differences of pairs of learners, measurements along the last axis."""
    from scipy.special import ndtr

    from fastevals._kernels.ranks import signed_rank_tests

    n = a.shape[-1]
    unit = 8.0 if max(np.abs(a).max(), np.abs(b).max()) > LARGE else 1.0  # no sum of two differences overflows
    ascending = np.sort(a / unit - b / unit, axis=-1)
    if method == "exact":
        _check_exact(ascending, zeros == "pratt")
    most_exact = {"auto": AUTO_EXACT, "exact": n, "normal": 0}[method]
    found = np.empty((len(ascending), 6))
    signed_rank_tests(ascending, zeros == "pratt", most_exact, LARGEST_SUM, found)
    doubled, doubled_largest, variance, lower, upper, doubled_effect = found.T
    statistic, largest, deviation = doubled / 2, doubled_largest / 2, np.sqrt(variance)
    exact = ~np.isnan(lower)
    step = 0.5 if continuity_correction else 0.0
    if not exact.all():
        above, scale = statistic - largest / 2, np.where(exact, 1.0, deviation)
        lower = np.where(exact, lower, ndtr((above + step) / scale))
        upper = np.where(exact, upper, ndtr((step - above) / scale))
    with np.errstate(over="ignore"):
        effect = doubled_effect * (unit / 2)
    return SignedRanks(
        ascending, unit, zeros == "pratt", statistic, largest, deviation, lower, upper, exact, step, effect
    )


def _check_exact(ascending: Floats, keep_zeros: bool) -> None:
    """Raise if a pair has differences whose exact distribution would take too long."""
    n = ascending.shape[-1]
    for n_zeros in np.unique(np.count_nonzero(ascending == 0, axis=-1)).tolist():
        ranked, others = (n, n_zeros) if keep_zeros else (n - n_zeros, 0)
        check.check_exact_ranks(ranked, others, MOST_EXACT)


def tail_pvalues(lower: Floats, upper: Floats, alternative: str) -> Floats:
    """Give p-values, of the chances of a statistic as small and as large, whose distribution is symmetric."""
    if alternative == "two-sided":
        doubled: Floats = 2 * np.minimum(lower, upper)
        return np.minimum(doubled, 1.0)
    return lower if alternative == "less" else upper


def least_kept(signed: SignedRanks, tail: float) -> float:
    """Give the smallest W+ of the first pair whose chance of one as small is not below `tail`."""
    from scipy.special import ndtri

    from fastevals._kernels.ranks import rank_sizes, spread_signs

    largest = float(signed.largest[0])
    if not signed.exact[0]:
        return largest / 2 + float(ndtri(tail) * signed.deviation[0]) - signed.step
    ranks = np.empty(signed.differences.shape[1], dtype=np.int64)
    count, _ = rank_sizes(signed.differences[0], signed.keep_zeros, ranks)
    scratch = np.empty((2, int(2 * largest) + 1))
    return min(float(np.searchsorted(np.cumsum(spread_signs(ranks[:count], scratch)), tail)) / 2, largest)


def shifts_kept(signed: SignedRanks, low: float, alternative: str) -> Interval:
    """Give the shifts of the first pair's differences for which W+ is not beyond its critical values.

    W+ of shifted differences is how many means of two are above the shift, those equal to it counting half; zeros that
    are ranked and left out take half of theirs away.
    """
    from fastevals._kernels.ranks import sum_at

    if low <= 0:
        return Interval(-math.inf, math.inf)
    values = signed.differences[0]
    n_zeros = int(np.count_nonzero(values == 0))
    if not signed.keep_zeros:
        values, n_zeros = values[values != 0], 0
    sums = values.size * (values.size + 1) // 2
    place = max(math.floor(sums - low - n_zeros * (n_zeros + 1) / 4), 0)
    ends = (
        -math.inf if alternative == "less" else sum_at(values, sums - 1 - place),
        math.inf if alternative == "greater" else sum_at(values, place),
    )
    return Interval(*(end * (signed.unit / 2) for end in ends))
