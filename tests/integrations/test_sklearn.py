from __future__ import annotations

import pickle

import numpy as np
import pytest

import fastevals as fe

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import IsolationForest, RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.metrics import f1_score, make_scorer  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] + 2 * RNG.normal(size=300) > 0).astype(int)
TEXT = np.array(["no", "yes"])[Y]
CLASSES = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300)]
W = RNG.random(300)
LOGISTIC = LogisticRegression()
FOREST = RandomForestClassifier(5, random_state=0)


@pytest.mark.cases(7)
@pytest.mark.parametrize(
    ("model", "y", "ours", "theirs"),
    [
        (LOGISTIC, Y, fe.scorer("roc_auc"), "roc_auc"),
        (LOGISTIC, Y > 0, fe.scorer("average_precision"), "average_precision"),
        (LOGISTIC, Y, fe.scorer("log_loss"), "neg_log_loss"),
        (LOGISTIC, Y, fe.scorer("brier_score"), "neg_brier_score"),
        (LOGISTIC, Y, fe.scorer("f1"), "f1"),
        (make_pipeline(StandardScaler(), LOGISTIC), TEXT, fe.scorer("roc_auc", pos_label="no"), "roc_auc"),
        (LinearSVC(), TEXT, fe.scorer("roc_auc", pos_label="no"), "roc_auc"),
        (LinearSVC(), TEXT, fe.scorer("roc_auc", pos_label="yes"), "roc_auc"),
        (LOGISTIC, TEXT, fe.scorer("accuracy"), "accuracy"),
        (LOGISTIC, TEXT, fe.scorer(fe.metric("f1", average="macro")), "f1_macro"),
        (FOREST, CLASSES, fe.scorer("accuracy"), "accuracy"),
        (FOREST, CLASSES, fe.scorer("roc_auc"), "roc_auc_ovr"),
        (FOREST, CLASSES, fe.scorer(fe.metric("roc_auc", average="weighted")), "roc_auc_ovr_weighted"),
        (FOREST, np.stack([Y, 1 - Y], axis=1), fe.scorer("roc_auc"), "roc_auc"),
        (LinearRegression(), W, fe.scorer("r2"), "r2"),
        (LinearRegression(), W, fe.scorer("rmse"), "neg_root_mean_squared_error"),
    ],
)
def test_scores_of_folds_are_those_of_scikit_learn(model, y, ours, theirs) -> None:
    found = cross_val_score(model, X, y, scoring=ours, cv=3, error_score="raise")
    np.testing.assert_allclose(found, cross_val_score(model, X, y, scoring=theirs, cv=3), rtol=1e-12)


def test_metrics_that_scikit_learn_lacks() -> None:
    model = LogisticRegression().fit(X, Y)
    p = model.predict_proba(X)[:, 1]
    recall = fe.scorer(fe.metric("recall", fpr=0.01))
    assert recall(model, X, Y) == fe.Ranking(Y, p).threshold_for(fpr=0.01).value
    cost = fe.scorer(fe.metric("expected_cost", threshold=0.2, cost_fn=5))
    assert cost(model, X, Y) == -fe.Ranking(Y, p).expected_cost(0.2, cost_fn=5)
    matrix = fe.metric("cost", cost_matrix=[[0, 1], [5, 0]])
    fitted = LogisticRegression().fit(X, TEXT)
    confusion = fe.ConfusionMatrix.from_predictions(TEXT, fitted.predict(X), pos_label="yes")
    assert fe.scorer(matrix)(fitted, X, TEXT) == -confusion.cost([[0, 1], [5, 0]])
    outliers = IsolationForest(n_estimators=5, random_state=0).fit(X)
    expected = fe.Ranking(Y, outliers.decision_function(X)).roc_auc()
    assert fe.scorer("roc_auc")(outliers, X, Y) == expected
    regression = LinearRegression().fit(X, Y)
    assert fe.scorer("roc_auc")(regression, X, Y) == fe.Ranking(Y, regression.predict(X)).roc_auc()


def test_weights() -> None:
    model, auc = LogisticRegression().fit(X, Y), fe.scorer("roc_auc")
    expected = fe.Ranking(Y, model.predict_proba(X)[:, 1], sample_weight=W).roc_auc()
    assert auc(model, X, Y, sample_weight=W) == expected
    with sklearn.config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=False)
        for request, passed in ((True, "sample_weight"), ("mine", "mine")):
            found = []
            for scorer in (fe.scorer("roc_auc"), sklearn.metrics.get_scorer("roc_auc")):
                routed = scorer.set_score_request(sample_weight=request)
                several = cross_validate(learner, X, Y, scoring={"it": routed}, cv=2, params={passed: W})
                found += [several["test_it"], cross_val_score(learner, X, Y, scoring=routed, cv=2, params={passed: W})]
            np.testing.assert_allclose(found, found[:1] * 4, rtol=1e-12)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="not explicitly set as requested"):
            cross_val_score(learner, X, Y, scoring=fe.scorer("roc_auc"), params={"sample_weight": W})


def test_a_search_by_several_metrics() -> None:
    scoring = {"auc": fe.scorer("roc_auc"), "brier": fe.scorer("brier_score"), "own": "neg_brier_score"}
    search = GridSearchCV(LOGISTIC, {"C": [0.01, 1]}, scoring=scoring, refit="brier", cv=3)
    clone(search).fit(X, Y)
    found = search.fit(X, Y).cv_results_
    np.testing.assert_allclose(found["mean_test_brier"], found["mean_test_own"], rtol=1e-12)
    assert search.best_index_ == np.argmax(found["mean_test_brier"])
    assert repr(pickle.loads(pickle.dumps(search)).scoring["auc"]) == "scorer(roc_auc)"


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("y", "ours", "theirs"),
    [
        (Y, fe.scorer("f1"), "f1"),
        (TEXT, fe.scorer("f1", pos_label="no"), make_scorer(f1_score, pos_label="no")),
        (TEXT, fe.scorer("error_rate"), "accuracy"),
    ],
)
def test_a_threshold_is_tuned(y, ours, theirs) -> None:
    found, other = (TunedThresholdClassifierCV(LOGISTIC, scoring=each, cv=3, thresholds=25) for each in (ours, theirs))
    for each in (found, other):
        each.fit(X, y)
    assert found.best_threshold_ == other.best_threshold_


def test_labels_in_one_column() -> None:
    model, column = LOGISTIC.fit(X, Y), Y[:, None]
    for scorer in (fe.scorer("roc_auc"), fe.scorer("f1"), fe.scorer("log_loss")):
        assert scorer(model, X, column) == scorer(model, X, column.tolist()) == scorer(model, X, Y)


def test_a_fold_that_lacks_a_class() -> None:
    model, few = FOREST.fit(X, CLASSES), CLASSES != "a"
    p = model.predict_proba(X[few])
    rows = np.arange(len(p)), (CLASSES[few] == "c") + 1
    expected = -float(np.mean(-np.log(np.maximum(p[rows], 1e-300))))
    if p[rows].all():
        assert fe.scorer("log_loss")(model, X[few], CLASSES[few]) == pytest.approx(expected)
    assert fe.scorer("accuracy")(model, X[few], CLASSES[few]) == (model.predict(X[few]) == CLASSES[few]).mean()
    binary = LogisticRegression().fit(X, TEXT)
    with pytest.warns(fe.UndefinedMetricWarning):
        assert np.isnan(fe.scorer("roc_auc", pos_label="yes")(binary, X[Y == 1], TEXT[Y == 1]))
    loss = fe.scorer("log_loss", pos_label="yes")(binary, X[Y == 1], TEXT[Y == 1])
    assert loss == pytest.approx(np.log(binary.predict_proba(X[Y == 1])[:, 1]).mean())


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"metric": "ndcg@3"}, "metric must not measure ranked documents: scorers are not given queries, got ndcg@3"),
        ({"metric": "crps"}, "metric must not be of predicted quantiles, got crps"),
        ({"metric": "mean_predicted"}, "metric: mean_predicted has no direction, so no model is best by it"),
        ({"metric": "neg_log_loss"}, "metric must be one of"),
        ({"metric": len}, "metric must be a name or metric(...), got <built-in function len>"),
        ({"pos_label": [1]}, "pos_label must be a label, got [1]"),
    ],
)
def test_what_is_refused(options, rule) -> None:
    with pytest.raises(ValueError, match=r"must|has no") as caught:
        fe.scorer(**{"metric": "roc_auc"} | options)
    assert str(caught.value).startswith(rule)


def test_estimators_that_lack_what_the_metric_needs() -> None:
    with pytest.raises(ValueError, match=r"log_loss needs predict_proba, and LinearSVC\(\) has none"):
        fe.scorer("log_loss")(LinearSVC().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="the estimator's classes_ has the labels 'no', 'yes': pos_label must say"):
        fe.scorer("roc_auc")(LogisticRegression().fit(X, TEXT), X, TEXT)
    with pytest.raises(ValueError, match="pos_label must be a label of the estimator's classes_"):
        fe.scorer("roc_auc", pos_label="si")(LogisticRegression().fit(X, TEXT), X, TEXT)
