from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from fastevals import (
    SignificanceResult,
    UndefinedMetricWarning,
    corrected_resampled_t_test,
    error_rate_t_test,
    five_by_two_cv_f_test,
    five_by_two_cv_t_test,
    paired_t_test,
)
from tests.infer.significance.cases import CASES
from tests.reference.significance import five_by_two, t_squared
from tests.strategies import BOUNDED

measurements = st.lists(
    st.tuples(st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.25, 0.375, 1.0])),
    min_size=2,
    max_size=8,
)
ten = st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75]), min_size=20, max_size=20)

TESTS: dict[str, Callable[[Any, Any], SignificanceResult]] = {
    "paired": lambda a, b: paired_t_test(np.ravel(a), np.ravel(b)),
    "corrected": lambda a, b: corrected_resampled_t_test(np.ravel(a), np.ravel(b), n_train=90, n_test=10),
    "5x2cv first": five_by_two_cv_t_test,
    "5x2cv mean": lambda a, b: five_by_two_cv_t_test(a, b, numerator="mean"),
    "5x2cv F": five_by_two_cv_f_test,
}
SIGNED = [name for name in TESTS if name != "5x2cv F"]
A = np.array([[0.22, 0.24], [0.23, 0.21], [0.25, 0.22], [0.20, 0.23], [0.24, 0.22]])
B = np.array([[0.20, 0.25], [0.21, 0.20], [0.22, 0.20], [0.23, 0.20], [0.20, 0.23]])


@BOUNDED
@given(measurements)
def test_paired_t_is_exact_on_dyadic_differences(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    expected = t_squared((a - b).tolist(), Fraction(1, len(pairs)))
    corrected = t_squared((a - b).tolist(), Fraction(1, len(pairs)) + Fraction(1, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = paired_t_test(a, b)
        resampled = corrected_resampled_t_test(a, b, n_train=90, n_test=10)
    for found, square in ((result, expected), (resampled, corrected)):
        if square is None:
            assert abs(found.statistic) == (math.inf if a[0] != b[0] else 0)
            assert found.pvalue == (0 if a[0] != b[0] else 1)
        else:
            assert found.statistic == pytest.approx(
                math.copysign(math.sqrt(square), np.mean(a - b)), rel=1e-12, abs=1e-15
            )


@BOUNDED
@given(ten)
def test_five_by_two_is_exact_on_dyadic_differences(values: list[float]) -> None:
    a, b = np.array(values).reshape(2, 5, 2)
    d = a - b
    assume((d[:, 0] != d[:, 1]).any())
    first, mean, f = map(float, five_by_two(d.tolist()))
    assert five_by_two_cv_t_test(a, b).statistic == pytest.approx(math.copysign(math.sqrt(first), d[0, 0]), rel=1e-12)
    chapter = five_by_two_cv_t_test(a, b, numerator="mean").statistic
    assert chapter == pytest.approx(math.copysign(math.sqrt(mean), d[0].sum()), rel=1e-12)
    assert five_by_two_cv_f_test(a, b).statistic == pytest.approx(f, rel=1e-12)


def test_published_figures() -> None:
    sleep = CASES["t_tests"]
    result = paired_t_test(sleep["group1"], sleep["group2"])
    assert result.statistic == pytest.approx(sleep["expected"]["paired_t"], rel=1e-12)
    assert result.pvalue == pytest.approx(sleep["expected"]["paired_p"], rel=1e-10)

    case = CASES["five_by_two"]
    d, zero = np.array(case["differences"]), np.zeros((5, 2))
    dietterich, f = five_by_two_cv_t_test(d, zero), five_by_two_cv_f_test(d, zero)
    assert tuple(dietterich) == pytest.approx((case["expected"]["dietterich_t"], case["expected"]["dietterich_p"]))
    assert tuple(f) == pytest.approx((case["expected"]["alpaydin_F"], case["expected"]["alpaydin_p"]))
    assert five_by_two_cv_t_test(d, zero, numerator="mean").statistic == pytest.approx(1.5 * dietterich.statistic)

    case = CASES["misclassified_16x10"]
    rates = np.array(case["errors"]) / case["n"]
    for alternative, name in (("greater", "p_greater"), ("less", "p_less"), ("two-sided", "p_two_sided")):
        result = error_rate_t_test(rates, 0.3, alternative=alternative)
        assert result.statistic == pytest.approx(case["expected"]["t"], rel=1e-12)
        assert result.pvalue == pytest.approx(case["expected"][name], abs=5e-5)
    assert result.effect == pytest.approx(case["expected"]["mean_error_rate"])

    cameraman = CASES["psnr"]["data"]["Cameraman"]
    expected = CASES["psnr"]["expected"]["cameraman_mean_above_20"]["p_one_sided"]
    for values, pvalue in zip(cameraman.values(), expected, strict=True):
        assert error_rate_t_test(values, 20, alternative="greater").pvalue == pytest.approx(pvalue, rel=0.02)


@pytest.mark.parametrize(
    ("k", "alpha", "critical"),
    [(2, 0.05, 12.706), (5, 0.05, 2.776), (10, 0.05, 2.262), (20, 0.05, 2.093), (30, 0.05, 2.045),
     (2, 0.10, 6.314), (5, 0.10, 2.132), (10, 0.10, 1.833), (20, 0.10, 1.729), (30, 0.10, 1.699)],
)  # fmt: skip
def test_the_chapters_table_2_3(k: int, alpha: float, critical: float) -> None:
    result = error_rate_t_test(np.arange(k) / k, 0.3, confidence_level=1 - alpha)
    assert result.critical_value == pytest.approx(critical, abs=5e-4)
    assert result.df == k - 1


def test_the_chapters_critical_values_of_5x2cv() -> None:
    assert five_by_two_cv_t_test(A, B).critical_value == pytest.approx(2.5706, abs=5e-5)
    assert five_by_two_cv_t_test(A, B, confidence_level=0.9).critical_value == pytest.approx(2.0150, abs=5e-5)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_agrees_with_scipy(alternative: str) -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 30):
        a, b = rng.normal(0.2, 1, (2, n))
        peer = stats.ttest_rel(a, b, alternative=alternative)
        ours = paired_t_test(a, b, alternative=alternative)
        assert tuple(ours) == pytest.approx((peer.statistic, peer.pvalue), rel=1e-10)
        assert ours.confidence_interval == pytest.approx(tuple(peer.confidence_interval()), rel=1e-9)
        one = error_rate_t_test(a, 0.2, alternative=alternative)
        peer = stats.ttest_1samp(a, 0.2, alternative=alternative)
        assert tuple(one) == pytest.approx((peer.statistic, peer.pvalue), rel=1e-9)
        assert one.confidence_interval == pytest.approx(tuple(peer.confidence_interval()), rel=1e-9)
        low = error_rate_t_test(a, 0.2, alternative=alternative, confidence_level=0.2)
        assert low.confidence_interval == pytest.approx(tuple(peer.confidence_interval(0.2)), rel=1e-9)


ONE_BY_ONE: dict[str, Callable[..., SignificanceResult]] = {
    "paired": lambda a, b, **options: paired_t_test(a.ravel(), b.ravel(), **options),
    "rate": lambda a, b, **options: error_rate_t_test((a - b).ravel(), 0, **options),
    "5x2cv": five_by_two_cv_t_test,
}


@pytest.mark.parametrize("level", [0.95, 0.2])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_rejects_exactly_where_the_interval_leaves_out_the_hypothesis(
    name: str, alternative: str, level: float
) -> None:
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(25):
        a, b = rng.normal(0 if level < 0.5 else 1, 1, (5, 2)), rng.normal(0, 1, (5, 2))
        if alternative == "less":
            a, b = b, a
        result = ONE_BY_ONE[name](a, b, alternative=alternative, confidence_level=level)
        low, high = result.confidence_interval  # type: ignore[misc]
        assert result.rejected == (not low <= 0 <= high)
        t, critical = result.statistic, result.critical_value
        beyond = {"two-sided": abs(t) > critical, "less": t < critical, "greater": t > critical}  # type: ignore[operator]
        assert result.rejected == beyond[alternative]
        if level > 0.5 or alternative == "two-sided":
            assert low <= result.effect <= high  # type: ignore[operator]
        seen.add(result.rejected)
    assert seen == {True, False}


def test_a_rate_far_off_takes_no_digits() -> None:
    """Next to 1e6, a value of 0.0015 keeps only 7 digits."""
    values = np.random.default_rng(4).normal(0.0015, 1e-4, 9)
    near, far = error_rate_t_test(values, 0.0), error_rate_t_test(values, 1e6)
    assert far.effect == near.effect == pytest.approx(values.mean(), rel=1e-15)
    assert far.confidence_interval == near.confidence_interval
    error = values.std(ddof=1) / 3
    assert far.statistic == pytest.approx((values.mean() - 1e6) / error, rel=1e-12)
    assert math.isfinite(error_rate_t_test(values * 1e-8, 1e6).statistic)  # they differ, but not next to the rate
    assert error_rate_t_test([1.7e308, 1.6e308], -1.7e308).statistic == pytest.approx(67)


def test_measurements_that_are_the_rate_but_for_rounding() -> None:
    result = error_rate_t_test([0.1 + 0.2, 0.1 + 0.2], 0.3)
    assert tuple(result) == (0, 1)
    assert result.confidence_interval == (0.3, 0.1 + 0.2)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("exponent", [600, -600, 1000, -900])
def test_any_power_of_two_gives_the_same_bits(name: str, exponent: int) -> None:
    plain = TESTS[name](A, B)
    scaled = TESTS[name](np.ldexp(A, exponent), np.ldexp(B, exponent))
    assert tuple(scaled) == tuple(plain)
    assert scaled.effect == math.ldexp(plain.effect, exponent)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TESTS)
def test_accuracies_and_error_rates_say_the_same(name: str) -> None:
    errors, accuracies = TESTS[name](A, B), TESTS[name](1 - A, 1 - B)
    assert abs(accuracies.statistic) == pytest.approx(abs(errors.statistic), rel=1e-9)
    swapped = TESTS[name](B, A)
    assert swapped.statistic == (-errors.statistic if name in SIGNED else errors.statistic)
    assert swapped.pvalue == errors.pvalue


@pytest.mark.parametrize("name", TESTS)
def test_learners_that_do_not_differ(name: str) -> None:
    for a, b in ((A, A), (A, A + 1e-17), (np.full((5, 2), 0.1 + 0.2), np.full((5, 2), 0.3))):
        result = TESTS[name](a, b)
        assert tuple(result) == (0, 1)
        assert not result.rejected
        assert "equal" not in result.conclusion


@pytest.mark.parametrize("name", TESTS)
def test_a_constant_difference_is_infinite_with_p_0(name: str) -> None:
    for shift in (0.1, 1e-3, 0.3):  # rounding makes the differences differ
        with pytest.warns(UndefinedMetricWarning, match="degenerate: the differences are all the same"):
            result = TESTS[name](A + shift, A)
        assert tuple(result) == (math.inf, 0)
        assert result.rejected
        assert result.effect == pytest.approx(shift)
    with pytest.warns(UndefinedMetricWarning):
        assert TESTS[name](A, A + 1).statistic == (-math.inf if name in SIGNED else math.inf)


@pytest.mark.parametrize("odd", [0, 63, 64, 700, 999])
def test_one_difference_among_many_that_are_alike_is_seen(odd: int) -> None:
    a = 0.1 + np.arange(1000) % 7 / 10
    b = a + 0.3  # equal up to rounding
    with pytest.warns(UndefinedMetricWarning, match="the differences are all the same"):
        assert paired_t_test(b, a).pvalue == 0
    b[odd] += 2.0**-40
    assert np.isfinite(paired_t_test(b, a).statistic)
    b[:] = a
    b[odd] += 0.1
    assert paired_t_test(b, a).effect == pytest.approx(1e-4)


def test_a_pair_on_another_scale_does_not_hide_the_others() -> None:
    a, b = [1e16, 1, 2, 3, 4], [1e16, 0, 0, 1, 0]
    peer = stats.ttest_rel(a, b)
    assert tuple(paired_t_test(a, b)) == pytest.approx((peer.statistic, peer.pvalue), rel=1e-12)
    assert paired_t_test(a, b).effect == 1.8


def test_one_sided_and_constant() -> None:
    with pytest.warns(UndefinedMetricWarning):
        assert tuple(paired_t_test([1, 2, 3], [2, 3, 4], alternative="greater")) == (-math.inf, 1)
    with pytest.warns(UndefinedMetricWarning):
        assert tuple(error_rate_t_test([0.25, 0.25], 0.5)) == (-math.inf, 0)
    assert tuple(error_rate_t_test([0.25, 0.25], 0.25)) == (0, 1)


def test_the_correction_is_that_of_nadeau_and_bengio() -> None:
    plain = paired_t_test(A.ravel(), B.ravel())
    corrected = corrected_resampled_t_test(A.ravel(), B.ravel(), n_train=50, n_test=50)
    assert corrected.statistic == pytest.approx(plain.statistic * math.sqrt((1 / 10) / (1 / 10 + 1)), rel=1e-12)
    rates = error_rate_t_test(A.ravel(), 0.2, n_train=50, n_test=50)
    assert rates.statistic == pytest.approx(error_rate_t_test(A.ravel(), 0.2).statistic * math.sqrt(1 / 11), rel=1e-12)


@pytest.mark.slow
def test_pvalues_are_uniform_if_the_hypothesis_holds() -> None:
    """Apply Kolmogorov's test at 1e-6 to 1,000 p-values per test: one seed in a million fails, and the seed is fixed.

    The chapter's numerator is conservative: about 1.5 % at level 5 %.
    """
    rng = np.random.default_rng(17)
    data = rng.normal(0, 1, (3000, 2, 5, 2))
    for name in ("paired", "5x2cv first"):
        pvalues = [TESTS[name](a, b).pvalue for a, b in data[:1000]]
        assert stats.kstest(pvalues, "uniform").pvalue > 1e-6
    from fastevals.infer.significance.five_by_two import pairwise_five_by_two_f, pairwise_five_by_two_t

    a, b = data.reshape(3000, 2, 10).swapaxes(0, 1)
    share = np.mean(pairwise_five_by_two_t(a, b, "two-sided", "mean")[1] < 0.05)
    assert 0.005 < share < 0.03
    assert np.mean(pairwise_five_by_two_f(a, b, "two-sided")[1] < 0.05) < 0.06  # Alpaydin's F is slightly conservative


def test_inputs_stay_and_other_types_give_the_same() -> None:
    a, b = A.ravel().astype(np.float32), B.ravel().astype(np.float32)
    a.flags.writeable = False
    expected = tuple(paired_t_test(a.astype(np.float64), b.astype(np.float64)))
    assert tuple(paired_t_test(a, b)) == expected
    assert tuple(paired_t_test(a.astype(">f4")[::-1], b[::-1])) == pytest.approx(expected, rel=1e-12)
    assert tuple(paired_t_test([True, False, True], [0, 0, 0])) == tuple(paired_t_test([1, 0, 1], [0, 0, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t_test([1.0], [2.0]), "a must have at least 2 measurements, got 1"),
        (lambda: paired_t_test([1, 2], [1, 2, 3]), "b has 3 rows, but a has 2"),
        (lambda: paired_t_test([1, np.nan], [1, 2]), "a must be finite, but has 1 NaN value, the first at row 1"),
        (lambda: paired_t_test([1, 2], [1, np.inf]), "b must be finite"),
        (lambda: paired_t_test(A, B), "a must be 1-D"),
        (lambda: paired_t_test("ab", [1, 2]), "a must"),
        (lambda: paired_t_test([1, 2], [2, 4], alternative="more"), "alternative must be one of"),
        (lambda: paired_t_test([1, 2], [2, 4], confidence_level=95), r"confidence_level must be in \(0, 1\), got 95"),
        (lambda: error_rate_t_test([0.1, 0.2], np.inf), "rate must be in"),
        (lambda: error_rate_t_test([0.1, 0.2], 0.1, n_train=5), "n_test must be an integer, got None"),
        (lambda: corrected_resampled_t_test([1, 2], [2, 4], n_train=0, n_test=1), "n_train must be an integer"),
        (lambda: five_by_two_cv_t_test(A.T, B.T), r"a must have shape \(5, 2\), one row per repetition, got \(2, 5\)"),
        (lambda: five_by_two_cv_t_test(A, B, numerator="all"), "numerator must be one of 'first', 'mean'"),
        (lambda: five_by_two_cv_f_test(A, B + np.nan), "b must be finite"),
    ],
)  # fmt: skip
def test_bad_input(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_measurements_near_the_largest_float_do_not_overflow() -> None:
    """Overflowing results are infinite, without a NumPy warning."""
    large, small = [1e308, -1e308, 1e308, 1e307] * 2 + [1e308, 1e307], [-1e308, 1e308, -1e308, 1e306] * 2 + [0.0, 1.0]
    result = paired_t_test(large, small)
    unit = paired_t_test(np.array(large) / 2.0**100, np.array(small) / 2.0**100)
    assert (result.statistic, result.pvalue) == (unit.statistic, unit.pvalue)
    apart = paired_t_test([1e308, -1e308], [-1e308, 1e308])
    assert (apart.statistic, apart.confidence_interval) == (0.0, (-np.inf, np.inf))
    for test in (five_by_two_cv_t_test, five_by_two_cv_f_test):
        assert np.isfinite(test(np.reshape(large, (5, 2)), np.reshape(small, (5, 2))).pvalue)
    assert np.isfinite(error_rate_t_test(large, 0.3).statistic)
