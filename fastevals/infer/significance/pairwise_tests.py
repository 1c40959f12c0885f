"""One test of all pairs of models at once, of a table of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals.infer.pairs import pairs_of
from fastevals.infer.significance.decision import alpha_of
from fastevals.infer.significance.five_by_two import NUMERATORS, combined_f_of_pairs, five_by_two_of_pairs
from fastevals.infer.significance.pairwise import PairwiseResult, paired_up
from fastevals.infer.significance.permutation import permutation_of_pairs, permutation_plan
from fastevals.infer.significance.signed_ranks import sign_of_pairs, wilcoxon_of_pairs, wilcoxon_options
from fastevals.infer.significance.t_tests import t_of_pairs

__all__ = ["pairwise_tests"]

Floats = NDArray[np.float64]
Core = Callable[..., tuple[Floats, Floats, Floats]]

WORK = 1 << 18  # differences of one task


class _PairTest(NamedTuple):
    """What a test is called and compares, what computes it, and its options, checked.

    The core takes measurements of shape (n_pairs, n) of the first and the second of each pair, the alternative and the
    checked options; it gives statistics, p-values and effects. The cost of a pair, in differences that are looked at,
    says how many are one task: Ctrl-C waits for tasks to end.
    """

    title: str
    what: str
    core: Core
    options: Callable[..., Mapping[str, Any]] = lambda: {}
    least: int = 1
    only: int | None = None
    value: float = 0.0
    two_sided_alone: bool = False
    cost: Callable[..., float] = lambda n, **options: n


def _resampled(*, n_train: Any, n_test: Any) -> dict[str, Any]:
    return {"test_to_train": check.rows_ratio(n_train, n_test)}


def _numerator(*, numerator: str = "first") -> dict[str, Any]:
    check.check_choice("numerator", numerator, NUMERATORS)
    return {"numerator": numerator}


TESTS = {
    "paired-t": _PairTest("the paired t-test", "the difference of the means", t_of_pairs, least=2),
    "corrected-resampled-t": _PairTest(
        "the corrected resampled t-test", "the difference of the means", t_of_pairs, _resampled, least=2
    ),
    "5x2cv-t": _PairTest(
        "the 5x2cv t-test", "the difference that is tested", five_by_two_of_pairs, _numerator, only=10
    ),
    "5x2cv-f": _PairTest(
        "the combined 5x2cv F-test", "the difference of the means", combined_f_of_pairs, only=10, two_sided_alone=True
    ),
    "wilcoxon": _PairTest(
        "Wilcoxon's signed-rank test",
        "the pseudomedian of the differences",
        wilcoxon_of_pairs,
        wilcoxon_options,
        cost=lambda n, method, **options: n**3 / 16 if method == "exact" else 16 * n,
    ),
    "sign": _PairTest("the sign test", "the share of wins", sign_of_pairs, value=0.5),
    "permutation": _PairTest(
        "the permutation test",
        "the difference of the means",
        permutation_of_pairs,
        permutation_plan,
        cost=lambda n, n_resamples, **options: n * n_resamples / 16,
    ),
}


def pairwise_tests(
    results: Any,
    *,
    test: str = "wilcoxon",
    reference: Any = None,
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    **options: Any,
) -> PairwiseResult:
    """Compare each two models by one test, with p-values adjusted for the number of pairs.

    Parameters
    ----------
    results : array-like of shape (n_rows, n_models), mapping of name to array-like, or frame
        Results of models (columns) on the same data sets or folds (rows); a frame's first column may name the rows. For
        "5x2cv-t" and "5x2cv-f" ten rows: two folds of the first repetition, two of the second, and so on.
    test : str
        "wilcoxon", "sign", "paired-t", "corrected-resampled-t" (with ``n_train=`` and ``n_test=``), "5x2cv-t" (with
        ``numerator=``), "5x2cv-f" or "permutation" (with ``n_resamples=`` and ``rng=``; the same signs for all pairs):
        as the function of that name for two.
    reference : name or int, optional
        The model that each other is compared with; by default all pairs are compared.
    correction : str
        As for `adjust_pvalues`.
    alternative : {"two-sided", "less", "greater"}
        What to show of the first of a pair less the second (with a reference: of the others less the reference).
    confidence_level : float in (0, 1)
        The tests together are at level ``1 - confidence_level``.
    **options
        Of the test.

    Returns
    -------
    PairwiseResult
        A sequence of the pairs' results, with arrays of all.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If differences of a pair have no variance: t is infinite.

    References
    ----------
    Demsar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"a": [0.8, 0.7, 0.9, 0.8, 0.6], "b": [0.7, 0.5, 0.8, 0.6, 0.5], "c": [0.8, 0.6, 0.9, 0.7, 0.7]}
    >>> fastevals.pairwise_tests(accuracy, test="paired-t", reference="b")
    PairwiseResult(the paired t-test, 3 models, 2 pairs, 2 rejected at 0.05, correction='holm')
    """
    check.check_choice("test", test, TESTS)
    alpha = alpha_of(confidence_level, alternative)
    of = TESTS[test]
    if of.two_sided_alone:
        check.check_choice(f"alternative of {test}", alternative, ("two-sided",))
    check.check_options(f"test={test!r}", of.options, options)
    checked = of.options(**options)
    table = check.as_result_table("results", results, least_rows=of.least)
    check.check_row_number("results", table, of.only, f"test={test!r}")
    pairs = pairs_of(table.algorithms, reference)
    columns = np.ascontiguousarray(table.values.T)
    size = max(1, int(WORK / of.cost(columns.shape[1], **checked)))

    def tested(start: int) -> tuple[Floats, Floats, Floats]:
        first, second = pairs[start : start + size].T
        return of.core(columns[first], columns[second], alternative, **checked)

    parts = run(tested, range(0, len(pairs), size), compiles=True)
    statistic, pvalue, effect = (np.concatenate(part) for part in zip(*parts, strict=True))
    infinite = int(np.isinf(statistic).sum())
    if infinite:
        check.warn_degenerate(
            f"{of.title} of {infinite} of {len(pairs)} pairs",
            "the differences are all the same, so their variance is 0",
        )
    return paired_up(
        PairwiseResult, of.title, table.algorithms, pairs, (statistic, pvalue, effect),
        what=of.what, value=of.value, correction=correction, alternative=alternative, alpha=alpha,
    )  # fmt: skip
