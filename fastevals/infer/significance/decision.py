"""From a statistic and its distribution under the hypothesis to a result."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.results import ALTERNATIVES, Null, SignificanceResult, conclusion_of, conclusion_of_all, level_of
from fastevals.measure.results import Interval

__all__ = ["SYMMETRIC", "alpha_of", "critical_value", "decide", "pvalues"]

Floats = NDArray[np.float64]
Result = TypeVar("Result", bound=SignificanceResult)

SYMMETRIC = ("t", "norm")  # the others are of squares: only large values speak against the hypothesis


def alpha_of(confidence_level: float, alternative: str) -> float:
    """Check the options that all tests have; give the significance level."""
    check.check_choice("alternative", alternative, ALTERNATIVES)
    return level_of(confidence_level)[1]


def pvalues(statistic: Any, null: Null, alternative: str) -> Any:
    """Give the chance of statistics at least as extreme, an array's each; NaN of NaN."""
    distribution = null.frozen()
    if null.name not in SYMMETRIC:
        return distribution.sf(statistic)
    if alternative == "two-sided":
        return 2 * distribution.sf(np.abs(statistic))
    return distribution.sf(statistic) if alternative == "greater" else distribution.cdf(statistic)


def critical_value(null: Null, alternative: str, alpha: float) -> float:
    """Give where rejection begins."""
    distribution = null.frozen()
    if null.name not in SYMMETRIC or alternative == "greater":
        return float(distribution.isf(alpha))
    return float(distribution.isf(alpha / 2) if alternative == "two-sided" else distribution.ppf(alpha))


def decide(
    test: str,
    what: str,
    statistic: float,
    null: Null,
    *,
    alternative: str = "two-sided",
    alpha: float,
    effect: float | None = None,
    interval: Interval | None = None,
    value: float = 0.0,
    no_variance: bool = False,
    of_all: bool = False,
    kind: type[Result] = SignificanceResult,  # type: ignore[assignment]
    **more: Any,
) -> Result:
    """Give the result of a test whose statistic has a continuous distribution: `what` is `value` if it holds.

    With `of_all`, what are several numbers, all the same if it holds.
    """
    pvalue = float(pvalues(statistic, null, alternative))
    if of_all:
        conclusion = conclusion_of_all(what, pvalue, alpha)
    else:
        conclusion = conclusion_of(what, pvalue, alpha, alternative, interval, value, no_variance=no_variance)
    df = tuple(map(int, null.parameters))
    return kind(
        statistic=float(statistic),
        pvalue=pvalue,
        critical_value=critical_value(null, alternative, alpha),
        df=None if not df else df[0] if len(df) == 1 else df,  # type: ignore[arg-type]
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
