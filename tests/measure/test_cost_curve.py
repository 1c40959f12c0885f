"""Cost curves: least costs over PC(+) and over the prior, their thresholds, comparison of two classifiers."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from fastevals import CostCurve, OperatingPoint, Ranking, ThresholdCounts, UndefinedMetricWarning, num_threads
from fastevals.measure.registry import SCORE_METRICS
from tests.reference import curves as reference_curves
from tests.strategies import BOUNDED, Case, any_weights, exact_cases

EXPECTED = (FAWCETT := json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())["fawcett20"])[
    "expected"
]
Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]
INF = math.inf
ENVELOPE = ("probability_cost", "cost", "thresholds", "fpr", "fnr")  # arrays
EIGHTHS = [Fraction(k, 8) for k in range(1, 8)]
PLACES = [*EIGHTHS, Fraction(1, 1024), Fraction(1023, 1024), Fraction(0), Fraction(1)]
COSTS = [(1.0, 1.0), (1.0, 3.0), (5.0, 1.0), (1e-6, 1.0), (1.0, 1e-6), (1e6, 1.0), (1.0, 1e6), (2.5e-3, 7e4)]
costs = st.sampled_from(COSTS)


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


def curve_of(case: Case) -> CostCurve:
    return ranking_of(case).cost_curve()


@pytest.fixture
def fawcett() -> CostCurve:
    return Ranking(FAWCETT["y_true"], FAWCETT["y_score"]).cost_curve()


# Published figures and closed forms -------------------------------------------------------------------------------


def test_envelope_of_the_course_instances(fawcett):
    expected = EXPECTED["cost_curve_equal_costs"]
    found = fawcett.at(probability_cost=expected["probability_cost"])
    np.testing.assert_allclose(found.value, expected["lower_envelope"], rtol=1e-14)
    assert fawcett.area == pytest.approx(expected["area"], rel=1e-14)
    assert SCORE_METRICS["cost_area"](fawcett.counts) == fawcett.area
    np.testing.assert_allclose(fawcett.at(prior=expected["probability_cost"]).value, found.value, rtol=1e-14)


@pytest.mark.parametrize("row", range(3))
def test_cost_over_prior_of_the_course_instances(fawcett, row):
    figures = EXPECTED["cost_over_prior"]
    for name, normalize in (("normalised_area", True), ("unnormalised_area", False)):
        over = fawcett.over_prior(cost_fp=1, cost_fn=figures["cost_fn"][row], normalize=normalize)
        assert round(over.area, figures["digits"]) == figures[name][row]


def test_the_area_over_the_prior_is_that_over_pc_at_equal_costs(fawcett):
    for cost in (1.0, 7.0, 1e-9):
        assert fawcett.over_prior(cost_fp=cost, cost_fn=cost).area == pytest.approx(fawcett.area, rel=1e-14)


def test_one_classifier_and_the_trivial_ones():
    curve = CostCurve(ThresholdCounts(np.array([INF, 1, 0]), np.array([0, 0.8, 1]), np.array([0, 0.2, 1])))
    assert curve.area == pytest.approx(0.16, rel=1e-14)
    envelope = curve.lower_envelope
    np.testing.assert_allclose(envelope.probability_cost, [0, 0.2, 0.8, 1], rtol=1e-15)
    np.testing.assert_allclose(envelope.cost, [0, 0.2, 0.2, 0], rtol=1e-15, atol=1e-16)
    assert envelope.thresholds.tolist() == [INF, 1, 0]
    np.testing.assert_allclose(curve.operating_range(), (0.2, 0.8), rtol=1e-15)
    np.testing.assert_allclose(curve.operating_range(1.0), (0.2, 0.8), rtol=1e-15)
    # A single line's own area is the mean of its ends.
    assert curve.lines[1].mean() == pytest.approx(0.2, rel=1e-15)


@pytest.mark.parametrize(("n_neg", "n_pos"), [(1, 1), (9, 1), (3, 70)])
def test_perfect_worst_and_chance_rankings(n_neg, n_pos):
    y = np.repeat([0, 1], (n_neg, n_pos))
    perfect, worst, chance = (Ranking(y, s).cost_curve() for s in (np.arange(y.size), -np.arange(y.size), y * 0))
    assert [curve.area for curve in (perfect, worst, chance)] == [0, 0.25, 0.25]
    assert perfect.operating_range() == (0, 1)
    assert tuple(perfect.at(prior=0.5)) == (0, n_neg)
    for curve in (worst, chance):
        assert all(map(math.isnan, curve.operating_range()))
        assert curve.lower_envelope.probability_cost.tolist() == [0, 0.5, 1]
        assert curve.lower_envelope.cost.tolist() == [0, 0.5, 0]
        assert curve.lower_envelope.thresholds.tolist() == [INF, curve.thresholds[-1]]
        assert curve.at(probability_cost=0.25).value == curve.at(probability_cost=0.75).value == 0.25


# The envelope by brute force --------------------------------------------------------------------------------------


@BOUNDED
@given(any_weights)
def test_lines_are_the_error_rates_of_every_threshold(case):
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    ends = [(float(line.fpr), float(line.fnr)) for line in lines]
    np.testing.assert_allclose(curve.lines, ends, rtol=1e-13, atol=1e-15)
    assert [array.tolist() for array in curve][:2] == curve.lines.T.tolist()
    assert curve.thresholds.tolist() == [line.threshold for line in lines]


@BOUNDED
@given(any_weights)
def test_the_least_cost_is_that_of_the_cheapest_line(case):
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    places = {*PLACES, *(Fraction(float(x)) for x in curve.lower_envelope.probability_cost)}
    by_threshold = {line.threshold: line for line in lines}
    for x in places:
        value, threshold = curve.at(probability_cost=float(x))
        least, _ = reference_curves.least_cost(lines, x)
        assert value == pytest.approx(float(least), rel=1e-12, abs=1e-15)
        assert float(by_threshold[threshold].cost(x)) == pytest.approx(float(least), rel=1e-12, abs=1e-15)


@BOUNDED
@given(exact_cases)
def test_the_threshold_is_the_highest_that_is_cheapest(case):
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    meetings = reference_curves.meetings(lines)
    for x in [(low + high) / 2 for low, high in pairwise(meetings)]:
        assert curve.at(probability_cost=float(x)).threshold == reference_curves.least_cost(lines, x)[1]
    assert curve.at(probability_cost=1.0).threshold == reference_curves.least_cost(lines, Fraction(1))[1]


def test_where_two_pieces_meet_the_higher_threshold():
    curve = Ranking([1, 1, 0, 0, 1, 1, 0, 0], range(8)[::-1]).cost_curve()
    envelope = curve.lower_envelope
    for k, x in enumerate(envelope.probability_cost[1:-1]):
        assert curve.at(probability_cost=x).threshold == envelope.thresholds[k]
        assert curve.at(probability_cost=np.nextafter(x, 1)).threshold == envelope.thresholds[k + 1]


@BOUNDED
@given(any_weights)
def test_the_area_is_that_of_all_lines(case):
    curve = curve_of(case)
    assert curve.area == pytest.approx(float(reference_curves.cost_area(*case)), rel=1e-12, abs=1e-15)
    assert 0 <= curve.area <= 0.25


@BOUNDED
@given(any_weights)
def test_the_envelope_is_concave_and_its_pieces_fit(case):
    envelope = curve_of(case).lower_envelope
    x, cost = envelope.probability_cost, envelope.cost
    assert (x[0], x[-1]) == (0, 1)
    assert (np.diff(x) > 0).all()
    assert (envelope.thresholds[1:] < envelope.thresholds[:-1]).all()
    np.testing.assert_allclose((1 - x[:-1]) * envelope.fpr + x[:-1] * envelope.fnr, cost[:-1], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose((1 - x[1:]) * envelope.fpr + x[1:] * envelope.fnr, cost[1:], rtol=1e-13, atol=1e-15)
    slopes = np.diff(cost) / np.diff(x)
    assert (np.diff(slopes) <= 1e-9).all()
    assert (cost <= np.minimum(x, 1 - x) + 1e-15).all()


@BOUNDED
@given(exact_cases)
def test_the_envelope_is_that_of_the_roc_hull(case):
    curve = curve_of(case)
    hull = curve.hull()
    assert isinstance(hull, CostCurve)
    for mine, theirs in zip(
        hull.lower_envelope.to_dict().values(), curve.lower_envelope.to_dict().values(), strict=True
    ):
        assert mine == theirs


@BOUNDED
@given(exact_cases)
def test_the_operating_range_by_brute_force(case):
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    whole = [(None, lines)]
    for threshold, among in [*whole, *((line.threshold, [line]) for line in lines)]:
        expected = reference_curves.operating_range(among)
        found = curve.operating_range(threshold)
        if expected is None:
            assert all(map(math.isnan, found))
        else:
            np.testing.assert_allclose(found, list(map(float, expected)), rtol=1e-13, atol=1e-15)
            assert found.low < found.high


def test_the_operating_range_of_a_threshold_between_scores():
    curve = Ranking(Y, S).cost_curve()
    assert curve.operating_range(0.35) == curve.operating_range(0.4)
    assert curve.operating_range(0.8) == (0.0, 2 / 3)


# Priors and costs -------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_weights, costs)
def test_a_prior_and_costs_are_a_place_on_pc(case, costs):
    cost_fp, cost_fn = costs
    ranking = ranking_of(case)
    for p in PLACES:
        value, threshold = ranking.cost_curve().at(prior=float(p), cost_fp=cost_fp, cost_fn=cost_fn)
        worst = float(p) * cost_fn + (1 - float(p)) * cost_fp
        at_it = ranking.expected_cost(threshold, cost_fp=cost_fp, cost_fn=cost_fn, prior=float(p))
        assert value * worst == pytest.approx(at_it, rel=1e-11, abs=1e-14 * worst)
        best = min(
            ranking.expected_cost(t, cost_fp=cost_fp, cost_fn=cost_fn, prior=float(p))
            for t in ranking.counts.thresholds
        )
        assert value * worst == pytest.approx(best, rel=1e-11, abs=1e-14 * worst)


@BOUNDED
@given(any_weights, costs)
def test_over_the_prior_by_brute_force(case, costs):
    cost_fp, cost_fn = costs
    exact = Fraction(cost_fp), Fraction(cost_fn)
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    by_threshold = {line.threshold: line for line in lines}
    normalized, rows = (curve.over_prior(cost_fp=cost_fp, cost_fn=cost_fn, normalize=n) for n in (True, False))
    for p in PLACES:
        worst = float(p * exact[1] + (1 - p) * exact[0])
        expected = float(reference_curves.least_row_cost(lines, p, *exact))
        assert rows.at(float(p)).value == pytest.approx(expected, rel=1e-9, abs=1e-14 * worst)
        assert normalized.at(float(p)).value == pytest.approx(expected / worst, rel=1e-9, abs=1e-14)
        for over in (normalized, rows):
            threshold = over.at(float(p)).threshold
            found = float(reference_curves.row_cost(by_threshold[threshold], p, *exact))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-14 * worst)
    at = [float(p) for p in PLACES]
    np.testing.assert_array_equal(rows.at(at).value, [rows.at(p).value for p in at])
    np.testing.assert_array_equal(rows.at([at]).threshold, [[rows.at(p).threshold for p in at]])


@pytest.mark.parametrize(("cost_fp", "cost_fn"), COSTS)
def test_areas_over_the_prior_against_quadrature(fawcett, cost_fp, cost_fn):
    rng = np.random.default_rng(1)
    other = Ranking(rng.permutation(np.arange(15) % 3 > 0), rng.integers(0, 9, 15)).cost_curve()
    for curve in (fawcett, other):
        envelope = curve.lower_envelope
        for normalize in (True, False):
            over = curve.over_prior(cost_fp=cost_fp, cost_fn=cost_fn, normalize=normalize)
            # Integrate each piece over log odds, because the prior may be tiny: dp = p (1 - p) dz.
            inner = over.prior[1:-1]
            ends = [-60.0, *np.log(inner / (1 - inner)), 60.0]

            def density(z: float, over=over, envelope=envelope) -> float:
                p, q = 1 / (1 + math.exp(-z)), 1 / (1 + math.exp(z))
                worst = p * cost_fn + q * cost_fp
                cost = np.min(q * cost_fp * envelope.fpr + p * cost_fn * envelope.fnr)
                return cost / (worst if over.normalize else 1.0) * p * q

            area = math.fsum(
                quad(density, a + (b - a) * k / 8, a + (b - a) * (k + 1) / 8, epsrel=1e-12, epsabs=0)[0]
                for a, b in pairwise(ends)
                for k in range(8)
            )
            assert over.area == pytest.approx(area, rel=1e-9)


@pytest.mark.parametrize(
    ("cost_fp", "cost_fn"), [(1e20, 1.0), (1.0, 1e20), (1e200, 1e-200), (1e-200, 1e200), (1e308, 1e308)]
)
def test_costs_that_differ_beyond_doubles(cost_fp, cost_fn):
    curve = Ranking(Y, S).cost_curve()
    lines = reference_curves.cost_lines(Y, S)
    for p in (0.25, 0.5, 0.999):
        exact = Fraction(p), Fraction(cost_fp), Fraction(cost_fn)
        expected = reference_curves.least_row_cost(lines, *exact)
        over = curve.over_prior(cost_fp=cost_fp, cost_fn=cost_fn, normalize=False)
        assert over.at(p).value == pytest.approx(float(expected), rel=1e-9)
        assert math.isfinite(over.area)
        assert (over.prior[0], over.prior[-1]) == (0, 1)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(("cost_fp", "cost_fn"), [(0.0, 2.0), (3.0, 0.0)])
def test_one_kind_of_error_is_free(fawcett, cost_fp, cost_fn, normalize):
    over = fawcett.over_prior(cost_fp=cost_fp, cost_fn=cost_fn, normalize=normalize)
    assert over.area == 0
    value, threshold = over.at(0.5)
    assert value == 0
    ranking = Ranking(FAWCETT["y_true"], FAWCETT["y_score"])
    assert ranking.expected_cost(threshold, cost_fp=cost_fp, cost_fn=cost_fn, prior=0.5) == 0
    assert over.holds(0.5) == (0, 1)
    nothing_costs = 0.0 if cost_fp == 0 else 1.0
    assert math.isnan(over.at(nothing_costs).value) is normalize
    assert math.isnan(fawcett.at(prior=nothing_costs, cost_fp=cost_fp, cost_fn=cost_fn).value)
    assert fawcett.at(prior=0.5, cost_fp=cost_fp, cost_fn=cost_fn).value == 0


def test_at_a_tie_the_range_is_that_of_the_higher_threshold():
    y, scores = [1] * 4 + [0] + [1] * 3 + [0] * 28 + [1] * 4, list(range(40, 0, -1))
    ranking = Ranking(y, scores)
    over = ranking.cost_curve().over_prior(cost_fp=3.0, cost_fn=1.0)
    # Thresholds 37 and 33 cost the same where p (3 / 11) = 3 (1 - p) / 29.
    assert ranking.best_threshold("expected_cost", cost_fp=3.0).threshold == over.at(11 / 40).threshold == 37
    assert over.holds(11 / 40) == (0, pytest.approx(11 / 40, rel=1e-14))
    assert over.holds(0.276) == (pytest.approx(11 / 40, rel=1e-14), pytest.approx(0.888, abs=1e-3))


@BOUNDED
@given(exact_cases, st.sampled_from([(3.0, 1.0), (1.0, 1.0), (2.0, 7.0)]))
def test_the_range_is_that_of_the_best_threshold_for_the_rows(case, costs):
    ranking = Ranking(case.y_true, case.y_score)
    prior = ranking.n_positives / ranking.n_samples
    if prior in (0, 1):
        return
    over = ranking.cost_curve().over_prior(cost_fp=costs[0], cost_fn=costs[1])
    best = ranking.best_threshold("expected_cost", cost_fp=costs[0], cost_fn=costs[1]).threshold
    assert over.at(prior).threshold == best
    low, high = over.holds(prior)
    assert low <= prior <= high
    if low < high:
        between = over.at((low + high) / 2).threshold
        assert between == best


@BOUNDED
@given(exact_cases, costs, st.floats(0.001, 0.999))
def test_a_threshold_holds_just_inside_its_range_and_not_outside(case, costs, prior):
    cost_fp, cost_fn = costs
    exact = Fraction(cost_fp), Fraction(cost_fn)
    curve, lines = curve_of(case), reference_curves.cost_lines(*case)
    over = curve.over_prior(cost_fp=cost_fp, cost_fn=cost_fn)
    low, high = (Fraction(end) for end in over.holds(prior))
    assert low <= Fraction(prior) <= high
    line = next(line for line in lines if line.threshold == over.at(prior).threshold)
    step = Fraction(1, 10**4)

    def excess(p: Fraction) -> Fraction:
        worst = p * exact[1] + (1 - p) * exact[0]
        return (reference_curves.row_cost(line, p, *exact) - reference_curves.least_row_cost(lines, p, *exact)) / worst

    def by_odds(p: Fraction, factor: Fraction) -> Fraction:
        return p * factor / (p * factor + (1 - p))

    for end, inward in ((low, 1 + step), (high, 1 / (1 + step))):
        if 0 < end < 1:
            assert excess(end) < 1e-9
            assert excess(by_odds(end, inward)) < 1e-9
            assert excess(by_odds(end, 1 / inward)) > 0


# Two classifiers --------------------------------------------------------------------------------------------------


@BOUNDED
@given(exact_cases, exact_cases)
def test_the_difference_by_sampling(first, second):
    mine, other = curve_of(first), curve_of(second)
    difference = mine.difference(other)
    lines = [reference_curves.cost_lines(*case) for case in (first, second)]
    cuts = sorted({x for each in lines for x in reference_curves.meetings(each)})
    for x in {*cuts, *PLACES, *((low + high) / 2 for low, high in pairwise(cuts))}:
        expected = reference_curves.least_cost(lines[1], x)[0] - reference_curves.least_cost(lines[0], x)[0]
        found = np.interp(float(x), difference.probability_cost, difference.saving)
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-14)
        won = [low < x < high for low, high in difference.wins]
        lost = [low < x < high for low, high in difference.losses]
        if abs(expected) > 1e-12:
            assert (sum(won), sum(lost)) == ((1, 0) if expected > 0 else (0, 1))
        elif min(x - cut for cut in [*cuts, Fraction(-1)] if cut < x) > 1e-9 and not expected:
            assert sum(won) + sum(lost) <= 1  # rounding
    assert difference.mean_saving == pytest.approx(other.area - mine.area, rel=1e-11, abs=1e-15)
    for ranges in (difference.wins, difference.losses):
        assert all(low < high for low, high in ranges)
        assert all(a.high <= b.low for a, b in pairwise(ranges))


@BOUNDED
@given(any_weights, any_weights)
def test_the_difference_from_the_other_side(first, second):
    mine, other = curve_of(first), curve_of(second)
    there, back = mine.difference(other), other.difference(mine)
    np.testing.assert_array_equal(there.probability_cost, back.probability_cost)
    np.testing.assert_array_equal(there.saving, -back.saving)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert there.mean_saving == -back.mean_saving
    assert mine.dominates(other) is (bool(there.wins) and not there.losses)
    same = mine.difference(curve_of(first))
    assert (same.wins, same.losses, same.mean_saving) == ([], [], 0)


def test_a_difference_by_hand():
    def curve(fpr: float, tpr: float) -> CostCurve:
        return CostCurve(ThresholdCounts(np.array([INF, 1, 0]), np.array([0, tpr, 1]), np.array([0, fpr, 1])))

    careful, bold = curve(0.0, 0.5), curve(0.5, 1.0)
    difference = careful.difference(bold)
    # min(x / 2, 1 - x) against min(x, (1 - x) / 2)
    np.testing.assert_allclose(difference.wins, [(0.0, 0.5)])
    np.testing.assert_allclose(difference.losses, [(0.5, 1.0)])
    assert difference.mean_saving == pytest.approx(0, abs=1e-16)
    np.testing.assert_allclose(careful.crossings(bold), [[0.5, 0.25]])
    assert repr(difference).startswith("CostDifference(wins=[(0, 0.5)], losses=[(0.5, 1)], mean_saving=")
    assert list(difference.to_dict()) == [
        "probability_cost", "saving", "defined", "mean_saving", "wins", "losses",
    ]  # fmt: skip
    assert difference.defined
    assert json.loads(json.dumps(difference.to_dict()))["wins"] == [[0.0, 0.5]]


# Types and sizes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e300, 1e-300, 5e-324 * 2**60, 0.3])
def test_the_unit_of_the_weights(unit):
    w = np.array([1.0, 2, 3, 4, 5])
    mine, other = (Ranking([0, 1, 0, 1, 1], [1, 2, 3, 4, 3], sample_weight=w * u).cost_curve() for u in (unit, 1.0))
    assert mine.area == pytest.approx(other.area, rel=1e-13)
    assert mine.lower_envelope.thresholds.tolist() == other.lower_envelope.thresholds.tolist()
    difference = mine.difference(other)
    assert (difference.wins, difference.losses) == ([], [])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integer_thresholds_past_doubles(dtype):
    scores = np.array([2**53 + 1, 2**53, 2**53 + 3, 7], dtype=dtype)
    curve = Ranking([1, 0, 1, 0], scores).cost_curve()
    assert curve.at(prior=0.5).threshold == 2**53 + 1
    assert type(curve.at(prior=0.5).threshold) is int
    assert curve.over_prior(cost_fn=2.0).at(0.5).threshold == 2**53 + 1
    assert 2**53 + 1 in curve.lower_envelope.to_dict()["thresholds"]
    assert 2**53 + 1 in curve.over_prior().to_dict()["thresholds"]
    assert curve.operating_range(2**53 + 1) == (0, 1)
    assert math.isfinite(curve.operating_range(2**53).low)
    assert curve.operating_range(2**53) != (0, 1)


def test_the_same_bits_at_any_number_of_threads():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300_000)
    scores, weights = rng.normal(size=y.size) + y, rng.uniform(0, 1, y.size)
    for options in ({}, {"sample_weight": weights}):
        found = []
        for threads in (1, 2):
            with num_threads(threads):
                curve = Ranking(y, scores, **options).cost_curve()
                arrays = [getattr(curve.lower_envelope, name) for name in ENVELOPE]
                found.append([*(array.tobytes() for array in (*curve, *arrays)), curve.area])
        assert found[0] == found[1]


# As results -------------------------------------------------------------------------------------------------------


def test_reprs_and_dicts():
    curve = Ranking(Y, S).cost_curve()
    assert repr(curve) == "CostCurve(5 points, area=0.125)"
    assert repr(curve.lower_envelope) == "CostEnvelope(2 pieces, area=0.125)"
    assert repr(curve.over_prior(cost_fn=3)) == (
        f"CostOverPrior(2 pieces, cost_fp=1, cost_fn=3, area={curve.over_prior(cost_fn=3).area:.6g})"
    )
    assert curve.lower_envelope.to_dict() == {
        "probability_cost": [0.0, 0.5, 1.0],
        "cost": [0.0, 0.25, 0.0],
        "thresholds": [0.8, 0.3],
        "fpr": [0.0, 0.5],
        "fnr": [0.5, 0.0],
        "area": 0.125,
    }
    over = curve.over_prior(cost_fn=3.0, normalize=False)
    assert over.to_dict() == {
        "prior": [0.0, 0.25, 1.0],
        "cost": [0.0, 0.375, 0.0],
        "thresholds": [0.8, 0.3],
        "cost_fp": 1.0,
        "cost_fn": 3.0,
        "normalize": False,
        "envelope": curve.lower_envelope.to_dict(),
        "defined": True,
        "area": over.area,
    }


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_copies(again):
    curve = Ranking(Y, S).cost_curve()
    for result in (curve, curve.lower_envelope, curve.over_prior(cost_fn=3), curve.difference(curve)):
        assert again(result).to_dict() == result.to_dict()


def test_results_are_read_only():
    curve = Ranking(Y, S).cost_curve()
    over = curve.over_prior(cost_fn=3)
    difference = curve.difference(curve)
    for result, names in (
        (curve.lower_envelope, ENVELOPE),
        (over, ("prior", "cost", "thresholds")),
        (difference, ("probability_cost", "saving")),
    ):
        for name in names:
            assert not getattr(result, name).flags.writeable, (type(result).__name__, name)
            with pytest.raises(AttributeError):
                setattr(result, name, 0)


# Bad input --------------------------------------------------------------------------------------------------------

BAD_COSTS = [
    ({"cost_fp": -1.0}, "cost_fp must be in"),
    ({"cost_fn": -1e-300}, "cost_fn must be in"),
    ({"cost_fp": math.nan}, "cost_fp must be in"),
    ({"cost_fn": INF}, "cost_fn must be in"),
    ({"cost_fn": "3"}, "cost_fn must be a number"),
    ({"cost_fp": True}, "cost_fp must be a number"),
    ({"cost_fp": 0, "cost_fn": 0.0}, "cost_fp and cost_fn must not both be zero"),
]


@pytest.mark.parametrize(("options", "message"), BAD_COSTS)
def test_bad_costs(fawcett, options, message):
    with pytest.raises(ValueError, match=message):
        fawcett.over_prior(**options)
    with pytest.raises(ValueError, match=message):
        fawcett.at(prior=0.5, **options)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, INF, [0.5, math.nan], [[0.2], [-1]], "half", True, [None]])
def test_bad_places(fawcett, value):
    for name in ("prior", "probability_cost"):
        with pytest.raises(ValueError, match=f"{name} must (be in|hold)"):
            fawcett.at(**{name: value})
    with pytest.raises(ValueError, match=r"prior must (be in|hold)"):
        fawcett.over_prior().at(value)
    with pytest.raises(ValueError, match=r"prior must be"):
        fawcett.over_prior().holds(value)


def test_bad_ways_to_ask(fawcett):
    with pytest.raises(ValueError, match="exactly one of probability_cost, prior must be given, got none"):
        fawcett.at()
    with pytest.raises(ValueError, match="got probability_cost and prior"):
        fawcett.at(probability_cost=0.5, prior=0.5)
    with pytest.raises(ValueError, match="cost_fp and cost_fn require prior"):
        fawcett.at(probability_cost=0.5, cost_fn=3.0)
    for threshold, message in ((math.nan, "must not be NaN"), ([0.5, 0.6], "must be one number"), ("a", "must hold")):
        with pytest.raises(ValueError, match=f"threshold {message}"):
            fawcett.operating_range(threshold)
    for other in (None, Ranking(Y, S), Ranking(Y, S).roc_curve(), fawcett.lower_envelope):
        with pytest.raises(ValueError, match=f"other must be a CostCurve .* got {type(other).__name__}"):
            fawcett.difference(other)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    ranking = Ranking([label] * 3, [1, 2, 3])
    with pytest.warns(
        UndefinedMetricWarning, match=f"cost_curve is undefined .*no {['positives', 'negatives'][label]}"
    ):
        curve = ranking.cost_curve()
    assert math.isnan(curve.area)
    assert math.isnan(curve.at(prior=0.5).value)
    assert all(map(math.isnan, curve.operating_range()))
    assert all(map(math.isnan, curve.operating_range(2)))
    assert math.isnan(curve.over_prior(cost_fn=3).area)
    whole = Ranking(Y, S).cost_curve()
    with pytest.raises(ValueError, match="this curve is undefined"):
        curve.difference(whole)
    with pytest.raises(ValueError, match="other is undefined"):
        whole.difference(curve)


@pytest.mark.parametrize("costs", [*COSTS, (0.0, 1.0), (1.0, 0.0)])
@pytest.mark.parametrize("normalize", [False, True])
def test_a_perfect_classifier_costs_nothing_at_any_prior(costs, normalize):
    over = (
        Ranking([0, 0, 1], [1, 2, 3]).cost_curve().over_prior(cost_fp=costs[0], cost_fn=costs[1], normalize=normalize)
    )
    assert (over.area, over.cost.max()) == (0.0, 0.0)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("costs", [(0.0, 1.0), (1.0, 0.0)])
@pytest.mark.filterwarnings("ignore:cost_curve is undefined")
def test_one_class_is_undefined_where_an_error_is_free_too(label, costs):
    over = Ranking([label] * 3, [1, 2, 3]).cost_curve().over_prior(cost_fp=costs[0], cost_fn=costs[1])
    assert math.isnan(over.area)
    assert math.isnan(over.at(0.5).value)


def test_the_highest_threshold_is_named_where_nothing_costs():
    # At PC(+) = 0 a false negative is free: predicting none (+inf) attains the least cost, as 0.8 does.
    assert tuple(Ranking(Y, S).cost_curve().at(probability_cost=0)) == (0.0, INF)


def test_of_thresholds_that_cost_the_same_it_is_the_highest():
    assert Ranking([1, 0, 0, 1, 1, 0], [6, 6, 3, 7, 6, 6]).cost_curve().at(probability_cost=0.5).threshold == 7
    rng = np.random.default_rng(0)
    for _ in range(500):
        n = int(rng.integers(3, 20))
        y, s = np.append(rng.integers(0, 2, n), [0, 1]), np.append(rng.integers(0, 8, n), [1, 6])
        ranking = Ranking(y, s)
        best = ranking.best_threshold("expected_cost", prior=0.5)
        assert ranking.cost_curve().at(prior=0.5).threshold == best.threshold, (y, s)


def test_where_nothing_costs_predicting_none_is_the_highest_threshold():
    curve = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    assert curve.over_prior(cost_fp=0, normalize=False).at(0.0) == OperatingPoint(0.0, math.inf)
    found = curve.at(prior=0.0, cost_fp=0.0)
    assert math.isnan(found.value)
    assert found.threshold == math.inf


@pytest.mark.parametrize("unit", [5e-324, 1e-320, 1e-300, 1e300, 1e308])
def test_the_unit_of_the_costs_does_not_matter(unit):
    curve = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    over = curve.over_prior(cost_fp=unit, cost_fn=unit)
    assert over.area == pytest.approx(0.125, rel=1e-15)
    assert over.at(0.3) == curve.at(probability_cost=0.3)


def test_one_class_alone_however_unlike_the_costs():
    curve = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    for costs in ({"cost_fp": 1e-300, "cost_fn": 1e300}, {"cost_fp": 1e300, "cost_fn": 1e-300}):
        assert curve.at(prior=0.0, **costs) == curve.over_prior(**costs).at(0.0) == OperatingPoint(0.0, math.inf)
        assert curve.at(prior=1.0, **costs) == curve.over_prior(**costs).at(1.0) == OperatingPoint(0.0, 0.3)


def test_the_envelope_checks_places():
    envelope = Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve().lower_envelope
    assert envelope.at(0.25) == OperatingPoint(0.125, 0.8)
    assert envelope.at([0.25, 1.0]).value.tolist() == [0.125, 0.0]
    with pytest.raises(ValueError, match=r"probability_cost must be in \[0, 1\], got 1.5"):
        envelope.at(1.5)


def test_an_undefined_curve_holds_nowhere():
    with pytest.warns(UndefinedMetricWarning):
        curve = Ranking([1, 1], [0.1, 0.2]).cost_curve()
    over = curve.over_prior(cost_fn=5)
    assert all(map(math.isnan, [*over.holds(0.3), *over.operating_range(), *over.at(0.3), *over.at(0.0)]))
    assert all(map(math.isnan, [*curve.at(prior=0.3), *curve.at(probability_cost=0.0)]))


@pytest.mark.parametrize(("fpr", "fnr"), [(0.2, 0.2), (0.1, 0.4), (0.0, 0.5), (0.5, 0.0)])
def test_a_single_line_has_half_the_sum_of_its_ends_as_area(fpr, fnr):
    y = np.repeat([0, 1], 10)
    s = np.concatenate((np.arange(10) < 10 * fpr, np.arange(10) >= 10 * fnr)).astype(float)
    curve = Ranking(y, s).cost_curve()
    x = np.linspace(0, 1, 101)
    line = curve.at(probability_cost=x, threshold=1.0)
    np.testing.assert_allclose(line.value, (1 - x) * fpr + x * fnr, rtol=1e-14, atol=1e-16)
    assert line.threshold == 1.0
    assert np.trapezoid(line.value, x) == pytest.approx((fpr + fnr) / 2, rel=1e-14)
    assert curve.at(probability_cost=0.5, threshold=1.0).value == pytest.approx((fpr + fnr) / 2, rel=1e-14)


@pytest.mark.parametrize("costs", [(1, 1), (1, 3), (5, 1), (1e-300, 1e300)])
def test_ranges_of_the_prior(costs):
    rng = np.random.default_rng(0)
    one, other = (Ranking(np.arange(60) % 3 == 0, rng.integers(0, 30, 60)).cost_curve() for _ in range(2))
    fp, fn = costs
    prior = np.linspace(0, 1, 2001)
    overs = [curve.over_prior(cost_fp=fp, cost_fn=fn) for curve in (one, other)]
    mine, others = (over.at(prior).value for over in overs)
    for ranges, sign in zip(one.difference(other).over_prior(cost_fp=fp, cost_fn=fn), (1, -1), strict=True):
        inside = np.any([(low < prior) & (prior < high) for low, high in ranges] or [np.zeros(2001, bool)], axis=0)
        away = np.abs(others - mine) > 1e-9
        assert ((sign * (others - mine) > 0) == inside)[away].all()
    low, high = overs[0].operating_range()
    thresholds = overs[0].at(prior).threshold
    trivial = (thresholds == math.inf) | (thresholds == one.thresholds[-1])
    assert not trivial[(prior > low) & (prior < high)].any()
    assert trivial[(prior < low) | (prior > high)].all()


def test_where_an_error_is_free_no_prior_has_a_winner():
    one, other = (Ranking([0, 1, 0, 1], s).cost_curve() for s in ([1, 2, 3, 4], [1, 2, 4, 3]))
    assert one.difference(other).over_prior(cost_fp=0) == ([], [])
    assert all(map(math.isnan, one.over_prior(cost_fn=0).operating_range()))
    with pytest.raises(ValueError, match="must not both be zero"):
        one.difference(other).over_prior(cost_fp=0, cost_fn=0)
