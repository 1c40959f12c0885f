"""Metrics without one row, against recomputation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from fastevals import Ranking, metric
from fastevals.infer.bootstrap import samples as base
from fastevals.infer.bootstrap.jackknife import FORMS, leave_each_out
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_score_sample
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from tests.strategies import FEWER, unweighted

KEY = np.uint64(5)
CHOSEN = [
    *(metric("precision", best=by) for by in ("f1", "jaccard", "accuracy", "informedness", "expected_cost")),
    metric("matthews", best="f_score", beta=2),
    metric("recall", best="expected_cost", cost_fp=2, cost_fn=0.7, prior=0.2),
    metric("recall", precision=0.6),
    metric("precision", recall=0.5),
    metric("precision", fpr=0.25),
    metric("specificity", tpr=0.6),
    metric("accuracy", tpr=0),
    metric("f1", n_predicted=4),
]
METRICS = [
    *("roc_auc", "gini", "rank_loss", "average_precision", "pr_auc", "pr_auc_linear"),
    *("break_even_point", "equal_error_rate", "brier_score", "log_loss"),
    metric("roc_auc", max_fpr=0.3, standardize=False),
    metric("roc_auc", max_fpr=0.5, min_tpr=0.2, standardize=False),
    metric("recall", threshold=0.5),
    *CHOSEN,
]

VARYING = [name for name in METRICS if str(name) != "accuracy(tpr=0)"]  # varies in both classes


def sample_of(counts, metrics, *, stratified=False) -> RankingSample:
    asked = parse_metrics(metrics)
    return RankingSample(counts, list(map(ranking_metric, asked.values())), stratified=stratified)


def test_every_form_is_tested():
    sweeps = [ranking_metric(spec).sweep for spec in parse_metrics(METRICS).values()]
    assert {sweep.kernel for sweep in sweeps if sweep} == {"sum_by_bin", *FORMS}


@pytest.mark.cases(10)
@pytest.mark.parametrize("beside", [[], ["average_precision", "brier_score"]], ids=["alone", "on finer steps"])
@pytest.mark.parametrize("name", METRICS, ids=str)
@FEWER
@given(unweighted)
def test_each_row_left_out(name, beside, case):
    y, s = case.y_true, np.clip(case.y_score, 0, 1)
    counts = Ranking(y, s).counts
    sample = sample_of(counts, {"metric": name} | {each: each for each in beside}, stratified=True)
    sweep = sample._sweep
    value = sweep.metrics[0].of_counts
    left_out = leave_each_out(sweep.metrics[0], sweep.steps, counts, stratified=True)
    if left_out is None:
        assert name in CHOSEN
        assert min(counts.n_pos, counts.n_neg) == 1
        return
    if np.isinf(value(counts)):
        return  # has no interval
    for part, label in zip(left_out.strata, (1, 0), strict=True):
        found = np.repeat(left_out.values[part], left_out.times[part].astype(int))
        others = [np.arange(y.size) != row for row in np.flatnonzero(y == label)]
        expected = [value(Ranking(y[rows], s[rows], pos_label=1).counts) for rows in others]
        found[np.isinf(found)] = math.nan
        np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-12, atol=1e-14)


def slow_acceleration(name, y, s, stratified):
    """Leave out each row: Davison and Hinkley (1997), (5.24) and (5.25), for one sample and two."""
    value = ranking_metric(parse_metrics(name)[str(name)]).of_counts
    left = np.array([value(Ranking(np.delete(y, i), np.delete(s, i)).counts) for i in range(y.size)])
    cubes = squares = 0.0
    for rows in [y == 1, y == 0] if stratified else [np.full(y.size, True)]:
        n = rows.sum()
        influence = (n - 1) * (left[rows].mean() - left[rows])
        cubes, squares = cubes + (influence**3).sum() / n**3, squares + (influence**2).sum() / n**2
    return cubes / (6 * squares**1.5)


@pytest.mark.cases(25)
@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("name", [*VARYING, "ks_statistic", metric("roc_auc", max_fpr=0.3)], ids=str)
def test_the_acceleration_is_that_of_leaving_out_each_row(name, stratified):
    rng = np.random.default_rng(3)
    y = (np.arange(45) < 15).astype(int)
    s = np.round(1 / (1 + np.exp(-rng.normal(size=45) - y)), 2)
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


@pytest.mark.parametrize("stratified", [False, True])
def test_random_groups_share_out_all_rows(stratified):
    rng = np.random.default_rng(3)
    sample = sample_of(
        Ranking(np.arange(900) % 3 == 0, rng.random(900).round(2)).counts, ["roc_auc"], stratified=stratified
    )
    for part in sample.strata:
        left = np.array([sample.without_group(KEY, number, part) for number in range(base.GROUPS)], dtype=int)
        assert (left.sum(axis=0) == (base.GROUPS - 1) * sample.sizes[part].astype(int)).all()


def test_groups_of_rows_of_few_large_cells():
    counts = Ranking(np.arange(10**6) % 10 < 3, np.arange(10**6) % 997 + 200 * (np.arange(10**6) % 10 < 3)).counts
    sample = sample_of(counts, ["ks_statistic"])
    assert np.count_nonzero(sample.sizes) > base.GROUPS
    left = sample._groups_left_out(KEY)
    assert left[0].values.shape == (base.GROUPS,)
    assert sample.accelerations(KEY, [0])[0] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("name", METRICS, ids=str)
def test_models_have_their_own(name):
    rng = np.random.default_rng(4)
    y = np.arange(400) % 3 == 0
    models = {"a": rng.random(400), "b": np.round(rng.random(400), 1)}
    sample = make_score_sample(y, models, parse_metrics(name), SamplingDesign())
    alone = [sample_of(Ranking(y, each).counts, name).accelerations(KEY, [0])[0] for each in models.values()]
    np.testing.assert_array_equal(sample.accelerations(KEY, [0])[0], alone)


def test_a_metric_without_one_row_may_be_undefined_or_always_the_same():
    assert np.isfinite(sample_of(Ranking([0, 0, 0, 1], [1, 2, 4, 3]).counts, "roc_auc").accelerations(KEY, [0])[0])
    assert sample_of(Ranking([0, 0, 1, 1], [1, 2, 3, 4]).counts, "roc_auc").accelerations(KEY, [0])[0] == 0
