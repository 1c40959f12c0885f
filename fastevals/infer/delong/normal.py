"""The test of a number whose estimate is about normal, or Student's t, and how far its interval reaches."""

from __future__ import annotations

import math

from fastevals._validation.options import warn_degenerate
from fastevals.infer.significance.decision import NO_VARIANCE, build_result, check_alpha
from fastevals.results import Interval, Null, SignificanceResult, tail_probability


def normal_margins(alpha: float, alternative: str, df: float | None = None) -> tuple[float, float]:
    """Return the ends of an interval in standard errors from the estimate, infinite on a side left open.

    It is a normal one, or Student's t with so many degrees of freedom.
    """
    from scipy.special import ndtri, stdtrit

    tail = tail_probability(alpha, alternative)
    margin = -float(ndtri(tail) if df is None else stdtrit(df, tail))
    return (math.inf if alternative == "less" else margin, math.inf if alternative == "greater" else margin)


def z_test(
    what: str,
    effect: float,
    variance: float,
    bounds: tuple[float, float],
    *,
    alternative: str,
    confidence_level: float,
    df: float | None = None,
    test: str = "DeLong's test",
) -> SignificanceResult:
    """Test by DeLong's variance whether `what` is 0, by the normal distribution or t; the interval is within `bounds`.

    No variance is no doubt: Z is 0 for an effect of 0, else infinite.
    """
    from scipy.special import ndtr, stdtr

    alpha = check_alpha(confidence_level, alternative)
    error = math.sqrt(variance)
    if variance == 0:
        z = math.copysign(math.inf, effect) if effect else 0.0
        if effect:
            warn_degenerate(f"the test of {what}", "its estimated variance is 0, though its estimate isn't")
    else:
        z = effect / error
    tail = {"two-sided": -abs(z), "less": z, "greater": -z}[alternative]
    pvalue = float(ndtr(tail) if df is None else stdtr(df, tail)) * (2 if alternative == "two-sided" else 1)
    below, above = normal_margins(alpha, alternative, df)
    low = bounds[0] if below == math.inf else max(effect - below * error, bounds[0])
    high = bounds[1] if above == math.inf else min(effect + above * error, bounds[1])
    if math.isnan(z):
        low = high = math.nan
    return build_result(
        SignificanceResult, test, what, z, pvalue, -above if alternative == "less" else below,
        alternative=alternative, alpha=alpha, effect=effect, interval=Interval(low, high),
        instead=NO_VARIANCE if variance == 0 else "", df=df,
        null=Null("norm") if df is None else Null("t", (df,)),
    )  # fmt: skip
