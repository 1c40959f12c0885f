from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import binomial_error_test
from fastevals.results import Interval
from tests.infer.significance.cases import CASES
from tests.reference.significance import binomial_pvalue, critical_errors
from tests.strategies import BOUNDED

ALTERNATIVES = ("greater", "less", "two-sided")
RATES = {0.1: Fraction(1, 10), 0.25: Fraction(1, 4), 0.3: Fraction(3, 10), 0.5: Fraction(1, 2), 0.9: Fraction(9, 10)}


@BOUNDED
@given(st.integers(1, 25), st.data(), st.sampled_from(list(RATES)), st.sampled_from(ALTERNATIVES))
def test_is_the_sum_of_binomial_chances(n: int, data: st.DataObject, rate: float, alternative: str) -> None:
    errors = data.draw(st.integers(0, n))
    result = binomial_error_test(errors, n, rate, alternative=alternative)
    expected = float(binomial_pvalue(errors, n, RATES[rate], alternative))
    assert result.pvalue == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert result.effect == errors / n


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n", "rate"), [(1, 0.3), (7, 0.3), (10, 0.5), (13, 0.1), (13, 0.9), (6, 0.0), (6, 1.0)])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_rejects_exactly_beyond_the_critical_value(n: int, rate: float, alternative: str, level: float) -> None:
    for errors in range(n + 1):
        result = binomial_error_test(errors, n, rate, alternative=alternative, confidence_level=level)
        if isinstance(result.critical_value, Interval):
            beyond = not result.critical_value.low <= errors <= result.critical_value.high
        else:
            beyond = errors > result.critical_value if alternative == "greater" else errors < result.critical_value
        assert result.rejected == beyond


@BOUNDED
@given(st.integers(1, 40), st.sampled_from(list(RATES)), st.sampled_from([(0.95, 20), (0.9, 10), (0.99, 100)]))
def test_the_critical_error_rate_is_that_of_the_book(n: int, rate: float, level: tuple[float, int]) -> None:
    result = binomial_error_test(0, n, rate, confidence_level=level[0])
    assert result.critical_error_rate == critical_errors(n, RATES[rate], Fraction(1, level[1])) / n


def test_published_figures() -> None:
    case = CASES["misclassified_16x10"]["expected"]
    for n, critical in case["critical_error_rate"].items():
        assert binomial_error_test(0, int(n), 0.3).critical_error_rate == critical
    one = binomial_error_test(5, 10, 0.3)
    assert one.tail_above == pytest.approx(case["tail_above_5"], abs=1e-10)
    assert one.pvalue == pytest.approx(case["p_value_of_5"], abs=1e-7)
    assert not one.rejected
    for k, n, rate, pvalue in CASES["binomial"]["rows"]:
        assert binomial_error_test(k, n, rate, alternative="two-sided").pvalue == pytest.approx(pvalue, rel=1e-10)


def test_the_worst_of_several_runs_is_corrected() -> None:
    case = CASES["misclassified_16x10"]
    worst = binomial_error_test(case["errors"], case["n"], 0.3)
    assert worst.n_errors == 5
    assert worst.n_runs == 16
    assert worst.pvalue == pytest.approx(case["expected"]["sidak_over_16"], abs=5e-4)
    assert worst.tail_above < 0.05 < worst.pvalue  # the course rejects by this p-value
    assert worst.conclusion.startswith("No significant evidence that the error rate of the most extreme of 16 runs is ")
    # Each run's level makes the joint level of all 16 equal to alpha.
    runs = [5] * 15
    for errors in range(11):
        result = binomial_error_test([errors, *runs[:1]], 10, 0.3)
        assert result.rejected == (result.statistic > result.critical_value)
    assert binomial_error_test([3], 10, 0.3).pvalue == binomial_error_test(3, 10, 0.3).pvalue


def test_of_several_runs_at_a_level_near_0() -> None:
    for level in (1e-16, 1e-17):  # alpha rounds to the float below 1, or to 1
        assert binomial_error_test([5, 3], 10, 0.3, confidence_level=level).rejected


def test_runs_of_different_sizes_go_by_their_pvalues() -> None:
    result = binomial_error_test([5, 60], [10, 150], 0.3)  # 50 % of 10 is weaker evidence than 40 % of 150
    assert (result.n_errors, result.n_samples) == (60, 150)


def test_false_alarms() -> None:
    """At most a share alpha of 40,000 tests at the edge of a true hypothesis rejects; 5 sd: 1 in 3 million."""
    rng = np.random.default_rng(5)
    errors = rng.binomial(200, 0.3, 40_000)
    by_count = {int(k): binomial_error_test(int(k), 200, 0.3).rejected for k in np.unique(errors)}
    rejected = np.mean([by_count[int(k)] for k in errors])
    assert rejected < 0.05 + 5 * np.sqrt(0.05 * 0.95 / errors.size)
    # Without the adjustment the worst of 16 runs would be rejected in 1 - 0.953^16 of the cases.
    worst = errors[:32_000].reshape(-1, 16)
    found = {int(k): binomial_error_test([int(k)] + [0] * 15, 200, 0.3).rejected for k in np.unique(worst.max(axis=1))}
    share = np.mean([found[int(k)] for k in worst.max(axis=1)])
    assert share < 0.05 + 5 * np.sqrt(0.05 * 0.95 / len(worst))


def test_two_sided_chances_are_compared_with_a_slack() -> None:
    """Probabilities equal up to rounding count as equal; otherwise p would be half as large (SciPy #13433)."""
    assert binomial_error_test(10_079_999, 21_000_000, 0.48, alternative="two-sided").pvalue == pytest.approx(1)
    assert binomial_error_test(10_079_990, 21_000_000, 0.48, alternative="two-sided").pvalue == pytest.approx(
        0.9966892187965
    )


def test_huge_test_sets_are_quick_and_right() -> None:
    result = binomial_error_test(300_600_000, 10**9, 0.3)
    assert result.rejected
    low, high = result.confidence_interval  # type: ignore[misc]
    assert low < 0.3006 < high == 1
    two = binomial_error_test(300_000_000, 10**9, 0.3, alternative="two-sided")
    assert two.pvalue == 1


def test_results_say_what_they_are() -> None:
    result = binomial_error_test(9, 10, 0.3)
    assert repr(result) == "BinomialResult(statistic=9, pvalue=0.0001437, effect=0.9, rejected=True)"
    assert result.conclusion == (
        "The error rate is significantly higher than 0.3: estimate 0.9 (95 % interval 0.606 to 1; binomial test, "
        "one-sided p = 0.000144)."
    )
    assert result.to_dict()["critical_error_rate"] == 0.5
    assert result.null is not None
    assert result.null.frozen().sf(8) == pytest.approx(result.pvalue)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((11, 10, 0.3), "n_errors must be from 0 to n_samples, got 11 of 10"),
        ((-1, 10, 0.3), "n_errors must be from 0 to n_samples, got -1 of 10"),
        ((1.5, 10, 0.3), "n_errors must be an integer, or integers, got 1.5"),
        ((True, 10, 0.3), "n_errors must be an integer"),
        ((1, 0, 0.3), "n_samples must be at least 1, got 0"),
        (([], 10, 0.3), "n_errors must be"),
        (([1, 2], [10], 0.3), r"n_samples has shape \(1,\), but n_errors has \(2,\)"),
        (([[1]], 10, 0.3), "n_errors must be one number or 1-D"),
        ((1, 10, 1.5), r"rate must be in \[0, 1\], got 1.5"),
        ((1, 10, np.nan), "rate must be in"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        binomial_error_test(*arguments)
