"""Intervals from replicates, against SciPy, R and one another."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from fastevals._kernels.random import stream_key
from fastevals.infer.bootstrap.bootstrap import METHODS, Limits, confidence_interval
from fastevals.infer.bootstrap.samples import CellSampler, jackknife_acceleration

R_BOOT = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["bootstrap_r_boot"]


def means_of_draws(data: np.ndarray, n_resamples: int) -> np.ndarray:
    urn, counts = CellSampler(np.ones(data.size, dtype=np.int64)), np.empty(data.size, dtype=np.int64)
    means = np.empty(n_resamples)
    for i in range(n_resamples):
        urn.draw(np.uint64(stream_key(np.uint64(5), np.uint64(i))), counts)
        means[i] = counts @ data / data.size
    return means


def jackknife_means(data: np.ndarray) -> np.ndarray:
    return (data.sum() - data) / (data.size - 1)


def test_r_boot():
    data = np.array(R_BOOT["data"], dtype=float)
    a = jackknife_acceleration(jackknife_means(data), np.ones(data.size, dtype=np.int64))
    assert a == pytest.approx(R_BOOT["expected"]["acceleration"], rel=1e-9)
    replicates = means_of_draws(data, 40_000)
    for method in ("basic", "percentile", "BCa"):
        found = confidence_interval(
            method, replicates, data.mean(), confidence_level=0.95, alternative="two-sided", acceleration=a
        )
        np.testing.assert_allclose(found, R_BOOT["expected"][method.lower()], rtol=0.015, err_msg=method)


@pytest.mark.parametrize("method", ["percentile", "basic", "BCa"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("confidence_level", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("ties", [False, True])
def test_scipy_agrees_on_the_same_replicates(method, alternative, confidence_level, ties):
    rng = np.random.default_rng(1)
    data = rng.integers(0, 4, 40).astype(float) if ties else rng.gamma(1.0, size=40)
    options = {"confidence_level": confidence_level, "alternative": alternative}
    drawn = stats.bootstrap((data,), np.mean, n_resamples=999, method="percentile", rng=rng)
    expected = stats.bootstrap(
        (data,), np.mean, n_resamples=0, bootstrap_result=drawn, method=method, **options
    ).confidence_interval
    a = jackknife_acceleration(jackknife_means(data), np.ones(data.size, dtype=np.int64))
    found = confidence_interval(method, drawn.bootstrap_distribution, data.mean(), acceleration=a, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_cells_are_rows_of_one_value():
    values, times = np.array([0.3, 0.5, 0.4]), np.array([4, 1, 7])
    assert jackknife_acceleration(values, times) == pytest.approx(
        jackknife_acceleration(np.repeat(values, times), np.ones(12, int))
    )
    for value in (0.5, 0.1, 0.7, 2 / 3):
        assert jackknife_acceleration(np.full(3, value), np.array([3, 2, 5])) == 0
    assert jackknife_acceleration(1e-200 * values, times) == pytest.approx(jackknife_acceleration(values, times))
    least = np.array([0, 5e-324, 5e-324])
    assert jackknife_acceleration(least, times) == jackknife_acceleration(1e300 + least, times) == 0
    assert jackknife_acceleration(np.append(values, math.nan), np.append(times, 0)) == jackknife_acceleration(
        values, times
    )


def test_normal_is_about_the_estimate_less_its_bias():
    replicates = np.array([1.0, 2.0, 3.0, 6.0])
    low, high = confidence_interval("normal", replicates, 2.5, confidence_level=0.95, alternative="two-sided")
    assert (low + high) / 2 == pytest.approx(2.5 - (3.0 - 2.5))
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * replicates.std(ddof=1))


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_is_a_wider_interval_and_a_side_an_end(method):
    rng = np.random.default_rng(2)
    replicates = rng.normal(0.8, 0.05, 2000)
    interval = lambda level, side: confidence_interval(  # noqa: E731
        method, replicates, 0.8, confidence_level=level, alternative=side, acceleration=0.01
    )
    (low, high), (wider_low, wider_high) = interval(0.9, "two-sided"), interval(0.99, "two-sided")
    assert wider_low < low < high < wider_high
    assert interval(0.95, "greater") == pytest.approx((low, math.inf))
    assert interval(0.95, "less") == pytest.approx((-math.inf, high))


def test_where_there_is_no_interval():
    options = {"confidence_level": 0.95, "alternative": "two-sided"}
    for method in METHODS:
        assert all(map(math.isnan, confidence_interval(method, np.empty(0), 0.5, acceleration=0.0, **options)))
    assert all(map(math.isnan, confidence_interval("BCa", np.ones(9), 0.5, acceleration=0.0, **options)))
    one_sided = options | {"alternative": "less"}
    assert all(map(math.isnan, confidence_interval("BCa", np.ones(9), 0.5, acceleration=0.0, **one_sided)))
    assert all(map(math.isnan, confidence_interval("BCa", np.ones(9), math.nan, **options)))
    assert confidence_interval("percentile", np.ones(9), 1.0, **options) == (1, 1)


def test_intervals_stay_within_what_a_metric_can_be():
    replicates = np.random.default_rng(0).beta(20, 1, 500)
    options = {"confidence_level": 0.99, "limits": Limits((0.0, 1.0))}
    for method in METHODS:
        low, high = confidence_interval(method, replicates, 0.97, alternative="two-sided", **options)
        assert 0 <= low < high <= 1
        assert confidence_interval(method, replicates, 0.97, alternative="greater", **options).high == 1
        assert confidence_interval(method, replicates, 0.97, alternative="less", **options).low == 0


def test_values_equal_but_for_rounding_are_tied():
    exact = np.repeat([0.2, 0.3, 0.4], [30, 40, 30])
    rounded = exact * (1 + 2.0**-52 * np.where(np.arange(100) % 2, 1, -1))
    options = {"confidence_level": 0.9, "alternative": "two-sided"}
    np.testing.assert_allclose(
        confidence_interval("BCa", rounded, 0.3, **options), confidence_interval("BCa", exact, 0.3, **options)
    )
