"""Deviances against scikit-learn's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import fastevals.metrics
from fastevals.metrics import (
    d2_tweedie_score,
    mean_gamma_deviance,
    mean_poisson_deviance,
    mean_squared_error,
    mean_tweedie_deviance,
)
from tests.metrics.test_scores import beside, complaint
from tests.parameters import quick
from tests.reference import regression as reference
from tests.strategies import BOUNDED

POWERS = (-3, -1.5, -1, 0, 1, 1.01, 1.3, 1.5, 1.7, 1.99, 2, 2.5, 3, 7.0)
TWEEDIE = ("mean_tweedie_deviance", "d2_tweedie_score")
NAMES = (*TWEEDIE, "mean_poisson_deviance", "mean_gamma_deviance")


def numbers(seed, n, power):
    """Draw targets and predictions that are valid for a power, and weights."""
    rng = np.random.default_rng(seed)
    true = np.exp(rng.normal(size=n))
    predicted = true * np.exp(rng.normal(size=n) / 2)
    if power < 2:
        true[rng.random(n) < 0.2] = 0
    if power < 1:
        true -= (rng.random(n) < 0.2) * rng.random(n)
    return true, predicted, rng.random(n)


@pytest.mark.cases(2)
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("n", quick([2, 30, 150_000], 30))
def test_beside_scikit_learn(n, power):
    true, predicted, weights = numbers(n, n, power)
    if power < 2:
        true[0] = 1.5
    for name in TWEEDIE:
        beside(name, true, predicted, power=power, rtol=1e-10)
        beside(name, true, predicted, power=power, sample_weight=weights, rtol=1e-10)
    if power in (1, 2):
        beside("mean_poisson_deviance" if power == 1 else "mean_gamma_deviance", true, predicted)


@BOUNDED
@given(
    st.sampled_from(POWERS),
    st.lists(st.sampled_from((0.5, 1.0, 1.0 + 2**-52, 2.0, 3.0, 1e-3, 1e5)), min_size=2, max_size=6),
    st.integers(0, 99),
)
def test_ties_and_perfect_predictions(power, values, seed):
    rng = np.random.default_rng(seed)
    true = np.array(values)
    predicted = rng.permutation(true) if seed % 3 else true.copy()
    if power < 2:
        true[rng.random(true.size) < 0.3] = 0
    theirs = sklearn.metrics.mean_tweedie_deviance(true, predicted, power=power)
    rounding = 1e-11 * max(1.0, *np.concatenate((true[true > 0], predicted)) ** (2.0 - power))  # rounding of the terms
    assert mean_tweedie_deviance(true, predicted, power=power) == pytest.approx(theirs, rel=1e-11, abs=rounding)
    if (true == predicted).all():
        assert mean_tweedie_deviance(true, predicted, power=power) == 0.0


@pytest.mark.parametrize("power", POWERS)
def test_units(power):
    """A change of the targets' unit multiplies the deviance by a power of the unit."""
    true, predicted, _ = numbers(3, 50, power)
    for unit in (2.0**-30, 2.0**40):
        expected = mean_tweedie_deviance(true, predicted, power=power) * unit ** (2.0 - power)
        assert mean_tweedie_deviance(true * unit, predicted * unit, power=power) == pytest.approx(expected, rel=1e-11)


@pytest.mark.cases(4)
@pytest.mark.parametrize("power", [*POWERS, 1 + 1e-9, 1.499, 2 - 1e-9, 2 + 1e-9])
def test_deviances_to_their_last_digits(power):
    rng = np.random.default_rng(5)
    for p in (1.0, 0.3, 7e5, 4e-9):
        for off in (1e-15, 1e-9, 1e-5, 0.01, 0.2, 0.41, 0.42, 0.5, 3.0, 1e9):
            for ratio in (1 + off, 1 / (1 + off), 1 + off * rng.random()):
                y = p * ratio
                exact = reference.deviance(y, p, power)
                digits = 1 + abs(2 - power) * abs(math.log(p)) + abs(2 - power) * abs(math.log(ratio))
                assert mean_tweedie_deviance([y], [p], power=power) == pytest.approx(exact, rel=4e-15 * digits)
    assert mean_poisson_deviance([1.0], [1 + 1e-9]) == pytest.approx(1.0000001643e-18, rel=1e-9)


@pytest.mark.cases(2)
@pytest.mark.parametrize("power", [1, 1.3, 1.5, 1.7, 2, 2.5, 3])
def test_numbers_of_all_sizes(power):
    """Test ratios that overflow, or nearly, and neighbouring floats near the limits."""
    true = [1e-200, 1e200, 1e-3, 1e150, 1.0, 5e-324, 1e300, 1e300, 1e-305, 1.7e308, 1e300, 0.0]
    predicted = [1e200, 1e-200, 1e3, 1e-150, 1.0, 1e-300, 1e305, 1e300 * (1 + 1e-9), 1.001e-305, 1e-300, 1e100, 1e-320]
    rows = [(y, p) for y, p in zip(true, predicted, strict=True) if y or power < 2]
    exact = [reference.deviance(y, p, power) for y, p in rows]
    for (y, p), each in zip(rows, exact, strict=True):
        assert mean_tweedie_deviance([y], [p], power=power) == pytest.approx(each, rel=2e-12)
    for some in (rows[::2][:2], [(2.0, 2.0 + 2**-40), (5e-324, 1e-300)]):
        weights = [1.0, 2.0]
        expected = sum(w * reference.deviance(*row, power) for row, w in zip(some, weights, strict=True)) / 3
        y, p = zip(*some, strict=True)
        assert mean_tweedie_deviance(y, p, power=power, sample_weight=weights) == pytest.approx(expected, rel=2e-12)
    far = mean_tweedie_deviance([2.0, 1e300], [2.0 + 2**-40, 1e-300], power=power, sample_weight=[1, 0])
    assert far == pytest.approx(reference.deviance(2.0, 2.0 + 2**-40, power), rel=1e-14)
    whole = mean_poisson_deviance([0.0, 1e-320, 3.0], [1e-320, 2.0, 1e10])
    assert whole == pytest.approx(mean_poisson_deviance([0.0, 0.0, 3.0], [0.0 + 5e-324, 2.0, 1e10]), rel=1e-12)


def test_numbers_near_the_largest():
    for extra in ([], [1.0]):
        true, predicted, rows = [1.7e308, *extra], [1.3e308, *extra], 1 + len(extra)
        log = math.log(17 / 13)
        exact = 2 * (1.7e308 / rows * log - 0.4e308 / rows)
        assert mean_poisson_deviance(true, predicted) == pytest.approx(exact, rel=1e-11)
        assert mean_gamma_deviance(true, predicted) == pytest.approx(2 * (4 / 13 - log) / rows, rel=1e-11)
    assert mean_tweedie_deviance([1.3e308], [1e300], power=3) == pytest.approx(1.3e-292, rel=1e-7)


@pytest.mark.parametrize("power", [1.3, 1.5, 2, 3])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5]])
def test_targets_whose_sum_is_past_the_floats(power, weights):
    true, predicted = np.array([1.7e308, 1e308, 3e307]), np.array([1e308, 1.2e308, 5e307])
    options = {"power": power, "sample_weight": weights}
    expected = d2_tweedie_score(true * 2.0**-900, predicted * 2.0**-900, **options)
    assert d2_tweedie_score(true, predicted, **options) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "?", ">f8"])
def test_numbers_of_all_types(dtype):
    true, predicted = np.array([1, 1, 3, 2, 1]).astype(dtype), np.array([1, 2, 1, 2, 3]).astype(dtype)
    for name in NAMES:
        call = getattr(fastevals.metrics, name)
        if name == "d2_tweedie_score" and dtype == "?":
            continue
        assert call(true, predicted) == pytest.approx(call(true.astype(float), predicted.astype(float)), rel=1e-15)


def test_power_zero_is_the_squared_error():
    true, predicted, weights = numbers(1, 40, 0)
    expected = mean_squared_error(true, predicted, sample_weight=weights)
    assert mean_tweedie_deviance(true, predicted, sample_weight=weights) == expected


@pytest.mark.parametrize("power", POWERS)
def test_constant_targets_explain_nothing(power):
    true = np.full(11, 0.1)  # NumPy rounds their mean to another number
    for predicted, expected in ((true, math.nan), (true + 1, -math.inf)):
        with pytest.warns(fastevals.UndefinedMetricWarning, match="y_true does not deviate from its mean"):
            assert str(d2_tweedie_score(true, predicted, power=power)) == str(expected)


def test_one_row():
    beside("d2_tweedie_score", [1.5], [-1.0], power=3)
    assert complaint("d2_tweedie_score", [np.nan], [1.0]).count("contains NaN") == 2


@pytest.mark.parametrize(
    ("power", "true", "predicted"),
    [
        (-1, [1, -1], [1, 0]),
        (-0.5, [1, 1], [1, -2]),
        (1, [1, -1], [1, 1]),
        (1, [1, 0], [1, 0]),
        (1.5, [1, -1], [1, 1]),
        (1.3, [1, -1], [1, 1]),
        (1.3, [1, 1], [1, 0]),
        (2.5, [1, 0], [1, 1]),
        (2.5, [1, 1], [1, -1]),
        (1.5, [1, 1], [1, 0]),
        (2, [1, 0], [1, 1]),
        (2, [-1, -1], [-1, -1]),
        (2.0, [1, 1], [0, 1]),
        (3, [0, 1], [1, 1]),
        (3, [1, 1], [1, -1]),
    ],
)
def test_numbers_that_a_power_does_not_take(power, true, predicted):
    for name in TWEEDIE:
        words = f"Mean Tweedie deviance error with power={power} can only be used on "
        for weights in (None, [1, 0], [0, 1]):
            text = complaint(name, true, predicted, power=power, sample_weight=weights)
            assert text.count(words) == 2
            mine, theirs = text.split("\n")
            assert mine.startswith(theirs)
            assert f"The smallest y_true is {min(true)}, the smallest y_pred {min(predicted)}." in mine


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([1, 2], [1, 2, 3]), {}, "inconsistent numbers of samples: [2, 3]"),
        (([[1, 2]] * 2, [[1, 2]] * 2), {}, "Multioutput not supported in "),
        (([1, np.nan], [1, 2]), {}, "contains NaN"),
        (([1, 2], [1, np.inf]), {}, "contains infinity"),
        (([1, 2], [1, 2]), {"sample_weight": [1, np.nan]}, "Input sample_weight contains NaN"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_errors(name, args, options, words):
    assert complaint(name, *args, **options).count(words) == 2


@pytest.mark.parametrize("power", [0.5, "1", None, math.nan])
@pytest.mark.parametrize("name", TWEEDIE)
def test_no_power(name, power):
    mine, theirs = complaint(name, [1, 2], [1, 2], power=power).split("\n")
    assert mine == theirs
