"""Errors of predicted numbers against scikit-learn's."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import fastevals.metrics
from fastevals import num_threads
from fastevals.metrics import (
    _outputs,
    d2_absolute_error_score,
    explained_variance_score,
    max_error,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
    root_mean_squared_log_error,
)
from tests.metrics.test_scores import beside, complaint
from tests.strategies import BOUNDED, EXAMPLES

LOG_ERRORS = ("mean_squared_log_error", "root_mean_squared_log_error")
ERRORS = (
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    *LOG_ERRORS,
    "median_absolute_error",
    "mean_pinball_loss",
)
D2 = ("d2_absolute_error_score", "d2_pinball_score")
VARIANCES = ("r2_score", "explained_variance_score")
METRICS = (*ERRORS, *D2, *VARIANCES)
SEEDS = range(EXAMPLES // 4)


def numbers(seed, shape, name=""):
    """Draw targets, predictions and weights that are valid for a metric."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=shape)
    predicted = true + rng.normal(size=shape)
    weights = rng.random(shape if isinstance(shape, int) else shape[0])
    return *(map(np.expm1, (true, predicted)) if name in LOG_ERRORS else (true, predicted)), weights


@pytest.mark.cases(1)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_one_output(name, seed):
    true, predicted, weights = numbers(seed, [2, 3, 17, 1000][seed % 4], name)
    weights[0] *= true.size == 2  # with one weighted row scikit-learn's variance is a rounding error
    for option in ("uniform_average", "raw_values"):
        beside(name, true, predicted, multioutput=option)
        beside(name, true, predicted, multioutput=option, sample_weight=weights, rtol=1e-11)
    beside(name, true[:, np.newaxis], predicted, sample_weight=weights, rtol=1e-11)
    beside(name, true.tolist(), predicted.tolist())


@pytest.mark.parametrize("option", ["uniform_average", "raw_values", "variance_weighted", [0.2, 0.3, 0.5], None])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_many_outputs(name, seed, option):
    if (name != "r2_score" and option is None) or (name not in VARIANCES and option == "variance_weighted"):
        option = np.array([0, 1, 2])
    true, predicted, weights = numbers(seed, (40, 3), name)
    beside(name, true, predicted, multioutput=option)
    beside(name, np.asfortranarray(true), predicted.tolist(), multioutput=option, sample_weight=weights, rtol=1e-11)


@pytest.mark.cases(8)
@pytest.mark.parametrize("name", METRICS)
def test_many_rows(name):
    for shape in (300_000, (70_000, 4)):
        true, predicted, weights = numbers(1, shape, name)
        beside(name, true, predicted, rtol=1e-10)
        beside(name, true, predicted, sample_weight=weights, rtol=1e-10)


@pytest.mark.cases(10)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", [*METRICS, "max_error"])
def test_many_calls_of_kernels(name, order, monkeypatch):
    """Simulate a hundred million rows: 64 chunks, with several kernel calls each."""
    monkeypatch.setattr(_outputs, "AT_ONCE", 1 << 9)
    monkeypatch.setattr(_outputs, "COLUMN", 1 << 8)
    for shape in (40_000,) if name == "max_error" else (40_000, (20_000, 3)):
        true, predicted, weights = numbers(1, shape, name)
        true[-1] += 40.0  # the largest error is the last one
        true, predicted = (np.asarray(each, order=order) for each in (true, predicted))
        for option in [{}] if name == "max_error" else [{}, {"sample_weight": weights}]:
            with num_threads(1):
                alone = beside(name, true, predicted, **option, rtol=1e-10)
            with num_threads(3):
                assert getattr(fastevals.metrics, name)(true, predicted, **option) == alone


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("option", ["uniform_average", "raw_values", "variance_weighted"])
@pytest.mark.parametrize("name", VARIANCES)
def test_constant_targets(name, option, finite):
    true = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 4.0]])
    predicted = np.array([[1.0, 1.0, 1.5], [1.0, 2.0, 2.0], [1.0, 1.0, 3.0]])
    with np.errstate(all="ignore"):
        for columns in ([0], [1], [2], [0, 1], [0, 2], [0, 1, 2]):
            beside(name, true[:, columns], predicted[:, columns], multioutput=option, force_finite=finite)
            weights = [0.3, 0.5, 0.0]
            beside(name, true[:, columns], predicted[:, columns], multioutput=option, sample_weight=weights)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("name", VARIANCES)
def test_means_far_from_the_guess(name, order):
    """The sample from which the origin is guessed misleads, so the squares are summed again."""
    rng = np.random.default_rng(3)
    weights = np.where(np.arange(1500) % 4, 1.0, 1e-12)
    for outputs in (3, 1):
        true = np.array(rng.normal(size=(1500, 3)), order=order)
        true[::4, :outputs] += 1e9  # all sampled rows
        predicted = true + rng.normal(size=true.shape)
        beside(name, true, predicted, rtol=1e-12)
        beside(name, true, predicted, sample_weight=weights, multioutput="raw_values", rtol=1e-9)
    wide = np.array(rng.normal(size=(50, 3000)), order=order)
    beside(name, wide, wide + 1.0, multioutput="raw_values", rtol=1e-10)
    beside("mean_squared_error", wide, wide[::-1], multioutput="raw_values")


def test_targets_are_constant_when_they_are_equal():
    true = np.full(11, 0.1)  # NumPy rounds their mean to another number
    assert r2_score(true, true + 1e-9) == 0.0
    assert r2_score(true, true) == 1.0
    assert r2_score([0.3, 0.1, 0.1], [0, 0, 0], sample_weight=[0, 0.7, 0.2]) == 0.0
    assert r2_score(true, true + 1, force_finite=False) == -math.inf
    assert r2_score(np.arange(9) + 1e12, np.arange(9) + 1e12) == 1.0
    assert r2_score(np.arange(9) + 1e9, np.arange(9) + 1e9 + 0.5) == pytest.approx(1 - 0.25 / (60 / 9), rel=1e-9)


@pytest.mark.parametrize("name", VARIANCES)
def test_perfect_predictions(name):
    for largest in (0.75, 1.0, 3.0, 1e200):  # with and without a unit for squares
        true = np.linspace(-1, 1, 9) * largest
        assert getattr(fastevals.metrics, name)(true, true) == 1.0


def test_one_row():
    for name in ERRORS:
        beside(name, [1.5], [1.0])
    for name in (*D2, *VARIANCES):
        beside(name, [1.5], [1.0])


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u1", "i8", "?", ">f8", ">i2", "u8"])
@pytest.mark.parametrize("name", METRICS)
def test_numbers_of_all_types(name, dtype):
    true = np.array([0, 1, 1, 0, 1, 3]).astype(dtype)
    predicted = np.array([1, 1, 0, 0, 1, 0]).astype(dtype)
    call = getattr(fastevals.metrics, name)
    assert call(true, predicted) == pytest.approx(call(true.astype(float), predicted.astype(float)), rel=1e-15)
    assert isinstance(call(true, predicted), float)


def test_containers():
    true, predicted, weights = numbers(2, 30)
    expected = mean_squared_error(true, predicted, sample_weight=weights)
    for make in (pd.Series, pl.Series, list, lambda values: pd.Series(values, dtype="Float64")):
        assert mean_squared_error(make(true), make(predicted), sample_weight=make(weights)) == expected
    assert mean_squared_error(np.repeat(true, 2)[::2], predicted, sample_weight=weights) == expected
    frame = pd.DataFrame({"a": true, "b": predicted})
    expected = pytest.approx(mean_squared_error(true, predicted), rel=1e-15)
    assert mean_squared_error(frame, frame[["b", "a"]]) == expected


@pytest.mark.parametrize("name", VARIANCES)
@pytest.mark.parametrize("unit", [1e300, 1e-300, 1e160])
def test_variances_of_any_size(name, unit):
    true, predicted, weights = numbers(3, (50, 2))
    call = getattr(fastevals.metrics, name)
    for options in ({}, {"sample_weight": weights}, {"multioutput": "variance_weighted"}):
        assert call(true * unit, predicted * unit, **options) == pytest.approx(
            call(true, predicted, **options), rel=1e-9
        )


@pytest.mark.parametrize("name", [*VARIANCES, *D2])
def test_rows_without_weight_set_no_unit(name):
    """However large their values are, the other rows' errors do not underflow."""
    call = getattr(fastevals.metrics, name)
    true, predicted, weights = [1.0, 1.0, 1.7e308], [1e-300, 1.0, -1e308], [1.0, 1.0, 0.0]
    assert call(true, predicted, sample_weight=weights) == 0.0


@pytest.mark.parametrize("name", ["mean_squared_error", "r2_score"])
def test_few_rows_of_many_outputs_take_little_memory(name):
    call = getattr(fastevals.metrics, name)
    rng = np.random.default_rng(4)
    true, predicted = rng.normal(size=(2, 2, 20_000))
    expected = call(true, predicted, multioutput="raw_values")
    true, predicted = np.asfortranarray(true), np.asfortranarray(predicted)
    tracemalloc.start()
    found = call(true, predicted, multioutput="raw_values")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert peak < 20 * true.nbytes


def test_errors_are_constant_when_they_are_equal():
    true = np.arange(9) / 8
    assert explained_variance_score(true, true - 0.5) == 1.0
    assert explained_variance_score(np.ones(11), np.full(11, 0.9)) == 1.0
    assert math.isnan(explained_variance_score(np.ones(11), np.full(11, 0.9), force_finite=False))
    assert explained_variance_score(np.ones(3), [1, 1, 2], force_finite=False) == -math.inf


@pytest.mark.parametrize("name", LOG_ERRORS)
def test_log_errors_of_any_size(name):
    root = name.startswith("root")
    call = getattr(fastevals.metrics, name)
    for numbers_of in (
        [1e300, 1e-300, 0.0],
        [1e-8, -0.9999999999999999, 1e12],
        [-0.0, 1e-300, 1e308],
        [1.7e308, 2.0, 1.0, 1.3e308],
        [5e-324] * 3,
    ):
        true, predicted = np.array(numbers_of), np.array(numbers_of[::-1])
        exact = np.mean((np.log1p(true) - np.log1p(predicted)) ** 2)
        assert call(true, predicted) == pytest.approx(math.sqrt(exact) if root else exact, rel=1e-13)
    assert call([1e-9, 5.0], [0.0, 5.0]) == pytest.approx(1e-9 / math.sqrt(2) if root else 5e-19, rel=1e-8)
    assert call(np.arange(5.0), np.arange(5.0)) == 0.0
    assert root_mean_squared_log_error([1e-300, 1e-300], [0, 0]) == pytest.approx(1e-300)


@pytest.mark.parametrize("value", [-1, -1.5])
@pytest.mark.parametrize("name", LOG_ERRORS)
def test_log_errors_of_what_has_no_log(name, value):
    words = "Mean Squared Logarithmic Error cannot be used when targets contain values less than or equal to -1."
    for args in (([value, 2], [1, 2]), ([1, 2], [1, value]), ([value, value], [value, value])):
        assert complaint(name, *args).count(words) == 2
        assert complaint(name, *args, sample_weight=[0, 1] if args[0][0] == value else [1, 0]).count(words) == 2


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_largest_error(dtype):
    rng = np.random.default_rng(7)
    for n in (1, 5, 200_000):
        true, predicted = (rng.integers(0, 200, n).astype(dtype) for _ in range(2))
        largest = max_error(true, predicted)
        assert largest == np.abs(true.astype(float) - predicted).max()
        assert isinstance(largest, float)
    beside("max_error", [3, 2, 7, 1], [[4], [2], [7], [1]])
    assert complaint("max_error", [[1, 2]], [[1, 2]]).count("Multioutput not supported in max_error") == 2
    assert complaint("max_error", [1, np.nan], [1, 2]).count("contains NaN") == 2
    assert max_error([1.7e308, 0], [-1.7e308, 0]) == math.inf


def test_relative_errors_of_targets_near_zero():
    for true in ([0.0, 1.0], [1e-17, -1e-300], [5e-324, 1e300]):
        beside("mean_absolute_percentage_error", true, [1.0, 2.0])
    beside("mean_absolute_percentage_error", [0.0, 0.0], [0.0, 0.0])


@BOUNDED
@given(
    st.sampled_from(METRICS),
    arrays(
        np.float64,
        st.tuples(st.integers(2, 6), st.integers(1, 3)),
        elements=st.sampled_from((0.0, 0.25, 0.5, 3.0, 8.0)),
    ),
    st.integers(0, 99),
    st.sampled_from(("f4", "f8", "i8")),
)
def test_ties_and_zeros(name, true, seed, dtype):
    rng = np.random.default_rng(seed)
    true = true.astype(dtype)
    predicted = rng.permuted(true, axis=0) if seed % 3 else true.copy()
    with np.errstate(all="ignore"):
        for weights in (None, rng.integers(0, 3, len(true)) + (np.arange(len(true)) == 0)):
            options = {"multioutput": "raw_values", "sample_weight": weights}
            found = beside(name, true.astype(np.float64), predicted.astype(np.float64), **options)
            np.testing.assert_allclose(getattr(fastevals.metrics, name)(true, predicted, **options), found, rtol=1e-15)


def test_sums_that_overflow_are_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mean_squared_error([1e200, 0], [-1e200, 0]) == math.inf


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([1, 2], [1, 2, 3]), {}, "inconsistent numbers of samples: [2, 3]"),
        (([[1, 2]], [[1, 2, 3]]), {}, "y_true and y_pred have different number of output (2!=3)"),
        (([1, np.nan], [1, 2]), {}, "contains NaN"),
        (([1, 2], [1, np.inf]), {}, "contains infinity"),
        (([1, 2], [1, 2]), {"multioutput": "most"}, "The 'multioutput' parameter of"),
        (([1, 2], [1, 2]), {"multioutput": [1]}, "Custom weights are useful only in multi-output cases"),
        (([[1, 2]] * 2, [[1, 2]] * 2), {"multioutput": [1]}, "There must be equally many custom weights (1) as"),
        (([1, 2], [1, 2]), {"sample_weight": [1, np.nan]}, "Input sample_weight contains NaN"),
        (([1, 2], [1, 2]), {"sample_weight": [1, 2, 3]}, "inconsistent numbers of samples"),
        (([[[1]]], [[[1]]]), {}, "Found array with dim 3, while dim <= 2 is required"),
        (([[], []], [[], []]), {}, "Found array with 0 feature(s) (shape=(2, 0)) while a minimum of 1 is required"),
        (([], []), {}, "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required"),
    ],
)
@pytest.mark.parametrize("name", METRICS)
def test_errors(name, args, options, words):
    if name == "root_mean_squared_error" and options.get("multioutput") == [1]:
        pytest.skip("scikit-learn's has no such error")
    assert complaint(name, *args, **options).count(words) >= 2


def test_weights_of_outputs_are_a_vector():
    for name in ("mean_squared_error", "root_mean_squared_error"):
        with pytest.raises(ValueError, match=r"equally many custom weights \(2, 1\) as outputs \(2\)"):
            getattr(fastevals.metrics, name)([[1, 2]], [[1, 3]], multioutput=[[1], [2]])


def test_errors_say_where():
    with pytest.raises(ValueError, match=r"Input y_pred contains NaN\. There is 1, the first at row 1, column 0"):
        mean_squared_error([[1, 2], [3, 4]], [[1, 2], [np.nan, 4]])
    with pytest.raises(ValueError, match=r"sample_weight must not be negative, got -1\.0 at row 0"):
        mean_squared_error([1, 2], [1, 2], sample_weight=[-1, 1])


LONG = (
    ([2**53 + 1, 1], [2**53, 1]),
    ([2**62 + 1, -(2**62), 7], [2**62 - 2, 3 - 2**62, 2**62 + 5]),
    ([2**63 + 12, 2**63 + 1], [2**63 + 3, 5]),
    ([-(2**63), 2**63 - 1, 0], [2**63 - 1, -(2**63), 2**53 + 1]),
)


@pytest.mark.parametrize(("true", "predicted"), LONG)
def test_integers_that_a_float_rounds(true, predicted):
    rows = [(Fraction(y), Fraction(p)) for y, p in zip(true, predicted, strict=True)]
    errors = [y - p for y, p in rows]
    sizes, n = sorted(map(abs, errors)), len(rows)
    assert max_error(true, predicted) == float(sizes[-1])
    assert mean_absolute_error(true, predicted) == pytest.approx(float(sum(sizes) / n), rel=1e-15)
    assert median_absolute_error(true, predicted) == float((sizes[(n - 1) // 2] + sizes[n // 2]) / 2)
    square = sum(each * each for each in errors) / n
    assert mean_squared_error(true, predicted) == pytest.approx(float(square), rel=1e-15)
    assert mean_squared_error([true, true[::-1]], [predicted, predicted[::-1]]) == pytest.approx(float(square))
    assert root_mean_squared_error(true, predicted, sample_weight=[1] * n) == pytest.approx(float(square) ** 0.5)
    mean, off = sum(y for y, _ in rows) / n, sum(errors) / n
    variance = sum((y - mean) ** 2 for y, _ in rows) / n
    assert r2_score(true, predicted) == pytest.approx(float(1 - square / variance), rel=1e-14)
    explained = 1 - (square - off * off) / variance
    assert explained_variance_score(true, predicted) == pytest.approx(float(explained), rel=1e-14)
    middle = sorted(y for y, _ in rows)[n // 2]
    spread = sum(abs(y - middle) for y, _ in rows)
    assert d2_absolute_error_score(true, predicted) == pytest.approx(float(1 - sum(sizes) / spread), rel=1e-14)
    assert mean_pinball_loss(true, predicted) == pytest.approx(float(sum(sizes) / n / 2), rel=1e-15)


def test_times_in_nanoseconds_are_predicted_to_the_nanosecond():
    true = np.arange(40_000) * 10**6 + 1_700_000_000_000_000_000
    predicted = true + np.arange(40_000) % 3 - 1
    assert max_error(true, predicted) == 1
    assert mean_absolute_error(true, predicted) == pytest.approx(2 / 3, rel=1e-4)
    assert median_absolute_error(true, predicted) == 1
    assert 1 - r2_score(true, predicted) == pytest.approx(12 * 2 / 3 / 40_000**2 / 1e12, rel=0.1, abs=1e-16)


def test_errors_far_larger_than_targets():
    for name in ("r2_score", "explained_variance_score"):
        metric = getattr(fastevals.metrics, name)
        assert metric([1.0, 2, 3], [1e220, 0, 0]) == -math.inf
        assert metric([1e220, 0, 0], [1.0, 2, 3]) == pytest.approx(0 if name == "explained_variance_score" else -0.5)
        raw = metric([[1.0, 1], [2, 2], [3, 3]], [[1e220, 1], [0, 2], [0, 4]], multioutput="raw_values")
        assert raw.tolist() == [-math.inf, 0.5 if name == "r2_score" else pytest.approx(2 / 3)]
        assert metric([0.0, 0, 0], [1e-300, 0, 0]) == 0.0  # constant targets, missed
        assert metric([0.0, 0, 0], [0.0, 0, 0]) == 1.0
    assert r2_score([1e-200, 2e-200, 3e-200], [1e-200, 2e-200, 4e-200]) == 0.5
    expected = 1 - 1e40 / 2
    assert r2_score([1e-200, 2e-200, 3e-200], [1e-200 + 1e-180, 2e-200, 3e-200]) == pytest.approx(expected)


def test_rows_without_weight_count_for_nothing():
    true, predicted, weights = [1.0, 1e200, 1e308], [2.0, 0.0, -1e308], [2.0, 0.0, 0.0]
    for name in ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error"):
        assert getattr(fastevals.metrics, name)(true, predicted, sample_weight=weights) == 1.0
    assert mean_pinball_loss(true, predicted, sample_weight=weights) == 0.5
    assert root_mean_squared_error([1e-200, 1.0], [0.0, 0.0], sample_weight=[1, 0]) == 1e-200
    percentage = fastevals.metrics.mean_absolute_percentage_error
    assert percentage([2.0, 0.0], [1.0, 1e308], sample_weight=[1, 0]) == 0.5
    assert r2_score([1.0, 3, 1e200], [1.0, 2, 0], sample_weight=[1, 1, 0]) == 0.5
    assert d2_absolute_error_score([1.0, 3, 1e308], [1.0, 2, -1e308], sample_weight=[1, 1, 0]) == 0.5
    assert complaint("mean_squared_error", [1.0, math.nan], [1.0, 0.0], sample_weight=[1, 0]).count("contains NaN") == 2
