"""The public permutation tests and their result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_flag, check_not_given, warn_undefined
from fastevals._validation.arrays import check_only_of_classes, is_matrix
from fastevals._validation.tables import as_measurement_pair, as_pair_of_names, names_of_pair
from fastevals.infer.permutation.classes import permute_classes
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic
from fastevals.infer.permutation.labels import permute_labels
from fastevals.infer.permutation.scores import permute_scores
from fastevals.infer.permutation.signs import paired_differences, permute_rows, scaled_mean
from fastevals.infer.permutation.targets import permute_quantiles, permute_targets
from fastevals.infer.significance.decision import Compared, build_result, check_alpha, compare_two
from fastevals.measure.kinds import (
    CLASSES,
    LABELS,
    QUANTILES,
    SCORES,
    TARGETS,
    check_needed_probabilities,
    metric_kind,
    require_needed_probabilities,
)
from fastevals.measure.metric_specs import MetricSpec, parse_metric
from fastevals.results import Alternative, PairNames, SignificanceResult


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermutationResult(SignificanceResult):
    """A `SignificanceResult` of a permutation test; `statistic` and `effect` are the difference itself.

    Attributes
    ----------
    metric : str
        Name of the metric compared.
    n_resamples : int
        Number of permutations, including undefined ones; for an exact test, the number of outcomes.
    exact : bool
        Whether all permutations were enumerated, so that the p-value is exact and does not depend on the seed.
    n_undefined : int
        Permutations in which a metric is undefined; they are dropped.
    null_distribution : ndarray of shape (n_resamples - n_undefined,) or None
        The difference in each permutation; None unless asked for.
    null_chances : ndarray of the same shape or None
        Probabilities of the values in `null_distribution`, for an exact test of counts; otherwise all are equally
        likely.
    pos_label : label or None
        The positive class; None if there is none or it is unknown.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.permutation_test([0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [1, 0, 0, 0, 1])
    PermutationResult(statistic=0.6, pvalue=0.25, effect=0.6, rejected=False)
    """

    metric: str = field(kw_only=True)
    n_resamples: int = field(kw_only=True)
    exact: bool = field(kw_only=True)
    n_undefined: int = field(kw_only=True)
    null_distribution: NDArray[np.float64] | None = field(kw_only=True)
    null_chances: NDArray[np.float64] | None = field(kw_only=True)
    pos_label: Any = field(default=None, kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        left_out = f", {self.n_undefined} of them undefined and left out" if self.n_undefined else ""
        drawn = f"all {self.n_resamples} outcomes" if self.exact else f"{self.n_resamples} permutations, drawn"
        return [("null", drawn + left_out)]


def permutation_test(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    metric: Any = "accuracy",
    *,
    n_resamples: int = 9999,
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> PermutationResult:
    """Test whether two models differ in a metric, by swapping their outputs on the same rows.

    If the models are alike, either of a row's two outputs could as well have come from the other model. So each
    permutation swaps the two outputs of every row with probability 1/2, and the observed difference in the metric is
    compared with the differences under permutations ([1]_, [2]_). The test assumes independent rows, but nothing about
    the metric.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or true values for a regression metric.
    pred_a, pred_b : array-like of shape (n_samples,), or (n_samples, n_classes) for scores of several classes
        Outputs of the two models: predicted labels, scores or numbers, depending on the metric. Scores are swapped
        unchanged, so both models must score on the same scale: use probabilities or, failing that, ranks.
    metric : str, `metric(...)` or function
        As for `bootstrap`: a metric of confusion matrices ("accuracy", "f1", ``metric("f_score", average="macro")``),
        of scores ("roc_auc", ``metric("f1", threshold=0.5)``, ``metric("recall", fpr=0.1)``) or of regression ("r2"). A
        function is called with a stack of confusion matrices and returns one number for each matrix.
    n_resamples : int
        Number of permutations to draw. If there are at most this many possible outcomes, or at most 8192, all are
        enumerated and the p-value is exact.
    names : (str, str), optional
        The models' names in the conclusion; "pred_a" and "pred_b" by default.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the metric of `pred_a` minus the metric of `pred_b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        One minus the significance level.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans. Other labels require it with scores, and with metrics
        of predicted labels that need it.
    labels : sequence of n_classes labels, optional
        The class of each column of scores; by default the labels that occur, sorted.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed. The same seed gives the same bits at any number of threads, and permutation i does not depend on
        the number of permutations.
    keep_distribution : bool
        Return the difference in each permutation too.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    PermutationResult
        The statistic is the difference itself. The test has no interval; for an interval, use `bootstrap`,
        `compare_rankings` or `delong`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the metric of a model is undefined, so that the test is undefined too (NaN); or if the metric is undefined
        in some permutations, which are counted in `n_undefined` and dropped.

    Notes
    -----
    The p-value is the share of permutations whose difference is at least as extreme as the observed difference, up to
    rounding; a one-sided test counts only the side of `alternative`. If k of n sampled permutations are as extreme, the
    p-value is (1 + k) / (1 + n), so that the test keeps its level [3]_. Models with the same outputs have p = 1.

    For predicted labels, a permutation draws one binomial number for each true class and pair of different predictions.
    Rows are counted once; after that, the time does not depend on the number of rows. For accuracy, the exact test is
    McNemar's. Scores are counted as labels if the metric has a fixed threshold. Otherwise they are sorted once, which
    takes about 200 bytes per row, and each permutation sweeps twice over the 2 n_samples scores. For regression,
    "mean_squared_error", its root and "r2" have the same p-value; the median takes one pass per permutation. With
    scores of several classes, a row's scores are swapped together, and each permutation sweeps over all columns.

    References
    ----------
    .. [1] Good, P. (2005), *Permutation, Parametric and Bootstrap Tests of Hypotheses*, Springer.
    .. [2] Yeh, A. (2000), "More Accurate Tests for the Statistical Significance of Result Differences", COLING,
       doi:10.3115/992730.992783.
    .. [3] Phipson, B. and Smyth, G. K. (2010), "Permutation P-values Should Never Be Zero", Statistical Applications in
       Genetics and Molecular Biology 9, doi:10.2202/1544-6115.1585.

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 0, 0, 1, 1, 1, 1, 1]
    >>> pred_a, pred_b = [0, 0, 0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 1, 0, 0]
    >>> found = fastevals.permutation_test(y_true, pred_a, pred_b, "f1")
    >>> found.effect, found.pvalue, found.exact
    (0.75, 0.03125, True)
    """
    alpha = check_alpha(confidence_level, alternative)
    plan = PermutationPlan.check(n_resamples, rng, progress)
    keep = as_flag("keep_distribution", keep_distribution)
    first, second = as_pair_of_names(names, ("pred_a", "pred_b"))
    name, spec = parse_metric("metric", metric)
    kind = metric_kind(spec, "metric") if isinstance(spec, MetricSpec) else LABELS
    if kind in (SCORES, LABELS) and is_matrix(pred_a):
        kind = CLASSES
    given = {"pred_a": pred_a, "pred_b": pred_b}
    truth: Any
    read: dict[str, Any]
    if kind is CLASSES:
        check_not_given("pos_label", pos_label, "two classes")
        truth, read = CLASSES.read_weighted(y_true, given, labels, None)
        require_needed_probabilities([spec], read)
    else:
        check_only_of_classes(labels=labels)
        truth, predicted = kind.read(y_true, given, pos_label)
        if kind is SCORES:
            check_needed_probabilities({name: spec}, predicted)
        read = predicted
    permute: Any = {
        SCORES: permute_scores, LABELS: permute_labels, CLASSES: permute_classes, TARGETS: permute_targets,
        QUANTILES: permute_quantiles,
    }[kind]  # fmt: skip
    tested = permute(truth, *read.values(), kind.metric(spec, "metric"), name, plan, pos_label)
    compared = Compared(f"{name} of {first}", f"{name} of {second}", f"{name} of {first} and {second}", "difference")
    return permutation_result(name, compared, tested, alternative=alternative, alpha=alpha, keep_distribution=keep)


def paired_permutation_test(
    a: Any,
    b: Any,
    *,
    n_resamples: int = 9999,
    names: PairNames = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> PermutationResult:
    """Test whether paired measurements differ in the mean, by flipping the signs of the differences.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), list of ErrorEstimate, or ErrorEstimate
        Measurements of two learners on the same rows or data sets: losses, error rates, scores.
    n_resamples : int
        Number of permutations to draw. With m nonzero differences, all 2^m permutations are enumerated if 2^m is at
        most this number, or at most 65536.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the mean of ``a - b`` is not 0, is negative, or is positive.
    confidence_level, rng, keep_distribution, progress
        As for `permutation_test`.

    Returns
    -------
    PermutationResult
        The statistic is the mean difference.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Warns
    -----
    DependentSplitsWarning
        If the measurements come from splits of one data set, which are not independent.

    Notes
    -----
    The null hypothesis is that the differences are symmetric about 0. Differences from overlapping training sets are
    not independent, so p-values over folds are too small ([2]_; see `corrected_resampled_t_test`).

    Differences smaller than rounding (2^-50 of the measurements) count as zero. Sums of differences are tied if they
    are within 1e-9 of the sum of absolute differences.

    References
    ----------
    .. [1] Pitman, E. J. G. (1937), "Significance Tests Which May be Applied to Samples from Any Populations",
       Supplement to the JRSS 4, 119-130, doi:10.2307/2984124.
    .. [2] Nadeau, C. and Bengio, Y. (2003), "Inference for the Generalization Error", Machine Learning 52, 239-281,
       doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> import fastevals
    >>> errors_a, errors_b = [0.25, 0.5, 0.125, 0.25, 0.5, 0.25], [0.5, 0.625, 0.25, 0.5, 0.75, 0.375]
    >>> found = fastevals.paired_permutation_test(errors_a, errors_b)
    >>> found.effect, found.pvalue
    (-0.1875, 0.03125)
    """
    alpha = check_alpha(confidence_level, alternative)
    plan = PermutationPlan.check(n_resamples, rng, progress)
    keep = as_flag("keep_distribution", keep_distribution)
    first, second = names_of_pair(names, a, b)
    pair = [each.values for each in as_measurement_pair(a, b, independent="paired_permutation_test")]
    values, exponent, _ = paired_differences(*pair)
    tested = permute_rows(values, plan)._replace(in_unit=lambda sums: scaled_mean(sums, pair[0].size, exponent))
    compared = compare_two("difference in means", first, second)
    return permutation_result(
        "the means", compared, tested, alternative=alternative, alpha=alpha, keep_distribution=keep
    )


def permutation_result(
    metric: str,
    compared: Compared,
    tested: PermutedStatistic,
    *,
    alternative: Alternative,
    alpha: float,
    keep_distribution: bool,
) -> PermutationResult:
    """Return the result of testing whether a difference in a metric is 0; warn about dropped permutations."""
    statistic, in_unit = tested.statistic, tested.in_unit
    distribution = tested.distribution.without_undefined()
    n, left = tested.distribution.values.size, distribution.values.size
    pvalue = critical = math.nan
    if math.isnan(statistic):
        warn_undefined(f"the test of {metric}", "the metric of a model, or the difference, is undefined on these rows")
    elif left == 0:
        warn_undefined(f"the test of {metric}", f"the metric is undefined in all {n} permutations")
    else:
        if left < n:
            warn_undefined(metric, f"in {n - left} of {n} permutations, which are left out (n_undefined)")
        pvalue = distribution.pvalue(statistic, tested.slack, alternative)
        critical = distribution.critical_value(alpha, alternative)
        critical = float(in_unit(critical)) if math.isfinite(critical) else critical
    difference = float(in_unit(statistic))
    return build_result(
        PermutationResult,
        "the paired permutation test",
        compared,
        difference,
        pvalue,
        critical,
        alternative=alternative,
        alpha=alpha,
        effect=difference,
        metric=metric,
        n_resamples=n,
        exact=distribution.exact,
        n_undefined=n - left,
        null_distribution=np.asarray(in_unit(distribution.values)) if keep_distribution else None,
        null_chances=distribution.chances if keep_distribution else None,
        pos_label=tested.pos_label,
    )
