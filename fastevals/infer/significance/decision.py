"""From a statistic to a decision: significance level, p-value, critical value, and the conclusion in a sentence."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from fastevals._options import check_choice
from fastevals.results import Alternative, Interval, Null, SignificanceResult, check_confidence_level, tail_probability

Result = TypeVar("Result", bound=SignificanceResult)

SYMMETRIC = ("t", "norm")  # the others are of squares: only large values speak against the hypothesis
RELATIONS = {"two-sided": "other than", "less": "less than", "greater": "greater than"}
NO_VARIANCE = "with an estimated variance of 0 the data don't say which values agree with them"


def decide(
    test: str,
    quantity: str,
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
    """Return the result of a test with a continuous null distribution, and an interval of what isn't rejected.

    A p-value may be given where the distribution is too rough. More is as for `build_result`.
    """
    if pvalue is None:
        pvalue = float(pvalues(statistic, null, alternative))
    if interval is not None and pvalue >= alpha:
        interval = extend_to(interval, value)
    df = tuple(map(int, null.parameters))
    return build_result(
        kind, test, quantity, float(statistic), pvalue, critical_value(null, alternative, alpha),
        alternative=alternative, alpha=alpha, interval=interval, value=value,
        df=df[0] if len(df) == 1 else df or None, null=null, **more,
    )  # fmt: skip


def build_result(
    kind: type[Result],
    test: str,
    quantity: str,
    statistic: float,
    pvalue: float,
    critical: float | Interval,
    *,
    alternative: Alternative = "two-sided",
    alpha: float,
    effect: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    instead: str = "",
    several: bool = False,
    df: float | tuple[int, ...] | None = None,
    null: Null | None = None,
    **more: Any,
) -> Result:
    """Return the result of a test that a quantity, named in words, is `value`, with the conclusion.

    With `several` the quantity is several numbers, all the same if it holds. `instead` is as for `conclude`; `more`
    are fields of the kind of result.
    """
    if several:
        conclusion = conclude_on_several(quantity, pvalue, alpha, test=test)
    else:
        conclusion = conclude(quantity, pvalue, alpha, alternative, interval, value, test=test, instead=instead)
    return kind(
        statistic=statistic,
        pvalue=pvalue,
        critical_value=critical,
        df=df,  # type: ignore[arg-type]  # one, or two of F
        alternative=alternative,
        effect=effect,
        confidence_interval=interval,
        rejected=pvalue < alpha,
        conclusion=conclusion,
        alpha=alpha,
        test=test,
        null=null,
        **more,
    )


def check_alpha(confidence_level: float, alternative: Alternative) -> float:
    """Check the options that all tests have; return the significance level."""
    check_choice("alternative", alternative, Alternative)
    return check_confidence_level(confidence_level)[1]


def pvalues(statistic: Any, null: Null, alternative: Alternative) -> Any:
    """Return the chance of statistics at least as extreme, an array's each; NaN of NaN."""
    if null.name not in SYMMETRIC:
        return null.sf(statistic)
    if alternative == "two-sided":
        return 2 * null.sf(np.abs(statistic))
    return null.sf(statistic) if alternative == "greater" else null.cdf(statistic)


def critical_value(null: Null, alternative: Alternative, alpha: float) -> float:
    """Return where rejection begins."""
    if null.name not in SYMMETRIC:
        return float(null.isf(alpha))
    tail = tail_probability(alpha, alternative)
    return float(null.ppf(tail) if alternative == "less" else null.isf(tail))


def discrete_critical_value(low: float, largest: float, alternative: Alternative) -> float | Interval:
    """Return the critical value of a statistic from 0 to `largest`, symmetric if the hypothesis holds: kept from `low`.

    That is for a test against smaller values; the others are its mirror image and both.
    """
    if alternative == "two-sided":
        return Interval(float(low), float(largest - low))
    return float(low if alternative == "less" else largest - low)


def extend_to(interval: Interval, value: float) -> Interval:
    """Return an interval with a value in it: one that is not rejected is, but for rounding."""
    return Interval(min(interval.low, value), max(interval.high, value))


def conclude(
    quantity: str,
    pvalue: float,
    alpha: float,
    alternative: Alternative,
    interval: Interval | None,
    value: float = 0.0,
    *,
    test: str,
    instead: str = "",
) -> str:
    """Return the conclusion of a test for a quantity, which is `value` under the hypothesis.

    What is not rejected is followed by the values that agree with the data, those of the interval if there is one; or
    by the sentence `instead`.
    """
    if math.isnan(pvalue):
        return _nothing_follows(quantity, test)
    p = _pvalue_text(pvalue, test)
    claim = f"{quantity} is {RELATIONS[alternative]} {value:g}"
    if pvalue < alpha:
        return f"At level {alpha:g}, {claim} ({p})."
    shown = f"At level {alpha:g}, it is not shown that {claim} ({p})"
    if instead:
        return f"{shown}; {instead}."
    if interval is None or math.isnan(interval.low):
        return f"{shown}."
    return f"{shown}; values from {interval.low:.3g} to {interval.high:.3g} agree with the data."


def conclude_on_several(quantity: str, pvalue: float, alpha: float, *, test: str) -> str:
    """Return the conclusion of a test for several numbers, which are all the same under the hypothesis."""
    if math.isnan(pvalue):
        return _nothing_follows(quantity, test)
    if pvalue < alpha:
        return f"At level {alpha:g}, {quantity} are not all the same ({_pvalue_text(pvalue, test)})."
    return f"At level {alpha:g}, it is not shown that any of {quantity} differ ({_pvalue_text(pvalue, test)})."


def _nothing_follows(quantity: str, test: str) -> str:
    return f"Nothing follows about {quantity}: {test} is undefined on this data."


def _pvalue_text(pvalue: float, test: str) -> str:
    return f"{test}: p = 0 to a float" if pvalue == 0 else f"{test}: p = {pvalue:.3g}"
