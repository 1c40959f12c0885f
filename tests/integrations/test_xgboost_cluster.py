"""Metrics of rows that are spread over XGBoost's workers: two processes, each with a shard."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator

import numpy as np
import pytest

import fastevals
from fastevals.integrations.xgboost import metric

xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")
N = 20_000
PARAMS = {"objective": "binary:logistic", "eval_metric": "auc", "max_depth": 5, "nthread": 1}
Shard = dict[str, np.ndarray]


def drifting(rank: int) -> Shard:
    """Return rows whose scores and share of positives differ between the workers."""
    rng = np.random.default_rng(rank)
    y = (rng.random(N) < 0.2 + 0.4 * rank).astype(np.float32)
    margins = rng.normal(size=N) + y + 2 * rank
    return {"y": y, "margins": margins.astype(np.float32), "weight": rng.random(N).astype(np.float32) + 0.01}


def features(rank: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(10 + rank)
    X = rng.normal(size=(2000, 4)).astype(np.float32)
    X[:, 0] += rank
    return X, (X[:, 0] + 2 * rng.normal(size=2000) > rank).astype(np.float32)


def matrix(y, **more):
    return xgb.DMatrix(np.zeros((len(y), 1), np.float32), y, nthread=1, **more)


SCORED = [
    "roc_auc", "average_precision", "ks_statistic", fastevals.metric("recall", fpr=0.01),
    fastevals.metric("f1", threshold=0.5),
]  # fmt: skip


def outcome(name, predicted, data):
    """Return the value with its bounds, or the error."""
    ours = metric(name)
    try:
        ours(predicted, data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    last = ours.last
    return tuple(getattr(last, each, last) for each in ("value", "low", "high"))


def results(rank: int) -> Iterator[tuple[str, object]]:
    """Yield what this worker finds; the workers call the metrics in the same order."""
    rows = drifting(rank)
    y, margins, weight = rows["y"], rows["margins"], rows["weight"]
    p = 1 / (1 + np.exp(-margins))
    one_score = np.full(N, 0.25, np.float32)
    for name in SCORED:
        yield f"{name} of probabilities", outcome(name, p, matrix(y))
        yield f"{name} with weights", outcome(name, p, matrix(y, weight=weight))
    for name in ("roc_auc", fastevals.metric("f1", threshold=0.5)):
        yield f"{name} of margins", outcome(name, margins, matrix(y))
        yield f"{name} with whole weights", outcome(name, p, matrix(y, weight=np.arange(N) % 3))
    own = slice(0, N if rank == 0 else 0)
    yield "empty shard", outcome("roc_auc", p[own], matrix(y[own]))
    yield "empty shard, weights", outcome("roc_auc", p[own], matrix(y[own], weight=weight[own]))
    yield "one score", outcome("roc_auc", one_score, matrix(y))
    one_class = np.full(N, rank, np.float32)
    yield "one class each", outcome("roc_auc", p, matrix(one_class))
    yield "one class in all", outcome("roc_auc", p, matrix(np.zeros(N)))
    yield "no rows", outcome("roc_auc", p[:0], matrix(y[:0]))
    spoiled = p.copy()
    spoiled[7] = np.nan if rank else 0.5
    yield "NaN in a shard", outcome("roc_auc", spoiled, matrix(y))
    yield "after it", outcome("roc_auc", p, matrix(y))
    yield "labels", outcome("roc_auc", p, matrix(np.full(N, 5.0) if rank else y))
    yield "tiny weight", outcome("roc_auc", p, matrix(y, weight=np.where(np.arange(N) == rank, 1e-9, 1)))
    yield "not on a cluster", outcome("r2", p, matrix(y))
    yield "calibration", outcome("expected_calibration_error", margins, matrix(y))
    yield "labels of scores", outcome("f1", p, matrix(y))
    yield "no bounds", outcome("pr_auc_linear", p, matrix(y))
    yield "a mean with margins", outcome("log_loss", margins if rank else p, matrix(y))
    three = np.stack([1 - p, p / 2, p / 2], axis=1)
    yield "classes", outcome("log_loss", three[own], matrix(2 * y[own]))
    yield "accuracy of classes", outcome("accuracy", three, matrix(2 * y, weight=weight))
    yield "ranking of classes", outcome("roc_auc", three[own], matrix(2 * y[own]))
    for name in ("log_loss", "brier_score", "mse", "rmse", "mae"):
        yield name, outcome(name, p, matrix(y, weight=weight))
    yield "log_loss, one class each", outcome("log_loss", p, matrix(one_class))
    relevance = (weight * 4).astype(int)
    sizes = np.full(N // 20, 20)
    yield "ndcg@10", outcome("ndcg@10", p, matrix(relevance, group=sizes))
    by_query = matrix(relevance, group=sizes)
    by_query.set_weight(weight[: N // 20])
    yield "ndcg@10, weights", outcome("ndcg@10", p, by_query)
    without = matrix(y)  # workers make every DMatrix together
    yield "groups in a shard", outcome("ndcg@10", p, by_query if rank else without)
    X, labels = features(rank)
    found: dict = {}
    data, ours = xgb.DMatrix(X, labels, nthread=1), metric("roc_auc")
    booster = xgb.train(
        PARAMS, data, 40, evals=[(data, "train"), (xgb.DMatrix(*features(rank + 2), nthread=1), "test")],
        custom_metric=ours, evals_result=found, verbose_eval=False, early_stopping_rounds=3,
    )  # fmt: skip
    predicted = booster.predict(xgb.DMatrix(features(rank + 2)[0], nthread=1))
    yield "trained", (found["test"], booster.best_iteration, (ours.last.low, ours.last.high), predicted)


def work(rank: int, arguments: dict, queue: multiprocessing.Queue) -> None:
    try:
        with xgb.collective.CommunicatorContext(**arguments, dmlc_task_id=str(rank)):
            queue.put((rank, dict(results(rank))))
    except BaseException as error:
        queue.put((rank, error))
        raise


@pytest.fixture(scope="module")
def found() -> list[dict]:
    """Return what each of two workers found."""
    tracker_module = pytest.importorskip("xgboost.tracker")
    tracker = tracker_module.RabitTracker(host_ip="127.0.0.1", n_workers=2, sortby="task")
    tracker.start()
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=work, args=(rank, tracker.worker_args(), queue)) for rank in range(2)]
    try:
        for each in workers:
            each.start()
        by_rank = {}
        for _ in workers:
            rank, by_rank[rank] = queue.get(timeout=100)
            if isinstance(by_rank[rank], BaseException):
                raise by_rank[rank]
        for each in workers:
            each.join(30)
    finally:
        for each in workers:
            each.kill()
    return [by_rank[0], by_rank[1]]


def all_rows() -> Shard:
    shards = [drifting(rank) for rank in range(2)]
    return {name: np.concatenate([each[name] for each in shards]) for name in shards[0]}


def test_workers_find_the_same(found) -> None:
    assert found[0].keys() == found[1].keys()
    for name, first in found[0].items():
        if name != "trained":
            assert repr(first) == repr(found[1][name]), name


@pytest.mark.parametrize("name", SCORED, ids=str)
def test_bounds_contain_the_exact_value(found, name) -> None:
    rows = all_rows()
    y, p = rows["y"], 1 / (1 + np.exp(-rows["margins"]))
    whole = np.tile(np.arange(N) % 3, 2)
    cases = {
        "of probabilities": (p, None), "of margins": (rows["margins"], None),
        "with weights": (p, rows["weight"]), "with whole weights": (p, whole),
    }  # fmt: skip
    for case, (scores, weights) in cases.items():
        if f"{name} {case}" not in found[0]:
            continue
        exact = fastevals.batch_metrics(y, [scores], {"it": name}, sample_weight=weights)["it"][0]
        value, low, high = found[0][f"{name} {case}"]
        assert low - 1e-14 <= exact <= high + 1e-14, case
        assert abs(value - exact) < (2e-6 if name == "roc_auc" else 1e-4)
        assert high - low < (2e-5 if name == "roc_auc" else 2e-3)
        if "threshold" in str(name) and case != "with weights":
            assert high - low < 1e-12


def test_a_mean_over_workers_is_off(found) -> None:
    """XGBoost averages the AUCs of the workers, which says little about all rows."""
    history, _, (low, high), _ = found[0]["trained"]
    labels = np.concatenate([features(rank + 2)[1] for rank in range(2)])
    predicted = np.concatenate([each["trained"][3] for each in found])
    exact = fastevals.Ranking(labels, predicted).roc_auc()
    assert low <= exact <= high
    assert abs(history["prefer_greater_roc_auc"][-1] - exact) < 1e-5
    assert abs(history["auc"][-1] - exact) > 0.005


def test_training_stops_at_the_same_round(found) -> None:
    (history, best, *_), (other, other_best, *_) = (each["trained"] for each in found)
    assert history == other
    assert best == other_best == np.argmax(history["prefer_greater_roc_auc"])
    assert len(history["auc"]) == best + 4 < 40


def test_shards_without_rows_or_with_one_class(found) -> None:
    first, rows = drifting(0), all_rows()
    for case, weights in (("empty shard", None), ("empty shard, weights", first["weight"])):
        _, low, high = found[0][case]
        assert low <= fastevals.Ranking(first["y"], first["margins"], sample_weight=weights).roc_auc() <= high
        assert high - low < 2e-5
    assert found[0]["one score"] == (0.5, 0.5, 0.5)
    _, low, high = found[0]["one class each"]
    y = np.repeat([0, 1], N)
    assert low <= fastevals.Ranking(y, rows["margins"]).roc_auc() <= high
    p = 1 / (1 + np.exp(-rows["margins"]))
    loss = fastevals.batch_metrics(y, [p], ["log_loss"])["log_loss"][0]
    assert found[0]["log_loss, one class each"][0] == pytest.approx(loss, rel=1e-12)
    for case in ("one class in all", "no rows"):
        assert np.isnan(found[0][case]).all()


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("NaN in a shard", "worker 1: y_score must be finite, but has 1 NaN value, the first at row 7"),
        ("labels", "worker 1: y_true has the label 5.0: pos_label must say which is positive"),
        ("tiny weight", "worker 0: sample_weight must be 0 or at least 5.96046e-08, a 16777216th of largest_weight"),
        ("not on a cluster", "worker 0: r2 can't be computed on a cluster: it is neither a metric of rankings or at a "
                             "threshold, nor a mean over rows or queries"),
        ("calibration", "worker 0: expected_calibration_error can't be computed on a cluster"),
        ("labels of scores", "worker 0: f1 is of predicted labels, but XGBoost predicts scores"),
        ("no bounds", "pr_auc_linear is not exact: rows were counted in ranges of scores"),
        ("a mean with margins", "worker 1: log_loss needs probabilities, in [0, 1], got"),
        ("ranking of classes", "worker 0: roc_auc of several classes can't be computed on a cluster; means over rows "
                               "can, as log_loss"),
        ("groups in a shard", "worker 0: ndcg@10 measures ranked documents: it needs the query of each row"),
    ],
)  # fmt: skip
def test_an_error_on_one_worker_is_raised_on_all(found, case, message) -> None:
    for each in found:
        assert each[case].startswith(f"ValueError: {message}"), each[case]
        assert each["after it"] == found[0]["roc_auc of probabilities"]


def test_means(found) -> None:
    rows, first = all_rows(), drifting(0)
    y, p, weight = rows["y"], 1 / (1 + np.exp(-rows["margins"])), rows["weight"]
    for name in ("log_loss", "brier_score", "mse", "rmse", "mae"):
        exact = fastevals.batch_metrics(y, [p], {"it": name}, sample_weight=weight)["it"][0]
        assert found[0][name][0] == pytest.approx(exact, rel=1e-9), name
    q = 1 / (1 + np.exp(-first["margins"]))
    classes = fastevals.ClassRankings(2 * first["y"], np.stack([1 - q, q / 2, q / 2], 1), labels=[0, 1, 2])
    assert found[0]["classes"][0] == pytest.approx(classes.log_loss(), rel=1e-6)
    three = np.stack([1 - p, p / 2, p / 2], 1)
    right = np.average(three.argmax(axis=1) == 2 * y, weights=weight)
    assert found[0]["accuracy of classes"][0] == pytest.approx(right, rel=1e-6)
    queries = np.repeat(np.arange(N // 10), 20)
    relevance = (weight * 4).astype(int)
    by_query = fastevals.query_metrics(relevance, p, queries, "ndcg@10", interval=None)["ndcg@10"].values
    assert found[0]["ndcg@10"][0] == pytest.approx(by_query.mean(), rel=1e-12)
    weights = np.concatenate([drifting(rank)["weight"][: N // 20] for rank in range(2)])
    assert found[0]["ndcg@10, weights"][0] == pytest.approx(np.average(by_query, weights=weights), rel=1e-6)


@pytest.mark.slow
def test_dask(tmp_path) -> None:
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    arrays = pytest.importorskip("dask.array", reason="dask is not installed")
    on_dask = pytest.importorskip("xgboost.dask")
    shards = [features(rank) for rank in range(2)]
    labels = np.concatenate([each[1] for each in shards])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        X = arrays.concatenate([arrays.from_array(each[0], chunks=each[0].shape) for each in shards])
        y = arrays.concatenate([arrays.from_array(each[1], chunks=each[1].shape) for each in shards])
        data = on_dask.DaskDMatrix(client, X, y)
        ours = metric("roc_auc")
        options = {"evals": [(data, "train")], "custom_metric": ours, "verbose_eval": False}
        output = on_dask.train(client, PARAMS, data, num_boost_round=6, **options)
        predicted = output["booster"].predict(xgb.DMatrix(X.compute()))
        exact = fastevals.Ranking(labels, predicted).roc_auc()
        found = output["history"]["train"]
        assert found[ours.name][-1] == pytest.approx(exact, abs=1e-5)
        assert abs(found["auc"][-1] - exact) > 0.005
        model = on_dask.DaskXGBClassifier(n_estimators=6, max_depth=5, eval_metric=ours, early_stopping_rounds=3)
        model.client = client
        model.fit(X, y, eval_set=[(X, y)], verbose=False)
        by_class = model.evals_result()["validation_0"][ours.name]
        again = model.get_booster().predict(xgb.DMatrix(X.compute()))
        assert by_class[-1] == pytest.approx(fastevals.Ranking(labels, again).roc_auc(), abs=1e-5)
        assert model.best_iteration == np.argmax(by_class)
        one = on_dask.DaskDMatrix(client, X[:2000], y[:2000])  # a worker has no rows
        output = on_dask.train(client, PARAMS, one, num_boost_round=2, **options | {"evals": [(one, "train")]})
        predicted = output["booster"].predict(xgb.DMatrix(shards[0][0]))
        expected = fastevals.Ranking(shards[0][1], predicted).roc_auc()
        assert output["history"]["train"][ours.name][-1] == pytest.approx(expected, abs=1e-5)
