"""Tests on five repetitions of two-fold cross-validation: Dietterich's t-test, a variant of it, and Alpaydin's F-test.

The variance of a repetition is the sum (not the mean) of the two squared deviations of its differences.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice
from fastevals._validation.tables import as_measurements, check_same_splits, names_of_pair
from fastevals.infer.significance.decision import NO_VARIANCE, check_alpha, compare_two, decide, pvalues
from fastevals.infer.significance.paired import (
    ScaledDifferences,
    in_own_unit,
    ratio,
    scaled_differences,
    t_interval,
    warn_if_constant,
)
from fastevals.results import Alternative, Interval, Null, PairNames, SignificanceResult

Floats = NDArray[np.float64]

Numerator = Literal["first", "mean"]
T_NULL, F_NULL = Null("t", (5,)), Null("f", (10, 5))


def five_by_two_cv_t_test(
    a: Any,
    b: Any,
    *,
    numerator: Numerator = "first",
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether two learners do equally well, from five repetitions of two-fold cross-validation (2.32).

    The two halves of a repetition share no rows, and each repetition contributes its own variance.

    Parameters
    ----------
    a, b : array-like of shape (5, 2), or ErrorEstimate
        Error rates, or other measurements, of the two learners: one row per repetition, one column per fold.
    numerator : {"first", "mean"}
        The numerator of t. "first" is Dietterich's: the difference on the first fold of the first repetition. "mean" is
        the chapter's: the mean of the first repetition's two differences, which is conservative (about 1.5 % false
        alarms at level 5 %).
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the difference chosen by `numerator`, `a` minus `b`, is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is t with 5 degrees of freedom, and `effect` is the difference in the numerator. If the learners do
        not differ at all, t is 0 and p is 1; if all folds differ by the same amount, t is infinite and p is 0, with a
        warning.

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
    With Dietterich's numerator, the result depends on which fold happens to be the first. `five_by_two_cv_f_test` uses
    all ten differences, so the order of the folds does not matter.

    References
    ----------
    Dietterich, T. G. (1998), "Approximate Statistical Tests for Comparing Supervised Classification Learning
    Algorithms", Neural Computation 10, 1895-1923, doi:10.1162/089976698300017197.

    Examples
    --------
    >>> import fastevals
    >>> a = [[0.22, 0.24], [0.23, 0.21], [0.25, 0.22], [0.20, 0.23], [0.24, 0.22]]
    >>> b = [[0.20, 0.20], [0.20, 0.20], [0.20, 0.20], [0.20, 0.20], [0.20, 0.20]]
    >>> fastevals.five_by_two_cv_t_test(a, b)
    SignificanceResult(statistic=1.155, pvalue=0.3004, effect=0.02, rejected=False)
    """
    pair = as_five_by_two(a, b)
    first, second = names_of_pair(names, a, b)
    check_choice("numerator", numerator, Numerator)
    alpha = check_alpha(confidence_level, alternative)
    statistic, effect, error = map(float, _t_statistic(*pair, numerator))
    folds = {"first": "the first fold", "mean": "the first two folds"}[numerator]
    compared = compare_two(f"difference on {folds}", first, second)
    warn_if_constant(compared, statistic)
    return decide(
        "the 5x2cv t-test", compared, statistic, T_NULL, alternative=alternative, alpha=alpha, effect=effect,
        interval=t_interval(effect, error, T_NULL, alternative, alpha), caution="" if error else NO_VARIANCE,
    )  # fmt: skip


def five_by_two_cv_f_test(
    a: Any, b: Any, *, names: PairNames = None, confidence_level: float = 0.95
) -> SignificanceResult:
    """Test whether two learners do equally well, by the combined F-test over five two-fold cross-validations.

    Parameters
    ----------
    a, b : array-like of shape (5, 2), or ErrorEstimate
        Error rates, or other measurements, of the two learners: one row per repetition, one column per fold.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is F with 10 and 5 degrees of freedom, and `effect` is the mean of the ten differences. If the
        learners do not differ at all, F is 0 and p is 1; if all folds differ by the same amount, F is infinite and p is
        0, with a warning. F has no direction, so there is no interval.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the differences have no variance.

    References
    ----------
    Alpaydin, E. (1999), "Combined 5 x 2 cv F Test for Comparing Supervised Classification Learning Algorithms", Neural
    Computation 11, 1885-1892, doi:10.1162/089976699300016007.

    Examples
    --------
    >>> import fastevals
    >>> a = [[0.22, 0.24], [0.23, 0.21], [0.25, 0.22], [0.20, 0.23], [0.24, 0.22]]
    >>> b = [[0.20, 0.20], [0.20, 0.20], [0.20, 0.20], [0.20, 0.20], [0.20, 0.20]]
    >>> fastevals.five_by_two_cv_f_test(a, b)
    SignificanceResult(statistic=2.933, pvalue=0.1233, effect=0.026, rejected=False)
    """
    pair = as_five_by_two(a, b)
    first, second = names_of_pair(names, a, b)
    alpha = check_alpha(confidence_level, "two-sided")
    statistic, effect = map(float, _f_statistic(*pair))
    compared = compare_two("difference in means", first, second)
    warn_if_constant(compared, statistic)
    return decide("the combined 5x2cv F-test", compared, statistic, F_NULL, alpha=alpha, effect=effect)


def pairwise_five_by_two_t(
    a: Floats, b: Floats, alternative: Alternative, numerator: Numerator = "first"
) -> tuple[Floats, Floats, Floats]:
    """Return t, p-values and the differences tested for many pairs, with ten measurements along the last axis."""
    statistic, effect, _ = _t_statistic(a, b, numerator)
    return statistic, pvalues(statistic, T_NULL, alternative), effect


def pairwise_five_by_two_t_interval(
    a: Floats, b: Floats, alternative: Alternative, alpha: float, numerator: Numerator = "first"
) -> Interval[Floats]:
    """Return the intervals of the differences tested, for many pairs."""
    _, effect, error = _t_statistic(a, b, numerator)
    return t_interval(effect, error, T_NULL, alternative, alpha)


def pairwise_five_by_two_f(a: Floats, b: Floats, alternative: Alternative) -> tuple[Floats, Floats, Floats]:
    """Return F, p-values and mean differences for many pairs, with ten measurements along the last axis."""
    statistic, effect = _f_statistic(a, b)
    return statistic, pvalues(statistic, F_NULL, alternative), effect


def _t_statistic(a: Floats, b: Floats, numerator: Numerator) -> tuple[Floats, Floats, Floats]:
    """Return t, its numerator and its denominator."""
    scaled = scaled_differences(a, b)
    d = _by_repetition(scaled)
    effect = d[..., 0, 0] if numerator == "first" else d[..., 0, :].mean(axis=-1)
    error = np.sqrt(_variances(d).mean(axis=-1))
    return ratio(effect, error), in_own_unit(effect, scaled.exponent), in_own_unit(error, scaled.exponent)


def _f_statistic(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return F and the mean difference."""
    scaled = scaled_differences(a, b)
    d = _by_repetition(scaled)
    statistic = ratio(np.square(d).sum(axis=(-2, -1)), 2 * _variances(d).sum(axis=-1))
    return statistic, in_own_unit(scaled.values.mean(axis=-1), scaled.exponent)


def _by_repetition(scaled: ScaledDifferences) -> Floats:
    return scaled.values.reshape(*scaled.values.shape[:-1], 5, 2)


def _variances(d: Floats) -> Floats:
    """Return each repetition's sum of two squared deviations."""
    return np.square(d[..., 0] - d[..., 1]) / 2


# Checks ---------------------------------------------------------------------------------------------------------------


def as_five_by_two(a: Any, b: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check measurements of two learners, each of shape (5, 2), and return them as flat arrays of ten."""
    pair = as_measurements("a", a, flat=False), as_measurements("b", b, flat=False)
    for name, each in zip("ab", pair, strict=True):
        if each.shape != (5, 2):
            raise ValueError(f"{name} must have shape (5, 2), one row per repetition, got {each.shape}")
    check_same_splits(*pair)
    return pair[0].values, pair[1].values
