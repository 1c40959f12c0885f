"""Turn a test's statistic into a decision: its p-value, its critical value, and a conclusion in a sentence."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fastevals._options import check_choice
from fastevals.results import Alternative, Interval, Null, SignificanceResult, check_confidence_level, tail_probability

Result = TypeVar("Result", bound=SignificanceResult)

SYMMETRIC = ("t", "norm")  # other statistics are squares: only large values speak against the hypothesis
USUAL_ALPHA = 0.05  # conclusions name any other level
NO_VARIANCE = "The estimated variance is 0, so the interval has no width."
MORE_OFTEN = ("less often", "more often")


class Compared(NamedTuple):
    """The words for what a test compares: its conclusion names `first` and `second`, or `both` of them.

    If `both` is empty, `second` is a number. If `first` is empty, `both` names all quantities. `estimate` and `reach`
    replace the effect and its interval in the conclusion. `alone` marks an interval that, unlike p, is not adjusted for
    the number of pairs.
    """

    first: str
    second: str
    both: str = ""
    effect: str = "estimate"
    verb: str = "is"
    degrees: tuple[str, str] = ("lower", "higher")
    estimate: str = ""
    reach: str = ""
    alone: bool = False

    def claim(self, side: float, adverb: str = "significantly ") -> str:
        """Return the claim that the first is higher or lower than the second or, if `side` is 0, that they differ."""
        if self.first and side:
            return f"{self.first} {self.verb} {adverb}{self.degrees[side > 0]} than {self.second}"
        return f"{self.both or f'{self.first} and {self.second}'} differ {adverb}".rstrip()

    def no_claim(self, side: float) -> str:
        """Return the words for a result that is not significant; `side` is 0 for a two-sided test."""
        if side:
            return f"no significant evidence that {self.claim(side, adverb='')}"
        between = "between" if self.first else "among"
        return f"no significant difference {between} {self.both or f'{self.first} and {self.second}'}"


# Words for each effect: for one model, for both models and for the effect; optionally, a verb and its comparatives.
PHRASES: dict[str, tuple[Any, ...]] = {
    "difference in AUC": ("the AUC of {}", "the AUCs of {} and {}", "difference"),
    "difference in macro AUC": ("the macro AUC of {}", "the macro AUCs of {} and {}", "difference"),
    "difference in M": ("M of {}", "M of {} and {}", "difference"),
    "difference in means": ("the mean of {}", "the means of {} and {}", "difference"),
    "difference in accuracy": ("the accuracy of {}", "the accuracies of {} and {}", "difference"),
    "difference in mean rank": ("the mean rank of {}", "the mean ranks of {} and {}", "difference"),
    "share of wins": ("{}", "the wins of {} and {}", "share won by {}", "wins", MORE_OFTEN),
    "odds ratio": ("{} alone", "the accuracies of {} and {}", "odds ratio", "is right", MORE_OFTEN),
}


def compare_two(what: str, first: Any, second: Any) -> Compared:
    """Return the words for a comparison of two models, given the effect that their test reports."""
    one, both, effect, *more = PHRASES.get(what, ("{}", "{} and {}", what))
    return Compared(one.format(first), one.format(second), both.format(first, second), effect.format(first), *more)


def decide(
    test: str,
    compared: Compared,
    statistic: float,
    null: Null,
    *,
    alternative: Alternative = "two-sided",
    alpha: float,
    pvalue: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    kind: type[Result] = SignificanceResult,  # type: ignore[assignment]
    **more: Any,
) -> Result:
    """Return the result of a test with a continuous null distribution.

    If the test does not reject, the interval is extended to include `value`. Pass a p-value if the null distribution is
    too rough an approximation. `more` is as for `build_result`.
    """
    if pvalue is None:
        pvalue = float(pvalues(statistic, null, alternative))
    if interval is not None and pvalue >= alpha:
        interval = extend_to(interval, value)
    df = tuple(map(int, null.parameters))
    return build_result(
        kind, test, compared, float(statistic), pvalue, critical_value(null, alternative, alpha),
        alternative=alternative, alpha=alpha, interval=interval, value=value,
        df=df[0] if len(df) == 1 else df or None, null=null, **more,
    )  # fmt: skip


def build_result(
    kind: type[Result],
    test: str,
    compared: Compared,
    statistic: float,
    pvalue: float,
    critical: float | Interval,
    *,
    alternative: Alternative = "two-sided",
    alpha: float,
    effect: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    caution: str = "",
    df: float | tuple[float, ...] | None = None,
    null: Null | None = None,
    **more: Any,
) -> Result:
    """Return the result of a test, with its conclusion; `value` is the effect under the null hypothesis.

    A `caution` is a sentence that replaces the interval in the conclusion. `more` has the further fields of `kind`.
    """
    return kind(
        statistic=statistic,
        pvalue=pvalue,
        critical_value=critical,
        df=df,  # type: ignore[arg-type]  # F has two
        alternative=alternative,
        effect=effect,
        confidence_interval=interval,
        rejected=pvalue < alpha,
        conclusion=conclude(compared, test, pvalue, alternative, alpha, effect, interval, value, caution),
        alpha=alpha,
        test=test,
        null=null,
        **more,
    )


def conclude(
    compared: Compared,
    test: str,
    pvalue: float,
    alternative: Alternative,
    alpha: float,
    effect: float | None,
    interval: Interval | None,
    value: float,
    caution: str,
) -> str:
    """Return the conclusion of a test: whether there is a difference, the estimate, its interval, the test and p.

    A `caution` is a sentence that replaces the interval.
    """
    if math.isnan(pvalue):
        subject = compared.both or compared.first
        return as_sentence(f"{test} is undefined on these data, so nothing follows about {subject}", USUAL_ALPHA)
    two_sided, estimate = alternative == "two-sided", math.nan if effect is None else effect
    side = {"less": -1.0, "greater": 1.0, "two-sided": float(np.nan_to_num(np.sign(estimate - value)))}[alternative]
    claim = compared.claim(side) if pvalue < alpha else compared.no_claim(0 if two_sided else side)
    found = compared.estimate or ("" if math.isnan(estimate) else f"{compared.effect} {format_effect(estimate)}")
    if two_sided and pvalue >= alpha:
        found = found.removeprefix("difference ")
    claim += f": {found}" if found else ""
    reach = compared.reach
    if interval is not None and not math.isnan(interval.low) and not caution:
        level = f"{'unadjusted ' * compared.alone}{100 * (1 - alpha):.6g} %"
        reach = f"{level} interval {format_effect(interval.low)} to {format_effect(interval.high)}"
    means = f"{test.removeprefix('the ')}, {pvalue_text(pvalue, alternative)}"
    evidence = f"({reach}; {means})" if reach else f"({means})"
    return " ".join(filter(None, [as_sentence(f"{claim} {evidence}", alpha), caution]))


def as_sentence(text: str, alpha: float) -> str:
    """Return text as a sentence; put the level first unless it is the usual level. Names keep their case."""
    if alpha != USUAL_ALPHA:
        return f"At level {alpha:g}, {text}."
    return f"{text[0].upper() if text.startswith(('the ', 'no ', 'in ')) else text[0]}{text[1:]}."


def pvalue_text(pvalue: float, alternative: Alternative) -> str:
    """Return a p-value as written in conclusions, with a note if it is one-sided."""
    side = "" if alternative == "two-sided" else "one-sided "
    return f"{side}p < 1e-300" if pvalue == 0 else f"{side}p = {pvalue:.3g}"


def format_effect(value: float) -> str:
    """Return an effect as written in conclusions."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def check_alpha(confidence_level: float, alternative: Alternative) -> float:
    """Check the options that all tests share; return the significance level."""
    check_choice("alternative", alternative, Alternative)
    return check_confidence_level(confidence_level)[1]


def pvalues(statistic: Any, null: Null, alternative: Alternative) -> Any:
    """Return the p-values of statistics, elementwise; NaN for NaN."""
    if null.name not in SYMMETRIC:
        return null.sf(statistic)
    if alternative == "two-sided":
        return 2 * null.sf(np.abs(statistic))
    return null.sf(statistic) if alternative == "greater" else null.cdf(statistic)


def critical_value(null: Null, alternative: Alternative, alpha: float) -> float:
    """Return the value of the statistic at which rejection begins."""
    if null.name not in SYMMETRIC:
        return float(null.isf(alpha))
    tail = tail_probability(alpha, alternative)
    return float(null.ppf(tail) if alternative == "less" else null.isf(tail))


def normal_margins(alpha: float, alternative: Alternative, df: float | None = None) -> tuple[float, float]:
    """Return how far the ends of an interval are from the estimate, in standard errors; infinite on an open side.

    Quantiles are normal, or Student's t with the given degrees of freedom.
    """
    from scipy.special import ndtri, stdtrit

    tail = tail_probability(alpha, alternative)
    margin = -float(ndtri(tail) if df is None else stdtrit(df, tail))
    return (math.inf if alternative == "less" else margin, math.inf if alternative == "greater" else margin)


def discrete_critical_value(low: float, largest: float, alternative: Alternative) -> float | Interval:
    """Return the critical value of a statistic from 0 to `largest` whose null distribution is symmetric.

    `low` is the smallest value that a lower-tailed test does not reject; the upper critical value mirrors it.
    """
    if alternative == "two-sided":
        return Interval(float(low), float(largest - low))
    return float(low if alternative == "less" else largest - low)


def extend_to(interval: Interval, value: float) -> Interval:
    """Extend an interval to a value that the test does not reject, in case rounding has left that value outside."""
    return Interval(min(interval.low, value), max(interval.high, value))
