"""Curves: their points, the points left out, and their behaviour as results."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from fastevals import PrecisionRecallCurve, Ranking, RocCurve, UndefinedMetricWarning
from tests.reference import ranking as reference
from tests.strategies import BOUNDED, Case, any_weights, exact_cases

FAWCETT = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())["fawcett20"]
Y, S = [0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


@pytest.fixture(params=["roc_curve", "precision_recall_curve"])
def curve(request):
    return getattr(Ranking(Y, S), request.param)()


# Points -----------------------------------------------------------------------------------------------------------


@BOUNDED
@given(exact_cases)
def test_roc_points_are_the_rates_at_every_threshold(case):
    fpr, tpr, thresholds = ranking_of(case).roc_curve(drop_intermediate=False)
    points = reference.roc_points(*case)
    assert list(zip(fpr, tpr, strict=True)) == [(float(x), float(y)) for x, y in points]
    assert thresholds.tolist() == [step.threshold for step in reference.threshold_counts(*case)]


@BOUNDED
@given(exact_cases)
def test_precision_recall_points_are_the_rates_at_every_threshold(case):
    precision, recall, thresholds = ranking_of(case).precision_recall_curve()
    steps = reference.threshold_counts(*case)
    assert precision.tolist() == [1.0, *(float(step.tp / (step.tp + step.fp)) for step in steps[1:])]
    assert recall.tolist() == [float(step.tp / steps[-1].tp) for step in steps]
    assert thresholds.tolist() == [step.threshold for step in steps]


@BOUNDED
@given(any_weights)
def test_curves_start_at_an_infinite_threshold_and_only_rise(case):
    ranking = ranking_of(case)
    fpr, tpr, thresholds = ranking.roc_curve()
    assert (fpr[0], tpr[0], thresholds[0], fpr[-1], tpr[-1]) == (0, 0, math.inf, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    assert (thresholds[1:] < thresholds[:-1]).all()
    precision, recall, thresholds = ranking.precision_recall_curve()
    assert (precision[0], recall[0], thresholds[0], recall[-1]) == (1, 0, math.inf, 1)
    assert (np.diff(recall) >= 0).all()


def test_points_of_the_course_instances():
    fpr, tpr, thresholds = Ranking(FAWCETT["y_true"], FAWCETT["y_score"]).roc_curve(drop_intermediate=False)
    assert len(thresholds) == 21
    np.testing.assert_array_equal(thresholds, [math.inf, *FAWCETT["y_score"]])
    np.testing.assert_array_equal(tpr, np.cumsum([0, *FAWCETT["y_true"]]) / 10)
    np.testing.assert_array_equal(fpr, (np.arange(21) - np.cumsum([0, *FAWCETT["y_true"]])) / 10)


def test_steps_up_and_right_are_kept_and_stretches_are_not():
    ranking = Ranking([0, 0, 0, 1, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9])
    fpr, tpr, thresholds = ranking.roc_curve()
    assert thresholds.tolist() == [math.inf, 7, 6, 4, 1]
    assert fpr.tolist() == [0, 0, 0.25, 0.25, 1]
    assert tpr.tolist() == [0, 0.6, 0.6, 1, 1]


# What is left out -------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_weights)
def test_points_left_out_lie_inside_a_straight_stretch(case):
    ranking = ranking_of(case)
    full, short = ranking.roc_curve(drop_intermediate=False), ranking.roc_curve()
    assert short.area == pytest.approx(full.area, rel=1e-14)
    kept = np.isin(full.thresholds, short.thresholds)
    for array, points in zip(full, short, strict=True):
        np.testing.assert_array_equal(array[kept], points)
    after = np.searchsorted(np.flatnonzero(kept), np.arange(len(full)))  # for each point, the kept point at or after it
    for row in np.flatnonzero(~kept):
        (x0, y0), (x1, y1) = ((short.fpr[k], short.tpr[k]) for k in (after[row] - 1, after[row]))
        x, y = full.fpr[row], full.tpr[row]
        assert (x0 == x == x1 and y0 <= y <= y1) or (y0 == y == y1 and x0 <= x <= x1)


@BOUNDED
@given(any_weights)
def test_no_kept_point_lies_inside_a_straight_stretch(case):
    fpr, tpr, _ = ranking_of(case).roc_curve()
    for rates in (fpr, tpr):
        assert not ((rates[:-2] == rates[1:-1]) & (rates[1:-1] == rates[2:])).any()


def test_long_curves_leave_out_the_same_points_across_blocks():
    y = np.repeat([1, 0, 1, 0], [70_000, 3, 60_000, 70_000])
    fpr, tpr, thresholds = Ranking(y, np.arange(y.size)[::-1]).roc_curve()
    assert thresholds.tolist() == [math.inf, y.size - 70_000, y.size - 70_003, 70_000, 0]
    np.testing.assert_allclose(tpr, [0, 7 / 13, 7 / 13, 1, 1])
    np.testing.assert_allclose(fpr, [0, 0, 3 / 70_003, 3 / 70_003, 1])


@BOUNDED
@given(any_weights)
def test_roc_area_is_the_auc(case):
    ranking = ranking_of(case)
    assert ranking.roc_curve().area == pytest.approx(ranking.roc_auc(), rel=1e-14, abs=1e-15)


# As results -------------------------------------------------------------------------------------------------------


def test_curves_unpack_in_the_order_of_scikit_learn():
    curve = Ranking(Y, S).roc_curve()
    fpr, tpr, thresholds = curve
    assert fpr is curve.fpr
    assert tpr is curve.tpr
    assert thresholds is curve.thresholds
    curve = Ranking(Y, S).precision_recall_curve()
    precision, recall, thresholds = curve
    assert precision is curve.precision
    assert recall is curve.recall
    assert thresholds is curve.thresholds


def test_arrays_are_read_only_and_of_one_length(curve):
    for array in curve:
        assert array.shape == (len(curve),)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_fields_cannot_be_replaced(curve):
    with pytest.raises(AttributeError):
        curve.counts = Ranking(Y, S).counts


def test_to_dict_gives_plain_lists():
    counts = {
        "thresholds": ["Infinity", 0.8, 0.4, 0.3, 0.1], "tps": [0, 1, 1, 2, 2], "fps": [0, 0, 1, 1, 2],
        "n_pos": 2, "n_neg": 2,
    }  # fmt: skip
    assert Ranking(Y, S).roc_curve().to_dict() == {
        "counts": counts,
        "drop_intermediate": True,
        "defined": True,
        "area": 0.75,
        "fpr": [0.0, 0.0, 0.5, 0.5, 1.0],
        "tpr": [0.0, 0.5, 0.5, 1.0, 1.0],
        "fnr": [1.0, 0.5, 0.5, 0.0, 0.0],
        "thresholds": counts["thresholds"],
    }
    assert Ranking(Y, S).precision_recall_curve().to_dict() == {
        "counts": counts,
        "defined": True,
        "area": Ranking(Y, S).pr_auc(),
        "precision": [1.0, 1.0, 0.5, 2 / 3, 0.5],
        "recall": [0.0, 0.5, 0.5, 1.0, 1.0],
        "thresholds": counts["thresholds"],
    }


def test_repr_is_short():
    assert repr(Ranking(Y, S).roc_curve()) == "RocCurve(5 points, area=0.75)"
    assert repr(Ranking(Y, S).precision_recall_curve()) == "PrecisionRecallCurve(5 points, area=0.797267)"


def test_curves_can_be_made_from_counts():
    counts = Ranking(Y, S).counts
    assert len(RocCurve(counts)) == len(PrecisionRecallCurve(counts)) == 5


# One class --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "missing"), [(1, "negatives"), (0, "positives")])
def test_rates_of_a_missing_class_are_nan_with_a_warning(label, missing):
    ranking = Ranking([label] * 3, [0.3, 0.2, 0.1])
    with pytest.warns(UndefinedMetricWarning, match=f"roc_curve is undefined .*no {missing}"):
        curve = ranking.roc_curve(drop_intermediate=False)
    present, absent = (curve.tpr, curve.fpr) if label else (curve.fpr, curve.tpr)
    assert np.isnan(absent).all()
    np.testing.assert_array_equal(present, [0, 1 / 3, 2 / 3, 1])
    assert math.isnan(curve.area)


def test_precision_recall_of_one_class():
    precision, recall, _ = Ranking([1, 1], [0.2, 0.1]).precision_recall_curve()
    assert precision.tolist() == [1, 1, 1]
    assert recall.tolist() == [0, 0.5, 1]
    with pytest.warns(UndefinedMetricWarning, match="precision_recall_curve is undefined .*no positives"):
        precision, recall, _ = Ranking([0, 0], [0.2, 0.1]).precision_recall_curve()
    assert precision.tolist() == [1, 0, 0]
    assert np.isnan(recall).all()


@pytest.mark.parametrize("value", [None, [1, 2], Ranking(Y, S), Ranking(Y, S).roc_curve()])
def test_a_curve_is_of_counts(value):
    with pytest.raises(ValueError, match=f"counts must be ThresholdCounts, got {type(value).__name__}"):
        RocCurve(value)
