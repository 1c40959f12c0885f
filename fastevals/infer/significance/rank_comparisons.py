"""Test which algorithms differ in mean rank over data sets, after Friedman's test: all pairs or with a control."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, listed, show
from fastevals._validation.tables import as_result_table, warn_if_dependent
from fastevals.document.frames import Columns
from fastevals.infer.significance.corrections import PER_TEST_ALPHA, Correction, check_correction
from fastevals.infer.significance.decision import Compared, check_alpha
from fastevals.infer.significance.friedman import OF_SPLITS, format_ranks, rank_sums
from fastevals.infer.significance.paired import compared_pairs
from fastevals.infer.significance.pairwise import OF_RANGE, PairwiseResult, build_pairwise_result

Floats = NDArray[np.float64]

DEPENDS_ON_OTHERS = "Mean ranks depend on which algorithms are compared: adding one can change which pairs differ."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankComparison(PairwiseResult):
    """Tests of differences in mean rank, with p-values adjusted for the number of pairs.

    A `PairwiseResult`, that is, a sequence of `SignificanceResult`, with these further attributes.

    Attributes
    ----------
    mean_ranks : ndarray of shape (n_algorithms,)
        Mean ranks over the data sets; rank 1 is the best.
    critical_difference : float
        Pairs whose mean ranks differ by more than this are rejected; NaN for step-wise corrections, which have no such
        limit.
    n_datasets : int
        Number of data sets.
    control : name or None
        The algorithm that the others are compared with; None if all pairs are compared.
    """

    mean_ranks: Floats
    critical_difference: float
    n_datasets: int
    control: Any

    def _compared(self, first: int, second: int) -> Compared:
        critical = "" if math.isnan(self.critical_difference) else f"critical difference {self.critical_difference:.4g}"
        ranks = f"{self.mean_ranks[first]:.4g} and {self.mean_ranks[second]:.4g}"
        return PairwiseResult._compared(self, first, second)._replace(estimate=ranks, reach=critical)

    def _caution(self) -> str:
        return DEPENDS_ON_OTHERS

    def groups(self) -> list[tuple[int, ...]]:
        """Return the bars of a critical-difference diagram: groups of adjacent ranks with no significant difference.

        Returns
        -------
        list of tuple of int
            Each maximal group of two or more algorithms, as indices into `names` in order of mean rank, best first.
            Groups may overlap, and the algorithms in a group need not be equally good.

        Raises
        ------
        ValueError
            If not all pairs were compared.
        """
        _check_all_pairs("groups", self.control)
        order = np.argsort(self.mean_ranks, kind="stable")
        differ = self.matrix("rejected")[np.ix_(order, order)] == 1
        bars: list[tuple[int, ...]] = []
        reached = 0
        for start in range(len(order)):
            stop = max(reached, start + 1)
            while stop < len(order) and not differ[start:stop, stop].any():
                stop += 1
            if stop > max(reached, start + 1):  # neither inside the previous bar nor a single algorithm
                bars.append(tuple(order[start:stop].tolist()))
            reached = stop
        return bars

    def n_unjoined(self) -> int:
        """Return how many pairs without a significant difference are in no group: a third one lies between them."""
        joined = np.zeros((len(self.names),) * 2, dtype=bool)
        for group in self.groups():
            joined[np.ix_(group, group)] = True
        return int(np.count_nonzero(~joined[tuple(self.pairs.T)] & ~self.rejected))

    def _columns(self) -> Columns:
        first, second = self.mean_ranks[self.pairs.T]
        return {**PairwiseResult._columns(self), "first_mean_rank": first, "second_mean_rank": second}

    def _settings(self) -> str:
        critical = (
            "" if math.isnan(self.critical_difference) else f"\n  critical difference {self.critical_difference:.4g}"
        )
        shown = format_ranks(self.n_datasets, self.names, self.mean_ranks)
        return f"{PairwiseResult._settings(self)}\n  {shown}{critical}"

    def __repr__(self) -> str:
        shown = format_ranks(self.n_datasets, self.names, self.mean_ranks)
        critical = "" if math.isnan(self.critical_difference) else f", CD {self.critical_difference:.4g}"
        rejected = f"{int(self.rejected.sum())} of {len(self)} pairs rejected at {self.alpha:g}"
        return f"RankComparison({self.test}, {shown}{critical}, {rejected}, correction={self.correction!r})"


def nemenyi_test(
    results: Any, *, higher_is_better: bool | None = None, confidence_level: float = 0.95
) -> RankComparison:
    """Compare all pairs of algorithms by their mean ranks over data sets, with the studentized range.

    Parameters
    ----------
    results : array-like of shape (n_datasets, n_algorithms), mapping of name to array-like or estimates, or frame
        As for `friedman_test`.
    higher_is_better : bool, optional
        As for `friedman_test`.
    confidence_level : float in (0, 1)
        All tests jointly are at level ``1 - confidence_level``.

    Returns
    -------
    RankComparison
        `effect` is the difference in mean rank, and `statistic` is the effect divided by its standard error
        sqrt(k (k + 1) / (6 N)). p-values come from the studentized range with infinite degrees of freedom, at sqrt(2)
        times the statistic. Pairs whose ranks differ by more than `critical_difference` are rejected; `groups` gives
        the bars of a diagram.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the results come from splits of one data set, which are not independent.

    Notes
    -----
    The standard error ignores ties, which would make it smaller, so the test is conservative if there are ties. Mean
    ranks depend on which algorithms are compared: whether two differ can change when a third is added or removed [1]_.
    To judge each pair by its own results, use `pairwise_tests` (Wilcoxon).

    References
    ----------
    Nemenyi (1963), "Distribution-free Multiple Comparisons", PhD thesis, Princeton. Demsar (2006), "Statistical
    Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30.

    .. [1] Benavoli, A., Corani, G. and Mangili, F. (2016), "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?",
       JMLR 17(5), 1-10.

    Examples
    --------
    >>> import fastevals
    >>> errors = {"A": [0.1, 0.2, 0.1, 0.2], "B": [0.2, 0.3, 0.2, 0.3], "C": [0.4, 0.3, 0.3, 0.5]}
    >>> result = fastevals.nemenyi_test(errors, higher_is_better=False)
    >>> round(result.critical_difference, 4), result.groups(), result.between("A", "C").rejected
    (1.6572, [(0, 1), (1, 2)], True)
    """
    from scipy import stats
    from scipy.special import ndtri

    compared = _compare_ranks("nemenyi_test", "the Nemenyi test", results, "none", higher_is_better, confidence_level)
    k, n_pairs = len(compared.names), len(compared)
    sizes, place = np.unique(np.abs(compared.statistic), return_inverse=True)
    pvalue = stats.studentized_range.sf(math.sqrt(2) * sizes, k, math.inf)[place]
    # SciPy's tail has an absolute error of 1e-15, more than a small tail itself; these bounds always hold.
    pvalue = np.clip(pvalue, compared.unadjusted_pvalue, np.minimum(n_pairs * compared.unadjusted_pvalue, 1.0))
    low, high = (-float(ndtri(alpha / 2)) for alpha in (compared.alpha, compared.alpha / n_pairs))
    critical = min(max(float(stats.studentized_range.isf(compared.alpha, k, math.inf)) / math.sqrt(2), low), high)
    return replace(
        compared,
        pvalue=pvalue,
        rejected=pvalue < compared.alpha,
        correction=OF_RANGE,
        critical_difference=critical * _standard_error(k, compared.n_datasets),
    )


def bonferroni_dunn_test(
    results: Any, control: Any, *, higher_is_better: bool | None = None, confidence_level: float = 0.95
) -> RankComparison:
    """Compare each algorithm with a control by their mean ranks over data sets, each at level alpha / (k - 1).

    Parameters
    ----------
    results : array-like of shape (n_datasets, n_algorithms), mapping of name to array-like or estimates, or frame
        As for `friedman_test`.
    control : name or int
        The algorithm to compare the others with, chosen before seeing the results; a column number if there are no
        names.
    higher_is_better : bool, optional
        As for `friedman_test`.
    confidence_level : float in (0, 1)
        All tests jointly are at level ``1 - confidence_level``.

    Returns
    -------
    RankComparison
        The same as for `nemenyi_test`, but each effect is an algorithm's mean rank minus the control's, and p-values
        are normal p-values times k - 1.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the results come from splits of one data set, which are not independent.

    References
    ----------
    Dunn (1961), doi:10.1080/01621459.1961.10482090. Demsar (2006), JMLR 7, 1-30.

    Examples
    --------
    >>> import fastevals
    >>> errors = {"A": [0.1, 0.2, 0.1, 0.2], "B": [0.2, 0.3, 0.2, 0.3], "C": [0.4, 0.3, 0.3, 0.5]}
    >>> fastevals.bonferroni_dunn_test(errors, "A", higher_is_better=False).pvalue.round(4)
    array([0.2232, 0.016 ])
    """
    _check_control(control)
    return _compare_ranks(
        "bonferroni_dunn_test",
        "the Bonferroni-Dunn test",
        results,
        "bonferroni",
        higher_is_better,
        confidence_level,
        control,
    )


def rank_comparison_test(
    results: Any,
    *,
    control: Any = None,
    correction: Correction = "holm",
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
) -> RankComparison:
    """Compare algorithms by their mean ranks over data sets, with any correction for the number of pairs.

    Parameters
    ----------
    results : array-like of shape (n_datasets, n_algorithms), mapping of name to array-like or estimates, or frame
        As for `friedman_test`.
    control : name or int, optional
        The algorithm to compare the others with, chosen before seeing the results. By default all pairs are compared.
    correction : str
        As for `adjust_pvalues`. "holm" and "hochberg" reject all pairs that "bonferroni" rejects, and sometimes more;
        "shaffer", for all pairs, rejects all pairs that "holm" rejects.
    higher_is_better : bool, optional
        As for `friedman_test`.
    confidence_level : float in (0, 1)
        All tests jointly are at level ``1 - confidence_level``.

    Returns
    -------
    RankComparison
        The same as for `nemenyi_test`, but with adjusted normal p-values. `critical_difference` is NaN for step-wise
        corrections.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the results come from splits of one data set, which are not independent.

    References
    ----------
    Demsar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30. For the corrections,
    see `adjust_pvalues`.

    Examples
    --------
    >>> import fastevals
    >>> errors = {"A": [0.1, 0.2, 0.1, 0.2], "B": [0.2, 0.3, 0.2, 0.3], "C": [0.4, 0.3, 0.3, 0.5]}
    >>> fastevals.rank_comparison_test(errors, control="A", higher_is_better=False).pvalue.round(4)
    array([0.1116, 0.016 ])
    """
    check_correction(correction, reference=control, argument="control")
    return _compare_ranks(
        "rank_comparison_test", "the test of mean ranks", results, correction, higher_is_better, confidence_level,
        control,
    )  # fmt: skip


def with_mean_ranks(pairs: PairwiseResult, results: Any, higher_is_better: bool | None) -> RankComparison:
    """Return tests of all pairs by another test than that of mean ranks, with the mean ranks of the same results.

    Raise unless `pairs` are two-sided tests of all pairs of the learners in `results`.
    """
    table = as_result_table("results", results)
    check_same_learners("result", pairs, table.algorithms)
    k = len(pairs.names)
    if len(pairs) != k * (k - 1) // 2:
        raise ValueError(f"result must compare all {k * (k - 1) // 2} pairs of {k} learners, got {len(pairs)}")
    check_choice("alternative of result", pairs.alternative, ("two-sided",))
    ranks = rank_sums(table.values, table.higher_is_better(higher_is_better))
    order = [table.algorithms.index(name) for name in pairs.names]
    return RankComparison(
        **{each.name: getattr(pairs, each.name) for each in fields(PairwiseResult)},
        mean_ranks=ranks.mean_ranks[order],
        critical_difference=math.nan,
        n_datasets=len(table.values),
        control=None,
    )


def _compare_ranks(
    call: str,
    test: str,
    results: Any,
    correction: Correction,
    higher_is_better: bool | None,
    confidence_level: float,
    control: Any = None,
) -> RankComparison:
    """Compare all pairs, or each algorithm with a control."""
    from scipy.special import ndtr, ndtri

    alpha = check_alpha(confidence_level, "two-sided")
    table = as_result_table("results", results)
    higher = table.higher_is_better(higher_is_better)
    warn_if_dependent(call, [table.measured], OF_SPLITS)
    n, k = table.values.shape
    ranks = rank_sums(table.values, higher)
    pairs = compared_pairs(table.algorithms, control, argument="control")
    error = _standard_error(k, n)
    effect = (ranks.doubled[pairs[:, 0]] - ranks.doubled[pairs[:, 1]]) / (2 * n)
    statistic = effect / error
    level = PER_TEST_ALPHA[correction](alpha, len(pairs)) if correction in PER_TEST_ALPHA else math.nan
    compared: RankComparison = build_pairwise_result(
        RankComparison, test, table.algorithms, pairs, (statistic, 2 * ndtr(-np.abs(statistic)), effect),
        what="difference in mean rank", correction=correction, alternative="two-sided", alpha=alpha,
        mean_ranks=ranks.mean_ranks, critical_difference=-float(ndtri(level / 2)) * error, n_datasets=n,
        control=control, notes=table.notes,
    )  # fmt: skip
    return compared


def _standard_error(n_algorithms: int, n_datasets: int) -> float:
    """Return the standard error of the difference of two mean ranks if all algorithms do equally well."""
    return math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets))


# Checks ---------------------------------------------------------------------------------------------------------------


def check_same_learners(name: str, pairs: PairwiseResult, learners: tuple[Any, ...]) -> None:
    """Raise unless tests of pairs are of the learners whose results are given."""
    if set(pairs.names) != set(learners):
        raise ValueError(f"{name} must be of the learners of results, {listed(learners)}; got {listed(pairs.names)}")


def _check_control(control: Any) -> None:
    """Raise if no control is given."""
    if control is None:
        raise ValueError("control must be the algorithm to compare the others with, got None")


def _check_all_pairs(name: str, control: Any) -> None:
    """Raise unless all pairs were compared."""
    if control is not None:
        raise ValueError(f"{name} need all pairs, but each algorithm was compared with {show(control)} only")
