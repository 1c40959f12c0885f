"""`holdout_reuse`: expected maxima, margins and the attack, against simulation and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastevals
from fastevals.infer.selection.holdout_reuse import expected_maximum


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 1 / math.sqrt(math.pi)), (3, 1.5 / math.sqrt(math.pi))])
def test_expected_maximum_of_few_normals(k: int, value: float) -> None:
    assert expected_maximum(k) == pytest.approx(value, abs=1e-6)


def test_expected_maximum_of_many_normals() -> None:
    k = 10**9
    assert math.sqrt(2 * math.log(k)) * 0.9 < expected_maximum(k) < math.sqrt(2 * math.log(k))


def test_luck_of_the_best_is_what_simulated_models_have() -> None:
    rng = np.random.default_rng(0)
    best = rng.binomial(1000, 0.9, size=(20_000, 20)).max(axis=1) / 1000 - 0.9
    assert fastevals.holdout_reuse(1000, 20, value=0.9).luck_of_best == pytest.approx(best.mean(), rel=0.03)


def test_simultaneous_margins_hold_for_all_models() -> None:
    rng = np.random.default_rng(1)
    cost = fastevals.holdout_reuse(5000, 30, value=0.7)
    farthest = np.abs(rng.binomial(5000, 0.7, size=(4000, 30)) / 5000 - 0.7).max(axis=1)
    assert (farthest <= cost.simultaneous_margin).mean() == pytest.approx(0.95, abs=0.015)  # 4 standard errors


def test_feedback_costs_what_the_attack_gains() -> None:
    rng, n, k, gains = np.random.default_rng(2), 500, 50, []
    for _ in range(300):
        right = np.where(rng.random((k, n)) < 0.5, 1, -1)
        turned = np.where(right.mean(axis=1) >= 0, 1, -1)
        votes = turned @ right
        gains.append((votes > 0).mean() + (votes == 0).mean() / 2 - 0.5)
    assert fastevals.holdout_reuse(n, k).luck_by_feedback == pytest.approx(np.mean(gains), rel=0.05)


def test_alike_models_cost_less() -> None:
    costs = [fastevals.holdout_reuse(1000, 50, correlation=rho).luck_of_best for rho in (0.0, 0.5, 0.75)]
    assert costs[1] == pytest.approx(costs[0] * math.sqrt(0.5))
    assert costs[2] == pytest.approx(costs[0] * 0.5)


def test_one_look_costs_nothing() -> None:
    cost = fastevals.holdout_reuse(400, 1, value=0.8)
    assert (cost.luck_of_best, cost.luck_by_feedback) == (0.0, 0.0)
    assert cost.simultaneous_margin == pytest.approx(cost.margin)
    assert cost.margin == pytest.approx(1.959964 * 0.02, rel=1e-6)
    assert "One look at 400 rows" in str(cost)
    assert "One look at 1 row:" in fastevals.holdout_reuse(1, 1).conclusion


def test_other_metrics_have_a_deviation() -> None:
    cost = fastevals.holdout_reuse(100, 10, standard_deviation=3.0)
    assert cost.standard_error == pytest.approx(0.3)
    assert math.isnan(cost.luck_by_feedback)
    assert "earlier results" not in cost.conclusion


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 5), {}, "n_samples"),
        ((10, 0), {}, "n_looks"),
        ((10.5, 2), {}, "n_samples"),
        ((10, 2), {"value": 1.5}, "value"),
        ((10, 2), {"value": 1}, r"value must be in \(0, 1\), got 1"),
        ((10, 2), {"standard_deviation": math.inf}, "standard_deviation"),
        ((10, 2), {"correlation": 1.0}, "correlation"),
        ((10, 2), {"standard_deviation": -1.0}, "standard_deviation"),
        ((10, 2), {"confidence_level": 95}, "confidence_level"),
    ],
)
def test_bad_input(arguments, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.holdout_reuse(*arguments, **options)
