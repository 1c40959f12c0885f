"""Rankings: published figures, slow twins, scikit-learn, the chapter's identities, hard and bad inputs."""

from __future__ import annotations

import copy
import json
import math
import pickle
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from fastevals import OperatingPoint, Ranking, UndefinedMetricWarning, metric
from fastevals.datasets import load_digits_eight
from fastevals.measure import ranking_metrics
from fastevals.measure.metric_specs import ranking_metric
from fastevals.measure.registry import SCORE_METRICS
from tests.reference import ranking as reference
from tests.strategies import (
    BOUNDED,
    DENORMAL,
    EXAMPLES,
    FEWER,
    LARGEST,
    Case,
    any_classes,
    any_weights,
    exact_cases,
    float_weighted,
    integer_weighted,
    unweighted,
)

CASES = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())
FAWCETT = CASES["fawcett20"]
EXPECTED = FAWCETT["expected"]
Y = np.array([0, 1, 1, 0, 1, 0, 1, 1])
S = np.array([0.5, 0.25, 0.75, 0.5, 0.5, 0.125, 0.875, 0.125])
W = np.array([1.0, 0.5, 2.0, 0.25, 0.0, 1.0, 1.5, 3.0])
CELL_NAMES = [
    name for name, metric in SCORE_METRICS.items() if metric.of == "cells" and metric.greater_is_better is not None
]


def ranking_of(case: Case) -> Ranking:
    return Ranking(case.y_true, case.y_score, **case.options)


def random_case(rng: np.random.Generator, *, weighted: bool = False) -> Case:
    """Draw a small input with ties and both classes."""
    n = int(rng.integers(2, 40))
    labels = rng.integers(0, 2, n)
    labels[rng.permutation(n)[:2]] = 0, 1
    scores = rng.integers(0, rng.integers(1, 30), n) / 7
    return Case(labels, scores, rng.uniform(0.01, 3, n) if weighted else None)


def assert_same_counts(one: Ranking, other: Ranking) -> None:
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(one.counts, name), getattr(other.counts, name), err_msg=name)


# Published figures ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fawcett() -> Ranking:
    return Ranking(FAWCETT["y_true"], FAWCETT["y_score"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("roc_auc", lambda r: r.roc_auc()),
        ("rank_loss", lambda r: r.rank_loss()),
        ("average_precision", lambda r: r.average_precision()),
        ("pr_auc_linear", lambda r: r.pr_auc(interpolation="linear")),
        ("pr_auc_davis_goadrich", lambda r: r.pr_auc()),
        ("break_even_point", lambda r: r.break_even_point().value),
        ("equal_error_rate", lambda r: r.equal_error_rate().value),
        ("equal_error_rate_on_hull", lambda r: r.equal_error_rate(on_hull=True).value),
        ("accuracy_at_0_5", lambda r: r.confusion_at(0.5).accuracy()),
        ("roc_hull_area", lambda r: ranking_metrics.roc_auc(ranking_metrics.hull(r.counts))),
    ],
)
def test_figures_of_the_course_instances(fawcett, name, value):
    assert value(fawcett) == pytest.approx(EXPECTED[name], rel=1e-14)


def test_auc_of_the_course_instances_is_rounded_right(fawcett):
    assert fawcett.roc_auc() == 0.68  # scikit-learn: 0.6799999999999999
    assert fawcett.rank_loss() == 0.32


def test_best_accuracy_of_the_course_instances(fawcett):
    threshold, value = EXPECTED["best_accuracy"]
    assert tuple(fawcett.best_threshold("accuracy")) == (value, threshold)


def test_hull_of_the_course_instances(fawcett):
    hull = ranking_metrics.hull(fawcett.counts)
    points = np.column_stack((hull.fps / hull.n_neg, hull.tps / hull.n_pos))
    np.testing.assert_allclose(points, EXPECTED["roc_hull"], rtol=1e-15)


# Slow twins -------------------------------------------------------------------------------------------------------

AREAS = {
    "rank_loss": (lambda r: r.rank_loss(), reference.rank_loss),
    "average_precision": (lambda r: r.average_precision(), reference.average_precision),
    "pr_auc_linear": (lambda r: r.pr_auc(interpolation="linear"), reference.linear_pr_area),
    "pr_auc": (lambda r: r.pr_auc(), reference.davis_goadrich_area),
    "roc_auc": (lambda r: r.roc_auc(), reference.roc_auc),
}
POINTS = {
    "ks_statistic": (lambda r: r.ks_statistic(), reference.ks_statistic),
    "break_even_point": (lambda r: r.break_even_point(), reference.break_even_point),
    "equal_error_rate": (lambda r: r.equal_error_rate(), reference.equal_error_rate),
    "equal_error_rate_on_hull": (
        lambda r: r.equal_error_rate(on_hull=True),
        lambda *case: reference.equal_error_rate(*case, on_hull=True),
    ),
}


@BOUNDED
@given(any_weights)
def test_counts_are_recounts_at_each_threshold(case):
    counts = ranking_of(case).counts
    expected = reference.threshold_counts(*case)
    assert counts.thresholds.tolist() == [step.threshold for step in expected]
    np.testing.assert_allclose(counts.tps, [float(step.tp) for step in expected], rtol=1e-15)
    np.testing.assert_allclose(counts.fps, [float(step.fp) for step in expected], rtol=1e-15)


@pytest.mark.parametrize("name", AREAS)
@FEWER
@given(any_weights)
def test_areas_are_those_of_the_definition(name, case):
    ours, twin = AREAS[name]
    # An absolute tolerance: near an area of 1, a small loss consists of rounding errors in sums of weights.
    assert ours(ranking_of(case)) == pytest.approx(float(twin(*case)), rel=1e-13, abs=1e-15)


@BOUNDED
@given(exact_cases)
def test_auc_and_rank_loss_are_the_floats_nearest_to_the_fractions(case):
    ranking = ranking_of(case)
    assert ranking.roc_auc() == float(reference.roc_auc(*case))
    assert ranking.rank_loss() == float(reference.rank_loss(*case))


@pytest.mark.parametrize("name", POINTS)
@FEWER
@given(exact_cases)
def test_points_and_their_thresholds_are_those_of_the_definition(name, case):
    ours, twin = POINTS[name]
    ranking, expected = ranking_of(case), twin(*case)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="break_even_point"):
            assert all(map(math.isnan, ours(ranking)))
        return
    assert tuple(ours(ranking)) == (float(expected.value), expected.threshold)


@pytest.mark.parametrize("name", POINTS)
@FEWER
@given(float_weighted)
def test_points_of_float_weights_are_those_of_the_definition(name, case):
    ours, twin = POINTS[name]
    ranking, expected = ranking_of(case), twin(*case)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="break_even_point"):
            assert math.isnan(ours(ranking).value)
        return
    assert ours(ranking).value == pytest.approx(float(expected.value), rel=1e-12)


@BOUNDED
@given(
    any_weights,
    st.sampled_from([0.01, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 2 / 3, 0.9, 0.99]),
    st.booleans(),
)
def test_partial_auc_is_the_integral_of_the_polyline(case, max_fpr, min_tpr, standardize):
    options = {"max_fpr": max_fpr, "min_tpr": min_tpr, "standardize": standardize}
    expected = reference.partial_roc_auc(*case, **options) if max_fpr < 1 or min_tpr > 0 else reference.roc_auc(*case)
    assert ranking_of(case).roc_auc(**options) == pytest.approx(float(expected), rel=1e-11, abs=1e-13)


@BOUNDED
@given(any_weights)
def test_hull_keeps_the_points_above_all_chords(case):
    counts = ranking_of(case).counts
    points = [(Fraction(x), Fraction(y)) for x, y in zip(counts.fps.tolist(), counts.tps.tolist(), strict=True)]
    expected = [points[row] for row in reference.hull_rows(points)]
    hull = ranking_metrics.hull(counts)
    assert list(zip(hull.fps.tolist(), hull.tps.tolist(), strict=True)) == expected


def assert_best_threshold(name: str, case: Case) -> None:
    expected = reference.best_threshold(reference.CELL_METRICS[name], name not in reference.LOWER_IS_BETTER, *case)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="best_threshold is undefined .* NaN at every threshold"):
            assert all(map(math.isnan, ranking_of(case).best_threshold(name)))
        return
    value, threshold = ranking_of(case).best_threshold(name)
    assert value == pytest.approx(float(expected.value), rel=1e-14, abs=1e-15), name
    assert threshold == expected.threshold, name


@BOUNDED
@given(exact_cases)
def test_best_threshold_is_the_highest_of_the_best(case):
    for name in CELL_NAMES:
        assert_best_threshold(name, case)


@pytest.mark.parametrize("name", CELL_NAMES)
def test_rounding_does_not_break_ties_between_thresholds(name):
    rng = np.random.default_rng(30)
    for _ in range(2 * EXAMPLES):
        n = int(rng.integers(4, 25))
        labels = rng.permutation(np.arange(n) % 2)
        assert_best_threshold(name, Case(labels, rng.integers(0, 8, n) / 7))


@BOUNDED
@given(exact_cases, st.booleans())
def test_best_threshold_takes_a_function_and_a_direction(case, maximize):
    def gain(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return 2 * tp - fp - fn + tn / 2

    expected = reference.best_threshold(lambda tp, fp, fn, tn: 2 * tp - fp - fn + tn / 2, maximize, *case)
    assert tuple(ranking_of(case).best_threshold(gain, maximize=maximize)) == (expected.value, expected.threshold)


def test_best_threshold_can_seek_the_worst(fawcett):
    data = FAWCETT["y_true"], FAWCETT["y_score"]
    worst = reference.best_threshold(reference.CELL_METRICS["accuracy"], False, *data)
    assert tuple(fawcett.best_threshold("accuracy", maximize=False)) == (float(worst.value), worst.threshold)
    assert worst.value < fawcett.best_threshold("accuracy").value


@BOUNDED
@given(exact_cases, st.sampled_from([0.25, 1.0, 5.0]), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([None, 0.25]))
def test_best_threshold_by_cost_is_the_cheapest(case, cost_fp, cost_fn, prior):
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prior": prior}
    ranking = ranking_of(case)
    cheapest = min(
        float(reference.expected_cost(case.y_true, case.y_score, t, case.weights, **costs))
        for t in ranking.counts.thresholds.tolist()
    )
    value, threshold = ranking.best_threshold("expected_cost", **costs)
    assert value == pytest.approx(cheapest, rel=1e-14)
    assert value == pytest.approx(ranking.expected_cost(threshold, **costs), rel=1e-14)


@pytest.mark.parametrize("constraint", ["precision", "recall", "fpr", "tpr", "n_predicted"])
@FEWER
@given(exact_cases, st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.6, 2 / 3, 0.9, 1.0]))
def test_threshold_for_is_the_best_within_the_constraint(constraint, case, limit):
    limit = limit * 6 if constraint == "n_predicted" else limit
    ranking, expected = ranking_of(case), reference.threshold_for(constraint, limit, *case)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match=f"threshold_for is undefined .*{constraint}"):
            assert all(map(math.isnan, ranking.threshold_for(**{constraint: limit})))
        return
    if expected.value is None:  # a quota can be filled without positives
        with pytest.warns(UndefinedMetricWarning, match="threshold_for is undefined .*no positives"):
            value, threshold = ranking.threshold_for(**{constraint: limit})
        assert math.isnan(value)
        assert threshold == expected.threshold
        return
    assert tuple(ranking.threshold_for(**{constraint: limit})) == (float(expected.value), expected.threshold)


def test_a_quota_is_filled_whether_or_not_its_last_rows_add_recall():
    ranking = Ranking([1, 1, 0, 1, 0], [99, 98, 97, 96, 95])
    assert tuple(ranking.threshold_for(n_predicted=3)) == (2 / 3, 97)
    assert ranking.confusion_at(97).counts.sum(axis=0).tolist() == [2, 3]
    assert ranking_metric(metric("precision", n_predicted=3)).of_counts(ranking.counts) == 2 / 3
    tied = Ranking([1, 1, 0, 0, 0, 1], [5, 4, 3, 3, 3, 1])
    assert tuple(tied.threshold_for(n_predicted=4)) == (2 / 3, 4)
    assert tied.threshold_for(n_predicted=5).threshold == 3
    assert tuple(tied.threshold_for(n_predicted=0)) == (0, math.inf)
    assert tuple(tied.threshold_for(n_predicted=math.inf)) == (1, 1)
    weighted = Ranking([1, 0, 0], [3, 2, 1], sample_weight=[0.5, 0.25, 1])
    assert tuple(weighted.threshold_for(n_predicted=0.75)) == (1, 2)


def test_a_quota_of_the_digits_is_filled():
    digits = load_digits_eight()
    ranking = Ranking(digits["label"], digits["logistic"])
    predicted = ranking.confusion_at(ranking.threshold_for(n_predicted=300).threshold).counts[:, 1].sum()
    assert np.unique(digits["logistic"]).size == digits["logistic"].size  # no ties
    assert predicted == 300


ASKED = (-math.inf, -1.0, -0.0, 0.05, 0.25, 0.5, 0.9, 1.0, 1e300, math.inf)


@BOUNDED
@given(exact_cases)
def test_confusion_at_counts_again(case):
    matrices = ranking_of(case).confusion_at(ASKED)
    expected = [reference.confusion_at(case.y_true, case.y_score, t, case.weights) for t in ASKED]
    assert matrices.counts.tolist() == expected


def test_confusion_at_keeps_the_shape_of_the_thresholds(fawcett):
    assert fawcett.confusion_at(0.5).counts.shape == (2, 2)
    assert fawcett.confusion_at([[0.5], [0.1], [0.9]]).counts.shape == (3, 1, 2, 2)
    assert fawcett.confusion_at([]).counts.shape == (0, 2, 2)


@BOUNDED
@given(any_weights, st.sampled_from(ASKED), st.sampled_from([0.0, 0.3, 5.0]), st.sampled_from([None, 0.0, 0.2, 1.0]))
def test_expected_cost_is_that_of_the_definition(case, threshold, cost_fn, prior):
    costs = {"cost_fp": 2.0, "cost_fn": cost_fn, "prior": prior}
    expected = reference.expected_cost(case.y_true, case.y_score, threshold, case.weights, **costs)
    # An absolute tolerance: fns are differences, so float weights may leave only a rounding error.
    assert ranking_of(case).expected_cost(threshold, **costs) == pytest.approx(float(expected), rel=1e-13, abs=1e-15)


# Identities of the chapter ----------------------------------------------------------------------------------------


@BOUNDED
@given(any_weights)
def test_fpr_follows_from_precision_and_recall(case):
    ranking = ranking_of(case)
    fpr, _, _ = ranking.roc_curve(drop_intermediate=False)
    precision, recall, _ = ranking.precision_recall_curve()
    found = recall > 0
    odds = ranking.counts.n_pos / ranking.counts.n_neg
    fpr, precision, recall = fpr[found], precision[found], recall[found]
    np.testing.assert_allclose(fpr, odds * (1 - precision) / precision * recall, rtol=1e-9, atol=1e-12 * odds)


@BOUNDED
@given(any_weights, st.sampled_from(ASKED))
def test_error_rate_mixes_fpr_and_fnr_by_the_prior(case, threshold):
    ranking = ranking_of(case)
    p = ranking.counts.n_pos / (ranking.counts.n_pos + ranking.counts.n_neg)
    matrix = ranking.confusion_at(threshold)
    mixed = (1 - p) * (1 - matrix.specificity()) + p * (1 - matrix.recall())
    assert matrix.error_rate() == pytest.approx(mixed, rel=1e-12, abs=1e-14)
    assert ranking.expected_cost(threshold) == pytest.approx(mixed, rel=1e-12, abs=1e-14)


@BOUNDED
@given(unweighted)
def test_ten_times_the_negatives_leave_roc_and_lower_precision(case):
    repeats = np.where(case.y_true == 1, 1, 10)
    one, ten = Ranking(*case[:2]), Ranking(np.repeat(case.y_true, repeats), np.repeat(case.y_score, repeats))
    for few, many in zip(one.roc_curve(), ten.roc_curve(), strict=True):
        np.testing.assert_array_equal(few, many)
    assert one.roc_auc() == ten.roc_auc()
    before, after = one.precision_recall_curve(), ten.precision_recall_curve()
    np.testing.assert_array_equal(before.recall, after.recall)
    mixed = (before.precision > 0) & (before.precision < 1)
    assert (after.precision[mixed] < before.precision[mixed]).all()
    np.testing.assert_array_equal(after.precision[~mixed], before.precision[~mixed])


@BOUNDED
@given(exact_cases)
def test_cross_sections_agree_with_each_other(case):
    ranking = ranking_of(case)
    assert ranking.roc_auc() + ranking.rank_loss() == 1
    assert ranking.ks_statistic().value >= abs(ranking.best_threshold("informedness").value) - 1e-15
    assert ranking.equal_error_rate(on_hull=True).value <= ranking.equal_error_rate().value


# scikit-learn -----------------------------------------------------------------------------------------------------


def test_tied_cases_agree_with_scikit_learn():
    rng = np.random.default_rng(20240917)
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        for i in range(4 * EXAMPLES):
            y, s, _ = case = random_case(rng)
            ranking = Ranking(y, s)
            assert ranking.roc_auc() == pytest.approx(sk.roc_auc_score(y, s), rel=1e-14)
            assert ranking.average_precision() == pytest.approx(sk.average_precision_score(y, s), rel=1e-13)
            if i % 4:  # compare entire curves for a quarter only, since they take the most time
                continue
            for ours, theirs in zip(
                ranking.roc_curve(drop_intermediate=False), sk.roc_curve(y, s, drop_intermediate=False), strict=True
            ):
                np.testing.assert_array_equal(ours, theirs, err_msg=repr(case))
            precision, recall, thresholds = ranking.precision_recall_curve()
            theirs = sk.precision_recall_curve(y, s)
            np.testing.assert_array_equal(precision[::-1], theirs[0], err_msg=repr(case))
            np.testing.assert_array_equal(recall[::-1], theirs[1], err_msg=repr(case))
            np.testing.assert_array_equal(thresholds[:0:-1], theirs[2], err_msg=repr(case))


def test_partial_auc_and_confusion_agree_with_scikit_learn():
    rng = np.random.default_rng(7)
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        for weighted in (False, True):
            for _ in range(2 * EXAMPLES):
                y, s, w = case = random_case(rng, weighted=weighted)
                ranking = ranking_of(case)
                f, t = rng.uniform(0.001, 1), rng.choice(s)
                partial = sk.roc_auc_score(y, s, sample_weight=w, max_fpr=f)
                assert ranking.roc_auc(max_fpr=f) == pytest.approx(partial, rel=1e-12, abs=1e-13), case
                np.testing.assert_allclose(
                    ranking.confusion_at(t).counts,
                    sk.confusion_matrix(y, s >= t, sample_weight=w),
                    rtol=1e-12,
                    atol=1e-13,
                )


def test_weighted_cases_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        for _ in range(3 * EXAMPLES):
            y, s, w = case = random_case(rng, weighted=True)
            ranking = ranking_of(case)
            assert ranking.roc_auc() == pytest.approx(sk.roc_auc_score(y, s, sample_weight=w), rel=1e-12)
            expected = sk.average_precision_score(y, s, sample_weight=w)
            assert ranking.average_precision() == pytest.approx(expected, rel=1e-12)
            for ours, theirs in zip(
                ranking.roc_curve(drop_intermediate=False),
                sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False),
                strict=True,
            ):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)
            precision, recall, _ = ranking.precision_recall_curve()
            theirs = sk.precision_recall_curve(y, s, sample_weight=w)
            np.testing.assert_allclose(precision[::-1], theirs[0], rtol=1e-12)
            np.testing.assert_allclose(recall[::-1], theirs[1], rtol=1e-12)


# Exactness --------------------------------------------------------------------------------------------------------


def test_auc_is_correctly_rounded_and_mirrored_exactly():
    rng = np.random.default_rng(11)
    for _ in range(20 * EXAMPLES):
        y, s, _ = random_case(rng)
        u2 = sum(int(np.sum(a > s[y == 0])) * 2 + int(np.sum(a == s[y == 0])) for a in s[y == 1])
        pairs = int(y.sum()) * int((1 - y).sum())
        auc = Ranking(y, s).roc_auc()
        assert auc == float(Fraction(u2, 2 * pairs))
        assert auc + Ranking(y, -s).roc_auc() == 1


def test_pair_counts_do_not_overflow_32_bits():
    y = np.repeat([1, 0], 70_000)  # 4.9e9 pairs
    assert Ranking(y, y).roc_auc() == 1.0
    assert Ranking(y, 1 - y).roc_auc() == 0.0
    assert Ranking(y, np.zeros(140_000)).roc_auc() == 0.5


def test_perfect_rankings_with_float_weights_are_exactly_perfect():
    rng = np.random.default_rng(5)
    for _ in range(20 * EXAMPLES):
        n = int(rng.integers(2, 50))
        y = np.arange(n) >= rng.integers(1, n)
        ranking = Ranking(y, y + rng.integers(0, 4, n) / 8, sample_weight=rng.uniform(0, 1, n) + 1e-9)
        assert ranking.roc_auc() == ranking.average_precision() == 1.0
        assert ranking.pr_auc(interpolation="linear") == 1.0
        assert ranking.rank_loss() <= 1e-30  # not lost to rounding next to 1
        assert ranking.equal_error_rate().value == 0.0
        assert ranking.ks_statistic().value == ranking.break_even_point().value == 1.0


def test_davis_goadrich_areas_of_perfect_rankings_are_exactly_one():
    rng = np.random.default_rng(50)
    for _ in range(300):
        n = int(rng.integers(2, 50))
        y = np.arange(n) >= rng.integers(1, n)
        scores, weights = y + rng.integers(0, 4, n) / 8, rng.uniform(0, 1, n) + 1e-9
        assert Ranking(y, scores).pr_auc() == Ranking(y, scores, sample_weight=weights).pr_auc() == 1.0


def test_weighted_rates_and_areas_never_leave_the_unit_interval():
    rng = np.random.default_rng(6)
    for _ in range(20 * EXAMPLES):
        case = random_case(rng, weighted=True)
        ranking = ranking_of(case)
        precision, recall, _ = ranking.precision_recall_curve()
        fpr, tpr, _ = ranking.roc_curve()
        for rates in (precision, recall, fpr, tpr):
            assert rates.min() >= 0
            assert rates.max() <= 1
        assert recall[-1] == fpr[-1] == tpr[-1] == 1
        for area in (ranking.roc_auc(), ranking.average_precision(), ranking.pr_auc()):
            assert 0 <= area <= 1


# Weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.3, 1e-300, 1e300, 2.0**-900])
@FEWER
@given(float_weighted)
def test_scaled_weights_change_no_point_and_no_area(scale, case):
    one = ranking_of(case)
    other = Ranking(case.y_true, case.y_score, sample_weight=case.weights * scale)
    assert len(one.roc_curve()) == len(other.roc_curve())
    assert other.roc_auc() == pytest.approx(one.roc_auc(), rel=1e-12)
    assert other.average_precision() == pytest.approx(one.average_precision(), rel=1e-12)
    assert other.pr_auc() == pytest.approx(one.pr_auc(), rel=1e-12)
    assert other.ks_statistic().value == pytest.approx(one.ks_statistic().value, rel=1e-12)
    assert other.equal_error_rate().value == pytest.approx(one.equal_error_rate().value, rel=1e-12)


@pytest.mark.parametrize("scale", [0.3, 1e-300, 1e300])
@pytest.mark.parametrize(
    "measure",
    [
        lambda ranking: ranking.roc_auc(max_fpr=0.7, min_tpr=0.1),
        lambda ranking: ranking.equal_error_rate(on_hull=True).value,
        lambda ranking: ranking.best_threshold("matthews").value,
        lambda ranking: ranking.best_threshold("cohen_kappa").value,
        lambda ranking: ranking.break_even_point().value,
        lambda ranking: ranking.pr_auc(interpolation="linear"),
    ],
    ids=["partial auc", "hull", "matthews", "kappa", "break-even", "linear P-R area"],
)
def test_products_of_weights_neither_overflow_nor_vanish(measure, scale):
    one, other = (Ranking(Y, S, sample_weight=W * factor) for factor in (1.0, scale))
    assert measure(other) == pytest.approx(measure(one), rel=1e-12)


@BOUNDED
@given(float_weighted)
def test_rows_of_weight_zero_are_no_rows(case):
    kept = case.weights > 0
    full, dropped = ranking_of(case), Ranking(*(array[kept] for array in case[:2]), sample_weight=case.weights[kept])
    assert_same_counts(full, dropped)
    assert (full.n_samples, full.n_positives) == (dropped.n_samples, dropped.n_positives)
    assert full.n_samples == np.count_nonzero(kept)


def points_found(ranking: Ranking) -> list[tuple[str, str]]:
    """Return every value with its threshold as shortest decimals, so that NaN equals NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        points = [
            ranking.ks_statistic(),
            ranking.break_even_point(),
            ranking.equal_error_rate(),
            ranking.equal_error_rate(on_hull=True),
            ranking.threshold_for(recall=0.6),
            ranking.threshold_for(fpr=0.4),
            *(ranking.best_threshold(name) for name in CELL_NAMES),
        ]
    return [(repr(value), repr(threshold)) for value, threshold in points]


@BOUNDED
@given(integer_weighted)
def test_integer_weights_are_repeated_rows(case):
    repeats = case.weights.astype(int)
    weighted, repeated = ranking_of(case), Ranking(np.repeat(case.y_true, repeats), np.repeat(case.y_score, repeats))
    assert_same_counts(weighted, repeated)
    assert points_found(weighted) == points_found(repeated)


@BOUNDED
@given(unweighted)
def test_unit_weights_are_no_weights(case):
    bare, unit = ranking_of(case), Ranking(*case[:2], sample_weight=np.ones(case.y_true.size, dtype=np.float32))
    assert_same_counts(bare, unit)
    assert points_found(bare) == points_found(unit)
    assert (bare.n_samples, bare.n_positives, bare.n_negatives) == (unit.n_samples, unit.n_positives, unit.n_negatives)


def test_unit_weights_find_the_same_thresholds_among_ties():
    rng = np.random.default_rng(31)
    for _ in range(3 * EXAMPLES):
        y, s, _ = case = random_case(rng)
        bare, unit = Ranking(y, s), Ranking(y, s, sample_weight=np.ones(y.size))
        assert points_found(bare) == points_found(unit), case


def test_the_largest_distance_is_found_at_the_highest_threshold_that_has_it():
    rng = np.random.default_rng(32)
    for weighted in (False, True):
        for _ in range(150):
            y, s, w = random_case(rng, weighted=weighted)
            case = Case(y, s, None if w is None else np.ceil(w))
            expected = reference.ks_statistic(*case)
            assert tuple(ranking_of(case).ks_statistic()) == (float(expected.value), expected.threshold), case


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, ">f8"])
def test_weights_of_any_real_dtype(dtype):
    weights = np.array([1, 0, 1, 1, 1], dtype=dtype)
    ranking = Ranking([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.2], sample_weight=weights)
    assert ranking.roc_auc() == 0.75
    assert ranking.n_samples == 4


# Hard scores ------------------------------------------------------------------------------------------------------


def auc_of_pair(low: Any, high: Any, dtype: Any) -> tuple[float, float, float]:
    """Return the pair's AUCs in order, out of order, and in order with weights."""
    scores = np.array([low, high], dtype=dtype)
    return (
        Ranking([0, 1], scores).roc_auc(),
        Ranking([1, 0], scores).roc_auc(),
        Ranking([0, 1], scores, sample_weight=[0.5, 3]).roc_auc(),
    )


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (1.0, np.nextafter(1.0, 2), "f8"),
        (np.nextafter(1.0, 0), 1.0, "f8"),
        (0.0, DENORMAL, "f8"),
        (-DENORMAL, 0.0, "f8"),
        (-DENORMAL, -0.0, "f8"),
        (DENORMAL, 2 * DENORMAL, "f8"),
        (-1.7e308, 1.7e308, "f8"),
        (np.nextafter(LARGEST, 0), LARGEST, "f8"),
        (-LARGEST, np.nextafter(-LARGEST, 0), "f8"),
        (np.nextafter(np.float32(0.1), np.float32(0)), np.float32(0.1), "f4"),
        (np.float16(0), np.nextafter(np.float16(0), np.float16(1)), "f2"),
        (np.longdouble(1), np.nextafter(np.longdouble(1), 2), np.longdouble),
        (-128, 127, "i1"),
        (-128, 0, "i1"),
        (0, 200, "u1"),
        (127, 128, "u1"),
        (2**53, 2**53 + 1, "i8"),
        (-(2**53) - 1, -(2**53), "i8"),
        (-(2**63), 2**63 - 1, "i8"),
        (2**63 - 2, 2**63 - 1, "i8"),
        (2**64 - 2, 2**64 - 1, "u8"),
        (2**63 - 1, 2**63, "u8"),
        (0, 2**64 - 1, "u8"),
        (False, True, "?"),
    ],
)
def test_neighbouring_and_extreme_scores_are_told_apart(low, high, dtype):
    assert auc_of_pair(low, high, dtype) == (1.0, 0.0, 1.0)
    scores = np.array([low, high], dtype=dtype)
    ranking = Ranking([0, 1], scores)
    assert ranking.counts.thresholds.size == 3
    assert ranking.confusion_at(scores).counts.tolist() == [[[0, 1], [0, 1]], [[1, 0], [0, 1]]]


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (1.0, np.nextafter(1.0, 2), "f8"),
        (np.longdouble(1), np.nextafter(np.longdouble(1), 2), np.longdouble),
        (2**53, 2**53 + 1, "i8"),
        (2**64 - 2, 2**64 - 1, "u8"),
    ],
)
def test_a_threshold_found_means_the_same_when_used(low, high, dtype):
    ranking = Ranking([0, 1], np.array([low, high], dtype=dtype))
    value, threshold = ranking.best_threshold("error_rate")
    assert value == ranking.confusion_at(threshold).error_rate() == ranking.expected_cost(threshold) == 0


def test_minus_zero_is_zero():
    ranking = Ranking([0, 1, 0, 1], [-0.0, 0.0, 0.0, -0.0])
    assert ranking.counts.thresholds.tolist() == [math.inf, 0.0]
    assert ranking.roc_auc() == 0.5
    assert Ranking([0, 1], np.array([0.0, -0.0]), sample_weight=[1, 2]).roc_auc() == 0.5


@pytest.mark.parametrize(
    ("scores", "dtype"),
    [
        ([0, 200, 255], np.uint8),
        ([-128, 0, 127], np.int8),
        ([-32768, -1, 32767], np.int16),
        ([2**53, 2**53 + 1, 2**53 + 2], np.int64),
        ([2**64 - 3, 2**64 - 2, 2**64 - 1], np.uint64),
        ([-1.5, 0.1, 6e4], np.float16),
        ([-1e-45, 0.1, 3e38], np.float32),
        ([False, True], np.bool_),
    ],
)
def test_thresholds_are_the_scores_themselves(scores, dtype):
    array = np.array(scores, dtype=dtype)
    thresholds = Ranking(np.arange(array.size) % 2, array).counts.thresholds
    assert thresholds[0] == math.inf
    assert [int(t) if np.issubdtype(dtype, np.integer) else t for t in thresholds[1:]] == array[::-1].tolist()


def test_one_row_is_a_ranking():
    ranking = Ranking([1], [0.5])
    assert (ranking.n_samples, ranking.n_positives, ranking.n_negatives) == (1, 1, 0)
    assert ranking.average_precision() == 1.0
    assert tuple(ranking.best_threshold("accuracy")) == (1.0, 0.5)
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined .*no negatives"):
        assert math.isnan(ranking.roc_auc())


def test_constant_scores_rank_nothing():
    ranking = Ranking([0, 1, 1, 0, 1], [0.3] * 5)
    assert ranking.roc_auc() == ranking.rank_loss() == ranking.equal_error_rate().value == 0.5
    assert ranking.average_precision() == ranking.break_even_point().value == 0.6
    assert tuple(ranking.ks_statistic()) == (0.0, math.inf)
    assert ranking.counts.thresholds.tolist() == [math.inf, 0.3]


# Kinds of input ---------------------------------------------------------------------------------------------------


def read_only(array: Any) -> Any:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def misaligned(array: Any) -> Any:
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(array.dtype)
    view[:] = array
    return view


FORMS = {
    "read-only": read_only,
    "strided": lambda a: np.repeat(a, 3)[::3],
    "column": lambda a: np.column_stack((a, a + 1))[:, 0],
    "negative stride": lambda a: a[::-1].copy()[::-1],
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "misaligned": misaligned,
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "list of NumPy scalars": list,
    "pandas": lambda a: pd.Series(a, index=range(100, 100 + a.size)),
    "pandas nullable": lambda a: pd.Series(a).convert_dtypes(),
    "polars": pl.Series,
    "polars chunks": lambda a: pl.concat([pl.Series(a[:3]), pl.Series(a[3:])], rechunk=False),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda a: pa.chunked_array([pa.array(a[:3]), pa.array(a[3:])]),
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble),
    "memoryview": memoryview,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_form_of_input_gives_the_same_counts_and_stays_as_it_was(form, weighted):
    inputs = [FORMS[form](array) for array in (Y, S, W)]
    ranking = Ranking(*inputs[:2], sample_weight=inputs[2] if weighted else None)
    assert_same_counts(ranking, Ranking(Y, S, sample_weight=W if weighted else None))
    for given_input, array in zip(inputs, (Y, S, W), strict=True):
        np.testing.assert_array_equal(np.asarray(given_input, dtype=np.float64), array)


@pytest.mark.parametrize("weighted", [False, True])
def test_later_changes_to_the_inputs_change_nothing(weighted):
    y, s, w = Y.copy(), S.copy(), W.copy()
    ranking = Ranking(y, s, sample_weight=w if weighted else None)
    y[:], s[:], w[:] = 1, 0.0, 9.0
    assert_same_counts(ranking, Ranking(Y, S, sample_weight=W if weighted else None))


@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        (Y.astype(bool), None),
        (Y.astype(bool).tolist(), None),
        (2 * Y - 1, None),
        ((2 * Y - 1).astype(np.int8), None),
        (Y.astype(np.float64), None),
        (Y.astype(np.float32), 1),
        (Y.astype(np.uint8), 1.0),
        (1 - Y, 0),
        (~Y.astype(bool), False),
        (Y + 1, 2),
        (Y * 2.5, 2.5),
        (np.where(Y, "sick", "healthy"), "sick"),
        (np.where(Y, "sick", "healthy").tolist(), "sick"),
        (np.where(Y, "sick", "healthy").astype(object), "sick"),
        (np.where(Y, "y", "n").astype(np.dtypes.StringDType()), "y"),
        (pd.Series(np.where(Y, "y", "n")), "y"),
        (pd.Series(np.where(Y, "y", "n")).astype("category"), "y"),
        (pl.Series(np.where(Y, "y", "n").tolist()), "y"),
        (pa.array(np.where(Y, "y", "n").tolist()), "y"),
        (Y * (2**63 - 1), 2**63 - 1),
    ],
)
def test_labels_of_every_type(labels, pos_label):
    ranking = Ranking(labels, S, pos_label=pos_label)
    assert_same_counts(ranking, Ranking(Y, S))
    assert ranking.pos_label == (1 if pos_label is None else pos_label)


@pytest.mark.parametrize("pos_label", ["y", b"y"])
@pytest.mark.parametrize("labels", [np.where(Y, b"y", b"n"), np.where(Y, "y", "n")])
def test_text_and_bytes_mean_one_class(labels, pos_label):
    ranking = Ranking(labels, S, pos_label=pos_label)
    assert_same_counts(ranking, Ranking(Y, S))
    assert ranking.pos_label == "y"


@BOUNDED
@given(any_classes)
def test_one_class_is_nan_with_a_warning_where_a_class_is_needed(case):
    ranking = ranking_of(case) if case.weights is None or case.weights.any() else Ranking(*case[:2])
    if ranking.n_positives and ranking.n_negatives:
        assert 0 <= ranking.roc_auc() <= 1
        return
    missing = "positives" if not ranking.n_positives else "negatives"
    for method in (ranking.roc_auc, ranking.rank_loss):
        with pytest.warns(UndefinedMetricWarning, match=f"{method.__name__} is undefined .*y_true has no {missing}"):
            assert math.isnan(method())
    for point in (ranking.ks_statistic, ranking.equal_error_rate, lambda: ranking.equal_error_rate(on_hull=True)):
        with pytest.warns(UndefinedMetricWarning, match=f"no {missing}"):
            assert all(map(math.isnan, point()))
    with pytest.warns(UndefinedMetricWarning, match="roc_auc"):
        assert math.isnan(ranking.roc_auc(max_fpr=0.5))
    with pytest.warns(UndefinedMetricWarning, match="expected_cost"):
        assert math.isnan(ranking.expected_cost(0.5, prior=0.5))
    if ranking.n_positives:
        assert ranking.average_precision() == ranking.pr_auc() == ranking.break_even_point().value == 1.0
        return
    for area in (ranking.average_precision, ranking.pr_auc):
        with pytest.warns(UndefinedMetricWarning, match="no positives"):
            assert math.isnan(area())
    with pytest.warns(UndefinedMetricWarning, match="no positives"):
        assert math.isnan(ranking.break_even_point().value)
    with pytest.warns(UndefinedMetricWarning, match="NaN at every threshold|no positives|no negatives"):
        assert math.isnan(ranking.best_threshold("recall").threshold)


def test_break_even_without_a_true_positive_is_undefined():
    with pytest.warns(UndefinedMetricWarning, match="break_even_point"):
        assert all(map(math.isnan, Ranking([0, 1, 0], [0.9, 0.1, 0.5]).break_even_point()))


def test_repr_says_what_is_ranked():
    assert repr(Ranking(Y, S)) == "Ranking(n_positives=5, n_negatives=3)"
    assert repr(Ranking(Y, S, sample_weight=W)) == "Ranking(n_positives=4, n_negatives=3, weighted)"
    assert (
        repr(Ranking([0, 1], [0.5, 1.0]).counts) == "ThresholdCounts(thresholds=[inf, 1. , 0.5], tps=[0, 1, 1], "
        "fps=[0, 0, 1])"
    )


def test_operating_points_unpack_convert_and_list_their_fields():
    point = OperatingPoint(0.75, 0.5)
    assert tuple(point) == (0.75, 0.5)
    assert float(point) == 0.75
    assert point.to_dict() == {"value": 0.75, "threshold": 0.5}
    assert point == OperatingPoint(0.75, 0.5)


def test_counts_are_integers_and_sums_of_weights_are_doubles():
    for scores in (S, S.astype(np.float32), np.arange(8, dtype=np.int8)):
        bare, weighted = Ranking(Y, scores).counts, Ranking(Y, scores, sample_weight=W.astype(np.float16)).counts
        assert bare.tps.dtype == bare.fps.dtype == np.int64
        assert type(bare.n_pos) is type(bare.n_neg) is int
        assert weighted.tps.dtype == weighted.fps.dtype == np.float64


def test_counts_are_read_only_and_made_once():
    ranking = Ranking(Y, S)
    assert ranking.counts is ranking.counts
    for array in (ranking.counts.thresholds, ranking.counts.tps, ranking.counts.fps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# Bad input --------------------------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("y_true", "y_score", "message"),
    [
        ([0, 1, 1], [0.1, NAN, NAN], "y_score must be finite, but has 2 NaN values, the first at row 1"),
        ([0, 1, 1], [0.1, 0.2, NAN], "y_score must be finite, but has 1 NaN value, the first at row 2"),
        ([0, 1, 1], [INF, 0.2, -INF], "y_score must be finite, but has 2 infinite values, the first at row 0"),
        ([0, 1, 1], [0.1, 0.2, -INF], "y_score must be finite, but has 1 infinite value, the first at row 2"),
        ([0, 1], np.array([NAN, 1], dtype=np.float16), "y_score .* 1 NaN value, the first at row 0"),
        ([0, 1], np.array([1, NAN], dtype=np.longdouble), "y_score .* 1 NaN value, the first at row 1"),
        ([0, 1], np.array([1, NAN], dtype=">f8"), "y_score .* 1 NaN value, the first at row 1"),
        ([0, 1, 1], [0.1, 0.2], "y_score has 2 rows, but y_true has 3"),
        ([], [], "y_true is empty: it must have at least one row"),
        ([0], [], "y_score is empty: it must have at least one row"),
        ([0, 1, 2], [0.1, 0.2, 0.3], "y_true must have two classes, got 3 labels: 0, 1, 2"),
        ([0, 1, 1, -1], [0.1, 0.2, 0.3, 0.4], "y_true must have two classes, got 3 labels: -1, 0, 1"),
        ([1.0, 0.5, 0.0], [0.1, 0.2, 0.3], r"y_true must have two classes, got 3 labels: 0\.0, 0\.5, 1\.0"),
        (["a", "b", "c"], [0.1, 0.2, 0.3], "y_true must have two classes, got 3 labels: 'a', 'b', 'c'"),
        (range(20), range(20), r"y_true must have two classes, got 20 labels: 0, 1, .*\(20 in all\)"),
        (["n", "y"], [0.1, 0.2], "y_true has the labels 'n', 'y': pos_label must say which is positive"),
        ([1, 2], [0.1, 0.2], "y_true has the labels 1, 2: pos_label must say"),
        (["y", "y"], [0.1, 0.2], "y_true has the label 'y': pos_label must say"),
        ([0, 1, NAN], [0.1, 0.2, 0.3], "y_true has 1 NaN value, the first at row 2"),
        ([NAN, 1, NAN], [0.1, 0.2, 0.3], "y_true has 2 NaN values, the first at row 0"),
        (["a", None], [0.1, 0.2], "y_true has 1 missing value, the first at row 1"),
        (np.array(["a", 1], dtype=object), [0.1, 0.2], r"y_true must have .* got 1 \(int\) at row 1"),
        ([0, "a"], [0.1, 0.2], r"y_true must have .*only strings.* got 0 \(int\) at row 0"),
        ([0j, 1j], [0.1, 0.2], "y_true must hold numbers, booleans or strings, got dtype complex128"),
        (np.array([0, 1], dtype="M8[D]"), [0.1, 0.2], "y_true must hold numbers, booleans or strings, got dtype dat"),
        ([[0, 1]], [0.1, 0.2], r"y_true must be 1-D, got shape \(1, 2\)"),
        ([0, 1], [[0.1, 0.9], [0.2, 0.8]], r"y_score must be 1-D, got shape \(2, 2\); .*y_score\[:, 1\]"),
        ([0, 1], 0.5, r"y_score must be 1-D, got shape \(\)"),
        ([0, 1], ["0.1", "0.2"], r"y_score must hold numbers, got dtype <U3 \(first value '0.1'\)"),
        (
            [0, 1],
            np.array([0.1, 0.2], dtype=object),
            r"y_score must hold numbers, got dtype object \(first value 0.1\)",
        ),
        ([0, 1], [0.1, None], r"y_score must hold numbers, got dtype object \(None at row 1\)"),
        ([0, 1], [0.1, 1j], "y_score must hold numbers, got dtype complex128"),
        ([0, 1], np.array([0, 1], dtype="M8[s]"), "y_score must hold numbers, got dtype datetime64"),
        ([0, 1], np.array([0, 1], dtype="m8[s]"), "y_score must hold numbers, got dtype timedelta64"),
        ([0, 1], np.ma.masked_array([0.1, 0.2], mask=[0, 1]), "y_score has 1 masked value, the first at row 1"),
        (np.ma.masked_array([0, 1], mask=[1, 1]), [0.1, 0.2], "y_true has 2 masked values, the first at row 0"),
        ([0, 1], [[0.1], [0.2, 0.3]], "y_score can't be read as an array: .*inhomogeneous"),
        ([0, 1], {0.1, 0.2}, "y_score must be an array or sequence, got a set"),
        ({0: 1}, [0.1], "y_true must be an array or sequence, got a dict"),
        ([0, 1], (s for s in (0.1, 0.2)), "y_score must be an array or sequence, got a generator"),
        ([0, 1], None, "y_score must be 1-D"),
        ([0, 1], pd.Series([0.1, None], dtype="Float64"), "y_score .*(must hold numbers|1 NaN value)"),
        ([0, 1], pa.array([0.1, None]), "y_score .*1 NaN value, the first at row 1"),
        ([0, 1], pl.Series([0.1, None]), "y_score .*1 NaN value, the first at row 1"),
    ],
)
def test_bad_rows_are_named(y_true, y_score, message):
    with pytest.raises(ValueError, match=message):
        Ranking(y_true, y_score)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -0.5, -1], r"sample_weight must not be negative, got -0\.5 at row 1"),
        ([1, NAN, 1], "sample_weight must be finite, but has 1 NaN value, the first at row 1"),
        ([1, 1, INF], "sample_weight must be finite, but has 1 infinite value, the first at row 2"),
        ([0, 0, 0], "sample_weight must have a value above zero, but all 3 are zero"),
        ([1, 1], "sample_weight has 2 rows, but y_true has 3"),
        ([[1, 1, 1]], r"sample_weight must be 1-D, got shape \(1, 3\)"),
        (["1", "1", "1"], "sample_weight must hold numbers, got dtype <U1"),
        ([1, None, 1], "sample_weight must hold numbers, got dtype object"),
        ([1e308, 1e308, 1e308], "sample_weight must have a finite sum, but it overflows"),
        ([1, 1, 2**53 + 2], r"sample_weight must be at most 2\*\*53 for integers, got 9007199254740994"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        Ranking([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=weights)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0.5]])
def test_bad_scores_beside_weights_are_named_by_the_rows_of_the_input(weights):
    with pytest.raises(ValueError, match="y_score must be finite, but has 1 NaN value, the first at row 2"):
        Ranking([0, 1, 1, 0], [0.1, 0.2, NAN, 0.3], sample_weight=weights)


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        ([0, 1], 2, r"pos_label must be a label of y_true \(0, 1\), got 2"),
        (["a", "b"], "c", r"pos_label must be a label of y_true \('a', 'b'\), got 'c'"),
        (["a", "b"], 1, "pos_label must be a label of y_true .* got 1"),
        ([0, 1], "1", "pos_label must be a label of y_true .* got '1'"),
        ([0, 1, 2], 1, "y_true must have two classes, got 3 labels: 0, 1, 2"),
        ([0, 1], NAN, "pos_label must be a label of y_true .* got nan"),
        ([0, 1], [1], r"pos_label must be a label of y_true .* got \[1\]"),
        ([1, 1], "yes", "pos_label must be a label of y_true .* got 'yes'"),
    ],
)
def test_a_bad_pos_label_is_named(labels, pos_label, message):
    with pytest.raises(ValueError, match=message):
        Ranking(labels, range(len(labels)), pos_label=pos_label)


def test_a_positive_class_without_rows_can_be_named():
    assert Ranking(["a", "a"], [0.1, 0.2], pos_label="b").n_negatives == 2
    assert Ranking([0, 0], [0.1, 0.2]).n_negatives == 2
    assert Ranking([-1, -1], [0.1, 0.2]).n_negatives == 2
    assert Ranking([3, 3], [0.1, 0.2], pos_label=3).n_positives == 2


CELL_CHOICES = ", ".join(map(repr, CELL_NAMES))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.roc_auc(max_fpr=0), r"max_fpr must be in \(0, 1\], got 0"),
        (lambda r: r.roc_auc(max_fpr=1.5), r"max_fpr must be in \(0, 1\], got 1\.5"),
        (lambda r: r.roc_auc(max_fpr=NAN), r"max_fpr must be in \(0, 1\], got nan"),
        (lambda r: r.roc_auc(max_fpr="0.5"), "max_fpr must be a number, got '0.5'"),
        (lambda r: r.roc_auc(max_fpr=True), "max_fpr must be a number, got True"),
        (lambda r: r.roc_auc(min_tpr=1), r"min_tpr must be in \[0, 1\), got 1"),
        (lambda r: r.roc_auc(min_tpr=-0.1), r"min_tpr must be in \[0, 1\), got -0\.1"),
        (
            lambda r: r.pr_auc(interpolation="step"),
            "interpolation must be one of 'davis-goadrich', 'linear'; got 'step'",
        ),
        (lambda r: r.best_threshold("f2"), f"metric must be one of {CELL_CHOICES}; got 'f2'"),
        (lambda r: r.best_threshold("roc_auc"), f"metric must be one of {CELL_CHOICES}; got 'roc_auc'"),
        (lambda r: r.best_threshold(3), f"metric must be one of {CELL_CHOICES}; got 3"),
        (
            lambda r: r.best_threshold("f1", cost_fn=2),
            "cost_fp, cost_fn and prior apply only to metric='expected_cost', .*'f1'",
        ),
        (lambda r: r.best_threshold(lambda *c: c[0], prior=0.1), "prior apply only to metric='expected_cost'"),
        (lambda r: r.best_threshold(lambda *c: 1.0), r"metric must return real numbers of the counts' shape .* \(\)"),
        (lambda r: r.best_threshold(lambda *c: c[0] * 1j), "metric must return real numbers .* dtype complex128"),
        (
            lambda r: r.threshold_for(),
            "exactly one of precision, recall, fpr, tpr, n_predicted must be given, got none",
        ),
        (lambda r: r.threshold_for(recall=0.5, fpr=0.1), "exactly one of .* must be given, got recall and fpr"),
        (lambda r: r.threshold_for(precision=1.1), r"precision must be in \[0, 1\], got 1\.1"),
        (lambda r: r.threshold_for(tpr=NAN), r"tpr must be in \[0, 1\], got nan"),
        (lambda r: r.threshold_for(n_predicted=-1), r"n_predicted must be in \[0, inf\], got -1"),
        (lambda r: r.confusion_at(NAN), "thresholds must not be NaN, got 1 NaN values"),
        (lambda r: r.confusion_at([0.1, NAN, NAN]), "thresholds must not be NaN, got 2 NaN values"),
        (lambda r: r.confusion_at("0.5"), "thresholds must hold numbers, got dtype <U3"),
        (lambda r: r.confusion_at([0.1, None]), "thresholds must hold numbers, got dtype object"),
        (lambda r: r.expected_cost(NAN), "threshold must .*NaN"),
        (lambda r: r.expected_cost("0.5"), "threshold must hold numbers, got dtype <U3"),
        (lambda r: r.expected_cost(0.5, cost_fp=-1), r"cost_fp must be in \[0, inf\), got -1"),
        (lambda r: r.expected_cost(0.5, cost_fn=NAN), r"cost_fn must be in \[0, inf\), got nan"),
        (lambda r: r.expected_cost(0.5, cost_fn=INF), r"cost_fn must be in \[0, inf\), got inf"),
        (lambda r: r.expected_cost(0.5, cost_fp=0, cost_fn=0), "cost_fp and cost_fn must not both be zero"),
        (lambda r: r.expected_cost(0.5, prior=1.5), r"prior must be in \[0, 1\], got 1\.5"),
        (lambda r: r.expected_cost(0.5, prior=-0.1), r"prior must be in \[0, 1\], got -0\.1"),
        (lambda r: r.best_threshold("expected_cost", prior=2), r"prior must be in \[0, 1\], got 2"),
    ],
)
def test_bad_options_are_named(fawcett, call, message):
    with pytest.raises(ValueError, match=message):
        call(fawcett)


def test_integers_past_two_to_the_53_keep_their_thresholds():
    ranking = Ranking([0, 1, 0, 1], np.array([2**60 + 1, 2**60, 2**60 + 2, 5]))
    point = ranking.best_threshold("f1")
    assert point == OperatingPoint(2 / 3, 5)
    assert ranking.threshold_for(tpr=0.5).threshold == 2**60
    odd = Ranking([0, 1], np.array([2**60, 2**60 + 1])).best_threshold("f1").threshold
    assert (odd, type(odd)) == (2**60 + 1, int)
    assert json.loads(json.dumps(ranking.roc_curve(drop_intermediate=False).to_dict()))["thresholds"][1] == 2**60 + 2
    np.testing.assert_array_equal(ranking.confusion_at(2**60 + 1).counts, [[0, 2], [2, 0]])


@pytest.mark.parametrize("scores", [[2**64 - 1, 2**64 - 2, 1, 2], [2**53 + 1, 0.5, 1, 2]])
def test_lists_whose_integers_a_float_would_round_are_refused(scores):
    with pytest.raises(ValueError, match=r"y_score has \d+, which a float64 rounds"):
        Ranking([0, 1, 0, 1], scores)


def test_copies_are_read_only_too():
    ranking = Ranking(Y, S)
    for original in (ranking.counts, ranking.roc_curve(), ranking.precision_recall_curve()):
        for copied in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
            assert type(copied) is type(original)
            np.testing.assert_array_equal(copied.thresholds, original.thresholds)
            assert not copied.thresholds.flags.writeable
    matrix = pickle.loads(pickle.dumps(ranking.confusion_at([0.2, 0.5]).macro()))
    assert matrix.accuracy() == ranking.confusion_at([0.2, 0.5]).macro().accuracy()
    assert not matrix.counts.flags.writeable
    assert pickle.loads(pickle.dumps(ranking)).roc_auc() == ranking.roc_auc()


def test_missing_labels_are_named_before_the_type_of_others():
    with pytest.raises(ValueError, match="y_true has 1 missing value, the first at row 1"):
        Ranking([0, None, 1], [0.1, 0.2, 0.3])


def test_the_memory_of_sorted_scores_is_freed_by_counts():
    ranking = Ranking(Y, S)
    before = ranking.roc_auc()
    _ = ranking.counts
    assert ranking.roc_auc() == before
    assert "weighted" not in repr(ranking)


class Overtaken(Ranking):
    """A ranking whose counts another thread stores right after this thread looked for them."""

    is_overtaken = False

    @property
    def _counts(self) -> Any:
        known = Ranking._counts.__get__(self)
        if not self.is_overtaken:
            self.is_overtaken = True
            assert self.counts is not None
        return known

    @_counts.setter
    def _counts(self, counts: Any) -> None:
        Ranking._counts.__set__(self, counts)


def test_counts_that_another_thread_makes_meanwhile() -> None:
    ranking = Overtaken([0, 1, 1, 0], [1, 2, 3, 4])
    assert ranking.counts.tps.tolist() == [0, 0, 1, 2, 2]


def test_what_comes_first_needs_no_name() -> None:
    ranking = Ranking([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.3, 0.8, 0.2, 0.9])
    assert ranking.calibration_curve(3).expected_calibration_error == ranking.expected_calibration_error(3)
    assert ranking.brier_decomposition(3) == ranking.brier_decomposition(n_bins=3)
    assert ranking.roc_curve().at(0.2) == ranking.roc_curve().at(fpr=0.2)
    assert ranking.precision_recall_curve().at(0.5) == ranking.precision_recall_curve().at(recall=0.5)
    assert ranking.gain_curve().at(0.5) == ranking.gain_curve().at(share=0.5)
    assert ranking.cost_curve().at(0.5) == ranking.cost_curve().at(probability_cost=0.5)
    assert ranking.gini() == pytest.approx(2 * ranking.roc_auc() - 1, rel=1e-15)
