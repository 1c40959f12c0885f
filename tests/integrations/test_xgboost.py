from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import fastevals
from fastevals.integrations.xgboost import MAXIMISED, metric
from fastevals.measure.registry import METRICS

xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = (X[:, 0] + 2 * RNG.normal(size=600) > 0).astype(int)
CLASSES = RNG.integers(0, 3, 600)
RELEVANCE = RNG.integers(0, 4, 600)
W = RNG.random(600)
TRAIN, TEST = slice(0, 300), slice(300, 600)
BINARY = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}


def matrix(rows: slice = slice(None), y=Y, **more):
    return xgb.DMatrix(X[rows], y[rows], nthread=1, **more)


def train(params, data, scored, n=60, **options):
    """Train, and return the booster and the metrics' histories on `scored`."""
    found: dict = {}
    options = {"evals": [(data, "train"), (scored, "test")], "evals_result": found, "verbose_eval": False} | options
    return xgb.train(params, data, n, **options), found["test"]


def best_round(metric, history) -> int:
    return int(np.argmax(history) if metric.maximize else np.argmin(history))


@pytest.mark.parametrize(
    "name", ["roc_auc", "log_loss", "rank_loss", fastevals.metric("f1", threshold=0.5), "average_precision"]
)
@pytest.mark.parametrize("told", [False, True])
def test_training_stops_at_the_best_round(name, told) -> None:
    ours = metric(name)
    if told:  # by the user, in either of XGBoost's ways
        ours = metric(name, name="mine", maximize=ours.maximize)
    patience = {"early_stopping_rounds": 8, "maximize": ours.maximize} if told else {"early_stopping_rounds": 8}
    data, scored = matrix(TRAIN, weight=W[TRAIN]), matrix(TEST, weight=W[TEST])
    booster, found = train(BINARY, data, scored, custom_metric=ours, **patience)
    history = found[ours.name]
    assert booster.best_iteration == best_round(ours, history)
    assert len(history) == booster.best_iteration + 9 < 60
    predicted = booster.predict(scored, iteration_range=(0, len(history)))
    expected = fastevals.batch_metrics(Y[TEST], [predicted], {"it": name}, sample_weight=W[TEST])["it"][0]
    assert ours.last == pytest.approx(expected, rel=1e-6)  # XGBoost stores weights as float32
    assert history[-1] == round(ours.last, 6)

    stop = xgb.callback.EarlyStopping(rounds=8, maximize=ours.maximize)
    alone, _ = train(BINARY, data, scored, custom_metric=ours, callbacks=[stop])
    assert alone.best_iteration == booster.best_iteration


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", fastevals.metric("f1", threshold=0.5)])
def test_a_scikit_learn_class_stops_at_the_best_round(name) -> None:
    ours = metric(name)
    booster, _ = train(
        BINARY, matrix(TRAIN, weight=W[TRAIN]), matrix(TEST, weight=W[TEST]), custom_metric=ours,
        early_stopping_rounds=8,
    )  # fmt: skip
    model = xgb.XGBClassifier(
        n_estimators=60, max_depth=4, n_jobs=1, early_stopping_rounds=8, eval_metric=ours
    )  # fmt: skip
    rows = {"eval_set": [(X[TEST], Y[TEST])], "sample_weight_eval_set": [W[TEST]], "sample_weight": W[TRAIN]}
    model.fit(X[TRAIN], Y[TRAIN], verbose=False, **rows)
    history = model.evals_result()["validation_0"][ours.name]
    assert model.best_iteration == best_round(ours, history) == booster.best_iteration


def test_xgboost_finds_the_same_values() -> None:
    own = {"roc_auc": "auc", "log_loss": "logloss", fastevals.metric("error_rate", threshold=0.5): "error"}
    for ours, theirs in ((metric(name), theirs) for name, theirs in own.items()):
        data = matrix(TRAIN, weight=W[TRAIN])
        _, found = train({**BINARY, "eval_metric": theirs}, data, matrix(TEST, weight=W[TEST]), 5, custom_metric=ours)
        np.testing.assert_allclose(found[ours.name], found[theirs], atol=1e-6)


@pytest.mark.parametrize(("ours", "theirs"), [("log_loss", "mlogloss"), ("error_rate", "merror")])
def test_classes(ours, theirs) -> None:
    params = {"objective": "multi:softprob", "num_class": 3, "eval_metric": theirs, "nthread": 1}
    data = matrix(y=CLASSES, weight=W)
    _, found = train(params, data, data, 4, custom_metric=metric(ours))
    np.testing.assert_allclose(found[ours], found[theirs], atol=2e-6)


def test_a_class_that_the_evaluated_rows_lack() -> None:
    few = CLASSES < 2
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, eval_metric=metric("log_loss"))
    model.fit(X, CLASSES, eval_set=[(X[few], CLASSES[few])], verbose=False)
    found = model.evals_result()["validation_0"]
    np.testing.assert_allclose(found["log_loss"], found["mlogloss"], atol=2e-6)


def test_predicted_classes() -> None:
    data, ours = matrix(y=CLASSES), metric(fastevals.metric("f1", average="macro"))
    params = {"objective": "multi:softmax", "num_class": 3, "nthread": 1}
    booster, found = train(params, data, data, 3, custom_metric=ours)
    at_last = fastevals.ConfusionMatrix.from_predictions(CLASSES, booster.predict(data)).f_score(average="macro")
    assert found[ours.name][-1] == round(at_last, 6)
    with pytest.raises(ValueError, match="y_true must have two classes, got 3 labels"):
        train(params, data, data, 1, custom_metric=metric("roc_auc"))


def test_numbers() -> None:
    model = xgb.XGBRegressor(n_estimators=4, n_jobs=1, eval_metric=metric("mae"))
    model.fit(X, RELEVANCE, eval_set=[(X, RELEVANCE)], verbose=False)
    data = matrix(y=RELEVANCE)
    _, found = train({"eval_metric": "mae", "nthread": 1}, data, data, 4)
    np.testing.assert_allclose(model.evals_result()["validation_0"]["mean_absolute_error"], found["mae"], atol=2e-6)


@pytest.mark.parametrize("weights", [None, RNG.random(30)])
def test_ranked_documents(weights) -> None:
    queries = np.repeat(np.arange(30), 20)
    relevant = (RELEVANCE > 1).astype(int)
    data = matrix(y=relevant, qid=queries)
    if weights is not None:
        data.set_weight(weights)
    ours = metric("ndcg@10")
    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1}
    booster, found = train(params, data, data, 3, custom_metric=ours)
    by_query = fastevals.query_metrics(relevant, booster.predict(data), queries, "ndcg@10", interval=None)["ndcg@10"]
    assert ours.last == pytest.approx(np.average(by_query.values, weights=weights), rel=1e-6)
    if weights is None:  # XGBoost breaks ties by position, and fastevals averages over the orders of tied documents
        np.testing.assert_allclose(found[ours.name], found["ndcg@10"], atol=0.01)
    auc = metric("roc_auc")  # weights of groups are weights of their rows
    auc(booster.predict(data), data)
    of_rows = None if weights is None else np.repeat(weights, 20).astype(np.float32)
    assert auc.last == fastevals.Ranking(relevant, booster.predict(data), sample_weight=of_rows).roc_auc()


def test_a_query_metric_without_groups_is_refused() -> None:
    needs = "ndcg@10 measures ranked documents: it needs the query of each row"
    data = matrix()
    with pytest.raises(ValueError, match=f"{needs}, but the data has no groups"):
        train(BINARY, data, data, 1, custom_metric=metric("ndcg@10"))
    options = {"n_estimators": 1, "n_jobs": 1, "eval_metric": metric("ndcg@10")}
    with pytest.raises(ValueError, match=f"{needs}, which XGBoost's scikit-learn classes do not pass"):
        xgb.XGBRegressor(**options).fit(X, Y, eval_set=[(X, Y)], verbose=False)
    groups = {"group": [300, 300], "eval_group": [[300, 300]]}
    with pytest.raises(ValueError, match=r"use xgboost.train\(custom_metric=...\)"):
        xgb.XGBRanker(**options).fit(X, Y, eval_set=[(X, Y)], verbose=False, **groups)


def test_cross_validation() -> None:
    ours = metric("roc_auc")
    params = {**BINARY, "eval_metric": "auc"}
    found = xgb.cv(params, matrix(weight=W), 5, nfold=3, custom_metric=ours, as_pandas=False)
    np.testing.assert_allclose(found[f"test-{ours.name}-mean"], found["test-auc-mean"], atol=2e-6)


def logistic(margins, data):
    p = 1 / (1 + np.exp(-margins))
    return p - data.get_label(), p * (1 - p)


def test_margins() -> None:
    data, ours = matrix(), metric("roc_auc")
    _, found = train({"eval_metric": "auc", "base_score": 0.0, "nthread": 1}, data, data, 3, obj=logistic,
                     custom_metric=ours)  # fmt: skip
    np.testing.assert_allclose(found[ours.name], found["auc"], atol=1e-6)
    with pytest.raises(ValueError, match=r"brier_score needs probabilities, in \[0, 1\], got -\S+ at row \d+: with an "
                                         "objective of your own, XGBoost passes margins"):  # fmt: skip
        train({"nthread": 1}, data, data, 3, obj=logistic, custom_metric=metric("brier_score"))


def test_bad_rows() -> None:
    ours = metric("roc_auc")
    score = X[:, 0].astype(np.float32)
    spoiled = score.copy()
    spoiled[17] = np.nan
    with pytest.raises(ValueError, match="must be finite, but has 1 NaN value, the first at row 17"):
        ours(spoiled, matrix())
    with pytest.raises(ValueError, match="y_true must have two classes, got 600 labels"):
        ours(score, matrix(y=W))
    with pytest.raises(ValueError, match="is empty"):
        ours(score[:0], matrix(slice(0, 0)))
    with pytest.raises(ValueError, match=r"f1 is of predicted labels, but XGBoost predicts scores: pass "
                                         r"metric\('f1', threshold=0.5\) or another threshold"):  # fmt: skip
        metric("f1")(score, matrix())
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(ours(score, matrix(y=np.zeros(600)))[1])


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"name": "f1"}, "name must begin with auc, pre, map or ndcg, so that XGBoost maximises roc_auc, or maximize="
                         "True must be passed here and to XGBoost; got 'f1'"),
        ({"metric": "log_loss", "name": "map_loss"}, "name must not begin with auc, pre, map or ndcg, so that XGBoost "
                                                     "does not maximise log_loss, or maximize=False must be passed"),
        ({"maximize": False}, "maximize must be True for roc_auc, got False"),
        ({"maximize": 1.5}, "maximize must be True or False, got 1.5"),
        ({"metric": "mean_predicted"}, "metric: mean_predicted has no direction, so no model is best by it"),
        ({"name": "auc of mine"}, "name must be a string without blanks and colons, got 'auc of mine'"),
        ({"name": "auc:1"}, "name must be a string without blanks and colons, got 'auc:1'"),
        ({"name": 3}, "name must be a string without blanks and colons, got 3"),
        ({"metric": "auroc_"}, "metric must be one of"),
    ],
)  # fmt: skip
def test_what_is_refused(options, rule) -> None:
    with pytest.raises(ValueError, match=r"must|has no") as caught:
        metric(**{"metric": "roc_auc"} | options)
    assert str(caught.value).startswith(rule)


def test_names_tell_the_direction_of_every_metric() -> None:
    for name, entry in METRICS.items():
        if entry.greater_is_better is not None:
            ours = metric(name)
            assert ours.maximize == entry.greater_is_better == ours.name.startswith(MAXIMISED), name
            assert metric(name, maximize=entry.greater_is_better).name == str(fastevals.metric(name))
    assert metric("auc", name="auc_of_mine").name == "auc_of_mine"
    assert metric("mean_predicted", maximize=False).name == "mean_predicted"
    assert metric(fastevals.metric("f_score", beta=2, threshold=0.5)).name == (
        "prefer_greater_f_score(beta=2,threshold=0.5)"
    )


def test_a_metric_can_be_copied_and_stored() -> None:
    ours = metric(fastevals.metric("recall", fpr=0.1))
    for other in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert repr(other) == "XGBoostMetric(prefer_greater_recall(fpr=0.1))"
        assert other(X[:, 0], matrix()) == ours(X[:, 0], matrix())
    sklearn = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    assert sklearn.clone(xgb.XGBClassifier(eval_metric=ours)).eval_metric.name == ours.name


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(BINARY, matrix(), matrix(), 2, custom_metric=metric("roc_auc"))
