"""Score bounds of AUCs: values, variances, and widths where DeLong's variance is 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastevals import Ranking, delong
from fastevals.infer.delong.score import PlacementBounds, likeliest_variance, placements

RNG = np.random.default_rng(5)
Y = RNG.random(300) < 0.3
A, B = (np.round(RNG.standard_normal(300) + 1.5 * Y, 1) for _ in range(2))


def test_placements_give_the_auc_and_delongs_covariance():
    aucs, covariance = delong(Y, np.stack([A, B]))
    one, two = placements(Y, A), placements(Y, B)
    bounds = PlacementBounds(one, (0.0, 1.0))
    assert bounds.value == pytest.approx(Ranking(Y, A).roc_auc(), rel=1e-14)
    assert bounds.standard_error**2 == pytest.approx(covariance[0, 0], rel=1e-12)
    both = PlacementBounds((one[0] - two[0], one[1] - two[1]), (-1.0, 1.0))
    assert both.value == pytest.approx(aucs[0] - aucs[1], abs=1e-14)
    assert both.standard_error**2 == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def test_bounds_include_delongs_and_stay_within_limits():
    bounds = PlacementBounds(placements(Y, A), (0.0, 1.0))
    inner, outer = bounds.interval(0.9), bounds.interval(0.99)
    assert 0 < outer.low < inner.low < bounds.value < inner.high < outer.high < 1
    assert inner.low <= bounds.value - 1.28 * bounds.standard_error


@pytest.mark.parametrize(("n_pos", "n_neg"), [(50, 950), (950, 50)])
def test_a_perfect_ranking_has_the_exact_bound_of_independent_pairs(n_pos, n_neg):
    """Of 50 independent pairs, all are right with a probability of AUC**50."""
    y = np.arange(n_pos + n_neg) < n_pos
    found = PlacementBounds(placements(y, y.astype(float)), (0.0, 1.0)).interval(0.95)
    assert found.high == 1
    assert found.low**50 == pytest.approx(0.05)


def test_models_that_rank_alike_may_differ():
    same = np.zeros(50), np.zeros(950)
    low, high = PlacementBounds(same, (-1.0, 1.0)).interval(0.95)
    assert low == -high == pytest.approx(-(1 - 0.05 ** (1 / 50)))


def test_the_likeliest_variance_of_two_values_is_binomial():
    """Values 0 and 1 have one distribution with a mean of 0.8, whether 0 was observed or not."""
    values, shares = np.array([0.0, 1.0]), np.array([0.1, 0.9])
    assert likeliest_variance(values, shares, 0.0, 0.8) == pytest.approx(0.16)
    assert likeliest_variance(values[1:], np.ones(1), 0.0, 0.8) == pytest.approx(0.16)
    assert likeliest_variance(values, shares, 0.0, -0.1) == 0


def test_the_likeliest_variance_at_the_mean_is_that_of_the_values():
    values = RNG.random(40)
    found = likeliest_variance(values, np.full(40, 1 / 40), -1.0, float(values.mean()))
    assert found == pytest.approx(float(values.var()), rel=1e-6)


def test_binning_many_placements_hardly_moves_the_bounds(monkeypatch):
    y = np.arange(4000) < 400
    scores = np.random.default_rng(1).standard_normal(4000) + 2 * y
    bounds = PlacementBounds(placements(y, scores), (0.0, 1.0)).interval(0.95)
    monkeypatch.setattr("fastevals.infer.delong.score.BINS", 10**6)
    exact = PlacementBounds(placements(y, scores), (0.0, 1.0)).interval(0.95)
    assert bounds == pytest.approx(exact, abs=2e-5)
    assert not math.isclose(exact.low, exact.high)
