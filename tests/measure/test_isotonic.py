"""Isotonic recalibration: the reliability curve, and the parts of proper scores that it defines."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import fastevals
from fastevals import Ranking, ReliabilityCurve, ThresholdCounts
from fastevals._kernels import areas
from fastevals.measure.probability_metrics import brier_score, log_loss
from fastevals.measure.ranking_metrics import hull_rows
from tests.reference import calibration as scores
from tests.reference import isotonic as reference
from tests.strategies import BOUNDED, DENORMAL, DYADIC_WEIGHTS, FEWER, FLOAT_WEIGHTS, Case

NIAMEY = json.loads((Path(__file__).parents[1] / "data" / "niamey_2016.json").read_text())
POOLS = ((0.0, 0.1, 0.3, 0.1 * 3, 0.5, 0.9, 1.0), (0.0, DENORMAL, 2**-53, 1 - 2**-53, 1.0), tuple(np.arange(40) / 39))


@st.composite
def cases(draw: st.DrawFn, weights: tuple[float, ...] = ()) -> Case:
    """Draw labels, probabilities with ties and extremes, and row weights, of which the first is not 0."""
    n = draw(st.integers(1, 14))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    p = np.array(draw(st.lists(st.sampled_from(draw(st.sampled_from(POOLS))), min_size=n, max_size=n)))
    if not weights:
        return Case(labels, p)
    drawn = np.array(draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n)))
    drawn[0] = drawn[0] or 1.0
    return Case(labels, p, drawn)


exact_cases = st.one_of(cases(), cases(DYADIC_WEIGHTS))
any_cases = st.one_of(exact_cases, cases(FLOAT_WEIGHTS))


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, pos_label=1, **case.options)


# The curve --------------------------------------------------------------------------------------------------------


@BOUNDED
@given(exact_cases)
def test_blocks_are_those_of_pooling_adjacent_violators(case: Case) -> None:
    curve, blocks = ranking_of(case).reliability_curve(), reference.blocks(*case)
    assert curve.low.tolist() == [float(each.low) for each in blocks]
    assert curve.high.tolist() == [float(each.high) for each in blocks]
    assert curve.calibrated.tolist() == [float(each.share) for each in blocks]
    assert curve.counts.tolist() == [float(each.weight) for each in blocks]


@BOUNDED
@given(any_cases)
def test_it_rises_keeps_the_mean_and_is_constant_in_blocks(case: Case) -> None:
    ranking = ranking_of(case)
    curve = ranking.reliability_curve()
    assert all(a < b for a, b in pairwise(curve.calibrated))
    assert all(a < b for a, b in pairwise(np.stack([curve.low, curve.high]).T.ravel()[1:-1:2].tolist()))
    weights = np.ones(case.y_true.size) if case.weights is None else case.weights
    fitted = curve.at(case.y_score)
    np.testing.assert_allclose(fitted @ weights, case.y_true @ weights, rtol=1e-13)
    if (np.diff(np.unique(case.y_score)) > 1e-3).all():
        theirs = IsotonicRegression().fit(case.y_score, case.y_true, sample_weight=weights)  # joins close probabilities
        kept = weights > 0
        np.testing.assert_allclose(fitted[kept], theirs.predict(case.y_score)[kept], rtol=1e-12, atol=1e-15)


@FEWER
@given(any_cases, st.permutations(range(14)))
def test_neither_order_nor_copies_of_rows_matter(case: Case, order: list[int]) -> None:
    rows = [k for k in order if k < case.y_true.size]
    again = Case(case.y_true[rows], case.y_score[rows], None if case.weights is None else case.weights[rows])
    curves = [ranking_of(each).reliability_curve().to_dict() for each in (case, again)]
    np.testing.assert_equal(*curves)
    if case.weights is None:
        twice = Ranking(np.tile(case.y_true, 2), np.tile(case.y_score, 2), pos_label=1).reliability_curve()
        assert (twice.calibrated.tolist(), twice.counts.tolist()) == (
            curves[0]["calibrated"],
            [2 * n for n in curves[0]["counts"]],
        )


def test_between_blocks_it_is_straight_and_beyond_them_constant() -> None:
    curve = Ranking([0, 1, 0, 1], [0.2, 0.4, 0.5, 0.75]).reliability_curve()
    assert curve.calibrated.tolist() == [0, 0.5, 1]
    assert curve.at([0.0, 0.2, 0.3, 0.45, 0.625, 0.75, 1.0]) == pytest.approx([0, 0, 0.25, 0.5, 0.75, 1, 1])
    assert curve.at(0.3) == pytest.approx(0.25)
    with pytest.raises(ValueError, match=r"probability must be .*in \[0, 1\], got 1.5"):
        curve.at(1.5)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_one_block(label: int) -> None:
    ranking = Ranking([label] * 3, [0.1, 0.5, 0.6], pos_label=1)
    curve = ranking.reliability_curve()
    assert [each.tolist() for each in curve] == [[0.1], [0.6], [label]]
    parts = ranking.brier_decomposition()
    assert (parts.miscalibration, parts.discrimination, parts.uncertainty) == (ranking.brier_score(), 0, 0)
    assert ranking.log_loss_decomposition().miscalibration == ranking.log_loss()


def test_without_rows_nothing_is_defined() -> None:
    empty = ThresholdCounts(np.array([math.inf]), np.array([0]), np.array([0]))
    curve = ReliabilityCurve.from_counts(empty)
    assert (len(curve), curve.defined, math.isnan(curve.at(0.5))) == (0, False, True)
    assert math.isnan(curve.decomposition.miscalibration)


@FEWER
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=600), st.integers(1, 70))
def test_rows_of_the_hull_are_those_of_all_rows(steps: list[tuple[int, int]], times: int) -> None:
    """Few rows are above the hull of every 64th row; steps without rows are in counts that users make."""
    tps, fps = np.cumsum(np.tile([(0, 0), *steps], (times if len(steps) > 60 else 1, 1)), axis=0).T
    counts = ThresholdCounts(np.append(np.inf, np.arange(tps.size - 1, 0, -1)), tps, fps)
    places = np.empty(tps.size, dtype=np.intp)
    expected = places[: areas.upper_hull(counts.fps, counts.tps, places)]
    assert hull_rows(counts).tolist() == expected.tolist()


def test_blocks_of_many_rows_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(1, 3, 300_000)
    y = rng.random(p.size) < p**1.2
    curve = Ranking(y, p).reliability_curve()
    np.testing.assert_allclose(curve.at(p), IsotonicRegression().fit_transform(p, y), rtol=1e-10)
    with fastevals.num_threads(5):
        np.testing.assert_equal(Ranking(y, p).reliability_curve().to_dict(), curve.to_dict())
    assert curve.histogram.tolist() == Ranking(y, p).calibration_curve(20).counts.tolist()


# Parts of scores --------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_cases)
def test_parts_are_those_of_the_recalibrated_rows_and_add_up(case: Case) -> None:
    ranking = ranking_of(case)
    y, weights = case.y_true, case.weights
    fitted = np.array([float(each) for each in reference.recalibrated(*case)])
    base = np.full(y.size, float(scores.mean(scores.rows_of(*case), scores.label)))
    for parts, whole, twin in (
        (ranking.brier_decomposition(), ranking.brier_score(), scores.brier_score),
        (ranking.log_loss_decomposition(), ranking.log_loss(), scores.log_loss),
    ):
        best, uncertainty = (float(twin(y, p, weights)) for p in (fitted, base))
        assert parts.score == whole
        assert parts.uncertainty == pytest.approx(uncertainty, rel=1e-12, abs=1e-15)
        assert parts.discrimination == pytest.approx(uncertainty - best, rel=1e-12, abs=2e-15)
        assert parts.miscalibration == pytest.approx(whole - best, rel=1e-12, abs=2e-15)
        assert min(parts.miscalibration, parts.discrimination) >= 0
        total = parts.miscalibration - parts.discrimination + parts.uncertainty
        assert total == pytest.approx(parts.score, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("name", NIAMEY["forecasts"])
def test_parts_and_blocks_equal_those_of_r(name: str) -> None:
    data = NIAMEY["forecasts"][name]
    ranking = Ranking(NIAMEY["obs"], data["probability"])
    for method in ("brier_score", "log_loss"):
        parts = getattr(ranking, method.replace("_score", "") + "_decomposition")()
        found = [parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty]
        assert found == pytest.approx([float(each) for each in data[method]], rel=1e-13)
    curve = ranking.reliability_curve()
    assert curve.counts.tolist() == data["blocks"]["count"]
    for attribute in ("low", "high", "calibrated"):
        np.testing.assert_allclose(getattr(curve, attribute), data["blocks"][attribute], rtol=1e-15)


def test_shares_of_0_and_1_have_no_log_loss() -> None:
    parts = Ranking([0, 0, 1, 1], [0.25, 0.25, 0.75, 0.75]).log_loss_decomposition()
    assert parts.to_dict() == {
        "metric": "log_loss",
        "score": pytest.approx(-math.log(0.75)),
        "miscalibration": pytest.approx(-math.log(0.75)),
        "discrimination": pytest.approx(math.log(2)),
        "uncertainty": pytest.approx(math.log(2)),
    }
    parts = Ranking([0, 1, 0, 1], [0.0, 0.0, 0.5, 1.0]).log_loss_decomposition()
    assert (parts.score, parts.miscalibration) == (math.inf, math.inf)
    assert 0 < parts.discrimination < parts.uncertainty == pytest.approx(math.log(2))


def test_a_calibrated_model_is_not_said_to_be_miscalibrated() -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(1, 5, 4000)
    ranking = Ranking(rng.random(p.size) < p, p)
    parts = ranking.brier_decomposition()
    assert 0 < parts.miscalibration < 0.02 * parts.score
    assert parts.discrimination == pytest.approx(np.var(p), rel=0.2)
    assert ranking.brier_decomposition(n_bins=10).reliability < parts.miscalibration
    exact = Ranking([1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4)
    assert exact.brier_decomposition().miscalibration == exact.log_loss_decomposition().miscalibration == 0


@pytest.mark.parametrize("weight", [0.1, 1e-300, 1e300])
def test_the_unit_of_weights_does_not_matter(weight: float) -> None:
    rng = np.random.default_rng(3)
    p = rng.integers(1, 5_000, 20_000) / 5_000
    y = rng.random(p.size) < p
    plain, weighted = Ranking(y, p), Ranking(y, p, sample_weight=np.full(p.size, weight))
    for one, other in (
        (plain.brier_decomposition(), weighted.brier_decomposition()),
        (plain.log_loss_decomposition(), weighted.log_loss_decomposition()),
    ):
        for name in ("score", "miscalibration", "discrimination", "uncertainty"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)
    fitted = [each.reliability_curve().at(p) for each in (plain, weighted)]
    np.testing.assert_allclose(*fitted, rtol=1e-9)  # rounding may part blocks of equal shares


@pytest.mark.parametrize(("light", "heavy"), [(1e-30, 1e300), (1e-30, 1.0)])
@pytest.mark.parametrize("label", [0, 1])
def test_weights_may_be_far_apart(light: float, heavy: float, label: int) -> None:
    y, p = np.array([0, 1, 0, 1, 1, 0]), np.array([0.1, 0.2, 0.3, 0.4, 0.8, 0.9])
    ranking = Ranking(y, p, sample_weight=np.where(y == label, light, heavy))
    assert ranking.reliability_curve().calibrated.tolist() == pytest.approx([0, 1 - label, 1 - label])
    for parts in (ranking.brier_decomposition(), ranking.log_loss_decomposition()):
        assert parts.miscalibration == pytest.approx(parts.score)
        assert 0 <= parts.discrimination <= parts.uncertainty < 1e-15


@pytest.mark.parametrize("call", ["reliability_curve", "brier_decomposition", "log_loss_decomposition"])
@pytest.mark.parametrize(("scores", "seen"), [([0.5, 1.5], "1.5"), ([-3, 7], "-3")])
def test_scores_outside_0_to_1_are_an_error(call: str, scores: Any, seen: str) -> None:
    with pytest.raises(ValueError, match=rf"y_score must hold probabilities, in \[0, 1\], got {seen}"):
        getattr(Ranking([0, 1], scores), call)()


def test_scores_are_those_of_the_ranking() -> None:
    counts = Ranking([0, 1, 1], [0.3, 0.2, 0.9]).counts
    ranking = Ranking.from_threshold_counts(counts)
    assert ranking.brier_decomposition().score == brier_score(counts)
    assert ranking.log_loss_decomposition().score == log_loss(counts)
