"""Errors of predicted numbers beside scikit-learn's."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastevals.metrics
from fastevals.metrics import mean_squared_error, r2_score
from tests.metrics.test_scores import beside, complaint
from tests.strategies import EXAMPLES

ERRORS = ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error")
METRICS = (*ERRORS, "r2_score")
SEEDS = range(EXAMPLES // 4)


def numbers(seed, shape):
    """Draw targets, predictions and weights."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=shape)
    return true, true + rng.normal(size=shape), rng.random(shape if isinstance(shape, int) else shape[0])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_one_output(name, seed):
    true, predicted, weights = numbers(seed, [2, 3, 17, 1000][seed % 4])
    weights[0] *= true.size == 2  # of one row of weight scikit-learn's variance is what rounding leaves
    for option in ("uniform_average", "raw_values"):
        beside(name, true, predicted, multioutput=option)
        beside(name, true, predicted, multioutput=option, sample_weight=weights, rtol=1e-11)
    beside(name, true[:, np.newaxis], predicted, sample_weight=weights, rtol=1e-11)
    beside(name, true.tolist(), predicted.tolist())


@pytest.mark.parametrize("option", ["uniform_average", "raw_values", "variance_weighted", [0.2, 0.3, 0.5], None])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", METRICS)
def test_many_outputs(name, seed, option):
    if name != "r2_score" and (option is None or option == "variance_weighted"):
        option = np.array([0, 1, 2])
    true, predicted, weights = numbers(seed, (40, 3))
    beside(name, true, predicted, multioutput=option)
    beside(name, np.asfortranarray(true), predicted.tolist(), multioutput=option, sample_weight=weights, rtol=1e-11)


@pytest.mark.parametrize("name", METRICS)
def test_many_rows(name):
    for shape in (300_000, (70_000, 4)):
        true, predicted, weights = numbers(1, shape)
        beside(name, true, predicted, rtol=1e-10)
        beside(name, true, predicted, sample_weight=weights, rtol=1e-10)


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("option", ["uniform_average", "raw_values", "variance_weighted"])
def test_constant_targets(option, finite):
    true = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 4.0]])
    predicted = np.array([[1.0, 1.0, 1.5], [1.0, 2.0, 2.0], [1.0, 1.0, 3.0]])
    with np.errstate(all="ignore"):
        for columns in ([0], [1], [2], [0, 1], [0, 2], [0, 1, 2]):
            beside("r2_score", true[:, columns], predicted[:, columns], multioutput=option, force_finite=finite)
            weights = [0.3, 0.5, 0.0]
            beside("r2_score", true[:, columns], predicted[:, columns], multioutput=option, sample_weight=weights)


@pytest.mark.parametrize("order", ["F", "C"])
def test_means_far_from_the_guess(order):
    """Targets of which the sample that the origin is guessed from says nothing: squares are taken again."""
    rng = np.random.default_rng(3)
    true = np.array(rng.normal(size=(5000, 3)), order=order)
    true[::4] += 1e9  # all of the sampled rows
    predicted = true + rng.normal(size=true.shape)
    weights = np.where(np.arange(5000) % 4, 1.0, 1e-12)
    beside("r2_score", true, predicted, rtol=1e-12)
    beside("r2_score", true, predicted, sample_weight=weights, rtol=1e-9)
    wide = np.array(rng.normal(size=(50, 3000)), order=order)
    beside("r2_score", wide, wide + 1.0, multioutput="raw_values", rtol=1e-10)
    beside("mean_squared_error", wide, wide[::-1], multioutput="raw_values")


def test_targets_are_constant_when_they_are_equal():
    true = np.full(11, 0.1)  # whose mean NumPy rounds to another number
    assert r2_score(true, true + 1e-9) == 0.0
    assert r2_score(true, true) == 1.0
    assert r2_score([0.3, 0.1, 0.1], [0, 0, 0], sample_weight=[0, 0.7, 0.2]) == 0.0
    assert r2_score(true, true + 1, force_finite=False) == -math.inf
    assert r2_score(np.arange(9) + 1e12, np.arange(9) + 1e12) == 1.0
    assert r2_score(np.arange(9) + 1e9, np.arange(9) + 1e9 + 0.5) == pytest.approx(1 - 0.25 / (60 / 9), rel=1e-9)


def test_one_row():
    for name in ERRORS:
        beside(name, [1.5], [1.0])
    beside("r2_score", [1.5], [1.0])


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
        (([], []), {}, "Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required"),
    ],
)
@pytest.mark.parametrize("name", METRICS)
def test_errors(name, args, options, words):
    if name == "root_mean_squared_error" and options.get("multioutput") == [1]:
        pytest.skip("scikit-learn's has no such error")
    assert complaint(name, *args, **options).count(words) >= 2


def test_errors_say_where():
    with pytest.raises(ValueError, match=r"Input y_pred contains NaN\. There is 1, the first at row 1, column 0"):
        mean_squared_error([[1, 2], [3, 4]], [[1, 2], [np.nan, 4]])
    with pytest.raises(ValueError, match=r"sample_weight must not be negative, got -1\.0 at row 0"):
        mean_squared_error([1, 2], [1, 2], sample_weight=[-1, 1])
