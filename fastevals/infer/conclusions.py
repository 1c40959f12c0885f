"""What follows from a test, in words."""

from __future__ import annotations

import math

from fastevals.measure.results import Interval

__all__ = ["NO_VARIANCE", "TOO_FEW", "conclusion_of", "conclusion_of_all"]

RELATION = {"two-sided": "other than", "less": "less than", "greater": "greater than"}
NO_VARIANCE = "with an estimated variance of 0 the data don't say which values agree with them"
TOO_FEW = "so few differences can't show it, whatever their signs"


def conclusion_of(
    what: str,
    pvalue: float,
    alpha: float,
    alternative: str,
    interval: Interval | None,
    value: float = 0.0,
    *,
    test: str,
    instead: str = "",
) -> str:
    """Say what follows by a test for `what`, which is `value` under the hypothesis.

    What is not rejected is followed by the values that agree with the data, those of the interval if there is one; or
    by what is to be said `instead`.
    """
    if math.isnan(pvalue):
        return _nothing_follows(what, test)
    p = _in_words(pvalue, test)
    claim = f"{what} is {RELATION[alternative]} {value:g}"
    if pvalue < alpha:
        return f"At level {alpha:g}, {claim} ({p})."
    shown = f"At level {alpha:g}, it is not shown that {claim} ({p})"
    if instead:
        return f"{shown}; {instead}."
    if interval is None or math.isnan(interval.low):
        return f"{shown}."
    return f"{shown}; values from {interval.low:.3g} to {interval.high:.3g} agree with the data."


def conclusion_of_all(what: str, pvalue: float, alpha: float, *, test: str) -> str:
    """Say what follows by a test for several numbers, `what`, that are the same under the hypothesis."""
    if math.isnan(pvalue):
        return _nothing_follows(what, test)
    if pvalue < alpha:
        return f"At level {alpha:g}, {what} are not all the same ({_in_words(pvalue, test)})."
    return f"At level {alpha:g}, it is not shown that any of {what} differ ({_in_words(pvalue, test)})."


def _nothing_follows(what: str, test: str) -> str:
    return f"Nothing follows about {what}: {test} is undefined on this data."


def _in_words(pvalue: float, test: str) -> str:
    return f"{test}: p = 0 to a float" if pvalue == 0 else f"{test}: p = {pvalue:.3g}"
