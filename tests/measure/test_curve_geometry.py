"""Geometry of the curves: values, areas, hulls, and comparison of two curves."""

from __future__ import annotations

import copy
import inspect
import json
import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn import metrics as sklearn_metrics

from fastevals import (
    DetCurve,
    GainCurve,
    LiftCurve,
    PrecisionRecallCurve,
    Ranking,
    RiskCoverageCurve,
    RocCurve,
    ThresholdCounts,
    UndefinedMetricWarning,
    num_threads,
)
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.results import as_json
from tests.reference import curves as reference_curves
from tests.reference import ranking as reference
from tests.strategies import BOUNDED, FEWER, Case, any_weights, exact_cases, unweighted

FAWCETT = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())["fawcett20"]
EXPECTED = FAWCETT["expected"]
Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]
INF = math.inf
SLIP = Fraction(1, 2**51)
CLOSE = {"rel": 1e-12, "abs": 1e-14}

Point = tuple[Fraction, Fraction]


class Kind:
    """A kind of curve, and how its slow twin draws it."""

    def __init__(self, entry: CurveEntry, twin: reference_curves.Twin) -> None:
        self.entry, self.kind, self.make = entry, entry.kind, entry.of_ranking
        self.straight, self.place, self._unpacked, self.is_at_zero = twin
        self.has_line = self.place in self.kind.ARRAYS

    def unpacked(self, point: Point) -> tuple[float, float]:
        """Return a straight point on the curve's own axes."""
        return tuple(map(float, self._unpacked(point)))

    def drawn(self, point: Point) -> float:
        """Return the value that `at` returns at a straight point."""
        return self.unpacked(point)[1 - self.kind.ARRAYS.index(self.place) if self.has_line else 1]


KINDS = {name: Kind(CURVES[name], twin) for name, twin in reference_curves.TWINS.items()}
POLYLINES = {name: kind for name, kind in KINDS.items() if kind.has_line}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
polylines = pytest.mark.parametrize("kind", POLYLINES.values(), ids=POLYLINES)
PLACES = [Fraction(k, 16) for k in range(17)] + [Fraction(1, 3), Fraction(2, 7), Fraction(10**6 - 1, 10**6)]


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Case, Case]:
    """Draw two rankings, of the same or of different labels."""
    first, second = draw(unweighted), draw(unweighted)
    if draw(st.booleans()):
        scores = draw(st.lists(st.integers(0, 6), min_size=first.y_true.size, max_size=first.y_true.size))
        second = Case(first.y_true, np.array(scores, dtype=float))
    return first, second


def counts(tps: list[float], fps: list[float]) -> ThresholdCounts:
    return ThresholdCounts(np.array([INF, *range(len(tps) - 1, 0, -1)]), np.array(tps), np.array(fps))


@pytest.fixture
def fawcett() -> Ranking:
    return Ranking(FAWCETT["y_true"], FAWCETT["y_score"])


# Reading a curve at a place ---------------------------------------------------------------------------------------


@polylines
@FEWER
@given(any_weights)
def test_a_curve_is_read_between_and_at_its_points(kind, case):
    points = kind.straight(*case)
    curve = kind.make(ranking_of(case))
    places = [*PLACES, *((a + b) / 2 for (a, _), (b, _) in pairwise(points))]
    for x, value in zip(places, curve.at(**{kind.place: np.array(list(map(float, places)))}), strict=True):
        # Floats may be on either side of a jump, or shift along a steep piece.
        near = [min(max(x + slip, Fraction(0)), Fraction(1)) for slip in (-SLIP, 0, SLIP)]
        values = [kind.drawn((at, reference_curves.best_at(points, at))) for at in near if at or kind.is_at_zero]
        off = 1e-12 * max(map(abs, values)) + 1e-14
        assert min(values) - off <= value <= max(values) + off, float(x)


@polylines
@FEWER
@given(exact_cases)
def test_a_curve_is_best_where_it_jumps(kind, case):
    points = kind.straight(*case)
    curve = kind.make(ranking_of(case))
    for x in {x for x, _ in points if x or kind.is_at_zero}:
        expected = kind.drawn((x, reference_curves.best_at(points, x)))
        assert curve.at(**{kind.place: float(x)}) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@BOUNDED
@given(exact_cases)
def test_the_lowest_fpr_that_reaches_a_tpr(case):
    points = reference_curves.swapped(reference_curves.roc(*case))
    curve = ranking_of(case).roc_curve()
    for y in {*(Fraction(float(y)) for y in curve.tpr), *PLACES}:
        expected = [-reference_curves.best_at(points, at) for at in {y, y.limit_denominator(10**9)}]
        assert any(curve.at(tpr=float(y)) == pytest.approx(float(one), **CLOSE) for one in expected)


@BOUNDED
@given(exact_cases)
def test_the_lowest_fpr_that_keeps_an_fnr(case):
    curve = ranking_of(case).det_curve()
    for fnr in curve.fnr:
        assert curve.at(fnr=fnr) == curve.fpr[curve.fnr <= fnr].min()


def test_an_fnr_whose_complement_rounds_is_still_one_of_the_points():
    curve = Ranking([1] * 3 + [0] * 5 + [1] * 7 + [0] * 5, np.arange(20)[::-1]).det_curve()
    assert curve.fnr[1] == 0.7  # 1 - 0.7 is above 3 / 10
    assert curve.at(fnr=0.7) == 0.0


@BOUNDED
@given(any_weights)
def test_det_mirrors_roc(case):
    roc, det = ranking_of(case).roc_curve(), ranking_of(case).det_curve()
    np.testing.assert_array_equal(det.fpr, roc.fpr)
    np.testing.assert_array_equal(det.thresholds, roc.thresholds)
    np.testing.assert_allclose(det.fnr, 1 - roc.tpr, rtol=0, atol=1e-15)
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(det.at(fpr=x), 1 - roc.at(fpr=x), rtol=0, atol=1e-15)


@BOUNDED
@given(any_weights)
def test_precision_at_recall_zero_is_one(case):
    assert ranking_of(case).precision_recall_curve().at(recall=0) == 1


def test_precision_between_points_is_a_hyperbola():
    # Davis and Goadrich (2006), figure 4: 20 positives, 2000 negatives; (5, 5), (10, 30).
    curve = PrecisionRecallCurve(counts([0, 5, 10, 20], [0, 5, 30, 2000]))
    found = curve.at(recall=[0.25, 0.3, 0.35, 0.4, 0.45, 0.5])
    np.testing.assert_allclose(found, [5 / 10, 6 / 16, 7 / 22, 8 / 28, 9 / 34, 10 / 40], rtol=1e-14)


def test_precision_is_the_highest_of_equal_recalls():
    curve = PrecisionRecallCurve(counts([0, 1, 1, 1, 2], [0, 0, 1, 5, 5]))
    assert curve.at(recall=0.5) == 1.0
    assert curve.at(recall=0.75) == 1.5 / 6.5


@every_kind
def test_lift_and_others_of_a_number_are_numbers_and_of_an_array_arrays(kind):
    curve = kind.make(Ranking(Y, S))
    one = curve.at(**{kind.place: 0.5})
    many = curve.at(**{kind.place: [[0.5, 0.25, 1]]})
    if kind.place == "probability_cost":
        one, many = one.value, many.value
    assert type(one) is float
    assert many.shape == (1, 3)
    assert many[0, 0] == one
    assert np.shape(getattr(empty := curve.at(**{kind.place: np.empty(0)}), "value", empty)) == (0,)


def test_lift_at_nothing_is_that_of_the_highest_score():
    assert Ranking(Y, S).lift_curve().at(share=0) == 2.0
    assert Ranking([1, 0, 0, 1], [2, 2, 1, 1]).lift_curve().at(share=0) == 1.0
    assert Ranking([0, 1], [2, 1]).lift_curve().at(share=0.0) == 0.0


@pytest.mark.parametrize("place", [5e-324, 1e-320, 1e-300, 0.01])
@pytest.mark.parametrize("y", [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
def test_precision_and_lift_are_constant_up_to_the_first_point(y, place):
    ranking = Ranking([*y, 1, 0], [2, 2, 2, 2, 1, 0])
    assert ranking.precision_recall_curve().at(recall=place) == sum(y) / 4
    assert ranking.lift_curve().at(share=place) == sum(y) / 4 / ((sum(y) + 1) / 6)


@polylines
@FEWER
@given(any_weights)
def test_a_threshold_gives_the_rates_of_its_confusion_matrix(kind, case):
    ranking = ranking_of(case)
    curve = kind.make(ranking)
    asked = np.unique(np.concatenate((case.y_score, [-INF, -0.5, 0.05, 0.3, 2.0, INF])))
    matrix = ranking.confusion_at(asked).counts.astype(float)
    (tn, fp), (fn, tp) = matrix[:, 0].T, matrix[:, 1].T
    with np.errstate(invalid="ignore"):
        expected = {
            "fpr": fp / (fp + tn),
            "tpr": tp / (tp + fn),
            "fnr": fn / (tp + fn),
            "recall": tp / (tp + fn),
            "gain": tp / (tp + fn),
            "precision": np.where(tp + fp > 0, tp / (tp + fp), 1.0),
            "share": (tp + fp) / (tp + fp + tn + fn),
            "coverage": (tp + fp) / (tp + fp + tn + fn),
            "risk": fp / (tp + fp),
            "lift": tp / (tp + fp) * (tp + fp + tn + fn) / (tp + fn),
        }
    full = kind.kind(ranking.counts)
    for name, found in zip(full.ARRAYS[:2], full.at(threshold=asked), strict=True):
        defined = ~np.isnan(expected[name])  # lift needs positive predictions
        np.testing.assert_allclose(found[defined], expected[name][defined], rtol=1e-13, atol=1e-14)
    for found, all_points in zip(curve.at(threshold=asked), full.at(threshold=asked), strict=True):
        np.testing.assert_array_equal(found, all_points)  # also if points are left out
    x, y = full.at(threshold=float(asked[0]))
    assert (type(x), type(y)) == (float, float)


def test_a_threshold_inside_a_stretch_is_read_where_its_point_was_left_out():
    ranking = Ranking([1, 1, 0], [3, 2, 1])
    assert ranking.roc_curve(drop_intermediate=False).at(threshold=3) == (0.0, 0.5)
    assert ranking.roc_curve().at(threshold=3) == (0.0, 0.5)
    assert ranking.det_curve().at(threshold=3) == (0.0, 0.5)


# Areas ------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_weights)
def test_areas_of_the_curves(case):
    ranking = ranking_of(case)
    assert ranking.roc_curve().area == pytest.approx(ranking.roc_auc(), rel=1e-14, abs=1e-15)
    assert ranking.det_curve().area == pytest.approx(ranking.rank_loss(), rel=1e-14, abs=1e-15)
    assert ranking.precision_recall_curve().area == ranking.pr_auc()
    expected = reference.polyline_area(reference_curves.gain(*case))
    assert ranking.gain_curve().area == pytest.approx(float(expected), rel=1e-13)


def lift_area(points: list[Point]) -> float:
    """Integrate gain / share piece by piece: on a piece with slope s it is s + (y0 - s x0) / x."""
    area = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        slope = (y1 - y0) / (x1 - x0)
        rest = y0 - slope * x0
        area += float(slope * (x1 - x0))
        if rest:
            area += float(rest) * math.log1p(float((x1 - x0) / x0))
    return area


@BOUNDED
@given(any_weights)
def test_lift_area_is_the_integral_of_gain_over_share(case):
    assert ranking_of(case).lift_curve().area == pytest.approx(lift_area(reference_curves.gain(*case)), rel=1e-11)


@pytest.mark.parametrize("ratio", [1e-300, 1e-16, 1e-6, 1e6, 1e10, 1e16, 1e100, 1e300])
def test_lift_area_of_classes_of_unlike_weight(ratio):
    y, s = np.array([0, 1, 0, 1, 1, 0, 1, 0]), np.array([0.1, 0.9, 0.5, 0.5, 0.3, 0.7, 0.2, 0.95])
    weights = np.where(y == 0, ratio, 1.0)
    with localcontext(prec=700):
        area = tp = fp = Decimal(0)
        for score in sorted(set(s), reverse=True):
            up, right = (sum(map(Decimal, weights[(s == score) & (y == c)]), Decimal(0)) for c in (1, 0))
            slope, start = up / (up + right), tp + fp
            area += up + (((start + up + right) / start).ln() * (tp - slope * start) if start else 0)
            tp, fp = tp + up, fp + right
        expected = float(area / tp)
    assert Ranking(y, s, sample_weight=weights).lift_curve().area == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("weights", [(1e-300, 1e300), (1e300, 1e-300)])
def test_areas_of_classes_whose_weights_no_float_compares(weights):
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    far, farther = (
        Ranking(y, [1, 2, 3, 3, 5, 6, 7, 8], sample_weight=np.take(each, y)) for each in (np.cbrt(weights), weights)
    )
    assert farther.precision_recall_curve().area == pytest.approx(float(weights[0] < weights[1]), abs=1e-12)
    assert farther.lift_curve().area == pytest.approx(far.lift_curve().area, rel=1e-12)


def test_lift_area_against_quadrature(fawcett):
    curve = fawcett.lift_curve()
    pieces = pairwise(np.unique(curve.share))
    area = math.fsum(quad(lambda x: curve.at(share=x), a, b, epsabs=1e-13)[0] for a, b in pieces)
    assert curve.area == pytest.approx(area, rel=1e-12)


def test_precision_recall_area_against_quadrature(fawcett):
    curve = fawcett.precision_recall_curve()
    pieces = pairwise(np.unique(curve.recall))
    area = math.fsum(quad(lambda x: curve.at(recall=x), a, b, epsabs=1e-13)[0] for a, b in pieces)
    assert curve.area == pytest.approx(area, rel=1e-12)
    assert curve.area == pytest.approx(EXPECTED["pr_auc_davis_goadrich"], rel=1e-14)


@pytest.mark.parametrize(("n_neg", "n_pos"), [(1, 1), (9, 1), (1, 9), (30, 70)])
def test_areas_of_perfect_worst_and_chance_rankings(n_neg, n_pos):
    y = np.repeat([0, 1], (n_neg, n_pos))
    p = n_pos / (n_pos + n_neg)
    perfect, worst, chance = (Ranking(y, s) for s in (np.arange(y.size), -np.arange(y.size), np.zeros(y.size)))
    assert [r.roc_curve().area for r in (perfect, worst, chance)] == [1, 0, 0.5]
    assert [r.det_curve().area for r in (perfect, worst, chance)] == [0, 1, 0.5]
    gains = [r.gain_curve().area for r in (perfect, worst, chance)]
    np.testing.assert_allclose(gains, [1 - p / 2, p / 2, 0.5], rtol=1e-15)
    lifts = [r.lift_curve().area for r in (perfect, chance)]
    np.testing.assert_allclose(lifts, [1 - math.log(p), 1.0], rtol=1e-14)  # 1 / p up to p, then 1 / x
    assert perfect.precision_recall_curve().area == 1
    assert chance.precision_recall_curve().area == pytest.approx(p, rel=1e-15)


def test_one_row_of_each_class_and_one_row():
    curve = Ranking([0, 1], [5, 5]).roc_curve()
    assert curve.at(fpr=0.25) == 0.25
    with pytest.warns(UndefinedMetricWarning, match="roc_curve is undefined .*no negatives"):
        assert math.isnan(Ranking([1], [0.5]).roc_curve().at(fpr=0.5))
    gain = Ranking([1], [0.5]).gain_curve()
    assert (gain.area, gain.at(share=0.3), len(gain)) == (0.5, 0.3, 2)
    assert Ranking([1], [0.5]).lift_curve().area == 1
    assert Ranking([1], [0.5]).precision_recall_curve().area == 1


@pytest.mark.parametrize("kind", [RocCurve, DetCurve, PrecisionRecallCurve, GainCurve, LiftCurve])
def test_counts_of_no_rows_make_an_undefined_curve(kind):
    curve = kind(counts([0], [0]))
    assert math.isnan(curve.area)
    assert [array.size for array in curve] == [1, 1, 1]


# Hulls ------------------------------------------------------------------------------------------------------------


def test_hull_of_the_course_instances(fawcett):
    hull = fawcett.roc_curve().hull()
    assert isinstance(hull, RocCurve)
    np.testing.assert_allclose(np.column_stack((hull.fpr, hull.tpr)), EXPECTED["roc_hull"], rtol=1e-15)
    assert hull.area == pytest.approx(EXPECTED["roc_hull_area"], rel=1e-15)
    assert fawcett.det_curve().hull().area == pytest.approx(1 - EXPECTED["roc_hull_area"], rel=1e-14)
    assert hull.thresholds.tolist() == [INF, 0.8, 0.54, 0.38, 0.3, 0.1][:1] + [
        FAWCETT["y_score"][round(10 * (x + y)) - 1] for x, y in EXPECTED["roc_hull"][1:]
    ]
    assert fawcett.equal_error_rate(on_hull=True).value == pytest.approx(
        EXPECTED["equal_error_rate_on_hull"], rel=1e-15
    )
    assert hull.at(fpr=EXPECTED["equal_error_rate_on_hull"]) == pytest.approx(
        1 - EXPECTED["equal_error_rate_on_hull"], rel=1e-14
    )


@polylines
@FEWER
@given(exact_cases)
def test_hulls_keep_the_rows_of_the_roc_hull(kind, case):
    curve = kind.make(ranking_of(case))
    hull = curve.hull()
    assert type(hull) is type(curve)
    rows = reference.hull_rows(reference_curves.roc(*case))
    thresholds = [step.threshold for step in reference.threshold_counts(*case)]
    assert hull.thresholds.tolist() == [thresholds[row] for row in rows]


@polylines
@FEWER
@given(any_weights)
def test_a_hull_is_nowhere_below_its_curve(kind, case):
    curve = kind.make(ranking_of(case))
    hull = curve.hull()
    assert not curve.dominates(hull)
    assert curve.crossings(hull).shape == (0, 2)
    assert hull.hull().thresholds.tolist() == hull.thresholds.tolist()
    larger = hull.area - curve.area if not isinstance(curve, (DetCurve, RiskCoverageCurve)) else curve.area - hull.area
    assert larger >= -1e-14
    if larger > 1e-9:
        assert hull.dominates(curve)


# Two curves -------------------------------------------------------------------------------------------------------


@every_kind
@FEWER
@given(pairs())
def test_domination_is_that_of_the_slow_twin(kind, pair):
    mine, other = (kind.make(ranking_of(case)) for case in pair)
    lines = [kind.straight(*case) for case in pair]
    assert mine.dominates(other) is reference_curves.dominates(*lines)
    assert other.dominates(mine) is reference_curves.dominates(*lines[::-1])


@every_kind
@FEWER
@given(pairs())
def test_crossings_are_where_the_slow_twin_changes_sign(kind, pair):
    mine, other = (kind.make(ranking_of(case)) for case in pair)
    lines = [kind.straight(*case) for case in pair]
    expected = reference_curves.crossings(*lines)
    found = mine.crossings(other)
    assert found.shape == (len(expected), 2)
    for x, point in zip(expected, found, strict=True):
        # Any common point if both curves are vertical, else the only one.
        bottoms, tops = zip(*(reference_curves.heights(line, x) for line in lines), strict=True)
        ends = [kind.unpacked((x, y)) for y in (max(bottoms), min(tops))]
        for value, bounds in zip(point, zip(*ends, strict=True), strict=True):
            assert min(bounds) - 1e-12 <= value <= max(bounds) + 1e-12


@every_kind
@FEWER
@given(pairs())
def test_crossings_are_the_same_from_either_side(kind, pair):
    mine, other = (kind.make(ranking_of(case)) for case in pair)
    np.testing.assert_allclose(mine.crossings(other), other.crossings(mine), rtol=1e-12, atol=1e-14)
    if mine.dominates(other):
        assert not other.dominates(mine)
        assert not len(mine.crossings(other))


@every_kind
@FEWER
@given(any_weights)
def test_a_curve_and_its_equal(kind, case):
    mine, other = (kind.make(ranking_of(case)) for _ in range(2))
    for a, b in ((mine, mine), (mine, other)):
        assert not a.dominates(b)
        assert a.crossings(b).shape == (0, 2)


@every_kind
@pytest.mark.parametrize("scale", [0.3, 1e-300, 1e300, 3.0])
def test_weights_of_another_unit_are_the_same_curve(kind, scale):
    rng = np.random.default_rng(3)
    for _ in range(6):
        y, s, w = rng.permutation(np.arange(20) % 2), rng.integers(0, 9, 20), rng.integers(1, 9, 20) / 4
        mine, other = (kind.make(Ranking(y, s, sample_weight=w * u)) for u in (1.0, scale))
        assert not mine.dominates(other)
        assert not other.dominates(mine)
        assert not len(mine.crossings(other))
        assert other.area == pytest.approx(mine.area, rel=1e-13)


@st.composite
def labels_and_two_scores(draw: st.DrawFn) -> tuple[Case, Case]:
    first = draw(unweighted)
    scores = draw(st.lists(st.integers(0, 8), min_size=first.y_true.size, max_size=first.y_true.size))
    return first, Case(first.y_true, np.array(scores, dtype=float))


@BOUNDED
@given(labels_and_two_scores())
def test_domination_in_roc_space_is_that_in_precision_recall_space(pair):
    # Davis and Goadrich (2006), theorem 3.2: on one data set the two orders agree.
    mine, other = map(ranking_of, pair)
    roc = mine.roc_curve().dominates(other.roc_curve())
    assert roc is mine.precision_recall_curve().dominates(other.precision_recall_curve())
    assert roc is mine.det_curve().dominates(other.det_curve())
    if roc:
        assert mine.gain_curve().dominates(other.gain_curve())
        assert not other.cost_curve().dominates(mine.cost_curve())


def test_precision_recall_of_other_priors():
    perfect = Ranking([1] + [0] * 9, np.arange(10)[::-1]).precision_recall_curve()
    half = Ranking([0, 1], [1, 0]).precision_recall_curve()
    # Precision is 1 at each recall, against at most 1/2. Points past full recall do not belong to the curve.
    assert perfect.dominates(half)
    assert not half.dominates(perfect)
    assert perfect.crossings(half).shape == (0, 2)


def test_a_crossing_between_points():
    mine = RocCurve(counts([0, 6, 10], [0, 2, 10]))
    other = RocCurve(counts([0, 4, 10], [0, 0, 10]))
    assert not mine.dominates(other)
    (point,) = mine.crossings(other)
    # Below 0.2: 3 x against 0.4 + 0.6 x: they meet at x = 1/6.
    np.testing.assert_allclose(point, [1 / 6, 0.5], rtol=1e-14)


def test_a_crossing_at_a_common_vertex():
    mine = RocCurve(counts([0, 3, 5, 10], [0, 0, 5, 10]))
    other = RocCurve(counts([0, 1, 5, 8, 10], [0, 0, 5, 6, 10]))
    assert mine.crossings(other).tolist() == other.crossings(mine).tolist() == [[0.5, 0.5]]


def test_where_curves_run_together_before_they_part_the_first_common_point():
    mine = RocCurve(counts([0, 4, 6, 7, 10], [0, 1, 4, 8, 10]))
    other = RocCurve(counts([0, 1, 6, 7, 9, 10], [0, 1, 4, 8, 9, 10]))
    np.testing.assert_allclose(mine.crossings(other), [[0.4, 0.6]], rtol=1e-15)
    np.testing.assert_allclose(other.crossings(mine), [[0.4, 0.6]], rtol=1e-15)


def test_curves_that_touch_and_part_again_do_not_cross():
    mine = RocCurve(counts([0, 4, 6, 9, 10], [0, 1, 4, 6, 10]))
    other = RocCurve(counts([0, 1, 6, 7, 10], [0, 1, 4, 6, 10]))
    assert mine.crossings(other).shape == (0, 2)
    assert mine.dominates(other)


def test_a_horizontal_stretch_crosses_a_vertical_one_in_one_point():
    mine = RocCurve(counts([0, 5, 5, 10], [0, 0, 10, 10]))
    other = RocCurve(counts([0, 2, 2, 8, 8, 10], [0, 0, 5, 5, 10, 10]))
    assert mine.crossings(other).tolist() == [[0.5, 0.5]]


def test_overlapping_vertical_stretches_cross_in_their_first_common_point():
    mine = RocCurve(counts([0, 2, 8, 10], [0, 5, 5, 10]))
    other = RocCurve(counts([0, 5, 6, 10], [0, 5, 5, 10]))
    assert mine.crossings(other).tolist() == [[0.5, 0.5]]
    assert other.crossings(mine).tolist() == [[0.5, 0.5]]


def test_two_hundred_steps_of_rounding_are_no_crossing():
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 200), rng.permutation(200)
    w = rng.uniform(0.1, 1, 200)
    order = rng.permutation(200)
    mine = Ranking(y, s, sample_weight=w)
    other = Ranking(y[order], s[order], sample_weight=w[order] * 3)
    for kind in KINDS.values():
        assert not kind.make(mine).dominates(kind.make(other))
        assert not len(kind.make(mine).crossings(kind.make(other)))


def test_crossings_of_large_curves_are_few_and_on_both():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 50_000)
    steep, broad = y * rng.exponential(2, y.size) + rng.normal(size=y.size), y * 0.8 + rng.normal(size=y.size)
    mine, other = (Ranking(y, s).roc_curve() for s in (steep, broad))
    fpr, tpr = mine.crossings(other).T
    assert 0 < fpr.size < 5_000
    assert (np.diff(fpr) >= 0).all()
    outside = np.abs(mine.at(fpr=fpr) - other.at(fpr=fpr)) > 1e-9
    for x, y_at in zip(fpr[outside], tpr[outside], strict=True):  # on a vertical stretch
        for curve in (mine, other):
            assert curve.tpr[curve.fpr < x].max(initial=0) - 1e-9 <= y_at <= curve.at(fpr=x) + 1e-9


# scikit-learn's curves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_points_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y, s = rng.permutation(np.arange(60) % 3 == 0).astype(int), rng.integers(0, 15, 60) / 4
    weights = rng.integers(1, 5, 60) if seed % 2 else None
    ranking = Ranking(y, s, sample_weight=weights)
    roc = ranking.roc_curve(drop_intermediate=False)
    for ours, theirs in zip(
        roc, sklearn_metrics.roc_curve(y, s, sample_weight=weights, drop_intermediate=False), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    precision, recall, thresholds = sklearn_metrics.precision_recall_curve(y, s, sample_weight=weights)
    curve = ranking.precision_recall_curve()  # theirs ascends in the threshold, with none at (1, 0)
    np.testing.assert_allclose(curve.precision[::-1], precision, rtol=1e-14)
    np.testing.assert_allclose(curve.recall[::-1], recall, rtol=1e-14)
    np.testing.assert_array_equal(curve.thresholds[:0:-1], thresholds)
    fpr, fnr, thresholds = sklearn_metrics.det_curve(y, s, sample_weight=weights)
    det = ranking.det_curve(drop_intermediate=False)
    theirs = {float(t): (x, z) for x, z, t in zip(fpr, fnr, thresholds, strict=True)}
    ours = {float(t): (x, z) for x, z, t in zip(*det, strict=True)}
    shared = sorted(theirs.keys() & ours.keys())
    assert len(shared) >= len(theirs) - 1
    np.testing.assert_allclose([ours[t] for t in shared], [theirs[t] for t in shared], rtol=1e-13, atol=1e-15)


# Bad input --------------------------------------------------------------------------------------------------------

PLACES_OF = {
    name: [place for place in inspect.signature(kind.kind.at).parameters if place not in ("self", "threshold")]
    for name, kind in POLYLINES.items()
}


@pytest.mark.parametrize("name", POLYLINES)
def test_exactly_one_place_is_asked(name):
    kind, other = KINDS[name], [*PLACES_OF[name], "threshold"][1]
    curve = kind.make(Ranking(Y, S))
    with pytest.raises(ValueError, match=f"exactly one of {kind.place}, .*threshold must be given, got none"):
        curve.at()
    with pytest.raises(ValueError, match=f"exactly one of .* must be given, got {kind.place} and {other}"):
        curve.at(**{kind.place: 0.5, other: 0.5})


@pytest.mark.parametrize(("name", "place"), [(name, place) for name in POLYLINES for place in PLACES_OF[name]])
@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan, INF, [0.5, math.nan], "half", [None], True, [0.5, -1e-300]])
def test_places_outside_the_axis(name, place, value):
    curve = KINDS[name].make(Ranking(Y, S))
    with pytest.raises(ValueError, match=f"{place} must (be in|hold)"):
        curve.at(**{place: value})


@polylines
@pytest.mark.parametrize("value", [math.nan, [0.1, math.nan], "high", [1j]])
def test_thresholds_that_are_none(kind, value):
    with pytest.raises(ValueError, match=r"threshold must (not be NaN|hold numbers)"):
        kind.make(Ranking(Y, S)).at(threshold=value)


@every_kind
def test_curves_of_another_kind_are_not_compared(kind):
    curve = kind.make(Ranking(Y, S))
    others = [other.make(Ranking(Y, S)) for other in KINDS.values() if other is not kind]
    for other in (*others, None, 0.5, Ranking(Y, S)):
        for method in (curve.dominates, curve.crossings):
            with pytest.raises(
                ValueError, match=f"other must be a {type(curve).__name__} .*got {type(other).__name__}"
            ):
                method(other)


@pytest.mark.parametrize(
    ("name", "label"),
    [(name, int(without == "negatives")) for name, kind in KINDS.items() for without in kind.entry.undefined_without],
)
def test_curves_of_one_class_are_not_compared(name, label):
    kind = KINDS[name]
    with pytest.warns(UndefinedMetricWarning, match=f"{name}_curve is undefined"):
        curve = kind.make(Ranking([label] * 3, [1, 2, 3]))
    assert math.isnan(curve.area)
    assert "area=nan" in repr(curve)
    whole = kind.make(Ranking(Y, S))
    for method in ("dominates", "crossings"):
        with pytest.raises(ValueError, match="this curve is undefined"):
            getattr(curve, method)(whole)
        with pytest.raises(ValueError, match="other is undefined"):
            getattr(whole, method)(curve)


# As results -------------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda curve: pickle.loads(pickle.dumps(curve))])
def test_copies_are_equal_and_read_only(kind, again):
    curve = kind.make(Ranking(Y, S))
    assert curve.area >= 0  # creates its arrays
    other = again(curve)
    assert type(other) is type(curve)
    for mine, theirs in zip(curve, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert not theirs.flags.writeable
    assert repr(other) == repr(curve)


@every_kind
def test_arrays_are_read_only_made_once_and_plain_in_a_dict(kind):
    curve = kind.make(Ranking(Y, S))
    for name in curve.ARRAYS:
        array = getattr(curve, name)
        assert array.shape == (len(curve),)
        assert array is getattr(curve, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5
    found = curve.to_dict()
    assert all(found[name] == as_json(getattr(curve, name)) for name in curve.ARRAYS)
    assert all(type(value) is float or value == "Infinity" for name in curve.ARRAYS for value in found[name])
    with pytest.raises(AttributeError):
        curve.counts = curve.counts


def test_reprs():
    ranking = Ranking(Y, S)
    assert repr(ranking.det_curve()) == "DetCurve(5 points, area=0.25)"
    assert repr(ranking.gain_curve()) == "GainCurve(5 points, area=0.625)"
    assert repr(ranking.lift_curve()) == f"LiftCurve(5 points, area={ranking.lift_curve().area:.6g})"


@pytest.fixture(scope="module")
def large() -> Ranking:
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 300_000)
    return Ranking(y, rng.normal(size=y.size) + y)


@every_kind
def test_the_same_bits_at_any_number_of_threads(kind, large):
    found = []
    for threads in (1, 2):
        with num_threads(threads):
            curve = kind.make(large)
            found.append((*(array.tobytes() for array in curve), curve.area, curve.hull().area))
    assert found[0] == found[1]


# Types and sizes --------------------------------------------------------------------------------------------------


@polylines
def test_int64_thresholds_past_doubles_are_asked_for_exactly(kind):
    curve = kind.make(Ranking([0, 1, 0, 1], np.array([2**53 + 1, 2**53, 7, 5])))
    at = [curve.at(threshold=value) for value in (2**53 + 1, 2**53)]
    assert at[0] != at[1]
    assert curve.to_dict()["thresholds"][1:2] == [2**53 + 1]


@polylines
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, np.int64, bool])
def test_the_type_of_the_scores_does_not_matter(kind, dtype):
    s = [0, 1, 1, 0, 1] if dtype is bool else [3, 100, 7, 0, 100]
    mine, other = (kind.make(Ranking([0, 1, 0, 1, 1], np.array(s, dtype=d))) for d in (dtype, float))
    assert mine.to_dict() == other.to_dict()


@polylines
@pytest.mark.parametrize("unit", [1e300, 1e-300, 5e-324 * 2**60])
def test_huge_and_tiny_weights(kind, unit):
    w = np.array([1.0, 2, 3, 4, 5])
    mine, other = (kind.make(Ranking([0, 1, 0, 1, 1], [1, 2, 3, 4, 3], sample_weight=w * u)) for u in (unit, 1.0))
    assert mine.area == pytest.approx(other.area, rel=1e-13)
    assert mine.hull().thresholds.tolist() == other.hull().thresholds.tolist()
    x = np.linspace(0, 1, 33)
    np.testing.assert_allclose(mine.at(**{kind.place: x}), other.at(**{kind.place: x}), rtol=1e-12, atol=1e-15)
