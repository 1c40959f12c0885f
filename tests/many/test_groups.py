"""Metrics by group and their intervals, against each group alone."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import warnings
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import ConfusionMatrix, GroupedMetric, Ranking, grouped_auc, grouped_metrics, metric
from fastevals.counting import groups as counted_groups
from fastevals.many import group_bootstrap as groups_bootstrap
from fastevals.many import group_scores as by_group
from fastevals.many import group_values
from fastevals.measure.metric_specs import parse_metric, ranking_metric
from fastevals.measure.registry import METRICS, SCORE_METRICS
from tests.infer.bootstrap.test_replicates import BY_ANOTHER, CHOSEN, PARTIAL
from tests.reference import delong as reference_delong
from tests.reference import ranking as reference
from tests.reference.groups import mean, rows_by_group, values_by_group
from tests.strategies import BOUNDED, DYADIC_WEIGHTS, EXTREME, FEWER, ORDINARY
from tests.test_validation import ODD_SCALARS, complaint

FEW_METRICS = ["roc_auc", "gini", "rank_loss", "average_precision", "ks_statistic", "log_loss",
               metric("f1", threshold=0.25), metric("expected_cost", threshold=0.5, cost_fn=3.0)]  # fmt: skip
ALL_METRICS = [
    *(metric(name, threshold=0.25) if each.of == "cells" else name for name, each in SCORE_METRICS.items()),
    *PARTIAL, *CHOSEN, *BY_ANOTHER,
]  # fmt: skip


@st.composite
def grouped_cases(draw: st.DrawFn, weights: bool = False) -> tuple[Any, ...]:
    """Draw labels, scores, groups and, with `weights`, row weights that are not all zero."""
    pool = draw(st.sampled_from([ORDINARY, EXTREME, ORDINARY[:2]]))
    row = st.tuples(st.integers(0, 1), st.sampled_from(pool), st.integers(0, 3), st.sampled_from(DYADIC_WEIGHTS))
    rows = draw(st.lists(row, min_size=1, max_size=24))
    y_true, y_score, groups, row_weights = map(np.array, zip(*rows, strict=True))
    if not weights:
        return y_true, y_score, groups, None
    row_weights[draw(st.integers(0, len(rows) - 1))] = 1.5
    return y_true, y_score, groups, row_weights


def quiet(call: Any, *given_arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        return call(*given_arguments, **options)


@BOUNDED
@given(st.one_of(grouped_cases(), grouped_cases(weights=True)))
def test_auc_of_each_group_and_its_means(case: Any) -> None:
    y_true, y_score, groups, weights = case
    found = quiet(grouped_auc, y_true, y_score, groups, sample_weight=weights)
    ones = np.ones(groups.size) if weights is None else weights
    columns = groups.tolist(), y_true.tolist(), y_score.tolist(), ones.tolist()
    expected = values_by_group(reference.roc_auc, *columns)
    assert found.groups.tolist() == list(expected)
    np.testing.assert_array_equal(found.values, list(expected.values()))
    rows = rows_by_group(*columns)
    totals = {key: sum(w for *_, w in each) for key, each in rows.items()}
    assert found.weights.tolist() == list(totals.values())
    assert found.n_positives.tolist() == [sum(y == 1 and w > 0 for y, _, w in each) for each in rows.values()]
    assert found.n_negatives.tolist() == [sum(y == 0 and w > 0 for y, _, w in each) for each in rows.values()]
    assert (found.n_samples == found.n_positives + found.n_negatives).all()
    np.testing.assert_allclose(found.mean, mean(expected, totals), rtol=1e-14)
    np.testing.assert_allclose(found.macro_mean, mean(expected, dict.fromkeys(expected, 1)), rtol=1e-14)
    assert found.n_undefined == np.count_nonzero(np.isnan(found.values))


in_loops = pytest.mark.parametrize("few", [0, group_values.FEW_GROUPS], ids=["loops", "one by one"])


def check_metrics(asked: list[Any], case: Any, few: int) -> None:
    y_true, y_score, groups, weights = case
    y_score = np.clip(y_score, 0, 1)
    with mock.patch.object(group_values, "FEW_GROUPS", few):
        found = quiet(grouped_metrics, y_true, y_score, groups, asked, sample_weight=weights)
    ones = np.ones(groups.size) if weights is None else weights
    for g, key in enumerate(found["roc_auc"].groups):
        here = (groups == key) & (ones > 0)
        if not here.any():
            assert all(math.isnan(each.values[g]) for each in found.values())
            continue
        options = {} if weights is None else {"sample_weight": weights[here]}
        ranking = Ranking(y_true[here], y_score[here], pos_label=1, **options)
        for each in asked:
            value = ranking_metric(parse_metric("metrics", each)[1]).of_counts(ranking.counts)
            np.testing.assert_allclose(found[str(each)].values[g], value, rtol=4e-16, atol=2.3e-16, err_msg=str(each))


@in_loops
@FEWER
@given(case=st.one_of(grouped_cases(), grouped_cases(weights=True)))
def test_metrics_are_those_of_a_ranking_of_the_group(few: int, case: Any) -> None:
    check_metrics(FEW_METRICS, case, few)


@pytest.mark.slow
@in_loops
@BOUNDED
@given(case=st.one_of(grouped_cases(), grouped_cases(weights=True)))
def test_every_metric_is_that_of_a_ranking_of_the_group(few: int, case: Any) -> None:
    weights = case[-1]
    specs = {each: parse_metric("metrics", each)[1] for each in ALL_METRICS}
    asked = [each for each, spec in specs.items() if weights is None or METRICS[spec.name].takes_weights]
    check_metrics(asked, case, few)


OF_COUNTS = ["average_precision", "ks_statistic", "equal_error_rate", "equal_error_rate_on_hull",
             "break_even_point", metric("f1", best="f1"), metric("recall", best="informedness"),
             metric("precision", recall=0.3), metric("precision", n_predicted=9)]  # fmt: skip


@pytest.mark.cases(2)
@pytest.mark.parametrize("each", OF_COUNTS, ids=str)
def test_metrics_of_counts_have_the_bits_of_a_ranking(each: Any) -> None:
    rng = np.random.default_rng(10)
    y_true, y_score, groups = rng.integers(0, 2, 9000), rng.integers(0, 40, 9000), rng.integers(0, 300, 9000)
    (found,) = quiet(grouped_metrics, y_true, y_score, groups, each).values()
    of_counts = ranking_metric(parse_metric("metrics", each)[1]).of_counts
    expected = [of_counts(Ranking(y_true[groups == key], y_score[groups == key]).counts) for key in found.groups]
    np.testing.assert_array_equal(found.values, expected)


@pytest.mark.cases(1)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_groups_of_any_size(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_groups, "ROWS_PER_TASK", 500)
    rng = np.random.default_rng(11)
    groups = np.minimum(rng.geometric(0.02, 4000), 250) % 200  # of 1 to 80 rows, several spans
    y_true, y_score = rng.integers(0, 2, 4000), rng.integers(0, 65, 4000) / 64
    weights = rng.random(4000) if weighted else None
    asked = ["brier_score", "log_loss", "expected_calibration_error", "pr_auc", "cost_area", "ks_statistic"]
    found = quiet(grouped_metrics, y_true, y_score, groups, asked, sample_weight=weights)
    for name in asked:
        for key, value in found[name]:
            here = groups == key
            options = {} if weights is None else {"sample_weight": weights[here]}
            counts = Ranking(y_true[here], y_score[here], pos_label=1, **options).counts
            np.testing.assert_allclose(value, SCORE_METRICS[name](counts), rtol=1e-13, atol=1e-15, err_msg=name)


def test_what_is_rounded_up_stays_within_bounds() -> None:
    weights = [2.0**51 + 3, 2.0**53 + 2.0**51 - 2, 1.0]  # added in two steps, these exceed their sum
    rows = np.arange(150).repeat(3)
    found = grouped_metrics(
        np.ones(450, int), [2, 1, 1] * 150, rows, metric("false_negative_rate", best="f1"), sample_weight=weights * 150
    )
    assert next(iter(found.values())).values.tolist() == [0.0] * 150


@in_loops
def test_functions_take_the_counts_of_a_ranking(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_values, "FEW_GROUPS", few)
    y_true, y_score, groups = np.array([0, 1, 1, 0, 1, 0]), np.array([1, 8, 3, 3, 8, 3]), np.array([2, 2, 2, 2, 5, 5])
    taken: list[Any] = []
    for weights in (None, np.array([1, 2, 0.5, 1, 0.25, 3])):
        taken.clear()
        quiet(grouped_metrics, y_true, y_score, groups, lambda counts: taken.append(counts) or 0, sample_weight=weights)
        for counts, key in zip(taken, (2, 5), strict=True):
            here = groups == key
            options = {} if weights is None else {"sample_weight": weights[here]}
            expected = Ranking(y_true[here], y_score[here], pos_label=1, **options).counts
            for name in ("thresholds", "tps", "fps"):
                np.testing.assert_array_equal(getattr(counts, name), getattr(expected, name), strict=True)


def test_weights_far_from_one_beside_others() -> None:
    rng = np.random.default_rng(12)
    groups = np.repeat(np.arange(150), 8)
    y_true, y_score = rng.integers(0, 2, groups.size), rng.integers(0, 9, groups.size) / 8
    weights = rng.integers(1, 5, groups.size).astype(float)
    asked = ["ks_statistic", "equal_error_rate", "cost_area", metric("matthews", best="f1")]
    plain = quiet(grouped_metrics, y_true, y_score, groups, asked, sample_weight=weights)
    weights *= np.array([1.0, 2.0**900, 2.0**-900])[groups % 3]
    found = quiet(grouped_metrics, y_true, y_score, groups, asked, sample_weight=weights)
    for each in map(str, asked):
        np.testing.assert_allclose(found[each].values, plain[each].values, rtol=1e-15, atol=2e-16)


def test_function_and_names_of_metrics() -> None:
    y_true, y_score, groups = [0, 1, 1, 0, 1, 0], [0.1, 0.8, 0.3, 0.4, 0.2, 0.3], list("bbbaaa")
    found = grouped_metrics(y_true, y_score, groups, {"one": lambda counts: counts.n_pos, "two": "roc_auc"})
    assert list(found) == ["one", "two"]
    assert found["one"].values.tolist() == [1, 2]
    assert repr(found) == (
        "MetricsByGroup(2 groups, pos_label=1\n  one: GroupedMetric(one of 2 groups: mean=1.5, macro_mean=1.5)"
        "\n  two: GroupedMetric(two of 2 groups: mean=0.5, macro_mean=0.5))"
    )
    assert str(found) == f"{found!r}\n  'a': one=1, two=0\n  'b': one=2, two=1"


@pytest.mark.parametrize("weighted", [False, True])
def test_metrics_of_predicted_labels(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    y_true, y_pred, groups = rng.integers(0, 3, 60), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    options = {"sample_weight": rng.integers(0, 3, 60)} if weighted else {}
    asked = ["accuracy", "cohen_kappa", metric("f1", average="macro")]
    found = quiet(grouped_metrics, y_true, y_pred, groups, asked, **options)
    for g in range(4):
        here = groups == g
        weights = {"sample_weight": options["sample_weight"][here]} if weighted else {}
        one = ConfusionMatrix.from_predictions(y_true[here], y_pred[here], labels=[0, 1, 2], **weights)
        values = one.accuracy(), one.cohen_kappa(), one.f_score(average="macro")
        np.testing.assert_array_equal([each.values[g] for each in found.values()], values)
        assert found["accuracy"].weights[g] == one.counts.sum()
        assert found["accuracy"].n_samples[g] == (weights["sample_weight"] > 0).sum() if weighted else here.sum()
    assert found["accuracy"].n_positives is None
    np.testing.assert_allclose(
        found["accuracy"].mean, ConfusionMatrix.from_predictions(y_true, y_pred, **options).accuracy()
    )


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i1", "u1", ">i8", "u8", "?", "g"])
def test_scores_of_any_type(dtype: str) -> None:
    rng = np.random.default_rng(1)
    y_true, groups = rng.integers(0, 2, 50), rng.integers(0, 3, 50)
    y_score = rng.integers(0, 2 if dtype == "?" else 100, 50).astype(dtype)
    asked = ["roc_auc", "ks_statistic", metric("recall", threshold=0.5), metric("recall", threshold=-math.inf),
             metric("recall", threshold=2.0**64), metric("recall", threshold=50)]  # fmt: skip
    mine, plain = (quiet(grouped_metrics, y_true, s, groups, asked) for s in (y_score, y_score.astype(float)))
    for each in asked:
        np.testing.assert_array_equal(mine[each].values, plain[each].values)


def test_thresholds_between_integers_that_floats_round() -> None:
    scores = np.array([2**63 - 1, 2**63 - 2, 2**63 - 1, -(2**63)])
    for threshold, recalls in ((2**63 - 1, [0, 1]), (2**63 - 2, [1, 1]), (2**63, [0, 0]), (-(2**63), [1, 1])):
        found = grouped_metrics([0, 1, 1, 0], scores, [0, 0, 1, 1], metric("recall", threshold=threshold))
        assert next(iter(found.values())).values.tolist() == recalls


# DeLong -------------------------------------------------------------------------------------------------------------


@BOUNDED
@given(grouped_cases())
def test_delongs_errors_are_those_of_each_group(case: Any) -> None:
    y_true, y_score, groups, _ = case
    found = quiet(grouped_auc, y_true, y_score, groups, interval="delong")
    alone = quiet(grouped_auc, y_true, y_score, groups)
    np.testing.assert_array_equal(found.values, alone.values)
    variances = {}
    for g, key in enumerate(found.groups):
        here = groups == key
        covariance = reference_delong.delong(y_true[here], [y_score[here]])[1] if 0 < y_true[here].mean() < 1 else None
        variances[g] = math.nan if covariance is None else float(covariance[0][0])
    np.testing.assert_allclose(found.standard_errors, np.sqrt(list(variances.values())), rtol=1e-13, atol=1e-160)
    there = ~np.isnan(found.values)
    shares = np.where(there, found.weights, 0) / max(found.weights[there].sum(), 1)
    error = math.sqrt(sum(shares[g] ** 2 * v for g, v in variances.items() if there[g])) if there.any() else math.nan
    np.testing.assert_allclose(found.mean_standard_error, error, rtol=1e-13)


@pytest.mark.parametrize("flipped", [False, True])
def test_delongs_squares_do_not_cancel(flipped: bool) -> None:
    n = 10**4  # rows of a class, equally placed but for one; squares of 1 sum exactly
    y, s = np.append(np.zeros(2), np.ones(n)), np.append([0.0, 1.0], np.full(n, 2.0))
    s[2] = 0.5
    y, s = (1 - y, -s) if flipped else (y, s)
    found = grouped_auc(y, s, np.zeros(n + 2), interval="delong")
    # The large class has placements of 1 and one of 1/2; the other class has 1 and 1 - 1 / n.
    variance = Fraction(1, 4 * n * n) + Fraction(1, 4 * n * n)
    assert found.standard_errors[0] == pytest.approx(math.sqrt(variance), rel=1e-15, abs=0)


def test_delongs_intervals_and_whole_weights() -> None:
    rng = np.random.default_rng(2)
    y_true, groups = rng.integers(0, 2, 100), rng.integers(0, 5, 100)
    y_score, frequencies = y_true + rng.normal(size=100).round(1), rng.integers(0, 4, 100)
    found = grouped_auc(y_true, y_score, groups, interval="delong", confidence_level=0.9, frequency_weight=frequencies)
    reach = 1.6448536269514722 * found.standard_errors
    ends = np.clip([found.values - reach, found.values + reach], 0, 1)
    np.testing.assert_allclose(found.confidence_intervals, ends.T, rtol=1e-14)
    low, high = found.mean_confidence_interval
    shares = found.weights / found.weights.sum()
    assert found.mean_standard_error == pytest.approx(math.sqrt(np.sum((shares * found.standard_errors) ** 2)))
    reach = 1.6448536269514722 * found.mean_standard_error
    np.testing.assert_allclose([low, high], [found.mean - reach, found.mean + reach], rtol=1e-14)
    repeated = (np.repeat(each, frequencies) for each in (y_true, y_score, groups))
    again = grouped_auc(*repeated, interval="delong", confidence_level=0.9)
    np.testing.assert_allclose(again.standard_errors, found.standard_errors, rtol=1e-14)
    np.testing.assert_array_equal(again.values, found.values)
    here = groups == 3
    one = fastevals.delong(y_true[here], y_score[here], frequency_weight=frequencies[here])
    np.testing.assert_allclose(found.standard_errors[3], one.standard_error, rtol=1e-14)


def test_delongs_warnings_and_weights() -> None:
    y_true, y_score, groups = [0, 1, 0, 0, 1, 1, 1, 1], [1, 2, 1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 1, 1, 2, 2]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = grouped_auc(y_true, y_score, groups, interval="delong")
    assert [str(each.message).split(": ")[1] for each in seen] == [
        "1 of 3 groups lack a class, or have a zero denominator",
        "1 of 3 groups have both classes, but not two rows of each",
        "its estimated variance is 0 (1 of 3 groups)",
    ]
    assert {each.filename for each in seen} == {__file__}
    assert found.confidence_intervals[1].tolist() == [1.0, 1.0]
    assert np.isnan(found.confidence_intervals[[0, 2]]).all()
    assert math.isnan(found.mean_standard_error)
    with pytest.raises(ValueError, match=r"frequency_weight must hold whole numbers, .*, got 0\.5"):
        grouped_auc(y_true, y_score, groups, interval="delong", frequency_weight=[0.5] * 8)
    with pytest.raises(ValueError, match="interval='delong' does not take sample_weight"):
        grouped_auc(y_true, y_score, groups, interval="delong", sample_weight=[2] * 8)


# Bootstrap ----------------------------------------------------------------------------------------------------------


def exact_distribution(y_true: Any, y_score: Any) -> tuple[Any, float]:
    """Return the AUCs of all equally likely draws with both classes, and the share of the other draws."""
    aucs = [
        reference.roc_auc([y_true[i] for i in rows], [y_score[i] for i in rows])
        for rows in itertools.product(range(len(y_true)), repeat=len(y_true))
    ]
    there = np.array([float(auc) for auc in aucs if auc is not None])
    return there, 1 - there.size / len(aucs)


@pytest.mark.slow
def test_bootstrap_within_groups_has_the_distribution_of_all_draws() -> None:
    # A z score beyond 5 has a probability of 6e-7; there are 2 x 4 of them.
    y_true, y_score, groups = [0, 1, 1, 0, 1, 0, 0, 1, 0], [1, 2, 0, 3, 1, 1, 2, 2, 0], [5] * 4 + [2] * 5
    n, distributions = 20_000, [exact_distribution(y_true[a:b], y_score[a:b]) for a, b in ((4, 9), (0, 4))]
    for options in ({}, {"sample_weight": np.full(9, 2.0)}):
        found = grouped_auc(y_true, y_score, groups, interval="bootstrap", n_resamples=n, rng=3, **options)
        for g, (exact, undefined) in enumerate(distributions):
            kept = n - found.n_undefined_replicates[g]
            assert abs(n - kept - n * undefined) < 5 * math.sqrt(n * undefined * (1 - undefined))
            spread = np.var((exact - exact.mean()) ** 2) / exact.var() / 4
            assert abs(found.standard_errors[g] - exact.std()) < 5 * math.sqrt(spread / kept)
            for end, share in zip(found.confidence_intervals[g], (0.025, 0.975), strict=True):
                off = 5 * math.sqrt(share * (1 - share) / kept)
                assert np.mean(exact < end - 1e-9) <= share + off
                assert np.mean(exact <= end + 1e-9) >= share - off


@pytest.mark.slow
def test_errors_of_two_replicates_are_of_samples() -> None:
    rng = np.random.default_rng(5)
    found = grouped_auc(rng.integers(0, 2, 40), rng.random(40), [0, 1] * 20, interval="bootstrap", n_resamples=2, rng=1)
    low, high = found.confidence_intervals[0]
    assert found.standard_errors[0] == pytest.approx((high - low) / 0.95 / math.sqrt(2))


def test_bootstrap_of_the_mean_draws_groups() -> None:
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 80, 3000)
    y_true = rng.integers(0, 2, 3000)
    y_score = y_true * (groups % 3) + rng.normal(size=3000)
    found = grouped_auc(y_true, y_score, groups, interval="bootstrap", n_resamples=4000, rng=5)
    # NumPy's draws of groups have the same standard error, within 6 of its own errors (1 in 10^8).
    drawn = rng.multinomial(80, np.full(80, 1 / 80), 4000) * found.weights
    means = (drawn * found.values).sum(axis=1) / drawn.sum(axis=1)
    assert abs(found.mean_standard_error / means.std(ddof=1) - 1) < 6 / math.sqrt(4000)
    np.testing.assert_allclose(
        found.mean_confidence_interval, np.quantile(means, (0.025, 0.975)), atol=0.2 * means.std()
    )


def test_same_seed_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    n = 3000
    groups = np.where(rng.random(n) < 0.5, 3, rng.integers(0, 100, n))
    y_true, y_score, weights = rng.integers(0, 2, n), rng.integers(0, 50, n), rng.random(n)
    order = rng.permutation(n)
    for given_weights in (None, weights):
        found = []
        for threads, work, rows in ((1, 1 << 25, slice(None)), (3, 1 << 25, slice(None)), (2, 1 << 13, slice(None)),
                                    (2, 1 << 10, order)):  # fmt: skip
            monkeypatch.setattr(groups_bootstrap, "DRAWS_PER_TASK", work)
            monkeypatch.setattr(counted_groups, "ROWS_PER_TASK", work >> 6)
            monkeypatch.setattr(by_group, "RUN", work >> 8)
            if given_weights is not None and rows is order:
                continue  # the order of sums differs
            options = {} if given_weights is None else {"sample_weight": given_weights[rows]}
            with fastevals.num_threads(threads):
                found.append(
                    quiet(grouped_auc, y_true[rows], y_score[rows], groups[rows], interval="bootstrap",
                          n_resamples=60, rng=7, **options).to_dict()
                )  # fmt: skip
        for other in found[1:]:
            np.testing.assert_equal(other, found[0])
    fewer = quiet(grouped_auc, y_true, y_score, groups, interval="bootstrap", n_resamples=1, rng=7)
    more = quiet(grouped_auc, y_true, y_score, groups, interval="bootstrap", n_resamples=1, rng=8)
    assert not np.array_equal(fewer.confidence_intervals, more.confidence_intervals, equal_nan=True)


def test_bootstrap_of_groups_whose_scores_all_tie() -> None:
    found = quiet(grouped_auc, [0, 0, 1, 1, 1] * 2, [0.1] * 5 + [0.2] * 5, [0] * 5 + [1] * 5, interval="bootstrap",
                  n_resamples=99, rng=0)  # fmt: skip
    assert found.confidence_intervals.tolist() == [[0.5, 0.5]] * 2


def test_bootstrap_of_perfect_missing_and_single_groups() -> None:
    y_true, y_score, groups = [0, 1, 0, 0, 1, 1, 1, 1], [1, 2, 1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 1, 1, 2, 2]
    with (
        pytest.warns(fastevals.UndefinedMetricWarning, match=r"its replicates are equal \(2 of 3 groups\)"),
        pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 3 groups lack a class"),
        pytest.warns(fastevals.UndefinedMetricWarning, match="the mean is undefined in .* of 200 bootstrap replicates"),
    ):
        found = grouped_auc(y_true, y_score, groups, interval="bootstrap", n_resamples=200, rng=0)
    assert found.confidence_intervals[:2].tolist() == [[1, 1], [1, 1]]
    assert found.standard_errors[:2].tolist() == [0, 0]
    assert np.isnan(found.confidence_intervals[2]).all()
    assert found.n_undefined_replicates[2] == 200
    with pytest.warns(fastevals.UndefinedMetricWarning, match="the interval of the mean is undefined"):
        one = grouped_auc([0, 1, 0, 1], [1, 2, 3, 4], [5] * 4, interval="bootstrap", n_resamples=20, rng=0)
    assert math.isnan(one.mean_standard_error)


@pytest.mark.parametrize("scale", [-1074, -660, -550, 660, 1016])
def test_bootstrap_of_weights_of_any_unit(scale: int) -> None:
    rng = np.random.default_rng(11)
    given_rows = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.integers(0, 3, 60)
    one, other = (
        quiet(grouped_auc, *given_rows, interval="bootstrap", n_resamples=99, rng=0, sample_weight=np.full(60, unit))
        for unit in (1.0, 2.0**scale)
    )
    np.testing.assert_array_equal(other.confidence_intervals, one.confidence_intervals)
    np.testing.assert_allclose(other.mean_confidence_interval, one.mean_confidence_interval, rtol=1e-14)


def test_groups_without_a_replicate_are_counted() -> None:
    y_true, groups = np.arange(40) % 2, np.arange(40) // 2
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = grouped_auc(y_true, y_true, groups, interval="bootstrap", n_resamples=1, rng=0)
    lost = np.count_nonzero(found.n_undefined_replicates)
    assert 0 < lost < 20
    assert np.isnan(found.confidence_intervals[found.n_undefined_replicates == 1]).all()
    (said,) = (str(each.message) for each in seen if "no replicate" in str(each.message))
    assert said.startswith(f"the interval of an AUC is undefined (NaN): no replicate of {lost} of 20 groups")


def test_groups_of_weight_zero_are_not_drawn() -> None:
    rng = np.random.default_rng(12)
    y_true, y_score, groups = rng.integers(0, 2, 400), rng.random(400), rng.integers(0, 8, 400)
    weights = np.ones(800)
    weights[400:] = 0
    rows = np.concatenate((y_true, y_true)), np.concatenate((y_score, y_score)), np.concatenate((groups, groups + 8))
    alone = grouped_auc(y_true, y_score, groups, interval="bootstrap", n_resamples=200, rng=0)
    found = quiet(grouped_auc, *rows, sample_weight=weights, interval="bootstrap", n_resamples=200, rng=0)
    assert found.mean_confidence_interval == alone.mean_confidence_interval
    assert found.mean_standard_error == alone.mean_standard_error
    with (
        pytest.warns(fastevals.UndefinedMetricWarning, match="the interval of the mean is undefined .* two groups"),
        pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 2 groups lack a class"),
        pytest.warns(fastevals.UndefinedMetricWarning, match="its replicates are equal"),
    ):
        grouped_auc([0, 1, 0, 1], [1, 2, 1, 2], [0, 0, 1, 1], sample_weight=[1, 1, 0, 0], interval="bootstrap", rng=0)


# Results and input --------------------------------------------------------------------------------------------------


def test_results_say_and_keep_what_they_are() -> None:
    found = quiet(grouped_auc, [0, 1, 1, 0, 1, 1], [1, 2, 1, 3, 1, 2], list("bbaacc"), interval="delong")
    assert isinstance(found, GroupedMetric)
    assert repr(found).startswith("GroupedMetric(roc_auc of 3 groups: mean=0.5 [")
    assert repr(found).endswith("], macro_mean=0.5, n_undefined=1)")
    assert str(found).splitlines()[1:] == ["  'a': 0", "  'b': 1", "  'c': nan"]
    assert len(found) == 3
    assert [key for key, _ in found] == ["a", "b", "c"]
    for absent in ("d", "", 3, None, 1.5, [1, 2]):
        with pytest.raises(KeyError, match="no group has the key"):
            found[absent]
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.values, found.values)
    for each in (found, copy):
        with pytest.raises(ValueError, match="read-only"):
            each.values[0] = 1
    assert json.loads(json.dumps(found.to_dict()))["n_undefined"] == 1


def test_rows_of_weight_zero_leave_their_group_without_a_value() -> None:
    with pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 2 groups"):
        found = grouped_auc([0, 1, 0, 1], [1, 2, 1, 2], [7, 7, 9, 9], sample_weight=[0, 0, 1, 2])
    np.testing.assert_array_equal(found.values, [math.nan, 1.0])
    assert found.groups.tolist() == [7, 9]
    assert found.weights.tolist() == [0, 3]
    assert found.n_samples.tolist() == [0, 2]
    assert found.mean == found.macro_mean == 1.0


@pytest.mark.parametrize("scale", [1e-300, 0.3, 1e300])
def test_the_unit_of_weights_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(8)
    y_true, y_score, groups, weights = (
        rng.integers(0, 2, 200),
        rng.random(200),
        rng.integers(0, 9, 200),
        rng.random(200),
    )
    one, other = (
        quiet(grouped_metrics, y_true, y_score, groups, ["roc_auc", "average_precision"], sample_weight=w)
        for w in (weights, weights * scale)
    )
    for name in one:
        np.testing.assert_allclose(other[name].values, one[name].values, rtol=1e-14)
        np.testing.assert_allclose(other[name].mean, one[name].mean, rtol=1e-14)


@pytest.mark.parametrize(
    ("given_arguments", "options", "message"),
    [
        (([0, 1, 2], [1, 2, 3], [0, 0, 1]), {}, "y_true must have two classes, got 3 labels: 0, 1, 2"),
        (([0, 1, 1], [1, math.nan, 3], [0, 0, 1]), {}, "y_score must be finite, but has 1 NaN value"),
        (([0, 1, 1], [1, math.inf, 3], [0, 0, 1]), {"sample_weight": [0, 1, 1]}, "y_score must be finite, but has 1"),
        (([0, 1, 1], [1, 2], [0, 0, 1]), {}, "y_score has 2 rows, but y_true has 3"),
        (([0, 1, 1], [1, 2, 3], [0, 0, 1]), {"sample_weight": [1, 2]}, "sample_weight has 2 rows, but y_true has 3"),
        (([0, 1, 1], [1, 2, 3], [0, 0, 1]), {"sample_weight": [0, 0, 0]}, "sample_weight must have a value above zero"),
        (([0, 1, 1], [1, 2, 3], [0, 0, 1]), {"interval": "wald"}, "interval must be one of None, 'delong'"),
        (([0, 1, 1], [1, 2, 3], [0, 0, 1]), {"n_resamples": 0}, "n_resamples must be an integer from 1"),
        (([2, 1, 1], [1, 2, 3], [0, 0, 1]), {}, "pos_label must say which is positive"),
    ],
)  # fmt: skip
def test_bad_input(given_arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grouped_auc(*given_arguments, **options)


@pytest.mark.parametrize(
    ("asked", "options", "message"),
    [
        (["mean_squared_error", "roc_auc"], {}, "metrics must be one of 'mean_squared_error'"),
        ({"a": "r2", "b": len}, {}, "functions need a Ranking or a ConfusionMatrix, not targets"),
        ("brier_score", {}, r"y_score must hold probabilities, in \[0, 1\], got 3"),
        ("nothing", {}, "metrics must be one of 'roc_auc'"),
        (["roc_auc", "f1"], {}, "f1 of scores needs one threshold"),
        ("accuracy", {"pos_label": 1}, "pos_label needs two classes, but the data has 4: 0, 1, 2, 3"),
        (metric("recall", average=None), {}, r"recall\(average=None\) must give one number for each group"),
        ([], {}, "metrics is empty"),
    ],
)
def test_bad_metrics(asked: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        grouped_metrics([0, 1, 1], [1, 2, 3], [0, 0, 1], asked, **options)


@pytest.mark.parametrize("option", ["interval", "confidence_level", "n_resamples", "rng", "progress", "pos_label"])
def test_odd_options_work_or_raise_one_clear_line(option: str) -> None:
    def call(value: Any) -> Any:
        return grouped_auc(
            [0, 1] * 3, range(6), [0, 0, 0, 1, 1, 1], **{"interval": "bootstrap", "n_resamples": 3, option: value}
        )

    found = {name: complaint(call, value) for name, value in ODD_SCALARS.items()}
    assert {name: text for name, text in found.items() if text} == {}


def test_inputs_stay_as_they_are() -> None:
    rng = np.random.default_rng(9)
    arrays = [rng.integers(0, 2, 40), rng.random(40), rng.integers(0, 4, 40), rng.random(40)]
    before = [array.copy() for array in arrays]
    strided = [np.repeat(array, 2)[::2] for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    found = [
        quiet(grouped_auc, *each[:3], sample_weight=each[3], interval="bootstrap", n_resamples=9, rng=0).to_dict()
        for each in (arrays, strided)
    ]
    np.testing.assert_equal(found[0], found[1])
    assert all((array == copy).all() for array, copy in zip(arrays, before, strict=True))


# Clusters -------------------------------------------------------------------------------------------------------------


def clustered(n: int = 400, n_clusters: int = 60, seed: int = 3) -> tuple[np.ndarray, ...]:
    """Return labels, rounded scores, groups and clusters; clusters have rows in several groups."""
    rng = np.random.default_rng(seed)
    y, clusters = rng.integers(0, 2, n), rng.integers(0, n_clusters, n)
    s = np.round(y + rng.normal(size=n) + rng.normal(size=n_clusters)[clusters], 1)
    return y, s, rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), clusters


def test_clustered_intervals_are_those_of_delong_in_each_group() -> None:
    y, s, groups, clusters = clustered()
    found = grouped_auc(y, s, groups, clusters=clusters, interval="delong", confidence_level=0.9)
    for k, group in enumerate("abc"):
        rows = groups == group
        expected = fastevals.delong(y[rows], s[rows], groups=clusters[rows])
        assert found.values[k] == expected.value
        assert found.standard_errors[k] == pytest.approx(expected.standard_error, rel=1e-12)
        assert found.confidence_intervals[k] == pytest.approx(expected.confidence_interval(0.9), rel=1e-12)
    shares = found.weights / found.weights.sum()
    independent = math.sqrt(np.sum((shares * found.standard_errors) ** 2))
    apart = grouped_auc(y, s, groups, clusters=np.char.add(groups, clusters.astype(str)), interval="delong")
    assert apart.mean_standard_error == pytest.approx(independent, rel=0.05)
    assert found.mean_standard_error > 1.05 * independent  # clusters have rows in several groups
    whole = grouped_auc(y, s, np.zeros(y.size), clusters=clusters, interval="delong")
    of_all = fastevals.delong(y, s, groups=clusters)
    assert whole.mean_standard_error == pytest.approx(of_all.standard_error, rel=1e-12)
    assert whole.mean_confidence_interval == pytest.approx(of_all.confidence_interval(), rel=1e-12)


def test_clusters_of_frames_copies_and_kept_groups() -> None:
    y, s, groups, clusters = clustered()
    copies = np.random.default_rng(0).integers(0, 3, y.size)
    frame = {"y": y, "s": s, "g": groups, "patient": np.char.add("p", clusters.astype(str)), "n": copies}
    columns = {"label": "y", "score": "s", "by": "g", "clusters": "patient", "interval": "delong"}
    found = grouped_auc(frame, **columns, frequency_weight="n", min_positives=50)
    repeated = grouped_auc({name: each.repeat(copies) for name, each in frame.items()}, **columns)
    assert found.n_left_out == 1
    assert found.standard_errors == pytest.approx(repeated.standard_errors[:2])
    assert found.n_samples.tolist() == repeated.n_samples[:2].tolist()


def test_clusters_that_are_refused_or_too_few() -> None:
    y, s, groups = [0, 1, 0, 1], [1, 2, 2, 3], list("aabb")
    with pytest.raises(ValueError, match="clusters require interval='delong', got interval='bootstrap'"):
        grouped_auc(y, s, groups, clusters=[0, 1, 2, 3], interval="bootstrap")
    with pytest.raises(ValueError, match="clusters are not allowed with sample_weight"):
        grouped_auc(y, s, groups, clusters=[0, 1, 2, 3], interval="delong", sample_weight=[1] * 4)
    with pytest.raises(ValueError, match="clusters has 3 rows"):
        grouped_auc(y, s, groups, clusters=[0, 1, 2], interval="delong")
    with pytest.warns(fastevals.UndefinedMetricWarning, match="2 of 2 groups have a class in fewer than two clusters"):
        found = grouped_auc(y, s, groups, clusters=[0, 1, 2, 3], interval="delong")
    assert np.isnan(found.standard_errors).all()
    assert math.isnan(found.mean_standard_error)
    assert found.mean == 1
