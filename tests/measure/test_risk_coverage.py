"""Abstention: the risk-coverage curve, its area, and the metrics read from it."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given

import fastevals
from fastevals import Ranking, metric
from fastevals.measure import ranking_metrics
from fastevals.measure.registry import METRICS
from tests.reference import ranking as reference
from tests.strategies import BOUNDED, Case, any_classes, any_weights

RIGHT, CONFIDENCE = [1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


@pytest.mark.parametrize("name", ["risk_coverage_area", "excess_risk_coverage_area"])
@BOUNDED
@given(any_weights)
def test_areas_are_those_of_their_definitions(name: str, case: Case) -> None:
    found = METRICS[name](ranking_of(case).counts)
    assert found == pytest.approx(getattr(reference, name)(*case), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("share", [0.05, 0.25, 0.5, 0.8, 1.0])
@BOUNDED
@given(any_weights)
def test_risks_and_coverages_are_those_of_their_definitions(share: float, case: Case) -> None:
    counts = ranking_of(case).counts
    risk = ranking_metrics.risk_at_coverage(counts, share).value
    assert risk == pytest.approx(float(reference.risk_at_coverage(*case, coverage=share)), rel=1e-14)
    assert ranking_of(case).risk_coverage_curve().at(coverage=share) == pytest.approx(risk, rel=1e-12, abs=1e-15)
    coverage = ranking_metrics.coverage_at_risk(counts, share).value
    assert coverage == float(reference.coverage_at_risk(*case, risk=share))


@BOUNDED
@given(any_classes)
def test_the_curve_attains_the_largest_coverage_at_its_threshold(case: Case) -> None:
    curve = ranking_of(case).risk_coverage_curve()
    for risk in (0.0, 0.1, 0.3, 0.5, 1.0):
        value, threshold = curve.largest_coverage(risk=risk)
        coverage, at = curve.at(threshold=threshold)
        assert coverage == value
        assert not coverage or at <= risk
        assert np.all(curve.risk[curve.coverage > value] > risk)


def test_by_hand() -> None:
    """Two right answers, an error, a right answer: 0, 0, then (c - 1/2) / c, then (1/4) / c."""
    curve = Ranking(RIGHT, CONFIDENCE).risk_coverage_curve()
    assert curve.coverage.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert curve.risk.tolist() == [0, 0, 0, 1 / 3, 1 / 4]
    expected = 0.25 - 0.5 * math.log(0.75 / 0.5) + 0.25 * math.log(1 / 0.75)
    assert curve.area == pytest.approx(expected, rel=1e-14)
    assert curve.excess_area == pytest.approx(expected - (0.25 + 0.75 * math.log(0.75)), rel=1e-13)
    assert tuple(curve.largest_coverage(risk=0.24)) == (0.5, 0.8)
    assert tuple(Ranking([0, 1], [2, 1]).risk_coverage_curve().largest_coverage(risk=0.2)) == (0.0, math.inf)


def test_a_tied_group_is_a_mixture_of_its_orders() -> None:
    """Without ties the area is close to the mean risk over rows; over all orders of ties, the means agree."""
    rng = np.random.default_rng(0)
    right, confidence = rng.random(4000) < 0.8, rng.integers(0, 20, 4000)
    area = Ranking(right, confidence, pos_label=True).risk_coverage_curve().area
    means = []
    for _ in range(100):
        order = np.lexsort((rng.random(4000), -confidence))
        means.append(np.mean(np.cumsum(~right[order]) / np.arange(1, 4001)))
    assert area == pytest.approx(np.mean(means), abs=4 * np.std(means) / 10 + (1 + math.log(4000)) / 8000)
    untied = confidence + rng.random(4000)
    order = np.argsort(-untied)
    mean = np.mean(np.cumsum(~right[order]) / np.arange(1, 4001))
    difference = abs(Ranking(right, untied, pos_label=True).risk_coverage_curve().area - mean)
    assert difference < (1 + math.log(4000)) / 8000


@pytest.mark.parametrize(("label", "area"), [(1, 0.0), (0, 1.0)])
def test_one_class_alone_is_defined(label: int, area: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = Ranking([label] * 3, [0.2, 0.4, 0.4], pos_label=1).risk_coverage_curve()
    assert curve.defined
    assert (curve.area, curve.excess_area, curve.at(coverage=0.5)) == (area, 0.0, area)


def test_replicates_of_one_class_are_defined() -> None:
    ranking = Ranking([0, 1, 1, 0, 1, 1], [0.2, 0.4, 0.3, 0.35, 0.6, 0.5])
    found = fastevals.bootstrap(ranking, ["aurc", "e_aurc", "risk_at_coverage", "coverage_at_risk"], rng=0)
    assert all(not each.n_undefined for each in found.values())


def test_the_random_and_the_ideal_order() -> None:
    right = np.arange(1000) % 4 != 0
    random = Ranking(right, np.zeros(1000), pos_label=True).risk_coverage_curve()
    assert random.area == 0.25
    ideal = Ranking(right, right, pos_label=True).risk_coverage_curve()
    assert ideal.area == pytest.approx(0.25 + 0.75 * math.log(0.75), rel=1e-13)
    assert ideal.excess_area == 0.0
    assert ideal.largest_coverage(risk=0.0).value == 0.75


def test_weights_are_copies_and_have_no_scale() -> None:
    rng = np.random.default_rng(1)
    right, confidence, copies = rng.random(60) < 0.7, rng.integers(0, 9, 60), rng.integers(0, 4, 60)
    repeated = Ranking(np.repeat(right, copies), np.repeat(confidence, copies), pos_label=True).risk_coverage_curve()
    weighted = Ranking(right, confidence, sample_weight=copies * 0.25, pos_label=True).risk_coverage_curve()
    for name in ("area", "excess_area"):
        assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-13)
    assert weighted.largest_coverage(risk=0.25) == repeated.largest_coverage(risk=0.25)


@pytest.mark.parametrize(("name", "option"), [("risk_at_coverage", "coverage"), ("coverage_at_risk", "risk")])
def test_bad_options_are_said(name: str, option: str) -> None:
    ranking = Ranking(RIGHT, CONFIDENCE)
    with pytest.raises(ValueError, match=rf"{option} must be .*got 1\.5"):
        fastevals.bootstrap(ranking, metric(name, **{option: 1.5}), n_resamples=9)
    with pytest.raises(ValueError, match="has no option at="):
        metric(name, at=0.5)
    with pytest.raises(ValueError, match=r"risk must be .*got -0\.1"):
        ranking.risk_coverage_curve().largest_coverage(risk=-0.1)


def test_options_change_the_value() -> None:
    ranking = Ranking(RIGHT * 20, CONFIDENCE * 20)
    asked = [metric("risk_at_coverage", coverage=0.5), metric("coverage_at_risk", risk=0.3), "risk_at_coverage"]
    found = fastevals.bootstrap(ranking, asked, n_resamples=99, rng=0)
    values = [each.value for each in found.values()]
    assert values == pytest.approx([0.0, 1.0, 0.25 / 0.8])
