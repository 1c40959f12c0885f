"""Test whether several learners do equally well on several data sets, by their ranks on each (Friedman)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._options import as_flag, check_choice, warn_degenerate, warn_undefined
from fastevals._text import printable
from fastevals._validation.tables import as_result_table, warn_if_dependent
from fastevals.infer.significance.decision import Compared, check_alpha, decide
from fastevals.results import Null, SignificanceResult

Floats = NDArray[np.float64]

Statistic = Literal["F", "chi-square"]
COMPARISONS_PER_TASK = 1 << 22  # comparisons of one task
ALGORITHMS_SHOWN = 6  # algorithms named in a repr
OF_SPLITS = (
    "pairwise_tests(results, test='corrected-resampled-t'), or give each learner a list of estimates, one for each of "
    "several data sets"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FriedmanResult(SignificanceResult):
    """Result of `friedman_test`: a `SignificanceResult` with the mean ranks and both statistics.

    Attributes
    ----------
    names : tuple
        Names of the algorithms, in the order of the columns.
    datasets : tuple or None
        Names of the data sets, if a frame has them.
    n_datasets : int
        Number of data sets.
    mean_ranks : ndarray of shape (n_algorithms,)
        Mean ranks over the data sets; rank 1 is the best.
    chi_square, f_statistic : float
        Friedman's statistic, and the F that Iman and Davenport compute from it.
    """

    names: tuple[Any, ...] = field(kw_only=True)
    datasets: tuple[Any, ...] | None = field(kw_only=True)
    n_datasets: int = field(kw_only=True)
    mean_ranks: Floats = field(kw_only=True)
    chi_square: float = field(kw_only=True)
    f_statistic: float = field(kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        return [("ranks", format_ranks(self.n_datasets, self.names, self.mean_ranks))]

    def __repr__(self) -> str:
        shown = format_ranks(self.n_datasets, self.names, self.mean_ranks)
        return f"{SignificanceResult.__repr__(self)[:-1]}, {shown})"


def friedman_test(
    results: Any,
    *,
    statistic: Statistic = "F",
    tie_correction: bool = True,
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
) -> FriedmanResult:
    """Test whether all algorithms do equally well on several data sets, by their ranks on each.

    Parameters
    ----------
    results : array-like of shape (n_datasets, n_algorithms), mapping of name to array-like or estimates, or frame
        Finite numbers, one row per data set and one column per algorithm. A frame's first column may name the data
        sets, and so may an unnamed column, such as a stored index. Results are tied if they are equal as floats.
        To pass estimates of `estimate_error`, each of one metric, give for each algorithm either a list with one
        estimate per data set, or a single estimate, whose splits are then the rows.
    statistic : {"F", "chi-square"}
        "F" is Iman and Davenport's statistic, with k - 1 and (k - 1)(N - 1) degrees of freedom. "chi-square" is
        Friedman's statistic, with k - 1 degrees of freedom; it rejects too seldom for four or more algorithms on few
        data sets.
    tie_correction : bool
        Whether to correct Friedman's statistic for ties. Ties reduce the variance of the ranks, so the statistic is
        divided by the share of this variance that is left.
    higher_is_better : bool, optional
        Whether the largest result has rank 1 (as for accuracy) or the smallest (as for error rates). By default,
        estimates have the direction of their metric, unless it is a function; for numbers, the default is True.
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``.

    Returns
    -------
    FriedmanResult
        The mean ranks and both statistics. `effect` is Kendall's W, from 0 (rankings that do not agree, or all results
        tied; p is then 1) to 1 (the same ranking on all data sets). If W is 1, F is infinite, with a warning, and p is
        the probability that all data sets repeat the first ranking by chance.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If F is asked for and is infinite, or is NaN because there is only one data set.
    DependentSplitsWarning
        If the results come from splits of one data set, which are not independent.

    Notes
    -----
    Let R be the mean ranks of k algorithms on N data sets. Then
    ``chi2 = 12 N / (k (k + 1)) (sum(R^2) - k (k + 1)^2 / 4)``, and
    ``F = (N - 1) chi2 / (N (k - 1) - chi2)``. To correct for ties, chi2 is divided by
    ``1 - sum(t^3 - t) / (N k (k^2 - 1))``, where the sum runs over all groups of t tied results of a data set. Both
    statistics are computed as ratios of integers and rounded once.

    Both null distributions are approximate, and rough for few data sets. In simulations without ties at level 5 %, the
    rates of false alarms for F were 19 % with 3 data sets and 3 algorithms, 7 % with 4 data sets and 3 algorithms, 7 %
    with 3 to 5 data sets and 4 algorithms, and 4 to 6 % in the simulated cases with more data sets than these. For
    chi-square, they were 2 to 4 % with 3 to 6 data sets and 4 to 6 algorithms, 7 % with 4 data sets and 3 algorithms,
    and 12.5 % with 4 data sets and 2 algorithms.

    The time is O(N k^2). If the test rejects, some algorithms differ, but it does not show which ones: for that, use
    `nemenyi_test`, `bonferroni_dunn_test` or `rank_comparison_test`. The data sets must be independent.

    References
    ----------
    Friedman (1937), doi:10.1080/01621459.1937.10503522. Iman and Davenport (1980), doi:10.1080/03610928008827904.
    Demsar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30.

    Examples
    --------
    >>> import fastevals
    >>> errors = {"A": [0.1, 0.2, 0.1, 0.2], "B": [0.2, 0.3, 0.2, 0.3], "C": [0.4, 0.3, 0.3, 0.5]}
    >>> fastevals.friedman_test(errors, higher_is_better=False)
    FriedmanResult(statistic=57, pvalue=0.000125, effect=0.95, rejected=True,
        4 data sets x 3 algorithms, mean ranks A: 1, B: 2.125, C: 2.875)
    """
    check_choice("statistic", statistic, Statistic)
    corrected = as_flag("tie_correction", tie_correction)
    alpha = check_alpha(confidence_level, "two-sided")
    table = as_result_table("results", results)
    ranks = rank_sums(table.values, table.higher_is_better(higher_is_better))
    warn_if_dependent("friedman_test", [table.measured], OF_SPLITS)
    n, k = table.values.shape
    chi_square, f_statistic, concordance = _statistics(ranks, n, corrected)
    value, null = {
        "F": (f_statistic, Null("f", (k - 1, (k - 1) * (n - 1)))),
        "chi-square": (chi_square, Null("chi2", (k - 1,))),
    }[statistic]
    if math.isnan(value):
        warn_undefined("Friedman's F", "a single data set leaves it no degrees of freedom")
    elif math.isinf(value):
        warn_degenerate("Friedman's F", "the ranks are the same on all data sets, so their residual variance is 0")
    chance_of_infinity = _chance_of_equal_rankings(table.values[0], n) if math.isinf(value) else None
    result = decide(
        "the Friedman test",
        Compared("", "", f"the mean ranks of the {k} algorithms", "Kendall's W"),
        value,
        null,
        alpha=alpha,
        pvalue=chance_of_infinity,
        effect=concordance,
        kind=FriedmanResult,
        names=table.algorithms,
        datasets=table.datasets,
        n_datasets=n,
        mean_ranks=ranks.mean_ranks,
        chi_square=chi_square,
        f_statistic=f_statistic,
    )
    result = replace(result, conclusion=" ".join([result.conclusion, *table.notes]))
    never = chance_of_infinity is not None and not result.rejected
    return replace(result, critical_value=math.inf) if never else result


def _chance_of_equal_rankings(row: Floats, n: int) -> float:
    """Return the probability that n data sets all rank the algorithms like the first one, given its ties."""
    _, tied = np.unique(row, return_counts=True)
    tied_orders = math.prod(map(math.factorial, tied.tolist()))
    return float((tied_orders / math.factorial(row.size)) ** (n - 1))


class RankSums(NamedTuple):
    """Twice the rank sums of the algorithms, the sum of t^3 - t over groups of t ties, and the mean ranks."""

    doubled: NDArray[np.int64]
    ties: int
    mean_ranks: Floats


def rank_sums(table: Floats, higher_is_better: bool) -> RankSums:
    """Rank each row's results, best first, and add the ranks up over the rows."""
    from fastevals._kernels.ranks import add_ranks

    n, k = table.shape
    size = max(1, COMPARISONS_PER_TASK // k**2)

    def ranked(start: int) -> tuple[NDArray[np.int64], int]:
        sums = np.zeros(k, dtype=np.int64)
        return sums, add_ranks(table[start : start + size], sums)

    sums, ties = zip(*run(ranked, range(0, n, size), compiles=add_ranks), strict=True)
    doubled: NDArray[np.int64] = np.sum(sums, axis=0)
    if higher_is_better:
        doubled = 2 * n * (k + 1) - doubled
    return RankSums(doubled, sum(map(int, ties)), doubled / (2 * n))


def format_ranks(n_datasets: int, names: tuple[Any, ...], mean_ranks: Floats) -> str:
    """Return text with the shape of a table of results and the mean ranks of its first algorithms."""
    shown = [
        f"{printable(str(name))}: {rank:.4g}" for name, rank in zip(names[:ALGORITHMS_SHOWN], mean_ranks, strict=False)
    ]
    more = ", ..." if len(names) > ALGORITHMS_SHOWN else ""
    sets = f"{n_datasets} data set{'s' * (n_datasets > 1)}"
    return f"{sets} x {len(names)} algorithms, mean ranks {', '.join(shown)}{more}"


def _statistics(ranks: RankSums, n: int, corrected: bool) -> tuple[float, float, float]:
    """Return chi-square, F and Kendall's W."""
    k = len(ranks.doubled)
    between = sum(rank**2 for rank in ranks.doubled.tolist()) - n**2 * k * (k + 1) ** 2
    over = n * k * (k**2 - 1) - (ranks.ties if corrected else 0)
    above = 3 * between * (k - 1)
    if not above:  # over is also 0 if all are tied
        return 0.0, 0.0 if n > 1 else math.nan, 0.0
    rest = n * (k - 1) * over - above
    f_statistic = math.nan if n == 1 else (n - 1) * above / rest if rest else math.inf
    return above / over, f_statistic, above / (n * (k - 1) * over)
