"""Points of curves as in scikit-learn, from sorted scores and from counts."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from fastevals import Ranking, num_threads
from fastevals.measure.ranking.ranking import pr_points, roc_points

SCORES: dict[str, Any] = {
    "distinct": lambda rng, n: rng.normal(size=n),
    "one decimal": lambda rng, n: np.round(rng.random(n), 1),
    "two decimals": lambda rng, n: np.round(rng.normal(size=n), 2),
    "integers": lambda rng, n: rng.integers(-3, 4, n),
    "constant": lambda rng, n: np.full(n, 0.3),
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "sorted": lambda rng, n: np.arange(n, dtype=np.float64),
    "alike but for the upper bit": lambda rng, n: rng.choice([-(2**62), 2**62, -(2**62) + 1, 2**62 + 1], n),
}
SIZES = (2, 3, 10, 40_000)


def draw(name: str, n: int, share: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    rng = np.random.default_rng([n, *name.encode()])
    labels = (rng.random(n) < share).astype(np.int64)
    labels[:2] = 0, 1
    return labels, SCORES[name](rng, n)


def with_counts(labels: Any, scores: Any) -> Ranking:
    ranking = Ranking(labels, scores)
    assert ranking.counts.thresholds.size
    return ranking


@pytest.mark.cases(7)
@pytest.mark.parametrize("make", [Ranking, with_counts])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", SCORES)
def test_points_are_those_of_scikit_learn(name, n, make):
    for share in (0.5, 0.03, 0.97):
        labels, scores = draw(name, n, share)
        for drop in (True, False):
            fpr, tpr, thresholds = roc_points(make(labels, scores), drop_intermediate=drop)
            expected = roc_curve(labels, scores, drop_intermediate=drop)
            np.testing.assert_array_equal(fpr, expected[0])
            np.testing.assert_array_equal(tpr, expected[1])
            np.testing.assert_array_equal(thresholds.astype(np.float64), expected[2])
        for ours, theirs in zip(pr_points(make(labels, scores)), precision_recall_curve(labels, scores), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("make", [Ranking, with_counts])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", SCORES)
def test_average_precision_needs_no_counts(name, n, make):
    labels, scores = draw(name, n, 0.4)
    value = make(labels, scores).average_precision()
    assert value == pytest.approx(average_precision_score(labels, scores), rel=1e-12)
    assert value == Ranking(labels, scores, sample_weight=np.ones(n)).average_precision()


@pytest.mark.parametrize("make", [Ranking, with_counts])
def test_rates_of_a_missing_class_are_nan(make):
    scores = np.array([0.2, 0.5, 0.9])
    for label, row in ((0, 1), (1, 0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = roc_curve(np.full(3, label), scores, pos_label=1)
        rates = roc_points(make(np.full(3, label), scores))
        for ours, theirs in zip(rates, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert np.isnan(rates[row]).all()
    assert np.isnan(pr_points(make([0, 0, 0], scores))[1]).all()
    assert pr_points(make([1, 1, 1], scores))[0].tolist() == [1, 1, 1, 1]


def test_points_are_the_same_at_any_number_of_threads():
    labels, scores = draw("two decimals", 200_000, 0.4)
    found = []
    for threads in (1, 2, 5):
        with num_threads(threads):
            ranking = Ranking(labels, scores)
            found.append([*roc_points(ranking), *pr_points(ranking), ranking.average_precision()])
    for other in found[1:]:
        for ours, theirs in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "u8", "i8", ">f8", "g"])
def test_thresholds_are_floats_that_hold_the_scores(dtype):
    scores = np.array([0, 1, 1, 2, 3], dtype=dtype)
    thresholds = roc_points(Ranking([0, 1, 0, 1, 1], scores), drop_intermediate=False)[2]
    assert thresholds.dtype == (np.longdouble if dtype == "g" else np.float64)
    assert thresholds.tolist() == [math.inf, 3, 2, 1, 0]
    big = np.array([2**53, 2**53 + 1])
    assert pr_points(Ranking([0, 1], big))[2].astype(np.int64).tolist() == big.tolist()


def test_points_are_the_callers_own():
    ranking = with_counts([0, 1, 1], [0.1, 0.2, 0.3])
    for array in (*roc_points(ranking), *pr_points(ranking)):
        array[:] = 7
    assert ranking.counts.tps.tolist() == [0, 1, 2, 2]
