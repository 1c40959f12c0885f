"""From a statistic and its distribution under the hypothesis to a result."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from fastevals import _validation as check
from fastevals.infer.conclusions import conclusion_of, conclusion_of_all
from fastevals.infer.results import ALTERNATIVES, Null, SignificanceResult, level_of, tail_of
from fastevals.measure.results import Interval

__all__ = ["SYMMETRIC", "alpha_of", "critical_value", "decide", "holding", "kept_from", "pvalues", "result_of"]

Result = TypeVar("Result", bound=SignificanceResult)

SYMMETRIC = ("t", "norm")  # the others are of squares: only large values speak against the hypothesis


def alpha_of(confidence_level: float, alternative: str) -> float:
    """Check the options that all tests have; give the significance level."""
    check.check_choice("alternative", alternative, ALTERNATIVES)
    return level_of(confidence_level)[1]


def pvalues(statistic: Any, null: Null, alternative: str) -> Any:
    """Give the chance of statistics at least as extreme, an array's each; NaN of NaN."""
    if null.name not in SYMMETRIC:
        return null.sf(statistic)
    if alternative == "two-sided":
        return 2 * null.sf(np.abs(statistic))
    return null.sf(statistic) if alternative == "greater" else null.cdf(statistic)


def critical_value(null: Null, alternative: str, alpha: float) -> float:
    """Give where rejection begins."""
    if null.name not in SYMMETRIC:
        return float(null.isf(alpha))
    tail = tail_of(alpha, alternative)
    return float(null.ppf(tail) if alternative == "less" else null.isf(tail))


def kept_from(low: float, largest: float, alternative: str) -> float | Interval:
    """Give the critical value of a statistic from 0 to `largest`, symmetric if the hypothesis holds: kept from `low`.

    That is for a test against smaller values; the others are its mirror image and both.
    """
    if alternative == "two-sided":
        return Interval(float(low), float(largest - low))
    return float(low if alternative == "less" else largest - low)


def holding(interval: Interval, value: float) -> Interval:
    """Give an interval with a value in it: one that is not rejected is, but for rounding."""
    return Interval(min(interval.low, value), max(interval.high, value))


def decide(
    test: str,
    what: str,
    statistic: float,
    null: Null,
    *,
    alternative: str = "two-sided",
    alpha: float,
    pvalue: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    kind: type[Result] = SignificanceResult,  # type: ignore[assignment]
    **more: Any,
) -> Result:
    """Give the result of a test whose statistic has a continuous distribution, and an interval of what isn't rejected.

    A p-value may be given where the distribution is too rough. More is as for `result_of`.
    """
    if pvalue is None:
        pvalue = float(pvalues(statistic, null, alternative))
    if interval is not None and pvalue >= alpha:
        interval = holding(interval, value)
    df = tuple(map(int, null.parameters))
    return result_of(
        kind, test, what, float(statistic), pvalue, critical_value(null, alternative, alpha), alternative=alternative,
        alpha=alpha, interval=interval, value=value, df=df[0] if len(df) == 1 else df or None, null=null, **more,
    )  # fmt: skip


def result_of(
    kind: type[Result],
    test: str,
    what: str,
    statistic: float,
    pvalue: float,
    critical: float | Interval,
    *,
    alternative: str = "two-sided",
    alpha: float,
    effect: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    instead: str = "",
    of_all: bool = False,
    df: float | tuple[int, ...] | None = None,
    null: Null | None = None,
    **more: Any,
) -> Result:
    """Give the result of a test of `what`, which is `value` if the hypothesis holds, and say what follows.

    With `of_all`, what are several numbers, all the same if it holds. `instead` is as for `conclusion_of`; `more` are
    fields of the kind of result.
    """
    if of_all:
        conclusion = conclusion_of_all(what, pvalue, alpha, test=test)
    else:
        conclusion = conclusion_of(what, pvalue, alpha, alternative, interval, value, test=test, instead=instead)
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
