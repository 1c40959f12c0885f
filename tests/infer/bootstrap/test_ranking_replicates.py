"""Replicates of rankings are reproducible, joint, and distributed like rows drawn with replacement."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from fastevals import Ranking, ThresholdCounts, num_threads
from fastevals.infer.bootstrap.ranking_samples import DRAWS_TOGETHER, ModelsSample, RankingSample, make_ranking_sample
from fastevals.measure.metric_specs import MetricSpec, metric, parse_metrics, ranking_metric
from fastevals.measure.registry import SCORE_METRICS

KEY = np.uint64(99)
OF_RANKINGS = [
    MetricSpec(name, {})
    for name, entry in SCORE_METRICS.items()
    if entry.of == "ranking" and name != "coverage_at_risk"  # its finer cells have other draws
]
AT_THRESHOLDS = [
    metric("roc_auc", max_fpr=0.3),
    metric("roc_auc", max_fpr=0.6, min_tpr=0.4, standardize=False),
    metric("f1", best="f1"),
    metric("f_score", beta=2.0, best="f_score"),
    metric("expected_cost", best="expected_cost", cost_fn=3.0),
    metric("precision", recall=0.6),
    metric("recall", precision=0.6),
    metric("recall", fpr=0.2),
    metric("false_positive_rate", tpr=0.7),
    metric("recall", n_predicted=20),
    metric("matthews", fpr=0.3),
    metric("f1", threshold=0.2),
    metric("specificity", threshold=0.55),
]


def ranking_replicates(counts, metrics, n_resamples, key, *, stratified=False):
    """Return the replicates, one column per metric."""
    asked = parse_metrics(metrics)
    sample = RankingSample(counts, list(map(ranking_metric, asked.values())), stratified=stratified)
    return np.stack(sample.replicates(n_resamples, key), axis=1)


def example(n: int = 200, seed: int = 0, digits: int = 1) -> Ranking:
    rng = np.random.default_rng(seed)
    y = np.arange(n) < 0.3 * n
    return Ranking(y, np.round(rng.normal(size=n) + y, digits))


def test_the_same_bits_at_any_number_of_threads_replicates_and_metrics():
    counts = example().counts
    whole = ranking_replicates(counts, OF_RANKINGS, 50, KEY)
    with num_threads(1):
        np.testing.assert_array_equal(ranking_replicates(counts, OF_RANKINGS, 50, KEY), whole)
    np.testing.assert_array_equal(ranking_replicates(counts, OF_RANKINGS, 13, KEY), whole[:13])
    assert not np.array_equal(ranking_replicates(counts, OF_RANKINGS, 50, np.uint64(100)), whole)
    apart = ["average_precision", "roc_auc"]
    names = [list(map(str, OF_RANKINGS)).index(name) for name in apart]
    np.testing.assert_array_equal(ranking_replicates(counts, apart, 50, KEY), whole[:, names])


@cache
def rankings_of_rows_drawn(stratified):
    """Draw rows of example(60) with replacement 500 times, and rank them."""
    rng = np.random.default_rng(1)
    y, s = np.arange(60) < 18, np.round(np.random.default_rng(0).normal(size=60) + (np.arange(60) < 18), 1)
    groups = [np.flatnonzero(y), np.flatnonzero(~y)] if stratified else [np.arange(60)]
    drawn = (np.concatenate([rng.choice(group, group.size) for group in groups]) for _ in range(500))
    return [Ranking(y[rows], s[rows]).counts for rows in drawn]


@pytest.mark.parametrize("stratified", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("asked", [*OF_RANKINGS, *AT_THRESHOLDS], ids=str)
def test_replicates_are_distributed_as_those_of_rows(asked, stratified):
    ranking, metric = example(60), ranking_metric(asked).of_counts
    found = ranking_replicates(ranking.counts, [asked], 1500, KEY, stratified=stratified)[:, 0]
    expected = [float(metric(counts)) for counts in rankings_of_rows_drawn(stratified)]
    # Mathematically equal values of the two sides may differ by rounding, which a rank test would count.
    one, other = (np.nan_to_num(np.round(values, 12), nan=-1.0) for values in (found, expected))
    assert stats.ks_2samp(one, other).pvalue > 1e-4


@pytest.mark.parametrize("stratified", [False, True])
def test_rows_that_are_nearly_a_cell_each_are_drawn_one_by_one(stratified):
    rng = np.random.default_rng(2)
    y = rng.permutation(np.arange(700) < 200)
    s = np.round(1 / (1 + np.exp(-rng.normal(size=700) - y)), 3)
    asked = ["brier_score", "log_loss", "expected_calibration_error", "roc_auc", metric("accuracy", best="f1")]
    metrics = list(map(ranking_metric, parse_metrics(asked).values()))
    sample = make_ranking_sample(Ranking(y, s).counts, metrics, stratified=stratified)
    assert isinstance(sample, ModelsSample)
    values = np.stack(sample.replicates(DRAWS_TOGETHER + 1, KEY), axis=1)
    for n in range(1, DRAWS_TOGETHER + 1):
        np.testing.assert_array_equal(np.stack(sample.replicates(n, KEY), axis=1), values[:n])
    order = np.lexsort((-s, ~y))
    for times, row in zip(sample.draws(KEY, range(DRAWS_TOGETHER + 1), sample.workspace()), values, strict=True):
        rows = np.repeat(order, times[:700])
        assert rows.size == 700
        assert y[rows].sum() == 200 or not stratified
        counts = Ranking(y[rows], s[rows]).counts
        np.testing.assert_allclose(row, [each.of_counts(counts) for each in metrics], rtol=1e-12)


def test_cells_are_drawn_where_they_are_few_or_no_metric_tells_scores_apart():
    y, s = np.arange(3000) % 3 == 0, np.arange(3000) * 0.618 % 1
    for name, scores in (("roc_auc", s), ("brier_score", s.round(2)), ("brier_score", s[:240])):
        ranking = Ranking(y[: scores.size], scores)
        sample = make_ranking_sample(ranking.counts, [ranking_metric(MetricSpec(name, {}))], stratified=False)
        assert isinstance(sample, RankingSample)


def test_replicates_are_joint():
    replicates = ranking_replicates(example().counts, OF_RANKINGS, 200, KEY)
    at = {str(metric): replicates[:, k] for k, metric in enumerate(OF_RANKINGS)}
    np.testing.assert_allclose(at["gini"], 2 * at["roc_auc"] - 1, rtol=1e-13)
    np.testing.assert_allclose(at["rank_loss"], 1 - at["roc_auc"], rtol=1e-12)
    assert np.corrcoef(at["roc_auc"], at["average_precision"])[0, 1] > 0.5


def test_the_spread_of_the_auc_is_that_of_the_theory():
    ranking = example(4000, digits=6)
    replicates = ranking_replicates(ranking.counts, "roc_auc", 2000, KEY, stratified=True)[:, 0]
    y, s = np.arange(4000) < 1200, np.round(np.random.default_rng(0).normal(size=4000) + (np.arange(4000) < 1200), 6)
    above = s[y][:, None] > s[~y]
    variance = above.mean(axis=1).var() / 1200 + above.mean(axis=0).var() / 2800
    assert replicates.mean() == pytest.approx(ranking.roc_auc(), abs=5 * math.sqrt(variance / 2000))
    assert replicates.std() == pytest.approx(math.sqrt(variance), rel=0.08)


def test_draws_of_one_class_are_undefined():
    ranking = Ranking([0, 0, 0, 0, 1], [1, 2, 3, 4, 5])
    replicates = ranking_replicates(ranking.counts, ["roc_auc", "average_precision"], 500, KEY)
    undefined = np.isnan(replicates)
    assert (undefined[:, 0] >= undefined[:, 1]).all()
    assert undefined[:, 1].mean() == pytest.approx(0.8**5, abs=0.09)
    stratified = ranking_replicates(ranking.counts, "roc_auc", 50, KEY, stratified=True)
    assert (stratified == 1).all()


def test_one_class_alone():
    counts = Ranking([1, 1, 1], [1, 2, 3]).counts
    for stratified in (False, True):
        assert np.isnan(ranking_replicates(counts, "roc_auc", 5, KEY, stratified=stratified)).all()


def test_rows_whose_pairs_are_past_64_bits():
    counts = ThresholdCounts([math.inf, 2, 1], [0, 2**30, 2**33], [0, 2**29, 2**33])
    for stratified in (False, True):
        values = ranking_replicates(counts, "roc_auc", 50, KEY, stratified=stratified)[:, 0]
        assert abs(values - Ranking.from_threshold_counts(counts).roc_auc()).max() < 1e-4
        assert values.std() > 0
