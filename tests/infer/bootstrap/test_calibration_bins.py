"""The calibration error in chosen bins equals the twin's in every call that takes a metric."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import CalibrationCurve, Ranking, metric, scale
from fastevals.infer.bootstrap.few_cells import make_few_cell_sample
from fastevals.infer.bootstrap.ranking_samples import ModelsSample, make_ranking_sample
from fastevals.measure.metric_specs import ranking_metric
from tests.reference import calibration as twin

N = 240
RNG = np.random.default_rng(0)
P = RNG.random(N).round(2)
Y = (RNG.random(N) < P**1.5).astype(int)
Q = np.clip(P + RNG.normal(0, 0.1, N), 0, 1)
WEIGHTS = RNG.integers(1, 4, N) / 2
GROUPS = np.arange(N) // 4
UNIFORM: list[dict[str, Any]] = [{"n_bins": 15}, {"n_bins": 1}]
QUANTILE: list[dict[str, Any]] = [{"n_bins": 3, "strategy": "quantile"}]
given_bins = pytest.mark.parametrize("bins", UNIFORM + QUANTILE, ids=str)


def error_of(y: Any, p: Any, *, n_bins: int = 10, strategy: str = "uniform", weights: Any = None) -> float:
    edges = twin.uniform_edges(n_bins) if strategy == "uniform" else twin.quantile_edges(n_bins, y, p, weights)
    return float(twin.expected_calibration_error(twin.calibration(edges, y, p, weights)))


def as_function(bins: dict[str, Any]) -> Any:
    return lambda counts: CalibrationCurve.from_counts(counts, **bins).expected_calibration_error


@pytest.mark.cases(1)
@given_bins
def test_the_value_is_the_twins(bins: dict[str, Any]) -> None:
    asked = metric("ece", **bins)
    found = fastevals.bootstrap((Y, P), {"with": asked, "ten": "ece"}, n_resamples=19, rng=0)
    assert found["with"].value == pytest.approx(error_of(Y, P, **bins), rel=1e-13)
    assert found["ten"].value == pytest.approx(error_of(Y, P), rel=1e-13)
    many = fastevals.batch_metrics(Y, [P, Q], asked)[str(asked)]
    np.testing.assert_allclose(many.values, [error_of(Y, each, **bins) for each in (P, Q)], rtol=1e-12)
    groups = np.arange(N) % 40
    by_group = fastevals.grouped_metrics(Y, P, groups, asked, sample_weight=WEIGHTS)[str(asked)]
    expected = [error_of(Y[groups == k], P[groups == k], **bins, weights=WEIGHTS[groups == k]) for k in (0, 20, 39)]
    np.testing.assert_allclose(by_group.values[[0, 20, 39]], expected, rtol=1e-12)
    folds = fastevals.evaluate_splits(Y, P, np.arange(N) % 3, metrics=asked)[str(asked)]
    assert folds.per_split.ravel()[1] == pytest.approx(error_of(Y[1::3], P[1::3], **bins), rel=1e-12)


@pytest.mark.parametrize(
    "bins", [*UNIFORM, *(pytest.param(each, marks=pytest.mark.slow) for each in QUANTILE)], ids=str
)
def test_each_replicate_is_the_twins(bins: dict[str, Any]) -> None:
    y, p = np.tile(Y, 3), np.random.default_rng(1).random(3 * N).round(5)
    sample = make_ranking_sample(Ranking(y, p).counts, [ranking_metric(metric("ece", **bins))], stratified=False)
    assert isinstance(sample, ModelsSample)
    key, order = np.uint64(3), np.lexsort((-p, y == 0))
    (values,) = sample.replicates(2, key)
    for times, value in zip(sample.draws(key, range(2), sample.workspace()), values, strict=True):
        rows = np.repeat(order, times[: y.size])
        assert value == pytest.approx(error_of(y[rows], p[rows], **bins), rel=1e-12)


@pytest.mark.cases(6)
@given_bins
@pytest.mark.parametrize(
    "rows", [{}, {"groups": GROUPS}, {"sample_weight": WEIGHTS}], ids=["rows", "groups", "weights"]
)
def test_inference_is_that_of_a_function_of_the_counts(bins: dict[str, Any], rows: dict[str, Any]) -> None:
    asked = {"bins": metric("ece", **bins), "function": as_function(bins), "ten": "ece"}
    options: dict[str, Any] = {"n_resamples": 19, "rng": 1, "keep_distribution": True, "method": "percentile", **rows}
    found = fastevals.bootstrap((Y, P.round(1)), asked, **options)
    one, other = (found[name].bootstrap_distribution for name in ("bins", "function"))
    np.testing.assert_allclose(one, other, rtol=1e-11)
    compared = fastevals.compare_rankings(Y, {"p": P, "q": Q}, metrics=asked, **options)
    for own, called in zip(compared["bins"].differences, compared["function"].differences, strict=True):
        np.testing.assert_allclose([own.value, *own.confidence_interval], [called.value, *called.confidence_interval])
    assert compared["bins"].estimates["p"].value == pytest.approx(
        error_of(Y, P, **bins, weights=rows.get("sample_weight")), rel=1e-12
    )


@given_bins
def test_few_cells_that_reach_over_edges_are_not_drawn(bins: dict[str, Any]) -> None:
    y, p = np.tile(Y, 4), np.random.default_rng(1).random(4 * N)
    asked: dict[str, Any] = {"bins": metric("ece", **bins), "function": as_function(bins), "ten": metric("ece")}
    sample = make_few_cell_sample(Ranking(y, p), asked, stratified=False)
    one, other, ten = sample.replicates(20, np.uint64(0))
    np.testing.assert_allclose(one, other, rtol=1e-11)
    assert len({*one, *ten}) == 40


@pytest.mark.cases(1)
@given_bins
def test_permutations_are_all_swaps_of_rows(bins: dict[str, Any]) -> None:
    y, p, q = Y[:8], P[:8].round(1), Q[:8].round(1)
    found = fastevals.permutation_test(y, p, q, metric("ece", **bins))
    differences = []
    for swapped in product((False, True), repeat=8):
        one, other = np.where(swapped, q, p), np.where(swapped, p, q)
        differences.append(error_of(y, one, **bins) - error_of(y, other, **bins))
    assert found.exact
    assert found.statistic == pytest.approx(differences[0], abs=1e-14)
    extreme = np.abs(differences) >= abs(differences[0]) - 1e-12
    assert found.pvalue == pytest.approx(np.mean(extreme), abs=1e-12)


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"n_bins": 0}, "n_bins must be an integer from 1 to 1000000, got 0"),
        ({"n_bins": None}, "n_bins must be an integer, got None"),
        ({"strategy": "equal"}, "strategy must be one of 'uniform', 'quantile'; got 'equal'"),
        ({"bins": 5}, r"has no option bins= \(did you mean 'n_bins'\?\); it takes n_bins, strategy"),
    ],
)
def test_wrong_bins_are_named(bins: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.bootstrap((Y, P), metric("expected_calibration_error", **bins))


def test_summaries_say_which_bins_they_keep() -> None:
    kept, ranges = scale.ProbabilitySummary(n_bins=15), scale.RankingSummary(cells=16)
    for each in (kept, ranges):
        each.update(Y, P)
    assert kept.expected_calibration_error(15) == pytest.approx(error_of(Y, P, n_bins=15), rel=1e-13)
    for bins in ({"n_bins": 10}, {"strategy": "quantile"}):
        with pytest.raises(
            ValueError, match=r"n_bins must be 15 and strategy 'uniform', as in this summary, .*n_bins=\.\.\."
        ):
            kept.expected_calibration_error(**bins)
    with pytest.raises(ValueError, match=r"error\(n_bins=15\): also count rows with a ProbabilitySummary"):
        fastevals.bootstrap(ranges, metric("ece", n_bins=15), n_resamples=19)
    exact = scale.RankingSummary()
    exact.update(Y, P)
    found, expected = (
        fastevals.bootstrap(each, metric("ece", n_bins=15), n_resamples=19, rng=0) for each in (exact, Ranking(Y, P))
    )
    assert found.to_dict() == expected.to_dict()
