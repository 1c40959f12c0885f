"""DeLong's covariance of AUCs: intervals, contrasts and tests between models, on the same rows or on different rows.

The placement of a row is the share of the other class that it is correctly ranked against. Covariances are computed as
ratios of integers (`placements`) and rounded once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import (
    UndefinedMetricWarning,
    check_choice,
    check_integer,
    check_not_given,
    listed,
    show,
    warn_degenerate,
    warn_undefined,
)
from fastevals._text import count_of, shorten_names
from fastevals._validation.arrays import (
    Models,
    OneModel,
    are_matrices,
    as_frequencies,
    as_matrices,
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
from fastevals._validation.labels import as_groups, binary_labels
from fastevals._validation.tables import as_pair_of_names
from fastevals.counting.ordering import BinaryLabels
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.delong.classes import AveragedAuc, class_moments
from fastevals.infer.delong.clustered import Clusters, clustered_moments
from fastevals.infer.delong.placements import PlacementMoments, compute_moments, compute_ranking_moments
from fastevals.infer.delong.weighted import WeightedMoments, weighted_moments, weighted_ranking_moments
from fastevals.infer.significance.decision import (
    NO_VARIANCE,
    Compared,
    build_result,
    check_alpha,
    compare_two,
    normal_margins,
)
from fastevals.measure.class_scores import BaseClassRankings, ClassScores
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import metric
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.ranking import as_ranking, doubt_of_difference, least_extreme, ranking_of_rows, settled
from fastevals.results import (
    Alternative,
    Frozen,
    Interval,
    Null,
    PairNames,
    SignificanceResult,
    V,
    check_confidence_level,
    format_estimate,
    format_test,
)

Floats = NDArray[np.float64]
DelongInterval = Literal["delong", "logit"]
Degrees = Literal["t", "normal"]
USUAL_EXPONENT = 100  # binary exponents of weights that need no scaling
SIMPLE = 1000  # weights that equal a fraction with a denominator up to this are taken as that fraction
MOST_EXACT = 50  # models up to which chi-square is computed in integers, within a second
MOST_PRINTED = 20  # models in a printed result
FEW_CLUSTERS = 20  # clusters; with fewer, levels and coverage are not guaranteed
NO_DIRECTION = 1e-8  # standard errors: a smaller effect along a direction without variance is a rounding error


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
        return _delong_of_classes(y_true, scores, average, labels, beside)
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


def _delong_of_classes(
    y_true: Any, scores: Any, average: AveragedAuc, labels: Any, beside: dict[str, Any]
) -> ClassDelongResult:
    """Return DeLong's result for AUCs of several classes."""
    for name, value in beside.items():
        if value is not None:
            raise ValueError(f"{name} is not allowed with scores of several classes: call bootstrap")
    names: NDArray[Any]
    models: dict[Any, ClassScores]
    if isinstance(y_true, BaseClassRankings):
        if scores is not None or labels is not None:
            raise ValueError("scores and labels must not be given with a ClassRankings, which has its own")
        names, models = y_true._labels, {0: y_true._scores}
    else:
        labelled, keys = as_matrices("scores", scores)
        names, read = CLASSES.read_weighted(y_true, labelled, labels, None)
        models = dict(zip(keys, read.values(), strict=True))
    first = next(iter(models.values()))
    if first.weights is not None:
        raise ValueError("rows have weights: for several classes with weights, call bootstrap")
    if first.codes is None:
        raise ValueError("y_true must have one label per row, but it is an indicator matrix")
    of_aucs, moments = class_moments(models, names, average)
    if not moments.defined:
        few = np.minimum(first.n_positives, first.n_rows - first.n_positives)
        rarest = int(np.argmin(first.n_positives))
        n = int(first.n_positives[rarest])
        of_some = "" if average is not None or few.max() < 2 else f" for {listed(names[few < 2].tolist())}"
        warn_undefined(
            f"delong's covariance{of_some}", f"class {show(names[rarest])} has {count_of(n, 'row')}, and two are needed"
        )
    return ClassDelongResult(
        moments.aucs(), moments.covariance(), of_aucs if len(models) > 1 or average is None else None,
        tuple(first.n_positives.tolist()), tuple((first.n_rows - first.n_positives).tolist()), moments,
        _several=len(models) > 1 or average is None, labels=names, average=average,
    )  # fmt: skip


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DelongResult(Frozen, Generic[V]):
    """AUCs of models on the same rows, and their covariance; unpacks as ``aucs, covariance``.

    Printing shows each model's AUC with its interval, and the test that all AUCs are equal, at level 0.05.

    Attributes
    ----------
    aucs : ndarray of shape (n_models,)
        AUC of each model, as in `Ranking.roc_auc`; NaN if a class is missing.
    covariance : ndarray of shape (n_models, n_models)
        DeLong's covariance of the AUCs, each entry rounded once; NaN with fewer than two rows of a class.
    names : tuple or None
        Names of the models, in order, if they have any.
    n_positives, n_negatives : int
        Rows of each class, including copies.
    moments : PlacementMoments or WeightedMoments
        The integers whose ratios are the AUCs and covariances; for weighted rows, the AUCs and covariances themselves.
    pos_label : label
        The positive class.
    doubt : float
        Largest possible distance between this AUC and the AUC of the rows that were summarised. Intervals are widened
        by it.
    n_clusters : int or None
        Number of clusters that have the rarer class; None without `groups`.
    n_effective_clusters : float or None
        Effective number of clusters (the number of equally large clusters with as much information):
        ``(sum of sizes)**2 / sum of sizes**2``.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.delong([0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]})
    >>> result
    DelongResult(aucs=[0.7778, 0.3889], standard_errors=[0.2079, 0.2664], n_positives=3, n_negatives=3)
    >>> result.contrast([1, -1])
    SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)
    >>> print(result)
    DeLong's test
      AUC of a   0.7778, 95 % interval 0.3704 to 1.0000
      AUC of b   0.3889, 95 % interval 0.0000 to 0.9111
      rows       3 positive, 3 negative
      effect     0.3889, 95 % interval -0.1663 to 0.9441
      statistic  1.373
      p          0.1698
    No significant difference between the AUCs of a and b: 0.389 (95 % interval -0.166 to 0.944;
    DeLong's test, p = 0.17).
    """

    aucs: Floats
    covariance: Floats
    names: tuple[Any, ...] | None
    n_positives: Any
    n_negatives: Any
    moments: PlacementMoments | WeightedMoments
    pos_label: Any = None
    doubt: float = 0.0
    _clusters: Clusters | None = None
    _several: bool = True  # whether there were several models

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.aucs, self.covariance))

    def __repr__(self) -> str:
        shown = {
            name: np.array2string(values, precision=4, separator=", ", threshold=8, edgeitems=2)
            for name, values in {"aucs": self.aucs, "standard_errors": self._standard_errors}.items()
        }
        values = ", ".join(f"{name}={text}" for name, text in shown.items())
        return f"{type(self).__name__}({values}, n_positives={self.n_positives}, n_negatives={self.n_negatives})"

    def __str__(self) -> str:
        models = ["model"] if self.names is None and self.aucs.size == 1 else self._model_names()
        low, high = self._quiet_interval()
        test = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # the conclusion says that there is no variance
            if len(models) == 2:
                compared = compare_two(f"difference in {self._what}", *models)
                test = contrast_test(
                    self.moments, [1, -1], compared, alternative="two-sided", confidence_level=0.95,
                    clusters=self._clusters,
                )  # fmt: skip
            elif len(models) > 2:
                test = self.equality_test()
        rows = [
            (
                f"{self._what} of {model}",
                format_estimate(float(self.aucs[k]), Interval(float(low[k]), float(high[k])), 0.05),
            )
            for k, model in enumerate(models[:MOST_PRINTED])
        ]
        if len(models) > MOST_PRINTED:
            rows.append((f"... {len(models) - MOST_PRINTED} more", ""))
        rows.append(("rows", self._counted_rows()))
        if self._clusters is not None:
            rows.append(("clusters", f"{self.n_clusters} with the rarer class"))
        if test is None:
            return format_test(f"DeLong's interval{_of_clustered(self._clusters)}", rows, self.caution)
        return format_test(test.test, [*rows, *test._rows()], test.conclusion)

    @property
    def _what(self) -> str:
        return "AUC"

    def _counted_rows(self) -> str:
        return f"{self.n_positives} positive, {self.n_negatives} negative"

    def _columns(self) -> Columns:
        low, high = self._quiet_interval()
        models = range(self.aucs.size) if self.names is None else self.names
        return make_columns(
            {"model": models, "auc": self.aucs, "standard_error": self._standard_errors, "low": low, "high": high}
        )

    def _quiet_interval(self) -> tuple[Floats, Floats]:
        """Return the 95 % intervals without warnings; NaN if undefined."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            ends: Any = self.confidence_interval()
        return np.atleast_1d(ends.low), np.atleast_1d(ends.high)

    def _model_names(self) -> list[str]:
        """Return the names of the models in a printed table."""
        names = [f"model {k}" for k in range(self.aucs.size)] if self.names is None else self.names
        return shorten_names(names)

    @property
    def _standard_errors(self) -> Floats:
        return np.sqrt(np.diagonal(self.covariance))

    def _told(self, values: Floats) -> V:
        """Return the values of all models, or a single number if there is one model."""
        return values if self._several else values.item()  # type: ignore[return-value]

    @property
    def value(self) -> V:
        """The AUC if there is a single model, otherwise `aucs`."""
        return self._told(self.aucs)

    @property
    def standard_error(self) -> V:
        """The standard error of the AUC if there is a single model, otherwise of each AUC."""
        return self._told(self._standard_errors)

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters that have the rarer class."""
        return None if self._clusters is None else self._clusters.n

    @property
    def n_effective_clusters(self) -> float | None:
        """Effective number of clusters: the number of equally large clusters with as much information."""
        return None if self._clusters is None else self._clusters.effective

    @property
    def caution(self) -> str:
        """Why the intervals and tests may be unreliable: too few clusters. Empty if there is no known reason."""
        return _caution_of_clusters(self._clusters)

    def confidence_interval(
        self, confidence_level: float = 0.95, method: DelongInterval = "delong", alternative: Alternative = "two-sided"
    ) -> Interval[V]:
        """Compute intervals of the AUCs, clipped to [0, 1].

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Confidence level of each interval (not simultaneous).
        method : {"delong", "logit"}
            "delong" is the AUC plus or minus its standard error times a quantile: normal or, with `groups`, Student's
            t. "logit" does the same on the scale of log(AUC / (1 - AUC)), which is better near 0 and 1.
        alternative : {"two-sided", "less", "greater"}
            "greater" returns only lower bounds (the high ends are 1); "less" returns only upper bounds.

        Returns
        -------
        Interval
            ``low`` and ``high``: floats for one model, or arrays of shape (n_models,). If the variance is 0 (an AUC of
            0 or 1, or all scores tied), both ends are the AUC itself.

        Raises
        ------
        ValueError
            If an option is out of range.

        Warns
        -----
        UndefinedMetricWarning
            If the variance is 0, so that the interval has no width and claims more certainty than the data allow.

        References
        ----------
        Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and Prediction*, section 5.2.4
        (logit).
        """
        from scipy.special import expit, logit

        check_choice("method", method, DelongInterval)
        alpha = check_alpha(confidence_level, alternative)
        below, above = normal_margins(alpha, alternative, _degrees(self._clusters))
        aucs, errors = self.aucs, self._standard_errors
        flat = errors == 0
        if flat.any():
            first = int(np.argmax(flat))
            reason = f"its estimated variance is 0 ({flat.sum()} of {flat.size} models)"
            warn_degenerate(f"the interval of AUC {aucs[first]:g}", reason)

        def end(margin: float) -> Floats:
            """Return the ends that are this many standard errors above the AUCs."""
            if math.isinf(margin):
                return np.where(np.isnan(errors), math.nan, 0.0 if margin < 0 else 1.0)
            if method == "delong":
                moved = aucs + margin * errors
            else:
                with np.errstate(invalid="ignore"):  # 0 / 0 without variance
                    moved = expit(logit(aucs) + margin * errors / (aucs * (1 - aucs)))
            return np.clip(np.where(flat, aucs, moved) + math.copysign(self.doubt, margin), 0, 1)

        return Interval(self._told(end(-below)), self._told(end(above)))

    def contrast(
        self, weights: ArrayLike, *, alternative: Alternative = "two-sided", confidence_level: float = 0.95
    ) -> SignificanceResult:
        """Test whether a weighted sum of the AUCs is 0, with Z = L A / sqrt(L S L'), or t for clustered rows.

        Parameters
        ----------
        weights : array-like of shape (n_models,)
            The weights L, finite and not all zero. [1, -1] is the difference between two models, and [1, -1/2, -1/2] is
            the first model minus the mean of two others. A float such as 1/3 is taken as the exact fraction.
        alternative : {"two-sided", "less", "greater"}
            The claim to test: the sum is not 0, is negative, or is positive.
        confidence_level : float in (0, 1)
            Confidence level of the interval; the test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `effect` is the weighted sum, with its interval (clipped to the range that AUCs in [0, 1] allow). Z is NaN
            if a class has fewer than two rows. If the variance is 0, Z is 0 and p is 1 (1/2 if one-sided) for an effect
            of 0 (identical models); for any other effect, Z is infinite and p is 0, with a warning.

        Raises
        ------
        ValueError
            If an argument is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 6.
        """
        values = _as_contrast("weights", weights, self.aucs.size)
        compared = Compared(f"the contrast {show(values)} of {self._label_aucs()}", "0")
        return contrast_test(
            self.moments, values, compared, alternative=alternative, confidence_level=confidence_level,
            clusters=self._clusters,
        )  # fmt: skip

    def equality_test(self, *, confidence_level: float = 0.95) -> SignificanceResult:
        """Test whether all AUCs are equal, with a chi-square statistic, or Hotelling's F for clustered rows.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            The test is at level ``1 - confidence_level``.

        Returns
        -------
        SignificanceResult
            `df` is the rank of the covariance of the differences: n_models - 1, or fewer if models repeat each other.
            The covariance is then inverted on its range (exactly for up to 50 models). If all models are alike, the
            statistic and `df` are 0, and p is 1. `effect` is the highest AUC minus the lowest; there is no interval.
            With `groups`, the statistic is ``chi2 (d - r + 1) / (d r)`` for rank r and d degrees of freedom of t, and
            has an F distribution; it is NaN, with a warning, if models outnumber clusters.

        Raises
        ------
        ValueError
            If there are fewer than two models, or `confidence_level` is out of range.

        References
        ----------
        DeLong et al. (1988), doi:10.2307/2531595, eq. 5.
        """
        from scipy.special import chdtrc, chdtri, fdtrc, fdtri

        check_integer("the number of models", self.aucs.size, low=2)
        _, alpha = check_confidence_level(confidence_level)
        statistic, rank, enough = math.nan, self.aucs.size - 1, self.moments.defined
        if enough and self.n_clusters is not None and self.n_clusters < self.aucs.size:
            found, enough = count_of(self.n_clusters, "cluster"), False
            warn_undefined("the test of equal AUCs", f"a class occurs in {found}, and {self.aucs.size} are needed")
        if enough:
            statistic, rank = _chi_square(self.moments)
        df: float | tuple[int, float] = rank
        null = Null("chi2", (rank,))
        if not rank:
            pvalue, critical = 1.0, 0.0
        elif self._clusters is None:
            pvalue, critical = float(chdtrc(rank, statistic)), float(chdtri(rank, alpha))
        elif not enough:
            pvalue = critical = math.nan
        else:
            d = max(self._clusters.effective - 1, float(rank))
            df = rank, d - rank + 1
            null = Null("f", df)
            statistic *= df[1] / (d * rank)
            pvalue = 0.0 if math.isinf(statistic) else float(fdtrc(*df, statistic))
            critical = float(fdtri(*df, 1 - alpha))
        result = build_result(
            SignificanceResult, f"DeLong's test of equal AUCs{_of_clustered(self._clusters)}",
            Compared("", "", self._label_aucs(), "range"), statistic, pvalue, critical, alpha=alpha,
            effect=float(np.ptp(self.aucs)), df=df,
            null=null if rank else None,
        )  # fmt: skip
        return _with_caution(result, self._clusters)

    def _label_aucs(self) -> str:
        """Return words for the AUCs, with the models' names if they have any."""
        return "the AUCs" if self.names is None else f"the AUCs of {listed(self.names)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassDelongResult(DelongResult[Any]):
    """AUCs of several classes, or averages of them, and their covariance, as in `DelongResult`.

    Attributes
    ----------
    names : tuple or None
        The labels of the classes; with several models, pairs of a model and a label; with `average`, the models.
    n_positives, n_negatives : tuple of int
        Rows of each class, and rows of the others.
    labels : ndarray of shape (n_classes,)
        The classes.
    average : {None, "macro", "hand_till"}
        Whether the AUCs are of classes, their means, or Hand and Till's M.

    Examples
    --------
    >>> import fastevals
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    >>> classes = fastevals.ClassRankings(["a", "a", "b", "c", "b", "c"], scores)
    >>> fastevals.delong(classes)
    ClassDelongResult(aucs=[0.8125, 1.    , 1.    ], standard_errors=[0.2224, 0.    , 0.    ], n_samples=6)
    >>> round(fastevals.delong(classes, average="hand_till").standard_error, 4)
    0.078
    """

    labels: NDArray[Any] | None = None
    average: AveragedAuc = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(sum(self.n_positives))

    @property
    def _what(self) -> str:
        return {"macro": "macro AUC", "hand_till": "M"}.get(self.average or "", "AUC")

    def _counted_rows(self) -> str:
        return f"{self.n_samples} of {len(self.n_positives)} classes"

    def __repr__(self) -> str:
        return DelongResult.__repr__(self).partition(", n_positives")[0] + f", n_samples={self.n_samples})"


def contrast_test(
    moments: PlacementMoments | WeightedMoments,
    weights: Sequence[float],
    compared: Compared,
    *,
    alternative: Alternative,
    confidence_level: float,
    clusters: Clusters | None = None,
) -> SignificanceResult:
    """Test whether a weighted sum of AUCs is 0."""
    exponent = math.frexp(max(map(abs, weights)))[1]
    unit = exponent if abs(exponent) > USUAL_EXPONENT else 0  # unscaled, the variance could overflow or underflow
    exact = [_as_fraction(math.ldexp(weight, -unit)) for weight in weights]
    bounds = float(sum(w for w in exact if w < 0)), float(sum(w for w in exact if w > 0))
    effect = variance = math.nan
    if moments.defines(exact):
        effect, variance = float(moments.effect(exact)), float(moments.variance(exact))
    found = z_test(
        compared, effect, variance, bounds, alternative=alternative, confidence_level=confidence_level, exponent=unit,
        df=_degrees(clusters), test=f"DeLong's test{_of_clustered(clusters)}",
    )  # fmt: skip
    return _with_caution(found, clusters)


def _with_caution(found: SignificanceResult, clusters: Clusters | None) -> SignificanceResult:
    """Add the caution about few clusters, if any, to the conclusion."""
    return replace(found, conclusion=f"{found.conclusion} {_caution_of_clusters(clusters)}".rstrip())


def _degrees(clusters: Clusters | None) -> float | None:
    """Return the degrees of freedom of t, or None for the normal distribution of independent rows."""
    return None if clusters is None else max(clusters.effective - 1, 1.0)


def _of_clustered(clusters: Clusters | None) -> str:
    """Return the words that follow a method's name if rows are clustered."""
    return "" if clusters is None else " of clustered rows"


def _caution_of_clusters(clusters: Clusters | None) -> str:
    """Return a caution if there are too few clusters, or an empty string."""
    if clusters is None or clusters.n >= FEW_CLUSTERS:
        return ""
    return (
        f"A class occurs in only {count_of(clusters.n, 'cluster')}: with fewer than {FEW_CLUSTERS}, the variance "
        "is uncertain, so confirm the result on more clusters."
    )


def _as_fraction(weight: float) -> Fraction:
    """Return the fraction that a float stands for, so that weights of 1/3, 1/3, 1/3 and -1 add up to 0."""
    simple = Fraction(weight).limit_denominator(SIMPLE)
    return simple if float(simple) == weight else Fraction(weight)


def _chi_square(moments: PlacementMoments | WeightedMoments) -> tuple[float, int]:
    """Return the statistic of the test of equal AUCs, and its degrees of freedom."""
    if isinstance(moments, PlacementMoments) and len(moments.doubled_u) <= MOST_EXACT:
        statistic, df = moments.chi_square()
        if math.isinf(statistic):
            warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return statistic, df
    effects, variances = moments.differences()
    errors = np.sqrt(np.diagonal(variances))
    if (effects[errors == 0] != 0).any():
        warn_degenerate("the test of equal AUCs", "a difference of AUCs has an estimated variance of 0")
        return math.inf, int(np.count_nonzero(errors)) + 1
    effects, variances, errors = effects[errors > 0], variances[np.ix_(errors > 0, errors > 0)], errors[errors > 0]
    if not errors.size:
        return 0.0, 0
    roots, directions = np.linalg.eigh(variances / errors / errors[:, None])
    along = directions.T @ (effects / errors)
    kept = roots > roots.max() * errors.size * np.finfo(np.float64).eps
    if (np.abs(along[~kept]) > NO_DIRECTION * max(np.abs(along).max(), 1)).any():
        warn_degenerate("the test of equal AUCs", "a contrast of AUCs has an estimated variance of 0")
        return math.inf, int(kept.sum()) + 1
    return float(np.sum(along[kept] ** 2 / roots[kept])), int(kept.sum())


def z_test(
    compared: Compared,
    effect: float,
    variance: float,
    bounds: tuple[float, float],
    *,
    alternative: Alternative,
    confidence_level: float,
    df: float | None = None,
    test: str = "DeLong's test",
    doubt: tuple[float, float] = (0.0, 0.0),
    exponent: int = 0,
) -> SignificanceResult:
    """Test whether an effect is 0, from DeLong's variance and a normal or t distribution.

    The interval is clipped to `bounds`. If the variance is 0, Z is 0 for an effect of 0 and infinite otherwise. If the
    effect may be lower or higher by `doubt`, the value with the least extreme Z is tested. The reported effect and
    interval are scaled by 2**exponent.
    """
    from scipy.special import ndtr, stdtr

    alpha = check_alpha(confidence_level, alternative)
    error = math.sqrt(variance)
    tested = least_extreme(effect, doubt, alternative)
    if variance == 0:
        z = math.copysign(math.inf, tested) if tested else 0.0
        if tested:
            reason = "the estimated variance is 0, but the estimate is not"
            warn_degenerate(f"the test of {compared.both or compared.first}", reason)
    else:
        z = tested / error
    tail = {"two-sided": -abs(z), "less": z, "greater": -z}[alternative]
    pvalue = float(ndtr(tail) if df is None else stdtr(df, tail)) * (2 if alternative == "two-sided" else 1)
    below, above = normal_margins(alpha, alternative, df)
    low = bounds[0] if below == math.inf else max(effect - doubt[0] - below * error, bounds[0])
    high = bounds[1] if above == math.inf else min(effect + doubt[1] + above * error, bounds[1])
    if math.isnan(z):
        low = high = math.nan
    effect, low, high = (np.ldexp(each, exponent).item() for each in (effect, low, high))
    return build_result(
        SignificanceResult, test, compared, z, pvalue, -above if alternative == "less" else below,
        alternative=alternative, alpha=alpha, effect=effect, interval=Interval(low, high),
        caution=NO_VARIANCE if variance == 0 else "", df=df,
        null=Null("norm") if df is None else Null("t", (df,)),
    )  # fmt: skip


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


def _as_contrast(name: str, values: Any, n_models: int) -> list[float]:
    """Return the weights of a contrast: one finite weight per model, not all zero."""
    weights = as_scores(name, values)
    if weights.size != n_models:
        raise ValueError(f"{name} must have {n_models} values, one for each model, got {weights.size}")
    check_finite(name, weights)
    if not weights.any():
        raise ValueError(f"{name} must not be all zero, got {show(weights.tolist())}")
    return [float(weight) for weight in weights.tolist()]
