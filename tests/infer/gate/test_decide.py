"""Decisions on rules: pass, fail and undecided at their levels, and what would decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import pytest

from fastevals.infer.gate.decide import Levels, decide
from fastevals.infer.gate.rules import parse_rule


@dataclass
class Normal:
    """Evidence with normal bounds."""

    value: float
    standard_error: float
    method: str = "normal"
    caution: str = ""
    why_none: str = ""
    fixed_error: float = 0.0
    widening: float = 1.0
    n_replicates: int = 0
    is_sum: bool = False

    def why_unbounded(self, level):
        return ""

    def bound(self, level, side):
        reach = NormalDist().inv_cdf(level) * self.standard_error
        return self.value - reach if side == "low" else self.value + reach


def outcome(text, value, error=0.01, n_comparisons=1):
    return decide(parse_rule(text), [Normal(value, error)], Levels.of(0.95, n_comparisons)).outcome


@pytest.mark.parametrize(
    ("text", "passes", "undecided", "fails"),
    [
        ("roc_auc >= 0.8", 0.817, 0.816, 0.783),
        ("brier <= 0.2", 0.183, 0.184, 0.217),
        ("roc_auc not worse than a by 0.005", 0.0115, 0.0114, -0.0215),
        ("brier not worse than a by 0.005", -0.0115, -0.0114, 0.0215),
        ("roc_auc better than a", 0.0165, 0.0164, -0.0165),
        ("roc_auc equivalent to a within 0.02", 0.003, 0.004, 0.037),
        ("predicted/observed within 0.9 .. 1.1", 1.083, 1.084, 1.117),
    ],
)
def test_a_rule_passes_if_its_bounds_are_inside_and_fails_if_they_are_outside(text, passes, undecided, fails):
    assert [outcome(text, each) for each in (passes, undecided, fails)] == ["pass", "undecided", "fail"]


def test_failing_is_simultaneous_and_passing_is_not():
    """The bound that passes has one level; the bound that fails has 1 - 0.05 / n."""
    assert outcome("roc_auc >= 0.8", 0.817, n_comparisons=10) == "pass"
    found = decide(parse_rule("roc_auc >= 0.8"), [Normal(0.78, 0.01)], Levels.of(0.95, 10))
    assert found.outcome == "undecided"
    assert "simultaneous" in found.reason
    assert found.level == 0.995
    assert found.interval.high == pytest.approx(0.78 + 2.5758 * 0.01, abs=1e-6)
    assert outcome("roc_auc >= 0.8", 0.774, n_comparisons=10) == "fail"


def test_equal_models_are_not_better_but_not_worse():
    """Bounds without a width, of models that are identical."""
    assert outcome("roc_auc better than a", 0.0, 0.0) == "undecided"
    assert outcome("roc_auc not worse than a by 0", 0.0, 0.0) == "pass"
    assert outcome("roc_auc equivalent to a within 0.01", 0.0, 0.0) == "pass"


def test_without_bounds_a_rule_is_undecided_for_a_reason():
    found = decide(
        parse_rule("roc_auc >= 0.8"),
        [Normal(0.9, 0.01, why_none="only 31 positives: bounds need at least 50")],
        Levels(0.95, 0.95),
    )
    assert (found.outcome, found.reason) == ("undecided", "only 31 positives: bounds need at least 50")
    found = decide(parse_rule("roc_auc >= 0.8"), [Normal(0.9, math.nan)], Levels(0.95, 0.95))
    assert (found.outcome, found.reason) == ("undecided", "there is no interval")


def test_undecided_rules_say_what_would_decide():
    z = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(0.8)
    found = decide(parse_rule("roc_auc not worse than a by 0.005"), [Normal(0.001, 0.01)], Levels(0.95, 0.95))
    assert found.detectable == pytest.approx(z * 0.01)
    assert found.assumed == 0
    assert found.times_rows == pytest.approx((z * 0.01 / 0.005) ** 2)
    assert found.reason == "the interval includes -0.005"
    # With so many times the rows, a model that equals the other passes in 80 % of samples.
    error = 0.01 / math.sqrt(found.times_rows)
    assert NormalDist(0, error).cdf(-0.005 + NormalDist().inv_cdf(0.95) * error) == pytest.approx(0.2)
    found = decide(parse_rule("roc_auc >= 0.8"), [Normal(0.81, 0.01)], Levels(0.95, 0.95))
    assert (found.assumed, found.times_rows) == (0.81, pytest.approx(z**2))
    found = decide(parse_rule("roc_auc >= 0.8 assuming 0.82"), [Normal(0.81, 0.01)], Levels(0.95, 0.95))
    assert (found.assumed, found.times_rows) == (0.82, pytest.approx((z / 2) ** 2))


def test_a_relative_equivalence_needs_both_conditions():
    rule = parse_rule("rmse equivalent to a within 10%")
    inside, outside = Normal(0.5, 0.01), Normal(0.001, 0.01)
    assert decide(rule, [inside, Normal(-0.5, 0.01)], Levels(0.95, 0.95)).outcome == "pass"
    assert decide(rule, [inside, outside], Levels(0.95, 0.95)).outcome == "undecided"
    assert decide(rule, [Normal(-0.5, 0.01), outside], Levels(0.95, 0.95)).outcome == "fail"
    near = decide(rule, [inside, Normal(-0.1, 0.01)], Levels(0.95, 0.95))
    assert (near.outcome, near.value) == ("pass", -0.1)  # the condition that is closest to failing is printed
