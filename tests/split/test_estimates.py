"""Errors of learners fitted to each split."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold as SklearnKFold
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from fastevals import UndefinedMetricWarning, metric
from fastevals.split.estimates.corrections import error_632, error_632_plus
from fastevals.split.estimates.estimates import estimate_error
from fastevals.split.estimates.fixed_predictions import evaluate_splits
from fastevals.split.splitters.base import SplitPlan
from fastevals.split.splitters.bootstrap_split import BootstrapSplit
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.splitters.leave_out import LeaveOneOut, LeavePOut
from tests.reference import estimates as twin

CASES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + RNG.normal(size=90) > 0).astype(int)
TARGETS = X @ [1.0, 2.0, 3.0] + RNG.normal(size=90)


def least_squares(X_train: Any, y_train: Any, X_test: Any, ridge: float = 0.0) -> Any:
    weights = np.linalg.solve(X_train.T @ X_train + ridge * np.eye(X_train.shape[1]), X_train.T @ y_train)
    return X_test @ weights


def majority(X_train: Any, y_train: Any, X_test: Any) -> Any:
    values, counts = np.unique(np.asarray(y_train), return_counts=True)
    return np.repeat(values[np.argmax(counts)], len(X_test))


# Against scikit-learn and twins -------------------------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("splitter", [KFold(5, n_repeats=2, stratified=True, rng=1), SklearnKFold(4)], ids=repr)
def test_classifiers_as_cross_validate(splitter: Any) -> None:
    names = {
        "accuracy": "accuracy",
        metric("f1", average="macro"): "f1_macro",
        "roc_auc": "roc_auc",
        "brier_score": "neg_brier_score",
    }
    model = LogisticRegression()
    found = estimate_error(model, X, Y, splitter, list(names), training=True)
    peers = cross_validate(model, X, Y, cv=splitter, scoring=list(names.values()), return_train_score=True)
    for ours, theirs in names.items():
        assert_allclose(found[ours].per_split.ravel(), np.abs(peers[f"test_{theirs}"]), rtol=1e-13)
        assert_allclose(found[ours].training.per_split.ravel(), np.abs(peers[f"train_{theirs}"]), rtol=1e-13)
        assert found[ours].value == pytest.approx(found[ours].per_split.mean(), rel=1e-14)
        assert found[ours].training.value == pytest.approx(np.abs(peers[f"train_{theirs}"]).mean(), rel=1e-13)
    assert not hasattr(model, "coef_")


def test_regressions_as_cross_validate() -> None:
    splitter = KFold(5, rng=2)
    names = {
        "mean_squared_error": "neg_mean_squared_error",
        "median_absolute_error": "neg_median_absolute_error",
        "r2": "r2",
    }
    found = estimate_error(LinearRegression(), X, TARGETS, splitter, list(names))
    peers = cross_validate(LinearRegression(), X, TARGETS, cv=splitter, scoring=list(names.values()))
    for ours, theirs in names.items():
        assert_allclose(found[ours].per_split[0], np.abs(peers[f"test_{theirs}"]), rtol=1e-12)


@pytest.mark.parametrize(
    "splitter",
    [HoldOut(0.3, n_repeats=4, rng=1), LeaveOneOut(), LeavePOut(2, n_repeats=6, rng=1), KFold(3, rng=1)],
    ids=repr,
)
def test_of_all_test_sets(splitter: Any) -> None:
    pairs = list(splitter.split(X))
    found = estimate_error(least_squares, X, TARGETS, splitter, ["mean_squared_error", "mean_absolute_error"])
    predicted = [(TARGETS[test], least_squares(X[train], TARGETS[train], X[test])) for train, test in pairs]
    for name, slow in {
        "mean_squared_error": twin.mean_squared_error,
        "mean_absolute_error": twin.mean_absolute_error,
    }.items():
        assert_allclose(found[name].per_split.ravel(), [slow(*each) for each in predicted], rtol=1e-12)
        micro = slow(*(np.concatenate(part) for part in zip(*predicted, strict=True)))
        assert found[name].micro == pytest.approx(micro, rel=1e-12)
    assert_array_equal(found.n_train.ravel(), [train.size for train, _ in pairs])
    assert_array_equal(found.n_test.ravel(), [test.size for _, test in pairs])


def test_micro_averages_of_scores_and_labels() -> None:
    splitter = KFold(4, n_repeats=2, rng=3)
    found = estimate_error(KNeighborsClassifier(7), X, Y, splitter, ["roc_auc", "accuracy", "log_loss"], training=True)
    scores, true = [], []
    for train, test in splitter.split(X):
        scores.append(KNeighborsClassifier(7).fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
        true.append(Y[test])
    s, y = np.concatenate(scores), np.concatenate(true)
    assert found["roc_auc"].micro == pytest.approx(twin.roc_auc(y, s), rel=1e-13)
    assert found["accuracy"].micro == pytest.approx(np.mean((s > 0.5) == y), rel=1e-13)
    assert found.matrices is not None
    assert found.matrices.pool().accuracy() == found["accuracy"].micro


def test_the_books_exercise() -> None:
    # Zhou, exercise 2.1 of the English edition (2.2 of the first): 100 rows, half in each class.
    y = np.arange(100) % 2
    stratified = estimate_error(majority, y, y, KFold(10, stratified=True, rng=1), "error_rate")["error_rate"]
    assert stratified.value == stratified.micro == 0.5
    assert (stratified.per_split == 0.5).all()
    assert estimate_error(majority, y, y, LeaveOneOut(), "error_rate")["error_rate"].value == 1.0


def test_each_repetition_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, codes = [], SplitPlan.codes
    monkeypatch.setattr(SplitPlan, "codes", lambda plan, *part: drawn.append(part) or codes(plan, *part))
    estimate_error(majority, Y, Y, KFold(5, n_repeats=3, stratified=True, rng=1), "accuracy")
    assert drawn == [(0, 3)]


def test_a_splitter_of_ours_or_pairs_of_rows() -> None:
    splitter = KFold(3, rng=1)
    pairs = list(splitter.split(X))
    found = estimate_error(least_squares, X, TARGETS, splitter, "r2")["r2"]
    for other in (pairs, iter(pairs), tuple((train.tolist(), test.astype(np.uint8)) for train, test in pairs)):
        again = estimate_error(least_squares, X, TARGETS, other, "r2")["r2"]
        assert again.per_split.shape == (1, 3)
        assert_array_equal(found.per_split, again.per_split)
        assert found.confidence_interval == again.confidence_interval


def test_repeated_folds_keep_their_shape() -> None:
    found = estimate_error(least_squares, X, TARGETS, KFold(2, n_repeats=5, rng=1), "r2")
    assert found["r2"].per_split.shape == found.n_test.shape == (5, 2)
    values = found["r2"].per_split.ravel()
    expected = twin.nadeau_bengio(values, 1.0, 0.95)
    assert_allclose(found["r2"].confidence_interval, (expected[0], min(expected[1], 1.0)), rtol=1e-12)


# What learners get and give -----------------------------------------------------------------------------------------


def test_parameters_and_groups() -> None:
    groups = np.arange(90) // 6
    splitter = KFold(3, rng=1)
    found = estimate_error(least_squares, X, TARGETS, splitter, "r2", groups=groups, params={"ridge": 5.0})
    expected = [
        twin.r2(TARGETS[test], least_squares(X[train], TARGETS[train], X[test], 5.0))
        for train, test in splitter.split(X, groups=groups)
    ]
    assert_allclose(found["r2"].per_split[0], expected, rtol=1e-12)


def test_training_rows_are_predicted_by_the_same_fit() -> None:
    calls = []

    def memory(X_train: Any, y_train: Any, X_test: Any) -> Any:
        calls.append(len(X_test))
        known = dict(zip(X_train[:, 0].tolist(), y_train.tolist(), strict=True))
        return [known.get(each, 0.0) for each in X_test[:, 0].tolist()]

    found = estimate_error(memory, X, TARGETS, KFold(3, rng=1), "mean_squared_error", training=True)[
        "mean_squared_error"
    ]
    assert calls == [90] * 3
    assert found.training is not None
    assert found.training.per_split.tolist() == [[0.0, 0.0, 0.0]]
    assert found.training.value == 0
    assert found.value > 1
    assert "training" in found.to_dict()
    assert estimate_error(memory, X, TARGETS, KFold(3, rng=1), "r2")["r2"].training is None


@pytest.mark.parametrize("convert", [lambda y: y.tolist(), pd.Series, lambda y: np.array(["no", "yes"])[y]])
def test_labels_of_any_kind(convert: Any) -> None:
    y = convert(Y)
    frame = pd.DataFrame(X, index=np.arange(90)[::-1])
    positive = "yes" if isinstance(y[0], str) else None
    splitter = KFold(3, rng=1)
    found = estimate_error(
        LogisticRegression(), frame, y, splitter, ["accuracy", "roc_auc", "recall"], pos_label=positive
    )
    expected = estimate_error(LogisticRegression(), X, Y, splitter, ["accuracy", "roc_auc", "recall"])
    for name in found:
        assert_allclose(found[name].per_split, expected[name].per_split, rtol=1e-12)


def test_scores_of_a_decision_function_are_no_probabilities() -> None:
    splitter = KFold(3, stratified=True, rng=1)
    found = estimate_error(LinearSVC(), X, Y, splitter, "roc_auc")["roc_auc"]
    assert found.value > 0.6
    turned = estimate_error(LinearSVC(), X, Y, splitter, "roc_auc", pos_label=0)["roc_auc"]
    assert_allclose(turned.per_split, found.per_split, rtol=1e-12)
    with pytest.raises(ValueError, match="fit_predict's predictions of the test rows must hold probabilities"):
        estimate_error(LinearSVC(), X, Y, splitter, "brier_score")


def test_a_class_that_a_training_part_lacks() -> None:
    y = np.array([0] * 8 + [1, 2])
    found = estimate_error(majority, y, y, LeaveOneOut(), metric("f1", average="micro"))
    assert found.matrices is not None
    assert found.matrices.labels.tolist() == [0, 1, 2]
    assert found["f1(average='micro')"].micro == 0.8


def test_functions_as_metrics() -> None:
    def largest(y_true: Any, y_pred: Any) -> float:
        return float(np.abs(y_true - y_pred).max())

    splitter = KFold(3, rng=1)
    found = estimate_error(LinearRegression(), X, TARGETS, splitter, {"largest": largest, "mse": "mean_squared_error"})
    expected = [
        np.abs(LinearRegression().fit(X[train], TARGETS[train]).predict(X[test]) - TARGETS[test]).max()
        for train, test in splitter.split(X)
    ]
    assert_allclose(found["largest"].per_split[0], expected, rtol=1e-13)
    assert math.isnan(found["largest"].micro)
    assert not math.isnan(found["mse"].micro)


@pytest.mark.slow
def test_the_same_with_workers() -> None:
    splitter = BootstrapSplit(4, rng=1)
    asked = {"a": "accuracy", "auc": "roc_auc", "f": lambda y, p: float(np.mean(y == p))}
    alone = estimate_error(LogisticRegression(), X, Y, splitter, asked, method=".632")
    spread = estimate_error(LogisticRegression(), X, Y, splitter, asked, method=".632", n_jobs=2, progress=True)
    for name in asked:
        assert_array_equal(alone[name].per_split, spread[name].per_split)
        assert alone[name].value == spread[name].value


# The bootstrap ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", CASES["error_632"]["rows"], ids=str)
def test_published_corrections(row: list[float]) -> None:
    resubstitution, out_of_bag, rate, error, plus = row
    assert error_632(resubstitution, out_of_bag) == pytest.approx(error, rel=1e-12)
    assert error_632_plus(resubstitution, out_of_bag, rate) == pytest.approx(plus, rel=1e-9)


def test_corrections_of_arrays() -> None:
    rows = np.array(CASES["error_632"]["rows"]).T
    assert_allclose(error_632(*rows[:2]), rows[3], rtol=1e-12)
    assert_allclose(error_632_plus(*rows[:3]), rows[4], rtol=1e-9)
    assert error_632_plus([[0.1], [0.2]], 0.3, [0.5, 0.6, 0.7]).shape == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((math.nan, 0.5, 0.5), "resubstitution must not be NaN"),
        (("a", 0.5, 0.5), "resubstitution must hold numbers"),
        (
            ([0.1, 0.2], [0.1, 0.2, 0.3], 0.5),
            r"shapes must fit each other, got resubstitution \(2,\), out_of_bag \(3,\)",
        ),
    ],
)
def test_bad_corrections(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        error_632_plus(*arguments)


def gamma_of(y: Any, predicted: Any, slow: Callable[[Any, Any], float]) -> float:
    return slow(*twin.all_pairs(y, predicted))


@pytest.mark.parametrize("method", [".632", ".632+"])
def test_the_parts_of_a_bootstrap_of_labels_and_scores(method: str) -> None:
    splitter = BootstrapSplit(10, rng=1)
    model = KNeighborsClassifier(3)
    asked = ["error_rate", "accuracy", "roc_auc", "brier_score"]
    found = estimate_error(model, X, Y, splitter, asked, method=method)
    plain = estimate_error(model, X, Y, splitter, asked)
    fitted = clone(model).fit(X, Y)
    s = fitted.predict_proba(X)[:, 1]
    expected = {
        "error_rate": (lambda y, p: 1 - twin.accuracy(y, p), fitted.predict(X)),
        "accuracy": (twin.accuracy, fitted.predict(X)),
        "roc_auc": (twin.roc_auc, s),
        "brier_score": (twin.brier_score, s),
    }
    for name, (slow, predicted) in expected.items():
        parts = found[name].bootstrap
        assert parts is not None
        assert plain[name].bootstrap is None
        assert parts.out_of_bag == plain[name].value
        assert parts.resubstitution == pytest.approx(slow(Y, predicted), rel=1e-12)
        rate = 0.5 if name == "roc_auc" else gamma_of(Y, predicted, slow)
        assert parts.no_information_rate == pytest.approx(rate, rel=1e-12)
        mirror = (lambda value: 1 - value) if name in ("accuracy", "roc_auc") else (lambda value: value)
        given = [mirror(value) for value in (parts.resubstitution, parts.out_of_bag, parts.no_information_rate)]
        assert parts.error_632 == pytest.approx(mirror(error_632(*given[:2])), rel=1e-12)
        assert parts.error_632_plus == pytest.approx(mirror(error_632_plus(*given)), rel=1e-12)
        assert found[name].value == (parts.error_632 if method == ".632" else parts.error_632_plus)
        assert 0 <= parts.relative_overfitting_rate <= 1
        assert_array_equal(found[name].per_split, plain[name].per_split)
        # The width is the out-of-bag interval's width times the ratio of the errors.
        widths = [np.diff(each[name].confidence_interval)[0] for each in (found, plain)]
        ratio = mirror(found[name].value) / mirror(plain[name].value)
        assert widths[0] == pytest.approx(widths[1] * ratio, rel=1e-9)
    assert found["roc_auc"].bootstrap.no_information_rate == 0.5  # type: ignore[union-attr]
    assert found["error_rate"].value == pytest.approx(1 - found["accuracy"].value, rel=1e-12)


def test_the_parts_of_a_bootstrap_of_targets() -> None:
    asked = [
        "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "r2",
        metric("pinball_loss", quantile=0.2),
    ]  # fmt: skip
    found = estimate_error(least_squares, X, TARGETS, BootstrapSplit(5, rng=1), asked, method=".632+")
    predicted = least_squares(X, TARGETS, X)
    slow: dict[str, Callable[[Any, Any], float]] = {
        "mean_squared_error": twin.mean_squared_error,
        "mean_absolute_error": twin.mean_absolute_error,
        "mean_absolute_percentage_error": twin.mean_absolute_percentage_error,
        "r2": twin.r2,
        "pinball_loss(quantile=0.2)": lambda y, p: twin.pinball_loss(y, p, 0.2),
    }
    for name, function in slow.items():
        parts = found[name].bootstrap
        assert parts is not None
        assert parts.no_information_rate == pytest.approx(gamma_of(TARGETS, predicted, function), rel=1e-11), name
        assert parts.resubstitution == pytest.approx(function(TARGETS, predicted), rel=1e-11)


def test_a_learner_that_knows_its_rows_by_heart_gets_all_of_the_correction() -> None:
    # One nearest neighbour on random labels: resubstitution error 0, out-of-bag error about the no-information rate.
    y = np.random.default_rng(1).integers(0, 2, 90)
    found = estimate_error(KNeighborsClassifier(1), X, y, BootstrapSplit(30, rng=1), "error_rate", method=".632+")
    parts = found["error_rate"].bootstrap
    assert parts is not None
    assert parts.resubstitution == 0
    assert parts.error_632 == pytest.approx(0.632 * parts.out_of_bag)
    assert abs(found["error_rate"].value - 0.5) < 0.1
    assert parts.error_632 < 0.4


def test_the_out_of_bag_mean_by_name() -> None:
    splitter = BootstrapSplit(5, rng=1)
    found = estimate_error(majority, Y, Y, splitter, "accuracy", method="out-of-bag")
    assert found["accuracy"].bootstrap is None
    assert found["accuracy"].value == estimate_error(majority, Y, Y, splitter, "accuracy")["accuracy"].value
    assert_array_equal(found.n_train + found.n_test, 90)  # training and test rows differ


def test_functions_have_a_632_estimate_but_no_information() -> None:
    found = estimate_error(
        majority, Y, Y, BootstrapSplit(5, rng=1), {"wrong": lambda y, p: float(np.mean(y != p))}, method=".632"
    )["wrong"]
    assert found.bootstrap is not None
    assert math.isnan(found.bootstrap.no_information_rate)
    assert found.value == pytest.approx(0.368 * np.mean(majority(Y, Y, Y) != Y) + 0.632 * found.bootstrap.out_of_bag)


def test_632_plus_beyond_the_no_information_rate_is_as_its_docstring_says() -> None:
    err, out, none = 0.25, 0.75, 0.5
    value = error_632_plus(err, out, none)
    assert value == pytest.approx(0.632 * out + 0.368 * none, rel=1e-15)
    assert value > max(none, error_632(err, out))


def test_an_interval_of_a_value_of_another_sign_is_no_less_one() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 30))

    def by_heart(X_train: Any, y_train: Any, X_test: Any) -> Any:
        known = dict(zip(X_train.tolist(), y_train.tolist(), strict=True))
        return [known.get(each, 0.0) + 0.2 for each in X_test.tolist()]

    asked = {"bias": lambda y, p: float(np.mean(p - y))}
    found, plain = (
        estimate_error(by_heart, x, y, BootstrapSplit(8, rng=1), asked, method=method)["bias"]
        for method in (".632", None)
    )
    assert found.value > 0 > plain.value
    assert found.confidence_interval.low < found.value < found.confidence_interval.high


# Undefined and odd --------------------------------------------------------------------------------------------------


def test_undefined_splits_are_left_out_with_one_warning() -> None:
    y = np.array([0] * 10 + [1, 1])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = estimate_error(DummyClassifier(strategy="prior"), y[:, None], y, KFold(6, rng=1), "roc_auc")["roc_auc"]
    assert [each.category for each in seen] == [UndefinedMetricWarning] * 2
    assert "the interval of roc_auc is undefined (NaN): roc_auc is the same in all" in str(seen[1].message)
    assert found.n_undefined in (4, 5)
    assert f"roc_auc is undefined in {found.n_undefined} of 6 splits" in str(seen[0].message)
    assert found.value == 0.5


def test_one_class_alone_has_no_auc() -> None:
    y = np.zeros(6, dtype=int)
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined in 3 of 3 splits"):
        found = estimate_error(majority, y, y, KFold(3, rng=1), "roc_auc")["roc_auc"]
    assert math.isnan(found.value)
    assert math.isnan(found.confidence_interval.low)
    assert estimate_error(majority, y, y, KFold(3, rng=1), "accuracy")["accuracy"].value == 1


def nan_in_places(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return np.where(np.arange(len(X_test)) == 2, np.nan, 0.5)


FOLDS = KFold(3, rng=1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((3, X, Y, FOLDS, "accuracy"), {}, "fit_predict must be a function .* or have fit and predict"),
        ((majority, X[:5], Y, FOLDS, "accuracy"), {}, "y has 90 rows, but X has 5"),
        ((majority, X, Y, 5, "accuracy"), {}, "splitter must be a splitter such as KFold"),
        ((majority, X, Y, KFold, "accuracy"), {}, "splitter must be a splitter, got the class KFold"),
        ((majority, X, Y, [], "accuracy"), {}, "splitter is empty"),
        ((majority, X, Y, [([0, 1], [])], "accuracy"), {}, r"splitter\[0\] \(test\) must be 1-D with at least one row"),
        (
            (majority, X, Y, [([0, 1], [2]), ([0], [90])], "accuracy"),
            {},
            r"splitter\[1\] \(test\) .* from 0 to 89, got 90",
        ),
        ((majority, X, Y, [([-1, 1], [2])], "accuracy"), {}, r"splitter\[0\] \(train\) must hold row numbers from 0"),
        ((majority, X, Y, [([0, 1], [1, 2])], "accuracy"), {}, r"splitter\[0\] has 1 rows in both parts, row 1 among"),
        ((majority, X, Y, [([0, 1], [2, 2])], "accuracy"), {}, r"splitter\[0\] \(test\) has row 2 more than once"),
        (
            (majority, X, Y, [([0.0, 1.0], [2])], "accuracy"),
            {},
            r"splitter\[0\] \(train\) must hold row numbers, got dtype",
        ),
        ((majority, X, Y, [3], "accuracy"), {}, r"splitter\[0\] must be a pair \(train, test\)"),
        (
            (majority, X, Y, FOLDS, ["accuracy", "roc_auc"]),
            {},
            r"metrics must all be of labels, all of scores or all of numbers \(one array is measured\), but",
        ),
        (
            (LogisticRegression(), X, Y, FOLDS, ["accuracy", "r2"]),
            {},
            "metrics must all be of classes or all of numbers, but",
        ),
        (
            (nan_in_places, X, Y, FOLDS, "roc_auc"),
            {},
            "predictions of the test rows must be finite, but has 1 NaN.*row 2",
        ),
        (
            (lambda a, b, c: [7] * len(c), X, Y, FOLDS, "accuracy"),
            {},
            "predictions of the test rows has the label 7 at",
        ),
        ((majority, X, None, FOLDS, "accuracy"), {}, "y must"),
        ((majority, X, Y, FOLDS, "accuracy"), {"params": 3}, "params must be a mapping"),
        (
            (LinearRegression(), X, Y, FOLDS, "roc_auc"),
            {},
            "fit_predict must have predict_proba or decision_function, .* LinearRegression",
        ),
        ((majority, X, TARGETS, FOLDS, "accuracy"), {}, "y must hold class labels, whole numbers"),
        ((majority, X, Y, FOLDS, "accuracy"), {"method": ".632"}, "method goes with a BootstrapSplit"),
        (
            (majority, X, Y, BootstrapSplit(3), "accuracy"),
            {"method": "632"},
            "method must be one of None, 'out-of-bag'",
        ),
        ((majority, X, Y, BootstrapSplit(3), {"f": twin.accuracy}), {"method": ".632+"}, "isn't known for 'f'"),
        ((majority, X, Y, FOLDS, "accuracy"), {"training": "yes"}, "training must be True or False"),
        ((majority, X, Y, FOLDS, "accuracy"), {"n_jobs": 0}, "n_jobs must not be 0"),
        ((majority, X, Y, FOLDS, "accuracy"), {"confidence_level": 95}, "confidence_level must be in"),
    ],
)
def test_bad_input(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_error(*arguments, **options)


def test_an_error_of_the_learner_says_where() -> None:
    def fails(X_train: Any, y_train: Any, X_test: Any) -> Any:
        raise ArithmeticError("singular")

    with pytest.raises(ArithmeticError, match="singular") as caught:
        estimate_error(fails, X, Y, KFold(3, n_repeats=2, rng=1), "accuracy")
    assert caught.value.__notes__ == ["in the fit of repetition 0, fold 0"]
    pairs = [([1], [2]), ([0], [3])]
    with pytest.raises(ArithmeticError, match="singular") as caught:
        estimate_error(
            lambda a, b, c: fails(a, b, c) if 0 in a else [1], np.arange(90), Y, pairs, "accuracy", on_error="raise"
        )
    assert caught.value.__notes__ == ["in the fit of repetition 0, fold 1"]  # as in `per_split`


# Results ------------------------------------------------------------------------------------------------------------


def test_the_result() -> None:
    splitter = BootstrapSplit(4, rng=1)
    found = estimate_error(majority, Y, Y, splitter, ["accuracy", "error_rate"], method=".632+", training=True)
    assert repr(found).startswith(
        "ErrorEstimates(4 x 1 splits, 0.95, method='.632+', pos_label=1\n  accuracy: ErrorEstimate(0."
    )
    assert found.splitter is splitter
    as_dict = found.to_dict()
    json.dumps(as_dict)
    assert as_dict["splitter"] == repr(splitter)
    assert as_dict["metrics"]["accuracy"]["bootstrap"]["out_of_bag"] == found["accuracy"].bootstrap.out_of_bag
    assert len(as_dict["metrics"]["accuracy"]["training"]["per_split"]) == 4
    again = pickle.loads(pickle.dumps(found))
    assert json.dumps(again.to_dict()) == json.dumps(as_dict)  # NaN is not equal to itself


# Both ways to count -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "splitter",
    [HoldOut(0.3, n_repeats=3, rng=1), KFold(4, n_repeats=2, rng=1), LeaveOneOut(), BootstrapSplit(4, rng=1)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_fixed_predictions_that_a_learner_looks_up(splitter: Any) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 24)
    scores = rng.choice([0.0, 0.2, 0.5, 0.7, 1.0], 24)
    of_scores = ["roc_auc", "log_loss", "average_precision", metric("f1", threshold=0.5), metric("recall", best="f1")]
    cases: list[tuple[Any, list[Any]]] = [
        (scores, of_scores),
        ((scores > 0.4).astype(int), ["accuracy", "f1", metric("recall", average="macro")]),
        (scores, ["mean_squared_error", "r2", "median_absolute_error", metric("pinball_loss", quantile=0.1)]),
    ]
    for predicted, metrics in cases:
        fixed = evaluate_splits(y, predicted, splitter, metrics)
        fitted = estimate_error(lambda a, b, rows, p=predicted: p[rows], np.arange(24), y, splitter, metrics)
        assert_array_equal(fixed.n_train, fitted.n_train)
        for name in fixed:
            ours, theirs = fixed[name], fitted[name]
            assert_allclose(ours.per_split, theirs.per_split, rtol=1e-12, atol=1e-14, err_msg=name)
            assert_allclose(ours.micro, theirs.micro, rtol=1e-12, atol=1e-14, err_msg=name)
            assert_allclose(ours.confidence_interval, theirs.confidence_interval, rtol=1e-10, atol=1e-12, err_msg=name)


# What is asked of two classes ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_labels_and_scores_have_one_positive_class() -> None:
    of = {"recall": "recall", "of scores": metric("recall", threshold=0.5)}
    splitter = KFold(5, rng=1)
    for options in ({"labels": [1, 0]}, {"pos_label": 0}, {"labels": [1, 0], "pos_label": 0}):
        found = estimate_error(LogisticRegression(), X, Y, splitter, of, **options)
        assert found.matrices is not None
        assert found.matrices.labels.tolist() == [1, 0]
        assert_array_equal(found["recall"].per_split, found["of scores"].per_split)
        assert found["recall"].value != estimate_error(LogisticRegression(), X, Y, splitter, of)["recall"].value


def test_a_positive_class_that_no_row_has() -> None:
    found = evaluate_splits(["no"] * 6, ["no"] * 6, [0, 1] * 3, "specificity", pos_label="yes")
    assert found["specificity"].value == 1.0


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (Y, {"labels": [0, 1], "pos_label": 0}, "pos_label must be the last of labels .* got 0 and 0, 1"),
        (Y, {"labels": [0, 1], "pos_label": "z"}, r"pos_label must be a label of labels \(0, 1\), got 'z'"),
        (Y, {"labels": [0, 1, 2], "pos_label": 1}, "pos_label needs two classes, but labels has 3: 0, 1, 2"),
        (np.arange(90) % 3, {"pos_label": 1}, "pos_label needs two classes, but y has 3: 0, 1, 2"),
        (Y, {"pos_label": np.array([0, 1])}, r"pos_label must be a label of y \(.*\), got array\(\[0, 1\]\)"),
    ],
)
def test_a_positive_class_that_does_not_fit(y: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_error(majority, X, y, KFold(3), "accuracy", **options)


@pytest.mark.parametrize(
    "asked",
    [
        "f1",
        metric("precision", average=None),
        metric("precision", average="nope"),
        metric("f_score", average="macro", beta=-1),
        metric("cost", cost_matrix=np.ones((2, 2))),
    ],
    ids=str,
)
def test_what_cannot_be_measured_is_an_error_before_the_first_fit(asked: Any) -> None:
    fits = []

    def learner(X_train: Any, y_train: Any, X_test: Any) -> Any:
        fits.append(1)
        return majority(X_train, y_train, X_test)

    with pytest.raises((ValueError, TypeError)):
        estimate_error(learner, X, np.arange(90) % 3, KFold(3), asked)
    assert not fits


# Learners and functions that do what they should not ----------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_a_learner_that_raises_stop_iteration(n_jobs: int | None) -> None:
    with pytest.raises(RuntimeError):
        estimate_error(_exhausted, X, Y, KFold(4), "accuracy", n_jobs=n_jobs)


def _exhausted(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return next(iter(()))


def test_functions_that_sort_in_place() -> None:
    kept = []

    def learner(X_train: Any, y_train: Any, X_test: Any) -> Any:
        kept.append((predicted := X_test[:, 0].copy(), predicted.copy()))
        return predicted

    def last(y_true: Any, y_pred: Any) -> float:
        y_true.sort()
        y_pred.sort()
        return float(y_pred[-1])

    def first(y_true: Any, y_pred: Any) -> float:
        return float(y_pred[0])

    splits = KFold(3, rng=0)
    for of in (partial(estimate_error, learner, X), lambda y, *rest: evaluate_splits(y, X[:, 0], *rest)):
        both, alone = (of(Y, splits, functions)["first"] for functions in ({"last": last, "first": first}, [first]))
        assert_array_equal(both.per_split, alone.per_split)
    assert all(np.array_equal(*pair) for pair in kept)


def test_a_mixture_of_texts_and_numbers() -> None:
    y = ["0", "1"] * 10
    mixed: Any = [1, "0"] * 10
    with pytest.raises(ValueError, match=r"y_pred must .* got 1 \(int\) at row 0"):
        evaluate_splits(y, mixed, [0, 1] * 10, "accuracy")
    with pytest.raises(ValueError, match=r"fit_predict's predictions must .* got 1"):
        estimate_error(lambda a, b, c: mixed[: len(c)], y, y, KFold(2), "accuracy")


def test_labels_of_any_width() -> None:
    big = np.array([2**60, 2**60 + 1] * 10)
    for one, other in ((big, big.astype(np.uint64)), (big.astype(np.uint64), big)):
        assert evaluate_splits(one, other, [0, 1] * 10, "accuracy")["accuracy"].value == 1.0
    for dtype in (np.uint64, ">u8"):
        with pytest.raises(ValueError, match="y_true must fit 64-bit signed integers"):
            evaluate_splits(np.array([2**63, 1] * 10, dtype=dtype), big, [0, 1] * 10, "accuracy")


# The size of errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-700, 700, 1020])
def test_the_unit_of_errors_does_not_matter(power: int) -> None:
    y = np.arange(1.0, 13.0)
    folds = np.arange(12) % 4
    one = evaluate_splits(y, y + y**1.5, folds, "mean_absolute_error")["mean_absolute_error"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        large = evaluate_splits(np.zeros(12), np.ldexp(y**1.5, power - 5), folds, "mean_absolute_error")
    found = large["mean_absolute_error"]
    for name in ("value", "standard_deviation"):
        assert_allclose(math.ldexp(getattr(found, name), 5 - power), getattr(one, name), rtol=1e-13)


def test_corrections_of_infinite_losses() -> None:
    y = np.arange(40) % 2
    x = np.where(np.arange(40) < 36, y, 1 - y)[:, None] * 1.0
    found = estimate_error(
        KNeighborsClassifier(1), x + np.arange(40)[:, None] * 1e-6, y, BootstrapSplit(20, rng=0), "log_loss",
        method=".632+",
    )["log_loss"]  # fmt: skip
    assert found.bootstrap is not None
    assert (found.value, found.bootstrap.relative_overfitting_rate) == (math.inf, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert error_632_plus(math.inf, math.inf, 1.0) == math.inf
        assert error_632_plus(0.0, math.inf, 0.5) == math.inf
        assert error_632_plus(0.0, math.inf, math.inf) == math.inf
        assert error_632_plus(0.0, 0.25, math.inf) == error_632(0.0, 0.25)


def test_the_corrected_interval_of_a_function_is_as_wide_as_out_of_the_bag() -> None:
    def accuracy(y_true: Any, y_pred: Any) -> float:
        return float(np.mean(y_true == y_pred))

    splitter = BootstrapSplit(30, rng=1)
    model = KNeighborsClassifier(1)
    corrected = estimate_error(model, X, Y, splitter, {"f": accuracy}, method=".632")["f"]
    plain = estimate_error(model, X, Y, splitter, {"f": accuracy})["f"]
    width = [each.confidence_interval.high - each.confidence_interval.low for each in (corrected, plain)]
    assert width[0] == pytest.approx(width[1], rel=1e-12)


def test_the_bounds_of_a_part_of_an_area() -> None:
    asked = metric("roc_auc", max_fpr=0.1, standardize=False)
    found = evaluate_splits(Y, np.random.default_rng(3).random(Y.size), KFold(6, stratified=True, rng=0), asked)
    (estimate,) = found.values()
    assert estimate.confidence_interval.low == 0.0
    best = evaluate_splits(Y, Y + X[:, 0], HoldOut(0.2, n_repeats=9, stratified=True, rng=0), asked)
    assert next(iter(best.values())).confidence_interval.high <= 0.1
