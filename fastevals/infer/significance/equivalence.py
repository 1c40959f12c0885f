"""Two one-sided tests of whether two learners are equivalent: that they differ by less than a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag, check_choice, check_number, check_options, warn_degenerate
from fastevals._validation.tables import as_measurement_pair, names_of_pair, test_to_train_ratio
from fastevals.infer.permutation.distribution import PermutationPlan
from fastevals.infer.permutation.signs import permutation_interval
from fastevals.infer.significance.decision import NO_VARIANCE, as_sentence, format_effect, pvalue_text
from fastevals.infer.significance.effects import pair_effects
from fastevals.infer.significance.five_by_two import as_five_by_two
from fastevals.infer.significance.paired import SAME_DIFFERENCES, as_decimals
from fastevals.infer.significance.pairwise import TESTS, one_sided_pvalues
from fastevals.infer.significance.signed_ranks import pairwise_pseudomedian
from fastevals.results import Interval, PairNames, SignificanceResult, check_confidence_level, format_estimate

Floats = NDArray[np.float64]

WILCOXON = "Wilcoxon's "

EquivalenceTest = Literal["wilcoxon", "sign", "paired-t", "corrected-resampled-t", "5x2cv-t", "permutation"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EquivalenceResult(SignificanceResult):
    """Result of `equivalence_test`: a `SignificanceResult` that is rejected if the learners are equivalent.

    Attributes
    ----------
    margin : float
        Learners that differ by less than this are equivalent.
    low_pvalue, high_pvalue : float
        One-sided p-values of the hypotheses that the difference is at most `-margin`, and that it is at least
        `margin`. The larger one is `pvalue`.

    Examples
    --------
    >>> import fastevals
    >>> a, b = [0.812, 0.743, 0.905, 0.66], [0.81, 0.745, 0.901, 0.662]
    >>> found = fastevals.equivalence_test(a, b, margin=0.01, test="paired-t")
    >>> found.rejected, found.margin, found.high_pvalue < 0.05
    (True, 0.01, True)
    """

    margin: float = field(kw_only=True)
    low_pvalue: float = field(kw_only=True)
    high_pvalue: float = field(kw_only=True)

    def _rows(self) -> list[tuple[str, str]]:
        rows = dict(SignificanceResult._rows(self))
        assert self.effect is not None
        rows["effect"] = format_estimate(self.effect, self.confidence_interval, 2 * self.alpha)
        rows["margin"] = f"{self.margin:.4g}"
        return list(rows.items())


def equivalence_test(
    a: Any,
    b: Any,
    *,
    margin: float,
    test: EquivalenceTest = "wilcoxon",
    names: PairNames = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> EquivalenceResult:
    """Test whether two learners are equivalent: whether they differ by less than a margin, by two one-sided tests.

    A test that finds no difference doesn't show that there is none. This test does: its hypothesis is that the learners
    differ by the margin or more, on either side, and it is rejected if both sides are.

    Parameters
    ----------
    a, b : array-like of shape (n,) or (1, n), list of ErrorEstimate, or ErrorEstimate
        Paired measurements of the two learners; of shape (5, 2) for "5x2cv-t".
    margin : float
        Differences below this do not matter; above 0, in the unit of the measurements. Choose it before seeing the
        results.
    test : {"wilcoxon", "sign", "paired-t", "corrected-resampled-t", "5x2cv-t", "permutation"}
        The test for each side, as for `pairwise_tests`: of the pseudomedian, the median or the mean difference.
    names : (str, str), optional
        The learners' names in the conclusion. By default the names in `Results.of`, otherwise "a" and "b".
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``, and so is each of its two sides.
    **options
        Options of the chosen test, as for `pairwise_tests`.

    Returns
    -------
    EquivalenceResult
        `pvalue` is the larger of the two one-sided p-values, and `statistic` is its statistic. `effect` is the
        difference, and its interval has level ``1 - 2 alpha`` (90 % for a test at level 5 %; None below 50 %
        confidence). For untied differences, the test rejects if the interval lies between `-margin` and `margin`. With
        "wilcoxon", pseudomedian and interval include differences of 0, because each side moves them by the margin.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the measurements come from splits of one data set, and the test assumes independence.
    UndefinedMetricWarning
        If the differences have no variance, so that t is infinite.

    Notes
    -----
    Each side is the chosen test on measurements shifted by the margin. Decimals stay decimals when they are shifted, so
    that ties stay ties. The test rejects if and only if both sides do, so it needs no correction for two tests.
    Learners that differ by exactly the margin are called equivalent with a probability of at most
    ``1 - confidence_level``.

    References
    ----------
    Schuirmann (1987), doi:10.1007/BF01068419. Wellek (2010), *Testing Statistical Hypotheses of Equivalence and
    Noninferiority*, doi:10.1201/EBK1439808184.

    Examples
    --------
    >>> import fastevals
    >>> a, b = [0.812, 0.743, 0.905, 0.66, 0.71, 0.83], [0.81, 0.745, 0.901, 0.662, 0.713, 0.828]
    >>> found = fastevals.equivalence_test(a, b, margin=0.01, names=("small", "large"))
    >>> found.conclusion.partition(" (")[0], found.pvalue
    ('small and large are equivalent within 0.01: pseudomedian of the differences 0', 0.015625)
    """
    check_choice("test", test, EquivalenceTest)
    _, alpha = check_confidence_level(confidence_level)
    margin = check_number("margin", margin, low=0, open_low=True, open_high=True)
    first, second = names_of_pair(names, a, b)
    entry = TESTS[test]
    if test == "5x2cv-t":
        arrays = as_five_by_two(a, b)
    else:
        pair = as_measurement_pair(a, b, least=entry.least, independent="equivalence_test" if entry.independent else "")
        arrays = pair[0].values, pair[1].values
        if test == "corrected-resampled-t":
            sizes = [options.pop(name, None) for name in ("n_train", "n_test")]
            share = test_to_train_ratio(*sizes, *pair)
    if test == "corrected-resampled-t":
        check_options(f"test={test!r}", _conservative, options)
        checked: dict[str, Any] = {"test_to_train": share, **_conservative(**options)}
    else:
        check_options(f"test={test!r}", entry.options, options)
        checked = dict(entry.options(**options))
    plain, higher = as_decimals(np.stack(arrays), margin)
    tested = one_sided_pvalues(test, plain, higher, np.array([[0, 1]]), checked)
    low, high = (float(each.pvalue[0]) for each in tested)
    difference = _difference(test, plain[:1], plain[1:], alpha, checked)
    if alpha >= 0.5:  # 1 - 2 alpha is no level
        difference = difference._replace(interval=None)
    larger = tested[0] if low >= high else tested[1]
    statistic, pvalue, caution = float(larger.statistic[0]), max(low, high), ""
    if math.isinf(statistic):
        caution = NO_VARIANCE
        warn_degenerate(f"the equivalence test of {first} and {second}", SAME_DIFFERENCES)
    return EquivalenceResult(
        statistic=statistic,
        pvalue=pvalue,
        critical_value=math.nan,
        df=None,
        alternative="two-sided",
        effect=difference.effect,
        confidence_interval=difference.interval,
        rejected=pvalue < alpha,
        conclusion=_conclusion(first, second, margin, entry.title, difference, pvalue, alpha, caution),
        alpha=alpha,
        test=_tests(entry.title),
        margin=margin,
        low_pvalue=low,
        high_pvalue=high,
    )


class _Difference(NamedTuple):
    """The difference that a test is about: its name, value and interval of level 1 - 2 alpha."""

    what: str
    effect: float
    interval: Interval | None


def _difference(test: str, a: Floats, b: Floats, alpha: float, options: dict[str, Any]) -> _Difference:
    """Return the estimate of a pair's difference."""
    entry, two_sided = TESTS[test], min(2 * alpha, 1.0)
    interval: Interval[Any] | None
    if test == "sign":
        effects = pair_effects(a, b, "two-sided", two_sided, 0.0)
        value, interval, what = effects.median_difference, effects.median_interval, "median difference"
    elif test == "wilcoxon":  # on each side zeros are moved by the margin, so none is left out here either
        value, interval = pairwise_pseudomedian(a, b, two_sided, **options)
        what = entry.what
    else:
        value, what = entry.core(a, b, "two-sided", **options)[2], entry.what.removesuffix(" in means")
        if test == "permutation":
            plan = PermutationPlan(options["n_resamples"], options["key"])
            return _Difference(what, float(value[0]), permutation_interval(a[0], b[0], plan, two_sided))
        assert entry.interval is not None
        interval = entry.interval(a, b, "two-sided", two_sided, **options)
    return _Difference(what, float(value[0]), Interval(float(interval.low[0]), float(interval.high[0])))


def _conclusion(
    first: str,
    second: str,
    margin: float,
    title: str,
    difference: _Difference,
    pvalue: float,
    alpha: float,
    caution: str,
) -> str:
    """Return the conclusion in words, with the difference and its interval, and a caution if there is one."""
    claim = f"{first} and {second} are equivalent within {margin:g}"
    if not pvalue < alpha:
        claim = f"no significant evidence that {claim}"
    evidence = f"{_tests(title)}, {pvalue_text(pvalue, 'two-sided')}"
    if difference.interval is not None:
        low, high = map(format_effect, difference.interval)
        evidence = f"{100 * (1 - 2 * alpha):.6g} % interval {low} to {high}; {evidence}"
    found = f"{difference.what} {format_effect(difference.effect)}"
    return " ".join(filter(None, [as_sentence(f"{claim}: {found} ({evidence})", alpha), caution]))


def _tests(title: str) -> str:
    """Return the name of both tests, given the name of the test for each side."""
    return f"two one-sided {title.removeprefix('the ').removeprefix(WILCOXON)}s"


def _conservative(*, conservative: bool = False) -> dict[str, Any]:
    """Check the option of the corrected resampled t-test that estimates do not have."""
    return {"conservative": as_flag("conservative", conservative)}
