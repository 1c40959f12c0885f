"""The public permutation tests and their result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import as_flag, warn_undefined
from fastevals._validation.tables import as_measurement_pair, as_pair_of_names
from fastevals.infer.permutation.distribution import PermutationPlan, PermutedStatistic
from fastevals.infer.permutation.labels import permute_labels
from fastevals.infer.permutation.scores import permute_scores
from fastevals.infer.permutation.signs import nonzero_differences, permute_signs, scaled_mean
from fastevals.infer.permutation.targets import permute_targets
from fastevals.infer.significance.decision import Compared, build_result, check_alpha, compare_two
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, check_needed_probabilities, metric_kind
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
        The difference in each permutation, if it was asked for.
    null_chances : ndarray of the same shape or None
        Probabilities of these values in an exact test of counts; otherwise they are equally likely.
    pos_label : label or None
        The positive class; None where there is none or it is unknown.

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
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> PermutationResult:
    """Test whether two models differ in a metric, by swapping their outputs on the same rows.

    If the models are alike, it is a matter of chance which output of a row belongs to which model. Each permutation
    swaps the two outputs of every row with probability 1/2, and the observed difference of the metric is compared with
    the differences under permutations ([1]_, [2]_). The test assumes independent rows, and nothing about the metric.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, or targets.
    pred_a, pred_b : array-like of shape (n_samples,)
        Outputs of the two models: predicted labels, scores or numbers, depending on the metric. Scores are swapped
        unchanged, so both models must score on the same scale: use probabilities, or else ranks.
    metric : str, `metric(...)` or function
        As for `bootstrap`: of confusion matrices ("accuracy", "f1", ``metric("f_score", average="macro")``), of scores
        ("roc_auc", ``metric("f1", threshold=0.5)``, ``metric("recall", fpr=0.1)``) or of regression ("r2"). A function
        takes a stack of confusion matrices and returns one number for each.
    n_resamples : int
        Number of permutations. If there are no more outcomes than that, or than 8192, all are enumerated and the
        p-value is exact.
    names : (str, str), optional
        Their names in the conclusion; "pred_a" and "pred_b" by default.
    alternative : {"two-sided", "less", "greater"}
        The claim to test: the metric of `pred_a` minus the metric of `pred_b` is not 0, is negative, or is positive.
    confidence_level : float in (0, 1)
        One minus the significance level.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans. Other labels require it with scores, and with metrics
        of predicted labels that need it.
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
        The statistic is the difference itself. There is no interval: for one, use `bootstrap`, `compare_rankings` or
        `delong`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the metric of a model is undefined, so that the test is too (NaN); or if it is undefined in some
        permutations, which are counted in `n_undefined` and dropped.

    Notes
    -----
    The p-value is the share of permutations whose difference is at least as large, up to rounding. In a sample it is
    (1 + k) / (1 + n), so that the test keeps its level [3]_. Models with the same outputs have p = 1.

    With predicted labels, a permutation is one binomial number for each true class and pair of different predictions.
    Rows are counted once, and after that their number does not matter. With accuracy, the exact test is McNemar's.
    Scores with a fixed threshold are counted as labels. Other scores are sorted once, in about 200 bytes per row, and a
    permutation is two sweeps over the 2 n_samples scores. For regression, "mean_squared_error", its root and "r2" have
    the same p-value; the median takes one pass per permutation.

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
    truth, predictions = kind.read(y_true, {"pred_a": pred_a, "pred_b": pred_b}, pos_label)
    if kind is SCORES:
        check_needed_probabilities({name: spec}, predictions)
    permute: Any = {SCORES: permute_scores, LABELS: permute_labels, TARGETS: permute_targets}[kind]
    tested = permute(truth, *predictions.values(), kind.metric(spec, "metric"), name, plan, pos_label)
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
        Number of permutations. With m nonzero differences, all 2^m are enumerated if they are no more than that, or
        than 65536.
    names : (str, str), optional
        Their names in the conclusion; "a" and "b" by default.
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
    The hypothesis is that the differences are symmetric about 0. Differences from overlapping training sets are not
    independent, so over folds p-values are too small ([2]_; see `corrected_resampled_t_test`).

    Differences within rounding (2^-50 of the measurements) are zero. Sums within 1e-9 of the sum of absolute
    differences are tied.

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
    first, second = as_pair_of_names(names, ("a", "b"))
    pair = [each.values for each in as_measurement_pair(a, b, independent="paired_permutation_test")]
    values, exponent = nonzero_differences(*pair)
    tested = permute_signs(values, plan)._replace(in_unit=lambda sums: scaled_mean(sums, pair[0].size, exponent))
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
    """Test whether a difference of a metric is 0, and warn about permutations that are dropped."""
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
