"""Metrics without one row: each against its own recomputation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from fastevals import Ranking, metric
from fastevals._kernels import jackknife, replicate_metrics
from fastevals._kernels.steps import totals
from fastevals.infer.bootstrap import samples as base
from fastevals.infer.bootstrap.ranking_samples import RankingSample, Steps
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from fastevals.measure.registry import Detail
from tests.strategies import BOUNDED, unweighted

KERNELS = {name: getattr(jackknife, name) for name in ("average_precision", "roc_auc")}
KEY = np.uint64(5)


def sample_of(counts, metrics, *, stratified=False) -> RankingSample:
    asked = parse_metrics(metrics)
    return RankingSample(counts, list(map(ranking_metric, asked.values())), stratified=stratified)


def without_one(name: str, steps: Steps) -> list[float]:
    values = []
    for cell in range(steps.sizes.size):
        counts = steps.sizes.astype(np.int64)
        counts.flat[cell] -= 1
        value = math.nan
        if counts.flat[cell] >= 0:
            value = getattr(replicate_metrics, name)(*counts, steps.tied, *totals(*counts))
        values.append(value)
    return values


@pytest.mark.parametrize("name", KERNELS)
@BOUNDED
@given(unweighted)
def test_a_row_of_each_cell_left_out(name, case):
    steps = Steps.from_counts(Ranking(case.y_true, case.y_score).counts, Detail.POSITIVES)
    found = np.empty(steps.sizes.shape)
    KERNELS[name](*steps.sizes, steps.tied, *totals(*steps.sizes), found)
    expected = np.array(without_one(name, steps))
    there = steps.sizes.ravel() > 0
    defined = there & ~np.isnan(expected)
    np.testing.assert_allclose(found.ravel()[defined], expected[defined], rtol=1e-13, atol=1e-15)
    assert not np.isfinite(found.ravel()[there & np.isnan(expected)]).any()


METRICS = ["roc_auc", "average_precision", "ks_statistic", "gini", metric("recall", threshold=0.5)]


def slow_acceleration(name, y, s, stratified):
    """Leave out each row; Davison and Hinkley (1997), (5.24) and (5.25), for one sample and for two."""
    value = ranking_metric(parse_metrics(name)[str(name)]).of_counts
    left = np.array([value(Ranking(np.delete(y, i), np.delete(s, i)).counts) for i in range(y.size)])
    cubes = squares = 0.0
    for rows in [y == 1, y == 0] if stratified else [np.full(y.size, True)]:
        n = rows.sum()
        influence = (n - 1) * (left[rows].mean() - left[rows])
        cubes, squares = cubes + (influence**3).sum() / n**3, squares + (influence**2).sum() / n**2
    return cubes / (6 * squares**1.5)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("name", METRICS, ids=str)
def test_the_acceleration_is_that_of_leaving_out_each_row(name, stratified):
    rng = np.random.default_rng(3)
    y = (np.arange(90) < 30).astype(int)
    s = np.round(rng.normal(size=90) + y, 1)
    sample = sample_of(Ranking(y, s).counts, [name], stratified=stratified)
    assert sample.accelerations(KEY, [0])[0] == pytest.approx(
        slow_acceleration(name, y, s, stratified), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("stratified", [False, True])
def test_groups_of_rows_stand_for_rows_where_there_are_many(stratified, monkeypatch):
    rng = np.random.default_rng(3)
    y = np.arange(3000) < 30
    s = rng.normal(size=3000) + 2 * y
    names = ["roc_auc", "average_precision"]
    sample = sample_of(Ranking(y, s).counts, names, stratified=stratified)
    exact = list(sample.accelerations(KEY, [0, 1]).values())
    monkeypatch.setattr(RankingSample, "closed_form_acceleration", lambda self, metric: None)
    for key in (1, 2):
        grouped = list(sample.accelerations(np.uint64(key), [0, 1]).values())
        np.testing.assert_allclose(grouped, exact, atol=4 * 0.41 / base.GROUPS)
    assert abs(exact[0]) > 0.02


def test_groups_of_rows_of_few_large_cells():
    counts = Ranking(np.arange(10**6) % 10 < 3, np.arange(10**6) % 997 + 200 * (np.arange(10**6) % 10 < 3)).counts
    sample = sample_of(counts, ["ks_statistic"])
    assert np.count_nonzero(sample.sizes) > base.GROUPS
    left = sample._groups_left_out(KEY)
    assert left[0].values.shape == (base.GROUPS,)
    assert sample.accelerations(KEY, [0])[0] == pytest.approx(0, abs=0.01)


def test_a_metric_without_one_row_may_be_undefined_or_always_the_same():
    assert np.isfinite(sample_of(Ranking([0, 0, 0, 1], [1, 2, 4, 3]).counts, "roc_auc").accelerations(KEY, [0])[0])
    assert sample_of(Ranking([0, 0, 1, 1], [1, 2, 3, 4]).counts, "roc_auc").accelerations(KEY, [0])[0] == 0
