"""Boundaries: compared with mixtures by numerical integration and with products of single predictions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals.infer.sequential.boundaries import (
    NARROWEST_RATIO,
    NormalEvidence,
    RateEvidence,
    log_rate_martingale,
    normal_limit,
)
from tests.parameters import quick
from tests.reference import sequences as reference
from tests.strategies import BOUNDED

SIDES = quick([False, True], False, True)
Z = 1.959963984540054


@pytest.mark.parametrize("one_sided", SIDES)
@pytest.mark.parametrize(("ratio", "alpha"), [(0.1, 0.05), (0.827, 0.1), (8.27, 0.05), (300.0, 0.001), (2.0, 0.7)])
def test_at_normal_limits_the_twin_is_one_over_alpha(ratio: float, alpha: float, one_sided: bool) -> None:
    found = float(normal_limit(ratio, alpha, one_sided=one_sided))
    assert reference.normal_mixture(found, ratio, one_sided=one_sided) == pytest.approx(1 / alpha, rel=1e-9)


def test_published_limit() -> None:
    # Robbins's boundary in closed form: the square of the limit is (1 + 1 / r) log((1 + r) / alpha**2)
    assert float(normal_limit(3.0, 0.05, one_sided=False)) == pytest.approx(math.sqrt(4 / 3 * math.log(4 / 0.0025)))


def test_the_ratio_at_which_sequences_are_narrowest() -> None:
    near = [float(normal_limit(NARROWEST_RATIO * each, 0.05, one_sided=False)) for each in (0.98, 1.0, 1.02)]
    assert near[1] == min(near)
    assert round(near[1] / Z, 2) == 1.55
    assert float(normal_limit(NARROWEST_RATIO / 10, 0.05, one_sided=False)) / Z < 2  # at the first look
    assert float(normal_limit(NARROWEST_RATIO * 36.5, 0.05, one_sided=False)) / Z < 2  # after a year of equal nights


@BOUNDED
@given(st.floats(1e-6, 1e9), st.floats(1e-6, 0.49), st.floats(1.01, 2.0))
def test_limits_grow_with_the_level_and_one_side_is_nearer(ratio: float, alpha: float, factor: float) -> None:
    one, two = (float(normal_limit(ratio, alpha, one_sided=one_sided)) for one_sided in (True, False))
    assert one < two
    for one_sided, limit in ((True, one), (False, two)):
        assert float(normal_limit(ratio, alpha / factor, one_sided=one_sided)) > limit
    assert two == pytest.approx(float(normal_limit(ratio, alpha / 2, one_sided=True)), rel=0.05)


def test_extreme_levels_have_limits() -> None:
    found = normal_limit([1e-9, 1.0, 1e12], 1 - 1e-12, one_sided=True)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert float(normal_limit(1.0, 1e-300, one_sided=True)) == pytest.approx(
        float(normal_limit(1.0, 2e-300, one_sided=False)), rel=1e-6
    )


# Scales ---------------------------------------------------------------------------------------------------------------


def moved(value: float, error: float, bounds: tuple[float, float]) -> tuple[float, float]:
    evidence = NormalEvidence(np.array([value]), np.array([error]), np.array([1.0]), bounds)
    low, high = evidence.fixed(0.025)
    return float(low[0]), float(high[0])


def test_scales_of_bounds() -> None:
    assert moved(0.3, 0.1, (-math.inf, math.inf)) == pytest.approx((0.3 - Z * 0.1, 0.3 + Z * 0.1))
    low, high = moved(0.9, 0.05, (0.0, 1.0))
    logit = math.log(9) + np.array([-1, 1]) * Z * 0.05 / 0.09
    assert (low, high) == pytest.approx(tuple(1 / (1 + np.exp(-logit))))
    low, high = moved(0.2, 0.05, (0.0, math.inf))
    assert (low, high) == pytest.approx((0.2 * math.exp(-Z / 4), 0.2 * math.exp(Z / 4)))
    assert moved(-0.2, 0.05, (-math.inf, 0.0)) == pytest.approx((-high, -low))
    low, high = moved(0.1, 0.05, (-1.0, 1.0))  # Fisher's z
    assert (low, high) == pytest.approx(tuple(np.tanh(math.atanh(0.1) + np.array([-1, 1]) * Z * 0.05 / 0.99)))


def test_estimates_at_a_bound_have_the_whole_range() -> None:
    assert moved(1.0, 0.1, (0.0, 1.0)) == (0.0, 1.0)
    assert moved(0.0, 0.1, (0.0, 1.0)) == (0.0, 1.0)
    low, high = moved(1 - 1e-12, 0.2, (0.0, 1.0))
    assert 0 <= low < high <= 1


# Rates ----------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 19), st.integers(1, 400))
def test_the_martingale_of_a_rate_is_the_product_of_predictions(outcomes: list[bool], part: int, prior: int) -> None:
    p, successes = Fraction(part, 20), sum(outcomes)
    found = float(log_rate_martingale(float(p), successes, len(outcomes) - successes, float(prior), one_sided=False))
    exact = reference.rate_martingale(p, outcomes, Fraction(prior))
    assert found == pytest.approx(math.log(exact), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("p", [0.1, 0.6])
def test_the_one_sided_martingale_equals_the_twin(p: float) -> None:
    found = math.exp(float(log_rate_martingale(p, 40, 10, 25.0, one_sided=True)))
    assert found == pytest.approx(reference.one_sided_rate_martingale(p, 40, 10, 25.0), rel=1e-8)


def test_the_expected_martingale_is_one() -> None:
    """Over all outcomes of ten trials, the mixtures of both kinds have expectation 1: this bounds the false alarms."""
    n, p = 10, 0.3
    k = np.arange(n + 1)
    chances = np.array([math.comb(n, each) * p**each * (1 - p) ** (n - each) for each in k])
    for one_sided in (False, True):
        martingales = np.exp(log_rate_martingale(p, k, n - k, 7.0, one_sided=one_sided))
        assert float(chances @ martingales) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("one_sided", SIDES)
@pytest.mark.parametrize(("successes", "failures"), [(18, 2), (3, 40)])
def test_at_limits_of_rates_the_twin_is_one_over_alpha(successes: int, failures: int, one_sided: bool) -> None:
    evidence = RateEvidence(np.array([float(successes)]), np.array([float(failures)]), 24.0)
    low, high = (float(each(0.05, one_sided=one_sided)[0]) for each in (evidence.low, evidence.high))
    assert 0 < low < successes / (successes + failures) < high < 1
    for p, counts in ((low, (successes, failures)), (1 - high, (failures, successes))):
        if one_sided:
            found = reference.one_sided_rate_martingale(p, *counts, 24.0)
        else:
            outcomes = [True] * counts[0] + [False] * counts[1]
            found = float(reference.rate_martingale(Fraction(p), outcomes, Fraction(24)))
        assert found == pytest.approx(20, rel=1e-7)


def test_limits_of_rates_without_successes_failures_or_trials() -> None:
    evidence = RateEvidence(np.array([0.0, 5.0, 0.0]), np.array([5.0, 0.0, 0.0]), 24.0)
    for one_sided in (False, True):
        low, high = evidence.low(0.05, one_sided=one_sided), evidence.high(0.05, one_sided=one_sided)
        assert (low[0], high[1]) == (0.0, 1.0)
        assert 0 < low[1] < 1
        assert high[0] == pytest.approx(1 - low[1])
        assert (low[2], high[2]) == (0.0, 1.0)


@pytest.mark.parametrize("one_sided", SIDES)
@BOUNDED
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 400)), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.05, 1e-6]), st.sampled_from([3.0, 240.0, 1e5]), st.sampled_from([1, 1000]),
)  # fmt: skip
def test_limits_of_rates_equal_those_by_halving(
    one_sided: bool, outcomes: list[tuple[int, int]], alpha: float, prior: float, factor: int
) -> None:
    successes, failures = (factor * np.array(each, float) for each in zip(*outcomes, strict=True))
    found = RateEvidence(successes, failures, prior).low(alpha, one_sided=one_sided)
    expected = reference.lowest_rates(successes, failures, prior, alpha, one_sided=one_sided)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-15)


@pytest.mark.parametrize("n", [1e6, 1e9, 1e12])
def test_many_trials_approach_the_normal_limits(n: float) -> None:
    evidence = RateEvidence(np.array([0.3 * n]), np.array([0.7 * n]), 1000.0)
    for one_sided in (False, True):
        z = float(normal_limit(n / 1000, 0.05, one_sided=one_sided))
        error = math.sqrt(0.21 / n)
        assert 0.3 - float(evidence.low(0.05, one_sided=one_sided)[0]) == pytest.approx(z * error, rel=0.02)
        assert float(evidence.high(0.05, one_sided=one_sided)[0]) - 0.3 == pytest.approx(z * error, rel=0.02)
