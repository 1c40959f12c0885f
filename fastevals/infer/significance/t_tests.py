"""Student's t-tests for measurements of one learner, or of two learners on the same folds or data sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._memory import lend
from fastevals._options import as_flag, check_number
from fastevals._validation.tables import (
    Measurements,
    as_measurement_pair,
    as_measurements,
    names_of_pair,
    test_to_train_ratio,
)
from fastevals.infer.significance.decision import (
    NO_VARIANCE,
    Compared,
    check_alpha,
    compare_two,
    critical_value,
    decide,
    pvalues,
)
from fastevals.infer.significance.paired import (
    FIRST,
    ScaledDifferences,
    in_own_unit,
    ratio,
    scaled_differences,
    t_interval,
    warn_if_constant,
)
from fastevals.results import Alternative, Interval, Null, PairNames, SignificanceResult

Floats = NDArray[np.float64]


def error_rate_t_test(
    error_rates: Any,
    rate: float,
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether a learner's mean error rate over folds or repeated hold-outs equals a given rate (2.30).

    Parameters
    ----------
    error_rates : array-like of shape (n,) or (1, n), or ErrorEstimate
        At least two error rates, or other measurements, of one learner.
    rate : float
        The mean under the null hypothesis.
    n_train, n_test : int, optional
        Numbers of rows in each training set and in each test set. Pass both for repeated splits of one data set, whose
        error rates are not independent (see `corrected_resampled_t_test`). An `ErrorEstimate` has its own sizes.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the mean is not `rate`, is below it, or is above it.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is t with n - 1 degrees of freedom, and `effect` is the mean, with its interval. If all measurements
        equal `rate`, t is 0 and p is 1; if they all equal another value, t is infinite and p is 0, with a warning.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If all measurements equal the same value other than `rate`.

    Notes
    -----
    The measurements should be about normal and, unless `n_train` and `n_test` are known, independent.

    References
    ----------
    Student (1908), doi:10.1093/biomet/6.1.1. Nadeau and Bengio (2003), doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import fastevals
    >>> errors = [0.3, 0.4, 0.1, 0.2, 0.0, 0.1, 0.2, 0.3]
    >>> fastevals.error_rate_t_test(errors, 0.3, alternative="less")
    SignificanceResult(statistic=-2.16, pvalue=0.03379, effect=0.2, rejected=True)
    """
    measured = as_measurements("error_rates", error_rates, least=2)
    values, plain = measured.values, measured.splits is None and n_train is n_test is None
    value = check_number("rate", rate, low=-math.inf, high=math.inf, open_low=True, open_high=True)
    factor = 1 / values.size + (0.0 if plain else test_to_train_ratio(n_train, n_test, measured))
    # Take mean and standard deviation from the values: differences from a distant rate would lose digits.
    scaled = scaled_differences(values, np.zeros_like(values))
    deviations = scaled_differences(values, np.full_like(values, value))
    mean, error = _mean_and_error(scaled, factor)
    distance, _ = _mean_and_error(deviations, factor)
    statistic = ratio(distance, in_own_unit(error, scaled.exponent - deviations.exponent))
    estimate = statistic, in_own_unit(mean, scaled.exponent), in_own_unit(error, scaled.exponent)
    return _t_decision(
        "the t-test of a mean", Compared("the mean", f"{value:g}"), estimate, values.size - 1,
        alternative=alternative, confidence_level=confidence_level, value=value,
    )  # fmt: skip


def paired_t_test(
    a: Any, b: Any, *, names: PairNames = None, alternative: Alternative = "two-sided", confidence_level: float = 0.95
) -> SignificanceResult:
    """Test whether two learners have the same mean, measured on the same folds or data sets (2.31).

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), list of ErrorEstimate, or ErrorEstimate
        At least two paired error rates, or other measurements, of the two learners.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the mean of `a` minus the mean of `b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is t with n - 1 degrees of freedom, and `effect` is the mean difference. If the learners do not
        differ at all, t is 0 and p is 1. If all differences are equal up to rounding, t is infinite and p is 0, with a
        warning.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the differences have no variance.
    DependentSplitsWarning
        If the measurements come from splits of one data set, which are not independent.

    Notes
    -----
    The differences should be independent and about normal. Folds of a cross-validation share training rows, so their
    differences are dependent and false alarms exceed alpha. `corrected_resampled_t_test` allows for that, and
    `five_by_two_cv_t_test` uses folds that share less.

    References
    ----------
    Student (1908), doi:10.1093/biomet/6.1.1. Dietterich (1998), doi:10.1162/089976698300017197, on false alarms.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.paired_t_test([0.20, 0.31, 0.12, 0.22], [0.25, 0.36, 0.13, 0.29])
    SignificanceResult(statistic=-3.576, pvalue=0.03739, effect=-0.045, rejected=True)
    """
    pair = as_measurement_pair(a, b, least=2, independent="paired_t_test")
    return _t_test(
        pair, 1 / pair[0].values.size, "the paired t-test", names_of_pair(names, a, b), alternative, confidence_level
    )


def corrected_resampled_t_test(
    a: Any,
    b: Any,
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    conservative: bool = False,
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether two learners have the same mean over repeated splits of one data set (Nadeau and Bengio).

    Like `paired_t_test`, but the variance of the mean is s^2 (1 / n + n_test / n_train): training sets overlap, so more
    repetitions do not shrink it to 0.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), or ErrorEstimate
        Measurements of the two learners on the same n test sets (at least two), from repeated hold-out or from k-fold
        cross-validation, repeated or not. For k folds, ``n_test / n_train`` is 1 / (k - 1).
    n_train, n_test : int, optional
        Numbers of rows in each training set and in each test set; required with arrays, known if estimates are given.
    conservative : bool
        Count repeated splits of the same rows as one: the variance is s^2 (n_test / (n_train + n_test) +
        n_test / n_train), however many repetitions there are. See the notes.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the mean of `a` minus the mean of `b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        The same as for `paired_t_test`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the differences have no variance.

    Notes
    -----
    The part 1 / n of the variance is for n test sets without common rows. Repeated folds test the same rows again, and
    if predictions hardly change from one repetition to the next, the variance is too small. For 10 x 10 folds and two
    equally good nearest-neighbour learners, the test at level 5 % rejects in 10 to 14 % of data sets; for learners with
    few parameters, in 4 to 5 %. No
    variance is unbiased for every learner (Bengio and Grandvalet, 2004). With `conservative`, the mean over repetitions
    is given the variance of one repetition, which is never smaller, and the rates were at most 4.4 %. For one
    repetition of folds, both are the same.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003), "Inference for the Generalization Error", Machine Learning 52, 239-281,
    doi:10.1023/A:1024068626366. Bouckaert and Frank (2004), doi:10.1007/978-3-540-24775-3_3, on cross-validation.

    Examples
    --------
    >>> import fastevals
    >>> a, b = [0.20, 0.31, 0.12, 0.22], [0.25, 0.36, 0.13, 0.29]
    >>> fastevals.corrected_resampled_t_test(a, b, n_train=75, n_test=25, names=("old", "new"))
    SignificanceResult(statistic=-2.341, pvalue=0.1011, effect=-0.045, rejected=False)
    """
    pair = as_measurement_pair(a, b, least=2)
    ratio_of_rows = test_to_train_ratio(n_train, n_test, *pair)
    factor = variance_factor(pair[0].values.size, ratio_of_rows, as_flag("conservative", conservative))
    return _t_test(
        pair, factor, "the corrected resampled t-test", names_of_pair(names, a, b), alternative, confidence_level
    )


def _t_test(
    pair: tuple[Measurements, Measurements],
    factor: float,
    test: str,
    names: tuple[str, str],
    alternative: Alternative,
    confidence_level: float,
) -> SignificanceResult:
    first, second = names
    n = pair[0].values.size
    compared = compare_two("difference in means", first, second)
    estimate = t_statistic(scaled_differences(*(each.values for each in pair)), factor)
    return _t_decision(test, compared, estimate, n - 1, alternative=alternative, confidence_level=confidence_level)


def _t_decision(
    test: str,
    compared: Compared,
    estimate: tuple[Floats, Floats, Floats],
    df: int,
    *,
    alternative: Alternative,
    confidence_level: float,
    value: float = 0.0,
) -> SignificanceResult:
    """Return the result of a t-test from its estimate: t, the effect and its standard error."""
    alpha = check_alpha(confidence_level, alternative)
    statistic, effect, error = map(float, estimate)
    null = Null("t", (df,))
    warn_if_constant(compared, statistic)
    return decide(
        test, compared, statistic, null, alternative=alternative, alpha=alpha, effect=effect, value=value,
        interval=t_interval(effect, error, null, alternative, alpha), caution="" if error else NO_VARIANCE,
    )  # fmt: skip


def pairwise_t(
    a: Floats, b: Floats, alternative: Alternative, test_to_train: float = 0.0, conservative: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return t, p-values and mean differences for many pairs of learners, with measurements along the last axis."""
    n = a.shape[-1]
    factor = variance_factor(n, test_to_train, conservative)
    statistic, effect, _ = t_statistic(scaled_differences(a, b), factor)
    return statistic, pvalues(statistic, Null("t", (n - 1,)), alternative), effect


def pairwise_t_interval(
    a: Floats,
    b: Floats,
    alternative: Alternative,
    alpha: float,
    test_to_train: float = 0.0,
    conservative: bool = False,
) -> Interval[Floats]:
    """Return the intervals of mean differences for many pairs, with measurements along the last axis."""
    factor = variance_factor(a.shape[-1], test_to_train, conservative)
    _, effect, error = t_statistic(scaled_differences(a, b), factor)
    return t_interval(effect, error, Null("t", (a.shape[-1] - 1,)), alternative, alpha)


def variance_factor(n: int, test_to_train: float, conservative: bool = False) -> float:
    """Return the variance of the mean of n differences, in units of their variance.

    With `conservative`, the share of rows in a test set stands for 1 / n: repetitions add no rows.
    """
    share = test_to_train / (1 + test_to_train) if conservative else 0.0
    return max(1 / n, share) + test_to_train


def t_statistic(scaled: ScaledDifferences, factor: float) -> tuple[Floats, Floats, Floats]:
    """Return t, the mean difference and its standard error, the root of variance times `factor`."""
    mean, error = _mean_and_error(scaled, factor)
    return ratio(mean, error), in_own_unit(mean, scaled.exponent), in_own_unit(error, scaled.exponent)


def corrected_t_margin(values: Floats, test_to_train: float, alpha: float) -> float:
    """Return half the width of Nadeau and Bengio's interval for the mean."""
    t = critical_value(Null("t", (values.size - 1,)), "two-sided", alpha)
    return t * mean_standard_error(values, test_to_train)


def mean_standard_error(values: Floats, test_to_train: float) -> float:
    """Return the standard error of a mean over splits, by Nadeau and Bengio's variance."""
    scaled = scaled_differences(values, np.zeros_like(values))
    _, error = _mean_and_error(scaled, variance_factor(values.size, test_to_train))
    return float(in_own_unit(error, scaled.exponent))


def _mean_and_error(scaled: ScaledDifferences, variance_factor: float) -> tuple[Floats, Floats]:
    """Return the mean difference and its standard error, in the unit of the differences."""
    values = scaled.values
    constant = _all_equal(values[..., :FIRST])
    if constant.any():
        constant = _all_equal(values)
    mean = values.mean(axis=-1, keepdims=True)
    deviations = np.subtract(values, mean, out=lend(values.size, values.dtype).reshape(values.shape))
    squares = np.multiply(deviations, deviations, out=deviations)  # `std` would allocate, and take a third longer
    error = np.sqrt(variance_factor) * np.sqrt(squares.sum(axis=-1) / max(values.shape[-1] - 1, 1))
    return np.where(constant, values[..., 0], mean[..., 0]), np.where(constant, 0.0, error)


def _all_equal(values: Floats) -> NDArray[np.bool_]:
    """Return whether the values along the last axis are all equal."""
    return np.asarray(values.max(axis=-1) == values.min(axis=-1))
