"""Folds: pooled counts, rates averaged at thresholds, and TPR averaged at FPR."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import Ranking, RankingFolds, num_threads
from fastevals.datasets import load_digits_eight
from fastevals.measure.curves.registry import CURVES
from tests.reference import curves as reference_curves
from tests.strategies import BOUNDED, FEWER, Case, cases, float_weighted, unweighted

Y, S, FOLDS = [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.6, 0.4, 0.8, 0.3], [1, 1, 1, 2, 2, 2]
AVERAGES = {  # from the method of each averaged curve
    entry.method: get_args(get_type_hints(getattr(RankingFolds, entry.method))["average"])
    for entry in CURVES.values()
    if entry.averaged
}
every_average = pytest.mark.parametrize(
    ("method", "average"), [(method, average) for method, names in AVERAGES.items() for average in names]
)
exact_folds = st.one_of(
    st.lists(unweighted, min_size=1, max_size=4), st.lists(cases(weights=(0.0, 1.0, 2.0, 0.5)), min_size=1, max_size=4)
)
any_folds = st.one_of(exact_folds, st.lists(float_weighted, min_size=1, max_size=4))


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


def folds_of(cases: list[Case]) -> RankingFolds:
    return RankingFolds([ranking_of(case) for case in cases])


def all_rows(cases: list[Case]) -> Ranking:
    y, s = (np.concatenate([case[k] for case in cases]) for k in (0, 1))
    weights = None if cases[0].weights is None else np.concatenate([case.weights for case in cases])
    return Ranking(y, s, sample_weight=weights)


@pytest.fixture
def folds() -> RankingFolds:
    return RankingFolds.from_scores(Y, S, FOLDS)


# Micro ------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(exact_folds)
def test_pooled_counts_are_those_of_all_rows(cases):
    pooled, whole = folds_of(cases).pool(), all_rows(cases)
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(pooled.counts, name), getattr(whole.counts, name))
    assert (pooled.n_positives, pooled.n_negatives) == (whole.n_positives, whole.n_negatives)
    assert pooled.n_samples == whole.n_samples
    assert pooled.counts.tps.dtype == whole.counts.tps.dtype
    assert pooled.roc_auc() == whole.roc_auc()
    assert pooled.best_threshold("f1") == whole.best_threshold("f1")
    np.testing.assert_array_equal(pooled.confusion_at([0.0, 0.5]).counts, whole.confusion_at([0.0, 0.5]).counts)


@FEWER
@given(any_folds)
def test_micro_curves_are_those_of_all_rows(cases):
    folds, whole = folds_of(cases), all_rows(cases)
    for method in AVERAGES:
        options = {"drop_intermediate": False} if method in ("roc_curve", "det_curve") else {}
        expected = getattr(whole, method)(**options)
        for found in (getattr(folds, method)(), getattr(folds, method)(average="micro")):
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)
            assert found.area == pytest.approx(expected.area, rel=1e-13, abs=1e-15)


def test_a_pool_has_the_methods_of_a_ranking(folds):
    pool, whole = folds.pool(), Ranking(Y, S)
    for name in ("roc_auc", "rank_loss", "average_precision", "pr_auc", "ks_statistic", "break_even_point"):
        assert getattr(pool, name)() == getattr(whole, name)()
    assert pool.expected_cost(0.5, cost_fn=3.0) == whole.expected_cost(0.5, cost_fn=3.0)
    assert pool.threshold_for(recall=0.6) == whole.threshold_for(recall=0.6)
    assert pool.gain_curve().area == whole.gain_curve().area
    assert repr(pool) == "Ranking(n_positives=3, n_negatives=3)"


# Macro ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", AVERAGES)
@FEWER
@given(any_folds)
def test_macro_rates_are_the_means_over_the_folds(method, cases):
    curve = getattr(folds_of(cases), method)(average="macro")
    thresholds = reference_curves.fold_thresholds(cases)
    assert curve.thresholds.tolist() == thresholds
    for name in (name for name in curve.ARRAYS if name not in ("thresholds", "lift")):
        expected = [reference_curves.fold_mean(cases, t, reference_curves.RATES[name]) for t in thresholds]
        if name == "precision":
            expected[0] = Fraction(1)
        np.testing.assert_allclose(getattr(curve, name), list(map(float, expected)), rtol=1e-12, atol=1e-14)


@FEWER
@given(any_folds)
def test_a_macro_lift_is_the_mean_gain_over_the_mean_share(cases):
    folds = folds_of(cases)
    lift, gain = folds.lift_curve(average="macro"), folds.gain_curve(average="macro")
    np.testing.assert_allclose(lift.share, gain.share, rtol=1e-12)
    np.testing.assert_allclose(lift.lift[1:], gain.gain[1:] / gain.share[1:], rtol=1e-9)


def test_a_fold_without_predictions_has_no_precision():
    folds = RankingFolds.from_scores([1, 0, 1, 0], [9, 8, 2, 1], [1, 1, 2, 2])
    curve = folds.precision_recall_curve(average="macro")
    assert curve.thresholds.tolist() == [math.inf, 9, 8, 2, 1]
    np.testing.assert_allclose(curve.precision, [1, 1, 1 / 2, (1 / 2 + 1) / 2, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(curve.recall, [0, 0.5, 0.5, 1, 1], rtol=1e-15)


def test_precision_before_any_positive_is_found():
    folds = RankingFolds.from_scores([0, 1, 1, 0], [9, 8, 2, 1], [1, 1, 2, 2])
    curve = folds.precision_recall_curve(average="macro")
    np.testing.assert_allclose(curve.precision, [1, 0, 1 / 2, (1 / 2 + 1) / 2, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(curve.recall, [0, 0, 0.5, 1, 1], rtol=1e-15)


@pytest.mark.parametrize("method", AVERAGES)
@FEWER
@given(any_folds)
def test_macro_curves_have_areas_and_hulls(method, cases):
    curve = getattr(folds_of(cases), method)(average="macro")
    hull, most = curve.hull(), math.inf if method == "lift_curve" else 1 + 1e-14
    assert 0 <= curve.area <= most
    assert 0 <= hull.area <= most
    assert not curve.dominates(hull)


# Three folds where a threshold raises mean precision and mean recall. No rising counts have such rates.
RISING = [0, 1, 1, 0, 0, 1, 1, 1, 0], [4, 2, 1, 5, 1, 1, 4, 3, 0], [0, 1, 2, 1, 2, 0, 0, 2, 2]


def test_a_macro_precision_that_rises_with_recall():
    curve = RankingFolds.from_scores(*RISING).precision_recall_curve(average="macro")
    np.testing.assert_allclose(curve.recall[2:5], [1 / 6, 1 / 3, 2 / 3], rtol=1e-15)
    np.testing.assert_allclose(curve.precision[2:5], [1 / 4, 1 / 2, 2 / 3], rtol=1e-15)
    assert 0 < curve.area < 1
    x = np.linspace(0, 1, 21)
    assert (curve.hull().at(recall=x) >= curve.at(recall=x) - 1e-12).all()


def test_every_macro_precision_recall_curve_has_an_area_a_hull_and_a_repr():
    rng = np.random.default_rng(0)
    made = fell = 0
    for _ in range(400):
        n = int(rng.integers(6, 14))
        y, s, part = rng.integers(0, 2, n), rng.integers(0, 6, n), rng.integers(0, 2, n)
        if all(np.unique(y[part == k]).size == 2 for k in (0, 1)):
            curve = RankingFolds.from_scores(y, s, part).precision_recall_curve(average="macro")
            assert 0 <= curve.area <= 1
            assert repr(curve).startswith("PrecisionRecallCurve(")
            fps, tps = curve.counts.fps, curve.counts.tps
            hull = curve.hull().counts
            assert (np.diff(hull.fps) >= 0).all()
            slopes = np.diff(hull.tps) / np.maximum(np.diff(hull.fps), 1e-300)
            assert (np.diff(slopes) < 0).all()
            assert (np.interp(fps, hull.fps, hull.tps) >= tps - 1e-12).all()
            made += 1
            fell += (np.diff(fps) < 0).any()
    assert made > 100
    assert fell > 10


@BOUNDED
@given(st.lists(unweighted, min_size=1, max_size=3))
def test_macro_area_of_the_roc_curve_is_that_of_the_mean_rates(cases):
    points = [
        tuple(reference_curves.fold_mean(cases, t, reference_curves.RATES[name]) for name in ("fpr", "tpr"))
        for t in reference_curves.fold_thresholds(cases)
    ]
    expected = float(sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points)))
    folds = folds_of(cases)
    assert folds.roc_curve(average="macro").area == pytest.approx(expected, rel=1e-13, abs=1e-15)
    assert folds.det_curve(average="macro").area == pytest.approx(1 - expected, rel=1e-13, abs=1e-15)


@FEWER
@given(st.lists(unweighted, min_size=1, max_size=3))
def test_one_threshold_serves_all_folds_in_macro_cost(cases):
    folds = folds_of(cases)
    curve = folds.cost_curve(average="macro")
    for prior in (0.2, 0.5, 0.9):
        value, threshold = curve.at(prior=prior)
        costs = {t: np.mean([fold.expected_cost(t, prior=prior) for fold in folds]) for t in curve.thresholds.tolist()}
        assert value == pytest.approx(min(costs.values()), rel=1e-12, abs=1e-15)
        assert costs[threshold] == pytest.approx(value, rel=1e-12, abs=1e-15)
    assert curve.area >= np.mean([fold.cost_curve().area for fold in folds]) - 1e-14


# Vertical ---------------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_folds)
def test_the_vertical_area_is_the_mean_of_the_areas(cases):
    folds = folds_of(cases)
    curve = folds.roc_curve(average="vertical")
    assert curve.area == pytest.approx(math.fsum(fold.roc_auc() for fold in folds) / len(folds), rel=1e-13, abs=1e-14)
    assert folds.det_curve(average="vertical").area == pytest.approx(1 - curve.area, rel=1e-13, abs=1e-14)


@FEWER
@given(exact_folds)
def test_vertical_values_are_the_means_of_the_curves(cases):
    folds = folds_of(cases)
    curve = folds.roc_curve(average="vertical")
    curves = [fold.roc_curve() for fold in folds]
    places = np.unique(np.concatenate([np.linspace(0, 1, 33), *(one.fpr for one in curves)]))
    expected = np.mean([one.at(fpr=places) for one in curves], axis=0)
    np.testing.assert_allclose(curve.at(fpr=places), expected, rtol=1e-13, atol=1e-14)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1]) == (0, 0, 1)
    assert curve.tpr[-1] == pytest.approx(1, rel=1e-15)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()


def test_the_vertical_average_of_jumps_keeps_them():
    folds = RankingFolds([Ranking([1, 0, 1], [3, 2, 1]), Ranking([0, 1], [2, 1])])
    curve = folds.roc_curve(average="vertical")
    # One fold jumps by 1/2 at 0 and at 1, the other by 1 at 1.
    points = list(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))
    assert points == [(0, 0), (0, 0.25), (1, 0.25), (1, 1)]
    assert curve.area == 0.25


def test_a_vertical_average_has_no_thresholds(folds):
    for method in ("roc_curve", "det_curve"):
        curve = getattr(folds, method)(average="vertical")
        assert curve.thresholds[0] == math.inf
        assert np.isnan(curve.thresholds[1:]).all()
        for one in (curve, curve.hull()):
            with pytest.raises(ValueError, match="a vertical average can't be read at a threshold"):
                one.at(threshold=0.5)
    hull = folds.roc_curve(average="vertical").hull()
    assert hull.area >= folds.roc_curve(average="vertical").area
    assert not folds.roc_curve(average="vertical").dominates(hull)


# One fold, many folds ---------------------------------------------------------------------------------------------


@every_average
@FEWER
@given(st.one_of(unweighted, cases(weights=(0.0, 1.0, 2.0, 0.5))))
def test_of_one_fold_every_average_is_the_fold(method, average, case):
    ranking = ranking_of(case)
    found, expected = getattr(RankingFolds([ranking]), method)(average=average), getattr(ranking, method)()
    assert found.area == pytest.approx(expected.area, rel=1e-13, abs=1e-14)
    first, second = found.ARRAYS[:2]
    if average != "vertical":
        kept = np.isin(found.thresholds, expected.thresholds)
        np.testing.assert_array_equal(found.thresholds[kept], expected.thresholds)
        for name in (first, second):
            np.testing.assert_allclose(getattr(found, name)[kept], getattr(expected, name), rtol=1e-13, atol=1e-14)
    else:
        x = np.linspace(0, 1, 17)
        np.testing.assert_allclose(found.at(fpr=x), expected.at(fpr=x), rtol=1e-13, atol=1e-14)


@every_average
def test_equal_folds_are_one(method, average):
    ranking = Ranking(Y, S)
    found = getattr(RankingFolds([ranking] * 3), method)(average=average)
    once = getattr(RankingFolds([ranking]), method)(average=average)
    assert found.area == pytest.approx(once.area, rel=1e-14)
    for ours, theirs in zip(found, once, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


@pytest.mark.cases(10)
@every_average
@FEWER
@given(st.lists(unweighted, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_the_folds_does_not_matter(method, average, cases, random):
    shuffled = list(cases)
    random.shuffle(shuffled)
    found, expected = (getattr(folds_of(one), method)(average=average) for one in (shuffled, cases))
    if method == "precision_recall_curve" and average == "macro":
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)
        return
    assert found.area == pytest.approx(expected.area, rel=1e-13, abs=1e-14)


@every_average
def test_the_same_bits_at_any_number_of_threads(method, average):
    rng = np.random.default_rng(1)
    y, part = rng.integers(0, 2, 60_000), rng.integers(0, 3, 60_000)
    s = np.round(rng.normal(size=y.size) + y, 3)
    found = []
    for threads in (1, 2):
        with num_threads(threads):
            curve = getattr(RankingFolds.from_scores(y, s, part), method)(average=average)
            found.append([*(array.tobytes() for array in curve), curve.area])
    assert found[0] == found[1]


def test_a_thousand_folds():
    rng = np.random.default_rng(2)
    y, part = np.tile([0, 1], 4000), np.repeat(np.arange(1000), 8)
    scores = rng.integers(0, 50, y.size) + y
    folds = RankingFolds.from_scores(y, scores, part)
    assert len(folds) == 1000
    mean = math.fsum(fold.roc_auc() for fold in folds) / 1000
    assert folds.roc_curve(average="vertical").area == pytest.approx(mean, rel=1e-13)
    assert folds.roc_curve(average="micro").area == Ranking(y, scores).roc_auc()


# Scores and names -------------------------------------------------------------------------------------------------


@BOUNDED
@given(float_weighted, st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(case, random):
    y, s = np.tile([0, 1], 6), np.resize(case.y_score, 12)
    w = np.resize(case.weights, 12) + 0.25
    part = np.repeat([3, 1, 2], 4)
    order = list(range(12))
    random.shuffle(order)
    found = RankingFolds.from_scores(y[order], s[order], part[order], sample_weight=w[order])
    assert found.names == (1, 2, 3)
    for name, fold in zip(found.names, found, strict=True):
        rows = part == name
        expected = Ranking(y[rows], s[rows], sample_weight=w[rows])
        np.testing.assert_array_equal(fold.counts.thresholds, expected.counts.thresholds)
        np.testing.assert_allclose(fold.counts.tps, expected.counts.tps, rtol=1e-14)


def test_names_and_attributes(folds):
    assert folds.names == (1, 2)
    assert len(folds) == len(folds.rankings) == 2
    assert [fold.roc_auc() for fold in folds] == [1.0, 1.0]
    assert repr(folds) == "RankingFolds(2 folds, n_positives=3, n_negatives=3)"
    assert str(folds).splitlines()[1:] == [
        f"  {name}: {ranking!r}" for name, ranking in zip(folds.names, folds, strict=True)
    ]
    assert str(RankingFolds([*folds] * 3)).endswith("\n  ...")
    named = RankingFolds({"a": folds.rankings[0], "b": folds.rankings[1]})
    assert named.names == ("a", "b")
    assert RankingFolds(folds.rankings).names == (0, 1)
    assert RankingFolds.from_scores(Y, S, ["x", "x", "x", "w", "w", "w"]).names == ("w", "x")


def test_labels_that_are_strings():
    labels = np.array(["no", "yes"])[np.array(Y)]
    folds = RankingFolds.from_scores(labels, S, FOLDS, pos_label="yes")
    assert folds.pool().roc_auc() == Ranking(Y, S).roc_auc()
    with pytest.raises(ValueError, match="pos_label"):
        RankingFolds.from_scores(labels, S, FOLDS)


def test_integer_scores_past_doubles_pool_exactly():
    scores = np.array([2**53, 2**53 + 1, 2**53 + 2, 7])
    folds = RankingFolds.from_scores([0, 1, 1, 0], scores, [1, 1, 2, 2])
    whole = Ranking([0, 1, 1, 0], scores)
    assert folds.pool().counts.thresholds.tolist() == whole.counts.thresholds.tolist()
    assert folds.roc_curve().at(threshold=2**53 + 1) == (0.0, 1.0)
    assert folds.roc_curve(average="macro").at(threshold=2**53 + 1) == (0.0, 1.0)
    assert folds.cost_curve(average="macro").at(prior=0.5).threshold == 2**53 + 1


def test_folds_of_scores_of_unlike_types_pool_exactly():
    y = [0, 1, 0, 1]
    scores = (
        np.array([2**53, 2**53 + 1, 3, 5]),
        np.array([2.0**53, 0.5, 3.0, 2.0**53 + 2]),
        np.array([2**53 + 1, 2**63, 7, 5], dtype=np.uint64),
        np.array([0.5, 3.0, 0.1, 5.0], dtype=np.float32),
    )
    pool = RankingFolds([Ranking(y, s) for s in scores]).pool()
    values = [value for s in scores for value in map(Fraction, s.tolist())]
    labels = y * len(scores)
    exact = sorted(set(values), reverse=True)
    assert [Fraction(*t.as_integer_ratio()) for t in pool.counts.thresholds[1:]] == exact
    for row, threshold in enumerate(exact, start=1):
        at = [label for label, value in zip(labels, values, strict=True) if value >= threshold]
        assert (pool.counts.tps[row], pool.counts.fps[row]) == (sum(at), len(at) - sum(at))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_scores_of_other_types(dtype):
    s = np.array([0, 1, 1, 0, 1, 0], dtype=dtype)
    found, expected = (RankingFolds.from_scores(Y, one, FOLDS) for one in (s, s.astype(float)))
    for method in AVERAGES:
        assert getattr(found, method)(average="macro").to_dict() == getattr(expected, method)(average="macro").to_dict()


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_folds_of_other_units_of_weight(unit):
    w = np.array([1.0, 2, 3, 4, 5, 6])
    found, expected = (RankingFolds.from_scores(Y, S, FOLDS, sample_weight=w * u) for u in (unit, 1.0))
    for method, averages in AVERAGES.items():
        for average in averages:
            ours, theirs = (getattr(one, method)(average=average) for one in (found, expected))
            assert ours.area == pytest.approx(theirs.area, rel=1e-12)


def test_weights_that_overflow_when_pooled_are_an_error():
    fold = Ranking([0, 1], [1, 2], sample_weight=[8e307, 8e307])
    with pytest.raises(ValueError, match="overflow"):
        RankingFolds([fold, fold, fold]).pool()


def test_later_changes_to_the_arrays_change_nothing():
    y, s, part, w = np.array(Y), np.array(S), np.array(FOLDS), np.ones(6)
    folds = RankingFolds.from_scores(y, s, part, sample_weight=w)
    before = folds.roc_curve().to_dict()
    y[:], s[:], part[:], w[:] = 0, 0, 0, 0
    assert folds.roc_curve().to_dict() == before


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "missing"), [(0, "positives"), (1, "negatives")])
def test_a_fold_of_one_class_is_named(label, missing):
    y = [0, 1, label, label]
    with pytest.raises(ValueError, match=f"each fold must have both classes, but fold 'b' has no {missing}"):
        RankingFolds.from_scores(y, [1, 2, 3, 4], ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match=f"but fold 1 has no {missing}"):
        RankingFolds([Ranking([0, 1], [1, 2]), Ranking([label, label], [3, 4])])
    with pytest.raises(ValueError, match=f"but fold 'late' has no {missing}"):
        RankingFolds({"late": Ranking([label, label], [3, 4])})


def test_a_class_of_weight_zero_is_missing():
    with pytest.raises(ValueError, match="but fold 2 has no positives"):
        RankingFolds.from_scores([0, 1, 0, 1], [1, 2, 3, 4], [1, 1, 2, 2], sample_weight=[1, 1, 1, 0])
    with pytest.raises(ValueError, match="but fold 2 has none"):
        RankingFolds.from_scores([0, 1, 0, 1], [1, 2, 3, 4], [1, 1, 2, 2], sample_weight=[1, 1, 0, 0])


@pytest.mark.parametrize("empty", [[], {}, ()])
def test_no_folds(empty):
    with pytest.raises(ValueError, match="rankings is empty: it must have at least one fold"):
        RankingFolds(empty)


@pytest.mark.parametrize("other", [None, 0.5, ([0, 1], [1, 2]), RankingFolds([Ranking([0, 1], [1, 2])])])
def test_folds_that_are_no_rankings(other):
    with pytest.raises(ValueError, match=f"rankings must hold Rankings, but fold 1 is a {type(other).__name__}"):
        RankingFolds([Ranking([0, 1], [1, 2]), other])


@pytest.mark.parametrize("rankings", [None, 5, Ranking([0, 1], [1, 2])])
def test_what_is_no_sequence_of_folds(rankings):
    with pytest.raises(ValueError, match="rankings must"):
        RankingFolds(rankings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_true": [0, 1, 0, 1, 1]}, "y_score has 6 rows, but y_true has 5"),
        ({"folds": [1, 1, 1, 2, 2]}, "folds has 5 rows, but y_true has 6"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 rows, but y_true has 6"),
        ({"sample_weight": [1.0, 1, 1, 1, 1, -1]}, "sample_weight must not be negative"),
        ({"sample_weight": [0.0] * 6}, "sample_weight must have a value above zero"),
        ({"y_score": [1, 2, 3, 4, math.nan, 6]}, "y_score must be finite, .* the first at row 4"),
        ({"y_score": ["a"] * 6}, "y_score must hold numbers"),
        ({"folds": [1, 1, 1, math.nan, math.nan, math.nan]}, "folds .*NaN"),
        ({"folds": [1, 1, 1, None, None, None]}, "folds has 3 missing values, the first at row 3"),
        ({"folds": [[1, 1, 1, 2, 2, 2]]}, "folds must be 1-D"),
        ({"y_true": [0, 1, 0, 1, 2, 0]}, "y_true .*2"),
        ({"y_true": [0, 1, 0, 1, 1, -1]}, "y_true .*-1"),
        ({"y_true": [], "y_score": [], "folds": []}, "y_true is empty"),
        ({"y_true": [0, 1, 0, 1, 1, math.nan]}, "y_true .*NaN"),
    ],
)
def test_bad_scores(changes, message):
    arguments = {"y_true": Y, "y_score": S, "folds": FOLDS, **changes}
    with pytest.raises(ValueError, match=message):
        RankingFolds.from_scores(**arguments)


def test_a_third_label_in_another_fold():
    with pytest.raises(ValueError, match=r"y_true .*two"):
        RankingFolds.from_scores(["a", "b", "c", "b"], [1, 2, 3, 4], [1, 1, 2, 2], pos_label="b")


def test_too_many_folds():
    n = 10_001
    with pytest.raises(ValueError, match="folds must have at most 10000 distinct values, got 10001"):
        RankingFolds.from_scores(np.arange(n) % 2, np.zeros(n), np.arange(n))


@pytest.mark.parametrize("method", AVERAGES)
@pytest.mark.parametrize("average", ["weighted", None, 1, "Micro"])
def test_an_average_that_is_none(folds, method, average):
    with pytest.raises(ValueError, match=f"average must be one of 'micro', 'macro'.*; got {average!r}"):
        getattr(folds, method)(average=average)


@pytest.mark.parametrize("method", ["cost_curve", "precision_recall_curve"])
def test_there_is_no_vertical_average_of_costs_or_precision(folds, method):
    with pytest.raises(ValueError, match="average must be one of 'micro', 'macro'; got 'vertical'"):
        getattr(folds, method)(average="vertical")


# The course's homework --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["logistic", "naive_bayes", "random_forest"])
def test_macro_against_micro_curves_of_the_digits(model):
    digits = load_digits_eight()
    y, s, part = digits["label"], digits[model], digits["fold"]
    folds, whole = RankingFolds.from_scores(y, s, part), Ranking(y, s)
    for method in AVERAGES:
        assert getattr(folds, method)().area == pytest.approx(getattr(whole, method)().area, rel=1e-13)
    for threshold in np.quantile(s, [0.05, 0.5, 0.9, 0.95, 0.99]):
        rates, precisions = [], []
        for k in range(5):
            predicted, positive = s[part == k] >= threshold, y[part == k] == 1
            rates.append((predicted[~positive].mean(), predicted[positive].mean()))
            precisions.append(positive[predicted].mean() if predicted.any() else np.nan)
        fpr, tpr = np.mean(rates, axis=0)
        at = {
            method: getattr(folds, method)(average="macro").at(threshold=threshold)
            for method in AVERAGES
            if method != "cost_curve"
        }
        assert at["roc_curve"] == pytest.approx((fpr, tpr), rel=1e-12)
        assert at["det_curve"] == pytest.approx((fpr, 1 - tpr), rel=1e-12, abs=1e-15)
        assert at["precision_recall_curve"] == pytest.approx((np.nanmean(precisions), tpr), rel=1e-12)
        cost = folds.cost_curve(average="macro").at(prior=0.1, cost_fn=5, threshold=threshold).value
        assert cost == pytest.approx((0.9 * fpr + 0.5 * (1 - tpr)) / 1.4, rel=1e-12)


def test_macro_precision_recall_area_by_quadrature():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(8, 20))
        y, s, part = np.resize([0, 1], n), rng.integers(0, 6, n), np.repeat([0, 1], [n // 2, n - n // 2])
        curve = RankingFolds.from_scores(y, s, part).precision_recall_curve(average="macro")
        x = (np.arange(20_000) + 0.5) / 20_000
        assert curve.area == pytest.approx(curve.at(recall=x).mean(), abs=2e-4)
