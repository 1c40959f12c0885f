"""Reports of class probabilities: the numbers equal those of other calls, and options work as for other reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import fastevals
from fastevals import metric
from fastevals.infer.class_ratios import class_ratios
from fastevals.show import cli

NAMES = np.array(["owl", "cat", "dog", "yak"])
N = 600
RNG = np.random.default_rng(7)
CODES = RNG.choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
Y = NAMES[CODES]


def probabilities(strength: float) -> Any:
    z = RNG.normal(size=(N, 4))
    z[np.arange(N), CODES] += strength
    e = np.exp(z)
    return e / e.sum(axis=1, keepdims=True)


P = {"forest": probabilities(1.0), "boost": probabilities(1.8)}
FRAME = pd.DataFrame(
    {"y": Y, "site": RNG.integers(0, 3, N), "w": RNG.integers(1, 4, N), "g": np.arange(N) // 4}
    | {f"{model}_{name}": P[model][:, k] for model in P for k, name in enumerate(NAMES)}
)
TWO: dict[str, Any] = {"label": "y", "probabilities": ["forest_*", "boost_*"]}
ONE: dict[str, Any] = {"label": "y", "probabilities": "forest_*"}
SPECS = {
    "roc_auc": metric("roc_auc"), "AUC weighted": metric("roc_auc", average="weighted"),
    "AUC micro": metric("roc_auc", average="micro"), "average_precision": metric("average_precision"),
    "hand_till": metric("hand_till"), "log_loss": metric("log_loss"), "brier_score": metric("brier_score"),
    "ranked_probability_score": metric("ranked_probability_score"),
    "expected_calibration_error": metric("expected_calibration_error"),
    "top_label_calibration_error": metric("top_label_calibration_error"),
    "top-3 accuracy": metric("top_k_accuracy", k=3), "F1 (macro)": metric("f1", average="macro"),
    "accuracy": metric("accuracy"), "matthews": metric("matthews"), "cohen_kappa": metric("cohen_kappa"),
}  # fmt: skip


def block(**options: Any) -> dict[str, Any]:
    found: dict[str, Any] = fastevals.report(FRAME, **{"n_resamples": 0} | options).to_dict()["blocks"][0]
    return found


def by_name(found: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in found["models"]}


@pytest.mark.cases(2)
@pytest.mark.parametrize("options", [{}, {"sample_weight": "w"}, {"frequency_weight": "w"}])
def test_metrics_are_those_of_class_rankings(options: dict[str, Any]) -> None:
    found = by_name(block(**TWO, ordered=True, **options))
    weights = {name: FRAME[column] for name, column in options.items()}
    rows = np.arange(N) if "frequency_weight" not in weights else np.repeat(np.arange(N), FRAME["w"])
    weight = None if "sample_weight" not in weights else FRAME["w"].to_numpy()
    for model, matrix in P.items():
        classes = fastevals.ClassRankings(Y[rows], matrix[rows], labels=NAMES, sample_weight=weight)
        metrics = found[model]["metrics"]
        assert_allclose(metrics["roc_auc"], classes.roc_auc(), rtol=1e-12)
        assert_allclose(metrics["AUC weighted"], classes.roc_auc(average="weighted"), rtol=1e-12)
        assert_allclose(metrics["AUC micro"], classes.roc_auc(average="micro"), rtol=1e-12)
        assert_allclose(metrics["AP micro"], classes.average_precision(average="micro"), rtol=1e-12)
        assert_allclose(metrics["hand_till"], classes.hand_till(), rtol=1e-12)
        assert_allclose(metrics["expected_calibration_error"], classes.calibration_error(), rtol=1e-10)
        of_each = found[model]["classes"]
        assert_allclose(of_each["roc_auc"]["values"], classes.roc_auc(average=None), rtol=1e-12)
        shares = classes.support / classes.support.sum()
        assert_allclose(of_each["prevalence"]["values"], shares, rtol=1e-12)
        mean = np.average(matrix[rows], axis=0, weights=weight)
        assert_allclose(of_each["mean_predicted"]["values"], mean, rtol=1e-10)
        assert_allclose(of_each["ratio"]["values"], mean / shares, rtol=1e-10)
        predicted = NAMES[matrix[rows].argmax(axis=1)]
        counted = fastevals.ConfusionMatrix.from_predictions(Y[rows], predicted, labels=NAMES, sample_weight=weight)
        assert_allclose(found[model]["confusion"], counted.counts)
        assert found[model]["labels"] == NAMES.tolist()


def test_intervals_and_differences_are_those_of_one_comparison() -> None:
    found = block(**TWO, n_resamples=99, ordered=True)
    expected = fastevals.compare_rankings(CODES, P, metrics=SPECS, n_resamples=99, rng=0, labels=range(4))
    of_models = by_name(found)
    for name in SPECS:
        for model in P:
            interval = expected[name].estimates[model].confidence_interval
            assert_allclose(of_models[model]["intervals"][name], interval, rtol=1e-10)
        (difference,) = expected[name].differences
        (pair,) = found["differences"]
        assert (pair["model"], pair["reference"]) == (difference.model, difference.reference)
        assert_allclose(pair["metrics"][name]["value"], difference.value, rtol=1e-9, atol=1e-14)
        assert_allclose(pair["metrics"][name]["pvalue"], difference.pvalue, rtol=1e-12)


def test_each_class_has_intervals_also_of_clusters() -> None:
    found = by_name(block(**ONE, n_resamples=99, groups="g"))["forest"]["classes"]
    spec = {"auc": metric("roc_auc", average=None)}
    expected = fastevals.bootstrap((CODES, P["forest"]), spec, n_resamples=99, rng=0, groups=FRAME["g"])
    assert_allclose(found["roc_auc"]["intervals"], np.transpose(expected["auc"].confidence_interval), rtol=1e-10)
    for low, high in found["ratio"]["intervals"]:
        assert low < high


@pytest.mark.parametrize("groups", [None, "g"])
def test_ratio_is_that_of_calibration(groups: str | None) -> None:
    clusters = None if groups is None else FRAME[groups].to_numpy()
    ratios, (low, high) = class_ratios(P["forest"], CODES, None, clusters, 0.95)
    for k in range(4):
        found = fastevals.calibration(k == CODES, P["forest"][:, k], groups=clusters).ratio
        assert_allclose(ratios[k], found.value, rtol=1e-12)
        width = np.log(found.confidence_interval.high / found.confidence_interval.low)
        assert_allclose(np.log(np.asarray(high)[k] / np.asarray(low)[k]), width, rtol=0.03)  # Student's t is wider


def test_sources_and_orders_of_columns_give_the_same(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    FRAME.iloc[:, ::-1].to_parquet(tmp_path / "p.parquet")
    expected = block(**TWO)["models"]
    for data in (tmp_path / "p.csv", tmp_path / "p.parquet"):
        found = fastevals.report(data, **TWO, n_resamples=0, classes=NAMES).to_dict()
        assert found["classes"] == NAMES.tolist()
        for one, other in zip(found["blocks"][0]["models"], expected, strict=True):
            assert one["metrics"] == pytest.approx(other["metrics"], rel=1e-10)
    arrays = {"boost": pd.DataFrame(P["boost"], columns=NAMES), "forest": P["forest"]}
    found = fastevals.report({"y": Y}, label="y", probabilities=arrays, classes=NAMES.tolist(), n_resamples=0)
    of_models = by_name(found.to_dict()["blocks"][0])
    for each in expected:
        assert of_models[each["name"]]["metrics"] == pytest.approx(each["metrics"], rel=1e-12)


@pytest.mark.slow
def test_values_of_a_column_are_blocks_and_one_is_compared_with_others() -> None:
    found = fastevals.report(FRAME, **TWO, by="site", n_resamples=99)
    values = found.to_dict()
    assert [each["value"] for each in values["blocks"]] == [0, 1, 2]
    own = fastevals.report(FRAME[FRAME.site == 1], **TWO, classes=NAMES, n_resamples=0).to_dict()["blocks"][0]
    for one, other in zip(values["blocks"][1]["models"], own["models"], strict=True):
        assert one["metrics"] == pytest.approx(other["metrics"], rel=1e-12)
    accuracy = values["over"]["models"][0]["values"]
    assert accuracy == [each["models"][0]["metrics"]["accuracy"] for each in values["blocks"]]
    assert "accuracy of boost" in found.to_text()
    against = fastevals.report(FRAME[:300], **ONE, against=FRAME[300:], n_resamples=99).to_dict()
    (pair,) = against["blocks"][0]["against"]
    other = fastevals.report(FRAME[300:], **ONE, classes=NAMES, n_resamples=0).to_dict()["blocks"][0]["models"][0]
    mine = against["blocks"][0]["models"][0]
    for name, each in pair["metrics"].items():
        assert_allclose(each["value"], mine["metrics"][name] - other["metrics"][name], atol=1e-12)
    assert {"roc_auc", "log_loss", "hand_till", "accuracy"} <= pair["metrics"].keys()
    trend = fastevals.report(FRAME, **ONE, by="site", trend=True, n_resamples=99).to_dict()["trend"]
    assert list(trend["metrics"]) == ["roc_auc", "log_loss", "F1 (macro)"]


def test_what_is_said_of_the_classes() -> None:
    text = fastevals.report(FRAME[FRAME.y != "yak"], **ONE, n_resamples=0).to_text()
    assert "no rows of yak: AUC, AP, M and bal. acc. are undefined" in text
    ordered = FRAME.assign(y=pd.Categorical(Y, categories=["yak", "dog", "cat", "owl"], ordered=True))
    found = fastevals.report(ordered, **ONE, n_resamples=0)
    assert "y, 4 ordered classes" in found.to_text()
    assert found.to_dict()["classes"] == ["yak", "dog", "cat", "owl"]
    assert "ranked_probability_score" in found.metrics
    assert "ranked_probability_score" not in fastevals.report(FRAME, **ONE, n_resamples=0).metrics
    hard = {"m": np.eye(4)[(CODES + (np.arange(N) % 5 == 0)) % 4]}
    text = fastevals.report({"y": Y}, label="y", probabilities=hard, classes=NAMES, n_resamples=0).to_text()
    assert "all probabilities of m are 0 or 1, which are predicted classes" in " ".join(text.split())
    assert "log loss of m is infinite: some rows with probability 0 of a class belong to this class" in " ".join(
        text.split()
    )
    twice = {"m": 2 * P["forest"]}
    text = fastevals.report({"y": Y}, label="y", probabilities=twice, classes=NAMES, normalize=True, n_resamples=0)
    assert "divided by their sum" in text.to_text()
    few = fastevals.report(FRAME[: N // 3], **ONE, n_resamples=99).to_text()
    assert "fewer than 30 rows of yak" in " ".join(few.split())


def test_two_classes_and_integer_or_narrow_probabilities() -> None:
    y = np.array([0, 1, 1, 0, 1, 0])
    p = np.array([0.2, 0.7, 0.6, 0.4, 0.3, 0.1])
    both = np.stack([1 - p, p], axis=1)
    for matrix in (both, both.astype(np.float32), np.asfortranarray(both), both[::-1][::-1]):
        matrix.flags.writeable = False
        found = fastevals.report({"y": y, "m": matrix}, label="y", probabilities="m", n_resamples=0).to_dict()
        (model,) = found["blocks"][0]["models"]
        assert_allclose(model["metrics"]["roc_auc"], fastevals.Ranking(y, p).roc_auc(), rtol=1e-12)
        assert_allclose(model["metrics"]["brier_score"], 2 * fastevals.Ranking(y, p).brier_score(), rtol=1e-6)
    found = fastevals.report({"y": y, "m": np.eye(2, dtype=int)[y]}, label="y", probabilities="m", n_resamples=0)
    assert found.class_facts is not None
    assert found.class_facts.hard == ("m",)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({**ONE, "score": "forest_owl"}, "score and probabilities exclude each other"),
    ({**ONE, "pred": "y"}, "probabilities and pred exclude each other"),
    ({**ONE, "target": "w"}, "probabilities and target exclude each other"),
    ({**ONE, "pos_label": "owl"}, "pos_label goes with scores and predicted classes"),
    ({**ONE, "threshold": 0.5}, "threshold goes with scores"),
    ({**ONE, "reference": "boost"}, "the only model is 'forest'"),
    ({"label": "y", "score": "forest_owl", "ordered": True}, "ordered goes with probabilities"),
    ({"label": "y", "pred": "y", "classes": ["owl"]}, "classes goes with probabilities"),
    ({"probabilities": "forest_*"}, "label"),
    ({"label": "y", "probabilities": 3}, "must be a pattern such as 'p_\\*'"),
    ({"label": "y", "probabilities": []}, "probabilities is missing"),
    ({**ONE, "by": "forest_owl"}, "of class 'owl', .* without a column"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.report(FRAME, **options, n_resamples=0)


def test_command(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "p.csv"
    FRAME.to_csv(path, index=False)
    options = ["--label", "y", "--probabilities", "forest_*", "--classes", "yak,owl,cat,dog", "--resamples", "0"]
    assert cli.main(["report", str(path), *options, "--ordered", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["predicted"], found["classes"]) == ("probabilities", ["yak", "owl", "cat", "dog"])
    assert (found["ordered"], found["normalized"], found["hard"]) == (True, False, [])
    page = tmp_path / "page.html"
    assert cli.main(["report", str(path), *options, "--html", str(page)]) == 0
    assert "Classes" in page.read_text()
    capsys.readouterr()
    assert cli.main(["report", str(path), "--label", "y", "--probabilities", "q_*"]) == 2
    assert "--probabilities: no column matches 'q_*'" in capsys.readouterr().err
    assert cli.main(["report", "--probabilities", "q_*"]) == 2
    assert "--probabilities goes with a FILE" in capsys.readouterr().err


def test_pages_have_the_mean_curves_of_the_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    models = {name: rng.dirichlet(np.ones(3), 120) + np.eye(3)[y] for name in ("one", "other")}
    models = {name: each / each.sum(axis=1, keepdims=True) for name, each in models.items()}
    found = fastevals.report({"y": y, **models}, label="y", probabilities=[*models], n_resamples=0)
    page = found.to_html()
    for kind in ("macro_roc", "macro_precision_recall"):
        assert page.count(f'data-figure="{kind}"') == 1
    area = fastevals.ClassRankings(y, models["one"]).roc_auc()
    assert f"one: AUC {area:.3f}" in page
    lacking = fastevals.report(
        {"y": y[y < 2], "one": models["one"][y < 2]}, label="y", probabilities=["one"], classes=[0, 1, 2], n_resamples=0
    )
    assert 'data-figure="macro_roc"' not in lacking.to_html()
