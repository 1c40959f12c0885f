"""McNemar's test: whether one model is right more often than another on the same rows.

Of n rows, only model a gets b right and only model b gets c; the others say nothing. If neither model is better, b is
of a binomial distribution with b + c trials of chance 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.results import Names, Null, SignificanceResult
from fastevals.infer.significance import fair_binomial
from fastevals.infer.significance.agreement import Agreement
from fastevals.infer.significance.decision import alpha_of, critical_value, holding, kept_from, pvalues, result_of
from fastevals.infer.significance.mcnemar_intervals import difference_interval, odds_interval
from fastevals.measure.results import Interval

__all__ = [
    "MCNEMAR_METHODS",
    "McNemarResult",
    "checked_alpha",
    "mcnemar_statistics",
    "mcnemar_test",
    "mcnemar_test_of_table",
]

Floats = NDArray[np.float64]

BINOMIAL = {"exact": "McNemar's exact test", "mid-p": "McNemar's mid-p test"}
CHI_SQUARE = {"corrected": "McNemar's test with continuity correction", "uncorrected": "McNemar's test"}
MCNEMAR_METHODS = BINOMIAL | CHI_SQUARE
SQUARE = Null("chi2", (1,))
WHAT = "the ratio of the chance that only {} is right to the chance that only {} is right"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class McNemarResult(SignificanceResult):
    """What McNemar's test gives: a `SignificanceResult` and the counts that it is made of.

    Attributes
    ----------
    table : ndarray of int of shape (2, 2)
        Rows that both models get right, that only a does; that only b does, that neither does.
    difference : float
        Accuracy of a less that of b.
    difference_interval : Interval
        Of the difference, Newcombe's: close to the test's decision, but not bound to it as `confidence_interval` is.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        Of the test.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.mcnemar_test_of_table([[70, 11], [1, 18]])
    >>> result.effect, round(result.difference, 3)
    (11.0, 0.1)
    """

    table: NDArray[np.int64] = field(kw_only=True)
    difference: float = field(kw_only=True)
    difference_interval: Interval = field(kw_only=True)
    method: str = field(kw_only=True)


def mcnemar_test(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str = "exact",
    names: Names = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarResult:
    """Test whether two models are right equally often, on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes: numbers, booleans or strings.
    pred_a, pred_b : array-like of shape (n_samples,)
        Classes that the two models predict.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        "exact" never has more false alarms than its level, on few rows far fewer; "mid-p" about as many; both take the
        binomial distribution. "corrected" and "uncorrected" take chi-square, with and without continuity correction:
        the first is close to "exact", the second to "mid-p", if b + c is not small.
    names : (str, str), optional
        What the conclusion calls the two; "model a" and "model b" by default.
    alternative : {"two-sided", "less", "greater"}
        What to show: that the models differ, or that a is right less or more often; one-sided with "exact" and
        "mid-p" alone.
    confidence_level : float in (0, 1)
        Of the intervals; the test is at level ``1 - confidence_level``.

    Returns
    -------
    McNemarResult
        `statistic` is b, the rows that only a gets right, of "exact" and "mid-p", else chi-square. `effect` is the
        odds ratio b / c (infinite for c = 0), and `confidence_interval` leaves out 1 where the test rejects. Without
        rows that just one model gets right the statistic is 0, p is 1 and the odds ratio NaN.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    With m = b + c, exact: ``p = min(1, 2 P(X <= min(b, c)))``, X binomial (m, 1/2); mid-p counts ``P(X = min(b, c))``
    half on either side. Uncorrected: ``(b - c)**2 / m``; corrected: ``(abs(b - c) - 1)**2 / m``, 0 for b = c.

    The interval of the odds ratio is that of the share b / m, as odds: Clopper and Pearson's for "exact", the test's
    own inversion for "mid-p", Wilson's score interval with and without continuity correction for the others.

    References
    ----------
    .. [1] McNemar, Q. (1947), "Note on the Sampling Error of the Difference between Correlated Proportions or
       Percentages", Psychometrika 12, 153-157, doi:10.1007/BF02295996.
    .. [2] Fagerland, M. W., Lydersen, S. and Laake, P. (2013), "The McNemar Test for Binary Matched-pairs Data",
       BMC Medical Research Methodology 13, 91, doi:10.1186/1471-2288-13-91. (Mid-p.)
    .. [3] Newcombe, R. G. (1998), "Improved Confidence Intervals for the Difference between Binomial Proportions Based
       on Paired Data", Statistics in Medicine 17, 2635-2650,
       doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C. (Of the difference: method 10.)

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 1, 2, 0, 1, 2, 0, 1]
    >>> fastevals.mcnemar_test(y_true, [0, 1, 2, 0, 1, 2, 0, 0], [0, 0, 1, 1, 0, 0, 1, 1])
    McNemarResult(statistic=6, pvalue=0.125, effect=6, rejected=False)
    """
    alpha = checked_alpha(method, alternative, confidence_level)
    what = _what(names)
    true = check.as_true_labels("y_true", y_true)
    models = Agreement(true, check.as_predicted_labels(true, {"pred_a": pred_a, "pred_b": pred_b}))
    both, right_a, right_b = models.count_common(np.array([(0, 1), (0, 0), (1, 1)])).tolist()
    table = [[both, right_a - both], [right_b - both, models.n_rows - right_a - right_b + both]]
    return _result(np.array(table, dtype=np.int64), what, method, alternative, alpha)


def mcnemar_test_of_table(
    table: ArrayLike,
    *,
    method: str = "exact",
    names: Names = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarResult:
    """Test whether two models are right equally often, given how many rows they get right and wrong.

    Parameters
    ----------
    table : array-like of shape (2, 2)
        Counts of rows: model a right, wrong, by model b right, wrong. Only a gets ``table[0][1]`` right, only b
        ``table[1][0]``.
    method, names, alternative, confidence_level
        As of `mcnemar_test`.

    Returns
    -------
    McNemarResult
        As from `mcnemar_test`.

    Raises
    ------
    ValueError
        If the table has another shape, or a count is negative or no whole number; if an option is not as described.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.mcnemar_test_of_table([[794, 150], [86, 570]], method="corrected")
    McNemarResult(statistic=16.82, pvalue=4.115e-05, effect=1.744, rejected=True)
    """
    alpha = checked_alpha(method, alternative, confidence_level)
    return _result(check.as_paired_counts("table", table), _what(names), method, alternative, alpha)


def checked_alpha(method: str, alternative: str, confidence_level: float) -> float:
    """Check the options of McNemar's tests; give the significance level."""
    check.check_choice("method", method, MCNEMAR_METHODS)
    alpha = alpha_of(confidence_level, alternative)
    if method in CHI_SQUARE:
        others = f"method={' or '.join(map(repr, BINOMIAL))}"
        check.check_two_sided(repr(method), alternative, "it squares the difference", others)
    return alpha


def mcnemar_statistics(b: Any, c: Any, method: str, alternative: str) -> tuple[Floats, Floats]:
    """Give statistics and p-values of counts, arrays or numbers."""
    b, c = np.asarray(b, dtype=np.float64), np.asarray(c, dtype=np.float64)
    if method in BINOMIAL:
        return b, fair_binomial.pvalues(b, c, alternative, mid=method == "mid-p")
    distance = np.abs(b - c)
    if method == "corrected":
        distance = np.maximum(distance - 1, 0)
    statistic = distance * (distance / np.maximum(b + c, 1))
    return statistic, np.asarray(pvalues(statistic, SQUARE, alternative))


def _what(names: Names) -> str:
    return WHAT.format(*check.as_pair_of_names(names, ("model a", "model b")))


def _result(table: NDArray[np.int64], what: str, method: str, alternative: str, alpha: float) -> McNemarResult:
    b, c = int(table[0, 1]), int(table[1, 0])
    statistic, pvalue = map(float, mcnemar_statistics(b, c, method, alternative))
    if method in BINOMIAL:
        least = fair_binomial.least_kept(b + c, alternative, alpha, mid=method == "mid-p")
        null, df, critical = fair_binomial.null_of(b + c), None, kept_from(least, b + c, alternative)
    else:
        null, df, critical = SQUARE, 1, critical_value(SQUARE, alternative, alpha)
    interval = odds_interval(b, c, method, alternative, alpha)
    return result_of(
        McNemarResult,
        MCNEMAR_METHODS[method],
        what,
        statistic,
        pvalue,
        critical,
        alternative=alternative,
        alpha=alpha,
        effect=b / c if c else math.inf if b else math.nan,
        interval=interval if pvalue < alpha else holding(interval, 1.0),
        value=1.0,
        df=df,
        null=null,
        table=table,
        difference=(b - c) / int(table.sum()),
        difference_interval=difference_interval(table, alternative, alpha),
        method=method,
    )
