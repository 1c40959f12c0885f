"""Decision curves: net benefit by threshold probability."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import Ranking
from fastevals.measure.curves.decision import DecisionCurve, net_benefit
from tests.measure.test_calibration import EDGES, any_cases, counts_of, probability_cases
from tests.reference import calibration as reference
from tests.strategies import BOUNDED, DYADIC_WEIGHTS

Y, P = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8]
POINTS = (*EDGES[:-1], 0.25, 0.75, 1 - 2**-53)
priors = st.sampled_from([None, 0.0, 0.1, 0.5, 1.0])
both_classes = st.one_of(probability_cases(both_classes=True), probability_cases(DYADIC_WEIGHTS, both_classes=True))


def curve_of(y: object = Y, p: object = P, points: object = None, **options: object) -> DecisionCurve:
    return DecisionCurve.from_counts(Ranking(y, p, pos_label=1).counts, points, **options)


def slack(points: np.ndarray) -> np.ndarray:
    """Return the rounding error of a net benefit, whose terms are at most 1 and the odds."""
    return 1e-15 * (1 + points / (1 - points))


@BOUNDED
@given(both_classes, priors)
def test_net_benefit_is_counted_at_or_above_the_probability(case, prior):
    points, counts = np.array(POINTS), counts_of(case)
    curve = DecisionCurve.from_counts(counts, points, prior=prior)
    slow = [float(reference.net_benefit(pt, prior, *case)) for pt in POINTS]
    assert (np.abs(curve.net_benefit - slow) <= slack(points)).all()
    treated = case._replace(y_score=np.ones(case.y_score.size))
    everyone = [float(reference.net_benefit(pt, prior, *treated)) for pt in POINTS]
    assert (np.abs(curve.treat_all - everyone) <= slack(points)).all()


@BOUNDED
@given(any_cases)
def test_net_benefit_of_any_weights_and_classes(case):
    slow = [float(reference.net_benefit(pt, None, *case)) for pt in POINTS]
    assert (np.abs(net_benefit(counts_of(case), POINTS) - slow) <= slack(np.array(POINTS))).all()


@BOUNDED
@given(both_classes, priors)
def test_a_point_is_the_same_alone_and_on_the_curve(case, prior):
    curve = DecisionCurve.from_counts(counts_of(case), POINTS, prior=prior)
    assert curve.at(POINTS).tolist() == curve.net_benefit.tolist() == [curve.at(pt) for pt in POINTS]
    assert net_benefit(counts_of(case), POINTS, prior=prior).tolist() == curve.net_benefit.tolist()


@BOUNDED
@given(both_classes)
def test_the_prior_of_the_data_changes_nothing(case):
    counts = counts_of(case)
    here = counts.n_pos / (counts.n_pos + counts.n_neg)
    gap = net_benefit(counts, POINTS, prior=here) - net_benefit(counts, POINTS)
    assert (np.abs(gap) <= slack(np.array(POINTS))).all()


@BOUNDED
@given(both_classes, st.sampled_from([0.1, 0.25, 0.7]))
def test_what_is_gained_is_what_errors_cost_less(case, pt):
    # A false negative costs 1, a false positive the odds: the cost of treating none, minus the model's.
    ranking = Ranking(case.y_true, case.y_score, **case.options)
    odds = pt / (1 - pt)
    saved = ranking.expected_cost(math.inf, cost_fp=odds) - ranking.expected_cost(pt, cost_fp=odds)
    assert net_benefit(ranking.counts, pt) == pytest.approx(saved, abs=1e-14)


@BOUNDED
@given(both_classes, priors)
def test_a_model_that_treats_all_or_none_is_nowhere_useful(case, prior):
    counts = counts_of(case)
    curve = DecisionCurve.from_counts(counts, POINTS, prior=prior)
    lowest, highest = counts.thresholds[-1], counts.thresholds[1]
    treats_all, treats_none = curve.threshold_probability <= lowest, curve.threshold_probability > highest
    np.testing.assert_array_equal(curve.net_benefit[treats_all], curve.treat_all[treats_all])
    assert (curve.net_benefit[treats_none] == 0).all()
    for low, high in curve.useful_ranges:
        assert lowest < low <= high <= highest


def test_by_hand():
    curve = curve_of(points=[0, 0.2, 0.5, 0.75, 0.9])
    # At 0.2, two positives and two negatives out of five are treated; a false positive costs 1/4.
    np.testing.assert_allclose(curve.net_benefit, [0.4, 0.4 - 0.4 / 4, 0.2 - 0.2, 0.2, 0], atol=1e-16)
    np.testing.assert_allclose(curve.treat_all, [0.4, 0.4 - 0.6 / 4, 0.4 - 0.6, 0.4 - 1.8, 0.4 - 5.4], atol=1e-15)


def test_treating_all_breaks_even_at_the_share_of_positives():
    curve = curve_of([0, 0, 0, 1], [0.5] * 4, [0.1, 0.25, 0.4])
    assert curve.treat_all[1] == pytest.approx(0, abs=1e-16)
    assert curve.treat_all[0] > 0 > curve.treat_all[2]


def test_the_prior_by_hand():
    assert net_benefit(Ranking(Y, P).counts, 0.5, prior=0.1) == pytest.approx(0.1 * 0.5 - 0.9 / 3)
    assert curve_of(points=[0.5], prior=0.1).treat_all.tolist() == [pytest.approx(0.1 - 0.9)]


def test_perfect_forecasts_gain_every_positive_at_any_probability():
    curve = curve_of([0, 0, 0, 1], [0, 0, 0, 1])
    assert (curve.net_benefit == 0.25).all()
    assert curve.useful_ranges == [(0.01, 0.99)]


def test_the_grid_is_of_hundredths_that_scores_of_hundredths_reach():
    curve = curve_of()
    assert curve.threshold_probability.tolist() == [k / 100 for k in range(1, 100)]
    assert curve_of([1, 1, 0], [0.07, 0.29, 0.58]).at([0.07, 0.29, 0.58])[0] > 0
    assert len(curve) == 99


def test_ranges_are_runs_of_evaluated_points_in_ascending_order():
    points = [0.7, 0.05, 0.3, 0.2, 0.5]
    curve = curve_of(points=points)
    assert curve.threshold_probability.tolist() == points
    assert curve.useful_ranges == [(0.2, 0.3), (0.7, 0.7)]
    assert curve.useful_ranges[0].low == 0.2
    assert curve_of(points=[0.05]).useful_ranges == []


@pytest.mark.parametrize(("percent", "tp", "fp"), [(6, 3, 47), (8, 2, 23), (41, 41, 59)])
def test_breaking_even_with_treating_none_is_no_gain(percent, tp, fp):
    curve = curve_of([1] * tp + [0] * (fp + 20), [0.99] * (tp + fp) + [0] * 20, [percent / 100])
    assert 0 < curve.net_benefit[0] < 1e-16 * fp  # by rounding
    assert curve.useful_ranges == []


@pytest.mark.parametrize(("percent", "fn", "tn"), [(10, 1, 9), (14, 7, 43), (27, 27, 73)])
def test_breaking_even_with_treating_all_is_no_gain(percent, fn, tn):
    curve = curve_of([1] * (50 + fn) + [0] * tn, [0.99] * 50 + [0.001] * (fn + tn), [percent / 100])
    assert 0 < curve.net_benefit[0] - curve.treat_all[0] < 1e-15  # by rounding
    assert curve.useful_ranges == []


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    curve = curve_of([label] * 2, [0.2, 0.6], [0.1, 0.5])
    np.testing.assert_allclose(curve.net_benefit, [1, 0.5] if label else [-1 / 9, -0.5])
    missing = curve_of([label] * 2, [0.2, 0.6], [0.1, 0.5], prior=0.5)
    assert np.isnan(missing.net_benefit).all()
    assert np.isnan(missing.treat_all).all()
    assert missing.useful_ranges == []


def test_as_a_result():
    curve = curve_of(points=[0.2, 0.5], prior=0.25)
    threshold_probability, benefit, treat_all = curve
    assert threshold_probability is curve.threshold_probability
    assert benefit is curve.net_benefit
    assert treat_all is curve.treat_all
    assert repr(curve) == "DecisionCurve(2 points, useful: 0.2 to 0.2)"
    assert repr(curve_of(points=[0.9])) == "DecisionCurve(1 point, useful: nowhere)"
    assert curve.to_dict() == {
        "threshold_probability": [0.2, 0.5],
        "net_benefit": benefit.tolist(),
        "treat_all": treat_all.tolist(),
        "counts": curve.counts.to_dict(),
        "prior": 0.25,
        "defined": True,
        "useful_ranges": [[0.2, 0.2]],
    }
    for clone in (copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert clone.to_dict() == curve.to_dict()
        assert clone.at(0.3) == curve.at(0.3)
        for array in clone:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(AttributeError):
        curve.prior = 0.5


def test_what_the_user_passed_stays_his():
    points = np.array([0.2, 0.5])
    curve = curve_of(points=points)
    points[0] = 0.9
    assert curve.threshold_probability.tolist() == [0.2, 0.5]


def test_a_number_gives_a_float_and_an_array_its_shape():
    counts = Ranking(Y, P).counts
    assert type(net_benefit(counts, 0.5)) is float
    assert net_benefit(counts, np.full((2, 3), 0.5)).shape == (2, 3)
    assert net_benefit(counts, 0) == 0.4


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (1.0, r"threshold_probability must be in \[0, 1\), got 1.0"),
        ([0.5, -0.1], r"threshold_probability must be in \[0, 1\), got -0.1"),
        (math.inf, r"threshold_probability must be in \[0, 1\), got inf"),
        (math.nan, "threshold_probability must not be NaN"),
        ("0.5", "threshold_probability must hold numbers"),
    ],
)
def test_bad_threshold_probabilities(points, message):
    counts = Ranking(Y, P).counts
    with pytest.raises(ValueError, match=message):
        net_benefit(counts, points)
    with pytest.raises(ValueError, match=message):
        DecisionCurve.from_counts(counts, np.atleast_1d(points))
    with pytest.raises(ValueError, match=message):
        curve_of().at(points)


@pytest.mark.parametrize(
    ("points", "message"),
    [(0.5, r"threshold_probability must be 1-D, got shape \(\)"), ([], "threshold_probability is empty")],
)
def test_a_curve_needs_a_row_of_points(points, message):
    with pytest.raises(ValueError, match=message):
        curve_of(points=points)


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan])
def test_bad_priors(prior):
    with pytest.raises(ValueError, match=r"prior must be in \[0, 1\], got"):
        curve_of(prior=prior)
    with pytest.raises(ValueError, match=r"prior must be in \[0, 1\], got"):
        net_benefit(Ranking(Y, P).counts, 0.5, prior=prior)


def test_scores_outside_0_to_1_are_an_error():
    for function in (DecisionCurve.from_counts, lambda counts: net_benefit(counts, 0.5)):
        with pytest.raises(ValueError, match=r"y_score must hold probabilities, in \[0, 1\], got 2.5"):
            function(Ranking([0, 1], [0.5, 2.5]).counts)
