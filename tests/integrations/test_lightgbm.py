from __future__ import annotations

import pickle

import numpy as np
import pytest

import fastevals
from fastevals.integrations.lightgbm import metric
from fastevals.scale import dask

lgb = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
Y = (X[:, 0] + 2 * RNG.normal(size=600) > 0).astype(int)
CLASSES = RNG.integers(0, 3, 600)
RELEVANCE = RNG.integers(0, 4, 600)
W = RNG.random(600)
TRAIN, TEST = slice(0, 300), slice(300, 600)
QUIET = {"verbose": -1, "num_threads": 1}
pytestmark = [
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),
    pytest.mark.filterwarnings("ignore:'force_all_finite' was renamed"),  # LightGBM 4.4 with scikit-learn 1.6
]


def train(params, y, n=60, weight=None, callbacks=(), **options):
    found: dict = {}
    weights = [None if weight is None else weight[rows] for rows in (TRAIN, TEST)]
    data = lgb.Dataset(X[TRAIN], y[TRAIN], weight=weights[0])
    scored = lgb.Dataset(X[TEST], y[TEST], weight=weights[1], reference=data)
    callbacks = [lgb.record_evaluation(found), *callbacks]
    booster = lgb.train(QUIET | params, data, n, valid_sets=[scored], callbacks=callbacks, **options)
    return booster, found["valid_0"]


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", fastevals.metric("f1", threshold=0.5), "rank_loss"])
def test_both_apis_stop_at_the_best_round(name) -> None:
    ours, stop = metric(name), lgb.early_stopping(8, first_metric_only=True, verbose=False)
    params = {"objective": "binary", "metric": "None"}
    booster, found = train(params, Y, weight=W, feval=ours, callbacks=[stop])
    history = found[ours.name]
    best = int(np.argmax(history) if ours.maximize else np.argmin(history))
    assert booster.best_iteration == best + 1
    assert len(history) == best + 9 < 60
    predicted = booster.predict(X[TEST])  # of the best round
    expected = fastevals.batch_metrics(Y[TEST], [predicted], {"it": name}, sample_weight=W[TEST].astype(np.float32))
    assert history[best] == pytest.approx(expected["it"][0], rel=1e-12)

    model = lgb.LGBMClassifier(n_estimators=60, metric="None", verbose=-1, n_jobs=1)
    rows = {"eval_set": [(X[TEST], Y[TEST])], "eval_sample_weight": [W[TEST]], "sample_weight": W[TRAIN]}
    stop = lgb.early_stopping(8, first_metric_only=True, verbose=False)
    model.fit(X[TRAIN], Y[TRAIN], eval_metric=ours, callbacks=[stop], **rows)
    assert model.evals_result_["valid_0"][ours.name] == history
    assert model.best_iteration_ == best + 1


def test_lightgbm_finds_the_same_values() -> None:
    own = {"roc_auc": "auc", "log_loss": "binary_logloss"}
    for name, theirs in own.items():
        _, found = train({"objective": "binary", "metric": theirs}, Y, 5, weight=W, feval=metric(name))
        np.testing.assert_allclose(found[name], found[theirs], rtol=1e-12)


def test_classes_of_text() -> None:
    text = np.array(["a", "b", "c"])[CLASSES]
    own = {"log_loss": "multi_logloss", "error_rate": "multi_error"}
    for name, theirs in own.items():
        _, found = train({"objective": "multiclass", "num_class": 3, "metric": theirs}, CLASSES, 4, feval=metric(name))
        np.testing.assert_allclose(found[name], found[theirs], rtol=1e-12)
        model = lgb.LGBMClassifier(n_estimators=4, metric=theirs, verbose=-1, n_jobs=1)
        model.fit(X[TRAIN], text[TRAIN], eval_set=[(X[TEST], text[TEST])], eval_metric=metric(name))
        assert model.evals_result_["valid_0"][name] == found[name]


@pytest.mark.parametrize("weight", [None, W])
def test_ranked_documents(weight) -> None:
    sizes, queries = [20] * 30, np.repeat(np.arange(30), 20)
    ours = metric("ndcg@10", name="ours")
    model = lgb.LGBMRanker(n_estimators=4, metric="ndcg", label_gain=[0, 1, 2, 3], verbose=-1, n_jobs=1)
    rows = {"eval_set": [(X[TEST], RELEVANCE[TEST])], "eval_group": [sizes[:15]], "eval_at": [10]}
    if weight is not None:
        rows |= {"eval_sample_weight": [weight[TEST]]}
    model.fit(X[TRAIN], RELEVANCE[TRAIN], group=sizes[:15], eval_metric=ours, **rows)
    found = model.evals_result_["valid_0"]
    by_query = fastevals.query_metrics(RELEVANCE[TEST], model.predict(X[TEST]), queries[TEST], "ndcg@10", interval=None)
    weights = None if weight is None else weight[TEST].reshape(15, 20).mean(axis=1)
    assert found["ours"][-1] == pytest.approx(np.average(by_query["ndcg@10"].values, weights=weights), rel=1e-6)
    # LightGBM breaks ties by position
    np.testing.assert_allclose(found["ours"], found["ndcg@10"], atol=0.01)
    with pytest.raises(ValueError, match="needs the query of each row, but the data has no groups"):
        train({"objective": "binary"}, Y, 1, feval=metric("mrr"))


def test_numbers_and_cross_validation() -> None:
    _, found = train({"objective": "regression", "metric": "l1"}, RELEVANCE, 4, weight=W, feval=metric("mae"))
    np.testing.assert_allclose(found["mean_absolute_error"], found["l1"], rtol=1e-12)
    found = lgb.cv({"objective": "binary"} | QUIET, lgb.Dataset(X, Y), 4, nfold=3, feval=metric("log_loss"))
    np.testing.assert_allclose(found["valid log_loss-mean"], found["valid binary_logloss-mean"], rtol=1e-12)


def logistic(y_true, raw):
    p = 1 / (1 + np.exp(-raw))
    return p - y_true, p * (1 - p)


def test_raw_scores() -> None:
    model = lgb.LGBMClassifier(objective=logistic, n_estimators=3, metric="auc", verbose=-1, n_jobs=1)
    model.fit(X, Y, eval_set=[(X, Y)], eval_metric=metric("roc_auc"))
    found = model.evals_result_["training"]
    np.testing.assert_allclose(found["roc_auc"], found["auc"], rtol=1e-12)
    with pytest.raises(ValueError, match="with an objective of your own, LightGBM passes margins"):
        model.fit(X, Y, eval_set=[(X, Y)], eval_metric=metric("log_loss"))


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="mean_predicted has no direction"):
        metric("mean_predicted")
    with pytest.raises(ValueError, match="name must be a string that is not empty, got ''"):
        metric("roc_auc", name="")
    with pytest.raises(ValueError, match=r"f1 is of predicted labels, but LightGBM predicts scores"):
        train({"objective": "binary"}, Y, 1, feval=metric("f1"))


def test_a_metric_can_be_stored() -> None:
    ours = pickle.loads(pickle.dumps(metric("roc_auc")))
    assert ours(Y, X[:, 0]) == ("roc_auc", fastevals.Ranking(Y, X[:, 0]).roc_auc(), True)
    assert repr(ours) == "LightGBMMetric(roc_auc)"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # LightGBM warns of its own parameters
def test_all_rows_of_a_cluster_after_the_fit(tmp_path) -> None:
    """LightGBM's workers measure their own rows only; `scale.dask` measures those of all."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    arrays = pytest.importorskip("dask.array", reason="dask is not installed")
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        rows, y = arrays.from_array(X, chunks=(300, 5)), arrays.from_array(Y, chunks=300)
        model = lgb.DaskLGBMClassifier(client=client, n_estimators=5, verbose=-1)
        p = model.fit(rows, y).predict_proba(rows)[:, 1]
        frame = frames.from_dask_array(arrays.stack([y, p], axis=1).rechunk((300, 2)), columns=["y", "p"])
        ranking = dask.ranking(frame, label="y", score="p")
        assert float(ranking.roc_auc()) == fastevals.Ranking(Y, p.compute()).roc_auc()
