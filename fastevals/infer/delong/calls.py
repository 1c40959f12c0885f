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
from fastevals.infer.results import Names, SignificanceResult
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
    return DelongResult(moments.aucs(), covariance, names, moments.n_pos, moments.n_neg, moments, labels.positive)


def delong_test(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    names: Names = None,
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
    names : (str, str), optional
        What the conclusion calls the two; "score_a" and "score_b" by default.
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
    >>> fastevals.delong_test(y_true, score_a, score_b, names=("new", "old"), alternative="greater")
    SignificanceResult(statistic=1.373, pvalue=0.08491, effect=0.3889, rejected=False)
    """
    alpha_of(confidence_level, alternative)  # checked before the work
    first, second = check.as_pair_of_names(names, ("score_a", "score_b"))
    labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
    labelled = {"score_a": check.as_scores("score_a", score_a), "score_b": check.as_scores("score_b", score_b)}
    moments = _moments(labels, labelled, None)
    what = f"the AUC of {first} less that of {second}"
    return contrast_test(moments, [1, -1], what, alternative=alternative, confidence_level=confidence_level)


def delong_test_unpaired(
    ranking_a: Ranking,
    ranking_b: Ranking,
    *,
    method: str = "t",
    names: Names = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether two rankings of different, independent rows have the same AUC.

    Parameters
    ----------
    ranking_a, ranking_b : Ranking
        Without weights. They share no rows: for models on the same rows `delong_test` is surer.
    method : {"t", "normal"}
        The statistic's distribution if the AUCs are equal: Student's t with Welch's degrees of freedom, as pROC has it,
        which allows for variances that are estimated from few rows; or the normal one, whose p-values are smaller.
    names : (str, str), optional
        What the conclusion calls the two; "ranking_a" and "ranking_b" by default.
    alternative : {"two-sided", "less", "greater"}
        What to show of the AUC of `ranking_a` less that of `ranking_b`: that it is not 0, below or above.
    confidence_level : float in (0, 1)
        Of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is the difference over its standard error, by the sum of DeLong's two variances; `df` are Welch's
        with "t". Else as from `delong_test`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a class of either has fewer than two rows: the statistic and p are NaN.

    Notes
    -----
    With S the variance of an AUC of n rows, Welch's degrees of freedom are
    ``(S_a + S_b)**2 / (S_a**2 / (n_a - 1) + S_b**2 / (n_b - 1))``.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. (The variances. Of independent AUCs they add up.) Welch (1947), "The
    Generalization of 'Student's' Problem when Several Different Population Variances are Involved", Biometrika 34,
    28-35, doi:10.1093/biomet/34.1-2.28. Robin et al. (2011), doi:10.1186/1471-2105-12-77 (pROC).

    Examples
    --------
    >>> from fastevals import Ranking, delong_test_unpaired
    >>> a, b = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]), Ranking([0, 1, 0, 1, 1], [0.4, 0.2, 0.3, 0.1, 0.5])
    >>> delong_test_unpaired(a, b)
    SignificanceResult(statistic=0.8575, pvalue=0.4207, effect=0.4167, rejected=False)
    >>> delong_test_unpaired(a, b, method="normal").pvalue.__round__(4)
    0.3912
    """
    alpha_of(confidence_level, alternative)
    check.check_choice("method", method, ("t", "normal"))
    first, second = check.as_pair_of_names(names, ("ranking_a", "ranking_b"))
    pair = []
    for name, ranking in (("ranking_a", ranking_a), ("ranking_b", ranking_b)):
        check.check_unweighted(name, ranking, Ranking)
        check.check_class_sizes(name, LIMIT, ranking.n_positives, ranking.n_negatives)
        pair.append(moments_of_ranking(ranking))
        _warn_if_undefined(pair[-1], name)
    a, b = pair
    effect = variance = df = math.nan
    if a.defined and b.defined:
        one = [Fraction(1)]
        effect = float(a.effect(one) - b.effect(one))
        parts = a.variance(one), b.variance(one)
        variance, df = float(sum(parts)), _welch(parts, (a.n_pos + a.n_neg - 1, b.n_pos + b.n_neg - 1))
    what = f"the AUC of {first} less that of {second}"
    return z_test(
        what, effect, variance, (-1, 1), df=df if method == "t" else None, test="DeLong's unpaired test",
        alternative=alternative, confidence_level=confidence_level,
    )  # fmt: skip


def _welch(variances: tuple[Fraction, Fraction], dfs: tuple[int, int]) -> float:
    """Compute the degrees of freedom of a sum of two estimated variances; without any variance those of both."""
    total = sum(variances)
    return float(total**2 / sum(each**2 / df for each, df in zip(variances, dfs, strict=True)) if total else sum(dfs))


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
