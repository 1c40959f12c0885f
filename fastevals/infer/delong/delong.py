"""DeLong's covariance of AUCs, and tests between models, on the same rows or on different rows.

The placement of a row is the share of the other class that it is correctly ranked against. Covariances are computed as
ratios of integers (`placements`) and rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, check_not_given, warn_undefined
from fastevals._text import count_of
from fastevals._validation.arrays import (
    Models,
    OneModel,
    are_matrices,
    as_frequencies,
    as_predictions,
    as_scores,
    as_weights,
    check_finite,
    check_one_weight,
    check_only_of_classes,
    check_same_length,
    is_matrix,
    refuse_summaries,
)
from fastevals._validation.labels import as_groups, as_true_labels, binary_labels
from fastevals._validation.tables import as_pair_of_names
from fastevals._validation.text import distinct_labels
from fastevals.counting.ordering import BinaryLabels
from fastevals.infer.delong.classes import AveragedAuc, delong_of_classes
from fastevals.infer.delong.clustered import Clusters, clustered_moments
from fastevals.infer.delong.placements import PlacementMoments, compute_moments, compute_ranking_moments
from fastevals.infer.delong.result import DelongResult, contrast_test, z_test
from fastevals.infer.delong.weighted import WeightedMoments, weighted_moments, weighted_ranking_moments
from fastevals.infer.significance.decision import check_alpha, compare_two
from fastevals.measure.class_scores import BaseClassRankings
from fastevals.measure.metric_specs import metric
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.ranking import as_ranking, doubt_of_difference, ranking_of_rows, settled
from fastevals.results import Alternative, PairNames, SignificanceResult

Floats = NDArray[np.float64]
Degrees = Literal["t", "normal"]


@overload
def delong(
    y_true: Any,
    scores: Models,
    *,
    average: AveragedAuc = ...,
    labels: ArrayLike | None = ...,
    groups: Any = ...,
    pos_label: Any = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
) -> DelongResult[Floats]: ...
@overload
def delong(
    y_true: Any,
    scores: OneModel | None = ...,
    *,
    average: AveragedAuc = ...,
    labels: ArrayLike | None = ...,
    groups: Any = ...,
    pos_label: Any = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
) -> DelongResult: ...
def delong(
    y_true: Any,
    scores: Any = None,
    *,
    average: AveragedAuc = None,
    labels: ArrayLike | None = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
) -> DelongResult[Any]:
    """Compute the AUCs of models on the same rows, and their DeLong covariance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or Ranking, RankingSummary, ThresholdCounts or ClassRankings
        Labels of two classes: numbers, booleans or strings. Alternatively, pass the counts of one model and no
        `scores`; for weighted rows, pass a RankingSummary or its ranking; for several classes, a ClassRankings.
    scores : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Finite scores of one model, or of many: one row, entry or column per model. Scores are tied if exactly equal.
        For several classes, a mapping of names to matrices of shape (n_samples, n_classes).
    average : {None, "macro", "hand_till"}
        For several classes: each class's AUC against the rest, their mean, or Hand and Till's M. With several models,
        None gives an AUC for each model and class.
    labels : sequence of n_classes labels, optional
        The class of each column of matrices; by default the labels that occur, sorted.
    groups : array-like of shape (n_samples,), optional
        Cluster of each row (a patient, a user), if rows of a cluster are not independent. The covariance is then
        Obuchowski's [3]_, and intervals and tests use Student's t. Not allowed with weights.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans, and required for other labels.
    sample_weight : array-like of shape (n_samples,), optional
        Nonnegative row weights. Each row is one independent observation, so equal weights change nothing. Rows of
        weight zero are dropped.
    frequency_weight : array-like of shape (n_samples,), optional
        How many copies each row stands for, as integers. The result equals the result for repeated rows, to the bit.
        Not allowed with `sample_weight`.

    Returns
    -------
    DelongResult
        `aucs` and `covariance`, with intervals, contrasts and a test of equality as methods. For one model (scores of
        shape (n_samples,)), value, standard error and interval are floats.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a class has fewer than two rows (with `groups`, occurs in fewer than two clusters): the covariance is then
        NaN, for several classes without `average` only in the rows and columns of that class. If a class has no rows,
        its AUC is NaN too.

    Notes
    -----
    Let V be the placements of positives, and W the placements of negatives. The covariance of models r and s is
    ``cov(V_r, V_s) / n_positives + cov(W_r, W_s) / n_negatives``; each cov is a sum of products divided by the class's
    number of rows minus 1.

    With `sample_weight`, placements and their means are weighted. Each class's covariance is a sum over its rows,
    divided by ``S1**2 (1 - 2 S3 / (S2 S1) + S2 / S1**2)``. A row adds its squared weight times the product of its
    deviations in the two models. S1, S2 and S3 are the sums of the class's weights, of their squares and of their
    cubes. If all n weights are 1, the divisor is n (n - 1).

    With `groups`, placements are summed over the positives and over the negatives of each cluster, and the covariance
    includes the covariance of these two sums [3]_. The degrees of freedom are the effective number of clusters of the
    class where it is smaller, minus 1: ``(sum of sizes)**2 / sum of sizes**2 - 1``, where sizes are rows of the class.
    If a class occurs in fewer than 20 clusters, the result has a caution.

    For several classes, the covariance of two AUCs is the sum over rows of products of deviations from the mean
    placement, each divided by the root of n (n - 1) for the n rows of the row's side: its class or, for AUCs against
    the rest, the rest. A class's own variance is DeLong's. Rows may not have weights or clusters: see `bootstrap`.

    The time is O(n log n), plus O(n k**2) for the products of k models. Memory beyond the input is 12 bytes per row and
    model (16 for a single model). With `frequency_weight`, memory is about 90 bytes per row plus 4 per row and model,
    and the time is several times as long. With `sample_weight`, memory is about 90 bytes per row plus 8 per row and
    model.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988), "Comparing the Areas under Two or More
       Correlated Receiver Operating Characteristic Curves", Biometrics 44, 837-845, doi:10.2307/2531595.
    .. [2] Sun, X. and Xu, W. (2014), "Fast Implementation of DeLong's Algorithm", IEEE Signal Processing Letters 21,
       1389-1393, doi:10.1109/LSP.2014.2337313. (Placements in O(n log n).)
    .. [3] Obuchowski, N. A. (1997), "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53, 567-578,
       doi:10.2307/2533958.

    Examples
    --------
    >>> import fastevals
    >>> aucs, covariance = fastevals.delong([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> aucs, covariance
    (array([0.75]), array([[0.125]]))
    """
    check_choice("average", average, AveragedAuc)
    if isinstance(y_true, BaseClassRankings) or are_matrices(scores):
        beside = {"groups": groups, "sample_weight": sample_weight, "frequency_weight": frequency_weight}
        check_not_given("pos_label", pos_label, "two classes")
        return delong_of_classes(y_true, scores, average, labels, beside)
    if is_matrix(scores):
        _refuse_columns_of_classes(y_true, scores)
    check_only_of_classes(average=average, labels=labels)
    if scores is None:
        beside = {
            "groups": groups,
            "pos_label": pos_label,
            "sample_weight": sample_weight,
            "frequency_weight": frequency_weight,
        }
        return _delong_of_counts(y_true, beside)
    truth = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
    labelled, names, several = as_predictions("scores", scores)
    moments, clusters = _checked_moments(truth, labelled, groups, sample_weight, frequency_weight)
    return DelongResult(
        moments.aucs(), moments.covariance(), names, moments.n_pos, moments.n_neg, moments, truth.positive,
        _clusters=clusters, _several=several,
    )  # fmt: skip


def _refuse_columns_of_classes(y_true: Any, scores: Any) -> None:
    """Raise if scores are a single table with a column for each of several classes: rows of arrays are models."""
    if len(scores) == np.size(y_true) and distinct_labels(as_true_labels("y_true", y_true)).size > 2:
        raise ValueError(
            "scores must be a mapping of names to matrices if y_true has more than two classes, got one matrix: for a "
            "single model, pass ClassRankings(y_true, scores) alone"
        )


def _delong_of_counts(subject: Any, beside: dict[str, Any]) -> DelongResult:
    """Return DeLong's result for the AUC of a ranking, of counts, or of a summary (with its doubt)."""
    for name, value in beside.items():
        if value is not None:
            raise ValueError(f"{name} requires y_true and scores; got it with a {type(subject).__name__}")
    ranking = as_ranking("y_true", subject)
    if not isinstance(ranking, BaseRanking):
        refuse_summaries("y_true", subject)
        raise ValueError(f"scores must be given with labels; got none, with a {type(subject).__name__}")
    moments, doubt, positive = _moments_of_counts("y_true", ranking)
    return DelongResult(
        settled(moments.aucs(), doubt),
        moments.covariance(),
        None,
        moments.n_pos,
        moments.n_neg,
        moments,
        positive,
        max(doubt) if sum(doubt) else 0.0,
        _several=False,
    )


def delong_test(
    y_true: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    average: AveragedAuc = None,
    labels: ArrayLike | None = None,
    groups: Any = None,
    pos_label: Any = None,
) -> SignificanceResult:
    """Test whether two models have the same AUC, on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or more for matrices: numbers, booleans or strings.
    score_a, score_b : array-like of shape (n_samples,), or (n_samples, n_classes)
        Finite scores of the two models; matrices have one column of scores per class.
    names : (str, str), optional
        The models' names in the conclusion; "score_a" and "score_b" by default.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the AUC of `score_a` minus the AUC of `score_b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.
    average : {None, "macro", "hand_till"}
        For matrices: whether to test the mean of the classes' AUCs against the rest (the default), or Hand and Till's
        M.
    labels : sequence of n_classes labels, optional
        The class of each column of matrices; by default the labels that occur, sorted.
    groups : array-like of shape (n_samples,), optional
        Cluster of each row (a patient, a user), if rows of a cluster are not independent. The variance is then
        Obuchowski's, and the statistic has Student's t distribution.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans, and required for other labels.

    Returns
    -------
    SignificanceResult
        `statistic` is Z, and `effect` is the difference of the AUCs, with its interval in [-1, 1]. If both models rank
        all rows alike, Z is 0 and p is 1 (1/2 if one-sided). If a nonzero difference has no variance (a perfect and a
        reversed ranking), Z is infinite and p is 0, with a warning.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If a class has fewer than two rows (with `groups`, occurs in fewer than two clusters), so that Z and p are NaN.

    Notes
    -----
    With `groups`, placements are summed over the positives and over the negatives of each cluster, and the variance
    includes the covariance of these two sums [2]_. The degrees of freedom of t are as in `delong`. In simulations the
    level held if each class occurred in 20 clusters or more. With fewer, the conclusion has a caution.

    References
    ----------
    .. [1] DeLong et al. (1988), doi:10.2307/2531595.
    .. [2] Obuchowski (1997), "Nonparametric Analysis of Clustered ROC Curve Data", doi:10.2307/2533958.

    Examples
    --------
    >>> import fastevals
    >>> y_true, score_a, score_b = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2]
    >>> fastevals.delong_test(y_true, score_a, score_b, names=("new", "old"), alternative="greater")
    SignificanceResult(statistic=1.373, pvalue=0.08491, effect=0.3889, rejected=False)
    """
    check_alpha(confidence_level, alternative)  # fail before the work
    check_choice("average", average, AveragedAuc)
    first, second = as_pair_of_names(names, ("score_a", "score_b"))
    if is_matrix(score_a) and is_matrix(score_b):
        check_not_given("pos_label", pos_label, "two classes")
        result = delong(
            y_true, {first: score_a, second: score_b}, average=average or "macro", labels=labels, groups=groups
        )
        of_what = "difference in M" if average == "hand_till" else "difference in macro AUC"
        return contrast_test(
            result.moments, [1, -1], compare_two(of_what, first, second),
            alternative=alternative, confidence_level=confidence_level,
        )  # fmt: skip
    check_only_of_classes(average=average, labels=labels)
    truth = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
    labelled = {"score_a": as_scores("score_a", score_a), "score_b": as_scores("score_b", score_b)}
    compared = compare_two("difference in AUC", first, second)
    moments, clusters = _checked_moments(truth, labelled, groups)
    return contrast_test(
        moments, [1, -1], compared, alternative=alternative, confidence_level=confidence_level, clusters=clusters
    )


def delong_test_unpaired(
    ranking_a: Any,
    ranking_b: Any,
    *,
    method: Degrees = "t",
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> SignificanceResult:
    """Test whether two rankings of different, independent rows have the same AUC.

    Parameters
    ----------
    ranking_a, ranking_b : Ranking, RankingSummary or ThresholdCounts
        Two rankings of any number of rows, which must not share rows: for models on the same rows, `delong_test` has
        more power. For weighted rows, pass a RankingSummary or its ranking. If a summary only bounds its AUC, the
        interval is widened to allow for the bounds, and the smallest effect within the bounds is tested.
    method : {"t", "normal"}
        Null distribution of the statistic. "t": Student's t with Welch's degrees of freedom (as in pROC), which
        allows for variances estimated from few rows. "normal": the normal distribution, whose p-values are smaller.
    names : (str, str), optional
        The rankings' names in the conclusion; "ranking_a" and "ranking_b" by default.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the AUC of `ranking_a` minus the AUC of `ranking_b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        Confidence level of the interval; the test is at level ``1 - confidence_level``.

    Returns
    -------
    SignificanceResult
        `statistic` is the difference divided by its standard error, the root of the sum of DeLong's two variances. With
        "t", `df` has Welch's degrees of freedom. Everything else is as in `delong_test`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    UndefinedMetricWarning
        If a class of either ranking has fewer than two rows, so that the statistic and p are NaN.

    Notes
    -----
    If S is the variance of an AUC from n rows, Welch's degrees of freedom are
    ``(S_a + S_b)**2 / (S_a**2 / (n_a - 1) + S_b**2 / (n_b - 1))``.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595. (The variances, which add up for independent AUCs.) Welch (1947), "The
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
    check_alpha(confidence_level, alternative)
    check_choice("method", method, Degrees)
    first, second = as_pair_of_names(names, ("ranking_a", "ranking_b"))
    a, doubt_a, _ = _moments_of_counts("ranking_a", ranking_a)
    b, doubt_b, _ = _moments_of_counts("ranking_b", ranking_b)
    effect = variance = df = math.nan
    if a.defined and b.defined:
        unit_weight = [Fraction(1)]
        effect = float(a.effect(unit_weight) - b.effect(unit_weight))
        variances = a.variance(unit_weight), b.variance(unit_weight)
        variance, df = float(sum(variances)), _welch(variances, (a.n_pos + a.n_neg - 1, b.n_pos + b.n_neg - 1))
    compared = compare_two("difference in AUC", first, second)
    return z_test(
        compared, effect, variance, (-1, 1), df=df if method == "t" else None, test="DeLong's unpaired test",
        alternative=alternative, confidence_level=confidence_level, doubt=doubt_of_difference(doubt_a, doubt_b),
    )  # fmt: skip


def _moments_of_counts(name: str, subject: Any) -> tuple[PlacementMoments | WeightedMoments, Doubt, Any]:
    """Return the moments of a ranking, counts or a summary, the doubt about its AUC, and its positive class."""
    known = as_ranking(name, subject)
    ranking, doubts = ranking_of_rows(name, known, {"roc_auc": metric("roc_auc")}, takes_weights=True)
    moments: PlacementMoments | WeightedMoments
    if known._moments is not None:
        moments, doubts = known._moments, {}
    elif ranking._squares is None:
        moments = compute_ranking_moments(ranking.counts)
    else:
        moments = weighted_ranking_moments(ranking.counts, ranking._squares)
    _warn_if_undefined(moments, name)
    return moments, doubts.get("roc_auc", (0.0, 0.0)), ranking.pos_label


def _welch(variances: tuple[Fraction, Fraction], dfs: tuple[int, int]) -> float:
    """Return Welch's degrees of freedom for the sum of two estimated variances; if both are 0, the sum of `dfs`."""
    total = sum(variances)
    return float(total**2 / sum(each**2 / df for each, df in zip(variances, dfs, strict=True)) if total else sum(dfs))


def _checked_moments(
    labels: BinaryLabels,
    scores: dict[str, NDArray[Any]],
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
) -> tuple[PlacementMoments | WeightedMoments, Clusters | None]:
    """Check scores, clusters and weights against the labels; return the moments, with a warning if undefined.

    The second value is the number of clusters that have the rarer class; None without clusters.
    """
    check_same_length(y_true=labels.values, **scores)
    for name, values in scores.items():
        check_finite(name, values)
    check_one_weight(sample_weight, frequency_weight)
    moments: PlacementMoments | WeightedMoments
    if groups is not None:
        return _clustered(
            labels, scores, groups, {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
        )
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=labels.values, sample_weight=weights)
        kept = weights != 0
        moments = weighted_moments(labels.take(kept), [values[kept] for values in scores.values()], weights[kept])
    else:
        frequencies = None
        if frequency_weight is not None:
            frequencies = as_frequencies("frequency_weight", frequency_weight)
            check_same_length(y_true=labels.values, frequency_weight=frequencies)
        moments = compute_moments(labels, list(scores.values()), frequencies)
    _warn_if_undefined(moments, "y_true")
    return moments, None


def _clustered(
    labels: BinaryLabels, scores: dict[str, NDArray[Any]], groups: Any, weights: dict[str, Any]
) -> tuple[WeightedMoments, Clusters]:
    """Return the moments of clustered rows, which have no weights, and the number of clusters with the rarer class."""
    for name, each in weights.items():
        if each is not None:
            raise ValueError(f"{name} is not allowed with groups: for weighted rows in clusters, call bootstrap")
    clusters = as_groups("groups", groups)
    check_same_length(y_true=labels.values, groups=clusters)
    moments, found = clustered_moments(labels, list(scores.values()), clusters)
    if not moments.defined:
        few = count_of(found.n, "cluster")
        warn_undefined("delong's covariance", f"a class occurs in {few}, and two are needed")
    return moments, found


def _warn_if_undefined(moments: PlacementMoments | WeightedMoments, name: str) -> None:
    if not moments.defined:
        metric = "delong's covariance" if moments.n_pos and moments.n_neg else "roc_auc"
        warn_undefined(
            metric, f"{name} has {moments.n_pos} positive and {moments.n_neg} negative rows, and two of each are needed"
        )
