"""Decide a rule: pass, fail or undecided, with the interval that was used and what would decide it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from fastevals._text import limit_text
from fastevals.infer.gate.evidence import Evidence
from fastevals.infer.gate.rules import Condition, GateRule
from fastevals.results import Interval

Outcome = Literal["pass", "fail", "undecided"]
OUTCOMES: tuple[Outcome, ...] = ("fail", "undecided", "pass")  # the worst first
INCLUDES = "the interval includes"
POWER = 0.8  # of the smallest detectable difference, and of the number of rows that are lacking


class Levels(NamedTuple):
    """The levels of one-sided bounds.

    A gate passes only if each rule passes, so a rule passes at its own level. It fails if any rule fails, so the
    bounds that make rules fail are simultaneous over all comparisons: all rules, and the segments of each (Bonferroni).
    """

    passing: float
    failing: float

    @classmethod
    def of(cls, level: float, n_comparisons: int) -> Levels:
        """Return the levels for a number of comparisons that may each fail."""
        return cls(level, 1 - (1 - level) / max(n_comparisons, 1))


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a rule holds in all rows, or in one segment.

    Attributes
    ----------
    outcome : {"pass", "fail", "undecided"}
        The decision.
    value : float
        The judged quantity: the metric, or the difference from the other model.
    interval : Interval
        The bounds that decided: each end is one-sided, at `level`. For rules that fail, and for undecided rules that
        would fail without the correction for several comparisons, the level is simultaneous.
    level : float
        Level of each end of the interval.
    allowed : Interval
        The range in which the rule wants the quantity.
    method : str
        How the bounds were made.
    reason : str
        Why the rule is undecided; empty otherwise.
    detectable : float
        Smallest distance from the nearest end of `allowed` at which a true value inside passes in 80 % of samples.
    times_rows : float
        How many times as many rows would decide an undecided rule with a power of 80 %, if the true value is
        `assumed`; infinite if no number of rows decides, NaN if it is unknown.
    assumed : float
        The true value that `times_rows` assumes.
    caution : str
        Why the bounds may be wrong more often than their level says; empty if there is no known reason.
    factor : float
        The judged quantity is the metric minus `factor` times the other model's; not 1 if the margin is a percentage.
    n_replicates : int
        Bootstrap replicates that made the bounds; 0 if none did.
    """

    outcome: Outcome
    value: float
    interval: Interval
    level: float
    allowed: Interval
    method: str
    reason: str = ""
    detectable: float = math.nan
    times_rows: float = math.nan
    assumed: float = math.nan
    caution: str = ""
    factor: float = 1.0
    n_replicates: int = 0


def decide(rule: GateRule, evidence: Sequence[Evidence], levels: Levels) -> Decision:
    """Decide a rule by the evidence on each of its conditions."""
    decisions = [
        _decide(rule, condition, each, levels) for condition, each in zip(rule.conditions(), evidence, strict=True)
    ]
    return worst(decisions)


def worst(decisions: Sequence[Decision]) -> Decision:
    """Return the worst of several decisions; of those with the same outcome, the closest to failing."""

    def rank(each: Decision) -> tuple[int, float]:
        gaps = [each.interval.low - each.allowed.low, each.allowed.high - each.interval.high]
        return OUTCOMES.index(each.outcome), min((gap for gap in gaps if math.isfinite(gap)), default=math.inf)

    return min(decisions, key=rank)


def worst_outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of several that must all pass."""
    return min(outcomes, key=OUTCOMES.index)


def _decide(rule: GateRule, condition: Condition, evidence: Evidence, levels: Levels) -> Decision:
    allowed = Interval(condition.low, condition.high)
    found: dict[str, Any] = {
        "allowed": allowed, "method": evidence.method, "caution": evidence.caution, "factor": condition.factor,
        "n_replicates": evidence.n_replicates,
    }  # fmt: skip
    if evidence.why_none:
        nowhere = Interval(math.nan, math.nan)
        return Decision("undecided", evidence.value, nowhere, levels.passing, reason=evidence.why_none, **found)
    inner, outer = (
        Interval(evidence.bound(level, "low"), evidence.bound(level, "high"))
        for level in (levels.passing, levels.failing)
    )
    if any(map(math.isnan, (*inner, *outer))):
        return Decision("undecided", evidence.value, inner, levels.passing, reason="there is no interval", **found)
    if outer.high < allowed.low or outer.low > allowed.high:
        return Decision("fail", evidence.value, outer, levels.failing, **found)
    is_above = inner.low > allowed.low if rule.is_strict else inner.low >= allowed.low
    is_below = inner.high < allowed.high if rule.is_strict else inner.high <= allowed.high
    if is_above and is_below:
        return Decision("pass", evidence.value, inner, levels.passing, **found)
    if few := evidence.why_unbounded(levels.passing):
        return Decision("undecided", evidence.value, inner, levels.passing, reason=few, **found)
    lacking = _lacking(condition, rule, evidence, levels)
    if inner.high < allowed.low or inner.low > allowed.high:
        reason = "the rule would fail on its own, but not at the level that is simultaneous over all comparisons"
        if few := evidence.why_unbounded(levels.failing):
            reason = f"{reason}; {few}"
        return Decision("undecided", evidence.value, outer, levels.failing, reason=reason, **found, **lacking)
    ends = [end for end in allowed if inner.low <= end <= inner.high and math.isfinite(end)]
    reason = f"{INCLUDES} {' and '.join(map(limit_text, ends))}"
    return Decision("undecided", evidence.value, inner, levels.passing, reason=reason, **found, **lacking)


def _lacking(condition: Condition, rule: GateRule, evidence: Evidence, levels: Levels) -> dict[str, Any]:
    """Return the smallest detectable difference, and how many times as many rows would decide."""
    from scipy.special import ndtri

    error, value = evidence.standard_error, evidence.value
    is_range = math.isfinite(condition.low) and math.isfinite(condition.high)
    power = 1 - (1 - POWER) / 2 if is_range else POWER
    reach = float(evidence.widening * ndtri(levels.passing) + ndtri(power)) * error
    found: dict[str, Any] = {"detectable": reach}
    if not reach > 0 or evidence.is_sum:
        return found
    is_equal = rule.other is not None and rule.form != "better than" and condition.factor == 1
    assumed = 0.0 if is_equal else value  # equal models: not the estimate, which is uncertain
    if rule.assumed is not None and condition.factor == 1:
        assumed = rule.assumed
    distance = min(abs(assumed - end) for end in condition[:2] if math.isfinite(end))
    if not condition.low <= assumed <= condition.high:
        reach = float(evidence.widening * ndtri(levels.failing) + ndtri(POWER)) * error
    left = (error * distance / reach) ** 2 - evidence.fixed_error**2  # variance that decides, of these rows
    times = (error**2 - evidence.fixed_error**2) / left if left > 0 else math.inf
    return found | {"times_rows": times, "assumed": assumed}
