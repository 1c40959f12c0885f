"""Weights and copies of rows mean the same in memory and in counts; bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals import ConfusionMatrix, Ranking, UndefinedMetricWarning, bootstrap, delong
from tests.infer.delong.test_delong import BOUNDED, models
from tests.reference.delong import weighted_delong

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 3 == 0
S = np.round(RNG.normal(size=N) + Y, 1)
T = np.round(RNG.normal(size=N) + Y / 2, 1)
COPIES = RNG.integers(0, 4, N)
REPEATED = np.repeat(np.arange(N), COPIES)

# Copies of rows -------------------------------------------------------------------------------------------------------


def test_a_ranking_of_copies_is_that_of_repeated_rows() -> None:
    ours, theirs = Ranking(Y, S, frequency_weight=COPIES), Ranking(Y[REPEATED], S[REPEATED])
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(ours.counts, name), getattr(theirs.counts, name))
        assert getattr(ours.counts, name).dtype == getattr(theirs.counts, name).dtype
    assert (ours.n_positives, ours.n_negatives, ours.roc_auc()) == (
        theirs.n_positives, theirs.n_negatives, theirs.roc_auc(),
    )  # fmt: skip


def test_a_matrix_of_copies_is_that_of_repeated_rows() -> None:
    ours = ConfusionMatrix.from_predictions(Y, S > 0.5, frequency_weight=COPIES)
    theirs = ConfusionMatrix.from_predictions(Y[REPEATED], S[REPEATED] > 0.5)
    np.testing.assert_array_equal(ours.counts, theirs.counts)
    assert ours.counts.dtype == np.int64


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("pair", "metric"), [((Y, S), "roc_auc"), ((Y, S > 0.5), "f1"), ((S, T), "mean_squared_error")]
)
def test_a_bootstrap_of_copies_is_that_of_repeated_rows(pair: Any, metric: str, grouped: bool) -> None:
    groups = np.arange(N) // 4
    ours = bootstrap(pair, metric, n_resamples=99, rng=0, frequency_weight=COPIES, groups=groups if grouped else None)
    theirs = bootstrap(
        tuple(each[REPEATED] for each in pair), metric, n_resamples=99, rng=0,
        groups=groups[REPEATED] if grouped else None,
    )  # fmt: skip
    assert ours[metric].confidence_interval == theirs[metric].confidence_interval


@pytest.mark.cases(1)
@pytest.mark.parametrize("interval", [None, "delong", "bootstrap"])
def test_groups_of_copies_are_those_of_repeated_rows(interval: str | None) -> None:
    groups = np.arange(N) // 12
    copies = np.where(groups == 3, 0, COPIES)  # a group without copies is absent
    rows = np.repeat(np.arange(N), copies)
    ours = fastevals.grouped_auc(Y, S, groups, frequency_weight=copies, interval=interval, rng=0)
    theirs = fastevals.grouped_auc(Y[rows], S[rows], groups[rows], interval=interval, rng=0)
    for name in ("groups", "values", "n_samples", "confidence_intervals"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@pytest.mark.parametrize(
    "call",
    [
        lambda both: Ranking(Y, S, **both),
        lambda both: ConfusionMatrix.from_predictions(Y, S > 0, **both),
        lambda both: bootstrap((Y, S), "roc_auc", **both),
        lambda both: delong(Y, S, **both),
    ],
)
def test_both_weights_are_an_error(call: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(ValueError, match="sample_weight and frequency_weight exclude each other"):
        call({"sample_weight": COPIES, "frequency_weight": COPIES})


@pytest.mark.parametrize("copies", [[0.5] * N, [-1] * N, [1] * (N - 1)])
def test_copies_are_whole_numbers_for_each_row(copies: list[float]) -> None:
    for call in (
        lambda: Ranking(Y, S, frequency_weight=copies),
        lambda: ConfusionMatrix.from_predictions(Y, S > 0, frequency_weight=copies),
        lambda: bootstrap((S, T), "mean_squared_error", frequency_weight=copies),
        lambda: delong(Y, S, frequency_weight=copies),
    ):
        with pytest.raises(ValueError, match=r"frequency_weight (must (hold whole|not be neg)|has 59 rows)"):
            call()


# Weights of rows ------------------------------------------------------------------------------------------------------

WEIGHTED = Ranking(Y, S, sample_weight=COPIES)
WEIGHTED_MATRIX = ConfusionMatrix.from_predictions(Y, S > 0.5, sample_weight=COPIES)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bootstrap(WEIGHTED, "roc_auc"),
        lambda: bootstrap(WEIGHTED.counts, "roc_auc"),
        lambda: bootstrap(WEIGHTED_MATRIX, "accuracy"),
        lambda: bootstrap(WEIGHTED_MATRIX.pool(), "accuracy"),
        lambda: bootstrap(WEIGHTED.confusion_at(0.5), "accuracy"),
        lambda: bootstrap(ConfusionMatrix.from_groups(Y, S > 0, N * [1], sample_weight=COPIES)[1], "accuracy"),
        lambda: fastevals.bootstrap_unpaired(Ranking(Y, S), WEIGHTED, "roc_auc"),
        lambda: fastevals.proportion_interval(WEIGHTED_MATRIX, "recall"),
        lambda: fastevals.confidence_band(WEIGHTED),
        lambda: delong(WEIGHTED),
        lambda: fastevals.delong_test_unpaired(WEIGHTED, Ranking(Y, S)),
    ],
)
def test_counts_with_whole_weights_have_no_intervals(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"must count rows, but has weights: .* squared weights.*frequency_weight="):
        call()


def test_counts_of_rows_that_came_as_floats_are_rows() -> None:
    found = ConfusionMatrix(np.array([[40.0, 10.0], [5.0, 45.0]]))
    assert found.counts.dtype == np.int64
    assert fastevals.proportion_interval(found, "recall") == fastevals.proportion_interval(
        ConfusionMatrix([[40, 10], [5, 45]]), "recall"
    )


@BOUNDED
@given(models(), st.data())
def test_delong_of_weighted_rows(case: tuple[list[int], list[list[float]]], data: st.DataObject) -> None:
    y, scores = np.array(case[0]), np.array(case[1])
    weights = np.array(
        data.draw(st.lists(st.sampled_from([0, 0.25, 1, 2, 3.5]), min_size=y.size, max_size=y.size)), float
    )
    weights[:4] = np.maximum(weights[:4], 0.25)
    aucs, covariance = weighted_delong(y.tolist(), scores.tolist(), weights.tolist())
    result = delong(y, scores, sample_weight=weights)
    np.testing.assert_allclose(result.aucs, np.array(aucs, float), rtol=1e-14)
    np.testing.assert_allclose(result.covariance, np.array(covariance, float), rtol=1e-9, atol=1e-15)
    kept = weights > 0
    assert (result.n_positives, result.n_negatives) == (int(y[kept].sum()), int((1 - y[kept]).sum()))
    unweighted = delong(y, scores)
    for constant in (9, 1 / 3, 1e-300):
        alike = delong(y, scores, sample_weight=np.full(y.size, constant))
        np.testing.assert_allclose(alike.covariance, unweighted.covariance, rtol=1e-9, atol=1e-15)


def test_weighted_models_that_rank_alike_don_t_differ() -> None:
    weights = RNG.random(N)
    result = delong(Y, {"a": S, "b": S / 3, "c": T}, sample_weight=weights)
    same = result.contrast([1, -1, 0])
    assert (same.statistic, same.pvalue, same.effect) == (0.0, 1.0, 0.0)
    difference = delong(Y, [S, T], sample_weight=weights).aucs @ [1, -1]
    test = result.contrast([0, -1, 1])
    error = np.sqrt(np.array([0, -1, 1]) @ result.covariance @ [0, -1, 1])
    assert test.statistic == pytest.approx(-difference / error, rel=1e-12)
    assert result.equality_test().statistic == pytest.approx(test.statistic**2, rel=1e-9)
    assert result.equality_test().df == 1


def test_weighted_models_whose_difference_has_no_variance() -> None:
    weights = RNG.random(N) + 0.1
    result = delong(Y, {"perfect": Y, "constant": np.zeros(N), "some": S}, sample_weight=weights)
    with pytest.warns(UndefinedMetricWarning, match="a difference of AUCs has an estimated variance of 0"):
        test = result.equality_test()
    assert (test.statistic, test.df, test.pvalue) == (np.inf, 2, 0.0)  # three AUCs have two differences


def test_a_weighted_row_alone_in_its_class_has_no_variance() -> None:
    with pytest.warns(UndefinedMetricWarning, match="covariance"):
        result = delong([0, 0, 1, 1], [1, 3, 2, 4], sample_weight=[1, 2, 0.5, 0])
    assert result.aucs.tolist() == [1 / 3]
    assert np.isnan(result.covariance).all()
    with pytest.warns(UndefinedMetricWarning, match="roc_auc"):
        assert np.isnan(delong([0, 0, 1, 1], [1, 3, 2, 4], sample_weight=[1, 2, 0, 0]).aucs).all()


def test_constant_weights_leave_the_bootstrap_as_it_is() -> None:
    plain = bootstrap((Y, S), "roc_auc", n_resamples=999, rng=0)["roc_auc"]
    nines = bootstrap((Y, S), "roc_auc", n_resamples=999, rng=0, sample_weight=np.full(N, 9))["roc_auc"]
    widths = [np.diff(each.confidence_interval)[0] for each in (plain, nines)]
    assert widths[0] == pytest.approx(widths[1], rel=0.05)  # the draws differ


def simulated(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    y = rng.random(n) < 0.4
    return y, rng.normal(size=n) + y, rng.integers(1, 4, n)


@pytest.mark.slow
def test_the_variance_of_weighted_rows_is_that_of_repeated_data_sets() -> None:
    """2,000 data sets give the variance of AUCs to 3 %; the variance with copies is 0.43 times as large."""
    rng = np.random.default_rng(1)
    found = [
        (y, s, w, Ranking(y, s, sample_weight=w).roc_auc()) for y, s, w in (simulated(rng, 200) for _ in range(2000))
    ]
    true = np.var([auc for *_, auc in found])
    delongs = [delong(y, s, sample_weight=w).covariance[0, 0] for y, s, w, _ in found[:300]]
    assert np.mean(delongs) == pytest.approx(true, rel=0.08)
    errors = [
        bootstrap((y, s), "roc_auc", sample_weight=w, n_resamples=199, method="percentile", rng=0)[
            "roc_auc"
        ].standard_error
        for y, s, w, _ in found[:60]
    ]
    assert np.mean(np.square(errors)) == pytest.approx(true, rel=0.2)


@pytest.mark.slow
def test_intervals_of_weighted_rows_hold_the_true_auc() -> None:
    rng, true = np.random.default_rng(2), 0.7602499389065233  # of normal scores, one standard deviation apart
    held = np.zeros((2, 400))
    for k in range(400):
        y, s, w = simulated(rng, 300)
        ends = bootstrap((y, s), "roc_auc", sample_weight=w, n_resamples=999, rng=k)["roc_auc"].confidence_interval
        low, high = delong(y, s, sample_weight=w).confidence_interval()
        held[:, k] = ends.low <= true <= ends.high, low <= true <= high
    assert (np.abs(held.mean(axis=1) - 0.95) < 0.03).all(), held.mean(axis=1)
