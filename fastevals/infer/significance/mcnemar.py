"""McNemar's test of two models on the same rows, and of all pairs of several models.

Let b be the number of rows that only model a gets right, and c the number that only model b gets right; the other rows
carry no information. If neither model is better, b is binomial with b + c trials of probability 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import McNemarMethod
from fastevals._execution import run
from fastevals._options import check_choice, show
from fastevals._validation.arrays import EXACT_INTEGER, as_array
from fastevals._validation.labels import as_models_labels, as_predicted_labels, as_true_labels
from fastevals._validation.tables import as_pair_of_names
from fastevals.document.frames import Columns
from fastevals.infer.proportions import METHODS
from fastevals.infer.significance.agreement import Agreement
from fastevals.infer.significance.binomial import fair_least_kept, fair_null, fair_pvalues
from fastevals.infer.significance.corrections import Correction, check_correction
from fastevals.infer.significance.decision import (
    Compared,
    build_result,
    check_alpha,
    compare_two,
    critical_value,
    discrete_critical_value,
    extend_to,
    pvalues,
)
from fastevals.infer.significance.paired import compared_pairs
from fastevals.infer.significance.pairwise import PairwiseResult, build_pairwise_result
from fastevals.results import (
    Alternative,
    Interval,
    Null,
    PairNames,
    SignificanceResult,
    format_estimate,
    tail_probability,
)

Floats = NDArray[np.float64]

BINOMIAL = {"exact": "McNemar's exact test", "mid-p": "McNemar's mid-p test"}
CHI_SQUARE = {"corrected": "McNemar's test with continuity correction", "uncorrected": "McNemar's test"}
MCNEMAR_METHODS = BINOMIAL | CHI_SQUARE
CHI_SQUARE_NULL = Null("chi2", (1,))
PAIRS_PER_BLOCK = 1 << 11  # pairs tested in one call
LARGEST_LOG = 700.0  # log odds up to which the odds fit in a float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class McNemarResult(SignificanceResult):
    """Result of McNemar's test: a `SignificanceResult` with the counts it is computed from.

    Attributes
    ----------
    table : ndarray of int of shape (2, 2)
        Numbers of rows. First row: both models are right; only a is right. Second row: only b is right; both are
        wrong.
    difference : float
        Accuracy of a minus accuracy of b.
    difference_interval : Interval
        Newcombe's interval for the difference; unlike `confidence_interval`, it may disagree with the test.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        Method of the test.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.mcnemar_test_of_table([[70, 11], [1, 18]])
    >>> result.effect, round(result.difference, 3)
    (11.0, 0.1)
    >>> print(result)
    McNemar's exact test
      effect      11.0000, 95 % interval 1.5988 to 473.4749
      statistic   11
      p           0.0063
      difference  0.1000, 95 % interval 0.0319 to 0.1705
      rows right  both 70, only the first 11, only the second 1, neither 18
    model a alone is right significantly more often than model b alone: odds ratio 11 (95 % interval 1.6
    to 473; McNemar's exact test, p = 0.00635).
    """

    table: NDArray[np.int64] = field(kw_only=True)
    difference: float = field(kw_only=True)
    difference_interval: Interval = field(kw_only=True)
    method: McNemarMethod = field(kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        (both, first), (second, neither) = self.table.tolist()
        return [
            ("difference", format_estimate(self.difference, self.difference_interval, self.alpha)),
            ("rows right", f"both {both}, only the first {first}, only the second {second}, neither {neither}"),
        ]


def mcnemar_test(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: McNemarMethod = "exact",
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarResult:
    """Test whether two models are right equally often, on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes: numbers, booleans or strings.
    pred_a, pred_b : array-like of shape (n_samples,)
        Classes predicted by the two models.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        "exact" never has more false alarms than its level, and far fewer on few rows; "mid-p" has about as many as its
        level. Both use the binomial distribution. "corrected" and "uncorrected" use chi-square, with and without
        continuity correction: unless b + c is small, "corrected" is close to "exact", and "uncorrected" to "mid-p".
    names : (str, str), optional
        The models' names in the conclusion; "model a" and "model b" by default.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the models differ, or model a is right less often, or more often. Only "exact" and "mid-p"
        can be one-sided.
    confidence_level : float in (0, 1)
        Confidence level of the intervals; the test is at level ``1 - confidence_level``.

    Returns
    -------
    McNemarResult
        For "exact" and "mid-p", `statistic` is b, the number of rows that only model a gets right; otherwise it is
        chi-square. `effect` is the odds ratio b / c (infinite for c = 0), where c is the number that only model b gets
        right. Its `confidence_interval` excludes 1 if the test rejects. If both models get the same rows right, the
        statistic is 0, p is 1 and the odds ratio is NaN.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    Let m = b + c, and let X be binomial (m, 1/2). The exact p-value is ``min(1, 2 P(X <= min(b, c)))``; mid-p counts
    ``P(X = min(b, c))`` half on each side. Chi-square is ``(b - c)**2 / m`` without continuity correction, and
    ``(abs(b - c) - 1)**2 / m`` (0 if b = c) with it.

    The interval of the odds ratio is an interval for the share b / m, converted to odds. The interval for the share
    depends on the method: "exact" uses Clopper-Pearson's interval, "mid-p" inverts its own test, "uncorrected" uses
    Wilson's score interval, and "corrected" uses Wilson's with continuity correction.

    References
    ----------
    .. [1] McNemar, Q. (1947), "Note on the Sampling Error of the Difference between Correlated Proportions or
       Percentages", Psychometrika 12, 153-157, doi:10.1007/BF02295996.
    .. [2] Fagerland, M. W., Lydersen, S. and Laake, P. (2013), "The McNemar Test for Binary Matched-pairs Data",
       BMC Medical Research Methodology 13, 91, doi:10.1186/1471-2288-13-91. (Mid-p.)
    .. [3] Newcombe, R. G. (1998), "Improved Confidence Intervals for the Difference between Binomial Proportions Based
       on Paired Data", Statistics in Medicine 17, 2635-2650,
       doi:10.1002/(SICI)1097-0258(19981130)17:22<2635::AID-SIM954>3.0.CO;2-C. (Method 10, for the difference.)

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 1, 2, 0, 1, 2, 0, 1]
    >>> fastevals.mcnemar_test(y_true, [0, 1, 2, 0, 1, 2, 0, 0], [0, 0, 1, 1, 0, 0, 1, 1])
    McNemarResult(statistic=6, pvalue=0.125, effect=6, rejected=False)
    """
    alpha = check_mcnemar_options(method, alternative, confidence_level)
    compared = _compared(names)
    true = as_true_labels("y_true", y_true)
    models = Agreement(true, as_predicted_labels(true, {"pred_a": pred_a, "pred_b": pred_b}))
    both, right_a, right_b = models.count_common(np.array([(0, 1), (0, 0), (1, 1)])).tolist()
    table = [[both, right_a - both], [right_b - both, models.n_rows - right_a - right_b + both]]
    return _result(np.array(table, dtype=np.int64), compared, method, alternative, alpha)


def mcnemar_test_of_table(
    table: ArrayLike,
    *,
    method: McNemarMethod = "exact",
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarResult:
    """Test whether two models are right equally often, given the numbers of rows they get right and wrong.

    Parameters
    ----------
    table : array-like of shape (2, 2)
        Counts: model a is right in the table's first row and wrong in its second; model b is right in the first column
        and wrong in the second. So only a gets ``table[0][1]`` rows right, and only b gets ``table[1][0]`` rows right.
    method, names, alternative, confidence_level
        As in `mcnemar_test`.

    Returns
    -------
    McNemarResult
        The same as for `mcnemar_test`.

    Raises
    ------
    ValueError
        If the table has another shape, a count is negative or not an integer, or an option is not as described.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.mcnemar_test_of_table([[794, 150], [86, 570]], method="corrected")
    McNemarResult(statistic=16.82, pvalue=4.115e-05, effect=1.744, rejected=True)
    """
    alpha = check_mcnemar_options(method, alternative, confidence_level)
    return _result(_as_paired_counts("table", table), _compared(names), method, alternative, alpha)


def check_mcnemar_options(method: McNemarMethod, alternative: Alternative, confidence_level: float) -> float:
    """Check the options of McNemar's tests; return the significance level."""
    check_choice("method", method, McNemarMethod)
    alpha = check_alpha(confidence_level, alternative)
    if method in CHI_SQUARE:
        others = f"method={' or '.join(map(repr, BINOMIAL))}"
        _check_two_sided(repr(method), alternative, "it squares the difference", others)
    return alpha


def mcnemar_statistics(b: Any, c: Any, method: str, alternative: Alternative) -> tuple[Floats, Floats]:
    """Return statistics and p-values from counts, elementwise."""
    b, c = np.asarray(b, dtype=np.float64), np.asarray(c, dtype=np.float64)
    if method in BINOMIAL:
        return b, fair_pvalues(b, c, alternative, mid=method == "mid-p")
    distance = np.abs(b - c)
    if method == "corrected":
        distance = np.maximum(distance - 1, 0)
    statistic = distance * (distance / np.maximum(b + c, 1))
    return statistic, np.asarray(pvalues(statistic, CHI_SQUARE_NULL, alternative))


def _compared(names: PairNames) -> Compared:
    return compare_two("odds ratio", *as_pair_of_names(names, ("model a", "model b")))


def _result(
    table: NDArray[np.int64], compared: Compared, method: McNemarMethod, alternative: Alternative, alpha: float
) -> McNemarResult:
    b, c = int(table[0, 1]), int(table[1, 0])
    statistic, pvalue = map(float, mcnemar_statistics(b, c, method, alternative))
    if method in BINOMIAL:
        least = fair_least_kept(b + c, alternative, alpha, mid=method == "mid-p")
        null, df, critical = fair_null(b + c), None, discrete_critical_value(least, b + c, alternative)
    else:
        null, df, critical = CHI_SQUARE_NULL, 1, critical_value(CHI_SQUARE_NULL, alternative, alpha)
    interval = odds_interval(b, c, method, alternative, alpha)
    return build_result(
        McNemarResult,
        MCNEMAR_METHODS[method],
        compared,
        statistic,
        pvalue,
        critical,
        alternative=alternative,
        alpha=alpha,
        effect=b / c if c else math.inf if b else math.nan,
        interval=interval if pvalue < alpha else extend_to(interval, 1.0),
        value=1.0,
        df=df,
        null=null,
        table=table,
        difference=(b - c) / int(table.sum()),
        difference_interval=difference_interval(table, alternative, alpha),
        method=method,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class McNemarPairs(PairwiseResult):
    """Result of `pairwise_mcnemar_tests`: a `PairwiseResult` with the counts it is computed from.

    Attributes
    ----------
    tables : ndarray of int of shape (n_pairs, 2, 2)
        One table of numbers of rows per pair, as for `mcnemar_test_of_table`. First row: both models are right; only
        the first is right. Second row: only the second is right; both are wrong.
    """

    tables: NDArray[np.int64]

    def _columns(self) -> Columns:
        names = ("both_right", "only_first_right", "only_second_right", "neither_right")
        return {**PairwiseResult._columns(self), **dict(zip(names, self.tables.reshape(-1, 4).T, strict=True))}


def pairwise_mcnemar_tests(
    y_true: ArrayLike,
    predictions: Any,
    *,
    method: McNemarMethod = "exact",
    reference: Any = None,
    correction: Correction = "holm",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarPairs:
    """Test whether models are right equally often, for all pairs or for each model and a reference.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes: numbers, booleans or strings.
    predictions : mapping of name to array-like, frame, or array-like of shape (n_models, n_samples)
        Classes predicted by the models: one model per entry, column or row.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        As in `mcnemar_test`.
    reference : name, optional
        The model to compare the others with (for an array, its row number). By default, all pairs are compared.
    correction : str
        How p-values are adjusted for the number of pairs, as in `adjust_pvalues`.
    alternative : {"two-sided", "less", "greater"}
        The claim to test about the first model of a pair: it differs, or it is right less often, or more often. Only
        "exact" and "mid-p" can be one-sided.
    confidence_level : float in (0, 1)
        All tests jointly are at level ``1 - confidence_level``.

    Returns
    -------
    McNemarPairs
        `effect` is the first model's accuracy minus the second's; `statistic` is as in `mcnemar_test`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    Rows are counted in parts. In a part, each model is stored as one bit per row, set if the model gets the row right.
    Counting the bits set for both models of a pair costs 1/64 of a pass over the rows. Beyond the result, each thread
    needs memory for the bits of one part, and 8 bytes per pair.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996.

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 1, 2, 0, 1, 2, 0, 1]
    >>> predictions = {"a": y_true, "b": [0, 1, 2, 0, 1, 2, 0, 0], "c": [1, 0, 1, 1, 0, 0, 1, 1]}
    >>> found = fastevals.pairwise_mcnemar_tests(y_true, predictions)
    >>> found.effect, found.between("a", "c").pvalue
    (array([0.125, 0.875, 0.75 ]), 0.046875)
    """
    alpha = check_mcnemar_options(method, alternative, confidence_level)
    check_correction(correction, reference=reference, alternative=alternative)
    true = as_true_labels("y_true", y_true)
    labels, names = as_models_labels("predictions", true, predictions)
    pairs = compared_pairs(names, reference)
    models = Agreement(true, labels)
    each = np.arange(len(names))
    common = models.count_common(np.concatenate([np.stack([each, each], axis=1), pairs]))
    first, second = (common[: len(names)][column] for column in pairs.T)
    both = common[len(names) :]
    b, c = first - both, second - both

    parts = [slice(start, start + PAIRS_PER_BLOCK) for start in range(0, len(pairs), PAIRS_PER_BLOCK)]
    blocks = run(lambda part: mcnemar_statistics(b[part], c[part], method, alternative), parts)
    statistic, pvalue = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return build_pairwise_result(
        McNemarPairs,
        MCNEMAR_METHODS[method],
        names,
        pairs,
        (statistic, pvalue, (b - c) / models.n_rows),
        what="difference in accuracy",
        correction=correction,
        alternative=alternative,
        alpha=alpha,
        tables=np.stack([both, b, c, models.n_rows - both - b - c], axis=-1).reshape(-1, 2, 2),
    )


def odds_interval(b: int, c: int, method: McNemarMethod, alternative: Alternative, alpha: float) -> Interval:
    """Return the interval of odds ratios that the test would not reject."""
    tail = tail_probability(alpha, alternative)
    low = 0.0 if alternative == "less" else LOWEST_ODDS[method](b, c, tail)
    lowest_of_b = 0.0 if alternative == "greater" else LOWEST_ODDS[method](c, b, tail)
    return Interval(low, 1 / lowest_of_b if lowest_of_b else math.inf)


def _share_ends(method: str, b: float, c: float, tail: float) -> tuple[float, float]:
    low, high = METHODS[method](np.asarray(float(b)), np.asarray(float(c)), tail)
    return float(low), float(high)


def _lowest_exact(b: int, c: int, tail: float) -> float:
    if b == 0:
        return 0.0
    low = _share_ends("clopper-pearson", b, c, tail)[0]
    rest = _share_ends("clopper-pearson", c, b, tail)[1]  # 1 - low, to full precision
    return low / rest


def _lowest_score(b: float, c: float, tail: float) -> float:
    if b <= 0:
        return 0.0
    return _share_ends("wilson", b, c, tail)[0] / _share_ends("wilson", c, b, tail)[1]


def _lowest_mid_p(b: int, c: int, tail: float) -> float:
    """Return the odds at which b or more of b + c rows have probability `tail`, counting half the probability of b."""
    from scipy.optimize import brentq
    from scipy.special import betainc, betaincc, expit

    def at_least(k: int, log_odds: float) -> float:
        if k in (0, b + c + 1):
            return float(k == 0)
        if log_odds < 0:
            return float(betainc(k, b + c - k + 1, expit(log_odds)))
        return float(betaincc(b + c - k + 1, k, expit(-log_odds)))

    def excess(log_odds: float) -> float:
        return (at_least(b, log_odds) + at_least(b + 1, log_odds)) / 2 - tail

    if b + c == 0 or excess(-LARGEST_LOG) >= 0:
        return 0.0
    if excess(LARGEST_LOG) < 0:
        return math.inf
    return math.exp(brentq(excess, -LARGEST_LOG, LARGEST_LOG, xtol=1e-14))


LOWEST_ODDS: dict[str, Callable[[int, int, float], float]] = {
    "exact": _lowest_exact,
    "mid-p": _lowest_mid_p,
    "corrected": lambda b, c, tail: _lowest_score(b - 0.5, c + 0.5, tail),
    "uncorrected": _lowest_score,
}


def difference_interval(table: NDArray[np.int64], alternative: Alternative, alpha: float) -> Interval:
    """Return Newcombe's hybrid score interval of the difference in accuracy, method 10 of his paper on paired data."""
    (both, b), (c, neither) = table.tolist()
    n = both + b + c + neither
    tail = tail_probability(alpha, alternative)
    right_a, right_b = both + b, both + c
    low_a, high_a = _share_ends("wilson", right_a, n - right_a, tail)
    low_b, high_b = _share_ends("wilson", right_b, n - right_b, tail)
    share_a, share_b = right_a / n, right_b / n
    product = both * neither - b * c
    if product > 0:
        product = max(product - n / 2, 0)
    scale = math.sqrt(right_a * (n - right_a)) * math.sqrt(right_b * (n - right_b))
    correlation = product / scale if scale else 0.0

    def margin(a: float, b: float) -> float:
        return math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0))

    difference = (b - c) / n
    sign = math.copysign(1.0, 0.5 - tail)  # at levels below 1/2 an end is on the other side of the difference
    low = difference - sign * margin(share_a - low_a, high_b - share_b)
    high = difference + sign * margin(high_a - share_a, share_b - low_b)
    return Interval(-1.0 if alternative == "less" else low, 1.0 if alternative == "greater" else high)


# Checks ---------------------------------------------------------------------------------------------------------------
def _as_paired_counts(name: str, values: Any) -> NDArray[np.int64]:
    """Check the 2 x 2 table of rows that two models get right and wrong, and return it as int64."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.shape != (2, 2):
        raise ValueError(
            f"{name} must have shape (2, 2), model a right and wrong by model b right and wrong, got {array.shape}"
        )
    with np.errstate(invalid="ignore"):
        odd = ~((array >= 0) & (array <= EXACT_INTEGER) & (array == np.trunc(array)))
    if odd.any():
        raise ValueError(f"{name} must hold counts, whole numbers from 0 to 2**53, got {show(array[odd][0])}")
    counts = array.astype(np.int64)
    if not 0 < counts.sum() <= EXACT_INTEGER:
        raise ValueError(f"{name} must count from 1 to 2**53 rows in all, got {counts.sum()}")
    return counts


def _check_two_sided(method: str, alternative: Alternative, reason: str, others: str) -> None:
    """Raise if the alternative is one-sided but the test is only two-sided."""
    if alternative != "two-sided":
        raise ValueError(f"alternative={alternative!r} requires {others}; {method} is two-sided, because {reason}")
