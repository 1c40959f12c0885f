"""`bootstrap_statistic`: R's published intervals, resamples of whole rows and clusters, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fastevals import UndefinedMetricWarning, bootstrap, bootstrap_statistic, num_threads
from fastevals.infer.bootstrap.statistics import StatisticSample

R_BOOT = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["bootstrap_r_boot"]
X = np.arange(40.0)
Y = 2 * X + np.random.default_rng(0).normal(size=40)


def mean(x):
    return x.mean()


def line(x, y):
    return np.polyfit(x, y, 1)


@pytest.mark.parametrize("method", ["basic", "percentile", "BCa"])
def test_intervals_are_those_of_r(method):
    found = bootstrap_statistic(R_BOOT["data"], mean, n_resamples=4999, method=method, rng=0)["mean"]
    assert found.value == np.mean(R_BOOT["data"])
    assert found.confidence_interval == pytest.approx(R_BOOT["expected"][method.lower()], rel=0.05)


def test_acceleration_is_that_of_each_row_left_out():
    sample = StatisticSample([np.array(R_BOOT["data"])], {"mean": mean}, None)
    assert sample.accelerations(np.uint64(1), [0])[0] == pytest.approx(R_BOOT["expected"]["acceleration"])


def test_arrays_are_resampled_together_and_all_functions_see_the_same_rows():
    seen = []

    def first(x, y):
        assert x.size == 20
        assert (y == 2 * x).all()
        seen.append(x.sum())
        return x.sum(), y.sum()

    found = bootstrap_statistic(
        (np.arange(20), 2 * np.arange(20)), {"first": first, "second": lambda x, y: y.sum()}, n_resamples=50,
        method="normal", rng=0, keep_distribution=True,
    )  # fmt: skip
    assert list(found) == ["first", "second"]
    one, other = found["first"].bootstrap_distribution, found["second"].bootstrap_distribution
    assert (other == 2 * one[:, 0]).all()
    assert (one[:, 1] == other).all()
    assert {*one[:, 0]} <= {*seen}
    assert one[:, 0].std() == pytest.approx(np.sqrt(20 * (20**2 - 1) / 12), rel=0.3)


def test_a_statistic_may_change_its_rows():
    def median(x):
        x.sort()
        return x[20]

    data = Y[::-1].copy()
    found = bootstrap_statistic(data, {"median": median, "first": lambda x: x[0]}, n_resamples=9, rng=0)
    assert (data == Y[::-1]).all()
    assert found["first"].value == Y[-1]


def test_coefficients_of_a_regression_have_the_errors_of_theory():
    found = bootstrap_statistic((X, Y), line, n_resamples=999, rng=1)["line"]
    residuals = Y - np.polyval(found.value, X)
    design = np.column_stack([X, np.ones(40)])
    theory = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (residuals @ residuals) / 38)
    assert found.standard_error == pytest.approx(theory, rel=0.25)
    low, high = found.confidence_interval
    assert (low < found.value).all()
    assert (found.value < high).all()


def test_clusters_are_drawn_whole():
    groups = np.arange(40) // 4

    def of_clusters(x):
        sizes = np.bincount(x.astype(int) // 4, minlength=10)
        assert {*(sizes % 4)} == {0}
        return x.mean()

    bootstrap_statistic(X, of_clusters, groups=groups, n_resamples=20, method="percentile", rng=0)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_the_same_bits_at_any_number_of_threads():
    found = []
    for n in (1, 2):
        with num_threads(n):
            found.append(bootstrap_statistic(X, np.median, n_resamples=99, rng=3, keep_distribution=True)["median"])
    assert (found[0].bootstrap_distribution == found[1].bootstrap_distribution).all()
    assert found[0].confidence_interval == found[1].confidence_interval


def test_undefined_replicates_are_counted():
    with pytest.warns(UndefinedMetricWarning, match="statistic"):
        found = bootstrap_statistic(
            [0.0, 1.0, 1.0, 1.0], {"statistic": lambda x: math.nan if x.min() else x.mean()}, n_resamples=200, rng=0
        )["statistic"]  # fmt: skip
    assert found.n_undefined == pytest.approx(200 * 0.75**4, abs=25)


@pytest.mark.parametrize(
    ("data", "statistic", "message"),
    [
        ((X, Y[:3]), line, r"data\[1\] has 3 rows, but data\[0\] has 40"),
        ((), mean, "data is empty: it must hold at least one array"),
        (3.0, mean, r"data must be an array with rows, got 3.0"),
        ([1.0], mean, "data must have at least two rows to resample, got one"),
        (X, "mean", "statistic must be a function or a mapping of names to functions, got 'mean'"),
        (X, {}, "statistic is empty: it must hold at least one function"),
        (X, lambda x: "a", "statistic '<lambda>' must return a number or an array of numbers, got 'a'"),
        (X, np.unique, "statistic 'unique' must return the same shape for each resample"),
    ],
)
def test_what_is_refused(data, statistic, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_statistic(data, statistic, n_resamples=9, rng=0)


def test_bootstrap_names_the_call_for_functions_of_rows():
    with pytest.raises(ValueError, match="pass these, and the function, to bootstrap_statistic"):
        bootstrap((X, Y), line)
