"""Regression metrics against exact arithmetic, NumPy and scikit-learn; orders that mislead the median's sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from fastevals import RegressionMetrics, UndefinedMetricWarning, num_threads, regression_metrics
from fastevals.measure import regression
from fastevals.measure import regression as median
from tests.reference import regression as reference
from tests.strategies import BOUNDED, DYADIC_WEIGHTS, FLOAT_WEIGHTS

Y, P = [3, -0.5, 2, 7], [2.5, 0.0, 2, 8]
NAMES = (
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_absolute_percentage_error",
    "r2",
    "pinball_loss",
)
LARGE = 200_000  # rows, enough for a sample and several chunks
VALUES = (-1e6, -3.0, -0.1, 0.0, 0.1, 0.3, 1.0, 1.5, 2.0, 1e-20, 1e6)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], list[float], list[float] | None, float]:
    """Draw targets (not all equal), predictions, weights and a quantile."""
    n = draw(st.integers(2, 10))
    y, p = (draw(st.lists(st.sampled_from(VALUES), min_size=n, max_size=n)) for _ in range(2))
    y[0], y[1] = 1.0, 2.0
    weights = None
    pool = draw(st.sampled_from([None, DYADIC_WEIGHTS, FLOAT_WEIGHTS, (0.0, 1.0, 2.0, 3.0)]))
    if pool is not None:
        weights = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
        weights[0], weights[1] = weights[0] or 1.0, weights[1] or 1.0
    return y, p, weights, draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))


def random_case(n: int = LARGE, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.normal(5, 2, n)
    return y, y + rng.normal(size=n), rng.random(n) + 0.1


def assert_same_bits(ours: RegressionMetrics, theirs: RegressionMetrics) -> None:
    for name in NAMES:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


# Values -----------------------------------------------------------------------------------------------------------


@BOUNDED
@given(cases())
def test_metrics_follow_their_definitions(case):
    y, p, weights, quantile = case
    result = regression_metrics(y, p, sample_weight=weights, quantile=quantile)
    expected = reference.metrics(y, p, weights, quantile)
    assert result.median_absolute_error == expected["median_absolute_error"]
    for name in NAMES:
        assert getattr(result, name) == pytest.approx(expected[name], rel=1e-13, abs=1e-13), name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [2, 3, 63, 64, 65, 4097, 65_537, LARGE, LARGE + 1])
def test_scikit_learn_agrees(n, weighted):
    y, p, w = random_case(n)
    options = {"sample_weight": w} if weighted else {}
    expected = {
        "mean_squared_error": sk.mean_squared_error(y, p, **options),
        "root_mean_squared_error": sk.root_mean_squared_error(y, p, **options),
        "mean_absolute_error": sk.mean_absolute_error(y, p, **options),
        "median_absolute_error": sk.median_absolute_error(y, p, **options),
        "mean_absolute_percentage_error": sk.mean_absolute_percentage_error(y, p, **options),
        "r2": sk.r2_score(y, p, **options),
        "pinball_loss": sk.mean_pinball_loss(y, p, alpha=0.9, **options),
    }
    result = regression_metrics(y, p, quantile=0.9, **options)
    for name in NAMES:
        np.testing.assert_allclose(getattr(result, name), expected[name], rtol=1e-12, err_msg=name)
    assert weighted or result.median_absolute_error == np.median(np.abs(y - p))


def test_scikit_learn_agrees_where_half_of_an_integer_weight_is_hit_exactly():
    rng = np.random.default_rng(1)
    y = np.array([0.0, 0, 0, 0, 0, 0, 1])
    hits = 0
    for _ in range(200):
        e, w = rng.integers(0, 6, 7).astype(float), rng.integers(0, 4, 7)
        w[[0, -1]] += 1
        ours = regression_metrics(y, e, sample_weight=w)
        theirs = sk.median_absolute_error(y, e, sample_weight=w)
        assert ours.median_absolute_error == theirs
        hits += theirs % 1 != 0
    assert hits > 10


def test_sums_are_accurate_far_from_zero_and_over_many_rows():
    y, p, _ = random_case()
    expected = {
        "mean_squared_error": math.fsum((y - p) ** 2) / LARGE,
        "mean_absolute_error": math.fsum(np.abs(y - p)) / LARGE,
        "mean_absolute_percentage_error": math.fsum(np.abs(y - p) / np.abs(y)) / LARGE,
    }
    result = regression_metrics(y, p)
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(result, name), value, rtol=2e-15, err_msg=name)
    y, p = np.round(y, 3) * 1024, np.round(p, 3) * 1024
    shifted = regression_metrics(np.rint(y) + 2.0**40, np.rint(p) + 2.0**40)
    assert shifted.r2 == pytest.approx(regression_metrics(np.rint(y), np.rint(p)).r2, rel=1e-13)


def test_a_rare_far_cluster_first_does_not_spoil_r2():
    y = np.full(LARGE, 1e8)
    y[:: LARGE // 1024] = 0.0  # the only targets that a strided sample sees
    y += np.tile([0.0, 1.0], LARGE // 2)
    p = y + np.tile([1.0, -1.0, 3.0, 2.0], LARGE // 4)
    expected = 1 - math.fsum((y - p) ** 2) / math.fsum((y - math.fsum(y) / LARGE) ** 2)
    assert 1 - regression_metrics(y, p).r2 == pytest.approx(1 - expected, rel=1e-9)


# The median's bracket ---------------------------------------------------------------------------------------------

ALIASED = np.where(np.arange(LARGE) % (LARGE // median.SAMPLED_ROWS), 1.0, 5.0) + np.linspace(0, 0.5, LARGE)
ORDERS = {
    "ascending": np.linspace(0, 1, LARGE) ** 2,
    "descending": np.linspace(1, 0, LARGE) ** 2,
    "all zero": np.zeros(LARGE),
    "all equal": np.full(LARGE, 0.25),
    "two values, even": np.tile([1.0, 2.0], LARGE // 2),
    "two values, odd": np.repeat([1.0, 2.0, 3.0], [LARGE // 2 - 1, LARGE // 2, 1]),
    "half and half": np.repeat([1.0, 2.0], LARGE // 2),
    "sample sees the high": ALIASED,
    "sample sees the low": 10 - ALIASED,
    "sample sees one low value": np.where(np.arange(LARGE) % (LARGE // median.SAMPLED_ROWS), 2.0, 1.0),
    "sample sees one high value": np.where(np.arange(LARGE) % (LARGE // median.SAMPLED_ROWS), 2.0, 3.0),
    "few distinct": np.random.default_rng(3).integers(0, 5, LARGE).astype(float),
    "tiny": np.random.default_rng(4).integers(0, 1000, LARGE) * 5e-324,
    "infinite": np.full(LARGE, np.inf),
}


@pytest.mark.cases(16)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [LARGE, LARGE - 1])
@pytest.mark.parametrize("order", ORDERS)
def test_the_median_is_exact_in_any_order(order, n, weighted):
    errors = ORDERS[order][:n]
    y, p = errors, np.zeros(n)
    if order == "infinite":
        y, p = np.full(n, 1.7e308), np.full(n, -1.7e308)
    weights = np.full(n, 0.1) if weighted else None
    assert _median(y, p, weights, median.bracket_median(y, p, weights)) == np.median(errors)


def _median(y: Any, p: Any, weights: Any, bracket: tuple[float, float]) -> float:
    with np.errstate(all="ignore"):
        _, (errors,) = regression._read_rows(y, [p], weights, [bracket], 0.0)
    return regression._median(y, weights, p, bracket, errors)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "bracket", [(0.0, 1.0), (2.0, 3.0), (1.0, 1.0), (1.0, 2.0), (-1.0, 1.5), (4.0, 9.0), (0.0, 0.0)]
)
def test_a_bracket_that_misses_costs_a_pass_but_no_exactness(bracket, weighted):
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 6, 100):
        p = rng.integers(0, 5, n).astype(float)
        weights = np.ones(n) if weighted else None
        assert _median(np.zeros(n), p, weights, bracket) == np.median(p)


def test_the_bracket_of_random_errors_is_narrow_and_holds_the_median():
    y, p, w = random_case()
    for weights in (None, w):
        low, high = median.bracket_median(y, p, weights)
        errors = np.abs(y - p)
        assert low < np.median(errors) < high
        assert np.count_nonzero((errors > low) & (errors < high)) < 0.05 * LARGE


def test_the_bracket_is_open_where_few_rows_have_the_weight():
    for errors, expected in ((np.arange(LARGE) + 1.0, (-1.0, math.inf)), (np.zeros(LARGE), (-1.0, math.inf))):
        weights = np.where(np.arange(LARGE) % (LARGE // median.SAMPLED_ROWS * 1000), 1e-9, 1.0)  # 34 rows of the sample
        weights[1:] = np.where(weights[1:] == 1, 0.01, weights[1:])  # and one of those
        assert median.bracket_median(errors, np.zeros(LARGE), weights) == expected
        assert _median(errors, np.zeros(LARGE), weights, expected) == errors[0]


# Weights ----------------------------------------------------------------------------------------------------------


def test_integer_weights_are_repeated_rows():
    y, p, _ = random_case(100_000)
    w = np.random.default_rng(2).integers(0, 4, y.size)
    weighted, repeated = regression_metrics(y, p, sample_weight=w), regression_metrics(np.repeat(y, w), np.repeat(p, w))
    assert weighted.median_absolute_error == repeated.median_absolute_error
    assert weighted.n_samples == np.count_nonzero(w)
    for name in NAMES:
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-13), name


def test_unit_weights_are_no_weights():
    y, p, _ = random_case()
    weighted, plain = regression_metrics(y, p, sample_weight=np.ones(LARGE)), regression_metrics(y, p)
    for name in NAMES:  # their sums have separate loops
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), rel=1e-15), name


def test_weights_of_any_size_are_added_exactly():
    for scale in (5e-324, 1e-300, 1e300):
        result = regression_metrics([0, 0, 0, 1], [1, 2, 3, 5], sample_weight=np.array([1, 1, 1, 1]) * scale)
        assert result.median_absolute_error == 2.5


@pytest.mark.parametrize("unit", [5e-324, 1e-318, 1e-300, 1e-30, 1e30, 1e300, 1e305])
def test_the_unit_of_the_weights_does_not_matter(unit):
    y, p = [1.0, 2.0, 3.0, 1e-8], [1e5, 2.001, 3.0, 2e-8]
    expected = regression_metrics(y, p, sample_weight=[1, 1, 2, 1])
    scaled = regression_metrics(y, p, sample_weight=np.array([1, 1, 2, 1]) * unit)
    for name in NAMES:
        assert getattr(scaled, name) == pytest.approx(getattr(expected, name), rel=1e-14), name


# Inputs -----------------------------------------------------------------------------------------------------------

FORMS = {
    "list": list,
    "strided": lambda a: np.repeat(a, 3)[::3],
    "reversed view": lambda a: a[::-1].copy()[::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble),
    "uint8": lambda a: a.astype(np.uint8),
    "int64": lambda a: a.astype(np.int64),
    "uint64": lambda a: a.astype(np.uint64),
    "pandas": lambda a: pd.Series(a, index=range(5, 5 + a.size)),
    "polars": pl.Series,
}


@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_input_gives_the_same(form):
    rng = np.random.default_rng(6)
    y, p = rng.integers(0, 256, (2, 500)).astype(float)
    w = rng.integers(1, 5, 500).astype(float)
    convert = FORMS[form]
    expected = regression_metrics(y, p, sample_weight=w)
    assert_same_bits(regression_metrics(convert(y), convert(p), sample_weight=convert(w)), expected)
    assert_same_bits(regression_metrics(convert(y), convert(p)), regression_metrics(y, p))


def test_booleans_are_numbers():
    assert regression_metrics([True, False, True], [False, False, True]).mean_absolute_error == 1 / 3
    y, p = np.random.default_rng(7).random((2, LARGE)) < 0.3
    assert_same_bits(regression_metrics(y, p), regression_metrics(y.astype(float), p.astype(float)))


def test_inputs_are_not_changed_and_may_be_read_only():
    y, p, w = random_case(1000)
    copies = [a.copy() for a in (y, p, w)]
    for array in (y, p, w):
        array.flags.writeable = False
    result = regression_metrics(y, p, sample_weight=w)
    for array, copy in zip((y, p, w), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    assert_same_bits(result, regression_metrics(*copies[:2], sample_weight=copies[2]))


@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(weighted):
    y, p, w = random_case()
    options = {"sample_weight": w} if weighted else {}
    results = []
    for n in (1, 2, 5):
        with num_threads(n):
            results.append(regression_metrics(y, np.stack([p, -p]), **options))
    for other in results[1:]:
        assert_same_bits(other, results[0])


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([1, np.nan, np.nan], [1, 2, 3], {}, "y_true must be finite, but has 2 NaN values, the first at row 1"),
        ([1, 2, 3], [1, 2, np.inf], {}, "y_pred must be finite, but has 1 infinite value, the first at row 2"),
        ([np.inf, 2], [np.inf, 2], {}, "y_true must be finite, but has 1 infinite value, the first at row 0"),
        ([1, 2], [[1, 2], [1, np.nan]], {}, r"y_pred\[1\] must be finite, but has 1 NaN value, the first at row 1"),
        ([1, 2], {"a": [1, 2], "b": [-np.inf, 1]}, {}, r"y_pred\['b'\] must be finite.*1 infinite.*row 0"),
        ([1, 2, 3], [1, np.nan, 3], {"sample_weight": [1, 0, 1]}, "y_pred must be finite.*first at row 1"),
        ([1, 2, 3], [1, 2, np.nan], {"sample_weight": [0, 1, 1]}, "y_pred must be finite.*first at row 2"),
        ([1, 2], [1, 2, 3], {}, "y_pred has 3 rows, but y_true has 2"),
        ([1, 2, 3], [[1, 2]] * 3, {}, r"y_pred\[0\] has 2 rows, but y_true has 3"),
        ([1, 2], {"a": [1]}, {}, r"y_pred\['a'\] has 1 rows, but y_true has 2"),
        ([1, 2], [1, 2], {"sample_weight": [1]}, "sample_weight has 1 rows"),
        ([1, 2], [1, 2], {"sample_weight": [1, -1]}, "sample_weight must not be negative"),
        ([1, 2], [1, 2], {"quantile": 1.5}, r"quantile must be in \[0, 1\], got 1.5"),
        ([], [], {}, "y_true is empty"),
        ([1, 2], {}, {}, "y_pred is empty: it must have at least one model"),
        ([1, 2], np.empty((0, 2)), {}, "y_pred is empty: it must have at least one model"),
        ([1, 2], 3.0, {}, r"y_pred must be 1-D, or 2-D with a row for each model, got shape \(\)"),
        ([1, 2], ["a", "b"], {}, "y_pred must hold numbers"),
        ([1, 2], [1j, 2], {}, "y_pred must hold numbers"),
        ([[1, 2]], [1, 2], {}, "y_true must be 1-D"),
        (np.array([1, 2], dtype=np.longdouble) * np.longdouble("1e400"), [1, 2], {}, "y_true must be finite"),
    ],
)
def test_bad_input(y, p, options, message):
    with pytest.raises(ValueError, match=message):
        regression_metrics(y, p, **options)


# Many models ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [3, LARGE])
def test_a_batch_is_a_loop(n, weighted):
    y, p, w = random_case(n)
    options = {"sample_weight": w} if weighted else {}
    models = {"a": p, "b": y, "c": -2 * p}
    singles = [regression_metrics(y, model, **options) for model in models.values()]
    named = regression_metrics(y, models, **options)
    assert named.names == ("a", "b", "c")
    stacked = regression_metrics(y, np.stack(list(models.values())), **options)
    assert stacked.names is None
    for name in NAMES:
        values = getattr(named, name)
        assert values.shape == (3,)
        np.testing.assert_array_equal(values, [getattr(single, name) for single in singles], err_msg=name)
    assert_same_bits(stacked, named)


def test_a_frame_has_a_model_in_each_column():
    columns = {"a": [2.5, 0.0, 2, 8], "b": [3.0, 0, 2, 7]}
    expected = regression_metrics(Y, columns)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        result = regression_metrics(Y, frame)
        assert result.names == ("a", "b")
        assert_same_bits(result, expected)


# Ends of the range ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [[2.0], [0.1] * 5, [-0.0, 0.0]])
def test_r2_of_constant_targets_is_undefined(y):
    with pytest.warns(UndefinedMetricWarning, match="r2 is undefined.*y_true is constant") as warned:
        result = regression_metrics(y, np.arange(len(y)))
    assert math.isnan(result.r2)
    assert warned[0].filename == __file__
    assert result.mean_absolute_error == pytest.approx(np.abs(np.array(y) - np.arange(len(y))).mean())


def test_one_row_has_its_own_error():
    with pytest.warns(UndefinedMetricWarning):
        result = regression_metrics([2], [5], quantile=0.25)
    assert (result.mean_squared_error, result.median_absolute_error, result.pinball_loss) == (9.0, 3.0, 2.25)
    assert (result.mean_absolute_percentage_error, result.n_samples) == (1.5, 1)


def test_squares_past_the_largest_float_are_infinite_and_the_rest_is_not():
    result = regression_metrics([1e300, -1e300], [1e299, -1e300])
    assert result.mean_squared_error == math.inf
    assert result.root_mean_squared_error == pytest.approx(9e299 / math.sqrt(2))
    assert result.r2 == pytest.approx(1 - 0.81 / 2)
    assert result.mean_absolute_error == result.median_absolute_error == pytest.approx(4.5e299)
    assert result.mean_absolute_percentage_error == pytest.approx(0.45)


def test_squares_below_the_smallest_float_vanish():
    result = regression_metrics([5e-324, 0], [0, 0])
    assert (result.mean_squared_error, result.median_absolute_error, result.r2) == (0.0, 5e-324 / 2, -1.0)


def test_a_median_between_two_huge_errors_is_finite():
    result = regression_metrics([0, 0, 1e-3, 1], [1.7e308, 1.7e308, 1.7e308, 1.7e308])
    assert result.median_absolute_error == 1.7e308


@pytest.mark.parametrize(("quantile", "loss"), [(0.0, 0.0), (1.0, math.inf)])
def test_an_infinite_side_counts_only_where_it_has_a_share(quantile, loss):
    result = regression_metrics([1e308, 9e307, 1.0], [-1e308, -1e308, 1.0], quantile=quantile)
    assert result.pinball_loss == loss
    assert result.r2 == pytest.approx(1 - (4 + 1.9**2) / (1 + 0.81 - 1.9**2 / 3))


# As a result ------------------------------------------------------------------------------------------------------


def test_repr_is_short():
    assert repr(regression_metrics(Y, P)) == "RegressionMetrics(rmse=0.6124, mae=0.5, r2=0.9486, n_samples=4)"
    many = repr(regression_metrics(Y, [P] * 9))
    assert many.startswith("RegressionMetrics(rmse=[0.6124, 0.6124, 0.6124, 0.6124, ...], mae=")


def test_to_dict_gives_plain_values():
    one = regression_metrics(Y, P).to_dict()
    assert set(one) == {*NAMES, "mean_error", "n_samples", "quantile", "names"}
    assert all(type(one[name]) is float for name in NAMES)
    many = regression_metrics(Y, {"a": P, "b": Y}).to_dict()
    assert many["mean_absolute_error"] == [0.5, 0.0]
    assert many["names"] == ["a", "b"]


def test_fields_cannot_be_replaced():
    with pytest.raises(AttributeError):
        regression_metrics(Y, P).r2 = 1.0  # type: ignore[misc]
