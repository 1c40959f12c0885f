import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals.measure.calibration_errors import (
    debiased_calibration_error,
    debiased_squared_calibration_error,
    residuals_on_grid,
    smooth_calibration_error,
    smoothed_at_its_value,
)
from fastevals.measure.curves.calibration import (
    CalibrationCurve,
    maximum_calibration_error,
    mean_absolute_deviation,
    root_mean_square_calibration_error,
)
from fastevals.measure.ranking.ranking import Ranking
from tests.reference import calibration as twin
from tests.strategies import BOUNDED

PROBABILITIES = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(st.floats(0, 1), st.integers(0, 8).map(lambda k: k / 8))),
    min_size=1, max_size=12,
)  # fmt: skip


def rows(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 3, n)
    return (rng.random(n) < np.clip(p + shift, 0, 1)).astype(int), p


def counts_of(y, p, **options):
    return Ranking(y, p, pos_label=1, **options).counts


# Debiased ---------------------------------------------------------------------------------------------------------


@BOUNDED
@given(PROBABILITIES, st.integers(1, 12), st.sampled_from(["uniform", "quantile"]))
def test_the_debiased_square_is_the_mean_product_of_two_residuals(cases, n_bins, strategy):
    y, p = zip(*cases, strict=True)
    counts = counts_of(y, p)
    edges = CalibrationCurve.from_counts(counts, n_bins=n_bins, strategy=strategy).edges.tolist()
    expected = twin.debiased_squared_calibration_error(edges, y, p)
    found = debiased_squared_calibration_error(counts, n_bins=n_bins, strategy=strategy)
    if expected is None:
        assert math.isnan(found)
        assert math.isnan(debiased_calibration_error(counts, n_bins=n_bins, strategy=strategy))
        return
    assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-15)
    root = debiased_calibration_error(counts, n_bins=n_bins, strategy=strategy)
    assert root == pytest.approx(math.sqrt(max(float(expected), 0)), rel=1e-6, abs=1e-7)


def test_the_debiased_square_is_that_of_kumar_liang_and_ma_for_one_probability_per_bin():
    """Their estimate subtracts share (1 - share) / (n - 1) from the squared gap of each bin."""
    y, p = [1, 0, 0, 1, 1, 0, 1], [0.15, 0.15, 0.15, 0.75, 0.75, 0.75, 0.75]
    shares, rows_of_bins = np.array([1 / 3, 3 / 4]), np.array([3, 4])
    expected = (rows_of_bins / 7) @ ((shares - [0.15, 0.75]) ** 2 - shares * (1 - shares) / (rows_of_bins - 1))
    assert debiased_squared_calibration_error(counts_of(y, p)) == pytest.approx(expected, rel=1e-13)


def test_the_debiased_square_is_right_on_average_where_the_plain_one_is_too_large():
    found = [counts_of(*rows(200, seed)) for seed in range(300)]
    debiased = [debiased_squared_calibration_error(counts) for counts in found]
    plain = [root_mean_square_calibration_error(counts) ** 2 for counts in found]
    error = np.std(debiased) / math.sqrt(len(debiased))
    assert abs(np.mean(debiased)) < 3 * error
    assert np.mean(plain) > 20 * error


def test_single_rows_and_empty_bins_add_nothing():
    y, p = [0, 1, 1, 0], [0.05, 0.35, 0.36, 0.95]
    assert debiased_squared_calibration_error(counts_of(y, p)) == pytest.approx(0.65 * 0.64)
    assert math.isnan(debiased_squared_calibration_error(counts_of([1], [0.4])))
    assert debiased_squared_calibration_error(counts_of([0, 0, 0], [0.5] * 3)) == 0.25
    assert math.isnan(debiased_calibration_error(counts_of([0, 1], [0.2, 0.8])))


def test_copies_are_rows_and_weights_are_refused():
    y, p = rows(30)
    copies = np.arange(30) % 3
    counted = debiased_calibration_error(counts_of(y, p, frequency_weight=copies))
    assert counted == debiased_calibration_error(counts_of(np.repeat(y, copies), np.repeat(p, copies)))
    with pytest.raises(ValueError, match=r"need the squared weight of each row .*calibration\(y_true"):
        fastevals.bootstrap((y, p), "debiased_calibration_error", sample_weight=copies, n_resamples=9)


def test_metrics_of_groups_models_and_replicates():
    y, p = rows(900, shift=0.1)
    names = ["rmsce", "mce", "debiased_calibration_error", "smece"]
    grouped = fastevals.grouped_metrics(y, p, np.arange(900) // 300, names)
    models = fastevals.batch_metrics(y, [p, p**2], names)
    drawn = fastevals.bootstrap((y, p), names, n_resamples=29, rng=0)
    functions = [
        root_mean_square_calibration_error, maximum_calibration_error, debiased_calibration_error,
        smooth_calibration_error,
    ]  # fmt: skip
    for function in functions:
        name = function.__name__
        assert grouped[name].values.tolist() == [
            pytest.approx(function(counts_of(y[k : k + 300], p[k : k + 300])), rel=1e-12) for k in (0, 300, 600)
        ]
        assert models[name].values.tolist() == [function(counts_of(y, p)), function(counts_of(y, p**2))]
        assert drawn[name].value == function(counts_of(y, p))
        assert drawn[name].standard_error > 0
    fine = fastevals.bootstrap((y, p), fastevals.metric("rmsce", n_bins=15, strategy="quantile"), n_resamples=9, rng=0)
    (only,) = fine.values()
    assert only.value == root_mean_square_calibration_error(counts_of(y, p), n_bins=15, strategy="quantile")


# Smoothed ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed", "shift"), [(5, 1, 0.0), (12, 2, 0.2)])
def test_the_smooth_error_is_that_of_its_definition(n, seed, shift):
    y, p = rows(n, seed, shift)
    weights = np.random.default_rng(seed).uniform(0, 2, n)
    for options, more in (({}, ()), ({"sample_weight": weights}, (weights,))):
        found = smooth_calibration_error(counts_of(y, p, **options))
        assert twin.smooth_calibration_error_at(found, y, p, *more) == pytest.approx(found, rel=1e-4)


def test_the_smooth_error_is_that_of_relplot():
    """relplot 1.0.3 gives 0.124322; it rounds the bandwidth up to a multiple of 1 / 1024."""
    p = [
        0.04, 0.02, 0.027, 0.136, 0.25, 0.257, 0.427, 0.136, 0.371, 0.596, 0.176, 0.433, 0.207, 0.044, 0.262, 0.808,
        0.161, 0.065, 0.193, 0.567, 0.013, 0.133, 0.29, 0.4, 0.019, 0.537, 0.111, 0.517, 0.177, 0.054, 0.717, 0.18,
        0.417, 0.168, 0.413, 0.444, 0.385, 0.014, 0.292, 0.584,
    ]  # fmt: skip
    y = [int(digit) for digit in "1000011010110001100101000000111010010001"]
    assert smooth_calibration_error(counts_of(y, p)) == pytest.approx(0.124322, abs=0.001)


def test_the_smooth_error_of_few_rows():
    assert smooth_calibration_error(counts_of([0], [0.25])) == pytest.approx(0.25, rel=1e-9)
    assert smooth_calibration_error(counts_of([0, 1], [0.0, 1.0])) == 0
    assert smooth_calibration_error(counts_of([1, 0], [0.0, 1.0])) == pytest.approx(
        twin.smooth_calibration_error([1, 0], [0.0, 1.0]), abs=2e-5
    )
    assert smooth_calibration_error(counts_of([0, 0, 1], [0.5, 0.5, 0.5])) == pytest.approx(1 / 6, rel=1e-9)


def test_the_smooth_error_of_any_grid_is_the_same():
    counts = counts_of(*rows(20_000, 3))
    values = [smoothed_at_its_value(residuals_on_grid(counts, 4**k)) for k in (6, 7, 9)]
    assert values[0] == pytest.approx(values[2], rel=2e-4)
    assert values[1] == pytest.approx(values[2], rel=2e-5)
    assert smooth_calibration_error(counts) == pytest.approx(values[2], rel=1e-4)


# By chance --------------------------------------------------------------------------------------------------------


def test_the_error_by_chance_is_that_of_calibrated_rows():
    p = rows(400)[1]
    rng = np.random.default_rng(5)
    curves = [CalibrationCurve.from_counts(counts_of(rng.random(p.size) < p, p)) for _ in range(400)]
    found = [curve.expected_calibration_error for curve in curves]
    assert np.mean(found) == pytest.approx(curves[0].calibration_error_by_chance, rel=0.03)
    weighted = CalibrationCurve.from_counts(counts_of(*rows(20), sample_weight=np.full(20, 0.5)))
    assert math.isnan(weighted.calibration_error_by_chance)


@pytest.mark.parametrize(("n", "p"), [(1, 0.3), (5, 0.5), (10, 0.99), (100, 0.013), (7, 0.0), (7, 1.0), (3, 1 / 3)])
def test_the_mean_absolute_deviation_is_a_sum_over_outcomes(n, p):
    expected = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) * abs(k / n - p) for k in range(n + 1))
    assert mean_absolute_deviation(np.array([n]), np.array([p]))[0] == pytest.approx(expected, rel=1e-12)
    assert math.isnan(mean_absolute_deviation(np.array([0]), np.array([math.nan]))[0])
