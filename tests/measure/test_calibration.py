"""Metrics of probabilities: Brier score, log loss, calibration in bins."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import Ranking, ThresholdCounts
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.probability_metrics import brier_decomposition, brier_score, log_loss
from tests.reference import calibration as reference
from tests.strategies import BOUNDED, DENORMAL, DYADIC_WEIGHTS, FEWER, FLOAT_WEIGHTS, Case

STRATEGIES = ("uniform", "quantile")
EACH = 10**6  # as quantile bins: one for each distinct probability
EDGES = (0.0, 0.1, 0.2, 0.3, 0.1 * 3, 0.5, 0.6, 0.1 * 6, 0.7, 0.1 * 7, 1.0)
EXTREMES = (0.0, DENORMAL, 1e-300, 2**-53, 0.5, 1 - 2**-53, 1.0)


@st.composite
def probability_cases(draw: st.DrawFn, weights: tuple[float, ...] | None = None, both_classes: bool = False) -> Case:
    """Draw labels, probabilities (ties, bin edges, extremes), and row weights that are not all 0."""
    n = draw(st.integers(2 if both_classes else 1, 12))
    pool = draw(st.sampled_from([EDGES, EXTREMES, (0.25, 0.75), tuple((np.arange(40) / 39).tolist())]))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    scores = np.array(draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n)))
    row_weights = None
    if weights is not None:
        row_weights = np.array(draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n)))
        row_weights[:2] = np.maximum(row_weights[:2], weights[-1])
    if both_classes:
        labels[:2] = 0, 1
    return Case(np.array(labels), scores, row_weights)


unweighted = probability_cases()
exact_cases = st.one_of(unweighted, probability_cases(DYADIC_WEIGHTS))
any_cases = st.one_of(exact_cases, probability_cases(FLOAT_WEIGHTS))
n_bins = st.sampled_from([1, 2, 3, 7, 10, 100])
strategies = st.sampled_from(STRATEGIES)


def counts_of(case: Case) -> ThresholdCounts:
    return Ranking(case.y_true, case.y_score, pos_label=1, **case.options).counts


def curve_of(y: object, p: object, n_bins: int = 10, strategy: str = "uniform", **options: object) -> CalibrationCurve:
    return CalibrationCurve.from_counts(Ranking(y, p, **options).counts, n_bins=n_bins, strategy=strategy)


def edges_of(case: Case, n_bins: int, strategy: str) -> list[float]:
    return reference.uniform_edges(n_bins) if strategy == "uniform" else reference.quantile_edges(n_bins, *case)


# Scores -----------------------------------------------------------------------------------------------------------


@BOUNDED
@given(any_cases)
def test_brier_score_is_the_mean_square_by_row(case):
    assert brier_score(counts_of(case)) == pytest.approx(float(reference.brier_score(*case)), rel=1e-14, abs=2e-16)


@BOUNDED
@given(any_cases)
def test_log_loss_is_the_mean_of_logs_by_row(case):
    slow = reference.log_loss(*case)
    assert log_loss(counts_of(case)) == pytest.approx(slow, rel=1e-14, abs=0 if case.weights is None else 1e-13)


@FEWER
@given(any_cases)
def test_swapping_the_classes_and_the_probabilities_changes_no_score(case):
    swapped = case._replace(y_true=1 - case.y_true, y_score=1 - case.y_score)
    if ((1 - swapped.y_score) == case.y_score).all():
        assert brier_score(counts_of(swapped)) == pytest.approx(brier_score(counts_of(case)), rel=1e-14, abs=2e-16)
        assert log_loss(counts_of(swapped)) == pytest.approx(log_loss(counts_of(case)), rel=1e-13, abs=2e-16)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(1)
    p = rng.random(2_000).round(3).clip(0.001, 0.999)
    y = rng.random(p.size) < p**2
    options = {"sample_weight": rng.random(p.size) * 5} if weighted else {}
    counts = Ranking(y, p, **options).counts
    assert brier_score(counts) == pytest.approx(sklearn.metrics.brier_score_loss(y, p, **options), rel=1e-13)
    assert log_loss(counts) == pytest.approx(sklearn.metrics.log_loss(y, p, **options), rel=1e-13)


def test_closed_forms():
    half = Ranking([0, 1, 1], [0.5] * 3).counts
    assert brier_score(half) == 0.25
    assert log_loss(half) == math.log(2)
    assert brier_score(Ranking([0, 1], [0.25, 0.5]).counts) == (0.0625 + 0.25) / 2


@pytest.mark.parametrize("options", [{}, {"sample_weight": [0.1, 0.3, 0.7, 1e-9]}])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.bool_, np.float32])
def test_labels_as_probabilities_are_perfect_or_all_wrong(dtype, options):
    y = np.array([0, 1, 1, 0])
    right, wrong = (Ranking(y, p.astype(dtype), **options).counts for p in (y, 1 - y))
    assert (brier_score(right), log_loss(right)) == (0, 0)
    assert math.copysign(1, log_loss(right)) == 1
    assert (brier_score(wrong), log_loss(wrong)) == (1, math.inf)
    assert brier_decomposition(right).reliability == 0
    assert brier_decomposition(right).resolution == brier_decomposition(right).uncertainty


def test_one_impossible_label_makes_an_infinite_log_loss():
    assert log_loss(Ranking([0, 1, 1], [0.0, 0.0, 1.0]).counts) == math.inf
    assert log_loss(Ranking([0, 0, 1], [0.0, 1.0, 1.0]).counts) == math.inf
    assert log_loss(Ranking([0, 1, 1], [0.0, DENORMAL, 1.0]).counts) == pytest.approx(744.4400719213812 / 3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_scores_of_other_dtypes_are_those_of_their_values(dtype):
    y, p = [0, 1, 0, 1, 1], np.array([0.1, 0.3, 0.3, 0.7, 0.9]).astype(dtype)
    other, plain = (Ranking(y, scores).counts for scores in (p, p.astype(np.float64)))
    assert brier_score(other) == pytest.approx(brier_score(plain), rel=1e-15)
    assert log_loss(other) == pytest.approx(log_loss(plain), rel=1e-15)
    for strategy in STRATEGIES:
        seen, expected = (CalibrationCurve.from_counts(c, strategy=strategy) for c in (other, plain))
        for name in ("fraction_of_positives", "mean_predicted", "counts", "edges"):
            assert getattr(seen, name).dtype == getattr(expected, name).dtype
            np.testing.assert_allclose(getattr(seen, name), getattr(expected, name), rtol=1e-15)


@pytest.mark.parametrize("weights", [None, [0.1, 0.7]])
def test_small_losses_are_not_lost_beside_1(weights):
    counts = Ranking([0, 0], [1e-20, 1e-20], pos_label=1, sample_weight=weights).counts
    assert log_loss(counts) == pytest.approx(1e-20, rel=1e-15, abs=0)


def test_the_brier_score_is_never_above_1():
    rng = np.random.default_rng(5)
    for n in range(3, 300):  # without the bound, rounding takes 2 % of these outside
        counts = Ranking(np.ones(n), np.arange(n) * 1e-300, pos_label=1, sample_weight=rng.random(n)).counts
        assert 1 - 1e-15 <= brier_score(counts) <= 1


# Bins -------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(exact_cases, n_bins, strategies)
def test_bins_hold_what_their_definition_says(case, n_bins, strategy):
    curve = CalibrationCurve.from_counts(counts_of(case), n_bins=n_bins, strategy=strategy)
    edges = edges_of(case, n_bins, strategy)
    bins = reference.calibration(edges, *case)
    assert curve.edges.tolist() == edges
    assert curve.counts.tolist() == [b.weight for b in bins]
    assert curve.fraction_of_positives.tolist() == pytest.approx(
        [math.nan if b.share is None else float(b.share) for b in bins], rel=1e-15, nan_ok=True
    )
    assert curve.mean_predicted.tolist() == pytest.approx(
        [math.nan if b.mean is None else float(b.mean) for b in bins], rel=1e-14, nan_ok=True
    )
    assert curve.expected_calibration_error == pytest.approx(
        float(reference.expected_calibration_error(bins)), rel=1e-13, abs=1e-15
    )
    assert curve.root_mean_square_calibration_error == pytest.approx(
        math.sqrt(reference.mean_square_calibration_error(bins)), rel=1e-13, abs=1e-15
    )
    assert curve.maximum_calibration_error == pytest.approx(
        float(max(gap for _, gap in reference.gaps(bins))), rel=1e-13, abs=1e-15
    )


@FEWER
@given(probability_cases(FLOAT_WEIGHTS), n_bins)
def test_bins_of_float_weights(case, n_bins):
    curve = CalibrationCurve.from_counts(counts_of(case), n_bins=n_bins)
    bins = reference.calibration(reference.uniform_edges(n_bins), *case)
    whole = float(sum(b.weight for b in bins))
    for k, (mean, share, weight) in enumerate(bins):
        assert curve.counts[k] == pytest.approx(float(weight), abs=1e-15 * whole)
        if mean is not None and share is not None:
            off = 1e-15 * whole / float(weight)  # a bin's weight is a difference of totals
            assert curve.mean_predicted[k] == pytest.approx(float(mean), abs=off)
            assert curve.fraction_of_positives[k] == pytest.approx(float(share), abs=off)
    assert curve.expected_calibration_error == pytest.approx(
        float(reference.expected_calibration_error(bins)), abs=1e-14
    )


@BOUNDED
@given(any_cases, n_bins, strategies)
def test_means_lie_inside_their_bins_and_nothing_is_lost(case, n_bins, strategy):
    counts = counts_of(case)
    curve = CalibrationCurve.from_counts(counts, n_bins=n_bins, strategy=strategy)
    filled = curve.counts > 0
    assert (curve.mean_predicted >= curve.edges[:-1])[filled].all()
    assert (curve.mean_predicted <= curve.edges[1:])[filled].all()
    assert (np.isnan(curve.mean_predicted) == ~filled).all()
    assert (np.isnan(curve.fraction_of_positives) == ~filled).all()
    assert curve.counts.sum() == pytest.approx(counts.n_pos + counts.n_neg, rel=1e-15)
    assert len(curve) == curve.edges.size - 1 <= n_bins
    assert 0 <= curve.expected_calibration_error <= curve.root_mean_square_calibration_error + 1e-15
    assert curve.root_mean_square_calibration_error <= curve.maximum_calibration_error + 1e-15 <= 1 + 1e-15
    assert (curve.edges[0], curve.edges[-1]) == (0, 1)
    assert (np.diff(curve.edges[1:]) > 0).all()
    if strategy == "quantile":
        assert filled.all()


@FEWER
@given(probability_cases((0.0, 1.0, 2.0, 3.0, 7.0)), n_bins, strategies)
def test_integer_weights_are_repeated_rows(case, n_bins, strategy):
    times = case.weights.astype(int)
    repeated = Case(np.repeat(case.y_true, times), np.repeat(case.y_score, times))
    one, other = counts_of(case), counts_of(repeated)
    for score in (brier_score, log_loss, brier_decomposition):
        assert score(one) == score(other)
    options = {"n_bins": n_bins, "strategy": strategy}
    assert brier_decomposition(one, **options) == brier_decomposition(other, **options)
    curves = CalibrationCurve.from_counts(one, **options), CalibrationCurve.from_counts(other, **options)
    for name in ("fraction_of_positives", "mean_predicted", "counts", "edges"):
        np.testing.assert_array_equal(getattr(curves[0], name), getattr(curves[1], name))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_curve_is_that_of_scikit_learn_less_its_empty_bins(strategy):
    rng = np.random.default_rng(2)
    p = rng.permutation(1_000) / 1_500 + 1e-5
    y = rng.random(p.size) < p
    curve = curve_of(y, p, strategy=strategy)
    share, mean = sklearn.calibration.calibration_curve(y, p, n_bins=10, strategy=strategy)
    filled = curve.counts > 0
    assert filled.sum() == (7 if strategy == "uniform" else 10)
    for ours, theirs in zip(curve, (share, mean), strict=True):
        np.testing.assert_allclose(ours[filled], theirs, rtol=1e-14)


@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 49, 1000])
def test_an_edge_belongs_to_the_bin_below_it(n_bins):
    edges = np.arange(n_bins + 1) / n_bins
    counts = curve_of(np.arange(n_bins + 1) % 2, edges, n_bins).counts
    assert counts.tolist() == [2] + [1] * (n_bins - 1)  # 0 is in the first bin, 1 in the last
    above = np.nextafter(edges[:-1], 1)
    assert (curve_of(np.arange(n_bins) % 2, above, n_bins).counts == 1).all() or n_bins == 1


def test_0_is_in_the_first_bin_and_1_in_the_last():
    for strategy in STRATEGIES:
        curve = curve_of([0, 1], [0.0, 1.0], 2, strategy)
        assert curve.counts.tolist() == [1, 1]
        assert curve.mean_predicted.tolist() == [0, 1]
        assert curve.fraction_of_positives.tolist() == [0, 1]
        assert curve.expected_calibration_error == 0


def test_the_floats_next_to_an_edge_are_told_apart():
    assert 0.1 * 3 > 0.3
    curve = curve_of([0, 1, 1], [0.3, 0.1 * 3, 0.7])
    assert curve.counts.tolist() == [0, 0, 1, 1, 0, 0, 1, 0, 0, 0]


def test_quantile_bins_split_no_ties_and_merge_equal_edges():
    curve = curve_of([0, 1] * 5, [0.2] * 6 + [0.3, 0.6, 0.7, 0.9], 5, "quantile")
    assert curve.edges.tolist() == [0, 0.2, 0.6, 1]
    assert curve.counts.tolist() == [6, 2, 2]
    assert curve_of([0, 1, 1], [0.4] * 3, 10, "quantile").edges.tolist() == [0, 1]
    assert curve_of([0, 1, 1], [0.0, 0.0, 0.5], 2, "quantile").edges.tolist() == [0, 0, 1]


def test_quantile_bins_of_one_score_more_than_there_are_bins():
    parts = Ranking([1, 0, 0, 1], [0.1, 0.3, 0.8, 0.8]).brier_decomposition(n_bins=2, strategy="quantile")
    # {0.1, 0.3} and {0.8}, each half positive: the means are off by 0.3, the values of the first by 0.1 from its mean
    assert parts.reliability == pytest.approx(0.09)
    assert parts.resolution == pytest.approx(0, abs=1e-15)
    assert parts.within_bin_variance == pytest.approx(0.005)


def test_quantile_bins_are_of_equal_weight():
    curve = curve_of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], 2, "quantile", sample_weight=[3, 1, 1, 1])
    assert curve.edges.tolist() == [0, 0.1, 1]
    assert curve.counts.tolist() == [3, 3]


@FEWER
@given(probability_cases((1.0, 2.0, 3.0, 7.0)), n_bins, strategies, st.sampled_from([0.1, 0.3, 1 / 3, 1e-200, 1e200]))
def test_the_unit_of_the_weights_changes_no_bin(case, n_bins, strategy, unit):
    options = {"n_bins": n_bins, "strategy": strategy}
    one = CalibrationCurve.from_counts(counts_of(case), **options)
    other = CalibrationCurve.from_counts(counts_of(case._replace(weights=case.weights * unit)), **options)
    assert one.edges.tolist() == other.edges.tolist()
    np.testing.assert_allclose(other.counts, one.counts * unit, rtol=1e-14)
    np.testing.assert_allclose(other.mean_predicted, one.mean_predicted, rtol=1e-14)
    np.testing.assert_allclose(other.fraction_of_positives, one.fraction_of_positives, rtol=1e-14)


@pytest.mark.parametrize(("n", "n_bins"), [(5, 5), (9, 3), (14, 7)])
def test_bins_of_equal_rows_do_not_depend_on_how_their_weights_add_up(n, n_bins):
    curve = curve_of(np.arange(n) % 2, np.arange(1, n + 1) / 100, n_bins, "quantile", sample_weight=[0.1] * n)
    np.testing.assert_allclose(curve.counts, np.full(n_bins, n / n_bins * 0.1), rtol=1e-14)


def test_minus_0_is_0():
    curve = curve_of([0, 1, 1], [-0.0, -0.0, 0.5], 2, "quantile")
    assert curve.edges.tolist() == [0, 0, 1]
    assert not np.signbit(curve.edges).any()
    assert log_loss(Ranking([0, 1], [-0.0, 0.5]).counts) == math.log(2) / 2


def test_empty_bins_are_nan_and_errors_pass_over_them():
    curve = curve_of([0, 1, 1, 0], [0.05, 0.05, 0.95, 0.95], 5)
    np.testing.assert_array_equal(curve.mean_predicted, [0.05, math.nan, math.nan, math.nan, 0.95])
    np.testing.assert_array_equal(curve.fraction_of_positives, [0.5, math.nan, math.nan, math.nan, 0.5])
    assert curve.counts.tolist() == [2, 0, 0, 0, 2]
    assert curve.expected_calibration_error == pytest.approx(0.45)
    assert curve.maximum_calibration_error == pytest.approx(0.45)


def test_perfectly_calibrated_forecasts_have_no_error():
    y = [1, 0, 0, 0, 1, 1, 1, 0]
    curve = curve_of(y, [0.25] * 4 + [0.75] * 4)
    assert curve.expected_calibration_error == curve.maximum_calibration_error == 0
    assert curve.root_mean_square_calibration_error == 0


@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label):
    counts = Ranking([label] * 3, [0.1, 0.5, 0.6], pos_label=1).counts
    right = np.array([0.1, 0.5, 0.6]) if label else 1 - np.array([0.1, 0.5, 0.6])
    assert brier_score(counts) == pytest.approx(np.mean((1 - right) ** 2))
    assert log_loss(counts) == pytest.approx(-np.mean(np.log(right)))
    curve = CalibrationCurve.from_counts(counts, n_bins=2)
    assert curve.fraction_of_positives.tolist() == [label, label]
    for parts in (brier_decomposition(counts), brier_decomposition(counts, n_bins=2)):
        assert (parts.resolution, parts.uncertainty, parts.within_bin_covariance) == (0, 0, 0)
        assert parts.reliability + parts.within_bin_variance == pytest.approx(parts.brier_score)


# The Brier score in parts -----------------------------------------------------------------------------------------


@pytest.mark.slow
@BOUNDED
@given(any_cases, st.just(EACH) | n_bins, strategies)
def test_parts_are_those_by_row_and_add_up(case, n_bins, strategy):
    counts = counts_of(case)
    strategy = "quantile" if n_bins == EACH else strategy
    if case.weights is not None and strategy == "quantile" and set(case.weights) & {0.1, 0.3, 0.7, 1.1, 3.3, 1e-3}:
        strategy = "uniform"  # rounding then decides a share of k / n_bins
    parts = brier_decomposition(counts, n_bins=n_bins, strategy=strategy)
    own_bins = strategy == "quantile" and counts.thresholds.size - 1 <= n_bins
    slow = reference.brier_parts(None if own_bins else edges_of(case, n_bins, strategy), *case)
    for name, value in slow._asdict().items():
        assert getattr(parts, name) == pytest.approx(float(value), rel=1e-13, abs=1e-15), name
    assert parts.brier_score == brier_score(counts)
    whole = parts.reliability - parts.resolution + parts.uncertainty
    assert whole + parts.within_bin_variance - parts.within_bin_covariance == pytest.approx(
        parts.brier_score, abs=1e-15
    )
    generalized = parts.reliability - parts.generalized_resolution + parts.uncertainty
    assert generalized == pytest.approx(parts.brier_score, abs=1e-15)
    assert min(parts.reliability, parts.resolution, parts.uncertainty, parts.within_bin_variance) >= 0


def test_perfectly_calibrated_forecasts_have_reliability_0():
    y = [1, 0, 0, 0, 1, 1, 1, 0]
    parts = brier_decomposition(Ranking(y, [0.25] * 4 + [0.75] * 4).counts)
    assert parts.to_dict() == {
        "brier_score": 0.1875,
        "reliability": 0,
        "resolution": 0.0625,
        "uncertainty": 0.25,
        "within_bin_variance": 0,
        "within_bin_covariance": 0,
        "generalized_resolution": 0.0625,
    }


@pytest.mark.parametrize("n_bins", [EACH, 1, 10])
@pytest.mark.parametrize("options", [{}, {"sample_weight": [0.1, 0.3, 0.7]}])
def test_a_constant_forecast_has_resolution_0(n_bins, options):
    parts = brier_decomposition(Ranking([0, 1, 1], [0.3] * 3, **options).counts, n_bins=n_bins)
    assert (parts.resolution, parts.within_bin_variance, parts.within_bin_covariance) == (0, 0, 0)
    base = 2 / 3 if not options else 10 / 11
    assert parts.uncertainty == pytest.approx(base * (1 - base), rel=1e-15)
    assert parts.reliability == pytest.approx((base - 0.3) ** 2, rel=1e-15)


def test_a_calibrated_model_is_not_said_to_be_unreliable():
    rng = np.random.default_rng(5)
    p = rng.beta(1, 5, 4000)
    y = rng.random(p.size) < p  # calibrated, so chance alone exceeds 0: up to k * uncertainty / n
    counts = Ranking(y, p).counts
    parts, finest = brier_decomposition(counts), brier_decomposition(counts, n_bins=EACH)
    assert parts.reliability < 2 * 10 * parts.uncertainty / p.size
    assert parts.resolution == pytest.approx(np.var(p), rel=0.2)  # the variance of the true probabilities
    assert finest.reliability == pytest.approx(parts.brier_score, rel=1e-12)  # each row is its own bin
    assert parts == brier_decomposition(counts, n_bins=10, strategy="quantile")
    assert brier_decomposition(counts, n_bins=EACH) == finest != parts
    whole = parts.reliability - parts.resolution + parts.uncertainty
    whole += parts.within_bin_variance - parts.within_bin_covariance
    assert whole == pytest.approx(parts.brier_score, abs=1e-15)


def test_few_forecasts_are_each_a_bin():
    y, p = np.tile([0, 0, 1], 40), np.repeat(np.arange(10) / 16, 12)
    counts = Ranking(y, p).counts
    assert brier_decomposition(counts) == brier_decomposition(counts, n_bins=EACH)
    assert brier_decomposition(counts, strategy="uniform").within_bin_variance > 0


def test_the_base_rate_as_forecast_scores_the_uncertainty():
    parts = brier_decomposition(Ranking([0, 1, 1, 1], [0.75] * 4).counts)
    assert (parts.brier_score, parts.reliability, parts.resolution, parts.uncertainty) == (0.1875, 0, 0, 0.1875)


# Large inputs -----------------------------------------------------------------------------------------------------


def large(weight: float | None) -> tuple[ThresholdCounts, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    p = rng.integers(1, 150_000, 200_000) / 150_000
    y = rng.random(p.size) < p
    options = {} if weight is None else {"sample_weight": np.full(p.size, weight)}
    return Ranking(y, p, **options).counts, y, p


@pytest.mark.cases(2)
@pytest.mark.parametrize("weight", [None, 0.1, 1e-300, 1e300])
def test_sums_over_many_blocks_are_accurate(weight):
    counts, y, p = large(weight)
    n, gaps = p.size, p - y
    assert brier_score(counts) == pytest.approx(math.fsum(gaps * gaps) / n, rel=1e-13)
    assert log_loss(counts) == pytest.approx(-math.fsum(np.log(1 - np.abs(gaps))) / n, rel=1e-13)
    curve = CalibrationCurve.from_counts(counts, n_bins=7)
    which = np.ceil(p * 7).astype(int) - 1
    means = [math.fsum(p[which == k]) / np.count_nonzero(which == k) for k in range(7)]
    np.testing.assert_allclose(curve.mean_predicted, means, rtol=1e-12)
    np.testing.assert_allclose(curve.fraction_of_positives, [y[which == k].mean() for k in range(7)], rtol=1e-12)
    for options in ({}, {"n_bins": 7}, {"n_bins": 1_000, "strategy": "quantile"}):
        parts = brier_decomposition(counts, **options)
        whole = parts.reliability - parts.resolution + parts.uncertainty
        whole += parts.within_bin_variance - parts.within_bin_covariance
        assert whole == pytest.approx(parts.brier_score, abs=1e-15)


def test_parts_over_many_distinct_forecasts_survive_unlike_weights():
    rng = np.random.default_rng(4)
    p = rng.permutation(100_000) / 100_000
    y, w = rng.random(p.size) < p, rng.choice([1e-3, 0.1, 0.7, 1e3], p.size)
    counts = Ranking(y, p, sample_weight=w).counts
    total = math.fsum(w)
    assert brier_score(counts) == pytest.approx(math.fsum(w * (p - y) ** 2) / total, rel=1e-12)
    parts, base = brier_decomposition(counts, n_bins=EACH), math.fsum(w * y) / total
    assert parts.reliability == pytest.approx(parts.brier_score, rel=1e-12)  # each forecast has one row
    assert parts.resolution == pytest.approx(base * (1 - base), rel=1e-12)


@pytest.mark.parametrize("weight", [None, 0.1])
def test_results_are_the_same_bits_at_any_number_of_threads(weight):
    counts, *_ = large(weight)

    def results() -> list[object]:
        curves = [CalibrationCurve.from_counts(counts, n_bins=30, strategy=strategy) for strategy in STRATEGIES]
        arrays = [curve.to_dict() for curve in curves]
        return [brier_score(counts), log_loss(counts), brier_decomposition(counts, n_bins=9), *arrays]

    with fastevals.num_threads(1):
        alone = results()
    with fastevals.num_threads(5):
        assert results() == alone


# As results -------------------------------------------------------------------------------------------------------


def test_the_curve_unpacks_in_the_order_of_scikit_learn():
    curve = curve_of([0, 1, 1], [0.1, 0.4, 0.8])
    fraction_of_positives, mean_predicted = curve
    assert fraction_of_positives is curve.fraction_of_positives
    assert mean_predicted is curve.mean_predicted


def test_the_curve_as_a_result():
    curve = curve_of([0, 1, 1], [0.25, 0.5, 1.0], 2)
    assert repr(curve) == "CalibrationCurve(2 bins, expected_calibration_error=0.0833333)"
    assert repr(curve_of([0, 1], [0.5, 0.5], 1)) == "CalibrationCurve(1 bin, expected_calibration_error=0)"
    assert curve.to_dict() == {
        "fraction_of_positives": [0.5, 1.0],
        "mean_predicted": [0.375, 1.0],
        "counts": [2, 1],
        "edges": [0.0, 0.5, 1.0],
        "defined": True,
        "expected_calibration_error": curve.expected_calibration_error,
        "maximum_calibration_error": 0.125,
        "root_mean_square_calibration_error": curve.root_mean_square_calibration_error,
        "calibration_error_by_chance": curve.calibration_error_by_chance,
    }
    for clone in (copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert clone.to_dict() == curve.to_dict()
        for array in (*clone, clone.counts, clone.edges):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    with pytest.raises(AttributeError):
        curve.edges = np.zeros(3)


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [brier_score, log_loss, brier_decomposition, CalibrationCurve.from_counts],
    ids=lambda function: function.__qualname__,
)
@pytest.mark.parametrize(
    ("scores", "seen"),
    [([0.5, 1.5], "1.5"), ([-0.25, 0.5], "-0.25"), ([-3, 7], "-3"), ([0.5, np.nextafter(1, 2)], "1.0000000000000002")],
)
def test_scores_outside_0_to_1_are_an_error(function, scores, seen):
    with pytest.raises(ValueError, match=rf"y_score must hold probabilities, in \[0, 1\], got {seen}"):
        function(Ranking([0, 1], scores).counts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 0}, "n_bins must be an integer from 1 to 1000000, got 0"),
        ({"n_bins": 10**9}, "n_bins must be an integer from 1 to 1000000, got 1000000000"),
        ({"n_bins": 2.5}, "n_bins must be an integer, got 2.5"),
        ({"n_bins": 3, "strategy": "kmeans"}, "strategy must be one of 'uniform', 'quantile'; got 'kmeans'"),
    ],
)
def test_bad_options(options, message):
    counts = Ranking([0, 1], [0.1, 0.2]).counts
    for function in (CalibrationCurve.from_counts, brier_decomposition):
        with pytest.raises(ValueError, match=message):
            function(counts, **options)


def test_counts_without_rows_have_no_value():
    counts = ThresholdCounts(np.array([math.inf]), np.array([0]), np.array([0]))
    assert math.isnan(brier_score(counts))
    assert math.isnan(log_loss(counts))
    assert math.isnan(brier_decomposition(counts).reliability)
    for strategy in STRATEGIES:
        curve = CalibrationCurve.from_counts(counts, n_bins=3, strategy=strategy)
        assert curve.counts.sum() == 0
        assert math.isnan(curve.expected_calibration_error)
        assert math.isnan(curve.maximum_calibration_error)


def test_groups_without_weight_are_no_groups():
    # As in a bootstrap replicate, which keeps the thresholds and changes the rows.
    thresholds = np.array([math.inf, 1.0, 0.75, 0.5, 0.0])
    full = ThresholdCounts(thresholds, np.array([0, 0, 2, 2, 2]), np.array([0, 0, 1, 3, 3]))
    short = full.take(np.array([0, 2, 3]))
    for function in (brier_score, log_loss, brier_decomposition):
        assert function(full) == function(short)
    for strategy in STRATEGIES:
        one, other = (CalibrationCurve.from_counts(c, n_bins=4, strategy=strategy) for c in (full, short))
        np.testing.assert_array_equal(one.mean_predicted, other.mean_predicted)
        np.testing.assert_array_equal(one.edges, other.edges)


def test_fractions_of_the_twin_by_hand():
    y, p = [0, 1, 1], [0.25, 0.5, 1.0]
    assert reference.brier_score(y, p) == Fraction(5, 48)
    assert reference.quantile_edges(3, y, p) == [0, 0.25, 0.5, 1]
    assert reference.brier_parts([0, 0.5, 1], y, p) == tuple(
        Fraction(numerator, 96) for numerator in (1, 48 * Fraction(1, 9), 192 * Fraction(1, 9), 1, 8)
    )


def test_a_bin_of_no_weight_beside_the_rest_counts_for_nothing():
    y, p = np.array([0, 1, 1, 0]), np.array([0.15, 0.25, 0.95, 0.45])
    curve = Ranking(y, p, sample_weight=np.where(y == 1, 1e200, 1e-200)).calibration_curve()
    assert curve.expected_calibration_error == pytest.approx((0.75 + 0.05) / 2)
