"""Summaries of many cells are bootstrapped from fewer: the intervals are those of all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import Ranking, ThresholdCounts, bootstrap, metric
from fastevals.infer.bootstrap.ranking_samples import (
    MANY_THRESHOLDS,
    STEPS,
    ModelsSample,
    RankingSample,
    coarse_rows,
    make_ranking_sample,
)
from fastevals.infer.bootstrap.samples import Sample
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from fastevals.scale import RankingSummary

CHOSEN = [  # by a rate, or by another metric: a replicate's own threshold is as fine as of all cells
    metric("recall", precision=0.3), metric("precision", recall=0.6), metric("recall", fpr=0.05),
    metric("recall", fpr=0.001), metric("false_positive_rate", tpr=0.8), metric("matthews", best="f1"),
    metric("f1", best="f1"), metric("recall", n_predicted=3000), "equal_error_rate",
]  # fmt: skip
WHOLE = [
    "roc_auc", "average_precision", "pr_auc", "break_even_point", "equal_error_rate", "equal_error_rate_on_hull",
    "cost_area", "ks_statistic", metric("roc_auc", max_fpr=0.1), metric("accuracy", threshold=1.25),
]  # fmt: skip


@cache
def counts_of(n: int, rate: float) -> ThresholdCounts:
    rng = np.random.default_rng(5)
    y = rng.random(n) < rate
    return Ranking(y, np.round(rng.normal(size=n) + 1.5 * y, 4 if n > 50_000 else 3)).counts


def replicates(metrics: list[Any], counts: ThresholdCounts, kept: NDArray[np.intp], n: int) -> NDArray[np.float64]:
    """Draw all cells, and measure each draw twice: as it is, and with steps drawn of the rows that are kept."""
    rng, functions = np.random.default_rng(6), [ranking_metric(each) for each in parse_metrics(metrics).values()]
    sizes, values = np.stack((np.diff(counts.tps), np.diff(counts.fps))), np.empty((2, n, len(functions)))
    moved = [each.of_counts(counts) - each.of_counts(counts.take(kept)) for each in functions]
    for k in range(n):
        tps, fps = np.pad(np.cumsum(rng.poisson(sizes), axis=1), ((0, 0), (1, 0)))
        drawn = ThresholdCounts._unchecked(counts.thresholds, tps, fps)
        values[0, k] = [each.of_counts(drawn) for each in functions]
        values[1, k] = [each.of_counts(drawn.take(kept)) for each in functions] + np.array(moved)
    return values


def half_widths(values: NDArray[np.float64]) -> NDArray[np.float64]:
    ends = np.quantile(values, [0.025, 0.975], axis=1)
    return np.asarray(ends[1] - ends[0]) / 2


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rate"), [(100_000, 0.1), (2_000_000, 0.1), (2_000_000, 0.003), (1_000_000, 0.5)])
def test_half_widths_are_those_of_all_cells(n: int, rate: float) -> None:
    counts = counts_of(n, rate)
    functions = [ranking_metric(each) for each in parse_metrics(WHOLE).values()]
    all_cells, fewer = replicates(WHOLE, counts, coarse_rows(counts, functions), 1500)
    np.testing.assert_allclose(fewer.std(axis=0), all_cells.std(axis=0), rtol=0.005)
    # Quantiles of replicates that differ in order alone differ by their own noise.
    np.testing.assert_allclose(*half_widths(np.stack((fewer, all_cells))), rtol=0.02)
    drift = np.abs((fewer - all_cells).mean(axis=0)) / all_cells.std(axis=0)
    assert drift.max() < 0.03


@pytest.mark.parametrize("rate", [0.1, pytest.param(0.4, marks=pytest.mark.slow)])
def test_thresholds_that_replicates_choose_are_those_of_all_cells(rate: float) -> None:
    counts = counts_of(100_000, rate)
    for name, each in parse_metrics(CHOSEN).items():
        kept = coarse_rows(counts, [ranking_metric(each)])
        all_cells, fewer = replicates([each], counts, kept, 15)
        assert kept.size < 0.5 * counts.thresholds.size, name
        np.testing.assert_allclose(fewer, all_cells, rtol=1e-12, err_msg=name)


def test_equal_errors_of_a_rare_class_are_those_of_all_cells() -> None:
    counts = counts_of(100_000, 0.003)
    kept = coarse_rows(counts, [ranking_metric(each) for each in parse_metrics(["equal_error_rate"]).values()])
    np.testing.assert_allclose(*replicates(["equal_error_rate"], counts, kept, 15), rtol=1e-12)


def test_few_cells_are_drawn_as_they_are() -> None:
    counts = counts_of(20_000, 0.1)
    assert 1000 < counts.thresholds.size <= MANY_THRESHOLDS
    summary = RankingSummary.from_cells(*2 * [counts.thresholds[1:]], np.diff(counts.tps), np.diff(counts.fps))
    found, expected = (bootstrap(each, WHOLE, n_resamples=49, rng=1) for each in (summary, counts))
    assert [each.confidence_interval for each in found.values()] == [
        each.confidence_interval for each in expected.values()
    ]


def test_a_summary_of_many_cells_has_the_intervals_of_its_rows() -> None:
    counts = counts_of(100_000, 0.1)
    summary = RankingSummary.from_cells(*2 * [counts.thresholds[1:]], np.diff(counts.tps), np.diff(counts.fps))
    metrics = ["roc_auc", "average_precision", "ks_statistic", metric("recall", fpr=0.05)]
    found, expected = (bootstrap(each, metrics, n_resamples=2999, rng=1) for each in (summary, counts))
    for name, estimate in found.items():
        assert estimate.value == expected[name].value
        assert estimate.standard_error == pytest.approx(expected[name].standard_error, rel=0.06)
        ends = np.subtract(estimate.confidence_interval, expected[name].confidence_interval)
        assert np.abs(ends).max() < 0.35 * estimate.standard_error


def sample_of(metrics: list[Any], *, coarse: bool) -> Sample:
    specs = [ranking_metric(each) for each in parse_metrics(metrics).values()]
    return make_ranking_sample(counts_of(100_000, 0.1), specs, stratified=True, coarse=coarse)


def test_what_is_drawn_of_many_cells() -> None:
    fixed = metric("f1", threshold=0.77)
    fewer = sample_of(["roc_auc", "average_precision", fixed], coarse=True)
    assert isinstance(fewer, RankingSample)
    assert fewer.sizes.sum() == 100_000
    assert STEPS < np.count_nonzero(fewer.sizes) < 4.1 * STEPS
    assert fewer.estimates()[2] == ranking_metric(fixed).of_counts(counts_of(100_000, 0.1))
    assert isinstance(sample_of(["brier_score", "roc_auc"], coarse=True), ModelsSample)  # values of scores count
    assert sample_of(["roc_auc"], coarse=False).sizes.size > 20_000


def test_replicates_stay_within_the_bounds_of_their_metric() -> None:
    n = 40_000
    y = np.arange(n) >= n // 2
    y[[n // 2 - 1, n // 2]] = True, False  # all but perfect
    counts = Ranking(y, np.arange(n)).counts
    summary = RankingSummary.from_cells(*2 * [counts.thresholds[1:]], np.diff(counts.tps), np.diff(counts.fps))
    found = bootstrap(summary, ["roc_auc", "pr_auc"], n_resamples=99, rng=1, keep_distribution=True)
    for estimate in found.values():
        assert estimate.bootstrap_distribution is not None
        assert 0.999 < estimate.bootstrap_distribution.min() <= estimate.bootstrap_distribution.max() <= 1


@pytest.mark.parametrize("n_scores", [40, *(pytest.param(n, marks=pytest.mark.slow) for n in (9, 12_000))])
def test_any_number_of_rows(n_scores: int) -> None:
    """Past 2**32 rows errors go on falling as the root of their number."""
    scores = np.linspace(-3, 4, n_scores)
    shares = np.stack([np.exp(-((scores - mean) ** 2) / 2) for mean in (1, 0)])
    shares /= shares.sum(axis=1, keepdims=True)
    metrics = [*WHOLE, metric("f1", best="f1")]
    found = []
    for n in (10**7, 10**12):
        rows = np.rint(shares * np.array([[0.1], [0.9]]) * n).astype(np.int64)
        found.append(bootstrap(RankingSummary.from_cells(scores, scores, *rows), metrics, n_resamples=400, rng=1))
    for name, few in found[0].items():
        many = found[1][name]
        assert many.value == pytest.approx(few.value, abs=2e-3)
        assert many.standard_error * np.sqrt(10**5) == pytest.approx(few.standard_error, rel=0.2), name
        low, high = many.confidence_interval
        assert low < many.value < high
