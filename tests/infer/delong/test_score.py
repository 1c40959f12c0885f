"""Score bounds of AUCs: values, variances, and widths where DeLong's variance is 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastevals import Ranking, delong
from fastevals.infer.delong.score import Placed, PlacementBounds, RowPlacements, likeliest_variance

RNG = np.random.default_rng(5)
Y = RNG.random(300) < 0.3
A, B = (np.round(RNG.standard_normal(300) + 1.5 * Y, 1) for _ in range(2))


def test_placements_give_the_auc_and_delongs_covariance():
    aucs, covariance = delong(Y, np.stack([A, B]))
    one, two = RowPlacements.of(Y, A), RowPlacements.of(Y, B)
    bounds = PlacementBounds.of_rows(one)
    assert bounds.value == Ranking(Y, A).roc_auc()
    assert bounds.standard_error**2 == pytest.approx(covariance[0, 0], rel=1e-12)
    both = PlacementBounds.of_rows(one, two)
    assert both.value == pytest.approx(aucs[0] - aucs[1], abs=1e-14)
    assert both.standard_error**2 == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def test_bounds_include_delongs_and_stay_within_limits():
    bounds = PlacementBounds.of_rows(RowPlacements.of(Y, A))
    inner, outer = bounds.interval(0.9), bounds.interval(0.99)
    assert 0 < outer.low < inner.low < bounds.value < inner.high < outer.high < 1
    assert inner.low <= bounds.value - 1.28 * bounds.standard_error


@pytest.mark.parametrize(("n_pos", "n_neg"), [(50, 950), (950, 50)])
def test_a_perfect_ranking_has_the_exact_bound_of_independent_pairs(n_pos, n_neg):
    """Of 50 independent pairs, all are right with a probability of AUC**50."""
    y = np.arange(n_pos + n_neg) < n_pos
    found = PlacementBounds.of_rows(RowPlacements.of(y, y.astype(float))).interval(0.95)
    assert found.high == 1
    assert found.low**50 == pytest.approx(0.05)


def test_models_that_rank_alike_may_differ():
    same = RowPlacements.of(np.arange(1000) < 50, -np.arange(1000.0))
    low, high = PlacementBounds.of_rows(same, same).interval(0.95)
    assert low == -high == pytest.approx(-(1 - 0.05 ** (1 / 50)))


def test_the_likeliest_variance_of_two_values_is_binomial():
    """Values 0 and 1 have one distribution with a mean of 0.8, whether 0 was observed or not."""
    values, shares = np.array([0.0, 1.0]), np.array([0.1, 0.9])
    assert likeliest_variance(values, shares, 0.0, 0.8) == pytest.approx(0.16)
    assert likeliest_variance(values[1:], np.ones(1), 0.0, 0.8) == pytest.approx(0.16)
    assert likeliest_variance(values, shares, 0.0, -0.1) == 0
    assert likeliest_variance(1 - values, shares, 1.0, 0.2) == pytest.approx(0.16)


def test_the_likeliest_variance_at_the_mean_is_that_of_the_values():
    values = RNG.random(40)
    found = likeliest_variance(values, np.full(40, 1 / 40), -1.0, float(values.mean()))
    assert found == pytest.approx(float(values.var()), rel=1e-6)


def test_binning_many_placements_hardly_moves_the_bounds(monkeypatch):
    y = np.arange(4000) < 400
    scores = np.random.default_rng(1).standard_normal(4000) + 2 * y
    bounds = PlacementBounds.of_rows(RowPlacements.of(y, scores)).interval(0.95)
    monkeypatch.setattr("fastevals.infer.delong.score.BINS", 10**6)
    exact = PlacementBounds.of_rows(RowPlacements.of(y, scores)).interval(0.95)
    assert bounds == pytest.approx(exact, abs=2e-5)
    assert not math.isclose(exact.low, exact.high)


def test_counts_give_the_bounds_of_the_rows():
    of_rows, of_counts = (
        PlacementBounds.of_rows(RowPlacements.of(Y, A)),
        PlacementBounds.of_counts(Ranking(Y, A).counts),
    )
    assert of_counts.value == of_rows.value
    assert of_counts.interval(0.95) == pytest.approx(of_rows.interval(0.95), abs=1e-12)


def test_bins_lose_no_variance():
    values = RNG.random(5000) ** 20
    placed = Placed.of(values)
    assert placed.values.size <= 1024
    assert placed.spread == pytest.approx(values.var())
    assert placed.variance_at(float(values.mean()), -1.0) == pytest.approx(values.var(ddof=1) / 5000)
