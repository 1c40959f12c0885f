"""DeLong's covariance of AUCs: intervals, contrasts and tests between models, on the same rows or on others.

A row's placement is the share of the other class that it is ranked right against. Covariances are ratios of integers
(`placements`), each rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals.infer.delong.normal import z_test
from fastevals.infer.delong.placements import LIMIT, Moments, moments_of, moments_of_ranking
from fastevals.infer.delong.result import DelongResult, contrast_test
from fastevals.infer.results import SignificanceResult
from fastevals.infer.significance.decision import alpha_of
from fastevals.measure.ordering import BinaryLabels
from fastevals.measure.ranking import Ranking

__all__ = ["delong", "delong_test", "delong_test_unpaired"]


def delong(
    y_true: ArrayLike, scores: Any, *, pos_label: Any = None, sample_weight: ArrayLike | None = None
) -> DelongResult:
    """Compute the AUCs of models on the same rows and DeLong's covariance of them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    scores : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Finite scores of one model, or of many: one a row, an entry or a column. Ties are exact equality.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.
    sample_weight : array-like of shape (n_samples,), optional
        How often each row counts: whole numbers, the same as repeated rows to the last bit.

    Returns
    -------
    DelongResult
        `aucs` and `covariance`, with intervals, contrasts and a test of equality as methods.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a class has fewer than two rows: the covariance is NaN, and without any the AUCs are too.

    Notes
    -----
    With V the placements of positives and W those of negatives, the covariance of models r and s is
    ``cov(V_r, V_s) / n_positives + cov(W_r, W_s) / n_negatives``, with denominators one less than the class.

    Weights with fractions are an error, for the estimate takes its degrees of freedom from the number of independent
    rows, which such weights do not give: weights of sampling and of importance have other variances (sums of squared
    weights), and which is meant can't be told from the numbers. `bootstrap` resamples rows with their weights.

    Takes 12 bytes a row and model beyond the input (16 for one model alone), O(n log n) time, and O(n k**2) for the
    products of k models. With weights about 90 bytes a row and 4 a row and model, and several times as long.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988), "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 837-845, doi:10.2307/2531595.
    .. [2] Sun, X. and Xu, W. (2014), "Fast Implementation of DeLong's Algorithm", IEEE Signal Processing Letters 21,
       1389-1393, doi:10.1109/LSP.2014.2337313. (Placements in O(n log n).)

    Examples
    --------
    >>> import fastevals
    >>> aucs, covariance = fastevals.delong([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> aucs, covariance
    (array([0.75]), array([[0.125]]))
    """
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
    labelled, names, _ = check.as_predictions("scores", scores)
    moments = _moments(labels, labelled, sample_weight)
    covariance = moments.covariance()
    return DelongResult(moments.aucs(), covariance, names, moments.n_pos, moments.n_neg, moments)


def delong_test(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    pos_label: Any = None,
) -> SignificanceResult:
    """Test whether two models have the same AUC, on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    score_a, score_b : array-like of shape (n_samples,)
        Finite scores of the two models.
    alternative : {"two-sided", "less", "greater"}
        What to show of the AUC of `score_a` less that of `score_b`: that it is not 0, below or above.
    confidence_level : float in (0, 1)
        Of the interval; the test is at level ``1 - confidence_level``.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.

    Returns
    -------
    SignificanceResult
        `statistic` is Z, `effect` the difference of the AUCs, with its interval in [-1, 1]. Models that rank alike
        have Z = 0 and p = 1 (one-sided 1/2); a difference without variance (a perfect and a reversed ranking) an
        infinite Z and p = 0, with a warning.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a class has fewer than two rows: Z and p are NaN.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595.

    Examples
    --------
    >>> import fastevals
    >>> y_true, score_a, score_b = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2]
    >>> fastevals.delong_test(y_true, score_a, score_b, alternative="greater")
    SignificanceResult(statistic=1.373, pvalue=0.08491, effect=0.3889, rejected=False)
    """
    alpha_of(confidence_level, alternative)  # checked before the work
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
    labelled = {"score_a": check.as_scores("score_a", score_a), "score_b": check.as_scores("score_b", score_b)}
    moments = _moments(labels, labelled, None)
    what = "the AUC of score_a less that of score_b"
    return contrast_test(moments, [1, -1], what, alternative=alternative, confidence_level=confidence_level)


def delong_test_unpaired(
    ranking_a: Ranking, ranking_b: Ranking, *, alternative: str = "two-sided", confidence_level: float = 0.95
) -> SignificanceResult:
    """Test whether two rankings of different, independent rows have the same AUC.

    Parameters
    ----------
    ranking_a, ranking_b : Ranking
        Without weights. They share no rows: for models on the same rows `delong_test` is surer.
    alternative : {"two-sided", "less", "greater"}
        What to show of the AUC of `ranking_a` less that of `ranking_b`: that it is not 0, below or above.
    confidence_level : float in (0, 1)
        Of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is Z, by the sum of DeLong's two variances; else as from `delong_test`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a class of either has fewer than two rows: Z and p are NaN.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. (The variances. Of independent AUCs they add up.)

    Examples
    --------
    >>> from fastevals import Ranking, delong_test_unpaired
    >>> a, b = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]), Ranking([0, 1, 0, 1, 1], [0.4, 0.2, 0.3, 0.1, 0.5])
    >>> delong_test_unpaired(a, b)
    SignificanceResult(statistic=0.8575, pvalue=0.3912, effect=0.4167, rejected=False)
    """
    alpha_of(confidence_level, alternative)
    pair = []
    for name, ranking in (("ranking_a", ranking_a), ("ranking_b", ranking_b)):
        check.check_unweighted(name, ranking, Ranking)
        check.check_class_sizes(name, LIMIT, ranking.n_positives, ranking.n_negatives)
        pair.append(moments_of_ranking(ranking))
        _warn_if_undefined(pair[-1], name)
    a, b = pair
    effect = variance = math.nan
    if a.defined and b.defined:
        one = [Fraction(1)]
        effect, variance = float(a.effect(one) - b.effect(one)), float(a.variance(one) + b.variance(one))
    what = "the AUC of ranking_a less that of ranking_b"
    return z_test(what, effect, variance, (-1, 1), alternative=alternative, confidence_level=confidence_level)


def _moments(labels: BinaryLabels, labelled: dict[str, NDArray[Any]], sample_weight: ArrayLike | None) -> Moments:
    """Check scores and weights against the labels; give the models' moments, with a warning if they are undefined."""
    check.check_same_length(y_true=labels.values, **labelled)
    for name, values in labelled.items():
        check.check_finite(name, values)
    frequencies = None
    if sample_weight is not None:
        frequencies = check.as_frequencies("sample_weight", sample_weight)
        check.check_same_length(y_true=labels.values, sample_weight=frequencies)
    moments = moments_of(labels, list(labelled.values()), frequencies)
    _warn_if_undefined(moments, "y_true")
    return moments


def _warn_if_undefined(moments: Moments, name: str) -> None:
    if not moments.defined:
        what = "delong's covariance" if moments.n_pos and moments.n_neg else "roc_auc"
        check.warn_undefined(
            what, f"{name} has {moments.n_pos} positive and {moments.n_neg} negative rows, and two of each are needed"
        )
