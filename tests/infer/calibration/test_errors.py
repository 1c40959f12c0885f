"""The debiased calibration error: its law against sums over pairs, its interval, weights, clusters, odd data."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastevals
from fastevals import Ranking, calibration
from fastevals.infer.calibration import errors
from fastevals.infer.calibration.errors import ErrorLaw, sums_of
from fastevals.measure.calibration_errors import debiased_squared_calibration_error
from fastevals.scale import ProbabilitySummary
from tests.reference import calibration as twin


def rows(n: int, seed: int = 0, times: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, n)
    return (rng.random(n) < np.clip(times * p, 0, 1)).astype(int), p


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_square_is_that_of_the_metric(strategy: str) -> None:
    y, p = rows(200, times=1.5)
    error = calibration(y, p, strategy=strategy, n_bins=7).error
    counts = Ranking(y, p).counts
    assert error.squared == pytest.approx(debiased_squared_calibration_error(counts, n_bins=7, strategy=strategy))
    assert (error.value, error.strategy) == (math.sqrt(error.squared), strategy)
    assert error.squared_interval == pytest.approx([end**2 for end in error.confidence_interval])
    assert error.confidence_interval.low <= error.value <= error.confidence_interval.high


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
def test_moments_are_those_of_sums_over_pairs(weighted: bool, clustered: bool) -> None:
    y, p = rows(60, times=1.6)
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 5, 60) / 4 if weighted else None
    clusters = rng.integers(0, 25, 60) if clustered else None
    found = calibration(y, p, n_bins=2, strategy="uniform", sample_weight=weights, groups=clusters)
    squared, null_variance, variance = twin.debiased_moments(
        [0, 1 / 2, 1], y, p, weights, clusters, at=found.error.squared
    )
    assert found.error.squared == pytest.approx(squared, rel=1e-11)
    assert found.error.squared_standard_error**2 == pytest.approx(variance, rel=1e-9)
    law = ErrorLaw.of(sums_of(found._forecasts, (2, "uniform")))
    assert law.null_variance == pytest.approx(null_variance, rel=1e-9)


def law(**fields: Any) -> ErrorLaw:
    return ErrorLaw(**{
        "null_variance": 1e-6, "null_third": 2e-9, "linear": (2e-4, 3e-4), "third": (1e-7, 1e-7), "quadratic": 1e-3,
        **fields,
    })  # fmt: skip


@pytest.mark.parametrize("third", [0.0, 2e-9, 1e-8])
def test_quantiles_are_those_of_a_gamma_distribution(third: float) -> None:
    known = law(null_third=third)
    for t in (0.0, 0.002, 0.1):
        variance = 1e-6 + 2e-4 * t + 1e-3 * t * t
        skewness = min((third + 1e-7 * t) / variance**1.5, math.sqrt(8))
        for q in (0.025, 0.5, 0.975):
            expected = stats.pearson3.ppf(q, skewness, loc=t, scale=math.sqrt(variance))
            assert known.quantile(q, t) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    skewness = min(third / 1e-9, math.sqrt(8))
    for estimate in (-0.0005, 0.0, 0.002):
        expected = stats.pearson3.sf(estimate / 1e-3, skewness)
        assert known.pvalue(estimate) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("estimate", [-0.002, 0.0, 0.001, 0.0018, 0.003, 0.01, 0.2])
def test_ends_of_the_interval_have_the_estimate_as_a_quantile(estimate: float) -> None:
    known, alpha = law(), 0.05
    low, high = known.interval(estimate, alpha)
    assert low <= max(estimate, 0) <= high
    assert (low == 0) == (known.pvalue(estimate) >= alpha)
    assert known.quantile(alpha / 2, high, 1) == pytest.approx(max(estimate, 0), abs=1e-12)
    if low > 0:
        sides = [known.quantile(1 - alpha, low), known.quantile(1 - alpha / 2, low)]
        two_sided = known.quantile(alpha / 2, low, 1) >= -1e-12
        expected = sides[1] if two_sided and sides[1] <= estimate + 1e-12 else sides[0]
        assert sides[0] <= estimate * (1 + 1e-9) <= sides[1] * (1 + 2e-9) or expected == pytest.approx(estimate)


def test_the_interval_starts_at_0_unless_calibration_is_rejected() -> None:
    for seed in range(30):
        error = calibration(*rows(300, seed, 1.2)).error
        assert (error.confidence_interval.low > 0) == (error.pvalue < 0.05)
        assert math.isnan(error.standard_error) == (error.confidence_interval.low == 0)


def test_copies_weights_and_clusters_of_single_rows() -> None:
    y, p = rows(400, times=1.4)
    plain = calibration(y, p).error
    assert_same(calibration(y, p, sample_weight=np.full(400, 0.3)).error, plain)
    assert_same(
        calibration(np.repeat(y, 2), np.repeat(p, 2)).error, calibration(y, p, frequency_weight=[2] * 400).error
    )
    assert_same(calibration(Ranking(y, p)).error, plain)
    clusters = calibration(y, p, groups=np.arange(400)).error
    assert clusters.squared == pytest.approx(plain.squared, rel=1e-12)
    assert clusters.confidence_interval == pytest.approx(plain.confidence_interval, rel=0.1)
    doubled = calibration(np.repeat(y, 2), np.repeat(p, 2), groups=np.repeat(np.arange(400), 2)).error
    assert_same(doubled, clusters)  # copies of a row in one cluster are no more information
    zero = calibration([*y, 0], [*p, 1.0], sample_weight=[1.0] * 400 + [0.0]).error
    assert_same(zero, plain)


def assert_same(found: Any, expected: Any) -> None:
    for name in ("value", "confidence_interval", "standard_error", "pvalue", "squared", "squared_interval"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6, abs=1e-12, nan_ok=True)


def test_a_summary_has_nearly_the_error_of_its_rows() -> None:
    y, p = rows(3000, times=1.4)
    summary = ProbabilitySummary()
    summary.update(y, p)
    found, expected = (calibration(*each, strategy="uniform").error for each in ((summary,), (y, p)))
    assert found.squared == pytest.approx(expected.squared, rel=1e-3)
    assert found.confidence_interval == pytest.approx(expected.confidence_interval, rel=1e-3)


@pytest.mark.parametrize("weight", [None, 2])
def test_bins_of_a_summary_have_both_classes_of_each_cell(weight: int | None) -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 50_000)
    y = rng.random(p.size) < 1.3 * p
    weights = None if weight is None else np.full(p.size, weight)
    summary = ProbabilitySummary()
    summary.update(y, p, sample_weight=weights)
    found, expected = calibration(summary), calibration(y, p)
    np.testing.assert_allclose(found.bins.fraction_of_positives, expected.bins.fraction_of_positives, atol=0.01)
    assert abs(found.error.squared - expected.error.squared) < expected.error.squared_standard_error / 2


@pytest.mark.parametrize(
    ("y", "p", "said"),
    [
        ([1], [0.3], "undefined unless a bin has at least two rows; use fewer bins"),
        ([0, 1, 0], [0.1, 0.5, 0.9], "undefined unless a bin has at least two rows"),
        ([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], "residuals in each bin are equal; label more rows"),
        ([0, 1, 1, 0, 1], [0.01, 0.02, 0.03, 0.5, 0.9], "40 % of the rows are in bins of a single row"),
    ],
)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_what_may_mislead(y: Any, p: Any, said: str) -> None:
    error = calibration(y, p, strategy="uniform").error
    assert said in error.caution
    assert math.isnan(error.confidence_interval.low) == ("%" not in said)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_few_clusters_and_many_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    y, p = rows(60)
    assert "rough below 50 clusters, got 6" in calibration(y, p, groups=np.arange(60) // 10).error.caution
    assert "a bin has at least two clusters" in calibration(y, p, groups=np.zeros(60)).error.caution
    clusters = {"groups": np.arange(60), "strategy": "uniform"}
    error = calibration(y, np.round(p, 1), **clusters, n_bins=1_000_000).error  # most bins are empty
    assert error.n_bins == calibration(y, np.round(p, 1), **clusters, n_bins=20).error.n_bins
    monkeypatch.setattr(errors, "MOST_BINS", 3)
    with pytest.raises(ValueError, match=r"at most 3 bins may have two or more clusters, got 1?\d; use"):
        _ = calibration(y, np.round(p, 1), **clusters).error


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_probabilities_of_0_and_1_that_are_wrong() -> None:
    error = calibration([0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0], strategy="uniform").error
    assert error.squared == 0
    error = calibration([0, 1, 1, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], strategy="uniform").error
    assert error.pvalue == 0
    assert error.confidence_interval.low > 0


@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-300, 1e-155, 1e-110, 1.0])
@pytest.mark.parametrize("n", [1, 2, 1000])
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_probabilities_near_0_and_1_that_are_right(n: int, p: float) -> None:
    error = calibration([round(p)] * n, [p] * n).error
    assert (error.squared_interval.low, error.pvalue) == pytest.approx((math.nan, math.nan), nan_ok=True)
    assert error.value <= 1e-110 if n > 1 else math.isnan(error.value)
    assert error.caution


@pytest.mark.parametrize("p", [1e-300, 1e-155, 1e-109, 1e-60])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_tiny_probabilities_that_are_wrong(p: float, clustered: bool) -> None:
    y = [0, 1] * 50
    error = calibration(y, [p] * 100, groups=np.arange(100) if clustered else None).error
    assert error.value == pytest.approx(math.sqrt((50**2 - 50) / (100**2 - 100)))
    assert 0 < error.confidence_interval.low < error.value < error.confidence_interval.high < 1
    assert error.pvalue < 1e-6


def test_as_a_result() -> None:
    error = calibration(*rows(500, times=1.5)).error
    assert repr(error) == "CalibrationError(0.1809, [0.1406, 0.2244], p=7.76e-17)"
    assert float(error) == error.value
    assert pickle.loads(pickle.dumps(error)).to_dict() == error.to_dict()
    assert list(error.to_dict())[:4] == ["value", "confidence_interval", "standard_error", "pvalue"]
    table = error.to_frame()
    assert table["squared_high"][0] == error.squared_interval.high


@pytest.mark.cases(1)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_same_bits_at_any_number_of_threads(n_threads: int) -> None:
    y, p = rows(300_000, times=1.01)
    with fastevals.num_threads(2):
        expected = calibration(y, p).error.to_dict()
    with fastevals.num_threads(n_threads):
        assert calibration(y, p).error.to_dict() == expected


@pytest.mark.slow
@pytest.mark.parametrize("times", [1.0, 1.5])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_coverage(times: float, strategy: Any) -> None:
    _, many = rows(2_000_000, 1)
    residuals = np.clip(times * many, 0, 1) - many
    edges = np.arange(11) / 10 if strategy == "uniform" else np.quantile(many, np.arange(11) / 10)
    bins = np.searchsorted(edges[1:-1], many)
    gaps = np.bincount(bins, residuals) / many.size
    true = float(np.sum(gaps**2 / (np.bincount(bins) / many.size)))
    covered = []
    for seed in range(600):
        low, high = calibration(*rows(1000, seed + 10, times), strategy=strategy).error.squared_interval
        covered.append(low <= true <= high)
    assert 0.925 <= np.mean(covered) <= 0.985
