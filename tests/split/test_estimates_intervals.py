"""Intervals of estimates where the splits fix something: class shares, rows, or everything."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import model_selection as theirs

from fastevals import (
    BootstrapSplit,
    ConfusionMatrix,
    HoldOut,
    KFold,
    LeaveOneOut,
    UndefinedMetricWarning,
    estimate_error,
    evaluate_splits,
    metric,
    proportion_interval,
)
from fastevals.measure.metric_specs import parse_metrics
from fastevals.split.estimates.split_metrics import LabelMetrics
from tests.reference import estimates as twin

N = 450
Y = np.repeat([1, 0], [113, 337])
RNG = np.random.default_rng(5)
P = np.where(RNG.random(N) < np.where(Y == 1, 0.4, 0.9), Y, 1 - Y)
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=N) + 1.5 * Y - 1.5)))
MAJORITY = np.zeros(N, dtype=int)


def folds_of(splitter: Any) -> Any:
    found = np.empty(N, dtype=int)
    for k, (_, test) in enumerate(splitter.split(Y, Y)):
        found[test] = k
    return found


STRATIFIED: dict[str, Any] = {
    "hold-outs": HoldOut(0.2, n_repeats=20, stratified=True, rng=1),
    "folds": KFold(10, stratified=True, rng=1),
    "repeated folds": KFold(5, n_repeats=4, stratified=True, rng=1),
    "their folds": theirs.StratifiedKFold(10, shuffle=True, random_state=1),
    "their hold-outs": theirs.StratifiedShuffleSplit(20, test_size=0.2, random_state=1),
    "numbers of folds": folds_of(theirs.StratifiedKFold(9, shuffle=True, random_state=1)),
}
PLAIN: dict[str, Any] = {
    "hold-outs": HoldOut(0.2, n_repeats=20, rng=1),
    "folds": KFold(10, rng=1),
    "their hold-outs": theirs.ShuffleSplit(20, test_size=0.2, random_state=1),
    "their folds": theirs.KFold(10, shuffle=True, random_state=1),
    "numbers of folds": folds_of(theirs.KFold(9, shuffle=True, random_state=1)),
    "one by one": LeaveOneOut(),
}


def interval(y: Any, p: Any, splits: Any, asked: Any, **options: Any) -> tuple[float, float]:
    (found,) = evaluate_splits(y, p, splits, asked, **options).values()
    return tuple(found.confidence_interval)


# Nothing varies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hold-outs", "repeated folds", "their hold-outs"])
@pytest.mark.parametrize("asked", ["error_rate", "accuracy", "recall", "false_positive_rate"])
def test_a_share_of_rows_has_wilsons_interval(name: str, asked: str) -> None:
    y = np.repeat([1, 0], [125, 375])  # shares that all test sets can match
    splits = STRATIFIED[name]
    (found,) = evaluate_splits(y, np.zeros(500, dtype=int), splits, asked).values()
    assert found.standard_deviation == 0
    expected = proportion_interval(ConfusionMatrix([[375, 0], [125, 0]]), asked)
    assert_allclose(found.confidence_interval, expected, rtol=1e-12)
    assert found.confidence_interval.low <= found.value <= found.confidence_interval.high


def test_the_case_that_had_no_width() -> None:
    y = np.repeat([1, 0], [100, 300])
    low, high = interval(y, np.zeros(400, dtype=int), HoldOut(0.25, n_repeats=20, stratified=True, rng=0), "error_rate")
    assert (round(low, 2), round(high, 2)) == (0.21, 0.29)
    few = interval(y, np.zeros(400, dtype=int), HoldOut(40, n_repeats=2, stratified=True, rng=0), "error_rate")
    assert_allclose(few, proportion_interval(ConfusionMatrix([[60, 0], [20, 0]]), "error_rate"), rtol=1e-12)  # 80 rows


@pytest.mark.filterwarnings("ignore:the interval of matthews")
def test_a_learner_that_is_never_wrong() -> None:
    y = np.arange(60) % 3
    found = estimate_error(lambda X, y, new: np.asarray(new), y, y, KFold(5, rng=1), ["error_rate", "matthews"])
    square = stats.norm.ppf(0.975) ** 2
    assert_allclose(found["error_rate"].confidence_interval, (0, square / (60 + square)), rtol=1e-12)
    assert np.isnan(found["matthews"].confidence_interval).all()


@pytest.mark.parametrize(
    ("asked", "p"), [("roc_auc", Y / 2), ("matthews", Y), ("brier_score", np.full(N, 0.5)), ("mean_squared_error", Y)]
)
def test_what_no_counts_tell_has_none_and_says_why(asked: str, p: Any) -> None:
    with pytest.warns(UndefinedMetricWarning, match=f"interval of {asked} .* same in all 10 splits, .*use bootstrap"):
        assert np.isnan(interval(Y, p, KFold(10, rng=1), asked)).all()


def test_constant_scores_are_as_precise_as_the_classes_are_known() -> None:
    y = np.repeat([1, 0], [100, 300])
    low, high = interval(y, np.full(400, 0.5), KFold(10, stratified=True, rng=1), "average_precision")
    reach = stats.t(399).ppf(0.975) * math.sqrt(0.25 * 0.75 / 399)
    assert_allclose((low, high), (0.25 - reach, 0.25 + reach), rtol=1e-6)


# Stratified ---------------------------------------------------------------------------------------------------------

ASKED: dict[str, tuple[Any, Any]] = {
    "accuracy": ("accuracy", P),
    "f1": (metric("f1", average="macro"), P),
    "matthews": ("matthews", P),
    "precision": ("precision", P),
    "average_precision": ("average_precision", SCORES),
    "brier_score": ("brier_score", SCORES),
    "log_loss": ("log_loss", SCORES),
}


@pytest.mark.parametrize("name", ASKED)
def test_stratified_hold_outs_have_the_interval_of_plain_ones(name: str) -> None:
    # 3,000 hold-outs give each variance to 5 %, and so a width to 2.5 %.
    asked, p = ASKED[name]
    plain, stratified = (
        interval(Y, p, HoldOut(0.3, n_repeats=3000, stratified=each, rng=2), asked) for each in (False, True)
    )
    assert np.diff(stratified) == pytest.approx(np.diff(plain), rel=0.08)


@pytest.mark.parametrize("name", STRATIFIED)
def test_the_variance_of_the_shares_of_the_classes_is_added(name: str) -> None:
    found = evaluate_splits(Y, P, STRATIFIED[name], "error_rate")
    one = found["error_rate"]
    rates = [np.mean(P[each == Y] != each) for each in (0, 1)]
    share = Y.mean()
    between = share * (1 - share) * (rates[0] - rates[1]) ** 2 / (N - 1)
    j, ratio = one.per_split.size, found.n_test.sum() / found.n_train.sum()
    within = one.per_split.var(ddof=1) * (1 / j + ratio)
    df = (within + between) ** 2 / (within**2 / (j - 1) + between**2 / (N - 1))
    reach = stats.t(df).ppf(0.975) * math.sqrt(within + between)
    tested = 0.02 if "hold-outs" in name else 1e-9  # pooled rates of hold-outs differ from the rates of all rows
    assert np.diff(one.confidence_interval)[0] == pytest.approx(2 * reach, rel=tested)
    assert np.mean(one.confidence_interval) == pytest.approx(one.value)


@pytest.mark.parametrize("asked", ["recall", "balanced_accuracy", "roc_auc"])
def test_what_no_share_changes_is_as_it_was(asked: str) -> None:
    found = evaluate_splits(Y, SCORES if asked == "roc_auc" else P, STRATIFIED["folds"], asked)[asked]
    expected = twin.nadeau_bengio(found.per_split.ravel(), 1 / 9, 0.95)
    assert_allclose(found.confidence_interval, expected, rtol=1e-12)


@pytest.mark.parametrize("name", PLAIN)
def test_plain_splits_are_as_they_were(name: str) -> None:
    found = evaluate_splits(Y, P, PLAIN[name], "error_rate")
    ratio = found.n_test.sum() / found.n_train.sum()
    expected = twin.nadeau_bengio(found["error_rate"].per_split.ravel(), ratio, 0.95)
    assert_allclose(found["error_rate"].confidence_interval, expected, rtol=1e-12)


def test_three_classes_and_learners_that_are_fitted() -> None:
    y = np.repeat([0, 1, 2], [30, 60, 90])
    p = np.where(RNG.random(180) < np.array([0.2, 0.6, 0.95])[y], y, (y + 1) % 3)
    for asked in ("error_rate", metric("f1", average="weighted")):
        for splits in (KFold(5, stratified=True, rng=1), BootstrapSplit(30, stratified=True, rng=1)):
            (fixed,) = evaluate_splits(y, p, splits, asked).values()
            (fitted,) = estimate_error(lambda X, y, new: p[np.asarray(new)], range(180), y, splits, asked).values()
            assert fixed.confidence_interval == fitted.confidence_interval
            (plain,) = evaluate_splits(y, p, theirs.KFold(5, shuffle=True, random_state=1), asked).values()
            assert np.diff(fixed.confidence_interval) > 0.6 * np.diff(plain.confidence_interval)
    scores = 1 / (1 + np.exp(-(RNG.normal(size=180) + (y > 0))))
    for asked in ("brier_score", "average_precision"):
        (fixed,) = evaluate_splits(y > 0, scores, splits, asked).values()
        (fitted,) = estimate_error(lambda X, y, new: scores[np.asarray(new)], range(180), y > 0, splits, asked).values()
        assert_allclose(fixed.confidence_interval, fitted.confidence_interval, rtol=1e-12)


def test_the_corrected_bootstrap_has_a_width_too() -> None:
    y = np.repeat([1, 0], [40, 120])
    splits = BootstrapSplit(50, stratified=True, rng=1)

    def rare(X: Any, y: Any, new: Any) -> Any:
        return np.zeros(len(new), dtype=int)

    plain, corrected = (
        estimate_error(rare, y, y, splits, "error_rate", method=method)["error_rate"] for method in (None, ".632+")
    )
    reach = 1.96 * math.sqrt(0.25 * 0.75 / 159)
    for found in (plain, corrected):
        assert np.diff(found.confidence_interval)[0] == pytest.approx(2 * reach, rel=0.1)


# The same rows ------------------------------------------------------------------------------------------------------


def test_many_predictors_on_the_same_rows() -> None:
    flipped = np.array([np.where(RNG.random(N) < 0.02, 1 - P, P) for _ in range(10)])
    same = np.zeros((10, N), dtype=int)
    found = evaluate_splits(Y, flipped, same, "accuracy")["accuracy"]
    right = float(np.mean(flipped == Y))
    error = math.sqrt(found.per_split.var(ddof=1) / 10 + right * (1 - right) / (N - 1))
    assert np.diff(found.confidence_interval)[0] == pytest.approx(2 * 1.965 * error, rel=0.01)
    scores = np.clip(SCORES + RNG.normal(scale=0.02, size=(10, N)), 0.01, 0.99)
    loss = evaluate_splits(Y, scores, same, "brier_score")["brier_score"]
    error = math.sqrt(loss.per_split.var(ddof=1) / 10 + ((scores - Y) ** 2).var() / (N - 1))
    assert np.diff(loss.confidence_interval)[0] == pytest.approx(2 * 1.965 * error, rel=0.01)
    with pytest.warns(UndefinedMetricWarning, match="interval of roc_auc .*: all 10 splits test the same rows"):
        assert np.isnan(interval(Y, scores, same, "roc_auc")).all()


def test_one_split_again_and_again_says_no_more_than_once() -> None:
    pairs = [(np.arange(100, N), np.arange(100))] * 5
    y = np.tile([0, 1], N // 2)
    p = np.where(np.arange(N) % 5 == 0, 1 - y, y)
    found = estimate_error(lambda X, y, new: p[np.asarray(new)], range(N), y, pairs, "error_rate")["error_rate"]
    assert_allclose(
        found.confidence_interval, proportion_interval(ConfusionMatrix([[40, 10], [10, 40]]), "error_rate"), rtol=1e-12
    )


@pytest.mark.slow
def test_stratified_intervals_hold_the_error_rate_as_often_as_they_say() -> None:
    # With 600 data sets at 95 %, a share below 0.92 has a probability of 1e-3.
    held = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        y = (rng.random(300) < 0.25).astype(int)
        p = np.where(rng.random(300) < np.where(y == 1, 0.2, 0.95), y, 1 - y)
        low, high = interval(y, p, HoldOut(0.2, n_repeats=50, stratified=True, rng=seed), "error_rate")
        held += low <= 0.25 * 0.8 + 0.75 * 0.05 <= high
    assert held >= 0.92 * 600


@pytest.mark.parametrize("variance", [LabelMetrics.class_variance, LabelMetrics.row_variance])
def test_matrices_of_so_many_classes_that_it_would_take_long_have_no_variance(variance):
    counted = np.ones(650 * 650) if variance is LabelMetrics.class_variance else np.ones(20_000)
    assert math.isnan(variance(SimpleNamespace(classes=SimpleNamespace(labels=np.arange(650))), "f1", counted))


@pytest.mark.parametrize(("variance", "entries"), [(LabelMetrics.class_variance, 8), (LabelMetrics.row_variance, 16)])
def test_matrices_up_to_a_size_have_a_variance(monkeypatch, variance, entries):
    metrics = LabelMetrics(parse_metrics("accuracy"), [0, 1, 1, 0], "y")
    monkeypatch.setattr("fastevals.split.estimates.split_metrics.MOST_TRIED", entries)
    assert variance(metrics, "accuracy", np.array([3, 1, 2, 5])) >= 0
    monkeypatch.setattr("fastevals.split.estimates.split_metrics.MOST_TRIED", entries - 1)
    assert math.isnan(variance(metrics, "accuracy", np.array([3, 1, 2, 5])))
