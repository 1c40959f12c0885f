"""Calibration of one model: numbers against their slow twins, subjects, weights, clusters, segments, and odd data."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import Ranking, UndefinedMetricWarning, calibration
from fastevals.scale import ProbabilitySummary, RankingSummary
from tests.reference import recalibration as reference
from tests.strategies import BOUNDED

QUANTITIES = {"log_ratio": "ratio", "intercept": "intercept", "slope_intercept": "slope_intercept", "slope": "slope"}


def forecasts(n: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Return outcomes and probabilities in hundredths, that are too low and tied."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(2, 3, n), 2)
    return (rng.random(n) < np.clip(1.2 * p, 0, 1)).astype(int), p


def assert_equals_twin(found: Any, rows: list[reference.Row], *, clustered: bool = False) -> None:
    line, level = reference.fit(rows, slope=True), reference.fit(rows, slope=False)
    values = {
        "log_ratio": reference.log_ratio(rows),
        "intercept": level[0],
        "slope_intercept": line[0],
        "slope": line[1],
    }
    errors = reference.jackknife(rows)
    for name, attribute in QUANTITIES.items():
        estimate = getattr(found, attribute)
        value = math.log(estimate.value) if name == "log_ratio" else estimate.value
        error = estimate.standard_error / (estimate.value if name == "log_ratio" else 1)
        assert value == pytest.approx(values[name], rel=1e-9, abs=1e-9)
        assert error == pytest.approx(errors[name], rel=1e-7)
    assert tuple(found.spiegelhalter) == pytest.approx(reference.spiegelhalter(rows, clustered=clustered), rel=1e-9)
    assert found.predicted == pytest.approx(sum(row.weight * row.p for row in rows), rel=1e-12)
    assert found.observed == pytest.approx(sum(row.weight * row.y for row in rows), rel=1e-12)


@BOUNDED
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_equals_the_twin(seed: int, weighted: bool, clustered: bool) -> None:
    y, p = forecasts(36, seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, y.size) / 3 if weighted else None
    clusters = rng.integers(0, 12, y.size) if clustered else None
    rows = reference.rows_of(y.tolist(), p.tolist(), weights, clusters)
    assert_equals_twin(calibration(y, p, sample_weight=weights, groups=clusters), rows, clustered=clustered)


def test_the_line_is_a_logistic_regression_on_log_odds() -> None:
    y, p = [0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.2, 0.8, 0.7, 0.3, 0.6]
    found = calibration(y, p)
    sklearn = pytest.importorskip("sklearn.linear_model")
    x = np.log(np.array(p) / (1 - np.array(p)))[:, None]
    model = sklearn.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, y)
    assert found.slope.value == pytest.approx(model.coef_[0, 0], rel=1e-5)
    assert found.slope_intercept.value == pytest.approx(model.intercept_[0], rel=1e-5)


@pytest.mark.parametrize("kind", ["Ranking", "ThresholdCounts", "RankingSummary", "ProbabilitySummary", "copies"])
def test_counts_give_the_numbers_of_the_rows(kind: str) -> None:
    y, p = forecasts(400)
    expected = calibration(y, p, strategy="uniform")
    ranking = Ranking(y, p)
    summaries = {"RankingSummary": RankingSummary(), "ProbabilitySummary": ProbabilitySummary()}
    for each in summaries.values():
        each.update(y, p)
    subject = {"Ranking": ranking, "ThresholdCounts": ranking.counts, **summaries}.get(kind)
    if kind == "copies":
        pairs, copies = np.unique(np.stack([y, p]), axis=1, return_counts=True)
        found = calibration(*pairs, frequency_weight=copies, strategy="uniform")
    else:
        found = calibration(subject, strategy="uniform")
    for name in (*QUANTITIES.values(), "spiegelhalter"):
        one, other = getattr(found, name), getattr(expected, name)
        value = (one.statistic, other.statistic) if name == "spiegelhalter" else (one.value, other.value)
        assert value[0] == pytest.approx(value[1], rel=1e-9)
        if name != "spiegelhalter":
            assert one.confidence_interval == pytest.approx(other.confidence_interval, rel=1e-9)
    np.testing.assert_allclose(found.bins.low, expected.bins.low, rtol=1e-9)


def test_weights_and_squares_of_a_summary_give_the_numbers_of_the_rows() -> None:
    y, p = forecasts(400)
    weights = 1 + np.arange(400) % 3
    p = p + np.arange(400) / 1e6  # so that no two rows tie
    summary = RankingSummary()
    summary.update(y, p, sample_weight=weights)
    found, expected = calibration(summary), calibration(y, p, sample_weight=weights)
    for name in QUANTITIES.values():
        one, other = getattr(found, name), getattr(expected, name)
        assert (one.value, *one.confidence_interval) == pytest.approx(
            (other.value, *other.confidence_interval), rel=1e-9
        )
    assert (found.n_samples, found.observed) == (400, expected.observed)
    np.testing.assert_allclose(found.bins.high, expected.bins.high, rtol=1e-9)
    with pytest.raises(ValueError, match="y_true must count rows, but has weights"):
        calibration(Ranking(y, p, sample_weight=weights))


def test_equal_weights_and_their_unit_change_nothing() -> None:
    y, p = forecasts()
    plain = calibration(y, p)
    for unit in (3.0, 1e-200, 1e200):
        found = calibration(y, p, sample_weight=np.full(y.size, unit))
        assert found.slope.confidence_interval == pytest.approx(plain.slope.confidence_interval, rel=1e-9)
        assert found.ratio.confidence_interval == pytest.approx(plain.ratio.confidence_interval, rel=1e-9)
        assert found.predicted == pytest.approx(unit * plain.predicted)
        assert found.spiegelhalter.statistic == pytest.approx(plain.spiegelhalter.statistic)
        np.testing.assert_allclose(found.bins.low, plain.bins.low)


def test_weights_too_far_apart_to_square() -> None:
    y, p = forecasts(200)
    with pytest.warns(UndefinedMetricWarning, match=r"\(intercept\) is undefined"):
        found = calibration(y, p, sample_weight=np.where(y == 1, 1e-30, 1e300))
    assert (found.n_positives, found.n_negatives) == (y.sum(), 200 - y.sum())
    assert found.observed == pytest.approx(1e-30 * y.sum())
    assert found.predicted == pytest.approx(1e300 * p[y == 0].sum())
    with pytest.warns(UndefinedMetricWarning, match="there are no positives"):  # less than the smallest double
        found = calibration(y, p, sample_weight=np.where(y == 1, 1e-300, 1e300))
    assert (found.n_positives, found.observed) == (0, 0)


def test_many_rows_thin_first_and_find_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from fastevals.infer.calibration import estimates

    y, p = forecasts(5000)
    p = p + np.linspace(0, 1e-3, 5000)
    expected = calibration(y, p)
    monkeypatch.setattr(estimates, "ROWS_PER_BLOCK", 8)
    found = calibration(y, p)
    assert found.slope.value == pytest.approx(expected.slope.value, rel=1e-12)
    assert found.intercept.value == pytest.approx(expected.intercept.value, rel=1e-12)


def test_same_bits_at_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    y, groups = rng.random(p.size) < p, rng.integers(0, 500, p.size)
    for options in ({}, {"groups": groups}):
        several = [calibration(y, p, **options).to_dict()]
        with fastevals.num_threads(1):
            several.append(calibration(y, p, **options).to_dict())
        assert several[0] == several[1]


def test_extremes_that_agree_add_nothing_to_the_line_and_others_are_counted() -> None:
    y, p = forecasts()
    more_y, more_p = [*y, 0, 0, 1], [*p, 0.0, 0.0, 1.0]
    found, plain = calibration(more_y, more_p), calibration(y, p)
    assert (found.slope.value, found.intercept.value) == pytest.approx((plain.slope.value, plain.intercept.value))
    assert found.predicted == pytest.approx(plain.predicted + 1)
    with pytest.warns(UndefinedMetricWarning, match="2 rows with probability 0 or 1 have the other outcome"):
        found = calibration([*more_y, 1, 0], [*more_p, 0.0, 1.0])
    assert math.isnan(found.slope.value)
    assert any(each.startswith("The intercept and slope are undefined: 2 rows") for each in found.cautions)
    assert found.ratio.value == pytest.approx((plain.predicted + 2) / (plain.observed + 2))


@pytest.mark.parametrize(
    ("y", "p", "undefined", "reason"),
    [
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], {"slope"}, "a threshold separates the classes"),
        ([0, 0, 1, 1], [0.4, 0.3, 0.3, 0.2], {"slope"}, "a threshold separates the classes"),
        ([0, 1, 1, 0], [0.3] * 4, {"slope"}, "all rows have the same probability"),
        ([1, 1], [0.3, 0.4], {"slope", "intercept"}, "there are no negatives"),
        ([0, 0], [0.3, 0.4], {"slope", "intercept", "ratio"}, "there are no positives"),
        ([0, 1, 1], [0.3, 1.0, 1.0], {"slope", "intercept"}, "all positives have probability 1"),
        ([1], [0.5], {"slope", "intercept"}, "there are no negatives"),
    ],
)
def test_undefined_estimates_say_why(y: Any, p: Any, undefined: set[str], reason: str) -> None:
    with pytest.warns(UndefinedMetricWarning, match=reason):
        found = calibration(y, p)
    for name in ("ratio", "intercept", "slope"):
        assert math.isnan(getattr(found, name).value) == (name in undefined)
    assert any(reason in each for each in found.cautions)
    assert found.to_text()
    assert len(found.bins) >= 1


def test_equal_probabilities_of_a_half_leave_spiegelhalter_undefined() -> None:
    with pytest.warns(UndefinedMetricWarning):
        found = calibration([0, 1, 1, 0], [0.5] * 4)
    assert math.isnan(found.spiegelhalter.pvalue)
    assert found.ratio.value == 1


def test_extreme_probabilities_still_have_a_line() -> None:
    """Newton's method from calibrated probabilities would leave the floats: the line is found from a constant."""
    p = 10.0 ** -np.arange(0.5, 300, 10)
    y = np.arange(p.size) % 3 % 2
    found = calibration(y, p)
    x = np.log(p / (1 - p))
    chance = 1 / (1 + np.exp(-(found.slope_intercept.value + found.slope.value * x)))
    assert [(y - chance).sum(), ((y - chance) * x).sum()] == pytest.approx([0, 0], abs=1e-6)
    assert 0 < abs(found.slope.value) < 0.01


def test_probabilities_of_0_and_1_that_are_wrong_are_not_called_calibrated() -> None:
    with pytest.warns(match="40 rows with probability 0 or 1 have the other outcome"):
        found = calibration([0, 1] * 20, [1.0, 0.0] * 20)
    assert found.ratio.value == 1
    assert (found.spiegelhalter.statistic, found.spiegelhalter.pvalue) == (math.inf, 0)
    assert found.miscalibrated == ("spiegelhalter",)


@pytest.mark.parametrize("certain", [False, True])
def test_a_few_positives_do_not_call_calibrated_slopes_off(certain: bool) -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(100):
        p = 0.03 * np.exp(0.2 * rng.normal(size=100))
        if 1 < (y := rng.random(100) < p).sum() < 5:
            if certain:
                y, p = np.append(y, [False, True] * 100), np.append(p, [0.0, 1.0] * 100)
            found.append(calibration(y, p, pos_label=True))
    low, high = np.transpose([each.slope.confidence_interval for each in found])
    assert len(found) == 64
    assert sum("slope" in each.miscalibrated for each in found) <= 2  # with as many degrees of freedom as rows: 9
    assert np.mean((low <= 1) & (high >= 1)) >= 0.93  # 0.81


def test_one_cluster_shows_no_variance() -> None:
    y, p = forecasts()
    found = calibration(y, p, groups=np.zeros(y.size))
    assert math.isnan(found.spiegelhalter.pvalue)
    assert math.isnan(found.slope.confidence_interval.low)
    assert found.slope.value == pytest.approx(calibration(y, p).slope.value)
    assert found.cautions[1:] == (
        "The ratio, intercept and slope have no interval: leaving out one cluster makes the estimate undefined.",
    )


def test_segments_have_the_numbers_of_their_rows_and_adjusted_pvalues() -> None:
    y, p = forecasts(600)
    month, product = np.arange(600) % 3, np.where(np.arange(600) % 2, "b", "a")
    weights, groups = 1 + np.arange(600) % 2, np.arange(600) // 4
    found = calibration(y, p, by=month, sample_weight=weights, groups=groups)
    assert found.ratio.to_dict() == calibration(y, p, sample_weight=weights, groups=groups).ratio.to_dict()
    assert list(found.segments) == [0, 1, 2]
    for key, each in found.segments.items():
        rows = month == key
        alone = calibration(y[rows], p[rows], sample_weight=weights[rows], groups=groups[rows])
        assert each.slope.confidence_interval == pytest.approx(alone.slope.confidence_interval, rel=1e-12)
        assert each.n_clusters == alone.n_clusters
    pvalues = [each.ratio.pvalue for each in found.segments.values()]
    np.testing.assert_array_equal(found.segments.ratio_pvalues, fastevals.adjust_pvalues(pvalues))
    both = calibration(y, p, by={"month": month, "product": product}).segments
    assert list(both) == [(m, each) for m in range(3) for each in "ab"]
    columns = both.worst_first().to_frame("pandas")
    smaller = columns[["ratio_adjusted_pvalue", "spiegelhalter_adjusted_pvalue"]].min(axis=1)
    assert list(columns.columns[:2]) == ["month", "product"]
    assert smaller.is_monotonic_increasing
    with pytest.raises(KeyError, match="9: the keys are 0, 1, 2"):
        found.segments[9]


def test_text_has_the_worst_of_many_segments() -> None:
    y, p = forecasts(1500)
    text = calibration(y, p, by=np.arange(1500) % 120).segments.to_text()
    assert "... 20 more of 120 segments" in text
    assert text.count("\n") < 110


def test_a_segment_of_one_class_does_not_hide() -> None:
    y, p = forecasts(400)
    by = np.repeat(["fine", "none"], 200)
    y[by == "none"] = 0
    segments = calibration(y, p, by=by).segments
    assert math.isnan(segments["none"].ratio.value)
    assert list(segments.worst_first()) == ["none", "fine"]
    assert segments["none"].conclusion.startswith(
        f"The model expects {segments['none'].predicted:.3g} positives; 0 happened (p = "
    )


@pytest.mark.parametrize("clustered", [False, True])
def test_the_ratio_of_one_class_has_a_pvalue_but_no_interval(clustered: bool) -> None:
    p = np.full(20, 0.8)
    with pytest.warns(UndefinedMetricWarning, match=r"calibration \(intercept, slope\) is undefined"):
        found = calibration(np.ones(20, int), p, groups=np.arange(20) // 2 if clustered else None)
    assert found.ratio.value == pytest.approx(0.8)
    assert math.isnan(found.ratio.confidence_interval.low)
    z = 4 / math.sqrt(10 * 0.4**2 if clustered else 20 * 0.8 * 0.2)
    assert found.ratio.pvalue == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert "The ratio has no interval: there are no negatives." in found.cautions


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0.2, 1.2]), {}, r"y_prob must hold probabilities, in \[0, 1\], got 1.2"),
        (([0, 1], [0.2, -0.1]), {}, r"y_prob must hold probabilities, in \[0, 1\], got -0.1"),
        (([0, 1], [0.2, math.nan]), {}, "y_prob must be finite, but has 1 NaN value"),
        (([0, 1, 1], [0.2, 0.3]), {}, "y_prob has 2 rows, but y_true has 3"),
        (([0, 1, 2], [0.2, 0.3, 0.4]), {}, "y_true must have two classes, got 3 labels"),
        (([0, 1], [0.2, 0.3]), {"groups": [1]}, "groups has 1 rows, but y_true has 2"),
        (([0, 1], [0.2, 0.3]), {"by": {"a": [1]}}, r"by\['a'\] has 1 rows"),
        (([0, 1], [0.2, 0.3]), {"by": {}}, "by must have a column or more"),
        (([0, 1], [0.2, 0.3]), {"confidence_level": 1}, "confidence_level must be"),
        (([0, 1], [0.2, 0.3]), {"n_bins": 0}, "n_bins must be"),
        (([0, 1], [0.2, 0.3]), {"sample_weight": [1, 1], "frequency_weight": [1, 1]}, "exclude each other"),
        (
            (Ranking([0, 1], [0.2, 0.3]),),
            {"groups": [1, 2]},
            "groups requires y_true and y_prob; got it with a Ranking",
        ),
        ((Ranking([0, 1], [2, 3]),), {}, r"y_score must hold probabilities"),
        (([0, 1, 1], [[0.8, 0.2]] * 3), {}, r"got the 2 columns of predict_proba: pass y_prob\[:, 1\]"),
        (([0, 1], [0.2, 0.3]), {"reference": "a"}, "reference requires several models, got 'a'"),
        (([0, 1],), {}, "y_true must be a Ranking, RankingSummary or ThresholdCounts"),
    ],
)
def test_bad_input_names_the_argument(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration(*arguments, **options)


def test_results_can_be_pickled_and_keep_their_bins() -> None:
    y, p = forecasts()
    found = calibration(y, p, by=np.arange(y.size) % 2)
    p[:] = 0  # later changes of the arrays change nothing
    copy = pickle.loads(pickle.dumps(found))
    assert copy.to_dict() == found.to_dict()
    assert copy.segments[1].bins.to_dict() == found.segments[1].bins.to_dict()


def test_tiny_probabilities_have_all_numbers_without_other_warnings() -> None:
    with pytest.warns(UndefinedMetricWarning, match="there are no positives"):
        found = calibration([0] * 6, [1e-242, 1e-146, 1e-159, 1e-311, 1e-65, 0.01], by=[0, 0, 0, 1, 1, 1])
    assert found.to_dict()["predicted"] == pytest.approx(0.01)


def test_a_result_without_rows_has_what_was_kept() -> None:
    whole = calibration(*forecasts())
    found = whole.without_rows(["error"])
    assert found.error.to_dict() == whole.error.to_dict()
    with pytest.raises(ValueError, match="made without its rows"):
        _ = found.bins
