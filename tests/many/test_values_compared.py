"""Comparison of each value with the mean of the others: exact on small data, and its family-wise error."""

from __future__ import annotations

import numpy as np
import pytest

from fastevals.many.values_compared import compare_with_others

EQUAL = np.full(4, 0.1), np.full(4, 101.0), np.full(4, 100.0)


def test_it_is_the_difference_from_the_weighted_mean_of_the_others() -> None:
    values, weights = np.array([0.5, 0.7, 0.9]), np.array([1.0, 1.0, 2.0])
    found = compare_with_others(values, np.full(3, 0.1), np.full(3, 50.0), weights, 0.05)
    for k in range(3):
        others = [j for j in range(3) if j != k]
        assert found.others[k] == pytest.approx(np.average(values[others], weights=weights[others]))
    np.testing.assert_allclose(found.differences, values - found.others)
    np.testing.assert_allclose(found.intervals.mean(axis=1), found.differences)


def test_intervals_and_adjusted_p_agree() -> None:
    for step in np.linspace(0.0, 1.0, 41):
        found = compare_with_others(np.array([0.0, 0.0, 0.0, step]), *EQUAL, 0.05)
        low, high = found.intervals[3]
        assert (found.adjusted_pvalues[3] < 0.05) == (low > 0 or high < 0) == bool(found.is_higher[3])


def test_values_without_a_standard_error_are_left_out() -> None:
    values, errors = np.array([0.1, 0.2, 0.3, np.nan, 9.0]), np.array([0.1, 0.1, 0.1, 0.1, 0.0])
    found = compare_with_others(values, errors, np.full(5, 20.0), np.full(5, 20.0), 0.05)
    assert found.n_compared == 3
    assert np.isnan(found.differences[3:]).all()
    kept = compare_with_others(values[:3], errors[:3], np.full(3, 20.0), np.full(3, 20.0), 0.05)
    np.testing.assert_array_equal(found.adjusted_pvalues[:3], kept.adjusted_pvalues)


def test_one_value_is_compared_with_nothing() -> None:
    one = np.array([0.5])
    found = compare_with_others(one, one, np.array([9.0]), one, 0.05)
    assert found.n_compared == 0
    assert not found.is_lower.any()
    assert np.isnan(found.pvalue_of_equality)


def test_equal_values_seldom_differ() -> None:
    rng, n = np.random.default_rng(0), 400
    found = 0
    for _ in range(n):
        values = rng.normal(size=30) / 10
        each = compare_with_others(values, np.full(30, 0.1), np.full(30, 300.0), np.full(30, 1000.0), 0.05)
        found += bool((each.is_lower | each.is_higher).any())
    assert found / n <= 0.08
