from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import fastevals
from fastevals.integrations.catboost import metric

cb = pytest.importorskip("catboost", reason="catboost is not installed")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = (X[:, 0] + 2 * RNG.normal(size=600) > 0).astype(int)
CLASSES = RNG.integers(0, 3, 600)
W = RNG.random(600)
TRAIN, TEST = slice(0, 300), slice(300, 600)
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("roc_auc", "AUC"),
        ("log_loss", "Logloss"),
        (fastevals.metric("f1", threshold=0.5), "F1"),
        ("brier_score", "BrierScore"),
    ],
)
def test_training_stops_at_the_best_round_and_finds_catboosts_values(name, theirs) -> None:
    ours = metric(name)
    model = cb.CatBoostClassifier(
        iterations=100, eval_metric=ours, custom_metric=f"{theirs}:use_weights=true", early_stopping_rounds=7, **QUIET
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # CatBoost warns of methods that it can't compile
        model.fit(X[TRAIN], Y[TRAIN], sample_weight=W[TRAIN], eval_set=cb.Pool(X[TEST], Y[TEST], weight=W[TEST]))
    found = model.get_evals_result()["validation"]
    history = found[ours.name]
    best = int(np.argmax(history) if ours.is_max_optimal() else np.argmin(history))
    assert (model.best_iteration_, len(history)) == (best, best + 8)
    np.testing.assert_allclose(history, found[f"{theirs}:use_weights=true"], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("log_loss", "MultiClass"),
        ("accuracy", "Accuracy"),
        (fastevals.metric("f1", average="macro"), "TotalF1:average=Macro"),
    ],
)
def test_classes_of_text(name, theirs) -> None:
    text, ours = np.array(["a", "b", "c"])[CLASSES], metric(name)
    model = cb.CatBoostClassifier(
        iterations=5, loss_function="MultiClass", eval_metric=ours, custom_metric=theirs, **QUIET
    )
    found = model.fit(X[TRAIN], text[TRAIN], eval_set=(X[TEST], text[TEST])).get_evals_result()["validation"]
    np.testing.assert_allclose(found[ours.name], found[theirs], rtol=1e-9)


def test_classes_by_probability() -> None:
    ours = metric("roc_auc")
    model = cb.CatBoostClassifier(iterations=5, loss_function="MultiClass", eval_metric=ours, **QUIET)
    found = model.fit(X, CLASSES).get_evals_result()["learn"]["roc_auc"]
    expected = fastevals.ClassRankings(CLASSES, model.predict_proba(X)).roc_auc()
    assert found[-1] == pytest.approx(expected, rel=1e-12)


def test_numbers_and_cross_validation() -> None:
    model = cb.CatBoostRegressor(iterations=4, eval_metric=metric("rmse"), **QUIET)
    found = model.fit(X, CLASSES).get_evals_result()["learn"]
    np.testing.assert_allclose(found["root_mean_squared_error"], found["RMSE"], rtol=1e-9)
    params = {"loss_function": "Logloss", "iterations": 3, "eval_metric": metric("roc_auc"), "custom_metric": "AUC"}
    found = cb.cv(cb.Pool(X, Y), params | QUIET, as_pandas=False)
    np.testing.assert_allclose(found["test-roc_auc-mean"], found["test-AUC-mean"], rtol=1e-6)


def test_far_raw_values_have_probabilities() -> None:
    ours = metric("log_loss")
    assert ours.evaluate([np.array([800.0, -800.0])], np.array([1, 0]), None) == (0.0, 1.0)
    ranked = metric("roc_auc").evaluate([np.array([800.0, 801.0])], np.array([0, 1]), None)
    assert ranked == (1.0, 1.0)  # as probabilities, these would be equal


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="it needs the query of each row, which CatBoost lacks"):
        metric("ndcg@10")
    with pytest.raises(ValueError, match="mean_predicted has no direction"):
        metric("mean_predicted")
    with pytest.raises(ValueError, match="name must be a string that is not empty and has no null characters, got 3"):
        metric("roc_auc", name=3)
    with pytest.raises(ValueError, match=r"has no null characters, got 'a\\x00b'"):
        metric("roc_auc", name="a\0b")
    with pytest.raises(cb.CatBoostError, match="f1 is of predicted labels, but CatBoost predicts scores"):
        cb.CatBoostClassifier(iterations=1, eval_metric=metric("f1"), **QUIET).fit(X, Y)


def test_a_metric_can_be_copied_and_stored() -> None:
    ours = metric("roc_auc", name="mine")
    assert copy.deepcopy(ours) is ours
    model = pickle.loads(pickle.dumps(cb.CatBoostClassifier(iterations=2, eval_metric=ours, **QUIET).fit(X, Y)))
    assert repr(model.get_params()["eval_metric"]) == "CatBoostMetric(mine)"
    assert "mine" in model.get_evals_result()["learn"]
    sklearn = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    assert sklearn.clone(model).get_params()["eval_metric"].name == "mine"
