"""Medians and quantiles against scikit-learn's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals.metrics import d2_absolute_error_score, d2_pinball_score, mean_pinball_loss, median_absolute_error
from tests.metrics.test_scores import beside, complaint
from tests.parameters import quick
from tests.strategies import BOUNDED, DYADIC_WEIGHTS

ALPHAS = (0, 0.0, 0.1, 0.25, 0.29, 0.5, 0.57, 0.9, 1, 1.0)
ALPHA_METRICS = ("mean_pinball_loss", "d2_pinball_score")


@pytest.mark.cases(25)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n", [2, 3, 10, 101])
def test_every_alpha(n, alpha):
    rng = np.random.default_rng(n)
    true, predicted, weights = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.random(n)
    for name in ALPHA_METRICS:
        for row_weights in (None, weights, np.round(4 * weights) + 1):
            beside(name, true, predicted, alpha=alpha, multioutput="raw_values", sample_weight=row_weights)
            beside(name, true.round(), predicted, alpha=alpha, sample_weight=row_weights)


@BOUNDED
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from((*DYADIC_WEIGHTS, 0.1, 0.2, 0.3))),
        min_size=2,
        max_size=9,
    ),
    st.sampled_from(ALPHAS),
)
def test_ties_and_weights_of_zero(rows, alpha):
    true, predicted, weights = map(np.array, zip(*rows, strict=True))
    weights[0] += 1
    for row_weights in (None, weights):
        beside("median_absolute_error", true, predicted, sample_weight=row_weights)
        beside("d2_absolute_error_score", true, predicted, sample_weight=row_weights)
        beside("d2_pinball_score", true, predicted, alpha=alpha, sample_weight=row_weights)


def of_many_rows():
    rng = np.random.default_rng(0)
    n = 200_000
    normal = rng.normal(size=n)
    yield "normal", normal
    yield "ties", normal.round()
    yield "one value", np.ones(n)
    yield "two values", np.repeat([1.0, 2.0], n // 2)
    yield "ascending", np.sort(normal)
    misleading = normal.copy()
    misleading[:: n // 8192] += 100.0  # the entire sample
    yield "a sample that misleads", misleading
    yield "float32", normal.astype(np.float32)
    yield "integers", (10 * normal).astype(np.int64)


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "kind", quick(dict(of_many_rows()), "normal", "ties", "one value", "a sample that misleads", "integers")
)
def test_brackets(kind):
    true = dict(of_many_rows())[kind]
    rng = np.random.default_rng(1)
    predicted = np.zeros(true.size) if kind != "ascending" else rng.normal(size=true.size)
    exact = true.astype(np.float64)
    for weights in (None, rng.integers(0, 3, true.size), rng.random(true.size)):
        for name in ("median_absolute_error", "d2_absolute_error_score"):
            beside(name, exact, predicted, sample_weight=weights, rtol=1e-10)
        for alpha in (0.0, 0.001, 0.9, 1.0):
            beside("d2_pinball_score", exact, predicted, sample_weight=weights, alpha=alpha, rtol=1e-10)
    assert median_absolute_error(true, predicted) == median_absolute_error(exact, predicted)


def test_quantiles_of_any_size():
    assert median_absolute_error([1.7e308] * 4, [0.5e308, 0.6e308, 0.7e308, 0.8e308]) == pytest.approx(1.05e308)
    assert median_absolute_error([1e308, 1e308], [-1e308, -1e308]) == math.inf
    assert median_absolute_error([5e-324, 5e-324], [0.0, 0.0]) == 5e-324
    true, predicted = np.array([1.0, 2.0, 4.0, 9.0]), np.array([1.5, 2.0, 3.0, 7.0])
    for unit in (1e-300, 1e307):
        for alpha in (0.1, 0.5):
            expected = d2_pinball_score(true, predicted, alpha=alpha)
            assert d2_pinball_score(true * unit, -predicted * -unit, alpha=alpha) == pytest.approx(expected)
    assert d2_absolute_error_score([-1.7e308, 1.7e308, 0], [1.7e308, -1.7e308, 0]) == pytest.approx(-1)
    assert mean_pinball_loss([1.7e308, 0], [-1.7e308, 0]) == math.inf


def test_errors_at_half_of_the_weight():
    assert median_absolute_error([1, 2, 5], [0, 0, 0], sample_weight=[1, 1, 2]) == 3.5
    assert median_absolute_error([1, 2, 3, 5], [0, 0, 0, 0], sample_weight=[1, 1, 0, 2]) == 3.5
    assert median_absolute_error([1, 2, 5], [0, 0, 0], sample_weight=[1e-300, 1e-300, 2e-300]) == 3.5


@pytest.mark.parametrize("unit", [1, 0.3, 0.1, 0.7, 0.001, 1 / 3, 3e-300, 7e300])
def test_the_unit_of_weights_makes_no_difference(unit):
    assert median_absolute_error([0.0] * 10, range(10), sample_weight=[unit] * 10) == 4.5
    assert median_absolute_error([1, 2, 5], [0, 0, 0], sample_weight=np.array([1, 2, 3]) * unit) == 3.5
    rng = np.random.default_rng(7)
    errors = rng.permutation(40_000) / 8  # several parts, searched by brackets
    weights = rng.integers(0, 4, errors.size)
    order = np.argsort(errors)
    reached = 2 * np.cumsum(weights[order])
    at, after = (int(np.searchsorted(reached, reached[-1] // 2, side)) for side in ("left", "right"))
    expected = (errors[order][at] + errors[order][after]) / 2
    assert median_absolute_error(errors, np.zeros(errors.size), sample_weight=weights * unit) == expected
    assert median_absolute_error([1, 2, 5], [0, 0, 0], sample_weight=[2**51 - 1, 1, 2**51 - 1]) == 2


@pytest.mark.parametrize("alpha", [-0.1, 1.1, "0.5", None, math.nan])
@pytest.mark.parametrize("name", ALPHA_METRICS)
def test_no_alpha(name, alpha):
    mine, theirs = complaint(name, [1, 2], [1, 2], alpha=alpha).split("\n")
    assert mine == theirs


def test_one_row_that_is_not_finite():
    assert complaint("d2_pinball_score", [1.0], [math.nan]).count("contains NaN") == 2
