from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import fastevals
from fastevals.datasets import load_digits_eight
from fastevals.integrations.pytest import assert_gate, assert_metric, assert_not_worse

DATA = load_digits_eight()
Y, OLD, NEW = DATA["label"], DATA["logistic"], DATA["random_forest"]


def failure(assertion, *arguments, **options) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion(*arguments, **options)
    return str(caught.value)


def test_a_metric_that_passes_is_the_gate_s() -> None:
    found = assert_metric(Y, OLD, ["roc_auc >= 0.95", "brier <= 0.05"], n_resamples=99)
    same = fastevals.gate(
        {"y_true": Y, "y_pred": OLD}, ["roc_auc >= 0.95", "brier <= 0.05"], label="y_true", score="y_pred",
        n_resamples=99,
    )  # fmt: skip
    assert found.to_dict() == same.to_dict()
    assert found.to_scalars()["roc_auc_at_least_0.95"] == fastevals.Ranking(Y, OLD).roc_auc()


def test_a_metric_that_fails_has_the_gate_s_text() -> None:
    text = failure(assert_metric, Y, OLD, "roc_auc >= 0.99")
    same = fastevals.gate({"y_true": Y, "y_pred": OLD}, "roc_auc >= 0.99", label="y_true", score="y_pred")
    assert text == f"\n{same.to_text()}"
    assert "FAIL: y_pred may not ship. The rule fails." in text
    assert "FAIL: y_pred's AUC is below 0.99 (0.9756, 90 % interval" in text


def test_an_undecided_rule_fails_unless_told() -> None:
    text = failure(assert_metric, Y, NEW, "roc_auc >= 0.98")
    assert "UNDECIDED: y_pred can't be judged yet." in text
    assert "more rows" in text
    assert assert_metric(Y, NEW, "roc_auc >= 0.98", undecided="pass").outcome == "undecided"


def test_not_worse_than_the_reference() -> None:
    assert assert_not_worse(Y, NEW, reference=OLD, metric="roc_auc", by=0.005).outcome == "pass"
    text = failure(assert_not_worse, Y, OLD, NEW, metric="roc_auc", by=0.001)
    assert "y_pred's AUC is lower than reference's by more than 0.001" in text or "UNDECIDED" in text
    assert "difference -0.0139" in text
    at_point = assert_not_worse(Y, NEW, OLD, metric=fastevals.metric("recall", threshold=0.5), by="50%")
    assert at_point.results[0].rule.text == "recall(threshold=0.5) not worse than reference by 50%"


def test_predicted_classes_numbers_and_class_probabilities() -> None:
    assert_metric(Y, OLD >= 0.5, "accuracy >= 0.9", predicted="classes", n_resamples=99)
    numbers = np.arange(100.0)
    assert_not_worse(numbers, numbers + 0.1, numbers + 0.2, metric="rmse", by=0, predicted="numbers", n_resamples=99)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    good = rng.dirichlet([1, 1, 1], 300) / 2 + np.eye(3)[labels] / 2
    assert_metric(labels, good, "log_loss <= 0.9", n_resamples=99)
    flat = np.full((300, 3), 1 / 3)
    assert_not_worse(labels, good, flat, metric="log_loss", by=0.01, n_resamples=99)
    assert "FAIL" in failure(assert_not_worse, labels, flat, good, metric="log_loss", by=0.01, n_resamples=99)


def test_weights_clusters_and_labels_of_text() -> None:
    weights = np.linspace(1, 2, Y.size)
    found = assert_metric(Y, OLD, "roc_auc >= 0.9", sample_weight=weights, n_resamples=99)
    assert found.results[0].worst.decision.value == fastevals.Ranking(Y, OLD, sample_weight=weights).roc_auc()
    clusters = np.arange(Y.size) // 3
    assert_metric(Y, OLD, "roc_auc >= 0.9", groups=clusters, n_resamples=99)
    text = np.where(Y == 1, "spam", "ham")
    assert_metric(text, OLD, "roc_auc >= 0.9", pos_label="spam")


def test_files_and_frames(tmp_path) -> None:
    path = tmp_path / "scores.csv"
    rows = np.column_stack([Y, OLD, NEW, np.arange(Y.size) % 2])
    np.savetxt(path, rows, delimiter=",", header="y,old,new,side", comments="")
    options = {"label": "y", "score": ["new", "old"], "reference": "old", "n_resamples": 99}
    assert assert_gate(path, "roc_auc not worse than champion by 0.005", **options).outcome == "pass"
    text = failure(assert_gate, path, "roc_auc >= 0.999 by side", **options)
    assert "in 2 of 2 segments" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assert_metric(Y, OLD, "roc_acu >= 0.9"), "unknown metric 'roc_acu'"),
        (lambda: assert_metric(Y, OLD, "roc_auc >= 0.9", predicted="labels"), "predicted must be"),
        (lambda: assert_metric(Y, OLD[1:], "roc_auc >= 0.9"), "y_pred"),
        (lambda: assert_metric(Y, np.where(Y == 1, np.nan, OLD), "roc_auc >= 0.9"), "y_pred"),
        (lambda: assert_metric(Y, OLD, "roc_auc >= 0.9 assuming 0.95", plan=True), "plan must be False"),
        (lambda: assert_not_worse(Y, NEW, OLD, metric="roc_auc", by=-0.1), "a margin must be at least 0"),
        (lambda: assert_not_worse(Y, NEW, OLD, metric="rocket", by=0.1), "unknown metric 'rocket'"),
        (lambda: assert_metric(Y, OLD, []), "rules is empty"),
        (
            lambda: assert_metric(Y, OLD, "roc_auc >= 0.9", label="y"),
            "label must be left out: y_true and y_pred are the",
        ),
        (lambda: assert_metric(Y, OLD, "roc_auc >= 0.9", reference=NEW), "reference must be left out"),
    ],
)
def test_errors_are_not_failures(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.slow
def test_frames_of_fastevals_are_hidden_from_the_report_of_a_failure(tmp_path) -> None:
    (tmp_path / "test_model.py").write_text(
        "from fastevals.integrations.pytest import assert_metric\n"
        "def test_model():\n"
        "    assert_metric([0, 1] * 200, [0.6, 0.5, 0.4, 0.3] * 100, 'roc_auc >= 0.9')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "y_pred's AUC is below 0.9" in done.stdout
    assert "test_model.py:3: AssertionError" in done.stdout
    assert "integrations/pytest.py" not in done.stdout


def test_it_works_without_pytest(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pytest", None)
    assert "FAIL" in failure(assert_metric, Y, OLD, "roc_auc >= 0.99")
