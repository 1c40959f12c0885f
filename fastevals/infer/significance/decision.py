"""What tests have in common: levels, decisions, differences of measurements, and which pairs are compared.

They are scaled by a power of two before they are squared, so scores of 2^600 are as good as scores of 1; and those
that are equal up to rounding have no variance.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.options import check_choice, warn_degenerate
from fastevals._validation.tables import find_name
from fastevals.results import (
    ALTERNATIVES,
    Interval,
    NullDistribution,
    SignificanceResult,
    check_confidence_level,
    conclude,
    conclude_on_several,
    tail_probability,
)

Result = TypeVar("Result", bound=SignificanceResult)

SYMMETRIC = ("t", "norm")  # the others are of squares: only large values speak against the hypothesis


def check_alpha(confidence_level: float, alternative: str) -> float:
    """Check the options that all tests have; give the significance level."""
    check_choice("alternative", alternative, ALTERNATIVES)
    return check_confidence_level(confidence_level)[1]


def pvalues(statistic: Any, null: NullDistribution, alternative: str) -> Any:
    """Return the chance of statistics at least as extreme, an array's each; NaN of NaN."""
    if null.name not in SYMMETRIC:
        return null.sf(statistic)
    if alternative == "two-sided":
        return 2 * null.sf(np.abs(statistic))
    return null.sf(statistic) if alternative == "greater" else null.cdf(statistic)


def critical_value(null: NullDistribution, alternative: str, alpha: float) -> float:
    """Return where rejection begins."""
    if null.name not in SYMMETRIC:
        return float(null.isf(alpha))
    tail = tail_probability(alpha, alternative)
    return float(null.ppf(tail) if alternative == "less" else null.isf(tail))


def discrete_critical_value(low: float, largest: float, alternative: str) -> float | Interval:
    """Return the critical value of a statistic from 0 to `largest`, symmetric if the hypothesis holds: kept from `low`.

    That is for a test against smaller values; the others are its mirror image and both.
    """
    if alternative == "two-sided":
        return Interval(float(low), float(largest - low))
    return float(low if alternative == "less" else largest - low)


def extend_to(interval: Interval, value: float) -> Interval:
    """Return an interval with a value in it: one that is not rejected is, but for rounding."""
    return Interval(min(interval.low, value), max(interval.high, value))


def decide(
    test: str,
    what: str,
    statistic: float,
    null: NullDistribution,
    *,
    alternative: str = "two-sided",
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
        kind, test, what, float(statistic), pvalue, critical_value(null, alternative, alpha), alternative=alternative,
        alpha=alpha, interval=interval, value=value, df=df[0] if len(df) == 1 else df or None, null=null, **more,
    )  # fmt: skip


def build_result(
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
    null: NullDistribution | None = None,
    **more: Any,
) -> Result:
    """Return the result of a test of `what`, which is `value` if the hypothesis holds, and say what follows.

    With `of_all`, what are several numbers, all the same if it holds. `instead` is as for `conclude`; `more` are
    fields of the kind of result.
    """
    if of_all:
        conclusion = conclude_on_several(what, pvalue, alpha, test=test)
    else:
        conclusion = conclude(what, pvalue, alpha, alternative, interval, value, test=test, instead=instead)
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


Floats = NDArray[np.float64]

ROUNDING = 2.0**-50  # relative to the measurements: differences that vary by less are constant


class ScaledDifferences(NamedTuple):
    """Differences of paired measurements, along the last axis, in units of 2**exponent."""

    values: Floats
    exponent: NDArray[np.intc]


def scaled_differences(a: Floats, b: Floats) -> ScaledDifferences:
    """Return the differences, made equal where they differ by rounding only, and 0 where that is all they are.

    Arrays have shape (..., n). What rounding can do is relative to each pair by itself.
    """
    (a, b), exponent = scale_to_unit(a, b)
    values = a - b  # within [-2, 2]
    slack = ROUNDING * np.maximum(np.abs(a), np.abs(b))
    none = (np.abs(values) <= slack).all(axis=-1, keepdims=True)
    lowest, highest = (values - slack).max(axis=-1, keepdims=True), (values + slack).min(axis=-1, keepdims=True)
    same = np.where(none, 0.0, np.clip(values[..., :1], lowest, np.maximum(lowest, highest)))
    return ScaledDifferences(np.where(none | (lowest <= highest), same, values), exponent[..., 0])


def scale_to_unit(*arrays: Floats) -> tuple[list[Floats], NDArray[np.intc]]:
    """Return arrays in units of 2**exponent, below 1 along the last axis, and the exponent, of shape (..., 1)."""
    largest = np.max([np.abs(each).max(axis=-1, keepdims=True) for each in arrays], axis=0)
    exponent = np.frexp(largest)[1]
    return [np.ldexp(each, -exponent) for each in arrays], exponent


def ratio(effect: Floats, error: Floats) -> Floats:
    """Return effect / error: 0 / 0 is 0, no difference at all; else infinite where there is no error."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(effect == 0, 0.0, np.divide(effect, error))


def t_interval(effect: float, error: float, null: NullDistribution, alternative: str, alpha: float) -> Interval:
    """Return the effects that the test does not reject."""
    reach = critical_value(null, alternative, alpha) * error
    if alternative == "less":
        return Interval(-math.inf, effect - reach)
    return Interval(effect - reach, math.inf if alternative == "greater" else effect + reach)


def warn_if_constant(what: str, statistic: float) -> None:
    """Warn that a test is surer than the data allow."""
    if math.isinf(statistic):
        warn_degenerate(f"the test of {what}", "the differences are all the same, so their variance is 0")


def compared_pairs(names: tuple[Any, ...], reference: Any = None, *, argument: str = "reference") -> NDArray[np.intp]:
    """Return all pairs of models, or each other model's with the reference, as places in `names`."""
    if reference is None:
        return np.stack(np.triu_indices(len(names), 1), axis=1)
    place = find_name(argument, reference, names)
    return np.array([(k, place) for k in range(len(names)) if k != place], dtype=np.intp)
