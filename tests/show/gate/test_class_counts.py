"""Gates of counted class probabilities: means and predicted classes decide, and areas are undecided with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import metric
from fastevals.scale import ClassScoresSummary
from fastevals.show import cli
from tests.show.report.test_class_counts import FRAME, NAMES, TWO, P, summarize

SETTINGS: dict[str, Any] = {"n_resamples": 999}


def counted(rows: slice = slice(None), model: str = "boost") -> ClassScoresSummary:
    summary = ClassScoresSummary(NAMES)
    summary.update(FRAME.y[rows], P[model][rows])
    return summary


def judged(data: Any, rules: Any, **options: Any) -> list[dict[str, Any]]:
    values = fastevals.gate(data, rules, **SETTINGS | options).to_dict()
    return [rule["judged"][0] | {"outcome": rule["outcome"]} for rule in values["rules"]]


def test_losses_rates_and_predicted_classes_decide() -> None:
    summary = counted()
    rules = ["log_loss <= 9", "top_k_accuracy(k=3) >= 0.5", "accuracy >= 0.2", "f1 >= 0.999"]
    found = judged(summary, rules)
    assert [each["outcome"] for each in found] == ["pass", "pass", "pass", "fail"]
    specs = ["log_loss", metric("top_k_accuracy", k=3), "accuracy", "f1"]
    for each, spec in zip(found, specs, strict=True):
        assert each["value"] == pytest.approx(summary.metric(spec))
    low, high = summary.confidence_interval("log_loss", 0.9)
    assert found[0]["interval"] == pytest.approx([low, high])
    rows = judged(FRAME, rules[2], label="y", probabilities="boost_*", model="boost")[0]
    assert found[2]["interval"] == pytest.approx(rows["interval"], abs=0.004)


def test_areas_are_undecided_and_the_reason_has_their_bounds() -> None:
    summary = counted()
    (found,) = judged(summary, "roc_auc >= 0.5")
    assert found["outcome"] == "undecided"
    bounds = summary.metric("roc_auc")
    assert f"(on these rows it is between {bounds.low:.6g} and {bounds.high:.6g})" in found["reason"]
    assert "judge the rows" in found["reason"]
    (found,) = judged(counted(slice(0, 40)), "log_loss <= 9")
    assert (found["outcome"], found["reason"]) == ("undecided", "only 40 rows: bounds need at least 50")


def test_an_infinite_loss_is_undecided() -> None:
    summary = ClassScoresSummary(["a", "b"])
    summary.update(["a"] * 60 + ["b"] * 60, np.array([[1.0, 0.0]] * 61 + [[0.2, 0.8]] * 59))
    (found,) = judged(summary, "log_loss <= 1")
    assert (found["outcome"], found["reason"]) == ("undecided", "the metric is infinite")


def test_values_of_columns_and_other_counts_are_judged(tmp_path: Path) -> None:
    FRAME.iloc[:450].to_parquet(tmp_path / "one.parquet")
    FRAME.iloc[450:].to_parquet(tmp_path / "two.parquet")
    for name in ("one", "two"):
        summarize(tmp_path / f"{name}.parquet", *TWO, "--by", "site", "--out", tmp_path / f"{name}.fe")
    one, two = str(tmp_path / "one.fe"), str(tmp_path / "two.fe")
    found = fastevals.gate(one, "log_loss <= 9 by site", model="boost", **SETTINGS).to_dict()["rules"][0]
    assert len(found["judged"]) == 3
    (compared,) = judged(one, "log_loss not worse than champion by 9", model="boost", reference=two)
    mine, its = counted(slice(0, 450)), counted(slice(450, None))
    assert compared["value"] == pytest.approx(mine.metric("log_loss") - its.metric("log_loss"))
    assert compared["outcome"] == "pass"
    rows = FRAME.iloc[:450]
    (mixed,) = judged(rows, "log_loss not worse than champion by 9", label="y", probabilities="boost_*", reference=its)
    assert mixed["value"] == pytest.approx(compared["value"])
    assert cli.main(["gate", one, "--rule", "log_loss <= 9", "--model", "boost", "--quiet"]) == 0


def test_what_counts_cannot_answer_is_refused(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "all.parquet")
    summarize(tmp_path / "all.parquet", *TWO, "--out", tmp_path / "all.fe")
    data = str(tmp_path / "all.fe")
    for options, message in (
        ({"rules": "log_loss better than forest", "model": "boost"}, "a summary does not pair the models' rows"),
        ({"rules": "log_loss <= 1 by site", "model": "boost"}, "was counted without segments"),
        ({"rules": "log_loss <= 1", "model": "boost", "plan": True}, "plan does not go with counts"),
        ({"rules": "roc_auc(average=None) >= 0.5", "model": "boost"}, "average"),
        ({"rules": "mean_cost <= 1", "model": "boost"}, "mean_cost needs"),
        ({"rules": "log_loss <= 1", "model": "boost", "groups": "site"}, "groups goes with columns of rows"),
        (
            {"rules": "log_loss better than champion", "model": "boost", "reference": str(tmp_path / "all.parquet")},
            "reference must be counts of class probabilities, as the data are",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            fastevals.gate(data, **{**options, **SETTINGS})
    other = ClassScoresSummary(["ant", "bee"])
    other.update(["ant"] * 60 + ["bee"] * 60, np.full((120, 2), 0.5))
    with pytest.raises(ValueError, match="reference: its classes are 'ant', 'bee', and the data's are 'owl'"):
        fastevals.gate(data, "log_loss better than champion", model="boost", reference=other, **SETTINGS)
