from __future__ import annotations

import io
import json
import os
import re
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import fastevals
from fastevals.datasets import load_digits_eight
from fastevals.integrations.mlflow import ReportEvaluator, log_report

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    registry = import_module("mlflow.models.evaluation.evaluator_registry")
    fluent = import_module("mlflow.tracking.fluent")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports
ROOT = Path(__file__).parents[2]
DATA = load_digits_eight()
Y, P, Q = DATA["label"], DATA["logistic"], DATA["random_forest"]
REPORT = fastevals.report(DATA, label="label", score="logistic", n_resamples=99)


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("tests", artifact_location=f"file://{folder}/artifacts")
    mlflow.set_experiment("tests")
    if "fastevals" not in registry._model_evaluation_registry._registry:  # metadata of an older install
        registry._model_evaluation_registry.register("fastevals", ReportEvaluator)
    yield
    mlflow.set_tracking_uri(None)  # another store has no experiment of this number
    fluent._active_experiment_id = None
    os.environ.pop("MLFLOW_EXPERIMENT_ID", None)


@pytest.fixture
def run():
    with mlflow.start_run() as run:
        yield run.info.run_id


def logged(run_id: str):
    return mlflow.get_run(run_id).data


def artifact(run_id: str, name: str) -> str:
    return mlflow.artifacts.load_text(f"{mlflow.get_run(run_id).info.artifact_uri}/{name}")


def test_the_entry_point_is_the_evaluator() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    module, _, name = points["mlflow.model_evaluator"]["fastevals"].partition(":")
    assert getattr(import_module(module), name) is ReportEvaluator


def test_a_report_s_numbers_page_and_json(run) -> None:
    scalars = log_report(REPORT, prefix="test/", step=3)
    assert scalars == REPORT.to_scalars("test/")
    assert logged(run).metrics == scalars
    history = mlflow.MlflowClient().get_metric_history(run, "test/roc_auc_ci_lower")
    assert [(each.step, each.value) for each in history] == [(3, scalars["test/roc_auc_ci_lower"])]
    assert artifact(run, "fastevals/report.html") == REPORT.to_html()
    assert json.loads(artifact(run, "fastevals/report.json")) == REPORT.to_dict()


def test_a_run_by_its_id_and_a_new_run() -> None:
    client = mlflow.MlflowClient()
    other = client.create_run(mlflow.get_experiment_by_name("tests").experiment_id).info.run_id
    log_report(REPORT, run_id=other, artifact_path="here")
    assert logged(other).metrics == REPORT.to_scalars()
    assert artifact(other, "here/report.html")
    assert mlflow.active_run() is None
    try:
        log_report(REPORT)
        assert logged(mlflow.active_run().info.run_id).metrics == REPORT.to_scalars()
    finally:
        mlflow.end_run()


def test_a_gate_s_verdict_and_rules(run) -> None:
    found = fastevals.gate(
        DATA, ["roc_auc >= 0.9", "roc_auc not worse than champion by 0.005"], label="label",
        score=["logistic", "random_forest"], reference="random_forest", n_resamples=99,
    )  # fmt: skip
    log_report(found, prefix="release/")
    tags = {name: value for name, value in logged(run).tags.items() if name.startswith("release/")}
    assert tags == {
        "release/gate": found.outcome,
        "release/gate.roc_auc_at_least_0.9": "pass",
        "release/gate.roc_auc_not_worse_than_champion_by_0.005": found.results[1].outcome,
    }
    rules = pd.read_csv(io.StringIO(artifact(run, "fastevals/rules.csv")))
    pd.testing.assert_frame_equal(rules[["rule", "value"]], found.to_frame("pandas")[["rule", "value"]])
    assert logged(run).metrics == found.to_scalars("release/")


def test_more_numbers_than_one_call_takes(run) -> None:
    groups = np.arange(1100)
    found = fastevals.grouped_metrics(np.zeros(1100), np.ones(1100), groups, "brier_score")
    assert len(log_report(found)) == 1100
    assert len(logged(run).metrics) == 1100


def test_every_name_is_taken_and_undefined_numbers_are_left_out(run) -> None:
    scores = {"a b/c": P, "☃ = ?": Q, "..": P, "größe": Q, "x" * 300: P}
    log_report(fastevals.batch_metrics(Y, scores, ["roc_auc", "gini"]))
    assert len(logged(run).metrics) == 10
    undefined = fastevals.paired_t_test([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])  # t is infinite
    assert "statistic" not in log_report(undefined)


@pytest.mark.parametrize("what", [None, {"roc_auc": 0.5}, 0.5, fastevals.report])
def test_what_is_no_result(run, what) -> None:
    with pytest.raises(ValueError, match=re.escape("report must be a result, such as that of fastevals.report")):
        log_report(what)
    with pytest.raises(ValueError, match="prefix must"):
        log_report(REPORT, prefix="a=")
    assert logged(run).metrics == {}


# The evaluator -----------------------------------------------------------------------------------------------------


def evaluated(data, model=None, config=None, **options):
    return mlflow.models.evaluate(
        model, data, targets="y", evaluators="fastevals", evaluator_config={"n_resamples": 99, **(config or {})},
        **options,
    )  # fmt: skip


def test_scores_of_a_static_data_set(run) -> None:
    data = pd.DataFrame({"y": Y, "p": P})
    found = evaluated(data, predictions="p", model_type="classifier")
    expected = fastevals.report({"y": Y, "p": P}, label="y", score="p", threshold=0.5, n_resamples=99)
    assert found.metrics == expected.to_scalars("fastevals/")
    assert logged(run).metrics == found.metrics
    assert found.artifacts["fastevals/report.json"].content == expected.to_dict()
    assert found.artifacts["fastevals/report.html"].uri.endswith("fastevals/report.html")


def test_options_of_the_report(run) -> None:
    data = pd.DataFrame({"y": np.where(Y == 1, "spam", "ham"), "p": P, "side": np.arange(Y.size) % 2})
    config = {"by": "side", "pos_label": "spam", "metric_prefix": "", "best": "f1", "log_model_explainability": False}
    found = evaluated(data, config=config, predictions="p", model_type="classifier")
    assert found.metrics["side_1/roc_auc"] == fastevals.Ranking(Y[1::2], P[1::2]).roc_auc()
    weights = np.linspace(1, 2, Y.size)
    found = evaluated(
        data, config={"sample_weights": weights, "pos_label": "spam"}, predictions="p", model_type="classifier"
    )
    assert found.metrics["fastevals/roc_auc"] == fastevals.Ranking(Y, P, sample_weight=weights).roc_auc()


def test_predicted_classes_and_numbers(run) -> None:
    found = evaluated(pd.DataFrame({"y": Y, "p": (P > 0.5).astype(int)}), predictions="p", model_type="classifier")
    assert found.metrics["fastevals/accuracy"] == ((P > 0.5) == Y).mean()
    found = evaluated(pd.DataFrame({"y": [0, 1] * 20, "p": [0, 2] * 20}), predictions="p", model_type="classifier")
    assert found.metrics["fastevals/accuracy"] == 0.5
    names = pd.DataFrame({"y": ["a", "b"] * 20, "p": ["a", "c"] * 20})
    assert evaluated(names, predictions="p", model_type="classifier").metrics["fastevals/accuracy"] == 0.5
    numbers = pd.DataFrame({"y": np.arange(50.0), "p": np.arange(50.0) + 0.5})
    found = evaluated(numbers, predictions="p", model_type="regressor")
    assert found.metrics["fastevals/root_mean_squared_error"] == 0.5
    assert "fastevals/r2_ci_lower" in found.metrics


def test_class_probabilities_of_a_static_data_set(run) -> None:
    rng = np.random.default_rng(0)
    labels = np.array(["cat", "cow", "dog"])[rng.integers(0, 3, 200)]
    shares = rng.dirichlet([1, 1, 1], 200)
    data = pd.DataFrame({"y": labels, "p": shares.tolist()})
    found = evaluated(data, predictions="p", model_type="classifier")
    assert found.metrics["fastevals/roc_auc"] == pytest.approx(
        fastevals.ClassRankings(labels, shares).roc_auc(), rel=1e-15
    )
    with pytest.raises(ValueError, match="label_list must name the class of each of 3 columns"):
        evaluated(data, config={"label_list": ["cat", "dog"]}, predictions="p", model_type="classifier")


@pytest.fixture(params=[2, 3], ids="{} classes".format)
def of_scikit_learn(request, tmp_path):
    """Return a model, where it is saved, and rows."""
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(300, 3)), columns=["u", "v", "w"])
    classes = np.digitize(x["u"] + rng.normal(size=300), [0, 0.8][: request.param - 1])
    labels = np.array(["a", "b", "c"])[classes]
    model = linear_model.LogisticRegression().fit(x, labels)
    mlflow.sklearn.save_model(model, tmp_path / "model", pip_requirements=["scikit-learn"])
    return model, str(tmp_path / "model"), x.assign(y=labels)


def test_a_model_of_scikit_learn(run, of_scikit_learn) -> None:
    model, path, rows = of_scikit_learn
    found = evaluated(rows, path, model_type="classifier")
    labels, x = rows["y"].to_numpy(), rows[["u", "v", "w"]]
    shares = model.predict_proba(x)
    if shares.shape[1] == 2:
        expected = fastevals.Ranking(labels, shares[:, 1], pos_label="b").roc_auc()
    else:
        expected = fastevals.ClassRankings(labels, shares).roc_auc()
    assert found.metrics["fastevals/roc_auc"] == pytest.approx(expected, rel=1e-15)
    assert found.metrics["fastevals/accuracy"] == (model.predict(x) == labels).mean()


@pytest.mark.slow
def test_beside_mlflow_s_own_evaluator(run, of_scikit_learn) -> None:
    _, path, rows = of_scikit_learn
    own = {"log_model_explainability": False}
    is_binary = rows["y"].nunique() == 2
    found = mlflow.models.evaluate(
        path, rows, targets="y", model_type="classifier", evaluators=["default", "fastevals"],
        evaluator_config={"default": own | ({"pos_label": "b"} if is_binary else {}), "fastevals": {"n_resamples": 0}},
    ).metrics  # fmt: skip
    assert found["accuracy_score"] == found["fastevals/accuracy"]
    assert found["log_loss"] == pytest.approx(found["fastevals/log_loss"], rel=1e-12)
    if is_binary:
        assert found["roc_auc"] == pytest.approx(found["fastevals/roc_auc"], rel=1e-12)


def test_a_model_that_is_a_function(run) -> None:
    frame = pd.DataFrame({"u": np.arange(50.0), "y": np.arange(50.0) + 1})
    found = evaluated(frame, lambda features: features["u"].to_numpy(), model_type="regressor")
    assert found.metrics["fastevals/mean_absolute_error"] == 1


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"y": [0, 1] * 20, "p": [0.1, np.nan] * 20}, {"model_type": "classifier"}, "p"),
        ({"y": [0, 1] * 20, "p": [0.1, 0.2] * 20}, {"model_type": "text"}, "could not be evaluated"),
        (
            {"y": [0, 1] * 20, "p": [0.1, 0.2] * 20},
            {"model_type": "classifier", "config": {"n_resample": 9}},
            "n_resam",
        ),
        (
            {"y": ["a", "b"] * 20, "p": [[0.1, 0.9]] * 40},
            {"model_type": "classifier", "config": {"pos_label": "c"}},
            "pos_label must be one of 'a', 'b', got 'c'",
        ),
        (
            {"y": [0, 1] * 20, "p": [[0.1, 0.9], [0.1]] * 20},
            {"model_type": "classifier"},
            "predictions must hold values, or lists of equal lengths, got shapes",
        ),
    ],
)
def test_what_the_evaluator_refuses(run, data, options, message) -> None:
    with pytest.raises(Exception, match=message):
        evaluated(pd.DataFrame(data), predictions="p", **options)


def test_targets_are_needed(run) -> None:
    with pytest.raises(mlflow.exceptions.MlflowException, match="targets argument must be specified"):
        mlflow.models.evaluate(
            data=pd.DataFrame({"p": P}), predictions="p", model_type="classifier", evaluators="fastevals"
        )
